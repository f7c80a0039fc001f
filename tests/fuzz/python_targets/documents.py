# SPDX-License-Identifier: GPL-2.0
"""Readers of files written by spekctl or by other programs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from lib.ctl.models import models

from spekctl.campaigns import inputs
from spekctl.documents import document
from spekctl.documents.document import Kind
from spekctl.errors import UsageError
from spekctl.kernel.records import RunInfo
from spekctl.plots import source
from spekctl.run import detached


def _each(path: Path, readers: list[Callable[[Path], object]]) -> None:
    """All of them, whatever the one before has said."""
    last: UsageError | None = None
    for read in readers:
        try:
            read(path)
        except UsageError as error:
            last = error
    if last is not None:
        raise last


def _document(path: Path) -> object:
    return document.read(path, models()[document.identify(path, list(Kind))])


def _plan(path: Path) -> object:
    detached.DIRECTORY = path.parent
    path.with_name("run-1.json").write_bytes(path.read_bytes())
    return detached.load(RunInfo(id=1))


def read_all(path: Path) -> None:
    """As the document that it is, as the plan of a run, and to be drawn."""
    _each(path, [_document, source.document_origin, _plan])


def read_energy(path: Path) -> None:
    """As each file of numbers."""
    _each(path, [inputs.spc1e_levels, inputs.dcse_inputs, inputs.emerald_inputs])
