# SPDX-License-Identifier: GPL-2.0
"""The kernel series on which back end mq was tested, from their only list in the kernel's code."""

from __future__ import annotations

import re
from pathlib import Path

from specgen.spec import SpecError

SOURCE = "kmod/compat/series.h"
OUTPUT = "ctl/spekctl/kernel/gen/series.py"
LIST = re.compile(r"^#define SPEK_COMPAT_MQ_SERIES\(is\) \((.*)\)$", re.MULTILINE)
ENTRY = re.compile(r"is\((\d+), (\d+)\)")


def series_module(root: Path) -> str:
    """Return the text of the Python module."""
    match = LIST.search((root / SOURCE).read_text(encoding="utf-8"))
    entries = match[1].split(" || ") if match else []
    parsed = [ENTRY.fullmatch(entry) for entry in entries]
    if not parsed or None in parsed:
        raise SpecError(f"{SOURCE}: SPEK_COMPAT_MQ_SERIES is no list of is(MAJOR, MINOR)")
    rows = "".join(f"    ({one[1]}, {one[2]}),\n" for one in parsed if one)
    return (
        "# SPDX-License-Identifier: GPL-2.0-or-later\n"
        f'"""Kernel series, generated from {SOURCE}, run `make gen`."""\n\n'
        "# On which the guest tests have run back end mq.\n"
        f"MQ_SERIES = (\n{rows})\n"
    )
