# SPDX-License-Identifier: GPL-2.0-or-later
"""What a plan of a fleet may have: structs that define its JSON Schema; fleet/plan.py reads it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

SCHEMA_FILE = Path(__file__).with_name("plan.schema.json")
WEIGHT_MAX = 1_000_000
# What TOML can hold.
SEED_MAX = (1 << 63) - 1

Share = Literal["split", "overlap"]
OnLoss = Literal["stop", "continue"]
Role = Literal["client", "target"]
OptionTable = dict[str, str | bool | list[str]]


class SshTable(msgspec.Struct, forbid_unknown_fields=True):
    """[fleet.ssh]"""

    program: Annotated[
        str, Meta(description="spekctl on the hosts: a name that they find, or a path.")
    ] = "spekctl"
    keys: Annotated[
        str, Meta(description="Folder with the keys of each host, from the user's home there.")
    ] = "spek-keys"


class FleetTable(msgspec.Struct, forbid_unknown_fields=True):
    """[fleet]"""

    listen: Annotated[
        str, Meta(description="Where the controller waits for hosts: tls://ADDRESS:PORT.")
    ]
    workload: Annotated[
        str, Meta(description="Workload that comes with spek, or a file beside the plan.")
    ]
    name: Annotated[str, Meta(description="Name of the plan in its result.")] = ""
    settings: Annotated[list[str], Meta(description="FIELD=VALUE, as of --set.")] = []
    options: Annotated[
        OptionTable, Meta(description="Options of `spekctl run`, without their dashes.")
    ] = msgspec.field(default_factory=dict)
    share: Annotated[
        Share | None,
        Meta(
            description="What hosts do with a device that several of them have: split, a slice for"
            " each, or overlap. Default: split if the workload writes, else overlap."
        ),
    ] = None
    on_loss: Annotated[
        OnLoss, Meta(description="What the others do when a host is lost or fails.")
    ] = "stop"
    max_skew: Annotated[
        str | None, Meta(description="Largest error of the hosts' clocks, such as 1ms.")
    ] = None
    seed: Annotated[int, Meta(description="Seed of the fleet.", ge=0, le=SEED_MAX)] = 1
    ssh: Annotated[SshTable, Meta(description="Of hosts that the controller starts over SSH.")] = (
        msgspec.field(default_factory=SshTable)
    )


class HostTable(msgspec.Struct, forbid_unknown_fields=True):
    """[[host]]"""

    name: Annotated[str, Meta(description="Name of the host, as in its certificate.")]
    role: Annotated[
        Role, Meta(description="client: it sends I/O; target: its prober watches it.")
    ] = "client"
    address: Annotated[str, Meta(description="Address that it has to join from; empty: any.")] = ""
    ssh: Annotated[
        str,
        Meta(
            description="Where the controller starts it over SSH: HOST, USER@HOST, or"
            " ssh://USER@HOST:PORT; empty: it is started by other means."
        ),
    ] = ""
    devices: Annotated[
        list[str],
        Meta(description="wwn:WWN, serial:SERIAL, nqn:NQN of a subsystem, or a path below /dev."),
    ] = []
    destroy: Annotated[
        list[str], Meta(description="Serials of devices whose data may be overwritten.")
    ] = []
    weight: Annotated[
        int, Meta(description="Part of a device that is split.", ge=1, le=WEIGHT_MAX)
    ] = 1
    options: Annotated[
        OptionTable, Meta(description="Options of this host, in place of those of [fleet].")
    ] = msgspec.field(default_factory=dict)
    power_feeds: Annotated[
        list[str], Meta(description="Power feeds of its prober; none: all of them.")
    ] = []


class PlanFile(msgspec.Struct, forbid_unknown_fields=True):
    """What a plan may have."""

    fleet: FleetTable
    host: list[HostTable] = []


def json_schema() -> dict[str, Any]:
    """JSON Schema of a plan, for editors and validators."""
    (root,), parts = msgspec.json.schema_components([PlanFile], ref_template="#/$defs/{name}")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "spek plan of a fleet",
        **root,
        "$defs": parts,
    }
