# SPDX-License-Identifier: GPL-2.0
"""spekctl energy emerald: its options, what they refuse, and figures from a file."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from lib.ctl.command_line import Outcome, Spekctl
from lib.ctl.emerald_command import (
    RUN,
    LoopKernel,
    loop_kernel,
    loop_power,
    values_of,
)
from lib.ctl.energy_command import of_file
from lib.fakes.power import FakePower

from spekctl.campaigns.emerald.plan import (
    QUICK,
)
from spekctl.documents import energy
from spekctl.errors import ExitCode

kernel = pytest.fixture(loop_kernel)
power = pytest.fixture(loop_power)


NUMBERS = """
raw_gigabytes = 7300
[ready-idle]
watts = 592.692
[random-read]
iops = 12305.0
watts = 713.126
[sequential-read]
mib_per_s = 2146.4
watts = 713.126
"""


def test_published_metrics_come_out_of_a_file(spekctl: Spekctl) -> None:
    Path("p.toml").write_text(NUMBERS)
    outcome = spekctl("energy", "emerald", "--from", "p.toml", "-o", "p.json")
    assert outcome.code == ExitCode.OK, outcome.err
    report = of_file(Path("p.json"))
    assert values_of(report) == {"EP_RI": "12.317", "EP_RR": "17.255", "EP_SR": "3.010"}
    assert (report["complete"], report["notice"]) == (True, "Emerald-like, unaudited")
    assert "12.317" in outcome.out and "…" not in outcome.out
    assert energy.load_emerald(Path("p.json")).raw_gigabytes == "7300"


def test_the_numbers_are_not_overwritten(spekctl: Spekctl) -> None:
    Path("p.toml").write_text(NUMBERS)
    outcome = spekctl("energy", "emerald", "--from", "p.toml", "-o", "p.toml")
    assert (outcome.code, outcome.out) == (ExitCode.USAGE, "")
    assert outcome.sentence == "--output p.toml would overwrite the input p.toml"
    assert Path("p.toml").read_text() == NUMBERS


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("raw_gigabytes = 3\n", "there is no phase; the sections are [hot-band], [random-read]"),
        ("[random-read]\niops = 0\nwatts = 3\n", "random-read: 0 IOPS must be more than 0"),
        ("[random-read]\niops = 9\nwatts = -3\n", "random-read: the power is -3 W"),
        ("[random-read]\nmib_per_s = 9\nwatts = 3\n", "[random-read]: the key 'iops' is missing"),
        ("[random-raed]\niops = 9\n", "unknown key 'random-raed'; did you mean 'random-read'?"),
        ("[ready-idle]\nwatts = 9\n", "[ready-idle] needs the key 'raw_gigabytes' above it"),
        (
            "raw_gigabytes = 1\n[ready-idle]\nwatts = 9\n[mixed]\niops = 1\nwatts = 8\n",
            "idle power, 9 W, is above that of mixed, 8 W",
        ),
    ],
)
def test_a_wrong_file_gets_one_sentence(text: str, sentence: str, spekctl: Spekctl) -> None:
    Path("p.toml").write_text(text)
    outcome = spekctl("energy", "emerald", "--from", "p.toml")
    assert outcome.code == ExitCode.USAGE and outcome.out == ""
    assert sentence in outcome.sentence


WRONG: dict[str, tuple[tuple[str, ...], int, str]] = {
    "neither": (("--quick",), ExitCode.USAGE, "give a device to test (--device), or numbers"),
    "both": (("-d", "/dev/fake0", "--from", "p.toml"), ExitCode.USAGE, "exclude each other"),
    "folder of no test": (
        ("--from", "p.toml", "--folder", "t"),
        ExitCode.USAGE,
        "--from and --folder exclude each other: measured, or computed",
    ),
    "idle time of numbers": (
        ("--from", "p.toml", "--json", "--idle-time", "1m"),
        ExitCode.USAGE,
        "--from and --idle-time exclude each other: measured, or computed",
    ),
    "not allowed": (("-d", "/dev/fake0"), ExitCode.REFUSED, "give --write"),
    "unknown phase": (
        ("-d", "/dev/fake0", "--write", "--phases", "hotband"),
        ExitCode.USAGE,
        "no phase is called 'hotband'; did you mean 'hot-band'?",
    ),
    "no raw capacity": (
        ("-d", "/dev/fake0", "--write", "--raw-gigabytes", "0"),
        ExitCode.USAGE,
        "--raw-gigabytes must be more than 0, not 0",
    ),
    "depth 0": (
        ("-d", "/dev/fake0", "--write", "--depths", "0,1"),
        ExitCode.USAGE,
        "--depths begin at 1, not at 0",
    ),
    "too many workers": (
        ("-d", "/dev/fake0", "--write", "--workers", "9999"),
        ExitCode.USAGE,
        "--workers",
    ),
    "no time": (
        ("-d", "/dev/fake0", "--write", "--time", "0"),
        ExitCode.USAGE,
        "--time must be more than 0",
    ),
    "no limit": (
        ("-d", "/dev/fake0", "--write", "--max-response", "0ms"),
        ExitCode.USAGE,
        "--max-response must be more than 0",
    ),
    "no window": (
        ("-d", "/dev/fake0", "--write", "--window", "0"),
        ExitCode.USAGE,
        "--window must be more than 0",
    ),
    "nothing to resume": (
        ("-d", "/dev/fake0", "--write", "--resume"),
        ExitCode.USAGE,
        "emerald-fake0 holds no test to resume",
    ),
    "output of a test": (
        ("-d", "/dev/fake0", "--write", "-o", "x.json"),
        ExitCode.USAGE,
        "--output belongs to --from",
    ),
    "wrong serial": (
        ("-d", "/dev/fake0", "--write", "--destroy", "nobody"),
        ExitCode.REFUSED,
        "names none of the devices",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_input_gets_one_sentence_before_anything_runs(
    case: str, spekctl: Spekctl, kernel: LoopKernel
) -> None:
    options, code, sentence = WRONG[case]
    outcome: Outcome = spekctl("energy", "emerald", *options)
    assert outcome.code == code, outcome.err
    assert sentence in outcome.sentence
    assert outcome.out == "" and "run-new" not in kernel.calls


def test_reads_alone_need_no_permission_to_write(
    spekctl: Spekctl, kernel: LoopKernel, power: FakePower
) -> None:
    line = [word for word in RUN if word != "--write"]
    outcome = spekctl(
        *(*line, "--folder", "t", "--phases", "random-read,ready-idle"),
        *("--prefill", "0", "--conditioning", "0"),
    )
    assert outcome.code == ExitCode.OK, outcome.err
    assert not any(config.write for config in kernel.runs_seen)


def test_quick_is_a_preset_that_options_change(
    spekctl: Spekctl, kernel: LoopKernel, power: FakePower
) -> None:
    line = ("energy", "emerald", "-d", "/dev/fake0", "--write", "--quick", "--progress", "none")
    outcome = spekctl(
        *(*line, "--folder", "t", "--phases", "random-read", "--depths", "2", "--time", "7s"),
    )
    assert outcome.code == ExitCode.OK, outcome.err
    report = of_file(Path("t/energy.json"))
    assert report["parameters"]["durations"] == msgspec.to_builtins(
        msgspec.structs.replace(QUICK, measure_ns=7_000_000_000)
    )
    assert "0 % of the capacity was filled beforehand" in report["remarks"]


TOLD = ("--taxonomy", " Online 3 ", "--disclose", "parity [RAID]=on", "--disclose", "thin = a=b")


def test_what_is_told_of_the_system_is_in_the_report(spekctl: Spekctl) -> None:
    Path("p.toml").write_text(NUMBERS)
    outcome = spekctl("energy", "emerald", "--from", "p.toml", *TOLD, "-o", "p.json")
    assert outcome.code == ExitCode.OK, outcome.err
    report = of_file(Path("p.json"))
    assert report["taxonomy"] == "Online 3"
    assert report["disclosures"] == {"parity [RAID]": "on", "thin": "a=b"}
    lines = outcome.out.splitlines()
    told = lines.index("  taxonomy Online 3")
    assert lines[told + 1 : told + 3] == [
        "  disclosed: parity [RAID]: on",
        "  disclosed: thin: a=b",
    ]
    assert spekctl("report", "p.json", "-o", "p.html").code == ExitCode.OK
    assert all(text in Path("p.html").read_text() for text in ("Online 3", "parity [RAID]"))


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("x",), "--disclose 'x': write NAME=TEXT, for example 'parity RAID=on'"),
        (("=on",), "--disclose '=on': write NAME=TEXT, for example 'parity RAID=on'"),
        (("RAID= ",), "--disclose 'RAID= ': write NAME=TEXT, for example 'parity RAID=on'"),
        (("RAID=on", "RAID=off"), "--disclose: 'RAID' is given twice"),
    ],
)
def test_a_disclosure_has_a_name_and_a_text(
    spekctl: Spekctl, words: tuple[str, ...], sentence: str
) -> None:
    Path("p.toml").write_text(NUMBERS)
    options = [part for word in words for part in ("--disclose", word)]
    refused = spekctl("energy", "emerald", "--from", "p.toml", *options)
    assert (refused.code, refused.out, refused.sentence) == (ExitCode.USAGE, "", sentence)


def test_what_is_told_stays_with_a_measured_test(
    spekctl: Spekctl, kernel: LoopKernel, power: FakePower
) -> None:
    line = (*RUN, "--folder", "t", "--phases", "random-read", "--conditioning", "0")
    assert spekctl(*line, *TOLD).code == ExitCode.OK
    report = of_file(Path("t/energy.json"))
    assert (report["taxonomy"], report["disclosures"]["thin"]) == ("Online 3", "a=b")
    changed = spekctl(*line, "--resume", *TOLD[:4])
    assert changed.code == ExitCode.USAGE
    assert "started with another thin: a=b then, none now" in changed.sentence
    assert spekctl(*line, "--resume", *TOLD).code == ExitCode.OK
