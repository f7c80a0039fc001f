# SPDX-License-Identifier: GPL-2.0-or-later
"""What follows from a table of a workload file is worked out once.

rules.py asks for it when the file is read, resolve.py when a run is made of it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TypeVar

T = TypeVar("T")
Result = TypeVar("Result")


def once(parse: Callable[[T], Result]) -> Callable[[T], Result]:
    """Remember with a table, which does not change, what @parse finds in it."""

    @wraps(parse)
    def of(table: T) -> Result:
        known = vars(table)
        name = f"{parse.__module__}.{parse.__qualname__}"
        if name not in known:
            known[name] = parse(table)
        return known[name]  # type: ignore[no-any-return]

    return of
