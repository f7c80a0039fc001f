# SPDX-License-Identifier: GPL-2.0-or-later
"""Client of the power feeds of spek_prober.ko: push samples, and query energy."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

import msgspec

from spekctl.closing import Closing
from spekctl.contract.prober_requests import (
    DEFAULT_HISTORY,
    DEFAULT_STEP_NS,
    FeedMarkRequest,
    FeedOpenRequest,
    RailRequest,
)
from spekctl.errors import NotFoundError
from spekctl.kernel.gen import spek_prober as uapi
from spekctl.kernel.gen.spek_prober_records import (
    EnergyInfo,
    FeedInfo,
    FeedState,
    PowerEnergy,
    PowerInterval,
)
from spekctl.kernel.gen.spek_prober_records import PowerSample as SampleRecord
from spekctl.kernel.link import Link, not_loaded
from spekctl.kernel.records import Use


class PowerSample(NamedTuple):
    """One sample of a rail."""

    at_ns: int
    power_uw: int
    rail: int = 0
    gap: bool = False


@dataclass(frozen=True, slots=True)
class Feed(FeedInfo):
    """A feed, open or ended."""

    @property
    def is_open(self) -> bool:
        """Samples may still come."""
        return self.state is FeedState.OPEN

    @property
    def late(self) -> int:
        """Samples that came too late, of all rails."""
        return sum(rail.late for rail in self.rails)


@dataclass(frozen=True, slots=True)
class RailUse:
    """A rail, and its use in each of the requested intervals."""

    feed: int
    feed_name: str
    rail: int
    rail_name: str
    state: FeedState
    uncertainty_ns: int
    lsb_nw: int
    uses: tuple[Use, ...]


class EnergySource(Protocol):
    """The part of PowerLink that integrates."""

    def energy(
        self, intervals: Sequence[tuple[int, int]], feed: int | None = None
    ) -> list[RailUse]: ...


def energy_of_feed(source: EnergySource, feed: int, start_ns: int, end_ns: int) -> list[RailUse]:
    """The use of each rail of a feed in an interval; none if the feed has been released since it
    was listed, as when one of its name is opened."""
    try:
        return source.energy([(start_ns, end_ns)], feed)
    except NotFoundError:
        return []


class PowerLink(Closing):
    """A connection to spek_prober.ko. Feeds that it opens end with it."""

    def __init__(self) -> None:
        self._link = Link(uapi, None, not_loaded("spek_prober"))

    def close(self) -> None:
        """Close the connection; feeds that it opened end."""
        self._link.close()

    def open_feed(
        self,
        name: str,
        source: str,
        rails: Iterable[str | tuple[str, int]],
        *,
        history: int | None = None,
        max_step_ns: int | None = None,
        uncertainty_ns: int = 0,
    ) -> int:
        """Open a feed; a rail is its name, or its name and resolution in nanowatt."""
        request = FeedOpenRequest(
            name,
            source,
            [RailRequest(*((rail,) if isinstance(rail, str) else rail)) for rail in rails],
            history=DEFAULT_HISTORY if history is None else history,
            max_step_ns=DEFAULT_STEP_NS if max_step_ns is None else max_step_ns,
            uncertainty_ns=uncertainty_ns,
        )
        return int(self._link.ask(uapi.Cmd.FEED_OPEN, **request.attributes())["id"])

    def push(self, feed: int, samples: Iterable[PowerSample]) -> tuple[int, int]:
        """Push at most MAX_BATCH samples; return the numbers of stored and of late ones."""
        data = SampleRecord.pack(
            SampleRecord(
                sample.at_ns, sample.power_uw, sample.rail, uapi.POWER_GAP if sample.gap else 0
            )
            for sample in samples
        )
        answer = self._link.ask(uapi.Cmd.FEED_PUSH, id=feed, samples=data)
        return answer["accepted"], answer["late"]

    def mark(self, feed: int, **values: int) -> None:
        """Send until_ns and the state of the source's clock; see feed-mark."""
        request = FeedMarkRequest(feed, **values)
        self._link.tell(uapi.Cmd.FEED_MARK, **request.attributes())

    def close_feed(self, feed: int) -> None:
        """End a feed; its samples stay readable."""
        self._link.tell(uapi.Cmd.FEED_CLOSE, id=feed)

    def feeds(self, feed: int | None = None) -> list[Feed]:
        """All feeds, or one."""
        only = {} if feed is None else {"id": feed}
        feeds: dict[int, Feed] = {}
        for message in self._link.dump(uapi.Cmd.FEED_GET, **only):
            part = msgspec.convert(message, Feed)
            before = feeds[part.id].rails if part.id in feeds else ()
            feeds[part.id] = replace(part, rails=(*before, *part.rails))
        return list(feeds.values())

    def energy(
        self, intervals: Sequence[tuple[int, int]], feed: int | None = None
    ) -> list[RailUse]:
        """The use of each rail, of all feeds or of one, in each of the intervals."""
        uses: dict[tuple[int, int], list[Use]] = {}
        heads: dict[tuple[int, int], EnergyInfo] = {}
        only = {} if feed is None else {"feed": feed}
        for start in range(0, len(intervals), uapi.MAX_INTERVALS):
            batch = intervals[start : start + uapi.MAX_INTERVALS]
            data = PowerInterval.pack(PowerInterval(*interval) for interval in batch)
            for message in self._link.dump(uapi.Cmd.ENERGY_GET, intervals=data, **only):
                part = msgspec.convert(message, EnergyInfo)
                key = (part.feed, part.rail)
                uses.setdefault(key, []).extend(map(_use, PowerEnergy.unpack(part.results)))
                heads[key] = part
        return [
            RailUse(
                feed=head.feed,
                feed_name=head.feed_name,
                rail=head.rail,
                rail_name=head.rail_name,
                state=head.state,
                uncertainty_ns=head.uncertainty_ns,
                lsb_nw=head.lsb_nw,
                uses=tuple(uses[key]),
            )
            for key, head in heads.items()
            # a feed opened between two parts of the answer has only some of the intervals
            if len(uses[key]) == len(intervals)
        ]


def _use(record: PowerEnergy) -> Use:
    energy_uj, remainder_fj, *others = record
    return Use(energy_uj * 10**9 + remainder_fj, *others)
