# SPDX-License-Identifier: GPL-2.0
"""What an ordinary user gets to see, where the tests run as root."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable
from pathlib import Path

from lib.ctl.command_line import Outcome

from spekctl import cli

NOBODY = 65534


def as_ordinary_user(folder: Path, *arguments: str) -> Outcome:
    """Call spekctl."""
    return call_as_ordinary_user(folder, lambda: cli.run(list(arguments)))


def call_as_ordinary_user(folder: Path, function: Callable[[], int]) -> Outcome:
    """Call @function, which returns an exit code, in a forked child that gives up root first.

    The child may be unable to read Python's modules, spekctl's included: what it imports must have
    been imported before. @folder: keeps what the child prints.
    """
    files = [folder / "out", folder / "err"]
    pid = os.fork()
    if pid == 0:
        code = 99
        try:
            sys.stdout, sys.stderr = (open(path, "w") for path in files)  # noqa: SIM115
            if os.geteuid() == 0:
                os.setgroups([])
                os.setresgid(NOBODY, NOBODY, NOBODY)
                os.setresuid(NOBODY, NOBODY, NOBODY)
            code = function()
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
    _pid, status = os.waitpid(pid, 0)
    out, err = (path.read_text() for path in files)
    return Outcome(os.waitstatus_to_exitcode(status), out, err)
