# SPDX-License-Identifier: GPL-2.0-or-later
"""When the I/Os of a job of fio are due: depth, rates, think times and pauses."""

from __future__ import annotations

import functools
from fractions import Fraction
from typing import Any

from spekctl import units
from spekctl.errors import UsageError
from spekctl.fio import values
from spekctl.fio.options import engine_of
from spekctl.fio.plan import Mix, Plan, Reader

OPEN = (
    "arrivals keep their schedule whatever is outstanding, and response time counts from them; fio"
    " stops at its depth, and its latency begins at the issue"
)
PAUSES = (
    "fio waits for all outstanding I/Os before each pause, which is after every I/O: the depth is 1"
    " for each clone"
)
PACED_BY_PAUSE = (
    "thinktime: the pauses are as long as the gaps of the rate or longer, so that the rate has no"
    " effect, as in fio"
)
PACED_BY_RATE = (
    "thinktime: the pauses are shorter than the gaps of the rate, so that they have no effect; fio"
    " lengthens the gap after an I/O that takes nearly as long as the gap, and then catches up"
)
PAUSE_ADDED = (
    "thinktime: with rate_ignore_thinktime fio adds each pause to the gap of the rate; the rate"
    " here results from both"
)
PASSTHROUGH = (
    "I/Os go through the block layer to the namespace's block device; fio sends NVMe commands to"
    " its character device"
)
SG = "the run sends block I/O; fio sends SCSI commands, which bypass the I/O scheduler"
NO_DEPTH = "nothing: arrivals at a rate have no depth"
RATES_SHARE = "nothing: the rates of reads and writes decide their shares, as in fio"


def set_arrivals(
    options: Reader, plan: Plan, clones: int, sizes: tuple[Mix, Mix], pauses: dict[str, Any]
) -> None:
    """The arrival process of all streams, or one for each direction that has a rate of its own, or
    for each clone, where these are apart."""
    set_engine(options, plan)
    depth = options.value("iodepth", values.positive) or 1
    options.went("iodepth", "arrival.depth")
    think = 0 if pauses else _think(options)
    rates = _rates(options, plan, sizes)
    directions = sorted({direction_of(stream) for stream in plan.streams})
    if pauses and any(rates[direction] for direction in directions):
        raise UsageError(
            "thinktime_blocks, thinktime_iotime: with a rate fio catches up after each pause with"
            " what was due within it; leave out the pause or the rate"
        )
    if think:
        rates, think = _paused_rates(options, plan, rates, directions, think)
    if think and depth > 1:
        plan.differs(PAUSES)
        depth = 1
    process = options.text("rate_process") or "linear"
    options.went("rate_process", "arrival.law")
    if process not in ("linear", "poisson"):
        raise UsageError(f"rate_process: '{process}' is neither linear nor poisson")
    law = "poisson" if process == "poisson" else "constant"
    if pauses:
        if depth == 1:
            # An I/O is complete before the next is issued.
            pauses.pop("pause_counts", None)
        plan.arrivals = [{"law": "closed", "depth": depth, **pauses} for _ in range(clones)]
        return
    count, members = (clones, 1) if plan.apart else (1, clones)
    loop: dict[str, Any] = {"law": "closed", "depth": depth * members}
    if not any(rates[direction] for direction in directions):
        if think:
            loop["think"] = units.format_duration(think)
        plan.arrivals = [dict(loop) for _ in range(count)]
        return
    plan.differs(OPEN)
    for place, direction in enumerate(directions):
        for stream in plan.streams:
            if place and direction_of(stream) == direction:
                stream["arrival"] = place
        rate = rates[direction] * members
        exact = int(rate) if rate.denominator == 1 else float(rate)
        of_rate = {"law": law, "rate": exact} if rate else loop
        plan.arrivals += [dict(of_rate) for _ in range(count)]
    paced = all("rate" in arrival for arrival in plan.arrivals)
    if paced:
        options.went("iodepth", NO_DEPTH)
    if plan.mapped.get("numjobs") == "arrival.depth":
        options.went("numjobs", "arrival.rate" if paced else "arrival.rate, arrival.depth")
    if len(directions) > 1:
        for name in ("rwmixread", "rwmixwrite"):
            options.went(name, RATES_SHARE)


def set_engine(options: Reader, plan: Plan) -> None:
    """Say what the engine does and the kernel does not."""
    engine = engine_of(options.text("ioengine"))
    options.went("ioengine", "nothing: the load is in the kernel")
    if engine == "sg" or (engine == "io_uring_cmd" and options.text("cmd_type") == "bsg"):
        plan.differs(SG)
    elif engine == "io_uring_cmd":
        plan.differs(PASSTHROUGH)


def _paused_rates(
    options: Reader, plan: Plan, rates: list[Fraction], directions: list[int], think: int
) -> tuple[list[Fraction], int]:
    """The rates of a job that also pauses @think ns after each I/O, and the pause beside them.

    fio catches up, so the longer of the pause and the gap of the rate counts; but with
    rate_ignore_thinktime it adds a shorter pause to the gap.
    """
    gaps = [1 / rates[direction] for direction in directions if rates[direction]]
    if not gaps:
        return rates, think
    pause, gap = Fraction(think, 10**9), 1 / sum(rates[direction] for direction in directions)
    if len(gaps) == len(directions) and pause >= max(gaps):
        plan.differs(PACED_BY_PAUSE)
        for name in ("rate", "rate_iops"):
            options.went(name, "nothing: the pauses are longer")
        return [Fraction(0)] * 2, think
    adds = options.flag("rate_ignore_thinktime")
    if len(gaps) < len(directions) or pause >= gap or (adds and len(gaps) > 1):
        raise UsageError(
            "thinktime: its pauses and the rate of each direction delay the I/Os of the other"
            " direction; leave out the pause or the rate"
        )
    if not adds:
        plan.differs(PACED_BY_RATE)
        options.went("thinktime", "nothing: the gaps of the rate are longer")
        return rates, 0
    plan.differs(PAUSE_ADDED)
    options.went("thinktime", "arrival.rate")
    return [rate / (1 + rate * pause) for rate in rates], 0


def depth_of(options: Reader) -> int:
    """I/Os outstanding of one clone whose pauses, if any, are after each I/O."""
    if options.nonzero("thinktime"):
        return 1
    return options.value("iodepth", values.positive) or 1


def direction_of(stream: dict[str, Any]) -> int:
    """0 for reads and for both, 1 for writes and discards."""
    return int(stream.get("read", "0%") == "0%")


def _think(options: Reader) -> int:
    """The pause after each I/O in ns."""
    think = options.value("thinktime", values.duration_ns, "us") or 0
    for name in ("thinktime", "thinktime_blocks", "thinktime_blocks_type"):
        options.went(name, "arrival.think")
    return int(think)


def pauses_of(options: Reader) -> dict[str, Any]:
    """Keys of an arrival process that pauses after bursts; none for pauses after each I/O."""
    pause = options.value("thinktime", values.duration_ns, "us") or 0
    # As in fio, 0 of them are exceeded by any.
    blocks = options.value("thinktime_blocks", values.whole) or 1
    after = options.value("thinktime_iotime", values.duration_ns, "s") or 0
    kind = options.text("thinktime_blocks_type") or "complete"
    if kind not in ("complete", "issue"):
        raise UsageError(f"thinktime_blocks_type: '{kind}' is neither complete nor issue")
    if not pause or (blocks == 1 and not after):
        return {}
    keys: dict[str, Any] = {"pause": units.format_duration(int(pause))}
    options.went("thinktime", "arrival.pause")
    # Beside a time, fio's default number has no effect.
    if not after or options.given("thinktime_blocks"):
        keys["pause_every"] = blocks
        options.went("thinktime_blocks", "arrival.pause_every")
        if kind == "complete":
            keys["pause_counts"] = "completed"
        options.went("thinktime_blocks_type", "arrival.pause_counts")
    if after:
        keys["pause_after"] = units.format_duration(int(after))
        options.went("thinktime_iotime", "arrival.pause_after")
    return keys


def _rates(options: Reader, plan: Plan, sizes: tuple[Mix, Mix]) -> list[Fraction]:
    """I/Os per second of one clone: of reads, and of writes or discards; 0 without a rate."""
    given = [name for name in ("rate", "rate_iops") if options.nonzero(name)]
    for name in ("rate", "rate_iops"):
        options.went(name, "arrival.rate")
    if not given:
        return [Fraction(0)] * 2
    (name, *others) = given
    if others:
        raise UsageError("rate: it excludes rate_iops")
    base = options.value("kb_base", values.whole) or 1024
    discards = any(stream.get("operation") == "discard" for stream in plan.streams)
    parts = values.by_direction(str(options.text(name)))
    rates = []
    for part, mix in zip((parts[0], parts[2 if discards else 1]), sizes, strict=True):
        value = options.named(name, functools.partial(values.size, part or "0", base))
        total = sum(size * weight for size, weight in mix)
        mean = Fraction(total, sum(weight for _, weight in mix))
        rates.append(Fraction(value) if name == "rate_iops" else Fraction(value) / mean)
    return rates


def check_bursts(options: Reader, plan: Plan) -> None:
    """Say that I/Os that fio sends together, once so many have completed, are sent apart."""
    depth = options.value("iodepth", values.positive) or 1
    waits = options.value("iodepth_batch_complete_min", values.whole)
    low = options.value("iodepth_low", values.whole)
    for name in ("iodepth_batch_complete_min", "iodepth_low"):
        options.went(name, "arrival.depth")
    if depth == 1:
        return
    if waits is not None and waits > 1:
        plan.differs(
            f"iodepth_batch_complete_min: the depth is kept; fio waits for {min(waits, depth)} I/Os"
            " and then sends as many at once"
        )
    if low and low < depth:
        plan.differs(
            f"iodepth_low: the depth is kept; fio fills it up again when {low} I/Os are left"
        )
