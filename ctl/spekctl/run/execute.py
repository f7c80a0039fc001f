# SPDX-License-Identifier: GPL-2.0-or-later
"""One run from claim to result.

Order matters: run-new claims the devices in the kernel; then the claimed devices are checked for
data; run-start comes last. Every failure on the way releases the devices.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from spekctl import recorded
from spekctl.block import device as devices
from spekctl.block import safety
from spekctl.documents.device import DiskCounters, TargetFacts
from spekctl.documents.result import EndingResult, Plan, ReplayResult, Result
from spekctl.documents.verification import VerifyResult
from spekctl.errors import CalledOffError, ExitCode, RefusedError, UsageError
from spekctl.kernel.client import Kernel
from spekctl.kernel.records import IntervalRow, Phase, RunInfo, RunState
from spekctl.log.file import Names
from spekctl.log.recorder import IoLog
from spekctl.run import detached, profiled
from spekctl.run.build import build
from spekctl.run.claim import claim
from spekctl.run.ending import POLL_S, abandon, release
from spekctl.run.job import Interrupts, Observer, Request
from spekctl.run.progress import Figures, Progress, clock_of, figures_of
from spekctl.run.slices import Slices
from spekctl.run.until import Watch

if TYPE_CHECKING:
    from spekctl.run.replay import Feeder, Replay

POLL_MIN_S = 0.25


def execute(
    kernel: Kernel,
    request: Request,
    progress: Progress,
    interrupts: Interrupts,
    observer: Observer | None = None,
) -> Result:
    """Run to the end, or until the user interrupts; return the result in either case."""
    log = _log_of(request)
    feeder: Feeder | None = None
    counted = profiled.wanted()
    run = claim(kernel, request.config, request.devices, interrupts)
    try:
        facts, remarks = prepare(kernel, run, request)
        for remark in remarks:
            progress.note(remark)
        if log is not None:
            log.start(kernel.run_get(run))
        if observer is not None:
            remark = observer.start([worker.pid for worker in kernel.run_get(run).workers])
            if remark:
                progress.note(remark)
                remarks.append(remark)
        if request.replay is not None:
            feeder = _feed(request.replay, run, interrupts)
        if interrupts.count:
            raise CalledOffError(
                "interrupted before the start; nothing was sent to the device",
                interrupts.exit_code,
            )
        watch = _watch_of(request)
        slices = _slices_of(request)
        if counted is not None:
            counted.mark()
        plan = begin(kernel, run, request, facts, remarks)
        info, rows = follow(
            kernel, run, progress, interrupts, observer, log, watch, slices, owned=True
        )
        if counted is not None:
            counted.mark()
        after = disk_stats(facts)
        verified = None
        if request.config.data == "stamped":
            from spekctl.run import verify

            verified = verify.conclude(kernel, request, facts, info, progress, interrupts)
        replayed = None
        if request.replay is not None and feeder is not None:
            from spekctl.run import replay

            feeder.close()
            replayed = replay.result_of(request.replay, info, feeder.trouble())
        ending = watch.result() if watch is not None else None
        result = conclude(
            kernel, plan, info, rows, after, observer, log, verified, replayed, ending, slices
        )
        if counted is not None:
            counted.save(result)
        if info.state is RunState.DONE:
            release(kernel, run, interrupts)
        return result
    except BaseException:
        abandon(kernel, run)
        raise
    finally:
        if feeder is not None:
            feeder.close()
        if log is not None:
            log.close()


def _feed(trace: Replay, run: int, interrupts: Interrupts) -> Feeder:
    """Feed the run, up to as much as it needs to start."""
    from spekctl.run.replay import Feeder

    feeder = Feeder(trace, run)
    while not feeder.wait_ready(POLL_MIN_S) and not interrupts.count:
        pass
    if feeder.trouble():
        feeder.close()
        raise UsageError(feeder.trouble())
    return feeder


def _slices_of(request: Request) -> Slices | None:
    """What collects the slices of the request, if any."""
    if not request.slices:
        return None
    operations = [one.operation for one in request.config.streams]
    return Slices(operations if request.service_slices else None)


def _log_of(request: Request) -> IoLog | None:
    """The per-I/O log of the request, if any."""
    if request.log is None:
        return None
    config = request.config
    names = Names([one.name for one in config.streams], [one.name for one in config.asus])
    return IoLog(request.log, config.log_records, names)


def _watch_of(request: Request) -> Watch | None:
    """What ends the run before its time, if anything."""
    if request.until is None and not request.stop_when:
        return None
    return Watch(request.until, request.stop_when, request.config.interval_ns)


def launch(kernel: Kernel, request: Request, progress: Progress) -> Plan:
    """Start a detached run, which continues when this program exits."""
    run = claim(kernel, request.config, request.devices)
    try:
        facts, remarks = prepare(kernel, run, request)
        for remark in remarks:
            progress.note(remark)
        plan = begin(kernel, run, request, facts, remarks)
        detached.save(plan)
        return plan
    except BaseException:
        abandon(kernel, run)
        raise


def prepare(kernel: Kernel, run: int, request: Request) -> tuple[list[TargetFacts], list[str]]:
    """Under the claim: check that the devices may be written, and record their identity."""
    info = kernel.run_get(run)
    remarks: list[str] = []
    for index, device in enumerate(request.devices):
        diskseq = info.targets[index].diskseq
        if device.diskseq and diskseq and device.diskseq != diskseq:
            raise RefusedError(f"{device.path} has just been replaced by another device")
        if request.config.write:
            remark = safety.check_write(device, diskseq, request.destroy, request.write_allowed)
            if remark:
                remarks.append(recorded.text(remark))
    facts = [
        device.facts(info.targets[index].diskseq, devices.read_stat(device))
        for index, device in enumerate(request.devices)
    ]
    return facts, remarks


def begin(
    kernel: Kernel,
    run: int,
    request: Request,
    facts: Sequence[TargetFacts],
    remarks: Sequence[str],
) -> Plan:
    """run-start; return all that the result states about the request."""
    kernel.run_start(run, request.start_at.mono_ns() if request.start_at is not None else 0)
    return Plan(
        run=run,
        started_ns=kernel.run_get(run).started_ns,
        command=list(request.command),
        workload=request.workload,
        config=request.config,
        targets=list(facts),
        remarks=[*request.remarks, *remarks],
    )


def follow(
    kernel: Kernel,
    run: int,
    progress: Progress,
    interrupts: Interrupts,
    observer: Observer | None = None,
    log: IoLog | None = None,
    watch: Watch | None = None,
    slices: Slices | None = None,
    *,
    owned: bool,
) -> tuple[RunInfo, list[IntervalRow]]:
    """Show a run until it is done.

    An owned run is stopped by @watch and by the first Ctrl-C; the second one stops waiting for the
    devices, and the kernel ends the run by itself. A run that is only watched is left alone by
    both.
    """
    rows: list[IntervalRow] = []
    measured = 0
    stopping = False
    told = ""
    while True:
        info = kernel.run_get(run)
        # Before the rows: see Slices.take().
        due = slices is not None and info.intervals > _next_seq(rows)
        cells = kernel.stats(run) if due else []
        news = _new_rows(kernel, info, rows)
        if slices is not None:
            slices.take(cells, rows)
        measured += sum(row.read.ios + row.write.ios for row in news if row.phase is Phase.MEASURE)
        if observer is not None:
            observer.note(news)
        figures: list[Figures] = [
            figures_of(
                row,
                info.started_ns,
                len(info.workers),
                observer.machine(row) if observer else None,
                observer.watts(row) if observer else None,
                min(info.interval_ns, info.time_ns or info.interval_ns),
            )
            for row in news
        ]
        progress.show(clock_of(info, measured), figures)
        if observer is not None and observer.trouble() != told:
            told = observer.trouble()
            progress.note(told)
        if log is not None and (trouble := log.trouble()):
            progress.note(trouble)
        if watch is not None:
            watch.take(news)
        if info.state is RunState.DONE or (interrupts.count and not owned):
            return info, rows
        if interrupts.count and not stopping:
            stopping = True
            progress.note(
                "stopping; press Ctrl-C again to exit without waiting for outstanding I/O"
            )
            kernel.run_stop(run)
        elif watch is not None and watch.over and not stopping:
            stopping = True
            progress.note(f"stopping: {watch.text}")
            kernel.run_stop(run)
        elif interrupts.count > 1:
            progress.note(
                f"leaving; {info.outstanding} I/Os are still outstanding; the kernel ends the"
                " run when they complete"
            )
            return info, rows
        kernel.wait(_pause_s(info))


def disk_stats(targets: Sequence[TargetFacts]) -> list[DiskCounters | None]:
    """What the disks themselves have counted; None for one that keeps none, or is gone.

    To be read as soon as a run has ended: what others do afterwards is counted as well.
    """
    found = []
    for facts in targets:
        device = devices.by_number(facts.major, facts.minor, facts.path)
        same = device is not None and device.diskseq == facts.diskseq
        found.append(devices.read_stat(device) if device is not None and same else None)
    return found


def conclude(
    kernel: Kernel,
    plan: Plan,
    info: RunInfo,
    rows: list[IntervalRow],
    after: Sequence[DiskCounters | None],
    observer: Observer | None = None,
    log: IoLog | None = None,
    verified: VerifyResult | None = None,
    replayed: ReplayResult | None = None,
    ending: EndingResult | None = None,
    slices: Slices | None = None,
) -> Result:
    """The result of a run so far; @after is disk_stats() at its end."""
    prober = observer.finish(info) if observer is not None else None
    metered = observer.power(info, rows) if observer is not None else None
    if observer is not None and (trouble := observer.trouble()):
        plan.remarks.append(trouble)
    cells = kernel.stats(plan.run)
    if slices is not None:
        slices.take(cells, rows)
    ios = sum(cell.ios + cell.errors for cell in cells)
    logged = log.finish(plan, info, ios) if log is not None else None
    made = slices.result() if slices is not None else None
    return build(
        plan, info, cells, rows, after, prober, logged, metered, verified, replayed, ending, made
    )


def _new_rows(kernel: Kernel, info: RunInfo, rows: list[IntervalRow]) -> list[IntervalRow]:
    """Append the intervals closed since the last call to @rows."""
    since = _next_seq(rows)
    if info.intervals <= since:
        return []
    news = [row for row in kernel.intervals(info.id, since) if row.seq >= since]
    rows += news
    return news


def _next_seq(rows: Sequence[IntervalRow]) -> int:
    return rows[-1].seq + 1 if rows else 0


def _pause_s(info: RunInfo) -> float:
    """Until the next look: about once in an interval. The end of the run wakes us up anyway, and
    every look costs CPU time that the run could be using."""
    return max(POLL_MIN_S, min(POLL_S, info.interval_ns / 1e9)) if info.interval_ns else POLL_S


def exit_code_of(result: Result, interrupts: Interrupts) -> ExitCode:
    """The exit code of a result."""
    if result.verify is not None and result.verify.mismatches:
        return ExitCode.DATA_ERRORS
    if interrupts.count:
        return interrupts.exit_code
    if result.limit_missed:
        return ExitCode.LIMIT_MISSED
    return ExitCode.OK if result.outcome.ok else ExitCode.RUN_FAILED
