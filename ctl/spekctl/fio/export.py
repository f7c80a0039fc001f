# SPDX-License-Identifier: GPL-2.0-or-later
"""A workload as a job file of fio: a job for each stream.

What fio cannot say is refused, with all reasons at once; what it says in another way is a comment.
convert.py makes the same workload of the file, as far as both know its parts.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from fractions import Fraction

from spekctl import units
from spekctl.errors import UsageError
from spekctl.fio import laws
from spekctl.workload import meaning, own_devices, rates
from spekctl.workload.model import Arrival, Stream, WorkloadFile
from spekctl.workload.pauses import pauses_of
from spekctl.workload.rules import check_room

# I/Os that an open loop of fio may have outstanding.
_OPEN_DEPTH = 256
_RANDOM = ("uniform", "once", "runs", "zipf", "pareto", "normal", "zoned", "write-pointer")
_NOT_IN_FIO = {
    "walk": "fio has no hierarchical random walk",
    "hotband": "fio has no hot band",
    "backward": "going backwards, fio begins with the first block and leaves the last one out",
    "trace": "traces are not exported; fio replays an iolog (read_iolog), which `spekctl trace"
    " convert` writes",
}
_KEYS_NOT_IN_FIO = {
    "jitter": "fio's gaps are all alike",
    "restart": "fio's runs start anywhere",
    "run_align": "fio's runs start anywhere",
    "replicas": "a job of fio has one run under way",
    "fixed": "fio has no --hrrw",
}
_ARRIVALS_NOT_IN_FIO = {
    "limit": "it is not exported; give the job fio's rate_iops",
    "curve": "fio's rates do not change over time",
    "shape": "fio's rates do not change over time",
    "on": "fio's rates have no periods without I/O",
}


# fio's numbers of priority classes.
_CLASSES = {"rt": 1, "be": 2, "idle": 3}


class _Reasons:
    """Collects why a workload cannot be exported."""

    def __init__(self) -> None:
        self.sentences: list[str] = []

    @contextlib.contextmanager
    def of(self, place: str) -> Iterator[None]:
        """Notes an error raised inside as one of @place."""
        try:
            yield
        except UsageError as error:
            self.sentences.append(f"{place}: {error.message}")


def export(workload: WorkloadFile, devices: Sequence[str] = ()) -> str:
    """The job file. UsageError says all that fio cannot."""
    workload = rates.expanded(workload)
    reasons = _Reasons()
    header = workload.workload
    notes = [f"{header.name}: {header.summary}", "made by spekctl fio --export"]
    with reasons.of("workload"):
        if header.scale != "none":
            raise UsageError("fio has no BSUs to scale by")
    top = ["ioengine=libaio", "direct=1"]
    with reasons.of("asu"):
        workload, devices = own_devices.taken(workload, devices)
        if any(asu.device is not None for asu in workload.asu):
            # Else a job without a filename would write a file beside its job file.
            own_devices.placed(workload, devices)
        check_room(workload.asu)
    own = {asu.device for asu in workload.asu}
    if shared := [device for device in devices if device not in own]:
        top.append(_filename(shared))
    with reasons.of("run"):
        top += _run(workload, notes)
    jobs = []
    arrivals = {arrival.name: arrival for arrival in meaning.arrivals_of(workload)}
    for stream in workload.stream:
        with reasons.of(f"stream '{stream.name}'"):
            arrival = arrivals[stream.arrival or next(iter(arrivals))]
            lines = [f"[{stream.name}]", *_device(workload, stream), *_stream(workload, stream)]
            jobs.append([*lines, *_arrival(workload, stream, arrival, notes)])
    if reasons.sentences:
        raise UsageError(f"{header.name} is not exported: " + "; ".join(reasons.sentences))
    head = [f"; {note}" for note in notes] + ["", "[global]", *top]
    return "\n".join(["\n".join(section) + "\n" for section in (head, *jobs)])


def _run(workload: WorkloadFile, notes: list[str]) -> list[str]:
    run, lines = workload.run, []
    if run.ramp_count is not None:
        raise UsageError("fio's ramp-up is a time: write ramp instead of ramp_count")
    if run.time is not None:
        lines.append(f"runtime={_duration(units.parse_duration_ns(run.time))}")
        apart = any(arrival.count or arrival.passes for arrival in workload.arrival)
        if run.count is None and run.passes is None and not apart:
            lines.append("time_based")
    if run.count is not None:
        if len(workload.stream) > 1:
            raise UsageError("fio counts the I/Os of each job: write time instead of count")
        lines += _number(run.count, workload.stream[0])
    if run.passes is not None:
        if len(workload.stream) > 1:
            raise UsageError("fio counts the passes of each job: write time instead of passes")
        lines += _loops(run.passes, workload.stream[0])
    if run.ramp is not None:
        lines.append(f"ramp_time={_duration(units.parse_duration_ns(run.ramp))}")
    if run.batch is not None:
        lines.append(f"iodepth_batch={run.batch}")
    if run.interval is not None:
        notes.append(f"the report interval of {run.interval} is fio's log_avg_msec")
    lines.append("refill_buffers" if run.data == "random" else "zero_buffers")
    return lines


def _number(count: int, stream: Stream) -> list[str]:
    """fio ends at the size of the region if that is less."""
    largest = max(size for size, _ in meaning.size_weights(stream))
    return [f"number_ios={count}", f"io_size={count * largest}"]


def _loops(passes: int | float, stream: Stream) -> list[str]:
    if passes != int(passes):
        raise UsageError("fio's loops are whole: write a whole number of passes")
    if stream.pattern == "strided":
        raise UsageError("fio does not stop a stride at the end of a device: write count")
    return [f"loops={int(passes)}"]


def _own_end(
    workload: WorkloadFile, stream: Stream, arrival: Arrival, sharing: Sequence[Stream]
) -> list[str]:
    """The end of a job whose process may have one of its own."""
    if arrival.count is None and arrival.passes is None:
        ends_apart = any(process.count or process.passes for process in workload.arrival)
        return ["time_based"] if ends_apart else []
    if len(sharing) > 1:
        raise UsageError(
            f"the end of arrival '{arrival.name}' is of several streams, and fio's jobs end each"
            " after their own I/Os"
        )
    if arrival.count is not None:
        return _number(arrival.count, stream)
    assert arrival.passes is not None
    return _loops(arrival.passes, stream)


def _stream(workload: WorkloadFile, stream: Stream) -> list[str]:
    """What is done, and where."""
    if stream.pattern in _NOT_IN_FIO:
        raise UsageError(_NOT_IN_FIO[stream.pattern])
    for key, why in _KEYS_NOT_IN_FIO.items():
        if getattr(stream, key) is not None:
            raise UsageError(f"{key}: {why}")
    if stream.operation not in ("transfer", "discard"):
        raise UsageError(f"fio has no stream of operation {stream.operation}")
    sizes = meaning.size_weights(stream)
    random = stream.pattern in _RANDOM or stream.zone_order in ("random", "once")
    reads = Fraction(meaning.read_ppm(stream), 10_000)
    lines = []
    if stream.operation == "discard":
        kind = "trim"
    elif 0 < reads < 100:
        if not random:
            raise UsageError("fio keeps a place for each direction: make two streams of it")
        kind = "rw"
        lines.append(f"rwmixread={_whole(reads, 'read')}")
    else:
        kind = "read" if reads else "write"
    suffix = _suffix(stream, [size for size, _ in sizes])
    lines.insert(0, f"rw={'rand' if random else ''}{kind}{suffix}")
    if len(sizes) == 1:
        lines.append(f"bs={sizes[0][0]}")
    else:
        total = sum(weight for _, weight in sizes)
        mix = ":".join(
            f"{size}/{_whole(Fraction(100 * weight, total), 'sizes')}" for size, weight in sizes
        )
        lines.append(f"bssplit={mix}")
    if stream.align is not None:
        align = units.parse_size(stream.align)
        if not random:
            raise UsageError("align: fio's blockalign has no effect on jobs in sequence")
        once = stream.pattern == "once" or stream.zone_order == "once"
        if once and [size for size, _ in sizes] != [align]:
            raise UsageError("align: with blockalign fio keeps no map of the blocks done")
        lines.append(f"blockalign={align}")
    if stream.fua:
        lines.append("sync=dsync")
    if stream.atomic:
        lines.append("atomic=1")
    if stream.priority is not None:
        name, level = meaning.priority_of(stream)
        lines.append(f"prioclass={_CLASSES[name]}")
        lines += [f"prio={level}"] if name != "idle" else []
    if stream.write_hint is not None:
        lines.append(f"write_hint={stream.write_hint}")
    return lines + _contents(stream) + _pattern(stream) + _region(workload, stream)


def _contents(stream: Stream) -> list[str]:
    """The data of the writes, unless it is that of the run."""
    data = meaning.data_of(stream)
    if data is None:
        return []
    compressible = Fraction(data.compressible_ppm, 10_000)
    duplicate = Fraction(data.duplicate_ppm, 10_000)
    lines = [f"buffer_pattern=0x{data.fill.hex()}"] if data.fill else []
    if compressible and not (data.fill and compressible == 100):
        lines.append(f"buffer_compress_percentage={_whole(compressible, 'compressible')}")
    if duplicate:
        lines.append(f"dedupe_percentage={_whole(duplicate, 'duplicate')}")
    return lines or ["zero_buffers=0", "refill_buffers"]


def _suffix(stream: Stream, sizes: Sequence[int]) -> str:
    """What follows the kind of I/O: a gap, or the length of runs."""
    if stream.pattern == "strided" and stream.zone_size is None:
        gap = units.parse_size(stream.stride or 0) - sizes[0]
        if len(sizes) > 1 or gap <= 0:
            raise UsageError("stride: fio has a gap after blocks of one size")
        return f":{gap}"
    if stream.pattern == "runs":
        length = meaning.fraction_or_bytes(stream.run_length or 0)
        if isinstance(length, Fraction) or len(sizes) > 1 or length % sizes[0]:
            raise UsageError("run_length: fio's runs are a number of blocks of one size")
        # spek's run ends before the I/O that would reach its end.
        count = length // sizes[0] - 1
        if count < 2:
            raise UsageError(
                "run_length: fio's runs have two blocks at least, and this one has one"
            )
        return f":{count}"
    return ""


def _pattern(stream: Stream) -> list[str]:
    if stream.pattern == "uniform":
        random = []
        if stream.sequential is not None:
            share = _whole(100 * (1 - units.parse_percent(stream.sequential)), "sequential")
            random = [f"percentage_random={share}"]
        return ["norandommap", *random]
    if stream.pattern == "normal" and stream.spread:
        return [_bell(stream)]
    if stream.spread is False or stream.center is not None or stream.pattern == "normal":
        key = "center" if stream.center is not None else "spread"
        raise UsageError(f"{key}: fio scatters frequent addresses over the range by a hash")
    if stream.pattern == "zipf":
        return [f"random_distribution=zipf:{stream.theta}"]
    if stream.pattern == "pareto":
        return [f"random_distribution=pareto:{stream.h}"]
    if stream.pattern == "zoned":
        return [_zones(stream)]
    if stream.zone_size is not None:
        return _gaps(stream, stream.zone_size)
    if stream.pattern == "write-pointer":
        limit = [] if stream.open_zones is None else [f"max_open_zones={stream.open_zones}"]
        return ["zonemode=zbd", *limit]
    return []


def _gaps(stream: Stream, zone_size: int | str) -> list[str]:
    """Zones of several I/Os."""
    zone, stride = units.parse_size(zone_size), units.parse_size(stream.stride or 0)
    span = zone if stream.zone_range is None else units.parse_size(stream.zone_range)
    if span > stride:
        raise UsageError("zone_range: fio's zones do not overlap")
    if stream.range is not None:
        raise UsageError("range: zones of fio continue to the end of the device")
    lines = ["zonemode=strided", f"zonesize={zone}", f"zonerange={span}"]
    lines += [f"zoneskip={stride - span}"] if stride > span else []
    return [*lines, *(["norandommap"] if stream.zone_order == "random" else [])]


def _bell(stream: Stream) -> str:
    deviation = units.parse_percent(stream.deviation or "0%")
    if abs(deviation - laws.BELL) >= Fraction(1, 10_000):
        raise UsageError("deviation: that of fio's normal distribution is 8.3333%")
    width = 100 * units.parse_percent(stream.width or "0%")
    if width > laws.WIDTH_MAX:
        raise UsageError(f"width: that of fio's normal distribution is at most {laws.WIDTH_MAX}%")
    return f"random_distribution=normal:{float(width):.6g}"


def _zones(stream: Stream) -> str:
    in_bytes = {meaning.is_percent(zone.size) for zone in stream.zones}
    if len(in_bytes) > 1:
        raise UsageError("zones: fio has sizes in per cent or in bytes, not both")
    parts = []
    for zone in stream.zones:
        size = meaning.fraction_or_bytes(zone.size)
        text = str(size) if isinstance(size, int) else _whole(100 * size, "zones")
        parts.append(f"{_whole(100 * units.parse_percent(zone.share), 'zones')}/{text}")
    name = "zoned" if True in in_bytes else "zoned_abs"
    return f"random_distribution={name}:{':'.join(parts)}"


def _filename(devices: Sequence[str]) -> str:
    return "filename=" + ":".join(device.replace(":", "\\:") for device in devices)


def _device(workload: WorkloadFile, stream: Stream) -> list[str]:
    """The device that its asu has of its own."""
    asus = meaning.asus_of(workload)
    name = stream.asu or asus[0].name
    (device,) = (asu.device for asu in asus if asu.name == name)
    return [] if device is None else [_filename([device])]


def _region(workload: WorkloadFile, stream: Stream) -> list[str]:
    """Its range on the device. Shares of an asu are shares of a share of the device."""
    start: Fraction | int = 0
    size: Fraction | int = Fraction(1)
    asus = meaning.asus_of(workload)
    ends: dict[str | None, Fraction | int] = {}
    end: Fraction | int = 0
    for asu in asus:
        start = ends.get(asu.device, 0)
        if asu.start is not None:
            start = meaning.fraction_or_bytes(asu.start)
        size = meaning.fraction_or_bytes(asu.size)
        end = ends[asu.device] = _sum(start, size, asu.name)
        if asu.name == (stream.asu or asus[0].name):
            break
    to_end = isinstance(end, Fraction) and end == 1
    inner = _part(stream.start, size)
    if stream.range is not None:
        size = _part(stream.range, size)
    elif not to_end:
        size = _sum(size, -inner, stream.name)
    start = _sum(start, inner, stream.name)
    lines = []
    if start:
        lines.append(f"offset={_place(start, 'start')}")
    if stream.range is not None or not to_end:
        lines.append(f"size={_place(size, 'range')}")
    return lines


def _part(value: int | str, of: Fraction | int) -> Fraction | int:
    given = meaning.fraction_or_bytes(value)
    if isinstance(given, int):
        return given
    part = given * of
    return int(part) if isinstance(of, int) else part


def _sum(first: Fraction | int, second: Fraction | int, name: str) -> Fraction | int:
    if first and second and isinstance(first, Fraction) != isinstance(second, Fraction):
        raise UsageError(f"the range of {name} is in per cent and in bytes; fio has one of them")
    return first + second if second else first


def _place(value: Fraction | int, what: str) -> str:
    return f"{_whole(100 * value, what)}%" if isinstance(value, Fraction) else str(value)


def _arrival(
    workload: WorkloadFile, stream: Stream, arrival: Arrival, notes: list[str]
) -> list[str]:
    first = meaning.arrivals_of(workload)[0].name
    sharing = [
        stream
        for stream in meaning.beside_trace(workload)
        if (stream.arrival or first) == arrival.name
    ]
    if arrival.law == "burst":
        raise UsageError("fio has no bursts")
    for key, why in _ARRIVALS_NOT_IN_FIO.items():
        if getattr(arrival, key) not in (None, []):
            raise UsageError(f"{key}: {why}")
    end = _own_end(workload, stream, arrival, sharing)
    if arrival.law == "closed":
        if len(sharing) > 1:
            raise UsageError(
                f"it shares the closed loop '{arrival.name}' with other streams, and fio's jobs"
                " have a depth each"
            )
        think = units.parse_duration_ns(arrival.think) if arrival.think is not None else 0
        depth = arrival.depth or 1
        if pauses := _pauses(arrival):
            if think:
                raise UsageError("think: fio has it or pauses between bursts, not both")
            return [f"iodepth={depth}", *pauses, *end]
        if not think:
            return [f"iodepth={depth}", *end]
        if depth > 1:
            raise UsageError("think: fio with a depth of more than 1 pauses between batches")
        if think % 1000:
            raise UsageError("think: fio's pauses are whole microseconds")
        return ["iodepth=1", f"thinktime={think // 1000}us", *end]
    if 0 < meaning.read_ppm(stream) < 1_000_000:
        raise UsageError("fio has a rate for each direction: make two streams of it")
    weights = meaning.weights_of([(stream.name, stream.share) for stream in sharing], "the shares")
    part = Fraction(weights[sharing.index(stream)], sum(weights))
    if len(sharing) > 1 and arrival.law == "constant":
        raise UsageError(f"it shares the constant rate of '{arrival.name}' with other streams")
    rate = _whole(Fraction(str(arrival.rate)) * part, "rate")
    depth = workload.run.max_outstanding or _OPEN_DEPTH
    note = f"open loops wait at iodepth={depth}; those of spek keep their schedule"
    if note not in notes:
        notes.append(note)
    law = ["rate_process=poisson"] if arrival.law == "poisson" else []
    return [f"iodepth={depth}", f"rate_iops={rate}", *law, *end]


def _pauses(arrival: Arrival) -> list[str]:
    """Options of a closed loop that pauses between bursts; none for another one."""
    pauses = pauses_of(arrival)
    if not pauses.pause_ns:
        return []
    if pauses.pause_ns % 1000 or pauses.pause_after_ns % 1000:
        raise UsageError("pause: fio's times are whole microseconds")
    words = [f"thinktime={pauses.pause_ns // 1000}us"]
    if pauses.pause_every:
        counts = "complete" if pauses.pause_counts_completed else "issue"
        words += [f"thinktime_blocks={pauses.pause_every}", f"thinktime_blocks_type={counts}"]
    if pauses.pause_after_ns:
        words.append(f"thinktime_iotime={pauses.pause_after_ns // 1000}us")
    return words


# --- fio's numbers -------------------------------------------------------------------------------


def _whole(value: Fraction, what: str) -> str:
    if value.denominator != 1:
        raise UsageError(f"{what}: fio has whole numbers, not {float(value):g}")
    return str(value.numerator)


def _decimal(value: Fraction) -> str:
    return f"{float(value):.12g}"


def _duration(ns: int) -> str:
    for unit, size in (("s", 10**9), ("ms", 10**6), ("us", 1000)):
        if ns % size == 0:
            return f"{ns // size}{unit}"
    raise UsageError(f"fio's times are whole microseconds, not {ns} ns")
