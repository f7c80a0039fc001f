# SPDX-License-Identifier: GPL-2.0
"""Charts of the prober's samples: units, rates by the length of each sample, and gaps."""

from __future__ import annotations

import pytest
from lib.ctl import probes
from lib.fakes.prober import GIB, MIB

from spekctl.documents.result_parts import ProberTable
from spekctl.documents.samples import Chart, Samples, charts

SECOND = 10**9


def by_key(samples: Samples) -> dict[str, Chart]:
    return {chart.key: chart for chart in charts(samples)}


def test_every_table_has_its_charts() -> None:
    by_key = {chart.key: chart for chart in charts(probes.report())}
    first = {
        key: {series.name: series.values[0] for series in chart.series}
        for key, chart in by_key.items()
    }
    assert first["machine-cpu"]["busy"] == 25.0
    assert first["machine-switches"] == {"context switches": 500.0}
    assert first["machine-interrupts"] == {
        "interrupts": 700.0, "of devices": 300.0, "softirqs": 400.0,
    }  # fmt: skip
    assert first["cpu-0"] == {"busy": 25.0}
    assert first["task-77"] == {"of a CPU": 50.0}
    assert first["memory"] == {"available": float(GIB - MIB)}
    assert first["swap"] == {"used": float(GIB), "size": float(4 * GIB)}
    assert first["swapping"] == {"in": 0.0, "out": float(MIB)}
    assert first["net-eth0"] == {"received": 2.0 * MIB, "sent": 1.0 * MIB}
    assert first["disk-sda"] == {"read": 4.0 * MIB, "written": 0.0}
    assert first["disk-ios-sda"] == {"reads": 10.0, "writes": 0.0}
    assert first["disk-busy-sda"] == {"busy": 25.0}
    assert first["power-psu/12V"] == {"mean": 12.0}
    assert first["power-psu/5V"] == {"mean": -1.0}


@pytest.mark.parametrize("swap", [None, 0])
def test_swap_is_shown_only_where_there_is_some(swap: int | None) -> None:
    table = ProberTable("memory", ["available_bytes", "swap_free_bytes"], [[7, 0]])
    assert set(by_key(Samples([0], [SECOND], [table], swap))) == {"memory"}


def test_a_rate_is_by_the_samples_own_length_and_a_gap_stays_one() -> None:
    table = ProberTable("net x", ["rx_bytes", "tx_bytes"], [[100, None], [None, None], [100, None]])
    (chart,) = charts(Samples([0, 2, 3], [2 * SECOND, 3, 3 + SECOND // 2], [table], None))
    assert [(series.name, series.values) for series in chart.series] == [
        ("received", [50.0, None, 200.0])
    ]


def test_power_is_over_the_time_that_is_known() -> None:
    columns = ["energy_nj", "known_ns", "gap_ns"]
    rows: list[list[int | None]] = [[6 * SECOND, SECOND // 2, SECOND // 2], [0, 0, SECOND]]
    table = ProberTable("power psu/12V", columns, rows)
    (chart,) = charts(Samples([0, SECOND], [SECOND, 2 * SECOND], [table], None))
    assert chart.series[0].values == [12.0, None]


def test_tables_of_a_newer_prober_are_passed_over() -> None:
    assert charts(Samples([0], [1], [ProberTable("later x", ["a"], [[1]])], None)) == []
