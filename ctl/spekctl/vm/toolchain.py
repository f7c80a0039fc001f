# SPDX-License-Identifier: GPL-2.0-or-later
"""The compiler and kbuild's host programs of another suite, made to run on this machine.

A kernel's headers name the compiler that it was built with, by flags that older ones refuse.
Their own programs (modpost, objtool) are linked with a C library that this machine may not have.
Both come from packages of the kernel's suite, unpacked beside the headers in toolchain/. Each
program gives its name to a shell script that runs it through the dynamic loader of its own
suite. That needs no privilege, no mount and no chroot, and the result is a directory of headers
that make, dkms and spekctl use as they use any other.
"""

from __future__ import annotations

import os
import re
import struct
from collections.abc import Iterator
from pathlib import Path

from spekctl.errors import GuestError

FOLDER = "toolchain"
_SUFFIX = ".elf"
_LOADER = "usr/lib64/ld-linux-x86-64.so.2"
_LIBRARIES = "usr/lib/x86_64-linux-gnu"
_PT_INTERP = 3

# $0 has a slash: the kernel and the shell start scripts by their path.
_SCRIPT = """\
#!/bin/sh
here=${{0%/*}}
root=$here/{up}
exec "$root/{loader}" --argv0 "$0" --library-path "$root/{libraries}" "$here/{program}" "$@"
"""

# As included by the kernel's Makefile. CC is $(CROSS_COMPILE)gcc-N there.
_VARIABLES = """\
spek-toolchain := $(dir $(realpath $(lastword $(MAKEFILE_LIST)))){up}/usr/bin/
override CROSS_COMPILE = $(spek-toolchain)x86_64-linux-gnu-
override PAHOLE = $(spek-toolchain)pahole
"""


def _is_program(path: Path) -> bool:
    """True for a dynamically linked 64-bit ELF program, by its request for a loader."""
    if path.is_symlink() or not path.is_file():
        return False
    with open(path, "rb") as file:
        head = file.read(64)
        if len(head) < 64 or head[:6] != b"\x7fELF\x02\x01":
            return False
        (offset,) = struct.unpack_from("<Q", head, 32)
        size, count = struct.unpack_from("<HH", head, 54)
        file.seek(offset)
        table = file.read(size * count)
    kinds = (struct.unpack_from("<I", table, at)[0] for at in range(0, len(table), size or 1))
    return size >= 56 and _PT_INTERP in kinds


def _programs(folders: list[Path]) -> Iterator[Path]:
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if path.suffix != _SUFFIX and _is_program(path):
                yield path


def _write_script(path: Path, root: Path, program: str) -> None:
    up = os.path.relpath(root, path.parent.resolve())
    text = _SCRIPT.format(up=up, loader=_LOADER, libraries=_LIBRARIES, program=program)
    path.write_text(text)
    path.chmod(0o755)


def set_up(tree: Path) -> None:
    """Make headers in @tree use the programs that were unpacked in @tree/toolchain."""
    root = (tree / FOLDER).resolve()
    if not (root / _LOADER).exists():
        raise GuestError(f"the C library of the kernel's suite has no {_LOADER}")
    programs = [root / "usr/bin", root / "usr/libexec", *tree.glob("usr/lib/linux-kbuild-*")]
    for path in _programs([folder.resolve() for folder in programs]):
        path.rename(path.with_name(path.name + _SUFFIX))
        _write_script(path, root, path.name + _SUFFIX)
    # The compiler looks for the assembler and the linker by their plain names there.
    plain = root / "usr/x86_64-linux-gnu/bin"
    plain.mkdir(parents=True)
    for path in (root / "usr/bin").glob(f"x86_64-linux-gnu-*{_SUFFIX}"):
        name = path.name.removeprefix("x86_64-linux-gnu-").removesuffix(_SUFFIX)
        _write_script(plain / name, root, os.path.relpath(path, plain))
    if not (plain / "ld").exists():
        (plain / "ld").symlink_to("ld.bfd")
    for variables in tree.glob("usr/src/linux-headers-*/.kernelvariables"):
        up = os.path.relpath(root, variables.parent.resolve())
        kept = re.sub(r"(?m)^override CROSS_COMPILE *=.*\n", "", variables.read_text())
        variables.write_text(_VARIABLES.format(up=up) + kept)
