# SPDX-License-Identifier: GPL-2.0-or-later
"""Find, read and check workload files. Every error is one sentence that names the place."""

from __future__ import annotations

import contextlib
import math
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import reduce
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from spekctl import files, toml, units
from spekctl.errors import UsageError
from spekctl.suggest import did_you_mean
from spekctl.workload import onoff, rates
from spekctl.workload.curves import points_of
from spekctl.workload.model import LIMITS, Arrival, Asu, Stream, WorkloadFile
from spekctl.workload.options import OPTIONS
from spekctl.workload.values import (
    ARRIVALS_MAX,
    ASUS_MAX,
    DATA_KEYS,
    DEPTH_MAX,
    FILL_PATTERN,
    IO_BYTES_MAX,
    OPEN_ZONES_MAX,
    PRIORITY_LEVEL,
    PRIORITY_PATTERN,
    RATE_MILLI_MAX,
    SIZES_MAX,
    STREAMS_MAX,
    THETA_MAX,
    WEIGHT_MAX,
    ZONE_COMMANDS,
    ZONES_MAX,
    Priority,
)

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,30}", re.ASCII)
SECTOR = 512

# Keys that only one pattern or some laws have, and those that these need.
_PATTERN_KEYS: dict[str, tuple[str, ...]] = {
    "sequential": ("uniform",),
    "trace": ("trace",),
    "stride": ("strided",),
    "jitter": ("strided",),
    "run_length": ("runs",),
    "restart": ("runs",),
    "run_align": ("runs",),
    "walk": ("walk",),
    "theta": ("zipf",),
    "h": ("pareto",),
    "deviation": ("normal",),
    "center": ("zipf", "pareto", "normal"),
    "spread": ("zipf", "pareto"),
    "zones": ("zoned",),
    "open_zones": ("write-pointer",),
}
_PATTERN_NEEDS: dict[str, str] = {
    "strided": "stride",
    "runs": "run_length",
    "zipf": "theta",
    "pareto": "h",
    "normal": "deviation",
    "zoned": "zones",
}
_LAW_KEYS: dict[str, tuple[str, ...]] = {
    "depth": ("closed",),
    "think": ("closed",),
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


def shipped_directory() -> Path:
    """Where the workloads are: inside the installed package, or beside the checkout's ctl/.

    It may exist and still be closed to the caller: shipped_names() and load() report that.
    """
    package = Path(__file__).resolve().parent.parent
    installed = package / "shipped"
    return installed if os.path.isdir(installed) else package.parent.parent / "workloads"


def shipped_names() -> list[str]:
    """Names of the workloads that come with spek, sorted."""
    folder = shipped_directory()
    try:
        # Not Path.glob(): it finds nothing where it may not look.
        names = os.listdir(folder)
    except OSError as error:
        raise UsageError(f"cannot read the workloads in {folder}: {error.strerror}") from error
    return sorted(Path(name).stem for name in names if name.endswith(".toml"))


def find(name: str) -> Path:
    """The file that a user means by @name: a shipped workload's name, or a path to a .toml."""
    if "/" in name or name.endswith((".toml", ".json")):
        path = Path(name)
        if not files.exists(path):
            known = path.stem == name.removesuffix(".toml") and path.stem in shipped_names()
            hint = f"; the workload of that name is {path.stem}" if known else ""
            raise UsageError(f"there is no workload file {name}{hint}")
        if path.is_dir():
            raise UsageError(f"{name} is a directory, not a workload file")
        return path
    names = shipped_names()
    if name not in names:
        if os.path.isdir(name):
            raise UsageError(f"{name} is a directory, not a workload file")
        if os.path.exists(name):
            use = f"fio:{name}" if name.endswith(".fio") else f"./{name}"
            raise UsageError(f"there is no workload '{name}'; to use the file, write {use}")
        hint = did_you_mean(name, names)
        if not hint:
            hint = "; the names are " + ", ".join(names) + ", or give the path of a .toml file"
        raise UsageError(f"there is no workload '{name}'{hint}")
    return shipped_directory() / f"{name}.toml"


def load(name: str, settings: Sequence[str] = ()) -> WorkloadFile:
    """Read and check the workload that @name means, with fields set as override.py does."""
    path = find(name)
    text = files.read_text(path)
    with at(str(path)):
        if not settings:
            return _located(parse(text), path.parent)
        # An error without the settings is the file's, not theirs.
        data = _toml(text)
        check(data)
    return _located(with_settings(data, settings), path.parent)


def _located(workload: WorkloadFile, folder: Path) -> WorkloadFile:
    """The workload with paths of traces that do not depend on where its file is."""
    if not replays(workload):
        return workload
    streams = [_located_stream(stream, folder) for stream in workload.stream]
    return msgspec.structs.replace(workload, stream=streams)


def _located_stream(stream: Stream, folder: Path) -> Stream:
    if stream.trace is None:
        return stream
    paths = [str(folder / one) for one in stream.trace.files]
    trace = msgspec.structs.replace(stream.trace, files=paths)
    return msgspec.structs.replace(stream, trace=trace)


def parse(text: str) -> WorkloadFile:
    """A workload from the text of its file."""
    return check(_toml(text))


def one_stream(fields: Mapping[str, object], settings: Sequence[str] = ()) -> WorkloadFile:
    """A workload of one stream, 'main', without a file; None: not given."""
    for key, parse in (("read", units.parse_percent), ("size", units.parse_size)):
        if (value := fields.get(key)) is not None:
            with at(f"--{key}"):
                parse(str(value))
    stream: dict[str, object] = {"name": "main", "size": "4KiB"}
    stream |= {key: value for key, value in fields.items() if value is not None}
    data = {
        "workload": {"name": "options", "summary": "One stream, as the options describe it."},
        "stream": [stream],
    }
    return with_settings(data, settings)


def with_settings(data: dict[str, Any], settings: Sequence[str]) -> WorkloadFile:
    """A workload with fields set as override.py does; complaints name all of them."""
    from spekctl.workload import override

    override.apply(data, settings)
    if not settings:
        return check(data)
    with at("with " + " ".join(f"--set {one}" for one in settings)):
        return check(data)


def _toml(text: str) -> dict[str, Any]:
    try:
        return toml.parse(text)
    except UsageError as error:
        if text.lstrip().startswith("{"):
            raise UsageError(
                "a workload is a TOML file, and this is JSON; results and reports are shown by"
                " `spekctl show FILE`"
            ) from error
        raise


def check(data: dict[str, Any]) -> WorkloadFile:
    """A workload from parsed TOML."""
    _check_keys(data, msgspec.inspect.type_info(WorkloadFile), "")
    try:
        workload = msgspec.convert(data, WorkloadFile)
    except msgspec.ValidationError as error:
        raise UsageError(_plain(str(error), data)) from error
    _check(workload)
    return workload


# --- first pass: names of keys and of alternatives, with suggestions ---------------------------


def _check_keys(value: object, info: msgspec.inspect.Type, where: str) -> None:
    """Refuse the first unknown key or alternative, suggesting the nearest valid one."""
    if isinstance(info, msgspec.inspect.Metadata):
        _check_keys(value, info.type, where)
    elif isinstance(info, msgspec.inspect.UnionType):
        concrete = [one for one in info.types if not isinstance(one, msgspec.inspect.NoneType)]
        if len(concrete) == 1:
            _check_keys(value, concrete[0], where)
    elif isinstance(info, msgspec.inspect.StructType) and isinstance(value, dict):
        fields = {field.encode_name: field for field in info.fields}
        for key, inner in value.items():
            if key not in fields:
                hint = did_you_mean(key, fields) or "; the keys are " + ", ".join(fields)
                raise UsageError(f"{_place(where)}unknown key '{key}'{hint}")
            _check_keys(inner, fields[key].type, f"{where}.{key}")
        for key, field in fields.items():
            if field.required and key not in value:
                what = "section" if not where else "key"
                raise UsageError(f"{_place(where)}the {what} '{key}' is missing")
    elif isinstance(info, msgspec.inspect.ListType) and isinstance(value, list):
        for number, inner in enumerate(value, start=1):
            label = inner.get("name") if isinstance(inner, dict) else None
            tag = f" '{label}'" if isinstance(label, str) else f" {number}"
            _check_keys(inner, info.item_type, where + tag)
    elif isinstance(info, msgspec.inspect.LiteralType) and isinstance(value, str):
        names = sorted(str(one) for one in info.values)
        if value not in names:
            hint = did_you_mean(value, names) or "; it is one of " + ", ".join(names)
            raise UsageError(f"{_place(where)}unknown value '{value}'{hint}")


def _place(where: str) -> str:
    """``.stream '1-1'.pattern`` as ``stream '1-1', pattern: ``."""
    return where.strip(".").replace(".", ", ") + ": " if where else ""


_TYPE_WORDS = {
    "str": "a string (in quotes)",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "array": "a list",
    "object": "a table",
    "null": "nothing",
}


def _plain(message: str, data: Mapping[str, object]) -> str:
    """msgspec's complaint in terms of TOML."""
    match = re.fullmatch(r"Expected `([^`]+)`, got `([^`]+)`(?: - at `\$(.*)`)?", message)
    if not match:
        return message
    wanted = " or ".join(
        _TYPE_WORDS.get(part.strip(), part.strip())
        for part in match.group(1).split("|")
        if part.strip() != "null"
    )
    path = match.group(3) or ""
    place = re.sub(r"\[(\d+)\]", lambda m: f" {int(m.group(1)) + 1}", path)
    got = _TYPE_WORDS.get(match.group(2), match.group(2))
    key = path.rpartition(".")[2]
    example = ""
    if match.group(2) == "str" and "number" in wanted and "string" not in wanted:
        value = LIMITS[key][0] if key in LIMITS else 2000
        example = f"; write it without quotes and without a unit, for example {key} = {value}"
    return f"{_place(place)}expected {wanted}, got {got}{example}"


# --- second pass: values and combinations that need no device -----------------------------------


def _check(workload: WorkloadFile) -> None:
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
        members = [one for one in others if (one.arrival or arrival_names[0]) == name]
        if not members:
            raise UsageError(f"arrival '{name}': no stream uses it")
        weights_of([(one.name, one.share) for one in members], "the shares of the streams")


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
    if run.time is not None and run.count is not None:
        raise UsageError("time and count exclude each other")
    if run.ramp is not None and run.ramp_count is not None:
        raise UsageError("ramp and ramp_count exclude each other")
    for name, option in OPTIONS.items():
        if option.key and option.limits is not None:
            check_limits(name, getattr(run, option.key), option.key)


def _check_asus(asus: list[Asu]) -> None:
    total = Fraction(0)
    for asu in asus:
        with at(f"asu '{asu.name}'"):
            if is_percent(asu.size):
                share = units.parse_percent(str(asu.size))
                if asu.start is None:
                    total += share
            else:
                share = Fraction(units.parse_size(asu.size))
            if share == 0:
                raise UsageError("its size is 0")
            if asu.start is not None:
                fraction_or_bytes(asu.start)
            if units.parse_size(asu.block) % SECTOR or units.parse_size(asu.block) == 0:
                raise UsageError(f"block '{asu.block}' is not a multiple of 512 bytes")
            for smallest in (asu.min, asu.fixed.min if asu.fixed else None):
                if smallest is not None:
                    units.parse_size(smallest)
    if total > 1:
        raise UsageError(f"the sizes of the asus sum to {_percent(total)}, more than 100%")


def _check_arrival(arrival: Arrival) -> None:
    _refuse_trace(arrival.law)
    for key, laws in _LAW_KEYS.items():
        if getattr(arrival, key) not in (None, []) and arrival.law not in laws:
            raise UsageError(f"'{key}' belongs to law {' or '.join(laws)}, not to {arrival.law}")
    _check_curve(arrival)
    for key in _LAW_NEEDS.get(arrival.law, ()):
        if getattr(arrival, key) is None and not (key == "rate" and arrival.curve):
            raise UsageError(f"law {arrival.law} needs '{key}'")
    for key in ("depth", "length", "burst"):
        check_limits(key, getattr(arrival, key))
    if arrival.burst is not None and arrival.limit is None:
        raise UsageError("'burst' belongs to a 'limit': give one")
    if arrival.limit is not None:
        rate_milli(arrival.limit)
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
    for key, patterns in _PATTERN_KEYS.items():
        if getattr(stream, key) not in (None, []) and stream.pattern not in patterns:
            raise UsageError(
                f"'{key}' belongs to pattern {' or '.join(patterns)}, not to {stream.pattern}"
            )
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
    if stream.sequential is not None:
        units.share_to_ppm(units.parse_percent(stream.sequential), stream.sequential)
    if stream.pattern == "walk":
        align = units.parse_size(stream.align) if stream.align is not None else 0
        sizes = size_weights(stream)
        if len(sizes) != 1 or align not in (0, sizes[0][0]):
            raise UsageError("a walk moves by single blocks: one size, and align no other")
    _check_law(stream)
    if stream.pattern == "once" and len(size_weights(stream)) != 1:
        raise UsageError("pattern once touches equal blocks: it needs one size")
    for value in (stream.start, stream.range, stream.run_length, stream.restart):
        if value is not None:
            fraction_or_bytes(value)
    fixed = stream.fixed
    for value in (
        stream.align,
        stream.stride,
        stream.jitter,
        stream.run_align,
        fixed.align if fixed else None,
        fixed.run_align if fixed else None,
    ):
        if value is not None and (units.parse_size(value) % SECTOR or not units.parse_size(value)):
            raise UsageError(f"'{value}' is not a multiple of 512 bytes")


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
    if trace.think and trace.closed is None:
        raise UsageError("'think' of a trace needs 'closed': other times are due times")
    if trace.closed is not None and not 1 <= trace.closed <= DEPTH_MAX:
        raise UsageError(f"closed must be 1 to {DEPTH_MAX}, not {trace.closed}")


def replays(workload: WorkloadFile) -> bool:
    """True if it replays a trace."""
    return any(stream.pattern == "trace" for stream in workload.stream)


def beside_trace(workload: WorkloadFile) -> list[Stream]:
    """The streams that replay no trace."""
    return [stream for stream in workload.stream if stream.pattern != "trace"]


def _check_replay(workload: WorkloadFile, others: list[Stream]) -> None:
    """What a workload with a trace may be; @others: its other streams."""
    traces = [stream.name for stream in workload.stream if stream.pattern == "trace"]
    if len(traces) > 1:
        raise UsageError(f"a run can replay only one trace; remove [[stream]] '{traces[1]}'")
    for kind, tables in (("asu", workload.asu), ("arrival", workload.arrival)):
        if tables and not others:
            raise UsageError(
                f"[[{kind}]] '{tables[0].name}' is unused: the trace has its own addresses and"
                " times, and there is no other stream; remove it"
            )
    for key in ("count", "ramp_count"):
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
        for key in ("write_hint", *DATA_KEYS):
            if getattr(stream, key) is not None and stream.operation != "zone-append":
                raise UsageError(f"operation {stream.operation} has no data: remove '{key}'")
    for key in ("fua", "write_hint", *DATA_KEYS):
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
    for text in (stream.deviation, stream.center):
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
            raise UsageError(f"the shares of the zones sum to {_percent(total)}, not to 100%")
        for zone in stream.zones:
            fraction_or_bytes(zone.size)


def check_limits(name: str, value: int | None, label: str = "") -> None:
    """Refuse a number beyond its limits; @label is the user's name for it, if not @name."""
    low, high = LIMITS[name]
    if value is not None and not low <= value <= high:
        raise UsageError(f"{label or name} must be {low} to {high}, not {value}")


# --- what a field means, for resolve.py ---------------------------------------------------------


def asus_of(workload: WorkloadFile) -> list[Asu]:
    """The asus, the default one included."""
    return workload.asu or [Asu(name="all")]


def arrivals_of(workload: WorkloadFile) -> list[Arrival]:
    """The arrival processes, the default one included."""
    return workload.arrival or [rates.DEFAULT]


def is_percent(value: int | str) -> bool:
    """True for ``45%``."""
    return isinstance(value, str) and value.strip().endswith("%")


def fraction_or_bytes(value: int | str) -> Fraction | int:
    """``45%`` as a fraction, anything else as bytes."""
    return units.parse_percent(str(value)) if is_percent(value) else units.parse_size(value)


def rate_milli(rate: int | float) -> int:
    """I/Os per second as the kernel takes them: I/Os per 1000 s."""
    # A whole number may be too long for a float.
    if not 0 < rate < math.inf:
        raise UsageError(f"a rate must be a number above 0, not {rate:g}")
    milli = round(Fraction(str(rate)) * 1000)
    if milli < 1:
        raise UsageError(f"a rate of {rate} is less than 0.001 I/Os per second")
    if milli > RATE_MILLI_MAX:
        raise UsageError(f"a rate of {rate} is more than 1000000000 I/Os per second")
    return milli


def weights_of(shares: Iterable[tuple[str, int | str]], what: str) -> list[int]:
    """Shares as the smallest whole-number weights; percentages must sum to 100."""
    named = list(shares)
    percent = [is_percent(share) for _, share in named]
    fractions: list[Fraction] = []
    for (name, share), as_percent in zip(named, percent, strict=True):
        if as_percent:
            fractions.append(units.parse_percent(str(share)))
        elif isinstance(share, int) and 0 <= share <= WEIGHT_MAX:
            fractions.append(Fraction(share))
        else:
            raise UsageError(
                f"'{share}' is not a share ({name}); write a percentage or a whole number"
            )
    if any(percent) and not all(percent):
        raise UsageError(f"{what} mix percentages and weights; use one notation for all of them")
    for (name, share), fraction in zip(named, fractions, strict=True):
        if fraction == 0:
            raise UsageError(f"the share of {name} is {share}: leave it out or give it a share")
    total = sum(fractions, Fraction(0))
    if all(percent) and named and total != 1:
        raise UsageError(f"{what} sum to {_percent(total)}, not to 100%")
    scale = reduce(math.lcm, (one.denominator for one in fractions), 1)
    whole = [int(one * scale) for one in fractions]
    divisor = reduce(math.gcd, whole)
    weights = [one // divisor for one in whole]
    if sum(weights) > WEIGHT_MAX:
        raise UsageError(f"{what} are too fine to express in 32 bits")
    return weights


def read_ppm(stream: Stream) -> int:
    """Share of reads in millionths."""
    if stream.operation != "transfer":
        return 0
    share = stream.read or "100%"
    return units.share_to_ppm(units.parse_percent(share), share)


def priority_of(stream: Stream) -> tuple[Priority, int]:
    """Class and level of the I/O priority."""
    text = stream.priority
    if text is None:
        return "none", 0
    if not re.fullmatch(PRIORITY_PATTERN, text):
        raise UsageError(
            f"'{text}' is not an I/O priority: write rt:LEVEL or be:LEVEL, with a level of 0"
            " (highest) to 7, or idle"
        )
    name, _, level = text.partition(":")
    if name == "idle":
        return "idle", 0
    return ("rt" if name == "rt" else "be"), int(level or PRIORITY_LEVEL)


class OwnData(NamedTuple):
    """What a stream writes instead of the data of the run."""

    compressible_ppm: int
    duplicate_ppm: int
    fill: bytes


def data_of(stream: Stream) -> OwnData | None:
    """The data that a stream writes; None: those of the run."""
    if all(getattr(stream, key) is None for key in DATA_KEYS):
        return None
    fill = b""
    if stream.fill is not None:
        if not re.fullmatch(FILL_PATTERN, stream.fill):
            raise UsageError(
                f"'{stream.fill}' is not a fill: write 0x and 1 to 64 bytes of two hexadecimal"
                " digits, as 0xdeadbeef"
            )
        fill = bytes.fromhex(stream.fill[2:])
    share = stream.compressible or ("0%" if stream.fill is None else "100%")
    compressible = units.share_to_ppm(units.parse_percent(share), share)
    share = stream.duplicate or "0%"
    duplicate = units.share_to_ppm(units.parse_percent(share), share)
    if fill and not compressible:
        raise UsageError("without compressible data there is no fill: remove 'fill'")
    if duplicate and compressible == 1_000_000:
        raise UsageError(
            "data that are all fill are equal anyway: set 'compressible' below 100%, or remove"
            " 'duplicate'"
        )
    return OwnData(compressible, duplicate, fill)


def size_weights(stream: Stream) -> list[tuple[int, int]]:
    """The mix of block sizes: (bytes, weight)."""
    if stream.size is not None:
        return [(_block_size(stream.size), 1)]
    weights = weights_of(
        [(str(one.size), one.share) for one in stream.sizes], "the shares of the sizes"
    )
    sizes = [_block_size(one.size) for one in stream.sizes]
    for size, entry in zip(sizes, stream.sizes, strict=True):
        if sizes.count(size) > 1:
            raise UsageError(f"the size '{entry.size}' is listed twice")
    return list(zip(sizes, weights, strict=True))


def _block_size(value: int | str) -> int:
    size = units.parse_size(value)
    if size == 0 or size % SECTOR:
        raise UsageError(f"the block size '{value}' is not a multiple of 512 bytes")
    if size > IO_BYTES_MAX:
        raise UsageError(f"the block size '{value}' is more than {IO_BYTES_MAX >> 20} MiB")
    return size


def _percent(share: Fraction) -> str:
    return f"{float(share * 100):.10g}%"


@contextlib.contextmanager
def at(place: str) -> Iterator[None]:
    """Prefixes every error raised inside with @place."""
    try:
        yield
    except UsageError as error:
        raise UsageError(f"{place}: {error.message}") from error


def iter_shipped() -> Iterator[WorkloadFile]:
    """All shipped workloads."""
    for name in shipped_names():
        yield load(name)
