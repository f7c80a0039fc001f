# SPDX-License-Identifier: GPL-2.0
"""spekctl status: the runs of this machine."""

from __future__ import annotations

import dataclasses
import os

import pytest
from lib.ctl.command_line import Spekctl
from lib.fakes.kernel import FakeKernel, other_claim, other_run
from lib.fakes.prober import SECOND, FakeProber

from spekctl.errors import ExitCode, NoKernelSideError
from spekctl.kernel import client, prober
from spekctl.kernel.records import ClaimState, ProbeState


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


def test_the_probe_is_told(
    spekctl: Spekctl, kernel: FakeKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = FakeProber()
    monkeypatch.setattr(prober, "Prober", lambda: fake)
    assert spekctl("status").out == ""
    fake.start(SECOND // 2)
    assert spekctl("status").out == (
        "probe 4 of process 77 (spekctl) samples: 1 rows, one every 500ms\n"
    )
    fake.start(SECOND, detached=True)
    fake.state = ProbeState.DONE
    assert spekctl("status").out == (
        "probe 4 of `spekctl prober start --detach` has ended: 1 rows, one every 1s\n"
    )
    assert spekctl("status", "--json").out == "[]\n"


def test_the_probe_is_told_without_the_module_of_runs(
    spekctl: Spekctl, monkeypatch: pytest.MonkeyPatch
) -> None:
    def connect() -> FakeKernel:
        raise NoKernelSideError("the kernel module spek is not loaded")

    fake = FakeProber()
    monkeypatch.setattr(client, "connect", connect)
    monkeypatch.setattr(prober, "Prober", lambda: fake)
    refused = spekctl("status")
    assert (refused.code, refused.sentence) == (
        ExitCode.NO_KERNEL_SIDE,
        "the kernel module spek is not loaded",
    )
    fake.start(SECOND, detached=True)
    assert spekctl("status").out.startswith("probe 4 of ")
