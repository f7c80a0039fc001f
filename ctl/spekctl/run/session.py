# SPDX-License-Identifier: GPL-2.0-or-later
"""A run from its claim to its result, verb by verb, so that several runs can go side by side.

Order matters: run-new claims the devices in the kernel; the claimed devices are checked for data;
collectors open; run-start comes last. A session left by an exception releases its devices.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from types import TracebackType

import msgspec

from spekctl import recorded
from spekctl.block import device as devices
from spekctl.block import replaced
from spekctl.documents.device import DiskCounters, TargetFacts
from spekctl.documents.result import Plan, Result
from spekctl.errors import CalledOffError
from spekctl.kernel.client import Kernel
from spekctl.kernel.records import RunInfo, RunState
from spekctl.run import claim, collectors, disk_stats, ending, holding, unmapped
from spekctl.run.build import build
from spekctl.run.collector import Claimed, Collector, Ended, Sections
from spekctl.run.follow import Follower
from spekctl.run.holding import Holding
from spekctl.run.job import Interrupts, Request
from spekctl.run.progress import Progress


class Session:
    """One run; its verbs are called in the order in which they stand here.

    Verbs of several sessions may be interleaved: claim all, check all, make all ready, then arm
    each for the same time.
    """

    def __init__(
        self,
        kernel: Kernel,
        request: Request,
        progress: Progress,
        interrupts: Interrupts,
        observers: Sequence[Collector] = (),
        held: Holding | None = None,
    ) -> None:
        """@observers: the prober and power, which the session closes. @held: has the devices, and
        keeps them; its connection is @kernel."""
        assert held is None or held.kernel is kernel, "a claim belongs to its connection"
        self._kernel = kernel
        self._request = request
        self._progress = progress
        self._interrupts = interrupts
        self._collectors = list(observers)
        self._run: int | None = None  # in the kernel, and ours
        # The same, and the claim that it borrows from, also once they are not ours any more.
        self._numbers = (0, 0)
        self._holding = held
        self._own: Holding | None = None  # of this run alone
        self._facts: list[TargetFacts] = []
        self._remarks: list[str] = []
        self._plan: Plan | None = None
        self._follower: Follower | None = None
        self._after: list[DiskCounters | None] = []
        self._is_armed = False  # for a time that has not come

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """After an exception the run ends; without one, a run that was not released continues."""
        try:
            if error is not None:
                self.abandon()
        finally:
            for collector in reversed(self._collectors):
                collector.close()

    @property
    def request(self) -> Request:
        """What is run."""
        return self._request

    @property
    def is_armed(self) -> bool:
        """Whether arm() has armed it for a time that has not come, as far as step() has seen."""
        return self._is_armed

    def outstanding(self, kernel: Kernel) -> int:
        """I/Os that have not completed, of the run and of others under its claim, such as its final
        pass; also after its end. @kernel: a connection of the caller's thread."""
        return ending.outstanding(kernel, *self._numbers)

    def claim(self) -> None:
        """Claim the devices: run-new, which opens all of them or none, or borrows them from a claim
        that has them. The final pass of a verified run is a run of its own: the claim is for both,
        so that nobody writes in between."""
        if self._request.on_zones is not None:
            self._count_on_zones()
        # Before the claim: a log may be impossible.
        self._collectors = collectors.of(self._request, self._collectors)
        config, on = self._request.config, self._request.devices
        if self._holding is None and config.data == "stamped" and not config.detached:
            self._own = self._holding = holding.of_requests(
                self._kernel, [self._request], self._interrupts
            )
            self._own.take()
        number = self._holding.claim if self._holding is not None else None
        self._run = claim.claim(self._kernel, config, on, self._interrupts, number)
        self._numbers = (self._run, number or 0)

    def _count_on_zones(self) -> None:
        """Take counts from the zones of the devices, which are claimed for that. A detached run
        cannot borrow the claim: capacities stay as they are while it takes its own."""
        request = self._request
        if self._holding is None:
            self._own = self._holding = holding.of_requests(
                self._kernel, [request], self._interrupts
            )
            self._own.take()
        assert request.on_zones is not None
        zones = [request.rights.zones(device) for device in request.devices]
        new = request.on_zones(zones)
        config = msgspec.structs.replace(request.config, count=new.count, arrivals=new.arrivals)
        self._request = dataclasses.replace(request, config=config)
        if config.detached and self._own is not None:
            self._own.release()
            self._own = self._holding = None

    def check(self) -> None:
        """Under the claim: check that the devices may be written, and record their identity."""
        request = self._request
        info = self._kernel.run_get(self._claimed_run())
        for index, device in enumerate(request.devices):
            diskseq = info.targets[index].diskseq
            if device.diskseq and diskseq and device.diskseq != diskseq:
                raise replaced.refusal(device, diskseq)
        looked = None
        if self._holding is not None:
            looked = self._holding.looked
            self._remarks += self._holding.remarks()
        if request.config.write:
            remarks = request.rights.check_write(self._info, request, looked)
            self._remarks += map(recorded.text, remarks)
        self._facts = [
            device.facts(info.targets[index].diskseq)
            for index, device in enumerate(request.devices)
        ]
        if request.rights.opens_disks:
            self._remarks += unmapped.remarks(request.devices, request.config)
        for remark in self._remarks:
            self._progress.note(remark)

    def _info(self) -> RunInfo:
        return self._kernel.run_get(self._claimed_run())

    def ready(self) -> None:
        """Open the collectors: afterwards nothing but the start is left to do."""
        claimed = Claimed(
            self._kernel,
            self._kernel.run_get(self._claimed_run()),
            self._request,
            self._facts,
            self._progress,
            self._interrupts,
        )
        for collector in self._collectors:
            self._check_interrupts()
            remark = collector.arm(claimed)
            if remark:
                self._progress.note(remark)
                self._remarks.append(remark)

    def arm(self, start_ns: int = 0) -> Plan:
        """run-start, for a time of CLOCK_MONOTONIC; 0: now. What the result states about the
        request."""
        self._check_interrupts()
        run = self._claimed_run()
        self._facts = self._counted(self._read_disks())
        self._kernel.run_start(run, start_ns)
        self._plan = Plan(
            run=run,
            started_ns=self._kernel.run_get(run).started_ns,
            command=list(self._request.command),
            workload=self._request.workload,
            config=self._request.config,
            targets=list(self._facts),
            remarks=[*self._request.remarks, *self._remarks],
        )
        self._follower = Follower(
            self._kernel, run, self._progress, self._interrupts, self._collectors, owned=True
        )
        self._is_armed = True
        return self._plan

    def _read_disks(self) -> list[DiskCounters | None]:
        return [devices.read_stat(device) for device in self._request.devices]

    def _counted(self, counters: Sequence[DiskCounters | None]) -> list[TargetFacts]:
        """The facts, with what the disks had counted before the run."""
        return [
            msgspec.structs.replace(facts, disk_before=counted)
            for facts, counted in zip(self._facts, counters, strict=True)
        ]

    def _check_interrupts(self) -> None:
        if self._interrupts.count:
            raise CalledOffError(
                "interrupted before the start; nothing was sent to the device",
                self._interrupts.exit_code,
            )

    def call_off(self) -> bool:
        """End a run that is armed. Return: whether it had begun by itself; it has to be
        followed then, and has a result."""
        run = self._claimed_run()
        self._kernel.run_stop(run)
        info = ending.wait_done(self._kernel, run, ending.ABANDON_S)
        # The kernel forgets the start of a run that ended before it.
        return info.state is not RunState.ARMED and bool(info.started_ns)

    def step(self) -> bool:
        """Look at the run once; True if it is over, or two Ctrl-C ended the wait for it."""
        # What others send to the disks until the start is not the run's.
        before = self._read_disks() if self._is_armed else []
        is_over = self._followed().step()
        self._is_armed = self._is_armed and self._followed().info.state is RunState.ARMED
        if self._is_armed:
            self._facts = self._counted(before)
        if is_over:
            for collector in self._collectors:
                collector.ended()
            self._after = disk_stats.read(self._facts)
        return is_over

    def pause_s(self) -> float:
        """Time until the next step."""
        return self._followed().pause_s()

    def wait(self, timeout_s: float) -> None:
        """Wait until a run of this kernel changes."""
        self._kernel.wait(timeout_s)

    def result(self) -> Result:
        """The result of a run that is over; the final pass of a verified run is a part of it."""
        assert self._plan is not None
        plan = msgspec.structs.replace(self._plan, targets=list(self._facts))
        info, rows = self._followed().info, self._followed().rows
        cells = self._kernel.stats(info.id)
        ended, sections = Ended(plan, info, rows, cells), Sections()
        for collector in reversed(self._collectors):
            collector.conclude(ended, sections)
        result = build(plan, info, cells, rows, self._after, sections, self._request.rights.zones)
        for collector in self._collectors:
            collector.deliver(result)
        return result

    def release(self) -> None:
        """Give the devices back, once the run is DONE; else the kernel does when it ends."""
        if self._followed().info.state is RunState.DONE:
            ending.release(self._kernel, self._claimed_run(), self._interrupts)
        self._run = None
        self._release_own()

    def abandon(self) -> None:
        """End the run in whatever state it is, and give the devices back as far as possible."""
        if self._run is not None:
            ending.abandon(self._kernel, self._run)
            self._run = None
        self._release_own()

    def _release_own(self) -> None:
        if self._own is not None:
            self._own.release()

    def _claimed_run(self) -> int:
        assert self._run is not None, "claim() comes first"
        return self._run

    def _followed(self) -> Follower:
        assert self._follower is not None, "arm() comes first"
        return self._follower
