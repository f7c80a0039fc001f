# SPDX-License-Identifier: GPL-2.0
"""The progress display of a run."""

from __future__ import annotations

import io
from typing import Any

import msgspec
from lib.ctl.progress_rows import ROW, RUNNING
from lib.fakes.kernel import SECOND, START_NS, interval_cell

from spekctl.kernel.records import IntervalRow, Phase
from spekctl.render import progress
from spekctl.render.progress import LineProgress, LiveProgress
from spekctl.run.progress import MachineFigures, clock_of, figures_of


def lines(*rows: IntervalRow, **options: Any) -> list[str]:
    stream = io.StringIO()
    view = LineProgress(stream, **options)
    for row in rows:
        view.show(clock_of(RUNNING), [figures_of(row, START_NS, 2)])
    view.close()
    return stream.getvalue().splitlines()


def at(second: int, **changes: Any) -> IntervalRow:
    return msgspec.structs.replace(
        ROW,
        start_ns=START_NS + (second - 1) * SECOND,
        end_ns=START_NS + second * SECOND,
        **changes,
    )


def test_an_interval_is_one_line() -> None:
    assert lines(ROW) == [
        "  0:04 measure   2,500 IOPS  9.8 MiB/s  read p50 120 us p99 980 us  queue 3"
        "  worker CPU 25%  0.01 switches/IO"
    ]


def test_lines_of_runs_side_by_side_name_their_devices() -> None:
    (line,) = lines(at(0), label="/dev/sdb")
    assert line.startswith("/dev/sdb: ") and lines(at(0)) == [line.removeprefix("/dev/sdb: ")]


def test_backlog_and_errors_are_shown_when_there_are_any() -> None:
    failed = msgspec.structs.replace(ROW.read, errors=2)
    (line,) = lines(msgspec.structs.replace(ROW, backlog=12345, read=failed))
    assert "backlog 12,345" in line and "ERRORS 2" in line


def test_both_directions_are_shown() -> None:
    (line,) = lines(msgspec.structs.replace(ROW, write=ROW.read))
    assert "5,000 IOPS" in line and "write p50 120 us" in line


def test_the_machine_is_shown_if_the_prober_sees_it() -> None:
    machine = MachineFigures(0.1, 0.2, 0.05, 0.65, 0.5, 1.5)
    line = progress.format_line(figures_of(ROW, START_NS, 2, machine))
    assert line.endswith("CPU 35%  0.50 switches/IO")


def test_an_idle_interval_divides_by_nothing() -> None:
    idle = msgspec.structs.replace(ROW, read=interval_cell(), worker_switches=0)
    (line,) = lines(idle)
    assert " 0 IOPS" in line and "switches" not in line


def test_a_log_is_not_flooded() -> None:
    seen = lines(*[at(second) for second in range(1, 13)])
    assert [line.split()[0] for line in seen] == ["0:01", "0:06", "0:11"]
    assert len(lines(*[at(second) for second in range(1, 13)], min_gap_s=0.0)) == 12
    assert lines(ROW, quiet=True) == []


def test_a_new_phase_is_shown_at_once() -> None:
    seen = lines(at(1, phase=Phase.RAMP), at(2, phase=Phase.MEASURE), at(3), at(4))
    assert [line.split()[:2] for line in seen] == [["0:01", "ramp-up"], ["0:02", "measure"]]


def test_notes_are_for_people() -> None:
    stream = io.StringIO()
    LineProgress(stream, quiet=True).note("stopping")
    assert stream.getvalue() == "spekctl: stopping\n"


def test_the_live_view_draws_what_it_is_given() -> None:
    from rich.console import Console

    stream = io.StringIO()
    console = Console(file=stream, force_terminal=True, width=90, color_system=None)
    view = LiveProgress("spc1 on /dev/[/x]", console)
    machine = MachineFigures(0.1, 0.2, 0.05, 0.65, 0.5, 1.5)
    view.note("a remark")
    view.show(clock_of(RUNNING), [figures_of(ROW, START_NS, 2, machine)])
    view.close()
    text = stream.getvalue()
    for wanted in (
        "spc1 on /dev/[/x]",
        "a remark",
        "measure",
        "0:20",
        "0:30 left",
        "2,500",
        "980 us",
        "queue 3",
        "workers: CPU 25%",
        "system 20%",
        "0.50 switches/IO",
        "1.50 irqs/IO",
    ):
        assert wanted in text


def test_the_view_follows_the_terminal() -> None:
    assert isinstance(progress.choose("auto", "t", lambda: False), LineProgress)
    assert isinstance(progress.choose("lines", "t", lambda: True), LineProgress)
    assert isinstance(progress.choose("none", "t", lambda: True), LineProgress)
    live = progress.choose("auto", "t", lambda: True)
    live.close()
    assert isinstance(live, LiveProgress)
