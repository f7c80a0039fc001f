# SPDX-License-Identifier: GPL-2.0-or-later
"""The engine of all campaigns: plan -> step -> keep, to the end, and resume.

A campaign derives its next step from the completed ones (next_step), defines the task of a step
(task), and interprets its outcome (keep). The engine does the rest: measuring, one file for the
outcome of each step, the state written after each step, the time left, interruption, resumption.

Only completed steps decide what comes next, so a resumed campaign repeats nothing and needs no
memory but its state.
"""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from msgspec import structs

from spekctl import files, units
from spekctl.block.device import Device
from spekctl.campaigns import folder as campaign_folder
from spekctl.campaigns import idle
from spekctl.campaigns.idle import Idle
from spekctl.documents import document
from spekctl.documents.benchmark import Site, SiteMinute
from spekctl.documents.device import TargetFacts
from spekctl.documents.result import Result
from spekctl.documents.result_parts import Environment
from spekctl.errors import SpekError, UsageError
from spekctl.kernel.client import Kernel
from spekctl.power import site
from spekctl.power.course import BESIDE_LOADS, Pace
from spekctl.power.meter import PowerOptions
from spekctl.power.site import SiteWish
from spekctl.power.span import SpanMeter
from spekctl.run.holding import Holding
from spekctl.run.job import Interrupts, Request
from spekctl.run.measure import measure
from spekctl.run.progress import Progress
from spekctl.workload.model import WorkloadFile
from spekctl.workload.options import Options

MS = 10**6
SECOND = 10**9
# Enough intervals for the figures of a step and for people, but eight hours must not fill a disk.
INTERVALS = 100
INTERVAL_MIN_NS = 250 * MS
INTERVAL_MAX_NS = 10 * SECOND


class Done(Protocol):
    """A completed step."""

    @property
    def ok(self) -> bool:
        """Its run completed without errors; limits apart."""


StepT = TypeVar("StepT")
DoneT = TypeVar("DoneT", bound=Done)
Outcome = Result | Idle


def interval_ns(time_ns: int) -> int:
    """Report interval of a step of this length."""
    return max(INTERVAL_MIN_NS, min(INTERVAL_MAX_NS, time_ns // INTERVALS // MS * MS))


class View(Progress, Protocol):
    """The progress view of a campaign."""

    def begin(self, title: str, run_s: float, rest_s: float) -> None:
        """The next run starts; it should take @run_s, and the remaining steps @rest_s."""

    def rest(self, title: str, span_s: float, rest_s: float) -> None:
        """Time without I/O comes next."""

    def tell(self, text: str) -> None:
        """News of the campaign."""

    def close(self) -> None:
        """The run is over."""


class Hosts(Protocol):
    """Several hosts that carry out each step together, in place of this machine."""

    @property
    def title(self) -> str:
        """The hosts, for display."""

    def request(self, workload: WorkloadFile, given: Options) -> Request:
        """What a step asks of them: loads are of all together. UsageError: they cannot."""

    def purge(self, given: Options) -> Request:
        """A step in which each host discards all blocks of its own devices."""

    @property
    def without_discards(self) -> Sequence[str]:
        """Devices that cannot be purged, with their hosts."""

    def claimed(self, interrupts: Interrupts, write: bool) -> AbstractContextManager[None]:
        """Within the block they hold their devices; the first step claims them."""

    def measure(self, request: Request) -> Result:
        """Carry out a step on all of them, with one start."""

    def rest(self, request: Request, length_ns: int) -> Idle | None:
        """Time without I/O, with the power of all of them; None if the user ended it. @request: a
        step that they could carry out."""

    def keep(self, outcome: Path) -> None:
        """Write what the last step or rest has beside its outcome, which is in the file @outcome,
        into files beside that. SpekError for what cannot be written."""


@dataclass(frozen=True, slots=True)
class Tools:
    """The tools of a campaign. @kernel: None if hosts carry it out."""

    kernel: Kernel | None
    view: View
    interrupts: Interrupts
    meter: SpanMeter | None = None  # power of time without I/O


# Follows a campaign that is over; gets the devices if they are held. False: the user ended it.
Then = Callable[[Tools, Holding | None], bool]


@dataclass(frozen=True, slots=True)
class Task:
    """The task of a step: a run, or time without I/O."""

    title: str
    name: str  # of the file that keeps its outcome, without number and suffix
    request: Request | None  # None: no I/O
    rest_ns: int = 0  # length of a step without I/O

    @property
    def length_ns(self) -> int:
        """Expected time; 0: not known."""
        return self.request.length_ns if self.request is not None else self.rest_ns


@dataclass(slots=True, kw_only=True)
class Campaign(ABC, Generic[StepT, DoneT]):
    """A campaign under way. Subclasses add their parameters and the rules of their steps."""

    # The document that keeps what a resumption needs. Each of its fields is one of the campaign.
    STATE: ClassVar[type[campaign_folder.State]]
    # What one step is called, and the digits of its number in a file's name.
    STEP: ClassVar[str] = "step"
    DIGITS: ClassVar[int] = 2
    # Parameters for display that are not called as an option of the command.
    WORDS: ClassVar[Mapping[str, str]] = {}

    devices: Sequence[Device]  # of hosts, all of theirs
    parameters: Any
    folder: Path | None
    destroy: Sequence[str] = ()
    prober_ns: int | None = None
    power: PowerOptions | None = None
    power_states: Pace | None = BESIDE_LOADS
    hosts: Hosts | None = None  # None: this machine
    idle_ns: int = 0  # length of an idle test before everything else; 0: none
    rest: Idle | None = None  # that test
    done: list[DoneT] = field(default_factory=list)
    targets: list[TargetFacts] = field(default_factory=list)
    environment: Environment | None = None
    remarks: list[str] = field(default_factory=list)
    site: SiteWish = field(default_factory=SiteWish)
    # Readings of the site's logs so far.
    first_minute: SiteMinute | None = None
    last_minute: SiteMinute | None = None

    # --- messages of a campaign ------------------------------------------------------------------

    @abstractmethod
    def title(self) -> str:
        """The campaign and its devices, for display."""

    @abstractmethod
    def next_step(self) -> StepT | None:
        """The next step; None when the campaign is over, complete or not."""

    @abstractmethod
    def left_ns(self) -> int:
        """Expected time of all remaining steps, including the next one."""

    @abstractmethod
    def task(self, step: StepT) -> Task:
        """The task of a step."""

    @abstractmethod
    def record_of(self, step: StepT, outcome: Outcome, file: str) -> tuple[DoneT, str]:
        """Record a completed step, whose outcome is in @file, and report it to the user."""

    @abstractmethod
    def name_of(self, done: DoneT) -> str:
        """A completed step, for display."""

    @abstractmethod
    def written(self) -> set[tuple[int, int]]:
        """Numbers of the devices that any step may write: the claim on these is for writing."""

    def prepare(self, tools: Tools) -> None:
        """Called before the first step, also of a resumption."""

    def failed(self, step: StepT, outcome: Result, file: str) -> None:
        """A run did not complete: the step does not count, and can be repeated."""
        raise SpekError(f"{self.task(step).name}: {outcome.outcome.text}")

    def interrupted(self, step: StepT) -> None:
        """The user ended the campaign within a step."""

    # --- the folder ------------------------------------------------------------------------------

    def exists(self) -> bool:
        """Whether the folder holds a campaign."""
        return self.folder is not None and (
            files.exists(self.folder / campaign_folder.STATE)
            or files.exists(self.folder / idle.FILE)
        )

    def begin(self, resume: bool, options: Mapping[str, str] | None = None) -> None:
        """Resume the campaign of the folder, or check that the folder has none.

        @options: options of the command by the parameters that they set, for a refused resumption.
        """
        if resume:
            self.resume({**(options or {}), **self.WORDS})
        elif self.exists():
            raise UsageError(
                f"{self.folder} already holds a test: --resume continues it, another"
                " --folder starts a new one"
            )

    def resume(self, words: Mapping[str, str]) -> None:
        """Resume the campaign in the folder; UsageError if it is another one."""
        folder = self.folder
        if folder is None or not self.exists():
            raise UsageError(f"{folder} holds no test to resume; leave out --resume to start one")
        self.rest = idle.load(folder) if self.idle_ns else None
        if self.rest is not None:
            idle.check_same(folder, self.rest, self.devices, self.idle_ns)
            self.first_minute = self.rest.site_minute
        path = folder / campaign_folder.STATE
        if not files.exists(path) and self.rest is not None:
            return
        state = document.read(path, self.STATE)
        campaign_folder.check_devices(folder, state.targets, self.devices)
        campaign_folder.check_parameters(folder, state.parameters, self.parameters, words)
        for name in self._kept_fields():
            if name != "parameters":
                value = getattr(state, name)
                setattr(self, name, list(value) if isinstance(value, list) else value)

    def _kept_fields(self) -> list[str]:
        return [field for field in self.STATE.__struct_fields__ if field not in document.ENVELOPE]

    def state(self) -> campaign_folder.State:
        """The state that a resumption needs."""
        return self.STATE(**{name: getattr(self, name) for name in self._kept_fields()})

    def save(self) -> None:
        """Write the state atomically: a crash leaves the previous one."""
        if self.folder is not None:
            files.write(self.folder / campaign_folder.STATE, files.encode(self.state()))

    @property
    def ok(self) -> bool:
        """All runs so far completed without errors."""
        return all(record.ok for record in self.done)

    def kept(self) -> str:
        """A sentence on what was kept and how to continue."""
        if not self.done:
            if self.rest is not None and self.rest.power is not None:
                return f"the idle test is kept in {self.folder}, --resume continues after it"
            return f"no {self.STEP} was completed"
        count = len(self.done)
        steps = f"1 {self.STEP} is" if count == 1 else f"{count} {self.STEP}s are"
        if self.folder is None:
            return f"{steps} done"
        last = self.name_of(self.done[-1])
        return f"{steps} kept in {self.folder}, --resume continues after {last}"

    # --- the engine ------------------------------------------------------------------------------

    def carry_out(self, tools: Tools, then: Then | None = None) -> bool:
        """Carry out all remaining steps, then @then. Return: False if the user ended the campaign.

        The devices are claimed before the first step and checked once, and held by the same claim
        until the last one is over: in between nobody else can claim them. If nothing is left, they
        are not claimed.
        """
        self.prepare(tools)
        if not self._tests_idle(tools) and self.next_step() is None:
            return then is None or then(tools, None)
        written = self.written()
        # Without --write, a campaign that writes has already been refused.
        writes = bool(written)
        if self.hosts is not None:
            with self.hosts.claimed(tools.interrupts, writes):
                if self._tests_idle(tools) and not self._idle_test(tools):
                    return False
                return self._steps(tools, None) and (then is None or then(tools, None))
        assert tools.kernel is not None
        holding = Holding(
            *(tools.kernel, self.devices, tools.interrupts),
            written=written,
            write_allowed=writes,
            destroy=self.destroy,
        )
        with holding as held:
            if self._tests_idle(tools) and not self._idle_test(tools):
                return False
            return self._steps(tools, held) and (then is None or then(tools, held))

    def _steps(self, tools: Tools, held: Holding | None) -> bool:
        """Return: False if the user ended them."""
        while (step := self.next_step()) is not None:
            if tools.interrupts.count or not self._do(step, tools, held):
                return False
        return True

    def _tests_idle(self, tools: Tools) -> bool:
        """Whether the idle test is left to do; one without power is repeated if power is
        measured."""
        is_done = self.rest is not None and (self.rest.power is not None or tools.meter is None)
        return bool(self.idle_ns) and not is_done

    def _idle_test(self, tools: Tools) -> bool:
        """Return: False if the user ended it."""
        task = Task("idle test", "idle", None, self.idle_ns)
        request = self._claiming() if self.hosts is not None else None
        result = self._rest(task, self.left_ns(), tools, request)
        if result is None:
            return False
        if result.end_ns > result.start_ns:
            self.first_minute = self.site.first(result.start_ns, result.end_ns)
        result = structs.replace(result, site_minute=self.first_minute)
        if self.folder is not None:
            idle.save(self.folder, result)
            if self.hosts is not None:
                self.hosts.keep(self.folder / idle.FILE)
        self.rest = result
        return True

    def _do(self, step: StepT, tools: Tools, held: Holding | None) -> bool:
        task = self.task(step)
        after_ns = max(0, self.left_ns() - task.length_ns)
        outcome: Outcome | None
        if task.request is None:
            outcome = self._rest(task, after_ns, tools)
        else:
            outcome = self._run(step, task, task.request, after_ns, tools, held)
        if outcome is None:
            if tools.interrupts.count:
                self.interrupted(step)
            return False
        done, news = self.record_of(step, outcome, self._keep(task, outcome))
        self.done.append(done)
        self._note_site(outcome)
        self.save()
        if news:
            tools.view.tell(news)
        return True

    def site_of_report(self) -> tuple[Site | None, list[str]]:
        """The site, and remarks on missing readings."""
        return site.site_of(self.site, self.first_minute, self.last_minute)

    def _note_site(self, outcome: Outcome) -> None:
        """Read the logs now, while their clock is still that of this boot. The last minute is that
        under load, which a phase without I/O may follow."""
        rows = outcome.intervals if isinstance(outcome, Result) else [outcome]
        # Without a meter, time without I/O is left out.
        if not rows or rows[-1].end_ns == rows[0].start_ns:
            return
        start_ns, end_ns = rows[0].start_ns, rows[-1].end_ns
        if self.first_minute is None:
            self.first_minute = self.site.first(start_ns, end_ns)
        if isinstance(outcome, Result):
            self.last_minute = self.site.last(start_ns, end_ns) or self.last_minute

    def _run(
        self,
        step: StepT,
        task: Task,
        request: Request,
        after_ns: int,
        tools: Tools,
        held: Holding | None,
    ) -> Result | None:
        """The result of a run; None if it did not complete."""
        tools.view.begin(task.title, task.length_ns / 1e9, after_ns / 1e9)
        if self.hosts is not None:
            result = self.hosts.measure(request)
        else:
            assert tools.kernel is not None
            looked_at = dataclasses.replace(request, power_states=self.power_states)
            result = measure(
                *(tools.kernel, looked_at, tools.view, tools.interrupts),
                *(self.prober_ns, self.power, held),
            )
        if not self.targets:
            self.targets = [target.facts for target in result.targets]
        self.environment = self.environment or result.environment
        if result.at_an_end:
            return result
        file = self._keep(task, result)
        if not tools.interrupts.count:
            self.failed(step, result, file)
        return None

    def _rest(
        self, task: Task, after_ns: int, tools: Tools, request: Request | None = None
    ) -> Idle | None:
        """Time without I/O; None if the user ended it. No wait without a meter. @request: a step of
        hosts, which rest in place of this machine, each with its own meter."""
        if tools.meter is not None or request is not None:
            title = f"{task.title} for {units.format_duration(task.length_ns)}, nothing is sent"
            tools.view.rest(title, task.length_ns / 1e9, after_ns / 1e9)
        if self.hosts is not None and request is not None:
            return self.hosts.rest(request, task.length_ns)
        return idle.measure(self.devices, task.length_ns, tools.meter, tools.interrupts)

    def _claiming(self) -> Request:
        """The run whose devices hosts claim before it."""
        step = self.next_step()
        request = self.task(step).request if step is not None else None
        if request is None:
            raise UsageError(
                f"{self.folder} has no idle test, and no run is left before which hosts could rest"
            )
        return request

    def _keep(self, task: Task, outcome: Outcome) -> str:
        """Write the outcome of a step; return the file's name."""
        name = f"{len(self.done) + 1:0{self.digits()}}-{task.name}.json"
        if self.folder is None:
            return ""
        if isinstance(outcome, Idle):
            idle.save(self.folder, outcome, name)
        else:
            files.write(self.folder / name, files.encode(outcome))
        if self.hosts is not None:
            self.hosts.keep(self.folder / name)
        return name

    def digits(self) -> int:
        """Of the number of a step in its file's name."""
        return self.DIGITS
