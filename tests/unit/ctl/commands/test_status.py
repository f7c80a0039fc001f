# SPDX-License-Identifier: GPL-2.0
"""spekctl status: the runs of this machine."""

from __future__ import annotations

import dataclasses
import os

from lib.ctl.command_line import Spekctl
from lib.fakes.kernel import FakeKernel, other_claim, other_run

from spekctl.kernel.records import ClaimState


def test_status_is_a_table(spekctl: Spekctl, kernel: FakeKernel) -> None:
    kernel.others = [other_run(3, 8, 0)]
    head, row = spekctl("status").out.splitlines()
    assert head.split()[:4] == ["run", "workload", "state", "elapsed"]
    assert row.split()[:6] == ["3", "random-read-4k", "ramp-up", "0:01", "0:59", "fake0"]


def test_a_claim_between_two_runs_is_told(spekctl: Spekctl, kernel: FakeKernel) -> None:
    kernel.claimed[2] = other_claim(2, 250, 0)
    kernel.claimed[3] = dataclasses.replace(other_claim(3, 250, 1), runs=1)  # its run says so
    kernel.claimed[4] = dataclasses.replace(other_claim(4, 250, 2), state=ClaimState.CLOSING)
    mine = dataclasses.replace(other_claim(5, 250, 3), owner_pid=os.getpid())
    kernel.claimed[5] = mine
    *others, owned = spekctl("status").out.splitlines()
    assert owned.startswith(f"claim 5 of process {os.getpid()} (")
    assert owned.endswith(") has no run at present and holds fake3")
    assert others == [
        "claim 2 of a command has no run at present and holds fake0",
        "claim 4 of a command is closing fake2",
    ]
