# SPDX-License-Identifier: GPL-2.0-or-later
"""Derived figures of a model: capacity, rates, times and watts, for tables and JSON."""

from __future__ import annotations

from dataclasses import dataclass

from spekctl.drive.model import SECTOR, Lee, Model, Watts


@dataclass(frozen=True, slots=True)
class ZoneFacts:
    """A zone; rates in bytes per second."""

    first_cylinder: int
    cylinders: int
    sectors_per_track: int
    first_lba: int
    media_rate: float
    sustained_rate: float


@dataclass(frozen=True, slots=True)
class WattFacts:
    """Power of a drive by activity, W."""

    profile: str
    standby: float
    starting: float
    idle: float
    seeking: float
    waiting: float
    reading: float
    writing: float
    all_arms_moving: float


@dataclass(frozen=True, slots=True)
class Facts:
    """A model in figures."""

    name: str
    title: str
    sources: tuple[str, ...]
    sectors: int
    bytes: int
    heads: int
    cylinders: int
    layout: str
    rpm: float
    turn_ms: float
    dash: str
    arms: int
    arm_angles: tuple[float, ...]
    channels: int
    split: bool
    head_switch_ms: float
    settle_ms: float
    overhead_ms: float
    seek_curve: str
    one_cylinder_seek_ms: float
    mean_seek_ms: float
    full_seek_ms: float
    mean_rotation_ms: float
    random_read_ms: float
    zones: tuple[ZoneFacts, ...]
    watts: tuple[WattFacts, ...]
    remarks: tuple[str, ...]


def facts_of(model: Model) -> Facts:
    """The figures of @model."""
    turn_ms = model.period_ps / 1e9
    lba, zones = 0, []
    for zone in model.zones:
        zones.append(
            ZoneFacts(
                zone.first_cylinder,
                zone.cylinders,
                zone.spt,
                lba,
                model.media_rate(zone),
                model.sustained_rate(zone),
            )
        )
        lba += zone.cylinders * zone.spt * model.heads
    mean_seek_ms = model.mean_seek_ns() / 1e6
    transfer_ms = 8 * turn_ms * sum(zone.cylinders for zone in model.zones)
    transfer_ms /= sum(zone.cylinders * zone.spt for zone in model.zones)
    return Facts(
        name=model.name,
        title=model.title,
        sources=model.sources,
        sectors=model.capacity,
        bytes=model.capacity * SECTOR,
        heads=model.heads,
        cylinders=model.cylinders,
        layout=model.layout,
        rpm=model.rpm,
        turn_ms=turn_ms,
        dash=model.dash,
        arms=len(model.arm_angles),
        arm_angles=tuple(angle / 2**64 for angle in model.arm_angles),
        channels=model.channels,
        split=model.split,
        head_switch_ms=model.head_switch_ns / 1e6,
        settle_ms=model.settle_ns / 1e6,
        overhead_ms=model.overhead_ns / 1e6,
        seek_curve=_curve(model),
        one_cylinder_seek_ms=model.seek_ns(1) / 1e6,
        mean_seek_ms=mean_seek_ms,
        full_seek_ms=model.seek_ns(model.cylinders - 1) / 1e6,
        mean_rotation_ms=turn_ms / 2,
        random_read_ms=model.overhead_ns / 1e6 + mean_seek_ms + turn_ms / 2 + transfer_ms,
        zones=tuple(zones),
        watts=tuple(
            _watts(name, watts, len(model.arm_angles)) for name, watts in model.profiles.items()
        ),
        remarks=model.remarks,
    )


def _curve(model: Model) -> str:
    if isinstance(model.seek, Lee):
        return "three parameters"
    return "constant" if len(model.seek) == 1 else f"table of {len(model.seek)} points"


def _watts(name: str, watts: Watts, arms: int) -> WattFacts:
    idle = watts.active_uw(arms) / 1e6
    return WattFacts(
        profile=name,
        standby=sum(watts.base[1]) / 1e6,
        starting=sum(watts.base[3]) / 1e6,
        idle=idle,
        seeking=idle + watts.seek / 1e6,
        waiting=idle + watts.rotate / 1e6,
        reading=idle + watts.read / 1e6,
        writing=idle + watts.write / 1e6,
        all_arms_moving=idle + arms * watts.seek / 1e6,
    )
