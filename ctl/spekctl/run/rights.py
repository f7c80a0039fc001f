# SPDX-License-Identifier: GPL-2.0-or-later
"""What a run needs root's rights for, beside the messages to the kernel side.

A process that has them does it itself; another one asks a helper (host/remote.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Protocol

from spekctl.block import openers, safety, zones
from spekctl.block.blkid import Signature
from spekctl.block.device import Device
from spekctl.block.zones import Zone
from spekctl.documents.device import DeviceFacts
from spekctl.kernel.records import ClaimInfo, RunInfo
from spekctl.log.buffer import Buffer, open_buffer
from spekctl.run import candidates
from spekctl.run.candidates import Candidate

if TYPE_CHECKING:
    from spekctl.block.opening import Number
    from spekctl.power.look import Told
    from spekctl.power.nvme_log import Asked
    from spekctl.power.passthrough import NvmeReply


class Overwriting(Protocol):
    """The part of a request that says what may be overwritten."""

    @property
    def devices(self) -> Sequence[Device]: ...
    @property
    def write_allowed(self) -> bool: ...
    @property
    def destroy(self) -> Sequence[str]: ...


@dataclass(frozen=True, slots=True)
class Looked:
    """What a look under a claim saw: the data on each device, by device number, that the runs under
    the claim may overwrite, and the remarks on them. Looks of a helper stay there."""

    data: Mapping[tuple[int, int], tuple[int, Sequence[Signature]]]
    remarks: Sequence[str]


class Rights:
    """Those of this process."""

    # Whether this process may open disks.
    opens_disks = True

    def look(self, claim: ClaimInfo, wish: Overwriting) -> Looked:
        """Refuse a claim whose runs would overwrite data without permission."""
        return look_at(wish.devices, claim, wish.destroy, wish.write_allowed)

    def check_write(
        self, get: Callable[[], RunInfo], wish: Overwriting, looked: Looked | None
    ) -> list[str]:
        """Refuse that a READY run overwrites data without permission, or a device that an unknown
        user has open; remarks on what it will. @get asks the kernel for the run. @looked: of the
        claim whose devices it borrows."""
        return check_each(get, wish.devices, wish.destroy, wish.write_allowed, looked)

    def candidates(self) -> list[Candidate]:
        """All block devices, and how each can be tested."""
        return candidates.every()

    def zones(self, disk: DeviceFacts, start: int = 0, count: int | None = None) -> list[Zone]:
        """Zones of a disk that a run is or was on; see block.zones.report()."""
        return zones.report(disk, start, count)

    def nvme(self, disk: Device, controller: Number, asked: Asked) -> NvmeReply:
        """Ask the controller with this device number, of an NVMe disk that a run is or was on, or
        that its target lies on; a SpekError says why it cannot be asked."""
        from spekctl.power import nvme_log

        return nvme_log.ask_disk(disk, controller, asked)

    def power_asker(self, disk: Device) -> Callable[[], Told] | None:
        """What asks a disk for its power state in place of this process, a disk that a run is or
        was on, or that its target lies on; None: this process may ask it."""
        return None

    def open_log(self, info: RunInfo, worker: int) -> Buffer:
        """The log's records of a worker; a SpekError says why they cannot be read."""
        return open_buffer(info, worker)


def _written(
    devices: Sequence[Device], info: ClaimInfo | RunInfo
) -> Iterator[tuple[int, Device, int]]:
    """The claimed devices that may be written, with their places and disk numbers. The kernel says
    which these are: it refuses to write the others."""
    for index, (device, target) in enumerate(zip(devices, info.targets, strict=True)):
        if info.write and not target.read_only:
            yield index, device, target.diskseq


def look_at(
    devices: Sequence[Device], claim: ClaimInfo, destroy: Sequence[str], write_allowed: bool
) -> Looked:
    """See Rights.look(); @devices: those of the claim."""
    data: dict[tuple[int, int], tuple[int, Sequence[Signature]]] = {}
    remarks = []
    for _, device, diskseq in _written(devices, claim):
        signatures, remark = safety.look(
            device, diskseq, destroy, write_allowed, known=candidates.runs_and_claims
        )
        data[device.major, device.minor] = diskseq, signatures
        if remark:
            remarks.append(remark)
    return Looked(data, remarks)


def check_each(
    get: Callable[[], RunInfo],
    devices: Sequence[Device],
    destroy: Sequence[str],
    write_allowed: bool,
    looked: Looked | None,
) -> list[str]:
    """See Rights.check_write()."""
    remarks: list[str | None] = []
    written = list(_written(devices, get()))
    for _, device, diskseq in written:
        seen = looked.data.get((device.major, device.minor)) if looked is not None else None
        if seen is None:
            remarks.append(
                safety.check_write(
                    device, diskseq, destroy, write_allowed, known=candidates.runs_and_claims
                )
            )
        else:
            safety.check_again(device, *seen, known=candidates.runs_and_claims)
    for index, device, _ in written:
        remarks.append(openers.check(device, partial(_opens, get, index), destroy))
    return [remark for remark in remarks if remark]


def _opens(get: Callable[[], RunInfo], index: int) -> int:
    return get().targets[index].opens


OWN = Rights()
