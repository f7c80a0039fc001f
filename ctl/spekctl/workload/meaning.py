# SPDX-License-Identifier: GPL-2.0-or-later
"""What the fields of a workload mean, as numbers: shares, sizes, rates, priorities, data.

UsageError for a field that has no meaning. None of it needs a device; resolve.py does.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from fractions import Fraction
from functools import reduce
from typing import Any, NamedTuple

from spekctl import units
from spekctl.errors import UsageError
from spekctl.workload import rates
from spekctl.workload.fields import ppm
from spekctl.workload.model import KEYS, Arrival, Asu, Stream, WorkloadFile
from spekctl.workload.once import once
from spekctl.workload.values import (
    DATA_KEYS,
    FILL_PATTERN,
    IO_BYTES_MAX,
    PRIORITY_LEVEL,
    PRIORITY_PATTERN,
    RATE_MILLI_MAX,
    SECTOR,
    WEIGHT_MAX,
    Priority,
)


@once
def members_of(stream: Stream) -> dict[str, Any]:
    """Members of the kernel's stream that follow from one key each, of the keys that are given."""
    values = {name: getattr(stream, name) for name, key in KEYS.items() if key.member}
    return {
        KEYS[name].member: KEYS[name].parse(value)
        for name, value in values.items()
        if value is not None
    }


def replays(workload: WorkloadFile) -> bool:
    """True if it replays a trace."""
    return any(stream.pattern == "trace" for stream in workload.stream)


def traces_of(workload: WorkloadFile) -> list[str]:
    """The files of the traces that it replays."""
    sources = [stream.trace for stream in workload.stream if stream.trace is not None]
    return [file for source in sources for file in source.files]


def beside_trace(workload: WorkloadFile) -> list[Stream]:
    """The streams that replay no trace."""
    return [stream for stream in workload.stream if stream.pattern != "trace"]


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


def zones_of(value: int | str | None) -> int | None:
    """The number of zones that ``4z`` is; None for another notation."""
    if not isinstance(value, str) or len(value) > units.LONGEST_NUMBER:
        return None
    return int(value[:-1]) if re.fullmatch(units.ZONES_PATTERN, value, re.ASCII) else None


def check_place(value: int | str) -> None:
    """UsageError for what is neither a size, a percentage nor a number of zones."""
    if zones_of(value) is None:
        fraction_or_bytes(value)


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
        raise UsageError(f"{what} sum to {percent_text(total)}, not to 100%")
    scale = reduce(math.lcm, (fraction.denominator for fraction in fractions), 1)
    whole = [int(fraction * scale) for fraction in fractions]
    divisor = reduce(math.gcd, whole)
    weights = [weight // divisor for weight in whole]
    if sum(weights) > WEIGHT_MAX:
        raise UsageError(f"{what} are too fine to express in 32 bits")
    return weights


@once
def read_ppm(stream: Stream) -> int:
    """Share of reads in millionths."""
    if stream.operation != "transfer":
        return 0
    return ppm("100%" if stream.read is None else stream.read)


@once
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


@once
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
    share = "0%" if stream.fill is None else "100%"
    if stream.compressible is not None:
        share = stream.compressible
    compressible = ppm(share)
    duplicate = ppm("0%" if stream.duplicate is None else stream.duplicate)
    if fill and not compressible:
        raise UsageError("without compressible data there is no fill: remove 'fill'")
    if duplicate and compressible == 1_000_000:
        raise UsageError(
            "data that are all fill are equal anyway: set 'compressible' below 100%, or remove"
            " 'duplicate'"
        )
    return OwnData(compressible, duplicate, fill)


@once
def size_weights(stream: Stream) -> list[tuple[int, int]]:
    """The mix of block sizes: (bytes, weight)."""
    if stream.size is not None:
        return [(_block_size(stream.size), 1)]
    weights = weights_of(
        [(str(size.size), size.share) for size in stream.sizes], "the shares of the sizes"
    )
    sizes = [_block_size(size.size) for size in stream.sizes]
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


def percent_text(share: Fraction) -> str:
    """A share as it is written, ``45%``."""
    return f"{float(share * 100):.10g}%"
