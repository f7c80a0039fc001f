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
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from lib.guest.disks import make_null, null_disk, remove_null
from lib.guest.netlink import (
    MIB,
    SECOND,
    asu,
    is_free,
    is_gone,
    refused,
    remove,
    stream,
    target,
)
from lib.guest.netlink_raw import Refusal, Socket
from lib.guest.replays import (
    AHEAD_NS,
    BLOCK,
    DISK_MIB,
    MS,
    RECORD,
    RING,
    completed,
    counted,
    end,
    feed,
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
from lib.guest.trace import events, request_log
from lib.waiting import comes_true

from spekctl import cli
from spekctl.documents.result import Result
from spekctl.errors import ExitCode
from spekctl.kernel.gen import spek
from spekctl.kernel.gen.spek import (
    TRACE_FUA,
    TRACE_PREFLUSH,
    Backend,
    Cmd,
    Direction,
    Law,
    Reason,
    TraceOp,
)
from spekctl.log import file as log_file

pytestmark = [pytest.mark.any_kernel, pytest.mark.debug_kernel_at_length]


@pytest.fixture(scope="module")
def disk(spek_module: Path) -> Iterator[str]:
    with replay_disk() as node:
        yield node


# ---- agreement ----


def test_requests_are_those_of_the_trace_and_none_is_early(nl: Socket, disk: str) -> None:
    trace = mixture(3000, gap_ns=100_000)
    run = replay(nl, disk)

    with request_log(disk) as log:
        ended = play(nl, run, trace)
        traced = log.read()

    assert [
        (request.sector * 512, request.sectors * 512, request.direction.code) for request in traced
    ] == list(
        zip(trace["addr"].tolist(), trace["bytes"].tolist(), trace["op"].tolist(), strict=True)
    )
    due_us = (ended["started_ns"] + trace["at_ns"]) // 1000
    assert (np.array([request.us for request in traced]) >= due_us).all()
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
        addr=[0, BLOCK, 0, MIB, 2 * BLOCK, 0],
        bytes=[BLOCK, BLOCK, 0, 8 * MIB, BLOCK, BLOCK],
        op=[TraceOp.WRITE, TraceOp.WRITE, TraceOp.FLUSH, TraceOp.DISCARD, TraceOp.WRITE, 0],
        flags=[0, TRACE_FUA, 0, 0, TRACE_PREFLUSH, 0],
    )
    # One after the other: the block layer may send one flush for two that are due at once.
    run = replay(nl, disk, arrival=[{"law": int(Law.CLOSED), "depth": 1}])

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
        traced = [(request.sector * 512, request.sectors * 512) for request in log.read()]

    for part in (trace[~upper], trace[upper]):
        wanted = list(zip(part["addr"].tolist(), part["bytes"].tolist(), strict=True))[:RING]
        mine = set(wanted)
        # What lies in one range is issued in order, whatever the other worker does.
        assert [request for request in traced if request in mine] == wanted


def test_a_closed_loop_takes_the_next_record_for_each_completion(nl: Socket, disk: str) -> None:
    trace = records(3000, at_ns=np.arange(3000)[::-1])
    run = replay(nl, disk, arrival=[{"law": int(Law.CLOSED), "depth": 1}])

    with request_log(disk) as log:
        play(nl, run, trace)
        traced = log.read()

    assert [request.sector * 512 for request in traced] == trace["addr"].tolist()


def test_a_record_of_a_closed_loop_waits_for_its_think_time(nl: Socket, disk: str) -> None:
    thinks = np.array([0, 30, 0, 60, 10]) * MS
    run = replay(nl, disk, arrival=[{"law": int(Law.CLOSED), "depth": 1}])

    with request_log(disk) as log, events("spek") as seen:
        play(nl, run, records(5, at_ns=thinks))
        gaps_us = np.diff([request.us for request in log.read()])
        due_ns = [int(event["at_ns"]) for event in seen.read("spek_io_issue")]
        done_ns = [int(event["done_ns"]) for event in seen.read("spek_io_complete")]

    assert np.subtract(due_ns[1:], done_ns[:-1]).tolist() == thinks[1:].tolist()
    # From issue to issue the response is a part of it.
    assert (gaps_us >= thinks[1:] // 1000).all()


# ---- the schedule, and what feeds it ----


@pytest.mark.debug_kernel
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
    ended = completed(nl, run)

    counts = ended["replay"]
    assert dry["dry_ns"] >= 100 * MS
    assert (dry["underruns"], counts["underruns"], counts["dry_ns"]) == (0, 1, 0)
    # It began when the first of the late records was due, or a little later: when all of the others
    # had been issued.
    assert counts["underrun_first_ns"] >= began_ns + 20 * MS
    assert counts["underrun_ns"] >= 100 * MS
    assert counts["underrun_last_ns"] - counts["underrun_first_ns"] == counts["underrun_ns"]
    slips = [
        cell
        for cell in nl.dump(Cmd.STATS_GET, run=run).values
        if cell.get("metric") == spek.Metric.SLIP
    ]
    assert max(cell["max_ns"] for cell in slips) >= counts["underrun_ns"]


def test_an_empty_ring_with_nothing_due_is_no_underrun(nl: Socket, disk: str) -> None:
    for ahead_ns in AHEAD_NS:
        run = replay(nl, disk)
        feed_all(nl, run, records(RING // 2 + 1))
        start(nl, run)
        assert comes_true(partial(has_issued, nl, run, RING // 2 + 1))
        _due_ns, in_time = feed_ahead(nl, run, ahead_ns)
        end(nl, run, RING // 2 + 2)

        ended = completed(nl, run)
        remove(nl, run)
        if in_time:
            break
    else:
        pytest.fail("no record comes before its time")

    assert ended["replay"]["underruns"] == 0


def test_a_full_ring_accepts_no_more_and_loses_nothing(nl: Socket, disk: str) -> None:
    run = replay(nl, disk)

    assert feed(nl, run, records(1500)) == RING
    assert feed(nl, run, records(1)) == 0

    end(nl, run, RING)
    start(nl, run)
    assert completed(nl, run)["replay"]["fed"] == RING


def test_time_may_end_a_replay(nl: Socket, disk: str) -> None:
    # A worker that gets no CPU in one of these has issued nothing when it is over.
    for time_ms in (50, 200, 800):
        run = replay(nl, disk, time_ns=time_ms * MS)
        feed_all(nl, run, records(RING, at_ns=np.arange(RING) * MS))
        start(nl, run)

        ended = finished(nl, run)

        assert ended["reason"] == Reason.COMPLETED
        assert ended["replay"]["issued"] <= time_ms
        assert ended["replay"]["ended"] == 0
        more = refused(partial(feed, nl, run, records(1, at_ns=SECOND)))
        assert (more.errno, "The run has ended" in more.text) == (errno.EBUSY, True)
        remove(nl, run)
        if ended["replay"]["issued"]:
            break
    else:
        pytest.fail("nothing is issued before the end")


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
    with Socket(spek) as link:
        no = refused(lambda: feed(link, run, records(1)))
        assert (no.errno, no.attr) == (errno.EBUSY, "run")
        assert refused(lambda: end(link, run, RING // 2)).errno == errno.EBUSY
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


@pytest.mark.debug_kernel
def test_a_killed_feeder_ends_the_run(nl: Socket, disk: str, tmp_path: Path) -> None:
    run = replay(nl, disk)

    ended = with_killed_feeder(nl, run, tmp_path)

    assert ended["reason"] == Reason.FEEDER_GONE
    assert ended["replay"]["issued"] < RING
    assert sum(ios for ios, _bytes in counted(nl, run).values()) == ended["replay"]["issued"]


def test_a_feeder_may_go_once_the_trace_is_complete(nl: Socket, disk: str) -> None:
    run = replay(nl, disk)
    with Socket(spek) as link:
        feed_all(link, run, records(100, at_ns=np.arange(100) * MS))
        end(link, run, 100)
        start(nl, run)
    completed(nl, run)


@pytest.mark.debug_kernel
def test_a_feeder_that_goes_before_the_start_calls_it_off(nl: Socket, disk: str) -> None:
    run = replay(nl, disk)
    with Socket(spek) as link:
        feed_all(link, run, records(RING))

    no = refused(lambda: start(nl, run))

    assert (no.errno, "was closed" in no.text) == (errno.EBUSY, True)


@pytest.mark.debug_kernel
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


@pytest.mark.debug_kernel
def test_removal_of_the_device_ends_the_run(nl: Socket) -> None:
    node, item = make_null(DISK_MIB)
    run = replay(nl, node, stream=streams()[:1])
    feed_all(nl, run, mixture(RING, gap_ns=50 * MS))
    start(nl, run)
    assert comes_true(lambda: info(nl, run)["replay"]["issued"] > 10)

    (item / "power").write_text("0")
    ended = finished(nl, run)

    remove_null(item)
    assert ended["reason"] == Reason.DEVICE_GONE
    assert ended["replay"]["issued"] < RING


# ---- hostile contents ----


# For each field values that are right for a read or a write, and values that are not.
ODD: dict[str, list[int]] = {
    "addr": [0, 512, DISK_MIB * MIB - BLOCK, DISK_MIB * MIB - 512, DISK_MIB * MIB, 2**63, 100],
    "bytes": [512, 65536, 0, 1, 65537, 2**32 - 1],
    "op": [0, 1, 2, 4, 255],
    "asu": [0, 1, 15, 16, 65535],
    "flags": [0, 1, 2, 3, 4, 255],
}


@pytest.mark.debug_kernel
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
    lines = [f"{n * 1000},{n * BLOCK % (DISK_MIB * MIB)},{BLOCK},read" for n in range(4000)]
    trace.write_text("\n".join(["at_us,offset_bytes,bytes,op", *lines, ""]))
    options = ["--no-prober", "--progress", "none", "-o", str(out)]
    process = subprocess.Popen(
        [sys.executable, "-c", SMALL_RING, "run", "--trace", trace, "--device", disk, *options],
        stdout=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )

    def replays() -> list[dict[str, Any]]:
        return [values["replay"] for values in nl.dump(Cmd.RUN_GET).values if "replay" in values]

    assert comes_true(lambda: any(counts["issued"] for counts in replays()))
    process.send_signal(signal.SIGSTOP)
    assert comes_true(lambda: any(counts["dry_ns"] > 100 * MS for counts in replays()))
    process.send_signal(signal.SIGCONT)

    assert process.wait() == ExitCode.OK
    result = msgspec.json.decode(out.read_bytes(), type=Result)
    assert result.replay is not None
    assert (result.replay.issued, result.replay.complete) == (4000, True)
    assert result.replay.underruns >= 1
    assert result.replay.underrun_ns >= 50 * MS
    assert any("underruns" in remark for remark in result.remarks)


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
    rows = logged(log)
    scrub = rows["bytes"] == 64 * 1024
    assert rows["address"][~scrub].tolist() == [n * 9973 % 16384 * BLOCK for n in range(1000)]
    wanted = np.arange(int(scrub.sum()), dtype=np.uint64) * 64 * 1024 % (DISK_MIB * MIB)
    assert rows["address"][scrub].tolist() == wanted.tolist()
    assert int(scrub.sum()) >= 999
