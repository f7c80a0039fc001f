# SPDX-License-Identifier: GPL-2.0-or-later
"""`key: value` lines, as lkp-tests and mmtests read them: figures, and 1 or 0 for what passed."""

from __future__ import annotations

from spekctl.gate.cases import Status, Suite
from spekctl.gate.values import exact


def render(suite: Suite) -> str:
    """Two lines for each case at most: its figure, and `KEY.pass`, which is 0 for a limit without
    a figure, and missing where there is no limit or no verdict."""
    lines = []
    for case in suite.cases:
        if case.value is not None:
            lines.append(f"{case.path}: {exact(case.value)}\n")
        if case.status in (Status.PASS, Status.FAIL, Status.MISS):
            lines.append(f"{case.path}.pass: {int(case.status is Status.PASS)}\n")
    return "".join(lines)
