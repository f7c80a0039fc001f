# SPDX-License-Identifier: GPL-2.0
"""dkms add, build and install from a clean clone, in trees of its own, for one kernel: make
test-packages has the package build for another one. What dkms has built of a clone's files is kept
in the cache.

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
from spekctl.vm.cache import cache_dir, cached, digest_of
from spekctl.vm.kernels import Kernel, find_kernel
from spekctl.vm.modules import NAMES, WHERE_POSSIBLE, identity_of

KEEP = 2  # builds


@pytest.fixture(scope="session")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clone of the repository, without uncommitted files."""
    path = tmp_path_factory.mktemp("dkms") / f"spek-{__version__}"
    subprocess.run(["git", "clone", "-q", str(ROOT), str(path)], check=True)
    return path


def files_of(clone: Path) -> list[Path]:
    """What dkms and the build read."""
    names = ("kmod", "prober", "Kbuild", "Makefile", "dkms.conf", "daq/Makefile")
    command = ["git", "ls-files", "-z", *names]
    listed = subprocess.run(command, cwd=clone, check=True, capture_output=True, text=True).stdout
    return [clone / name for name in listed.rstrip("\0").split("\0")]


class Dkms:
    """dkms with a clone in trees below a folder of its own."""

    def __init__(self, folder: Path, clone: Path, kernel: Kernel) -> None:
        self.folder, self.kernel = folder, kernel
        self.trees = {name: folder / name for name in ("dkms", "source", "install")}
        for path in self.trees.values():
            path.mkdir(parents=True)
        (self.trees["install"] / kernel.release).mkdir()  # what an installed kernel has
        shutil.copytree(clone, self.trees["source"] / clone.name)
        self.module = self.trees["dkms"] / "spek" / __version__
        self.built = self.module / kernel.release
        self.common = f"--dkmstree {self.trees['dkms']} --sourcetree {self.trees['source']}"
        self.target = f"spek/{__version__} -k {kernel.release} --kernelsourcedir {kernel.headers}"

    def run(self, *lines: str) -> str:
        """What these lines of a shell print, after dkms add; they have to succeed."""
        owner = f"{shlex.quote(str(self.folder.parent))} {shlex.quote(str(self.folder))}"
        script = f"""
            set -e
            trap 'chown -R --reference={owner}' EXIT
            mkdir -p /var/lib/dkms && mount -t tmpfs dkms /var/lib/dkms
            [ -e {self.module}/source ] || dkms add {self.common} spek/{__version__}
        """
        done = subprocess.run(
            [*in_own_mounts(), "sh", "-c", "\n".join([script, *lines])],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout
        return done.stdout


def test_dkms_builds_and_installs(clone: Path, tmp_path: Path) -> None:
    kernel = find_kernel(STOCK_KERNELS[1])

    def build(to: Path) -> None:
        dkms = Dkms(tmp_path / "builder", clone, kernel)
        dkms.run(
            f"dkms build {dkms.common} {dkms.target} ||",
            f"    {{ cat {dkms.module}/build/make.log; exit 1; }}",
        )
        shutil.copytree(dkms.built, to, symlinks=True)

    version = subprocess.run(["dkms", "--version"], check=True, capture_output=True, text=True)
    words = (identity_of(kernel), version.stdout)
    place = cache_dir("dkms", kernel.release) / digest_of(clone, files_of(clone), *words)
    dkms = Dkms(tmp_path / "installer", clone, kernel)
    dkms.run()
    shutil.copytree(cached(place, build, KEEP), dkms.built, symlinks=True)
    said = dkms.run(
        f"dkms install {dkms.common} --installtree {dkms.trees['install']} --no-depmod"
        f" {dkms.target}",
        f"dkms status {dkms.common} spek/{__version__}",
    )

    assert f"{kernel.release}, x86_64: installed" in said
    installed = {path.name for path in dkms.trees["install"].rglob("*.ko*")}
    assert {name.removesuffix(".xz") for name in installed} == {*NAMES, *WHERE_POSSIBLE}


@pytest.mark.parametrize(
    ("config", "symbols", "left_out"),
    [
        ("CONFIG_SCSI=m\nCONFIG_BLK_DEV_DM=y\n", "crc32c", set()),
        ("CONFIG_SCSI=y\nCONFIG_BLK_DEV_DM=m\n", "__crc32c_le", {"spek_augment"}),
        ("# CONFIG_SCSI is not set\nCONFIG_BLK_DEV_DM=m\n", "crc32c", {"spek_drive"}),
        ("CONFIG_SCSI=m\n", "crc32c", {"spek_augment"}),
        ("CONFIG_64BIT=y\n", "", {"spek_drive", "spek_augment"}),
        (None, "", set()),
    ],
)
def test_dkms_awaits_no_module_that_is_not_built_for_a_kernel(
    tmp_path: Path, config: str | None, symbols: str, left_out: set[str]
) -> None:
    if config is not None:
        (tmp_path / ".config").write_text(config)
        (tmp_path / "Module.symvers").write_text(f"0x0\t{symbols}\tvmlinux\tEXPORT_SYMBOL\t\n")
    script = (
        f"set -eu; kernel_source_dir={tmp_path} kernelver=6.1; . {ROOT}/dkms.conf;"
        " for i in ${!BUILT_MODULE_NAME[@]}; do"
        " echo $i ${BUILT_MODULE_NAME[i]} ${DEST_MODULE_LOCATION[i]}; done"
    )
    done = subprocess.run(["bash", "-c", script], check=True, capture_output=True, text=True)
    rows = [line.split() for line in done.stdout.splitlines()]
    numbers = range(len(rows))
    assert [(int(row[0]), row[2]) for row in rows] == [(n, "/updates/dkms") for n in numbers]
    modules = {name.removesuffix(".ko") for name in (*NAMES, *WHERE_POSSIBLE)}
    assert {row[1] for row in rows} == modules - left_out
