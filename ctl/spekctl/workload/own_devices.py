# SPDX-License-Identifier: GPL-2.0-or-later
"""Devices that address ranges have of their own; the others are striped over the other devices.

--device takes a path, or ASU=PATH, which sets `device` of that [[asu]].
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from spekctl.errors import UsageError
from spekctl.suggest import did_you_mean
from spekctl.workload.meaning import asus_of, replays
from spekctl.workload.model import WorkloadFile


def named(word: str) -> tuple[str, str]:
    """The asu and the path of a word of --device; the asu is empty if the word names none."""
    name, equals, path = word.partition("=")
    # A path with an '=' in it, such as /dev/disk/by-partlabel/a=b, has a slash before that.
    return (name, path) if equals and "/" not in name else ("", word)


def taken(workload: WorkloadFile, words: Sequence[str]) -> tuple[WorkloadFile, list[str]]:
    """The workload with the devices that words of --device give its asus, and all paths: those for
    the whole run, then those of asus in their order, each once."""
    given: dict[str, str] = {}
    shared: list[str] = []
    names = [asu.name for asu in asus_of(workload)]
    for name, path in map(named, words):
        if not name:
            shared.append(path)
            continue
        if not path:
            raise UsageError(f"--device {name}= names no device")
        if not path.isprintable():
            raise UsageError(f"--device {name}={path!r}: a path in a workload is text on a line")
        if replays(workload):
            raise UsageError(
                f"--device {name}={path}: {workload.workload.name} replays a trace, whose addresses"
                " are on all devices"
            )
        if name not in names:
            hint = did_you_mean(name, names) or "; known are " + ", ".join(names)
            raise UsageError(f"--device {name}={path}: there is no asu '{name}'{hint}")
        if name in given:
            raise UsageError(
                f"asu '{name}' is given two devices, {given[name]} and {path}; it has one of its"
                " own, or is striped over all that no asu has"
            )
        given[name] = path
    if given:
        asus = [
            msgspec.structs.replace(asu, device=given.get(asu.name, asu.device))
            for asu in asus_of(workload)
        ]
        workload = msgspec.structs.replace(workload, asu=asus)
    own = dict.fromkeys(asu.device for asu in workload.asu if asu.device is not None)
    return workload, [*shared, *(path for path in own if path not in shared)]


def check_named(workload: WorkloadFile, words: Sequence[str]) -> None:
    """Refuse a device that only the file names: a run must not claim, let alone write, a device
    that its user has not named."""
    given = {path for _, path in map(named, words)}
    for asu in workload.asu:
        if asu.device is not None and asu.device not in given:
            raise UsageError(
                f"asu '{asu.name}' of {workload.workload.name} has a device of its own,"
                f" {asu.device!r}: name it as well, as --device {asu.name}=DEV"
            )


def text(workload: WorkloadFile) -> str:
    """``asu1 on /dev/sda, asu3 on /dev/sdb``; empty if all asus are striped."""
    return ", ".join(
        f"{asu.name} on {asu.device}" for asu in workload.asu if asu.device is not None
    )


def place_text(workload: WorkloadFile) -> str:
    """The same with what the others are on; empty if all asus are striped."""
    placed = text(workload)
    others = [asu.name for asu in workload.asu if asu.device is None]
    if not placed or not others:
        return placed
    return f"{placed}, {', '.join(others)} on the other devices"


def are_all(workload: WorkloadFile) -> bool:
    """True if every asu has a device of its own, so that the run needs no other."""
    return all(asu.device is not None for asu in asus_of(workload))


def placed(workload: WorkloadFile, paths: Sequence[str]) -> dict[str, list[int]]:
    """The devices of each asu, as indices of @paths, which are all of the run."""
    index = {path: number for number, path in enumerate(paths)}
    asus = asus_of(workload)
    own = {asu.device for asu in asus if asu.device is not None}
    shared = [number for number, path in enumerate(paths) if path not in own]
    places: dict[str, list[int]] = {}
    for asu in asus:
        if asu.device is None:
            if not shared:
                raise UsageError(
                    f"asu '{asu.name}' has no device: give one with --device DEV or --device"
                    f" {asu.name}=DEV"
                )
            places[asu.name] = shared
        elif asu.device not in index:
            raise UsageError(
                f"asu '{asu.name}': its device, {asu.device}, is none of the run's:"
                f" {', '.join(paths)}"
            )
        else:
            places[asu.name] = [index[asu.device]]
    if shared and are_all(workload):
        raise UsageError(
            f"no address range would be on {paths[shared[0]]}: every asu has a device of its own"
        )
    return places


def at(workload: WorkloadFile, path_of: dict[str, str]) -> WorkloadFile:
    """The workload with other paths of the same devices; @path_of: path as given, path to use."""
    asus = [
        asu
        if asu.device is None
        else msgspec.structs.replace(asu, device=path_of.get(asu.device, asu.device))
        for asu in workload.asu
    ]
    return msgspec.structs.replace(workload, asu=asus)
