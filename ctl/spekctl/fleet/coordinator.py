# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs a plan on the hosts of a fleet: check, prepare, arm, run, collect, release.

Hosts claim their devices everywhere or nowhere, all are armed for one time or none starts, and
nobody is dropped silently: a host that is lost ends the run of all, or the plan says on_loss =
"continue", and either way the outcome names it.
"""

from __future__ import annotations

import concurrent.futures
import hashlib
import itertools
import time
import uuid
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

from spekctl import __version__, units
from spekctl.errors import CalledOffError, ExitCode, HostLostError, RefusedError, SpekError
from spekctl.fleet import carrier, clock, examined, logs, replays, slices, wire
from spekctl.fleet.carrier import Engine, Happened
from spekctl.fleet.clock import Bound
from spekctl.fleet.clocks import HostClocks, Wait
from spekctl.fleet.collecting import Collecting
from spekctl.fleet.joining import Joining, Refusals, Started
from spekctl.fleet.outcome import Loss, Outcome, Part, end_of
from spekctl.fleet.patience import Patience
from spekctl.fleet.plan import Plan
from spekctl.fleet.polls import Polls
from spekctl.fleet.spool import Spool
from spekctl.fleet.straying import Straying
from spekctl.fleet.wire import Verb
from spekctl.kernel.records import IntervalRow
from spekctl.run.beside import Stage, View
from spekctl.run.conditions import Finding
from spekctl.run.job import Interrupts
from spekctl.workload import meaning, override, own_devices

SECOND = 10**9
# Hosts that a plan may have had; a seed by chance among theirs is next to impossible.
MOST_PLACES = 4096


def _toml_of(plan: Plan, described: wire.Described | None) -> str:
    """The workload as a host gets it, with the host's own paths for the devices of asus."""
    devices = described.devices if described is not None else []
    return override.to_toml(own_devices.at(plan.workload, wire.path_of(devices)))


@dataclass
class Coordinator:
    """One run of a plan. @fleet: the fleet in the controller's certificate."""

    plan: Plan
    engine: Engine
    view: View
    interrupts: Interrupts
    fleet: str
    command: Sequence[str] = ()
    patience: Patience = field(default_factory=Patience)
    real_ns: Callable[[], int] = time.time_ns
    bound: Callable[[], Bound] = clock.bound
    run_id: str = field(default_factory=lambda: str(uuid.uuid4()))
    started: Started | None = None
    folder: Path | None = None  # for what does not fit into memory; None: the user's state folder

    def __post_init__(self) -> None:
        self.parts = {host.name: Part(host) for host in self.plan.hosts}
        self._spool: Spool | None = None
        self._keep_rows()
        self._remarks: list[str] = []
        self._unreleased: list[str] = []
        self._start_ns = 0
        self._start_s = 0.0  # the same by CLOCK_MONOTONIC, which nobody sets
        self._distance: clock.Distance | None = None
        self.clocks = HostClocks(self.real_ns)
        self._straying = Straying(self.engine, lambda: self.view, self.real_ns)
        self._stopping = ""
        # The host whose failed run stopped the others, and those that were stopped by it.
        self._failed: tuple[str, ExitCode] | None = None
        self._stopped: set[str] = set()
        self._refusals = Refusals(self.engine)
        self._claimed: set[str] = set()
        self._own_bound = Bound(None, "it was not asked")
        self._looked_s = 0.0  # for silent hosts; CLOCK_MONOTONIC

    def _keep_rows(self) -> None:
        """Rows of a run that begins; those of the one before it are forgotten."""
        self.close()
        self._spool = Spool(self.folder)
        self._rows = {name: self._spool.of(name) for name in self.parts}
        self._cannot_keep = ""
        for name, part in self.parts.items():
            part.rows = self._rows[name]

    def close(self) -> None:
        """Forget the rows of hosts; an outcome has none afterwards."""
        if self._spool is not None:
            self._spool.close()

    def carry_out(self, is_wanted: Callable[[], bool] = lambda: True) -> Outcome:
        """Carry out the run, from the check to the release. SpekError if it did not start.
        @is_wanted: hosts that have claimed their devices wait until it returns True."""
        try:
            self.join()
            self.check()
            self.prepare()
            self.hold(is_wanted)
            self.arm()
            self.follow()
            self.collect()
        except BaseException:
            self.release()
            raise
        self.release()
        return self.outcome()

    def join(self) -> None:
        """Wait until all hosts of the plan have joined."""
        self._joining().wait(self._check_interrupts)

    def _joining(self) -> Joining:
        return Joining(
            {name: part.host for name, part in self.parts.items()},
            *(self.engine, self.view, self.patience, self.started, self._refusals),
        )

    def check(self) -> None:
        """Refuse hosts that cannot take part, before anything is claimed."""
        self._own_bound = self.bound()
        self._measure_clocks()
        payloads = {name: _describe(part) for name, part in self.parts.items()}
        answers = self._ask(Verb.DESCRIBE, payloads, wire.Described, self.patience.check_s)
        refusals = []
        for name, described in answers.items():
            self.parts[name].described = described
            self._straying.bounds[name] = described.clock
            refusal = self._refusal(self.parts[name], described)
            if refusal:
                refusals.append(f"{name}: {refusal}")
            else:
                self.view.reach(name, Stage.CHECKED)
        refusals += _other_modules(self.parts.values())
        if refusals:
            raise RefusedError("; ".join(refusals))

    def examine(self) -> list[Finding]:
        """What would stop a run on the hosts of the plan, or skew its results. Hosts that have not
        joined do not keep the others from being examined, and nothing is claimed."""
        absent = self._joining().absences(self._check_interrupts)
        self._own_bound = self.bound()
        joined = self.engine.hosts()
        names = [name for name in self.parts if name in joined]
        wait = self._waiting(self.patience.check_s, 1)
        self.clocks.measure(names, self.engine.call, wait, missing=set())
        asked = {
            name: self.engine.call(name, Verb.DESCRIBE, _describe(self.parts[name]))
            for name in names
        }
        self._wait(asked, self.patience.check_s, 1)
        self._check_interrupts()
        findings: list[Finding] = []
        for name, part in self.parts.items():
            if name not in joined:
                why = absent.get(name, "it had joined, and its connection has ended")
                findings.append(examined.absent(part.host, why))
                continue
            findings.append(examined.reached(part, joined[name]))
            try:
                part.described = carrier.answer(asked[name], wire.Described)
            except SpekError as error:
                findings.append(examined.absent(part.host, error.message, error.exit_code))
                continue
            findings += examined.of_host(
                *(part, part.described, self.fleet, self.clocks, self.plan.max_skew_ns)
            )
            findings += examined.of_claim(self.plan, part, part.described)
        for text in _other_modules(self.parts.values()):
            name, _, text = text.partition(": ")
            findings.append(Finding(name, "version", "stops", text, "", ExitCode.REFUSED))
        return [*findings, *examined.of_fleet(self.plan, self._devices())]

    def logs(self, questions: Mapping[str, wire.Log]) -> dict[str, wire.Logged]:
        """Per-I/O logs of hosts, counted where they lie. SpekError with the sentences of those that
        cannot; it takes as long as it takes, and Ctrl-C ends it."""
        asked = {
            name: self.engine.call(name, Verb.LOG, wire.encode(question))
            for name, question in questions.items()
        }
        lost: dict[str, str] = {}
        while any(not asked[name].done() for name in asked.keys() - lost.keys()):
            if self.interrupts.count:
                raise CalledOffError("interrupted; logs were only read", self.interrupts.exit_code)
            happened = self.engine.next(self.patience.look_s)
            if happened is not None and happened.lost and happened.host in asked:
                lost[happened.host] = happened.lost
        logged, errors = {}, []
        for name, future in asked.items():
            try:
                if not future.done():
                    raise HostLostError(lost[name])
                logged[name] = carrier.answer(future, wire.Logged)
                if logged[name].version != __version__:
                    raise RefusedError(
                        f"it has spekctl {logged[name].version}, and the controller {__version__};"
                        " install the same version everywhere"
                    )
                logs.check_answer(questions[name], logged[name])
            except SpekError as error:
                errors.append((name, error))
        if errors:
            text = "; ".join(f"{name}: {error.message}" for name, error in errors)
            raise _with_code(text, [error for _, error in errors])
        return logged

    def prepare(self, holds: Literal["", "read", "write"] = "") -> None:
        """Claim the devices everywhere, or give all of them back. @holds: as of wire.Claim."""
        with_trace = meaning.replays(self.plan.workload) and not self.plan.purge
        given = {} if with_trace else slices.of(self.plan, self._devices())
        replayed = slices.replayed(self.plan, self._devices()) if with_trace else {}
        payloads = {}
        for place, part in enumerate(self.parts.values()):
            host, described = part.host, part.described
            assert described is not None
            payloads[host.name] = wire.encode(
                wire.Claim(
                    run=self.run_id,
                    role=host.role,
                    toml=_toml_of(self.plan, described),
                    devices=[
                        wire.DeviceAsked(device.path, device.facts) for device in described.devices
                    ],
                    slices=given.get(host.name, []),
                    options=dict(host.options),
                    destroy=list(host.destroy),
                    seed=seed_of(self.plan.seed, place),
                    power_feeds=list(host.power_feeds),
                    command=list(self.command),
                    holds=holds,
                    replay=replayed.get(host.name),
                    purge=self.plan.purge and host.role == "client",
                    rest_ns=self.plan.rest_ns,
                )
            )
        self._remarks += slices.remarks(self.plan, self._devices())
        # Those that do not answer may have claimed as well.
        self._claimed = set(payloads)
        claimed = self._ask(Verb.CLAIM, payloads, wire.Claimed, self.patience.claim_s)
        if replayed:
            replays.check_alike({name: answer.trace_records for name, answer in claimed.items()})
        for name, answer in claimed.items():
            self.view.note(f"{name} is ready: {answer.title}")
            self.view.reach(name, Stage.CLAIMED)

    def hold(self, is_wanted: Callable[[], bool]) -> None:
        """Keep all hosts waiting until @is_wanted; SpekError if a host is lost meanwhile."""
        asked_s = 0.0
        self._looked_s = time.monotonic()
        for part in self.parts.values():
            part.heard_s = self._looked_s
        while not is_wanted():
            self._check_interrupts()
            self._refusals.tell(self.view)
            happened = self.engine.next(self.patience.look_s)
            if happened is not None and happened.host in self.parts:
                self._check_waiting(happened)
            now_s = time.monotonic()
            self._look_for_silent(now_s)
            if lost := [part.loss for part in self.parts.values() if part.loss is not None]:
                raise HostLostError(f"{lost[0].host}: {lost[0].reason}")
            if now_s - asked_s >= self.patience.status_s:
                asked_s = now_s
                self._ask_status(self._running())

    def _check_waiting(self, happened: Happened) -> None:
        """SpekError if a waiting host is lost, or can no longer start."""
        if happened.lost:
            self.view.reach(happened.host, Stage.LOST, happened.lost)
            raise HostLostError(f"{happened.host}: {happened.lost}")
        match happened.event:
            case wire.Note(text):
                self.view.note(f"{happened.host}: {text}")
            case wire.Done(_, text):
                self.view.reach(happened.host, Stage.ENDED, text)
                raise RefusedError(f"{happened.host}: {text}")

    def take(self, plan: Plan) -> None:
        """Take another plan of the same hosts, for the next run."""
        self.plan = plan
        self.parts = {
            host.name: replace(
                self.parts[host.name],
                host=host,
                armed=None,
                done=None,
                collected=None,
                asked=None,
                skew_before=None,
                skew_after=None,
            )
            for host in plan.hosts
        }
        self._keep_rows()

    def again(self, plan: Plan) -> None:
        """Get ready for another run on the devices that are held, everywhere or nowhere."""
        self.take(plan)
        self._start_ns, self._stopping = 0, ""
        self._failed, self._stopped = None, set()
        self._straying.begin()
        self._remarks = slices.remarks(plan, self._devices())
        self._own_bound = self.bound()
        self._measure_clocks()
        self._check_skews()
        # Until they are asked for it, hosts know, and release, the run before.
        before, self.run_id = self.run_id, str(uuid.uuid4())
        payloads = {
            part.name: wire.encode(
                wire.Step(
                    run=self.run_id,
                    after=before,
                    toml=_toml_of(plan, part.described),
                    options=dict(part.host.options),
                    seed=seed_of(plan.seed, place),
                    command=list(self.command),
                    purge=plan.purge and part.host.role == "client",
                    rest_ns=plan.rest_ns,
                )
            )
            for place, part in enumerate(self.parts.values())
        }
        self._ask(Verb.STEP, payloads, wire.Claimed, self.patience.claim_s)

    def _check_skews(self) -> None:
        """RefusedError if the clock of a host has become too wrong since the check of all hosts,
        which may have been hours ago."""
        wrong = {
            name: self.clocks.refusal(name, bound, self.plan.max_skew_ns)
            for name, bound in self._straying.bounds.items()
        }
        if any(wrong.values()):
            raise RefusedError("; ".join(f"{name}: {text}" for name, text in wrong.items() if text))

    def arm(self) -> None:
        """Set one start for all hosts, or none at all."""
        self._check_interrupts()
        patience = self.patience
        lead_s = max(
            patience.lead_s,
            patience.round_trips * self.clocks.worst_s,
            patience.rounds * self.clocks.round_s,
        )
        sent_ns = self.real_ns()
        self._start_s = time.monotonic() + lead_s
        self._distance = clock.distance()
        self._start_ns = sent_ns + round(lead_s * SECOND)
        came_ns: dict[str, int] = {}
        arm = wire.encode(wire.Arm(self.run_id, self._start_ns))
        answers = self._ask(
            Verb.ARM,
            dict.fromkeys(self.parts, arm),
            wire.Armed,
            lead_s - patience.margin_s,
            late="the start is called off",
            came_ns=came_ns,
        )
        self._check_interrupts()
        self._check_clocks(answers, sent_ns, came_ns)
        confirm = wire.encode(wire.OfRun(self.run_id))
        self._looked_s = time.monotonic()
        for name, answer in answers.items():
            part = self.parts[name]
            part.armed = answer
            # A host that does not get this cancels its start, and reports that.
            part.asked = self.engine.call(name, Verb.CONFIRM, confirm)
            part.heard_s = time.monotonic()
            self.view.reach(name, Stage.ARMED)
        self.view.note(
            f"{units.format_count(len(answers), 'host')} armed, to start in {self._left_s():.1f} s"
        )

    def _check_clocks(
        self, answers: Mapping[str, wire.Armed], sent_ns: int, came_ns: Mapping[str, int]
    ) -> None:
        """RefusedError if a host would start at another time, because a clock has changed."""
        now_ns = self.real_ns()
        wrong = {
            name: self.clocks.changed_since(
                answer.now_real_ns, sent_ns, came_ns.get(name, now_ns), self.plan.max_skew_ns
            )
            for name, answer in answers.items()
        }
        if any(wrong.values()):
            told = "; ".join(f"{name}: {text}" for name, text in wrong.items() if text)
            raise RefusedError(f"{told}; the start is called off")

    def follow(self) -> None:
        """Follow the run until every host has ended or is lost."""
        asked_s = time.monotonic()
        while left := self._running():
            happened = self.engine.next(self.patience.look_s)
            untaken = carrier.TAKE_MOST
            while happened is not None:
                self._take(happened)
                untaken -= 1
                happened = self.engine.next(0) if untaken else None
            self._obey()
            self._refusals.tell(self.view)
            now_s = time.monotonic()
            self._look_for_silent(now_s)
            if now_s - asked_s >= self.patience.status_s:
                asked_s = now_s
                self._ask_status(left)
            clients = [part for part in self._running() if part.host.role == "client"]
            if not clients and self._running():
                # Targets only sample: they end with the last client.
                self._stop_all("")

    def collect(self) -> None:
        """Collect the results of all hosts that are not lost."""
        wanted = [part.name for part in self.parts.values() if part.loss is None]
        # One Ctrl-C more than those that ended the run gives up the results, too.
        most = max(2, self.interrupts.count) + 1
        collecting = Collecting(self.engine, self.patience, self.run_id, self.view.note)
        results = collecting.of(wanted, lambda: self.interrupts.count >= most)
        for name in wanted:
            collected = results[name]
            if isinstance(collected, SpekError):
                self._lose(name, f"its result is missing: {collected.message}")
                continue
            self.parts[name].collected = collected
            if bytes(collected.document) == b"null":
                self._lose(name, f"it has no result: {collected.text}")
        wait = self._waiting(self.patience.silent_s, self.interrupts.count + 1)
        self._straying.judge(self.parts.values(), wait, self.plan.max_skew_ns)

    def poll(self) -> None:
        """Ask hosts whose results are collected for their status, so that they keep their devices
        for the next run; while nothing else is asked of them. Any thread may call it."""
        self._ask_status(())

    @property
    def unreleased(self) -> str:
        """Hosts whose devices may not be free after release(), and why; empty if there are none."""
        return "; ".join(self._unreleased)

    def release(self) -> None:
        """Have all hosts that can be reached release their devices; the others do it themselves."""
        self._refusals.tell(self.view, at_the_end=True)
        payload = wire.encode(wire.OfRun(self.run_id))
        joined = self.engine.hosts()
        asked = {
            name: self.engine.call(name, Verb.RELEASE, payload)
            for name in sorted(self._claimed)
            if name in joined
        }
        for name, part in self.parts.items():
            # A host that delivered its result and is lost has not confirmed its release.
            if part.collected is not None and part.loss is None and name not in joined:
                self._not_released(name, "it is lost")
        # Lost hosts may get the request, but their answers are not awaited.
        asked = {name: future for name, future in asked.items() if self.parts[name].loss is None}
        concurrent.futures.wait(asked.values(), self.patience.release_s)
        for name, future in asked.items():
            try:
                carrier.answer(future, type(None))
            except SpekError as error:
                self._not_released(name, error.message)

    def _not_released(self, name: str, why: str) -> None:
        text = f"{name} has not said that its devices are free: {why}"
        self.view.note(text)
        self._unreleased.append(text)

    def outcome(self) -> Outcome:
        """The outcome of the run."""
        if self._distance is not None:
            self._remark_step("the controller", self._distance.step_ns(clock.distance()))
        for part in self.parts.values():
            facts = part.collected.facts if part.collected is not None else None
            if facts is not None:
                self._remark_step(part.name, facts.stepped_ns)
        strayed = self._straying.texts
        told = [f"{name}: {text}" for name, text in strayed.items()]
        for name, part in self.parts.items():
            part.skew_before = self.clocks.known(name)
        interrupted = self.interrupts.exit_code if self.interrupts.count else ExitCode.OK
        code, text = end_of(
            *(self.parts.values(), self._failures(), interrupted),
            *(self.unreleased, "; ".join(told)),
        )
        return Outcome(
            run=self.run_id,
            fleet=self.fleet,
            start_real_ns=self._start_ns,
            code=code,
            text=text,
            parts=list(self.parts.values()),
            clock=self._own_bound,
            losses=[part.loss for part in self.parts.values() if part.loss is not None],
            remarks=[*self._remarks, *told, *self._unreleased],
            strayed=strayed,
        )

    def _remark_step(self, name: str, stepped_ns: int) -> None:
        if stepped_ns:
            self._remarks.append(
                f"the clock of {name} was set by {units.format_ns(abs(stepped_ns))}"
                f" {'forward' if stepped_ns > 0 else 'back'} during the run"
            )

    def _failures(self) -> dict[str, ExitCode]:
        """Exit codes of the hosts whose run has failed, first that of the one that failed first.
        A host that was stopped because of it ends as interrupted, which is no failure of its own.
        """
        failed = {}
        for part in self.parts.values():
            # What a host has said of its run counts without its result, too.
            said = part.collected or part.done
            if said is not None and said.code:
                failed[part.name] = _exit_code(said.code)
        if self._failed is None:
            return failed
        first, code = self._failed
        own = {
            name: own_code
            for name, own_code in failed.items()
            if name not in self._stopped
            or own_code not in (ExitCode.INTERRUPTED, ExitCode.TERMINATED)
        }
        return {first: own.get(first, code), **own}

    def _devices(self) -> dict[str, list[wire.DeviceSeen]]:
        return {
            name: list(part.described.devices)
            for name, part in self.parts.items()
            if part.described is not None and part.host.role == "client"
        }

    def _refusal(self, part: Part, described: wire.Described) -> str:
        """Why a host cannot take part; empty if it can."""
        findings = examined.of_host(
            *(part, described, self.fleet, self.clocks, self.plan.max_skew_ns)
        )
        return next((finding.text for finding in findings if finding.level == "stops"), "")

    def _ask(
        self,
        verb: Verb,
        payloads: Mapping[str, bytes],
        kind: type,
        patience_s: float,
        late: str = "",
        came_ns: dict[str, int] | None = None,
    ) -> dict[str, Any]:
        """The answers of all hosts; SpekError with the sentences of hosts that give none.
        @came_ns: gets the times at which the answers arrived."""
        asked = {name: self.engine.call(name, verb, data) for name, data in payloads.items()}
        if came_ns is not None:
            for name, future in asked.items():
                future.add_done_callback(partial(self._note_time, came_ns, name))
        self._wait(asked, patience_s, 1)
        self._check_interrupts()
        answers, errors = {}, []
        for name, future in asked.items():
            try:
                answers[name] = carrier.answer(future, kind, late)
            except SpekError as error:
                errors.append((name, error))
        if errors:
            text = "; ".join(f"{name}: {error.message}" for name, error in errors)
            raise _with_code(text, [error for _, error in errors])
        return answers

    def _note_time(self, came_ns: dict[str, int], name: str, answered: Future[bytes]) -> None:
        """In the engine's thread. A waiter may wake before: its time is later, and will do."""
        came_ns[name] = self.real_ns()

    def _measure_clocks(self) -> None:
        try:
            wait = self._waiting(self.patience.check_s, 1)
            self.clocks.measure(self.parts, self.engine.call, wait)
        except SpekError:
            self._check_interrupts()
            raise

    def _waiting(self, patience_s: float, interrupts: int) -> Wait:
        """Waits for answers, for at most @patience_s or until Ctrl-C number @interrupts."""

        def wait(pending: Collection[Future[Any]]) -> None:
            end_s = time.monotonic() + patience_s
            while self.interrupts.count < interrupts:
                left_s = max(0.0, end_s - time.monotonic())
                done = concurrent.futures.wait(pending, min(left_s, self.patience.look_s))
                if not done.not_done or not left_s:
                    return

        return wait

    def _wait(self, asked: Mapping[str, Future[bytes]], patience_s: float, interrupts: int) -> None:
        """Wait until all have answered, up to @patience_s or Ctrl-C number @interrupts."""
        end_s = time.monotonic() + max(0.0, patience_s)
        polls = Polls(self.engine, asked, wire.encode(wire.OfRun(self.run_id)), self.patience)
        while self.interrupts.count < interrupts:
            now_s = time.monotonic()
            left_s = max(0.0, end_s - now_s)
            done = concurrent.futures.wait(asked.values(), min(left_s, polls.look_s))
            if not done.not_done or not left_s:
                return
            polls.ask_if_due(now_s)

    def _running(self) -> list[Part]:
        return [part for part in self.parts.values() if part.done is None and part.loss is None]

    def _take(self, happened: Happened) -> None:
        part = self.parts.get(happened.host)
        if part is None or part.loss is not None:
            return
        if happened.lost:
            if part.done is None:
                self._lose(part.name, happened.lost)
            return
        part.heard_s = time.monotonic()
        match happened.event:
            case wire.Rows(now, rows):
                self.view.show(part.name, now, rows)
            case wire.Intervals(rows):
                self._keep(part.name, rows)
            case wire.Note(text):
                self.view.note(f"{part.name}: {text}")
            case wire.Done() as done if part.done is None:
                part.done = done
                self.view.reach(part.name, Stage.ENDED, done.text)
                if done.code and not self._stopping:
                    if self.plan.on_loss == "stop":
                        self._failed = part.name, _exit_code(done.code)
                        self._stopped = {left.name for left in self._running()}
                    self._fail(part.name, f"its run has ended: {done.text}")

    def _keep(self, name: str, rows: Sequence[IntervalRow]) -> None:
        """Keep report intervals: if the host is lost, they are all that is known of it."""
        if self._cannot_keep:
            return
        try:
            self._rows[name].add(rows)
        except SpekError as error:
            self._cannot_keep = error.message
            self.view.note(error.message)
            self._remarks.append(error.message)

    def _lose(self, name: str, reason: str) -> None:
        part = self.parts[name]
        part.loss = Loss(name, -self._left_s(), reason)
        self.view.reach(name, Stage.LOST, reason)
        self.view.note(f"{name} is lost at {part.loss.at_s:.1f} s: {reason}")
        self._fail(name, "it is lost")

    def _fail(self, name: str, what: str) -> None:
        """Stop the other hosts if the plan says so."""
        if self.plan.on_loss == "stop" and not self._stopping:
            self._stop_all(f"stopping all hosts, because of {name}: {what}")

    def _stop_all(self, why: str) -> None:
        if why:
            self._stopping = why
            self.view.note(why)
        payload = wire.encode(wire.OfRun(self.run_id))
        for part in self._running():
            if why or part.host.role == "target":
                # The end of its run shows that it has received this.
                self.engine.call(part.name, Verb.STOP, payload)

    def _obey(self) -> None:
        """Ctrl-C: the first one stops all, the second one does not wait for outstanding I/O."""
        if self.interrupts.count and not self._stopping:
            self._stop_all("stopping; press Ctrl-C again to not wait for outstanding I/O")
        elif self.interrupts.count > 1 and not self._stopping.startswith("leaving"):
            self._stop_all("leaving without outstanding I/O")

    def _ask_status(self, parts: Iterable[Part]) -> None:
        """Poll hosts, which shows them that the controller lives; an answer is a sign of life."""
        payload = wire.encode(wire.OfRun(self.run_id))
        # Hosts whose run has ended keep their results until they are asked for them.
        ended = [part for part in self.parts.values() if part.done and part.loss is None]
        for part in itertools.chain(parts, ended):
            if part.asked is None or part.asked.done():
                part.asked = self._straying.ask(part.name, payload)

    def _look_for_silent(self, now_s: float) -> None:
        # If this process did not run meanwhile, it could hear of no host.
        gap_s = now_s - self._looked_s
        self._looked_s = now_s
        if gap_s > 2 * max(self.patience.status_s, self.patience.look_s):
            for part in self._running():
                part.heard_s = min(now_s, part.heard_s + gap_s)
        for part in self._running():
            if part.asked is not None and part.asked.done() and not part.asked.cancelled():
                if part.asked.exception() is None:
                    part.heard_s = now_s
                    if self._start_ns:
                        allowed_ns, at_s = self.plan.max_skew_ns, -self._left_s()
                        self._straying.see(part.name, part.asked, allowed_ns, at_s)
                part.asked = None
            silent_s = now_s - part.heard_s
            if silent_s > self.patience.silent_s:
                self._lose(part.name, f"it has been silent for {silent_s:.0f} s")

    def _left_s(self) -> float:
        """Time until the start, s; negative after it."""
        return self._start_s - time.monotonic() if self._start_ns else 0.0

    def _check_interrupts(self) -> None:
        if self.interrupts.count:
            text = "interrupted before the start; no host has sent I/O"
            if self._start_ns and self._left_s() <= 0:
                text = (
                    "interrupted before hosts were told to keep the start, which has passed; a"
                    " host that could not call it off in time may have sent I/O"
                )
            raise CalledOffError(text, self.interrupts.exit_code)


def _describe(part: Part) -> bytes:
    """The question what a host is."""
    return wire.encode(wire.Describe(list(part.host.devices), part.host.role))


def seeds_of(seed: int) -> frozenset[int]:
    """Seeds of all hosts that a plan with this seed can have."""
    return frozenset(seed_of(seed, place) for place in range(MOST_PLACES))


def seed_of(seed: int, place: int) -> int:
    """The seed of a host: hosts with equal loads do not send equal I/Os."""
    return int.from_bytes(hashlib.sha256(f"{seed}/{place}".encode()).digest()[:8], "little") >> 1


def _other_modules(parts: Iterable[Part]) -> list[str]:
    """Clients with another spek.ko than the first one, whose results could not be added up. The
    prober of a target is another module."""
    loaded = [
        (part.name, part.described.module_version)
        for part in parts
        if part.host.role == "client"
        and part.described is not None
        and part.described.module_version
    ]
    return [
        f"{name}: it has spek.ko {version}, and {loaded[0][0]} {loaded[0][1]}; load the same"
        " version on all clients"
        for name, version in loaded
        if version != loaded[0][1]
    ]


def _exit_code(code: int) -> ExitCode:
    """That of a host, which may send any number."""
    return ExitCode(code) if code in set(ExitCode) else ExitCode.RUN_FAILED


def _with_code(text: str, errors: Sequence[SpekError]) -> SpekError:
    """An error with the exit code of a lost host if there is one, else the one that all @errors
    share, else that of a refusal."""
    codes = {error.exit_code for error in errors}
    error: SpekError = RefusedError(text)
    if ExitCode.HOST_LOST in codes:
        error.exit_code = ExitCode.HOST_LOST
    elif len(codes) == 1:
        error.exit_code = codes.pop()
    return error
