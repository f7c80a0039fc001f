# SPDX-License-Identifier: GPL-2.0-or-later
"""Architectures that guests can have: this machine's, and arm64, emulated, on x86-64."""

from __future__ import annotations

import platform
import re
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Architecture:
    """What its tools are called.

    @name: as Debian has it; @machine: as uname and QEMU have it
    @symbol: what its kernels are configured with
    @prefix: of the programs of a cross compiler
    @package: of Debian, with that compiler
    """

    name: str
    machine: str
    symbol: str
    prefix: str
    package: str

    @property
    def emulator(self) -> str:
        """QEMU's program."""
        return f"qemu-system-{self.machine}"


AMD64 = Architecture("amd64", "x86_64", "CONFIG_X86_64", "x86_64-linux-gnu-", "gcc")
ARM64 = Architecture(
    "arm64", "aarch64", "CONFIG_ARM64", "aarch64-linux-gnu-", "gcc-aarch64-linux-gnu"
)
ARCHITECTURES = (AMD64, ARM64)
NAMES = tuple(architecture.name for architecture in ARCHITECTURES)


def named(name: str) -> Architecture:
    """The one that Debian calls @name, which is of NAMES."""
    return next(architecture for architecture in ARCHITECTURES if architecture.name == name)


def native() -> Architecture:
    """Of this machine; x86-64 where it is none of these."""
    machine = platform.machine()
    for architecture in ARCHITECTURES:
        if architecture.machine == machine:
            return architecture
    return AMD64


def of_headers(headers: Path) -> Architecture:
    """Of a kernel, by the configuration in its headers; this machine's if there is none."""
    try:
        text = (headers / ".config").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return native()
    for architecture in ARCHITECTURES:
        if re.search(rf"(?m)^{architecture.symbol}=y", text):
            return architecture
    return native()
