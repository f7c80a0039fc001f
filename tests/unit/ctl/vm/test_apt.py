# SPDX-License-Identifier: GPL-2.0
"""Kernels from the suites of a Debian mirror."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from lib.fakes.kernels import unpacked

from spekctl.errors import GuestError
from spekctl.vm import apt, kernels
from spekctl.vm.apt import Apt


class Packages(Apt):
    """An apt with a few packages, whose mirror may be silent."""

    known: tuple[list[str], list[str], str | None]

    def __init__(
        self, suite: str, releases: list[str], calls: list[str], broken: str | None = None
    ) -> None:
        super().__init__((suite,) if suite else ())
        object.__setattr__(self, "known", (releases, calls, broken))

    def cache(self, *arguments: str) -> list[str]:
        releases, _, _ = self.known
        if arguments[0] == "search":
            return [f"linux-image-{release} - Linux" for release in releases]
        return ["  Candidate: 1"] if arguments[0] == "policy" else []

    def update(self) -> None:
        _, calls, broken = self.known
        calls.append(f"update {self}")
        if broken == "update":
            raise GuestError(f"reading the package lists of {self} failed: no route")

    def unpack(self, packages: list[str], tree: Path, scratch: Path) -> None:
        _, calls, broken = self.known
        calls.append(f"unpack {packages[0]} from {self}")
        if broken == "unpack":
            raise GuestError("downloading the kernel failed: 404")
        unpacked(tree, packages[0].removeprefix("linux-image-"))


Setup = Callable[..., list[str]]


@pytest.fixture
def suites(monkeypatch: pytest.MonkeyPatch) -> Setup:
    """suites(own, *others) replaces apt; each is (releases, what is broken). Gives the calls."""

    def set_up(
        own: tuple[list[str], str | None],
        *others: tuple[list[str], str | None],
        user: int = 1000,
    ) -> list[str]:
        calls: list[str] = []
        monkeypatch.setattr(os, "geteuid", lambda: user)
        monkeypatch.setattr(kernels, "Apt", lambda: Packages("", own[0], calls, own[1]))
        monkeypatch.setattr(kernels, "architecture", lambda: "amd64")
        packages = [
            Packages(name, releases, calls, broken)
            for name, (releases, broken) in zip(("backports", "sid"), others, strict=False)
        ]
        monkeypatch.setattr(kernels, "other_suites", lambda: packages)
        return calls

    return set_up


def test_kernel_that_no_suite_has_is_refused(suites: Setup) -> None:
    calls = suites(([], None), ([], None), (["7.1.3-amd64"], None))

    with pytest.raises(GuestError) as refusal:
        kernels.find_kernel("6.99")

    assert refusal.value.message == (
        "no kernel 6.99 with headers is installed, cached or known to apt, nor part of "
        "Debian backports or Debian sid; name a built tree with --kernel"
    )
    assert calls == ["update Debian backports", "update Debian sid"]


def test_suite_out_of_reach_is_one_sentence(suites: Setup) -> None:
    suites(([], None), ([], "update"))

    with pytest.raises(GuestError) as refusal:
        kernels.find_kernel("7")

    assert refusal.value.message == (
        "no kernel 7 with headers is installed, cached or known to apt, and reading the package "
        "lists of Debian backports failed: no route"
    )


def test_newer_kernel_comes_from_another_suite(suites: Setup, cache: Path) -> None:
    calls = suites((["6.77.1-amd64"], None), (["7.0.9-amd64", "7.0.13-amd64"], None), ([], None))

    kernel = kernels.find_kernel("7")

    assert (kernel.release, kernel.origin) == ("7.0.13-amd64", "cache")
    assert kernel.headers.is_relative_to(cache / "kernels")
    assert calls == [
        "update Debian backports",
        "unpack linux-image-7.0.13-amd64 from Debian backports",
    ]
    assert kernels.find_kernel("7").release == "7.0.13-amd64"
    assert len(calls) == 2, "what is cached is not fetched again"


def test_own_suites_come_first(suites: Setup) -> None:
    calls = suites((["7.0.4-amd64"], None), (["7.0.13-amd64"], None))

    assert kernels.find_kernel("7").release == "7.0.4-amd64"
    assert calls == ["unpack linux-image-7.0.4-amd64 from apt"]


def test_old_package_lists_are_renewed_by_root(suites: Setup) -> None:
    calls = suites((["6.77.1-amd64"], "unpack"), user=0)

    with pytest.raises(GuestError, match="downloading the kernel failed"):
        kernels.find_kernel("6.77")
    fetch = "unpack linux-image-6.77.1-amd64 from apt"
    assert calls == [fetch, "update apt", fetch]


def test_newest_package_is_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [
        "linux-image-6.12.9+deb12-amd64 - Linux 6.12 for 64-bit PCs (signed)",
        "linux-image-6.12.117+deb12-amd64 - Linux 6.12 for 64-bit PCs (signed)",
        "linux-image-6.12.200+deb12-cloud-amd64 - Linux 6.12 for x86-64 cloud (signed)",
        "linux-image-6.12.200+deb12-rt-amd64 - Linux 6.12, PREEMPT_RT",
        "linux-image-6.12.200+deb12-amd64-dbg - Debug symbols",
        "linux-image-6.12.200+deb12-amd64-unsigned - Linux 6.12 for 64-bit PCs",
        "linux-image-6.12-amd64 - Linux for 64-bit PCs (meta-package)",
        "linux-image-6.1.0-56-amd64 - Linux 6.1 for 64-bit PCs (signed)",
    ]
    monkeypatch.setattr(kernels, "architecture", lambda: "amd64")
    apt: Any = SimpleNamespace(cache=lambda *arguments: lines, architecture="")

    assert kernels._available_releases(apt, "6.12")[:2] == [
        "6.12.117+deb12-amd64",
        "6.12.9+deb12-amd64",
    ]


def test_headers_name_their_compiler_and_libraries() -> None:
    """Direct dependencies are looked at; what they need in turn is apt's to find."""
    depends = {
        "linux-headers-7.0.1-amd64": ["gcc-14-for-host", "linux-base", "linux-kbuild-7.0.1"],
        "linux-kbuild-7.0.1": ["pahole", "libc6", "libelf1t64", "linux-base"],
    }
    asked: list[str] = []

    def dependencies(package: str, pattern: str) -> list[str]:
        return [name for name in depends.get(package, []) if re.fullmatch(pattern, name)]

    def closure(names: list[str]) -> list[str]:
        asked.extend(names)
        return [*names, "zlib1g"]

    suite: Any = SimpleNamespace(dependencies=dependencies, closure=closure)
    tools = kernels._build_tools(suite, ["linux-image-7.0.1-amd64", *depends])

    assert asked == ["gcc-14-for-host", "pahole", "libc6", "libelf1t64"]
    assert tools == [*asked, "zlib1g"]


def machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, release: str, targets: list[str]
) -> None:
    """This machine's /etc/os-release, and what apt-get indextargets prints."""
    (tmp_path / "os-release").write_text(release)
    monkeypatch.setattr(apt, "OS_RELEASE", tmp_path / "os-release")
    monkeypatch.setattr(Apt, "_lines", lambda self, *command: targets)


def test_other_suites_are_of_the_machines_own_mirror(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cache: Path
) -> None:
    keyring = tmp_path / "keys.gpg"
    keyring.touch()
    monkeypatch.setattr(apt, "KEYRINGS", (tmp_path / "none.gpg", keyring))
    targets = [
        "http://security.invalid/debian-security/ bookworm-security main",
        "http://tools.invalid/apt/ nodistro main",
        "http://mirror.invalid/debian/ bookworm main",
    ]
    machine(tmp_path, monkeypatch, 'ID=debian\nVERSION_CODENAME="bookworm"\n', targets)

    first, last = apt.other_suites()

    assert (str(first), str(last)) == ("Debian trixie-backports", "Debian sid")
    sources = (cache / "apt" / "trixie-backports" / "sources.list").read_text().splitlines()
    assert sources == [
        f"deb [target=Packages signed-by={keyring}] http://mirror.invalid/debian/ {suite} main"
        for suite in ("trixie", "trixie-backports")
    ]
    settings = dict(word.split("=", 1) for word in first.options[1::2])
    for name in ("Dir::State::Lists", "Dir::Cache", "Dir::Etc::SourceList"):
        assert Path(settings[name]).is_relative_to(cache), "nothing of the machine's own apt"


@pytest.mark.parametrize(
    ("release", "targets", "sentence"),
    [
        ("ID=ubuntu\nVERSION_CODENAME=noble\n", ["http://a/ noble main"],
         "suites of Debian are not looked for on ubuntu"),
        ("ID=debian\nVERSION_CODENAME=bookworm\n", ["http://a/ nodistro main"],
         "apt's sources name no mirror of Debian bookworm"),
    ],
)  # fmt: skip
def test_machine_without_a_debian_mirror_is_refused(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    release: str,
    targets: list[str],
    sentence: str,
) -> None:
    machine(tmp_path, monkeypatch, release, targets)

    with pytest.raises(GuestError) as refusal:
        apt.other_suites()

    assert refusal.value.message == sentence


def test_another_architecture_is_of_the_machines_own_suites(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cache: Path
) -> None:
    monkeypatch.setattr(apt, "KEYRINGS", ())
    monkeypatch.setattr(apt, "architecture", lambda: "amd64")
    targets = [
        "http://security.invalid/debian-security/ bookworm-security main",
        "http://tools.invalid/apt/ nodistro main",
        "http://mirror.invalid/debian/ bookworm main",
        "http://mirror.invalid/debian/ bookworm contrib",
    ]
    machine(tmp_path, monkeypatch, "ID=debian\nVERSION_CODENAME=bookworm\n", targets)

    view = apt.foreign("arm64")

    assert (view.architecture, str(view)) == ("arm64", "apt for arm64")
    assert (cache / "apt/arm64/sources.list").read_text().splitlines() == [
        "deb [target=Packages arch=arm64,amd64] http://security.invalid/debian-security/"
        " bookworm-security main",
        "deb [target=Packages arch=arm64,amd64] http://mirror.invalid/debian/ bookworm main",
    ]
    assert view.options[-6:] == (
        *("-o", "APT::Architecture=arm64"),
        *("-o", "APT::Architectures::=arm64"),
        *("-o", "APT::Architectures::=amd64"),
    )


def test_kbuild_of_another_architecture_runs_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels, "architecture", lambda: "amd64")
    depends = {"linux-headers-6.77.1-arm64": ["linux-headers-6.77.1-common", "linux-kbuild-6.77"]}

    def dependencies(package: str, pattern: str) -> list[str]:
        return [name for name in depends.get(package, []) if re.fullmatch(pattern, name)]

    suite: Any = SimpleNamespace(
        dependencies=dependencies, has=lambda package: True, architecture="arm64"
    )

    assert kernels._packages(suite, "6.77.1-arm64") == [
        "linux-image-6.77.1-arm64",
        "linux-headers-6.77.1-arm64",
        "linux-headers-6.77.1-common",
        "linux-kbuild-6.77:amd64",
    ]


def test_links_of_a_merged_tree_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "package"
    (package / "DEBIAN").mkdir(parents=True)
    # Whatever the umask is, dpkg-deb wants these.
    (package / "DEBIAN").chmod(0o755)
    (package / "DEBIAN/control").write_text(
        "Package: p\nVersion: 1\nArchitecture: all\nMaintainer: m <m@m>\nDescription: d\n"
    )
    (package / "bin").mkdir()
    (package / "bin/program").touch()
    scratch, tree = tmp_path / "debs", tmp_path / "tree"
    (tree / "usr/bin").mkdir(parents=True)
    (tree / "bin").symlink_to("usr/bin")

    def download(self: Apt, packages: list[str], scratch: Path, what: str) -> list[Path]:
        scratch.mkdir()
        subprocess.run(["dpkg-deb", "-b", package, scratch], check=True, capture_output=True)
        return list(scratch.glob("*.deb"))

    monkeypatch.setattr(Apt, "_download", download)
    Apt().unpack_merged(["p"], tree, scratch)

    assert (tree / "bin").is_symlink() and (tree / "usr/bin/program").exists()


def test_packages_that_a_suite_lacks_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Apt, "_lines", lambda self, *command: ["E: Unable to locate package x"])
    with pytest.raises(GuestError, match="apt does not have all of x, python3"):
        Apt().closure(["x", "python3"])
    assert Apt().closure([]) == []
