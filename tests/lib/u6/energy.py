# SPDX-License-Identifier: GPL-2.0
"""Known currents into an emulated U6, and what spek-daq makes of them: joules and gaps."""

from __future__ import annotations

import itertools
import math
import os
import queue
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from lib.u6.device import Device, Signal, Stream, constant
from lib.waiting import LONG_S

MS = 1_000_000
STEP_V = 3.1580578e-4
VOLTS_PER_AMPERE = 0.625 / 6  # of the transducer, for each turn
DIVIDER = 3
WAIT_S = LONG_S


@dataclass(frozen=True)
class Rail:
    """A rail with a current that swings around a mean, and a transducer that is off at zero."""

    name: str
    volts: float
    mean_a: float
    swing_a: float
    hertz: float
    turns: int = 1
    zero_error_v: float = 0.0

    def signal(self) -> Signal:
        """Output of the transducer."""
        gain = VOLTS_PER_AMPERE * self.turns
        turn = 2 * math.pi * self.hertz / 1e9
        zero = 2.5 + self.zero_error_v
        return lambda at: zero + gain * (self.mean_a + self.swing_a * math.sin(turn * at))

    def joules(self, start_ns: int, end_ns: int) -> float:
        """What flows in an interval, exactly."""
        turn = 2 * math.pi * self.hertz / 1e9
        swing = self.swing_a * (math.cos(turn * start_ns) - math.cos(turn * end_ns)) / turn
        return self.volts * (self.mean_a * (end_ns - start_ns) + swing) / 1e9

    @property
    def step_w(self) -> float:
        """One step of the converter."""
        return STEP_V / (VOLTS_PER_AMPERE * self.turns) * self.volts


# A disk's two rails with the largest zero errors there are, and an SSD's with three turns.
RAILS = (
    Rail("12V", 11.76, 0.52, 0.3, 0.7, zero_error_v=0.025),
    Rail("5V", 5.0, 0.61, 0.2, 1.3, zero_error_v=-0.025),
    Rail("3V3", 3.3, 0.4, 0.25, 0.9, turns=3),
)


def packet_ns(interval_ns: int) -> int:
    """What one packet holds at most: 25 samples of 4 channels."""
    return 25 * interval_ns // 4


def rails_file(interval_ns: int) -> str:
    """How the rails are wired, and calibrated."""
    return f"""
source = "u6"
interval_us = {interval_ns // 1000}

[[rail]]
name = "12V"
channel = "AIN0"
voltage_channel = "AIN3"
voltage_scale_ppm = {DIVIDER * 1_000_000}
zero_uv = 2525000

[[rail]]
name = "5V"
channel = "AIN1"
voltage_mv = 5000
zero_uv = 2475000

[[rail]]
name = "3V3"
channel = "AIN2"
voltage_mv = 3300
turns = 3
"""


def loaded_device(ppm: int = 100, rails: Sequence[Rail] = RAILS) -> Device:
    """A U6 with the rails' transducers on AIN0.., and the 12 V rail's voltage on AIN3."""
    signals = [rail.signal() for rail in rails]
    return Device([*signals, constant(rails[0].volts / DIVIDER)], ppm=ppm)


@dataclass
class Stretch:
    """Samples without a gap: times in ns, the rails' microwatts, and when each was read.

    @read_ns: empty if nobody has read them from a program
    """

    at_ns: list[int] = field(default_factory=list)
    power_uw: list[list[int]] = field(default_factory=list)
    read_ns: list[int] = field(default_factory=list)

    def joules(self, rail: int) -> float:
        """The area under the samples."""
        total = 0.0
        for i in range(1, len(self.at_ns)):
            mean = (self.power_uw[i - 1][rail] + self.power_uw[i][rail]) / 2
            total += mean * (self.at_ns[i] - self.at_ns[i - 1]) / 1e15
        return total


class Daq:
    """spek-daq, running with --print; use it as a context."""

    def __init__(
        self, program: Path, rails: Path, environment: Mapping[str, str] = os.environ
    ) -> None:
        self.stretches: list[Stretch] = []
        self._lines: queue.Queue[tuple[int, str]] = queue.Queue()
        self.process = subprocess.Popen(
            [program, "--rails", rails, "--print=rails"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
        )
        self._pumps = [
            threading.Thread(target=self._pump, daemon=True),
            threading.Thread(target=self._listen, daemon=True),
        ]
        self.said: list[str] = []
        for pump in self._pumps:
            pump.start()

    def __enter__(self) -> Daq:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()

    def _pump(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            self._lines.put((time.monotonic_ns(), line))

    def _listen(self) -> None:
        assert self.process.stderr
        self.said.extend(self.process.stderr)

    def _take(self, read_ns: int, line: str) -> None:
        first, *values = line.strip().split(",")
        if first == "time_ns":
            return
        if not all(values):
            self.stretches.append(Stretch())
            return
        if not self.stretches:
            self.stretches.append(Stretch())
        self.stretches[-1].at_ns.append(int(first))
        self.stretches[-1].power_uw.append([int(value) for value in values])
        self.stretches[-1].read_ns.append(read_ns)

    def until(self, condition: Callable[[], object], what: str) -> None:
        """Take in what it prints until something is so."""
        end = time.monotonic() + WAIT_S
        while not condition():
            try:
                self._take(*self._lines.get(timeout=0.1))
            except queue.Empty:
                assert self.process.poll() is None, f"it ended: {self.said}"
                assert time.monotonic() < end, f"{what} has not come: {self.said}"

    def read(self, scans: int) -> None:
        """So many more in the present stretch, or in the next ones."""
        goal = self.count + scans
        self.until(lambda: self.count >= goal, f"{scans} samples")

    @property
    def count(self) -> int:
        return sum(len(stretch.at_ns) for stretch in self.stretches)

    def finish(self) -> list[Stretch]:
        """End it in order. Return: all there was."""
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(WAIT_S) == 0, self.said
        for pump in self._pumps:
            pump.join(WAIT_S)
        while not self._lines.empty():
            self._take(*self._lines.get())
        self.stretches = [stretch for stretch in self.stretches if stretch.at_ns]
        return self.stretches


def taken(streams: Sequence[Stream], ppm: int) -> Iterator[int]:
    """When each scan that could arrive was taken."""
    for stream in streams:
        lost = set(stream.lost)
        for scan in range(stream.taken):
            if scan not in lost:
                yield stream.time_of(scan, ppm)


def check_joules(stretches: Sequence[Stretch], first_ns: Sequence[int]) -> None:
    """Each rail's energy in each stretch: to 0.5 % and one step of the converter.

    @first_ns: when the first scan of each was taken. All arrivals may be late, which no host can
    tell, and so are the time stamps; but no stamp is later than its scan's arrival, which is before
    the sample is read. The fastest sample of a stretch bounds how late all are.
    """
    for stretch, taken_ns in zip(stretches, first_ns, strict=True):
        start, end = stretch.at_ns[0], stretch.at_ns[-1]
        late = start - taken_ns
        assert late >= 0
        for at_ns, read_ns in zip(stretch.at_ns, stretch.read_ns, strict=True):
            assert at_ns <= read_ns, f"it is stamped {at_ns - read_ns} ns after it was read"
        for number, rail in enumerate(RAILS):
            expected = rail.joules(start - late, end - late)
            allowed = 0.005 * expected + rail.step_w * (end - start) / 1e9
            joules = stretch.joules(number)
            assert abs(joules - expected) <= allowed, f"{rail.name}: {joules} J, not {expected} J"


def first_scans(stretches: Sequence[Stretch], streams: Sequence[Stream], ppm: int) -> list[int]:
    """When the first scan of each stretch was taken: scans are printed in order."""
    times = list(taken(streams, ppm))
    counts = itertools.accumulate((len(stretch.at_ns) for stretch in stretches[:-1]), initial=0)
    return [times[position] for position in counts]


def gaps(stretches: Sequence[Stretch]) -> list[tuple[int, int]]:
    """From the last sample before to the first one after each."""
    return [(before.at_ns[-1], after.at_ns[0]) for before, after in itertools.pairwise(stretches)]


def true_gaps(
    stretches: Sequence[Stretch], streams: Sequence[Stream], ppm: int
) -> list[tuple[int, int]]:
    """The same by the device: its scans were printed in order, so their number tells which."""
    times = list(taken(streams, ppm))
    gaps, position = [], 0
    for stretch in stretches[:-1]:
        position += len(stretch.at_ns)
        gaps.append((times[position - 1], times[position]))
    return gaps
