# SPDX-License-Identifier: GPL-2.0-or-later
"""spekctl energy dcse: GB, IOPS and MB/s per watt of a system in operation."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from spekctl.commands import options
from spekctl.commands.options import FilePath, output
from spekctl.errors import UsageError

if TYPE_CHECKING:
    from spekctl.campaigns.dcse.figures import Inputs
    from spekctl.documents.energy import DcseReport

EPILOG = """\b
Examples:
  spekctl energy dcse --gigabytes 18688 --idle-watts 1960 --iops 35000 --load-watts 2453
  spekctl energy dcse --from after.toml --against before.toml

\b
A file has the same numbers, all optional:
  gigabytes = 18688        # 10^9 bytes
  idle_watts = 1960
  load_watts = 2453
  iops = 35000
  megabytes_per_s = 410    # 10^6 bytes per second
"""


@click.command(epilog=EPILOG, no_args_is_help=True)
@click.option(
    *("--from", "source"),
    type=FilePath(path_type=Path),
    metavar="FILE",
    help="Read the numbers from a TOML file.",
)
@click.option("--gigabytes", metavar="GB", help="Capacity, 10^9 bytes.")
@click.option("--idle-watts", metavar="W", help="Power when idle.")
@click.option("--load-watts", metavar="W", help="Power under load.")
@click.option("--iops", metavar="N", help="I/Os per second under load.")
@click.option("--megabytes-per-s", metavar="N", help="Throughput, 10^6 bytes per second.")
@click.option(
    "--against",
    type=FilePath(path_type=Path),
    metavar="FILE",
    help="Compare with the system that this TOML file describes.",
)
@options.as_json("Report")
@output("Write the report as JSON to FILE.")
def command(
    source: Path | None,
    against: Path | None,
    as_json: bool,
    output: Path | None,
    **numbers: str | None,
) -> int:
    """Compute DCsE figures of a system from measurements of its operation.

    Figures are computed exactly and printed with two decimals. Those whose inputs are missing are
    left out.
    """
    from spekctl import files
    from spekctl.campaigns import inputs
    from spekctl.commands.deliver import deliver
    from spekctl.render.document import print_contents

    files.check_writable(output)
    files.check_apart(output, [one for one in (source, against) if one is not None])
    given = {name: text for name, text in numbers.items() if text is not None}
    if source is not None and given:
        name = next(iter(given)).replace("_", "-")
        raise UsageError(f"--from and --{name} exclude each other: both give numbers")
    known = inputs.dcse_inputs(source) if source is not None else _typed_in(given)
    other = inputs.dcse_inputs(against) if against is not None else None
    report = _report(known, other, str(source or "command line"))
    deliver(report, print_contents, as_json, output)
    return 0


def _typed_in(given: dict[str, str]) -> Inputs:
    from spekctl.campaigns.dcse import figures as dcse
    from spekctl.campaigns.inputs import fraction_of

    known = dcse.Inputs(
        **{name: fraction_of(text, f"--{name.replace('_', '-')}") for name, text in given.items()}
    )
    text = dcse.fault(known)
    if text:
        raise UsageError(text)
    return known


def _report(known: Inputs, other: Inputs | None, source: str) -> DcseReport:
    from spekctl.campaigns.dcse.report import build

    return build(known, other, source)
