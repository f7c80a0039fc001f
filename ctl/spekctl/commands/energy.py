# SPDX-License-Identifier: GPL-2.0-or-later
"""spekctl energy: energy efficiency, by rules like those of SPC-1/E, SPC-2/E, Emerald and DCsE."""

from __future__ import annotations

import click

from spekctl.cli import Group
from spekctl.commands import (
    energy_capacity,
    energy_check,
    energy_compare,
    energy_dcse,
    energy_emerald,
    energy_spc1e,
    energy_spc2e,
    energy_tiered,
)


@click.group(cls=Group)
def command() -> None:
    """Measure the energy efficiency of storage, or compute it from existing numbers.

    spek-daq feeds power samples to spek_prober, which supplies them to the tests. Without power
    measurement the tests still run, and their reports have performance only.
    """


command.add_command(energy_spc1e.command, "spc1e")
command.add_command(energy_spc2e.command, "spc2e")
command.add_command(energy_emerald.command, "emerald")
command.add_command(energy_dcse.command, "dcse")
command.add_command(energy_tiered.command, "tiered")
command.add_command(energy_capacity.command, "capacity")
command.add_command(energy_check.command, "check")
command.add_command(energy_compare.command, "compare")
