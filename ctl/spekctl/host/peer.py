# SPDX-License-Identifier: GPL-2.0-or-later
"""The program at the other end: requests from it, messages to it."""

from __future__ import annotations

import threading
import traceback
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

import msgspec

from spekctl import __version__
from spekctl.errors import SpekError, UsageError
from spekctl.host import wire
from spekctl.host.wire import Answer, Fault, Hello, Request

FAILED = "the host failed; its standard error says how"


class Peer:
    """Reads requests of @kind in one thread; sends lines to @stream from several.

    @stop ends what runs, and says whether there was anything: called when the peer asks for it,
    at once in the thread that reads, and when nobody reads @stream any more.
    """

    def __init__(self, stream: BinaryIO, stop: Callable[[], bool]) -> None:
        self._stream = stream
        self._stop = stop
        self._lock = threading.Lock()

    def send(self, message: object) -> None:
        """Write a message whole."""
        try:
            with self._lock:
                self._stream.write(wire.line(message))
                self._stream.flush()
        except (OSError, ValueError):
            self._stop()

    def refuse(self, number: int, error: SpekError) -> None:
        """Answer request @number with an error."""
        self.send(Answer(number, error=Fault(int(error.exit_code), error.message)))

    def answer(self, number: int, value: object) -> None:
        """Answer request @number."""
        self.send(Answer(number, msgspec.Raw(msgspec.json.encode(value))))

    def attempt(self, number: int, work: Callable[[], object]) -> None:
        """Do what request @number asks for; if that fails, refuse it."""
        try:
            work()
        except SpekError as error:
            self.refuse(number, error)
        except Exception:
            traceback.print_exc()
            self.refuse(number, SpekError(FAILED))

    def requests(
        self, lines: BinaryIO, kind: Any, verbs: list[str], most: int = wire.REQUEST_MAX
    ) -> Iterator[Any]:
        """Greet the peer, then its requests, of the union @kind, until the input ends or a line has
        more than @most bytes; no stops, and no lines that are no requests: these are answered here.
        """
        self.send(Hello(wire.PROTOCOL, __version__, verbs))
        while line := lines.readline(most + 1):
            if len(line) > most:
                self.refuse(0, UsageError(f"a request has at most {most} bytes"))
                return
            try:
                request: Request = msgspec.json.decode(line, type=kind)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
                self.refuse(wire.number_of(line), UsageError(f"not a request: {error}"))
                continue
            if not isinstance(request, wire.Stop):
                yield request
            elif self._stop():
                self.answer(request.id, None)
            else:
                self.refuse(request.id, UsageError("there is no run to stop"))
