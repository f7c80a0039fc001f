# SPDX-License-Identifier: GPL-2.0
"""Records as the kernel module's generator makes them."""

from __future__ import annotations

import numpy as np
from lib.core import spekcore

from spekctl.trace.columns import Batch, Op


def of_core(workload: spekcore.Workload, count: int, seed: int = 1) -> Batch:
    """The first operations of a workload; times count from the first."""
    ops = spekcore.Generator(workload, seed).ops(count)
    at = ops["at_ns"] - ops["at_ns"][0]
    return Batch(
        at,
        ops["asu"].astype(np.uint32),
        ops["addr"].copy(),
        ops["bytes"].astype(np.uint64),
        np.where(ops["write"] != 0, np.uint8(Op.WRITE), np.uint8(Op.READ)),
        np.zeros(len(ops), np.uint8),
    )
