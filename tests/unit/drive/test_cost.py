"""What a request costs, in instructions, compiled as the kernel compiles it."""

from __future__ import annotations

import shutil

import pytest
from bench.drive_cost import LOOPS, build, instructions
from lib.build.budget import above

# What was measured and a few per cent.
BUDGET = {
    "drive, 1 arm, depth 1": 2050,
    "drive, 1 arm, SPTF over 32": 6800,
    "drive, 4 arms, SPTF over 32": 11900,
}


@pytest.mark.skipif(
    shutil.which("valgrind") is None, reason="valgrind is not installed: apt-get install valgrind"
)
def test_cost_of_a_request() -> None:
    program = build()
    costs = {name: instructions(program, *loop, 5000) for name, loop in LOOPS.items()}
    assert BUDGET.keys() == costs.keys()
    assert above(costs, BUDGET) == {}
