# SPDX-License-Identifier: GPL-2.0-or-later
"""Where the I/Os of a job of fio go: the region of each clone, and the pattern within it."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise
from typing import Any

from spekctl import units
from spekctl.errors import UsageError
from spekctl.fio import ends, laws, values
from spekctl.fio.options import RANDOM
from spekctl.fio.plan import Mix, Plan, Reader
from spekctl.workload import striped
from spekctl.workload.values import SECTOR

# Bytes of a stripe over several devices: the default of a run.
STRIPE = 64 << 10
REPEATED = "each pass has an order of its own; fio repeats the order of the first pass"
MAP = (
    "fio's random map avoids blocks done before and shortens I/Os that run into them, so a pass has"
    " more and smaller I/Os than their sizes say; here blocks of several sizes may repeat, and no"
    " I/O is shortened"
)
RUNS = "runs start anywhere; fio starts them where its random map has not been"
PARTLY = (
    "percentage_random: random I/Os may repeat blocks; fio's random I/Os, but not its sequential"
    " I/Os, avoid blocks done before"
)
LATER_PASSES = (
    "percentage_random: each pass of the sequential direction begins at the start of the range; in"
    " fio later ones begin at a random place, and with its random map each time its random I/Os"
    " have covered the range"
)
BACKWARD = (
    "each pass begins with the last block of the range; fio begins with the first block, and then"
    " goes back from the second to last"
)
PLACES_UP = (
    "offset: a place in per cent is rounded down to a block; fio rounds it up, to offset_align if"
    " that is given"
)
ZONES_END = (
    "zonemode=strided: the run stays within size; fio continues past the end of size until it has"
    " transferred that many bytes"
)
# Keys of a stream that has its place itself, and those of the asu that has it otherwise.
OF_ASUS = {"stream.start": "asu.start", "stream.range": "asu.size"}
OF_CLONES = "stream.start of each clone"
ONE_CLONE = "nothing: there is one clone"
WHOLE = "nothing: it is the whole device, as without it"
NO_AMOUNT = "nothing: zones continue beyond it, and the run ends by its time"


def region(options: Reader, base: int) -> dict[str, Any]:
    """Start and range of a stream; a share of the device stays a percentage."""
    fields: dict[str, Any] = {}
    for name, key in (("offset", "start"), ("size", "range")):
        text = options.text(name)
        if text is None:
            continue
        if values.in_zones(text):
            fields[key] = text
        elif text.endswith("%"):
            percent = options.value(name, values.percent)
            fields |= {key: f"{percent}%"} if percent != 100 or key == "start" else {}
        else:
            fields[key] = options.value(name, values.size, base)
        options.went(name, f"stream.{key}")
    filesize = options.value("filesize", values.size, base)
    options.went("filesize", "stream.range")
    if filesize is not None:
        # filesize is the end of the region, from the start of the device; a size in bytes is an
        # amount, and one in per cent is of filesize.
        start = fields.get("start", 0)
        if values.in_zones(options.text("size")):
            raise UsageError("filesize: the size is in zones; write it in bytes")
        if isinstance(start, str):
            unit = "zones" if values.in_zones(start) else "per cent"
            raise UsageError(f"filesize: the offset is in {unit}; write it in bytes")
        if filesize <= start:
            raise UsageError("filesize: the offset must be below it")
        share = str(fields.get("range", "")).removesuffix("%")
        in_per_cent = isinstance(fields.get("range"), str)
        fields["range"] = filesize - start
        if in_per_cent:
            fields["range"] = min(fields["range"], filesize * int(share) // 100)
    return fields


def without_key(options: Reader, plan: Plan, name: str, key: str) -> str:
    """Where an option of the place went, of which no stream has the @key."""
    if any("asu" in stream for stream in plan.streams):
        return OF_ASUS[key]
    if options.text(name) == "100%":
        return WHOLE
    if plan.amount is None and plan.passes is None:
        return NO_AMOUNT
    return "run.count" if plan.passes is None else "run.passes"


def increment_of(options: Reader, base: int) -> tuple[int, str]:
    """The distance from clone to clone, and its unit: bytes (""), "%" or zones ("z")."""
    text, offset = options.text("offset_increment"), options.text("offset")
    if text is None:
        return 0, ""
    if values.in_zones(text):
        if not values.in_zones(offset) and offset not in (None, "0"):
            raise UsageError("offset_increment: it is in zones, and the offset is not")
        return int(text[:-1]), "z"
    if text.endswith("%"):
        if not (offset or "0%").endswith("%"):
            raise UsageError("offset_increment: it is in per cent, and the offset is in bytes")
        return int(options.value("offset_increment", values.percent)), "%"
    increment = int(options.value("offset_increment", values.size, base))
    if increment and (offset or "").endswith(("%", "z")):
        unit = "zones" if values.in_zones(offset) else "per cent"
        raise UsageError(f"offset_increment: the offset is in {unit}; write it in bytes")
    return increment, ""


def groups_of_clones(plan: Plan, clones: int, most: int) -> list[tuple[int, int]]:
    """The first clone of each stream, and the number of clones that it stands for: 1, unless there
    are more clones than there can be streams."""
    if clones > most:
        plan.differs(
            f"numjobs: {most} streams stand for {clones} clones; a stream covers all that its"
            " clones do, with the I/Os and the depth of all"
        )
    count = min(clones, most)
    marks = [place * clones // count for place in range(count + 1)]
    return [(start, end - start) for start, end in pairwise(marks)]


def move_to_clones(
    stream: dict[str, Any], first: int, members: int, increment: int, unit: str
) -> None:
    """Move a stream to the region of clones, from number @first on. @unit: as of increment_of()."""
    size = stream.get("range")
    in_per_cent = unit == "%"
    if unit == "z":
        if members > 1:
            raise UsageError(
                "offset_increment: more clones than there can be streams need a size in bytes"
            )
        stream["start"] = (
            f"{int(str(stream.get('start', 0)).removesuffix('z')) + first * increment}z"
        )
    elif in_per_cent:
        start = values.percent(str(stream.get("start", "0%"))) + first * increment
        if start + (members - 1) * increment >= 100:
            raise UsageError(f"offset_increment: clone {first + members} is beyond the device")
        stream["start"] = f"{start}%"
        if members > 1 and isinstance(size, str):
            end = min(100, start + (members - 1) * increment + values.percent(size))
            stream["range"] = f"{end - start}%"
    else:
        stream["start"] = stream.get("start", 0) + first * increment
        if members > 1 and isinstance(size, int):
            stream["range"] = size + (members - 1) * increment
    if members > 1 and size is not None and isinstance(size, str) != in_per_cent:
        raise UsageError(
            "offset_increment: more clones than there can be streams need a size in the same unit,"
            " bytes or per cent"
        )


def end_with_file(options: Reader, stream: dict[str, Any], base: int) -> None:
    """Cut the range of a clone off at filesize, as fio does."""
    end = options.value("filesize", values.size, base)
    start, size = stream.get("start"), stream.get("range")
    if not end or not isinstance(start, int) or not isinstance(size, int):
        return
    if start >= end:
        raise UsageError("offset_increment: a clone begins at filesize or beyond it")
    stream["range"] = min(size, end - start)


def end_with_device(stream: dict[str, Any]) -> None:
    """Cut a range in per cent off at the end of the device, as fio does."""
    start, size = stream.get("start"), stream.get("range")
    shares = [text for text in (start, size) if isinstance(text, str) and text.endswith("%")]
    if len(shares) == 2:
        start, size = shares
        stream["range"] = f"{min(values.percent(size), 100 - values.percent(start))}%"


def extend_zones(stream: dict[str, Any], plan: Plan) -> None:
    """Extend the zones of zonemode=strided to the end of the device, as in fio, where the size is
    the number of bytes to transfer, gaps not included."""
    start, size = stream.get("start", 0), stream.get("range", 0)
    # Passes of a sequential stream end at its size in per cent, those of zones in zones.
    from_start = stream["pattern"] == "strided" and start in (0, "0%")
    if isinstance(size, int) or from_start:
        stream.pop("range", None)
    else:
        plan.differs(ZONES_END)


def align_to_smallest(stream: dict[str, Any], smallest: int) -> None:
    """Align random I/Os to the smallest block of their direction, as in fio, if the default
    alignment of their sizes differs."""
    continues = "sequential" in stream or stream["pattern"] in (
        *("runs", "once", "write-pointer", "sequential"),
    )
    if not continues and math.gcd(*(size for size, _ in ends.mix_of(stream))) != smallest:
        stream["align"] = smallest


def stripe_over(stream: dict[str, Any], plan: Plan, devices: int, amount: str) -> None:
    """Turn the range of a stream on each of @devices into one that is striped over them; @amount:
    the option of the size."""
    if stream["pattern"] == "write-pointer":
        return
    start, size = stream.get("start", 0), stream.get("range")
    if isinstance(start, str) or isinstance(size, str):
        plan.differs(striped.SHARES.format(units.format_bytes(STRIPE)))
    if isinstance(start, str):
        if isinstance(size, int):
            stream["range"] = size * devices
        return
    sizes = [size for size, _ in ends.mix_of(stream)]
    first, length, note = striped.range_of(
        f"offset, {amount}",
        start,
        start + size if isinstance(size, int) else None,
        devices,
        STRIPE,
        stream.get("align") or math.gcd(*sizes, stream.get("stride", 0)),
        max(sizes),
    )
    if first:
        stream["start"] = first
    if length is not None:
        stream["range"] = length
    if note:
        plan.differs(note)


def round_to_blocks(stream: dict[str, Any], plan: Plan, amount: str) -> None:
    """Round a place and a size in bytes down to whole blocks; @amount: the option of the size."""
    if stream["pattern"] == "write-pointer":
        return
    sizes = [size for size, _ in ends.mix_of(stream)]
    unit = stream.get("align") or math.gcd(*sizes, stream.get("stride", 0))
    block = units.format_bytes(unit)
    size = stream.get("range")
    if isinstance(size, int):
        if size < max(sizes):
            raise UsageError(
                f"{amount}: {size} bytes have no room for a block of"
                f" {units.format_bytes(max(sizes))}"
            )
        if size % unit:
            stream["range"] = size // unit * unit
            plan.differs(
                f"{amount}: {size} bytes are not a multiple of {block}; {stream['range']} are used,"
                " as in fio's random jobs; fio's sequential jobs end a block later, unless the"
                " device ends before"
            )
    start = stream.get("start", 0)
    if isinstance(start, int) and start % unit:
        # Jobs in order go from block to block wherever they start.
        steps = stream["pattern"] in ends.IN_ORDER and stream.get("zone_order") != "random"
        if steps and start % SECTOR == 0 and "align" not in stream:
            stream["align"] = math.gcd(unit, start)
        else:
            stream["start"] = start // unit * unit
            plan.differs(
                f"offset: byte {start} is not a multiple of {block}, and I/Os start at byte"
                f" {stream['start']}; fio does not align its I/Os to their size"
            )
    for zone in stream.get("zones", []):
        if isinstance(zone["size"], int) and zone["size"] % unit:
            plan.differs(f"random_distribution: sizes of zones are rounded down to {block}")
            zone["size"] = zone["size"] // unit * unit


def pattern(
    options: Reader,
    plan: Plan,
    kind: str,
    suffix: str,
    mix: Mix,
    base: int,
    direction: int,
) -> dict[str, Any]:
    """The pattern of the I/Os of @direction: 0: reads, 1: writes or both, 2: discards."""
    sizes = [size for size, _ in mix]
    if kind not in RANDOM:
        if not suffix:
            return {"pattern": "sequential"}
        if suffix.startswith("-"):
            back = options.named("rw", lambda: values.size(suffix[1:], base))
            if len(sizes) > 1 or back != 2 * sizes[0]:
                raise UsageError(
                    f"rw: '{suffix}' leaves blocks out or repeats them on the way back; write twice"
                    " the block size, such as -8k with bs=4k"
                )
            plan.differs(BACKWARD)
            return {"pattern": "backward"}
        gap = options.named("rw", lambda: values.size(suffix, base))
        if len(sizes) > 1:
            raise UsageError("rw: a gap needs one block size")
        if gap % SECTOR:
            raise UsageError(
                f"rw: the number behind the colon is a gap of {gap} bytes, which is not a multiple"
                f" of {SECTOR}; write for example rw={kind}:4k"
            )
        return {"pattern": "strided", "stride": sizes[0] + int(gap)}
    if suffix:
        count = options.named("rw", lambda: values.whole(suffix))
        for name, usual in (("random_distribution", "random"), ("percentage_random", "100")):
            if options.text(name) not in (None, usual):
                raise UsageError(f"{name}: runs start at uniformly distributed places")
        if count > 1:
            if ends.has_map(options, base):
                plan.differs(RUNS)
                if len(mix) > 1:
                    plan.differs(MAP)
            return {"pattern": "runs", "run_length": _run_length(plan, int(count), mix)}
    random = options.value(
        "percentage_random", lambda text: values.percent(values.by_direction(text)[direction])
    )
    options.went("percentage_random", "stream.sequential")
    law = laws.of_job(options, plan, base, direction)
    if law is not None:
        if random not in (None, 100):
            raise UsageError("percentage_random: only uniform I/Os can continue the one before")
        return law
    with_map = ends.has_map(options, base)
    if random == 0:
        plan.differs(LATER_PASSES)
        return {"pattern": "sequential"}
    if random not in (None, 100):
        if with_map:
            plan.differs(MAP if len(sizes) > 1 else PARTLY)
        return {"pattern": "uniform", "sequential": f"{100 - int(random)}%"}
    options.went("norandommap", "stream.pattern")
    options.went("softrandommap", "nothing: the order needs no memory")
    if not with_map:
        return {"pattern": "uniform"}
    if len(sizes) > 1:
        plan.differs(MAP)
        return {"pattern": "uniform"}
    if _repeats(options):
        plan.differs(REPEATED)
    return {"pattern": "once"}


def _run_length(plan: Plan, count: int, mix: Mix) -> int:
    """Bytes of a run of @count I/Os. A run of spek ends before the I/O that would reach its end, so
    it is a block longer; with several sizes, the run has @count I/Os on average."""
    if len(mix) == 1:
        return (count + 1) * mix[0][0]
    unit = math.gcd(*(size for size, _ in mix))
    weights = sum(often for _, often in mix)
    mean = Fraction(sum(size * often for size, often in mix), weights)
    # The mean excess of the last I/O beyond the end, by renewal theory.
    beyond = Fraction(sum(size**2 * often for size, often in mix), weights) / (2 * mean)
    length = round(((count + 1) * mean - beyond + Fraction(unit, 2)) / unit) * unit
    largest = max(size for size, _ in mix)
    if length < largest + unit:
        raise UsageError(
            f"rw: runs of {count} I/Os of these sizes are too short for an I/O of"
            f" {units.format_bytes(largest)} and another"
        )
    plan.differs(f"rw: runs have about {count} I/Os on average; fio's have {count} each")
    return length


def _repeats(options: Reader) -> bool:
    """Whether fio repeats the order of the first pass in later passes. It reseeds its generator for
    each loop, but not if it starts over because its time is not over; the order of an LFSR depends
    on the seed alone."""
    by_time = options.flag("time_based") and options.given("runtime")
    again = options.given("loops") or options.given("io_size")
    if options.text("random_generator") == "lfsr":
        return bool(by_time or again)
    return bool(again and not by_time and options.flag("randrepeat", True))


def goes_again(plan: Plan, clones: int) -> bool:
    """Whether a job with a random map covers its range more than once. If an io_size or a loop
    is smaller than the size, fio continues with the remaining blocks."""
    if plan.passes is not None:
        return plan.passes > 1
    first = plan.streams[0]
    if plan.amount is None or not isinstance(first.get("range"), int):
        return True
    blocks: int = first["range"] // first["size"]
    return plan.amount > blocks * (1 if plan.apart else clones)
