# SPDX-License-Identifier: GPL-2.0-or-later
"""A modelled drive as the core takes it, in integers, and what follows from it.

    model = file.load("barracuda-es").with_arms(4).at_rpm(5200)

Nothing is computed in floating point but the law of the spindle's power.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, get_args

from spekctl.contract.drive_requests import (
    MAX_ANGLES_BYTES,
    MAX_HEAD_ANGLES_BYTES,
    MAX_NAME,
    Condition,
    ConditionPowerRequest,
    DescriptionRequest,
    Layout,
)
from spekctl.errors import UsageError

LAYOUTS: tuple[Layout, ...] = get_args(Layout)
CONDITIONS = tuple(word.replace("-", "_") for word in get_args(Condition))
TURN = 2**64
SECTOR = 512
MOST_ARMS = MAX_ANGLES_BYTES // 8
MOST_HEADS_PER_SURFACE = MAX_HEAD_ANGLES_BYTES // 8
# Properties of a description that a drive of flash has not.
NOT_OF_FLASH = ("policy", "max_wait_ns", "phase", "seek_scale", "rotation_scale")
# The law of the spindle's power: P ~ platters * rpm^2.8 * diameter^4.6.
SPEED_EXPONENT = 2.8


@dataclass(frozen=True, slots=True)
class Zone:
    """Cylinders with the same number of sectors per track; skews in 2^-64 of a turn."""

    first_cylinder: int
    cylinders: int
    spt: int
    track_skew: int
    cylinder_skew: int


@dataclass(frozen=True, slots=True)
class Lee:
    """Three-parameter seek curve: one cylinder, mean, all cylinders."""

    min_ns: int
    avg_ns: int
    max_ns: int


Points = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Watts:
    """Power of the parts in microwatts."""

    base: tuple[tuple[int, int], ...] = ((0, 0),) * len(CONDITIONS)  # by condition: 5 V, 12 V
    hold: int = 0
    seek: int = 0
    rotate: int = 0
    read: int = 0
    write: int = 0
    erase: int = 0  # of flash
    starting_ns: int = 0
    stopping_ns: int = 0

    def with_spindle(self, scale: float) -> Watts:
        """The power of the spindle, and nothing else, times @scale."""
        five, twelve = self.base[0]
        return replace(self, base=((five, round(twelve * scale)), *self.base[1:]))

    def active_uw(self, arms: int) -> int:
        """A drive with its spindle at speed whose arms stand still."""
        return sum(self.base[0]) + self.hold * arms


@dataclass(frozen=True, slots=True)
class Cache:
    """Cache of the drive; all 0: no cache."""

    segments: int = 0
    segment_sectors: int = 0
    ahead_sectors: int = 0
    write_sectors: int = 0
    hit_ns: int = 0
    sector_ps: int = 0


@dataclass(frozen=True, slots=True)
class Flash:
    """Channels of flash, their pages and blocks, and the times of these."""

    channels: int
    page_sectors: int
    block_pages: int
    blocks: int
    low_blocks: int
    read_ns: int
    program_ns: int
    erase_ns: int
    sector_ps: int


@dataclass(frozen=True, slots=True)
class Model:
    """A drive as the core takes it. One of flash has neither platters nor arms."""

    title: str
    heads: int
    zones: tuple[Zone, ...]
    seek: Points | Lee  # points: cylinders, ns
    period_ps: int
    layout: Layout = "cylinder"
    band_cylinders: int = 0
    sectors: int = 0
    head_switch_ns: int = 0
    settle_ns: int = 0
    overhead_ns: int = 0
    watts: Watts = field(default_factory=Watts)
    cache: Cache = field(default_factory=Cache)
    arm_angles: tuple[int, ...] = (0,)
    channels: int = 1
    moving: int = 0  # arms that move at the same time; 0: as many as channels
    split: bool = False
    stacks: int = 1
    surfaces: int = 1
    head_angles: tuple[int, ...] = (0,)
    zero_latency: bool = False
    profile: str = ""
    profiles: Mapping[str, Watts] = field(default_factory=dict)
    max_fall_ppm: int = 400_000
    flash: Flash | None = None
    name: str = ""
    sources: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()

    @property
    def dash(self) -> str:
        """Its place in paper 003's taxonomy: Disk stacks, Arm assemblies, Surfaces that transfer
        together, Heads of an arm on a surface. A conventional disk is D1A1S1H1."""
        degrees = self.stacks, len(self.arm_angles), self.surfaces, len(self.head_angles)
        return "".join(f"{letter}{degree}" for letter, degree in zip("DASH", degrees, strict=True))

    def with_arms(self, arms: int) -> Model:
        """The same drive with arms at equal angles around the platters."""
        angles = tuple(TURN * arm // arms for arm in range(arms))
        return replace(
            self,
            arm_angles=angles,
            channels=min(self.channels, arms),
            moving=min(self.moving, arms),
        )

    def with_profile(self, name: str) -> Model:
        """The same drive with another of its power profiles."""
        if name not in self.profiles:
            known = ", ".join(self.profiles) or "none"
            raise UsageError(f"there is no profile '{name}'; those of this model: {known}")
        return replace(self, profile=name, watts=self.profiles[name])

    def with_spindle(self, scale: float) -> Model:
        """The same drive with its spindle power scaled."""
        return replace(
            self,
            watts=self.watts.with_spindle(scale),
            profiles={name: profile.with_spindle(scale) for name, profile in self.profiles.items()},
        )

    def at_rpm(self, rpm: float) -> Model:
        """The same drive at another speed; of its power only the spindle's changes with it."""
        whole = int(rpm) if float(rpm).is_integer() else None
        period_ps = 60 * 10**12 // whole if whole else round(60 * 10**12 / rpm)
        scaled = self.with_spindle((self.period_ps / period_ps) ** SPEED_EXPONENT)
        return replace(scaled, period_ps=period_ps)

    def description(self, **properties: Any) -> DescriptionRequest:
        """The drive in the words of the contract.

        @properties: members of the description that the model does not have: order of service,
        queue, phase, scales, identity and store. What flash lacks of them is left out for it.
        """
        watts, cache = self.watts, self.cache
        if self.flash is not None:
            parts = self._flash_parts(self.flash)
            for name in NOT_OF_FLASH:
                properties.pop(name, None)
        else:
            parts = self._moving_parts()
        return DescriptionRequest(
            **{
                "name": self.name[:MAX_NAME],
                "sectors": self.capacity,
                "cache_segments": cache.segments,
                "segment_sectors": cache.segment_sectors,
                "ahead_sectors": cache.ahead_sectors,
                "write_cache_sectors": cache.write_sectors,
                "hit_ns": cache.hit_ns,
                "sector_ps": cache.sector_ps,
                "condition_powers": [
                    ConditionPowerRequest(condition, *rails)
                    for condition, rails in zip(get_args(Condition), watts.base, strict=True)
                ],
                "read_uw": watts.read,
                "write_uw": watts.write,
                "starting_ns": watts.starting_ns,
                "stopping_ns": watts.stopping_ns,
                **parts,
                **properties,
            }
        )

    def _moving_parts(self) -> dict[str, Any]:
        return {
            "layout": self.layout,
            "heads": self.heads,
            "band_cylinders": self.band_cylinders,
            "surfaces": self.surfaces,
            "stacks": self.stacks,
            "zones": [
                (
                    zone.first_cylinder,
                    zone.cylinders,
                    zone.spt,
                    0,
                    zone.track_skew,
                    zone.cylinder_skew,
                )
                for zone in self.zones
            ],
            "seek_points": list(self.points()),
            "max_fall_ppm": self.max_fall_ppm,
            "period_ps": self.period_ps,
            "head_switch_ns": self.head_switch_ns,
            "settle_ns": self.settle_ns,
            "overhead_ns": self.overhead_ns,
            # The core refuses more arms and heads than there is room for angles.
            "arms": len(self.arm_angles),
            "arm_angles": list(self.arm_angles[:MOST_ARMS]),
            "channels": self.channels,
            "moving": self.moving,
            "zero_latency": self.zero_latency,
            "heads_per_surface": len(self.head_angles),
            "head_angles": list(self.head_angles[:MOST_HEADS_PER_SURFACE]),
            "split": self.split,
            "hold_uw": self.watts.hold,
            "seek_uw": self.watts.seek,
            "rotate_uw": self.watts.rotate,
        }

    def _flash_parts(self, flash: Flash) -> dict[str, Any]:
        return {
            "flash_channels": flash.channels,
            "page_sectors": flash.page_sectors,
            "block_pages": flash.block_pages,
            "blocks": flash.blocks,
            "low_blocks": flash.low_blocks,
            "page_read_ns": flash.read_ns,
            "page_program_ns": flash.program_ns,
            "block_erase_ns": flash.erase_ns,
            "channel_sector_ps": flash.sector_ps,
            "erase_uw": self.watts.erase,
        }

    @property
    def rpm(self) -> float:
        """Revolutions per minute; 0: no spindle."""
        return 60 * 10**12 / self.period_ps if self.period_ps else 0.0

    @property
    def cylinders(self) -> int:
        """Number of cylinders, unused ones included."""
        if not self.zones:
            return 0
        return self.zones[-1].first_cylinder + self.zones[-1].cylinders

    @property
    def capacity(self) -> int:
        """Sectors."""
        held = self.heads * sum(zone.cylinders * zone.spt for zone in self.zones)
        return self.sectors or self.stacks * held

    def seek_ns(self, distance: int) -> int:
        """Seek time over @distance cylinders, within some ns of the core's."""
        return curve_ns(self.seek, distance, self.cylinders)

    def points(self) -> Points:
        """The seek curve as a table, for the core."""
        if not isinstance(self.seek, Lee):
            return self.seek
        cylinders = self.cylinders
        return tuple((distance, self.seek_ns(distance)) for distance in table_distances(cylinders))

    def mean_seek_ns(self) -> float:
        """Mean over uniformly random pairs of cylinders."""
        if isinstance(self.seek, Lee):
            return float(self.seek.avg_ns)
        cylinders, steps = self.cylinders, 4096
        total = 0.0
        for step in range(steps):
            # Share of pairs that are at most a distance x apart: 1 - (1 - x/C)^2.
            share = (step + 0.5) / steps
            total += self.seek_ns(round(cylinders * (1 - math.sqrt(1 - share))))
        return total / steps

    def media_rate(self, zone: Zone) -> float:
        """Bytes per second under a head."""
        return zone.spt * self.surfaces * SECTOR * 10**12 / self.period_ps

    def sustained_rate(self, zone: Zone) -> float:
        """Bytes per second of a sequential read over many tracks of @zone.

        At each change of track the drive waits for the skew, or a turn longer if head switch or
        seek take longer than that.
        """
        turn_ns = self.period_ps / 1000
        heads = self.heads // self.surfaces

        def wait(skew: int, move_ns: int) -> float:
            angle_ns = skew / TURN * turn_ns
            turns = max(0, math.ceil((move_ns - angle_ns) / turn_ns))
            return angle_ns + turns * turn_ns

        if self.layout == "banded":
            between = wait(zone.cylinder_skew, self.seek_ns(1))
        else:
            other_head = self.layout == "cylinder" and heads > 1
            step_ns = max(self.seek_ns(1), self.head_switch_ns if other_head else 0)
            between = (
                wait(zone.track_skew, self.head_switch_ns) * (heads - 1)
                + wait(zone.cylinder_skew, step_ns)
            ) / heads
        return zone.spt * self.surfaces * SECTOR * 1e9 / (turn_ns + between)


def curve_ns(curve: Points | Lee, distance: int, cylinders: int) -> int:
    """A seek curve at a distance: straight lines between points, the last one continued."""
    if distance <= 0:
        return 0
    if isinstance(curve, Lee):
        low, mean, high = curve.min_ns, curve.avg_ns, curve.max_ns
        root = (-10 * low + 15 * mean - 5 * high) / (3 * math.sqrt(cylinders))
        line = (7 * low - 15 * mean + 8 * high) / (3 * cylinders)
        return round(root * math.sqrt(distance - 1) + line * (distance - 1) + low)
    if len(curve) == 1 or distance <= curve[0][0]:
        return curve[0][1]
    place = bisect_right(curve, distance, key=lambda point: point[0])
    place = min(max(place, 1), len(curve) - 1)
    (x0, y0), (x1, y1) = curve[place - 1], curve[place]
    return round(y0 + (y1 - y0) * (distance - x0) / (x1 - x0))


def deepest_fall(curve: Points | Lee) -> tuple[float, int]:
    """The deepest fall from a point to the next, as a share, and the distance where it ends."""
    if isinstance(curve, Lee):
        return 0.0, 0
    falls = [((y0 - y1) / y0, x1) for (_, y0), (x1, y1) in pairwise(curve)]
    return max([(0.0, 0), *falls])


def table_distances(cylinders: int) -> list[int]:
    """Distances of the points of a formula: all up to 64 cylinders, then in steps of 2 %."""
    distances = list(range(1, min(64, cylinders) + 1))
    while distances[-1] < cylinders:
        distances.append(min(cylinders, distances[-1] * 51 // 50 + 1))
    return distances


def hpl_points(parameters: Sequence[float], cylinders: int) -> Points:
    """The six-parameter curve as a table."""
    border, base, root, far, line, single = parameters
    points = []
    for x in table_distances(cylinders):
        ms = base + root * math.sqrt(x) if x < border else far + line * x
        points.append((x, max(1, round((single if x == 1 else ms) * 1e6))))
    return tuple(points)
