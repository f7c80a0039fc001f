# SPDX-License-Identifier: GPL-2.0
"""The steps of a campaign on hosts: what each of them is asked for, and what comes back."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from lib.fakes.fleet import FakeView
from lib.fakes.fleet_members import Members, coordinator, plan_text, use
from lib.fakes.machine import disk
from lib.waiting import eventually

from spekctl.block import device
from spekctl.documents.result import load_result
from spekctl.errors import CalledOffError, ExitCode, RefusedError, SpekError, UsageError
from spekctl.fleet import clock, merge, plan, selector, wire
from spekctl.fleet.steps import FleetSteps
from spekctl.fleet.wire import Verb
from spekctl.run.job import Interrupts
from spekctl.workload import file
from spekctl.workload.options import Options

SECOND = 10**9


class Rig:
    def __init__(self, names: list[str], extra: str = "") -> None:
        self.engine = Members(names)
        self.view = FakeView()
        self.interrupts = Interrupts()
        planned = plan.parse(plan_text(names, extra))
        self.coordinator = coordinator(planned, self.engine, self.view, self.interrupts)

    def steps(self) -> FleetSteps:
        self.coordinator.join()
        self.coordinator.check()
        return FleetSteps(self.coordinator, lambda: self.view)


@pytest.fixture
def rig(monkeypatch: pytest.MonkeyPatch) -> Iterator[Rig]:
    use(monkeypatch)
    fleet = Rig(["c", "b", "a"])
    yield fleet
    fleet.engine.close()


READS = file.load("random-read-4k")


def test_devices_are_in_the_order_of_a_results_targets(rig: Rig) -> None:
    steps = rig.steps()
    assert steps.names == ["a", "b", "c"] and steps.title == "3 hosts"
    request = steps.request(READS, Options(depth=3, time_ns=SECOND))
    with steps.claimed(rig.interrupts, write=False):
        result = steps.measure(request)
    assert [target.facts.path for target in result.targets] == [
        device.path for device in steps.devices
    ]
    assert [target.facts.bytes for target in result.targets] == [
        device.bytes for device in steps.devices
    ]


def test_hosts_are_polled_between_two_steps(rig: Rig) -> None:
    steps = rig.steps()

    def polls() -> list[int]:
        return [rig.engine.asked.count((name, Verb.STATUS)) for name in steps.names]

    def are_polled(before: list[int]) -> bool:
        return all(now >= then + 3 for now, then in zip(polls(), before, strict=True))

    request = steps.request(READS, Options(depth=3, time_ns=SECOND))
    with steps.claimed(rig.interrupts, write=False):
        for _ in range(2):
            steps.measure(request)
            eventually(partial(are_polled, polls()), "hosts are not polled")
    assert "leash" not in [thread.name for thread in threading.enumerate()]


def test_a_request_is_that_of_the_first_host_and_its_options_are_of_all(rig: Rig) -> None:
    request = rig.steps().request(READS, Options(depth=8, time_ns=5 * SECOND, cpus=[99]))
    # The first host by name is the last one of the plan, which is dealt what is left.
    assert request.config.arrivals[0].depth == 2 and request.config.cpus == []
    assert request.options is not None and request.options.depth == 8
    assert request.length_ns == 5 * SECOND


def test_what_no_host_could_do_is_refused_without_asking(rig: Rig) -> None:
    steps = rig.steps()
    asked = len(rig.engine.asked)
    with pytest.raises(
        UsageError, match="--depth must be 3 to 196608 for 3 clients together, not 2"
    ):
        steps.request(READS, Options(depth=2))
    with pytest.raises(UsageError, match="does not scale by BSU"):
        steps.request(READS, Options(bsu=30))
    assert len(rig.engine.asked) == asked


def test_hosts_that_share_a_device_write_slices_of_it(
    monkeypatch: pytest.MonkeyPatch, rig: Rig
) -> None:
    monkeypatch.setattr(selector, "find", lambda text: disk(text, wwn="naa.1"))
    writes = file.load("random-write-4k")
    rig.coordinator.plan = plan.parse(plan_text(["c", "b", "a"]), instead=writes)
    steps = rig.steps()
    request = steps.request(writes, Options(depth=3, time_ns=SECOND, write=True))
    with steps.claimed(rig.interrupts, write=True):
        steps.measure(request)
        steps.measure(request)
    starts = {
        name: [config.asus[0].extents[0].start for config in kernel.runs_seen]
        for name, kernel in rig.engine.kernels.items()
    }
    assert all(len(set(each)) == 1 for each in starts.values())
    assert len({each[0] for each in starts.values()}) == 3
    assert request.config.asus[0].extents[0].start == starts["a"][0]


@pytest.mark.parametrize(("wwn", "count"), [("naa.1", 1), ("", 3)])
def test_a_device_that_hosts_share_has_its_capacity_once(
    monkeypatch: pytest.MonkeyPatch, rig: Rig, wwn: str, count: int
) -> None:
    monkeypatch.setattr(selector, "find", lambda text: disk(text, wwn=wwn))
    assert rig.steps().capacity_bytes == count << 30


def test_a_disk_that_takes_anothers_path_after_the_check_is_refused(
    monkeypatch: pytest.MonkeyPatch, rig: Rig
) -> None:
    """As after a login to an iSCSI target, or a swap of disks in a bay."""
    writes = file.load("random-write-4k")
    rig.coordinator.plan = plan.parse(plan_text(["c", "b", "a"]), instead=writes)
    there = {"serial": "AAAA", "diskseq": 5}
    monkeypatch.setattr(selector, "find", lambda text: disk(text, **there))
    steps = rig.steps()
    request = steps.request(writes, Options(depth=3, time_ns=SECOND, write=True))
    monkeypatch.setattr(device, "find", lambda path: disk(path, serial="BBBB", diskseq=9))
    with pytest.raises(RefusedError) as refused, steps.claimed(rig.interrupts, write=True):
        steps.measure(request)
    sentence = (
        "/dev/fake0 has just been replaced by another device: it was AAAA (250:0/5),"
        " and is BBBB (250:0/9) now"
    )
    assert str(refused.value) == "; ".join(f"{name}: {sentence}" for name in "cba")
    assert rig.engine.claims() == [[], [], []]


def test_a_run_that_nobody_has_a_result_of_is_an_error(rig: Rig) -> None:
    steps = rig.steps()
    for kernel in rig.engine.kernels.values():
        kernel.refuse["stats"] = SpekError("the module is gone")
    request = steps.request(READS, Options(depth=3, time_ns=SECOND))
    with (
        steps.claimed(rig.interrupts, write=False),
        pytest.raises(SpekError, match="it has no result: the module is gone"),
    ):
        steps.measure(request)
    assert "it has no result: the module is gone" in steps.lost
    # Those that are lost hear of the release, and are not waited for.
    eventually(
        lambda: not any(kernel.claimed for kernel in rig.engine.kernels.values()), "they keep them"
    )


def test_results_of_a_step_that_cannot_be_added_up_are_kept(
    monkeypatch: pytest.MonkeyPatch, rig: Rig, tmp_path: Path
) -> None:
    rig.coordinator.folder = tmp_path
    steps = rig.steps()

    def differ(hosts: object) -> None:
        raise UsageError("a and b ran different workloads")

    monkeypatch.setattr(merge, "_check_alike", differ)
    request = steps.request(READS, Options(depth=3, time_ns=SECOND))
    with steps.claimed(rig.interrupts, write=False), pytest.raises(SpekError) as failure:
        steps.measure(request)
    files = [tmp_path / f"unmerged-{rig.coordinator.run_id[:8]}.{name}.json" for name in "cba"]
    assert [load_result(file).environment.hostname != "" for file in files] == [True] * 3
    assert failure.value.exit_code is ExitCode.RUN_FAILED
    assert failure.value.message == (
        "a and b ran different workloads; the hosts' own results: "
        + ", ".join(str(file) for file in files)
    )


def check_released(rig: Rig, steps: FleetSteps) -> None:
    """All hosts have given their devices back, and the controller knows."""
    assert steps.unreleased == ""
    assert not [text for text in rig.view.notes if "has not said" in text]
    assert {member.phase for member in rig.engine.members.values()} == {wire.Phase.RELEASED}


def test_hosts_are_free_after_an_interrupt_between_two_steps(rig: Rig) -> None:
    """They have not been asked for the second one, and release the first."""
    steps = rig.steps()
    request = steps.request(READS, Options(depth=3, time_ns=SECOND))
    with steps.claimed(rig.interrupts, write=False):
        steps.measure(request)
        rig.interrupts.interrupt(2)
        with pytest.raises(CalledOffError):
            steps.measure(request)
    check_released(rig, steps)


def test_a_clock_that_leaves_max_skew_in_a_step_is_told_and_refuses_the_next(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    use(monkeypatch)
    rig = Rig(["a"], 'max_skew = "10s"')
    told: list[clock.Bound] = []

    def bound() -> clock.Bound:
        # At the check and before the start, then at the end of the first step.
        told.append(clock.Bound(SECOND if len(told) < 2 else 20 * SECOND, "chrony"))
        return told[-1]

    monkeypatch.setattr(clock, "bound", bound)
    try:
        steps = rig.steps()
        request = steps.request(READS, Options(depth=3, time_ns=SECOND))
        with steps.claimed(rig.interrupts, write=False):
            result = steps.measure(request)
            with pytest.raises(RefusedError, match=r"a: its clock may be off by 20\.0 s"):
                steps.measure(request)
        check_released(rig, steps)
    finally:
        rig.engine.close()
    (host,) = result.hosts or []
    assert host.clock.before is not None and host.clock.after is not None
    assert (host.clock.before.bound_ns, host.clock.after.bound_ns) == (SECOND, 20 * SECOND)
    assert steps.strayed.startswith("a: at the end its clock may be off by 20.0 s (chrony)")
    assert steps.strayed in result.remarks and not steps.lost
    # A merge with other results has to know as well.
    assert steps.strayed == f"a: {host.clock.strayed}"


def test_a_step_begins_without_the_clocks_of_the_one_before(rig: Rig) -> None:
    """Guards the mend of 376ea217: those of a host that is lost in it are not measured again."""
    steps = rig.steps()
    request = steps.request(READS, Options(depth=3, time_ns=SECOND))
    with steps.claimed(rig.interrupts, write=False):
        steps.measure(request)
        parts = rig.coordinator.parts.values()
        assert all(part.skew_before and part.skew_after for part in parts)
        rig.coordinator.take(rig.coordinator.plan)
        parts = rig.coordinator.parts.values()
        assert not any(part.skew_before or part.skew_after for part in parts)


def test_an_interrupt_stops_the_step_on_all_hosts(rig: Rig) -> None:
    steps = rig.steps()
    kernel = rig.engine.kernels["b"]
    kernel.on_wait = lambda second: rig.interrupts.interrupt(2) if second == 3 else None
    request = steps.request(READS, Options(depth=3, time_ns=3600 * SECOND))
    with steps.claimed(rig.interrupts, write=False):
        result = steps.measure(request)
    assert not result.at_an_end and steps.lost == ""
    reasons = {host.name: host.run.outcome.reason for host in result.hosts or () if host.run}
    assert reasons == {"a": "stopped", "b": "stopped", "c": "stopped"}
