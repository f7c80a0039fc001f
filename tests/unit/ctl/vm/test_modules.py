# SPDX-License-Identifier: GPL-2.0
"""Modules for a guest: built once for their sources and the kernel."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from lib.fakes.kernels import some_kernel

from spekctl.errors import GuestError
from spekctl.vm import modules
from spekctl.vm.architecture import ARM64
from spekctl.vm.kernels import Kernel


def test_build_is_kept_by_content(tmp_path: Path) -> None:
    headers = tmp_path / "headers"
    headers.mkdir()
    (headers / "Module.symvers").write_text("0x1 a vmlinux\n")
    kernel = Kernel("6.77.1-test", tmp_path / "vmlinuz", headers, None, "test")
    tree = tmp_path / "tree"
    (tree / "kmod").mkdir(parents=True)
    (tree / "Kbuild").write_text("obj-m := spek.o\n")
    source = tree / "kmod/main.c"
    source.write_text("int x;\n")

    def digest() -> str:
        return modules.key_of(tree, modules.sources_of(tree), kernel)

    first = digest()
    (tree / "kmod/main.o").touch()
    (tree / "kmod/spek_have.h").touch()
    assert digest() == first, "what a build leaves behind is no source"
    source.write_text("int y;\n")
    second = digest()
    (headers / "Module.symvers").write_text("0x2 a vmlinux\n")
    assert len({first, second, digest()}) == 3


def test_modules_for_another_architecture_are_cross_compiled() -> None:
    kernel = dataclasses.replace(some_kernel(), architecture=ARM64)
    assert "CROSS_COMPILE=aarch64-linux-gnu-" in modules.make_command(kernel, Path("/build"))
    own = modules.make_command(some_kernel(), Path("/build"))
    assert not [word for word in own if word.startswith("CROSS_COMPILE")]


def test_modules_that_do_not_build_are_no_guest(tmp_path: Path) -> None:
    headers = tmp_path / "headers"
    headers.mkdir()
    kernel = Kernel("6.77.1-test", tmp_path / "vmlinuz", headers, None, "test")
    tree = tmp_path / "tree"
    (tree / "kmod").mkdir(parents=True)
    (tree / "Kbuild").write_text("obj-m := spek.o\n")
    with pytest.raises(GuestError, match=r"^the modules do not build for 6\.77\.1-test: "):
        modules.build_modules(kernel, tree)
