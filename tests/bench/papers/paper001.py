# SPDX-License-Identifier: GPL-2.0
"""Paper 001: metrics of energy, recomputed from the numbers that it prints."""

from __future__ import annotations

from collections.abc import Iterator

from bench.papers.claims import Claim, no_figure, verdict

from spekctl.documents.energy import DcseReport, Spc1eReport

TITLE = "Metrics of the energy efficiency of storage"
PROFILES = (
    ("low", "227.85 W, 3333.14 IOPS, 14.63 IOPS/W, 777.44 BTU/h"),
    ("medium", "231.49 W, 8499.58 IOPS, 36.72 IOPS/W, 789.87 BTU/h"),
    ("high", "235.84 W, 14499.49 IOPS, 61.48 IOPS/W, 804.72 BTU/h"),
)
COMPOSITE = "231.73 W, 8777.40 IOPS, 37.88 IOPS/W"
ANNUAL = "2029.93 kWh, $ 243.59"
EQUAL = "yes if every figure is equal to its last digit, partly if one is, else no"
SOLVED = (
    "The watts and IOPS of its levels are not printed. They are solved from the three profiles, so"
    " those agree by construction; IOPS/W, BTU/h, composite, kWh and price do not."
)


def claims(spc1e: Spc1eReport, dcse: DcseReport, before: DcseReport) -> list[Claim]:
    """All of the paper. @dcse, @before: the system after its change, and as it was."""
    return [*_spc1e(spc1e), *_dcse(dcse, before), *_not_here()]


def _spc1e(report: Spc1eReport) -> Iterator[Claim]:
    rows = {row.name: row for row in report.profiles}
    for name, paper in PROFILES:
        row = rows[name]
        heat = row.btu_per_hour.text if row.btu_per_hour is not None else "-"
        here = f"{_text(row.watts)} W, {_text(row.iops)} IOPS, {_text(row.iops_per_watt)} IOPS/W"
        yield _equal("SPC-1/E", f"usage profile {name}", paper, f"{here}, {heat} BTU/h")
    mean = report.composite
    assert mean is not None
    yield _equal(
        "SPC-1/E", "composite metrics", COMPOSITE,
        f"{_text(mean.watts)} W, {_text(mean.iops)} IOPS, {_text(mean.iops_per_watt)} IOPS/W",
    )  # fmt: skip
    yield _equal(
        "SPC-1/E", "annual energy and its cost at $ 0.12 per kWh", ANNUAL,
        f"{_text(report.annual_kwh)} kWh, $ {_text(report.annual_cost)}",
    )  # fmt: skip


def _dcse(report: DcseReport, before: DcseReport) -> Iterator[Claim]:
    yield _equal(
        "DCsE", "capacity, before and after", "9.53 GB/W, 9.83 GB/W",
        f"{_text(before.gb_per_watt)} GB/W, {_text(report.gb_per_watt)} GB/W", reason="",
    )  # fmt: skip
    yield _equal(
        "DCsE", "workload, before and after", "14.27 IOPS/W, 26.0 IOPS/W",
        f"{_text(before.iops_per_watt)} IOPS/W, {float(_text(report.iops_per_watt)):.1f} IOPS/W",
        reason="",
    )  # fmt: skip


def _equal(place: str, what: str, paper: str, here: str, reason: str = SOLVED) -> Claim:
    pairs = zip(paper.split(", "), here.split(", "), strict=True)
    return Claim(place, what, paper, here, EQUAL, verdict(*(a == b for a, b in pairs)), reason)


def _text(figure: object) -> str:
    return str(getattr(figure, "text", "-"))


def _not_here() -> Iterator[Claim]:
    why = "The drives of its predictions and their tool are not described."
    for what, paper in (
        ("8 KiB at random, 70/30, over drives", "12.7 IOPS/W at 125 drives; 11.5 at 60/40, 14.9"),
        ("128 KiB sequential reads and writes over drives", "two figures without numbers"),
        ("ready idle of 2 TB LFF and 500 GB SFF drives", "a figure without numbers"),
    ):
        yield no_figure("Predictions", what, paper, why)
