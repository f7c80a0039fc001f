# SPDX-License-Identifier: GPL-2.0
"""The rpm of the modules' sources, as far as Debian can tell: nothing here installs it."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from spekctl import __version__

Build = Callable[[str, str], Path]


@pytest.fixture(scope="module")
def rpm(build: Build) -> Path:
    (path,) = build("rpm", "first").iterdir()
    return path


def query(*words: str | Path) -> str:
    return subprocess.run(["rpm", "-qp", *words], capture_output=True, text=True, check=True).stdout


def contents(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_its_name_tells_its_version(rpm: Path) -> None:
    assert rpm.name == f"spek-dkms-{__version__}-1.noarch.rpm"
    assert "dkms >= 3.0.10" in query("--requires", rpm).splitlines()


def test_it_has_the_sources_of_the_debian_package(rpm: Path, build: Build, tmp_path: Path) -> None:
    (deb,) = build("deb", "first").glob("spek-dkms_*.deb")
    subprocess.run(["dpkg-deb", "-x", deb, tmp_path / "deb"], check=True)
    (tmp_path / "rpm").mkdir()
    unpack = 'rpm2cpio "$1" | cpio --quiet -id'
    subprocess.run(["sh", "-c", unpack, "sh", rpm], cwd=tmp_path / "rpm", check=True)

    for folder in ("usr/src", "usr/share/spek-dkms"):
        of_rpm = contents(tmp_path / "rpm" / folder)
        assert of_rpm
        assert of_rpm == contents(tmp_path / "deb" / folder)


def test_dkms_adds_and_removes_without_harm_to_an_upgrade(rpm: Path) -> None:
    scripts = query("--scripts", rpm)

    assert f"dkms add -m spek -v {__version__} --rpm_safe_upgrade" in scripts
    assert f"dkms remove -m spek -v {__version__} --all --rpm_safe_upgrade" in scripts
    assert f"check-modules {__version__}" in scripts


def test_rpmlint_finds_only_what_is_meant(rpm: Path) -> None:
    """Who distributes it adds a signature, a packager and a group."""
    done = subprocess.run(["rpmlint", rpm], stdout=subprocess.PIPE, text=True, check=False)
    meant = ("no-signature", "no-packager-tag", "no-group-tag")
    errors = [line for line in done.stdout.splitlines() if ": E: " in line]

    assert [line for line in errors if line.split()[2] not in meant] == []
