# SPDX-License-Identifier: GPL-2.0
"""A machine for spekctl that has fake disks and a fake kernel side."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from lib.fakes.kernel import FakeKernel

from spekctl.block import device, safety
from spekctl.block.device import Device
from spekctl.kernel import client
from spekctl.run import detached, observe


def disk(path: str = "/dev/fake0", **changes: Any) -> Device:
    """A disk of 1 GiB that holds nothing; it has zones, for the pattern that needs them."""
    values: dict[str, Any] = {
        "path": path,
        "node": path,
        "name": path.removeprefix("/dev/"),
        "major": 250,
        "minor": int(path[-1]),
        "bytes": 1 << 30,
        "logical_block": 512,
        "physical_block": 4096,
        "read_only": False,
        "diskseq": 0,
        "disk": path.removeprefix("/dev/"),
        "partition": 0,
        "model": "FAKE",
        "serial": "S123",
        "wwn": "",
        "driver": "fake",
        "rotational": False,
        "zoned": "none",
        "scheduler": "none",
        "iostats": "1",
        "nomerges": "0",
        "poll_queues": False,
        "zone_bytes": 4 << 20,
        "sysfs": Path("/nonexistent"),
    }
    return Device(**{**values, **changes})


def use_fakes(monkeypatch: pytest.MonkeyPatch, kernel: FakeKernel, tmp_path: Path) -> None:
    """/dev/fakeN are disks, @kernel answers, and the real machine is not examined. Files go into
    @tmp_path."""
    find = device.find

    def find_fake(path: str) -> Device:
        return disk(path) if path.startswith("/dev/fake") else find(path)

    monkeypatch.setattr(client, "connect", lambda: kernel)
    monkeypatch.setattr(device, "find", find_fake)
    monkeypatch.setattr(safety, "signatures_on", lambda device, diskseq: [])
    monkeypatch.setattr(safety, "_openers", lambda device, roots, modes: [])
    # What is written is read again, but needs no disk.
    monkeypatch.setattr(os, "fsync", lambda fd: None)
    monkeypatch.setattr(observe, "connect", lambda *wishes: ((), ""))
    monkeypatch.setattr(detached, "DIRECTORY", tmp_path / "state")
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.chdir(tmp_path)
