# SPDX-License-Identifier: GPL-2.0-or-later
"""Polls hosts from a thread of its own while the controller does other work, so that they do not
take it for gone."""

from __future__ import annotations

import threading
from collections.abc import Callable


class Leash:
    """Calls @poll, which asks hosts for their status, every @period_s seconds."""

    def __init__(self, poll: Callable[[], None], period_s: float) -> None:
        self._poll = poll
        self._period_s = period_s
        self._thread: threading.Thread | None = None
        self._ended = threading.Event()

    def hold(self) -> None:
        """Begin. Until slip(), @poll belongs to the thread."""
        self.slip()
        self._ended.clear()
        self._thread = threading.Thread(target=self._carry_out, name="leash", daemon=True)
        self._thread.start()

    def slip(self) -> None:
        """End, after a poll that is under way. A second call does nothing."""
        self._ended.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def _carry_out(self) -> None:
        while not self._ended.wait(self._period_s):
            self._poll()
