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
    made = tables.table("function", "per I/O", "share", right=("per I/O", "share"))
    for one in profile.functions[:MOST]:
        made.add_row(one.function, f"{one.per_io:.1f}", f"{one.per_io / profile.per_io:.1%}")
    yield made
    if len(profile.functions) > MOST:
        yield f"and {len(profile.functions) - MOST} more"


def change_parts(changes: Sequence[FunctionChange]) -> Iterator[RenderableType]:
    """What grew and what shrank."""
    from spekctl.render import tables

    if not changes:
        yield "no function changed by half an instruction per I/O or more"
        return
    yield "instructions per I/O"
    made = tables.table("function", "A", "B", "change", right=("A", "B", "change"))
    grown = [one for one in changes if one.b > one.a]
    shrunk = [one for one in changes if one.b < one.a]
    for one in (*grown[:MOST], *shrunk[-MOST:]):
        made.add_row(one.function, f"{one.a:.1f}", f"{one.b:.1f}", f"{one.b - one.a:+.1f}")
    yield made
    for word, found in (("grew", grown), ("shrank", shrunk)):
        if len(found) > MOST:
            yield f"and {len(found) - MOST} more that {word}"
