# SPDX-License-Identifier: GPL-2.0
"""spekctl sweep: lists of loads, and what is refused before anything runs."""

from __future__ import annotations

import pytest
from lib.ctl.command_line import Spekctl
from lib.ctl.sweep_command import queue_kernel
from lib.fakes.queue_kernel import QueueKernel

from spekctl import units
from spekctl.errors import ExitCode, UsageError

kernel = pytest.fixture(queue_kernel)


@pytest.mark.parametrize(
    ("text", "whole", "numbers"),
    [
        ("5", True, [5]),
        ("1,2,5,10", True, [1, 2, 5, 10]),
        ("1-4", True, [1, 2, 3, 4]),
        ("10-100:30", True, [10, 40, 70, 100]),
        ("10-99:30", True, [10, 40, 70]),
        ("8, 1-3 ,2", True, [8, 1, 2, 3]),
        ("0.1-0.5:0.1", False, [0.1, 0.2, 0.3, 0.4, 0.5]),
        ("1000,2500.5", False, [1000, 2500.5]),
        ("1-1000", True, list(range(1, 1001))),
    ],
)
def test_loads_are_lists_and_ranges(text: str, whole: bool, numbers: list[float]) -> None:
    assert units.parse_numbers(text, whole=whole) == numbers


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "is not a list of whole numbers"),
        ("1,,2", "write for example 1,2,5 or 1-10 or 10-100:10"),
        ("1.5", "whole numbers"),
        ("-3", "is not a list"),
        ("5-1", "is empty"),
        ("1-5:0", "is empty"),
        ("1-1001", "more than 1000 numbers"),
        ("1-600,1001-1600", "more than 1000 numbers"),
    ],
)
def test_other_loads_are_refused(text: str, sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        units.parse_numbers(text)


WRONG: dict[str, tuple[str, ExitCode, str]] = {
    "no load": ("random-read-4k", ExitCode.USAGE, "say which loads: --bsu, --rate or --depth"),
    "two loads": ("random-read-4k --rate 3 --depth 3", ExitCode.USAGE, "exclude each other"),
    "no number": ("random-read-4k --depth many", ExitCode.USAGE, "'many' is not a list of whole"),
    "depth 0": ("random-read-4k --depth 4,0", ExitCode.USAGE, "--depth must be 1 to"),
    "rate 0": ("random-read-4k --rate 0,5", ExitCode.USAGE, "a rate must be a number above 0"),
    "bsu of a plain workload": ("random-read-4k --bsu 1-3", ExitCode.USAGE, "does not scale by"),
    "rate of spc1": ("spc1 --rate 100 --write", ExitCode.USAGE, "is set by --bsu"),
    "a field without values": (
        "random-read-4k --over size",
        ExitCode.USAGE,
        "write FIELD=VALUE,VALUE, for example size=512,4KiB",
    ),
    "an empty value": ("random-read-4k --over size=4k,,8k", ExitCode.USAGE, "write FIELD=VALUE"),
    "a load as a field": ("random-read-4k --over depth=1,2", ExitCode.USAGE, "give --depth 1,2"),
    "the length": ("random-read-4k --over run.time=1s,2s", ExitCode.USAGE, "a sweep varies size"),
    "a title": ("random-read-4k --over workload.summary=a,b", ExitCode.USAGE, "a sweep varies"),
    "the seed": ("random-read-4k --over seed=1,2", ExitCode.USAGE, "a sweep varies size, read"),
    "a section": ("random-read-4k --over stream=1,2", ExitCode.USAGE, "a sweep varies size, read"),
    "a name": ("random-read-4k --over stream.main.name=a,b", ExitCode.USAGE, "changes no load"),
    "no such stream": (
        "random-read-4k --over stream.man.size=4k,8k",
        ExitCode.USAGE,
        "--over stream.man.size=4k: there is no stream 'man'",
    ),
    "no size": (
        "random-read-4k --over size=4k,big",
        ExitCode.USAGE,
        "with --over stream.*.size=big",
    ),
    "a value twice": ("random-read-4k --over size=4k,4k", ExitCode.USAGE, "a value is given twice"),
    "a field twice": (
        "random-read-4k --over size=4k,8k --over size=1k",
        ExitCode.USAGE,
        "--over size is given twice; write its values in one list",
    ),
    "three fields": (
        "random-read-4k --over size=4k,8k --over read=1%,2% --over batch=1,2",
        ExitCode.USAGE,
        "--over can be given 2 times, not 3 times",
    ),
    "too many points": (
        "random-read-4k --depth 1-600 --over size=4k,8k",
        ExitCode.USAGE,
        "--over: that is 1,200 points; at most 1,000",
    ),
    "no number of workers": (
        "random-read-4k --over workers=1,many",
        ExitCode.USAGE,
        "--over workers: 'many' is not a whole number",
    ),
    "rates within rates": (
        "random-read-4k --rate 1,9 --within iops>5",
        ExitCode.USAGE,
        "--rate sets iops, which says nothing about the device",
    ),
    "bandwidth within BSUs": (
        "spc1 --bsu 1,9 --write --within bandwidth>5MiB/s",
        ExitCode.USAGE,
        "--bsu sets bandwidth, which says nothing about the device",
    ),
    "a backlog within depths": (
        "random-read-4k --depth 1,9 --within backlog<5",
        ExitCode.USAGE,
        "--depth is a closed loop, whose backlog is 0 on any device",
    ),
    "no workers": ("random-read-4k --over workers=1,0", ExitCode.USAGE, "0 is not within 1 to"),
    "an option twice": (
        "random-read-4k --over batch=1,2 --batch 3",
        ExitCode.USAGE,
        "--over batch and --batch exclude each other",
    ),
    "a search over fields": (
        "random-read-4k --rate 1,9 --over size=4k,8k --within p99<1ms",
        ExitCode.USAGE,
        "--over and --within exclude each other",
    ),
    "writes of a later point": (
        "random-read-4k --over read=100%,50%",
        ExitCode.REFUSED,
        "give --write",
    ),
    "no load of its own": ("spc1 --over batch=1,2 --write", ExitCode.USAGE, "--bsu"),
    "a depth for each BSU of a rate": (
        "random-read-4k --rate 5 --max-outstanding-per-bsu 2",
        ExitCode.USAGE,
        "--max-outstanding-per-bsu needs loads in BSUs: give --bsu",
    ),
    "two depths": (
        "spc1 --bsu 1,2 --max-outstanding-per-bsu 2 --max-outstanding 9 --write",
        ExitCode.USAGE,
        "--max-outstanding-per-bsu and --max-outstanding exclude each other",
    ),
    "two depths over fields": (
        "spc1 --bsu 1 --max-outstanding-per-bsu 2 --over max-outstanding=1,2 --write",
        ExitCode.USAGE,
        "--max-outstanding-per-bsu and --over max-outstanding exclude each other",
    ),
    "too deep": (
        "spc1 --bsu 1,60000 --max-outstanding-per-bsu 2 --write",
        ExitCode.USAGE,
        "at 60000 BSU that is 120,000 I/Os outstanding; at most",
    ),
    "unknown workload": ("spc2 --bsu 1", ExitCode.USAGE, "did you mean 'spc1'?"),
    "two outputs": ("random-read-4k --depth 1 --json --csv", ExitCode.USAGE, "exclude each other"),
    "no folder": ("random-read-4k --depth 1 --folder /no/such", ExitCode.USAGE, "no directory /no"),
    "no directory": ("random-read-4k --depth 1 -o /no/c.json", ExitCode.USAGE, "no directory /no"),
    "not allowed": ("spc1 --bsu 1,2", ExitCode.REFUSED, "give --write"),
    "destroy alone": ("spc1 --bsu 1 --destroy S123", ExitCode.USAGE, "needs --write as well"),
    "wrong name": ("spc1 --bsu 1 --write --destroy S9", ExitCode.REFUSED, "names none of"),
}


@pytest.mark.parametrize("case", sorted(WRONG))
def test_wrong_input_gets_one_sentence_before_anything_runs(
    case: str, spekctl: Spekctl, kernel: QueueKernel
) -> None:
    line, code, sentence = WRONG[case]
    outcome = spekctl("sweep", *line.split(), "--device", "/dev/fake0")
    assert outcome.code == code
    assert sentence in outcome.sentence
    assert outcome.out == ""
    assert "run-new" not in kernel.calls
