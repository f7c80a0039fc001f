# SPDX-License-Identifier: GPL-2.0
"""Points of a curve from results."""

from __future__ import annotations

import pytest
from lib.ctl import frozen
from lib.ctl.fleets import Spec, fleet_of
from lib.ctl.sweep_command import a_result, queue_kernel
from lib.ctl.verdicts import measured, powered
from lib.fakes.queue_kernel import QueueKernel
from msgspec.structs import replace

from spekctl.campaigns import points
from spekctl.documents.curve import Load, Point
from spekctl.documents.power import total_of
from spekctl.fleet.merge import merge

kernel = pytest.fixture(queue_kernel)


def test_figures_of_streams_merge_exactly(kernel: QueueKernel) -> None:
    """Percentiles of the whole are those of the merged buckets, as the result has them."""
    contents = a_result(kernel)
    point: Point = points.point_of(contents, Load("depth", 32))
    whole = contents.totals.all.times.response
    assert whole is not None and point.response is not None
    assert point.response.p999 == whole.percentiles_ns["p99.9"]
    assert point.response.p90 == whole.percentiles_ns["p90"]
    assert (point.response.mean, point.response.max) == (whole.mean_ns, whole.max_ns)


def test_what_is_in_flight_at_the_end_counts_by_its_age() -> None:
    """The figures of the completed I/Os stay what they are."""
    ages = [index * frozen.MS for index in range(1, 101)]
    point = points.point_of(frozen.result(ages, ios=900, seconds=60, silent=3), Load("depth", 100))
    late = point.unanswered
    assert late is not None and (late.count, late.oldest_ns) == (100, 100 * frozen.MS)
    assert late.at_least.mean == (900 * 5 + 5050) / 1000 * frozen.MS
    assert late.at_least.max == 100 * frozen.MS
    assert late.at_least.p50 < late.at_least.p99 < 100 * frozen.MS
    assert point.response is not None
    assert (point.response.mean, point.response.max) == (5e6, 5 * frozen.MS)
    none = points.point_of(frozen.result([], ios=900, seconds=60, silent=3), Load("depth", 100))
    assert none.unanswered is None


def test_a_fleet_whose_power_is_partly_measured_names_the_hosts_without_a_meter() -> None:
    fleet = merge([fleet_of(Spec("alpha", watts=10.0)), fleet_of(Spec("beta"))])
    point = points.point_of(fleet, Load("depth", 1))
    assert point.power is None
    assert point.power_text.startswith("the fleet's power is not known: not measured on beta; beta")
    assert point.power_text == fleet.power_text
    whole = points.point_of(fleet_of(Spec("alpha", watts=10.0)), Load("depth", 1))
    assert whole.power is not None and whole.power_text == ""


def test_power_without_samples_is_said_to_be_unknown() -> None:
    silent = powered(measured(1), 10.0, known_s=0.0, gap_s=3.0)
    assert silent.power is not None
    rails = [replace(rail, mean_w=None) for rail in silent.power.measure.rails]
    measure = replace(silent.power.measure, rails=rails, total=total_of(rails))
    unknown = replace(silent, power=replace(silent.power, measure=measure), power_text="")
    point = points.point_of(unknown, Load("depth", 1))
    assert (point.power, point.power_text) == (None, "power is not known: 3 s without samples")


def test_only_the_longest_in_flight_change_the_times_of_a_run() -> None:
    young = frozen.result([4 * frozen.MS] * 8, ios=100, seconds=60, silent=3)
    assert points.slowest_of(young) == points.merged_figures(young.cells, "response")
    slowest = points.slowest_of(frozen.result([3 * 10**9], ios=99, seconds=60, silent=3))
    assert slowest is not None and slowest.max == 3 * 10**9
    assert slowest.mean == (99 * 5 * frozen.MS + 3 * 10**9) / 100
    assert slowest.p50 == slowest.p90 < 6 * frozen.MS
