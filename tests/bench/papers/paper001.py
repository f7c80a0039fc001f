# SPDX-License-Identifier: GPL-2.0
"""Paper 001: metrics of energy, recomputed from what it prints, and predictions over drives."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from bench.papers import same_system
from bench.papers.claims import OPEN, Claim, near, no_figure, verdict
from bench.papers.hot_band import Row
from bench.papers.predictions import ASSUMED, Curve, Predictions

from spekctl.campaigns.efficiency import Comparison
from spekctl.documents.energy import DcseReport, EmeraldReport, Spc1eReport

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
PEAK = (12.7, 125.0)  # IOPS/W, drives
MIXES = (11.5, 14.9)  # IOPS/W at 60/40 and 80/20
PART = 0.1
WITHIN = f"each within {PART:.0%} of the paper's: yes, one of them: partly, else no"
# IOPS of the hot band over random ones, and hits in the cache, by the share of cache in the
# working set; the smallest is only called much smaller.
HOT_BAND = {
    0.0: (4330 / 4130, "N/A"),
    0.03: (16680 / 7831, "60%/24%"),
    0.26: (1679 / 844, "60%/24%"),
}
HOT_WITHIN = 1.25
SHOWN_DRIVES = (25, 125, 250)
# Of the tiered system over the single tier: IOPS, watts, IOPS/W; and disks of both.
TIERED = "+74 %, -4.3 %, +82 %"
DISKS = (128, 104 + 8)


def claims(
    spc1e: Spc1eReport,
    dcse: DcseReport,
    before: DcseReport,
    predicted: Predictions,
    methods: Comparison,
    hot: Sequence[Row],
    p6500: EmeraldReport,
) -> list[Claim]:
    """All of the paper. @dcse, @before: the system after its change, and as it was. @methods: the
    metrics of a modelled drive; @hot: the hot band on it. @p6500: the sample submission."""
    return [
        *_spc1e(spc1e), *_submission(p6500), *_hot_band(hot), *_dcse(dcse, before),
        *_tiers(dcse, before), *_predicted(predicted), _methods(methods), *_not_here(),
    ]  # fmt: skip


def _submission(report: EmeraldReport) -> Iterator[Claim]:
    """The P6500's, of which only the idle power is printed."""
    values = {phase.metric: _text(phase.value) for phase in report.phases}
    yield _equal(
        "Emerald", "EP_RI of the P6500, 7300 GB at 592.692 W", "12.317 GB/W",
        f"{values['EP_RI']} GB/W", reason="",
    )  # fmt: skip
    yield no_figure(
        "Emerald", "active metrics of the P6500", "17.255 IOPS/W (EP_RR) to 1.22 MiB/s/W (EP_SW)",
        "Neither its work nor its watts under load are printed, so there is nothing to divide.",
    )  # fmt: skip
    disclosed = ", ".join(f"{name}: {value}" for name, value in report.disclosures.items())
    yield Claim(
        "Emerald", "taxonomy and disclosures of the P6500",
        "Online 3; thin provisioning, parity RAID, both kinds of snapshots",
        f"{report.taxonomy}; {disclosed}", "typed in: not judged", OPEN,
        "`spekctl energy emerald` reports what it is given; which capacity optimization methods a"
        " device has is found out by `spekctl energy capacity`.",
    )  # fmt: skip


def _tiers(after: DcseReport, before: DcseReport) -> Iterator[Claim]:
    """The case study, by its own numbers."""
    iops, watts = (
        100 * (Fraction(after.given[key]) / Fraction(before.given[key]) - 1)
        for key in ("iops", "load_watts")
    )
    yield _equal(
        "Case study", "two tiers over one: IOPS, W, IOPS/W", TIERED,
        f"{float(iops):+.0f} %, {float(watts):+.1f} %,"
        f" {float(after.against['workload'].text):+.0f} %",
        reason="Its watts, 2453 and 2346, are 4.36 % apart. `ctl/recipes/tiered-storage`"
        " measures such a pair.",
    )  # fmt: skip
    single, dual = DISKS
    yield _equal(
        "Case study", "drives of two tiers, 104 and 8, against 128", "14 fewer",
        f"{single - dual} fewer", reason="The paper's sum is off by two.",
    )  # fmt: skip


def _not_here() -> Iterator[Claim]:
    yield no_figure(
        "SPC-1/E", "temperature, RMS voltage and power factor of the P6400",
        "81.50 to 82.64 °F, 211.14 V, 0.809",
        "They are those of its room and mains. `--site` of the tests takes such numbers, or logs of"
        " spek-daq, into the report.",
    )  # fmt: skip
    yield no_figure(
        "SPC-2/E", "its workloads and energy extensions", "described, without numbers",
        "Nothing is printed to judge by. `spekctl spc2` and `spekctl energy spc2e` run them, whose"
        " levels are guesses after SPC-1/E.",
    )  # fmt: skip
    yield no_figure(
        "Energy Star", "checklist, -20 % to +5 % of drives, best 25 %", "expectations of a draft",
        "It is a rule, not a result. `spekctl energy check` applies it to reports; the best 25 %"
        " would need those of other products.",
    )  # fmt: skip


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


def _hot_band(rows: Sequence[Row]) -> Iterator[Claim]:
    for row, (share, (gain, hits)) in zip(rows, HOT_BAND.items(), strict=True):
        cache = f"{share:.0%} of the working set in cache" if share else "hardly any cache"
        yield Claim(
            "Emerald", f"hot band over random, {cache}", f"{gain:.2f}, hits {hits}",
            f"{row.gain:.2f} ({row.hot_iops:.0f} IOPS, {row.hot_ms:.1f} ms; {row.random_iops:.0f}"
            f" IOPS, {row.random_ms:.1f} ms), hits {row.hot_hits:.0%}/{row.random_hits:.0%}",
            f"yes if the hot band is faster, and by the paper's factor within {HOT_WITHIN:g};"
            " partly if it is faster, else no",
            verdict(row.gain > 1, gain / HOT_WITHIN <= row.gain <= gain * HOT_WITHIN),
            "The paper's are arrays. The cache here is that of a drive: 64 segments of consecutive"
            " sectors, which hold few of the hot blocks, and no written data.",
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


def _within(paper: tuple[float, ...], here: tuple[float, ...]) -> str:
    return near(paper, here, [PART * wanted for wanted in paper])


def _predicted(predicted: Predictions) -> Iterator[Claim]:
    first, *others = (curve.peak for curve in predicted.random)
    yield Claim(
        "Predictions", "8 KiB at random, 70/30: most IOPS/W", "12.7 IOPS/W at 125 drives",
        f"{first.efficiency:.1f} IOPS/W at {first.drives} drives", WITHIN,
        _within(PEAK, (first.efficiency, first.drives)), ASSUMED,
    )  # fmt: skip
    here = tuple(point.efficiency for point in others)
    yield Claim(
        "Predictions", "8 KiB at random, 60/40 and 80/20: most IOPS/W", "11.5 IOPS/W, 14.9 IOPS/W",
        ", ".join(f"{value:.1f} IOPS/W" for value in here), WITHIN, _within(MIXES, here), ASSUMED,
    )  # fmt: skip
    drives = [point.drives for point in (first, *others)]
    yield _unjudged(
        "the mix changes the metric, not the number of drives with the most", "125 drives for each",
        ", ".join(map(str, drives)) + " drives",
        "It is assumed that controllers do as many disk I/Os at each mix, which makes it so.",
    )  # fmt: skip
    yield _unjudged(
        "128 KiB sequential reads and writes over drives", "two figures without numbers",
        "; ".join(_most(curve, "MiB/s/W") for curve in predicted.sequential),
        "Nothing is printed to judge by. Beyond their most the arrays do as many MiB/s as the"
        " paper's P6500, and draw more.",
    )  # fmt: skip
    yield _unjudged(
        "ready idle of 2 TB LFF and 500 GB SFF drives", "a figure without numbers",
        "; ".join(
            f"{curve.name}: "
            + ", ".join(
                f"{point.efficiency:.0f} GB/W at {point.drives}"
                for point in curve.points
                if point.drives in SHOWN_DRIVES
            )
            for curve in predicted.idle
        ),
        "Nothing is printed to judge by. Idle power as of the WD2001FASS and of the ST9500620SS, in"
        " enclosures of 12 and of 25 drives.",
    )  # fmt: skip


def _most(curve: Curve, unit: str) -> str:
    return f"{curve.name}: most {curve.peak.efficiency:.2f} {unit} at {curve.peak.drives} drives"


def _unjudged(what: str, paper: str, here: str, reason: str) -> Claim:
    return Claim("Predictions", what, paper, here, "not judged", OPEN, reason)


def _methods(compared: Comparison) -> Claim:
    return Claim(
        "Summary", "SPC-1/E, SPC-2/E, Emerald and DCsE of the same system",
        "their strengths in words",
        "; ".join(
            f"{row.method} {row.metric} {row.value.text} {row.unit}" for row in compared.rows
        ),
        "not judged", OPEN, same_system.ASSUMED,
    )  # fmt: skip
