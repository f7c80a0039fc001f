# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes a cache of a RAID, an SSD and a spare area on each member.

The RAID keeps its contents. The SSD and the spare areas are overwritten, and looked at as the
devices of a run that writes are.
"""

from __future__ import annotations

import dataclasses
import uuid
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from spekctl import units
from spekctl.augment import hold, raid_name
from spekctl.augment.format import (
    LEAST_LOG_BLOCKS,
    LOG_START,
    MEMBERS,
    MOST_LOG_BLOCKS,
    RECORD_BLOCKS,
)
from spekctl.augment.mapper import OLDER, Mapper, check_name
from spekctl.augment.table import Policy, Table, features
from spekctl.block import augmented, safety
from spekctl.block import device as devices
from spekctl.block.augmented import BLOCK_BYTES
from spekctl.block.device import ROOTS, Device, Roots
from spekctl.errors import RefusedError, UsageError
from spekctl.kernel.records import ClaimInfo, RunInfo
from spekctl.power import disk

SECTORS = BLOCK_BYTES // 512
NAMELESS = "has no WWN, serial number or UUID"
MOST_STRIPE_BLOCKS = 1024
MOST_PREFETCH_BLOCKS = 16


@dataclass(frozen=True, slots=True)
class Wish:
    """What the user asks for. @log_bytes: None: as long as the devices allow."""

    name: str
    raid: Device
    ssd: Device
    spares: tuple[Device, ...]
    log_bytes: int | None = None
    policy: Policy = field(default_factory=Policy)
    destroy: Sequence[str] = ()

    @property
    def overwritten(self) -> list[Device]:
        """The SSD and the spare areas."""
        return [self.ssd, *self.spares]


Count = Callable[[Sequence[Device], Sequence[str], Sequence[Device]], list[str]]


def not_counted(
    overwritten: Sequence[Device], destroy: Sequence[str], kept: Sequence[Device]
) -> list[str]:
    """For those that do not ask the kernel."""
    return []


@dataclass(frozen=True, slots=True)
class Created:
    """A cache that is attached."""

    node: str
    uuid: UUID
    log_blocks: int
    remarks: tuple[str, ...]


def create(
    mapper: Mapper,
    wish: Wish,
    runs: Iterable[RunInfo] = (),
    claims: Iterable[ClaimInfo] = (),
    roots: Roots = ROOTS,
    count: Count = not_counted,
) -> Created:
    """Check everything first, then let the module write superblocks and serve the RAID. @count:
    refuses devices that users in the kernel have open whom nothing names; remarks."""
    check_name(wish.name)
    if not 1 <= len(wish.spares) <= MEMBERS:
        raise UsageError(f"a RAID has 1 to {MEMBERS} members, each with a --spare")
    safety.check_named(wish.overwritten, wish.destroy)
    check_apart(wish.raid, wish.overwritten)
    _check_disks(wish.ssd, wish.spares, roots)
    log_blocks = log_blocks_of(wish)
    policy = with_stripe(wish.policy, wish.raid)
    check_policy(policy, log_blocks)
    keeps_names = mapper.check_target()
    runs, claims = list(runs), list(claims)
    identity = uuid.uuid4()
    name = raid_name.of_device(wish.raid)
    used = [wish.raid, *wish.overwritten]
    # By a claim of its own, which has to be over before the next one.
    remarks: list[str | None] = [*count(wish.overwritten, wish.destroy, [wish.raid])]
    with hold.pinned(used, runs, claims, roots) as look_again:
        with hold.held(used, runs, claims, roots):
            remarks.append(_look_at_raid(wish))
            for device in wish.overwritten:
                _, remark = safety.look(
                    device, device.diskseq, wish.destroy, True, roots, lambda: (runs, claims)
                )
                remarks.append(remark)
        table = Table(
            sectors=raid_blocks(wish.raid) * SECTORS,
            raid=number_of(wish.raid),
            ssd=number_of(wish.ssd),
            spares=tuple(map(number_of, wish.spares)),
            log_blocks=log_blocks,
            features=features(policy, identity, str(name) if name and keeps_names else None),
        )
        look_again()
        node = mapper.create(wish.name, identity, table)
    if not name:
        remarks.append(f"{wish.raid.path} {NAMELESS}: attach cannot tell it from another RAID")
    elif not keeps_names:
        remarks.append(f"attach cannot tell {wish.raid.path} from another RAID: {OLDER}")
    told = tuple(remark for remark in remarks if remark)
    return Created(node, identity, log_blocks, told)


def number_of(device: Device) -> str:
    """As a table names it."""
    return f"{device.major}:{device.minor}"


def raid_blocks(raid: Device) -> int:
    """Its size in whole blocks."""
    if raid.logical_block > BLOCK_BYTES:
        raise UsageError(f"{raid.path} has blocks of {raid.logical_block} bytes; 4096 are allowed")
    blocks = raid.bytes // BLOCK_BYTES
    if not blocks:
        raise UsageError(f"{raid.path} is shorter than a block of 4 KiB")
    return blocks


def check_apart(raid: Device, used: Sequence[Device]) -> None:
    """UsageError for devices that lie on the same bytes, or are zoned."""
    everything = [raid, *used]
    for index, device in enumerate(everything):
        if device.zoned not in ("none", ""):
            raise UsageError(f"{device.path} is zoned, and the cache writes anywhere")
        for before in everything[:index]:
            if (device.major, device.minor) == (before.major, before.minor):
                raise UsageError(f"{before.path} and {device.path} are the same device")
            if devices.same_bytes(before, device):
                raise UsageError(f"{before.path} and {device.path} lie on the same bytes")


def _check_disks(ssd: Device, spares: Sequence[Device], roots: Roots) -> None:
    """A record has two copies so that one survives the loss of any disk."""
    owners: dict[str, Device] = {}
    for device in (ssd, *spares):
        for below in disk.below(device, roots):
            for name in (below.device.disk, *below.device.other_paths):
                before = owners.setdefault(name, device)
                if before is not device:
                    raise UsageError(
                        f"{before.path} and {device.path} are both on {below.node}: with this disk"
                        " both copies of a write would be lost"
                    )


def log_blocks_of(wish: Wish) -> int:
    """The length of the log: as asked for, or as long as the shortest spare area, at most half of
    the SSD."""
    shortest = min(wish.spares, key=lambda spare: spare.bytes)
    spare_blocks = shortest.bytes // BLOCK_BYTES - LOG_START
    ssd_blocks = wish.ssd.bytes // BLOCK_BYTES - LOG_START
    if wish.log_bytes is None:
        blocks = min(spare_blocks, ssd_blocks // 2, MOST_LOG_BLOCKS)
        if blocks < LEAST_LOG_BLOCKS:
            small = shortest if spare_blocks < LEAST_LOG_BLOCKS else wish.ssd
            raise UsageError(
                f"{small.path} has {units.format_bytes(small.bytes)}; the log has at least"
                f" {_size(LEAST_LOG_BLOCKS)}, a spare area 8 KiB more, and the SSD twice that"
            )
        return blocks
    blocks, rest = divmod(wish.log_bytes, BLOCK_BYTES)
    if rest or not LEAST_LOG_BLOCKS <= blocks <= MOST_LOG_BLOCKS:
        raise UsageError(
            f"--log-size is {units.format_bytes(wish.log_bytes)}; allowed are multiples of 4 KiB"
            f" from {_size(LEAST_LOG_BLOCKS)} to {_size(MOST_LOG_BLOCKS)}"
        )
    for device, room, what in (
        (shortest, spare_blocks, "a spare area holds the log and 2 blocks"),
        (wish.ssd, ssd_blocks - 1, "the SSD holds the log, 2 blocks, and copies of blocks"),
    ):
        if blocks > room:
            raise UsageError(
                f"{device.path} has {units.format_bytes(device.bytes)}, too little for a log of"
                f" {_size(blocks)}: {what}"
            )
    return blocks


def _size(blocks: int) -> str:
    return units.format_bytes(blocks * BLOCK_BYTES)


def with_stripe(policy: Policy, raid: Device) -> Policy:
    """The policy with the length of the RAID's stripe, which the kernel knows of most."""
    if policy.stripe_blocks is not None:
        return policy
    text = devices.queue_attribute(raid, "optimal_io_size")
    blocks, rest = divmod(int(text) if text.isdigit() else 0, BLOCK_BYTES)
    if rest or not 1 < blocks <= MOST_STRIPE_BLOCKS:
        return policy
    return dataclasses.replace(policy, stripe_blocks=blocks)


def check_policy(policy: Policy, log_blocks: int) -> None:
    """UsageError for what the core refuses."""
    if policy.prefetch_blocks is not None and policy.prefetch_blocks > MOST_PREFETCH_BLOCKS:
        raise UsageError(f"--prefetch is up to {_size(MOST_PREFETCH_BLOCKS)}")
    if policy.stripe_blocks is not None and not 1 <= policy.stripe_blocks <= MOST_STRIPE_BLOCKS:
        raise UsageError(f"a stripe has 4 KiB to {_size(MOST_STRIPE_BLOCKS)}")
    most = log_blocks - 2 * RECORD_BLOCKS
    high, low = policy.high_blocks, policy.low_blocks
    if high is not None and high > most:
        raise UsageError(f"--high is {_size(high)}; of this log at most {_size(most)} are allowed")
    if low is not None and low >= (most if high is None else high):
        raise UsageError("--low has to be less than --high")
    if policy.retry_ms == 0:
        raise UsageError("--retry is the pause after a destage that failed; at least 1ms is needed")


def _look_at_raid(wish: Wish) -> str | None:
    """A RAID with a file system is what the cache is for. One of our own superblocks is not."""
    raid = wish.raid
    signatures = safety.signatures_on(raid, raid.diskseq)
    for signature in signatures:
        if signature.type == augmented.NAME:
            raise RefusedError(
                f"{raid.path} holds {signature}: it is the SSD or a spare area of a cache, not a"
                " RAID"
            )
    if not signatures:
        return None
    return f"{raid.path} holds {safety.list_of(signatures)}: it is kept"
