# SPDX-License-Identifier: GPL-2.0
"""The device of a host that a plan names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from lib.fakes.machine import disk

from spekctl.block import device
from spekctl.block.device import Roots
from spekctl.errors import UsageError
from spekctl.fleet import selector

NQN = "nqn.2014-08.org.nvmexpress:uuid:1"


@pytest.fixture
def roots(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Roots:
    """A machine of four disks, one an NVMe namespace and one with two paths, and a partition."""
    disks: list[Any] = [
        disk("/dev/fake0", wwn="naa.6001", serial="S1", disk="fake0"),
        disk("/dev/fake1", wwn="0x5001", serial="S2", disk="fake1"),
        disk("/dev/fake2", wwn="eui.99", serial="S2", disk="nvme0n1"),
        disk("/dev/fake3", wwn="naa.6001", serial="S1", disk="fake0", partition=1),
        disk("/dev/fake4", wwn="naa.8001", serial="S4", disk="fake4"),
        disk("/dev/fake5", wwn="naa.8001", serial="S4", disk="fake5"),
        # As an old virtio disk: nothing says what it is.
        disk("/dev/fake6", wwn="", serial="", disk="fake6"),
    ]
    monkeypatch.setattr(device, "every", lambda roots: iter(disks))
    place = tmp_path / "sys/class/block/nvme0n1/device/subsysnqn"
    place.parent.mkdir(parents=True)
    place.write_text(NQN + "\n")
    (tmp_path / "dev").mkdir(mode=0o755)
    return Roots(sys=tmp_path / "sys", dev=tmp_path / "dev")


@pytest.mark.parametrize(
    ("text", "node"),
    [
        ("wwn:naa.6001", "/dev/fake0"),
        ("wwn:6001", "/dev/fake0"),
        ("wwn:5001", "/dev/fake1"),
        ("wwn:0x5001", "/dev/fake1"),
        # As lsblk and udev write it.
        ("wwn:0x6001", "/dev/fake0"),
        ("serial:S1", "/dev/fake0"),
        (f"nqn:{NQN}", "/dev/fake2"),
    ],
)
def test_a_device_is_known_by_what_it_is(roots: Roots, text: str, node: str) -> None:
    assert selector.find(text, roots).node == node


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("wwn:naa.7", "there is no device wwn:naa.7"),
        ("serial:S2", "serial:S2 means several devices: /dev/fake1, /dev/fake2; name one by"),
        ("nqn:", "'nqn:' names no device; write wwn:..., serial:..., nqn:... or a path below"),
        ("serial:", "'serial:' names no device"),
        ("serial: ", "'serial: ' names no device"),
        ("wwn:", "'wwn:' names no device"),
        ("wwn:0x", "'wwn:0x' is not a WWN: naa., eui. and 0x are followed by hexadecimal digits"),
        ("wwn:naa.", "'wwn:naa.' is not a WWN"),
        ("wwn:0xx", "'wwn:0xx' is not a WWN"),
        ("fake0", "'fake0' names no device"),
        ("wwn:naa.8001", "several devices: /dev/fake4, /dev/fake5; name one by its path"),
        ("uuid:1", "'uuid:1' names no device"),
    ],
)
def test_what_means_no_device_or_several_is_refused(roots: Roots, text: str, sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        selector.find(text, roots)


def test_a_path_stays_below_dev(roots: Roots, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device, "find", disk)
    assert selector.find(str(roots.dev / "sd0"), roots).path == str(roots.dev / "sd0")
    (roots.dev / "out").symlink_to("/etc")
    with pytest.raises(UsageError, match="leads out of"):
        selector.find(str(roots.dev / "out/passwd"), roots)
