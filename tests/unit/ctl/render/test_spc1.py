# SPDX-License-Identifier: GPL-2.0
"""A report of the SPC-1-like test as text: phases, limits, and which of them are missed."""

from __future__ import annotations

from pathlib import Path

import msgspec
from lib.ctl.plot_files import OPEN, write_report
from lib.ctl.shown import contents, row_of
from lib.ctl.spc1_steps import phase

from spekctl.documents import spc1
from spekctl.documents.curve import Power
from spekctl.documents.spc1 import Check, Step

SECOND = 10**9


def step(kind: spc1.PhaseKind, name: str, bsu: int) -> Step:
    return Step(kind, name, 100, bsu, 0, SECOND)


def check(kind: spc1.CheckKind, value: float, allowed: float, text: str = "why") -> Check:
    return Check(kind, "iops", "", value, allowed, allowed, value <= allowed, text)


def report(tmp_path: Path, **changes: object) -> spc1.Report:
    loaded = spc1.load_report(write_report(tmp_path / "report.json", OPEN, OPEN))
    return msgspec.structs.replace(loaded, **changes)


def test_the_metrics_come_first(tmp_path: Path) -> None:
    text = contents(report(tmp_path))
    assert text.startswith(f"{spc1.NOTICE}: test of /dev/x\n  passed\n")
    assert "SPC-1-like IOPS 1,400 at 28 BSU, SPC-1-like LRT 2.00 ms" in text
    level = contents(report(tmp_path, iops=None))
    assert "  level 28 BSU\n" in level and "SPC-1-like IOPS" not in level
    assert "BSU\n" not in contents(report(tmp_path, iops=None, level_bsu=None))


def test_the_search_is_apart_from_the_phases(tmp_path: Path) -> None:
    phases = [
        phase(step("search", "search-8", 8), 0.002),
        phase(step("iops", "iops", 20), 0.002),
        phase(step("ramp", "ramp-80", 16), 0.2),
        phase(step("ramp", "ramp-50", 10), 0.002, ok=False),
    ]
    text = contents(report(tmp_path, phases=phases))
    measured, searched = text.split("search for the level")
    assert row_of(searched, "search-8")[1] == "8" and "search-8" not in measured
    ends = [row_of(measured, name)[-1] for name in ("iops", "ramp-80", "ramp-50")]
    assert ends == ["kept", "MISSED", "ERRORS"]


def test_for_how_long_power_is_unknown_is_said(tmp_path: Path) -> None:
    known, gap = phase(step("iops", "iops", 20), 0.002), phase(step("search", "search-8", 8), 0.002)
    point = msgspec.structs.replace(gap.point, power=Power(5.0, {}, 5.0, 0.75))
    phases = [known, msgspec.structs.replace(gap, point=point)]
    text = contents(report(tmp_path, phases=phases))
    whole_s = point.measured_ns / 1e9
    assert f"  search-8: power is unknown for 0.75 s of {whole_s:.3g} s" in text
    assert "unknown" not in contents(report(tmp_path, phases=[known]))


def test_a_limit_shows_its_worst_case(tmp_path: Path) -> None:
    checks = [
        check("response", 2e6, 30e6),
        check("response", 29e6, 30e6),
        check("errors", 0, 0),
        check("errors", 1234, 0, "ramp-80: 1,234 I/Os failed"),
        check("intensity", 0.01, 0.05),
        # Widened where so few I/Os can tell no better: nearer to its own limit than the one above.
        check("intensity", 0.02, 0.4),
    ]
    text = contents(report(tmp_path, checks=checks))
    assert row_of(text, "mean")[-6:] == ["2", "0", "29.0", "ms", "30.0", "ms"]
    assert row_of(text, "I/O")[-4:] == ["2", "1", "1,234", "0"]
    assert row_of(text, "shares")[-4:] == ["2", "0", "1.0%", "5.0%"]
    missed = [line for line in text.splitlines() if "missed:" in line]
    assert missed == ["  missed: ramp-80: 1,234 I/Os failed"]


def test_shares_of_asus_are_no_unused_capacity(tmp_path: Path) -> None:
    """They have a row of their own: the worst of a row is the check nearest to its limit."""
    checks = [check("capacity", 0.1, 0.45), *(check("asu-share", off, 0.01) for off in (0.0, 0.3))]
    text = contents(report(tmp_path, checks=checks))
    assert row_of(text, "unused")[1:] == ["capacity", "1", "0", "10.0%", "45.0%"]
    assert row_of(text, "shares")[-4:] == ["2", "1", "30.0%", "1.0%"]
