# SPDX-License-Identifier: GPL-2.0
"""The document of a result: hosts and rows that contradict each other are refused."""

from __future__ import annotations

import msgspec
import pytest
from lib.ctl.fleets import Spec, fleet_of, result_of, three

from spekctl.fleet.merge import merge


def test_hosts_are_sorted_and_come_with_a_common_window() -> None:
    fleet = merge(three())
    assert fleet.hosts is not None
    with pytest.raises(ValueError, match="hosts have to be sorted by name, each of its own"):
        msgspec.structs.replace(fleet, hosts=fleet.hosts[::-1])
    with pytest.raises(ValueError, match="hosts have to be sorted by name, each of its own"):
        msgspec.structs.replace(fleet, hosts=[fleet.hosts[0], fleet.hosts[0]])
    with pytest.raises(ValueError, match="hosts and common come together"):
        msgspec.structs.replace(fleet, common=None)
    with pytest.raises(ValueError, match="hosts and common come together"):
        msgspec.structs.replace(fleet, hosts=None)


def test_rows_name_streams_that_are_there() -> None:
    whole = result_of(Spec("alpha"))
    row = msgspec.structs.replace(whole.intervals[0], streams=[(0, 0, 0, 0)] * 40)
    with pytest.raises(ValueError, match=r"intervals\[0\].streams has 40 entries; config has"):
        msgspec.structs.replace(whole, intervals=[row])


def test_a_fleet_is_at_an_end_when_no_host_was_lost_and_all_ended() -> None:
    fleet = fleet_of(Spec("alpha"))
    assert fleet.hosts is not None and fleet.hosts[0].run is not None and fleet.at_an_end
    run = fleet.hosts[0].run
    failed = msgspec.structs.replace(
        run, outcome=msgspec.structs.replace(run.outcome, reason="device-gone")
    )
    (host,) = fleet.hosts
    assert not msgspec.structs.replace(
        fleet, hosts=[msgspec.structs.replace(host, run=failed)]
    ).at_an_end
    assert not msgspec.structs.replace(
        fleet, hosts=[msgspec.structs.replace(host, run=None)]
    ).at_an_end
