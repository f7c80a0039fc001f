# SPDX-License-Identifier: GPL-2.0
"""All runs in the kernel with their counters."""

from __future__ import annotations

from dataclasses import replace

import pytest
from lib.ctl.command_line import Spekctl, run_ok
from lib.fakes.kernel import FakeKernel, other_run

from spekctl.errors import NotPermittedError, error_from_errno
from spekctl.kernel.records import RunState
from spekctl.run import scrape


def test_a_run_that_is_deleted_meanwhile_is_left_out(spekctl: Spekctl, kernel: FakeKernel) -> None:
    run_ok(spekctl)
    kernel.deleted = False
    kernel.refuse["stats"] = error_from_errno(2, "There is no run with this number.", "stats-get")
    assert spekctl("metrics").out == ""


@pytest.mark.parametrize("state", RunState)
def test_only_runs_that_have_begun_have_counters(
    state: RunState, kernel: FakeKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel.others = [replace(other_run(3, 250, 0), state=state)]
    monkeypatch.setattr(kernel, "stats", lambda run: [f"cells of {run}"])
    ((info, cells),) = scrape.runs(kernel)
    assert info.id == 3
    begun = state not in (RunState.OPENING, RunState.READY, RunState.FAILED)
    assert [str(one) for one in cells] == (["cells of 3"] if begun else [])


def test_runs_are_in_the_order_of_their_numbers(kernel: FakeKernel) -> None:
    kernel.others = [
        replace(other_run(number, 250, 0), state=RunState.READY) for number in (9, 2, 5)
    ]
    assert [info.id for info, _ in scrape.runs(kernel)] == [2, 5, 9]


def test_other_refusals_are_not_hidden(kernel: FakeKernel) -> None:
    kernel.others = [other_run(3, 250, 0)]
    kernel.refuse["stats"] = error_from_errno(1, "not permitted", "stats-get")
    with pytest.raises(NotPermittedError):
        scrape.runs(kernel)
