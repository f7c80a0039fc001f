# SPDX-License-Identifier: GPL-2.0
"""How far the measurement of a disk is off the model of it."""

from __future__ import annotations

from dataclasses import dataclass

from spekctl.drive.model import Model
from spekctl.drive.probe import FoundDisk


@dataclass(frozen=True)
class Deviation:
    """Shares of the true value; 0 is none."""

    period: float
    seek: float  # the largest at any distance
    zones: bool  # the LBA at which the sectors per track change, or those sectors, or the heads

    @staticmethod
    def of(disk: FoundDisk, model: Model) -> Deviation:
        """What @disk says of a disk that behaves like @model."""
        seen = _borders([(zone.first_lba, zone.spt) for zone in disk.zones])
        return Deviation(
            abs(disk.period_ns * 1000 / model.period_ps - 1),
            max(abs(ns / model.seek_ns(distance) - 1) for distance, ns in disk.seek),
            (disk.heads, seen) != (model.heads, _zones_of(model)),
        )


def _borders(zones: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """First LBA and sectors per track where these change."""
    borders: list[tuple[int, int]] = []
    for first, spt in zones:
        if not borders or borders[-1][1] != spt:
            borders.append((first, spt))
    return borders


def _zones_of(model: Model) -> list[tuple[int, int]]:
    zones, lba = [], 0
    for zone in model.zones:
        zones.append((lba, zone.spt))
        lba += zone.cylinders * zone.spt * model.heads
    return _borders(zones)
