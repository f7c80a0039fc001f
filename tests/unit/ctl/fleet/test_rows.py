# SPDX-License-Identifier: GPL-2.0
"""Report intervals of several hosts as sums."""

from __future__ import annotations

import msgspec
from lib.ctl.fleets import RAMP_S, T0, Spec, facts_of, power_of, result_of
from lib.fakes.kernel import SECOND

from spekctl.documents import per_host
from spekctl.documents.host_results import HostResult
from spekctl.documents.result_parts import Interval
from spekctl.fleet import rows, window
from spekctl.fleet.merge import of_host
from spekctl.kernel.records import Phase


def host_of(spec: Spec, *changes: dict[str, object]) -> HostResult:
    """The host, with changes to its first rows."""
    own = result_of(spec)
    changed = [msgspec.structs.replace(row, **change)
               for row, change in zip(own.intervals, changes, strict=False)]  # fmt: skip
    kept = [*changed, *own.intervals[len(changed) :]]
    fleet = of_host(msgspec.structs.replace(own, intervals=kept), facts_of(spec))
    assert fleet.hosts is not None
    return fleet.hosts[0]


def summed(*hosts: HostResult, baseline_w: float = 0.0) -> list[Interval]:
    return rows.summed(window.placed(hosts, SECOND), 1, baseline_w)


def test_counts_and_levels_are_added() -> None:
    first, second, *_ = summed(host_of(Spec("a")), host_of(Spec("b")))
    assert (first.seq, second.seq) == (0, 1)
    assert (first.read.ios, first.read.response_sum_ns) == (4, 1_000_000)
    assert first.read.response_max_ns == 300_000 and first.write.errors == 0
    assert first.streams == [(4, 4 * 8192, 2, 2 * 8192)]
    assert (first.outstanding, first.worker_switches, first.worker_cpu_ns) == (6, 14, SECOND // 2)
    assert second.backlog == 2


def test_sums_of_times_have_all_their_digits() -> None:
    """Those of each host pass 2^64 ns."""
    times = [2**62 + 1] * 5
    spec = Spec("a", [(times, [])])
    first, *_ = summed(host_of(spec), host_of(Spec("b", [(times, [])])))
    assert first.read.response_sum_ns == first.read.service_sum_ns == 2 * sum(times)
    again = msgspec.json.decode(msgspec.json.encode(first), type=Interval)
    assert again == first


def test_a_row_starts_with_the_earliest_host_and_keeps_its_length() -> None:
    start_ns = T0 + RAMP_S * SECOND
    first, *_ = summed(host_of(Spec("a", skew_ns=70)), host_of(Spec("b", skew_ns=-30)))
    assert (first.start_ns, first.end_ns) == (start_ns - 30, start_ns - 30 + SECOND)


def test_cpu_time_that_a_host_does_not_know_is_not_known() -> None:
    first, second, *_ = summed(host_of(Spec("a"), {"worker_cpu_ns": None}), host_of(Spec("b")))
    assert first.worker_cpu_ns is None and second.worker_cpu_ns == SECOND // 2


def test_rows_of_several_phases_do_not_mix() -> None:
    ramp = {"phase": Phase.RAMP, "start_ns": 0, "end_ns": 0}
    own = host_of(Spec("a"))
    run = own.run
    assert run is not None
    ramp |= {"start_ns": run.phases[0].start_ns, "end_ns": run.phases[1].start_ns}
    merged = summed(host_of(Spec("a"), ramp), host_of(Spec("b"), ramp))
    assert [row.phase for row in merged] == [Phase.RAMP, *[Phase.MEASURE] * 3]
    assert merged[0].read.ios == 4


def test_coverage_counts_workers() -> None:
    merged = summed(host_of(Spec("a"), {"coverage_ppm": 400_000}), host_of(Spec("b")))
    assert [row.coverage_ppm for row in merged] == [700_000, 10**6, 10**6, 10**6]


def test_rows_that_are_centuries_apart_take_no_longer() -> None:
    """As a host may send them; all numbers between them would be looked at."""
    far_ns = 9 * 10**18
    far: dict[str, object] = {"start_ns": far_ns, "end_ns": far_ns + SECOND}
    merged = summed(host_of(Spec("a"), far), host_of(Spec("b")))
    assert [row.read.ios for row in merged] == [2, 4, 4, 4, 2]


def test_power_is_the_sum_if_all_know_it() -> None:
    measured = power_of(10.0, 1.0).measure
    every: list[dict[str, object]] = [{"power": measured}] * 4
    first, second, *_ = summed(
        host_of(Spec("a"), *every), host_of(Spec("b"), *every[:1]), baseline_w=2.0
    )
    assert first.power is not None and second.power is None
    assert first.power.total.joules == 20.0 and first.power.rails == []
    assert first.power.efficiency is not None and first.power.efficiency.watts == 18.0


def test_a_host_without_a_meter_hides_the_power_of_all() -> None:
    measured: dict[str, object] = {"power": power_of(10.0, 1.0).measure}
    metered = host_of(Spec("a"), *[measured] * 4)
    assert metered.rows.power is not None
    assert all(row.power is None for row in summed(metered, host_of(Spec("b"))))


def test_no_hosts_have_no_rows() -> None:
    assert summed() == []
    assert summed(host_of(Spec("a", ()))) == []


def test_a_row_of_older_results_without_streams_is_counted_in_all() -> None:
    first, *_ = summed(host_of(Spec("a"), {"streams": []}), host_of(Spec("b")))
    assert first.read.ios == 4 and first.streams == [(2, 2 * 8192, 1, 8192)]


def test_workers_of_a_host_that_did_not_tell_count_as_one() -> None:
    own = host_of(Spec("a"))
    assert rows.workers_of(own) == 1
    assert rows.workers_of(msgspec.structs.replace(own, run=None)) == 1
    assert per_host.unpacked(own.rows) == result_of(Spec("a")).intervals
