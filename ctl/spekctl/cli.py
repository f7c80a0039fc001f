# SPDX-License-Identifier: GPL-2.0-or-later
"""Entry point: finds the command, runs it, turns its failure into a sentence and a code."""

from __future__ import annotations

import errno
import importlib
import re
import sys
import textwrap
from typing import TYPE_CHECKING, NamedTuple, NoReturn

import click

from spekctl import __version__
from spekctl.errors import EXIT_CODE_HELP, ExitCode, SpekError
from spekctl.render import output as render_output
from spekctl.render.output import Output

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


class Slot(NamedTuple):
    """A command that is imported when it is used: its place and its line in the help."""

    module: str
    help: str


COMMANDS: dict[str, Slot] = {
    "run": Slot("spekctl.commands.run", "Run a workload on one or more block devices."),
    "devices": Slot("spekctl.commands.devices", "List block devices and whether they can be used."),
    "doctor": Slot("spekctl.commands.doctor", "Diagnose what stops a run or skews its results."),
    "status": Slot("spekctl.commands.status", "List the runs in the kernel."),
    "watch": Slot("spekctl.commands.watch", "Follow a run to its end and show its result."),
    "stop": Slot("spekctl.commands.stop", "Stop a run."),
    "metrics": Slot("spekctl.commands.metrics", "Print counters of all runs for Prometheus."),
    "web": Slot("spekctl.commands.web", "Configure, watch and compare runs in a browser."),
    "host": Slot(
        "spekctl.commands.host", "Serve a program that drives spek, over standard input and output."
    ),
    "fleet": Slot("spekctl.commands.fleet", "Run a workload on several hosts with one start."),
    "workloads": Slot("spekctl.commands.workloads", "List the workloads that come with spek."),
    "show": Slot(
        "spekctl.commands.show", "Explain a workload, or a file that spekctl has written."
    ),
    "sweep": Slot("spekctl.commands.sweep", "Measure a workload at a series of loads."),
    "spc1": Slot("spekctl.commands.spc1", "Run the complete SPC-1-like test."),
    "spc2": Slot("spekctl.commands.spc2", "Run the SPC-2-like test of large sequential streams."),
    "pts": Slot("spekctl.commands.pts", "Run the PTS-like test of solid-state storage."),
    "energy": Slot("spekctl.commands.energy", "Measure energy efficiency, or compute it."),
    "verify": Slot("spekctl.commands.verify", "Check that devices still hold the data of a run."),
    "log": Slot("spekctl.commands.log", "Summarize a per-I/O log, or convert it to CSV."),
    "trace": Slot("spekctl.commands.trace", "Examine, cut and convert traces of I/O."),
    "fio": Slot("spekctl.commands.fio", "Import a job file of fio, or export a workload."),
    "vdbench": Slot("spekctl.commands.vdbench", "Import a parameter file of vdbench."),
    "plot": Slot("spekctl.commands.plot", "Plot logs, results, load curves and reports."),
    "report": Slot(
        "spekctl.commands.report", "Make one HTML file of results, to read and to send."
    ),
    "compare": Slot("spekctl.commands.compare", "Compare results: same, better or worse."),
    "gate": Slot("spekctl.commands.gate", "Check results against a file of limits."),
    "power": Slot("spekctl.commands.power", "Monitor power rails, and calibrate them."),
    "prober": Slot("spekctl.commands.prober", "Sample a machine without a run: CPU to power."),
    "drive": Slot("spekctl.commands.drive", "Describe, simulate and create modelled disk drives."),
    "augment": Slot(
        "spekctl.commands.augment", "Put an SSD in front of a RAID, so that its disks may sleep."
    ),
    "vm": Slot("spekctl.commands.vm", "Run any spekctl command in a throw-away virtual machine."),
}

EPILOG = "\b\nExit codes:\n" + "\n".join(
    textwrap.fill(
        text,
        78,
        initial_indent=f"  {code.value:>3}  ",
        subsequent_indent=" " * 7,
        break_on_hyphens=False,
    )
    for code, text in EXIT_CODE_HELP.items()
)


# What click says of a value that is no number, in words.
_TYPES = {
    "integer": "is not a whole number",
    "float": "is not a number; write for example 2000 or 0.5",
}


class Group(click.Group):
    """A group of commands, which suggests one for a misspelt name."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        from spekctl.suggest import did_you_mean

        names = self.list_commands(ctx)
        if args and not args[0].startswith("-") and args[0] not in names:
            hint = did_you_mean(args[0], names) or f"; the commands are {', '.join(names)}"
            if args[0] == "help":
                hint = f"; write {ctx.command_path} COMMAND --help"
            ctx.fail(f"there is no command '{args[0]}'{hint}")
        return super().resolve_command(ctx, args)


class LazyGroup(Group):
    """A group that imports a command module (attribute ``command``) only when it is wanted."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        slot = COMMANDS.get(name)
        if slot is None:
            return None
        command = importlib.import_module(slot.module).command
        assert isinstance(command, click.Command)
        return command

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        if incomplete.startswith("-"):
            return click.Command.shell_complete(self, ctx, incomplete)
        return [
            CompletionItem(name, help=slot.help)
            for name, slot in COMMANDS.items()
            if name.startswith(incomplete)
        ]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, slot.help) for name, slot in COMMANDS.items()])


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=EPILOG,
)
@click.version_option(__version__, prog_name="spekctl")
@click.option("-v", "--verbose", is_flag=True, help="Show the traceback of an error.")
@click.pass_context
def cli(ctx: click.Context, verbose: bool) -> None:
    """Load block devices from inside the kernel, and measure performance and power.

    spekctl controls the load generator spek.ko. Results go to standard output, progress and
    messages to standard error. Of an option that is given twice, the last value counts, unless its
    help says that it is repeatable.
    """
    ctx.obj = {"verbose": verbose}


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run spekctl and exit."""
    sys.stderr = render_output.patient(sys.stderr)
    if arguments is None:
        arguments = sys.argv[1:]
    output = Output()
    try:
        code = run(arguments)
        output.flush()
    except OSError as error:
        if output.failure is None:
            raise
        reason = "it is closed" if error.errno == errno.EBADF else error.strerror
        click.echo(f"spekctl: cannot write standard output: {reason}", err=True)
        code = int(ExitCode.RUN_FAILED)
        output.abandon()
    sys.exit(code)


def run(arguments: list[str]) -> int:
    """Run spekctl; return its exit code."""
    verbose = "-v" in arguments[:1] or "--verbose" in arguments[:1]
    try:
        outcome = cli.main(args=arguments, prog_name="spekctl", standalone_mode=False)
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.Abort:
        click.echo("spekctl: interrupted", err=True)
        return 130
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return error.exit_code
    except click.ClickException as error:
        click.echo(f"spekctl: {_sentence(error)}", err=True)
        return error.exit_code
    except SpekError as error:
        if verbose:
            import traceback

            traceback.print_exc()
        click.echo(f"spekctl: {error.message}", err=True)
        return int(error.exit_code)
    return int(outcome) if isinstance(outcome, int) else 0


def _sentence(error: click.ClickException) -> str:
    """click's message as one sentence that names the help page."""
    text = error.format_message().rstrip(".")
    if isinstance(error, click.NoSuchOption):
        from spekctl.suggest import did_you_mean

        wrong = error.option_name
        text = f"no such option '{wrong}'{did_you_mean(wrong, error.possibilities or ())}"
    text = text[:1].lower() + text[1:]
    text = re.sub("is not a valid (integer|float)( range)?$", lambda match: _TYPES[match[1]], text)
    context = getattr(error, "ctx", None)
    return f"{text} (see {context.command_path} --help)" if context is not None else text
