# SPDX-License-Identifier: GPL-2.0-or-later
"""The session of a server of a fleet: its plan, the agent of the run under way, and the events
for the pages.

Each run has an agent of its own, which ends with it. A run outlives the pages that show it, and
ends with the server: its agent's input ends, and without the agent hosts have no controller.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import msgspec

from spekctl import files
from spekctl.documents.plan import PlanFile
from spekctl.errors import ExitCode, RefusedError, SpekError
from spekctl.fleet.protocol import AnyEvent, Ended, Hosts
from spekctl.host.client import Helper, HostError
from spekctl.host.protocol import Note, Plan, Rows, Started
from spekctl.host.wire import Hello
from spekctl.web import fleet_job
from spekctl.web.feed import Feed
from spekctl.web.fleet_job import FleetForm, FleetJob
from spekctl.web.library import Library
from spekctl.workload import override

# Starts an agent with its two callbacks.
Starter = Callable[[Callable[[AnyEvent], None], Callable[[str], None]], Helper[AnyEvent]]

# Stops that are asked for; the next one ends the agent.
STOPS = 2
# For the agent to take a stop, which it does at once, s.
STOP_S = 5.0
# For hosts to be told of the end of the server, s; then the agent ends without.
CLOSE_S = 35.0
_LEFT = "its hosts have lost their controller, and give their devices back by themselves"


class FleetSession(Feed):
    """@start: how to start an agent; @file: the plan, which was read from @path."""

    KIND: ClassVar[str] = "fleet"
    JOB: ClassVar[Any] = FleetJob
    # Addresses of a server of one machine.
    LACKS: ClassVar[frozenset[str]] = frozenset({"/api/devices", "/api/status", "/metrics"})

    def __init__(self, start: Starter, file: PlanFile, path: Path, library: Library) -> None:
        super().__init__()
        self.library = library
        self._start = start
        self._file = file
        self._path = path
        self._starts = threading.Lock()
        self._agent: Helper[AnyEvent] | None = None
        # Of the run under way; written by @_starts, then by the agent's thread.
        self._under_way = False
        self._stops = 0
        self._runs = 0  # that were begun
        self._run_name = "run"

    def form(self) -> FleetForm:
        """What the page builds its form of."""
        return fleet_job.form_of(self._file, self._path.name)

    def dry_run(self, job: FleetJob) -> Plan:
        """Check a job, as far as that needs no host."""
        _, meant = fleet_job.planned(self._file, self._path.parent, job)
        return fleet_job.shown(self._file, meant)

    def claim(self, job: FleetJob) -> Plan:
        """Have all hosts claim their devices, and wait for go()."""
        return self._begin(job, holds=True)

    def start(self, job: FleetJob) -> Plan:
        """Start a run."""
        return self._begin(job, holds=False)

    def go(self, run: int) -> None:
        """Start the hosts that wait. @run: the number that the page was told with the start of what
        it shows, so that it does not start what somebody has claimed since."""
        agent = self._running("there is no run that waits for its start")
        if run != self._runs:
            raise RefusedError("another run waits now; look at it before you start it")
        agent.ask("go")

    def stop(self) -> None:
        """Stop the run: the first time as Ctrl-C, the second time without outstanding I/O, the
        third time by the end of its agent, as well as if that does not answer."""
        agent = self._running("there is no run to stop")
        self._stops += 1
        if self._stops > STOPS:
            agent.kill()
            return
        asking = threading.Thread(target=_ask_to_stop, args=(agent,), daemon=True)
        asking.start()
        asking.join(STOP_S)
        if asking.is_alive():
            agent.kill()

    def close(self) -> None:
        """End the run on all hosts, and all waits for events."""
        self.end()
        if self._agent is not None:
            self._leave(self._agent)

    def _leave(self, agent: Helper[AnyEvent]) -> None:
        """Wait until an agent is gone, which ends it."""
        if agent.alive:
            agent.close(CLOSE_S)
        if agent.alive:
            agent.kill()
            agent.close(STOP_S)

    def _running(self, text: str) -> Helper[AnyEvent]:
        agent = self._agent
        if agent is None or not agent.alive or not self._under_way:
            raise RefusedError(text)
        return agent

    def _begin(self, job: FleetJob, holds: bool) -> Plan:
        file, meant = fleet_job.planned(self._file, self._path.parent, job)
        fleet_job.check_write(meant)
        with self._starts:
            if self._under_way:
                raise RefusedError("a run is under way; stop it first")
            if not self._open:
                raise HostError("the server is ending")
            if self._agent is not None:
                # It has told its result, and still listens where the next one will.
                self._leave(self._agent)
            self._stops = 0
            self._runs += 1
            self._under_way = True
            try:
                take, lost = partial(self._take, self._runs), partial(self._lost, self._runs)
                self._agent = agent = self._start(take, lost)
                agent.wait_ready()
                agent.ask(
                    "start",
                    plan=msgspec.to_builtins(file),
                    toml=override.to_toml(meant.workload),
                    holds=holds,
                )
                if self._stops:
                    # Somebody was faster.
                    _ask_to_stop(agent)
            except Exception:
                self._under_way = False
                if self._agent is not None and self._agent.alive:
                    self._agent.kill()
                raise
        return fleet_job.shown(self._file, meant)

    def _take(self, run: int, event: AnyEvent) -> None:
        """An event of the agent of a run, in its thread."""
        if run != self._runs:
            return
        match event:
            case Hello():
                pass
            case Started():
                self._run_name = event.name
                self.forget()
                self.tell("started", {**msgspec.to_builtins(event), "run": run})
            case Rows():
                self.tell("rows", event, len(event.rows))
            case Note():
                self.tell("note", event)
            case Hosts():
                self.tell("hosts", event)
            case Ended():
                self._end(event)

    def _end(self, event: Ended) -> None:
        kept, trouble = [], ""
        documents = {self._run_name: event.result} if bytes(event.result) != b"null" else {}
        documents |= {f"{self._run_name}.{name}": data for name, data in event.reports.items()}
        for name, data in documents.items():
            try:
                # As `spekctl fleet run -o` writes it.
                kept.append(self.library.keep(name, files.pretty(bytes(data))))
            except SpekError as error:
                trouble = error.message
        self._tell_end(event.code, event.text, kept, trouble, event.skew_ns)
        agent = self._agent
        if agent is not None:
            # Its thread, which is this one, says that it is gone.
            threading.Thread(target=self._leave, args=(agent,), daemon=True).start()

    def _lost(self, run: int, reason: str) -> None:
        """The agent of a run is gone; its run as well, if that had not ended."""
        if run != self._runs:
            # An agent is not alive before this is called, so the next run may have begun.
            return
        if self._under_way and self._open:
            self._tell_end(int(ExitCode.RUN_FAILED), f"{reason}; {_LEFT}", [], "", None)
        self._under_way = False

    def _tell_end(
        self, code: int, text: str, kept: list[str], trouble: str, skew_ns: int | None
    ) -> None:
        self._under_way = False
        self.tell(
            "ended",
            {
                "code": code,
                "text": text,
                "file": kept[0] if kept else "",
                "samples": kept[1:],
                "log": "",
                "trouble": trouble,
                "skew_ns": skew_ns,
            },
        )


def _ask_to_stop(agent: Helper[AnyEvent]) -> None:
    try:
        agent.ask("stop")
    except SpekError:
        # It has ended, which is what was wanted, or its run has.
        return
