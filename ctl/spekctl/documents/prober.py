# SPDX-License-Identifier: GPL-2.0-or-later
"""The document of `spekctl prober`: the machine over time, without a load of spek's."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta

from spekctl.documents import document
from spekctl.documents.disk_states import DiskStates
from spekctl.documents.document import Document, Kind, Part
from spekctl.documents.result_parts import Clocks, Environment, ProberTable, check_samples

SCHEMA_FILE = Path(__file__).with_name("prober.schema.json")


class ProbeReport(Part, frozen=True):
    """The probe that took the samples."""

    number: int
    owner: Annotated[str, Meta(description="Name of the process that started it.")]
    detached: Annotated[bool, Meta(description="It outlives that process.")]
    ended: Annotated[bool, Meta(description="false: it was read while it went on.")]
    reason: Annotated[str, Meta(description="Why it ended; none: it has not.")]
    interval_ns: int
    rows: Annotated[int, Meta(description="Rows that it has made, at both ends of samples.")]
    missed: Annotated[int, Meta(description="Ticks of the schedule without a row.")]
    late_max_ns: Annotated[int, Meta(description="Largest delay of a row after its tick.")]
    cost_mean_ns: Annotated[float, Meta(description="Mean time to take a row.")]
    cost_max_ns: int
    cpu_time_step_ns: Annotated[
        int,
        Meta(
            description="The kernel counts CPU time, except idle and iowait, in steps of its tick:"
            " a difference may be off by this much either way. 0: exact."
        ),
    ]
    started: Clocks
    ended_at: Annotated[Clocks | None, Meta(description="null: it has not ended.")]


class ProberReport(Document, frozen=True, kw_only=True, tag=Kind.PROBER.value):
    """Samples of the machine, with all tables of the prober or those that were wanted."""

    environment: Environment
    probe: ProbeReport
    dropped: Annotated[int, Meta(description="Rows that were overwritten before they were read.")]
    left_out: Annotated[
        dict[str, int],
        Meta(description="Tables with too many entities for the prober to describe: table -> nr."),
    ]
    swap_bytes: Annotated[int | None, Meta(description="Size of all swap; null: not known.")]
    start_ns: Annotated[list[int], Meta(description="CLOCK_MONOTONIC, start of each difference.")]
    end_ns: Annotated[list[int], Meta(description="CLOCK_MONOTONIC, end of each difference.")]
    tables: Annotated[
        list[ProberTable],
        Meta(
            description="machine: all CPUs; cpu N, task TID, net NAME, disk NAME, power FEED/RAIL:"
            " one each; memory: levels are those at the end of each entry. Energy is in nJ, and"
            " that of known_ns only."
        ),
    ]

    power_states: Annotated[
        list[DiskStates] | None,
        Meta(description="Of disks, with --power-states; null: nobody looked."),
    ] = None

    def __post_init__(self) -> None:
        check_samples(self.start_ns, self.end_ns, self.tables)


def json_schema() -> dict[str, Any]:
    """JSON Schema of the file."""
    return document.schema("Samples of spek_prober", ProberReport)
