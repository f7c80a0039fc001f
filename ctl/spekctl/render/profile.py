# SPDX-License-Identifier: GPL-2.0-or-later
"""A profile, and the change between two, as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from spekctl.documents.profile import Profile
from spekctl.documents.verdict import FunctionChange

if TYPE_CHECKING:
    from rich.console import RenderableType

MOST = 20  # functions shown


def profile_parts(profile: Profile) -> Iterator[RenderableType]:
    """The most expensive functions."""
    from spekctl.render import tables

    yield f"{profile.per_io:.1f} instructions per I/O in Linux {profile.run.kernel}"
    table = tables.table("function", "per I/O", "share", right=("per I/O", "share"))
    for function in profile.functions[:MOST]:
        table.add_row(
            function.function, f"{function.per_io:.1f}", f"{function.per_io / profile.per_io:.1%}"
        )
    yield table
    if len(profile.functions) > MOST:
        yield f"and {len(profile.functions) - MOST} more"


def change_parts(changes: Sequence[FunctionChange]) -> Iterator[RenderableType]:
    """What grew and what shrank."""
    from spekctl.render import tables

    if not changes:
        yield "no function changed by half an instruction per I/O or more"
        return
    yield "instructions per I/O"
    table = tables.table("function", "A", "B", "change", right=("A", "B", "change"))
    grown = [change for change in changes if change.b > change.a]
    shrunk = [change for change in changes if change.b < change.a]
    for change in (*grown[:MOST], *shrunk[-MOST:]):
        table.add_row(
            change.function, f"{change.a:.1f}", f"{change.b:.1f}", f"{change.b - change.a:+.1f}"
        )
    yield table
    for word, changed in (("grew", grown), ("shrank", shrunk)):
        if len(changed) > MOST:
            yield f"and {len(changed) - MOST} more that {word}"
