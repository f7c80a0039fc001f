# SPDX-License-Identifier: GPL-2.0
"""Soak of a cache of spek_augment.ko: spek's own load on it, with flushes, while it copies and
destages; counters are exact at the end, and memory is flat.

20,000 I/Os in `make test`; `make augment-soak IOS=10000000 SECONDS=3600` does as many as wanted, or
as many as an hour allows, and says how far it has come in out/tests/guest-6.1/output-1.log.
"""

from __future__ import annotations

import contextlib
import gc
import os
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from guest.soak import FLAT_KIB, KIB, Account, Mix, assert_no_leak, changes, half, lost_kib, soak
from lib.guest import device_mapper
from lib.guest.disks import mapped_disk, null_disk
from lib.guest.drive import Controller
from lib.guest.modules import idle_meminfo, orphaned_vmalloc_bytes, slab_objects, vmalloc_bytes
from lib.harness.kernels import repeated
from lib.waiting import comes_true

from spekctl.kernel.prober import Prober

pytestmark = [pytest.mark.any_kernel, pytest.mark.usefixtures("augment_module", "prober_module")]

IOS = int(os.environ.get("SPEK_AUGMENT_IOS", repeated(20_000, 100_000)))
# No round begins after these; a guest that is emulated beside others has no rate to count on.
SECONDS = float(os.environ.get("SPEK_AUGMENT_SECONDS", "inf"))
LEAST_ROUNDS, ROUND = 5, 100_000
NAME = "spek-soaked"
RAID_MIB, SSD_MIB, SPARE_MIB = 64, 16, 10
LOG_BLOCKS = 2048
SIZES = [(4 * KIB, 6), (16 * KIB, 2), (64 * KIB, 1)]


@pytest.fixture
def node() -> Iterator[str]:
    """A cache that copies at first touch and destages all the time."""
    with (
        null_disk(RAID_MIB, memory_backed=1) as raid,
        null_disk(SSD_MIB, memory_backed=1) as ssd,
        null_disk(SPARE_MIB, memory_backed=1) as first,
        null_disk(SPARE_MIB, memory_backed=1) as second,
    ):
        features = f"copy first age_ms 500 quiet_ms 100 format {uuid.uuid4()}"
        words = f"{raid} {ssd} 2 {first} {second} {LOG_BLOCKS} {len(features.split())} {features}"
        with mapped_disk(NAME, f"0 {RAID_MIB << 11} spek-augment {words}") as mapped:
            yield mapped


@contextlib.contextmanager
def flushes(node: str) -> Iterator[list[int]]:
    """Now and then; gives a list whose length is their number."""
    done: list[int] = []
    stop = threading.Event()
    fd = os.open(node, os.O_RDONLY)

    def flush() -> None:
        while not stop.wait(0.05):
            os.fsync(fd)
            done.append(1)

    thread = threading.Thread(target=flush)
    thread.start()
    try:
        yield done
    finally:
        stop.set()
        thread.join()
        os.close(fd)


def rounds(ios: int) -> list[int]:
    """I/Os of each round."""
    number = max(LEAST_ROUNDS, ios // ROUND)
    return [ios // number + (turn < ios % number) for turn in range(number)]


def held() -> tuple[int, int]:
    return vmalloc_bytes("spek_augment"), orphaned_vmalloc_bytes()


def test_soak(
    controller: Controller,
    node: str,
    record_property: Callable[[str, object], None],
    capfd: pytest.CaptureFixture[str],
) -> None:
    account, begun_s = Account(), time.monotonic()
    options = {"sizes": SIZES, "align_bytes": 4 * KIB, "depth": 32, "workers": 2, "backend": "bio"}
    # The device's own counters have the flushes, too.
    mix = Mix("cache", 1000, half(node, **options), node, by_disk=False)
    marks: list[dict[str, int]] = []
    with Prober() as prober, flushes(node) as flushed:
        for count in rounds(IOS):
            if len(marks) >= LEAST_ROUNDS and time.monotonic() - begun_s > SECONDS:
                break
            soak(controller, prober, mix, count, account)
            gc.collect()
            marks.append(slab_objects())
            if len(marks) == 1:  # what is allocated once, and stays
                memory, first = idle_meminfo(), held()
            with capfd.disabled():
                print(
                    f"{account.ios:,} of {IOS:,} I/Os in {time.monotonic() - begun_s:.0f} s; "
                    f"memory since the first round {changes(memory)}",
                    flush=True,
                )
        assert held() == first
        assert_no_leak(marks, 1)
        has_come_back = comes_true(lambda: lost_kib(memory) < FLAT_KIB, 60)
        assert has_come_back, f"memory lost: {lost_kib(memory)} KiB; {changes(memory)}"
        lost = lost_kib(memory)
    words = device_mapper.status(NAME).split()
    mode, hits, copies, destaged, errors = (words[at] for at in (0, 8, 10, 14, 16))
    assert (mode, errors) == ("normal", "0")
    # All rounds, or the whole rounds that SECONDS had room for.
    assert flushed and account.ios == sum(rounds(IOS)[: len(marks)])
    assert min(int(hits), int(copies), int(destaged)) > 0
    assert Path(node).exists()
    record_property(
        "count",
        f"{account.ios:,} I/Os, {account.bytes >> 20:,} MiB, {len(flushed):,} flushes; "
        f"{hits} blocks from the SSD, {copies} copied, {destaged} destaged; "
        f"memory in use {lost:+,} KiB",
    )
