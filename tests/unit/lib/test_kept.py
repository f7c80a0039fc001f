# SPDX-License-Identifier: GPL-2.0
"""A cache that cannot be written costs time, and no test."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from lib.build import silent
from lib.kept import kept

# Refuses root, too.
READ_ONLY = Path("/sys/kernel")


def write(runs: list[Path]) -> Callable[[Path], None]:
    def make(place: Path) -> None:
        runs.append(place)
        place.write_text("new")

    return make


@pytest.fixture(params=["no cache", "folder of another"])
def read_only(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the whole cache, or of its folders "core" and "silent"."""
    home = READ_ONLY
    if request.param == "folder of another":
        home = tmp_path
        (home / "spek").mkdir()
        for folder in ("core", "silent"):
            (home / "spek" / folder).symlink_to(READ_ONLY)
    monkeypatch.setenv("XDG_CACHE_HOME", str(home))


def test_an_entry_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    runs: list[Path] = []
    entry = tmp_path / "spek/core/x"
    assert [kept("core", "x", write(runs)) for _ in range(2)] == [entry, entry]
    assert entry.read_text() == "new" and len(runs) == 1


@pytest.mark.usefixtures("read_only")
def test_an_entry_that_cannot_be_kept_is_made(request: pytest.FixtureRequest) -> None:
    runs: list[Path] = []
    name = request.node.name
    places = [kept("core", name, write(runs)) for _ in range(2)]
    assert places == [runs[0], runs[0]] and places[0].read_text() == "new"


def test_an_entry_of_another_user_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    (tmp_path / "spek").mkdir()
    (tmp_path / "spek/core").symlink_to(READ_ONLY)
    assert kept("core", "uevent_seqnum", write([])).read_text().strip().isdigit()


@pytest.mark.parametrize("error", [PermissionError(13, "x"), FileNotFoundError(2, "x")])
def test_an_error_of_the_maker_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: OSError
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))

    def fail(place: Path) -> None:
        raise error

    with pytest.raises(type(error)):
        kept("core", "x", fail)


def test_another_error_of_the_cache_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "spek").write_text("no folder")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(OSError, match="spek"):
        kept("core", "x", write([]))


@pytest.mark.usefixtures("read_only")
def test_a_compiler_is_asked_again_without_a_cache(tmp_path: Path) -> None:
    source = tmp_path / "x.c"
    source.write_text("int x;\n")
    for _ in range(2):
        assert silent.complaints(("gcc", "-Wall"), source) == ""
    source.write_text("int x = y;\n")
    assert "undeclared" in silent.complaints(("gcc", "-Wall"), source)


def test_what_is_not_kept_is_removed_at_exit(tmp_path: Path) -> None:
    text = "from pathlib import Path; from lib.kept import kept; print(kept('a', 'b', Path.touch))"
    done = subprocess.run(
        [sys.executable, "-c", text],
        env={"PYTHONPATH": ":".join(filter(None, sys.path)), "XDG_CACHE_HOME": str(READ_ONLY)},
        capture_output=True,
        text=True,
        check=True,
    )
    place = Path(done.stdout.strip())
    assert place.name == "b" and not place.parent.exists()
