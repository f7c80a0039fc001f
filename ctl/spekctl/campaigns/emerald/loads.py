# SPDX-License-Identifier: GPL-2.0-or-later
"""The workloads of an Emerald-like test.

Random: 8 KiB. Sequential: 256 KiB. Mixed: 8 KiB, 70 % reads, 30 % of the I/Os continue the one
before. The hot band is a file of its own among the workloads.
"""

from __future__ import annotations

from collections.abc import Sequence

from spekctl.block.device import Device
from spekctl.workload import file
from spekctl.workload.model import Arrival, Header, Stream, WorkloadFile

FILL_BYTES = 256 << 10


def load_of(phase: str, devices: Sequence[Device]) -> WorkloadFile:
    """The workload of a phase, or of the preparation."""
    if phase in ("hot-band", "conditioning"):
        large = any(device.logical_block > 512 for device in devices)
        return file.load("emerald-hot-band-4k" if large else "emerald-hot-band")
    return _SIMPLE[phase]


def _simple(name: str, summary: str, stream: Stream) -> WorkloadFile:
    return WorkloadFile(
        workload=Header(name=f"emerald-{name}", summary=summary),
        stream=[stream],
        arrival=[Arrival(name="main", law="closed", depth=1)],
    )


_MIXED = Stream(name="main", read="70%", size="8KiB", pattern="uniform", sequential="30%")
_WRITE = Stream(name="main", read="0%", size="256KiB", pattern="sequential")
_SIMPLE: dict[str, WorkloadFile] = {
    "prefill": _simple("prefill", "Sequential writes of 256 KiB over everything", _WRITE),
    "random-read": _simple(
        "random-read", "Random reads of 8 KiB", Stream(name="main", read="100%", size="8KiB")
    ),
    "random-write": _simple(
        "random-write", "Random writes of 8 KiB", Stream(name="main", read="0%", size="8KiB")
    ),
    "sequential-read": _simple(
        "sequential-read",
        "Sequential reads of 256 KiB",
        Stream(name="main", read="100%", size="256KiB", pattern="sequential"),
    ),
    "sequential-write": _simple("sequential-write", "Sequential writes of 256 KiB", _WRITE),
    "mixed": _simple("mixed", "Mixed: 8 KiB, 70 % reads, 30 % sequential", _MIXED),
    "mixed-25": _simple("mixed-25", "The same at a quarter of the rate", _MIXED),
}
