# SPDX-License-Identifier: GPL-2.0-or-later
"""Emerald-like figures: a phase from its run, and the report from all completed steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import msgspec

from spekctl import recorded, units
from spekctl.campaigns import energy, points
from spekctl.campaigns.emerald import figures as emerald
from spekctl.campaigns.emerald.plan import IDLE, LIMITED, Done, Step, metric_of, trial_of
from spekctl.campaigns.idle import Idle
from spekctl.campaigns.points import baseline_remarks
from spekctl.campaigns.usage import exceeds
from spekctl.documents.benchmark import Site
from spekctl.documents.device import TargetFacts
from spekctl.documents.energy import (
    EMERALD_NOTICE,
    EmeraldLimits,
    EmeraldParameters,
    EmeraldPhase,
    EmeraldReport,
)
from spekctl.documents.exact import Figure, decimal_text, measured_number
from spekctl.documents.histogram import count_of
from spekctl.documents.power import PowerFigures, power_of
from spekctl.documents.result import Result
from spekctl.documents.result_parts import Environment, Interval
from spekctl.documents.unanswered import ages_of, sentence
from spekctl.kernel.records import Histogram


def watts_of(power: PowerFigures | None) -> Fraction | None:
    """Mean power; None if not positive, or unknown for too much of the span."""
    net_w = power.net_w if power is not None and power.is_known else None
    return measured_number(net_w) if net_w is not None and net_w > 0 else None


def phase_of_run(
    step: Step, result: Result, limits: EmeraldLimits, result_file: str | None
) -> EmeraldPhase:
    """The figures of a step from its run."""
    total = result.totals.all
    metric, unit = metric_of(step.phase)
    rate = total.bytes_per_s / (1 << 20) if unit == "MiB/s/W" else total.iops
    work = measured_number(rate)
    figures = points.merged_figures(result.cells, "response")
    mean = figures.mean if figures is not None else None
    rows = points.measured_intervals(result)
    worst = worst_window(rows, limits.window_ns)
    bound = worst_window(rows, limits.window_ns, ages_of(result.cells))
    if bound is not None and bound.mean_ns > limits.window_mean_ns:
        worst = bound
    missed = _missed(step, result, limits, mean, worst)
    power = power_of(result)
    watts = watts_of(power)
    by_host = _workers_by_host(result)
    return EmeraldPhase(
        name=step.phase,
        metric=metric,
        unit=unit,
        workers=sum(by_host.values()) if by_host else step.workers,
        depth=step.depth,
        rate=step.rate,
        measured_ns=points.measured_ns(result),
        work=decimal_text(work),
        watts=decimal_text(watts) if watts is not None else None,
        value=_value(metric, work, watts),
        response_ns=mean,
        worst_response_ns=worst.mean_ns if worst is not None else None,
        passed=not missed,
        text=missed or result.outcome.text,
        power=power,
        result_file=result_file,
        workers_by_host=by_host,
        options=step.options,
    )


def phase_of_refusal(step: Step, text: str) -> EmeraldPhase:
    """A step of the search that the kernel refused to start."""
    metric, unit = metric_of(step.phase)
    return EmeraldPhase(
        name=step.phase,
        metric=metric,
        unit=unit,
        workers=step.workers,
        depth=step.depth,
        rate=None,
        measured_ns=0,
        work="0",
        watts=None,
        value=None,
        response_ns=None,
        worst_response_ns=None,
        passed=False,
        text=text,
        power=None,
        result_file=None,
        options=step.options,
    )


def _workers_by_host(result: Result) -> dict[str, int]:
    """Workers of each host of a fleet, which its plan sets; none of a single machine."""
    return {
        host.name: len(host.run.config.cpus) for host in result.hosts or [] if host.run is not None
    }


def _value(metric: str, work: Fraction, watts: Fraction | None) -> Figure | None:
    if not metric or watts is None or not work:
        return None
    return emerald.printed(emerald.metric(work, watts))


@dataclass(frozen=True, slots=True)
class Worst:
    """The window with the largest mean response time."""

    mean_ns: float
    waiting: str = ""  # the mean is at least that, and why that is known; empty: exactly


def worst_window(
    rows: Sequence[Interval], window_ns: int, ages: Histogram | None = None
) -> Worst | None:
    """Largest mean response time of the windows that a measure phase is cut into; None: nothing
    completed, and nothing was waited for.

    I/Os count where they complete. A window without any in which I/Os were outstanding all the time
    has at least the mean that they waited in it. In the last window @ages, of those in flight at
    its end, count as well where they raise the mean.
    """
    if not rows:
        return None
    windows: dict[int, list[Interval]] = {}
    for row in rows:
        number = (row.start_ns - rows[0].start_ns) // window_ns
        windows.setdefault(number, []).append(row)
    means: list[Worst] = []
    held = 0
    for window in windows.values():
        ns = sum(row.read.response_sum_ns + row.write.response_sum_ns for row in window)
        ios = sum(row.read.ios + row.write.ios for row in window)
        if ios:
            means.append(Worst(ns / ios))
        elif (waited_ns := _waited_ns(window, held)) is not None:
            means.append(Worst(waited_ns, "I/Os were outstanding and none completed in it"))
        held = window[-1].outstanding
    if ages is not None:
        count = count_of(ages)
        bound = Worst((ns + ages.sum_ns) / (ios + count), sentence(count, ages.max_ns))
        if not ios or bound.mean_ns > ns / ios:
            means.append(bound)
    return max(means, key=lambda worst: worst.mean_ns, default=None)


def _waited_ns(window: Sequence[Interval], held: int) -> float | None:
    """Mean time for which the I/Os outstanding at the end of a window in which none completed were
    waited for in it, at least; @held: how many were outstanding at its start. None: there are none
    at its end."""
    last = window[-1].outstanding
    if not last:
        return None
    upto_ns, waited_ns = window[0].start_ns, 0
    for row in window:
        # Rows of blocked workers come later, with the times of others.
        waited_ns += min(held, last) * max(0, row.end_ns - upto_ns)
        upto_ns, held = max(upto_ns, row.end_ns), row.outstanding
    return waited_ns / last


def _missed(
    step: Step, result: Result, limits: EmeraldLimits, mean: float | None, worst: Worst | None
) -> str:
    """Which limit a phase misses, as a sentence; empty if none."""
    if not result.outcome.ok:
        return result.outcome.text
    if mean is None:
        return "no I/O completed"
    if step.phase not in LIMITED:
        return ""
    if mean > limits.mean_ns:
        return (
            f"mean response time {units.format_ns(mean)} is above {units.format_ns(limits.mean_ns)}"
        )
    slowest = points.unanswered_of(result)
    if slowest is not None and slowest.at_least.mean > limits.mean_ns:
        return (
            f"mean response time is at least {units.format_ns(slowest.at_least.mean)}, above"
            f" {units.format_ns(limits.mean_ns)}: {slowest.text}"
        )
    if worst is not None and worst.mean_ns > limits.window_mean_ns:
        least, why = ("at least ", f": {worst.waiting}") if worst.waiting else ("", "")
        return (
            f"mean response time of a window, {least}{units.format_ns(worst.mean_ns)}, is above"
            f" {units.format_ns(limits.window_mean_ns)}{why}"
        )
    return ""


def phase_of_idle(gigabytes: Fraction, rest: Idle, result_file: str | None) -> EmeraldPhase:
    """Ready idle."""
    metric, unit = metric_of(IDLE)
    power = rest.power
    watts = watts_of(power)
    text = "nothing was sent" if power is not None else "skipped: power is not measured"
    return EmeraldPhase(
        name=IDLE,
        metric=metric,
        unit=unit,
        workers=0,
        depth=None,
        rate=None,
        measured_ns=rest.end_ns - rest.start_ns,
        work=decimal_text(gigabytes),
        watts=decimal_text(watts) if watts is not None else None,
        value=_value(metric, gigabytes, watts),
        response_ns=None,
        worst_response_ns=None,
        passed=True,
        text="; ".join([text, *rest.remarks]),
        power=power,
        result_file=result_file,
    )


def phase_of_numbers(phase: str, work: Fraction, watts: Fraction) -> EmeraldPhase:
    """A phase measured elsewhere."""
    metric, unit = metric_of(phase)
    return EmeraldPhase(
        name=phase,
        metric=metric,
        unit=unit,
        workers=0,
        depth=None,
        rate=None,
        measured_ns=0,
        work=decimal_text(work),
        watts=decimal_text(watts),
        value=_value(metric, work, watts),
        response_ns=None,
        worst_response_ns=None,
        passed=True,
        text="given",
        power=None,
        result_file=None,
    )


def of_numbers(
    measured: Mapping[str, tuple[Fraction, Fraction]],
    gigabytes: Fraction | None,
    source: str,
    taxonomy: str = "",
    disclosures: Mapping[str, str] | None = None,
) -> EmeraldReport:
    """The report of typed-in phases."""
    phases = [phase_of_numbers(name, *numbers) for name, numbers in measured.items()]
    return _report(
        phases,
        gigabytes=gigabytes,
        source=source,
        verdict="complete",
        complete=True,
        taxonomy=taxonomy,
        disclosures=disclosures,
    )


def build(
    parameters: EmeraldParameters,
    done: Sequence[Done],
    targets: Sequence[TargetFacts],
    environment: Environment | None,
    remarks: Sequence[str],
    site: Site | None = None,
) -> EmeraldReport:
    """The report on the steps so far."""
    phases = [entry.figures for entry in done if entry.step.kind != "search"]
    metrics = [phase for phase in phases if phase.metric]
    names = [phase.name for phase in metrics]
    missing = [name for name in parameters.phases if name not in names]
    without = [phase.name for phase in metrics if phase.value is None]
    failed = [phase for phase in phases if not phase.passed]
    useless = {
        phase.name: watts
        for phase in metrics
        if (watts := energy.watts_of(phase.power)) is not None and watts <= 0
    }
    verdict = energy.verdict(missing, without, ", ", useless)
    if failed and not missing:
        verdict = f"failed: {failed[0].name}: {failed[0].text}"
    return _report(
        phases,
        gigabytes=Fraction(parameters.raw_gigabytes),
        source="measured",
        verdict=verdict,
        complete=not missing and not without,
        passed=not missing and not failed,
        parameters=parameters,
        done=done,
        targets=targets,
        environment=environment,
        remarks=[*remarks, *_remarks(parameters, metrics)],
        taxonomy=parameters.taxonomy,
        disclosures=parameters.disclosures,
        site=site,
    )


def _remarks(parameters: EmeraldParameters, phases: Sequence[EmeraldPhase]) -> list[str]:
    remarks = [
        f"{EMERALD_NOTICE}: limits, durations and shares are parameters of this test, not quoted"
        " from a standard"
    ]
    lengths = parameters.durations
    if lengths.prefill_percent < 100:
        remarks.append(f"{lengths.prefill_percent} % of the capacity was filled beforehand")
    remarks += [
        f"{phase.name}: {phase.power.remark}"
        for phase in phases
        if phase.power is not None and phase.power.remark
    ]
    remarks += baseline_remarks(phase.power for phase in phases)
    remarks += [
        f"{phase.name}: {phase.text}"
        for phase in phases
        if phase.name == IDLE and ";" in phase.text
    ]
    idle = next((phase for phase in phases if phase.name == IDLE and phase.watts is not None), None)
    for phase in phases:
        if (
            idle is not None
            and phase.watts is not None
            and exceeds(Fraction(idle.watts or 0), Fraction(phase.watts))
        ):
            remarks.append(
                f"idle power, {float(idle.watts or 0):g} W, is above that of {phase.name},"
                f" {float(phase.watts):g} W: check that the system was idle, and what the meter"
                " measures"
            )
    return remarks


def _report(
    phases: list[EmeraldPhase],
    *,
    gigabytes: Fraction | None,
    source: str,
    verdict: str,
    complete: bool,
    passed: bool = True,
    parameters: EmeraldParameters | None = None,
    done: Sequence[Done] = (),
    targets: Sequence[TargetFacts] = (),
    environment: Environment | None = None,
    remarks: Sequence[str] = (),
    taxonomy: str = "",
    disclosures: Mapping[str, str] | None = None,
    site: Site | None = None,
) -> EmeraldReport:
    return EmeraldReport(
        notice=EMERALD_NOTICE,
        complete=complete,
        passed=passed,
        verdict=verdict,
        source=recorded.text(source),
        raw_gigabytes=decimal_text(gigabytes) if gigabytes is not None else None,
        parameters=parameters,
        phases=phases,
        trials=[
            # The search itself goes by what is asked for, which a fleet's plan overrides.
            msgspec.structs.replace(trial_of(entry), workers=entry.figures.workers)
            for entry in done
            if entry.step.kind == "search"
        ],
        targets=list(targets),
        environment=environment,
        remarks=list(remarks),
        taxonomy=taxonomy,
        disclosures=dict(disclosures or {}),
        site=site,
    )
