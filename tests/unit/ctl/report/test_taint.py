# SPDX-License-Identifier: GPL-2.0
"""Taint flags are named, also those that this version does not know."""

from __future__ import annotations

import pytest

from spekctl.report import taint


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "none"),
        (1, "1 (proprietary module)"),
        (512, "512 (warning)"),
        (12288, "12288 (out-of-tree module, unsigned module)"),
        (1 << 18, "262144 (test in the kernel)"),
        (1 << 30 | 128, "1073741952 (oops, later flags)"),
    ],
)
def test_flags_are_named(value: int, text: str) -> None:
    assert taint.words(value) == text
