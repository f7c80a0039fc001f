# SPDX-License-Identifier: GPL-2.0-or-later
"""spekctl status: the runs that the kernel knows, and the prober."""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING

import click

from spekctl.commands import options

if TYPE_CHECKING:
    from spekctl.kernel.prober import Probe
    from spekctl.kernel.records import RunInfo


@click.command()
@options.as_json()
def command(as_json: bool) -> int:
    """List the runs in the kernel, including those of other terminals, the devices that a
    command holds between two runs, with its process, and the probe of `spekctl prober`. JSON has
    the runs."""
    from spekctl.block import safety
    from spekctl.errors import NoKernelSideError
    from spekctl.kernel import client
    from spekctl.kernel.records import ClaimInfo, ClaimState

    probe = None if as_json else _probe()
    runs: list[RunInfo] = []
    claims: list[ClaimInfo] = []
    try:
        kernel = client.connect()
    except NoKernelSideError:
        if probe is None:
            raise
    else:
        try:
            runs, claims = kernel.runs(), kernel.claims()
        finally:
            kernel.close()
    if as_json:
        click.echo(json.dumps([as_dict(info) for info in runs], indent=1))
        return 0
    if probe is not None:
        from spekctl.run import probe_line

        click.echo(probe_line.text(probe))
    for claim in claims:
        if not claim.runs and claim.state is not ClaimState.FAILED:
            held = " ".join(
                target.name or f"{target.major}:{target.minor}" for target in claim.targets
            )
            what = {ClaimState.OPENING: "is opening", ClaimState.CLOSING: "is closing"}
            does = what.get(claim.state, "has no run at present and holds")
            whose = safety.owner(claim) or "a command"
            click.echo(f"claim {claim.id} of {whose} {does} {held}")
    if not runs:
        click.echo("spekctl: no runs", err=True)
        return 0

    from spekctl.render import tables

    names = ("run", "workload", "state", "elapsed", "left", "devices", "queue", "remarks")
    table = tables.table(*names, right=("run", "elapsed", "left"))
    for info in runs:
        table.add_row(*_row(info))
    tables.show(table)
    return 0


def _probe() -> Probe | None:
    from spekctl.kernel import prober

    return prober.current()


def _row(info: RunInfo) -> list[str]:
    from spekctl.kernel.records import Reason, RunState
    from spekctl.kernel.sense import first_error
    from spekctl.render.progress import phase_word
    from spekctl.run.progress import clock_of
    from spekctl.units import format_clock

    clock = clock_of(info)
    remarks: list[str] = []
    if info.state is RunState.DONE:
        remarks.append(info.reason)
    if info.detached:
        remarks.append("detached")
    if info.write:
        remarks.append("writes")
    if info.errors:
        remarks.append(f"{info.errors} errors, the first: {first_error(info)}")
    if info.backlog:
        remarks.append(f"backlog {info.backlog}")
    if info.state is RunState.DRAINING or info.reason is Reason.DEVICE_GONE:
        remarks.append(f"oldest I/O {info.oldest_ns / 1e9:.1f} s")
    if clock.starts_in_s is not None:
        remarks.append(f"starts in {format_clock(clock.starts_in_s)}")
    running = info.state in (RunState.RUNNING, RunState.DRAINING)
    return [
        str(info.id),
        info.name,
        phase_word(clock) if running else info.state,
        format_clock(clock.elapsed_s),
        format_clock(clock.left_s) if running and clock.left_s is not None else "-",
        " ".join(target.name for target in info.targets),
        str(info.outstanding),
        ", ".join(remarks),
    ]


def as_dict(info: RunInfo) -> dict[str, object]:
    """A run as JSON: enums as words."""
    return dataclasses.asdict(info)
