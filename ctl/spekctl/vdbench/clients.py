# SPDX-License-Identifier: GPL-2.0-or-later
"""Joins the parts of hosts in a run into one workload, for a plan of a fleet."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from spekctl.errors import UsageError
from spekctl.vdbench import hosts
from spekctl.vdbench.parmfile import Definition
from spekctl.workload.imported import (
    Client,
    Imported,
    devices_of,
    host_names,
    is_ssh_destination,
    without_devices,
)
from spekctl.workload.model import WorkloadFile


def together(definitions: Mapping[str, Definition], steps: Mapping[str, Imported]) -> Imported:
    """One workload of the parts of all hosts; a rate or depth of its own is an option of a host."""
    first, step = next(iter(steps.items()))
    usual, names = _without_load(step), host_names(steps)
    words, notes = without_devices(step.command_line), list(step.differences)
    for label, part in steps.items():
        if _without_load(part) != usual or without_devices(part.command_line) != words:
            raise UsageError(
                f"hd={first} and hd={label} have different workloads; a fleet runs one workload,"
                " with the same streams and ranges, on all its hosts"
            )
        arrivals = list(zip(step.workload.arrival, part.workload.arrival, strict=True))
        if len(arrivals) > 1 and any(ours != theirs for ours, theirs in arrivals):
            raise UsageError(
                f"hd={first} and hd={label} have different parts of rates and of closed loops;"
                " hosts can differ in one of the two"
            )
        options = {
            key: str(getattr(theirs, key))
            for ours, theirs in arrivals
            for key in ("rate", "depth")
            if getattr(ours, key) != getattr(theirs, key)
        }
        devices = tuple(devices_of(part.command_line))
        step.clients.append(Client(names[label], label, _ssh(definitions[label]), devices, options))
        notes += part.differences
        streams = list(zip(step.workload.stream, part.workload.stream, strict=True))
        if any(ours.name != theirs.name for ours, theirs in streams):
            called = ", ".join(f"{theirs.name} as {ours.name}" for ours, theirs in streams)
            notes.append(f"streams of hd={label} are called as those of hd={first}: {called}")
    step.command_line = words
    step.differences = list(dict.fromkeys(notes))
    return step


def _without_load(step: Imported) -> WorkloadFile:
    """The workload as all hosts have to have it; streams may have names of their own."""
    workload = step.workload
    return msgspec.structs.replace(
        workload,
        arrival=[
            msgspec.structs.replace(arrival, rate=None, depth=None) for arrival in workload.arrival
        ],
        stream=[
            msgspec.structs.replace(stream, name=str(place))
            for place, stream in enumerate(workload.stream)
        ],
    )


def _ssh(host: Definition) -> str:
    """Where a controller starts a host over SSH; empty if vdbench does not use SSH for it."""
    if hosts.is_local(host) or host.given.get("shell", ["rsh"])[0] != "ssh":
        return ""
    user = host.given.get("user", [""])[0]
    destination = f"{user}@{hosts.system(host)}" if user else hosts.system(host)
    for key, text in (("user", user), ("system", hosts.system(host))):
        if text and not is_ssh_destination(text):
            raise UsageError(
                f"hd={host.name}: {key}: '{text}' is not part of an SSH destination, USER@HOST"
            )
    return destination
