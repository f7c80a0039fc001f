# SPDX-License-Identifier: GPL-2.0-or-later
"""Power during a run, as one of its collectors."""

from __future__ import annotations

from spekctl.kernel.records import IntervalRow
from spekctl.power.meter import Meter
from spekctl.run.collector import Claimed, Collector, Ended, Look, Sections


class PowerCollector(Collector):
    """Power of every interval and of the measure phase."""

    def __init__(self, meter: Meter) -> None:
        self._meter = meter

    def arm(self, claimed: Claimed) -> str:
        """Refuse a feed that is asked for and not open."""
        self._meter.start()
        return ""

    def take(self, look: Look) -> None:
        """Ask for the samples since the last look, and for the intervals that have just ended."""
        self._meter.follow(look.info)
        self._meter.note(look.news)

    def watts(self, row: IntervalRow) -> float | None:
        """Power during an interval, as far as it is known now."""
        return self._meter.watts(row)

    def conclude(self, ended: Ended, sections: Sections) -> None:
        """Power of the whole run; waits briefly for outstanding samples."""
        sections.metered = self._meter.finish(ended.info, ended.rows)

    def close(self) -> None:
        """Close the connection."""
        self._meter.close()
