# SPDX-License-Identifier: GPL-2.0-or-later
"""The run of a client as the controller expects it, from what the client has said of its devices.
CPUs, workers and memory are those of the host, which checks them."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from spekctl.block.device import Device
from spekctl.fleet import slices, wire
from spekctl.fleet.plan import Host, Plan
from spekctl.fleet.wire import DeviceSeen
from spekctl.run import request as run_request
from spekctl.run.job import Request
from spekctl.run.targets import Room
from spekctl.workload import own_devices


def request_of(plan: Plan, host: Host, seen: Mapping[str, Sequence[DeviceSeen]]) -> Request:
    """The run of @host. @seen: the devices of all clients, of which shared ones may be split."""
    devices = seen[host.name]
    as_there = own_devices.at(plan.workload, wire.path_of(devices))
    subject = run_request.Subject(as_there, [as_device(each) for each in devices])
    load = dataclasses.replace(host.load, cpus=None, workers=None)
    rooms = rooms_of(plan, host, seen)
    request = run_request.build(subject, load, rooms=rooms, available=lambda: sys.maxsize)
    config = msgspec.structs.replace(request.config, seed=plan.seed, cpus=[])
    return dataclasses.replace(request, workload=plan.workload, config=config)


def rooms_of(plan: Plan, host: Host, seen: Mapping[str, Sequence[DeviceSeen]]) -> list[Room]:
    """The host's slices of its devices; none if it has all of them."""
    return [Room(part.start, part.bytes) for part in slices.of(plan, seen).get(host.name, [])]


def as_device(seen: DeviceSeen) -> Device:
    """A device of another machine: what its facts say, and nothing that sysfs would."""
    return Device(
        **msgspec.structs.asdict(seen.facts),
        node=seen.path,
        read_only=False,
        disk="",
        partition=0,
        poll_queues=True,
        zone_bytes=seen.zone_bytes,
        sysfs=Path("/nowhere"),
    )
