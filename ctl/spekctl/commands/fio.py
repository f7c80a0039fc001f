# SPDX-License-Identifier: GPL-2.0-or-later
"""spekctl fio: import a job file of fio as a workload, or export a workload."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from spekctl.commands import options
from spekctl.commands.options import FilePath
from spekctl.errors import UsageError

if TYPE_CHECKING:
    from spekctl.workload.imported import Imported

EPILOG = """\b
Examples:
  spekctl fio oltp.fio -o oltp.toml
  spekctl fio suite.fio --section randread-qd32 | less
  spekctl fio -- --name=a --filename=/dev/sdX --direct=1 --rw=randread --bs=8k
  spekctl run fio:oltp.fio --device /dev/sdX --write
  spekctl fio --export random-read-4k --device /dev/sdX -o random-read.fio
"""


@click.command(epilog=EPILOG, no_args_is_help=True)
@click.argument(
    "words",
    metavar="[JOB.fio | -- ARGUMENTS]",
    nargs=-1,
    type=FilePath(dir_okay=False),
)
@click.option(
    "--section",
    "sections",
    metavar="NAME",
    multiple=True,
    help="Only the job of this name; repeatable.",
)
@click.option(
    "--accept",
    type=click.Choice(["direct"]),
    multiple=True,
    help="Import a job with direct=0 or buffered=1 as if it had neither: spek has no page cache.",
)
@click.option(
    "--export",
    metavar="WORKLOAD",
    shell_complete=options.complete_workload,
    help="Write a workload as a job file instead.",
)
@click.option(
    *("--device", "-d", "devices"),
    multiple=True,
    metavar="[ASU=]DEV",
    help="With --export: the device of the jobs, or of those of an [[asu]]; repeatable.",
    shell_complete=options.complete_device,
)
@options.workload_files("steps")
def command(
    words: tuple[str, ...],
    sections: tuple[str, ...],
    accept: tuple[str, ...],
    export: str | None,
    devices: tuple[str, ...],
    output: Path | None,
) -> int:
    """Import the job file JOB.fio as a workload, a TOML file, or the ARGUMENTS of fio, which are
    those of its command line: --name=a --rw=randread ...

    A report on standard error says what became of each option, which options are not needed, and
    which differences may change the results. A file with options that cannot be converted is
    refused, and the message names all of them.

    With --client=HOST among the ARGUMENTS, a plan for `spekctl fleet run` is written as well.

    Jobs that start together become one workload. Jobs that wait for others (stonewall, wait_for)
    become a step of their own: a workload to be run after that of the step before.

    --export writes a job for each stream of a workload. A workload that fio cannot express is
    refused.
    """
    if export is not None:
        if words:
            raise UsageError(f"--export reads no job file: leave out {words[0]}, or --export")
        options.refuse_others("--export", {"export", "devices", "output"}, "it reads no job file")
        return _export(export, devices, output)
    if not words:
        raise UsageError("name a job file, or a workload with --export")
    if devices:
        raise UsageError("--device needs --export as well")
    from spekctl.commands.deliver import deliver_imported
    from spekctl.fio import convert

    direct = "direct" in accept
    if len(words) == 1 and not words[0].startswith("-"):
        job = Path(words[0])
        steps = convert.load_steps(job, sections, direct)
        deliver_imported([job], _for_one_worker(steps), output)
    else:
        given = [Path(word) for word in words if not word.startswith("-")]
        steps = convert.command_line_steps(words, sections, direct)
        deliver_imported(given, _for_one_worker(steps), output)
    return 0


def _for_one_worker(steps: list[Imported]) -> list[Imported]:
    """Note in the report of each step how many workers its closed loops can use: a run of the file
    may have another number."""
    for step in steps:
        depths = [
            arrival.depth or 1 for arrival in step.workload.arrival if arrival.law == "closed"
        ]
        if len(depths) > 1:
            workers = "one worker" if min(depths) == 1 else f"{min(depths)} workers"
            step.differences.append(
                f"it has {len(depths)} closed loops, each of which uses as many workers as its"
                f" depth: run it on {workers}; for more workers use `spekctl run fio:`, which"
                " takes their number into account"
            )
    return steps


def _export(name: str, devices: tuple[str, ...], output: Path | None) -> int:
    from spekctl import files
    from spekctl.fio.export import export
    from spekctl.workload import file

    files.check_writable(output)
    text = export(file.load(name), devices)
    if output is None:
        click.echo(text, nl=False)
    else:
        files.put(output, text.encode())
    return 0
