# SPDX-License-Identifier: GPL-2.0
"""Metrics: each is the figure of the result that its name says, in its unit."""

from __future__ import annotations

import pytest
from lib.ctl.fleets import Spec, fleet_of
from lib.ctl.verdicts import changed, measured, real
from msgspec.structs import replace

from spekctl.condition import Unit
from spekctl.documents.result import Result
from spekctl.documents.result_parts import Efficiency, IntervalPower, PowerResult, RailPower
from spekctl.errors import UsageError
from spekctl.fleet.merge import merge
from spekctl.gate.metrics import METRICS, find


def with_power(result: Result) -> Result:
    rail = RailPower("12V", 30.0, 10.0, 9.0, 11.0, 3.0, 0.0, 30)
    measure = IntervalPower([rail], rail, Efficiency(10.0, 100.0, 10.0, 5.0, 2.5))
    return replace(result, power=PowerResult([], 0.0, measure, 0, 0.0, 0.0))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("iops", 500.0),
        ("read.iops", 500.0),
        ("write.iops", 0.0),
        ("bandwidth", 500.0 * 4096),
        ("response.p99", 2e6),
        ("read.response.max", 4e6),
        ("response.mean", 500_000.0),
        ("write.response.p99", None),
        ("time_per_io", 2e6),
        ("errors", 0.0),
        ("backlog", 0.0),
        ("power", 10.0),
        ("iops_per_w", 100.0),
        ("mw_per_iops", 10.0),
        ("j_per_gib", 2.5),
    ],
)
def test_a_metric_is_the_figure_of_its_name(name: str, value: float | None) -> None:
    assert find(name).value(with_power(measured(0, 500.0, 2_000_000))) == value


def test_costs_are_those_of_all_workers_over_all_ios() -> None:
    base = real()
    worker = replace(base.workers[0], cpu_ns=900, voluntary_switches=2, involuntary_switches=1)
    phases = [replace(phase, ios=100) for phase in base.phases]
    result = replace(base, workers=[worker, worker], phases=phases)
    ios = 100 * len(phases)
    assert find("cpu_per_io").value(result) == 1800 / ios
    assert find("switches_per_io").value(result) == 6 / ios


def test_a_result_without_a_figure_has_none() -> None:
    base = real()
    without = replace(base, phases=[replace(phase, ios=0) for phase in base.phases], power=None)
    for name in ("time_per_io", "cpu_per_io", "switches_per_io", "power", "iops_per_w"):
        assert find(name).value(without) is None, name
    infinite = changed(base, totals={"all": replace(base.totals.all, iops=float("nan"))})
    assert find("iops").value(infinite) is None


def test_every_metric_can_be_read_from_a_real_result() -> None:
    assert len(METRICS) > 70
    for metric in METRICS.values():
        value = metric.value(real())
        assert value is None or value >= 0


def test_times_of_a_guest_that_counts_are_instructions() -> None:
    result = measured(0, counts=True)
    assert find("time_per_io").unit_in(result) is Unit.INSTRUCTIONS
    assert find("iops").unit_in(result) is Unit.RATE_PER_INSTRUCTIONS
    assert find("errors").unit_in(result) is Unit.COUNT
    assert find("iops").unit_in(measured(0)) is Unit.RATE


def test_an_unknown_metric_names_the_nearest() -> None:
    with pytest.raises(UsageError, match=r"there is no metric 'response\.p90p'; did you mean 'res"):
        find("response.p90p")
    with pytest.raises(UsageError, match=r"the metrics are iops, .*response,service,slip"):
        find("speed of light")


def test_rates_of_a_fleet_are_those_of_its_common_window() -> None:
    alpha = Spec("alpha", [([1000] * 10, [2000])] * 4)
    fleet = merge([fleet_of(alpha), fleet_of(Spec("beta", [([1000] * 30, [])] * 2))])
    # beta measures for two of the four seconds.
    assert find("iops").value(fleet) == 41.0 and find("write.iops").value(fleet) == 1.0
    assert find("read.bandwidth").value(fleet) == 40 * 8192.0
    assert fleet.totals.all.iops == (44 + 60) / 4
    assert find("response.max").value(fleet) == 2000.0


def test_a_fleet_without_a_common_window_has_no_rates() -> None:
    fleet = merge([fleet_of(Spec("alpha")), fleet_of(Spec("beta", ()))])
    assert find("iops").value(fleet) is None and find("response.max").value(fleet) is not None
