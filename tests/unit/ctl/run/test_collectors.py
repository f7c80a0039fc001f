# SPDX-License-Identifier: GPL-2.0
"""What a request asks for is collected: the order, and each collector beside a run."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import msgspec
import pytest
from lib.ctl.results import DISK, INFO, build, plan
from lib.fakes.kernel import FakeKernel
from lib.fakes.machine import disk

from spekctl.documents.result_parts import EndingResult
from spekctl.errors import UsageError
from spekctl.log.place import FilePlace
from spekctl.render.progress import LineProgress
from spekctl.run import collectors, job, profiled, replay, verify
from spekctl.run.collector import Claimed, Collector, Ended, Look, Sections
from spekctl.run.until import Watch
from spekctl.vm import marks
from spekctl.workload import endings, file
from spekctl.workload.resolve import Options, resolve


def request_of(**changes: object) -> job.Request:
    workload = file.load("random-read-4k")
    config = resolve(workload, Options(available_cpus=(0,)), [DISK])
    return dataclasses.replace(job.Request(workload, config, ()), **changes)  # type: ignore[arg-type]


def claimed_of(request: job.Request, interrupts: job.Interrupts | None = None) -> Claimed:
    view = LineProgress(quiet=True)
    return Claimed(FakeKernel(), INFO, request, [], view, interrupts or job.Interrupts())


def names_of(asked: list[Collector]) -> list[str]:
    return [type(collector).__name__ for collector in asked]


def test_a_request_has_the_collectors_that_it_asks_for(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv(marks.VARIABLE, raising=False)
    monkeypatch.setattr(collectors, "IoLog", lambda *asked: None)
    assert collectors.of(request_of()) == []
    observer = Collector()
    wanted = request_of(
        log=FilePlace(tmp_path / "log"),
        state_on=disk("/dev/fake1"),
        slices=True,
        devices=[disk("/dev/fake0")],
        replay=object(),
        stop_when=[endings.parse_threshold("errors > 0")],
    )
    stamped = msgspec.structs.replace(wanted.config, data="stamped")
    wanted = dataclasses.replace(wanted, config=stamped)
    monkeypatch.setenv(marks.VARIABLE, str(tmp_path))
    monkeypatch.setattr(marks, "Marks", object)
    asked = collectors.of(wanted, [observer])
    assert names_of(asked) == [
        "VerifyCollector",
        "LogCollector",
        "SlicesCollector",
        "Collector",
        "DiskLooks",
        "FeedCollector",
        "EndingCollector",
        "StateCollector",
        "ProfileCollector",
    ]
    assert asked[3] is observer


def test_everything_is_read_back_after_the_observers_have_ended(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Their rings hold an hour, and a read-back may take several."""
    said: list[str] = []

    class Observer(Collector):
        def conclude(self, ended: Ended, sections: Sections) -> None:
            said.append("the prober ends")

    monkeypatch.setattr(verify, "conclude", lambda *asked: said.append("everything is read back"))
    wanted = request_of()
    stamped = msgspec.structs.replace(wanted.config, data="stamped")
    asked = collectors.of(dataclasses.replace(wanted, config=stamped), [Observer()])
    for collector in asked:
        collector.arm(claimed_of(wanted))
    for collector in reversed(asked):
        collector.conclude(Ended(plan(), INFO, [], []), Sections())
    assert said == ["the prober ends", "everything is read back"]


class FakeFeeder:
    """A feeder that is ready after some looks."""

    def __init__(self, trouble: str = "", looks: int = 1) -> None:
        self.closed = 0
        self.looks = looks
        self._trouble = trouble

    def wait_ready(self, timeout_s: float) -> bool:
        self.looks -= 1
        return self.looks <= 0

    def trouble(self) -> str:
        return self._trouble

    def close(self) -> None:
        self.closed += 1


def feeding(monkeypatch: pytest.MonkeyPatch, feeder: FakeFeeder) -> collectors.FeedCollector:
    monkeypatch.setattr(replay, "Feeder", lambda trace, run: feeder)
    return collectors.FeedCollector(object())  # type: ignore[arg-type]


def test_a_run_waits_until_its_trace_is_buffered(monkeypatch: pytest.MonkeyPatch) -> None:
    feeder = FakeFeeder(looks=3)
    collector = feeding(monkeypatch, feeder)
    assert collector.arm(claimed_of(request_of())) == "" and feeder.looks == 0
    collector.close()
    assert feeder.closed == 1


def test_an_interrupt_ends_the_wait_for_a_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    feeder = FakeFeeder(looks=1000)
    feeding(monkeypatch, feeder).arm(claimed_of(request_of(), job.Interrupts(count=1)))
    assert feeder.looks == 999


def test_a_trace_that_cannot_be_fed_is_refused_and_its_feeder_closed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    feeder = FakeFeeder("line 3 is wrong")
    collector = feeding(monkeypatch, feeder)
    with pytest.raises(UsageError, match="line 3 is wrong"):
        collector.arm(claimed_of(request_of()))
    collector.close()
    assert feeder.closed == 1


def test_the_endings_give_a_reason_only_when_they_are_reached() -> None:
    threshold = endings.parse_threshold("iops > 1")
    collector = collectors.EndingCollector(Watch(None, [threshold], 10**9))
    kernel = FakeKernel()
    kernel.run_new(request_of().config)
    kernel.run_start(7)
    collector.take(Look(kernel.run_get(7), [], []))
    assert collector.stop_reason() == ""
    kernel.wait(1)
    rows = kernel.intervals(7, 0)
    collector.take(Look(kernel.run_get(7), rows, rows))
    assert collector.stop_reason().startswith("--stop-when iops > 1 ended the run")
    sections = Sections()
    collector.conclude(Ended(plan(), INFO, rows, []), sections)
    assert isinstance(sections.ending, EndingResult) and sections.ending.stopped_by == "iops > 1"


def test_the_read_back_has_the_claim_that_it_was_armed_with(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[tuple[object, ...]] = []
    monkeypatch.setattr(verify, "conclude", lambda *arguments: asked.append(arguments))
    claimed, collector = claimed_of(request_of()), collectors.VerifyCollector()
    assert collector.arm(claimed) == ""
    collector.conclude(Ended(plan(), INFO, [], []), Sections())
    assert asked == [
        (
            claimed.kernel,
            claimed.request,
            claimed.facts,
            INFO,
            claimed.progress,
            claimed.interrupts,
        )
    ]


def test_a_profile_is_marked_before_the_start_and_at_the_end(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    said: list[str] = []

    class Marks:
        def set(self) -> None:
            said.append("mark")

    monkeypatch.setattr(marks, "Marks", Marks)
    monkeypatch.setattr(marks, "copy_names", lambda folder: said.append("names"))
    collector = collectors.ProfileCollector(profiled.Profiled(tmp_path))
    collector.arm(claimed_of(request_of()))
    collector.ended()
    assert said == ["mark", "mark"]
    collector.deliver(build())
    assert said == ["mark", "mark", "names"] and (tmp_path / profiled.RUN).exists()
