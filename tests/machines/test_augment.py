# SPDX-License-Identifier: GPL-2.0
"""Guests with a cache of spek_augment.ko that are killed under load: what was flushed is there in
the next one.

`make augment-guest-kills` kills KILLS of them. `make test` kills that of test_augment_boot.py: each
takes a boot, and disks that lose more are cut in tests/guest/test_augment_cuts.py.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from bench.measuring import measure
from machines.killing import disk_words, killed_when, once_booted

from spekctl.vm.kernels import find_kernel
from spekctl.vm.runner import Outcome

KILLS = int(os.environ.get("SPEK_AUGMENT_KILLS", "10"))
KERNEL = os.environ.get("SPEK_AUGMENT_KERNEL", "6.12")
MIB = 1 << 20
SIZES = {"raid": 8 * MIB, "ssd": 8 * MIB, "spare0": 2 * MIB, "spare1": 2 * MIB}
BATCHES, LIMIT_S = 25, 900.0


def guest(folder: Path, most: int) -> Outcome:
    """A guest that checks, and then writes @most batches unless it is killed before."""
    return measure(
        find_kernel(KERNEL),
        ["machines.augment", str(folder), str(most)],
        folder,
        folder / "console",
        icount=False,
        limit_s=LIMIT_S,
        qemu=disk_words(folder, SIZES),
    )


def last_batch(folder: Path) -> int:
    return int((folder / "acknowledged").read_text() or 0)


def killed_guest(folder: Path, batch: int) -> Outcome:
    """A guest that is killed once it has come so far."""
    with killed_when(folder, lambda: last_batch(folder) >= batch, LIMIT_S):
        return once_booted(lambda: guest(folder, 10**9))


@pytest.mark.at_length
def test_what_was_flushed_survives_the_guest(
    tmp_path: Path,
    record_property: Callable[[str, object], None],
    capfd: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "acknowledged").write_text(f"{0:<19}\n")
    for kill in range(1, 1 + KILLS):
        batch = last_batch(tmp_path) + BATCHES
        outcome = killed_guest(tmp_path, batch)
        assert outcome.exit_status is None, (outcome.failure, outcome.console[-2000:])
        # Else it has ended before it was killed.
        assert last_batch(tmp_path) >= batch, (outcome.failure, outcome.console[-2000:])
        with capfd.disabled():
            print(
                f" {kill} of {KILLS} guests killed, {last_batch(tmp_path):,} flushes acknowledged"
            )
    outcome = once_booted(lambda: guest(tmp_path, 1))
    assert outcome.exit_status == 0, (outcome.failure, outcome.console[-2000:])
    checked = [int(line) for line in (tmp_path / "checked").read_text().split()]
    assert len(checked) == KILLS + 1
    assert min(later - earlier for earlier, later in itertools.pairwise(checked)) >= BATCHES
    record_property(
        "count",
        f"{KILLS} guests killed; {checked[-1]:,} flushes acknowledged, none of them lost",
    )
