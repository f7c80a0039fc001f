# SPDX-License-Identifier: GPL-2.0
"""spekctl status: the runs of this machine."""

from __future__ import annotations

from lib.ctl.command_line import Spekctl
from lib.fakes.kernel import FakeKernel, other_run


def test_status_is_a_table(spekctl: Spekctl, kernel: FakeKernel) -> None:
    kernel.others = [other_run(3, 8, 0)]
    head, row = spekctl("status").out.splitlines()
    assert head.split()[:4] == ["run", "workload", "state", "elapsed"]
    assert row.split()[:6] == ["3", "random-read-4k", "ramp-up", "0:01", "0:59", "fake0"]
