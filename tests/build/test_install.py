# SPDX-License-Identifier: GPL-2.0
"""make install and make uninstall: where files go, and what is said when they cannot go there.

A folder of headers whose rules only note what kbuild would do takes the place of a kernel's.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from lib.build.sources import ROOT, copy_sources

RELEASE = "6.99.9-test"
INSTALLED = Path(f"lib/modules/{RELEASE}/updates")
MODULES = ("spek.ko", "spek_prober.ko", "spek_drive.ko", "spek_augment.ko")
RULES = f"""
modules:
modules_install:
	mkdir -p $(INSTALL_MOD_PATH)/{INSTALLED}
	touch $(addprefix $(INSTALL_MOD_PATH)/{INSTALLED}/,{" ".join(MODULES)} foreign.ko)
"""


class Box:
    """A copy of the sources, headers, and a depmod that notes its arguments."""

    def __init__(self, folder: Path) -> None:
        self.tree = copy_sources(folder / "tree")
        self.headers = folder / "headers"
        (self.headers / "include/config").mkdir(parents=True)
        (self.headers / "include/config/kernel.release").write_text(RELEASE + "\n")
        (self.headers / "Makefile").write_text(RULES)
        self.noted = folder / "depmod.noted"
        programs = folder / "programs"
        programs.mkdir()
        (programs / "depmod").write_text(f'#!/bin/sh\necho "$@" >> {self.noted}\n')
        (programs / "depmod").chmod(0o755)
        # Not of a make that runs the tests: a make inside it says where it is.
        outer = {"MAKEFLAGS", "MAKELEVEL", "MFLAGS", "MAKEOVERRIDES"}
        inherited = {name: value for name, value in os.environ.items() if name not in outer}
        self.environment = {**inherited, "PATH": f"{programs}:{os.environ['PATH']}"}

    def make(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["make", f"KDIR={self.headers}", f"KVER={RELEASE}", *words],
            cwd=self.tree,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )


@pytest.fixture
def box(tmp_path: Path) -> Box:
    return Box(tmp_path)


@pytest.mark.parametrize(
    "words", [["DESTDIR=staged"], ["DESTDIR={tree}/staged"], ["INSTALL_MOD_PATH={tree}/staged"]]
)
def test_modules_are_installed_below_destdir_and_removed_there(box: Box, words: list[str]) -> None:
    words = [word.format(tree=box.tree) for word in words]
    if not words[0].startswith("DESTDIR"):
        words.append(f"prefix={box.tree}/usr")
    place = box.tree / "staged" / INSTALLED

    done = box.make("install", *words)
    assert done.returncode == 0, done.stderr
    assert {path.name for path in place.iterdir()} == {*MODULES, "foreign.ko"}

    done = box.make("uninstall", *words)
    assert done.returncode == 0, done.stderr
    assert {path.name for path in place.iterdir()} == {"foreign.ko"}
    # The machine's own list of modules is as it was.
    assert not box.noted.exists()
    assert not Path(f"/lib/modules/{RELEASE}").exists()


def test_without_destdir_the_kernel_learns_of_removed_modules(box: Box) -> None:
    done = box.make("uninstall", f"prefix={box.tree}/usr")
    assert done.returncode == 0, done.stderr
    assert f"rm -f /{INSTALLED}/spek.ko*" in done.stdout
    assert box.noted.read_text() == RELEASE + "\n"


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["DESTDIR=/a b"], "DESTDIR='/a b'"),
        (["prefix=/opt/my spek"], "prefix='/opt/my spek'"),
        (["KDIR=/usr/src/a:b"], "KDIR='/usr/src/a:b'"),
    ],
)
@pytest.mark.parametrize("goal", ["install", "uninstall"])
def test_a_path_that_make_cannot_take_is_named(
    box: Box, goal: str, words: list[str], named: str
) -> None:
    done = box.make(goal, *words)
    assert done.returncode == 2
    assert done.stderr.startswith("spek: make and kbuild take a space or a colon in a path")
    assert named in done.stderr
    assert done.stdout == ""


def test_a_clone_with_a_space_in_its_path_is_refused(box: Box) -> None:
    box.tree = box.tree.rename(box.tree.with_name("my tree"))
    done = box.make()
    assert done.returncode == 2
    assert f"CURDIR='{box.tree}'" in done.stderr


def test_a_file_of_spek_daq_that_cannot_be_written_fails_the_install(tmp_path: Path) -> None:
    program = tmp_path / "spek-daq"
    shutil.copy("/bin/true", program)
    (tmp_path / "usr").mkdir()
    (tmp_path / "usr/sbin").touch()
    words = ["daq-install", f"daq-program={program}", f"DESTDIR={tmp_path}", "prefix=/usr"]
    done = subprocess.run(
        ["make", "-C", str(ROOT), *words], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert f"{tmp_path}/usr/sbin" in done.stderr
    assert not (tmp_path / "usr/lib").exists()


def test_a_page_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "share").touch()
    words = [sys.executable, "-m", "spekctl.commands.manual", str(tmp_path)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == f"spek: cannot write {tmp_path}/share/man/man1: Not a directory\n"
