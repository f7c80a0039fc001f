# SPDX-License-Identifier: GPL-2.0-or-later
"""The state and counters of all runs in the kernel, and of the probe, at this moment, for a
monitoring system."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass

from spekctl.errors import NoKernelSideError, NotFoundError
from spekctl.kernel import prober
from spekctl.kernel.client import Kernel
from spekctl.kernel.prober import Probe, Row
from spekctl.kernel.records import (
    Cells,
    ProbeCounters,
    ProbeState,
    RunInfo,
    RunState,
    StatsCell,
)


@dataclass(frozen=True, slots=True)
class Scraped:
    """Each run with its cells, by number; the probe."""

    runs: Sequence[tuple[RunInfo, Sequence[StatsCell]]]
    probe: ProbeCounters | None = None


# These have no counters yet, or never get them.
_WITHOUT = (RunState.OPENING, RunState.READY, RunState.FAILED)


def _runs(kernel: Kernel) -> list[tuple[RunInfo, list[StatsCell]]]:
    """Each run with its cells, by number; without those that are deleted meanwhile."""
    runs_and_cells = []
    for info in sorted(kernel.runs(), key=lambda info: info.id):
        with contextlib.suppress(NotFoundError):
            runs_and_cells.append((info, [] if info.state in _WITHOUT else kernel.stats(info.id)))
    return runs_and_cells


# How far back to look for a row whose power has arrived.
_BACK_NS, _BACK_ROWS = 10**9, 256


def everything(connect: Callable[[], Kernel]) -> Scraped:
    """Runs and probe of the modules that are loaded; NoKernelSideError of the runs' if neither has
    anything."""
    probe = _probe()
    try:
        kernel = connect()
    except NoKernelSideError:
        if probe is None:
            raise
        return Scraped([], probe)
    try:
        return Scraped(_runs(kernel), probe)
    finally:
        kernel.close()


def _probe() -> ProbeCounters | None:
    """The probe and its latest row, if it has one; None without a probe or prober."""
    # NotFoundError: the probe was deleted meanwhile.
    with contextlib.suppress(NoKernelSideError, NotFoundError), prober.Prober() as source:
        info = source.info()
        if info.state is ProbeState.IDLE:
            return None
        back = min(_BACK_ROWS, _BACK_NS // info.interval_ns + 1)
        since = max(0, info.rows - 1 - back)
        # Where power takes longer to arrive, the other tables are worth telling without it.
        rows = source.rows(info.id, since, hold=True)[0] or source.rows(info.id, since)[0]
        return ProbeCounters(
            *(info.id, info.owner_name, info.state, info.rows, info.missed),
            _tables(info, rows[-1]) if rows else {},
            {table.name: table.levels for table in info.described()},
        )
    return None


def _tables(info: Probe, row: Row) -> dict[str, Mapping[str, Cells]]:
    tasks = {str(pid): asdict(task) for pid, task in row.tasks.items()}
    for task in tasks.values():
        task.pop("ended")
    rails = next((table for table in info.described() if table.name == "power"), None)
    power = {rails.name_of(rail): asdict(use) for rail, use in row.power.items()} if rails else {}
    cpus = {str(cpu): asdict(counters) for cpu, counters in sorted(row.cpus.items())}
    return {"cpu": cpus, "task": tasks, **row.others, "power": power}
