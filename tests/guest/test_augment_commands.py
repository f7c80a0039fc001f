# SPDX-License-Identifier: GPL-2.0
"""spekctl augment on real devices: what it refuses, and a set from create to detach.

What the target does with bios is tested by itself; here it is that commands and target understand
each other, and that nothing written is missing on the RAID afterwards.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import mmap
import os
import random
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from lib.guest.disks import null_disk, settle
from lib.guest.modelled import SMALL, modelled
from lib.guest.modules import is_loaded, unload_soon
from lib.waiting import eventually

from spekctl import cli
from spekctl.block.augmented import AT_UUID, SUPER_MAGIC
from spekctl.errors import ExitCode
from spekctl.kernel.drives import Drives

pytestmark = pytest.mark.any_kernel

MIB, BLOCK = 1 << 20, 4096
RAID_MIB, SSD_MIB, SPARE_MIB = 32, 8, 4
NAME = "spek-nas"
NODE = f"/dev/mapper/{NAME}"
MODULE = "spek_augment"


@pytest.fixture(scope="module", autouse=True)
def device_mapper() -> None:
    subprocess.run(["modprobe", "dm_mod"], check=True)


@dataclass(frozen=True)
class Rig:
    """Disks in memory, and spekctl augment on them."""

    raid: str
    ssd: str
    spares: tuple[str, ...]

    @property
    def devices(self) -> tuple[str, ...]:
        return (self.ssd, *self.spares)

    def create(self, *words: str) -> int:
        spares = [word for spare in self.spares for word in ("--spare", spare)]
        options = ("--raid", self.raid, "--ssd", self.ssd, *spares, *words)
        return cli.run(["augment", "create", NAME, *options])

    def attach(self, *words: str) -> int:
        return cli.run(["augment", "attach", NAME, "--raid", self.raid, *words])


@pytest.fixture
def rig() -> Iterator[Rig]:
    with contextlib.ExitStack() as stack:
        raid, ssd, *spares = (
            stack.enter_context(null_disk(size_mb=size, memory_backed=1))
            for size in (RAID_MIB, SSD_MIB, SPARE_MIB, SPARE_MIB)
        )
        yield Rig(raid, ssd, tuple(spares))
        if os.path.exists(NODE):
            remove()


def remove() -> None:
    """Take the mapping away as a crash would: nothing is destaged."""
    settle()
    subprocess.run(["dmsetup", "remove", "--retry", NAME], check=True)


def write(path: str, block: int, data: bytes) -> None:
    """Past the page cache, and flushed."""
    buffer = mmap.mmap(-1, len(data))
    buffer.write(data)
    fd = os.open(path, os.O_WRONLY | os.O_DIRECT)
    try:
        assert os.pwritev(fd, [buffer], block * BLOCK) == len(data)
        os.fsync(fd)
    finally:
        os.close(fd)


def read(path: str, block: int = 0, blocks: int = RAID_MIB * MIB // BLOCK) -> bytes:
    buffer = mmap.mmap(-1, blocks * BLOCK)
    fd = os.open(path, os.O_RDONLY | os.O_DIRECT)
    try:
        assert os.preadv(fd, [buffer], block * BLOCK) == blocks * BLOCK
    finally:
        os.close(fd)
    return bytes(buffer)


def fill(path: str, seed: int) -> bytes:
    """Known contents of the RAID: no block is like another one, also not of another @seed. Drawing
    all of them takes seven seconds under emulation."""
    rest = random.Random(seed).randbytes(BLOCK - 8)
    data = b"".join(
        number.to_bytes(8, "little") + rest for number in range(RAID_MIB * MIB // BLOCK)
    )
    write(path, 0, data)
    return data


def over(data: bytes, block: int, new: bytes) -> bytes:
    return data[: block * BLOCK] + new + data[block * BLOCK + len(new) :]


def told(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> Any:
    """The document that a command prints."""
    capsys.readouterr()
    assert cli.run(["augment", *words, "--json"]) == code
    return json.loads(capsys.readouterr().out)


# --- without the module --------------------------------------------------------------------------


def test_without_the_module_its_command_is_told(
    rig: Rig, capsys: pytest.CaptureFixture[str]
) -> None:
    if is_loaded(MODULE):
        unload_soon(MODULE)
    assert rig.create() == ExitCode.NO_KERNEL_SIDE
    assert "load it by `modprobe spek_augment`" in capsys.readouterr().err


def test_status_without_caches_is_empty(capsys: pytest.CaptureFixture[str]) -> None:
    assert told(capsys, "status")["caches"] == []


@pytest.mark.parametrize("block", [0, 1])
def test_no_run_overwrites_an_ssd_or_spare_area(
    rig: Rig, spek_module: Path, capsys: pytest.CaptureFixture[str], block: int
) -> None:
    """A superblock that is torn counts, too."""
    head = SUPER_MAGIC + bytes(AT_UUID - len(SUPER_MAGIC)) + bytes(range(16))
    write(rig.ssd, block, head.ljust(BLOCK, b"\0"))
    words = ["run", "random-write-4k", "--device", rig.ssd, "--write", "--count", "1"]
    assert cli.run([*words, "--no-prober"]) == ExitCode.REFUSED
    name = "spek augment cache of set 00010203-0405-0607-0809-0a0b0c0d0e0f"
    assert f"holds data: {name} at byte {block * BLOCK}" in capsys.readouterr().err
    assert read(rig.ssd, block, 1).startswith(head)


# --- with it -------------------------------------------------------------------------------------


@pytest.fixture
def created(augment_module: None, rig: Rig) -> tuple[Rig, bytes]:
    """A cache of a RAID with contents; nothing is destaged by itself."""
    data = fill(rig.raid, 1)
    assert rig.create("--log-size", "1MiB", "--age", "0", "--quiet", "1h") == ExitCode.OK
    return rig, data


def test_from_create_to_detach_nothing_is_missing(
    created: tuple[Rig, bytes], capsys: pytest.CaptureFixture[str]
) -> None:
    rig, data = created
    assert read(NODE) == data
    new = random.Random(2).randbytes(5 * BLOCK)
    write(NODE, 100, new)
    (cache,) = told(capsys, "status", NAME)["caches"]
    assert (cache["name"], cache["mode"], cache["raid"]) == (NAME, "normal", rig.raid)
    assert [device["path"] for device in cache["devices"]] == list(rig.devices)
    assert (cache["dirty_blocks"], cache["lost_blocks"]) == (5, 0)
    assert read(rig.raid) == data
    assert read(NODE) == over(data, 100, new)

    assert cli.run(["augment", "detach", NAME, "--timeout", "60s"]) == ExitCode.OK
    assert not os.path.exists(NODE)
    assert read(rig.raid) == over(data, 100, new)


def test_destage_waits_until_the_raid_has_all(
    created: tuple[Rig, bytes], capsys: pytest.CaptureFixture[str]
) -> None:
    rig, data = created
    new = random.Random(3).randbytes(BLOCK)
    write(NODE, 7, new)
    assert cli.run(["augment", "destage", NAME, "--wait", "60s"]) == ExitCode.OK
    assert read(rig.raid) == over(data, 7, new)
    (cache,) = told(capsys, "status")["caches"]
    assert (cache["dirty_blocks"], cache["log_used"]) == (0, 0)


def test_what_is_in_the_log_is_found_and_attached(
    created: tuple[Rig, bytes], capsys: pytest.CaptureFixture[str]
) -> None:
    rig, data = created
    new = random.Random(4).randbytes(3 * BLOCK)
    write(NODE, 50, new)
    remove()
    report = told(capsys, "check", *rig.devices)
    assert (report["log"]["dirty_blocks"], report["log"]["ranges"]) == (3, [[50, 53]])
    assert (report["missing"], report["log"]["broken"]) == ([], None)
    assert read(rig.raid) == data

    # In any order.
    assert rig.attach(*reversed(rig.devices)) == ExitCode.OK
    assert read(NODE) == over(data, 50, new)
    assert cli.run(["augment", "detach", NAME, "--timeout", "60s"]) == ExitCode.OK
    assert read(rig.raid) == over(data, 50, new)


@contextlib.contextmanager
def linear(disk: str, uuid: str) -> Iterator[str]:
    """All of a disk as a volume that has a UUID, always at the same path."""
    table = f"0 {RAID_MIB * MIB // 512} linear {disk} 0"
    words = ["dmsetup", "create", "spek-raid", "--uuid", uuid, "--table", table]
    subprocess.run(words, check=True)
    settle()
    try:
        yield "/dev/mapper/spek-raid"
    finally:
        settle()
        subprocess.run(["dmsetup", "remove", "--retry", "spek-raid"], check=True)


def test_nothing_is_destaged_onto_another_disk_at_the_path_of_the_raid(
    augment_module: None,
    rig: Rig,
    null_blk: Callable[..., str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    disk, other = rig.raid, null_blk(size_mb=RAID_MIB, memory_backed=1)
    data, kept = fill(disk, 1), fill(other, 2)
    new = random.Random(3).randbytes(3 * BLOCK)
    with linear(disk, "SPEK-A") as raid:
        on = dataclasses.replace(rig, raid=raid)
        assert on.create("--log-size", "1MiB", "--age", "0", "--quiet", "1h") == ExitCode.OK
        write(NODE, 50, new)
        remove()
    assert told(capsys, "check", *rig.devices)["raid"] == "serial=SPEK-A"
    with linear(other, "SPEK-B"):
        assert on.attach("--scan") == ExitCode.REFUSED
        error = capsys.readouterr().err
        assert "is for the RAID serial=SPEK-A" in error
        assert "give --new-raid SPEK-B" in error
        assert not os.path.exists(NODE)
    assert read(other) == kept
    # The same contents behind another name.
    with linear(disk, "SPEK-C"):
        assert on.attach("--scan") == ExitCode.REFUSED
        assert on.attach("--scan", "--new-raid", "SPEK-C") == ExitCode.OK
        assert cli.run(["augment", "detach", NAME, "--timeout", "60s"]) == ExitCode.OK
    assert read(disk) == over(data, 50, new)
    with linear(disk, "SPEK-C"):
        assert on.attach("--scan") == ExitCode.OK
        assert cli.run(["augment", "detach", NAME, "--timeout", "60s"]) == ExitCode.OK


def test_a_scan_finds_the_set(created: tuple[Rig, bytes]) -> None:
    rig, _ = created
    remove()
    assert rig.attach("--scan") == ExitCode.OK
    assert cli.run(["augment", "detach", NAME, "--timeout", "60s"]) == ExitCode.OK


@pytest.mark.sampled
@pytest.mark.parametrize("missing", [0, 1, 2])
def test_any_device_may_be_missing_if_it_is_named(
    created: tuple[Rig, bytes], capsys: pytest.CaptureFixture[str], missing: int
) -> None:
    rig, data = created
    new = random.Random(5).randbytes(2 * BLOCK)
    write(NODE, 9, new)
    remove()
    rest = [path for number, path in enumerate(rig.devices) if number != missing]
    assert rig.attach(*rest) == ExitCode.REFUSED
    name = "ssd" if missing == 0 else f"member:{missing - 1}"
    assert f"--without {name}" in capsys.readouterr().err
    assert rig.attach(*rest, "--without", name) == ExitCode.OK
    assert read(NODE) == over(data, 9, new)

    # The device that was left out is of an earlier generation now.
    assert cli.run(["augment", "detach", NAME, "--timeout", "60s"]) == ExitCode.OK
    report = told(capsys, "check", *rig.devices)
    assert [device["stale"] for device in report["devices"]] == [
        number == missing for number in range(3)
    ]
    assert read(rig.raid) == over(data, 9, new)


def test_a_cache_that_is_open_is_not_detached(
    created: tuple[Rig, bytes], capsys: pytest.CaptureFixture[str]
) -> None:
    fd = os.open(NODE, os.O_RDONLY)
    try:
        assert cli.run(["augment", "detach", NAME]) == ExitCode.REFUSED
        assert f"{NODE} is in use" in capsys.readouterr().err
    finally:
        os.close(fd)
    assert cli.run(["augment", "detach", NAME, "--timeout", "60s"]) == ExitCode.OK


def test_devices_of_a_cache_are_in_use(
    created: tuple[Rig, bytes], capsys: pytest.CaptureFixture[str]
) -> None:
    rig, _ = created
    for words in (("create", "box"), ("attach", "box", "--scan")):
        spares = [word for spare in rig.spares for word in ("--spare", spare)]
        more = ["--ssd", rig.ssd, *spares] if words[0] == "create" else []
        code = cli.run(["augment", *words, "--raid", rig.raid, *more])
        assert code == (ExitCode.REFUSED if more else ExitCode.USAGE)
    assert f"is used by spek augment cache {NAME}" in capsys.readouterr().err
    assert not os.path.exists("/dev/mapper/box")


def test_devices_of_a_former_cache_hold_data(
    created: tuple[Rig, bytes], capsys: pytest.CaptureFixture[str]
) -> None:
    rig, _ = created
    assert cli.run(["augment", "detach", NAME, "--timeout", "60s"]) == ExitCode.OK
    assert rig.create() == ExitCode.REFUSED
    assert "holds data: spek augment cache of set" in capsys.readouterr().err


def test_the_target_is_told_which_members_sleep(
    augment_module: None,
    drives: Drives,
    null_blk: Callable[..., str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    raid = null_blk(size_mb=RAID_MIB, memory_backed=1)
    ssd = null_blk(size_mb=SSD_MIB, memory_backed=1)
    with modelled(drives, SMALL) as first, modelled(drives, SMALL) as second:
        rig = Rig(raid, ssd, (first.node, second.node))
        try:
            assert rig.create("--log-size", "1MiB", "--quiet", "1h") == ExitCode.OK
            assert cli.run(["power", "set", second.node, "standby", "--force"]) == ExitCode.OK
            capsys.readouterr()
            words = ["monitor", NAME, "--every", "200ms", "--for", "500ms"]
            assert cli.run(["augment", *words]) == ExitCode.OK
            lines = capsys.readouterr().out.splitlines()
            assert lines == [f"member 1  {second.node}  standby: asleep"]
            (cache,) = told(capsys, "status")["caches"]
            assert [device["awake"] for device in cache["devices"]] == [None, True, False]
            write(NODE, 0, bytes(BLOCK))
            (cache,) = told(capsys, "status")["caches"]
            assert cache["mirror"] == 0 and not any(cache["wakes"].values())
            # It is idle then, and so the first one sleeps, too.
            words = ["monitor", NAME, "--every", "200ms", "--for", "5s", "--idle-timeout", "500ms"]
            assert cli.run(["augment", *words]) == ExitCode.OK
            lines = capsys.readouterr().out.splitlines()
            assert lines == [f"member 0  {first.node}  standby: asleep (idle)"]
            (cache,) = told(capsys, "status")["caches"]
            assert [device["awake"] for device in cache["devices"]] == [None, False, False]
            write(NODE, 0, bytes(BLOCK))
            (cache,) = told(capsys, "status")["caches"]
            assert cache["wakes"] == {
                "writes": 1, "reads": 0, "flushes": 0, "destages": 0, "others": 0,
            }  # fmt: skip
        finally:
            if os.path.exists(NODE):
                remove()
            eventually(lambda: not os.path.exists(NODE), "the mapping stays")
