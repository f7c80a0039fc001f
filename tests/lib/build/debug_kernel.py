# SPDX-License-Identifier: GPL-2.0
"""Debug kernels: built from the distribution's source package, kept in the cache, never installed.

    PYTHONPATH=tests python -m lib.build.debug_kernel [VARIANT]      (make debug-kernel)

builds a kernel unless it is there, and prints its directory. A kernel is found under a name that
follows from what it is made of: version of the source package, configuration fragments and
patches (tests/debug), compiler. What is kept is what a package would hold, image, modules and
headers, so `spekctl vm --kernel DIRECTORY` boots it. Two kernels are for `make ab-proof`: one
without any checks, and the same with a known number of instructions more in the path of an I/O.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from spekctl.errors import SpekError
from spekctl.vm.apt import RETRIES, Apt
from spekctl.vm.cache import cache_dir, locked

FRAGMENTS = Path(__file__).resolve().parents[2] / "debug"
SOURCE = "linux-source-6.1"
RECIPE = 1  # counts changes of this file that make another kernel of the same ingredients
SCRATCH = ".build-"  # prefix of the trees of builds under way, gigabytes each
KEEP = 2  # kernels kept of each variant
# Sources of what no guest has. Their Kconfig files are needed.
NOT_UNPACKED = tuple(
    f"{SOURCE}/{folder}/*.[ch]"
    for folder in (
        *("drivers/gpu", "drivers/media", "drivers/net/ethernet", "drivers/net/wireless"),
        *("drivers/staging", "sound"),
    )
)
# What the kernel's own packages ship for building modules.
HEADER_FOLDERS = ("include", "scripts", "arch/x86/include", "arch/x86/scripts")
HEADER_FILES = (
    *(".config", "Module.symvers", "Makefile", "Kbuild", "tools/objtool/objtool"),
    *("arch/x86/Makefile", "arch/x86/Makefile_32.cpu", "arch/x86/Makefile.um"),
)


@dataclass(frozen=True, slots=True)
class Variant:
    """Files of tests/debug that a kernel is made of."""

    fragments: tuple[str, ...]
    patches: tuple[str, ...] = ()


VARIANTS = {
    "kasan": Variant(("kernel", "checks", "kasan")),
    "kcsan": Variant(("kernel", "checks", "kcsan")),
    "plain": Variant(("kernel", "plain")),
    "longer": Variant(("kernel", "longer"), ("longer",)),
}


@dataclass(frozen=True, slots=True)
class Ingredients:
    """What a debug kernel is made of.

    @version: of the source package; None if apt knows none
    @rest: digest of fragments, patches, compiler and recipe
    """

    variant: str
    version: str | None
    rest: str

    @property
    def name(self) -> str:
        """Its directory's name in the cache."""
        digest = hashlib.sha256(f"{self.version} {self.rest}".encode())
        return f"{self.variant}-{digest.hexdigest()[:16]}"


def fragment(variant: str) -> str:
    """The options that @variant asks for."""
    names = VARIANTS[variant].fragments
    return "".join((FRAGMENTS / f"{name}.config").read_text() for name in names)


def patches(variant: str) -> list[Path]:
    """Changes of the source that @variant asks for."""
    return [FRAGMENTS / f"{name}.patch" for name in VARIANTS[variant].patches]


def ingredients(variant: str) -> Ingredients:
    """What @variant would be made of now."""
    compiler = _output(["gcc", "--version"]).partition("\n")[0]
    options = "\n".join(f"{name}={value}" for name, value in parse_options(fragment(variant)))
    changes = "".join(f"\n{path.read_text()}" for path in patches(variant))
    rest = hashlib.sha256(f"{RECIPE}\n{compiler}\n{options}{changes}".encode()).hexdigest()
    return Ingredients(variant, _candidate(), rest)


def find(variant: str) -> Path:
    """The directory of the kernel @variant, built if need be (minutes)."""
    home = cache_dir("debug")
    with locked("debug"):
        # Of builds that were killed: without the lock nobody has one.
        for tree in home.glob(f"{SCRATCH}*"):
            shutil.rmtree(tree, ignore_errors=True)
        wanted = ingredients(variant)
        folder = _cached(home, wanted)
        if not folder and wanted.version is None:
            Apt().update()
            wanted = ingredients(variant)
            if wanted.version is None:
                raise SpekError(f"a debug kernel is built from {SOURCE}, which apt doesn't know")
        if not folder:
            folder = _make(home, wanted)
        os.utime(folder)
        return folder


def _cached(home: Path, wanted: Ingredients) -> Path | None:
    """A kernel in the cache; where apt knows no version, the last used one of any."""
    if wanted.version is not None:
        path = home / wanted.name
        return path if path.is_dir() else None
    folders = [path.parent for path in home.glob(f"{wanted.variant}-*/ingredients.json")]
    folders.sort(key=lambda path: path.stat().st_mtime, reverse=True)
    for path in folders:
        if json.loads((path / "ingredients.json").read_text())["rest"] == wanted.rest:
            return path
    return None


# ---- the configuration ----


def parse_options(text: str) -> list[tuple[str, str]]:
    """NAME=value lines, "# NAME is not set" being NAME=n; later ones win."""
    options: dict[str, str] = {}
    for line in text.splitlines():
        unset = re.fullmatch(r"# (CONFIG_\w+) is not set", line)
        name, equals, value = line.partition("=")
        if unset:
            options[unset.group(1)] = "n"
        elif equals and name.startswith("CONFIG_"):
            options[name] = value
    return list(options.items())


def dropped(asked: str, config: str) -> list[str]:
    """Options of the fragment @asked that @config does not have as asked, with what it has."""
    has = dict(parse_options(config))
    return [
        f"{name}={value} (is {has.get(name, 'n')})"
        for name, value in parse_options(asked)
        if has.get(name, "n") != value
    ]


def configure(tree: Path, variant: str) -> None:
    """Write .config of @tree: tinyconfig and the fragments.

    Raises SpekError that names each option which does not exist, or lacks what it depends on.
    """
    text = fragment(variant)
    _run(["make", "-s", "tinyconfig"], tree, "make tinyconfig")
    with open(tree / ".config", "a") as config:  # of two settings the last one counts
        config.write(text)
    _run(["make", "-s", "olddefconfig"], tree, "make olddefconfig")
    lost = dropped(text, (tree / ".config").read_text())
    if lost:
        raise SpekError(f"the kernel's configuration does not take {', '.join(lost)}")


# ---- making one ----


def _make(home: Path, wanted: Ingredients) -> Path:
    # Time stamps and names of the machine stay out: the same source gives the same modules.
    started = time.monotonic()
    print(
        f"debug-kernel: building {wanted.name} from {SOURCE} {wanted.version} (minutes)",
        file=sys.stderr,
        flush=True,
    )
    with tempfile.TemporaryDirectory(prefix=SCRATCH, dir=home) as scratch:
        tree = _unpack(Path(scratch), wanted)
        for path in patches(wanted.variant):
            _run(["patch", "-p1", "-i", str(path)], tree, f"applying {path.name}")
        configure(tree, wanted.variant)
        jobs = f"-j{os.cpu_count() or 1}"
        build = ["make", "-s", jobs, *_identity(), "bzImage", "modules"]
        _run(build, tree, "building the kernel", log=home / f"{wanted.variant}.log")
        result = Path(scratch, "result")
        _install(tree, result)
        about = {"variant": wanted.variant, "version": wanted.version, "rest": wanted.rest}
        about["seconds"] = str(round(time.monotonic() - started))
        (result / "ingredients.json").write_text(json.dumps(about))
        result.rename(home / wanted.name)
    _forget_old(home, wanted.variant)
    return home / wanted.name


def _identity() -> list[str]:
    return [
        "KBUILD_BUILD_TIMESTAMP=1970-01-01",
        "KBUILD_BUILD_USER=spek",
        "KBUILD_BUILD_HOST=spek",
    ]


def _unpack(scratch: Path, wanted: Ingredients) -> Path:
    download = ["apt-get", "download", "-q", *RETRIES, f"{SOURCE}={wanted.version}"]
    _run(download, scratch, f"downloading {SOURCE}")
    (deb,) = scratch.glob("*.deb")
    _run(["dpkg-deb", "-x", str(deb), "deb"], scratch, f"unpacking {deb.name}")
    deb.unlink()
    (archive,) = scratch.glob("deb/usr/src/*.tar.*")
    excluded = [f"--exclude={pattern}" for pattern in NOT_UNPACKED]
    _run(["tar", "-xf", str(archive), *excluded], scratch, f"unpacking {archive.name}")
    return scratch / SOURCE


def _install(tree: Path, result: Path) -> None:
    """Lay out image, modules and headers below @result as packages do."""
    (release,) = (tree / "include/config/kernel.release").read_text().split()
    image = result / "boot" / f"vmlinuz-{release}"
    image.parent.mkdir(parents=True)
    shutil.copy2(tree / "arch/x86/boot/bzImage", image)
    install = ["make", "-s", f"INSTALL_MOD_PATH={result}", "modules_install"]
    _run(install, tree, "installing the modules into the cache")
    modules = result / "lib/modules" / release
    headers = result / "usr/src" / f"linux-headers-{release}"
    for folder in HEADER_FOLDERS:
        if (tree / folder).is_dir():
            shutil.copytree(tree / folder, headers / folder, symlinks=True)
    for name in HEADER_FILES:
        if (tree / name).exists():
            (headers / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(tree / name, headers / name)
    for name in ("build", "source"):
        (modules / name).unlink(missing_ok=True)
    (modules / "build").symlink_to(os.path.relpath(headers, modules))


def _forget_old(home: Path, variant: str) -> None:
    folders = [path for path in home.glob(f"{variant}-*") if path.is_dir()]
    folders.sort(key=lambda path: path.stat().st_mtime, reverse=True)
    for path in folders[KEEP:]:
        shutil.rmtree(path, ignore_errors=True)


# ---- tools ----


def _output(command: list[str]) -> str:
    if not shutil.which(command[0]):
        raise SpekError(f"{command[0]} is missing; make deps installs what a debug kernel needs")
    done = subprocess.run(
        command,
        env={**os.environ, "LC_ALL": "C"},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout


def _candidate() -> str | None:
    match = re.search(r"^ *Candidate: (\S+)$", _output(["apt-cache", "policy", SOURCE]), re.M)
    return match.group(1) if match and match.group(1) != "(none)" else None


def _run(command: Iterable[str], cwd: Path, what: str, log: Path | None = None) -> None:
    done = subprocess.run(
        list(command),
        cwd=cwd,
        env={**os.environ, "LC_ALL": "C", "ARCH": "x86_64"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if log:
        log.write_text(done.stdout)
    if done.returncode:
        lines = [line for line in done.stdout.splitlines() if line.strip()]
        errors = [line for line in lines if re.search(r"error|^E:", line)] or lines[-1:]
        where = f" (see {log})" if log else ""
        raise SpekError(f"{what} failed: {errors[0] if errors else 'no output'}{where}")


def main() -> int:
    """Build a kernel and say where it is."""
    summary = (__doc__ or "").partition("\n")[0]
    parser = argparse.ArgumentParser(prog="debug-kernel", description=summary)
    parser.add_argument("variant", nargs="?", default="kasan", choices=VARIANTS)
    try:
        print(find(parser.parse_args().variant))
    except SpekError as error:
        print(f"debug-kernel: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
