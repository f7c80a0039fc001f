# SPDX-License-Identifier: GPL-2.0-or-later
"""Rewrites a job with fewer of fio's options and without changing its load: sizes in zones become
bytes, a range of delays becomes one delay, a depth that its engine ignores is dropped, and blocks
larger than an I/O of spek become several I/Os."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from spekctl import units
from spekctl.errors import UsageError, at
from spekctl.fio import arrivals, devices, readings, replay, values, zones
from spekctl.fio.jobfile import Job
from spekctl.fio.options import RANDOM, TRIM, engine_of, waiting
from spekctl.workload.values import IO_BYTES_MAX, SECTOR

BLOCKS = Path("/sys/class/block")
_IN_ZONES = ("size", "io_size", "offset", "offset_increment", "zoneskip")
_LARGE = ("read", "write", "rw", "readwrite", "trim", "randread", "randwrite", "randrw", "randtrim")
# Options of the I/Os outstanding. A value of 1 has the same effect with any engine, as has 0 for
# all but the depth.
_DEPTHS = (
    *("iodepth", "iodepth_batch", "iodepth_batch_complete_min", "iodepth_batch_complete_max"),
    "iodepth_low",
)
LATER_PASSES = (
    "percentage_random=0: each pass begins at the start of the range; in fio only the first one"
    " does, and others begin at a random place"
)
NO_ZONES = "a number of zones is 0 bytes in fio without zonemode"


@dataclass(slots=True)
class Normal:
    """A rewritten job, and the differences that the rewriting makes."""

    job: Job
    differences: list[str] = field(default_factory=list)
    notes: dict[str, str] = field(default_factory=dict)  # what an option means, as in fio
    ignored: dict[str, str] = field(default_factory=dict)  # options that fio ignores as well


def of(job: Job) -> Normal:
    """@job, rewritten; its options keep their order. UsageError names the option."""
    normal = Normal(Job(job.name, dict(job.options)))
    normal.notes |= readings.imply(normal.job.options)
    normal.notes |= readings.apply(normal.job.options)
    if replay.is_replay(job.options):
        # The log has the places and sizes, and the device.
        _delay(normal)
        _depth(normal)
        return normal
    _device(normal)
    _mode(normal)
    _zones(normal)
    _order(normal)
    _generator(normal)
    _delay(normal)
    _depth(normal)
    _pause(normal)
    _pieces(normal)
    _trims(normal)
    return normal


def _device(normal: Normal) -> None:
    """[/dev/sda]: without a filename, the name of a job is its device if there is such a one."""
    job = normal.job
    if job.name.startswith("/dev/") and not job.options.get("filename"):
        job.options["filename"] = job.name.replace(":", "\\:")
        normal.notes["filename"] = "it is the name of the job, as in fio"


def _mode(normal: Normal) -> None:
    """zonesize without a zonemode: fio took it for strided zones before it had zonemode, and does
    so again; 3.33 refuses it."""
    options = normal.job.options
    if "zonemode" not in options and (options.get("zonesize") or "").strip("0 "):
        options["zonemode"] = "strided"
        normal.notes["zonesize"] = "zonemode=strided, as in versions of fio that do not ask for it"


def _zones(normal: Normal) -> None:
    """4z as bytes, if the size of a zone is known."""
    options = normal.job.options
    for name in _IN_ZONES:
        number = re.fullmatch(r"([0-9]+)z", (options.get(name) or "").strip().lower())
        if number is None:
            continue
        count = int(number[1])
        if (options.get("zonemode") or "none") == "none":
            if count:
                normal.differences.append(f"{name}: {NO_ZONES}")
            options[name] = "0"
            continue
        zone = _zone_bytes(options) if count else 1
        # Without it, zones of the workload are as large as those of its device.
        options[name] = str(count * zone) if zone else f"{count}z"


def _zone_bytes(options: dict[str, str | None]) -> int:
    """The size of a zone; 0 if it is not known."""
    given = options.get("zonesize")
    if given:
        return values.size(given, values.whole(options.get("kb_base") or "1024"))
    path = next(iter(devices.named(options)), "")
    name = Path(devices.block_path(path)).name
    queue = BLOCKS / name / "queue"
    try:
        if not name or (queue / "zoned").read_text().strip() == "none":
            return 0
        return int((queue / "chunk_sectors").read_text()) * SECTOR
    except (OSError, ValueError):
        return 0


def _shares(options: Mapping[str, str | None], kind: str) -> set[int]:
    """Per cent of random I/Os, of the directions that a random job has."""
    with at("percentage_random"):
        parts = values.by_direction(options.get("percentage_random") or "100")
        read, write, trim = (values.percent(part or "100") for part in parts)
    of_kind = {"randread": {read}, "randwrite": {write}, "randtrim": {trim}}
    return of_kind.get(kind, {read, write})


def _order(normal: Normal) -> None:
    """percentage_random=0: a random job without random I/Os is a sequential one."""
    options = normal.job.options
    kind, _, suffix = (options.get("rw") or "read").partition(":")
    if kind not in RANDOM or suffix or (options.get("zonemode") or "none") != "none":
        return
    if not options.get("percentage_random") or _shares(options, kind) != {0}:
        return
    options["rw"] = kind.removeprefix("rand")
    del options["percentage_random"]
    normal.notes["rw"] = "sequential, as in fio, because percentage_random=0"
    normal.ignored["percentage_random"] = "stream.pattern"
    normal.differences.append(LATER_PASSES)


def _generator(normal: Normal) -> None:
    """random_generator=lfsr: fio has no random map then, as the register itself does not repeat a
    number before all others; random I/Os that others continue may repeat blocks."""
    options = normal.job.options
    kind, _, suffix = (options.get("rw") or "read").partition(":")
    law = options.get("random_distribution") or "random"
    mode = options.get("zonemode") or "none"
    if options.get("random_generator") != "lfsr" or kind not in RANDOM or law != "random":
        return
    if mode == "zbd":
        return
    if (options.get("blockalign") or "").strip("0, "):
        raise UsageError(
            "blockalign: with random_generator=lfsr fio counts blocks of another size than it"
            " aligns to; leave one of the two out"
        )
    if suffix not in ("", "1") or _shares(options, kind) != {100}:
        options.setdefault("norandommap", "1")
    elif "norandommap" in options:
        del options["norandommap"]
        normal.ignored["norandommap"] = (
            "nothing: with random_generator=lfsr fio repeats no block either way"
        )


def _delay(normal: Normal) -> None:
    """startdelay=5-10: fio draws the delay of each job and clone from the range."""
    options = normal.job.options
    text = options.get("startdelay") or ""
    low, dash, high = text.partition("-")
    if not dash or not low:
        return
    try:
        first, last = (values.duration_ns(bound.strip(), "s") for bound in (low, high))
    except UsageError as error:
        raise UsageError(f"startdelay: {error.message}") from error
    if first > last:
        raise UsageError(f"startdelay: '{text}' is not a range of times")
    middle_us = (first + last) // 2000
    options["startdelay"] = f"{middle_us}us"
    if first != last:
        normal.differences.append(
            f"it starts after {units.format_duration(middle_us * 1000)}, the middle of startdelay;"
            " fio draws the delay of each job"
        )


def _paths(options: Mapping[str, str | None]) -> list[str]:
    if not replay.is_replay(options):
        return devices.named(options)
    # A log may be long, and it is only with sg that the kind of device matters.
    return replay.named(options) if engine_of(options.get("ioengine")) == "sg" else []


def _depth(normal: Normal) -> None:
    """ioengine=psync: one I/O at a time, without what other engines do with several."""
    options = normal.job.options
    waits = waiting(options, _paths(options))
    if not waits:
        return
    ignored = []
    for name in _DEPTHS:
        if not options.get(name):
            continue
        with at(name):
            number = (values.positive if name == "iodepth" else values.whole)(options[name] or "")
        if number > 1:
            ignored.append(name)
            del options[name]
            normal.ignored[name] = f"nothing: {waits} has one I/O at a time, as in fio"
    if ignored:
        normal.differences.append(
            f"{waits} ignores {', '.join(ignored)}: one I/O at a time for each clone"
        )


def _pause(normal: Normal) -> None:
    """thinktime=1ms,5ms or 1ms-5ms: fio has no range of pauses, and takes the first value."""
    options = normal.job.options
    text = (options.get("thinktime") or "").strip()
    first, *others = re.split("[-,:]", text)
    if first and others and not text.startswith("("):
        options["thinktime"] = first
        normal.notes["thinktime"] = f"of '{text}' fio takes the first value, and no range"


def _pieces(normal: Normal) -> None:
    """Blocks that are larger than an I/O can be, as several I/Os in sequence."""
    options = normal.job.options
    text = options.get("bs")
    if text is None or any(options.get(name) for name in ("bssplit", "bsrange")):
        return
    base = values.whole(options.get("kb_base") or "1024")
    if base not in (1000, 1024):
        return
    try:
        sizes = {values.size(word, base) for word in text.split(",") if word.strip()}
    except UsageError:
        return
    if not sizes or max(sizes) <= IO_BYTES_MAX:
        return
    kind, _, suffix = (options.get("rw") or "read").partition(":")
    (size, *others) = sizes
    count = next(
        (
            divisor
            for divisor in range(2, 4096)
            if size % divisor == 0 and size // divisor <= IO_BYTES_MAX
        ),
        0,
    )
    random = kind.startswith("rand")
    mode = options.get("zonemode") or "none"
    if mode == "zbd" and kind in TRIM:
        raise UsageError(zones.NO_TRIMS)
    reason = (
        "its directions have different sizes"
        if others or "," in text
        else "it is no multiple of a size that an I/O can have"
        if not count or size // count % SECTOR
        else "the gap between them"
        if suffix and not random
        else "zones"
        # Writes at write pointers have no places of their own that pieces have to share.
        if mode != "none" and not (mode == "zbd" and kind in ("read", "write", "randwrite"))
        else "the pauses between them"
        if (options.get("thinktime") or "0").strip("0") != ""
        else ""
        if kind in _LARGE
        else f"rw={kind}"
    )
    if reason:
        raise UsageError(
            f"bs: an I/O of spek has at most {units.format_bytes(IO_BYTES_MAX)}, and it does not"
            f" divide blocks of {units.format_bytes(max(sizes))} here: {reason}"
        )
    options["bs"] = str(size // count)
    scaled = _multiply(options, count, base)
    if random and mode == "none":
        options["rw"] = f"{kind}:{count * values.positive(suffix or '1')}"
    normal.differences.append(
        f"bs: blocks of {units.format_bytes(size)} are sent as {count} I/Os of"
        f" {units.format_bytes(size // count)} each, at {scaled}; figures are those of these"
        " I/Os"
    )


def _trims(normal: Normal) -> None:
    """num_range=8: a trim command of several blocks as a discard for each of them."""
    options = normal.job.options
    kind = (options.get("rw") or "read").partition(":")[0]
    if kind not in TRIM or (options.get("num_range") or "1") == "1":
        return
    with at("num_range"):
        count = values.positive(options["num_range"] or "")
    _pause_after_trims(normal, count)
    scaled = _multiply(options, count, values.whole(options.get("kb_base") or "1024"))
    normal.differences.append(
        f"num_range: a trim of {count} blocks is sent as {count} discards, at {scaled};"
        " figures are those of these discards"
    )


def _pause_after_trims(normal: Normal, count: int) -> None:
    """Have pauses after all discards of as many trims as fio has between them."""
    options = normal.job.options
    with at("thinktime"):
        pause = values.duration_ns(options.get("thinktime") or "0", "us")
    with at("thinktime_iotime"):
        is_timed = bool(values.duration_ns(options.get("thinktime_iotime") or "0", "s"))
    if not pause or (is_timed and "thinktime_blocks" not in options):
        return
    if any((options.get(name) or "").strip("0, ") for name in ("rate", "rate_iops")):
        raise UsageError(
            f"num_range, thinktime: a trim of {count} blocks is sent as {count} discards, and these"
            " have either a rate or pauses after all of them; leave out the pauses or the rate"
        )
    with at("thinktime_blocks"):
        blocks = values.whole(options.get("thinktime_blocks") or "1") or 1
    with at("iodepth"):
        depth = values.positive(options.get("iodepth") or "1")
    if blocks == 1 and not is_timed and depth > 1:
        normal.differences.append(arrivals.PAUSES)
        options["iodepth"], depth = "1", 1
    # A trim has completed before the next is sent, so that no burst has more discards than these.
    if depth == 1 and (options.get("thinktime_blocks_type") or "complete") == "complete":
        options["thinktime_blocks_type"] = "issue"
    options["thinktime_blocks"] = str(blocks * count)


def _multiply(options: dict[str, str | None], count: int, base: int) -> str:
    """Have @count I/Os in place of each. Return what of the load is @count times as large."""
    options["iodepth"] = str(count * values.positive(options.get("iodepth") or "1"))
    scaled = f"{count} times the depth"
    for name in ("iodepth_batch", "iodepth_batch_complete_min", "iodepth_low"):
        with at(name):
            number = values.whole(options.get(name) or "0")
        if number:
            options[name] = str(count * number)
            scaled = f"{count} times the depth and batch" if name == "iodepth_batch" else scaled
    for name in ("rate_iops", "rate_iops_min", "number_ios", "fsync", "fdatasync"):
        given = options.get(name)
        if given:
            parts = given.split(",")
            options[name] = ",".join(
                str(count * values.size(part, base)) if part.strip() else "" for part in parts
            )
    return scaled
