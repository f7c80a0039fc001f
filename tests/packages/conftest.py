# SPDX-License-Identifier: GPL-2.0
"""Packages of this commit, built twice, and those of an older version."""

from __future__ import annotations

import functools
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from lib.build.sources import ROOT
from packages.debian_root import OLDER

from spekctl import __version__

Build = Callable[[str, str], Path]


@pytest.fixture(scope="session")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """A clone of the repository by its name; the one named older has the version OLDER."""

    @functools.cache
    def make(name: str) -> Path:
        tree = tmp_path_factory.mktemp("clones") / name
        subprocess.run(["git", "clone", "-q", ROOT, tree], check=True)
        if name == "older":
            conf = tree / "dkms.conf"
            conf.write_text(conf.read_text().replace(f'"{__version__}"', f'"{OLDER}"', 1))
            subprocess.run([tree / ".ci/version", "--write"], check=True)
            author = ["-c", "user.name=test", "-c", "user.email=test@example.org"]
            subprocess.run(["git", "-C", tree, *author, "commit", "-qam", "older"], check=True)
        return tree

    return make


@pytest.fixture(scope="session")
def build(clone: Callable[[str], Path]) -> Build:
    """build("deb", "first"): the directory with packages of a kind from the clone of that name."""

    @functools.cache
    def make(kind: str, name: str) -> Path:
        tree = clone(name)
        done = subprocess.run(
            [tree / ".ci/packaging/build", kind],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert done.returncode == 0, done.stdout
        return tree / "out/packages" / kind

    return make
