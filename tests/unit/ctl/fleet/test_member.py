# SPDX-License-Identifier: GPL-2.0
"""A host of a fleet: one run, in its order, and nothing left behind."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from lib.fakes.fleet_member import RUN, Gate, Rig, asked, patient
from lib.fakes.fleet_members import FleetKernel
from lib.fakes.kernel import FakeKernel
from lib.fakes.machine import disk
from lib.waiting import LONG_S, eventually

from spekctl import __version__
from spekctl.errors import ExitCode, NoKernelSideError, RefusedError, SpekError, UsageError
from spekctl.fleet import clock, member, selector, wire
from spekctl.fleet.clock import Distance
from spekctl.fleet.wire import Phase
from spekctl.kernel.records import RunState
from spekctl.power import span
from spekctl.run import ending
from spekctl.workload import file, override

UNCONFIRMED_S = member.UNCONFIRMED_S


@pytest.fixture
def rig(kernel: FakeKernel, monkeypatch: pytest.MonkeyPatch) -> Iterator[Rig]:
    """A host; the machine's own devices are fakes."""
    with patient(monkeypatch) as host:
        yield host


def run_to_end(rig: Rig, **changes: Any) -> wire.Collected:
    rig.claim(**changes)
    rig.arm(1)
    rig.of_run("confirm")
    eventually(rig.done, "the run has not ended")
    collected: wire.Collected = rig.of_run("result", wire.Collected)
    return collected


def test_it_says_what_it_is(rig: Rig) -> None:
    described = rig.ask("describe", wire.Describe(["wwn:naa.1"], "client"), wire.Described)
    assert (described.name, described.fleet, described.version) == ("a", "f-1", __version__)
    (seen,) = described.devices
    assert (seen.path, seen.wwn, seen.bytes, seen.in_use) == ("/dev/fake0", "naa.1", 1 << 30, "")
    assert described.trouble == "" and described.clock.source
    rig.rights.in_use = "mounted"
    again = rig.ask("describe", wire.Describe(["wwn:naa.1"], "client"), wire.Described)
    assert again.devices[0].in_use == "mounted"


@pytest.mark.parametrize(
    ("path", "in_use", "writers", "data", "unread"),
    [
        ("/dev/fake0", "", [], [], wire.Unread.NOTHING),
        ("/dev/fake0", "", [], ["ext4"], wire.Unread.NOTHING),
        ("/dev/fake0", "mounted", [], None, wire.Unread.NOTHING),
        ("/dev/fake0", "", ["dd (7) has it open"], None, wire.Unread.OPEN),
        ("/dev/fake0", "", [], None, wire.Unread.FAILED),
        ("/dev/fake9", "", [], [], wire.Unread.UNLISTED),
    ],
)
def test_it_says_whether_it_knows_what_is_on_a_device(
    rig: Rig,
    path: str,
    in_use: str,
    writers: list[str],
    data: list[str] | None,
    unread: wire.Unread,
) -> None:
    rig.rights.path, rig.rights.in_use = path, in_use
    rig.rights.writers, rig.rights.data = writers, data
    described = rig.ask("describe", wire.Describe(["wwn:naa.1"], "client"), wire.Described)
    (seen,) = described.devices
    assert (seen.unread, seen.data) == (unread, data or [])


def test_a_rest_whose_feeds_are_not_open_gives_the_devices_back(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    def connect(*wishes: object) -> Any:
        raise UsageError("no power feed is called psu")

    monkeypatch.setattr(span, "connect", connect)
    with pytest.raises(SpekError, match="no power feed is called psu"):
        rig.claim(rest_ns=10**9, holds="read", power_feeds=["psu"])
    assert rig.member.phase is Phase.RELEASED
    assert rig.kernel.claim_calls()[-1] == "claim-del"


def test_a_large_result_is_given_in_pieces(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = bytes(run_to_end(rig).document)
    monkeypatch.setattr(wire, "PIECE_BYTES", 1000)
    head: wire.Collected = rig.of_run("result", wire.Collected)
    assert (bytes(head.document), head.more_bytes) == (b"null", len(whole))
    assert head.facts is not None and head.text == "the run completed"
    pieces = [
        rig.ask("piece", wire.OfPiece(RUN, start), wire.Piece).data
        for start in range(0, len(whole) + 1000, 1000)
    ]
    assert b"".join(pieces) == whole and pieces[-1] == b""
    assert {len(piece) for piece in pieces[:-2]} == {1000}
    with pytest.raises(SpekError, match="a is not part of run r-2"):
        rig.ask("piece", wire.OfPiece("r-2", 0), wire.Piece)


def test_a_piece_of_a_run_that_has_not_ended_is_refused(rig: Rig) -> None:
    rig.claim()
    with pytest.raises(SpekError, match="there is no result of a run that is claimed"):
        rig.ask("piece", wire.OfPiece(RUN, 0), wire.Piece)


def test_it_says_where_a_partition_lies_on_its_disk(
    rig: Rig, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "start").write_text("2048\n")
    cut = disk("/dev/fake1", wwn="naa.1", partition=3, sysfs=tmp_path)
    monkeypatch.setattr(selector, "find", lambda text: cut if "part" in text else disk())
    asked_for = wire.Describe(["/dev/disk/by-id/x-part3", "serial:S123"], "client")
    described = rig.ask("describe", asked_for, wire.Described)
    told = [(seen.partition, seen.start, seen.identity) for seen in described.devices]
    assert told == [(3, 1 << 20, "partition 3 of wwn naa.1"), (0, 0, "")]


def test_it_says_why_it_cannot_take_part(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> FakeKernel:
        raise NoKernelSideError("the kernel module spek is not loaded")

    monkeypatch.setattr(rig.member, "_connect", missing)
    described = rig.ask("describe", wire.Describe(["wwn:naa.1"], "client"), wire.Described)
    assert described.trouble == "the kernel module spek is not loaded"
    assert described.lacks is wire.Lack.MODULE

    def no_sudo(on_end: object) -> Any:
        raise RefusedError("sudo: a password is required")

    monkeypatch.setattr(rig.member, "_rights", None)
    monkeypatch.setattr(rig.member, "_lend", no_sudo)
    described = rig.ask("describe", wire.Describe(["wwn:naa.1"], "client"), wire.Described)
    assert described.trouble == "sudo: a password is required"
    assert described.lacks is wire.Lack.RIGHTS


def test_it_names_every_device_that_it_does_not_have(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    def find(text: str) -> Any:
        if text != "wwn:naa.1":
            raise UsageError(f"there is no {text}")
        return disk(wwn="naa.1")

    monkeypatch.setattr(selector, "find", find)
    wanted = ["wwn:naa.2", "wwn:naa.1", "serial:S9"]
    described = rig.ask("describe", wire.Describe(wanted, "client"), wire.Described)
    assert described.trouble == "there is no wwn:naa.2; there is no serial:S9"
    assert described.lacks is wire.Lack.DEVICE


def test_it_says_what_a_claim_for_writing_would_meet(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    (candidate,) = rig.rights.candidates()
    feed = SimpleNamespace(name="psu", is_open=True)
    ended = SimpleNamespace(name="old", is_open=False)
    power = contextlib.nullcontext(SimpleNamespace(feeds=lambda: [feed, ended]))
    monkeypatch.setattr("spekctl.kernel.feeds.PowerLink", lambda: power)

    def seen(**changes: Any) -> wire.DeviceSeen:
        told = dataclasses.replace(candidate, **changes)
        monkeypatch.setattr(rig.rights, "candidates", lambda: [told])
        asked_for = wire.Describe(["wwn:naa.1"], "client")
        described: wire.Described = rig.ask("describe", asked_for, wire.Described)
        assert (described.feeds, described.lacks) == (["psu"], wire.Lack.NOTHING)
        (device,) = described.devices
        return device

    assert (seen().unwritable, seen().data) == ("", [])
    assert seen(data=["ext4"]).data == ["ext4"]
    assert seen(data=None, in_use="mounted").data == []
    assert seen(read_only=True).unwritable == "it is read-only"
    assert seen(open_for_writing=["dd has it open"]).unwritable == "dd has it open"


def test_it_answers_while_its_helper_starts(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    """As sudo may take its time, and what asks for the leash is the loop of all connections."""
    started, go_on = threading.Event(), threading.Event()

    def slowly(on_end: Callable[[str], None]) -> Any:
        started.set()
        assert go_on.wait(LONG_S)
        return rig.lend(on_end)

    monkeypatch.setattr(rig.member, "_lend", slowly)
    with ThreadPoolExecutor(3) as pool:
        asked_for = wire.Describe(["wwn:naa.1"], "client")
        described = pool.submit(rig.ask, "describe", asked_for, wire.Described)
        try:
            assert started.wait(LONG_S)
            assert pool.submit(rig.ask, "ping", None, wire.Pong).result(LONG_S)
            assert not pool.submit(rig.member.check_leash).result(LONG_S)
            assert not described.done()
        finally:
            go_on.set()
        assert described.result(LONG_S).trouble == ""


def test_a_target_needs_its_prober(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> None:
        raise NoKernelSideError("the kernel module spek_prober is not loaded")

    monkeypatch.setattr(member, "_check_prober", missing)
    described = rig.ask("describe", wire.Describe([], "target"), wire.Described)
    assert (described.trouble, described.devices) == (
        "the kernel module spek_prober is not loaded",
        [],
    )


def test_a_ping_says_when_it_came(rig: Rig) -> None:
    before_ns = time.time_ns()
    pong = rig.ask("ping", None, wire.Pong)
    assert before_ns <= pong.came_real_ns <= pong.left_real_ns <= time.time_ns()


def test_a_run_goes_from_its_claim_to_its_result(rig: Rig) -> None:
    assert rig.claim().title == "random-read-4k on /dev/fake0"
    assert rig.of_run("status", wire.State).phase is Phase.CLAIMED
    before_ns = time.time_ns()
    armed = rig.arm(1)
    assert rig.of_run("status", wire.State).phase is Phase.ARMED
    assert rig.kernel.start_ns == armed.start_mono_ns
    assert before_ns < armed.start_mono_ns + armed.distance.offset_ns <= time.time_ns() + 10**9
    rig.of_run("confirm")
    eventually(rig.done, "the run has not ended")
    assert rig.done() == [wire.Done(0, "the run completed")]
    collected = rig.of_run("result", wire.Collected)
    assert (collected.code, collected.text) == (0, "the run completed")
    document = json.loads(bytes(collected.document))
    assert document["kind"] == "spek-result" and document["config"]["seed"] == 77
    assert document["command"] == ["fleet", "run", "plan.toml"]
    facts = collected.facts
    assert facts is not None and facts.stepped_ns == 0
    assert facts.start_mono_ns == facts.started_mono_ns == armed.start_mono_ns
    rows = [row for event in rig.said if isinstance(event, wire.Rows) for row in event.rows]
    assert [round(row.at_s) for row in rows] == [1, 2]
    counted = [row for event in rig.said if isinstance(event, wire.Intervals) for row in event.rows]
    assert [row.read.ios for row in counted] == [100, 100]
    rig.of_run("release")
    assert rig.kernel.deleted and rig.kernel.closed


def test_a_slice_is_where_its_io_goes(rig: Rig) -> None:
    rig.claim(slices=[wire.Slice(256 << 20, 128 << 20)])
    assert rig.kernel.config is not None
    (asu,) = rig.kernel.config.asus
    assert (asu.bytes, asu.extents[0].start) == (128 << 20, 256 << 20)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"toml": "x"}, "not valid TOML"),
        ({"options": {"tme": "2s"}}, "there is no option --tme"),
        ({"slices": [wire.Slice(0, 1 << 40)]}, "is not on /dev/fake0"),
        ({"toml": override.to_toml(file.load("random-write-4k"))}, "--write"),
        ({"destroy": ["S9"]}, "S9"),
    ],
)
def test_a_wrong_claim_is_refused_and_holds_nothing(
    rig: Rig, changes: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(SpekError) as refusal:
        rig.claim(**changes)
    assert sentence in refusal.value.message
    assert rig.member.phase is Phase.RELEASED and rig.kernel.claimed == {}


def test_a_refused_claim_gives_back_what_it_had(rig: Rig) -> None:
    rig.kernel.refuse["run-new"] = RefusedError("The device is in use.")
    with pytest.raises(SpekError, match="in use") as refusal:
        rig.claim()
    assert refusal.value.exit_code is ExitCode.REFUSED
    assert rig.kernel.closed and rig.member.phase is Phase.RELEASED


def test_a_run_is_accepted_once(rig: Rig) -> None:
    rig.claim()
    for run in (RUN, "r-2"):
        with pytest.raises(SpekError, match="a has taken part in run r-1; it joins for one run"):
            rig.claim(run=run)
    rig.of_run("release")
    with pytest.raises(SpekError, match="has taken part in run r-1"):
        rig.claim()


def test_a_start_is_armed_once(rig: Rig) -> None:
    rig.claim()
    rig.arm(1)
    with pytest.raises(SpekError, match="a cannot arm: it is armed"):
        rig.arm(1)
    assert rig.kernel.calls.count("run-start") == 1


def test_nothing_is_armed_without_a_claim_or_for_another_run(rig: Rig) -> None:
    with pytest.raises(SpekError, match="a is not part of run r-1"):
        rig.arm()
    rig.claim()
    with pytest.raises(SpekError, match="a is not part of run r-2"):
        rig.arm(run="r-2")
    for verb in ("confirm", "status", "stop", "result", "release"):
        with pytest.raises(SpekError, match="a is not part of run r-2"):
            rig.of_run(verb, run="r-2")


def test_a_start_in_the_past_is_refused_and_can_be_released(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(member, "UNCONFIRMED_S", UNCONFIRMED_S)
    rig.claim()
    with pytest.raises(SpekError, match="the start is in the past, or too near"):
        rig.arm(-1)
    rig.of_run("release")
    assert rig.kernel.deleted


def test_a_start_that_nobody_confirms_is_called_off(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(member, "UNCONFIRMED_S", UNCONFIRMED_S)
    rig.claim()
    # However long it takes until it is armed, one of these is in time.
    for in_s in (0.3, 3.0, 30.0):
        with contextlib.suppress(SpekError):
            rig.arm(in_s)
            break
    (done,) = eventually(rig.done, "nothing was said")
    assert done.code == ExitCode.RUN_FAILED and "did not confirm the start" in done.text
    assert rig.kernel.deleted and rig.kernel.seconds == 0
    assert done.text.endswith("; no I/O was sent")
    collected = rig.of_run("result", wire.Collected)
    assert bytes(collected.document) == b"null"


def test_a_start_that_came_before_it_could_be_called_off_has_a_result(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after SIGSTOP: the kernel's timer started the run."""
    rig.claim()

    def is_in_time(left_s: float) -> bool:
        rig.kernel.state, rig.kernel.seconds = RunState.RUNNING, 1
        return False

    monkeypatch.setattr(rig.member._confirmed, "wait", is_in_time)
    armed = rig.arm(3600)
    (done,) = eventually(rig.done, "nothing was said")
    sentence = "the controller did not confirm the start in time; it had started without one, and"
    assert done.code == ExitCode.RUN_FAILED and done.text.startswith(sentence)
    collected = rig.of_run("result", wire.Collected)
    document = json.loads(bytes(collected.document))
    assert document["totals"]["all"]["ios"] == 100 and document["outcome"]["reason"] == "stopped"
    assert collected.facts is not None
    assert collected.facts.started_mono_ns == armed.start_mono_ns
    assert rig.kernel.deleted


def test_a_release_before_the_start_calls_it_off(rig: Rig) -> None:
    rig.claim()
    rig.arm(3600)
    rig.of_run("release")
    assert rig.kernel.deleted and rig.kernel.seconds == 0
    assert rig.done()[0].text == "the start was called off"


def test_a_release_during_the_claim_frees_the_devices(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = Gate(monkeypatch, rig.kernel, "run_new")
    error = gate.during(rig, rig.claim, lambda: rig.of_run("release"))
    assert error.message == "the run was released before the host was ready"
    assert rig.member.phase is Phase.RELEASED
    assert rig.kernel.deleted and rig.kernel.closed
    with pytest.raises(SpekError, match="it is released"):
        rig.arm(1)


def test_a_release_during_the_claim_of_several_runs_frees_the_devices(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = Gate(monkeypatch, rig.kernel, "run_new")
    gate.during(rig, lambda: rig.claim(holds="read"), lambda: rig.of_run("release"))
    assert rig.member.phase is Phase.RELEASED
    assert rig.kernel.deleted and not rig.kernel.claimed and rig.kernel.closed


def test_a_release_during_arming_starts_nothing(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    rig.claim()
    gate = Gate(monkeypatch, rig.kernel, "run_start")
    error = gate.during(rig, lambda: rig.arm(3600), lambda: rig.of_run("release"))
    assert error.message == "the run was released before the host was ready"
    assert rig.member.phase is Phase.RELEASED
    assert rig.kernel.deleted and rig.kernel.seconds == 0 and not rig.done()


def test_a_release_during_a_claim_that_lasts_is_told(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = Gate(monkeypatch, rig.kernel, "run_new")
    told: list[str] = []

    def before() -> None:
        monkeypatch.setattr(member, "OVER_S", 0.01)
        with pytest.raises(SpekError) as late:
            rig.of_run("release")
        told.append(late.value.message)
        monkeypatch.setattr(member, "OVER_S", 60.0)

    gate.during(rig, rig.claim, lambda: rig.of_run("release"), before)
    assert told == ["a is still getting ready; its devices are free afterwards"]
    assert rig.kernel.deleted and rig.member.phase is Phase.RELEASED


def test_a_release_after_the_claim_frees_the_devices(rig: Rig) -> None:
    rig.claim()
    rig.of_run("release")
    assert rig.kernel.deleted and rig.kernel.closed
    rig.of_run("release")


def test_a_run_that_is_stopped_has_a_result(rig: Rig) -> None:
    rig.claim(options={"time": "1h"})
    rig.arm(1)
    rig.of_run("confirm")
    eventually(lambda: rig.kernel.seconds > 3, "it does not run")
    rig.of_run("stop")
    (done,) = eventually(rig.done, "it has not ended")
    assert done.code == ExitCode.INTERRUPTED
    collected = rig.of_run("result", wire.Collected)
    assert json.loads(bytes(collected.document))["outcome"]["reason"] == "stopped"


def test_a_release_in_mid_run_ends_it(rig: Rig) -> None:
    rig.claim(options={"time": "1h"})
    rig.arm(1)
    rig.of_run("confirm")
    eventually(lambda: rig.kernel.seconds > 3, "it does not run")
    rig.of_run("release")
    assert rig.kernel.deleted


def hang(rig: Rig, **changes: Any) -> None:
    """A run whose device does not answer any more."""
    rig.kernel.hangs = True
    rig.kernel.refuse["run-delete"] = SpekError("The run has I/O in flight.")
    rig.claim(**{"options": {"time": "1h"}, **changes})
    rig.arm(1)
    rig.of_run("confirm")
    eventually(lambda: rig.kernel.seconds > 3, "it does not run")


def test_a_release_says_what_is_still_outstanding(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(member, "OVER_S", 0.01)
    hang(rig)
    for _ in range(2):
        with pytest.raises(SpekError) as late:
            rig.of_run("release")
        assert late.value.message == (
            "3 I/Os are still outstanding; its kernel releases the devices after that"
        )
        assert late.value.exit_code is ExitCode.RUN_FAILED
    # The kernel waits for them: nothing of the host does.
    assert rig.kernel.closed and len(rig.done()) == 1
    rig.kernel.deleted = True
    rig.of_run("release")


def test_a_release_after_a_run_that_was_left_says_what_is_outstanding(rig: Rig) -> None:
    hang(rig)
    for _ in range(2):
        rig.of_run("stop")
    eventually(rig.done, "it still waits for its device")
    with pytest.raises(SpekError, match="3 I/Os are still outstanding"):
        rig.of_run("release")


def test_a_run_that_fails_and_cannot_be_ended_is_told(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ending, "ABANDON_S", 0.01)
    hang(rig)
    rig.kernel.refuse["intervals"] = SpekError("the module is gone")
    (done,) = eventually(rig.done, "it has not ended")
    assert done.text == "the module is gone"
    with pytest.raises(SpekError, match="3 I/Os are still outstanding"):
        rig.of_run("release")


def test_a_run_that_its_host_cannot_leave_is_told_until_it_does(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OVER_S", "LEFT_S"):
        monkeypatch.setattr(member, name, 0.01)
    rig.claim(options={"time": "1h"}, holds="read")
    gate = Gate(monkeypatch, rig.kernel, "stats")
    rig.arm(1)
    rig.of_run("confirm")
    eventually(lambda: rig.kernel.seconds > 3, "it does not run")
    for _ in range(2):
        with pytest.raises(
            SpekError, match="its run has not ended; its kernel releases the devices"
        ):
            rig.of_run("release")
        assert rig.kernel.claimed and not rig.kernel.closed
    gate.open()
    eventually(rig.done, "it has not ended")
    rig.of_run("release")
    assert not rig.kernel.claimed and rig.kernel.closed


def test_there_is_no_result_before_the_end(rig: Rig) -> None:
    rig.claim()
    with pytest.raises(SpekError, match="there is no result of a run that is claimed"):
        rig.of_run("result", wire.Collected)


def test_a_clock_that_was_set_is_told(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    true = clock.distance
    steps = iter([0, 5_000_000])

    def distance() -> Distance:
        now = true()
        return Distance(now.offset_ns + next(steps), now.width_ns)

    monkeypatch.setattr(clock, "distance", distance)
    collected = run_to_end(rig)
    assert collected.facts is not None
    assert abs(collected.facts.stepped_ns - 5_000_000) < 1_000_000


def test_a_helper_that_is_lost_ends_the_run(rig: Rig) -> None:
    rig.claim()
    rig.lose_helper("the host ended (status -9)")
    assert rig.done() == [wire.Done(1, "the host ended (status -9)")]


def test_a_helper_that_ends_after_the_run_is_no_loss(rig: Rig) -> None:
    run_to_end(rig)
    rig.of_run("release")
    before = len(rig.done())
    rig.lose_helper("the host ended (status 0)")
    assert len(rig.done()) == before


def test_a_kernel_that_fails_in_mid_run_is_an_end_with_its_sentence(rig: Rig) -> None:
    rig.claim(options={"time": "1h"})
    rig.arm(1)
    rig.of_run("confirm")
    rig.kernel.refuse["run-get"] = SpekError("the host ended (status -9)")
    (done,) = eventually(rig.done, "it has not ended")
    assert done == wire.Done(1, "the host ended (status -9)")


def test_without_a_controller_it_gives_up(
    kernel: FakeKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    rig = Rig(monkeypatch, leash_s=0.0)
    assert not rig.member.check_leash()  # it holds nothing
    rig.claim()
    eventually(rig.member.check_leash, "it waits for ever")
    assert "the controller has not been heard of" in rig.gave_up[0]
    rig.member.close()
    assert rig.rights.closed


def test_every_question_keeps_it_going(rig: Rig) -> None:
    rig.claim()
    rig.of_run("status", wire.State)
    assert not rig.member.check_leash() and rig.gave_up == []


def test_what_fails_inside_is_an_answer(
    rig: Rig, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*arguments: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(rig.member, "_describe", fail)
    with pytest.raises(SpekError, match="the host failed; its standard error says how"):
        rig.ask("describe", wire.Describe([], "client"), wire.Described)
    assert "ZeroDivisionError" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("verb", "sentence"), [("explode", "damaged message"), ("claim", "damaged message")]
)
def test_what_is_no_request_is_refused(rig: Rig, verb: str, sentence: str) -> None:
    with pytest.raises(SpekError, match=sentence):
        wire.answer_of(rig.member.answer(verb, b"{"), wire.Claimed)


def test_an_unknown_verb_is_refused(rig: Rig) -> None:
    rig.claim()
    with pytest.raises(SpekError, match="there is no verb 'explode'"):
        rig.of_run("explode")


def test_the_version_of_the_module_is_that_of_sysfs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "read_text", lambda path, encoding: f"{path} 0.1\n")
    assert member._module_version() == "/sys/module/spek/version 0.1"


def step(rig: Rig, run: str = "r-2", after: str = RUN, **changes: Any) -> wire.Claimed:
    values: dict[str, Any] = {
        "run": run,
        "after": after,
        "toml": asked().toml,
        "options": {"time": "3s"},
        "seed": 78,
        "command": ["sweep"],
    }
    answer: wire.Claimed = rig.ask("step", wire.Step(**{**values, **changes}), wire.Claimed)
    return answer


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch, kernel: FakeKernel) -> Iterator[Rig]:
    """A host that holds its devices, after the first of its runs."""
    rig = Rig(monkeypatch)
    rig.kernel = FleetKernel(pace_s=0.001)
    run_to_end(rig, holds="read")
    yield rig
    rig.member.close()


def test_a_second_run_has_the_devices_of_the_first(held: Rig) -> None:
    assert held.kernel.claimed
    step(held)
    # A message of the first run that comes late does nothing to the second.
    with pytest.raises(SpekError, match="a is not part of run r-1"):
        held.of_run("stop")
    held.arm(1, "r-2")
    held.of_run("confirm", run="r-2")
    eventually(lambda: len(held.done()) == 2, "the run has not ended")
    collected = held.of_run("result", wire.Collected, "r-2")
    result = json.loads(bytes(collected.document))
    assert (result["config"]["seed"], result["config"]["time_ns"]) == (78, 3 * 10**9)
    held.of_run("release", run="r-2")
    assert held.kernel.claim_calls() == ["claim-new", "run-new", "claim-del"]
    assert not held.kernel.claimed and held.kernel.closed


@pytest.mark.parametrize(
    ("run", "after", "sentence"),
    [
        ("r-2", "r-0", "a is not part of run r-0"),
        (RUN, RUN, f"a is not part of run {RUN}"),
        ("", RUN, f"a is not part of run {RUN}"),
    ],
)
def test_a_step_follows_the_run_before_it(held: Rig, run: str, after: str, sentence: str) -> None:
    with pytest.raises(SpekError, match=sentence):
        step(held, run, after)
    assert held.member.phase is Phase.DONE and held.kernel.claimed


def test_a_step_is_accepted_once(held: Rig) -> None:
    step(held)
    with pytest.raises(SpekError, match="a is not part of run r-1"):
        step(held)
    with pytest.raises(SpekError, match="cannot begin another run: it is claimed"):
        step(held, "r-3", "r-2")


def test_a_step_that_cannot_be_leaves_the_devices_free(held: Rig) -> None:
    with pytest.raises(SpekError, match="there is no option --thyme"):
        step(held, options={"thyme": "3s"})
    assert held.member.phase is Phase.RELEASED and not held.kernel.claimed
    with pytest.raises(SpekError, match="cannot begin another run: it is released"):
        step(held, "r-3", "r-2")


def test_devices_that_are_claimed_for_one_run_have_no_second(rig: Rig) -> None:
    run_to_end(rig)
    with pytest.raises(SpekError, match="the devices of a are claimed for one run"):
        step(rig)


def test_between_two_runs_it_is_on_its_leash(
    kernel: FakeKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    rig = Rig(monkeypatch, leash_s=0.2)
    rig.kernel = FleetKernel(pace_s=0.001)
    rig.claim(holds="read")
    rig.arm(1)
    rig.of_run("confirm")
    eventually(rig.done, "the run has not ended")
    eventually(rig.member.check_leash, "it waits for ever")
    rig.member.close()
    assert rig.rights.closed
