# SPDX-License-Identifier: GPL-2.0
"""Compilers and libraries that come with headers of another suite."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from lib.fakes.kernels import unpacked

from spekctl.errors import GuestError
from spekctl.vm import kernels, toolchain


def foreign(tmp_path: Path) -> Path:
    """A kernel's tree with a program and what a C library's package holds, as if of another suite;
    both are this machine's own."""
    release = "7.0.1-test"
    tree = unpacked(tmp_path / "tree", release)
    (tree / "usr/lib").mkdir(exist_ok=True)
    kernels._make_relocatable(tree, release)
    headers = tree / f"usr/src/linux-headers-{release}"
    (headers / ".kernelvariables").write_text(
        "override ARCH = x86\nCC = $(CROSS_COMPILE)gcc-14\n"
        "override CROSS_COMPILE = x86_64-linux-gnu-\n"
    )
    root = tree / toolchain.FOLDER
    libraries = root / "usr/lib/x86_64-linux-gnu"
    for folder in (libraries, root / "usr/lib64", root / "usr/bin"):
        folder.mkdir(parents=True)
    loader = Path("/lib64/ld-linux-x86-64.so.2").resolve()
    shutil.copy2(loader, libraries)
    (root / "usr/lib64/ld-linux-x86-64.so.2").symlink_to(f"../lib/x86_64-linux-gnu/{loader.name}")
    for line in subprocess.run(
        ["ldd", "/bin/cat"], capture_output=True, text=True
    ).stdout.splitlines():
        if "=> /" in line:
            shutil.copy2(line.split()[2], libraries)
    for name in ("gcc-14", "ld.bfd"):
        shutil.copy2("/bin/cat", root / f"usr/bin/x86_64-linux-gnu-{name}")
    (root / "usr/bin/x86_64-linux-gnu-ld").symlink_to("x86_64-linux-gnu-ld.bfd")
    scripts = tree / "usr/lib/linux-kbuild-7.0.1/scripts/mod"
    scripts.mkdir(parents=True)
    shutil.copy2("/bin/cat", scripts / "modpost")
    (scripts / "helper.sh").write_text("#!/bin/sh\n")
    (headers / "scripts").symlink_to("../../lib/linux-kbuild-7.0.1/scripts")
    return tree


def test_programs_of_another_suite_run_by_its_loader(tmp_path: Path) -> None:
    tree = foreign(tmp_path)
    toolchain.set_up(tree)

    tree = tree.rename(tmp_path / "moved tree")
    (tmp_path / "text").write_text("ran\n")
    headers = tree / "usr/src/linux-headers-7.0.1-test"
    for program in (
        headers / "scripts/mod/modpost",
        tree / "toolchain/usr/bin/x86_64-linux-gnu-gcc-14",
        tree / "toolchain/usr/bin/x86_64-linux-gnu-ld",
        tree / "toolchain/usr/x86_64-linux-gnu/bin/ld",
    ):
        words = [str(program), "text"]
        done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout, done.stderr) == (0, "ran\n", ""), program
        wrapped = program.resolve().read_bytes()
        assert wrapped.startswith(b"#!/bin/sh") and b"ld-linux-x86-64.so.2" in wrapped
    named = subprocess.run(
        [headers / "scripts/mod/modpost", "missing"], capture_output=True, text=True, check=False
    )
    assert named.stderr.startswith(f"{headers}/scripts/mod/modpost: "), "it knows its own name"
    assert (headers / "scripts/mod/helper.sh").read_text() == "#!/bin/sh\n"


def test_headers_use_the_compiler_that_came_with_them(tmp_path: Path) -> None:
    tree = foreign(tmp_path)
    toolchain.set_up(tree)

    tree = tree.rename(tmp_path / "moved")
    variables = tree / "usr/src/linux-headers-7.0.1-test/.kernelvariables"
    make = tmp_path / "Makefile"
    make.write_text(f"include {variables}\nall:\n\t@echo $(CC) $(PAHOLE) $(ARCH)\n")
    # Under another make it would name the directory as well.
    words = ["make", "--no-print-directory", "-f", str(make)]
    done = subprocess.run(words, capture_output=True, text=True, check=True)

    compiler, pahole, arch = done.stdout.split()
    assert Path(compiler).resolve() == tree / "toolchain/usr/bin/x86_64-linux-gnu-gcc-14"
    assert Path(pahole).resolve() == tree / "toolchain/usr/bin/pahole"
    assert arch == "x86"


def test_suite_without_a_c_library_is_refused(tmp_path: Path) -> None:
    with pytest.raises(GuestError, match="the C library of the kernel's suite has no usr/lib64/ld"):
        toolchain.set_up(tmp_path)
