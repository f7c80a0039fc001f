# SPDX-License-Identifier: GPL-2.0
"""Workloads made from traces: what spek itself has made is recognized, and the twin that states
the distances makes what the kernel module's own code makes."""

from __future__ import annotations

from pathlib import Path

import pytest
from lib.core import spekcore
from lib.ctl.core_traces import of_core
from lib.ctl.traces import Made, read_text, real

from spekctl.documents.trace import TraceFit
from spekctl.errors import UsageError
from spekctl.trace import fit as module
from spekctl.trace.columns import Batch
from spekctl.trace.trace import open_trace
from spekctl.workload.model import WorkloadFile

MIB = 1 << 20
GIB = 1 << 30


def fitted(batch: Batch) -> tuple[WorkloadFile, TraceFit, dict[str, float]]:
    workload, report = module.fit(Made([batch]), "mine")
    return workload, report, {property_.name: property_.distance for property_ in report.properties}


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
    assert {stream.read for stream in workload.stream} == {"0%", "100%"}
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
    bursts = [arrival for arrival in workload.arrival if arrival.law == "burst"]
    assert [(arrival.length, arrival.interval) for arrival in bursts] == [(64, "101ms")]
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
    assert [
        (stream.pattern, stream.size or stream.sizes[0].size) for stream in workload.stream
    ] == [("sequential", 65536)]
    assert workload.arrival[0].law == "constant"
    assert off["sequential"] < 0.001


def test_odd_and_many_sizes_become_a_mix(tmp_path: Path) -> None:
    lines = ["at_ns,offset_bytes,bytes,op"]
    lines += [f"{n * 10**6},{n * 7000},{512 * (n % 200) + 100},read" for n in range(5000)]
    _, trace = read_text(tmp_path, "\n".join(lines))
    workload, report = module.fit(trace, "odd")
    for stream in workload.stream:
        assert len(stream.sizes) <= 64
        assert all(int(size.size) % 512 == 0 for size in stream.sizes)
    off = {property_.name: property_.distance for property_ in report.properties}
    assert off["mean size (bytes)"] < 0.05
    assert 0 < off["size distribution"] < 0.05


def test_more_devices_than_streams_are_left_out_and_counted(tmp_path: Path) -> None:
    lines = ["at_ns,device,offset_bytes,bytes,op"]
    lines += [f"{n * 10**6},d{n % 40},{n * 4096},4096,read" for n in range(4000)]
    _, trace = read_text(tmp_path, "\n".join(lines) + "\n")
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
    off = {property_.name: property_.distance for property_ in report.properties}
    assert off["rate (requests/s)"] < 0.02
    assert off["read share"] < 0.02
    assert off["size distribution"] < 0.05
    assert off["mean size (bytes)"] < 0.05
    assert off["address distribution"] < 0.25


def test_times_that_a_workload_cannot_span_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "in"
    path.write_text("at_s,offset_bytes,bytes,op\n-9e9,0,512,r\n9e9,0,512,r\n")
    with pytest.raises(UsageError, match="more than 292 years apart"):
        module.fit(open_trace([path]), "x")
