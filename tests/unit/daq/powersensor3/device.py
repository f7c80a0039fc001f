# SPDX-License-Identifier: GPL-2.0
"""A PowerSensor3 at the end of a pseudo-terminal: commands, replies and a stream in real time.

The device's clock runs by the host's. Like a device, it keeps what a host does not take for a
while, and loses whole sets after that. One more set follows the end of its stream, which it
confirms while that set waits to be sent.
"""

from __future__ import annotations

import array
import contextlib
import fcntl
import os
import select
import termios
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from lib.daq.lines import SerialLine
from lib.powersensor3.wire import BOARD, STAMPS, STOP, Sensor, level_words

Levels = tuple[int, ...]
# Taken by nothing but a reader that is stuck.
KEPT_BYTES = 1 << 20
STEP_S = 0.002
# By what the set behind the end of a stream is late: the display is drawn before.
DRAWN_S = 0.03
# A program that does not take the end of a stream has gone.
TAKEN_S = 5.0
words_of = lru_cache(4096)(level_words)


def steady(*levels: int) -> Callable[[int], Levels]:
    """The same levels in all sets; sensors that are left out are at 0."""
    every = (*levels, *[0] * (8 - len(levels)))
    return lambda _: every


@dataclass
class Device:
    """What it is; levels(i) are those of set i since the stream's start."""

    levels: Callable[[int], Levels]
    sensors: Sequence[Sensor] = BOARD
    version: bytes = b"F411-1.6.1\r\n"
    spacing_us: float = 50
    # Sets of each stream that it does not send, and bytes that it sends before a set.
    lost: dict[int, range] = field(default_factory=dict)
    garbage: dict[int, bytes] = field(default_factory=dict)
    # Its streams send nothing from this set on.
    silent_from: int | None = None
    is_deaf: bool = False
    started_ns: list[int] = field(default_factory=list)
    stopped: int = 0
    is_streaming: bool = False


class Plugged(SerialLine):
    """A device that is plugged in: its serial line is at @path."""

    def __init__(self, device: Device, path: Path) -> None:
        super().__init__(path)
        os.set_blocking(self.master, False)
        self.device = device
        self.pending = bytearray()
        self.sent = 0
        self.thread.start()

    def _serve(self) -> None:
        while not self.ended.is_set():
            if select.select([self.master], [], [], STEP_S)[0]:
                with contextlib.suppress(BlockingIOError):
                    for command in os.read(self.master, 256):
                        self._obey(bytes([command]))
            if self.device.is_streaming:
                self._stream()
            self._flush()

    def _flush(self) -> None:
        with contextlib.suppress(BlockingIOError):
            while self.pending:
                del self.pending[: os.write(self.master, self.pending[:4096])]

    def _obey(self, command: bytes) -> None:
        device = self.device
        if device.is_deaf:
            return
        if command == b"S":
            device.started_ns.append(time.monotonic_ns())
            device.is_streaming, self.sent = True, 0
        elif command == b"X":
            was_streaming, device.is_streaming = device.is_streaming, False
            device.stopped += 1
            self.pending += STOP
            if was_streaming and device.silent_from is None:
                self._send_last_set()
        elif command == b"V":
            self.pending += device.version
        elif command == b"R":
            self._send_configuration()

    def _send_last_set(self) -> None:
        """Not in one read with what is before it."""
        end_s = time.monotonic() + TAKEN_S
        while not self._is_taken() and time.monotonic() < end_s:
            if self.ended.wait(STEP_S):
                return
            self._flush()
        self.ended.wait(DRAWN_S)
        self.pending += self._set(self.sent)

    def _is_taken(self) -> bool:
        """Whether the host has read all that was sent."""
        unread = array.array("i", [0])
        fcntl.ioctl(self.slave, termios.FIONREAD, unread)
        return not self.pending and not unread[0]

    def _send_configuration(self) -> None:
        for sensor in self.device.sensors:
            self.pending += sensor.encode()
            self._flush()
            if not select.select([self.master], [], [], 2)[0]:
                return
            os.read(self.master, 1)
        self.pending += b"D"

    def _stream(self) -> None:
        device = self.device
        passed_us = (time.monotonic_ns() - device.started_ns[-1]) / 1000
        due = int(passed_us / device.spacing_us) + 1
        if device.silent_from is not None:
            due = min(due, device.silent_from)
        lost = device.lost.get(len(device.started_ns) - 1, range(0))
        for number in range(self.sent, due):
            self.pending += device.garbage.get(number, b"")
            if number in lost or len(self.pending) > KEPT_BYTES:
                continue
            self.pending += self._set(number)
        self.sent = max(self.sent, due)

    def _set(self, number: int) -> bytes:
        # Its clock does not begin with the stream.
        stamp = int(number * self.device.spacing_us) + 700
        return STAMPS[stamp % 1024] + words_of(self.device.levels(number))
