# SPDX-License-Identifier: GPL-2.0-or-later
"""The devices of a job of fio, as block devices."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from spekctl.errors import UsageError
from spekctl.fio.options import PASSTHROUGH, engine_of
from spekctl.fio.plan import Plan

NO_DISK = (
    "{}: {} is a character device of SCSI, and spek loads block devices: give the block device of"
    " the same disk instead"
)
# Character devices of SCSI, and the folders that tell their block devices.
SCSI = {"/dev/sg": Path("/sys/class/scsi_generic"), "/dev/bsg/": Path("/sys/class/bsg")}
# The character device of an NVMe namespace.
_GENERIC = re.compile(r"/dev/ng(\d+)(n\d+)")


def named(options: Mapping[str, str | None]) -> list[str]:
    """The devices that a job names, as it does."""
    if "filename" in options and not options["filename"]:
        raise UsageError("filename has no value")
    files = (options.get("filename") or "").replace("\\:", "\0").split(":")
    return [file.replace("\0", ":") for file in files if file]


def place(plan: Plan, options: Mapping[str, str | None], paths: Sequence[str], source: str) -> None:
    """Have the I/Os of a job go to @paths, which @source names: to the block devices of those that
    its engine sends commands to."""
    plan.files = list(paths)
    if engine_of(options.get("ioengine")) not in PASSTHROUGH:
        return
    plan.files = [block_path(path) for path in paths]
    for path in plan.files:
        if path.startswith(tuple(SCSI)):
            plan.differs(NO_DISK.format(source, path))


def block_path(path: str) -> str:
    """The block device of a character device to which commands are sent; other paths stay."""
    return _disk_of(_GENERIC.sub(r"/dev/nvme\1\2", path))


def _disk_of(path: str) -> str:
    """The block device of a character device of SCSI on this machine; other paths stay."""
    for beginning, folder in SCSI.items():
        disks = sorted((folder / Path(path).name / "device/block").glob("*"))
        if path.startswith(beginning) and disks:
            return f"/dev/{disks[0].name}"
    return path
