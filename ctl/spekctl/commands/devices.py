# SPDX-License-Identifier: GPL-2.0-or-later
"""spekctl devices: which devices can be tested, and who holds the others."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from spekctl.errors import SpekError

if TYPE_CHECKING:
    from spekctl.kernel.records import RunInfo


@click.command()
@click.option(
    "--all", "everything", is_flag=True, help="Include RAM disks, drives without a medium, etc."
)
@click.option("--json", "as_json", is_flag=True, help="As JSON on standard output.")
def command(everything: bool, as_json: bool) -> int:
    """List block devices, which of them can be tested, and who holds the others.

    The id is the value that --destroy takes.
    """
    from spekctl.block import device, safety
    from spekctl.units import format_bytes

    runs = _runs()
    opened = list(safety.opened_devices())
    rows = []
    for one in device.every(everything=everything):
        in_use = safety.verdict(one, runs=runs)
        writers = safety.writers(one, opened)
        found = safety.data_on(one)
        rows.append(
            {
                "path": one.node,
                "bytes": one.bytes,
                "logical_block": one.logical_block,
                "model": one.model or one.driver,
                "id": one.identity,
                "serial": one.serial,
                "wwn": one.wwn,
                "driver": one.driver,
                "partition_of": one.disk if one.partition else None,
                "read_only": one.read_only,
                "in_use": in_use,
                "open_for_writing": writers,
                "data": None if found is None else [str(signature) for signature in found],
                "state": _state(in_use, safety.unwritable(one), writers, found),
            }
        )
    if as_json:
        click.echo(json.dumps(rows, indent=1))
        return 0
    if not rows:
        click.echo("spekctl: no block devices found; --all shows unusual ones", err=True)
        return 0

    from spekctl.render import tables

    names = ("device", "size", "block", "model", "id", "may be tested")
    # Names and identities are typed in, so they are never cut.
    table = tables.table(*names, right=("size", "block"), fold=("device", "id"))
    for row in rows:
        indent = " " if row["partition_of"] else ""
        table.add_row(
            f"{indent}{row['path']}",
            format_bytes(int(str(row["bytes"]))),
            str(row["logical_block"]),
            str(row["model"]),
            str(row["id"]),
            str(row["state"]),
        )
    tables.show(table)
    return 0


def _runs() -> list[RunInfo]:
    """Runs of spek, if the module is loaded and lists them."""
    from spekctl.kernel import client

    try:
        kernel = client.connect()
    except (SpekError, OSError):
        return []
    try:
        return kernel.runs()
    except SpekError:
        return []
    finally:
        kernel.close()


def _state(
    in_use: str, unwritable: str, writers: Sequence[str], found: Sequence[object] | None
) -> str:
    """Permitted use of the device, in one sentence."""
    if in_use:
        return f"no: {in_use}"
    if found is None:
        return "reading; only root can see whether it holds data"
    if unwritable:
        return f"reading (it {unwritable})"
    if writers:
        return f"reading at most: {'; '.join(writers)}"
    if found:
        listed = ", ".join(str(signature) for signature in found[:2])
        more = f" and {len(found) - 2} more" if len(found) > 2 else ""
        return f"reading; writing with --destroy (it holds {listed}{more})"
    return "reading and writing"
