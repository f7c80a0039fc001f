# SPDX-License-Identifier: GPL-2.0-or-later
"""spekctl trace: traces of other tools, and spek's own logs, examined and converted."""

from __future__ import annotations

import itertools
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from spekctl import files
from spekctl.cli import Group
from spekctl.commands import options
from spekctl.commands.options import DURATION, DURATION_WITH_UNIT, SIZE, FilePath, output
from spekctl.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from spekctl.trace.convert import Written
    from spekctl.trace.select import Cut
    from spekctl.trace.trace import Trace

F = TypeVar("F", bound=Callable[..., Any])

EPILOG = """\b
Examples:
  spekctl trace info Financial1.spc.bz2
  spekctl trace info sda.blktrace.*
  spekctl trace head hm_0.csv.gz --first 5
  spekctl trace cut hm_0.csv.gz --start 10m --end 20m --op read -o hm.parquet
  spekctl trace convert spc1.parquet -o spc1.iolog
  spekctl trace convert hm_0.csv.gz --max-idle 1s -o hm.parquet
  spekctl trace fit Financial1.spc.bz2 -o financial1.toml

\b
Formats, detected by content; files may be compressed (gz, xz, zst, lz4, bz2):
  spc        SPC: Financial1 and 2, WebSearch1 to 3  msr        MSR Cambridge
  blktrace   binary, versions 7 and 8                blkparse   its text
  fio        iologs of versions 2 and 3              blkreplay  load files
  alibaba, tencent, systor, fiu, vscsi (CloudPhysics), srt (HP, cello)
  csv        with named columns                      spek-log   of `run --log`
  spek-trace the stored form
"""


def _reading(function: F) -> F:
    """Options of everything that reads a trace."""
    for option in (
        click.option(
            "--column",
            "columns",
            multiple=True,
            metavar="FIELD=NAME[:UNIT]",
            help="CSV: the column of a field: at (ns, us, ms, s, 100ns), device, offset and size"
            " (bytes of a unit), op, fua, preflush. Repeatable.",
        ),
        click.option(
            "--event",
            type=click.Choice(["queue", "issue"]),
            default="queue",
            show_default=True,
            help="blktrace and blkparse: the event that is an I/O's arrival.",
        ),
        click.option(
            "--block-size",
            "block_bytes",
            type=SIZE,
            default="512",
            show_default=True,
            help="SPC: bytes of a block, which the file does not state.",
        ),
        click.option(
            "--strict",
            is_flag=True,
            help="Refuse a trace with unreadable or lost records (exit code 2)."
            "  [default: they are left out and counted, and the exit code is 1]",
        ),
        click.option(
            "--format",
            metavar="NAME",
            help="Format of the files.  [default: by their contents]",
        ),
        click.argument(
            "inputs",
            type=FilePath(path_type=Path),
            nargs=-1,
            required=True,
            metavar="FILE...",
        ),
    ):
        function = option(function)
    return function


def _open(inputs: tuple[Path, ...], given: dict[str, Any], once: bool = True) -> Trace:
    """The trace that the options mean. @once: the command reads it once"""
    from spekctl.log.file import require

    require("a trace")
    from spekctl.trace.formats.format import ReadOptions
    from spekctl.trace.trace import open_trace

    block_bytes = given["block_bytes"]
    if not 1 <= block_bytes <= 1 << 20:
        raise UsageError(f"--block-size must be 1 byte to 1 MiB, not {block_bytes}")
    options = ReadOptions(
        format=given["format"] or "",
        strict=given["strict"],
        block_bytes=block_bytes,
        event=given["event"],
        columns=given["columns"],
    )
    return open_trace(inputs, options, once)


@click.group(cls=Group, epilog=EPILOG)
def command() -> None:
    """Examine, cut and convert traces of I/O.

    Files are read as streams: memory does not grow with their size. Several files are one trace,
    merged by time. Unreadable records are left out and counted, and the first is named; I/Os that a
    per-I/O log of spek lost while it was recorded are counted. The exit code is then 1, and nothing
    else is missing from the output.
    """


def _exit_code(trace: Trace) -> ExitCode:
    """The exit code of a command that has read the trace and delivered its output."""
    return ExitCode.RUN_FAILED if trace.faults.missing else ExitCode.OK


@command.command("info")
@_reading
@options.as_json()
@click.option("--timing", is_flag=True, help="Say how fast the files were read, on standard error.")
@output("Also write the JSON to FILE.")
def info(
    inputs: tuple[Path, ...], as_json: bool, timing: bool, output: Path | None, **given: Any
) -> int:
    """Describe a trace: rates, sizes, footprint, sequentiality, burstiness.

    The index of dispersion is the variance of the number of requests in windows of a length,
    divided by its mean: 1 for Poisson arrivals at every length, more where requests cluster.
    `spekctl plot trace` draws a picture.
    """
    from spekctl.commands.deliver import deliver

    files.check_writable(output)
    files.check_apart(output, inputs)
    trace = _open(inputs, given, once=not timing)
    from spekctl.render import trace as render
    from spekctl.trace import figures

    if timing:
        _time(trace)
    deliver(figures.info(trace), render.show, as_json, output, "figures")
    return _exit_code(trace)


def _time(trace: Trace) -> None:
    """Read the trace once and say how fast that was."""
    start = time.perf_counter()
    requests = sum(len(batch) for batch in trace.batches())
    events = requests + trace.faults.ignored
    seconds = time.perf_counter() - start
    click.echo(
        f"spekctl: read {events:,} records in {seconds:.2f} s, {events / seconds / 1e6:.2f} million"
        " per second",
        err=True,
    )


@command.command("head")
@_reading
@click.option(
    *("-n", "--first", "count"),
    type=click.IntRange(min=1),
    default=10,
    show_default=True,
    metavar="N",
    help="Print the first N requests.",
)
def head(inputs: tuple[Path, ...], count: int, **given: Any) -> int:
    """Print the first requests of a trace as CSV.

    Unreadable records up to there and I/Os lost by a log are counted on standard error; the exit
    code is then 1.
    """
    trace = _open(inputs, given)
    from spekctl.render.output import reader_left
    from spekctl.render.trace import defects
    from spekctl.trace.convert import Written, write_text
    from spekctl.trace.faults import lost_text
    from spekctl.trace.figures import defects as defects_of
    from spekctl.trace.select import Cut

    sys.stdout.flush()
    batches = itertools.takewhile(lambda _: not reader_left(), Cut(count=count).of(trace))
    write_text(trace, batches, sys.stdout.buffer, "csv", Written())
    sys.stdout.buffer.flush()
    if trace.faults.bad:
        # The first of its sentences is that of records that cannot be read.
        click.echo(f"spekctl: {defects(defects_of(trace))[0]}", err=True)
    if trace.faults.lost:
        click.echo(f"spekctl: {lost_text(trace.faults.lost)}", err=True)
    return _exit_code(trace)


_output = output("File to write.", required=True)
_form = click.option(
    "--form",
    type=click.Choice(["spek-trace", "csv", "fio", "blkparse"]),
    help="Form to write."
    "  [default: by the suffix: .parquet, .csv, .iolog, .blkparse; else spek-trace]",
)

_max_idle = click.option(
    "--max-idle",
    "max_idle_ns",
    type=DURATION_WITH_UNIT,
    metavar="TIME",
    help="Cut times between successive requests, over all devices, that are longer than TIME (1s)"
    " to it.  [default: times stay as recorded]",
)


@command.command("convert")
@_reading
@_output
@_form
@_max_idle
def convert(
    inputs: tuple[Path, ...],
    output: Path,
    form: str | None,
    max_idle_ns: int | None,
    **given: Any,
) -> int:
    """Write a trace in another form.

    The stored form, spek-trace, is Parquet with everything that was read. fio has no operations
    but read, write, trim and sync, and times in microseconds.
    """
    return _write(inputs, output, form, None, max_idle_ns, given)


@command.command("cut")
@_reading
@click.option(
    "--start", "start_ns", type=DURATION, default="0", help="Start of the part.  [default: 0s]"
)
@click.option(
    "--end", "end_ns", type=DURATION, help="End of the part.  [default: end of the trace]"
)
@click.option(
    *("--volume", "volumes"),
    multiple=True,
    metavar="NAME",
    help="Device of the trace, as `info` names it; repeatable.",
)
@click.option(
    "--range",
    "place",
    metavar="START-END",
    help="Only requests that touch these bytes of a device, e.g. 0-10GiB.",
)
@click.option("--op", "ops", multiple=True, metavar="OP", help="Operation; repeatable.")
@click.option("--first", "count", type=int, metavar="N", help="Only the first N of these requests.")
@_output
@_form
@_max_idle
def cut(
    inputs: tuple[Path, ...],
    start_ns: int,
    end_ns: int | None,
    volumes: tuple[str, ...],
    place: str | None,
    ops: tuple[str, ...],
    count: int | None,
    output: Path,
    form: str | None,
    max_idle_ns: int | None,
    **given: Any,
) -> int:
    """Write the requests that match all options.

    Times of the part count from its first request.
    """
    from spekctl.log.file import require

    require("a trace")
    from spekctl.trace.select import Cut

    start_bytes, end_bytes = _range(place)
    chosen = Cut(start_ns, end_ns, volumes, start_bytes, end_bytes, ops, count)
    chosen.check()
    return _write(inputs, output, form, chosen, max_idle_ns, given)


@command.command("fit")
@_reading
@output("Workload file to write, NAME.toml.", required=True)
@click.option("--json", "as_json", is_flag=True, help="Distances as JSON instead of text.")
def fit(inputs: tuple[Path, ...], output: Path, as_json: bool, **given: Any) -> int:
    """Make a workload from a trace, and report how well it matches.

    The workload has the trace's mix of directions and sizes, its density of addresses in bands,
    its share of sequential requests, and arrivals with its burstiness, as far as spek's laws go.
    Distances compare requests of the workload over the same time with those of the trace. The
    trace is read twice. Flushes, discards and other operations are left out.
    """
    from spekctl.commands.deliver import deliver

    files.check_writable(output)
    if output.suffix != ".toml":
        raise UsageError(f"{output}: a workload is a file called NAME.toml")
    name = _workload_name(output.stem)
    trace = _open(inputs, given, once=False)
    from spekctl.render.trace import show_fit
    from spekctl.trace.fit import fit as module
    from spekctl.workload.override import to_toml

    workload, report = module(trace, name)
    files.put(output, to_toml(workload).encode())
    deliver(report, show_fit, as_json, None)
    return _exit_code(trace)


def _workload_name(stem: str) -> str:
    """A name that a workload may have, of a file's."""
    from spekctl.workload.values import NAME_LEN_MAX

    name = re.sub(r"[^A-Za-z0-9._-]", "-", stem).lstrip("._-")[:NAME_LEN_MAX]
    return name or "twin"


def _range(text: str | None) -> tuple[int, int | None]:
    from spekctl import units

    if text is None:
        return 0, None
    start, dash, end = text.partition("-")
    if not dash:
        raise UsageError(f"--range {text}: write START-END, for example 0-10GiB")
    return units.parse_size(start), units.parse_size(end) if end else None


def _write(
    inputs: tuple[Path, ...],
    output: Path,
    form: str | None,
    chosen: Cut | None,
    max_idle_ns: int | None,
    given: dict[str, Any],
) -> int:
    if max_idle_ns == 0:
        raise UsageError("--max-idle must be more than 0")
    files.check_writable(output, streams=False)
    trace = _open(inputs, given)
    from spekctl.trace import convert as module
    from spekctl.trace.select import Cut as Whole

    module.check_output(output, trace)
    batches = (chosen or Whole()).of(trace)
    written = module.convert(trace, batches, output, module.form_of(output, form), max_idle_ns or 0)
    _tell(trace, written, output)
    return _exit_code(trace)


def _tell(trace: Trace, written: Written, output: Path) -> None:
    from spekctl.render.trace import defects
    from spekctl.trace.figures import defects as defects_of

    lines = [f"{written.records:,} requests written to {output}"]
    for line in [*lines, *written.sentences(), *defects(defects_of(trace))]:
        click.echo(f"spekctl: {line}", err=True)
