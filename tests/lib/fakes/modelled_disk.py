# SPDX-License-Identifier: GPL-2.0
"""A disk whose times are those of a model, for what measures disks."""

from __future__ import annotations

import random

from spekctl.drive.core import REQUEST, RESULT, Rule, Simulation
from spekctl.drive.model import Model


class ModelledDisk:
    """Reads of one caller: each arrives @path_ns after the one before has ended, and its end is
    seen up to @late_ns late."""

    def __init__(
        self, model: Model, path_ns: int = 20_000, late_ns: int = 0, phase: int = 2**62
    ) -> None:
        self.sectors = model.capacity
        self._drive = Simulation(model, Rule("fcfs", phase=phase))
        self._now = 1_000_000
        self._path_ns, self._late_ns = path_ns, late_ns
        self._random = random.Random(5)

    def read(self, lba: int, sectors: int = 1) -> tuple[int, int]:
        begin = self._now
        ended = self._drive.feed(REQUEST.pack(begin + self._path_ns, lba, sectors, 0))
        ended += self._drive.drain()
        end = RESULT.unpack(ended)[4]
        if self._late_ns:
            end += self._random.randrange(self._late_ns)
        self._now = end
        return begin, end

    def wait_until(self, ns: int) -> None:
        self._now = max(self._now, ns)
