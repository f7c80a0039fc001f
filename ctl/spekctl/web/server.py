# SPDX-License-Identifier: GPL-2.0-or-later
"""The web server: its addresses, and the checks before each of them.

README.md says why it is the one of Python's library.
"""

from __future__ import annotations

import contextlib
import io
import os
import socket
import socketserver
import sys
import threading
import urllib.parse
from collections.abc import Callable, Mapping, Sequence
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from importlib import resources
from typing import Any, BinaryIO, ClassVar, cast

import msgspec

from spekctl.errors import ExitCode, SpekError, UsageError
from spekctl.host.wire import REQUEST_MAX
from spekctl.render import prometheus
from spekctl.report import page
from spekctl.web import form, markup
from spekctl.web.door import Arrival, Door
from spekctl.web.fleet_job import Go
from spekctl.web.fleet_session import FleetSession
from spekctl.web.guard import CONTENT_POLICY, HEADERS, Guard
from spekctl.web.session import Session

# A comment keeps an idle stream of events open, and finds out that nobody reads it.
KEEP_ALIVE_S = 10.0
# Of a connection with the token, without a request.
IDLE_S = 30.0
CONNECTIONS_MAX = 64
# A document is read and sent in pieces.
PIECE_BYTES = 1 << 20
# To take an answer without the token, and how many may be doing so.
STRANGER_S = 10.0
STRANGERS_MAX = 8
# Addresses of documents that browsers open by themselves, with a key.
LINKS = ("/report", "/api/result")
_JSON = "application/json"
_OUR_NAMES = "this server has another name: call it by its IP address, or by localhost"
# A report is a page of its own: without our origin it cannot ask us for anything. Its own policy,
# with the hashes of its script and its style, applies as well.
_REPORT_POLICY = "sandbox allow-scripts; frame-ancestors 'none'"
_STATUS = {
    ExitCode.USAGE: HTTPStatus.BAD_REQUEST,
    ExitCode.REFUSED: HTTPStatus.CONFLICT,
    ExitCode.PERMISSION: HTTPStatus.FORBIDDEN,
}


class Server(socketserver.TCPServer):
    """Serves one session to the browsers of one user.

    A connection gets a thread when the head of its first request is there. Those with the token
    have places of their own, which nobody without it can take.
    """

    request_queue_size = CONNECTIONS_MAX

    def __init__(self, address: str, port: int, session: Session | FleetSession) -> None:
        self.session = session
        self.address_family = socket.AF_INET6 if ":" in address else socket.AF_INET
        self._room = threading.BoundedSemaphore(CONNECTIONS_MAX)
        self.files = _files(session.KIND)
        # _attend() makes a Handler, which takes more than the class named here.
        super().__init__((address, port), BaseHTTPRequestHandler)
        self.port = int(self.server_address[1])
        self.guard = Guard(address, self.port)
        self._door = Door(self.socket)
        self._lock = threading.Lock()
        self._strangers: list[socket.socket] = []  # protected by @_lock; the oldest first
        self._is_ending = False
        self._ended = threading.Event()
        self._ended.set()

    def server_bind(self) -> None:
        # The inherited one asks a name server for our name, which may take long.
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()

    @property
    def url(self) -> str:
        """Address of the page on this machine, with the token."""
        host = str(self.server_address[0])
        # What a server on all addresses listens on is no address to connect to.
        host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
        name = f"[{host}]" if ":" in host else host
        # Browsers send no fragment to any server.
        return f"http://{name}:{self.port}/#token={self.guard.token}"

    def serve_forever(self, poll_interval: float = 0.5) -> None:
        """Serve until shutdown()."""
        self._ended.clear()
        try:
            while not self._is_ending:
                for arrival in self._door.arrivals(poll_interval):
                    self._place(arrival)
        finally:
            self._ended.set()

    def shutdown(self) -> None:
        """End serve_forever(), from another thread."""
        self._is_ending = True
        self._ended.wait()

    def server_close(self) -> None:
        super().server_close()
        # Without it if the address could not be bound.
        if hasattr(self, "_door"):
            self._door.close()

    def opens(self, path: str, query: Mapping[str, Sequence[str]]) -> bool:
        """The address has the key of the documents that it names."""
        keys = query.get("key", ())
        return (
            path in LINKS
            and len(keys) == 1
            and self.guard.opens(keys[0], path, query.get("file", ()))
        )

    def _place(self, arrival: Arrival) -> None:
        """Serve a connection in a thread, if there is a place."""
        is_known = self._is_known(arrival.data)
        if is_known:
            if not self._room.acquire(blocking=False):
                self.shutdown_request(arrival.connection)
                return
        else:
            with self._lock:
                if len(self._strangers) >= STRANGERS_MAX:
                    with contextlib.suppress(OSError):
                        self._strangers.pop(0).shutdown(socket.SHUT_RDWR)
                self._strangers.append(arrival.connection)
        threading.Thread(target=self._attend, args=(arrival, is_known), daemon=True).start()

    def _is_known(self, head: bytes) -> bool:
        """The first request of a connection has the token, or the key of a link."""
        if self.guard.is_in(head):
            return True
        words = head.partition(b"\n")[0].decode("latin-1").split()
        path, _, query = words[1].partition("?") if len(words) > 1 else ("", "", "")
        return path in LINKS and self.opens(path, urllib.parse.parse_qs(query))

    def _attend(self, arrival: Arrival, is_known: bool) -> None:
        try:
            Handler(arrival, self, is_known)
        except Exception:
            self.handle_error(arrival.connection, arrival.address)
        finally:
            self.shutdown_request(arrival.connection)
            if is_known:
                self._room.release()
            else:
                with self._lock, contextlib.suppress(ValueError):
                    self._strangers.remove(arrival.connection)

    def handle_error(self, request: Any, client_address: Any) -> None:
        # A browser that goes away is none.
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


def _files(kind: str) -> dict[str, tuple[str, bytes]]:
    """What the page of this kind of server consists of, by its address; read once, since root is
    given up later."""

    def own(name: str) -> str:
        return resources.files("spekctl.web").joinpath(name).read_text(encoding="utf-8")

    texts = {
        "/": ("text/html", markup.of(own("page.html"), kind)),
        "/page.css": ("text/css", f"{page.style()}\n{own('page.css')}"),
        "/plot.js": ("text/javascript", page.plotting()),
        "/page.js": ("text/javascript", own("page.js")),
        "/icon.svg": ("image/svg+xml", own("icon.svg")),
    }
    if kind == FleetSession.KIND:
        texts["/fleet.js"] = ("text/javascript", own("fleet.js"))
    return {
        place: (f"{mime}; charset=utf-8", text.encode()) for place, (mime, text) in texts.items()
    }


class _Resumed(io.RawIOBase):
    """What comes over a connection of which @data has been read already."""

    def __init__(self, data: bytes, connection: socket.socket) -> None:
        super().__init__()
        self._data = data
        self._connection = connection

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        """The next bytes; 0 at the end."""
        if not self._data:
            return self._connection.recv_into(buffer)
        part = self._data[: len(buffer)]
        self._data = self._data[len(part) :]
        buffer[: len(part)] = part
        return len(part)


class Handler(BaseHTTPRequestHandler):
    """One connection. @is_known: its first request has the token or a key; it may send more."""

    protocol_version = "HTTP/1.1"
    server_version = "spekctl"
    sys_version = ""

    GETS: ClassVar[dict[str, Callable[[Handler], None]]]
    POSTS: ClassVar[dict[str, Callable[[Handler], None]]]

    def __init__(self, arrival: Arrival, server: Server, is_known: bool) -> None:
        self._head = arrival.data
        self._is_known = is_known
        super().__init__(arrival.connection, arrival.address, server)

    def setup(self) -> None:
        super().setup()
        # An answer has to be taken whole in this time, of a document each piece.
        self.connection.settimeout(IDLE_S if self._is_known else STRANGER_S)
        self.rfile.close()
        self.rfile = io.BufferedReader(_Resumed(self._head, self.connection))

    @property
    def _server(self) -> Server:
        return cast(Server, self.server)

    @property
    def _session(self) -> Session | FleetSession:
        return self._server.session

    @property
    def _of_host(self) -> Session:
        """The session, of addresses that only servers of one machine have."""
        return cast(Session, self._server.session)

    @property
    def _of_fleet(self) -> FleetSession:
        """The same of servers of a fleet."""
        return cast(FleetSession, self._server.session)

    def do_GET(self) -> None:
        """Pages, data and events."""
        self._serve(self.GETS)

    def do_HEAD(self) -> None:
        """The same without its content."""
        self._serve(self.GETS)

    def do_POST(self) -> None:
        """What changes something."""
        self._serve(self.POSTS)

    def log_message(self, format: str, *args: Any) -> None:
        """Silent: a token must not get into a log."""

    # --- the checks ------------------------------------------------------------------------------

    def _serve(self, table: dict[str, Callable[[Handler], None]]) -> None:
        guard = self._server.guard
        self.close_connection |= not self._is_known
        self._path, _, query = self.path.partition("?")
        self._query = urllib.parse.parse_qs(query, keep_blank_values=True)
        if len(self.headers.get_all("Host", [])) != 1 or not guard.is_our_name(
            self.headers["Host"]
        ):
            self._refuse(HTTPStatus.MISDIRECTED_REQUEST, _OUR_NAMES)
            return
        if not self._is_admitted():
            self._refuse(
                HTTPStatus.UNAUTHORIZED,
                "the token is missing or wrong; open the address that spekctl web printed",
            )
            return
        if not guard.is_from_us(self.headers) and self._path not in ("/", "/report"):
            self._refuse(HTTPStatus.FORBIDDEN, "this request comes from another site")
            return
        serve = table.get(self._path)
        if serve is None or self._path in self._session.LACKS:
            self._refuse(HTTPStatus.NOT_FOUND, "there is no such page")
            return
        try:
            serve(self)
        except SpekError as error:
            status = _STATUS.get(error.exit_code, HTTPStatus.SERVICE_UNAVAILABLE)
            self._refuse(status, error.message)

    def _is_admitted(self) -> bool:
        """By the token, or by the key of a link to documents. The page's own files are public: a
        browser requests them by itself, and they are the same for everybody."""
        if self.command in ("GET", "HEAD"):
            if self._path in self._server.files:
                return True
            if self._server.opens(self._path, self._query):
                return True
        return self._server.guard.admits(self.headers)

    # --- answers ---------------------------------------------------------------------------------

    def _common_headers(self, policy: str = CONTENT_POLICY) -> None:
        for name, value in HEADERS.items():
            self.send_header(name, value)
        self.send_header("Content-Security-Policy", policy)

    def _send(
        self,
        data: bytes,
        kind: str,
        status: HTTPStatus = HTTPStatus.OK,
        policy: str = CONTENT_POLICY,
        **more: str,
    ) -> None:
        self._send_head(len(data), kind, status, policy, **more)
        if self.command != "HEAD":
            self.wfile.write(data)

    def _send_head(
        self,
        length: int,
        kind: str,
        status: HTTPStatus = HTTPStatus.OK,
        policy: str = CONTENT_POLICY,
        **more: str,
    ) -> None:
        """The head of an answer whose content has @length bytes."""
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(length))
        if self.close_connection:
            self.send_header("Connection", "close")
        for name, value in more.items():
            self.send_header(name.replace("_", "-"), value)
        self._common_headers(policy)
        self.end_headers()

    def _answer(self, value: object) -> None:
        self._send(msgspec.json.encode(value), _JSON)

    def _refuse(self, status: HTTPStatus, text: str) -> None:
        # What is left of the request would be taken for the next one.
        self.close_connection = True
        self._send(msgspec.json.encode({"error": text}), _JSON, status)

    def _file(self) -> None:
        kind, data = self._server.files[self._path]
        self._send(data, kind)

    def _form(self) -> None:
        self._answer(self._session.form())

    def _devices(self) -> None:
        self._answer(self._of_host.devices())

    def _status(self) -> None:
        self._answer(self._of_host.status())

    def _workload(self) -> None:
        self._answer({"toml": form.workload_text(self._one("name"))})

    def _results(self) -> None:
        library = self._session.library
        entries = [
            msgspec.structs.asdict(entry)
            | {"report": self._link("/report", entry.name)}
            | {"download": self._link("/api/result", entry.name)}
            for entry in library.entries()
        ]
        self._answer({"folder": str(library.folder), "entries": entries})

    def _compare(self) -> None:
        self._answer({"report": self._link("/report", *self._query.get("file", []))})

    def _link(self, place: str, *files: str) -> str:
        """An address of documents that a browser can open by itself."""
        fields = [
            *(("file", name) for name in files),
            ("key", self._server.guard.key(place, files)),
        ]
        return f"{place}?{urllib.parse.urlencode(fields)}"

    def _report(self) -> None:
        data = self._session.library.report(self._query.get("file", []))
        self._send(data, "text/html; charset=utf-8", policy=_REPORT_POLICY)

    def _result(self) -> None:
        path = self._session.library.path(self._one("file"))
        name = urllib.parse.quote(path.name)
        try:
            file = open(path, "rb")  # noqa: SIM115
        except OSError as error:
            raise SpekError(f"cannot read {path}: {error.strerror}") from error
        with file:
            length = os.fstat(file.fileno()).st_size
            self._send_head(
                length,
                "application/octet-stream",
                Content_Disposition=f"attachment; filename*=UTF-8''{name}",
            )
            if self.command != "HEAD":
                self._send_file(file, length)

    def _send_file(self, file: BinaryIO, length: int) -> None:
        """@length bytes of @file, piece by piece: a log may be larger than memory, and each piece
        has its own time to be taken."""
        while length and (piece := file.read(min(PIECE_BYTES, length))):
            self.wfile.write(piece)
            length -= len(piece)
        # The client waits for what the head has promised, of a file that has become shorter.
        self.close_connection |= bool(length)

    def _metrics(self) -> None:
        wants_open = "application/openmetrics-text" in self.headers.get("Accept", "")
        text = self._of_host.metrics(wants_open)
        kind = prometheus.OPENMETRICS_TYPE if wants_open else prometheus.TEXT_TYPE
        self._send(text.encode(), kind)

    def _one(self, name: str) -> str:
        values = self._query.get(name, [])
        if len(values) != 1:
            raise UsageError(f"give {name} once")
        return values[0]

    # --- what changes something ------------------------------------------------------------------

    def _body(self, model: type[Any]) -> Any:
        """The JSON of a request; a form of another site cannot send this type."""
        if self.headers.get_content_type() != _JSON:
            raise UsageError(f"the content must be {_JSON}")
        text = self.headers.get("Content-Length", "")
        length = int(text) if text.isascii() and text.isdigit() and len(text) < 10 else -1
        if not 0 <= length <= REQUEST_MAX:
            raise UsageError(f"the content must have at most {REQUEST_MAX} bytes, and say how many")
        try:
            return msgspec.json.decode(self.rfile.read(length), type=model)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise UsageError(f"not a job: {error}") from error

    def _dry_run(self) -> None:
        self._answer(self._session.dry_run(self._body(self._session.JOB)))

    def _start(self) -> None:
        self._answer(self._session.start(self._body(self._session.JOB)))

    def _claim(self) -> None:
        self._answer(self._of_fleet.claim(self._body(self._session.JOB)))

    def _go(self) -> None:
        self._of_fleet.go(self._body(Go).run)
        self._answer(None)

    def _stop(self) -> None:
        self._body(dict)
        self._session.stop()
        self._answer(None)

    # --- events ----------------------------------------------------------------------------------

    def _events(self) -> None:
        """Server-sent events, from the first one of the run that the page lacks."""
        session = self._session
        name, _, text = self.headers.get("Last-Event-ID", "").partition("-")
        known = name == session.name and text.isascii() and text.isdigit() and len(text) < 19
        number = int(text) if known else 0
        self.close_connection = True
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", "text/event-stream; charset=utf-8")
        self.send_header("Connection", "close")
        self._common_headers()
        self.end_headers()
        if self.command == "HEAD":
            return
        with contextlib.suppress(OSError):
            self._say(b"retry: 1000\nevent: hello\ndata: {}\n\n")
            while (frames := session.after(number, KEEP_ALIVE_S)) is not None:
                parts = [
                    b"id: %s-%d\nevent: %s\ndata: %s\n\n"
                    % (session.name.encode(), frame.number, frame.name.encode(), frame.data)
                    for frame in frames
                ]
                self._say(b"".join(parts) or b": alive\n\n")
                number = frames[-1].number if frames else number

    def _say(self, data: bytes) -> None:
        self.wfile.write(data)
        self.wfile.flush()


Handler.GETS = {
    **dict.fromkeys(
        ("/", "/page.css", "/plot.js", "/page.js", "/fleet.js", "/icon.svg"), Handler._file
    ),
    "/api/form": Handler._form,
    "/api/devices": Handler._devices,
    "/api/workload": Handler._workload,
    "/api/results": Handler._results,
    "/api/status": Handler._status,
    "/api/result": Handler._result,
    "/api/compare": Handler._compare,
    "/events": Handler._events,
    "/report": Handler._report,
    "/metrics": Handler._metrics,
}
Handler.POSTS = {
    "/api/dry-run": Handler._dry_run,
    "/api/start": Handler._start,
    "/api/claim": Handler._claim,
    "/api/go": Handler._go,
    "/api/stop": Handler._stop,
}
