# SPDX-License-Identifier: GPL-2.0
"""Whether a kernel's command line says that its clock counts instructions."""

from __future__ import annotations

import pytest

from spekctl.vm.clock import OPTION, counts_instructions


@pytest.mark.parametrize(
    ("line", "counts"),
    [
        (OPTION, True),
        (f"BOOT_IMAGE=/vmlinuz {OPTION}\n", True),
        (f"quiet\t{OPTION} panic=-1", True),
        ("", False),
        ("quiet", False),
        (f"{OPTION}-not", False),
        (f"x{OPTION}", False),
        (OPTION.replace("instructions", "host"), False),
    ],
)
def test_only_the_whole_word_says_so(line: str, counts: bool) -> None:
    assert counts_instructions(line) is counts
