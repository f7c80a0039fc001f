# SPDX-License-Identifier: GPL-2.0-or-later
"""random_distribution of a job of fio: how often each block is drawn."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from spekctl import units
from spekctl.errors import UsageError, at
from spekctl.fio import ends, values
from spekctl.fio import sizes as block_sizes
from spekctl.fio.plan import Plan, Reader

LAW = "the same law as fio's, but other blocks are the frequent ones"
APART = (
    "reads and writes have frequent blocks of their own; in fio both have the same block numbers"
)
HASHED = (
    "random_distribution: the center is left out; fio has the most frequent block there and"
    " scatters the others over the range by a hash, and here all are scattered"
)
UNITS = (
    "random_distribution: I/Os are within the range; fio draws places in blocks of {} and aligns"
    " them to {}, so that it {}"
)
# fio adds up twelve uniform numbers, whatever the deviation, and moves the sum by up to half of it.
BELL = Fraction(1, 12)
WIDTH_MAX = 50
SUM = (
    "random_distribution: fio's normal:DEV is a normal distribution with a standard deviation of"
    " 8.33% of the range plus a uniform one of DEV% of the range, at most 50%; here it is the same"
)


def of_job(options: Reader, plan: Plan, base: int, direction: int) -> dict[str, Any] | None:
    """The pattern of the law of a @direction; None for the uniform one. UsageError for a law that
    spek lacks."""
    law = _law(options.text("random_distribution") or "random", base, direction)
    options.went("random_distribution", "stream.pattern")
    if law is None:
        return None
    if law.pop("center", None):
        plan.differs(HASHED)
    if law["pattern"] != "zoned":
        plan.differs(LAW)
        _check_units(options, plan, base, direction)
    if law["pattern"] == "normal":
        plan.differs(SUM)
    return law


def _check_units(options: Reader, plan: Plan, base: int, direction: int) -> None:
    """Report a law that fio applies to another range than that of the job: it numbers blocks of
    the smallest size of reads and writes, and uses the numbers as those of aligned blocks."""
    least = block_sizes.smallest(options, base)
    unit, align = min(least[:2]), ends.alignments(options, base)[direction] or least[direction]
    if align != unit:
        places = units.format_bytes(unit), units.format_bytes(align)
        effect = (
            "uses the beginning of the range only"
            if align < unit
            else "ends at the first one beyond the range"
        )
        plan.differs(UNITS.format(*places, effect))


def has_own_places(options: Reader) -> bool:
    """Whether each clone of a job has frequent blocks of its own: fio draws the place of the most
    frequent one from the seed of the clone, unless the law has a center."""
    name, _, rest = (options.text("random_distribution") or "random").partition(":")
    return name in ("zipf", "pareto") and ":" not in rest


def _law(text: str, base: int, direction: int) -> dict[str, Any] | None:
    """A distribution; None for the uniform one. Zones may be those of each direction."""
    name, _, rest = text.partition(":")
    if name == "random":
        return None
    if name in ("zoned", "zoned_abs"):
        with at("random_distribution"):
            return _zoned(values.by_direction(rest)[direction], name == "zoned_abs", base)
    value, _, center = rest.partition(":")
    defaults = {"zipf": "1.1", "pareto": "0.2", "normal": "0"}
    if name not in defaults:
        raise UsageError(f"random_distribution: '{name}' is not a distribution that spek has")
    number = _decimal(value or defaults[name])
    fields: dict[str, Any] = {"pattern": name}
    if name == "normal":
        if not 0 <= number < 100:
            raise UsageError(
                f"random_distribution: the deviation of normal is 0 to below 100, not {number:g}"
            )
        fields |= {"deviation": f"{float(100 * BELL):.4f}%", "spread": True}
        if number:
            fields["width"] = f"{min(number, WIDTH_MAX):.6g}%"
    else:
        fields["theta" if name == "zipf" else "h"] = number
    if center:
        fields["center"] = f"{_decimal(center) * 100:g}%"
    return fields


def _zoned(text: str, absolute: bool, base: int) -> dict[str, Any]:
    """Zones; those in per cent without a size share the rest of the range equally."""
    zones = []
    for parameter in text.split(":"):
        share, slash, size = parameter.partition("/")
        if not slash or (absolute and not size):
            raise UsageError(f"'{parameter}' is not a zone; write SHARE/SIZE")
        zones.append((values.percent(share), size))
    if absolute:
        sizes: list[Any] = [values.size(size, base) for _, size in zones]
    else:
        given = [values.percent(size) if size else None for _, size in zones]
        left = 100 - sum(size or 0 for size in given)
        # fio rounds the part down to whole per cents, as here.
        part = max(0, left) // max(1, given.count(None))
        sizes = [f"{part if size is None else size}%" for size in given]
    return {
        "pattern": "zoned",
        "zones": [
            {"share": f"{share}%", "size": size}
            for (share, _), size in zip(zones, sizes, strict=True)
        ],
    }


def _decimal(text: str) -> float:
    try:
        if len(text) <= units.LONGEST_NUMBER and math.isfinite(value := float(text)):
            return value
    except ValueError:
        pass
    raise UsageError(f"random_distribution: '{text[:40]}' is not a number")
