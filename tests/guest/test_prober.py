# SPDX-License-Identifier: GPL-2.0
"""spek_prober.ko, judged by what the kernel says elsewhere: /proc/stat, interrupts, PID.

Counters of the prober start where the kernel's own do (but for context switches), so a value can
be bracketed: what /proc said before the row <= the row <= what /proc said after it. That holds
whatever else the machine does meanwhile, and leaves no room for a tolerance but the unit in which
/proc counts.

Noise: a row is late by what waking a thread takes. That is some 10 us on idle hardware and up to
several ms in an emulated guest on a busy host, where vCPUs wait for the host. Nothing here depends
on it: a row may be late by less than one interval, or it is another tick's row, by construction.
"""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from lib.guest.prober import (
    CPU1,
    MS,
    SECOND,
    TICK_NS,
    connected,
    fresh_module,
    in_child,
    reap,
    running,
    two_cpus,
    wait_rows,
)
from lib.waiting import eventually

from spekctl.kernel.gen import spek_prober as uapi
from spekctl.kernel.gen.spek_prober_records import ProbeState, Reason
from spekctl.kernel.prober import CpuAndSwitches, Prober, Row

module = pytest.fixture(autouse=True)(fresh_module)
prober = pytest.fixture(connected)


# ---- what the kernel says elsewhere ----


def proc_stat() -> dict[str, list[int]]:
    lines = (line.split() for line in Path("/proc/stat").read_text().splitlines())
    return {words[0]: [int(word) for word in words[1:]] for words in lines}


VECTORS = (
    "NMI",
    "LOC",
    "SPU",
    "PMI",
    "IWI",
    "RTR",
    "RES",
    "CAL",
    "TRM",
    "THR",
    "HYP",
    "HRE",
    "HVS",
)
UNREADABLE = ("MCE", "MCP", "ERR")


def proc_interrupts(names: tuple[str, ...]) -> int:
    """Sum of the named lines of /proc/interrupts."""
    total = 0
    for line in Path("/proc/interrupts").read_text().splitlines()[1:]:
        name, *words = line.split()
        if name.rstrip(":") in names:
            total += sum(int(word) for word in itertools.takewhile(str.isdigit, words))
    return total


def proc_times(words: list[int]) -> list[int]:
    """user nice system idle iowait irq softirq steal guest guest_nice, in ns."""
    return [value * TICK_NS for value in words[:10]]


def cell_times(cells: CpuAndSwitches) -> list[int]:
    values = [
        cells.user_ns,
        cells.nice_ns,
        cells.system_ns,
        cells.idle_ns,
        cells.iowait_ns,
        cells.irq_ns,
        cells.softirq_ns,
        cells.steal_ns,
        cells.guest_ns,
        cells.guest_nice_ns,
    ]
    assert None not in values
    return [value for value in values if value is not None]


def context_switches(pid: int) -> tuple[int, int]:
    status = Path(f"/proc/{pid}/status").read_text()
    fields = dict(line.split(":", 1) for line in status.splitlines())
    return int(fields["voluntary_ctxt_switches"]), int(fields["nonvoluntary_ctxt_switches"])


def first_row_bracketed(prober: Prober, read: Callable[[], Any]) -> tuple[Any, Row, Any]:
    """What read() said before the first row, the row, and what it said after."""
    before = read()
    probe = prober.start(SECOND)
    wait_rows(prober, 1)
    after = read()
    rows, _ = prober.rows(probe)
    return before, rows[0], after


# ---- values ----


def test_cpu_times_agree_with_proc_stat(prober: Prober) -> None:
    before, row, after = first_row_bracketed(prober, proc_stat)

    for name, cells in [("cpu", row.total)] + [(f"cpu{n}", c) for n, c in row.cpus.items()]:
        low, high = proc_times(before[name]), proc_times(after[name])
        # /proc rounds down to its tick, and iowait moves between columns while a task waits
        for column, value in enumerate(cell_times(cells)):
            assert low[column] <= value < high[column] + TICK_NS, (name, column)
    assert sorted(row.cpus) == sorted(int(name[3:]) for name in after if name[3:].isdigit())


def test_interrupts_agree_with_proc_stat(prober: Prober) -> None:
    # machine checks and errors are in /proc/stat's sum, and modules can't read them
    def read() -> tuple[int, int]:
        return (
            proc_stat()["intr"][0] - proc_interrupts(UNREADABLE),
            proc_interrupts(VECTORS),
        )

    before, row, after = first_row_bracketed(prober, read)

    total, device = row.total.interrupts, row.total.device_interrupts
    assert total is not None and device is not None
    # a machine check poll between the two files, at most one for each CPU
    slack = len(row.cpus)
    assert before[0] - slack <= total <= after[0] + slack
    assert before[1] <= total - device <= after[1]
    assert sum(c.interrupts or 0 for c in row.cpus.values()) == total


def test_softirqs_agree_with_proc_stat(prober: Prober) -> None:
    before, row, after = first_row_bracketed(prober, proc_stat)

    cells = row.total
    values = [
        cells.softirqs,
        cells.softirq_hi,
        cells.softirq_timer,
        cells.softirq_net_tx,
        cells.softirq_net_rx,
        cells.softirq_block,
        cells.softirq_irq_poll,
        cells.softirq_tasklet,
        cells.softirq_sched,
        cells.softirq_hrtimer,
        cells.softirq_rcu,
    ]
    for column, value in enumerate(values):
        assert value is not None
        assert before["softirq"][column] <= value <= after["softirq"][column], column


def test_switches_agree_with_proc_stat(prober: Prober) -> None:
    # The bound: what switched around the first row and around the final one. That is a few per
    # cent of the switches made between them, and no tolerance beyond.
    outer = proc_stat()["ctxt"][0]
    probe = prober.start(SECOND)
    wait_rows(prober, 1)
    inner = proc_stat()["ctxt"][0]
    goal = inner + max(3000, 20 * (inner - outer))
    while proc_stat()["ctxt"][0] <= goal:
        for _ in range(100):
            os.sched_yield()
            time.sleep(0.0002)
    inner = proc_stat()["ctxt"][0] - inner
    prober.stop(probe)
    outer = proc_stat()["ctxt"][0] - outer

    rows, _ = prober.rows(probe)
    first, last = rows[0].total.switches, rows[-1].total.switches
    assert first is not None and last is not None
    assert inner <= last - first <= outer
    assert last == sum(cells.switches or 0 for cells in rows[-1].cpus.values())
    assert inner > 3000
    assert outer - inner < inner / 5


def runtime_ns(pid: int) -> int:
    """How long a task has had a CPU."""
    return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0])


def is_off_cpu(pid: int, state: str) -> bool:
    """True if a task is in this state and its last switch is over."""
    folder = Path("/proc", str(pid))
    letter = (folder / "stat").read_text().rsplit(")", 1)[1].split()[0]
    return letter == state and (folder / "syscall").read_text().strip() != "running"


def test_watched_task_agrees_with_proc_status(prober: Prober) -> None:
    def work(say: Callable[[str], object]) -> None:
        say("ready")
        for _ in range(100):
            time.sleep(0.005)
        os.kill(os.getpid(), signal.SIGSTOP)

    pid, listen = in_child(work)
    try:
        probe = prober.start(10 * MS, tasks=[pid])
        assert listen() == "ready"
        # Of the task: the kernel divides its time and the process's into user's and system's apart.
        stat = Path(f"/proc/{pid}/task/{pid}/stat")
        eventually(lambda: is_off_cpu(pid, "T"), "not stopped")
        prober.stop(probe)
        rows, _ = prober.rows(probe)
        task = rows[-1].tasks[pid]

        assert (task.voluntary, task.involuntary) == context_switches(pid)
        words = stat.read_text().rsplit(")", 1)[1].split()
        assert task.runtime_ns == runtime_ns(pid)
        assert task.user_ns is not None and task.system_ns is not None
        assert task.user_ns // TICK_NS == int(words[11])
        assert task.system_ns // TICK_NS == int(words[12])
        assert task.ended == 0
        # a sleep that was over before the task was off its CPU is no switch
        assert task.voluntary is not None and task.voluntary >= 50
    finally:
        reap(pid, signal.SIGKILL)


def test_watched_task_keeps_its_numbers_when_it_ends(prober: Prober) -> None:
    work = "read go; i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done"
    child = subprocess.Popen(["sh", "-c", work], stdin=subprocess.PIPE)
    probe = prober.start(5 * MS, tasks=[child.pid])
    wait_rows(prober, 1)
    child.communicate(b"go\n")
    assert child.returncode == 0
    before = prober.info().rows
    wait_rows(prober, before + 3)
    prober.stop(probe)

    rows, _ = prober.rows(probe)
    runtimes = [row.tasks[child.pid].runtime_ns for row in rows]
    assert all(first <= second for first, second in pairwise(runtimes) if first and second)
    assert rows[0].tasks[child.pid].ended == 0
    ended = [row.tasks[child.pid] for row in rows if row.tasks[child.pid].ended]
    assert len(ended) >= 3
    assert len({task.runtime_ns for task in ended[1:]}) == 1


@contextmanager
def on_cpu(number: int) -> Iterator[None]:
    """This process runs there."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {number})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


@two_cpus
@pytest.mark.parametrize(
    ("column", "command"),
    [
        ("user_ns", ("sh", "-c", "while :; do :; done")),
        ("system_ns", ("dd", "if=/dev/zero", "of=/dev/null", "bs=1M")),
        ("nice_ns", ("nice", "-n", "10", "sh", "-c", "while :; do :; done")),
    ],
)
def test_busy_loop_shows_in_its_column(
    prober: Prober, column: str, command: tuple[str, ...]
) -> None:
    columns = ("user_ns", "nice_ns", "system_ns")  # the first ones of /proc/stat

    def shown() -> list[int]:
        return [ticks * 10 * MS for ticks in proc_stat()["cpu1"][: len(columns)]]

    def is_seen() -> bool:
        """Most of the growth is the loop's; what its start has taken is in other columns."""
        grown = [now - then for then, now in zip(before, shown(), strict=True)]
        own = grown.pop(columns.index(column))
        return own > 300 * MS and own > 3 * sum(grown)

    # The test itself stays away: beside one that is nice it would have most of the CPU.
    with on_cpu(0), running("taskset", "-c", "1", *command) as child:
        eventually(lambda: runtime_ns(child.pid) > 500 * MS, "the loop does not start")
        known = [runtime_ns(child.pid)]
        probe = prober.start(100 * MS, tasks=[child.pid])
        wait_rows(prober, 1)
        known.append(runtime_ns(child.pid))
        before = shown()
        # However long that takes: where the host takes the vCPU away, ticks are lost, and an
        # interrupt's time grows by what the host does meanwhile.
        eventually(is_seen, "the loop does not show in /proc/stat")
        known.append(runtime_ns(child.pid))
        prober.stop(probe)
        known.append(runtime_ns(child.pid))
    rows, _ = prober.rows(probe)

    grown = [getattr(rows[-1].cpus[1], name) - getattr(rows[0].cpus[1], name) for name in columns]
    assert grown[columns.index(column)] > 250 * MS
    assert max(grown) == grown[columns.index(column)]
    first, last = rows[0].tasks[child.pid].runtime_ns, rows[-1].tasks[child.pid].runtime_ns
    assert first is not None and last is not None
    assert known[0] <= first <= known[1] and known[2] <= last <= known[3]


def test_times_do_not_exceed_the_clock(prober: Prober) -> None:
    probe = prober.start(200 * MS)
    time.sleep(2)
    prober.stop(probe)
    rows, _ = prober.rows(probe)
    # from before the first was read until after the last was
    spent = rows[-1].end_ns - rows[0].start_ns
    for cpu, last in rows[-1].cpus.items():
        times = zip(cell_times(rows[0].cpus[cpu]), cell_times(last), strict=True)
        grown = [after - before for before, after in times]
        assert min(grown) >= 0
        # guest columns are part of user and nice; a tick books a whole tick wherever it hits
        assert sum(grown[:8]) < 1.1 * spent + 4 * TICK_NS


# ---- schedule ----


@pytest.mark.parametrize("interval_ms", [1, 20, 250])
def test_rows_are_on_schedule(prober: Prober, interval_ms: int) -> None:
    interval = interval_ms * MS
    probe = prober.start(interval)
    wait_rows(prober, {1: 500, 20: 50, 250: 5}[interval_ms])
    if interval_ms >= 20:
        # How late a row is is up to the machine, but not half an interval every time.
        eventually(lambda: is_in_time(prober.rows(probe)[0], interval), "each row is late")
    info = prober.stop(probe)
    rows, dropped = prober.rows(probe)

    assert dropped == 0
    assert len(rows) == info.rows
    assert [row.seq for row in rows] == list(range(len(rows)))
    assert [row.final for row in rows] == [False] * (len(rows) - 1) + [True]
    # a tick that went by before the thread first ran is one that was missed
    assert rows[0].tick <= info.missed
    regular = rows[:-1]
    assert all(a.tick < b.tick for a, b in pairwise(regular))
    late = [row.start_ns - row.due_ns for row in regular]
    for row in regular:
        assert row.due_ns == info.started_ns + row.tick * interval
        assert row.due_ns <= row.start_ns <= row.end_ns
        assert row.start_ns - row.due_ns < interval
    # every tick that was reached has its row or is counted as missed
    reached = (rows[-1].start_ns - info.started_ns) // interval + 1
    assert len(regular) + info.missed == reached
    assert info.late_max_ns == max(late)
    assert info.late_sum_ns == sum(late)
    costs = [row.end_ns - row.start_ns for row in rows]
    assert (info.cost_max_ns, info.cost_sum_ns) == (max(costs), sum(costs))
    print(
        f"interval {interval_ms} ms: {len(rows)} rows, {info.missed} missed, late p50 "
        f"{sorted(late)[len(late) // 2]} max {max(late)} ns, cost p50 "
        f"{sorted(costs)[len(costs) // 2]} max {max(costs)} ns"
    )


def is_in_time(rows: list[Row], interval: int) -> bool:
    """A row began less than half an interval after it was due."""
    return any(row.start_ns - row.due_ns < interval / 2 for row in rows)


@pytest.mark.debug_kernel
def test_long_interval_stops_at_once(prober: Prober) -> None:
    probe = prober.start(uapi.MAX_INTERVAL_NS)
    wait_rows(prober, 1)
    info = prober.stop(probe)
    assert (info.rows, info.missed, info.reason) == (2, 0, Reason.STOPPED)
    rows, _ = prober.rows(probe)
    assert rows[1].final and rows[1].tick == 0  # an hour before its first one


@pytest.mark.debug_kernel
def test_stop_right_after_start(prober: Prober) -> None:
    for _ in range(30):
        probe = prober.start(MS)
        info = prober.stop(probe)
        rows, dropped = prober.rows(probe)
        assert len(rows) + dropped == info.rows
        assert info.state == ProbeState.DONE


def test_clocks_are_read_together(prober: Prober) -> None:
    before, real, after = time.monotonic_ns(), time.time_ns(), time.monotonic_ns()
    probe = prober.start(100 * MS)
    info = prober.stop(probe)
    assert after <= info.started_ns <= info.ended_ns <= info.now_ns <= time.monotonic_ns()
    assert real <= info.start_real_ns <= info.end_real_ns <= time.time_ns()
    offset = info.start_real_ns - info.started_ns
    assert real - after - MS < offset < real - before + MS
    assert info.start_raw_ns < info.end_raw_ns


# ---- ring ----


@pytest.mark.parametrize("ring_rows", [2, 3, 16, 100])
def test_overflow_is_counted_exactly(prober: Prober, ring_rows: int) -> None:
    probe = prober.start(MS, ring_rows=ring_rows)
    wait_rows(prober, 3 * ring_rows)
    info = prober.stop(probe)
    rows, dropped = prober.rows(probe)

    assert len(rows) == ring_rows
    assert len(rows) + dropped == info.rows
    assert [row.seq for row in rows] == list(range(info.oldest, info.rows))
    assert dropped == info.oldest


@pytest.mark.parametrize("ring_rows", [2, 5, 300])
def test_reading_by_cursor_loses_nothing_silently(prober: Prober, ring_rows: int) -> None:
    probe = prober.start(MS, ring_rows=ring_rows)
    seen: list[Row] = []
    lost = 0
    end = time.monotonic() + 2
    since = 0
    while time.monotonic() < end:
        rows, dropped = prober.rows(probe, since)
        seen += rows
        lost += dropped
        since = rows[-1].seq + 1 if rows else since + dropped
    info = prober.stop(probe)
    rows, dropped = prober.rows(probe, since)
    seen += rows
    lost += dropped

    assert len(seen) + lost == info.rows
    seqs = [row.seq for row in seen]
    assert seqs == sorted(set(seqs))
    # torn rows would not be monotonic
    for first, second in pairwise(seen):
        assert first.end_ns <= second.start_ns
        assert first.tick <= second.tick
        for name in ("user_ns", "system_ns", "idle_ns", "interrupts", "softirqs", "switches"):
            assert getattr(first.total, name) <= getattr(second.total, name), name


def test_samples_are_differences(prober: Prober) -> None:
    probe = prober.start(10 * MS, tasks=[os.getpid()])
    wait_rows(prober, 10)
    first = prober.samples(probe)
    wait_rows(prober, prober.info().rows + 5)
    prober.stop(probe)
    second = prober.samples(probe, first.last)

    samples = first.samples + second.samples
    assert first.dropped == second.dropped == 0
    assert all(a.end_ns == b.start_ns for a, b in pairwise(samples))
    rows, _ = prober.rows(probe)
    assert len(samples) == len(rows) - 1
    for name in ("idle_ns", "interrupts", "switches"):
        total = getattr(rows[-1].total, name) - getattr(rows[0].total, name)
        assert sum(getattr(sample.total, name) for sample in samples) == total
    pid = os.getpid()
    assert sum(sample.tasks[pid].voluntary or 0 for sample in samples) == (
        (rows[-1].tasks[pid].voluntary or 0) - (rows[0].tasks[pid].voluntary or 0)
    )


def test_since_beyond_the_end_is_empty(prober: Prober) -> None:
    probe = prober.start(100 * MS)
    prober.stop(probe)
    assert prober.rows(probe, 10**18) == ([], 0)


@pytest.mark.debug_kernel_at_length
def test_row_of_many_tasks_spans_messages(prober: Prober) -> None:
    end = threading.Event()
    threads = [threading.Thread(target=end.wait) for _ in range(uapi.MAX_TASKS)]
    try:
        for thread in threads:
            thread.start()
        ids = [thread.native_id for thread in threads if thread.native_id is not None]
        probe = prober.start(100 * MS, tasks=ids, ring_rows=8)
        wait_rows(prober, 3)
        info = prober.stop(probe)
        assert list(info.pids) == ids
        rows, dropped = prober.rows(probe)
        assert len(rows) + dropped == info.rows
        assert all(list(row.tasks) == ids for row in rows)
        assert len(rows[-1].cpus) == os.cpu_count()
    finally:
        end.set()
        for thread in threads:
            thread.join()


# ---- CPUs that come and go ----


@contextmanager
def cpu1_restored() -> Iterator[None]:
    try:
        yield
    finally:
        CPU1.write_text("1")


@pytest.mark.debug_kernel
@two_cpus
def test_cpu_that_goes_is_absent_and_comes_back(prober: Prober) -> None:
    with cpu1_restored():
        probe = prober.start(5 * MS)
        wait_rows(prober, 5)
        CPU1.write_text("0")
        wait_rows(prober, prober.info().rows + 10)
        CPU1.write_text("1")
        with running("taskset", "-c", "1", "sh", "-c", "while :; do :; done"):
            wait_rows(prober, prober.info().rows + 10)
        prober.stop(probe)

    rows, _ = prober.rows(probe)
    present = [1 in row.cpus for row in rows]
    assert present[0] and present[-1] and not all(present)
    # once down, once up
    assert sum(a != b for a, b in pairwise(present)) == 2
    assert all(0 in row.cpus for row in rows)
    check_monotonic(rows)
    gone, back = present.index(False) - 1, len(present) - 1 - present[::-1].index(False) + 1
    # the time it was off is in no column
    idle = (rows[back].cpus[1].idle_ns or 0) - (rows[gone].cpus[1].idle_ns or 0)
    off = rows[back].start_ns - rows[gone].start_ns
    assert 0 <= idle < off
    grown = (rows[-1].cpus[1].switches or 0) - (rows[gone].cpus[1].switches or 0)
    assert grown > 0


def check_monotonic(rows: list[Row]) -> None:
    for first, second in pairwise(rows):
        for name in CpuAndSwitches.__dataclass_fields__:
            assert getattr(first.total, name) <= getattr(second.total, name), name
            for cpu in first.cpus.keys() & second.cpus.keys():
                now, before = getattr(second.cpus[cpu], name), getattr(first.cpus[cpu], name)
                assert now is None or before is None or before <= now, (cpu, name)


PAGED = ("paged_in_bytes", "paged_out_bytes")


def proc_paged() -> list[int]:
    """Bytes paged in and out, of which /proc/vmstat has KiB."""
    words = dict(line.split() for line in Path("/proc/vmstat").read_text().splitlines())
    return [int(words[name]) << 10 for name in ("pgpgin", "pgpgout")]


def paged(row: Row) -> list[int]:
    cells = row.others["memory"]["total"]
    return [value for name in PAGED if (value := cells[name]) is not None]


@pytest.mark.debug_kernel_at_length
@two_cpus
def test_paging_grows_while_its_cpu_comes_and_goes(
    prober: Prober, null_blk: Callable[..., str]
) -> None:
    """The kernel moves the counts of a CPU that goes to another one."""
    read = ["dd", f"if={null_blk(size_mb=64)}", "of=/dev/null", "bs=1M", "iflag=direct"]
    begin = proc_paged()
    with cpu1_restored():
        probe = prober.start(MS, ring_rows=256)
        for _ in range(10):
            subprocess.run(["taskset", "-c", "1", *read], check=True, capture_output=True)
            CPU1.write_text("0")
            CPU1.write_text("1")
        before = proc_paged()
        wait_rows(prober, prober.info().rows + 2)
        prober.stop(probe)
        after = proc_paged()
    values = [paged(row) for row in prober.rows(probe)[0]]
    for first, second in pairwise(values):
        assert all(a <= b for a, b in zip(first, second, strict=True))
    # The first rows may be gone.
    assert values[-1][0] - begin[0] >= 10 * 64 << 20
    for low, value, high in zip(before, values[-1], after, strict=True):
        assert low <= value < high + 1024


@two_cpus
def test_cpu_off_at_the_start(prober: Prober) -> None:
    with cpu1_restored():
        CPU1.write_text("0")
        probe = prober.start(5 * MS)
        wait_rows(prober, 3)
        CPU1.write_text("1")
        eventually(lambda: 1 in prober.rows(probe)[0][-1].cpus, "CPU 1 never showed")
        prober.stop(probe)
    rows, _ = prober.rows(probe)
    assert 1 not in rows[0].cpus
    check_monotonic(rows)
    assert rows[-1].total.switches is not None
    # its idle time before the start is not counted
    grown = (rows[-1].total.idle_ns or 0) - (rows[0].total.idle_ns or 0)
    assert grown <= 2 * (rows[-1].end_ns - rows[0].start_ns)


@pytest.mark.debug_kernel
@two_cpus
def test_cpus_cycle_while_probes_come_and_go(prober: Prober) -> None:
    with cpu1_restored():
        pid, _ = in_child(cycle_cpu1_forever)
        try:
            for _ in range(6):
                probe = prober.start(MS)
                time.sleep(0.1)
                prober.stop(probe)
                rows, _ = prober.rows(probe)
                check_monotonic(rows)
        finally:
            reap(pid, signal.SIGKILL)


def cycle_cpu1_forever(say: Callable[[str], object]) -> None:
    """Without the pauses other waiters for the CPU hotplug lock would starve."""
    while True:
        for state in "01":
            CPU1.write_text(state)
            time.sleep(0.05)
