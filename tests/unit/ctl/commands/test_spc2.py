# SPDX-License-Identifier: GPL-2.0
"""spekctl spc2: its options, what they refuse, and its report as JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from lib.ctl.command_line import Spekctl
from lib.ctl.spc2_command import READ, streams_kernel
from lib.fakes.queue_kernel import QueueKernel

from spekctl.errors import ExitCode

kernel = pytest.fixture(streams_kernel)


WRONG: dict[str, tuple[str, ExitCode, str]] = {
    "not allowed": ("", ExitCode.REFUSED, "give --write"),
    "part": ("--parts vdo", ExitCode.USAGE, "no part is called 'vdo'; did you mean 'vod'?"),
    "part twice": ("--parts ldq,vod,ldq", ExitCode.USAGE, "ldq is listed twice"),
    "no streams": ("--streams 0", ExitCode.USAGE, "'--streams'"),
    "no time": ("--parts vod --vod-time 0", ExitCode.USAGE, "--vod-time must be more than 0"),
    "no response": ("--parts vod --max-response 0ns", ExitCode.USAGE, "--max-response must be"),
    "late": ("--parts vod --max-late 2", ExitCode.USAGE, "'--max-late'"),
    "range": ("--parts vod --vod-start 9 --vod-most 3", ExitCode.USAGE, "is more than --vod-most"),
    "price": ("--parts vod --system-price 0", ExitCode.USAGE, "--system-price must be more than"),
    "resume": ("--parts vod --resume --folder no", ExitCode.USAGE, "no holds no test to resume"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_input_gets_one_sentence_before_anything_runs(
    case: str, spekctl: Spekctl, kernel: QueueKernel
) -> None:
    line, code, sentence = WRONG[case]
    outcome = spekctl("spc2", "--device", "/dev/fake0", *line.split())
    assert outcome.code == code, outcome.err
    assert sentence in outcome.sentence
    assert outcome.out == "" and "run-new" not in kernel.calls


def test_json_goes_to_standard_output(spekctl: Spekctl, kernel: QueueKernel) -> None:
    outcome = spekctl(*READ, "--folder", "t", "--json")
    assert json.loads(outcome.out) == json.loads(Path("t/report.json").read_text())
