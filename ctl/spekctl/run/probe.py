# SPDX-License-Identifier: GPL-2.0-or-later
"""A probe without a run: its samples, as they come, and the document that is made of them.

Samples are kept as rows of numbers, for a probe of days has many.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, fields
from typing import Protocol

from spekctl.documents.prober import ProbeReport, ProberReport
from spekctl.documents.result_parts import Clocks, ProberTable
from spekctl.documents.samples import Samples
from spekctl.errors import NotFoundError, UsageError
from spekctl.kernel.gen import spek_prober as uapi
from spekctl.kernel.gen.spek_prober_records import PowerCounters, ProbeState, TaskCounters
from spekctl.kernel.prober import Batch, CpuAndSwitches, Probe, Row, Sample, Table
from spekctl.run import build

# What can be chosen; context switches are columns of CPUs.
TABLES = ("cpu", "memory", "net", "disk", "power", "task")
_CPU_COLUMNS = [column.name for column in fields(CpuAndSwitches)]
_TASK_COLUMNS = [column.name for column in fields(TaskCounters) if column.name != "ended"]
_POWER_COLUMNS = [column.name for column in fields(PowerCounters)]

Cells = list[int | None]


class Source(Protocol):
    """The part of Prober that is needed here."""

    def info(self) -> Probe: ...

    def samples(self, probe: int, after: Row | None = None, *, hold: bool = False) -> Batch: ...


@dataclass(slots=True)
class _Grown:
    """A table that is being filled."""

    columns: list[str]
    rows: list[Cells] = field(default_factory=list)


class Collector:
    """The samples of one probe."""

    def __init__(
        self, source: Source, probe: int, tables: Collection[str] = (), feeds: Collection[str] = ()
    ) -> None:
        """Of all @tables and power @feeds, or of those that are named."""
        self._source = source
        self._probe = probe
        self._wanted = frozenset(tables or TABLES)
        self._feeds = frozenset(feeds)
        self._last: Row | None = None
        self._dropped = 0
        self._start_ns: list[int] = []
        self._end_ns: list[int] = []
        self._tables: dict[str, _Grown] = {}
        self._power: Table | None = None
        self._check()

    def _check(self) -> None:
        info = current(self._source)
        if info.id != self._probe:
            raise NotFoundError(f"there is no probe {self._probe} any more")
        self._power = next(
            (table for table in info.described() if table.id == uapi.Table.POWER), None
        )
        names = {name.partition("/")[0] for name in self._power.names} if self._power else set()
        for feed in sorted(self._feeds - names):
            known = f"it has {', '.join(sorted(names))}" if names else "it has none"
            raise UsageError(f"--power-feed: the probe has no feed '{feed}'; {known}")

    def fetch(self) -> tuple[Sample, ...]:
        """The samples since the last call, of which power is known or was waited for."""
        batch = self._source.samples(self._probe, self._last, hold=True)
        for sample in batch.samples:
            self._add(sample)
        self._dropped += batch.dropped
        self._last = batch.last
        return batch.samples

    @property
    def is_complete(self) -> bool:
        """The last row of the probe has come."""
        return self._last is not None and self._last.final

    def _add(self, sample: Sample) -> None:
        self._start_ns.append(sample.start_ns)
        self._end_ns.append(sample.end_ns)
        count = len(self._start_ns)
        for name, columns, cells in self._cells(sample):
            table = self._tables.setdefault(name, _Grown(columns))
            # An entity that was not in the samples before it.
            table.rows += [[None] * len(columns) for _ in range(count - 1 - len(table.rows))]
            table.rows.append(cells)

    def _cells(self, sample: Sample) -> Iterator[tuple[str, list[str], Cells]]:
        wanted = self._wanted
        if "cpu" in wanted:
            yield (
                "machine",
                _CPU_COLUMNS,
                [getattr(sample.total, column) for column in _CPU_COLUMNS],
            )
            for cpu, times in sorted(sample.cpus.items()):
                yield (
                    f"cpu {cpu}",
                    _CPU_COLUMNS,
                    [getattr(times, column) for column in _CPU_COLUMNS],
                )
        if "task" in wanted:
            for pid, task in sample.tasks.items():
                yield (
                    f"task {pid}",
                    _TASK_COLUMNS,
                    [getattr(task, column) for column in _TASK_COLUMNS],
                )
        for name, entities in sample.others.items():
            if name in wanted:
                for entity, cells in entities.items():
                    label = name if entity == "total" else f"{name} {entity}"
                    yield label, list(cells), list(cells.values())
        if "power" in wanted and self._power is not None:
            for rail, use in sample.power.items():
                label = self._power.name_of(rail)
                if not self._feeds or label.partition("/")[0] in self._feeds:
                    values = [getattr(use, column) for column in _POWER_COLUMNS]
                    yield f"power {label}", _POWER_COLUMNS, values

    def take(self) -> Samples:
        """What has been fetched since the last call; it is not in the document then."""
        count = len(self._start_ns)
        for table in self._tables.values():
            absent = count - len(table.rows)
            table.rows += [[None] * len(table.columns) for _ in range(absent)]
        taken = Samples(
            self._start_ns,
            self._end_ns,
            [ProberTable(name, table.columns, table.rows) for name, table in self._tables.items()],
            build.swap_bytes(),
        )
        self._start_ns, self._end_ns, self._tables = [], [], {}
        return taken

    def report(self) -> ProberReport:
        """The document of what has been fetched, once all of it has."""
        info = self._source.info()
        samples = self.take()
        has_ended = info.state is ProbeState.DONE
        return ProberReport(
            environment=build.environment(info.module_version),
            probe=ProbeReport(
                number=info.id,
                owner=info.owner_name,
                detached=bool(info.detached),
                ended=has_ended,
                reason=str(info.reason),
                interval_ns=info.interval_ns,
                rows=info.rows,
                missed=info.missed,
                late_max_ns=info.late_max_ns,
                cost_mean_ns=info.cost_sum_ns / info.rows if info.rows else 0.0,
                cost_max_ns=info.cost_max_ns,
                cpu_time_step_ns=info.cpu_time_step_ns(),
                started=Clocks(info.started_ns, info.start_raw_ns, info.start_real_ns),
                ended_at=Clocks(info.ended_ns, info.end_raw_ns, info.end_real_ns)
                if has_ended
                else None,
            ),
            dropped=self._dropped,
            left_out={table.name: table.left_out for table in info.described() if table.left_out},
            swap_bytes=samples.swap_bytes,
            start_ns=samples.start_ns,
            end_ns=samples.end_ns,
            tables=samples.tables,
        )


def current(source: Source) -> Probe:
    """The probe of the prober; UsageError if there is none."""
    info = source.info()
    if info.state is ProbeState.IDLE:
        raise UsageError("there is no probe; `spekctl prober start` starts one")
    return info
