# SPDX-License-Identifier: GPL-2.0
"""DCsE of disks in normal operation: what samples add up to, and what is left to the user."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import pytest
from lib.ctl import probes
from msgspec.structs import replace

from spekctl.documents import operation
from spekctl.documents.dcse import metrics
from spekctl.documents.operation import DAY, HOUR, MINUTE, SECOND, Operation, Sample
from spekctl.documents.prober import ProberReport
from spekctl.documents.result_parts import ProberTable
from spekctl.errors import UsageError

MIB = 1 << 20


def disk(name: str, reads: Sequence[int | None]) -> ProberTable:
    columns = ["reads", "read_bytes", "writes", "write_bytes"]
    rows = [[n, None if n is None else n * MIB, 0, 0] for n in reads]
    return ProberTable(f"disk {name}", columns, rows)


def rail(name: str, cells: Sequence[tuple[int, int]]) -> ProberTable:
    """@cells: W and known seconds of each sample."""
    rows: list[list[int | None]] = [
        [watts * known * SECOND, known * SECOND] for watts, known in cells
    ]
    return ProberTable(f"power {name}", ["energy_nj", "known_ns"], rows)


def document(*tables: ProberTable, seconds: int = 10) -> ProberReport:
    count = len(tables[0].rows)
    starts = [number * seconds * SECOND for number in range(count)]
    ends = [start + seconds * SECOND for start in starts]
    return replace(probes.report(), start_ns=starts, end_ns=ends, tables=list(tables))


def test_workload_is_ios_per_joule_and_capacity_is_by_the_idle_power() -> None:
    report = document(
        disk("sda", [100, 0, 300, 0]),
        rail("daq/a", [(6, 10), (4, 10), (8, 10), (4, 10)]),
        rail("daq/b", [(1, 10)] * 4),
    )
    chosen = operation.operation_of(report, (), ())
    assert (chosen.disks, chosen.rails) == (("sda",), ("daq/a", "daq/b"))
    known, remarks = operation.inputs_of(chosen, Fraction(4000))
    assert not remarks
    assert (known.idle_watts, known.load_watts, known.iops) == (
        Fraction(5),
        Fraction("6.5"),
        Fraction(10),
    )
    computed = metrics(known)
    joules = (6 + 4 + 8 + 4 + 4) * 10
    assert computed.iops_per_watt == Fraction(400, joules)
    assert computed.gb_per_watt == 800
    assert computed.mb_per_s_per_watt == Fraction(400 * MIB, 10**6 * joules)


def test_a_sample_whose_power_is_not_known_counts_for_nothing() -> None:
    report = document(
        disk("sda", [100, 900, 100, None]),
        rail("daq/a", [(5, 10), (99, 0), (77, 2), (3, 10)]),
    )
    chosen = operation.operation_of(report, ("sda",), ("daq/a",))
    known, remarks = operation.inputs_of(chosen, None)
    assert (known.load_watts, known.idle_watts) == (Fraction(4), Fraction(3))
    assert known.iops == 5
    assert remarks == [
        "2 of 4 samples are left out: the power of a rail is unknown for more than 5% of each"
    ]


def test_a_sample_that_is_nearly_known_counts_with_its_known_time() -> None:
    report = document(
        *(disk("sda", [190, 10]), rail("d/a", [(4, 95), (9, 94)]), rail("d/b", [(1, 100)] * 2)),
        seconds=100,
    )
    chosen = operation.operation_of(report, (), ())
    (span,) = operation.over_time(chosen, 200 * SECOND, 0)
    assert (span.watts, span.iops, span.known_share) == ("5", "1.9", 0.475)


def test_without_an_idle_sample_there_is_no_capacity_figure() -> None:
    chosen = operation.operation_of(document(disk("sda", [1]), rail("d/a", [(5, 10)])), (), ())
    known, remarks = operation.inputs_of(chosen, Fraction(10))
    assert metrics(known).gb_per_watt is None
    assert remarks == ["no sample is without I/O, so that the idle power is not known"]


@pytest.mark.parametrize("column", ["discards", "flushes", "busy_time_ns"])
def test_a_sample_with_any_request_is_not_idle(column: str) -> None:
    sda = disk("sda", [9, 0, 0])
    table = ProberTable(
        sda.name,
        [*sda.columns, column],
        [[*row, count] for row, count in zip(sda.rows, (3, 1, 0), strict=True)],
    )
    report = document(table, rail("d/a", [(9, 10), (8, 10), (3, 10)]))
    known, _ = operation.inputs_of(operation.operation_of(report, (), ()), Fraction(10))
    assert known.idle_watts == 3


def test_the_samples_that_a_request_was_in_flight_in_are_not_idle() -> None:
    """It took 24 s, and an old kernel added all of them when it completed."""
    sda = disk("sda", [0, 0, 0, 1])
    busy = (0, 0, 0, 24 * SECOND)
    table = ProberTable(
        sda.name,
        [*sda.columns, "busy_time_ns"],
        [[*row, time] for row, time in zip(sda.rows, busy, strict=True)],
    )
    report = document(table, rail("d/a", [(3, 10), (8, 10), (8, 10), (9, 10)]))
    chosen = operation.operation_of(report, (), ())
    assert [sample.is_idle for sample in chosen.samples] == [True, False, False, False]


@pytest.mark.parametrize("watts", [0, -2])
def test_power_that_is_not_positive_gives_no_figure_and_is_told(watts: int) -> None:
    report = document(disk("sda", [5, 0]), rail("d/a", [(2, 10), (watts, 10)]))
    chosen = operation.operation_of(report, (), ())
    known, remarks = operation.inputs_of(chosen, Fraction(10))
    assert known.idle_watts is None and metrics(known).gb_per_watt is None
    assert remarks[0].startswith(f"the idle power is {watts} W, and gives no figure: it must be")
    if watts < 0:
        assert known.load_watts is None and len(remarks) == 2
        (span,) = operation.over_time(chosen, MINUTE, 0)
        assert span.iops_per_watt is None and span.mb_per_s_per_watt is None


def test_an_idle_power_above_the_mean_is_told() -> None:
    report = document(disk("sda", [5, 0]), rail("d/a", [(2, 10), (4, 10)]))
    known, remarks = operation.inputs_of(operation.operation_of(report, (), ()), None)
    assert (known.idle_watts, known.load_watts) == (Fraction(4), Fraction(3))
    assert remarks == [
        "idle power, 4 W, is above the mean power, 3 W: check that the rails measure these disks"
    ]


TWO = (disk("sda", [1, 2]), disk("md0", [1, 2]), disk("sdb", [0, 0]))


@pytest.mark.parametrize(
    ("tables", "disks", "rails", "sentence"),
    [
        ((*TWO, rail("d/a", [(1, 10)] * 2)), (), (), "2 disks had I/O, sda, md0: name those"),
        ((*TWO, rail("d/a", [(1, 10)] * 2)), ("sdx",), (), "no disk 'sdx'"),
        ((*TWO, rail("d/a", [(1, 10)] * 2)), ("sda",), ("d/b",), "no rail 'd/b'"),
        (TWO, ("sda",), (), "the samples have no power: start spek-daq"),
        ((TWO[2], rail("d/a", [(1, 10)] * 2)), (), (), "no disk that had any I/O"),
        (
            (ProberTable("disk sda", ["writes"], [[1]]), rail("d/a", [(1, 10)])),
            *(("sda",), ()),
            "the samples of disk sda have no column 'reads'",
        ),
    ],
)
def test_what_the_samples_have_not_is_refused(
    tables: Sequence[ProberTable], disks: Sequence[str], rails: Sequence[str], sentence: str
) -> None:
    with pytest.raises(UsageError) as caught:
        operation.operation_of(document(*tables), disks, rails)
    assert sentence in caught.value.message


def test_power_that_is_never_known_is_refused() -> None:
    chosen = operation.operation_of(document(disk("sda", [1]), rail("d/a", [(5, 0)])), (), ())
    with pytest.raises(UsageError, match="not known in any sample"):
        operation.inputs_of(chosen, None)


def of_length(length_ns: int) -> Operation:
    return Operation(("sda",), ("d/a",), [Sample(0, length_ns, 1, 1, (1,), (1,), False)])


@pytest.mark.parametrize(
    ("length_ns", "each_ns"),
    [
        (10 * SECOND, MINUTE),
        (48 * MINUTE, MINUTE),
        (48 * MINUTE + 1, 5 * MINUTE),
        (2 * DAY, HOUR),
        (3 * DAY, 6 * HOUR),
        (100 * DAY, DAY),
    ],
)
def test_spans_are_as_short_as_few_of_them_allow(length_ns: int, each_ns: int) -> None:
    assert operation.length_of_spans(of_length(length_ns), None) == each_ns


def test_spans_may_be_chosen_but_not_without_end() -> None:
    assert operation.length_of_spans(of_length(DAY), MINUTE) == MINUTE
    with pytest.raises(UsageError, match="--every 1s makes more than 10,000 spans"):
        operation.length_of_spans(of_length(DAY), SECOND)


def test_each_span_has_the_figures_of_its_samples() -> None:
    report = document(
        disk("sda", [100, 300, 50, 0]), rail("d/a", [(4, 10), (6, 10), (5, 0), (5, 0)])
    )
    chosen = operation.operation_of(report, (), ())
    first, second = operation.over_time(chosen, 20 * SECOND, 1000)
    assert (first.start_real_ns, first.length_s, first.known_share) == (1000, 20, 1)
    assert (first.watts, first.iops) == ("5", "20")
    assert first.iops_per_watt is not None and first.iops_per_watt.text == "4.00"
    assert first.mb_per_s_per_watt is not None and first.mb_per_s_per_watt.text == "4.19"
    assert (second.start_real_ns, second.known_share) == (1000 + 20 * SECOND, 0)
    assert (second.watts, second.iops, second.iops_per_watt) == (None, None, None)
