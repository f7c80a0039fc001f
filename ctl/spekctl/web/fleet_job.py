# SPDX-License-Identifier: GPL-2.0-or-later
"""A job of a fleet's page: the server's plan, changed by the form.

The plan has the hosts, their devices and how to reach them. The form has the workload, the options
of all hosts, and the devices that may be overwritten. `write` and `destroy` in the plan's file were
meant for the command line; they do not count for a page that many users may have open.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from spekctl.documents.plan import PlanFile
from spekctl.errors import RefusedError, UsageError
from spekctl.fleet import changes, plan
from spekctl.fleet.plan import Plan
from spekctl.host import protocol
from spekctl.host.wire import Part
from spekctl.web import form
from spekctl.web.form import Field
from spekctl.workload import file as workload_file
from spekctl.workload import override
from spekctl.workload.model import WorkloadFile

# Options that the form of a fleet lacks, and where they are set instead.
NOT_HERE = {
    "power-feed": "the plan has power_feeds in [[host]]",
    "log": "logs lie on the hosts; write log in the plan's options",
    "log-buffer": "logs lie on the hosts; write log-buffer in the plan's options",
}
# Most hosts that a plan is shown with.
SHOWN = 50


class FleetJob(Part, frozen=True):
    """What to run on the plan's hosts. @of_plan: the workload is the plan's, with @settings; else
    @workload, @toml, @settings and @options are as in a job of one machine. @destroy: HOST=SERIAL
    of each device whose data may be overwritten."""

    of_plan: bool = False
    workload: str = ""
    toml: str = ""
    settings: list[str] = msgspec.field(default_factory=list)
    options: dict[str, str | bool | list[str]] = msgspec.field(default_factory=dict)
    destroy: list[str] = msgspec.field(default_factory=list)


class Go(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Starts the waiting hosts; @run: number of the run, from its event `started`."""

    run: int


class HostShown(msgspec.Struct, frozen=True):
    """A host of the plan."""

    name: str
    role: str
    devices: list[str]
    ssh: str
    options: str


class FleetForm(msgspec.Struct, frozen=True):
    """Everything that the page needs to build its form. @fleet: the name of the plan's file;
    @workload: that of the plan."""

    workloads: list[tuple[str, str]]
    stream: list[Field]
    options: list[Field]
    measuring: list[Field]
    fleet: str
    listen: str
    workload: str
    hosts: list[HostShown]


def form_of(file: PlanFile, name: str) -> FleetForm:
    """The form of a plan; empty fields keep the values of the plan."""
    base = form.form()
    return FleetForm(
        base.workloads,
        base.stream,
        _offered(base.options, file.fleet.options),
        _offered(base.measuring, file.fleet.options),
        name,
        file.fleet.listen,
        file.fleet.workload,
        [
            HostShown(host.name, host.role, host.devices, host.ssh, _words(host.options))
            for host in file.host
        ],
    )


def _offered(fields: Sequence[Field], given: Mapping[str, Any]) -> list[Field]:
    return [
        msgspec.structs.replace(field, hint=f"{_word(given[field.name])}, of the plan")
        if field.name in given and field.name != "write"
        else field
        for field in fields
        if field.name not in NOT_HERE
    ]


def planned(file: PlanFile, folder: Path, asked: FleetJob) -> tuple[PlanFile, Plan]:
    """The plan to run, as a file's tables and checked. @folder: that of the server's plan."""
    for flag in asked.options:
        if flag in NOT_HERE:
            raise UsageError(f"--{flag} is not given to a fleet here: {NOT_HERE[flag]}")
    given = dict(asked.options)
    seed = file.fleet.seed
    if "seed" in given:
        seed = changes.seed_of(given.pop("seed"))
    workload = _workload_of(file, folder, asked)
    destroy = _destroy_of(file, asked.destroy)
    changed = PlanFile(
        msgspec.structs.replace(
            file.fleet,
            name=file.fleet.name or workload.workload.name,
            workload=workload.workload.name,
            settings=[],
            options={**_without_write(file.fleet.options), **given},
            seed=seed,
        ),
        [
            msgspec.structs.replace(
                host,
                destroy=destroy.get(host.name, []),
                options=_without_write(host.options),
            )
            for host in file.host
        ],
    )
    return changed, plan.of(changed, folder, workload)


def check_write(checked: Plan) -> None:
    """RefusedError if the plan writes without --write."""
    if plan.writes(checked.workload) and not all(host.load.write for host in checked.clients):
        raise RefusedError(
            f"{checked.workload.workload.name} writes to the devices of all hosts; to allow that,"
            " give --write"
        )


def shown(file: PlanFile, checked: Plan) -> protocol.Plan:
    """A summary of the plan for the page."""
    remarks = [
        f"{host.name}: {_words(host.options) or 'no options'}, on {' '.join(host.devices)}"
        for host in checked.clients[:SHOWN]
    ]
    if len(checked.clients) > SHOWN:
        remarks.append(f"and {len(checked.clients) - SHOWN} more hosts")
    if any(host.destroy for host in file.host):
        remarks.append("destroy of the plan's file does not count here: type what may be destroyed")
    return protocol.Plan(
        name=f"{checked.workload.workload.name} on {len(checked.clients)} of"
        f" {len(checked.hosts)} hosts",
        toml=override.to_toml(checked.workload),
        writes=plan.writes(checked.workload),
        command=[],
        remarks=remarks,
    )


def _workload_of(file: PlanFile, folder: Path, asked: FleetJob) -> WorkloadFile:
    if sum((asked.of_plan, bool(asked.workload), bool(asked.toml))) > 1:
        raise UsageError("of_plan, workload and toml exclude each other")
    if asked.of_plan:
        workload = plan.workload_of(file.fleet, folder)
    elif asked.toml:
        workload = workload_file.parse(asked.toml)
    elif asked.workload:
        # Not a path: a page could find out which files exist.
        if asked.workload not in workload_file.shipped_names():
            raise UsageError(f"there is no workload '{asked.workload}'")
        return workload_file.load(asked.workload, asked.settings)
    else:
        return workload_file.one_stream({}, asked.settings)
    if not asked.settings:
        return workload
    return workload_file.with_settings(msgspec.to_builtins(workload), asked.settings)


def _destroy_of(file: PlanFile, lines: Sequence[str]) -> dict[str, list[str]]:
    """Serials by host."""
    clients = {host.name for host in file.host if host.role == "client"}
    destroy: dict[str, list[str]] = {}
    for line in lines:
        name, equals, serial = (part.strip() for part in line.partition("="))
        if not equals or not serial:
            raise UsageError(f"'{line}' names no device of a host; write HOST=SERIAL")
        if name not in clients:
            raise UsageError(f"'{line}': the plan has no host {name} that sends I/O")
        destroy.setdefault(name, []).append(serial)
    return destroy


def _without_write(given: Mapping[str, Any]) -> dict[str, Any]:
    return {flag: value for flag, value in given.items() if flag != "write"}


def _words(given: Mapping[str, Any]) -> str:
    return " ".join(f"{flag}={_word(value)}" for flag, value in given.items())


def _word(value: str | bool | list[str]) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ",".join(value) if isinstance(value, list) else value
