# SPDX-License-Identifier: GPL-2.0
"""What the kernel counts itself: the disks' statistics and the block layer's tracepoints."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lib.guest.drive import SECTOR, Requests, sysfs

from spekctl.kernel.records import Direction
from spekctl.vm.guest_side import TRACEFS

EVENTS = ("block_rq_issue", "block_rq_complete")
HIST_LINE = re.compile(
    r"{ common_cpu: +\d+, rwbs: ([A-Z]+) *, nr_sector: +(\d+) +} hitcount: +(\d+)"
)
TRACE_LINE = re.compile(
    r" (?P<seconds>\d+)\.(?P<us>\d{6}): (?P<event>block_rq_issue|block_rq_complete): "
    r"(?P<major>\d+),(?P<minor>\d+) (?P<rwbs>[A-Z]+) (?:\d+ )?\(.*\) "
    r"(?P<sector>\d+) \+ (?P<sectors>\d+)"
)

# Class, hint and level, where the kernel prints them.
PRIORITY = re.compile(r" \+ \d+ (\w+),\w+,(\d+) \[")


@dataclass(frozen=True)
class DiskStat:
    """One direction of /sys/block/*/stat."""

    ios: int
    merges: int
    sectors: int

    def since(self, before: DiskStat) -> DiskStat:
        """What was added."""
        return DiskStat(
            self.ios - before.ios, self.merges - before.merges, self.sectors - before.sectors
        )


def disk_stat(node: str) -> dict[Direction, DiskStat]:
    """Statistics of a disk or partition."""
    fields = [int(word) for word in (sysfs(node) / "stat").read_text().split()]
    return {
        Direction.READ: DiskStat(*fields[0:3]),
        Direction.WRITE: DiskStat(*fields[4:7]),
    }


@dataclass(frozen=True)
class DiskTimes:
    """Times in /sys/block/*/stat, and requests in flight."""

    read_ms: int
    write_ms: int
    in_flight: int
    busy_ms: int


def disk_times(node: str) -> DiskTimes:
    """Times of a disk or partition."""
    fields = [int(word) for word in (sysfs(node) / "stat").read_text().split()]
    return DiskTimes(fields[3], fields[7], fields[8], fields[9])


def direction_of(rwbs: str) -> Direction:
    """Direction of a request by the flags that the tracepoints print."""
    return Direction.WRITE if "W" in rwbs else Direction.READ


def kernel_dev(node: str) -> int:
    """The kernel's dev_t of a device node."""
    number = os.stat(node).st_rdev
    return os.major(number) << 20 | os.minor(number)


def trace_instance(name: str) -> Path:
    """A new tracing instance of its own."""
    if not (TRACEFS / "instances").is_dir():
        subprocess.run(["mount", "-t", "tracefs", "nodev", TRACEFS], check=True)
    path = TRACEFS / "instances" / name
    path.mkdir()
    return path


def assert_nothing_lost(instance: Path) -> None:
    """The buffers of a tracing instance hold everything that happened."""
    for stats in instance.glob("per_cpu/cpu*/stats"):
        text = stats.read_text()
        assert "overrun: 0\n" in text and "dropped events: 0\n" in text, text


class RequestCounts:
    """Requests issued and completed, by disk, direction and size, counted by the kernel.

    Histogram triggers: nothing is copied to userspace but the sums. Two CPUs that insert the same
    key at the same time can cost one of them its count (the kernel then says that it dropped it),
    so the CPU is part of the key; as a key has three fields at most, each disk has triggers of its
    own.
    """

    TRIGGER = "hist:keys=common_cpu,rwbs,nr_sector:size=512"

    def __init__(self) -> None:
        self.path = trace_instance("spek-counts")
        self.watched: set[int] = set()

    def close(self) -> None:
        """Remove the triggers, by opening the file for truncation."""
        for event in EVENTS:
            open(self.path / "events/block" / event / "trigger", "w").close()
        self.path.rmdir()

    def read(self, node: str) -> dict[str, Requests]:
        """For each event the requests of this disk since it was read the first time."""
        dev = kernel_dev(node)
        if dev not in self.watched:
            for event in EVENTS:
                with open(self.path / "events/block" / event / "trigger", "a") as triggers:
                    triggers.write(f"{self.TRIGGER} if dev == {dev}\n")
            self.watched.add(dev)
        return {event: self._counts(event, dev) for event in EVENTS}

    def _counts(self, event: str, dev: int) -> Requests:
        text = (self.path / "events/block" / event / "hist").read_text()
        (mine,) = [part for part in text.split("# event hist") if f" if dev == {dev} [" in part]
        assert mine.rpartition("Dropped:")[2].split()[0] == "0", mine
        rows = HIST_LINE.findall(mine)
        assert len(rows) == mine.count("\n{ "), f"a line is not understood:\n{mine}"
        counts: Requests = Counter()
        for rwbs, sectors, hits in rows:
            counts[direction_of(rwbs), int(sectors)] += int(hits)
        return counts


@dataclass(frozen=True)
class Traced:
    """A request as a tracepoint saw it; @us on CLOCK_MONOTONIC."""

    us: int
    sector: int
    sectors: int
    direction: Direction


class RequestLog:
    """Every request that is issued to a disk, in order."""

    def __init__(self, node: str, buffer_kb: int = 4096) -> None:
        self.path = trace_instance("spek-log")
        (self.path / "trace_clock").write_text("mono")
        (self.path / "buffer_size_kb").write_text(str(buffer_kb))
        event = self.path / "events/block/block_rq_issue"
        (event / "filter").write_text(f"dev == {kernel_dev(node)}")
        (event / "enable").write_text("1")

    def close(self) -> None:
        """Stop and forget."""
        (self.path / "events/block/block_rq_issue/enable").write_text("0")
        self.path.rmdir()

    def forget(self) -> None:
        """Forget what was issued so far."""
        (self.path / "trace").write_text("")

    def read(self) -> list[Traced]:
        """What was issued so far, oldest first; nothing may have been overwritten."""
        return [traced for _letters, traced in self.read_with_flags()]

    def read_with_flags(self) -> list[tuple[str, Traced]]:
        """As read(), each with operation and flags as the kernel prints them."""
        assert_nothing_lost(self.path)
        requests = []
        for line in (self.path / "trace").read_text().splitlines():
            match = TRACE_LINE.search(line)
            if match is None:
                assert line.startswith("#") or not line, f"not understood: {line}"
                continue
            traced = Traced(
                int(match["seconds"]) * 1_000_000 + int(match["us"]),
                int(match["sector"]),
                int(match["sectors"]),
                direction_of(match["rwbs"]),
            )
            requests.append((match["rwbs"], traced))
        return requests

    def flags(self) -> list[tuple[str, int]]:
        """Operation and flags of each request as the kernel prints them, and its sectors."""
        assert_nothing_lost(self.path)
        lines = TRACE_LINE.finditer((self.path / "trace").read_text())
        return [(match["rwbs"], int(match["sectors"])) for match in lines]

    def shows_priorities(self) -> bool:
        """True if the tracepoint has the I/O priority."""
        return "ioprio" in (self.path / "events/block/block_rq_issue/format").read_text()

    def priorities(self) -> Counter[tuple[str, int]]:
        """Requests of each class and level."""
        assert_nothing_lost(self.path)
        priorities = PRIORITY.findall((self.path / "trace").read_text())
        return Counter((name, int(level)) for name, level in priorities)


@contextlib.contextmanager
def request_log(node: str) -> Iterator[RequestLog]:
    """A RequestLog for as long as the block lasts."""
    log = RequestLog(node)
    try:
        yield log
    finally:
        log.close()


class TimeInDevice:
    """Time from the issue of each request of a disk to its completion, by the block layer's
    tracepoints: what the machine takes from the guest is in these as it is in other stamps."""

    def __init__(self, node: str) -> None:
        self._filter = f"dev == {kernel_dev(node)}"
        self.requests = 0
        self.total_ns = 0

    def __enter__(self) -> TimeInDevice:
        self._instance = trace_instance("time-in-device")
        (self._instance / "trace_clock").write_text("mono")
        (self._instance / "buffer_size_kb").write_text("4096")
        for name in EVENTS:
            event = self._instance / "events/block" / name
            (event / "filter").write_text(self._filter)
            (event / "enable").write_text("1")
        return self

    def __exit__(self, *_: object) -> None:
        for name in EVENTS:
            (self._instance / "events/block" / name / "enable").write_text("0")
        assert_nothing_lost(self._instance)
        stamps: dict[str, list[int]] = {name: [] for name in EVENTS}
        for match in TRACE_LINE.finditer((self._instance / "trace").read_text()):
            at_us = int(match["seconds"]) * 1_000_000 + int(match["us"])
            stamps[match["event"]].append(at_us)
        issues, completions = (stamps[name] for name in EVENTS)
        assert len(issues) == len(completions)
        self.requests = len(issues)
        self.total_ns = (sum(completions) - sum(issues)) * 1000
        self._instance.rmdir()


EVENT_LINE = re.compile(r"^.*?-\d+ +\[\d+\] \S+ +\d+\.\d+: (?P<event>\w+): (?P<fields>.*)$")


def fields_of(text: str, event: str) -> list[dict[str, str]]:
    """Fields of each @event in what Events.text() gave."""
    fields = []
    for line in text.splitlines():
        if line.startswith("#") or not line:
            continue
        match = EVENT_LINE.match(line)
        assert match, f"not understood: {line}"
        if match["event"] == event:
            fields.append(dict(word.split("=", 1) for word in match["fields"].split()))
    return fields


class Events:
    """The events of one of our modules as text: what they print, field by field."""

    def __init__(self, group: str, buffer_kb: int = 4096) -> None:
        self.path = trace_instance(f"{group}-events")
        self.group = self.path / "events" / group
        (self.path / "buffer_size_kb").write_text(str(buffer_kb))
        (self.group / "enable").write_text("1")

    def close(self) -> None:
        """Stop and forget."""
        (self.group / "enable").write_text("0")
        self.path.rmdir()

    def read(self, event: str) -> list[dict[str, str]]:
        """Fields of each @event so far, those of a CPU in order."""
        return fields_of(self.text(), event)

    def text(self) -> str:
        """All events so far; none may have been overwritten."""
        assert_nothing_lost(self.path)
        return (self.path / "trace").read_text()

    def format(self, event: str) -> str:
        """The print format for tools that read the buffers themselves."""
        return (self.group / event / "format").read_text()


@contextlib.contextmanager
def events(group: str) -> Iterator[Events]:
    """The Events of a group for as long as the block lasts."""
    opened = Events(group)
    try:
        yield opened
    finally:
        opened.close()


@contextlib.contextmanager
def sleeps_of(threads: str) -> Iterator[list[int]]:
    """CLOCK_MONOTONIC in ns up to which threads of these names, a glob, slept by a timer, each time
    that they did; filled at the end."""
    ends_ns: list[int] = []
    instance = trace_instance("sleeps")
    event = instance / "events/timer/hrtimer_start"
    (event / "filter").write_text(f'comm ~ "{threads}"')
    (event / "enable").write_text("1")
    try:
        yield ends_ns
        assert_nothing_lost(instance)
        # Interrupts arm timers of their own meanwhile.
        ends_ns += [
            int(armed["expires"])
            for armed in fields_of((instance / "trace").read_text(), "hrtimer_start")
            if armed["function"] == "hrtimer_wakeup"
        ]
    finally:
        (event / "enable").write_text("0")
        instance.rmdir()


def sums(requests: Requests) -> dict[Direction, DiskStat]:
    """What the disk's statistics must say for these requests."""
    by_direction = {}
    for direction in Direction:
        mine = {size: n for (way, size), n in requests.items() if way is direction}
        by_direction[direction] = DiskStat(
            sum(mine.values()), 0, sum(size * n for size, n in mine.items())
        )
    return by_direction


def sectors_limit(node: str) -> int:
    """The largest request that the disk's queue allows now, in sectors.

    sysfs tells whole KiB, cut: a limit of 255 sectors reads as 127.
    """
    return int((sysfs(node) / "queue/max_sectors_kb").read_text()) * 1024 // SECTOR + 1
