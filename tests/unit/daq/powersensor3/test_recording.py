# SPDX-License-Identifier: GPL-2.0
"""Source powersensor3 on recorded bytes, which arrive when the recording says: exact, and no host
is too busy for that."""

from __future__ import annotations

import random
import struct
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from lib.daq.build import DAQ, INCLUDES, SANITIZE
from lib.powersensor3.wire import BOARD, set_bytes
from unit.daq.powersensor3.device import Levels, steady

US = 1000
START_NS = 7 * 10**9
SPACING_US = 50
USB_FRAME_NS = 1_000_000
PARTS = ("source", "stream", "average", "arrival", "config")
SOURCES = (*(f"powersensor3/{part}" for part in PARTS), "clock", "error", "say")


@dataclass(frozen=True)
class Read:
    """Scans by number, gaps, and, by the clock of the end, when each scan's interval began."""

    scans: dict[int, tuple[int, ...]]
    gaps: list[int]
    uncertainty_ns: int
    at_ns: list[int]
    said: str


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = tmp_path_factory.mktemp("recording") / "driver"
    sources = [
        Path(__file__).with_name("recording_driver.c"),
        *(DAQ / f"{source}.c" for source in SOURCES),
    ]
    options = [*SANITIZE, "-D_GNU_SOURCE", *INCLUDES, "-Wall", "-Wextra", "-Werror"]
    options += ["-Wno-format-truncation"]
    subprocess.run(["gcc", *options, "-o", program, *sources, "-lm"], check=True)
    return program


def taken_ns(number: int, ppm: float = 0) -> int:
    """When a set was taken, by a device whose clock is that much faster than the host's."""
    return START_NS + round(number * SPACING_US * US / (1 + ppm / 1e6))


def recorded(
    levels: Callable[[int], Levels],
    sets: int,
    *,
    ppm: float = 0,
    lost: range = range(0),
    stall_ns: int = 0,
) -> bytes:
    """In blocks of 20 sets, by a bus and a host that add up to 0.4 ms, and @stall_ns once."""
    chance = random.Random(8)
    data = bytearray(b"".join(sensor.encode() for sensor in BOARD) + struct.pack("=Q", START_NS))
    at_ns = START_NS
    for first in range(0, sets, 20):
        numbers = [number for number in range(first, first + 20) if number not in lost]
        block = b"".join(set_bytes(number * SPACING_US + 700, levels(number)) for number in numbers)
        late_ns = chance.randrange(400 * US) + (stall_ns if first == 11_000 else 0)
        at_ns = max(at_ns, taken_ns(first + 19, ppm) + late_ns)
        data += struct.pack("=QQ", at_ns, len(block)) + block
    return bytes(data)


def read(driver: Path, recording: bytes, interval_ns: int, *channels: str) -> Read:
    command = [str(driver), str(interval_ns), *channels]
    done = subprocess.run(command, input=recording, capture_output=True, check=False)
    said = done.stderr.decode()
    assert done.returncode == 0, said
    scans: dict[int, tuple[int, ...]] = {}
    gaps, at_ns, uncertainty_ns = [], [], 0
    for kind, *words in (line.split() for line in done.stdout.decode().splitlines()):
        numbers = [int(word) for word in words]
        if kind == "scan":
            scans[numbers[0]] = tuple(numbers[1:])
        elif kind == "gap":
            gaps += numbers
        elif kind == "at":
            at_ns.append(numbers[1])
        else:
            (uncertainty_ns,) = numbers
    return Read(scans, gaps, uncertainty_ns, at_ns, said)


def power(levels: Levels) -> int:
    """Of the first pair, in nW."""
    return round(BOARD[0].micro(levels[0]) * BOARD[1].micro(levels[1]) / 1000)


@pytest.mark.parametrize("stall_ns", [0, 2 * 10**9])
def test_a_step_of_the_load_has_its_time(driver: Path, stall_ns: int) -> None:
    """By the host's clock, although the device's own is 150 ppm fast, and the host stands still."""
    low, high = steady(600, 400)(0), steady(700, 400)(0)
    recording = recorded(
        lambda number: high if number >= 60_000 else low, 70_000, ppm=150, stall_ns=stall_ns
    )
    got = read(driver, recording, 1000 * US, "12V")
    middle = (power(low) + power(high)) / 2
    first = next(number for number, (value,) in got.scans.items() if value > middle)
    # Its interval began up to half a length before the step or after it.
    late_ns = got.at_ns[first] - taken_ns(60_000, ppm=150)
    assert abs(late_ns) <= USB_FRAME_NS + SPACING_US * US + 500 * US
    # Nothing arrived in time for seconds, which it says.
    assert (got.uncertainty_ns < 2 * USB_FRAME_NS) == (not stall_ns)


def test_the_shortest_interval_loses_nothing(driver: Path) -> None:
    """Of all three quantities."""
    levels = steady(600, 400, 0, 0, 512, 150)
    recording = recorded(levels, 40_000)
    got = read(driver, recording, 100 * US, "12V", "12V/current", "12V/voltage")
    assert got.said == "" and not got.gaps
    assert list(got.scans) == list(range(len(got.scans)))
    # Two sets each; the first ones measure the spacing.
    assert 20_000 - 25 < len(got.scans) <= 20_000
    exact = (power(levels(0)), BOARD[0].micro(600), BOARD[1].micro(400))
    assert set(got.scans.values()) == {exact}
    length_ns = got.at_ns[-1] - got.at_ns[0]
    assert abs(length_ns - (len(got.at_ns) - 1) * 100 * US) <= 2 * got.uncertainty_ns


def test_a_lost_set_is_a_gap_of_its_interval(driver: Path) -> None:
    recording = recorded(steady(600, 400), 40_000, lost=range(20_005, 20_006))
    got = read(driver, recording, 1000 * US, "12V")
    assert "0 bytes discarded, 1 losses so far" in got.said
    assert got.gaps == [1]
    assert len(got.scans) == len(got.at_ns) - 1
