# SPDX-License-Identifier: GPL-2.0
"""Modules that were built with all warnings are those of guests, without a second build."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
from lib.build import checked
from lib.build.checked import ALL_WARNINGS, KEEP, Checked

from spekctl.vm import modules
from spekctl.vm.kernels import Kernel
from spekctl.vm.modules import NAMES, WHERE_POSSIBLE, build_modules


@pytest.fixture
def kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Kernel:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    headers = tmp_path / "headers"
    headers.mkdir()
    return Kernel("6.77.0", tmp_path / "vmlinuz", headers, None, "test")


def never(*arguments: Any, **options: Any) -> None:
    raise AssertionError("built once more")


def test_guests_load_what_was_checked(
    kernel: Kernel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    for name in (*NAMES, *WHERE_POSSIBLE):
        (tree / name).write_text(f"checked {name}")
    monkeypatch.setattr(checked, "build", lambda kernel, label: Checked(tree, 0, ""))
    checked.build_for_guests(kernel, "6.77")
    monkeypatch.setattr(modules, "_build", never)

    built = build_modules(kernel)

    assert [path.read_text() for path in built] == [f"checked {name}" for name in NAMES]
    for name in WHERE_POSSIBLE:
        assert (built[0].parent / name).read_text() == f"checked {name}"


def test_modules_that_guests_have_are_not_built_again(
    kernel: Kernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(modules, "_build", lambda kernel, tree, files, done: done.mkdir())
    build_modules(kernel)
    monkeypatch.setattr(checked, "build", never)

    checked.build_for_guests(kernel, "6.77")


def test_a_tree_that_does_not_build_leaves_guests_to_their_own_build(
    kernel: Kernel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checked, "build", lambda kernel, label: Checked(tmp_path, 2, "warning"))
    built: list[Kernel] = []

    def build(kernel: Kernel, tree: Path, files: list[Path], done: Path) -> None:
        built.append(kernel)
        done.mkdir()

    monkeypatch.setattr(modules, "_build", build)

    checked.build_for_guests(kernel, "6.77")
    build_modules(kernel)

    assert built == [kernel]


def test_a_tree_is_built_once_and_again_after_an_interruption(
    kernel: Kernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    makes: list[tuple[str, ...]] = []

    def make(command: tuple[str, ...], **options: Any) -> subprocess.CompletedProcess[str]:
        makes.append(command)
        if len(makes) == 1:
            raise KeyboardInterrupt
        return subprocess.CompletedProcess(command, 2, stdout="said")

    monkeypatch.setattr(subprocess, "run", make)
    with pytest.raises(KeyboardInterrupt):
        checked.build(kernel, "6.77")

    trees = [checked.build(kernel, "6.77") for _ in range(2)]

    assert trees[0] == trees[1]
    assert (trees[0].code, trees[0].output) == (2, "said")
    assert (trees[0].tree / "Kbuild").exists()
    assert makes == [("make", f"KDIR={kernel.headers}", *ALL_WARNINGS)] * 2


def test_the_last_trees_are_kept(kernel: Kernel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        subprocess, "run", lambda command, **options: subprocess.CompletedProcess(command, 0, "")
    )
    for revision in range(KEEP + 2):
        (kernel.headers / "Module.symvers").write_text(str(revision))
        last = checked.build(kernel, "6.77")

    kept = [path for path in last.tree.parents[1].iterdir() if not path.name.startswith(".")]
    assert len(kept) == KEEP
    assert last.tree.parent in kept
