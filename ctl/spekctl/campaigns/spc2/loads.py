# SPDX-License-Identifier: GPL-2.0-or-later
"""The workloads of an SPC-2-like test: streams of large sequential I/O.

A stream starts at a random place, continues for an eighth of the capacity and starts again.
Up to GROUPS streams have an arrival process each, so that each keeps its own depth or pace; more
streams share GROUPS processes, which draw at random which of their streams continues.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from msgspec import structs

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


def _reads(step: Step, first: int) -> str:
    """Share of reads of the group whose first stream has this number."""
    if step.read_percent != 50:
        return f"{step.read_percent}%"
    if step.streams == 1:
        return "50%"
    return "100%" if first % 2 == 0 else "0%"


def load_of(step: Step) -> WorkloadFile:
    """The workload of a step, before its streams are multiplied."""
    arrivals, streams = [], []
    for number, members in enumerate(groups_of(step.streams)):
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
                read=_reads(step, number),
                size=step.transfer_bytes,
                pattern="runs",
                run_length=RUN_LENGTH,
            )
        )
    return WorkloadFile(
        workload=Header(name=f"spc2-{step.test}", summary=f"SPC-2-like: {step.streams} streams"),
        stream=streams,
        arrival=arrivals,
    )


def request_of(step: Step, shape: Mapping[str, Any], disks: Disks) -> Request:
    """The run for a step; @shape: other options of it."""
    request = disks.run(load_of(step), shape, step.time_ns, step.ramp_ns)
    streams = [
        structs.replace(stream, replicas=members)
        for stream, members in zip(request.config.streams, groups_of(step.streams), strict=True)
    ]
    return replace(request, config=structs.replace(request.config, streams=streams))
