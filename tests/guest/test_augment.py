# SPDX-License-Identifier: GPL-2.0
"""spek_augment.ko: a cache on an SSD before a RAID.

What the machine does with each I/O is tested in userspace, tests/unit/augment; here it is the
target: data get where they belong, survive, and stay right when devices fail.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import re
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from lib.guest import device_mapper
from lib.guest.augment import (
    BLOCK,
    LOG_BLOCKS,
    LOG_START,
    NAME,
    QUIET,
    RAID_MIB,
    SECTORS,
    SPARE_MIB,
    SSD_MIB,
    Cache,
    Devices,
    KernelLog,
    assert_holds,
    assert_refused,
    attached,
    contents,
    disks,
    fresh,
)
from lib.guest.disks import mapped_disk, null_disk, settle
from lib.waiting import eventually

from spekctl.augment import format

pytestmark = [pytest.mark.debug_kernel, pytest.mark.usefixtures("augment_module")]

AT_VERSION, GENERATIONS = 8, 16  # kmod/augment/core/format.h


@pytest.fixture
def devices() -> Iterator[Devices]:
    with disks() as null_disks:
        yield null_disks


def counters(node: str) -> tuple[int, int]:
    """Reads and writes that a disk has served."""
    words = Path("/sys/class/block", Path(node).name, "stat").read_text().split()
    return int(words[0]), int(words[4])


def test_what_was_written_is_read_and_destaged(devices: Devices) -> None:
    with attached(devices, fresh()) as cache:
        raid_before = counters(devices.raid)
        for block in range(0, 200, 7):
            cache.write(block, 1)
        cache.write(1000, 1, blocks=200)  # split by device mapper, and over several records
        cache.write(1010, 2, blocks=3)
        cache.flush()

        cache.assert_holds(0, 1)
        cache.assert_holds(196, 1)
        cache.assert_holds(1000, 1, blocks=10)
        cache.assert_holds(1010, 2, blocks=3)
        cache.assert_holds(1013, 1, blocks=187)
        status = cache.status()
        assert status.mode == "normal" and status.records > 29
        assert status.dirty == 29 + 200 and status.hits >= 202
        assert counters(devices.raid) == raid_before

        device_mapper.message(NAME, "destage")
        eventually(lambda: cache.status().dirty == 0, "something stays dirty")
        fd = os.open(devices.raid, os.O_RDONLY | os.O_DIRECT)
        try:
            assert_holds(fd, 196, 1)
            assert_holds(fd, 1000, 1, blocks=10)
            assert_holds(fd, 1010, 2, blocks=3)
        finally:
            os.close(fd)


def test_the_log_wraps(devices: Devices) -> None:
    with attached(devices, fresh()) as cache:
        for version in range(1, 9):
            cache.write(0, version, blocks=400)
        cache.flush()
        cache.assert_holds(0, 8, blocks=400)
        assert cache.status().mode == "normal"
    with attached(devices) as cache:
        cache.assert_holds(0, 8, blocks=400)


def test_a_block_is_copied_at_its_second_touch(devices: Devices) -> None:
    with attached(devices, fresh()) as cache:
        for _ in range(2):
            os.preadv(cache.fd, [mmap.mmap(-1, BLOCK)], 77 * BLOCK)
        before = counters(devices.raid)
        hits = cache.status().hits
        eventually(lambda: read_hits(cache) > hits, "no read is served by the SSD")
        assert counters(devices.raid)[1] == before[1]


def read_hits(cache: Cache) -> int:
    os.preadv(cache.fd, [mmap.mmap(-1, BLOCK)], 77 * BLOCK)
    return cache.status().hits


def test_sleeping_members_are_left_alone_but_for_the_mirror(devices: Devices) -> None:
    with attached(devices, fresh()) as cache:
        begin(cache)
        sleep(0, 1)
        assert cache.status().awake & 6 == 0
        before = [counters(node)[1] for node in (devices.raid, devices.spares[1])]
        for block in range(50):
            cache.write(block, 1)
        after = [counters(node)[1] for node in (devices.raid, devices.spares[1])]
        status = cache.status()

        assert after == before
        assert (status.awake & 6, status.mirror) == (2, 1)
        assert status.wakes == (1, 0, 0, 0, 0)
        cache.assert_holds(0, 1, blocks=50)


def test_members_are_woken_in_turn_and_causes_are_counted(devices: Devices) -> None:
    policy = f"{fresh()} copy first prefetch_blocks 8"
    with attached(devices, policy) as cache:
        begin(cache)
        mirrors = []
        for block in range(4):
            sleep(0, 1)
            cache.write(block, 1)
            mirrors.append(cache.status().mirror)
        assert mirrors == [1, 2, 1, 2]
        sleep(0, 1)
        read_ahead = cache.status().prefetched
        os.preadv(cache.fd, [mmap.mmap(-1, BLOCK)], 100 * BLOCK)
        # They come after what was asked for.
        eventually(
            lambda: cache.status().prefetched == read_ahead + 8, "8 blocks are not read ahead"
        )
        device_mapper.message(NAME, "awake 0 1")
        sleep(0)
        device_mapper.message(NAME, "awake 0 1")
        status = cache.status()
        assert status.wakes == (4, 1, 0, 0, 1)
        read_ahead = cache.status().prefetched
        os.preadv(cache.fd, [mmap.mmap(-1, BLOCK)], 500 * BLOCK)
        eventually(
            lambda: cache.status().prefetched == read_ahead + 8, "8 blocks are not read ahead"
        )
        table = ["dmsetup", "table", NAME]
        shown = subprocess.run(table, check=True, capture_output=True, text=True).stdout
        assert " copy first wake turn prefetch_blocks 8 " in shown


def begin(cache: Cache) -> None:
    """Wait until nothing is left of the start: superblocks that are written show that a member is
    awake, and whoever looks at new devices reads them."""
    eventually(lambda: cache.status().mode == "normal", "recovery does not end")
    settle()


def sleep(*members: int) -> None:
    for member in members:
        device_mapper.message(NAME, f"awake {member} 0")


def test_data_survive_removal(devices: Devices) -> None:
    with attached(devices, fresh()) as cache:
        cache.write(5, 1, blocks=100)
        generation = cache.status().generation
    raid_writes = counters(devices.raid)[1]
    with attached(devices) as cache:
        cache.assert_holds(5, 1, blocks=100)
        status = cache.status()
        assert (status.mode, status.generation) == ("normal", generation + 1)
        # Recovery has only read the log: what was dirty is, and is destaged when wanted.
        assert status.dirty == 100
        assert counters(devices.raid)[1] == raid_writes
        device_mapper.message(NAME, "destage")
        eventually(lambda: cache.status().dirty == 0, "the log is not destaged")
        assert counters(devices.raid)[1] > raid_writes
        cache.assert_holds(5, 1, blocks=100)


def copy_disk(one: str, to: str) -> None:
    subprocess.run(
        ["dd", f"if={one}", f"of={to}", "bs=1M", "iflag=direct", "oflag=direct", "status=none"],
        check=True,
    )


@pytest.mark.parametrize("missing", ["nothing", "ssd", "spare"])
def test_flushed_data_survive_a_cut(devices: Devices, missing: str) -> None:
    """The log is copied under writes: what was flushed before is in the copy."""
    with disks() as copies:
        with attached(devices, fresh()) as cache:
            cache.write(3000, 1, blocks=60)
            cache.flush()
            stop = threading.Event()
            with writer(cache, 100, 200, stop):
                for one, to in zip(devices.spares, copies.spares, strict=True):
                    copy_disk(one, to)
                copy_disk(devices.ssd, copies.ssd)
                stop.set()
        ssd = "-" if missing == "ssd" else copies.ssd
        spares = ("-", copies.spares[1]) if missing == "spare" else copies.spares
        with attached(Devices(copies.raid, ssd, spares)) as cache:
            cache.assert_holds(3000, 1, blocks=60)
            status = cache.status()
            assert status.mode == ("passing" if missing == "ssd" else "normal")
            assert status.live == {"nothing": 7, "ssd": 6, "spare": 5}[missing]


@contextmanager
def writer(cache: Cache, first: int, blocks: int, stop: threading.Event) -> Iterator[None]:
    """Writes block after block, once each, until it is stopped; the test fails if one fails."""
    failures: list[OSError] = []

    def write() -> None:
        try:
            for block in range(first, first + blocks):
                if stop.is_set():
                    return
                cache.write(block, 1)
        except OSError as error:
            failures.append(error)

    thread = threading.Thread(target=write)
    thread.start()
    try:
        yield
    finally:
        thread.join()
    assert not failures


def test_suspend_and_another_table_under_writes(devices: Devices) -> None:
    with attached(devices, fresh()) as cache:
        with writer(cache, 0, 600, threading.Event()):
            for turn in range(4):
                device_mapper.suspend(NAME)
                device_mapper.resume(NAME)
                device_mapper.replace(NAME, devices.line(f"{QUIET} stripe_blocks {1 + turn}"))
        cache.flush()
        cache.assert_holds(0, 1, blocks=200)
        cache.assert_holds(400, 1, blocks=200)
        assert cache.status().mode == "normal"


def test_suspend_messages_and_other_features_while_the_log_is_destaged(devices: Devices) -> None:
    """A suspended cache carries out messages when it resumes."""
    words = "destage", "awake 1 0", "awake 1 1", "lost 0"
    with attached(devices, fresh()) as cache, asked_for_status():
        begin(cache)
        with writer(cache, 0, 400, threading.Event()):
            for turn in range(6):
                device_mapper.message(NAME, "destage")
                device_mapper.suspend(NAME)
                before = counters(devices.raid)
                for word in words:
                    device_mapper.message(NAME, word)
                assert counters(devices.raid) == before
                if turn % 2:
                    line = devices.line(
                        f"{QUIET} stripe_blocks {turn} high_blocks 64 low_blocks 32"
                    )
                    device_mapper.replace(NAME, line)
                else:
                    device_mapper.resume(NAME)
        cache.flush()
        device_mapper.message(NAME, "destage")
        device_mapper.suspend(NAME)
        device_mapper.message(NAME, "lose 2")
        device_mapper.resume(NAME)
        eventually(lambda: cache.status().dirty == 0, "something stays dirty")
        cache.write(400, 1)
        cache.flush()
        status = cache.status()
        assert (status.mode, status.live, status.lost) == ("normal", 0b011, 0)
        cache.assert_holds(0, 1, blocks=401)
        fd = os.open(devices.raid, os.O_RDONLY | os.O_DIRECT)
        try:
            assert_holds(fd, 0, 1, blocks=400)
        finally:
            os.close(fd)


@contextmanager
def asked_for_status() -> Iterator[None]:
    """Somebody asks for the status all the time."""
    stop = threading.Event()
    seen: list[str] = []

    def ask() -> None:
        while not stop.wait(0.02):
            seen.append(device_mapper.status(NAME))

    thread = threading.Thread(target=ask)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
    modes = {status.split()[0] for status in seen}
    assert {"normal"} <= modes <= {"normal", "recovering", "draining"}
    assert all(len(status.split()) == 23 for status in seen)


@pytest.mark.parametrize("device", [0, 1])
def test_a_device_that_fails_under_writes_is_done_without(devices: Devices, device: int) -> None:
    node = devices.ssd if device == 0 else devices.spares[0]
    sectors = (SSD_MIB if device == 0 else SPARE_MIB) << 11
    with mapped_disk("spek-bad", f"0 {sectors} linear {node} 0") as bad:
        ssd = bad if device == 0 else devices.ssd
        first = bad if device == 1 else devices.spares[0]
        with attached(Devices(devices.raid, ssd, (first, devices.spares[1])), fresh()) as cache:
            with writer(cache, 0, 200, threading.Event()):
                device_mapper.replace("spek-bad", f"0 {sectors} error")
            cache.write(200, 1, blocks=10)
            cache.flush()
            cache.assert_holds(0, 1, blocks=210)
            status = cache.status()
            assert status.mode == ("passing" if device == 0 else "normal")
            assert status.live == 7 & ~(1 << device)


def raid_holds(devices: Devices, block: int, version: int, blocks: int) -> None:
    raid = Cache(devices.raid)
    raid.write(block, version, blocks)
    raid.close()


@contextmanager
def reader(cache: Cache, *ranges: tuple[int, int, int]) -> Iterator[None]:
    """Reads ranges of blocks, each in a thread of its own; the test fails if one has other data."""
    failures: list[BaseException] = []

    def read(block: int, version: int, blocks: int) -> None:
        try:
            cache.assert_holds(block, version, blocks)
        except (OSError, AssertionError) as error:
            failures.append(error)

    threads = [threading.Thread(target=read, args=part) for part in ranges]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        for thread in threads:
            thread.join()
    assert not failures


@pytest.mark.parametrize("how", ["fails", "is given up"])
def test_reads_in_flight_on_an_ssd_that_goes_are_served_by_others(
    devices: Devices, how: str
) -> None:
    """What was written by the mirror, what was copied by the RAID."""
    raid_holds(devices, 3000, 7, blocks=8)
    with mapped_disk("spek-bad", f"0 {SSD_MIB << 11} linear {devices.ssd} 0") as ssd:
        features = f"{fresh()} copy first"
        with attached(Devices(devices.raid, ssd, devices.spares), features) as cache:
            cache.write(40, 1, blocks=20)
            eventually(lambda: hits_of(cache, 3000, 7, 8) == 8, "not all were copied")
            before = cache.status().hits
            device_mapper.suspend("spek-bad")
            with reader(cache, *((block, 1, 1) for block in range(40, 60)), (3000, 7, 1)):
                eventually(lambda: cache.status().hits >= before + 21, "no read hits")
                if how == "fails":
                    device_mapper.replace("spek-bad", f"0 {SSD_MIB << 11} error")
                else:
                    device_mapper.message(NAME, "lose 0")
                    device_mapper.resume("spek-bad")
            # A read that fails is no loss, but the copy that is tried of the RAID's block is.
            eventually(lambda: cache.status().mode == "passing", "the log is not drained")
            cache.assert_holds(40, 1, blocks=20)
            cache.assert_holds(3000, 7, blocks=8)


def hits_of(cache: Cache, block: int, version: int, blocks: int) -> int:
    """Read blocks one by one. Return: how many of them the SSD has served."""
    before = cache.status().hits
    for number in range(block, block + blocks):
        cache.assert_holds(number, version)
    return cache.status().hits - before


def test_hits_while_the_log_wraps(devices: Devices) -> None:
    """Writes wait for reads of their place in the log, and go on; no read goes back in time."""
    blocks, stop = 200, threading.Event()
    failures: list[str] = []

    def read(first: int) -> None:
        newest = dict.fromkeys(range(blocks), 1)
        block = first
        with mmap.mmap(-1, BLOCK) as buffer:
            while not stop.is_set():
                block = (block * 21 + 3) % blocks
                os.preadv(cache.fd, [buffer], block * BLOCK)
                version = int.from_bytes(buffer[:8], "little") >> 32
                if buffer[:] != contents(block, version) or version < newest[block]:
                    failures.append(f"block {block}: {version} after {newest[block]}")
                    return
                newest[block] = version

    with attached(devices, fresh()) as cache:
        cache.write(0, 1, blocks=blocks)
        threads = [threading.Thread(target=read, args=[first]) for first in range(3)]
        for thread in threads:
            thread.start()
        for version in range(2, 24):
            cache.write(0, version, blocks=blocks)
        stop.set()
        for thread in threads:
            thread.join()
        assert not failures
        cache.assert_holds(0, 23, blocks=blocks)
        assert cache.status().mode == "normal"


def test_the_log_of_a_lost_ssd_is_read_from_the_mirror(devices: Devices) -> None:
    with attached(devices, fresh()) as cache:
        cache.write(40, 1, blocks=80)
        cache.flush()
    with attached(Devices(devices.raid, "-", devices.spares)) as cache:
        cache.assert_holds(40, 1, blocks=80)
        assert cache.status().mode == "passing"


def test_a_device_can_be_given_up(devices: Devices) -> None:
    with attached(devices, fresh()) as cache:
        cache.write(40, 1, blocks=80)
        device_mapper.message(NAME, "lose 0")
        eventually(lambda: cache.status().mode == "passing", "the log is not drained")
        cache.assert_holds(40, 1, blocks=80)


def test_a_cache_of_which_no_device_is_left_has_lost_nothing_that_was_destaged(
    devices: Devices,
) -> None:
    with attached(devices, fresh()) as cache, contextlib.closing(KernelLog()) as log:
        cache.write(40, 1, blocks=80)
        device_mapper.message(NAME, "destage")
        eventually(lambda: cache.status().dirty == 0, "the log is not destaged")
        device_mapper.suspend(NAME)
        for device in range(3):
            device_mapper.message(NAME, f"lose {device}")
        device_mapper.resume(NAME)
        eventually(lambda: cache.status().mode == "failed", "no superblock is missed")
        assert (cache.status().live, cache.status().lost) == (0, 0)
        cache.assert_holds(40, 1, blocks=80)
        with pytest.raises(OSError, match="Input/output error"):
            cache.write(40, 2)
        text = log.read()
        assert "no device of the cache is left; the RAID has all that was written" in text
        assert "readable copy" not in text


WRONG: list[tuple[Callable[[str], str], str]] = [
    (lambda line: line.replace(f"0 {SECTORS} ", f"0 {SECTORS - 8} "), "all of the RAID's blocks"),
    (lambda line: line.replace(" 2 ", " 9 ", 1), "The number of members is 1 to 8."),
    (lambda line: line.replace(f" {LOG_BLOCKS} ", " 2047 "), "2 blocks more than the log"),
    (lambda line: line.replace(f" {LOG_BLOCKS} ", " 100 "), "The log has 256 to 2^30 blocks."),
    (lambda line: line.replace("quiet_ms", "calm_ms"), "There are the features"),
    (lambda line: line + " copy", "names and values in turns"),
    (lambda line: re.sub(r"quiet_ms \S+", "copy often", line), "never, first or second"),
    (lambda line: re.sub(r"retry_ms \S+", "retry_ms 0", line), "is not 0."),
    (lambda line: re.sub(r"format \S+", "format 77", line), "takes a UUID"),
    (lambda line: re.sub(r"quiet_ms \S+", "raid " + "n" * 252, line), "1 to 251 characters"),
]


@pytest.mark.debug_kernel_at_length
@pytest.mark.parametrize("change, sentence", WRONG, ids=[sentence for _, sentence in WRONG])
def test_a_wrong_line_is_refused(
    devices: Devices, change: Callable[[str], str], sentence: str
) -> None:
    line = devices.line(fresh())
    assert change(line) != line
    assert_refused(change(line), sentence)


def test_devices_of_other_sets_are_refused(devices: Devices) -> None:
    features = fresh()
    assert_refused(devices.line(), "It has no superblock of a cache")
    with disks() as others:
        for each in (devices, others):
            with attached(each, fresh() if each is others else features):
                pass
        mixed = Devices(devices.raid, devices.ssd, (devices.spares[0], others.spares[1]))
        assert_refused(mixed.line(), "of member 1: The device belongs to another set.")
    swapped = Devices(devices.raid, devices.ssd, (devices.spares[1], devices.spares[0]))
    assert_refused(swapped.line(), "in another order")
    assert_refused(devices.line(features), "of this UUID already")


def test_a_raid_that_has_shrunk_is_refused_and_nothing_is_lost(devices: Devices) -> None:
    last = SECTORS // 8 - 1
    with attached(devices, fresh()) as cache:
        cache.write(5, 1)
        cache.write(last, 1)
        cache.flush()
    with null_disk(RAID_MIB // 2, memory_backed=1) as small:
        shrunk = Devices(small, devices.ssd, devices.spares)
        line = shrunk.line().replace(f"0 {SECTORS} ", f"0 {SECTORS // 2} ")
        assert_refused(line, "The log has data beyond its end")
    with attached(devices) as cache:
        cache.assert_holds(5, 1)
        cache.assert_holds(last, 1)


@contextmanager
def block_of(node: str, number: int) -> Iterator[mmap.mmap]:
    """A block of a device, written back at the end."""
    fd = os.open(node, os.O_RDWR | os.O_DIRECT)
    try:
        with mmap.mmap(-1, BLOCK) as buffer:
            assert os.preadv(fd, [buffer], number * BLOCK) == BLOCK
            yield buffer
            assert os.pwrite(fd, buffer, number * BLOCK) == BLOCK
    finally:
        os.close(fd)


def test_a_log_that_ends_before_its_newest_generation_is_refused(devices: Devices) -> None:
    """What was written before a generation began was flushed, so its end there is damage."""
    with attached(devices, fresh()) as cache:
        for block in range(3):
            cache.write(block, 1)
            cache.flush()
    with attached(devices) as cache:
        cache.assert_holds(0, 1, blocks=3)
    # The header of the second record, of header and a block each.
    for node in (devices.ssd, *devices.spares):
        with block_of(node, LOG_START + 2) as header:
            header[:] = bytes(BLOCK)
    assert_refused(devices.line(), "The log ends before records that it had at the last start")
    with attached(devices, f"{QUIET} unread end") as cache:
        begin(cache)
        cache.assert_holds(0, 1)
        assert cache.status().dirty == 1


def test_superblocks_of_another_version_are_refused_by_name(devices: Devices) -> None:
    with attached(devices, fresh()) as cache:
        cache.write(7, 1)
        cache.flush()
    versions = []
    for place in range(LOG_START):
        with block_of(devices.ssd, place) as superblock:
            versions.append(superblock[AT_VERSION])
            superblock[AT_VERSION] -= 1
    assert_refused(devices.line(), "Its superblock is of another version of the format")
    for place, version in enumerate(versions):
        with block_of(devices.ssd, place) as superblock:
            superblock[AT_VERSION] = version
    with attached(devices) as cache:
        cache.assert_holds(7, 1)


def names(devices: Devices) -> set[str]:
    """Names of the RAID in all superblocks."""
    read = set()
    for node in (devices.ssd, *devices.spares):
        for place in range(LOG_START):
            with block_of(node, place) as block:
                superblock = format.superblock(bytes(block))
                assert superblock is not None
                read.add(superblock.raid)
    return read


def test_superblocks_keep_the_name_of_the_raid_that_a_table_gives(devices: Devices) -> None:
    longest = "n" * 251
    for features, name in (
        (f"{fresh()} raid wwn=a,serial=b", "wwn=a,serial=b"),
        (QUIET, "wwn=a,serial=b"),
        (f"{QUIET} raid {longest}", longest),
        (f"{QUIET} raid -", ""),
        (QUIET, ""),
    ):
        with attached(devices, features) as cache:
            begin(cache)
            cache.write(7, 1)
            cache.flush()
        assert names(devices) == {name}
    with attached(devices) as cache:
        cache.assert_holds(7, 1)


def test_a_log_of_too_many_generations_is_destaged_at_the_start(devices: Devices) -> None:
    """Superblocks list 16; each life adds its own."""
    features = fresh()
    for life in range(GENERATIONS + 2):
        with attached(devices, features) as cache:
            begin(cache)
            status = cache.status()
            assert (status.mode, status.dirty) == ("normal", life % GENERATIONS), life
            for block in range(life):
                cache.assert_holds(block, 1)
            cache.write(life, 1)
            cache.flush()
        features = QUIET
