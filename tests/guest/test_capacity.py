# SPDX-License-Identifier: GPL-2.0
"""Capacity optimization of zram, which compresses, and of dm-thin, which does not."""

from __future__ import annotations

import errno
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from lib.ctl.command_line import Spekctl
from lib.guest.disks import mapped_disk, null_disk, settle
from lib.guest.modules import unload_soon
from lib.guest.spekctl import in_process
from lib.waiting import eventually

from spekctl.errors import ExitCode

pytestmark = pytest.mark.any_kernel
MIB = 1 << 20
SIZE = 8 * MIB
SECTORS_PER_MIB = 2048


@pytest.fixture
def call(spek_module: Path, capfd: pytest.CaptureFixture[str]) -> Iterator[Spekctl]:
    with in_process(capfd) as spekctl:
        yield spekctl


def run(call: Spekctl, node: str, tmp_path: Path) -> dict[str, tuple[int, str]]:
    """More bytes stored by step, and the verdict by method."""
    path = tmp_path / "capacity.json"
    line = ("energy", "capacity", "--device", node, "--write", "--size", f"{SIZE}")
    outcome = call(*line, "--progress", "none", "-o", str(path))
    assert outcome.code == ExitCode.OK, outcome.err
    data = json.loads(path.read_text())
    steps = {
        step["name"]: (step["stored_after"] - step["stored_before"], "") for step in data["steps"]
    }
    return steps | {method["name"]: (0, method["verdict"]) for method in data["methods"]}


def verdicts(told: dict[str, tuple[int, str]]) -> dict[str, str]:
    return {name: verdict for name, (_, verdict) in told.items() if verdict}


def zram_is_reset() -> bool:
    try:
        Path("/sys/block/zram0/reset").write_text("1\n")
    except OSError as error:
        assert error.errno == errno.EBUSY
        return False
    return True


def test_zram_compresses_and_finds_no_duplicates(call: Spekctl, tmp_path: Path) -> None:
    subprocess.run(["modprobe", "zram", "num_devices=1"], check=True)
    try:
        Path("/sys/block/zram0/disksize").write_text(f"{64 * MIB}\n")
        told = run(call, "/dev/zram0", tmp_path)
    finally:
        settle()
        # As long as somebody looks at it, it is busy.
        eventually(zram_is_reset, "zram0 is in use")
        unload_soon("zram")
    assert verdicts(told) == {
        "compression": "yes",
        "deduplication": "no",
        "thin provisioning": "yes",
        "read-only delta snapshots": "not tested",
        "writeable delta snapshots": "not tested",
        "parity RAID": "not tested",
    }
    # Of each page 1 KiB is random.
    assert 0.25 * SIZE < told["compressible"][0] < 0.4 * SIZE


def test_a_thin_volume_has_delta_snapshots(call: Spekctl, tmp_path: Path) -> None:
    subprocess.run(["modprobe", "dm-thin-pool"], check=True)
    # Blocks larger than those of the test, so that a discard must be a whole one.
    data_mib, block = 64, 1024
    pool = f"0 {data_mib * SECTORS_PER_MIB} thin-pool %s %s {block} 0"
    with (
        null_disk(size_mb=16, memory_backed=1) as metadata,
        null_disk(size_mb=data_mib, memory_backed=1, discard=1) as data,
        mapped_disk("spek-pool", pool % (metadata, data)),
    ):
        subprocess.run(["dmsetup", "message", "spek-pool", "0", "create_thin 0"], check=True)
        table = f"0 {1024 * SECTORS_PER_MIB} thin /dev/mapper/spek-pool 0"
        eventually(Path("/dev/mapper/spek-pool").exists, "the pool has no node")
        with mapped_disk("spek-thin", table) as node:
            told = run(call, node, tmp_path)
            status = subprocess.run(
                ["dmsetup", "status", "spek-pool"], check=True, capture_output=True, text=True
            ).stdout
    assert verdicts(told) == {
        "compression": "no",
        "deduplication": "no",
        "thin provisioning": "yes",
        "read-only delta snapshots": "yes",
        "writeable delta snapshots": "not tested",
        "parity RAID": "not tested",
    }
    stored = {name: more for name, (more, verdict) in told.items() if not verdict}
    assert stored == {
        "discard all": 0,
        "irreducible": SIZE,
        "compressible": SIZE,
        "repeating": SIZE,
        "snapshot": 0,
        "rewrite": SIZE // 4,
        "discard": -SIZE,
    }
    # The snapshot is gone: two data sets are left.
    assert f" {2 * SIZE // (block * 512)}/" in status
