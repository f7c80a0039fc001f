# SPDX-License-Identifier: GPL-2.0-or-later
"""The kernel of a guest: image, modules and headers that belong together.

In this order: what the machine has installed, what the cache holds, the distribution's
packages unpacked into the cache, from the suites that the machine uses or else from newer ones.
Packages are never installed, so the machine's own boot set-up stays as it is. A directory with a
built kernel tree works too.

A kernel of another architecture comes from the suites that the machine uses, with what its modules
are built with, but for the compiler: that is a cross compiler, which is installed.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from spekctl import distribution, files
from spekctl.distribution import Missing
from spekctl.errors import GuestError, UsageError
from spekctl.vm import toolchain
from spekctl.vm.apt import Apt, architecture, foreign, other_suites, run
from spekctl.vm.architecture import Architecture, native, of_headers
from spekctl.vm.cache import cache_dir, locked


@dataclass(frozen=True, slots=True)
class Kernel:
    """A kernel that a guest can run and modules can be built for."""

    release: str
    image: Path
    headers: Path
    modules: Path | None
    origin: str
    build_tree: bool = False
    architecture: Architecture = field(default_factory=native)

    @property
    def label(self) -> str:
        """Major and minor version, as in test ids: 6.12."""
        match = re.match(r"\d+\.\d+", self.release)
        return match.group() if match else self.release


def version_key(release: str) -> tuple[int, ...]:
    """Sorts releases by their numbers: 6.9 before 6.12."""
    return tuple(int(number) for number in re.findall(r"\d+", release))


# The flavour that is part of a release, and one that ends the words for it.
_FLAVOUR = re.compile(r"-(rt|cloud)\d*(?=[-+.]|$)")
_LAST = re.compile(r"-(rt|cloud)\d*$")


def flavour(release: str) -> str:
    """Which kernel of its version it is: rt (PREEMPT_RT, also as rt8), cloud, or the ordinary one,
    ""."""
    match = _FLAVOUR.search(release)
    return match.group(1) if match else ""


def matches(release: str, wanted: str) -> bool:
    """True if @wanted names @release: all of it, or its beginning up to a separator. What is not
    the ordinary kernel of its version is named by its flavour as well: 6.12-rt or 6.12-rt8."""
    if release == wanted:
        return True
    version, last, own = _version(wanted), _LAST.search(wanted), _FLAVOUR.search(release)
    return (
        flavour(release) == flavour(wanted)
        and (last is None or own is None or last[0] in (own[0], f"-{own[1]}"))
        and release.startswith(version)
        and release[len(version) :][:1] in tuple(".-+")
    )


def _version(wanted: str) -> str:
    """What @wanted says of a release but for the flavour at its end."""
    return _LAST.sub("", wanted)


def _kernel_in(root: Path, release: str, origin: str) -> Kernel | None:
    """The kernel @release below @root, if image, modules and headers can all be read.

    Ubuntu's images are readable by root only, and headers may be a tree in a home directory.
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
                place = headers.resolve()
                made_for = of_headers(place)
                return Kernel(release, image, place, modules, origin, architecture=made_for)
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
    kernels = (_kernel_in(root, release, "installed") for release in _releases_in(root))
    return [kernel for kernel in kernels if kernel]


def cached_kernels() -> list[Kernel]:
    """Kernels unpacked in the cache, newest first."""
    kernels: list[Kernel] = []
    for root in cache_dir("kernels").iterdir():
        if root.is_dir() and not root.name.startswith("."):
            kernel = _kernel_in(root, root.name, "cache")
            if kernel:
                kernels.append(kernel)
    return sorted(kernels, key=lambda kernel: version_key(kernel.release), reverse=True)


def find_kernel(
    wanted: str | None = None, *, installed: bool = True, made_for: Architecture | None = None
) -> Kernel:
    """The kernel that the user means, fetched if need be.

    @wanted: nothing (the running kernel, the newest installed one, the newest cached one, the
        distribution's), a release or the beginning of one (6.12), with its flavour if it has one
        (6.12-rt), a built kernel tree, or a directory with what a kernel's packages hold (boot,
        lib/modules). A cloud kernel serves as well where there is no ordinary one.
    @installed: False looks at the cache and the packages only.
    @made_for: its architecture; this machine's unless it is named, or the tree has another.
    """
    if wanted is not None and (os.sep in wanted or wanted == "."):
        kernel = _kernel_tree(Path(wanted))
        if made_for is not None and kernel.architecture != made_for:
            raise UsageError(
                f"the kernel in {wanted} is one of {kernel.architecture.name}, not of"
                f" {made_for.name}"
            )
        return kernel
    if wanted is not None and not re.fullmatch(r"[0-9][\w.+~-]*", wanted, re.ASCII):
        hint = f"; to use the tree, write ./{wanted}" if wanted and os.path.isdir(wanted) else ""
        raise UsageError(f"'{wanted}' is not a kernel release like 6.12{hint}")
    made_for = made_for or native()
    known = (installed_kernels() if installed else []) + cached_kernels()
    known = [kernel for kernel in known if kernel.architecture == made_for]
    if wanted is None:
        running = [kernel for kernel in known if kernel.release == platform.release()]
        ordinary = [kernel for kernel in known if not flavour(kernel.release)]
        if running or ordinary:
            return (running or ordinary)[0]
    else:
        for kernel in known:
            if matches(kernel.release, wanted):
                return kernel
    try:
        return fetch_kernel(wanted, made_for)
    except GuestError:
        # Of a cloud image's version it may be the only one here: it has fewer drivers.
        for kernel in known:
            if matches(kernel.release, f"{wanted}-cloud") if wanted else _is_cloud(kernel):
                return kernel
        raise


def _is_cloud(kernel: Kernel) -> bool:
    return flavour(kernel.release) == "cloud"


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


def _available_releases(apt: Apt, wanted: str | None) -> list[str]:
    """Releases whose image and headers can be downloaded, newest first."""
    name = apt.architecture or architecture()
    if wanted is None:
        for meta in (f"linux-image-{name}", "linux-image-generic"):
            names = apt.dependencies(meta, r"linux-image-\d.*")
            if names:
                return [name.removeprefix("linux-image-") for name in names]
        wanted = ""
    version = re.escape(_version(wanted))
    releases = []
    for line in apt.cache("search", "--names-only", f"^linux-image-{version}"):
        match = re.match(rf"linux-image-({version}\S*) ", line)
        if not match or not match.group(1).endswith((f"-{name}", "-generic")):
            continue
        if flavour(match.group(1)) != flavour(wanted):
            continue
        if not re.match(r"\d+\.\d+\.\d", match.group(1)):
            continue  # a meta package, or a release candidate
        if wanted == "" or matches(match.group(1), wanted):
            releases.append(match.group(1))
    return sorted(set(releases), key=version_key, reverse=True)


def _packages(apt: Apt, release: str) -> list[str]:
    """Everything that makes up @release, or nothing if a part of it is not available."""
    image, headers = f"linux-image-{release}", f"linux-headers-{release}"
    names = [image, headers]
    names += apt.dependencies(image, rf"linux-(modules|binary)-{re.escape(release)}")
    needed = apt.dependencies(headers, r"linux-(headers|kbuild)-\S+")
    if apt.architecture:
        # Programs that run here.
        own = architecture()
        needed = [f"{name}:{own}" if "-kbuild-" in name else name for name in needed]
    names += needed
    return names if all(apt.has(name) for name in names) else []


def _build_tools(apt: Apt, packages: list[str]) -> list[str]:
    """What the headers among @packages need to build modules: the compiler that they name, and
    what kbuild's programs are linked with."""
    names: list[str] = []
    for package in packages:
        if package.startswith("linux-headers-"):
            names += apt.dependencies(package, r"gcc-\S+")
        elif package.startswith("linux-kbuild-"):
            names += apt.dependencies(package, r"(?!linux-)\S+")
    return apt.closure(names)


def fetch_kernel(wanted: str | None, made_for: Architecture) -> Kernel:
    """Unpack the newest matching kernel of the distribution into the cache. If the suites that
    this machine uses have none, other suites of the distribution may, for its own architecture."""
    with locked("kernels"):
        for kernel in cached_kernels():  # another process may have been faster
            if kernel.architecture == made_for and (
                wanted is None or matches(kernel.release, wanted)
            ):
                return kernel
        if made_for != native():
            return _fetch_foreign(wanted, made_for)
        kernel_or_none = _fetch_newest(Apt(), wanted, last_try=os.geteuid() != 0)
        if not kernel_or_none and os.geteuid() == 0:
            # Package lists are missing, or so old that what they name is gone.
            _say("updating apt's package lists")
            Apt().update()
            kernel_or_none = _fetch_newest(Apt(), wanted, last_try=True)
        if kernel_or_none:
            return kernel_or_none
        if wanted is not None:
            return _fetch_from_others(wanted)
    raise GuestError(
        "no kernel with headers is installed, cached or known to apt; "
        "run apt-get update, or name a built tree with --kernel"
    )


def _fetch_foreign(wanted: str | None, made_for: Architecture) -> Kernel:
    """The newest matching kernel of another architecture. Raises if there is none."""
    apt = foreign(made_for.name)
    _say(f"reading the package lists of {apt}")
    apt.update()
    kernel = _fetch_newest(apt, wanted, last_try=True)
    if kernel:
        return kernel
    name = f"kernel {wanted}" if wanted else "kernel"
    raise GuestError(
        f"no {name} of {made_for.name} with headers is cached or in the suites that this machine"
        " uses; name a built tree with --kernel"
    )


def _fetch_from_others(wanted: str) -> Kernel:
    """The newest matching kernel of the first suite that has one. Raises if none has."""
    nowhere = f"no kernel {wanted} with headers is installed, cached or known to apt"
    try:
        suites = other_suites()
        for apt in suites:
            _say(f"looking for a kernel {wanted} in {apt}")
            apt.update()
            kernel = _fetch_newest(apt, wanted, last_try=True)
            if kernel:
                return kernel
    except GuestError as error:
        raise GuestError(f"{nowhere}, and {error.message}") from error
    names = " or ".join(str(apt) for apt in suites)
    raise GuestError(f"{nowhere}, nor part of {names}; name a built tree with --kernel")


def _fetch_newest(apt: Apt, wanted: str | None, *, last_try: bool) -> Kernel | None:
    for release in _available_releases(apt, wanted):
        packages = _packages(apt, release)
        if packages:
            try:
                return _unpack(apt, release, packages)
            except GuestError:
                if last_try:
                    raise
                return None
    return None


def _say(text: str) -> None:
    print(f"spekctl: {text}", file=sys.stderr, flush=True)


def _unpack(apt: Apt, release: str, packages: list[str]) -> Kernel:
    target = cache_dir("kernels") / release
    tools = _build_tools(apt, packages) if apt.suites else []
    with_tools = f", and {len(tools)} packages with a compiler for its modules" if tools else ""
    names = ", ".join(packages)
    _say(f"downloading {names}{with_tools} into {target} (unpacked there, not installed)")
    with tempfile.TemporaryDirectory(prefix=".fetch-", dir=cache_dir("kernels")) as scratch:
        tree = Path(scratch, "tree")
        apt.unpack(packages, tree, Path(scratch, "debs"))
        _make_relocatable(tree, release)
        if tools:
            apt.unpack(tools, tree / toolchain.FOLDER, Path(scratch, "tools"))
            toolchain.set_up(tree)
        shutil.rmtree(target, ignore_errors=True)
        tree.rename(target)
    kernel = _kernel_in(target, release, "cache")
    if not kernel:
        raise GuestError(f"the packages of {release} hold no image, modules and headers together")
    return kernel


def _make_relocatable(tree: Path, release: str) -> None:
    """Packages expect to lie at /; make them work where they are.

    The headers' Makefile names itself and the common one by absolute paths, and modules/build
    is an absolute link. modules.dep is made at installation, so it is made here as well; depmod
    looks for modules below /lib, which is a link to /usr/lib where packages know no other.
    """
    for makefile in tree.glob("usr/src/linux-headers-*/Makefile"):
        text = makefile.read_text()
        here = "$(dir $(realpath $(lastword $(MAKEFILE_LIST))))"
        fixed = re.sub(r"(?m)^include /usr/src/", f"include {here}../", text)
        itself = f"KBUILD_OUTPUT := $(patsubst %/,%,{here})"
        fixed = re.sub(r"(?m)^KBUILD_OUTPUT=/usr/src/.*", itself, fixed)
        if fixed != text:
            makefile.write_text(fixed)
    if not (tree / "lib").exists():
        (tree / "lib").symlink_to("usr/lib")
    for modules in {(tree / lib / "modules" / release).resolve() for lib in ("lib", "usr/lib")}:
        if not modules.is_dir():
            continue
        up = os.path.relpath(tree.resolve(), modules)
        for name in ("build", "source"):
            link = modules / name
            if link.is_symlink() and os.path.isabs(os.readlink(link)):
                destination = up + os.readlink(link)
                link.unlink()
                link.symlink_to(destination)
    depmod = shutil.which("depmod", path=os.environ.get("PATH", "") + ":/sbin:/usr/sbin")
    if not depmod:
        raise GuestError(f"depmod is missing: {distribution.install([Missing.KMOD])}")
    run([depmod, "-b", str(tree), release], cwd=tree, what="depmod")
