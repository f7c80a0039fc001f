# SPDX-License-Identifier: GPL-2.0-or-later
"""Protects disks: finds the holders of a device, and decides whether it may be written.

The claim itself is made by the kernel (run-new opens the device exclusively); what is here tells
its user, and looks for data *after* the claim, on exactly the device that was
claimed, before anything is sent to it.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import re
import struct
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NoReturn

from spekctl import namespaces
from spekctl.block import augmented, blkid, opening, replaced, state_log
from spekctl.block.device import (
    ROOTS,
    Device,
    Partition,
    Roots,
    claims_beside,
    disk_node,
    names_on_other_paths,
    overlapping,
    partitions_across,
    partitions_on,
    related_names,
    start_sector,
)
from spekctl.errors import NotPermittedError, RefusedError, SpekError
from spekctl.kernel.records import ClaimInfo, ClaimState, RunInfo, RunState, TargetInfo

_BLKGETDISKSEQ = 0x80081280
_BLKFLSBUF = 0x1261

# How a device can be open. A reader risks only stale data; udev and
# others read devices all the time.
WRITERS = frozenset({os.O_WRONLY, os.O_RDWR})
EVERYBODY = WRITERS | {os.O_RDONLY}

# What a device mapper volume is, by the first word of its UUID.
_KINDS = {
    "LVM": "LVM volume",
    "CRYPT": "encrypted volume",
    "mpath": "multipath device",
    augmented.MAPPING: augmented.NAME,
}

# Asks for the runs and claims of spek, to name those that hold a device.
Known = Callable[[], tuple[Iterable[RunInfo], Iterable[ClaimInfo]]]

# How often a claim of another path has to be seen of a device that is held, and the pause between.
PATIENCE = 20
_PAUSE_S = 0.1

# Characters of a process's command line in a message.
_COMMAND_LINE = 100


@dataclass(frozen=True, slots=True)
class Holder:
    """A user of a device: its description, and whether it certainly blocks the run."""

    text: str
    exclusive: bool = True


@dataclass(frozen=True, slots=True)
class Opened:
    """A block device that a process has open."""

    number: str
    pid: str
    mode: int
    fd: str = ""


def none_known() -> tuple[Iterable[RunInfo], Iterable[ClaimInfo]]:
    """For those that do not ask for runs and claims of spek."""
    return (), ()


def holders(device: Device, roots: Roots = ROOTS) -> list[Holder]:
    """All known users of the device or, for a disk, of one of its partitions."""
    numbers = _numbers(device, roots)
    users: list[Holder] = []
    users += _mounts(numbers, roots)
    users += _swap(numbers, roots)
    users += _stacked(device, roots)
    users += _multi_device_filesystems(device, roots)
    users += _loops(numbers, roots)
    users += _exports(numbers, roots)
    unique: dict[str, Holder] = {}
    for holder in users:
        unique.setdefault(holder.text, holder)
    return list(unique.values())


def explain_busy(
    device: Device,
    runs: Iterable[RunInfo] = (),
    roots: Roots = ROOTS,
    claims: Iterable[ClaimInfo] = (),
) -> str:
    """What prevents an exclusive claim, as a sentence; never empty."""
    texts = [holder.text for holder in holders(device, roots)]
    texts += held_by_spek(device, runs, claims, roots)
    if not texts:
        openers = _openers(device, roots, EVERYBODY)
        texts = [f"{text} (possibly with an exclusive claim)" for text in openers]
    if not texts:
        if os.geteuid():
            return "a process or a kernel user holds it exclusively; root can see which process"
        return "a kernel user holds it exclusively, which sysfs does not name"
    return "; ".join(texts)


def signatures_on(device: Device, diskseq: int, roots: Roots = ROOTS) -> list[blkid.Signature]:
    """Signatures on the claimed device and its partitions, and on partitions that overlap it, read
    through a descriptor checked to be that device or its disk, and from the device itself: what
    others have read before it was written by another path is in the page cache for as long as they
    have it open.

    The kernel knows partitions without a table that libblkid reads: from its command line or a
    device tree, from a program such as addpart, or by a format that only the kernel knows."""
    number = (device.major, device.minor)
    with _opened(device, device.path, number, diskseq) as fd:
        signatures = _read_signatures(fd, partitions_on(device, roots))
    if partitions := partitions_across(device, roots):
        with _opened(device, *disk_node(device), diskseq) as fd:
            signatures += _read_across(fd, device, partitions, signatures)
    return signatures


@contextlib.contextmanager
def _opened(device: Device, path: str, number: tuple[int, int], diskseq: int) -> Iterator[int]:
    """A descriptor of the device, or of its disk, at @path, without a page cache that is older than
    the device."""
    try:
        fd = opening.open_block_device(path, os.O_RDONLY, number)
    except PermissionError as error:
        text = f"not permitted to read {path}"
        # The nodes are there in a container, but its devices are a list of cgroups.
        if error.errno == errno.EPERM and namespaces.around().container:
            text += f"; {namespaces.device_remedy(path)}"
        raise NotPermittedError(text) from error
    except OSError as error:
        raise RefusedError(f"cannot probe {path} for data: {error.strerror}") from error
    except opening.ReplacedError as error:
        raise replaced.refusal(device) from error
    try:
        seq = _diskseq(fd)
        if diskseq and seq and seq != diskseq:
            raise replaced.refusal(device, seq)
        _drop_cache(path, fd)
        yield fd
    finally:
        os.close(fd)


def _read_signatures(fd: int, partitions: Sequence[Partition]) -> list[blkid.Signature]:
    signatures = _signatures_at(fd)
    if partitions and not any(signature.usage == blkid.TABLE for signature in signatures):
        signatures.append(
            blkid.Signature(blkid.PARTITIONS, blkid.PARTITIONS, 0, str(len(partitions)))
        )
    for partition in partitions:
        inside = _signatures_at(fd, partition.place)
        # A partition from byte 0 on has those of the disk.
        signatures += [signature for signature in inside if signature not in signatures]
    return signatures


def _signatures_at(fd: int, place: range = blkid.WHOLE) -> list[blkid.Signature]:
    return [
        *blkid.signatures(fd, place),
        *augmented.signatures(fd, place.start),
        *state_log.signatures(fd, place.start),
    ]


def _read_across(
    fd: int, device: Device, partitions: Sequence[Partition], own: Sequence[blkid.Signature]
) -> list[blkid.Signature]:
    """The @partitions that overlap the device, and what is on them besides the device's @own
    signatures; @fd: of their disk. The partition around slices is such a one: libblkid reads their
    table only where it reads that of the disk."""
    first = start_sector(device) * 512
    known = {(signature.type, first + signature.offset) for signature in own}
    signatures: list[blkid.Signature] = []
    for partition in partitions:
        # A program may use a partition without a header.
        signatures.append(
            blkid.Signature(blkid.OVERLAPPING, blkid.OVERLAPPING, 0, partition=partition.name)
        )
        signatures += [
            replace(data, offset=data.offset - partition.place.start, partition=partition.name)
            for data in _signatures_at(fd, partition.place)
            if (data.type, data.offset) not in known
        ]
    return signatures


def _drop_cache(path: str, fd: int) -> None:
    try:
        fcntl.ioctl(fd, _BLKFLSBUF)
    except PermissionError as error:
        raise NotPermittedError(f"not permitted to drop the page cache of {path}") from error
    except OSError as error:
        raise RefusedError(
            f"cannot probe {path} for data: its page cache cannot be dropped ({error.strerror})"
        ) from error


def refuse_without_write(devices: Sequence[Device], roots: Roots = ROOTS) -> NoReturn:
    """Refuse a workload that writes without --write. Never advise --write for a device in use."""
    for device in devices:
        if in_use := verdict(device, roots):
            raise RefusedError(f"{device.path} is in use: {in_use}")
    raise without_write([device.path for device in devices])


def without_write(names: Sequence[str]) -> RefusedError:
    """The refusal of a workload that writes to these devices."""
    names_told = " and ".join(names)
    return RefusedError(f"this workload writes; give --write to let it overwrite {names_told}")


def check_named(devices: Sequence[Device], destroy: Sequence[str]) -> None:
    """Refuse --destroy with an unknown name: a user who mistypes a name may mistype a path."""
    for text in destroy:
        if not any(device.is_named_by(text) for device in devices):
            names = ", ".join(f"{device.path} is {device.identity}" for device in devices)
            if any(device.shares(text) for device in devices):
                raise RefusedError(
                    f"--destroy {text} is ambiguous: another disk has the same"
                    f" serial number or WWN: {names}"
                )
            raise RefusedError(f"--destroy {text} names none of the devices given: {names}")


def check_write(
    device: Device,
    diskseq: int,
    destroy: Sequence[str],
    write_allowed: bool,
    roots: Roots = ROOTS,
    known: Known = none_known,
) -> str | None:
    """Refuse to overwrite data without permission; return a remark if data will be lost."""
    return look(device, diskseq, destroy, write_allowed, roots, known)[1]


def look(
    device: Device,
    diskseq: int,
    destroy: Sequence[str],
    write_allowed: bool,
    roots: Roots = ROOTS,
    known: Known = none_known,
) -> tuple[list[blkid.Signature], str | None]:
    """Refuse to overwrite data without permission; the data that may be overwritten, and a remark
    if there are any.

    Called under the claim, which keeps out all others that claim, by this path. Users of the device
    without a claim, and those that have claimed another path to it, are found here and refused as
    well: --destroy does not help.
    """
    if not write_allowed:
        refuse_without_write([device])
    if text := unwritable(device):
        raise RefusedError(f"{device.path} {text}")
    refuse_users(device, roots, known)
    signatures = signatures_on(device, diskseq)
    if not signatures:
        return [], None
    if any(device.is_named_by(text) for text in destroy):
        listed = list_of(signatures)
        return signatures, f"{device.path} holds data and will be overwritten: {listed}"
    wrong = ""
    if destroy:
        wrong = f" (--destroy {destroy[0]} names another device)"
    raise RefusedError(
        f"{device.path} holds data: {list_of(signatures)}{_forgetting(device, signatures)}; to"
        f" overwrite it, give --destroy {device.identity}{wrong}"
    )


def _forgetting(device: Device, signatures: Sequence[blkid.Signature]) -> str:
    """How to have the kernel forget partitions whose table is gone, as after a run that has
    overwritten it: nobody tells the kernel."""
    if all(signature.usage != blkid.PARTITIONS for signature in signatures):
        return ""
    disk = f"/dev/{device.disk}" if device.partition else device.path
    return f"; if their table was overwritten, `blockdev --rereadpt {disk}` removes them"


def check_again(
    device: Device,
    diskseq: int,
    before: Sequence[blkid.Signature],
    roots: Roots = ROOTS,
    known: Known = none_known,
) -> None:
    """Before a later run under the same claim: refuse users without a claim or by another path, and
    data that look() did not find: a program that ignores claims may have written it.

    A command that claims another path finds this claim and gives up at once, so it is waited for.

    Overwriting may uncover another copy of a signature, such as the second header of a GPT, so
    offsets are not compared. The kernel keeps the partitions of a table until it reads it again.
    """
    refuse_users(device, roots, known, PATIENCE)
    types = {signature.type for signature in before}
    if any(signature.usage == blkid.TABLE for signature in before):
        types.add(blkid.PARTITIONS)
    new = [data for data in signatures_on(device, diskseq) if data.type not in types]
    if new:
        raise RefusedError(
            f"{device.path} holds data that it did not hold when it was claimed: {list_of(new)};"
            f" to overwrite it, start the command again with --destroy {device.identity}"
        )


def refuse_users(device: Device, roots: Roots, known: Known = none_known, tries: int = 1) -> None:
    """Refuse a device that somebody uses without the claim, which is ours, or by another path.

    @known: asked only if another path is claimed; @tries: times that this has to be seen."""
    in_use = [holder.text for holder in holders(device, roots)] + _openers(device, roots, WRITERS)
    if in_use:
        raise RefusedError(f"{device.path} is in use: {'; '.join(in_use)}")
    if claimed := claimed_by_other_path(device, roots, known, tries):
        raise RefusedError(f"{device.path} is in use: {claimed}")


def claimed_by_other_path(
    device: Device, roots: Roots = ROOTS, known: Known = none_known, tries: int = 1
) -> str:
    """The other path to the device, or the partition that overlaps it, that somebody has claimed,
    and who; empty if there is none. NotPermittedError if that cannot be asked.

    @known: asked only if another path is claimed; @tries: times that this has to be seen."""
    paths = claims_beside(device, roots)
    users = (_claimed(device, path, roots, known, tries) for path in paths)
    return next(filter(None, users), "")


def _claimed(device: Device, path: Device, roots: Roots, known: Known, tries: int) -> str:
    """Ask by a claim whether another @path to a device is claimed: to the kernel, paths are
    different disks, which it lets different users claim. The claim is held for a moment only: a
    later user of that path, who looks likewise, finds the claim of @device."""
    beside = "which overlaps it" if path.disk == device.disk else f"another path to {device.disk}"
    name = f"{path.name}, {beside},"
    try:
        number = (path.major, path.minor)
        fd = opening.open_block_device(path.path, os.O_RDONLY | os.O_EXCL, number)
    except OSError as error:
        if error.errno == errno.EBUSY:
            if tries > 1:
                time.sleep(_PAUSE_S)
                return _claimed(device, path, roots, known, tries - 1)
            runs, claims = known()
            return f"{name} is claimed: {explain_busy(path, runs, roots, claims)}"
        if error.errno not in (errno.EACCES, errno.EPERM, errno.ENOENT):
            return ""  # The claim comes before the open of the driver: a path that is down is free.
        text = f"{device.path} may be in use: {name} cannot be opened to see whether it is claimed"
        if namespaces.around().container:
            text += f"; {namespaces.device_remedy(path.path)}"
        raise NotPermittedError(f"{text} ({error.strerror})") from error
    os.close(fd)
    return ""


def list_of(signatures: Sequence[blkid.Signature]) -> str:
    listed = ", ".join(str(signature) for signature in signatures[:3])
    more = len(signatures) - 3
    return f"{listed} and {more} more" if more > 0 else listed


def unwritable(device: Device) -> str:
    """Why the device itself cannot be written; empty if it can."""
    if device.read_only:
        return "is read-only"
    return ""


def verdict(
    device: Device,
    roots: Roots = ROOTS,
    runs: Iterable[RunInfo] = (),
    claims: Iterable[ClaimInfo] = (),
) -> str:
    """For the list of devices: why it cannot be tested; empty if it can."""
    if not device.bytes:
        return "has no capacity"
    in_use = [holder.text for holder in holders(device, roots) if holder.exclusive]
    return "; ".join(in_use + held_by_spek(device, runs, claims, roots))


def users(
    device: Device,
    runs: Iterable[RunInfo] = (),
    claims: Iterable[ClaimInfo] = (),
    roots: Roots = ROOTS,
) -> list[str]:
    """All that use the device, or what lies on the same bytes, in whatever way."""
    return [
        *(holder.text for holder in holders(device, roots)),
        *held_by_spek(device, runs, claims, roots),
        *_openers(device, roots, EVERYBODY),
    ]


def writers(device: Device, opened: Iterable[Opened], roots: Roots = ROOTS) -> list[str]:
    """For the list of devices: those of @opened that prevent writing."""
    return _choose(device, opened, roots, WRITERS)


def data_on(device: Device) -> list[blkid.Signature] | None:
    """For the list of devices: its signatures; None if it cannot be read."""
    with contextlib.suppress(SpekError):
        return signatures_on(device, 0)
    return None


# --- who uses a device ---------------------------------------------------------------------------


def _names(device: Device, roots: Roots) -> dict[str, str]:
    """Kernel name -> as messages call it, of the device and of what lies on the same bytes, by
    whatever path."""
    names = {name: name for name in related_names(device, roots)}
    for name in overlapping(device):
        names[name] = f"{name} (overlaps {device.name})"
    for name in names_on_other_paths(device, roots):
        names[name] = f"{name} (another path to {device.disk})"
    return names


def _numbers(device: Device, roots: Roots) -> dict[str, str]:
    """MAJ:MIN -> as messages call it, of the device and of what lies on the same bytes.

    A disk is in use if one of its partitions is; a partition if the whole disk is.
    """
    names = _names(device, roots)
    if device.partition:
        names[device.disk] = device.disk
    numbers: dict[str, str] = {}
    for name, text in names.items():
        number = _read(roots.sys / "class" / "block" / name.replace("/", "!") / "dev")
        if number:
            numbers[number] = text
    numbers.setdefault(f"{device.major}:{device.minor}", device.name)
    return numbers


def _mounts(numbers: dict[str, str], roots: Roots) -> list[Holder]:
    users: list[Holder] = []
    for process, where in (("self", ""), ("1", " (seen by process 1)")):
        for line in _read(roots.proc / process / "mountinfo").splitlines():
            fields = line.split()
            if len(fields) < 10 or "-" not in fields:
                continue
            source = _unescape(fields[fields.index("-") + 2])
            number = fields[2] if fields[2] in numbers else _number_of(source)
            if number not in numbers:
                continue
            point = _unescape(fields[4])
            text = f"{numbers[number]} is mounted on {point}"
            if any(holder.text == text for holder in users):
                continue
            users.append(Holder(text + where))
    return users


def _swap(numbers: dict[str, str], roots: Roots) -> list[Holder]:
    users = []
    for line in _read(roots.proc / "swaps").splitlines()[1:]:
        fields = line.split()
        if fields and (number := _number_of(_unescape(fields[0]))) in numbers:
            users.append(Holder(f"{numbers[number]} is active swap"))
    return users


def _stacked(device: Device, roots: Roots) -> list[Holder]:
    """Device mapper (LVM, LUKS, multipath), md, bcache and others that register themselves."""
    users = []
    for name, text in _names(device, roots).items():
        directory = roots.sys / "class" / "block" / name.replace("/", "!")
        for holder in _list(directory / "holders"):
            users.append(Holder(f"{text} is used by {_stack_name(holder, roots)}"))
        if (directory / "bcache").exists():
            users.append(Holder(f"{text} belongs to bcache"))
    return users


def _stack_name(name: str, roots: Roots) -> str:
    directory = roots.sys / "class" / "block" / name
    if mapped := _read(directory / "dm" / "name"):
        uuid = _read(directory / "dm" / "uuid")
        kind = _KINDS.get(uuid.split("-", 1)[0], "device mapper volume")
        return f"{kind} {mapped} ({name})"
    if level := _read(directory / "md" / "level"):
        return f"md array {name} ({level})"
    if name.startswith("bcache"):
        return f"bcache device {name}"
    return name


def _multi_device_filesystems(device: Device, roots: Roots) -> list[Holder]:
    """btrfs mounts one device and uses many."""
    users = []
    names = _names(device, roots)
    for uuid in _list(roots.sys / "fs" / "btrfs"):
        for member in _list(roots.sys / "fs" / "btrfs" / uuid / "devices"):
            if member in names:
                users.append(Holder(f"{names[member]} belongs to the mounted btrfs {uuid}"))
    return users


def _loops(numbers: dict[str, str], roots: Roots) -> list[Holder]:
    """Loop devices on the device: they do not claim it, but they write to it."""
    users = []
    for name in _list(roots.sys / "class" / "block"):
        if not name.startswith("loop"):
            continue
        backing = _read(roots.sys / "class" / "block" / name / "loop" / "backing_file")
        if backing and (number := _number_of(backing)) in numbers:
            users.append(Holder(f"{name} is a loop device on {numbers[number]}"))
    return users


def _exports(numbers: dict[str, str], roots: Roots) -> list[Holder]:
    """Targets of other hosts: nvmet opens what it exports without a claim, and so does LIO for
    files."""
    config = roots.sys / "kernel" / "config"
    users = []
    for nqn in _list(config / "nvmet" / "subsystems"):
        namespaces = config / "nvmet" / "subsystems" / nqn / "namespaces"
        for number in _list(namespaces):
            if _read(namespaces / number / "enable") != "1":
                continue
            device = _number_of(_read(namespaces / number / "device_path"))
            if device in numbers:
                text = f"{numbers[device]} is exported by nvmet as namespace {number} of {nqn}"
                users.append(Holder(text))
    for kind in _list(config / "target" / "core"):
        for name in _list(config / "target" / "core" / kind):
            store = config / "target" / "core" / kind / name
            if _read(store / "enable") != "1":
                continue
            device = _number_of(_read(store / "udev_path"))
            if device in numbers:
                text = f"{numbers[device]} is exported by the SCSI target as {kind}/{name}"
                users.append(Holder(text))
    return users


def held_by_spek(
    device: Device,
    runs: Iterable[RunInfo],
    claims: Iterable[ClaimInfo] = (),
    roots: Roots = ROOTS,
) -> list[str]:
    """Runs of spek that have claimed the device, or a partition of it, or its disk, and claims that
    have it between two runs."""
    numbers = _numbers(device, roots)
    own = f"{device.major}:{device.minor}"

    def held(targets: Iterable[TargetInfo]) -> list[str]:
        known = [f"{target.major}:{target.minor}" for target in targets]
        return ["it" if number == own else numbers[number] for number in known if number in numbers]

    texts: list[str] = []
    running: set[int] = set()  # claims of which a run is named
    claims = list(claims)
    owners = {claim.id: owner(claim, roots) for claim in claims}
    for run in runs:
        if run.state is not RunState.DONE and (names := held(run.targets)):
            whose = f" of {owners[run.claim]}" if owners.get(run.claim) else ""
            texts += [f"run {run.id} of spek ({run.name}){whose} uses {name}" for name in names]
            running.add(run.claim)
    for claim in claims:
        if claim.state is not ClaimState.FAILED and claim.id not in running:
            whose = owners[claim.id] or "a command"
            texts += [
                f"spek holds {name} between the runs of {whose} (claim {claim.id})"
                for name in held(claim.targets)
            ]
    return texts


def owner(claim: ClaimInfo, roots: Roots = ROOTS) -> str:
    """The process that made a claim, as messages call it; empty if it is not known."""
    return commanded(str(claim.owner_pid), roots) if claim.owner_pid else ""


def opened_devices(roots: Roots = ROOTS, ours: bool = False) -> Iterator[Opened]:
    """All block devices that other processes have open, as far as we may see; @ours: and we."""
    for pid in _list(roots.proc):
        if not pid.isdigit() or (pid == str(os.getpid()) and not ours):
            continue
        folder = str(roots.proc / pid / "fd")
        for fd in _list(Path(folder)):
            # Of all files of all processes: too many for a Path each.
            if number := _number_of(f"{folder}/{fd}"):
                yield Opened(number, pid, _open_mode(roots.proc / pid / "fdinfo" / fd), fd)


def _openers(device: Device, roots: Roots, modes: frozenset[int]) -> list[str]:
    """Other processes that have the device open in one of the @modes. Whether they claimed it is
    not visible: the kernel does not keep that flag of an open file."""
    return _choose(device, opened_devices(roots), roots, modes)


def _choose(
    device: Device, opened: Iterable[Opened], roots: Roots, modes: frozenset[int]
) -> list[str]:
    numbers = _numbers(device, roots)
    how = " for writing" if modes == WRITERS else ""
    pids = {file.pid: None for file in opened if file.number in numbers and file.mode in modes}
    return [f"{process(pid, roots)} has it open{how}" for pid in list(pids)[:5]]


def process(pid: str, roots: Roots = ROOTS) -> str:
    """As messages call a process."""
    return f"process {pid} ({_read(roots.proc / pid / 'comm') or '?'})"


def commanded(pid: str, roots: Roots = ROOTS) -> str:
    """As messages call a process of spek: with its command line."""
    words = _read(roots.proc / pid / "cmdline").rstrip("\0").split("\0")
    shown = " ".join(words)
    if not shown:
        return process(pid, roots)
    if len(shown) > _COMMAND_LINE:
        shown = f"{shown[:_COMMAND_LINE]}..."
    # Its process may be another user's: what it says of itself does not control a terminal.
    return f"process {pid} ({''.join(char if char.isprintable() else '?' for char in shown)})"


def _open_mode(path: Path) -> int:
    """O_RDONLY, O_WRONLY or O_RDWR of an open file; unknown counts as O_RDWR."""
    match = re.search(r"^flags:\s*([0-7]+)$", _read(path), re.MULTILINE)
    return int(match[1], 8) & os.O_ACCMODE if match else os.O_RDWR


def _number_of(path: str) -> str:
    """MAJ:MIN of a block device node, or an empty string."""
    if not path.startswith("/"):
        return ""
    try:
        status = os.stat(path)
    except OSError:
        return ""
    if not status.st_rdev or (status.st_mode & 0o170000) != 0o060000:
        return ""
    return f"{os.major(status.st_rdev)}:{os.minor(status.st_rdev)}"


def _diskseq(fd: int) -> int:
    buffer = bytearray(8)
    with contextlib.suppress(OSError):
        fcntl.ioctl(fd, _BLKGETDISKSEQ, buffer)
    return int(struct.unpack("=Q", buffer)[0])


def _unescape(text: str) -> str:
    r"""``/mnt/a\040b`` -> ``/mnt/a b``."""
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match.group(1), 8)), text)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


def _list(path: Path) -> list[str]:
    try:
        return sorted(os.listdir(path))
    except OSError:
        return []
