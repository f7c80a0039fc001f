# SPDX-License-Identifier: GPL-2.0
"""What tests of campaigns share: the disk, their reports, which are what their schema says, and
what ends them early."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from lib.ctl.schemas import validator
from lib.fakes.machine import use_fakes
from lib.fakes.queue_kernel import QueueKernel

from spekctl.errors import SpekError
from spekctl.workload.config import RunConfig


def queue_kernel(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capacity: float = 1163.3
) -> QueueKernel:
    """A disk that is one queue and serves @capacity I/Os per second; by default 22 BSUs."""
    fake = QueueKernel(capacity=capacity)
    use_fakes(monkeypatch, fake, tmp_path)
    return fake


def valid_report(path: Path, schema: Path, load: Callable[[Path], object]) -> dict[str, Any]:
    """A report that was written; valid, and readable as what it is."""
    data: dict[str, Any] = json.loads(path.read_text())
    validator(schema).validate(data)
    load(path)
    return data


def interrupt_in_run(number: int, kernel: QueueKernel) -> None:
    """Ctrl-C when the run of this number begins."""

    def stop(config: RunConfig) -> None:
        if len(kernel.runs_seen) == number:
            os.kill(os.getpid(), signal.SIGINT)

    kernel.before_run = stop


def fail_in_run(number: int, kernel: QueueKernel) -> None:
    """The device disappears when the run of this number begins."""

    def fail(config: RunConfig) -> None:
        if len(kernel.runs_seen) == number:
            raise SpekError("the device is gone")

    kernel.before_run = fail
