# SPDX-License-Identifier: GPL-2.0
"""A job file for two devices as two runs with one start, on real block devices."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from lib.ctl.command_line import Spekctl
from lib.guest.disks import mapped_disk, null_disk
from lib.guest.spekctl import in_process
from lib.guest.trace import DiskStat, disk_stat

from spekctl.documents.result import Plan, Result, load_result
from spekctl.errors import ExitCode
from spekctl.kernel.records import Direction
from spekctl.run import together
from spekctl.run.session import Session

pytestmark = pytest.mark.any_kernel

HEAD = "[global]\nioengine=libaio\ndirect=1\n"
BY_AMOUNT = """[reads]
filename={0}
rw=randread
bs=4k
iodepth=8
number_ios=400
[writes]
filename={1}
rw=randwrite
bs=8k
iodepth=4
number_ios=300
"""
BY_TIME = "runtime=60\ntime_based\nrw=randread\nbs=4k\nthinktime=2ms\n"
READERS = BY_TIME + "[a]\nfilename={0}\n[b]\nfilename={1}\n"


@pytest.fixture
def spekctl(
    spek_module: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Spekctl]:
    # An emulated machine may get no processor for the half second in which all are armed.
    monkeypatch.setattr(together, "LEAD_NS", 5 * together.LEAD_NS)
    with in_process(capfd) as call:
        yield call


@pytest.fixture
def nodes() -> Iterator[tuple[str, str]]:
    with null_disk(64) as first, null_disk(64) as second:
        yield first, second


@dataclass
class Counted:
    """What disks had counted when the run of each was armed, after all checks."""

    nodes: tuple[str, str]
    before: list[dict[str, dict[Direction, DiskStat]]] = field(default_factory=list)

    def note(self) -> None:
        self.before.append({node: disk_stat(node) for node in self.nodes})

    def since(self, node: str) -> dict[Direction, DiskStat]:
        begin = self.before[0][node]
        return {way: stat.since(begin[way]) for way, stat in disk_stat(node).items()}


@pytest.fixture
def counted(nodes: tuple[str, str], monkeypatch: pytest.MonkeyPatch) -> Counted:
    counts = Counted(nodes)
    arm = Session.arm

    def arm_counting(session: Session, start_ns: int = 0) -> Plan:
        counts.note()
        return arm(session, start_ns)

    monkeypatch.setattr(Session, "arm", arm_counting)
    return counts


def written(tmp_path: Path, text: str, nodes: tuple[str, str]) -> list[str]:
    job = tmp_path / "job.fio"
    job.write_text(HEAD + text.format(*nodes))
    return ["run", f"fio:{job}", "--progress", "none", "-o", str(tmp_path / "r.json")]


def results_of(tmp_path: Path) -> tuple[Result, Result]:
    return load_result(tmp_path / "r.1.json"), load_result(tmp_path / "r.2.json")


def assert_free(node: str) -> None:
    os.close(os.open(node, os.O_RDWR | os.O_EXCL))


def test_two_jobs_have_one_start_and_each_disk_counts_its_own(
    nodes: tuple[str, str], counted: Counted, spekctl: Spekctl, tmp_path: Path
) -> None:
    done = spekctl(*written(tmp_path, BY_AMOUNT, nodes), "--write")
    assert done.code == ExitCode.OK, done.err
    reads, writes = results_of(tmp_path)

    assert reads.start.monotonic_ns == writes.start.monotonic_ns
    begins = {result.phases[0].start_ns for result in (reads, writes)}
    assert begins == {reads.start.monotonic_ns}
    # No I/O was sent before all were armed.
    assert counted.before[0] == counted.before[1] and len(counted.before) == 2
    first, second = (counted.since(node) for node in nodes)
    assert (first[Direction.READ].ios, first[Direction.WRITE].ios) == (400, 0)
    assert (second[Direction.READ].ios, second[Direction.WRITE].ios) == (0, 300)
    assert (first[Direction.READ].sectors, second[Direction.WRITE].sectors) == (400 * 8, 300 * 16)
    assert (reads.totals.read.ios, writes.totals.write.ios) == (400, 300)
    assert reads.targets[0].facts.path == nodes[0] and writes.targets[0].facts.path == nodes[1]
    for node in nodes:
        assert_free(node)


def test_ctrl_c_ends_both_and_frees_both(
    nodes: tuple[str, str],
    counted: Counted,
    spekctl: Spekctl,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    step = Session.step
    interrupted = False

    def step_interrupting(session: Session) -> bool:
        nonlocal interrupted
        is_over = step(session)
        if not interrupted and all(counted.since(node)[Direction.READ].ios for node in nodes):
            interrupted = True
            signal.raise_signal(signal.SIGINT)
        return is_over

    monkeypatch.setattr(Session, "step", step_interrupting)
    done = spekctl(*written(tmp_path, READERS, nodes))
    assert done.code == ExitCode.INTERRUPTED, done.err
    results = results_of(tmp_path)
    assert [each.outcome.reason for each in results] == ["stopped", "stopped"]
    for each, node in zip(results, nodes, strict=True):
        assert 0 < each.targets[0].reads == counted.since(node)[Direction.READ].ios
        assert each.end.monotonic_ns - each.start.monotonic_ns < 50 * 10**9
        assert_free(node)


def test_a_device_in_use_leaves_the_other_free(
    nodes: tuple[str, str], counted: Counted, spekctl: Spekctl, tmp_path: Path
) -> None:
    held = os.open(nodes[1], os.O_RDONLY | os.O_EXCL)
    try:
        done = spekctl(*written(tmp_path, READERS, nodes))
    finally:
        os.close(held)
    assert done.code == ExitCode.REFUSED and nodes[1] in done.err
    assert not counted.before and not (tmp_path / "r.1.json").exists()
    for node in nodes:
        assert_free(node)


def test_the_errors_of_a_device_end_the_run_on_the_other(spekctl: Spekctl, tmp_path: Path) -> None:
    with null_disk(64) as good, mapped_disk("broken", "0 131072 error") as broken:
        done = spekctl(*written(tmp_path, READERS, (good, broken)))
        assert done.code == ExitCode.RUN_FAILED, done.err
        beside, failed = results_of(tmp_path)
        assert (beside.outcome.reason, failed.outcome.reason) == ("stopped", "errors")
        assert failed.config.max_errors == 1
        assert any(f"the run on {broken} has ended" in remark for remark in beside.remarks)
        assert beside.end.monotonic_ns - beside.start.monotonic_ns < 50 * 10**9
        assert_free(good)
