# SPDX-License-Identifier: GPL-2.0
"""The streams of a workload definition."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from spekctl.errors import UsageError
from spekctl.vdbench import convert, stream
from spekctl.vdbench.parmfile import Definition
from spekctl.vdbench.stream import Load
from spekctl.workload import striped
from spekctl.workload.values import SIZES_MAX

GIB = 1 << 30


def load(
    given: dict[str, str],
    device: dict[str, str] | None = None,
    count: int = 1,
    data: dict[str, str] | None = None,
    stripe: int = 0,
) -> Load:
    """The load of a WD; values are written as in a file. @stripe: 0: the one that it needs."""
    device = {"lun": "disk", **(device or {})}
    devices = [Definition("sd", f"sd{nr}", _lists(device)) for nr in range(count)]
    stripe = stripe or stream.stripe_of(_lists(given))
    return stream.load_of(_lists(given), devices, _lists(data or {}), stripe)


def _lists(given: dict[str, str]) -> dict[str, list[str]]:
    return {key: value.split(",") for key, value in given.items()}


def table(
    given: dict[str, str],
    device: dict[str, str] | None = None,
    count: int = 1,
    data: dict[str, str] | None = None,
) -> dict[str, Any]:
    """The keys of the only stream."""
    (part,) = load(given, device, count, data).parts
    assert (part.suffix, part.share) == ("", Fraction(1))
    return part.table


@pytest.mark.parametrize(
    ("given", "keys"),
    [
        ({}, {"read": "100%", "size": 4096}),
        ({"wrpct": "30"}, {"read": "70%", "size": 4096}),
        ({"seekpct": "seq"}, {"pattern": "sequential"}),
        ({"seekpct": "SEQUENTIAL"}, {"pattern": "sequential"}),
        ({"seekpct": "0"}, {"pattern": "sequential"}),
        ({"seekpct": "seqnz"}, {"pattern": "sequential"}),
        ({"seekpct": "eof"}, {"pattern": "sequential"}),
        ({"seekpct": "-1"}, {"pattern": "sequential"}),
        ({"seekpct": "rand"}, {"size": 4096}),
        ({"seekpct": "60"}, {"pattern": "uniform", "sequential": "40%"}),
        (
            {"xfersize": "4k,16k,4k"},
            {"sizes": [{"size": 4096 * count, "share": 1} for count in range(1, 5)]},
        ),
        (
            {"xfersize": "4k,75,24k,25"},
            {"sizes": [{"size": 4096, "share": "75%"}, {"size": 24576, "share": "25%"}]},
        ),
        # From the end of an I/O to the start of the next there are 60 KiB.
        ({"stride": "60k,60k"}, {"pattern": "strided", "stride": 65536}),
        ({"openflags": "o_sync", "rdpct": "50"}, {"fua": True}),
        ({"range": "10,50"}, {"start": "10%", "range": "40%"}),
        ({"range": "0,50"}, {"range": "50%"}),
        ({"range": "1m,3m"}, {"start": 1 << 20, "range": 2 << 20}),
        ({"hotband": "10,18"}, {"pattern": "hotband", "start": "10%", "range": "8%"}),
        # Only random I/Os choose among the blocks of a hot band.
        (
            {"hotband": "10,18", "seekpct": "seq"},
            {"pattern": "sequential", "start": "10%", "range": "8%"},
        ),
    ],
)
def test_parameters_become_keys(given: dict[str, str], keys: dict[str, Any]) -> None:
    built = table(given)
    assert {key: built[key] for key in keys} == keys
    if "fua" not in keys:
        assert "fua" not in built


def test_of_many_sizes_some_stand_for_all() -> None:
    built = load({"xfersize": "4k,1m,4k"})
    sizes = built.parts[0].table["sizes"]
    assert built.notes == [stream.RANGE] and len(sizes) == SIZES_MAX
    assert {size["share"] for size in sizes} == {4} and built.largest == sizes[-1]["size"]
    # The middle of four is the second one.
    assert [size["size"] for size in sizes[:2]] == [8192, 24576]
    few = load({"xfersize": "512,1m,512"}).parts[0].table["sizes"]
    assert sum(size["share"] for size in few) == 2048 and len(few) == SIZES_MAX
    assert load({"xfersize": "4k,256k,4k"}).notes == []


def test_bounds_are_rounded_to_blocks() -> None:
    built = table({"xfersize": "24k", "range": "10,50"}, {"size": "1g"})
    low, high = GIB // 10, GIB // 2
    first, last = low - low % 24576, high - high % 24576
    assert (built["start"], built["range"]) == (first, last - first)
    built = table({}, {"size": "100m,4", "offset": "8k"})
    assert (built["start"], built["range"]) == (8192, 25 << 20)


def used(built: dict[str, Any], devices: int, stripe: int) -> list[tuple[int, int]]:
    """The first byte of each device within a striped range, and the end."""
    bounds = []
    for device in range(devices):
        places = []
        for edge in (built.get("start", 0), built.get("start", 0) + built["range"]):
            row, within = divmod(edge, stripe * devices)
            places.append(row * stripe + min(max(within - device * stripe, 0), stripe))
        bounds.append((places[0], places[1]))
    return bounds


@pytest.mark.parametrize(
    ("given", "device", "low", "high", "inner"),
    [
        # Stripes of 2 MiB, of which the first whole ones begin at 2 MiB.
        ({"xfersize": "2m"}, {"offset": "1m", "size": "1g"}, 1 << 20, 1025 << 20, (2, 1024)),
        ({}, {"offset": "64k", "size": "64k"}, 1 << 16, 2 << 16, (1 / 16, 2 / 16)),
        ({}, {"offset": "4k", "size": "1m"}, 4096, (1 << 20) + 4096, (1 / 16, 1)),
        ({"range": "1m,3000k"}, {}, 1 << 20, 3000 << 10, (1, 46 / 16)),
        ({"xfersize": "24k"}, {"offset": "100k", "size": "1m"}, 100 << 10, 1124 << 10, None),
    ],
)
@pytest.mark.parametrize("devices", [2, 3])
def test_of_several_devices_only_what_the_file_allows_is_used(
    given: dict[str, str],
    device: dict[str, str],
    low: int,
    high: int,
    inner: tuple[float, float] | None,
    devices: int,
) -> None:
    loaded = load(given, device, devices)
    (part,) = loaded.parts
    stripe = stream.stripe_of(_lists(given))
    bounds = used(part.table, devices, stripe)
    assert all(low <= first < last <= high for first, last in bounds)
    if inner is not None:
        assert set(bounds) == {(int(inner[0] * (1 << 20)), int(inner[1] * (1 << 20)))}
    assert (part.table["start"] % part.table.get("size", 1), loaded.notes != []) == (
        0,
        bounds[0] != (low, high),
    )
    if loaded.notes:
        assert re.search(r"bytes \d+ to \d+ of each device are used, in whole", loaded.notes[0])


def test_an_offset_alone_is_kept_on_several_devices() -> None:
    loaded = load({"rdpct": "0"}, {"offset": "4k", "lun": "/dev/sdb"}, 2)
    assert loaded.parts[0].table["start"] == 2 << 16 and "range" not in loaded.parts[0].table
    assert loaded.notes == [
        "offset, size, range, hitarea: bytes from 65536 on of each device are used, in whole"
        " stripes of 64 KiB; the file allows bytes from 4096 on"
    ]


def test_a_range_without_a_whole_stripe_is_refused() -> None:
    sentence = (
        "bytes 4096 to 135168 of each device have no room for a block of 128 KiB in whole stripes"
    )
    with pytest.raises(UsageError, match=sentence):
        load({"xfersize": "128k"}, {"offset": "4k", "size": "128k"}, 2)
    with pytest.raises(UsageError, match="bytes 4096 to 69632 of each device have no room"):
        load({}, {"offset": "4k", "size": "64k"}, 2)


def test_shares_of_several_devices_are_of_all_together() -> None:
    loaded = load({"range": "10,50"}, None, 2)
    assert (loaded.parts[0].table["start"], loaded.parts[0].table["range"]) == ("10%", "40%")
    assert loaded.notes == [striped.SHARES.format("64 KiB")]
    assert load({"range": "10,50"}).notes == []


def test_hits_and_misses_are_apart_on_each_device() -> None:
    hit, miss = load(
        {"rdpct": "0", "whpct": "20"}, {"hitarea": "100k", "size": "1m", "offset": "64k"}, 2
    ).parts
    assert set(used(hit.table, 2, 1 << 16)) == {(1 << 16, 2 << 16)}
    assert set(used(miss.table, 2, 1 << 16)) == {(3 << 16, 17 << 16)}


@pytest.mark.parametrize(
    ("offset", "stripe", "row", "noted"),
    [
        ("0", 1 << 16, 1 << 20, False),
        ("4k", 1 << 16, 1 << 20, True),
        ("0", 2 << 20, 2 << 20, True),
        ("4k", 2 << 20, 2 << 20, True),
    ],
)
def test_the_default_hitarea_has_whole_stripes(
    offset: str, stripe: int, row: int, noted: bool
) -> None:
    """A large block of another load of the run makes the stripes large."""
    loaded = load({"rdpct": "0", "whpct": "20"}, {"offset": offset}, 2, stripe=stripe)
    hit, miss = loaded.parts
    first = stripe if offset != "0" else 0
    assert set(used(hit.table, 2, stripe)) == {(first, first + row)}
    assert miss.table["start"] == 2 * (first + row)
    assert any(note.startswith("hitarea: ") for note in loaded.notes) is noted


def test_the_end_of_a_range_ends_a_load() -> None:
    for word, ends in (("eof", True), ("-1", True), ("seq", False), ("100", False)):
        assert load({"seekpct": word}).ends == ends
    assert load({"seekpct": "seqnz"}).notes == [stream.NONZERO]


def test_a_load_covers_its_devices_or_a_part() -> None:
    assert load({}).covers and load({}, {"size": "1g"}, 2).covers
    assert not load({"range": "0,50"}).covers
    assert not load({"hotband": "0,50"}).covers
    assert not load({}, {"range": "0,50"}).covers
    assert not load({"rhpct": "50"}).covers


def test_hits_are_a_stream_of_their_own() -> None:
    hit, miss = load(
        {"rdpct": "70", "rhpct": "50", "whpct": "20"}, {"hitarea": "16m", "size": "1g"}
    ).parts
    assert hit.share == Fraction(70, 100) * Fraction(1, 2) + Fraction(30, 100) * Fraction(1, 5)
    assert hit.share + miss.share == 1
    # 35 of 41 hits, and 35 of 59 misses, are reads.
    assert (hit.table["read"], miss.table["read"]) == ("85.3659%", "59.322%")
    assert ("start" in hit.table, hit.table["range"]) == (False, 16 << 20)
    assert (miss.table["start"], miss.table["range"]) == (16 << 20, GIB - (16 << 20))


def test_hits_of_one_direction_and_hits_alone() -> None:
    hit, miss = load({"rdpct": "50", "rhpct": "40", "openflags": "o_sync"}).parts
    assert (hit.table["read"], hit.table["range"], "fua" in hit.table) == ("100%", 1 << 20, False)
    assert (miss.table["start"], "range" in miss.table, miss.table["fua"]) == (1 << 20, False, True)
    (alone,) = load({"rhpct": "100"}, None, 2).parts
    assert (alone.suffix, alone.table["range"]) == ("-hit", 2 << 20)
    assert alone.share == Fraction(1)
    assert "range" not in table({"rhpct": "0", "whpct": "0"})


def test_a_hotband_is_that_of_misses() -> None:
    hit, miss = load({"rhpct": "10", "hotband": "0,50"}, {"size": "1g"}).parts
    assert ("pattern" in hit.table, miss.table["pattern"]) == (False, "hotband")


def test_compression_and_duplicates_are_those_of_writes() -> None:
    loaded = load({"rdpct": "0"}, None, 1, {"compratio": "4", "dedupratio": "2", "dedupunit": "4k"})
    assert loaded.parts[0].table["compressible"] == "75%"
    assert loaded.parts[0].table["duplicate"] == "50%"
    assert loaded.notes == [stream.COMPRESSED, stream.DUPLICATES]
    assert "compressible" not in table({}, None, 1, {"compratio": "4"})
    assert table({"rdpct": "0"}, None, 1, {"compression": "40"})["compressible"] == "60%"
    assert "compressible" not in table({"rdpct": "0"}, None, 1, {"compratio": "1"})
    # The run's ratio is in place of the file's.
    assert (
        table({"rdpct": "0", "compratio": "2"}, None, 1, {"compratio": "4"})["compressible"]
        == "50%"
    )
    own = table({"rdpct": "0"}, {"dedupratio": "4"}, 1, {"dedupratio": "2", "dedupunit": "4096"})
    assert own["duplicate"] == "75%"
    assert "duplicate" not in table(
        {"rdpct": "0"}, None, 1, {"dedupratio": "1", "dedupunit": "128k"}
    )


def test_duplicates_of_other_sizes_are_of_4_kib() -> None:
    loaded = load({"rdpct": "0"}, None, 1, {"dedupratio": "2", "dedupunit": "8k"})
    assert loaded.parts[0].table["duplicate"] == "50%"
    assert stream.UNITS.format("8 KiB") in loaded.notes


@pytest.mark.parametrize(
    ("device", "count", "spans"),
    [
        ({}, 1, [(None, "25%"), ("25%", "25%"), ("50%", "25%"), ("75%", "25%")]),
        # As vdbench does, in whole blocks of 4 KiB: 10,000 bytes short of a GiB.
        (
            {"size": str(GIB - 10000)},
            1,
            [(start or None, GIB // 4 - 4096) for start in range(0, GIB - 16384, GIB // 4 - 4096)],
        ),
        # Of several devices in whole stripes of 64 KiB within those.
        (
            {"size": str(GIB - 10000)},
            2,
            [
                (start * 2 or None, (GIB // 4 - (1 << 16)) * 2)
                for start in (0, GIB // 4, GIB // 2, 3 * GIB // 4)
            ],
        ),
    ],
)
def test_streams_are_in_parts_of_the_device(
    device: dict[str, str], count: int, spans: list[tuple[object, object]]
) -> None:
    loaded = load({"seekpct": "eof", "streams": "4"}, device, count)
    found = [(part.table.get("start"), part.table["range"]) for part in loaded.parts]
    assert found == spans
    assert {part.table["pattern"] for part in loaded.parts} == {"sequential"}
    assert [part.share for part in loaded.parts] == [Fraction(1, 4)] * 4
    assert stream.STREAMS in loaded.notes and loaded.ends
    assert (stream.PARTS.format("64 KiB") in loaded.notes) is (count > 1)
    assert load({"streams": "1"}).parts[0].suffix == ""


def test_the_first_block_of_a_device_is_named() -> None:
    assert load({}, {"lun": "/dev/sdb"}).notes == [stream.FIRST_BLOCK]
    assert load({"range": "10,50"}, {"lun": "/dev/sdb"}).notes == []
    assert load({}, {"lun": "disk.img"}).notes == []


@pytest.mark.parametrize(
    ("given", "device", "data", "sentence"),
    [
        ({"seekpct": "poisson"}, {}, {}, "seekpct: no pattern has a Poisson law of addresses"),
        ({"seekpct": "sometimes"}, {}, {}, "seekpct: 'sometimes%' is not a percentage"),
        ({"seekpct": "60", "hotband": "1,2"}, {}, {}, "hotband: some of its I/Os are sequential"),
        ({"stride": "4k,8k"}, {}, {}, "stride: strides have one length"),
        ({"stride": "4k"}, {}, {}, "stride: strides have one length"),
        ({"stride": "4k,4k", "seekpct": "0"}, {}, {}, "stride: strides have one length"),
        ({"xfersize": "4k,8k,3"}, {}, {}, "xfersize: (min,max,align) is in ascending order"),
        ({"xfersize": "4k,1,8k,1,9k"}, {}, {}, "xfersize: list sizes with their shares"),
        ({"xfersize": "big"}, {}, {}, "xfersize: 'big' is not a number"),
        ({"range": "50,20"}, {}, {}, "range: (50,20) does not lie in 0 to 100 per cent"),
        ({"range": "90,110"}, {}, {}, "range: (90,110) does not lie in 0 to 100 per cent"),
        ({"range": "1"}, {}, {}, "range: it has two values"),
        ({"range": "10,1g"}, {}, {}, "range: (10,1g) begins at a share"),
        ({"range": "10,20"}, {"offset": "4k"}, {}, "range: a share needs the size of the SD"),
        ({"range": "1g,2g"}, {"size": "1g"}, {}, "range: (1g,2g) ends beyond the size of the SD"),
        ({"rhpct": "10", "range": "10,50"}, {}, {}, "hitarea: beside a range in per cent"),
        ({"rhpct": "10"}, {"size": "1m"}, {}, "hitarea: it is a part of the range"),
        ({"openflags": "o_append"}, {}, {}, "openflags: 'o_append' has no meaning"),
        ({"rdpct": "0"}, {}, {"compratio": "0.5"}, "compratio: data that grow when compressed"),
        ({"rdpct": "0"}, {}, {"dedupratio": "2"}, "dedupunit: duplicates are blocks of 4 KiB"),
        ({"streams": "4"}, {}, {}, "streams: they are sequential (seekpct=seq or eof)"),
        ({"streams": "4,1g", "seekpct": "0"}, {}, {}, "streams: it has one value, not 2"),
        ({"streams": "65", "seekpct": "0"}, {}, {}, "streams: a workload has at most 64 streams"),
        ({"streams": "2", "seekpct": "0", "range": "1,9"}, {}, {}, "the whole SD; leave out range"),
        ({"streams": "2", "seekpct": "0"}, {"offset": "4k"}, {}, "the whole SD; leave out offset"),
        (
            {"rdpct": "0"},
            {},
            {"dedupratio": "2", "dedupunit": "6k"},
            "dedupunit: duplicates are blocks of 4 KiB; it is a multiple of that",
        ),
        ({"rdpct": "0"}, {}, {"dedupratio": "0.5"}, "dedupratio: it is at least 1"),
    ],
)
def test_what_a_stream_cannot_be_is_refused_by_name(
    given: dict[str, str], device: dict[str, str], data: dict[str, str], sentence: str
) -> None:
    with pytest.raises(UsageError, match=re.escape(sentence)):
        load(given, device, 1, data)


@pytest.mark.parametrize(
    ("parts", "shares"),
    [
        ([1, 1, 1], [1, 1, 1]),
        ([Fraction(1, 4), Fraction(3, 4)], ["25%", "75%"]),
        ([3, 1], ["75%", "25%"]),
        ([Fraction(1, 3), Fraction(2, 3)], [1, 2]),
        ([Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)], [3, 2, 1]),
    ],
)
def test_shares_are_exact(parts: list[Fraction], shares: list[str | int]) -> None:
    assert stream.shares([Fraction(part) for part in parts]) == shares


@pytest.mark.parametrize(
    ("given", "sizes"),
    [
        ("4k,50,8k,50", {4096: "50%", 8192: "50%"}),
        ("4k,39.35,8k,9.37,64k,51.29", {4096: "39.35%", 8192: "9.37%", 65536: "51.28%"}),
        ("4k,60,8k,40.4,64k,0.05", {4096: "60%", 8192: "40%"}),
        ("4k,60,8k,39.6", {4096: "60%", 8192: "40%"}),
        ("4k,33.33333,8k,33.33333,16k,33.33334", {4096: 3333333, 8192: 3333333, 16384: 3333334}),
    ],
)
def test_shares_of_sizes_sum_to_100_as_in_vdbench(
    given: str, sizes: dict[int, Any], tmp_path: Path
) -> None:
    path = tmp_path / "file.parm"
    path.write_text(f"sd=s,lun=/dev/sdb\nwd=w,sd=s,xfersize=({given})\nrd=r,wd=w,iorate=max\n")
    (only,) = convert.load_steps(path)
    (stream,) = only.workload.stream
    assert {entry.size: entry.share for entry in stream.sizes} == sizes


@pytest.mark.parametrize("given", ["4k,50,8k,49.4", "4k,50,8k,50.5"])
def test_shares_of_sizes_that_do_not_sum_to_100_are_refused(given: str, tmp_path: Path) -> None:
    path = tmp_path / "file.parm"
    path.write_text(f"sd=s,lun=/dev/sdb\nwd=w,sd=s,xfersize=({given})\nrd=r,wd=w,iorate=max\n")
    with pytest.raises(UsageError, match="xfersize: the shares of the sizes sum to"):
        convert.load_steps(path)


def test_skews_sum_to_100_as_exactly_as_in_vdbench(tmp_path: Path) -> None:
    path = tmp_path / "file.parm"
    wds = "".join(f"wd=w{place},sd=s,skew={{}}\n" for place in range(3))
    head, tail = "sd=s,lun=/dev/sdb\n", "rd=r,wd=*,iorate=100\n"
    path.write_text(head + wds.format("33.3333", "33.3333", "33.3333") + tail)
    (only,) = convert.load_steps(path)
    assert len(only.workload.stream) == 3
    path.write_text(head + wds.format("33.333", "33.333", "33.333") + tail)
    with pytest.raises(UsageError, match=r"skew: the shares of its workloads sum to 99\.999 %"):
        convert.load_steps(path)
