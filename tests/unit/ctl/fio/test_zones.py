# SPDX-License-Identifier: GPL-2.0
"""Jobs on zoned devices, and jobs that leave gaps between zones. fio goes where these say."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from lib.ctl.fio_jobs import HEAD, imported, places, plan, stream, tables

from spekctl.errors import UsageError
from spekctl.fio import zones
from spekctl.workload.layout import Target
from spekctl.workload.options import Options
from spekctl.workload.resolve import resolve

ZONED = Target("/dev/sdx", 8, 0, 64 << 30, 4096, zone_bytes=256 << 20, open_zones_max=16)
ZBD = HEAD + "zonemode=zbd\nruntime=5\n"


@pytest.mark.parametrize("rw", ["randwrite", "write", "randrw"])
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


def test_clones_have_as_many_zones_as_all_of_them() -> None:
    planned = plan(rw="write", zonemode="zbd", job_max_open_zones=2, numjobs=3)
    assert [stream["open_zones"] for stream in planned.streams] == [6]
    assert "open_zones" not in plan(rw="write", zonemode="zbd").streams[0]


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


def test_resets_before_a_zone_is_full_are_named() -> None:
    resets = {"zone_reset_threshold": "0.7", "zone_reset_frequency": "0.125"}
    kept = plan(rw="randwrite", zonemode="zbd", **resets)
    assert zones.RESETS in kept.differences and resets.keys() <= kept.mapped.keys()
    # Neither has an effect without the other one.
    for name, text in resets.items():
        assert zones.RESETS not in plan(rw="randwrite", zonemode="zbd", **{name: text}).differences


def test_appends_to_zones_are_writes_at_their_pointers(tmp_path: Path) -> None:
    text = ZBD + "rw=randwrite\nbs=8k\nwrite_mode={}\n"
    appended = imported(tmp_path, text.format("zone_append"))
    assert stream(appended)["pattern"] == "write-pointer"
    assert zones.APPENDS in appended.differences
    for other in (text.format("zeroes"), HEAD + "rw=write\nwrite_mode=zone_append\n"):
        with pytest.raises(UsageError, match="write_mode: spek reads, writes and discards"):
            imported(tmp_path, other)


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
    several = ZBD + "rw=randwrite\nsize=1g\n[k]\nzonemode=zbd\nruntime=5\nrw=write\nsize=2g\n"
    with pytest.raises(UsageError, match="zonemode: its jobs have different ranges of zones"):
        imported(tmp_path, several)


@pytest.mark.parametrize(
    "options",
    [
        "zonemode=strided\nzonesize=4k\nzonerange=64k\nzoneskip=1m\n",
        "zonemode=strided\nzonesize=4k\nzoneskip=60k\n",
        "zonemode=strided\nzonesize=64k\n",
    ],
)
def test_fio_leaves_the_gaps_between_zones_that_the_stride_has(
    tmp_path: Path, options: str
) -> None:
    text = HEAD + "rw=read\nbs=4k\nsize=100m\nnumber_ios=40\n" + options
    converted = imported(tmp_path, text)
    stride = stream(converted).get("stride", 4096)
    (seen,) = places(tmp_path, text)
    assert [place for _, place in seen] == [index * stride for index in range(40)]
    gaps = "stream.stride" if "stride" in stream(converted) else zones.NO_GAPS
    assert {converted.mapped[name] for name in ("zonemode", "zonesize")} == {gaps}


@pytest.mark.parametrize("options", ["zoneskip=12k\n", "zonerange=64k\n", ""])
def test_reads_and_writes_share_zones(tmp_path: Path, options: str) -> None:
    text = HEAD + "rw=rw\nbs=4k\nsize=100m\nnumber_ios=40\nzonemode=strided\nzonesize=4k\n"
    only = stream(imported(tmp_path, text + options))
    (seen,) = places(tmp_path, text + options)
    assert [place for _, place in seen] == [index * only.get("stride", 4096) for index in range(40)]
    assert only["read"] == "50%" and {"read", "write"} == {way for way, _ in seen}


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
            {"zonemode": "strided", "zonesize": "1m", "zoneskip": "1m"},
            "zonesize: spek leaves a gap after each I/O",
        ),
        (
            {"zonemode": "strided", "zonesize": "4k", "rw": "randread"},
            "zonemode: spek leaves gaps between zones in sequential jobs only",
        ),
        # Each sentence is about an option that the file has.
        (
            {"zonesize": "1m", "rw": "randread"},
            "zonesize: spek leaves gaps between zones in sequential jobs only; leave it out",
        ),
        (
            {"zonesize": "1m", "zoneskip": "1m"},
            "these zones have several; give bs the size of a zone, or leave the zones out",
        ),
        ({"zonesize": "1m", "rw": "rw"}, zones.SHARED),
        ({"zonesize": "4k", "rw": "rw", "bs": "4k,8k"}, zones.SHARED),
        ({"zonesize": "4k", "rw": "rw", "rate_iops": "100,50"}, zones.SHARED),
        ({"zonemode": "zbd", "rw": "write:4k"}, "rw: what follows the colon excludes zones"),
        ({"zonemode": "zbd", "rw": "trim"}, "rw: a trim of a zone is its reset"),
        ({"zonemode": "zbd", "offset_increment": "1g"}, "offset_increment: clones that write zo"),
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
            {"zonemode": "zbd", "size": "3z"},
            "size: '3z' is a number of zones, and neither zonesize",
        ),
    ],
)
def test_what_zones_do_not_have_is_refused(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UsageError, match=re.escape(sentence)):
        plan(**options)
