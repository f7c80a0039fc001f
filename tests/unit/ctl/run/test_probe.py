# SPDX-License-Identifier: GPL-2.0
"""The samples of a probe, gathered: every table, what is chosen, and what is missing."""

from __future__ import annotations

import pytest
from lib.fakes.prober import MIB, SECOND, START_NS, FakeProber

from spekctl.errors import NotFoundError, UsageError
from spekctl.kernel.gen.spek_prober_records import ProbeState
from spekctl.run import probe
from spekctl.run.probe import Collector


def started(**changes: int) -> FakeProber:
    fake = FakeProber(**changes)  # type: ignore[arg-type]
    fake.start(SECOND)
    return fake


def test_every_table_is_in_the_document() -> None:
    fake = started()
    collector = Collector(fake, 4)
    for _ in range(2):
        collector.fetch()
    fake.stop(4)
    collector.fetch()
    assert collector.is_complete
    report = collector.report()
    assert [table.name for table in report.tables] == [
        "machine", "cpu 0", "task 77", "memory", "net eth0", "disk sda", "power psu/12V",
        "power psu/5V",
    ]  # fmt: skip
    assert all(len(table.rows) == len(report.start_ns) == 3 for table in report.tables)
    assert report.start_ns == [START_NS + seq * SECOND for seq in range(3)]
    assert report.end_ns[:-1] == report.start_ns[1:]
    assert (report.probe.ended, report.probe.reason, report.probe.cost_mean_ns) == (
        True, "stopped", 1000.0,
    )  # fmt: skip


def cells_of(collector: Collector, name: str) -> list[list[int | None]]:
    return next(table.rows for table in collector.report().tables if table.name == name)


def test_energy_passes_the_end_of_its_counter_and_may_be_negative() -> None:
    fake = started()
    collector = Collector(fake, 4)
    collector.fetch()
    samples = collector.take()
    rows = {table.name: table.rows for table in samples.tables}
    assert rows["power psu/12V"] == [[12 * SECOND, SECOND, 0]]
    assert rows["power psu/5V"] == [[-SECOND, SECOND, 0]]


def test_levels_are_not_differences() -> None:
    collector = Collector(started(), 4)
    collector.fetch()
    assert cells_of(collector, "memory") == [[1024 * MIB - MIB, 3072 * MIB, 0, MIB]]


@pytest.mark.parametrize(
    ("tables", "feeds", "names"),
    [
        (["memory"], [], ["memory"]),
        (["net", "disk"], [], ["net eth0", "disk sda"]),
        (["power"], ["psu"], ["power psu/12V", "power psu/5V"]),
    ],
)
def test_tables_and_feeds_can_be_chosen(
    tables: list[str], feeds: list[str], names: list[str]
) -> None:
    collector = Collector(started(), 4, tables, feeds)
    collector.fetch()
    assert [table.name for table in collector.report().tables] == names


def test_a_feed_that_is_not_there_is_refused() -> None:
    with pytest.raises(UsageError, match="the probe has no feed 'u6'; it has psu"):
        Collector(started(), 4, (), ["u6"])


def test_rows_that_were_overwritten_are_counted() -> None:
    fake = started()
    fake.seq = 9
    fake.oldest = 6
    collector = Collector(fake, 4)
    collector.fetch()
    report = collector.report()
    assert (report.dropped, len(report.start_ns)) == (6, 4)


def test_what_was_taken_is_not_in_the_document() -> None:
    collector = Collector(started(), 4)
    collector.fetch()
    assert len(collector.take().start_ns) == 1
    collector.fetch()
    assert collector.report().start_ns == [START_NS + SECOND]


def test_a_table_that_was_left_out_is_named() -> None:
    fake = started()
    fake.left_out = {"net": 3000}
    collector = Collector(fake, 4)
    assert collector.report().left_out == {"net": 3000}


def test_without_a_probe_there_is_nothing_to_gather() -> None:
    with pytest.raises(UsageError, match="there is no probe; `spekctl prober start` starts one"):
        probe.current(FakeProber())
    fake = started()
    with pytest.raises(NotFoundError, match="there is no probe 3 any more"):
        Collector(fake, 3)
    assert fake.state is ProbeState.RUNNING
