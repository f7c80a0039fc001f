# SPDX-License-Identifier: GPL-2.0
"""Where the I/Os of a job go: regions, strides, runs and clones, as fio places them."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from lib.ctl.fio_jobs import (
    HEAD,
    fio,
    imported,
    issued_by_fio,
    issued_by_import,
    places,
    plan,
    stream,
    tables,
)

from spekctl.errors import UsageError
from spekctl.fio import job as fio_job
from spekctl.fio import places as fio_places
from spekctl.fio import values
from spekctl.workload.layout import Target
from spekctl.workload.options import Options
from spekctl.workload.resolve import resolve
from spekctl.workload.values import STREAMS_MAX


def test_fio_leaves_the_gap_that_the_stride_has(tmp_path: Path) -> None:
    text = HEAD + "rw=read:60k\nbs=4k\nsize=10m\noffset=1m\nnumber_ios=50\n"
    table = stream(imported(tmp_path, text))
    (seen,) = places(tmp_path, text)
    expected = [table["start"] + index * table["stride"] for index in range(50)]
    assert [place for _, place in seen] == expected


@pytest.mark.parametrize("more", ["", "offset=1m\n", "numjobs=2\noffset_increment=1m\n"])
def test_fio_goes_back_as_the_pattern_does(tmp_path: Path, more: str) -> None:
    text = HEAD + "rw=read:-8k\nbs=4k\nsize=64k\n" + more
    converted = imported(tmp_path, text)
    assert fio_places.BACKWARD in converted.differences
    seen = issued_by_import(converted, 4 << 20)
    for entry, clone in zip(tables(converted)["stream"], places(tmp_path, text), strict=True):
        start = entry.get("start", 0)
        assert (entry["pattern"], entry["range"]) == ("backward", 65536)
        blocks = [place - start for _, place in clone]
        (turn,) = (at for at, place in enumerate(blocks) if not place and at)
        assert len(blocks) == 16
        assert all(after == before - 4096 for before, after in pairwise(blocks[1 : turn + 1]))
        # The last block is the only one that fio leaves out.
        assert {*range(0, 61440, 4096)} == set(blocks)
        assert all(seen["read", start + place, 4096] == 1 for place in range(0, 65536, 4096))


def test_fio_has_a_place_for_each_direction(tmp_path: Path) -> None:
    text = HEAD + "rw=rw\nbs=4k\nsize=10m\nnumber_ios=200\n"
    assert len(tables(imported(tmp_path, text))["stream"]) == 2
    (seen,) = places(tmp_path, text)
    for direction in ("read", "write"):
        own = [place for way, place in seen if way == direction]
        assert own == [index * 4096 for index in range(len(own))] and len(own) > 50


def test_fio_starts_clones_where_the_streams_start(tmp_path: Path) -> None:
    text = HEAD + "rw=write\nbs=4k\nsize=1m\noffset=4k\noffset_increment=2m\nnumjobs=3\n"
    text += "number_ios=3\n"
    starts = [table["start"] for table in tables(imported(tmp_path, text))["stream"]]
    assert [clone[0][1] for clone in places(tmp_path, text)] == starts


def test_a_distance_of_clones_has_no_effect_on_a_single_one() -> None:
    options = {"rw": "write", "size": "1m", "offset_increment": "2m"}
    assert plan(**options).mapped["offset_increment"] == fio_places.ONE_CLONE
    assert plan(**options, numjobs=2).mapped["offset_increment"] == fio_places.OF_CLONES


def test_fio_makes_runs_of_the_length_that_they_have(tmp_path: Path) -> None:
    text = HEAD + "rw=randread:8\nbs=4k\nsize=100m\nnumber_ios=80\n"
    assert stream(imported(tmp_path, text))["run_length"] == 9 * 4096
    (seen,) = places(tmp_path, text)
    breaks = [index for index in range(1, len(seen)) if seen[index][1] != seen[index - 1][1] + 4096]
    assert breaks == list(range(8, 80, 8))


def test_fio_touches_each_block_once_as_the_pattern_does(tmp_path: Path) -> None:
    text = HEAD + "rw=randread\nbs=4k\nsize=1m\n"
    assert stream(imported(tmp_path, text))["pattern"] == "once"
    (seen,) = places(tmp_path, text)
    assert sorted(place for _, place in seen) == [index * 4096 for index in range(256)]
    with_repeats = places(tmp_path, text + "norandommap\n")
    assert len({place for _, place in with_repeats[0]}) < 256


def test_a_gap_in_bytes_that_no_device_has_is_refused() -> None:
    with pytest.raises(UsageError, match="rw: the number behind the colon is a gap of 8 bytes"):
        plan(rw="write:8", bs="4k")
    assert plan(rw="write:512", bs="4k").streams[0]["stride"] == 4608


@pytest.mark.parametrize("options", ["bssplit=4k/50:64k/50", "bsrange=4k-64k"])
def test_fio_shortens_random_ios_as_the_report_says(tmp_path: Path, options: str) -> None:
    converted = imported(tmp_path, HEAD + f"rw=randread\nsize=4m\n{options}\n")
    assert fio_places.MAP in converted.differences
    words = "--rw=randread --size=4m --" + options
    with_map = issued_by_fio(tmp_path, words, 4 << 20)
    assert max(with_map.values()) == 1 and sum(size for _, _, size in with_map) == 4 << 20
    without = issued_by_fio(tmp_path, words + " --norandommap", 4 << 20)
    assert with_map.total() > without.total()
    seen = issued_by_import(converted, 4 << 20)
    mean = sum(size * often for (_, _, size), often in seen.items()) / seen.total()
    assert (4 << 20) / with_map.total() < mean
    in_runs = issued_by_fio(tmp_path, words.replace("randread", "randread:4"), 4 << 20)
    text = HEAD + f"rw=randread:4\nsize=4m\n{options}\n"
    assert fio_places.MAP in imported(tmp_path, text).differences
    if "split" in options:
        assert {size for _, _, size in with_map} > {4096, 65536}
        assert {size for _, _, size in in_runs} > {4096, 65536}
        assert {size for _, _, size in without} == {4096, 65536}
    unmapped = imported(tmp_path, HEAD + f"rw=randread\nsize=4m\n{options}\nnorandommap\n")
    assert fio_places.MAP not in unmapped.differences


def test_fio_keeps_random_ios_of_a_part_from_blocks_done_before(tmp_path: Path) -> None:
    options = {"rw": "randread", "bs": "4k", "size": "4m", "percentage_random": "80"}
    words = " ".join(f"--{name}={text}" for name, text in options.items())
    with_map = issued_by_fio(tmp_path, words, 4 << 20)
    without = issued_by_fio(tmp_path, words + " --norandommap", 4 << 20)
    # Sequential I/Os do repeat blocks.
    assert 1024 > len(with_map) > len(without)
    for more, told in (
        ({}, fio_places.PARTLY),
        ({"bssplit": "4k/50:8k/50"}, fio_places.MAP),
        ({"norandommap": None}, None),
        ({"percentage_random": "0"}, None),
    ):
        differences = plan(**{**options, **more}).differences
        assert [text for text in differences if text in (fio_places.PARTLY, fio_places.MAP)] == (
            [told] if told else []
        )


@pytest.mark.parametrize(
    ("options", "align"),
    [
        ("bssplit=8k/50:12k/50", 8192),
        ("bssplit=8k/50:12k/50 random_distribution=zipf:1.2", 8192),
        ("bsrange=4k-10k", 4096),
        ("bssplit=4k/50:12k/50", None),
        ("bs=8k", None),
    ],
)
def test_random_ios_start_where_those_of_fio_do(
    tmp_path: Path, options: str, align: int | None
) -> None:
    text = HEAD + "rw=randread\nnorandommap\nsize=1m\n" + "\n".join(options.split())
    assert stream(imported(tmp_path, text)).get("align") == align
    words = f"--rw=randread --norandommap --size=1m --{' --'.join(options.split())}"
    seen = issued_by_fio(tmp_path, words, 1 << 20)
    unit = align or int(min(size for _, _, size in seen))
    assert all(place % unit == 0 for _, place, _ in seen)
    assert any(place % (2 * unit) for _, place, _ in seen)


def test_a_file_size_is_the_region_and_the_size_an_amount(tmp_path: Path) -> None:
    text = HEAD + "rw=randread\nbs=4k\nfilesize=4m\noffset=1m\nsize=512k\n"
    converted = imported(tmp_path, text)
    assert (stream(converted)["start"], stream(converted)["range"]) == (1 << 20, 3 << 20)
    (seen,) = places(tmp_path, text)
    assert len(seen) == 128 == tables(converted)["run"]["count"]
    assert all(1 << 20 <= place < 4 << 20 for _, place in seen)
    assert max(place for _, place in seen) - min(place for _, place in seen) > 1 << 20
    for wrong in ("offset=10%\nfilesize=4m\n", "offset=4m\nfilesize=4m\n"):
        with pytest.raises(UsageError, match=r"filesize: the offset (is|must)"):
            imported(tmp_path, HEAD + wrong)


@pytest.mark.parametrize(
    ("options", "start", "size"),
    [
        ("rw=randread\nsize=10000\n", 0, 8192),
        ("rw=randread\nsize=100000\noffset=8k\n", 8192, 98304),
        ("rw=randread\nsize=16k\noffset=1000\n", 0, 16384),
        ("rw=read\nsize=10000\noffset=1000\n", 0, 8192),
        ("rw=read\nfilesize=20000\noffset=4k\n", 4096, 12288),
    ],
)
def test_places_that_are_no_whole_blocks_are_rounded_down(
    tmp_path: Path, options: str, start: int, size: int
) -> None:
    converted = imported(tmp_path, HEAD + "bs=4k\nruntime=5\n" + options)
    table = stream(converted)
    assert (table.get("start", 0), table["range"], table.get("align")) == (start, size, None)
    told = "\n".join(converted.differences)
    assert ("size: " in told) == (str(size) not in ("16384",))
    assert ("offset: byte 1000 is not a multiple of 4 KiB" in told) == ("offset=1000" in options)
    resolve(
        converted.workload, Options(available_cpus=[0]), [Target("/dev/sdx", 8, 0, 1 << 30, 512)]
    )


def test_fio_rounds_the_size_of_a_random_job_down(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(bytes(1 << 20))
    log = tmp_path / "log"
    words = (f"--filename={tmp_path}/f", "--bs=4k", "--size=10000", f"--write_iolog={log}")
    for rw, blocks in (("randread", 2), ("read", 3)):
        log.unlink(missing_ok=True)
        assert fio("--name=a", "--thread", *words, f"--rw={rw}").returncode == 0
        assert log.read_text().count(" read ") == blocks


def test_sequential_blocks_begin_where_fio_begins(tmp_path: Path) -> None:
    """A start of whole sectors is kept: I/Os that are not aligned are what is measured."""
    text = HEAD + "rw=read\nbs=4k\noffset=512\nsize=16k\n"
    converted = imported(tmp_path, text)
    assert stream(converted) == {
        **{"read": "100%", "pattern": "sequential", "size": 4096},
        **{"start": 512, "range": 16384, "align": 512},
    }
    (seen,) = places(tmp_path, text)
    assert [place for _, place in seen] == [512 + 4096 * index for index in range(4)]
    assert not any("offset" in difference for difference in converted.differences)


@pytest.mark.parametrize(
    ("options", "reads", "writes"),
    [
        ({"percentage_random": "100,50"}, {"pattern": "once"}, {"sequential": "50%"}),
        ({"percentage_random": "30,100"}, {"sequential": "70%"}, {"pattern": "once"}),
        (
            {"random_distribution": "zoned:60/10:40/90,30/20:70/80"},
            {"zones": [{"share": "60%", "size": "10%"}, {"share": "40%", "size": "90%"}]},
            {"zones": [{"share": "30%", "size": "20%"}, {"share": "70%", "size": "80%"}]},
        ),
    ],
)
def test_directions_differ_in_their_places(
    options: dict[str, str], reads: dict[str, Any], writes: dict[str, Any]
) -> None:
    streams = plan(rw="randrw", rwmixread=75, **options).streams
    assert [(entry["read"], entry["share"]) for entry in streams] == [("100%", 75), ("0%", 25)]
    for entry, expected in zip(streams, (reads, writes), strict=True):
        assert expected.items() <= entry.items()


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"offset": "10%"}, True),
        ({"offset_increment": "25%", "numjobs": 2}, True),
        ({"offset": "10%", "offset_align": "1m"}, True),
        ({"offset": "0%"}, False),
        ({"offset": "4k"}, False),
    ],
)
def test_a_place_in_per_cent_is_another_one_in_fio(options: dict[str, Any], told: bool) -> None:
    assert (fio_places.PLACES_UP in plan(rw="read", **options).differences) == told


def test_fio_rounds_a_place_in_per_cent_up(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(bytes(2 << 20))
    log = tmp_path / "log"
    words = (f"--filename={tmp_path}/f", "--offset=10%", "--number_ios=1", "--rw=read")
    assert fio("--name=a", "--thread", *words, f"--write_iolog={log}").returncode == 0
    assert f" read {-(-(2 << 20) // 10 // 4096) * 4096} 4096" in log.read_text()


def test_zones_in_per_cent_from_a_place_on_end_with_the_size() -> None:
    zoned = {"rw": "read", "zonemode": "strided", "zonesize": "4k", "zoneskip": "12k"}
    beyond, within = plan(**zoned, size="50%"), plan(**zoned, size="50%", offset="25%")
    assert ("range" in beyond.streams[0], beyond.passes) == (False, 2)
    assert fio_places.ZONES_END not in beyond.differences
    assert within.streams[0]["range"] == "50%" and fio_places.ZONES_END in within.differences


def test_clones_that_are_alike_are_one_stream() -> None:
    planned = plan(rw="randread", norandommap=None, iodepth=8, numjobs=1000)
    assert (len(planned.streams), planned.arrivals[0]["depth"]) == (1, 8000)
    assert len(plan(rw="write", numjobs=STREAMS_MAX).streams) == STREAMS_MAX
    many = plan(rw="write", numjobs=100, iodepth=4)
    assert (len(many.streams), many.arrivals[0]["depth"]) == (STREAMS_MAX, 400)
    assert sum(stream["share"] for stream in many.streams) == 100 * 100
    assert any("64 streams stand for 100 clones" in difference for difference in many.differences)
    assert len(plan(rw="rw", numjobs=100).streams) == STREAMS_MAX


@pytest.mark.parametrize(
    ("offset", "increment", "size", "first", "last"),
    [
        ("4k", "1m", "1m", 4096, 4096 + (100 << 20)),
        ("0", "2m", "512k", 0, (198 << 20) + (512 << 10)),
    ],
)
def test_streams_for_several_clones_cover_what_those_do(
    offset: str, increment: str, size: str, first: int, last: int
) -> None:
    planned = plan(rw="write", numjobs=100, offset=offset, offset_increment=increment, size=size)
    ends_of = [
        stream["start"] + stream["range"] for stream in planned.streams if stream.get("start")
    ]
    assert len(planned.streams) == STREAMS_MAX
    assert planned.streams[0].get("start", 0) == first and max(ends_of) == last
    alone = [stream["range"] for stream in planned.streams if stream["share"] == 100]
    assert len(alone) == 2 * STREAMS_MAX - 100 and set(alone) == {values.size(size)}
    in_per_cent = plan(rw="write", numjobs=99, offset_increment="1%", size="1%").streams
    spans = [int(stream["range"][:-1]) for stream in in_per_cent]
    assert sum(spans) == 99 and in_per_cent[-1]["start"] == f"{99 - spans[-1]}%"
    with pytest.raises(UsageError, match="more clones than there can be streams need a size"):
        plan(rw="write", numjobs=100, offset_increment="1m", size="50%")


def test_more_clones_than_streams_share_an_order() -> None:
    planned = plan(rw="randread", iodepth=2, numjobs=STREAMS_MAX + 1)
    assert [stream["pattern"] for stream in planned.streams] == ["once"]
    assert planned.arrivals[0]["depth"] == 2 * (STREAMS_MAX + 1)
    assert fio_job.ONE_MAP in planned.differences
    assert fio_job.ONE_MAP not in plan(rw="randread", numjobs=STREAMS_MAX).differences


def test_clones_start_per_cent_after_one_another(tmp_path: Path) -> None:
    """fio, on a file of 100 blocks, starts where the streams say."""
    options = {"rw": "write", "offset_increment": "10%", "numjobs": 3}
    for offset, starts in (({}, [0, 10, 20]), ({"offset": "5%"}, [5, 15, 25])):
        begins = [stream.get("start", "0%") for stream in plan(**options, **offset).streams]
        assert begins == [f"{per_cent}%" for per_cent in starts]
        (tmp_path / "f").write_bytes(bytes(400 << 10))
        log = tmp_path / "log"
        words = [f"--{name}={value}" for name, value in {**options, **offset}.items()]
        words += [f"--filename={tmp_path}/f", "--bs=4k", "--number_ios=1", f"--write_iolog={log}"]
        log.unlink(missing_ok=True)
        assert fio("--name=a", "--thread", *words).returncode == 0
        lines = [line.split() for line in log.read_text().splitlines()]
        assert sorted(int(line[3]) // 4096 for line in lines if line[2:3] == ["write"]) == starts


@pytest.mark.parametrize(
    "words",
    [
        "--rw=randread --bs=8k --size=33% --filesize=512k",
        "--rw=randwrite --bs=4k --size=50% --filesize=512k --offset=64k",
        "--rw=randread --bs=4k --size=90% --filesize=512k --offset=256k",
        "--rw=read --size=64k --filesize=300k --numjobs=2 --offset_increment=128k --loops=3",
        "--rw=read --bs=4k --filesize=400k --numjobs=3 --offset_increment=100k --size=100k",
    ],
)
def test_filesize_ends_the_range_of_each_clone_as_in_fio(tmp_path: Path, words: str) -> None:
    options = "\n".join(word.removeprefix("--") for word in words.split())
    converted = imported(tmp_path, f"{HEAD}{options}\n")
    seen, by_fio = issued_by_import(converted, 1 << 20), issued_by_fio(tmp_path, words, 1 << 20)
    assert {place for _, place, _ in seen} == {place for _, place, _ in by_fio}


def test_a_clone_that_begins_beyond_filesize_is_refused() -> None:
    with pytest.raises(UsageError, match="offset_increment: a clone begins at filesize or beyond"):
        plan(rw="read", filesize="256k", numjobs=3, offset_increment="128k")
