# SPDX-License-Identifier: GPL-2.0
"""What is compiled is compiled again by another compiler, and only then."""

from __future__ import annotations

from pathlib import Path

import pytest
from lib.build.compiled import compiled, version
from lib.core.build import SHARED, Core


@pytest.fixture
def compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A stand-in for gcc that counts compilations, with a cache of its own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    path = tmp_path / "cc"
    monkeypatch.setenv("CC", str(path))
    install(path, 12)
    return path


def install(compiler: Path, number: int) -> None:
    compiler.write_text(f"""#!/bin/sh
[ "$1" = --version ] && echo {number} && exit
echo x >> {compiler}.calls
while [ "$1" != -o ]; do shift; done
echo {number} > "$2"
""")
    compiler.chmod(0o755)
    version.cache_clear()


def calls(compiler: Path) -> int:
    return Path(f"{compiler}.calls").read_text().count("x")


def test_a_program_is_of_the_compiler_that_is_installed(compiler: Path) -> None:
    core = Core("shared", SHARED)
    assert [core.build("program", ["-O1"]).read_text() for _ in range(2)] == ["12\n", "12\n"]
    assert calls(compiler) == 1
    install(compiler, 13)
    assert core.build("program", ["-O1"]).read_text() == "13\n"
    assert calls(compiler) == 2


def test_a_word_or_a_file_makes_it_again(compiler: Path, tmp_path: Path) -> None:
    source = tmp_path / "x.c"
    source.write_text("int x;\n")
    runs: list[Path] = []

    def make(path: Path) -> None:
        runs.append(path)
        path.touch()

    def ask(*words: str) -> None:
        compiled("core", "x", str(compiler), [source], words, make)

    ask("-O1")
    ask("-O1")
    assert len(runs) == 1
    ask("-O2")
    assert len(runs) == 2
    source.write_text("int y;\n")
    ask("-O2")
    assert len(runs) == 3
