# SPDX-License-Identifier: GPL-2.0
"""The best of several configurations, and Energy Star's checklist."""

from __future__ import annotations

import contextlib
import io
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace

import pytest
from lib.ctl.plot_files import facts
from msgspec import structs

from spekctl.campaigns.emerald import best
from spekctl.campaigns.emerald.best import Configuration
from spekctl.campaigns.emerald.report import of_numbers
from spekctl.documents.energy import CapacityMethod, CapacityReport, EmeraldReport, Judged
from spekctl.errors import UsageError
from spekctl.render.console import print_parts
from spekctl.render.energy import judged_parts

ALL = {
    "random-read": (Fraction(1000), Fraction(100)),
    "random-write": (Fraction(500), Fraction(100)),
    "sequential-read": (Fraction(300), Fraction(100)),
    "sequential-write": (Fraction(200), Fraction(100)),
    "ready-idle": (Fraction(900), Fraction(90)),
}
TOLD = {
    "Parity RAID": "on",
    "adaptive cooling": "yes",
    "power supplies": "Gold",
    "power monitoring": "yes",
    "thin provisioning": "yes",
}


def report(
    phases: dict[str, tuple[Fraction, Fraction]] | None = None, told: dict[str, str] | None = None
) -> EmeraldReport:
    numbers = ALL if phases is None else phases
    return of_numbers(numbers, None, "numbers.toml", "Online 3", TOLD if told is None else told)


def test_each_metric_is_that_of_its_best_configuration() -> None:
    wide = ALL | {"sequential-read": (Fraction(700), Fraction(200))}
    judged = best.judge(
        [Configuration("small", report(), 24), Configuration("wide", report(wide), 96)]
    )
    assert {row.metric: row.configuration for row in judged.best} == {
        "EP_RR": "small",
        "EP_RW": "small",
        "EP_SR": "wide",
        "EP_SW": "small",
        "EP_RI": "small",
    }
    read = next(row for row in judged.best if row.metric == "EP_SR")
    assert (read.value.text, read.drives, read.rivals) == ("3.500", (77, 100), 2)


def test_the_best_states_the_options_that_were_searched_for() -> None:
    plain = report()
    phases = [
        structs.replace(phase, options={"backend": "bio"}) if phase.metric == "EP_RR" else phase
        for phase in plain.phases
    ]
    judged = best.judge([Configuration("a", structs.replace(plain, phases=phases), 24)])
    assert {row.metric for row in judged.best if row.options} == {"EP_RR"}
    with contextlib.redirect_stdout(io.StringIO()) as text:
        print_parts(judged_parts(judged), 120)
    assert "options of EP_RR: backend bio" in text.getvalue()
    assert text.getvalue().count("options of") == 1


def test_a_phase_beyond_its_limits_does_not_count() -> None:
    good = report()
    better = report(ALL | {"random-read": (Fraction(5000), Fraction(100))})
    phases = [structs.replace(phase, passed=False) for phase in better.phases]
    missed = structs.replace(better, phases=phases)
    judged = best.judge([Configuration("a", good, 1), Configuration("b", missed, 1)])
    assert {row.configuration for row in judged.best} == {"a"}


def test_a_test_that_failed_does_not_count() -> None:
    """Its conditioning may be what failed, which has no metric of its own."""
    better = report(ALL | {"random-read": (Fraction(5000), Fraction(100))})
    failed = structs.replace(better, passed=False, verdict="failed: conditioning: no device")
    both = best.judge([Configuration("a", report(), 1), Configuration("b", failed, 1)])
    assert {row.configuration for row in both.best} == {"a"}
    remark = "b does not count, because its test did not pass: failed: conditioning: no device"
    assert any(text.startswith(remark) for text in both.remarks)
    alone = best.judge([Configuration("b", failed, 1)], least_methods=1)
    assert alone.best == [] and not alone.is_complete
    assert verdicts(alone)["data of random"] == "no"


@pytest.mark.parametrize(
    ("drives", "drawer", "ends"),
    [
        (24, None, (20, 25)),
        (20, None, (16, 21)),
        (1, None, (1, 1)),
        (149, 24, (120, 156)),
        (150, 24, (120, 168)),
        (240, 24, (192, 264)),
        (150, 1000, (120, 157)),
    ],
)
def test_the_range_is_of_whole_drives_or_drawers(
    drives: int, drawer: int | None, ends: tuple[int, int]
) -> None:
    assert best.range_of(drives, drawer) == ends


def verdicts(judged: Judged) -> dict[str, str]:
    return {item.name: item.verdict for item in judged.checklist}


def test_the_checklist_is_of_disclosures_and_of_capacity_reports() -> None:
    capacity = CapacityReport(
        notice="", targets=[], stored="zram", size=1, steps=[],
        methods=[
            CapacityMethod("compression", "yes", ""),
            CapacityMethod("deduplication", "no", ""),
            CapacityMethod("read-only delta snapshots", "not tested", ""),
        ],
        remarks=[],
    )  # fmt: skip
    configurations = [Configuration("a", report(), 24)]
    judged = best.judge(configurations, [capacity], least_methods=2)
    assert set(verdicts(judged).values()) == {"yes"}
    assert judged.is_complete
    methods = next(item for item in judged.checklist if "methods" in item.name)
    assert methods.reason == "2 of 5: compression, thin provisioning; 2 are needed"
    assert not best.judge(configurations, least_methods=2).is_complete
    counted = verdicts(best.judge(configurations))
    assert counted["capacity optimization methods"] == "unknown"


def test_what_is_not_told_is_unknown_and_what_is_missing_is_refused() -> None:
    told = report({"random-read": ALL["random-read"]}, {"power supplies": "bronze"})
    bare = structs.replace(told, taxonomy="Removable 5")
    assert verdicts(best.judge([Configuration("a", bare, 0)])) == {
        "category Online 2, 3 or 4": "no",
        "parity RAID": "unknown",
        "adaptive cooling": "unknown",
        "Silver-rated power supplies": "no",
        "power monitoring": "unknown",
        "capacity optimization methods": "unknown",
        "data of ready idle": "no",
        "data of sequential": "no",
        "data of random": "no",
    }
    judged = best.judge([Configuration("a", told, 0), Configuration("b", bare, 0)])
    assert "the reports are of several categories: Online 3, Removable 5" in judged.remarks
    assert judged.best[0].drives is None


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("Silver-rated", "yes"),
        ("80 PLUS Gold", "yes"),
        ("80 PLUS Bronze", "no"),
        ("not yet rated: no silver", "no"),
        ("two", "unknown"),
    ],
)
def test_supplies_are_rated_by_a_word_anywhere(text: str, verdict: str) -> None:
    told = report(told={"power supplies": text})
    judged = verdicts(best.judge([Configuration("a", told, 1)]))
    assert judged["Silver-rated power supplies"] == verdict


@pytest.mark.parametrize(
    ("text", "verdict"),
    [("Yes", "yes"), ("on, since 2.0", "yes"), ("not yet", "unknown"), ("one of two", "unknown"),
     ("none", "no"), ("off", "no"), ("", "unknown")],
)  # fmt: skip
def test_a_feature_is_there_by_its_first_word(text: str, verdict: str) -> None:
    told = report(told={"adaptive cooling": text})
    judged = verdicts(best.judge([Configuration("a", told, 1)]))
    assert judged["adaptive cooling"] == verdict


@pytest.mark.parametrize("order", [1, -1])
def test_reports_that_differ_are_joined_in_any_order(order: int) -> None:
    reports = [report(told={"parity RAID": text}) for text in ("yes", "no", "yes")]
    shown = [
        CapacityReport(
            notice="", targets=[], stored="s", size=1, steps=[],
            methods=[CapacityMethod("compression", word, "")], remarks=[],
        )
        for word in ("yes", "no")
    ]  # fmt: skip
    configurations = [Configuration(f"{n}", told, 1) for n, told in enumerate(reports)]
    judged = best.judge(configurations[::order], shown[::order], least_methods=1)
    parity = next(item for item in judged.checklist if item.name == "parity RAID")
    assert (parity.verdict, parity.reason[:18]) == ("unknown", "reported: differs:")
    assert verdicts(judged)["capacity optimization methods"] == "yes"


def test_drives_are_disclosed_or_counted() -> None:
    told = report(told={"Drives": "24"})
    assert best.configuration(Path("a"), told).drives == 24
    assert best.configuration(Path("a"), report()).drives == 0
    with pytest.raises(UsageError, match="drives are disclosed as 'many'"):
        best.configuration(Path("a"), report(told={"drives": "many"}))


@pytest.mark.parametrize(("fleet", "drives"), [("a, b; split, seed 1", 3), (None, 5)])
def test_a_drive_that_hosts_share_counts_once(fleet: str | None, drives: int) -> None:
    """On one machine, two disks of a cheap enclosure may have one WWN."""
    names = ("naa.1", "naa.2", "naa.1", "naa.2", "")
    targets = [structs.replace(facts(), wwn=wwn, start_bytes=0) for wwn in names]
    whole = structs.replace(report(), targets=targets, parameters=SimpleNamespace(fleet=fleet))
    assert best.configuration(Path("a"), whole).drives == drives
