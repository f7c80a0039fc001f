# SPDX-License-Identifier: GPL-2.0-or-later
"""spekctl fio: import a job file of fio as a workload."""

from __future__ import annotations

from pathlib import Path

import click

from spekctl.commands.options import FilePath

EPILOG = """\b
Examples:
  spekctl fio oltp.fio -o oltp.toml
  spekctl fio suite.fio --section randread-qd32 | less
  spekctl run fio:oltp.fio --device /dev/sdX --write
"""


@click.command(epilog=EPILOG, no_args_is_help=True)
@click.argument("job", metavar="JOB.fio", type=FilePath(dir_okay=False, path_type=Path))
@click.option(
    "--section",
    "sections",
    metavar="NAME",
    multiple=True,
    help="Only the job of this name; repeatable. Jobs that wait for each other are imported one by "
    "one.",
)
@click.option(
    "--accept",
    type=click.Choice(["direct"]),
    multiple=True,
    help="Import a job without direct=1 as if it had it: spek has no page cache.",
)
@click.option(
    *("-o", "--output"),
    type=FilePath(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write the workload to FILE.  [standard output]",
)
def command(
    job: Path, sections: tuple[str, ...], accept: tuple[str, ...], output: Path | None
) -> int:
    """Import the job file JOB.fio as a workload, a TOML file.

    Standard error says where each option went, which are not needed, and what is different enough
    to change numbers. A file with an option whose effect would be lost is refused, by the names of
    all such options.
    """
    from spekctl import files
    from spekctl.fio import convert
    from spekctl.render.fio import report_lines
    from spekctl.workload import override

    files.check_writable(output)
    found = convert.load(job, sections, "direct" in accept)
    text = override.to_toml(found.workload)
    if output is None:
        click.echo(text, nl=False)
    else:
        files.put(output, text.encode())
    for line in report_lines(found):
        click.echo(line, err=True)
    return 0
