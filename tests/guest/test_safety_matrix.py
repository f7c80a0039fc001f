# SPDX-License-Identifier: GPL-2.0
"""Nobody loses a disk: everybody who can have one, and everything that can be on one.

One disk for all cases, wiped between them. In each: spekctl refuses in one exact sentence with
its exit code, the kernel refuses by itself whoever has no spekctl, and a checksum of the whole
device, read past the page cache, is afterwards what it was before.
"""

from __future__ import annotations

import errno
import hashlib
import mmap
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

import msgspec
import pytest
from guest.holders import HOLDERS, WITHOUT_CLAIM, mapped, mounted, opened, tool
from lib.guest import disk_images
from lib.guest.disks import (
    emulated,
    make_null,
    partition,
    remove_null,
    settle,
)
from lib.guest.drive import Controller, device_number, one_stream
from lib.guest.netlink import is_free
from lib.guest.netlink_raw import Refusal
from lib.waiting import eventually

from spekctl import cli
from spekctl.block import device, openers, safety
from spekctl.errors import ExitCode
from spekctl.kernel.records import RunState
from spekctl.workload.config import DeviceNumber

MIB = 1 << 20
SIZE_MB = 8
KERNEL_SAYS = "The device, one of its partitions or the disk it is on is in use: it must be free."
WRITE = ("run", "random-write-4k", "--count", "100", "--no-prober", "--progress", "none")


@pytest.fixture(scope="module")
def disk() -> Iterator[str]:
    """A disk that keeps what is written to it."""
    node, item = make_null(SIZE_MB, memory_backed=1)
    yield node
    remove_null(item)


@pytest.fixture
def empty(disk: str) -> Iterator[str]:
    """An empty disk, which must be free afterwards."""
    wipe(disk)
    yield disk
    settle()
    eventually(lambda: is_free(disk), "the disk is still held")


def wipe(node: str) -> None:
    with open(node, "r+b", buffering=0) as file:
        file.write(bytes(SIZE_MB * MIB))
    settle()


def digest(node: str) -> str:
    """Of the whole device, as the device has it, whatever the page cache believes."""
    hasher = hashlib.blake2b()
    buffer = mmap.mmap(-1, MIB)
    fd = os.open(node, os.O_RDONLY | os.O_DIRECT)
    try:
        while got := os.readv(fd, [buffer]):
            hasher.update(buffer[:got])
    finally:
        os.close(fd)
    return hasher.hexdigest()


def digest_of(reader: IO[bytes]) -> str:
    """Of the whole device, as an open file sees it."""
    reader.seek(0)
    return hashlib.blake2b(reader.read(SIZE_MB * MIB)).hexdigest()


def spekctl(capfd: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    """Exit code and the last line on standard error, without our name."""
    capfd.readouterr()
    code = cli.run(list(arguments))
    err = capfd.readouterr().err.splitlines()
    return code, err[-1].removeprefix("spekctl: ") if err else ""


def no_run_is_left(controller: Controller) -> bool:
    return not [run for run in controller.runs() if run.state is not RunState.DONE]


# ---- who has it ----


@pytest.mark.parametrize("who", HOLDERS)
def test_who_has_a_disk_keeps_it(
    who: str, empty: str, controller: Controller, capfd: pytest.CaptureFixture[str]
) -> None:
    """Named in the sentence, also where data could be destroyed by name; not by the kernel, which
    refuses all the same whoever holds a claim."""
    name = Path(empty).name
    with HOLDERS[who](empty) as told:
        known = device.find(empty)
        before = digest(empty)

        code, sentence = spekctl(
            capfd, *WRITE, "--write", "--destroy", known.identity, "--device", empty
        )
        listed = safety.verdict(known)

        expected = told.format(name=name)
        assert (code, sentence) == (ExitCode.REFUSED, f"{empty} is in use: {expected}")
        assert who.startswith("open") or listed == expected
        if who not in WITHOUT_CLAIM:
            for read_ppm in (0, 1_000_000):
                with pytest.raises(Refusal) as caught:
                    controller.run_new(one_stream(empty, read_ppm=read_ppm, count=100))
                refusal = caught.value
                assert (refusal.errno, refusal.text) == (errno.EBUSY, KERNEL_SAYS)
                assert refusal.attr == "target[0]"
        assert digest(empty) == before
    assert no_run_is_left(controller)


def test_the_disk_of_a_mounted_partition_and_the_reverse(
    empty: str, controller: Controller, capfd: pytest.CaptureFixture[str]
) -> None:
    """A partition is in use if its disk is; another partition would be free."""
    tool("mkfs.ext4", "-q", empty)
    with partition(empty, 1, 2048, 8192) as part, mounted(empty, Path("/tmp/spek-mounted")):
        before = digest(empty)
        code, sentence = spekctl(capfd, *WRITE, "--write", "--device", part)
        expected = f"{part} is in use: {Path(empty).name} is mounted on /tmp/spek-mounted"
        assert (code, sentence) == (ExitCode.REFUSED, expected)
        with pytest.raises(Refusal, match="one of its partitions or the disk it is on"):
            controller.run_new(one_stream(part, read_ppm=0, count=1))
        assert digest(empty) == before


def test_who_only_reads_is_not_in_the_way(empty: str, controller: Controller) -> None:
    """udev, smartd and the like look at disks all the time."""
    with opened(empty, os.O_RDONLY):
        known = device.find(empty)
        assert safety.check_write(known, known.diskseq, (), True) is None


def test_who_reads_is_named_in_a_remark(
    empty: str, controller: Controller, capfd: pytest.CaptureFixture[str]
) -> None:
    with opened(empty, os.O_RDONLY) as pid:
        capfd.readouterr()
        code = cli.run([*WRITE, "--write", "--device", empty])
        told = capfd.readouterr().err
    assert code == ExitCode.OK, told
    assert f"{empty} is also open for reading: process {pid} (qemu-test)" in told


def test_a_kernel_user_that_nothing_names_keeps_its_disk(
    empty: str,
    controller: Controller,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """An export that is not found in configfs is like any kernel user that opens without a claim:
    the kernel's count of opens is all that tells of it.

    A look takes an emulated guest several times as long as a machine, so fewer of them are as
    patient; how many there are is a matter of tests/unit/ctl/block/test_openers.py.
    """
    monkeypatch.setattr(safety, "_exports", lambda numbers, roots: [])
    monkeypatch.setattr(openers, "LOOKS_FOR_UNKNOWN", openers.LOOKS + 2)
    identity = device.find(empty).identity
    with HOLDERS["nvmet"](empty):
        before = digest(empty)
        code, sentence = spekctl(capfd, *WRITE, "--write", "--device", empty)
        assert digest(empty) == before
        assert (code, sentence) == (
            ExitCode.REFUSED,
            f"{empty} is in use: the kernel counts 1 more open of it than processes have: by a"
            " kernel user without a claim, or a process that is not visible here; to overwrite it"
            f" all the same, give --destroy {identity}",
        )
        # A process that has it open as well accounts for its own open alone, whatever it inherits.
        with opened(empty, os.O_RDONLY):
            code, sentence = spekctl(capfd, *WRITE, "--write", "--device", empty)
            assert code == ExitCode.REFUSED
            assert "the kernel counts 1 more open of it" in sentence
        assert digest(empty) == before
        data = ("--data", "random")
        code, _ = spekctl(capfd, *WRITE, *data, "--write", "--destroy", identity, "--device", empty)
        assert code == ExitCode.OK
        assert digest(empty) != before
    assert no_run_is_left(controller)


def test_opens_of_a_disk_and_its_partitions_are_counted(empty: str, controller: Controller) -> None:
    """Those of the whole disk and of its partitions count for the disk; for a partition its own
    and those of the whole disk. An open of a partition is one, whatever it is for the disk."""

    def opens(node: str) -> int:
        with controller.ready(one_stream(node, count=1)) as run:
            return controller.run_get(run).targets[0].opens

    def expect(*wanted: int) -> None:
        # udev has the disk open for a moment after each use of it.
        eventually(
            lambda: tuple(map(opens, (empty, first, second))) == wanted,
            f"{wanted} opens were not counted",
        )

    with partition(empty, 1, 2048, 4096) as first, partition(empty, 2, 8192, 4096) as second:
        expect(1, 1, 1)
        with opened(first, os.O_RDONLY), opened(first, os.O_RDONLY):
            expect(3, 3, 1)
            with opened(empty, os.O_RDONLY), opened(second, os.O_RDONLY):
                expect(5, 4, 3)
        expect(1, 1, 1)


# ---- what is on it ----


def file_system(node: str) -> None:
    tool("mkfs.ext4", "-q", "-L", "precious", node)


def raid_member(node: str) -> None:
    """What is left when an array is stopped."""
    with HOLDERS["md"](node):
        pass


def swap_space(node: str) -> None:
    tool("mkswap", "-L", "more", node)


SIGNATURES: dict[str, tuple[Callable[[str], object], str]] = {
    "file system": (file_system, "file system ext4 'precious' at byte 1080"),
    "swap space": (swap_space, "swap space 'more' at byte 4086"),
    "RAID": (raid_member, "RAID member linux_raid_member"),
    "LVM": (disk_images.lvm_member, "RAID member LVM2_member at byte 536"),
    "LUKS": (disk_images.luks, "encrypted volume crypto_LUKS at byte 0"),
    "bcache": (disk_images.bcache_member, "bcache at byte 4120"),
    "MBR": (disk_images.mbr, "partition table dos at byte 510"),
    "GPT": (disk_images.gpt, "partition table gpt at byte 512"),
}


# libblkid and spekctl know no kernel.
@pytest.mark.any_kernel
@pytest.mark.parametrize("kind", SIGNATURES)
def test_what_is_on_a_disk_stays_on_it(
    kind: str,
    empty: str,
    controller: Controller,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """Unless its very name is given: not without one, and not with another's."""
    write, text = SIGNATURES[kind]
    write(empty)
    before = digest(empty)
    identity = device.find(empty).identity

    without = spekctl(capfd, *WRITE, "--device", empty)
    unnamed = spekctl(capfd, *WRITE, "--write", "--device", empty)
    wrong = spekctl(capfd, *WRITE, "--write", "--destroy", "S3RIAL", "--device", empty)

    assert without == (
        ExitCode.REFUSED,
        f"this workload writes; give --write to let it overwrite {empty}",
    )
    code, sentence = unnamed
    assert code == ExitCode.REFUSED
    assert sentence.startswith(f"{empty} holds data: ") and text in sentence
    assert sentence.endswith(f"; to overwrite it, give --destroy {identity}")
    assert wrong == (
        ExitCode.REFUSED,
        f"--destroy S3RIAL names none of the devices given: {empty} is {identity}",
    )
    assert digest(empty) == before
    assert no_run_is_left(controller)


def test_data_in_a_partition_that_only_the_kernel_knows_stay(
    empty: str, controller: Controller, capfd: pytest.CaptureFixture[str]
) -> None:
    """As of blkdevparts, a device tree or addpart: the disk has no table, and its first and last
    sectors hold nothing."""
    identity = device.find(empty).identity
    with partition(empty, 1, 2048, 8192) as part:
        file_system(part)
        before = digest(empty)
        code, sentence = spekctl(capfd, *WRITE, "--write", "--device", empty)
        assert (code, sentence) == (
            ExitCode.REFUSED,
            f"{empty} holds data: 1 partition that the kernel knows, without a table that libblkid"
            f" reads, file system ext4 'precious' at byte {MIB + 1080}; if their table was"
            f" overwritten, `blockdev --rereadpt {empty}` removes them; to overwrite it, give"
            f" --destroy {identity}",
        )
        assert digest(empty) == before
        data = ("--data", "random")
        code, _ = spekctl(capfd, *WRITE, *data, "--write", "--destroy", identity, "--device", empty)
        assert code == ExitCode.OK
        assert digest(empty) != before
    assert no_run_is_left(controller)


@pytest.mark.parametrize("how", ["read", "mapped"])
def test_a_stale_page_cache_hides_no_data(
    how: str, empty: str, controller: Controller, capfd: pytest.CaptureFixture[str]
) -> None:
    """A reader keeps the device open, and with it the pages that were blank; a file system is
    then made by another path, which the cache of this one does not learn of."""
    with open(empty, "rb", buffering=0) as reader:
        with mmap.mmap(reader.fileno(), MIB, prot=mmap.PROT_READ) as pages:
            blank = pages[:] if how == "mapped" else reader.read(MIB)
            assert not any(blank)
            table = f"0 {SIZE_MB * MIB >> 9} linear {empty} 0"
            with mapped("other-path", table) as name:
                file_system(f"/dev/{name}")
            before = digest(empty)
            code, sentence = spekctl(capfd, *WRITE, "--write", "--device", empty)
        assert code == ExitCode.REFUSED
        assert "holds data: file system ext4 'precious'" in sentence
        assert digest(empty) == before


def test_a_run_leaves_no_stale_pages(empty: str, controller: Controller) -> None:
    """What a run has written is what a reader sees that had the device open all the while."""
    with open(empty, "rb", buffering=0) as reader:
        blank = digest_of(reader)
        config = one_stream(empty, pattern="sequential", read_ppm=0, count=SIZE_MB * MIB >> 12)
        controller.complete(msgspec.structs.replace(config, data="random"))
        assert digest_of(reader) == digest(empty) != blank


def test_a_serial_of_another_disk_does_not_help(
    empty: str, controller: Controller, capfd: pytest.CaptureFixture[str]
) -> None:
    """Two disks, one with data, and the name of the other."""
    file_system(empty)
    before = digest(empty)
    blank = emulated("nvme", 512)
    name = device.find(blank).identity

    code, sentence = spekctl(
        capfd, *WRITE, "--write", "--destroy", name, "--device", blank, "--device", empty
    )

    assert code == ExitCode.REFUSED
    assert f"{empty} holds data: file system ext4" in sentence
    assert f"(--destroy {name} names another device)" in sentence
    assert digest(empty) == before


def test_a_read_only_disk_is_not_written(
    empty: str, controller: Controller, capfd: pytest.CaptureFixture[str]
) -> None:
    before = digest(empty)
    tool("blockdev", "--setro", empty)
    try:
        code, sentence = spekctl(capfd, *WRITE, "--write", "--device", empty)
        with pytest.raises(Refusal) as caught:
            controller.run_new(one_stream(empty, read_ppm=0, count=1))
        assert controller.complete(one_stream(empty, count=50)).ios() == 50
    finally:
        tool("blockdev", "--setrw", empty)
    assert code == ExitCode.REFUSED
    assert sentence == f"{empty}: The device is read-only, and the run may write."
    assert (caught.value.errno, caught.value.attr) == (errno.EROFS, "target[0]")
    assert digest(empty) == before


def test_a_run_that_may_not_write_does_not(empty: str, controller: Controller) -> None:
    """Whoever has no spekctl: the kernel refuses streams that write where run-new was not told."""
    before = digest(empty)
    config = one_stream(empty, read_ppm=500_000, count=100)
    with pytest.raises(Refusal) as caught:
        controller.run_new(msgspec.structs.replace(config, write=False))
    assert caught.value.errno == errno.EPERM
    assert controller.complete(one_stream(empty, count=100)).ios() == 100
    assert digest(empty) == before


# ---- under another name ----


def test_links_lead_to_the_disk_that_is_checked(
    empty: str, controller: Controller, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """A link of one's own, a link to a link, and the one that udev makes of the serial."""
    node = emulated("nvme", 512)
    (by_id,) = [
        path
        for path in Path("/dev/disk/by-id").glob("nvme-*spekdisk1")
        if os.path.realpath(path) == os.path.realpath(node)
    ]
    first, second = tmp_path / "first", tmp_path / "second"
    first.symlink_to(empty)
    second.symlink_to(first)
    file_system(empty)
    before = digest(empty)
    with mounted(empty, Path("/tmp/spek-mounted")):
        for link in (first, second):
            code, sentence = spekctl(capfd, *WRITE, "--write", "--device", str(link))
            who = f"{Path(empty).name} is mounted on /tmp/spek-mounted"
            assert (code, sentence) == (ExitCode.REFUSED, f"{link} is in use: {who}")
    with opened(node, os.O_RDWR | os.O_EXCL) as pid:
        code, sentence = spekctl(capfd, *WRITE, "--write", "--device", str(by_id))
        assert code == ExitCode.REFUSED
        assert sentence.startswith(f"{by_id} is in use: process {pid} (qemu-test)")
    assert digest(empty) == before


def test_a_disk_that_takes_a_number_over_is_not_taken_for_the_one_that_was_checked(
    controller: Controller,
) -> None:
    """Check and claim are one step: run-new names the disk by its sequence number, which is never
    used again. Disks come and go under the same device number while runs ask for the first of
    them; what is claimed is what was asked for, or nothing."""
    node, item = make_null(SIZE_MB, memory_backed=1)
    checked = device.find(node)
    number = device_number(node)
    wanted = [DeviceNumber(number.major, number.minor, checked.diskseq)]
    config = one_stream(node, read_ppm=0, count=1)
    config = msgspec.structs.replace(config, targets=wanted)
    finished = threading.Event()

    def replace_disks() -> None:
        try:
            for _ in range(10):
                (item / "power").write_text("0")
                (item / "power").write_text("1")
        finally:
            finished.set()

    claimed, refused = 0, 0
    replacer = threading.Thread(target=replace_disks)
    try:
        run = controller.run_new(config)
        controller.run_delete(run)
        replacer.start()
        while not finished.is_set() or not refused:
            try:
                run = controller.run_new(config)
            except Refusal as no:
                # ENOSPC: a disk that is going has no size any more.
                assert no.errno in (errno.ENXIO, errno.ENODEV, errno.EBUSY, errno.ENOSPC), no
                refused += 1
                continue
            (target,) = controller.run_get(run).targets
            controller.run_delete(run)
            assert target.diskseq == checked.diskseq
            claimed += 1
        replacer.join()
        now = device.by_number(number.major, number.minor)
        assert now is not None and now.diskseq != checked.diskseq, "another number: nothing shown"
        with pytest.raises(Refusal, match="The disk was replaced after it was checked") as caught:
            controller.run_new(config)
        assert caught.value.attr == "target[0]"
        before = digest(node)
        assert before == hashlib.blake2b(bytes(SIZE_MB * MIB)).hexdigest()
    finally:
        replacer.join()
        settle()
        remove_null(item)


@pytest.mark.any_kernel
def test_a_link_that_turns_while_spekctl_looks(
    empty: str,
    controller: Controller,
    capfd: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    """From an empty disk to one with data and back, as fast as it goes: data stay."""
    file_system(empty)
    before = digest(empty)
    free, item = make_null(SIZE_MB, memory_backed=1)
    link, fresh = tmp_path / "disk", tmp_path / "fresh"
    link.symlink_to(free)
    finished = threading.Event()

    def turn() -> None:
        while not finished.is_set():
            for node in (empty, free):
                fresh.symlink_to(node)
                fresh.replace(link)

    turner = threading.Thread(target=turn)
    turner.start()
    try:
        codes = set()
        for _ in range(3):
            code, sentence = spekctl(
                capfd, *WRITE, "--write", "--destroy", device.find(free).identity,
                "--device", str(link),
            )  # fmt: skip
            codes.add(code)
            assert code in (ExitCode.OK, ExitCode.REFUSED), sentence
    finally:
        finished.set()
        turner.join()
    assert digest(empty) == before
    settle()
    remove_null(item)
