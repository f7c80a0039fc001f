# SPDX-License-Identifier: GPL-2.0
"""Target figures. The table states whether they are met; the exit code ignores them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from bench.cases import DEEP, SINGLE, Conditions
from bench.result import Bench, Demand, figure
from bench.sharing import of_spek


@dataclass(frozen=True, slots=True)
class Rule:
    """@value gives what was measured, or None where that was not done."""

    text: str
    limit: float
    value: Callable[[Bench], float | None]
    at_least: bool = False

    def judge(self, value: float) -> Demand:
        """Whether the limit is kept."""
        met = value >= self.limit if self.at_least else value <= self.limit
        return Demand(self.text, value, self.limit, self.at_least, met)


def _ratio(row: str, to: str, conditions: Conditions = DEEP) -> Callable[[Bench], float | None]:
    def value(bench: Bench) -> float | None:
        numerator = figure(bench, row, conditions)
        denominator = figure(bench, to, conditions)
        return (
            numerator.instructions / denominator.instructions if numerator and denominator else None
        )

    return value


def _worst(attribute: str) -> Callable[[Bench], float | None]:
    """Of spek's rows with many outstanding, but for replays, which are fed by system calls."""

    def value(bench: Bench) -> float | None:
        values = [
            float(getattr(measured, attribute))
            for measured in bench.figures
            if measured.row.startswith("spek-")
            and measured.depth == DEEP.depth
            and not measured.row.endswith("-replay")
        ]
        return max(values, default=None)

    return value


def _log_cost(backend: str) -> Callable[[Bench], float | None]:
    def value(bench: Bench) -> float | None:
        with_log, without = figure(bench, f"spek-{backend}-log"), figure(bench, f"spek-{backend}")
        return with_log.instructions - without.instructions if with_log and without else None

    return value


def _prober(bench: Bench) -> float | None:
    return bench.prober.share_at_10ms if bench.prober else None


def _idle(bench: Bench) -> float | None:
    floor = figure(bench, "floor-mq")
    return floor.instructions / bench.idle_floor if floor and bench.idle_floor else None


def _open_loop(bench: Bench) -> float | None:
    shares = [
        loop.busy_share
        for loop in bench.open_loops
        if (loop.law, loop.iops, loop.spin_ns) == ("poisson", 1000, 0)
    ]
    return shares[0] if shares else None


def _scaling(bench: Bench) -> float | None:
    return bench.scaling.ratio if bench.scaling else None


def _auto(prefix: str) -> Callable[[Bench], float | None]:
    """What auto costs to what the cheaper of the two does that it can choose."""

    def value(bench: Bench) -> float | None:
        auto = figure(bench, f"{prefix}spek-auto", DEEP)
        others = [figure(bench, f"{prefix}spek-{backend}", DEEP) for backend in ("mq", "bio")]
        known = [measured.instructions for measured in others if measured]
        return auto.instructions / min(known) if auto and len(known) == 2 else None

    return value


SLOW_ROWS = ("slow-spek-mq", "slow-spek-bio")
SLOW_FIO = ("slow-fio-uring", "slow-fio-psync")


def _worst_to_fio(attribute: str) -> Callable[[Bench], float | None]:
    """On the disk that interrupts: the dearest of spek's rows that sleep to the best of fio's."""

    def value(bench: Bench) -> float | None:
        ours = [figure(bench, row, SINGLE) for row in SLOW_ROWS]
        theirs = [figure(bench, row, SINGLE) for row in SLOW_FIO]
        if not all(ours) or not all(theirs):
            return None
        best = min(float(getattr(measured, attribute)) for measured in theirs)
        return (
            max(float(getattr(measured, attribute)) for measured in ours) / best if best else None
        )

    return value


def _sharing(bench: Bench) -> float | None:
    return of_spek(bench.sharing) if bench.sharing else None


def _kicks(row: str) -> Callable[[Bench], float | None]:
    """On the disk that gets most of them."""

    def value(bench: Bench) -> float | None:
        kicks = [
            notification.per_io for notification in bench.notifications if notification.row == row
        ]
        return max(kicks) if kicks else None

    return value


RULES = (
    Rule("mq to the floor of requests", 1.08, _ratio("spek-mq", "floor-mq")),
    Rule("mq to the floor of plugged requests", 1.35, _ratio("spek-mq", "floor-plug")),
    Rule("mq to the floor of io_uring", 0.60, _ratio("spek-mq", "uring")),
    Rule("mq to the polled floor of io_uring", 0.70, _ratio("spek-mq", "uring-polled")),
    Rule("bio to the floor of bios", 1.08, _ratio("spek-bio", "floor-bio")),
    Rule("SPC-1-like on mq to the floor of requests", 1.12, _ratio("spek-mq-spc1", "floor-mq")),
    Rule("SPC-1-like on bio to the floor of bios", 1.12, _ratio("spek-bio-spc1", "floor-bio")),
    Rule("mq to its floor at depth 1", 1.15, _ratio("spek-mq", "floor-mq", SINGLE)),
    Rule("bio to its floor at depth 1", 1.15, _ratio("spek-bio", "floor-bio", SINGLE)),
    Rule("context switches per I/O at depth 32", 0.01, _worst("switches")),
    Rule("system calls per I/O at depth 32", 0.001, _worst("syscalls")),
    Rule("log, instructions per I/O on mq", 150, _log_cost("mq")),
    Rule("log, instructions per I/O on bio", 150, _log_cost("bio")),
    Rule("replay on mq to mq", 1.3, _ratio("spek-mq-replay", "spek-mq")),
    Rule("replay on bio to bio", 1.3, _ratio("spek-bio-replay", "spek-bio")),
    Rule("prober at 10 ms, share of a CPU", 0.005, _prober),
    Rule("idle module: the floor with spek loaded to without", 1.005, _idle),
    Rule("1,000 IOPS Poisson, share of a CPU", 0.05, _open_loop),
    Rule("auto to the cheaper of mq and bio", 1.03, _auto("")),
    Rule("auto to the cheaper of mq and bio, on SCSI", 1.03, _auto("scsi-")),
    Rule("auto to the cheaper of mq and bio, on NVMe", 1.03, _auto("nvme-")),
    Rule("auto to the cheaper of mq and bio, on virtio", 1.03, _auto("virtio-")),
    Rule("depth 1, interrupts: instructions to fio", 1.0, _worst_to_fio("instructions")),
    Rule("depth 1, interrupts: context switches to fio", 1.0, _worst_to_fio("switches")),
    Rule("depth 1, interrupts: response time to fio", 1.0, _worst_to_fio("response_ns")),
    Rule("notifications per I/O, mq", 1 / 12, _kicks("spek-mq")),
    Rule("notifications per I/O, bio", 1 / 12, _kicks("spek-bio")),
    Rule("notifications per I/O, auto", 1 / 12, _kicks("spek-auto")),
    Rule("two workers, misses per I/O in spek on lines of the other", 0.001, _sharing),
    Rule("two workers to one, throughput", 1.9, _scaling, at_least=True),
)


def judge(bench: Bench) -> list[Demand]:
    """Every rule that the figures can tell of."""
    demands = []
    for rule in RULES:
        value = rule.value(bench)
        if value is not None:
            demands.append(rule.judge(value))
    return demands
