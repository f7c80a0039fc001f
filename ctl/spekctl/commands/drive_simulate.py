# SPDX-License-Identifier: GPL-2.0-or-later
"""spekctl drive simulate: simulate a list of requests in userspace."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import click

from spekctl.commands import drive_model, options
from spekctl.errors import SpekError, UsageError

if TYPE_CHECKING:
    from spekctl.documents.drive import DriveSimulation
    from spekctl.drive.core import Rule, Simulation
    from spekctl.drive.model import Model

EPILOG = """\b
Examples:
  spekctl drive simulate barracuda-es --requests requests.csv
  spekctl drive simulate barracuda-es --arms 4 --requests requests.csv --csv > served.csv
  spekctl drive simulate cheetah9lp --requests - --closed 8 --schedule sptf --json

\b
Each line of the file is a request; the first line may be this header:
  arrival_ns,lba,sectors,op
  0,4096,8,R
  1500000,81920,16,W
"""


@click.command(epilog=EPILOG, no_args_is_help=True)
@drive_model.argument
@click.option(
    "--requests",
    "source",
    type=options.FilePath(dir_okay=False, allow_dash=True, path_type=Path),
    required=True,
    metavar="FILE",
    help="Requests as CSV, in order of arrival; -: standard input.",
)
@drive_model.changes
@click.option(
    "--closed",
    type=click.IntRange(1, 256),
    metavar="N",
    help="Closed loop: keep N requests outstanding, and ignore the arrival times of the file.",
)
@click.option(
    "--schedule",
    type=click.Choice(["fcfs", "sstf", "sptf", "clook"]),
    default="sptf",
    show_default=True,
    help="Order of service: oldest request, nearest cylinder, shortest seek plus rotation, or"
    " ascending LBA.",
)
@click.option(
    "--schedule-window",
    "window",
    type=click.IntRange(1, 256),
    default=256,
    show_default=True,
    metavar="N",
    help="Number of oldest requests among which --schedule chooses.",
)
@click.option(
    "--max-wait",
    "max_wait_ns",
    type=options.DURATION_WITH_UNIT,
    default="0",
    show_default=True,
    help="Serve requests that have waited longer than this first; 0: no limit.",
)
@click.option(
    "--seek-scale",
    type=options.FiniteRange(0, 1),
    default=1.0,
    metavar="X",
    help="Multiply seek times by X, in steps of 1/256.  [1]",
)
@click.option(
    "--rotation-scale",
    type=options.FiniteRange(0, 1),
    default=1.0,
    metavar="X",
    help="Multiply rotational latencies by X, in steps of 1/256.  [1]",
)
@click.option(
    "-o",
    "--output",
    type=options.FilePath(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write every request as CSV to FILE.",
)
@click.option("--csv", "as_csv", is_flag=True, help="Every request as CSV on standard output.")
@click.option("--json", "as_json", is_flag=True, help="Summary as JSON on standard output.")
def command(
    name: str,
    source: Path,
    output: Path | None,
    as_csv: bool,
    as_json: bool,
    **given: Any,
) -> int:
    """Simulate how MODEL serves a list of requests, without the kernel module.

    The simulator is the C code of the kernel module, compiled at the first use by cc, or by the
    program in the variable CC. Its summary shows distributions of the times and the energy by mode.
    CSV has one line per request, in order of completion: start, overhead, seek, rotation, transfer
    and end in ns, and the arm. Files of any length are streamed.
    """
    from spekctl.drive.core import SCALE, Rule, Simulation

    if as_csv and (as_json or output is not None):
        other = "--json" if as_json else "-o"
        raise UsageError(f"--csv and {other} exclude each other")
    rule = Rule(
        policy=given.pop("schedule"),
        window=given.pop("window"),
        max_wait_ns=given.pop("max_wait_ns"),
        closed=given.pop("closed") or 0,
        seek_scale=round(given.pop("seek_scale") * SCALE),
        rotation_scale=round(given.pop("rotation_scale") * SCALE),
    )
    model = drive_model.take(name, given)
    drive = Simulation(model, rule)
    with _lines(source) as lines:
        if as_csv:
            _stream(drive, lines, str(source), sys.stdout)
            return 0
        if output is not None:
            _into(output, drive, lines, str(source))
        else:
            _stream(drive, lines, str(source), None)
    _show(summary(model, rule, drive), as_json)
    return 0


@contextmanager
def _lines(source: Path) -> Iterator[Iterable[str]]:
    if str(source) == "-":
        yield sys.stdin
        return
    try:
        with open(source, encoding="ascii") as file:
            yield file
    except UnicodeDecodeError as error:
        raise UsageError(f"cannot read {source}: it is not text") from error
    except OSError as error:
        if error.filename != str(source):
            raise
        raise UsageError(f"cannot read {source}: {error.strerror}") from error


def _stream(drive: Simulation, lines: Iterable[str], name: str, out: IO[str] | None) -> None:
    from spekctl.drive.requests import RESULT_COLUMNS, csv_lines, serve
    from spekctl.render.output import reader_left

    if out is not None:
        out.write(",".join(RESULT_COLUMNS) + "\n")
    for results in serve(drive, lines, name, out is not None):
        if out is None:
            continue
        out.write(csv_lines(results))
        if reader_left():
            return


def _into(output: Path, drive: Simulation, lines: Iterable[str], name: str) -> None:
    from spekctl import files

    files.check_writable(output)
    try:
        with open(output, "w", encoding="ascii") as out:
            _stream(drive, lines, name, out)
    except OSError as error:
        raise SpekError(f"cannot write {output}: {error.strerror}") from error


def summary(model: Model, rule: Rule, drive: Simulation) -> DriveSimulation:
    """The results of a simulation as a document."""
    from spekctl.documents.drive import DriveSimulation, Mode, Times
    from spekctl.drive.core import METRICS
    from spekctl.drive.energy import modes_of

    account = drive.account()
    served = sum(account.arm_served)
    if not served:
        raise UsageError("the file contains no request")

    def times(metric: str) -> Times:
        index = METRICS.index(metric)
        p50, p90, p99 = (drive.percentile(metric, share) for share in (0.5, 0.9, 0.99))
        return Times(account.sum_ns[index] / served, p50, p90, p99, account.max_ns[index])

    five, twelve = (nj / 1e9 for nj in account.energy_nj)
    seconds = account.now_ns / 1e9
    return DriveSimulation(
        model=model.name,
        title=model.title,
        profile=model.profile,
        arms=len(model.arm_angles),
        rpm=model.rpm,
        policy=rule.policy,
        window=rule.window,
        max_wait_ns=rule.max_wait_ns,
        closed=rule.closed,
        requests=served,
        elapsed_ns=account.now_ns,
        iops=served / seconds,
        response=times("response"),
        seek=times("seek"),
        rotation=times("rotation"),
        transfer=times("transfer"),
        moved=account.moved / served,
        served_by_arm=list(account.arm_served[: len(model.arm_angles)]),
        hits=account.arm_served[-1],
        modes={
            mode: Mode(one.seconds, one.joules) for mode, one in modes_of(model, account).items()
        },
        joules_5v=five,
        joules_12v=twelve,
        watts=(five + twelve) / seconds,
    )


def _show(found: DriveSimulation, as_json: bool) -> None:
    if as_json:
        from spekctl import files

        click.echo(files.encode(found).decode(), nl=False)
    else:
        from spekctl.render.drive import print_simulation

        print_simulation(found)
