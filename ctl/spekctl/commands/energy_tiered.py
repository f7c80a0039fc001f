# SPDX-License-Identifier: GPL-2.0-or-later
"""spekctl energy tiered: steps of the recipe that compares one tier of storage with two."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import click

from spekctl.cli import Group
from spekctl.commands import options
from spekctl.errors import UsageError

EPILOG = """\b
The complete case, which needs the power of all disks (see daq/README.md):
  sudo ctl/recipes/tiered-storage SLOW FAST DIR --quick
It runs these steps:
  spekctl energy spc1e --device SLOW --write --folder DIR/single
  spekctl energy tiered map --slow SLOW --fast FAST --write > DIR/tiered.table
  dmsetup create spek-tiered --uuid UUID DIR/tiered.table
  spekctl energy spc1e --device /dev/mapper/spek-tiered --write \\
      --folder DIR/tiered
  spekctl energy tiered compare DIR/single DIR/tiered
"""


@click.group(cls=Group, epilog=EPILOG)
def command() -> None:
    """Compare one tier of storage with two: IOPS, W, IOPS/W and DCsE.

    The SPC-1-like load concentrates on fixed ranges, a sixth of the capacity. `map` prints the
    table of a device that has these ranges on a fast disk and the remainder on a slow one, where a
    tiering array would eventually move them. `compare` shows the SPC-1/E-like tests of the slow
    disk alone and of both disks side by side. Results are SPC-1/E-like and unaudited.
    """


@command.command("map")
@click.option("--slow", required=True, metavar="DEV", help="Disk for all other ranges.")
@click.option("--fast", required=True, metavar="DEV", help="Disk for the dense ranges.")
@options.load_options("write")
@options.destroy
def print_map(slow: str, fast: str, write: bool, destroy: tuple[str, ...]) -> int:
    """Print a device-mapper table of both disks, for `dmsetup create`.

    A test of that device overwrites both disks, so both must be unused, and either hold no data or
    be named with --destroy, as for a run that writes. The ranges on the fast disk are listed on
    standard error. The device has the capacity of the slow disk.

    The first line of the table is a comment with a UUID of both disks. Give it to `dmsetup create
    --uuid`: a test of that device is then resumed on the same two disks only.
    """
    from spekctl import units
    from spekctl.block import device, safety
    from spekctl.campaigns.tiered import layout
    from spekctl.documents.spc1 import WORKLOAD
    from spekctl.run import candidates, request
    from spekctl.workload.options import Options

    disks = [device.find(slow), device.find(fast)]
    subject = request.find(WORKLOAD, [slow])
    config = request.build(subject, Options(bsu=1, write=write)).config
    hot = layout.hot_ranges(config, disks[0].bytes)
    layout.check_room(hot, *disks)
    if destroy:
        safety.check_named(disks, destroy)
    for disk in disks:
        remark = safety.check_write(
            disk, disk.diskseq, destroy, write, known=candidates.runs_and_claims
        )
        if remark:
            click.echo(f"spekctl: {remark}", err=True)
    for spot in hot:
        click.echo(
            f"spekctl: {units.format_bytes(spot.bytes)} at {units.format_bytes(spot.start)}"
            f" with {spot.share:.1%} of the I/Os",
            err=True,
        )
    click.echo(layout.device_map(hot, *disks), nl=False)
    return 0


_FOLDER = options.FilePath(file_okay=False, path_type=Path)


@command.command("compare")
@click.argument("single", type=_FOLDER)
@click.argument("tiered", type=_FOLDER)
@click.option("--single-gigabytes", metavar="GB", help="Raw capacity of the single tier.")
@click.option("--tiered-gigabytes", metavar="GB", help="Raw capacity of both tiers.")
@click.option("--json", "as_json", is_flag=True, help="DCsE report as JSON instead of the table.")
def compare(
    single: Path,
    tiered: Path,
    single_gigabytes: str | None,
    tiered_gigabytes: str | None,
    as_json: bool,
) -> int:
    """Show two tests of `spekctl energy spc1e`, folders SINGLE and TIERED.

    I/Os per second and power under load are those of the IOPS phase, power when idle is that of the
    idle test. Capacity is that of the tested device unless the raw capacity is given. Figures that
    were not measured are shown as '-', and so are changes if the tests differ in more than their
    devices; a sentence below the table says why.
    """
    from spekctl import files
    from spekctl.campaigns.dcse.report import build
    from spekctl.campaigns.tiered.compare import remarks, rows, side_of, unlike
    from spekctl.render.energy import print_comparison

    before = side_of(single, _gigabytes(single_gigabytes, "--single-gigabytes"))
    after = side_of(tiered, _gigabytes(tiered_gigabytes, "--tiered-gigabytes"))
    comparable, said = not unlike(before, after), remarks(before, after)
    if as_json:
        baseline = before.known if comparable else None
        report = build(after.known, baseline, f"{tiered} against {single}", remarks=said)
        click.echo(files.encode(report).decode(), nl=False)
    else:
        compared = rows(before.known, after.known, comparable=comparable)
        table = [(row.what, row.unit, *row.figures) for row in compared]
        print_comparison("SPC-1/E-like, unaudited: one tier against two", table, said)
    return 0


def _gigabytes(text: str | None, option: str) -> Fraction | None:
    from spekctl.campaigns.inputs import fraction_of

    if text is None:
        return None
    value = fraction_of(text, option)
    if value <= 0:
        raise UsageError(f"{option} must be more than 0, not {text}")
    return value
