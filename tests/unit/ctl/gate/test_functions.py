# SPDX-License-Identifier: GPL-2.0
"""Functions that changed between two profiles, and profiles that are of something else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from lib.ctl.profiles import run_of
from lib.ctl.verdicts import measured, put
from msgspec.structs import replace

from spekctl import cli, files
from spekctl.documents.profile import FunctionCost, Profile
from spekctl.documents.verdict import Comparison, FunctionChange
from spekctl.errors import ExitCode
from spekctl.gate import functions


def profile(costs: dict[str, float], **run: Any) -> Profile:
    """A profile of the run that lib.ctl.verdicts.measured() makes results of."""
    return Profile(
        run=replace(run_of(measured(1)), **run),
        per_io=sum(costs.values()),
        user_per_io=1.0,
        functions=[FunctionCost(name, cost) for name, cost in costs.items()],
    )


def test_what_grew_most_comes_first_and_trifles_do_not_count() -> None:
    a = profile({"grown": 100.0, "same": 50.0, "less": 20.0, "gone": 3.0})
    b = profile({"grown": 110.0, "same": 50.4, "less": 10.0, "new": 40.0})
    assert functions.changes(a, b) == [
        FunctionChange("new", 0.0, 40.0),
        FunctionChange("grown", 100.0, 110.0),
        FunctionChange("gone", 3.0, 0.0),
        FunctionChange("less", 20.0, 10.0),
    ]


@pytest.fixture
def sides(tmp_path: Path) -> list[str]:
    """Results of two runs on either side, as arguments."""
    for number, name in enumerate(("a1", "a2", "b1", "b2"), start=1):
        put(
            tmp_path / f"{name}.json",
            measured(number, 990.0 if name[0] == "b" else 1000.0, counts=True),
        )
    names = [str(tmp_path / f"{name}.json") for name in ("a1", "a2", "b1", "b2")]
    return [*names[:2], "--", *names[2:]]


def compared(tmp_path: Path, sides: list[str], a: Profile, b: Profile, *more: str) -> int:
    """The exit code of a comparison with these profiles."""
    paths = [tmp_path / "a-profile.json", tmp_path / "b-profile.json"]
    for path, profile in zip(paths, (a, b), strict=True):
        files.write(path, files.encode(profile))
    return cli.run(["compare", "--profiles", *map(str, paths), *more, *sides])


def test_functions_are_named_in_the_verdict(
    tmp_path: Path, sides: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    a, b = profile({"blk_mq_start_request": 40.0}), profile({"blk_mq_start_request": 55.0})
    assert compared(tmp_path, sides, a, b) == ExitCode.LIMIT_MISSED
    printed = capsys.readouterr().out
    assert "blk_mq_start_request  40.0  55.0   +15.0" in printed
    assert compared(tmp_path, sides, a, b, "--format", "json") == ExitCode.LIMIT_MISSED
    comparison = files.decode(capsys.readouterr().out.encode(), Comparison)
    assert comparison.functions == [FunctionChange("blk_mq_start_request", 40.0, 55.0)]


def test_no_change_is_said(
    tmp_path: Path, sides: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    same = profile({"blk_mq_start_request": 40.0})
    compared(tmp_path, sides, same, same)
    assert "no function changed by half an instruction" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("run", "what"),
    [
        ({"kernel": "5.10"}, "the kernel is 5.10 there"),
        ({"kernel_version": "#2"}, "the build is #2 there"),
        ({"workload": "other"}, "the workload is other there"),
        ({"drivers": ["nvme", "sd"]}, "the driver is nvme sd there"),
    ],
)
def test_a_profile_of_something_else_is_refused(
    tmp_path: Path,
    sides: list[str],
    capsys: pytest.CaptureFixture[str],
    run: dict[str, Any],
    what: str,
) -> None:
    assert compared(tmp_path, sides, profile({}), profile({}, **run)) == ExitCode.REFUSED
    printed = capsys.readouterr().err
    assert "b-profile.json is not a profile of the run of" in printed
    assert what in printed


def test_a_file_that_is_no_profile_is_named(
    tmp_path: Path, sides: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["compare", "--profiles", sides[0], sides[1], *sides]) == ExitCode.USAGE
    assert "expected a profile of `spekctl vm --function-profile`" in capsys.readouterr().err
    assert cli.run(["compare", "--profiles", "no.json", "no.json", *sides]) == ExitCode.USAGE
    assert "there is no file no.json" in capsys.readouterr().err
