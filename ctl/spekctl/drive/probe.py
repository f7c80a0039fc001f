# SPDX-License-Identifier: GPL-2.0-or-later
"""Measure a disk: what its reads of single sectors tell of rotation, zones, heads, seeks and cache.

Everything follows from one kind of measurement. A sector passes the head once per turn, so the
time at which its read ends, modulo the period, is its angle. From angles follow:

period	the same sector, read again and again: ends are whole turns apart
track	angles rise by 1/n of a turn per sector of a track of n sectors, and jump by the skew at
        its end; a binary search for the jump finds the end exactly
zone	tracks have the same length; a binary search between two lengths finds the border
seek	read A, then a sector B that passes the head a chosen time later: if the arm takes longer
        than that, B is read a turn later; a binary search for that time finds the positioning time
heads	between tracks of a cylinder only the head changes, which takes less than a seek

Reads only. The disk should be idle otherwise, and its read cache off: a hit says nothing of the
platters. The cache is measured first.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median
from typing import Protocol

from spekctl.errors import SpekError

NS_PER_MS = 1e6
# Of a turn: how far an angle may be from where it should be. Skews are larger.
TOLERANCE = 0.025
FIRST_READS = 24
PERIOD_READS = 400
ZONE_TOLERANCE = 0.012
MOST_ZONES = 256
MOST_HEADS = 64
MOST_SPT = 65536
# A read that ends in less than this part of the shortest turn was served by a cache.
SHORTEST_TURN_NS = 3e6
LONGEST_TURN_NS = 20e6
MOST_SEGMENTS = 64
AHEAD_NS = 200_000_000
# Halvings of a sector.
FINER = 5
MOST_AHEAD = 1 << 14


class Disk(Protocol):
    """A disk to be measured."""

    sectors: int

    def read(self, lba: int, sectors: int = 1) -> tuple[int, int]:
        """Read sectors; return start and end, ns of one clock."""

    def wait_until(self, ns: int) -> None:
        """Wait until this time of that clock, ns."""


class UnknownDisk(SpekError):
    """The measurements contradict each other."""


@dataclass(frozen=True, slots=True)
class FoundZone:
    """A zone; skews in sectors."""

    first_lba: int
    cylinders: int
    spt: int
    track_skew: int
    cylinder_skew: int


@dataclass(frozen=True, slots=True)
class FoundCache:
    """Parameters of the read cache; 0: not observed."""

    hit_ns: int = 0
    segments: int = 0
    ahead_sectors: int = 0


@dataclass(frozen=True, slots=True)
class FoundDisk:
    """Measured parameters of a disk; times in ns."""

    sectors: int
    period_ns: float
    overhead_ns: float
    head_switch_ns: float
    heads: int
    zones: tuple[FoundZone, ...]
    seek: tuple[tuple[int, float], ...]
    reads: int

    @property
    def cylinders(self) -> int:
        """Cylinders of all zones."""
        return sum(zone.cylinders for zone in self.zones)


@dataclass
class Probe:
    """The measurements of a disk. @repeats: votes for each answer, odd; more where ends jitter."""

    disk: Disk
    repeats: int = 1
    tell: Callable[[str], None] = lambda what: None
    period_ns: float = 0.0
    reads: int = field(default=0, init=False)

    # ---- cache ----

    def cache(self, seed: int = 1) -> FoundCache:
        """Measure the read cache."""
        self.tell("cache")
        generator = random.Random(seed)
        hit_ns = self._again(generator)
        if hit_ns is None:
            return FoundCache()
        return FoundCache(hit_ns, self._segments(generator, hit_ns), self._ahead(generator, hit_ns))

    def _took(self, lba: int) -> int:
        begin, end = self._read(lba)
        return end - begin

    def _somewhere(self, generator: random.Random) -> int:
        return generator.randrange(0, self.disk.sectors - MOST_AHEAD)

    def _again(self, generator: random.Random) -> int | None:
        """Time of a hit; None if reading a sector again takes a turn."""
        times = []
        for _ in range(7):
            lba = self._somewhere(generator)
            self._read(lba)
            times.append(self._took(lba))
        ns = round(median(times))
        return ns if ns < SHORTEST_TURN_NS / 2 else None

    def _is_hit(self, lba: int, hit_ns: int) -> bool:
        return self._took(lba) < 2 * hit_ns + SHORTEST_TURN_NS / 8

    def _segments(self, generator: random.Random, hit_ns: int) -> int:
        """Number of places whose reads the cache holds at the same time."""

        def kept(count: int) -> bool:
            votes = 0
            for _ in range(3):
                places = [self._somewhere(generator) for _ in range(count)]
                for lba in places:
                    self._read(lba)
                votes += self._is_hit(places[0], hit_ns)
            return votes >= 2

        return _last(kept, 1, MOST_SEGMENTS)

    def _ahead(self, generator: random.Random, hit_ns: int) -> int:
        """Number of sectors that the disk reads ahead when it has the time."""

        def there(count: int) -> bool:
            votes = 0
            for _ in range(3):
                lba = self._somewhere(generator)
                _, end = self._read(lba)
                self.disk.wait_until(end + AHEAD_NS)
                votes += self._is_hit(lba + count, hit_ns)
            return votes >= 2

        return _last(there, 0, MOST_AHEAD - 1)

    # ---- rotation ----

    def find_period(self) -> float:
        """Time of a turn in ns, from ends of reads of one sector."""
        self.tell("rotation")
        ends = [self._end(0) for _ in range(FIRST_READS)]
        steps = [after - before for before, after in pairwise(ends)]
        period = median(steps)
        if period < SHORTEST_TURN_NS:
            raise UnknownDisk(
                f"reading one sector again takes {period / 1e6:.3f} ms, less than a turn: switch"
                " the read cache off (sdparm --set RCD=1 DEV)"
            )
        turns = round(period / LONGEST_TURN_NS) or 1
        period /= turns
        for _ in range(2):
            ends = [self._end(0) for _ in range(PERIOD_READS)]
            numbers = [0]
            for before, after in pairwise(ends):
                numbers.append(numbers[-1] + max(1, round((after - before) / period)))
            period = _slope(numbers, ends)
        self.period_ns = period
        return period

    # ---- angles ----

    def _read(self, lba: int, sectors: int = 1) -> tuple[int, int]:
        self.reads += 1
        return self.disk.read(lba, sectors)

    def _end(self, lba: int) -> int:
        return self._read(lba)[1]

    def angle(self, lba: int) -> float:
        """Angle at which a sector ends, in turns."""
        angles = [self._end(lba) / self.period_ns % 1 for _ in range(self.repeats)]
        # Ends are late, never early: around the first one the least is right.
        return (angles[0] + min(_wrap(angle - angles[0]) for angle in angles)) % 1

    def track_end(self, base: int, spt: float) -> int:
        """First LBA of the track after the one of @base, whose tracks have about @spt sectors."""
        start = self.angle(base)

        def same(count: int) -> bool:
            moved = self.angle(base + count) - start
            return abs(_wrap(moved - count / spt)) < TOLERANCE

        most = min(math.ceil(spt * 1.01) + 1, self.disk.sectors - 1 - base)
        return base + _last(same, 0, most) + 1

    def rough_spt(self, base: int) -> float:
        """Sectors per track from angles of sectors that are close to each other."""
        step = 16
        angles = [self.angle(base + number * step) for number in range(6)]
        steps = [(after - before) % 1 for before, after in pairwise(angles)]
        slope = median(steps) / step
        if not slope:
            raise UnknownDisk("consecutive sectors have the same angle")
        # A longer way to be more precise, as long as it stays on the track.
        start, count = angles[0], step * 5
        while count * 2 * slope < 0.5:
            count *= 2
            moved = (self.angle(base + count) - start) % 1
            if abs(_wrap(moved - count * slope)) > TOLERANCE:
                break
            slope = moved / count
        return 1 / slope

    # ---- zones ----

    def zone_at(self, first: int, heads: int) -> FoundZone:
        """The zone that begins at @first."""
        spt = self.track_end(first, self.rough_spt(first)) - first
        cylinder = heads * spt
        track_skew = self._skew(first + spt, spt) if heads > 1 else 0
        most = (self.disk.sectors - 2 - spt - first) // cylinder
        if most < 1:
            return FoundZone(first, most + 1, spt, track_skew, track_skew)
        cylinder_skew = self._skew(first + cylinder, spt)
        # Angle from one cylinder to the next; a longer way makes it more precise.
        drift = self.angle(first + cylinder) - self.angle(first)
        checked = 0

        def holds(count: int) -> bool:
            nonlocal drift, checked
            deviation = self._deviation(first, count * cylinder, count * drift, spt)
            if deviation is None:
                return False
            if count > checked:
                drift += deviation / count
                checked = count
            return True

        high = 2
        while high < most and holds(high):
            high *= 2
        last = _last(holds, high // 2, min(high, most))
        if last == most:
            # Less than a cylinder is left, which belongs to the zone as well.
            last = (self.disk.sectors - first - 1) // cylinder
        return FoundZone(first, last + 1, spt, track_skew, cylinder_skew)

    def _deviation(self, first: int, offset: int, drift: float, spt: int) -> float | None:
        """How far the track at @first + @offset is from its angle; None if it is another zone's.

        A track of another zone is elsewhere, or its sectors have other distances.
        """
        start = self.angle(first)
        beginning = _wrap(self.angle(first + offset) - start - drift)
        for sector, turns in ((0, beginning), (spt // 3, 0.0), (spt // 2, 0.0), (spt - 1, 0.0)):
            if sector:
                moved = self.angle(first + offset + sector) - start - drift
                turns = _wrap(moved - sector / spt)
            if abs(turns) > ZONE_TOLERANCE:
                return None
        return beginning

    def _skew(self, track: int, spt: int) -> int:
        """Sectors by which a track begins later than it would without a skew."""
        moved = self.angle(track) - self.angle(track - 1) - 1 / spt
        return round(moved % 1 * spt) % spt

    def zones(self, heads: int) -> tuple[FoundZone, ...]:
        """All zones from the first one."""
        self.tell("zones")
        zones: list[FoundZone] = []
        first = 0
        while first < self.disk.sectors - MOST_AHEAD // 4:
            zones.append(self.zone_at(first, heads))
            first += zones[-1].cylinders * heads * zones[-1].spt
            if len(zones) > MOST_ZONES:
                raise UnknownDisk(
                    f"there are more than {MOST_ZONES} zones: either reads end at irregular times"
                    " (raise --repeats), or the tracks are arranged in bands, which is not"
                    " understood"
                )
        return tuple(zones)

    # ---- seeks ----

    def reach_ns(self, start: int, track: int, spt: int) -> float:
        """Time from the end of a read of @start until a sector of @track can be read."""
        base = self.angle(track)
        sector_ns = self.period_ns / spt

        def turns(place: int, wait_ns: int = 0) -> tuple[int, float]:
            """Turns that are lost to the sector that passes about @place sectors after @start,
            when it is asked for @wait_ns later; and the time after which it passes."""
            votes, passes = [], 0.0
            for _ in range(self.repeats):
                end = self._end(start)
                at = end / self.period_ns
                sector = round((at + place / spt - base) % 1 * spt) % spt
                passes = _up(base + sector / spt - at) * self.period_ns
                if wait_ns:
                    self.disk.wait_until(end + wait_ns)
                took = self._end(track + sector) - end
                votes.append(round((took - passes) / self.period_ns))
            return round(median(votes)), passes

        first, _ = turns(1)
        # One turn less is enough for a later sector, if the arm is there in time.
        low, high = 1, spt - 1
        lost, passes = turns(high)
        if first and lost == first:
            return first * self.period_ns - sector_ns
        while first and high - low > 1:
            middle = (low + high) // 2
            lost, at = turns(middle)
            if lost < first:
                high, passes = middle, at
            else:
                low = middle
        if not first:
            high, (_, passes) = 1, turns(1)
        # Between two sectors: how much later may that one be asked for?
        wait, step = 0.0, sector_ns / 2
        for _ in range(FINER):
            if turns(high, round(wait + step))[0] < max(1, first):
                wait += step
            step /= 2
        return max(0, first - 1) * self.period_ns + passes - sector_ns - wait

    def measure(self, points: int = 60) -> FoundDisk:
        """Everything but the cache."""
        if not self.period_ns:
            self.find_period()
        self.tell("heads")
        spt = self.track_end(0, self.rough_spt(0))
        overhead = self.reach_ns(0, 0, spt)
        heads, head_switch = self._heads(spt)
        zones = self.zones(heads)
        self.tell("seeks")
        seek = self._seek(zones, heads, points, overhead)
        return FoundDisk(
            sectors=self.disk.sectors,
            period_ns=self.period_ns,
            overhead_ns=overhead,
            head_switch_ns=max(0.0, head_switch - overhead) if heads > 1 else 0.0,
            heads=heads,
            zones=zones,
            seek=seek,
            reads=self.reads,
        )

    def _heads(self, spt: int) -> tuple[int, float]:
        """Number of heads, and time to the next track of the cylinder."""
        step = 2.5 * self.period_ns / spt + 50_000
        first = self.reach_ns(0, spt, spt)
        for track in range(2, MOST_HEADS + 1):
            if self.reach_ns(0, track * spt, spt) > first + step:
                return track, first
        return 1, first

    def _seek(
        self, zones: Sequence[FoundZone], heads: int, points: int, overhead: float
    ) -> tuple[tuple[int, float], ...]:
        """Positioning times over about so many distances, from the outermost cylinder."""
        cylinders = sum(zone.cylinders for zone in zones)
        curve = []
        for distance in _distances(cylinders - 2, points):
            lba, spt = _cylinder(zones, heads, distance)
            if lba + spt > self.disk.sectors:
                continue
            ns = self.reach_ns(0, lba, spt) - overhead
            curve.append((distance, max(1.0, ns)))
        return tuple(curve)


def _cylinder(zones: Sequence[FoundZone], heads: int, cylinder: int) -> tuple[int, int]:
    """First LBA of a cylinder, and sectors of its tracks."""
    for zone in zones:
        if cylinder < zone.cylinders:
            return zone.first_lba + cylinder * heads * zone.spt, zone.spt
        cylinder -= zone.cylinders
    raise ValueError("no such cylinder")


def _distances(most: int, points: int) -> list[int]:
    """From 1 to @most, close to each other where curves are steep."""
    ratio = most ** (1 / max(1, points - 1))
    distances = {min(most, max(1, round(ratio**number))) for number in range(points)}
    return sorted(distances | {1, 2, 3, most})


def _last(holds: Callable[[int], bool], low: int, high: int) -> int:
    """The last number from @low to @high for which it holds; it holds for @low and not for ever."""
    if holds(high):
        return high
    while high - low > 1:
        middle = (low + high) // 2
        if holds(middle):
            low = middle
        else:
            high = middle
    return low


def _wrap(turns: float) -> float:
    """An angle between -1/2 and 1/2."""
    return (turns + 0.5) % 1 - 0.5


def _up(turns: float) -> float:
    """An angle between 0 and 1; what is below 0 by rounding is 0."""
    return 0.0 if -1e-9 < _wrap(turns) < 0 else turns % 1


def _slope(x: Sequence[float], y: Sequence[float]) -> float:
    """Slope of the least-squares line."""
    mean_x, mean_y = sum(x) / len(x), sum(y) / len(y)
    across = sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True))
    return across / sum((a - mean_x) ** 2 for a in x)
