# SPDX-License-Identifier: GPL-2.0-or-later
"""When a run starts: a time given by the user as CLOCK_MONOTONIC, for the kernel."""

from __future__ import annotations

import datetime
import re
import time
from dataclasses import dataclass
from enum import Enum

from spekctl import units
from spekctl.errors import UsageError

_MONO = re.compile(r"mono:(\d{1,19})", re.ASCII)
_EXAMPLES = "write for example +5s, mono:123456789000 or 2026-01-31T12:00:00Z"
_SECOND = 10**9


class Base(Enum):
    """Base of a start time."""

    ARMING = "the moment at which the run is armed"
    MONOTONIC = "CLOCK_MONOTONIC"
    WALL = "CLOCK_REALTIME"


@dataclass(frozen=True, slots=True)
class StartAt:
    """A start time as given; @ns of its base."""

    base: Base
    ns: int

    def mono_ns(self) -> int:
        """CLOCK_MONOTONIC of the start, by the current clocks; UsageError before boot."""
        now_ns = time.monotonic_ns()
        if self.base is Base.MONOTONIC:
            at_ns = self.ns
        elif self.base is Base.ARMING:
            at_ns = now_ns + self.ns
        else:
            at_ns = now_ns + self.ns - time.time_ns()
        if at_ns <= 0:
            raise UsageError("the start time is before the boot of this machine")
        return at_ns


def parse(text: str) -> StartAt:
    """``+5s``, ``mono:123456789`` or an ISO 8601 time, local unless it names an offset."""
    if text.startswith("+"):
        ns = units.parse_duration_ns(text[1:], bare_seconds=True)
        if not ns:
            raise UsageError("a start time must lie in the future: +0s is not")
        return StartAt(Base.ARMING, ns)
    if match := _MONO.fullmatch(text):
        return StartAt(Base.MONOTONIC, int(match.group(1)))
    try:
        wall = datetime.datetime.fromisoformat(text).astimezone(datetime.UTC)
    except (ValueError, OverflowError) as error:
        raise UsageError(f"'{text}' is not a start time; {_EXAMPLES}") from error
    since = wall - datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
    return StartAt(
        Base.WALL, (since.days * 86400 + since.seconds) * _SECOND + since.microseconds * 1000
    )
