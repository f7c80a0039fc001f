# SPDX-License-Identifier: GPL-2.0
"""All runs in the kernel with their counters."""

from __future__ import annotations

from dataclasses import replace

import pytest
from lib.ctl.command_line import Spekctl, run_ok
from lib.fakes.kernel import FakeKernel, other_run
from lib.fakes.prober import SECOND, FakeProber

from spekctl.errors import NoKernelSideError, NotPermittedError, error_from_errno
from spekctl.kernel import prober
from spekctl.kernel.records import RunState
from spekctl.run import scrape


@pytest.fixture(autouse=True)
def fake(monkeypatch: pytest.MonkeyPatch) -> FakeProber:
    """A prober without a probe."""
    fake = FakeProber()
    monkeypatch.setattr(prober, "Prober", lambda: fake)
    return fake


def missing() -> FakeKernel:
    raise NoKernelSideError("the kernel module spek is not loaded")


def test_the_latest_row_of_the_probe_comes_with_the_runs(
    kernel: FakeKernel, fake: FakeProber
) -> None:
    assert scrape.everything(lambda: kernel).probe is None
    fake.start(SECOND)
    fake.seq = 500
    scraped = scrape.everything(lambda: kernel)
    assert scraped.probe is not None and scraped.probe.rows == 501
    assert scraped.probe.tables["cpu"]["0"]["switches"] == 250_000
    assert set(scraped.probe.tables["power"]) == {"psu/12V", "psu/5V"}
    assert scraped.probe.levels["memory"] == {"available_bytes", "swap_free_bytes"}
    # A second of rows, not all that are kept.
    assert fake.asked == [498]
    assert fake.calls[-1] == "close"


def test_a_probe_without_a_row_has_none_yet(kernel: FakeKernel, fake: FakeProber) -> None:
    fake.start(SECOND)
    fake.seq = -1
    scraped = scrape.everything(lambda: kernel)
    assert scraped.probe is not None and scraped.probe.tables == {}


def test_late_power_does_not_hide_the_other_tables(kernel: FakeKernel, fake: FakeProber) -> None:
    fake.start(SECOND)
    fake.seq, fake.power_is_late = 5, True
    probe = scrape.everything(lambda: kernel).probe
    assert probe is not None and probe.tables["cpu"]["0"]["switches"] == 2500


def test_a_probe_that_is_deleted_meanwhile_is_left_out(
    kernel: FakeKernel, fake: FakeProber
) -> None:
    fake.start(SECOND)
    fake.gone = True
    assert scrape.everything(lambda: kernel).probe is None


def test_each_module_is_enough(fake: FakeProber, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(NoKernelSideError, match="spek is not loaded"):
        scrape.everything(missing)
    fake.start(SECOND)
    assert scrape.everything(missing).runs == []

    def without() -> FakeProber:
        raise NoKernelSideError("the kernel module spek_prober is not loaded")

    monkeypatch.setattr(prober, "Prober", without)
    with pytest.raises(NoKernelSideError, match="spek is not loaded"):
        scrape.everything(missing)
    assert scrape.everything(FakeKernel).probe is None


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
    ((info, cells),) = scrape.everything(lambda: kernel).runs
    assert info.id == 3
    begun = state not in (RunState.OPENING, RunState.READY, RunState.FAILED)
    assert [str(cell) for cell in cells] == (["cells of 3"] if begun else [])


def test_runs_are_in_the_order_of_their_numbers(kernel: FakeKernel) -> None:
    kernel.others = [
        replace(other_run(number, 250, 0), state=RunState.READY) for number in (9, 2, 5)
    ]
    assert [info.id for info, _ in scrape.everything(lambda: kernel).runs] == [2, 5, 9]


def test_other_refusals_are_not_hidden(kernel: FakeKernel) -> None:
    kernel.others = [other_run(3, 250, 0)]
    kernel.refuse["stats"] = error_from_errno(1, "not permitted", "stats-get")
    with pytest.raises(NotPermittedError):
        scrape.everything(lambda: kernel)
