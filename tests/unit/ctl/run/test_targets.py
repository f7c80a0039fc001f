# SPDX-License-Identifier: GPL-2.0
"""What resolving a workload needs to know of devices."""

from __future__ import annotations

from lib.fakes.machine import disk

from spekctl.run.targets import targets_of
from spekctl.workload.layout import Target


def test_targets_are_the_devices_in_their_order() -> None:
    devices = [
        disk("/dev/fake1", diskseq=7, bytes=1 << 31, logical_block=4096),
        disk("/dev/fake0", zone_bytes=8 << 20, open_zones_max=14),
    ]
    assert targets_of(devices) == [
        Target("/dev/fake1", 250, 1, 1 << 31, 4096, 7, 4 << 20, 0),
        Target("/dev/fake0", 250, 0, 1 << 30, 512, 0, 8 << 20, 14),
    ]
