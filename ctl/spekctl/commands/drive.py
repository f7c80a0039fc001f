# SPDX-License-Identifier: GPL-2.0-or-later
"""spekctl drive: modelled disk drives."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from spekctl.cli import Group
from spekctl.commands import (
    drive_characterise,
    drive_kernel,
    drive_model,
    drive_simulate,
    drive_study,
    options,
)

if TYPE_CHECKING:
    from spekctl.drive.facts import Facts
    from spekctl.drive.flash import FlashFacts

EPILOG = """\b
Examples:
  spekctl drive models
  spekctl drive show barracuda-es --arms 4 --rpm 5200
  spekctl drive new barracuda-es --arms 4
"""


@click.group(cls=Group, epilog=EPILOG)
def command() -> None:
    """Describe, simulate and create modelled disk drives.

    A model is a TOML file that describes the geometry, seek curve, speed, arms and power of a
    drive. `spekctl drive models` lists those that come with spekctl; other models are given by
    path.
    """


command.add_command(drive_simulate.command, "simulate")
command.add_command(drive_study.command, "study")
command.add_command(drive_characterise.command, "characterise")
for subcommand in (
    drive_kernel.new,
    drive_kernel.list_drives,
    drive_kernel.stats,
    drive_kernel.fault,
    drive_kernel.delete,
):
    command.add_command(subcommand)


@command.command("models")
@options.as_json()
def models(as_json: bool) -> int:
    """List the models that come with spekctl."""
    from spekctl.drive import file, flash

    shipped = [file.load(name) for name in file.names()]
    if as_json:
        click.echo(
            json.dumps([{"name": model.name, "title": model.title} for model in shipped], indent=1)
        )
        return 0
    from spekctl.render import tables

    numbers = ("capacity", "rpm", "mean seek", "rate", "idle")
    table = tables.table("model", "drive", *numbers, right=numbers, whole=("model",))
    for model in shipped:
        if model.flash is not None:
            mechanics = ("-", "-", f"{flash.facts_of(model).read_rate / 1e6:.1f} MB/s")
        else:
            mechanics = (
                f"{model.rpm:,.0f}",
                f"{model.mean_seek_ns() / 1e6:.2f} ms",
                f"{model.sustained_rate(model.zones[0]) / 1e6:.1f} MB/s",
            )
        idle = _watts(model.watts.active_uw(len(model.arm_angles)) / 1e6) if model.profiles else "-"
        table.add_row(model.name, model.title, _gigabytes(model.capacity * 512), *mechanics, idle)
    tables.show(table)
    return 0


@command.command("show", no_args_is_help=True)
@drive_model.argument
@drive_model.changes
@options.as_json()
def show(name: str, as_json: bool, **given: Any) -> int:
    """Show MODEL: parameters, capacity, rate of each zone, seek times, power by mode.

    Of flash: channels, pages and blocks, their times, and the rates that follow from them.

    Rates are in 10^6 bytes per second: the media rate, and the sequential rate, which is lower by
    the skew at each change of track. The mean seek time is that of random pairs of cylinders.
    """
    from dataclasses import asdict

    from spekctl.drive import flash
    from spekctl.drive.facts import facts_of

    model = drive_model.take(name, given)
    facts = facts_of(model) if model.flash is None else flash.facts_of(model)
    if as_json:
        click.echo(json.dumps(asdict(facts), indent=1))
    elif isinstance(facts, flash.FlashFacts):
        _print_flash(facts)
    else:
        _print(facts)
    return 0


def _print_flash(facts: FlashFacts) -> None:
    from spekctl import units
    from spekctl.render import tables

    spare = facts.raw_bytes / facts.bytes - 1
    rows = (
        (
            "capacity",
            f"{_gigabytes(facts.bytes)}, {facts.sectors:,} sectors;"
            f" {_gigabytes(facts.raw_bytes)} of flash, {spare:.1%} more",
        ),
        (
            "channels",
            f"{facts.channels}, each with {facts.blocks:,} blocks; it collects while fewer than"
            f" {facts.low_blocks} are free",
        ),
        (
            "flash",
            f"pages of {units.format_bytes(facts.page_bytes)}, blocks of"
            f" {units.format_bytes(facts.block_bytes)}",
        ),
        (
            "times",
            f"{facts.read_ms:g} ms to read a page, {facts.program_ms:g} ms to program it,"
            f" {facts.erase_ms:g} ms to erase a block",
        ),
        (
            "rates",
            f"{facts.read_rate / 1e6:.1f} MB/s to read, {facts.write_rate / 1e6:.1f} MB/s to write"
            " while blocks are free",
        ),
        ("write buffer", units.format_bytes(facts.buffer_bytes) if facts.buffer_bytes else "none"),
        ("tables", f"{units.format_bytes(facts.table_bytes)} of memory in the kernel"),
    )
    click.echo(f"{facts.name}: {facts.title}")
    for what, text in rows:
        click.echo(f"  {what:<13} {text}")
    if facts.watts:
        click.echo()
        modes = ("standby", "idle", "reading", "writing", "erasing")
        table = tables.table("profile", *modes, right=modes)
        for state in facts.watts:
            table.add_row(state.profile, *(_watts(getattr(state, mode)) for mode in modes))
        tables.show(table)
    click.echo("\nsources:")
    for source in facts.sources:
        click.echo(f"  {source}")


def _print(facts: Facts) -> None:
    from spekctl.render import tables

    rows = (
        ("capacity", f"{_gigabytes(facts.bytes)}, {facts.sectors:,} sectors"),
        ("speed", f"{facts.rpm:,.0f} rpm, {facts.turn_ms:.3f} ms per revolution"),
        ("surfaces", f"{facts.heads}, {facts.cylinders:,} cylinders, layout {facts.layout}"),
        ("arms", _arms(facts)),
        ("parallelism", f"{facts.dash} (disk stacks, arm assemblies, surfaces, heads)"),
        (
            "seek",
            f"{facts.one_cylinder_seek_ms:.3f} ms track to track, {facts.mean_seek_ms:.3f} ms"
            f" mean, {facts.full_seek_ms:.3f} ms full stroke ({facts.seek_curve})",
        ),
        (
            "other times",
            f"head switch {facts.head_switch_ms:g} ms, write settle {facts.settle_ms:g} ms,"
            f" overhead {facts.overhead_ms:g} ms",
        ),
        ("random 4 KiB", f"{facts.random_read_ms:.2f} ms per read, one arm, queue depth 1"),
    )
    click.echo(f"{facts.name}: {facts.title}")
    for what, text in rows:
        click.echo(f"  {what:<13} {text}")
    click.echo()
    numbers = ("zone", "cylinder", "cylinders", "sectors/track", "LBA", "media", "sequential")
    table = tables.table(*numbers, right=numbers)
    for number, zone in enumerate(facts.zones):
        table.add_row(
            str(number),
            str(zone.first_cylinder),
            str(zone.cylinders),
            str(zone.sectors_per_track),
            str(zone.first_lba),
            f"{zone.media_rate / 1e6:.2f} MB/s",
            f"{zone.sustained_rate / 1e6:.2f} MB/s",
        )
    tables.show(table)
    if facts.watts:
        click.echo()
        modes = ("standby", "starting", "idle", "seeking", "waiting", "reading", "writing")
        every = "all arms moving"
        table = tables.table("profile", *modes, every, right=(*modes, every))
        for state in facts.watts:
            cells = [_watts(getattr(state, mode)) for mode in (*modes, "all_arms_moving")]
            table.add_row(state.profile, *cells)
        tables.show(table)
    click.echo("\nsources:")
    for source in facts.sources:
        click.echo(f"  {source}")


def _arms(facts: Facts) -> str:
    if facts.arms == 1:
        return "1"
    angles = ", ".join(f"{angle:.3g}" for angle in facts.arm_angles)
    reach = "each serves its own range of LBAs" if facts.split else "each reaches every LBA"
    return f"{facts.arms} at {angles} revolutions, {reach}; {facts.channels} active at a time"


def _gigabytes(count: float) -> str:
    return f"{count / 1e9:,.1f} GB" if count < 999.5e9 else f"{count / 1e12:,.2f} TB"


def _watts(watts: float) -> str:
    return f"{watts:.2f} W"
