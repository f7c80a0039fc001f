# SPDX-License-Identifier: GPL-2.0-or-later
"""The only place that talks netlink. Records in, records out; NetlinkError becomes SpekError.

A Client is one socket. Runs that are not detached belong to it: when it is closed, or when this
process dies, the kernel stops them and gives the devices back.
"""

from __future__ import annotations

import contextlib
import struct
from collections.abc import Callable
from typing import Any, Protocol, TypeVar

from spekctl.errors import (
    NotFoundError,
    SpekError,
)
from spekctl.kernel.link import Connection, Link, _refusal
from spekctl.kernel.records import (
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
from spekctl.workload.config import RunConfig
from spekctl.workload.options import OPTIONS, Kind, Option

T = TypeVar("T")

# Announcements wake us up; this is for a lost one.
OPEN_POLL_S = 0.25
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


class Client(Connection):
    """A connection to spek.ko."""

    def __init__(self) -> None:
        from spekctl.kernel.gen import spek as gen_spek

        self._spek = gen_spek
        self._link = Link(
            gen_spek,
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

    def value(option: Option, given: Any) -> int:
        if option.kind is Kind.CHOICE:
            return enum(getattr(spek, option.attribute.capitalize()), given)
        return int(given)

    values: dict[str, Any] = {
        "name": config.name,
        "detached": int(config.detached),
        **{
            option.attribute: value(option, getattr(config, name))
            for name, option in OPTIONS.items()
            if option.attribute
        },
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
