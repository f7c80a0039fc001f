# SPDX-License-Identifier: GPL-2.0
"""The agent as a process, with hosts that are processes: a run, its stops, and its sudden end."""

from __future__ import annotations

import dataclasses
import io
import json
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest
from lib.ctl.fleets import three
from lib.fakes.fleet_rig import SOON_S, Processes, plan_of
from lib.waiting import eventually
from msgspec.structs import replace

from spekctl import toml
from spekctl.errors import ExitCode
from spekctl.fleet import controller, keys, plan, protocol, results, wire
from spekctl.fleet.agent import FleetDesk
from spekctl.fleet.clock import Bound
from spekctl.fleet.merge import merge
from spekctl.fleet.outcome import Outcome, Part
from spekctl.fleet.protocol import Ended, Hosts
from spekctl.host.client import Helper, HostError
from spekctl.host.protocol import Note, Rows, Started
from spekctl.workload import file, override

NAMES = ["a", "b"]


class Agent:
    def __init__(self, keys: Path) -> None:
        self.told: list[Any] = []
        self.reasons: list[str] = []
        words = [sys.executable, "-P", "-m", "spekctl.fleet.agent", str(keys), str(60 * 10**9)]
        self.helper: Helper[protocol.AnyEvent] = Helper(
            words, self.told.append, self.reasons.append, protocol.AnyEvent, "the fleet agent"
        )

    def start(self, hosts: Processes, time: str, holds: bool = False) -> None:
        """Have it start a run, and the hosts join it."""
        text = override.to_toml(file.load("random-read-4k"))
        plan = toml.parse(plan_of(hosts.names, time=time))
        self.helper.ask("start", plan=plan, toml=text, holds=holds)
        note = self.wait(Note)
        for name in hosts.names:
            hosts.join(note.text.rpartition(" ")[2], name)

    def all(self, kind: type[Any]) -> list[Any]:
        return [event for event in list(self.told) if isinstance(event, kind)]

    def wait(self, kind: type[Any], holds: Any = lambda event: True) -> Any:
        """The first event of this kind of which @holds."""
        return eventually(
            lambda: next((event for event in self.all(kind) if holds(event)), None),
            f"no such {kind.__name__}: {self.told[-3:]}, {self.reasons}",
            SOON_S,
        )

    def wait_stage(self, stage: str) -> None:
        """Until all hosts are there."""
        self.wait(Hosts, lambda event: {news.stage for news in event.hosts} == {stage})


@contextmanager
def fleet(folder: Path) -> Iterator[tuple[Agent, Processes]]:
    with Processes(folder, NAMES) as hosts:
        agent = Agent(hosts.keys / "controller")
        try:
            yield agent, hosts
        finally:
            agent.helper.close(0.1)
            agent.helper.kill()


def check_free(hosts: Processes) -> None:
    for name in NAMES:
        hosts.ended(name)
        hosts.check_free(name)


def test_hosts_claim_wait_for_the_word_and_run(tmp_path: Path) -> None:
    with fleet(tmp_path) as (agent, hosts):
        agent.start(hosts, "20s", holds=True)
        agent.wait(Hosts, lambda event: event.holds)
        agent.wait_stage("claimed")
        assert not agent.all(Rows)
        with pytest.raises(HostError, match="this agent already has a run"):
            agent.helper.ask("start", plan=toml.parse(plan_of(NAMES)), toml="")
        agent.helper.ask("go")
        with pytest.raises(HostError, match="no host is waiting for its start"):
            agent.helper.ask("go")
        ended = agent.wait(Ended)
        assert (ended.code, ended.text) == (ExitCode.OK, "2 hosts completed the run")
        (started,) = agent.all(Started)
        assert started.title == "random-read-4k on 2 of 2 hosts" and len(started.streams) == 1
        result = json.loads(bytes(ended.result))
        assert [host["name"] for host in result["hosts"]] == NAMES
        assert ended.skew_ns == result["common"]["skew_ns"]
        table = agent.all(Hosts)[-1].hosts
        assert [news.stage for news in table] == ["ended", "ended"]
        assert max(abs(news.skew_ns) for news in table) == ended.skew_ns
        sums = [row for event in agent.all(Rows) for row in event.rows]
        assert sums and all(row.iops > 0 for row in sums)
        check_free(hosts)


class _Over:
    """A coordinator whose run is over."""

    def carry_out(self, is_wanted: object) -> Outcome:
        bound = Bound(None, "none")
        return Outcome("r-1", "f-1", 1, ExitCode.OK, "3 hosts completed the run", [], bound)


def test_a_run_without_io_has_failed_on_the_page_too(monkeypatch: pytest.MonkeyPatch) -> None:
    @contextmanager
    def started(*_: object) -> Iterator[_Over]:
        yield _Over()

    whole = merge(three())
    totals = replace(whole.totals, all=replace(whole.totals.all, ios=0))
    monkeypatch.setattr(controller, "started", started)
    monkeypatch.setattr(results, "of", lambda *_: replace(whole, totals=totals))
    desk = FleetDesk(io.BytesIO(), keys.Bundle, 0)  # type: ignore[arg-type]
    ended = desk._run_on_hosts(plan.parse(plan_of(NAMES)), [])
    said = "3 hosts completed the run; no I/O completed in the measure phase"
    assert (ended.code, ended.text) == (ExitCode.RUN_FAILED, said)


def test_results_that_cannot_be_added_up_are_handed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    planned = plan.parse(plan_of(NAMES))
    damaged = msgspec.Raw(b'{"kind": 5}')
    parts = [Part(host, collected=wire.Collected(0, "", None, damaged)) for host in planned.hosts]

    @contextmanager
    def started(*_: object) -> Iterator[_Over]:
        yield _Over()

    over = _Over().carry_out(None)
    monkeypatch.setattr(
        _Over, "carry_out", lambda self, wanted: dataclasses.replace(over, parts=parts)
    )
    monkeypatch.setattr(controller, "started", started)
    desk = FleetDesk(io.BytesIO(), keys.Bundle, 0)  # type: ignore[arg-type]
    ended = desk._run_on_hosts(planned, [])
    assert ended.code == ExitCode.RUN_FAILED and ended.text.startswith("a has sent a damaged")
    assert ended.documents == {name: damaged for name in NAMES}


def test_a_stop_does_not_wait_for_a_host_that_hangs(tmp_path: Path) -> None:
    with fleet(tmp_path) as (agent, hosts):
        agent.start(hosts, "1h")
        agent.wait_stage("running")
        hosts.hosts["b"].send_signal(signal.SIGSTOP)
        agent.helper.ask("stop")
        ended = agent.wait(Ended)
        assert ended.code == ExitCode.HOST_LOST and "b lost at" in ended.text
        # On a slow machine the other host may have been silent for too long as well.
        lost = {host.name: host.text for host in agent.all(Hosts)[-1].hosts if host.stage == "lost"}
        assert lost["b"]
        hosts.hosts["b"].send_signal(signal.SIGCONT)
        agent.helper.close()
        check_free(hosts)


def test_the_end_of_its_input_ends_the_run_everywhere(tmp_path: Path) -> None:
    with fleet(tmp_path) as (agent, hosts):
        agent.start(hosts, "1h")
        agent.wait_stage("running")
        agent.helper.close()
        assert agent.reasons == ["the fleet agent ended (status 0)"]
        check_free(hosts)


def test_an_agent_that_dies_leaves_no_host_running(tmp_path: Path) -> None:
    with fleet(tmp_path) as (agent, hosts):
        agent.start(hosts, "1h")
        agent.wait_stage("running")
        os.kill(agent.helper.pid, signal.SIGSEGV)
        eventually(lambda: agent.reasons, "it is still there", SOON_S)
        assert agent.reasons[0].startswith("the fleet agent ended (SIGSEGV)")
        check_free(hosts)


def test_keys_that_will_not_do_are_told(tmp_path: Path) -> None:
    agent = Agent(tmp_path)
    with pytest.raises(HostError, match=r"ended \(status 2\): there is no .*ca\.pem"):
        agent.helper.wait_ready()


def test_a_plan_that_will_not_do_is_refused_before_anything_listens(tmp_path: Path) -> None:
    with fleet(tmp_path) as (agent, _):
        with pytest.raises(HostError, match="unknown key 'x'"):
            agent.helper.ask("start", plan=toml.parse(plan_of([])), toml="x = 1")
        absurd = toml.parse(plan_of(NAMES, time='20s"\nrate = "5e20'))
        text = override.to_toml(file.load("random-read-4k"))
        with pytest.raises(HostError, match="--rate: a rate of 5e\\+20 is more than"):
            agent.helper.ask("start", plan=absurd, toml=text)
        assert [type(event).__name__ for event in agent.told] == ["Hello"]
        with pytest.raises(HostError, match="there is no run to stop"):
            agent.helper.ask("stop")
