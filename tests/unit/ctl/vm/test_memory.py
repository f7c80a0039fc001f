# SPDX-License-Identifier: GPL-2.0
"""The memory without which a guest cannot boot, by the head of its kernel's image."""

from __future__ import annotations

import gzip
import re
import struct
from pathlib import Path

import pytest

from spekctl.errors import UsageError
from spekctl.vm import memory
from spekctl.vm.kernels import Kernel

MIB = 1 << 20


def x86(loaded: int = 16 * MIB, taken: int = 56 * MIB, version: int = 0x20F) -> bytes:
    head = bytearray(0x400)
    head[0x202:0x206] = b"HdrS"
    struct.pack_into("<H", head, 0x206, version)
    struct.pack_into("<QI", head, 0x258, loaded, taken)
    return bytes(head)


def arm64(taken: int = 40 * MIB) -> bytes:
    head = bytearray(0x400)
    head[0x38:0x3C] = b"ARM\x64"
    struct.pack_into("<Q", head, 0x10, taken)
    return bytes(head)


@pytest.mark.parametrize(
    ("image", "least_mib"),
    [
        (x86(), 16 + 56 + 32),
        (x86(taken=64 * MIB), 16 + 64 + 32),
        # Of an old protocol the bytes there mean something else.
        (x86(version=0x209), 32 + 32),
        (arm64(), 40 + 32),
        (gzip.compress(arm64()), 40 + 32),
        (arm64(0), 32 + 32),
        (b"\x1f\x8bbroken", 32 + 32),
        (b"MZ\0\0zimg", 32 + 32),
        (b"", 32 + 32),
    ],
)
def test_the_image_says_how_much_a_guest_needs(
    image: bytes, least_mib: int, tmp_path: Path
) -> None:
    path = tmp_path / "vmlinuz"
    path.write_bytes(image)
    kernel = Kernel("6.12.1", path, tmp_path, None, "here")
    assert memory.least_of(path) == least_mib * MIB
    memory.check(f"{least_mib}M", kernel)
    for size in ("1M", f"{least_mib - 1}M"):
        with pytest.raises(UsageError) as refused:
            memory.check(size, kernel)
        assert refused.value.message == (
            f"--memory {size} is too little for a guest of kernel 6.12.1, which needs at least"
            f" {least_mib}M"
        )


def test_a_kernel_that_cannot_be_read_is_left_to_the_emulator(tmp_path: Path) -> None:
    assert memory.least_of(tmp_path) == memory.least_of(tmp_path / "none") == 64 * MIB


@pytest.mark.parametrize(("text", "size"), [("512M", 512 * MIB), ("2G", 2048 * MIB), ("1M", MIB)])
def test_sizes_are_of_whole_units(text: str, size: int) -> None:
    assert memory.parse(text) == size


@pytest.mark.parametrize("text", ["", "0M", "1", "1K", "1.5G", "-1M", "1m", "12345678M", "1M "])
def test_other_words_are_no_size(text: str) -> None:
    with pytest.raises(UsageError, match=re.escape(f"memory '{text}' is not a size; write for")):
        memory.parse(text)
