# SPDX-License-Identifier: GPL-2.0-or-later
"""The counters of the disks after a run."""

from __future__ import annotations

from collections.abc import Sequence

from spekctl.block import device as devices
from spekctl.documents.device import DiskCounters, TargetFacts


def read(targets: Sequence[TargetFacts]) -> list[DiskCounters | None]:
    """What the disks themselves have counted; None for one that keeps none, or is gone.

    To be read as soon as a run has ended: what others do afterwards is counted as well.
    """
    counters = []
    for facts in targets:
        device = devices.by_number(facts.major, facts.minor, facts.path)
        same = device is not None and device.diskseq == facts.diskseq
        counters.append(devices.read_stat(device) if device is not None and same else None)
    return counters
