# SPDX-License-Identifier: GPL-2.0
"""The spek netlink family: what runs tell, dumps, ownership, stop and news."""

from __future__ import annotations

import errno
import itertools
import mmap
import os
import queue
import signal
import socket
import struct
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from lib.guest.disks import held_disk, null_disk
from lib.guest.drive import sysfs
from lib.guest.modules import references
from lib.guest.netlink import (
    DISK_MIB,
    MIB,
    SECOND,
    config,
    delete,
    is_free,
    is_gone,
    new,
    refused,
    remove,
    state,
    stream,
    target,
)
from lib.guest.netlink_raw import Answer, Socket
from lib.waiting import comes_true

from spekctl.kernel.gen import spek
from spekctl.kernel.gen.spek import Cmd, Metric, Phase, Reason, RunState
from spekctl.kernel.netlink import NLM_F_DUMP, NLM_F_REQUEST

# What completed I/Os are counted by; those in flight at the end have ages instead.
TIMES = (Metric.RESPONSE, Metric.SERVICE, Metric.SLIP)
pytestmark = pytest.mark.debug_kernel

# What runs tell ------------------------------------------------------------------


def test_run_get_tells_the_configuration(nl: Socket, disks: list[str]) -> None:
    run = new(
        nl,
        disks[0],
        name="all of it",
        seed=(1 << 64) - 1,
        batch=7,
        spin_ns=1234,
        interval_ns=SECOND,
        ramp_count=99,
        max_errors=3,
        detached=1,
        worker=[{"cpu": 1}, {"cpu": 0}],
        target=[target(disks[0]), target(disks[1])],
    )

    (info,) = nl.ask(Cmd.RUN_GET, id=run).values

    expected = {
        "id": run,
        "name": "all of it",
        "state": int(RunState.READY),
        "reason": int(Reason.NONE),
        "seed": (1 << 64) - 1,
        "batch": 7,
        "spin_ns": 1234,
        "interval_ns": SECOND,
        "ramp_count": 99,
        "ramp_ns": 0,
        "time_ns": 3600 * SECOND,
        "count": 0,
        "max_errors": 3,
        "detached": 1,
        "write": 0,
        "max_outstanding": 32,
    }
    assert {key: info[key] for key in expected} == expected
    assert [worker["cpu"] for worker in info["worker"]] == [1, 0]
    assert [entry["name"] for entry in info["target"]] == [os.path.basename(d) for d in disks[:2]]
    for entry, node in zip(info["target"], disks[:2], strict=True):
        assert {key: entry[key] for key in ("major", "minor")} == target(node)
        assert entry["bytes"] == DISK_MIB * MIB
        assert entry["logical_block"] == 512
        assert entry["backend_reason"]


def test_a_run_of_256_workers_fits_into_an_answer_and_a_dump(nl: Socket, disks: list[str]) -> None:
    run = new(nl, disks[0], worker=[{"cpu": 0}] * 256, max_outstanding=256)

    (asked,) = nl.ask(Cmd.RUN_GET, id=run).values
    (same,) = nl.dump(Cmd.RUN_GET).values

    assert len(asked["worker"]) == len(same["worker"]) == 256


def test_defaults(nl: Socket, disks: list[str]) -> None:
    (info,) = nl.ask(Cmd.RUN_GET, id=new(nl, disks[0])).values

    assert {key: info[key] for key in ("batch", "spin_ns", "interval_ns", "max_errors")} == {
        "batch": 16,
        "spin_ns": 0,
        "interval_ns": 0,
        "max_errors": 0,
    }


# Dumps ---------------------------------------------------------------------------


def intervals(nl: Socket, run: int) -> int:
    """How many a run has been through."""
    return int(nl.ask(Cmd.RUN_GET, id=run).values[0]["intervals"])


def has_intervals(nl: Socket, run: int, count: int) -> bool:
    return intervals(nl, run) >= count


def histograms(answer: Answer) -> dict[tuple[int, int, Metric], list[dict[str, Any]]]:
    parts: dict[tuple[int, int, Metric], list[dict[str, Any]]] = {}
    for values in answer.values:
        if "metric" in values:
            assert values["phase"] == Phase.MEASURE
            key = (values["stream"], values["direction"], Metric(values["metric"]))
            parts.setdefault(key, []).append(values)
    return parts


def test_a_statistics_dump_agrees_with_itself_while_the_run_goes_on(
    nl: Socket, disks: list[str]
) -> None:
    streams = [stream(read_ppm=500_000), stream(read_ppm=500_000)]
    run = new(nl, disks[0], stream=streams, write=1, interval_ns=10**7)
    nl.ask(Cmd.RUN_START, id=run)
    seen = []
    with Socket(spek, recv_bytes=8192) as slow:  # several reads for each dump
        assert comes_true(lambda: len(slow.dump(Cmd.STATS_GET, run=run).values) >= 4 * len(TIMES))
        for _ in range(5):
            before = intervals(nl, run)
            assert comes_true(partial(has_intervals, nl, run, before + 2))
            answer = slow.dump(Cmd.STATS_GET, run=run)
            assert not answer.interrupted
            counters = {
                (cell["stream"], cell["direction"]): cell
                for cell in answer.values
                if "metric" not in cell and cell["phase"] == Phase.MEASURE
            }
            assert len(counters) == 4
            by_cell = histograms(answer)
            assert len(by_cell) == 4 * len(TIMES)
            for (number, direction, _metric), parts in by_cell.items():
                buckets = b"".join(part["hist"] for part in parts)
                total = sum(struct.unpack(f"={len(buckets) // 8}Q", buckets))
                assert total == counters[number, direction]["ios"]
                assert all(len(part["hist"]) <= 256 * 8 for part in parts)
                ends = [part["hist_first"] + len(part["hist"]) // 8 for part in parts]
                starts = [part["hist_first"] for part in parts]
                assert all(end <= start for end, start in zip(ends, starts[1:], strict=False))
            seen.append(sum(cell["ios"] for cell in counters.values()))
    assert seen == sorted(seen) and seen[0] < seen[-1]


def test_intervals_are_read_from_a_number_on(nl: Socket, disks: list[str]) -> None:
    interval_ns = 2 * 10**7
    run = new(nl, disks[0], interval_ns=interval_ns)
    nl.ask(Cmd.RUN_START, id=run)
    assert comes_true(lambda: intervals(nl, run) >= 8)

    rows = nl.dump(Cmd.INTERVAL_GET, run=run).values
    late = nl.dump(Cmd.INTERVAL_GET, run=run, since=5).values

    assert [row["seq"] for row in rows] == list(range(len(rows)))
    assert late[0]["seq"] == 5
    for row in rows:
        assert len(row["cell"]) == 2 and len(row["streams"]) == 32
        reads, read_bytes, writes, write_bytes = struct.unpack("=4Q", row["streams"])
        assert (reads, read_bytes) == (row["cell"][0]["ios"], row["cell"][0]["bytes"])
        assert (writes, write_bytes) == (0, 0)
    for a, b in itertools.pairwise(rows):
        # An interval that a worker slept through has no row.
        assert b["start_ns"] >= a["end_ns"]
        assert (b["start_ns"] - a["end_ns"]) % interval_ns == 0
    beyond = nl.dump(Cmd.INTERVAL_GET, run=run, since=1 << 60).values
    assert beyond == []


@pytest.mark.debug_kernel_at_length
def test_intervals_end_where_they_were_at_the_first_call(nl: Socket, disks: list[str]) -> None:
    """A reader slower than the run must not read for ever."""
    # Short for a reader that takes its time, and long enough for none to be overwritten.
    run = new(nl, disks[0], interval_ns=4 * 10**6)
    nl.ask(Cmd.RUN_START, id=run)
    assert comes_true(lambda: intervals(nl, run) >= 200)
    request = nl.request_bytes(Cmd.INTERVAL_GET, {"run": run}, NLM_F_REQUEST | NLM_F_DUMP)
    answer = Answer()
    with Socket(spek, recv_bytes=4096) as slow:
        before = intervals(nl, run)
        slow.sock.send(request)
        first = intervals(nl, run)
        while not slow.receive(Cmd.INTERVAL_GET, request, answer):
            time.sleep(0.1)
    assert before <= len(answer.messages) <= first


def ops(answer: Answer) -> bytes:
    data = b""
    for values in answer.values:
        assert values["first"] == len(data) // 32
        assert len(values["ops"]) <= 64 * 32
        data += values["ops"]
    return data


@pytest.mark.parametrize("count", [0, 1, 64, 65, 1000])
def test_op_get_gives_as_many_as_wanted(nl: Socket, disks: list[str], count: int) -> None:
    run = new(nl, disks[0])

    data = ops(nl.dump(Cmd.OP_GET, run=run, worker=0, count=count))

    assert len(data) == 32 * count


def test_op_get_is_the_same_every_time_and_for_every_buffer(nl: Socket, disks: list[str]) -> None:
    run = new(nl, disks[0], worker=[{"cpu": 0}, {"cpu": 1}])
    wanted = {"run": run, "count": 5000}

    once = ops(nl.dump(Cmd.OP_GET, worker=0, **wanted))
    with Socket(spek, recv_bytes=4096) as small:
        again = ops(small.dump(Cmd.OP_GET, worker=0, **wanted))
    second = ops(nl.dump(Cmd.OP_GET, worker=1, **wanted))

    assert once == again
    assert once != second
    for _at, addr, size, _rep, number, _asu, _arr, write in struct.iter_unpack("=QQIIHHHH", once):
        assert addr % 4096 == 0 and addr + size <= DISK_MIB * MIB
        assert (size, number, write) == (4096, 0, 0)


def test_a_dump_keeps_its_run_until_it_ends(nl: Socket, disks: list[str]) -> None:
    run = new(nl, disks[0])
    answer = Answer()
    with Socket(spek, recv_bytes=8192) as reader:
        request = reader.request_bytes(
            Cmd.OP_GET, {"run": run, "worker": 0, "count": 20_000}, NLM_F_REQUEST | NLM_F_DUMP
        )
        reader.sock.send(request)
        assert not reader.receive(Cmd.OP_GET, request, answer)

        delete(nl, run)
        while not reader.receive(Cmd.OP_GET, request, answer):
            pass

    assert len(ops(answer)) == 32 * 20_000


def test_a_dump_that_nobody_reads_to_the_end_holds_nothing(nl: Socket, disks: list[str]) -> None:
    """Its socket is closed in the middle; the fixture unloads the module later."""
    run = new(nl, disks[0], interval_ns=10**6)
    nl.ask(Cmd.RUN_START, id=run)
    assert comes_true(lambda: intervals(nl, run) >= 50)
    for cmd, values in (
        (Cmd.OP_GET, {"run": run, "worker": 0, "count": 100_000}),
        (Cmd.STATS_GET, {"run": run}),
        (Cmd.INTERVAL_GET, {"run": run}),
        (Cmd.RUN_GET, {}),
    ):
        with Socket(spek, recv_bytes=4096) as reader:
            request = reader.request_bytes(cmd, values, NLM_F_REQUEST | NLM_F_DUMP)
            reader.sock.send(request)
            assert list(reader.carrier.frames())
    remove(nl, run)
    assert comes_true(lambda: references("spek") == 0)


def test_a_dump_of_runs_says_when_the_set_changed(nl: Socket, null_blk: Callable[..., str]) -> None:
    # eight workers make a run so large that a buffer holds few; two buffers are ahead of the reader
    workers = [{"cpu": 0}] * 8
    runs = [new(nl, null_blk(size_mb=DISK_MIB), worker=workers) for _ in range(12)]
    answer = Answer()
    with Socket(spek, recv_bytes=4096) as reader:
        assert not reader.dump(Cmd.RUN_GET).interrupted

        request = reader.request_bytes(Cmd.RUN_GET, {}, NLM_F_REQUEST | NLM_F_DUMP)
        reader.sock.send(request)
        assert not reader.receive(Cmd.RUN_GET, request, answer)
        delete(nl, runs[-1])
        while not reader.receive(Cmd.RUN_GET, request, answer):
            pass

    assert answer.interrupted
    told = [values["id"] for values in answer.values if values]
    assert told == runs[:-1]
    for run in runs[:-1]:
        delete(nl, run)


# Ownership -----------------------------------------------------------------------


def child_makes(node: str, start: bool, **changes: Any) -> tuple[int, int]:
    """A process that makes a run and waits for its end; returns (pid, run)."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            with Socket(spek) as mine:
                run = new(mine, node, **changes)
                if start:
                    mine.ask(Cmd.RUN_START, id=run)
                os.write(writer, str(run).encode() + b"\n")
                signal.pause()
        finally:
            os._exit(1)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        return child, int(pipe.readline())


@pytest.mark.parametrize("start", [False, True], ids=["ready", "running"])
def test_a_run_dies_with_its_owner(nl: Socket, disks: list[str], start: bool) -> None:
    child, run = child_makes(disks[0], start)
    assert state(nl, run) == (RunState.RUNNING if start else RunState.READY)

    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)

    assert comes_true(lambda: is_gone(nl, run))
    assert comes_true(lambda: is_free(disks[0]))


def test_the_end_of_an_owner_does_not_wait_for_the_device(nl: Socket, disks: list[str]) -> None:
    with held_disk(disks[0]) as (node, answer):
        child, run = child_makes(node, start=True)
        assert comes_true(lambda: outstanding(nl, run) == 4)

        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)

        assert outstanding(nl, run) == 4
        answer()
        assert comes_true(lambda: is_gone(nl, run))


def outstanding(nl: Socket, run: int) -> int:
    """I/Os that are under way."""
    return int(nl.ask(Cmd.RUN_GET, id=run).values[0]["outstanding"])


def test_a_detached_run_outlives_its_owner(nl: Socket, disks: list[str]) -> None:
    child, run = child_makes(disks[0], start=True, detached=1)

    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    time.sleep(0.5)

    assert state(nl, run) == RunState.RUNNING


def test_the_end_of_another_socket_ends_nothing(nl: Socket, disks: list[str]) -> None:
    run = new(nl, disks[0])
    with Socket(spek) as link:
        link.ask(Cmd.RUN_START, id=run)
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as route:
        # the same port number, of another protocol
        route.bind((nl.sock.getsockname()[0], 0))
    time.sleep(0.3)

    assert state(nl, run) == RunState.RUNNING


def test_closing_the_socket_is_enough(nl: Socket, disks: list[str]) -> None:
    with Socket(spek) as owner:
        run = new(owner, disks[0])
        owner.ask(Cmd.RUN_START, id=run)
        assert state(nl, run) == RunState.RUNNING

    assert comes_true(lambda: is_gone(nl, run))


# Stop, news ----------------------------------------------------------------------


def test_stop_does_not_wait_for_the_device(nl: Socket, disks: list[str]) -> None:
    with held_disk(disks[0]) as (node, answer):
        run = new(nl, node)
        nl.ask(Cmd.RUN_START, id=run)
        assert comes_true(lambda: outstanding(nl, run) == 4)

        nl.ask(Cmd.RUN_STOP, id=run)

        # Accepted is not ended.
        assert state(nl, run) in (RunState.RUNNING, RunState.DRAINING)
        nl.ask(Cmd.RUN_STOP, id=run)  # a second one is harmless
        assert refused(lambda: nl.ask(Cmd.RUN_DEL, id=run)).errno == errno.EBUSY
        answer()
        assert comes_true(lambda: state(nl, run) == RunState.DONE)
    (info,) = nl.ask(Cmd.RUN_GET, id=run).values
    assert info["reason"] == Reason.STOPPED and info["outstanding"] == 0


def news_of(listener: Socket, run: int) -> list[dict[str, Any]]:
    """Notifications of a run until it is DONE."""
    told: list[dict[str, Any]] = []
    while not told or told[-1]["state"] != RunState.DONE:
        message = listener.notification()
        assert (message.cmd, message.seq) == (Cmd.RUN_NTF, 0)
        if message.values["id"] == run:
            told.append(message.values)
    return told


def test_news_tell_every_change_of_state(nl: Socket, disks: list[str]) -> None:
    with Socket(spek) as listener:
        listener.join(spek.GROUP_RUNS)
        run = new(nl, disks[0], time_ns=None, count=1000)
        nl.ask(Cmd.RUN_START, id=run)
        told = news_of(listener, run)

    states = [values["state"] for values in told]
    assert states in SEQUENCES
    assert told[-1]["reason"] == Reason.COMPLETED
    (info,) = nl.ask(Cmd.RUN_GET, id=run).values
    assert set(told[-1]) == set(info)


def read_directly(node: str) -> None:
    with (
        open(
            node, "rb", buffering=0, opener=lambda path, flags: os.open(path, flags | os.O_DIRECT)
        ) as disk,
        mmap.mmap(-1, 4096) as block,
    ):
        disk.readinto(block)


def is_asleep(tid: int) -> bool:
    """The thread waits in the kernel, and no signal would wake it."""
    stat = Path(f"/proc/self/task/{tid}/stat").read_text()
    return stat.rpartition(")")[2].split()[0] == "D"


@pytest.mark.debug_kernel_at_length
def test_nobody_waits_for_a_run_that_is_being_made(nl: Socket, disks: list[str]) -> None:
    """A frozen queue delays the opening for a second, but no request."""
    ready = new(nl, disks[0])
    tids: queue.SimpleQueue[int] = queue.SimpleQueue()

    def freeze(node: str) -> None:
        tids.put(threading.get_native_id())
        (sysfs(node) / "queue/nr_requests").write_text("4")

    with (
        null_disk(DISK_MIB, irqmode=2, completion_nsec=5 * SECOND) as node,
        ThreadPoolExecutor(2) as threads,
    ):
        reading = threads.submit(read_directly, node)
        assert comes_true(lambda: (sysfs(node) / "inflight").read_text().split() != ["0", "0"])
        freezing = threads.submit(freeze, node)
        tid = tids.get()
        assert comes_true(lambda: is_asleep(tid))
        run = int(nl.ask(Cmd.RUN_NEW, **config(node)).values[0]["id"])
        assert state(nl, run) == RunState.OPENING
        assert state(nl, ready) == RunState.READY
        assert comes_true(lambda: state(nl, run) == RunState.FAILED)
        failed = nl.ask(Cmd.RUN_GET, id=run).values[0]
        assert "being removed or reconfigured" in failed["failure"]
        assert failed["failure_errno"] == errno.EBUSY
        reading.result()
        freezing.result()


# A run that ends by itself may be over before anybody looks whether it drains.
SEQUENCES = [
    [RunState.READY, RunState.RUNNING, RunState.DONE],
    [RunState.READY, RunState.RUNNING, RunState.DRAINING, RunState.DONE],
]


@pytest.mark.debug_kernel_at_length
def test_news_of_runs_that_end_at_once_come_in_order(nl: Socket, disks: list[str]) -> None:
    """The end comes while the start is being told."""
    with Socket(spek) as listener:
        listener.join(spek.GROUP_RUNS)
        for _ in range(100):
            run = new(nl, disks[0], time_ns=None, count=1, worker=[{"cpu": 1}])
            nl.ask(Cmd.RUN_START, id=run)
            assert [values["state"] for values in news_of(listener, run)] in SEQUENCES
            delete(nl, run)


def test_without_a_listener_nothing_is_lost(nl: Socket, disks: list[str]) -> None:
    run = new(nl, disks[0], time_ns=None, count=10)
    nl.ask(Cmd.RUN_START, id=run)

    assert comes_true(lambda: state(nl, run) == RunState.DONE)
