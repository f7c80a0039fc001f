# SPDX-License-Identifier: GPL-2.0-or-later
"""NVMe controllers beside a run: health, temperature and power before its start, at most every ten
seconds while it is under way, and after its end."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from spekctl.block.device import Device
from spekctl.documents.nvme import NvmeDrive
from spekctl.errors import SpekError
from spekctl.power import nvme_log
from spekctl.power.nvme_log import Readings
from spekctl.run import rounds
from spekctl.run.collector import Claimed, Collector, Ended, Sections
from spekctl.run.rights import Rights
from spekctl.run.rounds import Rounds


class NvmeReadings(Collector):
    """Reads each controller in a thread of its own, so that a hung controller delays nothing else.
    A failed reading is reported in the result and does not end the run."""

    def __init__(self, devices: Sequence[Device], rights: Rights) -> None:
        self._devices = devices
        self._rights = rights
        self._readings: list[tuple[Readings, Rounds]] = []

    def arm(self, claimed: Claimed) -> str:
        """Take the first readings."""
        for place, disks in nvme_log.controllers(self._devices):
            ask = partial(self._rights.nvme, disks[0], place.number)
            readings = Readings(place, disks, ask, nvme_log.INTERVAL_NS)
            name = f"readings of {place.path}"
            self._readings.append((readings, Rounds(readings.take, readings.interval_ns, name)))
        for readings, repeated in self._readings:
            readings.is_late = not repeated.start()
        return ""

    def ended(self) -> None:
        """Take the last readings."""
        for _, repeated in self._readings:
            repeated.end()

    def conclude(self, ended: Ended, sections: Sections) -> None:
        """Put the readings into the result."""
        self.close()
        if self._readings:
            sections.nvme = [_part(*each) for each in self._readings]

    def close(self) -> None:
        """End the threads, unless a controller holds them up."""
        for _, repeated in self._readings:
            repeated.close()


def _part(readings: Readings, repeated: Rounds) -> NvmeDrive:
    trouble = ""
    if repeated.is_held_up:
        trouble = f"the controller has not answered for {rounds.PATIENCE_S:g} s"
    elif isinstance(repeated.failure, SpekError):
        trouble = repeated.failure.message
    elif repeated.failure is not None:
        trouble = str(repeated.failure)
    is_complete = not trouble
    # If a controller has never answered, the trouble says enough.
    if readings.is_late and readings.readings:
        late = f"the first reading took more than {rounds.PATIENCE_S:g} s, and the run began"
        trouble = f"{late}; {trouble}" if trouble else late
    return readings.part(trouble, is_complete)
