# SPDX-License-Identifier: GPL-2.0-or-later
"""spekctl energy compare: the metrics of several methods for the same system in a table."""

from __future__ import annotations

import json
from pathlib import Path

import click

from spekctl.commands import options

EPILOG = """\b
Examples:
  spekctl energy compare sdb-spc1e/energy.json sdb-spc2e/energy.json \\
      sdb-emerald/energy.json
  spekctl energy compare sdb-spc1e/energy.json dcse.json --json
"""


@click.command(epilog=EPILOG, no_args_is_help=True)
@options.reports
@options.as_json("Table")
def command(reports: tuple[Path, ...], as_json: bool) -> int:
    """Show work per watt of a system by several methods in a table.

    Each REPORT is one of `spekctl energy spc1e`, `spc2e`, `emerald` or `dcse`. Each metric is shown
    with its load and with the work and watts of which it is the ratio. The methods answer different
    questions: SPC-1/E and SPC-2/E weight loads by hours of use, Emerald takes each load at its most
    efficient point, and DCsE takes the system in operation.

    Reports of different devices are shown with a remark.
    """
    from spekctl.campaigns.efficiency import compare
    from spekctl.render.energy import print_metrics

    compared = compare(reports)
    if as_json:
        from msgspec import to_builtins

        rows = [to_builtins(row._asdict()) for row in compared.rows]
        click.echo(json.dumps({"metrics": rows, "remarks": compared.remarks}, indent=1))
    else:
        print_metrics(compared.rows, compared.remarks)
    return 0
