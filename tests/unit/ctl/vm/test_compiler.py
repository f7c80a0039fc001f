# SPDX-License-Identifier: GPL-2.0
"""Libraries that are compiled when they are first needed."""

from __future__ import annotations

import ctypes
from pathlib import Path

import pytest

from spekctl import distribution
from spekctl.errors import SpekError
from spekctl.vm import compiler


def test_a_library_is_compiled_with_headers_of_its_folders(tmp_path: Path) -> None:
    (tmp_path / "answer.h").write_text("#define ANSWER 42\n")
    code = tmp_path / "answer.c"
    code.write_text('#include "answer.h"\nint answer(void) { return ANSWER; }\n')
    path = tmp_path / "answer.so"
    compiler.compile_library(path, [code], [tmp_path], "the answer")
    assert ctypes.CDLL(str(path)).answer() == 42


def test_the_first_error_is_the_sentence(tmp_path: Path) -> None:
    code = tmp_path / "wrong.c"
    code.write_text("int wrong(void) { return absent; }\n")
    with pytest.raises(SpekError, match=r"cc failed to compile the answer: .*absent"):
        compiler.compile_library(tmp_path / "wrong.so", [code], [], "the answer")


def test_the_compiler_may_have_arguments(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "ccache gcc -m64")
    assert compiler.words() == ["ccache", "gcc", "-m64"]
    monkeypatch.setenv("CC", "")
    assert compiler.words() == ["cc"]


def test_without_a_compiler_the_command_that_installs_it_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CC", "absent-cc")
    monkeypatch.setattr(distribution, "family", lambda root: "fedora")
    with pytest.raises(SpekError) as refusal:
        compiler.compile_library(tmp_path / "x.so", [], [], "the answer")
    assert refusal.value.message == (
        "the answer needs a C compiler, but absent-cc is not installed:"
        " dnf install gcc glibc-devel, or name it in the variable CC"
    )
