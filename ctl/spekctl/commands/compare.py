# SPDX-License-Identifier: GPL-2.0-or-later
"""spekctl compare: results of one set of runs against those of another."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from spekctl import units
from spekctl.commands import verdict
from spekctl.commands.options import FilePath, Parsed
from spekctl.commands.options import data_sheet as data_sheet_option
from spekctl.errors import UsageError
from spekctl.gate.likeness import NAMES

if TYPE_CHECKING:
    from spekctl.documents.data_sheet import DataSheet

EPILOG = """\b
Examples:
  spekctl compare base-*.json -- patched-*.json --vary kernel
  spekctl compare --also response.p99 --tolerance 5% a*.json -- b*.json
  spekctl compare before*.json -- after*.json --data-sheet drive.toml

\b
Exit codes of the verdict:
  0  same, or better    7  worse    8  undecided    4  the sides are unlike
"""

# Stands for the -- between the sides, which click would drop. No file has this name.
_SEPARATOR = "\0"


class _Result(FilePath):
    """The path of a result, or what stands between the sides."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return value if value == _SEPARATOR else super().convert(value, param, ctx)


class _TwoSides(click.Command):
    """A command whose arguments have a -- in the middle; options may be on either side of it."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(
            ctx, [_SEPARATOR if argument == "--" else argument for argument in args]
        )


class _Tolerance(Parsed):
    """``2%`` as an exact fraction of one, less than one."""

    name = "PERCENT"

    def parse(self, text: str) -> Fraction:
        share = units.parse_percent(text)
        if share == 1:
            raise UsageError("a tolerance of 100% tolerates everything")
        return share


class _Probability(Parsed):
    """``0.01`` as an exact fraction."""

    name = "P"

    def parse(self, text: str) -> Fraction:
        is_number = re.fullmatch(r"[0-9]*\.?[0-9]+", text.strip(), re.ASCII)
        if not is_number or len(text) > units.LONGEST_NUMBER:
            raise UsageError(f"'{text[:20]}' is not a probability; write for example 0.01")
        probability = Fraction(text.strip())
        if not Fraction(1, 10**6) <= probability <= Fraction(1, 2):
            raise UsageError(f"{text} is not between 0.000001 and 0.5")
        return probability


@click.command(cls=_TwoSides, epilog=EPILOG, no_args_is_help=True)
@click.argument(
    "results",
    metavar="A... -- B...",
    nargs=-1,
    required=True,
    type=_Result(dir_okay=False, path_type=Path),
)
@click.option(
    "--primary",
    metavar="METRIC",
    shell_complete=verdict.complete_metric,
    help="The figure that decides, fixed before looking at any; `spekctl gate --metrics` lists "
    "them.  [default: iops, or response.mean where a rate, a think time or a trace sets the IOPS; "
    "of guests that count instructions: cpu_per_io]",
)
@click.option(
    "--also",
    "others",
    metavar="METRIC",
    multiple=True,
    shell_complete=verdict.complete_metric,
    help="Another figure to compare; it does not decide. Repeatable: p values are adjusted for "
    "the number of these (Benjamini-Hochberg).",
)
@click.option(
    "--tolerance",
    type=_Tolerance(),
    help="Change that does not matter, e.g. 2%.  [default: 2%; of instruction counts: 0.5%]",
)
@click.option(
    "--alpha",
    type=_Probability(),
    help="Probability of finding a change where there is none. Needs at least 5 runs per side for "
    "0.01, 4 for 0.05.  [default: 0.01]",
)
@click.option(
    "--vary",
    metavar="CONDITION",
    multiple=True,
    type=click.Choice(NAMES),
    help=f"The sides may differ in this: {', '.join(NAMES)}. Repeatable. Without it they have to "
    "be alike in everything but the seed.",
)
@click.option(
    "--profiles",
    nargs=2,
    metavar="A B",
    type=FilePath(dir_okay=False, path_type=Path),
    help="Profiles of the run on either side (`spekctl vm --function-profile`): name the functions "
    "of the kernel that execute more or fewer instructions per I/O.",
)
@data_sheet_option
@verdict.output_options
def command(
    results: tuple[Path | str, ...],
    primary: str | None,
    others: tuple[str, ...],
    tolerance: Fraction | None,
    alpha: Fraction | None,
    vary: tuple[str, ...],
    profiles: tuple[Path, Path] | None,
    data_sheet: str | None,
    form: str,
    output: Path | None,
    build: str | None,
) -> int:
    """Compare the results B with the results A, one result of `spekctl run` for each run.

    A run counts as one observation, whatever its length: boot, or reload the module, for each one,
    and alternate the sides (A B B A). The verdict is that of the primary figure.

    Times are compared by ranks: same, if the interval of the change lies within the tolerance;
    better or worse, if it lies outside and the exact Mann-Whitney test finds a difference; else
    undecided. Instruction counts (`spekctl vm --icount`) are compared by a fixed bound: the
    tolerance, or three times the spread within a side if that is more; two runs per side suffice.

    I/Os in flight at the end of a run count by their ages in its response and service times. Where
    they lengthen a time by more than the tolerance, it can only show that its side is slower.

    --data-sheet adds a table to the text: each stated figure, the median of either side's runs, and
    its deviation. It does not affect the verdict.
    """
    from spekctl import files
    from spekctl.documents import data_sheet as sheets

    out = verdict.Output(form, output, build)
    if data_sheet is not None and form != "text" and output is None:
        raise UsageError(
            f"--data-sheet adds a table to the text: write the {form} to a file with -o"
        )
    sheet = sheets.load(data_sheet) if data_sheet is not None else None
    a, b = _sides(results)
    files.check_apart(output, [*a, *b, *(profiles or ())])
    return judge(a, b, out, primary, others, tolerance, alpha, vary, profiles or (), sheet)


def judge(
    a: list[Path],
    b: list[Path],
    out: verdict.Output,
    primary: str | None = None,
    others: Sequence[str] = (),
    tolerance: Fraction | None = None,
    alpha: Fraction | None = None,
    vary: Sequence[str] = (),
    profiles: Sequence[Path] = (),
    sheet: DataSheet | None = None,
) -> int:
    """Compare the results @b with the results @a, deliver the verdict and return its exit code.

    @sheet: stated figures, printed beside those of both sides.
    """
    from spekctl.documents.verdict import Change, Method
    from spekctl.errors import ExitCode
    from spekctl.gate import compare, judged, metrics
    from spekctl.render import data_sheet as beside
    from spekctl.render.verdict import comparison_parts

    names = [metric for metric in (primary, *others) if metric is not None]
    for name in names:
        metrics.find(name)
        if names.count(name) > 1:
            raise UsageError(f"the metric {name} is given twice")
    runs = judged.load([*a, *b])
    method = compare.method_of(runs)
    if method is Method.COUNTS and alpha is not None:
        raise UsageError("--alpha is for times: instruction counts are compared by a bound")
    chosen = primary or compare.primary_of(runs)
    if chosen in others:
        raise UsageError(f"the metric {chosen} is the primary one already")
    rules = compare.Rules(
        primary=metrics.find(chosen),
        others=[metrics.find(metric) for metric in others],
        tolerance=compare.TOLERANCE[method] if tolerance is None else tolerance,
        alpha=alpha or compare.ALPHA,
    )
    comparison = compare.compare(runs[: len(a)], runs[len(a) :], rules, vary, profiles)
    parts = [*comparison_parts(comparison)]
    if sheet is not None:
        results = [run.result for run in runs]
        parts += beside.comparison_parts(sheet, results[: len(a)], results[len(a) :])
    out.deliver(comparison, parts)
    return {
        Change.SAME: ExitCode.OK,
        Change.BETTER: ExitCode.OK,
        Change.WORSE: ExitCode.LIMIT_MISSED,
        Change.UNDECIDED: ExitCode.UNDECIDED,
    }[comparison.verdict]


def _sides(given: tuple[Path | str, ...]) -> tuple[list[Path], list[Path]]:
    """The results before and after the --."""
    if given.count(_SEPARATOR) != 1:
        raise UsageError("write the results of A, then --, then those of B, with one -- between")
    at = given.index(_SEPARATOR)
    a, b = (
        [path for path in side if isinstance(path, Path)] for side in (given[:at], given[at + 1 :])
    )
    if not a or not b:
        raise UsageError(f"there are no results {'before' if not a else 'after'} the --")
    return a, b
