# SPDX-License-Identifier: GPL-2.0
"""One job as streams and an arrival process. fio goes where the workload says."""

from __future__ import annotations

import json
import os
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lib.ctl.fio_jobs import HEAD, fio, imported, stream, tables

from spekctl.errors import UsageError
from spekctl.fio import job as fio_job
from spekctl.fio.jobfile import Job
from spekctl.fio.options import REFUSED
from spekctl.workload.values import DATA_KEYS, SIZES_MAX, STREAMS_MAX


def test_flushes_count_as_ios(tmp_path: Path) -> None:
    """8 MiB in writes of 4 KiB, and a flush after every eighth."""
    text = HEAD + "rw=write\nbs=4k\nsize=8m\nfsync=8\n"
    made = tables(imported(tmp_path, text))
    assert made["run"]["count"] == 2048 + 256
    assert [one.get("share", 1) for one in made["stream"]] == [8, 1]


def test_reads_are_not_flushed_and_not_forced(tmp_path: Path) -> None:
    found = imported(tmp_path, HEAD + "rw=randread\nfsync=1\nsync=1\n")
    assert stream(found).keys() & {"operation", "fua"} == set()
    assert found.mapped.keys() >= {"fsync", "sync"}


@pytest.mark.parametrize(
    ("options", "found"),
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
def test_writes_have_data_as_asked(tmp_path: Path, options: str, found: dict[str, str]) -> None:
    made = imported(tmp_path, HEAD + "rw=randwrite\n" + options)
    assert {key: one for key, one in stream(made).items() if key in DATA_KEYS} == found
    reads = imported(tmp_path, HEAD + "rw=randread\n" + options)
    assert not stream(reads).keys() & set(DATA_KEYS)


def test_numbers_of_the_machine(tmp_path: Path) -> None:
    found = imported(tmp_path, HEAD + "rw=randread\nnorandommap\niodepth=$ncpus\nbs=$pagesize*2\n")
    assert tables(found)["arrival"][0]["depth"] == os.cpu_count()
    assert stream(found)["size"] == 2 * os.sysconf("SC_PAGE_SIZE")


def test_several_devices_have_a_part_of_the_size_each(tmp_path: Path) -> None:
    text = HEAD + "filename=/dev/a:/dev/b\nrw=randread\nsize=1g\noffset=4k\n"
    found = imported(tmp_path, text)
    assert found.command_line == ["--device /dev/a", "--device /dev/b"]
    assert (stream(found)["start"], stream(found)["range"]) == (8192, 1 << 30)
    assert any("striped" in one for one in found.differences)


def test_an_amount_of_several_sizes_is_a_count_of_their_mean(tmp_path: Path) -> None:
    found = imported(tmp_path, HEAD + "rw=randread\nbssplit=4k/50:12k/50\nsize=8m\n")
    assert tables(found)["run"]["count"] == 1024
    assert any("mean block size" in one for one in found.differences)


@pytest.mark.parametrize(
    ("options", "count"),
    [
        ("size=8m\nnumber_ios=100\n", 100),
        ("size=8m\nnumber_ios=5000\n", 2048),
        ("size=8m\nio_size=1m\nnumber_ios=5000\n", 256),
        ("size=50%\nnumber_ios=5000\n", 5000),
        ("size=8m\nloops=3\nnumber_ios=5000\n", 5000),
        ("size=8m\nloops=2\nnumber_ios=5000\n", 4096),
        ("size=8m\nnumjobs=2\nnumber_ios=5000\n", 4096),
    ],
)
def test_a_job_ends_by_the_amount_that_comes_first(
    tmp_path: Path, options: str, count: int
) -> None:
    found = imported(tmp_path, HEAD + "rw=randread\nbs=4k\n" + options)
    assert tables(found)["run"]["count"] == count
    assert not any("mean block size" in one for one in found.differences)


def test_a_job_without_direct_is_imported_and_told(tmp_path: Path) -> None:
    found = imported(tmp_path, "[j]\nrw=randread\nruntime=5\n")
    assert any("page cache" in one for one in found.differences)
    assert not any("page cache" in one for one in imported(tmp_path, HEAD).differences)


# --- fio goes where the workload says ------------------------------------------------------------


def places(tmp_path: Path, text: str) -> list[list[tuple[str, int]]]:
    """(direction, first byte) of each I/O of fio itself, for each clone, in the order of the first
    ones; nothing is touched."""
    path, log = tmp_path / "job.fio", tmp_path / "log"
    options = {"filename=/dev/sdx": "thread=0", "ioengine=libaio": "ioengine=null"}
    options["direct=1"] = f"write_iolog={log}"
    path.write_text("\n".join(options.get(one, one) for one in text.splitlines()) + "\n")
    log.unlink(missing_ok=True)
    done = fio(path)
    assert done.returncode == 0, done.stderr
    found: list[list[tuple[str, int]]] = []
    for line in log.read_text().splitlines():
        words = line.split()
        if words[-1] == "open":
            found.append([])
        elif words[2:3] in (["read"], ["write"]):
            found[-1].append((words[2], int(words[3])))
    return sorted(found, key=lambda clone: clone[0][1])


def test_fio_leaves_the_gap_that_the_stride_has(tmp_path: Path) -> None:
    text = HEAD + "rw=read:60k\nbs=4k\nsize=10m\noffset=1m\nnumber_ios=50\n"
    table = stream(imported(tmp_path, text))
    (seen,) = places(tmp_path, text)
    expected = [table["start"] + index * table["stride"] for index in range(50)]
    assert [place for _, place in seen] == expected


def test_fio_has_a_place_for_each_direction(tmp_path: Path) -> None:
    text = HEAD + "rw=rw\nbs=4k\nsize=10m\nnumber_ios=200\n"
    assert len(tables(imported(tmp_path, text))["stream"]) == 2
    (seen,) = places(tmp_path, text)
    for direction in ("read", "write"):
        own = [place for one, place in seen if one == direction]
        assert own == [index * 4096 for index in range(len(own))] and len(own) > 50


def test_fio_starts_clones_where_the_streams_start(tmp_path: Path) -> None:
    text = HEAD + "rw=write\nbs=4k\nsize=1m\noffset=4k\noffset_increment=2m\nnumjobs=3\n"
    text += "number_ios=3\n"
    starts = [one["start"] for one in tables(imported(tmp_path, text))["stream"]]
    assert [clone[0][1] for clone in places(tmp_path, text)] == starts


def test_fio_makes_runs_of_the_length_that_they_have(tmp_path: Path) -> None:
    text = HEAD + "rw=randread:8\nbs=4k\nsize=100m\nnumber_ios=80\n"
    assert stream(imported(tmp_path, text))["run_length"] == 8 * 4096
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


def test_a_file_size_is_the_region_and_the_size_an_amount(tmp_path: Path) -> None:
    text = HEAD + "rw=randread\nbs=4k\nfilesize=4m\noffset=1m\nsize=512k\n"
    made = imported(tmp_path, text)
    assert (stream(made)["start"], stream(made)["range"]) == (1 << 20, 3 << 20)
    (seen,) = places(tmp_path, text)
    assert len(seen) == 128 == tables(made)["run"]["count"]
    assert all(1 << 20 <= place < 4 << 20 for _, place in seen)
    assert max(place for _, place in seen) - min(place for _, place in seen) > 1 << 20
    for wrong in ("offset=10%\nfilesize=4m\n", "offset=4m\nfilesize=4m\n"):
        with pytest.raises(UsageError, match="filesize: the offset is"):
            imported(tmp_path, HEAD + wrong)


# --- the plan of a job ---------------------------------------------------------------------------


def plan(**options: Any) -> fio_job.Plan:
    made = {name: None if value is None else str(value) for name, value in options.items()}
    return fio_job.plan_of(Job("j", {"ioengine": "libaio", "direct": "1", **made}))


def shares_of(made: fio_job.Plan) -> dict[int, int]:
    return {one["size"]: one["share"] for one in made.streams[0]["sizes"]}


@given(st.lists(st.integers(1, 50), min_size=2, max_size=8))
def test_weights_of_sizes_are_in_proportion(parts: list[int]) -> None:
    parts = [*parts[:-1], 100 - sum(parts[:-1])] if 100 - sum(parts[:-1]) > 0 else [40, 60]
    split = ":".join(f"{index}k/{part}" for index, part in enumerate(parts, start=1))
    found = shares_of(plan(rw="randread", bssplit=split))
    total = sum(found.values())
    assert {size: Fraction(often, total) for size, often in found.items()} == {
        index << 10: Fraction(part, 100) for index, part in enumerate(parts, start=1)
    }


def test_sizes_without_a_share_have_equal_parts_of_the_rest() -> None:
    made = plan(rw="randread", bssplit="4k/50:8k:16k/:32k/0")
    assert shares_of(made) == {4096: 2, 8192: 1, 16384: 1}


def test_a_range_has_as_many_sizes_as_a_stream_can_have() -> None:
    made = plan(rw="randread", bsrange=f"512-{512 * SIZES_MAX}")
    assert len(made.streams[0]["sizes"]) == SIZES_MAX
    with pytest.raises(UsageError, match=rf"bsrange: .* at most {SIZES_MAX} are allowed"):
        plan(rw="randread", bsrange=f"512-{512 * (SIZES_MAX + 1)}")


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
    reads, writes = (told[one]["total_ios"] for one in ("read", "write"))
    assert 100 * reads / (reads + writes) == pytest.approx(share, abs=3)


@given(st.integers(1, 10**9), st.integers(1, 50), st.integers(1, 64))
def test_a_rate_in_bytes_is_one_of_the_mean_size(rate: int, share: int, clones: int) -> None:
    split = f"4k/{share}:64k/{100 - share}"
    made = plan(rw="randread", norandommap=None, bssplit=split, rate=rate, numjobs=clones)
    mean = Fraction(4096 * share + 65536 * (100 - share), 100)
    assert made.arrival["law"] == "constant"
    assert made.arrival["rate"] == pytest.approx(float(clones * rate / mean))


def test_a_rate_of_each_direction() -> None:
    assert plan(rw="write", rate_iops="500,200").arrival["rate"] == 200
    assert plan(rw="read", rate_iops="500,200").arrival["rate"] == 500
    assert plan(rw="write", rate_iops=500).arrival["rate"] == 500
    with pytest.raises(UsageError, match="rate_iops: a rate of 0 is none"):
        plan(rw="read", rate_iops=0)


@pytest.mark.parametrize(
    ("options", "amount"),
    [
        ({"size": "1m"}, 256),
        ({"size": "1m", "loops": 3, "numjobs": 2}, 1536),
        ({"size": "1m", "io_size": "4m"}, 1024),
        ({"size": "50%"}, None),
        ({"size": "1m", "number_ios": 10, "numjobs": 2}, 20),
        ({"size": 1024}, 1),
        ({"size": "1m", "runtime": 5}, None),
        ({}, None),
    ],
)
def test_a_job_ends_after_its_amount_unless_after_its_time(
    options: dict[str, Any], amount: int | None
) -> None:
    made = plan(rw="read", **options)
    assert (made.amount, made.run.get("time")) == (amount, "5s" if "runtime" in options else None)
    assert (fio_job.ENDS in made.differences) == ("runtime" in options)


def test_clones_that_are_alike_are_one_stream() -> None:
    made = plan(rw="randread", norandommap=None, iodepth=8, numjobs=1000)
    assert (len(made.streams), made.arrival["depth"]) == (1, 8000)
    assert len(plan(rw="write", numjobs=STREAMS_MAX).streams) == STREAMS_MAX
    with pytest.raises(UsageError, match=f"numjobs: its clones need {STREAMS_MAX + 1} streams"):
        plan(rw="write", numjobs=STREAMS_MAX + 1)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"numjobs": 0}, "numjobs: '0' is not a whole number from 1"),
        ({"iodepth": 0}, "iodepth: '0' is not a whole number from 1"),
        ({"kb_base": 512}, "kb_base: it is 1000 or 1024, not 512"),
        ({"rw": "randread", "bssplit": "4k/40:8k/50"}, "sum to 90, not to 100"),
        ({"bsrange": "8k-4k"}, "bsrange: '8k-4k' is not a range of multiples of 512"),
        ({"bsrange": "4k"}, "bsrange: '4k' is not a range"),
        ({"bs": "4k,0"}, "bs: 0 bytes are not a multiple of 512"),
        ({"rw": "randread:2", "bsrange": "4k-8k"}, "rw: runs need one block size"),
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
            "one for each direction is not supported",
        ),
        ({"rate_process": "pareto", "rate": 5}, "'pareto' is neither linear nor poisson"),
        ({"thinktime": 5, "rate_iops": 5}, "thinktime: it excludes a rate"),
        ({"thinktime": 5, "thinktime_blocks": 2}, "thinktime_blocks: pauses are after each I/O"),
        ({"offset": "10%", "offset_increment": "1m"}, "offset_increment: the offset is in per"),
        ({"cpus_allowed": "3-1"}, "cpus_allowed: "),
    ],
)
def test_a_value_that_cannot_be_mapped_is_refused(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UsageError, match=re.escape(sentence)):
        plan(**options)


def test_every_refused_option_is_refused_by_its_name() -> None:
    for name, why in REFUSED.items():
        for accept in (False, True):
            one = Job("j", {"ioengine": "libaio", name: "1"})
            assert fio_job.refusals(one, accept) == [f"{name}: {why}"]


def test_an_option_is_mapped_not_needed_or_of_no_effect() -> None:
    made = plan(rw="read", runtime=5, norandommap=None, group_reporting=None)
    assert made.mapped.keys() >= {"rw", "runtime", "ioengine", "direct"}
    assert made.not_needed["norandommap"] == "no effect on a job of this kind, as in fio"
    assert made.not_needed.keys() == {"norandommap", "group_reporting"}


def test_cpus_of_a_mask_are_listed() -> None:
    assert "--cpus 0,2-3" in plan(cpumask=0b1101).command_line
    assert "--cpus 0-1,3" in plan(cpus_allowed="0,1,3").command_line


def test_a_seed_is_drawn_if_no_run_is_to_repeat() -> None:
    assert "--seed $RANDOM" in plan(randrepeat=0).command_line
    assert "--seed 5" in plan(randrepeat=0, randseed=5).command_line
    assert not [one for one in plan().command_line if one.startswith("--seed")]
