# SPDX-License-Identifier: GPL-2.0-or-later
"""Files to sheets: identifies each document and has its sheet made."""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from spekctl import files
from spekctl.documents import data_sheet, document
from spekctl.documents.data_sheet import DataSheet
from spekctl.documents.document import Kind
from spekctl.errors import UsageError
from spekctl.render import data_sheet as beside
from spekctl.render.document import MODELS
from spekctl.report import (
    disk_states,
    drives,
    loads,
    probers,
    profiles,
    rounds,
    runs,
    traces,
    verdicts,
)
from spekctl.report import energy as energies
from spekctl.report.sheet import Sheet, add_printed
from spekctl.report.words import few

# A document of a kind and its sheet; render.document says which struct the kind is.
_SHEETS: dict[Kind, Callable[[str, Any], Sheet]] = {
    Kind.RESULT: runs.sheet_of,
    Kind.CURVE: loads.curve_sheet,
    Kind.SPC1: loads.spc1_sheet,
    Kind.SPC2: loads.spc2_sheet,
    Kind.PTS: rounds.pts_sheet,
    Kind.GATE: verdicts.gate_sheet,
    Kind.COMPARISON: verdicts.comparison_sheet,
    Kind.SPC1E: energies.spc1e_sheet,
    Kind.SPC2E: energies.spc2e_sheet,
    Kind.EMERALD: energies.emerald_sheet,
    Kind.DCSE: energies.dcse_sheet,
    Kind.CAPACITY: energies.capacity_sheet,
    Kind.VERIFY: traces.verify_sheet,
    Kind.DRIVE_SIMULATION: drives.simulation_sheet,
    Kind.DRIVE_STUDY: drives.study_sheet,
    Kind.TRACE_INFO: traces.info_sheet,
    Kind.TRACE_FIT: traces.fit_sheet,
    Kind.PROBER: probers.prober_sheet,
    Kind.PROFILE: profiles.profile_sheet,
    Kind.POWER_STATES: disk_states.states_sheet,
}
KINDS = (*_SHEETS, Kind.LOG, Kind.TRACE)
_WORDS = (
    "results, load curves, reports, verdicts, profiles, samples, power states, studies, per-I/O"
    " logs and traces that spekctl has written"
)
_PURPOSE = "a page is made of"


def check_readable(paths: Sequence[Path]) -> None:
    """UsageError if one is not a file that can be read, whatever it holds."""
    for path in paths:
        if files.exists(path) and not path.is_file():
            raise UsageError(f"{path} is not a file; {_PURPOSE} {_WORDS}")
        document.is_document(path)


def sheets(
    paths: Sequence[Path], labels: Sequence[str] = (), stated: str | None = None
) -> list[Sheet]:
    """A sheet for each file; UsageError for a file that is not such a document. @stated: name of a
    data sheet to compare the files with; at least one of them must have a figure of it"""
    reference = data_sheet.load(stated) if stated is not None else None
    sheets = [_sheet(path, reference) for path in paths]
    if reference is not None and not any(sheet.is_compared for sheet in sheets):
        raise UsageError(
            f"{reference.file} has no figure that was measured in"
            f" {few([str(path) for path in paths])}"
        )
    names = labels or _names(paths)
    for sheet, name in zip(sheets, names, strict=True):
        sheet.label = name
    return sheets


def _sheet(path: Path, reference: DataSheet | None) -> Sheet:
    kind = document.identify(path, KINDS, _PURPOSE, _WORDS)
    if kind is Kind.LOG:
        from spekctl.log.file import require
        from spekctl.report import logs

        require()
        return logs.sheet_of(path)
    if kind is Kind.TRACE:
        return _trace(path)
    report = document.read(path, MODELS[kind])
    sheet = _SHEETS[kind](str(path), report)
    if reference is not None:
        with contextlib.suppress(UsageError):
            add_printed(sheet, beside.parts(reference, report), head=False)
            sheet.is_compared = True
    sheet.created = report.created
    sheet.command = shlex.join(["spekctl", *report.command]) if report.command else ""
    return sheet


def _trace(path: Path) -> Sheet:
    """A stored trace, which is read once for its figures."""
    from spekctl.log.file import require

    require()
    from spekctl.trace import figures
    from spekctl.trace.trace import open_trace

    return traces.info_sheet(str(path), figures.info(open_trace([path])))


def _names(paths: Sequence[Path]) -> list[str]:
    """Stems where they differ, else whole paths."""
    stems = [path.stem for path in paths]
    return stems if len(set(stems)) == len(stems) else [str(path) for path in paths]
