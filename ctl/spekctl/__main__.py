# SPDX-License-Identifier: GPL-2.0-or-later
"""The program spekctl, also as python -m spekctl."""

from __future__ import annotations

import os
import signal
import sys
from typing import NoReturn


def main() -> NoReturn:
    """Run spekctl and exit.

    Libraries are imported before anything can say that it was interrupted, for seconds on an
    emulated machine. Until then Ctrl-C ends the process at once, unless it is ignored.
    """
    if sys.argv[1:] == ["host", "--stdio"]:
        # As root: with nothing that it does not need, the command line included.
        from spekctl.host import root

        sys.exit(root.main())
    if sys.stdin is None:
        # Closed by the caller: it has nothing to read, and no file gets its number.
        sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115
    usual = signal.getsignal(signal.SIGINT)
    if usual is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from spekctl import cli

    signal.signal(signal.SIGINT, usual)
    cli.main()


if __name__ == "__main__":
    main()
