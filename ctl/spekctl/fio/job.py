# SPDX-License-Identifier: GPL-2.0-or-later
"""One job of fio as streams and an arrival process of a workload.

What a table of a workload cannot say goes into Plan: options of `spekctl run`, the length of the
run, and differences that change numbers.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from spekctl import units
from spekctl.errors import UsageError
from spekctl.fio import values
from spekctl.fio.jobfile import Job
from spekctl.fio.options import ASYNCHRONOUS, MAPPED, NOT_NEEDED, REFUSED, SYNCHRONOUS
from spekctl.suggest import did_you_mean
from spekctl.workload.values import FILL_PATTERN, SIZES_MAX, STREAMS_MAX

RANDOM = ("randread", "randwrite", "randrw", "randtrim")
SEQUENTIAL = ("read", "write", "rw", "readwrite", "trim")
TRIM = ("trim", "randtrim")
TRIM_AND_WRITE = ("trimwrite", "randtrimwrite")

ONCE = (
    "random order, each block once per pass, as fio's random map; another order in each pass, where"
    " fio repeats the first one"
)
MAP = "fio's random map avoids blocks done before; here blocks of several sizes may repeat"
MIX = "reads and writes are drawn for each I/O; fio keeps the share over time"
LAW = "the same law as fio's, but other blocks are the frequent ones"
OPEN = (
    "arrivals keep their schedule whatever is outstanding, and response time counts from them; fio"
    " stops at its depth, and its latency begins at the issue"
)
CLONES = "clones share the depth of all; fio keeps a depth for each"
FLUSHES = (
    "flushes are drawn with that share of the writes and count as I/Os; fio sends one after every N"
    " writes"
)
ENDS = "ends by time only; fio also ends when it has covered its size"
MEAN = "the number of I/Os is that of the mean block size; fio ends exactly at its size"
UNCHECKED = (
    "blocks that this run has not written are not checked; fio checks what an earlier one wrote"
)
CACHE = "there is no page cache in between; fio without direct=1 uses it"
DEVICES = "devices are striped over in units of 64 KiB; fio takes them in turn, for an I/O each"


@dataclass(slots=True)
class Plan:
    """A job as parts of a workload."""

    streams: list[dict[str, Any]] = field(default_factory=list)
    arrival: dict[str, Any] = field(default_factory=dict)
    run: dict[str, Any] = field(default_factory=dict)
    command_line: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    delay_ns: int = 0
    amount: int | None = None  # I/Os after which fio ends the job
    mapped: dict[str, str] = field(default_factory=dict)
    not_needed: dict[str, str] = field(default_factory=dict)
    differences: list[str] = field(default_factory=list)

    def differs(self, text: str) -> None:
        """Note a difference, once."""
        if text not in self.differences:
            self.differences.append(text)


class Reader:
    """The options of a job, taken one by one; a complaint names the option."""

    def __init__(self, job: Job, plan: Plan) -> None:
        self._options = job.options
        self._plan = plan

    def text(self, name: str) -> str | None:
        """The value of an option; None if it is not given."""
        if name not in self._options:
            return None
        value = self._options[name]
        if value is None or value == "":
            raise UsageError(f"{name} has no value")
        return value

    def flag(self, name: str, default: bool = False) -> bool:
        """A boolean."""
        if name not in self._options:
            return default
        return bool(self._named(name, lambda: values.flag(self._options[name])))

    def value(self, name: str, parse: Any, *more: Any) -> Any:
        """The value of an option, parsed; None if it is not given."""
        text = self.text(name)
        return None if text is None else self._named(name, lambda: parse(text, *more))

    def last(self, names: Collection[str]) -> str | None:
        """The option of @names that was given last and counts; None without any."""
        return next((one for one in reversed(self._options) if one in names), None)

    def went(self, name: str, where: str) -> None:
        """Note where an option went, if it was given."""
        if name in self._options:
            self._plan.mapped[name] = where

    @staticmethod
    def _named(name: str, parse: Any) -> Any:
        try:
            return parse()
        except UsageError as error:
            raise UsageError(f"{name}: {error.message}") from error


# Options of which spek has the usual value.
_ONE_VALUE = {
    "rw_sequencer": "sequential",
    "bs_unaligned": "0",
    "trim_percentage": "0",
    "verify_only": "0",
}


def refusals(job: Job, accept_direct: bool) -> list[str]:
    """A sentence for each option that spek does not have."""
    found = []
    for name in job.options:
        if name in REFUSED:
            found.append(f"{name}: {REFUSED[name]}")
        elif name not in MAPPED and name not in NOT_NEEDED:
            known = (*MAPPED, *NOT_NEEDED, *REFUSED)
            found.append(f"{name}: not an option that spek knows{did_you_mean(name, known)}")
    options = job.options
    cached = [
        name
        for name, value in (("direct", "0"), ("buffered", "1"))
        if name in options and (options[name] or "1") == value
    ]
    if cached and not accept_direct:
        found.append(
            f"{cached[0]}: it asks for the page cache, which spek does not have; `spekctl fio"
            " --accept direct` imports the job without it"
        )
    for name, usual in _ONE_VALUE.items():
        if options.get(name, usual) != usual:
            found.append(f"{name}: spek has {usual} only")
    engine = (options.get("ioengine") or "psync").partition(",")[0]
    if engine not in SYNCHRONOUS | ASYNCHRONOUS:
        found.append(f"ioengine: {engine} does not load a block device as spek does")
    if options.get("zonemode", "none") != "none":
        found.append(
            "zonemode: zones are not imported; pattern write-pointer writes those of a device"
        )
    if options.get("nrfiles", "1") != "1":
        found.append("nrfiles: spek loads block devices, not files")
    kind = (options.get("rw") or "read").partition(":")[0]
    if kind in TRIM_AND_WRITE:
        found.append(f"rw: {kind} writes what it has discarded; make two jobs of it")
    elif kind not in (*RANDOM, *SEQUENTIAL):
        found.append(f"rw: '{kind}' is not a kind of I/O")
    return found


def plan_of(job: Job) -> Plan:
    """A job whose options are all known. UsageError for a value that cannot be mapped."""
    plan = Plan()
    options = Reader(job, plan)
    for name in job.options:
        if name in NOT_NEEDED:
            plan.not_needed[name] = NOT_NEEDED[name]
    clones = options.value("numjobs", values.positive) or 1
    _arrival(options, plan, clones, _streams(options, plan, clones))
    _length(options, plan, clones)
    _flushes(options, plan)
    _command_line(options, plan)
    for name in job.options:
        if name not in plan.mapped and name not in plan.not_needed:
            plan.not_needed[name] = "no effect on a job of this kind, as in fio"
    return plan


# --- what is done, and where ---------------------------------------------------------------------


def _streams(options: Reader, plan: Plan, clones: int) -> list[tuple[int, int]]:
    """Fill in the streams, without names; return the mean sizes of an I/O by share."""
    base = options.value("kb_base", values.whole) or 1024
    if base not in (1000, 1024):
        raise UsageError(f"kb_base: it is 1000 or 1024, not {base}")
    options.went("kb_base", "sizes")
    kind, _, suffix = (options.text("rw") or "read").partition(":")
    options.went("rw", "stream.pattern, stream.read")
    share = _read_share(options, plan, kind)
    sizes = _sizes(options, base, kind)
    where = _region(options, base)
    devices = max(1, len(_files(options)))
    if devices > 1:
        plan.differs(DEVICES)
        # Of an amount fio gives each device its part; a start is one on each of them.
        if isinstance(where.get("start"), int):
            where["start"] *= devices
        if options.text("filesize") is not None:
            where["range"] *= devices
    forced = (options.text("sync") or "0") not in ("0", "none")
    options.went("sync", "stream.fua")
    contents = _contents(options, plan)
    parts: list[dict[str, Any]] = []
    # Both directions of a sequential job have a place of their own, and sizes may differ.
    split = 0 < share < 100 and (kind not in RANDOM or sizes[0] != sizes[1])
    for reads, weight, mix in (
        (((100, share, sizes[0]), (0, 100 - share, sizes[1])))
        if split
        else ((share, 100, sizes[0] if share else sizes[1]),)
    ):
        one: dict[str, Any] = {"share": weight}
        if kind in TRIM:
            one["operation"] = "discard"
        else:
            one["read"] = f"{reads}%"
        if forced and one.get("read", "100%") != "100%":
            one["fua"] = True
        if one.get("read", "100%") != "100%":
            one |= contents
        if len(mix) == 1:
            one["size"] = mix[0][0]
        else:
            one["sizes"] = [{"size": size, "share": often} for size, often in mix]
        one |= _pattern(options, plan, kind, suffix, [size for size, _ in mix], base)
        parts.append(one)
    align = options.value("blockalign", values.size, base)
    options.went("blockalign", "stream.align")
    increment = (options.value("offset_increment", values.size, base) or 0) * devices
    options.went("offset_increment", "stream.start of each clone")
    alike = all(one["pattern"] not in ("sequential", "strided", "once") for one in parts)
    count = 1 if alike and not increment else clones
    if count * len(parts) > STREAMS_MAX:
        raise UsageError(
            f"numjobs: its clones need {count * len(parts)} streams; at most {STREAMS_MAX} are"
            " allowed"
        )
    options.went("numjobs", "arrival.depth" if count == 1 else "a stream for each clone")
    for clone in range(count):
        for part in parts:
            stream = {**part, **where}
            if align:
                stream["align"] = align
            if increment and clone:
                stream["start"] = stream.get("start", 0) + clone * increment
            plan.streams.append(stream)
    if count > 1:
        plan.differs(CLONES)
    if 0 < share < 100:
        plan.differs(MIX)
    return sizes[0] if share else sizes[1]


def _read_share(options: Reader, plan: Plan, kind: str) -> int:
    """Per cent of reads."""
    shares = {name: options.value(name, values.percent) for name in ("rwmixread", "rwmixwrite")}
    for name in shares:
        options.went(name, "stream.read")
    if kind in ("read", "randread"):
        return 100
    if kind in ("write", "randwrite", *TRIM):
        return 0
    last = options.last(shares)
    if last is None:
        return 50
    return int(shares[last] if last == "rwmixread" else 100 - shares[last])


Mix = list[tuple[int, int]]


def _sizes(options: Reader, base: int, kind: str) -> tuple[Mix, Mix]:
    """Block sizes with weights, of reads and of writes or, of a job that discards, of discards."""
    second = 2 if kind in TRIM else 1
    for name in ("bs", "bsrange", "bssplit"):
        options.went(name, "stream.size, stream.sizes")
    for name, parse in (("bssplit", _split_mix), ("bsrange", _range_mix)):
        text = options.text(name)
        if text is not None:
            found = [
                options._named(name, lambda t=one, p=parse: p(t, base)) for one in text.split(",")
            ]
            return found[0], found[min(second, len(found) - 1)]
    given = options.value(
        "bs", lambda text: [values.size(one or "4k", base) for one in text.split(",")]
    )
    sizes = given or [4096]
    for one in sizes:
        if one == 0 or one % 512:
            raise UsageError(f"bs: {one} bytes are not a multiple of 512")
    return [(sizes[0], 1)], [(sizes[min(second, len(sizes) - 1)], 1)]


def _range_mix(text: str, base: int) -> Mix:
    """``4k-64k``: all multiples of the first size, with equal shares."""
    low, dash, high = text.partition("-")
    if not dash:
        raise UsageError(f"'{text}' is not a range")
    first, last = values.size(low, base), values.size(high, base)
    if not first or first > last or first % 512:
        raise UsageError(f"'{text}' is not a range of multiples of 512")
    count = last // first
    if count > SIZES_MAX:
        raise UsageError(f"'{text}' has {count} sizes; at most {SIZES_MAX} are allowed")
    return [(first * number, 1) for number in range(1, count + 1)]


def _split_mix(text: str, base: int) -> Mix:
    """``4k/60:64k/40``; entries without a share have equal parts of what is left."""
    entries = [one.partition("/") for one in text.split(":")]
    given = [values.percent(share) for _, _, share in entries if share]
    left, without = 100 - sum(given), len(entries) - len(given)
    if left < 0 or (left and not without):
        raise UsageError(f"the shares of '{text}' sum to {sum(given)}, not to 100")
    scale = max(1, without)
    found = [
        (values.size(size, base), values.percent(share) * scale if share else left)
        for size, _, share in entries
    ]
    found = [(size, weight) for size, weight in found if weight]
    divisor = math.gcd(*(weight for _, weight in found))
    return [(size, weight // divisor) for size, weight in found]


def _region(options: Reader, base: int) -> dict[str, Any]:
    """Start and range of a stream; a share of the device stays a percentage."""
    found: dict[str, Any] = {}
    for name, key in (("offset", "start"), ("size", "range")):
        text = options.text(name)
        if text is None:
            continue
        if text.endswith("%"):
            percent = options.value(name, values.percent)
            found |= {key: f"{percent}%"} if percent != 100 or key == "start" else {}
        else:
            found[key] = options.value(name, values.size, base)
        options.went(name, f"stream.{key}")
    if isinstance(found.get("start"), str) and "offset_increment" in options._options:
        raise UsageError("offset_increment: the offset is in per cent; write it in bytes")
    filesize = options.value("filesize", values.size, base)
    options.went("filesize", "stream.range")
    if filesize is not None:
        # Then it is the region, up to there from the start of the device, and size an amount.
        start = found.get("start", 0)
        if isinstance(start, str):
            raise UsageError("filesize: the offset is in per cent; write it in bytes")
        if filesize <= start:
            raise UsageError("filesize: the offset is beyond it")
        found["range"] = filesize - start
    return found


def _contents(options: Reader, plan: Plan) -> dict[str, str]:
    """The data of the writes, unless it is that of the run."""
    compressible = options.value("buffer_compress_percentage", values.percent) or 0
    duplicate = options.value("dedupe_percentage", values.percent) or 0
    fill = options.text("buffer_pattern")
    options.went("buffer_compress_percentage", "stream.compressible")
    options.went("dedupe_percentage", "stream.duplicate")
    options.went("buffer_pattern", "stream.fill")
    if fill is not None and not re.fullmatch(FILL_PATTERN, fill):
        raise UsageError(
            f"buffer_pattern: '{fill}' is not taken; write 0x and 1 to 64 bytes in hexadecimal"
        )
    found: dict[str, str] = {}
    if compressible:
        found["compressible"] = f"{compressible}%"
    # With duplicates of random data fio has no place for the pattern.
    if fill is not None and (compressible or not duplicate):
        found["fill"] = fill
    # What is all fill is equal anyway.
    if duplicate and compressible < 100:
        found["duplicate"] = f"{duplicate}%"
        plan.differs("duplicates are blocks of 4 KiB, not of the block size")
    if found and options.text("verify") not in (None, "0", "null"):
        plan.differs("stamped blocks neither compress nor have duplicates")
        return {}
    return found


def _pattern(
    options: Reader, plan: Plan, kind: str, suffix: str, sizes: list[int], base: int
) -> dict[str, Any]:
    if kind not in RANDOM:
        if not suffix:
            return {"pattern": "sequential"}
        gap = options._named("rw", lambda: values.size(suffix, base))
        if len(sizes) > 1:
            raise UsageError("rw: a gap needs one block size")
        return {"pattern": "strided", "stride": sizes[0] + int(gap)}
    if suffix:
        count = options._named("rw", lambda: values.whole(suffix))
        if len(sizes) > 1:
            raise UsageError("rw: runs need one block size")
        for name, usual in (("random_distribution", "random"), ("percentage_random", "100")):
            if options.text(name) not in (None, usual):
                raise UsageError(f"{name}: runs start at uniformly distributed places")
        if count > 1:
            plan.differs("runs start anywhere; fio starts them where its random map has not been")
            return {"pattern": "runs", "run_length": int(count) * sizes[0]}
    random = options.value("percentage_random", values.percent)
    options.went("percentage_random", "stream.sequential")
    law = _law(options.text("random_distribution") or "random", base)
    options.went("random_distribution", "stream.pattern")
    if law is not None:
        if random not in (None, 100):
            raise UsageError("percentage_random: only uniform I/Os can continue the one before")
        plan.differs(LAW)
        return law
    if random not in (None, 100):
        return {"pattern": "uniform", "sequential": f"{100 - int(random)}%"}
    with_map = not options.flag("norandommap")
    options.went("norandommap", "stream.pattern")
    options.went("softrandommap", "nothing: the order needs no memory")
    if not with_map:
        return {"pattern": "uniform"}
    if len(sizes) > 1:
        plan.differs(MAP)
        return {"pattern": "uniform"}
    plan.differs(ONCE)
    return {"pattern": "once"}


def _law(text: str, base: int) -> dict[str, Any] | None:
    """A distribution; None for the uniform one."""
    if "," in text:
        raise UsageError("random_distribution: one for each direction is not supported")
    name, _, rest = text.partition(":")
    if name == "random":
        return None
    if name in ("zoned", "zoned_abs"):
        zones = []
        for one in rest.split(":"):
            share, slash, size = one.partition("/")
            if not slash:
                raise UsageError(f"random_distribution: '{one}' is not a zone; write SHARE/SIZE")
            where = values.size(size, base) if name == "zoned_abs" else f"{values.percent(size)}%"
            zones.append({"share": f"{values.percent(share)}%", "size": where})
        return {"pattern": "zoned", "zones": zones}
    value, _, center = rest.partition(":")
    keys = {"zipf": "theta", "pareto": "h", "normal": "deviation"}
    if name not in keys:
        raise UsageError(f"random_distribution: '{name}' is not a distribution that spek has")
    defaults = {"zipf": "1.1", "pareto": "0.2"}
    number = _decimal(value or defaults.get(name, ""))
    found: dict[str, Any] = {"pattern": name}
    found[keys[name]] = f"{number:g}%" if name == "normal" else number
    if center:
        found["center"] = f"{_decimal(center) * 100:g}%"
    return found


def _decimal(text: str) -> float:
    try:
        if len(text) <= units.LONGEST_NUMBER and math.isfinite(value := float(text)):
            return value
    except ValueError:
        pass
    raise UsageError(f"random_distribution: '{text[:40]}' is not a number")


# --- when ----------------------------------------------------------------------------------------


def _arrival(options: Reader, plan: Plan, clones: int, mix: Mix) -> None:
    engine = (options.text("ioengine") or "psync").partition(",")[0]
    options.went("ioengine", "nothing: the load is in the kernel")
    depth = options.value("iodepth", values.positive) or 1
    options.went("iodepth", "arrival.depth")
    if engine in SYNCHRONOUS and depth > 1:
        plan.differs(f"ioengine {engine} ignores iodepth: one I/O at a time for each clone")
        depth = 1
    rate = _rate(options, plan, mix)
    think = options.value("thinktime", values.duration_ns, "us") or 0
    options.went("thinktime", "arrival.think")
    if think and depth > 1:
        raise UsageError("thinktime: fio with a depth of more than 1 pauses between batches")
    blocks = options.value("thinktime_blocks", values.whole) or 1
    if think and blocks != 1:
        raise UsageError("thinktime_blocks: pauses are after each I/O")
    options.went("thinktime_blocks", "arrival.think")
    process = options.text("rate_process") or "linear"
    options.went("rate_process", "arrival.law")
    if process not in ("linear", "poisson"):
        raise UsageError(f"rate_process: '{process}' is neither linear nor poisson")
    if rate is not None:
        if think:
            raise UsageError("thinktime: it excludes a rate")
        plan.differs(OPEN)
        law = "poisson" if process == "poisson" else "constant"
        value = rate * clones
        plan.arrival = {"law": law, "rate": int(value) if value.denominator == 1 else float(value)}
        return
    plan.arrival = {"law": "closed", "depth": depth * clones}
    if think:
        plan.arrival["think"] = units.format_duration(think)


def _rate(options: Reader, plan: Plan, mix: Mix) -> Fraction | None:
    """I/Os per second of one clone; None without a rate."""
    given = [name for name in ("rate", "rate_iops") if options.text(name) is not None]
    if not given:
        return None
    name = given[0]
    if len(given) > 1:
        raise UsageError("rate: it excludes rate_iops")
    reads = {one.get("read", "0%") for one in plan.streams}
    if reads not in ({"100%"}, {"0%"}):
        raise UsageError(f"{name}: fio has a rate for each direction; make two jobs of this one")
    parts = str(options.text(name)).split(",")
    part = parts[min(len(parts) - 1, 0 if reads == {"100%"} else 1)] or parts[0]
    base = options.value("kb_base", values.whole) or 1024
    value = options._named(name, lambda: values.size(part, base))
    options.went(name, "arrival.rate")
    if not value:
        raise UsageError(f"{name}: a rate of 0 is none")
    mean = Fraction(sum(size * weight for size, weight in mix), sum(weight for _, weight in mix))
    return Fraction(value) if name == "rate_iops" else Fraction(value) / mean


def _length(options: Reader, plan: Plan, clones: int) -> None:
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
        if text is not None and not text.endswith("%"):
            amount = options.value(name, values.size, base)
            break
    options.went("io_size", "run.count")
    number = options.value("number_ios", values.whole)
    options.went("number_ios", "run.count")
    if runtime:
        plan.run["time"] = units.format_duration(runtime)
        if not by_time:
            plan.differs(ENDS)
        return
    if by_time:
        raise UsageError("time_based: there is no runtime")
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


def _files(options: Reader) -> list[str]:
    """The devices of a job."""
    files = (options.text("filename") or "").replace("\\:", "\0").split(":")
    return [one.replace("\0", ":") for one in files if one]


def _flushes(options: Reader, plan: Plan) -> None:
    """A stream of flushes, one for every N writes."""
    every = 0
    for name in ("fsync", "fdatasync"):
        every = options.value(name, values.whole) or every
        options.went(name, "a stream of flushes")
    # Of every 100 * N I/Os as many write as the sum says, and a flush follows every Nth of them.
    writes = sum(
        int(one["share"]) * (100 - int(one["read"].rstrip("%")))
        for one in plan.streams
        if "read" in one
    )
    if not every or not writes:
        return
    data = sum(int(one["share"]) for one in plan.streams) * 100 * every
    divisor = math.gcd(writes, *(int(one["share"]) * 100 * every for one in plan.streams))
    for one in plan.streams:
        one["share"] = int(one["share"]) * 100 * every // divisor
    plan.streams.append({"operation": "flush", "share": writes // divisor})
    if plan.amount is not None:
        plan.amount = round(Fraction(plan.amount) * (data + writes) / data)
    plan.differs(FLUSHES)


def _command_line(options: Reader, plan: Plan) -> None:
    """What belongs to `spekctl run`."""
    writes = any(one.get("read") != "100%" for one in plan.streams)
    plan.files = _files(options)
    options.went("filename", "--device")
    plan.command_line += ["--write"] if writes else []
    seed = options.value("randseed", values.whole)
    options.went("randseed", "--seed")
    if seed is not None:
        plan.command_line.append(f"--seed {seed}")
    repeat = options.flag("randrepeat", True) and options.flag("allrandrepeat", True)
    for name in ("randrepeat", "allrandrepeat"):
        options.went(name, "--seed")
    if not repeat and seed is None:
        plan.command_line.append("--seed $RANDOM")
    for name in ("cpus_allowed", "cpumask"):
        options.went(name, "--cpus")
    cpus = options.text("cpus_allowed")
    mask = options.value("cpumask", values.whole)
    if mask:
        listed = [cpu for cpu in range(int(mask).bit_length()) if mask >> cpu & 1]
        plan.command_line.append(f"--cpus {units.format_cpu_list(listed)}")
    if cpus is not None:
        listed = options.value("cpus_allowed", units.parse_cpu_list)
        plan.command_line.append(f"--cpus {units.format_cpu_list(listed)}")
    batch = options.value("iodepth_batch", values.whole)
    options.went("iodepth_batch", "run.batch")
    if batch:
        plan.run["batch"] = int(batch)
    if options.flag("hipri"):
        plan.command_line.append("--polled")
    options.went("hipri", "--polled")
    verify = options.text("verify")
    options.went("verify", "--verify")
    if verify not in (None, "0", "null") and writes:
        plan.command_line.append("--verify")
        plan.differs("written blocks are stamped and checked wherever they are read")
    if verify not in (None, "0", "null") and any(
        one.get("read", "0%") != "0%" for one in plan.streams
    ):
        plan.differs(UNCHECKED)
    for name in ("do_verify", "verify_only", "experimental_verify"):
        options.went(name, "--verify")
    if not options.flag("direct"):
        plan.differs(CACHE)
    plan.run["data"] = "zero" if options.flag("zero_buffers") else "random"
    for name in ("zero_buffers", "scramble_buffers", "refill_buffers"):
        options.went(name, "run.data")
    for name in ("direct", "buffered", "nrfiles", "zonemode"):
        options.went(name, "nothing: there is neither a page cache nor a file")
    for name in ("rw_sequencer", "bs_unaligned", "trim_percentage"):
        options.went(name, "nothing: it has the value that spek has")
    for name in ("rate_ignore_thinktime", "io_submit_mode"):
        options.went(name, "nothing: arrivals wait for nothing")
    for name in ("stonewall", "wait_for"):
        options.went(name, "a step of its own")
