# SPDX-License-Identifier: GPL-2.0-or-later
"""Input files, and the footer of plots, which names their origin."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from spekctl import units
from spekctl.documents import document
from spekctl.documents.document import Kind
from spekctl.errors import UsageError
from spekctl.plots.style import Origin

if TYPE_CHECKING:
    from spekctl.documents.benchmark import Report
    from spekctl.documents.curve import Curve as LoadCurve
    from spekctl.documents.device import TargetFacts
    from spekctl.documents.result import Result
    from spekctl.documents.result_parts import Environment, TargetResult
    from spekctl.log.file import LogFile


# Of a fleet: more are counted.
_DEVICES = 4


def log_origin(path: Path, log: LogFile) -> Origin:
    """The foot of pictures from a log."""
    header = log.header
    details = f"seed {header.seed}, spek {header.module_version}"
    if header.reason != "completed":
        details += f", run ended early ({header.reason})"
    if header.lost:
        details += f", {header.lost:,} of {header.lost + header.records:,} I/Os not logged"
    devices = tuple(
        f"{target.path} ({units.format_bytes(target.bytes)})" for target in header.targets
    )
    return Origin(path.name, header.workload, devices, details)


def result_origin(path: Path, result: Result) -> Origin:
    """The foot of pictures from a result."""
    devices = tuple(device(placed(target)) for target in result.targets)
    if result.hosts is not None and len(devices) > _DEVICES:
        devices = (f"{len(devices)} devices of {units.format_count(len(result.hosts), 'host')}",)
    return Origin(
        path.name,
        result.workload.workload.name,
        devices,
        f"seed {result.config.seed}, {machine(result.environment)}",
    )


def start_ns(path: Path, result: Result) -> int:
    """When the run started, CLOCK_MONOTONIC; UsageError if that is not known."""
    if not result.phases:
        raise UsageError(f"{path} does not say when its run started: it has no phases")
    return result.phases[0].start_ns


def placed(target: TargetResult) -> TargetFacts:
    """The facts of a target, its path with the host that it belongs to."""
    return msgspec.structs.replace(target.facts, path=target.place) if target.host else target.facts


def device(facts: TargetFacts) -> str:
    """Path, model and size of a target."""
    size = units.format_bytes(facts.bytes)
    model = facts.model.strip()
    return f"{facts.path} ({model}, {size})" if model else f"{facts.path} ({size})"


def machine(environment: Environment) -> str:
    """Versions, and the name of the machine if it has one."""
    text = f"spek {environment.module_version}, Linux {environment.kernel}"
    # A guest has no name and says so in its own way.
    name = environment.hostname.strip("()")
    return f"{text} on {name}" if name not in ("", "none") else text


def document_origin(path: Path) -> Origin:
    """The foot of pictures from a load curve or from the report of a test."""
    from spekctl.documents import curve, energy, prober, pts, spc1, spc2
    from spekctl.documents.result import load_result

    kinds = [Kind.CURVE, Kind.SPC1, Kind.SPC2, Kind.PTS, Kind.RESULT, Kind.DCSE, Kind.PROBER]
    kind = document.identify(path, kinds, "a curve is drawn from")
    if kind is Kind.RESULT:
        return result_origin(path, load_result(path))
    if kind is Kind.DCSE:
        dcse = document.read(path, energy.DcseReport)
        details = f"disks {', '.join(dcse.disks)}; power of {', '.join(dcse.rails)}"
        return Origin(path.name, dcse.notice, (), details)
    if kind is Kind.PROBER:
        samples = document.read(path, prober.ProberReport)
        return Origin(path.name, "samples of the prober", (), machine(samples.environment))
    if kind is Kind.CURVE:
        load_curve = curve.load_curve(path)
        return _curve_origin(path, load_curve, load_curve.targets, load_curve.environment)
    if kind is Kind.SPC1:
        report = spc1.load_report(path)
        return _curve_origin(path, report.curve, report.targets, report.environment)
    return report_origin(
        path, spc2.load_report(path) if kind is Kind.SPC2 else pts.load_report(path)
    )


def report_origin(path: Path, report: Report) -> Origin:
    """The foot of pictures from the report of a benchmark."""
    details = report.verdict
    if report.environment is not None:
        details += f", {machine(report.environment)}"
    return Origin(path.name, report.notice, tuple(map(device, report.targets)), details)


def _curve_origin(
    path: Path,
    load_curve: LoadCurve,
    targets: Sequence[TargetFacts],
    environment: Environment | None,
) -> Origin:
    """The foot of pictures from a load curve; in a report it says only once where it is from."""
    details = f"seed {load_curve.seed}, {units.format_duration(load_curve.time_ns)} per point"
    if not load_curve.complete:
        details += ", not complete"
    if environment is not None:
        details += f", {machine(environment)}"
    return Origin(path.name, load_curve.workload, tuple(map(device, targets)), details)
