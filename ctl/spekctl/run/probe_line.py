# SPDX-License-Identifier: GPL-2.0-or-later
"""The probe of a machine in one line: whose it is, and what it does."""

from __future__ import annotations

from spekctl.kernel.gen.spek_prober_records import ProbeState
from spekctl.kernel.prober import Probe
from spekctl.units import format_duration


def text(probe: Probe) -> str:
    """The line, without its end."""
    whose = f"process {probe.owner_pid} ({probe.owner_name})"
    if probe.detached:
        whose = "`spekctl prober start --detach`"
    rows = f"{probe.rows} rows, one every {format_duration(probe.interval_ns)}"
    does = "samples" if probe.state is ProbeState.RUNNING else "has ended"
    return f"probe {probe.id} of {whose} {does}: {rows}"
