# SPDX-License-Identifier: GPL-2.0-or-later
"""spekctl drive study: paper 003 again, on modelled drives in userspace."""

from __future__ import annotations

from pathlib import Path

import click

from spekctl.errors import UsageError

EPILOG = """\b
Example:
  spekctl drive study -o study.json
  spekctl plot study study.json --figure 8 -o arrays
"""


@click.command(epilog=EPILOG)
@click.option(
    "--requests",
    type=click.IntRange(1000, 10_000_000),
    default=100_000,
    show_default=True,
    metavar="N",
    help="Requests of each load. The paper's arrays had 1,000,000.",
)
@click.option(
    "--seed",
    type=click.IntRange(0),
    default=1,
    show_default=True,
    metavar="N",
    help="Of the loads and of the platters' angles.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write the study as JSON to FILE, for `spekctl plot study`.",
)
@click.option("--json", "as_json", is_flag=True, help="As JSON on standard output.")
def command(requests: int, seed: int, output: Path | None, as_json: bool) -> int:
    """Repeat the study of paper 003: can one drive with several arms replace an array?

    Every statement of the paper's table 1 and figures 2 to 8 is shown beside what came out on
    modelled drives. The arrays of figure 8 have the paper's synthetic load. Its four traces are
    not distributed with it; figures 2 to 7 use synthetic loads in their manner, and the report
    says what is known of each trace and what was assumed.

    With the default number of requests it takes about a minute. It needs a C compiler and numpy.
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
