# SPDX-License-Identifier: GPL-2.0-or-later
"""LAVA signals: lines of a console that LAVA's dispatcher looks for. A comparison without a verdict
is `unknown`, a result that LAVA counts on its own; a limit without a figure fails."""

from __future__ import annotations

import re

from spekctl.gate.cases import Case, Status, Suite
from spekctl.gate.values import exact

_RESULTS = {
    Status.PASS: "pass",
    Status.DONE: "pass",
    Status.FAIL: "fail",
    Status.SKIP: "skip",
    Status.ERROR: "unknown",
    Status.MISS: "fail",
}


def render(suite: Suite) -> str:
    """One signal for each case; values have neither spaces nor quotes."""
    return "".join(f"<LAVA_SIGNAL_TESTCASE {_case(case)}>\n" for case in suite.cases)


def _case(case: Case) -> str:
    words = [f"TEST_CASE_ID={case.path}", f"RESULT={_RESULTS[case.status]}"]
    if case.value is not None:
        words.append(f"MEASUREMENT={exact(case.value)}")
        unit = re.sub(r"[^A-Za-z0-9_/%.-]", "_", case.unit)
        words += [f"UNITS={unit}"] if unit else []
    return " ".join(words)
