# SPDX-License-Identifier: GPL-2.0-or-later
"""spekctl workloads: what comes with spek."""

from __future__ import annotations

import json

import click

from spekctl.commands import options


@click.command()
@options.as_json()
def command(as_json: bool) -> int:
    """List the workloads that come with spek."""
    from spekctl.workload import file

    found = [one.workload for one in file.iter_shipped()]
    if as_json:
        click.echo(
            json.dumps([{"name": one.name, "summary": one.summary} for one in found], indent=1)
        )
        return 0
    width = max((len(one.name) for one in found), default=0)
    for one in found:
        click.echo(f"{one.name:<{width}}  {one.summary}")
    click.echo(f"spekctl: details: spekctl show NAME; files: {file.shipped_directory()}", err=True)
    return 0
