# SPDX-License-Identifier: GPL-2.0
"""The guest itself: the kernel that was asked for, our modules, the disks, the watch on dmesg."""

from __future__ import annotations

import os
import platform
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from lib.harness.inside import TROUBLE, Messages
from lib.harness.kernels import ARM64, DEBUG_KERNELS

pytestmark = pytest.mark.debug_kernel


def block_bytes(node: str) -> tuple[int, int]:
    """Capacity and logical block of a disk, as the kernel has it."""
    folder = Path("/sys/block", os.path.basename(node))
    sectors = int((folder / "size").read_text())
    return sectors * 512, int((folder / "queue/logical_block_size").read_text())


def test_runs_the_kernel_in_its_name(guest_kernel: str) -> None:
    if guest_kernel in DEBUG_KERNELS:
        assert platform.release().endswith(f"-spek-{DEBUG_KERNELS[guest_kernel]}")
        return
    if guest_kernel == ARM64:
        assert platform.release().endswith(f"-{ARM64}") and platform.machine() == "aarch64"
        return
    if not guest_kernel[0].isdigit():
        pytest.skip("a kernel tree with a label of its own: run with --kernels 6.1 to check")
    assert platform.release().startswith(f"{guest_kernel}.")


def test_modules_load_and_unload(spek_module: Path, prober_module: Path) -> None:
    version = Path("/sys/module/spek/version").read_text()
    assert version == Path("/sys/module/spek_prober/version").read_text()


@pytest.mark.parametrize("bs", [512, 4096])
def test_null_blk_is_as_ordered(null_blk: Callable[..., str], bs: int) -> None:
    first, second = null_blk(size_mb=64, bs=bs), null_blk(size_mb=32, bs=bs)

    assert first != second
    assert block_bytes(first) == (64 << 20, bs)
    assert block_bytes(second) == (32 << 20, bs)


def test_scsi_debug_is_as_ordered(scsi_debug: Callable[..., str]) -> None:
    assert block_bytes(scsi_debug(size_mb=32, bs=4096, delay=0)) == (32 << 20, 4096)


def test_emulated_disks_are_there(
    nvme_disk: str, nvme_disk_4k: str, virtio_disk: str, virtio_disk_4k: str
) -> None:
    for node, bs in ((nvme_disk, 512), (nvme_disk_4k, 4096), (virtio_disk, 512),
                     (virtio_disk_4k, 4096)):  # fmt: skip
        assert block_bytes(node) == (1 << 30, bs), node


@pytest.mark.skipif(platform.machine() != "x86_64", reason="only x86 has it")
def test_an_emulated_kernel_does_without_cmpxchg16b() -> None:
    """And its programs run all the same: what needs x86-64-v2 looks at the processor itself."""
    fields = {
        line.partition(":")[0].strip(): line.partition(":")[2].split()
        for line in Path("/proc/cpuinfo").read_text().splitlines()
    }
    assert ("cx16" in fields["flags"]) != ("TCG" in fields["model name"])


@pytest.mark.skipif(platform.machine() != "x86_64", reason="only there does the model say so")
def test_an_emulated_kernel_places_programs_at_the_same_addresses() -> None:
    """The emulator has translated them there already."""
    emulated = "QEMU TCG" in Path("/proc/cpuinfo").read_text()
    maps = {
        subprocess.run(
            ["sed", "-n", "s/ .*libc.*//p", "/proc/self/maps"],
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        ).stdout
        for _ in range(3)
    }
    assert "" not in maps
    assert (len(maps) == 1) == emulated


@pytest.mark.skipif(platform.machine() != "x86_64", reason="only there does the model say so")
def test_an_emulated_kernel_does_without_retpolines() -> None:
    emulated = "QEMU TCG" in Path("/proc/cpuinfo").read_text()
    report = Path("/sys/devices/system/cpu/vulnerabilities/spectre_v2").read_text()
    assert not emulated or "Retpolines" not in report


@pytest.mark.skipif(platform.machine() != "x86_64", reason="only x86 has it")
def test_an_emulated_cpu_does_not_claim_fast_string_instructions() -> None:
    text = Path("/proc/cpuinfo").read_text()
    flags = text.partition("flags")[2].partition("\n")[0].split()
    assert "QEMU TCG" not in text or {"erms", "fsrm"}.isdisjoint(flags)


@pytest.mark.allow_kernel_messages("on purpose")
def test_trouble_in_the_log_is_seen() -> None:
    messages = Messages()
    messages.mark("looking for trouble")

    with open("/dev/kmsg", "w") as log:
        log.write("<4>WARNING: CPU: 0 PID: 1 on purpose\n")
        log.flush()
        log.write("<6>nothing to see on purpose\n")

    # The kernel may say something of its own meanwhile.
    mine = [line for line in messages.read() if "on purpose" in line]
    assert [bool(TROUBLE.search(line)) for line in mine] == [True, False]
