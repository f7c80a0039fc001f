# SPDX-License-Identifier: GPL-2.0
"""Results of the hosts of a fleet, made up of counters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import msgspec
from lib.ctl import results
from lib.fakes.kernel import SECOND, interval_cell

from spekctl.documents.hosts import HostClock, HostFacts, HostLoss
from spekctl.documents.result import Result
from spekctl.documents.result_parts import IntervalPower, PowerResult, RailPower
from spekctl.documents.verification import VerifyCounts, VerifyResult
from spekctl.fleet.merge import of_host
from spekctl.kernel.records import Direction, IntervalRow, Phase, StatsCell

# The common start; CLOCK_REALTIME.
T0 = 1_700_000_000 * SECOND
RAMP_S = 1


@dataclass(frozen=True)
class Spec:
    """A host. @boot_ns: its CLOCK_REALTIME minus CLOCK_MONOTONIC; @measure: per second of the
    measure phase its reads and writes, each with its response time in ns."""

    name: str
    measure: Sequence[tuple[Sequence[int], Sequence[int]]] = (((200_000, 300_000), (900_000,)),) * 4
    skew_ns: int = 0
    boot_ns: int = T0 - 77 * SECOND
    lost_s: int | None = None
    strayed: str = ""
    watts: float | None = None
    errors: int = 0
    missing: Sequence[int] = ()  # seconds whose row was never read
    wrong: int = 0  # blocks
    ends: Sequence[int | None] = ()  # of its arrival processes, since it began to measure


def result_of(spec: Spec, **changes: Any) -> Result:
    """What the host's own spekctl says."""
    zero = T0 + spec.skew_ns - spec.boot_ns
    measure_ns = zero + RAMP_S * SECOND
    drain_ns = measure_ns + len(spec.measure) * SECOND
    info = replace(
        results.INFO,
        started_ns=zero,
        start_real_ns=T0 + spec.skew_ns,
        measure_ns=measure_ns,
        drain_ns=drain_ns,
        ended_ns=drain_ns + 1000,
        end_real_ns=drain_ns + 1000 + spec.boot_ns,
        errors=spec.errors,
        first_error="read at 4096: EIO" if spec.errors else "",
    )
    reads = [ns for second, _ in spec.measure for ns in second]
    writes = [ns for _, second in spec.measure for ns in second]
    cells = [
        cell(direction, times, spec.errors)
        for direction, times in ((Direction.READ, reads), (Direction.WRITE, writes))
        if times
    ]
    rows = [row_of(spec, second, measure_ns) for second in range(len(spec.measure))]
    rows = [row for second, row in enumerate(rows) if second not in spec.missing]
    result = results.build(info, cells, rows, None)
    environment = msgspec.structs.replace(
        result.environment, hostname=spec.name, boot_id=f"boot of {spec.name}"
    )
    if spec.watts is not None:
        seconds = float(len(spec.measure))
        result = msgspec.structs.replace(result, power=power_of(spec.watts, seconds), power_text="")
    if spec.wrong:
        result = msgspec.structs.replace(result, verify=verified(spec.wrong))
    outcome = msgspec.structs.replace(
        result.outcome,
        text=f"{spec.wrong} blocks were wrong" if spec.wrong else result.outcome.text,
        ok=result.outcome.ok and not spec.wrong,
        arrival_ends_ns={f"process{place}": end_ns for place, end_ns in enumerate(spec.ends)},
    )
    return msgspec.structs.replace(
        result, **{"environment": environment, "outcome": outcome, **changes}
    )


def verified(wrong: int) -> VerifyResult:
    """A verification by which so many blocks were wrong."""
    counts = VerifyCounts(8, 0, 0, wrong, {"corrupt": wrong}, discarded=0)
    return VerifyResult(wrong, True, f"{wrong} blocks were wrong", 7, 4096, 64, counts, 0)


def large(rows: int) -> Spec:
    """A host whose result is of usual size: so many rows, and histograms of times from 50 us to
    50 ms. Its name is HOST wherever the result has it, and nothing else is."""
    spread = [50_000 + round(50_000_000 * (n / 4000) ** 5) for n in range(4000)]
    return Spec("HOST", [(spread[::40], spread[20::80])] * rows)


def cell(direction: Direction, times: list[int], errors: int) -> StatsCell:
    """A cell of the measure phase; all errors are of reads."""
    counted = results.cell(direction, times)
    if direction is Direction.WRITE or not errors:
        return counted
    return StatsCell(
        counted.phase, 0, direction, counted.ios, counted.bytes, counted.requests, errors,
        {5: errors}, counted.histograms,
    )  # fmt: skip


def row_of(spec: Spec, second: int, measure_ns: int) -> IntervalRow:
    reads, writes = spec.measure[second]
    return IntervalRow(
        seq=second,
        phase=Phase.MEASURE,
        start_ns=measure_ns + second * SECOND,
        end_ns=measure_ns + (second + 1) * SECOND,
        outstanding=3,
        backlog=second,
        worker_cpu_ns=SECOND // 4,
        worker_switches=7,
        read=_cell(reads),
        write=_cell(writes),
        streams=[(len(reads), 8192 * len(reads), len(writes), 8192 * len(writes))],
    )


def _cell(times: Sequence[int]) -> Any:
    if not times:
        return interval_cell()
    order = sorted(times)
    return interval_cell(
        ios=len(times), bytes=8192 * len(times), response_sum_ns=sum(times),
        response_max_ns=order[-1], response_p50_ns=order[len(order) // 2],
        response_p99_ns=order[-1], service_sum_ns=sum(times), service_max_ns=order[-1],
    )  # fmt: skip


def power_of(watts: float, seconds: float) -> PowerResult:
    rail = RailPower("supply", watts * seconds, watts, watts - 1, watts + 1, seconds, 0.0, 40)
    whole = IntervalPower([rail], msgspec.structs.replace(rail, name="total"))
    return PowerResult([], 0.5, whole, 1000, 0.25, 0.5)


def facts_of(spec: Spec, **changes: Any) -> HostFacts:
    """What the controller knows of it."""
    loss = None
    if spec.lost_s is not None:
        loss = HostLoss(T0 + spec.lost_s * SECOND, "its connection broke")
    clock = HostClock(40_000 + abs(spec.skew_ns), "chrony, stratum 3", strayed=spec.strayed)
    facts = HostFacts(spec.name, planned_ns=T0, clock=clock, loss=loss)
    return msgspec.structs.replace(facts, **changes)


def fleet_of(spec: Spec) -> Result:
    """A fleet of this host alone."""
    return of_host(result_of(spec), facts_of(spec))


def three() -> list[Result]:
    """Fleets of three hosts of one host each: half, a third and a sixth of the I/Os."""

    def load(ios: int) -> list[tuple[list[int], list[int]]]:
        return [([200_000 + 977 * n for n in range(ios)], [900_000] * (ios // 2))] * 4

    return [
        fleet_of(Spec("alpha", load(60), 20_000, watts=10.0)),
        fleet_of(Spec("beta", load(40), -35_000, T0 - 5 * SECOND, watts=20.0)),
        fleet_of(Spec("gamma", load(20), 5_000, T0 - 999 * SECOND, watts=30.0)),
    ]
