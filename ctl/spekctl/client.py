# SPDX-License-Identifier: GPL-2.0
"""The only place that talks netlink. Records in, records out; NetlinkError becomes SpekError.

A Client is one socket. Runs that are not detached belong to it: when it is closed, or when this
process dies, the kernel stops them and gives the devices back.
"""

from __future__ import annotations

import abc
import contextlib
import errno as errno_names
import os
import select
import struct
from collections.abc import Callable, Iterator
from enum import IntEnum
from types import TracebackType
from typing import Any, Protocol, Self, TypeVar

from spekctl.config import RunConfig
from spekctl.errors import (
    NoKernelSideError,
    NotFoundError,
    NotPermittedError,
    SpekError,
    error_from_errno,
)
from spekctl.records import (
    CellRow,
    Direction,
    Histogram,
    IntervalRow,
    MapPart,
    Metric,
    MismatchInfo,
    Operation,
    Phase,
    Reason,
    RunInfo,
    RunState,
    SenseInfo,
    StatsCell,
    TargetInfo,
    VerifyInfo,
    WorkerInfo,
)

T = TypeVar("T")

DUMP_TRIES = 20
# Announcements wake us up; this is for a lost one.
OPEN_POLL_S = 0.25
NLM_F_DUMP_INTR = 0x10
_NLMSG_ERROR = 2
_HEADERS_LEN = 20  # struct nlmsghdr, struct genlmsghdr
_NLA_TYPE_MASK = 0x3FFF
_STREAM_ROW = struct.Struct("=4Q")
_OP = struct.Struct("=QQIIHHHH")


# Called while the kernel side waits for a device; raises to stop waiting.
Patience = Callable[[], None]


def endless() -> None:
    """Wait as long as it takes."""


class Kernel(Protocol):
    """What the rest of spekctl wants from the kernel side; unit tests bring their own."""

    def run_new(self, config: RunConfig, patience: Patience = endless) -> int: ...
    def run_get(self, run: int) -> RunInfo: ...
    def runs(self) -> list[RunInfo]: ...
    def run_start(self, run: int, start_ns: int = 0) -> None: ...
    def run_stop(self, run: int) -> None: ...
    def run_delete(self, run: int, patience: Patience = endless) -> None: ...
    def stats(self, run: int) -> list[StatsCell]: ...
    def intervals(self, run: int, since: int) -> list[IntervalRow]: ...
    def mismatches(self, run: int) -> list[MismatchInfo]: ...
    def map_get(self, run: int) -> list[MapPart]: ...
    def map_set(self, run: int, part: MapPart) -> None: ...
    def wait(self, timeout_s: float) -> None: ...
    def close(self) -> None: ...


def connect() -> Kernel:
    """A connection to spek.ko; NoKernelSideError with what to do if it is not there."""
    return Client()


class Link:
    """A generic netlink family: requests, dumps and state notifications, as dicts."""

    def __init__(self, gen: Any, group: str | None, missing: str) -> None:
        # pyroute2 takes a fifth of a second to import, twenty times that in an emulated guest.
        from pyroute2.netlink.exceptions import NetlinkError
        from pyroute2.netlink.generic import GenericNetlinkSocket

        self._gen = gen
        self._netlink_error = NetlinkError
        self._request = self._open(GenericNetlinkSocket, missing)
        self._events = None
        if group is not None:
            self._events = self._open(GenericNetlinkSocket, missing)
            with self._translated("listen"):
                self._events.add_membership(group)

    def _open(self, factory: Any, missing: str) -> Any:
        sock = factory(ext_ack=True)
        sock.asyncore.module_err_level = "debug"  # we say it ourselves
        try:
            sock.bind(self._gen.FAMILY, self._gen.message)
        except self._netlink_error as error:
            sock.close()
            if error.code == errno_names.ENOENT:
                raise NoKernelSideError(missing, errno=error.code, operation="resolve") from error
            raise error_from_errno(error.code, str(error.args[1]), "resolve") from error
        return sock

    def close(self) -> None:
        """Close both sockets; a second call does nothing."""
        for sock in (self._events, self._request):
            if sock is not None:
                with contextlib.suppress(OSError, RuntimeError):
                    sock.close()
        self._events = None

    @contextlib.contextmanager
    def _translated(self, operation: str, message: Any = None) -> Iterator[None]:
        try:
            yield
        except self._netlink_error as error:
            refusal = _refusal(error.code, str(error.args[1]), operation)
            offset = getattr(error, "offset", None)
            if message is not None and offset is not None:
                refusal.blamed = _blamed(type(message), bytes(message.data), offset)
            raise refusal from error
        except OSError as error:
            code = error.errno or errno_names.EIO
            text = str(error.strerror or error.args[-1] or os.strerror(code))
            raise _refusal(code, text, operation) from error

    def _message(self, command: IntEnum, values: dict[str, Any]) -> Any:
        message = self._gen.MESSAGES[command]()
        message["cmd"] = int(command)
        message["version"] = self._gen.VERSION
        message["attrs"] = _encode(type(message), values)
        return message

    def _send(
        self, message: Any, flags: int, callback: Callable[[Any], bool] | None = None
    ) -> list[Any]:
        sock = self._request
        core = sock.asyncore

        def with_offset(error: Any, answer: Any) -> Any:
            error.offset = answer.get_attr("NLMSGERR_ATTR_OFFS")
            return error

        async def exchange() -> list[Any]:
            answer = await core.nlm_request(
                message,
                msg_type=core.prid,
                msg_flags=flags,
                callback=callback,
                exception_factory=with_offset,
            )
            return [reply async for reply in answer]

        answers: list[Any] = sock._run_with_cleanup(exchange)
        return answers

    def ask(self, command: IntEnum, **values: Any) -> dict[str, Any]:
        """A request that is answered with one message."""
        from pyroute2.netlink import NLM_F_REQUEST

        message = self._message(command, values)
        with self._translated(_name(command), message):
            for reply in self._send(message, NLM_F_REQUEST):
                return _decode(reply)
        raise SpekError("the kernel side gave no answer", operation=_name(command))

    def tell(self, command: IntEnum, **values: Any) -> None:
        """A request that is only acknowledged."""
        from pyroute2.netlink import NLM_F_ACK, NLM_F_REQUEST

        with self._translated(_name(command)):
            self._send(self._message(command, values), NLM_F_REQUEST | NLM_F_ACK)

    def dump(self, command: IntEnum, **values: Any) -> list[dict[str, Any]]:
        """All messages of a dump; asked again when the kernel says that it changed meanwhile."""
        from pyroute2.netlink import NLM_F_DUMP, NLM_F_REQUEST

        for _ in range(DUMP_TRIES):
            interrupted = False

            def watch(message: Any) -> bool:
                nonlocal interrupted
                interrupted |= bool(message["header"]["flags"] & NLM_F_DUMP_INTR)
                return False

            with self._translated(_name(command)):
                replies = self._send(
                    self._message(command, values), NLM_F_REQUEST | NLM_F_DUMP, watch
                )
            if not interrupted:
                return [
                    _decode(reply) for reply in replies if reply["header"]["type"] != _NLMSG_ERROR
                ]
        raise SpekError(
            f"{_name(command)} changed under way {DUMP_TRIES} times", operation=_name(command)
        )

    def wait(self, timeout_s: float) -> None:
        """Until something was announced, or the time is over.

        Announcements only wake us up, what counts is what a request answers. So a lost one
        (ENOBUFS) costs nothing: it wakes us like any other.
        """
        assert self._events is not None
        ready, _, _ = select.select([self._events.fileno()], [], [], max(0.0, timeout_s))
        while ready:
            try:
                self._events.recv(65536)
            except (BlockingIOError, InterruptedError):
                return
            except OSError as error:
                if error.errno != errno_names.ENOBUFS:
                    raise


def _refusal(code: int, text: str, operation: str) -> SpekError:
    """The kernel's sentence; where it sent none, one of ours."""
    if code == errno_names.EPERM and text == os.strerror(code):
        return NotPermittedError(
            "not permitted: spek needs root (CAP_SYS_ADMIN in the initial user namespace)",
            errno=code,
            operation=operation,
        )
    if text == os.strerror(code):
        text = f"the kernel side refused {operation}: {text} (errno {code})"
    return error_from_errno(code, text, operation)


def _blamed(cls: Any, data: bytes, offset: int) -> tuple[str, int] | None:
    """Which top-level attribute of a request holds the byte at @offset, and which of its kind."""
    keys = {row[0]: key for key, attr in cls.keys.items() for row in cls.nla_map if row[1] == attr}
    counts: dict[int, int] = {}
    position = _HEADERS_LEN
    while position + 4 <= len(data):
        length, kind = struct.unpack_from("=HH", data, position)
        kind &= _NLA_TYPE_MASK
        if length < 4:
            break
        if position <= offset < position + length:
            return (keys[kind], counts.get(kind, 0)) if kind in keys else None
        counts[kind] = counts.get(kind, 0) + 1
        position += (length + 3) & ~3
    return None


def _name(command: IntEnum) -> str:
    return command.name.lower().replace("_", "-")


def _encode(cls: Any, values: dict[str, Any]) -> list[Any]:
    """Values by name -> attribute list; nests are dicts, several nests a list of dicts."""
    nested = {row[1]: row[2] for row in cls.nla_map}
    attrs: list[Any] = []
    for key, value in values.items():
        name = cls.keys[key]
        kind = nested[name]
        many = value if key in cls.multi else [value]
        for one in many:
            if isinstance(one, dict):
                attrs.append([name, {"attrs": _encode(getattr(cls, kind), one)}])
            else:
                attrs.append([name, one])
    return attrs


def _decode(message: Any) -> dict[str, Any]:
    """A message or nest -> values by name; what it does not carry is not there."""
    cls = type(message)
    names = {attr: key for key, attr in cls.keys.items()}
    values: dict[str, Any] = {}
    for attr, value in message["attrs"]:
        key = names.get(attr)
        if key is None:
            continue
        if hasattr(value, "nla_map"):
            value = _decode(value)
        if key in cls.multi:
            values.setdefault(key, []).append(value)
        else:
            values[key] = value
    return values


class Connection(abc.ABC):
    """Closed at the end of its with block."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @abc.abstractmethod
    def close(self) -> None:
        """End it, and what in the kernel belongs to it."""


class Client(Connection):
    """A connection to spek.ko."""

    def __init__(self) -> None:
        from spekctl.gen import spek

        self._spek = spek
        self._link = Link(
            spek,
            None,
            "the kernel module spek is not loaded; as root: modprobe spek (or insmod spek.ko)",
        )
        self._listener: Link | None = None

    def close(self) -> None:
        """Close the connection; runs that it owns end."""
        if self._listener is not None:
            self._listener.close()
        self._link.close()

    def run_new(self, config: RunConfig, patience: Patience = endless) -> int:
        """Check a configuration and claim its devices; the number of the READY run.

        Opening a device may take arbitrarily long. What @patience raises ends the wait; the run
        is deleted as soon as the device lets go.
        """
        self._listen()
        answer = self._link.ask(self._spek.Cmd.RUN_NEW, **_run_attributes(self._spek, config))
        run = int(answer["id"])
        try:
            while (info := self.run_get(run)).state is RunState.OPENING:
                patience()
                self.wait(OPEN_POLL_S)
        except BaseException:
            with contextlib.suppress(SpekError):
                self._link.tell(self._spek.Cmd.RUN_DEL, id=run)
            raise
        if info.state is not RunState.FAILED:
            return run
        self.run_delete(run)
        error = _refusal(info.failure_errno, info.failure, "run-new")
        if info.failure_part != "run":
            error.blamed = (info.failure_part, info.failure_index)
        raise error

    def run_get(self, run: int) -> RunInfo:
        """State and progress of a run."""
        return self._run_info(self._link.ask(self._spek.Cmd.RUN_GET, id=run))

    def runs(self) -> list[RunInfo]:
        """All runs that the kernel knows."""
        return [self._run_info(values) for values in self._link.dump(self._spek.Cmd.RUN_GET)]

    def run_start(self, run: int, start_ns: int = 0) -> None:
        """Start a READY run, at once or at @start_ns of CLOCK_MONOTONIC."""
        self._listen()
        values = {"start_ns": start_ns} if start_ns else {}
        self._link.tell(self._spek.Cmd.RUN_START, id=run, **values)

    def run_stop(self, run: int) -> None:
        """Ask a run to end; it is over when its state is DONE."""
        self._listen()
        self._link.tell(self._spek.Cmd.RUN_STOP, id=run)

    def run_delete(self, run: int, patience: Patience = endless) -> None:
        """Release a run without I/O in flight, and wait until its devices are free.

        What @patience raises ends the wait, not the deletion.
        """
        self._listen()
        self._link.tell(self._spek.Cmd.RUN_DEL, id=run)
        with contextlib.suppress(NotFoundError):
            while self.run_get(run):
                patience()
                self.wait(OPEN_POLL_S)

    def stats(self, run: int) -> list[StatsCell]:
        """Counters of all phases, histograms of the measure phase and the drain."""
        cells: dict[tuple[int, int, int], dict[str, Any]] = {}
        parts: dict[tuple[int, int, int], dict[Metric, Histogram]] = {}
        for values in self._link.dump(self._spek.Cmd.STATS_GET, run=run):
            key = (values["phase"], values["stream"], values["direction"])
            if "metric" in values:
                _add_histogram(parts.setdefault(key, {}), values)
            else:
                cells[key] = values
        return [
            StatsCell(
                phase=Phase(key[0]),
                stream=key[1],
                direction=Direction(key[2]),
                ios=values["ios"],
                bytes=values["bytes"],
                requests=values.get("requests", 0),
                errors=values.get("errors", 0),
                errors_by_errno={
                    int(one["status"]): int(one["count"]) for one in values.get("error", ())
                },
                histograms=parts.get(key, {}),
            )
            for key, values in sorted(cells.items())
        ]

    def intervals(self, run: int, since: int) -> list[IntervalRow]:
        """Closed intervals from number @since on, oldest first."""
        rows = self._link.dump(self._spek.Cmd.INTERVAL_GET, run=run, since=since)
        return [_interval(values) for values in rows]

    def operations(self, run: int, worker: int, count: int) -> list[Operation]:
        """The first operations that a worker of this run generates; nothing is sent anywhere."""
        parts = self._link.dump(self._spek.Cmd.OP_GET, run=run, worker=worker, count=count)
        parts.sort(key=lambda part: int(part["first"]))
        return [
            Operation(*fields) for part in parts for fields in _OP.iter_unpack(bytes(part["ops"]))
        ]

    def mismatches(self, run: int) -> list[MismatchInfo]:
        """The first wrong blocks that a run with stamped data has found."""
        found = self._link.dump(self._spek.Cmd.MISMATCH_GET, run=run)
        kinds = self._spek.Mismatch
        return [
            _record(MismatchInfo, {**one, "kind": kinds(one["kind"]).name.lower()}) for one in found
        ]

    def map_get(self, run: int) -> list[MapPart]:
        """What a run with stamped data knows to have written."""
        return [
            MapPart(one["target"], one["first"], bytes(one["states"]))
            for one in self._link.dump(self._spek.Cmd.MAP_GET, run=run)
        ]

    def map_set(self, run: int, part: MapPart) -> None:
        """Tell a READY run what was written before it."""
        step = self._spek.MAP_STATES * 8
        for at in range(0, len(part.states), step):
            self._link.tell(
                self._spek.Cmd.MAP_SET,
                run=run,
                target=part.target,
                first=part.first + at // 8,
                states=part.states[at : at + step],
            )

    def wait(self, timeout_s: float) -> None:
        """Until a run changed its state, or the time is over."""
        self._listen()
        assert self._listener is not None
        self._listener.wait(timeout_s)

    def _listen(self) -> None:
        """From now on; to be called before anything is asked for that is announced."""
        if self._listener is None:
            self._listener = Link(self._spek, self._spek.GROUP_RUNS, "spek was unloaded")

    def _run_info(self, values: dict[str, Any]) -> RunInfo:
        spek = self._spek
        workers = tuple(_record(WorkerInfo, one) for one in values.pop("worker", ()))
        targets = tuple(
            _record(
                TargetInfo,
                {**one, "backend": spek.Backend(one.get("backend", 0)).name.lower()},
            )
            for one in values.pop("target", ())
        )
        if verify := values.get("verify"):
            values["verify"] = _record(VerifyInfo, verify)
        if first_sense := values.get("first_sense"):
            values["first_sense"] = _record(SenseInfo, first_sense)
        values.update(
            senses=tuple(_record(SenseInfo, one) for one in values.pop("sense", ())),
            state=RunState(values["state"]),
            phase=Phase(values.get("phase", 0)),
            reason=Reason(values.get("reason", 0)),
            backend=spek.Backend(values.get("backend", 0)).name.lower(),
            data=spek.Data(values.get("data", 0)).name.lower(),
            failure_part=spek.ConfigPart(values.get("failure_part", 0)).name.lower(),
        )
        return _record(RunInfo, {**values, "workers": workers, "targets": targets})


def _record(kind: Callable[..., T], values: dict[str, Any]) -> T:
    """A record from the values it knows; a newer module may send more."""
    known: dict[str, Any] = kind.__dataclass_fields__  # type: ignore[attr-defined]
    return kind(**{key: value for key, value in values.items() if key in known})


def _interval(values: dict[str, Any]) -> IntervalRow:
    cells = {
        Direction(one["direction"]): _record(
            CellRow, {**one, "direction": Direction(one["direction"])}
        )
        for one in values.get("cell", ())
    }
    streams = bytes(values.get("streams", b""))
    return IntervalRow(
        seq=values["seq"],
        phase=Phase(values["phase"]),
        start_ns=values["start_ns"],
        end_ns=values["end_ns"],
        outstanding=values.get("outstanding", 0),
        backlog=values.get("backlog", 0),
        cpu_ns=values.get("cpu_ns", 0),
        switches=values.get("switches", 0),
        read=cells.get(Direction.READ, CellRow(Direction.READ)),
        write=cells.get(Direction.WRITE, CellRow(Direction.WRITE)),
        streams=tuple(_STREAM_ROW.iter_unpack(streams)),
    )


def _add_histogram(found: dict[Metric, Histogram], values: dict[str, Any]) -> None:
    """Add one message of buckets to the histogram of its metric."""
    metric = Metric(values["metric"])
    counts: dict[int, int] = found[metric].counts if metric in found else {}
    data = bytes(values.get("hist", b""))
    first = int(values.get("hist_first", 0))
    for index, (count,) in enumerate(struct.iter_unpack("=Q", data), start=first):
        if count:
            counts[index] = count
    found[metric] = Histogram(
        bits=values["hist_bits"],
        counts=counts,
        sum_ns=values["sum_ns"],
        min_ns=values["min_ns"],
        max_ns=values["max_ns"],
    )


def _run_attributes(spek: Any, config: RunConfig) -> dict[str, Any]:
    """A RunConfig as the attributes of run-new. What the kernel has a default for and what a
    law or pattern does not use stays out."""

    def enum(kind: Any, name: str) -> int:
        return int(kind[name.upper().replace("-", "_")])

    values: dict[str, Any] = {
        "name": config.name,
        "seed": config.seed,
        "detached": int(config.detached),
        "write": int(config.write),
        "backend": enum(spek.Backend, config.backend),
        "polled": int(config.polled),
        "data": enum(spek.Data, config.data),
        "max_outstanding": config.max_outstanding,
        "batch": config.batch,
        "spin_ns": config.spin_ns,
        "interval_ns": config.interval_ns,
        "ramp_ns": config.ramp_ns,
        "ramp_count": config.ramp_count,
        "time_ns": config.time_ns,
        "count": config.count,
        "max_errors": config.max_errors,
        "log_records": config.log_records,
        "stamp_id": config.stamp_id,
        "verify_from": config.verify_from,
        "grain_bytes": config.grain_bytes,
    }
    keep = {"seed", "interval_ns", "backend", "data", "max_outstanding"}
    values = {key: value for key, value in values.items() if value or key in keep}
    values["worker"] = [{"cpu": cpu} for cpu in config.cpus]
    values["target"] = [
        _used(major=one.major, minor=one.minor, optional={"diskseq": one.diskseq})
        for one in config.targets
    ]
    values["asu"] = [
        {
            "name": asu.name,
            "bytes": asu.bytes,
            **({"stripe_bytes": asu.stripe_bytes} if asu.stripe_bytes else {}),
            "extent": [{"target": one.target, "start": one.start} for one in asu.extents],
        }
        for asu in config.asus
    ]
    values["arrival"] = [
        _used(
            law=enum(spek.Law, arrival.law),
            optional={
                "depth": arrival.depth,
                "think_ns": arrival.think_ns,
                "rate_milli": arrival.rate_milli,
                "burst_length": arrival.burst_length,
                "burst_interval_ns": arrival.burst_interval_ns,
            },
        )
        for arrival in config.arrivals
    ]
    values["stream"] = [
        _used(
            name=stream.name,
            asu=stream.asu,
            arrival=stream.arrival,
            weight=stream.weight,
            replicas=stream.replicas,
            read_ppm=stream.read_ppm,
            pattern=enum(spek.Pattern, stream.pattern),
            range_start=stream.range_start,
            range_bytes=stream.range_bytes,
            align_bytes=stream.align_bytes,
            size=[{"bytes": size.bytes, "weight": size.weight} for size in stream.sizes],
            optional={
                "seq_ppm": stream.seq_ppm,
                "stride_bytes": stream.stride_bytes,
                "run_bytes": stream.run_bytes,
                "restart_bytes": stream.restart_bytes,
                "run_align_bytes": stream.run_align_bytes,
                "walk_style": enum(spek.WalkStyle, stream.walk_style),
            },
        )
        for stream in config.streams
    ]
    return values


def _used(optional: dict[str, int], **always: Any) -> dict[str, Any]:
    return {**always, **{key: value for key, value in optional.items() if value}}
