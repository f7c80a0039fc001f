# SPDX-License-Identifier: GPL-2.0-or-later
"""Client of spek_prober.ko: start and stop sampling, read rows, take their differences.

The kernel sends counters that only grow. A Row is one reading of them, a Sample the difference of
two rows. A value that was not available is None; a CPU that was offline is left out.
"""

from __future__ import annotations

import contextlib
import struct
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from itertools import pairwise
from typing import TypeVar

import msgspec

from spekctl.closing import Closing
from spekctl.contract.prober_requests import ProbeStartRequest, SampleGetRequest, TaskRequest
from spekctl.errors import NoKernelSideError, SpekError
from spekctl.kernel.gen import spek_prober as uapi
from spekctl.kernel.gen.spek_prober_records import (
    BlockInfo,
    CpuCounters,
    PowerCounters,
    ProbeInfo,
    ProbeState,
    SampleInfo,
    TableInfo,
    TaskCounters,
)
from spekctl.kernel.link import Link, not_loaded

_ABSENT = 0xFFFF_FFFF_FFFF_FFFF
_POLL_S = 0.02


@dataclass(frozen=True, slots=True)
class CpuAndSwitches(CpuCounters):
    """Counters of one CPU or of all, with the column of table switches."""

    switches: int | None


Cells = Mapping[str, int | None]


@dataclass(frozen=True, slots=True)
class Row:
    """One reading: counters by CPU number, by thread id and by number of a rail.

    others: tables memory, net and disk, by name of the table, the entity and the column.
    """

    probe: int
    seq: int
    tick: int
    due_ns: int
    start_ns: int
    end_ns: int
    final: bool
    total: CpuAndSwitches
    cpus: Mapping[int, CpuAndSwitches]
    tasks: Mapping[int, TaskCounters]
    power: Mapping[int, PowerCounters] = field(default_factory=dict)
    others: Mapping[str, Mapping[str, Cells]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Sample:
    """What happened between two rows; CPUs and entities are those that are in both.

    others: as of Row; what is a level is that of the second row. Energy may go back.
    """

    row: Row
    start_ns: int
    end_ns: int
    total: CpuAndSwitches
    cpus: Mapping[int, CpuAndSwitches]
    tasks: Mapping[int, TaskCounters]
    others: Mapping[str, Mapping[str, Cells]] = field(default_factory=dict)
    power: Mapping[int, PowerCounters] = field(default_factory=dict)

    @property
    def duration_ns(self) -> int:
        """Time between the two readings."""
        return self.end_ns - self.start_ns


@dataclass(frozen=True, slots=True)
class Batch:
    """Samples, oldest first; `last` is the row to continue after."""

    samples: tuple[Sample, ...]
    dropped: int
    last: Row | None


@dataclass(frozen=True, slots=True)
class Table:
    """A table of the rows: its columns, and the entities that can appear.

    names: of the entities, where they have any; levels: columns that are no counters;
    steps: of columns whose times the kernel counts in steps of its tick, that tick in ns;
    left_out: entities that it has too many of to describe them, so that it has no rows.
    """

    id: int
    name: str
    columns: tuple[str, ...]
    entities: tuple[int, ...]
    names: tuple[str, ...] = ()
    levels: frozenset[str] = frozenset()
    steps: Mapping[str, int] = field(default_factory=dict)
    left_out: int = 0

    def name_of(self, entity: int) -> str:
        """What an entity is called."""
        if entity == uapi.TOTAL:
            return "total"
        return self.names[self.entities.index(entity)] if self.names else str(entity)


@dataclass(frozen=True, slots=True)
class Probe(ProbeInfo):
    """State and progress of the probe; all zero but for the version where there is none."""

    @property
    def pids(self) -> tuple[int, ...]:
        """The threads that it watches."""
        return tuple(task.pid for task in self.tasks)

    def described(self) -> tuple[Table, ...]:
        """The tables of its rows."""
        return tuple(_table(table) for table in self.tables)

    def cpu_time_step_ns(self) -> int:
        """Error of a difference of CPU times, either way: the kernel's tick; 0 - exact."""
        return max(
            (
                step
                for table in self.described()
                if table.id in (uapi.Table.CPU, uapi.Table.TASK)
                for step in table.steps.values()
            ),
            default=0,
        )


def current() -> Probe | None:
    """The probe of this machine, which samples or has rows; None without it or its module."""
    with contextlib.suppress(NoKernelSideError), Prober() as source:
        info = source.info()
        return None if info.state is ProbeState.IDLE else info
    return None


class Prober(Closing):
    """A connection to spek_prober.ko. The probe that it starts ends with it, unless detached."""

    def __init__(self) -> None:
        self._tables: dict[int, Table] = {}
        self._tables_of = 0
        self._link = Link(
            uapi,
            None,
            not_loaded("spek_prober"),
        )

    def close(self) -> None:
        """Close the connection; a probe that it owns ends."""
        self._link.close()

    def start(
        self,
        interval_ns: int,
        *,
        ring_rows: int | None = None,
        tasks: Iterable[int] = (),
        detached: bool = False,
    ) -> int:
        """Start sampling every @interval_ns, watching the threads @tasks; the probe's number."""
        request = ProbeStartRequest(
            interval_ns,
            ring_rows=ring_rows,
            detached=int(detached),
            tasks=[TaskRequest(pid) for pid in tasks],
        )
        return int(self._link.ask(uapi.Cmd.PROBE_START, **request.attributes())["id"])

    def request_stop(self, probe: int) -> None:
        """Stop sampling without waiting for the last row."""
        self._link.tell(uapi.Cmd.PROBE_STOP, id=probe)

    def stop(self, probe: int, timeout_s: float = 10.0) -> Probe:
        """End sampling; all rows, the final one included, can be read afterwards."""
        self.request_stop(probe)
        end_s = time.monotonic() + timeout_s
        while (info := self.info()).id == probe and info.state != ProbeState.DONE:
            if time.monotonic() > end_s:
                raise SpekError(
                    f"probe {probe} did not end within {timeout_s:g} s", operation="probe-stop"
                )
            time.sleep(_POLL_S)
        return info

    def delete(self, probe: int) -> None:
        """Release an ended probe and its rows."""
        self._link.tell(uapi.Cmd.PROBE_DEL, id=probe)

    def info(self) -> Probe:
        """State of the probe, if there is one."""
        return msgspec.convert(self._link.ask(uapi.Cmd.PROBE_GET), Probe)

    def rows(self, probe: int, since: int = 0, *, hold: bool = False) -> tuple[list[Row], int]:
        """Rows from number @since on that are still there, and how many of them are not.

        With @hold, a row whose power has not come yet is kept back for a while.
        """
        request = SampleGetRequest(probe, since, int(hold))
        answers = self._link.dump(uapi.Cmd.SAMPLE_GET, **request.attributes())
        messages = [msgspec.convert(answer, SampleInfo) for answer in answers]
        dropped = messages[-1].dropped if messages else 0
        seen = {block.table for message in messages for block in message.blocks}
        tables = self._described(probe) if seen.intersection(_OTHERS) else {}
        return [_row(parts, tables) for parts in _by_row(messages)], dropped

    def _described(self, probe: int) -> dict[int, Table]:
        """The tables of a probe, which do not change."""
        if self._tables_of != probe:
            info = self.info()
            if info.id == probe:
                self._tables, self._tables_of = (
                    {table.id: table for table in info.described()},
                    probe,
                )
        return self._tables if self._tables_of == probe else {}

    def samples(self, probe: int, after: Row | None = None, *, hold: bool = False) -> Batch:
        """What happened from row to row since row @after (default: since the oldest row).

        A lost row makes a sample longer; what it would have said is in that sample. `dropped`
        counts the rows that were lost after @after. @hold: as of rows().
        """
        rows, dropped = self.rows(probe, 0 if after is None else after.seq + 1, hold=hold)
        known = rows if after is None else [after, *rows]
        levels = {table.name: table.levels for table in self._tables.values()}
        return Batch(
            samples=tuple(difference(*pair, levels) for pair in pairwise(known)),
            dropped=dropped,
            last=known[-1] if known else None,
        )


Counters = TypeVar("Counters", CpuAndSwitches, TaskCounters, PowerCounters)


def difference(
    first: Row, second: Row, levels: Mapping[str, frozenset[str]] | None = None
) -> Sample:
    """What happened between two rows of one probe; @levels are columns that are no counters."""
    return Sample(
        row=second,
        start_ns=first.start_ns,
        end_ns=second.start_ns,
        total=_minus(second.total, first.total),
        cpus={
            cpu: _minus(counters, first.cpus[cpu])
            for cpu, counters in second.cpus.items()
            if cpu in first.cpus
        },
        tasks={pid: _minus(counters, first.tasks[pid]) for pid, counters in second.tasks.items()},
        others={
            table: {
                name: _cells_minus(cells, first.others[table][name], (levels or {}).get(table, ()))
                for name, cells in entities.items()
                if name in first.others.get(table, {})
            }
            for table, entities in second.others.items()
        },
        power={
            rail: _energy_minus(counters, first.power[rail])
            for rail, counters in second.power.items()
            if rail in first.power
        },
    )


def _energy_minus(now: PowerCounters, before: PowerCounters) -> PowerCounters:
    """Energy is modulo 2^64, and goes back where power is negative."""
    passed = _minus(now, before)
    energy_nj = passed.energy_nj
    if energy_nj is not None:
        energy_nj = (energy_nj + (1 << 63)) % (1 << 64) - (1 << 63)
    return PowerCounters(energy_nj, passed.known_ns, passed.gap_ns)


def _cells_minus(now: Cells, before: Cells, levels: Collection[str]) -> Cells:
    cells: dict[str, int | None] = {}
    for name, value in now.items():
        start = before[name]
        if name in levels:
            cells[name] = value
        else:
            cells[name] = None if value is None or start is None else value - start
    return cells


def _minus(second: Counters, first: Counters) -> Counters:
    values = []
    for counter in fields(second):
        now, before = getattr(second, counter.name), getattr(first, counter.name)
        values.append(None if now is None or before is None else now - before)
    return type(second)(*values)


def _table(info: TableInfo) -> Table:
    columns = {column.name.replace("-", "_"): column for column in info.columns}
    return Table(
        id=info.id,
        name=info.name,
        columns=tuple(columns),
        entities=_numbers("I", info.entities),
        names=info.entity_names,
        levels=frozenset(name for name, column in columns.items() if column.level),
        steps={name: column.step_ns for name, column in columns.items() if column.step_ns},
        left_out=info.left_out,
    )


def _numbers(code: str, data: bytes) -> tuple[int, ...]:
    return struct.unpack(f"={len(data) // struct.calcsize('=' + code)}{code}", data)


def _by_row(messages: Iterable[SampleInfo]) -> Iterator[list[SampleInfo]]:
    """A row is one message, or several of which all but the last say that more comes."""
    parts: list[SampleInfo] = []
    for message in messages:
        parts.append(message)
        if not message.more:
            yield parts
            parts = []


_OTHERS = (uapi.Table.MEMORY, uapi.Table.NET, uapi.Table.DISK)


def _row(parts: Sequence[SampleInfo], described: Mapping[int, Table]) -> Row:
    tables: dict[int, dict[int, tuple[int | None, ...]]] = {table: {} for table in uapi.Table}
    for part in parts:
        for block in part.blocks:
            tables.setdefault(block.table, {}).update(_entities(block))
    switches = tables[uapi.Table.SWITCHES]
    cpus = {
        cpu: CpuAndSwitches(*cells, *switches.get(cpu, (None,)))
        for cpu, cells in tables[uapi.Table.CPU].items()
    }
    head = parts[0]
    return Row(
        probe=head.probe,
        seq=head.seq,
        tick=head.tick,
        due_ns=head.due_ns,
        start_ns=head.start_ns,
        end_ns=head.end_ns,
        final=bool(head.final),
        total=cpus.pop(uapi.TOTAL),
        cpus=cpus,
        tasks={pid: TaskCounters(*cells) for pid, cells in tables[uapi.Table.TASK].items()},
        power={rail: PowerCounters(*cells) for rail, cells in tables[uapi.Table.POWER].items()},
        others={
            table.name: {
                table.name_of(entity): dict(zip(table.columns, cells, strict=True))
                for entity, cells in tables[table.id].items()
            }
            for table in (described[table_id] for table_id in _OTHERS if table_id in described)
        },
    )


def _entities(block: BlockInfo) -> Iterator[tuple[int, tuple[int | None, ...]]]:
    entities = _numbers("I", block.entities)
    cells = [None if cell == _ABSENT else cell for cell in _numbers("Q", block.cells)]
    width = len(cells) // len(entities)
    for index, entity in enumerate(entities):
        yield entity, tuple(cells[index * width : (index + 1) * width])
