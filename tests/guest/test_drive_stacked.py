# SPDX-License-Identifier: GPL-2.0
"""Modelled drives of both kinds under md and the device mapper.

Whatever is put on top of them, data comes back, each drive does the part of the work that the map
gives it, and flash hears of what is discarded.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from lib.guest.disks import array_disk, mapped_disk, settle
from lib.guest.drive import capacity
from lib.guest.modelled import FLASH, SMALL, modelled
from lib.guest.trace import disk_stat

from spekctl import cli
from spekctl.drive.model import Model
from spekctl.errors import ExitCode
from spekctl.kernel.drives import Drives
from spekctl.kernel.records import Direction

pytestmark = [pytest.mark.usefixtures("drive_module", "spek_module"), pytest.mark.any_kernel]

KIB, MIB = 1 << 10, 1 << 20
CHUNK = 64 * KIB
PART = 4 * MIB  # of each drive
# The same drive with a time for nothing but the platter: its tests are about data, not seconds.
FAST = replace(SMALL, seek=((1, 1_000), (911, 2_000)), period_ps=1_000_000_000, settle_ns=1_000)


@dataclass(frozen=True)
class Stack:
    """@make: puts it on two drives. @copies: of each sector, on how many drives it is."""

    name: str
    copies: int
    make: Callable[[str, str], AbstractContextManager[str]]


def linear(first: str, second: str) -> AbstractContextManager[str]:
    sectors = PART // 512
    return mapped_disk(
        "spek-linear", f"0 {sectors} linear {first} 0\n{sectors} {sectors} linear {second} 0\n"
    )


def striped(first: str, second: str) -> AbstractContextManager[str]:
    sectors = 2 * PART // 512
    return mapped_disk(
        "spek-striped", f"0 {sectors} striped 2 {CHUNK // 512} {first} 0 {second} 0\n"
    )


STACKS = (
    Stack("dm-linear", 1, linear),
    Stack("dm-stripe", 1, striped),
    Stack("raid0", 1, lambda first, second: array_disk(0, CHUNK, first, second)),
    Stack("raid1", 2, lambda first, second: array_disk(1, CHUNK, first, second)),
)


def spekctl(*words: str) -> int:
    """Its exit status."""
    return cli.run([*words, "--progress", "none"])


def write_and_check(node: str, state: Path) -> None:
    """Half of random I/Os write; what they wrote is read again meanwhile, and all of it after."""
    words = ["--read", "50%", "--size", "96KiB", "--pattern", "uniform", "--depth", "8"]
    words += ["--count", "100", "--write", "--verify", "--verify-state", str(state)]
    assert spekctl("run", "--device", node, *words) == ExitCode.OK
    assert spekctl("verify", "--from", str(state), "--device", node) == ExitCode.OK


@pytest.mark.sampled
@pytest.mark.parametrize("model", [FAST, FLASH], ids=["disk", "flash"])
def test_stacks_keep_data_and_drives_share_the_work(
    drives: Drives, model: Model, tmp_path: Path
) -> None:
    with modelled(drives, model) as first, modelled(drives, model) as second:
        for stack in STACKS:
            with stack.make(first.node, second.node) as node:
                check(drives, stack, node, (first.drive, second.drive), tmp_path / stack.name)


def check(drives: Drives, stack: Stack, node: str, numbers: tuple[int, int], state: Path) -> None:
    """Use a stack on two drives."""
    before, sent_before = [drives.stats(number) for number in numbers], disk_stat(node)
    write_and_check(node, state)
    settle()
    after = [drives.stats(number) for number in numbers]
    sent = {way: stat.since(sent_before[way]).sectors for way, stat in disk_stat(node).items()}
    pairs = list(zip(before, after, strict=True))
    written = [new.written_sectors - old.written_sectors for old, new in pairs]
    read = [new.read_sectors - old.read_sectors for old, new in pairs]

    assert sum(written) == stack.copies * sent[Direction.WRITE], stack
    assert sum(read) == sent[Direction.READ], stack
    assert min(written) > sum(written) / 3, stack
    if stack.copies == 2:
        assert written[0] == written[1], stack

    if not drives.drive(numbers[0]).flash_channels:
        return
    subprocess.run(["blkdiscard", node], check=True)
    for number, old in zip(numbers, after, strict=True):
        discarded = drives.stats(number).unmapped_sectors - old.unmapped_sectors
        assert discarded == capacity(node) * stack.copies // 2 // 512, stack
        assert drives.drive(number).stored_bytes == 0, stack
