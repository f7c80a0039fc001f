# SPDX-License-Identifier: GPL-2.0
"""Names of devices that are nearly right get the right one for an answer."""

from __future__ import annotations

from pathlib import Path

import pytest

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
    ],
)
def test_a_device_that_is_not_there_gets_a_hint(given: str, hint: str, roots: Roots) -> None:
    with pytest.raises(UsageError) as caught:
        device.find(given, roots)
    assert caught.value.message == f"there is no device {given}{hint}"
