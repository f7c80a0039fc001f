# SPDX-License-Identifier: GPL-2.0
"""The prober beside a run: its samples, what it lacks, and a run that outlives it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec
import pytest
from lib.ctl.results import DISK, INFO, as_json, build, printed
from lib.fakes.kernel import SECOND, START_NS, FakeKernel, interval_cell

from spekctl.errors import RefusedError, UsageError
from spekctl.kernel import prober
from spekctl.kernel.gen.spek_prober_records import ProbeState, TableInfo, TaskCounters
from spekctl.kernel.records import (
    IntervalRow,
    Phase,
)
from spekctl.render.progress import LineProgress
from spekctl.run import job, observe
from spekctl.run.collector import Look
from spekctl.run.measure import carry_out
from spekctl.run.session import Session
from spekctl.workload import file
from spekctl.workload.resolve import Options, resolve


def counters(scale: int, **changes: int | None) -> prober.CpuAndSwitches:
    values: dict[str, int | None] = dict.fromkeys(observe.CPU_COLUMNS, 0)
    values.update(
        user_ns=scale * 100,
        system_ns=scale * 300,
        idle_ns=scale * 600,
        switches=scale * 5,
        interrupts=scale * 7,
    )
    return prober.CpuAndSwitches(**{**values, **changes})


@dataclass
class FakeProber:
    """Samples each half second from just before the run on."""

    busy: bool = False
    lacks: str = ""
    left_out: int = 0
    calls: list[str] = field(default_factory=list)

    def start(self, interval_ns: int, tasks: Sequence[int]) -> int:
        self.calls.append(f"start {interval_ns} {tasks}")
        if self.busy:
            raise RefusedError("A probe runs already.")
        return 4

    def info(self) -> prober.Probe:
        tables = (TableInfo(1, "cpu"), TableInfo(5, "net", left_out=self.left_out))
        return prober.Probe(id=4, tables=tables)

    def samples(self, probe: int, after: prober.Row | None) -> prober.Batch:
        first = 0 if after is None else after.seq + 1
        samples = []
        for seq in range(first, 12):
            start = START_NS + seq * SECOND // 2
            changes: dict[str, int | None] = {self.lacks: None} if self.lacks else {}
            total = counters(1, **changes)
            task = TaskCounters(10, 0, 10, 1, 2, 0)
            row = prober.Row(4, seq, seq, start, start, start, False, total, {}, {})
            samples.append(
                prober.Sample(row, start, start + SECOND // 2, total, {0: total}, {50: task})
            )
        return prober.Batch(tuple(samples), 0, samples[-1].row if samples else after)

    def stop(self, probe: int) -> prober.Probe:
        self.calls.append("stop")
        return prober.Probe(
            id=4, state=ProbeState.DONE, module_version="0.1.0", rows=13, cost_sum_ns=1300
        )

    def delete(self, probe: int) -> None:
        self.calls.append("delete")

    def close(self) -> None:
        self.calls.append("close")


def observing(fake: Any, interval_ns: int) -> observe.ProberCollector:
    return observe.ProberCollector(fake, interval_ns)


def observer(**options: Any) -> tuple[observe.ProberCollector, FakeProber]:
    fake = FakeProber(**options)
    return observing(fake, SECOND // 2), fake


def test_samples_are_cut_to_the_measure_phase() -> None:
    seen, fake = observer()
    assert seen.start([50, 0]) == ""
    observed = seen.finish(INFO)
    assert observed is not None
    assert fake.calls == [f"start {SECOND // 2} [50]", "stop", "delete"]
    assert observed.measure_ns == 4 * SECOND
    assert observed.measure["machine"]["system_ns"] == 8 * 300
    assert observed.measure["workers"]["involuntary"] == 16
    assert observed.measure_cpus["0"]["switches"] == 40
    assert (observed.samples, observed.cost_mean_ns) == (12, 100.0)
    result = msgspec.structs.replace(build(), prober=observed)
    as_json(result)
    text = printed(result)
    assert "machine: user 10.0%, system 30.0%, idle 60.0%" in text
    # Of each sample half a second.
    assert "CPU time of all CPUs" in text and "40.0 %" in text
    assert "Interrupts" in text and "14.0/s" in text
    assert "0.400 context switches per I/O" in text


def test_a_table_that_the_prober_left_out_is_named() -> None:
    seen, _ = observer(left_out=3000)
    assert seen.start([]) == ("the prober left table net out: it cannot describe 3000 entities")


def test_a_counter_that_the_kernel_lacks_is_left_out_not_zero() -> None:
    seen, _ = observer(lacks="steal_ns")
    seen.start([])
    observed = seen.finish(INFO)
    assert observed is not None
    assert "steal_ns" not in observed.measure["machine"]
    column = observed.tables[0].columns.index("steal_ns")
    assert {row[column] for row in observed.tables[0].rows} == {None}


def test_the_live_figures_are_of_the_interval() -> None:
    seen, _ = observer()
    seen.start([])
    row = IntervalRow(
        0,
        Phase.MEASURE,
        START_NS + SECOND,
        START_NS + 2 * SECOND,
        0,
        0,
        0,
        0,
        interval_cell(ios=20),
        interval_cell(),
        [],
    )
    seen.take(Look(INFO, [row], [row]))
    figures = seen.machine(row)
    assert figures is not None
    assert (figures.user, figures.system, figures.idle) == (0.1, 0.3, 0.6)
    assert (figures.switches_per_io, figures.interrupts_per_io) == (0.5, 0.7)


def test_somebody_elses_probe_is_left_alone() -> None:
    seen, fake = observer(busy=True)
    assert "A probe runs already." in seen.start([1])
    assert seen.finish(INFO) is None
    seen.close()
    assert fake.calls == [f"start {SECOND // 2} [1]", "close"]


def test_a_probe_does_not_survive_a_failed_run() -> None:
    seen, fake = observer()
    seen.start([1])
    seen.close()
    assert fake.calls[1:] == ["stop", "delete", "close"]


@dataclass
class RingProber(FakeProber):
    """Keeps four rows, and has two a second."""

    kernel: FakeKernel = field(default_factory=FakeKernel)

    def samples(self, probe: int, after: prober.Row | None) -> prober.Batch:
        batch = super().samples(probe, after)
        newest = 2 * self.kernel.seconds + 1
        come = [sample for sample in batch.samples if sample.row.seq <= newest]
        kept = come[-4:]
        return prober.Batch(tuple(kept), len(come) - len(kept), kept[-1].row if kept else after)


@pytest.mark.parametrize("interval_ns", [0, SECOND])
def test_no_sample_is_lost_with_or_without_intervals(interval_ns: int) -> None:
    kernel = FakeKernel()
    workload = file.load("random-read-4k")
    options = Options(available_cpus=(0,), time_ns=5 * SECOND, interval_ns=interval_ns)
    request = job.Request(workload, resolve(workload, options, [DISK]), ())
    seen = observing(RingProber(kernel=kernel), SECOND // 2)
    with Session(kernel, request, LineProgress(quiet=True), job.Interrupts(), [seen]) as session:
        result = carry_out(session)
    assert result.prober is not None
    assert (result.prober.samples, result.prober.dropped) == (12, 0)


@dataclass
class UnloadedProber(FakeProber):
    """Its module is unloaded, or its probe is deleted, after @calls_left calls."""

    calls_left: int = 0

    def samples(self, probe: int, after: prober.Row | None) -> prober.Batch:
        self.calls_left -= 1
        if self.calls_left < 0:
            raise UsageError("There is no probe, start one first.")
        return super().samples(probe, after)


@pytest.mark.parametrize("calls_left", [0, 1, 1000])
def test_a_run_outlives_its_prober(calls_left: int) -> None:
    """From start to result: the run completes, and the result says what is missing and why."""
    kernel = FakeKernel()
    workload = file.load("random-read-4k")
    request = job.Request(workload, resolve(workload, Options(available_cpus=(0,)), [DISK]), ())
    seen = observing(UnloadedProber(calls_left=calls_left), SECOND)
    with Session(kernel, request, LineProgress(quiet=True), job.Interrupts(), [seen]) as session:
        result = carry_out(session)
    assert result.outcome.ok
    lost = [remark for remark in result.remarks if "lost spek_prober during the run" in remark]
    if calls_left == 1000:
        assert result.prober is not None and not lost
    else:
        assert len(lost) == 1 and "There is no probe" in lost[0]
        assert lost[0].endswith(
            "system statistics end there" if calls_left else "there are no system statistics"
        )
        # What was at hand is not thrown away.
        assert (result.prober is not None) == bool(calls_left)
        if result.prober is not None:
            assert result.prober.samples == len(result.prober.start_ns) == 12
            assert result.prober.measure["machine"]
