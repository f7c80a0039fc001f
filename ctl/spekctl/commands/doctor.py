# SPDX-License-Identifier: GPL-2.0-or-later
"""spekctl doctor: diagnose what would stop a run, or skew its results."""

from __future__ import annotations

import json
from pathlib import Path

import click

from spekctl.commands import options

EPILOG = """\b
Examples:
  spekctl doctor
  sudo spekctl doctor --device /dev/nvme0n1
"""


@click.command(epilog=EPILOG)
@options.optional_devices
@options.as_json()
@click.option(
    "--root",
    type=options.FilePath(exists=True, file_okay=False, path_type=Path),
    default="/",
    hidden=True,
    help="Look at sys, proc and lib/modules in this directory.",
)
def command(devices: tuple[str, ...], as_json: bool, root: Path) -> int:
    """Report what would stop a run on this machine or skew its results, with remedies.

    --device examines devices as well. No device is opened, and nothing is changed.

    The exit code is 0 if a run would start, otherwise the code the run would end with: 3 without
    root, 4 if the device is in use, 5 if the module is not loaded or this is another network
    namespace than the initial one.
    """
    import dataclasses

    from spekctl.run import conditions

    findings = conditions.examine(conditions.Machine(root), devices)
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
    click.echo(verdict + ("" if devices else "; name a device with --device to have it examined"))
    return int(code)
