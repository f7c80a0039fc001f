# SPDX-License-Identifier: GPL-2.0-or-later
"""Hosts of a file: which devices each has, and its part of the load of a run.

vdbench runs a workload definition once for each of its devices on each of its hosts that has the
device, and splits the definition's rate or skew evenly among these places. It assigns the threads
of a device in turn to the hosts that use it, and those of the next device from the next host on.
Only the first host does sequential I/O to a device.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from spekctl.errors import UsageError
from spekctl.vdbench.parmfile import DEFAULT, Definition

_LOCAL = ("localhost", "127.0.0.1", "::1")
# Words that vdbench replaces by the name and the number of a host in an SD or WD.
_EACH = ("$host", "!host", "#host")

Kinds = Mapping[str, Mapping[str, Definition]]


@dataclass(frozen=True, slots=True)
class Place:
    """A workload definition on a device of a host, all by name."""

    wd: str
    sd: str
    host: str


def matches(pattern: str, name: str) -> bool:
    """Whether a name matches a pattern; vdbench has a * at the end only."""
    if pattern.endswith("*"):
        return name.startswith(pattern[:-1])
    return name == pattern


def system(host: Definition) -> str:
    """The address of a host."""
    return host.given.get("system", [host.name])[0]


def is_local(host: Definition) -> bool:
    """Whether it is the host that vdbench runs on."""
    return system(host) in _LOCAL


def repeated(definitions: Sequence[Definition]) -> list[Definition]:
    """SDs and WDs with $host, !host or #host in them, once for each host, with its name and its
    number from 0 on. UsageError if two of them have one name."""
    labels = [
        definition.name
        for definition in definitions
        if definition.kind == "hd" and definition.name != DEFAULT
    ] or ["localhost"]
    written: list[Definition] = []
    for definition in definitions:
        if definition.kind not in ("sd", "wd") or not any(
            mark in text for text in _texts(definition) for mark in _EACH
        ):
            written.append(definition)
            continue
        for number, host in enumerate(labels):
            copy = _for_host(definition, host, number, len(labels))
            if any((known.kind, known.name) == (copy.kind, copy.name) for known in written):
                raise UsageError(f"there are two definitions {copy.kind}={copy.name}")
            written.append(copy)
    return written


def _texts(definition: Definition) -> Iterator[str]:
    yield definition.name
    for values in definition.given.values():
        yield from values


def _for_host(definition: Definition, host: str, number: int, count: int) -> Definition:
    def replaced(text: str) -> str:
        text = text.replace("#hosts", str(count)).replace("#host", str(number))
        return text.replace("$host", host).replace("!host", host)

    return Definition(
        definition.kind,
        replaced(definition.name),
        {key: [replaced(value) for value in values] for key, values in definition.given.items()},
        [[replaced(name) for name in names] for names in definition.hosts],
    )


def check(by_kind: Kinds) -> Iterator[str]:
    """What is wrong with hosts and the devices that they share, a sentence each."""
    hosts = by_kind["hd"]
    names = hosts or {"localhost": Definition("hd", "localhost")}
    for kind in ("sd", "wd"):
        for definition in by_kind[kind].values():
            for host in definition.given.get("host", []):
                if not any(matches(host, name) for name in names):
                    yield f"{kind}={definition.name}: host: there is no hd={host}"
    if len(hosts) > 1 and all(map(is_local, hosts.values())):
        for definition in by_kind["sd"].values():
            if (
                len(definition.given.get("host", [])) != 1
                or definition.given["host"][0] not in hosts
            ):
                yield (
                    f"sd={definition.name}: host: each of {len(hosts)} hosts would load it;"
                    " name one of them"
                )


def luns(sd: Definition, hosts: Iterable[str]) -> dict[str, str]:
    """The path of a device on each host that has it."""
    path_of: dict[str, str] = {}
    patterns = sd.hosts or [sd.given.get("host", ["*"])]
    for wanted, lun in zip(patterns, sd.given["lun"], strict=True):
        for host in hosts:
            if any(matches(pattern, host) for pattern in wanted):
                path_of[host] = lun
    return path_of


def places(
    wds: Sequence[Definition],
    devices: Mapping[str, Sequence[Definition]],
    sequential: frozenset[str],
    hosts: Sequence[str],
) -> list[Place]:
    """The places of the workload definitions of a run. @devices: the SDs of each definition, by its
    name; @sequential: names of the definitions that are purely sequential."""
    chosen: list[Place] = []
    for wd in wds:
        wanted = wd.given.get("host", ["*"])
        passed: set[str] = set()  # SDs that a host already reads or writes sequentially
        for host in hosts:
            if not any(matches(pattern, host) for pattern in wanted):
                continue
            for sd in devices[wd.name]:
                if host in luns(sd, hosts) and sd.name not in passed:
                    chosen.append(Place(wd.name, sd.name, host))
                    if wd.name in sequential:
                        passed.add(sd.name)
    return chosen


def share(chosen: Sequence[Place], wd: str, host: str) -> Fraction:
    """The part of a workload definition that a host has."""
    of_wd = [place for place in chosen if place.wd == wd]
    return Fraction(sum(place.host == host for place in of_wd), len(of_wd))


def threads(
    chosen: Sequence[Place], requested: Mapping[str, int], hosts: Sequence[str]
) -> dict[tuple[str, str], int]:
    """I/Os outstanding of each device on each host. @requested: of each device in all, in the order
    of the devices. UsageError if a host gets none."""
    given: dict[tuple[str, str], int] = {}
    turn = 0
    for sd, count in requested.items():
        users = {place.host for place in chosen if place.sd == sd}
        owners = [host for host in hosts if host in users]
        if count < len(owners):
            raise UsageError(
                f"threads: {len(owners)} hosts share the {count} threads of sd={sd}; each needs at"
                " least 1"
            )
        if not owners:
            continue
        each, more = divmod(count, len(owners))
        for place, host in enumerate(owners):
            is_first = (place - turn) % len(owners) < more
            given[sd, host] = each + is_first
        turn += count
    return given


def own_devices(
    label: str,
    places: Sequence[Place],
    sds: Mapping[str, Definition],
    threads: Mapping[tuple[str, str], int],
    labels: Sequence[str],
) -> list[Definition]:
    """The devices of a host, with its own paths and its part of their threads."""
    by_wd: dict[str, list[str]] = {}
    for place in places:
        if place.host == label:
            by_wd.setdefault(place.wd, []).append(place.sd)
    first = next(iter(by_wd.values()))
    if any(set(sds_of_wd) != set(first) for sds_of_wd in by_wd.values()):
        raise UsageError(
            f"sd: {' and '.join(f'wd={wd}' for wd in by_wd)} have different devices on this host;"
            " in a fleet, all streams of a host use all its devices"
        )
    return [
        Definition(
            "sd",
            sd,
            {
                **sds[sd].given,
                "lun": [luns(sds[sd], labels)[label]],
                "threads": [str(threads[sd, label])],
            },
        )
        for sd in first
    ]
