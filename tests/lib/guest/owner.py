# SPDX-License-Identifier: GPL-2.0
"""A controller in a process of its own, that a test can kill in mid-run."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator

from lib.guest.drive import PlainLink, make_ready

from spekctl.kernel.gen.spek import Cmd
from spekctl.workload.config import RunConfig


def _own(config: RunConfig, say: int) -> None:
    """A controller of the smallest kind: makes a run, starts it, says so and sleeps."""
    link = PlainLink()
    run = make_ready(link, config)
    link.tell(Cmd.RUN_START, id=run)
    os.write(say, int(run).to_bytes(4, "little"))
    while True:
        signal.pause()


@contextlib.contextmanager
def controller_process(config: RunConfig) -> Iterator[tuple[int, int]]:
    """Its process id and the number of its run; killed at the end, if it still lives."""
    read_end, write_end = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            _own(config, write_end)
        finally:
            os._exit(1)
    os.close(write_end)
    try:
        said = os.read(read_end, 4)
        assert len(said) == 4, "the controller could not start its run"
        yield pid, int.from_bytes(said, "little")
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(read_end)
