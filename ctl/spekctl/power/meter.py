# SPDX-License-Identifier: GPL-2.0-or-later
"""Power during a run: energy of each rail in each interval and in the measure phase.

The prober is asked for an interval as soon as it has ended, and again until its samples have all
come: a source may lag. A failure of power measurement does not end the run; its result reports it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import msgspec

from spekctl.documents.power import NO_FEED, Amount, Metered, interval_power
from spekctl.documents.result_parts import FeedResult, PowerResult, RailPower
from spekctl.errors import SpekError, UsageError
from spekctl.kernel.feeds import Feed, PowerLink, RailUse
from spekctl.kernel.gen.spek_prober import MAX_LAG_NS
from spekctl.kernel.records import IntervalRow, RunInfo, Use
from spekctl.power.pieces import Pieces
from spekctl.power.trail import Stretch, Trail

_POLL_S = 0.05
# a second more than the prober waits for a feed that lags
_WAIT_S = MAX_LAG_NS / 1e9 + 1.0
# Shorter intervals are asked for while the prober has their samples.
_LONG_NS = 5 * 10**9
# A phase may end with a short interval, which says nothing of the others.
_FEW_ROWS = 8

Key = tuple[str, str]  # names of feed and rail


@dataclass(frozen=True, slots=True)
class Edge:
    """Energy of rails just before and just after a time, as long as time stamps may be off, in fJ.

    A rail of which one of them is not known at all is left out.
    """

    at_ns: int
    by_ns: int
    energies: Mapping[Key, tuple[float, float]]


@dataclass(frozen=True, slots=True)
class PowerOptions:
    """Options of power measurement."""

    feeds: tuple[str, ...] = ()  # empty: all
    baseline_w: float = 0.0

    def check_open(self, names: Sequence[str]) -> None:
        """Refuse a requested feed that is not among the open ones, @names."""
        for name in self.feeds:
            if name not in names:
                there = f"open are {', '.join(names)}" if names else "none is open"
                raise UsageError(f"--power-feed: there is no open feed '{name}'; {there}")


class Meter:
    """Queries the prober for the intervals of one run."""

    def __init__(
        self, link: PowerLink, wish: PowerOptions, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._link = link
        self._wish = wish
        self._clock = clock
        self._before: frozenset[int] = frozenset()
        self._rows: dict[int, IntervalRow] = {}
        self._uses: dict[int, dict[Key, Use]] = {}
        self._open: set[int] = set()  # rows with samples outstanding
        self._lsb_nw: dict[Key, int] = {}
        self._trouble = ""
        self._pieces = Pieces(link, self._counts)
        self._trail = Trail(link, self._counts)
        self._stretches: dict[int, Stretch] = {}  # by row; with samples of its end outstanding
        self._longest_ns = 0  # of the rows
        self._last_end_ns = 0
        self._start_edge: Edge | None = None

    def start(self) -> None:
        """Find the open feeds; each requested name must be among them."""
        try:
            feeds = self._link.feeds()
        except SpekError as error:
            if self._wish.feeds:
                raise
            self._trouble = f"no power: {error.message}"
            return
        self._before = frozenset(feed.id for feed in feeds if not feed.is_open)
        names = [feed.name for feed in feeds if feed.is_open]
        self._wish.check_open(names)

    def follow(self, info: RunInfo) -> None:
        """Add the samples of the measure phase, and of the interval, that have arrived: without
        report intervals, or with long ones, the prober forgets them before the next interval
        ends."""
        ends = [info.drain_ns, info.ended_ns, info.now_ns]
        if info.time_ns:
            ends.append(info.measure_ns + info.time_ns)
        try:
            if info.measure_ns:
                self._pieces.follow(info.measure_ns, min(filter(None, ends), default=0))
                if self._start_edge is None:
                    self._follow_start(info.measure_ns)
            may_be_long = len(self._rows) < _FEW_ROWS or self._longest_ns >= _LONG_NS
            if may_be_long and info.started_ns:
                self._trail.follow(self._last_end_ns or info.started_ns)
            self._complete()
        except SpekError as error:
            self._trouble = f"no power: {error.message}"

    def _follow_start(self, start_ns: int) -> None:
        """Keep the energy around the start of the measure phase, as soon as it is known."""
        feeds = self._feeds()
        by_ns = max((feed.uncertainty_ns for feed in feeds), default=0)
        open_feeds = [feed for feed in feeds if feed.is_open]
        if by_ns and all(feed.watermark_ns >= start_ns + by_ns for feed in open_feeds):
            self._start_edge = self._edge(start_ns, by_ns)

    def note(self, rows: Iterable[IntervalRow]) -> None:
        """Add intervals that have ended, and query those with samples outstanding."""
        news = [row for row in rows if row.seq not in self._rows]
        if not news:
            return
        self._rows |= {row.seq: row for row in news}
        self._open |= {row.seq for row in news}
        # older ones are asked again at the end only: their source has gone, or lags far behind
        oldest_ns = news[-1].end_ns - 2 * MAX_LAG_NS
        self._ask([seq for seq in self._open if self._rows[seq].end_ns >= oldest_ns])
        self._take_trail(news)
        self._last_end_ns = max(self._last_end_ns, *(row.end_ns for row in news))
        self._longest_ns = max(self._longest_ns, *(row.end_ns - row.start_ns for row in news))

    def _take_trail(self, rows: Sequence[IntervalRow]) -> None:
        """Of intervals whose samples the prober has forgotten in part, what was known before."""
        for row in rows:
            if any(use.lost_ns for use in self._uses.get(row.seq, {}).values()):
                self._stretches[row.seq] = self._trail.within(row.start_ns, row.end_ns)
        self._complete()

    def _complete(self) -> None:
        """Add the samples of the ends of such intervals that have come since."""
        for seq, stretch in list(self._stretches.items()):
            try:
                known = self._trail.uses(stretch)
            except SpekError as error:
                self._trouble = f"no power: {error.message}"
                return
            uses = self._uses[seq]
            for key in uses.keys() & known.keys():
                if known[key].known_ns > uses[key].known_ns:
                    uses[key] = known[key]
            # As note() has it: what is older waits for a source that has gone.
            is_old = stretch.end_ns < self._last_end_ns - 2 * MAX_LAG_NS
            if is_old or not any(use.pending_ns for use in known.values()):
                del self._stretches[seq]

    def watts(self, row: IntervalRow) -> float | None:
        """Power of an interval, as far as it was known when it was last asked for."""
        uses = self._uses.get(row.seq)
        return interval_power(self._amounts(uses)).total.mean_w if uses else None

    def finish(self, info: RunInfo, rows: Iterable[IntervalRow]) -> Metered:
        """Power of the whole run, once all samples arrived or the wait for them timed out."""
        start_ns = info.measure_ns
        end_ns = info.drain_ns or info.ended_ns or info.now_ns
        self.note(rows)
        try:
            by_ns = max((feed.uncertainty_ns for feed in self._feeds()), default=0)
            self._wait_for(max([end_ns + by_ns, *(row.end_ns for row in self._rows.values())]))
            feeds = self._feeds()
            if not feeds:
                return Metered(text=self._trouble or NO_FEED)
            if not start_ns or end_ns <= start_ns:
                return Metered(text="power not measured: the run ended before its measure phase")
            return self._result(start_ns, end_ns, feeds)
        except SpekError as error:
            return Metered(text=f"no power: {error.message}")

    def close(self) -> None:
        """Close the connection."""
        self._link.close()

    def _result(self, start_ns: int, end_ns: int, feeds: Sequence[Feed]) -> Metered:
        rows = {seq: self._rows[seq] for seq in self._uses}
        inner = {
            seq: row
            for seq, row in rows.items()
            if row.start_ns >= start_ns and row.end_ns <= end_ns
        }
        measured = [self._uses[seq] for seq in _disjoint(inner)]
        whole = self._whole(start_ns, end_ns, measured)
        measure = interval_power(self._amounts(whole))
        uncertainty_ns = max(feed.uncertainty_ns for feed in feeds)
        shift_j = self._shifted(start_ns, end_ns, uncertainty_ns)
        lsb_j = sum(rail.lsb_w * rail.known_s for rail in measure.rails)
        return Metered(
            PowerResult(
                feeds=[msgspec.convert(feed, FeedResult, from_attributes=True) for feed in feeds],
                baseline_w=self._wish.baseline_w,
                measure=measure,
                uncertainty_ns=uncertainty_ns,
                shift_j=shift_j,
                uncertainty_j=shift_j + lsb_j,
            ),
            {seq: interval_power(self._amounts(uses)) for seq, uses in self._uses.items()},
            _missing(measure.total),
        )

    def _feeds(self) -> list[Feed]:
        return [feed for feed in self._link.feeds() if self._counts(feed.id, feed.name)]

    def _counts(self, number: int, name: str) -> bool:
        """Whether the feed was open during the run, and is selected."""
        wanted = not self._wish.feeds or name in self._wish.feeds
        return wanted and number not in self._before

    def _energy(self, intervals: Sequence[tuple[int, int]]) -> list[RailUse]:
        rails = self._link.energy(intervals) if intervals else []
        counted = [rail for rail in rails if self._counts(rail.feed, rail.feed_name)]
        for rail in counted:
            self._lsb_nw[rail.feed_name, rail.rail_name] = rail.lsb_nw
        return counted

    def _ask(self, seqs: Iterable[int]) -> None:
        """Power of these intervals, as far as known by now."""
        asked = sorted(seqs)
        try:
            rails = self._energy(
                [(self._rows[seq].start_ns, self._rows[seq].end_ns) for seq in asked]
            )
        except SpekError as error:
            self._trouble = f"no power: {error.message}"
            return
        for index, seq in enumerate(asked):
            uses = {(rail.feed_name, rail.rail_name): rail.uses[index] for rail in rails}
            before = self._uses.get(seq, {})
            # a reopened feed has lost the samples of its predecessor
            kept = {
                key: use
                for key, use in before.items()
                if key not in uses or use.known_ns > uses[key].known_ns
            }
            if uses or before:
                self._uses[seq] = {**uses, **kept}
            if uses and not any(use.pending_ns for use in uses.values()):
                self._open.discard(seq)

    def _wait_for(self, end_ns: int) -> None:
        """Until all open feeds have come past a time, or it is clear that they will not."""
        deadline = self._clock() + _WAIT_S
        while True:
            lagging = [
                feed for feed in self._feeds() if feed.is_open and feed.watermark_ns < end_ns
            ]
            if not lagging or self._clock() > deadline:
                break
            time.sleep(_POLL_S)
        self._ask(self._open)
        self._complete()

    def _whole(
        self, start_ns: int, end_ns: int, measured: Sequence[Mapping[Key, Use]]
    ) -> dict[Key, Use]:
        """The measure phase: as the prober and pieces know it, or as intervals add up if they know
        more."""
        uses: dict[Key, Use] = {}
        for rail in self._pieces.whole(start_ns, end_ns):
            key = (rail.feed_name, rail.rail_name)
            self._lsb_nw[key] = rail.lsb_nw
            uses[key] = rail.uses[0]
        for key in {key for uses in measured for key in uses}:
            parts = [uses[key] for uses in measured if key in uses]
            summed = _sum(parts, end_ns - start_ns)
            if key not in uses or summed.known_ns > uses[key].known_ns:
                uses[key] = summed
        return dict(sorted(uses.items(), key=lambda item: list(self._lsb_nw).index(item[0])))

    def _shifted(self, start_ns: int, end_ns: int, by_ns: int) -> float:
        """How much the energy changes if the time stamps are off, at most, both ways; J.

        A move adds what is beyond one end of the measure phase and drops what is within the other.
        """
        if not by_ns:
            return 0.0
        first, last = self._start_edge, self._edge(end_ns, by_ns)
        if first is None or (first.at_ns, first.by_ns) != (start_ns, by_ns):
            first = self._edge(start_ns, by_ns)
        back = forth = 0.0
        for key in first.energies.keys() & last.energies.keys():
            (before_start, after_start), (before_end, after_end) = (
                first.energies[key],
                last.energies[key],
            )
            back += abs(before_start - before_end)
            forth += abs(after_end - after_start)
        return max(back, forth) / 1e15

    def _edge(self, at_ns: int, by_ns: int) -> Edge:
        energies: dict[Key, tuple[float, float]] = {}
        for rail in self._energy([(at_ns - by_ns, at_ns), (at_ns, at_ns + by_ns)]):
            before, after = rail.uses
            if before.known_ns and after.known_ns:
                energies[rail.feed_name, rail.rail_name] = (
                    before.energy_fj * by_ns / before.known_ns,
                    after.energy_fj * by_ns / after.known_ns,
                )
        return Edge(at_ns, by_ns, energies)

    def _amounts(self, uses: Mapping[Key, Use]) -> list[Amount]:
        several = len({feed for feed, _ in uses}) > 1
        return [
            Amount(f"{feed}/{rail}" if several else rail, feed, self._lsb_nw[feed, rail], use)
            for (feed, rail), use in uses.items()
        ]


def _disjoint(rows: Mapping[int, IntervalRow]) -> list[int]:
    """Numbers of rows that do not overlap. What a worker that was late counted makes a row of its
    own, with the times of another one."""
    numbers = []
    last_ns = 0
    for number, row in sorted(rows.items(), key=lambda item: (item[1].start_ns, item[1].end_ns)):
        if row.start_ns >= last_ns:
            numbers.append(number)
            last_ns = row.end_ns
    return numbers


def _sum(parts: Sequence[Use], span_ns: int) -> Use:
    known = [use for use in parts if use.known_ns]
    known_ns = sum(use.known_ns for use in parts)
    return Use(
        energy_fj=sum(use.energy_fj for use in parts),
        known_ns=known_ns,
        gap_ns=span_ns - known_ns,
        lost_ns=0,
        pending_ns=0,
        samples=sum(use.samples for use in parts),
        min_uw=min((use.min_uw for use in known), default=0),
        max_uw=max((use.max_uw for use in known), default=0),
    )


def _missing(total: RailPower) -> str:
    if not total.known_s:
        return "power not measured: no sample lies in the measure phase"
    if total.gap_s:
        return f"power is unknown for {total.gap_s:.3f} s of the measure phase"
    return ""
