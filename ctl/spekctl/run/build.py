# SPDX-License-Identifier: GPL-2.0-or-later
"""Builds a result from the kernel's answers and the state of the machine."""

from __future__ import annotations

import errno as errno_names
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from spekctl import __version__
from spekctl.block import zones
from spekctl.block.zones import Reporter, report
from spekctl.documents.device import DiskCounters, TargetFacts
from spekctl.documents.histogram import merge
from spekctl.documents.power import NO_PROBER, Metered, figures
from spekctl.documents.result import Plan, Result
from spekctl.documents.result_parts import (
    Cell,
    Clocks,
    EndingResult,
    Environment,
    InFlight,
    Interval,
    Outcome,
    PhaseResult,
    PowerResult,
    Sense,
    SenseCount,
    TargetResult,
    Total,
    Totals,
    WorkerResult,
)
from spekctl.documents.times import Times, distribution
from spekctl.documents.verification import VerifyResult
from spekctl.kernel import sense
from spekctl.kernel.records import (
    Direction,
    IntervalRow,
    Metric,
    Phase,
    Reason,
    RunInfo,
    RunState,
    SenseInfo,
    StatsCell,
    TargetInfo,
    is_covered,
)
from spekctl.run import disk_times, remarks
from spekctl.run.collector import Sections
from spekctl.units import format_cpu_list
from spekctl.vm.clock import counts_instructions
from spekctl.workload.config import RunConfig


def build(
    plan: Plan,
    info: RunInfo,
    cells: Sequence[StatsCell],
    rows: Sequence[IntervalRow],
    disk_after: Sequence[DiskCounters | None],
    sections: Sections | None = None,
    report_zones: Reporter = report,
) -> Result:
    """A result from the kernel's answers and what collectors have seen. @report_zones: of the disks
    of the run, to say what the zone of a failed I/O has to do with it."""
    sections = sections or Sections()
    metered = sections.metered or Metered(text=NO_PROBER)
    measured = [cell for cell in cells if cell.phase is Phase.MEASURE]
    seconds = _measure_ns(info) / 1e9
    total = _total(measured, seconds)
    reads = [cell for cell in measured if cell.direction is Direction.READ]
    writes = [cell for cell in measured if cell.direction is Direction.WRITE]
    result = Result(
        run=info.id,
        command=plan.command,
        outcome=_outcome(plan, info, cells, rows, report_zones, sections.verify, sections.ending),
        totals=Totals(
            read=_total(reads, seconds),
            write=_total(writes, seconds),
            all=total,
        ),
        workload=plan.workload,
        config=plan.config,
        environment=environment(info.module_version),
        start=Clocks(info.started_ns, info.start_raw_ns, info.start_real_ns),
        end=Clocks(info.ended_ns, info.end_raw_ns, info.end_real_ns),
        targets=_targets(plan, info, cells, disk_after),
        workers=[
            WorkerResult(
                worker.cpu, worker.pid, worker.cpu_ns, worker.voluntary, worker.involuntary
            )
            for worker in info.workers
        ],
        phases=_phases(info, cells),
        cells=[_cell(cell, plan.config) for cell in cells],
        intervals=[_interval(row, metered) for row in sorted(rows, key=_by_time)],
        intervals_dropped=rows[-1].seq + 1 - len(rows) if rows else 0,
        prober=sections.prober,
        remarks=[*plan.remarks, *sections.remarks],
        log=sections.log,
        verify=sections.verify,
        replay=sections.replay,
        ending=sections.ending,
        power=_power(metered.result, total),
        power_text=metered.text,
        slices=sections.slices,
        power_states=sections.power_states,
        nvme=sections.nvme,
    )
    return msgspec.structs.replace(result, remarks=[*result.remarks, *remarks.judge(result)])


def _power(power: PowerResult | None, total: Total) -> PowerResult | None:
    """Power, related to the load of the measure phase."""
    if power is None:
        return None
    measure = figures(power.measure, power.baseline_w, total.iops, total.bytes_per_s)
    return msgspec.structs.replace(power, measure=measure)


def _measure_ns(info: RunInfo) -> int:
    if not info.measure_ns:
        return 0
    end = info.drain_ns or info.ended_ns or info.now_ns
    return max(0, end - info.measure_ns)


def _offered(plan: Plan, info: RunInfo) -> float | None:
    """The rate of arrivals while the run was measured, which may have ended early."""
    if not _measure_ns(info):
        return plan.config.offered_rate
    start_ns = info.measure_ns - info.started_ns
    return plan.config.offered_between(start_ns, start_ns + _measure_ns(info))


_REASON_TEXT: dict[Reason, str] = {
    Reason.NONE: "the run has not ended",
    Reason.COMPLETED: "the run completed",
    Reason.STOPPED: "the run was stopped early",
    Reason.OWNER_GONE: "the controller of the run exited",
    Reason.DEVICE_GONE: "a device was removed during the run",
    Reason.ERRORS: "the run ended after too many I/O errors",
    Reason.SUSPENDED: "the run ended because the system was suspending",
    Reason.SHUTDOWN: "the run ended because the system was going down",
    Reason.CPU_OFFLINE: "the run ended because the CPU of a worker was taken offline",
    Reason.FEEDER_GONE: "the feeder of the trace exited before the end of the trace",
    Reason.LIMITS: "a device's limits shrank during the run, and memory to adapt was not available",
}

_REACHED = (Reason.COMPLETED, Reason.STOPPED)


def _arrival_ends(plan: Plan, info: RunInfo) -> dict[str, int | None]:
    """When arrival processes with counts ended, since the start of the measure phase."""
    # A run that failed to begin reports none.
    return {
        arrival.name: end.at_ns - info.measure_ns if end.at_ns else None
        for arrival, end in zip(plan.config.arrivals, info.arrival_ends, strict=False)
        if arrival.count
    }


def _outcome(
    plan: Plan,
    info: RunInfo,
    cells: Iterable[StatsCell],
    rows: Iterable[IntervalRow],
    report_zones: Reporter,
    verified: VerifyResult | None = None,
    ending: EndingResult | None = None,
) -> Outcome:
    causes: dict[str, int] = {}
    for cell in cells:
        for errno, count in cell.errors_by_errno.items():
            name = cause(errno)
            causes[name] = causes.get(name, 0) + count
    failure = zones.explained(info.first_error, plan.targets, report_zones)
    done = info.state is RunState.DONE
    # A run that ended by itself while it was being stopped has reached its end as well.
    ended = ending is not None and ending.ended and info.reason in _REACHED
    text = _REASON_TEXT[info.reason]
    if ending is not None and ending.text:
        # A threshold that was true of the last interval did not end it.
        alone = ended and not (ending.stopped_by and info.reason is Reason.COMPLETED)
        text = ending.text if alone else f"{text}; {ending.text}"
    if info.errors:
        text += f"; {info.errors} I/Os failed, the first: {sense.first_error(info, failure)}"
    if info.outstanding:
        text += (
            f"; {info.outstanding} I/Os were still outstanding, the oldest for"
            f" {info.oldest_ns / 1e9:.1f} s"
        )
    if verified is not None:
        text += f"; {verified.text}"
    sound = verified is None or (
        verified.complete and not verified.mismatches and not verified.state_trouble
    )
    return Outcome(
        state=info.state,
        reason=info.reason,
        text=text,
        ok=done
        and (info.reason is Reason.COMPLETED or ended)
        and not (ending is not None and ending.stopped_by)
        and not info.errors
        and sound,
        errors=info.errors,
        first_error=failure,
        errors_by_cause=causes,
        first_sense=_sense(info.first_sense) if info.first_sense is not None else None,
        senses=[SenseCount(_sense(sense), sense.count) for sense in info.senses],
        sense_others=info.sense_others,
        arrival_ends_ns=_arrival_ends(plan, info),
        outstanding=info.outstanding,
        oldest_ns=info.oldest_ns,
        backlog=info.backlog,
        backlog_max=max((row.backlog for row in rows), default=info.backlog),
        offered_iops=_offered(plan, info),
    )


def _sense(said: SenseInfo) -> Sense:
    return Sense(
        key=said.key,
        asc=said.asc,
        ascq=said.ascq,
        deferred=bool(said.deferred),
        text=sense.sentence(said),
    )


def cause(errno: int) -> str:
    """errno as its name."""
    return errno_names.errorcode.get(abs(errno), str(errno))


def _times(cells: Sequence[StatsCell], with_buckets: bool) -> Times:
    merged = {
        metric: distribution(
            merge(cell.histograms[metric] for cell in cells if metric in cell.histograms),
            with_buckets,
        )
        for metric in Metric
    }
    return Times(merged[Metric.RESPONSE], merged[Metric.SERVICE], merged[Metric.SLIP])


def _in_flight(cells: Sequence[StatsCell], with_buckets: bool) -> InFlight:
    response, service = (
        distribution(
            merge(cell.histograms[age] for cell in cells if age in cell.histograms),
            with_buckets,
        )
        for age in (Metric.RESPONSE_AGE, Metric.SERVICE_AGE)
    )
    return InFlight(response.count if response is not None else 0, response, service)


def _total(cells: Sequence[StatsCell], seconds: float) -> Total:
    ios = sum(cell.ios for cell in cells)
    amount = sum(cell.bytes for cell in cells)
    return Total(
        ios=ios,
        bytes=amount,
        requests=sum(cell.requests for cell in cells),
        errors=sum(cell.errors for cell in cells),
        iops=ios / seconds if seconds else 0.0,
        bytes_per_s=amount / seconds if seconds else 0.0,
        mean_bytes=amount / ios if ios else 0.0,
        times=_times(cells, with_buckets=False),
        in_flight=_in_flight(cells, with_buckets=False),
    )


def _cell(cell: StatsCell, config: RunConfig) -> Cell:
    known = cell.stream < len(config.streams)
    return Cell(
        phase=cell.phase,
        stream=cell.stream,
        name=config.streams[cell.stream].name if known else str(cell.stream),
        direction=cell.direction,
        ios=cell.ios,
        bytes=cell.bytes,
        requests=cell.requests,
        errors=cell.errors,
        errors_by_cause={cause(errno): n for errno, n in cell.errors_by_errno.items()},
        times=_times([cell], with_buckets=True),
        in_flight=(_in_flight([cell], with_buckets=True) if cell.phase is Phase.MEASURE else None),
    )


def _phases(info: RunInfo, cells: Sequence[StatsCell]) -> list[PhaseResult]:
    now = info.ended_ns or info.now_ns
    bounds = {
        Phase.RAMP: (info.started_ns, info.measure_ns or now),
        Phase.MEASURE: (info.measure_ns, info.drain_ns or now),
        Phase.DRAIN: (info.drain_ns, now),
    }
    phases = []
    for phase, (start, end) in bounds.items():
        if not start:
            continue
        inside = [cell for cell in cells if cell.phase is phase]
        phases.append(
            PhaseResult(
                phase=phase,
                start_ns=start,
                end_ns=end,
                duration_ns=max(0, end - start),
                ios=sum(cell.ios for cell in inside),
                bytes=sum(cell.bytes for cell in inside),
                errors=sum(cell.errors for cell in inside),
                times=_times(inside, with_buckets=False) if phase is not Phase.RAMP else None,
            )
        )
    return phases


def _by_time(row: IntervalRow) -> tuple[int, int]:
    # Those that came too late for others are closed after later ones.
    return row.start_ns, row.end_ns


def _interval(row: IntervalRow, metered: Metered) -> Interval:
    power = metered.intervals.get(row.seq)
    if power is not None and metered.result is not None and is_covered(row):
        seconds = max(row.end_ns - row.start_ns, 1) / 1e9
        power = figures(
            power,
            metered.result.baseline_w,
            (row.read.ios + row.write.ios) / seconds,
            (row.read.bytes + row.write.bytes) / seconds,
        )
    return Interval(**msgspec.structs.asdict(row), power=power)


def _targets(
    plan: Plan, info: RunInfo, cells: Sequence[StatsCell], after: Sequence[DiskCounters | None]
) -> list[TargetResult]:
    disks = [
        _counted(facts.disk_before, after[index], info.targets[index].backend)
        for index, facts in enumerate(plan.targets)
    ]
    times_agree = disk_times.agree(plan.config, info, cells, disks)
    return [
        _target(facts, info, index, disks[index], times_agree)
        for index, facts in enumerate(plan.targets)
    ]


def _counted(
    before: DiskCounters | None, after: DiskCounters | None, backend: str
) -> DiskCounters | None:
    # Whether the kernel counts SCSI commands of others depends on the queue's setting.
    if before is None or after is None or backend == "scsi":
        return None
    return disk_times.counters(before, after)


def _target(
    facts: TargetFacts,
    info: RunInfo,
    index: int,
    disk: DiskCounters | None,
    times_agree: bool | None,
) -> TargetResult:
    target = info.targets[index]
    agrees: bool | None = None
    if disk is not None and info.state is RunState.DONE and not target.refused:
        agrees = _counts_agree(target, disk) and times_agree is not False
    return TargetResult(
        facts=facts,
        backend=target.backend,
        backend_reason=target.backend_reason,
        polled=bool(target.polled),
        max_io_bytes=target.max_io,
        reads=target.reads,
        read_bytes=target.read_bytes,
        writes=target.writes,
        write_bytes=target.write_bytes,
        refused=target.refused,
        disk=disk,
        disk_agrees=agrees,
        tag_waits=target.tag_waits,
        discards=target.discards,
        discard_bytes=target.discard_bytes,
        flushes=target.flushes,
        zone_appends=target.zone_appends,
        zone_resets=target.zone_resets,
        zone_finishes=target.zone_finishes,
        zone_opens=target.zone_opens,
        zone_closes=target.zone_closes,
        zone_misplaced=target.zone_misplaced,
    )


def _counts_agree(target: TargetInfo, disk: DiskCounters) -> bool:
    """Whether the disk counted what was sent to it.

    The kernel counts a flush of a device with a write cache as a write of no sectors, too, and may
    send one flush for several; a discard that it splits is several.
    """
    return (
        (disk.reads, disk.read_sectors) == (target.reads, target.read_bytes // 512)
        and disk.write_sectors == target.write_bytes // 512
        and target.writes <= disk.writes <= target.writes + target.flushes
        and disk.discard_sectors in (None, target.discard_bytes // 512)
    )


def environment(module_version: str, root: Path = Path("/")) -> Environment:
    """The machine, from uname, /proc and /sys."""
    uname = os.uname()
    governors: dict[str, list[int]] = {}
    cpus = root / "sys/devices/system/cpu"
    for path in sorted(cpus.glob("cpu[0-9]*/cpufreq/scaling_governor")):
        number = path.parent.parent.name[3:]
        governors.setdefault(_line(path), []).append(int(number))
    model = ""
    for line in _line(root / "proc/cpuinfo", whole=True).splitlines():
        if line.startswith("model name"):
            model = line.partition(":")[2].strip()
            break
    taint = _line(root / "proc/sys/kernel/tainted")
    command_line = _line(root / "proc/cmdline")
    return Environment(
        hostname=uname.nodename,
        kernel=uname.release,
        kernel_version=uname.version,
        machine=uname.machine,
        kernel_command_line=command_line,
        boot_id=_line(root / "proc/sys/kernel/random/boot_id"),
        taint=int(taint) if taint.isdigit() else 0,
        module_version=module_version,
        spekctl_version=__version__,
        clocksource=_line(root / "sys/devices/system/clocksource/clocksource0/current_clocksource"),
        cpu_model=model,
        cpus_online=_line(cpus / "online"),
        governors={name: format_cpu_list(cpus) for name, cpus in governors.items()},
        counts_instructions=counts_instructions(command_line),
    )


def swap_bytes(root: Path = Path("/")) -> int | None:
    """Size of all swap; the kernel does not tell it to modules."""
    for line in _line(root / "proc/meminfo", whole=True).splitlines():
        name, _, value = line.partition(":")
        if name == "SwapTotal":
            return int(value.split()[0]) << 10
    return None


def _line(path: Path, whole: bool = False) -> str:
    try:
        text = path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""
    return text if whole else text.split("\n", 1)[0]
