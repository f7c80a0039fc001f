# SPDX-License-Identifier: GPL-2.0-or-later
"""KTAP, version 1: Documentation/dev-tools/ktap.rst of the kernel. Without a verdict a case is
`not ok` with the directive ERROR, so that no runner takes it for a pass."""

from __future__ import annotations

from spekctl.gate.cases import Case, Status, Suite
from spekctl.gate.formats.plain import one_line
from spekctl.gate.values import exact

_DIRECTIVES = {Status.ERROR: "ERROR", Status.MISS: "ERROR", Status.SKIP: "SKIP"}


def render(suite: Suite) -> str:
    """The suite as KTAP. A figure is in the diagnostic lines before its case."""
    lines = ["KTAP version 1", f"1..{len(suite.cases)}"]
    for number, case in enumerate(suite.cases, start=1):
        lines += [f"# {one_line(text)}" for text in _diagnostics(case)]
        word = "not ok" if case.status in (Status.FAIL, Status.ERROR, Status.MISS) else "ok"
        directive = _DIRECTIVES.get(case.status)
        reason = one_line(case.text).replace("#", "")
        lines.append(
            f"{word} {number} {case.path}" + (f" # {directive} {reason}" if directive else "")
        )
    lines += [f"# {one_line(text)}" for text in (*suite.remarks, suite.text)]
    return "\n".join(lines) + "\n"


def _diagnostics(case: Case) -> list[str]:
    if case.value is None:
        return [case.text]
    return [f"{case.path}: {exact(case.value)} {case.unit}".rstrip(), case.text]
