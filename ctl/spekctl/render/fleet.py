# SPDX-License-Identifier: GPL-2.0-or-later
"""Progress of a fleet on standard error: the hosts beside each other, by their common clock."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TextIO

from spekctl import units
from spekctl.render.progress import MIN_LINE_GAP_S, LineProgress, format_line
from spekctl.run.beside import Beside, Stage
from spekctl.run.progress import Clock, Figures

# Hosts that a line names one by one.
NAMED_MAX = 8


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
        self._beside = Beside(hosts)
        self._last_s: float | None = None

    def note(self, text: str) -> None:
        """Print a sentence."""
        self._lines.note(text)

    def reach(self, host: str, stage: Stage, text: str = "") -> None:
        """A host that is lost, or has ended, is not waited for."""
        if stage in (Stage.LOST, Stage.ENDED):
            self._beside.leave(host)

    def show(self, host: str, now: Clock, news: Sequence[Figures]) -> None:
        """Print what all have done, once all have told of that time or some are late."""
        if host not in self._beside or not news or self._quiet:
            return
        self._beside.take(host, news[-1])
        at_s = news[-1].at_s
        if self._last_s is not None and at_s - self._last_s < self._min_gap_s - 1e-3:
            return
        if not self._beside.is_whole(at_s):
            return
        self._last_s = at_s
        print(self._line(at_s), file=self._stream, flush=True)

    def _line(self, at_s: float) -> str:
        """One moment as one line."""
        now, late = self._beside.together(at_s), self._beside.late(at_s)
        if len(now) == 1 and len(self._beside) == 1:
            return format_line(next(iter(now.values())))
        iops = sum(figures.iops for figures in now.values())
        mib_per_s = sum(figures.mib_per_s for figures in now.values())
        hosts = units.format_count(len(self._beside), "host")
        parts = [
            f"{units.format_clock(at_s):>6} {len(now)} of {hosts}",
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
        if self._beside.gone:
            parts.append(f"gone {', '.join(self._beside.gone[:NAMED_MAX])}")
        return "  ".join(parts)

    def close(self) -> None:
        """Nothing to do."""
