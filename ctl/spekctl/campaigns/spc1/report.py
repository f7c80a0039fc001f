# SPDX-License-Identifier: GPL-2.0-or-later
"""The report of the method, from its phases alone: metrics, checks, verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from spekctl import units
from spekctl.campaigns.spc1.checks import checks_of, errors_of, shares_of
from spekctl.campaigns.spc1.plan import PLAN, Position, final_by_name, position_of
from spekctl.documents import document
from spekctl.documents.curve import Curve
from spekctl.documents.device import TargetFacts, of_hosts
from spekctl.documents.result_parts import Environment
from spekctl.documents.spc1 import (
    NOTICE,
    WORKLOAD,
    Capacity,
    Check,
    Parameters,
    Persistence,
    Phase,
    Report,
)


def build(
    parameters: Parameters,
    done: Sequence[Phase],
    targets: Sequence[TargetFacts],
    environment: Environment | None,
    keep_going: bool = False,
    persistence: Persistence | None = None,
    remarks: Sequence[str] = (),
) -> Report:
    """The report from the phases so far, of which there is at least one. @remarks: of the test,
    beside those that follow from the phases."""
    position = position_of(parameters, done, keep_going)
    final = final_by_name(position)
    devices = targets if parameters.fleet is None else of_hosts(targets)
    devices_bytes = sum(target.bytes for target in devices)
    asus_bytes = sum(asu.bytes for asu in done[0].asus)
    capacity = Capacity(devices_bytes, asus_bytes, asus_bytes / devices_bytes)
    checks = checks_of(parameters.limits, final, capacity)
    checks += errors_of(phase for phase in done if phase not in position.final)
    if parameters.placed:
        checks += shares_of({asu.name: asu.bytes for asu in done[0].asus})
    measured = len(final) == len(PLAN)
    met = measured and all(check.passed for check in checks)
    durable = persistence.passed if persistence is not None else True
    iops, lightest = final.get("iops"), final.get("ramp-10")
    created = document.timestamp()
    lengths = parameters.durations
    return Report(
        notice=NOTICE,
        created=created,
        passed=met and bool(durable),
        complete=measured and durable is not None,
        verdict=_verdict(position, measured, checks, persistence),
        level_bsu=position.level,
        iops=iops.point.iops if iops else None,
        lrt_ns=lightest.point.response.mean if lightest and lightest.point.response else None,
        capacity=capacity,
        parameters=parameters,
        targets=list(targets),
        environment=environment,
        curve=_curve(parameters, _response_time_curve(final), lengths.phase_ns, measured, created),
        search=_curve(
            parameters,
            [phase for phase in done if phase.step.kind == "search"],
            lengths.search_ns,
            position.sustained is not None,
            created,
        ),
        checks=checks,
        phases=list(done),
        remarks=[*_remarks(parameters, position, persistence), *remarks],
        persistence=persistence,
    )


def _response_time_curve(final: Mapping[str, Phase]) -> list[Phase]:
    return [phase for phase in final.values() if phase.step.kind in ("iops", "ramp")]


def _curve(
    parameters: Parameters, phases: Sequence[Phase], time_ns: int, complete: bool, created: str
) -> Curve:
    """Phases by load; devices and machine are those of the report."""
    return Curve(
        created=created,
        workload=WORKLOAD,
        seed=parameters.shape.seed,
        cpus=parameters.shape.cpus,
        ramp_ns=parameters.durations.ramp_ns,
        time_ns=time_ns,
        targets=[],
        environment=None,
        complete=complete,
        points=sorted((phase.point for phase in phases), key=lambda point: point.load.value),
        remarks=[NOTICE],
    )


def _verdict(
    position: Position, measured: bool, checks: Sequence[Check], persistence: Persistence | None
) -> str:
    failed = [check for check in checks if not check.passed]
    if position.stopped:
        return f"failed: {position.stopped}"
    if not measured:
        return "not complete: phases are missing"
    if not failed and persistence is not None and not persistence.passed:
        how = "failed" if persistence.passed is False else "not complete"
        return f"{how}: {_persistence_text(persistence)}"
    if not failed:
        return "passed: all limits are met"
    more = f", and {len(failed) - 1} more" if len(failed) > 1 else ""
    return f"failed: {failed[0].text}{more}"


def _persistence_text(persistence: Persistence) -> str:
    word = {None: "not finished", True: "passed", False: "failed"}[persistence.passed]
    return (
        f"data persistence: {word}: {persistence.text}"
        f" ({persistence.bsu} BSU for {units.format_duration(persistence.time_ns)},"
        f" {persistence.writes:,} writes)"
    )


def _remarks(
    parameters: Parameters, position: Position, persistence: Persistence | None
) -> list[str]:
    remarks = [
        f"{NOTICE}: limits and durations are parameters of this test, not quoted from a standard",
        "the load pauses between phases while the next run is set up",
        _persistence_text(persistence)
        if persistence is not None
        else "data persistence was not tested",
    ]
    if parameters.placed:
        remarks.append(
            f"{parameters.placed}; an asu's size is a share of the capacity of its own devices, so"
            " more of that may be unused than where all asus are striped"
        )
    if position.lowered:
        remarks.append(
            f"the search found {position.sustained} BSU; the limit was missed at that level, so it"
            f" was lowered {_times(position.lowered)}, by"
            f" {parameters.limits.lower_percent:g} % each, to {position.level} BSU"
        )
    if position.sustained == parameters.max_bsu:
        remarks.append(
            f"the device sustains --max-bsu {parameters.max_bsu} within the limit; its level is"
            " higher"
        )
    grain = parameters.durations.resolution_percent
    if position.sustained is not None and position.bracket.bad is not None and grain:
        remarks.append(
            f"precision of the search {grain:g} %: the device sustained {position.sustained} BSU,"
            f" not {position.bracket.bad} BSU"
        )
    return remarks


def _times(count: int) -> str:
    return {1: "once", 2: "twice"}.get(count, f"{count} times")
