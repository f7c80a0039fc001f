# SPDX-License-Identifier: GPL-2.0
"""The nearest valid name is offered, and none where nothing is near."""

from __future__ import annotations

import pytest

from spekctl.suggest import did_you_mean

NAMES = ("spc1", "spc2", "random-read-4k", "sequential-write-1m")


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        ("spc3", "; did you mean 'spc2'?"),
        ("random-raed-4k", "; did you mean 'random-read-4k'?"),
        ("sequential", "; did you mean 'sequential-write-1m'?"),
        ("xyzzy", ""),
        ("", ""),
    ],
)
def test_the_nearest_name_is_offered(wrong: str, text: str) -> None:
    assert did_you_mean(wrong, iter(NAMES)) == text
