# SPDX-License-Identifier: GPL-2.0-or-later
"""Carries out jobs: reads requests from a stream, runs at most one job, writes events.

It needs no rights, as it reaches the kernel and devices through a helper; it has @rights and
@connect of that. It opens no file on behalf of its peer, and writes none: a workload comes as its
text or as the name of one that is installed, a result goes back as a message. When its input ends,
its run ends, too.

Three threads: the main one reads requests and stops runs, and does nothing that can take time; the
desk answers all other requests in their order, of which some look at disks and so may hang with
them; and a run has its own.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import io
import os
import queue
import signal
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, BinaryIO

import msgspec

from spekctl.block import device as block_device
from spekctl.block.device import Device
from spekctl.errors import ExitCode, RefusedError, SpekError, UsageError
from spekctl.host import protocol
from spekctl.host.peer import FAILED, Peer
from spekctl.host.protocol import (
    AnyRequest,
    DryRun,
    Ended,
    Job,
    ListDevices,
    Log,
    Metrics,
    Note,
    Plan,
    Rows,
    Start,
    Started,
    State,
    Status,
)
from spekctl.host.wire import Stop
from spekctl.kernel import client
from spekctl.kernel.client import Kernel
from spekctl.kernel.gen.spek import MAX_TARGETS
from spekctl.log.place import UNKNOWN_BYTES
from spekctl.power.meter import PowerOptions
from spekctl.run import ending, job, measuring, request
from spekctl.run.measure import measure
from spekctl.run.progress import Clock, Figures
from spekctl.run.rights import OWN, Rights
from spekctl.workload import file, meaning, options, override, own_devices
from spekctl.workload.model import WorkloadFile
from spekctl.workload.options import Measuring

# For a run to end after the input has; then the kernel ends it, as its socket closes.
FAREWELL_S = 30.0
# Requests that may wait for the one that is being answered.
WAITING_MAX = 64


class Events:
    """Progress of a run as events."""

    def __init__(self, peer: Peer) -> None:
        self._peer = peer

    def note(self, text: str) -> None:
        """A sentence."""
        self._peer.send(Note(text))

    def show(self, clock: Clock, news: list[Figures]) -> None:
        """The clock, and the intervals closed since the last call."""
        self._peer.send(Rows(clock, news))

    def close(self) -> None:
        """Nothing to do."""


class LogEvents(io.RawIOBase):
    """A place for a per-I/O log, and the file that is written to it: events to the peer."""

    def __init__(self, peer: Peer, name: str) -> None:
        super().__init__()
        self._peer = peer
        self._sent = 0
        self.name = name

    def sink(self) -> object:
        """pyarrow writes to this object."""
        return self

    def free_bytes(self) -> int:
        """The peer may run out of room, which it has to tell its user itself."""
        return UNKNOWN_BYTES

    def keep(self) -> int:
        """The result tells the peer."""
        return self._sent

    def discard(self) -> None:
        """The result tells the peer, or there is none."""

    def writable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._sent

    def write(self, data: bytes | memoryview) -> int:  # type: ignore[override]
        """Waits for a slow peer; the kernel counts what finds no room meanwhile."""
        whole = memoryview(data).cast("B")
        for start in range(0, len(whole), protocol.LOG_PART):
            self._peer.send(Log(bytes(whole[start : start + protocol.LOG_PART])))
        self._sent += len(whole)
        return len(whole)


class Host:
    """Answers requests. @connect: to the kernel; each thread has a connection of its own."""

    def __init__(
        self,
        stream: BinaryIO,
        connect: Callable[[], Kernel] = client.connect,
        rights: Rights = OWN,
    ) -> None:
        self._connect = connect
        self._rights = rights
        self._peer = Peer(stream, self.interrupt)
        self._requests: queue.Queue[AnyRequest] = queue.Queue(WAITING_MAX)
        self._lock = threading.Lock()
        # Protected by @_lock: the run that is under way, and the starts that wait or are checked.
        self._interrupts = job.Interrupts()
        self._run: threading.Thread | None = None
        # Cleared before Ended is sent: a peer may start its next run as soon as it has read that.
        self._under_way = False
        self._starts_ahead: set[int] = set()
        self._is_closing = False

    def serve(self, lines: BinaryIO) -> None:
        """Answer until the input ends, then end the run."""
        threading.Thread(target=self._keep_desk, name="desk", daemon=True).start()
        for asked in self._peer.requests(lines, AnyRequest, protocol.VERBS):
            self._receive(asked)
        self.finish()

    def finish(self) -> None:
        """End the run, and wait for that: at once where its devices answer. What the desk does is
        not waited for."""
        with self._lock:
            self._is_closing = True
        self.interrupt()
        run = self._run
        if run is not None and run.is_alive():
            run.join(FAREWELL_S)

    def interrupt(self) -> bool:
        """End the run as Ctrl-C does, and start none that was asked for before. Return: whether
        there was any."""
        with self._lock:
            had_any = self._under_way or bool(self._starts_ahead)
            self._starts_ahead.clear()
            if self._under_way:
                self._interrupts.interrupt(signal.SIGINT)
            return had_any

    @property
    def running(self) -> bool:
        """A run is under way."""
        return self._under_way

    def _receive(self, asked: AnyRequest) -> None:
        """In the thread that reads: put a request on the desk."""
        if isinstance(asked, Start):
            with self._lock:
                self._starts_ahead.add(id(asked))
        try:
            self._requests.put_nowait(asked)
        except queue.Full:
            with self._lock:
                self._starts_ahead.discard(id(asked))
            text = f"{WAITING_MAX} requests are waiting; wait for an answer"
            self._peer.refuse(asked.id, RefusedError(text))

    def _keep_desk(self) -> None:
        """In a thread: answer requests, one after the other."""
        while True:
            asked = self._requests.get()
            self._peer.attempt(asked.id, functools.partial(self._carry_on, asked))
            with self._lock:
                self._starts_ahead.discard(id(asked))

    def _carry_on(self, asked: AnyRequest) -> None:
        if isinstance(asked, Start):
            self._start(asked)
        else:
            self._peer.answer(asked.id, self._do(asked))

    def _start(self, asked: Start) -> None:
        """Check a run and start it, unless it is stopped meanwhile."""
        if self.running:
            raise RefusedError("a run is under way; stop it first")
        load, wish, power = self._wanted(asked.job)
        request.check_write(load)
        run = threading.Thread(
            target=self._carry_out, args=(asked, load, wish, power), name="run", daemon=True
        )
        with self._lock:
            if id(asked) not in self._starts_ahead or self._is_closing:
                raise RefusedError("the run was stopped before it started")
            self._interrupts = job.Interrupts()
            self._under_way = True
            self._run = run
            run.start()

    def _do(self, asked: AnyRequest) -> object:
        """The answer to anything but a start or a stop."""
        match asked:
            case ListDevices():
                return self._rights.candidates()
            case DryRun():
                return plan_of(self._wanted(asked.job)[0])
            case Status():
                return self._status()
            case Metrics():
                return self._metrics(asked.openmetrics)
            case Start() | Stop():
                raise AssertionError(f"{asked} is not for the desk")

    def _wanted(self, asked: Job) -> tuple[job.Request, Measuring, PowerOptions]:
        """The request that a job means, and what is measured beside it."""
        load, wish = options.read(asked.options)
        load_request = wanted(asked, load)
        power = measuring.power_of(
            wish.power_feeds, wish.power_baseline, wish.no_prober, of_file=False
        )
        place = None
        if wish.log is not None:
            if len(wish.log.parts) != 1 or wish.log.name in ("", ".."):
                raise UsageError(
                    f"--log: '{wish.log}' is not the name of a file without a directory"
                )
            place = LogEvents(self._peer, wish.log.name)
        load_request = measuring.with_log(load_request, place, wish.log_buffer)
        load_request = dataclasses.replace(load_request, rights=self._rights)
        load_request = measuring.with_power_states(load_request, wish.power_states)
        return measuring.with_slices(load_request, wish.heat_map), wish, power

    def _carry_out(
        self, asked: Start, load: job.Request, wish: Measuring, power: PowerOptions
    ) -> None:
        """In a thread: the run from its claim to its result."""
        # Here and not at the desk: it comes before Started, and no lock waits for a slow peer.
        self._peer.answer(asked.id, plan_of(load))
        title = request.Subject(load.workload, load.devices).title
        streams = [stream.name for stream in load.config.streams]
        name = load.workload.workload.name
        self._peer.send(Started(title, name, streams, list(load.command)))
        ended = Ended(int(ExitCode.RUN_FAILED), FAILED)
        try:
            ended = self._measure(load, wish, power)
        except SpekError as error:
            ended = Ended(int(error.exit_code), error.message)
        finally:
            self._under_way = False
            self._peer.send(ended)

    def _measure(self, load: job.Request, wish: Measuring, power: PowerOptions) -> Ended:
        kernel = self._connect()
        try:
            view = Events(self._peer)
            result = measure(kernel, load, view, self._interrupts, wish.sampling_ns, power)
        finally:
            kernel.close()
        code = ending.exit_code_of(result, self._interrupts)
        data = msgspec.Raw(msgspec.json.encode(result))
        return Ended(int(code), result.failure or result.outcome.text, data)

    def _status(self) -> State:
        from spekctl.kernel import prober
        from spekctl.run import probe_line

        runs: list[dict[str, Any]] = []
        line = ""
        try:
            probe = prober.current()
            line = probe_line.text(probe) if probe is not None else ""
            with contextlib.closing(self._connect()) as kernel:
                runs = [msgspec.to_builtins(dataclasses.asdict(info)) for info in kernel.runs()]
        except SpekError as error:
            return State(self.running, [], error.message, line)
        return State(self.running, runs, probe=line)

    def _metrics(self, openmetrics: bool) -> str:
        from spekctl.render import prometheus
        from spekctl.run import scrape

        scraped = scrape.everything(self._connect)
        return prometheus.text(scraped.runs, scraped.probe, openmetrics=openmetrics)


def wanted(asked: Job, load: options.Options) -> job.Request:
    """The run that a job means, with all checks that need no claim. @load: its options."""
    if asked.workload and asked.toml:
        raise UsageError("workload and toml exclude each other")
    workload = _workload_of(asked)
    if meaning.replays(workload):
        raise UsageError(f"{workload.workload.name} replays a trace; this program reads no files")
    placed, paths = own_devices.taken(workload, asked.devices)
    # Before the first look at any: each takes milliseconds.
    if len(paths) > MAX_TARGETS:
        raise UsageError(f"{len(paths)} devices; a run has at most {MAX_TARGETS}")
    own_devices.check_named(placed, asked.devices)
    if not paths:
        raise UsageError("name a device")
    for path in paths:
        # Another path could tell whether a file exists.
        if not os.path.normpath(path).startswith("/dev/"):
            raise UsageError(f"{path} is not below /dev")
        # So could a link that the peer makes, as below /dev/shm, or may change until it is opened.
        if not block_device.stays_in(path):
            raise UsageError(
                f"{path} leads out of /dev, or through a directory that others than root may write"
            )
    subject = request.on(workload, asked.devices)
    _check_same(asked.ids, subject.devices)
    load_request = request.build(subject, load, asked.destroy)
    load_request = dataclasses.replace(load_request, command=command_of(asked))
    request.check_destroy(load_request)
    return load_request


def _check_same(ids: Mapping[str, str], devices: Sequence[Device]) -> None:
    """Refuse a path that means another device than the peer has been shown."""
    here = {device.path: device for device in devices}
    for path, identity in ids.items():
        device = here.get(path)
        if device is None:
            raise UsageError(f"ids: {path} is none of the run's devices")
        # A second path to it may have come, which shares its names, or the name that udev has.
        same_by_paths = bool(device.other_paths) and device.shares(identity)
        if not (device.is_named_by(identity) or same_by_paths):
            raise RefusedError(
                f"{path} is another device now: {identity} was chosen, and {device.identity} is"
                " there; look at the devices again"
            )


def _workload_of(asked: Job) -> WorkloadFile:
    if asked.toml:
        workload = file.parse(asked.toml)
        if not asked.settings:
            return workload
        return file.with_settings(msgspec.to_builtins(workload), asked.settings)
    if not asked.workload:
        return file.one_stream({}, asked.settings)
    # Not a path: it is read with all rights.
    if asked.workload not in file.shipped_names():
        raise UsageError(f"there is no workload '{asked.workload}'")
    return file.load(asked.workload, asked.settings)


def command_of(asked: Job) -> list[str]:
    """The same on the command line."""
    words = ["run"]
    if asked.toml or asked.workload:
        words.append(asked.workload or "WORKLOAD.toml")
    else:
        words += ["--pattern", "uniform"]
    words += [word for setting in asked.settings for word in ("--set", setting)]
    words += [word for device in asked.devices for word in ("--device", device)]
    for flag, value in asked.options.items():
        if isinstance(value, bool):
            words += [f"--{flag}"] if value else []
            continue
        for text in value if isinstance(value, list) else [value]:
            words += [f"--{flag}", text]
    return words + [word for name in asked.destroy for word in ("--destroy", name)]


def plan_of(load: job.Request) -> Plan:
    """What the peer shows of a request."""
    return Plan(
        name=load.workload.workload.name,
        toml=override.to_toml(load.workload),
        writes=load.config.writes,
        command=list(load.command),
        remarks=list(load.remarks),
    )
