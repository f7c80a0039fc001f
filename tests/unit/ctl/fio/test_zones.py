# SPDX-License-Identifier: GPL-2.0
"""Jobs on zoned devices, and jobs that leave gaps between zones. fio goes where these say."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
from lib.core.config import core_of
from lib.core.spekcore import Generator
from lib.ctl.fio_jobs import (
    HEAD,
    fio,
    imported,
    issued_by_fio,
    issued_by_import,
    plan,
    sequence_by_fio,
    stream,
    tables,
)
from lib.ctl.resolved import DISK

from spekctl.errors import UsageError
from spekctl.fio import places, zones
from spekctl.workload.imported import Imported
from spekctl.workload.layout import Target
from spekctl.workload.options import Options
from spekctl.workload.resolve import resolve

ZONED = Target("/dev/sdx", 8, 0, 64 << 30, 4096, zone_bytes=256 << 20, open_zones_max=16)
ZBD = HEAD + "zonemode=zbd\nruntime=5\n"


@pytest.mark.parametrize("rw", ["randwrite", "randrw"])
def test_writes_are_at_the_pointers_of_zones(tmp_path: Path, rw: str) -> None:
    text = ZBD + f"rw={rw}\nbs=64k\nmax_open_zones=8\nzonesize=256m\nnumjobs=2\niodepth=4\n"
    converted = imported(tmp_path, text)
    only = stream(converted)
    assert (only["pattern"], only["open_zones"]) == ("write-pointer", 8)
    assert tables(converted)["arrival"][0]["depth"] == 8
    assert zones.TURNS in converted.differences
    assert {"zonemode", "max_open_zones", "zonesize"} <= converted.mapped.keys()
    config = resolve(converted.workload, Options(write=True, available_cpus=[0, 1]), [ZONED])
    assert config.streams


def zones_of_fio(tmp_path: Path, words: str) -> list[list[int]]:
    """The zone of each write, of each clone of a job of fio on 16 zones of 1 MiB."""
    how = "filename=device\nioengine=psync\nwrite_iolog=log\nthread=1\n"
    (tmp_path / "device").write_bytes(bytes(16 << 20))
    (tmp_path / "j.fio").write_text(f"[j]\n{how}{words}")
    done = fio("j.fio", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    clones = (tmp_path / "log").read_text().split("fio version 3 iolog\n")[1:]
    lines = [[line.split() for line in clone.splitlines()] for clone in clones]
    return [[int(line[3]) >> 20 for line in clone if line[2] == "write"] for clone in lines]


ON_FILE = "bs=64k\nzonemode=zbd\nzonesize=1m\n"


def test_a_sequential_job_of_fio_has_one_zone_open_whatever_the_limit(tmp_path: Path) -> None:
    (seen,) = zones_of_fio(tmp_path, ON_FILE + "rw=write\nmax_open_zones=4\nsize=8m\n")
    assert seen == [zone for zone in range(8) for _ in range(16)]
    converted = imported(tmp_path, ZBD + "rw=write\nbs=64k\nmax_open_zones=4\nsize=8z\n")
    assert "open_zones" not in stream(converted) and zones.TURNS not in converted.differences
    assert converted.mapped["max_open_zones"] == zones.ONE_AT_A_TIME
    config = resolve(converted.workload, Options(write=True, available_cpus=[0]), [ZONED])
    assert (config.asus[0].open_zones, config.asus[0].bytes) == (1, 8 * ZONED.zone_bytes)


@pytest.mark.parametrize(
    ("most", "of_each", "zones_open"), [("6", "2", 2), ("4", "0", 4), ("2", "5", 2), ("9", "3", 3)]
)
def test_random_writes_of_fio_have_as_many_zones_open(
    tmp_path: Path, most: str, of_each: str, zones_open: int
) -> None:
    limits = {"max_open_zones": most, "job_max_open_zones": of_each}
    words = "".join(f"{name}={limit}\n" for name, limit in limits.items())
    (seen,) = zones_of_fio(tmp_path, ON_FILE + "rw=randwrite\nsize=8m\n" + words)
    # A zone is full after 16 writes, and another one is opened then.
    unfinished = [
        len({zone for zone in seen[:end] if seen[:end].count(zone) < 16})
        for end in range(1, len(seen))
    ]
    assert max(unfinished) == zones_open
    planned = plan(rw="randwrite", zonemode="zbd", **limits)
    assert [stream["open_zones"] for stream in planned.streams] == [zones_open]


def test_clones_have_as_many_zones_as_all_of_them() -> None:
    planned = plan(rw="randwrite", zonemode="zbd", job_max_open_zones=2, numjobs=3)
    assert [stream["open_zones"] for stream in planned.streams] == [6]
    both = plan(rw="randwrite", zonemode="zbd", job_max_open_zones=2, numjobs=3, max_open_zones=5)
    assert [stream["open_zones"] for stream in both.streams] == [5]
    assert "open_zones" not in plan(rw="write", zonemode="zbd").streams[0]


def test_clones_have_zones_of_their_own_as_in_fio(tmp_path: Path) -> None:
    more = "numjobs=2\noffset_increment=4z\nsize=2z\n"
    seen = zones_of_fio(tmp_path, ON_FILE + "rw=write\n" + more)
    assert sorted(map(set, seen), key=min) == [{0, 1}, {4, 5}]
    text = ZBD.replace("runtime=5\n", "") + "rw=write\nbs=64k\n" + more
    converted = imported(tmp_path, text)
    places_of = [(asu["name"], asu["start"], asu["size"]) for asu in tables(converted)["asu"]]
    assert places_of == [("zones", 0, "2z"), ("zones.2", "4z", "2z")]
    assert [entry["asu"] for entry in tables(converted)["stream"]] == ["zones", "zones.2"]
    assert converted.mapped["offset_increment"] == zones.CLONES
    assert tables(converted)["run"]["passes"] == 1
    config = resolve(converted.workload, Options(write=True, available_cpus=[0]), [ZONED])
    assert [asu.extents[0].start // ZONED.zone_bytes for asu in config.asus] == [0, 4]
    assert config.count == 4 * ZONED.zone_bytes // 65536
    # The limit of the device is shared, that of a job is not.
    limited = plan(
        rw="randwrite",
        zonemode="zbd",
        numjobs=2,
        offset_increment="4z",
        size="4z",
        max_open_zones=6,
        job_max_open_zones=4,
    )
    assert [stream["open_zones"] for stream in limited.streams] == [3, 3]


@pytest.mark.parametrize(
    ("options", "passes"),
    [("size=4z", 1), ("size=4z\nio_size=6z", 1.5), ("size=4z\nloops=2", 2), ("size=50%", 1)],
)
def test_a_job_ends_after_its_zones_as_in_fio(tmp_path: Path, options: str, passes: float) -> None:
    (seen,) = zones_of_fio(tmp_path, ON_FILE + f"rw=write\n{options}\n")
    of_pass = 8 if "%" in options else 4
    assert len(seen) == of_pass * passes * 16
    text = ZBD.replace("runtime=5\n", "") + f"rw=write\nbs=64k\n{options}\n"
    assert tables(imported(tmp_path, text))["run"]["passes"] == passes


def test_reads_of_zones_are_in_a_range_of_as_many(tmp_path: Path) -> None:
    text = ZBD.replace("runtime=5\n", "") + "rw=read\nbs=64k\noffset=2z\nsize=3z\n"
    converted = imported(tmp_path, text)
    table = stream(converted)
    assert (table["start"], table["range"]) == ("2z", "3z")
    (resolved,) = resolve(converted.workload, Options(available_cpus=[0]), [ZONED]).streams
    zone = ZONED.zone_bytes
    assert (resolved.range_start, resolved.range_bytes) == (2 * zone, 3 * zone)


def test_random_reads_are_below_the_pointers_and_sequential_ones_are_not() -> None:
    below = plan(rw="randread", zonemode="zbd")
    assert below.streams[0]["pattern"] == "write-pointer" and zones.BELOW in below.differences
    past = plan(rw="read", zonemode="zbd")
    assert past.streams[0]["pattern"] == "sequential" and zones.PAST in past.differences
    assert zones.PAST not in plan(rw="read", zonemode="zbd", read_beyond_wp=1).differences
    reads, writes = plan(rw="rw", zonemode="zbd").streams
    assert (reads["pattern"], writes["pattern"]) == ("sequential", "write-pointer")


@pytest.mark.parametrize(
    ("options", "asu"),
    [
        ("", None),
        ("offset=0\nsize=100%\n", None),
        ("size=1g\n", {"name": "zones", "start": 0, "size": 1 << 30}),
        ("offset=1g\nsize=2g\n", {"name": "zones", "start": 1 << 30, "size": 2 << 30}),
        ("offset=30%\n", {"name": "zones", "start": "30%", "size": "70%"}),
    ],
)
def test_a_range_of_zones_is_an_asu(
    tmp_path: Path, options: str, asu: dict[str, Any] | None
) -> None:
    converted = imported(tmp_path, ZBD + "rw=randwrite\nbs=64k\n" + options)
    only = tables(converted).get("asu", [])
    assert [{"start": 0, **entry} for entry in only] == ([] if asu is None else [asu])
    assert {"start", "range"}.isdisjoint(stream(converted))
    assert resolve(converted.workload, Options(write=True, available_cpus=[0]), [ZONED]).streams


@pytest.mark.parametrize(
    ("options", "places_of"),
    [
        ("size=1g", {"size": "asu.size"}),
        ("offset=1g\nsize=2g", {"offset": "asu.start", "size": "asu.size"}),
        ("offset=30%", {"offset": "asu.start"}),
        ("size=100%", {"size": places.WHOLE}),
    ],
)
def test_the_place_of_zones_is_reported_as_that_of_their_asu(
    tmp_path: Path, options: str, places_of: dict[str, str]
) -> None:
    converted = imported(tmp_path, ZBD + "rw=randwrite\nbs=64k\n" + options + "\n")
    assert {name: converted.mapped[name] for name in places_of} == places_of


@pytest.mark.parametrize("rw", ["read", "randread"])
@pytest.mark.parametrize(
    ("options", "place"),
    [
        ("size=10m", "run.count"),
        ("filesize=10m", "run.count"),
        ("size=10m\nruntime=5\ntime_based", places.NO_AMOUNT),
        ("size=50%", "run.passes"),
        ("size=100%", places.WHOLE),
        ("offset=10%\nsize=50%", "stream.range"),
    ],
)
def test_the_size_of_strided_zones_is_reported_as_what_it_sets(
    tmp_path: Path, rw: str, options: str, place: str
) -> None:
    text = HEAD + f"rw={rw}\nbs=4k\nzonemode=strided\nzonesize=64k\nzonerange=1m\n{options}\n"
    converted = imported(tmp_path, text)
    name = "filesize" if "filesize" in options else "size"
    assert converted.mapped[name] == place
    if place.startswith(("run.", "stream.")):
        table, key = place.split(".")
        assert key in (stream(converted) if table == "stream" else tables(converted)["run"])


def test_resets_before_a_zone_is_full_are_named() -> None:
    resets = {"zone_reset_threshold": "0.7", "zone_reset_frequency": "0.125"}
    kept = plan(rw="randwrite", zonemode="zbd", **resets)
    assert zones.RESETS in kept.differences and resets.keys() <= kept.mapped.keys()
    # Neither has an effect without the other one.
    for name, text in resets.items():
        assert zones.RESETS not in plan(rw="randwrite", zonemode="zbd", **{name: text}).differences


def test_appends_to_zones_are_writes_at_their_pointers(tmp_path: Path) -> None:
    text = ZBD.replace("libaio", "io_uring_cmd") + "rw=randwrite\nbs=8k\nwrite_mode={}\n"
    appended = imported(tmp_path, text.format("zone_append"))
    assert stream(appended)["pattern"] == "write-pointer"
    assert zones.APPENDS in appended.differences
    with pytest.raises(UsageError, match="write_mode: a zone is written at its write pointer"):
        imported(tmp_path, text.format("zeroes"))
    with pytest.raises(UsageError, match="write_mode: 'zone_append' is not a kind of writes"):
        imported(
            tmp_path, HEAD.replace("libaio", "io_uring_cmd") + "rw=write\nwrite_mode=zone_append\n"
        )


def test_zones_without_a_mode_are_strided(tmp_path: Path) -> None:
    text = HEAD + "rw=read\nbs=64k\nruntime=5\nzonesize=64k\nzoneskip=192k\n"
    strided = imported(tmp_path, text)
    assert (stream(strided)["pattern"], stream(strided)["stride"]) == ("strided", 256 << 10)
    assert "zonemode=strided" in strided.mapped["zonesize"]
    with pytest.raises(UsageError, match="zonesize: as in fio, it needs zonemode=strided or zbd"):
        imported(tmp_path, text + "zonemode=none\n")


def test_other_jobs_have_all_of_the_device(tmp_path: Path) -> None:
    text = ZBD + "rw=randwrite\nsize=1g\n[k]\ndirect=1\nruntime=5\nrw=read\nsize=2g\n"
    sections = tables(imported(tmp_path, text))
    assert [(entry["name"], entry["asu"], entry.get("range")) for entry in sections["stream"]] == [
        ("j", "zones", None),
        ("k", "all", 2 << 30),
    ]
    several = ZBD + "rw=randwrite\nsize=1g\n[k]\nzonemode=zbd\nruntime=5\nrw=write\n"
    for overlapping in ("size=2g\n", "size=20%\n", "offset=1z\nsize=3z\n"):
        with pytest.raises(UsageError, match="zonemode: its jobs have ranges of zones that differ"):
            imported(tmp_path, several + overlapping)
    apart = tables(imported(tmp_path, several + "offset=1g\nsize=2g\n"))
    assert [entry["asu"] for entry in apart["stream"]] == ["zones", "zones.2"]


# Jobs whose zones say where each I/O goes.
IN_ZONES = (
    *("--zonesize=4k --zonerange=64k --zoneskip=1m", "--zonesize=4k --zoneskip=60k"),
    *("--zonesize=64k", "--zonesize=64k --zoneskip=64k", "--zonesize=16k --zonerange=64k"),
    *("--zonesize=16k --zonerange=64k --zoneskip=192k", "--zonesize=64k --zonerange=16k"),
    *("--zonesize=72k --zonerange=16k --zoneskip=16k", "--zonesize=10k --zoneskip=6k"),
    *("--zonesize=10k --zonerange=14k --zoneskip=4k", "--zonesize=2k --zonerange=32k"),
    *("--zonesize=64k --zoneskip=64k --offset=256k", "--zonesize=64k --zoneskip=64k --bs=16k"),
    *("--zonesize=64k --zoneskip=64k --size=25%", "--zonesize=60k --zoneskip=4k --offset=6k"),
    *("--zonesize=1m --zoneskip=1m --bs=192k", "--zonesize=1 --zoneskip=512 --zonerange=20k"),
)


def strided_job(tmp_path: Path, options: str) -> tuple[Imported, list[int], list[int]]:
    """A job with zonemode=strided, and where its I/Os go on a device of 4 MiB: by its import, in
    the module's core, and by fio itself."""
    words = f"--zonemode=strided {options}"
    lines = "\n".join(word.removeprefix("--") for word in words.split())
    converted = imported(tmp_path, f"{HEAD}{lines}\n")
    seen = [place for _, place, _ in sequence_by_fio(tmp_path, words, 4 << 20)]
    config = resolve(
        converted.workload,
        Options(available_cpus=(0,), write="--write" in converted.command_line),
        [replace(DISK, bytes=4 << 20)],
    )
    ops = Generator(core_of(config), 1).ops(len(seen))
    return converted, [int(place) for place in ops["addr"]], seen


@pytest.mark.parametrize("options", IN_ZONES)
def test_sequential_ios_go_where_those_of_fio_do(tmp_path: Path, options: str) -> None:
    converted, places, seen = strided_job(tmp_path, f"--rw=read --number_ios=600 {options}")
    assert places == seen and len(seen) > 20
    (only,) = tables(converted)["stream"]
    gone = {converted.mapped[word] for word in ("zonemode", "zonesize")}
    if only["pattern"] == "sequential":
        assert gone == {zones.NO_GAPS}
    else:
        assert gone <= {f"stream.{key}" for key in only}
        assert (zones.LAST_ZONE in converted.differences) == ("zone_size" in only)


def visits(places: list[int], stride: int, start: int = 0) -> list[tuple[int, list[int]]]:
    """The zones in the order of their visits, with the places in each."""
    zone_of = lambda place: (place - start) // stride  # noqa: E731
    return [
        (zone, [place - start - zone * stride for place in group])
        for zone, group in ((zone, list(group)) for zone, group in groupby(places, zone_of))
    ]


RANDOM_ZONES = (
    "--zonesize=64k --zoneskip=64k",
    "--zonesize=16k --zonerange=64k --zoneskip=64k",
    "--zonesize=128k --zonerange=32k --zoneskip=32k",
    "--zonesize=96k --zonerange=64k",
    "--zonesize=4k --zonerange=64k",
    "--zonesize=256k --offset=512k",
    "--zonesize=10k --zonerange=64k",
    "--zonesize=64k --zoneskip=64k --random_generator=lfsr",
)


@pytest.mark.parametrize("more", ["", " --norandommap"])
@pytest.mark.parametrize("options", RANDOM_ZONES)
def test_random_ios_are_in_the_zones_of_those_of_fio(
    tmp_path: Path, options: str, more: str
) -> None:
    """As many in each, the zones in the same order, in as many different blocks if there is a
    map."""
    words = f"--rw=randread --number_ios=600 {options}{more}"
    converted, places, seen = strided_job(tmp_path, words)
    only = stream(converted)
    order = "random" if more and "lfsr" not in options else "once"
    assert only["zone_order"] == order
    stride, start = only["stride"], only.get("start", 0)
    blocks = only["zone_range"] // 4096
    done, expected = visits(places, stride, start), visits(seen, stride, start)
    assert [(zone, len(group)) for zone, group in done] == [
        (zone, len(group)) for zone, group in expected
    ]
    for group in (*(group for _, group in done), *(group for _, group in expected)):
        assert not any(place % 4096 for place in group) and max(group) < 4096 * blocks
        for first in range(0, len(group), blocks) if order == "once" else ():
            part = group[first : first + blocks]
            assert len(set(part)) == len(part)
    # Every place is used, by both.
    places_of = [{place for _, group in each for place in group} for each in (done, expected)]
    assert places_of[0] == places_of[1] == set(range(0, 4096 * blocks, 4096))


def test_reads_and_writes_share_zones(tmp_path: Path) -> None:
    for rw, options in (
        ("rw", "--zonesize=4k --zoneskip=12k"),
        ("randrw", "--zonesize=64k --zoneskip=64k"),
    ):
        words = f"--rw={rw} --number_ios=300 {options}"
        converted, places, seen = strided_job(tmp_path, words)
        only = stream(converted)
        assert only["read"] == "50%"
        done, expected = (visits(each, only["stride"]) for each in (places, seen))
        assert [(zone, len(group)) for zone, group in done] == [
            (zone, len(group)) for zone, group in expected
        ]


def test_ios_of_several_sizes_pass_zones_as_those_of_fio(tmp_path: Path) -> None:
    """An I/O that completes the bytes of its zone is the last one there, in both."""
    for more in ("--rw=read", "--rw=randread --norandommap"):
        words = f"{more} --number_ios=400 --bssplit=4k/50:12k/50 --zonesize=64k --zoneskip=64k"
        converted, places, seen = strided_job(tmp_path, words)
        for each in (visits(places, 128 << 10), visits(seen, 128 << 10)):
            zones_of = [zone for zone, _ in each]
            assert zones_of == [index % 32 for index in range(len(zones_of))]
            assert {len(group) for _, group in each[:-1]} <= set(range(6, 17))
        assert (zones.INSIDE in converted.differences) == ("randread" in more)


def test_clones_have_zones_of_their_own() -> None:
    planned = plan(rw="randread", zonesize="64k", zoneskip="64k", numjobs=3, runtime=5)
    assert [stream["zone_order"] for stream in planned.streams] == ["once"] * 3


def test_zones_of_no_mode_have_no_effect() -> None:
    planned = plan(rw="read", zonemode="none")
    assert planned.streams[0]["pattern"] == "sequential" and "zonemode" in planned.mapped


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"zonemode": "sometimes"}, "zonemode: 'sometimes' is not none, strided or zbd"),
        ({"zonemode": "strided"}, "zonesize: zonemode=strided needs it"),
        (
            {"zonesize": "4k", "zonemode": "none"},
            "zonesize: as in fio, it needs zonemode=strided or zbd",
        ),
        (
            {"zonemode": "strided", "zonesize": "40k", "zonerange": "14k"},
            "zonesize is larger, so I/Os pass it several times; write a multiple of 4 KiB",
        ),
        (
            {"zonesize": "40k", "zonerange": "14k", "zoneskip": "2k", "rw": "randread"},
            "zonesize is larger, so I/Os pass it several times; write a multiple of 4 KiB",
        ),
        (
            {"zonesize": "8k", "zonerange": "1000"},
            "zonerange, zoneskip: zones start every 1000 bytes, which is not a multiple of 512",
        ),
        (
            {"zonesize": "8k", "zonerange": "2k", "rw": "randread"},
            "zonerange: a zone has no room for a block of 4 KiB",
        ),
        (
            {"zonesize": "8k", "zonerange": "14k", "rw": "randread"},
            "zonerange, zoneskip: zones of random I/Os start at multiples of 4 KiB here, and not",
        ),
        (
            {"zonesize": "1m", "rw": "randread", "random_distribution": "zipf"},
            "random_distribution: I/Os in the zones of zonemode=strided are uniformly random",
        ),
        (
            {"zonesize": "1m", "rw": "randread", "percentage_random": 50},
            "percentage_random: I/Os in the zones of zonemode=strided are uniformly random",
        ),
        ({"zonesize": "1m", "rw": "rw"}, zones.SHARED),
        ({"zonesize": "4k", "rw": "rw", "bs": "4k,8k"}, zones.SHARED),
        ({"zonesize": "1m", "rw": "randrw", "rate_iops": "100,50"}, zones.SHARED),
        ({"zonesize": "1m", "rw": "randread:8"}, "rw: what follows the colon excludes zones"),
        ({"zonemode": "zbd", "rw": "write:4k"}, "rw: what follows the colon excludes zones"),
        ({"zonemode": "zbd", "rw": "trim"}, "rw: a trim of a zone is its reset"),
        (
            {"zonemode": "zbd", "offset": "1g", "offset_increment": "1z"},
            "offset_increment: it is in zones, and the offset is not",
        ),
        (
            {"zonemode": "zbd", "offset": "1z", "offset_increment": "1g"},
            "offset_increment: the offset is in zones; write it in bytes",
        ),
        ({"zonemode": "zbd", "offset": "1z", "filesize": "1g"}, "filesize: the offset is in zones"),
        ({"zonemode": "zbd", "size": "1z", "filesize": "1g"}, "filesize: the size is in zones"),
        ({"zonemode": "zbd", "rw": "write", "offset": "1z"}, "offset: a job that writes zones"),
        (
            {"zonemode": "zbd", "rw": "randwrite", "random_distribution": "zipf"},
            "random_distribution: I/Os are at the write pointers",
        ),
        (
            {"zonemode": "zbd", "rw": "randread", "percentage_random": "50"},
            "percentage_random: I/Os are at the write pointers",
        ),
        ({"zonemode": "zbd", "rw": "write", "offset": "1g"}, "offset: a job that writes zones"),
        (
            {"zonemode": "zbd", "io_size": "3z"},
            "io_size: '3z' is a number of zones, and neither zonesize",
        ),
    ],
)
def test_what_zones_do_not_have_is_refused(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UsageError, match=re.escape(sentence)):
        plan(**options)


@pytest.mark.parametrize("words", ["--loops=3", "--io_size=512k", "--loops=2 --offset=128k", ""])
def test_zones_without_gaps_continue_beyond_the_size_as_in_fio(tmp_path: Path, words: str) -> None:
    words = f"--rw=read --bs=8k --size=128k --zonemode=strided --zonesize=16k {words}"
    options = "\n".join(word.removeprefix("--") for word in words.split())
    converted = imported(tmp_path, f"{HEAD}{options}\n")
    assert issued_by_import(converted, 1 << 20) == issued_by_fio(tmp_path, words, 1 << 20)


def test_zones_without_gaps_in_a_part_of_the_device_stay_there() -> None:
    planned = plan(rw="read", zonemode="strided", zonesize="16k", size="50%")
    assert planned.streams[0]["range"] == "50%" and planned.passes == 1
    assert places.ZONES_END in planned.differences
