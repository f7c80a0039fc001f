# SPDX-License-Identifier: GPL-2.0
"""Debian's packages in a fresh Debian 12: installed, upgraded, removed and purged.

The tests follow each other: each leaves the root as the next one needs it.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from lib.build.sources import ROOT
from packages.debian_root import OLDER, DebianRoot, in_memory, unpack

from spekctl import __version__

Build = Callable[[str, str], Path]
TESTS = ROOT / ".ci/packaging/debian/tests"
MODULES = ("spek", "spek_prober", "spek_drive", "spek_augment")
SECURE_BOOT = "sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"

pytestmark = pytest.mark.skipif(
    os.geteuid() != 0, reason="only root can make a Debian root; use sudo"
)


@pytest.fixture(scope="module")
def debian(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DebianRoot]:
    folder = tmp_path_factory.mktemp("debian")
    with in_memory(folder):
        archive = folder / "root.tar"
        unpack(archive)
        root = DebianRoot(folder / "root", archive)
        archive.unlink()
        yield root


@pytest.fixture(scope="module")
def before(debian: DebianRoot, build: Build) -> dict[str, str]:
    """The root with all that the packages depend on or recommend, without themselves."""
    words = debian.put(build("deb", "older"))
    planned = re.findall(r"(?m)^Inst (\S+)", debian.run(words.replace("-y", "-s")))
    others = [name for name in planned if not name.startswith("spek")]
    assert len(planned) - len(others) == 3
    debian.run(f"apt-get install -q -y {' '.join(others)}")
    wanted = sorted(name for name in needed_by_tests() if not name.startswith("spek"))
    debian.run(f"apt-get install -q -y --no-install-recommends {' '.join(wanted)}")
    return debian.state()


def needed_by_tests() -> set[str]:
    """Packages that the packages' own tests depend on; a kernel for the demo's guest is one."""
    lines = re.findall(r"(?m)^Depends: (.*)$", (TESTS / "control").read_text())
    return {name for line in lines for name in line.split(", ")}


def kernels(debian: DebianRoot) -> list[str]:
    """Those with headers: links that lead somewhere in the root, not here."""
    folder = debian.path / "usr/lib/modules"
    return sorted(path.name for path in folder.iterdir() if (path / "build").is_symlink())


def versions_of_modules(debian: DebianRoot) -> set[str]:
    """Of every module for every kernel with headers."""
    asked = [
        f"modinfo -k {kernel} -F version {module}"
        for kernel in kernels(debian)
        for module in MODULES
    ]
    assert asked
    versions = debian.run("; ".join(asked)).split()
    assert len(versions) == len(asked)
    return set(versions)


def test_they_are_installed(debian: DebianRoot, build: Build, before: dict[str, str]) -> None:
    said = debian.run(debian.put(build("deb", "older")))

    assert [kernel.partition(".0-")[0] for kernel in kernels(debian)] == ["6.1"]
    assert versions_of_modules(debian) == {OLDER}
    assert debian.run("spekctl --version; spek-daq --version").splitlines() == [
        f"spekctl, version {OLDER}",
        f"spek-daq {OLDER}",
    ]
    # A chroot's running kernel is another one, whose headers it lacks.
    running = os.uname().release
    assert f"the headers of the running kernel {running} are missing" in said
    assert f"    apt-get install linux-headers-{running}\n" in said
    assert "Secure Boot" not in said
    assert debian.run("getent group spek-daq")
    assert debian.run("dpkg --verify spek-dkms spekctl spek-daq") == ""


def test_they_are_upgraded(debian: DebianRoot, build: Build, before: dict[str, str]) -> None:
    variable = debian.path / SECURE_BOOT
    variable.parent.mkdir(parents=True)
    variable.write_bytes(b"\6\0\0\0\1")
    try:
        said = debian.run(debian.put(build("deb", "first")))
    finally:
        variable.unlink()

    assert versions_of_modules(debian) == {__version__}
    assert debian.run("dkms status").count("installed") == len(kernels(debian))
    assert "    mokutil --import /var/lib/dkms/mok.pub\n" in said
    assert (debian.path / "var/lib/dkms/mok.pub").is_file()
    assert [path.name for path in (debian.path / "usr/src").glob("spek-*")] == [
        f"spek-{__version__}"
    ]


def test_autopkgtests_pass(
    debian: DebianRoot, build: Build, before: dict[str, str], tmp_path: Path
) -> None:
    """The packages' own tests, the demo in a guest among them, as Debian's machines run them."""
    shutil.copytree(TESTS.parent, tmp_path / "debian")
    script = ROOT / ".ci/packaging/changelog"
    text = subprocess.run([script, "debian"], check=True, capture_output=True).stdout
    (tmp_path / "debian/changelog").write_bytes(text)

    said = debian.beside('autopkgtest -B "$1" -- chroot "$2"', tmp_path, debian.path)

    # Each result is printed twice: behind its test, and in the summary.
    summary = said.partition("@@@ summary\n")[2]
    assert re.findall(r"(?m)^(\w+) +PASS$", summary) == ["modules", "commands", "demo"]
    assert f"modules of version {__version__} for 1 kernels" in said


def test_lintian_finds_no_error(build: Build) -> None:
    done = subprocess.run(
        [ROOT / ".ci/packaging/lint", build("deb", "first")],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout


def test_purge_leaves_nothing(debian: DebianRoot, build: Build, before: dict[str, str]) -> None:
    debian.run("apt-get purge -q -y spek-dkms spekctl spek-daq")
    after = debian.state()

    differ = {path for path in {*before, *after} if before.get(path) != after.get(path)}
    # The key belongs to dkms, which makes it for the modules of all packages.
    assert differ - {"var/lib/dkms/mok.key", "var/lib/dkms/mok.pub"} == set()
