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
    about = [found["text"] for found in findings if found["check"] == "unwritten blocks"]
    return remarks, about


def test_a_thin_volume_is_told(call: Spekctl) -> None:
    with scsi_disk(64, lbpu=1, lbprz=1, delay=0) as node:
        (remark,), (finding,) = told(call, node)
    assert remark.startswith(f"{node}: it is a thin volume")
    assert finding.startswith("it is a thin volume")


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
