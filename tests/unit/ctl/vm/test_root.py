# SPDX-License-Identifier: GPL-2.0
"""The root file system of a guest of another architecture, without a mirror."""

from __future__ import annotations

import dataclasses
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from lib.fakes.kernels import some_kernel, unpacked

from spekctl.errors import GuestError
from spekctl.vm import apt, root
from spekctl.vm.architecture import ARM64


class View:
    """Packages of another architecture."""

    def update(self) -> None:
        """Nothing is fetched."""

    def closure(self, packages: Any) -> list[str]:
        return list(packages)

    def unpack_merged(self, packages: list[str], tree: Path, scratch: Path) -> None:
        assert "python3" in packages and (tree / "lib").is_symlink()
        (tree / "usr/bin/python3").symlink_to("python3.11")
        (tree / "etc").mkdir()
        place = tree / "usr/share/base-passwd"
        place.mkdir(parents=True)
        for name in ("passwd", "group"):
            (place / f"{name}.master").write_text("root:*:0:0:\n")


@pytest.fixture
def wheels(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The calls of pip."""
    calls: list[list[str]] = []

    def run(command: list[str], **more: Any) -> subprocess.CompletedProcess[str]:
        calls.append(command)
        code = 1 if "absent" in command else 0
        return subprocess.CompletedProcess(command, code, "", "x\nERROR: no wheel of absent\n")

    monkeypatch.setattr(apt, "foreign", lambda name: View())
    monkeypatch.setattr(subprocess, "run", run)
    return calls


def test_it_is_made_once_for_what_is_in_it(cache: Path, wheels: list[list[str]]) -> None:
    first = root.foreign_root(ARM64)
    assert root.foreign_root(ARM64) == first and len(wheels) == 1
    assert root.foreign_root(ARM64, ["pytest"]) != first
    command = wheels[-1]
    assert command[command.index("--python-version") + 1] == "3.11"
    assert "manylinux_2_36_aarch64" in command and "--only-binary=:all:" in command
    needed = {re.split(r"[<>=!]", word)[0] for word in command}
    assert {"msgspec", "pyroute2", "pyarrow", "pytest"} <= needed
    assert "matplotlib" not in needed, "guests draw nothing"
    assert (first / "etc/passwd").exists() and (first / "etc/fstab").exists()
    assert (first / "usr/sbin/poweroff").is_symlink()


def test_a_package_without_a_wheel_is_one_sentence(cache: Path, wheels: list[list[str]]) -> None:
    with pytest.raises(GuestError) as refusal:
        root.foreign_root(ARM64, ["absent"])
    assert refusal.value.message == (
        "Python packages of arm64 cannot be had: ERROR: no wheel of absent"
    )
    assert not list((cache / "roots/arm64").glob("[!.]*")), "nothing half-made is kept"


def test_modules_are_in_it_without_their_headers(tmp_path: Path) -> None:
    tree = unpacked(tmp_path / "kernel", "6.77.1-test")
    folder = tree / "lib/modules/6.77.1-test"
    (folder / "kernel/null_blk.ko").write_text("module")
    kernel = dataclasses.replace(some_kernel(), modules=folder)
    place = tmp_path / "root"
    (place / "usr/lib").mkdir(parents=True)
    kernel = dataclasses.replace(kernel, image=tmp_path / "vmlinuz")
    kernel.image.touch()
    root.put_modules(place, kernel)
    root.put_modules(place, kernel)
    copy = place / "usr/lib/modules/6.77.1-test"
    assert (copy / "kernel/null_blk.ko").read_text() == "module"
    assert not (copy / "build").is_symlink()
    assert {path.name for path in copy.parent.iterdir()} == {copy.name, f".{copy.name}.of"}
    assert kernel.modules is not None
    source = kernel.modules / "kernel/null_blk.ko"
    source.unlink()
    source.write_text("rebuilt")
    os.utime(kernel.image, ns=(1, 1))
    root.put_modules(place, kernel)
    assert (copy / "kernel/null_blk.ko").read_text() == "rebuilt"
    assert {path.name for path in copy.parent.iterdir()} == {copy.name, f".{copy.name}.of"}


def test_mount_points_stay_but_for_that_of_a_single_boot(tmp_path: Path) -> None:
    shared, own = Path("/clone/out"), Path("/cache/vm/1")
    with root.mount_points(tmp_path, [shared], own):
        assert (tmp_path / "clone/out").is_dir() and (tmp_path / "cache/vm/1").is_dir()
    assert (tmp_path / "clone/out").is_dir() and not (tmp_path / "cache/vm/1").exists()
