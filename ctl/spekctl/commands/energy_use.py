# SPDX-License-Identifier: GPL-2.0-or-later
"""Options of energy tests with annual figures: source of the levels, price, hours of use."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import click

from spekctl.commands import campaign, on_hosts, options
from spekctl.commands.campaign import CampaignOptions
from spekctl.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from spekctl.campaigns.benchmark import Benchmark
    from spekctl.campaigns.usage import Hours
    from spekctl.documents.benchmark import AnnualReport, Report
    from spekctl.fleet.steps import FleetSteps
    from spekctl.workload.model import WorkloadFile

IDLE_NS = 10 * 60 * 10**9
QUICK_IDLE_NS = 10 * 10**9

F = TypeVar("F", bound=Callable[..., Any])
LoadT = TypeVar("LoadT", bound="Report")


def source_option(help: str) -> Callable[[F], F]:
    """The file to compute from instead of measuring devices."""
    return click.option(
        "--from", "source", type=options.FilePath(path_type=Path), metavar="FILE", help=help
    )


site_option = click.option(
    "--site",
    multiple=True,
    metavar="NAME=VALUE",
    help="For the report: mains voltage, power factor or air intake; repeatable. VALUE is a number"
    " for volts, power_factor, first_celsius or last_celsius; or, for volts, power_factor or"
    " celsius, FILE:COLUMN of a log of spek-daq (--log, or --print=raw), of which the report gives"
    " the first minute and the last one under load.",
)
output_option = options.result("With --from: write the report as JSON to FILE.")


def use_options(
    source_help: str, devices: Callable[[Any], Any] = on_hosts.plain_fleet_options
) -> Callable[[F], F]:
    """Devices or hosts, or the file named by --from; what a year costs; the idle test."""
    return options.together(
        devices,
        source_option(source_help),
        click.option(
            "--price",
            metavar="N",
            help="Price of a kWh, for the annual cost."
            "  [default: that of the --from file, else 0.12]",
        ),
        click.option(
            "--hours",
            multiple=True,
            metavar="NAME=H/M/I",
            help="Hours per day at heavy, moderate and idle load in the usage profile NAME;"
            " repeatable.  [default: those of the --from file, else low=0/8/16 medium=4/14/6"
            " high=18/6/0]",
        ),
        click.option(
            "--idle-watts",
            metavar="W",
            help="With --from: idle power, if it was measured elsewhere.",
        ),
        click.option(
            "--idle-time", "idle_ns", type=options.DURATION, help="Length of the idle test."
        ),
        site_option,
        output_option,
    )


def check_sources(
    source: Path | None,
    devices: tuple[str, ...],
    output: Path | None,
    idle_watts: str | None = None,
) -> Fraction | None:
    """Either measure devices or compute from a file; the idle power that is given."""
    from spekctl.campaigns.inputs import fraction_of

    if source is not None:
        numbers = ("source", "price", "hours", "idle_watts")
        allowed = (*numbers, "taxonomy", "disclosed", "output", "as_json")
        options.refuse_others("--from", allowed, "measured, or computed")
        watts = fraction_of(idle_watts, "--idle-watts") if idle_watts is not None else None
        if watts is not None and watts <= 0:
            raise UsageError(f"--idle-watts must be more than 0, not {idle_watts}")
        return watts
    if not devices:
        raise UsageError("give a device to test (--device), or numbers (--from)")
    for value, name in ((idle_watts, "--idle-watts"), (output, "--output")):
        if value is not None:
            raise UsageError(f"{name} belongs to --from; a test measures, and writes into --folder")
    return None


@dataclass(frozen=True, slots=True)
class Terms:
    """What was given on the use of a system: the price of a kWh, and hours of usage profiles."""

    price: Fraction | None
    days: dict[str, Hours]

    def resolved(self, file_price: Fraction | None = None) -> tuple[Fraction, dict[str, Hours]]:
        """The price that is given, that of the file, or the default; and all usage profiles."""
        from spekctl.campaigns.usage import DEFAULT_PRICE, PROFILES

        prices = (self.price, file_price, DEFAULT_PRICE)
        return next(price for price in prices if price is not None), {**PROFILES, **self.days}


class EnergyTest(Protocol[LoadT]):
    """What an energy test adds to the benchmark of its load."""

    def workload(self) -> WorkloadFile:
        """That of a step."""

    def test_of(
        self,
        asked: CampaignOptions,
        given: dict[str, Any],
        idle_ns: int,
        hosts: FleetSteps | None,
    ) -> Benchmark[Any, Any, LoadT]:
        """The benchmark after an idle test of this length, on this machine or @hosts."""

    def computed(self, source: Path, idle_watts: Fraction | None, terms: Terms) -> AnnualReport:
        """The report that follows from a file."""

    def report_of(
        self, work: Benchmark[Any, Any, LoadT], load: LoadT | None, terms: Terms
    ) -> AnnualReport:
        """The report on a test so far; @load: the report on the test under load."""


def perform(test: EnergyTest[LoadT], given: dict[str, Any]) -> int:
    """Measure devices, or compute from the file of --from, and return the exit code."""
    from spekctl import files
    from spekctl.commands.deliver import deliver
    from spekctl.power.site import parse
    from spekctl.render.document import print_contents

    terms = Terms(price_of(given.pop("price")), hours_of(given.pop("hours")))
    source, output, idle_ns = (given.pop(name) for name in ("source", "output", "idle_ns"))
    words = given.pop("site")
    placed = given["devices"] or ((given["fleet_file"],) if given["fleet_file"] else ())
    watts = check_sources(source, placed, output, given.pop("idle_watts"))
    if source is not None:
        files.check_writable(output)
        files.check_apart(output, [source])
        deliver(test.computed(source, watts, terms), print_contents, given["as_json"], output)
        return int(ExitCode.OK)
    wish = parse(words)

    def measure(hosts: FleetSteps | None) -> int:
        asked, shape = CampaignOptions.split(given)
        work = test.test_of(asked, shape, idle_length_ns(idle_ns, asked.quick), hosts)
        work.site = wish
        return campaign.carry_out(
            *(work, asked, lambda: _deliver_both(test, work, terms, asked.as_json)),
            # Hosts have meters of their own.
            rests=hosts is None,
        )

    return on_hosts.perform(given, test.workload(), measure)


def _deliver_both(
    test: EnergyTest[LoadT],
    work: Benchmark[Any, Any, LoadT],
    terms: Terms,
    as_json: bool,
) -> ExitCode:
    """Deliver the report on the test under load so far, and the energy report on it."""
    from spekctl import files
    from spekctl.campaigns.benchmark import exit_code_of
    from spekctl.campaigns.folder import ENERGY_REPORT, REPORT
    from spekctl.commands.deliver import deliver
    from spekctl.render.document import print_contents

    load = work.report()
    if load is not None:
        files.deliver(files.encode(load), work.folder / REPORT)
    elif work.rest is None or work.rest.power is None:
        return ExitCode.RUN_FAILED
    report = test.report_of(work, load, terms)
    deliver(report, print_contents, as_json, work.folder / ENERGY_REPORT)
    return exit_code_of(report, work.ok)


def price_of(text: str | None) -> Fraction | None:
    """The value of --price."""
    from spekctl.campaigns.inputs import fraction_of

    price = fraction_of(text, "--price") if text is not None else None
    if price is not None and price < 0:
        raise UsageError(f"--price must be 0 or more, not {text}")
    return price


def hours_of(texts: tuple[str, ...]) -> dict[str, Hours]:
    """The hours that were given, by profile."""
    from spekctl.campaigns.inputs import fraction_of
    from spekctl.campaigns.usage import PROFILES, Hours, day_fault

    hours: dict[str, Hours] = {}
    for text in texts:
        name, _, numbers = text.partition("=")
        if name not in PROFILES:
            raise campaign.unknown(f"--hours {text}", "profile", name, PROFILES)
        parts = [fraction_of(part, f"--hours {text}") for part in numbers.split("/")]
        if len(parts) != 3:
            raise UsageError(
                f"--hours {text}: write hours at heavy/moderate/idle load, for example"
                f" {name}=4/14/6"
            )
        hours[name] = Hours(*parts)
        if fault := day_fault(hours[name]):
            raise UsageError(f"--hours {text}: {fault}")
    return hours


def idle_length_ns(given_ns: int | None, quick: bool) -> int:
    """Length of the idle test; UsageError for none."""
    if given_ns == 0:
        raise UsageError("--idle-time must be more than 0")
    return given_ns if given_ns is not None else QUICK_IDLE_NS if quick else IDLE_NS
