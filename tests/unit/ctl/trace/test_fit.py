# SPDX-License-Identifier: GPL-2.0
"""Workloads made from traces: what spek itself has made is recognized, and the twin that states
the distances makes what the kernel module's own code makes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from lib.core import spekcore
from lib.ctl.traces import read_text, real

from spekctl.documents.trace import TraceDispersion, TraceFit
from spekctl.errors import UsageError
from spekctl.trace import fit as module
from spekctl.trace.arrivals import Bursts, Constant, Poisson, Process
from spekctl.trace.arrivals import fit as fit_arrivals
from spekctl.trace.columns import Batch, Op
from spekctl.trace.figures import Figures
from spekctl.trace.options import ReadOptions
from spekctl.trace.trace import Trace, open_trace
from spekctl.trace.twin import Twin, TwinStream, _chained
from spekctl.workload.model import WorkloadFile

MIB = 1 << 20
GIB = 1 << 30


class Made(Trace):
    """A trace of records in memory."""

    def __init__(self, batch: Batch) -> None:
        super().__init__([], ReadOptions())
        self._batch = batch

    @property
    def name(self) -> str:
        return "made"

    def batches(self) -> Iterator[Batch]:
        self.devices.number("sda")
        yield self._batch


def of_core(workload: spekcore.Workload, count: int, seed: int = 1) -> Batch:
    """The operations of the kernel module's generator."""
    ops = spekcore.Generator(workload, seed).ops(count)
    at = ops["at_ns"] - ops["at_ns"][0]
    return Batch(
        at,
        ops["asu"].astype(np.uint32),
        ops["addr"].copy(),
        ops["bytes"].astype(np.uint64),
        np.where(ops["write"] != 0, np.uint8(Op.WRITE), np.uint8(Op.READ)),
        np.zeros(len(ops), np.uint8),
    )


def figures_of(batches: Iterator[Batch] | list[Batch]) -> Figures:
    found = Figures()
    for batch in batches:
        found.add(batch)
    return found


def fitted(batch: Batch) -> tuple[WorkloadFile, TraceFit, dict[str, float]]:
    workload, report = module.fit(Made(batch), "mine")
    return workload, report, {one.name: one.distance for one in report.properties}


def test_a_workload_of_spek_is_recognized() -> None:
    """Poisson, 70 % reads, two sizes, uniform with 30 % sequential."""
    core = spekcore.Workload(
        [spekcore.Asu(GIB)],
        [spekcore.Arrival("poisson", rate=2000)],
        [
            spekcore.Stream(sizes={4096: 3, 16384: 1}, weight=7, seq_ppm=300_000),
            spekcore.Stream(sizes=8192, weight=3, read_ppm=0),
        ],
    )
    workload, report, off = fitted(of_core(core, 40_000))
    (arrival,) = workload.arrival
    assert arrival.law == "poisson"
    assert arrival.rate == pytest.approx(2000, rel=0.03)
    assert {one.read for one in workload.stream} == {"0%", "100%"}
    assert off["rate (requests/s)"] < 0.02
    assert off["read share"] < 0.01
    assert off["size distribution"] < 0.01
    assert off["address distribution"] < 0.03
    assert off["sequential of 32"] < 0.03
    assert off["aligned to 4 KiB"] == 0
    assert off["variation of gaps"] < 0.03
    assert report.requests == 40_000


def test_bursts_and_a_band_are_recognized() -> None:
    core = spekcore.Workload(
        [spekcore.Asu(GIB)],
        [spekcore.Arrival("burst", burst_length=64, burst_interval_ns=101 * 10**6)],
        [spekcore.Stream(range_start=512 * MIB, range_bytes=64 * MIB)],
    )
    workload, _, off = fitted(of_core(core, 40_000))
    bursts = [one for one in workload.arrival if one.law == "burst"]
    assert [(one.length, one.interval) for one in bursts] == [(64, "101ms")]
    assert len(workload.arrival) == 1
    for name in ("dispersion at 10ms", "dispersion at 100ms", "dispersion at 1s"):
        assert off[name] < 0.1
    for stream in workload.stream:
        assert isinstance(stream.start, int) and isinstance(stream.range, int)
        assert stream.start >= 512 * MIB
        assert stream.start + stream.range <= 576 * MIB
    assert off["address distribution"] < 0.03
    assert off["footprint (bytes)"] < 0.05


def test_a_sequential_trace_is_a_sequential_stream() -> None:
    core = spekcore.Workload(
        [spekcore.Asu(GIB)],
        [spekcore.Arrival("constant", rate=1000)],
        [spekcore.Stream("sequential", sizes=65536)],
    )
    workload, _, off = fitted(of_core(core, 10_000))
    assert [(one.pattern, one.size or one.sizes[0].size) for one in workload.stream] == [
        ("sequential", 65536)
    ]
    assert workload.arrival[0].law == "constant"
    assert off["sequential"] < 0.001


STREAMS = [
    TwinStream(0, Op.READ, 5, 0, 64 * MIB, ((4096, 2), (8192, 1)), 4096, 0.6),
    TwinStream(0, Op.WRITE, 2, 64 * MIB, MIB, ((4096, 1),), 4096, 1.0),
    TwinStream(1, Op.WRITE, 3, 0, 128 * MIB, ((512, 1), (65536, 1)), 512, 0.0),
]
PROCESSES: list[Process] = [Poisson(500.0), Bursts(30, 31 * 10**6)]


def test_the_twin_makes_what_the_module_makes() -> None:
    """The same workload in both: the statistics agree."""
    core = spekcore.Workload(
        [spekcore.Asu(64 * MIB + MIB), spekcore.Asu(128 * MIB)],
        [
            spekcore.Arrival("poisson", rate=500),
            spekcore.Arrival("burst", burst_length=30, burst_interval_ns=31 * 10**6),
        ],
        [
            spekcore.Stream(
                "sequential" if one.sequential >= 1 else "uniform",
                sizes=dict(one.sizes),
                asu=one.device,
                arrival=process,
                weight=one.weight,
                read_ppm=10**6 * (one.op is Op.READ),
                range_start=one.start,
                range_bytes=one.length,
                align_bytes=one.align,
                seq_ppm=round(one.sequential * 10**6) if one.sequential < 1 else 0,
            )
            for process in range(2)
            for one in STREAMS
        ],
    )
    theirs_batch = of_core(core, 60_000)
    theirs = module.measured([theirs_batch])
    twin = Twin(STREAMS, PROCESSES, int(theirs_batch.at_ns[-1]))
    ours = module.measured(twin.batches())
    off = {one.name: one.distance for one in module._properties(theirs, ours)}
    assert off["rate (requests/s)"] < 0.02
    assert off["read share"] < 0.01
    assert off["sequential"] < 0.01
    assert off["sequential of 32"] < 0.01
    assert off["size distribution"] < 0.01
    assert off["address distribution"] < 0.02
    assert off["footprint (bytes)"] < 0.02
    assert off["dispersion at 1ms"] < 0.1
    assert off["dispersion at 10ms"] < 0.1
    for key, part in theirs.parts.items():
        assert ours.parts[key].requests == pytest.approx(part.requests, abs=6 * part.requests**0.5)


def test_the_predicted_dispersion_is_that_of_the_twin() -> None:
    """fit() chooses by formula; the formula holds for what it has chosen."""
    wanted = [
        TraceDispersion(10**6, 1000, 20.0, 50),
        TraceDispersion(10**7, 1000, 20.0, 50),
        TraceDispersion(10**8, 1000, 12.0, 50),
        TraceDispersion(10**9, 1000, 5.0, 50),
    ]
    processes = fit_arrivals(800.0, 3.0, wanted, 1000 * 10**9)
    assert sum(one.rate for one in processes) == pytest.approx(800, rel=0.01)
    found = figures_of(list(Twin(STREAMS[:1], processes, 300 * 10**9).batches()))
    for window, one in zip(found.windows, wanted, strict=False):
        dispersion = window.dispersion()
        assert dispersion is not None
        assert 0.5 < dispersion.index / one.index < 2, window.window_ns


def test_arrivals_without_bursts_need_none() -> None:
    poisson = [TraceDispersion(10**n, 1000, 1.0, 9) for n in range(6, 10)]
    assert fit_arrivals(50.0, 1.0, poisson, 10**12) == [Poisson(50.0)]
    assert fit_arrivals(50.0, 0.01, poisson, 10**12) == [Constant(50.0)]
    assert fit_arrivals(50.0, None, [], 10**12) == [Poisson(50.0)]


def test_a_chain_breaks_where_its_end_does_not_fit() -> None:
    rng = np.random.default_rng(1)
    for _ in range(300):
        count, length = 40, 20
        size = rng.integers(1, 5, count)
        fresh, last = rng.random(count) < 0.2, length - size
        restart = rng.integers(0, last + 1)
        before = int(rng.integers(-1, length + 1))
        expected, end = [], before
        for index in range(count):
            if fresh[index] or end < 0 or end > last[index]:
                end = int(restart[index])
            expected.append(end)
            end += int(size[index])
        assert _chained(fresh, restart, size, last, before).tolist() == expected


def test_odd_and_many_sizes_become_a_mix(tmp_path: Path) -> None:
    lines = ["at_ns,offset_bytes,bytes,op"]
    lines += [f"{n * 10**6},{n * 7000},{512 * (n % 200) + 100},read" for n in range(5000)]
    _, trace = read_text(tmp_path, "\n".join(lines))
    workload, report = module.fit(trace, "odd")
    for stream in workload.stream:
        assert len(stream.sizes) <= 64
        assert all(int(one.size) % 512 == 0 for one in stream.sizes)
    off = {one.name: one.distance for one in report.properties}
    assert off["mean size (bytes)"] < 0.05
    assert 0 < off["size distribution"] < 0.05


def test_more_devices_than_streams_are_left_out_and_counted(tmp_path: Path) -> None:
    lines = ["at_ns,device,offset_bytes,bytes,op"]
    lines += [f"{n * 10**6},d{n % 40},{n * 4096},4096,read" for n in range(4000)]
    _, trace = read_text(tmp_path, "\n".join(lines))
    workload, report = module.fit(trace, "many")
    assert len(workload.asu) == 16
    assert report.notes == [
        "left out: 2,400 requests of the least used devices, for want of streams"
    ]


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        ("1,0,0,flush\n2,0,0,flush\n", "has no reads or writes to make a workload of"),
        ("1,0,512,read\n1,512,512,read\n", "have no times to take a rate from"),
    ],
)
def test_what_makes_no_workload_gets_a_sentence(rows: str, sentence: str, tmp_path: Path) -> None:
    _, trace = read_text(tmp_path, "at_ns,offset_bytes,bytes,op\n" + rows)
    with pytest.raises(UsageError, match=sentence):
        module.fit(trace, "none")


@pytest.mark.parametrize("name", ["linux-mysql", "windows-mssql", "windows-shared-server"])
def test_real_traces_have_twins_of_their_mix(name: str) -> None:
    trace = open_trace([real(f"{name}.load.gz")])
    _, report = module.fit(trace, name)
    off = {one.name: one.distance for one in report.properties}
    assert off["rate (requests/s)"] < 0.02
    assert off["read share"] < 0.02
    assert off["size distribution"] < 0.05
    assert off["mean size (bytes)"] < 0.05
    assert off["address distribution"] < 0.25
