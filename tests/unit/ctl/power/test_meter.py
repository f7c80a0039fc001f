# SPDX-License-Identifier: GPL-2.0
"""Power during a run: figures of intervals and of the whole, and remarks if some is missing.

The prober is played by its own integrator, so that what is known when is as in the kernel.
"""

from __future__ import annotations

import dataclasses
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest
from lib.core.railcore import Rail
from lib.fakes.kernel import SECOND, START_NS
from lib.fakes.metered import (
    DRAIN_NS,
    INFO,
    MEASURE_NS,
    MS,
    ROWS,
    FakeFeed,
    FakeLink,
    add,
    build,
    meter,
    metered,
    rails,
    row,
)
from rich.console import Console

from spekctl import files
from spekctl.campaigns import points
from spekctl.documents import power as documents_power
from spekctl.documents import result
from spekctl.documents.curve import Load, Power
from spekctl.documents.power import NO_FEED
from spekctl.errors import SpekError, UsageError
from spekctl.kernel.records import FeedState
from spekctl.power.meter import PowerOptions
from spekctl.render import curve
from spekctl.render import result as render_result
from spekctl.run.measuring import power_of
from spekctl.units import format_joules, format_watts, parse_watts

rail = pytest.fixture(rails)


def test_power_of_intervals_and_of_the_measure_phase(rail: Callable[..., Rail]) -> None:
    feed = FakeFeed(1, "board", {"5V": rail(4.0), "12V": rail(8.0)}, lsb_nw=10**6)
    outcome = metered(FakeLink([feed]))

    assert outcome.text == ""
    assert outcome.result is not None
    measure = outcome.result.measure
    assert [(rail.name, rail.joules, rail.mean_w) for rail in measure.rails] == [
        ("5V", 16.0, 4.0),
        ("12V", 32.0, 8.0),
    ]
    total = measure.total
    assert (total.joules, total.mean_w, total.min_w, total.max_w) == (48.0, 12.0, 12.0, 12.0)
    assert (total.known_s, total.gap_s, total.samples) == (4.0, 0.0, 80)
    assert {seq: power.total.joules for seq, power in outcome.intervals.items()} == dict.fromkeys(
        range(5), 12.0
    )
    (source,) = outcome.result.feeds
    assert (source.name, source.state, source.drift_ppb, source.late) == ("board", "open", 5, 4)
    assert outcome.result.uncertainty_j == pytest.approx(2 * 0.001 * 4)


def test_a_row_is_asked_for_again_until_its_samples_have_come(rail: Callable[..., Rail]) -> None:
    line = rail(5.0, last_s=1.5)
    seen = meter(FakeLink([FakeFeed(1, "board", {"5V": line})]))
    seen.start()
    seen.note([row(1)])
    assert seen.watts(row(1)) == pytest.approx(5.0)
    add(line, 9.0, 1.6, 10)
    seen.note([row(2)])
    assert seen.watts(row(2)) == pytest.approx(9.0)
    outcome = seen.finish(INFO, ROWS)
    assert outcome.intervals[1].total.known_s == 1.0
    assert outcome.intervals[1].total.mean_w == pytest.approx(0.5 * 5 + 0.1 * 7 + 0.4 * 9)


def test_what_the_history_forgets_is_kept_from_the_intervals(rail: Callable[..., Rail]) -> None:
    line = rail(5.0, last_s=2.0, capacity=64)
    link = FakeLink([FakeFeed(1, "board", {"5V": line})])
    seen = meter(link)
    seen.start()
    for index, last in enumerate(ROWS):
        add(line, 5.0, line_end(line) + 0.1, 2.0 + index)
        seen.note([last])
    add(line, 5.0, line_end(line) + 0.1, 30)
    assert line.use(MEASURE_NS, DRAIN_NS).lost_ns == 4 * SECOND
    outcome = seen.finish(INFO, ROWS)
    assert outcome.result is not None
    assert (outcome.result.measure.total.joules, outcome.text) == (20.0, "")


def test_a_run_without_intervals_keeps_what_the_history_forgets(
    rail: Callable[..., Rail],
) -> None:
    """As with --interval 0, whose rows note nothing."""
    line = rail(5.0, last_s=2.0, capacity=64)
    seen = meter(FakeLink([FakeFeed(1, "board", {"5V": line})]))
    seen.start()
    for second in range(2, 6):
        add(line, 5.0, line_end(line) + 0.1, second + 0.5)
        now_ns = START_NS + second * SECOND
        seen.follow(dataclasses.replace(INFO, drain_ns=0, ended_ns=0, now_ns=now_ns))
    add(line, 5.0, line_end(line) + 0.1, 30)
    assert line.use(MEASURE_NS, DRAIN_NS).lost_ns == 4 * SECOND
    outcome = seen.finish(INFO, [])
    assert outcome.result is not None
    assert (outcome.result.measure.total.joules, outcome.text) == (20.0, "")


def test_an_interval_that_is_longer_than_the_history_is_known(rail: Callable[..., Rail]) -> None:
    """The rail remembers 6.4 s. Its intervals begin and end somewhere between two looks."""
    line = rail(5.0, last_s=0.0, capacity=64)
    seen = meter(FakeLink([FakeFeed(1, "board", {"5V": line})]))
    seen.start()
    times_s = [(0.2, 0.9), (1.4, 30.3), (30.4, 90.2)]
    rows = [
        msgspec.structs.replace(
            row(seq), start_ns=START_NS + round(a * SECOND), end_ns=START_NS + round(b * SECOND)
        )
        for seq, (a, b) in enumerate(times_s)
    ]
    watts = []
    for second in range(1, 93):
        add(line, 5.0 if second <= 30 else 9.0, line_end(line) + 0.1, second)
        now_ns = START_NS + second * SECOND
        seen.follow(dataclasses.replace(INFO, drain_ns=0, ended_ns=0, now_ns=now_ns))
        for ended in [each for each, (_, b) in zip(rows, times_s, strict=True)
                      if int(b) + 2 == second]:  # fmt: skip
            seen.note([ended])
            watts.append(seen.watts(ended))
    assert watts == pytest.approx([5.0, 5.0, 9.0], rel=0.01)
    end_ns = START_NS + 91 * SECOND
    outcome = seen.finish(dataclasses.replace(INFO, drain_ns=end_ns, ended_ns=end_ns), rows)
    for ended in rows[1:]:
        total = outcome.intervals[ended.seq].total
        assert total.known_s + total.gap_s == pytest.approx((ended.end_ns - ended.start_ns) / 1e9)
        assert total.gap_s <= 1.0, "more than the time between two looks is unknown"
        assert total.mean_w is not None and total.min_w is not None and total.max_w is not None
        assert total.joules == pytest.approx(total.mean_w * total.known_s)
        assert total.min_w <= total.mean_w <= total.max_w


@pytest.mark.parametrize("is_last", [False, True], ids=["followed", "last"])
def test_the_end_of_a_long_interval_is_known_once_its_samples_have_come(
    rail: Callable[..., Rail], is_last: bool
) -> None:
    """Guards the mend of 3efb35de. The feed lags 3 s, and the rail remembers 6.4 s."""
    line = rail(5.0, last_s=0.0, capacity=64)
    seen = meter(FakeLink([FakeFeed(1, "board", {"5V": line})]))
    seen.start()
    ended = msgspec.structs.replace(row(1), start_ns=START_NS, end_ns=START_NS + 30 * SECOND)

    def look(second: int) -> None:
        add(line, 5.0, line_end(line) + 0.1, second - 3)
        now_ns = START_NS + second * SECOND
        seen.follow(dataclasses.replace(INFO, drain_ns=0, ended_ns=0, now_ns=now_ns))

    for second in range(4, 32):
        look(second)
    seen.note([ended])
    if is_last:
        add(line, 5.0, line_end(line) + 0.1, 33)
    else:
        for second in range(32, 80):
            look(second)
    end_ns = ended.end_ns
    outcome = seen.finish(dataclasses.replace(INFO, drain_ns=end_ns, ended_ns=end_ns), [ended])
    total = outcome.intervals[1].total
    assert total.known_s + total.gap_s == pytest.approx(30.0)
    assert total.known_s == pytest.approx(30.0, abs=0.2) and total.joules == pytest.approx(
        5.0 * total.known_s
    )


def test_short_intervals_are_not_followed(rail: Callable[..., Rail]) -> None:
    link = FakeLink([FakeFeed(1, "board", {"5V": rail(5.0, last_s=12.0)})])
    seen = meter(link)
    seen.start()
    seen.note([row(seq) for seq in range(8)])
    asked = link.asked
    seen.follow(dataclasses.replace(INFO, measure_ns=0))
    assert link.asked == asked


def test_the_measure_phase_is_followed_to_its_own_end(rail: Callable[..., Rail]) -> None:
    """What comes after it is not added, nor asked for before it has begun."""
    line = rail(5.0, last_s=30.0)
    link = FakeLink([FakeFeed(1, "board", {"5V": line})])
    seen = meter(link)
    seen.start()
    seen.note([row(seq) for seq in range(8)])
    link.asked = 0
    seen.follow(dataclasses.replace(INFO, measure_ns=0))
    assert link.asked == 0
    seen.follow(INFO)
    seen.follow(INFO)
    assert link.asked == 1
    add(line, 5.0, 30.1, 140)
    assert line.use(MEASURE_NS, DRAIN_NS).lost_ns == 4 * SECOND
    outcome = seen.finish(INFO, [])
    assert outcome.result is not None and outcome.result.measure.total.joules == 20.0


@pytest.mark.parametrize("times_of", [1, 2, 4])
def test_a_row_of_a_late_worker_does_not_count_its_time_again(
    rail: Callable[..., Rail], times_of: int
) -> None:
    late = msgspec.structs.replace(row(times_of), seq=5)
    seen = meter(FakeLink([FakeFeed(1, "board", {"5V": rail(5.0)})]))
    seen.start()
    outcome = seen.finish(INFO, [*ROWS, late])
    assert outcome.result is not None
    total = outcome.result.measure.total
    assert (total.joules, total.known_s, total.gap_s) == (20.0, 4.0, 0.0)
    assert outcome.intervals[5].total.joules == 5.0


def line_end(line: Rail) -> float:
    return float(line.c.horizon_ns - START_NS) / SECOND


def test_a_gap_is_unknown_with_its_length(rail: Callable[..., Rail]) -> None:
    line = rail(5.0, last_s=2.0)
    line.mark(START_NS + 3 * SECOND)
    add(line, 5.0, 3.5, 10)
    outcome = metered(FakeLink([FakeFeed(1, "board", {"5V": line, "12V": rail(1.0)})]))

    assert outcome.text == "power is unknown for 1.500 s of the measure phase"
    assert outcome.result is not None
    total = outcome.result.measure.total
    assert (total.known_s, total.gap_s, total.mean_w) == (2.5, 1.5, 6.0)
    assert outcome.intervals[2].total.mean_w is None
    assert outcome.intervals[2].rails[1].mean_w == 1.0


def test_a_daq_that_dies_leaves_the_rest_unknown(rail: Callable[..., Rail]) -> None:
    feed = FakeFeed(1, "board", {"5V": rail(5.0, last_s=2.0)})
    link = FakeLink([feed])
    seen = meter(link)
    seen.start()
    feed.state = FeedState.BROKEN
    outcome = seen.finish(INFO, ROWS)
    assert outcome.result is not None and outcome.result.feeds[0].state == "broken"
    assert outcome.text == "power is unknown for 3.000 s of the measure phase"


def test_a_feed_opened_anew_does_not_forget_what_was_known(rail: Callable[..., Rail]) -> None:
    link = FakeLink([FakeFeed(1, "board", {"5V": rail(5.0, last_s=3.0)})])
    seen = meter(link)
    seen.start()
    seen.note(ROWS[:3])
    link.known = [FakeFeed(2, "board", {"5V": rail(5.0, first_s=3.0)})]
    outcome = seen.finish(INFO, ROWS)
    assert outcome.result is not None
    assert (outcome.result.measure.total.joules, outcome.text) == (20.0, "")


def test_feeds_that_ended_before_do_not_count(rail: Callable[..., Rail]) -> None:
    old = FakeFeed(1, "old", {"5V": rail(5.0)}, FeedState.CLOSED)
    assert metered(FakeLink([old])).text == NO_FEED
    both = metered(FakeLink([old, FakeFeed(2, "new", {"5V": rail(3.0)})]))
    assert both.result is not None and both.result.measure.total.mean_w == 3.0


def test_several_feeds_are_told_apart_and_one_can_be_chosen(rail: Callable[..., Rail]) -> None:
    feeds = [FakeFeed(1, "board", {"5V": rail(5.0)}), FakeFeed(2, "wall", {"5V": rail(50.0)})]
    both = metered(FakeLink(feeds))
    assert both.result is not None
    assert [rail.name for rail in both.result.measure.rails] == ["board/5V", "wall/5V"]
    chosen = metered(FakeLink(feeds), PowerOptions(("wall",)))
    assert chosen.result is not None
    assert [(rail.name, rail.mean_w) for rail in chosen.result.measure.rails] == [("5V", 50.0)]
    with pytest.raises(UsageError, match="no open feed 'roof'; open are board, wall"):
        meter(FakeLink(feeds), PowerOptions(("roof",))).start()
    with pytest.raises(UsageError, match="none is open"):
        meter(FakeLink(), PowerOptions(("roof",))).start()


def test_no_feed_and_no_prober_are_said(rail: Callable[..., Rail]) -> None:
    assert metered(FakeLink()).text == NO_FEED
    link = FakeLink([FakeFeed(1, "board", {"5V": rail()})])
    seen = meter(link)
    seen.start()
    link.broken = "the module has gone"
    seen.note([row(1)])
    assert seen.watts(row(1)) is None
    assert seen.finish(INFO, ROWS).text == "no power: the module has gone"


def test_prober_that_knows_no_feeds_does_not_end_a_run() -> None:
    link = FakeLink(broken="not supported")
    assert metered(link).text == "no power: not supported"
    with pytest.raises(SpekError, match="not supported"):
        metered(link, PowerOptions(("board",)))


def test_many_short_intervals_are_asked_for_together_and_not_for_ever(
    rail: Callable[..., Rail],
) -> None:
    """A stuck source: rows that wait for it are not queried each time."""
    link = FakeLink([FakeFeed(1, "board", {"5V": rail(5.0, last_s=0.0)})])
    seen = meter(link)
    seen.start()
    for n in range(0, 600, 10):
        seen.note([row(n + k) for k in range(10)])
    assert link.asked <= 600 + 60 * 4


def test_a_feed_that_lags_is_waited_for(rail: Callable[..., Rail]) -> None:
    line = rail(5.0, last_s=4.0)
    link = FakeLink([FakeFeed(1, "board", {"5V": line})])
    looks = iter(range(100))

    def come() -> None:
        if next(looks) == 3:
            add(line, 5.0, 4.1, 6.0)

    link.before_feeds = come
    seen = meter(link, patience_s=1)
    seen.start()
    outcome = seen.finish(INFO, ROWS)
    assert outcome.text == "" and outcome.result is not None
    assert outcome.result.measure.total.joules == 20.0


def test_uncertainty_is_what_shifting_changes(rail: Callable[..., Rail]) -> None:
    """5 W before the end of the measure phase, 105 W after it."""
    line = rail(5.0, last_s=5.0)
    add(line, 105.0, 5.0, 8.0)
    outcome = metered(FakeLink([FakeFeed(1, "board", {"5V": line}, uncertainty_ns=MS)]))
    assert outcome.result is not None
    assert outcome.result.uncertainty_ns == MS
    assert outcome.result.shift_j == pytest.approx(0.1)


def test_uncertainty_outlives_the_history(rail: Callable[..., Rail]) -> None:
    """105 W until the measure phase begins, which the rail has forgotten at its end; 5 W after."""
    line = rail(105.0, last_s=1.0, capacity=64)
    feed = FakeFeed(1, "board", {"5V": line}, uncertainty_ns=100 * MS)
    seen = meter(FakeLink([feed]))
    seen.start()
    for second in range(1, 6):
        add(line, 5.0, line_end(line) + 0.1, second + 0.5)
        now_ns = START_NS + second * SECOND
        seen.follow(dataclasses.replace(INFO, drain_ns=0, ended_ns=0, now_ns=now_ns))
    add(line, 5.0, line_end(line) + 0.1, 10)
    assert line.use(MEASURE_NS - SECOND, MEASURE_NS).known_ns == 0
    outcome = seen.finish(INFO, [])
    assert outcome.result is not None
    # back: 0.1 s of 105 W more at the start, and 0.1 s of 5 W less at the end
    assert outcome.result.shift_j == pytest.approx(10.0)


def test_the_samples_beyond_the_end_are_waited_for(rail: Callable[..., Rail]) -> None:
    line = rail(5.0, last_s=5.0)
    link = FakeLink([FakeFeed(1, "board", {"5V": line}, uncertainty_ns=100 * MS)])
    looks = iter(range(100))

    def come() -> None:
        if next(looks) == 3:
            add(line, 105.0, 5.1, 8.0)

    link.before_feeds = come
    seen = meter(link, patience_s=1)
    seen.start()
    outcome = seen.finish(INFO, ROWS)
    assert outcome.result is not None
    # half of the ramp to 105 W
    assert outcome.result.shift_j == pytest.approx(5.0)


def test_efficiency_is_of_the_power_less_the_baseline() -> None:
    cost = documents_power.efficiency(12.0 - 2.0, 5000.0, 2 * (1 << 30))
    assert cost is not None
    assert (cost.iops_per_w, cost.mw_per_iops) == (500.0, 2.0)
    assert (cost.mib_s_per_w, cost.j_per_gib) == (204.8, 5.0)
    assert documents_power.efficiency(0.0, 5000.0, 1.0) is None
    assert documents_power.efficiency(None, 5000.0, 1.0) is None
    assert documents_power.efficiency(5.0, 0.0, 0.0) is None


def test_result_carries_power_by_interval_and_fits_its_schema(rail: Callable[..., Rail]) -> None:
    outcome = metered(
        FakeLink([FakeFeed(1, "board", {"5V": rail(5.0)})]), PowerOptions(baseline_w=1.0)
    )
    contents = build(outcome)
    jsonschema.Draft202012Validator(json.loads(result.SCHEMA_FILE.read_text())).validate(
        json.loads(files.encode(contents))
    )
    assert contents.power is not None and contents.power.measure.efficiency is not None
    assert contents.power.measure.efficiency.watts == 4.0
    assert contents.power.measure.total.mean_w == 5.0
    cost = contents.intervals[1].power
    assert cost is not None and cost.efficiency is not None
    assert cost.efficiency.iops_per_w == 250.0
    again = msgspec.json.decode(files.encode(contents), type=result.Result)
    assert again == contents


def printed(contents: result.Result) -> str:
    stream = io.StringIO()
    render_result.print_result(contents, Console(file=stream, width=120))
    return stream.getvalue()


def test_summary_says_what_power_was_and_what_is_missing(rail: Callable[..., Rail]) -> None:
    feed = FakeFeed(1, "board", {"5V": rail(5.0), "12V": rail(3.0, last_s=4.0)}, lsb_nw=10**6)
    text = printed(build(metered(FakeLink([feed]), PowerOptions(baseline_w=3.0))))
    assert "power: 8.00 W (8.00 W to 8.00 W), 29.0 J" in text
    assert "5V: 5.00 W (5.00 W to 5.00 W), 20.0 J" in text
    assert "power per load less 3.00 W: 200 IOPS/W, 5 mW/IOPS" in text
    assert "power is unknown for 1.000 s of the measure phase" in text
    assert "energy uncertainty +-0.02" in text

    assert "power not measured: the run had no prober" in printed(build())
    assert NO_FEED in printed(build(metered(FakeLink())))


@pytest.mark.parametrize(
    ("lsb_nw", "resolution"),
    [
        ((10**6, 10**6), "sensor resolution)"),
        ((10**6, 0), "sensor resolution, which is not known of wall/12V)"),
        ((0, 0), "sensor resolution not known)"),
    ],
)
def test_summary_says_whose_resolution_is_not_in_the_uncertainty(
    rail: Callable[..., Rail], lsb_nw: tuple[int, int], resolution: str
) -> None:
    line = rail(5.0, last_s=4.5)
    add(line, 9.0, 4.6, 10.0)
    feeds = [
        FakeFeed(1, "board", {"5V": line}, uncertainty_ns=MS, lsb_nw=lsb_nw[0]),
        FakeFeed(2, "wall", {"12V": rail(3.0)}, uncertainty_ns=MS, lsb_nw=lsb_nw[1]),
    ]
    text = printed(build(metered(FakeLink(feeds))))
    assert f"(time stamps +-1.00 ms, {resolution}" in " ".join(text.split())


def test_point_of_a_curve_has_the_power_of_its_run(rail: Callable[..., Rail]) -> None:
    outcome = metered(
        FakeLink([FakeFeed(1, "board", {"5V": rail(5.0)})]), PowerOptions(baseline_w=1.0)
    )
    point = points.point_of(build(outcome), Load("depth", 32))
    assert point.power == Power(5.0, {"5V": 5.0}, 20.0, 0.0, 1.0)
    assert point.efficiency is not None and point.efficiency.mw_per_iops == 4.0
    bare = points.point_of(build(), Load("depth", 16))
    assert bare.power is None and bare.efficiency is None

    stream = io.StringIO()
    Console(file=stream, width=160).print(curve.table_of([bare, point]))
    head, first, second = stream.getvalue().splitlines()
    assert head.split()[-3:] == ["power", "mW/IOPS", "IOPS/W"]
    assert first.split()[-3:] == ["-", "-", "-"]
    assert second.split()[-4:] == ["5.00", "W", "4", "250"]


# ---- the command line ----


@pytest.mark.parametrize(
    ("text", "watts"), [("12.5", 12.5), ("800mW", 0.8), (" 3 W", 3.0), ("1.2kW", 1200.0)]
)
def test_powers_are_understood(text: str, watts: float) -> None:
    assert parse_watts(text) == pytest.approx(watts)


@pytest.mark.parametrize("text", ["", "-3", "5 V", "1e3", "W"])
def test_what_is_no_power_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="is not a power"):
        parse_watts(text)


def test_baseline_from_a_file(tmp_path: Path, rail: Callable[..., Rail]) -> None:
    path = tmp_path / "idle.json"
    path.write_bytes(files.encode(build()))
    with pytest.raises(UsageError, match="has no power data"):
        power_of((), str(path))
    outcome = metered(FakeLink([FakeFeed(1, "board", {"5V": rail(3.0)})]))
    path.write_bytes(files.encode(build(outcome)))
    assert power_of((), str(path)) == PowerOptions((), 3.0)
    with pytest.raises(UsageError, match="neither a power like"):
        power_of((), str(tmp_path / "missing"))
    assert power_of(("a",), None) == PowerOptions(("a",), 0.0)


def test_power_for_people() -> None:
    values: list[Any] = [12.345, 0.8004, 1.0, 0.0, -2.5, 150.0]
    assert [format_watts(value) for value in values] == [
        "12.3 W", "800 mW", "1.00 W", "0.00 W", "-2.50 W", "150 W",
    ]  # fmt: skip
    assert [format_joules(value) for value in (740.4, 12_345.0, 0.0123)] == [
        "740 J", "12.3 kJ", "12.3 mJ",
    ]  # fmt: skip
