# SPDX-License-Identifier: GPL-2.0-or-later
"""Numbers as people write them (10s, 64KiB, 12.5%, 0-3) to integers and back, exactly."""

from __future__ import annotations

import re
from collections.abc import Iterable
from fractions import Fraction

from spekctl.errors import UsageError

NS_PER: dict[str, int] = {
    "ns": 1,
    "us": 10**3,
    "ms": 10**6,
    "s": 10**9,
    "m": 60 * 10**9,
    "min": 60 * 10**9,
    "h": 3600 * 10**9,
}
BYTES_PER: dict[str, int] = {
    "": 1,
    "b": 1,
    **{
        prefix + suffix: 1024**power
        for power, prefix in enumerate("kmgtp", start=1)
        for suffix in ("", "ib")
    },
}
DURATION_PATTERN = r"^[0-9]+(\.[0-9]+)?(ns|us|ms|s|m|min|h)$|^0$"
SIZE_PATTERN = r"^[0-9]+(\.[0-9]+)? ?([KMGTPkmgtp]([iI][bB])?|[bB])?$"
ZONES_PATTERN = r"^[0-9]+z$"
PERCENT_PATTERN = r"^[0-9]+(\.[0-9]+)?%$"

U64_MAX = 2**64 - 1
_NUMBER = re.compile(r"^([0-9]+(?:\.[0-9]+)?) ?([a-zA-Zµ]*)$", re.ASCII)
_NUMBER_MICRO = re.compile(r"^([0-9]+(?:\.[0-9]+)?) ?µs$")


# No sensible number has more digits; Python refuses 4301, and is slow with slightly fewer.
LONGEST_NUMBER = 100


def _check_length(text: str, what: str) -> None:
    if len(text) > LONGEST_NUMBER:
        raise UsageError(f"'{text[:20]}...' is too long for {what}: {len(text)} characters")


def parse_duration_ns(text: str, *, bare_seconds: bool = False) -> int:
    """``500ms``, ``10s``, ``1.5h`` as nanoseconds. Only 0 needs no unit, unless @bare_seconds."""
    _check_length(text, "a duration")
    cleaned = text.strip()
    micro = _NUMBER_MICRO.match(cleaned)
    if micro:
        cleaned = micro.group(1) + "us"
    match = _NUMBER.match(cleaned)
    if not match:
        raise UsageError(f"'{text}' is not a duration; write for example 500ms, 10s, 5m or 2h")
    number, unit = Fraction(match.group(1)), match.group(2).lower()
    if not unit:
        if number and not bare_seconds:
            raise UsageError(f"'{text}' has no unit; write for example {text}ms or {text}s")
        unit = "s"
    if unit not in NS_PER:
        raise UsageError(f"'{text}' is not a duration: the units are ns, us, ms, s, m and h")
    value = number * NS_PER[unit]
    if value.denominator != 1:
        raise UsageError(f"'{text}' is not a whole number of nanoseconds")
    if value > U64_MAX:
        raise UsageError(f"'{text}' is longer than {U64_MAX // NS_PER['h']} hours")
    return int(value)


def parse_size(value: int | str) -> int:
    """``4096``, ``4k``, ``64KiB``, ``1.5GiB`` as bytes: k, M, G, T, P are powers of 1024."""
    if isinstance(value, int):
        if value < 0:
            raise UsageError(f"{value} is not a size: it is negative")
        return _within_u64(value, value)
    _check_length(value, "a size")
    match = _NUMBER.match(value.strip())
    if not match:
        raise UsageError(f"'{value}' is not a size; write for example 512, 4KiB or 10GiB")
    unit = match.group(2).lower()
    if unit not in BYTES_PER:
        if re.fullmatch(r"[kmgtp]b", unit):
            right = unit[0].upper() + "iB"
            raise UsageError(
                f"'{value}' could mean 1000 or 1024; write {match.group(1)}{right} for powers of"
                " 1024, or the number of bytes"
            )
        raise UsageError(f"'{value}' is not a size: the units are KiB, MiB, GiB, TiB and PiB")
    size = Fraction(match.group(1)) * BYTES_PER[unit]
    if size.denominator != 1:
        raise UsageError(f"'{value}' is not a whole number of bytes")
    return _within_u64(int(size), value)


def _within_u64(size: int, value: int | str) -> int:
    if size > U64_MAX:
        raise UsageError(f"'{value}' is more than 16 EiB")
    return size


def parse_percent(text: str) -> Fraction:
    """``12.5%`` as an exact fraction of one."""
    _check_length(text, "a percentage")
    match = re.match(r"^([0-9]+(?:\.[0-9]+)?) ?%$", text.strip(), re.ASCII)
    if not match:
        raise UsageError(f"'{text}' is not a percentage; write for example 70% or 3.5%")
    share = Fraction(match.group(1)) / 100
    if share > 1:
        raise UsageError(f"'{text}' is more than 100%")
    return share


def share_to_ppm(share: Fraction, text: str) -> int:
    """A share as parts per million, refused if that would round."""
    ppm = share * 1_000_000
    if ppm.denominator != 1:
        raise UsageError(f"'{text}' is finer than four decimals of a per cent")
    return int(ppm)


def parse_cpu_list(text: str) -> list[int]:
    """``0-3,8`` as CPU numbers in the order written, each once."""
    cpus: dict[int, None] = {}  # a set that keeps its order
    for part in text.split(","):
        _check_length(part, "a CPU")
        match = re.fullmatch(r"([0-9]+)(?:-([0-9]+))?", part.strip(), re.ASCII)
        if not match:
            raise UsageError(f"'{text}' is not a list of CPUs; write for example 0-3,8")
        first = int(match.group(1))
        last = int(match.group(2)) if match.group(2) else first
        if last < first or last > 65535:
            raise UsageError(f"'{part.strip()}' is not a range of CPUs")
        cpus.update(dict.fromkeys(range(first, last + 1)))
    return list(cpus)


def parse_numbers(text: str, *, whole: bool = True, at_most: int = 1000) -> list[int | float]:
    """``1,2,5``, ``1-10``, ``10-100:10`` (from, to, step) as numbers in that order, each once.

    Not @whole: decimals, too; steps are added exactly.
    """
    digits = "[0-9]+" if whole else r"[0-9]+(?:\.[0-9]+)?"
    numbers: list[Fraction] = []
    for part in text.split(","):
        _check_length(part, "a number")
        match = re.fullmatch(rf"({digits})(?:-({digits})(?::({digits}))?)?", part.strip(), re.ASCII)
        if not match:
            raise UsageError(
                f"'{text}' is not a list of {'whole ' if whole else ''}numbers; write for example"
                " 1,2,5 or 1-10 or 10-100:10"
            )
        first = Fraction(match.group(1))
        last = Fraction(match.group(2) or match.group(1))
        step = Fraction(match.group(3) or 1)
        if last < first or step <= 0:
            raise UsageError(f"'{part.strip()}' is not a range: it is empty")
        if (last - first) / step >= at_most:
            raise UsageError(f"'{part.strip()}' is more than {at_most} numbers")
        count = int((last - first) / step) + 1
        numbers += [first + index * step for index in range(count)]
    unique = list(dict.fromkeys(numbers))
    if len(unique) > at_most:
        raise UsageError(f"'{text}' is more than {at_most} numbers")
    return [int(number) if number.denominator == 1 else float(number) for number in unique]


def parse_watts(text: str) -> float:
    """``12.5``, ``12.5W``, ``800mW`` as watts; not negative."""
    _check_length(text, "a power")
    match = re.fullmatch(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*(mW|W|kW)?\s*", text)
    if match is None:
        raise UsageError(f"'{text}' is not a power; write 12.5, 12.5W or 800mW")
    return float(match[1]) * {"mW": 1e-3, None: 1.0, "W": 1.0, "kW": 1e3}[match[2]]


def format_cpu_list(cpus: Iterable[int]) -> str:
    """The inverse of parse_cpu_list() for ascending lists."""
    parts: list[str] = []
    numbers = sorted(cpus)
    index = 0
    while index < len(numbers):
        end = index
        while end + 1 < len(numbers) and numbers[end + 1] == numbers[end] + 1:
            end += 1
        parts.append(str(numbers[index]) if end == index else f"{numbers[index]}-{numbers[end]}")
        index = end + 1
    return ",".join(parts)


def format_count(count: int, noun: str) -> str:
    """1 host, 2 hosts; of nouns whose plural has an s."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def format_bytes(count: int) -> str:
    """Bytes for people: exact where short, else three significant digits."""
    for power, unit in ((5, "PiB"), (4, "TiB"), (3, "GiB"), (2, "MiB"), (1, "KiB")):
        # What would be rounded to 1024 is one of the next unit.
        if 2 * count >= 2047 * 1024 ** (power - 1):
            whole, rest = divmod(count, 1024**power)
            return (
                f"{whole} {unit}" if rest == 0 else f"{_three_digits(count / 1024**power)} {unit}"
            )
    return f"{count} B"


def format_ns(ns: int | float) -> str:
    """A latency for people: three significant digits."""
    for size, unit in ((10**9, "s"), (10**6, "ms"), (10**3, "us")):
        if ns >= size * 0.9995:
            return f"{_three_digits(ns / size)} {unit}"
    return f"{ns:.0f} ns"


def format_clock(seconds: float) -> str:
    """Elapsed time for people: 0:07, 12:30, 1:02:03."""
    whole = max(0, int(seconds + 0.5))
    hours, rest = divmod(whole, 3600)
    minutes, secs = divmod(rest, 60)
    return f"{hours}:{minutes:02}:{secs:02}" if hours else f"{minutes}:{secs:02}"


def format_duration(ns: int) -> str:
    """A configured duration in the largest unit that keeps it whole."""
    for unit in ("h", "m", "s", "ms", "us"):
        if ns and ns % NS_PER[unit] == 0:
            return f"{ns // NS_PER[unit]}{unit}"
    return f"{ns}ns"


def format_rate(per_second: float) -> str:
    """A rate for people: grouped digits, decimals only where they are significant."""
    if per_second == 0:
        return "0"
    return f"{per_second:,.0f}" if per_second >= 100 else f"{_three_digits(per_second)}"


def format_watts(watts: float) -> str:
    """Power for people: three significant digits."""
    if 0 < abs(watts) < 0.9995:
        return f"{watts * 1000:.3g} mW"
    return f"{'-' if watts < 0 else ''}{_three_digits(abs(watts))} W"


def format_joules(joules: float) -> str:
    """Energy for people: three significant digits."""
    for size, unit in ((1e6, "MJ"), (1e3, "kJ"), (1.0, "J")):
        if abs(joules) >= size * 0.9995:
            return f"{'-' if joules < 0 else ''}{_three_digits(abs(joules) / size)} {unit}"
    return f"{joules * 1000:.3g} mJ"


def _three_digits(value: float) -> str:
    if value >= 99.95:
        return f"{value:.0f}"
    return f"{value:.1f}" if value >= 9.995 else f"{value:.2f}"
