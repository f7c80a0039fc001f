# SPDX-License-Identifier: GPL-2.0-or-later
"""Plans of detached runs: what `watch` needs to write a result that the kernel does not keep."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

import msgspec

from spekctl import files
from spekctl.documents.result import Plan
from spekctl.errors import SpekError
from spekctl.kernel.records import RunInfo

# On a tmpfs: gone after a boot, as the runs are.
DIRECTORY = Path(os.environ.get("SPEKCTL_STATE_DIR", "/run/spekctl"))


def save(plan: Plan) -> None:
    """Store the plan of a detached run."""
    try:
        DIRECTORY.mkdir(mode=0o755, parents=True, exist_ok=True)
    except OSError as error:
        raise SpekError(f"cannot create {DIRECTORY}: {error.strerror}") from error
    files.write(_path(plan.run), files.encode(plan))


def load(info: RunInfo) -> Plan | None:
    """The plan of this run; None if it was not detached, or was started by an older module."""
    try:
        plan = files.decode(_path(info.id).read_bytes(), Plan)
    except (OSError, msgspec.DecodeError):
        return None
    # An armed run that ended before its start time was never started.
    called_off = not info.started_ns and 0 < info.ended_ns < plan.started_ns
    return plan if plan.started_ns == info.started_ns or called_off else None


def forget(run: int) -> None:
    """Delete the plan of a deleted run."""
    with contextlib.suppress(OSError):
        _path(run).unlink()


def _path(run: int) -> Path:
    return DIRECTORY / f"run-{run}.json"
