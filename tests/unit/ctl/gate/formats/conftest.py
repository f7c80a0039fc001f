# SPDX-License-Identifier: GPL-2.0
"""Verdicts that the tests of every format render."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from lib.ctl.command_line import Spekctl
from lib.ctl.verdicts import STRANGE_NAMES, measured, put, put_with_strange_names, sides

from spekctl.errors import ExitCode
from spekctl.gate.cases import Case, Status, Suite

LIMITS = """
[gate]
report = ["response.p99", "iops_per_w"]
[[limit]]
metric = "iops"
min = 900
[[limit]]
metric = "power"
max = "5W"
"""
# What a file name can hold, and no format may break at.
NASTY = 'x]]>\n&<"# ok 1 \x07\u202e$(id)'


def renderer(
    spekctl: Spekctl, tmp_path: Path, words: Sequence[str], code: ExitCode
) -> Callable[..., str]:
    """render(format, *options): the verdict of the command @words, which ends with @code."""

    def render(name: str, *more: str) -> str:
        outcome = spekctl(*words, "--format", name, *more, "-o", "verdict")
        assert (outcome.code, outcome.err) == (code, "")
        return (tmp_path / "verdict").read_text()

    return render


@pytest.fixture
def gate(spekctl: Spekctl, tmp_path: Path) -> Callable[..., str]:
    """Of a good and a slow result; a limit and a figure to report have no value."""
    (tmp_path / "limits.toml").write_text(LIMITS)
    put(tmp_path / "good.json", measured(1, 1000.0))
    put(tmp_path / "slow.json", measured(2, 800.5))
    words = ("gate", "limits.toml", "good.json", "slow.json")
    return renderer(spekctl, tmp_path, words, ExitCode.LIMIT_MISSED)


@pytest.fixture
def gate_of_strange_names(spekctl: Spekctl, tmp_path: Path) -> Callable[..., str]:
    """Of results in files of STRANGE_NAMES: five cases for each."""
    (tmp_path / "limits.toml").write_text(LIMITS)
    put_with_strange_names(tmp_path)
    words = ("gate", "limits.toml", *STRANGE_NAMES)
    return renderer(spekctl, tmp_path, words, ExitCode.LIMIT_MISSED)


@pytest.fixture
def comparison(spekctl: Spekctl, tmp_path: Path) -> Callable[..., str]:
    """B has 20 % less; IOPS decide, and the bandwidth is only reported."""
    a = [1000.0, 1004.0, 997.0, 1001.0, 999.0]
    words = ("compare", "--also", "bandwidth", *sides(tmp_path, a, [iops * 0.8 for iops in a]))
    return renderer(spekctl, tmp_path, words, ExitCode.LIMIT_MISSED)


@pytest.fixture
def undecided(spekctl: Spekctl, tmp_path: Path) -> Callable[..., str]:
    """A comparison of too few runs."""
    words = ("compare", *sides(tmp_path, [1000.0], [1000.0]))
    return renderer(spekctl, tmp_path, words, ExitCode.UNDECIDED)


@pytest.fixture(params=list(Status), ids=str)
def status(request: pytest.FixtureRequest) -> Status:
    """Each of them."""
    status: Status = request.param
    return status


@pytest.fixture(
    params=["plain", NASTY, "\ud800", "\x00"], ids=["plain", "nasty", "surrogate", "nul"]
)
def odd_suite(request: pytest.FixtureRequest, status: Status) -> Suite:
    """One case of @status; all texts are odd."""
    text: str = request.param
    case = Case("case0", status, text, 5.5, "IOPS")
    return Suite("spek.gate", "2026-01-01T00:00:00Z", "failed", text, [case], (text,))
