# SPDX-License-Identifier: GPL-2.0-or-later
"""The file of write states, which survives unloading the module and rebooting.

JSON; the states of grains are little-endian numbers of 64 bits, compressed, as base64:
4 * generation, plus the content that is known (enum spek_content, kmod/load/core/stamp.h).
"""

from __future__ import annotations

import base64
import re
import sys
import zlib
from array import array
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from spekctl import files
from spekctl.block.device import Device, start_sector
from spekctl.documents import document
from spekctl.documents.device import TargetFacts
from spekctl.documents.document import Document, Kind, Part
from spekctl.errors import UsageError
from spekctl.kernel.client import Kernel
from spekctl.kernel.records import MapInfo, RunInfo
from spekctl.workload.config import RunConfig

STATE = 8
# As in the kernel: SPEK_SECTOR and SPEK_GRAIN_MAX.
LEAST_GRAIN, MOST_GRAIN = 512, 1 << 20
Number = Annotated[int, Meta(ge=0, le=(1 << 63) - 1)]


class States(Part, frozen=True):
    """States of consecutive grains."""

    first: Annotated[Number, Meta(description="Grain, from map_start of the device on.")]
    count: Number
    data: str


class DeviceState(Part, frozen=True):
    """A device, and the write states of its grains."""

    facts: TargetFacts
    map_start: Annotated[Number, Meta(description="First byte that could have been written.")]
    map_bytes: Number
    states: Annotated[list[States], Meta(description="What is missing was never written.")]


def _with_contents(fields: dict[str, Any]) -> None:
    """Upgrade of states that were 2 * generation, plus 1 if the last write had failed."""
    for device in fields["devices"]:
        for part in device["states"]:
            old = array("Q", _unpack(msgspec.convert(part, States)))
            new = array("Q", ((entry >> 1) << 2 | (entry & 1) for entry in old))
            part["data"] = _packed(_little_endian(new.tobytes()))


class SavedState(Document, frozen=True, kw_only=True, tag=Kind.VERIFY_STATE.value):
    """The blocks that a run wrote."""

    UPGRADES = (document.without_origin, _with_contents)

    version: document.Version[Literal[3]] = 3
    config: Annotated[RunConfig, Meta(description="Of the run.")]
    seed: int
    stamp_id: int
    grain_bytes: Annotated[int, Meta(ge=LEAST_GRAIN, le=MOST_GRAIN)]
    devices: list[DeviceState]

    def __post_init__(self) -> None:
        """Check what the types can't say."""
        if self.grain_bytes & (self.grain_bytes - 1):
            raise ValueError(f"grain_bytes is {self.grain_bytes}, not a power of two")
        if not all(0 <= number < 1 << 64 for number in (self.seed, self.stamp_id)):
            raise ValueError("seed and stamp_id must be 0 to 2^64 - 1")


def save(
    path: Path, kernel: Kernel, config: RunConfig, info: RunInfo, facts: Sequence[TargetFacts]
) -> None:
    """Save the state of a run that is DONE."""
    files.write(path, encoded(kernel, config, info, facts))


def encoded(
    kernel: Kernel, config: RunConfig, info: RunInfo, facts: Sequence[TargetFacts]
) -> bytes:
    """The file of a run that is DONE."""
    states: list[list[States]] = [[] for _ in info.targets]
    parts = deque(kernel.map_get(info.id))
    while parts:
        # Each is given back before the next is packed: together they are as large as the map.
        part = parts.popleft()
        states[part.target].append(packed_part(part))
    devices = [
        DeviceState(
            facts=facts[index],
            map_start=target.map_start,
            map_bytes=target.map_bytes,
            states=states[index],
        )
        for index, target in enumerate(info.targets)
    ]
    state = SavedState(
        config=config,
        seed=info.seed,
        stamp_id=info.stamp_id,
        grain_bytes=info.grain_bytes,
        devices=devices,
    )
    return files.encode(state)


def load(path: Path) -> SavedState:
    """Read the state of a run from a file."""
    return document.read(path, SavedState)


def parts_of(state: SavedState, path: Path) -> list[MapInfo]:
    """The states in the kernel's format."""
    try:
        return [
            MapInfo(target=index, first=part.first, states=_unpack(part))
            for index, device in enumerate(state.devices)
            for part in device.states
        ]
    except ValueError as error:
        raise UsageError(f"{path} is damaged: {error}") from error


def in_order(state: SavedState, devices: Sequence[Device]) -> list[Device]:
    """The devices in the order of the file, as far as serial numbers, WWNs and places on a disk
    tell them apart. A run has devices that asus have of their own after those that it is striped
    over, however they were named."""
    left = list(devices)
    places: dict[int, Device] = {}
    # One that has exactly the saved names is not left to one that had none.
    for are_same in (_are_equal, _may_be_same):
        for place, saved in enumerate(state.devices):
            same = [device for device in left if are_same(saved.facts, device)]
            if place not in places and same:
                left.remove(same[0])
                places[place] = same[0]
    if len(places) < len(state.devices):
        return list(devices)  # check_devices() says what is wrong
    return [places[place] for place in sorted(places)] + left


def alike(devices: Sequence[Device]) -> list[Device]:
    """Devices that nothing tells apart from another one: they have to be given in order."""
    known = [(*_identity(device), start_sector(device)) for device in devices]
    return [device for device, each in zip(devices, known, strict=True) if known.count(each) > 1]


def _are_equal(facts: TargetFacts, device: Device) -> bool:
    return _identity(facts) == _identity(device) and _is_there(facts, device)


def _is_there(facts: TargetFacts, device: Device) -> bool:
    """At its place on the disk: partitions have the serial number and WWN of their disk."""
    was, now = _place(facts, device)
    return was == now


def _place(facts: TargetFacts, device: Device) -> tuple[str, str]:
    """Where a device was on its disk, and where it is now. Earlier versions had nothing of that but
    the number of a partition, at the end of its name."""
    if facts.start_bytes is not None:
        return f"byte {facts.start_bytes}", f"byte {start_sector(device) * 512}"
    if not device.partition:
        return "", ""
    number = re.search(r"\d+$", facts.name)
    return f"partition {number[0] if number else 0}", f"partition {device.partition}"


def _may_be_same(facts: TargetFacts, device: Device) -> bool:
    sizes = (facts.bytes, facts.logical_block) == (device.bytes, device.logical_block)
    names = ((facts.serial, device.serial), (facts.wwn, device.wwn))
    alike_named = all(not was or was == now for was, now in names)
    return sizes and alike_named and _is_there(facts, device)


def _identity(device: Device | TargetFacts) -> tuple[str, str, int, int]:
    return device.serial, device.wwn, device.bytes, device.logical_block


def check_devices(path: Path, state: SavedState, devices: Sequence[Device]) -> None:
    """The devices must be those of the file, whatever they are called now. A serial number or WWN
    counts if it was known then: earlier versions had none of md arrays."""
    if len(devices) != len(state.devices):
        raise UsageError(
            f"{path} is about {len(state.devices)} devices, {len(devices)} were given; name all of"
            f" them: {', '.join(saved.facts.path for saved in state.devices)}, as they were called"
        )
    for device, saved in zip(devices, state.devices, strict=True):
        facts = saved.facts
        for what, was, now in (
            ("serial number", facts.serial, device.serial),
            ("WWN", facts.wwn, device.wwn),
            ("capacity", f"{facts.bytes} bytes", f"{device.bytes} bytes"),
            ("logical block", f"{facts.logical_block} bytes", f"{device.logical_block} bytes"),
            ("place on the disk", *_place(facts, device)),
        ):
            if was and was != now:
                raise UsageError(
                    f"{device.path} is not the device that {path} is about: its {what} is"
                    f" {now or 'missing'}, that of {facts.path} was {was}"
                )


def packed_part(part: MapInfo) -> States:
    """States as the file has them."""
    return States(part.first, len(part.states) // STATE, _packed(_little_endian(part.states)))


def _packed(data: bytes) -> str:
    return base64.b64encode(zlib.compress(data, 1)).decode()


def _unpack(states: States) -> bytes:
    """The states in the machine's byte order; ValueError if they are damaged."""
    try:
        data = zlib.decompress(base64.b64decode(states.data, validate=True))
    except zlib.error as error:
        raise ValueError(str(error)) from error
    if len(data) != states.count * STATE:
        raise ValueError("its number of states is wrong")
    return _little_endian(data)


def _little_endian(data: bytes) -> bytes:
    """Convert from or to the byte order of the machine."""
    if sys.byteorder == "little":
        return data
    numbers = array("Q", data)
    numbers.byteswap()
    return numbers.tobytes()
