# SPDX-License-Identifier: GPL-2.0
"""Cores: C that needs no kernel, compiled for userspace from the sources that the modules have.

    core = Core("drive", DRIVE / "core")
    program = core.build("driver", SANITIZERS, [HERE / "driver.c"])
    ffi, lib = opened(*core.compiled(SHIM))

kmod/core is part of every core. C declarations are read from the core's own headers, so that a
binding cannot drift from the code it binds.
"""

from __future__ import annotations

import functools
import os
import re
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from lib.build.compiled import compiled
from lib.build.declarations import declarations_in

ROOT = Path(__file__).resolve().parents[3]
SHARED = ROOT / "kmod" / "core"
HOST = SHARED / "spek_host.h"
# As the kernel does, not of parameters: operations in a table all have the same ones.
WARNINGS = ("-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter")
SANITIZERS = ("-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
LIBRARY = ("-O2", "-shared", "-fPIC")
# As the kernel compiles it: what it costs there is what tests should see.
KERNEL_LIKE = (
    *("-O2", "-mgeneral-regs-only", "-fno-jump-tables", "-fno-strict-aliasing"),
    *("-fno-pie", "-no-pie"),
)

_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', re.M)


def included(path: Path) -> list[Path]:
    """Files that @path includes by their places beside it."""
    return [(path.parent / name).resolve() for name in _INCLUDE.findall(path.read_text())]


@dataclass(frozen=True)
class Core:
    """The sources of a folder, those of kmod/core, and headers of a contract that they include."""

    name: str
    folder: Path

    @functools.cached_property
    def files(self) -> tuple[Path, ...]:
        """Sources and headers, in a fixed order."""
        folders = dict.fromkeys((self.folder, SHARED))
        files = [path for folder in folders for path in sorted(folder.glob("*.[ch]"))]
        contracts = {used for path in files for used in included(path)} - set(files)
        return (*files, *sorted(contracts))

    @property
    def own(self) -> list[Path]:
        """Files of the folder itself."""
        return [path for path in self.files if path.parent == self.folder]

    @property
    def sources(self) -> list[Path]:
        return [path for path in self.files if path.suffix == ".c"]

    def build(self, name: str, flags: Sequence[str], extra: Sequence[Path] = ()) -> Path:
        """The core compiled with @flags and the sources of @extra. Headers of @extra are named for
        the cache, which keeps the result as long as nothing changes."""
        sources = [*self.sources, *(path for path in extra if path.suffix == ".c")]
        compiler = os.environ.get("CC", "gcc")
        command = [compiler, "-std=gnu11", "-g", *WARNINGS, *flags, *self._includes]

        def compile_to(scratch: Path) -> None:
            subprocess.run([*command, "-o", str(scratch), *map(str, sources)], check=True)

        # Another clone makes the same of the same files.
        words = [word.replace(f"{ROOT}{os.sep}", "") for word in flags]
        return self._kept(name, compiler, words, extra, compile_to)

    def declarations(self, header: Path) -> str:
        """The declarations of the core's headers that @header includes, and its own, as cffi takes
        them."""
        # With the place, which is in what comes out.
        flags = ("-std=gnu11", "-E", "-D__attribute__(x)=", *self._includes)

        def preprocess_to(scratch: Path) -> None:
            subprocess.run(["gcc", *flags, "-o", str(scratch), str(header)], check=True)

        text = self._kept(f"{header.stem}.i", "gcc", flags, [header], preprocess_to).read_text()
        wanted = {header, *self.files} - {HOST}
        return declarations_in(text, lambda path: path in wanted)

    def compiled(self, header: Path, *flags: str) -> tuple[str, Path]:
        """Declarations of @header, and the core as a shared object, with the .c file beside
        @header."""
        shim = header.with_suffix(".c")
        extra = {shim, header} - {*self.files} if shim.exists() else {header}
        library = self.build(f"lib{self.name}.so", [*LIBRARY, *flags], sorted(extra))
        return self.declarations(header), library

    @property
    def _includes(self) -> list[str]:
        return ["-I", str(self.folder), "-I", str(SHARED)]

    def _kept(
        self,
        name: str,
        compiler: str,
        words: Sequence[str],
        extra: Sequence[Path],
        make: Callable[[Path], None],
    ) -> Path:
        # By their places, too: markers of the preprocessor name them.
        files = [*self.files, *extra]
        return compiled("core", name, compiler, files, [self.name, *words], make)


GENERATOR = Core("spekcore", ROOT / "kmod" / "load" / "core")
DRIVE = Core("drive", ROOT / "kmod" / "drive" / "core")
SCSI = Core("scsi", ROOT / "kmod" / "drive" / "scsi")
AUGMENT = Core("augment", ROOT / "kmod" / "augment" / "core")
PROBER = Core("prober", ROOT / "prober" / "core")
CORES = (Core("shared", SHARED), GENERATOR, DRIVE, SCSI, AUGMENT, PROBER)
