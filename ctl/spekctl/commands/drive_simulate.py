# SPDX-License-Identifier: GPL-2.0-or-later
"""spekctl drive simulate: simulate a list of requests in userspace."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import click

from spekctl.commands import drive_model, options
from spekctl.errors import UsageError

if TYPE_CHECKING:
    from spekctl.documents.drive import DriveSimulation, FlashUse
    from spekctl.drive.core import Account, Rule, Simulation
    from spekctl.drive.model import Flash, Model

CLIFF_STEPS = 8

EPILOG = """\b
Examples:
  spekctl drive simulate barracuda-es --requests requests.csv
  spekctl drive simulate barracuda-es --arms 4 \\
      --requests requests.csv --csv > served.csv
  spekctl drive simulate barracuda-es --arms 4 --fail-arm 3 \\
      --requests requests.csv
  spekctl drive simulate cheetah9lp --requests - \\
      --closed 8 --schedule sptf --json

\b
Each line of the file is a request; the first line may be this header:
  arrival_ns,lba,sectors,op
  0,4096,8,R
  1500000,81920,16,W

\b
op is R, W or, on a drive of flash, D (discard).
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
@drive_model.schedule(
    "Order of service: oldest request, nearest cylinder, shortest seek plus rotation, or"
    " ascending LBA."
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
@drive_model.max_wait
@click.option(
    "--seek-scale",
    type=options.FiniteRange(0, 1),
    default=1.0,
    metavar="X",
    help="Multiply seek times by X, in steps of 1/256.  [default: 1]",
)
@click.option(
    "--rotation-scale",
    type=options.FiniteRange(0, 1),
    default=1.0,
    metavar="X",
    help="Multiply rotational latencies by X, in steps of 1/256.  [default: 1]",
)
@click.option(
    *("--fail-arm", "failed"),
    multiple=True,
    type=click.IntRange(0),
    metavar="N",
    help="Serve without arm N, which has failed; the first arm is 0. Repeatable.",
)
@options.output("Write every request as CSV to FILE.")
@click.option("--csv", "as_csv", is_flag=True, help="Every request as CSV on standard output.")
@options.as_json("Summary")
def command(
    name: str,
    source: Path,
    output: Path | None,
    as_csv: bool,
    as_json: bool,
    failed: tuple[int, ...],
    **given: Any,
) -> int:
    """Simulate how MODEL serves a list of requests, without the kernel module.

    The simulator is the C code of the kernel module, compiled at the first use by cc, or by the
    program in the variable CC. Its summary shows distributions of the times and the energy by mode.
    CSV has one line per request, in order of completion: start, overhead, seek, rotation, transfer
    and end in ns, and the arm. Files of any length are streamed.
    """
    from spekctl import files
    from spekctl.drive.core import SCALE, Rule, Simulation

    files.check_apart(output, [source])
    if as_csv and (as_json or output is not None):
        wanted = "--json" if as_json else "-o"
        raise UsageError(f"--csv and {wanted} exclude each other")
    rule = Rule(
        policy=given.pop("schedule"),
        window=given.pop("window"),
        max_wait_ns=given.pop("max_wait_ns"),
        closed=given.pop("closed") or 0,
        seek_scale=round(given.pop("seek_scale") * SCALE),
        rotation_scale=round(given.pop("rotation_scale") * SCALE),
    )
    model = drive_model.take(name, given)
    _check_failed(model, failed)
    drive = Simulation(model, rule)
    for arm in failed:
        drive.fail_arm(arm)
    cliff = Cliff() if model.flash is not None else None
    with _lines(source) as lines:
        if as_csv:
            _stream(drive, lines, str(source), sys.stdout, cliff)
            _check_served(drive.account())
            return 0
        if output is not None:
            _into(output, drive, lines, str(source), cliff)
        else:
            _stream(drive, lines, str(source), None, cliff)
    _show(summary(model, rule, drive, cliff), as_json)
    return 0


def _check_failed(model: Model, failed: tuple[int, ...]) -> None:
    """Refuse --fail-arm if requests would fail: a summary of times does not show failures."""
    if not failed:
        return
    if model.flash is not None:
        raise UsageError("--fail-arm: a flash drive has no arms")
    if model.split:
        raise UsageError("--fail-arm: each arm of this drive has sectors that no other reaches")
    if len(set(failed)) >= len(model.arm_angles):
        raise UsageError("--fail-arm: no arm is left; at least one must remain")


@contextmanager
def _lines(source: Path) -> Iterator[Iterable[str]]:
    from spekctl import files

    if str(source) == "-":
        yield _read(sys.stdin, source)
        return
    try:
        file = open(source, encoding="ascii")  # noqa: SIM115 - closed below
    except FileNotFoundError as error:
        raise files.missing(source) from error
    except OSError as error:
        raise UsageError(f"cannot read {source}: {error.strerror}") from error
    with file:
        yield _read(file, source)


def _read(file: Iterable[str], source: Path) -> Iterator[str]:
    """The lines of @file. UsageError if it cannot be read to its end."""
    try:
        yield from file
    except UnicodeDecodeError as error:
        raise UsageError(f"cannot read {source}: it is not text") from error
    except OSError as error:
        raise UsageError(f"cannot read {source}: {error.strerror}") from error


class Cliff:
    """Accounts of flash in equal numbers of requests: half as many, twice as long, when full."""

    def __init__(self) -> None:
        self.accounts: list[Account] = []
        self._stride = 1
        self._batches = 0

    def add(self, account: Account) -> None:
        """The account after a batch."""
        self._batches += 1
        if self._batches % self._stride:
            return
        self.accounts.append(account)
        if len(self.accounts) == 2 * CLIFF_STEPS:
            self._stride *= 2
            self.accounts = self.accounts[1::2]


def _stream(
    drive: Simulation, lines: Iterable[str], name: str, out: IO[str] | None, cliff: Cliff | None
) -> None:
    from spekctl.drive.requests import BATCH, FLASH_BATCH, RESULT_COLUMNS, csv_lines, serve
    from spekctl.render.output import reader_left

    if out is not None:
        out.write(",".join(RESULT_COLUMNS) + "\n")
    size = BATCH if cliff is None else FLASH_BATCH
    for results in serve(drive, lines, name, out is not None, size):
        if cliff is not None:
            cliff.add(drive.account())
        if out is None:
            continue
        out.write(csv_lines(results, "cache" if cliff is None else "flash"))
        if reader_left():
            return


def _into(
    output: Path, drive: Simulation, lines: Iterable[str], name: str, cliff: Cliff | None
) -> None:
    import io

    from spekctl import files

    files.check_writable(output)
    with files.putting(output) as file:
        out = io.TextIOWrapper(file, encoding="ascii")
        _stream(drive, lines, name, out, cliff)
        _check_served(drive.account())
        # Flushes, and leaves the file open for its owner.
        out.detach()


def _check_served(account: Account) -> int:
    """How many requests were served. UsageError if there were none."""
    served = sum(account.arm_served)
    if not served:
        raise UsageError("the list of requests is empty")
    return served


def summary(
    model: Model, rule: Rule, drive: Simulation, cliff: Cliff | None = None
) -> DriveSimulation:
    """The results of a simulation as a document."""
    from spekctl import recorded
    from spekctl.documents.drive import DriveSimulation, Mode, Times
    from spekctl.drive.core import METRICS
    from spekctl.drive.energy import modes_of

    account = drive.account()
    served = _check_served(account)

    def times(metric: str) -> Times:
        index = METRICS.index(metric)
        p50, p90, p99 = (drive.percentile(metric, share) for share in (0.5, 0.9, 0.99))
        return Times(account.sum_ns[index] / served, p50, p90, p99, account.max_ns[index])

    five, twelve = (nj / 1e9 for nj in account.energy_nj)
    seconds = account.now_ns / 1e9
    return DriveSimulation(
        model=recorded.text(model.name),
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
        hits=account.arm_served[-1] if model.flash is None else 0,
        modes={
            mode: Mode(spent.seconds, spent.joules)
            for mode, spent in modes_of(model, account).items()
        },
        joules_5v=five,
        joules_12v=twelve,
        watts=(five + twelve) / seconds,
        flash=_flash_use(model.flash, account, cliff.accounts if cliff else []),
    )


def _flash_use(flash: Flash | None, account: Account, parts: Sequence[Account]) -> FlashUse | None:
    from spekctl.documents.drive import FlashStep, FlashUse

    if flash is None:
        return None
    steps: list[FlashStep] = []
    before = (0, 0, 0, 0)
    for part in (*parts, account):
        now = (part.now_ns, part.served, part.pages_programmed, part.pages_moved)
        ns, served, programmed, moved = (b - a for a, b in zip(before, now, strict=True))
        if not ns:
            continue
        rate = programmed * flash.page_sectors * 512 * 1e9 / ns
        factor = (programmed + moved) / programmed if programmed else 1.0
        steps.append(FlashStep(part.now_ns, served, rate, factor))
        before = now
    return FlashUse(
        flash.channels, account.pages_programmed, account.pages_moved, account.blocks_erased, steps
    )


def _show(simulation: DriveSimulation, as_json: bool) -> None:
    if as_json:
        from spekctl import files

        click.echo(files.encode(simulation).decode(), nl=False)
    else:
        from spekctl.render.drive import print_simulation

        print_simulation(simulation)
