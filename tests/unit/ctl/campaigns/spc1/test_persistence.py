# SPDX-License-Identifier: GPL-2.0
"""The persistence test of spc1: what the report says of it, and what its options need."""

from __future__ import annotations

import dataclasses
import os
import signal
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from lib.ctl.campaign_command import queue_kernel
from lib.ctl.command_line import Spekctl, caller
from lib.ctl.spc1_command import WRITE
from lib.ctl.spc1_steps import phase
from lib.fakes.kernel import FakeKernel
from lib.fakes.machine import disk

from spekctl.block import device
from spekctl.campaigns.spc1 import persistence as spc1_persistence
from spekctl.campaigns.spc1 import plan
from spekctl.campaigns.spc1.report import build
from spekctl.documents.spc1 import (
    QUICK,
    AsuFigures,
    Limits,
    Parameters,
    Persistence,
    Phase,
    Report,
    Shape,
)
from spekctl.documents.verification import VerifyCounts
from spekctl.errors import ExitCode, SpekError, UsageError
from spekctl.power.course import BESIDE_LOADS
from spekctl.run import job, verify, verify_state
from spekctl.run.holding import Holding

__all__ = ["caller"]

MIB = 1 << 20

COUNTS = VerifyCounts(checked=8, never_written=0, uncertain=0, mismatches=0, by_kind={})


def persistence(passed: bool | None, text: str) -> Persistence:
    return Persistence(5, 20 * 10**9, 100, COUNTS, COUNTS, None, passed, text)


class Teller:
    """A view that remembers what it was told."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def tell(self, text: str) -> None:
        self.told.append(text)


@pytest.mark.parametrize(("level", "bsu"), [(1, 1), (4, 1), (5, 2), (7, 2), (22, 6), (400, 100)])
def test_at_least_a_quarter_of_the_load_writes(level: int, bsu: int) -> None:
    assert spc1_persistence.bsu_at(level) == bsu


def test_a_command_that_fails_is_told_with_its_last_words() -> None:
    view: Any = Teller()
    with pytest.raises(SpekError, match=r"ended with 3: no such slot"):
        spc1_persistence._reattach("echo first; echo no such slot >&2; exit 3", view)
    assert len(view.told) == 1
    with pytest.raises(SpekError, match="no output"):
        spc1_persistence._reattach("exit 1", view)
    spc1_persistence._reattach("true", view)


def test_a_command_may_speak_in_other_letters() -> None:
    view: Any = Teller()
    with pytest.raises(SpekError, match="ended with 3: Ger\ufffdt fehlt"):
        spc1_persistence._reattach(r"printf 'Ger\344t fehlt\n'; exit 3", view)
    spc1_persistence._reattach(r"printf '\344'", view)


def test_the_devices_are_given_back_between_writing_and_detaching(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What is written is under the claim of the test that went before."""
    kernel, steps = FakeKernel(), []
    held = Holding(kernel, [disk()], job.Interrupts())
    held.take()

    def write(*asked: Any) -> bool:
        assert held in asked and kernel.claimed
        steps.append("write")
        return True

    def step(name: str) -> Any:
        def do(*asked: Any) -> bool:
            assert not kernel.claimed
            steps.append(name)
            return True

        return do

    monkeypatch.setattr(spc1_persistence, "_write", write)
    monkeypatch.setattr(spc1_persistence, "_reattach", step("reattach"))
    monkeypatch.setattr(spc1_persistence, "_check", step("check"))
    work: Any = SimpleNamespace(done=["a phase"], persistence=None, stopped=lambda: "")
    view: Any = Teller()
    assert spc1_persistence.carry_out(
        *(work, lambda: kernel, view, job.Interrupts(), held, 10**9, "true")
    )
    assert steps == ["write", "reattach", "check"]


@dataclasses.dataclass
class Asked:
    power_states: object = BESIDE_LOADS


def test_the_run_that_writes_looks_at_power_states_as_it_is_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(verify, "with_state", lambda request, *_, **__: request)
    work: Any = SimpleNamespace(verified_request=lambda step: Asked(), folder=tmp_path)
    work.power_states = None
    assert spc1_persistence._request(work, 3, 10**9).power_states is None


@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM])
def test_the_wait_for_the_devices_can_be_ended(
    signum: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(path: str) -> Any:
        os.kill(os.getpid(), signum)
        raise UsageError(f"there is no device {path}")

    monkeypatch.setattr(device, "find", gone)
    monkeypatch.setattr(verify_state, "load", lambda path: None)
    work: Any = SimpleNamespace(devices=[SimpleNamespace(path="/dev/x")])
    waits: list[float] = []
    monkeypatch.setattr(time, "sleep", waits.append)
    with job.Interrupts() as interrupts:
        assert spc1_persistence._find(work, Path("x"), interrupts) is None
    assert (interrupts.count, waits) == (1, [])


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--reattach", "true"), "--persistence-time and --reattach need --persistence as well"),
        (("--persistence-time", "5s"), "--persistence-time and --reattach need --persistence"),
        (("--persistence", "--persistence-time", "0"), "--persistence-time must be more than 0"),
    ],
)
def test_options_that_do_not_fit(options: tuple[str, ...], sentence: str) -> None:
    from spekctl.commands import spc1

    given = spc1.command.make_context("spc1", ["-d", "/dev/fake0", *options]).params
    wanted = (given["persistence"], given["persistence_ns"], given["reattach"])
    with pytest.raises(UsageError, match=sentence):
        spc1.Spc1Persistence(*wanted).check()


@pytest.mark.parametrize(
    ("free", "sentence"),
    [
        (7 * MIB, "--persistence needs several times the 2.00 MiB of kernel memory that"),
        (
            3 * MIB,
            "--persistence: --verify would need 2.00 MiB of kernel memory, 8 bytes for every",
        ),
    ],
)
def test_the_memory_to_keep_the_states_is_looked_at_before_anything_runs(
    spekctl: Spekctl, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, free: int, sentence: str
) -> None:
    """Guards the mend of dccf042c."""
    kernel = queue_kernel(monkeypatch, tmp_path)
    monkeypatch.setattr(verify, "memory_available", lambda: free)
    outcome = spekctl(*WRITE, "--persistence", "--folder", "f")
    assert outcome.code == ExitCode.USAGE and outcome.sentence.startswith(sentence), outcome.err
    assert not kernel.runs_seen and not (tmp_path / "f").exists()


LIMITS = Limits()
SHAPE = Shape(1, 65536, "auto", False, None, 0, None, [0], "classic", None, None)
# Every load up to 4 BSU is served in time, in 10 ms.
PARAMETERS = Parameters(QUICK, LIMITS, SHAPE, start_bsu=4, max_bsu=4)


@pytest.fixture(scope="module")
def phases() -> list[Phase]:
    """Those of a test that has passed."""
    done: list[Phase] = []
    while (step := plan.next_step(PARAMETERS, done)) is not None:
        asu = AsuFigures("all", 1 << 30, 9, 1.0, 1.0, 0.0, 4096.0, None)
        done.append(msgspec.structs.replace(phase(step, 0.01), asus=[asu]))
    return done


def report(phases: list[Phase], persistence: Persistence | None) -> Report:
    facts = disk().facts()
    return build(PARAMETERS, phases, [facts], None, persistence=persistence)


def test_without_it_the_report_says_that_it_was_not_tested(phases: list[Phase]) -> None:
    built = report(phases, None)
    assert (built.passed, built.complete, built.persistence) == (True, True, None)
    assert "data persistence was not tested" in built.remarks


@pytest.mark.parametrize(
    ("passed", "text", "word", "verdict"),
    [
        (True, "still there", "passed", "passed: all limits are met"),
        (False, "gone", "failed", "failed: data persistence: failed: gone"),
        (None, "written", "not finished", "not complete: data persistence: not finished: written"),
    ],
)
def test_the_report_says_how_it_went(
    phases: list[Phase], passed: bool | None, text: str, word: str, verdict: str
) -> None:
    built = report(phases, persistence(passed, text))
    assert built.passed == bool(passed)
    assert built.complete == (passed is not None)
    assert built.verdict.startswith(verdict)
    assert f"data persistence: {word}: {text} (5 BSU for 20s, 100 writes)" in built.remarks
    assert not any("was not tested" in remark for remark in built.remarks)


def test_another_failure_comes_first(phases: list[Phase]) -> None:
    built = report(phases[:-1], persistence(True, "still there"))
    assert (built.passed, built.complete) == (False, False)
    assert built.verdict == "not complete: phases are missing"
