# SPDX-License-Identifier: GPL-2.0
"""spekctl spc1 on a disk that is one queue, with short phases, and its report."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lib.ctl.campaign_command import valid_report
from lib.fakes.queue_kernel import QueueKernel

from spekctl.documents import spc1

SECOND = 10**9
SHORT = (
    *("--sustain", "4s", "--iops-time", "3s", "--phase-time", "2s", "--ramp", "1s"),
    *("--search-time", "2s", "--progress", "none"),
)
WRITE = ("spc1", "--device", "/dev/fake0", "--write", *SHORT)


def report_of(folder: Path) -> dict[str, Any]:
    """The report; valid, and readable as what it is."""
    return valid_report(folder / "report.json", spc1.SCHEMA_FILE, spc1.load_report)


def bsus(kernel: QueueKernel) -> list[int]:
    return [config.streams[0].replicas for config in kernel.runs_seen]
