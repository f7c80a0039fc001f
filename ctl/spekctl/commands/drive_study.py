# SPDX-License-Identifier: GPL-2.0-or-later
"""spekctl drive study: repeat the study of paper 003 on modelled drives in userspace."""

from __future__ import annotations

from pathlib import Path

import click

from spekctl.commands.options import FilePath
from spekctl.errors import UsageError

EPILOG = """\b
Example:
  spekctl drive study -o study.json
  spekctl plot study study.json --figure 8 -o arrays
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
    "-o",
    "--output",
    type=FilePath(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write the study as JSON to FILE, for `spekctl plot study`.",
)
@click.option("--json", "as_json", is_flag=True, help="As JSON on standard output.")
def command(requests: int, seed: int, output: Path | None, as_json: bool) -> int:
    """Repeat the study of paper 003: can one drive with several arms replace an array?

    The report compares every claim of the paper's table 1 and figures 2 to 8 with simulations of
    modelled drives. The arrays of figure 8 are driven by the paper's synthetic load. Figures 2 to 7
    use synthetic stand-ins for its four traces, which are not public; the report states what is
    known of each trace and what was assumed.

    The study takes about a minute with the default number of requests, and needs a C compiler and
    numpy.
    """
    from spekctl import files
    from spekctl.commands.deliver import deliver
    from spekctl.render.drive import print_study

    files.check_writable(output)
    try:
        from spekctl.campaigns.paper003 import study
    except ImportError as error:
        raise UsageError("the study needs numpy: pip install 'spekctl[log]'") from error

    def tell(what: str) -> None:
        click.echo(f"spekctl: simulating {what}", err=True)

    deliver(study.study(requests, seed, tell), print_study, as_json, output, "study")
    return 0
