# SPDX-License-Identifier: GPL-2.0-or-later
"""The root file system of a guest whose programs are not this machine's.

Packages of the distribution are unpacked into the cache, and wheels of what spekctl needs beside
them, in the versions that this Python has. Nothing of it runs here, so no package is configured:
what their scripts would have made and a guest needs is made here.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from importlib import metadata
from pathlib import Path

from spekctl.errors import GuestError
from spekctl.vm import apt
from spekctl.vm.architecture import Architecture
from spekctl.vm.cache import cache_dir, cached
from spekctl.vm.kernels import Kernel

KEEP = 2  # roots kept
PYTHON = Path("/usr/bin/python3")
BUSYBOX = Path("usr/bin/busybox")
SITE = Path("usr/lib/python3/dist-packages")
# What guests run, and what spekctl and its tests look at devices with.
PACKAGES = (
    "base-files",
    "base-passwd",
    "bash",
    "busybox-static",
    "coreutils",
    "dash",
    "dmsetup",
    "e2fsprogs",
    "findutils",
    "fio",
    "grep",
    "hostname",
    "iproute2",
    "kmod",
    "libc-bin",
    "login",
    "lsscsi",
    "mount",
    "passwd",
    "procps",
    "python3",
    "sed",
    "sg3-utils",
    "udev",
    "util-linux",
)
# Directories that are links to those of their names below /usr.
MERGED = ("bin", "sbin", "lib")
# Files that guests mount something on, and by which virtme-ng ends one.
MOUNTED_ON = ("fstab", "shadow", "sudoers", "hosts", "hostname", "resolv.conf")
ENDING = ("poweroff", "reboot", "halt")
# The C libraries that wheels may be made for, by minor version: PEP 600's first, and that of
# Debian 12.
GLIBC = (17, 36)


def foreign_root(architecture: Architecture, extra: Iterable[str] = ()) -> Path:
    """A directory with programs of @architecture; unpacked now or earlier. @extra: further Python
    packages. GuestError if it cannot be had."""
    requirements = [*_requirements(), *extra]
    versions = sorted(
        f"{distribution.name}=={distribution.version}" for distribution in metadata.distributions()
    )
    text = "\0".join([*PACKAGES, *requirements, *versions, Path(__file__).read_text()])
    digest = hashlib.sha256(text.encode()).hexdigest()[:12]

    def make(done: Path) -> None:
        _make(done, architecture, requirements, versions)

    return cached(cache_dir("roots", architecture.name) / digest, make, KEEP)


def _requirements() -> list[str]:
    """What spekctl needs to run and to write logs, as its metadata have it."""
    needed = []
    for line in metadata.requires("spekctl") or []:
        name, _, marker = line.partition(";")
        if not marker.strip() or re.fullmatch(r"\s*extra == ['\"]log['\"]\s*", marker):
            needed.append(name.strip())
    return needed


def _make(
    root: Path, architecture: Architecture, requirements: list[str], versions: list[str]
) -> None:
    view = apt.foreign(architecture.name)
    print(
        f"spekctl: unpacking a root file system of {architecture.name} into the cache",
        file=sys.stderr,
        flush=True,
    )
    view.update()
    for name in MERGED:
        (root / "usr" / name).mkdir(parents=True)
        (root / name).symlink_to(f"usr/{name}")
    with tempfile.TemporaryDirectory(prefix=".debs-", dir=cache_dir("roots")) as scratch:
        view.unpack_merged(view.closure(PACKAGES), root, Path(scratch, "debs"))
    etc = root / "etc"
    for name in MOUNTED_ON:
        (etc / name).touch()
    (etc / "lvm").mkdir(exist_ok=True)
    for name in ("passwd", "group"):
        shutil.copy(root / f"usr/share/base-passwd/{name}.master", etc / name)
    for name in ENDING:
        (root / "usr/sbin" / name).symlink_to(Path("../bin/busybox"))
    _put_wheels(root, architecture, requirements, versions)


def _put_wheels(
    root: Path, architecture: Architecture, requirements: list[str], versions: list[str]
) -> None:
    version = os.readlink(root / PYTHON.relative_to("/")).removeprefix("python")
    first, last = GLIBC
    platforms = [
        word
        for minor in range(last, first - 1, -1)
        for word in ("--platform", f"manylinux_2_{minor}_{architecture.machine}")
    ]
    platforms += ["--platform", f"manylinux2014_{architecture.machine}"]
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as constraints:
        constraints.write("\n".join(line for line in versions if "spekctl" not in line))
        constraints.flush()
        command = [sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check"]
        command += ["--root-user-action=ignore", "--target", str(root / SITE)]
        command += [*platforms, "--python-version", version, "--implementation", "cp"]
        command += ["--only-binary=:all:", "-c", constraints.name, "--", *requirements]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if line.strip()] or ["no message"]
        raise GuestError(
            f"Python packages of {architecture.name} cannot be had: {lines[-1].strip()}"
        )


def put_modules(root: Path, kernel: Kernel) -> None:
    """Put the modules of @kernel below @root, as hard links into the cache where possible. A
    rebuilt tree may keep its release, so its modules replace those of the last build."""
    place = root / "usr/lib/modules" / kernel.release
    stamp = place.parent / f".{kernel.release}.of"
    assert kernel.modules is not None
    origin = f"{kernel.modules.resolve()} {kernel.image.stat().st_mtime_ns}"
    with open(root.parent / ".modules.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if place.exists() and stamp.exists() and stamp.read_text() == origin:
            return
        place.parent.mkdir(exist_ok=True)
        stamp.unlink(missing_ok=True)
        scratch = Path(tempfile.mkdtemp(prefix=".making-", dir=place.parent))
        shutil.copytree(
            kernel.modules.resolve(),
            scratch / "modules",
            symlinks=True,
            copy_function=_link,
            ignore=lambda folder, names: {"build", "source"} & set(names),
        )
        if place.exists():
            place.rename(scratch / "old")
        (scratch / "modules").rename(place)
        stamp.write_text(origin)
        shutil.rmtree(scratch)


def _link(source: str, target: str) -> None:
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError:
        shutil.copy2(source, target, follow_symlinks=False)


@contextlib.contextmanager
def mount_points(root: Path, folders: Iterable[Path], own: Path) -> Iterator[None]:
    """Directories below @root on which a guest mounts @folders, and @own, which goes again."""
    places = [root / folder.relative_to("/") for folder in (*folders, own)]
    for place in places:
        place.mkdir(parents=True, exist_ok=True)
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            places[-1].rmdir()
