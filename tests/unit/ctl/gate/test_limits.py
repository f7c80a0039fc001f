# SPDX-License-Identifier: GPL-2.0
"""Files of limits, and results that are at their bound."""

from __future__ import annotations

from pathlib import Path

import pytest
from lib.ctl import frozen
from lib.ctl.command_line import Spekctl
from lib.ctl.verdicts import IOPS_900, measured, powered, put, results_to_judge
from msgspec.structs import replace

from spekctl.errors import ExitCode
from spekctl.gate import limits
from spekctl.gate.judged import Run
from spekctl.kernel.records import Direction

results = pytest.fixture(results_to_judge)


@pytest.mark.usefixtures("results")
@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "there is no [[limit]] and nothing to report"),
        ("x = [", "not valid TOML: "),
        ("[[limits]]\n", "unknown key 'limits'; did you mean 'limit'?"),
        (
            "[limit]\nmetric = 'iops'\nmin = 1",
            "limit: expected a list, got a table; write [[limit]]",
        ),
        ("gate = 3", "gate: expected a table, got 3"),
        ("[gate]\nworkload = 3", "gate.workload: expected a string (in quotes), got 3"),
        ("[gate]\nwork = 'a'", "gate: unknown key 'work'"),
        ("[gate]\nreport = 'iops'", 'gate.report: expected a list, got the string "iops"'),
        ("[gate]\nreport = ['iopz']", "gate, report: there is no metric 'iopz'; did you mean"),
        ("[[limit]]\nmin = 1", "limit 1: the key 'metric' is missing"),
        ("[[limit]]\nmetric = 1\nmin = 1", "limit 1, metric: expected a string"),
        ("[[limit]]\nmetric = 'iops'\nmaximum = 1", "limit 1: unknown key 'maximum'"),
        ("[[limit]]\nmetric = 'iops'", "limit 1: iops has neither min nor max"),
        ("[[limit]]\nmetric = 'iops'\nmin = 2\nmax = 1", "limit 1: iops: min is more than max"),
        (
            "[[limit]]\nmetric = 'time_per_io'\nmin = '1us'\nmax = '9 instructions'",
            "limit 1: time_per_io: min is in ns, and max in instructions",
        ),
        (f"{IOPS_900}{IOPS_900}", "there are two entries for iops; one may have both min and max"),
        (f"[gate]\nreport = ['iops']\n{IOPS_900}", "there are two entries for iops"),
        ("[[limit]]\nmetric = 'iops'\nmin = -1", "limit 1: iops: min: -1 is not a limit"),
        ("[[limit]]\nmetric = 'iops'\nmin = nan", "limit 1: iops: min: nan is not a limit"),
        ("[[limit]]\nmetric = 'iops'\nmin = inf", "limit 1: iops: min: inf is not a limit"),
        ("[[limit]]\nmetric = 'iops'\nmin = true", "limit 1, min: expected a whole number"),
        (
            "[[limit]]\nmetric = 'iops'\nmin = '5k'",
            "limit 1: iops: min: '5k' is not a number without a unit, such",
        ),
        (
            "[[limit]]\nmetric = 'response.max'\nmax = 5",
            "limit 1: response.max: max: 5 has no unit",
        ),
        ("[[limit]]\nmetric = 'response.max'\nmax = '5 parsec'", "the units are ns, us, ms, s, m"),
        ("[[limit]]\nmetric = 'bandwidth'\nmin = 5", "bandwidth: min: 5 has no unit"),
        ("[[limit]]\nmetric = 'bandwidth'\nmin = '5MiB/h'", "'5MiB/h' is not a size; write for"),
        ("[[limit]]\nmetric = 'bandwidth'\nmin = '5MB/s'", "'5MB' could mean 1000 or 1024"),
        ("[[limit]]\nmetric = 'power'\nmax = '5 J'", "'5 J' is not a power"),
        (
            f"[[limit]]\nmetric = 'iops'\nmin = 1{'0' * 400}",
            "limit 1: iops: min: the number is too",
        ),
        (
            f"[[limit]]\nmetric = 'power'\nmax = '{'1' * 300}'",
            "is too long for a power: 300 characters",
        ),
    ],
)
def test_a_wrong_file_is_refused_with_a_sentence(
    spekctl: Spekctl, tmp_path: Path, text: str, sentence: str
) -> None:
    (tmp_path / "limits.toml").write_text(text)
    outcome = spekctl("gate", "limits.toml", "good.json")
    assert outcome.code == ExitCode.USAGE
    assert outcome.sentence.startswith("limits.toml: ")
    assert sentence in outcome.sentence


def test_the_same_bounds_are_kept_to_the_last_digit(tmp_path: Path) -> None:
    given = limits.parse("[[limit]]\nmetric = 'iops'\nmin = 1000\nmax = 1000", tmp_path)
    for iops, expected in ((1000.0, "passed"), (999.9999999, "failed"), (1000.0000001, "failed")):
        report = limits.judge(given, [Run(Path("x.json"), measured(1, iops))])
        assert report.verdict == expected


@pytest.mark.parametrize(
    ("metric", "ages", "text"),
    [
        (
            "response.max",
            [17 * 10**9],
            "response.max is at least 17.0 s, more than 10.0 ms: 1 I/O had not been answered for"
            " up to 17.0 s when the measurement ended",
        ),
        ("read.service.max", [17 * 10**9], "read.service.max is at least 17.0 s, more than 10.0"),
        ("response.mean", [10**9] * 8, "response.mean is at least 12.9 ms, more than 10.0 ms: 8 I"),
        ("response.p99.99", [10**9], "response.p99.99 is at least 1.0"),
        ("response.p99", [10**9] * 8, ""),
        ("response.max", [9 * 10**6] * 8, ""),
        ("slip.max", [17 * 10**9], ""),
    ],
)
def test_what_is_in_flight_at_the_end_is_at_least_as_old(
    metric: str, ages: list[int], text: str
) -> None:
    """An I/O that was not answered for 17 s does not make the maximum 5 ms."""
    result = frozen.result(ages, ios=1000, seconds=60, silent=17)
    limit = f"[[limit]]\nmetric = '{metric}'\nmax = '10ms'"
    (check,) = limits.judge(limits.parse(limit, Path("l")), [Run(Path("x"), result)]).checks
    assert check.verdict == ("failed" if text else "passed")
    assert check.value is not None and (check.value > 10e6) is bool(text)
    assert check.text.startswith(text or f"{metric} is ")
    assert ("not been answered" in check.text) is bool(text)


@pytest.mark.parametrize(
    ("metric", "said"),
    [
        ("read.response.max", "2 I/Os had not been answered for up to 17.0 s"),
        ("write.response.max", "1 I/O had not been answered for up to 12.0 ms"),
        ("response.max", "3 I/Os had not been answered for up to 17.0 s"),
    ],
)
def test_a_limit_tells_the_ios_that_it_is_about(metric: str, said: str) -> None:
    """I/Os of the other direction decide nothing."""
    result = frozen.result([17 * 10**9] * 2, ios=1000, seconds=60, silent=17)
    late = frozen.result([12 * 10**6], ios=1000, seconds=60, silent=17)
    writes = [replace(cell, direction=Direction.WRITE) for cell in late.cells]
    totals = replace(result.totals, write=late.totals.read)
    both = replace(result, cells=[*result.cells, *writes], totals=totals)
    limit = f"[[limit]]\nmetric = '{metric}'\nmax = '10ms'"
    (check,) = limits.judge(limits.parse(limit, Path("l")), [Run(Path("x"), both)]).checks
    assert check.verdict == "failed" and said in check.text


def test_a_limit_that_is_missed_anyway_is_missed_by_what_completed() -> None:
    result = frozen.result([17 * 10**9], ios=1000, seconds=60, silent=17)
    limit = "[[limit]]\nmetric = 'response.max'\nmax = '1ms'\n[gate]\nreport = ['response.mean']"
    report = limits.judge(limits.parse(limit, Path("l")), [Run(Path("x"), result)])
    assert [check.text for check in report.checks] == [
        "response.max is 5.00 ms, more than 1.00 ms",
        "response.mean is 5.00 ms",
    ]


POWER = """
[[limit]]
metric = "power"
max = "6W"

[[limit]]
metric = "iops_per_w"
min = 100
"""


@pytest.mark.parametrize(
    ("known_s", "gap_s", "code", "said"),
    [
        (3.0, 0.0, ExitCode.OK, ""),
        (2.9, 0.1, ExitCode.OK, "note: a.json: power is 5.00 W, at most 6.00 W allowed; power is"
         " unknown for 0.1 s of 3 s\n"),
        (2.8, 0.2, ExitCode.UNDECIDED, "a.json: the result does not have power; power is unknown"
         " for 0.2 s of 3 s; at most 5% may be unknown\n"),
        (0.001, 2.999, ExitCode.UNDECIDED, "a.json: the result does not have iops_per_w; power is"
         " unknown for 3 s of 3 s; at most 5% may be unknown\n"),
    ],
)  # fmt: skip
def test_power_that_is_hardly_known_keeps_no_limit(
    spekctl: Spekctl, tmp_path: Path, known_s: float, gap_s: float, code: ExitCode, said: str
) -> None:
    (tmp_path / "limits.toml").write_text(POWER)
    put(tmp_path / "a.json", powered(measured(1), 5.0, known_s, gap_s))
    outcome = spekctl("gate", "limits.toml", "a.json")
    assert outcome.code == code, outcome.err
    assert said in outcome.out and ("unknown" in outcome.out) == bool(said)
