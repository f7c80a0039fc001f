# SPDX-License-Identifier: GPL-2.0
"""spekctl energy spc1e: computed from numbers, exactly; its options, and what they refuse."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from lib.ctl.command_line import Spekctl
from lib.ctl.energy_command import LEVELS, SHORT, of_file, of_output
from lib.ctl.spc1e_command import queue_kernel
from lib.fakes.queue_kernel import QueueKernel

from spekctl.errors import ExitCode

kernel = pytest.fixture(queue_kernel)


def test_a_published_table_comes_out_of_a_file(spekctl: Spekctl) -> None:
    Path("levels.toml").write_text(LEVELS)
    report = of_output(spekctl("energy", "spc1e", "--from", "levels.toml", "--json"))
    rows = [*report["profiles"], report["composite"]]
    assert [[row[key]["text"] for key in ("watts", "iops", "iops_per_watt")] for row in rows] == [
        ["227.85", "3333.14", "14.63"],
        ["231.49", "8499.58", "36.72"],
        ["235.84", "14499.49", "61.48"],
        ["231.73", "8777.40", "37.88"],
    ]
    heat = [row["btu_per_hour"]["text"] for row in rows[:3]]
    assert heat == ["777.44", "789.87", "804.72"]
    assert (report["annual_kwh"]["text"], report["annual_cost"]["text"]) == ("2029.93", "243.59")
    assert Fraction(report["composite"]["watts"]["exact"]) == Fraction(16_684_330, 72_000)
    assert (report["complete"], report["notice"]) == (True, "SPC-1/E-like, unaudited")
    assert [level["watts"] for level in report["levels"]] == ["236.965", "232.48", "225.53"]


def test_the_table_for_people(spekctl: Spekctl) -> None:
    site = "[site]\nvolts = 211.14\npower_factor = 0.809\n"
    Path("levels.toml").write_text(LEVELS + site)
    outcome = spekctl("energy", "spc1e", "--from", "levels.toml")
    lines = [" ".join(line.split()) for line in outcome.out.splitlines()]
    assert lines[0] == "SPC-1/E-like, unaudited: levels.toml"
    assert "low 0/8/16 227.85 3,333.14 14.63 777.44" in lines
    assert "medium 4/14/6 231.49 8,499.58 36.72 789.87" in lines
    assert "high 18/6/0 235.84 14,499.49 61.48 804.72" in lines
    assert "composite - 231.73 8,777.40 37.88 790.68" in lines
    assert "annual energy 2,029.93 kWh, at 0.12 each: 243.59" in lines
    assert "mean RMS voltage 211.14 V, power factor 0.809" in lines
    assert "SPC-1 " not in outcome.out and "SPC-1/E " not in outcome.out
    assert "…" not in outcome.out


@pytest.mark.parametrize(
    ("in_file", "option", "cost"),
    [("", (), "243.59"), ("price = 1\n", (), "2029.93"), ("price = 1\n", ("--price", "0"), "0.00")],
)
def test_the_price_is_a_parameter(
    in_file: str, option: tuple[str, ...], cost: str, spekctl: Spekctl
) -> None:
    Path("levels.toml").write_text(in_file + LEVELS)
    report = of_output(spekctl("energy", "spc1e", "--from", "levels.toml", "--json", *option))
    assert report["annual_cost"]["text"] == cost


def test_hours_are_parameters(spekctl: Spekctl) -> None:
    Path("levels.toml").write_text(LEVELS)
    line = ("energy", "spc1e", "--from", "levels.toml", "--json")
    report = of_output(spekctl(*line, "--hours", "low=0/1.5/22.5", "--hours", "high=24/0/0"))
    assert [row["hours"] for row in report["profiles"]] == [
        ["0", "1.5", "22.5"],
        ["4", "14", "6"],
        ["24", "0", "0"],
    ]
    assert report["profiles"][2]["watts"]["text"] == "236.97"


def test_a_report_is_read_again_without_losing_a_digit(spekctl: Spekctl) -> None:
    Path("levels.toml").write_text(LEVELS)
    spekctl("energy", "spc1e", "--from", "levels.toml", "-o", "first.json")
    again = of_output(spekctl("energy", "spc1e", "--from", "first.json", "--json"))
    first = of_file(Path("first.json"))
    for key in ("levels", "profiles", "composite", "annual_kwh", "annual_cost"):
        assert again[key] == first[key]


def test_the_numbers_are_not_overwritten(spekctl: Spekctl) -> None:
    Path("levels.toml").write_text(LEVELS)
    outcome = spekctl("energy", "spc1e", "--from", "levels.toml", "-o", "levels.toml")
    assert (outcome.code, outcome.out) == (ExitCode.USAGE, "")
    assert outcome.sentence == "--output levels.toml would overwrite the input levels.toml"
    assert Path("levels.toml").read_text() == LEVELS


def test_a_report_is_told_by_what_is_in_it(spekctl: Spekctl) -> None:
    Path("levels.json").write_text(LEVELS)
    assert spekctl("energy", "spc1e", "--from", "levels.json", "-o", "report").code == 0
    assert of_output(spekctl("energy", "spc1e", "--from", "report", "--json"))["complete"]
    for name in ("dcse", "emerald"):
        outcome = spekctl("energy", name, "--from", "report")
        assert outcome.code == ExitCode.USAGE
        text = "report is a report of `spekctl energy spc1e`; numbers are read from TOML\n"
        assert outcome.err == f"spekctl: {text}"
    Path("other").write_text('{"iops": 3}')
    outcome = spekctl("energy", "dcse", "--from", "other")
    assert "other is JSON that spekctl has not written; numbers are read from TOML" in outcome.err


def test_what_is_not_given_stays_as_in_the_report(spekctl: Spekctl) -> None:
    Path("levels.toml").write_text("price = 1\n" + LEVELS)
    spekctl(
        *("energy", "spc1e", "--from", "levels.toml", "-o", "first.json"),
        *("--hours", "low=0/0.5/23.5", "--hours", "high=24/0/0"),
    )
    line = ("energy", "spc1e", "--from", "first.json", "--json")
    again = of_output(spekctl(*line, "--price", "2", "--hours", "high=18/6/0"))
    assert [row["hours"] for row in again["profiles"]] == [
        ["0", "0.5", "23.5"],
        ["4", "14", "6"],
        ["18", "6", "0"],
    ]
    assert (again["annual_kwh"]["text"], again["annual_cost"]["text"]) == ("2023.58", "4047.17")
    assert of_output(spekctl(*line))["price"] == "1"


@pytest.mark.parametrize(
    ("was", "now", "sentence"),
    [
        ('"16"', '"17"', "f.json: the hours of low: a day has 24 h, not 25"),
        ('"16"', '"many"', "f.json: the hours of low: 'many' is not a number"),
        ('"low"', '"lower"', "f.json: the hours of lower are not those of a usage profile"),
        ('"236.965"', '"1e999"', "f.json is damaged: Expected `str` matching regex"),
        ('"236.965"', f'"{10**101}"', f"f.json: the heavy level: '{10**19}...': it must be 0 or"),
        ('"0.12"', '"cheap"', "f.json is damaged: Expected `str` matching regex"),
    ],
)
def test_a_damaged_report_gets_one_sentence(
    was: str, now: str, sentence: str, spekctl: Spekctl
) -> None:
    Path("levels.toml").write_text(LEVELS)
    spekctl("energy", "spc1e", "--from", "levels.toml", "-o", "f.json")
    text = Path("f.json").read_text()
    assert was in text
    Path("f.json").write_text(text.replace(was, now))
    outcome = spekctl("energy", "spc1e", "--from", "f.json")
    assert outcome.code == ExitCode.USAGE and sentence in outcome.sentence


WRONG_OPTIONS = {
    "no such file": (("--from", "none.toml"), "there is no file none.toml"),
    "unknown profile": (
        ("--from", "l.toml", "--hours", "meduim=1/2/21"),
        "no profile is called 'meduim'; did you mean 'medium'? (they are low, medium, high)",
    ),
    "hours": (("--from", "l.toml", "--hours", "low=1/2/3"), "a day has 24 h, not 6"),
    "two hours": (("--from", "l.toml", "--hours", "low=1/23"), "write hours at heavy/moderate"),
    "words": (("--from", "l.toml", "--hours", "low=a/b/c"), "'a' is not a number"),
    "negative hours": (("--from", "l.toml", "--hours", "low=-1/9/16"), "cannot be negative"),
    "idle day": (("--from", "l.toml", "--hours", "low=0/0/24"), "a day without load"),
    "price": (("--from", "l.toml", "--price", "cheap"), "--price: 'cheap' is not a number"),
    "negative price": (("--from", "l.toml", "--price", "-1"), "--price must be 0 or more, not -1"),
    "both": (("--from", "l.toml", "--device", "/dev/fake0"), "exclude each other"),
    "folder of no test": (
        ("--from", "l.toml", "--folder", "t"),
        "--from and --folder exclude each other",
    ),
    "resumed numbers": (("--from", "l.toml", "--resume"), "--from and --resume exclude each other"),
    "written numbers": (("--from", "l.toml", "--write"), "--from and --write exclude each other"),
    "idle time of numbers": (
        ("--from", "l.toml", "--idle-time", "1m"),
        "--from and --idle-time exclude each other: measured, or computed",
    ),
    "neither": (("--price", "1"), "give a device to test (--device), or numbers (--from)"),
    "idle of a file": (
        ("--from", "l.toml", "--idle-watts", "3"),
        "--idle-watts belongs to a report; l.toml has a section [idle]",
    ),
    "idle of a test": (
        ("--device", "/dev/fake0", "--write", "--idle-watts", "3"),
        "--idle-watts belongs to --from",
    ),
    "no idle": (("--from", "l.toml", "--idle-watts", "-3"), "--idle-watts must be more than 0"),
    "no time": (
        ("--device", "/dev/fake0", "--write", "--idle-time", "0"),
        "--idle-time must be more than 0",
    ),
    "not ours": (("--from", "other.json"), "other.json is not a spek file; energy is"),
    "into nowhere": (("--from", "l.toml", "-o", "no/e.json"), "there is no directory no"),
    "nothing to resume": (
        ("--device", "/dev/fake0", "--write", "--resume"),
        "spc1e-fake0 holds no test to resume",
    ),
}


@pytest.mark.parametrize("case", WRONG_OPTIONS)
def test_wrong_options_get_one_sentence(case: str, spekctl: Spekctl, kernel: QueueKernel) -> None:
    Path("l.toml").write_text(LEVELS)
    Path("other.json").write_text('{"kind": "other"}')
    options, sentence = WRONG_OPTIONS[case]
    outcome = spekctl("energy", "spc1e", *options)
    assert outcome.code == ExitCode.USAGE and outcome.out == ""
    assert sentence in outcome.sentence
    assert "run-new" not in kernel.calls


def test_writing_has_to_be_allowed(spekctl: Spekctl, kernel: QueueKernel) -> None:
    outcome = spekctl("energy", "spc1e", "--device", "/dev/fake0", *SHORT)
    assert outcome.code == ExitCode.REFUSED and "give --write" in outcome.sentence
    assert not Path("spc1e-fake0").exists()
