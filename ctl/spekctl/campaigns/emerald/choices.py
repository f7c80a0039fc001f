# SPDX-License-Identifier: GPL-2.0-or-later
"""Options of runs among which the search of an Emerald-like test chooses: ``backend=bio,mq``.

A run gets them when it starts and nothing outlives it, so each phase may have values of its own.
The stripe unit is none of them: it decides where on the devices an address lies. Prefill and
conditioning with a unit have prepared other places than a phase with another unit would use.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

from spekctl.errors import UsageError, at
from spekctl.workload.options import OPTIONS, PARSERS, Kind

# Options by their flags, without dashes.
SEARCHED = {
    OPTIONS[name].flag_text[2:]: OPTIONS[name]
    for name in ("backend", "polled", "batch", "spin_ns", "cpus")
}
SWITCH = {"off": False, "on": True}
_REFUSED = {
    "depth": "give --depths",
    "depths": "give --depths",
    "workers": "give --workers",
    "stripe": "prefill and conditioning lie where --stripe puts them, so that it cannot change"
    " between phases; run a test for each unit, and compare them with `spekctl energy check`",
}


def parse(texts: Sequence[str]) -> list[str]:
    """The words of --search as parameters have them: each an option and its values."""
    searched = [_parse(text) for text in texts]
    names = [text.partition("=")[0] for text in searched]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"--search {name} is given twice; write its values in one list")
    return searched


def _parse(text: str) -> str:
    name, _, listed = (part.strip() for part in text.partition("="))
    if name in _REFUSED:
        raise UsageError(f"--search {name}: {_REFUSED[name]}")
    if name not in SEARCHED:
        raise UsageError(f"--search {name}: a test searches over {', '.join(SEARCHED)}")
    values = [value.strip() for value in listed.split(",")]
    if not all(values):
        raise UsageError(f"--search {text}: write NAME=VALUE,VALUE, for example backend=bio,mq")
    if len(set(values)) < len(values):
        raise UsageError(f"--search {name}: a value is given twice")
    for value in values:
        _value(name, value)
    return f"{name}={','.join(values)}"


def names_of(searched: Sequence[str]) -> list[str]:
    """The options that are searched over, by their flags without dashes."""
    return [text.partition("=")[0] for text in searched]


def places(searched: Sequence[str]) -> list[dict[str, str]]:
    """All combinations of the values, the first option slowest; a single empty one of none."""
    lists = [text.partition("=")[2].split(",") for text in searched]
    names = names_of(searched)
    return [dict(zip(names, values, strict=True)) for values in product(*lists)]


def options_of(place: Mapping[str, str]) -> dict[str, Any]:
    """Fields of Options for a combination."""
    return {SEARCHED[name].name: _value(name, value) for name, value in place.items()}


def text_of(place: Mapping[str, str]) -> str:
    """A combination for display; empty if it is."""
    return ", ".join(f"{name} {value}" for name, value in place.items())


def _value(name: str, text: str) -> Any:
    option = SEARCHED[name]
    if option.kind in (Kind.FLAG, Kind.CHOICE):
        words = tuple(SWITCH) if option.kind is Kind.FLAG else option.choices
        if text not in words:
            raise UsageError(f"--search {name}: '{text}' is none of {', '.join(words)}")
        return SWITCH[text] if option.kind is Kind.FLAG else text
    with at(f"--search {name}"):
        value = PARSERS[option.kind](text)
    low, high = option.limits or (None, None)
    if low is not None and high is not None and not low <= value <= high:
        raise UsageError(f"--search {name}: {text} is not within {low} to {high}")
    return value
