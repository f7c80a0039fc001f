# SPDX-License-Identifier: GPL-2.0
"""A system whose power is a function of its load, for tests of energy reports."""

from __future__ import annotations

from dataclasses import dataclass, field

from spekctl.documents.power import PowerFigures, total_of
from spekctl.documents.result import Result
from spekctl.documents.result_parts import RailPower


def figures(
    watts: float, seconds: float, gap_s: float = 0.0, baseline_w: float = 0.0
) -> PowerFigures:
    """@watts in all, shared by two rails as 1 : 2."""
    weights = (1, 2)
    known_s = seconds - gap_s
    shares = [watts * weight / sum(weights) for weight in weights]
    rails = [
        RailPower(
            name=f"rail{index}",
            joules=share * known_s,
            mean_w=share if known_s else None,
            min_w=share * 0.9 if known_s else None,
            max_w=share * 1.1 if known_s else None,
            known_s=known_s,
            gap_s=gap_s,
            samples=9,
        )
        for index, share in enumerate(shares)
    ]
    return PowerFigures(rails, total_of(rails), baseline_w)


@dataclass
class FakePower:
    """Idle takes @idle_w, each I/O per second @watts_per_iops more."""

    idle_w: float = 6.0
    watts_per_iops: float = 0.004
    gap_s: float = 0.0
    baseline_w: float = 0.0
    asked: list[tuple[int, int]] = field(default_factory=list)
    closed: int = 0

    def follow(self, start_ns: int, end_ns: int) -> None:
        """As a meter that remembers everything."""

    def between(self, start_ns: int, end_ns: int) -> PowerFigures | None:
        """As a meter."""
        self.asked.append((start_ns, end_ns))
        return figures(
            self.idle_w, (end_ns - start_ns) / 1e9, min(self.gap_s, 1e-3), self.baseline_w
        )

    def close(self) -> None:
        self.closed += 1

    def of_result(self, result: Result) -> PowerFigures | None:
        """As power_of()."""
        seconds = (
            next(phase.duration_ns for phase in result.phases if phase.phase == "measure") / 1e9
        )
        watts = self.idle_w + self.watts_per_iops * result.totals.all.iops
        return figures(watts, seconds, min(self.gap_s, seconds), self.baseline_w)
