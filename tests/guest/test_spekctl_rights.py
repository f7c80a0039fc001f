# SPDX-License-Identifier: GPL-2.0
"""What each command of spekctl does for an ordinary user: what concerns the kernel is refused.

The rules are in lib/ctl/rights.py. Commands run in a forked child, because each start of
Python costs seconds in an emulated guest.
"""

from __future__ import annotations

import importlib
import pkgutil
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from lib.ctl.rights import NEEDS_ROOT
from lib.ordinary_user import as_ordinary_user

import spekctl
from spekctl import cli
from spekctl.drive import file as drive_file
from spekctl.errors import ExitCode
from spekctl.workload import file

pytestmark = pytest.mark.any_kernel

# Imported where they are first needed, from directories that an ordinary user may not enter.
LAZY = ("numpy", "pyarrow.parquet", "rich.live", "rich.table", "tomlkit")


@pytest.fixture(scope="module", autouse=True)
def loaded() -> None:
    """All of spekctl but plots and virtual machines, and what these modules import."""
    for module in pkgutil.walk_packages(spekctl.__path__, "spekctl."):
        if not module.name.startswith(("spekctl.plots", "spekctl.vm", "spekctl.__main__")):
            importlib.import_module(module.name)
    for name in LAZY:
        importlib.import_module(name)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A directory that an ordinary user may write to."""
    for path in (tmp_path, *tmp_path.parents):
        if path != Path("/tmp") and Path("/tmp") in path.parents:
            path.chmod(0o755)
    tmp_path.chmod(0o777)
    return tmp_path


@pytest.fixture
def readable(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The workloads and models of an installed spekctl: this clone may be closed to an ordinary
    user."""
    workloads = readable_copy(file.shipped_directory(), folder / "workloads")
    monkeypatch.setattr(file, "shipped_directory", lambda: workloads)
    models = readable_copy(drive_file.MODELS, folder / "models")
    monkeypatch.setattr(drive_file, "MODELS", models)


def readable_copy(source: Path, copy: Path) -> Path:
    copy.mkdir()
    for path in source.glob("*.toml"):
        shutil.copyfile(path, copy / path.name)
        (copy / path.name).chmod(0o644)
    copy.chmod(0o755)
    return copy


def test_what_concerns_the_kernel_needs_root(
    spek_module: Path,
    prober_module: Path,
    drive_module: Path,
    null_blk: Callable[..., str],
    folder: Path,
    readable: None,
) -> None:
    node = null_blk(size_mb=512, memory_backed=1)
    written = ("--device", node, "--write", "--verify", "--verify-state", str(folder / "state"))
    assert cli.run(["run", "random-write-4k", *written, "--count", "16", "--no-prober"]) == 0
    (folder / "state").chmod(0o644)
    outcomes = {}
    for name, arguments in NEEDS_ROOT.items():
        words = [word.format(disk=node, folder=folder) for word in arguments]
        outcomes[name] = as_ordinary_user(folder, *name.split(), *words)
        assert "Traceback" not in outcomes[name].err, f"{name}: {outcomes[name].err}"

    refused = {name for name, outcome in outcomes.items() if outcome.code == ExitCode.PERMISSION}
    assert refused == set(NEEDS_ROOT), outcomes
    for name, outcome in outcomes.items():
        sentence = outcome.err.splitlines()[-1]
        assert outcome.out == "" and sentence.startswith("spekctl: "), name
        assert "CAP_SYS_ADMIN" in sentence, name
