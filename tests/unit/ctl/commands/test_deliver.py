# SPDX-License-Identifier: GPL-2.0
"""Delivery of a document: to a file, to standard output, or as text."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from spekctl.commands import deliver as delivery
from spekctl.commands.deliver import deliver
from spekctl.errors import ExitCode, SpekError


class Report(msgspec.Struct):
    name: str = "x"


def show(report: Report) -> None:
    print(f"shown {report.name}")


def test_people_get_a_text_and_the_place_of_the_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "r.json"
    deliver(Report(), show, as_json=False, output=path)
    out, err = capsys.readouterr()
    assert (out, err) == ("shown x\n", f"spekctl: report written to {path}\n")
    assert json.loads(path.read_text()) == {"name": "x"}


def test_programs_get_what_is_in_the_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "r.json"
    deliver(Report(), show, as_json=True, output=path)
    out, err = capsys.readouterr()
    assert (out, err) == (path.read_text(), "")


def test_without_a_file_nothing_is_said_of_one(capsys: pytest.CaptureFixture[str]) -> None:
    deliver(Report(), show, as_json=False, output=None)
    assert capsys.readouterr() == ("shown x\n", "")


def test_what_cannot_be_written_is_not_shown_as_done(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SpekError):
        deliver(Report(), show, as_json=True, output=tmp_path / "none" / "r.json")
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("measured", "failed", "code"),
    [
        (ExitCode.DATA_ERRORS, ExitCode.RUN_FAILED, ExitCode.DATA_ERRORS),
        (ExitCode.INTERRUPTED, ExitCode.RUN_FAILED, ExitCode.INTERRUPTED),
        (ExitCode.HOST_LOST, ExitCode.RUN_FAILED, ExitCode.HOST_LOST),
        (ExitCode.OK, ExitCode.RUN_FAILED, ExitCode.RUN_FAILED),
        (ExitCode.OK, ExitCode.USAGE, ExitCode.USAGE),
        (ExitCode.LIMIT_MISSED, ExitCode.RUN_FAILED, ExitCode.RUN_FAILED),
    ],
)
def test_a_file_that_cannot_be_written_does_not_hide_what_was_measured(
    measured: ExitCode, failed: ExitCode, code: ExitCode
) -> None:
    failure = SpekError("there is no room")
    failure.exit_code = failed
    with pytest.raises(SpekError, match="there is no room") as raised, delivery.measured(measured):
        raise failure
    assert raised.value.exit_code is code
