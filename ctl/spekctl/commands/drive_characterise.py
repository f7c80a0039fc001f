# SPDX-License-Identifier: GPL-2.0-or-later
"""spekctl drive characterise: measure a disk and write its model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from spekctl.commands import options
from spekctl.errors import SpekError, UsageError

if TYPE_CHECKING:
    from spekctl.drive.probe import FoundCache

EPILOG = """\b
Examples:
  spekctl drive characterise /dev/sdb -o mine.toml
  spekctl drive show ./mine.toml
  sdparm --set RCD=1 /dev/sdb        (switches the read cache off)
"""


@click.command(epilog=EPILOG, no_args_is_help=True)
@click.argument("device", metavar="DEV", shell_complete=options.complete_device)
@click.option("--title", metavar="TEXT", help="Title of the model.  [default: model of the device]")
@click.option(
    "--repeats",
    type=click.Choice(["1", "3", "5", "7"]),
    default="3",
    show_default=True,
    help="Measurements per angle; use more on a busy system.",
)
@click.option(
    "--points",
    type=click.IntRange(10, 1000),
    default=60,
    show_default=True,
    metavar="N",
    help="Points of the seek curve.",
)
@click.option("--cache", "only_cache", is_flag=True, help="Measure the read cache only.")
@options.output("Write the model to FILE instead of standard output.")
def command(
    device: str,
    title: str | None,
    repeats: str,
    points: int,
    only_cache: bool,
    output: Path | None,
) -> int:
    """Measure a disk with rotating platters, and write a model file of it.

    The measurement reads thousands of single sectors in a few minutes and writes nothing; the disk
    must be idle. The read cache is measured first: hit time, segments, read-ahead. Everything else
    (speed, heads, zones with their skews, seek curve) requires it to be off. Banded track layouts,
    which recent disks have, are not supported.
    """
    from spekctl import files
    from spekctl.block import device as block_device
    from spekctl.block.disk import RealDisk
    from spekctl.drive.describe import model_text
    from spekctl.drive.probe import Probe

    files.check_writable(output)
    found_device = block_device.find(device)
    if not found_device.rotational:
        raise UsageError(f"{device} has no rotating platters; only disks that have can be measured")
    name = title or found_device.model or device
    with RealDisk(device, (found_device.major, found_device.minor)) as disk:
        probe = Probe(disk, int(repeats), _tell)
        cache = probe.cache()
        _tell_cache(cache)
        if only_cache:
            return 0
        if cache.hit_ns:
            raise SpekError(
                f"{device} serves repeated reads from its cache; to measure the platters,"
                f" switch it off: sdparm --set RCD=1 {device}"
            )
        measured = probe.measure(points)
    text = model_text(measured, cache, name, f"spekctl drive characterise {device}")
    if output is not None:
        files.put(output, text.encode())
        click.echo(f"spekctl: model written to {output}", err=True)
    else:
        click.echo(text, nl=False)
    return 0


def _tell(what: str) -> None:
    click.echo(f"spekctl: measuring {what}", err=True)


def _tell_cache(cache: FoundCache) -> None:
    if not cache.hit_ns:
        click.echo("spekctl: no read cache", err=True)
        return
    click.echo(
        f"spekctl: read cache: a hit takes {cache.hit_ns / 1e6:.3f} ms, {cache.segments} segments,"
        f" {cache.ahead_sectors // 2} KiB of read-ahead",
        err=True,
    )
