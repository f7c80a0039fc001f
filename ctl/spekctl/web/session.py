# SPDX-License-Identifier: GPL-2.0-or-later
"""The session of a server of one machine: its host helper, the run under way, and the events of
its pages.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, ClassVar

import msgspec

from spekctl import files
from spekctl.errors import RefusedError, SpekError
from spekctl.host.client import Helper, HostError
from spekctl.host.protocol import (
    AnyEvent,
    Ended,
    Job,
    Log,
    Note,
    Plan,
    Rows,
    Started,
    State,
)
from spekctl.host.wire import Hello
from spekctl.web import form
from spekctl.web.feed import Feed
from spekctl.web.library import Library, LogPart

# Starts a helper with its two callbacks.
Starter = Callable[[Callable[[AnyEvent], None], Callable[[str], None]], Helper[AnyEvent]]


class _LogOf(msgspec.Struct):
    """The log of a result."""

    file: str = ""


class _Result(msgspec.Struct):
    log: _LogOf | None = None


def _names_a_log(data: bytes) -> bool:
    """Whether a result says that its log was written to the end."""
    result = msgspec.json.decode(data, type=_Result | None)
    return result is not None and result.log is not None and bool(result.log.file)


class Session(Feed):
    """@start: how to start the host; @again: it can be started more than once."""

    KIND: ClassVar[str] = "host"
    JOB: ClassVar[Any] = Job
    # Addresses of a fleet's server.
    LACKS: ClassVar[frozenset[str]] = frozenset({"/fleet.js", "/api/claim", "/api/go"})

    def __init__(self, start: Starter, library: Library, again: bool = True) -> None:
        super().__init__()
        self.library = library
        self._start = start
        self._again = again
        self._helper: Helper[AnyEvent] | None = None
        self._trouble = ""  # why there is no helper
        self._starting = threading.Lock()
        self._run_name = "run"
        self._starts = threading.Lock()
        # From before the host is asked for a run until its result is kept: until then the log of a
        # refused start could take the place of that of the run.
        self._under_way = False
        self._next_log: LogPart | None = None  # of a run that is being started
        self._log: LogPart | None = None  # of the run under way

    def form(self) -> form.Form:
        """The data from which the page builds its form."""
        return form.form()

    # --- the host --------------------------------------------------------------------------------

    def connect(self) -> Helper[AnyEvent]:
        """The helper; started if there is none. HostError if that fails."""
        with self._starting:
            if self._helper is not None and self._helper.alive:
                return self._helper
            if not self._open:
                raise HostError("the server is ending")
            if self._helper is not None and not self._again:
                raise HostError(f"{self._trouble}; start spekctl web again")
            try:
                helper = self._start(self._take, self._lost)
                self._helper = helper
                helper.wait_ready()
            except SpekError as error:
                self._trouble = error.message
                self.tell("host", {"alive": False, "text": error.message})
                raise
            self.tell("host", {"alive": True, "text": ""})
            return helper

    def devices(self) -> list[dict[str, Any]]:
        """Block devices and their permitted use, as `spekctl devices --json` has them."""
        devices: list[dict[str, Any]] = self.connect().ask("devices", list[dict[str, Any]])
        return devices

    def dry_run(self, job: Job) -> Plan:
        """Check a job."""
        self._check_log(job)
        plan: Plan = self.connect().ask("dry-run", Plan, job=job)
        return plan

    def start(self, job: Job) -> Plan:
        """Start a run. Its log is opened before: its first bytes may come before the answer."""
        with self._starts:
            if self._under_way:
                raise RefusedError("a run is under way; stop it first")
            name = self._check_log(job)
            self._next_log = self.library.log(name) if name else None
            self._under_way = True
            try:
                plan: Plan = self.connect().ask("start", Plan, job=job)
            except SpekError:
                self._under_way = False
                log, self._next_log = self._next_log, None
                if log is not None:
                    log.discard()
                raise
            return plan

    def _check_log(self, job: Job) -> str:
        """Name of the log that a job asks for, which the host takes as any other; else empty."""
        name = job.options.get("log", "")
        if isinstance(name, str) and name:
            self.library.check_log(name)
            return name
        return ""

    def stop(self) -> None:
        """Stop the run."""
        if self._helper is None or not self._helper.alive:
            raise RefusedError("there is no run to stop")
        self._helper.ask("stop")

    def status(self) -> State:
        """Whether a run is under way, and all runs in the kernel."""
        state: State = self.connect().ask("status", State)
        return state

    def metrics(self, openmetrics: bool) -> str:
        """All runs in the kernel for Prometheus."""
        text: str = self.connect().ask("metrics", str, openmetrics=openmetrics)
        return text

    def close(self) -> None:
        """End the helper, its run, and all waits for events."""
        self.end()
        if self._helper is not None:
            self._helper.close()

    # --- events ----------------------------------------------------------------------------------

    def _take(self, event: AnyEvent) -> None:
        """An event of the host, in its thread."""
        match event:
            case Hello():
                pass
            case Started():
                self._under_way = True
                self._run_name = event.name
                self._log, self._next_log = self._next_log, None
                self.forget()
                self.tell("started", event)
            case Rows():
                self.tell("rows", event, len(event.rows))
            case Note():
                self.tell("note", event)
            case Log():
                if self._log is not None:
                    self._log.add(event.data)
            case Ended():
                self._end(event)

    def _end(self, event: Ended) -> None:
        data, file, trouble = bytes(event.result), "", ""
        log, self._log = self._log, None
        kept = ""
        if log is not None and _names_a_log(data):
            kept, trouble = log.keep(), log.trouble
        elif log is not None:
            log.discard()
        if data != b"null":
            try:
                # As `spekctl run -o` writes it.
                file = self.library.keep(self._run_name, files.pretty(data))
            except SpekError as error:
                trouble = error.message
        summary = {
            "code": event.code,
            "text": event.text,
            "file": file,
            "log": kept,
            "trouble": trouble,
        }
        self._under_way = False
        self.tell("ended", summary)

    def _lost(self, reason: str) -> None:
        """The helper is gone, and with it its run."""
        self._trouble = reason
        self._under_way = False
        logs = (self._log, self._next_log)
        self._log = self._next_log = None
        for log in logs:
            if log is not None:
                log.discard()
        if self._open:
            self.tell("host", {"alive": False, "text": reason})
