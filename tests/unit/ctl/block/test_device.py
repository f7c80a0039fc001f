# SPDX-License-Identifier: GPL-2.0
"""Names of devices that are nearly right get the right one for an answer."""

from __future__ import annotations

from pathlib import Path

import pytest
from lib.fakes.machine import disk
from lib.fakes.nvme_controller import Machine

from spekctl.block import device
from spekctl.block.device import Roots
from spekctl.errors import UsageError


@pytest.fixture
def roots(tmp_path: Path) -> Roots:
    for name in ("vda", "vdb", "loop7", "nvme0n1"):
        (tmp_path / "sys/class/block" / name).mkdir(parents=True)
    return Roots(tmp_path / "sys", tmp_path / "proc", Path("/dev"), tmp_path / "udev")


@pytest.mark.parametrize(
    ("given", "hint"),
    [
        ("vdb", "; did you mean '/dev/vdb'?"),
        ("/dev/nvme0", "; did you mean '/dev/nvme0n1'?"),
        ("nvme0n", "; did you mean '/dev/nvme0n1'?"),
        ("/dev/nope", "; spekctl devices lists those that exist"),
        ("/dev/disk/by-id/mine", "; spekctl devices lists those that exist"),
        (
            r"\\.\PhysicalDrive1",
            ": this is how Windows names a disk; spekctl devices lists those of this machine",
        ),
    ],
)
def test_a_device_that_is_not_there_gets_a_hint(given: str, hint: str, roots: Roots) -> None:
    with pytest.raises(UsageError) as caught:
        device.find(given, roots)
    assert caught.value.message == f"there is no device {given}{hint}"


LINKS = {
    "disk/by-id/ata-X": "../../sda",
    "mapper/absolute": "{dev}/sda",
    "chain": "mapper/absolute",
    "fd": "/proc/self/fd",
    "core": "/proc/kcore",
    "up": "../secret",
    "around": "disk/../../dev/sda",
    "loop": "loop",
    "shm/x": "{dev}/../secret",
    "shm/device": "../sda",
    "by-shm": "shm/device",
}


@pytest.mark.parametrize(
    ("name", "stays"),
    [
        ("sda", True),
        ("absent", True),
        ("absent/too", True),
        ("disk/by-id/ata-X", True),
        ("disk/by-id/absent", True),
        ("chain", True),
        ("fd/0", False),
        ("core", False),
        ("up", False),
        ("around", False),
        ("loop", False),
        # Others may write the directory: whether there is anything is not told.
        ("shm/x", False),
        ("shm/absent", False),
        ("shm/device", False),
        ("by-shm", False),
    ],
)
def test_a_path_stays_in_dev_where_only_its_owner_may_write(
    name: str, stays: bool, tmp_path: Path
) -> None:
    dev = tmp_path / "dev"
    for folder in ("disk/by-id", "mapper", "shm"):
        (dev / folder).mkdir(parents=True)
    (dev / "shm").chmod(0o1777)
    for file in (dev / "sda", tmp_path / "secret"):
        file.touch()
    for link, target in LINKS.items():
        (dev / link).symlink_to(target.format(dev=dev))
    assert device.stays_in(str(dev / name), dev) is stays


def test_every_link_of_this_machine_to_a_disk_stays_in_dev() -> None:
    disks = Path("/dev/disk")
    for link in (entry for entry in disks.rglob("*") if entry.is_symlink()):
        assert device.stays_in(str(link)), link
    assert not device.stays_in("/etc/shadow")


@pytest.mark.parametrize("partition", [0, 1])
def test_a_device_is_there_until_another_one_has_its_place(tmp_path: Path, partition: int) -> None:
    machine = Machine(tmp_path)
    diskseq = machine.device().sysfs / "diskseq"
    diskseq.write_text("5\n")
    known = machine.device(minor=partition)
    assert known.diskseq == 5 and device.is_there(known)
    diskseq.write_text("6\n")
    assert not device.is_there(known)
    diskseq.write_text("5\n")
    (known.sysfs / "dev").write_text("259:7\n")
    assert not device.is_there(known)
    (known.sysfs / "dev").unlink()
    assert not device.is_there(known)


@pytest.mark.parametrize(
    ("partition", "start", "boundary", "units"),
    [
        (0, 0, 0, (4096, 65536)),
        (1, 2048, 0, (4096, 65536)),
        (1, 2049, 0, (0, 0)),
        (1, 8, 65536, (0, 0)),
        (1, 256, 65536, (4096, 65536)),
    ],
)
def test_atomic_writes_are_those_of_the_disk_if_a_partition_is_aligned_to_them(
    tmp_path: Path, partition: int, start: int, boundary: int, units: tuple[int, int]
) -> None:
    subject = disk(partition=partition, sysfs=tmp_path / "part1" if partition else tmp_path / ".")
    subject.sysfs.mkdir(exist_ok=True)
    (subject.sysfs / "start").write_text(f"{start}\n")
    queue = tmp_path / "queue"
    assert device.atomic_units(subject) == (0, 0)
    queue.mkdir()
    for name, value in (("unit_min", 4096), ("unit_max", 65536), ("boundary", boundary)):
        (queue / f"atomic_write_{name}_bytes").write_text(f"{value}\n")
    assert device.atomic_units(subject) == units


@pytest.mark.parametrize(
    ("sysfs", "udev", "serial"),
    [
        (
            ("1.2", "01020304-0506-0708-090a-0b0c0d0e0f10"),
            "",
            "01020304:05060708:090a0b0c:0d0e0f10",
        ),
        (("1.2", "01020304-0506-0708-090a-0b0c0d0e0f10"), "a:b:c:d", "a:b:c:d"),
        (("0.90", "01020304-0506-0708-090a-0b0c0d0e0f10"), "", ""),
        (("0.90", "01020304-0506-0708-090a-0b0c0d0e0f10"), "a:b:c:d", "a:b:c:d"),
        (("none", "00000000-0000-0000-0000-000000000000"), "", ""),
        (("1.0", "00000000-0000-0000-0000-000000000000"), "", ""),
        (("external:imsm", "00000000-0000-0000-0000-000000000000"), "a:b:c:d", "a:b:c:d"),
        (("1.2", ""), "", ""),
    ],
)
def test_an_array_is_named_by_its_uuid(
    tmp_path: Path, sysfs: tuple[str, str], udev: str, serial: str
) -> None:
    """As mdadm prints it, which is not how the kernel has the one of 0.90 metadata."""
    roots = Roots(tmp_path / "sys", tmp_path / "proc", Path("/dev"), tmp_path / "udev")
    folder = tmp_path / "sys/class/block/md0"
    (folder / "md").mkdir(parents=True)
    (folder / "dev").write_text("9:0\n")
    (folder / "md/metadata_version").write_text(f"{sysfs[0]}\n")
    if sysfs[1]:
        (folder / "md/uuid").write_text(f"{sysfs[1]}\n")
    (tmp_path / "sys/dev/block").mkdir(parents=True)
    (tmp_path / "sys/dev/block/9:0").symlink_to(folder)
    if udev:
        (tmp_path / "udev").mkdir()
        (tmp_path / "udev/b9:0").write_text(f"E:MD_UUID={udev}\n")
    array = device.by_number(9, 0, roots=roots)
    assert array is not None and array.serial == serial
    assert array.identity == (serial or "9:0/0")
