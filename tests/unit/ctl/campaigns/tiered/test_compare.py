# SPDX-License-Identifier: GPL-2.0
"""One tier against two: the published case, and what was not measured."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace

import pytest
from lib.ctl import spc1_steps
from msgspec import structs

from spekctl.campaigns.tiered.compare import Side, remarks, rows, side_of, unlike
from spekctl.documents import energy, spc1
from spekctl.documents.curve import Power
from spekctl.documents.dcse import Inputs


def test_the_published_case_comes_out() -> None:
    """HP P9500: 128 disks of 146 GB, against 104 of them and 8 SSDs of 400 GB."""
    numbers = [
        Inputs(*(Fraction(number) for number in (18688, 1960, 2453, 35000))),
        Inputs(*(Fraction(number) for number in (18384, 1870, 2346, 61000))),
    ]
    table = {
        row.what: [figure.text if figure is not None else None for figure in row.figures]
        for row in rows(numbers[0], numbers[1])
    }
    assert table["I/Os per second"] == ["35000", "61000", "74.3"]
    assert table["power under load"] == ["2453.00", "2346.00", "-4.4"]
    assert table["DCsE workload"] == ["14.27", "26.00", "82.2"]
    assert table["DCsE capacity"] == ["9.53", "9.83", "3.1"]


def test_what_was_not_measured_has_no_figure() -> None:
    nothing = Inputs(gigabytes=Fraction(5), iops=Fraction(7))
    by_what = {row.what: row.figures for row in rows(nothing, nothing)}
    assert by_what["DCsE workload"] == (None, None, None)
    assert by_what["power under load"] == (None, None, None)
    assert by_what["I/Os per second"][0] is not None


def test_changes_are_left_out_where_the_tests_are_unlike() -> None:
    known = Inputs(gigabytes=Fraction(5), iops=Fraction(7))
    changes = {row.what: row.figures[2] for row in rows(known, known, comparable=False)}
    assert changes.pop("capacity") is not None
    assert set(changes.values()) == {None}


def phase(power: Power | None) -> spc1.Phase:
    """An IOPS phase of 10 s with this power."""
    measured = spc1_steps.phase(spc1.Step("iops", "iops", 100, 1, 0, 10**10), 0.001)
    return structs.replace(measured, point=structs.replace(measured.point, power=power))


def side(
    monkeypatch: pytest.MonkeyPatch,
    watts: float | None,
    idle: str | None,
    *,
    baseline: float = 0.0,
    gap_s: float = 0.0,
    verdict: str = "",
    parameters: Mapping[str, object] | None = None,
) -> Side:
    """A test in folder `a` of which that was measured; @idle: watts, empty if its power is missing,
    None if there is no idle test."""
    report = SimpleNamespace(
        phases=[
            phase(Power(watts, {}, gap_s=gap_s, baseline_w=baseline) if watts is not None else None)
        ],
        targets=[SimpleNamespace(bytes=10**9)],
        passed=not verdict,
        verdict=verdict,
        parameters=SimpleNamespace(**{**PARAMETERS, **(parameters or {})}),
    )
    level = [SimpleNamespace(name="idle", watts=idle or None)] if idle is not None else []
    monkeypatch.setattr(spc1, "load_report", lambda path: report)
    monkeypatch.setattr(energy, "load_spc1e", lambda path: SimpleNamespace(levels=level))
    return side_of(Path("a"))


SHAPE = SimpleNamespace(hrrw="fixed", iops_per_bsu=None, max_outstanding=None)
PARAMETERS: Mapping[str, object] = {
    "durations": spc1.QUICK,
    "limits": spc1.Limits(),
    "shape": SHAPE,
}


@pytest.mark.parametrize(
    ("watts", "baseline", "idle", "verdict", "said"),
    [
        (9.0, 0, "5", "", []),
        (None, 0, "5", "", ["no power under load: none was measured in the IOPS phase"]),
        (9.0, 0, "", "", ["no power when idle: none was measured in the idle test"]),
        (9.0, 0, None, "", ["no power when idle: the idle test is missing"]),
        (9.0, 9, "5", "", ["no power under load: it was measured as 0 W, less the baseline"]),
        (9.0, 0, "0", "", ["no power when idle: it was measured as 0 W, less the baseline"]),
        (9.0, 0, "-1", "", ["no power when idle: it was measured as -1 W, less the baseline"]),
        (9.0, 0, "10", "", ["power when idle is above that under load: check that the"]),
        (9.0, 0, "5", "failed: slow", ["failed: slow"]),
        (None, 0, None, "", ["no power under load: none was", "no power when idle: the idle"]),
    ],
)
def test_a_figure_that_is_missing_has_a_reason(
    monkeypatch: pytest.MonkeyPatch,
    watts: float | None,
    baseline: float,
    idle: str | None,
    verdict: str,
    said: list[str],
) -> None:
    loaded = side(monkeypatch, watts, idle, baseline=baseline, verdict=verdict)
    assert len(loaded.missing) == len(said)
    for sentence, start in zip(loaded.missing, said, strict=True):
        assert sentence.startswith(f"a: {start}")
    # Nothing is computed of power that is missing, or not above 0.
    rows(loaded.known, loaded.known)
    assert (loaded.known.load_watts is None) == any(
        "no power under" in sentence for sentence in said
    )


def test_power_that_is_hardly_known_gives_no_figure(monkeypatch: pytest.MonkeyPatch) -> None:
    known, unknown = side(monkeypatch, 9, "5", gap_s=0.5), side(monkeypatch, 9, "5", gap_s=0.6)
    assert known.known.load_watts == 9 and not known.missing
    assert unknown.known.load_watts is None
    assert unknown.missing == [
        "a: no power under load: power is unknown for 0.6 s of 10 s of the IOPS phase"
    ]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"durations": spc1.STANDARD}, "the lengths of their parts differ (the sustained run 45s"),
        ({"limits": spc1.Limits(response_ns=1)}, "their limits differ"),
        ({"shape": SimpleNamespace(**{**vars(SHAPE), "hrrw": "classic"})}, "--hrrw differs"),
        ({"shape": SimpleNamespace(**{**vars(SHAPE), "iops_per_bsu": 9})}, "--iops-per-bsu"),
    ],
)
def test_loads_that_are_not_comparable_are_said(
    monkeypatch: pytest.MonkeyPatch, changes: Mapping[str, object], said: str
) -> None:
    base, changed = side(monkeypatch, 9, "5"), side(monkeypatch, 9, "5", parameters=changes)
    assert unlike(base, base) == ""
    start = "no changes are given, as the loads are not comparable: "
    assert unlike(base, changed).startswith(start + said)
    assert remarks(base, changed) == [unlike(base, changed)]
