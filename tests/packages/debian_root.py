# SPDX-License-Identifier: GPL-2.0
"""A fresh Debian below a directory, by default Debian 12, and commands in it."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

SUITE = "bookworm"
OLDER = "0.0.9"  # the version that is upgraded
OWN = "--mount --pid --fork --kill-child"
SPACE = "6G"  # what a root with a compiler, the packages and their libraries may take
VARIABLES = {
    "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
    "HOME": "/root",
    "LC_ALL": "C.UTF-8",
    "DEBIAN_FRONTEND": "noninteractive",
}
# What programs note down while packages come and go.
VOLATILE = (
    "proc",
    "sys",
    "dev",
    "run",
    "tmp",
    "root",
    "debs",
    "var/log",
    "var/cache",
    "var/lib/apt",
    "var/lib/dpkg/lock",
)
# Files that others than ours rewrite whenever a package with a library, a kernel module, a man page
# or a group comes.
REWRITTEN = (
    "etc/ld.so.cache",
    "etc/group-",
    "etc/gshadow-",
    "var/lib/dpkg/",
    "lib/modules/",
    "usr/lib/modules/",
)


@functools.cache
def mirror() -> str:
    """The mirror of Debian that this machine's apt uses."""
    uris = subprocess.run(
        [
            "apt-get",
            "indextargets",
            "--format",
            "$(REPO_URI)",
            "Origin: Debian",
            "Created-By: Packages",
        ],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    return next(uri for uri in uris if "security" not in uri)


def unpack(archive: Path, suite: str = SUITE) -> None:
    """Bootstraps the smallest Debian that has apt into the file @archive."""
    subprocess.run(
        [
            "mmdebstrap",
            "-q",
            "--variant=minbase",
            "--include=ca-certificates",
            suite,
            archive,
            mirror(),
        ],
        check=True,
    )


@contextlib.contextmanager
def in_memory(folder: Path, space: str = SPACE) -> Iterator[None]:
    """The empty directory @folder is a file system in memory: dpkg waits for no disk, and nothing
    has to be deleted file by file."""
    subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={space}", "spek-debian", folder], check=True
    )
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


class DebianRoot:
    """One below @path, unpacked from @archive."""

    def __init__(self, path: Path, archive: Path) -> None:
        self.path = path
        self._variables = dict(VARIABLES)
        path.mkdir(parents=True)
        subprocess.run(["tar", "-C", path, "-xf", archive], check=True)
        shutil.copy("/etc/resolv.conf", path / "etc/resolv.conf")
        (path / "debs").mkdir()
        self.run("apt-get update -qq")

    def run(self, script: str) -> str:
        """All that the shell @script prints, as root in this Debian, with mounts and processes of
        its own. It has to succeed."""
        variables = shlex.join(f"{name}={value}" for name, value in self._variables.items())
        return self.beside(f'exec chroot {self.path} env -i {variables} sh -euc "$1"', script)

    def beside(self, command: str, *words: str | Path) -> str:
        """All that the shell @command prints, which runs here with @words, with the mounts that
        programs in this Debian need. It has to succeed."""
        # Tests of serial lines open pseudo-terminals.
        mounts = (
            f"mount --bind {self.path} {self.path} && mount -t proc proc {self.path}/proc"
            f" && mount -t devpts -o ptmxmode=0666 devpts {self.path}/dev/pts"
        )
        done = subprocess.run(
            ["unshare", *OWN.split(), "sh", "-euc", f"{mounts} && {command}", "sh", *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        said = f"{command} {' '.join(map(str, words))}\nexit code {done.returncode}\n{done.stdout}"
        assert done.returncode == 0, said
        return done.stdout

    def configure_pip(self) -> None:
        """pip in it asks and trusts what pip asks and trusts here."""
        variables = {name: value for name, value in os.environ.items() if name.startswith("PIP_")}
        self._variables |= variables
        for path in ("/etc/pip.conf", "/etc/ssl/certs/ca-certificates.crt"):
            with contextlib.suppress(FileNotFoundError):
                shutil.copy(path, f"{self.path}{path}")

    def put(self, packages: Path) -> str:
        """Copies a directory of packages into it; the words that install them with apt."""
        inside = self.path / "debs" / hashlib.sha256(str(packages).encode()).hexdigest()[:8]
        if not inside.exists():
            shutil.copytree(packages, inside)
        return f"apt-get install -q -y /{inside.relative_to(self.path)}/*.deb"

    def state(self) -> dict[str, str]:
        """Every file by its path, with what it holds: a checksum, or where it leads."""
        contents = {}
        for folder, names, files in os.walk(self.path):
            here = Path(folder).relative_to(self.path)
            names[:] = [name for name in names if str(here / name) not in VOLATILE]
            for name in (*names, *files):
                inside = str(here / name)
                if inside in VOLATILE:
                    continue
                contents[inside] = (
                    "" if inside.startswith(REWRITTEN) else _content(self.path / inside)
                )
        return contents


def _content(path: Path) -> str:
    if path.is_symlink():
        return os.readlink(path)
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "directory"
