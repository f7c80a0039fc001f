# SPDX-License-Identifier: GPL-2.0
"""Which commands of spekctl an ordinary user is refused: every command has a rule here."""

from __future__ import annotations

from collections.abc import Iterator

import click

DEVICE = "{disk}"
NEEDS_ROOT: dict[str, tuple[str, ...]] = {
    "run": ("random-read-4k", "--device", DEVICE, "--no-prober", "--progress", "none"),
    "status": (),
    "metrics": (),
    "watch": ("1",),
    "stop": ("1",),
    "sweep": ("random-read-4k", "--device", DEVICE, "--depth", "1", "-o", "{folder}/sweep.json"),
    "spc1": (
        "--device",
        DEVICE,
        "--write",
        "--quick",
        "--start-bsu",
        "1",
        "--folder",
        "{folder}/spc1",
    ),
    "spc2": ("--device", DEVICE, "--write", "--quick", "--folder", "{folder}/spc2"),
    "pts": (*("--device", DEVICE, "--write", "--quick", "--no-purge", "--folder", "{folder}/pts"),),
    "energy spc1e": ("--device", DEVICE, "--write", "--quick", "--folder", "{folder}/e"),
    "energy spc2e": ("--device", DEVICE, "--write", "--quick", "--folder", "{folder}/spc2e"),
    "energy emerald": ("--device", DEVICE, "--write", "--quick", "--folder", "{folder}/emerald"),
    "energy capacity": ("--device", DEVICE, "--write", "--stored", "echo 0"),
    "verify": ("--device", DEVICE, "--from", "{folder}/state"),
    "drive new": ("barracuda-es",),
    "drive list": (),
    "drive stats": ("1",),
    "drive fault": ("1", "--arm", "0"),
    "drive delete": ("1",),
    "prober start": ("--for", "1s"),
    "prober watch": (),
    "prober read": (),
    "prober stop": (),
    "power rails": (),
    "augment create": ("nas", "--raid", DEVICE, "--ssd", DEVICE, "--spare", DEVICE),
    "augment attach": ("nas", "--scan", "--raid", DEVICE),
    "augment status": (),
    "augment destage": ("nas",),
    "augment detach": ("nas",),
    "augment forget": ("nas", "--lost", "1"),
    "augment monitor": ("nas",),
    "power monitor": ("--count", "1"),
}
# They read files, sysfs and devices that the user may read, ask spek-daq, which has its own say, or
# start a virtual machine as the user who asks for it.
NEEDS_NOTHING = {"devices", "workloads", "show", "log", "plot", "trace", "vm", "energy dcse"}
NEEDS_NOTHING |= {"report", "compare", "gate", "fio", "vdbench"}
# host answers each request with its own refusal, and web shows it.
NEEDS_NOTHING |= {"host", "web"}
# Hosts of a fleet start the host helper by sudo.
NEEDS_NOTHING |= {"fleet"}
NEEDS_NOTHING |= {"power calibrate", "doctor", "energy compare", "energy check"}
NEEDS_NOTHING |= {"energy tiered map", "energy tiered compare"}
# They need what the node of the disk asks for; test_power_states has both.
NEEDS_NOTHING |= {"power states", "power set", "augment check"}
NEEDS_NOTHING |= {f"drive {one}" for one in ("models", "show", "simulate", "study", "characterise")}

GROUPS = ("augment", "drive", "energy", "tiered", "power", "prober")


def leaves(group: click.Group, context: click.Context, prefix: str = "") -> Iterator[str]:
    """Names of all commands; groups that plot or vm are made of count as one."""
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group) and name in GROUPS:
            yield from leaves(command, context, f"{prefix}{name} ")
        else:
            yield prefix + name
