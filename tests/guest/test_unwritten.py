# SPDX-License-Identifier: GPL-2.0
"""Reads of blocks that hold nothing: thin volumes and sparse files, as run and doctor tell."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from guest.holders import tool
from lib.ctl.command_line import Spekctl
from lib.guest.disks import scsi_disk
from lib.guest.spekctl import in_process

from spekctl.errors import ExitCode
from spekctl.power import disk as disks
from spekctl.power.passthrough import Node

pytestmark = pytest.mark.any_kernel
MIB = 1 << 20
TEXT = "reads of blocks that hold nothing do not reach the medium"


@pytest.fixture
def call(spek_module: Path, capfd: pytest.CaptureFixture[str]) -> Iterator[Spekctl]:
    """call("run", ...) in this process; afterwards no run is left in the kernel."""
    with in_process(capfd) as spekctl:
        yield spekctl


def told(call: Spekctl, node: str) -> tuple[list[str], list[str]]:
    """What the result of a run and doctor say of unwritten blocks."""
    words = ("run", "random-read-4k", "--device", node, "--depth", "1", "--count", "20")
    done = call(*words, "--json", "--progress", "none", "--no-prober")
    assert done.code == ExitCode.OK, done.err
    remarks = [text for text in json.loads(done.out)["remarks"] if TEXT in text]
    findings = json.loads(call("doctor", "--device", node, "--json").out)["findings"]
    about = [finding["text"] for finding in findings if finding["check"] == "unwritten blocks"]
    return remarks, about


def test_a_thin_volume_is_told(call: Spekctl) -> None:
    with scsi_disk(64, lbpu=1, lbprz=1, delay=0) as node:
        (remark,), (finding,) = told(call, node)
    assert remark.startswith(f"{node}: it is a thin volume")
    assert finding.startswith("it is a thin volume")


def test_a_thin_volume_is_asked_how_many_blocks_hold_data(
    call: Spekctl, monkeypatch: pytest.MonkeyPatch
) -> None:
    """scsi_debug keeps a map of what was written. It has the VPD page of ATA disks, which are not
    asked, but knows no ATA commands."""
    monkeypatch.setattr("spekctl.power.disk._is_ata", lambda device: False)
    words = ("--depth", "1", "--count", "20", "--json", "--progress", "none", "--no-prober")

    def asked(node: str) -> list[str]:
        done = call("run", "random-read-4k", "--device", node, *words)
        assert done.code == ExitCode.OK, done.err
        remarks: list[str] = json.loads(done.out)["remarks"]
        return [text.removeprefix(f"{node}: ") for text in remarks if "64 blocks" in text]

    with scsi_disk(64, lbpu=1, lbprz=1, delay=0) as node:
        (empty,) = asked(node)
        write(node, 48 * MIB)
        (part,) = asked(node)
        write(node, 64 * MIB)
        (full,) = asked(node)
    assert empty.startswith("64 of 64 blocks at equal distances in what is read hold nothing")
    assert part.startswith("16 of 64 blocks at equal distances in what is read hold nothing")
    assert full == "all of 64 blocks that it was asked for hold data"


def test_a_controller_is_asked_about_the_namespace(call: Spekctl, nvme_disk: str) -> None:
    """QEMU's counts all blocks as allocated, so that there is nothing to remark."""
    disk = disks.find(nvme_disk)
    assert disk.place is not None
    number = int((disk.device.sysfs / "nsid").read_text())
    with Node(disk.place) as node:
        reply = node.nvme(0x06, (0,), 4096, number)
        assert node.nvme(0x06, (0,), 4096, 0xFFFFFFFE).status != 0
    assert reply.status == 0
    size, capacity, used = (int.from_bytes(reply.data[at : at + 8], "little") for at in (0, 8, 16))
    assert size * disk.device.logical_block == disk.device.bytes
    words = ("run", "random-read-4k", "--device", nvme_disk, "--depth", "1", "--count", "20")
    done = call(*words, "--json", "--progress", "none", "--no-prober")
    assert done.code == ExitCode.OK, done.err
    remarks = [text for text in json.loads(done.out)["remarks"] if "as allocated" in text]
    assert len(remarks) == (used < capacity)


def write(node: str, size: int) -> None:
    """Write the first @size bytes of a disk."""
    with open(node, "r+b") as disk:
        for _ in range(size // MIB):
            disk.write(b"\x5a" * MIB)
        disk.flush()
        os.fsync(disk.fileno())


def test_a_disk_that_stores_all_blocks_has_no_remark(call: Spekctl) -> None:
    with scsi_disk(64, delay=0) as node:
        assert told(call, node) == ([], [])


def test_a_sparse_file_is_told_until_it_is_written(call: Spekctl, tmp_path: Path) -> None:
    tool("modprobe", "loop")
    image = tmp_path / "image"
    with image.open("wb") as file:
        file.truncate(MIB)
    node = tool("losetup", "--find", "--show", str(image))
    try:
        (remark,), (finding,) = told(call, node)
        assert "its file is sparse: 0.0% of it is allocated" in remark and "sparse" in finding
        with image.open("r+b") as file:
            file.write(os.urandom(MIB))
            os.fsync(file.fileno())
        remarks, _ = told(call, node)
        assert remarks == []
    finally:
        tool("losetup", "--detach", node)
