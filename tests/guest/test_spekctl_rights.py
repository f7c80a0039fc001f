# SPDX-License-Identifier: GPL-2.0
"""What each command of spekctl does for an ordinary user: what concerns the kernel is refused.

Every command has a rule here; one without fails the test. Commands run in a forked child, because
each start of Python costs seconds in an emulated guest.
"""

from __future__ import annotations

import importlib
import pkgutil
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import click
import pytest
from lib.ordinary_user import as_ordinary_user

import spekctl
from spekctl import cli
from spekctl.drive import file as drive_file
from spekctl.errors import ExitCode
from spekctl.workload import file

pytestmark = pytest.mark.any_kernel

DEVICE = "{disk}"
NEEDS_ROOT: dict[str, tuple[str, ...]] = {
    "run": ("random-read-4k", "--device", DEVICE, "--no-prober", "--progress", "none"),
    "status": (),
    "metrics": (),
    "watch": ("1",),
    "stop": ("1",),
    "sweep": ("random-read-4k", "--device", DEVICE, "--depth", "1", "-o", "{folder}/sweep.json"),
    "spc1": (
        "--device",
        DEVICE,
        "--write",
        "--quick",
        "--start-bsu",
        "1",
        "--folder",
        "{folder}/spc1",
    ),
    "spc2": ("--device", DEVICE, "--write", "--quick", "--folder", "{folder}/spc2"),
    "pts": (*("--device", DEVICE, "--write", "--quick", "--no-purge", "--folder", "{folder}/pts"),),
    "energy spc1e": ("--device", DEVICE, "--write", "--quick", "--folder", "{folder}/e"),
    "energy spc2e": ("--device", DEVICE, "--write", "--quick", "--folder", "{folder}/spc2e"),
    "energy emerald": ("--device", DEVICE, "--write", "--quick", "--folder", "{folder}/emerald"),
    "verify": ("--device", DEVICE, "--from", "{folder}/state"),
    "drive new": ("barracuda-es",),
    "drive list": (),
    "drive stats": ("1",),
    "drive delete": ("1",),
    "prober start": ("--for", "1s"),
    "prober watch": (),
    "prober read": (),
    "prober stop": (),
    "power rails": (),
    "augment create": ("nas", "--raid", DEVICE, "--ssd", DEVICE, "--spare", DEVICE),
    "augment attach": ("nas", "--scan", "--raid", DEVICE),
    "augment status": (),
    "augment destage": ("nas",),
    "augment detach": ("nas",),
    "augment monitor": ("nas",),
    "power monitor": ("--count", "1"),
}
# They read files, sysfs and devices that the user may read, ask spek-daq, which has its own say, or
# start a virtual machine as the user who asks for it.
NEEDS_NOTHING = {"devices", "workloads", "show", "log", "plot", "trace", "vm", "energy dcse"}
NEEDS_NOTHING |= {"report", "compare", "gate", "fio", "vdbench"}
# host answers each request with its own refusal, and web shows it.
NEEDS_NOTHING |= {"host", "web"}
# Hosts of a fleet start the host helper by sudo.
NEEDS_NOTHING |= {"fleet"}
NEEDS_NOTHING |= {"power calibrate", "doctor", "energy tiered map", "energy tiered compare"}
# They need what the node of the disk asks for; test_power_states has both.
NEEDS_NOTHING |= {"power states", "power set", "augment check"}
NEEDS_NOTHING |= {f"drive {one}" for one in ("models", "show", "simulate", "study", "characterise")}

GROUPS = ("augment", "drive", "energy", "tiered", "power", "prober")


def leaves(group: click.Group, context: click.Context, prefix: str = "") -> Iterator[str]:
    """Names of all commands; groups that plot or vm are made of count as one."""
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group) and name in GROUPS:
            yield from leaves(command, context, f"{prefix}{name} ")
        else:
            yield prefix + name


def test_every_command_has_a_rule() -> None:
    with click.Context(cli.cli) as context:
        assert set(leaves(cli.cli, context)) == set(NEEDS_ROOT) | NEEDS_NOTHING


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
