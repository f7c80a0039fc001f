# SPDX-License-Identifier: GPL-2.0-or-later
"""The result of a fleet from its hosts: every field is a function of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec

from spekctl import units
from spekctl.documents import power as powers
from spekctl.documents.host_results import HostResult, HostRun
from spekctl.documents.hosts import Role
from spekctl.documents.per_host import clients
from spekctl.documents.result import Result
from spekctl.documents.result_parts import (
    Clocks,
    Environment,
    IntervalPower,
    LogResult,
    Outcome,
    PowerResult,
    Sense,
    SenseCount,
    Totals,
)
from spekctl.fleet import cells, replays, rows, streams, window
from spekctl.kernel.records import Phase, Reason, RunState
from spekctl.workload.config import RunConfig
from spekctl.workload.model import WorkloadFile

# Names of hosts in a sentence.
_NAMES_MOST = 5


def of(hosts: Sequence[HostResult], like: Result) -> Result:
    """The result of @hosts, which are sorted, with what @like says beside them."""
    result = of_parts(hosts, like.workload, like.config)
    return msgspec.structs.replace(result, created=like.created, command=like.command)


def of_parts(hosts: Sequence[HostResult], workload: WorkloadFile, config: RunConfig) -> Result:
    """The same. @config: for hosts of which none has a run."""
    known = [(host, host.run) for host in hosts if host.run is not None]
    runs = [run for _, run in known]
    offsets = [(run, host.start.offset_ns) for host, run in known]
    aligned = streams.aligned(hosts)
    comparable = [host.run for host in aligned if host.run is not None]
    config = comparable[0].config if comparable else config
    names = [stream.name for stream in config.streams]
    summed = cells.summed(comparable)
    phases = cells.phases(offsets, summed)
    measured = next((part for part in phases if part.phase is Phase.MEASURE), None)
    totals = cells.totals(summed, measured.duration_ns if measured is not None else 0)
    placed = window.placed(clients(aligned), config.interval_ns)
    power = _power(
        [(host.name, run) for host, run in known if host.role is Role.CLIENT],
        totals,
        measured.duration_ns if measured is not None else 0,
    )
    baseline_w = power.baseline_w if power is not None else 0.0
    intervals = rows.summed(placed, len(names), baseline_w)
    start_ns = _start_ns(hosts)
    return Result(
        run=runs[0].run if len(hosts) == 1 and runs else 0,
        outcome=_outcome(
            hosts,
            [row.backlog for row in intervals],
            start_ns,
            measured.start_ns if measured is not None else 0,
        ),
        totals=totals,
        workload=workload,
        config=config,
        environment=_environment(runs),
        start=Clocks(start_ns, start_ns, start_ns),
        end=_end(offsets),
        targets=[
            msgspec.structs.replace(target, host=host.name)
            for host, run in known
            for target in run.targets
        ],
        workers=[
            msgspec.structs.replace(worker, host=host.name)
            for host, run in known
            for worker in run.workers
        ],
        phases=phases,
        cells=summed,
        intervals=intervals,
        intervals_dropped=sum(run.intervals_dropped for run in runs),
        prober=None,
        remarks=[
            *_remarks(hosts, start_ns),
            *dict.fromkeys(remark for host in hosts for remark in host.fleet_remarks),
            *_missing_records(hosts),
        ],
        power=power,
        power_text=_power_text(known, len(hosts)),
        replay=replays.summed(
            [run.replay for run in runs if run.replay is not None], len(clients(hosts))
        ),
        hosts=list(hosts),
        common=window.common(placed, names, totals.all.ios),
    )


def _start_ns(hosts: Iterable[HostResult]) -> int:
    """The common start: as planned, or else the earliest."""
    planned = [host.start.planned_ns for host in hosts if host.start.planned_ns is not None]
    actual = [host.start.actual_ns for host in hosts if host.start.actual_ns is not None]
    return min(planned or actual, default=0)


def _end(runs: Iterable[tuple[HostRun, int]]) -> Clocks:
    """The latest; 0 if a run has not ended."""
    ends = [
        run.end.monotonic_ns + offset_ns if run.end.monotonic_ns else 0 for run, offset_ns in runs
    ]
    end_ns = max(ends) if ends and all(ends) else 0
    return Clocks(end_ns, end_ns, end_ns)


# --- sentences -----------------------------------------------------------------------------------


def _grouped(said: Iterable[tuple[str, str]], hosts: int) -> str:
    """Sentences of hosts as one, those that are equal once."""
    return "; ".join(_lines(said, hosts))


def _lines(said: Iterable[tuple[str, str]], hosts: int) -> list[str]:
    by_text: dict[str, list[str]] = {}
    for name, text in said:
        if text:
            by_text.setdefault(text, []).append(name)
    return [f"{_who(names, hosts)}{text}" for text, names in by_text.items()]


def _who(names: Sequence[str], hosts: int) -> str:
    if len(names) == hosts:
        return "" if hosts == 1 else f"all {hosts} hosts: "
    more = len(names) - _NAMES_MOST
    listed = ", ".join(names[:_NAMES_MOST])
    return f"{listed} and {more} more: " if more > 0 else f"{listed}: "


def _remarks(hosts: Sequence[HostResult], start_ns: int) -> list[str]:
    said = [
        (host.name, remark) for host in hosts if host.run is not None for remark in host.run.remarks
    ]
    said += [
        (host.name, f"the clock was set by {units.format_ns(abs(host.clock.stepped_ns))} meanwhile")
        for host in hosts
        if host.clock.stepped_ns
    ]
    said += [
        (host.name, _log_text(host.run.log, host, start_ns))
        for host in hosts
        if host.run is not None and host.run.log is not None and not host.run.log.complete
    ]
    return _lines(said, len(hosts))


def _missing_records(hosts: Sequence[HostResult]) -> list[str]:
    """What became of a trace whose parts are not all here."""
    parts = [run.replay for host in hosts if (run := host.run) is not None and run.replay]
    count = replays.missing(parts, len(clients(hosts)))
    if not count:
        return []
    are = "record of the trace is" if count == 1 else "records of the trace are"
    return [
        f"the replay is not complete: {count:,} {are} in the parts of hosts whose results are not"
        " here"
    ]


def _log_text(log: LogResult, host: HostResult, start_ns: int) -> str:
    """What became of a log that does not have all of its run, and when, by the common clock."""
    where = log.file or "no file"
    text = f"log: {log.records:,} records, {log.lost:,} lost, {where}: {log.text}"
    if not log.failed_ns or host.start.monotonic_ns is None:
        return text
    return f"{text}, at {(log.failed_ns + host.start.offset_ns - start_ns) / 1e9:.1f} s"


def _loss_text(host: HostResult, start_ns: int) -> str:
    assert host.loss is not None
    at_s = (host.loss.at_ns - start_ns) / 1e9
    when = f" at {at_s:.1f} s" if start_ns and at_s >= 0 else " before the start"
    return f"{host.name} lost{when} ({host.loss.text})"


# --- outcome -------------------------------------------------------------------------------------


def _outcome(
    hosts: Sequence[HostResult], backlogs: Sequence[int], start_ns: int, measure_ns: int
) -> Outcome:
    ends = [(host.name, host.run.outcome) for host in hosts if host.run is not None]
    outcomes = [outcome for _, outcome in ends]
    lost = [_loss_text(host, start_ns) for host in hosts if host.loss is not None]
    silent = [host.name for host in clients(hosts) if host.run is None and host.loss is None]
    wrong = [
        (host.name, host.run.outcome.text)
        for host in hosts
        if host.run is not None and host.run.verify is not None and host.run.verify.mismatches
    ]
    text = _lines(wrong, len(hosts))
    text += [f"incomplete: {', '.join(lost)}"] if lost else []
    if silent:
        text.append(f"{_who(silent, len(hosts)).rstrip(': ') or silent[0]} gave no result")
    rest = [(name, outcome.text) for name, outcome in ends]
    told = _grouped([each for each in rest if each not in wrong], len(hosts))
    text += [told] if told else []
    failed = [(name, outcome) for name, outcome in ends if outcome.first_error]
    first = failed[0] if failed else None
    sensed = [outcome.first_sense for outcome in outcomes if outcome.first_sense is not None]
    offered = [outcome.offered_iops for outcome in outcomes]
    rates = [rate for rate in offered if rate is not None]
    return Outcome(
        state=next(
            (outcome.state for outcome in outcomes if outcome.state is not RunState.DONE),
            RunState.DONE,
        ),
        reason=_reason(outcomes, bool(lost or silent)),
        text="; ".join(text),
        ok=bool(outcomes) and not lost and not silent and all(outcome.ok for outcome in outcomes),
        errors=sum(outcome.errors for outcome in outcomes),
        first_error=_on(first[0], first[1].first_error, len(hosts)) if first else "",
        errors_by_cause=cells.counts_by_name(outcome.errors_by_cause for outcome in outcomes),
        outstanding=sum(outcome.outstanding for outcome in outcomes),
        oldest_ns=max((outcome.oldest_ns for outcome in outcomes), default=0),
        backlog=sum(outcome.backlog for outcome in outcomes),
        backlog_max=max(backlogs, default=sum(outcome.backlog_max for outcome in outcomes)),
        offered_iops=sum(rates) if rates and len(rates) == len(offered) else None,
        first_sense=sensed[0] if sensed else None,
        senses=_senses(outcomes),
        sense_others=sum(outcome.sense_others for outcome in outcomes),
        arrival_ends_ns=_arrival_ends(hosts, measure_ns),
    )


def _arrival_ends(hosts: Sequence[HostResult], measure_ns: int) -> dict[str, int | None]:
    """When the last host had done the I/Os of a process, since the first began to measure: so a
    process has ended only where it has on all hosts. @measure_ns: by the common clock."""
    senders = [host for host in hosts if host.run is not None or host.role is Role.CLIENT]
    names = [name for host in senders if host.run for name in host.run.outcome.arrival_ends_ns]
    ends: dict[str, int | None] = {}
    for name in dict.fromkeys(names):
        known = [end_ns for host in senders if (end_ns := _end_of(host, name)) is not None]
        ends[name] = max(known) - measure_ns if len(known) == len(senders) else None
    return ends


def _end_of(host: HostResult, arrival: str) -> int | None:
    """When a host had done the I/Os of an arrival process, by the common clock."""
    if host.run is None:
        return None
    end_ns = host.run.outcome.arrival_ends_ns.get(arrival)
    begun = [part.start_ns for part in host.run.phases if part.phase is Phase.MEASURE]
    if end_ns is None or not begun:
        return None
    return begun[0] + host.start.offset_ns + end_ns


def _on(name: str, text: str, hosts: int) -> str:
    return text if hosts == 1 else f"{name}: {text}"


def _reason(outcomes: Sequence[Outcome], incomplete: bool) -> Reason:
    """That of the first host that did not complete; those that were stopped come last, as the
    failure of another host may have been why."""
    reasons = [outcome.reason for outcome in outcomes if outcome.reason is not Reason.COMPLETED]
    if reasons:
        return next((reason for reason in reasons if reason is not Reason.STOPPED), reasons[0])
    return Reason.COMPLETED if outcomes and not incomplete else Reason.NONE


def _senses(outcomes: Iterable[Outcome]) -> list[SenseCount]:
    counts: dict[bytes, tuple[Sense, int]] = {}
    for outcome in outcomes:
        for said in outcome.senses:
            key = msgspec.json.encode(said.sense)
            counts[key] = said.sense, counts.get(key, (said.sense, 0))[1] + said.count
    return [SenseCount(*counts[key]) for key in sorted(counts)]


# --- the machines --------------------------------------------------------------------------------


def _environment(runs: Sequence[HostRun]) -> Environment:
    """What is the same on all hosts, or else all that there is."""
    environments = [run.environment for run in runs]

    def either(of: Callable[[Environment], str]) -> str:
        return " / ".join(sorted({text for each in environments if (text := of(each))}))

    governors: Mapping[str, set[str]] = {
        name: {each.governors[name] for each in environments if name in each.governors}
        for name in sorted({name for each in environments for name in each.governors})
    }
    several = len(environments) > 1
    return Environment(
        hostname=f"{len(environments)} hosts"
        if several
        else either(lambda machine: machine.hostname),
        kernel=either(lambda machine: machine.kernel),
        kernel_version=either(lambda machine: machine.kernel_version),
        machine=either(lambda machine: machine.machine),
        kernel_command_line=either(lambda machine: machine.kernel_command_line),
        boot_id="" if several else either(lambda machine: machine.boot_id),
        taint=_union(each.taint for each in environments),
        module_version=either(lambda machine: machine.module_version),
        spekctl_version=either(lambda machine: machine.spekctl_version),
        clocksource=either(lambda machine: machine.clocksource),
        cpu_model=either(lambda machine: machine.cpu_model),
        cpus_online=either(lambda machine: machine.cpus_online),
        governors={name: " / ".join(sorted(cpus)) for name, cpus in governors.items()},
        counts_instructions=any(each.counts_instructions for each in environments),
    )


def _union(flags: Iterable[int]) -> int:
    union = 0
    for each in flags:
        union |= each
    return union


# --- power ---------------------------------------------------------------------------------------


def _power(
    runs: Sequence[tuple[str, HostRun]], totals: Totals, measured_ns: int
) -> PowerResult | None:
    """The energy of all clients; a rail is a host. Nothing is known of one that did not measure
    power, nor of the sum: the I/Os are those of all."""
    known = [(name, run.power) for name, run in runs if run.power is not None]
    if not known:
        return None
    rails = [
        msgspec.structs.replace(part.measure.total, name=name, feed=name)
        if (part := run.power) is not None
        else powers.unknown(name, measured_ns / 1e9)
        for name, run in runs
    ]
    # Of all rails of the hosts: their own sums are rounded.
    every = [
        rail
        for name, run in runs
        for rail in (
            powers.rails_of(run.power.measure)
            if run.power is not None
            else [powers.unknown(name, measured_ns / 1e9)]
        )
    ]
    baseline_w = math.fsum(part.baseline_w for _, part in known)
    whole = IntervalPower(rails=rails, total=powers.total_of(every))
    return PowerResult(
        feeds=[
            msgspec.structs.replace(feed, name=f"{name}/{feed.name}")
            for name, part in known
            for feed in part.feeds
        ],
        baseline_w=baseline_w,
        measure=powers.figures(whole, baseline_w, totals.all.iops, totals.all.bytes_per_s),
        uncertainty_ns=max(part.uncertainty_ns for _, part in known),
        shift_j=math.fsum(part.shift_j for _, part in known),
        uncertainty_j=math.fsum(part.uncertainty_j for _, part in known),
    )


def _power_text(known: Sequence[tuple[HostResult, HostRun]], hosts: int) -> str:
    """Why power is missing, host by host, and of which hosts where the others measured it."""
    texts = {run.power_text for _, run in known}
    said = _grouped([(host.name, run.power_text) for host, run in known], hosts)
    if len(texts) == 1 and len(known) == hosts:
        # True of the fleet as of each host.
        said = texts.pop()
    senders = [(host.name, run) for host, run in known if host.role is Role.CLIENT]
    without = [name for name, run in senders if run.power is None]
    if not without or len(without) == len(senders):
        return said
    of = _who(without, hosts).removesuffix(": ")
    text = f"the fleet's power is not known: not measured on {of}"
    return f"{text}; {said}" if said else text
