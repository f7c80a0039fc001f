# SPDX-License-Identifier: GPL-2.0-or-later
"""What became of the options of an imported file, as text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from spekctl.workload import meaning
from spekctl.workload.imported import (
    Client,
    Imported,
    device_option,
    devices_of,
    is_windows_disk,
    without_devices,
)


def report_lines(imported: Imported, taken: bool = False) -> Iterator[str]:
    """Where each option went, what is different, and what to give to `spekctl run`, unless that is
    @taken from the file."""
    for where, names in _by_text(imported.mapped).items():
        yield f"{', '.join(names)} -> {where}"
    for why, names in _by_text(imported.not_needed).items():
        yield f"{', '.join(names)}: not needed: {why}"
    for text in imported.differences:
        yield f"different from {imported.program}: {text}"
    run, arrivals = imported.workload.run, imported.workload.arrival
    end_apart = arrivals and all(arrival.count or arrival.passes for arrival in arrivals)
    # A replay ends with its trace.
    end_apart = end_apart or meaning.replays(imported.workload)
    if not end_apart and run.time is None and run.count is None and run.passes is None:
        yield (
            f"different from {imported.program}: the workload does not say when it ends;"
            " --time does, by default 60s"
        )
    if imported.clients:
        yield from _client_lines(imported.clients)
        if "--write" in imported.command_line:
            yield (
                "add write = true to [fleet.options] of the plan to permit the hosts to overwrite"
                " their devices"
            )
        return
    of_windows = [path for path in devices_of(imported.command_line) if is_windows_disk(path)]
    for path in of_windows:
        yield f"{path} is how Windows names a disk; --device has to name the disk of this machine"
    if imported.command_line and not taken:
        given = imported.command_line
        if of_windows:
            given = [device_option("DEV"), *without_devices(given)]
        yield f"give to `spekctl run`: {' '.join(given)}"


def _client_lines(clients: Sequence[Client]) -> Iterator[str]:
    """What a plan of these hosts has, and what it lacks."""
    for client in clients:
        if client.name != client.origin:
            yield f"host {client.origin} is {client.name} in the plan"
    for client in clients:
        strange = [path for path in client.devices if not path.startswith("/dev/")]
        if strange:
            yield (
                f"fill in devices of {client.name}: {', '.join(strange)} is not below /dev, and"
                " spek loads block devices only"
            )
    yield "fill in listen of the plan, tls://ADDRESS:PORT at which the hosts reach the controller"
    names = " ".join(client.name for client in clients)
    yield f"make keys, and copy to each host its own: spekctl fleet init keys {names}"
    joining = [client.name for client in clients if not client.ssh]
    if joining:
        yield (
            f"start `spekctl fleet join` on {', '.join(joining)}, or fill in ssh of the plan, for"
            " the controller to do that"
        )


def _by_text(entries: Mapping[str, str]) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = {}
    for name, text in entries.items():
        groups.setdefault(text, []).append(name)
    return groups
