# SPDX-License-Identifier: GPL-2.0-or-later
"""The claims of paper 003's tables, drives over time, of its arrays and by cost; and figure 1."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from spekctl.campaigns.paper003 import costs
from spekctl.campaigns.paper003.judgement import Judgement, built_in, claim, numbers, of_profile
from spekctl.campaigns.paper003.loads import LOADS
from spekctl.documents.drive import Claim, StudyCost
from spekctl.drive import file
from spekctl.drive.model import SECTOR, SPEED_EXPONENT, Model

# Columns of table 1 without a model: inches, MB, arms, W, MB/s, price in $ per MB.
OLD = {
    "IBM 3380 AK4": "14 in, 7,500 MB, 4 arms, 6,600 W, 3 MB/s, $ 18-10",
    "Fujitsu M2361A": "10.5 in, 600 MB, 1 arm, 640 W, 2.5 MB/s, $ 20-17",
    "Conners CP3100": "3.5 in, 100 MB, 1 arm, 10 W, 1 MB/s, $ 10-7",
}
IBM_W = 6600
IBM_MB = 7500
CP3100_W = 10.0
CP3100_RPM = 3575
CP3100_IN = 3.5
BARRACUDA_W = 13.0
BARRACUDA_MB = 750_000
BARRACUDA_MB_S = 72.0
BARRACUDA_IN = 3.7
DIAMETER_EXPONENT = 4.6
SA4_W = 34.0
SOLVED = "the model's watts of a moving arm are solved from the paper's 34 W"
# Of each drive of the original arrays: disks, GB, rpm, platters.
ARRAYS = {
    "Financial": (24, 19.07, 10_000, 4),
    "Websearch": (6, 19.07, 10_000, 4),
    "TPC-C": (4, 37.17, 10_000, 4),
    "TPC-H": (15, 35.96, 7200, 6),
}
DESIGNS = {"Figure 1(a)": ("D1A2S1H1", 2), "Figure 1(b)": ("D1A2S1H2", 4)}
# Lowest and highest cost in $ by arms; savings of the arrays with 2 and 4 arms.
TOTALS = {1: (67.7, 80.8), 2: (100.4, 116.6), 4: (165.8, 188.2)}
SAVINGS = (0.27, 0.40)


def table_1(large: Model, profiles: Sequence[str]) -> Iterator[Claim]:
    """Drives over time."""
    for name, facts in OLD.items():
        yield claim(
            "Table 1", name, facts, "no model", Judgement(None),
            "figures of the RAID paper of 1988, which prints neither geometry nor seek times",
        )  # fmt: skip
    megabytes = large.capacity * SECTOR / 1e6
    yield claim(
        "Table 1", "capacity of the Barracuda ES", f"{BARRACUDA_MB:,} MB", f"{megabytes:,.0f} MB",
        numbers((BARRACUDA_MB,), (megabytes,)),
    )  # fmt: skip
    yield claim(
        "Table 1", "its capacity over that of the IBM 3380", "two orders of magnitude",
        f"{megabytes / IBM_MB:.0f}", Judgement(megabytes / IBM_MB >= 100),
    )  # fmt: skip
    rate = large.sustained_rate(large.zones[0]) / 1e6
    yield claim(
        "Table 1", "its transfer rate", f"{BARRACUDA_MB_S:g} MB/s", f"{rate:.1f} MB/s outside",
        numbers((BARRACUDA_MB_S,), (rate,)),
    )  # fmt: skip
    for profile in profiles:
        yield from of_profile(profile, _watts(large.with_profile(profile), profile))
    low, high = costs.of_drive(1)
    yield claim(
        "Table 1", "price of the Barracuda ES per MB", "$ 0.00042-0.00034",
        f"material by table 9(a): $ {low / megabytes:.5f}-{high / megabytes:.5f}", Judgement(None),
        "the paper states a retail price",
    )  # fmt: skip


def figure_1() -> Iterator[Claim]:
    """Drawings of designs in the paper's taxonomy."""
    for place, (name, paths) in DESIGNS.items():
        yield claim(
            place, f"drawing of a drive {name}", f"up to {paths} data paths", "not drawn",
            Judgement(None), f"`spekctl drive show --dash {name}` and `drive simulate` take it",
        )  # fmt: skip


def table_2() -> Iterator[Claim]:
    """Drives of the original arrays, as they are modelled here."""
    for load, (name, paper) in zip(LOADS, ARRAYS.items(), strict=True):
        model = file.load(load.member)
        here = (
            load.disks, round(model.capacity * SECTOR / 1e9, 2), round(model.rpm), model.heads // 2,
        )  # fmt: skip
        yield claim(
            "Table 2", f"{name}: disks of the original array", _array(paper), _array(here),
            Judgement(here == paper), "their seek times and zones are assumed",
        )  # fmt: skip


def _array(facts: tuple[int, float, int, int]) -> str:
    disks, gigabytes, rpm, platters = facts
    return f"{disks} of {gigabytes:.2f} GB, {rpm:,} rpm, {platters} platters"


def _watts(large: Model, profile: str) -> Iterator[Claim]:
    most = _moving_w(large, 4)
    yield claim(
        "Table 1", f"four arms, all moving ({profile})", f"{SA4_W:g} W", f"{most:.1f} W",
        built_in(Judgement(abs(most - SA4_W) < 0.1)), SOLVED,
    )  # fmt: skip
    idle, moving = large.watts.active_uw(1) / 1e6, _moving_w(large, 1)
    yield claim(
        "Table 1", f"conventional drive at work ({profile})", f"{BARRACUDA_W:g} W",
        f"{idle:.2f} W idle, {moving:.2f} W moving", Judgement(idle < BARRACUDA_W < moving),
        "its own arrays draw 15.4 W per drive on average, above the 13 W of a drive at work",
    )  # fmt: skip
    yield claim(
        "Table 1", f"four arms, all moving, over a conventional drive ({profile})", "within 3",
        f"{most:.1f} W / {moving:.1f} W = {most / moving:.1f}",
        built_in(Judgement(most <= 3 * moving)), SOLVED,
    )  # fmt: skip
    yield claim(
        "Table 1", f"IBM 3380 over four arms, all moving ({profile})", "two orders of magnitude",
        f"{IBM_W:,} W / {most:.1f} W = {IBM_W / most:.0f}",
        built_in(Judgement(IBM_W / most >= 100)), SOLVED,
    )  # fmt: skip
    law = (CP3100_RPM / large.rpm) ** SPEED_EXPONENT
    law *= (CP3100_IN / BARRACUDA_IN) ** DIAMETER_EXPONENT
    old = _moving_w(large.with_spindle(law), 1)
    yield claim(
        "Table 1", f"CP3100 and Barracuda ES, moving ({profile})",
        f"{CP3100_W:g} W, {BARRACUDA_W:g} W", f"{old:.1f} W, {moving:.1f} W",
        numbers((CP3100_W, BARRACUDA_W), (old, moving)),
        "the CP3100 is the Barracuda ES with a slower and smaller spindle by the paper's law",
    )  # fmt: skip


def _moving_w(model: Model, arms: int) -> float:
    """Of a drive whose arms all move."""
    return (model.watts.active_uw(arms) + arms * model.watts.seek) / 1e6


def table_9(arrays: Sequence[StudyCost]) -> Iterator[Claim]:
    """What drives with several arms cost."""
    if not arrays:
        return
    totals = {array.arms: (array.low, array.high) for array in arrays}
    yield claim(
        "Table 9(a)", "material of a drive with 1, 2, 4 arms",
        _ranges(TOTALS), _ranges(totals), Judgement(totals == TOTALS),
        "added up from the paper's prices of components; it counts four suspensions for each arm,"
        " and eight heads",
    )  # fmt: skip
    heads, whole = (_grown(names) for names in (("head",), None))
    yield claim(
        "Table 9(a)", "share of the heads in what the third and fourth arm cost", "the bulk",
        f"{heads / whole:.0%}", Judgement(heads > whole / 2),
    )  # fmt: skip
    first, *more = (array.mean for array in arrays)
    savings = [1 - cost / first for cost in more]
    yield claim(
        "Figure 9(b)", "savings of arrays that perform alike, 2 and 4 arms",
        ", ".join(f"{saving:.0%}" for saving in SAVINGS),
        ", ".join(f"{saving:.0%}" for saving in savings)
        + f" ({', '.join(f'$ {array.mean:.1f}' for array in arrays)})",
        numbers(SAVINGS, savings),
        "that the arrays perform alike is judged by Figure 8 at 8 ms",
    )  # fmt: skip


def _ranges(totals: dict[int, tuple[float, float]]) -> str:
    return ", ".join(f"$ {low:.1f}-{high:.1f}" for low, high in totals.values())


def _grown(names: Sequence[str] | None) -> float:
    """What these components of a drive, or all, cost more with four arms than with two."""
    return sum(
        sum(component.of_drive(4)) - sum(component.of_drive(2))
        for component in costs.COMPONENTS
        if names is None or component.name in names
    )
