# SPDX-License-Identifier: GPL-2.0
"""A fleet's agent without hosts, as a process: speaks the protocol of fleet/agent.py, and replays
tables. `python fleet_agent.py '{"rounds": 5, ...}'`; see Script for what it can be told."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import time

import msgspec

from spekctl import __version__
from spekctl.fleet.protocol import VERBS, AnyRequest, Ended, Go, HostNews, Hosts, Start
from spekctl.host import wire
from spekctl.host.protocol import Note, Rows, Started
from spekctl.host.wire import Answer, Fault, Hello
from spekctl.kernel.records import Phase, RunState
from spekctl.run.progress import Clock, DirectionFigures, Figures


class Script(msgspec.Struct):
    """What the agent does with the hosts of its plan, of which the last is late from round 2 on,
    and lost at the end if there is @lost: the reason."""

    rounds: int = 3
    pause_s: float = 0.02
    text: str = "FAKE"
    lost: str = ""
    result: str = ""  # path of a result
    samples: str = ""  # name of a target that has samples
    unmerged: bool = False  # the results of hosts cannot be added up
    dies_at: int = -1  # round, by SIGSEGV
    deaf: bool = False  # to stops
    refuses: str = ""
    seen: str = ""  # path of a file for what it is asked


def figures(at_s: float) -> Figures:
    side = DirectionFigures(1000, 1000.0, 4.0, 100_000, 400_000, 900_000)
    none = DirectionFigures(0, 0.0, 0.0, 0, 0, 0)
    return Figures(at_s, Phase.MEASURE, side, none, 8, 0, 0, 0.5, None, None)


class FakeAgent:
    def __init__(self, script: Script) -> None:
        self.script = script
        self.lock = threading.Lock()
        self.stop = threading.Event()
        self.go = threading.Event()

    def send(self, message: object) -> None:
        with self.lock, contextlib.suppress(OSError):
            sys.stdout.buffer.write(wire.line(message))
            sys.stdout.buffer.flush()

    def serve(self) -> None:
        self.send(Hello(wire.PROTOCOL, __version__, VERBS))
        for line in sys.stdin.buffer:
            if self.script.seen:
                with open(self.script.seen, "ab") as file:
                    file.write(line)
            asked = msgspec.json.decode(line, type=AnyRequest)
            match asked:
                case Start() if self.script.refuses:
                    self.send(Answer(asked.id, error=Fault(4, self.script.refuses)))
                    continue
                case Start():
                    threading.Thread(target=self.replay, args=(asked,), daemon=True).start()
                case Go():
                    self.go.set()
                case wire.Stop() if self.script.deaf:
                    continue
                case wire.Stop():
                    self.stop.set()
            self.send(Answer(asked.id))
        self.stop.set()

    def table(
        self, asked: Start, stage: str, at_s: float | None = None, skew: bool = False
    ) -> None:
        names = [host.name for host in asked.plan.host]
        hosts = []
        for place, name in enumerate(names):
            is_last = place == len(names) - 1 and len(names) > 1
            own, text = stage, f"/dev/fake{place} {self.script.text}"
            if is_last and at_s is not None and at_s >= 2 and stage == "running":
                own = "late"
            if is_last and stage == "ended" and self.script.lost:
                own, text = "lost", self.script.lost
            news = HostNews(
                *(name, "client", own, text, at_s, 1000.0, 4.0, 100_000, 400_000, 900_000, 0),
                off_ns=-5000,
                off_bound_ns=90_000,
                bound_ns=200_000 if place else None,
                clock="chrony",
                skew_ns=12_000 * (place + 1) if skew else None,
            )
            hosts.append(news)
        self.send(Hosts(hosts, stage == "claimed" and asked.holds and not self.go.is_set()))

    def replay(self, asked: Start) -> None:
        script = self.script
        title = f"{script.text} on {len(asked.plan.host)} hosts"
        self.send(Started(title, asked.plan.fleet.name, ["main"], ["web", "--fleet"]))
        self.send(Note(f"waiting {script.text}"))
        for stage in ("awaited", "joined", "checked", "claimed"):
            self.table(asked, stage)
        while asked.holds and not (self.go.is_set() or self.stop.is_set()):
            time.sleep(0.01)
        self.table(asked, "armed")
        for number in range(script.rounds):
            if number == script.dies_at:
                print(f"it is broken {script.text}", file=sys.stderr, flush=True)
                os.kill(os.getpid(), signal.SIGSEGV)
            if self.stop.is_set():
                break
            clock = Clock(
                Phase.MEASURE, RunState.RUNNING, number + 1.0, 9.0, number / script.rounds
            )
            self.table(asked, "running", number + 1.0)
            self.send(Rows(clock, [figures(number + 1.0)]))
            time.sleep(script.pause_s)
        self.table(asked, "ended", script.rounds * 1.0, skew=True)
        result = msgspec.Raw(b"null")
        if script.result:
            with open(script.result, "rb") as file:
                result = msgspec.Raw(msgspec.json.format(file.read(), indent=-1))
        stopped = self.stop.is_set()
        text = "the run was stopped early" if stopped else f"the run completed {script.text}"
        samples = {script.samples: result} if script.samples else {}
        if script.unmerged:
            names = [host.name for host in asked.plan.host]
            parts = dict.fromkeys(names, msgspec.Raw(b'{"kind":5}'))
            self.send(Ended(1, "b has sent a damaged result", documents=parts))
            return
        self.send(Ended(130 if stopped else 0, text, result, samples, 24_000))


if __name__ == "__main__":
    FakeAgent(msgspec.json.decode(sys.argv[1], type=Script)).serve()
