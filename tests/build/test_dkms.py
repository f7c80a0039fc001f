# SPDX-License-Identifier: GPL-2.0
"""dkms add, build and install from a clean clone, in trees of its own, for one kernel: make
test-packages has the package build for another one.

The machine's own /var/lib/dkms is hidden by an empty one meanwhile: dkms would leave a signing
key there.
"""

from __future__ import annotations

import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from lib.build.sources import ROOT
from lib.harness.kernels import STOCK_KERNELS
from lib.own_mounts import in_own_mounts

from spekctl import __version__
from spekctl.vm.kernels import find_kernel
from spekctl.vm.modules import NAMES, WHERE_POSSIBLE


@pytest.fixture(scope="session")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clone of the repository, without uncommitted files."""
    path = tmp_path_factory.mktemp("dkms") / f"spek-{__version__}"
    subprocess.run(["git", "clone", "-q", str(ROOT), str(path)], check=True)
    return path


def test_dkms_builds_and_installs(clone: Path, tmp_path: Path) -> None:
    kernel = find_kernel(STOCK_KERNELS[1])
    trees = {name: tmp_path / name for name in ("dkms", "source", "install")}
    for path in trees.values():
        path.mkdir()
    (trees["install"] / kernel.release).mkdir()  # what an installed kernel has
    shutil.copytree(clone, trees["source"] / clone.name)
    common = f"--dkmstree {trees['dkms']} --sourcetree {trees['source']}"
    target = f"spek/{__version__} -k {kernel.release} --kernelsourcedir {kernel.headers}"
    install = f"--installtree {trees['install']} --no-depmod"
    script = f"""
        set -e
        mkdir -p /var/lib/dkms && mount -t tmpfs dkms /var/lib/dkms
        dkms add {common} spek/{__version__}
        dkms build {common} {target} || {{
            cat {trees["dkms"]}/spek/{__version__}/build/make.log; exit 1
        }}
        dkms install {common} {install} {target}
        dkms status {common} spek/{__version__}
        chown -R --reference={shlex.quote(str(clone))} {shlex.quote(str(tmp_path))}
    """

    done = subprocess.run(
        [*in_own_mounts(), "sh", "-c", script],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stdout
    assert f"{kernel.release}, x86_64: installed" in done.stdout
    installed = {path.name for path in trees["install"].rglob("*.ko*")}
    assert {name.removesuffix(".xz") for name in installed} == {*NAMES, *WHERE_POSSIBLE}
