# SPDX-License-Identifier: GPL-2.0-or-later
"""A processor of the host for a guest that counts instructions.

QEMU emulates the CPU of such a guest in one thread and its devices in another, and when the guest
idles the first waits until the second has moved the clock: the threads take turns, at each timer of
the guest. On two processors each turn wakes one that sleeps, which takes several times longer than
a change of threads on one. There, a thread that is woken should not interrupt the one that wakes
it, and which it would only wait for: batch threads do not.
"""

from __future__ import annotations

import os

from spekctl.vm.cache import claimed


class Processor:
    """One of the processors that we may use, for a guest. Other guests take others."""

    def __init__(self) -> None:
        self.number: int | None = None
        self._claim: int | None = None
        # Interrupts of the host are often served on the first ones.
        for number in sorted(os.sched_getaffinity(0), reverse=True):
            self._claim = claimed(f"processor-{number}")
            if self._claim is not None:
                self.number = number
                break

    def command(self) -> list[str]:
        """The words that start a command on it; none if other guests have all processors."""
        if self.number is None:
            return []
        command = ["taskset", "-c", str(self.number)]
        # An ordinary user may not leave some of the other policies.
        if os.sched_getscheduler(0) == os.SCHED_OTHER:
            command += ["chrt", "--batch", "0"]
        return command

    def close(self) -> None:
        """Leave it to others."""
        if self._claim is not None:
            os.close(self._claim)
            self._claim = None
