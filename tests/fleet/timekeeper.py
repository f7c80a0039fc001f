# SPDX-License-Identifier: GPL-2.0
"""The clock of guest 1, which others set theirs by: NTP's question and answer, once.

What is known of a clock then is told the kernel, as a daemon of NTP does: the kernel counts on from
there, 500 ppm, and spekctl reads it.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import socket
import struct
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from spekctl.fleet.clock import Timex

PORT = 4422
ROUNDS = 50
TIME, END, MEET = b"t", b"e", b"m"
SOURCES = Path("/sys/devices/system/clocksource/clocksource0")
ADJ_MAXERROR, ADJ_ESTERROR, ADJ_STATUS = 0x0004, 0x0008, 0x0010


@dataclass(frozen=True, slots=True)
class Distance:
    """How far guest 1's clock is ahead of this one, and by how much that may be wrong."""

    ahead_ns: int
    unsure_ns: int


class Keeper:
    """On guest 1: tells the time, has guests wait for each other, and counts those that end."""

    def __init__(self, address: str, guests: int) -> None:
        """@guests: that meet, with guest 1."""
        self._server = socket.create_server((address, PORT))
        self._ended = threading.Semaphore(0)
        self._met = threading.Barrier(guests)
        threading.Thread(target=self._serve, daemon=True).start()

    def close(self) -> None:
        """Listen no longer."""
        # A thread that waits for a connection keeps a socket that is only closed.
        self._server.shutdown(socket.SHUT_RDWR)
        self._server.close()

    def wait(self, guests: int, timeout_s: float) -> None:
        """Until so many guests have said that they end."""
        for _ in range(guests):
            if not self._ended.acquire(timeout=timeout_s):
                raise TimeoutError("a guest has not said that it ends")

    def meet(self, timeout_s: float) -> None:
        """Until all guests have come here; TimeoutError if one has not."""
        try:
            self._met.wait(timeout_s)
        except threading.BrokenBarrierError:
            raise TimeoutError(f"not all guests have come within {timeout_s:.0f} s") from None

    def _serve(self) -> None:
        with contextlib.suppress(OSError):  # closed
            while True:
                line, _ = self._server.accept()
                threading.Thread(target=self._tell, args=(line,), daemon=True).start()

    def _tell(self, line: socket.socket) -> None:
        # A guest may be killed, and others may not come.
        with line, contextlib.suppress(ConnectionError, threading.BrokenBarrierError):
            line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            while word := line.recv(1):
                if word == END:
                    self._ended.release()
                elif word == MEET:
                    # Those that do not come are missed by guest 1, which breaks it for all.
                    self._met.wait()
                line.sendall(struct.pack("!q", time.time_ns()))


def meet(address: str, timeout_s: float) -> None:
    """On the others: until all guests have come here. OSError if one does not."""
    with socket.create_connection((address, PORT), timeout=timeout_s) as line:
        line.sendall(MEET)
        if len(line.recv(8, socket.MSG_WAITALL)) < 8:
            raise OSError("a guest has not come")


def measure(address: str) -> Distance:
    """The best of several rounds."""
    best = Distance(0, 2**63)
    with socket.create_connection((address, PORT), timeout=60) as line:
        line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for _ in range(ROUNDS):
            sent_ns = time.time_ns()
            line.sendall(TIME)
            (told_ns,) = struct.unpack("!q", line.recv(8, socket.MSG_WAITALL))
            came_ns = time.time_ns()
            unsure_ns = (came_ns - sent_ns + 1) // 2
            if unsure_ns < best.unsure_ns:
                best = Distance(told_ns - (sent_ns + came_ns) // 2, unsure_ns)
    return best


def follow(address: str) -> None:
    """Set this guest's clock by guest 1's, and say how good it is."""
    ahead_ns = measure(address).ahead_ns
    time.clock_settime_ns(time.CLOCK_REALTIME, time.time_ns() + ahead_ns)
    left = measure(address)
    promise(abs(left.ahead_ns) + left.unsure_ns)


def keep_source(folder: Path = SOURCES) -> None:
    """Have the kernel stay with one source of time. On a busy machine its watchdog finds the TSC of
    an emulated CPU unstable, and with the change of source the kernel forgets what it was told of
    its clock. It does not watch the HPET."""
    if "hpet" in (folder / "available_clocksource").read_text().split():
        (folder / "current_clocksource").write_text("hpet")


def promise(bound_ns: int) -> None:
    """Tell the kernel how far its clock may be off."""
    timex = Timex(modes=ADJ_MAXERROR | ADJ_ESTERROR | ADJ_STATUS)
    timex.maxerror = timex.esterror = -(-bound_ns // 1000)
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.adjtimex(ctypes.byref(timex)) < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def say_end(address: str) -> None:
    with socket.create_connection((address, PORT), timeout=60) as line:
        line.sendall(END)
        line.recv(8, socket.MSG_WAITALL)
