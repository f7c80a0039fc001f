# SPDX-License-Identifier: GPL-2.0
"""The result of a run from what the kernel and the disks counted."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from lib.ctl.results import AFTER, CELLS, INFO, READS, as_json, build, cell, plan, printed
from lib.fakes.kernel import SECOND, START_NS, histogram, interval_cell

from spekctl.kernel.records import (
    Backend,
    Direction,
    IntervalRow,
    Metric,
    Phase,
    Reason,
    SenseInfo,
)
from spekctl.render import result as render_result
from spekctl.run import build as run_build


def test_totals_are_of_the_measure_phase_only() -> None:
    totals = as_json(build())["totals"]
    assert (totals["read"]["ios"], totals["write"]["ios"], totals["all"]["ios"]) == (70, 30, 100)
    assert totals["all"]["iops"] == 25.0
    assert totals["all"]["bytes_per_s"] == 100 * 8192 / 4
    assert totals["all"]["mean_bytes"] == 8192


def test_phases_say_when_and_how_much() -> None:
    phases = as_json(build())["phases"]
    assert [(phase["phase"], phase["ios"], phase["duration_ns"]) for phase in phases] == [
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
    result = build(cells=cells)
    document = as_json(result)

    held = document["totals"]["all"]["in_flight"]
    assert held["count"] == document["totals"]["read"]["in_flight"]["count"] == 2
    assert document["totals"]["write"]["in_flight"]["count"] == 0
    assert (held["response_age"]["min_ns"], held["response_age"]["max_ns"]) == (5000, 9000)
    assert (held["service_age"]["mean_ns"], held["service_age"]["max_ns"]) == (2000.0, 4000)
    measured = next(entry for entry in document["cells"] if entry["phase"] == "measure")
    assert sum(measured["in_flight"]["response_age"]["histogram"]["counts"]) == 2
    drain = next(entry for entry in document["phases"] if entry["phase"] == "drain")
    assert drain["times"]["response"]["max_ns"] == 70_000
    (line,) = (line for line in render_result._footer(result) if "in flight" in line)
    assert "2 I/Os" in line and "2 completed in the drain" in line


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
    (entry,) = as_json(run_build.build(asked, info, CELLS, (), [after]))["targets"]
    assert entry["disk_agrees"] is agrees
    assert (entry["flushes"], entry["discards"], entry["discard_bytes"]) == (3, 2, 1 << 20)


def test_a_run_that_ended_in_its_ramp_is_a_result_too() -> None:
    info = replace(
        INFO, reason=Reason.STOPPED, measure_ns=0, drain_ns=0, ended_ns=START_NS + SECOND // 2
    )
    document = as_json(build(info, CELLS[:1]))
    assert document["totals"]["all"]["ios"] == 0
    assert document["totals"]["all"]["times"] == {"response": None, "service": None, "slip": None}
    assert [phase["phase"] for phase in document["phases"]] == ["ramp"]
    assert document["outcome"]["ok"] is False
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
    result = build(info)
    outcome = as_json(result)["outcome"]
    text = "medium error, ASC 0x11 ASCQ 0x00 (unrecovered read error)"
    assert outcome["first_sense"] == {
        **{"key": 3, "asc": 0x11, "ascq": 0, "deferred": False},
        "text": text,
    }
    assert [sense["count"] for sense in outcome["senses"]] == [6, 1]
    assert outcome["text"].endswith(f"errno 61: {text}")
    table = printed(result)
    assert f"6 requests: {text}" in table
    assert (
        "1 requests: hardware error of an earlier command, ASC 0x99 ASCQ 0x00 (vendor specific)"
        in table
    )
    assert "2 requests: other causes" in table


def test_a_disk_is_not_said_to_disagree_about_commands() -> None:
    result = build(replace(INFO, targets=(replace(INFO.targets[0], backend=Backend.SCSI),)))
    (target,) = as_json(result)["targets"]
    assert (target["disk"], target["disk_agrees"]) == (None, None)
    assert "does not count SCSI commands sent directly" in printed(result)


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
    result = build(replace(INFO, backlog=12), rows=[row], rate=1000.0)
    document = as_json(result)
    assert document["outcome"]["offered_iops"] == 1000
    assert (document["outcome"]["backlog"], document["outcome"]["backlog_max"]) == (12, 77)
    text = printed(result)
    assert "offered 1,000 I/Os per second; backlog at the end 12, at most 77" in text


def test_the_rate_of_a_curve_is_that_of_the_time_that_was_run() -> None:
    """A ramp to 100,000 within 100 s, which was measured from the first second to the fifth."""
    asked = plan("random-read-4k", rate=1, time_ns=99 * SECOND, ramp_ns=SECOND)
    (arrival,) = asked.config.arrivals
    curve = [(0, 0), (100 * SECOND, 100_000_000)]
    arrival = msgspec.structs.replace(arrival, law="poisson", rate_milli=0, points=curve)
    config = msgspec.structs.replace(asked.config, arrivals=[arrival])
    asked = msgspec.structs.replace(asked, config=config)
    assert config.offered_rate == 50_500
    stopped = replace(INFO, reason=Reason.STOPPED)
    assert run_build.build(asked, stopped, CELLS, [], [AFTER]).outcome.offered_iops == 3000
    still = replace(INFO, measure_ns=0, drain_ns=0)
    assert run_build.build(asked, still, CELLS, [], [AFTER]).outcome.offered_iops == 50_500


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
    result = build(rows=rows)
    assert result.intervals_dropped == 0 and "overwritten" not in printed(result)
    result = build(rows=rows[3:10] + rows[11:])
    assert result.intervals_dropped == 4
    assert "4 intervals were overwritten before being read" in printed(result)


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("MemTotal: 9 kB\nSwapTotal:  2048 kB\nSwapFree: 0 kB\n", 2 << 20),
        ("MemTotal: 9 kB\n", None),
    ],
)
def test_the_size_of_swap_is_read(tmp_path: Path, text: str, size: int | None) -> None:
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc/meminfo").write_text(text)
    assert run_build.swap_bytes(tmp_path) == size


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
    machine = run_build.environment("1.2.3", tmp_path)
    assert (machine.taint, machine.clocksource, machine.cpus_online) == (4096, "tsc", "0-2")
    assert (machine.cpu_model, machine.module_version) == ("Fast CPU", "1.2.3")
    assert machine.governors == {"performance": "0-1", "powersave": "2"}
