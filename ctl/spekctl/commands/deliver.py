# SPDX-License-Identifier: GPL-2.0
"""A report to where it was wanted."""

from __future__ import annotations

from pathlib import Path

import click

from spekctl import files
from spekctl.documents.energy import DcseReport, EmeraldReport, Spc1eReport
from spekctl.render import energy as render_energy


def deliver(
    report: Spc1eReport | EmeraldReport | DcseReport, as_json: bool, output: Path | None
) -> None:
    """As a file, and as JSON or text on standard output."""
    data = files.encode(report)
    if output is not None:
        files.deliver(data, output)
    if as_json:
        click.echo(data.decode(), nl=False)
    else:
        render_energy.print_report(report)
        if output is not None:
            click.echo(f"spekctl: report written to {output}", err=True)
