# SPDX-License-Identifier: GPL-2.0-or-later
"""The result of a fleet's run, of what its hosts have sent."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import msgspec

from spekctl import files
from spekctl.documents.hosts import ClockLook, HostClock, HostFacts, HostLoss, Role
from spekctl.documents.prober import ProberReport
from spekctl.documents.result import NOTHING, Result
from spekctl.documents.result_parts import Interval, ProberResult
from spekctl.errors import ExitCode, SpekError
from spekctl.fleet import expected, merge
from spekctl.fleet.clock import Bound
from spekctl.fleet.clocks import Skew
from spekctl.fleet.outcome import Outcome, Part
from spekctl.fleet.plan import Plan
from spekctl.fleet.wire import Watched
from spekctl.workload import meaning
from spekctl.workload.config import RunConfig

SECOND = 10**9

T = TypeVar("T")


def of(outcome: Outcome, plan: Plan) -> Result | None:
    """The result of all hosts, those without one of their own included. If no client has one, it
    has the report intervals that have come; None if there are none.
    SpekError, with the exit code of the run and what else has gone wrong, if they cannot be added
    up: what the hosts have sent is in documents() then, which its caller has to keep."""
    try:
        return _sum(outcome, plan)
    except SpekError as error:
        _end(error, outcome)
        raise
    except Exception as error:
        # Hours of measuring must not be lost to a fault of this program either.
        text = f"the hosts' results cannot be added up: {type(error).__name__}: {error}"
        failure = SpekError(text)
        _end(failure, outcome)
        raise failure from error


def _end(error: SpekError, outcome: Outcome) -> None:
    """The end of a run whose results cannot be added up, by its code and sentence."""
    is_complete = outcome.code in (ExitCode.OK, ExitCode.LIMIT_MISSED)
    error.exit_code = ExitCode.RUN_FAILED if is_complete else outcome.code
    if outcome.code is not ExitCode.OK and outcome.text:
        error.say(f"{outcome.text}; {error.message}")


def _sum(outcome: Outcome, plan: Plan) -> Result | None:
    total = merge.Sum()
    first: Result | None = None
    without: list[Part] = []
    for part in outcome.parts:
        result = _decoded(part, Result) if part.host.role == "client" else None
        if result is None:
            without.append(part)
            continue
        result = _as_planned(result, plan)
        facts = facts_of(part, outcome)
        if first is None:
            first = result
            # A fleet's remarks are those of its hosts.
            facts = msgspec.structs.replace(facts, remarks=outcome.remarks)
        total.add(result, facts)
    if first is not None:
        workload, config = first.workload, first.config
    else:
        expected_config = _expected(outcome, plan)
        if expected_config is None:
            return None
        workload, config = plan.workload, expected_config
    for part in without:
        facts = facts_of(part, outcome)
        if first is None and part is without[0]:
            facts = msgspec.structs.replace(facts, remarks=outcome.remarks)
        total.add_fleet(
            merge.without_run(
                facts,
                workload,
                config,
                started=_started(part),
                measured=_has_told_start(part),
                rows=_rows(part),
                prober=_prober(part),
            )
        )
    return total.whole()


def _expected(outcome: Outcome, plan: Plan) -> RunConfig | None:
    """The run of a client that was lost, of which there are report intervals; None without any, and
    for a trace, which only the hosts have read."""
    clients = [part for part in outcome.parts if part.host.role == "client"]
    seen = {part.name: part.described.devices for part in clients if part.described is not None}
    if meaning.replays(plan.workload):
        return None
    for part in clients:
        if part.name in seen and _rows(part):
            return expected.request_of(plan, part.host, seen).config
    return None


def _as_planned(result: Result, plan: Plan) -> Result:
    """A host's result with the devices of asus as the plan names them: what hosts call one disk may
    differ, and they have run one workload."""
    planned = {asu.name: asu.device for asu in plan.workload.asu}
    asus = [
        msgspec.structs.replace(asu, device=planned.get(asu.name, asu.device))
        for asu in result.workload.asu
    ]
    workload = msgspec.structs.replace(result.workload, asu=asus)
    return msgspec.structs.replace(result, workload=workload)


def end_of(outcome: Outcome, result: Result | None) -> tuple[ExitCode, str]:
    """Exit code and sentence of a run, of which @result has the figures: one that came to its end
    without any I/O has failed, unless it missed a limit, as on one host. A clock that has left
    max_skew is no such limit."""
    is_empty = result is not None and not result.totals.all.ios and not result.limit_missed
    if is_empty and outcome.code in (ExitCode.OK, ExitCode.LIMIT_MISSED):
        return ExitCode.RUN_FAILED, f"{outcome.text}; {NOTHING}"
    return outcome.code, outcome.text


def facts_of(part: Part, outcome: Outcome) -> HostFacts:
    """What the controller knows of a host."""
    facts = part.collected.facts if part.collected is not None else None
    bound = None
    if facts is not None:
        # The worse of both; a clock that has lost its source promises nothing.
        bound = max(
            (facts.clock_before, facts.clock_after),
            key=lambda each: (each.bound_ns is None, each.bound_ns or 0),
        )
    elif part.described is not None:
        bound = part.described.clock
    before = facts.clock_before if facts is not None else bound
    loss = part.loss
    return HostFacts(
        name=part.name,
        role=Role(part.host.role),
        planned_ns=outcome.start_real_ns or None,
        clock=HostClock(
            bound_ns=bound.bound_ns if bound is not None else None,
            source=bound.source if bound is not None else "none",
            stepped_ns=facts.stepped_ns if facts is not None else 0,
            before=_look(before, part.skew_before),
            after=_look(facts.clock_after if facts is not None else None, part.skew_after),
            strayed=outcome.strayed.get(part.name, ""),
        ),
        loss=HostLoss(outcome.start_real_ns + round(loss.at_s * SECOND), loss.reason)
        if loss is not None
        else None,
    )


def _look(bound: Bound | None, skew: Skew | None) -> ClockLook | None:
    """A clock at one time; None if nothing is known of it."""
    if bound is None:
        return None
    off = (skew.ns, skew.bound_ns) if skew is not None else (None, None)
    return ClockLook(bound.bound_ns, bound.source, *off)


def reports(outcome: Outcome) -> dict[str, ProberReport]:
    """The samples of each target, by its name."""
    told = {
        part.name: _decoded(part, Watched) for part in outcome.parts if part.host.role == "target"
    }
    return {name: watched.report for name, watched in told.items() if watched is not None}


@dataclass(frozen=True, slots=True)
class Kept:
    """Files of several hosts. @failures: of those that could not be written; each says where its
    contents are instead."""

    paths: list[Path]
    failures: list[SpekError]


def write_reports(outcome: Outcome, output: Path | None) -> Kept:
    """The samples of each target, into a file of its own beside @output; none without it."""
    if output is None:
        return Kept([], [])
    return _write_each(
        {name: files.encode(report) for name, report in reports(outcome).items()}, output
    )


def documents(outcome: Outcome) -> dict[str, msgspec.Raw]:
    """What each host has sent, as it came, by its name; nothing of a host without a result."""
    return {
        part.name: part.collected.document
        for part in outcome.parts
        if part.collected is not None and bytes(part.collected.document) != b"null"
    }


def write_documents(outcome: Outcome, output: Path | None) -> Kept:
    """What each host has sent, as it came, into a file of its own beside @output; for results that
    could not be added up, so without @output into a folder of temporary files."""
    return _write_each(
        {name: bytes(data) for name, data in documents(outcome).items()},
        output or _temporary_folder() / "fleet.json",
    )


def _temporary_folder() -> Path:
    try:
        return Path(tempfile.mkdtemp(prefix="spek-fleet-"))
    except OSError:
        return Path()


def _write_each(contents: Mapping[str, bytes], output: Path) -> Kept:
    """A file for each host beside @output. One that cannot be written keeps none of the rest from
    being written."""
    kept = Kept([], [])
    for name, data in contents.items():
        path = output.with_suffix(f".{name}{output.suffix or '.json'}")
        try:
            files.deliver(data, path)
        except SpekError as error:
            kept.failures.append(error)
        else:
            kept.paths.append(path)
    return kept


def kept_text(error: SpekError, kept: Kept) -> str:
    """Why results could not be added up, and where the hosts' own are."""
    listed = ", ".join(map(str, kept.paths))
    parts = [error.message]
    if listed:
        parts.append(f"the hosts' own results: {listed}")
    return "; ".join([*parts, *(failure.message for failure in kept.failures)])


def _has_told_start(part: Part) -> bool:
    facts = part.collected.facts if part.collected is not None else None
    return facts is not None and bool(facts.started_mono_ns)


def _started(part: Part) -> tuple[int, int] | None:
    """CLOCK_REALTIME and CLOCK_MONOTONIC of the start of a host without a result."""
    facts = part.collected.facts if part.collected is not None else None
    if facts is not None and facts.started_mono_ns:
        return facts.started_mono_ns + facts.armed.offset_ns, facts.started_mono_ns
    if len(part.rows) and part.armed is not None:
        # It has told of intervals, so its kernel has started at the time that it was given.
        start_ns = part.armed.start_mono_ns
        return start_ns + part.armed.distance.offset_ns, start_ns
    return None


def _rows(part: Part) -> list[Interval]:
    """Intervals of a host without a result, as far as they came."""
    if _started(part) is None:
        return []
    return [Interval(**msgspec.structs.asdict(row)) for row in part.rows]


def _prober(part: Part) -> ProberResult | None:
    watched = _decoded(part, Watched) if part.host.role == "target" else None
    return watched.prober if watched is not None else None


def _decoded(part: Part, kind: type[T]) -> T | None:
    """The document that a host has sent; None if there is none."""
    if part.collected is None or bytes(part.collected.document) == b"null":
        return None
    try:
        return files.decode(bytes(part.collected.document), kind)
    except msgspec.DecodeError as error:
        raise SpekError(f"{part.name} has sent a damaged result: {error}") from error
