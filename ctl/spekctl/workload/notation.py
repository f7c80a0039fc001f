# SPDX-License-Identifier: GPL-2.0-or-later
"""The notation of --pattern: a pattern with its most important keys, ``strided:1MiB:64KiB``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

from spekctl.errors import UsageError
from spekctl.suggest import did_you_mean
from spekctl.workload.values import Pattern

PATTERNS: tuple[str, ...] = get_args(Pattern)

# The keys that the values after the colons set, in their order.
_KEYS: dict[str, tuple[str, ...]] = {
    "uniform": ("sequential",),
    "strided": ("stride", "jitter"),
    "runs": ("run_length", "restart"),
    "walk": ("walk",),
}


def pattern_fields(text: str) -> dict[str, object]:
    """The keys of a stream that a pattern with its values sets. UsageError with a sentence."""
    name, *values = text.split(":")
    if name not in PATTERNS:
        hint = did_you_mean(name, PATTERNS) or "; it is one of " + ", ".join(PATTERNS)
        raise UsageError(f"--pattern {text}: there is no pattern '{name}'{hint}")
    keys = _KEYS.get(name, ())
    if len(values) > len(keys) or "" in values:
        form = ":".join((name, *(key.upper() for key in keys)))
        raise UsageError(f"--pattern {text}: write {form}" + ("" if keys else ", without values"))
    return {"pattern": name, **dict(zip(keys, values, strict=False))}


def settings_of(fields: dict[str, object], stream: str) -> Sequence[str]:
    """The same keys as --set takes them, for a stream of a file."""
    return [f"stream.{stream}.{key}={value}" for key, value in fields.items()]
