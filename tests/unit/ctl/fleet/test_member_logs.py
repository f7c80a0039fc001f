# SPDX-License-Identifier: GPL-2.0
"""A host of a fleet counts logs that lie there, not while it is part of a run."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from lib.ctl.log_files import header, records, written
from lib.fakes.fleet_member import Gate, Rig, patient
from lib.fakes.kernel import FakeKernel
from lib.waiting import LONG_S, eventually

from spekctl import __version__
from spekctl.errors import SpekError
from spekctl.fleet import member, wire
from spekctl.fleet.wire import Phase
from spekctl.log import tally


@pytest.fixture
def rig(kernel: FakeKernel, monkeypatch: pytest.MonkeyPatch) -> Iterator[Rig]:
    """A host; the machine's own devices are fakes."""
    with patient(monkeypatch) as host:
        yield host


def log_of(rig: Rig, path: Path, stream: str = "") -> wire.Logged:
    asked_for = wire.Log(str(path), stream, "measure", 10**9)
    answer: wire.Logged = rig.ask("log", asked_for, wire.Logged)
    return answer


def test_it_counts_a_log_that_lies_there(rig: Rig, tmp_path: Path) -> None:
    rows = records(1000)
    rows["phase"][:100] = 0
    path = written(tmp_path / "log", rows)
    logged = log_of(rig, path)
    assert (logged.version, logged.workload, logged.tally.records) == (__version__, "mine", 900)
    assert (logged.start_real_ns, logged.seed) == (header().start_real_ns, header().seed)
    (cell, _) = log_of(rig, path, "first").tally.cells
    assert cell.stream == "first" and cell.ios == np.sum(
        (rows["stream"] == 0) & (rows["write"] == 0) & (rows["phase"] == 1)
    )
    # It has not taken part in a run by that.
    assert rig.member.phase is Phase.FREE and not rig.kernel.calls


@pytest.mark.parametrize(
    ("name", "stream", "sentence"),
    [
        ("none", "", "there is no "),
        ("log", "frist", "the log has no stream 'frist'; did you mean 'first'?"),
        ("text", "", "text is not a spek file; expected a per-I/O log"),
        # Without a writer, its opening would not end.
        ("pipe", "", "pipe is not a file; expected a per-I/O log"),
        (".", "", " is not a file; expected a per-I/O log"),
        ("a\0b", "", "embedded null byte"),
    ],
)
def test_a_log_that_it_cannot_count_is_refused(
    rig: Rig, tmp_path: Path, name: str, stream: str, sentence: str
) -> None:
    written(tmp_path / "log", records(10))
    (tmp_path / "text").write_text("x")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(SpekError) as refusal:
        log_of(rig, tmp_path / name, stream)
    assert sentence in refusal.value.message


def test_it_counts_no_log_while_it_is_part_of_a_run(rig: Rig, tmp_path: Path) -> None:
    path = written(tmp_path / "log", records(10))
    rig.claim()
    with pytest.raises(SpekError, match="a cannot count a log: it is part of a run"):
        log_of(rig, path)
    rig.of_run("release")
    assert log_of(rig, path).tally.records == 10


class Count:
    """A count of a log that lasts until it is aborted or allowed to end."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.entered, self.enough = threading.Event(), threading.Event()
        self._count = tally.of_log
        monkeypatch.setattr(tally, "of_log", self)

    def __call__(self, log: Any, selection: Any, interval_ns: int, check: Any) -> tally.Tally:
        self.entered.set()
        end_s = time.monotonic() + LONG_S
        while not self.enough.wait(0.01):
            check()
            assert time.monotonic() < end_s, "nothing ends it"
        return self._count(log, selection, interval_ns, check)


@pytest.mark.parametrize("end", ["end_counts", "close"])
def test_a_count_ends_with_the_host(
    rig: Rig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, end: str
) -> None:
    path = written(tmp_path / "log", records(10))
    count = Count(monkeypatch)
    with ThreadPoolExecutor(1) as pool:
        logged = pool.submit(log_of, rig, path)
        assert count.entered.wait(LONG_S)
        getattr(rig.member, end)()
        error = logged.exception(LONG_S)
    sentence = "the log was not counted: the host ends, or its controller is gone"
    assert isinstance(error, SpekError) and error.message == sentence
    with pytest.raises(SpekError, match=sentence):
        log_of(rig, path)


def test_nothing_is_claimed_while_a_log_is_counted(
    rig: Rig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path / "log", records(10))
    count = Count(monkeypatch)
    with ThreadPoolExecutor(1) as pool:
        logged = pool.submit(log_of, rig, path)
        assert count.entered.wait(LONG_S)
        with pytest.raises(SpekError, match="a is counting a log, which would take the run's CPUs"):
            rig.claim()
        with pytest.raises(SpekError, match="it is counting another one"):
            log_of(rig, path)
        count.enough.set()
        assert logged.result(LONG_S).tally.records == 10
    assert rig.member.phase is Phase.FREE and not rig.kernel.calls
    rig.claim()


def test_it_counts_no_log_before_a_release_has_ended_the_run(
    rig: Rig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path / "log", records(10))
    for name in ("OVER_S", "LEFT_S"):
        monkeypatch.setattr(member, name, 0.01)
    rig.claim(options={"time": "1h"})
    rig.arm(1)
    rig.of_run("confirm")
    eventually(lambda: rig.kernel.seconds > 3, "it does not run")
    gate = Gate(monkeypatch, rig.kernel, "run_delete")
    with pytest.raises(SpekError, match="its run has not ended"):
        rig.of_run("release")
    assert rig.member.phase is Phase.RELEASED and not rig.done()
    with pytest.raises(SpekError, match="a cannot count a log: it is part of a run"):
        log_of(rig, path)
    gate.open()
    eventually(rig.done, "the run has not ended")
    assert log_of(rig, path).tally.records == 10


def test_it_counts_a_log_after_a_start_that_was_released(
    rig: Rig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path / "log", records(10))
    rig.claim()
    gate = Gate(monkeypatch, rig.kernel, "run_start")
    gate.during(rig, lambda: rig.arm(3600), lambda: rig.of_run("release"))
    assert log_of(rig, path).tally.records == 10
