# SPDX-License-Identifier: GPL-2.0
"""The kernel's log buffers, before files that stand for them; refusals are in test_recorder.py."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from spekctl.errors import SpekError
from spekctl.log import buffer


def test_a_buffer_is_a_file_of_debugfs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mount = tmp_path / "debug fs"
    (mount / "spek/3").mkdir(parents=True)
    (mount / "spek/3/worker1").write_bytes(b"records")
    mounts = tmp_path / "mounts"
    escaped = str(mount).replace(" ", "\\040")
    mounts.write_text(f"x /x ext4 rw 0 0\nnone {escaped} debugfs rw 0 0\n")
    monkeypatch.setattr(buffer, "MOUNTS", mounts)
    assert buffer.debugfs() == mount
    info: Any = SimpleNamespace(log_dir="spek/3")
    room = bytearray(4)
    with buffer.open_buffer(info, 1) as file:
        assert file.readinto(memoryview(room)) == 4 and bytes(room) == b"reco"
    with pytest.raises(SpekError, match=r"cannot read the log at .*worker2: No such file"):
        buffer.open_buffer(info, 2)
