# SPDX-License-Identifier: GPL-2.0-or-later
"""Work per watt of a system by SPC-1/E, SPC-2/E, Emerald and DCsE beside each other.

Each figure equals that of its report, to the last digit. A comparison needs reports of one system,
which the devices that they name identify.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from spekctl.documents import document
from spekctl.documents.device import TargetFacts
from spekctl.documents.document import Kind, identify
from spekctl.documents.energy import DcseReport, EmeraldReport, Spc1eReport
from spekctl.documents.exact import Figure
from spekctl.documents.spc2 import Spc2eReport

Report = Spc1eReport | Spc2eReport | EmeraldReport | DcseReport
KINDS: dict[Kind, type[Report]] = {
    Kind.SPC1E: Spc1eReport,
    Kind.SPC2E: Spc2eReport,
    Kind.EMERALD: EmeraldReport,
    Kind.DCSE: DcseReport,
}


class Row(NamedTuple):
    """A metric. @work and @watts: what it is the ratio of, as the report has them."""

    method: str
    metric: str
    load: str
    work: str
    watts: str
    value: Figure
    unit: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """Metrics in the order of the reports. @remarks: why they may not be comparable."""

    rows: list[Row]
    remarks: list[str]


def compare(paths: Sequence[Path]) -> Comparison:
    """The metrics of the reports at @paths."""
    reports = [(path, _read(path)) for path in paths]
    rows = [row for _, report in reports for row in _rows(report)]
    remarks = [
        f"{path}: there is no metric: {_reason(report)}"
        for path, report in reports
        if not any(_rows(report))
    ]
    remarks += [
        f"{path}: its test did not pass: {report.verdict}"
        for path, report in reports
        if not isinstance(report, DcseReport) and not report.passed and any(_rows(report))
    ]
    return Comparison(rows, [*remarks, *_of_one_system(reports)])


def _read(path: Path) -> Report:
    kind = identify(path, list(KINDS), "metrics are compared from")
    return document.read(path, KINDS[kind])


def _reason(report: Report) -> str:
    return "its numbers are missing" if isinstance(report, DcseReport) else report.verdict


def _rows(report: Report) -> Iterator[Row]:
    if isinstance(report, Spc1eReport):
        yield from _spc1e(report)
    elif isinstance(report, Spc2eReport):
        yield from _spc2e(report)
    elif isinstance(report, EmeraldReport):
        yield from _emerald(report)
    else:
        yield from _dcse(report)


def _spc1e(report: Spc1eReport) -> Iterator[Row]:
    mean = report.composite
    if mean is None or mean.watts is None or mean.iops_per_watt is None:
        return
    yield Row(
        "SPC-1/E", "nominal IOPS/W", "mean of three days of use", mean.iops.text, mean.watts.text,
        mean.iops_per_watt, "IOPS/W",
    )  # fmt: skip


def _spc2e(report: Spc2eReport) -> Iterator[Row]:
    mean = report.composite
    if mean is None:
        return
    yield Row(
        "SPC-2/E", "nominal MB/s/W", "mean of three days of use", mean.mb_s.text, mean.watts.text,
        mean.mb_s_per_watt, "MB/s/W",
    )  # fmt: skip


def _emerald(report: EmeraldReport) -> Iterator[Row]:
    for phase in report.phases:
        if phase.value is not None:
            yield Row(
                "Emerald", phase.metric, phase.name, phase.work, phase.watts or "", phase.value,
                phase.unit,
            )  # fmt: skip


def _dcse(report: DcseReport) -> Iterator[Row]:
    given = report.given
    for metric, value, unit, load, work, watts in (
        ("capacity", report.gb_per_watt, "GB/W", "idle", "gigabytes", "idle_watts"),
        ("workload", report.iops_per_watt, "IOPS/W", "in operation", "iops", "load_watts"),
        (
            *("throughput", report.mb_per_s_per_watt, "MB/s/W", "in operation"),
            *("megabytes_per_s", "load_watts"),
        ),
    ):
        if value is not None:
            yield Row("DCsE", metric, load, given.get(work, ""), given.get(watts, ""), value, unit)


def _of_one_system(reports: Sequence[tuple[Path, Report]]) -> Iterator[str]:
    """Sentences on reports that may be of different systems."""
    first: tuple[Path, list[TargetFacts]] | None = None
    unknown = []
    for path, report in reports:
        targets = [] if isinstance(report, DcseReport) else report.targets
        if not targets:
            unknown.append(str(path))
        elif first is None:
            first = path, targets
        elif not _are_same(targets, first[1]):
            yield (
                f"{path} is of {_listed(targets)}, {first[0]} of {_listed(first[1])}: metrics of"
                " different systems cannot be compared"
            )
    if unknown and len(reports) > 1:
        name = "names" if len(unknown) == 1 else "name"
        yield f"{', '.join(unknown)} {name} no device: make sure that the system is the same"


def _are_same(targets: Sequence[TargetFacts], reference: Sequence[TargetFacts]) -> bool:
    """Whether each device has its counterpart. A path changes with the order in which devices
    appear, a serial number does not, but earlier versions had none of md arrays."""
    left = list(reference)
    for target in targets:
        same = [candidate for candidate in left if _is_same(target, candidate)]
        if not same:
            return False
        left.remove(same[0])
    return not left


def _is_same(target: TargetFacts, candidate: TargetFacts) -> bool:
    if target.serial and candidate.serial:
        same = target.serial == candidate.serial
    else:
        same = target.path == candidate.path
    return same and target.bytes == candidate.bytes


def _listed(targets: Sequence[TargetFacts]) -> str:
    return ", ".join(f"{target.path} ({target.bytes / 1e9:,.1f} GB)" for target in targets)
