# SPDX-License-Identifier: GPL-2.0-or-later
"""Descriptions of drives: TOML with milliseconds and watts to the integers of the core.

    model = load("barracuda-es").with_arms(4).at_rpm(5200)

Nothing is computed in floating point but the law of the spindle's power: decimal fractions of the
file become whole nanoseconds and microwatts.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal

from spekctl.errors import SpekError

Layout = Literal["cylinder", "serpentine", "banded"]
LAYOUTS: tuple[Layout, ...] = ("cylinder", "serpentine", "banded")
# In the order of enum spek_drive_condition.
CONDITIONS = ("active", "standby", "stopped", "starting", "to_standby", "to_stopped")
TURN = 2**64
MODELS = Path(__file__).with_name("models")


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


@dataclass(frozen=True, slots=True)
class Watts:
    """Power of the parts in microwatts."""

    base: tuple[tuple[int, int], ...] = ((0, 0),) * len(CONDITIONS)  # by condition: 5 V, 12 V
    hold: int = 0
    seek: int = 0
    rotate: int = 0
    read: int = 0
    write: int = 0
    starting_ns: int = 0
    stopping_ns: int = 0


@dataclass(frozen=True, slots=True)
class Model:
    """A drive as the core takes it."""

    title: str
    heads: int
    zones: tuple[Zone, ...]
    seek: tuple[tuple[int, int], ...] | Lee  # points: cylinders, ns
    period_ps: int
    layout: Layout = "cylinder"
    band_cylinders: int = 0
    sectors: int = 0
    head_switch_ns: int = 0
    settle_ns: int = 0
    overhead_ns: int = 0
    watts: Watts = field(default_factory=Watts)
    arm_angles: tuple[int, ...] = (0,)
    channels: int = 1
    split: bool = False

    def with_arms(self, arms: int) -> Model:
        """The same drive with arms at equal angles around the platters."""
        return replace(self, arm_angles=tuple(TURN * arm // arms for arm in range(arms)))

    def at_rpm(self, rpm: int) -> Model:
        """The same drive at another speed; only the spindle's power changes with it."""
        period_ps = 60 * 10**12 // rpm
        five, twelve = self.watts.base[0]
        spindle = round(twelve * (self.period_ps / period_ps) ** 2.8)
        base = ((five, spindle), *self.watts.base[1:])
        return replace(self, period_ps=period_ps, watts=replace(self.watts, base=base))


def names() -> list[str]:
    """Names of the drives that come with spekctl."""
    return sorted(path.stem for path in MODELS.glob("*.toml"))


def load(name: str) -> Model:
    """A drive that comes with spekctl."""
    if name not in names():
        raise SpekError(f"There is no drive {name!r}; choose from {', '.join(names())}.")
    return read((MODELS / f"{name}.toml").read_text())


def read(text: str) -> Model:
    """The drive that a TOML text describes."""
    given = tomllib.loads(text, parse_float=Decimal)
    try:
        return _model(given)
    except (ArithmeticError, KeyError, TypeError, ValueError) as error:
        raise SpekError(f"The description of the drive is wrong: {error!r}.") from error


def _model(given: Mapping[str, Any]) -> Model:
    layout = given["layout"]
    if layout not in LAYOUTS:
        raise ValueError(f"layout {layout!r} is none of {', '.join(LAYOUTS)}")
    unknown = set(given) - FIELDS
    if unknown:
        raise ValueError(f"unknown fields {', '.join(sorted(unknown))}")
    period_ps = given["period_ps"] if "period_ps" in given else 60 * 10**12 // given["rpm"]
    return Model(
        title=given["title"],
        heads=given["heads"],
        zones=tuple(_zone(given, one, period_ps) for one in given["zones"]),
        seek=_seek(given),
        period_ps=period_ps,
        layout=layout,
        band_cylinders=given.get("band_cylinders", 0),
        sectors=given.get("sectors", 0),
        head_switch_ns=_ns(given.get("head_switch_ms", 0)),
        settle_ns=_ns(given.get("settle_ms", 0)),
        overhead_ns=_ns(given.get("overhead_ms", 0)),
        watts=_watts(given["watts"]) if "watts" in given else Watts(),
    )


FIELDS = {
    *("title", "heads", "layout", "band_cylinders", "sectors", "rpm", "period_ps", "zones"),
    *("skew_ms", "head_switch_ms", "settle_ms", "overhead_ms", "seek_points", "seek_ms", "watts"),
}


def _whole(value: Decimal | int, unit: int) -> int:
    scaled = Decimal(value) * unit
    if scaled != int(scaled) or scaled < 0:
        raise ValueError(f"{value} is not a number of steps of 1/{unit}, or below 0")
    return int(scaled)


def _ns(ms: Decimal | int) -> int:
    return _whole(ms, 10**6)


def _uw(watts: Decimal | int) -> int:
    return _whole(watts, 10**6)


def _zone(given: Mapping[str, Any], row: list[int], period_ps: int) -> Zone:
    first, cylinders, spt, *skews = row
    if "skew_ms" in given:
        turn = TURN * _ns(given["skew_ms"]) * 1000 // period_ps % TURN
        return Zone(first, cylinders, spt, turn, turn)
    track, cylinder = (TURN * skew // spt % TURN for skew in skews)
    return Zone(first, cylinders, spt, track, cylinder)


def _seek(given: Mapping[str, Any]) -> tuple[tuple[int, int], ...] | Lee:
    if "seek_points" in given:
        return tuple((distance, _ns(ms)) for distance, ms in given["seek_points"])
    return Lee(*map(_ns, given["seek_ms"]))


def _watts(given: Mapping[str, Any]) -> Watts:
    def rails(condition: str) -> tuple[int, int]:
        five, twelve = given[condition]
        return _uw(five), _uw(twelve)

    return Watts(
        base=tuple(rails(condition) for condition in CONDITIONS),
        hold=_uw(given["hold"]),
        seek=_uw(given["seek"]),
        rotate=_uw(given["rotate"]),
        read=_uw(given["read"]),
        write=_uw(given["write"]),
        starting_ns=_whole(given["starting_s"], 10**9),
        stopping_ns=_whole(given["stopping_s"], 10**9),
    )
