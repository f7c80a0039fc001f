# SPDX-License-Identifier: GPL-2.0
"""spek-daq beside a prober, in a guest."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path

from lib.daq.build import guest_program
from lib.waiting import LONG_S, eventually

from spekctl.kernel.feeds import Feed, PowerLink

MS = 1_000_000
SECOND = 1_000_000_000

if "SPEK_GUEST" not in os.environ:
    # The guest has no compiler worth waiting for.
    guest_program()


class Daq:
    """A spek-daq that runs; what it says is in a file."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self.said = folder / "said"
        with self.said.open("wb") as errors:
            command = [str(guest_program()), *arguments]
            self.process = subprocess.Popen(command, stderr=errors, stdout=subprocess.DEVNULL)

    def feed(self, name: str) -> Feed:
        """Its feed, as soon as every rail but silent ones has something."""

        def find() -> Feed | None:
            assert self.process.poll() is None, self.said.read_text()
            with PowerLink() as link:
                feeds = [entry for entry in link.feeds() if entry.name == name and entry.is_open]
            return feeds[0] if feeds and feeds[0].watermark_ns else None

        feed = eventually(find, f"the feed {name} has brought nothing")
        assert isinstance(feed, Feed)
        return feed

    def until(self, name: str, seconds: float) -> Feed:
        """Its feed, when that has come so much further than it is now, or than its beginning."""
        return self.reach(name, self.feed(name).watermark_ns + int(seconds * SECOND))

    def reach(self, name: str, end_ns: int) -> Feed:
        """Its feed, when that has come so far."""
        feed: Feed = eventually(
            lambda: (now := self.feed(name)).watermark_ns >= end_ns and now,
            f"the feed {name} does not go on",
        )
        return feed

    def until_said(self, words: str) -> None:
        """It has reported that, and continues."""
        eventually(
            lambda: words in self.said.read_text() or self.process.poll() is not None,
            f"it does not say: {words}",
        )
        assert self.process.poll() is None, self.said.read_text()

    def end(self, number: signal.Signals = signal.SIGTERM) -> str:
        """End it; what it has said."""
        self.process.send_signal(number)
        code = self.process.wait(timeout=LONG_S)
        expected = 0 if number is signal.SIGTERM else -number
        assert code == expected, self.said.read_text()
        return self.said.read_text()


@contextmanager
def running(folder: Path, *arguments: str) -> Iterator[Daq]:
    """spek-daq with these arguments; ended at the end if it still runs."""
    daq = Daq(folder, *arguments)
    try:
        yield daq
    finally:
        if daq.process.poll() is None:
            daq.process.kill()
            daq.process.wait()


def refused(*arguments: str, prefix: tuple[str, ...] = ()) -> tuple[int, str]:
    """(exit code, what it said) of a spek-daq that ends by itself."""
    command = [*prefix, str(guest_program()), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=LONG_S)
    return done.returncode, done.stderr


def triangle_joules(low_w: int, high_w: int, period_ns: int, start: int, end: int) -> Fraction:
    """Energy of triangle:low:high:period, whose phase is CLOCK_MONOTONIC's."""
    half = period_ns // 2
    rise = Fraction(high_w - low_w, half)

    def until(t: int) -> Fraction:
        whole, phase = divmod(t, period_ns)
        first, second = min(phase, half), max(phase - half, 0)
        return (
            Fraction(whole * period_ns * (low_w + high_w), 2)
            + low_w * first
            + rise * first**2 / 2
            + high_w * second
            - rise * second**2 / 2
        )

    return (until(end) - until(start)) / SECOND
