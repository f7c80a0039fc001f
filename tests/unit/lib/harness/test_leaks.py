# SPDX-License-Identifier: GPL-2.0
"""What counts as a leak where a driver loses memory of its own."""

from __future__ import annotations

from lib.harness.leaks import lost_each_time

ROUNDS = 20


def test_one_object_a_round_is_seen() -> None:
    growth = {"kmalloc-8": [20, 21, 20], "kmalloc-64": [90, 0, 40], "kmalloc-96": [-3, 2, 19]}
    assert set(lost_each_time(growth, {}, ROUNDS)) == {"kmalloc-8"}


def test_it_is_seen_beside_a_driver_that_loses_more() -> None:
    others = {"kmalloc-8": [120, 121, 120], "kmalloc-16": [20, 20, 20]}
    growth = {"kmalloc-8": [140, 141, 140], "kmalloc-16": [20, 20, 21]}
    assert set(lost_each_time(growth, others, ROUNDS)) == {"kmalloc-8"}


def test_what_shrinks_without_us_is_no_loss_of_ours() -> None:
    assert not lost_each_time({"kmalloc-192": [0, 0, 0]}, {"kmalloc-192": [-40, -5, 0]}, ROUNDS)
