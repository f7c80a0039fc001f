# SPDX-License-Identifier: GPL-2.0
"""Attributes a data race in KCSAN's report to the code that makes one of the two accesses.

The kernel has races of its own and lives with them. A report shows where each access was made
from, and under a worker's stack there is much that is the block layer's business and not ours.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

HEAD = "BUG: KCSAN: "
END = "=" * 60
ACCESS = re.compile(
    r"^(?:read|write|read-write|race at unknown origin, with \S+).* by .* on cpu \d+:$"
)
FRAME = re.compile(r"^ (?P<function>[\w.]+)\+0x[0-9a-f]+/0x[0-9a-f]+(?: \[(?P<module>\w+)\])?")
OURS = re.compile(r"spek\w*$")
# They access what their caller gives them.
HELPERS = re.compile(
    r"_*(mem(cpy|set|move|cmp)|str\w+|vsnprintf|snprintf|string|copy_\w+|nla_\w+|list_\w+|llist_\w+|"
    r"hlist_\w+|rb_\w+|kref_\w+|refcount_\w+|find_\w+_bit|bitmap_\w+|idr_\w+|radix_tree_\w+|"
    r"xa_\w+|xas_\w+|kasan_\w+|kcsan_\w+|tsan_\w+)$"
)


def accesses(report: list[str]) -> Iterator[tuple[str, str]]:
    """Function and module (empty: the kernel's own) that made each access of a report."""
    lines = iter(report)
    for line in lines:
        if not ACCESS.match(line):
            continue
        last = None
        for frame in map(FRAME.match, lines):
            if frame is None:
                break
            last = frame["function"], frame["module"] or ""
            if last[1] or not HELPERS.match(last[0]):
                break
        if last:
            yield last


def races_of_others(lines: list[str]) -> set[int]:
    """Indices of the heads of KCSAN reports of races in which no access is made by our modules."""
    places = set()
    for at, line in enumerate(lines):
        if HEAD not in line:
            continue
        report = list(itertools.takewhile(lambda text: not text.startswith(END), lines[at:]))
        accessed = list(accesses(report))
        # A report that cannot be parsed may be about spek.
        if accessed and not any(OURS.match(module) for _function, module in accessed):
            places.add(at)
    return places
