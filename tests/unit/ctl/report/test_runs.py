# SPDX-License-Identifier: GPL-2.0
"""Results of runs: the course with its gaps, exact percentiles, and the conditions."""

from __future__ import annotations

from math import log10
from pathlib import Path

import msgspec
import pytest
from lib.ctl import probes, report_files
from lib.ctl.fleets import three
from lib.ctl.plot_files import facts, intervals, write_result
from lib.ctl.report_page import data_of, report

from spekctl.documents import histogram, result, result_parts
from spekctl.fleet.merge import merge
from spekctl.report import runs
from spekctl.workload.model import Asu


def test_percentiles_are_those_of_the_buckets(tmp_path: Path) -> None:
    path = write_result(tmp_path / "r.json", intervals())
    page = report(path)
    times = result.load_result(path).totals.all.times.response
    assert times is not None
    plot = next(plot for plot in data_of(page) if plot["x"]["nines"])
    names = [series["name"] for series in plot["series"]]
    assert names == ["read", "write", "all"]
    (table,) = plot["tables"]
    ys = table["y"][2]
    assert table["x"][0] == 0
    last = float(f"{times.max_ns:.5g}")
    unit = 1e3 if "(µs)" in plot["y"]["label"] else 1e6
    assert ys[-1] * unit == pytest.approx(last, rel=1e-4)
    nines = min(range(len(table["x"])), key=lambda at: abs(table["x"][at] - 2))
    # The other directions have fewer I/Os, so their lines end before.
    assert [values[-1] for values in table["y"]][:2] == [None, None]
    assert ys[nines] * unit == pytest.approx(times.percentiles_ns["p99"], rel=0.05)


def test_conditions_say_which_asu_is_on_a_device_of_its_own(tmp_path: Path) -> None:
    loaded = result.load_result(write_result(tmp_path / "r.json", intervals()))
    assert "address ranges" not in dict(runs.sheet_of("r.json", loaded).conditions)
    asus = [Asu(name="a", device="/dev/sdx")]
    workload = msgspec.structs.replace(loaded.workload, asu=asus)
    sheet = runs.sheet_of("r.json", msgspec.structs.replace(loaded, workload=workload))
    assert dict(sheet.conditions)["address ranges"] == "a on /dev/sdx"


def test_a_missing_value_is_a_gap(tmp_path: Path) -> None:
    plots = data_of(report(report_files.powered_result(tmp_path / "r.json")))
    (power,) = [plot for plot in plots if plot["y"]["label"] == "power (W)"]
    (table,) = power["tables"]
    assert [values[4] for values in table["y"]] == [None] * 3
    assert table["y"][0][3] == pytest.approx(8.3)


def test_the_machine_is_plotted_from_the_start_of_the_run(tmp_path: Path) -> None:
    """Memory, swap and the network too, with the phases of the run as marks."""
    loaded = result.load_result(write_result(tmp_path / "r.json", intervals()))
    zero = loaded.phases[0].start_ns
    samples = probes.report()
    shifted = [zero + number * 10**9 for number in range(4)]
    prober = result_parts.ProberResult(
        "0.1.0", 10**9, 3, 0, 0, 0, 0.0, 0, shifted[:-1], shifted[1:], samples.tables, 0, {}, {},
        swap_bytes=samples.swap_bytes,
    )  # fmt: skip
    sheet = runs.sheet_of("r.json", msgspec.structs.replace(loaded, prober=prober))
    plots = {plot.key: plot for plot in sheet.plots}
    assert {"prober-machine-cpu", "prober-memory", "prober-swap", "prober-net-eth0"} <= plots.keys()
    assert plots["prober-memory"].strands[0].xs == [0.5, 1.5, 2.5]
    assert plots["prober-memory"].marks == plots["course-iops"].marks
    titles = [grid.title for grid in sheet.grids]
    assert "the machine, from start to end of the sampling" in titles


@pytest.mark.parametrize(("ms", "rate"), [(500, 200.0), (50, None)])
def test_the_end_of_a_run_is_no_drop(tmp_path: Path, ms: int, rate: float | None) -> None:
    """The measure phase ends with a remainder of its last interval, and then comes the drain."""
    *whole, last, drain = intervals()
    end_ns = last.start_ns + ms * 10**6
    cells = {
        name: msgspec.structs.replace(getattr(last, name), ios=ms * 10 // 100 if rate else 0)
        for name in ("read", "write")
    }
    short = msgspec.structs.replace(last, end_ns=end_ns, **cells)
    rows = [*whole, short, msgspec.structs.replace(drain, start_ns=end_ns)]
    plots = data_of(report(write_result(tmp_path / "r.json", rows)))
    for label in ("I/Os per second (1/s)", "data rate (MiB/s)"):
        (plot,) = [plot for plot in plots if plot["y"]["label"] == label]
        for line in plot["tables"][0]["y"][:3]:
            assert line[-1] is None and all(value is not None for value in line[:-2])
    (plot,) = [plot for plot in plots if plot["y"]["label"] == "I/Os per second (1/s)"]
    assert plot["tables"][0]["y"][0][-2] == rate


def test_the_lines_of_a_distribution_end_at_their_maxima(tmp_path: Path) -> None:
    """At the share of all I/Os but one, 1 - 1 / n."""
    times = runs.response_times(result.load_result(write_result(tmp_path / "r", intervals())))
    (strand,) = runs.distribution(times).strands
    assert [line.name for line in strand.lines] == ["read", "write", "all"]
    for line in strand.lines:
        last = max(place for place, value in enumerate(line.ys) if value is not None)
        assert line.ys[last] == times[line.name].max_ns
        assert strand.xs[last] == log10(histogram.count_of(times[line.name]))
        known = [value for value in line.ys if value is not None]
        assert known == sorted(known)


def test_one_direction_is_not_drawn_twice(tmp_path: Path) -> None:
    times = runs.response_times(result.load_result(write_result(tmp_path / "r", intervals())))
    reads = runs.merged_times({"read": [times["read"]], "write": []})
    assert list(reads) == ["read", "all"]
    (strand,) = runs.distribution(reads).strands
    assert [line.name for line in strand.lines] == ["all"]
    assert runs.merged_times({"read": [], "write": []}) == {}


def test_a_single_rail_is_not_drawn_beside_the_same_total(tmp_path: Path) -> None:
    loaded = result.load_result(report_files.powered_result(tmp_path / "r.json"))
    rows = [
        msgspec.structs.replace(
            row, power=row.power and msgspec.structs.replace(row.power, rails=row.power.rails[:1])
        )
        for row in loaded.intervals
    ]
    for whole, names in ((loaded.intervals, ["total", "12V", "5V"]), (rows, ["total"])):
        sheet = runs.sheet_of("r", msgspec.structs.replace(loaded, intervals=whole))
        (power,) = (plot for plot in sheet.plots if plot.key == "course-power")
        assert [line.name for line in power.strands[0].lines] == names


def test_what_a_device_does_not_say_is_left_out() -> None:
    silent = msgspec.structs.replace(
        facts(), path="/dev/x", model="  ", serial="", driver="null_blk", scheduler="",
        iostats=None, nomerges=None, rotational=False,
    )  # fmt: skip
    ((path, text),) = runs.targets([silent])
    assert path == "/dev/x"
    assert text.startswith("null_blk, ")
    assert text.endswith("not rotational")
    assert ", ," not in text
    assert runs.machine(None) == []


@pytest.mark.parametrize(
    ("ramp", "text"),
    [
        ({}, "60 s"),
        ({"ramp_ns": 5 * 10**9}, "60 s after a ramp-up of 5 s"),
        ({"ramp_count": 2000}, "60 s after a ramp-up of 2,000 I/Os"),
    ],
)
def test_a_ramp_up_is_told_where_there_is_one(
    tmp_path: Path, ramp: dict[str, int], text: str
) -> None:
    loaded = result.load_result(write_result(tmp_path / "r.json", intervals()))
    config = msgspec.structs.replace(loaded.config, **ramp)
    sheet = runs.sheet_of("r.json", msgspec.structs.replace(loaded, config=config))
    assert dict(sheet.conditions)["length"] == text


@pytest.mark.parametrize(("name", "shown"), [("(none)", None), ("vm", "vm")])
def test_a_machine_without_a_name_has_none(tmp_path: Path, name: str, shown: str | None) -> None:
    environment = result.load_result(write_result(tmp_path / "r.json", intervals())).environment
    assert environment is not None
    facts = dict(runs.machine(msgspec.structs.replace(environment, hostname=name)))
    assert facts.get("host") == shown


def test_a_fleet_shows_its_hosts_beside_each_other() -> None:
    sheet = runs.sheet_of("f.json", merge(three()))
    figures = dict(sheet.figures)
    assert figures["IOPS"] == "180" and figures["worst start skew"] == "35.0 us"
    assert figures["Jain's index"] == "0.8571" and figures["hosts"] == "3"
    (table,) = [grid for grid in sheet.grids if grid.title == "the hosts in the common window"]
    assert [row[0] for row in table.rows] == [
        "common window", "everything", "alpha", "beta", "gamma"
    ]  # fmt: skip
    (starts,) = [grid for grid in sheet.grids if grid.title == "the starts of the hosts"]
    assert [row[1] for row in starts.rows] == ["+20.0 us", "-35.0 us", "+5.00 us"]
    (plot,) = [plot for plot in sheet.plots if plot.key == "course-hosts"]
    assert [strand.lines[0].name for strand in plot.strands] == ["alpha", "beta", "gamma"]
    assert plot.strands[0].lines[0].ys == [90.0] * 4
    assert ("workers", "3 on 3 hosts") in sheet.conditions
    assert any(name == "beta:/dev/x" for name, _ in sheet.conditions)
