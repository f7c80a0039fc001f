# SPDX-License-Identifier: GPL-2.0
"""QIS with one power module, on a TCP port: commands, header and rows in real time.

As the help text of QIS describes it; no real module was at hand.
"""

from __future__ import annotations

import contextlib
import select
import socket
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from lib.daq.lines import TcpPort

MODULE = "usb::QTL1847-01-016"
STEP_S = 0.01
MOST_ROWS = 3072
CURSOR = "\r\n>"
LINES = (
    ("Status", "status", "NA", 0),
    ("5V", "voltage", "mV", 16384),
    ("5V", "current", "uA", 16777216),
    ("12V", "voltage", "mV", 16384),
    ("12V", "current", "uA", 16777216),
    ("5V", "power", "uW", 274877906),
    ("12V", "power", "uW", 274877906),
)


def header(lines: Sequence[tuple[str, str, str, int]] = LINES, period: str = "4096us") -> str:
    """Version V3, in several lines as QIS writes it."""
    channels = "\r\n".join(
        f"<channel><name>{name}</name><group>{group}</group><units>{unit}</units>"
        f"<maxTValue>{most}</maxTValue><dataPosition>{i}</dataPosition></channel>"
        for i, (name, group, unit, most) in enumerate(lines)
    )
    return (
        '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\r\n<header>\r\n'
        f"<version>V3</version>\r\n<devicePeriod>{period}</devicePeriod>\r\n"
        f"<mainPeriod>{period}</mainPeriod>\r\n<channels>\r\n{channels}\r\n</channels>\r\n</header>"
    )


@dataclass
class Module:
    """values(i) are the numbers of row i of a stream."""

    values: Callable[[int], Sequence[int]]
    header: str = field(default_factory=header)
    spacing_us: int = 4096
    # Rows of a reply: none before there are so many, and never more.
    least_rows: int = 0
    most_rows: int = MOST_ROWS
    modules: Sequence[str] = (MODULE,)
    # By the number of the stream, from 0: rows that it lacks; the row at which it ends, and how.
    lost: dict[int, range] = field(default_factory=dict)
    ends: dict[int, tuple[int, str]] = field(default_factory=dict)
    garbage: dict[int, str] = field(default_factory=dict)
    refused: tuple[str, ...] = ()
    commands: list[str] = field(default_factory=list)
    # It gives no more replies; the lines that it has left without one.
    mute: bool = False
    unanswered: list[str] = field(default_factory=list)
    # Commands whose reply comes only once the next command has come.
    late: tuple[str, ...] = ()
    streams: int = 0
    started_ns: int | None = None
    sent: int = 0

    def row(self, number: int) -> str:
        if number in self.garbage:
            return self.garbage.pop(number)
        return " ".join(str(value) for value in (number * self.spacing_us, *self.values(number)))

    def obey(self, line: str) -> str:
        """The reply to a command, without its end."""
        if line == "$list":
            return "\r\n".join(f"{i}) {name}" for i, name in enumerate(self.modules, 1))
        name, _, command = line.partition(" ")
        assert name in self.modules, line
        self.commands.append(command)
        if command in self.refused:
            return "FAIL: no such command"
        if command == "rec stream":
            self.started_ns, self.sent = time.monotonic_ns(), 0
            self.streams += 1
        elif command == "rec stop":
            self.started_ns = None
        elif command == "stream?":
            return f"{self.state()}\r\nStripes Buffered: 0 of 8388608"
        elif command == "stream text header":
            return self.header if self.streams else "Header Not Available"
        elif command == "stream text all":
            return self.rows()
        return "OK"

    def _end(self) -> tuple[int, str]:
        return self.ends.get(self.streams - 1, (1 << 62, ""))

    def state(self) -> str:
        if self.started_ns is None:
            return "Stopped: User"
        return self._end()[1] if self.sent >= self._end()[0] else "Running"

    def rows(self) -> str:
        if self.started_ns is None:
            return "eof"
        due = (time.monotonic_ns() - self.started_ns) // (self.spacing_us * 1000)
        due = min(due, self._end()[0], self.sent + self.most_rows)
        if due < self.sent + self.least_rows:
            return "eof"
        lost = self.lost.get(self.streams - 1, range(0))
        rows = [self.row(number) for number in range(self.sent, due) if number not in lost]
        self.sent = max(self.sent, due)
        return "\r\n".join([*rows, "eof"])


class Server(TcpPort):
    """It serves a module."""

    def __init__(self, module: Module) -> None:
        super().__init__()
        self.module = module
        self.hung_up = threading.Event()
        self.thread.start()

    def _talk(self, client: socket.socket) -> None:
        try:
            self._answer(client)
        finally:
            self.module.started_ns = None

    def _answer(self, client: socket.socket) -> None:
        received = held = b""
        while not self.ended.is_set():
            if self.hung_up.is_set():
                self.hung_up.clear()
                return
            if not select.select([client], [], [], STEP_S)[0]:
                continue
            data = client.recv(4096)
            if not data:
                return
            received += data
            while b"\r\n" in received:
                line, _, received = received.partition(b"\r\n")
                reply = self.module.obey(line.decode())
                command = line.decode().removeprefix(f"{MODULE} ")
                if self.module.mute:
                    self.module.unanswered.append(command)
                    continue
                held += (reply + CURSOR).encode()
                if command not in self.module.late:
                    # A client that has left without its reply is still obeyed.
                    with contextlib.suppress(ConnectionError):
                        client.sendall(held)
                    held = b""
