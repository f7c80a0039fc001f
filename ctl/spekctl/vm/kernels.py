# SPDX-License-Identifier: GPL-2.0
"""The kernel of a guest: image, modules and headers that belong together.

In this order: what the machine has installed, what the cache holds, the distribution's
packages unpacked into the cache. Packages are never installed, so the machine's own boot
set-up stays as it is. A directory with a built kernel tree works too.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from spekctl import files
from spekctl.errors import GuestError, UsageError
from spekctl.vm.cache import cache_dir, locked

# Of one file that the archive is slow to give.
RETRIES = ("-o", "Acquire::Retries=3")


@dataclass(frozen=True, slots=True)
class Kernel:
    """A kernel that a guest can run and modules can be built for."""

    release: str
    image: Path
    headers: Path
    modules: Path | None
    origin: str
    build_tree: bool = False

    @property
    def label(self) -> str:
        """Major and minor version, as in test ids: 6.12."""
        match = re.match(r"\d+\.\d+", self.release)
        return match.group() if match else self.release


def version_key(release: str) -> tuple[int, ...]:
    """Sorts releases by their numbers: 6.9 before 6.12."""
    return tuple(int(number) for number in re.findall(r"\d+", release))


def matches(release: str, wanted: str) -> bool:
    """True if @wanted names @release: all of it, or its beginning up to a separator."""
    return release == wanted or (release.startswith(wanted) and release[len(wanted)] in ".-+")


def _kernel_in(root: Path, release: str, origin: str) -> Kernel | None:
    """The kernel @release below @root, if image, modules and headers can all be read.

    Ubuntu's images are readable by root only, and headers may be a tree in somebody's home.
    """
    images = [root / "boot" / f"vmlinuz-{release}"]
    for lib in ("lib", "usr/lib"):
        modules = root / lib / "modules" / release
        images.append(modules / "vmlinuz")
        headers = modules / "build"
        if not os.path.isdir(modules / "kernel") or not os.access(headers / "Makefile", os.R_OK):
            continue
        for image in images:
            if os.access(image, os.R_OK):
                return Kernel(release, image, headers.resolve(), modules, origin)
    return None


def _releases_in(root: Path) -> list[str]:
    names = {
        entry.name
        for lib in ("lib", "usr/lib")
        if os.path.isdir(root / lib / "modules")
        for entry in (root / lib / "modules").iterdir()
    }
    return sorted(names, key=version_key, reverse=True)


def installed_kernels(root: Path = Path("/")) -> list[Kernel]:
    """Kernels installed with their headers, newest first."""
    found = (_kernel_in(root, release, "installed") for release in _releases_in(root))
    return [kernel for kernel in found if kernel]


def cached_kernels() -> list[Kernel]:
    """Kernels unpacked in the cache, newest first."""
    found: list[Kernel] = []
    for root in cache_dir("kernels").iterdir():
        if root.is_dir() and not root.name.startswith("."):
            kernel = _kernel_in(root, root.name, "cache")
            if kernel:
                found.append(kernel)
    return sorted(found, key=lambda kernel: version_key(kernel.release), reverse=True)


def find_kernel(wanted: str | None = None, *, installed: bool = True) -> Kernel:
    """The kernel that the user means, fetched if need be.

    @wanted: nothing (the running kernel, the newest installed one, the newest cached one, the
    distribution's), a release or the beginning of one (6.12), a built kernel tree, or a
        directory with what a kernel's packages hold (boot, lib/modules).
    @installed: False looks at the cache and the packages only.
    """
    if wanted and (os.sep in wanted or wanted == "."):
        return _kernel_tree(Path(wanted))
    known = (installed_kernels() if installed else []) + cached_kernels()
    if wanted is None:
        running = [kernel for kernel in known if kernel.release == platform.release()]
        if running or known:
            return (running or known)[0]
        return fetch_kernel(None)
    for kernel in known:
        if matches(kernel.release, wanted):
            return kernel
    return fetch_kernel(wanted)


def _kernel_tree(path: Path) -> Kernel:
    path = path.resolve()
    image = path / "arch/x86/boot/bzImage"
    release = path / "include/config/kernel.release"
    if not files.exists(path) or not path.is_dir():
        raise UsageError(f"there is no kernel tree {path}")
    for name in _releases_in(path):
        kernel = _kernel_in(path, name, "tree")
        if kernel:
            return kernel
    if not image.exists() or not release.exists():
        raise UsageError(f"{path} is not a built kernel tree: it has no {image.relative_to(path)}")
    return Kernel(release.read_text().strip(), image, path, None, "tree", build_tree=True)


# ---- the distribution's packages ----


def _apt_cache(*arguments: str) -> list[str]:
    if not shutil.which("apt-cache"):
        raise GuestError(
            "no kernel with image and headers is installed, and without apt none can be fetched; "
            "install a kernel with its headers or name a built tree with --kernel"
        )
    done = subprocess.run(["apt-cache", *arguments], capture_output=True, text=True, check=False)
    return done.stdout.splitlines()


def _architecture() -> str:
    done = subprocess.run(
        ["dpkg", "--print-architecture"], capture_output=True, text=True, check=False
    )
    return done.stdout.strip() or "amd64"


def _dependencies(package: str, pattern: str) -> list[str]:
    """Direct dependencies of @package whose names match."""
    found = []
    for line in _apt_cache("depends", "--no-recommends", "--no-suggests", package):
        match = re.match(r"[ |]*(?:Pre)?Depends: (\S+)$", line)
        if match and re.fullmatch(pattern, match.group(1)):
            found.append(match.group(1))
    return found


def _available_releases(wanted: str | None) -> list[str]:
    """Releases whose image and headers can be downloaded, newest first."""
    arch = re.escape(_architecture())
    if wanted is None:
        pattern = rf"linux-image-(\d.*-{arch})"
        for meta in (f"linux-image-{_architecture()}", "linux-image-generic"):
            names = _dependencies(meta, r"linux-image-\d.*")
            if names:
                return [name.removeprefix("linux-image-") for name in names]
        wanted = ""
    pattern = rf"linux-image-({re.escape(wanted)}[^ ]*-(?:{arch}|generic)) "
    releases = []
    for line in _apt_cache("search", "--names-only", f"^linux-image-{re.escape(wanted)}"):
        match = re.match(pattern, line)
        if not match or re.search(r"-(rt|cloud)-", match.group(1)):
            continue
        if not re.match(r"\d+\.\d+\.\d", match.group(1)):
            continue  # a meta package
        if wanted == "" or matches(match.group(1), wanted):
            releases.append(match.group(1))
    return sorted(set(releases), key=version_key, reverse=True)


def _has_candidate(package: str) -> bool:
    return any(
        line.strip().startswith("Candidate:") and "(none)" not in line
        for line in _apt_cache("policy", package)
    )


def _packages(release: str) -> list[str]:
    """Everything that makes up @release, or nothing if a part of it is not to be had."""
    image, headers = f"linux-image-{release}", f"linux-headers-{release}"
    names = [image, headers]
    names += _dependencies(image, rf"linux-modules-{re.escape(release)}")
    names += _dependencies(headers, r"linux-(headers|kbuild)-\S+")
    return names if all(_has_candidate(name) for name in names) else []


def fetch_kernel(wanted: str | None) -> Kernel:
    """Unpack the newest matching kernel of the distribution into the cache."""
    with locked("kernels"):
        for kernel in cached_kernels():  # somebody else may have been faster
            if wanted is None or matches(kernel.release, wanted):
                return kernel
        kernel_or_none = _fetch_newest(wanted, last_try=os.geteuid() != 0)
        if not kernel_or_none and os.geteuid() == 0:
            # Package lists are missing, or so old that what they name is gone.
            print("spekctl: updating apt's package lists", file=sys.stderr, flush=True)
            _run(["apt-get", "update", "-q", *RETRIES], cwd=Path("/"), what="apt-get update")
            kernel_or_none = _fetch_newest(wanted, last_try=True)
        if kernel_or_none:
            return kernel_or_none
    raise GuestError(
        f"no kernel {wanted or ''} with headers is installed, cached or known to apt; "
        "run apt-get update, or name a built tree with --kernel".replace("kernel  ", "kernel ")
    )


def _fetch_newest(wanted: str | None, *, last_try: bool) -> Kernel | None:
    for release in _available_releases(wanted):
        packages = _packages(release)
        if packages:
            try:
                return _unpack(release, packages)
            except GuestError:
                if last_try:
                    raise
                return None
    return None


def _unpack(release: str, packages: list[str]) -> Kernel:
    print(
        f"spekctl: fetching {', '.join(packages)} into {cache_dir('kernels') / release} "
        "(unpacked there, not installed)",
        file=sys.stderr,
        flush=True,
    )
    target = cache_dir("kernels") / release
    with tempfile.TemporaryDirectory(prefix=".fetch-", dir=cache_dir("kernels")) as scratch:
        debs, tree = Path(scratch, "debs"), Path(scratch, "tree")
        debs.mkdir()
        tree.mkdir()
        fetch = ["apt-get", "download", "-q", *RETRIES, *packages]
        _run(fetch, cwd=debs, what="downloading the kernel")
        for deb in sorted(debs.glob("*.deb")):
            _run(["dpkg-deb", "-x", str(deb), str(tree)], cwd=debs, what=f"unpacking {deb.name}")
            deb.unlink()
        _make_relocatable(tree, release)
        shutil.rmtree(target, ignore_errors=True)
        tree.rename(target)
    kernel = _kernel_in(target, release, "cache")
    if not kernel:
        raise GuestError(f"the packages of {release} hold no image, modules and headers together")
    return kernel


def _run(command: list[str], *, cwd: Path, what: str) -> None:
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C"}
    done = subprocess.run(
        command, cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        lines = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
        errors = [line for line in lines if line.startswith("E:")] or lines[-1:]
        raise GuestError(f"{what} failed: {' '.join(errors) or f'exit {done.returncode}'}")


def _make_relocatable(tree: Path, release: str) -> None:
    """Packages expect to lie at /; make them work where they are.

    The headers' Makefile includes the common one by its absolute path, and modules/build is
    an absolute link. modules.dep is made at installation, so it is made here as well.
    """
    for makefile in tree.glob("usr/src/linux-headers-*/Makefile"):
        text = makefile.read_text()
        here = "$(dir $(realpath $(lastword $(MAKEFILE_LIST))))"
        fixed = re.sub(r"(?m)^include /usr/src/", f"include {here}../", text)
        if fixed != text:
            makefile.write_text(fixed)
    for modules in (tree / "lib/modules" / release, tree / "usr/lib/modules" / release):
        if not modules.is_dir():
            continue
        up = os.path.relpath(tree, modules)
        for name in ("build", "source"):
            link = modules / name
            if link.is_symlink() and os.path.isabs(os.readlink(link)):
                destination = up + os.readlink(link)
                link.unlink()
                link.symlink_to(destination)
    depmod = shutil.which("depmod", path=os.environ.get("PATH", "") + ":/sbin:/usr/sbin")
    if not depmod:
        raise GuestError("depmod is missing (package kmod); make deps installs it")
    _run([depmod, "-b", str(tree), release], cwd=tree, what="depmod")
