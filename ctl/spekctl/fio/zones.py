# SPDX-License-Identifier: GPL-2.0-or-later
"""Jobs on zoned devices (zonemode=zbd), and jobs that leave gaps between zones (strided)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from spekctl import units
from spekctl.errors import UsageError
from spekctl.fio import values
from spekctl.fio.plan import Mix, Plan, Reader
from spekctl.workload.values import SECTOR

TURNS = (
    "zones are written in turn, as many as max_open_zones and job_max_open_zones say or, without"
    " these, as there are workers; fio takes zones at random"
)
IN_ORDER = "each worker writes zones one after the other; fio has one zone at a time for the job"
ONE_AT_A_TIME = "nothing: a sequential job writes one zone at a time, as in fio"
PAST = "sequential reads take the zones to their ends; fio stops at their write pointers"
BELOW = "random reads are below the write pointers of all zones"
RESETS = (
    "zones are reset when they are full and written again; with zone_reset_threshold and"
    " zone_reset_frequency fio also resets zones before their next write, full or not"
)
APPENDS = "writes are sent to the write pointers; with zone_append the device chooses their places"
NO_GAPS = "nothing: zones without gaps are passed in sequence"
SHARED = (
    "zonemode: reads and writes of a job share its zones, and spek has that only if both have the"
    " same options and, in a sequential job, zones of one I/O; make two jobs of it"
)
LAST_ZONE = (
    "zonemode=strided: passes are of whole zones, and a last zone that the device has only in part"
    " is left out; fio uses that part and ends there, or else ends after its size in bytes"
)
INSIDE = "zonemode=strided: random I/Os end within their zone; fio's only start in it"
CLONES = "asu.start of each clone"
_STRIDED = ("zonesize", "zonerange", "zoneskip")
NO_TRIMS = (
    "rw: a trim of a zone is its reset, which spek has as operation zone-reset; leave the job out,"
    " or add a stream with this operation to the workload"
)
_RESETS = ("zone_reset_threshold", "zone_reset_frequency")
_ZBD = ("zonesize", "zonecapacity", "max_open_zones", "job_max_open_zones", "read_beyond_wp")


def mode_of(options: Reader) -> str:
    """none, strided or zbd."""
    mode = options.text("zonemode") or "none"
    if mode not in ("none", "strided", "zbd"):
        raise UsageError(f"zonemode: '{mode}' is not none, strided or zbd")
    if mode == "none" and options.value("zonesize", values.size):
        raise UsageError("zonesize: as in fio, it needs zonemode=strided or zbd")
    return mode


def gap_pattern(options: Reader, sizes: list[int], base: int) -> dict[str, Any]:
    """The pattern of a sequential job with zonemode=strided."""
    zone, span, stride = _lengths(options, base)
    unit = math.gcd(*sizes)
    # A zone is done when so many bytes are, in whole I/Os.
    size = -(-zone // unit) * unit
    if zone <= min(sizes):
        keys = {} if sizes == [stride] else {"stride": stride}
    elif zone <= span:
        keys = {} if stride == size and len(sizes) == 1 else {"stride": stride, "zone_size": size}
    else:
        _check_repeats(span, unit)
        keys = {"stride": stride, "zone_size": size, "zone_range": span}
    where = {"zonesize": "zone_size", "zonerange": "zone_range"}
    for name in ("zonemode", *_STRIDED):
        key = where.get(name)
        key = key if key in keys else "stride"
        options.went(name, f"stream.{key}" if keys else NO_GAPS)
    return {"pattern": "strided", **keys} if keys else {"pattern": "sequential"}


def has_single(options: Reader, mix: Mix, base: int) -> bool:
    """Whether each zone of a job with zonemode=strided has one I/O."""
    zone = options.value("zonesize", values.size, base) or 0
    return bool(zone <= min(size for size, _ in mix))


def random_gap_pattern(
    options: Reader, sizes: list[int], base: int, align: int, with_map: bool
) -> dict[str, Any]:
    """The pattern of a random job with zonemode=strided; @with_map: fio has a map of the blocks
    that it has done in a zone."""
    zone, span, stride = _lengths(options, base)
    for name, usual in (("random_distribution", "random"), ("percentage_random", "100")):
        if options.text(name) not in (None, usual):
            raise UsageError(f"{name}: I/Os in the zones of zonemode=strided are uniformly random")
    if span < max(sizes):
        raise UsageError(
            f"zonerange: a zone has no room for a block of {units.format_bytes(max(sizes))}"
        )
    if stride % align:
        raise UsageError(
            f"zonerange, zoneskip: zones of random I/Os start at multiples of"
            f" {units.format_bytes(align)} here, and not every {stride} bytes"
        )
    unit = math.gcd(*sizes)
    if zone > span and with_map:
        _check_repeats(span, unit)
    for name, key in zip(_STRIDED, ("zone_size", "zone_range", "stride"), strict=True):
        options.went(name, f"stream.{key}")
    options.went("zonemode", "stream.pattern")
    options.went("norandommap", "stream.zone_order")
    options.went("softrandommap", "nothing: the order needs no memory")
    return {
        "pattern": "strided",
        "stride": stride,
        "zone_size": -(-zone // unit) * unit,
        "zone_range": span // SECTOR * SECTOR,
        "zone_order": "once" if with_map and len(sizes) == 1 else "random",
    }


def _lengths(options: Reader, base: int) -> tuple[int, int, int]:
    """zonesize, zonerange, and the distance from zone to zone, in bytes."""
    zone, span, skip = (options.value(name, values.size, base) or 0 for name in _STRIDED)
    if not zone:
        raise UsageError("zonesize: zonemode=strided needs it")
    span = span or zone
    if (span + skip) % SECTOR:
        raise UsageError(
            f"zonerange, zoneskip: zones start every {span + skip} bytes, which is not a multiple"
            f" of {SECTOR}"
        )
    return zone, span, span + skip


def _check_repeats(span: int, unit: int) -> None:
    if span % unit:
        raise UsageError(
            f"zonerange: zonesize is larger, so I/Os pass it several times; write a multiple of"
            f" {units.format_bytes(unit)}"
        )


def pointer_pattern(
    options: Reader, plan: Plan, random: bool, direction: int, clones: int
) -> dict[str, Any]:
    """The pattern of a job with zonemode=zbd; @direction: 0 are reads, 1 writes or both, 2
    discards."""
    options.went("zonemode", "stream.pattern")
    for name in _ZBD:
        options.went(name, "nothing: the device says what its zones are")
    for name, usual in (("random_distribution", "random"), ("percentage_random", "100")):
        if random and options.text(name) not in (None, usual):
            raise UsageError(f"{name}: I/Os are at the write pointers of zones, or below them")
    if direction == 2:
        raise UsageError(NO_TRIMS)
    if not direction:
        if random:
            plan.differs(BELOW)
            return {"pattern": "write-pointer"}
        if not options.flag("read_beyond_wp"):
            plan.differs(PAST)
        return {"pattern": "sequential"}
    plan.differs(TURNS if random else IN_ORDER)
    if options.given("zone_reset_frequency"):
        plan.differs(RESETS)
    if options.given("write_mode"):
        plan.differs(APPENDS)
    for name in _RESETS:
        options.went(name, "nothing: zones are reset when they are written again")
    options.went("write_mode", "stream.pattern")
    # Clones with zones of their own are limited apart.
    apart = clones if options.nonzero("offset_increment", "z") else 1
    most = options.value("max_open_zones", values.whole) or 0
    of_each = (options.value("job_max_open_zones", values.whole) or 0) * (clones // apart)
    limits = [limit for limit in (max(1, most // apart) if most else 0, of_each) if limit]
    for name in ("max_open_zones", "job_max_open_zones"):
        options.went(name, "stream.open_zones" if random else ONE_AT_A_TIME)
    keys = {"open_zones": int(min(limits))} if random and limits else {}
    return {"pattern": "write-pointer", **keys}


def move_to_asus(plan: Plan) -> None:
    """Turn the ranges of streams at write pointers into asus: they have all zones of one."""
    for stream in plan.streams:
        if stream.get("pattern") != "write-pointer":
            continue
        start, size = stream.pop("start", 0), stream.pop("range", None)
        if start in (0, "0%") and size is None:
            continue
        if size is None:
            if not isinstance(start, str) or values.in_zones(start):
                raise UsageError("offset: a job that writes zones needs a size beside it")
            size = f"{100 - values.percent(start)}%"
        stream["asu"] = {"start": start, "size": size}
        if plan.mapped.get("offset_increment", "").startswith("stream."):
            plan.mapped["offset_increment"] = CLONES


def are_apart(places: Sequence[Mapping[str, Any]]) -> bool:
    """Whether ranges of zones, each a start and a size, have no zone in common; not known of such
    in different units."""
    spans: list[tuple[int, int]] = []
    for unit in ("", "%", "z"):
        for place in places:
            start, size = str(place.get("start", 0)), str(place.get("size", ""))
            if start == "0":
                start += unit
            if [text.lstrip("0123456789") for text in (start, size)] == [unit, unit] and size:
                first = int(start.removesuffix(unit))
                spans.append((first, first + int(size.removesuffix(unit))))
        if spans:
            break
    spans.sort()
    return len(spans) == len(places) and all(
        before[1] <= after[0] for before, after in pairwise(spans)
    )
