# SPDX-License-Identifier: GPL-2.0
"""What tests of programs wait for, and programs that end before or after it."""

from __future__ import annotations

from pathlib import Path

import pytest
from lib.daq.program import HANG_S, running


def test_what_came_true_before_the_end_has_come_true(tmp_path: Path) -> None:
    with running(tmp_path, "echo", "it") as ran:
        assert ran.process.wait(HANG_S) == 0
        ran.until(lambda: ran.out == "it\n", "nothing is said")


def test_an_end_before_it_fails_at_once(tmp_path: Path) -> None:
    with running(tmp_path, "sh", "-c", "echo why >&2") as ran:
        with pytest.raises(AssertionError, match="why"):
            ran.until(lambda: ran.out == "it\n", "nothing is said")
        assert ran.process.returncode == 0
