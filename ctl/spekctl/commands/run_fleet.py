# SPDX-License-Identifier: GPL-2.0-or-later
"""spekctl run --fleet: one run on all hosts of a plan, with the load as a total.

The same run as that of `spekctl fleet run`, whose loads are those of each client.
"""

from __future__ import annotations

from typing import Any

import click
from click.core import ParameterSource

from spekctl.commands import on_hosts, options
from spekctl.errors import UsageError

_TRACE = "`spekctl fleet run` replays a trace, of a workload file with pattern trace"
_STATE = "states of blocks are those of a single machine"
# What a fleet does not do, and why.
_NOT_OF_FLEETS = {
    **dict.fromkeys(("traces", "speed", "bursts", "closed", "think", "max_idle"), _TRACE),
    **dict.fromkeys(("map_", "share"), _TRACE),
    **dict.fromkeys(("verify_state", "state_on", "state_apart"), _STATE),
    "detach": "hosts end their runs with the controller",
    "start_at": "the controller sets the start, once all hosts are ready",
    "heat_map": "write heat-map in [fleet.options]",
    "log": "write log in the plan's options, and use `spekctl fleet run`",
    "log_buffer": "write log-buffer in the plan's options, and use `spekctl fleet run`",
}


def run(given: dict[str, Any]) -> int:
    """Carry out the run that click has parsed; the exit code."""
    from spekctl.commands import fleet
    from spekctl.fleet import loads, plan

    context = click.get_current_context()
    flags = {parameter.name: parameter.opts[0] for parameter in context.command.params}
    for name, why in {**on_hosts.OF_PLAN, **_NOT_OF_FLEETS}.items():
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise UsageError(f"{flags[name]} is not given with --fleet: {why}")
    if given["dry_run"] and given["as_json"]:
        raise UsageError(
            "--json is not given with --fleet and --dry-run: what each host would do is a table"
        )
    name = given["workload"]
    if name is not None and name.startswith(options.IMPORTED):
        raise UsageError(
            f"{name} is not run with --fleet: `spekctl fio` and `spekctl vdbench` make a plan of"
            " the files of other programs, for `spekctl fleet run`"
        )
    named = options.files_of_workload(name) if name is not None else []
    workload = options.take_workload(given)
    exports = options.take_exports(given)
    options.take_measuring(given)
    load = options.take_load(given)
    path = given["fleet_file"]
    planned = plan.load(path, workload, load.write)
    unused = plan.of_command(planned)
    planned = plan.of_step(planned, workload, load)
    loads.check_divided(planned, load)
    if unused:
        click.echo(f"spekctl: {on_hosts.unused_text(unused)}", err=True)
    delivered = fleet.Delivered(given["output"], given["as_json"], exports, [path, *named])
    return fleet.carry_out(
        *(planned, given["keys_folder"], given["wait_ns"], given["progress"], delivered),
        dry_run=given["dry_run"],
        leave="give --write",
    )
