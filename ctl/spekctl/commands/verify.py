# SPDX-License-Identifier: GPL-2.0-or-later
"""spekctl verify: check that devices still hold the data of a run."""

from __future__ import annotations

from pathlib import Path

import click

from spekctl.commands import options

EPILOG = """\b
Examples:
  spekctl run mixed-70-30-8k --device /dev/sdb --write --verify \\
      --verify-state sdb.state
  spekctl verify --device /dev/sdb --from sdb.state

\b
  spekctl run sync.toml --device /dev/sdb --write --verify \\
      --state-on /dev/sdc --time 1h
  # ... the power is cut, and the machine has started again ...
  spekctl verify --device /dev/sdb --from /dev/sdc
"""


@click.command(epilog=EPILOG, no_args_is_help=True)
@options.devices
@click.option(
    "--from",
    "state_file",
    type=options.FilePath(dir_okay=False, path_type=Path),
    required=True,
    metavar="FILE",
    help="State of the written blocks, saved by `spekctl run --verify-state FILE`; or the device of"
    " `spekctl run --state-on DEV`, with the log of acknowledged writes.",
)
@options.backend
@options.result("Write the report as JSON to FILE.")
@options.as_json("Report")
@options.progress
def command(
    devices: tuple[str, ...],
    state_file: Path,
    backend: str,
    output: Path | None,
    as_json: bool,
    progress: str,
) -> int:
    """Check that devices still hold the data of a run, e.g. after a power cycle or a reboot.

    Every block that the run could have written is read once and compared in the kernel, which
    tells flipped bits, misdirected, lost and torn writes apart. Nothing is written. The devices
    must be those of the file; their names may have changed. Give devices without serial number and
    WWN, or with those of another one, in the order of the run's result.

    With a log of --state-on, each block has to hold the last write that was acknowledged and then
    flushed, or a later one.

    The exit code is 0 if all data are correct and 6 if any are wrong.
    """
    import os

    from spekctl import files
    from spekctl.block import device
    from spekctl.commands.deliver import deliver, measured
    from spekctl.kernel import client
    from spekctl.render.progress import choose
    from spekctl.render.verify import report_lines
    from spekctl.run import job, recheck, state_log, verify_state

    kept = state_log.load(state_file) if state_file.is_block_device() else None
    state = kept.state if kept is not None else verify_state.load(state_file)
    subjects = verify_state.in_order(state, [device.find(path) for path in devices])
    verify_state.check_devices(state_file, state, subjects)
    files.check_writable(output)
    files.check_apart(output, [state_file])
    kernel = client.connect()
    try:
        with job.Interrupts() as interrupts:
            view = choose(progress, f"verify {' '.join(subject.path for subject in subjects)}")
            if kept is not None:
                view.note(kept.text)
            if same := verify_state.alike(subjects):
                names = ", ".join(subject.path for subject in same)
                view.note(f"nothing tells {names} apart: they are taken in the order given")
            try:
                report = recheck.check(
                    kernel,
                    state_file,
                    state,
                    subjects,
                    backend,
                    min(os.sched_getaffinity(0)),
                    view,
                    interrupts,
                )
            finally:
                view.close()
            code = recheck.exit_code_of(report, interrupts)
            with measured(code):
                deliver(
                    report,
                    lambda outcome: click.echo("\n".join(report_lines(outcome))),
                    as_json,
                    output,
                )
            return int(code)
    finally:
        kernel.close()
