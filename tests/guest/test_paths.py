# SPDX-License-Identifier: GPL-2.0
"""Two paths to a unit: a disk that is taken by one of them is taken by both.

To the kernel they are two disks, which it lets two users claim. scsi_debug gives its units the same
WWN on each of two hosts, and what they hold.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from guest.holders import mounted, opened
from lib.ctl.command_line import Spekctl
from lib.guest.disks import scsi_disk, settle
from lib.guest.netlink import DISK_MIB, is_free, new, remove
from lib.guest.netlink_raw import Socket
from lib.guest.scsi import DRIVER
from lib.guest.spekctl import in_process
from lib.waiting import eventually

from spekctl.block import device, safety
from spekctl.errors import ExitCode
from spekctl.kernel.gen.spek import Cmd

pytestmark = pytest.mark.any_kernel

QUIET = ("--count", "100", "--no-prober", "--progress", "none")
READ = ("run", "random-read-4k", *QUIET)
WRITE = ("run", "random-write-4k", "--data", "random", "--write", *QUIET)


@pytest.fixture(scope="module")
def paths(spek_module: Path) -> Iterator[list[str]]:
    """Device nodes of both paths."""

    def nodes() -> list[str]:
        disks = DRIVER.glob("adapter*/host*/target*/*/block/*")
        return sorted(f"/dev/{path.name}" for path in disks)

    with scsi_disk(DISK_MIB, add_host=2, vpd_use_hostno=0):
        eventually(lambda: len(nodes()) == 2, "scsi_debug has not both hosts")
        eventually(lambda: all(map(os.path.exists, nodes())), "a path has no device node")
        settle()
        yield nodes()


@pytest.fixture
def call(
    spek_module: Path, paths: list[str], capfd: pytest.CaptureFixture[str]
) -> Iterator[Spekctl]:
    """The unit holds nothing, and must be free afterwards."""
    with open(paths[0], "r+b", buffering=0) as file:
        file.write(bytes(1 << 20))
        os.fsync(file)
    settle()
    with in_process(capfd) as spekctl:
        yield spekctl
    settle()
    for path in paths:
        eventually(partial(is_free, path), f"{path} is still held")


def read_past_the_cache(node: str) -> bytes:
    """What the unit holds."""
    command = ["dd", f"if={node}", "bs=1M", "iflag=direct", "status=none"]
    return subprocess.run(command, capture_output=True, check=True).stdout


def test_both_paths_are_known_to_lead_to_the_same_bytes(call: Spekctl, paths: list[str]) -> None:
    first, second = map(device.find, paths)
    assert first.wwn and first.wwn == second.wwn
    assert (first.other_paths, second.other_paths) == ((second.name,), (first.name,))
    assert device.same_bytes(first, second)
    before = read_past_the_cache(paths[1])
    assert call(*WRITE, "--device", paths[0]).code == ExitCode.OK
    written = read_past_the_cache(paths[1])
    assert written != before and read_past_the_cache(paths[0]) == written


@pytest.mark.parametrize("taken", [0, 1])
def test_a_run_by_one_path_keeps_the_other_from_writing(
    taken: int, call: Spekctl, paths: list[str], nl: Socket
) -> None:
    node, other = paths[taken], paths[1 - taken]
    run = new(nl, node)
    nl.ask(Cmd.RUN_START, id=run)
    # What keeps it is not the kernel, which gives away the other path.
    assert is_free(other) and not is_free(node)
    before = read_past_the_cache(other)

    refused = call(*WRITE, "--device", other)

    assert refused.code == ExitCode.REFUSED
    names = Path(node).name, Path(other).name
    claimed = f"{other} is in use: {names[0]}, another path to {names[1]}, is claimed: "
    assert refused.sentence.startswith(claimed)
    assert f"run {run}" in refused.sentence
    assert read_past_the_cache(other) == before
    remove(nl, run)
    eventually(lambda: is_free(node), "the run is gone and its device held")
    assert call(*WRITE, "--device", other).code == ExitCode.OK


def test_a_claim_without_a_name_keeps_the_other_path_from_writing(
    call: Spekctl, paths: list[str]
) -> None:
    with opened(paths[0], os.O_RDONLY | os.O_EXCL):
        refused = call(*WRITE, "--device", paths[1])
    assert refused.code == ExitCode.REFUSED
    assert f"{Path(paths[0]).name}, another path to" in refused.sentence


def test_a_mount_by_one_path_keeps_the_other_from_writing(call: Spekctl, paths: list[str]) -> None:
    subprocess.run(["mkfs.ext4", "-q", paths[0]], check=True)
    known = device.find(paths[1])
    with mounted(paths[0], Path("/tmp/spek-mounted")):
        refused = call(*WRITE, "--device", paths[1], "--destroy", known.identity)
        listed = safety.verdict(known)
    first, second = (Path(path).name for path in paths)
    assert listed == f"{first} (another path to {second}) is mounted on /tmp/spek-mounted"
    assert refused.code == ExitCode.REFUSED
    assert refused.sentence == f"{paths[1]} is in use: {listed}"


def test_only_a_run_without_writes_has_both_paths(call: Spekctl, paths: list[str]) -> None:
    both = ("--device", paths[0], "--device", paths[1])
    refused = call(*WRITE, *both)
    assert refused.code == ExitCode.USAGE
    assert refused.sentence.startswith(f"{paths[0]} and {paths[1]} lie on the same bytes, by two")
    assert call(*READ, *both).code == ExitCode.OK
