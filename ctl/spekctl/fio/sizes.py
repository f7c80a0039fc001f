# SPDX-License-Identifier: GPL-2.0-or-later
"""Block sizes of a job of fio: bs, bsrange and bssplit, for each direction."""

from __future__ import annotations

import functools
import math

from spekctl import units
from spekctl.errors import UsageError, at
from spekctl.fio import values
from spekctl.fio.plan import Mix, Plan, Reader
from spekctl.workload.values import IO_BYTES_MAX, SECTOR, SIZES_MAX

RANGE = f"of the block sizes of a range, {SIZES_MAX} stand for all"


def of(
    options: Reader, plan: Plan, base: int, *, is_random: bool, discards: bool
) -> tuple[Mix, Mix]:
    """Block sizes with weights, of reads and of writes or, of a job that @discards, of discards."""
    for name in ("bs", "bsrange", "bssplit", "bs_is_seq_rand"):
        options.went(name, "stream.size, stream.sizes")
    of_all = _given_sizes(options, base)
    mixes = of_all[0], of_all[2 if discards else 1]
    by_range = options.given("bsrange") and not options.given("bssplit")
    if by_range and any(_leaves_out(mix) for mix in mixes):
        plan.differs(RANGE)
    if options.flag("bs_is_seq_rand"):
        in_runs = ":" in (options.text("rw") or "")
        shares = values.by_direction(options.text("percentage_random") or "100")
        if (
            is_random
            and mixes[0] != mixes[1]
            and (in_runs or any(share != "100" for share in shares))
        ):
            raise UsageError(
                "bs_is_seq_rand: I/Os of a random job that follow another one have the sizes of"
                " reads, and all I/Os of a stream have the same; make two jobs of it"
            )
        return (mixes[1],) * 2 if is_random else (mixes[0],) * 2
    return mixes


def smallest(options: Reader, base: int) -> list[int]:
    """The smallest block of reads, writes and discards each, in bytes."""
    return [min(size for size, _ in mix) for mix in _given_sizes(options, base)]


def _given_sizes(options: Reader, base: int) -> list[Mix]:
    """The block sizes of reads, writes and discards."""
    for name, parse in (("bssplit", _split_mix), ("bsrange", _range_mix)):
        text = options.text(name)
        if text is not None:
            # An empty direction keeps the block size, whatever it is.
            return [
                options.named(name, functools.partial(parse, text_of, base))
                if text_of.strip()
                else plain
                for text_of, plain in zip(
                    values.by_direction(text), _plain(options, base), strict=True
                )
            ]
    return _plain(options, base)


def _plain(options: Reader, base: int) -> list[Mix]:
    """The sizes of bs, for each direction."""
    text = options.text("bs") or "4k"
    sizes = options.named(
        "bs", lambda: [values.size(word or "4k", base) for word in values.by_direction(text)]
    )
    with at("bs"):
        return [[(_checked(size), 1)] for size in sizes]


def _checked(size: int) -> int:
    """A block size that an I/O can have."""
    if size == 0 or size % SECTOR:
        raise UsageError(f"{size} bytes are not a multiple of {SECTOR}")
    if size > IO_BYTES_MAX:
        raise UsageError(
            f"{units.format_bytes(size)} is more than an I/O of spek can have,"
            f" {units.format_bytes(IO_BYTES_MAX)}"
        )
    return size


def _range_mix(text: str, base: int) -> Mix:
    """``4k-64k`` or ``4k:64k``: all multiples of the first size, with equal shares. A last size
    that is not a multiple has the share of the bytes that it is above one."""
    low, dash, high = text.partition("-" if "-" in text else ":")
    if not dash:
        raise UsageError(f"'{text}' is not a range")
    # fio takes the bounds in either order.
    first, last = sorted((values.size(low, base), values.size(high, base)))
    if not first or first % 512:
        raise UsageError(f"'{text}' is not a range of multiples of 512")
    _checked(last)
    count, rest = divmod(last, first)
    # Each size stands for as many as need be, and is the middle of these.
    step = -(-count // (SIZES_MAX - bool(rest)))
    groups = [range(number, min(number + step, count + 1)) for number in range(1, count + 1, step)]
    unit = math.gcd(first, rest)
    mix = [(first * ((group[0] + group[-1]) // 2), len(group) * first // unit) for group in groups]
    return [*mix, (last, rest // unit)] if rest else mix


def _leaves_out(mix: Mix) -> bool:
    """Whether the sizes of a range are not all multiples of the first one."""
    return len(mix) > 1 and mix[1][0] - mix[0][0] > mix[0][0]


def _split_mix(text: str, base: int) -> Mix:
    """``4k/60:64k/40``; entries without a share, or with 0, have equal parts of what is left. Where
    none is without, fio adds the shares up from the smallest to 100, and the last takes the rest.
    """
    entries = [
        (values.size(size, base), values.percent(share or "0"))
        for size, _, share in (word.partition("/") for word in text.split(":"))
    ]
    left = 100 - sum(share for _, share in entries)
    without = sum(not share for _, share in entries)
    if left < 0 and without:
        raise UsageError(f"the shares of '{text}' sum to {100 - left}, and sizes have none left")
    mix: Mix = []
    if without:
        mix = [(size, share * without or left) for size, share in entries]
    else:
        room = 100
        for place, (size, share) in enumerate(sorted(entries, key=lambda entry: entry[1]), start=1):
            mix.append((size, room if place == len(entries) else min(share, room)))
            room -= mix[-1][1]
        order = [size for size, _ in entries]
        mix.sort(key=lambda entry: order.index(entry[0]))
    mix = [(_checked(size), weight) for size, weight in mix if weight]
    divisor = math.gcd(*(weight for _, weight in mix))
    return [(size, weight // divisor) for size, weight in mix]
