# SPDX-License-Identifier: GPL-2.0-or-later
"""spekctl gate: check results against a file of limits."""

from __future__ import annotations

from pathlib import Path

import click

from spekctl.commands import verdict
from spekctl.commands.options import FilePath

EPILOG = """\b
Examples:
  spekctl gate limits.toml a.json b.json
  spekctl gate limits.toml nvme.json --format junit -o gate.xml
  spekctl run random-read-4k --device /dev/sdb --json |
      spekctl gate limits.toml -

\b
A file of limits:
  [[limit]]
  metric = "iops"
  min = 50000
  [[limit]]
  metric = "read.response.p99"
  max = "2ms"
"""


def _list_metrics(context: click.Context, parameter: click.Parameter, value: bool) -> None:
    if not value or context.resilient_parsing:
        return
    from spekctl.gate.metrics import METRICS
    from spekctl.render import tables
    from spekctl.render.console import wide

    table = tables.table("metric", "unit", "better", "meaning")
    for metric in METRICS.values():
        table.add_row(metric.name, metric.unit or "-", metric.better, metric.help)
    wide(120).print(table)
    context.exit()


@click.command(epilog=EPILOG, no_args_is_help=True)
@click.argument("limits_file", metavar="LIMITS", type=FilePath(dir_okay=False, path_type=Path))
@click.argument(
    "results",
    metavar="RESULT...",
    nargs=-1,
    required=True,
    type=FilePath(path_type=Path),
)
@verdict.output_options
@click.option(
    "--metrics",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_list_metrics,
    help="List the metrics that limits can be given for.",
)
def command(
    limits_file: Path,
    results: tuple[Path, ...],
    form: str,
    output: Path | None,
    build: str | None,
) -> int:
    """Check each RESULT of `spekctl run` against the limits in the TOML file LIMITS.

    Every run has to have completed and every figure to be within its limits. The exit code is 0 if
    so, 1 if a run failed, missed its steady state, was ended by --stop-when, replayed a trace with
    unreadable records or measured nothing, 2 if a file holds no result of a run or one that the
    limits are not for, 7 if a limit was missed, and 8 if a result lacks a figure that has a limit.
    The verdict is written in every case, so that a consumer of it does not take a missing result
    for a good one. A RESULT may be a pipe; - is standard input.
    """
    from spekctl import files
    from spekctl.documents.verdict import GateVerdict
    from spekctl.errors import ExitCode, UsageError
    from spekctl.gate import judged, limits
    from spekctl.render.verdict import gate_parts

    out = verdict.Output(form, output, build)
    files.check_apart(output, [limits_file, *results])
    report = limits.judge(limits.load(limits_file), *judged.load_each(results))
    out.deliver(report, gate_parts(report))
    if report.unjudged:
        raise UsageError(report.unjudged[0].text)
    if not all(run.ok for run in report.runs):
        return ExitCode.RUN_FAILED
    return {
        GateVerdict.PASSED: ExitCode.OK,
        GateVerdict.FAILED: ExitCode.LIMIT_MISSED,
        GateVerdict.UNDECIDED: ExitCode.UNDECIDED,
    }[report.verdict]
