# SPDX-License-Identifier: GPL-2.0
"""What is kept of the events of a run: a bounded part, evenly spread, whatever its length."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import pairwise

import pytest

from spekctl.web.course import OLD_BYTES, OLD_ROWS, OTHERS, RECENT_BYTES, RECENT_ROWS, Course, Frame

DAYS_3 = 72 * 3600


def rows(number: int, values: Sequence[object]) -> Frame:
    data = {"event": "rows", "clock": {"elapsed_s": number}, "rows": values}
    return Frame(number, "rows", json.dumps(data).encode())


def followed(seconds: int, text: str = "") -> Course:
    """A run of so many seconds with a row in each."""
    course = Course()
    course.add(Frame(1, "started", b"{}"))
    for at in range(seconds):
        course.add(rows(at + 2, [[at, text]]), 1)
    return course


def shown(course: Course, number: int = 0) -> list[int]:
    """Rows that a page gets which has seen up to @number."""
    frames = [json.loads(frame.data) for frame in course.after(number) if frame.name == "rows"]
    return [row[0] for frame in frames for row in frame["rows"]]


@pytest.mark.parametrize("seconds", [0, 1, RECENT_ROWS, RECENT_ROWS + OLD_ROWS])
def test_a_short_run_is_kept_whole(seconds: int) -> None:
    assert shown(followed(seconds)) == list(range(seconds))


def test_three_days_are_few_events_and_rows_evenly_spread() -> None:
    course = followed(DAYS_3)
    assert len(course.after(0)) <= RECENT_ROWS + 2
    row_numbers = shown(course)
    old, recent = row_numbers[:-RECENT_ROWS], row_numbers[-RECENT_ROWS:]
    assert recent == list(range(DAYS_3 - RECENT_ROWS, DAYS_3))
    assert OLD_ROWS / 2 < len(old) <= OLD_ROWS
    assert {after - before for before, after in pairwise(old)} == {64}
    assert old[0] == 0 and recent[0] - old[-1] <= 64
    numbers = [frame.number for frame in course.after(0)]
    assert numbers == sorted(set(numbers)) and numbers[-1] == course.last == DAYS_3 + 1


def test_a_page_that_comes_back_gets_what_it_lacks() -> None:
    course = followed(20_000)
    assert shown(course, course.last) == []
    assert shown(course, course.last - 5) == list(range(19_995, 20_000))
    whole = shown(course)
    for number in (2, 5_000, 18_000, 19_500):
        # Row n has the number n + 2.
        assert shown(course, number) == [at for at in whole if at + 2 > number]


def test_wide_rows_are_bounded_by_their_bytes() -> None:
    course = followed(6_000, "x" * 20_000)
    kept = sum(len(frame.data) for frame in course.after(0))
    assert kept <= RECENT_BYTES + OLD_BYTES + 100_000
    assert shown(course)[-1] == 5_999 and shown(course)[0] == 0


def test_events_of_many_rows_and_of_none_count_by_their_rows() -> None:
    course = Course()
    at = 0
    for number in range(1, 3_001):
        count = 10 if number % 3 else 0
        course.add(rows(number, [[at + offset] for offset in range(count)]), count)
        at += count
    row_numbers = shown(course)
    assert (
        len(row_numbers) <= RECENT_ROWS + OLD_ROWS
        and row_numbers[0] == 0
        and row_numbers[-1] == at - 1
    )
    assert len(course.after(0)) <= RECENT_ROWS + 1
    # A run that closes no interval still has a clock.
    for number in range(3_001, 9_001):
        course.add(rows(number, []), 0)
    assert len(course.after(0)) <= RECENT_ROWS + 1
    assert json.loads(course.after(8_999)[0].data)["clock"] == {"elapsed_s": 9_000}


def test_other_events_are_bounded_but_for_the_start() -> None:
    course = followed(10)
    for number in range(100, 100 + 3 * OTHERS):
        course.add(Frame(number, "host", b"{}"))
    frames = course.after(0)
    assert frames[0].name == "started" and frames[-1].number == course.last
    assert len(frames) == OTHERS + 10


def test_a_new_run_begins_with_nothing() -> None:
    course = followed(10_000)
    course.clear()
    assert course.after(0) == [] and course.last == 0
    course.add(rows(20_000, [[0], [1]]), 2)
    assert shown(course) == [0, 1]
