# SPDX-License-Identifier: GPL-2.0
"""What the core of the cache costs: entries that a look-up looks at, instructions per bio and those
of recovery."""

from __future__ import annotations

import shutil

import pytest
from bench.augment_cost import (
    BIO_KINDS,
    PATTERNS,
    build,
    chains,
    instructions,
    recovery,
    recovery_per_block,
)
from lib.build.budget import above

# Entries for each head of the hash are 1 to 2, so that 2 are looked at on average if blocks
# are spread as by chance, and 11 or 12 in the longest chain of a million.
MEAN_MAX = 2.05
LONGEST = 16

# What was measured and a few per cent.
BUDGET = {
    "read that hits, the caller's own": 320,
    "read of 16 blocks that hits, the caller's own": 1960,
    "read that hits, depth 1": 960,
    "read that hits, depth 32": 915,
    "read of 16 blocks that hits, depth 32": 2550,
    "read that misses, depth 32": 880,
    "write, depth 32": 1675,
    "write of 16 blocks, depth 32": 4000,
    "flush of nothing": 320,
}
RECOVERY_BUDGET = {
    "a block of the SSD": 12,
    "a record of a block": 1090,
    "a record of 32 blocks": 4600,
}


@pytest.mark.parametrize("pattern", PATTERNS)
def test_entries_looked_at_do_not_grow_with_the_map(pattern: str) -> None:
    program = build()
    # As many entries for each head: 32 times the blocks have 32 times the heads.
    small, large = (chains(program, blocks, pattern) for blocks in (30_000, 960_000))

    assert large.hit <= 1.1 * small.hit
    assert large.hit <= MEAN_MAX and large.miss <= MEAN_MAX
    assert large.longest <= LONGEST
    # With 43 KiB and the caller's buffers, this is all its memory.
    assert large.bytes_per_block <= 16.1


counts = pytest.mark.skipif(
    shutil.which("valgrind") is None, reason="valgrind is not installed: apt-get install valgrind"
)


@counts
def test_instructions_of_a_bio() -> None:
    program = build()
    costs = {title: instructions(program, *kind) for title, kind in BIO_KINDS.items()}

    print(costs)
    assert BUDGET.keys() == costs.keys()
    assert above(costs, BUDGET) == {}


@counts
def test_instructions_of_recovery() -> None:
    costs = recovery(build())

    print(costs)
    assert RECOVERY_BUDGET.keys() == costs.keys()
    assert above(costs, RECOVERY_BUDGET) == {}


@counts
def test_recovery_is_linear_in_the_size_of_the_ssd() -> None:
    """So that what a block takes says what 1 TB takes."""
    small, large = recovery_per_block(build())

    assert large == pytest.approx(small, rel=0.02)
