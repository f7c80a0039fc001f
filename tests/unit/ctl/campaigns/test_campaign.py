# SPDX-License-Identifier: GPL-2.0
"""The engine of campaigns, by a plan of its own: runs at rising depths, and a rest after them."""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import msgspec
import pytest
from lib.ctl.sweep_command import queue_kernel
from lib.fakes.machine import disk
from lib.fakes.power import FakePower
from lib.fakes.queue_kernel import QueueKernel

from spekctl.campaigns import folder, idle
from spekctl.campaigns.campaign import Campaign, Outcome, Task, Tools, interval_ns
from spekctl.campaigns.idle import Idle
from spekctl.documents.document import Kind, read
from spekctl.documents.result import Result
from spekctl.errors import SpekError, UsageError
from spekctl.kernel.records import Reason
from spekctl.run import job, request
from spekctl.run.holding import Holding
from spekctl.workload.config import RunConfig
from spekctl.workload.options import Options

SECOND = 10**9
REST_NS = 200_000_000


class Parameters(msgspec.Struct, frozen=True):
    depths: list[int]
    time_ns: int = 2 * SECOND


class Rung(msgspec.Struct, frozen=True):
    file: str
    ok: bool = True


class State(folder.State, frozen=True, kw_only=True, tag=Kind.SWEEP_STATE.value):
    parameters: Parameters
    done: list[Rung]


@dataclass(slots=True, kw_only=True)
class Ladder(Campaign[int, Rung]):
    """One run for each depth, then a rest if there is a 0 among them."""

    STATE: ClassVar[type[State]] = State

    parameters: Parameters

    def title(self) -> str:
        return "ladder"

    def next_step(self) -> int | None:
        return next((depth for depth in self.parameters.depths[len(self.done) :]), None)

    def written(self) -> set[tuple[int, int]]:
        return set()

    def left_ns(self) -> int:
        return (len(self.parameters.depths) - len(self.done)) * self.parameters.time_ns

    def task(self, step: int) -> Task:
        time_ns = self.parameters.time_ns
        if not step:
            return Task("a rest", "rest", None, time_ns)
        subject = request.find("random-read-4k", ["/dev/fake0"])
        wanted = request.build(subject, Options(depth=step, time_ns=time_ns))
        return Task(f"depth {step}", f"depth-{step}", wanted, time_ns)

    def record_of(self, step: int, outcome: Outcome, file: str) -> tuple[Rung, str]:
        assert isinstance(outcome, Result if step else Idle)
        return Rung(
            file, isinstance(outcome, Idle) or outcome.outcome.ok
        ), f"news of {step}" if step == 2 else ""

    def name_of(self, done: Rung) -> str:
        return done.file.removesuffix(".json")


def files_of(work: Ladder) -> list[str]:
    return [rung.file for rung in work.done]


@dataclass
class Seen:
    """A view that remembers what a user would have seen."""

    heads: list[tuple[str, float, float]] = field(default_factory=list)
    told: list[str] = field(default_factory=list)

    def begin(self, title: str, run_s: float, rest_s: float) -> None:
        self.heads.append((title, run_s, rest_s))

    def rest(self, title: str, span_s: float, rest_s: float) -> None:
        self.heads.append((title, span_s, rest_s))

    def tell(self, text: str) -> None:
        self.told.append(text)

    def note(self, text: str) -> None:
        self.told.append(text)

    def show(self, clock: Any, news: Any) -> None:
        pass

    def close(self) -> None:
        pass


kernel = pytest.fixture(queue_kernel)


def ladder(depths: list[int], folder: str | None = "t", **more: Any) -> Ladder:
    place = Path(folder) if folder is not None else None
    if place is not None:
        place.mkdir(exist_ok=True)
    return Ladder(devices=[disk()], parameters=Parameters(depths), folder=place, **more)


def carry_out(work: Ladder, kernel: QueueKernel, view: Seen, meter: Any = None) -> bool:
    with job.Interrupts() as interrupts:
        return work.carry_out(Tools(kernel, view, interrupts, meter))


def test_every_step_is_measured_and_kept(kernel: QueueKernel) -> None:
    work, view = ladder([1, 2, 4]), Seen()
    assert carry_out(work, kernel, view)
    assert [config.arrivals[0].depth for config in kernel.runs_seen] == [1, 2, 4]
    assert files_of(work) == ["01-depth-1.json", "02-depth-2.json", "03-depth-4.json"] and work.ok
    for file, depth in zip(files_of(work), (1, 2, 4), strict=True):
        kept = read(Path("t", file), Result)
        assert kept.config.arrivals[0].depth == depth
    assert view.told == ["news of 2"]
    assert [target.path for target in work.targets] == ["/dev/fake0"]
    assert work.environment is not None


def test_the_time_left_counts_what_follows(kernel: QueueKernel) -> None:
    view = Seen()
    carry_out(ladder([1, 2, 4]), kernel, view)
    assert view.heads == [("depth 1", 2.0, 4.0), ("depth 2", 2.0, 2.0), ("depth 4", 2.0, 0.0)]


def test_without_a_folder_nothing_is_written(kernel: QueueKernel, tmp_path: Path) -> None:
    work = ladder([1, 2], None)
    assert carry_out(work, kernel, Seen())
    assert files_of(work) == ["", ""] and os.listdir(tmp_path) == []
    assert work.kept() == "2 steps are done"


def test_a_claim_is_held_from_the_first_step_to_the_last(kernel: QueueKernel) -> None:
    assert carry_out(ladder([1, 2, 4]), kernel, Seen())
    assert kernel.claim_calls() == ["claim-new", "run-new", "claim-del"]
    assert not kernel.claimed
    kernel.calls.clear()
    again = ladder([1, 2, 4])
    again.begin(True)
    assert carry_out(again, kernel, Seen())
    assert kernel.claim_calls() == []  # nothing was left to do


def test_what_follows_a_campaign_is_under_its_claim(kernel: QueueKernel) -> None:
    held: list[int] = []

    def then(tools: Tools, holding: Holding | None) -> bool:
        assert holding is not None and tools.kernel is holding.kernel
        held.append(holding.claim)
        assert list(kernel.claimed) == held
        holding.release()
        assert not kernel.claimed
        return False

    with job.Interrupts() as interrupts:
        assert not ladder([1]).carry_out(Tools(kernel, Seen(), interrupts), then)
    assert held and kernel.claim_calls() == ["claim-new", "run-new", "claim-del"]


def test_an_idle_test_has_the_devices_claimed(kernel: QueueKernel) -> None:
    class Metered(FakePower):
        def between(self, start_ns: int, end_ns: int) -> Any:
            assert kernel.claimed
            return super().between(start_ns, end_ns)

    assert carry_out(ladder([1], idle_ns=REST_NS), kernel, Seen(), Metered())
    assert kernel.claim_calls() == ["claim-new", "run-new", "claim-del"]


@pytest.mark.parametrize("stop_in", [1, 2, 3])
def test_an_interrupted_campaign_repeats_nothing(stop_in: int, kernel: QueueKernel) -> None:
    def at(second: int) -> None:
        if len(kernel.runs_seen) == stop_in and second == 1:
            os.kill(os.getpid(), signal.SIGINT)

    kernel.on_wait = at
    first = ladder([1, 2, 4])
    assert not carry_out(first, kernel, Seen())
    assert len(first.done) == stop_in - 1
    # The run that was ended left its result as well, and the next one takes its place.
    assert Path("t", f"0{stop_in}-depth-{(1, 2, 4)[stop_in - 1]}.json").exists()
    kernel.on_wait = lambda second: None
    again = ladder([1, 2, 4])
    if stop_in == 1:
        assert first.kept() == "no step was completed"
        with pytest.raises(UsageError, match="t holds no test to resume"):
            again.begin(True)
        return
    assert "kept in t, --resume continues after 0" in first.kept()
    again.begin(True)
    assert again.done == first.done and again.targets == first.targets
    assert carry_out(again, kernel, Seen())
    depths = [config.arrivals[0].depth for config in kernel.runs_seen]
    assert depths == [1, 2, 4][:stop_in] + [1, 2, 4][stop_in - 1 :]


def test_a_run_that_did_not_complete_can_be_done_again(kernel: QueueKernel) -> None:
    def gone(config: RunConfig) -> None:
        if config.arrivals[0].depth == 2:
            kernel.end_reason = Reason.DEVICE_GONE

    kernel.before_run = gone
    work = ladder([1, 2, 4])
    with pytest.raises(SpekError, match="depth-2: a device was removed during the run"):
        carry_out(work, kernel, Seen())
    assert files_of(work) == ["01-depth-1.json"] and Path("t/02-depth-2.json").exists()
    kernel.before_run = lambda config: None
    again = ladder([1, 2, 4])
    again.begin(True)
    assert carry_out(again, kernel, Seen()) and len(again.done) == 3


@pytest.mark.parametrize(
    ("depths", "changed", "sentence"),
    [
        ([1, 2], {}, "another depths: 1,2,4 then, 1,2 now"),
        ([1, 2, 4], {"devices": [disk(serial="S9")]}, "another serial number: S123 then, S9 now"),
        ([1, 2, 4], {"devices": [disk(), disk("/dev/fake1")]}, "another number of devices"),
    ],
)
def test_another_campaign_is_not_resumed(
    depths: list[int], changed: dict[str, Any], sentence: str, kernel: QueueKernel
) -> None:
    assert carry_out(ladder([1, 2, 4]), kernel, Seen())
    another = ladder(depths)
    for name, value in changed.items():
        setattr(another, name, value)
    with pytest.raises(UsageError, match=sentence):
        another.begin(True)
    with pytest.raises(UsageError, match="t already holds a test"):
        another.begin(False)


def test_a_rest_is_measured_by_the_meter(
    kernel: QueueKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    meter, view = FakePower(), Seen()
    work = ladder([1, 0])
    work.parameters = Parameters([1, 0], REST_NS)
    assert carry_out(work, kernel, view, meter)
    assert len(kernel.runs_seen) == 1 and len(meter.asked) == 1
    assert view.heads[1] == ("a rest for 200ms, nothing is sent", 0.2, 0.0)
    rest = idle.load(Path("t"), work.done[1].file)
    assert rest is not None and rest.power is not None and rest.power.net_w == 6


def test_an_idle_test_comes_first_and_once(kernel: QueueKernel) -> None:
    meter, view = FakePower(), Seen()
    work = ladder([1, 2], idle_ns=REST_NS)
    assert carry_out(work, kernel, view, meter)
    assert view.heads[0] == ("idle test for 200ms, nothing is sent", 0.2, 4.0)
    again = ladder([1, 2], idle_ns=REST_NS)
    again.begin(True)
    assert again.rest is not None and carry_out(again, kernel, Seen(), meter)
    assert len(meter.asked) == 1
    longer = ladder([1, 2], idle_ns=2 * REST_NS)
    with pytest.raises(UsageError, match="another --idle-time: 200ms then, 400ms now"):
        longer.begin(True)


@pytest.mark.parametrize(
    ("time_s", "wanted_ms"), [(1, 250), (25, 250), (60, 600), (600, 6000), (8 * 3600, 10_000)]
)
def test_intervals_are_a_hundredth_of_a_step(time_s: int, wanted_ms: int) -> None:
    assert interval_ns(time_s * SECOND) == wanted_ms * 1_000_000
