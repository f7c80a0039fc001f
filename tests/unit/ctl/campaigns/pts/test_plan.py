# SPDX-License-Identifier: GPL-2.0
"""The plan of a PTS-like test and its figures: no device, no clock."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest

from spekctl.campaigns.pts import plan
from spekctl.campaigns.pts.plan import left_ns, next_step, position_of
from spekctl.campaigns.pts.report import build
from spekctl.documents.pts import Parameters, Run, Step, size_text
from spekctl.documents.shape import Shape

SHAPE = Shape(1, 65536, "auto", False, None, 0, "random")
KIB = 1024
SETTLING = [400, 300, 200, 150, 120, 105, 100, 101, 99, 100]
Iops = Callable[[Step], float]


def parameters(**changes: object) -> Parameters:
    small: dict[str, object] = {"sizes": [8 * KIB, 4 * KIB], "reads": [100, 0]}
    return msgspec.structs.replace(plan.standard(SHAPE), **{**small, **changes})


def run(step: Step, iops: float = 100.0, **changes: object) -> Run:
    """A step as if it had been carried out."""
    base = Run(
        step=step,
        measured_ns=1,
        ios=int(iops),
        bytes=7 * int(iops),
        iops=iops,
        bytes_per_s=iops * step.bytes,
        mean_ns=1e9 / iops,
        p99_ns=int(2e9 / iops),
        max_ns=int(9e9 / iops),
        errors=0,
        ok=True,
        text="the run completed",
        power=None,
        result_file=None,
    )
    return msgspec.structs.replace(base, **changes)


def settling(step: Step) -> float:
    """Small writes settle, reads do not change."""
    if step.kind != "round" or step.read_percent:
        return 100.0
    return SETTLING[min(step.round, 10) - 1]


def do_all(wanted: Parameters, iops: Iops = settling) -> list[Run]:
    done: list[Run] = []
    while (step := next_step(wanted, done)) is not None:
        done.append(run(step, iops(step)))
        assert len(done) < 2000
    return done


def test_a_test_starts_from_a_known_state_and_goes_in_rounds() -> None:
    names = [run.step.name for run in do_all(parameters(parts=["iops"]))]
    assert names[:2] == ["iops-purge", "iops-precondition"]
    assert names[2:6] == [
        "iops-round-1-8k-read-100",
        "iops-round-1-4k-read-100",
        "iops-round-1-8k-read-0",
        "iops-round-1-4k-read-0",
    ]
    # Steady in round 10, and no round after it.
    assert names[-1] == "iops-round-10-4k-read-0" and len(names) == 2 + 10 * 4


def test_a_device_that_never_settles_has_all_rounds() -> None:
    wanted = parameters(parts=["iops"], rounds=7)
    done = do_all(wanted, lambda step: 100.0 + 50 * (step.round % 2))
    assert done[-1].step.round == 7
    report = build(wanted, done, [], [], None)
    assert not report.passed and report.complete
    assert report.verdict == "missed: iops did not reach steady state"
    assert report.tests[0].steady is False
    assert report.tests[0].text == "steady state was not reached in 7 rounds, the most of this test"


def test_every_size_of_throughput_is_a_test_of_its_own() -> None:
    done = do_all(parameters(parts=["throughput"]), lambda step: 100.0)
    assert [run.step.name for run in done if run.step.kind != "round"] == [
        "throughput-1024k-purge",
        "throughput-1024k-precondition",
        "throughput-128k-purge",
        "throughput-128k-precondition",
    ]
    # What preconditions has the size of the test.
    assert [run.step.bytes for run in done if run.step.kind == "precondition"] == [1 << 20, 1 << 17]
    assert len(done) == 4 + 2 * 5 * 2


def test_write_saturation_has_neither_rounds_nor_preconditioning() -> None:
    done = do_all(parameters(parts=["saturation"]))
    assert [run.step.name for run in done] == ["saturation-purge", "saturation"]
    without = do_all(parameters(parts=["saturation", "latency"], purge=False), lambda step: 100.0)
    assert [run.step.name for run in without][:3] == [
        "saturation",
        "latency-precondition",
        "latency-round-1-8k-read-100",
    ]
    bare = parameters(parts=["latency"], purge=False, precondition_percent=0)
    assert do_all(bare, lambda step: 100.0)[0].step.kind == "round"


def test_small_writes_are_tracked() -> None:
    tests = {test.name: test for test in plan.tests_of(plan.standard(SHAPE))}
    assert tests["iops"].tracked == (0, 4 * KIB) and tests["iops"].metric == "iops"
    assert tests["latency"].tracked == (0, 4 * KIB) and tests["latency"].metric == "latency"
    assert tests["throughput-1024k"].tracked == (0, 1 << 20)
    larger = plan.tests_of(parameters(sizes=[64 * KIB, 16 * KIB], reads=[70, 30], parts=["iops"]))
    assert larger[0].tracked == (30, 16 * KIB)


def test_the_standard_has_its_sizes() -> None:
    standard = plan.standard(SHAPE)
    assert [size_text(size) for size in standard.sizes] == [
        *("1024k", "128k", "64k", "32k", "16k", "8k", "4k", "512"),
    ]
    assert len(plan.round_of(plan.tests_of(standard)[0], 1)) == 56
    assert (standard.precondition_percent, standard.rounds, standard.time_ns) == (
        200,
        25,
        60 * 10**9,
    )
    assert (standard.steady.window, standard.steady.range, standard.steady.slope) == (5, 0.2, 0.1)


def test_what_is_done_is_not_done_again() -> None:
    wanted = parameters()
    whole = do_all(wanted)
    for count in range(len(whole)):
        assert next_step(wanted, whole[:count]) == whole[count].step
    names = [run.step.name for run in whole]
    assert len(names) == len(set(names))


def test_the_time_left_comes_down_to_nothing() -> None:
    wanted = parameters(saturation_ns=5 * 10**9)
    whole = do_all(wanted, lambda step: 100.0)
    left = [left_ns(wanted, whole[:count]) for count in range(len(whole) + 1)]
    assert left[-1] == 0 and left == sorted(left, reverse=True)
    # Iops and throughput (two) and latency, each five rounds.
    assert left[0] == 5 * (4 + 2 + 2 + 9) * 60 * 10**9 + 5 * 10**9


def test_a_round_that_is_not_whole_is_not_judged() -> None:
    wanted = parameters(parts=["iops"])
    (test,) = plan.tests_of(wanted)
    whole = do_all(wanted)
    position = position_of(wanted, test, whole[:-1])
    assert (position.rounds, position.over) == (9, False)
    assert position_of(wanted, test, whole).values == SETTLING


def test_the_figures_are_those_of_the_window() -> None:
    wanted = parameters(parts=["iops"])
    report = build(wanted, do_all(wanted), [], [], None)
    assert report.passed and report.notice == "PTS-like, unaudited"
    (test,) = report.tests
    assert test.steady and test.window is not None
    assert (test.window.first, test.window.last) == (6, 10)
    cells = {(cell.bytes, cell.read_percent): cell for cell in test.cells}
    small = cells[4 * KIB, 0]
    assert small.iops == pytest.approx(101) and cells[4 * KIB, 100].iops == 100
    assert small.bytes_per_s == pytest.approx(101 * 4096)
    assert small.mean_ns == pytest.approx(sum(1e9 / iops for iops in SETTLING[5:]) / 5)
    assert small.max_ns == int(9e9 / 99)
    assert [round_.values for round_ in test.rounds] == [[iops, iops] for iops in SETTLING]
    assert test.purged and test.preconditioned_bytes == 700


def test_latency_is_judged_by_its_mean() -> None:
    wanted = parameters(parts=["latency"], latency_sizes=[4 * KIB], latency_reads=[0])
    report = build(wanted, do_all(wanted), [], [], None)
    window = report.tests[0].window
    assert window is not None and window.variable == "latency" and window.steady
    assert window.values[-1] == pytest.approx(1e7)


def test_a_failed_run_fails_the_test() -> None:
    wanted = parameters(parts=["latency"])
    done = do_all(wanted, lambda step: 100.0)
    done[3] = msgspec.structs.replace(done[3], ok=False, text="5 I/Os failed")
    report = build(wanted, done, [], [], None)
    assert not report.passed and report.verdict == f"failed: {done[3].step.name}: 5 I/Os failed"
    done[3] = msgspec.structs.replace(done[3], ok=True, ios=0)
    report = build(wanted, done, [], [], None)
    said = f"failed: {done[3].step.name}: no I/O completed in the measure phase"
    assert not report.passed and report.verdict == said


def test_a_test_without_a_whole_round_has_no_figures() -> None:
    wanted = parameters(parts=["iops"])
    done = do_all(wanted)[:4]
    report = build(wanted, done, [], [], None)
    (test,) = report.tests
    assert (test.steady, test.window, test.cells, test.rounds) == (None, None, [], [])
    assert report.verdict == "not complete: steps are missing"


def test_what_differs_from_the_standard_is_remarked() -> None:
    wanted = parameters(purge=False, precondition_percent=100)
    remarks = build(wanted, do_all(wanted, lambda step: 1.0), [], [], None).remarks
    assert any("--no-purge: the device was not purged" in remark for remark in remarks)
    assert any("wrote 100 % of the capacity, not 200 %" in remark for remark in remarks)
