# SPDX-License-Identifier: GPL-2.0-or-later
"""Serves a peer over standard input and output."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from types import FrameType
from typing import BinaryIO, Protocol

from spekctl.errors import ExitCode

SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


class Desk(Protocol):
    """Who answers."""

    def serve(self, lines: BinaryIO) -> None:
        """Answer until the input ends, then end what runs."""

    def finish(self) -> None:
        """End what runs."""


class _TerminatedError(Exception):
    """A signal has come."""


def serve(desk_on: Callable[[BinaryIO], Desk]) -> int:
    """Serve until the input ends, or SIGTERM, SIGINT or SIGHUP comes. @desk_on: who answers on this
    stream. Return: the exit code."""
    # What anything else prints must not get between the messages.
    with os.fdopen(os.dup(1), "wb") as stream:
        os.dup2(2, 1)
        desk = desk_on(stream)

        def end(signum: int, frame: FrameType | None) -> None:
            raise _TerminatedError

        for signum in SIGNALS:
            signal.signal(signum, end)
        try:
            desk.serve(sys.stdin.buffer)
        except _TerminatedError:
            for signum in SIGNALS:
                signal.signal(signum, signal.SIG_IGN)
            desk.finish()
            return int(ExitCode.TERMINATED)
        except OSError as error:
            print(f"spekctl: cannot read requests: {error.strerror}", file=sys.stderr)
            desk.finish()
            return int(ExitCode.RUN_FAILED)
    return int(ExitCode.OK)
