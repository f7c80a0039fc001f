# SPDX-License-Identifier: GPL-2.0-or-later
"""A plan with the overrides of a command line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from spekctl.documents.plan import PlanFile
from spekctl.errors import UsageError
from spekctl.fleet import plan
from spekctl.workload import options

OptionTexts = Mapping[str, str | bool | list[str]]
# A run takes at most one option of each set.
_EXCLUSIVE = (
    {"bsu", "rate", "depth"},
    {"depth", "iops-per-bsu"},
    {"count", "passes"},
    {"ramp", "ramp-count"},
    {"data", "verify"},
)


def changed(file: PlanFile, given: OptionTexts, settings: Sequence[str] = ()) -> PlanFile:
    """The plan with the run options @given for all of its clients, named by their flags without
    dashes, and with @settings of its workload after its own. An option replaces the same option of
    the plan, of all hosts or of a single host, and the options that it excludes.
    UsageError if two of @given exclude each other."""
    given = dict(given)
    seed = given.pop("seed", None)
    own_seed = file.fleet.seed if seed is None else seed_of(seed)
    for group in _EXCLUSIVE:
        if len(several := [flag for flag in given if flag in group]) > 1:
            raise UsageError(f"--{several[0]} and --{several[1]} exclude each other")
    dropped = set(given).union(*(group for group in _EXCLUSIVE if group & given.keys()))

    def without(table: OptionTexts) -> dict[str, str | bool | list[str]]:
        return {flag: value for flag, value in table.items() if flag not in dropped}

    return PlanFile(
        msgspec.structs.replace(
            file.fleet,
            options={**without(file.fleet.options), **given},
            settings=[*file.fleet.settings, *settings],
            seed=own_seed,
        ),
        [msgspec.structs.replace(host, options=without(host.options)) for host in file.host],
    )


def seed_of(text: object) -> int:
    """The seed of a fleet that --seed sets."""
    load, _ = options.read({"seed": text})
    plan.check_seed(load.seed)
    return load.seed
