# SPDX-License-Identifier: GPL-2.0
"""Figures 3 to 6 of paper 002 on its two disks, modelled: the module's generator feeds the drives.

The kernel's drives serve the same requests in the same times; only their completion is late.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from bench.papers.modelled import REQUESTS, requests_of

from spekctl.drive import file
from spekctl.drive.core import RESULT, Rule, Simulation
from spekctl.drive.model import SECTOR, Model
from spekctl.report.sheet import Axis, Line, Plot, Quantity, Sheet, Strand
from spekctl.workload.model import Arrival, Header, Stream, WorkloadFile

SEAGATE, IBM = "cheetah-x15-36lp", "dnes-309170w"
DISKS = {SEAGATE: "Figure 5", IBM: "Figure 6"}
KIB = 1024
SIZES = tuple(KIB << step for step in range(9))  # 1 to 256 KiB
LOADS: dict[str, tuple[Literal["sequential", "uniform"], str]] = {
    "sequential read": ("sequential", "100%"),
    "sequential write": ("sequential", "0%"),
    "random read": ("uniform", "100%"),
    "random write": ("uniform", "0%"),
}
DEPTH = 8
COUNT = 3000
LONG = 8000
WINDOW_S = 2
PLACES = (0.0, 0.49, 0.97)  # of the capacity
_RESULTS = np.dtype(
    [
        *((name, "<u8") for name in ("number", "arrival_ns", "lba", "start_ns", "end_ns")),
        ("times_ns", "<u8", 4),
        ("rest", "<u4", 4),
    ]
)
assert _RESULTS.itemsize == RESULT.size


@dataclass(frozen=True, slots=True)
class Disks:
    """All that is measured. @curves: MB/s by disk and load, over SIZES."""

    curves: dict[tuple[str, str], list[float]]
    windows: list[float]  # random writes of 16 KiB per second, in one window after the other
    zones: dict[str, list[float]]  # MB/s by load, at PLACES


def workload_of(load: str, size: int) -> WorkloadFile:
    """A load of the figures."""
    pattern, read = LOADS[load]
    stream = Stream(name="main", read=read, size=size, pattern=pattern, align=SECTOR * 2)
    arrival = Arrival(name="main", law="closed", depth=DEPTH)
    return WorkloadFile(
        workload=Header(name="two-disks", summary=load), stream=[stream], arrival=[arrival]
    )


def ends_of(model: Model, requests: Any) -> Any:
    """When the requests end, ns, in that order."""
    drive = Simulation(model, Rule("sptf", closed=DEPTH))
    results = drive.feed(requests.tobytes()) + drive.drain()
    return np.frombuffer(results, _RESULTS)["end_ns"]


def rate(model: Model, load: str, size: int) -> float:
    """10^6 bytes per second."""
    requests = requests_of(workload_of(load, size), model, COUNT)
    return float(COUNT * size / int(ends_of(model, requests)[-1]) * 1e3)


def zone_rate(model: Model, load: str, place: float) -> float:
    """Of blocks of 128 KiB from @place on."""
    requests = np.zeros(COUNT // 10, REQUESTS)
    sectors = 128 * KIB // SECTOR
    requests["lba"] = int(model.capacity * place) + np.arange(len(requests)) * sectors
    requests["sectors"] = sectors
    requests["write"] = LOADS[load][1] == "0%"
    ends = ends_of(model, requests)
    # The first one has to be sought.
    return float((len(ends) - 1) * 128 * KIB / int(ends[-1] - ends[0]) * 1e3)


@functools.cache
def disks() -> Disks:
    """Simulated once."""
    models = {name: file.load(name) for name in DISKS}
    seagate = models[SEAGATE]
    writes = requests_of(workload_of("random write", 16 * KIB), seagate, LONG)
    second = ends_of(seagate, writes) / 1e9
    edges = np.arange(0, second[-1], WINDOW_S)
    return Disks(
        {
            (name, load): [rate(model, load, size) for size in SIZES]
            for name, model in models.items()
            for load in LOADS
        },
        [float(ios) / WINDOW_S for ios in np.histogram(second, edges)[0]],
        {
            load: [zone_rate(seagate, load, place) for place in PLACES]
            for load in ("sequential read", "sequential write")
        },
    )


def sheet_of(measured: Disks) -> Sheet:
    """The figures."""
    sheet = Sheet(
        "two-disks", "curves of two disks", "Figures 3 to 6 on two modelled disks", label="disks"
    )
    sheet.conditions = [
        ("Figure 5", SEAGATE), ("Figure 6", IBM), ("outstanding", str(DEPTH)),
        ("random writes", f"of 16 KiB, {SEAGATE}"),
    ]  # fmt: skip
    times = [WINDOW_S * (number + 0.5) for number in range(len(measured.windows))]
    sheet.plots.append(
        Plot(
            "two-disks-writes", "Figure 3: random writes of 16 KiB",
            Axis("time", quantity=Quantity.CLOCK), Axis("I/Os per second", "1/s"),
            [Strand(times, [Line("spek", measured.windows, main=True)])],
        )
    )  # fmt: skip
    sheet.plots.append(
        Plot(
            "two-disks-zones", "Figure 4: sequential rate over the disk",
            Axis("place", "% of the capacity"), Axis("rate", "MB/s"),
            [Strand([100 * place for place in PLACES],
                    [Line(load, rates) for load, rates in measured.zones.items()])],
        )
    )  # fmt: skip
    for name, place in DISKS.items():
        lines = [Line(load, measured.curves[name, load]) for load in LOADS]
        sheet.plots.append(
            Plot(
                f"two-disks-{name}", f"{place}: throughput over block size, {name}",
                Axis("block size", quantity=Quantity.SIZE, log=True), Axis("throughput", "MB/s"),
                [Strand([float(size) for size in SIZES], lines)],
            )
        )  # fmt: skip
    return sheet
