# SPDX-License-Identifier: GPL-2.0
"""spek_augment.ko: reads of the log and of superblocks that fail, and blocks that are lost.

Which device is read next is tested in userspace, tests/unit/augment; here it is the target, on
disks with blocks that cannot be read.
"""

from __future__ import annotations

import contextlib
import errno
import mmap
import os
import subprocess
from collections.abc import Iterable, Iterator

import pytest
from lib.guest import device_mapper
from lib.guest.augment import (
    BLOCK,
    LOG_START,
    NAME,
    QUIET,
    SPARE_MIB,
    SSD_MIB,
    Cache,
    Devices,
    KernelLog,
    assert_holds,
    assert_refused,
    attached,
    disks,
    fresh,
)
from lib.guest.disks import mapped_disk
from lib.waiting import eventually

from spekctl.augment import check

pytestmark = [pytest.mark.debug_kernel, pytest.mark.usefixtures("augment_module")]


@pytest.fixture
def devices() -> Iterator[Devices]:
    with disks() as null_disks:
        yield null_disks


def with_hole(node: str, *blocks: int, mib: int = SSD_MIB) -> str:
    """A table of the SSD, or of a device of another length, whose @blocks cannot be read or
    written."""
    lines, at = [], 0
    for hole in (*(block * 8 for block in blocks), mib << 11):
        if hole > at:
            lines.append(f"{at} {hole - at} linear {node} {at}")
        if hole < mib << 11:
            lines.append(f"{hole} 8 error")
        at = hole + 8
    return "\n".join(lines)


@pytest.mark.parametrize("then", ["mended", "given up"])
def test_a_log_that_cannot_be_read_on_is_given_up_on_request_only(
    devices: Devices, then: str
) -> None:
    """The second of three records cannot be read from the SSD, and its mirror is missing."""
    whole = f"0 {SSD_MIB << 11} linear {devices.ssd} 0"
    with mapped_disk("spek-bad", whole) as ssd:
        with attached(Devices(devices.raid, ssd, devices.spares), fresh()) as cache:
            for block in range(3):
                cache.write(block, 1)
                cache.flush()
        device_mapper.replace("spek-bad", with_hole(devices.ssd, 2 + 3))
        left = Devices(devices.raid, ssd, ("-", devices.spares[1]))
        assert_refused(left.line(), "The log cannot be read on")
        if then == "mended":
            device_mapper.replace("spek-bad", whole)
            with attached(left) as cache:
                cache.assert_holds(0, 1, blocks=3)
            return
        with attached(left, f"{QUIET} unread end") as cache:
            eventually(lambda: cache.status().mode == "failed", "what is lost is not told")
            assert told("lost", "0") == "1+1 -"
            # Also what follows it in the log.
            assert [read_error(cache, block) for block in range(3)] == [0, errno.EIO, 0]
            cache.assert_holds(2, 1)
            device_mapper.message(NAME, "forget 1")
            eventually(lambda: cache.status().mode == "normal", "writes are not accepted")
            assert cache.status().dirty == 0
            with open(devices.raid, "rb") as raid:
                raid.seek(BLOCK)
                assert raid.read(BLOCK) == bytes(BLOCK)


def test_a_log_ends_at_a_header_that_nobody_can_read_on_request_only(devices: Devices) -> None:
    """Where the next record begins is not known without it."""
    whole = f"0 {SSD_MIB << 11} linear {devices.ssd} 0"
    with mapped_disk("spek-bad", whole) as ssd:
        with attached(Devices(devices.raid, ssd, devices.spares), fresh()) as cache:
            for block in range(3):
                cache.write(block, 1)
                cache.flush()
        device_mapper.replace("spek-bad", with_hole(devices.ssd, LOG_START + 2))
        left = Devices(devices.raid, ssd, ("-", devices.spares[1]))
        assert_refused(left.line(), "The log cannot be read on")
        with attached(left, f"{QUIET} unread end") as cache:
            cache.assert_holds(0, 1)
            device_mapper.message(NAME, "destage")
            eventually(lambda: cache.status().dirty == 0, "the log is not destaged")
            with open(devices.raid, "rb") as raid:
                raid.seek(BLOCK)
                assert raid.read(BLOCK) == bytes(BLOCK)


# Blocks of a record that the SSD and its mirror cannot read: 0 is the header, and 8 of data follow.
HOLES = {
    "data on either": ((3,), (6,)),
    "data on the mirror only": (range(1, 9), (0,)),
    "data on the SSD only": ((0,), range(1, 9)),
}


@pytest.mark.parametrize("holes", HOLES.values(), ids=HOLES)
def test_a_record_is_put_together_of_what_each_device_can_read(
    devices: Devices, holes: tuple[Iterable[int], Iterable[int]]
) -> None:
    """Of the header, too: it may be on one device, and what it is about on the other."""
    with (
        mapped_disk("spek-bad", f"0 {SSD_MIB << 11} linear {devices.ssd} 0") as ssd,
        mapped_disk("spek-worse", f"0 {SPARE_MIB << 11} linear {devices.spares[0]} 0") as spare,
    ):
        changed = Devices(devices.raid, ssd, (spare, devices.spares[1]))
        with attached(changed, fresh()) as cache:
            cache.write(0, 1, blocks=8)
            cache.write(8, 1, blocks=8)
            cache.flush()
            assert cache.status().mirror == 1
        bad, worse = ([LOG_START + block for block in blocks] for blocks in holes)
        device_mapper.replace("spek-bad", with_hole(devices.ssd, *bad))
        device_mapper.replace("spek-worse", with_hole(devices.spares[0], *worse, mib=SPARE_MIB))
        log = check.check([ssd, *changed.spares]).log
        assert log is not None
        assert (log.records, log.scattered, log.dirty_blocks, log.broken) == (2, 1, 16, None)
        with attached(changed) as cache:
            # A log that no device can read alone is drained before recovery ends.
            eventually(lambda: cache.status().mode == "normal", "recovery does not end")
            assert (cache.status().dirty, cache.status().lost) == (0, 0)
            cache.assert_holds(0, 1, blocks=16)
        raid = Cache(devices.raid)
        assert_holds(raid.fd, 0, 1, blocks=16)
        raid.close()


def test_a_device_that_fails_in_recovery_is_done_without(devices: Devices) -> None:
    """The mirror cannot read its part of the log, nor write the copy of the SSD's."""
    with mapped_disk("spek-bad", f"0 {SPARE_MIB << 11} linear {devices.spares[0]} 0") as spare:
        changed = Devices(devices.raid, devices.ssd, (spare, devices.spares[1]))
        with attached(changed, fresh()) as cache:
            cache.write(0, 1, blocks=20)
            cache.flush()
            assert cache.status().mirror == 1
        bad = range(LOG_START, LOG_START + 21)
        device_mapper.replace("spek-bad", with_hole(devices.spares[0], *bad, mib=SPARE_MIB))
        with attached(changed) as cache:
            cache.assert_holds(0, 1, blocks=20)
            status = cache.status()
            assert (status.mode, status.live, status.dirty) == ("normal", 0b101, 0)
            cache.write(20, 1)
            cache.flush()
        with attached(Devices(devices.raid, devices.ssd, ("-", devices.spares[1]))) as cache:
            cache.assert_holds(0, 1, blocks=21)


def test_a_start_that_was_refused_is_repeated_by_the_next_resume(devices: Devices) -> None:
    """The table stays, and its cache is neither served from nor told anything."""
    whole = f"0 {SSD_MIB << 11} linear {devices.ssd} 0"
    with mapped_disk("spek-bad", whole) as ssd:
        changed = Devices(devices.raid, ssd, devices.spares)
        with attached(changed, fresh()) as cache:
            for block in range(3):
                cache.write(block, 1)
            cache.flush()
            assert cache.status().mirror == 1
            device_mapper.replace("spek-bad", with_hole(devices.ssd, LOG_START + 3))
            left = Devices(devices.raid, ssd, ("-", devices.spares[1]))
            with contextlib.closing(KernelLog()) as log:
                with pytest.raises(device_mapper.Refused):
                    device_mapper.replace(NAME, left.line())
                assert "The log cannot be read on" in log.read()
                with pytest.raises(device_mapper.Refused):
                    device_mapper.resume(NAME)
                assert "The log cannot be read on" in log.read()
            assert cache.status().mode == "recovering"
            with pytest.raises(device_mapper.Refused):
                device_mapper.message(NAME, "destage")
            device_mapper.replace("spek-bad", whole)
            device_mapper.resume(NAME)
            cache.assert_holds(0, 1, blocks=3)
            assert cache.status().live == 0b101


def test_a_superblock_that_cannot_be_read_leaves_the_other(devices: Devices) -> None:
    whole = f"0 {SSD_MIB << 11} linear {devices.ssd} 0"
    with mapped_disk("spek-bad", whole) as ssd:
        changed = Devices(devices.raid, ssd, devices.spares)
        with attached(changed, fresh()) as cache:
            cache.write(7, 1)
            cache.flush()
        device_mapper.replace("spek-bad", with_hole(devices.ssd, 0))
        with attached(changed) as cache:
            cache.assert_holds(7, 1)


def told(*message: str) -> str:
    """The answer to a message."""
    command = ["dmsetup", "message", NAME, "0", *message]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def read_error(cache: Cache, block: int) -> int:
    with mmap.mmap(-1, BLOCK) as buffer:
        try:
            os.preadv(cache.fd, [buffer], block * BLOCK)
        except OSError as error:
            return error.errno or errno.EIO
    return 0


@pytest.mark.allow_kernel_messages(r"spek-augment: .* (is lost|are lost|copy left)|I/O error")
def test_a_block_without_a_readable_copy_is_named_and_all_others_are_served(
    devices: Devices,
) -> None:
    """The SSD is given up, and the mirror cannot read two blocks of the log."""
    blocks, gone = 40, {7, 20}
    whole = f"0 {SPARE_MIB << 11} linear {devices.spares[0]} 0"
    with mapped_disk("spek-bad", whole) as spare, contextlib.closing(KernelLog()) as log:
        changed = Devices(devices.raid, devices.ssd, (spare, devices.spares[1]))
        with attached(changed, fresh()) as cache:
            for block in range(blocks):
                cache.write(block, 1)
            cache.flush()
            assert cache.status().mirror == 1
            bad = [LOG_START + 2 * block + 1 for block in sorted(gone)]
            device_mapper.replace("spek-bad", with_hole(devices.spares[0], *bad, mib=SPARE_MIB))
            device_mapper.message(NAME, "lose 0")
            eventually(lambda: cache.status().mode == "failed", "nothing counts as lost")
            status = cache.status()
            assert (status.dirty, status.lost) == (2, 2)
            assert told("lost", "0") == "7+1 20+1 -"
            for block in range(blocks):
                assert read_error(cache, block) == (errno.EIO if block in gone else 0)
            cache.assert_holds(0, 1, blocks=7)
            raid = Cache(devices.raid)
            assert_holds(raid.fd, 21, 1, blocks=blocks - 21)
            raid.close()
            with pytest.raises(OSError, match="Input/output error"):
                cache.write(0, 2)
            for wrong in ("forget 1", "forget 0", "lost -1"):
                with pytest.raises(AssertionError):
                    device_mapper.message(NAME, wrong)
            text = log.read()
            assert "2 blocks of 4 KiB have no readable copy left" in text
            for block in gone:
                assert f"blocks {block} to {block} are lost" in text

            device_mapper.message(NAME, "forget 2")
            eventually(lambda: cache.status().mode == "passing", "writes are not accepted")
            assert told("lost", "0") == "-"
            cache.write(7, 2)
            cache.flush()
            cache.assert_holds(7, 2)
            # As the RAID had it before the cache.
            with open(devices.raid, "rb") as file:
                file.seek(20 * BLOCK)
                assert file.read(BLOCK) == bytes(BLOCK)
