# SPDX-License-Identifier: GPL-2.0
"""spekctl prober on a machine that has only spek_prober: at once, and detached."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from lib.ctl.command_line import Spekctl, caller
from lib.guest.modules import is_loaded
from lib.guest.prober import SECOND, fresh_module
from lib.waiting import LONG_S, eventually

from spekctl.documents import document
from spekctl.documents.prober import ProberReport
from spekctl.errors import ExitCode
from spekctl.kernel.prober import Prober

pytestmark = pytest.mark.any_kernel

fresh = pytest.fixture(autouse=True)(fresh_module)


@pytest.fixture
def called(capfd: pytest.CaptureFixture[str]) -> Spekctl:
    """Calls spekctl in this process: each start of Python costs seconds in an emulated guest."""
    return caller(capfd)


def names_of(report: ProberReport) -> set[str]:
    return {table.name for table in report.tables}


def test_a_probe_for_a_time_is_a_document_of_all_tables(called: Spekctl, tmp_path: Path) -> None:
    assert not is_loaded("spek")
    path = tmp_path / "machine.json"
    outcome = called("prober", "start", "--interval", "200ms", "--for", "2s", "-o", path)
    assert outcome.code == ExitCode.OK, outcome.err
    report = document.read(path, ProberReport)
    assert report.end_ns[-1] - report.start_ns[0] >= 2 * SECOND - 200_000_000
    assert names_of(report) >= {"machine", "cpu 0", "memory", "net lo"}
    assert (report.probe.ended, report.probe.reason, report.dropped) == (True, "stopped", 0)
    machine = next(table for table in report.tables if table.name == "machine")
    idle = machine.columns.index("idle_ns")
    assert sum(row[idle] or 0 for row in machine.rows) > 0
    assert "Context switches" in outcome.out
    with Prober() as prober:
        assert prober.info().id == 0


def test_a_detached_probe_survives_its_caller(called: Spekctl, tmp_path: Path) -> None:
    """The caller is a process of its own, which is gone before anybody reads."""
    command = [sys.executable, "-m", "spekctl", "prober", "start", "--detach", "--interval", "50ms"]
    subprocess.run(command, check=True, timeout=LONG_S)
    with Prober() as prober:
        seen = prober.info().rows
        eventually(lambda: prober.info().rows > seen + 2, "no rows")
    outcome = called("prober", "watch", "--count", "2")
    assert outcome.code == ExitCode.OK, outcome.err
    assert len(outcome.out.splitlines()) >= 3

    first, last = tmp_path / "first.json", tmp_path / "last.json"
    assert called("prober", "read", "-o", first).code == ExitCode.OK
    assert called("prober", "stop", "--table", "memory", "-o", last).code == ExitCode.OK
    read, stopped = document.read(first, ProberReport), document.read(last, ProberReport)
    assert (read.probe.ended, stopped.probe.ended) == (False, True)
    assert read.probe.detached and read.probe.number == stopped.probe.number
    assert len(stopped.start_ns) > len(read.start_ns) > 2
    assert names_of(stopped) == {"memory"}
    with Prober() as prober:
        assert prober.info().id == 0
