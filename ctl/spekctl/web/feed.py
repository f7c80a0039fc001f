# SPDX-License-Identifier: GPL-2.0-or-later
"""Events of a server's runs for its pages.

Every event has a number. A page that connects or reconnects gets the events of the current run that
it lacks. Numbers begin at 1 with each server, so they carry the server's name.
"""

from __future__ import annotations

import secrets
import threading
from typing import Any

import msgspec

from spekctl.web.course import Course, Frame


class Feed:
    """Passes events from any thread to any thread."""

    def __init__(self) -> None:
        self.name = secrets.token_hex(4)
        self._news = threading.Condition()
        # _news protects the fields below.
        self._course = Course()  # the current run's
        self._number = 0
        self._open = True

    def after(self, number: int, timeout_s: float) -> list[Frame] | None:
        """Events of the current run after @number. Waits for at least one event, @timeout_s at
        most, and then returns []; None at the end of the session."""

        def has_news() -> bool:
            return not self._open or self._course.last > number

        with self._news:
            self._news.wait_for(has_news, timeout_s)
            return self._course.after(number) if self._open else None

    def tell(self, name: str, value: Any, rows: int = 0) -> None:
        """Add an event. @rows: number of its rows, for an event `rows`."""
        data = msgspec.json.encode(value)
        with self._news:
            self._number += 1
            self._course.add(Frame(self._number, name, data), rows)
            self._news.notify_all()

    def forget(self) -> None:
        """Drop the events of the last run: pages that connect from now on do not get them."""
        with self._news:
            self._course.clear()

    def end(self) -> None:
        """End all waits for events."""
        with self._news:
            self._open = False
            self._news.notify_all()
