# SPDX-License-Identifier: GPL-2.0-or-later
"""One job of fio as streams and arrival processes of a workload.

What a table of a workload cannot say goes into Plan: options of `spekctl run`, the length of the
run, and differences that change numbers.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any, get_args

from spekctl import units
from spekctl.errors import UsageError
from spekctl.fio import (
    around,
    arrivals,
    commands,
    contents,
    defaults,
    devices,
    ends,
    flows,
    laws,
    normal,
    places,
    priorities,
    readings,
    replay,
    values,
    zones,
)
from spekctl.fio import sizes as block_sizes
from spekctl.fio.jobfile import Job
from spekctl.fio.options import (
    ASYNCHRONOUS,
    MAPPED,
    NOT_NEEDED,
    PASSTHROUGH,
    PLACEMENT,
    RANDOM,
    REFUSED,
    SEQUENTIAL,
    STATE,
    SYNCHRONOUS,
    TRIM,
    TRIM_AND_WRITE,
    VERIFIED,
    engine_of,
    hint,
    is_direct,
    last_of_cache,
)
from spekctl.fio.plan import UNASKED, Asked, Mix, Plan, Reader
from spekctl.workload.fields import LIMITS
from spekctl.workload.values import ARRIVALS_MAX, STREAMS_MAX, WriteHint

END_FLUSH = (
    "nothing is flushed at the end; fio flushes the disk's cache after the last write, and its"
    " bandwidth counts the time for that"
)
OVERLAPS = "I/Os in flight may overlap; with serialize_overlap fio waits for those that do"
MIX = "reads and writes are drawn for each I/O; fio keeps the share over time"
CLONES = "clones share the depth of all; fio keeps a depth for each"
CLONES_RATE = (
    "clones share the rate of all, and the clone of each I/O is drawn; fio keeps a rate for each"
)
FLUSHES = (
    "flushes are drawn with that share of the writes and count as I/Os; fio sends one after every N"
    " writes"
)
THINK = (
    "think times are after flushes as well, and shorter, so that their sum is that of fio, which"
    " pauses after writes only"
)
FLUSHED = "a stream of flushes"
NONE_HAS_IT = "nothing: no I/O of the job has it"
ONE_DIRECTION = "nothing: the job has one kind of I/O, as in fio"
# Where options go that have an effect on writes only.
_OF_WRITES = (
    *("stream.fua", "stream.atomic", "stream.write_hint", "stream.compressible"),
    *("stream.duplicate", "stream.fill", FLUSHED),
)
UNCHECKED = (
    "blocks that this run has not written are not checked; fio checks those of earlier runs, too"
)
NOT_VERIFIED = "nothing: no block of this run is checked"
FATAL = "mismatches are counted and do not end the run; with verify_fatal fio ends at the first one"
UNSTAMPED = (
    "do_verify=0: nothing is checked, so blocks are not stamped either; fio stamps them for a job"
    " that checks them"
)
CACHE = "there is no page cache in between; fio without direct=1 uses it"
DEVICES = "devices are striped over in units of 64 KiB; fio {}"
UNALIGNED = "nothing: as in fio, it applies to random jobs"
MAPS = "reads and writes each have an order of their own; fio's random map is of both"
ONE_MAP = "clones share one order, as each would need a stream of its own; fio has a map for each"
CLONES_TOGETHER = (
    "rate_min, rate_iops_min: compared with the sum of all clones; fio ends when one of them is"
    " below"
)
BATCH_MAX = LIMITS["batch"][1]
NODES = Path("/sys/devices/system/node")
# Values of file_service_type by which fio draws devices unequally often.
_SKEWED = ("zipf", "pareto", "normal", "gauss")

# Options of which spek has fio's default only, and why it has no other value.
_ONE_VALUE = {
    "bs_unaligned": "sizes are multiples of 512 bytes; leave it out",
    "trim_percentage": "discards do not follow writes; make two jobs of it",
    "verify_only": "check what an earlier run wrote with `spekctl verify`",
}


def refusals(job: Job, accept_direct: bool) -> list[str]:
    """A sentence for each option that spek does not have."""
    given = dict(job.options)
    readings.imply(given)
    options = defaults.effective(Job(job.name, given))[0].options
    engine = engine_of(options.get("ioengine"))
    loads = engine in SYNCHRONOUS | ASYNCHRONOUS
    alike: dict[str, list[str]] = {}
    kind, _, number = (options.get("rw") or "read").partition(":")
    writes = kind not in ("read", "randread", *TRIM)
    for name in options:
        if name in REFUSED and (writes or name not in PLACEMENT):
            alike.setdefault(REFUSED[name], []).append(name)
    reasons = [f"{', '.join(names)}: {why}" for why, names in alike.items()]
    for name in options:
        # Another engine has options of its own.
        if loads and name not in MAPPED | {*NOT_NEEDED, *REFUSED}:
            reasons.append(f"{name}: not an option that spek knows{hint(name)}")
    reasons += commands.refusals(options)
    last = last_of_cache(options)
    if last and _is_cached(options) and not accept_direct:
        reasons.append(
            f"{last}: it asks for the page cache, which spek does not have; `spekctl fio"
            " --accept direct` imports the job without it"
        )
    reasons += [f"{name}: {why}" for name, why in _ONE_VALUE.items() if name in options]
    if options.get("cmd_type", "bsg") != "bsg":
        reasons.append(f"cmd_type: '{options['cmd_type']}' is neither nvme nor bsg")
    if not loads:
        reasons.append(
            f"ioengine: {engine} does not load a block device; give libaio, and one as filename"
        )
    # Of files with names there are as many as names.
    if options.get("nrfiles", "1") != "1" and not options.get("filename"):
        reasons.append("nrfiles: spek loads block devices, not files")
    sequencer = options.get("rw_sequencer", "sequential")
    if sequencer not in ("sequential", "identical"):
        reasons.append(f"rw_sequencer: '{sequencer}' is neither sequential nor identical")
    # It only concerns I/Os between random ones.
    elif sequencer == "identical" and kind in RANDOM and number not in ("", "1"):
        reasons.append(
            f"rw_sequencer: identical has {number} I/Os at each place, and spek continues from each"
            f" I/O; leave it out for runs of {number} blocks"
        )
    if kind in TRIM_AND_WRITE:
        reasons.append(f"rw: {kind} writes what it has discarded; make two jobs of it")
    elif kind not in (*RANDOM, *SEQUENTIAL):
        reasons.append(f"rw: '{kind}' is not a kind of I/O")
    return reasons


def _is_cached(options: Mapping[str, str | None]) -> bool:
    """Whether fio goes through the page cache: neither with O_DIRECT nor by commands to a device,
    as discards and the I/Os of some engines are."""
    kind = (options.get("rw") or "read").partition(":")[0]
    # Beside a log rw has no effect.
    discards = kind in TRIM and not replay.is_replay(options)
    commanded = engine_of(options.get("ioengine")) in PASSTHROUGH
    return not (discards or commanded or is_direct(options))


def plan_of(
    job: Job, streams_max: int = STREAMS_MAX, apart: bool = True, asked: Asked = UNASKED
) -> Plan:
    """A job whose options are all known, as at most @streams_max streams where its clones allow
    for it. UsageError for a value that cannot be mapped.

    @apart: clones that end by their own I/Os have arrival processes of their own if they can
    """
    given = job.options.keys()
    simple = normal.of(job)
    job, without_effect = defaults.effective(simple.job)
    plan = Plan(mapped=without_effect, differences=simple.differences)
    if replay.is_replay(job.options):
        _replay(job, plan)
        _settle(job, plan, given, simple)
        return plan
    options = Reader(job, plan)
    for name in job.options:
        if name in NOT_NEEDED:
            plan.not_needed[name] = NOT_NEEDED[name]
    clones = options.value("numjobs", values.positive) or 1
    pauses = arrivals.pauses_of(options)
    plan.apart = clones > 1 and (
        bool(pauses) or (apart and clones <= ARRIVALS_MAX and _may_end_apart(options, asked))
    )
    if plan.apart and clones > ARRIVALS_MAX:
        raise UsageError(
            f"thinktime: clones pause each by itself, and need an arrival process each; at most"
            f" {ARRIVALS_MAX} are allowed, not numjobs={clones}"
        )
    sizes = _streams(options, plan, clones, streams_max, bool(pauses))
    arrivals.set_arrivals(options, plan, clones, sizes, pauses)
    ends.set_length(options, plan, clones)
    if places.REPEATED in plan.differences and not places.goes_again(plan, clones):
        plan.differences.remove(places.REPEATED)
    _flushes(options, plan)
    devices.place(plan, options.all, devices.named(options.all), "filename")
    options.went("filename", "--device")
    _command_line(options, plan)
    if _is_cached(job.options):
        plan.differs(CACHE)
    _not_done(options, plan)
    around.report(options, plan, clones)
    _flow(options, plan, clones)
    ends.set_limits(options, plan, clones)
    if clones > 1 and any("--stop-when" in text and "<" in text for text in plan.command_line):
        plan.differs(CLONES_TOGETHER)
    commands.set_zeroes(options, plan)
    commands.check_devices(plan)
    zones.move_to_asus(plan)
    _only_present(options, plan)
    _settle(job, plan, given, simple)
    return plan


def _replay(job: Job, plan: Plan) -> None:
    """A job that replays a log."""
    kept, plan.not_needed = replay.of(job)
    for name in kept.options:
        if name in NOT_NEEDED:
            plan.not_needed[name] = NOT_NEEDED[name]
    options = Reader(kept, plan)
    replay.set_stream(options, plan)
    _command_line(options, plan)
    arrivals.set_engine(options, plan)
    replay.set_devices(options, plan)
    if _is_cached(job.options):
        plan.differs(CACHE)
    _not_done(options, plan)


def _settle(job: Job, plan: Plan, given: Collection[str], simple: normal.Normal) -> None:
    """Make the report one of the options that the file has, each of them."""
    for name, text in job.options.items():
        if name in plan.mapped and defaults.is_off(name, text):
            plan.mapped[name] = defaults.OFF
    for name, note in simple.notes.items():
        if name in plan.mapped:
            plan.mapped[name] += f"; {note}"
    for name in job.options:
        if name not in plan.mapped and name not in plan.not_needed:
            plan.not_needed[name] = "no effect on a job of this kind, as in fio"
    plan.mapped |= simple.ignored
    # Others are there only where a note tells their origin.
    for name in job.options.keys() - given - simple.notes.keys():
        plan.mapped.pop(name, None)
        plan.not_needed.pop(name, None)


def _only_present(options: Reader, plan: Plan) -> None:
    """Map no option to a key that none of the streams has."""
    present = {f"stream.{key}" for stream in plan.streams for key in stream}
    if any(stream.get("operation") == "flush" for stream in plan.streams):
        present.add(FLUSHED)
    for name, place in plan.mapped.items():
        if place in _OF_WRITES and place not in present:
            plan.mapped[name] = NONE_HAS_IT
        elif place in places.OF_ASUS and place not in present:
            plan.mapped[name] = places.without_key(options, plan, name, place)


def _may_end_apart(options: Reader, asked: Asked) -> bool:
    """Whether each clone of a job ends by its own I/Os, and can have an arrival process of its own
    without idle workers: a closed loop runs on the first workers, at most as many as its depth."""
    if options.flag("time_based") and options.given("runtime"):
        return False
    is_spread = _has_rate(options) or arrivals.depth_of(options) >= asked.workers
    if asked.load or not is_spread:
        return False
    cpus = ("cpus_allowed", "cpumask", "numa_cpu_nodes")
    whole = ("fsync", "fdatasync", "latency_target")
    return (
        not any(options.given(name) for name in cpus)
        and not any(options.nonzero(name) for name in whole)
        and zones.mode_of(options) != "zbd"
    )


# --- what is done, and where ---------------------------------------------------------------------


def _streams(options: Reader, plan: Plan, clones: int, most: int, paused: bool) -> tuple[Mix, Mix]:
    """Fill in the streams, without names; return the block sizes of reads and of the others.

    @paused: each clone must have streams of its own; otherwise only if there are enough streams
    """
    base = options.value("kb_base", values.whole) or 1024
    if base not in (1000, 1024):
        raise UsageError(f"kb_base: it is 1000 or 1024, not {base}")
    options.went("kb_base", "sizes")
    kind, _, suffix = (options.text("rw") or "read").partition(":")
    options.went("rw", "stream.pattern, stream.read")
    share = _read_share(options, plan, kind)
    sizes = block_sizes.of(options, plan, base, is_random=kind in RANDOM, discards=kind in TRIM)
    where = places.region(options, base)
    count_of_devices = max(1, len(devices.named(options.all)))
    options.went("file_service_type", "nothing: there is one device")
    if count_of_devices > 1:
        _serve(options, plan)
        # fio divides an amount among the devices, but applies a start to each device.
        if options.text("filesize") is None and isinstance(where.get("range"), int):
            where["range"] //= count_of_devices
    forced = commands.forces_writes(options, plan)
    atomic = (options.text("atomic") or "0") != "0"
    options.went("atomic", "stream.atomic")
    written = contents.of(options, plan)
    hint, priority, mode = _write_hint(options), priorities.of_job(options), zones.mode_of(options)
    aligns, least = ends.alignments(options, base), block_sizes.smallest(options, base)
    parts: list[dict[str, Any]] = []
    # Both directions of a sequential job have a place of their own; others differ as well where
    # options do.
    differ = sizes[0] != sizes[1] or _differ_by_direction(options)
    split = 0 < share < 100 and (differ or kind not in RANDOM)
    if split and mode == "strided":
        # An I/O of either direction takes the next zone.
        if differ or not zones.has_single(options, sizes[0], base):
            raise UsageError(zones.SHARED)
        split = False
    for reads, weight, mix in (
        (((100, share, sizes[0]), (0, 100 - share, sizes[1])))
        if split
        else ((share, 100, sizes[0] if share else sizes[1]),)
    ):
        entry: dict[str, Any] = {"share": weight}
        if priority is not None:
            entry["priority"] = priority
        if kind in TRIM:
            entry["operation"] = "discard"
            options.went("num_range", "arrival.depth")
        else:
            entry["read"] = f"{reads}%"
        if forced and entry.get("read", "100%") != "100%":
            entry["fua"] = True
        if entry.get("read", "100%") != "100%":
            entry |= written
            if atomic:
                entry["atomic"] = True
            if hint is not None:
                entry["write_hint"] = hint
        if len(mix) == 1:
            entry["size"] = mix[0][0]
        else:
            entry["sizes"] = [{"size": size, "share": often} for size, often in mix]
        direction = 2 if kind in TRIM else int(reads < 100)
        bytes_of = [size for size, _ in mix]
        if mode == "none":
            entry |= places.pattern(options, plan, kind, suffix, mix, base, direction)
        elif suffix:
            raise UsageError("rw: what follows the colon excludes zones")
        elif mode == "zbd":
            entry |= zones.pointer_pattern(options, plan, kind in RANDOM, direction, clones)
        elif kind in RANDOM:
            align = aligns[direction] or least[direction]
            with_map = ends.has_map(options, base)
            if len(mix) > 1:
                plan.differs(zones.INSIDE)
                if with_map:
                    plan.differs(places.MAP)
            entry |= zones.random_gap_pattern(options, bytes_of, base, align, with_map)
        else:
            entry |= zones.gap_pattern(options, bytes_of, base)
        parts.append(entry)
    parts = priorities.shared_out(options, plan, parts)
    if len(parts) > 1 and any(
        part["pattern"] in ("zipf", "pareto") or "spread" in part for part in parts
    ):
        plan.differs(laws.APART)
    if split and any(part["pattern"] == "once" for part in parts):
        plan.differs(MAPS)
    options.went("blockalign", "stream.align" if kind in RANDOM else UNALIGNED)
    increment, unit = places.increment_of(options, base)
    if any(
        (options.text(name) or "").endswith("%") and options.nonzero(name, "%")
        for name in ("offset", "offset_increment")
    ):
        plan.differs(places.PLACES_UP)
    options.went("offset_increment", places.OF_CLONES if clones > 1 else places.ONE_CLONE)
    own_places = laws.has_own_places(options)
    alike = not own_places and all(part["pattern"] not in ends.IN_ORDER for part in parts)
    # A clone would need a process for each rate.
    if not paused and (clones * len(parts) > most or (split and _has_rate(options))):
        plan.apart = False
    if plan.apart and clones * len(parts) > most:
        raise UsageError(
            f"thinktime: clones pause each by itself, and need {clones * len(parts)} streams; at"
            f" most {most} are allowed"
        )
    too_many = clones * len(parts) > most and not increment
    if too_many and not alike and not own_places and kind in RANDOM:
        alike = True
        plan.differs(ONE_MAP)
    count = 1 if alike and not increment and not plan.apart else clones
    options.went("numjobs", "arrival.depth" if count == 1 else "a stream for each clone")
    for first, members in places.groups_of_clones(plan, count, most // len(parts)):
        for part in parts:
            stream = {**part, **where}
            if plan.apart and first:
                stream["arrival"] = first
            if members > 1:
                stream["share"] *= members
            place = 2 if kind in TRIM else int(part.get("read") == "0%")
            if kind in RANDOM and aligns[place]:
                stream["align"] = aligns[place]
            elif kind in RANDOM:
                places.align_to_smallest(stream, least[place])
            if mode == "strided" and stream["pattern"] in ("strided", "sequential"):
                places.extend_zones(stream, plan)
                if "zone_size" in stream:
                    plan.differs(zones.LAST_ZONE)
            if increment and first + members > 1:
                places.move_to_clones(stream, first, members, increment, unit)
                places.end_with_file(options, stream, base)
            places.end_with_device(stream)
            amount = "size" if options.text("filesize") is None else "filesize"
            if count_of_devices > 1:
                places.stripe_over(stream, plan, count_of_devices, amount)
            places.round_to_blocks(stream, plan, amount)
            plan.streams.append(stream)
    if count > 1 and not plan.apart:
        plan.differs(CLONES_RATE if _has_rate(options) else CLONES)
    if 0 < share < 100 and not _has_rate(options):
        plan.differs(MIX)
    return sizes


def _serve(options: Reader, plan: Plan) -> None:
    """Say how fio distributes the I/Os of a job to several devices."""
    law, _, number = (options.text("file_service_type") or "roundrobin").partition(":")
    options.went("file_service_type", "nothing: devices are striped over")
    each = "an I/O" if number in ("", "1") else f"{number} I/Os"
    if law == "sequential":
        raise UsageError(
            "file_service_type: sequential covers the devices one after the other; write a job for"
            " each, with stonewall"
        )
    if law == "roundrobin":
        plan.differs(DEVICES.format(f"takes them in turn, for {each} each"))
    elif law == "random":
        plan.differs(DEVICES.format(f"draws the one of {each}"))
    elif law in _SKEWED:
        plan.differs(DEVICES.format(f"draws them by a {law} distribution, unequally often"))
    else:
        listed = ", ".join(("roundrobin", "random", "sequential", *_SKEWED[:-1]))
        raise UsageError(f"file_service_type: '{law}' is not {listed} or {_SKEWED[-1]}")


def _differ_by_direction(options: Reader) -> bool:
    """True if reads and writes of a random job cannot be drawn together."""
    listed = (
        *("percentage_random", "random_distribution", "blockalign"),
        *(*priorities.SHARED, priorities.BY_SIZE),
    )
    return _has_rate(options) or any("," in (options.text(name) or "") for name in listed)


def _has_rate(options: Reader) -> bool:
    return any(options.nonzero(name) for name in ("rate", "rate_iops"))


def _write_hint(options: Reader) -> str | None:
    hint = options.text("write_hint")
    options.went("write_hint", "stream.write_hint")
    if hint is not None and hint not in get_args(WriteHint)[1:]:
        raise UsageError(f"write_hint: '{hint}' is not a hint")
    return hint


def _read_share(options: Reader, plan: Plan, kind: str) -> int:
    """Per cent of reads."""
    shares = {name: options.value(name, values.percent) for name in ("rwmixread", "rwmixwrite")}
    mixed = kind in ("rw", "readwrite", "randrw")
    for name in shares:
        options.went(name, "stream.read" if mixed else ONE_DIRECTION)
    if kind in ("read", "randread"):
        return 100
    if kind in ("write", "randwrite", *TRIM):
        return 0
    last = options.last(shares)
    if last is None:
        return 50
    return int(shares[last] if last == "rwmixread" else 100 - shares[last])


# --- when ----------------------------------------------------------------------------------------


def _not_done(options: Reader, plan: Plan) -> None:
    """What fio does beside the I/Os of a job, and spek does not."""
    for name in around.TEXTS:
        options.went(name, "nothing: a run changes nothing but the data of its devices")
        if options.text(name) is not None:
            plan.differs(around.difference(name))
    if all(stream.get("read", "100%") == "100%" for stream in plan.streams):
        return
    if options.flag("end_fsync") or options.flag("fsync_on_close"):
        plan.differs(END_FLUSH)
    # Blocks that are verified have one write in flight.
    if options.flag("serialize_overlap") and "--verify" not in plan.command_line:
        plan.not_needed["serialize_overlap"] = "no I/O waits for another one"
        plan.differs(OVERLAPS)


def _flow(options: Reader, plan: Plan, clones: int) -> None:
    """The weight of the job among those of its flow."""
    plan.flow = (options.value("flow", values.whole) or 0) * clones
    plan.flow_id = options.value("flow_id", values.whole) or 0
    for name in ("flow", "flow_id"):
        options.went(name, flows.SHARES if plan.flow else "nothing: there is no flow")


def _flushes(options: Reader, plan: Plan) -> None:
    """A stream of flushes, one for every N writes."""
    every = 0
    for name in ("fsync", "fdatasync"):
        every = options.value(name, values.whole) or every
        options.went(name, FLUSHED)
    # Of every 100 * N I/Os as many write as the sum says, and a flush follows every Nth of them.
    writes = sum(
        int(stream["share"]) * (100 - int(stream["read"].rstrip("%")))
        for stream in plan.streams
        if "read" in stream
    )
    if not every or not writes:
        return
    if any("pause_every" in arrival for arrival in plan.arrivals):
        raise UsageError("fsync: the flushes would count among the I/Os between pauses")
    if len(plan.arrivals) > 1:
        raise UsageError("fsync: reads and writes have rates of their own; make two jobs of it")
    data = sum(int(stream["share"]) for stream in plan.streams) * 100 * every
    divisor = math.gcd(writes, *(int(stream["share"]) * 100 * every for stream in plan.streams))
    for stream in plan.streams:
        stream["share"] = int(stream["share"]) * 100 * every // divisor
    plan.streams.append({"operation": "flush", "share": writes // divisor})
    # fio counts neither for the end, nor for the rate, nor for the pauses.
    more = Fraction(data + writes, data)
    if plan.amount is not None:
        plan.amount = round(plan.amount * more)
    for arrival in plan.arrivals:
        if "rate" in arrival:
            rate = Fraction(str(arrival["rate"])) * more
            arrival["rate"] = int(rate) if rate.denominator == 1 else float(rate)
        if "think" in arrival:
            think_ns = units.parse_duration_ns(arrival["think"]) / more
            arrival["think"] = units.format_duration(max(1, round(think_ns)))
            plan.differs(THINK)
    plan.differs(FLUSHES)


def _cpus_of_nodes(options: Reader) -> str | None:
    """The CPUs of NUMA nodes, as a list; of nodes that this machine does not have, as the shell of
    another one finds them. None: all."""
    if options.text("numa_cpu_nodes") == "all":
        return None
    nodes = options.value("numa_cpu_nodes", units.parse_cpu_list)
    cpus: set[int] = set()
    try:
        for node in nodes:
            cpus |= set(units.parse_cpu_list((NODES / f"node{node}/cpulist").read_text().strip()))
    except OSError:
        listed = " ".join(f"{NODES}/node{node}/cpulist" for node in nodes)
        return f"$(cat {listed} | paste -sd,)"
    return units.format_cpu_list(sorted(cpus))


def _command_line(options: Reader, plan: Plan) -> None:
    """What belongs to `spekctl run`."""
    writes = plan.writes
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
    elif options.text("numa_cpu_nodes") is not None:
        of_nodes = _cpus_of_nodes(options)
        plan.command_line += [f"--cpus {of_nodes}"] if of_nodes is not None else []
    if cpus is not None:
        listed = options.value("cpus_allowed", units.parse_cpu_list)
        plan.command_line.append(f"--cpus {units.format_cpu_list(listed)}")
    batch = options.value("iodepth_batch", values.whole)
    options.went("iodepth_batch", "run.batch")
    if batch:
        plan.run["batch"] = min(int(batch), BATCH_MAX)
        if batch > BATCH_MAX:
            plan.differs(f"batches are of {BATCH_MAX} I/Os at most")
    arrivals.check_bursts(options, plan)
    if options.flag("hipri"):
        plan.command_line.append("--polled")
    options.went("hipri", "--polled")
    verify = options.text("verify")
    plan.verifies = verify not in (None, "0", "null")
    if plan.verifies and writes and not options.flag("do_verify", True):
        plan.differs(UNSTAMPED)
    elif plan.verifies and writes:
        plan.command_line.append("--verify")
        plan.differs("written blocks are stamped and checked wherever they are read")
    if verify not in (None, "0", "null") and any(
        stream.get("read", "0%") != "0%" for stream in plan.streams
    ):
        plan.differs(UNCHECKED)
    stamped = "--verify" in plan.command_line
    for name in ("verify", "do_verify", "experimental_verify"):
        options.went(name, "--verify" if stamped else NOT_VERIFIED)
    if not stamped:
        plan.not_needed |= {
            name: NOT_VERIFIED.removeprefix("nothing: ")
            for name, why in plan.not_needed.items()
            if why in (VERIFIED, STATE)
        }
    elif options.flag("verify_fatal"):
        plan.differs(FATAL)
    for name in ("direct", "buffered"):
        options.flag(name)
    plan.run["data"] = "zero" if options.flag("zero_buffers") else "random"
    for name in ("zero_buffers", "scramble_buffers", "refill_buffers"):
        options.went(name, "run.data")
    for name in ("direct", "buffered", "nrfiles"):
        options.went(name, "nothing: there is neither a page cache nor a file")
    options.went("cmd_type", "nothing: the run sends block I/O")
    if "zonemode" not in plan.mapped:
        options.went("zonemode", "nothing: it has the value that spek has")
    for name in ("rate_ignore_thinktime", "io_submit_mode"):
        options.went(name, "nothing: arrivals wait for nothing")
    options.went("numa_cpu_nodes", "--cpus")
    for name in ("stonewall", "wait_for"):
        options.went(name, "a step of its own")
    options.went("name", "stream.name")
    _errors(options, plan)


def _errors(options: Reader, plan: Plan) -> None:
    """fio ends a job at its first error, except those that it continues after."""
    kind = options.text("continue_on_error") or "none"
    if kind not in ("none", "0", "read", "write", "io", "verify", "all", "1"):
        raise UsageError(f"continue_on_error: '{kind}' is not none, read, write, io, verify or all")
    ends_run = kind in ("none", "0", "verify") and not options.given("ignore_error")
    if ends_run:
        plan.command_line.append("--max-errors 1")
    if kind in ("read", "write"):
        plan.differs(
            f"continue_on_error: all errors are counted; fio ends at any but those of {kind}s"
        )
    for name in ("continue_on_error", "ignore_error"):
        options.went(
            name, "--max-errors" if ends_run else "nothing: errors are counted and end no run"
        )
