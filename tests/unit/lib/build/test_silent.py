# SPDX-License-Identifier: GPL-2.0
"""A compiler is asked again where its answer may be another one, and only there."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
from lib.build import silent

GOOD = """
#include "x.h"
int f(int x)
{
	switch (x) {
	case 1:
		x++;
		/* fall through */
	default:
		return x + N;
	}
}
"""
COMMAND = ("gcc", "-Wall", "-Wextra", "-Werror")


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Compilations, with a cache and two files of their own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "x.c").write_text(GOOD)
    (tmp_path / "x.h").write_text("#define N 1\n")
    compilations: list[str] = []

    def run(words: list[str], **how: Any) -> subprocess.CompletedProcess[Any]:
        if "-c" in words:
            compilations.append(words[0])
        return real(words, **how)

    real = subprocess.run
    monkeypatch.setattr(subprocess, "run", run)
    return compilations


def test_a_silent_compiler_is_asked_once(asked: list[str], tmp_path: Path) -> None:
    for _ in range(2):
        assert silent.complaints(COMMAND, tmp_path / "x.c") == ""
    assert len(asked) == 1


def test_a_change_of_a_header_of_a_comment_or_of_a_flag_asks_again(
    asked: list[str], tmp_path: Path
) -> None:
    source = tmp_path / "x.c"
    assert silent.complaints(COMMAND, source) == ""

    (tmp_path / "x.h").write_text("#define N 2\n")
    assert silent.complaints(COMMAND, source) == "" and len(asked) == 2

    assert silent.complaints((*COMMAND, "-O1"), source) == "" and len(asked) == 3

    source.write_text(GOOD.replace("fall through", "goes on"))
    assert "fall" in silent.complaints(COMMAND, source) and len(asked) == 4


def test_a_complaint_is_not_kept(asked: list[str], tmp_path: Path) -> None:
    (tmp_path / "x.h").write_text("#define N y\n")
    for _ in range(2):
        assert "undeclared" in silent.complaints(COMMAND, tmp_path / "x.c")
    assert len(asked) == 2
    (tmp_path / "x.h").unlink()
    assert "x.h" in silent.complaints(COMMAND, tmp_path / "x.c")


@pytest.mark.parametrize("step", ["-E", "-c"])
def test_a_compiler_that_fails_without_a_word_is_not_content(
    asked: list[str], tmp_path: Path, step: str
) -> None:
    compiler = tmp_path / "cc"
    compiler.write_text(f'#!/bin/sh\ncase " $* " in *" {step} "*) exit 3;; esac\n')
    compiler.chmod(0o755)
    assert silent.complaints([str(compiler)], tmp_path / "x.c") == "exit code 3"
