# SPDX-License-Identifier: GPL-2.0-or-later
"""The result of a run: structs that define its JSON Schema; run/build.py fills them in."""

from pathlib import Path
from typing import Annotated, Any, Literal

from msgspec import Meta

from spekctl.documents import document
from spekctl.documents.device import TargetFacts
from spekctl.documents.disk_states import DiskStates
from spekctl.documents.document import Document, Kind
from spekctl.documents.host_results import HostResult, HostRun
from spekctl.documents.hosts import CommonWindow
from spekctl.documents.not_results import instead
from spekctl.documents.nvme import NvmeDrive
from spekctl.documents.result_parts import (
    Cell,
    Clocks,
    EndingResult,
    Environment,
    Interval,
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
    check_indices,
    check_streams,
)
from spekctl.documents.verification import VerifyResult
from spekctl.workload.config import RunConfig
from spekctl.workload.model import WorkloadFile
from spekctl.workload.model import json_schema as workload_schema

# What is said of a result without I/Os, whose figures are of nothing.
NOTHING = "no I/O completed in the measure phase"
SCHEMA_FILE = Path(__file__).with_name("result.schema.json")


def _from_version_1(fields: dict[str, Any]) -> None:
    """Version 2 gave two fields the names that they have in all other files."""
    fields["kind"] = fields.pop("schema")
    del fields["schema_version"]


class Result(Document, frozen=True, kw_only=True, tag=Kind.RESULT.value):
    """Result of one run of spek, or of the runs of several hosts that started together."""

    UPGRADES = (_from_version_1,)

    version: document.Version[Literal[2]] = 2
    run: Annotated[int, Meta(description="Number of the run.")]
    outcome: Outcome
    totals: Totals
    workload: Annotated[WorkloadFile, Meta(description="As written in its file.")]
    config: Annotated[RunConfig, Meta(description="As resolved for these targets.")]
    environment: Environment
    start: Clocks
    end: Clocks
    targets: list[TargetResult]
    workers: list[WorkerResult]
    phases: list[PhaseResult]
    cells: Annotated[list[Cell], Meta(description="Per phase, stream and direction.")]
    intervals: list[Interval]
    intervals_dropped: Annotated[int, Meta(description="Intervals that were never read.")]
    prober: ProberResult | None
    remarks: Annotated[list[str], Meta(description="Remarks for the reader.")]
    log: Annotated[LogResult | None, Meta(description="null: without --log.")] = None
    verify: Annotated[VerifyResult | None, Meta(description="null: without --verify.")] = None
    replay: Annotated[ReplayResult | None, Meta(description="null: without --trace.")] = None
    ending: Annotated[
        EndingResult | None, Meta(description="null: without --until and --stop-when.")
    ] = None
    power: Annotated[
        PowerResult | None, Meta(description="null: not measured; power_text says why.")
    ] = None
    power_text: Annotated[
        str, Meta(description="Why power is missing, as a sentence; else empty.")
    ] = ""
    slices: Annotated[
        list[Slice] | None,
        Meta(
            description="The measure phase in at most 240 parts, one after the other; null: without"
            " --heat-map and --fio-logs."
        ),
    ] = None

    power_states: Annotated[
        list[DiskStates] | None,
        Meta(
            description="Disks of the targets, from before the start until after the end; null:"
            " none of them can be asked, or the run was detached, or --power-states is off."
        ),
    ] = None
    nvme: Annotated[
        list[NvmeDrive] | None,
        Meta(
            description="NVMe controllers of the targets, and of what these lie on; null: there are"
            " none, or the run was detached."
        ),
    ] = None
    hosts: Annotated[
        list[HostResult] | None,
        Meta(
            description="Sorted by name; null: a run of one machine. Of several hosts all else is"
            " their sum: times are of CLOCK_REALTIME, config is that of the first host, and what"
            " cannot be added up is null and only here. Hosts that replay a trace on different"
            " numbers of devices have one stream in the sum for each operation of the trace."
        ),
    ] = None
    common: Annotated[
        CommonWindow | None,
        Meta(description="The time in which all hosts were at work; null: no hosts."),
    ] = None

    def __post_init__(self) -> None:
        check_streams(self.config, self.cells)
        streams = len(self.config.streams)
        names = [host.name for host in self.hosts or ()]
        if self.hosts is not None and (not names or sorted(set(names)) != names):
            raise ValueError("hosts have to be sorted by name, each of its own")
        if (self.hosts is None) != (self.common is None):
            raise ValueError("hosts and common come together")
        for number, row in enumerate(self.intervals):
            if len(row.streams) > streams:
                raise ValueError(
                    f"intervals[{number}].streams has {len(row.streams)} entries; config has"
                    f" {streams} streams"
                )

    @property
    def at_an_end(self) -> bool:
        """The run came to one of the ends that it was given; of a fleet, on all hosts."""
        if self.hosts is not None:
            runs = [host.run for host in self.hosts if host.run is not None]
            lost = any(host.loss is not None for host in self.hosts)
            return bool(runs) and not lost and all(_at_an_end(run) for run in runs)
        return _at_an_end(self)

    @property
    def mismatches(self) -> int:
        """Number of blocks that verification found wrong; of a fleet, on all hosts."""
        told = [host.run.verify for host in self.hosts or () if host.run is not None]
        return sum(verified.mismatches for verified in (self.verify, *told) if verified is not None)

    @property
    def failure(self) -> str:
        """Why its figures are not those of a complete, valid run; empty if they are."""
        text = self.outcome.text
        if not self.outcome.ok or self.limit_missed:
            return text
        if self.replay is not None and self.replay.lacking:
            return f"{text}; {self.replay.lacking}"
        return "" if self.totals.all.ios else f"{text}; {NOTHING}"

    @property
    def limit_missed(self) -> bool:
        """A threshold ended the run, or it completed without errors and without steady state; of a
        fleet, on any host."""
        if self.hosts is not None:
            return any(host.run is not None and _limit_missed(host.run) for host in self.hosts)
        return _limit_missed(self)


def _at_an_end(run: Result | HostRun) -> bool:
    asked = run.ending is not None and run.ending.ended
    return run.outcome.reason == "completed" or (run.outcome.reason == "stopped" and asked)


def _limit_missed(run: Result | HostRun) -> bool:
    if run.ending is None or not _at_an_end(run):
        return False
    return bool(run.ending.stopped_by) or (run.ending.missed and run.outcome.ok)


class Plan(Document, frozen=True, kw_only=True, tag=Kind.PLAN.value):
    """Facts about a detached run that the kernel does not keep."""

    run: int
    started_ns: int
    workload: WorkloadFile
    config: RunConfig
    targets: list[TargetFacts]
    remarks: list[str]

    def __post_init__(self) -> None:
        check_indices(self.config)


def json_schema() -> dict[str, Any]:
    """JSON Schema of a result; the workload in it is described as in its own schema."""
    schema = document.schema("Result of a run of spek", Result)
    schema["$defs"].update(workload_schema()["$defs"])
    return schema


def load_result(path: Path) -> Result:
    """Read a result; UsageError for any other file."""
    return document.read(path, Result, instead)


def decode_result(path: Path, data: bytes) -> Result:
    """A result from its JSON, of which @path is the name in messages."""
    return document.decode(path, data, Result, instead)
