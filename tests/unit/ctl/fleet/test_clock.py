# SPDX-License-Identifier: GPL-2.0
"""What a clock promises, and the start of a fleet by the clocks of a host."""

from __future__ import annotations

from pathlib import Path

import pytest

from spekctl.fleet import clock
from spekctl.fleet.clock import Bound, Distance, Timex

TRACKING = (
    "0A630001,10.99.0.1,9,1795865819.849,-0.000012000,0.000001,0.000002,1.5,0.001,0.05,"
    "0.000400000,0.000030000,16.0,Normal\n"
)


def test_chrony_promises_its_offset_half_its_delay_and_its_dispersion() -> None:
    assert clock.chrony_bound(TRACKING) == Bound(242_000, "chrony, stratum 9, from 10.99.0.1")


@pytest.mark.parametrize(
    "line",
    ["", "506 Cannot talk to daemon", TRACKING.replace("Normal", "Not synchronised"),
     TRACKING.replace("0.000400000", "x")],
)  # fmt: skip
def test_without_a_synchronized_chrony_there_is_no_promise_of_it(line: str) -> None:
    assert clock.chrony_bound(line) is None


def timex(status: int, maxerror: int) -> Timex:
    return Timex(status=status, maxerror=maxerror)


@pytest.mark.parametrize(
    ("state", "by_ptp", "bound_ns", "source"),
    [
        (timex(0x2001, 1500), False, 1_500_000, "the kernel, adjtimex maxerror"),
        (timex(0x2001, 20), True, 20_000, "PTP (phc2sys), adjtimex maxerror"),
        (timex(0x0040, 20), False, None, "the kernel's clock is not synchronized"),
        (timex(0, 16_000_000), False, None, "the kernel's clock is not synchronized"),
        (None, False, None, "adjtimex is not available"),
    ],
)
def test_the_kernel_promises_what_it_counts(
    state: Timex | None, by_ptp: bool, bound_ns: int | None, source: str
) -> None:
    assert clock.kernel_bound(state, by_ptp) == Bound(bound_ns, source)


def test_this_machine_says_something(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", "")
    told = clock.bound(tmp_path)
    assert told.source and (told.bound_ns is None or told.bound_ns >= 0)
    (tmp_path / "77").mkdir()
    (tmp_path / "77/comm").write_text("phc2sys\n")
    assert clock._has_phc2sys(tmp_path)


def test_chronyc_is_asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = tmp_path / "chronyc"
    program.write_text(f"#!/bin/sh\n[ \"$3\" = tracking ] && printf '%s' '{TRACKING}'\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    assert clock.bound() == Bound(242_000, "chrony, stratum 9, from 10.99.0.1")
    program.write_text("#!/bin/sh\nexit 1\n")
    assert not clock.bound().source.startswith("chrony")


def test_the_narrowest_read_counts() -> None:
    mono = iter([0, 100, 200, 204, *range(1000, 100_000, 100)])
    real = iter([1050, 1300, *range(5000, 100_000, 1000)])
    assert clock.distance(lambda: next(mono), lambda: next(real)) == Distance(1300 - 202, 4)


def test_a_start_is_the_same_moment_by_both_clocks() -> None:
    assert Distance(1_000_000, 10).mono_ns(1_000_777) == 777


@pytest.mark.parametrize(
    ("change_ns", "step_ns"),
    [(0, 0), (1_100, 0), (-1_100, 0), (5_000, 5_000), (-(10**9), -(10**9))],
)
def test_a_clock_that_was_set_is_told_from_an_inexact_read(change_ns: int, step_ns: int) -> None:
    before, after = Distance(10**18, 200), Distance(10**18 + change_ns, 200)
    assert before.step_ns(after) == step_ns
