# SPDX-License-Identifier: GPL-2.0
"""What make deps sees to, on a machine whose packages are all installed."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from lib.build.sources import ROOT

PROGRAMS = {"dpkg-query": "echo installed", "sudo": 'exec "$@"'}


@pytest.fixture
def packages(tmp_path: Path) -> list[Path]:
    """The script, for a machine where /lib/modules is another directory; and that directory."""
    folder = tmp_path / "lib/modules"
    script = tmp_path / ".ci/packages"
    script.parent.mkdir()
    script.write_text((ROOT / ".ci/packages").read_text().replace("/lib/modules", str(folder)))
    script.chmod(0o755)
    for name, text in PROGRAMS.items():
        program = tmp_path / "bin" / name
        program.parent.mkdir(exist_ok=True)
        program.write_text(f"#!/bin/sh\n{text}\n")
        program.chmod(0o755)
    return [script, folder]


def call(script: Path, *sets: str) -> str:
    path = f"{script.parents[1]}/bin:{os.environ['PATH']}"
    done = subprocess.run(
        [script, *sets],
        env={**os.environ, "PATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=True,
    )
    return done.stdout


def test_the_mount_point_of_guests_is_made_once(packages: list[Path]) -> None:
    """An ordinary user cannot make it when a guest boots."""
    script, folder = packages

    told = f"packages: making the empty directory {folder}, a mount point for guests\n"
    assert call(script, "python", "guest") == told
    assert folder.is_dir()
    assert call(script, "guest") == ""


def test_without_guests_no_mount_point_is_made(packages: list[Path]) -> None:
    script, folder = packages

    assert call(script, "python") == ""
    assert not folder.exists()


@pytest.mark.parametrize("lacks", ["libelf1", "libelf1t64"])
def test_a_library_may_have_the_name_that_debian_13_gave_it(
    packages: list[Path], lacks: str
) -> None:
    script, _ = packages
    query = script.parents[1] / "bin/dpkg-query"
    query.write_text(f'#!/bin/sh\nfor last; do :; done\n[ "$last" = {lacks} ] || echo installed\n')

    assert call(script, "build") == ""


def test_what_is_missing_is_installed(packages: list[Path]) -> None:
    script, _ = packages
    programs = script.parents[1] / "bin"
    lacks = "for last; do :; done\ncase $last in libelf1*) exit 1 ;; esac\necho installed"
    for name, text in {"dpkg-query": lacks, "apt-cache": "", "apt-get": 'echo "$@"'}.items():
        (programs / name).write_text(f"#!/bin/sh\n{text}\n")
        (programs / name).chmod(0o755)

    said = call(script, "build").splitlines()

    assert said[0] == "packages: installing libelf1"
    assert said[-1].endswith("install --no-install-recommends libelf1")
