# SPDX-License-Identifier: GPL-2.0
"""Predictions of paper 001 over the number of drives, from modelled drives in an assumed array.

The paper shows what its vendor's tool predicts, and describes neither the drives nor the array. The
array that is assumed here is made of what the paper prints elsewhere, see ASSUMED; only one drive
of it is simulated, as random I/Os come to all of them alike.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from math import ceil
from pathlib import Path

import numpy as np

from spekctl.drive import file
from spekctl.drive.core import REQUEST, Rule, Simulation
from spekctl.drive.model import SECTOR, Model
from spekctl.report.sheet import Axis, Line, Plot, Quantity, Sheet, Strand

_REQUESTS = np.dtype([("arrival_ns", "<u8"), ("lba", "<u8"), ("sectors", "<u4"), ("write", "<u4")])
assert _REQUESTS.itemsize == REQUEST.size
DRIVE = Path(__file__).with_name("numbers") / "savvio-15k2.toml"
COUNT = 6000
SEED = 1
DRIVES = range(5, 251, 5)
SHELF = 25  # drives of an enclosure
BLOCK = 16  # sectors, 8 KiB
LARGE = 256  # sectors, 128 KiB
RANDOM_MS = 20.0  # what Emerald allows a random phase
DEEPEST = 32
# RAID 5: a small write reads data and parity, and writes both; a large one has a parity in five.
WRITE_IOS = 4
DATA_SHARE = 0.8
READ_SHARES = (0.7, 0.6, 0.8)
# What the paper prints of the family: the P6400's SPC-1/E levels, the P6500's Emerald submission.
P6400_IDLE_W = 225.53
P6400_IOPS = 15999.51 / 0.8
P6500_IDLE_W = 592.692
P6500_DRIVES = 50  # of 146 GB, its 7300 GB
P6500_MIB_S_W = {"read": 3.01, "write": 1.22}
# Idle watts and 10^9 bytes of the drives of the ready-idle prediction, and drives of an enclosure.
READY_IDLE = {
    "LFF, 2 TB, 7200 rpm": (8.2, 2000, 12),
    "SFF, 500 GB, 7200 rpm": (3.19, 500, 25),
}
ASSUMED = (
    "Assumed array, as the paper describes neither drives nor array: drives as the Savvio 15K.2 of"
    f" 146 GB, with as many I/Os in each queue as keep {RANDOM_MS:g} ms; controllers and the first"
    f" enclosure as the P6400 of the paper when idle, {P6400_IDLE_W} W; each further {SHELF} drives"
    " an enclosure, whose watts are what the P6500's idle power leaves for it; at most the P6400's"
    f" {P6400_IOPS:,.0f} IOPS at 70/30, and as many disk I/Os at other mixes; RAID 5 with"
    f" {WRITE_IOS} disk I/Os for a write."
)


@dataclass(frozen=True, slots=True)
class Busy:
    """A drive under a load: disk I/Os per second, mean response, watts."""

    iops: float
    mean_ms: float
    watts: float


@dataclass(frozen=True, slots=True)
class Point:
    """An array: drives, work per second, watts."""

    drives: int
    work: float
    watts: float

    @property
    def efficiency(self) -> float:
        """Work per second and watt."""
        return self.work / self.watts


@dataclass(frozen=True, slots=True)
class Curve:
    """Predictions over the number of drives."""

    name: str
    points: list[Point]

    @property
    def peak(self) -> Point:
        """The most efficient array, the smallest of several."""
        return max(self.points, key=lambda point: point.efficiency)


@dataclass(frozen=True, slots=True)
class Predictions:
    """All of the paper. @depth: I/Os in the queue of each drive."""

    depth: int
    busy: Busy
    random: list[Curve]  # of READ_SHARES
    sequential: list[Curve]  # reads, writes
    idle: list[Curve]  # of READY_IDLE


@functools.cache
def predictions() -> Predictions:
    """Simulate and compute them; made once, takes seconds."""
    model = file.load(str(DRIVE))
    depth, busy = _deepest(model)
    # Disk I/Os per second, whatever the mix.
    most = P6400_IOPS * _disk_ios(READ_SHARES[0])
    return Predictions(
        depth,
        busy,
        [_random(model, share, depth, most) for share in READ_SHARES],
        [_sequential(model, what) for what in P6500_MIB_S_W],
        [_ready(name, *facts) for name, facts in READY_IDLE.items()],
    )


def _disk_ios(read_share: float) -> float:
    """Disk I/Os for one of the host's."""
    return read_share + (1 - read_share) * WRITE_IOS


def _disk_reads(read_share: float) -> float:
    """Share of reads among disk I/Os."""
    return (read_share + (1 - read_share) * WRITE_IOS / 2) / _disk_ios(read_share)


def serve(
    model: Model, reads: float, *, depth: int = 0, rate: float = 0.0, sectors: int = BLOCK,
    sequential: bool = False,
) -> Busy:  # fmt: skip
    """A drive with @depth I/Os outstanding, or with random arrivals at @rate."""
    generator = np.random.default_rng(SEED)
    requests = np.zeros(COUNT, _REQUESTS)
    places = generator.integers(0, model.capacity // sectors, COUNT)
    requests["lba"] = (np.arange(COUNT) if sequential else places) * sectors
    requests["sectors"] = sectors
    requests["write"] = generator.random(COUNT) >= reads
    if rate:
        requests["arrival_ns"] = np.cumsum(generator.exponential(1e9 / rate, COUNT))
    drive = Simulation(model, Rule("fcfs" if sequential else "sptf", closed=depth))
    drive.feed(requests.tobytes())
    drive.drain()
    account = drive.account()
    seconds = account.now_ns / 1e9
    return Busy(
        COUNT / seconds,
        account.sum_ns[0] / COUNT / 1e6,
        sum(account.energy_nj) / 1e9 / seconds,
    )


def _deepest(model: Model) -> tuple[int, Busy]:
    """The longest queue that keeps the limit at the first mix, and the drive with it."""
    reads = _disk_reads(READ_SHARES[0])
    kept = 1, serve(model, reads, depth=1)
    for depth in range(2, DEEPEST + 1):
        busy = serve(model, reads, depth=depth)
        if busy.mean_ms > RANDOM_MS:
            break
        kept = depth, busy
    return kept


def idle_watts(model: Model) -> float:
    """Of a drive whose arms stand still."""
    return model.watts.active_uw(len(model.arm_angles)) / 1e6


def frame_watts(drives: int, shelf: int = SHELF) -> float:
    """Of controllers and enclosures."""
    drive = idle_watts(file.load(str(DRIVE)))
    enclosure = P6500_IDLE_W - P6400_IDLE_W - P6500_DRIVES * drive
    return P6400_IDLE_W + (ceil(drives / shelf) - 1) * enclosure


def _random(model: Model, read_share: float, depth: int, most: float) -> Curve:
    """IOPS of the host; @most: disk I/Os per second that the controllers do."""
    reads, ios = _disk_reads(read_share), _disk_ios(read_share)
    full = serve(model, reads, depth=depth)
    points = []
    for drives in DRIVES:
        each = min(full.iops, most / drives)
        drive = full if each == full.iops else serve(model, reads, rate=each)
        points.append(
            Point(drives, drives * each / ios, frame_watts(drives) + drives * drive.watts)
        )
    return Curve(f"{read_share:.0%} reads", points)


def _sequential(model: Model, what: str) -> Curve:
    """MiB per second of the host, up to what the P6500 did."""
    reads = float(what == "read")
    drive = serve(model, reads, depth=4, sectors=LARGE, sequential=True)
    share = 1.0 if reads else DATA_SHARE
    each = drive.iops * LARGE * SECTOR / 2**20 * share
    most = P6500_MIB_S_W[what] * (P6500_IDLE_W + P6500_DRIVES * (drive.watts - idle_watts(model)))
    points = []
    for drives in DRIVES:
        used = min(1.0, most / (drives * each))
        watts = idle_watts(model) + used * (drive.watts - idle_watts(model))
        points.append(Point(drives, drives * each * used, frame_watts(drives) + drives * watts))
    return Curve(f"sequential {what}s", points)


def _ready(name: str, watts: float, gigabytes: int, shelf: int) -> Curve:
    """10^9 bytes of drives that are idle."""
    return Curve(
        name,
        [
            Point(drives, drives * gigabytes, frame_watts(drives, shelf) + drives * watts)
            for drives in DRIVES
        ],
    )


def sheet_of(predicted: Predictions) -> Sheet:
    """The three figures."""
    sheet = Sheet(
        "predictions", "predictions over drives", "Predictions of an array over its drives",
        label="predictions", remarks=[ASSUMED],
    )  # fmt: skip
    sheet.conditions = [
        ("I/Os in the queue of a drive", str(predicted.depth)),
        ("disk I/Os per second of a drive", f"{predicted.busy.iops:.0f}"),
        ("mean response of a drive", f"{predicted.busy.mean_ms:.1f} ms"),
        ("watts of a drive", f"{predicted.busy.watts:.2f}"),
    ]
    for key, title, unit, curves in (
        ("random", "8 KiB at random", "IOPS/W", predicted.random),
        ("sequential", "128 KiB sequential", "MiB/s/W", predicted.sequential),
        ("idle", "Ready idle", "GB/W", predicted.idle),
    ):
        xs = [float(point.drives) for point in curves[0].points]
        lines = [
            Line(curve.name, [point.efficiency for point in curve.points], main=True)
            for curve in curves
        ]
        drives = Axis("drives", quantity=Quantity.WHOLE)
        efficiency = Axis("efficiency", unit)
        sheet.plots.append(
            Plot(f"predictions-{key}", title, drives, efficiency, [Strand(xs, lines)])
        )
    return sheet
