# SPDX-License-Identifier: GPL-2.0
"""The side that starts a host: answers, events, and what happens when the host dies."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from lib.fakes import host as fake_host
from lib.waiting import LONG_S

from spekctl.errors import ExitCode, SpekError
from spekctl.host import client
from spekctl.host.client import Helper, HostError
from spekctl.host.protocol import AnyEvent, Ended, Plan, Rows, Started, State

SOON_S = LONG_S
JOB: dict[str, Any] = {"workload": "x", "devices": ["/dev/fake0"]}


class Watcher:
    """A helper and everything it said."""

    def __init__(self, **script: Any) -> None:
        self.events: list[AnyEvent] = []
        self.reasons: list[str] = []
        self.over = threading.Event()
        words = [sys.executable, fake_host.__file__, json.dumps(script)]
        self.helper: Helper[AnyEvent] = Helper(words, self.events.append, self._end)

    def _end(self, reason: str) -> None:
        self.reasons.append(reason)
        self.over.set()

    def until(self, kind: type[AnyEvent]) -> Any:
        deadline = time.monotonic() + SOON_S
        while time.monotonic() < deadline:
            for event in list(self.events):
                if isinstance(event, kind):
                    return event
            time.sleep(0.01)
        raise AssertionError(f"no {kind}")


@pytest.fixture
def watch() -> Iterator[Callable[..., Watcher]]:
    watchers: list[Watcher] = []

    def start(**script: Any) -> Watcher:
        watchers.append(Watcher(**script))
        return watchers[-1]

    yield start
    for watcher in watchers:
        watcher.helper.close()
        assert watcher.over.wait(SOON_S)


def test_a_run_is_followed(watch: Callable[..., Watcher]) -> None:
    watcher = watch(rows=3, streams=2, pause_s=0)
    watcher.helper.wait_ready()
    plan = watcher.helper.ask("start", Plan, job=JOB)
    assert plan.name == "x"
    assert watcher.until(Ended).code == 0
    assert isinstance(watcher.events[1], Started)
    rows = [row for event in watcher.events if isinstance(event, Rows) for row in event.rows]
    assert [row.at_s for row in rows] == [1, 2, 3] and len(rows[0].streams) == 2
    assert rows[0].iops == pytest.approx(5000)
    while watcher.helper.ask("status", State).running:
        time.sleep(0.01)


def test_a_refusal_has_its_exit_code(watch: Callable[..., Watcher]) -> None:
    watcher = watch(refuses="it is mounted")
    with pytest.raises(HostError, match="it is mounted") as caught:
        watcher.helper.ask("start", Plan, job=JOB)
    assert caught.value.exit_code is ExitCode.REFUSED


def test_an_exit_code_of_a_later_version_is_a_failure() -> None:
    assert HostError("x", 4).exit_code is ExitCode.REFUSED
    assert HostError("x", 77).exit_code is ExitCode.RUN_FAILED


def test_a_killed_host_is_told(watch: Callable[..., Watcher]) -> None:
    watcher = watch(rows=1000, dies_after=3)
    watcher.helper.ask("start", Plan, job=JOB)
    assert watcher.over.wait(SOON_S)
    assert watcher.reasons == ["the host ended (SIGKILL)"] and not watcher.helper.alive
    with pytest.raises(HostError, match="SIGKILL"):
        watcher.helper.ask("status", State)


def test_a_host_that_is_killed_while_asked_answers(watch: Callable[..., Watcher]) -> None:
    watcher = watch()
    watcher.helper.wait_ready()
    os.kill(watcher.helper.pid, signal.SIGSTOP)
    threading.Timer(0.2, os.kill, (watcher.helper.pid, signal.SIGKILL)).start()
    with pytest.raises(HostError, match="SIGKILL"):
        watcher.helper.ask("status", State)


def test_sudo_that_wants_a_password_is_quoted(watch: Callable[..., Watcher]) -> None:
    watcher = watch(first="exit")
    with pytest.raises(HostError, match=r"status 1\): sudo: a password is required"):
        watcher.helper.wait_ready()


def test_what_is_no_message_ends_it(watch: Callable[..., Watcher]) -> None:
    watcher = watch(first="Welcome!")
    assert watcher.over.wait(SOON_S)
    assert "an invalid message" in watcher.reasons[0]


def test_another_protocol_is_refused(watch: Callable[..., Watcher]) -> None:
    watcher = watch(protocol=99)
    with pytest.raises(HostError, match="the host speaks protocol 99"):
        watcher.helper.wait_ready()


def test_a_missing_program_is_one_sentence() -> None:
    with pytest.raises(SpekError, match="cannot start /nowhere/sudo: No such file"):
        Helper(["/nowhere/sudo"], lambda event: None, lambda reason: None)


def test_the_command_line_is_never_found_in_the_current_directory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "argv", ["/x/__main__.py"])
    words = client.command(["sudo", "-n", "--"])
    assert words[:3] == ["sudo", "-n", "--"] and words[3:] == [
        *(sys.executable, "-P", "-m", "spekctl", "host", "--stdio"),
    ]


def test_a_line_that_is_too_deep_ends_it_as_well(watch: Callable[..., Watcher]) -> None:
    watcher = watch(first="[" * 50_000)
    assert watcher.over.wait(SOON_S)
    assert "an invalid message" in watcher.reasons[0]


def test_an_answer_of_another_kind_is_a_sentence(watch: Callable[..., Watcher]) -> None:
    watcher = watch()
    watcher.helper.wait_ready()
    with pytest.raises(HostError, match=r"^the host sent what is no answer: Expected `int`"):
        watcher.helper.ask("status", int)
