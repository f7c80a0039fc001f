# SPDX-License-Identifier: GPL-2.0-or-later
"""Packages of the distribution: looked up, downloaded and unpacked, never installed.

Apt() asks apt as this machine has it set up. other_suites() asks the same mirror for suites that
the machine does not use, and foreign() the machine's mirrors for another architecture, both with
lists and settings of their own in the cache; an ordinary user may.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from spekctl.errors import GuestError
from spekctl.vm.cache import cache_dir, locked

RETRIES = ("-o", "Acquire::Retries=3")  # a mirror may be slow to deliver a single file

# Suites with newer kernels than a stable release has, and what they need beside themselves. A
# backported kernel is built by the compiler of its stable release.
OTHER_SUITES = (("trixie", "trixie-backports"), ("sid",))

KEYRINGS = tuple(
    Path(f"/usr/share/keyrings/debian-archive-keyring.{end}") for end in ("gpg", "pgp")
)
OS_RELEASE = Path("/etc/os-release")


def run(command: list[str], *, cwd: Path, what: str) -> None:
    """Run @command, or raise with the first error that it reports."""
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C"}
    done = subprocess.run(
        command, cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        lines = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
        errors = [line for line in lines if line.startswith("E:")] or lines[-1:]
        first = errors[0].removeprefix("E: ") if errors else f"exit {done.returncode}"
        raise GuestError(f"{what} failed: {' '.join(first.split())}")


@dataclass(frozen=True, slots=True)
class Apt:
    """One view of the distribution's packages.

    @suites: that it looks at; none - what the machine is set up for
    @options: of every call
    @architecture: of its packages, if not the machine's; one of the machine is NAME:ARCHITECTURE
    """

    suites: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    architecture: str = ""

    def _lines(self, *command: str) -> list[str]:
        done = subprocess.run(
            [command[0], *self.options, *command[1:]],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "LC_ALL": "C"},
        )
        return done.stdout.splitlines()

    def cache(self, *arguments: str) -> list[str]:
        """What apt-cache prints."""
        if not shutil.which("apt-cache"):
            raise GuestError(
                "no kernel with image and headers is installed, and without apt none can be "
                "fetched; install a kernel with its headers or name a built tree with --kernel"
            )
        return self._lines("apt-cache", *arguments)

    def dependencies(self, package: str, pattern: str) -> list[str]:
        """Direct dependencies of @package whose names match."""
        dependencies = []
        for line in self.cache("depends", "--no-recommends", "--no-suggests", package):
            match = re.match(r"[ |]*(?:Pre)?Depends: (\S+)$", line)
            if match and re.fullmatch(pattern, match.group(1)):
                dependencies.append(match.group(1))
        return dependencies

    def has(self, package: str) -> bool:
        """True if some version of @package can be downloaded."""
        return any(
            line.strip().startswith("Candidate:") and "(none)" not in line
            for line in self.cache("policy", package)
        )

    def closure(self, packages: Iterable[str]) -> list[str]:
        """@packages and all that they depend on, whatever this machine has installed. GuestError
        if some of it is not available."""
        wanted = list(packages)
        nothing = ("-o", "Dir::State::Status=/dev/null")
        lines = self._lines(
            "apt-get", "install", "-s", "-q", "--no-install-recommends", *nothing, *wanted
        )
        names = [match.group(1) for line in lines if (match := re.match(r"Inst (\S+) ", line))]
        if wanted and not names:
            raise GuestError(f"{self} does not have all of {', '.join(wanted)}")
        return names

    def update(self) -> None:
        """Read the package lists from the mirror, one process at a time: apt does not wait for the
        lock of its lists. Of the machine's own sources some may be dead; what they lack is found
        out later."""
        strict = ("-o", "APT::Update::Error-Mode=any") if self.options else ()
        what = f"reading the package lists of {self}" if self.options else "apt-get update"
        command = ["apt-get", *self.options, "update", "-q", *strict, *RETRIES]
        with locked("apt"):
            run(command, cwd=Path("/"), what=what)

    def unpack(self, packages: list[str], tree: Path, scratch: Path) -> None:
        """Download @packages to @scratch, unpack them in @tree."""
        tree.mkdir(exist_ok=True)
        for deb in self._download(packages, scratch, "the kernel"):
            run(["dpkg-deb", "-x", str(deb), str(tree)], cwd=scratch, what=f"unpacking {deb.name}")
            deb.unlink()

    def unpack_merged(self, packages: list[str], tree: Path, scratch: Path) -> None:
        """The same in a @tree whose bin, lib and sbin are links: dpkg-deb would put directories in
        their places."""
        # Not through a pipe: sh would not see that dpkg-deb failed.
        unpack = (
            'dpkg-deb --fsys-tarfile "$1" >all.tar && '
            'tar -x -f all.tar --keep-directory-symlink -C "$2"'
        )
        for deb in self._download(packages, scratch, f"a root file system of {self.architecture}"):
            command = ["sh", "-c", unpack, "sh", str(deb), str(tree)]
            run(command, cwd=scratch, what=f"unpacking {deb.name}")
            deb.unlink()

    def _download(self, packages: list[str], scratch: Path, what: str) -> list[Path]:
        scratch.mkdir()
        fetch = ["apt-get", *self.options, "download", "-q", *RETRIES, *packages]
        run(fetch, cwd=scratch, what=f"downloading {what}")
        return sorted(scratch.glob("*.deb"))

    def __str__(self) -> str:
        name = f"Debian {self.suites[-1]}" if self.suites else "apt"
        return f"{name} for {self.architecture}" if self.architecture else name


def architecture() -> str:
    """Debian's name of this machine's architecture."""
    done = subprocess.run(
        ["dpkg", "--print-architecture"], capture_output=True, text=True, check=False
    )
    return done.stdout.strip() or "amd64"


def _own_release() -> tuple[str, str]:
    """ID and code name of the distribution that runs here."""
    try:
        text = OS_RELEASE.read_text()
    except OSError:
        text = ""
    release = dict(re.findall(r'(?m)^(ID|VERSION_CODENAME)="?([^"\n]*)"?$', text))
    return release.get("ID", ""), release.get("VERSION_CODENAME", "")


@dataclass(frozen=True, slots=True)
class _Target:
    """What one line of apt's sources is for."""

    address: str
    release: str
    component: str


def _own_targets() -> list[_Target]:
    """Of this machine, which has to be a Debian. Raises if it is none."""
    name, _ = _own_release()
    if name != "debian":
        raise GuestError(f"suites of Debian are not looked for on {name or 'this distribution'}")
    format_ = "$(REPO_URI) $(RELEASE) $(COMPONENT)"
    words = ["indextargets", "--format", format_, "Created-By: Packages"]
    lines = [line.split() for line in Apt()._lines("apt-get", *words)]
    return [_Target(*words) for words in lines if len(words) == len(_Target.__slots__)]


def _mirror() -> str:
    """Address of the Debian mirror that this machine uses. Raises if there is none."""
    return _of_debian(_own_targets(), "")[0].address


def _of_debian(targets: Iterable[_Target], *parts: str) -> list[_Target]:
    """Those of the own release of Debian: of these @parts, as -security. Raises without any."""
    codename = _own_release()[1]
    names = [codename, "stable", "testing", "unstable", "sid"]
    known = {f"{name}{part}" for name in names for part in parts}
    chosen = [
        target for target in targets if target.release in known and target.component == "main"
    ]
    if not chosen:
        raise GuestError(f"apt's sources name no mirror of Debian {codename}".rstrip())
    return chosen


def other_suites() -> list[Apt]:
    """Views of suites that this machine is not set up for. Raises if it knows no mirror."""
    mirror = _mirror()
    apts = []
    for suites in OTHER_SUITES:
        targets = [_Target(mirror, suite, "main") for suite in suites]
        apts.append(Apt(suites, _apart(suites[-1], targets)))
    return apts


def foreign(name: str) -> Apt:
    """A view of this machine's suites for the architecture @name, beside the machine's own. Raises
    if it knows no mirror."""
    targets = _of_debian(_own_targets(), "", "-updates", "-security")
    return Apt((), _apart(name, targets, (name, architecture())), name)


def _apart(
    name: str, targets: Iterable[_Target], architectures: Sequence[str] = ()
) -> tuple[str, ...]:
    """Options with which apt reads @targets alone, for @architectures (by default the machine's),
    with lists and archives of its own in the cache."""
    home = cache_dir("apt", name)
    for folder in ("lists/partial", "archives/partial"):
        (home / folder).mkdir(parents=True, exist_ok=True)
    keys = [f" signed-by={path}" for path in KEYRINGS if path.exists()][:1]
    chosen = f" arch={','.join(architectures)}" if architectures else ""
    sources = home / "sources.list"
    # Another process may be reading it.
    scratch = sources.with_name(f"sources.{os.getpid()}")
    scratch.write_text(
        "".join(
            f"deb [target=Packages{''.join(keys)}{chosen}] {target.address} {target.release}"
            f" {target.component}\n"
            for target in targets
        )
    )
    scratch.rename(sources)
    settings = {
        "Dir::State::Lists": home / "lists",
        "Dir::State::Status": "/dev/null",
        "Dir::Cache": home,
        "Dir::Etc::SourceList": sources,
        "Dir::Etc::SourceParts": "/dev/null",
        "Dir::Etc::Preferences": "/dev/null",
        "Dir::Etc::PreferencesParts": "/dev/null",
        "Acquire::Languages": "none",
        "Acquire::AllowReleaseInfoChange": "true",  # trixie will be oldstable
    }
    options = [word for key, value in settings.items() for word in ("-o", f"{key}={value}")]
    options += ["-o", f"APT::Architecture={architectures[0]}"] if architectures else []
    for architecture_ in architectures:
        options += ["-o", f"APT::Architectures::={architecture_}"]
    return tuple(options)
