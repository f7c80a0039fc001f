# SPDX-License-Identifier: GPL-2.0-or-later
"""What a host does in a fleet's run: it sends a load, it rests, or its prober watches it."""

from __future__ import annotations

import dataclasses
import threading
import time
from collections.abc import Callable, Sequence
from typing import Protocol

import msgspec

from spekctl import files, units
from spekctl.block import device as block_device
from spekctl.block import replaced
from spekctl.block.device import Device
from spekctl.campaigns import idle
from spekctl.errors import ExitCode, RefusedError
from spekctl.fleet.rests import Rested
from spekctl.fleet.wire import Claim, DeviceAsked, Watched
from spekctl.kernel import client
from spekctl.kernel.client import Kernel
from spekctl.kernel.prober import Prober
from spekctl.kernel.records import IntervalRow, RunInfo, RunState
from spekctl.log.place import FilePlace
from spekctl.power import span
from spekctl.run import ending, job, measuring, observe, probe
from spekctl.run import request as run_request
from spekctl.run.collector import Collector, Look
from spekctl.run.follow import follow
from spekctl.run.holding import Holding
from spekctl.run.progress import Progress
from spekctl.run.rights import Rights
from spekctl.run.session import Session
from spekctl.run.targets import Room
from spekctl.workload import file as workload_file
from spekctl.workload import meaning, options
from spekctl.workload.model import WorkloadFile
from spekctl.workload.options import Options

SIGINT = 2
# For the prober's last row, which waits for power.
_LAST_ROW_S = 10.0
_FETCH_S = 1.0
_LOOK_S = 0.25
Report = Callable[[list[IntervalRow]], None]
_NOT_CLAIMED = "it has not been claimed"


@dataclasses.dataclass(frozen=True, slots=True)
class Ended:
    """The end of a duty; @started_mono_ns: when it began, 0 if it did not."""

    code: int
    text: str
    document: msgspec.Raw
    started_mono_ns: int


class Duty(Protocol):
    """Its verbs are called in the order in which they stand here. @trace_records: as of
    wire.Claimed."""

    title: str
    trace_records: int | None

    def claim(self) -> None:
        """Take what it needs, and get ready: afterwards nothing but the start is left."""

    def arm(self, start_mono_ns: int) -> None:
        """Start at this time."""

    def call_off(self) -> bool:
        """End it before its start. Return: whether that was too late, so that it has sent I/O; then
        follow() ends it, else abandon()."""

    def follow(self) -> Ended:
        """Until it is over."""

    def stop(self) -> None:
        """End it early; from any thread. A second call does not wait for outstanding I/O."""

    def abandon(self) -> None:
        """End it in any state, and release its devices as far as possible: the kernel waits for
        I/Os that are still outstanding."""

    def outstanding(self) -> int:
        """Number of I/Os that have not completed, of this run and of any other run under its claim.
        Any thread may call it."""


class _Reporter(Collector):
    """Passes on the intervals of a run as they end."""

    def __init__(self, report: Report) -> None:
        self._report = report

    def take(self, look: Look) -> None:
        if look.news:
            self._report(list(look.news))


class Held:
    """The devices of a host over several runs, by one claim of one connection."""

    def __init__(self, asked: Claim, rights: Rights, connect: Callable[[], Kernel]) -> None:
        request, _ = request_of(asked, rights)
        self.kernel = connect()
        self.holding = Holding(
            self.kernel,
            request.devices,
            job.Interrupts(again=""),
            # Which of them the next runs write is not known yet.
            written={
                (device.major, device.minor) for device in request.devices if asked.holds == "write"
            },
            write_allowed=request.write_allowed,
            destroy=asked.destroy,
            rights=rights,
        )
        try:
            self.holding.take()
        except BaseException:
            self.kernel.close()
            raise

    def release(self) -> None:
        """Give the devices back. A second call does nothing."""
        try:
            self.holding.release()
        finally:
            self.kernel.close()


class Load:
    """A run of `spekctl run`."""

    def __init__(
        self,
        asked: Claim,
        view: Progress,
        rights: Rights,
        connect: Callable[[], Kernel] = client.connect,
        report: Report = lambda rows: None,
        held: Held | None = None,
    ) -> None:
        """@report: gets the intervals as they end. @held: has the devices, and keeps them."""
        self._request, wish = request_of(asked, rights)
        self.title = run_request.Subject(self._request.workload, self._request.devices).title
        replay = self._request.replay
        self.trace_records = replay.records if replay is not None else None
        power = measuring.power_of(
            tuple(asked.power_feeds), wish.power_baseline, wish.no_prober, of_file=False
        )
        # The controller stops it, and has said why.
        self._interrupts = job.Interrupts(again="")
        self._held = held
        self._connect = connect
        self._kernel = held.kernel if held is not None else connect()
        try:
            observers, remark = (
                observe.connect(wish.sampling_ns, power)
                if wish.sampling_ns is not None
                else ((), "")
            )
        except BaseException:
            self._disconnect()
            raise
        if remark:
            view.note(remark)
        self._session = Session(
            *(self._kernel, self._request, view, self._interrupts),
            *([*observers, _Reporter(report)], held.holding if held is not None else None),
        )

    def claim(self) -> None:
        self._session.claim()
        self._session.check()
        self._session.ready()

    def arm(self, start_mono_ns: int) -> None:
        self._session.arm(start_mono_ns)

    def call_off(self) -> bool:
        self.stop()
        return self._session.call_off()

    def follow(self) -> Ended:
        follow([self._session])
        result = self._session.result()
        self._session.release()
        self._close()
        code = ending.exit_code_of(result, self._interrupts, is_part=True)
        started_ns = result.phases[0].start_ns if result.phases else 0
        data = msgspec.Raw(msgspec.json.encode(result))
        return Ended(int(code), result.outcome.text, data, started_ns)

    def stop(self) -> None:
        self._interrupts.interrupt(SIGINT)

    def abandon(self) -> None:
        try:
            self._session.abandon()
        finally:
            self._close()

    def outstanding(self) -> int:
        # Its own connection: the run's belongs to another thread, or is closed.
        kernel = self._connect()
        try:
            return self._session.outstanding(kernel)
        finally:
            kernel.close()

    def _close(self) -> None:
        try:
            self._session.__exit__(None, None, None)
        finally:
            self._disconnect()

    def _disconnect(self) -> None:
        if self._held is None:
            self._kernel.close()


class Watch:
    """Samples of the prober, from before the common start until it is stopped."""

    def __init__(self, asked: Claim, prober: Callable[[], Prober] = Prober) -> None:
        _, wish = options.read(asked.options)
        self.title = "samples of the prober"
        self.trace_records: int | None = None
        self._feeds = asked.power_feeds
        self._prober = prober()
        self._machine = observe.ProberCollector(self._prober, wish.prober_ns)
        self._collector: probe.Collector | None = None
        self._started_ns = 0
        self._stopped = threading.Event()

    def claim(self) -> None:
        trouble = self._machine.start([])
        number = self._machine.probe
        if number is None:
            raise RefusedError(trouble)
        self._collector = probe.Collector(self._prober, number, (), self._feeds)

    def arm(self, start_mono_ns: int) -> None:
        """It samples already; what counts begins there."""
        self._started_ns = start_mono_ns

    def call_off(self) -> bool:
        self.stop()
        return False

    def follow(self) -> Ended:
        assert self._collector is not None and self._machine.probe is not None, _NOT_CLAIMED
        while not self._stopped.wait(_FETCH_S):
            self._fetch()
        ended_ns = time.monotonic_ns()
        self._prober.stop(self._machine.probe)
        end_s = time.monotonic() + _LAST_ROW_S
        self._fetch()
        while not self._collector.is_complete and time.monotonic() < end_s:
            time.sleep(0.05)
            self._collector.fetch()
        report = self._collector.report()
        as_run = RunInfo(
            id=0,
            name=self.title,
            state=RunState.DONE,
            measure_ns=self._started_ns,
            drain_ns=ended_ns,
            now_ns=ended_ns,
        )
        watched = Watched(self._machine.finish(as_run), report)
        self._machine.close()
        data = msgspec.Raw(msgspec.json.encode(watched))
        return Ended(int(ExitCode.OK), "it was watched", data, self._started_ns)

    def stop(self) -> None:
        self._stopped.set()

    def abandon(self) -> None:
        self._stopped.set()
        self._machine.close()

    def outstanding(self) -> int:
        return 0

    def _fetch(self) -> None:
        assert self._collector is not None
        self._collector.fetch()
        self._machine.fetch()


class Rest:
    """No I/O on the devices that the host holds, and its power meanwhile."""

    def __init__(self, asked: Claim) -> None:
        _, wish = options.read(asked.options)
        self.title = f"no I/O for {units.format_duration(asked.rest_ns)}"
        self.trace_records: int | None = None
        self._devices = _still_there(asked.devices)
        self._length_ns = asked.rest_ns
        self._interrupts = job.Interrupts(again="")
        self._start_ns = 0
        feeds = tuple(asked.power_feeds)
        power = measuring.power_of(feeds, wish.power_baseline, wish.no_prober, of_file=False)
        self._meter, self._missing = span.connect(power, wish.sampling_ns)

    def claim(self) -> None:
        """The host has claimed the devices already."""

    def arm(self, start_mono_ns: int) -> None:
        self._start_ns = start_mono_ns

    def call_off(self) -> bool:
        self.stop()
        return False

    def follow(self) -> Ended:
        while (left_ns := self._start_ns - time.monotonic_ns()) > 0 and not self._interrupts.count:
            time.sleep(min(_LOOK_S, left_ns / 1e9))
        started_ns = time.monotonic_ns()
        done = idle.measure(self._devices, self._length_ns, self._meter, self._interrupts)
        self._close()
        data = msgspec.Raw(msgspec.json.encode(Rested(done, self._missing)))
        if done is None:
            return Ended(int(ExitCode.INTERRUPTED), "the rest was stopped early", data, started_ns)
        return Ended(int(ExitCode.OK), "no I/O was sent", data, started_ns)

    def stop(self) -> None:
        self._interrupts.interrupt(SIGINT)

    def abandon(self) -> None:
        self.stop()
        self._close()

    def outstanding(self) -> int:
        return 0

    def _close(self) -> None:
        meter, self._meter = self._meter, None
        if meter is not None:
            meter.close()


def request_of(asked: Claim, rights: Rights) -> tuple[job.Request, options.Measuring]:
    """The run that is asked for, with all checks that need no claim."""
    load, wish = options.read(asked.options)
    workload = workload_file.parse(asked.toml)
    # The plan has all devices; an asu's own is one of them.
    devices = _still_there(asked.devices)
    load = dataclasses.replace(load, seed=asked.seed)
    rooms = [Room(part.start, part.bytes) for part in asked.slices]
    if asked.purge:
        from spekctl.run import purge

        wanted = purge.build(workload, devices, rooms, load, asked.destroy)
    elif meaning.replays(workload):
        wanted = _replay_of(asked, workload, devices, load)
    else:
        subject = run_request.Subject(workload, devices)
        wanted = run_request.build(subject, load, asked.destroy, rooms=rooms)
    wanted = dataclasses.replace(wanted, rights=rights, command=list(asked.command))
    run_request.check_destroy(wanted)
    run_request.check_write(wanted)
    files.check_writable(wish.log, streams=False)
    place = FilePlace(wish.log) if wish.log is not None else None
    wanted = measuring.with_log(wanted, place, wish.log_buffer)
    wanted = measuring.with_power_states(wanted, wish.power_states)
    return measuring.with_slices(wanted, wish.heat_map), wish


def _still_there(asked: Sequence[DeviceAsked]) -> list[Device]:
    """The devices that the host has described; RefusedError if a path means another disk now."""
    devices = block_device.targets([device.path for device in asked])
    texts = [
        replaced.sentence(described.facts, here)
        for described, here in zip(asked, devices, strict=True)
        if replaced.differ(described.facts, here)
    ]
    if texts:
        raise RefusedError("; ".join(texts))
    return devices


def _replay_of(
    asked: Claim, workload: WorkloadFile, devices: Sequence[Device], load: Options
) -> job.Request:
    """The replay of a trace, or of the host's part of it."""
    from spekctl.run import replay_request
    from spekctl.trace.mapping import Target
    from spekctl.trace.part import Part, Piece

    part = None
    if asked.replay is not None:
        part = Part(
            [Target(target.bytes, target.logical_block) for target in asked.replay.targets],
            [Piece(piece.target, piece.start, piece.bytes) for piece in asked.replay.own],
        )
    return replay_request.build(workload, devices, load, asked.destroy, part)
