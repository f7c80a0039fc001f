# SPDX-License-Identifier: GPL-2.0-or-later
"""The rules of a workload file: values that are allowed, and keys that belong together.

All that can be said without a device. fields.py has checked keys and types before.
"""

from __future__ import annotations

import re
from fractions import Fraction

from spekctl import units
from spekctl.errors import UsageError, at
from spekctl.suggest import did_you_mean
from spekctl.workload import onoff, passes, rates, selectors
from spekctl.workload.curves import points_of
from spekctl.workload.fields import LIMITS, whole_blocks
from spekctl.workload.meaning import (
    arrivals_of,
    asus_of,
    beside_trace,
    check_place,
    data_of,
    fraction_or_bytes,
    is_percent,
    members_of,
    percent_text,
    priority_of,
    rate_milli,
    read_ppm,
    replays,
    size_weights,
    weights_of,
    zones_of,
)
from spekctl.workload.model import KEYS, Arrival, Asu, Stream, TraceSource, WorkloadFile
from spekctl.workload.options import OPTIONS
from spekctl.workload.pauses import pauses_of
from spekctl.workload.values import (
    ARRIVALS_MAX,
    ASUS_MAX,
    COUNT_MAX,
    DEPTH_MAX,
    OPEN_ZONES_MAX,
    SECTOR,
    SIZES_MAX,
    STREAMS_MAX,
    THETA_MAX,
    ZONE_COMMANDS,
    ZONES_MAX,
)

_DEVICE = re.compile(r"/|(wwn|serial|nqn):.", re.ASCII)
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,30}", re.ASCII)

# Keys that patterns need; which pattern has which key is in model.py.
_PATTERN_NEEDS: dict[str, str] = {
    "strided": "stride",
    "runs": "run_length",
    "zipf": "theta",
    "pareto": "h",
    "normal": "deviation",
    "zoned": "zones",
}
# Keys that only some laws have, and those that these need.
_LAW_KEYS: dict[str, tuple[str, ...]] = {
    "depth": ("closed",),
    "think": ("closed",),
    "pause": ("closed",),
    "pause_every": ("closed",),
    "pause_counts": ("closed",),
    "pause_after": ("closed",),
    "limit": ("closed",),
    "burst": ("closed",),
    "rate": ("poisson", "constant"),
    "curve": ("poisson", "constant"),
    "repeat": ("poisson", "constant"),
    "shape": ("poisson", "constant"),
    "on": ("poisson", "constant"),
    "off": ("poisson", "constant"),
    "tail": ("poisson", "constant"),
    "length": ("burst",),
    "interval": ("burst",),
}
# Keys that only a shape of a rate curve has, and those that it needs.
_SHAPE_KEYS: dict[str, tuple[str, ...]] = {
    "to": ("ramp",),
    "period": ("ramp", "diurnal"),
    "swing": ("diurnal",),
}
_SHAPE_NEEDS: dict[str, tuple[str, ...]] = {"ramp": ("rate", "to", "period"), "diurnal": ("rate",)}
_LAW_NEEDS: dict[str, tuple[str, ...]] = {
    "poisson": ("rate",),
    "constant": ("rate",),
    "burst": ("length", "interval"),
}


def check(workload: WorkloadFile) -> None:
    """Refuse the first value or combination that is not allowed."""
    header = workload.workload
    with at("workload"):
        _check_name(header.name)
        check_limits("iops_per_bsu", header.iops_per_bsu)
        if "\n" in header.summary or not header.summary:
            raise UsageError("summary must be one line")
    with at("run"):
        _check_run(workload)
    workload = rates.expanded(workload)
    for kind, tables, limit in (
        ("stream", workload.stream, STREAMS_MAX),
        ("asu", workload.asu, ASUS_MAX),
        ("arrival", workload.arrival, ARRIVALS_MAX),
    ):
        _check_tables(kind, [table.name for table in tables], limit)
    if not workload.stream:
        raise UsageError("a workload needs at least one [[stream]]")
    _check_asus(workload.asu)
    if header.scale == "bsu" and workload.arrival:
        raise UsageError("scale = bsu: the arrivals follow from the scale; no [[arrival]] sections")
    for arrival in workload.arrival:
        with at(f"arrival '{arrival.name}'"):
            _check_arrival(arrival)
    asu_names = [asu.name for asu in asus_of(workload)]
    arrival_names = [arrival.name for arrival in arrivals_of(workload)]
    for stream in workload.stream:
        with at(f"stream '{stream.name}'"):
            for kind, wanted, names in (
                ("asu", stream.asu, asu_names),
                ("arrival", stream.arrival, arrival_names),
            ):
                if wanted is not None and wanted not in names:
                    hint = did_you_mean(wanted, names) or "; known are " + ", ".join(names)
                    raise UsageError(f"there is no {kind} '{wanted}'{hint}")
            _check_stream(stream)
    others = beside_trace(workload)
    if replays(workload):
        _check_replay(workload, others)
    for name in arrival_names if others else ():
        members = [stream for stream in others if (stream.arrival or arrival_names[0]) == name]
        if not members:
            raise UsageError(f"arrival '{name}': no stream uses it")
        weights_of([(stream.name, stream.share) for stream in members], "the shares of the streams")


def _check_tables(kind: str, names: list[str], limit: int) -> None:
    if len(names) > limit:
        raise UsageError(f"there are {len(names)} [[{kind}]] sections; at most {limit} are allowed")
    for name in names:
        with at(f"{kind} '{name}'"):
            _check_name(name)
        if names.count(name) > 1:
            raise UsageError(f"there are two [[{kind}]] sections called '{name}'")


def _check_name(name: str) -> None:
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"'{name}' is not a name: letters, digits, '.', '_' and '-', at most 31 of them"
        )


def _check_run(workload: WorkloadFile) -> None:
    run = workload.run
    for key in ("time", "ramp", "interval"):
        text = getattr(run, key)
        if text is not None and units.parse_duration_ns(text) == 0 and key == "time":
            raise UsageError("time must be more than 0")
    if run.count is not None and run.passes is not None:
        raise UsageError("count and passes exclude each other")
    if run.passes is not None:
        with at("passes"):
            passes.exact(run.passes)
    for key in ("count", "passes"):
        if getattr(run, key) is not None:
            for arrival in workload.arrival:
                if arrival.count is not None or arrival.passes is not None:
                    raise UsageError(
                        f"run.{key}: arrival '{arrival.name}' has an end of its own; use only one"
                        " of the two"
                    )
    if run.ramp is not None and run.ramp_count is not None:
        raise UsageError("ramp and ramp_count exclude each other")
    for name, option in OPTIONS.items():
        if option.key and option.limits is not None:
            check_limits(name, getattr(run, option.key), option.key)


def _check_asus(asus: list[Asu]) -> None:
    for asu in asus:
        with at(f"asu '{asu.name}'"):
            zones = zones_of(asu.size)
            if (fraction_or_bytes(asu.size) if zones is None else zones) == 0:
                raise UsageError("its size is 0")
            if asu.start is not None:
                check_place(asu.start)
            if units.parse_size(asu.block) % SECTOR or units.parse_size(asu.block) == 0:
                raise UsageError(f"block '{asu.block}' is not a multiple of 512 bytes")
            for smallest in (asu.min, asu.fixed.min if asu.fixed else None):
                if smallest is not None:
                    units.parse_size(smallest)
            if asu.device is not None and not (
                _DEVICE.match(asu.device) and asu.device.isprintable()
            ):
                raise UsageError(
                    f"device {asu.device!r} is no path that begins with /, nor, for a plan of"
                    " hosts, wwn:..., serial:... or nqn:..."
                )
            if asu.device is not None:
                selectors.check(asu.device)


def check_room(asus: list[Asu]) -> None:
    """Refuse asus that follow each other and are larger than their devices. Which these are,
    --device may still change after a file is read."""
    totals: dict[str | None, Fraction] = {}
    for asu in asus:
        if asu.start is None and is_percent(asu.size):
            share = units.parse_percent(str(asu.size))
            totals[asu.device] = totals.get(asu.device, Fraction(0)) + share
    for device, total in totals.items():
        if total > 1:
            there = "" if device is None else f" on {device}"
            raise UsageError(
                f"the sizes of the asus{there} sum to {percent_text(total)}, more than 100%"
            )


def _check_arrival(arrival: Arrival) -> None:
    _refuse_trace(arrival.law)
    for key, laws in _LAW_KEYS.items():
        if getattr(arrival, key) not in (None, []) and arrival.law not in laws:
            raise UsageError(f"'{key}' belongs to law {' or '.join(laws)}, not to {arrival.law}")
    _check_curve(arrival)
    for key in _LAW_NEEDS.get(arrival.law, ()):
        if getattr(arrival, key) is None and not (key == "rate" and arrival.curve):
            raise UsageError(f"law {arrival.law} needs '{key}'")
    for key in ("depth", "length", "burst", "pause_every"):
        check_limits(key, getattr(arrival, key))
    if arrival.count is not None and arrival.passes is not None:
        raise UsageError("count and passes exclude each other")
    if arrival.count is not None and not 1 <= arrival.count <= COUNT_MAX:
        raise UsageError(f"count must be 1 to {COUNT_MAX}, not {arrival.count}")
    if arrival.passes is not None:
        with at("passes"):
            passes.exact(arrival.passes)
    if arrival.burst is not None and arrival.limit is None:
        raise UsageError("'burst' belongs to a 'limit': give one")
    if arrival.limit is not None:
        rate_milli(arrival.limit)
    pauses_of(arrival)
    periods = onoff.periods_of(arrival)
    if arrival.rate is not None:
        onoff.check_rate(rate_milli(arrival.rate), periods.on_ns)
    for text in (arrival.think, arrival.interval):
        if text is not None:
            units.parse_duration_ns(text)


def _check_curve(arrival: Arrival) -> None:
    for key, shapes in _SHAPE_KEYS.items():
        if getattr(arrival, key) is not None and arrival.shape not in shapes:
            raise UsageError(f"'{key}' belongs to shape {' or '.join(shapes)}")
    if arrival.curve and arrival.shape is not None:
        raise UsageError("curve and shape exclude each other: a shape makes the points")
    if arrival.curve and arrival.rate is not None:
        raise UsageError("curve and rate exclude each other: the points have the rates")
    if arrival.repeat is not None and not arrival.curve and arrival.shape is None:
        raise UsageError("'repeat' belongs to a curve: give it points, or a shape")
    for key in _SHAPE_NEEDS.get(arrival.shape or "", ()):
        if getattr(arrival, key) is None:
            raise UsageError(f"shape {arrival.shape} needs '{key}'")
    points_of(arrival)


def _refuse_trace(law: str) -> None:
    if law == "trace":
        raise UsageError(
            "law trace is that of a stream with pattern trace, which has no [[arrival]]"
        )


def _check_stream(stream: Stream) -> None:
    if stream.pattern == "trace":
        _check_trace(stream)
        return
    for name, key in KEYS.items():
        if getattr(stream, name) in (None, []) or not key.patterns:
            continue
        if stream.pattern not in key.patterns:
            patterns = " or ".join(key.patterns)
            raise UsageError(f"'{name}' belongs to pattern {patterns}, not to {stream.pattern}")
    _check_operation(stream)
    _check_pointers(stream)
    priority_of(stream)
    data_of(stream)
    if stream.operation == "flush" or stream.operation in ZONE_COMMANDS:
        return
    needed = _PATTERN_NEEDS.get(stream.pattern)
    if needed and getattr(stream, needed) in (None, []):
        raise UsageError(f"pattern {stream.pattern} needs '{needed}'")
    if (stream.size is None) == (not stream.sizes):
        raise UsageError(
            "it needs a size, or a list of sizes"
            if not stream.sizes
            else "size and sizes exclude each other"
        )
    if len(stream.sizes) > SIZES_MAX:
        raise UsageError(f"it has {len(stream.sizes)} sizes; at most {SIZES_MAX} are allowed")
    size_weights(stream)
    read_ppm(stream)
    if stream.pattern == "walk":
        align = units.parse_size(stream.align) if stream.align is not None else 0
        sizes = size_weights(stream)
        if len(sizes) != 1 or align not in (0, sizes[0][0]):
            raise UsageError("a walk moves by single blocks: one size, and align no other")
    _check_law(stream)
    if stream.pattern == "once" and len(size_weights(stream)) != 1:
        raise UsageError("pattern once touches equal blocks: it needs one size")
    _check_gaps(stream)
    check_limits("replicas", stream.replicas)
    for value in (stream.start, stream.range):
        if value is not None:
            check_place(value)
    for value in (stream.run_length, stream.restart):
        if value is not None:
            fraction_or_bytes(value)
    fixed = stream.fixed
    members_of(stream)
    for value in (
        stream.align,
        stream.run_align,
        fixed.align if fixed else None,
        fixed.run_align if fixed else None,
    ):
        if value is not None:
            whole_blocks(value)


def _check_gaps(stream: Stream) -> None:
    """The zones of a strided stream."""
    if stream.zone_size is None:
        for key in ("zone_range", "zone_order"):
            if getattr(stream, key) is not None:
                raise UsageError(f"'{key}' needs 'zone_size'")
        return
    if stream.jitter is not None:
        raise UsageError("jitter and zone_size exclude each other")
    if stream.zone_order == "once" and len(size_weights(stream)) != 1:
        raise UsageError("zone_order once touches equal blocks: it needs one size")


# What a flush does not have.
_FLUSH_HAS_NO = (
    *("size", "sizes", "start", "range", "align", "sequential", "pattern", "run_align", "fixed"),
)


def _check_trace(stream: Stream) -> None:
    """What a trace has beside its files: nothing, since its records say the rest."""
    trace = stream.trace
    if trace is None:
        raise UsageError("pattern trace needs 'trace' with 'files'")
    if not trace.files:
        raise UsageError("trace needs at least one of 'files'")
    plain = Stream(name=stream.name, pattern="trace", trace=trace)
    for key in stream.__struct_fields__:
        if getattr(stream, key) != getattr(plain, key):
            raise UsageError(f"'{key}' does not go with a trace: its records say what is done")
    paces = [key for key in ("speed", "rate", "closed") if getattr(trace, key) is not None]
    if len(paces) > 1:
        raise UsageError(f"'{paces[0]}' and '{paces[1]}' of a trace exclude each other")
    if trace.bursts and trace.rate is None:
        raise UsageError("'bursts' of a trace needs 'rate': 'speed' keeps its bursts anyway")
    if trace.think and trace.closed is None:
        raise UsageError("'think' of a trace needs 'closed': other times are due times")
    max_idle_ns(trace)
    if trace.closed is not None and not 1 <= trace.closed <= DEPTH_MAX:
        raise UsageError(f"closed must be 1 to {DEPTH_MAX}, not {trace.closed}")


def max_idle_ns(trace: TraceSource) -> int:
    """The limit of idle times of a replay, 0 without one. UsageError with a sentence."""
    if trace.max_idle is None:
        return 0
    if trace.rate is not None or (trace.closed is not None and not trace.think):
        pace = "rate" if trace.rate is not None else "closed without think"
        raise UsageError(f"'max_idle' of a trace excludes {pace}, which has no idle times")
    limit_ns = units.parse_duration_ns(trace.max_idle)
    if not limit_ns:
        raise UsageError("max_idle must be more than 0")
    return limit_ns


def _check_replay(workload: WorkloadFile, others: list[Stream]) -> None:
    """What a workload with a trace may be; @others: its other streams."""
    traces = [stream.name for stream in workload.stream if stream.pattern == "trace"]
    if len(traces) > 1:
        raise UsageError(f"a run can replay only one trace; remove [[stream]] '{traces[1]}'")
    for asu in workload.asu:
        if asu.device is not None:
            raise UsageError(
                f"asu '{asu.name}': 'device' is not possible beside a trace, whose addresses are on"
                " all devices"
            )
    for kind, tables in (("asu", workload.asu), ("arrival", workload.arrival)):
        if tables and not others:
            raise UsageError(
                f"[[{kind}]] '{tables[0].name}' is unused: the trace has its own addresses and"
                " times, and there is no other stream; remove it"
            )
    for key in ("count", "passes", "ramp_count"):
        if getattr(workload.run, key) is not None:
            raise UsageError(f"run.{key}: a replay ends with its trace or by time, not by count")
    if workload.workload.scale == "bsu":
        raise UsageError("scale = bsu: a trace does not scale by BSU")


def _check_operation(stream: Stream) -> None:
    if stream.operation != "transfer":
        if stream.read is not None:
            raise UsageError(f"operation {stream.operation} has no reads: remove 'read'")
        if stream.fua:
            raise UsageError(f"operation {stream.operation} has no FUA: remove 'fua'")
        for key in (name for name, key in KEYS.items() if key.writes):
            if getattr(stream, key) and stream.operation != "zone-append":
                raise UsageError(f"operation {stream.operation} has no data: remove '{key}'")
    for key in (name for name, key in KEYS.items() if key.writes):
        if getattr(stream, key) and read_ppm(stream) == 1_000_000:
            raise UsageError(f"it only reads, and '{key}' is for writes: set 'read' below 100%")
    if stream.operation == "flush":
        usual = Stream(name=stream.name)
        for key in _FLUSH_HAS_NO:
            if getattr(stream, key) != getattr(usual, key):
                raise UsageError(f"a flush has neither address nor length: remove '{key}'")


# What a command on a whole zone does not have.
_ZONE_HAS_NO = ("size", "sizes", "align", "fixed")


def _check_pointers(stream: Stream) -> None:
    """Streams at the write pointers of zones, and operations that only these have."""
    if stream.pattern != "write-pointer":
        if stream.operation.startswith("zone-"):
            raise UsageError(f"operation {stream.operation} needs pattern write-pointer")
        return
    if stream.operation != "transfer" and not stream.operation.startswith("zone-"):
        raise UsageError(f"operation {stream.operation} has no pattern write-pointer")
    if stream.open_zones is not None and not 1 <= stream.open_zones <= OPEN_ZONES_MAX:
        raise UsageError(f"open_zones must be 1 to {OPEN_ZONES_MAX}, not {stream.open_zones}")
    usual = Stream(name=stream.name)
    for key in ("start", "range"):
        if getattr(stream, key) != getattr(usual, key):
            raise UsageError(f"pattern write-pointer has all zones of its asu: remove '{key}'")
    if stream.operation in ZONE_COMMANDS:
        for key in _ZONE_HAS_NO:
            if getattr(stream, key) != getattr(usual, key):
                raise UsageError(f"operation {stream.operation} is on a whole zone: remove '{key}'")


def _check_law(stream: Stream) -> None:
    """The parameters of a pattern that is a distribution."""
    if stream.theta is not None and not 0 < stream.theta <= THETA_MAX:
        raise UsageError(f"theta must be more than 0 and at most {THETA_MAX}, not {stream.theta}")
    if stream.h is not None and not 0 < stream.h < 1:
        raise UsageError(f"h must be more than 0 and less than 1, not {stream.h}")
    for text in (stream.deviation, stream.width, stream.center):
        if text is not None:
            units.parse_percent(text)
    if stream.deviation is not None and not units.parse_percent(stream.deviation):
        raise UsageError("deviation must be more than 0%")
    if stream.spread and stream.center is not None:
        raise UsageError("spread = true leaves no center: remove one of the two")
    if len(stream.zones) > ZONES_MAX:
        raise UsageError(f"it has {len(stream.zones)} zones; at most {ZONES_MAX} are allowed")
    if stream.zones:
        total = sum((units.parse_percent(zone.share) for zone in stream.zones), Fraction(0))
        if total != 1:
            raise UsageError(f"the shares of the zones sum to {percent_text(total)}, not to 100%")
        for zone in stream.zones:
            fraction_or_bytes(zone.size)


def check_limits(name: str, value: int | None, label: str = "") -> None:
    """Refuse a number beyond its limits; @label is the user's name for it, if not @name."""
    low, high = LIMITS[name]
    if value is not None and not low <= value <= high:
        raise UsageError(f"{label or name} must be {low} to {high}, not {value}")
