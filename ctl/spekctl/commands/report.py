# SPDX-License-Identifier: GPL-2.0-or-later
"""spekctl report: documents as one HTML file."""

from __future__ import annotations

from pathlib import Path

import click

from spekctl.commands import options
from spekctl.commands.options import FilePath, check_labels
from spekctl.commands.options import data_sheet as data_sheet_option
from spekctl.commands.options import title as title_option

EPILOG = """\b
Examples:
  spekctl report spc1.json
  spekctl report before.json after.json --label before --label after \\
      -o change.html
  # a result and the log of the same run
  spekctl report run.json run.parquet -o run.html
"""


@click.command(epilog=EPILOG, no_args_is_help=True)
@click.argument(
    "inputs", type=FilePath(path_type=Path), nargs=-1, required=True, metavar="RESULT..."
)
@click.option(
    "-o",
    "--output",
    type=FilePath(dir_okay=False, path_type=Path),
    metavar="FILE",
    help=f"HTML file to write. {options.OLDER_EXPORT}"
    "  [default: INPUT-report.html in the current directory]",
)
@click.option(
    *("--label", "labels"),
    multiple=True,
    metavar="TEXT",
    help="Name of a result in the report; give one per file, in their order."
    "  [default: names of the files]",
)
@title_option
@data_sheet_option
def command(
    inputs: tuple[Path, ...],
    output: Path | None,
    labels: tuple[str, ...],
    title: str,
    data_sheet: str | None,
) -> int:
    """Make an HTML page of results: headline, remarks, plots, tables, limits and conditions.

    The page is one file that needs no network, no other file and no server; it can be mailed and
    printed. Any result, load curve, report, verdict, study, per-I/O log or stored trace that
    spekctl writes can be in it; the same plots of several files are laid over each other.
    The name of the page goes to standard output.

    --data-sheet adds the table of `spekctl show --data-sheet` to each result that the sheet covers.
    """
    from spekctl import files
    from spekctl.commands import aside
    from spekctl.report import page

    check_labels(labels, inputs)
    place = output or Path(f"{inputs[0].stem}-report.html")
    sources = [*inputs, *([Path(data_sheet)] if data_sheet is not None else [])]
    files.check_apart(place, sources)
    page.require()
    files.check_writable(place)
    from spekctl.report import read

    read.check_readable(inputs)

    def write() -> int:
        files.put(place, page.html(read.sheets(inputs, labels, data_sheet), title))
        return 0

    aside.carry_out([place], sources, write, any_kind=True)
    if place not in (Path("/dev/stdout"), Path("/dev/fd/1")):
        click.echo(place)
    return 0
