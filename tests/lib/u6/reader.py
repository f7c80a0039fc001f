# SPDX-License-Identifier: GPL-2.0
"""Runs the program that reads a U6, and judges what it says by what the emulated device did."""

from __future__ import annotations

import itertools
import json
import queue
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lib.u6.device import SAMPLE_NS, Device, Stream
from lib.waiting import LONG_S

WAIT_S = LONG_S
# Constants are stored to 2^-32 V for each of up to 2^15 steps, and results are whole microvolts.
EXACT_UV = 0.5 + 2**15 * 2**-33 * 1e6


@dataclass
class Session:
    """What came between a start and an end of the stream."""

    scans: dict[int, list[int]] = field(default_factory=dict)
    arrival_ns: dict[int, int] = field(default_factory=dict)  # of the last scan of each block
    gaps: list[range] = field(default_factory=list)
    end: str = ""
    why: str = ""

    @property
    def missing(self) -> list[int]:
        """Scans in the gaps."""
        return [scan for gap in self.gaps for scan in gap]


class Reader:
    """The program, running; use it as a context."""

    def __init__(
        self,
        program: Path,
        interval_ns: int,
        *channels: str,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.channels = [name for name in channels if "=" not in name]
        self.sessions: list[Session] = []
        self.failures: list[str] = []
        self.damaged = self.overflows = 0
        self.lsb: list[int] = []  # of each channel, in its unit
        self._lines: queue.Queue[str | None] = queue.Queue()
        self.process = subprocess.Popen(
            [program, str(interval_ns), *channels],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )
        threading.Thread(target=self._pump, daemon=True).start()

    def __enter__(self) -> Reader:
        return self

    def __exit__(self, *_: object) -> None:
        self.finish()

    def _pump(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            self._lines.put(line)
        self._lines.put(None)

    def finish(self) -> int:
        """End it in order, take in the rest. Return: its exit status."""
        if self.process.poll() is None:
            assert self.process.stdin
            self.process.stdin.close()
        while (line := self._lines.get(timeout=WAIT_S)) is not None:
            self._take(json.loads(line))
        self._lines.put(None)
        return self.process.wait(WAIT_S)

    def kill(self) -> None:
        """End it without a chance to stop the device."""
        self.process.kill()
        self.finish()

    def until(self, condition: Callable[[Reader], Any], what: str) -> None:
        """Take in what it says until something is so."""
        end = time.monotonic() + WAIT_S
        while not condition(self):
            line = self._lines.get(timeout=max(end - time.monotonic(), 0.001))
            assert line is not None, f"it ended before {what}: {self.failures}"
            self._take(json.loads(line))

    def read(self, scans: int) -> None:
        """Read this number of further scans of the present session, or of the next ones."""
        goal = self.count + scans
        self.until(lambda _: self.count >= goal, f"{scans} scans had come")

    @property
    def count(self) -> int:
        """Scans of all sessions."""
        return sum(len(session.scans) for session in self.sessions)

    @property
    def session(self) -> Session:
        """The present one."""
        return self.sessions[-1]

    def _take(self, event: dict[str, Any]) -> None:
        kind = event["event"]
        if kind == "open":
            self.lsb = event["lsb"]
        elif kind == "started":
            self.sessions.append(Session())
        elif kind == "scans":
            self._take_scans(event)
        elif kind == "gap":
            gap = range(event["first"] - event["lost"], event["first"])
            self.session.gaps.append(gap)
        elif kind in ("gone", "failed", "restart"):
            self.failures.append(event["why"])
            if self.sessions and not self.session.end:
                self.session.end, self.session.why = kind, event["why"]

    def _take_scans(self, event: dict[str, Any]) -> None:
        width = len(self.channels)
        rows = [event["values"][i : i + width] for i in range(0, len(event["values"]), width)]
        for number, row in enumerate(rows, event["first"]):
            assert number not in self.session.scans
            self.session.scans[number] = row
        self.session.arrival_ns[event["first"] + len(rows) - 1] = event["arrival"]
        self.damaged, self.overflows = event["damaged"], event["overflows"]


def runs(scans: list[int]) -> Iterator[range]:
    """Runs of consecutive numbers."""
    for _, group in itertools.groupby(enumerate(scans), lambda pair: pair[1] - pair[0]):
        numbers = [scan for _, scan in group]
        yield range(numbers[0], numbers[-1] + 1)


def verify(session: Session, device: Device, stream: Stream, channels: list[str]) -> None:
    """Every scan has the value its number demands; every number is there or in a gap; no scan
    came before it was taken."""
    numbers = sorted([*session.scans, *session.missing])
    assert numbers == list(range(len(numbers))), "a scan is neither there nor missing, or both"
    assert set(session.missing) == {scan for scan in stream.lost if scan < len(numbers)}
    order = [stream.channels.index(number_of(name)) for name in channels]
    for number, row in session.scans.items():
        at = stream.time_of(number, device.ppm)
        for name, place, value in zip(channels, order, row, strict=True):
            when = at + place * SAMPLE_NS
            expected = device.reading(number_of(name), when)
            assert abs(value - expected) <= EXACT_UV, f"{name} of scan {number}"
    for number, arrival in session.arrival_ns.items():
        assert arrival >= stream.time_of(number, device.ppm)


def number_of(name: str) -> int:
    """Number of a channel as the device has it."""
    return 193 if name == "FIO" else int(name.removeprefix("AIN"))
