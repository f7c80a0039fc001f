# SPDX-License-Identifier: GPL-2.0-or-later
"""The other side of the protocol: starts the host as a process of its own and asks it."""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Generic, TypeVar

import msgspec

from spekctl.errors import ExitCode, SpekError
from spekctl.host import wire
from spekctl.host.protocol import AnyEvent
from spekctl.host.wire import Answer, Hello

# Devices that sleep take seconds to be looked at.
PATIENCE_S = 60.0
_STDERR_LINES = 20


class HostError(SpekError):
    """A refusal by the host, or its end; has the exit code that `spekctl run` would have."""

    def __init__(self, text: str, code: int = ExitCode.RUN_FAILED) -> None:
        super().__init__(text)
        # A host of a later version may have more of them.
        self.exit_code = ExitCode(code) if code in set(ExitCode) else ExitCode.RUN_FAILED


# What reading and decoding a line may raise; a deep one the last of them.
NO_MESSAGE = (msgspec.DecodeError, OSError, ValueError, RecursionError)


class _Line(msgspec.Struct):
    """Tells an answer from an event."""

    event: str = ""


def command(become: Sequence[str]) -> list[str]:
    """How to start the host with the program @become before it, such as sudo."""
    mine = Path(sys.argv[0])
    if mine.name == "spekctl" and os.access(mine, os.X_OK):
        program = [str(mine.resolve())]
    else:
        # -P: never from the directory where the user happens to be.
        program = [sys.executable, "-P", "-m", "spekctl"]
    return [*become, *program, "host", "--stdio"]


def agent_command(become: Sequence[str]) -> list[str]:
    """How to start the agent, which starts the host with the program @become before it."""
    return [sys.executable, "-P", "-m", "spekctl.host.agent", *command(become)]


def _status(code: int) -> str:
    """How a process has ended."""
    if code < 0:
        with contextlib.suppress(ValueError):
            return signal.Signals(-code).name
    return f"status {code}"


EventT = TypeVar("EventT")


class Helper(Generic[EventT]):
    """A running host. @on_event gets its events, of the types @events, in a thread of its own;
    @on_end is called once it is gone, with the reason."""

    def __init__(
        self,
        words: Sequence[str],
        on_event: Callable[[EventT], None],
        on_end: Callable[[str], None],
        events: Any = AnyEvent,
        name: str = "the host",
    ) -> None:
        """@name: what messages call it."""
        self._name = name
        self._events = events
        self._on_event = on_event
        self._on_end = on_end
        self._lock = threading.Lock()
        self._number = 0
        self._waiting: dict[int, queue.SimpleQueue[Answer | HostError]] = {}
        self._said: deque[str] = deque(maxlen=_STDERR_LINES)
        self._reason = ""
        self._ready = threading.Event()
        self._gone = threading.Event()
        self.hello: Hello | None = None
        try:
            self._process = subprocess.Popen(
                list(words),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                # Ctrl-C in the terminal is for the server, which then closes our input.
                start_new_session=True,
            )
        except OSError as error:
            raise HostError(f"cannot start {words[0]}: {error.strerror}") from error
        self._errors = threading.Thread(target=self._listen, name="host-errors", daemon=True)
        self._errors.start()
        threading.Thread(target=self._read, name="host-events", daemon=True).start()

    @property
    def alive(self) -> bool:
        """It answers."""
        return not self._reason

    def check_alive(self) -> None:
        """HostError, with the reason, if it has ended."""
        if self._reason:
            raise HostError(self._reason)

    @property
    def pid(self) -> int:
        """Of its process, or of the program that started it."""
        return self._process.pid

    def wait_ready(self, timeout_s: float | None = None) -> None:
        """Wait for its first line, PATIENCE_S if no time is given."""
        timeout_s = PATIENCE_S if timeout_s is None else timeout_s
        if not self._ready.wait(timeout_s):
            raise HostError(f"{self._name} has not answered within {timeout_s:.0f} s")
        if self._reason:
            raise HostError(self._reason)
        assert self.hello is not None
        if self.hello.protocol != wire.PROTOCOL:
            raise HostError(
                f"the host speaks protocol {self.hello.protocol}, this program"
                f" {wire.PROTOCOL}: they are of different versions of spekctl"
            )

    def ask(self, verb: str, answer: Any = Any, **fields: object) -> Any:
        """Send a request and wait for its answer, of the type @answer."""
        box: queue.SimpleQueue[Answer | HostError] = queue.SimpleQueue()
        with self._lock:
            if self._reason:
                raise HostError(self._reason)
            self._number += 1
            number = self._number
            self._waiting[number] = box
            data = wire.line({"do": verb, "id": number, **fields})
            with contextlib.suppress(OSError, ValueError):
                assert self._process.stdin is not None
                self._process.stdin.write(data)
                self._process.stdin.flush()
        try:
            answered = box.get(timeout=PATIENCE_S)
        except queue.Empty:
            raise HostError(f"{self._name} has not answered within {PATIENCE_S:.0f} s") from None
        finally:
            self._waiting.pop(number, None)
        if isinstance(answered, HostError):
            raise answered
        if answered.error is not None:
            raise HostError(answered.error.text, answered.error.code)
        try:
            return msgspec.json.decode(answered.answer, type=answer)
        except NO_MESSAGE as error:
            raise HostError(f"{self._name} sent what is no answer: {error}") from error

    def close(self, timeout_s: float = 35.0) -> None:
        """Close its input: its run ends, and it exits."""
        with contextlib.suppress(OSError, ValueError):
            assert self._process.stdin is not None
            self._process.stdin.close()
        self._gone.wait(timeout_s)

    def kill(self) -> None:
        """End a process that does not answer; only of one that was started without another
        program before it."""
        self._process.kill()

    def _read(self) -> None:
        assert self._process.stdout is not None
        trouble = ""
        try:
            for line in self._process.stdout:
                self._take(line)
        except NO_MESSAGE as error:
            trouble = f"{self._name} sent an invalid message: {error}"
        code = self._end()
        self._errors.join(1.0)
        last = self._said[-1].removeprefix("spekctl: ") if self._said else ""
        reason = trouble or f"{self._name} ended ({_status(code)})" + (f": {last}" if last else "")
        with self._lock:
            self._reason = reason
            boxes = list(self._waiting.values())
        self._ready.set()
        for box in boxes:
            box.put(HostError(reason))
        self._on_end(reason)
        self._gone.set()

    def _end(self) -> int:
        """Its exit status; what does not follow the protocol is not left running."""
        assert self._process.stdout is not None and self._process.stdin is not None
        with contextlib.suppress(OSError, ValueError):
            self._process.stdin.close()
        self._process.stdout.close()
        return self._process.wait()

    def _take(self, line: bytes) -> None:
        if msgspec.json.decode(line, type=_Line).event:
            event = msgspec.json.decode(line, type=self._events)
            if isinstance(event, Hello):
                self.hello = event
                self._ready.set()
            self._on_event(event)
            return
        answer = msgspec.json.decode(line, type=Answer)
        box = self._waiting.get(answer.id)
        if box is not None:
            box.put(answer)

    def _listen(self) -> None:
        assert self._process.stderr is not None
        for line in self._process.stderr:
            text = line.decode("utf-8", "replace").rstrip()
            if text:
                self._said.append(text)
        self._process.stderr.close()
