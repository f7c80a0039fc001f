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

    shipped = [loaded.workload for loaded in file.iter_shipped()]
    if as_json:
        click.echo(
            json.dumps(
                [{"name": workload.name, "summary": workload.summary} for workload in shipped],
                indent=1,
            )
        )
        return 0
    width = max((len(workload.name) for workload in shipped), default=0)
    for workload in shipped:
        click.echo(f"{workload.name:<{width}}  {workload.summary}")
    click.echo(f"spekctl: details: spekctl show NAME; files: {file.shipped_directory()}", err=True)
    return 0
