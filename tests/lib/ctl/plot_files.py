# SPDX-License-Identifier: GPL-2.0
"""Logs, results, load curves and reports made up to be drawn."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from lib.fakes.kernel import SECOND, START_NS, histogram, interval_cell

from spekctl import files
from spekctl.campaigns.pts import plan
from spekctl.campaigns.pts.report import build as build_pts
from spekctl.documents import curve, pts, result, spc1, spc2
from spekctl.documents.device import TargetFacts
from spekctl.documents.shape import Shape
from spekctl.kernel.records import (
    Backend,
    Direction,
    IntervalCell,
    IntervalRow,
    Metric,
    Phase,
    Reason,
    RunInfo,
    RunState,
    StatsCell,
    TargetInfo,
)
from spekctl.log import file
from spekctl.run import build
from spekctl.workload import file as workload_file
from spekctl.workload.config import Extent, ResolvedAsu
from spekctl.workload.resolve import Options, Target, resolve

MIB = 1 << 20
MEASURE_NS = START_NS + 2 * SECOND
DRAIN_NS = START_NS + 12 * SECOND
ENDED_NS = DRAIN_NS + SECOND // 4

ASUS = (
    ResolvedAsu("data", 64 * MIB, [Extent(0, 4 * MIB)]),
    ResolvedAsu("wide", 16 * MIB, [Extent(0, 68 * MIB), Extent(1, 68 * MIB)], 65536),
)
STREAMS = ("first", "second", "third")


def records(count: int, seed: int = 1, **changes: Any) -> np.ndarray:
    """Records of a run of 12 seconds, 2 of them ramp-up; a quarter second of drain."""
    rng = np.random.default_rng(seed)
    logged = np.zeros(count, file.record_type())
    at = np.sort(rng.integers(START_NS, DRAIN_NS, count))
    logged["at_ns"] = at
    logged["issue_ns"] = at + rng.integers(1000, 50_000, count)
    logged["done_ns"] = logged["issue_ns"] + rng.integers(100_000, 200_000_000, count).astype(
        np.uint64
    )
    logged["stream"] = rng.integers(0, 3, count)
    logged["asu"] = logged["stream"] == 2
    room = np.where(logged["asu"] == 1, 16 * MIB, 64 * MIB) // 4096
    logged["addr"] = rng.integers(0, room) * 4096
    logged["bytes"] = rng.choice([4096, 8192, 65536], count)
    logged["write"] = rng.random(count) < 0.4
    for name, value in changes.items():
        logged[name] = value
    done = logged["done_ns"]
    logged["phase"] = np.where(done < MEASURE_NS, 0, np.where(done < DRAIN_NS, 1, 2))
    return logged[np.argsort(done, kind="stable")]


def write_log(path: Path, rows: np.ndarray, **changes: Any) -> Path:
    writer = file.LogWriter(path)
    for part in np.array_split(rows, 3):
        writer.add(part)
    header = file.LogHeader(
        workload="mixed",
        streams=list(STREAMS),
        asus=list(ASUS),
        targets=[file.LogTarget("/dev/x", 128 * MIB), file.LogTarget("/dev/y", 128 * MIB)],
        seed=7,
        workers=1,
        started_ns=START_NS,
        measure_ns=MEASURE_NS,
        drain_ns=DRAIN_NS,
        ended_ns=ENDED_NS,
        start_real_ns=0,
        module_version="0.1.0",
        reason="completed",
        records=len(rows),
        lost=0,
        complete=True,
    )
    writer.finish(msgspec.structs.replace(header, **changes))
    return path


def in_measure(rows: np.ndarray) -> np.ndarray:
    """Those that were due in the measure phase."""
    return rows[(rows["at_ns"] >= MEASURE_NS) & (rows["at_ns"] < DRAIN_NS)]


def write_result(path: Path, rows: Sequence[IntervalRow], name: str = "mixed-70-30-8k") -> Path:
    workload = workload_file.load(name)
    options = Options(available_cpus=(0,), write=True, rate=1000.0 if name != "spc1" else None)
    if name == "spc1":
        options = Options(available_cpus=(0,), write=True, bsu=20)
    plan = result.Plan(
        run=1,
        started_ns=START_NS,
        command=["run", name],
        workload=workload,
        config=resolve(workload, options, [Target("/dev/x", 8, 16, 10 << 30, 512, 5)]),
        targets=[facts("Fast disk")],
        remarks=[],
    )
    info = RunInfo(
        id=1,
        name=name,
        state=RunState.DONE,
        phase=Phase.DRAIN,
        reason=Reason.COMPLETED,
        started_ns=START_NS,
        measure_ns=MEASURE_NS,
        drain_ns=DRAIN_NS,
        ended_ns=ENDED_NS,
        now_ns=ENDED_NS,
        module_version="0.1.0",
        targets=(TargetInfo(8, 16, "x", 5, 10 << 30, 512, 1 << 20, Backend.BIO, "why"),),
    )
    cells = [
        StatsCell(phase, 0, direction, len(times), 0, 0, 0, {}, counted(times, phase))
        for phase in (Phase.RAMP, Phase.MEASURE)
        for direction, times in ((Direction.READ, READS), (Direction.WRITE, WRITES))
    ]
    contents = build.build(plan, info, cells, rows, [None])
    path.write_bytes(files.encode(contents))
    return path


READS = np.random.default_rng(3).lognormal(12, 0.8, 5000).astype(int).tolist()
WRITES = np.random.default_rng(4).lognormal(11, 0.5, 2000).astype(int).tolist()


def counted(times: list[int], phase: Phase) -> dict[Metric, Any]:
    if phase is not Phase.MEASURE:
        return {}
    return {
        Metric.RESPONSE: histogram(times),
        Metric.SERVICE: histogram([ns // 2 + 1 for ns in times]),
        Metric.SLIP: histogram([ns // 100 + 1 for ns in times]),
    }


def interval(seq: int, start_ns: int, end_ns: int, phase: Phase, ios: int = 100) -> IntervalRow:
    def counted(ios: int, ns: int) -> IntervalCell:
        return interval_cell(
            ios=ios,
            bytes=ios * 8192,
            response_sum_ns=ios * ns,
            response_max_ns=9 * ns,
            response_p99_ns=4 * ns,
        )

    return IntervalRow(
        seq, phase, start_ns, end_ns, 5 + seq, 2 * seq, 0, 0,
        counted(ios + seq, 300_000), counted(ios // 2, 700_000), [],
    )  # fmt: skip


def intervals() -> list[IntervalRow]:
    """One for each second, and the drain."""
    rows = [
        interval(
            seq,
            START_NS + seq * SECOND,
            START_NS + (seq + 1) * SECOND,
            Phase.RAMP if seq < 2 else Phase.MEASURE,
        )
        for seq in range(12)
    ]
    return [*rows, interval(12, DRAIN_NS, ENDED_NS, Phase.DRAIN, 2)]


def point(
    iops: float,
    mean_ns: float,
    offered: float | None = None,
    depth: int = 0,
    **changes: Any,
) -> curve.Point:
    times = curve.TimeFigures(
        mean_ns, int(mean_ns), int(2 * mean_ns), int(4 * mean_ns), int(5 * mean_ns), int(9e9)
    )
    load = curve.Load("depth", depth) if offered is None else curve.Load("bsu", offered / 50)
    base = curve.Point(
        load, offered, SECOND, int(iops), int(iops), 0, iops, iops / 128, times, times, None,
        0, int((offered or iops) - iops), offered / iops if offered else None, None, None,
        "workers", 0, True, "fine",
    )  # fmt: skip
    return msgspec.structs.replace(base, **changes)


def stream_run(test: str, streams: int, mb_s: float, mean_ns: float, **changes: Any) -> spc2.Run:
    """A run of an SPC-2-like test with power."""
    times = curve.TimeFigures(
        mean_ns, int(mean_ns), int(2 * mean_ns), int(4 * mean_ns), int(5 * mean_ns), int(9e9)
    )
    part: spc2.PartName = "vod" if test == "vod" else "lfp" if test.startswith("lfp") else "ldq"
    depth = None if part == "vod" else 1
    step = spc2.Step("run", part, test, 100, 1 << 18, depth, streams, 0, SECOND)
    base = spc2.Run(
        step, SECOND, 1000, str(mb_s), times, None, 0, "", 0, True, "fine", str(5 + mb_s / 100),
        None, None,
    )  # fmt: skip
    return msgspec.structs.replace(base, **changes)


def write_streams(path: Path) -> Path:
    """A report of an SPC-2-like test: two tests, and video on demand with its search."""
    runs = [
        stream_run("lfp-write-1024k", 1, 80.5, 13e6),
        stream_run("lfp-write-1024k", 8, 160, 52e6, errors=3, ok=False),
        stream_run("ldq-64k-1", 8, 60, 8e6),
        stream_run("ldq-64k-1", 1, 25, 2e6),
        stream_run("vod", 120, 94.4, 3e6),
        stream_run("vod", 140, 100.1, 900e6, beyond="too many late", watts=None),
    ]
    searched = msgspec.structs.replace(runs[4].step, kind="search", streams=100)
    runs.append(msgspec.structs.replace(runs[4], step=searched))
    shape = Shape(1, 65536, "auto", False, None, 0, None)
    durations = spc2.Durations(0, SECOND, SECOND, SECOND, 5.0)
    parameters = spc2.Parameters(
        durations, spc2.Limits(SECOND), shape, ["lfp", "ldq", "vod"], 8, None, 100, 1000, False
    )
    report = spc2.Report(
        created="2026-01-01T00:00:00Z",
        command=["spc2"],
        notice=spc2.NOTICE,
        passed=False,
        complete=False,
        verdict="not complete",
        mbps=None,
        composites=[],
        vod_streams=120,
        price=None,
        price_per_mbps=None,
        parameters=parameters,
        runs=runs,
        targets=[facts()],
        environment=None,
        remarks=[],
    )
    path.write_bytes(files.encode(report))
    return path


def facts(model: str = "") -> TargetFacts:
    return TargetFacts(
        "/dev/x", "x", 8, 16, 5, 10 << 30, 512, 4096, model, "S", "", "sd", True, "none",
        "none", "1", "0", None,
    )  # fmt: skip


OPEN = [
    point(500, 2e6, 500),
    point(1000, 3e6, 1000),
    point(1500, 400e6, 3000),
    point(1400, 9e6, 1400),
]
CLOSED = [point(900, 1e6, None, 1), point(2600, 3e6, None, 8), point(1700, 1.5e6, None, 2)]


def a_curve(points: Sequence[curve.Point], name: str = "spc1") -> curve.Curve:
    return curve.Curve(
        created="2026-01-01T00:00:00Z",
        command=["sweep"],
        workload=name,
        seed=1,
        cpus=[0],
        ramp_ns=0,
        time_ns=SECOND,
        targets=[facts()],
        environment=None,
        complete=True,
        points=list(points),
        remarks=[],
    )


def write_curve(path: Path, points: Sequence[curve.Point]) -> Path:
    path.write_bytes(files.encode(a_curve(points)))
    return path


def write_report(path: Path, points: Sequence[curve.Point], search: Sequence[curve.Point]) -> Path:
    shape = spc1.Shape(1, 65536, "auto", False, None, 0, None, [0], "classic", None, None)
    limits = spc1.Limits(response_ns=20 * spc1.MS)
    parameters = spc1.Parameters(spc1.QUICK, limits, shape, 1, 100)
    whole = spc1.Report(
        created="2026-01-01T00:00:00Z",
        command=["spc1"],
        notice=spc1.NOTICE,
        passed=True,
        complete=True,
        verdict="passed",
        level_bsu=28,
        iops=1400.0,
        lrt_ns=2e6,
        capacity=spc1.Capacity(1, 1, 1),
        parameters=parameters,
        targets=[facts()],
        environment=None,
        curve=a_curve(points),
        search=a_curve(search),
        checks=[],
        phases=[],
        remarks=[],
    )
    path.write_bytes(files.encode(whole))
    return path


def round_run(step: pts.Step) -> pts.Run:
    """A step of a PTS-like test on a device that settles from 1,300 to 1,000 IOPS."""
    iops = 1000 + 300 * 0.5**step.round + 10 * step.read_percent
    return pts.Run(
        step, SECOND, int(iops), 4096 * int(iops), iops, iops * step.bytes, 1e9 / iops,
        int(3e9 / iops), int(2e10 / iops), 0, True, "fine", None, None,
    )  # fmt: skip


def write_rounds(path: Path) -> Path:
    """A report of a PTS-like test: IOPS and throughput in steady state, latency not complete."""
    shape = Shape(1, 65536, "auto", False, None, 0, "random")
    wanted = msgspec.structs.replace(
        plan.standard(shape), throughput_sizes=[1 << 20], saturation_ns=SECOND
    )
    done: list[pts.Run] = []
    while (step := plan.next_step(wanted, done)) is not None and step.round < 4:
        done.append(round_run(step))
    while (step := plan.next_step(wanted, done)) is not None and step.test != "latency":
        done.append(round_run(step))
    while (step := plan.next_step(wanted, done)) is not None and step.round < 3:
        done.append(round_run(step))
    samples = [
        pts.Sample(float(count), count << 30, 3000 / count, 1e6 * count, 9_000_000 * count)
        for count in range(1, 60)
    ]
    report = build_pts(wanted, done, samples, [facts()], None)
    path.write_bytes(files.encode(report))
    return path
