# SPDX-License-Identifier: GPL-2.0-or-later
"""What a disk itself says of blocks that hold nothing, before a run reads them.

SBC-4, GET LBA STATUS: whether the logical blocks from an address on are mapped. It is asked for
addresses at equal distances in what the run reads on a disk. NVM Command Set Specification,
Identify Namespace: NUSE, the number of allocated blocks, of NCAP that can be; DLFEAT, the contents
of the others. A controller that keeps no count reports all as allocated.

A disk is asked under the claim only, and only if it is up: no disk is woken. One that does not
answer is not mentioned, as most disks have neither.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from spekctl import recorded
from spekctl.block import provisioning
from spekctl.block.device import ROOTS, Device, Roots
from spekctl.documents.disk_states import PowerState
from spekctl.errors import SpekError
from spekctl.power import disk as disks
from spekctl.power import look, scsi
from spekctl.power.disk import Disk, Protocol
from spekctl.power.passthrough import Channel, Node, Opener
from spekctl.workload.config import RunConfig

SAMPLES = 64
_AWAKE = (PowerState.ACTIVE, PowerState.IDLE, PowerState.IDLE_A, PowerState.ACTIVE_OR_IDLE)
# SERVICE ACTION IN (16); the header of its data, and a descriptor.
_ACTION_IN, _GET_LBA_STATUS = 0x9E, 0x12
_HEADER, _DESCRIPTOR = 8, 16
# A disk may have several unit attentions to report, each by failing a command.
_ATTENTIONS = 8
_DEALLOCATED, _ANCHORED = 1, 2
_IDENTIFY, _NAMESPACE, _IDENTIFY_BYTES = 0x06, 0, 4096
_NCAP, _NUSE, _DLFEAT = 8, 16, 33
_CONTENTS = {1: "return zeroes", 2: "return bytes of FFh"}

Place = tuple[int, int]  # first byte, and number of bytes


def remarks(
    on: Sequence[Device],
    config: RunConfig,
    open_node: Opener = Node,
    roots: Roots = ROOTS,
) -> list[str]:
    """Sentences about the devices of a run that is claimed and not yet started."""
    texts = []
    for index, device in enumerate(on):
        unwritten = provisioning.of(device)
        places = _read(config, index)
        disk = _disk_of(device, roots) if unwritten is not None and places else None
        if unwritten is None or disk is None:
            continue
        text = _ask(disk, device, places, unwritten.likely, open_node)
        if text:
            texts.append(recorded.text(f"{device.path}: {text}"))
    return texts


def _read(config: RunConfig, target: int) -> list[Place]:
    """What streams read of a target; of a striped range all of its part there."""
    places = set[Place]()
    for stream in config.streams:
        if not stream.weight or not stream.read_ppm or stream.operation != "transfer":
            continue
        asu = config.asus[stream.asu]
        for extent in asu.extents:
            if extent.target != target:
                continue
            if len(asu.extents) == 1:
                places.add((extent.start + stream.range_start, stream.range_bytes))
            else:
                places.add((extent.start, asu.bytes // len(asu.extents)))
    return sorted(places)


def _disk_of(device: Device, roots: Roots) -> Disk | None:
    """The disk that the device is, or that it is a partition of."""
    whole = device.sysfs.parent if device.partition else device.sysfs
    if any((whole / "slaves").glob("*")):
        return None
    below = disks.below(device, roots)
    return below[0] if len(below) == 1 and below[0].place is not None else None


def _ask(
    disk: Disk, device: Device, places: Sequence[Place], likely: bool, open_node: Opener
) -> str:
    """The sentence, or empty."""
    if disk.protocol not in (Protocol.SCSI, Protocol.NVME) or disk.place is None:
        return ""
    try:
        if look.Observer(disk, open_node).look().state not in _AWAKE:
            return ""
        channel = open_node(disk.place)
        try:
            if disk.protocol is Protocol.NVME:
                return _namespace(channel, _number(disk.device.sysfs / "nsid"))
            first = _number(device.sysfs / "start") * 512 if device.partition else 0
            return _sampled(channel, device.logical_block, first, places, likely)
        finally:
            channel.close()
    except (SpekError, OSError):
        return ""


def _sampled(
    channel: Channel, block_bytes: int, first: int, places: Sequence[Place], likely: bool
) -> str:
    empty = asked = 0
    for place in spread(places, block_bytes):
        mapped = _is_mapped(channel, (first + place) // block_bytes)
        if mapped is None:
            return ""
        asked += 1
        empty += not mapped
    if not empty:
        return f"all of {asked} blocks that it was asked for hold data" if likely and asked else ""
    return (
        f"{empty} of {asked} blocks at equal distances in what is read hold nothing, says the disk;"
        " reads of these do not reach the medium"
    )


def spread(places: Sequence[Place], block_bytes: int, count: int = SAMPLES) -> list[int]:
    """First bytes of at most @count blocks at equal distances in all of @places."""
    total = sum(size for _, size in places) // block_bytes
    number = min(count, total)
    starts = []
    for each in range(number):
        left = (2 * each + 1) * total // (2 * number) * block_bytes
        for start, size in places:
            if left < size:
                starts.append(start + left)
                break
            left -= size
    return starts


def _is_mapped(channel: Channel, block: int) -> bool | None:
    """Whether the disk stores something for a block; None: it does not say."""
    length = _HEADER + _DESCRIPTOR
    cdb = bytes([_ACTION_IN, _GET_LBA_STATUS, *block.to_bytes(8), *length.to_bytes(4), 0, 0])
    for _ in range(_ATTENTIONS):
        reply = channel.scsi(cdb, length)
        if not scsi.is_attention(reply.sense):
            break
    if reply.host or reply.status or len(reply.data) < length:
        return None
    descriptor = reply.data[_HEADER:]
    start, blocks = int.from_bytes(descriptor[:8]), int.from_bytes(descriptor[8:12])
    if not start <= block < start + blocks:
        return None
    return descriptor[12] & 0x0F not in (_DEALLOCATED, _ANCHORED)


def _namespace(channel: Channel, number: int) -> str:
    reply = channel.nvme(_IDENTIFY, (_NAMESPACE,), _IDENTIFY_BYTES, number)
    if reply.status or len(reply.data) < _IDENTIFY_BYTES:
        return ""
    capacity, used = (int.from_bytes(reply.data[at : at + 8], "little") for at in (_NCAP, _NUSE))
    if used >= capacity:
        return ""
    contents = _CONTENTS.get(reply.data[_DLFEAT] & 7, "return what it does not say")
    return (
        f"its controller counts {used / capacity:.1%} of the namespace as allocated; reads of the"
        f" other blocks {contents}, and need not reach the medium"
    )


def _number(path: Path) -> int:
    """A number of sysfs; OSError if there is none."""
    text = path.read_text(encoding="ascii", errors="replace").strip()
    if not text.isdecimal():
        raise OSError(f"{path} is not a number")
    return int(text)
