# SPDX-License-Identifier: GPL-2.0-or-later
"""Puts a disk into a power state, if nobody uses it.

The disk is claimed exclusively meanwhile, so that it cannot be mounted between the check and the
command. ATA disks get STANDBY, IDLE and SLEEP; all SCSI disks, ATA ones included, get START STOP
UNIT to be active, which a translation layer turns into a read (SAT-4, READ VERIFY SECTORS).
"""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from spekctl.block import device as devices
from spekctl.block import opening, replaced, safety
from spekctl.block.device import ROOTS, Device, Roots
from spekctl.errors import RefusedError, SpekError, UsageError
from spekctl.kernel.records import ClaimInfo, RunInfo
from spekctl.power import asleep, ata, disk, nvme, scsi
from spekctl.power.disk import Disk, Protocol
from spekctl.power.passthrough import Channel, Node, Opener, not_permitted

# A spindle that starts may take half a minute.
_START_MS = 90_000
_WAKE_MS = 10_000
_TRIES = 5
_TEST_UNIT_READY = bytes(6)


def check(chosen: Disk, target: str, timer_ns: int | None) -> None:
    """UsageError for what the disk does not have."""
    if chosen.place is None:
        raise UsageError(f"{chosen.node}: {chosen.obstacle}")
    if timer_ns is None:
        return
    if target in ("active", "sleep"):
        raise UsageError(f"--timer sets the standby timer with idle or standby, not with {target}")
    if chosen.protocol is Protocol.ATA:
        ata.standby_count(timer_ns)
    elif chosen.protocol is Protocol.SCSI:
        scsi.ticks_of(timer_ns)
    else:
        raise UsageError(f"{chosen.node} is an NVMe disk, which has no standby timer")


def refuse_used(
    chosen: Disk,
    runs: Iterable[RunInfo] = (),
    claims: Iterable[ClaimInfo] = (),
    roots: Roots = ROOTS,
) -> None:
    """RefusedError if somebody uses the disk, or other namespaces of its controller, by whatever
    path, or if the kernel has suspended it."""
    runs, claims = list(runs), list(claims)
    everything = (chosen.device, *disk.neighbours(chosen, roots))
    for device in everything:
        if users := safety.users(device, runs, claims, roots):
            raise _in_use(device, "; ".join(users))
    status = disk.runtime_status(chosen)
    if status in ("suspended", "suspending"):
        raise RefusedError(
            f"{chosen.node} is suspended by the kernel, and a command would resume it; --force"
            " sends it all the same"
        )
    # By an open, which would resume it.
    for device in everything:
        if users_there := safety.claimed_by_other_path(device, roots, lambda: (runs, claims)):
            raise _in_use(device, users_there)


def _in_use(device: Device, users: str) -> RefusedError:
    return RefusedError(
        f"{device.node} is in use: {users}; --force changes its power state all the same"
    )


def put(
    chosen: Disk,
    target: str,
    timer_ns: int | None = None,
    force: bool = False,
    roots: Roots = ROOTS,
    open_node: Opener = Node,
    asleep_folder: Path = asleep.FOLDER,
    known: safety.Known = safety.none_known,
) -> None:
    """Put a disk into a power state that check() has passed. RefusedError if another disk has taken
    its place since, also by force. @known: asked only if the disk is claimed by another path."""
    assert chosen.place is not None
    with contextlib.ExitStack() as stack:
        if not force:
            everything = (chosen.device, *disk.neighbours(chosen, roots))
            for device in everything:
                stack.enter_context(_claim(device, roots))
            # refuse_used() asked before the claim. From here on, a user of another path who asks
            # likewise finds ours.
            for device in everything:
                if users := safety.claimed_by_other_path(device, roots, known, safety.PATIENCE):
                    raise _in_use(device, users)
        try:
            channel = open_node(chosen.place)
        except OSError as error:
            raise SpekError(f"cannot open {chosen.place.path}: {error.strerror}") from error
        stack.callback(channel.close)
        # What is open stays the same disk, and so is the one that was looked at if it is here now.
        if not devices.is_there(chosen.device):
            raise replaced.refusal(chosen.device)
        try:
            _send(channel, chosen, target, timer_ns, asleep.sleeps(chosen, asleep_folder))
        except OSError as error:
            raise SpekError(f"{chosen.node}: {error.strerror}") from error
        asleep.forget(chosen, asleep_folder)
        if target == "sleep" and chosen.protocol is Protocol.ATA:
            asleep.note(chosen, asleep_folder)


@contextlib.contextmanager
def _claim(device: Device, roots: Roots) -> Iterator[None]:
    """Hold the device exclusively, as a mount does."""
    try:
        number = (device.major, device.minor)
        fd = opening.open_block_device(device.node, os.O_RDONLY | os.O_EXCL, number)
    except PermissionError as error:
        raise not_permitted(device.node) from error
    except OSError as error:
        if error.errno != errno.EBUSY:
            raise SpekError(f"cannot open {device.node}: {error.strerror}") from error
        users = safety.explain_busy(device, roots=roots)
        raise RefusedError(f"{device.node} is in use: {users}") from error
    try:
        yield
    finally:
        os.close(fd)


def _send(
    channel: Channel, chosen: Disk, target: str, timer_ns: int | None, is_asleep: bool
) -> None:
    if chosen.protocol is Protocol.NVME:
        nvme.set_level(channel, nvme.level_for(target, nvme.levels_of(channel)))
        return
    _make_ready(channel, is_asleep)
    for cdb, name in _commands(channel, chosen, target, timer_ns):
        reply = channel.scsi(cdb, timeout_ms=_START_MS)
        check_reply = ata.check if cdb[0] in ata.OPCODES else scsi.check
        check_reply(reply, name)


def _make_ready(channel: Channel, is_asleep: bool) -> None:
    """Read unit attentions, which would refuse the next command; end sleep. libata resets a
    sleeping disk by itself at the first command, other drivers only take back what times out."""
    for _ in range(_TRIES):
        reply = channel.scsi(_TEST_UNIT_READY, timeout_ms=_WAKE_MS)
        if is_asleep and reply.host:
            channel.reset()
        elif not scsi.is_attention(reply.sense):
            return


def _commands(
    channel: Channel, chosen: Disk, target: str, timer_ns: int | None
) -> Sequence[tuple[bytes, str]]:
    if target == "active":
        return [(scsi.start_stop(scsi.START_VALID, start=True), "START STOP UNIT")]
    if chosen.protocol is Protocol.ATA:
        code, name = _ATA[target, timer_ns is not None]
        count = 0 if timer_ns is None else ata.standby_count(timer_ns)
        return [(ata.command(code, count), name)]
    if timer_ns is not None:
        scsi.set_standby_timer(channel, timer_ns)
    # SBC has no sleep any more: a stopped disk refuses access until it is started.
    condition = {"idle": scsi.IDLE, "standby": scsi.STANDBY, "sleep": scsi.START_VALID}[target]
    return [(scsi.start_stop(condition), "START STOP UNIT")]


# By target and whether there is a timer.
_ATA = {
    ("idle", False): (ata.IDLE_IMMEDIATE, "IDLE IMMEDIATE"),
    ("idle", True): (ata.IDLE, "IDLE"),
    ("standby", False): (ata.STANDBY_IMMEDIATE, "STANDBY IMMEDIATE"),
    ("standby", True): (ata.STANDBY, "STANDBY"),
    ("sleep", False): (ata.SLEEP, "SLEEP"),
}
