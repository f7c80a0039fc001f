# SPDX-License-Identifier: GPL-2.0-or-later
"""Progress of a fleet's run: how far each host is, and the figures of all hosts at one time."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Protocol

from spekctl.run.progress import Clock, Figures

# A host is late if its newest interval is this much older than the newest interval of any host.
LATE_S = 3.0
# Intervals of hosts that end within this time belong together; their starts are skewed.
_TOGETHER_S = 0.5


class Stage(StrEnum):
    """How far a host is."""

    JOINED = "joined"
    CHECKED = "checked"
    CLAIMED = "claimed"
    ARMED = "armed"
    ENDED = "ended"
    LOST = "lost"


class View(Protocol):
    """Shows the progress of a fleet."""

    def note(self, text: str) -> None:
        """Show a sentence."""

    def show(self, host: str, now: Clock, news: Sequence[Figures]) -> None:
        """Show intervals that a host has closed, by the common clock."""

    def reach(self, host: str, stage: Stage, text: str = "") -> None:
        """Show that a host has reached @stage. @text: how its run ended, or why it is lost."""


class Beside:
    """The newest interval of each host that sends I/O. All hosts start together, so their times
    since the start can be compared."""

    def __init__(self, hosts: Sequence[str]) -> None:
        self._newest: dict[str, Figures | None] = dict.fromkeys(hosts)
        self._gone: set[str] = set()

    def __len__(self) -> int:
        return len(self._newest)

    def __contains__(self, host: str) -> bool:
        return host in self._newest

    @property
    def gone(self) -> list[str]:
        """Hosts that are lost or have ended."""
        return sorted(self._gone)

    def take(self, host: str, figures: Figures) -> None:
        """Take the newest interval of a host."""
        self._newest[host] = figures

    def leave(self, host: str) -> None:
        """Note that a host is lost or has ended."""
        if host in self._newest:
            self._gone.add(host)

    def newest(self, host: str) -> Figures | None:
        """The newest interval of a host; None before the first."""
        return self._newest.get(host)

    def late(self, at_s: float) -> list[str]:
        """Hosts whose newest interval is more than LATE_S older than @at_s."""
        return [
            name
            for name, figures in self._newest.items()
            if name not in self._gone
            and (figures.at_s if figures is not None else 0.0) < at_s - LATE_S
        ]

    def is_whole(self, at_s: float) -> bool:
        """Whether all hosts that are neither late nor gone have an interval of this time."""
        late = set(self.late(at_s))
        return all(
            figures is not None and figures.at_s >= at_s - _TOGETHER_S
            for name, figures in self._newest.items()
            if name not in self._gone and name not in late
        )

    def together(self, at_s: float) -> dict[str, Figures]:
        """The newest intervals, without those of hosts that are late or gone."""
        late = set(self.late(at_s))
        return {
            name: figures
            for name, figures in self._newest.items()
            if figures is not None and name not in late and name not in self._gone
        }
