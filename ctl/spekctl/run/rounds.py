# SPDX-License-Identifier: GPL-2.0-or-later
"""Repeated work beside a run, such as asking a disk: first before the start, last after the end. It
has a thread of its own, because a disk that does not answer must not hold up the run."""

from __future__ import annotations

import threading
from collections.abc import Callable

from spekctl.errors import SpekError

# Time for the round under way to end.
PATIENCE_S = 5.0


class Rounds:
    """Calls @work every @interval_ns, once at the start, and once more at the end."""

    def __init__(self, work: Callable[[], None], interval_ns: int, name: str) -> None:
        """@name: name of the thread."""
        self._work = work
        self._interval_ns = interval_ns
        self._name = name
        self._thread: threading.Thread | None = None
        self._has_begun = threading.Event()
        self._end = threading.Event()
        self.is_last = False  # the round under way, for @work
        self.is_held_up = False
        self.failure: SpekError | OSError | None = None  # why the rounds ended early

    def start(self) -> bool:
        """Begin, and wait up to PATIENCE_S for the first round. Return: whether it is over."""
        self._thread = threading.Thread(target=self._follow, name=self._name, daemon=True)
        self._thread.start()
        return self._has_begun.wait(PATIENCE_S)

    def _follow(self) -> None:
        try:
            while True:
                self._work()
                self._has_begun.set()
                if self.is_last:
                    return
                # A round that began before the end is not the last one.
                self.is_last = self._end.wait(self._interval_ns / 1e9)
        except (SpekError, OSError) as error:
            self.failure = error
        finally:
            self._has_begun.set()

    def end(self) -> None:
        """Begin the last round."""
        self._end.set()

    def close(self) -> None:
        """End the thread, unless a disk holds it up."""
        self._end.set()
        thread, self._thread = self._thread, None
        if thread is not None:
            thread.join(PATIENCE_S)
            self.is_held_up = thread.is_alive()
