# SPDX-License-Identifier: GPL-2.0
"""The unprivileged side of a host in this process, played by a test over real pipes."""

from __future__ import annotations

import contextlib
import json
import os
import threading
from collections.abc import Callable
from typing import Any, BinaryIO

from spekctl.host.serve import Host
from spekctl.kernel import client
from spekctl.kernel.client import Kernel
from spekctl.run.rights import OWN, Rights


class Peer:
    """Asks a host, which serves in a thread."""

    def __init__(
        self, connect: Callable[[], Kernel] = client.connect, rights: Rights = OWN
    ) -> None:
        down, self.input = os.pipe()
        self._output, up = os.pipe()
        self.lines: BinaryIO = os.fdopen(self._output, "rb")
        self._down, self._up = os.fdopen(down, "rb"), os.fdopen(up, "wb")
        self.host = self.desk(connect, rights)
        self.thread = threading.Thread(target=self._serve, daemon=True)
        self.thread.start()
        self.number = 0
        self.events: list[dict[str, Any]] = []

    def desk(self, connect: Callable[[], Kernel], rights: Rights) -> Any:
        """Who is asked."""
        return Host(self._up, connect, rights)

    def _serve(self) -> None:
        self.host.serve(self._down)
        with contextlib.suppress(BrokenPipeError):
            self._up.close()

    def read(self) -> dict[str, Any]:
        message: dict[str, Any] = json.loads(self.lines.readline())
        return message

    def say(self, data: bytes) -> None:
        os.write(self.input, data)

    def ask(self, verb: str, **fields: Any) -> dict[str, Any]:
        self.number += 1
        self.say(json.dumps({"do": verb, "id": self.number, **fields}).encode() + b"\n")
        return self.answer()

    def answer(self) -> dict[str, Any]:
        while "event" in (message := self.read()):
            self.events.append(message)
        return message

    def until(self, event: str) -> dict[str, Any]:
        for earlier in self.events:
            if earlier["event"] == event:
                return earlier
        while True:
            self.events.append(message := self.read())
            if message["event"] == event:
                return message

    def hang_up(self) -> None:
        if self.input >= 0:
            os.close(self.input)
            self.input = -1
