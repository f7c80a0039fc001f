# SPDX-License-Identifier: GPL-2.0
"""spekctl spc1: what is refused, in one sentence, before anything runs."""

from __future__ import annotations

from pathlib import Path

import pytest
from lib.ctl.campaign_command import queue_kernel
from lib.ctl.command_line import Spekctl
from lib.ctl.spc1_command import WRITE
from lib.fakes.machine import disk
from lib.fakes.queue_kernel import QueueKernel

from spekctl.block import blkid, device, safety
from spekctl.errors import ExitCode

kernel = pytest.fixture(queue_kernel)


WRONG: dict[str, tuple[tuple[str, ...], ExitCode, str]] = {
    "no device": (("--write",), ExitCode.USAGE, "missing option '--device'"),
    "not allowed": (("-d", "/dev/fake0"), ExitCode.REFUSED, "give --write"),
    "wrong name": (
        ("-d", "/dev/fake0", "--write", "--destroy", "S9"),
        ExitCode.REFUSED,
        "names none of the devices given",
    ),
    "same device twice": (
        ("-d", "/dev/fake0", "-d", "/dev/fake0", "--write"),
        ExitCode.USAGE,
        "are the same device",
    ),
    "no such device": (("-d", "/dev/nosuch", "--write"), ExitCode.USAGE, "there is no device"),
    "nothing to resume": (
        ("-d", "/dev/fake0", "--write", "--resume"),
        ExitCode.USAGE,
        "spc1-fake0 holds no test to resume; leave out --resume",
    ),
    "start above the end": (
        ("-d", "/dev/fake0", "--write", "--start-bsu", "9", "--max-bsu", "8"),
        ExitCode.USAGE,
        "--start-bsu 9 is more than --max-bsu 8",
    ),
    "unknown limit": (
        ("-d", "/dev/fake0", "--write", "--limit", "intensty=1"),
        ExitCode.USAGE,
        "no limit is called 'intensty'; did you mean 'intensity'?",
    ),
    "limit without a number": (
        ("-d", "/dev/fake0", "--write", "--limit", "intensity"),
        ExitCode.USAGE,
        "'' is not a number of 0 or more",
    ),
    "negative limit": (
        ("-d", "/dev/fake0", "--write", "--limit", "repeat_iops=-1"),
        ExitCode.USAGE,
        "'-1' is not a number of 0 or more",
    ),
    "part of a time": (
        ("-d", "/dev/fake0", "--write", "--limit", "lowered_at_most=1.5"),
        ExitCode.USAGE,
        "lowered_at_most is a whole number",
    ),
    "start at 0": (("-d", "/dev/fake0", "--write", "--start-bsu", "0"), ExitCode.USAGE, "0 is not"),
    "no time": (
        ("-d", "/dev/fake0", "--write", "--iops-time", "0"),
        ExitCode.USAGE,
        "--iops-time must be more than 0",
    ),
    "no limit": (
        ("-d", "/dev/fake0", "--write", "--max-response", "0ms"),
        ExitCode.USAGE,
        "--max-response must be more than 0",
    ),
    "limit without unit": (
        ("-d", "/dev/fake0", "--write", "--max-response", "30"),
        ExitCode.USAGE,
        "has no unit",
    ),
    "resolution": (
        ("-d", "/dev/fake0", "--write", "--resolution", "99"),
        ExitCode.USAGE,
        "not in the range",
    ),
    "resolution that is no number": (
        ("-d", "/dev/fake0", "--write", "--resolution", "nan"),
        ExitCode.USAGE,
        "'--resolution': 'nan' is not a number",
    ),
    "infinite resolution": (
        ("-d", "/dev/fake0", "--write", "--resolution", "inf"),
        ExitCode.USAGE,
        "not in the range",
    ),
    "asu without a device": (
        ("-d", "asu1=/dev/fake0", "-d", "asu2=/dev/fake1", "--write"),
        ExitCode.USAGE,
        "asu 'asu3' has no device",
    ),
    "folder": (
        ("-d", "/dev/fake0", "--write", "--folder", "no/such"),
        ExitCode.USAGE,
        "there is no directory no",
    ),
    "workers": (
        ("-d", "/dev/fake0", "--write", "--workers", "9999"),
        ExitCode.USAGE,
        "--workers must be",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_input_gets_one_sentence_before_anything_runs(
    case: str, spekctl: Spekctl, kernel: QueueKernel
) -> None:
    more, code, sentence = WRONG[case]
    outcome = spekctl("spc1", *more)
    assert outcome.code == code
    assert sentence in outcome.sentence
    assert outcome.out == "" and "run-new" not in kernel.calls
    assert not Path("spc1-fake0").exists()


def test_a_device_that_is_too_small_is_refused(
    spekctl: Spekctl, kernel: QueueKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(device, "find", lambda path: disk(path, bytes=100 << 20))
    outcome = spekctl(*WRITE, "--folder", "t")
    assert outcome.code == ExitCode.USAGE
    assert "at least 178 MiB" in outcome.sentence
    assert not Path("t").exists()


def test_data_on_the_device_is_refused_before_the_first_phase(
    spekctl: Spekctl, kernel: QueueKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    signatures = [blkid.Signature("xfs", "filesystem", 0)]
    monkeypatch.setattr(safety, "signatures_on", lambda device, diskseq: signatures)
    outcome = spekctl(*WRITE, "--folder", "t")
    assert outcome.code == ExitCode.REFUSED
    assert outcome.sentence.endswith("to overwrite it, give --destroy S123")
    assert "run-start" not in kernel.calls and not Path("t/report.json").exists()
    named = spekctl(*WRITE, "--folder", "t", "--destroy", "S123", "--max-bsu", "2")
    assert named.code == ExitCode.OK
    assert named.err.count("will be overwritten") == 1
