# SPDX-License-Identifier: GPL-2.0
"""Replay beside other streams: each does what it does alone, and the trace ends the run."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from lib.guest.netlink import (
    SECOND,
    config,
    delete,
    make,
    remove,
    stream,
)
from lib.guest.netlink_raw import Socket
from lib.guest.replays import (
    AHEAD_NS,
    BLOCK,
    MS,
    RING,
    Records,
    completed,
    counted,
    end,
    feed_ahead,
    feed_all,
    finished,
    has_issued,
    info,
    mixture,
    play,
    records,
    replay,
    replay_disk,
    start,
    streams,
    with_killed_feeder,
)
from lib.guest.trace import events
from lib.waiting import comes_true

from spekctl.kernel.gen.spek import (
    Cmd,
    Direction,
    Law,
    Reason,
)

pytestmark = [pytest.mark.any_kernel, pytest.mark.debug_kernel_at_length]

PACED = {"law": int(Law.CONSTANT), "rate_milli": 2_000_000}
PACED_NS = SECOND // 2000
OPS = np.dtype(
    [
        *(("at_ns", "<u8"), ("addr", "<u8"), ("bytes", "<u4"), ("replica", "<u4")),
        *(("stream", "<u2"), ("asu", "<u2"), ("arrival", "u1"), ("kind", "u1"), ("write", "<u2")),
    ]
)


@pytest.fixture(scope="module")
def disk(spek_module: Path) -> Iterator[str]:
    with replay_disk() as node:
        yield node


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
    return np.frombuffer(b"".join(part["ops"] for part in answer), OPS)


def issued(log: list[dict[str, str]], number: int) -> list[tuple[int, int, int, int]]:
    """Due time, address, bytes and direction of each I/O of a stream, from its tracepoints."""
    return [
        (
            int(event["at_ns"]),
            int(event["addr_bytes"]),
            int(event["bytes"]),
            int(event["op"] == "write"),
        )
        for event in log
        if int(event["stream"]) == number
    ]


def test_trace_and_company_are_issued_as_each_is_alone(nl: Socket, disk: str) -> None:
    trace = mixture(2000, gap_ns=100_000)
    poisson = {"law": int(Law.POISSON), "rate_milli": 3_000_000}
    wanted = alone(nl, disk, 20_000, PACED, poisson)
    run = replay(nl, disk, **company(PACED, poisson))

    with events("spek") as log:
        ended = play(nl, run, trace)
        traced = log.read("spek_io_issue")

    start_ns = ended["started_ns"]
    assert issued(traced, 2) == list(
        zip(
            (start_ns + trace["at_ns"]).tolist(),
            *(trace[column].tolist() for column in ("addr", "bytes", "op")),
            strict=True,
        )
    )
    last_ns = start_ns + int(trace["at_ns"][-1])
    for number in range(2):
        mine = issued(traced, number)
        own = wanted[wanted["stream"] == number][: len(mine)]
        assert mine == list(
            zip(
                (start_ns + own["at_ns"]).tolist(),
                *(own[column].tolist() for column in ("addr", "bytes", "write")),
                strict=True,
            )
        )
        # They went on until the trace had ended, and no longer.
        assert len(mine) >= int(
            (wanted["at_ns"][wanted["stream"] == number] < last_ns - start_ns).sum()
        )
        assert mine[-1][0] <= ended["drain_ns"]
        assert counted(nl, run)[number, Direction.READ] == (len(mine), BLOCK * len(mine))
    assert ended["drain_ns"] >= last_ns
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
        ended = play(nl, run, trace)
        traced = log.read("spek_io_issue")

    last_ns = ended["started_ns"] + int(trace["at_ns"][-1])
    gap_ns = 2 * 10**12 // rate_milli
    # Those that were late when the trace ended are not issued any more.
    not_issued = ended["backlog"]
    for worker in range(2):
        mine = issued([event for event in traced if int(event["worker"]) == worker], 0)
        first_ns = ended["started_ns"] + worker * gap_ns // 2
        due_ns = [row[0] for row in mine]
        assert due_ns == [first_ns + n * gap_ns for n in range(len(mine))]
        not_issued -= len(range(first_ns + len(mine) * gap_ns, last_ns, gap_ns))
    assert not_issued >= 0
    assert last_ns <= ended["drain_ns"] <= ended["ended_ns"]
    if rate_milli == 1:
        assert ended["ended_ns"] < ended["started_ns"] + gap_ns // 2, "it slept until its next I/O"


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
        ended = completed(nl, run)
        traced = log.read("spek_io_issue")

    middle_ns = ended["started_ns"] + int(trace["at_ns"][len(trace) // 2])
    workers = [
        [
            event[0]
            for event in issued([event for event in traced if int(event["worker"]) == worker], 0)
        ]
        for worker in range(2)
    ]
    assert workers[1] == [], "a closed loop of depth 1 is the first worker's"
    assert max(workers[0]) > middle_ns, "its share of the trace was done at once"
    assert ended["replay"]["issued"] == 51


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
    looks = []

    def went_on() -> bool:
        looks.append(info(nl, run))
        reads = looks[-1]["target"][0]["reads"] - before["target"][0]["reads"]
        return bool(reads >= 200 and looks[-1]["replay"]["dry_ns"] >= 100 * MS)

    assert comes_true(went_on), looks[-1]
    dry = looks[-1]

    feed_all(nl, run, late)
    end(nl, run, RING + 100)
    counts = completed(nl, run)["replay"]

    assert (dry["replay"]["underruns"], counts["underruns"], counts["dry_ns"]) == (0, 1, 0)
    assert counts["underrun_first_ns"] >= began_ns + 20 * MS
    assert counts["underrun_ns"] >= 100 * MS
    assert counts["underrun_last_ns"] - counts["underrun_first_ns"] == counts["underrun_ns"]


def test_company_that_is_due_is_no_underrun(nl: Socket, disk: str) -> None:
    for ahead_ns in AHEAD_NS:
        run = replay(nl, disk, **company(PACED))
        feed_all(nl, run, records(RING // 2 + 1))
        start(nl, run)
        assert comes_true(partial(has_issued, nl, run, RING // 2 + 1))
        due_ns, in_time = feed_ahead(nl, run, ahead_ns)
        end(nl, run, RING // 2 + 2)

        ended = completed(nl, run)
        ios = counted(nl, run)[0, Direction.READ][0]
        remove(nl, run)
        if in_time:
            break
    else:
        pytest.fail("no record comes before its time")

    assert ended["replay"]["underruns"] == 0
    assert ios >= due_ns // PACED_NS


def test_time_ends_trace_and_company(nl: Socket, disk: str) -> None:
    # A worker that does not run within the first time may do so within a longer one.
    for time_ms in (50, 200, 800):
        run = replay(nl, disk, time_ns=time_ms * MS, **company(PACED))
        feed_all(nl, run, records(RING, at_ns=np.arange(RING) * MS))
        start(nl, run)

        ended = finished(nl, run)

        assert (ended["reason"], ended["replay"]["ended"]) == (Reason.COMPLETED, 0)
        counts = counted(nl, run)
        remove(nl, run)
        # What was due by then and not issued, since the worker did not run, is the backlog.
        assert sum(ios for ios, _ in counts.values()) + ended["backlog"] == 3 * time_ms
        have_both = len(counts) == 2
        for key, due in (((0, Direction.READ), 2 * time_ms), ((1, Direction.READ), time_ms)):
            ios, amount = counts.pop(key, (0, 0))
            assert ios <= due and amount == ios * BLOCK
        assert not counts
        if have_both:
            break
    else:
        pytest.fail("a stream sends nothing before the end")


def test_a_closed_trace_has_its_own_completions(nl: Socket, disk: str) -> None:
    trace = records(1000)
    run = replay(nl, disk, **company(PACED, law={"law": int(Law.CLOSED), "depth": 1}))

    with events("spek") as log:
        play(nl, run, trace)
        done = [line for line in log.text().splitlines() if " stream=1 " in line]

    assert ["spek_io_issue" in line for line in done] == [True, False] * 1000, "one at a time"


def test_a_killed_feeder_ends_company_as_well(nl: Socket, disk: str, tmp_path: Path) -> None:
    run = replay(nl, disk, **company(PACED))

    ended = with_killed_feeder(nl, run, tmp_path)

    assert ended["reason"] == Reason.FEEDER_GONE
    ios = {key: ios for key, (ios, _bytes) in counted(nl, run).items()}
    assert ios[1, Direction.READ] == ended["replay"]["issued"] < RING
    assert ios[0, Direction.READ] > 10
