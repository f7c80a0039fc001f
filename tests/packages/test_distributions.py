# SPDX-License-Identifier: GPL-2.0
"""The README's two commands in a fresh, newer Debian: another Python, compiler, QEMU and kernel.

Of the tests those that need no guest; the demo has one.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator

import pytest
from lib.build.sources import ROOT
from packages.debian_root import DebianRoot, in_memory, unpack

SUITES = ("trixie",)
TREE = "root/spek"
TESTS = "tests/unit tests/stats"
SPACE = "10G"

pytestmark = pytest.mark.skipif(
    os.geteuid() != 0, reason="only root can make a Debian root; use sudo"
)


@pytest.fixture(scope="module", params=SUITES)
def debian(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[DebianRoot]:
    folder = tmp_path_factory.mktemp(request.param)
    with in_memory(folder, SPACE):
        archive = folder / "root.tar"
        unpack(archive, request.param)
        root = DebianRoot(folder / "root", archive)
        archive.unlink()
        root.configure_pip()
        root.run("apt-get install -q -y git make")
        subprocess.run(["git", "clone", "-q", ROOT, root.path / TREE], check=True)
        root.run(f"git config --global --add safe.directory /{TREE}")
        yield root


def test_the_demo_runs(debian: DebianRoot) -> None:
    debian.run(f"cd /{TREE} && make demo")

    assert (debian.path / TREE / "out/demo.html").stat().st_size


def test_packages_are_built_there(debian: DebianRoot) -> None:
    """spekctl's has libraries that are compiled for one Python."""
    debian.run(f"cd /{TREE} && make deb && apt-get install -q -y ./out/packages/deb/*.deb")

    debian.run("spekctl --version && spekctl vm --help && spek-daq --version")


def test_the_tests_pass(debian: DebianRoot) -> None:
    said = debian.run(f"cd /{TREE} && make test ARGS='-q {TESTS}'")

    assert re.search(r"(?m)^[= ]*\d+ passed", said), said
