# SPDX-License-Identifier: GPL-2.0-or-later
"""spekctl watch: follow a run that was started elsewhere, and take its result."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from spekctl.commands import options
from spekctl.errors import NotFoundError, SpekError, UsageError

if TYPE_CHECKING:
    from spekctl.kernel.client import Kernel
    from spekctl.kernel.records import RunInfo


@click.command()
@click.argument("run", type=int, required=False)
@options.result("Write the result as JSON to FILE.")
@options.exports
@options.as_json("Result")
@click.option("--keep", is_flag=True, help="Keep the finished run in the kernel.")
@options.progress
def command(
    run: int | None, output: Path | None, as_json: bool, keep: bool, progress: str, **given: Any
) -> int:
    """Follow RUN to its end and show its result. RUN may be omitted if there is only one.

    A detached run is deleted from the kernel once its result is delivered, unless --keep is
    given. Ctrl-C stops following; the run continues. A run of another terminal can only be
    followed; its result appears there.
    """
    from spekctl import files
    from spekctl.commands.deliver import deliver_result, measured
    from spekctl.kernel import client
    from spekctl.kernel.records import RunState
    from spekctl.render import progress as render_progress
    from spekctl.run import build, detached, disk_stats, ending, job
    from spekctl.run.follow import Follower, follow

    exports = options.take_exports(given)
    files.check_writable(output)
    exports.check()
    wanted = output is not None or as_json or bool(exports.files())
    kernel = client.connect()
    try:
        info = choose_run(kernel, run)
        plan = detached.load(info)
        ended_unseen = info.state is RunState.DONE
        try:
            with job.Interrupts() as interrupts:
                names = " ".join(target.name for target in info.targets)
                view = render_progress.choose(progress, f"run {info.id}: {info.name} on {names}")
                try:
                    follower = Follower(kernel, info.id, view, interrupts, owned=False)
                    follow([follower])
                finally:
                    view.close()
            info = follower.info
            if info.state is not RunState.DONE:
                click.echo(f"spekctl: run {info.id} continues", err=True)
                return int(interrupts.exit_code)
            if not info.detached:
                return _leave_to_owner(info, wanted)
            if plan is None:
                raise SpekError(f"run {info.id} has ended; its plan is not in {detached.DIRECTORY}")
            after = [None] * len(plan.targets) if ended_unseen else disk_stats.read(plan.targets)
            cells = kernel.stats(info.id)
            result = build.build(plan, info, cells, follower.rows, after)
        except NotFoundError as error:
            if not info.detached:
                return _leave_to_owner(info, wanted)
            raise SpekError(
                f"run {info.id} was deleted in the meantime, along with its result"
            ) from error
        code = ending.exit_code_of(result, interrupts)
        with measured(code):
            deliver_result(result, output, as_json, exports)
        if not keep:
            with contextlib.suppress(NotFoundError):
                kernel.run_delete(info.id)
            detached.forget(info.id)
        return int(code)
    finally:
        kernel.close()


def _leave_to_owner(info: RunInfo, wanted: bool) -> int:
    """The end of another terminal's run. That is an error only if its result is @wanted."""
    text = f"run {info.id} has ended; its result appears in the terminal that started it"
    if wanted:
        raise SpekError(text)
    click.echo(f"spekctl: {text}", err=True)
    return 0


def choose_run(kernel: Kernel, run: int | None) -> RunInfo:
    """The run that the user means; without a number the only one."""
    if run is not None:
        return kernel.run_get(run)
    runs = kernel.runs()
    if not runs:
        raise UsageError("the kernel has no run")
    if len(runs) > 1:
        numbers = ", ".join(f"{info.id} ({info.name})" for info in runs)
        raise UsageError(f"there are several runs; give the number of one: {numbers}")
    return runs[0]
