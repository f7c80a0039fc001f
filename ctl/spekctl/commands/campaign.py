# SPDX-License-Identifier: GPL-2.0-or-later
"""Shared by the commands of all campaigns: their options, and the execution of a campaign."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from spekctl.commands import options
from spekctl.errors import ExitCode, SpekError, UsageError

if TYPE_CHECKING:
    from spekctl.block.device import Device
    from spekctl.campaigns.benchmark import Benchmark
    from spekctl.campaigns.campaign import Campaign, Then
    from spekctl.fleet.steps import FleetSteps


F = TypeVar("F", bound=Callable[..., Any])
NameT = TypeVar("NameT", bound=str)


def out(name: str) -> Callable[[F], F]:
    """--folder of a campaign that keeps its results in NAME-DEVICES by default."""
    return options.folder(
        "Keep the report, the result of each step and the state of the test in DIR."
        f"  [default: {name}-NAMES of the devices]",
    )


resume = click.option("--resume", is_flag=True, help="Continue the test in --folder.")


def quick(instead_of: str = "hours") -> Callable[[F], F]:
    """--quick of a test that otherwise takes @instead_of."""
    return click.option(
        "--quick", is_flag=True, help=f"Minutes instead of {instead_of}, for a first look."
    )


data = options.option("data", default="random")
ramp = click.option(
    "--ramp", "ramp_ns", type=options.DURATION, help="Ramp-up before each measurement."
)
search_time = click.option(
    "--search-time", "search_ns", type=options.DURATION, help="Length of each point of the search."
)
as_json = options.as_json("Report")


def resolution(unit: str, default: str = "") -> Callable[[F], F]:
    """Precision of a search whose finest step is @unit; @default where the help has no table."""
    shown = f"  [default: {default}]" if default else ""
    return click.option(
        "--resolution",
        "resolution_percent",
        type=options.PercentRange(0, 50),
        metavar="P",
        help=f"Precision of the search in per cent; 0: {unit}.{shown}",
    )


def refuse_zero(given: Mapping[str, Any], named: Mapping[str, str]) -> None:
    """Refuse parameters of value 0 by the names of their options; an omitted one has a default."""
    for name, option in named.items():
        if given.get(name) == 0:
            raise UsageError(f"{option} must be more than 0")


def unknown(where: str, what: str, name: str, known: Collection[str]) -> UsageError:
    """The refusal of a name that is not among @known."""
    from spekctl.suggest import did_you_mean

    return UsageError(
        f"{where}: no {what} is called '{name}'{did_you_mean(name, known)}"
        f" (they are {', '.join(known)})"
    )


def names_of(text: str | None, known: Sequence[NameT], flag: str, what: str) -> list[NameT]:
    """The value of @flag, names of @known in the order given; all of them if it is not given."""
    if text is None:
        return list(known)
    names: list[NameT] = []
    for name in (part.strip() for part in text.split(",")):
        choice = next((choice for choice in known if choice == name), None)
        if choice is None:
            raise unknown(flag, what, name, known)
        if choice in names:
            raise UsageError(f"{flag}: {name} is listed twice")
        names.append(choice)
    return names


@dataclass(frozen=True, slots=True)
class CampaignOptions:
    """Options that do not change what is measured."""

    devices: tuple[str, ...]
    destroy: tuple[str, ...]
    prober_ns: int
    no_prober: bool
    power_feeds: tuple[str, ...]
    power_baseline: str | None
    power_states: str | None
    as_json: bool
    progress: str
    write: bool = False
    out: Path | None = None
    resume: bool = False
    quick: bool = False

    @classmethod
    def split(cls, given: dict[str, Any]) -> tuple[CampaignOptions, dict[str, Any]]:
        """These options, and all others."""
        mine = {key: given[key] for key in cls.__dataclass_fields__ if key in given}
        return cls(**mine), {key: value for key, value in given.items() if key not in mine}

    def tools(self) -> dict[str, Any]:
        """The fields of a campaign that follow from these options."""
        from spekctl.run import measuring

        return {
            "destroy": self.destroy,
            "prober_ns": None if self.no_prober else self.prober_ns,
            "power": measuring.power_of(self.power_feeds, self.power_baseline, self.no_prober),
            "power_states": measuring.pace_of(self.power_states),
        }

    def benchmark(
        self,
        name: str,
        hosts: FleetSteps | None = None,
        placed: Sequence[Device] | None = None,
    ) -> dict[str, Any]:
        """The fields of a benchmark that follow from these options; by default its folder is
        NAME-DEVICES, or NAME-HOSTS. @placed: the devices, where asus have their own."""
        from spekctl import files
        from spekctl.block import device

        devices = hosts.devices if hosts is not None else placed or device.targets(self.devices)
        names = hosts.names if hosts is not None else [device.path for device in devices]
        return {
            "devices": devices,
            "folder": self.out or Path(files.folder_name(name, names)),
            "write": self.write,
            "hosts": hosts,
            **self.tools(),
        }


def perform(
    work: Benchmark[Any, Any, Any],
    given: CampaignOptions,
    file: str = "report.json",
    *,
    rests: bool = False,
    then: Then | None = None,
) -> int:
    """Do what is left of a benchmark, deliver its report, and return the exit code.

    @file: its name in the folder. Others: as those of carry_out().
    """
    from spekctl.commands.deliver import deliver, measured
    from spekctl.render.document import print_contents

    def hand_over() -> ExitCode:
        report = work.report()
        if report is None:
            return ExitCode.RUN_FAILED
        code = work.exit_code(report)
        with measured(code):
            deliver(report, print_contents, given.as_json, work.folder / file)
        return code

    return carry_out(work, given, hand_over, rests=rests, then=then)


def carry_out(
    work: Campaign[Any, Any],
    given: CampaignOptions,
    deliver: Callable[[], ExitCode],
    *,
    rests: bool = False,
    then: Then | None = None,
) -> int:
    """Do what is left of a campaign, hand over what was measured, and return the exit code.

    @deliver: hands over what was measured so far, and says what that means.
    @rests: the campaign measures power of time without I/O.
    @then: follows a campaign that is over.
    """
    from spekctl import files
    from spekctl.campaigns.campaign import Tools
    from spekctl.kernel import client
    from spekctl.power import span
    from spekctl.render import series
    from spekctl.run import job

    work.begin(given.resume, options.flags_of_command())
    kernel = client.connect() if work.hosts is None else None
    progress = given.progress
    if work.hosts is not None and progress != "none":
        # Hosts are shown by lines of their own.
        progress = "lines"
    meter = None
    try:
        files.make_folder(work.folder)
        missing = ""
        if rests:
            meter, missing = span.connect(work.power, work.prober_ns)
        with job.Interrupts() as interrupts:
            view = series.SeriesProgress(progress, work.title())
            tools = Tools(kernel, view, interrupts, meter)
            ended = False
            try:
                if missing:
                    view.tell(missing)
                    work.remarks.append(missing)
                ended = work.carry_out(tools, then)
            except SpekError as error:
                if not interrupts.count:
                    raise _with_advice(work, error) from error
            finally:
                view.close()
                code = deliver()
            if not ended and interrupts.count:
                click.echo(f"spekctl: interrupted; {work.kept()}", err=True)
                return int(code if code is ExitCode.DATA_ERRORS else interrupts.exit_code)
            return int(code)
    finally:
        if meter is not None:
            meter.close()
        if kernel is not None:
            kernel.close()


def _with_advice(work: Campaign[Any, Any], error: SpekError) -> SpekError:
    """The same failure, with the remaining part of the campaign."""
    if work.done and work.folder is not None:
        error.message = f"{error.message}; {work.kept()}"
    return error
