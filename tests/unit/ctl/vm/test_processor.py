# SPDX-License-Identifier: GPL-2.0
"""Guests that count instructions have a processor each, as far as there are any."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from spekctl.vm.processor import Processor

WHERE = "import os; print(sorted(os.sched_getaffinity(0)), os.sched_getscheduler(0))"


def where(processor: Processor) -> str:
    """The processors and the policy of what is started."""
    command = [*processor.command(), sys.executable, "-c", WHERE]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def test_a_command_runs_on_its_processor_and_does_not_interrupt() -> None:
    processor = Processor()
    assert where(processor) == f"[{processor.number}] {os.SCHED_BATCH}"
    processor.close()


def test_where_all_are_taken_the_scheduler_chooses() -> None:
    ours = sorted(os.sched_getaffinity(0))
    taken = [Processor() for _ in ours]
    assert sorted(processor.number for processor in taken if processor.number is not None) == ours
    late = Processor()
    assert late.command() == []
    assert where(late) == f"{ours} {os.sched_getscheduler(0)}"
    for processor in [*taken, late]:
        processor.close()
    after = Processor()
    assert after.number is not None
    after.close()


@pytest.mark.parametrize("policy", [os.SCHED_IDLE, os.SCHED_RR])
def test_another_policy_is_kept(monkeypatch: pytest.MonkeyPatch, policy: int) -> None:
    """An ordinary user may not leave it."""
    monkeypatch.setattr(os, "sched_getscheduler", lambda pid: policy)
    processor = Processor()
    assert processor.command() == ["taskset", "-c", str(processor.number)]
    processor.close()
