# SPDX-License-Identifier: GPL-2.0
"""The plan of an SPC-2-like test, its streams and its figures: no device, no clock."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import msgspec
import pytest

from spekctl.campaigns.spc2 import figures, plan
from spekctl.campaigns.spc2.plan import LIMITS, PARTS, QUICK, left_ns, next_step
from spekctl.campaigns.spc2.report import build, composites_of
from spekctl.documents.exact import decimal_text
from spekctl.documents.shape import Shape
from spekctl.documents.spc2 import Parameters, Run, Step

SHAPE = Shape(1, 65536, "auto", False, None, 0, None)
EXACT = msgspec.structs.replace(QUICK, resolution_percent=0.0)
Served = Callable[[Step], bool]


def parameters(**changes: object) -> Parameters:
    whole = Parameters(EXACT, LIMITS, SHAPE, list(PARTS), 16, None, 1, 16384, False)
    return msgspec.structs.replace(whole, **changes)


def run(step: Step, served: bool = True, watts: str | None = None) -> Run:
    """A step as if it had been measured: a million bytes per second and KiB of a transfer."""
    late = None if step.depth is not None else 0 if served else 9
    rate = Fraction(step.transfer_bytes // 1024)
    return Run(
        step=step,
        measured_ns=step.time_ns,
        ios=1000,
        mb_s=decimal_text(figures.vod_rate(step.streams) if step.depth is None else rate),
        response=None,
        late=late,
        left_over=0,
        beyond="" if served else "9 of 1,000 transfers took longer than 333 ms",
        errors=0,
        ok=True,
        text="the run completed",
        watts=watts,
        power=None,
        result_file=None,
    )


def do_all(
    wanted: Parameters,
    served: Served = lambda step: step.streams <= 37,
    watts: str | None = None,
) -> list[Run]:
    done: list[Run] = []
    while (step := next_step(wanted, done)) is not None:
        fine = step.depth is not None or served(step)
        done.append(run(step, fine, watts))
        assert len(done) < 200
    return done


# --- order ---------------------------------------------------------------------------------------


def test_every_test_runs_at_its_series_of_streams() -> None:
    done = do_all(parameters(parts=["lfp", "ldq"]))
    assert [run.step.name for run in done[:5]] == [
        f"lfp-write-1024k-{streams}" for streams in (16, 8, 4, 2, 1)
    ]
    assert len(done) == 10 * 5
    assert {(run.step.test, run.step.depth) for run in done if run.step.part == "ldq"} == {
        *(("ldq-1024k-4", 4), ("ldq-1024k-1", 1), ("ldq-64k-4", 4), ("ldq-64k-1", 1)),
    }
    sizes = {(run.step.read_percent, run.step.transfer_bytes >> 10) for run in done[:30]}
    assert sizes == {(percent, size) for percent in (0, 50, 100) for size in (1024, 256)}


@pytest.mark.parametrize(
    ("most", "streams"),
    [(16, [16, 8, 4, 2, 1]), (1, [1]), (3, [3, 1]), (100, [100, 50, 25, 12, 1])],
)
def test_a_series_falls_to_one(most: int, streams: list[int]) -> None:
    assert plan.series(parameters(streams=most)) == streams


@pytest.mark.parametrize(("most", "clients", "level"), [(64, 1, 64), (64, 3, 63), (65, 3, 63)])
def test_a_search_that_came_to_its_end_has_found_no_maximum(
    most: int, clients: int, level: int
) -> None:
    wanted = parameters(parts=["vod"], vod_most=most, clients=clients)
    said = f"the device sustains the {level} streams of --vod-most {most}; its maximum is higher"
    for served, is_said in ((level, True), (level - 1, False)):
        done = do_all(wanted, lambda step, served=served: step.streams <= served)  # type: ignore[misc]
        assert (said in build(wanted, done, [], None).remarks) == is_said


@pytest.mark.parametrize("level", [1, 2, 5, 37, 64, 1000])
def test_the_search_finds_the_streams_that_are_served(level: int) -> None:
    done = do_all(parameters(parts=["vod"]), lambda step: step.streams <= level)
    last = done[-1]
    assert (last.step.kind, last.step.streams, last.step.time_ns) == ("run", level, EXACT.vod_ns)
    assert plan.vod_position(parameters(), done).run == last


def test_a_search_can_be_spared() -> None:
    done = do_all(parameters(parts=["vod"], vod_streams=50))
    assert [(run.step.kind, run.step.streams) for run in done] == [("run", 50)]
    report = build(parameters(parts=["vod"], vod_streams=50), done, [], None)
    assert not report.passed and report.vod_streams is None
    assert report.verdict.startswith("failed: vod-50: 9 of 1,000 transfers took longer")
    said = "--vod-streams 50 sets the rate of video on demand"
    assert any(remark.startswith(said) for remark in report.remarks)


def test_streams_are_lowered_where_the_long_run_misses() -> None:
    served = {"search": 100, "run": 90}
    done = do_all(parameters(parts=["vod"]), lambda step: step.streams <= served[step.kind])
    long = [run.step.name for run in done if run.step.kind == "run"]
    assert long == ["vod-100", "vod-95-again-1", "vod-90-again-2"]
    report = build(parameters(parts=["vod"]), done, [], None)
    assert report.vod_streams == 90 and report.passed
    assert any("lowered 2 times, to 90" in remark for remark in report.remarks)


def test_a_device_that_serves_no_stream_fails() -> None:
    done = do_all(parameters(parts=["vod"]), lambda step: False)
    assert [run.step.streams for run in done] == [1]
    report = build(parameters(parts=["vod"]), done, [], None)
    assert report.verdict == "failed: video on demand: the device cannot sustain even 1 stream"
    assert not report.passed and not report.complete


def test_energy_wants_video_on_demand_at_half_of_its_streams() -> None:
    done = do_all(parameters(parts=["vod"], half=True))
    assert [run.step.streams for run in done if run.step.kind == "run"] == [37, 18]


def test_what_is_done_is_not_done_again() -> None:
    whole = do_all(parameters())
    for count in range(len(whole)):
        step = next_step(parameters(), whole[:count])
        assert step == whole[count].step


def test_the_time_left_comes_down_to_nothing() -> None:
    wanted = parameters(half=True)
    whole = do_all(wanted)
    left = [left_ns(wanted, whole[:count]) for count in range(len(whole) + 1)]
    assert left[-1] == 0
    for count, run in enumerate(whole):
        took = run.step.ramp_ns + run.step.time_ns
        # A doubling that is served puts bisections off and adds more of them.
        more = run.step.kind == "search" and not run.beyond
        assert left[count + 1] == left[count] - took or (
            more and left[count + 1] >= left[count] - took
        )


# --- figures -------------------------------------------------------------------------------------


def test_mbps_is_the_mean_of_the_parts() -> None:
    done = do_all(parameters(), watts="50")
    lfp = Fraction(3 * (1024 + 256), 6)
    ldq = Fraction(2 * (1024 + 64), 4)
    vod = figures.vod_rate(37)
    by_name = {composite.name: composite for composite in composites_of(parameters(), done)}
    assert by_name["lfp"].mb_s.fraction == lfp == 640
    assert by_name["ldq"].mb_s.fraction == ldq == 544
    assert by_name["vod"].mb_s.fraction == vod
    assert by_name["spc2"].mb_s.fraction == (lfp + ldq + vod) / 3
    watts = by_name["spc2"].watts
    assert watts is not None and watts.text == "50.00"
    report = build(parameters(), done, [], None, price=Fraction(12000))
    assert report.complete and report.passed and report.vod_streams == 37
    assert report.mbps is not None and report.price_per_mbps is not None
    assert report.price_per_mbps.fraction == 12000 / report.mbps.fraction


def test_a_part_that_is_left_out_leaves_no_mbps() -> None:
    wanted = parameters(parts=["ldq", "vod"])
    report = build(wanted, do_all(wanted), [], None, price=Fraction(5))
    assert (report.passed, report.complete, report.mbps) == (True, False, None)
    assert report.verdict == "passed, but incomplete: lfp was left out"
    assert report.price_per_mbps is None
    assert any("nothing was written" in remark for remark in report.remarks)


@pytest.mark.parametrize(
    ("ios", "late", "left_over", "text"),
    [
        (1000, 0, 0, ""),
        (1000, 1, 0, "1 of 1,000 transfers took longer than 333 ms: their streams underrun"),
        (1000, 0, 10, ""),
        (1000, 0, 11, "the queue grew by 11 transfers"),
        (0, 0, 0, "no I/O completed"),
    ],
)
def test_what_is_too_much(ios: int, late: int, left_over: int, text: str) -> None:
    assert plan.beyond(10, ios, late, left_over, LIMITS) == text
