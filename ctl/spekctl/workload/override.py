# SPDX-License-Identifier: GPL-2.0-or-later
"""Fields of a workload that the command line sets, and workloads as text."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from spekctl import settings
from spekctl.workload.model import WorkloadFile

_TARGET = settings.Target(
    WorkloadFile,
    "stream.main.size=16KiB or run.time=30s",
    {"asu": "all", "arrival": "default"},
)


def apply(data: dict[str, Any], given: Iterable[str], flag: str = "--set") -> None:
    """Change a workload as TOML has it. UsageError with a sentence for what can't be meant."""
    settings.apply(data, _TARGET, given, flag)


def to_toml(workload: WorkloadFile) -> str:
    """A workload as the text of a file."""
    import tomlkit

    return tomlkit.dumps(msgspec.to_builtins(workload))
