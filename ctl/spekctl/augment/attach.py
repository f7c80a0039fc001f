# SPDX-License-Identifier: GPL-2.0-or-later
"""Attaches a cache again: finds the devices of its set by their superblocks.

They have the name of the RAID as well (raid_name.py). Superblocks of an earlier version have none,
nor have those of a RAID without a name: then what can be checked is that it is as long as the log
wants it.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar
from uuid import UUID

from spekctl import units
from spekctl.augment import hold, log, raid_name, sets
from spekctl.augment.create import (
    NAMELESS,
    SECTORS,
    Count,
    check_apart,
    check_policy,
    not_counted,
    number_of,
    raid_blocks,
    with_stripe,
)
from spekctl.augment.format import SSD, name_of
from spekctl.augment.mapper import OLDER, Mapper, check_name
from spekctl.augment.reader import Reader
from spekctl.augment.sets import ForeignError, MissingError, Part, Set
from spekctl.augment.table import MISSING, Policy, Table, features
from spekctl.block import augmented, safety
from spekctl.block import device as devices
from spekctl.block.augmented import BLOCK_BYTES
from spekctl.block.device import ROOTS, Device, Roots
from spekctl.errors import RefusedError, SpekError, UsageError
from spekctl.kernel.records import ClaimInfo, RunInfo

LOOK_S = 0.5
T = TypeVar("T")


class NothingError(UsageError):
    """There is no set, or no RAID; they may still come."""


class NamelessError(RefusedError):
    """The RAID has no name to be compared; udev may still find one."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What the user asks for. @without: numbers of devices to do without; @gives_up: the log may
    end at a block that cannot be read; @new_raid: the RAID as Device.is_named_by() knows it, to be
    taken although superblocks name another one."""

    name: str
    raid: Device
    candidates: tuple[Device, ...]
    without: Collection[int] = ()
    policy: Policy = field(default_factory=Policy)
    gives_up: bool = False
    new_raid: str | None = None


@dataclass(frozen=True, slots=True)
class Attached:
    """A cache that is attached."""

    node: str
    uuid: UUID
    remarks: tuple[str, ...]


def scan(uuid: UUID | None = None, roots: Roots = ROOTS) -> list[Device]:
    """All devices of a set that nobody uses; UsageError if there are several sets, and none is
    named, NothingError if there is no set, with the devices whose superblocks are of another
    version of the format. A disk that is in use is not read."""
    pairs: list[tuple[Device, Part]] = []
    foreign: list[str] = []
    for device in devices.every(roots):
        if safety.verdict(device, roots):
            continue
        try:
            part = read(device)
        except ForeignError as error:
            foreign.append(error.message)
            continue
        except SpekError:
            continue
        if part is not None and uuid in (None, part.newest.uuid):
            pairs.append((device, part))
    known = sets.by_set(part for _, part in pairs)
    if not known:
        which = f"set {uuid}" if uuid else "any set"
        raise NothingError("; ".join([f"no free device has a superblock of {which}", *foreign]))
    if len(known) > 1:
        listed = "; ".join(
            f"{identity} ({', '.join(part.path for part in parts)})"
            for identity, parts in known.items()
        )
        raise UsageError(f"there are several sets: {listed}; name one by --uuid")
    return [device for device, _ in pairs]


def patiently(
    attempt: Callable[[], T],
    wait_ns: int,
    pause: Callable[[float], None] = time.sleep,
    clock: Callable[[], int] = time.monotonic_ns,
) -> T:
    """Try again while a device is missing, as disks come one after the other at boot."""
    end_ns = clock() + wait_ns
    while True:
        try:
            return attempt()
        except (MissingError, NothingError, NamelessError):
            if clock() >= end_ns:
                raise
        pause(LOOK_S)


def raid_at(path: str) -> Device:
    """The RAID; NothingError if there is none yet."""
    if not os.path.exists(path):
        raise NothingError(f"there is no device {path}")
    (raid,) = devices.targets([path])
    return raid


def read(device: Device) -> Part | None:
    """The superblocks of a device."""
    with Reader(device.path, (device.major, device.minor)) as reader:
        return sets.read(device.path, reader)


def attach(
    mapper: Mapper,
    wish: Wish,
    runs: Iterable[RunInfo] = (),
    claims: Iterable[ClaimInfo] = (),
    roots: Roots = ROOTS,
    count: Count = not_counted,
) -> Attached:
    """Attach the set that the devices are. @count: as of create()."""
    check_name(wish.name)
    known = sets.gather(_parts(wish.candidates))
    chosen = sets.leave_out(known, wish.without)
    by_path = {device.path: device for device in wish.candidates}
    used = {number: by_path[part.path] for number, part in chosen.parts.items()}
    newest = chosen.newest
    check_apart(wish.raid, list(used.values()))
    policy = with_stripe(wish.policy, wish.raid)
    check_policy(policy, newest.log_blocks)
    name, remark = _name_of_raid(wish, chosen, mapper.check_target())
    numbers = [number_of(used[number]) if number in used else MISSING for number in chosen.numbers]
    table = Table(
        sectors=raid_blocks(wish.raid) * SECTORS,
        raid=number_of(wish.raid),
        ssd=numbers[SSD],
        spares=tuple(numbers[SSD + 1 :]),
        log_blocks=newest.log_blocks,
        features=(*(("unread", "end") if wish.gives_up else ()), *features(policy, raid=name)),
    )
    everything = [wish.raid, *used.values()]
    runs, claims = list(runs), list(claims)
    # By a claim of its own, which has to be over before the next one. Nothing is overwritten that
    # --destroy could name.
    counted = count([], (), everything)
    with hold.pinned(everything, runs, claims, roots) as look_again:
        with hold.held(everything, runs, claims, roots):
            _check_raid(wish.raid, chosen, used)
        look_again()
        node = mapper.create(wish.name, newest.uuid, table)
    told = (*counted, *([remark] if remark else []), *_remarks(chosen))
    return Attached(node, newest.uuid, told)


def _parts(candidates: Sequence[Device]) -> list[Part]:
    parts = []
    for device in candidates:
        part = read(device)
        if part is None:
            raise UsageError(f"{device.path} has no intact superblock of a cache")
        parts.append(part)
    return parts


def _name_of_raid(wish: Wish, chosen: Set, keeps_names: bool) -> tuple[str | None, str]:
    """The name that superblocks are to have from now on, None: that which they have, and a remark
    for the user. Refuses a RAID that is not the one that they name. @keeps_names: the module has
    the feature for it; without it superblocks lose their names."""
    here = raid_name.of_device(wish.raid)
    text = chosen.newest.raid
    path, identity = wish.raid.path, wish.raid.identity
    if wish.new_raid is not None:
        if not keeps_names:
            raise RefusedError(f"--new-raid is not possible: {OLDER}")
        if not wish.raid.is_named_by(wish.new_raid):
            # Without a name, it may still get the one that is given.
            raise (RefusedError if here else NamelessError)(
                f"--new-raid {wish.new_raid} does not name {path}, which is {identity}"
            )
        former = f"the RAID {text}" if text else "a RAID that no superblock names"
        now = str(here) or f"{identity}, which {NAMELESS}"
        return str(here), f"set {chosen.uuid} was for {former}, and is for {now} now"
    if not text:
        if here and not keeps_names:
            ending = f"is not recorded: {OLDER}"
        else:
            ending = f"is recorded as {here}" if here else f"{NAMELESS} to be recorded"
        remark = f"no superblock of set {chosen.uuid} names the RAID: {path} is taken for it, and"
        return (str(here) or None) if keeps_names else None, f"{remark} {ending}"
    before = raid_name.parse(text)
    if here and raid_name.differ(before, here):
        raise RefusedError(
            f"{path} is the disk {here}, and the log of set {chosen.uuid} is for the RAID {text};"
            f" if they are the same, as behind another controller, give --new-raid {identity}"
        )
    if not raid_name.are_comparable(before, here):
        raise NamelessError(
            f"{path} {NAMELESS} that tells whether it is {text}, the RAID of set {chosen.uuid}; if"
            f" it is, give --new-raid {identity}"
        )
    return None, "" if keeps_names else f"set {chosen.uuid} loses the name of its RAID: {OLDER}"


def _check_raid(device: Device, chosen: Set, used: dict[int, Device]) -> None:
    """Refuse a RAID that cannot be the one of the set."""
    for signature in safety.signatures_on(device, device.diskseq):
        if signature.type == augmented.NAME:
            raise RefusedError(f"{device.path} holds {signature}: it is not the RAID of a cache")
    with contextlib.ExitStack() as stack:
        readers = {
            number: stack.enter_context(
                Reader(used[number].path, (used[number].major, used[number].minor))
            )
            for number in chosen.current
        }
        end = log.follow(chosen.newest, readers, data=False).end
    if end > raid_blocks(device):
        raise RefusedError(
            f"{device.path} has {units.format_bytes(device.bytes)}, and the log has a write that"
            f" ends at {units.format_bytes(end * BLOCK_BYTES)}: it is not the RAID of set"
            f" {chosen.uuid}"
        )


def _remarks(chosen: Set) -> Iterable[str]:
    for number in chosen.missing:
        yield f"{name_of(number)} is missing"
    for number in chosen.stale:
        yield (
            f"{chosen.parts[number].path} ({name_of(number)}) is of an earlier generation: its log"
            " does not count"
        )
