# SPDX-License-Identifier: GPL-2.0-or-later
"""spekctl devices: which devices can be tested, and who holds the others."""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING

import click

from spekctl.commands import options

if TYPE_CHECKING:
    from spekctl.run.candidates import Candidate


@click.command()
@click.option(
    "--all", "everything", is_flag=True, help="Include RAM disks, drives without a medium, etc."
)
@options.as_json()
def command(everything: bool, as_json: bool) -> int:
    """List block devices, which of them can be tested, and who holds the others.

    The id is the value that --destroy takes.
    """
    from spekctl.run import candidates
    from spekctl.units import format_bytes

    rows = candidates.every(everything)
    if as_json:
        click.echo(json.dumps([dataclasses.asdict(row) for row in rows], indent=1))
        return 0
    if not rows:
        click.echo("spekctl: no block devices found; --all shows unusual ones", err=True)
        return 0

    from spekctl.render import tables

    # Few devices have atomic writes: a column that would be empty is left out.
    atomic = any(row.atomic_max for row in rows)
    names = ("device", "size", "block", *(["atomic"] if atomic else []), "model", "id")
    names += ("may be tested",)
    table = tables.table(*names, right=("size", "block"), whole=("device",))
    for row in rows:
        indent = " " if row.partition_of else ""
        table.add_row(
            f"{indent}{row.path}",
            format_bytes(row.bytes),
            str(row.logical_block),
            *([_atomic_text(row)] if atomic else []),
            row.model,
            row.id,
            row.state,
        )
    tables.show(table)
    return 0


def _atomic_text(row: Candidate) -> str:
    from spekctl.units import format_bytes

    if not row.atomic_max:
        return ""
    return f"{format_bytes(row.atomic_min)} to {format_bytes(row.atomic_max)}"
