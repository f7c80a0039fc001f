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
            *(
                device.path,
                device.major,
                device.minor,
                device.bytes,
                device.logical_block,
                device.diskseq,
            ),
            *(device.zone_bytes, device.open_zones_max),
        )
        for device in devices
    ]
