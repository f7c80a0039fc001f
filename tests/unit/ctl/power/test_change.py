# SPDX-License-Identifier: GPL-2.0
"""Power states that are set: the commands, and who is refused."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from lib.fakes.power_disk import FakeChannel, FakeDisk, ata_reply, fixed_sense

from spekctl.block import opening, safety
from spekctl.block.device import Device, Roots
from spekctl.errors import NotPermittedError, RefusedError, SpekError, UsageError
from spekctl.power import asleep, ata, change
from spekctl.power.disk import Disk, Protocol
from spekctl.power.passthrough import NvmeReply, ScsiReply

SECOND = 10**9
GOOD = ScsiReply(0, 0, b"", b"")
TEST_UNIT_READY = "00 00 00 00 00 00"


@pytest.fixture
def fake(tmp_path: Path) -> FakeDisk:
    return FakeDisk(tmp_path / "sys")


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Flags with which block devices are opened, which succeeds."""
    flags: list[int] = []

    def open_block_device(path: str, how: int, number: object) -> int:
        flags.append(how)
        return os.open("/dev/null", os.O_RDONLY)

    monkeypatch.setattr(opening, "open_block_device", open_block_device)
    return flags


def put(
    disk: Disk, channel: FakeChannel, tmp_path: Path, target: str, timer_ns: int | None = None,
    force: bool = False,
) -> list[str]:  # fmt: skip
    folder = tmp_path / "asleep"
    change.put(disk, target, timer_ns, force, open_node=channel.open, asleep_folder=folder)
    assert channel.opens == channel.closes == 1
    sent = [cdb.hex(" ") for cdb in channel.sent]
    if disk.protocol is not Protocol.NVME:
        assert sent.pop(0) == TEST_UNIT_READY
    return sent


ATA = "85 06 20 00 00 00 {:02x} 00 00 00 00 00 00 00 {:02x} 00"


@pytest.mark.parametrize(
    ("target", "timer_ns", "cdb"),
    [
        ("active", None, "1b 00 00 00 01 00"),
        ("idle", None, ATA.format(0, 0xE1)),
        ("idle", 600 * SECOND, ATA.format(120, 0xE3)),
        ("standby", None, ATA.format(0, 0xE0)),
        ("standby", 0, ATA.format(0, 0xE2)),
        ("sleep", None, ATA.format(0, 0xE6)),
    ],
)
def test_an_ata_disk_gets(
    fake: FakeDisk, opened: list[int], tmp_path: Path, target: str, timer_ns: int | None, cdb: str
) -> None:
    channel = FakeChannel(scsi_answer=lambda cdb: ata_reply(0) if cdb[0] == 0x85 else GOOD)
    disk = replace(fake.disk, protocol=Protocol.ATA)
    assert put(disk, channel, tmp_path, target, timer_ns) == [cdb]
    assert opened == [os.O_RDONLY | os.O_EXCL]
    assert asleep.sleeps(disk, tmp_path / "asleep") == (target == "sleep")


@pytest.mark.parametrize(
    ("target", "cdb"),
    [
        ("active", "1b 00 00 00 01 00"),
        ("idle", "1b 00 00 00 20 00"),
        ("standby", "1b 00 00 00 30 00"),
        ("sleep", "1b 00 00 00 00 00"),
    ],
)
def test_a_scsi_disk_gets(
    fake: FakeDisk, opened: list[int], tmp_path: Path, target: str, cdb: str
) -> None:
    channel = FakeChannel(scsi_answer=lambda cdb: GOOD)
    assert put(fake.disk, channel, tmp_path, target) == [cdb]
    # A stopped disk answers.
    assert not asleep.sleeps(fake.disk, tmp_path / "asleep")


def test_a_timer_of_a_scsi_disk_is_set_first(
    fake: FakeDisk, opened: list[int], tmp_path: Path
) -> None:
    page = bytes(8) + bytes([0x1A, 38]) + bytes(38)
    channel = FakeChannel(
        scsi_answer=lambda cdb: ScsiReply(0, 0, b"", page) if cdb[0] == 0x5A else GOOD
    )
    sent = put(fake.disk, channel, tmp_path, "standby", 600 * SECOND)
    assert [cdb[:2] for cdb in sent] == ["5a", "55", "1b"]


def test_a_sleeping_disk_is_woken_first_and_is_forgotten(
    fake: FakeDisk, opened: list[int], tmp_path: Path
) -> None:
    asleep.note(fake.disk, tmp_path / "asleep")
    attention = ScsiReply(2, 0, fixed_sense(6, 0x29, 3), b"")
    replies = [ScsiReply(0, 3, b"", b""), attention, GOOD, GOOD]
    channel = FakeChannel(scsi_answer=lambda cdb: replies.pop(0))
    sent = put(fake.disk, channel, tmp_path, "active")
    assert sent == [TEST_UNIT_READY, TEST_UNIT_READY, "1b 00 00 00 01 00"]
    assert channel.resets == 1
    assert not asleep.sleeps(fake.disk, tmp_path / "asleep")


def test_a_disk_that_is_not_known_to_sleep_is_not_reset(
    fake: FakeDisk, opened: list[int], tmp_path: Path
) -> None:
    replies = [ScsiReply(0, 3, b"", b""), GOOD]
    channel = FakeChannel(scsi_answer=lambda cdb: replies.pop(0))
    assert put(fake.disk, channel, tmp_path, "standby") == ["1b 00 00 00 30 00"]
    assert channel.resets == 0


def test_an_nvme_disk_gets_set_features(fake: FakeDisk, opened: list[int], tmp_path: Path) -> None:
    channel = FakeChannel(nvme_answer=lambda opcode, dwords: NvmeReply(0, 0, b""))
    disk = replace(fake.disk, protocol=Protocol.NVME)
    assert put(disk, channel, tmp_path, "active") == ["06 01", "0a 0c", "09 02"]


@pytest.mark.parametrize(
    ("protocol", "reply", "sentence"),
    [
        (Protocol.ATA, ata_reply(0, 0x51, 4), "the disk does not have STANDBY IMMEDIATE"),
        (
            Protocol.SCSI,
            ScsiReply(2, 0, fixed_sense(5, 0x24, 0), b""),
            "the disk refused START STOP UNIT: illegal request, invalid field in CDB",
        ),
    ],
)
def test_a_command_that_fails_is_an_error(
    fake: FakeDisk,
    opened: list[int],
    tmp_path: Path,
    protocol: Protocol,
    reply: ScsiReply,
    sentence: str,
) -> None:
    channel = FakeChannel(scsi_answer=lambda cdb: reply)
    with pytest.raises(SpekError, match=sentence):
        put(replace(fake.disk, protocol=protocol), channel, tmp_path, "standby")
    assert channel.closes == 1


def test_a_disk_that_goes_away_is_an_error(
    fake: FakeDisk, opened: list[int], tmp_path: Path
) -> None:
    def answer(cdb: bytes) -> ScsiReply:
        raise OSError(errno.ENODEV, "No such device")

    with pytest.raises(SpekError, match="/dev/sda: No such device"):
        put(fake.disk, FakeChannel(scsi_answer=answer), tmp_path, "standby")


@pytest.mark.parametrize(
    ("code", "kind", "sentence"),
    [
        (errno.EBUSY, RefusedError, "/dev/sda is in use: "),
        (errno.EACCES, NotPermittedError, "only root may send commands to /dev/sda"),
        (errno.ENXIO, SpekError, "cannot open /dev/sda: No such device or address"),
    ],
)
def test_what_can_not_be_claimed_gets_nothing(
    fake: FakeDisk,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    code: int,
    kind: type[SpekError],
    sentence: str,
) -> None:
    def refuse(path: str, flags: int, number: object) -> int:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(opening, "open_block_device", refuse)
    monkeypatch.setattr(safety, "explain_busy", lambda device, roots: "sda is mounted")
    channel = FakeChannel(scsi_answer=lambda cdb: GOOD)
    with pytest.raises(kind, match=sentence):
        put(fake.disk, channel, tmp_path, "standby")
    assert channel.sent == []
    # Forced, it is not claimed.
    assert put(fake.disk, channel, tmp_path, "standby", force=True) == ["1b 00 00 00 30 00"]


@pytest.mark.parametrize("force", [False, True])
def test_a_disk_that_has_taken_the_place_of_another_gets_nothing(
    fake: FakeDisk, opened: list[int], tmp_path: Path, force: bool
) -> None:
    """spekctl augment monitor looks at a slot for months, and its disk may be swapped."""
    fake.write("diskseq", "8")
    channel = FakeChannel(scsi_answer=lambda cdb: GOOD)
    with pytest.raises(RefusedError, match="/dev/sda has just been replaced by another device"):
        put(fake.disk, channel, tmp_path, "standby", force=force)
    assert (channel.sent, channel.opens, channel.closes) == ([], 1, 1)


def used_by(users: list[str]) -> Callable[..., list[str]]:
    def answer(device: Device, runs: object, claims: object, roots: Roots) -> list[str]:
        return users

    return answer


def test_a_disk_in_use_is_refused(fake: FakeDisk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(safety, "users", used_by(["sda1 is mounted on /home", "more"]))
    with pytest.raises(RefusedError) as caught:
        change.refuse_used(fake.disk)
    assert caught.value.message == (
        "/dev/sda is in use: sda1 is mounted on /home; more; --force changes its power state all"
        " the same"
    )
    monkeypatch.setattr(safety, "users", used_by([]))
    change.refuse_used(fake.disk)


def test_a_disk_that_is_claimed_by_another_path_is_refused(
    fake: FakeDisk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing names a mount in another namespace, say: the kernel's claim is of one path."""
    asked = []

    def claimed(device: Device, roots: Roots, known: safety.Known) -> str:
        asked.append((device.name, known()))
        return "sdc, another path to sda, is claimed: a kernel user holds it exclusively"

    monkeypatch.setattr(safety, "users", used_by([]))
    monkeypatch.setattr(safety, "claimed_by_other_path", claimed)
    with pytest.raises(RefusedError) as caught:
        change.refuse_used(fake.disk)
    assert caught.value.message == (
        "/dev/sda is in use: sdc, another path to sda, is claimed: a kernel user holds it"
        " exclusively; --force changes its power state all the same"
    )
    assert asked == [("sda", ([], []))]
    # What is suspended is not opened to be asked.
    fake.write("device/power/runtime_status", "suspended")
    with pytest.raises(RefusedError, match="is suspended by the kernel"):
        change.refuse_used(fake.disk)
    assert len(asked) == 1


def test_a_disk_that_is_claimed_by_another_path_after_the_look_gets_nothing(
    fake: FakeDisk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run claims sdc and finds sda free; then sda is claimed here."""
    held: list[str] = []
    users_there: list[str] = []

    @contextlib.contextmanager
    def claim(device: Device, roots: Roots) -> Iterator[None]:
        users_there.append("sdc, another path to sda, is claimed: a run of spek")
        held.append(device.name)
        yield
        held.remove(device.name)

    def claimed(
        device: Device, roots: Roots, known: safety.Known = safety.none_known, tries: int = 1
    ) -> str:
        # A claim that is only a look of another user at this path passes by.
        assert tries == (safety.PATIENCE if held else 1)
        return users_there[0] if users_there else ""

    monkeypatch.setattr(safety, "users", used_by([]))
    monkeypatch.setattr(safety, "claimed_by_other_path", claimed)
    monkeypatch.setattr(change, "_claim", claim)
    channel = FakeChannel(scsi_answer=lambda cdb: GOOD)
    change.refuse_used(fake.disk)
    with pytest.raises(RefusedError, match="/dev/sda is in use: sdc, another path to sda, is"):
        put(fake.disk, channel, tmp_path, "sleep")
    assert (channel.sent, channel.opens) == ([], 0)
    assert put(fake.disk, channel, tmp_path, "standby", force=True)


@pytest.mark.parametrize("status", ["suspended", "suspending"])
def test_a_suspended_disk_is_refused(
    fake: FakeDisk, monkeypatch: pytest.MonkeyPatch, status: str
) -> None:
    monkeypatch.setattr(safety, "users", used_by([]))
    fake.write("device/power/runtime_status", status)
    with pytest.raises(RefusedError, match="is suspended by the kernel"):
        change.refuse_used(fake.disk)


@pytest.mark.parametrize(
    ("protocol", "target", "timer_ns", "sentence"),
    [
        (Protocol.ATA, "sleep", SECOND, "not with sleep"),
        (Protocol.SCSI, "active", SECOND, "not with active"),
        (Protocol.ATA, "idle", SECOND, "no standby timer of 1s"),
        (Protocol.SCSI, "idle", 1, "multiple of 100ms"),
        (Protocol.NVME, "standby", SECOND, "NVMe disk, which has no standby timer"),
    ],
)
def test_what_a_disk_has_not_is_wrong_input(
    fake: FakeDisk, protocol: Protocol, target: str, timer_ns: int, sentence: str
) -> None:
    with pytest.raises(UsageError, match=sentence):
        change.check(replace(fake.disk, protocol=protocol), target, timer_ns)


def test_a_disk_that_takes_no_commands_is_wrong_input(fake: FakeDisk) -> None:
    change.check(fake.disk, "standby", None)
    with pytest.raises(UsageError, match="/dev/sda: it has none"):
        change.check(replace(fake.disk, place=None, obstacle="it has none"), "standby", None)


def test_the_count_of_a_timer_is_that_of_the_command(fake: FakeDisk) -> None:
    change.check(replace(fake.disk, protocol=Protocol.ATA), "idle", 20 * ata.MINUTE)
    change.check(fake.disk, "idle", 100 * 10**6)
