# SPDX-License-Identifier: GPL-2.0
"""spekctl metrics: the text, its file, and what is refused."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from lib.ctl.command_line import Spekctl, run_ok
from lib.fakes.kernel import FakeKernel
from prometheus_client import Metric
from prometheus_client.openmetrics import parser

from spekctl.errors import ExitCode, error_from_errno

READ: Callable[[str], Iterable[Metric]] = parser.text_string_to_metric_families


def leave_a_run(spekctl: Spekctl, kernel: FakeKernel) -> None:
    run_ok(spekctl)
    kernel.deleted = False


def test_it_prints_the_runs(spekctl: Spekctl, kernel: FakeKernel) -> None:
    leave_a_run(spekctl, kernel)
    outcome = spekctl("metrics")
    assert (outcome.code, outcome.err) == (ExitCode.OK, "")
    assert 'spek_ios_total{run="7",phase="measure",stream="0",direction="read"} 300' in outcome.out
    open_text = spekctl("metrics", "--openmetrics").out
    names = [metric.name for metric in READ(open_text)]
    assert "spek_response_seconds" in names and kernel.closed


def test_a_file_is_replaced_whole(spekctl: Spekctl, kernel: FakeKernel, tmp_path: Path) -> None:
    leave_a_run(spekctl, kernel)
    path = tmp_path / "spek.prom"
    path.write_text("old")
    inode = path.stat().st_ino
    outcome = spekctl("metrics", "-o", path)
    assert (outcome.code, outcome.out, outcome.err) == (ExitCode.OK, "", "")
    assert path.read_text() == spekctl("metrics").out
    assert path.stat().st_ino != inode and list(tmp_path.glob(".spekctl*")) == []


def test_what_is_refused(spekctl: Spekctl, kernel: FakeKernel, tmp_path: Path) -> None:
    outcome = spekctl("metrics", "-o", tmp_path / "no" / "x.prom")
    assert outcome.code == ExitCode.USAGE and "there is no directory" in outcome.sentence
    kernel.refuse["runs"] = error_from_errno(1, "not permitted", "run-get")
    assert spekctl("metrics").code == ExitCode.PERMISSION
