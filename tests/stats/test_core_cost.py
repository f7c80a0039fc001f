"""What an operation costs, in instructions, compiled as the kernel compiles it.

valgrind counts the instructions inside the two functions that the worker calls for each I/O,
so the numbers are the same on any machine and under any load. `pytest -rA -k cost` shows them.
"""

import re
import resource
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from lib.build.budget import above
from lib.core.build import GENERATOR, KERNEL_LIKE
from lib.core.spekcore import (
    BLOCK,
    DRIVER,
    SMIX,
    Arrival,
    Asu,
    Stream,
    Workload,
    spc1,
)

needs_valgrind = pytest.mark.skipif(
    shutil.which("valgrind") is None, reason="valgrind is not installed: apt-get install valgrind"
)

G = 1 << 30
RUNS: dict[str, Any] = {"restart_bytes": G // 2, "run_bytes": G // 4, "run_align_bytes": 16 * BLOCK}
# Weights 1, 3, 1, 3...
PARTS = [(G // BLOCK // 256, (1 + i % 2 * 2) << 31) for i in range(256)]
CURVE = [(0, 1_000), (1800, 20_000), (3600, 1_000)]
FLAT = [(0, 10_000), (10, 10_000)]
ON_OFF: dict[str, Any] = {"on_ns": 10**8, "off_ns": 10**8, "tail_milli": 1500}
CLOSED = Arrival(depth=32)
POISSON = Arrival("poisson", rate=10_000)


def one(stream: Stream, arrival: Arrival) -> Workload:
    return Workload([Asu(G)], [arrival], [stream])


def zoned(factor: int = 1, **keys: Any) -> Stream:
    """Zones of @factor * 64 blocks, every @factor MiB."""
    zone = factor * 64 * BLOCK
    return Stream("strided", stride_bytes=factor << 20, zone_size_bytes=zone, **keys)


def collected(workload: Workload, scratch: Path, *options: str, count: int, uncounted: int) -> int:
    """Instructions that callgrind collects with these options while the driver runs."""
    driver = GENERATOR.build("driver-kernel-like", KERNEL_LIKE, [DRIVER])
    dump = workload.dump(scratch / "workload")
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *options]
    command += [str(driver), str(dump), "1", "0", "1", str(count), str(uncounted)]
    result = subprocess.run(command, check=True, capture_output=True, text=True)
    counted = re.search(r"Collected : (\d+)", result.stderr)
    assert counted and int(counted[1]), result.stderr
    return int(counted[1])


def instructions(workload: Workload, scratch: Path, count: int, uncounted: int = 0) -> float:
    """Instructions for each operation: generation and completion."""
    options = [f"--toggle-collect=spek_gen_{name}" for name in ("next", "complete")]
    options += ["--instr-atstart=no"]
    return collected(workload, scratch, *options, count=count, uncounted=uncounted) / count


# Limits are what was measured and a few per cent.
BUDGET = {
    "4 KiB random reads, closed loop": (one(Stream(), CLOSED), 100),
    "4 KiB random reads, poisson": (one(Stream(), POISSON), 118),
    "4 KiB random 70/30, closed loop": (one(Stream(read_ppm=700_000), CLOSED), 136),
    "mix of sizes 70/30, poisson": (one(Stream(sizes=SMIX, read_ppm=700_000), POISSON), 156),
    "constant rate": (one(Stream(), Arrival("constant", rate=10_000)), 105),
    "bursts": (one(Stream(), Arrival("burst", burst_length=10, burst_interval_ns=1000)), 93),
    "closed and capped": (one(Stream(), Arrival(depth=32, rate=1e9)), 130),
    "poisson on a curve": (one(Stream(), Arrival("poisson", curve=CURVE, repeats=1)), 200),
    "constant on a curve": (one(Stream(), Arrival("constant", curve=CURVE, repeats=1)), 160),
    "constant on a flat curve": (one(Stream(), Arrival("constant", curve=FLAT)), 130),
    "poisson, on and off": (one(Stream(), Arrival("poisson", rate=10_000, **ON_OFF)), 148),
    "constant, on and off": (one(Stream(), Arrival("constant", rate=10_000, **ON_OFF)), 112),
    "half sequential, closed loop": (one(Stream(seq_ppm=500_000), CLOSED), 136),
    "sequential, closed loop": (one(Stream("sequential"), CLOSED), 90),
    "backward, closed loop": (one(Stream("backward"), CLOSED), 90),
    "strided, closed loop": (one(Stream("strided", stride_bytes=16 * BLOCK), CLOSED), 90),
    "strided with jitter, closed loop": (
        one(Stream("strided", stride_bytes=16 * BLOCK, jitter_bytes=8 * BLOCK), CLOSED),
        117,
    ),
    "strided, zones, closed loop": (one(zoned(), CLOSED), 147),
    "strided, random in zones, closed loop": (one(zoned(zone_order=1), CLOSED), 165),
    # The order of few blocks is drawn, of many it is a permutation.
    "strided, zones once, closed loop": (one(zoned(zone_order=2), CLOSED), 180),
    "strided, zones of many blocks once, closed loop": (one(zoned(128, zone_order=2), CLOSED), 183),
    # Half of the columns of each table are drawn on each side of their thresholds.
    "table, closed loop": (one(Stream("table", parts=PARTS), CLOSED), 117),
    "table that is spread, closed loop": (one(Stream("table", parts=PARTS, spread=1), CLOSED), 119),
    "table that is spread, poisson": (one(Stream("table", parts=PARTS, spread=1), POISSON), 140),
    # Two to the k blocks, an average number, and the one with the most repetitions.
    "once, closed loop": (one(Stream("once"), CLOSED), 111),
    "once, 3/4 of 2^k blocks": (one(Stream("once", range_bytes=G * 3 // 4), CLOSED), 119),
    "once, 1/2 of 2^k blocks": (one(Stream("once", range_bytes=G // 2 + BLOCK), CLOSED), 135),
    "runs, poisson": (one(Stream("runs", SMIX, **RUNS), POISSON), 152),
    "walk, poisson": (one(Stream("walk", read_ppm=500_000), POISSON), 222),
    "hot band, closed loop": (one(Stream("hotband", range_bytes=G // 8), CLOSED), 165),
    "SPC-1": (spc1(20), 193),
    "sixteen processes": (
        Workload([Asu(G)], [POISSON] * 16, [Stream(arrival=i) for i in range(16)]),
        265,
    ),
}


@needs_valgrind
@pytest.mark.parametrize("name", BUDGET)
def test_cost(name: str, tmp_path: Path) -> None:
    workload, limit = BUDGET[name]
    cost = instructions(workload, tmp_path, 50_000, 1_000)
    print(f"{name}: {cost:.1f} instructions, limit {limit}")
    assert above({name: cost}, {name: limit}) == {}


@needs_valgrind
def test_cost_does_not_depend_on_the_number_of_bsus(tmp_path: Path) -> None:
    """In the steady state: first every replica has to have had its first I/Os."""
    single = instructions(spc1(1), tmp_path, 200_000, 1_000)
    many = instructions(spc1(60_000), tmp_path, 200_000, 8_000_000)
    print(f"1 BSU: {single:.1f} instructions, 60000 BSUs: {many:.1f}")
    assert many == pytest.approx(single, rel=0.03)


@needs_valgrind
def test_a_start_does_not_depend_on_the_number_of_bsus(tmp_path: Path) -> None:
    """The kernel does it after reading time 0: the first arrivals are late by what it takes."""

    def start(bsus: int) -> int:
        option = "--toggle-collect=spek_gen_start"
        return collected(spc1(bsus), tmp_path, option, count=1, uncounted=0)

    single, many = start(1), start(60_000)
    print(f"1 BSU: {single} instructions, 60000 BSUs: {many}")
    assert many == pytest.approx(single, rel=0.03)


@pytest.mark.parametrize("bsus", [20_000, 60_000])
def test_a_million_ios_per_second_are_far_from_the_limit(bsus: int, tmp_path: Path) -> None:
    """Of the core alone on one CPU, by the CPU's time, so others on the machine don't count."""
    driver = GENERATOR.build("driver-kernel-like", KERNEL_LIKE, [DRIVER])
    dump = spc1(bsus).dump(tmp_path / "workload")

    def seconds(count: int) -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([driver, dump, "1", "0", "1", str(count)], check=True, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime - before.ru_utime

    set_up = seconds(1)
    rate = 10_000_000 / (seconds(10_000_001) - set_up)
    print(f"SPC-1, {bsus} BSUs ({50 * bsus} offered): {rate:,.0f} operations per second and core")
    assert rate > 2_000_000
