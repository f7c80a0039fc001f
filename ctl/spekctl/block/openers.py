# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks under the claim who else has a device open.

The kernel counts the opens of a device, and /proc shows those of processes. What remains are users
in the kernel that did not claim the device and that sysfs does not name either, and processes that
cannot be seen from here. Both may write to the device at any time.
"""

from __future__ import annotations

import ctypes
import platform
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from spekctl.block import safety
from spekctl.block.device import ROOTS, Device, Roots, related_names
from spekctl.errors import RefusedError

# udev and others open a disk for a moment: the looks after the first one ignore those that have
# left by then. An unknown user gets longer to leave, as a run is refused for it.
PAUSE_S = 0.05
LOOKS = 6
LOOKS_FOR_UNKNOWN = 40

_KCMP = {"x86_64": 312, "aarch64": 272, "riscv64": 272}
_KCMP_FILE = 0

Opens = Callable[[], int]


@dataclass(frozen=True, slots=True)
class Look:
    """Who has a claimed device open besides the claim: processes, and the number of opens that
    none of them accounts for, or None while somebody opens or closes the device."""

    pids: tuple[str, ...]
    unknown: int | None


def check(
    device: Device,
    opens: Opens,
    destroy: Sequence[str] | None,
    roots: Roots = ROOTS,
    pause: Callable[[float], None] = time.sleep,
) -> str | None:
    """Refuse to overwrite a device that an unknown user has open, unless the device is named with
    --destroy; return a remark about those who have it open.

    @opens: asks the kernel for the opens of the device, the claim included; 0: not known now.
    @destroy: None: of a device that keeps its contents, so that no option helps.
    """
    last = Look((), None)
    for attempt in range(LOOKS_FOR_UNKNOWN):
        if attempt:
            pause(PAUSE_S)
        last = _look(device, opens, roots)
        if last.unknown == 0 and (not last.pids or attempt + 1 >= LOOKS):
            break
    if last.unknown == 0:
        if not last.pids:
            return None
        processes = ", ".join(safety.process(pid, roots) for pid in last.pids[:5])
        return f"{device.path} is also open for reading: {processes}"
    if last.unknown is None:
        raise RefusedError(
            f"{device.path} is in use: its driver has been busy opening or closing it for"
            f" {LOOKS_FOR_UNKNOWN * PAUSE_S:g} s, so its users cannot be counted"
        )
    text = (
        f"the kernel counts {last.unknown} more {'open' if last.unknown == 1 else 'opens'} of it"
        " than processes have: by a kernel user without a claim, or a process that is not"
        " visible here"
    )
    if destroy is None:
        raise RefusedError(f"{device.path} is in use: {text}")
    if any(device.is_named_by(name) for name in destroy):
        return f"{device.path} will be overwritten although {text}"
    raise RefusedError(
        f"{device.path} is in use: {text}; to overwrite it all the same, give --destroy"
        f" {device.identity}"
    )


def _look(device: Device, opens: Opens, roots: Roots) -> Look:
    """Only files that are open before and after the kernel counts were open when it did."""
    count = opens()
    if count <= 1:
        return Look((), 0 if count else None)
    before = _files(device, roots)
    count = opens()
    stayed = before & _files(device, roots)
    if not count:
        return Look((), None)
    pids = tuple(sorted({pid for pid, _ in stayed}, key=int))
    return Look(pids, max(0, count - 1 - _distinct(stayed)))


def _files(device: Device, roots: Roots) -> set[tuple[str, str]]:
    """Process and descriptor of each file that is the device or lies on the same bytes of it, by
    the path that is claimed."""
    names = set(related_names(device, roots)) | {device.disk}
    numbers = {f"{device.major}:{device.minor}"}
    for name in names:
        path = roots.sys / "class" / "block" / name.replace("/", "!") / "dev"
        if path.exists():
            numbers.add(path.read_text().strip())
    return {
        (opened.pid, opened.fd)
        for opened in safety.opened_devices(roots, ours=True)
        if opened.number in numbers
    }


def _distinct(files: Collection[tuple[str, str]]) -> int:
    """Number of open files behind descriptors: those of a fork and of dup() share one."""
    kinds: list[tuple[str, str]] = []
    for file in sorted(files):
        if not any(_same_file(file, kind) for kind in kinds):
            kinds.append(file)
    return len(kinds)


def _same_file(left: tuple[str, str], right: tuple[str, str]) -> bool:
    """True also if the kernel cannot tell: then fewer opens are accounted for, rather than more."""
    number = _KCMP.get(platform.machine())
    if number is None:
        return True
    (pid, fd), (other_pid, other_fd) = left, right
    libc = ctypes.CDLL(None, use_errno=True)
    order = libc.syscall(
        ctypes.c_long(number),
        ctypes.c_long(int(pid)),
        ctypes.c_long(int(other_pid)),
        ctypes.c_long(_KCMP_FILE),
        ctypes.c_ulong(int(fd)),
        ctypes.c_ulong(int(other_fd)),
    )
    return int(order) <= 0
