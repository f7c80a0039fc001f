# SPDX-License-Identifier: GPL-2.0
"""spekctl verify: what it reports and where, and what is refused before a device is claimed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from lib.ctl.command_line import Spekctl
from lib.ctl.schemas import validator
from lib.ctl.verified import saved
from lib.fakes.kernel import FakeKernel

from spekctl.documents import verify
from spekctl.errors import ExitCode, SpekError
from spekctl.run import recheck

CHECK = ("verify", "--device", "/dev/fake0", "--from", "state", "--progress", "none")


@pytest.fixture(autouse=True)
def state(tmp_path: Path) -> None:
    saved(tmp_path / "state")


def test_the_report_goes_to_standard_output_and_to_a_file(
    spekctl: Spekctl, kernel: FakeKernel
) -> None:
    outcome = spekctl(*CHECK, "-o", "report.json")
    # The fake kernel compares nothing.
    assert outcome.code == ExitCode.RUN_FAILED
    assert outcome.out.startswith("/dev/fake0, written 20")
    assert outcome.err == "spekctl: report written to report.json\n"
    written = json.loads(Path("report.json").read_text())
    validator(verify.SCHEMA_FILE).validate(written)
    assert not written["ok"] and not written["complete"]
    assert kernel.deleted and kernel.closed


def test_json_on_standard_output_is_the_report(spekctl: Spekctl, kernel: FakeKernel) -> None:
    outcome = spekctl(*CHECK, "--json", "-o", "report.json")
    assert outcome.out == Path("report.json").read_text() and not outcome.err


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--device", "/dev/fake1"), "state is about 1 devices, 2 were given"),
        (("-o", "missing/report.json"), "missing"),
        (("-o", "state"), "--output state would overwrite the input state"),
        (("--from", "other"), "there is no file other"),
    ],
)
def test_what_is_refused_claims_nothing(
    words: tuple[str, ...], sentence: str, spekctl: Spekctl, kernel: FakeKernel
) -> None:
    outcome = spekctl(*CHECK, *words)
    assert outcome.code == ExitCode.USAGE and sentence in outcome.sentence
    assert not kernel.calls and not outcome.out


def test_a_failure_is_one_sentence_and_closes_the_connection(
    spekctl: Spekctl, kernel: FakeKernel
) -> None:
    kernel.refuse["map-set"] = SpekError("out of memory")
    outcome = spekctl(*CHECK)
    assert (outcome.code, outcome.sentence) == (ExitCode.RUN_FAILED, "out of memory")
    assert kernel.deleted and kernel.closed


@pytest.mark.parametrize("wrong", [True, False])
def test_a_report_that_cannot_be_written_hides_no_wrong_data(
    spekctl: Spekctl, kernel: FakeKernel, monkeypatch: pytest.MonkeyPatch, wrong: bool
) -> None:
    code = ExitCode.DATA_ERRORS if wrong else ExitCode.OK
    monkeypatch.setattr(recheck, "exit_code_of", lambda report, interrupts: code)
    outcome = spekctl(*CHECK, "-o", "/dev/full")
    assert outcome.code == (ExitCode.DATA_ERRORS if wrong else ExitCode.RUN_FAILED)
    assert "cannot write /dev/full: No space left on device" in outcome.err
