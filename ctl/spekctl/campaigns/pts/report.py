# SPDX-License-Identifier: GPL-2.0-or-later
"""PTS-like figures: a run from its result, and the report from all runs."""

from __future__ import annotations

from collections.abc import Sequence

from spekctl.campaigns import points
from spekctl.campaigns.pts import plan
from spekctl.campaigns.pts.plan import Position, Test
from spekctl.documents.device import TargetFacts
from spekctl.documents.power import power_of
from spekctl.documents.pts import (
    NOTICE,
    Cell,
    Measured,
    Parameters,
    Report,
    Round,
    Run,
    Sample,
    Step,
    metric_of,
)
from spekctl.documents.result import Result
from spekctl.documents.result_parts import Environment
from spekctl.kernel.records import is_covered
from spekctl.run.until import value_of
from spekctl.workload.endings import Metric


def run_of(step: Step, result: Result, result_file: str | None) -> Run:
    """The figures of a step from its run."""
    total = result.totals.all
    response = points.slowest_of(result)
    return Run(
        step=step,
        measured_ns=points.measured_ns(result),
        ios=total.ios,
        bytes=total.bytes,
        iops=total.iops,
        bytes_per_s=total.bytes_per_s,
        mean_ns=response.mean if response is not None else None,
        p99_ns=response.p99 if response is not None else None,
        max_ns=response.max if response is not None else None,
        errors=result.outcome.errors,
        ok=result.outcome.ok,
        text=result.outcome.text,
        power=power_of(result),
        result_file=result_file,
    )


def samples_of(result: Result) -> list[Sample]:
    """Write saturation, an interval each."""
    rows = points.measured_intervals(result)
    samples, written = [], 0
    for row in rows:
        written += row.write.bytes
        if not is_covered(row):
            continue
        longest = value_of(row, Metric("max"))
        samples.append(
            Sample(
                end_s=(row.end_ns - rows[0].start_ns) / 1e9,
                written_bytes=written,
                iops=value_of(row, Metric("iops")) or 0.0,
                mean_ns=value_of(row, Metric("latency")),
                max_ns=int(longest) if longest is not None else None,
            )
        )
    return samples


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _cell(percent: int, size: int, runs: Sequence[Run]) -> Cell:
    longest = [run.max_ns for run in runs if run.max_ns is not None]
    return Cell(
        bytes=size,
        read_percent=percent,
        iops=sum(run.iops for run in runs) / len(runs),
        bytes_per_s=sum(run.bytes_per_s for run in runs) / len(runs),
        mean_ns=_mean([run.mean_ns for run in runs]),
        p99_ns=_mean([run.p99_ns for run in runs]),
        max_ns=max(longest) if longest else None,
    )


def measured_of(parameters: Parameters, test: Test, done: Sequence[Run]) -> Measured:
    """A test with what was measured of it so far."""
    position = plan.position_of(parameters, test, done)
    percent, size = test.tracked
    before = {run.step.kind: run for run in done if run.step.test == test.name}
    rounds = {number: plan.of_round(done, test, number) for number in range(1, position.rounds + 1)}
    window = position.window
    inside = range(window.first, window.last + 1) if window is not None else range(0)
    conditioned = before.get("precondition")
    return Measured(
        name=test.name,
        part=test.part,
        metric=test.metric,
        tracked_bytes=size,
        tracked_read_percent=percent,
        purged="purge" in before,
        preconditioned_bytes=conditioned.bytes if conditioned is not None else 0,
        steady=position.steady if position.over else None,
        window=window,
        sizes=list(test.sizes),
        rounds=[
            Round(number, [metric_of(runs[percent, size], test.metric) for size in test.sizes])
            for number, runs in rounds.items()
        ],
        cells=[
            _cell(*place, [rounds[number][place] for number in inside])
            for place in ((step.read_percent, step.bytes) for step in plan.round_of(test, 1))
            if inside
        ],
        text=_text(parameters, position),
    )


def _text(parameters: Parameters, position: Position) -> str:
    rounds = f"{position.rounds} round{'' if position.rounds == 1 else 's'}"
    if position.steady:
        return f"steady state was reached after {rounds}"
    if position.over:
        return f"steady state was not reached in {rounds}, the most of this test"
    return f"not complete: {rounds} of at most {parameters.rounds}, and no steady state"


def build(
    parameters: Parameters,
    done: Sequence[Run],
    saturation: Sequence[Sample],
    targets: Sequence[TargetFacts],
    environment: Environment | None,
    remarks: Sequence[str] = (),
) -> Report:
    """The report from the runs so far."""
    begun = {run.step.test for run in done}
    tests = [
        measured_of(parameters, test, done)
        for test in plan.tests_of(parameters)
        if test.name in begun
    ]
    complete = plan.next_step(parameters, done) is None
    unsteady = [test.name for test in tests if test.steady is False]
    failed = next((run for run in done if run.failure), None)
    return Report(
        notice=NOTICE,
        passed=complete and not unsteady and failed is None,
        complete=complete,
        verdict=_verdict(complete, unsteady, failed),
        tests=tests,
        saturation=list(saturation),
        parameters=parameters,
        runs=list(done),
        targets=list(targets),
        environment=environment,
        remarks=[*_remarks(parameters), *remarks],
    )


def _verdict(complete: bool, unsteady: Sequence[str], failed: Run | None) -> str:
    if failed is not None:
        return f"failed: {failed.step.name}: {failed.failure}"
    if unsteady:
        return f"missed: {' and '.join(unsteady)} did not reach steady state"
    if not complete:
        return "not complete: steps are missing"
    return "passed: every test was done, and those with rounds reached steady state"


def _remarks(parameters: Parameters) -> list[str]:
    remarks = [
        f"{NOTICE}: tests, sizes, rounds and limits are parameters of this test, not quoted from a"
        " standard"
    ]
    if parameters.purge:
        remarks.append(
            "purge: all blocks were discarded before each test; what that does to its flash is up"
            " to the device"
        )
    else:
        remarks.append(
            "--no-purge: the device was not purged, so tests started from the state in which it was"
        )
    if parameters.precondition_percent != 200 and set(parameters.parts) - {"saturation"}:
        remarks.append(
            f"preconditioning wrote {parameters.precondition_percent} % of the capacity, not 200 %"
        )
    return remarks
