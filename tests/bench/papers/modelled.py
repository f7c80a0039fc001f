# SPDX-License-Identifier: GPL-2.0
"""A workload on a modelled drive, without a kernel: the module's generator feeds the drive's core.

Both are the C that the modules run. Closed loops keep their number of I/Os outstanding at the
drive; which stream continues is as in the generator's own order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from lib.core.config import core_of
from lib.core.spekcore import Generator

from spekctl.drive.core import REQUEST, Rule, Simulation
from spekctl.drive.model import SECTOR, Model
from spekctl.workload.layout import Target
from spekctl.workload.model import WorkloadFile
from spekctl.workload.options import Options
from spekctl.workload.resolve import resolve

REQUESTS = np.dtype([("arrival_ns", "<u8"), ("lba", "<u8"), ("sectors", "<u4"), ("write", "<u4")])
assert REQUESTS.itemsize == REQUEST.size


@dataclass(frozen=True, slots=True)
class Served:
    """A drive under a load. @hits: share of I/Os that its cache served."""

    iops: float
    bytes_per_s: float
    mean_ms: float
    worst_ms: float
    watts: float
    hits: float


def requests_of(
    workload: WorkloadFile,
    model: Model,
    count: int,
    seed: int = 1,
    bsu: int | None = None,
    iops_per_bsu: int | None = None,
    drives: int = 1,
    stripe: int = 8,
) -> Any:
    """The first I/Os of a workload on a device as large as @drives of @model, in whole stripes of
    so many sectors on each."""
    # Whole blocks of 4 KiB, of which the addresses of workloads are multiples.
    size = drives * (model.capacity // stripe * stripe * SECTOR) // 4096 * 4096
    target = Target("/dev/model", 8, 0, size, SECTOR)
    options = Options(
        available_cpus=(0,), write=True, bsu=bsu, iops_per_bsu=iops_per_bsu, seed=seed
    )
    config = resolve(workload, options, (target,))
    ops = Generator(core_of(config), seed).ops(count)
    starts = np.array([asu.extents[0].start for asu in config.asus])
    requests = np.zeros(len(ops), REQUESTS)
    requests["arrival_ns"] = ops["at_ns"]
    requests["lba"] = (starts[ops["asu"]] + ops["addr"]) // SECTOR
    requests["sectors"] = ops["bytes"] // SECTOR
    requests["write"] = ops["write"]
    return requests


def serve(model: Model, requests: Any, outstanding: int = 0) -> Served:
    """All @requests, at their times or with so many outstanding."""
    drive = Simulation(model, Rule("sptf", closed=outstanding))
    drive.feed(requests.tobytes())
    drive.drain()
    account = drive.account()
    seconds = account.now_ns / 1e9
    count = len(requests)
    return Served(
        iops=count / seconds,
        bytes_per_s=int(requests["sectors"].sum()) * SECTOR / seconds,
        mean_ms=account.sum_ns[0] / count / 1e6,
        worst_ms=account.max_ns[0] / 1e6,
        watts=sum(account.energy_nj) / 1e9 / seconds,
        hits=account.arm_served[-1] / count,
    )


def idle_watts(model: Model) -> float:
    """Of a drive whose arms stand still."""
    return model.watts.active_uw(len(model.arm_angles)) / 1e6
