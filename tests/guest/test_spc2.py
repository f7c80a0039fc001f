# SPDX-License-Identifier: GPL-2.0
"""spc2 on a disk of known speed: a fixed time for each request, any number at a time.

So each outstanding I/O of a stream is worth one transfer in that time, and Little's law has to
give back how many were outstanding in all: streams times depth. Video on demand keeps its pace.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from lib.ctl.command_line import Spekctl
from lib.guest.disks import null_disk
from lib.guest.spekctl import in_process

from spekctl.documents import result, spc2
from spekctl.documents.document import read
from spekctl.errors import ExitCode

pytestmark = pytest.mark.any_kernel
MS = 1_000_000
SERVICE_NS = 50 * MS
VOD_STREAMS = 20
SHORT = (
    *("--ramp", "100ms", "--time", "500ms", "--vod-time", "2s", "--streams", "2"),
    *("--vod-streams", str(VOD_STREAMS), "--progress", "none", "--no-prober"),
)


@pytest.fixture(scope="module")
def disk(spek_module: Path) -> Iterator[str]:
    """Takes 50 ms for each request, by a timer of its own: of that the processor needs a small part
    for the deepest of the streams, also where it is slow."""
    with null_disk(size_mb=1024, irqmode=2, completion_nsec=SERVICE_NS, hw_queue_depth=128) as node:
        yield node


@pytest.fixture
def call(disk: str, capfd: pytest.CaptureFixture[str]) -> Iterator[Spekctl]:
    """call("spc2", ...) in this process; afterwards no run is left in the kernel."""
    with in_process(capfd) as spekctl:
        yield spekctl


def assert_outstanding(run: spc2.Run) -> None:
    """Little's law: rate times response time is what was outstanding."""
    assert run.response is not None and run.step.depth is not None
    seconds = run.measured_ns / 1e9
    outstanding = run.ios * run.response.mean / run.measured_ns
    wanted = run.step.streams * run.step.depth
    # What was under way when the phase began counts whole; between an I/O and the next one there
    # is none for as long as the host keeps the guest from running.
    begun = run.step.depth * run.step.streams * run.response.max / (seconds * 1e9)
    assert wanted / 2 < outstanding < wanted + begun, run.step.name
    assert run.response.mean >= SERVICE_NS
    assert float(run.mb_s) == pytest.approx(
        run.ios * run.step.transfer_bytes / seconds / 1e6, rel=1e-6
    )


@pytest.mark.at_length
def test_a_whole_test(call: Spekctl, disk: str, tmp_path: Path) -> None:
    folder = tmp_path / "t"
    outcome = call(
        *("spc2", "--device", disk, "--write", "--folder", folder, "--system-price", "1000"),
        *("--max-late", "1", *SHORT),
    )
    assert outcome.code == ExitCode.OK, outcome.out + outcome.err
    report = spc2.load_report(folder / "report.json")
    assert report.complete and report.passed and report.vod_streams == VOD_STREAMS
    assert len(report.runs) == 10 * 2 + 1
    for run in report.runs[:-1]:
        assert_outstanding(run)
    video = report.runs[-1]
    arrived = 3 * VOD_STREAMS * video.measured_ns / 1e9
    assert video.ios + video.left_over == pytest.approx(arrived, abs=VOD_STREAMS)
    assert {composite.name for composite in report.composites} == {"lfp", "ldq", "vod", "spc2"}
    assert report.mbps is not None and report.price_per_mbps is not None
    assert report.price_per_mbps.fraction == 1000 / report.mbps.fraction
    for run in report.runs:
        assert run.result_file is not None
        kept = read(folder / run.result_file, result.Result)
        streams = kept.config.streams
        assert sum(stream.replicas for stream in streams) == run.step.streams
        assert kept.totals.all.bytes == run.ios * run.step.transfer_bytes
        writes = sum(cell.ios for cell in kept.cells if cell.direction == "write")
        assert (writes > 0) == (run.step.read_percent < 100)
    assert json.loads((folder / "state.json").read_text())["kind"] == "spek-spc2-state"


def test_without_write_nothing_is_sent(call: Spekctl, disk: str, tmp_path: Path) -> None:
    outcome = call("spc2", "--device", disk, "--folder", tmp_path / "t", *SHORT)
    assert outcome.code == ExitCode.REFUSED and "give --write" in outcome.sentence
    assert not (tmp_path / "t").exists()
