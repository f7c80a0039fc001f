# SPDX-License-Identifier: GPL-2.0
"""The results of single hosts out of that of a fleet."""

from __future__ import annotations

import msgspec
import pytest
from lib.ctl.fleets import Spec, facts_of, power_of, result_of, three

from spekctl.documents import per_host
from spekctl.documents.hosts import HostFacts, Role
from spekctl.errors import UsageError
from spekctl.fleet.merge import merge, of_host, without_run


def test_rows_come_back_as_they_were() -> None:
    rows = result_of(Spec("alpha")).intervals
    assert per_host.unpacked(per_host.packed(rows)) == rows
    assert per_host.packed(rows).power is None
    powered = [
        msgspec.structs.replace(row, power=power_of(3.0, 1.0).measure if row.seq else None)
        for row in rows
    ]
    assert per_host.unpacked(per_host.packed(powered)) == powered
    assert per_host.unpacked(per_host.packed([])) == []


def test_the_hosts_own_results_have_the_names_of_the_fleet() -> None:
    own = result_of(Spec("box"))
    fleet = of_host(own, facts_of(Spec("alpha")))
    (again,) = per_host.own_results(fleet)
    assert again.environment.hostname == "alpha"
    assert again.cells == own.cells and again.hosts is None and again.common is None
    assert per_host.own_results(own) == [own]


def test_targets_and_hosts_without_a_run_have_no_result() -> None:
    own = result_of(Spec("alpha"))
    fleet = merge([
        *three(), without_run(HostFacts("store", Role.TARGET), own.workload, own.config)
    ])  # fmt: skip
    assert [each.environment.hostname for each in per_host.own_results(fleet)] == [
        "alpha", "beta", "gamma"
    ]  # fmt: skip
    assert fleet.hosts is not None
    assert [host.name for host in per_host.clients(fleet.hosts)] == ["alpha", "beta", "gamma"]
    assert per_host.own_result(fleet, fleet.hosts[-1]) is None


def test_readers_of_one_machine_refuse_a_fleet() -> None:
    per_host.refuse_fleet(result_of(Spec("alpha")), "this")
    with pytest.raises(
        UsageError,
        match=r"^this takes the result of one machine, not that of a fleet; try that$",
    ):
        per_host.refuse_fleet(merge(three()), "this", "try that")
