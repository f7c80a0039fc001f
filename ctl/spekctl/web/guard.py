# SPDX-License-Identifier: GPL-2.0-or-later
"""Who may talk to the server: the token, the name it is called by, and where a request comes from.

Any page that the user has open can send requests to a port of this machine. Such a page does not
know the token, cannot pass for us by a name that it resolves to this machine (DNS rebinding), and
cannot send JSON with our origin.

The token is not in a cookie: browsers send a host's cookies to all of its ports, and SameSite does
not tell ports apart, so another user's server on this machine would receive it.
"""

from __future__ import annotations

import hmac
import ipaddress
import re
import secrets
from collections.abc import Mapping, Sequence
from email.message import Message
from typing import TypeAlias

# Of every response. Scripts and styles are files of ours; a plot sets styles through the DOM.
CONTENT_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self';"
    " base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}

_BEARER = re.compile(rb"^authorization:[ \t]*bearer[ \t]+([^\s]+)", re.IGNORECASE | re.MULTILINE)

# Of a request, as http.server has them, or of a test.
Headers: TypeAlias = Mapping[str, str] | Message


class Guard:
    """Of a server on @port whose address is @address. @token: a new one unless given."""

    def __init__(self, address: str, port: int, token: str = "") -> None:
        self.token = token or secrets.token_urlsafe(32)
        self._port = port
        self._names = {"localhost", address.lower()}

    def admits(self, headers: Headers) -> bool:
        """The request carries the token."""
        scheme, _, given = headers.get("Authorization", "").partition(" ")
        return scheme.lower() == "bearer" and _equal(given.strip(), self.token)

    def is_in(self, head: bytes) -> bool:
        """The token is in the head of a request, as admits() takes it from a parsed one."""
        return any(
            _equal(header[1].decode("latin-1"), self.token) for header in _BEARER.finditer(head)
        )

    def key(self, place: str, files: Sequence[str]) -> str:
        """Key of a link that a browser follows by itself, and so without the token. It opens these
        documents at @place and nothing else, for as long as the token is valid."""
        text = "\0".join((place, *files)).encode("utf-8", "surrogateescape")
        return hmac.new(self.token.encode(), text, "sha256").hexdigest()

    def opens(self, key: str, place: str, files: Sequence[str]) -> bool:
        """@key is the key() of these documents."""
        return _equal(key, self.key(place, files))

    def is_our_name(self, host: str) -> bool:
        """The Host header is one that only this server has: its own name, or an address, which no
        name server can let point elsewhere."""
        name, port = _split(host)
        if port != self._port:
            return False
        if name in self._names:
            return True
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return False
        return True

    def is_from_us(self, headers: Headers) -> bool:
        """A request that changes something comes from our page, or from no page at all."""
        origin = headers.get("Origin")
        if origin is not None and origin != f"http://{headers.get('Host', '')}":
            return False
        return headers.get("Sec-Fetch-Site", "none") in ("same-origin", "none")


def _equal(given: str, secret: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "replace"), secret.encode())


def _split(host: str) -> tuple[str, int]:
    """NAME:PORT or [ADDRESS]:PORT; port 80 if there is none, and -1 for nonsense."""
    name, colon, port = host.strip().lower().rpartition(":")
    if not colon or "]" in port:
        name, port = host.strip().lower(), "80"
    if name.startswith("[") and name.endswith("]"):
        name = name[1:-1]
    elif ":" in name:
        return "", -1
    return (name, int(port)) if port.isascii() and port.isdigit() else ("", -1)
