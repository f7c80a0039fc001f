# SPDX-License-Identifier: GPL-2.0-or-later
"""The streams of a workload definition: sizes, addresses, hits and data."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from spekctl import units
from spekctl.errors import UsageError, at
from spekctl.vdbench.parmfile import Definition, number
from spekctl.workload import striped
from spekctl.workload.values import SECTOR, SIZES_MAX, STREAMS_MAX

# Bytes of each SD that hits are in, unless the file says.
_HITAREA = 1 << 20
# Bytes of a stripe over several devices, unless a block is larger.
STRIPE = 64 << 10
# Blocks of which some are duplicates.
_DUPLICATE_UNIT = 4096
# Words of seekpct=: from the start of the range to its end; from some block on.
_EOF, _SEQNZ = ("eof", "-1"), ("seqnz", "sequentialnz")
EOF = (
    "ends by time only, and begins again at the end of the range; vdbench also ends when it has"
    " reached the end on each device (seekpct=eof)"
)
NONZERO = "begins at the start of the range; vdbench at a random block of it (seekpct=seqnz)"
FIRST_BLOCK = "the first block of a device is used as well; vdbench leaves it out"
COMPRESSED = (
    "each 4 KiB of compressible data are random in part and zeroes in the rest; vdbench has"
    " patterns of its own for a ratio"
)
DUPLICATES = (
    "64 blocks have duplicates; vdbench has dedupsets of them, by default 5 % of all blocks"
)

UNITS = (
    "duplicates are blocks of 4 KiB, in vdbench of {}: a device that detects only duplicates larger"
    " than 4 KiB saves less"
)
RANGE = f"xfersize: of the block sizes of a range, {SIZES_MAX} at most stand for all"
STREAMS = (
    "all streams together have this number of I/Os outstanding; in vdbench each stream has as many"
    " threads (streams)"
)

PARTS = "the part of a stream has whole stripes of {} of each device; vdbench's is up to two larger"

Given = Mapping[str, list[str]]


@dataclass(frozen=True, slots=True)
class Part:
    """A stream to be: a share of the I/Os of its workload definition, and the table."""

    suffix: str
    share: Fraction
    table: dict[str, Any]


@dataclass(slots=True)
class Load:
    """The streams of a workload definition on devices of equal layout."""

    parts: list[Part]
    notes: list[str] = field(default_factory=list)
    ends: bool = False  # at the end of the range
    covers: bool = False  # all of the devices
    largest: int = 0  # block in bytes
    block: int | None = None  # the same, if it is the only one

    @property
    def writes(self) -> bool:
        """Whether a stream has writes."""
        return any(part.table["read"] != "100%" for part in self.parts)


@dataclass(frozen=True, slots=True)
class _Span:
    """Bytes of each device, or shares of all; length None: to the end."""

    start: int | Fraction
    length: int | Fraction | None

    def keys(
        self, table: Mapping[str, Any], devices: int, stripe: int, notes: list[str]
    ) -> dict[str, Any]:
        """Keys of the stream of @table, on @devices that are striped over."""
        start, length = self.start, self.length
        if devices > 1 and not isinstance(start, Fraction) and not isinstance(length, Fraction):
            sizes = [size["size"] for size in table.get("sizes", [table])]
            start, length, note = striped.range_of(
                "offset, size, range, hitarea",
                start,
                None if length is None else start + length,
                devices,
                stripe,
                table.get("align") or math.gcd(*sizes, table.get("stride", 0)),
                max(sizes),
            )
            notes += [note] if note else []
        elif devices > 1:
            notes.append(striped.SHARES.format(units.format_bytes(stripe)))
        keys: dict[str, Any] = {}
        for key, value in (("start", start), ("range", length)):
            if isinstance(value, Fraction):
                keys[key] = text_of(value)
            elif value:
                keys[key] = value
        return keys


def only(given: Given, key: str) -> str:
    """The only value of a parameter."""
    values = given[key]
    if len(values) != 1:
        raise UsageError(f"{key}: it has one value, not {len(values)}")
    return values[0]


def percent(given: Given, key: str, default: int) -> Fraction:
    """A parameter that is a percentage, as a share."""
    if key not in given:
        return Fraction(default, 100)
    text = only(given, key)
    with at(key):
        return units.parse_percent(text if text.endswith("%") else f"{text}%")


def size(given: Given, key: str) -> int:
    """A parameter in bytes; (100g,4) is 100g divided by 4."""
    values = [number(key, text)[0] for text in given[key]]
    if len(values) > 2 or not all(values[1:]):
        raise UsageError(f"{key}: it has one value, or one and a divisor")
    return int(values[0] / (values[1] if len(values) > 1 else 1))


def text_of(share: Fraction) -> str:
    """A share in per cent, to four decimals, as all that the kernel tells apart."""
    return f"{float(round(share * 10**6)) / 10**4:.10g}%"


def stripe_of(given: Given) -> int:
    """Least bytes of a stripe over several devices: no block of the definition has more."""
    largest = max(size for size, _ in _sizes(given, []))
    return max(STRIPE, 1 << (largest - 1).bit_length())


def load_of(given: Given, devices: Sequence[Definition], data: Given, stripe: int) -> Load:
    """@given: parameters of the WD, with those of the run in place of its own; @data: compression
    and duplicates; @stripe: bytes of a stripe over several devices."""
    notes: list[str] = []
    sizes = _sizes(given, notes)
    load = Load([], largest=max(size for size, _ in sizes), notes=notes)
    reads = percent(given, "rdpct", 100)
    if "wrpct" in given:
        reads = 1 - percent(given, "wrpct", 0)
    table: dict[str, Any] = {"read": text_of(reads)}
    if len(sizes) == 1:
        load.block = load.largest
        table["size"] = sizes[0][0]
    else:
        table["sizes"] = [{"size": size, "share": share} for size, share in sizes]
    device = devices[0].given
    if "align" in device:
        table["align"] = size(device, "align")
    span = _span(given, devices, load.largest)
    if span.start == 0 and any(device.given["lun"][0].startswith("/dev") for device in devices):
        load.notes.append(FIRST_BLOCK)
    load.ends = _pattern(given, table, sizes, load.notes)
    if _is_synchronous(given, devices) and reads != 1:
        table["fua"] = True
    if reads != 1:
        table |= _data(given, data, devices, load.notes)
    count = _stream_count(given)
    if count > 1:
        load.parts = _streams(count, given, devices, table, stripe, load.notes)
        load.notes.append(STREAMS)
    else:
        load.parts = _hits(given, devices, table, span, reads, stripe, load.notes)
    load.covers = len(load.parts) == 1 and not {"range", "hotband"} & {*given, *device}
    return load


def _stream_count(given: Given) -> int:
    """Number of sequential streams of a workload definition; 0 or 1: it is not divided."""
    return int(number("streams", only(given, "streams"))[0]) if "streams" in given else 0


def _streams(
    count: int,
    given: Given,
    devices: Sequence[Definition],
    table: dict[str, Any],
    stripe: int,
    notes: list[str],
) -> list[Part]:
    """Sequential streams, each in a part of its own of the whole SD."""
    if not is_sequential(given):
        raise UsageError("streams: they are sequential (seekpct=seq or eof)")
    device = devices[0].given
    for key in ("range", "hotband", "rhpct", "whpct", "offset"):
        if key in given or key in device:
            raise UsageError(f"streams: each is a part of the whole SD; leave out {key}")
    if count > STREAMS_MAX:
        raise UsageError(f"streams: a workload has at most {STREAMS_MAX} streams, not {count}")
    parts: list[Part] = []
    rounded: list[str] = []
    for place in range(count):
        span = _Span(Fraction(place, count), Fraction(1, count))
        if "size" in device:
            length = size(device, "size") // count
            length -= length % table["size"] if "size" in table else 0
            span = _Span(length * place, length)
        keys = span.keys(table, len(devices), stripe, rounded)
        keys = {key: value for key, value in keys.items() if value != "0%"}
        parts.append(Part(f"-{place + 1}", Fraction(1, count), {**table, **keys}))
    if rounded:
        shown = units.format_bytes(stripe)
        notes.append(PARTS.format(shown) if "size" in device else rounded[0])
    return parts


def _sizes(given: Given, notes: list[str]) -> list[tuple[int, str | int]]:
    """Block sizes with shares; (min,max,align): all multiples of align alike, in groups of which
    the middle stands for all if they are more than a stream can have."""
    values = given.get("xfersize", ["4k"])
    if len(values) == 1:
        return [(_block(values[0]), 1)]
    if len(values) % 2 == 0:
        return _distribution(values)
    if len(values) != 3:
        raise UsageError("xfersize: list sizes with their shares, or give (min,max,align)")
    low, high, align = (int(number("xfersize", text)[0]) for text in values)
    if low >= high or align <= 0 or align % SECTOR or low % SECTOR or not low:
        raise UsageError("xfersize: (min,max,align) is in ascending order, in units of 512 bytes")
    count = (high - low) // align + 1
    if count > SIZES_MAX:
        notes.append(RANGE)
    step = -(-count // SIZES_MAX)
    groups = [range(first, min(first + step, count)) for first in range(0, count, step)]
    return [(low + align * ((group[0] + group[-1]) // 2), len(group)) for group in groups]


def _distribution(values: Sequence[str]) -> list[tuple[int, str | int]]:
    """Sizes with shares. As in vdbench, these sum to 100 % when rounded; what is above that is
    left out, and the last size has what is below."""
    sizes = [_block(text) for text in values[::2]]
    given = [number("xfersize", text)[0] for text in values[1::2]]
    total = sum(given, Fraction(0))
    if not Fraction("99.5") <= total < Fraction("100.5"):
        raise UsageError(
            f"xfersize: the shares of the sizes sum to {float(total):g} %, not to 100 %"
        )
    bounds = [min(total, Fraction(100)) for total in itertools.accumulate(given)]
    bounds[-1] = Fraction(100)
    parts = [bound - below for bound, below in zip(bounds, [Fraction(0), *bounds], strict=False)]
    often = [(size, part) for size, part in zip(sizes, parts, strict=True) if part]
    if all((part * 10**4).denominator == 1 for _, part in often):
        return [(size, text_of(part / 100)) for size, part in often]
    weights = shares([part for _, part in often])
    return [(size, weight) for (size, _), weight in zip(often, weights, strict=True)]


def _block(text: str) -> int:
    value = int(number("xfersize", text)[0])
    if not value or value % SECTOR:
        raise UsageError(f"xfersize: '{text}' is not a multiple of 512 bytes")
    return value


def _span(given: Given, devices: Sequence[Definition], block: int) -> _Span:
    for key in ("size", "offset", "align", "range", "hitarea"):
        if any(device.given.get(key) != devices[0].given.get(key) for device in devices):
            raise UsageError(f"{key}: it differs from device to device, and streams are striped")
    device = devices[0].given
    offset = size(device, "offset") if "offset" in device else 0
    whole = size(device, "size") if "size" in device else None
    key = "hotband" if "hotband" in given else "range"
    bounds = given.get(key, device.get("range"))
    if bounds is None:
        if whole is None:
            return _Span(offset, None)
        return _Span(offset, whole - whole % block)
    if len(bounds) != 2:
        raise UsageError(f"{key}: it has two values, where it begins and ends")
    (low, _), (high, _) = (number(key, bound) for bound in bounds)
    shown = f"({','.join(bounds)})"
    # A start of up to 100 and an end of up to 200 are per cent, more are bytes.
    shares = [low <= 100, high <= 200]
    if all(shares) and not low < high <= 100:
        raise UsageError(f"{key}: {shown} does not lie in 0 to 100 per cent")
    if whole is None and all(shares):
        if offset:
            raise UsageError(f"{key}: a share needs the size of the SD beside its offset")
        return _Span(low / 100, (high - low) / 100) if low else _Span(0, high / 100)
    if whole is None and shares[0] and low:
        raise UsageError(f"{key}: {shown} begins at a share; give the size of the SD, or bytes")
    of = Fraction(whole or 0, 100)
    first, last = (
        int(bound * of if share else bound)
        for bound, share in zip((low, high), shares, strict=True)
    )
    if first >= last:
        raise UsageError(f"{key}: {shown} ends before it begins")
    if whole is not None and last > whole:
        raise UsageError(f"{key}: {shown} ends beyond the size of the SD")
    first, last = (bound - bound % block for bound in (first, last))
    return _Span(offset + first, last - first)


def _pattern(
    given: Given, table: dict[str, Any], sizes: Sequence[tuple[int, object]], notes: list[str]
) -> bool:
    """Whether vdbench ends at the end of the range."""
    seeks, word = _seeks(given)
    if word in _SEQNZ:
        notes.append(NONZERO)
    if "hotband" in given and seeks:
        if seeks != 1:
            raise UsageError(
                "hotband: some of its I/Os are sequential and some random; give them a wd each"
            )
        table["pattern"] = "hotband"
    elif "stride" in given:
        strides = [int(number("stride", text)[0]) for text in given["stride"]]
        if len(strides) != 2 or strides[0] != strides[1] or seeks != 1 or len(sizes) != 1:
            raise UsageError(
                "stride: strides have one length (stride=(N,N)), with one block size and"
                " seekpct=100"
            )
        # vdbench's is from the end of an I/O to the start of the next.
        table |= {"pattern": "strided", "stride": strides[0] + sizes[0][0]}
    elif seeks == 0:
        table["pattern"] = "sequential"
    elif seeks != 1:
        table |= {"pattern": "uniform", "sequential": text_of(1 - seeks)}
    return word in _EOF


def is_sequential(given: Given) -> bool:
    """Whether all I/Os of a workload definition follow each other."""
    return _seeks(given)[0] == 0


def _seeks(given: Given) -> tuple[Fraction, str]:
    """The share of random I/Os, and the word for it if it is one."""
    words = [word.lower() for word in given.get("seekpct", ["100"])]
    word = words[0] if len(words) == 1 else ""
    if words[0] and "poisson".startswith(words[0]):
        raise UsageError("seekpct: no pattern has a Poisson law of addresses")
    if word in (*_EOF, *_SEQNZ) or (word and "sequential".startswith(word)):
        return Fraction(0), word
    if word and "random".startswith(word):
        return Fraction(1), word
    return percent(given, "seekpct", 100), ""


def _is_synchronous(given: Given, devices: Sequence[Definition]) -> bool:
    listed = [given.get("openflags", device.given.get("openflags", [])) for device in devices]
    for flag in {flag.lower() for flags in listed for flag in flags}:
        if flag not in (
            *("o_direct", "directio", "fsync", "clear_cache", "clearcache", "o_rsync"),
            *("o_sync", "o_dsync"),
        ):
            raise UsageError(f"openflags: '{flag}' has no meaning for a block device in spek")
    synchronous = [
        bool({"o_sync", "o_dsync"} & {flag.lower() for flag in flags}) for flags in listed
    ]
    if any(synchronous) and not all(synchronous):
        raise UsageError("openflags: o_sync differs from device to device, and streams are striped")
    return any(synchronous)


def _data(
    given: Given, data: Given, devices: Sequence[Definition], notes: list[str]
) -> dict[str, Any]:
    """Compression and duplicates of what is written."""
    keys: dict[str, Any] = {}
    saved = Fraction(0)
    source = given if "compratio" in given or "compression" in given else data
    for key in ("compratio", "compression"):
        if key in source:
            value = number(key, only(source, key))[0]
            ratio = value if key == "compratio" else 100 / value if value else 0
            if ratio < 1:
                raise UsageError(f"{key}: data that grow when compressed are not generated")
            saved = 1 - 1 / Fraction(ratio)
    duplicate = _duplicate(data, devices, notes)
    if saved:
        keys["compressible"] = text_of(saved)
        notes.append(COMPRESSED)
    if duplicate:
        keys["duplicate"] = text_of(duplicate)
        notes.append(DUPLICATES)
    return keys


def _duplicate(data: Given, devices: Sequence[Definition], notes: list[str]) -> Fraction:
    listed = [device.given.get("dedupratio", data.get("dedupratio", ["1"])) for device in devices]
    if any(ratio != listed[0] for ratio in listed):
        raise UsageError("dedupratio: it differs from device to device, and streams are striped")
    ratio = number("dedupratio", only({"dedupratio": listed[0]}, "dedupratio"))[0]
    if ratio < 1:
        raise UsageError("dedupratio: it is at least 1")
    if ratio == 1:
        return Fraction(0)
    unit = int(number("dedupunit", only(data, "dedupunit"))[0]) if "dedupunit" in data else 0
    if unit != _DUPLICATE_UNIT:
        if not unit or unit % _DUPLICATE_UNIT:
            raise UsageError("dedupunit: duplicates are blocks of 4 KiB; it is a multiple of that")
        notes.append(UNITS.format(units.format_bytes(unit)))
    if data.get("dedupacross", ["yes"])[0].lower().startswith("n") and len(devices) > 1:
        raise UsageError("dedupacross: duplicates are those of a stream, on all its devices")
    return 1 - 1 / ratio


def _hits(
    given: Given,
    devices: Sequence[Definition],
    table: dict[str, Any],
    span: _Span,
    reads: Fraction,
    stripe: int,
    notes: list[str],
) -> list[Part]:
    """The streams: hits are in the hitarea at the start of the range, misses behind it."""
    read_hits, write_hits = (percent(given, key, 0) for key in ("rhpct", "whpct"))
    hits = reads * read_hits + (1 - reads) * write_hits
    # As in vdbench, the hitarea is kept free for hits that could be.
    if not read_hits and not write_hits:
        keys = span.keys(table, len(devices), stripe, notes)
        return [Part("", Fraction(1), {**table, **keys})]
    source = given if "hitarea" in given else devices[0].given
    area = size(source, "hitarea") if "hitarea" in source else _HITAREA
    if isinstance(span.start, Fraction) or isinstance(span.length, Fraction):
        raise UsageError("hitarea: beside a range in per cent, it needs the size of the SD")
    if "hitarea" not in source and len(devices) > 1:
        area = _whole_stripes(span.start, stripe)
        if area != _HITAREA:
            notes.append(
                f"hitarea: {units.format_bytes(area)} instead of vdbench's default, so that it has"
                f" whole stripes of {units.format_bytes(stripe)}"
            )
    if not area or (span.length is not None and area >= span.length):
        raise UsageError("hitarea: it is a part of the range, and misses are in the rest")
    rest = None if span.length is None else span.length - area
    parts = []
    if hits:
        own = {**table, "read": text_of(reads * read_hits / hits)}
        if own.get("pattern") == "hotband":
            del own["pattern"]
        keys = _Span(span.start, area).keys(own, len(devices), stripe, notes)
        parts.append(Part("-hit", hits, {**own, **keys}))
    if hits != 1:
        own = {**table, "read": text_of(reads * (1 - read_hits) / (1 - hits))}
        keys = _Span(span.start + area, rest).keys(own, len(devices), stripe, notes)
        parts.append(Part("-miss", 1 - hits, {**own, **keys}))
    for part in parts:
        if part.table["read"] == "100%":
            for key in ("fua", "compressible", "duplicate"):
                part.table.pop(key, None)
    return parts


def _whole_stripes(start: int, stripe: int) -> int:
    """Bytes from @start on to the end of the stripe in which the default hitarea ends, if it begins
    with the first whole stripe."""
    first = -(-start // stripe) * stripe
    return -(-(first + _HITAREA) // stripe) * stripe - start


def shares(parts: Sequence[Fraction]) -> list[str | int]:
    """Shares of an arrival process: percentages where these are exact, else weights."""
    total = sum(parts, Fraction(0))
    parts = [part / total for part in parts]
    if all(part == parts[0] for part in parts):
        return [1] * len(parts)
    if all((part * 10**6).denominator == 1 for part in parts):
        return [text_of(part) for part in parts]
    common = math.lcm(*(part.denominator for part in parts))
    return [int(part * common) for part in parts]
