# SPDX-License-Identifier: GPL-2.0
"""Who holds a device, and whether it may be written, on a machine made of files."""

from __future__ import annotations

import contextlib
import errno
import os
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from lib.core.augment_images import SET, Images
from lib.ctl.disk_machine import NUMBERS, Machine, check
from lib.fakes.kernel import other_claim, other_run

from spekctl import namespaces
from spekctl.block import blkid, device, opening, safety
from spekctl.documents.device import DiskCounters
from spekctl.errors import NotPermittedError, RefusedError, UsageError
from spekctl.kernel.records import ClaimInfo, ClaimState, RunInfo
from spekctl.namespaces import Namespaces


def test_a_device_that_nobody_uses_has_no_holders(machine: Machine) -> None:
    assert machine.holders("sda") == []
    assert safety.verdict(machine.get("sda"), machine.roots) == ""


def test_a_disk_is_all_its_paths(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without multipath a unit with two paths is two disks, one of which nobody holds."""
    machine.second_path()
    note = "(another path to sda)"

    machine.mount("8:33", "/srv", "/dev/sdc1")
    assert machine.holders("sda") == [f"sdc1 {note} is mounted on /srv"]
    assert machine.holders("sda1") == [f"sdc1 {note} is mounted on /srv"]
    assert machine.holders("sda2") == []
    assert machine.holders("sdb") == []

    machine.mount("8:32", "/disk", "/dev/sdc")
    machine.hold("sdc", "md0")
    assert machine.holders("sda2") == [
        f"sdc {note} is mounted on /disk",
        f"sdc {note} is used by md0",
    ]


def test_who_writes_by_another_path_is_in_the_way(
    machine: Machine, holds: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.second_path()
    opened = [safety.Opened("8:32", "7", os.O_RDWR)]
    monkeypatch.setattr(safety, "opened_devices", lambda roots: opened)
    with pytest.raises(RefusedError, match=r"in use: process 7 \(\?\) has it open for writing"):
        check(machine, machine.get("sda"))


def test_a_run_on_another_path_is_named(machine: Machine) -> None:
    machine.second_path()
    told = safety.verdict(machine.get("sda"), machine.roots, [other_run(3, 8, 32)])
    assert "sdc (another path to sda)" in told


@pytest.fixture
def claims(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Devices of a machine with a second path, and what the kernel says to an exclusive open of
    each; empty: it is claimed, and let go. Devices that are not in it are not to be opened."""
    machine.second_path()
    answers: dict[str, str] = {}
    real_close = os.close

    def open_block_device(path: str, flags: int, number: tuple[int, int]) -> int:
        name = path.removeprefix("/dev/")
        assert flags == os.O_RDONLY | os.O_EXCL
        assert NUMBERS[name] == "{}:{}".format(*number)
        if answers[name]:
            code = getattr(errno, answers[name])
            raise OSError(code, os.strerror(code))
        return os.open(os.devnull, os.O_RDONLY)

    def close(fd: int) -> None:
        answers.pop("sdc", None)
        real_close(fd)

    monkeypatch.setattr(opening, "open_block_device", open_block_device)
    monkeypatch.setattr(os, "close", close)
    return answers


def test_a_claim_on_another_path_is_refused(
    machine: Machine, holds: Callable[..., None], claims: dict[str, str]
) -> None:
    """The kernel's claim is of one path: a run on sdc and a run on sda overwrite each other."""
    claims["sdc"] = "EBUSY"

    def known() -> tuple[list[RunInfo], list[ClaimInfo]]:
        # The claim of sda is our own.
        return [other_run(3, 8, 32)], [other_claim(7, 8, 0)]

    for look in (
        lambda: safety.look(machine.get("sda"), 42, (), True, machine.roots, known),
        lambda: safety.check_again(machine.get("sda"), 42, [], machine.roots, known),
    ):
        with pytest.raises(RefusedError) as refusal:
            look()
        assert refusal.value.message == (
            "/dev/sda is in use: sdc, another path to sda, is claimed: run 3 of spek"
            " (random-read-4k) uses it"
        )


@pytest.mark.parametrize("seconds", [1, 3])
def test_a_command_that_gives_up_does_not_end_the_one_that_holds(
    machine: Machine,
    holds: Callable[..., None],
    claims: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
    seconds: int,
) -> None:
    """It claims the other path for a moment, in which a later run of a campaign may look."""
    claims["sdc"] = "EBUSY"
    slept: list[float] = []

    def sleep(time_s: float) -> None:
        slept.append(time_s)
        claims["sdc"] = "" if sum(slept) > seconds - 0.01 else "EBUSY"

    monkeypatch.setattr(time, "sleep", sleep)
    with pytest.raises(RefusedError) if seconds > 2 else contextlib.nullcontext():
        safety.check_again(machine.get("sda"), 42, [], machine.roots)
    assert sum(slept) < 2


def test_a_claim_by_another_path_that_nothing_names_is_refused(
    machine: Machine, holds: Callable[..., None], claims: dict[str, str]
) -> None:
    """Such as a mount of another namespace."""
    claims["sdc"] = "EBUSY"
    with pytest.raises(RefusedError, match=r"sdc, another path to sda, is claimed: .* holds it"):
        check(machine, machine.get("sda"))


def test_other_paths_are_let_go_after_the_look(
    machine: Machine, holds: Callable[..., None], claims: dict[str, str]
) -> None:
    claims["sdc"] = ""
    assert check(machine, machine.get("sda")) is None
    assert "sdc" not in claims


def test_a_path_that_is_down_is_not_claimed(
    machine: Machine, holds: Callable[..., None], claims: dict[str, str]
) -> None:
    claims["sdc"] = "ENXIO"
    assert check(machine, machine.get("sda")) is None


@pytest.mark.parametrize("code", ["ENOENT", "EPERM", "EACCES"])
def test_a_path_that_cannot_be_asked_is_refused(
    machine: Machine, holds: Callable[..., None], claims: dict[str, str], code: str
) -> None:
    claims["sdc"] = code
    with pytest.raises(NotPermittedError, match="sdc, another path to sda, cannot be opened to"):
        check(machine, machine.get("sda"))


def test_of_a_partition_the_same_one_is_asked_for_by_other_paths(
    machine: Machine, holds: Callable[..., None], claims: dict[str, str]
) -> None:
    """Another partition may be in use; where a path has not this one, nothing of it may be."""
    claims["sdc1"] = "EBUSY"
    with pytest.raises(RefusedError, match="sdc1, another path to sda, is claimed"):
        check(machine, machine.get("sda1"))
    claims["sdc1"] = ""
    assert check(machine, machine.get("sda1")) is None
    claims["sdc"] = "EBUSY"
    with pytest.raises(RefusedError, match="sdc, another path to sda, is claimed"):
        check(machine, machine.get("sda2"))


def test_a_multipath_device_is_not_in_the_way_of_itself(
    machine: Machine, holds: Callable[..., None], claims: dict[str, str]
) -> None:
    """It holds its paths exclusively, and rules of udev may give it their WWN."""
    wwn = "E:ID_WWN=naa.5000c500a1b2c3d4\n"
    machine.write(machine.roots.udev / "b253:0", wwn)
    for name in ("sda", "sdc"):
        machine.hold(name, "dm-0")
        slaves = machine.roots.sys / "devices" / "dm-0" / "slaves"
        slaves.mkdir(exist_ok=True)
        (slaves / name).symlink_to(machine.roots.sys / "devices" / name)
    assert check(machine, machine.get("dm-0")) is None
    assert machine.get("sda").other_paths == ("dm-0", "sdc")


def test_disks_without_a_wwn_are_not_taken_for_one(machine: Machine) -> None:
    machine.second_path(wwn="")
    machine.mount("8:32", "/disk", "/dev/sdc")
    assert machine.holders("sda") == []


def test_a_mounted_disk_names_its_mount_point(machine: Machine) -> None:
    machine.mount("8:16", r"/mnt/my\040data", "/dev/sdb")
    assert machine.holders("sdb") == ["sdb is mounted on /mnt/my data"]


def test_a_disk_is_in_use_if_a_partition_is_mounted(machine: Machine) -> None:
    machine.mount("8:2", "/home", "/dev/sda2")
    assert machine.holders("sda") == ["sda2 is mounted on /home"]
    assert machine.holders("sda1") == []


def test_partitions_that_overlap_are_in_use_if_one_is(machine: Machine) -> None:
    """As slices of BSD and Solaris, which are nested in a partition."""
    machine.place("sda1", 2048, 10_000)
    machine.place("sda2", 4096, 1000)
    machine.mount("8:2", "/home", "/dev/sda2")
    assert machine.holders("sda1") == ["sda2 (overlaps sda1) is mounted on /home"]
    assert device.same_bytes(machine.get("sda1"), machine.get("sda2"))
    machine.hold("sda1", "md0")
    assert "sda1 (overlaps sda2) is used by md0" in machine.holders("sda2")
    machine.place("sda2", 12_048, 1000)
    assert machine.holders("sda1") == ["sda1 is used by md0"]
    assert not device.same_bytes(machine.get("sda1"), machine.get("sda2"))


def test_partitions_of_another_path_that_overlap_are_in_use_if_one_is(machine: Machine) -> None:
    machine.second_path()
    machine.place("sda2", 2048, 10_000)
    machine.place("sdc1", 4096, 1000)
    machine.mount("8:33", "/home", "/dev/sdc1")
    note = "(another path to sda)"
    assert machine.holders("sda2") == [f"sdc1 {note} is mounted on /home"]
    machine.place("sdc1", 12_048, 1000)
    assert machine.holders("sda2") == []


def test_a_claim_of_a_partition_that_overlaps_is_in_the_way(
    machine: Machine, holds: Callable[..., None], claims: dict[str, str]
) -> None:
    """The kernel lets different users claim both."""
    machine.place("sda1", 2048, 10_000)
    machine.place("sda2", 4096, 1000)
    claims |= {"sda2": "EBUSY", "sdc1": "", "sdc": ""}
    with pytest.raises(RefusedError, match="is in use: sda2, which overlaps it, is claimed"):
        check(machine, machine.get("sda1"), ("8:1/42",))
    machine.place("sda2", 12_048, 1000)
    assert check(machine, machine.get("sda1")) is None


def test_a_partition_is_in_use_if_the_whole_disk_is_mounted(machine: Machine) -> None:
    machine.mount("8:0", "/mnt", "/dev/sda")
    assert machine.holders("sda1") == ["sda is mounted on /mnt"]


def test_mounts_of_other_namespaces_are_seen_through_process_1(machine: Machine) -> None:
    machine.mount("8:16", "/var/lib", "/dev/sdb", process="1")
    assert machine.holders("sdb") == ["sdb is mounted on /var/lib (seen by process 1)"]
    machine.mount("8:16", "/var/lib", "/dev/sdb")
    assert machine.holders("sdb") == ["sdb is mounted on /var/lib"]


def test_swap_is_seen(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    machine.write(
        machine.roots.proc / "swaps",
        "Filename\tType\tSize\tUsed\tPriority\n/dev/sdb partition 1000 0 -2\n",
    )
    monkeypatch.setattr(safety, "_number_of", {"/dev/sdb": "8:16"}.get)
    assert machine.holders("sdb") == ["sdb is active swap"]


@pytest.mark.parametrize(
    ("uuid", "text"),
    [
        ("LVM-abc", "LVM volume vg-data (dm-0)"),
        ("CRYPT-LUKS2-abc", "encrypted volume vg-data (dm-0)"),
        ("mpath-abc", "multipath device vg-data (dm-0)"),
        ("SPEK_AUGMENT-abc", "spek augment cache vg-data (dm-0)"),
        ("", "device mapper volume vg-data (dm-0)"),
    ],
)
def test_device_mapper_holders_are_named(machine: Machine, uuid: str, text: str) -> None:
    machine.hold("sda2", "dm-0")
    machine.write(machine.roots.sys / "class/block/dm-0/dm/name", "vg-data\n")
    machine.write(machine.roots.sys / "class/block/dm-0/dm/uuid", uuid + "\n")
    assert machine.holders("sda") == [f"sda2 is used by {text}"]


def test_md_members_are_named(machine: Machine) -> None:
    machine.hold("sdb", "md0")
    machine.write(machine.roots.sys / "class/block/md0/md/level", "raid1\n")
    assert machine.holders("sdb") == ["sdb is used by md array md0 (raid1)"]


def test_bcache_and_btrfs_members_are_seen(machine: Machine) -> None:
    (machine.roots.sys / "class/block/sdb/bcache").mkdir()
    assert machine.holders("sdb") == ["sdb belongs to bcache"]
    (machine.roots.sys / "fs/btrfs/1234/devices/sda1").mkdir(parents=True)
    assert machine.holders("sda") == ["sda1 belongs to the mounted btrfs 1234"]


def test_loop_devices_on_it_are_seen(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    machine.write(machine.roots.sys / "class/block/loop3/loop/backing_file", "/dev/sdb\n")
    monkeypatch.setattr(safety, "_number_of", {"/dev/sdb": "8:16"}.get)
    assert machine.holders("sdb") == ["loop3 is a loop device on sdb"]


def test_another_run_of_spek_is_named(machine: Machine) -> None:
    text = safety.explain_busy(machine.get("sdb"), [other_run(3, 8, 16)], machine.roots)
    assert text == "run 3 of spek (random-read-4k) uses it"


@pytest.mark.parametrize(
    ("cmdline", "shown"),
    [
        (b"spekctl\0run\0", "spekctl run"),
        (b"", "dd"),  # a kernel thread, or a zombie
        (b"a\x1b[2J\n\0b\0", "a?[2J? b"),
        (b"x" * 300, "x" * 100 + "..."),
        (b"\xff\0", "\N{REPLACEMENT CHARACTER}"),
    ],
)
def test_a_process_is_named_with_its_command_line(
    machine: Machine, cmdline: bytes, shown: str
) -> None:
    folder = machine.roots.proc / "77"
    folder.mkdir(parents=True)
    (folder / "cmdline").write_bytes(cmdline)
    (folder / "comm").write_text("dd\n")
    claim = replace(other_claim(2, 8, 16), owner_pid=77)
    assert safety.owner(claim, machine.roots) == f"process 77 ({shown})"
    assert safety.owner(replace(claim, owner_pid=0), machine.roots) == ""
    assert safety.owner(replace(claim, owner_pid=78), machine.roots) == "process 78 (?)"


def test_a_claim_between_two_runs_is_named(machine: Machine) -> None:
    claim, device = other_claim(2, 8, 16), machine.get("sdb")
    text = safety.verdict(device, machine.roots, claims=[claim])
    assert text == "spek holds it between the runs of a command (claim 2)"
    assert safety.explain_busy(device, (), machine.roots, [claim]) == text
    assert "holds sda1 " in safety.verdict(
        machine.get("sda"), machine.roots, claims=[other_claim(2, 8, 1)]
    )
    # Its run says more.
    run = replace(other_run(3, 8, 16), claim=2)
    assert safety.held_by_spek(device, [run], [claim], machine.roots) == [
        "run 3 of spek (random-read-4k) uses it"
    ]
    machine.write(machine.roots.proc / "77/cmdline", "spekctl\0spc1\0--device\0/dev/sdb\0")
    owned = replace(claim, owner_pid=77)
    owner = "process 77 (spekctl spc1 --device /dev/sdb)"
    assert safety.held_by_spek(device, [run], [owned], machine.roots) == [
        f"run 3 of spek (random-read-4k) of {owner} uses it"
    ]
    assert safety.held_by_spek(device, (), [owned], machine.roots) == [
        f"spek holds it between the runs of {owner} (claim 2)"
    ]
    failed = replace(claim, state=ClaimState.FAILED)
    assert not safety.held_by_spek(device, (), [failed], machine.roots)


def test_a_run_on_a_partition_has_its_disk_and_the_reverse(machine: Machine) -> None:
    def said(name: str, minor: int) -> str:
        return safety.verdict(machine.get(name), machine.roots, [other_run(3, 8, minor)])

    assert said("sda", 1) == "run 3 of spek (random-read-4k) uses sda1"
    assert said("sda1", 0) == "run 3 of spek (random-read-4k) uses sda"
    assert (said("sda1", 2), said("sdb", 0)) == ("", "")


@pytest.mark.parametrize(
    ("user", "text"), [(0, "which sysfs does not name"), (1000, "root can see which process")]
)
def test_busy_without_a_known_holder_is_said_honestly(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, user: int, text: str
) -> None:
    """Files that others have open are seen by root alone."""
    monkeypatch.setattr(os, "geteuid", lambda: user)
    assert text in safety.explain_busy(machine.get("sdb"), (), machine.roots)


def test_programs_that_have_it_open_are_named(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.write(machine.roots.proc / "77/comm", "qemu\n")
    machine.write(machine.roots.proc / "77/fd/5", "")
    monkeypatch.setattr(
        safety, "_number_of", lambda path: "8:16" if path.endswith("77/fd/5") else ""
    )
    text = safety.explain_busy(machine.get("sdb"), (), machine.roots)
    assert text == "process 77 (qemu) has it open (possibly with an exclusive claim)"


def test_everybody_who_uses_a_device_is_listed(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert safety.users(machine.get("sdb"), roots=machine.roots) == []
    machine.mount("8:16", "/mnt", "/dev/sdb")
    machine.write(machine.roots.proc / "77/comm", "smartd\n")
    machine.write(machine.roots.proc / "77/fd/5", "")
    machine.write(machine.roots.proc / "77/fdinfo/5", "flags:\t0100000\n")
    monkeypatch.setattr(
        safety, "_number_of", lambda path: "8:16" if path.endswith("77/fd/5") else ""
    )
    runs, claims = [other_run(3, 8, 16)], [other_claim(2, 8, 16)]
    assert safety.users(machine.get("sdb"), runs, claims, machine.roots) == [
        "sdb is mounted on /mnt",
        "run 3 of spek (random-read-4k) uses it",
        "spek holds it between the runs of a command (claim 2)",
        "process 77 (smartd) has it open",
    ]


# --- identity ------------------------------------------------------------------------------------


def test_serial_numbers_come_from_where_the_driver_puts_them(machine: Machine) -> None:
    sysfs = machine.roots.sys / "class/block/sdb"
    assert machine.get("sdb").identity == "8:16/42"
    machine.write(machine.roots.udev / "b8:16", "S:disk/by-id/x\nE:ID_SERIAL_SHORT=UDEV1\n")
    assert machine.get("sdb").identity == "UDEV1"
    machine.write(sysfs / "device/vpd_pg80", b"\x00\x80\x00\x08SCSI77  ")
    assert machine.get("sdb").identity == "SCSI77"
    machine.write(sysfs / "device/serial", " NVME1234  \n")
    assert machine.get("sdb").identity == "NVME1234"


def test_a_wwn_identifies_too(machine: Machine) -> None:
    machine.write(machine.roots.sys / "class/block/sdb/device/wwid", "naa.5000c500\n")
    disk = machine.get("sdb")
    assert disk.identity == "naa.5000c500"
    assert disk.is_named_by("naa.5000c500")
    assert disk.is_named_by("8:16/42")
    assert not disk.is_named_by("")
    assert not disk.is_named_by("naa.5000c50")


def test_a_partition_is_not_named_by_the_serial_of_its_disk(machine: Machine) -> None:
    machine.write(machine.roots.sys / "class/block/sda/device/serial", "S1\n")
    assert machine.get("sda").identity == "S1"
    partition = machine.get("sda2")
    assert (partition.identity, partition.partition, partition.disk) == ("S1-part2", 2, "sda")
    assert not partition.is_named_by("S1")
    assert partition.is_named_by("S1-part2")
    assert partition.diskseq == 42


def share(machine: Machine, serial: str, *wwns: str) -> None:
    """sda and sdb as two units of one controller."""
    for name, wwn in zip(("sda", "sdb"), wwns, strict=True):
        sysfs = machine.roots.sys / "class/block" / name
        machine.write(sysfs / "device/serial", f"{serial}\n")
        machine.write(sysfs / "wwid", f"{wwn}\n")


def test_a_serial_that_two_disks_have_names_neither(machine: Machine) -> None:
    share(machine, "CTRL1", "eui.01", "eui.02")
    first, second = machine.get("sda"), machine.get("sdb")
    assert (first.identity, second.identity) == ("eui.01", "eui.02")
    assert [entry.identity for entry in device.every(machine.roots) if entry.name == "sdb"] == [
        "eui.02"
    ]
    assert machine.get("sda2").identity == "eui.01-part2"
    assert not machine.get("sda2").is_named_by("CTRL1-part2")
    assert second.is_named_by("eui.02") and second.is_named_by("8:16/42")
    for text in ("CTRL1", "eui.01", "8:0/42"):
        assert not second.is_named_by(text)
    with pytest.raises(RefusedError) as refusal:
        safety.check_named([second], ["CTRL1"])
    assert refusal.value.message == (
        "--destroy CTRL1 is ambiguous: another disk has the same serial number"
        " or WWN: /dev/sdb is eui.02"
    )
    with pytest.raises(RefusedError, match=r"--destroy eui\.01 names none of the devices given"):
        safety.check_named([second], ["eui.01"])


def test_two_paths_to_one_disk_are_named_by_their_number(machine: Machine) -> None:
    share(machine, "LUN1", "naa.6", "naa.6")
    disk = machine.get("sdb")
    assert disk.identity == "8:16/42"
    assert not disk.is_named_by("LUN1") and not disk.is_named_by("naa.6")


def test_a_path_that_is_part_of_a_multipath_disk_is_no_other_disk(machine: Machine) -> None:
    """Hidden disks of the NVMe driver are in sysfs, but cannot be opened."""
    share(machine, "NVME1", "eui.01", "eui.01")
    (machine.roots.sys / "class/block/sda/dev").unlink()
    assert machine.get("sdb").identity == "NVME1"


def test_facts_are_read(machine: Machine) -> None:
    disk = machine.get("sdb")
    assert (disk.bytes, disk.logical_block, disk.scheduler) == (1 << 30, 512, "none")
    assert device.read_stat(disk) == DiskCounters(10, 80, 20, 160, discard_sectors=0)
    machine.write(machine.roots.sys / "class/block/sdb/queue/iostats", "0\n")
    assert device.read_stat(machine.get("sdb")) is None


def test_disks_come_before_their_partitions_and_2_before_10(machine: Machine) -> None:
    machine.partition("sda", 10)
    names = [entry.name for entry in device.every(machine.roots)]
    assert names == ["dm-0", "md0", "sda", "sda1", "sda2", "sda10", "sdb"]


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("/dev/does-not-exist", "there is no device"),
        ("/etc/hostname", "is a file, not a block device"),
        ("/dev/null", "is a character device, not a block device"),
        ("/tmp", "is a directory, not a block device"),
        ("/etc/hostname/x", "cannot access"),
    ],
)
def test_what_is_no_block_device_is_refused(path: str, sentence: str) -> None:
    with pytest.raises(UsageError) as refusal:
        device.find(path)
    assert sentence in refusal.value.message


# --- the decision --------------------------------------------------------------------------------


@pytest.fixture
def holds(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """holds(signature, ...) puts signatures on every device."""

    def set_to(*signatures: blkid.Signature) -> None:
        monkeypatch.setattr(safety, "signatures_on", lambda device, diskseq: list(signatures))

    set_to()
    return set_to


EXT4 = blkid.Signature("ext4", "filesystem", 1080, "home")


def test_writing_needs_permission(machine: Machine, holds: Callable[..., None]) -> None:
    with pytest.raises(RefusedError, match="this workload writes; give --write"):
        check(machine, machine.get("sdb"), (), False)
    assert check(machine, machine.get("sdb"), (), True) is None


def test_nobody_is_told_to_write_on_a_mounted_disk(machine: Machine) -> None:
    machine.mount("8:16", "/mnt", "/dev/sdb")
    with pytest.raises(RefusedError, match="is in use: sdb is mounted on /mnt"):
        safety.refuse_without_write([machine.get("sdb")], machine.roots)


def test_data_is_not_overwritten(machine: Machine, holds: Callable[..., None]) -> None:
    holds(EXT4)
    with pytest.raises(RefusedError) as refusal:
        check(machine, machine.get("sdb"), (), True)
    assert refusal.value.message == (
        "/dev/sdb holds data: file system ext4 'home' at byte 1080; to overwrite it, give"
        " --destroy 8:16/42"
    )
    assert refusal.value.exit_code == 4


def test_data_is_overwritten_if_the_device_is_named(
    machine: Machine, holds: Callable[..., None]
) -> None:
    holds(EXT4)
    remark = check(machine, machine.get("sdb"), ("8:16/42",), True)
    assert remark is not None and "will be overwritten" in remark


@pytest.mark.parametrize(
    ("flags", "refused"), [("0100002", True), ("02100001", True), ("0100000", False), ("", True)]
)
def test_who_has_it_open_for_writing_is_in_the_way(
    machine: Machine,
    holds: Callable[..., None],
    monkeypatch: pytest.MonkeyPatch,
    flags: str,
    refused: bool,
) -> None:
    """A virtual machine need not claim its disk. Who only reads is none of our business."""
    machine.write(machine.roots.proc / "77/comm", "qemu\n")
    machine.write(machine.roots.proc / "77/fd/5", "")
    machine.write(machine.roots.proc / "77/fdinfo/5", f"pos:\t0\nflags:\t{flags}\nmnt_id:\t6\n")
    monkeypatch.setattr(
        safety, "_number_of", lambda path: "8:16" if path.endswith("77/fd/5") else ""
    )
    if not refused:
        assert check(machine, machine.get("sdb")) is None
        return
    with pytest.raises(RefusedError) as refusal:
        check(machine, machine.get("sdb"), ("8:16/42",))
    assert refusal.value.message == (
        "/dev/sdb is in use: process 77 (qemu) has it open for writing"
    )


def test_a_loop_device_on_it_is_in_the_way(
    machine: Machine, holds: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Loop devices don't claim what they lie on: the kernel would let us write."""
    machine.write(machine.roots.sys / "class/block/loop3/loop/backing_file", "/dev/sdb\n")
    monkeypatch.setattr(safety, "_number_of", {"/dev/sdb": "8:16"}.get)
    with pytest.raises(RefusedError, match="in use: loop3 is a loop device on sdb"):
        check(machine, machine.get("sdb"))


@pytest.mark.parametrize(
    ("place", "path", "told"),
    [
        (
            "nvmet/subsystems/nqn.2026-01.example:a/namespaces/7",
            "device_path",
            "sdb is exported by nvmet as namespace 7 of nqn.2026-01.example:a",
        ),
        (
            "target/core/fileio_2/backup",
            "udev_path",
            "sdb is exported by the SCSI target as fileio_2/backup",
        ),
    ],
)
def test_what_is_exported_to_other_hosts_is_in_use(
    machine: Machine,
    holds: Callable[..., None],
    monkeypatch: pytest.MonkeyPatch,
    place: str,
    path: str,
    told: str,
) -> None:
    """Some targets don't claim what they export: the kernel would let us write."""
    folder = machine.roots.sys / "kernel/config" / place
    machine.write(folder / path, "/dev/sdb\n")
    machine.write(folder / "enable", "0\n")
    monkeypatch.setattr(safety, "_number_of", {"/dev/sdb": "8:16"}.get)
    assert machine.holders("sdb") == []
    machine.write(folder / "enable", "1\n")
    assert machine.holders("sdb") == [told]
    assert machine.holders("sda") == []
    with pytest.raises(RefusedError, match=f"in use: {told}"):
        check(machine, machine.get("sdb"), ("S1",), True)


def test_naming_another_device_does_not_help(machine: Machine, holds: Callable[..., None]) -> None:
    holds(EXT4)
    with pytest.raises(RefusedError, match="--destroy S9 names another device"):
        check(machine, machine.get("sdb"), ("S9",), True)


def test_read_only_devices_are_not_written(machine: Machine, holds: Callable[..., None]) -> None:
    disk = machine.get("sdb")
    with pytest.raises(RefusedError, match="read-only"):
        check(machine, msgspec.structs.replace(disk, read_only=True), (), True)


@pytest.mark.parametrize(
    ("code", "hint"),
    [(errno.EPERM, "; start the container with --device /dev/sdb"), (errno.EACCES, "")],
)
def test_a_device_that_a_container_may_not_open_names_the_option(
    code: int, hint: str, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """EPERM is of its list of devices; of the node's mode it would be EACCES."""

    def refuse(path: str, flags: int) -> int:
        raise PermissionError(code, os.strerror(code))

    monkeypatch.setattr(namespaces, "around", lambda: Namespaces(False, True, False, True))
    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(NotPermittedError) as refusal:
        safety.signatures_on(machine.get("sdb"), 42)
    text = "not permitted to read /dev/sdb"
    assert refusal.value.message.startswith(text + hint)
    assert hint or refusal.value.message == text


def test_a_device_that_was_replaced_is_refused(
    machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "image"
    path.write_bytes(bytes(4096))
    disk = msgspec.structs.replace(machine.get("sdb"), path=str(path))
    with pytest.raises(RefusedError, match="been replaced"):
        safety.signatures_on(disk, 42)

    monkeypatch.setattr(opening, "number_of", lambda fd: (8, 16))
    monkeypatch.setattr(safety, "_diskseq", lambda fd: 43)
    with pytest.raises(RefusedError, match="been replaced"):
        safety.signatures_on(disk, 42)
    monkeypatch.setattr(safety, "_diskseq", lambda fd: 42)
    dropped = []
    monkeypatch.setattr(safety, "_drop_cache", lambda path, fd: dropped.append(path))
    assert safety.signatures_on(disk, 42) == []
    assert dropped == [disk.path]


def test_a_device_of_an_augment_cache_is_not_overwritten(
    machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    images = Images(tmp_path / "set")
    monkeypatch.setattr(opening, "number_of", lambda fd: (8, 16))
    monkeypatch.setattr(safety, "_diskseq", lambda fd: 42)
    monkeypatch.setattr(safety, "_drop_cache", lambda path, fd: None)
    for path in images.paths:
        taken = msgspec.structs.replace(machine.get("sdb"), path=path)
        with pytest.raises(RefusedError) as refusal:
            check(machine, taken)
        text = f"holds data: spek augment cache of set {SET} at byte 0"
        assert text in refusal.value.message
        assert f"--destroy {taken.identity}" in refusal.value.message
        assert check(machine, taken, (taken.identity,)) is not None


@pytest.mark.parametrize(
    ("number", "error", "text"),
    [
        (errno.EACCES, NotPermittedError, "not permitted to drop the page cache of"),
        (errno.EIO, RefusedError, r"its page cache cannot be dropped \(Input/output error\)"),
    ],
)
def test_a_device_whose_cache_stays_is_not_judged(
    machine: Machine,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    number: int,
    error: type[Exception],
    text: str,
) -> None:
    def refuse(fd: int, request: int) -> None:
        assert request == 0x1261
        raise OSError(number, os.strerror(number))

    path = tmp_path / "image"
    path.write_bytes(bytes(4096))
    disk = msgspec.structs.replace(machine.get("sdb"), path=str(path))
    monkeypatch.setattr(opening, "number_of", lambda fd: (8, 16))
    monkeypatch.setattr(safety, "_diskseq", lambda fd: 42)
    monkeypatch.setattr("fcntl.ioctl", refuse)
    monkeypatch.setattr(blkid, "signatures", lambda fd: pytest.fail("it was judged"))
    with pytest.raises(error, match=text):
        safety.signatures_on(disk, 42)
