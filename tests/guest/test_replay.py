# SPDX-License-Identifier: GPL-2.0
"""Replay: records that userspace feeds are issued as they are, when they are due."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from lib.guest.disks import make_null, null_disk, remove_null
from lib.guest.drive import queue_of
from lib.guest.netlink import (
    MIB,
    SECOND,
    asu,
    config,
    delete,
    is_free,
    is_gone,
    make,
    refused,
    remove,
    state,
    stream,
    target,
)
from lib.guest.netlink_raw import Refusal, Socket
from lib.guest.trace import events, request_log
from lib.waiting import comes_true

from spekctl import cli
from spekctl.documents.result import Result
from spekctl.errors import ExitCode
from spekctl.kernel.gen import spek
from spekctl.kernel.gen.spek import (
    TRACE_BATCH,
    TRACE_FUA,
    TRACE_PREFLUSH,
    Backend,
    Cmd,
    Direction,
    Law,
    Operation,
    Pattern,
    Reason,
    RunState,
    TraceOp,
)
from spekctl.log import file as log_file

pytestmark = pytest.mark.debug_kernel

BLOCK = 4096
DISK_MIB = 64
RING = 1024
MS = 1_000_000
# struct spek_trace_record
RECORD = np.dtype(
    [
        ("at_ns", "<u8"),
        ("addr", "<u8"),
        ("bytes", "<u4"),
        ("asu", "<u2"),
        ("op", "u1"),
        ("flags", "u1"),
    ]
)
Records = np.ndarray[Any, np.dtype[np.void]]


@pytest.fixture(scope="module")
def disk(spek_module: Path) -> Iterator[str]:
    """A disk with a write cache and discards."""
    with null_disk(DISK_MIB, memory_backed=1, cache_size=1, discard=1) as node:
        # An elevator may sort what bio sends.
        (queue_of(node) / "scheduler").write_text("none")
        yield node


def streams(asus: int = 1, **changes: Any) -> list[dict[str, Any]]:
    """Streams for everything that a trace may have on each address range."""
    common = {"pattern": int(Pattern.TRACE), "align_bytes": 512, **changes}
    size = [{"bytes": 64 * 1024, "weight": 1}]
    found = []
    for index in range(asus):
        found.append(stream(asu=index, read_ppm=500_000, size=size, **common))
        found += [
            stream(asu=index, read_ppm=0, size=size, operation=int(operation), **common)
            for operation in (Operation.FLUSH, Operation.DISCARD)
        ]
    return found


def replay(nl: Socket, node: str, **changes: Any) -> int:
    """A READY run that replays a trace."""
    values: dict[str, Any] = {
        "write": 1,
        "backend": int(Backend.BIO),
        # The block layer of 6.1 hands bios under a plug to the driver last one first.
        "batch": 1,
        "time_ns": None,
        "trace_records": RING,
        "arrival": [{"law": int(Law.TRACE)}],
        "stream": streams(),
        **changes,
    }
    return make(nl, config(node, **values))


def records(count: int, **columns: Any) -> Records:
    """Reads of one block each, a block apart and all due at once, but for @columns."""
    found = np.zeros(count, RECORD)
    found["addr"] = np.arange(count, dtype=np.uint64) * BLOCK % (DISK_MIB * MIB)
    found["bytes"] = BLOCK
    for name, values in columns.items():
        found[name] = values
    return found


def mixture(count: int, gap_ns: int, seed: int = 7) -> Records:
    """Reads and writes of many sizes all over the disk."""
    draw = np.random.default_rng(seed)
    sizes = 512 * draw.integers(1, 129, count)
    return records(
        count,
        at_ns=np.cumsum(draw.integers(0, 2 * gap_ns, count)),
        addr=512 * (draw.integers(0, DISK_MIB * MIB // 512, count) * 0.99).astype(np.uint64),
        bytes=sizes,
        op=draw.integers(0, 2, count),
    )


def feed(nl: Socket, run: int, which: Records, worker: int = 0) -> int:
    """One message. Return: records that were accepted."""
    (answer,) = nl.ask(Cmd.TRACE_FEED, run=run, worker=worker, records=which.tobytes()).values
    return int(answer["accepted"])


def feed_all(nl: Socket, run: int, which: Records, worker: int = 0) -> None:
    """As many messages as it takes, while the run makes room."""
    done, deadline = 0, time.monotonic() + 60
    while done < len(which):
        accepted = feed(nl, run, which[done : done + TRACE_BATCH], worker)
        done += accepted
        if not accepted:
            assert time.monotonic() < deadline, "the run makes no room"
            time.sleep(0.005)


def end(nl: Socket, run: int, count: int) -> None:
    nl.ask(Cmd.TRACE_END, run=run, count=count)


def info(nl: Socket, run: int) -> dict[str, Any]:
    values: dict[str, Any] = nl.ask(Cmd.RUN_GET, id=run).values[0]
    return values


def start(nl: Socket, run: int) -> None:
    nl.ask(Cmd.RUN_START, id=run)


def finished(nl: Socket, run: int) -> dict[str, Any]:
    assert comes_true(lambda: state(nl, run) == RunState.DONE)
    return info(nl, run)


def completed(nl: Socket, run: int) -> dict[str, Any]:
    """The run has ended because its trace has; nothing is missing and nothing has failed."""
    found = finished(nl, run)
    counts = found["replay"]
    assert found["reason"] == Reason.COMPLETED
    assert found["errors"] == 0
    assert counts["issued"] == counts["fed"]
    assert counts["ended"] == 1
    return found


def counted(nl: Socket, run: int) -> dict[tuple[int, int], tuple[int, int]]:
    """I/Os and bytes by stream and direction."""
    found: dict[tuple[int, int], tuple[int, int]] = {}
    for one in nl.dump(Cmd.STATS_GET, run=run).values:
        if "ios" in one:
            key = (one["stream"], one["direction"])
            ios, amount = found.get(key, (0, 0))
            found[key] = ios + one["ios"], amount + one["bytes"]
    return found


def play(nl: Socket, run: int, trace: Records) -> dict[str, Any]:
    """Feed the whole trace; the run starts as soon as it may."""
    head = min(len(trace), RING)
    feed_all(nl, run, trace[:head])
    if head == len(trace):
        end(nl, run, head)
    start(nl, run)
    if head < len(trace):
        feed_all(nl, run, trace[head:])
        end(nl, run, len(trace))
    return completed(nl, run)


# ---- agreement ----


def test_requests_are_those_of_the_trace_and_none_is_early(nl: Socket, disk: str) -> None:
    trace = mixture(3000, gap_ns=100_000)
    run = replay(nl, disk)

    with request_log(disk) as log:
        found = play(nl, run, trace)
        traced = log.read()

    assert [(one.sector * 512, one.sectors * 512, one.direction.code) for one in traced] == list(
        zip(trace["addr"].tolist(), trace["bytes"].tolist(), trace["op"].tolist(), strict=True)
    )
    due_us = (found["started_ns"] + trace["at_ns"]) // 1000
    assert (np.array([one.us for one in traced]) >= due_us).all()
    assert counted(nl, run) == {
        (0, way): (
            int((trace["op"] == way).sum()),
            int(trace["bytes"][trace["op"] == way].sum(dtype="u8")),
        )
        for way in (Direction.READ, Direction.WRITE)
    }


def test_flushes_discards_and_fua_reach_the_device(nl: Socket, disk: str) -> None:
    trace = records(
        6,
        at_ns=np.arange(6) * 20 * MS,
        addr=[0, BLOCK, 0, MIB, 2 * BLOCK, 0],
        bytes=[BLOCK, BLOCK, 0, 8 * MIB, BLOCK, BLOCK],
        op=[TraceOp.WRITE, TraceOp.WRITE, TraceOp.FLUSH, TraceOp.DISCARD, TraceOp.WRITE, 0],
        flags=[0, TRACE_FUA, 0, 0, TRACE_PREFLUSH, 0],
    )
    run = replay(nl, disk)

    with request_log(disk) as log:
        play(nl, run, trace)
        traced = log.flags()

    kinds = [rwbs.replace("S", "") for rwbs, _sectors in traced]
    # The block layer makes a request of its own of a flush that comes with a write.
    assert kinds == ["W", "WF", "F", *["D"] * kinds.count("D"), "F", "W", "R"] or kinds == [
        *("W", "WF", "FF", *["D"] * kinds.count("D"), "FF", "W", "R"),
    ]
    assert sum(sectors for rwbs, sectors in traced if "D" in rwbs) == 8 * MIB // 512
    assert counted(nl, run) == {
        (0, Direction.READ): (1, BLOCK),
        (0, Direction.WRITE): (3, 3 * BLOCK),
        (1, Direction.WRITE): (1, 0),
        (2, Direction.WRITE): (1, 8 * MIB),
    }


def test_discards_of_gigabytes_are_discards(nl: Socket, spek_module: Path) -> None:
    """2 GiB and more was taken for a negative length, and so for a write of one buffer."""
    sizes = [2 << 30, (4 << 30) - BLOCK]
    trace = records(2, at_ns=[0, 1], addr=[2 << 30, BLOCK], bytes=sizes, op=TraceOp.DISCARD)
    with null_disk(4 << 10, memory_backed=1, discard=1) as node:
        whole = {"asu": [asu(bytes=4 << 30)], "stream": streams(range_bytes=4 << 30)}
        run = replay(nl, node, **whole)
        with request_log(node) as log:
            play(nl, run, trace)
            traced = log.flags()
        assert counted(nl, run)[2, Direction.WRITE] == (2, sum(sizes))
        remove(nl, run)
    assert all("D" in rwbs for rwbs, _sectors in traced)
    assert sum(sectors for _rwbs, sectors in traced) * 512 == sum(sizes)


def test_workers_replay_ranges_of_their_own(nl: Socket, disk: str) -> None:
    trace = mixture(2000, gap_ns=50_000, seed=8)
    upper = trace["addr"] >= DISK_MIB * MIB // 2
    run = replay(nl, disk, worker=[{"cpu": 0}, {"cpu": 1}])
    for worker, part in enumerate((trace[~upper], trace[upper])):
        feed_all(nl, run, part[:RING], worker)
    end(nl, run, sum(min(RING, int(part.sum())) for part in (upper, ~upper)))

    with request_log(disk) as log:
        start(nl, run)
        completed(nl, run)
        traced = [(one.sector * 512, one.sectors * 512) for one in log.read()]

    for part in (trace[~upper], trace[upper]):
        wanted = list(zip(part["addr"].tolist(), part["bytes"].tolist(), strict=True))[:RING]
        mine = set(wanted)
        # What lies in one range is issued in order, whatever the other worker does.
        assert [one for one in traced if one in mine] == wanted


def test_a_closed_loop_takes_the_next_record_for_each_completion(nl: Socket, disk: str) -> None:
    trace = records(3000, at_ns=np.arange(3000)[::-1])
    run = replay(nl, disk, arrival=[{"law": int(Law.CLOSED), "depth": 1}])

    with request_log(disk) as log:
        play(nl, run, trace)
        traced = log.read()

    assert [one.sector * 512 for one in traced] == trace["addr"].tolist()


def test_a_record_of_a_closed_loop_waits_for_its_think_time(nl: Socket, disk: str) -> None:
    thinks = np.array([0, 30, 0, 60, 10]) * MS
    run = replay(nl, disk, arrival=[{"law": int(Law.CLOSED), "depth": 1}])

    with request_log(disk) as log:
        play(nl, run, records(5, at_ns=thinks))
        gaps_us = np.diff([one.us for one in log.read()])

    # From issue to issue the response is a part of it.
    assert (gaps_us >= thinks[1:] // 1000).all()
    assert sum(gaps_us) < 1_000_000


# ---- the schedule, and what feeds it ----


def test_an_underrun_is_counted_and_dated_and_the_schedule_kept(nl: Socket, disk: str) -> None:
    first = records(RING, at_ns=np.arange(RING) * 10_000)
    late = records(100, at_ns=np.arange(100) * 10_000 + 20 * MS)
    run = replay(nl, disk)
    feed_all(nl, run, first)
    start(nl, run)
    began_ns = info(nl, run)["started_ns"]
    assert comes_true(lambda: info(nl, run)["replay"]["issued"] == RING)
    time.sleep(0.2)
    dry = info(nl, run)["replay"]

    feed_all(nl, run, late)
    end(nl, run, RING + 100)
    found = completed(nl, run)

    counts = found["replay"]
    assert dry["dry_ns"] >= 100 * MS
    assert (dry["underruns"], counts["underruns"], counts["dry_ns"]) == (0, 1, 0)
    # It began when the first of the late records was due, or a little later: when all of the others
    # had been issued.
    assert counts["underrun_first_ns"] >= began_ns + 20 * MS
    assert counts["underrun_ns"] >= 100 * MS
    assert counts["underrun_last_ns"] - counts["underrun_first_ns"] == counts["underrun_ns"]
    slips = [
        one
        for one in nl.dump(Cmd.STATS_GET, run=run).values
        if one.get("metric") == spek.Metric.SLIP
    ]
    assert max(one["max_ns"] for one in slips) >= counts["underrun_ns"]


def test_an_empty_ring_with_nothing_due_is_no_underrun(nl: Socket, disk: str) -> None:
    run = replay(nl, disk)
    feed_all(nl, run, records(RING // 2 + 1))
    start(nl, run)
    assert comes_true(lambda: info(nl, run)["replay"]["issued"] == RING // 2 + 1)
    elapsed = info(nl, run)["now_ns"] - info(nl, run)["started_ns"]
    feed_all(nl, run, records(1, at_ns=elapsed + SECOND))
    end(nl, run, RING // 2 + 2)

    assert completed(nl, run)["replay"]["underruns"] == 0


def test_a_full_ring_accepts_no_more_and_loses_nothing(nl: Socket, disk: str) -> None:
    run = replay(nl, disk)

    assert feed(nl, run, records(1500)) == RING
    assert feed(nl, run, records(1)) == 0

    end(nl, run, RING)
    start(nl, run)
    assert completed(nl, run)["replay"]["fed"] == RING


def test_time_may_end_a_replay(nl: Socket, disk: str) -> None:
    run = replay(nl, disk, time_ns=50 * MS)
    feed_all(nl, run, records(RING, at_ns=np.arange(RING) * MS))
    start(nl, run)

    found = finished(nl, run)

    assert found["reason"] == Reason.COMPLETED
    assert 0 < found["replay"]["issued"] <= 50
    assert found["replay"]["ended"] == 0


# ---- beside other streams ----

PACED = {"law": int(Law.CONSTANT), "rate_milli": 2_000_000}
PACED_NS = SECOND // 2000
OPS = np.dtype(
    [
        *(("at_ns", "<u8"), ("addr", "<u8"), ("bytes", "<u4"), ("replica", "<u4")),
        *(("stream", "<u2"), ("asu", "<u2"), ("arrival", "u1"), ("kind", "u1"), ("write", "<u2")),
    ]
)


def company(*arrivals: dict[str, int], law: dict[str, int] | None = None) -> dict[str, Any]:
    """Streams of reads, one for each arrival process, and after them those of the trace."""
    others = [stream(arrival=index) for index in range(len(arrivals))]
    return {
        "arrival": [*arrivals, law or {"law": int(Law.TRACE)}],
        "stream": [*others, *streams(arrival=len(arrivals))],
    }


def alone(nl: Socket, node: str, count: int, *arrivals: dict[str, int]) -> Records:
    """What streams with these arrival processes do without a trace."""
    others = company(*arrivals)["stream"][: len(arrivals)]
    run = make(nl, config(node, arrival=list(arrivals), stream=others))
    answer = nl.dump(Cmd.OP_GET, run=run, worker=0, count=count).values
    delete(nl, run)
    return np.frombuffer(b"".join(one["ops"] for one in answer), OPS)


def issued(log: list[dict[str, str]], number: int) -> list[tuple[int, int, int, int]]:
    """Due time, address, bytes and direction of each I/O of a stream, from its tracepoints."""
    return [
        (int(one["at_ns"]), int(one["addr_bytes"]), int(one["bytes"]), int(one["op"] == "write"))
        for one in log
        if int(one["stream"]) == number
    ]


def test_trace_and_company_are_issued_as_each_is_alone(nl: Socket, disk: str) -> None:
    trace = mixture(2000, gap_ns=100_000)
    poisson = {"law": int(Law.POISSON), "rate_milli": 3_000_000}
    wanted = alone(nl, disk, 20_000, PACED, poisson)
    run = replay(nl, disk, **company(PACED, poisson))

    with events("spek") as log:
        found = play(nl, run, trace)
        traced = log.read("spek_io_issue")

    start_ns = found["started_ns"]
    assert issued(traced, 2) == list(
        zip(
            (start_ns + trace["at_ns"]).tolist(),
            *(trace[one].tolist() for one in ("addr", "bytes", "op")),
            strict=True,
        )
    )
    last_ns = start_ns + int(trace["at_ns"][-1])
    for number in range(2):
        mine = issued(traced, number)
        other = wanted[wanted["stream"] == number][: len(mine)]
        assert mine == list(
            zip(
                (start_ns + other["at_ns"]).tolist(),
                *(other[one].tolist() for one in ("addr", "bytes", "write")),
                strict=True,
            )
        )
        # They went on until the trace had ended, and no longer.
        assert len(mine) >= int(
            (wanted["at_ns"][wanted["stream"] == number] < last_ns - start_ns).sum()
        )
        assert mine[-1][0] <= found["drain_ns"]
        assert counted(nl, run)[number, Direction.READ] == (len(mine), BLOCK * len(mine))
    assert found["drain_ns"] >= last_ns
    for way in (Direction.READ, Direction.WRITE):
        of_way = trace["bytes"][trace["op"] == way]
        assert counted(nl, run)[2, way] == (len(of_way), int(of_way.sum(dtype="u8")))


@pytest.mark.parametrize("rate_milli", [2_000_000, 1])
def test_a_worker_without_records_goes_on_until_the_trace_ends(
    nl: Socket, disk: str, rate_milli: int
) -> None:
    """With I/Os of its own, and while it sleeps for a quarter of an hour."""
    trace = records(200, at_ns=np.arange(200) * 2 * MS)
    paced = {"law": int(Law.CONSTANT), "rate_milli": rate_milli}
    run = replay(
        nl, disk, worker=[{"cpu": 0}, {"cpu": 1}], interval_ns=100 * SECOND, **company(paced)
    )

    with events("spek") as log:
        found = play(nl, run, trace)
        traced = log.read("spek_io_issue")

    last_ns = found["started_ns"] + int(trace["at_ns"][-1])
    gap_ns = 2 * 10**12 // rate_milli
    for worker in range(2):
        mine = issued([one for one in traced if int(one["worker"]) == worker], 0)
        first_ns = found["started_ns"] + worker * gap_ns // 2
        due_ns = [one[0] for one in mine]
        assert due_ns == [first_ns + n * gap_ns for n in range(len(mine))]
        assert len(mine) >= len(range(first_ns, last_ns, gap_ns))
    assert last_ns <= found["drain_ns"] <= found["ended_ns"] < last_ns + 5 * SECOND


def test_workers_that_are_done_wait_for_the_one_that_replays(nl: Socket, disk: str) -> None:
    trace = records(50, at_ns=np.arange(50) * 10 * MS)
    run = replay(
        nl,
        disk,
        worker=[{"cpu": 0}, {"cpu": 1}],
        **company({"law": int(Law.CLOSED), "depth": 1, "think_ns": MS}),
    )
    feed_all(nl, run, trace, worker=1)
    feed_all(nl, run, trace[:1], worker=0)
    end(nl, run, 51)
    with events("spek") as log:
        start(nl, run)
        found = completed(nl, run)
        traced = log.read("spek_io_issue")

    last_ns = found["started_ns"] + int(trace["at_ns"][-1])
    workers = [
        [one[0] for one in issued([one for one in traced if int(one["worker"]) == worker], 0)]
        for worker in range(2)
    ]
    assert workers[1] == [], "a closed loop of depth 1 is the first worker's"
    assert max(workers[0]) > last_ns - 10 * MS, "its share of the trace was done long before"
    assert found["replay"]["issued"] == 51


def test_an_empty_ring_stops_nothing_and_its_underrun_is_counted(nl: Socket, disk: str) -> None:
    first = records(RING, at_ns=np.arange(RING) * 10_000)
    late = records(100, at_ns=np.arange(100) * 10_000 + 20 * MS)
    # All due at once, batch after batch.
    busy = {"law": int(Law.CLOSED), "depth": 8}
    run = replay(nl, disk, batch=32, **company(busy, PACED))
    feed_all(nl, run, first)
    start(nl, run)
    began_ns = info(nl, run)["started_ns"]
    assert comes_true(lambda: info(nl, run)["replay"]["issued"] == RING)
    before = info(nl, run)
    time.sleep(0.2)
    dry = info(nl, run)

    feed_all(nl, run, late)
    end(nl, run, RING + 100)
    counts = completed(nl, run)["replay"]

    assert dry["target"][0]["reads"] - before["target"][0]["reads"] >= 200
    assert dry["replay"]["dry_ns"] >= 100 * MS
    assert (dry["replay"]["underruns"], counts["underruns"], counts["dry_ns"]) == (0, 1, 0)
    assert counts["underrun_first_ns"] >= began_ns + 20 * MS
    assert counts["underrun_ns"] >= 100 * MS
    assert counts["underrun_last_ns"] - counts["underrun_first_ns"] == counts["underrun_ns"]


def test_company_that_is_due_is_no_underrun(nl: Socket, disk: str) -> None:
    run = replay(nl, disk, **company(PACED))
    feed_all(nl, run, records(RING // 2 + 1))
    start(nl, run)
    assert comes_true(lambda: info(nl, run)["replay"]["issued"] == RING // 2 + 1)
    elapsed = info(nl, run)["now_ns"] - info(nl, run)["started_ns"]
    feed_all(nl, run, records(1, at_ns=elapsed + SECOND))
    end(nl, run, RING // 2 + 2)

    found = completed(nl, run)

    assert found["replay"]["underruns"] == 0
    assert counted(nl, run)[0, Direction.READ][0] >= (elapsed + SECOND) // PACED_NS


def test_time_ends_trace_and_company(nl: Socket, disk: str) -> None:
    run = replay(nl, disk, time_ns=50 * MS, **company(PACED))
    feed_all(nl, run, records(RING, at_ns=np.arange(RING) * MS))
    start(nl, run)

    found = finished(nl, run)

    assert (found["reason"], found["replay"]["ended"]) == (Reason.COMPLETED, 0)
    assert counted(nl, run) == {
        (0, Direction.READ): (100, 100 * BLOCK),
        (1, Direction.READ): (50, 50 * BLOCK),
    }


def test_a_closed_trace_has_its_own_completions(nl: Socket, disk: str) -> None:
    trace = records(1000)
    run = replay(nl, disk, **company(PACED, law={"law": int(Law.CLOSED), "depth": 1}))

    with events("spek") as log:
        play(nl, run, trace)
        done = [one for one in log.text().splitlines() if " stream=1 " in one]

    assert ["spek_io_issue" in one for one in done] == [True, False] * 1000, "one at a time"


def test_a_killed_feeder_ends_company_as_well(nl: Socket, disk: str, tmp_path: Path) -> None:
    run = replay(nl, disk, **company(PACED))
    process = feeder(run, records(RING, at_ns=np.arange(RING) * MS), tmp_path)
    start(nl, run)
    assert comes_true(lambda: info(nl, run)["replay"]["issued"] > 10)

    process.send_signal(signal.SIGKILL)
    process.wait()
    found = finished(nl, run)

    assert found["reason"] == Reason.FEEDER_GONE
    ios = {key: ios for key, (ios, _bytes) in counted(nl, run).items()}
    assert ios[1, Direction.READ] == found["replay"]["issued"] < RING
    assert ios[0, Direction.READ] > 10


# ---- refusals ----

WRONG: list[tuple[dict[str, Any], int, str]] = [
    ({"addr": DISK_MIB * MIB}, errno.ERANGE, "outside of the range"),
    ({"addr": DISK_MIB * MIB - 512}, errno.ERANGE, "outside of the range"),
    ({"addr": 2**64 - 512}, errno.ERANGE, "outside of the range"),
    ({"addr": 100}, errno.EINVAL, "alignment"),
    ({"bytes": 100}, errno.EINVAL, "alignment"),
    ({"bytes": 0}, errno.EINVAL, "no bytes"),
    ({"bytes": 128 * 1024}, errno.ERANGE, "longer than the block size"),
    ({"bytes": 2**32 - 512, "op": TraceOp.DISCARD}, errno.ERANGE, "outside of the range"),
    ({"op": 4}, errno.EINVAL, "unknown operation"),
    ({"asu": 16}, errno.EINVAL, "unknown operation or address range"),
    ({"asu": 1}, errno.EPERM, "no stream"),
    ({"flags": TRACE_FUA}, errno.EINVAL, "flag"),
    ({"flags": 4, "op": TraceOp.WRITE}, errno.EINVAL, "flag"),
    ({"op": TraceOp.FLUSH}, errno.EINVAL, "flush"),
    ({"at_ns": 367 * 86400 * SECOND}, errno.ERANGE, "366 days"),
]


def test_a_wrong_record_is_refused_with_all_of_its_message(nl: Socket, disk: str) -> None:
    run = replay(nl, disk)
    for changes, code, text in WRONG:
        message = records(5)
        for name, value in changes.items():
            message[name][3] = value

        no = refused(lambda message=message: feed(nl, run, message))  # type: ignore[misc]

        assert (no.errno, no.attr) == (code, "records"), changes
        assert text in no.text, changes
    order = records(2, at_ns=[1, 0])
    assert "order" in refused(lambda: feed(nl, run, order)).text
    assert info(nl, run)["replay"]["fed"] == 0
    end(nl, run, 0)
    start(nl, run)
    assert completed(nl, run)["replay"]["issued"] == 0


def test_order_is_kept_from_message_to_message(nl: Socket, disk: str) -> None:
    run = replay(nl, disk)
    feed_all(nl, run, records(1, at_ns=MS))

    assert "order" in refused(lambda: feed(nl, run, records(1, at_ns=MS - 1))).text


def test_requests_in_the_wrong_state_are_refused(nl: Socket, disk: str) -> None:
    run = replay(nl, disk)
    assert "half full" in refused(lambda: start(nl, run)).text
    feed_all(nl, run, records(RING // 2 - 1))
    assert refused(lambda: start(nl, run)).errno == errno.EBUSY
    feed_all(nl, run, records(1))
    assert "number of records" in refused(lambda: end(nl, run, 3)).text
    with Socket(spek) as other:
        no = refused(lambda: feed(other, run, records(1)))
        assert (no.errno, no.attr) == (errno.EBUSY, "run")
        assert refused(lambda: end(other, run, RING // 2)).errno == errno.EBUSY
    assert refused(lambda: feed(nl, run, records(1), worker=1)).attr == "worker"
    for odd in (b"", b"x" * 25):
        no = refused(
            lambda odd=odd: nl.ask(Cmd.TRACE_FEED, run=run, worker=0, records=odd)  # type: ignore[misc]
        )
        assert no.attr == "records"
    end(nl, run, RING // 2)
    assert "ended" in refused(lambda: feed(nl, run, records(1))).text
    assert "ended" in refused(lambda: end(nl, run, RING // 2)).text
    start(nl, run)
    completed(nl, run)


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"trace_records": None}, "needs trace-records"),
        ({"count": 5}, "not by count"),
        ({"ramp_count": 5}, "not by count"),
        ({"write": None}, "not allowed to write"),
        ({"arrival": [{"law": int(Law.CONSTANT), "rate_milli": 1000}]}, "law trace or closed"),
        ({"stream": [*streams(), stream()]}, "another pattern"),
        (
            {"arrival": [{"law": int(Law.TRACE)}] * 2, "stream": [*streams(), stream(arrival=1)]},
            "for which a run has one",
        ),
        (
            {
                "arrival": [{"law": int(Law.TRACE)}, {"law": int(Law.CLOSED), "depth": 1}],
                "stream": [*streams(), streams(arrival=1)[0]],
            },
            "several arrival processes",
        ),
        ({"stream": streams() * 2}, "same address range"),
        ({"stream": [stream()], "trace_records": None, "time_ns": SECOND}, "pattern trace"),
        ({"stream": streams(align_bytes=1536)}, "power of two"),
        ({"backend": int(Backend.MQ)}, "Only back end bio"),
        ({"data": int(spek.Data.STAMPED)}, "without stamped"),
        ({"polled": 1}, "without polling"),
    ],
)
def test_a_run_that_no_trace_fits_is_refused(
    nl: Socket, disk: str, changes: dict[str, Any], text: str
) -> None:
    assert text in refused(lambda: replay(nl, disk, **changes)).text


def test_a_device_without_discards_is_refused(nl: Socket, disks: Sequence[str]) -> None:
    no = refused(lambda: replay(nl, disks[0]))

    assert (no.errno, no.attr) == (errno.EOPNOTSUPP, "stream[2]")


# ---- whoever feeds, owns or carries it goes away ----

FEEDER = """
import sys
from lib.guest.netlink_raw import Socket
from spekctl.kernel.gen import spek
run, worker, path = int(sys.argv[1]), 0, sys.argv[2]
data = open(path, "rb").read()
with Socket(spek) as nl:
    nl.ask(spek.Cmd.TRACE_FEED, run=run, worker=worker, records=data)
    print("fed", flush=True)
    sys.stdin.read()
"""


def feeder(run: int, trace: Records, folder: Path) -> subprocess.Popen[str]:
    """A process that has fed the trace and stays."""
    path = folder / "records"
    path.write_bytes(trace.tobytes())
    process = subprocess.Popen(
        [sys.executable, "-c", FEEDER, str(run), str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "fed\n"
    return process


def test_a_killed_feeder_ends_the_run(nl: Socket, disk: str, tmp_path: Path) -> None:
    run = replay(nl, disk)
    process = feeder(run, records(RING, at_ns=np.arange(RING) * MS), tmp_path)
    start(nl, run)
    assert comes_true(lambda: info(nl, run)["replay"]["issued"] > 10)

    process.send_signal(signal.SIGKILL)
    process.wait()
    found = finished(nl, run)

    assert found["reason"] == Reason.FEEDER_GONE
    assert found["replay"]["issued"] < RING
    assert sum(ios for ios, _bytes in counted(nl, run).values()) == found["replay"]["issued"]


def test_a_feeder_may_go_once_the_trace_is_complete(nl: Socket, disk: str) -> None:
    run = replay(nl, disk)
    with Socket(spek) as other:
        feed_all(other, run, records(100, at_ns=np.arange(100) * MS))
        end(other, run, 100)
        start(nl, run)
    completed(nl, run)


def test_a_feeder_that_goes_before_the_start_calls_it_off(nl: Socket, disk: str) -> None:
    run = replay(nl, disk)
    with Socket(spek) as other:
        feed_all(other, run, records(RING))

    no = refused(lambda: start(nl, run))

    assert (no.errno, "was closed" in no.text) == (errno.EBUSY, True)


def test_a_killed_controller_ends_the_run_and_frees_the_disk(nl: Socket, disk: str) -> None:
    owner = Socket(spek)
    run = replay(owner, disk)
    feed_all(nl, run, records(RING, at_ns=np.arange(RING) * MS))
    start(owner, run)

    owner.close()

    assert comes_true(lambda: is_gone(nl, run))
    assert comes_true(lambda: is_free(disk))
    with pytest.raises(Refusal):
        feed(nl, run, records(1))


def test_removal_of_the_device_ends_the_run(nl: Socket) -> None:
    node, item = make_null(DISK_MIB)
    run = replay(nl, node, stream=streams()[:1])
    feed_all(nl, run, mixture(RING, gap_ns=5 * MS))
    start(nl, run)
    assert comes_true(lambda: info(nl, run)["replay"]["issued"] > 10)

    (item / "power").write_text("0")
    found = finished(nl, run)

    remove_null(item)
    assert found["reason"] == Reason.DEVICE_GONE
    assert found["replay"]["issued"] < RING


# ---- hostile contents ----


# For each field values that are right for a read or a write, and values that are not.
ODD: dict[str, list[int]] = {
    "addr": [0, 512, DISK_MIB * MIB - BLOCK, DISK_MIB * MIB - 512, DISK_MIB * MIB, 2**63, 100],
    "bytes": [512, 65536, 0, 1, 65537, 2**32 - 1],
    "op": [0, 1, 2, 4, 255],
    "asu": [0, 1, 15, 16, 65535],
    "flags": [0, 1, 2, 3, 4, 255],
}


def test_random_records_are_refused_or_replayed(nl: Socket, disk: str) -> None:
    """Random bytes, and records with one field wrong or right by chance, while the run lasts."""
    draw = np.random.default_rng(2026)
    run = replay(nl, disk, max_outstanding=8)
    feed_all(nl, run, records(RING // 2 + 1))
    start(nl, run)
    fed, said = RING // 2 + 1, set()
    for turn in range(150):
        if turn % 2:
            message = np.frombuffer(draw.bytes(24 * int(draw.integers(1, 50))), RECORD)
        else:
            message = records(1, op=turn // 2 % 2)
            name = draw.choice(list(ODD))
            message[name] = draw.choice(ODD[name])
        try:
            fed += feed(nl, run, message)
        except Refusal as no:
            said.add(no.text)
    end(nl, run, fed)

    assert completed(nl, run)["replay"]["fed"] == fed
    assert fed > RING // 2 + 1, "nothing was accepted"
    assert len(said) > 5, said


def test_several_disks_are_several_address_ranges(nl: Socket, disks: Sequence[str]) -> None:
    both = {
        "target": [target(node) for node in disks],
        "asu": [asu(extent=[{"target": index, "start": 0}]) for index in range(2)],
        "stream": [streams(2)[0], streams(2)[3]],
    }
    trace = mixture(500, gap_ns=20_000)
    trace["asu"] = np.arange(500) % 2
    run = replay(nl, disks[0], **both)

    play(nl, run, trace)

    targets = info(nl, run)["target"]
    for index in range(2):
        mine = trace[trace["asu"] == index]
        reads = mine["op"] == TraceOp.READ
        assert targets[index]["reads"] == int(reads.sum())
        assert targets[index]["write_bytes"] == int(mine["bytes"][~reads].sum(dtype="u8"))


# ---- spekctl ----


def spekctl_run(node: str, out: Path, *arguments: object) -> Result:
    """A run that completes."""
    line = ["run", *map(str, arguments), "--device", node, "--no-prober", "--progress", "none"]
    assert cli.run([*line, "--write", "-o", str(out)]) == ExitCode.OK
    return msgspec.json.decode(out.read_bytes(), type=Result)


def logged(path: Path) -> dict[str, Any]:
    """The columns of a log, in order of arrival."""
    names = ("arrival_ns", "issue_ns", "address", "bytes", "op")
    parts = list(log_file.open_log(path).columns(*names))
    columns = {name: np.concatenate([part[i] for part in parts]) for i, name in enumerate(names)}
    order = np.argsort(columns["arrival_ns"], kind="stable")
    return {name: column[order] for name, column in columns.items()}


def test_a_log_is_replayed_as_it_was(spek_module: Path, disk: str, tmp_path: Path) -> None:
    first, second = tmp_path / "first.parquet", tmp_path / "second.parquet"
    workload = ("mixed-70-30-8k", "--rate", 2000, "--count", 500)
    spekctl_run(disk, tmp_path / "first.json", *workload, "--log", first)

    result = spekctl_run(disk, tmp_path / "out.json", "--trace", first, "--log", second)

    was, now = logged(first), logged(second)
    for name in ("address", "bytes", "op"):
        assert np.array_equal(was[name], now[name]), name
    assert np.array_equal(
        was["arrival_ns"] - was["arrival_ns"][0], now["arrival_ns"] - now["arrival_ns"][0]
    )
    assert int(now["arrival_ns"][0]) == result.start.monotonic_ns
    assert (now["issue_ns"] >= now["arrival_ns"]).all()
    assert result.replay is not None
    assert result.replay.records == result.replay.issued == len(was["op"]) >= 500
    assert (result.replay.complete, result.replay.skipped) == (True, {})


# With a ring that is empty after a second, and without the start of another interpreter.
SMALL_RING = """
import sys
from spekctl import cli
from spekctl.run import replay
replay.RING_RECORDS = 1024
sys.exit(cli.run(sys.argv[1:]))
"""


def test_a_stopped_program_is_an_underrun_in_its_result(
    nl: Socket, disk: str, tmp_path: Path
) -> None:
    trace, out = tmp_path / "io.csv", tmp_path / "out.json"
    lines = [f"{n * 1000},{n * BLOCK % (DISK_MIB * MIB)},{BLOCK},read" for n in range(2000)]
    trace.write_text("\n".join(["at_us,offset_bytes,bytes,op", *lines, ""]))
    options = ["--no-prober", "--progress", "none", "-o", str(out)]
    process = subprocess.Popen(
        [sys.executable, "-c", SMALL_RING, "run", "--trace", trace, "--device", disk, *options],
        stdout=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )

    def replays() -> list[dict[str, Any]]:
        return [one["replay"] for one in nl.dump(Cmd.RUN_GET).values if "replay" in one]

    assert comes_true(lambda: any(one["issued"] for one in replays()))
    process.send_signal(signal.SIGSTOP)
    assert comes_true(lambda: any(one["dry_ns"] > 100 * MS for one in replays()))
    process.send_signal(signal.SIGCONT)

    assert process.wait() == ExitCode.OK
    result = msgspec.json.decode(out.read_bytes(), type=Result)
    assert result.replay is not None
    assert (result.replay.issued, result.replay.complete) == (2000, True)
    assert result.replay.underruns >= 1
    assert result.replay.underrun_ns >= 50 * MS
    assert any("underruns" in one for one in result.remarks)


MIXED = """\
[workload]
name = "mixed"
summary = "A trace beside a scrub"
[[arrival]]
name = "scrub"
law = "constant"
rate = 2000
[[stream]]
name = "io"
pattern = "trace"
trace = { files = ["io.csv"] }
[[stream]]
name = "scrub"
arrival = "scrub"
pattern = "sequential"
size = "64KiB"
"""


def test_a_workload_file_replays_beside_a_scrub(
    spek_module: Path, disk: str, tmp_path: Path
) -> None:
    lines = [f"{n * 500},{n * 9973 % 16384 * BLOCK},{BLOCK},write" for n in range(1000)]
    (tmp_path / "io.csv").write_text("\n".join(["at_us,offset_bytes,bytes,op", *lines, ""]))
    workload, log = tmp_path / "mixed.toml", tmp_path / "mixed.parquet"
    workload.write_text(MIXED)

    result = spekctl_run(disk, tmp_path / "out.json", workload, "--log", log)

    assert result.replay is not None
    assert (result.replay.issued, result.replay.complete) == (1000, True)
    assert result.outcome.reason == "completed"
    found = logged(log)
    scrub = found["bytes"] == 64 * 1024
    assert found["address"][~scrub].tolist() == [n * 9973 % 16384 * BLOCK for n in range(1000)]
    wanted = np.arange(int(scrub.sum()), dtype=np.uint64) * 64 * 1024 % (DISK_MIB * MIB)
    assert found["address"][scrub].tolist() == wanted.tolist()
    assert int(scrub.sum()) >= 999
