# SPDX-License-Identifier: GPL-2.0-or-later
"""When a job begins and ends: its times, its amount, and limits that end it early."""

from __future__ import annotations

import copy
import functools
import math
from fractions import Fraction
from itertools import accumulate, pairwise
from typing import Any

from spekctl import units
from spekctl.errors import UsageError, at
from spekctl.fio import sizes as block_sizes
from spekctl.fio import values
from spekctl.fio.plan import Mix, Plan, Reader
from spekctl.workload.endings import WINDOW_MAX
from spekctl.workload.passes import ios_of_zone

ENDS = "ends by time only; fio also ends when it has covered its size"
MEAN = "the number of I/Os follows from the mean block size; fio ends exactly at its size"
EARLY = (
    "it ends after its size, in I/Os of the mean block size; fio's random map is in blocks of the"
    " smallest size of all directions, and with other sizes a job may end early, when fio finds no"
    " free place for the next I/O"
)
NUMBER = "number_ios ends it; fio also ends when it has covered its size, if that has fewer I/Os"
GAPS = (
    "it ends at the end of its range; if that is the end of the device, fio starts over until it"
    " has transferred its size"
)
TOGETHER = "the run ends after the I/Os of all clones together; fio ends each after its own"
POINTERS = "its end is a time; fio ends when it has covered the size of the device"
CAPACITY = "it ends after the capacity of its zones; fio's random writes end after their size"
RAMP = "the amount counts from the end of the ramp-up; fio also counts the I/Os of the ramp-up"
LOOPED = (
    "loops: the run does io_size that many times; if io_size is larger than the range to cover, fio"
    " counts loops of the range, and does the larger of the two"
)
MORE = "io_size is a multiple of the size; fio 3.33 takes up to 100%"
# Patterns that pass over their range.
IN_ORDER = ("sequential", "backward", "strided", "once")
# Decimal places of the passes of a direction: less than a block of any device.
PASSES_DIGITS = 9
_AMOUNTS = ("loops", "io_size", "number_ios")
CYCLES = "limits are checked over each report interval; fio checks over rate_cycle, 1 s by default"
STEADY = (
    "steady state is judged over the last rounds of a report interval each, by their range and"
    " slope; fio takes the largest deviation from the mean, or the slope alone"
)
PACED = (
    "steadystate: the job's rate or think time sets its {}, which is steady in fio and here on any"
    " device that keeps up; only steadystate=lat judges the device"
)
# Keys of an arrival process that does not leave its rate to completions.
_PACES = {"rate", "think", "pause"}
# Limits of steady state in fio's terms; the other one of spek's two limits is no limit.
_NO_LIMIT = "100%"


def set_length(options: Reader, plan: Plan, clones: int) -> None:
    """Time, ramp-up, and the number of I/Os after which fio ends."""
    runtime = options.value("runtime", values.duration_ns, "s") or 0
    by_time = options.flag("time_based")
    for name in ("runtime", "time_based"):
        options.went(name, "run.time")
    ramp = options.value("ramp_time", values.duration_ns, "s") or 0
    options.went("ramp_time", "run.ramp")
    if ramp:
        plan.run["ramp"] = units.format_duration(ramp)
    plan.delay_ns = options.value("startdelay", values.duration_ns, "s") or 0
    options.went("startdelay", "--start-at")
    if runtime:
        plan.run["time"] = units.format_duration(runtime)
        if by_time or not _has_amount(options, plan, clones):
            for name in _AMOUNTS:
                options.went(name, "nothing: the run ends by its time")
            return
    elif options.given("time_based"):
        plan.mapped.pop("time_based")
        plan.not_needed["time_based"] = "no effect without a runtime, as in fio"
    _set_amount(options, plan, clones)


def _set_amount(options: Reader, plan: Plan, clones: int) -> None:
    """The I/Os or passes after which fio ends the clones of a job."""
    number = options.value("number_ios", values.whole)
    end = _end(options, plan)
    by_number = False
    if number:
        most = number * (options.value("loops", values.whole) or 1)
        if isinstance(end, Fraction) or end is None:
            plan.differs(NUMBER)
        end = most if isinstance(end, Fraction) or end is None else min(end, most)
        by_number = end == most
    if plan.apart:
        plan.passes = _passes(end, Fraction(1)) if isinstance(end, Fraction) else None
        plan.amount = end if isinstance(end, int) else None
    elif isinstance(end, Fraction):
        plan.passes = _passes(end * clones, _parts(options, plan, clones))
    else:
        plan.amount = None if end is None else end * clones
    for name in _AMOUNTS:
        options.went(name, "run.passes" if plan.passes is not None else "run.count")
    # fio counts number_ios alone from the end of the ramp-up.
    if end is not None and not by_number and "ramp" in plan.run:
        plan.differs(RAMP)
    if clones > 1 and not plan.apart:
        plan.differs(TOGETHER)
    sizes = {size for size, _ in _weights(plan)}
    if not number and _may_end_early(options, plan, sizes):
        plan.differs(EARLY)
    elif not number and len(sizes) > 1:
        plan.differs(MEAN)


def _may_end_early(options: Reader, plan: Plan, sizes: set[int]) -> bool:
    """Whether the job has a random map in fio, in units that are not its block sizes."""
    base = options.value("kb_base", values.whole) or 1024
    drawn = (options.text("rw") or "read").startswith("rand") and has_map(options, base)
    law = (options.text("random_distribution") or "random").partition(":")[0]
    if not drawn or law != "random" or options.text("zonemode") == "zbd":
        return False
    least = block_sizes.smallest(options, base)
    used = set()
    for stream in plan.streams:
        if stream.get("operation") == "discard":
            used.add(2)
        else:
            used |= {int(stream["read"] == "0%"), int(stream["read"] != "100%")}
    return any(least[direction] > min(least) for direction in used) or any(
        size % min(least) for size in sizes
    )


def _has_amount(options: Reader, plan: Plan, clones: int) -> bool:
    """Whether a job that has a time ends by an amount as well, in spek's terms; if it has none,
    the job ends by its time only, and the report says so."""
    trial = copy.deepcopy(plan)
    try:
        _set_amount(options, trial, clones)
    except UsageError:
        trial.amount = trial.passes = None
    if trial.amount is None and trial.passes is None:
        plan.differs(ENDS)
        return False
    return True


def _end(options: Reader, plan: Plan) -> int | Fraction | None:
    """The end of one clone: I/Os, or passes of its range as a Fraction if its size is that of the
    device; None: it ends by time, as it reads below write pointers or beside writes at them."""
    base = options.value("kb_base", values.whole) or 1024
    loops = options.value("loops", values.whole) or 1
    weights = _weights(plan)
    mean = _mean(weights)
    first = plan.streams[0]
    random = first["pattern"] not in (*IN_ORDER, "write-pointer") or "zone_order" in first
    # Bytes of the range that an I/O takes.
    stride = Fraction(first["stride"]) if first["pattern"] == "strided" else None
    if stride is not None:
        stride /= ios_of_zone(first.get("zone_size", 0), weights)
    # A stride of zones leaves the bytes as they are; one of rw=read:60k ends where the range does.
    skips = stride is not None and options.text("zonemode") != "strided"
    with_map = not random or has_map(options, base)
    text = options.text("io_size")
    in_zones = values.in_zones(text)
    in_bytes = text is not None and not text.endswith("%") and not in_zones
    if in_zones:
        given = _share_of_zones(text or "", options.text("size"))
    elif in_bytes:
        given = options.value("io_size", values.size, base)
    else:
        given = options.value("io_size", lambda share: values.whole(share.removesuffix("%")))
    if given and not in_bytes and given > 100:
        plan.differs(MORE)
    size = _bytes(options, base)
    if any(stream["pattern"] == "write-pointer" for stream in plan.streams) and not in_bytes:
        in_order = not (options.text("rw") or "read").startswith("rand")
        # A pass counts writes only, but fio counts reads as well.
        alike = len({stream["read"] for stream in plan.streams}) == 1
        written = 100 - int(first["read"].rstrip("%")) if alike else 0
        if written and (in_order or size is None):
            if not in_order:
                plan.differs(CAPACITY)
            return Fraction(written * (given or 100), 100 * 100) * loops
        if size is None:
            plan.differs(POINTERS)
            return None
    if size is not None:
        loop_ios = _whole(size, mean, random)
        if skips and stride is not None:
            loop_ios = max(0, size - int(mean)) // int(stride) + 1
        amount = None
        if given:
            wanted = Fraction(given) if in_bytes else Fraction(size * given, 100)
            amount = _whole(wanted, mean, random or first["pattern"] != "once")
        if skips and amount is None:
            plan.differs(GAPS)
        return int(_looped(loop_ios, amount, loops, with_map))
    if given and in_bytes:
        if loops > 1 and with_map:
            plan.differs(LOOPED)
        return _whole(Fraction(given), mean, True) * loops
    # A pass of a stride has fewer bytes than its range.
    bytes_in_passes = Fraction(1)
    if stride is not None:
        bytes_in_passes = stride / mean
        if not skips:
            # Rounded down, as a part of an I/O counts as an I/O.
            bytes_in_passes = Fraction(int(bytes_in_passes * 10**PASSES_DIGITS), 10**PASSES_DIGITS)
    ends_there = skips and any(
        stream.get("start", 0) not in (0, "0%") or "range" in stream for stream in plan.streams
    )
    if ends_there and not given:
        plan.differs(GAPS)
    # Zones go on beyond a size in per cent, to the end of the device: the passes are fewer.
    text = options.text("size") or ""
    if stride is not None and not skips and text.endswith("%") and "range" not in first:
        bytes_in_passes *= Fraction(values.percent(text), 100)
    share = Fraction(given, 100) * bytes_in_passes if given else None
    loop = Fraction(1) if ends_there else bytes_in_passes
    return Fraction(_looped(loop, share, loops, with_map))


def _share_of_zones(text: str, size: str | None) -> Fraction:
    """Per cent of its size that an io_size in zones is."""
    if not values.in_zones(size) or not int((size or "")[:-1]):
        raise UsageError(
            f"io_size: '{text}' is a number of zones, and neither zonesize nor the device, if it is"
            " one of this machine, says how large they are; give zonesize, or size in zones as well"
        )
    return Fraction(100 * int(text[:-1]), int((size or "")[:-1]))


def _looped(
    per_loop: int | Fraction, amount: int | Fraction | None, loops: int, with_map: bool
) -> int | Fraction:
    """What fio does in all, if it does @per_loop in one loop over its size and is to do @amount."""
    if amount is None:
        return per_loop * loops
    if amount <= per_loop or not with_map:
        return amount * loops
    # It goes over its size again until the amount is done, which the loops count for.
    return max(per_loop * loops, amount)


def _bytes(options: Reader, base: int) -> int | None:
    """The bytes of a loop; None if these depend on the size of the device."""
    text = options.text("size") or "100%"
    # The size of a zone is that of the device.
    by_share = text.endswith(("%", "z"))
    size = options.value("size", values.size, base) if not by_share else None
    end = options.value("filesize", values.size, base)
    if not end:
        return int(size) if size else None
    room = (end - (options.value("offset", values.size, base) or 0)) * max(
        1, (options.text("filename") or "").replace("\\:", "").count(":") + 1
    )
    most = end * values.percent(text) // 100 if by_share else size or room
    return int(min(room, most))


def _whole(size: int | Fraction, mean: Fraction, up: bool) -> int:
    """I/Os of so many bytes; a rest has one if they go @up."""
    return max(1, math.ceil(size / mean) if up else int(size / mean))


def rates_of(plan: Plan) -> list[Fraction]:
    """The rates of a job with a rate for each direction, by its arrival processes: the rates decide
    the directions' shares of its I/Os, whatever the mix. Empty if its processes are not those of
    directions, or if only one has a rate."""
    if plan.apart or len(plan.arrivals) < 2:
        return []
    rates = [Fraction(str(arrival.get("rate", 0))) for arrival in plan.arrivals]
    return rates if all(rates) else []


def _weights(plan: Plan, process: int | None = None) -> list[tuple[int, Fraction]]:
    """The block sizes of all streams, or of those of an arrival process, with their shares of the
    I/Os."""
    rates = rates_of(plan)
    totals = [0] * max(1, len(plan.arrivals))
    for stream in plan.streams:
        totals[stream.get("arrival", 0)] += stream["share"]
    weights = []
    for stream in plan.streams:
        place, mix = stream.get("arrival", 0), mix_of(stream)
        if process not in (None, place):
            continue
        share = Fraction(stream["share"])
        if rates:
            share *= rates[place] / totals[place]
        often = sum(weight for _, weight in mix)
        weights += [(size, share * weight / often) for size, weight in mix]
    return weights


def _mean(weights: list[tuple[int, Fraction]]) -> Fraction:
    """Bytes of an I/O, on average."""
    total = sum((size * weight for size, weight in weights), Fraction(0))
    return total / sum((weight for _, weight in weights), Fraction(0))


def _ranges(plan: Plan) -> set[tuple[int, int | str, int | str]]:
    """The ranges of the streams of each arrival process, with its place."""
    return {
        (stream.get("arrival", 0), stream.get("start", 0), stream.get("range", ""))
        for stream in plan.streams
    }


def _parts(options: Reader, plan: Plan, clones: int) -> Fraction:
    """The ranges of the streams, as multiples of the range of a clone: one each, unless streams
    stand for several clones with places of their own."""
    ranges = _ranges(plan)
    if not options.nonzero("offset_increment") or clones <= len(ranges):
        return Fraction(len(ranges))
    size, spans = options.text("size") or "", [str(span) for _, _, span in ranges]
    increment = options.text("offset_increment") or ""
    if not (size.endswith("%") and increment.endswith("%") and all(spans)):
        raise UsageError(
            "numjobs: more clones than there can be streams end after parts of the device of their"
            " own; write size in bytes"
        )
    each, start = values.percent(size), values.percent(options.text("offset") or "0")
    if start + (clones - 1) * values.percent(increment) + each > 100:
        raise UsageError("offset_increment: the range of its last clone extends beyond the device")
    return Fraction(sum(values.percent(span) for span in spans), each)


def _passes(total: Fraction, parts: Fraction) -> int | float:
    """The passes of a run, if its clones do @total together, in ranges of @parts of theirs."""
    wanted = total / parts
    passes = int(wanted) if wanted.denominator == 1 else float(wanted)
    if Fraction(str(passes)) != wanted:
        raise UsageError(f"size: {wanted} passes of the range are not a decimal number")
    return passes


def of_processes(plan: Plan) -> list[int | float]:
    """The ends of the arrival processes of a job that ends by I/Os or passes: each clone has all of
    it, and directions share it by their rates."""
    number, rates = plan.amount or plan.passes, rates_of(plan)
    assert number
    if not rates:
        return [number] * len(plan.arrivals)
    whole = Fraction(str(number))
    if plan.amount:
        marks = [round(whole * part / sum(rates)) for part in accumulate(rates, initial=Fraction())]
        return [max(1, end - begin) for begin, end in pairwise(marks)]
    # Each direction has ranges of its own, of which the passes of the job are the mean.
    bandwidths = [rate * _mean(_weights(plan, process)) for process, rate in enumerate(rates)]
    scale = whole * len(bandwidths) / sum(bandwidths)
    passes = [round(scale * bandwidth, PASSES_DIGITS) for bandwidth in bandwidths]
    return [int(part) if part.denominator == 1 else float(part) for part in passes]


def has_map(options: Reader, base: int) -> bool:
    """Whether fio has a map of the blocks that a random job has done: it has none if, in any
    direction, blocks are aligned to anything but the smallest block size."""
    pairs = zip(alignments(options, base), block_sizes.smallest(options, base), strict=True)
    return not options.flag("norandommap") and all(align in (0, size) for align, size in pairs)


def alignments(options: Reader, base: int) -> list[int]:
    """blockalign of reads, writes and discards in bytes; 0: that of the smallest block."""
    texts = values.by_direction(options.text("blockalign") or "0")
    with at("blockalign"):
        return [values.size(text or "0", base) for text in texts]


def mix_of(stream: dict[str, Any]) -> Mix:
    """The block sizes of a stream in bytes, with weights."""
    if "size" in stream:
        return [(int(stream["size"]), 1)]
    return [(int(size["size"]), int(size["share"])) for size in stream["sizes"]]


def set_limits(options: Reader, plan: Plan, clones: int) -> None:
    """Limits that end a job early, as options of `spekctl run`."""
    highest = options.value("max_latency", values.duration_ns, "us")
    options.went("max_latency", "--stop-when")
    if highest:
        plan.command_line.append(f"--stop-when 'max > {units.format_duration(highest)}'")
    _lowest_rates(options, plan, clones)
    _steady(options, plan)
    _latency_target(options, plan)


def _lowest_rates(options: Reader, plan: Plan, clones: int) -> None:
    base = options.value("kb_base", values.whole) or 1024
    cycle = options.value("rate_cycle", values.duration_ns, "ms")
    # Reads, writes; a discard has no metric of its own.
    present = [
        any(stream.get("read", "0%") != "0%" for stream in plan.streams),
        any("read" in stream and stream["read"] != "100%" for stream in plan.streams),
    ]
    for name, metric, unit in (("rate_min", "bandwidth", "B/s"), ("rate_iops_min", "iops", "")):
        text = options.text(name)
        if text is None:
            continue
        lowest = values.by_direction(text)
        limits_of = [
            (side, options.named(name, functools.partial(values.size, rate or "0", base)))
            for side, rate, here in zip(("read", "write"), lowest, present, strict=False)
            if here
        ]
        for side, least in limits_of:
            if least:
                counted = Fraction(least * clones)
                # Flushes count as writes of no bytes; fio leaves them out.
                if side == "write" and metric == "iops":
                    counted *= 1 + _flushes_per_write(plan)
                limit = f"{int(counted) if counted == int(counted) else float(counted)}{unit}"
                plan.command_line.append(f"--stop-when '{side}.{metric} < {limit}'")
                plan.differs(CYCLES)
        options.went(name, "--stop-when")
    if cycle and any("--stop-when" in text and "<" in text for text in plan.command_line):
        plan.command_line.append(f"--interval {units.format_duration(cycle)}")
        options.went("rate_cycle", "--interval")


def _flushes_per_write(plan: Plan) -> Fraction:
    """The share of flushes by that of writes."""
    flushes = sum(
        int(stream["share"]) for stream in plan.streams if stream.get("operation") == "flush"
    )
    writes = sum(
        Fraction(int(stream["share"]) * (100 - int(stream["read"].rstrip("%"))), 100)
        for stream in plan.streams
        if "read" in stream
    )
    return Fraction(flushes) / writes if writes else Fraction()


def _steady(options: Reader, plan: Plan) -> None:
    text = options.text("steadystate")
    window_ns = options.value("steadystate_duration", values.duration_ns, "s") or 0
    if text is None or not window_ns:
        return
    name, colon, limit = text.partition(":")
    kinds = {"iops": "iops", "bw": "bandwidth", "lat": "latency"}
    metric = kinds.get(name.removesuffix("_slope"))
    if metric is None or not colon:
        raise UsageError(
            f"steadystate: '{text}' is not iops, bw or lat, or iops_slope, bw_slope or lat_slope,"
            " with a limit"
        )
    if not limit.endswith("%"):
        raise UsageError(f"steadystate: the limit '{limit}' is not one in per cent")
    share = options.named("steadystate", lambda: values.decimal(limit.removesuffix("%")))
    # fio takes a sample each second, unless it has an interval for that.
    sample_ns = options.value("steadystate_check_interval", values.duration_ns, "s") or 10**9
    samples = max(2, window_ns // sample_ns)
    interval = math.ceil(samples / WINDOW_MAX)
    rounds = max(2, samples // interval)
    if name.endswith("_slope"):
        # fio's slope is per sample, spek's over the whole window.
        limits = f"range={_NO_LIMIT},slope={_percent(share * interval * (rounds - 1))}"
    else:
        limits = f"range={_percent(2 * share)},slope={_NO_LIMIT}"
    plan.command_line.append(f"--until steady:{metric},window={rounds},{limits}")
    plan.command_line.append(f"--interval {units.format_duration(interval * sample_ns)}")
    plan.differs(STEADY)
    if metric != "latency" and all(_PACES & set(arrival) for arrival in plan.arrivals):
        plan.differs(PACED.format(metric))
    if options.value("steadystate_ramp_time", values.duration_ns, "s"):
        plan.differs("steady state may begin with the run; fio waits for steadystate_ramp_time")
    for option in ("steadystate", "steadystate_duration", "steadystate_ramp_time"):
        options.went(option, "--until")
    options.went("steadystate_check_interval", "--interval")


def _percent(value: Fraction) -> str:
    return f"{float(min(value, Fraction(100))):.10g}%"


def _latency_target(options: Reader, plan: Plan) -> None:
    target = options.value("latency_target", values.duration_ns, "us")
    if not target:
        return
    share = options.text("latency_percentile") or "100"
    within = options.named("latency_percentile", lambda: values.decimal(share))
    metrics = {Fraction(100): "max", Fraction("99.9"): "p99.9", Fraction(99): "p99"}
    metrics |= {Fraction(90): "p90", Fraction(50): "p50"}
    # The next higher one is a stricter limit.
    metric = next(
        metrics[percentile]
        for percentile in sorted(metrics)
        if percentile >= min(within, Fraction(100))
    )
    exact = metrics.get(min(within, Fraction(100))) == metric
    stricter = "" if exact else f"; of latency_percentile={share} it is the next higher percentile"
    depth = sum(arrival.get("depth", 0) for arrival in plan.arrivals)
    if not depth:
        raise UsageError(
            "latency_target: fio looks for a depth within it, and arrivals at a rate have no depth"
            " here; leave out latency_target or the rate"
        )
    plan.differs(
        f"it runs at a depth of {depth}; fio looks for the highest depth within the latency target,"
        f" as does `spekctl sweep WORKLOAD --depth 1,{depth} --within '{metric} <"
        f" {units.format_duration(target)}'`{stricter}"
    )
    for option in ("latency_target", "latency_window", "latency_percentile", "latency_run"):
        options.went(option, "`spekctl sweep --within`")
