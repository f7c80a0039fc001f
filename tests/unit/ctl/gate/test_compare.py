# SPDX-License-Identifier: GPL-2.0
"""Comparisons: A against A, and against shifted B; every exit code."""

from __future__ import annotations

import json
import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from lib.ctl import frozen
from lib.ctl.command_line import Spekctl
from lib.ctl.frozen import MS
from lib.ctl.verdicts import A, changed, measured, powered, put, runs, sides
from lib.fakes.kernel import SECOND
from msgspec.structs import replace

from spekctl.documents.verdict import Change
from spekctl.errors import ExitCode, RefusedError, UsageError
from spekctl.gate import compare
from spekctl.gate.compare import Rules
from spekctl.gate.judged import Run
from spekctl.gate.metrics import find


def rules(**changes: Any) -> Rules:
    fixed = {"primary": find("iops"), "others": (), "tolerance": Fraction(1, 50)}
    return Rules(**{**fixed, "alpha": Fraction(1, 100), **changes})


def change_of(a: list[float], b: list[float], **changes: Any) -> Change:
    counts = changes.pop("counts", False)
    left, right = runs(0, a, counts=counts), runs(1, b, counts=counts)
    return compare.compare(left, right, rules(**changes)).verdict


# --- verdicts ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("b", "code", "said"),
    [
        ([iops * 1.001 for iops in A], ExitCode.OK, "same: iops +0.10 %, 99 % interval"),
        ([iops * 1.2 for iops in A], ExitCode.OK, "better: iops +20.00 %"),
        ([iops * 0.8 for iops in A], ExitCode.LIMIT_MISSED, "worse: iops -20.00 %"),
        ([iops * 0.98 for iops in A], ExitCode.UNDECIDED, "undecided: iops -2.00 %"),
        (A[:3], ExitCode.UNDECIDED, "at least 5 per side are needed"),
    ],
)
def test_each_verdict_has_its_exit_code(
    spekctl: Spekctl, tmp_path: Path, b: list[float], code: ExitCode, said: str
) -> None:
    outcome = spekctl("compare", *sides(tmp_path, A, b))
    assert (outcome.code, outcome.err) == (code, "")
    assert said in outcome.out.splitlines()[-1]


@pytest.mark.parametrize(
    ("b", "code", "said"),
    [
        ([500_010.0, 500_020.0], ExitCode.OK, "same: cpu_per_io"),
        ([520_000.0, 520_010.0], ExitCode.OK, "better: cpu_per_io"),
        ([495_000.0, 495_010.0], ExitCode.LIMIT_MISSED, "worse: cpu_per_io +1.01 %"),
        ([497_600.0, 497_400.0], ExitCode.UNDECIDED, "undecided: cpu_per_io +0.51 %"),
        ([495_000.0], ExitCode.UNDECIDED, "needs 2 runs on each side, and one has 1"),
    ],
)
def test_each_verdict_on_counts_has_its_exit_code(
    spekctl: Spekctl, tmp_path: Path, b: list[float], code: ExitCode, said: str
) -> None:
    words = sides(tmp_path, [500_000.0, 500_030.0], b, counts=True)
    outcome = spekctl("compare", *words)
    assert (outcome.code, outcome.err) == (code, "")
    assert said in outcome.out.splitlines()[-1]
    assert "p " not in outcome.out.splitlines()[-1]


def test_less_of_what_should_be_low_is_better(spekctl: Spekctl, tmp_path: Path) -> None:
    words = sides(tmp_path, A, [iops * 0.8 for iops in A])
    outcome = spekctl("compare", "--primary", "time_per_io", *words)
    assert outcome.out.splitlines()[-1].startswith("worse: time_per_io +24.99 %")
    words = sides(tmp_path, A, [iops * 1.25 for iops in A])
    outcome = spekctl("compare", "--primary", "time_per_io", *words)
    assert outcome.out.splitlines()[-1].startswith("better: time_per_io -20.")


def test_runs_of_one_law_are_rarely_found_different() -> None:
    draw = random.Random(3)
    verdicts = [
        change_of(
            [draw.gauss(1000, 30) for _ in range(6)], [draw.gauss(1000, 30) for _ in range(6)]
        )
        for _ in range(300)
    ]
    # Three expected at most if the tolerance were 0; it is 2 %.
    assert verdicts.count(Change.WORSE) + verdicts.count(Change.BETTER) <= 2


def test_shifted_runs_are_found_and_never_the_wrong_way() -> None:
    draw = random.Random(4)
    verdicts = [
        change_of([draw.gauss(1000, 10) for _ in range(8)], [draw.gauss(900, 10) for _ in range(8)])
        for _ in range(100)
    ]
    assert verdicts.count(Change.WORSE) >= 98
    assert Change.BETTER not in verdicts and Change.SAME not in verdicts


def test_quiet_runs_of_one_law_are_the_same() -> None:
    draw = random.Random(5)
    verdicts = [
        change_of([draw.gauss(1000, 5) for _ in range(8)], [draw.gauss(1000, 5) for _ in range(8)])
        for _ in range(100)
    ]
    assert verdicts.count(Change.SAME) >= 95


def test_counts_with_and_without_a_longer_path() -> None:
    """Runs that repeat within 0.1 %; a path of one per cent more is found each time."""
    draw = random.Random(6)

    def side(cost: float) -> list[float]:
        return [1e9 / (cost * draw.uniform(0.9995, 1.0005)) for _ in range(2)]

    primary = {"primary": find("time_per_io"), "tolerance": Fraction(1, 200), "counts": True}
    for _ in range(100):
        assert change_of(side(1500), side(1515), **primary) is Change.WORSE
        assert change_of(side(1500), side(1500), **primary) is Change.SAME
        assert change_of(side(1500), side(1485), **primary) is Change.BETTER


def test_counts_that_do_not_repeat_widen_the_bound() -> None:
    primary = {"primary": find("time_per_io"), "tolerance": Fraction(1, 200), "counts": True}
    assert change_of([1000.0, 1010.0], [980.0, 981.0], **primary) is Change.UNDECIDED
    assert change_of([1000.0, 1001.0], [980.0, 981.0], **primary) is Change.WORSE


def test_the_tolerance_decides_what_matters() -> None:
    b = [iops * 0.95 for iops in A]
    assert change_of(A, b) is Change.WORSE
    assert change_of(A, b, tolerance=Fraction(1, 10)) is Change.SAME


def test_alpha_decides_how_many_runs_are_needed() -> None:
    b = [iops * 0.5 for iops in A]
    assert change_of(A[:4], b[:4]) is Change.UNDECIDED
    assert change_of(A[:4], b[:4], alpha=Fraction(1, 20)) is Change.WORSE
    assert change_of(A[:5], b[:5]) is Change.WORSE


@pytest.mark.parametrize("ahead", [Fraction(2, 1000), Fraction(5, 1000)])
def test_the_estimate_of_missing_runs_is_of_the_right_size(ahead: Fraction) -> None:
    """With that many runs of the same scatter, most of the undecided are decided."""
    draw = random.Random(7)

    def side(size: int, mean: float) -> list[float]:
        return [draw.gauss(mean, 15) for _ in range(size)]

    told: list[int] = []
    while len(told) < 20:
        figure = compare.compare(
            runs(0, side(6, 1000)), runs(1, side(6, 1000 * (1 + float(ahead)))), rules()
        ).figures[0]
        if figure.verdict is Change.UNDECIDED and figure.more_runs is not None:
            told.append(figure.more_runs)
    size = 6 + sorted(told)[len(told) // 2]
    later = [change_of(side(size, 1000), side(size, 1000 * (1 + float(ahead)))) for _ in range(20)]
    assert later.count(Change.SAME) >= 10
    assert Change.WORSE not in later


def test_a_shift_at_the_edge_says_that_more_runs_hardly_help() -> None:
    b = [iops * 1.02 for iops in A]
    figure = compare.compare(runs(0, A), runs(1, b), rules()).figures[0]
    assert (figure.verdict, figure.more_runs) == (Change.UNDECIDED, None)
    assert figure.text.endswith("more runs will hardly decide it")


def test_zeros_have_no_ratio() -> None:
    errors = {"primary": find("errors")}
    assert change_of(A, A, **errors) is Change.SAME
    left, right = runs(0, A), runs(1, A)
    right[0] = Run(right[0].path, changed(right[0].result, outcome={"errors": 3}))
    figure = compare.compare(left, right, rules(**errors))
    assert figure.verdict is Change.UNDECIDED
    assert "errors is 0 in some runs, so that there is no ratio" in figure.text


@pytest.mark.parametrize(
    ("watts", "said"),
    [
        ((-0.25, -0.25), "same: power is -0.25 in every run"),
        ((-0.25, 10.0), "undecided: power is 0 or less in some runs, so that there is no ratio"),
        ((0.0, 10.0), "undecided: power is 0 in some runs, so that there is no ratio"),
    ],
)
def test_power_below_zero_is_not_called_zero(watts: tuple[float, float], said: str) -> None:
    left, right = (with_power(runs(side, A), each) for side, each in enumerate(watts))
    figure = compare.compare(left, right, rules(primary=find("power"))).figures[0]
    assert figure.text.startswith(said)


def test_other_figures_do_not_decide_and_are_adjusted(spekctl: Spekctl, tmp_path: Path) -> None:
    words = sides(tmp_path, A, [iops * 0.8 for iops in A])
    others = ("--also", "bandwidth", "--also", "response.p99")
    outcome = spekctl("compare", "--primary", "response.max", *others, *words, "--format", "json")
    assert outcome.code == ExitCode.OK
    told = json.loads(outcome.out)
    assert [figure["verdict"] for figure in told["figures"]] == ["same", "worse", "same"]
    first, second, third = told["figures"]
    assert (first["p"], first["p_adjusted"]) == (1.0, None)
    assert second["p"] == pytest.approx(2 / 924)
    assert second["p_adjusted"] == pytest.approx(4 / 924)
    assert third["p_adjusted"] == 1.0


def test_more_runs_than_can_be_counted_are_refused() -> None:
    many = A[:1] * (compare.MOST_RUNS + 1)
    with pytest.raises(UsageError, match="a side has 101 runs; at most 100 per side"):
        change_of(A, many)


def test_a_failed_run_is_refused(spekctl: Spekctl, tmp_path: Path) -> None:
    words = sides(tmp_path, A, A)
    put(tmp_path / "b1.json", measured(99, ok=False))
    outcome = spekctl("compare", *words)
    assert outcome.code == ExitCode.REFUSED
    assert "the run of b1.json failed (the device was removed)" in outcome.sentence


# --- remarks -------------------------------------------------------------------------------------


def remarks(a: list[Run], b: list[Run], vary: tuple[str, ...] = ()) -> list[str]:
    return compare.compare(a, b, rules(), vary).remarks


def test_runs_in_blocks_are_remarked_upon() -> None:
    assert remarks(runs(0, A), runs(1, A)) == []
    (text,) = remarks(runs(0, A), runs(100, A))
    assert text.startswith("all runs of one side came before all of the other")
    (text,) = remarks(runs(100, A), runs(0, A))
    assert text.startswith("all runs of one side came before all of the other")


def test_one_boot_for_each_side_is_remarked_upon() -> None:
    def of_boot(runs: list[Run], boot: str) -> list[Run]:
        return [Run(run.path, changed(run.result, environment={"boot_id": boot})) for run in runs]

    left, right = runs(0, A), runs(1, A)
    (text,) = remarks(of_boot(left, "x"), of_boot(right, "y"))
    assert text.startswith("each side is of one boot")
    assert remarks(of_boot(left, "x"), of_boot(right, "x")) == []
    assert remarks(of_boot(left, "x"), right) == []


def test_a_condition_that_does_not_vary_is_remarked_upon() -> None:
    (text,) = remarks(runs(0, A), runs(1, A), ("kernel",))
    assert text == "--vary kernel: the sides do not differ in it"


@pytest.mark.parametrize("counts", [True, False])
def test_runs_without_io_are_not_the_same(counts: bool) -> None:
    a, b = runs(0, A, counts=counts), runs(1, A, counts=counts)
    nothing = replace(b[0].result.totals.all, ios=0, iops=0.0)
    b = [Run(run.path, changed(run.result, totals={"all": nothing})) for run in b]
    with pytest.raises(RefusedError, match=r"failed .*no I/O completed"):
        compare.compare(a, b, rules(primary=find("errors")))


def frozen_runs(first: int, ages: list[int], each_ns: int) -> list[Run]:
    """Runs of 1000 I/Os whose device answers nothing at the end, with I/Os of these ages."""
    result = frozen.result(ages, ios=1000, seconds=60, silent=17, each_ns=each_ns)
    return [
        Run(
            Path(f"{number}.json"),
            changed(
                result,
                environment={"boot_id": f"boot-{number}"},
                start={"realtime_ns": number * SECOND},
            ),
        )
        for number in range(first, first + 12, 2)
    ]


@pytest.mark.parametrize(
    ("metric", "ages_a", "ages_b", "verdict"),
    [
        ("response.mean", [], [], "same"),
        ("response.mean", [], [MS] * 8, "same"),
        ("response.mean", [], [SECOND] * 8, "worse"),
        ("response.mean", [SECOND] * 8, [], "better"),
        ("response.mean", [SECOND] * 8, [SECOND] * 8, "undecided"),
        ("response.max", [], [17 * SECOND], "worse"),
        ("service.max", [], [17 * SECOND], "worse"),
        ("response.p99", [], [SECOND] * 8, "same"),
        ("response.p99.99", [], [SECOND] * 8, "worse"),
        ("slip.max", [], [17 * SECOND], "same"),
    ],
)
def test_ios_in_flight_at_the_end_count_by_their_ages(
    metric: str, ages_a: list[int], ages_b: list[int], verdict: str
) -> None:
    """A device that stopped to answer is not as fast as what it had answered."""
    a, b = frozen_runs(0, ages_a, 5 * MS), frozen_runs(1, ages_b, 5 * MS)
    compared = compare.compare(a, b, rules(primary=find(metric)))
    assert compared.verdict == verdict
    late = [run.file for run in (*a, *b) if (ages_a if run in a else ages_b)]
    said = [text for text in compared.remarks if "had not been answered" in text]
    if verdict == "same":
        assert said == []
    else:
        assert [text.split(":")[0] for text in said] == late
        assert all(f": {metric} is at least " in text for text in said)


@pytest.mark.parametrize(
    ("ages_a", "ages_b", "each_ns", "was", "runs_told"),
    [
        ([SECOND] * 8, [], 50 * MS, "response.mean +2", "6 runs of A"),
        ([], [SECOND] * 8, MS // 2, "response.mean +", ""),
        ([], [100 * MS] * 8, MS, "response.mean -", "6 runs of B"),
        ([SECOND] * 8, [SECOND] * 8, 5 * MS, "response.mean +0", "6 runs of A and 6 runs of B"),
    ],
)
def test_a_lower_bound_shows_only_that_its_side_is_slower(
    ages_a: list[int], ages_b: list[int], each_ns: int, was: str, runs_told: str
) -> None:
    a, b = frozen_runs(0, ages_a, 5 * MS), frozen_runs(1, ages_b, each_ns)
    compared = compare.compare(a, b, rules(primary=find("response.mean")))
    if not runs_told:
        assert compared.verdict is Change.WORSE
        return
    assert (compared.verdict, compared.figures[0].more_runs) == (Change.UNDECIDED, None)
    assert compared.text.startswith(f"undecided: {was}")
    assert compared.text.endswith(
        f"; but I/Os in flight at the end make it a lower bound in {runs_told}"
    )


def test_counts_with_ios_in_flight_are_compared_likewise() -> None:
    def counted(side: list[Run]) -> list[Run]:
        return [
            Run(run.path, changed(run.result, environment={"counts_instructions": True}))
            for run in side[:2]
        ]

    whole = counted(frozen_runs(0, [], 5 * MS))
    late = counted(frozen_runs(1, [SECOND] * 8, 5 * MS))
    fixed = rules(primary=find("response.mean"))
    assert compare.compare(whole, late, fixed).verdict is Change.WORSE
    assert compare.compare(late, whole, fixed).verdict is Change.BETTER
    assert compare.compare(late, late, fixed).verdict is Change.UNDECIDED


def with_power(side: list[Run], watts: float, gap_s: float = 0.0) -> list[Run]:
    return [Run(run.path, powered(run.result, watts, 3.0 - gap_s, gap_s)) for run in side]


def test_power_with_gaps_is_remarked_upon_and_refused_if_it_is_hardly_known() -> None:
    fixed = rules(primary=find("power"), others=[find("iops_per_w")])
    whole = with_power(runs(0, A), 10.0)
    again = with_power(runs(1, A), 10.0)
    assert not any("unknown" in text for text in compare.compare(whole, again, fixed).remarks)
    short = with_power(runs(1, A), 8.0, 0.1)
    said = [text for text in compare.compare(whole, short, fixed).remarks if "unknown" in text]
    assert said == [f"{run.file}: power is unknown for 0.1 s of 3 s" for run in short]
    hardly = with_power(runs(1, A), 8.0, 2.999)
    with pytest.raises(UsageError, match=r"does not have power: power is unknown for 3 s of 3 s"):
        compare.compare(whole, hardly, fixed)
