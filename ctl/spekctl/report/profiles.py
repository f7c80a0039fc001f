# SPDX-License-Identifier: GPL-2.0-or-later
"""Sheet of a profile: what an I/O costs in each function of a kernel."""

from __future__ import annotations

from spekctl.documents.profile import Profile
from spekctl.render.profile import MOST
from spekctl.report.sheet import Bars, Sheet, plain_grid

# Instructions per I/O below which a function is only counted.
LEAST = 0.5


def profile_sheet(file: str, found: Profile) -> Sheet:
    """The most expensive functions as bars, and all that matter as a table."""
    run = found.run
    made = Sheet(
        file,
        "profile of a run",
        f"instructions of {run.workload} in Linux {run.kernel}, by function",
    )
    made.figures = [
        ("kernel, per I/O", f"{found.per_io:,.1f} instructions"),
        ("user space, per I/O", f"{found.user_per_io:,.1f} instructions"),
        ("I/Os", f"{run.ios:,}"),
    ]
    made.conditions = [
        ("devices", ", ".join(run.devices)),
        ("drivers", ", ".join(run.drivers)),
        ("kernel", f"{run.kernel} {run.kernel_version}"),
    ]
    rows = [(one.function, [one.per_io]) for one in found.functions[:MOST]]
    if rows:
        made.bars.append(
            Bars("Most expensive functions", "instructions per I/O", ["its own"], rows)
        )
    shown = [one for one in found.functions if one.per_io >= LEAST]
    whole = found.per_io or 1.0
    made.grids.append(
        plain_grid(
            "instructions of a function's own",
            ["function", "per I/O", "share"],
            [[one.function, f"{one.per_io:.1f}", f"{one.per_io / whole:.1%}"] for one in shown],
        )
    )
    others = found.functions[len(shown) :]
    if others:
        made.notes.append(
            f"{len(others):,} more functions have {sum(one.per_io for one in others):.1f}"
            " instructions per I/O together."
        )
    return made
