# SPDX-License-Identifier: GPL-2.0
"""The run of a client, by what it has said of its devices."""

from __future__ import annotations

from typing import Any

from lib.fakes.fleet import GIB, device

from spekctl.fleet import expected, plan
from spekctl.fleet.plan import Plan
from spekctl.fleet.wire import DeviceSeen
from spekctl.run.targets import Room

PLAN = """
[fleet]
listen = "tls://10.0.0.1:8786"
workload = "random-read-4k"
seed = 5
share = "split"

[[host]]
name = "a"
devices = ["/dev/fake0"]
options = {depth = "4", workers = "2"}

[[host]]
name = "b"
devices = ["/dev/fake0"]
options = {depth = "16"}
"""


def seen(**changes: Any) -> dict[str, list[DeviceSeen]]:
    return {name: [device(**changes)] for name in ("a", "b")}


def parsed() -> Plan:
    return plan.parse(PLAN)


def test_each_host_has_its_own_load_on_its_own_device() -> None:
    whole = parsed()
    requests = [expected.request_of(whole, host, seen()) for host in whole.hosts]
    assert [request.config.max_outstanding for request in requests] == [4, 16]
    for request in requests:
        # CPUs are for the host to choose.
        assert request.config.seed == 5 and request.config.cpus == []
        assert request.workload == whole.workload


def test_hosts_of_a_shared_device_have_slices_of_it() -> None:
    whole = parsed()
    shared = seen(wwn="naa.1")
    rooms = [expected.rooms_of(whole, host, shared) for host in whole.hosts]
    assert rooms == [[Room(0, GIB // 2)], [Room(GIB // 2, GIB // 2)]]
    assert all(expected.rooms_of(whole, host, seen()) == [] for host in whole.hosts)


def test_a_device_of_another_machine_is_its_facts_alone() -> None:
    told = device(zone_bytes=1 << 20)
    there = expected.as_device(told)
    assert (there.node, there.zone_bytes) == (told.path, 1 << 20)
    assert (there.name, there.bytes) == (told.facts.name, told.facts.bytes)
    assert not there.sysfs.exists()
