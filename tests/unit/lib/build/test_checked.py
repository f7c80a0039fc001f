# SPDX-License-Identifier: GPL-2.0
"""Modules that were built with all warnings are those of guests, without a second build."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
from lib.build import checked, sources
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


MAKEFILE = """\
# make help shows what there is.
JOBS ?= 2
# ---- modules ----
.PHONY: modules
modules: check-headers ## build the modules
\t@$(kbuild) -j$(JOBS) modules
# ---- the two commands ----
test: deps ## run all tests
\t@$(PYTHON) -m pytest $(ARGS)
"""


def small_tree(root: Path) -> Path:
    """The least that has a file of each kind."""
    texts = {
        "Kbuild": "obj-m := spek.o\n",
        "Makefile": MAKEFILE,
        "dkms.conf": "PACKAGE_NAME=spek\n",
        "kmod/main.c": "int spek;\n",
        "kmod/README.md": "The modules.\n",
        "prober/uapi/spek_prober.h": "#define SPEK 1\n",
    }
    for name, text in texts.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


@pytest.mark.parametrize(
    ("file", "old", "new", "builds"),
    [
        ("Makefile", "build the modules", "build the kernel modules", 1),
        ("Makefile", "shows what there is", "lists the goals", 1),
        ("Makefile", "-m pytest", "-m pytest -x", 1),
        ("kmod/README.md", "The modules", "Three modules", 1),
        ("dkms.conf", "PACKAGE_NAME", "NAME", 1),
        ("Makefile", "JOBS ?= 2", "JOBS ?= 1", 2),
        ("Makefile", "-j$(JOBS) modules", "-j$(JOBS) V=1 modules", 2),
        ("Makefile", "modules: check-headers", "modules:", 2),
        ("Kbuild", "spek.o", "spek.o spek_prober.o", 2),
        ("kmod/main.c", "int spek", "long spek", 2),
        ("prober/uapi/spek_prober.h", "SPEK 1", "SPEK 2", 2),
    ],
)
def test_a_tree_is_built_again_for_what_shapes_the_build(
    kernel: Kernel,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    file: str,
    old: str,
    new: str,
    builds: int,
) -> None:
    root = small_tree(tmp_path / "root")
    monkeypatch.setattr(sources, "ROOT", root)
    makes: list[tuple[str, ...]] = []

    def make(command: tuple[str, ...], **options: Any) -> subprocess.CompletedProcess[str]:
        makes.append(command)
        return subprocess.CompletedProcess(command, 0, stdout="")

    monkeypatch.setattr(subprocess, "run", make)
    checked.build(kernel, "6.77")
    text = (root / file).read_text()
    assert old in text
    (root / file).write_text(text.replace(old, new))

    checked.build(kernel, "6.77")

    assert len(makes) == builds


def test_the_rules_of_the_modules_lie_where_they_are_looked_for() -> None:
    """With all that they call but the cleaning, which a fresh tree does not need."""
    text = (sources.ROOT / "Makefile").read_text()
    rules = checked.rules_of(text)
    assert "release = $(file <" in rules and "\ncheck-headers:\n" in rules
    assert "$(kbuild) -j$(JOBS) modules" in rules and "pytest" not in rules
    assert checked.rules_of("all: # no section\n") == "all: # no section\n"
