# SPDX-License-Identifier: GPL-2.0
"""A run made up of counters, and its result."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from typing import Any

import msgspec
from lib.ctl.schemas import validator
from lib.fakes.kernel import SECOND, START_NS, histogram
from rich.console import Console

from spekctl import files
from spekctl.documents import result
from spekctl.documents.device import DiskCounters, TargetFacts
from spekctl.kernel.records import (
    Backend,
    Direction,
    Histogram,
    IntervalRow,
    Metric,
    Phase,
    Reason,
    RunInfo,
    RunState,
    StatsCell,
    TargetInfo,
)
from spekctl.render import result as render_result
from spekctl.run import build as run_build
from spekctl.workload import file
from spekctl.workload.resolve import Options, Target, resolve

DISK = Target("/dev/x", 8, 16, 10 << 30, 512, 5)


def plan(name: str = "mixed-70-30-8k", **options: Any) -> result.Plan:
    """The plan of a run on one disk."""
    workload = file.load(name)
    facts = TargetFacts(
        path="/dev/x",
        name="x",
        major=8,
        minor=16,
        diskseq=5,
        bytes=10 << 30,
        logical_block=512,
        physical_block=512,
        model="M",
        serial="S",
        wwn="",
        driver="sd",
        rotational=True,
        zoned="none",
        scheduler="none",
        iostats="1",
        nomerges="0",
        disk_before=DiskCounters(10, 80, 20, 160, 4_294_967_000, 500),
    )
    return result.Plan(
        run=1,
        started_ns=START_NS,
        command=["run", name],
        workload=workload,
        config=resolve(workload, Options(available_cpus=(0,), write=True, **options), [DISK]),
        targets=[facts],
        remarks=["a remark"],
    )


INFO = RunInfo(
    id=1,
    name="mixed-70-30-8k",
    state=RunState.DONE,
    phase=Phase.DRAIN,
    reason=Reason.COMPLETED,
    started_ns=START_NS,
    measure_ns=START_NS + SECOND,
    drain_ns=START_NS + 5 * SECOND,
    ended_ns=START_NS + 5 * SECOND + 1000,
    now_ns=START_NS + 9 * SECOND,
    module_version="0.1.0",
    targets=(
        TargetInfo(
            8,
            16,
            "x",
            5,
            10 << 30,
            512,
            1 << 20,
            Backend.MQ,
            "why",
            0,
            90,
            90 * 8192,
            40,
            40 * 8192,
        ),
    ),
)


def cell(direction: Direction, times: list[int], phase: Phase = Phase.MEASURE) -> StatsCell:
    histograms: dict[Metric, Histogram] = (
        dict.fromkeys(Metric, histogram(times)) if phase is Phase.MEASURE else {}
    )
    return StatsCell(
        phase, 0, direction, len(times), 8192 * len(times), len(times), 0, {}, histograms
    )


READS = [100_000 + 977 * n for n in range(70)]


WRITES = [900_000 + 3331 * n for n in range(30)]


CELLS = [
    cell(Direction.READ, [1] * 20, Phase.RAMP),
    cell(Direction.READ, READS),
    cell(Direction.WRITE, WRITES),
]


# The read times pass the 32 bits in which the kernel prints them.
AFTER = DiskCounters(10 + 90, 80 + 90 * 16, 20 + 40, 160 + 40 * 16, 704, 520)


def build(
    info: RunInfo = INFO,
    cells: Sequence[StatsCell] = CELLS,
    rows: Sequence[IntervalRow] = (),
    after: DiskCounters | None = AFTER,
    **options: Any,
) -> result.Result:
    """Its result: 4 s of measure phase with 70 reads and 30 writes."""
    return run_build.build(plan(**options), info, cells, rows, [after])


def as_json(contents: result.Result) -> dict[str, Any]:
    """Encoded, valid against the published schema, and decoded to the same."""
    data = files.encode(contents)
    fields: dict[str, Any] = json.loads(data)
    validator(result.SCHEMA_FILE).validate(fields)
    assert msgspec.json.decode(data, type=result.Result) == contents
    return fields


def printed(contents: result.Result) -> str:
    """The summary, as wide as 100 columns; nothing of it is cut off."""
    stream = io.StringIO()
    render_result.print_result(contents, Console(file=stream, width=100, highlight=False))
    assert "…" not in stream.getvalue()
    return stream.getvalue()
