# SPDX-License-Identifier: GPL-2.0
"""The methods of paper 001 on the same system, a modelled drive: their reports in a folder.

The paper lists their strengths in words. The loads here are those of spekctl's tests, by the
module's generator, on a drive in userspace; the reports are made by spekctl.
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
from bench.papers.modelled import REQUESTS, Served, idle_watts, requests_of, serve
from msgspec import Struct

from spekctl import files
from spekctl.campaigns import efficiency, usage
from spekctl.campaigns.dcse import report as dcse_report
from spekctl.campaigns.emerald import loads as emerald_loads
from spekctl.campaigns.emerald import report as emerald_report
from spekctl.campaigns.emerald.figures import KINDS
from spekctl.campaigns.energy import Facts
from spekctl.campaigns.spc1e import report as spc1e_report
from spekctl.campaigns.spc2 import plan
from spekctl.campaigns.spc2.figures import VOD_BYTES, VOD_PER_S
from spekctl.campaigns.spc2.loads import load_of as streams_of
from spekctl.campaigns.spc2e import report as spc2e_report
from spekctl.documents.dcse import Inputs
from spekctl.documents.exact import decimal_text, measured_number
from spekctl.documents.spc2 import RateLevel, Step
from spekctl.drive import file as drives
from spekctl.drive.model import SECTOR, Model
from spekctl.render.energy import metrics_table
from spekctl.report.sheet import Sheet, grid_of
from spekctl.workload import file as workloads

DRIVE = "wd2001fass"
COUNT = 4000
LIMIT_MS = 30.0  # of SPC-1
IOPS_PER_BSU = 5  # of the standard's 50, as a single disk serves few of these
RANDOM_MS = 20.0  # of Emerald
DEPTHS = (1, 2, 4, 8, 16, 32)
LIMITED = ("hot-band", "random-read", "random-write", "mixed")
STREAMS = 8
NAMES = ("spc1e", "spc2e", "emerald", "dcse")
FILES = tuple(f"same-{name}.json" for name in NAMES)
SOURCE = f"{DRIVE}, modelled"
ASSUMED = (
    f"The system is a single {DRIVE}, modelled. SPC-1/E: 80 % and 50 % of the load that keeps"
    f" {LIMIT_MS:g} ms, with {IOPS_PER_BSU} IOPS for a BSU. SPC-2/E: {STREAMS} streams and half of"
    f" them. Emerald: each phase at its most efficient depth, random ones within {RANDOM_MS:g} ms."
    " DCsE: the SPC-1-like load at 50 % stands for operation. The same drive gets work per watt"
    " that differs by method, since each weights other loads."
)


def write(folder: Path) -> list[Path]:
    """Simulate the drive under all loads, and write the reports."""
    model = drives.load(DRIVE)
    idle = idle_watts(model)
    most = most_bsu(model)
    loads = {percent: spc1(model, max(1, most * percent // 100)) for percent in (80, 50)}
    streams = {divisor: _streams(model, STREAMS // divisor) for divisor in (1, 2)}
    reports = (
        _spc1e(loads, idle),
        _spc2e(streams, idle),
        _emerald(model, idle),
        _dcse(model, loads[50], idle),
    )
    paths = [folder / name for name in FILES]
    for path, report in zip(paths, reports, strict=True):
        files.write(path, files.encode(report))
    return paths


def spc1(model: Model, bsu: int) -> Served:
    """The SPC-1-like load."""
    return serve(
        model, requests_of(workloads.load("spc1"), model, COUNT, bsu=bsu, iops_per_bsu=IOPS_PER_BSU)
    )


def most_bsu(model: Model) -> int:
    """The highest load whose mean response time keeps the limit of SPC-1."""
    low, high = 1, 2
    while spc1(model, high).mean_ms <= LIMIT_MS:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        if spc1(model, middle).mean_ms <= LIMIT_MS:
            low = middle
        else:
            high = middle
    return low


def _spc1e(loads: dict[int, Served], idle: float) -> Struct:
    levels = usage.Levels(
        heavy=usage.Level(measured_number(loads[80].watts), measured_number(loads[80].iops)),
        moderate=usage.Level(measured_number(loads[50].watts), measured_number(loads[50].iops)),
        idle=usage.Level(measured_number(idle), Fraction(0)),
    )
    return spc1e_report.build(
        spc1e_report.typed_in(levels), Facts(source=SOURCE), usage.DEFAULT_PRICE, usage.PROFILES
    )


def _streams(model: Model, streams: int) -> Served:
    """The mean of the three parts of the SPC-2-like test at this number of streams."""
    parts = [
        [_large(model, test, streams) for test in plan.TESTS if test.part == part]
        for part in ("lfp", "ldq")
    ]
    most = most_vod(model)
    parts.append([vod(model, max(1, most * streams // STREAMS))])
    means = [
        (
            float(np.mean([served.bytes_per_s for served in part])),
            float(np.mean([served.watts for served in part])),
        )
        for part in parts
    ]
    rates, watts = zip(*means, strict=True)
    return Served(0.0, float(np.mean(rates)), 0.0, 0.0, float(np.mean(watts)), 0.0)


def _large(model: Model, test: plan.Test, streams: int) -> Served:
    """Streams that each keep their own I/Os outstanding, in turn."""
    each = COUNT // 4 // streams
    lists = []
    for number in range(streams):
        reads = 100 * (number % 2 == 0) if test.read_percent == 50 else test.read_percent
        step = Step(
            "run", test.part, test.name, reads, test.transfer_bytes, test.depth, 1, 0, 10**9
        )
        lists.append(requests_of(streams_of(step), model, each, seed=number + 1))
    requests = np.stack(lists, axis=1).reshape(-1)
    requests["arrival_ns"] = 0
    assert test.depth is not None
    return serve(model, requests, streams * test.depth)


def vod(model: Model, streams: int) -> Served:
    """Streams of video on demand, equally spaced in time and over the drive."""
    each = max(6, COUNT // streams)
    requests = np.zeros((each, streams), REQUESTS)
    sectors = VOD_BYTES // SECTOR
    number = np.arange(each)[:, None]
    stream = np.arange(streams)[None, :]
    requests["arrival_ns"] = (number + stream / streams) * 1e9 / VOD_PER_S
    requests["lba"] = stream * (model.capacity // streams // 8 * 8) + number * sectors
    requests["sectors"] = sectors
    return serve(model, requests.reshape(-1))


def most_vod(model: Model) -> int:
    """The most streams of which no transfer takes longer than until the next is due."""

    def late(streams: int) -> bool:
        return vod(model, streams).worst_ms > 1000 / VOD_PER_S

    low, high = 1, 2
    while not late(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if late(middle) else (middle, high)
    return low


def _spc2e(streams: dict[int, Served], idle: float) -> Struct:
    def text(value: float) -> str:
        return decimal_text(measured_number(value))

    levels = [
        RateLevel("heavy", text(streams[1].bytes_per_s / 1e6), text(streams[1].watts), [], None),
        RateLevel("moderate", text(streams[2].bytes_per_s / 1e6), text(streams[2].watts), [], None),
        RateLevel("idle", "0", text(idle), [], None),
    ]
    return spc2e_report.build(levels, Facts(source=SOURCE), usage.DEFAULT_PRICE, usage.PROFILES)


def phase(model: Model, name: str) -> Served:
    """The most efficient depth of an active phase within its limit."""
    workload = emerald_loads.load_of(name, [])
    requests = requests_of(workload, model, COUNT)
    tried = [serve(model, requests, depth) for depth in DEPTHS]
    allowed = [
        served for served in tried if name not in LIMITED or served.mean_ms <= RANDOM_MS
    ] or tried[:1]
    return max(allowed, key=lambda served: served.iops / served.watts)


def quarter(model: Model, rate: float) -> Served:
    """The mixed load at a quarter of @rate, at random times."""
    requests = requests_of(emerald_loads.load_of("mixed-25", []), model, COUNT)
    generator = np.random.default_rng(1)
    requests["arrival_ns"] = np.cumsum(generator.exponential(4e9 / rate, COUNT))
    return serve(model, requests)


def _emerald(model: Model, idle: float) -> Struct:
    phases = {}
    for kind in KINDS:
        if kind.phase == "ready-idle":
            capacity = Fraction(model.capacity * SECTOR, 10**9)
            phases[kind.phase] = (capacity, measured_number(idle))
            continue
        if kind.phase == "mixed-25":
            served = quarter(model, float(phases["mixed"][0]))
        else:
            served = phase(model, kind.phase)
        rate = served.bytes_per_s / 2**20 if kind.unit == "MiB/s/W" else served.iops
        phases[kind.phase] = (measured_number(rate), measured_number(served.watts))
    return emerald_report.of_numbers(phases, phases["ready-idle"][0], SOURCE)


def _dcse(model: Model, load: Served, idle: float) -> Struct:
    """In operation is at half of the most that SPC-1's limit allows."""
    known = Inputs(
        gigabytes=Fraction(model.capacity * SECTOR, 10**9),
        idle_watts=measured_number(idle),
        load_watts=measured_number(load.watts),
        iops=measured_number(load.iops),
        megabytes_per_s=measured_number(load.bytes_per_s / 1e6),
    )
    return dcse_report.build(known, None, SOURCE)


def compared(folder: Path) -> efficiency.Comparison:
    """The metrics of the reports that write() has left."""
    return efficiency.compare([folder / name for name in FILES])


def sheet_of(comparison: efficiency.Comparison) -> Sheet:
    """The table, as `spekctl energy compare` prints it."""
    sheet = Sheet(
        "same-system", "metrics of several methods", f"Work per watt by method: {DRIVE}",
        label="methods", remarks=[ASSUMED],
    )  # fmt: skip
    sheet.grids = [grid_of("Work per watt", metrics_table(comparison.rows))]
    return sheet
