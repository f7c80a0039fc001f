# SPDX-License-Identifier: GPL-2.0
"""What is expensive to make is made once, and never seen half made."""

from __future__ import annotations

import errno
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from spekctl.errors import GuestError
from spekctl.vm.cache import cache_dir, cached, claimed, digest_of, in_use, require


def test_a_file_is_made_once(tmp_path: Path) -> None:
    built: list[Path] = []

    def make(place: Path) -> None:
        built.append(place)
        place.write_text("new")

    for _ in range(2):
        assert cached(tmp_path / "folder" / "file", make).read_text() == "new"
    assert len(built) == 1
    assert sorted(os.listdir(tmp_path / "folder")) == [".lock", "file"]


def test_one_of_many_makes_it_while_the_others_wait(tmp_path: Path) -> None:
    everybody = Barrier(4)
    built: list[Path] = []

    def make(place: Path) -> None:
        built.append(place)
        place.mkdir()
        (place / "whole").touch()

    def ask(_number: int) -> bool:
        everybody.wait()
        return (cached(tmp_path / "entry", make) / "whole").exists()

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(ask, range(4)))
    assert len(built) == 1


def test_what_fails_leaves_nothing(tmp_path: Path) -> None:
    def fail(place: Path) -> None:
        place.write_text("half")
        raise OSError("no compiler")

    with pytest.raises(OSError, match="no compiler"):
        cached(tmp_path / "entry", fail)
    assert os.listdir(tmp_path) == [".lock"]


def test_entries_that_were_used_last_stay(tmp_path: Path) -> None:
    for number, name in enumerate("abc"):
        cached(tmp_path / name, Path.mkdir)
        os.utime(tmp_path / name, (number, number))

    cached(tmp_path / "a", Path.mkdir, keep=2)

    assert {entry.name for entry in tmp_path.iterdir() if entry.is_dir()} == {"a", "c"}


def test_an_entry_of_a_read_only_cache_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cached(tmp_path / "entry", Path.mkdir, keep=1)

    def refuse(*_: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(os, "utime", refuse)
    assert cached(tmp_path / "entry", Path.mkdir, keep=1).is_dir()


def test_a_name_follows_from_contents_places_and_words(tmp_path: Path) -> None:
    files = [tmp_path / "one.c", tmp_path / "two.c"]
    for path in files:
        path.write_text("int x;\n")
    names = {digest_of(tmp_path, files, "-O2")}
    names.add(digest_of(tmp_path, files, "-O", "2"))
    names.add(digest_of(tmp_path, files[:1], "-O2"))
    names.add(digest_of(tmp_path.parent, files, "-O2"))
    files[1].write_text("int y;\n")
    names.add(digest_of(tmp_path, files, "-O2"))
    assert len(names) == 5


def test_a_claim_is_refused_until_it_is_given_up() -> None:
    first = claimed("place")
    assert first is not None
    assert claimed("place") is None
    elsewhere = claimed("another place")
    os.close(first)
    again = claimed("place")
    for lock in (elsewhere, again):
        assert lock is not None
        os.close(lock)


def test_what_is_in_use_is_kept(tmp_path: Path) -> None:
    def make(path: Path) -> None:
        path.mkdir()

    first = cached(tmp_path / "first", make, 1)
    with in_use(first):
        cached(tmp_path / "second", make, 1)
        assert first.exists()
    cached(tmp_path / "third", make, 1)
    assert [path.name for path in tmp_path.glob("[!.]*")] == ["third"]


def test_a_cache_that_cannot_be_written_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(GuestError) as refusal:
        require()
    assert refusal.value.message == (
        f"cannot write to the cache {tmp_path}/file/spek: Not a directory; XDG_CACHE_HOME can name"
        " another directory"
    )
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    require()
    assert cache_dir("vm").is_dir()
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(GuestError, match="/spek: Permission denied; XDG_CACHE_HOME"):
        require()
