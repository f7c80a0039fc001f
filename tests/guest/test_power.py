# SPDX-License-Identifier: GPL-2.0
"""Power over netlink: known samples in, known energy out, whatever happens to who brings them."""

from __future__ import annotations

import errno
import itertools
import os
import signal
import time
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from lib.guest.power import (
    MS,
    SECOND,
    W,
    connected,
    fork,
    only_feed,
    only_use,
    past,
    status_of,
)
from lib.guest.prober import fresh_module, unload
from lib.waiting import eventually

from spekctl.errors import SpekError
from spekctl.kernel.feeds import PowerLink, PowerSample
from spekctl.kernel.gen import spek_prober as uapi
from spekctl.kernel.link import not_loaded
from spekctl.kernel.prober import Prober
from spekctl.kernel.records import FeedState, Use

pytestmark = pytest.mark.any_kernel
fresh = pytest.fixture(autouse=True)(fresh_module)
link = pytest.fixture(connected)
# A second socket, which only asks.
reader = pytest.fixture(connected)


def ramp(start_ns: int, count: int, step_ns: int = MS, rail: int = 0) -> list[PowerSample]:
    """1 W more with each step."""
    return [PowerSample(start_ns + n * step_ns, n * W, rail) for n in range(count)]


def ramp_joules(from_s: Fraction, to_s: Fraction, watts_per_s: int = 1000) -> Fraction:
    return watts_per_s * (to_s**2 - from_s**2) / 2


def assert_joules(use: Use, expected: Fraction) -> None:
    assert abs(Fraction(use.energy_fj, 10**15) - expected) <= Fraction(2, 10**15)


# ---- energy ----


def test_energy_over_any_intervals_is_exact(link: PowerLink, reader: PowerLink) -> None:
    feed = link.open_feed("board", "sim", [("12V", 4000)], uncertainty_ns=1234)
    start = past(2)
    assert link.push(feed, ramp(start, 1001)) == (1001, 0)

    cuts = [1, 500_000, 500_001, MS, 3 * MS + 7, 999_999_999]
    intervals = [(start + a, start + b) for a, b in itertools.pairwise(cuts)]
    (rail,) = reader.energy(intervals)

    assert (rail.feed_name, rail.rail_name, rail.lsb_nw) == ("board", "12V", 4000)
    assert (rail.state, rail.uncertainty_ns) == (FeedState.OPEN, 1234)
    for use, (a, b) in zip(rail.uses, itertools.pairwise(cuts), strict=True):
        assert_joules(use, ramp_joules(Fraction(a, SECOND), Fraction(b, SECOND)))
        assert (use.known_ns, use.gap_ns, use.lost_ns, use.pending_ns) == (b - a, 0, 0, 0)
        # a milliwatt in a microsecond: power at the ends, cut off to a microwatt
        assert abs(use.min_uw - a) <= 1 and abs(use.max_uw - b) <= 1


def test_answer_of_many_intervals_and_rails_spans_messages(link: PowerLink) -> None:
    names = [f"rail{n}" for n in range(uapi.MAX_RAILS)]
    feed = link.open_feed("wide", "sim", names, history=64)
    start = past(1)
    for number in range(uapi.MAX_RAILS):
        link.push(feed, [PowerSample(start, number * W, number),
                         PowerSample(start + 100 * MS, number * W, number)])  # fmt: skip

    intervals = [(start + n * 10_000, start + (n + 1) * 10_000) for n in range(3000)]
    rails = link.energy(intervals)

    assert [rail.rail_name for rail in rails] == names
    for number, rail in enumerate(rails):
        assert {use.energy_fj for use in rail.uses} == {number * W * 10_000}
    assert len(only_feed(link).rails) == uapi.MAX_RAILS


def test_ends_of_what_is_known(link: PowerLink) -> None:
    feed = link.open_feed("board", "sim", ["5V"])
    start = past(2)
    link.push(feed, [PowerSample(start, 5 * W), PowerSample(start + SECOND, 5 * W)])

    use = only_use(link, start - 10, start + SECOND + 7)
    assert_joules(use, Fraction(5))
    assert (use.known_ns, use.gap_ns, use.pending_ns, use.samples) == (SECOND, 10, 7, 2)

    link.close_feed(feed)
    use = only_use(link, start - 10, start + SECOND + 7)
    assert (use.known_ns, use.gap_ns, use.pending_ns) == (SECOND, 17, 0)


def test_gaps_are_unknown_with_their_length(link: PowerLink) -> None:
    feed = link.open_feed("board", "sim", ["5V"], max_step_ns=100 * MS)
    start = past(2)
    at = [0, 50, 100, 350, 400, 450, 500]  # ms: too far apart at 350, flagged at 450
    link.push(feed, [PowerSample(start + ms * MS, W, 0, ms == 450) for ms in at])
    link.mark(feed, until_ns=start + 600 * MS)
    link.push(feed, [PowerSample(start + 650 * MS, W)])

    use = only_use(link, start, start + 650 * MS)
    assert use.gap_ns == (250 + 50 + 150) * MS
    assert use.known_ns == 200 * MS
    assert_joules(use, Fraction(2, 10))
    inside = only_use(link, start + 200 * MS, start + 300 * MS)
    assert (inside.energy_fj, inside.known_ns, inside.gap_ns) == (0, 0, 100 * MS)
    (rail,) = only_feed(link).rails
    assert (rail.gaps, rail.gap_ns, rail.known_ns) == (3, 450 * MS, 200 * MS)


def test_late_samples_are_counted_and_change_nothing(link: PowerLink) -> None:
    feed = link.open_feed("board", "sim", ["5V"])
    start = past(2)
    batch = ramp(start, 11)
    late = [PowerSample(start + 5 * MS, 1000 * W), PowerSample(start + 10 * MS - 1, 0)]
    assert link.push(feed, batch) == (11, 0)
    assert link.push(feed, [*late, PowerSample(start + 11 * MS, 11 * W)]) == (1, 2)

    assert_joules(
        only_use(link, start, start + 11 * MS), ramp_joules(Fraction(0), Fraction(11, 1000))
    )
    assert only_feed(link).rails[0].late == 2


def test_a_mark_moves_the_watermark_and_makes_what_is_before_it_late(link: PowerLink) -> None:
    feed = link.open_feed("board", "sim", ["5V", "12V"])
    start = past(2)
    link.push(feed, [PowerSample(start, W, 0)])
    assert only_feed(link).watermark_ns == 0
    link.mark(feed, until_ns=start + MS, drift_ppb=-95, residual_ns=800, overflows=3, lost=4)

    shown = only_feed(link)
    assert shown.watermark_ns == start + MS
    assert (shown.drift_ppb, shown.residual_ns, shown.overflows, shown.lost) == (-95, 800, 3, 4)
    assert link.push(feed, [PowerSample(start + MS - 1, W, 1)]) == (0, 1)
    assert link.push(feed, [PowerSample(start + MS, W, 1)]) == (1, 0)


def test_full_history_says_what_it_has_lost(link: PowerLink) -> None:
    feed = link.open_feed("board", "sim", ["5V"], history=100)
    start = past(2)
    link.push(feed, [PowerSample(start + n * MS, 2 * W) for n in range(1000)])

    shown = only_feed(link)
    assert shown.history == 128
    (rail,) = shown.rails
    assert (rail.samples, rail.overwritten) == (1000, 872)
    assert rail.oldest_ns == start + 872 * MS
    assert rail.energy_uj == 999 * 2000
    use = only_use(link, start, start + 999 * MS)
    assert (use.lost_ns, use.known_ns) == (872 * MS, 127 * MS)
    assert_joules(use, Fraction(2 * 127, 1000))


def test_two_feeds_are_two(link: PowerLink, reader: PowerLink) -> None:
    board = link.open_feed("board", "u6", ["5V", "12V"])
    wall = link.open_feed("wall", "hwmon", ["mains"])
    start = past(1)
    both = start, start + 100 * MS
    link.push(board, [PowerSample(at, 3 * W, rail) for at in both for rail in (0, 1)])
    link.push(wall, [PowerSample(at, 50 * W) for at in both])

    rails = {(rail.feed_name, rail.rail_name): rail.uses[0] for rail in reader.energy([both])}
    assert [(key, use.energy_fj // 10**12) for key, use in rails.items()] == [
        (("board", "5V"), 300),
        (("board", "12V"), 300),
        (("wall", "mains"), 5000),
    ]
    assert [rail.feed_name for rail in reader.energy([both], feed=wall)] == ["wall"]
    assert [feed.source for feed in reader.feeds()] == ["u6", "hwmon"]


def test_steps_and_negative_power(link: PowerLink) -> None:
    feed = link.open_feed("board", "sim", ["5V"])
    start = past(1)
    powers = [(0, -W), (10, -W), (10, 3 * W), (20, 3 * W)]
    link.push(feed, [PowerSample(start + ms * MS, power) for ms, power in powers])

    use = only_use(link, start, start + 20 * MS)
    assert_joules(use, Fraction(2, 100))
    assert (use.min_uw, use.max_uw) == (-W, 3 * W)
    assert_joules(only_use(link, start, start + 10 * MS), Fraction(-1, 100))


# ---- rows ----


def assert_kept_back(prober: Prober, probe: int) -> None:
    """Nothing comes but what has waited long enough, however slow the machine is."""
    rows, _ = prober.rows(probe, hold=True)
    assert all(row.start_ns + uapi.MAX_LAG_NS <= time.monotonic_ns() for row in rows)


def test_rows_carry_energy_up_to_their_start(link: PowerLink) -> None:
    feed = link.open_feed("board", "sim", ["5V"])
    link.push(feed, [PowerSample(past(1), 7 * W)])
    with Prober() as prober:
        probe = prober.start(20 * MS)
        (table,) = [table for table in prober.info().described() if table.name == "power"]
        assert table.names == ("board/5V",)
        (entity,) = table.entities
        eventually(lambda: prober.info().rows >= 10, "no rows")
        assert_kept_back(prober, probe)
        prober.stop(probe)
        link.push(feed, [PowerSample(time.monotonic_ns(), 7 * W)])
        rows, _ = prober.rows(probe, hold=True)

        first, last = rows[0], rows[-1]
        assert last.final
        assert len(rows) == last.seq + 1
        before_nj, after_nj = first.power[entity].energy_nj, last.power[entity].energy_nj
        assert before_nj is not None and after_nj is not None
        used = after_nj - before_nj
        assert abs(used - 7 * (last.start_ns - first.start_ns)) <= 1
        assert last.power[entity].gap_ns == 0


def test_rows_do_not_wait_for_a_feed_for_ever(link: PowerLink) -> None:
    link.open_feed("board", "sim", ["5V"])
    with Prober() as prober:
        probe = prober.start(20 * MS)
        eventually(lambda: prober.info().rows >= 3, "no rows")
        assert [row.power for row in prober.rows(probe)[0]][:3] == [{}, {}, {}]
        assert_kept_back(prober, probe)
        eventually(lambda: prober.rows(probe, hold=True)[0], "rows are kept back for ever")
        assert only_feed(link).left_behind > 0
        prober.stop(probe)


def test_rows_keep_their_feed_when_another_takes_its_name(link: PowerLink) -> None:
    feed = link.open_feed("board", "sim", ["5V"])
    with Prober() as prober:
        probe = prober.start(10 * MS)
        link.push(feed, [PowerSample(past(1), W), PowerSample(time.monotonic_ns() + SECOND, W)])
        eventually(lambda: prober.info().rows >= 3, "no rows")
        link.close_feed(feed)
        link.open_feed("board", "sim", ["5V"])
        prober.stop(probe)
        rows, _ = prober.rows(probe)
    assert all(row.power for row in rows)


def test_rows_keep_power_that_the_feed_has_forgotten(link: PowerLink) -> None:
    """Of a detached probe, which nobody reads for longer than the history lasts."""
    feed = link.open_feed("board", "sim", ["5V", "12V"], history=uapi.MIN_HISTORY)
    start = past(0.1)
    link.push(feed, [PowerSample(start, 7 * W, rail) for rail in (0, 1)])
    with Prober() as prober:
        probe = prober.start(10 * MS, detached=True)
        eventually(lambda: prober.info().rows >= 20, "no rows")
        # First while it samples, in small batches, then in one that is longer than the history.
        for _ in range(3 * uapi.MIN_HISTORY):
            link.push(feed, [PowerSample(time.monotonic_ns(), 7 * W)])
        eventually(lambda: prober.info().rows >= 40, "no more rows")
        prober.stop(probe)
        end = time.monotonic_ns()
        from_ns = only_feed(link).rails[0].last_ns
        link.push(feed, [PowerSample(from_ns + n * (end - from_ns) // 1000, 7 * W)
                         for n in range(1001)])  # fmt: skip
        link.mark(feed, until_ns=end)
        link.push(feed, [PowerSample(end, W, 1)] * uapi.MIN_HISTORY)
        rows, _ = prober.rows(probe)

        assert only_feed(link).rails[0].oldest_ns > rows[-2].start_ns
        assert len(rows) == rows[-1].seq + 1 >= 40
        sampled, marked = sorted(rows[0].power)
        before_nj = rows[0].power[sampled].energy_nj
        for row in rows:
            power = row.power[sampled]
            assert before_nj is not None and power.energy_nj is not None
            used_nj = power.energy_nj - before_nj
            assert abs(used_nj - 7 * (row.start_ns - rows[0].start_ns)) <= 1
            assert (power.known_ns, power.gap_ns) == (row.start_ns - start, 0)
            power = row.power[marked]
            assert (power.known_ns, power.gap_ns) == (0, row.start_ns - start)
        prober.delete(probe)


# ---- the life of a feed ----


def test_feed_ends_with_its_socket_and_stays_readable(reader: PowerLink) -> None:
    start = past(1)
    with PowerLink() as link:
        feed = link.open_feed("board", "sim", ["5V"])
        link.push(feed, [PowerSample(start, W), PowerSample(start + 100 * MS, W)])
    ended = eventually(
        lambda: [feed for feed in reader.feeds() if not feed.is_open], "the feed does not end"
    )[0]
    assert ended.state is FeedState.BROKEN
    assert ended.ended_ns >= ended.opened_ns

    use = only_use(reader, start, start + 200 * MS)
    assert (use.known_ns, use.gap_ns, use.pending_ns) == (100 * MS, 100 * MS, 0)


def test_killed_daq_is_a_broken_feed(reader: PowerLink) -> None:
    def bring() -> None:
        link = PowerLink()
        feed = link.open_feed("board", "sim", ["5V"])
        while True:
            link.push(feed, [PowerSample(time.monotonic_ns(), W)])
            time.sleep(0.01)

    daq = fork(bring)
    try:
        eventually(
            lambda: [feed for feed in reader.feeds() if feed.rails[0].samples > 3], "no samples"
        )
        assert only_feed(reader).owner_pid == daq
    finally:
        os.kill(daq, signal.SIGKILL)
        assert status_of(daq) == -signal.SIGKILL
    eventually(lambda: not only_feed(reader).is_open, "the feed does not end")
    assert only_feed(reader).state is FeedState.BROKEN


def test_new_feed_takes_the_place_of_an_ended_one_of_its_name(link: PowerLink) -> None:
    first = link.open_feed("board", "sim", ["5V"])
    wall = link.open_feed("wall", "sim", ["mains"])
    link.close_feed(first)
    link.close_feed(first)  # it is over, which is what was wanted
    again = link.open_feed("board", "sim", ["12V"])

    assert [(feed.id, feed.name) for feed in link.feeds()] == [(wall, "wall"), (again, "board")]


def test_list_is_limited_and_the_first_to_have_ended_goes(link: PowerLink) -> None:
    feeds = [link.open_feed(f"feed{n}", "sim", ["5V"], history=64) for n in range(uapi.MAX_FEEDS)]
    with pytest.raises(SpekError, match="16 feeds are open") as refusal:
        link.open_feed("more", "sim", ["5V"])
    assert refusal.value.errno == errno.ERANGE
    link.close_feed(feeds[5])
    link.close_feed(feeds[2])
    link.open_feed("more", "sim", ["5V"])
    assert {feed.id for feed in link.feeds()} >= {*feeds} - {feeds[5]}
    assert feeds[5] not in {feed.id for feed in link.feeds()}


def test_module_unloads_with_open_feeds_and_says_so_to_who_pushes(link: PowerLink) -> None:
    feed = link.open_feed("board", "sim", ["5V"])
    link.push(feed, ramp(past(1), 100))
    unload()
    with pytest.raises(SpekError):
        link.push(feed, ramp(past(0.5), 10))
    with pytest.raises(SpekError) as refusal:
        PowerLink()
    assert refusal.value.message == not_loaded("spek_prober")


def test_feeds_come_and_go_while_others_read(link: PowerLink) -> None:
    def bring(name: str) -> None:
        for _ in range(40):
            with PowerLink() as own:
                feed = own.open_feed(name, "sim", ["a", "b"], history=64)
                now = time.monotonic_ns()
                own.push(feed, [PowerSample(now - n, n, n % 2) for n in range(500, 0, -1)])

    writers = [fork(partial(bring, name)) for name in ("x", "y")]
    while any(Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z" for pid in writers):
        now = time.monotonic_ns()
        for rail in reading(partial(link.energy, [(now - SECOND, now)] * 200)):
            for use in rail.uses:
                total = use.known_ns + use.gap_ns + use.lost_ns + use.pending_ns
                assert total == SECOND
        reading(link.feeds)
    assert [status_of(pid) for pid in writers] == [0, 0]


def reading(ask: Callable[[], list[Any]]) -> list[Any]:
    """A list that changes under way all the time may never be read as a whole."""
    try:
        return ask()
    except SpekError as error:
        assert "changed during" in error.message
        return []
