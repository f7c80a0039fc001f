# SPDX-License-Identifier: GPL-2.0
"""The time in which all hosts were at work."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lib.ctl.fleets import T0, Spec, fleet_of, three
from lib.fakes.kernel import SECOND

from spekctl.documents import per_host
from spekctl.documents.hosts import CommonWindow
from spekctl.fleet import window
from spekctl.fleet.merge import merge
from spekctl.kernel.records import Phase


def load(seconds: int, ios: int = 3) -> list[tuple[list[int], list[int]]]:
    """Reads alone; those of second n take n + 1 us."""
    return [([1000 * (second + 1)] * ios, []) for second in range(seconds)]


def common(*specs: Spec) -> CommonWindow:
    shared = merge([fleet_of(spec) for spec in specs]).common
    assert shared is not None
    return shared


def test_it_begins_with_the_latest_and_ends_with_the_earliest() -> None:
    early = Spec("alpha", load(10), skew_ns=-2 * SECOND)
    late = Spec("beta", load(9), skew_ns=1 * SECOND)
    shared = common(early, late)
    # alpha measures from -1 to 9 s, beta from 2 to 11 s.
    assert (shared.start_ns, shared.end_ns) == (T0 + 2 * SECOND, T0 + 9 * SECOND)
    assert (shared.duration_ns, shared.intervals) == (7 * SECOND, 7)
    assert shared.all.ios == 2 * 7 * 3 and shared.all.iops == 6.0
    # Of alpha its seconds 3 to 9, of beta its first seven.
    own = {host.name: host.all.response_sum_ns for host in shared.hosts}
    assert own == {
        "alpha": 3 * 1000 * sum(range(4, 11)), "beta": 3 * 1000 * sum(range(1, 8))
    }  # fmt: skip
    assert not shared.whole


def test_a_skew_below_half_an_interval_moves_no_row() -> None:
    shared = common(Spec("alpha", load(4), -120_000_000), Spec("beta", load(4), 300_000_000))
    assert shared.intervals == 4 and shared.whole
    assert shared.start_ns == T0 + 1 * SECOND + 300_000_000
    assert shared.end_ns == T0 + 5 * SECOND - 120_000_000
    assert shared.duration_ns == 4 * SECOND
    assert (shared.skew_ns, shared.spread_ns) == (300_000_000, 420_000_000)


def test_the_clock_of_a_host_since_its_boot_does_not_matter() -> None:
    near = common(Spec("alpha", load(4)), Spec("beta", load(4), boot_ns=T0 - 9 * SECOND))
    far = common(Spec("alpha", load(4)), Spec("beta", load(4), boot_ns=5))
    assert near == far


def test_a_row_that_was_never_read_is_not_in_it() -> None:
    shared = common(Spec("alpha", load(4), missing=(1,)), Spec("beta", load(4)))
    assert (shared.intervals, shared.duration_ns) == (3, 3 * SECOND)
    assert shared.all.ios == 2 * 3 * 3 and not shared.whole


def test_streams_and_shares() -> None:
    shared = merge(three()).common
    assert shared is not None
    (stream,) = shared.streams
    assert (stream.reads, stream.writes) == (shared.read.ios, shared.write.ios) == (480, 240)
    assert stream.read_bytes == 480 * 8192 == shared.read.bytes
    assert [host.share for host in shared.hosts] == [360 / 720, 240 / 720, 120 / 720]
    assert shared.jain == 720**2 / (3 * (360**2 + 240**2 + 120**2))


def test_a_run_without_ios_has_a_window_and_no_shares() -> None:
    shared = common(Spec("alpha", [((), ())] * 3), Spec("beta", [((), ())] * 3))
    assert shared.intervals == 3 and shared.whole
    assert (shared.all.ios, shared.all.iops, shared.all.mean_ns, shared.jain) == (0, 0, None, None)
    assert [host.share for host in shared.hosts] == [None, None]


def test_hosts_that_never_measured_together_have_none() -> None:
    shared = common(Spec("alpha", load(2)), Spec("beta", load(2), skew_ns=60 * SECOND))
    assert (shared.intervals, shared.start_ns, shared.all.ios) == (0, 0, 0)
    assert shared.text == "there was no report interval in which all hosts measured"


def test_a_clock_without_a_bound_promises_nothing_for_all() -> None:
    fleet = merge([fleet_of(Spec("alpha")), fleet_of(Spec("beta"))])
    assert fleet.common is not None and fleet.common.bound_ns == 40_000
    assert fleet.hosts is not None
    unknown = msgspec.structs.replace(
        fleet.hosts[0], clock=msgspec.structs.replace(fleet.hosts[0].clock, bound_ns=None)
    )
    shared = window.common(window.placed([unknown, fleet.hosts[1]], SECOND), ["main"], 0)
    assert shared.bound_ns is None


def test_a_row_of_a_late_worker_shares_its_place() -> None:
    fleet = fleet_of(Spec("alpha", load(2)))
    assert fleet.hosts is not None
    (host,) = fleet.hosts
    rows = per_host.unpacked(host.rows)
    host = msgspec.structs.replace(host, rows=per_host.packed([*rows, rows[-1]]))
    (placed,) = window.placed([host], SECOND)
    assert placed.places == {(Phase.MEASURE, 0): [0], (Phase.MEASURE, 1): [1, 2]}
    shared = window.common([placed], ["main"], 9)
    assert (shared.all.ios, shared.duration_ns, shared.whole) == (9, 2 * SECOND, True)


@given(st.lists(st.integers(0, 10**9), min_size=1, max_size=9))
def test_jain_lies_between_one_over_n_and_one(amounts: list[int]) -> None:
    index = window.jain(amounts)
    if not any(amounts):
        assert index is None
    else:
        assert index is not None
        assert 1 / len(amounts) <= index * (1 + 1e-12) and index <= 1 + 1e-12


@pytest.mark.parametrize(("amounts", "index"), [([5, 5, 5], 1.0), ([9, 0, 0], 1 / 3), ([0], None)])
def test_jain_of_known_shares(amounts: list[int], index: float | None) -> None:
    assert window.jain(amounts) == index


def test_a_single_host_is_its_own_window() -> None:
    fleet = fleet_of(Spec("alpha", load(4)))
    assert fleet.common is not None and fleet.common.whole
    assert fleet.common.all.iops == fleet.totals.all.iops
    assert merge([fleet]) == fleet
