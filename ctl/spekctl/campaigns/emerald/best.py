# SPDX-License-Identifier: GPL-2.0-or-later
"""Best foot forward over configurations, and Energy Star's checklist for a storage product.

Each metric is taken from the best of several Emerald-like reports, each of which is about another
configuration of the product. A best configuration also represents products whose number of drives
is within -20 % and +5 % of its own.

The checklist and that range are those of draft 3 of Energy Star's version 1.0 for data center
storage, as presented in a talk of 2012. The draft does not say how many capacity optimization
methods are required: they are counted, and judged only if a number is given.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from spekctl.campaigns.emerald.figures import KINDS
from spekctl.documents.device import of_hosts
from spekctl.documents.energy import (
    Best,
    CapacityReport,
    ChecklistVerdict,
    EmeraldReport,
    Item,
    Judged,
)
from spekctl.errors import UsageError

FEWER, MORE = Fraction(20, 100), Fraction(5, 100)
DRAWER_FROM = 150
ELIGIBLE = ("online 2", "online 3", "online 4")
METHODS = (
    "deduplication",
    "compression",
    "thin provisioning",
    "read-only delta snapshots",
    "writeable delta snapshots",
)
_DIFFERS = "differs: "
_YES = ("yes", "on", "available")
_NO = ("no", "off", "none")
_SUPPLIES = {"silver", "gold", "platinum", "titanium"}
_LESS = {"white", "bronze", "none", "no"}
_MOST_DIGITS = 6
# Metrics of each submission of data.
_DATA = {
    "ready idle": ("EP_RI",),
    "sequential": ("EP_SR", "EP_SW"),
    "random": ("EP_RR", "EP_RW"),
}


@dataclass(frozen=True, slots=True)
class Configuration:
    """A report. @drives: disclosed, else the number of tested devices; 0: unknown."""

    name: str
    report: EmeraldReport
    drives: int


def configuration(path: Path, report: EmeraldReport) -> Configuration:
    """A report with its number of drives; UsageError if the disclosed one is not a number."""
    text = _disclosed(report.disclosures, "drives")
    if text is None:
        is_fleet = report.parameters is not None and report.parameters.fleet is not None
        devices = of_hosts(report.targets) if is_fleet else report.targets
        return Configuration(str(path), report, len(devices))
    known = text.isascii() and text.isdecimal() and len(text) <= _MOST_DIGITS
    if not known or not int(text):
        raise UsageError(
            f"{path}: drives are disclosed as '{text}'; expected a whole number of up to"
            f" {_MOST_DIGITS} digits, and more than 0"
        )
    return Configuration(str(path), report, int(text))


def range_of(drives: int, drawer: int | None = None) -> tuple[int, int]:
    """Fewest and most drives of products that count as the configuration with @drives.

    Whole drives within the range; to the nearest full drawer from 150 drives on that fill one.
    """
    least, most = drives * (1 - FEWER), drives * (1 + MORE)
    if drawer is not None and drives >= max(DRAWER_FROM, drawer):
        return _nearest(least, drawer), _nearest(most, drawer)
    return -(-least.numerator // least.denominator), most.numerator // most.denominator


def _nearest(value: Fraction, drawer: int) -> int:
    return int(value / drawer + Fraction(1, 2)) * drawer


def judge(
    configurations: Sequence[Configuration],
    capacities: Sequence[CapacityReport] = (),
    drawer: int | None = None,
    least_methods: int | None = None,
) -> Judged:
    """The best configuration for each metric, of those whose test passed, and the checklist."""
    passed = [config for config in configurations if config.report.passed]
    rows = (_best(kind.name, passed, drawer) for kind in KINDS)
    best = [row for row in rows if row is not None]
    categories = {config.report.taxonomy or "-" for config in configurations}
    remarks = [
        "checklist and range of drives: draft 3 of Energy Star's version 1.0 as shown in a talk,"
        " not the published text"
    ]
    remarks += [
        f"{config.name} does not count, because its test did not pass: {config.report.verdict}"
        for config in configurations
        if not config.report.passed
    ]
    if len(categories) > 1:
        remarks.append(f"the reports are of several categories: {', '.join(sorted(categories))}")
    properties = _properties(configurations, capacities)
    return Judged(
        best,
        [
            _category(categories),
            _feature(properties, "parity RAID"),
            _feature(properties, "adaptive cooling"),
            _supplies(properties),
            _feature(properties, "power monitoring"),
            _methods(properties, least_methods),
            *(_data(name, metrics, best) for name, metrics in _DATA.items()),
        ],
        remarks,
    )


def _properties(
    configurations: Sequence[Configuration], capacities: Sequence[CapacityReport]
) -> dict[str, str]:
    """Properties of the product by name: as tested, else as disclosed.

    The product has each method that one of its configurations has shown. Disclosures that differ
    are joined, because none of them holds for all configurations.
    """
    disclosed: dict[str, dict[str, None]] = {}
    for config in configurations:
        for name, text in config.report.disclosures.items():
            disclosed.setdefault(name.lower(), {})[text] = None
    properties = {
        name: (_DIFFERS if len(texts) > 1 else "") + " / ".join(texts)
        for name, texts in disclosed.items()
    }
    tested: dict[str, str] = {}
    for capacity in capacities:
        for method in capacity.methods:
            name = method.name.lower()
            if method.verdict != "not tested" and tested.get(name) != "yes":
                tested[name] = method.verdict
    return properties | tested


def _best(metric: str, configurations: Sequence[Configuration], drawer: int | None) -> Best | None:
    rivals = [
        (config, phase, phase.value)
        for config in configurations
        for phase in config.report.phases
        if phase.metric == metric and phase.value is not None and phase.passed
    ]
    if not rivals:
        return None
    config, phase, value = max(rivals, key=lambda rival: rival[2].fraction)
    drives = range_of(config.drives, drawer) if config.drives else None
    return Best(
        metric,
        value,
        phase.unit,
        config.name,
        phase.workers,
        phase.depth,
        drives,
        len(rivals),
        phase.options,
    )


def _disclosed(properties: Mapping[str, str], name: str) -> str | None:
    return next((text for key, text in properties.items() if key.lower() == name.lower()), None)


def _verdict(text: str | None) -> ChecklistVerdict:
    words = _words(text or "")
    if not words or words[0] not in (*_YES, *_NO):
        return "unknown"
    return "yes" if words[0] in _YES else "no"


def _words(text: str) -> list[str]:
    return re.findall(r"[a-z]+", text.lower())


def _feature(properties: Mapping[str, str], name: str) -> Item:
    text = _disclosed(properties, name)
    if text is None:
        return Item(name, "unknown", f"not disclosed (--disclose '{name}=yes')")
    return Item(name, _verdict(text), f"reported: {text}")


def _category(categories: set[str]) -> Item:
    fine = all(category.lower().startswith(ELIGIBLE) for category in categories)
    named = ", ".join(sorted(categories))
    if categories == {"-"}:
        return Item("category Online 2, 3 or 4", "unknown", "no taxonomy (--taxonomy 'Online 3')")
    return Item("category Online 2, 3 or 4", "yes" if fine else "no", named)


def _supplies(properties: Mapping[str, str]) -> Item:
    text = _disclosed(properties, "power supplies")
    name = "Silver-rated power supplies"
    if text is None:
        return Item(name, "unknown", "not disclosed (--disclose 'power supplies=gold')")
    words = set() if text.startswith(_DIFFERS) else set(_words(text))
    verdict: ChecklistVerdict = "unknown"
    if words & (_SUPPLIES | _LESS):
        verdict = "no" if words & _LESS else "yes"
    return Item(name, verdict, f"disclosed: {text}")


def _methods(properties: Mapping[str, str], least: int | None) -> Item:
    there = [name for name in METHODS if _verdict(_disclosed(properties, name)) == "yes"]
    text = f"{len(there)} of {len(METHODS)}: {', '.join(there) or 'none'}"
    name = "capacity optimization methods"
    if least is None:
        return Item(name, "unknown", f"{text}; the draft's number is not known (--least-methods)")
    return Item(name, "yes" if len(there) >= least else "no", f"{text}; {least} are needed")


def _data(name: str, metrics: Sequence[str], best: Sequence[Best]) -> Item:
    title = f"data of {name}"
    known = {row.metric: row for row in best}
    missing = [metric for metric in metrics if metric not in known]
    if missing:
        return Item(title, "no", f"{', '.join(missing)} not measured within limits, with power")
    rivals = min(known[metric].rivals for metric in metrics)
    named = ", ".join(dict.fromkeys(known[metric].configuration for metric in metrics))
    text = f"best of {rivals} configuration{'s' if rivals > 1 else ''}: {named}"
    return Item(title, "yes", text)
