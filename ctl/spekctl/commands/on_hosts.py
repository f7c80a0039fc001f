# SPDX-License-Identifier: GPL-2.0-or-later
"""--fleet of the commands of several runs: their steps on all hosts of a plan."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.core import ParameterSource

from spekctl.commands import options
from spekctl.commands.fleet import keys_option, need_engine, started, wait_option
from spekctl.commands.options import FilePath
from spekctl.errors import ExitCode, SpekError, UsageError

if TYPE_CHECKING:
    from spekctl.fleet.steps import FleetSteps
    from spekctl.workload.model import WorkloadFile

F = TypeVar("F", bound=Callable[..., Any])

# What the plan has, and why it is not the command's.
OF_PLAN = {
    "devices": "the plan has the devices of each host",
    "destroy": "write destroy in [[host]]",
    "workers": "write workers in [fleet.options]",
    "cpus": "write cpus in [[host]], options",
    "prober_ns": "write prober-interval in [fleet.options]",
    "no_prober": "write no-prober in [fleet.options]",
    "power_feeds": "write power_feeds in [[host]]",
    "power_baseline": "each host's power is measured by itself",
    "power_states": "write power-states in [fleet.options]",
}

hosts_options = options.together(
    click.option(
        "--fleet",
        "fleet_file",
        type=FilePath(path_type=Path),
        metavar="PLAN",
        help="Measure with all hosts of a plan of `spekctl fleet`, in place of --device. Loads are"
        " totals, divided among the clients. The workload and the options of a run come from the"
        " command line, except CPUs and workers.",
    ),
    keys_option,
    wait_option,
)
# --device is needed only where there is no plan.
fleet_options = options.together(options.placed_devices, hosts_options)
# The same for a test whose workloads have no asus with devices of their own.
plain_fleet_options = options.together(options.optional_devices, hosts_options)


def check_without_fleet() -> None:
    """Refuse options of --fleet without it."""
    context = click.get_current_context()
    for name, flag in (("keys_folder", "--keys"), ("wait_ns", "--wait")):
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise UsageError(f"{flag} needs --fleet as well")


def perform(
    given: dict[str, Any], workload: WorkloadFile, work: Callable[[FleetSteps | None], int]
) -> int:
    """Do @work with the hosts of --fleet, or with None for this machine; the exit code.
    @workload: that of a step."""
    fleet_file, keys_folder, wait_ns = (
        given.pop(name) for name in ("fleet_file", "keys_folder", "wait_ns")
    )
    from spekctl import files
    from spekctl.workload import own_devices

    context = click.get_current_context()
    parameters = {parameter.name: parameter for parameter in context.command.params}

    def is_given(name: str) -> bool:
        return context.get_parameter_source(name) is ParameterSource.COMMANDLINE

    if fleet_file is None:
        check_without_fleet()
        if not given["devices"] and not own_devices.are_all(workload):
            raise click.MissingParameter(ctx=context, param=parameters["devices"])
        return work(None)
    for name, why in OF_PLAN.items():
        if is_given(name):
            raise UsageError(f"{parameters[name].opts[0]} is not given with --fleet: {why}")
    files.check_apart(context.params.get("output"), [fleet_file])
    need_engine()
    progress, folder = given["progress"], given["out"]
    return _together(fleet_file, keys_folder, wait_ns, progress, folder, workload, work)


def _together(
    fleet_file: Path,
    keys_folder: Path,
    wait_ns: int,
    progress: str,
    folder: Path | None,
    workload: WorkloadFile,
    work: Callable[[FleetSteps | None], int],
) -> int:
    from spekctl.fleet import plan
    from spekctl.fleet.steps import FleetSteps
    from spekctl.render.fleet import FleetProgress
    from spekctl.run.job import Interrupts

    # Slices are claimed once, for all steps; that some may only read does not matter.
    write = bool(click.get_current_context().params.get("write"))
    planned = plan.load(fleet_file, workload, write)
    clients = [host.name for host in planned.clients]
    with (
        Interrupts() as interrupts,
        started(planned, keys_folder, wait_ns, interrupts, progress, folder) as coordinator,
    ):
        unused = plan.of_command(planned)
        if unused:
            coordinator.view.note(unused_text(unused))
        coordinator.join()
        coordinator.check()
        steps = FleetSteps(coordinator, lambda: FleetProgress(clients, quiet=progress == "none"))
        try:
            code = work(steps)
        except SpekError as error:
            error.exit_code = _first(steps) or error.exit_code
            raise
        if first := _first(steps):
            if steps.lost:
                click.echo(f"spekctl: {steps.lost}", err=True)
            return int(first)
        if steps.unreleased and not code:
            return int(ExitCode.RUN_FAILED)
        return int(ExitCode.LIMIT_MISSED) if steps.strayed and not code else code


def unused_text(options: Sequence[str]) -> str:
    """That these options of a plan do not count for a command."""
    return (
        f"{', '.join(options)} of the plan {'is' if len(options) == 1 else 'are'} not used: these"
        " are the command's"
    )


def _first(steps: FleetSteps) -> ExitCode:
    """What ranks before the end of the command itself: wrong data, then a lost host; OK without
    either."""
    if steps.has_data_errors:
        return ExitCode.DATA_ERRORS
    return ExitCode.HOST_LOST if steps.lost else ExitCode.OK
