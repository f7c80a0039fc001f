# SPDX-License-Identifier: GPL-2.0
"""Memory, network and disks in the rows of the prober, judged by /proc and /sys."""

from __future__ import annotations

import contextlib
import os
import re
import socket
import statistics
import subprocess
import time
from collections.abc import Callable, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from lib.guest.disks import add_partition, settle
from lib.guest.modules import unload_soon
from lib.guest.power import MS, SECOND
from lib.guest.prober import fresh_module
from lib.waiting import LONG_S, eventually

from spekctl.kernel.feeds import PowerLink
from spekctl.kernel.prober import Cells, Prober

CLOCK_MONOTONIC_COARSE = 6  # has no name in Python

fresh = pytest.fixture(autouse=True)(fresh_module)


def entity_row(prober: Prober, probe: int, table: str) -> Mapping[str, Cells]:
    """The last row's cells of a table, by names of entities and columns."""
    return prober.rows(probe)[0][-1].others[table]


def test_memory_is_what_meminfo_says() -> None:
    def meminfo() -> dict[str, int]:
        lines = Path("/proc/meminfo").read_text().splitlines()
        return {line.split(":")[0]: int(line.split()[1]) * 1024 for line in lines}

    with Prober() as prober:
        before = meminfo()
        probe = prober.start(SECOND)
        prober.stop(probe)
        after = meminfo()
        row = entity_row(prober, probe, "memory")["total"]
    slack = 16 << 20
    for column, name in (
        ("total", "MemTotal"), ("free", "MemFree"), ("available", "MemAvailable"),
        ("buffers", "Buffers"), ("shared", "Shmem"), ("dirty", "Dirty"), ("slab", "Slab"),
        ("swap_free", "SwapFree"), ("cached", "Cached"),
    ):  # fmt: skip
        value = row[f"{column}_bytes"]
        assert value is not None
        low, high = sorted((before[name], after[name]))
        assert low - slack <= value <= high + slack, column
    assert row["total_bytes"] == before["MemTotal"]


def test_network_is_what_proc_net_dev_says() -> None:
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    with Prober() as prober:
        probe = prober.start(SECOND)
        before = entity_row_soon(prober, probe, "net")["lo"]
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as own:
            own.bind(("127.0.0.1", 0))
            for _ in range(100):
                own.sendto(bytes(1000), own.getsockname())
        prober.stop(probe)
        after = entity_row(prober, probe, "net")["lo"]
        listed = dict(
            line.split(":") for line in Path("/proc/net/dev").read_text().splitlines()[2:]
        )
    counts = [int(word) for word in {k.strip(): v for k, v in listed.items()}["lo"].split()]
    assert after["rx_packets"] - before["rx_packets"] == 100
    assert after["tx_bytes"] - before["tx_bytes"] == 100 * (1000 + 28)
    assert (after["rx_bytes"], after["rx_packets"]) == (counts[0], counts[1])
    assert (after["tx_bytes"], after["tx_packets"]) == (counts[8], counts[9])


def test_times_counted_by_ticks_say_so() -> None:
    """The coarse clock moves once a tick, too: its resolution is the tick's period."""
    tick_ns = round(time.clock_getres(CLOCK_MONOTONIC_COARSE) * SECOND)
    with Prober() as prober:
        prober.start(SECOND)
        steps = {table.name: table.steps for table in prober.info().described()}
        assert prober.info().cpu_time_step_ns() == tick_ns
    ticked = ("user", "nice", "system", "irq", "softirq", "steal", "guest", "guest_nice")
    assert steps == {
        "cpu": {f"{name}_ns": tick_ns for name in ticked},
        "switches": {},
        "task": {f"{name}_ns": tick_ns for name in ("runtime", "user", "system")},
        "memory": {},
        "net": {},
        "disk": {"busy_time_ns": tick_ns},
        "power": {},
    }


def entity_row_soon(prober: Prober, probe: int, table: str) -> Any:
    eventually(lambda: prober.info().rows, "no row")
    return entity_row(prober, probe, table)


def test_interface_that_goes_is_absent_and_is_not_held() -> None:
    subprocess.run(["ip", "link", "add", "spek0", "type", "dummy"], check=True)
    with Prober() as prober:
        probe = prober.start(10 * MS)
        assert "spek0" in entity_row_soon(prober, probe, "net")
        # would wait for ever for a reference
        subprocess.run(["ip", "link", "del", "spek0"], check=True, timeout=LONG_S)
        seen = prober.info().rows
        eventually(lambda: prober.info().rows > seen + 1, "no rows")
        assert "spek0" not in entity_row(prober, probe, "net")
        prober.stop(probe)


def test_disk_is_what_sysfs_says(null_blk: Callable[..., str]) -> None:
    node = null_blk(size_mb=64)
    name = Path(node).name
    with Prober() as prober:
        probe = prober.start(SECOND)
        before = entity_row_soon(prober, probe, "disk")[name]
        subprocess.run(
            ["dd", f"if={node}", "of=/dev/null", "bs=64k", "count=100", "iflag=direct"],
            check=True, capture_output=True,
        )  # fmt: skip
        subprocess.run(
            ["dd", "if=/dev/zero", f"of={node}", "bs=4k", "count=30", "oflag=direct"],
            check=True, capture_output=True,
        )  # fmt: skip
        settle()  # what was written, udev reads
        prober.stop(probe)
        after = entity_row(prober, probe, "disk")[name]
        stat = [int(word) for word in Path(f"/sys/block/{name}/stat").read_text().split()]
        assert (after["reads"], after["read_bytes"]) == (stat[0], stat[2] * 512)
        assert (after["writes"], after["write_bytes"]) == (stat[4], stat[6] * 512)
        assert after["read_time_ns"] is not None
        assert after["read_time_ns"] // MS == stat[3]
        assert after["writes"] - before["writes"] == 30
        assert after["write_bytes"] - before["write_bytes"] == 30 * 4096


def require_counted_requests(node: str) -> None:
    """Skip where the block layer does not count requests as in flight."""
    release = os.uname().release
    version = tuple(int(word) for word in re.findall(r"\d+", release)[:2])
    if version < (6, 10) and version != (6, 1):
        pytest.skip(f"{release} does not count the requests of {node} as in flight")


@pytest.mark.parametrize("partition", [False, True])
def test_a_disk_that_hangs_is_busy_while_it_does(
    null_blk: Callable[..., str], partition: bool
) -> None:
    """Not all at once afterwards; a reader of sysfs would hide the fault, so there is none."""
    hang_ns = 4 * SECOND
    node = null_blk(size_mb=64, irqmode=2, completion_nsec=hang_ns, queue_mode=2)
    name = Path(node).name
    require_counted_requests(node)
    if partition:
        add_partition(node, 1, 2048, 4096)
    settle()
    with Prober() as prober:
        probe = prober.start(50 * MS)
        entity_row_soon(prober, probe, "disk")
        with open(f"{node}p1" if partition else node, "rb", buffering=0) as file:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_RANDOM)
            began_ns = time.monotonic_ns()
            file.read(512)
            ended_ns = time.monotonic_ns()
        prober.stop(probe)
        rows = [row for row in prober.rows(probe)[0] if began_ns <= row.start_ns]
    assert ended_ns - began_ns >= hang_ns
    busy = [(row.start_ns, row.others["disk"][name]["busy_time_ns"] or 0) for row in rows]
    inside = [(at, value) for at, value in busy if at <= began_ns + hang_ns]
    assert len(inside) > 2
    tick_ns = round(time.clock_getres(CLOCK_MONOTONIC_COARSE) * SECOND)
    # What opening a file takes on a slow machine lies before the I/O.
    started = next(at for at, value in inside if value > inside[0][1] + tick_ns)
    hanging = [(at, value) for at, value in inside if at >= started]
    # It grows all the time. Rows and ticks come late where the host has other work, so the time
    # that ticks add up to is held against all of the hang; and as the ticks of a virtual CPU that
    # stands still are missing in a row that another takes, so is the middle one of all rates.
    assert all(before <= value for (_, before), (_, value) in pairwise(hanging))
    assert len({value for _, value in hanging}) > len(hanging) // 2
    (first_at, first), (last_at, _) = hanging[0], hanging[-1]
    assert last_at - first_at > hang_ns // 2
    rates = [
        (late_busy - early_busy) / (late_at - early_at)
        for early_at, early_busy in hanging
        for late_at, late_busy in hanging
        if late_at - early_at > hang_ns // 4
    ]
    assert statistics.median(rates) == pytest.approx(1, rel=0.05)
    assert inside[-1][1] - first > hang_ns / 2


def test_table_too_long_to_be_described_is_left_out() -> None:
    """The others have rows; names of 63 bytes make 1024 rails more than 65535 bytes."""
    with contextlib.ExitStack() as stack:
        for number in range(16):
            link = stack.enter_context(PowerLink())
            rails = [f"{rail:031d}" for rail in range(64)]
            link.open_feed(f"{number:031d}", "test", rails, history=64)
        prober = stack.enter_context(Prober())
        probe = prober.start(20 * MS)
        eventually(lambda: prober.info().rows > 3, "no rows")
        info = prober.stop(probe)
        rows, _ = prober.rows(probe, hold=True)
        tables = {table.name: table for table in info.described()}
        assert tables["power"].left_out == 1024
        assert tables["power"].entities == ()
        assert all(not table.left_out for name, table in tables.items() if name != "power")
        assert len(rows) == info.rows
        assert all(row.power == {} and row.total.idle_ns and row.others["memory"] for row in rows)
        prober.delete(probe)
        # Without these feeds the next probe describes its rails.
        stack.close()
    with PowerLink() as link, Prober() as prober:
        link.open_feed("short", "test", ["rail"], history=64)
        prober.start(20 * MS)
        tables = {table.name: table for table in prober.info().described()}
        assert tables["power"].names == ("short/rail",)
        assert not tables["power"].left_out


def test_disk_that_goes_is_absent_and_its_driver_is_not_held() -> None:
    """Also one whose driver's module goes: scsi_debug."""
    subprocess.run(["modprobe", "scsi_debug", "dev_size_mb=8"], check=True)
    model = eventually(
        lambda: [disk for disk in Path("/sys/block").glob("sd*")
                 if "scsi_debug" in (disk / "device/model").read_text()],
        "no disk of scsi_debug",
    )  # fmt: skip
    name = model[0].name
    settle()
    with Prober() as prober:
        probe = prober.start(10 * MS)
        assert name in entity_row_soon(prober, probe, "disk")
        unload_soon("scsi_debug")
        seen = prober.info().rows
        eventually(lambda: prober.info().rows > seen + 1, "no rows")
        assert name not in entity_row(prober, probe, "disk")
        # the one that comes in its place is none of this probe's
        subprocess.run(["modprobe", "scsi_debug", "dev_size_mb=8"], check=True)
        settle()
        assert prober.info().rows
        prober.stop(probe)
        assert prober.rows(probe)[0]
    unload_soon("scsi_debug")
