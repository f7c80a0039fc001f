# SPDX-License-Identifier: GPL-2.0
"""spekctl run --fleet: one run on the hosts of a plan, whose load is a total."""

from __future__ import annotations

from pathlib import Path

import pytest
from lib.ctl.command_line import Outcome, Spekctl
from lib.fakes.fleet_rig import plan_of

from spekctl.errors import ExitCode

NAMES = ["a", "b", "c"]
KEPT = 'workers = "2"\nheat-map = true'


@pytest.fixture
def dry(spekctl: Spekctl, tmp_path: Path) -> object:
    (tmp_path / "plan.toml").write_text(plan_of(NAMES, time=f'7s"\n{KEPT}\nrate = "5'))

    def run(*words: str) -> Outcome:
        return spekctl("run", *words, "--fleet", "plan.toml", "--dry-run")

    return run


def options_of(outcome: Outcome) -> list[dict[str, str]]:
    """The options of each client."""
    assert outcome.code == ExitCode.OK, outcome.err
    told: list[dict[str, str]] = []
    for line in outcome.out.splitlines():
        words = line.split()
        if words[:1] in (["a"], ["b"], ["c"]):
            told.append({})
        # A row may take several lines.
        if told:
            pairs = (word.partition("=") for word in words)
            told[-1] |= {flag: value for flag, sign, value in pairs if sign}
    return told


def test_loads_and_counts_are_totals_and_all_else_is_of_each_client(dry: Spekctl) -> None:
    told = options_of(
        dry(
            *("random-read-4k", "--rate", "300", "--count", "100", "--max-outstanding", "31"),
            *("--max-errors", "5"),
        )
    )
    assert [float(each["rate"]) for each in told] == [100.0] * 3
    assert [each["count"] for each in told] == ["34", "33", "33"]
    assert [each["max-outstanding"] for each in told] == ["11", "10", "10"]
    assert [each["max-errors"] for each in told] == ["5"] * 3
    # Of the plan, only which CPUs hosts use and what they measure counts.
    assert [(each["workers"], each["heat-map"]) for each in told] == [("2", "yes")] * 3
    assert all("time" not in each for each in told)
    told = options_of(dry("random-read-4k", "--depth", "8", "--ramp-count", "7"))
    assert [each["depth"] for each in told] == ["3", "3", "2"]
    assert [each["ramp-count"] for each in told] == ["3", "2", "2"]
    assert [each["bsu"] for each in options_of(dry("spc1", "--bsu", "4"))] == ["2", "1", "1"]


def test_it_says_which_options_of_the_plan_do_not_count(dry: Spekctl) -> None:
    assert "rate, time of the plan are not used: these are the command's" in (
        dry("random-read-4k").err
    )


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--count", "2"), "--count must be 3 to 55340232221128654845 for 3 clients together, n"),
        (("--rate", "5e20"), "--rate must be 0.003 to 3000000000 for 3 clients together, not 5e"),
        (("--rate", "0.002"), "--rate must be 0.003 to 3000000000 for 3 clients together, not 0"),
        (("--rate", "nan"), "--rate: a rate must be a number above 0, not nan"),
        (("--depth", "2"), "--depth must be 3 to 196608 for 3 clients together, not 2"),
        # Parts that differ make no sentence about the first host.
        (("--count", "100", "--passes", "1"), "--count and --passes exclude each other"),
        (("--depth", "4", "--count", "100", "--passes", "1"), "--count and --passes exclude each"),
        (("--depth", "70000", "--count", "9", "--passes", "1"), "--depth 70000 --count 9 divided"),
        (("--seed", str(1 << 63)), "--seed of a fleet must be 0 to 9223372036854775807"),
        (("--device", "/dev/fake0"), "--device is not given with --fleet: the plan has"),
        (("--workers", "2"), "--workers is not given with --fleet: write workers in"),
        (("--log", "x.parquet"), "--log is not given with --fleet: write log in the plan's"),
        (("--heat-map",), "--heat-map is not given with --fleet: write heat-map in"),
        (("--verify-state", "x"), "--verify-state is not given with --fleet: states of blocks"),
        (("--state-on", "/dev/sdb"), "--state-on is not given with --fleet: states of blocks"),
        (("--detach",), "--detach is not given with --fleet: hosts end their runs with"),
        (("--start-at", "+5s"), "--start-at is not given with --fleet: the controller sets"),
        (("--power-states", "1s"), "--power-states is not given with --fleet: write power-states"),
        (("--speed", "2"), "--speed is not given with --fleet: `spekctl fleet run` replays"),
    ],
)
def test_what_does_not_work_over_a_fleet_is_refused_by_name(
    dry: Spekctl, words: tuple[str, ...], sentence: str
) -> None:
    outcome = dry("random-read-4k", *words)
    assert outcome.code == ExitCode.USAGE
    assert outcome.sentence.startswith(sentence), outcome.err


def test_what_would_set_the_load_is_said_of_the_total(dry: Spekctl) -> None:
    outcome = dry("spc1", "--rate", "300", "--write")
    assert outcome.code == ExitCode.USAGE
    assert outcome.sentence.endswith(", so about --bsu 6")


def test_what_the_plan_has_wrong_is_said_of_its_host(spekctl: Spekctl, tmp_path: Path) -> None:
    text = plan_of(NAMES).replace('"b"\n', '"b"\noptions = {workers = "0"}\n')
    (tmp_path / "plan.toml").write_text(text)
    outcome = spekctl("run", "random-read-4k", "--rate", "4", "--fleet", "plan.toml", "--dry-run")
    assert outcome.code == ExitCode.USAGE
    assert outcome.sentence.startswith("host 'b': --workers must be 1 to ")


def test_jobs_and_traces_have_commands_of_their_own(dry: Spekctl, tmp_path: Path) -> None:
    assert "fio:x.fio is not run with --fleet: `spekctl fio` and" in dry("fio:x.fio").err
    (tmp_path / "mail.toml").write_text(
        '[workload]\nname = "mail"\nsummary = "x"\n[[stream]]\nname = "trace"\npattern = "trace"\n'
        'trace.files = ["/traces/mail.csv"]\n'
    )
    assert "`spekctl fleet run` replays traces" in dry("mail.toml").err


def test_options_of_a_fleet_need_it(spekctl: Spekctl) -> None:
    for flag, value in (("--keys", "keys"), ("--wait", "5s")):
        outcome = spekctl("run", "random-read-4k", "--device", "/dev/fake0", flag, value)
        assert outcome.code == ExitCode.USAGE
        assert outcome.sentence == f"{flag} needs --fleet as well"


def test_a_run_that_writes_needs_write(spekctl: Spekctl, tmp_path: Path) -> None:
    (tmp_path / "plan.toml").write_text(plan_of(NAMES))
    outcome = spekctl("run", "random-write-4k", "--fleet", "plan.toml")
    assert outcome.code == ExitCode.REFUSED
    assert "random-write-4k writes to the devices of all hosts" in outcome.err
    assert outcome.err.rstrip().endswith("; to allow that, give --write")


def test_a_run_that_reads_destroys_nothing(spekctl: Spekctl, tmp_path: Path) -> None:
    """Though the plan's own run does."""
    text = plan_of(NAMES).replace("[fleet.options]\n", "[fleet.options]\nwrite = true\n")
    (tmp_path / "plan.toml").write_text(text + 'destroy = ["S1"]\n')
    dry = ("--fleet", "plan.toml", "--dry-run")
    assert spekctl("run", "random-read-4k", *dry).code == ExitCode.OK
    assert spekctl("fleet", "run", "plan.toml", "--dry-run").code == ExitCode.OK


def test_a_dry_run_of_a_fleet_has_no_json(dry: Spekctl) -> None:
    outcome = dry("random-read-4k", "--json")
    assert outcome.code == ExitCode.USAGE
    assert outcome.sentence.startswith("--json is not given with --fleet and --dry-run")
