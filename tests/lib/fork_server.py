# SPDX-License-Identifier: GPL-2.0
"""Processes forked from one that has imported what they need (preloaded.py).

A Python that imports Dask's comms takes a second of a processor until it does anything; a test of
several hosts would spend most of its time there. A fork of one that has done so is a process of its
own all the same: with its own memory, files, signals and exit status.
"""

from __future__ import annotations

import atexit
import importlib
import multiprocessing
import multiprocessing.util  # joins all that are left at exit; see _kill_left()
import os
import sys
import weakref
from collections.abc import Callable, Sequence
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from subprocess import TimeoutExpired

_CONTEXT = multiprocessing.get_context("forkserver")
_PRELOADED = "lib.preloaded"
_started: weakref.WeakSet[ForkServerProcess] = weakref.WeakSet()
_maker = os.getpid()


class Forked:
    """The part of a subprocess.Popen that tests use."""

    def __init__(self, main: Callable[..., int], words: Sequence[str], stderr: Path) -> None:
        """Call @main(*@words), whose result is the exit status."""
        _CONTEXT.set_forkserver_preload([_PRELOADED])
        # The server imports before anybody tells it our sys.path.
        before = os.environ.get("PYTHONPATH")
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
        try:
            # By its name: what its import says is for @stderr.
            target = (main.__module__, main.__name__)
            self._process = _CONTEXT.Process(
                target=_run,
                args=(target, [*words], str(stderr), os.getcwd(), {**os.environ}, before),
            )
            self._process.start()
        finally:
            if before is None:
                del os.environ["PYTHONPATH"]
            else:
                os.environ["PYTHONPATH"] = before
        _started.add(self._process)
        assert self._process.pid is not None
        self.pid = self._process.pid

    def poll(self) -> int | None:
        """Its exit status once it has ended; that of a signal is negative."""
        return self._process.exitcode

    def wait(self, timeout: float | None = None) -> int:
        self._process.join(timeout)
        status = self.poll()
        if status is None:
            raise TimeoutExpired(str(self.pid), timeout or 0)
        return status

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self._process.kill()


@atexit.register
def _kill_left() -> None:
    """Before multiprocessing, whose handler was registered earlier, waits for them without end. A
    process that is stopped ends of SIGKILL only."""
    if os.getpid() == _maker:
        for process in [*_started]:
            if process.is_alive():
                process.kill()


def _run(
    target: tuple[str, str],
    words: list[str],
    stderr: str,
    folder: str,
    environment: dict[str, str],
    path: str | None,
) -> None:
    """In the child: it is where its maker is, and not where the server was."""
    file = os.open(stderr, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
    os.dup2(file, 2)
    os.close(file)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    if path is None:
        del os.environ["PYTHONPATH"]
    else:
        os.environ["PYTHONPATH"] = path
    # The server does not say what it cannot import; the same import here does.
    importer = importlib.import_module(_PRELOADED).IMPORTER
    assert importer == os.getppid(), "the fork server has not imported what processes need"
    module, name = target
    sys.exit(getattr(importlib.import_module(module), name)(*words))
