# SPDX-License-Identifier: GPL-2.0
"""An interval, and the run that it is of."""

from __future__ import annotations

from lib.fakes.kernel import SECOND, START_NS, interval_cell

from spekctl.kernel.records import IntervalRow, Phase, RunInfo, RunState

ROW = IntervalRow(
    seq=2,
    phase=Phase.MEASURE,
    start_ns=START_NS + 2 * SECOND,
    end_ns=START_NS + 4 * SECOND,
    outstanding=3,
    backlog=0,
    worker_cpu_ns=SECOND,
    worker_switches=30,
    read=interval_cell(
        ios=5000,
        bytes=5000 * 4096,
        response_p50_ns=120_000,
        response_p99_ns=980_000,
        response_max_ns=2_000_000,
    ),
    write=interval_cell(),
    streams=[],
)
RUNNING = RunInfo(
    id=1,
    state=RunState.RUNNING,
    phase=Phase.MEASURE,
    started_ns=START_NS,
    measure_ns=START_NS + 10 * SECOND,
    now_ns=START_NS + 20 * SECOND,
    time_ns=40 * SECOND,
    ramp_ns=10 * SECOND,
    interval_ns=SECOND,
)
