# SPDX-License-Identifier: GPL-2.0-or-later
"""Sheet of a profile: what an I/O costs in each function of a kernel."""

from __future__ import annotations

from spekctl.documents.profile import Profile
from spekctl.render.profile import MOST
from spekctl.report.sheet import Bars, Sheet, plain_grid

# Instructions per I/O below which a function is only counted.
LEAST = 0.5


def profile_sheet(file: str, profile: Profile) -> Sheet:
    """The most expensive functions as bars, and all that matter as a table."""
    run = profile.run
    sheet = Sheet(
        file,
        "profile of a run",
        f"instructions of {run.workload} in Linux {run.kernel}, by function",
    )
    sheet.figures = [
        ("kernel, per I/O", f"{profile.per_io:,.1f} instructions"),
        ("user space, per I/O", f"{profile.user_per_io:,.1f} instructions"),
        ("I/Os", f"{run.ios:,}"),
    ]
    sheet.conditions = [
        ("devices", ", ".join(run.devices)),
        ("drivers", ", ".join(run.drivers)),
        ("kernel", f"{run.kernel} {run.kernel_version}"),
    ]
    rows = [(function.function, [function.per_io]) for function in profile.functions[:MOST]]
    if rows:
        sheet.bars.append(
            Bars("Most expensive functions", "instructions per I/O", ["its own"], rows)
        )
    shown = [function for function in profile.functions if function.per_io >= LEAST]
    whole = profile.per_io or 1.0
    sheet.grids.append(
        plain_grid(
            "instructions of a function's own",
            ["function", "per I/O", "share"],
            [
                [function.function, f"{function.per_io:.1f}", f"{function.per_io / whole:.1%}"]
                for function in shown
            ],
        )
    )
    others = profile.functions[len(shown) :]
    if others:
        sheet.notes.append(
            f"{len(others):,} more functions have {sum(function.per_io for function in others):.1f}"
            " instructions per I/O together."
        )
    return sheet
