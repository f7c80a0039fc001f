# SPDX-License-Identifier: GPL-2.0
"""Parameter files as workloads."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lib.ctl.command_line import Spekctl
from lib.ctl.vdbench_files import CORPUS, OLTP, RD, SD, WD

from spekctl.errors import ExitCode, UsageError
from spekctl.vdbench import convert, rates
from spekctl.workload.imported import Imported, RateOf


def steps(tmp_path: Path, text: str) -> list[Imported]:
    path = tmp_path / "some.parm"
    path.write_text(text)
    return convert.load_steps(path)


def tables(imported: Imported) -> dict[str, Any]:
    data = msgspec.to_builtins(imported.workload)
    assert isinstance(data, dict)
    return data


def test_runs_and_loops_are_steps(tmp_path: Path) -> None:
    imported = steps(tmp_path, OLTP)
    assert [step.workload.workload.name for step in imported] == [
        *("run1", "run1.2", "run2", "run2.2", "run2.3", "run2.4"),
    ]
    first = tables(imported[0])
    assert first["arrival"] == [{"name": "run1", "law": "poisson", "rate": 500}]
    assert first["run"] == {"time": "2m", "ramp": "30s", "interval": "5s", "data": "random"}
    data, log = first["stream"]
    assert (data["share"], log["share"], data["read"], data["size"]) == ("80%", "20%", "70%", 8192)
    assert (data["start"], data["range"]) == (2 << 30, 8 << 30)
    assert (log["pattern"], log["range"]) == ("sequential", 20 << 30)
    assert log["sizes"] == [{"size": 4096, "share": "50%"}, {"size": 16384, "share": "50%"}]
    loops = [
        (table["arrival"][0]["depth"], table["stream"][0]["size"])
        for table in map(tables, imported[2:])
    ]
    assert loops == [(8, 4096), (8, 8192), (32, 4096), (32, 8192)]
    assert imported[0].command_line == [
        *("--device /dev/sdb", "--device /dev/sdc", "--write", "--max-errors 1"),
    ]
    assert imported[0].not_needed.keys() == {"openflags"}
    assert {"iorate", "skew", "lun", "system"} <= imported[0].mapped.keys()
    # What other runs have is not told.
    assert "threads" not in imported[0].mapped and "warmup" not in imported[2].mapped
    assert "skew" in imported[0].mapped and "threads" in imported[2].mapped


@pytest.mark.parametrize(
    "text",
    [
        "formatsds=no\ncreate_anchors=no\n" + SD + WD + RD,
        "sd=sd1,lun=/dev/sdb,resetlun=0,resetbus=0,journal=no\n" + WD + RD,
        SD + "wd=wd1,sd=sd1,streams=0\n" + RD.replace("\n", ",format=no\n"),
        "dedupflipflop=no\ndeduphotsets=0\nvalidate=no\nconcatenatesds=no\n" + SD + WD + RD,
    ],
)
def test_what_is_off_is_not_needed(tmp_path: Path, text: str) -> None:
    (imported,) = steps(tmp_path, text)
    assert "it is off" in imported.not_needed.values()
    assert not {"formatsds", "resetlun", "streams", "dedupflipflop"} & imported.mapped.keys()
    assert imported.command_line == ["--device /dev/sdb"]


def test_what_duplicates_are_like_is_a_difference(tmp_path: Path) -> None:
    head = "dedupratio=2,dedupunit=8k,dedupflipflop=yes,deduphotsets=(10,2)\n"
    (written,) = steps(tmp_path, head + SD + WD.replace("\n", ",rdpct=0\n") + RD)
    assert {"dedupflipflop", "deduphotsets"} <= set(
        " ".join(written.differences).replace("(", " ").replace(")", " ").split()
    )
    (read,) = steps(tmp_path, head + SD + WD + RD)
    assert read.not_needed["dedupflipflop"] == "no data of this ratio are written"
    assert not any("dedup" in text for text in read.differences)


@pytest.mark.parametrize(
    ("text", "key", "where"),
    [
        (SD + WD + "rd=r,wd=*,iorate=max\n", "iorate", "arrival.law"),
        (SD + WD + RD, "iorate", "arrival.rate"),
        (SD.replace("\n", ",threads=4\n") + WD + RD, "threads", None),
        (SD + WD.replace("\n", ",range=(1,9),hotband=(2,3)\n") + RD, "range", None),
        (SD + WD.replace("\n", ",hotband=(2,3)\n") + RD, "hotband", "stream.pattern"),
        (
            SD + WD.replace("\n", ",seekpct=seq,hotband=(2,3)\n") + RD,
            "hotband",
            "stream.start, stream.range",
        ),
    ],
)
def test_only_what_has_an_effect_is_mapped(
    tmp_path: Path, text: str, key: str, where: str | None
) -> None:
    (imported,) = steps(tmp_path, text)
    assert imported.mapped.get(key) == where
    assert (key in imported.not_needed) is (where is None)


@pytest.mark.parametrize(("head", "told"), [("validate=yes\n", True), ("", False)])
def test_a_number_of_errors_ends_the_run(tmp_path: Path, head: str, told: bool) -> None:
    wd = WD.replace("\n", ",rdpct=0\n")
    (only,) = steps(tmp_path, f"data_errors=7\n{head}{SD}{wd}{RD}")
    assert "--max-errors 7" in only.command_line
    assert only.mapped["data_errors"] == "--max-errors"
    assert (convert.MISMATCHES in only.differences) == told
    for value in ("script.sh", "x1", "5000000000"):
        with pytest.raises(UsageError, match=f"data_errors: '{value}' is not a number of errors"):
            steps(tmp_path, f"data_errors={value}\n{SD}{WD}{RD}")


def test_defaults_are_those_of_vdbench(tmp_path: Path) -> None:
    (only,) = steps(tmp_path, SD + WD + "rd=run1,wd=wd1,iorate=max,elapsed=5\n")
    table = tables(only)
    assert table["arrival"][0]["depth"] == 8
    assert table["stream"] == [{"name": "wd1", "read": "100%", "size": 4096}]
    assert only.command_line == ["--device /dev/sdb"]


def test_the_others(tmp_path: Path) -> None:
    text = SD + "wd=w,sd=sd1,seekpct=60,rdpct=50,hotband=(10,18)\n".replace("seekpct=60,", "")
    hot = tables(steps(tmp_path, text + RD)[0])["stream"][0]
    assert (hot["pattern"], hot["start"], hot["range"]) == ("hotband", "10%", "8%")
    mixed = tables(steps(tmp_path, SD + "wd=w,sd=sd1,seekpct=60\n" + RD)[0])["stream"][0]
    assert mixed["sequential"] == "40%"
    text = "validate=yes\n" + SD + "wd=w,sd=sd1,rdpct=0,range=(1m,3m)\n"
    (imported,) = steps(tmp_path, text + RD.replace("100", "100,distribution=deterministic"))
    assert imported.command_line[-2:] == ["--write", "--verify"]
    table = tables(imported)
    assert table["arrival"][0]["law"] == "constant"
    assert (table["stream"][0]["start"], table["stream"][0]["range"]) == (1 << 20, 2 << 20)


@pytest.mark.parametrize("name", CORPUS)
def test_each_kind_of_file_is_imported(tmp_path: Path, name: str) -> None:
    text, titles = CORPUS[name]
    imported = steps(tmp_path, text)
    assert [step.workload.workload.name for step in imported] == titles
    # vdbench has defaults for all of these, so no run is without an end.
    assert all(step.workload.run.time or step.workload.run.passes for step in imported)


def test_rates_and_depths_of_ranges(tmp_path: Path) -> None:
    imported = steps(tmp_path, CORPUS["a doubled range"][0])
    assert [tables(step)["arrival"][0]["depth"] for step in imported] == [1, 2, 4, 8, 16]
    imported = steps(tmp_path, CORPUS["a stepped range"][0])
    assert [tables(step)["arrival"][0]["rate"] for step in imported] == [100, 200, 300, 400]
    (top,) = steps(tmp_path, CORPUS["max in any case"][0])
    table = tables(top)
    assert table["arrival"][0] == {"name": "top", "depth": 8}
    assert table["run"] == {"time": "1h", "interval": "10s", "data": "random"}


def test_a_run_without_times_has_those_of_vdbench(tmp_path: Path) -> None:
    (only,) = steps(tmp_path, SD + WD + "rd=r,wd=wd1,iorate=max\n")
    assert tables(only)["run"] == {"time": "30s", "interval": "1s", "data": "random"}


def test_loops_are_in_order_with_rates_as_the_innermost(tmp_path: Path) -> None:
    loops = [tables(step) for step in steps(tmp_path, CORPUS["loops in loops"][0])]
    assert [
        (table["stream"][0]["size"], table["stream"][0]["read"], table["arrival"][0]["rate"])
        for table in loops
    ] == [
        *[(4096, "0%", 10), (4096, "0%", 20), (4096, "100%", 10), (4096, "100%", 20)],
        *[(8192, "0%", 10), (8192, "0%", 20), (8192, "100%", 10), (8192, "100%", 20)],
    ]
    # A list of sizes of a run is a loop, as it is a mix of a workload only.
    looped = steps(tmp_path, SD + WD + "rd=r,wd=*,iorate=max,xfersize=(4k,8k)\n")
    assert [tables(step)["stream"][0]["size"] for step in looped] == [4096, 8192]


def test_the_end_of_the_range_ends_a_run(tmp_path: Path) -> None:
    for text in (CORPUS["to the end"][0], CORPUS["to the end"][0].replace(",size=1g", "")):
        (fill,) = steps(tmp_path, text)
        ends = {"time": "100h", "passes": 1}
        assert tables(fill)["run"] == {**ends, "interval": "1s", "data": "random"}
    (both,) = steps(
        tmp_path,
        CORPUS["to the end"][0]
        .replace("wd=fill,io", "wd=*,io")
        .replace("rd=", "wd=more,sd=d\nrd=", 1),
    )
    assert tables(both)["run"]["time"] == "100h"
    assert any("seekpct=eof" in difference for difference in both.differences)


def test_maxdata_is_passes_or_a_number_of_ios(tmp_path: Path) -> None:
    (amount,) = steps(tmp_path, CORPUS["an amount"][0])
    run = tables(amount)["run"]
    assert (run["time"], run["count"]) == ("10m", 1638400)
    (mixed,) = steps(
        tmp_path, CORPUS["an amount"][0].replace("xfersize=64k", "xfersize=(4k,50,8k,50)")
    )
    assert "count" not in tables(mixed)["run"]
    assert mixed.differences[-1] == (
        "ends without regard to maxdata; vdbench also ends after 100 GiB"
    )
    (times,) = steps(tmp_path, CORPUS["an amount in devices"][0])
    table = tables(times)
    assert table["run"] == {"time": "10h", "passes": 2, "interval": "1s", "data": "random"}
    assert table["stream"][0]["read"] == "0%" and table["arrival"][0]["depth"] == 16
    assert times.command_line == [
        *("--device /dev/sdb", "--device /dev/sdc", "--stripe 1024KiB", "--write"),
    ]
    assert any("striped over in units of 1 MiB" in difference for difference in times.differences)
    text = SD + "wd=w,sd=sd1,range=(0,50)\n" + RD + "maxdata=2\n"
    (part,) = steps(tmp_path, text)
    assert tables(part)["run"]["time"] == "1m"
    assert any(
        "after 2 times the size of its devices" in difference for difference in part.differences
    )


def test_a_curve_is_its_maximum_and_its_points(tmp_path: Path) -> None:
    most, *points = steps(tmp_path, CORPUS["a curve"][0])
    assert tables(most)["arrival"] == [{"name": "r", "depth": 8}] and most.rate_of is None
    assert most.mapped["curve"] == "the runs that follow"
    names = [point.workload.workload.name for point in points]
    assert names == ["r-25pct", "r-50pct", "r-75pct"]
    assert [point.rate_of for point in points] == [
        RateOf(back, Fraction(back, 4)) for back in (1, 2, 3)
    ]
    assert [point.workload.arrival[0].rate for point in points] == [2500, 5000, 7500]
    assert points[1].differences[-1] == rates.SHARE.format("50", "r", 5000)
    assert points[1].mapped["curve"] == "arrival.rate"


def test_a_curve_comes_for_each_value_of_its_loops(tmp_path: Path) -> None:
    text = SD + WD + "rd=r,wd=*,iorate=curve,curve=(10,90),forxfersize=(4k,8k),stopcurve=3\n"
    imports = steps(tmp_path, text)
    seen = [(step.workload.workload.name, step.workload.stream[0].size) for step in imports]
    assert seen == [
        *(("r", 4096), ("r-10pct", 4096), ("r-90pct", 4096)),
        *(("r.2", 8192), ("r-10pct.2", 8192), ("r-90pct.2", 8192)),
    ]
    assert [step.rate_of.back if step.rate_of else 0 for step in imports] == [0, 1, 2, 0, 1, 2]
    assert all(rates.ALL_POINTS.format(3) in step.differences for step in imports)


def test_a_share_is_of_the_rate_of_the_run_before(tmp_path: Path) -> None:
    text = SD + WD + "rd=r,wd=*,iorate=max\nrd=s,wd=*,iorate=(50%,-20,300)\n"
    _, half, fifth, rate = steps(tmp_path, text)
    assert (half.rate_of, fifth.rate_of) == (
        RateOf(1, Fraction(1, 2)),
        RateOf(1, Fraction(1, 5)),
    )
    assert fifth.differences[-1] == rates.SHARE.format("20", "s", 2000)
    assert rate.rate_of is None and rate.workload.arrival[0].rate == 300
    # vdbench takes 10000 for the rate that it has not measured.
    (first,) = steps(tmp_path, SD + WD + RD.replace("100", "33%"))
    assert first.rate_of is None and first.workload.arrival[0].rate == 3300
    assert first.differences[-1] == rates.FIRST.format("33")


@pytest.mark.parametrize(
    ("iops", "rate"),
    [(0, 0), (1, 0), (3, 10), (2000.4, 1000), (2002, 1100), (2019, 1100), (333, 170)],
)
def test_a_share_is_rounded_up_as_by_vdbench(iops: float, rate: int) -> None:
    assert RateOf(1, Fraction(1, 2)).of(iops) == rate


def test_parameters_of_a_curve_are_told_with_it_and_not_needed_without(tmp_path: Path) -> None:
    text = CORPUS["devices of their own"][0].replace(",skew=75", "")
    text = text.replace("iorate=2000,elapsed=60", "iorate=curve,curve=(25,50),stopcurve=5")
    for part in steps(tmp_path, text):
        assert any(rates.CURVE in text and "25 %, 50 % of" in text for text in part.differences)
        assert any(
            text.endswith("does (up to a response time of 5 ms)") for text in part.differences
        )
        assert not {"curve", "stopcurve"} & part.not_needed.keys()
    text = CORPUS["a curve"][0].replace("elapsed=60", "elapsed=60,stopcurve=5")
    (most,) = steps(tmp_path, text.replace("iorate=curve", "iorate=max"))
    assert not any("highest rate" in difference for difference in most.differences)
    assert most.not_needed["curve"] == most.not_needed["stopcurve"] == "it is for iorate=curve"


def test_counted_devices_are_striped_over(tmp_path: Path) -> None:
    (four,) = steps(tmp_path, CORPUS["counted devices"][0])
    assert four.command_line == [f"--device /dev/mapper/lun{number}" for number in range(1, 5)]
    assert tables(four)["arrival"][0]["depth"] == 8
    (two,) = steps(tmp_path, CORPUS["numbers in the middle"][0])
    assert two.command_line == ["--device /dev/disk-8-part", "--device /dev/disk-9-part"]


def test_workloads_on_devices_of_their_own_are_runs_that_start_together(tmp_path: Path) -> None:
    data, log = steps(tmp_path, CORPUS["devices of their own"][0])
    assert (data.beside, log.beside) == (False, True)
    assert tables(data)["arrival"] == [{"name": "r", "law": "poisson", "rate": 1500}]
    assert tables(log)["arrival"] == [{"name": "r.2", "law": "poisson", "rate": 500}]
    assert data.command_line[:2] == ["--device /dev/sdb", "--device /dev/sdc"]
    assert log.command_line == ["--device /dev/sdd", "--write"]
    text = CORPUS["devices of their own"][0].replace("elapsed=60", "elapsed=60,maxdata=1g")
    assert steps(tmp_path, text)[1].differences[-1].endswith("after maxdata of all parts together")
    text = CORPUS["devices of their own"][0].replace(",skew=75", "").replace("2000", "max")
    assert [tables(step)["arrival"][0]["depth"] for step in steps(tmp_path, text)] == [16, 8]


RATED = (
    SD
    + "wd=log,sd=sd1,iorate=150,priority=1,seekpct=0,rdpct=0\n"
    + "wd=data,sd=sd1,skew=75,priority=2\nwd=scan,sd=sd1,priority=3\n"
)


def test_a_workload_has_its_rate_and_the_others_share_the_rest(tmp_path: Path) -> None:
    low, high = steps(tmp_path, RATED + RD.replace("100", "(550,950)"))
    for imported, total, shares in (
        (low, 550, {"log": 150, "data": 300, "scan": 100}),
        (high, 950, {"log": 150, "data": 600, "scan": 200}),
    ):
        table = tables(imported)
        (arrival,) = table["arrival"]
        assert (arrival["law"], arrival["rate"]) == ("poisson", total)
        weights = {stream["name"]: stream["share"] for stream in table["stream"]}
        whole = sum(weights.values())
        assert {name: total * weight / whole for name, weight in weights.items()} == shares
        assert imported.mapped["iorate"] == "arrival.rate"
        assert imported.not_needed["priority"].startswith("workloads with a rate of their own keep")
        assert not any("in addition to the depth" in note for note in imported.differences)


def test_rates_of_all_workloads_are_that_of_the_run(tmp_path: Path) -> None:
    text = SD + "wd=a,sd=sd1,iorate=30\nwd=b,sd=sd1,iorate=70\n"
    for rate in ("max", "5", "1000"):
        (both,) = steps(tmp_path, text + RD.replace("100", rate))
        table = tables(both)
        assert table["arrival"] == [{"name": "run1", "law": "poisson", "rate": 100}]
        assert [stream["share"] for stream in table["stream"]] == ["30%", "70%"]
    # A rate of 0 is none, as in vdbench.
    (single,) = steps(tmp_path, SD + "wd=a,sd=sd1,iorate=0\n" + RD.replace("100", "max"))
    assert tables(single)["arrival"] == [{"name": "run1", "depth": 8}]


def test_a_rate_beside_as_many_as_there_can_be_is_a_process_of_its_own(tmp_path: Path) -> None:
    (beside,) = steps(tmp_path, RATED + RD.replace("100", "max,maxdata=2"))
    table = tables(beside)
    assert table["arrival"] == [
        {"name": "run1", "law": "poisson", "rate": 150},
        {"name": "run1-rest", "depth": 8},
    ]
    assert [(s["name"], s.get("arrival", "run1"), s.get("share")) for s in table["stream"]] == [
        *(("log", "run1", None), ("data", "run1-rest", "75%"), ("scan", "run1-rest", "25%")),
    ]
    assert any("in addition to the depth of the rest" in note for note in beside.differences)
    # Each process would pass the range as often as the run says.
    assert "passes" not in table["run"]
    assert any("also ends after 2 times the size" in note for note in beside.differences)


def test_rates_of_workloads_on_devices_of_their_own(tmp_path: Path) -> None:
    text = (
        SD + "sd=sd2,lun=/dev/sdc\nwd=a,sd=sd1,iorate=30\nwd=b,sd=sd1\nwd=c,sd=sd2,skew=80\n" + RD
    )
    first, second = (tables(step) for step in steps(tmp_path, text))
    # Of the 70 I/Os per second that are left b has 20 %.
    assert first["arrival"][0]["rate"] == 44
    assert [stream["share"] for stream in first["stream"]] == [15, 7]
    assert second["arrival"][0]["rate"] == 56


def test_a_part_of_a_run_is_not_run_alone(tmp_path: Path) -> None:
    path = tmp_path / "some.parm"
    path.write_text(CORPUS["devices of their own"][0])
    for run in ("r", "r.2"):
        with pytest.raises(UsageError, match=f"{run} of .* is a part of a run on several devices"):
            convert.load(path, run)
    with pytest.raises(UsageError, match="has 2 runs, some of them together"):
        convert.load(path)


def test_compression_and_duplicates(tmp_path: Path) -> None:
    (four,) = steps(tmp_path, CORPUS["compression"][0])
    assert tables(four)["stream"][0]["compressible"] == "75%"
    none, half = steps(tmp_path, CORPUS["compression in a loop"][0])
    assert "compressible" not in tables(none)["stream"][0]
    assert none.not_needed["compratio"] == "no data of this ratio are written"
    assert tables(half)["stream"][0]["compressible"] == "50%"
    (twice,) = steps(tmp_path, CORPUS["duplicates"][0])
    assert tables(twice)["stream"][0]["duplicate"] == "50%"
    assert {"dedupratio", "dedupunit", "dedupsets"} <= twice.mapped.keys()


def test_hits_and_misses_share_the_ios_of_a_workload(tmp_path: Path) -> None:
    (imported,) = steps(tmp_path, CORPUS["hits"][0])
    hit, miss = tables(imported)["stream"]
    assert (hit["name"], hit["share"], hit["range"]) == ("w-hit", "41%", 16 << 20)
    assert (miss["name"], miss["share"], miss["start"]) == ("w-miss", "59%", 16 << 20)
    assert imported.mapped["rhpct"] == "stream.share"
    (all_,) = steps(tmp_path, SD + "wd=w,sd=sd1,rhpct=100\n" + RD)
    assert [stream["name"] for stream in tables(all_)["stream"]] == ["w-hit"]
    assert all_.mapped["rhpct"] == "stream.share"
    (none,) = steps(tmp_path, SD + "wd=w,sd=sd1,rhpct=0\n" + RD)
    assert none.not_needed["rhpct"] == "there are no hits"


def test_short_names_and_parameters_on_lines_of_their_own(tmp_path: Path) -> None:
    (short,) = steps(tmp_path, CORPUS["short names"][0])
    table = tables(short)
    assert table["stream"] == [{"name": "w", "read": "30%", "size": 4096, "range": 1 << 29}]
    assert table["arrival"] == [{"name": "r", "law": "constant", "rate": 500}]
    assert table["run"] == {"time": "1m", "ramp": "5s", "interval": "1s", "data": "random"}
    (lines,) = steps(tmp_path, CORPUS["many lines"][0])
    table = tables(lines)
    assert table["stream"] == [{"name": "w", "read": "60%", "size": 16384, "range": 512 << 20}]
    assert table["arrival"][0]["depth"] == 8 and table["run"]["time"] == "20s"


def test_threads_of_concatenated_devices_are_a_total(tmp_path: Path) -> None:
    text = "concatenatesds=yes\n" + SD + "sd=sd2,lun=/dev/sdc\nwd=w,sd=*,threads=5\n"
    (own,) = steps(tmp_path, text + "rd=r,wd=w,iorate=max\n")
    assert tables(own)["arrival"][0]["depth"] == 5
    assert own.differences[-1].endswith("; vdbench puts one behind the other")
    (run,) = steps(tmp_path, text + "rd=r,wd=w,iorate=max,threads=7\n")
    assert tables(run)["arrival"][0]["depth"] == 7
    (each,) = steps(tmp_path, "sd=a,lun=x,threads=(32,4)\nsd=b,lun=y,threads=2\nrd=r,sd=*,io=max\n")
    assert tables(each)["arrival"][0]["depth"] == 10


def test_synchronous_writes_have_forced_unit_access(tmp_path: Path) -> None:
    (imported,) = steps(tmp_path, CORPUS["synchronous"][0])
    assert tables(imported)["stream"][0]["fua"] is True
    assert imported.mapped["openflags"] == "stream.fua"
    text = CORPUS["synchronous"][0].replace("iorate=max", "iorate=max,openflags=directio")
    (direct,) = steps(tmp_path, text)
    assert "fua" not in tables(direct)["stream"][0]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("fsd=fsd1,anchor=/tmp\n", "fsd=fsd1: spek loads block devices, not files"),
        (SD + "fwd=fwd1,fsd=fsd1\n", "fwd=fwd1: spek loads block devices, not files"),
        (SD + WD, "there is no rd"),
        ("sd=sd1,size=1g\n" + WD + RD, "sd=sd1: it has no lun"),
        (SD + WD + RD.replace("100", "9" * 5000), "is neither a rate nor max"),
        (
            SD + "wd=w,sd=sd1,seekpctt=10\n" + RD,
            "seekpctt: not a parameter that spek knows; did you",
        ),
        (SD + "wd=w,sd=sd1,stride=4k\n" + RD, "rd=run1: wd=w: stride: strides have one length"),
        (
            "sd=a,lun=/dev/x,streams=4\n" + WD.replace("sd1", "a") + RD,
            "sd=a: streams: they are a parameter of a WD",
        ),
        (
            SD + WD + "wd=w,sd=sd1,seekpct=0,streams=4\n" + RD,
            "rd=run1: wd=w: streams: it is the only workload of its run then",
        ),
        (SD + "wd=w,sd=sd1,priority=1\n" + RD, "priority: wd=w: a workload waits for no other"),
        (SD + "wd=w,sd=sd1,user=x.Y\n" + RD, "wd=w: user: spek loads no classes of Java"),
        ("rg=group,devices=(1,2)\n" + SD + WD + RD, "rg=group: vdbench replays traces of Swat"),
        ("formatsds=yes\n" + SD + WD + RD, "formatsds: write the devices in a run before"),
        ("loop=3\n" + SD + WD + RD, "loop: repeat the command"),
        (
            "pattern=/tmp/file\n" + SD + WD + RD,
            "pattern: written data are zeros, random, or",
        ),
        ("sd=a,lun=/dev/x,lun=/dev/y\n" + WD + RD, "sd=a: lun: there are 2, each for another host"),
        ("sd=a,lun=$disk\n" + WD + RD, "sd=a: lun: '$disk' is a variable"),
        ("sd=a,lun=/dev/x,count=(1,0)\n" + WD + RD, "sd=a: count: it is (start,count)"),
        ("sd=a,lun=/dev/x,count=3\n" + WD + RD, "sd=a: count: it is (start,count)"),
        (
            "sd=a,lun=/dev/x,count=(1,2)\nsd=a1,lun=/dev/y\n" + WD + RD,
            "there are two definitions sd=a1",
        ),
        (
            SD + "wd=w,sd=sd1,iorate=100,priority=1\nwd=v,sd=sd1,priority=2\n" + RD,
            "rd=run1: iorate: nothing of 100 is left for wd=v beside workloads with a rate",
        ),
        (
            SD + "wd=w,sd=sd1,iorate=5,skew=50\n" + RD,
            "rd=run1: wd=w: skew: it has a rate, so a share of the rest has no meaning",
        ),
        (SD + "wd=w,sd=sd1,iorate=(5,6)\n" + RD, "wd=w: iorate: it has one value, not 2"),
        (SD + "wd=w,sd=sd1,iorate=max\n" + RD, "wd=w: iorate: 'max' is not a number"),
        (
            SD + "wd=w,sd=sd1,iorate=5%\n" + RD,
            "wd=w: iorate: '5%' is not a number of I/Os per second",
        ),
        (
            SD + "wd=w,sd=sd1,iorate=5,priority=2\nwd=v,sd=sd1,priority=2\n" + RD,
            "priority: wd=w has a rate, and comes before wd=v, which has none: give it a smaller",
        ),
        (
            SD + WD + RD.replace("100", "0.5%"),
            "rd=run1: iorate: '0.5%' is less than 1 per cent, which vdbench cuts to 0",
        ),
        (
            CORPUS["devices of their own"][0] + "rd=s,wd=*,iorate=10%\n",
            "rd=s: iorate: '10%': it is a share of the rate of a run whose parts are on several",
        ),
        (
            SD + "wd=w,sd=sd1,iorate=5\nwd=v,sd=sd1\n" + RD.replace("100", "10%"),
            "rd=run1: iorate: points of a curve are rates of all workloads, and some have their",
        ),
        (
            SD + "wd=w,sd=sd1,iorate=5\nwd=v,sd=sd1\n" + RD.replace("100", "curve"),
            "rd=run1: iorate: points of a curve are rates of all workloads, and some have their",
        ),
        (SD + "wd=w,sd=sd2\n" + RD, "rd=run1: sd: there is no sd=sd2"),
        (
            "hd=a,system=localhost\nhd=b,system=localhost\n" + SD + WD + RD,
            "sd=sd1: host: each of 2 hosts would load it; name one of them",
        ),
        ("sd=sd1,host=far,lun=/dev/x\n" + WD + RD, "sd=sd1: host: there is no hd=far"),
        (SD + "wd=w,sd=sd1,host=x*\n" + RD, "wd=w: host: there is no hd=x*"),
        (SD + WD + "rd=r,wd=x*,elapsed=5,iorate=max\n", "rd=r: wd: there is no wd=x*"),
        (SD + WD + "rd=r,iorate=max\n", "rd=r: wd: it names no workload"),
        (SD + "wd=w\nrd=r,wd=w,iorate=max\n", "rd=r: wd=w: it names no sd"),
        (SD + WD + "rd=r,wd=*,elapsed=5\n", "rd=r: iorate: it is missing"),
        (SD + WD + RD + "sd=single\n", "sd: 'single' is a run for each SD"),
        (SD + WD + RD + "maxdataread=1g\n", "rd=run1: maxdataread: give a count"),
        (SD + WD + RD + "readpct=1\n", "rd=run1: readpct: not a parameter that spek knows"),
        (SD + WD + RD + "depth=1\n", "rd=run1: depth: spek loads block devices, not files"),
        (SD + "wd=w,sd=sd1,threads=4\nrd=r,wd=w,iorate=max\n", "threads: vdbench takes those of"),
        (
            "validate=yes\ncompratio=2\n" + SD + "wd=w,sd=sd1,rdpct=0\n" + RD,
            "validate: data to be verified neither compress nor repeat",
        ),
        (
            SD + "sd=sd2,lun=/dev/sdc\nwd=a,sd=sd1\nwd=b,sd=*\n" + RD,
            "sd: wd=a and wd=b have some devices in common, not all",
        ),
        (
            SD + "sd=sd2,lun=/dev/sdc\nwd=a,sd=sd1,skew=60\nwd=b,sd=sd2\nrd=r,wd=*,iorate=max\n",
            "skew: wd=a has a share of what others on other devices reach; give a rate",
        ),
        (SD + WD + RD.replace("100", "fast"), "iorate: 'fast' is neither a rate nor max"),
        (
            SD + WD + f"rd=r,iorate=1,forthreads=({'1,' * 99}1),forrdpct=({'1,' * 99}1)\n",
            "rd=r: it has 10000 runs; at most 1000 are imported",
        ),
        (SD + WD + RD.replace("60", "soon"), "elapsed: "),
        (SD + "wd=w,sd=sd1,xfersize=0\n" + RD, "xfersize: '0' is not a multiple of 512 bytes"),
        (SD + "wd=w,sd=sd1,xfersize=(4k,8k,3)\n" + RD, "xfersize: (min,max,align) is in"),
        (SD + "wd=w,sd=sd1,rdpct=120\n" + RD, "rdpct: "),
        (SD + "wd=a,sd=sd1,skew=70\nwd=b,sd=sd1,skew=40\n" + RD, "skew: the shares"),
        (SD + "wd=w,sd=sd1,range=(50,20)\n" + RD, "range: (50,20) does not lie in"),
        (SD + WD + RD.replace("100", "100,distribution=uniform"), "distribution: 'uniform'"),
        (SD + WD + RD.replace("100", "max,threads=0"), "threads: '0' is not a number above 0"),
    ],
)
def test_what_would_be_lost_is_refused_by_name(
    spekctl: Spekctl, tmp_path: Path, text: str, sentence: str
) -> None:
    (tmp_path / "some.parm").write_text(text)
    refused = spekctl("vdbench", "some.parm")
    assert (refused.code, refused.out) == (ExitCode.USAGE, "")
    assert sentence in refused.sentence


WORDS = (
    *(
        "0",
        "1",
        "4k",
        "1g",
        "100",
        "50%",
        "eof",
        "max",
        "curve",
        "(1-4,d)",
        "(0,50)",
        "seq",
        "",
        "-",
    ),
    *("(4k,50,8k,50)", "9" * 60, "sd*", "localhost", "(1,2)", "0.5", "yes", "o_sync", "\u0664"),
)
KEYS = (
    *("xfersize", "rdpct", "wrpct", "seekpct", "range", "hotband", "stride", "rhpct", "skew"),
    *("openflags", "sd", "threads", "host", "iorate", "priority"),
)


@given(
    device=st.dictionaries(
        st.sampled_from(("size", "offset", "range", "align", "hitarea", "threads", "count")),
        st.sampled_from(WORDS),
        max_size=3,
    ),
    load=st.dictionaries(st.sampled_from(KEYS), st.sampled_from(WORDS), max_size=3),
    run=st.dictionaries(
        st.sampled_from((*KEYS, "maxdata", "elapsed", "warmup", "curve", "forcompratio")),
        st.sampled_from(WORDS),
        max_size=4,
    ),
    whole=st.dictionaries(
        st.sampled_from(("compratio", "compression", "dedupratio", "dedupunit", "concatenatesds")),
        st.sampled_from(WORDS),
        max_size=2,
    ),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=100)
def test_any_values_are_imported_or_named(
    tmp_path: Path,
    device: dict[str, str],
    load: dict[str, str],
    run: dict[str, str],
    whole: dict[str, str],
) -> None:
    lines = [
        *(f"{key}={value}" for key, value in whole.items()),
        *("sd=sd1,lun=/dev/sdb", *(f"{key}={value}" for key, value in device.items())),
        *("wd=w,sd=sd1", *(f"{key}={value}" for key, value in load.items())),
        *("rd=r,wd=w,iorate=max", *(f"{key}={value}" for key, value in run.items())),
    ]
    try:
        assert steps(tmp_path, "\n".join(lines))
    except UsageError as error:
        assert "some.parm" in error.message
