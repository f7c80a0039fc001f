# SPDX-License-Identifier: GPL-2.0
"""When a job ends. The options of `spekctl run` that say so are parsed by what parses them."""

from __future__ import annotations

import itertools
import json
import math
import re
import shlex
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from lib.ctl.fio_jobs import HEAD, fio, imported, issued_by_fio, issued_by_import, plan, tables
from lib.ctl.resolved import DISK

from spekctl import units
from spekctl.errors import UsageError
from spekctl.fio import convert, ends, phases
from spekctl.fio.plan import Plan
from spekctl.workload import endings
from spekctl.workload.imported import Imported
from spekctl.workload.options import Options
from spekctl.workload.resolve import resolve


def given(planned: Plan, option: str) -> list[str]:
    """The values of an option of the command line."""
    words = shlex.split(" ".join(planned.command_line))
    return [value for name, value in itertools.pairwise(words) if name == option]


@pytest.mark.parametrize(
    ("options", "amount"),
    [
        ({"size": "1m"}, 256),
        ({"size": "1m", "loops": 3, "numjobs": 2}, 768),
        ({"size": "1m", "loops": 3, "numjobs": 17}, 17 * 768),
        ({"size": "1m", "io_size": "4m"}, 1024),
        ({"size": "50%"}, None),
        ({"size": "1m", "io_size": "50%"}, 128),
        ({"size": "1m", "number_ios": 10, "numjobs": 2}, 10),
        ({"size": 5120}, 1),
        ({"size": "1m", "runtime": 5}, 256),
        ({"size": "1m", "runtime": 5, "time_based": 1}, None),
        ({}, None),
    ],
)
def test_a_job_ends_after_its_amount_or_its_time(
    options: dict[str, Any], amount: int | None
) -> None:
    planned = plan(rw="read", **options)
    assert (planned.amount, planned.run.get("time")) == (
        amount,
        "5s" if "runtime" in options else None,
    )
    assert ends.ENDS not in planned.differences


def test_a_time_with_an_amount_of_the_device_ends_by_either() -> None:
    by_device = plan(rw="randread", size="50%", runtime=5)
    assert (by_device.passes, by_device.run["time"]) == (1, "5s")
    assert plan(rw="randread", size="50%", runtime=5, time_based=1).passes is None


def test_an_amount_that_has_no_number_beside_a_time_is_told() -> None:
    passes = {"rw": "read:8k", "bs": "12k"}
    planned = plan(runtime=5, **passes)
    assert (planned.amount, planned.passes, planned.run["time"]) == (None, None, "5s")
    assert ends.ENDS in planned.differences
    with pytest.raises(UsageError, match="passes of the range"):
        plan(**passes)


@pytest.mark.parametrize(("io_size", "count", "of_fio"), [("1m", 512, 512), ("6m", 3072, 2048)])
def test_loops_of_an_amount_are_those_of_fio_within_the_device(
    tmp_path: Path, io_size: str, count: int, of_fio: int
) -> None:
    words = f"--rw=read --bs=4k --io_size={io_size} --loops=2"
    assert issued_by_fio(tmp_path, words, 4 << 20).total() == of_fio
    planned = plan(rw="read", io_size=io_size, loops=2)
    assert planned.amount == count
    # Where it does not fit, fio counts loops of the device: the report says so.
    assert ends.LOOPED in planned.differences


@pytest.mark.parametrize(
    ("options", "covers"),
    [
        ("rw=randrw bs=4k,64k", False),
        ("rw=randwrite bs=4k,64k", False),
        ("rw=randread bs=4k,64k", True),
        ("rw=randwrite bs=64k,4k", True),
        ("rw=randtrim bs=4k,4k,16k", False),
        ("rw=randrw bssplit=8k/50:16k/50,4k/100", False),
        ("rw=randrw bs=4k,64k blockalign=4k", True),
        ("rw=randrw bs=4k,64k norandommap=1", True),
        ("rw=randread bsrange=8k-12k", False),
        ("rw=randread bssplit=4k/50:64k/50", True),
    ],
)
def test_fio_ends_early_where_the_report_says_so(options: str, covers: bool) -> None:
    given = dict(word.split("=") for word in options.split())
    size = 64 << 20
    words = [f"--{name}={text}" for name, text in given.items()]
    done = fio("--name=a", "--ioengine=null", f"--size={size}", *words, "--output-format=json")
    assert done.returncode == 0, done.stderr
    (job,) = json.loads(done.stdout[done.stdout.index("{") :])["jobs"]
    assert (sum(job[way]["io_bytes"] for way in ("read", "write", "trim")) >= size) == covers
    for amount in ("64m", "100%"):
        planned = plan(**given, size=amount)
        assert (ends.EARLY in planned.differences) != covers
        assert not {ends.EARLY, ends.MEAN} <= set(planned.differences)
    assert ends.EARLY not in plan(**given, number_ios=50).differences


def ends_of(converted: Imported) -> list[tuple[int | None, int | float | None]]:
    run = converted.workload.run
    assert (run.time, run.count, run.passes) == ("5s", None, None)
    return [(arrival.count, arrival.passes) for arrival in converted.workload.arrival]


def test_jobs_side_by_side_with_a_time_end_by_that_at_the_latest(tmp_path: Path) -> None:
    text = HEAD + "runtime=5\n[a]\nrw=read\nsize=1m\n[b]\nrw=read\nruntime=5\ntime_based\n"
    converted = imported(tmp_path, text)
    assert ends_of(converted) == [(None, 1), (256, None), (None, None)]
    assert phases.TIMED in converted.differences and ends.ENDS not in converted.differences


def test_jobs_on_one_device_end_by_their_time_or_their_own_ios(tmp_path: Path) -> None:
    converted = imported(tmp_path, HEAD + "runtime=5\nsize=1m\n[a]\nrw=read\nruntime=5\nsize=3m\n")
    assert ends_of(converted) == [(256, None), (3 * 256, None)]
    assert not {convert.SUM, ends.ENDS} & set(converted.differences)
    shares = imported(tmp_path, HEAD + "runtime=5\nloops=2\n[a]\nrw=read\nruntime=5\nloops=2\n")
    assert ends_of(shares) == [(None, 2), (None, 2)]
    assert convert.SUM not in shares.differences


def test_jobs_on_devices_of_their_own_end_by_their_own(tmp_path: Path) -> None:
    text = HEAD + "runtime=5\nsize=1m\n[a]\nfilename=/dev/a\nruntime=5\nrw=write\nloops=3\n"
    (tmp_path / "job.fio").write_text(text)
    first, second = convert.load_steps(tmp_path / "job.fio")
    assert second.beside
    run, other = first.workload.run, second.workload.run
    assert (run.time, run.count, run.passes) == ("5s", 256, None)
    assert (other.time, other.count, other.passes) == ("5s", None, 3)
    for step in (first, second):
        assert not {convert.SUM, ends.ENDS} & set(step.differences)


def test_an_amount_of_several_phases_ends_none_of_them(tmp_path: Path) -> None:
    text = HEAD + "runtime=5\nsize=1m\n[k]\ndirect=1\nrw=read\nruntime=9\nsize=2m\n"
    (tmp_path / "job.fio").write_text(text)
    both, last = convert.load_steps(tmp_path / "job.fio")
    assert [(step.workload.run.time, step.workload.run.count) for step in (both, last)] == [
        *(("5s", None), ("4s", None)),
    ]
    assert ends.ENDS in both.differences and ends.ENDS in last.differences


# Options of a job on a device of 2 MiB, and whether that is in blocks of 4 KiB what fio does.
AS_FIO = (
    *("--rw=write", "--rw=write --loops=2", "--rw=randwrite --size=100% --loops=2"),
    *("--rw=write --size=50%", "--rw=read --size=50% --offset=50%", "--rw=read --size=0"),
    *("--rw=read --size=50% --offset=75%", "--rw=read --offset=25% --loops=2"),
    *("--rw=read --io_size=50%", "--rw=read --offset=25% --io_size=50%"),
    *("--rw=randread --size=50% --io_size=50% --loops=3", "--rw=read --size=1m --io_size=50%"),
    *("--rw=randwrite --size=512k --io_size=2m", "--rw=write --size=1m --io_size=3m --loops=2"),
    *("--rw=read --io_size=512k", "--rw=read --io_size=5m", "--rw=randrw --io_size=3m"),
    *("--rw=randread --norandommap --size=1m --io_size=3m --loops=2", "--rw=randread --bs=12k"),
    *("--rw=randread --norandommap --size=100%", "--rw=read --bs=12k --loops=2"),
    *("--rw=read --filesize=1m", "--rw=read --filesize=1m --offset=512k"),
    *("--rw=read --filesize=1m --size=256k", "--rw=read --filesize=1m --size=2m"),
    *("--rw=read --filesize=1m --size=50%", "--rw=read --filesize=512k --io_size=2m"),
    *("--rw=randread --number_ios=10", "--rw=randread --number_ios=10 --loops=3"),
    *("--rw=read --size=1m --number_ios=200 --loops=2", "--rw=read --size=1m --number_ios=300"),
    *("--rw=read:60k --size=1m", "--rw=read:60k --size=1m --loops=3", "--rw=read:60k"),
    *("--rw=read:60k --size=50%", "--rw=read:60k --offset=512k", "--rw=read:60k --loops=2"),
    *("--rw=read:60k --size=1m --io_size=256k", "--rw=read:60k --size=1m --io_size=40k"),
    *("--rw=read:60k --size=1m --number_ios=5 --loops=2", "--rw=read:60k --size=1000k"),
    *("--rw=randread:8", "--rw=rw", "--rw=randread --numjobs=3", "--rw=read --numjobs=3"),
    *("--rw=read --numjobs=3 --offset_increment=512k", "--rw=write --numjobs=2 --size=1m"),
    *("--rw=read --numjobs=3 --offset_increment=25%", "--rw=write --size=1m --time_based"),
    "--rw=read --zonemode=strided --zonesize=4k --zoneskip=12k",
    "--rw=read --zonemode=strided --zonesize=4k --zoneskip=12k --size=1m --io_size=2m",
    "--rw=read --zonemode=strided --zonesize=64k --zonerange=16k --zoneskip=16k --loops=2",
    "--rw=read --zonemode=strided --zonesize=16k --zonerange=64k --size=50% --io_size=50%",
    "--rw=randread --zonemode=strided --zonesize=12k --zoneskip=20k --size=512k",
    "--rw=read --zonemode=strided --zonesize=12k --zoneskip=20k",
    "--rw=randread --zonemode=strided --zonesize=128k --norandommap --io_size=3m",
    "--rw=randrw --rate_iops=100k,100k",
    "--rw=randread --numjobs=2 --rate_iops=100k",
)


@pytest.mark.parametrize("words", AS_FIO)
def test_a_job_does_as_many_ios_as_that_of_fio(tmp_path: Path, words: str) -> None:
    size = 2 << 20
    how = ("--name=a", "--thread", "--ioengine=psync", "--filename=device", "--output-format=json")
    done = fio(*how, *words.split(), folder=tmp_path, device_bytes=size)
    jobs = json.loads(done.stdout[done.stdout.index("{") :])["jobs"]
    ios = sum(job[way]["total_ios"] for job in jobs for way in ("read", "write"))
    options = "\n".join(word.removeprefix("--") for word in words.split())
    converted = imported(tmp_path, f"{HEAD}{options}\n")
    writes = "--write" in converted.command_line
    target = replace(DISK, bytes=size)
    config = resolve(converted.workload, Options(available_cpus=(0,), write=writes), [target])
    count = config.count or sum(arrival.count for arrival in config.arrivals)
    assert (config.time_ns, count) == (0, ios)


GAPS = "--rw=read --zonemode=strided --zonesize=64k --zoneskip=64k"
STRIDED = "--rw=read --zonemode=strided --zonesize=4k --zoneskip=12k"
# Jobs on a device of 2 MiB that do the same I/Os as fio's, each as often.
THE_SAME = (
    *("--rw=write", "--rw=read --size=50%", "--rw=randwrite", "--rw=randread --loops=2"),
    *("--rw=randread --io_size=1m --size=512k --randrepeat=0", "--rw=write --filesize=1m"),
    *("--rw=write --filesize=1m --size=256k --offset=128k", "--rw=read --size=33%"),
    *("--rw=read:60k", "--rw=read:60k --size=1m --io_size=128k", "--rw=read:60k --size=1m"),
    *("--rw=read:60k --offset=256k --size=512k", "--rw=read:60k --offset=512 --size=1m"),
    *(STRIDED, STRIDED + " --size=4z", STRIDED + " --size=256k", STRIDED + " --size=50%"),
    *(STRIDED + " --size=25% --loops=2", STRIDED + " --size=256k --offset=512k"),
    *(STRIDED + " --filesize=1m", STRIDED + " --size=50% --io_size=50%"),
    STRIDED + " --size=512k --numjobs=2",
    *(GAPS, GAPS + " --size=50%", GAPS + " --size=256k --loops=3", GAPS + " --size=1m --offset=1m"),
    *(GAPS + " --zonerange=192k", GAPS + " --io_size=512k", GAPS + " --size=512k --numjobs=2"),
    *(GAPS.replace("read", "randwrite"), GAPS.replace("read", "randread") + " --loops=3"),
    GAPS.replace("read", "randread") + " --size=1m --numjobs=2",
    *("--rw=read --bs=16k --numjobs=3", "--rw=randread --numjobs=3 --size=256k --loops=2"),
    *(
        "--rw=read --numjobs=3 --size=512k --offset_increment=512k",
        "--rw=write --bs=16k --numjobs=16",
    ),
    "--rw=read --bs=16k --numjobs=3 --offset_increment=25%",
    "--rw=randwrite --numjobs=2 --size=100k",
    "--rw=randread --numjobs=2 --size=64k --rate_iops=100k",
    "--rw=randread --numjobs=2 --size=64k --thinktime=10",
    *("--rw=randread --size=10000", "--rw=write --bs=12k", "--rw=randwrite --bs=12k"),
    *("--rw=randread --thinktime=10 --thinktime_blocks=16", "--rw=write --blockalign=8k"),
    "--rw=randread --thinktime=10 --thinktime_blocks=16 --numjobs=2 --size=512k",
    *("--rw=read --offset=100k --bs=12k", "--rw=randread --offset=12k --size=1m --bs=8k"),
    *("--rw=randread --size=1m --number_ios=256", "--rw=write --size=1m --bs=64k --loops=3"),
)


@pytest.mark.parametrize("words", THE_SAME)
def test_a_job_does_the_same_ios_as_that_of_fio(tmp_path: Path, words: str) -> None:
    options = "\n".join(word.removeprefix("--") for word in words.split())
    converted = imported(tmp_path, f"{HEAD}{options}\n")
    assert issued_by_import(converted, 2 << 20) == issued_by_fio(tmp_path, words, 2 << 20)


# Jobs whose I/Os are drawn: what is said of them holds for both, in bytes and in places.
DRAWN = {
    "--rw=randwrite --blockalign=8k --size=1m": 8192,
    "--rw=randread --blockalign=8k --size=512k --loops=2": 8192,
    "--rw=randwrite --blockalign=512 --bs=8k --size=1m": 512,
    "--rw=randwrite --norandommap --bs=8k": 8192,
    "--rw=randread --bssplit=4k/50:16k/50": 4096,
    "--rw=read --bssplit=4k/50:8k/50 --numjobs=2 --size=512k": 4096,
}


@pytest.mark.parametrize(("words", "align"), DRAWN.items())
def test_a_job_whose_ios_are_drawn_does_as_many_bytes_at_such_places(
    tmp_path: Path, words: str, align: int
) -> None:
    options = "\n".join(word.removeprefix("--") for word in words.split())
    converted = imported(tmp_path, f"{HEAD}{options}\n")
    ours, theirs = issued_by_import(converted, 2 << 20), issued_by_fio(tmp_path, words, 2 << 20)
    both = (ours, theirs)
    # The shares of sizes are kept on average.
    by_mean = 0.1 if ends.MEAN in converted.differences else 0
    mine, those = (sum(length * often for (*_, length), often in seen.items()) for seen in both)
    assert mine == pytest.approx(those, rel=by_mean)
    for seen in both:
        assert math.gcd(*(place for _, place, _ in seen)) == align
    if "blockalign" in words:
        # There is no map, so that places repeat.
        assert all(max(seen.values()) > 1 for seen in both)


def test_the_end_of_a_job_is_part_of_the_report() -> None:
    relative = plan(rw="write", size="100%", loops=2, bs="4k")
    assert (relative.passes, relative.amount) == (2, None)
    assert relative.mapped["loops"] == "run.passes"
    assert plan(rw="write", size="1m", loops=2).mapped["loops"] == "run.count"
    timed = plan(rw="write", size="1m", loops=2, runtime=5, time_based=None)
    assert (timed.passes, timed.amount) == (None, None)
    assert timed.mapped["loops"] == "nothing: the run ends by its time"
    assert plan(rw="read", io_size="200%").passes == 2
    assert ends.MORE in plan(rw="read", io_size="200%").differences
    assert ends.NUMBER in plan(rw="read", number_ios=5).differences
    assert ends.GAPS in plan(rw="read:60k", size="1m").differences
    assert ends.TOGETHER not in plan(rw="read", numjobs=2).differences
    assert ends.TOGETHER in plan(rw="read", numjobs=17).differences
    mixed = plan(rw="read", bssplit="4k/50:8k/50")
    assert mixed.passes == 1 and ends.MEAN in mixed.differences
    assert plan(rw="write", numjobs=99, offset_increment="1%", size="1%", loops=2).passes == 2


@pytest.mark.parametrize(
    ("options", "end", "told"),
    [
        ({"rw": "write"}, (1, None), None),
        ({"rw": "write", "size": "1g", "loops": 2}, (2, None), None),
        ({"rw": "write", "size": "50%", "io_size": "50%", "numjobs": 2}, (1, None), None),
        ({"rw": "write", "io_size": "1m"}, (None, 256), None),
        ({"rw": "randwrite"}, (1, None), ends.CAPACITY),
        ({"rw": "randwrite", "size": "1m"}, (None, 256), None),
        # fio counts the bytes that it reads, too.
        ({"rw": "randrw", "rwmixread": 70}, (0.3, None), ends.CAPACITY),
        ({"rw": "randread"}, (None, None), ends.POINTERS),
        ({"rw": "randread", "size": "1m"}, (None, 256), None),
        ({"rw": "rw"}, (None, None), ends.POINTERS),
        ({"rw": "read"}, (1, None), None),
    ],
)
def test_a_job_at_write_pointers_ends_by_place_where_fio_does(
    options: dict[str, Any], end: tuple[float | None, int | None], told: str | None
) -> None:
    planned = plan(zonemode="zbd", **options)
    assert (planned.passes, planned.amount) == end
    known = {ends.CAPACITY, ends.POINTERS}
    assert known & set(planned.differences) == ({told} if told else set())


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"rw": "read:8k", "bs": "12k"}, "5/3 passes of the range are not a decimal number"),
        ({"rw": "read", "numjobs": 70, "offset_increment": "1%"}, "write size in bytes"),
    ],
)
def test_an_end_that_cannot_be_told_is_refused(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UsageError, match=re.escape(sentence)):
        plan(**options)


def test_a_job_by_time_without_a_time_ends_by_its_amount() -> None:
    """As fio, which says that it takes no notice."""
    planned = plan(rw="read", size="1m", time_based=None)
    assert planned.amount == 256 and "time" not in planned.run
    assert planned.not_needed["time_based"] == "no effect without a runtime, as in fio"
    assert "time_based" not in planned.mapped
    assert "time_based" in plan(rw="read", runtime=5, time_based=None).mapped


def test_a_latency_that_is_too_high_ends_the_run() -> None:
    planned = plan(max_latency="50ms")
    (threshold,) = map(endings.parse_threshold, given(planned, "--stop-when"))
    (part,) = threshold.parts
    assert (str(part.metric), part.operator) == ("max", ">")
    assert part.bound.value == 50_000_000
    assert given(plan(max_latency=200), "--stop-when") == ["max > 200us"]
    assert not given(plan(max_latency=0), "--stop-when")


@pytest.mark.parametrize(
    ("options", "limits"),
    [
        ({"rw": "randread", "rate_iops_min": 100}, ["read.iops < 100"]),
        ({"rw": "write", "rate_iops_min": "100,50", "numjobs": 2}, ["write.iops < 100"]),
        ({"rw": "randrw", "rate_iops_min": "100,50"}, ["read.iops < 100", "write.iops < 50"]),
        (
            {"rw": "write", "rate_iops_min": 150, "rate_iops": 200, "fsync": 1},
            ["write.iops < 300"],
        ),
        (
            {"rw": "randrw", "rwmixread": 75, "rate_iops_min": "9,100", "fdatasync": 8},
            ["read.iops < 9", "write.iops < 112.5"],
        ),
        (
            {"rw": "write", "rate_iops_min": 10, "rate_min": "1m", "fsync": 2, "numjobs": 4},
            ["write.bandwidth < 4194304B/s", "write.iops < 60"],
        ),
        ({"rw": "read", "rate_min": "1m"}, ["read.bandwidth < 1048576B/s"]),
        ({"rw": "read", "rate_min": ",1m"}, []),
        ({"rw": "trim", "rate_min": "1m"}, []),
    ],
)
def test_a_rate_that_is_too_low_ends_the_run(options: dict[str, Any], limits: list[str]) -> None:
    planned = plan(rate_cycle=500, **options)
    assert given(planned, "--stop-when") == limits
    for limit in limits:
        assert endings.parse_threshold(limit).parts
    assert given(planned, "--interval") == (["500ms"] if limits else [])
    assert (ends.CYCLES in planned.differences) == bool(limits)
    assert {"rate_iops_min", "rate_min"} & set(options) <= planned.mapped.keys()


@pytest.mark.parametrize(
    ("options", "metric", "interval", "window", "range_", "slope"),
    [
        # Over 60 samples the mean moves by 59 times what it does in a second.
        ({"steadystate": "iops_slope:0.1%"}, "iops", 1, 60, 1, Fraction(59, 1000)),
        ({"steadystate": "bw:5%"}, "bandwidth", 1, 60, Fraction(10, 100), 1),
        (
            {"steadystate": "bw_slope:0.01%", "steadystate_duration": "30m"},
            *("bandwidth", 2, 900, 1, Fraction(1798, 10000)),
        ),
        ({"steadystate": "iops:80%", "steadystate_duration": 1}, "iops", 1, 2, 1, 1),
        (
            {"steadystate": "lat:5%", "steadystate_check_interval": 10},
            *("latency", 10, 6, Fraction(10, 100), 1),
        ),
        (
            {"steadystate": "lat_slope:1%", "steadystate_check_interval": "20s"},
            *("latency", 20, 3, 1, Fraction(2, 100)),
        ),
    ],
)
def test_steady_state_ends_the_run(
    options: dict[str, Any],
    metric: str,
    interval: int,
    window: int,
    range_: Fraction,
    slope: Fraction,
) -> None:
    planned = plan(**{"steadystate_duration": 60, "steadystate_ramp_time": 10, **options})
    (until,) = map(endings.parse_until, given(planned, "--until"))
    assert [str(watched) for watched in until.watched] == [metric]
    assert (until.window, until.range, until.slope) == (window, range_, slope)
    assert given(planned, "--interval") == [f"{interval}s"]
    assert {name for name in planned.mapped if name.startswith("steady")} == {
        *("steadystate", "steadystate_duration", "steadystate_ramp_time"),
        *(["steadystate_check_interval"] if "steadystate_check_interval" in options else []),
    }
    assert ends.STEADY in planned.differences


@pytest.mark.parametrize(
    ("options", "metric"),
    [
        ({"steadystate": "iops:5%", "rate_iops": 1000}, "iops"),
        ({"steadystate": "bw_slope:1%", "rate": "10m"}, "bandwidth"),
        ({"steadystate": "iops:5%", "thinktime": 100}, "iops"),
        ({"steadystate": "lat:5%", "rate_iops": 1000}, ""),
        ({"steadystate": "iops:5%"}, ""),
        ({"steadystate": "bw:5%", "iodepth": 8}, ""),
    ],
)
def test_steady_state_of_what_the_job_itself_sets_is_said(
    options: dict[str, object], metric: str
) -> None:
    planned = plan(**{"steadystate_duration": 60, **options})
    assert [text for text in planned.differences if "steadystate=lat" in text] == (
        [ends.PACED.format(metric)] if metric else []
    )


def test_steady_state_over_no_time_is_none_as_in_fio() -> None:
    planned = plan(steadystate="iops:5%")
    assert not given(planned, "--until")
    assert planned.not_needed["steadystate"] == "no effect on a job of this kind, as in fio"


@pytest.mark.parametrize(
    ("percentile", "metric"),
    [("99.9", "p99.9"), ("99.0", "p99"), ("95", "p99"), ("50", "p50"), ("100", "max")],
)
def test_a_latency_target_is_looked_for_by_a_sweep(percentile: str, metric: str) -> None:
    options = {"latency_window": "5s", "latency_percentile": percentile}
    planned = plan(rw="randread", iodepth=128, latency_target="50ms", **options)
    (told,) = [difference for difference in planned.differences if "latency target" in difference]
    command = re.search(r"`spekctl sweep WORKLOAD --depth (\S+) --within '([^']+)'`", told)
    assert command is not None and command[1] == "1,128"
    (part,) = endings.parse_threshold(command[2]).parts
    assert (str(part.metric), part.operator) == (metric, "<")
    assert part.bound.value == units.parse_duration_ns("50ms")
    assert planned.mapped.keys() >= {"latency_target", *options}
    assert not any("sweep" in difference for difference in plan(latency_target=0).differences)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"steadystate": "iops"}, "steadystate: 'iops' is not iops, bw or lat, or iops_slope,"),
        ({"steadystate": "p99:5%"}, "steadystate: 'p99:5%' is not iops, bw or lat, or iops_slope"),
        ({"steadystate": "iops:500"}, "steadystate: the limit '500' is not one in per cent"),
        ({"steadystate": "iops:x%"}, "steadystate: 'x' is not a number"),
        ({"max_latency": "x"}, "max_latency: "),
        ({"rate_min": "x"}, "rate_min: "),
        ({"latency_target": 50, "latency_percentile": "p9"}, "latency_percentile: 'p9' is not a"),
        ({"latency_target": 50, "rate_iops": 100}, "latency_target: fio looks for a depth"),
    ],
)
def test_a_limit_that_cannot_be_mapped_is_refused(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UsageError, match=re.escape(sentence)):
        plan(**{"steadystate_duration": 60, **options})


@pytest.mark.parametrize("name", ["fill_device", "fill_fs"])
def test_a_device_is_full_at_its_end(name: str, tmp_path: Path) -> None:
    """A block device does not grow: fio ends as it does without the option."""
    converted = imported(tmp_path, HEAD + f"rw=write\nbs=64k\n{name}=1\n")
    assert tables(converted)["run"]["passes"] == 1
    assert "a block device has a size" in converted.not_needed["fill_device"]
