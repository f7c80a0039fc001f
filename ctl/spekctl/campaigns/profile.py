# SPDX-License-Identifier: GPL-2.0-or-later
"""`spekctl vm --function-profile`: makes it from what the guest and the plugin have left."""

from __future__ import annotations

from pathlib import Path

from spekctl import files
from spekctl.documents.profile import FunctionCost, Profile, ProfiledRun
from spekctl.errors import SpekError
from spekctl.run.profiled import RUN
from spekctl.vm import profiler


def profile_of(folder: Path) -> Profile:
    """The profile that @folder holds the parts of. SpekError: the run had no end or no I/O."""
    path = folder / RUN
    if not files.exists(path):
        raise SpekError("there is no profile: the run did not complete")
    run = files.decode(path.read_bytes(), ProfiledRun)
    if not run.ios:
        raise SpekError("there is no profile: the run had no I/O")
    counts = profiler.counts_at(folder, 1)
    counts.subtract(profiler.counts_at(folder, 0))
    samples = profiler.by_function(counts, profiler.symbols_in(folder))
    user = samples.pop(profiler.USER, 0)
    functions = [
        FunctionCost(name, count / run.ios) for name, count in samples.most_common() if count
    ]
    return Profile(
        run=run,
        per_io=sum(samples.values()) / run.ios,
        user_per_io=user / run.ios,
        functions=functions,
    )
