# SPDX-License-Identifier: GPL-2.0
"""A run on several hosts: together or not at all, and nobody is lost silently."""

from __future__ import annotations

import dataclasses
import signal
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from lib.fakes.fleet import GIB, REFUSED, SILENT, FakeHost, device
from lib.fakes.fleet_coordinator import CALM, HURRY, Clock, Rig
from lib.fakes.kernel import interval_cell

from spekctl import __version__
from spekctl.errors import ExitCode, HostLostError, RefusedError, SpekError
from spekctl.fleet import carrier, wire
from spekctl.fleet import coordinator as module
from spekctl.fleet.clock import Bound
from spekctl.fleet.coordinator import seed_of
from spekctl.fleet.wire import Verb
from spekctl.kernel.records import IntervalRow, Phase
from spekctl.log.tally import Tally
from spekctl.run.beside import Stage
from spekctl.workload import file

OWN = """
[workload]
name = "own"
summary = "two asus"
[[asu]]
name = "a"
device = "wwn:naa.1"
[[asu]]
name = "b"
[[stream]]
name = "s"
asu = "a"
size = "4KiB"
"""
SECOND = 10**9


def row(seq: int) -> IntervalRow:
    return IntervalRow(
        seq=seq,
        phase=Phase.MEASURE,
        start_ns=seq * SECOND,
        end_ns=(seq + 1) * SECOND,
        outstanding=1,
        backlog=0,
        worker_cpu_ns=0,
        worker_switches=0,
        read=interval_cell(ios=5),
        write=interval_cell(),
        streams=[(5, 4096 * 5, 0, 0)],
    )


def logged(records: int, **changes: Any) -> wire.Logged:
    counted = Tally(SECOND, records, 0, 0, 1, 2, [], [])
    return msgspec.structs.replace(wire.Logged(__version__, "mine", 1, 1, counted), **changes)


def test_all_hosts_run_with_one_start() -> None:
    rig = Rig()
    outcome = rig.run()
    assert (outcome.code, outcome.text) == (ExitCode.OK, "3 hosts completed the run")
    starts = {host.armed.start_real_ns for host in rig.hosts.values() if host.armed is not None}
    assert starts == {outcome.start_real_ns} == {rig.engine.now_ns + 2 * SECOND}
    for host in rig.hosts.values():
        verbs = list(dict.fromkeys(host.asked))
        assert [verb for verb in verbs if verb != Verb.STATUS] == [
            *(Verb.PING, Verb.DESCRIBE, Verb.CLAIM, Verb.ARM, Verb.CONFIRM),
            *(Verb.RESULT, Verb.RELEASE),
        ]
        assert host.asked.count(Verb.CLAIM) == host.asked.count(Verb.ARM) == 1
        assert host.claimed is not None
        assert host.claimed.devices == [
            wire.DeviceAsked(seen.path, seen.facts) for seen in host.devices
        ]


def test_hosts_have_seeds_of_their_own_that_follow_from_the_fleets() -> None:
    rig = Rig("seed = 9")
    rig.run()
    seeds = [host.claimed.seed for host in rig.hosts.values() if host.claimed is not None]
    assert seeds == [seed_of(9, place) for place in range(3)]
    assert len(set(seeds)) == 3 and all(0 <= seed < 1 << 63 for seed in seeds)
    assert seed_of(9, 0) != seed_of(8, 0)


def test_the_lead_grows_with_the_round_trips() -> None:
    rig = Rig()
    coordinator = rig.coordinator()
    coordinator.check()
    coordinator.prepare()
    coordinator.clocks.worst_s = 0.5
    coordinator.arm()
    armed = rig["a"].armed
    assert armed is not None and armed.start_real_ns == rig.engine.now_ns + 10 * SECOND


def test_the_lead_grows_with_the_time_that_all_hosts_take() -> None:
    rig = Rig()
    coordinator = rig.coordinator()
    coordinator.check()
    coordinator.prepare()
    coordinator.clocks.round_s = 3.0
    coordinator.arm()
    armed = rig["a"].armed
    assert armed is not None and armed.start_real_ns == rig.engine.now_ns + 12 * SECOND


def describe(rig: Rig, host: str, **changes: Any) -> None:
    rig[host].answers[Verb.DESCRIBE] = rig[host].described(**changes)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        (
            {"version": "0.0.9"},
            f"b: it has spekctl 0.0.9 (protocol {wire.PROTOCOL}), and the controller",
        ),
        ({"protocol": 99}, "(protocol 99), and the controller"),
        ({"fleet": "f-2"}, "b: it is of another fleet, f-2"),
        ({"name": "c"}, "b: it says that it is c"),
        ({"trouble": "the kernel module spek is not loaded"}, "b: the kernel module spek is not"),
        ({"devices": [device(in_use="mounted on /srv")]}, "b: /dev/fake0 is in use: mounted on"),
    ],
)
def test_a_host_that_cannot_take_part_is_named_before_anything_is_claimed(
    changes: dict[str, Any], sentence: str
) -> None:
    rig = Rig()
    describe(rig, "b", **changes)
    error = rig.refused()
    assert sentence in error.message and error.exit_code is ExitCode.REFUSED
    assert rig.asked(Verb.CLAIM) == rig.asked(Verb.RELEASE) == []


def test_all_that_cannot_take_part_are_named_at_once() -> None:
    rig = Rig()
    describe(rig, "a", trouble="no sudo")
    describe(rig, "c", version="9")
    message = rig.refused().message
    assert "a: no sudo; c: it has spekctl 9" in message


def test_a_client_with_another_module_is_refused_before_anything_is_claimed() -> None:
    rig = Rig()
    describe(rig, "c", module_version="0.2")
    assert rig.refused().message == (
        "c: it has spek.ko 0.2, and a 0.1; load the same version on all clients"
    )
    assert rig.asked(Verb.CLAIM) == []


@pytest.mark.parametrize(
    ("bound", "sentence"),
    [
        (Bound(None, "no chrony"), "b: the error of its clock is unknown (no chrony), and the"),
        (Bound(1_000_001, "chrony"), "b: its clock may be off by 1.00 ms (chrony), and the plan"),
    ],
)
def test_a_clock_that_cannot_promise_max_skew_is_refused(bound: Bound, sentence: str) -> None:
    rig = Rig('max_skew = "1ms"')
    rig["b"].clock = bound
    assert sentence in rig.refused().message
    assert rig.asked(Verb.CLAIM) == []


def test_without_max_skew_any_promise_will_do() -> None:
    rig = Rig()
    rig["b"].clock = Bound(None, "no chrony")
    assert rig.run().code is ExitCode.OK


@pytest.mark.parametrize(
    ("off_ns", "extra", "sentence"),
    [
        (SECOND, (), "or more ahead of the controller's"),
        (-SECOND, (), "or more behind the controller's"),
        (2_000_000, ('max_skew = "1ms"',), "2.00 ms or more ahead of"),
        (2_000_000, (), ""),
    ],
)
def test_a_clock_that_is_plainly_wrong_is_refused(
    off_ns: int, extra: tuple[str, ...], sentence: str
) -> None:
    rig = Rig(*extra)
    rig["c"].clock_off_ns = off_ns
    if sentence:
        assert "c: its clock is " in (message := rig.refused().message) and sentence in message
    else:
        assert rig.run().code is ExitCode.OK


@pytest.mark.parametrize(
    ("set_by_ns", "extra", "sentence"),
    [
        (3600 * SECOND, (), "3600 s or more ahead of the controller's"),
        (-SECOND, (), "1.00 s or more behind the controller's"),
        (2_000_000, ('max_skew = "1ms"',), "2.00 ms or more ahead of the controller's"),
        (2_000_000, (), ""),
    ],
)
def test_a_clock_that_is_set_after_the_check_calls_the_start_off_everywhere(
    set_by_ns: int, extra: tuple[str, ...], sentence: str
) -> None:
    """Its host would start at that time of its own clock: an hour later, or in the past."""
    rig = Rig(*extra)
    rig["c"].set_by_ns = set_by_ns
    if not sentence:
        assert rig.run().code is ExitCode.OK
        return
    text = (
        f"c: its clock is {sentence}; it was set, or drifted, after the check; synchronize both"
        " with chrony or PTP; the start is called off"
    )
    assert text in rig.refused().message
    assert rig.asked(Verb.CONFIRM) == [] and rig.asked(Verb.RELEASE) == ["a", "b", "c"]


def test_a_clock_that_has_drifted_refuses_the_next_step() -> None:
    """By 20 ppm in eight hours."""
    rig = Rig()
    coordinator = rig.coordinator()
    coordinator.check()
    coordinator.prepare("read")
    rig["b"].clock_off_ns = 576_000_000
    text = "b: its clock is 576 ms or more ahead of the controller's; synchronize both with chrony"
    with pytest.raises(RefusedError, match=text):
        coordinator.again(coordinator.plan)
    assert rig.asked(Verb.STEP) == []


@pytest.mark.parametrize(
    ("answer", "sentence", "code"),
    [
        (REFUSED, "b: /dev/fake0 is in use: mounted on /srv", ExitCode.REFUSED),
        (SILENT, "b: it has not answered in time", ExitCode.HOST_LOST),
        (OSError("reset"), "b: it cannot be reached: reset", ExitCode.HOST_LOST),
        (HostLostError("it is lost"), "b: it is lost", ExitCode.HOST_LOST),
    ],
)
def test_a_claim_that_fails_on_one_host_leaves_none(
    answer: Any, sentence: str, code: ExitCode
) -> None:
    rig = Rig()
    rig["b"].answers[Verb.CLAIM] = answer
    error = rig.refused()
    assert sentence in error.message and error.exit_code is code
    assert rig.asked(Verb.RELEASE) == ["a", "b", "c"] and rig.asked(Verb.ARM) == []


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (SILENT, "c: it has not answered in time; the start is called off"),
        (wire.Fault(2, "the start is in the past"), "c: the start is in the past"),
        (HostLostError("it is lost"), "c: it is lost"),
    ],
)
def test_a_start_that_one_host_does_not_take_is_called_off_everywhere(
    answer: Any, sentence: str
) -> None:
    rig = Rig(patience=dataclasses.replace(HURRY, lead_s=0.51))
    rig["c"].answers[Verb.ARM] = answer
    assert sentence in rig.refused().message
    assert rig.asked(Verb.CONFIRM) == []
    assert rig.asked(Verb.RELEASE) == ["a", "b", "c"]


@pytest.mark.parametrize("verb", [Verb.PING, Verb.DESCRIBE, Verb.CLAIM, Verb.ARM])
def test_a_host_that_is_lost_before_the_start_ends_all(verb: Verb) -> None:
    rig = Rig()
    rig["b"].lost_when = verb
    error = rig.refused()
    assert "b: it is lost" in error.message or error.message == "it is lost"
    assert error.exit_code is ExitCode.HOST_LOST
    assert rig.asked(Verb.CONFIRM) == []
    if verb in (Verb.CLAIM, Verb.ARM):
        assert {"a", "c"} <= set(rig.asked(Verb.RELEASE))


def test_a_host_that_is_lost_in_mid_run_stops_the_others() -> None:
    rig = Rig()
    rig["b"].says, rig["b"].lost_after = (), True
    rig["a"].says = rig["c"].says = ()
    outcome = rig.run()
    assert outcome.code is ExitCode.HOST_LOST
    assert outcome.text == "incomplete: b lost at -2.0 s: its connection has ended"
    assert rig.asked(Verb.STOP) == ["a", "c"] and rig.asked(Verb.RESULT) == ["a", "c"]
    assert [loss.host for loss in outcome.losses] == ["b"]
    assert any("stopping all hosts, because of b" in text for text in rig.view.notes)


def test_the_others_continue_without_it_if_the_plan_says_so() -> None:
    rig = Rig('on_loss = "continue"')
    rig["b"].says, rig["b"].lost_after = (), True
    outcome = rig.run()
    assert outcome.code is ExitCode.HOST_LOST and rig.asked(Verb.STOP) == []
    assert [part.collected is not None for part in outcome.parts] == [True, False, True]


@pytest.mark.parametrize("answer", [SILENT, REFUSED, HostLostError("it is lost")])
def test_a_result_that_is_missing_makes_it_incomplete(answer: Any) -> None:
    rig = Rig()
    rig["c"].answers[Verb.RESULT] = answer
    outcome = rig.run()
    assert outcome.code is ExitCode.HOST_LOST
    assert "c lost at" in outcome.text and "its result is missing" in outcome.text
    assert rig.asked(Verb.RELEASE) == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (SILENT, "it has not answered in time"),
        (wire.Fault(1, "3 I/Os are still outstanding"), "3 I/Os are still outstanding"),
    ],
)
def test_devices_that_are_not_said_to_be_free_are_told(answer: object, told: str) -> None:
    rig = Rig()
    rig["b"].answers[Verb.RELEASE] = answer
    outcome = rig.run()
    sentence = f"b has not said that its devices are free: {told}"
    assert (outcome.code, outcome.text) == (ExitCode.RUN_FAILED, sentence)
    assert outcome.remarks[-1] == rig.view.notes[-1] == sentence


def test_why_a_run_has_failed_comes_before_devices_that_are_not_free() -> None:
    rig = Rig()
    rig["a"].code = int(ExitCode.DATA_ERRORS)
    rig["b"].answers[Verb.RELEASE] = SILENT
    outcome = rig.run()
    assert outcome.code is ExitCode.DATA_ERRORS
    assert outcome.remarks[-1].startswith("b has not said that its devices are free")


def test_a_host_that_is_slow_is_asked_one_question_at_a_time() -> None:
    rig = Rig(hosts="ab", patience=dataclasses.replace(HURRY, claim_s=0.2, status_s=0.01))
    rig["a"].answers |= {Verb.CLAIM: SILENT, Verb.STATUS: SILENT}
    assert "a: it has not answered in time" in rig.refused().message
    assert rig["a"].asked.count(Verb.STATUS) == 1 < rig["b"].asked.count(Verb.STATUS)


def test_a_host_whose_answer_is_on_its_way_is_kept_on_its_leash() -> None:
    rig = Rig(hosts="a", patience=dataclasses.replace(HURRY, claim_s=3600, again_s=0, look_s=0.01))

    def status(payload: bytes) -> Any:
        if rig["a"].asked.count(Verb.STATUS) == 3:
            rig.interrupts.interrupt(signal.SIGINT)
        return SILENT

    rig["a"].answers |= {Verb.CLAIM: SILENT, Verb.STATUS: status}
    assert rig.refused().exit_code is ExitCode.INTERRUPTED


@pytest.mark.parametrize(
    ("stepped_ns", "sentence"),
    [
        (5_000_000, "the clock of b was set by 5.00 ms forward during the run"),
        (-(10**9), "the clock of b was set by 1.00 s back during the run"),
    ],
)
def test_a_clock_that_was_set_marks_the_run(stepped_ns: int, sentence: str) -> None:
    rig = Rig()
    rig["b"].stepped_ns = stepped_ns
    assert sentence in rig.run().remarks


def test_ctrl_c_stops_all_and_keeps_their_results() -> None:
    rig = Rig()
    for host in rig.hosts.values():
        host.says = ()
    rig.engine.on_idle = lambda: rig.interrupts.interrupt(signal.SIGINT)
    outcome = rig.run()
    assert rig.asked(Verb.STOP) == rig.asked(Verb.RESULT) == ["a", "b", "c"]
    assert (outcome.code, outcome.losses) == (ExitCode.INTERRUPTED, [])


def test_ctrl_c_is_obeyed_while_a_host_says_more_than_is_taken(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(carrier, "TAKE_MOST", 100)
    rig = Rig(hosts="a")
    rig["a"].says = [wire.Note("more")] * 500
    taken: list[int] = []

    def stop(payload: bytes) -> None:
        taken.append(rig.view.notes.count("a: more"))

    rig["a"].answers[Verb.CONFIRM] = lambda payload: rig.interrupts.interrupt(signal.SIGINT)
    rig["a"].answers[Verb.STOP] = stop
    assert rig.run().code is ExitCode.INTERRUPTED
    assert (taken, rig.view.notes.count("a: more")) == ([100], 500)


def test_a_second_ctrl_c_asks_again() -> None:
    rig = Rig(hosts="a")
    rig["a"].says = rig["a"].after_stop = ()

    def again() -> None:
        rig.interrupts.interrupt(signal.SIGINT)
        if rig["a"].asked.count(Verb.STOP) == 2:
            rig.engine.say("a", [wire.Done(130, "left")])

    rig.engine.on_idle = again
    assert rig.run().code is ExitCode.INTERRUPTED
    assert rig["a"].asked.count(Verb.STOP) == 2


def test_ctrl_c_before_the_start_frees_what_is_claimed() -> None:
    rig = Rig()

    def interrupt(payload: bytes) -> Any:
        rig.interrupts.interrupt(signal.SIGTERM)
        return wire.Claimed("x")

    rig["c"].answers[Verb.CLAIM] = interrupt
    error = rig.refused()
    assert error.exit_code is ExitCode.TERMINATED
    assert rig.asked(Verb.ARM) == [] and rig.asked(Verb.RELEASE) == ["a", "b", "c"]


def test_ctrl_c_after_the_time_of_the_start_does_not_say_that_no_io_was_sent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = Clock()
    monkeypatch.setattr(module, "time", now)
    rig = Rig()
    arms = rig["c"].answer

    def late(payload: bytes) -> Any:
        del rig["c"].answers[Verb.ARM]
        answer = arms(Verb.ARM, payload, rig.engine.now_ns)
        now.now_s += 3600
        rig.interrupts.interrupt(signal.SIGINT)
        return answer

    rig["c"].answers[Verb.ARM] = late
    error = rig.refused()
    assert error.exit_code is ExitCode.INTERRUPTED
    assert "may have sent I/O" in error.message and "no host has" not in error.message


def test_rows_and_notes_are_shown_with_their_hosts() -> None:
    rig = Rig(hosts="a")
    rig["a"].says = (wire.Note("no prober"), wire.Done(0, "done"))
    rig.run()
    assert "a: no prober" in rig.view.notes


def test_what_a_lost_host_says_later_changes_nothing() -> None:
    rig = Rig('on_loss = "continue"')
    rig["b"].says, rig["b"].lost_after = (), True

    def late() -> None:
        rig.engine.say("b", [wire.Done(0, "done")])
        rig.engine.say("a", [wire.Done(0, "done")])

    rig["a"].says = ()
    rig.engine.on_idle = late
    outcome = rig.run()
    assert [loss.host for loss in outcome.losses] == ["b"]


def test_a_target_is_stopped_when_the_last_load_has_ended() -> None:
    rig = Rig('[[host]]\nname = "t"\nrole = "target"', hosts="ab")
    target = FakeHost("t", devices=(), says=(), after_stop=(wire.Done(0, "watched"),))
    coordinator = rig.coordinator()
    rig.engine.named = {**rig.hosts, "t": target}
    outcome = coordinator.carry_out()
    assert outcome.code is ExitCode.OK and Verb.STOP in target.asked
    assert rig.asked(Verb.STOP) == []
    assert target.claimed is not None and target.claimed.role == "target"


def claims(rig: Rig) -> list[wire.Claim]:
    rig.run()
    return [host.claimed for host in rig.hosts.values() if host.claimed is not None]


def test_a_shared_device_is_split() -> None:
    rig = Rig('share = "split"')
    for host in rig.hosts.values():
        host.devices = (device(wwn="naa.1"),)
    slices = [claim.slices for claim in claims(rig)]
    assert [part[0].start for part in slices] == [0, 341 << 20, 682 << 20]
    assert sum(part[0].bytes for part in slices) == GIB


def test_devices_of_their_own_are_whole() -> None:
    assert [claim.slices for claim in claims(Rig('share = "split"'))] == [[], [], []]


def test_a_device_that_an_asu_has_of_its_own_is_called_what_the_host_calls_it() -> None:
    workload = file.parse(OWN)
    rig = Rig()
    coordinator = rig.coordinator()
    coordinator.plan = dataclasses.replace(coordinator.plan, workload=workload)
    for name, host in rig.hosts.items():
        host.devices = (device(f"/dev/own-{name}", selector="wwn:naa.1"), device())
    coordinator.carry_out()
    for name, host in rig.hosts.items():
        assert host.claimed is not None
        (own, striped) = file.parse(host.claimed.toml).asu
        assert (own.device, striped.device) == (f"/dev/own-{name}", None)


def test_rows_of_a_host_are_kept_for_its_loss() -> None:
    rig = Rig('on_loss = "continue"')
    rig["b"].says = [wire.Intervals([row(0)]), wire.Intervals([row(1)])]
    rig["b"].lost_after = True
    outcome = rig.run()
    (lost,) = [part for part in outcome.parts if part.loss is not None]
    assert [each.seq for each in lost.rows] == [0, 1] and len(lost.rows) == 2


def test_without_room_for_rows_the_run_continues_and_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def full(*given: object, **more: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("tempfile.TemporaryFile", full)
    monkeypatch.setattr("spekctl.fleet.spool.MEMORY_MAX", 0)
    rig = Rig()
    rig["a"].says = [wire.Intervals([row(0)]), wire.Intervals([row(1)]), wire.Done(0, "")]
    outcome = rig.run()
    sentence = "report intervals cannot be kept for hosts that may be lost: No space left on device"
    assert outcome.code is ExitCode.OK and rig.view.notes.count(sentence) == 1
    assert sentence in outcome.remarks


def test_a_host_that_leaves_before_it_gives_its_devices_back_is_named() -> None:
    rig = Rig()
    coordinator = rig.coordinator()
    collect = coordinator.collect

    def collect_and_lose() -> None:
        collect()
        rig.engine.lose("b")

    coordinator.collect = collect_and_lose  # type: ignore[method-assign]
    outcome = coordinator.carry_out()
    sentence = "b has not said that its devices are free: it is lost"
    assert (outcome.code, outcome.text) == (ExitCode.RUN_FAILED, sentence)
    assert sentence in rig.view.notes and sentence in outcome.remarks
    assert rig.asked(Verb.RELEASE) == ["a", "c"]


def logs(rig: Rig) -> dict[str, wire.Logged]:
    question = wire.Log("x", "", "all", SECOND)
    return rig.coordinator().logs(dict.fromkeys(rig.hosts, question))


def test_logs_are_counted_by_all_hosts() -> None:
    rig = Rig()
    for place, host in enumerate(rig.hosts.values()):
        host.answers[Verb.LOG] = logged(place)
    assert {name: answer.tally.records for name, answer in logs(rig).items()} == {
        "a": 0,
        "b": 1,
        "c": 2,
    }
    assert all(host.asked == [Verb.LOG] for host in rig.hosts.values())


def test_all_hosts_whose_log_cannot_be_counted_are_told() -> None:
    rig = Rig()
    rig["a"].answers[Verb.LOG] = wire.Fault(int(ExitCode.USAGE), "there is no x")
    rig["b"].answers[Verb.LOG] = logged(1, version="0.0.1")
    rig["c"].answers[Verb.LOG] = logged(1, tally=Tally(7, 1, 0, 0, 1, 2, [], []))
    with pytest.raises(SpekError) as refusal:
        logs(rig)
    assert refusal.value.message == (
        f"a: there is no x; b: it has spekctl 0.0.1, and the controller {__version__}; install the"
        " same version everywhere; c: it has counted other intervals than were asked for"
    )


def test_a_host_that_is_lost_while_it_counts_is_not_waited_for() -> None:
    rig = Rig(hosts="ab")
    rig["a"].answers[Verb.LOG] = logged(1)
    rig["b"].answers[Verb.LOG] = SILENT
    rig.engine.on_idle = lambda: rig.engine.lose("b")
    with pytest.raises(SpekError, match=r"^b: its connection has ended$") as lost:
        logs(rig)
    assert lost.value.exit_code == ExitCode.HOST_LOST


def test_counting_logs_ends_with_ctrl_c() -> None:
    rig = Rig(hosts="a")
    rig["a"].answers[Verb.LOG] = SILENT
    rig.engine.on_idle = lambda: rig.interrupts.interrupt(signal.SIGINT)
    with pytest.raises(SpekError, match="interrupted; logs were only read") as ended:
        logs(rig)
    assert ended.value.exit_code == ExitCode.INTERRUPTED


def test_a_view_is_told_how_far_each_host_is() -> None:
    rig = Rig('on_loss = "continue"', hosts="ab")
    rig["b"].says, rig["b"].lost_after = (), True
    rig.run()
    before = [Stage.JOINED, Stage.CHECKED, Stage.CLAIMED, Stage.ARMED]
    assert rig.view.stages("a") == [*before, Stage.ENDED]
    assert rig.view.stages("b") == [*before, Stage.LOST]
    assert ("a", Stage.ENDED, "the run completed") in rig.view.reached
    assert ("b", Stage.LOST, "its connection has ended") in rig.view.reached


def test_hosts_that_have_claimed_wait_until_their_start_is_wanted() -> None:
    rig = Rig(hosts="ab", patience=CALM)
    looks: list[list[str]] = []

    def is_wanted() -> bool:
        looks.append(rig.asked(Verb.ARM))
        return len(looks) > 3

    assert rig.coordinator().carry_out(is_wanted).code is ExitCode.OK
    assert looks == [[]] * 4
    # They are kept on their leash meanwhile.
    first = rig["a"].asked.index(Verb.ARM)
    assert rig["a"].asked[:first].count(Verb.STATUS) >= 3


@pytest.mark.parametrize(
    ("happen", "sentence", "stage"),
    [
        (lambda rig: rig.engine.lose("b"), "b: its connection has ended", Stage.LOST),
        (lambda rig: rig.engine.say("b", [wire.Done(1, "no helper")]), "b: no helper", Stage.ENDED),
    ],
)
def test_a_host_that_goes_while_all_wait_ends_the_wait(
    happen: Callable[[Rig], None], sentence: str, stage: Stage
) -> None:
    rig = Rig(patience=CALM)
    rig.engine.on_idle = lambda: happen(rig)
    with pytest.raises(SpekError) as refusal:
        rig.coordinator().carry_out(lambda: False)
    assert refusal.value.message == sentence and rig.view.stages("b")[-1] is stage
    assert rig.asked(Verb.ARM) == [] and {"a", "c"} <= set(rig.asked(Verb.RELEASE))


def test_a_host_that_falls_silent_while_all_wait_ends_the_wait() -> None:
    rig = Rig()
    rig["c"].answers[Verb.STATUS] = SILENT
    with pytest.raises(HostLostError, match=r"^c: it has been silent for 0 s$"):
        rig.coordinator().carry_out(lambda: False)
    assert set(rig.asked(Verb.RELEASE)) >= {"a", "b"}


def test_the_wait_for_a_start_is_called_off() -> None:
    rig = Rig(patience=CALM)
    rig.engine.on_idle = lambda: rig.interrupts.interrupt(signal.SIGINT)
    with pytest.raises(SpekError, match="no host has sent I/O"):
        rig.coordinator().carry_out(lambda: False)
    assert rig.asked(Verb.RELEASE) == ["a", "b", "c"] and rig.asked(Verb.ARM) == []


@pytest.mark.parametrize("verb", [Verb.PING, Verb.DESCRIBE, Verb.CLAIM])
def test_who_calls_it_off_does_not_wait_for_a_host_that_hangs(verb: Verb) -> None:
    hours = dataclasses.replace(HURRY, check_s=3600, claim_s=3600, look_s=0.01)
    rig = Rig(hosts="ab", patience=hours)

    def hang(payload: bytes) -> Any:
        rig.interrupts.interrupt(signal.SIGINT)
        return SILENT

    rig["b"].answers[verb] = hang
    error = rig.refused()
    assert (error.exit_code, "no host has sent I/O" in error.message) == (130, True)
    assert rig.asked(Verb.RELEASE) == (["a", "b"] if verb is Verb.CLAIM else [])


def test_a_third_ctrl_c_does_not_wait_for_results_either() -> None:
    rig = Rig(hosts="ab", patience=dataclasses.replace(HURRY, collect_s=3600, look_s=0.01))

    def hang(payload: bytes) -> Any:
        for _ in range(3):
            rig.interrupts.interrupt(signal.SIGINT)
        return SILENT

    rig["b"].answers[Verb.RESULT] = hang
    outcome = rig.run()
    assert [loss.host for loss in outcome.losses] == ["b"]
    said = "its result is missing: it had given nothing of it when the collecting was interrupted"
    assert said in outcome.text
