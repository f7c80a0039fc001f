# SPDX-License-Identifier: GPL-2.0-or-later
"""The modules for a guest's kernel, built from a copy and kept in the cache.

One source tree serves several kernels at once, so it is never built in place: the sources are
copied, built and only the modules kept, under a name that follows from their content and from
the kernel.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from spekctl import __version__
from spekctl.errors import GuestError
from spekctl.vm.architecture import native
from spekctl.vm.cache import cache_dir, cached, digest_of
from spekctl.vm.kernels import Kernel

NAMES = ("spek.ko", "spek_prober.ko")
# Of modelled drives; a guest loads it for its first one. Kernels without SCSI have none.
DRIVE = "spek_drive.ko"
# And of the cache before a RAID. Kernels without device mapper have none.
AUGMENT = "spek_augment.ko"
WHERE_POSSIBLE = (DRIVE, AUGMENT)
KEEP = 6  # builds kept for each kernel


def source_tree() -> Path:
    """Where the modules' sources are: this repository, or what DKMS has installed."""
    candidates = [
        Path(__file__).resolve().parents[3],
        Path(f"/usr/src/spek-{__version__}"),
    ]
    for path in candidates:
        if (path / "Kbuild").exists() and (path / "kmod").is_dir():
            return path
    raise GuestError(
        f"the sources of the kernel modules are neither at {candidates[0]} nor at {candidates[1]}; "
        "run spekctl from a clone of the repository"
    )


def sources_of(tree: Path) -> list[Path]:
    """All files that a build reads, relative to @tree."""
    files = [Path("Kbuild")]
    for folder in ("kmod", "prober"):
        for path in sorted((tree / folder).rglob("*")):
            is_generated = path.name == "spek_have.h" or path.name.endswith(".mod.c")
            if path.suffix in (".c", ".h") and not is_generated:
                files.append(path.relative_to(tree))
    return files


def identity_of(kernel: Kernel) -> str:
    """What a module must have been built for to be loaded."""
    files = ("Module.symvers", ".config", "include/generated/utsrelease.h")
    return digest_of(kernel.headers, [kernel.headers / name for name in files])


def key_of(tree: Path, files: list[Path], kernel: Kernel) -> str:
    """A name for what is built from @files of @tree for @kernel."""
    return digest_of(tree, [tree / name for name in files], identity_of(kernel))


def make_command(kernel: Kernel, build: Path, *extra: str) -> list[str]:
    """The kbuild command that builds the modules in @build."""
    command = ["make", "-C", str(kernel.headers), f"M={build}", f"-j{os.cpu_count() or 1}"]
    config = kernel.headers / ".config"
    if config.exists() and "CONFIG_CC_IS_CLANG=y" in config.read_text():
        command.append("LLVM=1")
    if not shutil.which("pahole"):
        command.append("CONFIG_DEBUG_INFO_BTF_MODULES=")
    if kernel.architecture != native():
        command.append(f"CROSS_COMPILE={kernel.architecture.prefix}")
    return [*command, *extra, "modules"]


def build_modules(kernel: Kernel, tree: Path | None = None) -> list[Path]:
    """The modules for @kernel; built now, or earlier from the same sources."""
    tree = tree or source_tree()
    files = sources_of(tree)

    def make(done: Path) -> None:
        _build(kernel, tree, files, done)

    done = cached(cache_dir("modules", kernel.release) / key_of(tree, files, kernel), make, KEEP)
    return [done / name for name in NAMES]


def _build(kernel: Kernel, tree: Path, files: list[Path], done: Path) -> None:
    print(f"spekctl: building the modules for {kernel.release}", file=sys.stderr, flush=True)
    build = done.with_name("build")
    for name in files:
        (build / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(tree / name, build / name)
    completed = subprocess.run(
        make_command(kernel, build),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if completed.returncode:
        log = cache_dir("logs") / f"build-{kernel.release}.log"
        log.write_text(completed.stdout)
        errors = [line for line in completed.stdout.splitlines() if "error" in line.lower()]
        first = errors[0].replace(f"{build}/", "") if errors else "make failed"
        raise GuestError(f"the modules do not build for {kernel.release}: {first} (see {log})")
    done.mkdir()
    for module in NAMES:
        shutil.move(build / module, done / module)
    for module in WHERE_POSSIBLE:
        if (build / module).exists():
            shutil.move(build / module, done / module)
