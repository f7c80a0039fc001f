# SPDX-License-Identifier: GPL-2.0
"""What disks say of blocks that hold nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lib.ctl import results
from lib.fakes.power_disk import FakeChannel, FakeDisk
from msgspec.structs import replace

from spekctl.block.device import Device, Roots
from spekctl.contract.requests import ExtentRequest
from spekctl.errors import NotPermittedError, SpekError
from spekctl.power.disk import Protocol
from spekctl.power.passthrough import Channel, NvmeReply, Place, ScsiReply
from spekctl.run import unmapped
from spekctl.workload.config import RunConfig

MIB = 1 << 20
REQUEST_SENSE, ACTION_IN = 0x03, 0x9E
AWAKE = ScsiReply(0, 0, b"", bytes([0x70, 0, 0, 0, 0, 0, 0, 10, *[0] * 10]))
STANDBY = ScsiReply(0, 0, b"", bytes([0x70, 0, 0, 0, 0, 0, 0, 10, 0, 0, 0, 0, 0x5E, 0x04, 0, 0, 0]))
REFUSED = ScsiReply(2, 0, bytes([0x70, 0, 5, 0, 0, 0, 0, 10, 0, 0, 0, 0, 0x20, 0, 0, 0, 0, 0]), b"")


@pytest.fixture
def scsi(tmp_path: Path) -> FakeDisk:
    disk = FakeDisk(tmp_path)
    disk.write("device/scsi_generic/sg0/dev", "21:0")
    disk.write("queue/discard_granularity", "4096")
    disk.write("queue/discard_max_bytes", str(1 << 30))
    (tmp_path / "sg0").touch()
    return disk


def reading(start: int, size: int, read_ppm: int = 10**6, weight: int = 1) -> RunConfig:
    """A run that reads @size bytes from @start of its device on."""
    config = results.build().config
    stream = replace(
        config.streams[0],
        weight=weight,
        read_ppm=read_ppm,
        asu=0,
        range_start=start,
        range_bytes=size,
        operation="transfer",
    )
    asu = replace(config.asus[0], bytes=1 << 30, extents=[ExtentRequest(0, 0)])
    return replace(config, streams=[stream], asus=[asu])


def status(start: int, blocks: int, code: int) -> ScsiReply:
    descriptor = start.to_bytes(8) + blocks.to_bytes(4) + bytes([code, 0, 0, 0])
    return ScsiReply(0, 0, b"", (20).to_bytes(4) + bytes(4) + descriptor)


class Thin:
    """A disk that has stored its first blocks only."""

    def __init__(self, mapped: int, hole: int = 1) -> None:
        self.mapped, self.hole = mapped, hole
        self.asked: list[int] = []

    def __call__(self, cdb: bytes) -> ScsiReply:
        if cdb[0] == REQUEST_SENSE:
            return AWAKE
        assert (cdb[0], cdb[1], len(cdb)) == (ACTION_IN, 0x12, 16)
        assert int.from_bytes(cdb[10:14]) == 24
        block = int.from_bytes(cdb[2:10])
        self.asked.append(block)
        if block < self.mapped:
            return status(0, self.mapped, 0)
        return status(self.mapped, 2**32 - 1, self.hole)


def told(disk: FakeDisk, channel: FakeChannel, config: RunConfig) -> list[str]:
    root = disk.root
    roots = Roots(root / "sys", root / "proc", root, root / "udev")
    return unmapped.remarks([disk.device], config, channel.open, roots)


@pytest.mark.parametrize("hole", [1, 2])
def test_blocks_without_data_are_counted(scsi: FakeDisk, hole: int) -> None:
    # Of 64 MiB from 16 MiB on the first 16 MiB have data: up to block 65536.
    thin = Thin(65536, hole)
    channel = FakeChannel(thin)
    (remark,) = told(scsi, channel, reading(16 * MIB, 64 * MIB))
    assert remark.startswith(
        "/dev/sda: 48 of 64 blocks at equal distances in what is read hold nothing, says the disk"
    )
    assert thin.asked == [32768 + 1024 + 2048 * each for each in range(64)]
    assert channel.opens == channel.closes == 2


def test_a_range_of_few_blocks_is_asked_for_each(scsi: FakeDisk) -> None:
    thin = Thin(3)
    (remark,) = told(scsi, FakeChannel(thin), reading(512, 4 * 512))
    assert thin.asked == [1, 2, 3, 4]
    assert remark.startswith("/dev/sda: 2 of 4 blocks")


def test_data_everywhere_is_said_of_a_thin_volume_only(scsi: FakeDisk) -> None:
    channel = FakeChannel(Thin(1 << 30))
    assert told(scsi, channel, reading(0, MIB)) == []
    scsi.write("device/scsi_disk/0:0:0:0/thin_provisioning", "1")
    assert told(scsi, channel, reading(0, MIB)) == [
        "/dev/sda: all of 64 blocks that it was asked for hold data"
    ]


@pytest.mark.parametrize(
    "reply",
    [
        REFUSED,
        ScsiReply(0, 7, b"", b""),
        ScsiReply(0, 0, b"", bytes(8)),
        status(5000, 10, 1),  # of other blocks
        status(0, 0, 1),  # of no block
    ],
)
def test_a_disk_without_an_answer_is_not_mentioned(scsi: FakeDisk, reply: ScsiReply) -> None:
    channel = FakeChannel(lambda cdb: AWAKE if cdb[0] == REQUEST_SENSE else reply)
    assert told(scsi, channel, reading(0, MIB)) == []
    assert [cdb[0] for cdb in channel.sent] == [REQUEST_SENSE, ACTION_IN]
    assert channel.opens == channel.closes


def test_a_unit_attention_is_no_answer(scsi: FakeDisk) -> None:
    attention = bytes([0x70, 0, 6, 0, 0, 0, 0, 10, 0, 0, 0, 0, 0x29, 0, 0, 0, 0, 0])
    replies = [AWAKE, *[ScsiReply(2, 0, attention, b"")] * 3, *[status(0, 8, 1)] * 2]
    (remark,) = told(scsi, FakeChannel(lambda cdb: replies.pop(0)), reading(0, 2 * 512))
    assert remark.startswith("/dev/sda: 2 of 2 blocks")


def test_a_disk_at_rest_is_not_asked(scsi: FakeDisk) -> None:
    channel = FakeChannel(lambda cdb: STANDBY)
    assert told(scsi, channel, reading(0, MIB)) == []
    assert [cdb[0] for cdb in channel.sent] == [REQUEST_SENSE]
    scsi.write("device/power/runtime_status", "suspended")
    channel = FakeChannel()
    assert told(scsi, channel, reading(0, MIB)) == []
    assert channel.opens == 0


@pytest.mark.parametrize(
    "config",
    [
        reading(0, MIB, read_ppm=0),
        reading(0, MIB, weight=0),
        replace(
            reading(0, MIB), streams=[replace(reading(0, MIB).streams[0], operation="discard")]
        ),
    ],
)
def test_only_what_is_read_is_asked_for(scsi: FakeDisk, config: RunConfig) -> None:
    channel = FakeChannel()
    assert told(scsi, channel, config) == []
    assert channel.opens == 0


def test_a_disk_that_stores_all_its_blocks_is_not_asked(scsi: FakeDisk) -> None:
    scsi.write("queue/discard_max_bytes", "0")
    channel = FakeChannel()
    assert told(scsi, channel, reading(0, MIB)) == []
    assert channel.opens == 0


@pytest.mark.parametrize(
    "error", [SpekError("a command failed"), NotPermittedError("only root"), OSError(19, "gone")]
)
def test_a_disk_that_cannot_be_asked_is_not_mentioned(scsi: FakeDisk, error: Exception) -> None:
    def refuse(place: Place) -> Channel:
        raise error

    assert unmapped.remarks([scsi.device], reading(0, MIB), refuse) == []


def namespace(capacity: int, used: int, contents: int) -> NvmeReply:
    data = bytearray(4096)
    data[0:8] = data[8:16] = capacity.to_bytes(8, "little")
    data[16:24] = used.to_bytes(8, "little")
    data[33] = contents
    return NvmeReply(0, 0, bytes(data))


@pytest.mark.parametrize(
    ("identified", "sentences"),
    [
        (
            namespace(1000, 250, 1),
            [
                "/dev/nvme0n1: its controller counts 25.0% of the namespace as allocated; reads of"
                " the other blocks return zeroes, and need not reach the medium"
            ],
        ),
        (
            namespace(1000, 0, 2),
            [
                "/dev/nvme0n1: its controller counts 0.0% of the namespace as allocated; reads of"
                " the other blocks return bytes of FFh, and need not reach the medium"
            ],
        ),
        (
            # Bits above the contents are of other commands.
            namespace(1000, 999, 0x18),
            [
                "/dev/nvme0n1: its controller counts 99.9% of the namespace as allocated; reads of"
                " the other blocks return what it does not say, and need not reach the medium"
            ],
        ),
        (namespace(1000, 1000, 1), []),
        (NvmeReply(0x2002, 0, b""), []),
    ],
)
def test_a_controller_says_how_much_is_allocated(
    tmp_path: Path, identified: NvmeReply, sentences: list[str]
) -> None:
    disk = FakeDisk(tmp_path, "nvme0n1", Protocol.NVME)
    disk.write("nsid", "3")
    disk.write("queue/discard_granularity", "4096")
    disk.write("queue/discard_max_bytes", str(1 << 30))

    def answer(opcode: int, dwords: tuple[int, ...]) -> NvmeReply:
        # Identify Namespace, Identify Controller, Get Features.
        return identified if (opcode, dwords[0]) == (0x06, 0) else NvmeReply(0, 0, bytes(4096))

    channel = FakeChannel(nvme_answer=answer)
    assert told(disk, channel, reading(0, MIB)) == sentences
    assert channel.namespaces[-1] == 3
    assert set(channel.namespaces[:-1]) == {0}


def test_addresses_of_a_partition_are_those_of_its_disk(
    scsi: FakeDisk, monkeypatch: pytest.MonkeyPatch
) -> None:
    scsi.write("sda1/start", "2048")
    disk = scsi.disk
    monkeypatch.setattr("spekctl.power.disk.below", lambda device, roots: [disk])
    whole = scsi.device
    part: Device = replace(whole, partition=1, sysfs=whole.sysfs / "sda1", path="/dev/sda1")
    thin = Thin(0)
    (remark,) = unmapped.remarks([part], reading(512, 2 * 512), FakeChannel(thin).open)
    assert thin.asked == [2049, 2050]
    assert remark.startswith("/dev/sda1: 2 of 2 blocks")


@given(
    st.lists(st.tuples(st.integers(0, 1000), st.integers(1, 50)), min_size=1, max_size=4),
    st.integers(1, 70),
)
def test_samples_are_in_what_is_read_and_apart(ranges: list[tuple[int, int]], count: int) -> None:
    at, places = 0, []
    for gap, blocks in ranges:
        places.append(((at + gap) * 512, blocks * 512))
        at += gap + blocks
    chosen = unmapped.spread(places, 512, count)
    total = sum(blocks for _, blocks in ranges)
    assert len(set(chosen)) == min(count, total)
    assert chosen == sorted(chosen)
    assert all(
        any(start <= each and each + 512 <= start + size for start, size in places)
        for each in chosen
    )
