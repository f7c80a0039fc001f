# SPDX-License-Identifier: GPL-2.0
"""A kernel side for unit tests of spekctl: remembers what it was asked and plays a run."""

from __future__ import annotations

import errno
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from spekctl.documents.histogram import bucket_index
from spekctl.errors import SpekError, error_from_errno
from spekctl.kernel.client import Patience, endless
from spekctl.kernel.records import (
    ArrivalEndInfo,
    Backend,
    ClaimInfo,
    Direction,
    Histogram,
    IntervalCell,
    IntervalRow,
    MapInfo,
    Metric,
    MismatchInfo,
    Phase,
    Reason,
    ReplayInfo,
    RunInfo,
    RunState,
    StatsCell,
    TargetInfo,
    WorkerInfo,
)
from spekctl.workload.config import DeviceNumber, RunConfig

SECOND = 10**9
START_NS = 1000 * SECOND
HIST_BITS = 6


def histogram(values: list[int]) -> Histogram:
    """Values counted as the module counts them."""
    counts: dict[int, int] = {}
    for value in values:
        index = bucket_index(value, HIST_BITS)
        counts[index] = counts.get(index, 0) + 1
    return Histogram(HIST_BITS, counts, sum(values), min(values), max(values))


def interval_cell(**counts: int) -> IntervalCell:
    """What one direction did in an interval; what is not given is 0."""
    return IntervalCell(**{**dict.fromkeys(IntervalCell.__struct_fields__, 0), **counts})


@dataclass
class FakeKernel:
    """Implements spekctl.kernel.client.Kernel. Each wait() lets a second go by."""

    refuse: dict[str, SpekError] = field(default_factory=dict)
    start_ns: int = 0
    armed_waits: int = 1  # until an armed run starts
    begun: bool = True  # an armed run that is stopped; else its start is forgotten
    diskseq: int = 0
    opens: int = 1  # of each device, by anybody
    errors: int = 0
    number: int = 7  # of its run
    end_reason: Reason = Reason.COMPLETED
    hangs: bool = False
    # I/Os that complete in each second, from 0.
    ios_in: Callable[[int], int] = lambda second: 100
    on_wait: Callable[[int], None] = lambda second: None
    others: list[RunInfo] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)
    config: RunConfig | None = None
    state: RunState = RunState.READY
    reason: Reason = Reason.NONE
    seconds: int = 0
    wrong: list[MismatchInfo] = field(default_factory=list)
    written: list[MapInfo] = field(default_factory=list)
    replay: ReplayInfo | None = None
    claimed: dict[int, ClaimInfo] = field(default_factory=dict)
    claim: int | None = None  # of the latest run
    closed: bool = False
    deleted: bool = False
    forgotten: bool = False

    def _called(self, name: str) -> None:
        self.calls.append(name)
        if name in self.refuse:
            raise self.refuse[name]

    def run_new(
        self, config: RunConfig, patience: Patience = endless, claim: int | None = None
    ) -> int:
        self._called("run-new")
        if claim is not None:
            self._check_claim(config, claim)
        elif self._held(config.targets):
            raise error_from_errno(errno.EBUSY, "The device is in use.", "run-new")
        self.claim = claim
        self.config = config
        self.deleted = False
        return self.number

    def _check_claim(self, config: RunConfig, claim: int) -> None:
        """As the module refuses a run that its claim does not cover."""
        info = self.claimed.get(claim)
        if info is None:
            raise error_from_errno(errno.ENOENT, "There is no claim with this number.", "run-new")
        if config.write and not info.write:
            text = "The run may write, and its claim is for reading only."
            raise error_from_errno(errno.EPERM, text, "run-new")
        devices = {(target.major, target.minor) for target in info.targets}
        if any((target.major, target.minor) not in devices for target in config.targets):
            text = "The device is not among those of the claim."
            raise error_from_errno(errno.EINVAL, text, "run-new")
        only_read = {(each.major, each.minor) for each in info.targets if each.read_only}
        if config.written & only_read:
            text = "The run may write the device, which its claim has for reading only."
            raise error_from_errno(errno.EPERM, text, "run-new")

    def _held(self, targets: Sequence[DeviceNumber]) -> bool:
        held = {
            (device.major, device.minor)
            for info in self.claimed.values()
            for device in info.targets
        }
        return any((device.major, device.minor) in held for device in targets)

    def claim_calls(self) -> list[str]:
        """The calls that claim devices or give them back; repeated ones of runs are one."""
        calls = [call for call in self.calls if call in ("claim-new", "run-new", "claim-del")]
        return [call for before, call in zip(["", *calls], calls, strict=False) if call != before]

    def claim_new(
        self, targets: Sequence[DeviceNumber], write: bool, patience: Patience = endless
    ) -> int:
        self._called("claim-new")
        if self._held(targets):
            raise error_from_errno(errno.EBUSY, "The device is in use.", "claim-new")
        claim = 1 + self.calls.count("claim-new")
        devices = tuple(
            TargetInfo(
                major=target.major,
                minor=target.minor,
                diskseq=target.diskseq,
                read_only=target.read_only,
                opens=self.opens,
            )
            for target in targets
        )
        self.claimed[claim] = ClaimInfo(id=claim, write=int(write), targets=devices)
        return claim

    def claim_del(self, claim: int, patience: Patience = endless) -> None:
        self._called("claim-del")
        if claim not in self.claimed:
            raise error_from_errno(errno.ENOENT, "There is no claim with this number.", "claim-del")
        del self.claimed[claim]

    def claims(self) -> list[ClaimInfo]:
        self._called("claims")
        return list(self.claimed.values())

    def run_get(self, run: int) -> RunInfo:
        self._called("run-get")
        for info in self.others:
            if info.id == run:
                return info
        if run != self.number or self.config is None or self.deleted:
            raise error_from_errno(errno.ENOENT, "There is no run with this number.", "run-get")
        return self._info()

    def runs(self) -> list[RunInfo]:
        self._called("runs")
        mine = [self._info()] if self.config is not None and not self.deleted else []
        return [*self.others, *mine]

    def run_start(self, run: int, start_ns: int = 0) -> None:
        self._called("run-start")
        self.start_ns = start_ns
        self.state = RunState.ARMED if start_ns else RunState.RUNNING

    def run_stop(self, run: int) -> None:
        self._called("run-stop")
        self.forgotten = self.state is RunState.ARMED and not self.begun
        self.reason = Reason.STOPPED
        self.state = RunState.DRAINING if self.hangs else RunState.DONE

    def mismatches(self, run: int) -> list[MismatchInfo]:
        self._called("mismatches")
        return list(self.wrong)

    def map_get(self, run: int) -> list[MapInfo]:
        self._called("map-get")
        return list(self.written)

    def map_set(self, run: int, part: MapInfo) -> None:
        self._called("map-set")
        self.written.append(part)

    def run_delete(self, run: int, patience: Patience = endless) -> None:
        self._called("run-delete")
        self.deleted = True

    def wait(self, timeout_s: float) -> None:
        assert timeout_s < 60
        self.calls.append("wait")
        if self.state is RunState.ARMED:
            self.armed_waits -= 1
            self.on_wait(0)
            if self.state is RunState.ARMED and not self.armed_waits:
                self.state = RunState.RUNNING
            return
        if self.state is not RunState.RUNNING:
            self.on_wait(self.seconds)
            return
        self.seconds += 1
        self.on_wait(self.seconds)
        assert self.config is not None
        if self.state is RunState.RUNNING and self.seconds * SECOND >= self._length_ns():
            self.state, self.reason = RunState.DONE, self.end_reason

    def close(self) -> None:
        self.closed = True

    def _length_ns(self) -> int:
        assert self.config is not None
        return self.config.ramp_ns + (self.config.time_ns or 3 * SECOND)

    def _arrival_ends(self, measure_ns: int) -> tuple[ArrivalEndInfo, ...]:
        """A process with a count has done it 1 s after the one before it."""
        assert self.config is not None
        counts = [arrival.count for arrival in self.config.arrivals]
        if not any(counts):
            return ()
        now_ns = START_NS + self.seconds * SECOND
        ends = [measure_ns + (place + 1) * SECOND for place in range(len(counts))]
        return tuple(
            ArrivalEndInfo(end if count and measure_ns and end <= now_ns else 0)
            for count, end in zip(counts, ends, strict=True)
        )

    def _info(self) -> RunInfo:
        config = self.config
        assert config is not None
        now_ns = START_NS + self.seconds * SECOND
        started = self.state is not RunState.READY
        done = self.state is RunState.DONE
        measuring = started and now_ns >= START_NS + config.ramp_ns
        measure_ns = START_NS + config.ramp_ns if measuring else 0
        phase = Phase.MEASURE if measuring else Phase.RAMP
        return RunInfo(
            id=self.number,
            name=config.name,
            state=self.state,
            phase=Phase.DRAIN if done else phase,
            reason=self.reason,
            seed=config.seed,
            detached=int(config.detached),
            write=int(config.write),
            max_outstanding=config.max_outstanding,
            interval_ns=config.interval_ns,
            ramp_ns=config.ramp_ns,
            time_ns=config.time_ns,
            count=config.count,
            started_ns=(self.start_ns or START_NS) if started and not self.forgotten else 0,
            measure_ns=measure_ns,
            drain_ns=now_ns if done and measuring else 0,
            ended_ns=now_ns if done else 0,
            now_ns=now_ns,
            outstanding=3 if self.state is RunState.DRAINING else 0,
            oldest_ns=2_500_000_000 if self.state is RunState.DRAINING else 0,
            intervals=self.seconds if config.interval_ns else 0,
            errors=self.errors,
            first_error="read of 4096 bytes at 0 on nullb0: EIO" if self.errors else "",
            module_version="0.1.0-test",
            trace_records=config.trace_records,
            claim=self.claim or 0,
            replay=self.replay,
            arrival_ends=self._arrival_ends(measure_ns),
            workers=tuple(
                WorkerInfo(cpu=cpu, pid=100 + cpu, cpu_ns=self.seconds * SECOND // 2, voluntary=9)
                for cpu in config.cpus
            ),
            targets=tuple(
                TargetInfo(
                    major=target.major,
                    minor=target.minor,
                    name=f"fake{index}",
                    diskseq=self.diskseq,
                    opens=self.opens,
                    bytes=1 << 30,
                    logical_block=512,
                    max_io=1 << 20,
                    backend=Backend.BIO,
                    backend_reason="The device is bio-based, not request-based (blk-mq).",
                    read_only=target.read_only,
                    reads=self.seconds * 100,
                    read_bytes=self.seconds * 409_600,
                )
                for index, target in enumerate(config.targets)
            ),
        )

    def intervals(self, run: int, since: int) -> list[IntervalRow]:
        self._called("intervals")
        info = self._info()
        ramp_s = info.ramp_ns // SECOND
        return [
            IntervalRow(
                seq=seq,
                phase=Phase.RAMP if seq < ramp_s else Phase.MEASURE,
                start_ns=START_NS + seq * SECOND,
                end_ns=START_NS + (seq + 1) * SECOND,
                outstanding=4,
                backlog=0,
                worker_cpu_ns=SECOND // 4,
                worker_switches=50,
                read=self._reads_in(seq),
                write=interval_cell(),
                streams=[(self.ios_in(seq), 4096 * self.ios_in(seq), 0, 0)],
            )
            for seq in range(since, info.intervals)
        ]

    def _reads_in(self, second: int) -> IntervalCell:
        ios = self.ios_in(second)
        return interval_cell(
            ios=ios,
            bytes=4096 * ios,
            errors=self.errors,
            response_sum_ns=ios * 200_000,
            response_max_ns=900_000,
            response_p50_ns=180_000,
            response_p90_ns=300_000,
            response_p99_ns=800_000,
            response_p999_ns=900_000,
        )

    def stats(self, run: int) -> list[StatsCell]:
        self._called("stats")
        info = self._info()
        measured = self.seconds - info.ramp_ns // SECOND
        if measured <= 0:
            return []
        values = [180_000] * 90 * measured + [800_000] * 10 * measured
        times = histogram(values)
        cell = StatsCell(
            phase=Phase.MEASURE,
            stream=0,
            direction=Direction.READ,
            ios=100 * measured,
            bytes=409_600 * measured,
            requests=100 * measured,
            errors=self.errors,
            errors_by_errno={errno.EIO: self.errors} if self.errors else {},
            histograms={
                Metric.RESPONSE: times,
                Metric.SERVICE: times,
                Metric.SLIP: histogram([1 + ns // 1000 for ns in values]),
            },
        )
        return [cell]


def without_io(kernel: FakeKernel) -> None:
    """Its runs come to their ends, and no I/O completes in them."""
    kernel.ios_in = lambda second: 0
    kernel.stats = lambda run: []  # type: ignore[method-assign]


def other_claim(number: int, major: int, minor: int) -> ClaimInfo:
    """A claim of another controller, with no run at present."""
    return ClaimInfo(
        id=number, targets=(TargetInfo(major=major, minor=minor, name=f"fake{minor}"),)
    )


def other_run(number: int, major: int, minor: int) -> RunInfo:
    """A run of another controller."""
    return replace(
        RunInfo(id=number, name="random-read-4k", state=RunState.RUNNING),
        started_ns=START_NS,
        now_ns=START_NS + SECOND,
        time_ns=60 * SECOND,
        targets=(TargetInfo(major=major, minor=minor, name="fake0"),),
    )
