# SPDX-License-Identifier: GPL-2.0
"""Hosts that are lost, silent or fail, and how the run of all ends then."""

from __future__ import annotations

import re
import signal
from typing import Any

import pytest
from lib.fakes.fleet import CHRONY, SILENT
from lib.fakes.fleet_coordinator import CALM, Clock, Rig

from spekctl.errors import ExitCode, HostLostError
from spekctl.fleet import clock, wire
from spekctl.fleet import coordinator as module
from spekctl.fleet.clock import Bound, Distance
from spekctl.fleet.clocks import PINGS
from spekctl.fleet.patience import Patience
from spekctl.fleet.wire import Verb

SECOND = 10**9


def test_the_time_of_a_loss_does_not_depend_on_a_clock_that_is_set(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = Clock()
    monkeypatch.setattr(module, "time", now)
    distances = iter([Distance(0, 100), Distance(3600 * SECOND, 100)])
    monkeypatch.setattr(clock, "distance", lambda: next(distances))
    rig = Rig('on_loss = "continue"')
    rig["b"].says = rig["a"].says = ()

    def pass_time() -> None:
        now.now_s += 40
        rig.engine.now_ns += 3600 * SECOND
        if not rig["b"].is_gone:
            rig.engine.lose("b")
            rig.engine.say("a", [wire.Done(0, "done")])

    rig.engine.on_idle = pass_time
    outcome = rig.run()
    assert outcome.text.startswith("incomplete: b lost at 38.0 s: ")
    assert "the clock of the controller was set by 3600 s forward during the run" in (
        outcome.remarks
    )


def test_a_host_that_is_silent_is_lost() -> None:
    rig = Rig()
    rig["b"].says = ()
    rig["b"].answers[Verb.STATUS] = SILENT
    rig["b"].answers[Verb.CONFIRM] = SILENT
    outcome = rig.run()
    assert outcome.code is ExitCode.HOST_LOST and "b lost at" in outcome.text
    assert "it has been silent for" in outcome.text


@pytest.mark.parametrize("holds", [False, True])
def test_a_controller_that_was_paused_takes_no_host_for_silent(
    monkeypatch: pytest.MonkeyPatch, holds: bool
) -> None:
    """As by a debugger, or in a guest that was paused: it could hear of nobody meanwhile."""
    now = Clock()
    rig = Rig(patience=Patience(join_s=0, collect_s=0, release_s=0))
    monkeypatch.setattr(module, "time", now)
    for host in rig.hosts.values():
        host.says = ()
    pauses: list[float] = []

    def pause() -> None:
        now.now_s += 12
        pauses.append(now.now_s)
        if not holds and len(pauses) == 3:
            for name in rig.hosts:
                rig.engine.say(name, [wire.Done(0, "the run completed")])

    rig.engine.on_idle = pause
    if holds:
        coordinator = rig.coordinator()
        coordinator.check()
        coordinator.prepare()
        coordinator.hold(lambda: len(pauses) >= 3)
    else:
        assert rig.run().code is ExitCode.OK
    assert len(pauses) == 3


def test_a_host_that_is_silent_is_lost_though_the_controller_was_paused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = Clock()
    rig = Rig(patience=Patience(join_s=0, collect_s=0, release_s=0))
    monkeypatch.setattr(module, "time", now)
    rig["b"].says = ()
    rig["b"].answers[Verb.STATUS] = SILENT
    steps = iter([12.0])

    def pass_time() -> None:
        now.now_s += next(steps, 1.0)

    rig.engine.on_idle = pass_time
    outcome = rig.run()
    assert outcome.code is ExitCode.HOST_LOST
    assert outcome.losses[0].reason == "it has been silent for 11 s"
    # The pause, and more than ten looks after it.
    assert now.now_s == 1000 + 12 + 11


def test_a_run_that_fails_on_one_host_stops_the_others() -> None:
    rig = Rig()
    rig["b"].says, rig["b"].code = (wire.Done(1, "the device is gone"),), 1
    rig["b"].text = "the device is gone"
    rig["a"].says = rig["c"].says = ()
    outcome = rig.run()
    assert rig.asked(Verb.STOP) == ["a", "c"] and outcome.losses == []
    assert outcome.code is ExitCode.RUN_FAILED
    assert outcome.text == "the run of a host has failed: b: the device is gone"


@pytest.mark.parametrize(
    ("says", "after_stop", "ends"),
    [
        # What a host has that was stopped, but not because of that, counts as well.
        (1, ExitCode.DATA_ERRORS, (ExitCode.DATA_ERRORS, "a: mismatches")),
        (1, ExitCode.RUN_FAILED, (ExitCode.RUN_FAILED, "b: ended early")),
        (6, ExitCode.INTERRUPTED, (ExitCode.DATA_ERRORS, "b: ended early")),
        (6, ExitCode.RUN_FAILED, (ExitCode.DATA_ERRORS, "b: ended early")),
        (99, ExitCode.INTERRUPTED, (ExitCode.RUN_FAILED, "b: ended early")),
    ],
)
def test_the_worst_failure_of_those_that_were_not_stopped_is_that_of_the_fleet(
    says: int, after_stop: ExitCode, ends: tuple[ExitCode, str]
) -> None:
    rig = Rig()
    rig["b"].says, rig["b"].code = (wire.Done(says, "ended early"),), says
    rig["b"].text = "ended early"
    rig["a"].says = rig["c"].says = ()
    rig["a"].after_stop = (wire.Done(int(after_stop), "mismatches"),)
    outcome = rig.run()
    assert (outcome.code, outcome.text) == (ends[0], f"the run of a host has failed: {ends[1]}")


@pytest.mark.parametrize(
    ("is_lost", "is_interrupted", "rest"),
    [
        (True, False, "; incomplete: c lost at"),
        (False, True, "; the run was stopped early"),
        (True, True, "; incomplete: c lost at"),
    ],
)
def test_data_errors_come_before_a_loss_and_before_ctrl_c(
    is_lost: bool, is_interrupted: bool, rest: str
) -> None:
    rig = Rig('on_loss = "continue"')
    mismatches = wire.Done(int(ExitCode.DATA_ERRORS), "3 wrong blocks")
    if is_interrupted:
        rig["a"].says, rig["a"].after_stop, rig["b"].says = (), (mismatches,), ()
        rig.engine.on_idle = lambda: rig.interrupts.interrupt(signal.SIGINT)
    else:
        rig["a"].says, rig["a"].code, rig["a"].text = (mismatches,), 6, mismatches.text
    if is_lost:
        rig["c"].says, rig["c"].lost_after = (), True
    outcome = rig.run()
    assert outcome.code is ExitCode.DATA_ERRORS
    assert outcome.text.startswith(f"the run of a host has failed: a: 3 wrong blocks{rest}")


def test_data_errors_count_of_a_host_whose_result_is_missing() -> None:
    rig = Rig('on_loss = "continue"')
    rig["b"].says = (wire.Done(int(ExitCode.DATA_ERRORS), "3 wrong blocks"),)
    rig["b"].answers[Verb.RESULT] = HostLostError("it is lost")
    outcome = rig.run()
    assert outcome.code is ExitCode.DATA_ERRORS
    said = "the run of a host has failed: b: 3 wrong blocks; incomplete: b lost at"
    assert outcome.text.startswith(said) and [loss.host for loss in outcome.losses] == ["b"]


@pytest.mark.parametrize(
    ("after", "strays_ns", "text"),
    [
        (
            Bound(3_000_000, "chrony"),
            0,
            "b: at the end its clock may be off by 3.00 ms (chrony), and the plan has max_skew ="
            " 1.00 ms; before the start it was 100 us",
        ),
        (
            Bound(None, "the kernel's clock is not synchronized"),
            0,
            "b: at the end the error of its clock is unknown (the kernel's clock is not"
            " synchronized), and the plan has max_skew = 1.00 ms; before the start it was 100 us",
        ),
        (
            CHRONY,
            -2_000_000,
            "b: at the end its clock is 2.00 ms or more behind the controller's; synchronize both"
            " with chrony or PTP; before the start it was 100 us",
        ),
    ],
)
def test_a_clock_that_has_left_max_skew_by_the_end_is_told(
    after: Bound, strays_ns: int, text: str
) -> None:
    rig = Rig('max_skew = "1ms"')
    rig["b"].clock_after, rig["b"].strays_by_ns = after, strays_ns
    outcome = rig.run()
    assert (outcome.code, outcome.text) == (ExitCode.LIMIT_MISSED, text)
    assert outcome.remarks[-1] == rig.view.notes[-1] == text
    (b,) = [part for part in outcome.parts if part.name == "b"]
    assert b.skew_before is not None and b.skew_after is not None
    assert (b.skew_before.ns, b.skew_after.ns) == (0, strays_ns)
    # A plan without the limit asks for nothing.
    free = Rig()
    free["b"].clock_after = after
    assert free.run().code is ExitCode.OK


def test_a_clock_that_leaves_max_skew_while_it_runs_is_told_at_once() -> None:
    rig = Rig('max_skew = "1ms"', patience=CALM)
    host = rig["b"]
    host.says, host.strays_by_ns = (), 2_000_000

    def look() -> None:
        if any("ahead" in note for note in rig.view.notes):
            # It is right again by the end.
            host.strays_by_ns = 0
            rig.engine.say("b", [wire.Done(0, "done")])

    rig.engine.on_idle = look
    outcome = rig.run()
    assert outcome.code is ExitCode.LIMIT_MISSED and outcome.remarks[-1] == outcome.text
    assert re.fullmatch(
        r"b: at -?\d+\.\d s its clock is 2\.00 ms or more ahead of the controller's; synchronize"
        r" both with chrony or PTP",
        outcome.text,
    )


def test_what_failed_comes_before_a_clock_that_left_max_skew() -> None:
    rig = Rig('max_skew = "1ms"')
    rig["a"].clock_after = Bound(3_000_000, "chrony")
    rig["b"].says, rig["b"].code = (wire.Done(1, "the device is gone"),), 1
    rig["b"].text = "the device is gone"
    outcome = rig.run()
    assert outcome.code is ExitCode.RUN_FAILED
    said = "the run of a host has failed: b: the device is gone; a: at the end its clock may be off"
    assert outcome.text.startswith(said)


def test_a_host_that_is_lost_after_its_result_hides_no_clock() -> None:
    rig = Rig('max_skew = "1ms"')
    pings: list[bytes] = []

    def ping(payload: bytes) -> Any:
        pings.append(payload)
        if len(pings) > PINGS:
            return HostLostError("it is lost")
        return wire.Pong(rig.engine.now_ns, rig.engine.now_ns)

    rig["a"].answers[Verb.PING] = ping
    rig["c"].clock_after = Bound(3_000_000, "chrony")
    outcome = rig.run()
    assert outcome.code is ExitCode.LIMIT_MISSED and outcome.text.startswith("c: at the end")
    assert len(pings) == PINGS + 1
    assert [part.skew_after is not None for part in outcome.parts] == [False, True, True]


def test_without_a_stop_the_worst_failure_is_that_of_the_fleet() -> None:
    rig = Rig('on_loss = "continue"')
    for name, code in (("a", ExitCode.RUN_FAILED), ("c", ExitCode.DATA_ERRORS)):
        rig[name].says, rig[name].code = (wire.Done(int(code), "ended"),), int(code)
        rig[name].text = f"as {code.name}"
    outcome = rig.run()
    assert rig.asked(Verb.STOP) == [] and outcome.code is ExitCode.DATA_ERRORS
    assert outcome.text == "the run of a host has failed: c: as DATA_ERRORS"


@pytest.mark.parametrize("on_loss", ["stop", "continue"])
def test_a_host_that_is_lost_between_arming_and_the_start_is_told_with_its_time(
    on_loss: str,
) -> None:
    """All are armed by then: without a stop the others start on time, and none is dropped."""
    rig = Rig(f'on_loss = "{on_loss}"')
    rig["b"].lost_when = Verb.CONFIRM
    if on_loss == "stop":
        for name in "ac":
            rig[name].says = ()
    outcome = rig.run()
    assert outcome.code is ExitCode.HOST_LOST
    (loss,) = outcome.losses
    assert loss.host == "b" and loss.at_s < 0
    assert rig.asked(Verb.STOP) == (["a", "c"] if on_loss == "stop" else [])
    assert rig.asked(Verb.RESULT) == rig.asked(Verb.RELEASE) == ["a", "c"]
