# SPDX-License-Identifier: GPL-2.0-or-later
"""Packages of the distribution: looked up, downloaded and unpacked, never installed.

Apt() asks apt as this machine has it set up. other_suites() asks the same mirror for suites that
the machine does not use, with lists and settings of its own in the cache; an ordinary user may.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterable
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
    """

    suites: tuple[str, ...] = ()
    options: tuple[str, ...] = ()

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
        """@packages and all that they depend on, whatever this machine has installed."""
        nothing = ("-o", "Dir::State::Status=/dev/null")
        lines = self._lines(
            "apt-get", "install", "-s", "-q", "--no-install-recommends", *nothing, *packages
        )
        return [match.group(1) for line in lines if (match := re.match(r"Inst (\S+) ", line))]

    def update(self) -> None:
        """Read the package lists from the mirror, one process at a time: apt does not wait for the
        lock of its lists. Of the machine's own sources some may be dead; what they lack is found
        out later."""
        strict = ("-o", "APT::Update::Error-Mode=any") if self.suites else ()
        what = f"reading the package lists of {self}" if self.suites else "apt-get update"
        command = ["apt-get", *self.options, "update", "-q", *strict, *RETRIES]
        with locked("apt"):
            run(command, cwd=Path("/"), what=what)

    def unpack(self, packages: list[str], tree: Path, scratch: Path) -> None:
        """Download @packages to @scratch, unpack them in @tree."""
        scratch.mkdir()
        tree.mkdir(exist_ok=True)
        fetch = ["apt-get", *self.options, "download", "-q", *RETRIES, *packages]
        run(fetch, cwd=scratch, what="downloading the kernel")
        for deb in sorted(scratch.glob("*.deb")):
            run(["dpkg-deb", "-x", str(deb), str(tree)], cwd=scratch, what=f"unpacking {deb.name}")
            deb.unlink()

    def __str__(self) -> str:
        return f"Debian {self.suites[-1]}" if self.suites else "apt"


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


def _mirror() -> str:
    """Address of the Debian mirror that this machine uses. Raises if there is none."""
    name, codename = _own_release()
    if name != "debian":
        raise GuestError(f"suites of Debian are not looked for on {name or 'this distribution'}")
    format_ = "$(REPO_URI) $(RELEASE) $(COMPONENT)"
    words = ["indextargets", "--format", format_, "Created-By: Packages"]
    for line in Apt()._lines("apt-get", *words):
        address, _, rest = line.partition(" ")
        release, _, component = rest.partition(" ")
        if release in (codename, "stable", "testing", "unstable", "sid") and component == "main":
            return address
    raise GuestError(f"apt's sources name no mirror of Debian {codename}".rstrip())


def other_suites() -> list[Apt]:
    """Views of suites that this machine is not set up for. Raises if it knows no mirror."""
    mirror = _mirror()
    keys = [f" signed-by={path}" for path in KEYRINGS if path.exists()][:1]
    apts = []
    for suites in OTHER_SUITES:
        home = cache_dir("apt", suites[-1])
        for folder in ("lists/partial", "archives/partial"):
            (home / folder).mkdir(parents=True, exist_ok=True)
        sources = home / "sources.list"
        line = f"deb [target=Packages{''.join(keys)}] {mirror} {{}} main\n"
        sources.write_text("".join(line.format(suite) for suite in suites))
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
        apts.append(Apt(suites, tuple(options)))
    return apts
