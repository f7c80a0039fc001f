# SPDX-License-Identifier: GPL-2.0-or-later
"""Plans of runs on several hosts that other programs' files describe."""

from __future__ import annotations

import shlex

import msgspec

from spekctl.documents.plan import FleetTable, HostTable, OptionTable, PlanFile, Share
from spekctl.workload import options
from spekctl.workload.imported import NEVER, Imported
from spekctl.workload.options import Kind

# Files of other programs do not have it; a plan with this text is refused.
LISTEN = "ADDRESS OF THE CONTROLLER"


def plan_of(step: Imported, workload: str) -> PlanFile:
    """The plan of an imported run with hosts. @workload: the name of its workload's file. Its
    `listen` is to be filled in; until then the plan is refused. It never permits writes."""
    given = _options(step)
    # Other programs let each host use the whole of a shared device; verification needs slices.
    share: Share = "split" if given.get("verify") else "overlap"
    return PlanFile(
        FleetTable(LISTEN, workload, step.workload.workload.name, options=given, share=share),
        [
            HostTable(
                client.name,
                ssh=client.ssh,
                devices=list(client.devices),
                options=dict(client.options),
            )
            for client in step.clients
        ],
    )


def _options(step: Imported) -> OptionTable:
    """Options of all hosts, as a plan has them, without permission to write."""
    declared = {
        option.flag_text: option
        for option in (*options.OPTIONS.values(), *options.MEASURING.values())
    }
    given: OptionTable = {}
    for words in step.command_line:
        flag, *values = shlex.split(words)
        if flag in NEVER:
            continue
        text = "".join(values)
        kind, name = declared[flag].kind, flag[2:]
        if kind is Kind.FLAG:
            given[name] = True
        elif kind in (Kind.THRESHOLDS, Kind.NAMES):
            before = given.get(name, [])
            given[name] = [*(before if isinstance(before, list) else []), text]
        else:
            given[name] = text
    return given


def to_toml(plan: PlanFile) -> str:
    """A plan as the text of a file, without defaults."""
    import tomlkit

    table = msgspec.to_builtins(plan)
    usual = msgspec.to_builtins(PlanFile(FleetTable("", ""), [HostTable("")]))
    fleet = {
        key: value
        for key, value in table["fleet"].items()
        if key in ("listen", "workload") or value != usual["fleet"][key]
    }
    hosts = [
        {key: value for key, value in host.items() if value != usual["host"][0][key]}
        for host in table["host"]
    ]
    return tomlkit.dumps({"fleet": fleet, "host": hosts})
