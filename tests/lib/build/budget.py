# SPDX-License-Identifier: GPL-2.0
"""Limits of instructions, which depend on the compiler."""

from __future__ import annotations

import functools
import subprocess
from collections.abc import Mapping

MEASURED_WITH = "12"  # GCC, of Debian 12
OTHER_COMPILERS = 1.05


@functools.cache
def allowance() -> float:
    """What this machine's compiler may take of a limit."""
    command = ["gcc", "-dumpversion"]
    version = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return 1.0 if version.partition(".")[0].strip() == MEASURED_WITH else OTHER_COMPILERS


def above(costs: Mapping[str, float], limits: Mapping[str, float]) -> dict[str, float]:
    """Those of @costs that are above their limit."""
    return {name: cost for name, cost in costs.items() if cost > limits[name] * allowance()}
