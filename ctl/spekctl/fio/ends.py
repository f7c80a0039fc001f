# SPDX-License-Identifier: GPL-2.0-or-later
"""When a job begins and ends: its times, its amount, and limits that end it early."""

from __future__ import annotations

import functools
import math
from fractions import Fraction
from typing import Any

from spekctl import units
from spekctl.errors import UsageError
from spekctl.fio import values
from spekctl.fio.plan import Mix, Plan, Reader
from spekctl.workload.endings import WINDOW_MAX

ENDS = "ends by time only; fio also ends when it has covered its size"
MEAN = "the number of I/Os is that of the mean block size; fio ends exactly at its size"
CYCLES = "limits are checked over each report interval; fio checks over rate_cycle, 1 s by default"
STEADY = (
    "steady state is judged over the last rounds of a report interval each, by their range and"
    " slope; fio takes the largest deviation from the mean, or the slope alone"
)
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
    loops = options.value("loops", values.whole) or 1
    options.went("loops", "run.count")
    plan.delay_ns = options.value("startdelay", values.duration_ns, "s") or 0
    options.went("startdelay", "--start-at")
    base = options.value("kb_base", values.whole) or 1024
    amount = None
    for name in ("io_size", "size"):
        text = options.text(name)
        if text is not None:
            in_bytes = not text.endswith("%")
            amount = options.value(name, values.size, base) if in_bytes else None
            break
    options.went("io_size", "run.count")
    number = options.value("number_ios", values.whole)
    options.went("number_ios", "run.count")
    if runtime:
        plan.run["time"] = units.format_duration(runtime)
        if not by_time:
            plan.differs(ENDS)
        return
    if options.given("time_based"):
        plan.mapped.pop("time_based")
        plan.not_needed["time_based"] = "no effect without a runtime, as in fio"
    counts = [int(number) * clones] if number else []
    if amount:
        weights = [
            (size, weight * Fraction(one["share"], sum(often for _, often in mix)))
            for one in plan.streams
            for mix in [mix_of(one)]
            for size, weight in mix
        ]
        total = sum(weight for _, weight in weights)
        mean = sum(size * weight for size, weight in weights) / total
        counts.append(max(1, int(amount / mean)) * clones * loops)
        if counts[-1] == min(counts) and len({size for size, _ in weights}) > 1:
            plan.differs(MEAN)
    # fio ends by whatever comes first.
    plan.amount = min(counts, default=None)


def mix_of(stream: dict[str, Any]) -> Mix:
    """The block sizes of a stream in bytes, with weights."""
    if "size" in stream:
        return [(int(stream["size"]), 1)]
    return [(int(one["size"]), int(one["share"])) for one in stream["sizes"]]


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
        any(one.get("read", "0%") != "0%" for one in plan.streams),
        any("read" in one and one["read"] != "100%" for one in plan.streams),
    ]
    for name, metric, unit in (("rate_min", "bandwidth", "B/s"), ("rate_iops_min", "iops", "")):
        text = options.text(name)
        if text is None:
            continue
        lowest = values.by_direction(text)
        found = [
            (side, options.named(name, functools.partial(values.size, one or "0", base)))
            for side, one, here in zip(("read", "write"), lowest, present, strict=False)
            if here
        ]
        for side, least in found:
            if least:
                limit = f"{least * clones}{unit}"
                plan.command_line.append(f"--stop-when '{side}.{metric} < {limit}'")
                plan.differs(CYCLES)
        options.went(name, "--stop-when")
    if cycle and any("--stop-when" in one and "<" in one for one in plan.command_line):
        plan.command_line.append(f"--interval {units.format_duration(cycle)}")
        options.went("rate_cycle", "--interval")


def _steady(options: Reader, plan: Plan) -> None:
    text = options.text("steadystate")
    window_ns = options.value("steadystate_duration", values.duration_ns, "s") or 0
    if text is None or not window_ns:
        return
    name, colon, limit = text.partition(":")
    metric = {"iops": "iops", "bw": "bandwidth"}.get(name.removesuffix("_slope"))
    if metric is None or not colon:
        raise UsageError(
            f"steadystate: '{text}' is not iops, iops_slope, bw or bw_slope with a limit"
        )
    if not limit.endswith("%"):
        raise UsageError(f"steadystate: the limit '{limit}' is not one in per cent")
    share = options.named("steadystate", lambda: values.decimal(limit.removesuffix("%")))
    # fio takes a sample each second.
    seconds = max(2, window_ns // 10**9)
    interval = math.ceil(seconds / WINDOW_MAX)
    rounds = max(2, seconds // interval)
    if name.endswith("_slope"):
        # fio's is per second, spek's one over the whole window.
        limits = f"range={_NO_LIMIT},slope={_percent(share * interval * (rounds - 1))}"
    else:
        limits = f"range={_percent(2 * share)},slope={_NO_LIMIT}"
    plan.command_line.append(f"--until steady:{metric},window={rounds},{limits}")
    plan.command_line.append(f"--interval {interval}s")
    plan.differs(STEADY)
    if options.value("steadystate_ramp_time", values.duration_ns, "s"):
        plan.differs("steady state may begin with the run; fio waits for steadystate_ramp_time")
    for one in ("steadystate", "steadystate_duration", "steadystate_ramp_time"):
        options.went(one, "--until")


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
    metric = next(metrics[one] for one in sorted(metrics) if one >= min(within, Fraction(100)))
    depth = sum(one.get("depth", 0) for one in plan.arrivals)
    if not depth:
        raise UsageError("latency_target: it excludes a rate")
    plan.differs(
        f"it runs at a depth of {depth}; fio looks for the highest depth within the latency target,"
        f" as does `spekctl sweep WORKLOAD --depth 1,{depth} --within '{metric} <"
        f" {units.format_duration(target)}'`"
    )
    for one in ("latency_target", "latency_window", "latency_percentile", "latency_run"):
        options.went(one, "`spekctl sweep --within`")
