"""Sequences that may not change by accident: a seed must mean the same next year.

`python tests/unit/core/test_sequences.py` writes the vectors anew, for a change that is meant.
"""

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

import pytest

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from lib.core.spekcore import BLOCK, SMIX, Arrival, Asu, Generator, Stream, Workload, spc1

VECTORS = Path(__file__).with_name("vectors") / "core_sequences.json"
COUNT = 100_000
G = 1 << 30
RUNS: dict[str, Any] = {"restart_bytes": G // 2, "run_bytes": G // 4, "run_align_bytes": 16 * BLOCK}
ZONES: dict[str, Any] = {
    "stride_bytes": 1 << 20,
    "zone_size_bytes": 300 << 10,
    "zone_range_bytes": 200 << 10,
}
MANY: dict[str, Any] = {"stride_bytes": 9 << 20, "zone_size_bytes": 5 << 20}
# Addresses of half of G where the largest block of SMIX fits.
_SLOTS = (G // 2 - max(SMIX)) // BLOCK + 1
PARTS = [(1, 2**38), (2, 2**37), (997, 2**39), (1000, 0), (_SLOTS - 2000, 2**37)]

WORKLOADS = {
    "uniform closed": Workload([Asu(G)], [Arrival(depth=32)], [Stream(read_ppm=700_000)]),
    "mix poisson": Workload([Asu(G)], [Arrival("poisson", rate=1e4)], [Stream(sizes=SMIX)]),
    "sequential share": Workload([Asu(G)], [Arrival(depth=1)], [Stream(seq_ppm=500_000)]),
    "sequential constant": Workload(
        [Asu(G)], [Arrival("constant", rate=777)], [Stream("sequential", 128 << 10)]
    ),
    "strided bursts": Workload(
        [Asu(G)],
        [Arrival("burst", burst_length=7, burst_interval_ns=10**6)],
        [Stream("strided", stride_bytes=64 << 10, replicas=5)],
    ),
    "runs and walks": Workload(
        [Asu(G)],
        [Arrival("poisson", rate=1000), Arrival(depth=3, think_ns=10**6)],
        [Stream("runs", SMIX, **RUNS), Stream("walk", arrival=1, read_ppm=300_000, replicas=3)],
    ),
    "hot band": Workload(
        [Asu(G)],
        [Arrival(depth=1)],
        [Stream("hotband", SMIX, read_ppm=700_000, range_bytes=G // 8)],
    ),
    "once": Workload([Asu(G + BLOCK)], [Arrival(depth=8)], [Stream("once", read_ppm=500_000)]),
    "once, many passes": Workload(
        [Asu(G)], [Arrival(depth=8)], [Stream("once", range_bytes=777 * BLOCK, replicas=3)]
    ),
    "backward": Workload([Asu(G)], [Arrival(depth=1)], [Stream("backward", SMIX, replicas=2)]),
    "jitter": Workload(
        [Asu(G)],
        [Arrival("constant", rate=777)],
        [Stream("strided", stride_bytes=64 << 10, jitter_bytes=128 << 10)],
    ),
    "zones": Workload(
        [Asu(G)],
        [Arrival(depth=8), Arrival("constant", rate=777), Arrival(depth=1)],
        [
            Stream("strided", SMIX, **ZONES),
            Stream("strided", SMIX, arrival=1, zone_order=1, **ZONES),
            Stream("strided", arrival=2, zone_order=2, replicas=2, **ZONES),
            Stream("strided", zone_order=2, **MANY),
        ],
    ),
    "table": Workload(
        [Asu(G)],
        [Arrival(depth=8)],
        [
            Stream("table", SMIX, range_bytes=G // 2, parts=PARTS),
            Stream("table", SMIX, range_bytes=G // 2, parts=PARTS, spread=1),
        ],
    ),
    "curves": Workload(
        [Asu(G)],
        [
            Arrival("poisson", curve=[(0, 0), (1, 500), (2, 100)], repeats=1),
            Arrival("constant", curve=[(0, 100), (5, 1000), (5, 10)]),
        ],
        [Stream(read_ppm=700_000), Stream(arrival=1, read_ppm=0)],
    ),
    "on and off": Workload(
        [Asu(G)],
        [
            Arrival("poisson", rate=1e4, on_ns=10**7, off_ns=9 * 10**7, tail_milli=1500),
            Arrival("constant", rate=777, on_ns=10**8, off_ns=10**8),
        ],
        [Stream(read_ppm=700_000), Stream(arrival=1, read_ppm=0)],
    ),
    "limited": Workload(
        [Asu(G)], [Arrival(depth=7, rate=777, burst_length=5)], [Stream(read_ppm=700_000)]
    ),
    "spc1 classic": spc1(20),
    "spc1 fixed": spc1(20, style="fixed"),
}
PLACES = [(name, worker, n) for name in WORKLOADS for worker, n in ((0, 1), (1, 3))]


def fingerprint(name: str, worker: int, nr_workers: int) -> dict[str, object]:
    ops = Generator(WORKLOADS[name], 42, worker, nr_workers).ops(COUNT)
    assert not ops["kind"].any()  # plain reads and writes
    names = [name for name in ops.dtype.names or () if name != "kind"]
    first = [[int(op[name]) for name in names] for op in ops[:3]]
    return {"sha256": hashlib.sha256(ops.tobytes()).hexdigest(), "made": len(ops), "first": first}


@pytest.mark.parametrize(("name", "worker", "nr_workers"), PLACES)
def test_sequence_is_the_recorded_one(name: str, worker: int, nr_workers: int) -> None:
    recorded = json.loads(VECTORS.read_text())
    assert fingerprint(name, worker, nr_workers) == recorded[f"{name} {worker}/{nr_workers}"]


if __name__ == "__main__":
    lines = {f"{name} {w}/{n}": fingerprint(name, w, n) for name, w, n in PLACES}
    VECTORS.write_text(json.dumps(lines, indent=1) + "\n")
