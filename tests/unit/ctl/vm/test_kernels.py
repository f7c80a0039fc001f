# SPDX-License-Identifier: GPL-2.0
"""Kernels of guests: found, unpacked and refused."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
from lib.fakes.kernels import some_kernel, unpacked
from lib.ordinary_user import call_as_ordinary_user

from spekctl.errors import GuestError, UsageError
from spekctl.vm import kernels
from spekctl.vm.architecture import AMD64, ARM64
from spekctl.vm.kernels import Kernel, matches, version_key
from spekctl.vm.runner import (
    Guest,
    kernel_options,
)


@pytest.mark.parametrize(
    ("release", "wanted", "expected"),
    [
        ("6.1.0-56-amd64", "6.1", True),
        ("6.1.0-56-amd64", "6.1.0-56", True),
        ("6.1.0-56-amd64", "6.1.0-56-amd64", True),
        ("6.12.117+deb12-amd64", "6.1", False),
        ("6.12.117+deb12-amd64", "6.12.117", True),
        ("6.1.0-56-amd64", "6.1.0-5", False),
        ("6.12.117+deb12-rt-amd64", "6.12", False),
        ("6.12.117+deb12-rt-amd64", "6.12-rt", True),
        ("6.12.117+deb12-rt-amd64", "6.12.117+deb12-rt", True),
        ("6.12.117+deb12-rt-amd64", "6.12.117+deb12-rt-amd64", True),
        ("6.12.117+deb12-rt-amd64", "6.1-rt", False),
        ("6.12.117+deb12-amd64", "6.12-rt", False),
        ("6.12.117+deb12-cloud-amd64", "6.12", False),
        ("6.12.117+deb12-cloud-amd64", "6.12-cloud", True),
        ("6.12.9-rt8", "6.12", False),
        ("6.12.9-rt8", "6.12-rt", True),
        ("6.12.9-rt8", "6.12-rt8", True),
        ("6.12.9-rt8-amd64", "6.12.9-rt8", True),
        ("6.12.9-rt8", "6.12-rt9", False),
        ("6.12.9-rt8+", "6.12", False),
    ],
)
def test_beginning_of_a_release_names_it(release: str, wanted: str, expected: bool) -> None:
    assert matches(release, wanted) is expected


def test_releases_sort_by_number() -> None:
    releases = ["6.9.1-amd64", "6.12.3-amd64", "6.1.0-5-amd64", "6.1.0-12-amd64"]

    assert sorted(releases, key=version_key, reverse=True) == [
        "6.12.3-amd64",
        "6.9.1-amd64",
        "6.1.0-12-amd64",
        "6.1.0-5-amd64",
    ]


def test_unpacked_headers_work_where_they_are(tmp_path: Path) -> None:
    root = unpacked(tmp_path / "elsewhere", "6.77.1-test")

    kernels._make_relocatable(root, "6.77.1-test")

    root = root.rename(tmp_path / "moved")
    build = root / "lib/modules/6.77.1-test/build"
    done = subprocess.run(["make", "-C", build], capture_output=True, text=True, check=True)
    assert "common makefile found" in done.stdout
    assert (root / "lib/modules/6.77.1-test/modules.dep").exists()


def test_cached_kernel_is_found(cache: Path) -> None:
    release = "6.77.1-test"
    root = unpacked(cache / "kernels" / release, release)
    kernels._make_relocatable(root, release)

    kernel = kernels.find_kernel("6.77")

    assert (kernel.release, kernel.origin) == (release, "cache")
    assert kernel.headers == root / "usr/src/linux-headers-6.77.1-test"
    assert kernel.label == "6.77"


@pytest.mark.parametrize("wanted", ["6.77", None])
def test_a_cloud_kernel_serves_where_there_is_no_other(
    wanted: str | None, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for release in ("6.77.1-cloud-test", "6.77.2-rt3-test"):
        root = unpacked(cache / "kernels" / release, release)
        kernels._make_relocatable(root, release)
    refusal = GuestError("no kernel is known to apt")

    def nothing(*words: object) -> Kernel:
        raise refusal

    monkeypatch.setattr(kernels, "fetch_kernel", nothing)
    kernel = kernels.find_kernel(wanted, installed=False)
    assert kernel.release == "6.77.1-cloud-test"
    with pytest.raises(GuestError, match="known to apt"):
        kernels.find_kernel("6.78", installed=False)
    with pytest.raises(GuestError, match="known to apt"):
        kernels.find_kernel("6.77-rt4", installed=False)


def test_a_kernel_of_another_architecture_is_chosen_by_name_only(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = "6.77.1-arm64"
    root = unpacked(cache / "kernels" / release, release)
    kernels._make_relocatable(root, release)
    (root / f"usr/src/linux-headers-{release}/.config").write_text("CONFIG_ARM64=y\n")

    assert kernels.find_kernel("6.77", made_for=ARM64).release == release
    fetched: list[object] = []
    monkeypatch.setattr(kernels, "fetch_kernel", lambda *words: fetched.append(words))
    kernels.find_kernel("6.77", made_for=AMD64)
    assert fetched == [("6.77", AMD64)]
    with pytest.raises(UsageError, match=r"is one of arm64, not of amd64$"):
        kernels.find_kernel(str(root), made_for=AMD64)
    assert kernels.find_kernel(str(root)).architecture == ARM64


def test_kernel_without_headers_does_not_count(tmp_path: Path) -> None:
    unpacked(tmp_path, "6.77.1-test", headers=False)

    assert kernels.installed_kernels(tmp_path) == []


def test_kernel_closed_to_the_user_does_not_count(tmp_path: Path) -> None:
    """Its headers may be in root's home."""
    root = unpacked(tmp_path / "closed", "6.77.1-test")
    kernels._make_relocatable(root, "6.77.1-test")
    assert len(kernels.installed_kernels(root)) == 1

    def find() -> int:
        print(kernels.installed_kernels(root), kernels._kernel_in(root, "6.77.1-test", "installed"))
        return 0

    root.chmod(0)
    try:
        outcome = call_as_ordinary_user(tmp_path, find)
    finally:
        root.chmod(0o755)

    assert (outcome.code, outcome.out) == (0, "[] None\n")


def test_kernel_tree_closed_to_the_user_is_refused(tmp_path: Path) -> None:
    tree = tmp_path / "closed" / "tree"
    tree.mkdir(parents=True)

    def find() -> int:
        with pytest.raises(UsageError) as refusal:
            kernels.find_kernel(str(tree))
        print(refusal.value.message)
        return 0

    tree.parent.chmod(0)
    try:
        outcome = call_as_ordinary_user(tmp_path, find)
    finally:
        tree.parent.chmod(0o755)

    assert outcome.out == f"cannot access {tree}: Permission denied\n", outcome.err


@pytest.mark.parametrize("name", ["missing/tree", "empty"])
def test_directory_that_is_no_kernel_tree_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "empty").mkdir()

    with pytest.raises(UsageError, match=r"there is no kernel tree|is not a built kernel tree"):
        kernels.find_kernel(str(tmp_path / name))


@pytest.mark.parametrize(
    ("choice", "told"),
    [
        ({"accel": "kvm"}, False),
        ({"accel": "tcg"}, True),
        ({"accel": "tcg", "icount": True}, False),
    ],
)
def test_only_an_emulated_kernel_has_options_for_the_emulator(
    choice: dict[str, Any], told: bool
) -> None:
    options = kernel_options(Guest(some_kernel(), ["true"], **choice))
    assert ("clearcpuid=141" in options) == told
    assert ("norandmaps" in options) == told
    assert ("mitigations=off" in options) == told


@pytest.mark.parametrize("choice", [{"accel": "kvm"}, {"accel": "tcg"}, {"icount": True}])
def test_no_guest_has_the_pseudoterminals_of_bsd(choice: dict[str, Any]) -> None:
    """udev would handle an event for each of the 512 at boot."""
    options = kernel_options(Guest(some_kernel(), ["true"], **choice))
    assert "pty.legacy_count=0" in options
