# SPDX-License-Identifier: GPL-2.0-or-later
"""What importers of other programs' files deliver: a workload, and the report of its making."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction

from spekctl.workload.model import WorkloadFile
from spekctl.workload.values import NAME_LEN_MAX

# Permission to write comes from the user, never from a file.
NEVER = frozenset({"--write", "--destroy"})
# Prefix of the option that names a device.
_DEVICE = "--device "
# \\.\PhysicalDrive1, \\?\Volume{...}, and the same with slashes.
_WINDOWS_DISK = re.compile(r"[\\/]{2}[.?][\\/]")
# No option of ssh, and nothing that a shell or ssh would take apart.
_SSH = re.compile(r"[A-Za-z0-9_\[][A-Za-z0-9_.:@%/\[\]+-]*", re.ASCII)
_HOST_NAME_MAX = 63
# Folders of keys of a fleet that are not those of a host.
_RESERVED = ("controller", "authority")


@dataclass(frozen=True, slots=True)
class Client:
    """A host that sends the load, as a plan of a fleet has it.

    @origin: what the file calls it
    @ssh: where a controller starts it over SSH; empty: it is started by other means
    @options: of `spekctl run` on this host alone, without their dashes
    """

    name: str
    origin: str
    ssh: str
    devices: tuple[str, ...]
    options: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RateOf:
    """A rate that is known when a step before has been measured: @share of the I/Os per second of
    the one @back steps before."""

    back: int
    share: Fraction

    def of(self, iops: float) -> int:
        """I/Os per second, if the other step has had so many: rounded up to a multiple of 10, or
        above 1000 of 100, as vdbench does."""
        rate = int(round(iops) * self.share)
        unit = 100 if rate > 1000 else 10
        return -(-rate // unit) * unit


@dataclass(slots=True)
class Imported:
    """A workload, and notes for the user on how it was imported.

    @clients: hosts that run it together; empty: it is for this host
    @between: of the first of several steps: why a single command cannot run all of them
    """

    workload: WorkloadFile
    program: str  # whose file it was
    command_line: list[str] = field(default_factory=list)
    mapped: dict[str, str] = field(default_factory=dict)
    not_needed: dict[str, str] = field(default_factory=dict)
    differences: list[str] = field(default_factory=list)
    beside: bool = False  # it starts with the workload before it, on other devices
    rate_of: RateOf | None = None  # of its rate, which the workload has a number for
    clients: list[Client] = field(default_factory=list)
    between: str = ""


def device_option(path: str) -> str:
    """The option of `spekctl run` that names a device."""
    return _DEVICE + shlex.quote(path)


def devices_of(command_line: Iterable[str]) -> list[str]:
    """The devices that the options of @command_line name."""
    named = (text for text in command_line if text.startswith(_DEVICE))
    return ["".join(shlex.split(text)[1:]) for text in named]


def without_devices(command_line: Iterable[str]) -> list[str]:
    """The other options."""
    return [text for text in command_line if not text.startswith(_DEVICE)]


def is_windows_disk(path: str) -> bool:
    """Whether a path names a disk as Windows does."""
    return _WINDOWS_DISK.match(path) is not None


def is_ssh_destination(text: str) -> bool:
    """Whether @text is HOST, USER@HOST or ssh://USER@HOST:PORT, and neither an option of ssh nor
    anything else that it would execute."""
    return _SSH.fullmatch(text) is not None


def word(text: str, taken: set[str]) -> str:
    """A name of a workload, other than those in @taken, to which it is added."""
    base = re.sub(r"[^A-Za-z0-9._-]", "-", text).lstrip("._-")[:NAME_LEN_MAX] or "job"
    name, count = base, 1
    while name in taken:
        count += 1
        tail = f".{count}"
        name = base[: NAME_LEN_MAX - len(tail)] + tail
    taken.add(name)
    return name


def host_names(labels: Iterable[str]) -> dict[str, str]:
    """Names that hosts of a fleet can have, each its own: letters, digits, '-' and '.'."""
    chosen: dict[str, str] = {}
    for host in labels:
        base = (
            re.sub(r"[^A-Za-z0-9.-]", "-", host).strip("-.")[:_HOST_NAME_MAX].rstrip("-.") or "host"
        )
        name, number = base, 1
        while name in (*chosen.values(), *_RESERVED):
            number += 1
            name = f"{base[: _HOST_NAME_MAX - 7]}-{number}"
        chosen[host] = name
    return chosen
