# SPDX-License-Identifier: GPL-2.0
"""Figures 3 to 5 of paper 000 in simulated time: its disks and SSDs, one, three and six in RAID-0.

The module's generator makes SPC-1's I/Os at their times, which are striped as md does, and each
part is served by the core of a modelled drive. No kernel, no md and no processor take part, so
that the figures are those of the drives; every I/O is sent at its time, however many wait.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace

import numpy as np
from bench.papers import modelled
from bench.papers.modelled import REQUESTS, requests_of

from spekctl.drive import file
from spekctl.drive.core import RESULT, Rule, Simulation
from spekctl.drive.model import SECTOR, Model
from spekctl.report.sheet import Axis, Line, Plot, Sheet, Strand
from spekctl.workload import file as workload_file
from spekctl.workload.model import Arrival, Header, Stream, WorkloadFile

HDD, SSD = "wd2001fass", "vertex2"
DRIVES = (1, 3, 6)
CHUNK = (512 << 10) // SECTOR  # md's default
QUEUE = 32  # commands that a drive may choose among
IOPS_PER_BSU = 50
HDD_BSU = (1, 2, 5, 10, 15, 20, 25, 30, 40, 50, 60, 80, 100, 150, 200)
SSD_BSU = (10, 50, 100, 200, 300, 400, 600, 860, 1000, 1180, 1500, 2000)
HDD_S, SSD_S = 30.0, 2.0  # of requests
RANDOM = 6000
# Of the disk's data sheet, as a fit: its buffer, all of it for writes, with an assumed command
# overhead and the rate of SATA. BSU by drives, about the peak.
WRITE_CACHE = {"write_sectors": (64 << 20) // SECTOR, "hit_ns": 50_000, "sector_ps": 2_000_000}
FIT_BSU = {1: 10, 3: 25, 6: 50}
RESULTS = np.dtype(
    [
        *((name, "<u8") for name in ("number", "arrival_ns", "lba", "start_ns", "end_ns")),
        ("times_ns", "<u8", 4),
        ("rest", "<u4", 4),
    ]
)
assert RESULTS.itemsize == RESULT.size


@dataclass(frozen=True, slots=True)
class Point:
    """An array under a load. @watts: of one of its drives, on 5 V and 12 V. @length_s: of the
    requests; @took_s: until the last one was served."""

    bsu: int
    iops: float
    mib_per_s: float
    mean_ms: float
    length_s: float
    took_s: float
    watts: tuple[float, float]
    drives: int

    @property
    def drive_w(self) -> float:
        """Of one drive."""
        return sum(self.watts)

    @property
    def mw_per_iops(self) -> float:
        """Of all drives."""
        return 1e3 * self.drives * self.drive_w / self.iops


Curves = dict[tuple[str, int], list[Point]]


def parts_of(requests: np.ndarray, drives: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """RAID-0: drive, request and access of each part, in order of their times.

    A part ends with its chunk; no request is longer than one. A single drive is no array.
    """
    start = requests["lba"].astype(np.int64)
    length = requests["sectors"].astype(np.int64)
    room = CHUNK - start % CHUNK
    over = np.flatnonzero(length > room) if drives > 1 else np.array([], np.int64)
    number = np.concatenate([np.arange(len(requests)), over])
    lba = np.concatenate([start, start[over] + room[over]])
    sectors = np.concatenate([length, length[over] - room[over]])
    sectors[over] = room[over]
    chunk = lba // CHUNK
    parts = np.zeros(len(number), REQUESTS)
    parts["arrival_ns"] = requests["arrival_ns"][number]
    parts["lba"] = chunk // drives * CHUNK + lba % CHUNK
    parts["sectors"] = sectors
    parts["write"] = requests["write"][number]
    order = np.argsort(parts["arrival_ns"], kind="stable")
    return (chunk % drives)[order], number[order], parts[order]


def serve(model: Model, drives: int, requests: np.ndarray, bsu: int, length_s: float) -> Point:
    """The array under all @requests."""
    drive_of, number, parts = parts_of(requests, drives)
    ends = np.zeros(len(requests), np.int64)
    simulations = []
    for drive in range(drives):
        mine = np.flatnonzero(drive_of == drive)
        simulation = Simulation(model, Rule("sptf", window=QUEUE, phase=drive))
        results = np.frombuffer(
            simulation.feed(parts[mine].tobytes()) + simulation.drain(), RESULTS
        )
        np.maximum.at(ends, number[mine][results["number"]], results["end_ns"].astype(np.int64))
        simulations.append(simulation)
    took_ns = int(max(ends.max(), length_s * 1e9))
    # Drives that end early rest until the last one has ended.
    energies = [simulation.account(took_ns).energy_nj for simulation in simulations]
    watts = [sum(energy[rail] for energy in energies) / took_ns / drives for rail in (0, 1)]
    response = ends - requests["arrival_ns"].astype(np.int64)
    return Point(
        bsu,
        len(requests) / took_ns * 1e9,
        int(requests["sectors"].sum()) * SECTOR / took_ns * 1e9 / (1 << 20),
        float(response.mean()) / 1e6,
        length_s,
        took_ns / 1e9,
        (watts[0], watts[1]),
        drives,
    )


def array(name: str, drives: int, bsu: int, length_s: float) -> Point:
    """One point of a curve."""
    return _under_spc1(file.load(name), drives, bsu, length_s)


def _under_spc1(model: Model, drives: int, bsu: int, length_s: float) -> Point:
    requests = requests_of(
        workload_file.load("spc1"), model, round(IOPS_PER_BSU * bsu * length_s), bsu=bsu,
        drives=drives, stripe=CHUNK,
    )  # fmt: skip
    return serve(model, drives, requests, bsu, length_s)


@functools.cache
def curves() -> Curves:
    """All of them, simulated once."""
    return {
        (name, drives): [array(name, drives, bsu, length_s) for bsu in loads]
        for name, loads, length_s in ((HDD, HDD_BSU, HDD_S), (SSD, SSD_BSU, SSD_S))
        for drives in DRIVES
    }


@functools.cache
def fit() -> list[Point]:
    """Arrays of the disk with a write cache, at loads about their peaks."""
    model = file.load(HDD)
    cached = replace(model, cache=replace(model.cache, **WRITE_CACHE))
    return [_under_spc1(cached, drives, bsu, HDD_S) for drives, bsu in FIT_BSU.items()]


@functools.cache
def full_random() -> float:
    """IOPS of a disk under random I/Os of 8 KiB, half of them reads, QUEUE outstanding."""
    stream = Stream(name="main", read="50%", size=8192)
    arrival = Arrival(name="main", law="closed", depth=QUEUE)
    load = WorkloadFile(
        workload=Header(name="half", summary="random"), stream=[stream], arrival=[arrival]
    )
    model = file.load(HDD)
    return modelled.serve(model, requests_of(load, model, RANDOM), QUEUE).iops


def peak_of(points: list[Point]) -> Point:
    """The point of the most IOPS; of a plateau its beginning."""
    most = max(point.iops for point in points)
    return next(point for point in points if point.iops >= 0.99 * most)


def sheet_of(measured: Curves, random: float) -> Sheet:
    """The figures. @random: as full_random()."""
    sheet = Sheet("arrays", "curves of arrays", "Figures 3 to 5 in simulated time", label="arrays")
    sheet.conditions = [
        ("disk", HDD), ("SSD", SSD), ("RAID-0", f"chunks of {CHUNK * SECTOR >> 10} KiB"),
        ("requests", f"{HDD_S:g} s of the disks, {SSD_S:g} s of the SSDs"),
        ("simulated", "drives only: neither kernel nor md nor a caching controller"),
    ]  # fmt: skip
    for name, what in ((HDD, "disks"), (SSD, "SSDs")):
        for key, title, axis in (
            ("iops", "IOPS", Axis("I/Os per second", "1/s")),
            ("rate", "throughput", Axis("throughput", "MiB/s")),
            ("response", "response", Axis("mean response time", "ms", log=True)),
            ("watts", "watts of a drive", Axis("power of a drive", "W")),
            ("cost", "mW per IOPS", Axis("mW per IOPS", "mW", log=True)),
        ):
            loads = [float(point.bsu) for point in measured[name, DRIVES[0]]]
            lines = [
                Line(f"x{drives}", [_value(point, key) for point in measured[name, drives]])
                for drives in DRIVES
            ]
            if name == HDD and key == "iops":
                lines.append(Line("random 8 KiB, 50 % reads, x1", [random] * len(loads)))
            place = "Figure 5" if key in ("watts", "cost") else "Figures 3 and 4"
            sheet.plots.append(
                Plot(
                    f"arrays-{name}-{key}", f"{place}: {title} over load, {what}",
                    Axis("load", "BSU", log=name == SSD), axis, [Strand(loads, lines)],
                )
            )  # fmt: skip
    return sheet


def _value(point: Point, key: str) -> float:
    values = {
        "iops": point.iops, "rate": point.mib_per_s, "response": point.mean_ms,
        "watts": point.drive_w, "cost": point.mw_per_iops,
    }  # fmt: skip
    return values[key]
