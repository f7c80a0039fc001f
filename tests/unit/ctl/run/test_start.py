# SPDX-License-Identifier: GPL-2.0
"""Start times: what is understood, what is refused, and what becomes of them."""

from __future__ import annotations

import errno
import time

import pytest

from spekctl.errors import ExitCode, UsageError, error_from_errno
from spekctl.run.start import Base, StartAt, parse

SECOND = 10**9


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("+5s", StartAt(Base.ARMING, 5 * SECOND)),
        ("+250ms", StartAt(Base.ARMING, SECOND // 4)),
        ("+3", StartAt(Base.ARMING, 3 * SECOND)),
        ("mono:123456789", StartAt(Base.MONOTONIC, 123456789)),
        ("1970-01-02T00:00:00Z", StartAt(Base.WALL, 86400 * SECOND)),
        ("1970-01-01T02:00:00.000001+01:00", StartAt(Base.WALL, 3600 * SECOND + 1000)),
        ("2026-01-31T12:00:00+00:00", StartAt(Base.WALL, 1769860800 * SECOND)),
    ],
)
def test_start_times(text: str, expected: StartAt) -> None:
    assert parse(text) == expected


def test_a_time_without_an_offset_is_local(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "UTC-2")
    time.tzset()
    try:
        assert parse("1970-01-01T03:00:00") == StartAt(Base.WALL, 3600 * SECOND)
    finally:
        monkeypatch.undo()
        time.tzset()


@pytest.mark.parametrize(
    "text",
    ["", "soon", "5s", "+", "+0s", "-5s", "mono:", "mono:-1", "mono:1.5", "mono:" + "9" * 40, "12"],
)
def test_what_is_no_start_time(text: str) -> None:
    with pytest.raises(UsageError):
        parse(text)


def test_conversion_uses_the_clocks_of_the_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "monotonic_ns", lambda: 1000 * SECOND)
    monkeypatch.setattr(time, "time_ns", lambda: 5000 * SECOND)

    assert StartAt(Base.ARMING, 7).mono_ns() == 1000 * SECOND + 7
    assert StartAt(Base.MONOTONIC, 7).mono_ns() == 7
    assert StartAt(Base.WALL, 5001 * SECOND).mono_ns() == 1001 * SECOND
    # Late, but a time of this boot: the kernel side refuses it.
    assert StartAt(Base.WALL, 4999 * SECOND).mono_ns() == 999 * SECOND
    for before_boot in (StartAt(Base.WALL, 4000 * SECOND), StartAt(Base.MONOTONIC, 0)):
        with pytest.raises(UsageError, match="before the boot"):
            before_boot.mono_ns()


def test_a_time_that_has_passed_is_wrong_input() -> None:
    error = error_from_errno(errno.ETIME, "The start time has passed.", "run-start")
    assert error.exit_code is ExitCode.USAGE
