# SPDX-License-Identifier: GPL-2.0
"""Samples of the prober as people read them."""

from __future__ import annotations

from lib.ctl import probes
from lib.ctl.shown import contents
from lib.fakes.prober import START_NS
from msgspec.structs import replace

from spekctl.render import prober
from spekctl.render.prober import MOST_ROWS, text_of


def cells_of(text: str, *words: str) -> list[str]:
    """The numbers of the first row that begins with these words."""
    row = next(line.split() for line in text.splitlines() if line.split()[: len(words)] == [*words])
    return row[len(words) :]


def test_all_tables_are_shown() -> None:
    text = contents(probes.report())
    assert text.splitlines()[0] == (
        "probe 4 on target: 3 samples of 1s, 0:03 long; it ended (stopped)"
    )
    assert cells_of(text, "CPU", "time", "of", "all", "CPUs", "busy")[:2] == ["25.0", "%"]
    assert cells_of(text, "Memory", "available") == ["1022", "MiB", "1021", "MiB", "1023", "MiB"]
    assert cells_of(text, "Swap", "used")[:2] == ["1", "GiB"]
    assert cells_of(text, "size")[:2] == ["4", "GiB"]
    assert cells_of(text, "Interrupts", "interrupts")[0] == "700/s"
    assert cells_of(text, "Context", "switches", "context", "switches")[0] == "500/s"
    assert cells_of(text, "Network", "interface", "eth0", "received")[:2] == ["2.00", "MiB/s"]
    assert cells_of(text, "Disk", "sda", "read")[:2] == ["4.00", "MiB/s"]
    assert cells_of(text, "Power", "of", "rail", "psu/12V", "mean")[:2] == ["12.0", "W"]


def test_the_course_adds_interfaces_disks_and_rails_up() -> None:
    text = contents(probes.report()).partition("over time")[2]
    first = text.splitlines()[2].split()
    assert first == [
        "0:00", "25.0", "%", "0.0", "%", "500/s", "700/s", "1023", "MiB", "1", "GiB", "3.00",
        "MiB/s", "4.00", "MiB/s", "11.0", "W",
    ]  # fmt: skip


def test_power_over_time_is_that_of_all_rails_or_unknown() -> None:
    report = probes.report()
    tables = [
        replace(table, rows=[table.rows[0], [None] * len(table.columns), *table.rows[2:]])
        if table.name in ("power psu/5V", "disk sda")
        else table
        for table in report.tables
    ]
    text = contents(replace(report, tables=tables)).partition("over time")[2]
    first, second, third = (line.split() for line in text.splitlines()[2:5])
    assert first[-2:] == third[-2:] == ["11.0", "W"]
    assert second[-1] == "-"


def test_a_long_course_is_joined_into_spans() -> None:
    text = contents(probes.report(95)).partition("over time")[2].partition("\n\n")[0]
    assert [line.split()[0] for line in text.splitlines()[2:]] == [
        f"{5 * n // 60}:{5 * n % 60:02}" for n in range(19)
    ]
    assert MOST_ROWS >= 19


def test_what_is_missing_is_said() -> None:
    report = replace(probes.report(0), left_out={"net": 3000}, dropped=12)
    text = contents(report)
    assert "no sample: one takes two rows" in text
    assert "12 rows lost" in text
    assert "table net is left out: the prober cannot describe 3,000 entities" in text


def test_a_line_for_each_sample() -> None:
    heading, *rows = prober.lines(probes.report(), START_NS, heading=True)
    assert heading.split()[:3] == ["s", "CPU", "busy"]
    assert [row.split()[0] for row in rows] == ["1.000", "2.000", "3.000"]
    assert {len(row) for row in rows} == {len(heading)}
    assert prober.lines(probes.report(), START_NS, heading=False) == rows


def test_a_figure_has_its_unit() -> None:
    assert text_of(None, "W") == "-"
    assert [text_of(1536.0, unit) for unit in ("%", "1/s", "B", "B/s", "W")] == [
        "1536.0 %", "1,536/s", "1.50 KiB", "0.00 MiB/s", "1536 W",
    ]  # fmt: skip


def test_samples_with_power_have_dcse_over_time() -> None:
    report = probes.report()
    text = contents(report).partition("DCsE over time, sda by the power of psu/12V, psu/5V\n")[2]
    head, row = (line.split() for line in text.splitlines()[:2])
    assert head[-2:] == ["IOPS/W", "MB/s/W"] and row[-1] != "-"
    disk = next(table for table in report.tables if table.name == "disk sda")
    twice = replace(report, tables=[*report.tables, replace(disk, name="disk sdb")])
    assert "no DCsE over time: 2 disks had I/O, sda, sdb: name those" in contents(twice)
    dark = [table for table in report.tables if not table.name.startswith("power ")]
    assert "DCsE" not in contents(replace(report, tables=dark))
