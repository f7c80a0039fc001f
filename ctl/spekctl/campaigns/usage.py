# SPDX-License-Identifier: GPL-2.0-or-later
"""Energy of a system in use: a day's mean power and traffic from three measured levels.

A level is a mean power and a rate. SPC-1/E-like: I/Os per second, heavy at 80 % of the highest
load, moderate at 50 %, idle without any I/O. A usage profile gives the hours of a day that a system
spends at each level. With H, M and I hours

    nominal power    P = (H * P_heavy + M * P_moderate + I * P_idle) / 24        W
    nominal traffic  T = (H * T_heavy + M * T_moderate) / 24                     unit of the rate
    heat             P * 3.4121                                                  BTU/h

The composite is the mean of the profiles' P and of their T. Energy of a year: composite P times
8760 h. All of it is exact; figures are rounded half up to two decimals only when printed, and no
figure is computed from a rounded one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

HOURS_PER_DAY = 24
HOURS_PER_YEAR = 24 * 365
BTU_PER_HOUR_PER_WATT = Fraction("3.4121")
DEFAULT_PRICE = Fraction("0.12")
DECIMALS = 2

HEAVY_PERCENT = 80
MODERATE_PERCENT = 50


@dataclass(frozen=True, slots=True)
class Level:
    """Measurements at one load."""

    watts: Fraction
    rate: Fraction = Fraction(0)


@dataclass(frozen=True, slots=True)
class Levels:
    """The three measured loads."""

    heavy: Level
    moderate: Level
    idle: Level


@dataclass(frozen=True, slots=True)
class Hours:
    """Hours of a day at each level."""

    heavy: Fraction
    moderate: Fraction
    idle: Fraction

    @property
    def all(self) -> tuple[Fraction, Fraction, Fraction]:
        """In the order of H/M/I."""
        return self.heavy, self.moderate, self.idle


def hours(heavy: int, moderate: int, idle: int) -> Hours:
    """Whole hours."""
    return Hours(Fraction(heavy), Fraction(moderate), Fraction(idle))


PROFILES: dict[str, Hours] = {
    "low": hours(0, 8, 16),
    "medium": hours(4, 14, 6),
    "high": hours(18, 6, 0),
}


@dataclass(frozen=True, slots=True)
class Nominal:
    """Power and traffic of a day."""

    watts: Fraction
    rate: Fraction

    @property
    def rate_per_watt(self) -> Fraction:
        """Traffic for each watt: I/Os or MB per joule."""
        return self.rate / self.watts

    @property
    def btu_per_hour(self) -> Fraction:
        """The power as heat."""
        return self.watts * BTU_PER_HOUR_PER_WATT


@dataclass(frozen=True, slots=True)
class Metrics:
    """All figures computed from the levels."""

    profiles: Mapping[str, Nominal]
    composite: Nominal
    annual_kwh: Fraction
    annual_cost: Fraction


def nominal(levels: Levels, profile: Hours) -> Nominal:
    """The figures of such a day."""
    heavy, moderate, idle = levels.heavy, levels.moderate, levels.idle
    watts = (
        profile.heavy * heavy.watts + profile.moderate * moderate.watts + profile.idle * idle.watts
    )
    return Nominal(watts / HOURS_PER_DAY, traffic(profile, heavy.rate, moderate.rate))


def traffic(profile: Hours, heavy: Fraction, moderate: Fraction) -> Fraction:
    """Mean rate of a day; it can be known where power is not."""
    return (profile.heavy * heavy + profile.moderate * moderate) / HOURS_PER_DAY


def composite(days: Sequence[Nominal]) -> Nominal:
    """The mean day."""
    return Nominal(
        sum((day.watts for day in days), Fraction(0)) / len(days),
        sum((day.rate for day in days), Fraction(0)) / len(days),
    )


def metrics(
    levels: Levels,
    price: Fraction = DEFAULT_PRICE,
    profiles: Mapping[str, Hours] = PROFILES,
) -> Metrics:
    """The whole table; @levels and @profiles are as fault() wants them."""
    days = {name: nominal(levels, profile) for name, profile in profiles.items()}
    mean = composite(list(days.values()))
    annual_kwh = mean.watts * HOURS_PER_YEAR / 1000
    return Metrics(days, mean, annual_kwh, annual_kwh * price)


def exceeds(watts: Fraction, bound: Fraction) -> bool:
    """Whether @watts is more than @bound as they are printed."""
    return watts > bound and _text(watts) != _text(bound)


def _text(value: Fraction) -> str:
    return f"{float(value):g}"


def day_fault(profile: Hours) -> str:
    """Why these are not the hours of a day, as a sentence; empty if they are."""
    if min(profile.all) < 0:
        return "hours cannot be negative"
    if sum(profile.all) != HOURS_PER_DAY:
        return f"a day has {HOURS_PER_DAY} h, not {sum(profile.all)}"
    if not profile.heavy and not profile.moderate:
        return "a day without load has no figures"
    return ""


def fault(levels: Levels) -> str:
    """Why these levels cannot be used, as a sentence; empty if they can."""
    named = {"heavy": levels.heavy, "moderate": levels.moderate, "idle": levels.idle}
    for name, level in named.items():
        if level.watts <= 0:
            return (
                f"the power of the {name} level is {_text(level.watts)} W; it must be more than 0"
            )
        if name != "idle" and level.rate <= 0:
            return f"the {name} level has {_text(level.rate)} I/Os per second, not more than 0"
    if levels.idle.rate:
        return "the idle level has I/Os, which an idle system does not"
    if levels.heavy.rate < levels.moderate.rate:
        return (
            f"the heavy level has fewer I/Os per second ({_text(levels.heavy.rate)}) than the"
            f" moderate one ({_text(levels.moderate.rate)}); were they exchanged?"
        )
    return disorder(levels)


def disorder(levels: Levels) -> str:
    """A sentence if power is higher when idle than under load; a difference too small to print is
    not one."""
    for name, level in (("moderate", levels.moderate), ("heavy", levels.heavy)):
        if exceeds(levels.idle.watts, level.watts):
            return (
                f"idle power, {_text(levels.idle.watts)} W, is above that of the {name} level,"
                f" {_text(level.watts)} W"
            )
    return ""
