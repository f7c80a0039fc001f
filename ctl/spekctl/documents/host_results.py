# SPDX-License-Identifier: GPL-2.0-or-later
"""What each host of a fleet measured, within the result of all of them."""

from typing import Annotated

from msgspec import Meta, field

from spekctl.documents.disk_states import DiskStates
from spekctl.documents.document import Part
from spekctl.documents.hosts import HostClock, HostLoss, HostStart, Role
from spekctl.documents.nvme import NvmeDrive
from spekctl.documents.result_parts import (
    Cell,
    Clocks,
    EndingResult,
    Environment,
    IntervalPower,
    LogResult,
    Outcome,
    PhaseResult,
    PowerResult,
    ProberResult,
    ReplayResult,
    Slice,
    TargetResult,
    Totals,
    WorkerResult,
    check_streams,
)
from spekctl.documents.verification import VerifyResult
from spekctl.kernel.records import (
    Phase,
)
from spekctl.workload.config import RunConfig


class CellColumns(Part, frozen=True):
    """The fields of one direction of report intervals, each a list."""

    ios: list[int]
    bytes: list[int]
    errors: list[int]
    response_sum_ns: list[int]
    response_max_ns: list[int]
    response_p50_ns: list[int | None]
    response_p90_ns: list[int | None]
    response_p99_ns: list[int | None]
    response_p999_ns: list[int | None]
    service_sum_ns: list[int]
    service_max_ns: list[int]
    service_p50_ns: list[int | None]
    service_p99_ns: list[int | None]


class HostRows(Part, frozen=True):
    """Report intervals of a host by column: the fields of intervals, each a list. That is a third
    of the size of a list of intervals."""

    seq: list[int]
    phase: list[Phase]
    start_ns: Annotated[list[int], Meta(description="CLOCK_MONOTONIC of the host.")]
    end_ns: list[int]
    outstanding: list[int]
    backlog: list[int]
    worker_cpu_ns: list[int | None]
    worker_switches: list[int]
    read: CellColumns
    write: CellColumns
    streams: list[list[tuple[int, int, int, int]]]
    coverage_ppm: list[int]
    power: Annotated[
        list[IntervalPower | None] | None, Meta(description="null: not measured in any.")
    ] = None

    def __post_init__(self) -> None:
        count = len(self.seq)
        for table in (self, self.read, self.write):
            for name in table.__struct_fields__:
                column = getattr(table, name)
                if isinstance(column, list) and len(column) != count:
                    raise ValueError(f"column {name} has {len(column)} entries for {count} rows")


class HostRun(Part, frozen=True):
    """The result of a host's own run, with the fields that a result has."""

    run: int
    outcome: Outcome
    totals: Totals
    config: RunConfig
    environment: Environment
    start: Clocks
    end: Clocks
    targets: list[TargetResult]
    workers: list[WorkerResult]
    phases: list[PhaseResult]
    cells: list[Cell]
    intervals_dropped: int
    remarks: list[str]
    log: LogResult | None = None
    verify: VerifyResult | None = None
    replay: ReplayResult | None = None
    ending: EndingResult | None = None
    power: PowerResult | None = None
    power_text: str = ""
    slices: list[Slice] | None = None
    power_states: list[DiskStates] | None = None
    nvme: list[NvmeDrive] | None = None

    def __post_init__(self) -> None:
        check_streams(self.config, self.cells)


class HostResult(Part, frozen=True):
    """A host of a fleet and what it measured, in integers of its own."""

    name: str
    role: Annotated[Role, Meta(description="client: it sends I/O; target: it is watched only.")]
    start: HostStart
    clock: HostClock
    loss: Annotated[HostLoss | None, Meta(description="null: the host was not lost.")]
    run: Annotated[
        HostRun | None, Meta(description="null: it had none, or was lost before it told.")
    ]
    rows: Annotated[HostRows, Meta(description="Its report intervals.")]
    prober: ProberResult | None = None
    fleet_remarks: Annotated[
        list[str],
        Meta(description="On the run of all hosts, kept with the first that has a result."),
    ] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.rows.seq and self.start.monotonic_ns is None:
            raise ValueError(f"host {self.name} has intervals and no start")
