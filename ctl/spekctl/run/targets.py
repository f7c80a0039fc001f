# SPDX-License-Identifier: GPL-2.0-or-later
"""What resolving a workload needs to know of devices."""

from __future__ import annotations

from collections.abc import Sequence

from spekctl.block.device import Device
from spekctl.workload.layout import Target


def targets_of(devices: Sequence[Device]) -> list[Target]:
    """The devices of a run, in their order."""
    return [
        Target(
            *(one.path, one.major, one.minor, one.bytes, one.logical_block, one.diskseq),
            *(one.zone_bytes, one.open_zones_max),
        )
        for one in devices
    ]
