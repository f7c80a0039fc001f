# SPDX-License-Identifier: GPL-2.0-or-later
"""The prober during a run: samples of the machine, cut to the run's intervals and phases."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Sequence
from dataclasses import fields

from spekctl.documents.result_parts import ProberResult, ProberTable
from spekctl.errors import NoKernelSideError, RefusedError, SpekError, UsageError
from spekctl.kernel.feeds import PowerLink
from spekctl.kernel.gen.spek_prober_records import TaskCounters
from spekctl.kernel.prober import CpuAndSwitches, Probe, Prober, Row, Sample
from spekctl.kernel.records import IntervalRow, RunInfo, is_covered
from spekctl.power.meter import Meter, PowerOptions
from spekctl.run import build
from spekctl.run.collector import Claimed, Collector, Ended, Look, Sections
from spekctl.run.metering import PowerCollector
from spekctl.run.progress import MachineFigures

CPU_COLUMNS = tuple(field.name for field in fields(CpuAndSwitches))
MEMORY = "memory"
TASK_COLUMNS = tuple(field.name for field in fields(TaskCounters) if field.name != "ended")
# Guest time is part of user time, so it does not count twice.
_CPU_TIMES = ("user_ns", "nice_ns", "system_ns", "idle_ns", "iowait_ns", "irq_ns", "softirq_ns")


def connect(interval_ns: int, power: PowerOptions | None = None) -> tuple[Sequence[Collector], str]:
    """Collectors of power and of the prober's samples, or a sentence on why they are missing."""
    try:
        prober = Prober()
    except NoKernelSideError:
        text = "no prober (spek_prober is not loaded): CPU columns of the machine missing"
        if power is not None and power.feeds:
            raise UsageError(f"--power-feed: {text}") from None
        return (), text
    metering = PowerCollector(Meter(PowerLink(), power or PowerOptions()))
    return (metering, ProberCollector(prober, interval_ns)), ""


class ProberCollector(Collector):
    """Samples from just before a run until just after it."""

    def __init__(self, prober: Prober, interval_ns: int) -> None:
        self._prober = prober
        self._interval_ns = interval_ns
        self._probe: int | None = None
        self._known = Probe()  # its state and costs, at the last look
        self._samples: list[Sample] = []
        self._last: Row | None = None
        self._dropped = 0
        self._trouble = ""

    @property
    def probe(self) -> int | None:
        """Number of its probe, while it samples."""
        return self._probe

    def trouble(self) -> str:
        """Why sampling ended before the run; empty if it did not."""
        return self._trouble

    def arm(self, claimed: Claimed) -> str:
        """Start sampling, the workers' tasks included."""
        return self.start([worker.pid for worker in claimed.info.workers])

    def start(self, pids: Sequence[int]) -> str:
        """Start sampling, without the prober if another program uses it; what is missing."""
        try:
            self._probe = self._prober.start(self._interval_ns, tasks=[pid for pid in pids if pid])
        except RefusedError as error:
            return f"no prober ({error.message}): CPU columns of the machine missing"
        except UsageError as error:
            raise UsageError(f"--prober-interval: {error.message}") from error
        self._known = self._prober.info()
        return "; ".join(
            f"the prober left table {table.name} out: it cannot describe {table.left_out} entities"
            for table in self._known.described()
            if table.left_out
        )

    def machine(self, row: IntervalRow) -> MachineFigures | None:
        """The machine during an interval, from the samples whose middle lies in it."""
        if self._probe is None:
            return None
        inside = [
            sample
            for sample in self._samples
            if row.start_ns <= (sample.start_ns + sample.end_ns) // 2 < row.end_ns
        ]
        sums = _sum(CPU_COLUMNS, (sample.total for sample in inside))
        busy_ns = sum(sums.get(name, 0) for name in _CPU_TIMES) + sums.get("steal_ns", 0)
        if not busy_ns:
            return None
        seconds = sum(sample.duration_ns for sample in inside) / 1e9
        ios = row.read.ios + row.write.ios if is_covered(row) else 0
        iops = ios / (max(row.end_ns - row.start_ns, 1) / 1e9)

        def per_io(column: str) -> float | None:
            return sums[column] / seconds / iops if iops and column in sums else None

        return MachineFigures(
            user=(sums.get("user_ns", 0) + sums.get("nice_ns", 0)) / busy_ns,
            system=sums.get("system_ns", 0) / busy_ns,
            irq=(sums.get("irq_ns", 0) + sums.get("softirq_ns", 0)) / busy_ns,
            idle=(sums.get("idle_ns", 0) + sums.get("iowait_ns", 0)) / busy_ns,
            switches_per_io=per_io("switches"),
            interrupts_per_io=per_io("interrupts"),
        )

    def take(self, look: Look) -> None:
        """Take in the samples since the last look."""
        # Even if no interval ended: the prober's ring may hold less than an interval.
        self.fetch()

    def fetch(self) -> None:
        """Take in the samples since the last call."""
        if self._probe is None:
            return
        try:
            self._fetch()
        except SpekError as error:
            self._lose(error)

    def conclude(self, ended: Ended, sections: Sections) -> None:
        """Stop sampling."""
        sections.prober = self.finish(ended.info)
        if self._trouble:
            sections.remarks.append(self._trouble)

    def finish(self, info: RunInfo) -> ProberResult | None:
        """Stop sampling; return all samples, of a prober that was lost those until then."""
        if self._probe is not None:
            try:
                probe = self._prober.stop(self._probe)
                self._fetch()
                self._prober.delete(self._probe)
                self._known, self._probe = probe, None
            except SpekError as error:
                self._lose(error)
        return self._result(info) if self._samples else None

    def _result(self, info: RunInfo) -> ProberResult:
        probe = self._known
        inside = [
            sample
            for sample in self._samples
            if info.measure_ns
            and sample.start_ns >= info.measure_ns
            and sample.end_ns <= (info.drain_ns or info.now_ns)
        ]
        cpus = sorted({cpu for sample in inside for cpu in sample.cpus})
        return ProberResult(
            module_version=probe.module_version,
            interval_ns=probe.interval_ns,
            samples=len(self._samples),
            dropped=self._dropped,
            missed=probe.missed,
            late_max_ns=probe.late_max_ns,
            cost_mean_ns=probe.cost_sum_ns / probe.rows if probe.rows else 0.0,
            cost_max_ns=probe.cost_max_ns,
            cpu_time_step_ns=probe.cpu_time_step_ns(),
            swap_bytes=build.swap_bytes(),
            start_ns=[sample.start_ns for sample in self._samples],
            end_ns=[sample.end_ns for sample in self._samples],
            tables=[
                ProberTable(
                    "machine",
                    list(CPU_COLUMNS),
                    [
                        [getattr(sample.total, name) for name in CPU_COLUMNS]
                        for sample in self._samples
                    ],
                ),
                ProberTable(
                    "workers",
                    list(TASK_COLUMNS),
                    [_workers(sample) for sample in self._samples],
                ),
                *_others(self._samples),
            ],
            measure_ns=sum(sample.duration_ns for sample in inside),
            measure={
                "machine": _sum(CPU_COLUMNS, (sample.total for sample in inside)),
                "workers": _sum(
                    TASK_COLUMNS, (task for sample in inside for task in sample.tasks.values())
                ),
            },
            measure_cpus={
                str(cpu): _sum(
                    CPU_COLUMNS, (sample.cpus[cpu] for sample in inside if cpu in sample.cpus)
                )
                for cpu in cpus
            },
        )

    def close(self) -> None:
        """End the probe if it still runs, and the connection."""
        with contextlib.suppress(SpekError):
            if self._probe is not None:
                self._prober.stop(self._probe)
                self._prober.delete(self._probe)
        self._probe = None
        self._prober.close()

    def _lose(self, error: SpekError) -> None:
        """The prober was unloaded, or its probe was ended: the run continues without it. What it
        has sampled until then stays."""
        self._probe = None
        left = "system statistics end there" if self._samples else "there are no system statistics"
        self._trouble = f"lost spek_prober during the run ({error.message}): {left}"

    def _fetch(self) -> None:
        assert self._probe is not None
        batch = self._prober.samples(self._probe, self._last)
        now = self._prober.info()
        if now.id == self._probe:
            self._known = now
        self._samples += batch.samples
        self._dropped += batch.dropped
        self._last = batch.last


def _sum(
    columns: Sequence[str], counters: Iterable[CpuAndSwitches | TaskCounters]
) -> dict[str, int]:
    """Sums by column; a column that is missing somewhere is left out rather than wrong."""
    sums = dict.fromkeys(columns, 0)
    any_counter = False
    for counter in counters:
        any_counter = True
        for name in tuple(sums):
            value = getattr(counter, name)
            if value is None:
                del sums[name]
            else:
                sums[name] += value
    return sums if any_counter else {}


def _others(samples: Sequence[Sample]) -> list[ProberTable]:
    """Memory, and the interfaces and disks with any activity."""
    names = {
        (table, entity): list(cells)
        for sample in samples
        for table, entities in sample.others.items()
        for entity, cells in entities.items()
    }
    tables = []
    for (table, entity), columns in names.items():
        cells = [sample.others.get(table, {}).get(entity, {}) for sample in samples]
        rows = [[cell.get(column) for column in columns] for cell in cells]
        if table == MEMORY or any(any(row) for row in rows):
            name = table if table == MEMORY else f"{table} {entity}"
            tables.append(ProberTable(name, columns, rows))
    return tables


def _workers(sample: Sample) -> list[int | None]:
    sums = _sum(TASK_COLUMNS, sample.tasks.values())
    return [sums.get(name) for name in TASK_COLUMNS]
