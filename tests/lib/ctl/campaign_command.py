# SPDX-License-Identifier: GPL-2.0
"""What tests of campaigns share: their reports, which are what their schema says, and Ctrl-C."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lib.ctl.schemas import validator
from lib.fakes.queue_kernel import QueueKernel

from spekctl.workload.config import RunConfig


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
