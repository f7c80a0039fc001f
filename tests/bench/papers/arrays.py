# SPDX-License-Identifier: GPL-2.0
"""Figures 3 to 5 of paper 000 in simulated time: its disks and SSDs, one, three and six in RAID-0.

The module's generator makes SPC-1's I/Os at their times, which are striped as md does, and each
part is served by the core of a modelled drive. No kernel, no md and no processor take part, so
that the figures are those of the drives; every I/O is sent at its time, however many wait.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np
from bench.papers import modelled
from bench.papers.modelled import REQUESTS, requests_of

from spekctl.drive import file
from spekctl.drive.core import RESULT, Rule, Simulation
from spekctl.drive.model import SECTOR, Cache, Model
from spekctl.report.sheet import Axis, Line, Plot, Sheet, Strand
from spekctl.workload import file as workload_file
from spekctl.workload.model import Arrival, Header, Stream, WorkloadFile

HDD, SSD = "wd2001fass", "vertex2"
DRIVES = (1, 3, 6)
CHUNK = (8 << 10) // SECTOR  # the paper's stripe size, of its controller and of md
QUEUE = 32  # commands that a drive may choose among
IOPS_PER_BSU = 50
HDD_BSU = (1, 2, 5, 10, 15, 20, 25, 30, 40, 50, 60, 80, 100, 150, 200)
SSD_BSU = (10, 50, 100, 200, 300, 400, 600, 860, 1000, 1180, 1500, 2000)
HDD_S, SSD_S = 30.0, 2.0  # of requests
RANDOM = 6000
DEPTHS = (1, 8, QUEUE)  # of random I/Os
UNCACHED_BSU = {1: 8, 3: 15, 6: 20}  # by drives
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

    The chunks of a request that are on the same drive follow each other there, and the block layer
    merges them: a part is all that a drive has of a request. A single drive is no array.
    """
    start = requests["lba"].astype(np.int64)
    end = start + requests["sectors"]
    first = start // CHUNK
    chunks = (end - 1) // CHUNK - first + 1 if drives > 1 else np.ones(len(requests), np.int64)
    count = np.minimum(chunks, drives)
    number = np.repeat(np.arange(len(requests)), count)
    step = np.arange(len(number)) - np.repeat(np.cumsum(count) - count, count)
    chunk = first[number] + step
    # The last chunk of the request on that drive.
    last = chunk + (chunks[number] - 1 - step) // drives * drives
    head = np.where(step == 0, start[number] % CHUNK, 0)
    tail = np.where(last == first[number] + chunks[number] - 1, end[number] - last * CHUNK, CHUNK)
    parts = np.zeros(len(number), REQUESTS)
    parts["arrival_ns"] = requests["arrival_ns"][number]
    parts["lba"] = chunk // drives * CHUNK + head
    parts["sectors"] = (last - chunk) // drives * CHUNK + tail - head
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
    """All of them, simulated once, by two threads: the core runs without Python's lock."""
    with ThreadPoolExecutor(2) as pool:
        points = {
            (name, drives): [pool.submit(array, name, drives, bsu, length_s) for bsu in loads]
            for name, loads, length_s in ((HDD, HDD_BSU, HDD_S), (SSD, SSD_BSU, SSD_S))
            for drives in DRIVES
        }
    return {key: [point.result() for point in curve] for key, curve in points.items()}


@functools.cache
def uncached() -> list[Point]:
    """Arrays of the disk with its cache off, at loads about their peaks."""
    model = replace(file.load(HDD), cache=Cache())
    return [_under_spc1(model, drives, bsu, HDD_S) for drives, bsu in UNCACHED_BSU.items()]


@functools.cache
def full_random() -> dict[tuple[str, int], float]:
    """IOPS of a single drive under random I/Os of 8 KiB, half of them reads, by drive and by I/Os
    outstanding: the paper's conventional pattern."""
    stream = Stream(name="main", read="50%", size=8192)
    arrival = Arrival(name="main", law="closed", depth=QUEUE)
    load = WorkloadFile(
        workload=Header(name="half", summary="random"), stream=[stream], arrival=[arrival]
    )
    served = {}
    for name in (HDD, SSD):
        model = file.load(name)
        requests = requests_of(load, model, RANDOM)
        for depth in DEPTHS:
            served[name, depth] = modelled.serve(model, requests, depth).iops
    return served


def peak_of(points: list[Point]) -> Point:
    """The point of the most IOPS; of a plateau its beginning."""
    most = max(point.iops for point in points)
    return next(point for point in points if point.iops >= 0.99 * most)


def sheet_of(measured: Curves, random: Mapping[tuple[str, int], float]) -> Sheet:
    """The figures. @random: as full_random()."""
    sheet = Sheet("arrays", "curves of arrays", "Figures 3 to 5 in simulated time", label="arrays")
    sheet.conditions = [
        ("disk", HDD), ("SSD", SSD), ("RAID-0", f"chunks of {CHUNK * SECTOR >> 10} KiB"),
        ("requests", f"{HDD_S:g} s of the disks, {SSD_S:g} s of the SSDs"),
        ("simulated", "drives with their caches: neither kernel nor md nor a caching controller"),
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
            if key == "iops":
                lines += [
                    Line(
                        f"random 8 KiB, 50 % reads, x1, {depth} outstanding",
                        [random[name, depth]] * len(loads),
                    )
                    for depth in DEPTHS
                ]
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
