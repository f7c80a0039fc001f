# SPDX-License-Identifier: GPL-2.0-or-later
"""A table of the hosts of a run and their sum, as events for a program that shows them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import msgspec

from spekctl.fleet.clock import Bound
from spekctl.fleet.clocks import Skew
from spekctl.fleet.plan import Host
from spekctl.fleet.protocol import AnyEvent, HostNews, Hosts
from spekctl.host.protocol import Note, Rows
from spekctl.run.beside import Beside, Stage
from spekctl.run.progress import Clock, DirectionFigures, Figures

# Least time between two tables, and between two sums of shorter intervals, s.
GAP_S = 0.5
# The time between two tables grows by a second for this many hosts.
HOSTS_PER_S = 400


@dataclass(frozen=True, slots=True)
class Seen:
    """What the check found out about a host."""

    devices: Sequence[str]
    skew: Skew
    bound: Bound


class Board:
    """A View of @hosts. @emit: takes the events, in the thread of the run and in the caller of
    tell(). @seen: returns what the check found out about a host."""

    def __init__(
        self,
        hosts: Sequence[Host],
        emit: Callable[[AnyEvent], None],
        seen: Callable[[str], Seen],
        now_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._emit = emit
        self._seen = seen
        self._now_s = now_s
        self._lock = threading.Lock()
        # Protected by @_lock.
        self._news = {host.name: HostNews(host.name, host.role, "awaited") for host in hosts}
        self._beside = Beside([host.name for host in hosts if host.role == "client"])
        self._newest_s = 0.0
        self._summed_s = 0.0
        self._told_s: float | None = None
        self._holds = False
        self._gap_s = GAP_S + len(hosts) / HOSTS_PER_S

    def note(self, text: str) -> None:
        """Pass a sentence on."""
        self._emit(Note(text))

    def reach(self, host: str, stage: Stage, text: str = "") -> None:
        """Note that a host has reached @stage."""
        with self._lock:
            changes: dict[str, object] = {"stage": str(stage)}
            if stage is Stage.CHECKED:
                seen = self._seen(host)
                changes |= {
                    "text": " ".join(seen.devices),
                    "off_ns": seen.skew.ns,
                    "off_bound_ns": seen.skew.bound_ns,
                    "bound_ns": seen.bound.bound_ns,
                    "clock": seen.bound.source,
                }
            elif text:
                changes["text"] = text
            self._change(host, changes)
            if stage in (Stage.LOST, Stage.ENDED):
                self._beside.leave(host)
        self.tell(stage in (Stage.LOST, Stage.ENDED))

    def show(self, host: str, now: Clock, news: Sequence[Figures]) -> None:
        """Take intervals that a host has closed; emit the sum once every host has reported that
        time or is late."""
        if host not in self._beside or not news:
            return
        with self._lock:
            newest = news[-1]
            self._beside.take(host, newest)
            self._newest_s = max(self._newest_s, newest.at_s)
            self._change(host, {"stage": "running", **_columns(newest)})
            at_s, total = newest.at_s, None
            if at_s >= self._summed_s + GAP_S - 1e-3 and self._beside.is_whole(at_s):
                total = sum_of(self._beside.together(at_s), at_s)
                self._summed_s = at_s
        if total is not None:
            self._emit(Rows(now, [total]))
        self.tell()

    def hold(self, holds: bool) -> None:
        """Note whether all hosts are waiting for `go`."""
        with self._lock:
            is_news, self._holds = holds != self._holds, holds
        if is_news:
            self.tell(at_once=True)

    def finish(self, skews_ns: Mapping[str, int | None]) -> None:
        """Take the results. @skews_ns: start of each host minus the planned start."""
        with self._lock:
            for name, skew_ns in skews_ns.items():
                self._change(name, {"skew_ns": skew_ns})
        self.tell(at_once=True)

    def tell(self, at_once: bool = False) -> None:
        """Emit the table, unless the last one is too recent."""
        with self._lock:
            now_s = self._now_s()
            if not at_once and self._told_s is not None and now_s - self._told_s < self._gap_s:
                return
            self._told_s = now_s
            late = set(self._beside.late(self._newest_s))
            table = [
                msgspec.structs.replace(news, stage="late")
                if name in late and news.stage in ("armed", "running")
                else news
                for name, news in self._news.items()
            ]
            event = Hosts(table, self._holds)
        self._emit(event)

    def _change(self, host: str, changes: Mapping[str, object]) -> None:
        if host in self._news:
            self._news[host] = msgspec.structs.replace(self._news[host], **changes)


def _columns(figures: Figures) -> dict[str, object]:
    sides = (figures.read, figures.write)
    return {
        "at_s": figures.at_s,
        "iops": figures.iops,
        "mib_per_s": figures.mib_per_s,
        "p50_ns": max(side.p50_ns for side in sides),
        "p99_ns": max(side.p99_ns for side in sides),
        "max_ns": max(side.max_ns for side in sides),
        "errors": figures.errors,
    }


def sum_of(now: Mapping[str, Figures], at_s: float) -> Figures | None:
    """The sum of all hosts. Percentiles do not add up: those of the worst host are an upper bound
    of the fleet's. None if no host counts."""
    if not now:
        return None
    hosts = list(now.values())
    rates = [figures.streams for figures in hosts]
    watts = [figures.watts for figures in hosts if figures.watts is not None]
    cpus = [figures.worker_cpu for figures in hosts if figures.worker_cpu is not None]
    return Figures(
        at_s=at_s,
        phase=hosts[0].phase,
        read=_sum_of_sides([figures.read for figures in hosts]),
        write=_sum_of_sides([figures.write for figures in hosts]),
        outstanding=sum(figures.outstanding for figures in hosts),
        backlog=sum(figures.backlog for figures in hosts),
        errors=sum(figures.errors for figures in hosts),
        worker_cpu=sum(cpus) / len(cpus) if cpus else None,
        worker_switches_per_io=None,
        machine=None,
        # Only if all hosts measure power is their sum the fleet's.
        watts=sum(watts) if len(watts) == len(hosts) else None,
        streams=tuple(map(sum, zip(*rates, strict=True)))
        if len({len(each) for each in rates}) == 1
        else (),
        rated=all(figures.rated for figures in hosts),
    )


def _sum_of_sides(sides: Sequence[DirectionFigures]) -> DirectionFigures:
    return DirectionFigures(
        ios=sum(side.ios for side in sides),
        iops=sum(side.iops for side in sides),
        mib_per_s=sum(side.mib_per_s for side in sides),
        p50_ns=max(side.p50_ns for side in sides),
        p99_ns=max(side.p99_ns for side in sides),
        max_ns=max(side.max_ns for side in sides),
    )
