# SPDX-License-Identifier: GPL-2.0-or-later
"""Finds the device that a plan names: by WWN, serial, NQN of its subsystem, or path."""

from __future__ import annotations

from spekctl.block import device as block_device
from spekctl.block.device import ROOTS, Device, Roots
from spekctl.errors import UsageError
from spekctl.workload import selectors


def find(selector: str, roots: Roots = ROOTS) -> Device:
    """The one device of this host that @selector means."""
    selectors.check(selector)
    if selector.startswith("/"):
        if not block_device.stays_in(selector, roots.dev):
            raise UsageError(
                f"{selector} leads out of {roots.dev}, or through a directory that others than root"
                " may write"
            )
        return block_device.find(selector)
    kind, _, value = selector.partition(":")
    matching = [
        device
        for device in block_device.every(roots)
        if not device.partition and value in _texts(kind, device, roots)
    ]
    if not matching:
        raise UsageError(f"there is no device {selector}")
    if len(matching) > 1:
        nodes = ", ".join(device.node for device in matching)
        how = "path" if kind == "wwn" else "wwn or path"
        raise UsageError(f"{selector} means several devices: {nodes}; name one by its {how}")
    return matching[0]


def _texts(kind: str, device: Device, roots: Roots) -> tuple[str, ...]:
    """What a device may be called in selectors of this kind."""
    match kind:
        case "wwn":
            if not device.wwn:
                return ()
            # nvme's wwid begins with its kind, as does SCSI's; udev's begins with 0x.
            number = device.wwn.partition(".")[2] or device.wwn.removeprefix("0x")
            return device.wwn, number, f"0x{number}"
        case "serial":
            return (device.serial,)
        case "nqn":
            return (_nqn(device, roots),)
    raise AssertionError(kind)


def _nqn(device: Device, roots: Roots) -> str:
    """Of the subsystem of an NVMe namespace; empty for other disks."""
    name = device.disk.replace("/", "!")
    try:
        path = roots.sys / "class" / "block" / name / "device" / "subsysnqn"
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""
