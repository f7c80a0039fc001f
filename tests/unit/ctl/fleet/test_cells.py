# SPDX-License-Identifier: GPL-2.0
"""Cells of several hosts as one."""

from __future__ import annotations

import msgspec
from lib.ctl.fleets import Spec, result_of

from spekctl.documents import per_host
from spekctl.documents.host_results import HostRun
from spekctl.documents.result_parts import InFlight
from spekctl.documents.times import Buckets, Distribution
from spekctl.fleet import cells
from spekctl.kernel.records import Direction, Phase


def run_of(name: str, reads: list[int], writes: list[int], errors: int = 0) -> HostRun:
    return per_host.run_of(result_of(Spec(name, [(reads, writes)], errors=errors)))


def test_a_cell_that_a_host_does_not_have_is_nothing() -> None:
    both = cells.summed([run_of("a", [100], []), run_of("b", [], [300])])
    assert [(cell.direction, cell.ios) for cell in both] == [
        (Direction.READ, 1), (Direction.WRITE, 1)
    ]  # fmt: skip
    assert both[0].times.response is not None and both[0].times.response.max_ns == 100


def test_buckets_that_do_not_overlap_leave_a_gap() -> None:
    (cell,) = cells.summed([run_of("a", [100], []), run_of("b", [104, 104], [])])
    response = cell.times.response
    assert response is not None and response.histogram is not None
    assert response.histogram == Buckets(6, 40, 100, [1, 0, 0, 0, 2]) or (
        sum(response.histogram.counts) == 3
    )
    assert (response.count, response.sum_ns, response.mean_ns) == (3, 308, 308 / 3)
    assert (response.min_ns, response.max_ns, response.percentiles_ns["p50"]) == (100, 104, 104)


def test_a_percentile_is_of_the_sum_and_no_mean() -> None:
    slow, fast = run_of("a", [10_000_000], []), run_of("b", [100] * 99, [])
    (cell,) = cells.summed([slow, fast])
    assert cell.times.response is not None
    assert cell.times.response.percentiles_ns["p99"] == 100
    assert cell.times.response.max_ns == 10_000_000


def test_sums_of_times_have_all_their_digits() -> None:
    """Where those of each host and those of all pass 2^64 ns, through files as well."""
    own = [[2**62 + 1] * 5, [2**63 + 3] * 2]
    runs = [run_of(name, times, []) for name, times in zip("ab", own, strict=True)]
    kept = [msgspec.json.decode(msgspec.json.encode(run), type=HostRun) for run in runs]
    (cell,) = cells.summed(kept)
    response = cell.times.response
    assert response is not None
    assert response.sum_ns == sum(map(sum, own))
    again = msgspec.json.decode(msgspec.json.encode(response), type=Distribution)
    assert again == response


def test_errors_are_added_by_cause() -> None:
    both = cells.summed([run_of("a", [1], [], 2), run_of("b", [1], [], 3)])
    assert both[0].errors_by_cause == {"EIO": 5} and both[0].errors == 5
    assert cells.counts_by_name([{"ENOSPC": 1}, {"EIO": 2}, {"ENOSPC": 4}]) == {
        "EIO": 2, "ENOSPC": 5
    }  # fmt: skip


def test_ages_are_added_where_they_are_known() -> None:
    old, new = run_of("a", [7], []), run_of("b", [9, 9], [])
    without = msgspec.structs.replace(
        old, cells=[msgspec.structs.replace(cell, in_flight=None) for cell in old.cells]
    )
    (cell,) = cells.summed([without, new])
    assert cell.in_flight is not None and cell.in_flight.count == 2
    (cell,) = cells.summed([without, without])
    assert cell.in_flight is None


def test_no_cells_are_totals_of_nothing() -> None:
    nothing = cells.totals([], 10**9)
    assert (nothing.all.ios, nothing.all.iops, nothing.all.mean_bytes) == (0, 0.0, 0.0)
    assert nothing.all.in_flight == InFlight(0) and nothing.all.times.response is None
    assert cells.totals(cells.summed([run_of("a", [1], [])]), 0).all.iops == 0.0


def test_a_phase_lasts_from_the_first_start_to_the_last_end() -> None:
    first, second = run_of("a", [100], []), run_of("b", [200], [])
    ramp, measure, drain = cells.phases([(first, 0), (second, 5)], cells.summed([first, second]))
    assert [part.phase for part in (ramp, measure, drain)] == list(Phase)
    own = first.phases[1]
    assert (measure.start_ns, measure.end_ns) == (own.start_ns, own.end_ns + 5)
    assert measure.duration_ns == own.duration_ns + 5 and measure.ios == 2
    assert measure.times is not None and measure.times.response is not None
    assert measure.times.response.sum_ns == 300 and ramp.times is None
