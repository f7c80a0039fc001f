# SPDX-License-Identifier: GPL-2.0
"""Waiting for what others do in their own time."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

LONG_S = 300.0  # what only a hang reaches: spekctl starts in 20 s of an emulated processor


def eventually(condition: Callable[[], Any], failure: str, timeout_s: float = LONG_S) -> Any:
    """What @condition gives, as soon as it is true; else @failure."""
    end_s = time.monotonic() + timeout_s
    while not (result := condition()):
        assert time.monotonic() < end_s, failure
        time.sleep(0.01)
    return result


def comes_true(condition: Callable[[], object], timeout_s: float = LONG_S) -> bool:
    """False if that takes too long."""
    end_s = time.monotonic() + timeout_s
    while time.monotonic() < end_s:
        if condition():
            return True
        time.sleep(0.02)
    return bool(condition())
