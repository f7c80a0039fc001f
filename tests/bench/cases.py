# SPDX-License-Identifier: GPL-2.0
"""What is measured: the rows of the table, and the conditions in which each is measured."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

Runner = Literal["floor", "spek", "uring", "fio"]
DiskKind = Literal[
    "plain",
    "polled",
    "slow",
    "one-tag",
    "scsi",
    "nvme",
    "virtio",
    "linear",
    "augment",
    "cache-writeback",
    "cache-writethrough",
    "writecache",
    "bcache",
]
SLOW: tuple[DiskKind, ...] = ("slow", "one-tag")
EMULATED: tuple[DiskKind, ...] = ("nvme", "virtio")  # by QEMU
# Volumes on an SSD, the first of which is no cache: see caches.py.
CACHES: tuple[DiskKind, ...] = (
    "linear",
    "augment",
    "cache-writeback",
    "cache-writethrough",
    "writecache",
    "bcache",
)
APART = ("scsi", *SLOW, *EMULATED, *CACHES)  # tables of their own, without ratios
BATCH = 16
SLOW_NS = 10_000  # completion time of the slow disk

# The guest's disks: configfs attributes of null_blk, parameters of scsi_debug. On one CPU
# irqmode=1 completes a request before its submission returns; the slow disk completes by a
# timer's interrupt.
DISKS: dict[DiskKind, dict[str, int]] = {
    "plain": {"queue_mode": 2, "irqmode": 1, "hw_queue_depth": 128, "submit_queues": 1},
    "polled": {
        **{"queue_mode": 2, "irqmode": 1, "hw_queue_depth": 128, "submit_queues": 1},
        "poll_queues": 1,
    },
    "slow": {
        **{"queue_mode": 2, "irqmode": 2, "hw_queue_depth": 128, "submit_queues": 1},
        "completion_nsec": SLOW_NS,
    },
    "one-tag": {
        **{"queue_mode": 2, "irqmode": 2, "hw_queue_depth": 1, "submit_queues": 1},
        "completion_nsec": SLOW_NS,
    },
    # Answers before its submission returns, and completes by a softirq.
    "scsi": {"delay": 0, "max_queue": 128, "fake_rw": 1},
}


@dataclass(frozen=True, slots=True)
class Conditions:
    """A column of the table."""

    depth: int
    iostats: bool = False

    @property
    def name(self) -> str:
        """As in keys: d32, d32s with iostats."""
        return f"d{self.depth}{'s' if self.iostats else ''}"

    @property
    def batch(self) -> int:
        """Submissions in one go."""
        return min(BATCH, self.depth)


DEEP, DEEP_STATS, SINGLE = Conditions(32), Conditions(32, iostats=True), Conditions(1)
ALL = (DEEP, DEEP_STATS, SINGLE)


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the table.

    @key: in JSON and for --only
    @arguments: for the runner, see drivers.py
    @short, @long: run lengths in I/Os; the cost of one is the difference of the times over the
        difference of the lengths, so that what a run costs once cancels out
    """

    key: str
    title: str
    runner: Runner
    arguments: tuple[str, ...] = ()
    conditions: tuple[Conditions, ...] = (DEEP,)
    disk: DiskKind = "plain"
    short: int = 4_000
    long: int = 84_000

    @property
    def counts_busy_time(self) -> bool:
        """The CPU idles while the disk or fio's start works: idle time executes no instructions."""
        return self.disk in (*SLOW, *EMULATED) or self.runner == "fio"


@dataclass(frozen=True, slots=True)
class Point:
    """A cell of the table: one figure."""

    row: Row
    conditions: Conditions

    @property
    def key(self) -> str:
        return f"{self.row.key}/{self.conditions.name}"


FIO_TUNED = (
    "--ioengine=io_uring",
    "--fixedbufs=1",
    "--registerfiles=1",
    "--nonvectored=1",
    "--norandommap=1",
    "--random_generator=lfsr",
    "--iodepth_batch_submit={batch}",
    "--iodepth_batch_complete_min={batch}",
    "--iodepth_batch_complete_max={depth}",
)
FIO_UNTIMED = "--gtod_reduce=1"

ROWS: tuple[Row, ...] = (
    Row("floor-mq", "floor: requests", "floor", ("mq",), ALL),
    Row("floor-plug", "floor: requests, plugged", "floor", ("plug",), (DEEP, SINGLE)),
    Row("floor-bio", "floor: bios", "floor", ("bio",), ALL),
    Row("floor-mq-polled", "floor: requests, polled", "floor", ("mq", "polled=1"), disk="polled"),
    Row("floor-bio-polled", "floor: bios, polled", "floor", ("bio", "polled=1"), disk="polled"),
    Row("floor-mq-single", "floor: requests, tags one by one", "floor", ("mq", "ahead=0")),
    Row("floor-bio-single", "floor: bios, tags one by one", "floor", ("bio", "ahead=0")),
    Row("uring", "floor: io_uring", "uring", ("irq",), ALL),
    Row("uring-polled", "floor: io_uring, polled", "uring", ("polled",), disk="polled"),
    Row("spek-mq", "spek mq", "spek", ("mq",), ALL),
    Row("spek-bio", "spek bio", "spek", ("bio",), ALL),
    Row("spek-auto", "spek auto", "spek", ("auto",)),
    Row("spek-mq-polled", "spek mq, polled", "spek", ("mq", "polled"), disk="polled"),
    Row("spek-bio-polled", "spek bio, polled", "spek", ("bio", "polled"), disk="polled"),
    Row("spek-mq-log", "spek mq, with its log", "spek", ("mq", "log")),
    Row("spek-bio-log", "spek bio, with its log", "spek", ("bio", "log")),
    Row("spek-mq-replay", "spek mq, replay", "spek", ("mq", "replay")),
    Row("spek-bio-replay", "spek bio, replay", "spek", ("bio", "replay")),
    Row("spek-mq-rows", "spek mq, a row each 10 ms", "spek", ("mq", "rows")),
    Row("spek-mq-spc1", "spek mq, SPC-1-like, saturated", "spek", ("mq", "spc1")),
    Row("spek-bio-spc1", "spek bio, SPC-1-like, saturated", "spek", ("bio", "spc1")),
    Row("fio-uring", "fio io_uring", "fio", ("--ioengine=io_uring",), ALL, long=44_000),
    Row("fio-uring-tuned", "fio io_uring, tuned", "fio", FIO_TUNED, long=164_000),
    Row(
        "fio-uring-polled",
        "fio io_uring, tuned, polled",
        "fio",
        (*FIO_TUNED, "--hipri=1"),
        disk="polled",
        long=164_000,
    ),
    Row(
        "fio-uring-untimed",
        "fio io_uring, polled, untimed",
        "fio",
        (*FIO_TUNED, "--hipri=1", FIO_UNTIMED),
        disk="polled",
        long=164_000,
    ),
    Row("fio-libaio", "fio libaio", "fio", ("--ioengine=libaio",), (DEEP, SINGLE), long=44_000),
    Row("fio-psync", "fio psync", "fio", ("--ioengine=psync",), (SINGLE,), long=44_000),
    Row("slow-spek-mq", "spek mq", "spek", ("mq",), (SINGLE,), "slow"),
    Row("slow-spek-bio", "spek bio", "spek", ("bio",), (SINGLE,), "slow"),
    Row("slow-spek-mq-spin", "spek mq, --spin", "spek", ("mq", "spin"), (SINGLE,), "slow"),
    Row("slow-fio-uring", "fio io_uring", "fio", ("--ioengine=io_uring",), (SINGLE,), "slow"),
    Row("slow-fio-psync", "fio psync", "fio", ("--ioengine=psync",), (SINGLE,), "slow"),
    Row("one-tag-spek-mq", "spek mq, 32 for one tag", "spek", ("mq",), (DEEP,), "one-tag"),
    Row("one-tag-spek-bio", "spek bio, 32 for one tag", "spek", ("bio",), (DEEP,), "one-tag"),
    Row("scsi-spek-bio", "spek bio", "spek", ("bio",), (DEEP, SINGLE), "scsi"),
    Row("scsi-spek-mq", "spek mq", "spek", ("mq",), (DEEP, SINGLE), "scsi"),
    Row("scsi-spek-auto", "spek auto", "spek", ("auto",), (DEEP,), "scsi"),
    Row("scsi-spek-scsi", "spek scsi", "spek", ("scsi",), (DEEP, SINGLE), "scsi"),
    *(
        Row(f"{disk}-spek-{how}", f"spek {how}, {disk}", "spek", (how,), (DEEP,), disk)
        for disk in EMULATED
        for how in ("bio", "mq", "auto")
    ),
    *(
        Row(
            f"{disk}-{what}",
            f"{disk}, {what}",
            "spek",
            ("bio", what),
            (DEEP, SINGLE),
            disk,
            short=1_000,
            long=9_000,
        )
        for disk in CACHES
        for what in ("reads", "writes")
    ),
)


def points(rows: tuple[Row, ...] = ROWS) -> Iterator[Point]:
    """Every figure to be measured, in the order of the table."""
    for row in rows:
        for conditions in row.conditions:
            yield Point(row, conditions)
