# SPDX-License-Identifier: GPL-2.0
"""The persistence test of spc1: what the report says of it, and what its options need."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from lib.ctl.command_line import caller
from lib.fakes.kernel import FakeKernel
from lib.fakes.machine import use_fakes

from spekctl.block import device
from spekctl.campaigns.spc1 import persistence as spc1_persistence
from spekctl.campaigns.spc1 import report as spc1_report
from spekctl.documents.result import VerifyCounts
from spekctl.documents.spc1 import Persistence
from spekctl.errors import SpekError, UsageError
from spekctl.run import job, verify_state

__all__ = ["caller"]

COUNTS = VerifyCounts(checked=8, never_written=0, uncertain=0, mismatches=0, by_kind={})


def persistence(passed: bool | None, text: str) -> Persistence:
    return Persistence(5, 20 * 10**9, 100, COUNTS, COUNTS, None, passed, text)


class Teller:
    """A view that remembers what it was told."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def tell(self, text: str) -> None:
        self.told.append(text)


def test_a_command_that_fails_is_told_with_its_last_words() -> None:
    view: Any = Teller()
    with pytest.raises(SpekError, match=r"ended with 3: no such slot"):
        spc1_persistence._reattach("echo first; echo no such slot >&2; exit 3", view)
    assert len(view.told) == 1
    with pytest.raises(SpekError, match="it said nothing"):
        spc1_persistence._reattach("exit 1", view)
    spc1_persistence._reattach("true", view)


def test_a_command_may_speak_in_other_letters() -> None:
    view: Any = Teller()
    with pytest.raises(SpekError, match="ended with 3: Ger\ufffdt fehlt"):
        spc1_persistence._reattach(r"printf 'Ger\344t fehlt\n'; exit 3", view)
    spc1_persistence._reattach(r"printf '\344'", view)


@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM])
def test_the_wait_for_the_devices_can_be_ended(
    signum: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(path: str) -> Any:
        os.kill(os.getpid(), signum)
        raise UsageError(f"there is no device {path}")

    monkeypatch.setattr(device, "find", gone)
    monkeypatch.setattr(verify_state, "load", lambda path: None)
    work: Any = SimpleNamespace(subject=SimpleNamespace(devices=[SimpleNamespace(path="/dev/x")]))
    began = time.monotonic()
    with job.Interrupts() as interrupts:
        assert spc1_persistence._find(work, Path("x"), interrupts) is None
    assert interrupts.count == 1
    assert time.monotonic() - began < spc1_persistence.BACK_S / 2


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
    asked, _ = spc1.Asked.split(given)
    with pytest.raises(UsageError, match=sentence):
        spc1._check_persistence(asked)


@pytest.fixture
def report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A report of a test that has passed, as far as these fields go."""
    use_fakes(monkeypatch, FakeKernel(), tmp_path)
    import msgspec

    from spekctl.documents.spc1 import Report

    values = {
        name: None for name in Report.__struct_fields__ if name not in ("persistence", "remarks")
    }
    return msgspec.structs.replace(
        Report(**values, remarks=["other", spc1_report.NOT_TESTED]),  # type: ignore[arg-type]
        passed=True,
        complete=True,
        verdict="passed: all limits are met",
    )


def test_without_it_the_report_says_that_it_was_not_tested(report: Any) -> None:
    assert spc1_report.amend(report, None) is report


@pytest.mark.parametrize(
    ("passed", "text", "word", "verdict"),
    [
        (True, "still there", "passed", "passed: all limits are met"),
        (False, "gone", "failed", "failed: data persistence: failed: gone"),
        (None, "written", "not finished", "not complete: data persistence: not finished: written"),
    ],
)
def test_the_report_says_how_it_went(
    report: Any, passed: bool | None, text: str, word: str, verdict: str
) -> None:
    found = spc1_report.amend(report, persistence(passed, text))
    assert found.passed == bool(passed)
    assert found.complete == (passed is not None)
    assert found.verdict.startswith(verdict)
    assert found.remarks == [
        "other",
        f"data persistence: {word}: {text} (5 BSU for 20s, 100 writes)",
    ]
