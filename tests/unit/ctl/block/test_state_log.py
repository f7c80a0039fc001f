# SPDX-License-Identifier: GPL-2.0
"""The log of --state-on is recognized, and no run overwrites it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from spekctl.block import state_log
from spekctl.block.blkid import Signature
from spekctl.errors import RefusedError


def signatures_on(path: Path) -> list[Signature]:
    fd = os.open(path, os.O_RDONLY)
    try:
        return state_log.signatures(fd)
    finally:
        os.close(fd)


def test_a_log_is_told_also_if_it_is_damaged(tmp_path: Path) -> None:
    path = tmp_path / "image"
    path.write_bytes(state_log.MAGIC + bytes(100))
    assert [str(signature) for signature in signatures_on(path)] == [
        "signature spek_state_log at byte 0"
    ]


@pytest.mark.parametrize("data", [b"", bytes(4096), state_log.MAGIC[:-1], b" " + state_log.MAGIC])
def test_other_contents_are_no_log(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "image"
    path.write_bytes(data)
    assert signatures_on(path) == []


def test_what_cannot_be_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RefusedError, match="cannot probe the device for data: Is a directory"):
        signatures_on(tmp_path)
