# SPDX-License-Identifier: GPL-2.0-or-later
"""Progress of a fleet on standard error: the hosts beside each other, by their common clock."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TextIO

from spekctl import units
from spekctl.render.progress import MIN_LINE_GAP_S, LineProgress, format_line
from spekctl.run.progress import Clock, Figures

# Hosts that a line names one by one.
NAMED_MAX = 8
# A host whose newest interval is so much older than the newest of all is late.
LATE_S = 3.0


class FleetProgress:
    """A line every few seconds at most, with the sum and each host."""

    def __init__(
        self,
        hosts: Sequence[str],
        stream: TextIO | None = None,
        min_gap_s: float = MIN_LINE_GAP_S,
        quiet: bool = False,
    ) -> None:
        """@hosts: those that send I/O."""
        self._lines = LineProgress(stream)
        self._stream = stream or sys.stderr
        self._min_gap_s = min_gap_s
        self._quiet = quiet
        self._newest: dict[str, Figures | None] = dict.fromkeys(hosts)
        self._gone: set[str] = set()
        self._last_s: float | None = None

    def note(self, text: str) -> None:
        """Print a sentence."""
        self._lines.note(text)

    def leave(self, host: str) -> None:
        """A host is lost, or has ended: it is not waited for."""
        self._gone.add(host)

    def show(self, host: str, now: Clock, news: Sequence[Figures]) -> None:
        """Print what all have done, once all have told of that time or some are late."""
        if host not in self._newest or not news or self._quiet:
            return
        self._newest[host] = news[-1]
        at_s = news[-1].at_s
        if self._last_s is not None and at_s - self._last_s < self._min_gap_s - 1e-3:
            return
        late = self._late(at_s)
        behind = [
            name
            for name, figures in self._newest.items()
            if name not in self._gone and (figures is None or figures.at_s < at_s - 0.5)
        ]
        if behind and len(behind) > len(late):
            return
        self._last_s = at_s
        print(self._line(at_s, late), file=self._stream, flush=True)

    def _late(self, at_s: float) -> list[str]:
        return [
            name
            for name, figures in self._newest.items()
            if name not in self._gone
            and (figures.at_s if figures is not None else 0.0) < at_s - LATE_S
        ]

    def _line(self, at_s: float, late: Sequence[str]) -> str:
        """One moment as one line."""
        now = {
            name: figures
            for name, figures in self._newest.items()
            if figures is not None and name not in late and name not in self._gone
        }
        if len(now) == 1 and len(self._newest) == 1:
            return format_line(next(iter(now.values())))
        iops = sum(figures.iops for figures in now.values())
        mib_per_s = sum(figures.mib_per_s for figures in now.values())
        parts = [
            f"{units.format_clock(at_s):>6} {len(now)} of {len(self._newest)} hosts",
            f"{units.format_rate(iops)} IOPS",
            f"{mib_per_s:,.1f} MiB/s",
        ]
        shown = list(now.items())[:NAMED_MAX]
        parts += [f"{name} {units.format_rate(figures.iops)}" for name, figures in shown]
        if len(now) > len(shown):
            parts.append(f"and {len(now) - len(shown)} more")
        errors = sum(figures.errors for figures in now.values())
        if errors:
            parts.append(f"ERRORS {errors:,}")
        if late:
            parts.append(f"LATE {', '.join(late[:NAMED_MAX])}")
        if self._gone:
            parts.append(f"gone {', '.join(sorted(self._gone)[:NAMED_MAX])}")
        return "  ".join(parts)

    def close(self) -> None:
        """Nothing to do."""
