# SPDX-License-Identifier: GPL-2.0-or-later
"""spekctl doctor: diagnose what would stop a run, or skew its results."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from spekctl.commands import options
from spekctl.commands.fleet import keys_option, wait_option
from spekctl.commands.on_hosts import check_without_fleet
from spekctl.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from spekctl.run.conditions import Finding

EPILOG = """\b
Examples:
  spekctl doctor
  sudo spekctl doctor --device /dev/nvme0n1
  spekctl doctor --fleet plan.toml --keys keys/controller
"""


@click.command(epilog=EPILOG)
@options.optional_devices
@click.option(
    "--fleet",
    "fleet_file",
    type=options.FilePath(path_type=Path),
    metavar="PLAN",
    help="Examine the hosts of a plan of `spekctl fleet`, in place of this machine.",
)
@keys_option
@wait_option
@options.as_json()
@click.option(
    "--root",
    type=options.FilePath(exists=True, file_okay=False, path_type=Path),
    default="/",
    hidden=True,
    help="Look at sys, proc and lib/modules in this directory.",
)
def command(
    devices: tuple[str, ...],
    fleet_file: Path | None,
    keys_folder: Path,
    wait_ns: int,
    as_json: bool,
    root: Path,
) -> int:
    """Report what would stop a run on this machine or skew its results, with remedies.

    --device examines devices as well. No device is opened, and nothing is changed.

    --fleet examines the hosts of a plan instead: whether each has joined, or can be started by SSH,
    its certificate and versions, root's rights without a password, devices, clock and power feeds,
    by the checks of `spekctl fleet run`. Hosts join as for a run, and end afterwards; one that does
    not join within --wait is reported, and the others are examined. Nothing is claimed.

    The exit code is 0 if a run would start, otherwise the code the run would end with: 3 without
    root, 4 if the device is in use, 5 if the module is not loaded or this is another network
    namespace than the initial one; of a fleet 4, 2 if the plan does not fit its devices, or 9 if a
    host that has joined does not answer.
    """
    from spekctl.run import conditions

    if fleet_file is not None:
        if devices:
            raise UsageError(
                "--device is not given with --fleet: the plan has the devices of each host"
            )
        return _show(_of_fleet(fleet_file, keys_folder, wait_ns), as_json, "")
    check_without_fleet()
    advice = "" if devices else "; name a device with --device to have it examined"
    return _show(conditions.examine(conditions.Machine(root), devices), as_json, advice)


def _show(findings: Sequence[Finding], as_json: bool, advice: str) -> int:
    """Print findings; the exit code. @advice: what else may be examined."""
    import dataclasses

    from spekctl.run import conditions

    code = conditions.exit_code(findings)
    if as_json:
        rows = [
            {key: value for key, value in dataclasses.asdict(finding).items() if key != "code"}
            for finding in findings
        ]
        click.echo(json.dumps({"would_start": not code, "findings": rows}, indent=1))
        return int(code)
    subject = ""
    for finding in findings:
        if finding.subject != subject:
            subject = finding.subject
            click.echo(subject)
        click.echo(f"  {finding.level:<6}  {finding.check}: {finding.text}")
        if finding.remedy:
            click.echo(f"          remedy: {finding.remedy}")
    spoiled = sum(finding.level == "spoils" for finding in findings)
    verdict = "a run would not start" if code else "a run would start"
    if spoiled:
        verdict += f"; {spoiled} finding{'s' if spoiled > 1 else ''} would spoil a measurement"
    click.echo(verdict + advice)
    return int(code)


def _of_fleet(path: Path, keys_folder: Path, wait_ns: int) -> list[Finding]:
    """Findings about the controller and the hosts of a plan."""
    from spekctl.commands import fleet
    from spekctl.fleet import examined, keys, loads
    from spekctl.run.conditions import Finding
    from spekctl.run.job import Interrupts

    fleet.need_engine()
    planned = fleet.checked(path)
    own = examined.certificate("controller", keys.load(keys_folder.expanduser()).ends)
    findings = [own]
    if why := loads.writes_without_leave(planned):
        remedy = "write = true in the options of the plan"
        findings.append(Finding("plan", "write", "stops", why, remedy, ExitCode.REFUSED))
    with (
        Interrupts() as interrupts,
        fleet.started(planned, keys_folder, wait_ns, interrupts, "lines", None) as coordinator,
    ):
        findings += coordinator.examine()
    return findings
