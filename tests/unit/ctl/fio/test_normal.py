# SPDX-License-Identifier: GPL-2.0
"""Notations that are the same as others of fio's."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from lib.ctl.fio_jobs import (
    HEAD,
    fio,
    imported,
    issued_by_fio,
    issued_by_import,
    plan,
    sequence_by_fio,
    tables,
)

from spekctl.errors import UsageError
from spekctl.fio import arrivals, normal, places
from spekctl.fio import job as fio_job
from spekctl.fio.jobfile import Job


def test_a_job_that_is_named_as_a_device_loads_it(tmp_path: Path) -> None:
    text = "[global]\ndirect=1\nsize=4m\n[/dev/x:y]\nfilename=/dev/sdx\n[/dev/sda]\nrw=write\n"
    converted = imported(tmp_path, text, sections=("/dev/sda",))
    assert "--device /dev/sda" in converted.command_line
    assert converted.mapped["filename"] == "--device; it is the name of the job, as in fio"
    named = imported(tmp_path, text, sections=("/dev/x:y",))
    assert "--device /dev/sdx" in named.command_line
    # fio opens the existing device; it does not create a file with that name.
    how = ("--name=/dev/zero", "--ioengine=null", "--size=4k", f"--write_iolog={tmp_path}/log")
    assert fio(*how, folder=tmp_path).returncode == 0
    assert (tmp_path / "log").read_text().splitlines()[1].split()[-2:] == ["/dev/zero", "add"]


def test_a_number_of_zones_is_as_many_times_their_size() -> None:
    planned = plan(rw="write", zonemode="zbd", zonesize="64m", size="4z", offset="2Z")
    assert planned.streams[0]["asu"] == {"start": 128 << 20, "size": 256 << 20}
    assert plan(rw="write", zonemode="zbd", size="0z").streams[0].get("asu") is None


def test_zones_are_those_of_the_device(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    queue = tmp_path / "nullb0/queue"
    queue.mkdir(parents=True)
    (queue / "chunk_sectors").write_text("8192\n")
    (queue / "zoned").write_text("host-managed\n")
    monkeypatch.setattr(normal, "BLOCKS", tmp_path)
    options = {"rw": "write", "zonemode": "zbd", "size": "4z", "filename": "/dev/nullb0"}
    assert plan(**options).streams[0]["asu"] == {"start": 0, "size": 16 << 20}
    (queue / "zoned").write_text("none\n")
    assert plan(**options).streams[0]["asu"] == {"start": 0, "size": "4z"}


def test_zones_of_a_character_device_are_those_of_its_block_device(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    queue = tmp_path / "nvme3n1/queue"
    queue.mkdir(parents=True)
    (queue / "chunk_sectors").write_text("8192\n")
    (queue / "zoned").write_text("host-managed\n")
    monkeypatch.setattr(normal, "BLOCKS", tmp_path)
    options = {"rw": "write", "zonemode": "zbd", "size": "4z", "filename": "/dev/ng3n1"}
    planned = plan(**options | {"ioengine": "io_uring_cmd"})
    assert planned.streams[0]["asu"] == {"start": 0, "size": 16 << 20}


@pytest.mark.parametrize(
    ("options", "ios"),
    [
        ({"zonemode": "strided", "zonesize": "4k", "zoneskip": "4k", "size": "8z"}, 8),
        # fio knows no zones then, and does all of the file.
        ({"size": "4z"}, 64),
    ],
)
def test_fio_has_as_many_zones(options: dict[str, Any], ios: int, tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(bytes(256 << 10))
    log = tmp_path / "log"
    words = [f"--{name}={value}" for name, value in options.items()]
    words += [f"--filename={tmp_path}/f", f"--write_iolog={log}", "--rw=read", "--bs=4k"]
    assert fio("--name=a", "--thread", *words).returncode == 0
    assert sum(" read " in line for line in log.read_text().splitlines()) == ios
    planned = plan(rw="read", **options)
    assert (planned.amount or 64) == ios
    assert (normal.NO_ZONES in "".join(planned.differences)) == ("zonemode" not in options)


def test_a_range_of_delays_is_the_middle_of_it() -> None:
    planned = plan(startdelay="5-10")
    assert planned.delay_ns == 7_500_000_000
    assert any(
        "starts after 7500ms, the middle" in difference for difference in planned.differences
    )
    assert plan(startdelay="5ms-9").delay_ns == 4_502_500_000
    alike = plan(startdelay="5s-5s")
    assert alike.delay_ns == 5_000_000_000
    assert not any("startdelay" in difference for difference in alike.differences)
    done = fio("--name=a", "--ioengine=null", "--size=4k", "--startdelay=5ms-10ms")
    assert done.returncode == 0


DEPTHS = {
    **{"iodepth": 32, "iodepth_batch": 8, "iodepth_batch_complete_min": 4},
    **{"iodepth_batch_complete_max": 9, "iodepth_low": 2},
}


@pytest.mark.parametrize(("size", "depth"), [("1m", 1), ("32m", 2)])
@pytest.mark.parametrize("engine", ["psync", "sync", "pvsync2", "sg"])
def test_an_engine_that_waits_ignores_all_options_of_the_depth(
    engine: str, size: str, depth: int
) -> None:
    planned = plan(rw="write", bs=size, ioengine=engine, filename="/dev/sda", **DEPTHS)
    assert (planned.arrivals[0]["depth"], planned.run.get("batch")) == (depth, None)
    waits = f"ioengine {engine}" + " on a block device" * (engine == "sg")
    assert (
        f"{waits} ignores {', '.join(DEPTHS)}: one I/O at a time for each clone"
        in planned.differences
    )
    assert {planned.mapped[name] for name in DEPTHS} == {
        f"nothing: {waits} has one I/O at a time, as in fio"
    }
    assert not any("iodepth_low: the depth" in difference for difference in planned.differences)


# fio's engines/sg.c, of 3.33 and since: sgio_unbuffered() makes fio_sgio_queue() read the end of
# each command, trims as well, before it returns.
@pytest.mark.parametrize("kind", ["randread", "write"])
@pytest.mark.parametrize(
    ("options", "cause"),
    [
        ({"filename": "/dev/sg0", "direct": 1}, "with direct=1"),
        ({"filename": "/dev/sg0", "rw": "randtrim"}, "with direct=1"),
        ({"filename": "/dev/sg0:/dev/sg1", "buffered": 0}, "with direct=1"),
        ({"filename": "/dev/sg0", "direct": 0, "sync": 1}, "with sync"),
        ({"filename": "/dev/sg0", "direct": 0, "sync": "dsync"}, "with sync"),
        ({"filename": "/dev/sg0", "sync": 1}, "with direct=1 and sync"),
        ({"filename": "/dev/sg0:/dev/sda", "direct": 0}, "on a block device"),
    ],
)
def test_sg_waits_for_each_command(options: dict[str, Any], cause: str, kind: str) -> None:
    planned = plan(**{"ioengine": "sg", "rw": kind, **options, **DEPTHS})
    assert (planned.arrivals[0]["depth"], planned.run.get("batch")) == (1, None)
    assert {planned.mapped[name] for name in DEPTHS} == {
        f"nothing: ioengine sg {cause} has one I/O at a time, as in fio"
    }


def test_an_option_of_the_depth_that_has_no_effect_is_not_ignored() -> None:
    planned = plan(ioengine="psync", iodepth=1, iodepth_batch=1, iodepth_low=0)
    assert not any("ignores" in difference for difference in planned.differences)
    with pytest.raises(UsageError, match="iodepth: '0'"):
        plan(ioengine="psync", iodepth=0)


@pytest.mark.parametrize(
    "options",
    [
        {"ioengine": "libaio", "filename": "/dev/sda"},
        {"ioengine": "sg", "filename": "/dev/sg0:/dev/sg1", "direct": 0},
        {"ioengine": "sg", "filename": "/dev/sg0", "buffered": 1, "sync": "none"},
        # A thread for each I/O of the depth submits it.
        {"ioengine": "psync", "io_submit_mode": "offload"},
    ],
)
def test_other_engines_have_the_depth(options: dict[str, Any]) -> None:
    planned = plan(iodepth=32, **options)
    assert planned.arrivals[0]["depth"] == 32
    assert not any("ignores" in difference for difference in planned.differences)


def test_fio_has_one_io_outstanding_with_such_an_engine(tmp_path: Path) -> None:
    words = ("--name=a", "--filename=f", "--ioengine=psync", "--iodepth=8", "--size=64k")
    done = fio(*words, "--iodepth_batch=4", "--output-format=json", folder=tmp_path)
    levels = json.loads(done.stdout[done.stdout.index("{") :])["jobs"][0]["iodepth_level"]
    assert levels["1"] == 100.0


def test_a_large_block_is_several_ios(tmp_path: Path) -> None:
    text = "[j]\ndirect=1\nioengine=libaio\nrw=read\nbs=32m\niodepth=3\nsize=1g\n"
    converted = imported(tmp_path, text)
    (stream,) = tables(converted)["stream"]
    assert (stream["pattern"], stream["size"]) == ("sequential", 16 << 20)
    assert tables(converted)["arrival"][0]["depth"] == 6
    assert any(
        "32 MiB are sent as 2 I/Os of 16 MiB each" in difference
        for difference in converted.differences
    )


@pytest.mark.parametrize(
    ("options", "stream", "arrival"),
    [
        (
            {"rw": "randwrite", "bs": "48m"},
            {"pattern": "runs", "size": 16 << 20, "run_length": 64 << 20},
            {"depth": 3},
        ),
        (
            {"rw": "randread:2", "bs": "32m", "ioengine": "psync", "iodepth": 9},
            {"pattern": "runs", "size": 16 << 20, "run_length": 80 << 20},
            {"depth": 2},
        ),
        (
            {"rw": "write", "bs": "17m", "rate_iops": 10, "number_ios": 7},
            {"pattern": "sequential", "size": 17 << 19},
            {"rate": 20},
        ),
        (
            {"rw": "randwrite", "bs": "32m", "ioengine": "psync", "zonemode": "zbd"},
            {"pattern": "write-pointer", "size": 16 << 20},
            {"depth": 2},
        ),
    ],
)
def test_a_large_block_has_its_place_and_rate(
    options: dict[str, Any], stream: dict[str, Any], arrival: dict[str, Any]
) -> None:
    planned = plan(**options)
    assert stream.items() <= planned.streams[0].items()
    assert arrival.items() <= planned.arrivals[0].items()
    if "number_ios" in options:
        assert planned.amount == 14


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"rw": "read", "bs": "32m,64m"}, "its directions have different sizes"),
        ({"rw": "read", "bs": 33554432 + 1}, "it is no multiple of a size that an I/O can have"),
        ({"rw": "read:4k", "bs": "32m"}, "the gap between them"),
        ({"rw": "randread", "bs": "32m", "zonemode": "zbd"}, "zones"),
        ({"rw": "write", "bs": "32m", "zonemode": "strided", "zonesize": "32m"}, "zones"),
        ({"rw": "write", "bs": "32m", "thinktime": 100}, "the pauses between them"),
        ({"rw": "randtrimwrite", "bs": "32m"}, "rw=randtrimwrite"),
    ],
)
def test_large_blocks_that_cannot_be_divided(options: dict[str, Any], why: str) -> None:
    with pytest.raises(UsageError, match="bs: an I/O of spek has at most 16 MiB.*: " + why):
        plan(**options)


def test_a_trim_of_a_zone_is_refused_by_its_meaning() -> None:
    for size in ("256m", "4k"):
        with pytest.raises(UsageError, match="rw: a trim of a zone is its reset"):
            plan(rw="randtrim", bs=size, zonemode="zbd")


def test_a_job_without_such_notations_stays() -> None:
    options = {"ioengine": "libaio", "rw": "randread", "bs": "16m", "iodepth": "4"}
    options |= {"startdelay": "5", "size": "1g"}
    normalized = normal.of(Job("j", dict(options)))
    assert (list(normalized.job.options.items()), normalized.differences) == (
        list(options.items()),
        [],
    )


@pytest.mark.parametrize("text", ["1ms,900s", "1ms-900s", "1ms:900s"])
def test_fio_takes_the_first_of_several_pauses(text: str) -> None:
    words = ("--name=a", "--ioengine=null", "--size=16k", "--bs=4k", f"--thinktime={text}")
    # A pause of the other length would end in the timeout of the run.
    assert fio(*words).returncode == 0
    planned = plan(rw="read", thinktime=text)
    assert planned.arrivals[0]["think"] == "1ms"
    assert planned.mapped["thinktime"].endswith(
        f"of '{text}' fio takes the first value, and no range"
    )
    assert plan(rw="read", thinktime="1ms").mapped["thinktime"] == "arrival.think"


def test_a_trim_of_several_blocks_is_several_discards() -> None:
    trims = {"ioengine": "io_uring_cmd", "rw": "randtrim", "size": "10m", "bs": "4k"}
    planned = plan(**trims, iodepth=32, num_range=8, rate_iops=100)
    assert planned.arrivals[0]["rate"] == 800
    planned = plan(**trims, iodepth=32, num_range=8)
    assert planned.arrivals[0]["depth"] == 256 and planned.mapped["num_range"] == "arrival.depth"
    (told,) = [text for text in planned.differences if text.startswith("num_range")]
    assert "a trim of 8 blocks is sent as 8 discards, at 8 times the depth; " in told
    assert planned.amount == plan(**trims).amount == 2560
    with pytest.raises(UsageError, match="num_range: "):
        plan(**trims, num_range="x")
    write = plan(rw="write", size="1m", num_range=8)
    assert write.arrivals[0]["depth"] == 1 and "num_range" not in write.mapped


@pytest.mark.parametrize(
    ("options", "keys"),
    [
        ({"thinktime_blocks": 4}, {"depth": 32, "pause_every": 32, "pause_counts": "completed"}),
        (
            {"thinktime_blocks": 4, "thinktime_blocks_type": "issue"},
            {"depth": 32, "pause_every": 32, "pause_counts": None},
        ),
        # Pauses after each trim: fio waits for all outstanding ones before.
        ({}, {"depth": 8, "pause_every": 8, "pause_counts": None}),
        ({"thinktime_blocks": 0}, {"depth": 8, "pause_every": 8, "pause_counts": None}),
        ({"thinktime_iotime": "0s"}, {"depth": 8, "pause_every": 8, "pause_counts": None}),
        (
            {"thinktime_blocks": 2, "ioengine": "psync"},
            {"depth": 8, "pause_every": 16, "pause_counts": None},
        ),
        ({"thinktime_iotime": "2s"}, {"depth": 32, "pause_every": None, "pause_after": "2s"}),
        (
            {"thinktime_iotime": "2s", "thinktime_blocks": 1},
            {"depth": 32, "pause_every": 8, "pause_counts": "completed"},
        ),
    ],
)
def test_pauses_are_after_all_discards_of_a_trim(
    options: dict[str, Any], keys: dict[str, Any]
) -> None:
    trims = {"ioengine": "libaio", "rw": "randtrim", "bs": "4k", "iodepth": 4, "num_range": 8}
    planned = plan(**{**trims, "thinktime": "1ms", **options})
    (arrival,) = planned.arrivals
    assert arrival["pause"] == "1ms" and "think" not in arrival
    assert {key: arrival.get(key) for key in keys} == keys
    alone = "ioengine" not in options and arrival["depth"] == 8
    assert (arrivals.PAUSES in planned.differences) == alone


def test_trims_of_several_blocks_have_no_pauses_beside_a_rate() -> None:
    trims = {"ioengine": "libaio", "rw": "randtrim", "bs": "4k", "num_range": 8}
    for rate in ("rate", "rate_iops"):
        for blocks in (1, 4):
            with pytest.raises(UsageError, match=r"^num_range, thinktime: .* 8 discards,"):
                plan(**trims, thinktime="1ms", thinktime_blocks=blocks, **{rate: "100k"})
    assert plan(**trims, thinktime="0us", rate_iops=10).arrivals[0]["rate"] == 80
    with pytest.raises(UsageError, match="thinktime: "):
        plan(**trims, thinktime="soon")


@pytest.mark.parametrize(
    ("options", "count"),
    [({"rw": "randtrim", "num_range": 8}, 8), ({"rw": "write", "bs": "32m"}, 2)],
)
def test_batches_have_as_many_times_the_ios(options: dict[str, Any], count: int) -> None:
    bursts = {"iodepth_batch": 4, "iodepth_batch_complete_min": 3, "iodepth_low": 2}
    planned = plan(ioengine="libaio", iodepth=4, **options, **bursts)
    assert planned.run["batch"] == 4 * count and planned.arrivals[0]["depth"] == 4 * count
    assert any(f"fio waits for {3 * count} I/Os" in text for text in planned.differences)
    assert any(f"when {2 * count} I/Os are left" in text for text in planned.differences)
    assert any(f"{count} times the depth and batch" in text for text in planned.differences)
    large = plan(ioengine="libaio", iodepth=4, **options | {"iodepth_batch": 200})
    assert large.run["batch"] == 256 and "batches are of 256 I/Os at most" in large.differences
    with pytest.raises(UsageError, match="iodepth_low: "):
        plan(ioengine="libaio", **options, iodepth_low="x")


@pytest.mark.parametrize(
    "options",
    [
        {"rw": "read", "bs": "4k", "zonesize": "4k", "zoneskip": "4k"},
        {"rw": "randtrim", "bs": "4k", "num_range": "8", "thinktime": "1ms"},
        {"rw": "write", "bs": "32m"},
    ],
)
def test_no_option_is_reported_that_the_file_lacks(options: dict[str, str | None]) -> None:
    planned = fio_job.plan_of(Job("j", options))
    assert planned.mapped.keys() | planned.not_needed.keys() == options.keys()


@pytest.mark.parametrize(
    "words",
    [
        "--rw=randread",
        "--rw=randwrite --size=512k --offset=64k",
        "--rw=randread --norandommap",
        "--rw=randread --percentage_random=0,50",
        "--rw=randread --random_distribution=zipf:1.1",
        "--rw=randwrite --bs=8k --blockalign=2k",
    ],
)
def test_a_random_job_without_random_ios_is_sequential_as_in_fio(
    tmp_path: Path, words: str
) -> None:
    words = words if "percentage_random" in words else f"{words} --percentage_random=0"
    options = "\n".join(word.removeprefix("--") for word in words.split())
    converted = imported(tmp_path, f"{HEAD}{options}\n")
    (only,) = tables(converted)["stream"]
    assert only["pattern"] == "sequential"
    assert converted.mapped["rw"].endswith("; sequential, as in fio, because percentage_random=0")
    assert converted.mapped["percentage_random"] == "stream.pattern"
    assert issued_by_import(converted, 1 << 20) == issued_by_fio(tmp_path, words, 1 << 20)


@pytest.mark.parametrize(
    "option",
    ["loops=2", "norandommap=1", "blockalign=2k", "random_generator=lfsr", "io_size=2m"],
)
def test_later_passes_begin_at_a_random_place_in_fio(tmp_path: Path, option: str) -> None:
    words = "--rw=randread --bs=4k --percentage_random=0"
    words += "" if option in ("loops=2", "io_size=2m") else " --loops=2"
    blocks = [place for _, place, _ in sequence_by_fio(tmp_path, f"{words} --{option}", 1 << 20)]
    assert blocks[:256] == [*range(0, 1 << 20, 4096)] and blocks[256:] != blocks[:256]
    name, _, value = option.partition("=")
    planned = plan(rw="randread", percentage_random=0, **{name: value})
    assert normal.LATER_PASSES in planned.differences
    assert normal.LATER_PASSES not in plan(rw="randread", percentage_random=1).differences


# Reads of the first pass, and whether the next one begins at the start.
@pytest.mark.parametrize(
    ("option", "reads_of_pass", "at_start"),
    [("norandommap=1", 256, False), ("rwmixread=80", 256, False), ("rwmixread=50", 232, True)],
)
def test_later_passes_of_a_direction_begin_as_the_report_says_of_fio(
    tmp_path: Path, option: str, reads_of_pass: int, at_start: bool
) -> None:
    words = f"--rw=randrw --bs=4k --percentage_random=0,100 --loops=3 --{option}"
    reads = [at for way, at, _ in sequence_by_fio(tmp_path, words, 1 << 20) if way == "read"]
    assert reads[:reads_of_pass] == [*range(0, reads_of_pass * 4096, 4096)]
    after = reads[reads_of_pass]
    assert after != reads_of_pass * 4096 and (after == 0) == at_start
    name, _, value = option.partition("=")
    planned = plan(rw="randrw", percentage_random="0,100", loops=3, **{name: value})
    assert planned.streams[0]["pattern"] == "sequential"
    assert places.LATER_PASSES in planned.differences
    assert places.LATER_PASSES not in plan(rw="randrw", percentage_random="1,100").differences


def test_a_direction_without_random_ios_is_sequential() -> None:
    reads, writes = plan(rw="randrw", percentage_random="0,100", size="1m").streams
    assert (reads["pattern"], writes["pattern"]) == ("sequential", "once")
    reads, writes = plan(rw="randrw", percentage_random="0", size="1m").streams
    assert (reads["pattern"], writes["pattern"]) == ("sequential", "sequential")
    assert plan(rw="randread", percentage_random="0").streams[0]["pattern"] == "sequential"
    (half,) = plan(rw="randread", percentage_random="50").streams
    assert (half["pattern"], half["sequential"]) == ("uniform", "50%")


LFSR = "--rw=randread --random_generator=lfsr --norandommap"


@pytest.mark.parametrize(
    "words",
    [
        *("--bs=4k", "--bs=8k --size=512k --offset=256k", "--loops=2", "--rw=randwrite"),
        *("--io_size=2m", "--zonemode=strided --zonesize=16k", "--randrepeat=0"),
    ],
)
def test_a_shift_register_repeats_no_block_without_a_map_either(tmp_path: Path, words: str) -> None:
    words = f"{LFSR} {words}"
    options = "\n".join(word.removeprefix("--") for word in words.split())
    converted = imported(tmp_path, f"{HEAD}{options}\n")
    assert converted.mapped["norandommap"].startswith("nothing: with random_generator=lfsr")
    by_fio = issued_by_fio(tmp_path, words, 1 << 20)
    assert issued_by_import(converted, 1 << 20) == by_fio and len(set(by_fio.values())) == 1


@pytest.mark.parametrize("words", ["--rw=randread:4", "--rw=randread --percentage_random=50"])
def test_ios_that_continue_those_of_a_shift_register_may_repeat_blocks(
    tmp_path: Path, words: str
) -> None:
    by_fio = issued_by_fio(tmp_path, f"{words} --bs=4k --random_generator=lfsr", 1 << 20)
    assert by_fio.total() == 256 and len(by_fio) < 200
    options = "\n".join(word.removeprefix("--") for word in words.split())
    converted = imported(tmp_path, f"{HEAD}{options}\nrandom_generator=lfsr\n")
    (only,) = tables(converted)["stream"]
    assert only.get("pattern") == ("runs" if ":" in words else None)
    assert "norandommap" not in converted.mapped
    assert not any("random map" in text for text in converted.differences)


def test_blocks_of_a_shift_register_are_as_large_as_they_are_aligned(tmp_path: Path) -> None:
    words = "--rw=randread --bs=4k --random_generator=lfsr --blockalign={}"
    (tmp_path / "large").mkdir()
    assert not issued_by_fio(tmp_path / "large", words.format("8k"), 1 << 20)
    by_fio = issued_by_fio(tmp_path, words.format("2k"), 1 << 20)
    assert max(place for _, place, _ in by_fio) < 1 << 19
    with pytest.raises(UsageError, match="blockalign: with random_generator=lfsr fio counts"):
        plan(rw="randread", random_generator="lfsr", blockalign="2k")
    assert plan(rw="read", random_generator="lfsr", blockalign="2k").streams
