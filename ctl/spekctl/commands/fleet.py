# SPDX-License-Identifier: GPL-2.0-or-later
"""spekctl fleet: one run on several hosts."""

from __future__ import annotations

import contextlib
import getpass
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.core import ParameterSource

from spekctl.cli import Group
from spekctl.commands import options
from spekctl.commands.options import DURATION, FilePath
from spekctl.errors import ExitCode, SpekError, UsageError

if TYPE_CHECKING:
    from spekctl.commands.deliver import Exports
    from spekctl.documents.plan import PlanFile
    from spekctl.fleet.coordinator import Coordinator
    from spekctl.fleet.plan import Plan
    from spekctl.run.job import Interrupts

F = TypeVar("F", bound=Callable[..., Any])
DEFAULT_KEYS = Path("~/.config/spek/fleet")

EPILOG = """\b
Examples:
  # once; copy keys/client1 to client1, ...
  spekctl fleet init keys client1 client2 storage
  # on each host without ssh in the plan
  spekctl fleet join tls://10.0.0.1:8786 --keys client1
  spekctl fleet check plan.toml --keys keys/controller
  spekctl fleet run plan.toml --keys keys/controller -o fleet.json
  # of per-I/O logs that lie on the hosts
  spekctl fleet log plan.toml --keys keys/controller

\b
A plan:
  [fleet]
  listen = "tls://10.0.0.1:8786"
  workload = "random-read-4k"
  [fleet.options]
  time = "60s"
  [[host]]
  name = "client1"
  # started by the controller; without it, by `spekctl fleet join` there
  ssh = "user@client1"
  devices = ["wwn:naa.600140512345678901234567890abcde"]
"""


RUN_EPILOG = """\b
Examples:
  spekctl fleet run plan.toml --keys keys/controller -o fleet.json
  # the same hosts with another load, for this run
  spekctl fleet run plan.toml --keys keys/controller --rate 5000 --time 5min
  spekctl fleet run plan.toml random-write-4k --write --depth 32
"""


@click.group(cls=Group, epilog=EPILOG)
def command() -> None:
    """Run a workload on several hosts, with one start and one result.

    The controller runs as an ordinary user, and so does a worker on each host; only `sudo -n
    spekctl host --stdio` has root's rights there. All connections are TLS, and both sides need keys
    of the same fleet. Hosts with `ssh` in the plan are started by the controller, by the ssh of its
    user, which is never asked for a password; others by any launcher. `spekctl run`, `sweep`,
    `spc1`, `spc2`, `pts` and `energy emerald`, `spc1e`, `spc2e` measure the hosts of a plan with
    --fleet, where loads are totals; `spekctl doctor` examines them.
    ctl/spekctl/fleet/README.md describes plans, phases, and what happens when a host is lost.
    """


def keys_option(function: F) -> F:
    """--keys of a side."""
    return click.option(
        "--keys",
        "keys_folder",
        type=FilePath(file_okay=False, path_type=Path),
        metavar="DIR",
        default=DEFAULT_KEYS,
        show_default=True,
        help="Folder with the keys of this side.",
    )(function)


def wait_option(function: F) -> F:
    """--wait for the other side."""
    return click.option(
        "--wait",
        "wait_ns",
        type=DURATION,
        default="60s",
        show_default=True,
        help="How long to wait for the other side to join; more than the default also allows hosts"
        " that long for each answer before the start.",
    )(function)


# What helps if logs are of different runs; @_OF_ONE_RUN: those that --file names.
_OF_LAST_RUN = "a host that took no part in the last run of the plan has an older log; leave it out"
_OF_ONE_RUN = (
    "logs of --file add up if all hosts began their `spekctl run --log` by the same --start-at"
)
_plan = click.argument("plan_file", metavar="PLAN", type=FilePath(path_type=Path))


@command.command()
@click.argument("folder", metavar="DIR", type=FilePath(path_type=Path))
@click.argument("hosts", metavar="HOST...", nargs=-1, required=True)
@click.option(
    "--days",
    type=click.IntRange(1, 3650),
    default=30,
    show_default=True,
    metavar="N",
    help="Days after which the keys expire.",
)
def init(folder: Path, hosts: tuple[str, ...], days: int) -> int:
    """Make the keys of a fleet in a new folder.

    DIR/controller is for `spekctl fleet run`; each DIR/HOST is to be copied to that host, and to no
    other. DIR/authority signed them all and is not needed any more. To refuse further connections
    with a certificate, add its serial number to DIR/controller/revoked; a host that has joined
    stays until the controller ends.
    """
    from spekctl import units
    from spekctl.fleet import keys
    from spekctl.host import client

    serials = keys.make(folder, hosts, days)
    click.echo(
        f"keys of {units.format_count(len(hosts), 'host')} and the controller are in {folder}, for"
        f" {units.format_count(days, 'day')}:"
    )
    for name, serial in serials.items():
        click.echo(f"  {folder / name}  serial number {serial:x}")
    program, *_ = client.command(())
    line = keys.sudoers(_user(), program if program.startswith("/") else "spekctl")
    click.echo(
        "\non each host, by visudo -f /etc/sudoers.d/spek, with its user and the path of an"
        f" installation that only root can write to:\n  {line}"
    )
    return int(ExitCode.OK)


def _user() -> str:
    """As sudoers names it; by number if the user has no name, as in a container."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return f"#{os.getuid()}"


@command.command()
@click.argument("address", metavar="tls://CONTROLLER:PORT")
@keys_option
@wait_option
def join(address: str, keys_folder: Path, wait_ns: int) -> int:
    """Take part in one run of the controller at this address, and end with it.

    It waits until the controller is there. When the controller ends, is lost or hangs, so does the
    run, and the devices are free. It needs no rights: `sudo -n spekctl host --stdio` has them.
    """
    need_engine()
    from spekctl.fleet import keys
    from spekctl.fleet.join import Joined

    if os.geteuid() == 0:
        click.echo(
            "spekctl: fleet join does not need root; started by root, it does everything that the"
            " controller asks for with root's rights",
            err=True,
        )
    return Joined().serve(address, keys.load(keys_folder.expanduser()), wait_ns / 1e9)


@command.command()
@_plan
@keys_option
@wait_option
def check(plan_file: Path, keys_folder: Path, wait_ns: int) -> int:
    """Check the hosts of a plan, without claiming anything.

    Versions, modules, devices and clocks of all hosts that have joined; they end afterwards.
    """
    from spekctl.fleet.examined import checked_lines
    from spekctl.run.job import Interrupts

    need_engine()
    planned = checked(plan_file)
    with (
        Interrupts() as interrupts,
        started(planned, keys_folder, wait_ns, interrupts, "lines", None) as coordinator,
    ):
        coordinator.join()
        try:
            coordinator.check()
        finally:
            for line in checked_lines(coordinator.parts.values()):
                click.echo(line)
    return int(ExitCode.OK)


@command.command(epilog=RUN_EPILOG)
@_plan
@click.argument(
    "workload", metavar="[WORKLOAD]", required=False, shell_complete=options.complete_workload
)
@keys_option
@wait_option
@click.option("--dry-run", is_flag=True, help="Print which host does what, and wait for no host.")
@options.settings
@options.load_range("bsu")
@options.progress
@options.result("Write the result as JSON to FILE.")
@options.exports
@options.as_json("The result")
def run(
    plan_file: Path,
    workload: str | None,
    settings: tuple[str, ...],
    keys_folder: Path,
    wait_ns: int,
    dry_run: bool,
    progress: str,
    output: Path | None,
    as_json: bool,
    **given: Any,
) -> int:
    """Carry out a plan on all of its hosts, and show the result of all together.

    Devices are claimed on all hosts or on none, and all start at one time or none does. A host that
    is lost stops the others, unless the plan says on_loss = "continue"; the result is incomplete
    then, and names it. Ctrl-C stops all and shows what there is.

    WORKLOAD, --set and the options of `spekctl run` that shape its load take the place of those of
    the plan, on all clients, for this run. Loads are those of each client, as in the plan; BSUs are
    a total. What is measured besides, as by --log, --heat-map or the prober, is the plan's.
    """
    planned = _planned(plan_file, workload, settings, given)
    named = options.files_of_workload(workload) if workload is not None else []
    exports = options.take_exports(given)
    delivered = Delivered(output, as_json, exports, [plan_file, *named])
    return carry_out(planned, keys_folder, wait_ns, progress, delivered, dry_run)


@dataclass(frozen=True, slots=True)
class Delivered:
    """Where a result goes, and the files that it must not take the place of."""

    output: Path | None
    as_json: bool
    exports: Exports
    inputs: Sequence[Path]


def carry_out(
    planned: Plan,
    keys_folder: Path,
    wait_ns: int,
    progress: str,
    delivered: Delivered,
    dry_run: bool,
    leave: str = "give --write, or write = true in the options of the plan",
) -> int:
    """Carry out a plan, or print it, and deliver its result; the exit code. @leave: how its caller
    allows writes."""
    from spekctl.fleet import loads
    from spekctl.run.job import Interrupts

    if dry_run:
        _print_plan(planned)
        return int(ExitCode.OK)
    loads.check_write(planned, leave)
    output, exports = delivered.output, delivered.exports
    exports.check_with(output, [*delivered.inputs, *planned.inputs])
    need_engine()

    from spekctl.commands.deliver import deliver_result, measured
    from spekctl.fleet import results
    from spekctl.run import ending

    folder = output.parent if output is not None else None

    with (
        Interrupts() as interrupts,
        started(planned, keys_folder, wait_ns, interrupts, progress, folder) as coordinator,
    ):
        outcome = coordinator.carry_out()
        try:
            result = results.of(outcome, planned)
        except SpekError as error:
            # Hours of measuring must not be lost to what hosts do not have in common.
            error.say(results.kept_text(error, results.write_documents(outcome, output)))
            raise
    click.echo(f"spekctl: {outcome.text}", err=True)
    code, _ = results.end_of(outcome, result)
    try:
        if result is not None:
            with measured(code):
                deliver_result(result, output, delivered.as_json, exports)
    finally:
        # Samples are not lost with a file of the result.
        kept = results.write_reports(outcome, output)
        for path in kept.paths:
            click.echo(f"spekctl: samples of a target written to {path}", err=True)
        for failure in kept.failures:
            click.echo(f"spekctl: {failure.message}", err=True)
    if kept.failures:
        code = ending.worst([code, ExitCode.RUN_FAILED])
    if result is None:
        click.echo("spekctl: no client has a result, so there is none of the fleet", err=True)
        code = code or ExitCode.RUN_FAILED
    return int(code)


def _planned(
    path: Path, workload: str | None, settings: Sequence[str], given: dict[str, Any]
) -> Plan:
    """The plan with what the command line has in its place; takes options of loads out of @given.
    UsageError names the plan's file, if it has the fault."""
    from spekctl import recorded
    from spekctl.errors import at
    from spekctl.fleet import changes, loads, plan
    from spekctl.workload import options as load_options

    context = click.get_current_context()
    names = {
        name
        for name in load_options.OPTIONS
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE
    }
    texts = load_options.written(options.take_load(given), names)
    instead = options.load_workload(workload, settings) if workload is not None else None
    if not texts and not settings and instead is None:
        return checked(path)
    file = plan.read(path)
    own = changes.changed(file, texts, settings if instead is None else ())

    def within_limits(tables: PlanFile) -> Plan:
        planned = plan.of(tables, path.parent, instead)
        loads.check(planned)
        return planned

    try:
        return within_limits(own)
    except UsageError:
        # An error without the command line is the plan's, not its.
        with at(recorded.text(str(path))):
            within_limits(file)
        raise


def checked(path: Path) -> Plan:
    """The plan in a file, for a run of its own workload; UsageError names it."""
    from spekctl import recorded
    from spekctl.errors import at
    from spekctl.fleet import loads, plan

    planned = plan.load(path)
    with at(recorded.text(str(path))):
        loads.check(planned)
    return planned


@command.command()
@click.argument(
    "result_files", metavar="FILE...", nargs=-1, required=True, type=FilePath(path_type=Path)
)
@options.result("Write the result as JSON to FILE.")
@options.exports
@options.as_json("The result")
def merge(result_files: tuple[Path, ...], output: Path | None, as_json: bool, **given: Any) -> int:
    """Make one result of those of several hosts.

    The results are of `spekctl run` with --start-at, or of fleets. Integers, counts and histogram
    buckets are added, so that the order does not matter. Runs whose measure phases are a second or
    more apart are refused. The exit code is that of `run`: 6 if blocks were wrong, 9 if a host was
    lost, 1 if one of them failed, 7 if a clock left max_skew.
    """
    from spekctl.commands.deliver import deliver_result, measured
    from spekctl.documents.result import load_result
    from spekctl.fleet import merge as merging
    from spekctl.run import ending
    from spekctl.run.job import Interrupts

    exports = options.take_exports(given)
    exports.check_with(output, result_files)
    result = merging.merge([load_result(path) for path in result_files])
    exports.check_contents(result)
    code = ending.exit_code_of(result, Interrupts())
    hosts = result.hosts or ()
    if any(host.loss is not None for host in hosts) and code is not ExitCode.DATA_ERRORS:
        code = ExitCode.HOST_LOST
    for host in hosts:
        if host.clock.strayed:
            click.echo(f"spekctl: {host.name}: {host.clock.strayed}", err=True)
            code = code or ExitCode.LIMIT_MISSED
    with measured(code):
        deliver_result(result, output, as_json, exports)
    return int(code)


@command.command()
@_plan
@keys_option
@wait_option
@click.option(
    "--file",
    "log_file",
    metavar="FILE",
    help="The log to read on each host, by its path there.  [default: that of the plan's options]",
)
@click.option("--stream", metavar="NAME", default="", help="Only I/Os of this stream.")
@click.option(
    "--phase",
    type=click.Choice(["measure", "all"]),
    default="measure",
    show_default=True,
    help="Only I/Os of the measure phase, or all I/Os.",
)
@click.option(
    "--interval",
    "interval_ns",
    type=DURATION,
    default="1s",
    show_default=True,
    help="Length of the intervals of --csv.",
)
@click.option("--csv", "as_csv", is_flag=True, help="Print intervals of all hosts by time as CSV.")
def log(
    plan_file: Path,
    keys_folder: Path,
    wait_ns: int,
    log_file: str | None,
    stream: str,
    phase: str,
    interval_ns: int,
    as_csv: bool,
) -> int:
    """Analyse the per-I/O logs of a plan's clients where they lie.

    The hosts join as for a run. Each counts its own log, written by `fleet run` with log in the
    plan's options or by `spekctl run --log`, and only integers travel: counts and histogram buckets
    add up to exactly what one log with the rows of all would give. Logs of different runs are
    refused. Percentiles are those of the buckets, within 1/128 of the value. Times of different
    hosts are aligned by CLOCK_REALTIME, as well as the clocks agree.
    """
    import dataclasses

    from spekctl import recorded
    from spekctl.fleet import logs, plan, wire
    from spekctl.fleet.coordinator import seeds_of
    from spekctl.log import tally
    from spekctl.render import fleet_log
    from spekctl.run.job import Interrupts

    planned = plan.load(plan_file)
    planned = dataclasses.replace(planned, hosts=tuple(planned.clients))
    if not interval_ns:
        raise UsageError("--interval must be more than 0")
    for flag, text in (("--file", log_file or ""), ("--stream", stream)):
        if recorded.text(text) != text:
            raise UsageError(f"{flag} must be UTF-8")
    questions = {}
    for host in planned.hosts:
        path = log_file or str(host.measuring.log or "")
        if not path:
            raise UsageError(
                f"the plan has no log of {host.name}: write log in its options, or give --file"
            )
        questions[host.name] = wire.Log(
            path,
            stream,
            "measure" if phase == "measure" else "all",
            # Only --csv shows them: nobody counts, sends or limits them without it.
            interval_ns if as_csv else 0,
        )
    need_engine()
    with (
        Interrupts() as interrupts,
        started(planned, keys_folder, wait_ns, interrupts, "lines", None) as coordinator,
    ):
        coordinator.join()
        logged = coordinator.logs(questions)
    logs.check_one_run(logged, seeds_of(planned.seed), _OF_ONE_RUN if log_file else _OF_LAST_RUN)
    workload = next(iter(logged.values())).workload
    tallies = {name: answer.tally for name, answer in logged.items()}
    whole = tally.merge(tallies.values())
    if as_csv:
        for line in fleet_log.csv_lines(whole, tallies):
            click.echo(line)
    else:
        fleet_log.show(workload, phase, whole, tallies)
    return int(ExitCode.OK)


def need_engine() -> None:
    """UsageError if a fleet has nothing that carries its messages."""
    from spekctl.fleet import controller

    controller.need_engine()


@contextlib.contextmanager
def started(
    planned: Plan,
    keys_folder: Path,
    wait_ns: int,
    interrupts: Interrupts,
    progress: str,
    folder: Path | None,
) -> Iterator[Coordinator]:
    """The controller of a command, with progress in its terminal; as controller.started()."""
    from spekctl import recorded
    from spekctl.fleet import controller, keys
    from spekctl.render.fleet import FleetProgress

    bundle = keys.load(keys_folder.expanduser())
    view = FleetProgress([host.name for host in planned.clients], quiet=progress == "none")
    command = recorded.command()
    with controller.started(
        *(planned, bundle, wait_ns, interrupts, view, folder, command)
    ) as coordinator:
        yield coordinator


def _print_plan(planned: Plan) -> None:
    from spekctl import units
    from spekctl.fleet.coordinator import seed_of
    from spekctl.render import tables
    from spekctl.render.console import wide

    skew = planned.max_skew_ns
    click.echo(
        f"{planned.name}: workload {planned.workload.workload.name} on {len(planned.clients)} of"
        f" {units.format_count(len(planned.hosts), 'host')}; a shared device is"
        f" {'split' if planned.share == 'split' else 'used by all'}; if a host is lost, the others"
        f" {'stop' if planned.on_loss == 'stop' else 'continue'}; clocks"
        f" {'have to be within ' + units.format_ns(skew) if skew else 'are not checked'}"
    )
    table = tables.table("host", "role", "devices", "weight", "seed", "options")
    for place, host in enumerate(planned.hosts):
        given = " ".join(f"{flag}={_shown(value)}" for flag, value in host.options.items())
        sends = host.role == "client"
        table.add_row(
            host.name,
            host.role,
            "\n".join(host.devices) if sends else "-",
            str(host.weight) if sends else "-",
            str(seed_of(planned.seed, place)) if sends else "-",
            given if sends else " ".join(host.power_feeds) or "-",
        )
    wide(120).print(table)


def _shown(value: str | bool | list[str]) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ",".join(value) if isinstance(value, list) else value
