# SPDX-License-Identifier: GPL-2.0
"""Commands that run the steps of a file; rates of steps are tested in test_vdbench.py."""

from __future__ import annotations

from pathlib import Path

import pytest
from lib.ctl.command_line import Spekctl
from lib.ctl.vdbench_files import RD, SD, WD
from lib.fakes.kernel import FakeKernel

from spekctl.errors import ExitCode

TWO_RUNS = SD + WD + RD.replace("rd=run1", "rd=run0") + RD


@pytest.fixture
def words(tmp_path: Path) -> list[str]:
    (tmp_path / "two.parm").write_text(TWO_RUNS)
    return ["run", "vdbench:two.parm", "--device", "/dev/fake0", "--time", "2s"]


@pytest.mark.parametrize("option", ["--detach", "--json"])
def test_options_of_a_single_run_are_refused(
    option: str, words: list[str], spekctl: Spekctl, kernel: FakeKernel
) -> None:
    refused = spekctl(*words, option)
    assert refused.code == ExitCode.USAGE
    sentence = (
        f"{option} is of one run, and this file has 2 steps, which are as many runs; name one"
    )
    assert sentence in refused.err.splitlines()[-1]
    assert not kernel.closed, "a run has been there"


def test_each_step_has_files_of_its_own(
    words: list[str], spekctl: Spekctl, kernel: FakeKernel, tmp_path: Path
) -> None:
    """Older ones are kept, also those of steps that may not be run."""
    (tmp_path / "out.2.json").write_text("{}")
    done = spekctl(*words, "-o", "out.json")
    assert done.code == ExitCode.OK, done.err
    assert sorted(path.name for path in tmp_path.glob("out*")) == [
        *("out.1.json", "out.2.json", "out.2.json~"),
    ]
    assert (tmp_path / "out.2.json~").read_text() == "{}"
