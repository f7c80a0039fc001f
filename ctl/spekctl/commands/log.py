# SPDX-License-Identifier: GPL-2.0-or-later
"""spekctl log: a summary of a per-I/O log, or its records as CSV."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from spekctl.commands.options import FilePath

if TYPE_CHECKING:
    from rich.table import Table

    from spekctl.log.file import LogFile
    from spekctl.log.stats import Cell, Selection, Summary, Times

EPILOG = """\b
Examples:
  spekctl log out.parquet
  spekctl log out.parquet --csv --stream 1-2 --phase measure > 1-2.csv

The log is a Parquet file, which pandas, polars and DuckDB read as well. Its columns op, phase,
stream, asu and error are names (error: none, EIO etc.); times are CLOCK_MONOTONIC in nanoseconds.
Response time is completion minus arrival, service time is completion minus issue.
"""


@click.command(epilog=EPILOG, no_args_is_help=True)
@click.argument("file", type=FilePath(dir_okay=False, path_type=Path))
@click.option(
    "--summary", "form", flag_value="summary", default="summary", help="Print a summary (default)."
)
@click.option("--csv", "form", flag_value="csv", help="Print every I/O as a line of CSV.")
@click.option("--stream", metavar="NAME", help="Only I/Os of this stream.")
@click.option(
    "--phase",
    type=click.Choice(["measure", "all"]),
    help="Only I/Os of the measure phase, or all I/Os.  [default: --summary: measure, --csv: all]",
)
@click.option("--first", "limit", type=int, metavar="N", help="Only the first N selected I/Os.")
def command(file: Path, form: str, stream: str | None, phase: str | None, limit: int | None) -> int:
    """Summarize the per-I/O log FILE, written by `spekctl run --log`, or convert it to CSV.

    The summary is exact: percentiles are computed from all values, not from histogram buckets.
    An I/O is sequential if it begins where the previous arrival of the same stream (and BSU) ended.
    "rewritten" is the share of 4 KiB blocks that the stream had already accessed in that direction.
    Failed I/Os count as errors and arrivals only.
    """
    from spekctl.log import file as log_file
    from spekctl.log.stats import Selection, summarize

    log = log_file.open_log(file)
    phase = phase or ("measure" if form == "summary" else "all")
    selection = Selection.of(log.header, stream, phase, limit)
    if form == "csv":
        _write_csv(log, selection)
    else:
        _print_summary(file, phase, summarize(log, selection))
    return 0


# --- CSV -----------------------------------------------------------------------------------------


def _write_csv(log: LogFile, selection: Selection) -> None:
    import numpy as np
    import pyarrow as pa
    import pyarrow.csv as csv

    from spekctl.cells import unquoted
    from spekctl.log.file import COLUMNS, Names
    from spekctl.render.output import reader_left

    words = Names(log.header.streams, [asu.name for asu in log.header.asus]).words()
    del words["error"]  # a number in CSV: 0 is none
    words["op"] = ["read", *log.header.of_writes()]
    words = {name: list(map(unquoted, names)) for name, names in words.items()}
    forced = np.array(log.header.fua or [False] * len(log.header.streams), np.uint8)
    out = sys.stdout.buffer
    out.write(",".join((*COLUMNS, "fua")).encode() + b"\n")
    plain = csv.WriteOptions(include_header=False, quoting_style="none")
    for rows in selection.rows(log, COLUMNS):
        log.check_named(stream=rows["stream"], asu=rows["asu"])
        fua = np.where(rows["op"] == 0, np.uint8(0), forced[rows["stream"]])
        # A write of a stream is what the stream does.
        rows["op"] = np.where(rows["op"] == 0, 0, rows["stream"].astype(np.int64) + 1)
        values = {name: pa.array(rows[name]) for name in COLUMNS}
        values |= {
            name: pa.array(names, pa.string()).take(values[name]) for name, names in words.items()
        }
        csv.write_csv(pa.table(values | {"fua": fua}), out, plain)
        if reader_left():
            return
    out.flush()


# --- summary -------------------------------------------------------------------------------------


def _print_summary(file: Path, phase: str, summary: Summary) -> None:
    from spekctl.render.console import wide

    out = wide(120)
    for line in _head(file, phase, summary):
        out.print(line, soft_wrap=True)
    if not summary.records:
        return
    for table in (_load_table(summary), _times_table(summary), _places_table(summary)):
        out.print()
        out.print(table)
    for line in _foot(summary):
        out.print(line, soft_wrap=True)


def _head(file: Path, phase: str, summary: Summary) -> list[str]:
    from spekctl import units

    header = summary.header
    targets = ", ".join(
        f"{target.path} ({units.format_bytes(target.bytes)})" for target in header.targets
    )
    state = "complete" if header.complete else f"not complete, the run ended with: {header.reason}"
    lines = [
        f"{file}: {header.records:,} records of {header.workload} on {targets},"
        f" {header.lost:,} lost; {state}",
        f"  seed {header.seed}, {header.workers} workers, started {_date(header.start_real_ns)},"
        f" spek {header.module_version}",
    ]
    which = "of the measure phase" if phase == "measure" else "of all phases"
    if not summary.records:
        return [*lines, f"  no I/O {which} matches"]
    lines.append(
        f"  below: {summary.records:,} I/Os {which}, first arrival to last completion"
        f" {units.format_ns(summary.span_ns)}, {summary.outstanding:.1f} outstanding on average"
    )
    return lines


def _date(real_ns: int) -> str:

    from spekctl.documents.document import timestamp

    return timestamp(real_ns)


@dataclass(frozen=True, slots=True)
class _Row:
    """A line of the tables."""

    name: str
    op: str
    is_sum: bool
    cell: Cell


def _rows(summary: Summary) -> list[_Row]:
    """The streams, then the sums."""
    from spekctl.log.file import OPS

    names, cells = summary.header.streams, summary.cells
    return [
        _Row(
            name=names[stream] if stream is not None else "all",
            op=OPS[op] if op is not None else "both",
            is_sum=stream is None,
            cell=cells[stream, op],
        )
        for stream in [*range(len(names)), None]
        for op in (0, 1, None)
        if (stream, op) in cells
    ]


def _table(*names: str) -> Table:
    from rich.table import Table as RichTable

    table = RichTable(box=None, padding=(0, 0, 0, 2), collapse_padding=True)
    for index, name in enumerate(names):
        table.add_column(name, justify="right" if index > 1 else "left", no_wrap=True)
    return table


def _load_table(summary: Summary) -> Table:
    from spekctl import units

    table = _table(
        "load",
        "",
        "I/Os",
        "share",
        "bytes",
        "mean size",
        "IOPS",
        "MiB/s",
        "mean gap",
        "CV",
        "errors",
    )
    everything = summary.cells[None, None].ios
    seconds = summary.span_ns / 1e9
    for row in _rows(summary):
        cell, gaps = row.cell, row.cell.gaps
        table.add_row(
            row.name,
            row.op,
            f"{cell.ios:,}",
            f"{cell.ios / everything:.2%}" if everything else "-",
            units.format_bytes(cell.bytes),
            units.format_bytes(round(cell.bytes / cell.ios)) if cell.ios else "-",
            units.format_rate(cell.ios / seconds) if seconds else "-",
            f"{cell.bytes / seconds / (1 << 20):,.1f}" if seconds else "-",
            units.format_ns(gaps.mean_ns) if gaps is not None else "-",
            f"{gaps.cv:.3f}" if gaps is not None else "-",
            f"{cell.errors:,}",
        )
    return table


def _times_table(summary: Summary) -> Table:
    figures = ("mean", "p50", "p99", "p99.9", "max")
    table = _table("response | service", "", *figures, *(f"| {name}" for name in figures))
    for row in _rows(summary):
        response, service = _figures(row.cell.response), _figures(row.cell.service)
        table.add_row(row.name, row.op, *response, *service)
    return table


def _figures(times: Times | None) -> list[str]:
    from spekctl import units

    if times is None:
        return ["-"] * 5
    values = (times.mean_ns, times.p50_ns, times.p99_ns, times.p999_ns, times.max_ns)
    return [units.format_ns(value) for value in values]


def _places_table(summary: Summary) -> Table:
    from spekctl import units

    table = _table("places", "", "4 KiB blocks", "distinct", "footprint", "rewritten", "sequential")
    for row in _rows(summary):
        cell = row.cell
        sequential = f"{cell.sequential / cell.ios:.1%}" if cell.ios else "-"
        if row.is_sum:
            # Blocks of different asus are different blocks: those are in the lines below.
            table.add_row(row.name, row.op, f"{cell.blocks:,}", "", "", "", sequential)
            continue
        table.add_row(
            row.name,
            row.op,
            f"{cell.blocks:,}",
            f"{cell.distinct:,}",
            units.format_bytes(cell.distinct * 4096),
            f"{cell.rewritten:.2%}",
            sequential,
        )
    return table


def _foot(summary: Summary) -> list[str]:
    from spekctl import units

    lines = [""]
    for number, blocks in sorted(summary.asu_blocks.items()):
        asu = summary.header.asus[number]
        touched = blocks * 4096
        lines.append(
            f"  asu {asu.name}: touched {units.format_bytes(touched)} of"
            f" {units.format_bytes(asu.bytes)} ({touched / asu.bytes:.1%})"
        )
    if summary.errors:
        lines.append(f"  errors by cause: {_causes(summary.errors)}")
    return lines


def _causes(errors: dict[int, int]) -> str:
    from spekctl.run.build import cause

    return ", ".join(f"{cause(code)} {count:,}" for code, count in sorted(errors.items()))
