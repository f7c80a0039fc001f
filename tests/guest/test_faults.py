# SPDX-License-Identifier: GPL-2.0
"""What goes wrong while a run runs: limits, absurd numbers, dying owners.

What can be played again and again is in test_fault_scenarios.py.

Each test guards something that was once wrong or could have been. The kernel's messages count
as part of every outcome (lib/harness/inside.py), so "nothing bad is logged" needs no assertion.
"""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
import random
import signal
import struct
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from lib.guest import cpus
from lib.guest.disks import mapped_disk
from lib.guest.netlink import delete, make
from lib.guest.netlink_raw import Refusal, Socket
from lib.harness.kernels import repeated
from lib.waiting import comes_true

from spekctl.kernel.gen import spek
from spekctl.kernel.gen.spek import Cmd, Data, Direction, Law, Pattern, Phase, Reason, RunState
from spekctl.vm import guest_side

pytestmark = pytest.mark.debug_kernel_at_length

MIB = 1 << 20
MS = 10**6
SECOND = 10**9
FOREVER = 3600 * SECOND
BLOCK = 4096
TWO_WORKERS = [{"cpu": 0}, {"cpu": 1}]


@pytest.fixture
def nl(spek_module: Path) -> Iterator[Socket]:
    """A socket; runs that the test leaves are ended with it."""
    with Socket(spek) as link:
        yield link
        for run in link.dump(Cmd.RUN_GET).values:
            with contextlib.suppress(Refusal):
                end(link, run["id"])
                delete(link, run["id"])


def bytes_of(node: str) -> int:
    return int(Path("/sys/class/block", Path(node).name, "size").read_text()) * 512


def config(*nodes: str, **changes: Any) -> dict[str, Any]:
    """Random reads on the first of @nodes; a change to None leaves the attribute out."""
    numbers = [os.stat(node).st_rdev for node in nodes]
    size = bytes_of(nodes[0])
    values = {
        "name": "faults",
        "seed": 1,
        "write": 1,
        "max_outstanding": 16,
        "time_ns": SECOND // 2,
        "worker": [{"cpu": 0}],
        "target": [{"major": os.major(dev), "minor": os.minor(dev)} for dev in numbers],
        "asu": [{"bytes": size, "extent": [{"target": 0, "start": 0}]}],
        "arrival": [{"law": int(Law.CLOSED), "depth": 8}],
        "stream": [stream(size)],
        **changes,
    }
    return {key: value for key, value in values.items() if value is not None}


def stream(range_bytes: int, **changes: Any) -> dict[str, Any]:
    return {
        "asu": 0,
        "arrival": 0,
        "read_ppm": 1_000_000,
        "pattern": int(Pattern.UNIFORM),
        "range_bytes": range_bytes,
        "align_bytes": BLOCK,
        "size": [{"bytes": BLOCK, "weight": 1}],
        **changes,
    }


def new(nl: Socket, values: dict[str, Any]) -> int:
    return make(nl, values)


def start(nl: Socket, values: dict[str, Any]) -> int:
    run = new(nl, values)
    nl.ask(Cmd.RUN_START, id=run)
    return run


def get(nl: Socket, run: int) -> dict[str, Any]:
    return nl.ask(Cmd.RUN_GET, id=run).values[0]


def is_done(nl: Socket, run: int) -> bool:
    return bool(get(nl, run)["state"] == RunState.DONE)


def has_intervals(nl: Socket, run: int) -> bool:
    return bool(get(nl, run)["intervals"] > 0)


def end(nl: Socket, run: int) -> None:
    nl.ask(Cmd.RUN_STOP, id=run)
    assert comes_true(lambda: is_done(nl, run)), get(nl, run)


def totals(nl: Socket, run: int) -> dict[tuple[Phase, Direction], tuple[int, int]]:
    """I/Os and errors by phase and direction, over all streams."""
    sums: dict[tuple[Phase, Direction], tuple[int, int]] = {}
    for values in nl.dump(Cmd.STATS_GET, run=run).values:
        if "ios" in values:
            key = Phase(values["phase"]), Direction(values["direction"])
            ios, errors = sums.get(key, (0, 0))
            sums[key] = ios + values["ios"], errors + values["errors"]
    return sums


def io_counts(node: str) -> tuple[int, int]:
    """Reads and writes that the disk has counted."""
    fields = Path("/sys/class/block", Path(node).name, "stat").read_text().split()
    return int(fields[0]), int(fields[4])


def null_blk_item(node: str) -> Path:
    """Configfs directory of a null_blk disk."""
    number = Path(node).name.removeprefix("nullb")
    for item in guest_side.CONFIGFS.glob("nullb*"):
        if item.name == Path(node).name or (item / "index").read_text().strip() == number:
            return item
    raise AssertionError(f"{node} is no null_blk disk")


# Requests that a device cannot take ----------------------------------------------


@pytest.fixture
def mapped() -> Iterator[Callable[[str, str], str]]:
    """mapped(name, table) makes a device-mapper disk and gives its device node."""
    with contextlib.ExitStack() as stack:
        yield lambda name, table: stack.enter_context(mapped_disk(name, table))


def test_polling_through_device_mapper_is_refused(
    nl: Socket, null_blk: Callable[..., str], mapped: Callable[[str, str], str]
) -> None:
    node = null_blk(size_mb=64, submit_queues=1, poll_queues=1)
    top = mapped("spek-poll", f"0 {bytes_of(node) // 512} linear {node} 0")

    with pytest.raises(Refusal) as caught:
        new(nl, config(top, polled=1))

    assert caught.value.errno == errno.EOPNOTSUPP
    assert "is bio-based" in caught.value.text
    end(nl, start(nl, config(top)))


@pytest.mark.debug_kernel
def test_errors_are_counted_and_can_end_the_run(
    nl: Socket, mapped: Callable[[str, str], str]
) -> None:
    node = mapped("spek-error", f"0 {16 * MIB // 512} error")

    run = start(nl, config(node, time_ns=FOREVER, max_errors=100))

    assert comes_true(lambda: is_done(nl, run))
    info = get(nl, run)
    assert info["reason"] == Reason.ERRORS
    assert info["first_error"].startswith("read of 4096 bytes at byte ")
    # what was outstanding when the hundredth came back may have failed as well
    errors = sum(errors for _ios, errors in totals(nl, run).values())
    assert 100 <= errors == info["errors"] < 100 + 16


# Counts and shares ----------------------------------------------------------------


@pytest.mark.parametrize("ramp", [0, 1, 60])
def test_a_count_is_shared_by_the_workers_that_have_work(
    nl: Socket, null_blk: Callable[..., str], ramp: int
) -> None:
    # One I/O at a time for two workers: the second has nothing to do, ever.
    one_deep = [{"law": int(Law.CLOSED), "depth": 1}]
    node = null_blk(size_mb=64)
    values = config(
        node, time_ns=None, count=101, ramp_count=ramp, worker=TWO_WORKERS, arrival=one_deep
    )

    run = start(nl, values)

    assert comes_true(lambda: is_done(nl, run)), get(nl, run)
    assert totals(nl, run)[Phase.MEASURE, Direction.READ] == (101, 0)


@pytest.mark.parametrize("worker", [TWO_WORKERS[:1], TWO_WORKERS])
def test_a_run_ends_by_time_or_by_count(
    nl: Socket, null_blk: Callable[..., str], worker: list[dict[str, Any]]
) -> None:
    """Whichever comes first; where they come together, all workers take one of the two."""
    node = null_blk(size_mb=64)
    paced = [{"law": int(Law.CLOSED), "depth": 4, "think_ns": MS}]

    def length_and_ios(time_ns: int, count: int) -> tuple[int, int]:
        values = config(node, time_ns=time_ns, count=count, worker=worker, arrival=paced)
        run = start(nl, values)
        assert comes_true(lambda: is_done(nl, run)), get(nl, run)
        view = get(nl, run)
        assert view["reason"] == Reason.COMPLETED and (view["time_ns"], view["count"]) == (
            time_ns,
            count,
        )
        ios, errors = totals(nl, run)[Phase.MEASURE, Direction.READ]
        assert not errors
        nl.ask(Cmd.RUN_DEL, id=run)
        return view["drain_ns"] - view["measure_ns"], ios

    length_ns, ios = length_and_ios(SECOND // 5, 1 << 40)
    assert length_ns == SECOND // 5 and ios
    length_ns, ios = length_and_ios(FOREVER, 101)
    assert ios == 101
    # The loops take about this time for this count, so either may be first.
    for count in range(40, 80):
        length_ns, ios = length_and_ios(16 * MS, count)
        assert ios <= count and length_ns <= 16 * MS
        assert ios == count or length_ns == 16 * MS, (ios, count, length_ns)


@pytest.mark.debug_kernel
def test_a_count_is_shared_by_load(nl: Socket, null_blk: Callable[..., str]) -> None:
    """A walk lives on one worker: the other one has 5 % of the load, half of the uniform stream.

    Were each to make half of the count, the run would take ten times as long and consist of uniform
    I/Os for the most part.
    """
    node = null_blk(size_mb=64)
    size = bytes_of(node)
    values = config(
        node,
        time_ns=None,
        ramp_count=100,
        count=1000,
        worker=TWO_WORKERS,
        max_outstanding=64,
        arrival=[{"law": int(Law.POISSON), "rate_milli": 1_000_000}],
        stream=[stream(size, pattern=int(Pattern.WALK), weight=9), stream(size, weight=1)],
    )

    run = start(nl, values)

    assert comes_true(lambda: is_done(nl, run)), get(nl, run)
    ios = [0, 0]
    for answer in nl.dump(Cmd.STATS_GET, run=run).values:
        if "ios" in answer and answer["phase"] == Phase.MEASURE:
            ios[answer["stream"]] += answer["ios"]
    assert sum(ios) == 1000
    assert 50 < ios[1] < 150


@pytest.mark.parametrize("counts", [{"count": 10_000}, {"ramp_count": 10_000, "count": 10}])
def test_a_count_beyond_the_end_of_a_rate_curve_ends_with_the_curve(
    nl: Socket, null_blk: Callable[..., str], counts: dict[str, int]
) -> None:
    curve = [(0, 1_000_000), (SECOND // 5, 1_000_000), (SECOND // 5, 0)]  # 200 I/Os
    points = b"".join(struct.pack("=2Q", *point) for point in curve)
    constant = [{"law": int(Law.CONSTANT), "point": points}]
    values = config(null_blk(size_mb=64), time_ns=None, worker=TWO_WORKERS, arrival=constant)

    run = start(nl, values | counts)

    assert comes_true(lambda: is_done(nl, run)), get(nl, run)
    assert get(nl, run)["reason"] == Reason.COMPLETED
    assert io_counts_of_run(nl, run) == 200


def test_a_worker_without_work_does_not_begin_to_measure(
    nl: Socket, null_blk: Callable[..., str]
) -> None:
    """After a ramp-up by count, of which it has no share, it begins with the others."""
    one_deep = [{"law": int(Law.CLOSED), "depth": 1, "think_ns": 10 * MS}]
    node = null_blk(size_mb=64)
    values = config(node, ramp_count=50, worker=TWO_WORKERS, arrival=one_deep, interval_ns=50 * MS)

    run = start(nl, values)

    assert comes_true(lambda: is_done(nl, run)), get(nl, run)
    info = get(nl, run)
    assert info["measure_ns"] - info["started_ns"] >= 49 * 10 * MS
    assert info["drain_ns"] - info["measure_ns"] == SECOND // 2
    rows = nl.dump(Cmd.INTERVAL_GET, run=run).values
    for before, after in itertools.pairwise(rows):
        assert before["phase"] <= after["phase"]
        assert before["end_ns"] <= after["start_ns"], (before, after)


def test_outstanding_ios_go_where_the_depth_is(nl: Socket, null_blk: Callable[..., str]) -> None:
    two_loops = [{"law": int(Law.CLOSED), "depth": 1}] * 2
    node = null_blk(size_mb=64, irqmode=2, completion_nsec=SECOND)
    size = bytes_of(node)
    values = config(
        node,
        time_ns=FOREVER,
        max_outstanding=2,
        worker=TWO_WORKERS,
        arrival=two_loops,
        stream=[stream(size, arrival=0), stream(size, arrival=1)],
    )

    run = start(nl, values)

    assert comes_true(lambda: get(nl, run)["outstanding"] == 2), get(nl, run)
    end(nl, run)


def test_the_largest_counts_do_not_overflow(nl: Socket, null_blk: Callable[..., str]) -> None:
    most = (1 << 64) - 1
    run = start(nl, config(null_blk(size_mb=64), time_ns=None, count=most, ramp_count=most))

    assert comes_true(lambda: io_counts_of_run(nl, run) > 1000), get(nl, run)
    end(nl, run)


def io_counts_of_run(nl: Socket, run: int) -> int:
    return int(sum(target["reads"] for target in get(nl, run)["target"]))


# Numbers that are too large --------------------------------------------------------


@pytest.mark.parametrize("law", [Law.POISSON, Law.CONSTANT], ids=lambda law: law.name.lower())
def test_a_rate_beyond_any_device_can_be_stopped(
    nl: Socket, null_blk: Callable[..., str], law: Law
) -> None:
    rate = [{"law": int(law), "rate_milli": 10**12}]
    values = config(null_blk(size_mb=64), arrival=rate, time_ns=FOREVER, interval_ns=100 * MS)
    run = start(nl, values)
    time.sleep(2)

    end(nl, run)

    info = get(nl, run)
    # One I/O each nanosecond, for as long as the worker took them; hardly any was issued.
    arrived = info["drain_ns"] - info["started_ns"]
    assert info["backlog"] == pytest.approx(arrived, rel=0.005)


def test_a_run_that_does_not_fit_in_memory_is_refused(
    nl: Socket, null_blk: Callable[..., str]
) -> None:
    node = null_blk(size_mb=64)
    large = [stream(64 * MIB, size=[{"bytes": MIB // 2, "weight": 1}])]

    with pytest.raises(Refusal) as caught:
        new(nl, config(node, max_outstanding=65536, stream=large))

    assert caught.value.errno == errno.ENOMEM
    assert "not enough memory" in caught.value.text
    end(nl, start(nl, config(node)))


def test_an_operation_may_have_tens_of_thousands_of_parts(
    nl: Socket, null_blk: Callable[..., str]
) -> None:
    nodes = [null_blk(size_mb=64) for _ in range(2)]
    extents = [{"target": 0, "start": 0}, {"target": 1, "start": 0}]
    before = [io_counts(node)[0] for node in nodes]
    values = config(
        *nodes,
        time_ns=None,
        count=2,
        max_outstanding=1,
        arrival=[{"law": int(Law.CLOSED), "depth": 1}],
        asu=[{"bytes": 128 * MIB, "stripe_bytes": 512, "extent": extents}],
        stream=[stream(128 * MIB, size=[{"bytes": 16 * MIB, "weight": 1}])],
    )

    run = start(nl, values)

    assert comes_true(lambda: is_done(nl, run)), get(nl, run)
    assert totals(nl, run)[Phase.MEASURE, Direction.READ] == (2, 0)
    sent = [io_counts(node)[0] - was for node, was in zip(nodes, before, strict=True)]
    assert sent == [2 * 16 * MIB // 512 // 2] * 2


def test_a_long_interval_does_not_hide_the_totals(nl: Socket, null_blk: Callable[..., str]) -> None:
    # Workers count in 32 bits, so they hand over every ten seconds at the latest.
    run = start(nl, config(null_blk(size_mb=64), time_ns=FOREVER, interval_ns=FOREVER))

    assert comes_true(lambda: bool(totals(nl, run)))

    assert get(nl, run)["intervals"] == 0
    end(nl, run)
    (row,) = [row for row in nl.dump(Cmd.INTERVAL_GET, run=run).values if row["phase"] == 1]
    assert row["cell"][0]["ios"] == totals(nl, run)[Phase.MEASURE, Direction.READ][0]
    assert row["outstanding"] <= 8


@contextlib.contextmanager
def held(cpus: set[int], on_s: float, off_s: float = 0.0, times: int = 1) -> Iterator[None]:
    """Let nothing else run on CPUs for a while, @times times; it has ended at the end."""
    children = []
    for cpu in cpus:
        child = os.fork()
        if not child:
            hold_cpu(cpu, on_s, off_s, times)
            os._exit(0)
        children.append(child)
    try:
        yield
    finally:
        for child in children:
            os.waitpid(child, 0)


def hold_cpu(cpu: int, on_s: float, off_s: float, times: int) -> None:
    os.sched_setaffinity(0, {cpu})
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50))
    for _ in range(times):
        until = time.monotonic() + on_s
        while time.monotonic() < until:
            pass
        time.sleep(off_s)


no_throttling = pytest.fixture(cpus.no_throttling)


def rows_of(nl: Socket, run: int) -> list[dict[str, Any]]:
    """Its rows by time; they add up to the totals exactly."""
    rows: list[dict[str, Any]] = sorted(
        nl.dump(Cmd.INTERVAL_GET, run=run).values, key=lambda row: (row["start_ns"], row["end_ns"])
    )
    assert rows[-1]["dropped"] == 0, "rows were overwritten"
    sums: dict[tuple[Phase, Direction], tuple[int, int]] = {}
    for row in rows:
        for cell in row["cell"]:
            key = Phase(row["phase"]), Direction(cell["direction"])
            ios, errors = sums.get(key, (0, 0))
            sums[key] = ios + cell["ios"], errors + cell["errors"]
    assert {key: counts for key, counts in sums.items() if any(counts)} == totals(nl, run)
    return rows


def partial_rows(nl: Socket, run: int) -> list[dict[str, Any]]:
    """Rows that closed without a worker."""
    rows = nl.dump(Cmd.INTERVAL_GET, run=run).values
    return [row for row in rows if row["coverage_ppm"] < 1_000_000]


def another_row_is_partial(nl: Socket, run: int) -> bool:
    known = len(partial_rows(nl, run))
    return comes_true(lambda: len(partial_rows(nl, run)) > known)


@pytest.mark.debug_kernel
@pytest.mark.usefixtures("no_throttling")
def test_a_worker_that_was_held_up_does_not_spoil_the_rows_of_others(
    nl: Socket, null_blk: Callable[..., str]
) -> None:
    """More rows end meanwhile than are kept open: these close without it and say so."""
    node = null_blk(size_mb=64, irqmode=2, completion_nsec=10 * MS)
    # Long rows: each look reads all of them, and none may be overwritten meanwhile.
    values = config(node, time_ns=FOREVER, interval_ns=100 * MS, worker=TWO_WORKERS)
    run = start(nl, values)
    assert comes_true(lambda: get(nl, run)["intervals"] > 0)

    for _ in range(3):
        with cpus.second_cpu_held():
            assert another_row_is_partial(nl, run)

    end(nl, run)
    measured = [row for row in rows_of(nl, run) if row["phase"] == Phase.MEASURE]
    partial = [row for row in measured if row["coverage_ppm"] < 1_000_000]
    assert min(row["coverage_ppm"] for row in partial) == 500_000
    assert max(row["outstanding"] for row in measured) <= 8
    for row in measured:
        # Each of two workers has four I/Os in flight, which take 10 ms.
        most = 8 * ((row["end_ns"] - row["start_ns"]) / (10 * MS) + 1)
        assert row["cell"][0]["ios"] <= most, row
    whole = [row for row in measured if row not in partial]
    for before, after in itertools.pairwise(whole):
        assert before["end_ns"] <= after["start_ns"], (before, after)


def test_rows_of_a_busy_machine_count_what_fits_into_them(
    nl: Socket, null_blk: Callable[..., str]
) -> None:
    """Worker and collector get a CPU now and then: rows are late, and as long as they say."""
    service_ns, depth = 4 * MS, 4
    node = null_blk(size_mb=64, irqmode=2, completion_nsec=service_ns)
    values = config(
        node,
        time_ns=FOREVER,
        count=400,
        interval_ns=MS,
        max_outstanding=depth,
        arrival=[{"law": int(Law.CLOSED), "depth": depth}],
    )
    run = start(nl, values)

    with held({0, 1}, 0.03, 0.003, times=50):
        pass

    assert comes_true(lambda: is_done(nl, run)), get(nl, run)
    rows = rows_of(nl, run)
    assert sum(row["cell"][0]["ios"] for row in rows) == 400
    for row in rows:
        length_ns = row["end_ns"] - row["start_ns"]
        assert row["cell"][0]["ios"] <= depth * (length_ns / service_ns + 1), row
        assert row["coverage_ppm"] == 1_000_000
        assert row["outstanding"] <= depth
    for before, after in itertools.pairwise(rows):
        assert before["end_ns"] <= after["start_ns"], (before, after)


def test_cpu_time_is_left_out_of_rows_that_are_too_short_for_it(
    nl: Socket, null_blk: Callable[..., str]
) -> None:
    """The scheduler accounts for it at ticks, of which there are 250 a second."""
    for interval_ns, is_known in ((20 * MS, False), (200 * MS, True)):
        run = start(nl, config(null_blk(size_mb=64), interval_ns=interval_ns))

        assert comes_true(partial(is_done, nl, run)), get(nl, run)

        rows = rows_of(nl, run)
        full = [row for row in rows if row["end_ns"] - row["start_ns"] == interval_ns]
        assert full
        assert all(("cpu_ns" in row) is is_known for row in full)
        assert all("switches" in row for row in rows)


def test_a_ramp_up_by_count_ends_for_all_workers_at_one_time(
    nl: Socket, null_blk: Callable[..., str], no_throttling: None
) -> None:
    """One of them is held up for seconds: the other one continues in the ramp-up."""
    node = null_blk(size_mb=64, irqmode=2, completion_nsec=5 * MS)
    values = config(node, ramp_count=400, interval_ns=100 * MS, time_ns=SECOND, worker=TWO_WORKERS)
    run = new(nl, values)
    # From before the start, however long that takes to come about here.
    nl.ask(Cmd.RUN_START, id=run, start_ns=time.monotonic_ns() + 5 * SECOND)
    with held({1}, 10):
        pass
    assert comes_true(lambda: is_done(nl, run)), get(nl, run)

    info = get(nl, run)
    rows = rows_of(nl, run)
    assert info["measure_ns"] - info["started_ns"] >= 4 * SECOND
    assert info["drain_ns"] - info["measure_ns"] == SECOND
    for before, after in itertools.pairwise(rows):
        assert before["phase"] <= after["phase"], (before, after)
    for row in rows:
        if row["phase"] == Phase.MEASURE:
            assert info["measure_ns"] <= row["start_ns"] < row["end_ns"] <= info["drain_ns"]
    measured = [row for row in rows if row["phase"] == Phase.MEASURE]
    assert sum(row["end_ns"] - row["start_ns"] for row in measured) <= SECOND
    # The other worker went on for all of the time, beyond its share of the ramp-up.
    ramp = [row for row in rows if row["phase"] == Phase.RAMP and row["cell"][0]["ios"]]
    assert sum(row["cell"][0]["ios"] for row in ramp) > 400
    quarter_ns = (info["measure_ns"] - info["started_ns"]) // 4
    assert {(row["start_ns"] - info["started_ns"]) // quarter_ns for row in ramp} >= {0, 1, 2, 3}


@pytest.mark.debug_kernel
def test_a_polling_worker_never_sleeps_for_its_rows(
    nl: Socket, null_blk: Callable[..., str]
) -> None:
    """It polls from the first I/O to the last, whatever the collector does."""
    node = null_blk(size_mb=64, submit_queues=2, poll_queues=1)
    # However long the first look takes beside it, one of these is longer.
    for ramp_ns in (SECOND // 2, 5 * SECOND, 50 * SECOND):
        values = config(node, polled=1, ramp_ns=ramp_ns, time_ns=FOREVER, interval_ns=MS)
        run = start(nl, values)
        assert comes_true(partial(has_intervals, nl, run))
        before = get(nl, run)
        if before["phase"] == Phase.RAMP:
            break
        end(nl, run)
        delete(nl, run)
    else:
        pytest.fail("each ramp-up is over at the first look")
    assert before["target"][0]["polled"]

    assert comes_true(lambda: get(nl, run)["phase"] == Phase.MEASURE)
    assert comes_true(lambda: get(nl, run)["intervals"] > before["intervals"] + 50)
    after = get(nl, run)

    assert after["state"] == RunState.RUNNING
    assert after["worker"][0]["voluntary"] == before["worker"][0]["voluntary"]
    end(nl, run)


# What is written --------------------------------------------------------------------


def test_what_is_written_is_not_what_was_read(nl: Socket, null_blk: Callable[..., str]) -> None:
    node = null_blk(size_mb=4, memory_backed=1)
    half = [stream(4 * MIB, read_ppm=500_000)]

    run = start(nl, config(node, stream=half, data=int(Data.RANDOM), time_ns=None, count=2000))

    assert comes_true(lambda: is_done(nl, run))
    delete(nl, run)
    blocks = Path(node).read_bytes()
    zero = sum(not any(blocks[at : at + BLOCK]) for at in range(0, len(blocks), BLOCK))
    # a thousand writes on a thousand blocks of zeroes: 1/e of them are missed
    assert 0.25 < zero / (len(blocks) // BLOCK) < 0.5


# Other devices' modules ---------------------------------------------------------------


def test_a_missing_device_does_not_make_the_kernel_load_its_driver(
    nl: Socket, null_blk: Callable[..., str]
) -> None:
    # The driver of DRBD registers a netlink family, for which it would have to wait for us.
    drbd_major = 147
    with pytest.raises(Refusal) as caught:
        new(nl, config(null_blk(size_mb=64), target=[{"major": drbd_major, "minor": 0}]))

    assert caught.value.errno == errno.ENXIO
    assert not Path("/sys/module/drbd").exists()


# The machine around it ------------------------------------------------------------------


def test_workers_are_named_after_their_run(nl: Socket, null_blk: Callable[..., str]) -> None:
    run = new(nl, config(null_blk(size_mb=64), worker=TWO_WORKERS))

    names = {Path("/proc", str(w["pid"]), "comm").read_text() for w in get(nl, run)["worker"]}

    assert names == {f"spek/{run}/0\n", f"spek/{run}/1\n"}


@pytest.mark.debug_kernel
def test_owners_that_are_killed_leave_nothing_behind(
    nl: Socket, null_blk: Callable[..., str]
) -> None:
    nodes = [null_blk(size_mb=64, irqmode=mode, completion_nsec=MS) for mode in (0, 1, 2)]
    chance = random.Random(1)
    for _ in range(repeated(12, 30)):
        child = os.fork()
        if child == 0:
            with contextlib.suppress(BaseException), Socket(spek) as mine:
                for node in chance.sample(nodes, 2):
                    start(mine, config(node, time_ns=FOREVER, worker=TWO_WORKERS))
                new(mine, config(nodes[0], worker=TWO_WORKERS))
                time.sleep(60)
            os._exit(0)
        time.sleep(chance.random() * 0.3)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        chance.random()

    assert comes_true(lambda: not nl.dump(Cmd.RUN_GET).messages), nl.dump(Cmd.RUN_GET).values
    for node in nodes:
        end(nl, start(nl, config(node)))


def test_runs_come_and_go_while_others_look(nl: Socket, null_blk: Callable[..., str]) -> None:
    node = null_blk(size_mb=64)
    finished = threading.Event()
    troubles: list[str] = []

    def look() -> None:
        with Socket(spek) as link:
            while not finished.is_set():
                for values in link.dump(Cmd.RUN_GET).values:
                    try:
                        link.dump(Cmd.STATS_GET, run=values["id"])
                        link.dump(Cmd.INTERVAL_GET, run=values["id"])
                        link.dump(Cmd.OP_GET, run=values["id"], worker=0, count=200)
                    except Refusal as no:
                        if no.errno != errno.ENOENT:
                            troubles.append(str(no))

    lookers = [threading.Thread(target=look) for _ in range(2)]
    for looker in lookers:
        looker.start()
    try:
        for i in range(40):
            run = new(nl, config(node, time_ns=20 * MS, interval_ns=MS))
            if i % 4:
                nl.ask(Cmd.RUN_START, id=run)
            if i % 4 == 1:
                assert comes_true(partial(is_done, nl, run))
            elif i % 4 > 1:
                end(nl, run)
            delete(nl, run)
    finally:
        finished.set()
        for looker in lookers:
            looker.join()
    assert not troubles
