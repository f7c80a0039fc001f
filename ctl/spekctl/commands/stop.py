# SPDX-License-Identifier: GPL-2.0-or-later
"""spekctl stop: stop runs cleanly."""

from __future__ import annotations

import contextlib
import dataclasses
import json

import click

from spekctl.commands import options
from spekctl.commands.options import DURATION


@click.command()
@click.argument("run", type=int, required=False)
@click.option("--all", "everything", is_flag=True, help="Stop all runs.")
@click.option(
    "--delete",
    is_flag=True,
    help="Also delete a detached run, with its result, once it has ended.",
)
@click.option(
    "--wait",
    "wait_ns",
    type=DURATION,
    default="30s",
    show_default=True,
    help="Maximum wait for outstanding I/O; 0 does not wait.",
)
@options.as_json()
def command(run: int | None, everything: bool, delete: bool, wait_ns: int, as_json: bool) -> int:
    """Stop RUN. RUN may be omitted if there is only one.

    Stops issuing I/O and waits for outstanding requests. The result of a detached run is kept
    until `spekctl watch` delivers it, or is discarded with --delete. The result of a run of
    another terminal appears there, and that terminal deletes the run; --delete has no effect on it.
    """
    from spekctl.commands.status import as_dict
    from spekctl.commands.watch import choose_run
    from spekctl.errors import NotFoundError, UsageError
    from spekctl.kernel import client
    from spekctl.kernel.records import RunState
    from spekctl.run import detached, ending

    if everything and run is not None:
        raise UsageError("give the number of a run or --all, not both")
    active = (RunState.OPENING, RunState.ARMED, RunState.RUNNING, RunState.DRAINING)
    idle = (RunState.READY, RunState.DONE, RunState.FAILED)
    kernel = client.connect()
    try:
        chosen = kernel.runs() if everything else [choose_run(kernel, run)]
        for info in chosen:
            if info.state in active:
                with contextlib.suppress(NotFoundError):
                    kernel.run_stop(info.id)
        ended = []
        deleted = set()
        for info in chosen:
            try:
                if info.state in active:
                    info = ending.wait_done(kernel, info.id, wait_ns / 1e9)
                if delete and info.detached and info.state in idle:
                    kernel.run_delete(info.id)
                    deleted.add(info.id)
                    detached.forget(info.id)
            except NotFoundError:
                # Its owner has taken the result and deleted the run in the meantime.
                info = dataclasses.replace(info, state=RunState.DONE)
            ended.append(info)
    finally:
        kernel.close()
    late = [info for info in ended if info.state in active]
    if as_json:
        click.echo(json.dumps([as_dict(info) for info in ended], indent=1))
    for info in ended:
        if info.state is RunState.OPENING:
            text = f"run {info.id} is stopping; its devices are still being opened"
        elif info in late:
            text = (
                f"run {info.id} is stopping; {info.outstanding} I/Os are still outstanding,"
                f" the oldest for {info.oldest_ns / 1e9:.1f} s"
            )
        elif info.state is RunState.READY:
            text = f"run {info.id} had not started" + (", deleted" if info.id in deleted else "")
        elif delete and not info.detached:
            text = f"run {info.id} has ended; its result appears in the terminal that started it"
        else:
            text = f"run {info.id} has ended" + (" and is deleted" if info.id in deleted else "")
        click.echo(f"spekctl: {text}", err=True)
    return 1 if late and wait_ns else 0
