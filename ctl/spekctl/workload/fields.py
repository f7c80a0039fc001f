# SPDX-License-Identifier: GPL-2.0-or-later
"""How a field of the workload file is declared: its text, limits, notations, and what a stream's
key means to the kernel (Key). model.py has the tables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

from msgspec import Meta

from spekctl import units
from spekctl.errors import UsageError
from spekctl.units import DURATION_PATTERN, PERCENT_PATTERN, SIZE_PATTERN, ZONES_PATTERN
from spekctl.workload.options import OPTIONS, Kind
from spekctl.workload.values import (
    DEPTH_MAX,
    NAME_LEN_MAX,
    REPLICAS_MAX,
    SECTOR,
    U32_MAX,
    WEIGHT_MAX,
)

# Minimum and maximum, the same in a file and as an option.
LIMITS: dict[str, tuple[int, int]] = {
    "length": (1, U32_MAX),
    "burst": (1, DEPTH_MAX),
    "pause_every": (1, U32_MAX),
    "replicas": (1, REPLICAS_MAX),
    **{name: option.limits for name, option in OPTIONS.items() if option.limits is not None},
}
NOTATIONS = "x-notations"


@dataclass(frozen=True, slots=True)
class Key:
    """What a key of a stream means beside its text.

    @patterns: those that have it; (): all
    @writes: only streams that write have it
    @member: of the kernel's stream, where it follows from this key alone
    @parse: the member's value from the key's
    """

    patterns: tuple[str, ...] = ()
    writes: bool = False
    member: str = ""
    parse: Callable[[Any], int | str] = int


def whole_blocks(value: int | str) -> int:
    """A size above 0 in whole sectors, as bytes."""
    size = units.parse_size(value)
    if size % SECTOR or not size:
        raise UsageError(f"'{value}' is not a multiple of 512 bytes")
    return size


def ppm(share: str) -> int:
    """A percentage in millionths."""
    return units.share_to_ppm(units.parse_percent(share), share)


def text(
    description: str, pattern: str | None = None, key: Key | None = None, **more: object
) -> Meta:
    """A field by its description, with the form of its notation where it is a string."""
    extra: dict[str, object] = dict(more)
    if pattern is not None:
        extra["pattern"] = pattern
    return Meta(description=description, extra_json_schema=extra or None, extra=_extra(key))


def _extra(key: Key | None) -> dict[str, Key] | None:
    return None if key is None else {"key": key}


def bounded(description: str, name: str, key: Key | None = None) -> Meta:
    """A whole number within its LIMITS."""
    low, high = LIMITS[name]
    return text(description, key=key, minimum=low, maximum=high)


def as_option(name: str) -> Meta:
    """A key that is also an option, declared as that."""
    option = OPTIONS[name]
    if option.limits is not None:
        return bounded(option.help, name)
    return text(option.help, DURATION_PATTERN if option.kind is Kind.DURATION else None)


def either(description: str, *branches: dict[str, object], key: Key | None = None) -> Meta:
    """A field that takes several notations, each with its own pattern; see tidy()."""
    schema = {NOTATIONS: list(branches)}
    return Meta(description=description, extra_json_schema=schema, extra=_extra(key))


SIZE: tuple[dict[str, object], ...] = (
    {"type": "integer", "minimum": 0},
    {"type": "string", "pattern": SIZE_PATTERN},
)
PERCENT: dict[str, object] = {"type": "string", "pattern": PERCENT_PATTERN}
ZONES: dict[str, object] = {"type": "string", "pattern": ZONES_PATTERN}
WEIGHT: dict[str, object] = {"type": "integer", "minimum": 1, "maximum": WEIGHT_MAX}
DURATION: dict[str, object] = {"type": "string", "pattern": DURATION_PATTERN}

Name = Annotated[
    str,
    text(
        "Name: letters, digits, '.', '_' and '-', at most 31 of them.",
        rf"^[A-Za-z0-9][A-Za-z0-9._-]{{0,{NAME_LEN_MAX - 1}}}$",
    ),
]


def tidy(node: object) -> None:
    """Say what a TOML file can hold: no null, and the notations of a field with their patterns."""
    if isinstance(node, list):
        for item in node:
            tidy(item)
    if not isinstance(node, dict):
        return
    if NOTATIONS in node:
        node["anyOf"] = node.pop(NOTATIONS)
    elif "anyOf" in node:
        branches = [branch for branch in node["anyOf"] if branch != {"type": "null"}]
        del node["anyOf"]
        node.update(branches[0] if len(branches) == 1 else {"anyOf": branches})
    if node.get("default", ...) is None:
        del node["default"]
    for value in node.values():
        tidy(value)
