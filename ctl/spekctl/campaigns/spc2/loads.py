# SPDX-License-Identifier: GPL-2.0-or-later
"""The workloads of an SPC-2-like test: streams of large sequential I/O.

A stream starts at a random place, continues for an eighth of the capacity and starts again.
Up to GROUPS streams have an arrival process each, so that each keeps its own depth or pace; more
streams share GROUPS processes, which draw at random which of their streams continues.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from spekctl.campaigns.benchmark import Disks
from spekctl.campaigns.spc2.figures import VOD_PER_S
from spekctl.documents.spc2 import Step
from spekctl.run.job import Request
from spekctl.workload.model import Arrival, Header, Stream, WorkloadFile
from spekctl.workload.values import ARRIVALS_MAX

GROUPS = ARRIVALS_MAX
RUN_LENGTH = "12.5%"


def groups_of(streams: int) -> list[int]:
    """Streams of each arrival process."""
    count = min(GROUPS, streams)
    return [streams // count + (index < streams % count) for index in range(count)]


def _reads(step: Step, streams: int, group: int) -> str:
    """Share of reads of a group of the @streams of a host."""
    if step.read_percent != 50:
        return f"{step.read_percent}%"
    # Each host of a fleet has them alike, so that a remainder would add up over the hosts.
    if streams % 2 and group == streams - 1:
        return "50%"
    return "100%" if group % 2 == 0 else "0%"


def load_of(step: Step, clients: int = 1) -> WorkloadFile:
    """The workload of a step on each of @clients hosts."""
    own = step.streams // clients
    arrivals, streams = [], []
    for number, members in enumerate(groups_of(own)):
        name = f"s{number + 1}"
        arrivals.append(
            Arrival(name=name, law="constant", rate=members * VOD_PER_S)
            if step.depth is None
            else Arrival(name=name, law="closed", depth=members * step.depth)
        )
        streams.append(
            Stream(
                name=name,
                arrival=name,
                read=_reads(step, own, number),
                size=step.transfer_bytes,
                pattern="runs",
                run_length=RUN_LENGTH,
                replicas=members,
            )
        )
    return WorkloadFile(
        workload=Header(name=f"spc2-{step.test}", summary=f"SPC-2-like: {own} streams"),
        stream=streams,
        arrival=arrivals,
    )


def request_of(step: Step, shape: Mapping[str, Any], disks: Disks, clients: int = 1) -> Request:
    """The run for a step; @shape: other options of it."""
    return disks.run(load_of(step, clients), shape, step.time_ns, step.ramp_ns)
