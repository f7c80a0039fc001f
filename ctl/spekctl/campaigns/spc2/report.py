# SPDX-License-Identifier: GPL-2.0-or-later
"""SPC-2-like figures: a run from its result, and the report from all runs."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from spekctl.campaigns import points
from spekctl.campaigns.spc2 import figures, plan
from spekctl.campaigns.spc2.loads import GROUPS
from spekctl.campaigns.spc2.plan import TESTS, VOD, of_test, vod_position
from spekctl.documents.device import TargetFacts
from spekctl.documents.exact import decimal_text, figure, measured_number
from spekctl.documents.histogram import bucket_value
from spekctl.documents.power import power_of
from spekctl.documents.result import Result
from spekctl.documents.result_parts import Environment
from spekctl.documents.spc2 import (
    NOTICE,
    Composite,
    Limits,
    Parameters,
    Report,
    Run,
    Step,
)
from spekctl.documents.unanswered import ages_of, times_of
from spekctl.kernel.records import Histogram


def late_of(times: Histogram | None, limit_ns: int) -> int:
    """I/Os whose response took longer, or that had not been answered after that time.

    I/Os of the bucket in which the limit lies are late or not with its middle. But the longest time
    is known exactly: it says whether there is one at all.
    """
    if times is None or times.max_ns <= limit_ns:
        return 0
    late = sum(
        count for index, count in times.counts.items() if bucket_value(index, times.bits) > limit_ns
    )
    return max(1, late)


def run_of(step: Step, result: Result, limits: Limits, result_file: str | None) -> Run:
    """The figures of a step from its run."""
    total = result.totals.all
    left_over = points.left_over_of(result)
    late = unanswered = None
    beyond = ""
    if step.part == "vod":
        unanswered = late_of(ages_of(result.cells), limits.response_ns)
        late = late_of(times_of(result.cells, "response"), limits.response_ns) + unanswered
        beyond = plan.beyond(step.streams, total.ios, late, left_over, limits, unanswered)
    elif not total.ios:
        beyond = "no I/O completed"
    power = power_of(result)
    net_w = power.net_w if power is not None and power.is_known else None
    return Run(
        step=step,
        measured_ns=points.measured_ns(result),
        ios=total.ios,
        mb_s=decimal_text(measured_number(total.bytes_per_s) / figures.MB),
        response=points.merged_figures(result.cells, "response"),
        late=late,
        left_over=left_over,
        beyond=beyond,
        errors=result.outcome.errors,
        ok=result.outcome.ok,
        text=result.outcome.text,
        watts=decimal_text(measured_number(net_w)) if net_w is not None and net_w > 0 else None,
        power=power,
        result_file=result_file,
        unanswered=unanswered,
    )


def runs_of(parameters: Parameters, done: Sequence[Run], part: str, divisor: int = 1) -> list[Run]:
    """Runs of a part at its most streams, or at a half of them; empty if one is missing."""
    if part == "vod":
        position = vod_position(parameters, done)
        if position.run is None or divisor == 1:
            return [position.run] if position.run is not None else []
        half = of_test(done, VOD.name).get(
            plan.half_of(position.run.step.streams, parameters.clients)
        )
        return [half] if half is not None else []
    streams = plan.dealt(parameters.streams // divisor, parameters.clients)
    runs = [of_test(done, test.name).get(streams) for test in TESTS if test.part == part]
    whole = [run for run in runs if run is not None]
    return whole if len(whole) == len(runs) else []


def mean_rate(runs: Sequence[Run]) -> Fraction:
    """MB per second."""
    return figures.mean([Fraction(run.mb_s) for run in runs])


def mean_watts(runs: Sequence[Run]) -> Fraction | None:
    """None: power is missing in one of them."""
    watts = [Fraction(run.watts) for run in runs if run.watts is not None]
    return figures.mean(watts) if runs and len(watts) == len(runs) else None


def composites_of(parameters: Parameters, done: Sequence[Run], divisor: int = 1) -> list[Composite]:
    """Of each part that is complete, and of all three."""
    rates: list[Fraction] = []
    powers: list[Fraction | None] = []
    composites = []
    for part in plan.PARTS:
        runs = runs_of(parameters, done, part, divisor)
        if not runs:
            continue
        rates.append(mean_rate(runs))
        powers.append(mean_watts(runs))
        composites.append(_composite(part, runs[0].step.streams, rates[-1], powers[-1]))
    if len(composites) == len(plan.PARTS):
        known = [power for power in powers if power is not None]
        watts = figures.mean(known) if len(known) == len(powers) else None
        composites.append(_composite("spc2", None, figures.mean(rates), watts))
    return composites


def _composite(name: str, streams: int | None, rate: Fraction, watts: Fraction | None) -> Composite:
    return Composite(
        name=name,
        streams=streams,
        mb_s=figure(rate, figures.DECIMALS),
        watts=figure(watts, figures.DECIMALS) if watts is not None else None,
        mb_s_per_watt=figure(rate / watts, figures.DECIMALS) if watts is not None else None,
    )


def build(
    parameters: Parameters,
    done: Sequence[Run],
    targets: Sequence[TargetFacts],
    environment: Environment | None,
    price: Fraction | None = None,
    remarks: Sequence[str] = (),
) -> Report:
    """The report from the runs so far."""
    composites = composites_of(parameters, done)
    whole = next((composite for composite in composites if composite.name == "spc2"), None)
    vod = vod_position(parameters, done) if "vod" in parameters.parts else None
    left = plan.next_step(parameters, done) is not None
    stopped = vod.stopped if vod is not None else ""
    failed = _failed(parameters, done)
    complete = whole is not None and not left
    served = vod is not None and vod.run is not None and vod.run.fine
    per_mbps = None
    if price is not None and whole is not None and whole.mb_s.fraction:
        per_mbps = figures.price_performance(price, whole.mb_s.fraction)
    return Report(
        notice=NOTICE,
        passed=not left and not stopped and not failed,
        complete=complete,
        verdict=_verdict(parameters, left, stopped, failed),
        mbps=whole.mb_s if whole is not None else None,
        composites=composites,
        vod_streams=vod.level if vod is not None and served else None,
        price=decimal_text(price) if price is not None else None,
        price_per_mbps=figure(per_mbps, figures.DECIMALS) if per_mbps is not None else None,
        parameters=parameters,
        runs=list(done),
        targets=list(targets),
        environment=environment,
        remarks=[*_remarks(parameters, done), *remarks],
    )


def _failed(parameters: Parameters, done: Sequence[Run]) -> str:
    """The first run that counts and missed something, as a sentence."""
    counted = [run for run in done if run.step.kind == "run" and run.step.part != "vod"]
    if "vod" in parameters.parts:
        counted += runs_of(parameters, done, "vod") + runs_of(parameters, done, "vod", 2)
    for run in counted:
        if not run.ok:
            return f"{run.step.name}: {run.text}"
        if run.beyond:
            return f"{run.step.name}: {run.beyond}"
    return ""


def _verdict(parameters: Parameters, left: bool, stopped: str, failed: str) -> str:
    if stopped:
        return f"failed: video on demand: {stopped}"
    if failed:
        return f"failed: {failed}"
    if left:
        return "not complete: runs are missing"
    missing = [part for part in plan.PARTS if part not in parameters.parts]
    if missing:
        were = "was" if len(missing) == 1 else "were"
        return f"passed, but incomplete: {' and '.join(missing)} {were} left out"
    return "passed: all runs were measured, and no stream underran"


def _remarks(parameters: Parameters, done: Sequence[Run]) -> list[str]:
    remarks = [
        f"{NOTICE}: sizes, streams, durations and limits are parameters of this test, not quoted"
        " from a standard",
        "one worker on one CPU issues the I/Os of all streams"
        if parameters.fleet is None
        else f"each of {parameters.clients} hosts has an equal part of the streams",
    ]
    if any(run.step.streams // parameters.clients > GROUPS for run in done):
        remarks.append(
            f"more than {GROUPS} streams share {GROUPS} arrival processes: the depth or"
            " pace of a stream holds on average only"
        )
    if "lfp" not in parameters.parts:
        remarks.append(
            "nothing was written: the device may answer reads of blocks that were never written"
            " without accessing its medium"
        )
    if "vod" in parameters.parts:
        position = vod_position(parameters, done)
        if position.lowered:
            remarks.append(
                "the long run of video on demand missed the limit: the stream count"
                f" was lowered {position.lowered} times, to {position.level}"
            )
        if parameters.vod_streams is not None:
            remarks.append(
                f"--vod-streams {parameters.vod_streams} sets the rate of video on demand, which"
                " any device that serves them in time has alike"
            )
        # Each client searches for the same number of streams.
        most = plan.dealt(parameters.vod_most, parameters.clients)
        if parameters.vod_streams is None and position.level == most:
            remarks.append(
                f"the device sustains the {most} streams of --vod-most {parameters.vod_most}; its"
                " maximum is higher"
            )
    return remarks
