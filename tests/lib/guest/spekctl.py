# SPDX-License-Identifier: GPL-2.0
"""spekctl in a guest, on real modules: called in this process, and no run may be left."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import pytest
from lib.ctl.command_line import Spekctl, caller

from spekctl.kernel import client
from spekctl.run import ending


@contextlib.contextmanager
def in_process(capfd: pytest.CaptureFixture[str]) -> Iterator[Spekctl]:
    """Calls spekctl, as long as the with block; then no run is in the kernel."""
    yield caller(capfd)
    left = stop_all()
    assert not left, f"runs were left in the kernel: {left}"


def stop_all() -> list[int]:
    """End and delete all runs; their numbers."""
    with contextlib.closing(client.connect()) as kernel:
        numbers = [info.id for info in kernel.runs()]
        for number in numbers:
            with contextlib.suppress(Exception):
                kernel.run_stop(number)
            ending.wait_done(kernel, number, 20)
            kernel.run_delete(number)
        return numbers
