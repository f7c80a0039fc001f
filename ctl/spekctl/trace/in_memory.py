# SPDX-License-Identifier: GPL-2.0-or-later
"""Traces without a file, whose records are in memory."""

from __future__ import annotations

from pathlib import Path

from spekctl.trace.columns import Batch
from spekctl.trace.formats.format import Format, ReadOptions
from spekctl.trace.source import Source
from spekctl.trace.trace import Part, Trace


class _Named(Source):
    """A name for reports; nothing is read from it."""

    def __init__(self, name: str) -> None:
        self.path = Path(name)
        self._pipe = None


def trace_of(name: str, batch: Batch) -> Trace:
    """A trace of these records, in order of time; devices are known by their numbers. @name: for
    reports."""
    in_memory = Format(
        name="memory",
        title="records in memory",
        likeness=lambda head: 0.0,
        read=lambda reading: iter([batch]),
    )
    return Trace([Part(_Named(name), in_memory)], ReadOptions())
