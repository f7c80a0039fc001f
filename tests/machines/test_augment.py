# SPDX-License-Identifier: GPL-2.0
"""Guests with a cache of spek_augment.ko that are killed under load: what was flushed is there in
the next one.

`make augment-guest-kills` kills KILLS of them. `make test` kills none: each takes a boot, and
disks that lose more are cut in tests/guest/test_augment_cuts.py.
"""

from __future__ import annotations

import itertools
import os
import signal
import threading
from pathlib import Path

import pytest
from bench.measuring import measure
from lib.waiting import comes_true

from spekctl.vm.kernels import find_kernel
from spekctl.vm.runner import Outcome

KILLS = int(os.environ.get("SPEK_AUGMENT_KILLS", "10"))
KERNEL = os.environ.get("SPEK_AUGMENT_KERNEL", "6.12")
MIB = 1 << 20
SIZES = {"raid": 8 * MIB, "ssd": 8 * MIB, "spare0": 2 * MIB, "spare1": 2 * MIB}
BATCHES, LIMIT_S = 25, 900.0


def drives(folder: Path) -> list[str]:
    """The images, as disks that answer once the host's page cache has the data."""
    words = []
    for name, size in SIZES.items():
        image = folder / f"{name}.img"
        with open(image, "ab") as file:
            file.truncate(size)
        words += ["-drive", f"file={image},if=none,id={name},format=raw,cache=writeback"]
        words += ["-device", f"virtio-blk-pci,drive={name},serial={name}"]
    return words


def guest(folder: Path, most: int) -> Outcome:
    """A guest that checks, and then writes @most batches unless it is killed before."""
    return measure(
        find_kernel(KERNEL),
        ["machines.augment", str(folder), str(most)],
        folder,
        folder / "console",
        icount=False,
        limit_s=LIMIT_S,
        qemu=drives(folder),
    )


def last_batch(folder: Path) -> int:
    return int((folder / "acknowledged").read_text() or 0)


def descendants(pid: int) -> list[int]:
    pids = []
    for path in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in map(int, path.read_text().split()):
            pids += [child, *descendants(child)]
    return pids


def kill_at(folder: Path, batch: int) -> None:
    """SIGKILL for the emulator once the guest has come so far."""
    if comes_true(lambda: last_batch(folder) >= batch, LIMIT_S):
        for pid in descendants(os.getpid()):
            if Path(f"/proc/{pid}/comm").read_text().startswith("qemu-system"):
                os.kill(pid, signal.SIGKILL)


@pytest.mark.at_length
def test_what_was_flushed_survives_the_guest(tmp_path: Path) -> None:
    (tmp_path / "acknowledged").write_text(f"{0:<19}\n")
    for _ in range(KILLS):
        killer = threading.Thread(target=kill_at, args=(tmp_path, last_batch(tmp_path) + BATCHES))
        killer.start()
        outcome = guest(tmp_path, 10**9)
        killer.join()
        assert outcome.exit_status is None, (outcome.failure, outcome.console[-2000:])
    outcome = guest(tmp_path, 1)
    assert outcome.exit_status == 0, (outcome.failure, outcome.console[-2000:])
    checked = [int(line) for line in (tmp_path / "checked").read_text().split()]
    assert len(checked) == KILLS + 1
    assert min(later - earlier for earlier, later in itertools.pairwise(checked)) >= BATCHES
