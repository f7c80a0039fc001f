# SPDX-License-Identifier: GPL-2.0
"""Results: the schema is published and kept, the numbers can be recomputed from the buckets."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

import msgspec
import pytest
from lib.ctl.schemas import validator
from lib.fakes.kernel import SECOND, START_NS, FakeKernel, histogram, interval_cell

from spekctl import files
from spekctl.documents import histogram as documents_histogram
from spekctl.documents import result
from spekctl.documents.device import DiskCounters, TargetFacts
from spekctl.errors import RefusedError, UsageError
from spekctl.kernel import prober
from spekctl.kernel.gen.spek_prober_records import ProbeState, TaskCounters
from spekctl.kernel.records import (
    Backend,
    Direction,
    Histogram,
    IntervalRow,
    Metric,
    Phase,
    Reason,
    RunInfo,
    RunState,
    SenseInfo,
    StatsCell,
    TargetInfo,
)
from spekctl.render import result as render_result
from spekctl.render.progress import LineProgress
from spekctl.run import build as run_build
from spekctl.run import execute, job, observe
from spekctl.workload import file
from spekctl.workload.resolve import Options, Target, resolve

SCHEMA = json.loads(result.SCHEMA_FILE.read_text())
DISK = Target("/dev/x", 8, 16, 10 << 30, 512, 5)


def plan(name: str = "mixed-70-30-8k", **options: Any) -> result.Plan:
    found = file.load(name)
    facts = TargetFacts(
        path="/dev/x",
        name="x",
        major=8,
        minor=16,
        diskseq=5,
        bytes=10 << 30,
        logical_block=512,
        physical_block=512,
        model="M",
        serial="S",
        wwn="",
        driver="sd",
        rotational=True,
        zoned="none",
        scheduler="none",
        iostats="1",
        nomerges="0",
        disk_before=DiskCounters(10, 80, 20, 160, 4_294_967_000, 500),
    )
    return result.Plan(
        run=1,
        started_ns=START_NS,
        command=["run", name],
        workload=found,
        config=resolve(found, Options(available_cpus=(0,), write=True, **options), [DISK]),
        targets=[facts],
        remarks=["a remark"],
    )


INFO = RunInfo(
    id=1,
    name="mixed-70-30-8k",
    state=RunState.DONE,
    phase=Phase.DRAIN,
    reason=Reason.COMPLETED,
    started_ns=START_NS,
    measure_ns=START_NS + SECOND,
    drain_ns=START_NS + 5 * SECOND,
    ended_ns=START_NS + 5 * SECOND + 1000,
    now_ns=START_NS + 9 * SECOND,
    module_version="0.1.0",
    targets=(
        TargetInfo(
            8,
            16,
            "x",
            5,
            10 << 30,
            512,
            1 << 20,
            Backend.MQ,
            "why",
            0,
            90,
            90 * 8192,
            40,
            40 * 8192,
        ),
    ),
)


def cell(direction: Direction, times: list[int], phase: Phase = Phase.MEASURE) -> StatsCell:
    found: dict[Metric, Histogram] = (
        dict.fromkeys(Metric, histogram(times)) if phase is Phase.MEASURE else {}
    )
    return StatsCell(phase, 0, direction, len(times), 8192 * len(times), len(times), 0, {}, found)


READS = [100_000 + 977 * n for n in range(70)]
WRITES = [900_000 + 3331 * n for n in range(30)]
CELLS = [
    cell(Direction.READ, [1] * 20, Phase.RAMP),
    cell(Direction.READ, READS),
    cell(Direction.WRITE, WRITES),
]
# The read times pass the 32 bits in which the kernel prints them.
AFTER = DiskCounters(10 + 90, 80 + 90 * 16, 20 + 40, 160 + 40 * 16, 704, 520)


def build(
    info: RunInfo = INFO,
    cells: Sequence[StatsCell] = CELLS,
    rows: Sequence[IntervalRow] = (),
    after: DiskCounters | None = AFTER,
    **options: Any,
) -> result.Result:
    return run_build.build(plan(**options), info, cells, rows, [after], None)


def as_json(made: result.Result) -> dict[str, Any]:
    """Encoded, valid against the published schema, and decoded to the same."""
    data = files.encode(made)
    found: dict[str, Any] = json.loads(data)
    validator(result.SCHEMA_FILE).validate(found)
    assert msgspec.json.decode(data, type=result.Result) == made
    return found


def test_totals_are_of_the_measure_phase_only() -> None:
    totals = as_json(build())["totals"]
    assert (totals["read"]["ios"], totals["write"]["ios"], totals["all"]["ios"]) == (70, 30, 100)
    assert totals["all"]["iops"] == 25.0
    assert totals["all"]["bytes_per_s"] == 100 * 8192 / 4
    assert totals["all"]["mean_bytes"] == 8192


def test_phases_say_when_and_how_much() -> None:
    phases = as_json(build())["phases"]
    assert [(one["phase"], one["ios"], one["duration_ns"]) for one in phases] == [
        ("ramp", 20, SECOND),
        ("measure", 100, 4 * SECOND),
        ("drain", 0, 1000),
    ]


def test_ios_in_flight_at_the_end_are_beside_the_percentiles() -> None:
    ages = {Metric.RESPONSE_AGE: histogram([5000, 9000]), Metric.SERVICE_AGE: histogram([0, 4000])}
    drained = cell(Direction.READ, [50_000, 70_000], Phase.DRAIN)
    cells = [
        *CELLS[:1],
        replace(CELLS[1], histograms={Metric.RESPONSE: histogram(READS), **ages}),
        replace(drained, histograms={Metric.RESPONSE: histogram([50_000, 70_000])}),
    ]
    made = build(cells=cells)
    found = as_json(made)

    held = found["totals"]["all"]["in_flight"]
    assert held["count"] == found["totals"]["read"]["in_flight"]["count"] == 2
    assert found["totals"]["write"]["in_flight"]["count"] == 0
    assert (held["response_age"]["min_ns"], held["response_age"]["max_ns"]) == (5000, 9000)
    assert (held["service_age"]["mean_ns"], held["service_age"]["max_ns"]) == (2000.0, 4000)
    measured = next(one for one in found["cells"] if one["phase"] == "measure")
    assert sum(measured["in_flight"]["response_age"]["histogram"]["counts"]) == 2
    drain = next(one for one in found["phases"] if one["phase"] == "drain")
    assert drain["times"]["response"]["max_ns"] == 70_000
    (line,) = (line for line in render_result._footer(made) if "in flight" in line)
    assert "2 I/Os" in line and "2 completed in the drain" in line


def test_percentiles_can_be_recomputed_from_the_buckets() -> None:
    found = as_json(build())
    parts = []
    for one in found["cells"]:
        times = one["times"]["response"]
        if times is None:
            continue
        buckets = times["histogram"]
        counts = dict(enumerate(buckets["counts"], start=buckets["first"]))
        parts.append(
            Histogram(buckets["bits"], counts, times["sum_ns"], times["min_ns"], times["max_ns"])
        )
        assert sum(buckets["counts"]) == one["ios"] == times["count"]
    merged = documents_histogram.merge(parts)
    assert merged is not None
    total = found["totals"]["all"]["times"]["response"]
    for name, ppm in result.PERCENTILES.items():
        assert total["percentiles_ns"][name] == documents_histogram.percentile(merged, ppm)
    assert total["mean_ns"] == pytest.approx(sum(READS + WRITES) / 100)
    assert (total["min_ns"], total["max_ns"]) == (min(READS), max(WRITES))


def test_the_disk_is_asked_whether_it_agrees() -> None:
    (target,) = as_json(build())["targets"]
    assert target["disk_agrees"] is True
    assert target["disk"] == {
        "reads": 90,
        "read_sectors": 90 * 16,
        "writes": 40,
        "write_sectors": 40 * 16,
        "read_ms": 1000,
        "write_ms": 20,
        "discard_sectors": None,
    }
    (target,) = as_json(build(after=msgspec.structs.replace(AFTER, reads=999)))["targets"]
    assert target["disk_agrees"] is False
    (target,) = as_json(build(after=None))["targets"]
    assert (target["disk_agrees"], target["disk"]) == (None, None)


@pytest.mark.parametrize(
    ("writes", "write_sectors", "discard_sectors", "agrees"),
    [
        (40, 640, 2048, True),
        (43, 640, 2048, True),  # three flushes at most
        (44, 640, 2048, False),
        (39, 640, 2048, False),
        (41, 648, 2048, False),
        (40, 640, 2040, False),
        (40, 640, None, True),  # not counted
    ],
)
def test_flushes_and_discards_are_no_writes(
    writes: int, write_sectors: int, discard_sectors: int | None, agrees: bool
) -> None:
    target = replace(INFO.targets[0], flushes=3, discards=2, discard_bytes=2048 * 512)
    after = msgspec.structs.replace(
        AFTER,
        writes=20 + writes,
        write_sectors=160 + write_sectors,
        discard_sectors=discard_sectors,
    )
    asked = plan()
    (facts,) = asked.targets
    assert facts.disk_before is not None
    before = msgspec.structs.replace(facts.disk_before, discard_sectors=0)
    asked = msgspec.structs.replace(
        asked, targets=[msgspec.structs.replace(facts, disk_before=before)]
    )
    info = replace(INFO, targets=(target,))
    (found,) = as_json(run_build.build(asked, info, CELLS, (), [after], None))["targets"]
    assert found["disk_agrees"] is agrees
    assert (found["flushes"], found["discards"], found["discard_bytes"]) == (3, 2, 1 << 20)


def test_times_that_a_disk_cannot_have_taken_are_found() -> None:
    """Service times add up to 0.1 s in 5 s, of which 1 s was not measured, with 16 outstanding and
    batches of 16 of one worker: up to 0.1 + 16 + 90 s are possible, and what is above is not."""

    def agrees(read_ms: int) -> bool | None:
        after = msgspec.structs.replace(AFTER, read_ms=(4_294_967_000 + read_ms) % (1 << 32))
        (target,) = as_json(build(after=after))["targets"]
        return cast(bool | None, target["disk_agrees"])

    assert [agrees(ms) for ms in (0, 106_000, 107_000, 4_154_491_962, (1 << 32) - 1)] == [
        *(True, True),
        *(False, False, False),
    ]


def test_a_disk_that_takes_too_little_time_is_found() -> None:
    """A thousand outstanding for all of the run can't have been without the disk."""
    slow = [cell(Direction.READ, [SECOND] * 4000)]
    (target,) = as_json(build(INFO, slow, after=AFTER))["targets"]
    assert target["disk_agrees"] is False


def test_disks_without_times_agree_by_their_counts() -> None:
    (target,) = as_json(build(after=msgspec.structs.replace(AFTER, read_ms=None, write_ms=None)))[
        "targets"
    ]
    assert target["disk_agrees"] is True


def test_requests_that_were_sent_twice_leave_it_open() -> None:
    info = replace(INFO, targets=(replace(INFO.targets[0], refused=3),))
    assert as_json(build(info))["targets"][0]["disk_agrees"] is None


def test_a_run_that_ended_in_its_ramp_is_a_result_too() -> None:
    info = replace(
        INFO, reason=Reason.STOPPED, measure_ns=0, drain_ns=0, ended_ns=START_NS + SECOND // 2
    )
    found = as_json(build(info, CELLS[:1]))
    assert found["totals"]["all"]["ios"] == 0
    assert found["totals"]["all"]["times"] == {"response": None, "service": None, "slip": None}
    assert [one["phase"] for one in found["phases"]] == ["ramp"]
    assert found["outcome"]["ok"] is False
    assert printed(build(info, CELLS[:1]))


def test_errors_are_counted_by_cause_over_all_phases() -> None:
    failed = [
        replace(CELLS[0], errors=2, errors_by_errno={5: 2}),
        replace(CELLS[1], errors=3, errors_by_errno={5: 1, 121: 2}),
    ]
    info = replace(INFO, errors=5, first_error="read of 4096 bytes at 0 on x: EIO")
    outcome = as_json(build(info, failed))["outcome"]
    assert outcome["errors_by_cause"] == {"EIO": 3, "EREMOTEIO": 2}
    assert outcome["ok"] is False
    assert "5 I/Os failed" in outcome["text"]


def test_what_a_scsi_disk_says_is_told_in_words() -> None:
    first = SenseInfo(3, 0x11, 0)
    info = replace(
        INFO,
        errors=7,
        first_error="read of 512 bytes at byte 0 of x failed: errno 61",
        first_sense=first,
        senses=(replace(first, count=6), SenseInfo(4, 0x99, 0, deferred=1, count=1)),
        sense_others=2,
        targets=(replace(INFO.targets[0], backend=Backend.SCSI),),
    )
    made = build(info)
    found = as_json(made)["outcome"]
    text = "medium error, ASC 0x11 ASCQ 0x00 (unrecovered read error)"
    assert found["first_sense"] == {
        **{"key": 3, "asc": 0x11, "ascq": 0, "deferred": False},
        "text": text,
    }
    assert [one["count"] for one in found["senses"]] == [6, 1]
    assert found["text"].endswith(f"errno 61: {text}")
    table = printed(made)
    assert f"6 requests: {text}" in table
    assert (
        "1 requests: hardware error of an earlier command, ASC 0x99 ASCQ 0x00 (vendor specific)"
        in table
    )
    assert "2 requests: other causes" in table


def test_a_disk_is_not_said_to_disagree_about_commands() -> None:
    made = build(replace(INFO, targets=(replace(INFO.targets[0], backend=Backend.SCSI),)))
    (target,) = as_json(made)["targets"]
    assert (target["disk"], target["disk_agrees"]) == (None, None)
    assert "does not count SCSI commands sent directly" in printed(made)


def test_backlog_and_offered_rate_of_an_open_loop() -> None:
    row = IntervalRow(
        0,
        Phase.MEASURE,
        START_NS + SECOND,
        START_NS + 2 * SECOND,
        5,
        77,
        1,
        1,
        interval_cell(),
        interval_cell(),
        [],
    )
    made = build(replace(INFO, backlog=12), rows=[row], rate=1000.0)
    found = as_json(made)
    assert found["outcome"]["offered_iops"] == 1000
    assert (found["outcome"]["backlog"], found["outcome"]["backlog_max"]) == (12, 77)
    text = printed(made)
    assert "offered 1,000 I/Os per second; backlog at the end 12, at most 77" in text


def test_only_intervals_that_were_never_read_are_missing() -> None:
    first = IntervalRow(
        0,
        Phase.MEASURE,
        START_NS,
        START_NS + SECOND,
        0,
        0,
        0,
        0,
        interval_cell(),
        interval_cell(),
        [],
    )
    # More than the kernel keeps, all read in time; and some of them with two holes.
    rows = [msgspec.structs.replace(first, seq=seq) for seq in range(5000)]
    made = build(rows=rows)
    assert made.intervals_dropped == 0 and "overwritten" not in printed(made)
    made = build(rows=rows[3:10] + rows[11:])
    assert made.intervals_dropped == 4
    assert "4 intervals were overwritten before being read" in printed(made)


def printed(made: result.Result) -> str:
    import io

    from rich.console import Console

    stream = io.StringIO()
    render_result.print_result(made, Console(file=stream, width=100, highlight=False))
    assert "…" not in stream.getvalue()
    return stream.getvalue()


def replace_facts(target: result.TargetResult, **changes: Any) -> result.TargetResult:
    facts = msgspec.structs.replace(target.facts, **changes)
    return msgspec.structs.replace(target, facts=facts)


def test_the_summary_has_a_row_for_each_direction_and_the_sum() -> None:
    text = printed(build())
    names = [line.split()[0] for line in text.splitlines() if line.startswith("  ")]
    assert {"read", "write", "all"} <= set(names)
    assert "a remark" in text
    assert "SPC-1-like" not in text


def test_headings_say_numbers_as_people_do() -> None:
    fast = printed(build(rate=1_000_000.0))
    assert "poisson arrivals, 1,000,000 per second, measured for 4.000 s" in fast
    short = replace(INFO, drain_ns=INFO.measure_ns + 300_000)
    assert "measured for 300 us" in printed(build(info=short))
    never = replace(INFO, measure_ns=0, phase=Phase.RAMP)
    text = printed(build(info=never))
    assert "not measured" in text and "0.000 s" not in text


def test_a_disk_that_counted_otherwise_is_mentioned() -> None:
    text = printed(build(after=msgspec.structs.replace(AFTER, reads=999)))
    assert (
        "/dev/x itself counted 989 reads and 40 writes that took 1,000 ms and 20 ms in all,"
        " spek sent 90 and 40"
    ) in text
    assert "itself counted" not in printed(build())


def test_a_disk_that_does_not_count_is_told_from_one_that_was_not_asked() -> None:
    made = build(after=None)
    assert "what /dev/x counted itself was not read when the run ended" in printed(made)
    (target,) = made.targets
    silent = replace_facts(target, disk_before=None)
    text = printed(msgspec.structs.replace(made, targets=[silent]))
    assert "/dev/x keeps no I/O statistics" in text and "was not read" not in text


def test_spc1_results_are_called_spc_1_like() -> None:
    text = printed(build(name="spc1", bsu=2))
    assert "spc1 (SPC-1-like): 2 BSU (100 I/Os per second offered)" in text
    assert all(f"  {name} " in text for name in ("1-1", "2-3", "3-1"))


def test_the_environment_is_read(tmp_path: Path) -> None:
    for path, text in {
        "proc/cpuinfo": "processor\t: 0\nmodel name\t: Fast CPU\n",
        "proc/cmdline": "quiet\n",
        "proc/sys/kernel/tainted": "4096\n",
        "proc/sys/kernel/random/boot_id": "abc\n",
        "sys/devices/system/clocksource/clocksource0/current_clocksource": "tsc\n",
        "sys/devices/system/cpu/online": "0-2\n",
        "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": "performance\n",
        "sys/devices/system/cpu/cpu1/cpufreq/scaling_governor": "performance\n",
        "sys/devices/system/cpu/cpu2/cpufreq/scaling_governor": "powersave\n",
    }.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    found = run_build.environment("1.2.3", tmp_path)
    assert (found.taint, found.clocksource, found.cpus_online) == (4096, "tsc", "0-2")
    assert (found.cpu_model, found.module_version) == ("Fast CPU", "1.2.3")
    assert found.governors == {"performance": "0-1", "powersave": "2"}


# --- the prober beside it ------------------------------------------------------------------------


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
    calls: list[str] = field(default_factory=list)

    def start(self, interval_ns: int, tasks: Sequence[int]) -> int:
        self.calls.append(f"start {interval_ns} {tasks}")
        if self.busy:
            raise RefusedError("A probe runs already.")
        return 4

    def samples(self, probe: int, after: prober.Row | None) -> prober.Batch:
        first = 0 if after is None else after.seq + 1
        made = []
        for seq in range(first, 12):
            start = START_NS + seq * SECOND // 2
            changes: dict[str, int | None] = {self.lacks: None} if self.lacks else {}
            total = counters(1, **changes)
            task = TaskCounters(10, 0, 10, 1, 2, 0)
            row = prober.Row(4, seq, seq, start, start, start, False, total, {}, {})
            made.append(
                prober.Sample(row, start, start + SECOND // 2, total, {0: total}, {50: task})
            )
        return prober.Batch(tuple(made), 0, made[-1].row if made else after)

    def stop(self, probe: int) -> prober.Probe:
        self.calls.append("stop")
        return prober.Probe(
            id=4, state=ProbeState.DONE, module_version="0.1.0", rows=13, cost_sum_ns=1300
        )

    def delete(self, probe: int) -> None:
        self.calls.append("delete")

    def close(self) -> None:
        self.calls.append("close")


def observing(fake: Any, interval_ns: int) -> observe.ProberObserver:
    return observe.ProberObserver(fake, interval_ns)


def observer(**options: Any) -> tuple[observe.ProberObserver, FakeProber]:
    fake = FakeProber(**options)
    return observing(fake, SECOND // 2), fake


def test_samples_are_cut_to_the_measure_phase() -> None:
    seen, fake = observer()
    assert seen.start([50, 0]) == ""
    found = seen.finish(INFO)
    assert found is not None
    assert fake.calls == [f"start {SECOND // 2} [50]", "stop", "delete"]
    assert found.measure_ns == 4 * SECOND
    assert found.measure["machine"]["system_ns"] == 8 * 300
    assert found.measure["workers"]["involuntary"] == 16
    assert found.measure_cpus["0"]["switches"] == 40
    assert (found.samples, found.cost_mean_ns) == (12, 100.0)
    made = msgspec.structs.replace(build(), prober=found)
    as_json(made)
    text = printed(made)
    assert "machine: user 10.0%, system 30.0%, idle 60.0%" in text
    assert "0.400 context switches per I/O" in text


def test_a_counter_that_the_kernel_lacks_is_left_out_not_zero() -> None:
    seen, _ = observer(lacks="steal_ns")
    seen.start([])
    found = seen.finish(INFO)
    assert found is not None
    assert "steal_ns" not in found.measure["machine"]
    column = found.tables[0].columns.index("steal_ns")
    assert {row[column] for row in found.tables[0].rows} == {None}


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
    seen.note([row])
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
    found = file.load("random-read-4k")
    options = Options(available_cpus=(0,), time_ns=5 * SECOND, interval_ns=interval_ns)
    request = job.Request(found, resolve(found, options, [DISK]), ())
    seen = observing(RingProber(kernel=kernel), SECOND // 2)
    with job.Interrupts() as interrupts:
        made = execute.execute(kernel, request, LineProgress(quiet=True), interrupts, seen)
    assert made.prober is not None
    assert (made.prober.samples, made.prober.dropped) == (12, 0)


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
    found = file.load("random-read-4k")
    request = job.Request(found, resolve(found, Options(available_cpus=(0,)), [DISK]), ())
    seen = observing(UnloadedProber(calls_left=calls_left), SECOND)
    with job.Interrupts() as interrupts:
        made = execute.execute(kernel, request, LineProgress(quiet=True), interrupts, seen)
    assert made.outcome.ok
    lost = [one for one in made.remarks if "lost spek_prober during the run" in one]
    if calls_left == 1000:
        assert made.prober is not None and not lost
    else:
        assert made.prober is None and len(lost) == 1
        assert "There is no probe" in lost[0]


def test_a_failure_under_way_gives_the_devices_back() -> None:
    kernel = FakeKernel()
    found = file.load("random-read-4k")
    request = job.Request(found, resolve(found, Options(available_cpus=(0,)), [DISK]), ())

    class Broken(LineProgress):
        def show(self, clock: object, news: object) -> None:
            raise RuntimeError("the terminal burns")

    with pytest.raises(RuntimeError), job.Interrupts() as interrupts:
        execute.execute(kernel, request, Broken(quiet=True), interrupts)
    assert kernel.calls[-3:] == ["run-stop", "run-get", "run-delete"]
    assert kernel.deleted
