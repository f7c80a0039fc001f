# SPDX-License-Identifier: GPL-2.0-or-later
"""A trace: one file, or several that belong together, as a stream of records in order of time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from spekctl.errors import UsageError
from spekctl.trace import registry
from spekctl.trace.columns import BATCH, Batch, Devices
from spekctl.trace.faults import Faults
from spekctl.trace.formats import speklog, stored, table
from spekctl.trace.formats.format import EVENTS, Format, Reading, ReadOptions
from spekctl.trace.order import WINDOW, from_zero, in_order, merged, spread
from spekctl.trace.source import Source

_PARQUET = b"PAR1"
# Records of a file that can be put in order, also if hundreds of files share the memory.
_WINDOW_LEAST = 4096


@dataclass(frozen=True, slots=True)
class Part:
    """A file of a trace, and its format."""

    source: Source
    format: Format


class Trace:
    """Files of one trace. Devices and faults fill while it is read, from the start each time."""

    def __init__(self, parts: Sequence[Part], options: ReadOptions, empty: int = 0) -> None:
        """@empty: further files, which have nothing in them"""
        self.parts = list(parts)
        self.options = options
        self._empty = empty
        self.devices = Devices()
        self.faults = Faults(options.strict)

    @property
    def name(self) -> str:
        """Name for messages."""
        first = str(self.parts[0].source.path)
        more = len(self.parts) - 1
        return f"{first} and {more} more" if more else first

    def batches(self) -> Iterator[Batch]:
        """The records by time, which counts from the first one.

        UsageError where a file is damaged, has a bad record and reading is strict, or has no events
        of the kind that was asked for, but others.
        """
        self.devices = Devices()
        self.faults = Faults(self.options.strict)
        if self._empty:
            self.faults.note(f"empty files: {self._empty}")
        streams = [self._ordered(part) for part in self.parts]
        is_empty = True
        for batch in from_zero(merged(streams) if len(streams) > 1 else streams[0]):
            is_empty = is_empty and not len(batch)
            yield batch
        if is_empty:
            self._check_events()

    def _check_events(self) -> None:
        """Refuse a trace whose events are others than those that were asked for."""
        events, wanted = self.faults.events, self.options.event
        if not events or EVENTS[wanted] in events:
            return
        listed = ", ".join(f"{count:,} {letter}" for letter, count in sorted(events.items()))
        others = [name for name, letter in EVENTS.items() if letter in events]
        raise UsageError(
            f"{self.name} has no {wanted} events ({EVENTS[wanted]}), but {listed}"
            + (f"; read it with --event {others[0]}" if others else "")
        )

    def _ordered(self, part: Part) -> Iterator[Batch]:
        share = len(self.parts)
        window, more = (max(records // share, _WINDOW_LEAST) for records in (WINDOW, BATCH))
        ordered = in_order(self._read(part), self.faults, window, more)
        resolution_ns = part.format.resolution_ns
        return ordered if resolution_ns == 1 else spread(ordered, resolution_ns, self.faults)

    def _read(self, part: Part) -> Iterator[Batch]:
        reading = Reading(part.source, self.devices, self.faults, self.options)
        return part.format.read(reading)


# Readers of these find their way in the file.
_OF_PARQUET = (stored.FORMAT, speklog.FORMAT)


def open_trace(
    paths: Sequence[Path], options: ReadOptions | None = None, once: bool = False
) -> Trace:
    """A trace; UsageError if a file is not one, or if they are of different formats.

    @once: it is read once, so that its files may be pipes
    """
    options = options or ReadOptions()
    # Only of CSV columns can be named.
    name = options.format or (table.FORMAT.name if options.columns else "")
    chosen = registry.by_name(name) if name else None
    if options.columns and chosen is not table.FORMAT:
        raise UsageError(f"--column names columns of csv, not of {name}")
    parts, empty = [], 0
    for path in paths:
        source = Source(path, len(paths), once)
        head = source.head()
        if source.is_pipe and (chosen in _OF_PARQUET or head.data.startswith(_PARQUET)):
            raise UsageError(f"{path} is a pipe, and Parquet cannot be read from one; store it")
        # blktrace leaves empty files of processors that had nothing to do.
        if head.data or len(paths) == 1:
            parts.append(Part(source, chosen or registry.recognized(head)))
        else:
            empty += 1
    if not parts:
        raise UsageError(f"{paths[0]} and {empty - 1} more are empty; expected a trace")
    names = list(dict.fromkeys(part.format.name for part in parts))
    if len(names) > 1:
        raise UsageError(f"files of one trace have one format; these are {names[0]} and {names[1]}")
    return Trace(parts, options, empty)
