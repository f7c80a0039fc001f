# SPDX-License-Identifier: GPL-2.0-or-later
"""The runs of a PTS-like test: one stream each, and the purge, which is a trace of discards."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from spekctl import files
from spekctl.block.device import Device
from spekctl.campaigns.benchmark import Disks
from spekctl.campaigns.campaign import SECOND
from spekctl.campaigns.pts.plan import tests_of
from spekctl.documents import per_host
from spekctl.documents.pts import Parameters, Step
from spekctl.documents.result import Result
from spekctl.documents.result_parts import ReplayResult
from spekctl.errors import UsageError
from spekctl.run.job import Request
from spekctl.workload.model import Arrival, Header, Stream, WorkloadFile
from spekctl.workload.options import Options
from spekctl.workload.values import Pattern

# Of runs that end by their amount.
LONG_INTERVAL_NS = 10 * SECOND


def check_purge(disks: Disks) -> None:
    """Refuse a purge of devices that cannot discard."""
    from spekctl.run.purge import WHY_NOT
    from spekctl.run.replay_request import discards

    unable = (
        disks.hosts.without_discards
        if disks.hosts is not None
        else [device.path for device in disks.devices if not discards(device)]
    )
    if unable:
        raise UsageError(f"{', '.join(unable)} cannot be purged: {WHY_NOT}")


def write_purge(folder: Path, devices: Sequence[Device]) -> None:
    """The discards of all blocks as a trace, whose devices are the targets in turn."""
    from spekctl.run import purge

    lines = ["at_ns,device,offset_bytes,bytes,op"]
    lines += [f"0,{index},{start},{size},discard" for index, start, size in purge.extents(devices)]
    files.write(folder / purge.NAME, ("\n".join(lines) + "\n").encode())


def purge_request(folder: Path, disks: Disks) -> Request:
    """The run that discards all blocks; of hosts, each those of its own devices."""
    from spekctl.run import purge, replay_request

    options = Options(write=disks.write, interval_ns=SECOND)
    if disks.hosts is not None:
        return disks.hosts.purge(options)
    workload = purge.workload(str(folder / purge.NAME))
    return replay_request.build(workload, disks.devices, options, disks.destroy)


def unpurged_of(result: Result) -> list[str] | None:
    """Hosts that have not discarded all of their blocks; empty: this machine has not. None: all of
    them have."""

    def is_whole(replay: ReplayResult | None) -> bool:
        return replay is not None and replay.complete and not replay.skipped

    if is_whole(result.replay):
        return None
    return [
        host.name
        for host in per_host.clients(result.hosts or [])
        if host.run is None or not is_whole(host.run.replay)
    ]


def load_of(step: Step, pattern: Pattern, depth: int) -> WorkloadFile:
    """The workload of a step: one stream in closed loop."""
    return WorkloadFile(
        workload=Header(name=f"pts-{step.test}", summary=f"PTS-like: {step.name}"),
        stream=[
            Stream(
                name="main",
                read=f"{step.read_percent}%",
                size=step.bytes,
                pattern=pattern,
            )
        ],
        arrival=[Arrival(name="main", law="closed", depth=depth)],
    )


def request_of(step: Step, parameters: Parameters, number: int, disks: Disks) -> Request:
    """The run for a step other than a purge; @number is that of the run, for its seed."""
    test = next((test for test in tests_of(parameters) if test.name == step.test), None)
    single = step.kind == "round" and test is not None and test.part == "latency"
    sequential = step.kind == "precondition" or (test is not None and test.pattern == "sequential")
    depth = parameters.clients if single else parameters.depth
    load = load_of(step, "sequential" if sequential else "uniform", depth)
    shape = parameters.shape.of_run(number) | {"depth": depth}
    if single or disks.hosts is None:
        # The plan sets the workers of hosts.
        shape |= {"workers": 1 if single else parameters.workers}
    if step.kind == "round":
        return disks.run(load, shape, parameters.time_ns)
    if step.kind == "precondition":
        shape |= {"interval_ns": LONG_INTERVAL_NS}
        return disks.fill(load, shape, parameters.precondition_percent, step.bytes)
    # Write saturation: an interval is a sample of the report.
    shape |= {"interval_ns": parameters.time_ns}
    if parameters.saturation_ns is not None:
        return disks.run(load, shape, parameters.saturation_ns)
    return disks.fill(load, shape, parameters.saturation_percent, step.bytes)
