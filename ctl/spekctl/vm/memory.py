# SPDX-License-Identifier: GPL-2.0-or-later
"""The memory of a guest: how much is given, and without how much it cannot boot.

The head of a kernel's image says what the kernel takes before it runs: on x86-64 where it is
loaded and the bytes that it needs from there (Documentation/arch/x86/boot.rst), on arm64 the size
of the image (Documentation/arch/arm64/booting.rst). On top of that come the programs that every
guest starts. The sum is a bound: with less, QEMU starts and the guest never gets to its command.
"""

from __future__ import annotations

import re
import struct
import zlib
from pathlib import Path

from spekctl.errors import UsageError
from spekctl.vm.kernels import Kernel

MIB = 1 << 20
# What the guest's script and spekctl write to, up to 12 MiB each, and what the kernel has for them.
_PROGRAMS = 32 * MIB
_SIZES = {"M": MIB, "G": 1 << 30}
_HEAD_BYTES = 0x300
_GZIP = b"\x1f\x8b"
# Where the kernel is, and how much it takes: offsets in the image.
_X86_MAGIC, _X86_LOADED, _X86_TAKEN = 0x202, 0x258, 0x260
_X86_VERSION = 0x206
_X86_SINCE = 0x20A  # the version of the protocol that has both
_ARM64_MAGIC, _ARM64_TAKEN = 0x38, 0x10
# Images that say nothing, or are packed in another way, are no smaller than this.
_UNKNOWN = 32 * MIB


def parse(text: str) -> int:
    """Bytes of --memory: 512M, 2G; UsageError if it is none."""
    match = re.fullmatch(r"([1-9][0-9]{0,6})([MG])", text, re.ASCII)
    if match is None:
        raise UsageError(f"memory '{text}' is not a size; write for example 512M or 2G")
    return int(match[1]) * _SIZES[match[2]]


def check(text: str, kernel: Kernel) -> None:
    """UsageError if a guest of @kernel cannot boot in this memory."""
    least = least_of(kernel.image)
    if parse(text) < least:
        raise UsageError(
            f"--memory {text} is too little for a guest of kernel {kernel.release}, which needs at"
            f" least {-(-least // MIB)}M"
        )


def least_of(image: Path) -> int:
    """Bytes of memory without which a guest of this kernel cannot get to its command."""
    try:
        with open(image, "rb") as file:
            head = file.read(_HEAD_BYTES)
    except OSError:
        head = b""
    if head.startswith(_GZIP):
        head = _unpacked(head)
    return _kernel(head.ljust(_HEAD_BYTES, b"\0")) + _PROGRAMS


def _unpacked(data: bytes) -> bytes:
    """The beginning of what gzip has packed."""
    try:
        return zlib.decompressobj(wbits=31).decompress(data, _HEAD_BYTES)
    except zlib.error:
        return b""


def _kernel(head: bytes) -> int:
    """Bytes up to the end of what the kernel takes before it runs."""
    (version,) = struct.unpack_from("<H", head, _X86_VERSION)
    if head.startswith(b"HdrS", _X86_MAGIC) and version >= _X86_SINCE:
        (loaded,) = struct.unpack_from("<Q", head, _X86_LOADED)
        (taken,) = struct.unpack_from("<I", head, _X86_TAKEN)
        return int(loaded) + int(taken)
    if head.startswith(b"ARM\x64", _ARM64_MAGIC):
        (taken,) = struct.unpack_from("<Q", head, _ARM64_TAKEN)
        return max(int(taken), _UNKNOWN)
    return _UNKNOWN
