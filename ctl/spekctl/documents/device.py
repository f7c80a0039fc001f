# SPDX-License-Identifier: GPL-2.0-or-later
"""Properties and counters of a block device, from sysfs, as results contain them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

from msgspec import Meta

from spekctl.documents.document import Part


class DeviceFacts(Part, frozen=True):
    """A block device."""

    path: str
    name: str
    major: int
    minor: int
    diskseq: int
    bytes: int
    logical_block: int
    physical_block: int
    model: str
    serial: str
    wwn: str
    driver: str
    rotational: bool
    zoned: str
    scheduler: str
    iostats: str
    nomerges: str


class DiskCounters(Part, frozen=True):
    """Counters of the disk itself (/sys/dev/block/*/stat) that spek's own are compared with."""

    reads: int
    read_sectors: int
    writes: int
    write_sectors: int
    read_ms: Annotated[
        int | None,
        Meta(description="Sum of the times of all reads; null unless the disk takes requests."),
    ] = None
    write_ms: Annotated[int | None, Meta(description="The same of writes.")] = None
    discard_sectors: Annotated[
        int | None, Meta(description="Sectors discarded; null if the disk does not count them.")
    ] = None


class TargetFacts(DeviceFacts, frozen=True):
    """Properties of a target, read before the run."""

    disk_before: DiskCounters | None
    start_bytes: Annotated[
        int | None,
        Meta(description="First byte on its disk, 0 for a disk; null in files of old versions."),
    ] = None

    @property
    def identity(self) -> tuple[str, int | None, int] | None:
        """The same on all hosts of a fleet that reach this device; None if nothing tells."""
        return (self.wwn, self.start_bytes, self.bytes) if self.wwn else None


def of_hosts(targets: Iterable[TargetFacts]) -> list[TargetFacts]:
    """The devices of all hosts of a fleet; what several hosts reach is there once."""
    by_identity: dict[object, TargetFacts] = {}
    for number, target in enumerate(targets):
        by_identity.setdefault(target.identity or number, target)
    return list(by_identity.values())
