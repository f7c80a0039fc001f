# SPDX-License-Identifier: GPL-2.0
"""NVMe controllers in results."""

from __future__ import annotations

from pathlib import Path

import msgspec
from lib.fakes.nvme_controller import Machine, drive

from spekctl.documents.nvme import NvmeDrive


def test_a_drive_is_read_as_it_was_written(tmp_path: Path) -> None:
    told = drive(Machine(tmp_path))
    assert msgspec.json.decode(msgspec.json.encode(told), type=NvmeDrive) == told
