# SPDX-License-Identifier: GPL-2.0-or-later
"""Who may talk to the server: the token, the name it is called by, and where a request comes from.

Any page that the user has open can send requests to a port of this machine. Such a page does not
know the token (cookies of another site are not sent, SameSite=Strict), cannot pass for us by a name
that it lets point here (DNS rebinding), and cannot send JSON with our origin.
"""

from __future__ import annotations

import hmac
import ipaddress
import secrets
from collections.abc import Mapping
from email.message import Message
from http.cookies import CookieError, SimpleCookie
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

# Of a request, as http.server has them, or of a test.
Headers: TypeAlias = Mapping[str, str] | Message


class Guard:
    """Of a server on @port whose address is @address. @token: a new one unless given."""

    def __init__(self, address: str, port: int, token: str = "") -> None:
        self.token = token or secrets.token_urlsafe(32)
        # Cookies are shared by all ports of a host.
        self.cookie = f"spek-{port}"
        self._port = port
        self._names = {"localhost", address.lower()}

    def set_cookie(self) -> str:
        """The header that lets a browser remember the token for as long as it is open."""
        return f"{self.cookie}={self.token}; Path=/; HttpOnly; SameSite=Strict"

    def knows(self, text: str) -> bool:
        """@text is the token."""
        return hmac.compare_digest(text.encode("utf-8", "replace"), self.token.encode())

    def admits(self, headers: Headers) -> bool:
        """The request has the token, as a header or a cookie."""
        scheme, _, given = headers.get("Authorization", "").partition(" ")
        if scheme.lower() == "bearer":
            return self.knows(given.strip())
        try:
            cookie = SimpleCookie(headers.get("Cookie", "")).get(self.cookie)
        except CookieError:
            return False
        return cookie is not None and self.knows(cookie.value)

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
