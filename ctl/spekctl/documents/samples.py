# SPDX-License-Identifier: GPL-2.0-or-later
"""What the samples of the prober say about the machine over time, as series of figures.

Text, report and plots all show these charts, so that a figure and its unit are defined once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from spekctl.documents.result_parts import ProberTable

Unit = Literal["%", "1/s", "B", "B/s", "W"]

MACHINE, MEMORY = "machine", "memory"
# Guest time is part of user time, so it does not count twice.
CPU_TIMES = ("user", "nice", "system", "irq", "softirq", "steal", "iowait", "idle")
_SHARES = {
    "busy": ("user", "nice", "system", "irq", "softirq", "steal"),
    "user": ("user", "nice"),
    "system": ("system",),
    "interrupts": ("irq", "softirq"),
    "steal": ("steal",),
    "iowait": ("iowait",),
}

Values = list[float | None]


class Sampled(Protocol):
    """The part of a document that has samples: differences of the prober's counters."""

    @property
    def start_ns(self) -> list[int]: ...
    @property
    def end_ns(self) -> list[int]: ...
    @property
    def tables(self) -> list[ProberTable]: ...
    @property
    def swap_bytes(self) -> int | None: ...


@dataclass(frozen=True, slots=True)
class Samples:
    """Samples that are in no document."""

    start_ns: list[int]
    end_ns: list[int]
    tables: list[ProberTable]
    swap_bytes: int | None


@dataclass(frozen=True, slots=True)
class Series:
    """A figure in each sample; None where it is not known."""

    name: str
    values: Values


@dataclass(frozen=True, slots=True)
class Chart:
    """Figures of the same unit that belong together. @key: its name in files and pages."""

    key: str
    title: str
    unit: Unit
    series: Sequence[Series]


def charts(samples: Sampled) -> list[Chart]:
    """Everything that the samples say, without figures that are missing in all of them."""
    filled = []
    for chart in _charts(samples):
        known = [
            series for series in chart.series if any(value is not None for value in series.values)
        ]
        if known:
            filled.append(Chart(chart.key, chart.title, chart.unit, known))
    return filled


class _Reader:
    """The columns of a table, over the lengths of the samples."""

    def __init__(self, table: ProberTable, seconds: Sequence[float]) -> None:
        self._place = {name: index for index, name in enumerate(table.columns)}
        self._rows = table.rows
        self._seconds = seconds

    def column(self, name: str) -> list[int | None]:
        """The cells of a column."""
        place = self._place.get(name)
        return [None if place is None else row[place] for row in self._rows]

    def level(self, name: str) -> Values:
        """A level, as it is."""
        return [None if cell is None else float(cell) for cell in self.column(name)]

    def rate(self, name: str, scale: float = 1.0) -> Values:
        """A counter per second."""
        return [
            None if cell is None or not length else cell * scale / length
            for cell, length in zip(self.column(name), self._seconds, strict=True)
        ]

    def share(self, part: Iterable[str], whole: Iterable[str]) -> Values:
        """The sum of some columns in per cent of that of others."""
        parts, wholes = self._sums(part), self._sums(whole)
        return [
            None if part is None or not every else 100 * part / every
            for part, every in zip(parts, wholes, strict=True)
        ]

    def _sums(self, names: Iterable[str]) -> list[int | None]:
        columns = [self.column(name) for name in names]
        return [
            None if any(cell is None for cell in cells) else sum(cell or 0 for cell in cells)
            for cells in zip(*columns, strict=True)
        ]


def _charts(samples: Sampled) -> Iterator[Chart]:
    seconds = [
        (end - start) / 1e9 for start, end in zip(samples.start_ns, samples.end_ns, strict=True)
    ]
    for table in samples.tables:
        kind, _, entity = table.name.partition(" ")
        if kind in _OF_TABLES:
            yield from _OF_TABLES[kind](_Reader(table, seconds), entity, samples)


def _machine(reader: _Reader, entity: str, samples: Sampled) -> Iterator[Chart]:
    whole = [f"{name}_ns" for name in CPU_TIMES]
    yield Chart(
        "machine-cpu",
        "CPU time of all CPUs",
        "%",
        [
            Series(name, reader.share([f"{part}_ns" for part in parts], whole))
            for name, parts in _SHARES.items()
        ],
    )
    switches = [Series("context switches", reader.rate("switches"))]
    yield Chart("machine-switches", "Context switches", "1/s", switches)
    yield Chart(
        "machine-interrupts",
        "Interrupts",
        "1/s",
        [
            Series("interrupts", reader.rate("interrupts")),
            Series("of devices", reader.rate("device_interrupts")),
            Series("softirqs", reader.rate("softirqs")),
        ],
    )


def _cpu(reader: _Reader, entity: str, samples: Sampled) -> Iterator[Chart]:
    whole = [f"{name}_ns" for name in CPU_TIMES]
    busy = Series("busy", reader.share([f"{part}_ns" for part in _SHARES["busy"]], whole))
    yield Chart(f"cpu-{entity}", f"CPU {entity}", "%", [busy])


def _task(reader: _Reader, entity: str, samples: Sampled) -> Iterator[Chart]:
    series = [Series("of a CPU", reader.rate("runtime_ns", 1e-7))]
    yield Chart(f"task-{entity}", f"CPU time of thread {entity}", "%", series)


def _memory(reader: _Reader, entity: str, samples: Sampled) -> Iterator[Chart]:
    levels = ("available", "free", "cached", "dirty", "writeback", "slab")
    series = [Series(name, reader.level(f"{name}_bytes")) for name in levels]
    yield Chart("memory", "Memory", "B", series)
    size = samples.swap_bytes
    if size:
        used: Values = [
            None if free is None else max(0.0, size - free)
            for free in reader.level("swap_free_bytes")
        ]
        whole = [None if value is None else float(size) for value in used]
        yield Chart("swap", "Swap", "B", [Series("used", used), Series("size", whole)])
    moves = {"in": "swapped_in_bytes", "out": "swapped_out_bytes"}
    swapping = [Series(name, reader.rate(column)) for name, column in moves.items()]
    if any(value for series in swapping for value in series.values):
        yield Chart("swapping", "Swapping", "B/s", swapping)


def _net(reader: _Reader, entity: str, samples: Sampled) -> Iterator[Chart]:
    series = [
        Series("received", reader.rate("rx_bytes")),
        Series("sent", reader.rate("tx_bytes")),
    ]
    yield Chart(f"net-{entity}", f"Network interface {entity}", "B/s", series)


def _disk(reader: _Reader, entity: str, samples: Sampled) -> Iterator[Chart]:
    rates = {"read": "read_bytes", "written": "write_bytes"}
    series = [Series(name, reader.rate(column)) for name, column in rates.items()]
    yield Chart(f"disk-{entity}", f"Disk {entity}", "B/s", series)
    counts = {"reads": "reads", "writes": "writes"}
    series = [Series(name, reader.rate(column)) for name, column in counts.items()]
    yield Chart(f"disk-ios-{entity}", f"I/Os of disk {entity}", "1/s", series)
    busy = [Series("busy", reader.rate("busy_time_ns", 1e-7))]
    yield Chart(f"disk-busy-{entity}", f"Busy time of disk {entity}", "%", busy)


def _power(reader: _Reader, entity: str, samples: Sampled) -> Iterator[Chart]:
    energy, known = reader.column("energy_nj"), reader.column("known_ns")
    watts: Values = [
        None if nj is None or not ns else nj / ns for nj, ns in zip(energy, known, strict=True)
    ]
    yield Chart(f"power-{entity}", f"Power of rail {entity}", "W", [Series("mean", watts)])


_OF_TABLES: Mapping[str, Callable[[_Reader, str, Sampled], Iterator[Chart]]] = {
    MACHINE: _machine,
    "cpu": _cpu,
    "task": _task,
    MEMORY: _memory,
    "net": _net,
    "disk": _disk,
    "power": _power,
}
