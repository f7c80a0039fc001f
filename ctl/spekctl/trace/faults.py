# SPDX-License-Identifier: GPL-2.0-or-later
"""Defects of a trace: unreadable records, and timestamps out of order."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from spekctl.errors import UsageError


@dataclass(frozen=True, slots=True)
class Fault:
    """A record that could not be read; number 0: its place is not known."""

    path: Path
    number: int
    reason: str
    unit: str = "line"

    @property
    def text(self) -> str:
        """``FILE: line 7: unknown operation 'x'``."""
        place = f"{self.unit} {self.number:,}: " if self.number else ""
        return f"{self.path}: {place}{self.reason}"


def lost_text(lost: int) -> str:
    """What is said of @lost I/Os of a log."""
    return f"the log lacks {lost:,} I/Os, lost while it was recorded"


@dataclass(slots=True)
class Faults:
    """Counts of a whole trace. @strict: the first record that cannot be read ends the reading,
    and so does a log that has lost I/Os."""

    strict: bool = False
    bad: int = 0
    first: Fault | None = None
    # Records whose time was before that of the record ahead of them; they are put in order.
    unordered: int = 0
    # Of these, the ones too late to be put in order; they take the time of the one ahead.
    moved: int = 0
    # I/Os that a per-I/O log, or one that a stored trace is from, lost while it was recorded.
    lost: int = 0
    # Records of a known kind that are no I/O: comments, completions, messages.
    ignored: int = 0
    # Of these, events of block tracing by their letters.
    events: dict[str, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    @property
    def missing(self) -> int:
        """Records of the trace that its files lack, or that cannot be read."""
        return self.bad + self.lost

    def add(self, path: Path, number: int, reason: str, unit: str = "line") -> None:
        """One record that cannot be read; UsageError if that is not allowed."""
        fault = Fault(path, number, reason, unit)
        if self.strict:
            raise UsageError(f"{fault.text} (--strict)")
        self.bad += 1
        if self.first is None:
            self.first = fault

    def add_lost(self, path: Path, lost: int) -> None:
        """I/Os that a log lacks; UsageError if that is not allowed."""
        if not lost:
            return
        text = lost_text(lost)
        if self.strict:
            raise UsageError(f"{path}: {text} (--strict)")
        self.lost += lost
        self.note(text)

    def add_stored(self, path: Path, bad: int, unordered: int, lost: int) -> None:
        """Those of the origins of a stored trace; UsageError if records that are @bad or @lost
        are not allowed."""
        self.unordered += unordered
        self.add_lost(path, lost)
        if bad:
            noun = "record" if bad == 1 else "records"
            self.add(path, 0, f"{bad:,} {noun} could not be read when it was stored")
            self.bad += bad - 1

    def add_events(self, letter: str, count: int) -> None:
        """Events of block tracing that were left out."""
        self.events[letter] = self.events.get(letter, 0) + count

    def note(self, text: str) -> None:
        """Something the user should know, once."""
        if text not in self.notes:
            self.notes.append(text)
