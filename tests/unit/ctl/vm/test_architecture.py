# SPDX-License-Identifier: GPL-2.0
"""Architectures of guests, by name, machine and kernel."""

from __future__ import annotations

import platform
from pathlib import Path

import pytest

from spekctl.vm import architecture
from spekctl.vm.architecture import AMD64, ARM64


@pytest.mark.parametrize(
    ("machine", "expected"), [("x86_64", AMD64), ("aarch64", ARM64), ("riscv64", AMD64)]
)
def test_the_machines_own(
    machine: str, expected: architecture.Architecture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(platform, "machine", lambda: machine)
    assert architecture.native() == expected


def test_names_are_debians() -> None:
    assert [architecture.named(name) for name in architecture.NAMES] == [AMD64, ARM64]
    assert ARM64.emulator == "qemu-system-aarch64"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("CONFIG_ARM64=y\n", ARM64),
        ("# CONFIG_ARM64 is not set\nCONFIG_X86_64=y\n", AMD64),
        ("CONFIG_RISCV=y\n", AMD64),
        (None, AMD64),
    ],
)
def test_a_kernel_says_what_it_is_for(
    text: str | None,
    expected: architecture.Architecture,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    if text is not None:
        (tmp_path / ".config").write_text(text)
    assert architecture.of_headers(tmp_path) == expected
