# SPDX-License-Identifier: GPL-2.0-or-later
"""What the reports of all benchmarks have: their common fields, and what readers may rely on.

A report declares its fields in an order of its own, which is that of its file; the types here give
a field the same meaning in each. Commands, pages and campaigns that serve any benchmark take its
report by the protocols below, so that a new one needs no entry with them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Protocol

from msgspec import Meta, field

from spekctl.documents.device import TargetFacts
from spekctl.documents.document import Part
from spekctl.documents.exact import Figure, Given
from spekctl.documents.result_parts import Environment

# --- fields of a report --------------------------------------------------------------------------

Notice = Annotated[str, Meta(description="Says that these results are unaudited.")]
Verdict = Annotated[str, Meta(description="The outcome as a sentence.")]
Remarks = Annotated[list[str], Meta(description="Remarks for the reader.")]
PlanOptions = Annotated[
    str | None, Meta(description="Of several hosts: the options that their plan sets for each run.")
]
ResultFile = Annotated[str | None, Meta(description="Beside this file; null: not kept.")]

# Those of a report on the energy of a year, and of its usage profiles.
LevelsMeasured = Annotated[bool, Meta(description="All levels were measured, and their power.")]
LoadPassed = Annotated[bool, Meta(description="The test under load met all its limits.")]
Price = Annotated[Given, Meta(description="Price of a kWh, in any currency.")]
Hours = Annotated[
    list[str],
    Meta(description="Hours of a day at heavy, moderate and idle load; empty: composite."),
]


class SiteReading(Part, frozen=True):
    """A quantity in a span of time."""

    readings: int
    mean: Annotated[Given | None, Meta(description="null: there is no reading.")]
    total: Annotated[Given, Meta(description="Sum of all readings.")]


class SiteMinute(Part, frozen=True):
    """Logged readings of one minute, or of the whole of a shorter test."""

    start_ns: int
    end_ns: int
    readings: Annotated[
        dict[str, SiteReading], Meta(description="volts, power_factor, celsius; if logged.")
    ]


class Site(Part, frozen=True):
    """Site of the measurement, as far as it was recorded."""

    volts: Annotated[
        Given | None, Meta(description="Mean RMS voltage; from a log: over both minutes.")
    ] = None
    power_factor: Annotated[
        Given | None, Meta(description="Mean power factor; from a log: over both minutes.")
    ] = None
    first_celsius: Annotated[
        Given | None, Meta(description="Air intake in the first minute of the test.")
    ] = None
    last_celsius: Annotated[
        Given | None, Meta(description="Air intake in the last minute under load.")
    ] = None
    sources: Annotated[
        dict[str, str], Meta(description="Sources by name: given, or the FILE:COLUMN of a log.")
    ] = field(default_factory=dict)
    first_minute: Annotated[SiteMinute | None, Meta(description="null: nothing is logged.")] = None
    last_minute: Annotated[SiteMinute | None, Meta(description="null: nothing is logged.")] = None


# --- what readers rely on ------------------------------------------------------------------------


class Report(Protocol):
    """A report on a benchmark."""

    @property
    def notice(self) -> str: ...
    @property
    def passed(self) -> bool:
        """It is complete, and no limit was missed."""

    @property
    def verdict(self) -> str: ...
    @property
    def targets(self) -> list[TargetFacts]: ...
    @property
    def environment(self) -> Environment | None: ...
    @property
    def remarks(self) -> list[str]: ...


class EnergyReport(Report, Protocol):
    """A report with power, of devices or computed from a file."""

    @property
    def complete(self) -> bool: ...
    @property
    def source(self) -> str: ...


class Level(Protocol):
    """A level of load."""

    @property
    def name(self) -> str: ...


class Profile(Protocol):
    """A usage profile, or the mean of all of them."""

    @property
    def name(self) -> str: ...
    @property
    def hours(self) -> list[str]: ...
    @property
    def watts(self) -> Figure | None: ...


class AnnualReport(EnergyReport, Protocol):
    """A report on the energy of a year."""

    @property
    def levels(self) -> Sequence[Level]: ...
    @property
    def profiles(self) -> Sequence[Profile]: ...
    @property
    def composite(self) -> Profile | None: ...
    @property
    def annual_kwh(self) -> Figure | None: ...
    @property
    def annual_cost(self) -> Figure | None: ...
    @property
    def price(self) -> str: ...
