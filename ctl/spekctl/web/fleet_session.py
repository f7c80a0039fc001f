# SPDX-License-Identifier: GPL-2.0-or-later
"""The session of a server with --fleet: its plan, the agent of the current run, and the events for
the pages.

Each run has an agent of its own, which ends with it. A run outlives the pages that show it, and
ends with the server: its agent's input ends, and without the agent the hosts have no controller.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
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

# Stops that are passed to the agent; the next one kills it.
STOPS = 2
# Time for the agent to accept a stop, which it does at once, s.
STOP_S = 5.0
# Time for the agent to end its run at the end of the server, s; then it is killed.
CLOSE_S = 35.0
_LEFT = "its hosts have lost their controller, and release their devices by themselves"


class FleetSession(Feed):
    """@start: starts an agent; @file: the plan, which was read from @path."""

    KIND: ClassVar[str] = "fleet"
    JOB: ClassVar[Any] = FleetJob
    # Addresses that only servers of one machine have.
    LACKS: ClassVar[frozenset[str]] = frozenset({"/api/devices", "/api/status", "/metrics"})

    def __init__(self, start: Starter, file: PlanFile, path: Path, library: Library) -> None:
        super().__init__()
        self.library = library
        self._start = start
        self._file = file
        self._path = path
        self._starts = threading.Lock()
        self._agent: Helper[AnyEvent] | None = None
        # The current run's; written under @_starts, then by the agent's thread.
        self._under_way = False
        self._stops = 0
        self._runs = 0  # number of runs so far
        self._run_name = "run"

    def form(self) -> FleetForm:
        """The data from which the page builds its form."""
        return fleet_job.form_of(self._file, self._path.name)

    def dry_run(self, job: FleetJob) -> Plan:
        """Check a job as far as possible without the hosts."""
        _, checked = fleet_job.planned(self._file, self._path.parent, job)
        return fleet_job.shown(self._file, checked)

    def claim(self, job: FleetJob) -> Plan:
        """Start a run that waits for go() once all hosts have claimed their devices."""
        return self._begin(job, holds=True)

    def start(self, job: FleetJob) -> Plan:
        """Start a run."""
        return self._begin(job, holds=False)

    def go(self, run: int) -> None:
        """Start the waiting hosts. @run: number of the run that the page shows, so that it does not
        start a run that another page has begun since."""
        agent = self._running("no run is waiting for its start")
        if run != self._runs:
            raise RefusedError("another run is waiting now; look at it before you start it")
        agent.ask("go")

    def stop(self) -> None:
        """Stop the run: the first time like Ctrl-C, the second time without waiting for outstanding
        I/O. The third time, or if the agent does not answer, kill the agent."""
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
        """Close an agent's input and wait for its end; kill it if that takes too long."""
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
        file, checked = fleet_job.planned(self._file, self._path.parent, job)
        fleet_job.check_write(checked)
        with self._starts:
            if self._under_way:
                raise RefusedError("a run is under way; stop it first")
            if not self._open:
                raise HostError("the server is ending")
            if self._agent is not None:
                # It has delivered its result, but still listens at the next agent's address.
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
                    toml=override.to_toml(checked.workload),
                    holds=holds,
                )
                if self._stops:
                    # A stop came while the agent started.
                    _ask_to_stop(agent)
            except Exception:
                self._under_way = False
                if self._agent is not None and self._agent.alive:
                    self._agent.kill()
                raise
        return fleet_job.shown(self._file, checked)

    def _take(self, run: int, event: AnyEvent) -> None:
        """Handle an event of a run's agent, in the agent's thread."""
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
        documents = {self._run_name: event.result} if bytes(event.result) != b"null" else {}
        documents |= {f"{self._run_name}.{name}": data for name, data in event.reports.items()}
        kept, trouble = self._keep(documents)
        parts, more = self._keep(
            {f"{self._run_name}.{name}": data for name, data in event.documents.items()}
        )
        text = event.text
        if parts:
            text = f"{text}; the hosts' own results are in {', '.join(parts)}"
        self._tell_end(event.code, text, kept, trouble or more, event.skew_ns)
        agent = self._agent
        if agent is not None:
            # The agent's own thread, which is this one, has to report its end.
            threading.Thread(target=self._leave, args=(agent,), daemon=True).start()

    def _keep(self, documents: Mapping[str, msgspec.Raw]) -> tuple[list[str], str]:
        """Write documents, by the names that their files begin with. Return: the files, and why one
        could not be written."""
        kept, trouble = [], ""
        for name, data in documents.items():
            try:
                # As `spekctl fleet run -o` writes it.
                kept.append(self.library.keep(name, files.pretty(bytes(data))))
            except SpekError as error:
                trouble = error.message
        return kept, trouble

    def _lost(self, run: int, reason: str) -> None:
        """Note that a run's agent is gone, and with it the run if it had not ended."""
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
        # The agent or its run has already ended.
        return
