# SPDX-License-Identifier: GPL-2.0
"""spekctl spc2 on a disk that is one queue, with short runs, and its report."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from lib.ctl import campaign_command
from lib.ctl.campaign_command import valid_report
from lib.fakes.queue_kernel import QueueKernel

from spekctl.documents import spc2

SHORT = (
    *("--ramp", "1s", "--time", "2s", "--vod-time", "4s", "--search-time", "2s"),
    *("--streams", "4", "--progress", "none"),
)
WRITE = ("spc2", "--device", "/dev/fake0", "--write", *SHORT)
READ = ("spc2", "--device", "/dev/fake0", "--parts", "ldq,vod", *SHORT)


def streams_kernel(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> QueueKernel:
    return campaign_command.queue_kernel(monkeypatch, tmp_path, capacity=100.0)


def report_of(folder: str) -> dict[str, Any]:
    """The report; valid, and readable as what it is."""
    return valid_report(Path(folder, "report.json"), spc2.SCHEMA_FILE, spc2.load_report)
