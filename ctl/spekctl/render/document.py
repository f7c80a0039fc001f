# SPDX-License-Identifier: GPL-2.0-or-later
"""Any file of spek's as text: what it is, where it comes from, and what is in it."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spekctl.documents import (
    augment,
    curve,
    drive,
    energy,
    power_states,
    prober,
    profile,
    pts,
    result,
    spc1,
    spc2,
    trace,
    verdict,
    verify,
)
from spekctl.documents.document import Document, Kind, Origin, kind_of
from spekctl.render import augment as augments
from spekctl.render import curve as curves
from spekctl.render import drive as drives
from spekctl.render import energy as energies
from spekctl.render import power_states as states
from spekctl.render import prober as probers
from spekctl.render import profile as profiles
from spekctl.render import pts as rounds
from spekctl.render import result as results
from spekctl.render import spc1 as spc1s
from spekctl.render import spc2 as spc2s
from spekctl.render import tables
from spekctl.render import trace as traces
from spekctl.render import verdict as verdicts
from spekctl.render import verify as verifies
from spekctl.render.console import print_parts

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

# The kinds that can be shown as text, each with the width that its tables need.
_SHOWN: dict[type[Any], tuple[Callable[[Any], Iterable[RenderableType]], int]] = {
    result.Result: (results.parts, results.WIDTH),
    curve.Curve: (curves.parts, curves.WIDTH),
    spc1.Report: (spc1s.parts, spc1s.WIDTH),
    spc2.Report: (spc2s.parts, spc2s.WIDTH),
    spc2.Spc2eReport: (spc2s.energy_parts, spc2s.WIDTH),
    pts.Report: (rounds.parts, rounds.WIDTH),
    energy.Spc1eReport: (energies.spc1e_parts, energies.WIDTH),
    energy.EmeraldReport: (energies.emerald_parts, energies.WIDTH),
    energy.DcseReport: (energies.dcse_parts, energies.WIDTH),
    energy.CapacityReport: (energies.capacity_parts, energies.WIDTH),
    verify.VerifyReport: (verifies.report_lines, results.WIDTH),
    drive.DriveSimulation: (drives.simulation_parts, drives.WIDTH),
    drive.DriveStudy: (drives.study_parts, drives.STUDY_WIDTH),
    trace.TraceInfo: (traces.parts, tables.WIDTH),
    trace.TraceFit: (traces.fit_parts, tables.WIDTH),
    verdict.GateReport: (verdicts.gate_parts, tables.WIDTH),
    verdict.Comparison: (verdicts.comparison_parts, tables.WIDTH),
    power_states.PowerStates: (states.parts, tables.WIDTH),
    augment.AugmentStatus: (augments.status_parts, tables.WIDTH),
    augment.AugmentCheck: (augments.check_parts, tables.WIDTH),
    prober.ProberReport: (probers.parts, tables.WIDTH),
    profile.Profile: (profiles.profile_parts, tables.WIDTH),
}
MODELS: dict[Kind, type[Document]] = {kind_of(model): model for model in _SHOWN}

# Where the contents of others are.
_NEXT = {
    Kind.LOG: "`spekctl log {path}` summarizes it",
    Kind.TRACE: "`spekctl trace info {path}` describes it",
    Kind.VERIFY_STATE: "`spekctl verify --from {path}` checks the devices against it",
}


def print_origin(path: Path, origin: Origin) -> None:
    """Which kind of file it is, when it was written, and by which command."""
    lines = [f"{path}: {origin.kind.text}, version {origin.version} of its format"]
    if origin.created:
        lines.append(f"  written {origin.created}")
    if origin.command:
        lines.append(f"  by {shlex.join(['spekctl', *origin.command])}")
    if origin.kind in _NEXT:
        lines.append("  " + _NEXT[origin.kind].format(path=path))
    print_parts(lines, results.WIDTH)


def print_contents(contents: object, console: Console | None = None) -> None:
    """A document of one of MODELS."""
    parts, width = _SHOWN[type(contents)]
    print_parts(parts(contents), width, console)
