"""The generator is clean under sanitizers, and the same however it is compiled."""

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from lib.core.build import GENERATOR, KERNEL_LIKE, SANITIZERS
from lib.core.spekcore import (
    BLOCK,
    DRIVER,
    SMIX,
    Arrival,
    Asu,
    Generator,
    Stream,
    Workload,
    spc1,
)

G = 1 << 30


def test_hot_path_does_not_divide_by_a_variable() -> None:
    """No div instruction in the functions that run for each I/O."""
    binary = GENERATOR.build("driver-kernel-like", KERNEL_LIKE, [DRIVER])
    code = subprocess.run(
        ["objdump", "-d", "--no-show-raw-insn", binary], check=True, capture_output=True, text=True
    ).stdout
    bodies = dict(re.findall(r"^[0-9a-f]+ <(\w+)>:\n((?:.+\n)+)", code, re.M))
    names = r"spek_gen_(next|complete)|next_|advance"
    hot = [name for name in bodies if re.match(names, name)]
    hot += ["find_next", "spek_pattern_next", "spek_expo_rare", "spek_times_advance"]
    hot += ["spek_runs_restart", "spek_gap_next"]
    assert len(hot) >= 14
    for name in hot:
        assert not re.search(r"\bi?div[ql]?\b", bodies[name]), name


# ---- sanitizers ----

RUNS: dict[str, Any] = {"restart_bytes": G // 2, "run_bytes": G // 4, "run_align_bytes": 16 * BLOCK}
# All ways to find an address in a zone of a stride, once in few blocks and once in many.
ZONES = [
    Stream("strided", SMIX, arrival=4, stride_bytes=99 * BLOCK, zone_size_bytes=50 * BLOCK),
    Stream(
        "strided",
        SMIX,
        arrival=1,
        stride_bytes=99 * BLOCK,
        zone_size_bytes=70 * BLOCK,
        zone_range_bytes=50 * BLOCK,
        zone_order=1,
    ),
    *(
        Stream(
            "strided",
            asu=2,
            arrival=1,
            replicas=2,
            stride_bytes=2 * blocks * BLOCK,
            zone_size_bytes=blocks * BLOCK // 2,
            zone_range_bytes=blocks * BLOCK,
            zone_order=2,
        )
        for blocks in (77, 1100)
    ),
]
SOUP = Workload(
    [Asu(G), Asu(512 * 1001), Asu(64 * G)],
    [
        Arrival(depth=5, think_ns=1000),
        Arrival("poisson", rate=1e4),
        Arrival("poisson", rate=0.1),
        Arrival("constant", rate=3333.333),
        Arrival("burst", burst_length=11, burst_interval_ns=10**6),
        Arrival("poisson", curve=[(0, 0), (1, 5000), (3, 10)], repeats=1),
        Arrival("constant", curve=[(0, 9000), (2, 1), (3, 4000)]),
        Arrival("poisson", rate=1e4, on_ns=10**6, off_ns=10**6, tail_milli=1500),
        Arrival(depth=3, rate=5000),
    ],
    [
        Stream(sizes=SMIX, read_ppm=333_333),
        Stream("sequential", SMIX, arrival=1, replicas=3),
        Stream("walk", arrival=1, replicas=7, read_ppm=300_000),
        Stream("walk", arrival=2, replicas=2, read_ppm=300_000, walk_style="fixed"),
        Stream("runs", SMIX, arrival=3, replicas=2, read_ppm=0, **RUNS),
        Stream("strided", arrival=4, stride_bytes=12 * BLOCK),
        Stream("strided", arrival=4, stride_bytes=12 * BLOCK, jitter_bytes=5 * BLOCK),
        *ZONES,
        Stream("once", arrival=1, replicas=3),
        Stream("table", arrival=1, parts=[(1, 2**39), (G // BLOCK - 1, 2**39)], spread=1),
        Stream("table", arrival=1, parts=[(1, 2**39), (G // BLOCK - 1, 2**39)]),
        Stream("backward", SMIX, arrival=1),
        Stream("uniform", 512, asu=1, arrival=4, align_bytes=512, seq_ppm=500_000, replicas=9),
        Stream(arrival=5),
        Stream("hotband", arrival=6, read_ppm=500_000),
        Stream(arrival=7),
        Stream(arrival=8),
    ],
)
LARGEST = Workload(
    [Asu(2**62)] * 16,
    [Arrival("poisson", rate=1e9)] * 16,
    [
        Stream(
            asu=i % 16,
            arrival=i % 16,
            weight=2**32 - 1,
            align_bytes=512,
            read_ppm=1,
            sizes=[((k % 16 + 1) << 20, 2**32 - 1) for k in range(64)],
        )
        for i in range(64)
    ],
)
SMALLEST = Workload(
    [Asu(512)], [Arrival(depth=1)], [Stream(sizes=512, align_bytes=512, read_ppm=0)]
)


WORKLOADS = {
    "soup": SOUP,
    "largest": LARGEST,
    "smallest": SMALLEST,
    "spc1": spc1(3),
    "smallest spc1": spc1(1, 20480, 4551),
    "smallest fixed spc1": spc1(2, 10240, 2275, "fixed"),
}


@pytest.mark.parametrize("name", WORKLOADS)
@pytest.mark.parametrize(("worker", "nr_workers"), [(0, 1), (1, 3), (255, 256)])
def test_clean_under_sanitizers(name: str, worker: int, nr_workers: int, tmp_path: Path) -> None:
    workload = WORKLOADS[name]
    binary = GENERATOR.build("driver-sanitized", SANITIZERS, [DRIVER])
    dump = workload.dump(tmp_path / "workload")
    command = [str(binary), str(dump), "7", str(worker), str(nr_workers), "20000"]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    # and it makes as many operations as the library
    generated = len(Generator(workload, 7, worker, nr_workers).ops(20000))
    assert int(result.stdout.split()[0]) == generated


def test_the_kernel_flavour_makes_the_same_operations(tmp_path: Path) -> None:
    """Neither optimisation, sanitizer nor compiler may change a sequence."""
    dump = SOUP.dump(tmp_path / "workload")
    flavours = {
        "driver-kernel-like": KERNEL_LIKE,
        "driver-sanitized": SANITIZERS,
        "driver-no-int128": ("-O2", "-U__SIZEOF_INT128__"),
    }
    printed = {
        subprocess.run(
            [GENERATOR.build(name, flags, [DRIVER]), dump, "7", "0", "1", "50000"],
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for name, flags in flavours.items()
    }
    assert len(printed) == 1
