# SPDX-License-Identifier: GPL-2.0-or-later
"""spekctl energy capacity: bytes written against bytes stored."""

from __future__ import annotations

import contextlib
from pathlib import Path

import click

from spekctl.commands import options

EPILOG = """\b
Examples:
  spekctl energy capacity --device /dev/zram0 --write
  spekctl energy capacity --device /dev/mapper/thin1 --write --size 1GiB \\
      -o capacity.json
  spekctl energy capacity --device /dev/sdb --write \\
      --stored 'ssh array used-bytes pool0'
"""
DEFAULT_SIZE = 64 << 20


@click.command(epilog=EPILOG, no_args_is_help=True)
@click.option("--device", required=True, metavar="DEV", help="Device to test.")
@options.write
@options.destroy
@click.option(
    "--size",
    type=options.SIZE,
    default=str(DEFAULT_SIZE),
    show_default="64MiB",
    help="Size of each of the three data sets, which are written from the start of the device on.",
)
@click.option(
    "--stored",
    "stored_command",
    metavar="COMMAND",
    help="Command that prints how many bytes are stored, for devices other than zram, dm-thin and"
    " dm-vdo.",
)
@click.option(
    "--least",
    "least_percent",
    type=options.PercentRange(1, 99, whole=True),
    default="25",
    show_default=True,
    metavar="P",
    help="Least saving, in per cent, that shows compression or deduplication.",
)
@options.seed
@options.as_json("Report")
@options.result("Write the report as JSON to FILE.")
@options.progress
def command(
    device: str,
    write: bool,
    destroy: tuple[str, ...],
    size: int,
    stored_command: str | None,
    least_percent: int,
    seed: int,
    as_json: bool,
    output: Path | None,
    progress: str,
) -> int:
    """Find out which capacity optimization methods a device has.

    Three data sets of the same size are written to discarded space: irreducible data, compressible
    data, and data with repeated blocks. Less space for the second or the third shows compression or
    deduplication; space that grows with writes and shrinks with a discard shows thin provisioning.
    On dm-thin a snapshot is taken and a quarter of the data rewritten. Parity RAID is recognized if
    it is an md array below the device. The data in the first 3 x --size of the device are lost.

    dm-thin counts the blocks of its whole pool: nothing else may write to the pool meanwhile, and a
    pool without room for the whole test is refused. The snapshot gets the highest free number of
    the pool, from 16777215 down. It is deleted, also if spekctl is killed; after a power cut delete
    it with `dmsetup message POOL 0 'delete NUMBER'`. If an array optimizes in the background, the
    COMMAND of --stored has to wait for that. The exit code is 0 whichever methods the device has.
    """
    from spekctl import files
    from spekctl.block import device as devices
    from spekctl.block import stored
    from spekctl.campaigns import capacity
    from spekctl.commands.deliver import deliver
    from spekctl.kernel import client
    from spekctl.render import series
    from spekctl.render.document import print_contents
    from spekctl.run.replay_request import discards

    files.check_writable(output)
    (target,) = devices.targets((device,))
    unit = capacity.unit_of(target) if discards(target) else 0
    capacity.check(target, size, unit)
    source = stored.of(target, stored_command)
    capacity.check_room(source, size)
    plan = capacity.Plan(size, least_percent, unit)
    view = series.SeriesProgress(progress, f"capacity optimization of {target.path}")
    with contextlib.closing(client.connect()) as kernel:
        try:
            steps = capacity.carry_out(plan, target, source, write, destroy, seed, kernel, view)
        finally:
            view.close()
    deliver(capacity.report(target, source, plan, steps), print_contents, as_json, output)
    return 0
