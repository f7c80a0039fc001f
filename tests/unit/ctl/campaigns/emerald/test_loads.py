# SPDX-License-Identifier: GPL-2.0
"""The workloads of an Emerald-like test."""

from __future__ import annotations

from pathlib import Path

import pytest
from lib.ctl.command_line import Spekctl
from lib.ctl.emerald_command import (
    RUN,
    LoopKernel,
    loads_of,
    loop_kernel,
    loop_power,
)
from lib.fakes.machine import disk
from lib.fakes.power import FakePower

from spekctl.block import device
from spekctl.errors import ExitCode

kernel = pytest.fixture(loop_kernel)
power = pytest.fixture(loop_power)


def test_runs_are_what_their_phases_are_called(
    spekctl: Spekctl, kernel: LoopKernel, power: FakePower
) -> None:
    spekctl(*RUN, "--folder", "t", "--depths", "4")
    names = [name for name, _ in loads_of(kernel)]
    assert names == [
        *("emerald-prefill", "emerald-hot-band", "emerald-hot-band", "emerald-random-read"),
        *("emerald-random-write", "emerald-sequential-read", "emerald-sequential-write"),
        *("emerald-mixed", "emerald-mixed-25"),
    ]
    fill, _, hot, reads, writes, _, in_order, mixed, _ = kernel.runs_seen
    assert fill.count * (256 << 10) == 1 << 30 and fill.streams[0].pattern == "sequential"
    assert len(hot.streams) == 13
    assert (reads.streams[0].read_ppm, reads.streams[0].sizes[0].bytes) == (1_000_000, 8192)
    assert writes.streams[0].read_ppm == 0 and writes.data == "random"
    assert in_order.streams[0].sizes[0].bytes == 256 << 10
    assert (mixed.streams[0].seq_ppm, mixed.streams[0].read_ppm) == (300_000, 700_000)
    kept = sorted(path.name for path in Path("t").glob("0*.json"))
    assert kept[0] == "001-prefill.json" and kept[-1] == "010-ready-idle.json"


def test_devices_with_large_blocks_get_their_own_hot_band(
    spekctl: Spekctl, kernel: LoopKernel, power: FakePower, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(device, "find", lambda path: disk(path, logical_block=4096))
    assert spekctl(*RUN, "--phases", "hot-band", "--folder", "t").code == ExitCode.OK
    assert "emerald-hot-band-4k" in {name for name, _ in loads_of(kernel)}
