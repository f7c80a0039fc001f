# SPDX-License-Identifier: GPL-2.0
"""Reports of the SPC-1-like test as documents."""

from __future__ import annotations

from pathlib import Path

import pytest
from lib.ctl.campaign_command import queue_kernel
from lib.ctl.command_line import Spekctl
from lib.ctl.spc1_command import WRITE
from lib.fakes.queue_kernel import QueueKernel

from spekctl.documents import curve, spc1
from spekctl.documents.curve import Load
from spekctl.errors import UsageError

kernel = pytest.fixture(queue_kernel)


def test_a_report_is_no_curve_and_a_curve_no_report(spekctl: Spekctl, kernel: QueueKernel) -> None:
    spekctl(*WRITE, "--folder", "t", "--max-bsu", "2")
    with pytest.raises(UsageError, match="is a report of `spekctl spc1`; expected a load curve"):
        curve.load_curve(Path("t/report.json"))
    with pytest.raises(
        UsageError,
        match="is the state of a test of `spekctl spc1`; expected a",
    ):
        spc1.load_report(Path("t/state.json"))
    assert spc1.load_report(Path("t/report.json")).search.points[0].load == Load("bsu", 1)
