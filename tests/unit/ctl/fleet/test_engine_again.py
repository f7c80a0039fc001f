# SPDX-License-Identifier: GPL-2.0
"""A host that joins again while the controller still has its former connection."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from distributed.comm import connect
from lib.fakes.fleet_rig import SOON_S, Fleet
from lib.fork_server import Forked
from lib.waiting import eventually

from spekctl.errors import ExitCode
from spekctl.fleet import engine, keys
from spekctl.fleet.plan import CONTROLLER


class Twice(Fleet):
    """A fleet whose only host has stopped without a word: its connection stays."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, ["a"])
        self.former: Forked | None = None

    def stop_first(self) -> None:
        self.join(self.engine.address, "a")
        eventually(self.engine.hosts, "a does not join", SOON_S)
        self.former = self.hosts.pop("a")
        self.former.send_signal(signal.SIGSTOP)

    def let_second_ask(self) -> Forked:
        """The stopped process, whose name a second process now asks for."""
        self.stop_first()
        self.join(self.engine.address, "a", patience_s=SOON_S)
        eventually(lambda: self.engine._entering, "the second does not ask", SOON_S)
        assert self.former is not None
        return self.former

    def answers(self) -> bool:
        return bool(self.engine.call("a", "ping", b"null").result(SOON_S))

    def __exit__(self, *exception: object) -> None:
        if self.former is not None:
            self.former.kill()
            self.former.wait()
        super().__exit__(*exception)


@pytest.fixture
def fleet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Twice]:
    # Nobody is lost by silence alone.
    monkeypatch.setattr(engine, "TTL_S", 3600.0)
    with Twice(tmp_path) as twice:
        yield twice


def test_a_machine_that_was_restarted_has_its_name_again_at_once(
    fleet: Twice, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its kernel resets the connection that it is asked by."""
    monkeypatch.setattr(engine, "PROBE_S", 3600.0)
    fleet.let_second_ask().kill()
    happened = fleet.engine.next(SOON_S)
    assert happened is not None and (happened.host, happened.lost) == ("a", engine.LOST)
    eventually(fleet.engine.hosts, "a does not join again", SOON_S)
    assert fleet.answers() and fleet.engine.refused() == {}


def answer_to_join(fleet: Twice) -> dict[str, object]:
    """What the controller says to a second machine with the keys of a."""
    context = keys.load(fleet.keys / "a").context(False, (CONTROLLER,))

    async def ask() -> dict[str, object]:
        comm = await connect(fleet.engine.address, ssl_context=context, require_encryption=True)
        try:
            await comm.write({"op": engine.JOIN, "name": "a", "boot": "of another machine"})
            answer: dict[str, object] = await comm.read()
            return answer
        finally:
            comm.abort()

    return asyncio.run(ask())


def test_a_copy_of_the_keys_on_another_machine_does_not_take_the_name_of_a_host_that_answers(
    fleet: Twice, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "PROBE_S", 3600.0)
    fleet.join(fleet.engine.address, "a")
    eventually(fleet.engine.hosts, "a does not join", SOON_S)
    answer = answer_to_join(fleet)
    assert answer.get("message") == "name taken: a has already joined from 127.0.0.1"
    assert fleet.answers() and fleet.hosts["a"].poll() is None


def test_another_certificate_does_not_take_a_name(
    fleet: Twice, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "PROBE_S", 0.0)
    fleet.stop_first()
    fleet.engine._guests["a"].serial += 1
    assert "name taken" in str(answer_to_join(fleet).get("message"))
    assert list(fleet.engine.hosts()) == ["a"]


def test_a_process_that_does_not_answer_leaves_its_name_to_the_next_one(
    fleet: Twice, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "PROBE_S", 0.5)
    fleet.stop_first()
    fleet.join(fleet.engine.address, "a")
    happened = fleet.engine.next(SOON_S)
    assert happened is not None and "it did not answer for" in happened.lost
    eventually(fleet.engine.hosts, "a does not join again", SOON_S)
    assert fleet.answers()
    # The former one ends once it is awake, and has no say before that.
    assert fleet.former is not None
    fleet.former.send_signal(signal.SIGCONT)
    assert fleet.former.wait(SOON_S) == ExitCode.OK
    assert fleet.answers() and fleet.hosts["a"].poll() is None


def test_a_process_that_wakes_in_time_keeps_its_name(
    fleet: Twice, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "PROBE_S", 3600.0)
    former = fleet.let_second_ask()
    former.send_signal(signal.SIGCONT)
    assert fleet.ended("a") == ExitCode.HOST_LOST
    assert "name taken: a has already joined from 127.0.0.1" in fleet.said("a")
    assert fleet.answers() and former.poll() is None


def test_a_third_process_does_not_come_between(
    fleet: Twice, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "PROBE_S", 3600.0)
    fleet.stop_first()
    fleet.join(fleet.engine.address, "a", patience_s=SOON_S)
    eventually(lambda: fleet.engine._entering, "the second does not ask", SOON_S)
    second = fleet.hosts.pop("a")
    try:
        fleet.join(fleet.engine.address, "a", patience_s=SOON_S)
        assert fleet.ended("a") == ExitCode.HOST_LOST
        assert "name taken: another process of a is joining" in fleet.said("a")
    finally:
        second.kill()
        second.wait()
