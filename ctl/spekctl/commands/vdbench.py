# SPDX-License-Identifier: GPL-2.0-or-later
"""spekctl vdbench: import a parameter file of vdbench as workloads."""

from __future__ import annotations

from pathlib import Path

import click

from spekctl.commands import options
from spekctl.commands.options import FilePath

EPILOG = """\b
Examples:
  spekctl vdbench oltp.parm -o oltp.toml
  spekctl run vdbench:oltp.parm --device /dev/sdX --write
  spekctl run vdbench:loops.parm#run1.2 --device /dev/sdX
"""


@click.command(epilog=EPILOG, no_args_is_help=True)
@click.argument("file", type=FilePath(dir_okay=False, path_type=Path))
@options.workload_files("runs")
def command(file: Path, output: Path | None) -> int:
    """Import the parameter file FILE as workloads, one for each run: an RD with several rates or
    forXXX loops has several, and one whose WDs have devices of their own has several that start
    together.

    Raw I/O only (HD, SD, WD, RD). A run of remote hosts is a workload and a plan, FILE.plan.toml,
    for `spekctl fleet run`. Of iorate=curve the run at the highest rate is imported, and one for
    each point, whose rate is known when that has run: `spekctl run vdbench:FILE` runs all.

    A report on standard error says what became of each parameter, which parameters are not needed,
    and which differences may change the results. A file with parameters that cannot be converted
    is refused, and the message names all of them.
    """
    from spekctl.commands.deliver import deliver_imported
    from spekctl.vdbench import convert

    deliver_imported([file], convert.load_steps(file), output)
    return 0
