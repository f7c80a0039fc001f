# SPDX-License-Identifier: GPL-2.0
"""A log gets its name when it is whole."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace

import pytest
from lib.processes import closes_what_it_opens

from spekctl.log.place import UNKNOWN_BYTES, FilePlace


def test_a_log_has_another_name_until_it_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "io.parquet"
    path.write_bytes(b"an older log")
    place = FilePlace(path)
    assert place.name == str(path)
    place.open().write(b"new")
    assert path.read_bytes() == b"an older log"
    assert {entry.name for entry in tmp_path.iterdir()} == {"io.parquet", "io.parquet.part"}
    assert place.keep() == 3
    assert path.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [path]


def test_a_log_of_no_use_leaves_the_older_one(tmp_path: Path) -> None:
    path = tmp_path / "io.parquet"
    path.write_bytes(b"an older log")
    place = FilePlace(path)
    place.discard()  # nothing was written yet
    place.open().write(b"half")
    place.discard()
    place.discard()
    assert [(entry, entry.read_bytes()) for entry in tmp_path.iterdir()] == [
        (path, b"an older log")
    ]


def test_what_was_never_written_cannot_be_kept(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        FilePlace(tmp_path / "io.parquet").keep()


def test_what_an_earlier_process_left_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "io.parquet"
    path.with_name("io.parquet.part").write_bytes(b"left behind, and longer")
    place = FilePlace(path)
    place.open().write(b"new")
    assert place.keep() == 3
    assert [(entry, entry.read_bytes()) for entry in tmp_path.iterdir()] == [(path, b"new")]


def test_a_log_that_is_being_written_is_left_to_its_writer(tmp_path: Path) -> None:
    path = tmp_path / "io.parquet"
    first, second = FilePlace(path), FilePlace(path)
    first.open().write(b"first")
    with pytest.raises(OSError, match=r"another process is writing io\.parquet\.part"):
        second.open()
    second.discard()
    assert first.keep() == 5
    assert path.read_bytes() == b"first"
    second.open().write(b"second")
    assert second.keep() == 6
    assert [(entry, entry.read_bytes()) for entry in tmp_path.iterdir()] == [(path, b"second")]


def test_a_part_whose_file_was_closed_by_a_failure_is_removed(tmp_path: Path) -> None:
    place = FilePlace(tmp_path / "io.parquet")
    place.open().close()
    place.discard()
    assert list(tmp_path.iterdir()) == []


def test_what_stands_in_place_of_a_replaced_part_is_left(tmp_path: Path) -> None:
    path = tmp_path / "io.parquet"
    place = FilePlace(path)
    place.open().write(b"new")
    part = path.with_name("io.parquet.part")
    part.unlink()
    part.write_bytes(b"of another process")
    place.discard()
    assert part.read_bytes() == b"of another process"


def test_a_link_in_place_of_the_part_is_not_followed(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_bytes(b"of root")
    path = tmp_path / "io.parquet"
    path.with_name("io.parquet.part").symlink_to(victim)
    place = FilePlace(path)
    place.open().write(b"new")
    place.keep()
    assert victim.read_bytes() == b"of root"
    assert path.read_bytes() == b"new" and not path.is_symlink()


def test_a_part_that_somebody_replaced_is_not_kept(tmp_path: Path) -> None:
    path = tmp_path / "io.parquet"
    place = FilePlace(path)
    place.open().write(b"new")
    part = path.with_name("io.parquet.part")
    part.unlink()
    part.write_bytes(b"forged")
    with pytest.raises(OSError, match="somebody has replaced the file"):
        place.keep()
    place.discard()
    assert not path.exists()


def test_a_place_leaves_no_descriptor_open(tmp_path: Path) -> None:
    with closes_what_it_opens():
        for end in (FilePlace.keep, FilePlace.discard):
            place = FilePlace(tmp_path / "io.parquet")
            place.open()
            place.open()
            end(place)
        second = FilePlace(tmp_path / "io.parquet")
        place.open()
        with pytest.raises(OSError, match="another process"):
            second.open()
        place.discard()


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
