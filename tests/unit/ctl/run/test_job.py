# SPDX-License-Identifier: GPL-2.0
"""Signals during a run: counted, told apart, and given back."""

from __future__ import annotations

import os
import signal

import pytest

from spekctl.errors import ExitCode
from spekctl.run.job import Interrupts


@pytest.mark.parametrize(
    ("signals", "code"),
    [
        ([signal.SIGINT], ExitCode.INTERRUPTED),
        ([signal.SIGTERM], ExitCode.TERMINATED),
        ([signal.SIGTERM, signal.SIGINT], ExitCode.TERMINATED),
        ([signal.SIGINT, signal.SIGTERM, signal.SIGTERM], ExitCode.INTERRUPTED),
    ],
)
def test_the_first_signal_decides_the_exit_code(
    signals: list[signal.Signals], code: ExitCode
) -> None:
    with Interrupts() as interrupts:
        for signum in signals:
            os.kill(os.getpid(), signum)
    assert (interrupts.count, interrupts.exit_code) == (len(signals), code)


def test_the_handlers_from_before_come_back() -> None:
    before = [signal.getsignal(signum) for signum in (signal.SIGINT, signal.SIGTERM)]
    with pytest.raises(RuntimeError), Interrupts():
        assert signal.getsignal(signal.SIGINT) is not before[0]
        raise RuntimeError
    assert [signal.getsignal(signum) for signum in (signal.SIGINT, signal.SIGTERM)] == before
