# SPDX-License-Identifier: GPL-2.0
"""Tables and status lines, as the target has them."""

from __future__ import annotations

from uuid import UUID

import pytest
from lib.fakes.dmsetup import CLEAN, DIRTY, FAILED

from spekctl.augment import table
from spekctl.augment.table import Policy, Table
from spekctl.documents.augment import Mode, Wakes
from spekctl.errors import SpekError

SET = UUID("6b1f0c52-84b1-4f6b-9d57-0a3c5f6e7d80")


def test_a_table_is_a_line_and_comes_back() -> None:
    policy = Policy(copy="second", stripe_blocks=32, age_ms=60000)
    whole = Table(2048, "9:0", "8:16", ("8:1", "-"), 256, table.features(policy, SET))
    line = whole.line()
    assert line == (
        "0 2048 spek-augment 9:0 8:16 2 8:1 - 256 8 format 6b1f0c52-84b1-4f6b-9d57-0a3c5f6e7d80"
        " copy second stripe_blocks 32 age_ms 60000"
    )
    assert table.parse_table(line + "\n") == whole


def test_a_policy_without_values_has_no_words() -> None:
    assert table.features(Policy()) == ()
    every = Policy("never", "last", 8, 1, 2, 3, 4, 0, 6, 7)
    assert " ".join(table.features(every)) == (
        "copy never wake last prefetch_blocks 8 stripe_blocks 1 sequential_blocks 2 high_blocks 3"
        " low_blocks 4 age_ms 0 quiet_ms 6 retry_ms 7"
    )


@pytest.mark.parametrize(
    "line",
    ["", "0 2048 linear 8:0 0", "0 x spek-augment 9:0 8:16 1 8:1 256 0", "0 8 spek-augment 9:0"],
)
def test_other_tables_are_refused(line: str) -> None:
    with pytest.raises(SpekError, match="does not understand the table"):
        table.parse_table(line)


def test_a_status_is_taken_apart() -> None:
    state = table.parse_status(f"0 2048 spek-augment {DIRTY}")
    assert state.mode is Mode.NORMAL
    assert (state.live, state.awake, state.mirror) == (7, 6, 1)
    assert (state.dirty_blocks, state.log_used, state.log_blocks) == (12, 20, 256)
    assert (state.oldest_dirty_ms, state.hits, state.misses, state.copies) == (65000, 90, 10, 5)
    assert (state.records, state.destaged, state.flushes) == (20, 8, 3)
    assert (state.errors, state.wakes, state.lost_blocks) == (0, Wakes(1, 1, 0, 0, 0), 0)
    assert not state.is_clean


def test_bitmaps_are_hexadecimal() -> None:
    state = table.parse_status("0 8 spek-augment passing 3 1f 1e 0 0 0/256" + 16 * " 0")
    assert (state.live, state.awake) == (31, 30)


@pytest.mark.parametrize(
    ("fields", "clean"),
    [
        (CLEAN, True),
        (DIRTY, False),
        (FAILED, False),
        (CLEAN.replace("normal", "failed"), False),
        (CLEAN.replace("0/256", "1/256"), False),
    ],
)
def test_clean_is_what_needs_no_log(fields: str, clean: bool) -> None:
    assert table.parse_status(f"0 8 spek-augment {fields}").is_clean is clean


@pytest.mark.parametrize(
    "fields",
    ["", "normal 1 7", CLEAN + " 5", CLEAN.replace("normal", "asleep"), CLEAN.replace("/", "-")],
)
def test_another_status_is_refused(fields: str) -> None:
    with pytest.raises(SpekError, match="the module is of another version"):
        table.parse_status(f"0 8 spek-augment {fields}")
