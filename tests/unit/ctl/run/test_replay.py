# SPDX-License-Identifier: GPL-2.0
"""Replays: the request that a trace makes, and what is fed to the kernel."""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from lib.fakes.kernel import FakeKernel
from lib.fakes.machine import disk
from lib.waiting import LONG_S

from spekctl.errors import UsageError, error_from_errno
from spekctl.kernel import traces
from spekctl.kernel.gen.spek_records import ReplayInfo, TraceRecord
from spekctl.kernel.records import RunInfo
from spekctl.run import replay, replay_request
from spekctl.run import request as run_request
from spekctl.run.job import Request
from spekctl.workload.model import TraceSource
from spekctl.workload.options import Options
from spekctl.workload.values import Map, Share

MIB = 1 << 20
HEAD = "at_us,offset_bytes,bytes,op\n"
LINES = [
    "0,0,4096,read",
    "100,4096,8192,write",
    "100,0,0,flush",
    "250,1048576,4096,discard",
    "300,512,512,write-zeroes",
    "400,1073737728,4096,read",
]


@dataclass
class FakeFeed:
    """A kernel side with a ring that somebody empties, or nobody."""

    ring: int = 1 << 20
    refuse: Exception | None = None
    full_for: int = 0  # requests that find no room
    fed: dict[int, bytes] = field(default_factory=dict)
    ended: int | None = None
    closed: threading.Event = field(default_factory=threading.Event)

    def feed(self, run: int, worker: int, records: bytes) -> int:
        assert 0 < len(records) <= 24 * traces.BATCH
        assert len(records) % 24 == 0
        if self.refuse is not None:
            raise self.refuse
        if self.full_for:
            self.full_for -= 1
            return 0
        taken = records[: 24 * self.ring]
        self.fed[worker] = self.fed.get(worker, b"") + taken
        return len(taken) // 24

    def end(self, run: int, count: int) -> None:
        self.ended = count

    def close(self) -> None:
        self.closed.set()

    def records(self, worker: int = 0) -> list[TraceRecord]:
        columns = np.frombuffer(self.fed.get(worker, b""), replay.RECORD)
        return [TraceRecord(*fields) for fields in columns.tolist()]


@pytest.fixture
def feed(monkeypatch: pytest.MonkeyPatch) -> FakeFeed:
    fake = FakeFeed()
    monkeypatch.setattr(traces, "connect", lambda: fake)
    return fake


Build = Callable[..., Request]


@pytest.fixture
def build(kernel: FakeKernel, tmp_path: Path) -> Build:
    """build(*lines) is the request of a trace with these lines."""

    def make(
        *lines: str,
        speed: str | None = None,
        closed: int | None = None,
        think: bool = False,
        max_idle: str | None = None,
        bursts: bool = False,
        map: Map = "as-is",
        share: Share = "address",
        devices: tuple[str, ...] = ("/dev/fake0",),
        **options: Any,
    ) -> Request:
        path = tmp_path / "some trace.csv"
        path.write_text(HEAD + "".join(f"{line}\n" for line in lines))
        source = TraceSource(
            [str(path)],
            speed=speed,
            rate=options.get("rate"),
            bursts=bursts,
            closed=closed,
            think=think,
            max_idle=max_idle,
            map=map,
            share=share,
        )
        subject = run_request.on(replay_request.workload_of(source), devices)
        return run_request.build(subject, Options(**options))

    return make


def test_the_layout_of_a_record_is_that_of_the_contract() -> None:
    record = TraceRecord(1 << 40, 1 << 50, 1 << 30, 7, 2, 1)
    assert np.array([tuple(record)], replay.RECORD).tobytes() == TraceRecord.pack([record])


# --- the request ---------------------------------------------------------------------------------


def test_streams_are_those_that_the_trace_has(build: Build) -> None:
    config = build(*LINES, write=True).config
    # This device has no discards.
    assert [(stream.name, stream.operation, stream.read_ppm) for stream in config.streams] == [
        ("trace", "transfer", 666_667),
        ("flush", "flush", 0),
    ]
    assert config.streams[0].sizes[0].bytes == 8192 + 512, "grown to whole blocks at both ends"
    assert (config.write, config.backend, config.time_ns, config.count) == (True, "bio", 0, 0)
    assert [arrival.law for arrival in config.arrivals] == ["trace"]
    assert config.trace_records == replay.RING_RECORDS
    assert config.name == "trace-some-trace.csv"


def test_what_is_left_out_is_said_before_the_run(build: Build) -> None:
    remarks = build(*LINES, write=True).remarks
    assert "1 records are left out: the device has no discards" in remarks
    assert "1 records are left out: write-zeroes is not replayed" in remarks


def test_a_trace_that_only_reads_opens_read_only(build: Build) -> None:
    request = build(LINES[0], write=True)
    assert not request.config.writes
    assert not request.config.write
    assert "the trace only reads, so the devices are opened read-only" in request.remarks


def test_a_rare_direction_has_its_share(build: Build) -> None:
    many = [f"{n},0,512,read" for n in range(1, 2000)]
    assert build(*many, "3000,0,512,write").config.streams[0].read_ppm == 999_500
    assert build("0,0,512,write").config.streams[0].read_ppm == 0


def test_a_closed_loop_has_its_depth(build: Build) -> None:
    config = build(LINES[0], closed=12).config
    assert (config.arrivals[0].law, config.arrivals[0].depth) == ("closed", 12)
    assert config.max_outstanding == 12


def test_several_devices_have_an_address_range_each(build: Build) -> None:
    config = build(*LINES[:3], write=True, devices=("/dev/fake0", "/dev/fake1")).config
    assert [asu.extents[0].target for asu in config.asus] == [0, 1]
    assert [(stream.name, stream.asu) for stream in config.streams] == [
        *(("trace-1", 0), ("flush-1", 0)),
        *(("trace-2", 1), ("flush-2", 1)),
    ]


@pytest.mark.parametrize(
    ("lines", "wishes", "text"),
    [
        (["0,1073741824,4096,read"], {}, "1 of 1 requests lie beyond the end"),
        (["0,0,33554432,read"], {}, "at most 16 MiB"),
        (LINES[:1], {"closed": 65537}, "--closed is at most 65536"),
        (LINES[:1], {"map": "concatenate", "devices": ("/dev/none",)}, "there is no device"),
    ],
)
def test_what_cannot_be_replayed_is_refused(
    build: Build, lines: list[str], wishes: dict[str, Any], text: str
) -> None:
    with pytest.raises(UsageError, match=text):
        build(*lines, **wishes)


# --- feeding -------------------------------------------------------------------------------------


def fed_by(request: Request) -> replay.Feeder:
    """A feeder that has done its work."""
    assert request.replay is not None
    feeder = replay.Feeder(request.replay, 7)
    feeder._thread.join(LONG_S)
    assert feeder.wait_ready(0)
    return feeder


def test_records_are_fed_as_they_are(build: Build, feed: FakeFeed) -> None:
    request = build(*LINES, write=True, speed="2")

    feeder = fed_by(request)

    assert feed.records() == [
        TraceRecord(0, 0, 4096, 0, 0, 0),
        TraceRecord(50_000, 4096, 8192, 0, 1, 0),
        TraceRecord(50_000, 0, 0, 0, 2, 0),
        TraceRecord(200_000, (1 << 30) - 4096, 4096, 0, 0, 0),
    ]
    assert (feed.ended, feeder.fed, feeder.trouble()) == (4, 4, "")
    assert request.replay is not None
    assert request.replay.left_out.counts == {
        "the device has no discards": 1,
        "write-zeroes is not replayed": 1,
    }


@pytest.mark.parametrize(
    ("count", "complete", "lacking"),
    [
        (100, True, ""),
        (60, False, "had 100 records then, and 60 when it was fed"),
        (130, False, "had 100 records then, and 130 when it was fed"),
    ],
)
def test_a_trace_that_changes_after_it_was_checked_is_not_replayed_completely(
    build: Build, feed: FakeFeed, count: int, complete: bool, lacking: str
) -> None:
    """blktrace still writes it, or it was rotated."""
    request = build(*(f"{n},{n * 512},512,read" for n in range(100)))
    build(*(f"{n},{n * 512},512,read" for n in range(count)))
    fed_by(request)
    assert request.replay is not None
    info = RunInfo(7, replay=ReplayInfo(fed=count, issued=count, ended=1))
    done = replay.result_of(request.replay, info, "")
    assert (done.records, done.fed, done.complete) == (100, count, complete)
    assert done.lacking.endswith(lacking) and bool(done.lacking) is not complete


def test_a_run_that_ends_before_its_trace_says_nothing_of_its_length(
    build: Build, feed: FakeFeed
) -> None:
    request = build(*(f"{n},{n * 512},512,read" for n in range(100)))
    assert request.replay is not None
    info = RunInfo(7, replay=ReplayInfo(fed=3, issued=3))
    done = replay.result_of(request.replay, info, "")
    assert (done.complete, done.reread, done.lacking) == (False, None, "")


def test_a_full_ring_is_filled_again_without_losing_or_repeating(
    build: Build, feed: FakeFeed
) -> None:
    lines = [f"{n},{n * 512},512,read" for n in range(5000)]
    feed.ring, feed.full_for = 777, 3

    fed_by(build(*lines))

    assert [record.addr for record in feed.records()] == [n * 512 for n in range(5000)]
    assert feed.ended == 5000


def test_workers_have_ranges_of_addresses(
    build: Build, feed: FakeFeed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 1})
    lines = [f"{n},{n * 997 % 262144 * 4096},4096,read" for n in range(3000)]
    request = build(*lines, workers=2)

    fed_by(request)

    low, high = feed.records(0), feed.records(1)
    assert len(low) + len(high) == feed.ended == 3000
    assert max(record.addr for record in low) < 1 << 29 <= min(record.addr for record in high)
    for part in (low, high):
        assert [record.at_ns for record in part] == sorted(record.at_ns for record in part)


def test_workers_take_turns(build: Build, feed: FakeFeed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 1})
    # Requests 2 and 3 overlap.
    lines = [f"{n},{at},8192,read" for n, at in enumerate((0, 8192, 65536, 69632, 131072))]

    fed_by(build(*lines, workers=2, share="time"))

    assert [record.addr for record in feed.records(0)] == [0, 65536, 69632]
    assert [record.addr for record in feed.records(1)] == [8192, 131072]


@pytest.mark.parametrize("code", [errno.EBUSY, errno.ENOENT])
def test_a_run_that_has_ended_ends_the_feeding_quietly(
    build: Build, feed: FakeFeed, code: int
) -> None:
    feed.refuse = error_from_errno(code, "The run has ended.", "trace-feed")
    feeder = fed_by(build(LINES[0]))
    assert (feeder.trouble(), feed.ended) == ("", None)
    assert feed.closed.is_set()


def test_a_refused_record_is_told_and_the_run_ends(build: Build, feed: FakeFeed) -> None:
    feed.refuse = error_from_errno(errno.ERANGE, "A record lies outside.", "trace-feed")
    feeder = fed_by(build(LINES[0]))
    assert feeder.trouble() == "feeding the trace ended: A record lies outside."
    assert feed.closed.is_set(), "the kernel has to be told that nothing more comes"


def test_a_feeder_that_waits_for_room_can_be_closed(build: Build, feed: FakeFeed) -> None:
    feed.ring = 0
    request = build(LINES[0])
    assert request.replay is not None
    feeder = replay.Feeder(request.replay, 7)
    assert feeder.wait_ready(30), "a full ring is enough to start with"
    feeder.close()
    assert feed.closed.is_set()
    assert feed.ended is None


def test_discards_are_a_property_of_the_disk(tmp_path: Path) -> None:
    queue = tmp_path / "queue"
    queue.mkdir()
    (queue / "discard_max_bytes").write_text("4096\n")
    partition = tmp_path / "part1"
    partition.mkdir()
    assert replay_request.discards(disk(sysfs=tmp_path))
    assert replay_request.discards(disk(sysfs=partition))
    (queue / "discard_max_bytes").write_text("0\n")
    assert not replay_request.discards(disk(sysfs=tmp_path))


def test_records_that_are_left_out_do_not_count_for_a_rate(build: Build, feed: FakeFeed) -> None:
    lines = [f"{n},{n * 512},512,{'read' if n % 3 else 'discard'}" for n in range(9)]
    fed_by(build(*lines, rate=1000.0))
    assert [record.at_ns for record in feed.records()] == [n * 1_000_000 for n in range(6)]


def test_the_time_of_records_that_are_left_out_is_thought_away(
    build: Build, feed: FakeFeed
) -> None:
    lines = [f"{n},{n * 512},512,{'read' if n % 3 else 'discard'}" for n in range(1, 7)]
    fed_by(build(*lines, closed=2, think=True))
    assert [record.at_ns for record in feed.records()] == [0, 1000, 2000, 1000]


@pytest.mark.parametrize("workers", [1, 2])
def test_idle_times_are_cut_once_for_all_workers(
    build: Build, feed: FakeFeed, workers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 1})
    # In us; the discard after the fourth read is left out and ends no idle time.
    at = (3, 1000, 1001, 5000)
    lines = [f"{us},{n << 20},512,read" for n, us in enumerate(at)]
    lines += ["7000,0,512,discard", f"9000,{4 << 20},512,read"]
    fed_by(build(*lines, max_idle="100us", workers=workers))
    assert sorted(record.at_ns for record in feed.records()) == [
        0,
        100_000,
        101_000,
        201_000,
        301_000,
    ]


@pytest.mark.parametrize(
    ("lines", "text"),
    [
        (["1,2,3", "4"], "to replay: 2 are unreadable, the first .*csv: line 2: expected 4 fields"),
        (["0,0,0,read", "1,512,0,write"], "no records to replay: all are of no bytes"),
    ],
)
def test_a_trace_with_nothing_to_replay_says_why(build: Build, lines: list[str], text: str) -> None:
    with pytest.raises(UsageError, match=text):
        build(*lines, write=True)


@pytest.mark.parametrize("map", ["as-is", "concatenate"])
def test_devices_that_overlap_on_a_target_are_mentioned(
    build: Build, map: Map, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(globals(), "HEAD", "device," + HEAD)
    lines = [f"{name},{n},0,4096,read" for n, name in enumerate("abc")]
    remark = "the trace has 3 devices, which overlap on 2 of the replay"
    for devices, told in ((2, map == "as-is"), (3, False)):
        names = tuple(f"/dev/fake{n}" for n in range(devices))
        remarks = build(*lines, map=map, devices=names).remarks
        assert any(remark in text for text in remarks) == told


@pytest.mark.parametrize("map", ["as-is", "wrap"])
def test_records_stay_within_a_device_of_finer_blocks(map: Map, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("device," + HEAD + f"a,0,{1 << 30},512,read\nb,0,0,512,read\n")
    devices = [disk(bytes=(1 << 30) + 512), disk("/dev/fake1", logical_block=4096)]
    source = TraceSource([str(path)], map=map)
    workload = replay_request.workload_of(source)
    if map == "as-is":
        with pytest.raises(UsageError, match="1 of 2 requests lie beyond the end"):
            replay_request.build(workload, devices, Options())
    else:
        request = replay_request.build(workload, devices, Options())
        assert request.replay is not None
        (block,) = request.replay.schedule.blocks(9)
        for target, stream in enumerate(request.config.streams):
            ends = (block.offset_bytes + block.bytes)[block.target == target]
            assert ends.max() <= stream.range_bytes


def test_a_rate_may_keep_the_bursts(build: Build, feed: FakeFeed) -> None:
    # Of 6, 5 are replayed: 4 gaps in 4 ms, which are to be 4 s.
    lines = [f"{us},{us},{size},read" for us, size in ((0, 512), (10, 512), (20, 0), (30, 512))]
    lines += ["3000,0,512,read", "4000,0,512,read", "4000,0,512,write-zeroes"]
    request = build(*lines, rate=1.0, bursts=True)
    fed_by(request)
    assert [record.at_ns for record in feed.records()] == [
        n * 1_000_000 for n in (0, 10, 30, 3000, 4000)
    ]
    assert request.replay is not None
    assert request.replay.schedule.timing.speed == Fraction(1, 1000)
