# SPDX-License-Identifier: GPL-2.0
"""A log gets its name when it is whole."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from spekctl.log.place import UNKNOWN_BYTES, FilePlace


def test_a_log_has_another_name_until_it_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "io.parquet"
    path.write_bytes(b"an older log")
    place = FilePlace(path)
    assert (place.name, place.sink()) == (str(path), f"{path}.part")
    Path(str(place.sink())).write_bytes(b"new")
    assert path.read_bytes() == b"an older log"
    assert place.keep() == 3
    assert path.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [path]


def test_a_log_of_no_use_leaves_the_older_one(tmp_path: Path) -> None:
    path = tmp_path / "io.parquet"
    path.write_bytes(b"an older log")
    place = FilePlace(path)
    place.discard()  # nothing was written yet
    Path(str(place.sink())).write_bytes(b"half")
    place.discard()
    assert [(one, one.read_bytes()) for one in tmp_path.iterdir()] == [(path, b"an older log")]


def test_what_was_never_written_cannot_be_kept(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        FilePlace(tmp_path / "io.parquet").keep()


@pytest.mark.parametrize(
    ("blocks", "room"), [(100, 7 * 4096), (0, UNKNOWN_BYTES)], ids=["disk", "does not tell"]
)
def test_the_room_is_that_of_the_file_system(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, blocks: int, room: int
) -> None:
    asked = []

    def statvfs(path: Path) -> SimpleNamespace:
        asked.append(path)
        return SimpleNamespace(f_bavail=7, f_frsize=4096, f_blocks=blocks)

    monkeypatch.setattr(os, "statvfs", statvfs)
    assert FilePlace(tmp_path / "io.parquet").free_bytes() == room
    assert asked == [tmp_path]
