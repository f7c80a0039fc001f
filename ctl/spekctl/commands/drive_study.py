# SPDX-License-Identifier: GPL-2.0-or-later
"""spekctl drive study: repeat the study of paper 003 on modelled drives in userspace."""

from __future__ import annotations

from pathlib import Path

import click

from spekctl.commands import options
from spekctl.commands.options import result
from spekctl.errors import UsageError
from spekctl.extras import install

EPILOG = """\b
Examples:
  spekctl drive study -o study.json
  spekctl plot study study.json --figure 8 -o arrays
  spekctl drive study --trace financial=Financial1.spc \\
      --trace websearch=WebSearch1.spc
"""


@click.command(epilog=EPILOG)
@click.option(
    "--count",
    "requests",
    type=click.IntRange(1000, 10_000_000),
    default=100_000,
    show_default=True,
    metavar="N",
    help="Requests per load; the paper simulated 1,000,000 on its arrays.",
)
@click.option(
    "--seed",
    type=click.IntRange(0),
    default=1,
    show_default=True,
    metavar="S",
    help="Random seed of the loads and of the angles of the platters.",
)
@click.option(
    "--trace",
    "given",
    multiple=True,
    metavar="NAME=FILE",
    help="Use the real trace in place of its stand-in. NAME is financial, websearch, tpc-c or"
    " tpc-h; repeatable, also for several files of one trace.",
)
@result("Write the study as JSON to FILE, for `spekctl plot study`.")
@options.as_json()
def command(
    requests: int, seed: int, given: tuple[str, ...], output: Path | None, as_json: bool
) -> int:
    """Repeat the study of paper 003: can one drive with several arms replace an array?

    The report compares every claim of the paper's tables and figures 2 to 9 with
    simulations of modelled drives. The arrays of figure 8 are driven by the paper's synthetic load.
    Figures 2 to 7 use synthetic stand-ins for its four traces, which are not public; the report
    states what is known of each trace and what was assumed. Claims on times and seeks that do not
    hold are followed by what they would be under assumptions fitted to the paper, which turn no
    verdict. If you have the files of a trace, in any format that `spekctl trace` reads, --trace
    replays the first N requests of them in place of the stand-in, and that trace has no fit. Costs
    are those of the paper's components.

    The study takes a minute or two with the default number of requests, and needs a C compiler and
    numpy.
    """
    from spekctl import files
    from spekctl.commands.deliver import deliver
    from spekctl.render.drive import print_study

    files.check_writable(output)
    try:
        from spekctl.campaigns.paper003 import loads, study
    except ImportError as error:
        raise UsageError(f"the study needs numpy: {install('log')}") from error

    def tell(what: str) -> None:
        click.echo(f"spekctl: simulating {what}", err=True)

    traces = _traces(given, loads.TRACES)
    inputs = [path for paths in traces.values() for path in paths]
    for path in inputs:
        if not files.exists(path):
            raise files.missing(path)
    files.check_apart(output, inputs)
    deliver(study.study(requests, seed, tell, traces), print_study, as_json, output, "study")
    return 0


def _traces(given: tuple[str, ...], known: tuple[str, ...]) -> dict[str, list[Path]]:
    files_by_name: dict[str, list[Path]] = {}
    for text in given:
        name, sign, path = text.partition("=")
        if not sign or not path:
            raise UsageError(
                f"--trace {text}: write NAME=FILE, for example financial=Financial1.spc"
            )
        if name not in known:
            raise UsageError(
                f"--trace {text}: there is no trace '{name}'; those of the paper are"
                f" {', '.join(known)}"
            )
        files_by_name.setdefault(name, []).append(Path(path))
    return files_by_name
