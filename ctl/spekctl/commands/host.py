# SPDX-License-Identifier: GPL-2.0-or-later
"""spekctl host: the privileged part of programs that drive spek."""

from __future__ import annotations

import click


@click.command(no_args_is_help=True)
@click.option(
    "--stdio",
    is_flag=True,
    required=True,
    help="Read requests from standard input; write answers and events to standard output.",
)
def command(stdio: bool) -> int:
    """Serve a program without rights: claim devices, start and stop runs, read their figures.

    Requests and answers are JSON objects, one per line; ctl/spekctl/host/README.md describes them.
    They are numbers: workloads are parsed, and results made, by the program. The safety rules are
    those of `spekctl run`. When standard input ends, all runs of this command end and their
    devices are released. `spekctl web` starts this command itself.
    """
    from spekctl.host import root

    return root.main()
