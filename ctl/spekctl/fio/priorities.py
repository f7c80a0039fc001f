# SPDX-License-Identifier: GPL-2.0-or-later
"""I/O priorities of a job of fio, and of the share of its I/Os with a priority of its own."""

from __future__ import annotations

import functools
import math
from fractions import Fraction
from typing import Any

from spekctl.errors import UsageError, at
from spekctl.fio import values
from spekctl.fio.plan import Plan, Reader

OWN_STREAM = (
    "its I/Os are a stream of their own, and blocks may repeat; fio's random map covers the I/Os of"
    " all priorities"
)
PRIORITIES = f"cmdprio_percentage: {OWN_STREAM}"
SHARED = ("cmdprio_percentage", "cmdprio_class", "cmdprio")
BY_SIZE = "cmdprio_bssplit"
_CLASSES = {1: "rt", 2: "be", 3: "idle"}
_LEVEL_MAX = 7


def of_job(options: Reader) -> str | None:
    """The I/O priority; fio's level of a class is 0 unless it is given."""
    level = options.value("prio", values.whole)
    number = options.value("prioclass", values.whole)
    for name in ("prio", "prioclass"):
        options.went(name, "stream.priority")
    if level is not None and level > _LEVEL_MAX:
        raise UsageError(f"prio: {level} is not a level from 0 to 7")
    if number is not None and number > len(_CLASSES):
        raise UsageError(f"prioclass: {number} is not a class from 0 to 3")
    # Without a class the kernel knows level 0 only, which is no priority.
    if not number:
        if level:
            raise UsageError("prio: Linux refuses a level without a prioclass")
        return None
    name = _CLASSES[number]
    return name if name == "idle" else f"{name}:{level or 0}"


def shared_out(options: Reader, plan: Plan, parts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The streams of a job; a stream with a share of I/Os of another priority becomes two."""
    given = {
        name: values.by_direction(options.text(name) or usual)
        for name, usual in zip(SHARED, ("0", "1", "0"), strict=True)
    }
    for name in (*SHARED, BY_SIZE):
        options.went(name, "stream.priority")
    by_size = options.text(BY_SIZE)
    if by_size is not None and options.nonzero("cmdprio_percentage"):
        raise UsageError(f"{BY_SIZE}: fio takes either this or cmdprio_percentage")
    base = options.value("kb_base", values.whole) or 1024
    result = []
    for part in parts:
        share, number, level = (
            options.named(name, functools.partial(values.percent, texts[_direction(part)] or "0"))
            for name, texts in given.items()
        )
        if number not in _CLASSES:
            raise UsageError(f"cmdprio_class: {number} is not a class from 1 to 3")
        if level > _LEVEL_MAX:
            raise UsageError(f"cmdprio: {level} is not a level from 0 to {_LEVEL_MAX}")
        raised = _text(number, level)
        if by_size is None:
            shares = [(raised, share), (part.get("priority"), 100 - share)] if share else []
            divided = [
                {**part, "priority": text, "share": part["share"] * weight}
                for text, weight in shares
                if weight
            ]
        else:
            of_direction = values.by_direction(by_size)[_direction(part)]
            with at(BY_SIZE):
                discards = part.get("operation") == "discard"
                divided = [] if discards else _of_sizes(part, of_direction, base, raised)
        option = "cmdprio_percentage" if by_size is None else BY_SIZE
        scattered = part["pattern"] in ("once", "uniform", "zoned")
        if divided and (not scattered or "sequential" in part):
            raise UsageError(
                f"{option}: I/Os of both priorities have one order together, unless their blocks"
                " are anywhere; make two jobs of it with prio and prioclass"
            )
        if divided and part["pattern"] == "once":
            divided = [{**stream, "pattern": "uniform"} for stream in divided]
            plan.differs(f"{option}: {OWN_STREAM}")
        result += divided or [{**part, "share": part["share"] * 100}]
    factor = math.lcm(*(Fraction(stream["share"]).denominator for stream in result))
    weights = [int(stream["share"] * factor) for stream in result]
    divisor = 100 if len(result) == len(parts) and factor == 1 else math.gcd(*weights)
    for stream, weight in zip(result, weights, strict=True):
        stream["share"] = weight // divisor
        if stream.get("priority", "") is None:
            del stream["priority"]
    return result


def _text(number: int, level: int) -> str:
    name = _CLASSES[number]
    return name if name == "idle" else f"{name}:{level}"


def _of_sizes(part: dict[str, Any], text: str, base: int, usual: str) -> list[dict[str, Any]]:
    """A stream for each priority that I/Os of @part have by their sizes, ``4k/20:64k/10/1/3``; none
    if @text gives none of them another priority."""
    raised: dict[int, list[tuple[str, int]]] = {}
    for word in filter(None, text.split(":")):
        size, *numbers = word.split("/")
        if len(numbers) not in (1, 3, 4):
            raise UsageError(f"'{word}' is not SIZE/SHARE or SIZE/SHARE/CLASS/LEVEL")
        share, *given = (values.percent(numbers[0]), *map(values.whole, numbers[1:]))
        if given and (given[0] not in _CLASSES or given[1] > _LEVEL_MAX):
            raise UsageError(f"'{word}' has no class from 1 to 3 and level from 0 to {_LEVEL_MAX}")
        if share and any(given[2:]):
            raise UsageError(
                f"'{word}' has a hint, and a priority has a class and a level only; leave it out"
            )
        if share:
            own = _text(given[0], given[1]) if given else usual
            raised.setdefault(values.size(size, base), []).append((own, share))
    mix = [(entry["size"], entry["share"]) for entry in part.get("sizes", ())]
    of_priority: dict[str | None, dict[int, int]] = {}
    usually = part.get("priority")
    for size, often in mix or [(part["size"], 1)]:
        shares = raised.get(size, [])
        left = 100 - sum(share for _, share in shares)
        if left < 0:
            raise UsageError(f"the shares of I/Os of {size} bytes sum to more than 100")
        for priority, share in [*shares, (usually, left)]:
            if share:
                weights = of_priority.setdefault(priority, {})
                weights[size] = weights.get(size, 0) + often * share
    if list(of_priority) == [usually]:
        return []
    whole = 1 if not mix else sum(often for _, often in mix)
    plain = {key: value for key, value in part.items() if key not in ("size", "sizes")}
    streams = []
    # The shares of all parts count in hundredths of the same number of I/Os.
    for priority, weights in of_priority.items():
        total = Fraction(sum(weights.values()) * part["share"], whole)
        divisor = math.gcd(*weights.values())
        sizes: dict[str, Any] = {
            "sizes": [{"size": size, "share": often // divisor} for size, often in weights.items()]
        }
        if len(weights) == 1:
            sizes = {"size": next(iter(weights))}
        streams.append({**plain, **sizes, "priority": priority, "share": total})
    return streams


def _direction(part: dict[str, Any]) -> int:
    """0 for reads and for both directions, 1 for writes; a discard has no priority of its own."""
    return int(part.get("read") == "0%")
