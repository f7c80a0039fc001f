# SPDX-License-Identifier: GPL-2.0
"""A web server in this process, before a fake host that replays rows."""

from __future__ import annotations

import contextlib
import http.client
import json
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lib.fakes import fleet_agent
from lib.fakes import host as fake_host
from lib.waiting import LONG_S

from spekctl.fleet import plan, protocol
from spekctl.host.client import Helper
from spekctl.host.protocol import AnyEvent
from spekctl.web.fleet_session import FleetSession
from spekctl.web.library import Library
from spekctl.web.server import Server
from spekctl.web.session import Session

SOON_S = LONG_S
JOB: dict[str, Any] = {"workload": "random-read-4k", "devices": ["/dev/fake0"]}


class Web:
    """@server, and a client of it that has the token unless told otherwise."""

    def __init__(self, server: Server, helpers: list[Helper[AnyEvent]]) -> None:
        self.server = server
        self.helpers = helpers

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.server.port}"

    def ask(
        self,
        method: str,
        place: str,
        body: Any = None,
        headers: dict[str, str | None] | None = None,
    ) -> tuple[int, dict[str, str], bytes]:
        """Status, headers and content. A header None leaves out one that is there by default."""
        wanted: dict[str, str | None] = {"Authorization": f"Bearer {self.server.guard.token}"}
        if body is not None:
            wanted["Content-Type"] = "application/json"
        wanted |= headers or {}
        data = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=SOON_S)
        try:
            connection.putrequest(method, place, skip_host="Host" in wanted)
            for name, value in wanted.items():
                if value is not None:
                    connection.putheader(name, value)
            if data is not None:
                connection.putheader("Content-Length", str(len(data)))
            connection.endheaders(data)
            answer = connection.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read()
        finally:
            connection.close()

    def json(self, method: str, place: str, body: Any = None) -> Any:
        """The content of an answer that has to succeed."""
        status, _, data = self.ask(method, place, body)
        assert status == 200, data
        return json.loads(data)

    def events(self, last: str = "") -> Iterator[tuple[str, str, Any]]:
        """Number, name and data of each event from now on."""
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=SOON_S)
        headers = {"Authorization": f"Bearer {self.server.guard.token}"}
        connection.request("GET", "/events", headers=headers | {"Last-Event-ID": last})
        answer = connection.getresponse()
        with contextlib.closing(connection):
            fields: dict[str, str] = {}
            for line in answer:
                name, _, value = line.decode().rstrip("\n").partition(": ")
                if name:
                    fields[name] = value
                    continue
                if "event" in fields:
                    yield fields.get("id", ""), fields["event"], json.loads(fields["data"])
                fields = {}


@contextlib.contextmanager
def serving(folder: Path, port: int = 0, again: bool = True, **script: Any) -> Iterator[Web]:
    """A server on @folder; @script: what the fake host does."""
    helpers: list[Helper[AnyEvent]] = []

    def start(on_event: Any, on_end: Any) -> Helper[AnyEvent]:
        words = [sys.executable, fake_host.__file__, json.dumps(script)]
        helpers.append(Helper(words, on_event, on_end))
        return helpers[-1]

    with _served(Session(start, Library(folder), again), port) as server:
        yield Web(server, helpers)


@contextlib.contextmanager
def serving_fleet(folder: Path, plan_text: str, **script: Any) -> Iterator[Web]:
    """The same of the plan with this text; @script: what the fake agent does."""
    helpers: list[Helper[Any]] = []
    path = folder / "plan.toml"
    path.write_text(plan_text)

    def start(on_event: Any, on_end: Any) -> Helper[Any]:
        words = [sys.executable, fleet_agent.__file__, json.dumps(script)]
        helpers.append(Helper(words, on_event, on_end, protocol.AnyEvent, "the agent"))
        return helpers[-1]

    session = FleetSession(start, plan.read(path), path, Library(folder))
    with _served(session, 0) as server:
        yield Web(server, helpers)


@contextlib.contextmanager
def _served(session: Session | FleetSession, port: int) -> Iterator[Server]:
    server = Server("127.0.0.1", port, session)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        session.close()
        thread.join(SOON_S)
