# SPDX-License-Identifier: GPL-2.0-or-later
"""spekctl energy check: the best of several configurations, and Energy Star's checklist."""

from __future__ import annotations

import json
from pathlib import Path

import click

from spekctl.commands import options
from spekctl.errors import ExitCode, UsageError

EPILOG = """\b
Examples:
  spekctl energy check emerald-24/energy.json emerald-96/energy.json \\
      capacity.json
  spekctl energy check emerald-*/energy.json --drawer 24 --least-methods 2

\b
Disclosures of reports (--disclose of `spekctl energy emerald`) that count:
  drives=N                   of the configuration; else the tested devices are
                             counted
  parity RAID, adaptive cooling, power monitoring
                             yes or no
  power supplies             such as silver or gold
  deduplication, compression, thin provisioning, read-only delta snapshots,
  writeable delta snapshots  yes or no; or a report of `energy capacity`
"""


@click.command(epilog=EPILOG, no_args_is_help=True)
@options.reports
@click.option(
    "--drawer",
    type=click.IntRange(1, 10_000),
    metavar="N",
    help="Drives in a full drawer; from 150 drives on, ranges are rounded to full drawers.",
)
@click.option(
    "--least-methods",
    type=click.IntRange(0, 5),
    metavar="N",
    help="Required number of capacity optimization methods.  [default: they are only counted]",
)
@options.as_json("Table")
def command(
    reports: tuple[Path, ...], drawer: int | None, least_methods: int | None, as_json: bool
) -> int:
    """Take each metric from the best configuration; check Energy Star's list.

    Each REPORT is one of `spekctl energy emerald` for a configuration of the product, or one of
    `spekctl energy capacity`. Phases beyond their limits do not count. Beside each metric is the
    range of drives, from -20 % to +5 %, of products that its best configuration represents.
    A disclosure that differs between reports is unknown; a method counts if any configuration has
    shown it.

    The exit code is 0 if each entry of the checklist is fulfilled, else 7.
    """
    from spekctl.campaigns.emerald.best import configuration, judge
    from spekctl.documents import document
    from spekctl.documents.document import Kind, identify
    from spekctl.documents.energy import CapacityReport, load_emerald
    from spekctl.render.energy import print_judged

    configurations, capacities = [], []
    for path in reports:
        kind = identify(path, [Kind.EMERALD, Kind.CAPACITY], "the checklist is of")
        if kind is Kind.CAPACITY:
            capacities.append(document.read(path, CapacityReport))
        else:
            configurations.append(configuration(path, load_emerald(path)))
    if not configurations:
        raise UsageError("give at least one report of `spekctl energy emerald`")
    judged = judge(configurations, capacities, drawer, least_methods)
    if as_json:
        from msgspec import to_builtins

        click.echo(json.dumps(to_builtins(judged), indent=1))
    else:
        print_judged(judged)
    return int(ExitCode.OK if judged.is_complete else ExitCode.LIMIT_MISSED)
