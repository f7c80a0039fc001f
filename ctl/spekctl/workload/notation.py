# SPDX-License-Identifier: GPL-2.0-or-later
"""The notation of --pattern: a pattern with its most important keys, ``strided:1MiB:64KiB``.

Zones are listed as ``zoned:60%/10%:40%/90%``, share of the I/Os and size.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from spekctl.errors import UsageError
from spekctl.suggest import did_you_mean
from spekctl.workload.values import FILE_PATTERNS, OPEN_ZONES_MAX

PATTERNS: tuple[str, ...] = FILE_PATTERNS

# The keys that the values after the colons set, in their order.
_KEYS: dict[str, tuple[str, ...]] = {
    "uniform": ("sequential",),
    "strided": ("stride", "jitter"),
    "runs": ("run_length", "restart"),
    "walk": ("walk",),
    "zipf": ("theta", "center"),
    "pareto": ("h", "center"),
    "normal": ("deviation", "center"),
    "write-pointer": ("open_zones",),
}


def pattern_fields(text: str) -> dict[str, object]:
    """The keys of a stream that a pattern with its values sets. UsageError with a sentence."""
    name, *values = text.split(":")
    if name not in PATTERNS:
        hint = did_you_mean(name, PATTERNS) or "; it is one of " + ", ".join(PATTERNS)
        raise UsageError(f"--pattern {text}: there is no pattern '{name}'{hint}")
    if name == "zoned" and values:
        return {"pattern": name, "zones": [_zone(text, value) for value in values]}
    keys = _KEYS.get(name, ())
    if len(values) > len(keys) or "" in values:
        form = ":".join((name, *(key.upper() for key in keys)))
        raise UsageError(f"--pattern {text}: write {form}" + ("" if keys else ", without values"))
    fields: dict[str, object] = {"pattern": name, **dict(zip(keys, values, strict=False))}
    for key in ("theta", "h"):
        if key in fields:
            fields[key] = _number(text, str(fields[key]))
    if "open_zones" in fields:
        fields["open_zones"] = _whole(text, str(fields["open_zones"]))
    return fields


def _whole(text: str, value: str) -> int:
    # int() refuses to read thousands of digits.
    if not (value.isascii() and value.isdigit() and len(value) <= len(str(OPEN_ZONES_MAX))):
        raise UsageError(
            f"--pattern {text[:80]}: '{value[:40]}' is not a whole number up to {OPEN_ZONES_MAX}"
        )
    return int(value)


def _zone(text: str, value: str) -> dict[str, str]:
    share, slash, size = value.partition("/")
    if not slash or not share or not size:
        raise UsageError(f"--pattern {text}: write a zone as SHARE/SIZE, for example 60%/10%")
    return {"share": share, "size": size}


def _number(text: str, value: str) -> float:
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise UsageError(f"--pattern {text}: '{value}' is not a number")
    return number


def settings_of(fields: dict[str, object], stream: str) -> Sequence[str]:
    """The same keys as --set takes them, for a stream of a file."""
    return [f"stream.{stream}.{key}={_toml(value)}" for key, value in fields.items()]


def _toml(value: object) -> str:
    if not isinstance(value, list):
        return str(value)
    zones = ", ".join(f"{{share='{zone['share']}',size='{zone['size']}'}}" for zone in value)
    return f'"[{zones}]"'
