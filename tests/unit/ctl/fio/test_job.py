# SPDX-License-Identifier: GPL-2.0
"""One job as streams and an arrival process. fio goes where the workload says."""

from __future__ import annotations

import json
import os
import re
import subprocess
from fractions import Fraction
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lib.ctl.fio_jobs import HEAD, fio, imported, places, plan, stream, tables

from spekctl.errors import UsageError
from spekctl.fio import around, arrivals
from spekctl.fio import job as fio_job
from spekctl.fio import places as fio_places
from spekctl.fio.defaults import NEEDS
from spekctl.fio.jobfile import Job
from spekctl.fio.options import REFUSED
from spekctl.workload import striped
from spekctl.workload.values import DATA_KEYS


def test_flushes_count_as_ios(tmp_path: Path) -> None:
    """8 MiB in writes of 4 KiB, and a flush after every eighth."""
    text = HEAD + "rw=write\nbs=4k\nsize=8m\nfsync=8\n"
    sections = tables(imported(tmp_path, text))
    assert sections["run"]["count"] == 2048 + 256
    assert [entry.get("share", 1) for entry in sections["stream"]] == [8, 1]


@pytest.mark.parametrize(
    ("options", "rate"),
    [
        ({"rw": "write", "fsync": 1, "rate_iops": 200}, 400),
        ({"rw": "write", "fdatasync": 4, "rate": "1m"}, 320),
        ({"rw": "randrw", "fsync": 2, "rate_iops": 10, "rwmixread": 100}, 10),
        ({"rw": "write", "fsync": 3, "rate_iops": 100}, 133.33333333333334),
    ],
)
def test_writes_keep_their_rate_beside_flushes(options: dict[str, Any], rate: float) -> None:
    planned = plan(**options)
    assert planned.arrivals[0]["rate"] == rate
    shares = [stream["share"] for stream in planned.streams if "operation" not in stream]
    given = planned.arrivals[0]["rate"] * sum(shares)
    given /= sum(stream["share"] for stream in planned.streams)
    of_writes = {"1m": 256}.get(str(options.get("rate")), options.get("rate_iops"))
    assert given == pytest.approx(of_writes)


def test_pauses_keep_their_sum_beside_flushes() -> None:
    every = plan(rw="write", fsync=1, thinktime="1ms")
    assert every.arrivals[0]["think"] == "500us" and fio_job.THINK in every.differences
    fourth = plan(rw="write", fsync=4, thinktime="1ms")
    assert fourth.arrivals[0]["think"] == "800us"
    assert fio_job.THINK not in plan(rw="write", thinktime="1ms").differences


@pytest.mark.parametrize("kind", ["randread", "trim"])
def test_an_option_of_writes_goes_nowhere_in_other_jobs(kind: str) -> None:
    options = {"sync": 1, "atomic": 1, "write_hint": "short", "fsync": 4, "fdatasync": 4}
    options |= {"buffer_compress_percentage": 50, "dedupe_percentage": 50, "buffer_pattern": '"x"'}
    planned = plan(rw=kind, **options)
    assert {planned.mapped[name] for name in options} == {fio_job.NONE_HAS_IT}
    written = plan(rw="write", **{name: options[name] for name in ("sync", "atomic", "fsync")})
    assert written.mapped["sync"] == "stream.fua" and written.mapped["fsync"] == fio_job.FLUSHED


def test_a_share_of_reads_goes_nowhere_in_a_job_of_one_direction() -> None:
    for kind in ("read", "randwrite", "trim"):
        planned = plan(rw=kind, rwmixread=70)
        assert planned.mapped["rwmixread"] == fio_job.ONE_DIRECTION
    assert plan(rw="randrw", rwmixread=70).mapped["rwmixread"] == "stream.read"


def test_reads_are_not_flushed_and_not_forced(tmp_path: Path) -> None:
    converted = imported(tmp_path, HEAD + "rw=randread\nfsync=1\nsync=1\n")
    assert stream(converted).keys() & {"operation", "fua"} == set()
    assert converted.mapped.keys() >= {"fsync", "sync"}


@pytest.mark.parametrize(
    ("options", "data"),
    [
        ("buffer_compress_percentage=50\n", {"compressible": "50%"}),
        ("dedupe_percentage=30\n", {"duplicate": "30%"}),
        ("buffer_pattern=0xdeadbeef\n", {"fill": "0xdeadbeef"}),
        (
            "buffer_compress_percentage=40\ndedupe_percentage=30\nbuffer_pattern=0xff\n",
            {"compressible": "40%", "duplicate": "30%", "fill": "0xff"},
        ),
        # As fio: no place for the pattern, and duplicates of what is all fill.
        ("dedupe_percentage=30\nbuffer_pattern=0xff\n", {"duplicate": "30%"}),
        ("buffer_compress_percentage=100\ndedupe_percentage=3\n", {"compressible": "100%"}),
        ("buffer_compress_percentage=0\ndedupe_percentage=0\n", {}),
        ("buffer_compress_percentage=50\nverify=crc32c\n", {}),
    ],
)
def test_writes_have_data_as_asked(tmp_path: Path, options: str, data: dict[str, str]) -> None:
    converted = imported(tmp_path, HEAD + "rw=randwrite\n" + options)
    assert {key: value for key, value in stream(converted).items() if key in DATA_KEYS} == data
    reads = imported(tmp_path, HEAD + "rw=randread\n" + options)
    assert not stream(reads).keys() & set(DATA_KEYS)


@pytest.mark.parametrize(
    ("pattern", "fill"),
    [
        ('"abcd"', "0x61626364"),
        ('"a b"0xDEad"c"', "0x612062DEad63"),
        ("0Xff", "0xff"),
    ],
)
def test_a_pattern_of_letters_is_the_bytes_that_fio_writes(
    tmp_path: Path, pattern: str, fill: str
) -> None:
    written = tmp_path / "written"
    how = ("--name=a", f"--filename={written}", "--rw=write", "--bs=4k", "--size=4k")
    assert fio(*how, "--ioengine=psync", f"--buffer_pattern={pattern}").returncode == 0
    unit = bytes.fromhex(fill[2:])
    assert written.read_bytes() == (unit * 4096)[:4096]
    converted = imported(tmp_path, HEAD + f"rw=write\nbuffer_pattern={pattern}\n")
    assert stream(converted)["fill"] == fill


@pytest.mark.parametrize(
    "pattern", ["abcd", '"ab', "0xabc", "0x", '""', "123", '"' + 65 * "a" + '"']
)
def test_a_pattern_that_is_none_is_refused(pattern: str) -> None:
    with pytest.raises(
        UsageError, match=r"buffer_pattern: '.*' is not a fill; write 0x and 1 to 64"
    ):
        plan(rw="write", buffer_pattern=pattern)


def test_numbers_of_the_machine(tmp_path: Path) -> None:
    converted = imported(
        tmp_path, HEAD + "rw=randread\nnorandommap\niodepth=$ncpus\nbs=$pagesize*2\n"
    )
    assert tables(converted)["arrival"][0]["depth"] == os.cpu_count()
    assert stream(converted)["size"] == 2 * os.sysconf("SC_PAGE_SIZE")


def test_several_devices_have_a_part_of_the_size_each(tmp_path: Path) -> None:
    text = HEAD.replace("/dev/sdx", "/dev/a:/dev/b") + "rw=randread\nsize=1g\noffset=4k\n"
    converted = imported(tmp_path, text)
    assert converted.command_line == ["--device /dev/a", "--device /dev/b", "--max-errors 1"]
    # Each has half a GiB behind its offset, of which a part of a stripe at both ends is left out.
    assert (stream(converted)["start"], stream(converted)["range"]) == (1 << 17, (1 << 30) - 131072)
    assert any("striped" in difference for difference in converted.differences)
    assert (
        "offset, size: bytes 65536 to 536870912 of each device are used, in whole stripes of 64"
        " KiB; the file allows bytes 4096 to 536875008"
    ) in converted.differences
    whole = imported(tmp_path, text.replace("4k", "64k"))
    assert (stream(whole)["start"], stream(whole)["range"]) == (1 << 17, 1 << 30)
    assert not any("whole stripes" in difference for difference in whole.differences)


@pytest.mark.parametrize(
    ("options", "spans"),
    [
        ("offset=100k\nbs=24k\n", [(11 * 24576, None)]),
        ("offset=4k\nfilesize=1m\n", [(131072, (2 << 20) - 131072)]),
        ("offset=5k\nsize=100%\n", [(131072, None)]),
        (
            "offset=4k\noffset_increment=1m\nsize=1m\nnumjobs=2\nrw=read\n",
            [(131072, (1 << 20) - 131072), (131072 + (2 << 20), (1 << 20) - 131072)],
        ),
    ],
)
def test_no_device_of_several_is_used_outside_its_range(
    tmp_path: Path, options: str, spans: list[tuple[int, int | None]]
) -> None:
    head = HEAD.replace("/dev/sdx", "/dev/a:/dev/b") + "rw=randread\nruntime=5\ntime_based\n"
    converted = imported(tmp_path, head + options)
    streams = tables(converted)["stream"]
    assert [(each["start"], each.get("range")) for each in streams] == spans
    assert any("of each device are used, in whole stripes" in t for t in converted.differences)


def test_several_devices_without_room_for_a_block_are_refused(tmp_path: Path) -> None:
    text = HEAD.replace("/dev/sdx", "/dev/a:/dev/b") + "rw=randread\nsize=64k\n"
    with pytest.raises(UsageError, match="offset, size: bytes 0 to 32768 of each device have no"):
        imported(tmp_path, text)


def test_shares_of_several_devices_are_of_all_together(tmp_path: Path) -> None:
    head = HEAD.replace("/dev/sdx", "/dev/a:/dev/b") + "rw=randread\nruntime=5\ntime_based\n"
    for options, start in (("offset=10%\n", "10%"), ("offset=4k\nsize=50%\n", 131072)):
        converted = imported(tmp_path, head + options)
        assert stream(converted)["start"] == start
        assert striped.SHARES.format("64 KiB") in converted.differences


def test_an_amount_of_several_sizes_is_a_count_of_their_mean(tmp_path: Path) -> None:
    converted = imported(tmp_path, HEAD + "rw=randread\nbssplit=4k/50:12k/50\nsize=8m\n")
    assert tables(converted)["run"]["count"] == 1024
    assert any("mean block size" in difference for difference in converted.differences)


@pytest.mark.parametrize(
    ("options", "count"),
    [
        ("size=8m\nnumber_ios=100\n", 100),
        ("size=8m\nnumber_ios=5000\n", 2048),
        ("size=8m\nio_size=1m\nnumber_ios=5000\n", 256),
        ("size=50%\nnumber_ios=5000\n", 5000),
        ("size=8m\nloops=3\nnumber_ios=5000\n", 6144),
        ("size=8m\nloops=2\nnumber_ios=5000\n", 4096),
        ("size=8m\nnumjobs=2\nnumber_ios=5000\n", 4096),
    ],
)
def test_a_job_ends_by_the_amount_that_comes_first(
    tmp_path: Path, options: str, count: int
) -> None:
    converted = imported(tmp_path, HEAD + "rw=randread\nbs=4k\n" + options)
    given = tables(converted)
    own = sum(arrival.get("count") or 0 for arrival in given["arrival"])
    assert (given["run"].get("count") or own) == count
    assert not any("mean block size" in difference for difference in converted.differences)


def test_a_job_without_direct_is_imported_and_told(tmp_path: Path) -> None:
    converted = imported(tmp_path, "[j]\nrw=randread\nruntime=5\n")
    assert any("page cache" in difference for difference in converted.differences)
    assert not any(
        "page cache" in difference for difference in imported(tmp_path, HEAD).differences
    )


# --- fio goes where the workload says ------------------------------------------------------------


# --- the plan of a job ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "share"),
    [
        ({"rwmixread": 80}, 80),
        ({"rwmixwrite": 80}, 20),
        ({"rwmixwrite": 90, "rwmixread": 80}, 80),
        ({"rwmixread": 80, "rwmixwrite": 90}, 10),
        ({}, 50),
        ({"rw": "randread", "rwmixwrite": 90}, 100),
        ({"rw": "randwrite", "rwmixread": 90}, 0),
    ],
)
def test_the_share_of_reads_is_that_of_fio(options: dict[str, Any], share: int) -> None:
    """Of both options the later one counts."""
    options = {"rw": "randrw", "size": "16m", **options}
    assert plan(**options).streams[0]["read"] == f"{share}%"
    words = [f"--{name}={value}" for name, value in options.items()]
    done = fio("--name=a", "--ioengine=null", *words, "--output-format=json")
    (told,) = json.loads(done.stdout)["jobs"]
    reads, writes = (told[way]["total_ios"] for way in ("read", "write"))
    assert 100 * reads / (reads + writes) == pytest.approx(share, abs=3)


@given(st.integers(1, 10**9), st.integers(1, 50), st.integers(1, 64))
def test_a_rate_in_bytes_is_one_of_the_mean_size(rate: int, share: int, clones: int) -> None:
    split = f"4k/{share}:64k/{100 - share}"
    timed = {"time_based": None, "runtime": 1}  # clones that end by their size have a rate each
    of_sizes = {"norandommap": None, "bssplit": split}
    planned = plan(rw="randread", **of_sizes, rate=rate, numjobs=clones, **timed)
    mean = Fraction(4096 * share + 65536 * (100 - share), 100)
    (arrival,) = planned.arrivals
    assert arrival["law"] == "constant"
    assert arrival["rate"] == pytest.approx(float(clones * rate / mean))


@pytest.mark.parametrize(
    ("rw", "rate", "per_second"),
    [
        ("write", "500,200", 200),
        ("read", "500,200", 500),
        ("write", "500", 500),
        ("trim", "500,200,100", 100),
        ("trim", ",,100", 100),
        ("read", "0", None),
        ("read", ",500", None),
        ("write", "500,", None),
    ],
)
def test_a_rate_of_a_direction(rw: str, rate: str, per_second: int | None) -> None:
    (arrival,) = plan(rw=rw, rate_iops=rate, iodepth=8).arrivals
    closed = {"law": "closed", "depth": 8}
    assert arrival == ({"law": "constant", "rate": per_second} if per_second else closed)


@pytest.mark.parametrize(
    ("rate", "reads", "writes"), [("300", 300, 300), ("400,100", 400, 100), ("300,", 300, None)]
)
def test_reads_and_writes_keep_a_rate_each_as_in_fio(
    tmp_path: Path, rate: str, reads: int, writes: int | None
) -> None:
    """Whatever rwmixread is; a direction without a rate has none."""
    planned = plan(rw="randrw", rwmixread=75, rate_iops=rate, iodepth=4, numjobs=2)
    of_writes = {"law": "constant", "rate": 2 * writes} if writes else {"law": "closed", "depth": 8}
    assert planned.arrivals == [{"law": "constant", "rate": 2 * reads}, of_writes]
    assert {stream["read"]: stream.get("arrival", 0) for stream in planned.streams} == {
        "100%": 0,
        "0%": 1,
    }
    assert fio_job.MIX not in planned.differences
    words = ("--rw=randrw", "--rwmixread=75", f"--rate_iops={rate}", "--size=64m", "--runtime=1")
    # A clock of its own would be measured at its start, on a machine that may be busy.
    timed = ("--time_based", "--clocksource=clock_gettime", "--output-format=json")
    done = fio("--name=a", "--ioengine=null", *words, *timed)
    (told,) = json.loads(done.stdout)["jobs"]
    # A busy machine takes as much from both.
    sent = {side: told[side]["total_ios"] for side in ("read", "write")}
    assert 0 < sent["read"] <= reads * 1.02 + 1
    if writes:
        expected = sent["read"] * writes / reads
        assert abs(sent["write"] - expected) <= 0.15 * expected + 1
    else:
        assert sent["write"] > 10 * sent["read"]


def test_clones_with_a_rate_share_that_and_no_depth() -> None:
    timed = {"rw": "randread", "numjobs": 4, "runtime": 5, "time_based": 1}
    with_rate = plan(rate_iops=100, **timed).differences
    assert fio_job.CLONES_RATE in with_rate and fio_job.CLONES not in with_rate
    without = plan(**timed).differences
    assert fio_job.CLONES in without and fio_job.CLONES_RATE not in without


def test_streams_of_two_rates_have_a_process_each(tmp_path: Path) -> None:
    text = HEAD + "rw=randrw\nrate_iops=400,100\nrate_process=poisson\nruntime=5\n"
    sections = tables(imported(tmp_path, text))
    assert [
        (arrival["name"], arrival["law"], arrival["rate"]) for arrival in sections["arrival"]
    ] == [
        ("j", "poisson", 400),
        ("j.2", "poisson", 100),
    ]
    assert [(entry["read"], entry["arrival"]) for entry in sections["stream"]] == [
        ("100%", "j"),
        ("0%", "j.2"),
    ]
    with pytest.raises(UsageError, match="fsync: reads and writes have rates of their own"):
        imported(tmp_path, text + "fsync=8\n")


def test_a_pause_after_every_io_leaves_a_depth_of_one() -> None:
    planned = plan(rw="randread", iodepth=16, thinktime=1000, thinktime_spin=10, numjobs=2)
    assert planned.arrivals == [{"law": "closed", "depth": 1, "think": "1ms"}] * 2
    assert arrivals.PAUSES in planned.differences
    words = ("--rw=randread", "--iodepth=16", "--thinktime=1000", "--size=64m", "--runtime=1")
    done = fio("--name=a", "--ioengine=null", *words, "--time_based", "--output-format=json")
    (told,) = json.loads(done.stdout)["jobs"]
    assert told["iodepth_level"]["1"] == pytest.approx(100, abs=1)


@pytest.mark.parametrize(
    ("options", "sizes"),
    [
        ({"rw": "randrw"}, [8192]),
        ({"rw": "rw"}, [4096, 4096]),
        ({"rw": "rw", "bs_is_seq_rand": 0}, [4096, 8192]),
    ],
)
def test_block_sizes_of_orders_instead_of_directions(
    options: dict[str, Any], sizes: list[int]
) -> None:
    planned = plan(**{"bs": "4k,8k", "bs_is_seq_rand": 1, **options})
    assert [stream["size"] for stream in planned.streams] == sizes


def test_atomic_writes_are_those_of_the_writes() -> None:
    atomic = [stream.get("atomic") for stream in plan(rw="rw", atomic=1).streams]
    assert atomic == [None, True]
    assert "atomic" not in plan(rw="write", atomic=0).streams[0]
    assert "atomic" not in plan(rw="trim", atomic=1).streams[0]


def test_a_write_hint_is_that_of_writes() -> None:
    hints = [stream.get("write_hint") for stream in plan(rw="rw", write_hint="short").streams]
    assert hints == [None, "short"]
    assert "write_hint" not in plan(rw="trim", write_hint="long").streams[0]


def test_a_namespace_has_a_block_device_as_well(tmp_path: Path) -> None:
    text = HEAD.replace("/dev/sdx", "/dev/ng0n1").replace("libaio", "io_uring_cmd")
    converted = imported(tmp_path, text + "cmd_type=nvme\nrw=randread\nruntime=5\n")
    assert converted.command_line == ["--device /dev/nvme0n1", "--max-errors 1"]
    assert arrivals.PASSTHROUGH in converted.differences and "cmd_type" in converted.mapped
    with pytest.raises(UsageError, match="cmd_type: 'ata' is neither nvme nor bsg"):
        imported(tmp_path, text + "cmd_type=ata\n")


@pytest.mark.parametrize(
    ("service", "runs", "told"),
    [
        ("", {1}, "takes them in turn, for an I/O each"),
        ("roundrobin", {1}, "takes them in turn, for an I/O each"),
        ("roundrobin:4", {4}, "takes them in turn, for 4 I/Os each"),
        ("random", set(), "draws the one of an I/O"),
        ("random:3", set(), "draws the one of 3 I/Os"),
        ("zipf:1.2", set(), "draws them by a zipf distribution, unequally often"),
    ],
)
def test_fio_serves_devices_as_the_report_says(
    tmp_path: Path, service: str, runs: set[int], told: str
) -> None:
    for name in "ab":
        (tmp_path / name).write_bytes(bytes(1 << 18))
    words = ["--name=j", "--thread", "--filename=a:b", "--size=512k", "--write_iolog=log"]
    words += [f"--file_service_type={service}"] if service else []
    assert fio(*words, "--ioengine=psync", "--rw=randread", folder=tmp_path).returncode == 0
    lines = (tmp_path / "log").read_text().splitlines()
    served = [line.split()[1] for line in lines if line.split()[2:3] == ["read"]]
    lengths = {len([*group]) for _, group in groupby(served)}
    assert len(served) == 128 and (lengths == runs if runs else len(lengths) > 1)
    options = {"file_service_type": service} if service else {}
    several = plan(filename="/dev/a:/dev/b", rw="randread", **options)
    assert fio_job.DEVICES.format(told) in several.differences
    single = plan(filename="/dev/a", rw="randread", **options)
    assert not any("striped" in text for text in single.differences)
    with pytest.raises(UsageError, match="file_service_type: sequential covers the devices one"):
        plan(filename="/dev/a:/dev/b", file_service_type="sequential")
    with pytest.raises(UsageError, match="file_service_type: 'any' is not roundrobin, random"):
        plan(filename="/dev/a:/dev/b", file_service_type="any")


@pytest.mark.parametrize(
    ("kind", "ends", "told"),
    [
        ("none", True, False),
        ("0", True, False),
        ("verify", True, False),
        ("io", False, False),
        ("1", False, False),
        ("write", False, True),
    ],
)
def test_errors_end_a_job_unless_it_continues(kind: str, ends: bool, told: bool) -> None:
    planned = plan(continue_on_error=kind)
    assert ("--max-errors 1" in planned.command_line) == ends
    assert (planned.mapped["continue_on_error"] == "--max-errors") == ends
    assert any(f"those of {kind}s" in text for text in planned.differences) == told
    with pytest.raises(UsageError, match="continue_on_error: 'some' is not none, read, write, io"):
        plan(continue_on_error="some")


def test_cpus_of_a_node_are_those_of_this_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "node1").mkdir()
    (tmp_path / "node1/cpulist").write_text("4-7,12\n")
    monkeypatch.setattr(fio_job, "NODES", tmp_path)
    assert "--cpus 4-7,12" in plan(numa_cpu_nodes=1).command_line
    several, _ = plan(numa_cpu_nodes="1-2").command_line
    assert (
        several == f"--cpus $(cat {tmp_path}/node1/cpulist {tmp_path}/node2/cpulist | paste -sd,)"
    )
    (tmp_path / "node2").mkdir()
    (tmp_path / "node2/cpulist").write_text("9\n")
    done = subprocess.run(
        ["bash", "-c", f"echo {several}"], capture_output=True, text=True, check=True
    )
    assert done.stdout == "--cpus 4-7,12,9\n"
    assert plan(numa_cpu_nodes="all").command_line == ["--max-errors 1"]


def test_files_with_names_are_as_many_as_names(tmp_path: Path) -> None:
    """fio writes one file, and all of it."""
    assert fio_job.refusals(Job("j", {"filename": "/dev/sdx", "nrfiles": "4"}), False) == []
    assert fio_job.refusals(Job("j", {"nrfiles": "4"}), False) != []
    words = (f"--filename={tmp_path}/f", "--nrfiles=4", "--size=64k", "--rw=write")
    assert fio("--name=a", *words).returncode == 0
    assert [path.stat().st_size for path in tmp_path.glob("f*")] == [65536]


def test_batches_are_as_large_as_they_can_be() -> None:
    assert plan(iodepth_batch=8).run["batch"] == 8
    planned = plan(iodepth=4096, iodepth_batch=4096)
    assert planned.run["batch"] == fio_job.BATCH_MAX
    assert any("batches are of" in difference for difference in planned.differences)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"iodepth_batch_complete_min": 32}, "fio waits for 32 I/Os and then sends as many"),
        ({"iodepth_batch_complete": 200}, "fio waits for 64 I/Os and then sends as many"),
        ({"iodepth_low": 8}, "fio fills it up again when 8 I/Os are left"),
    ],
)
def test_bursts_are_not_lost_without_a_word(
    tmp_path: Path, options: dict[str, int], text: str
) -> None:
    ((name, value),) = options.items()
    head = HEAD + f"rw=randread\nruntime=5\n{name}={value}\n"
    told = imported(tmp_path, head + "iodepth=64\n")
    assert any(text in difference for difference in told.differences)
    for quiet in (head, head.replace(f"={value}", "=1") + "iodepth_low=0\niodepth=64\n"):
        if "iodepth_low=1" not in quiet:
            assert not any(
                "the depth is kept" in difference
                for difference in imported(tmp_path, quiet).differences
            )


def test_a_lowest_rate_of_clones_is_that_of_their_sum() -> None:
    assert fio_job.CLONES_TOGETHER in plan(rw="read", rate_min="1m", numjobs=2).differences
    assert fio_job.CLONES_TOGETHER not in plan(rw="read", rate_min="1m").differences


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"numjobs": 0}, "numjobs: '0' is not a whole number from 1"),
        ({"iodepth": 0}, "iodepth: '0' is not a whole number from 1"),
        ({"kb_base": 512}, "kb_base: it is 1000 or 1024, not 512"),
        ({"rw": "randread", "bssplit": "4k/60:8k/50:1m"}, "sum to 110, and sizes have none left"),
        ({"bsrange": "0-4k"}, "bsrange: '0-4k' is not a range of multiples of 512"),
        ({"bsrange": "4k"}, "bsrange: '4k' is not a range"),
        ({"bs": "4k,0"}, "bs: 0 bytes are not a multiple of 512"),
        (
            {"rw": "randread:2", "bssplit": "4k/90:64k/10"},
            "rw: runs of 2 I/Os of these sizes are too short for an I/O of 64 KiB and another",
        ),
        ({"rw": "read:-12k"}, "rw: '-12k' leaves blocks out or repeats them on the way back"),
        ({"rw": "read:-4k"}, "rw: '-4k' leaves blocks out or repeats them on the way back"),
        ({"rw": "read:-8k", "bsrange": "4k-8k"}, "rw: '-8k' leaves blocks out or repeats them"),
        ({"rw": "read:-x"}, "rw: 'x' is not a size"),
        (
            {"rw": "randread", "random_distribution": "zoned_abs:50/4m:50/"},
            "random_distribution: '50/' is not a zone; write SHARE/SIZE",
        ),
        (
            {"rw": "randread", "random_distribution": "zoned:x/50:50/50"},
            "random_distribution: 'x' is not a whole number",
        ),
        (
            {"rw": "randread", "random_distribution": "zipf", "percentage_random": 50},
            "percentage_random: only uniform I/Os can continue",
        ),
        (
            {"rw": "randread", "random_distribution": "zoned:50"},
            "random_distribution: '50' is not a zone; write SHARE/SIZE",
        ),
        (
            {"rw": "randread", "random_distribution": "zipf:inf"},
            "random_distribution: 'inf' is not a number",
        ),
        (
            {"rw": "randread", "random_distribution": "zipf:1.1,random"},
            "random_distribution: '1.1,random' is not a number",
        ),
        (
            {"rw": "read", "cmdprio_percentage": 20},
            "cmdprio_percentage: I/Os of both priorities have one order together",
        ),
        (
            {"rw": "randread", "random_distribution": "zipf", "cmdprio_percentage": 20},
            "cmdprio_percentage: I/Os of both priorities have one order together",
        ),
        (
            {"rw": "randread", "cmdprio_percentage": 20, "cmdprio_class": 4},
            "cmdprio_class: 4 is not a class from 1 to 3",
        ),
        (
            {"rw": "randread", "cmdprio_percentage": 20, "cmdprio": 8},
            "cmdprio: 8 is not a level from 0 to 7",
        ),
        (
            {"rw": "randread", "cmdprio_percentage": 101},
            "cmdprio_percentage: '101' is more than 100 per cent",
        ),
        ({"rate_process": "pareto", "rate": 5}, "'pareto' is neither linear nor poisson"),
        (
            {"thinktime": 5, "thinktime_blocks": 2, "rate": 5},
            "thinktime_blocks, thinktime_iotime: with a rate fio catches up after each pause",
        ),
        (
            {"thinktime": 5, "thinktime_blocks": 2, "numjobs": 17},
            "an arrival process each; at most 16 are allowed, not numjobs=17",
        ),
        (
            {"thinktime": 5, "thinktime_blocks": 2, "thinktime_blocks_type": "both"},
            "thinktime_blocks_type: 'both' is neither complete nor issue",
        ),
        (
            {"rw": "write", "thinktime": 5, "thinktime_blocks": 2, "fsync": 4},
            "fsync: the flushes would count among the I/Os between pauses",
        ),
        ({"offset": "10%", "offset_increment": "1m"}, "offset_increment: the offset is in per"),
        ({"offset": "1m", "offset_increment": "10%"}, "offset_increment: it is in per cent, and"),
        (
            {"rw": "read", "offset": "50%", "offset_increment": "30%", "numjobs": 3},
            "offset_increment: clone 3 is beyond the device",
        ),
        ({"rate": 5, "rate_iops": 5}, "rate: it excludes rate_iops"),
        ({"write_hint": "forever"}, "write_hint: 'forever' is not a hint"),
        ({"prio": 5}, "prio: Linux refuses a level without a prioclass"),
        ({"prioclass": 2, "prio": 8}, "prio: 8 is not a level from 0 to 7"),
        ({"prioclass": 4}, "prioclass: 4 is not a class from 0 to 3"),
        ({"cpus_allowed": "3-1"}, "cpus_allowed: "),
    ],
)
def test_a_value_that_cannot_be_mapped_is_refused(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UsageError, match=re.escape(sentence)):
        plan(**options)


def test_every_refused_option_is_refused_by_its_name() -> None:
    for name, why in REFUSED.items():
        for accept in (False, True):
            needed = NEEDS.get(name, ())[:1]
            needed += NEEDS.get("".join(needed), ())[:1]
            job = Job(
                "j", {"ioengine": "libaio", "rw": "write", name: "7", **dict.fromkeys(needed, "7")}
            )
            names = [text.partition(": ") for text in fio_job.refusals(job, accept)]
            assert any(name in listed.split(", ") and why == told for listed, _, told in names)


@pytest.mark.parametrize("rw", ["randread", "write"])
def test_what_is_done_around_a_job_is_told(rw: str) -> None:
    options = {"exec_prerun": "sync", "exec_postrun": "sync", "ioscheduler": "none"}
    planned = plan(rw=rw, **options)
    for name in options:
        assert around.difference(name) in planned.differences
        assert planned.mapped[name].startswith("nothing: ")
    with pytest.raises(UsageError, match="exec_prerun has no value"):
        plan(rw=rw, exec_prerun="")


def test_an_engine_is_refused_and_its_options_are_not() -> None:
    refusals = fio_job.refusals(
        Job("j", {"ioengine": "rbd", "pool": "x", "directory": "/x"}), False
    )
    assert [refusal.partition(":")[0] for refusal in refusals] == ["directory", "ioengine"]


def test_an_option_is_mapped_not_needed_or_of_no_effect() -> None:
    planned = plan(rw="read", runtime=5, norandommap=None, group_reporting=None)
    assert planned.mapped.keys() >= {"rw", "runtime", "ioengine", "direct"}
    assert planned.not_needed["norandommap"] == "no effect on a job of this kind, as in fio"
    assert planned.not_needed.keys() == {"norandommap", "group_reporting"}


def test_cpus_of_a_mask_are_listed() -> None:
    assert "--cpus 0,2-3" in plan(cpumask=0b1101).command_line
    assert "--cpus 0-1,3" in plan(cpus_allowed="0,1,3").command_line


def test_a_seed_is_drawn_if_no_run_is_to_repeat() -> None:
    assert "--seed $RANDOM" in plan(randrepeat=0).command_line
    assert "--seed 5" in plan(randrepeat=0, randseed=5).command_line
    assert not [option for option in plan().command_line if option.startswith("--seed")]


@pytest.mark.parametrize(
    ("options", "repeats"),
    [
        ({}, False),
        ({"runtime": 5, "time_based": 1}, False),
        ({"loops": 3}, True),
        ({"io_size": "4m"}, True),
        ({"loops": 3, "randrepeat": 0}, False),
        ({"loops": 3, "norandommap": 1}, False),
        ({"runtime": 5, "loops": 3}, True),
        ({"runtime": 5, "time_based": 1, "loops": 3}, False),
        ({"random_generator": "lfsr"}, False),
        ({"random_generator": "lfsr", "runtime": 5, "time_based": 1}, True),
        ({"random_generator": "lfsr", "loops": 3, "randrepeat": 0}, True),
    ],
)
def test_an_order_that_fio_repeats_is_told(options: dict[str, Any], repeats: bool) -> None:
    planned = plan(rw="randread", size="1m", **options)
    assert (fio_places.REPEATED in planned.differences) == repeats


@pytest.mark.parametrize(
    ("options", "repeats"),
    [
        (("--time_based", "--runtime=2", "--rate_iops=200"), False),
        (("--loops=2",), True),
        (("--loops=2", "--randrepeat=0"), False),
        (("--io_size=128k",), True),
        (("--time_based", "--runtime=2", "--rate_iops=200", "--random_generator=lfsr"), True),
    ],
)
def test_fio_repeats_its_order_where_the_report_says_so(
    options: tuple[str, ...], repeats: bool, tmp_path: Path
) -> None:
    log, place = tmp_path / "iolog", f"--filename={tmp_path}/file"
    words = ("--name=j", place, "--size=64k", "--bs=4k", "--rw=randwrite", "--ioengine=psync")
    done = fio(*words, f"--write_iolog={log}", *options)
    assert done.returncode == 0, done.stderr
    lines = [line.split() for line in log.read_text().splitlines()]
    order = [int(words[3]) for words in lines if "write" in words]
    assert len(order) >= 32 and len(set(order[:16])) == len(set(order[16:32])) == 16
    assert (order[:16] == order[16:32]) == repeats


def test_a_flush_at_the_end_is_told_of_a_job_that_writes() -> None:
    for option in ("end_fsync", "fsync_on_close"):
        assert fio_job.END_FLUSH in plan(rw="write", **{option: 1}).differences
        assert fio_job.END_FLUSH not in plan(rw="read", **{option: 1}).differences
        assert fio_job.END_FLUSH not in plan(rw="trim", **{option: 1}).differences
        assert fio_job.END_FLUSH not in plan(rw="write", **{option: 0}).differences


def test_overlapping_ios_are_told_without_verify() -> None:
    assert fio_job.OVERLAPS in plan(rw="randrw", serialize_overlap=1).differences
    checked = plan(rw="randrw", serialize_overlap=1, verify="crc32c")
    assert fio_job.OVERLAPS not in checked.differences
    assert fio_job.OVERLAPS not in plan(rw="randread", serialize_overlap=1).differences


@pytest.mark.parametrize(
    ("options", "is_cached"),
    [
        ({}, True),
        ({"direct": 1}, False),
        ({"buffered": 0}, False),
        # The last one counts.
        ({"direct": 0, "buffered": 0}, False),
        ({"buffered": 1, "direct": 1}, False),
        ({"direct": 1, "buffered": 1}, True),
        ({"buffered": 0, "direct": 0}, True),
    ],
)
def test_the_page_cache_is_what_fio_has(
    tmp_path: Path, options: dict[str, int], is_cached: bool
) -> None:
    (tmp_path / "device").write_bytes(bytes(8192))
    how = [f"--{name}={value}" for name, value in options.items()]
    words = ("--name=a", "--filename=device", "--size=8k", "--bs=1023", "--ioengine=psync")
    # Blocks of an odd size are impossible with O_DIRECT only.
    assert (fio(*words, *how, folder=tmp_path).returncode == 0) is is_cached
    texts = {name: str(value) for name, value in options.items()}
    asked = Job("j", {"ioengine": "psync", **texts})
    assert (fio_job.CACHE in fio_job.plan_of(asked).differences) is is_cached
    (*refusals,) = fio_job.refusals(asked, False)
    assert bool(refusals) is (is_cached and bool(options))
    assert fio_job.refusals(asked, True) == []


@pytest.mark.parametrize(
    "options",
    [{"ioengine": "io_uring_cmd"}, {"ioengine": "sg", "direct": "0"}, {"rw": "trim"}],
)
def test_commands_to_a_device_have_no_page_cache(options: dict[str, str | None]) -> None:
    asked = Job("j", {"ioengine": "libaio", **options})
    assert fio_job.CACHE not in fio_job.plan_of(asked).differences
    assert fio_job.refusals(asked, False) == []


@pytest.mark.parametrize(
    ("words", "repeats"),
    [
        ("size=4m io_size=1m loops=3", False),
        ("size=4m io_size=1m loops=4", False),
        ("size=4m loops=2", True),
        ("size=4m io_size=6m", True),
        ("size=4m io_size=4m", False),
    ],
)
def test_blocks_repeat_in_fios_order_only_beyond_a_pass(
    tmp_path: Path, words: str, repeats: bool
) -> None:
    text = HEAD + "rw=randread\nbs=64k\n" + words.replace(" ", "\n") + "\n"
    # fio opens the device again for each loop of all of it.
    seen = [place for loop in places(tmp_path, text) for place in loop]
    assert (len(seen) > len(set(seen))) is repeats
    assert (fio_places.REPEATED in imported(tmp_path, text).differences) is repeats
