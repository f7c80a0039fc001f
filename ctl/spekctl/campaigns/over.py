# SPDX-License-Identifier: GPL-2.0-or-later
"""Fields that a sweep varies beside its loads: ``size=512,4KiB``, and the points they make."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import msgspec

from spekctl.documents.curve import Load, Over
from spekctl.errors import UsageError, at
from spekctl.workload import file
from spekctl.workload.config import RunConfig
from spekctl.workload.meaning import replays
from spekctl.workload.model import WorkloadFile
from spekctl.workload.options import OPTIONS, PARSERS, Options

MOST_FIELDS = 2
MOST_POINTS = 1000
# Fields of all streams that need no path.
SHORT = ("size", "read", "sequential", "pattern")
# Options by their flags, without dashes.
_OPTIONS = {
    OPTIONS[name].flag_text[2:]: OPTIONS[name]
    for name in ("workers", "max_outstanding", "batch", "spin_ns", "stripe_bytes")
}
SECTIONS = ("stream", "arrival", "asu")
ALLOWED = (
    f"{', '.join(SHORT)} (of all streams), {', '.join(_OPTIONS)}, or a field of the workload, such"
    " as stream.NAME.size or arrival.NAME.depth"
)
_LOADS = ("bsu", "rate", "depth")


def parse(texts: Sequence[str]) -> list[Over]:
    """The fields of --over and their values."""
    fields = [_parse(text) for text in texts]
    names = [over.field for over in fields]
    if len(fields) > MOST_FIELDS:
        raise UsageError(f"--over can be given {MOST_FIELDS} times, not {len(fields)} times")
    if len(set(names)) < len(names):
        raise UsageError(f"--over {names[0]} is given twice; write its values in one list")
    return fields


def _parse(text: str) -> Over:
    field, sign, listed = text.partition("=")
    field = field.strip()
    values = [value.strip() for value in listed.split(",")]
    if not sign or not field or not all(values):
        raise UsageError(f"--over {text}: write FIELD=VALUE,VALUE, for example size=512,4KiB")
    if field in _LOADS:
        raise UsageError(f"--over {field}: that is a load; give --{field} {listed}")
    section, _, rest = field.partition(".")
    if not (field in SHORT or field in _OPTIONS or (section in SECTIONS and rest)):
        raise UsageError(f"--over {field}: a sweep varies {ALLOWED}")
    if rest.rpartition(".")[2] == "name":
        raise UsageError(f"--over {field}: a name changes no load; a sweep varies {ALLOWED}")
    if len(set(values)) < len(values):
        raise UsageError(f"--over {field}: a value is given twice")
    return Over(field, values)


def places(fields: Sequence[Over]) -> list[dict[str, str]]:
    """All combinations of the values, the first field slowest; a single empty one of no fields."""
    return [
        dict(zip((over.field for over in fields), values, strict=True))
        for values in product(*(over.values for over in fields))
    ]


def check_count(loads: int, fields: Sequence[Over]) -> None:
    """Refuse a product that is too large to be meant."""
    count = max(1, loads)
    for over in fields:
        count *= len(over.values)
    if count > MOST_POINTS:
        raise UsageError(f"--over: that is {count:,} points; at most {MOST_POINTS:,} are measured")


def workload_at(workload: WorkloadFile, place: Mapping[str, str]) -> WorkloadFile:
    """The workload with the fields of a place."""
    changes = [
        f"{f'stream.*.{field}' if field in SHORT else field}={value}"
        for field, value in place.items()
        if field not in _OPTIONS
    ]
    if not changes:
        return workload
    if replays(workload):
        raise UsageError("--over: a replayed trace has its own sizes and addresses")
    data: dict[str, Any] = msgspec.to_builtins(workload)
    return file.with_settings(_without_empty(data), changes, "--over")


def _without_empty(value: Any) -> Any:
    """Tables without fields that are not set, as a file has them."""
    if isinstance(value, dict):
        return {key: _without_empty(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [_without_empty(item) for item in value]
    return value


def options_at(options: Options, place: Mapping[str, str]) -> Options:
    """The options with those of a place."""
    chosen: dict[str, Any] = {}
    for field, value in place.items():
        if field in _OPTIONS:
            option = _OPTIONS[field]
            if getattr(options, option.name) != option.default:
                raise UsageError(f"--over {field} and {option.flag_text} exclude each other")
            with at(f"--over {field}"):
                chosen[option.name] = PARSERS[option.kind](value)
            low, high = option.limits or (0, None)
            if chosen[option.name] < low or (high is not None and chosen[option.name] > high):
                raise UsageError(f"--over {field}: {value} is not within {low} to {high}")
    return replace(options, **chosen)


def own_load(config: RunConfig) -> Load:
    """The load that a workload has of itself."""
    depths = [arrival.depth for arrival in config.arrivals if arrival.law == "closed"]
    if depths and len(depths) == len(config.arrivals):
        return Load("depth", sum(depths))
    if config.offered_rate:
        return Load("rate", config.offered_rate)
    raise UsageError(
        f"--over: {config.name} has neither a depth nor a rate of its own; give --depth or --rate"
    )
