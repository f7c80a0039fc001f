# SPDX-License-Identifier: GPL-2.0
"""The wait for hosts: who has not joined, who cannot, and who was refused."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import pytest
from lib.fakes.fleet_coordinator import HURRY, Rig

from spekctl.errors import ExitCode, SpekError
from spekctl.fleet.carrier import Happened
from spekctl.fleet.clock import Bound
from spekctl.fleet.joining import Refusals
from spekctl.fleet.wire import Verb


def test_who_has_not_joined_is_named() -> None:
    rig = Rig()
    rig["b"].is_gone = True
    assert "b has not joined within 0 s; start `spekctl fleet join` there" in rig.refused().message
    assert rig.asked(Verb.CLAIM) == []


def test_a_host_from_another_address_is_refused() -> None:
    rig = Rig(hosts="a")
    coordinator = rig.coordinator()
    part = coordinator.parts["a"]
    part.host = dataclasses.replace(part.host, address="10.0.0.7")
    with pytest.raises(SpekError, match=r"a has joined from 10\.0\.0\.9, and the plan has 10\.0"):
        coordinator.carry_out()


def test_a_host_that_joined_again_was_not_lost() -> None:
    rig = Rig()
    rig.engine.happened.put(Happened("b", lost="its connection has ended"))
    assert rig.run().code is ExitCode.OK


class Started:
    """Hosts that were started; those of @ended have ended, and the others may still join."""

    def __init__(
        self, ended: dict[str, str], is_pending: bool, not_started: Sequence[str] = ()
    ) -> None:
        self.ended = ended
        self.is_pending = is_pending
        self.not_started = not_started

    def waiting(self) -> Sequence[str]:
        return self.not_started

    def troubles(self) -> dict[str, str]:
        return self.ended

    def pending(self, joined: object) -> bool:
        return self.is_pending


@pytest.mark.parametrize(("is_pending", "join_s"), [(False, 600.0), (True, 0.0)])
def test_hosts_that_cannot_be_started_are_named_once_the_others_are_known(
    is_pending: bool, join_s: float
) -> None:
    rig = Rig(patience=dataclasses.replace(HURRY, join_s=join_s))
    coordinator = rig.coordinator()
    rig["b"].is_gone = rig["c"].is_gone = True
    coordinator.started = Started({"a": "it left", "b": "no key", "c": "no route"}, is_pending)
    with pytest.raises(SpekError, match=r"^cannot start all hosts: b: no key; c: no route$"):
        coordinator.join()


def test_another_host_has_time_to_fail_as_well() -> None:
    rig = Rig(patience=dataclasses.replace(HURRY, join_s=600.0, others_s=0.05))
    coordinator = rig.coordinator()
    rig["b"].is_gone = rig["c"].is_gone = True
    coordinator.started = Started({"b": "no key"}, True)
    with pytest.raises(SpekError, match=r"^cannot start all hosts: b: no key$"):
        coordinator.join()


def test_hosts_that_were_not_started_yet_are_not_to_be_started_by_hand() -> None:
    rig = Rig(patience=dataclasses.replace(HURRY, join_s=0.0))
    coordinator = rig.coordinator()
    rig["b"].is_gone = rig["c"].is_gone = True
    coordinator.started = Started({}, True, ["c"])
    with pytest.raises(SpekError, match=r"^c was not started within 0 s, .* a longer --wait$"):
        coordinator.join()


def test_a_doctor_waits_for_hosts_that_join_by_themselves() -> None:
    """Although no host that was started by SSH may still join."""
    rig = Rig(patience=dataclasses.replace(HURRY, join_s=600.0, others_s=0.0))
    coordinator = rig.coordinator()
    rig["b"].is_gone = rig["c"].is_gone = True
    coordinator.started = Started({"b": "no route"}, False)

    def join() -> None:
        rig["c"].is_gone = False

    rig.engine.on_idle = join
    findings = coordinator.examine()
    reached = {each.subject: each for each in findings if each.check == "reach"}
    assert reached["c"].level == "ok"
    assert (reached["b"].level, reached["b"].text) == ("stops", "no route")
    assert reached["b"].remedy == "start `spekctl fleet join` there, or write ssh in [[host]]"
    assert {"b", "c"} & {name for name, _, _ in rig.view.reached} == {"c"}


def test_a_doctor_has_each_hosts_own_reason() -> None:
    rig = Rig(patience=dataclasses.replace(HURRY, join_s=0.0), hosts="abcd")
    coordinator = rig.coordinator()
    part = coordinator.parts["b"]
    part.host = dataclasses.replace(part.host, ssh="user@b")
    for name in "bcd":
        rig[name].is_gone = True
    coordinator.started = Started({"b": "no route"}, True, ["c"])
    reached = {each.subject: each for each in coordinator.examine() if each.check == "reach"}
    assert reached["a"].level == "ok"
    assert (reached["b"].text, reached["b"].remedy) == (
        "no route",
        "start `spekctl fleet join` there",
    )
    assert reached["c"].text.startswith("c was not started within 0 s, ")
    assert reached["d"].text.startswith("d has not joined within 0 s; ")


def test_a_host_that_is_lost_before_a_doctor_asks_says_so() -> None:
    rig = Rig()
    coordinator = rig.coordinator()

    def bound() -> Bound:
        rig.engine.lose("b")
        return Bound(1_000, "chrony")

    coordinator.bound = bound
    reached = {each.subject: each for each in coordinator.examine() if each.check == "reach"}
    assert reached["b"].level == "stops"
    assert reached["b"].text == "it had joined, and its connection has ended"


def test_strangers_are_told_of_once_and_counted_in_the_end() -> None:
    rig = Rig(hosts="a")
    text = "10.0.0.7 was refused: self-signed certificate"
    rig.engine.strangers = {text: 1}
    refusals = Refusals(rig.engine)
    for _ in range(3):
        refusals.tell(rig.view)
    other = "10.0.0.8 was refused: expired"
    rig.engine.strangers = {text: 40, other: 2}
    refusals.tell(rig.view)
    for _ in range(2):
        refusals.tell(rig.view, at_the_end=True)
    assert rig.view.notes == [
        text,
        other,
        f"{text}; 40 times in all",
        f"{other}; 2 times in all",
    ]
