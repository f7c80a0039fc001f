# SPDX-License-Identifier: GPL-2.0
"""Entries of directories that others may write to."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from lib.processes import closes_what_it_opens

from spekctl import entry
from spekctl.entry import Entry


def place_of(entry: Entry) -> Path:
    return Path(os.readlink(f"/proc/self/fd/{entry.directory}"), entry.name)


@pytest.mark.parametrize(
    "link",
    ["real/file", "../{root}/real/file", "{whole}/real/file", "chain"],
    ids=["relative", "through the directory above", "absolute", "a link to a link"],
)
def test_a_link_leads_to_its_target(tmp_path: Path, link: str) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "chain").symlink_to("real/file")
    path = tmp_path / "link"
    path.symlink_to(link.format(root=tmp_path.name, whole=tmp_path))
    with Entry.of(path) as entry:
        assert place_of(entry) == tmp_path / "real/file"
        assert entry.status() is None


def test_a_bare_name_is_in_the_current_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with Entry.of(Path("file")) as entry:
        assert place_of(entry) == tmp_path / "file"


@pytest.mark.parametrize(
    ("target", "error"),
    [
        ("loop", OSError),
        ("missing/file", FileNotFoundError),
        ("..", IsADirectoryError),
        ("file/below", NotADirectoryError),
    ],
)
def test_what_is_no_place_for_a_file(tmp_path: Path, target: str, error: type[OSError]) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "link").symlink_to(target)
    with closes_what_it_opens(), pytest.raises(error):
        Entry.of(tmp_path / "link")


def test_a_link_of_somebody_else_is_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(entry, "trusted_users", lambda: {os.getuid() + 1})
    (tmp_path / "link").symlink_to("file")
    with pytest.raises(PermissionError, match="link is a symbolic link that belongs to another"):
        Entry.of(tmp_path / "link")


@pytest.mark.parametrize(
    ("uid", "sudo", "trusted"),
    [
        (1000, None, {0, 1000}),
        (1000, "1001", {0, 1000}),
        (0, None, {0}),
        (0, "1000", {0, 1000}),
        (0, "1000; rm", {0}),
    ],
)
def test_links_of_root_ourselves_and_the_user_of_sudo_are_trusted(
    monkeypatch: pytest.MonkeyPatch, uid: int, sudo: str | None, trusted: set[int]
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: uid)
    monkeypatch.delenv("SUDO_UID", raising=False)
    if sudo is not None:
        monkeypatch.setenv("SUDO_UID", sudo)
    assert entry.trusted_users() == trusted


def test_an_entry_is_created_once_and_never_through_a_link(tmp_path: Path) -> None:
    with Entry.of(tmp_path / "new") as entry:
        os.close(entry.create(0o640))
        assert stat.S_IMODE((tmp_path / "new").stat().st_mode) & ~0o640 == 0
        with pytest.raises(FileExistsError):
            entry.create()
        entry.remove()
        entry.remove()
        (tmp_path / "new").symlink_to("elsewhere")
        with pytest.raises(FileExistsError):
            entry.create()
        os.close(entry.create_anew())
    assert not (tmp_path / "new").is_symlink() and not (tmp_path / "elsewhere").exists()


def test_temporary_names_differ(tmp_path: Path) -> None:
    with Entry.of(tmp_path / ("x" * 255)) as entry:
        first, second = entry.temporary(), entry.temporary()
        os.close(first.create())
        os.close(second.create())
        assert first.name != second.name
