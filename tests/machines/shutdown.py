# SPDX-License-Identifier: GPL-2.0
"""In a guest: restart the machine while a detached run writes to a SCSI disk that reports its
commands.

PYTHONPATH=tests python -m machines.shutdown
"""

from __future__ import annotations

import ctypes
import os
import subprocess
from pathlib import Path

from lib.guest.netlink import SECOND, new, stream
from lib.guest.netlink_raw import Socket
from lib.waiting import eventually

from spekctl.kernel.gen import spek
from spekctl.kernel.gen.spek import Cmd, Law

RB_AUTOBOOT = 0x01234567
OPTIONS = Path("/sys/bus/pseudo/drivers/scsi_debug/opts")
WRITES = 20  # of the run before the restart


def disk() -> str:
    """The disk of scsi_debug, or ""."""
    for path in Path("/sys/block").glob("sd*"):
        node = f"/dev/{path.name}"
        if "scsi_debug" in (path / "device/model").read_text() and os.path.exists(node):
            return node
    return ""


def writes_to(node: str) -> int:
    """How many the disk has completed."""
    return int(Path("/sys/block", Path(node).name, "stat").read_text().split()[4])


def main() -> None:
    subprocess.run(["modprobe", "sd_mod"], check=True)
    subprocess.run(["modprobe", "scsi_debug", "dev_size_mb=128", "delay=0"], check=True)
    subprocess.run(["insmod", f"{os.environ['SPEK_MODULES']}/spek.ko"], check=True)
    eventually(lambda: bool(disk()), "no disk", 60)
    node = disk()
    nl = Socket(spek)
    run = new(
        nl,
        node,
        write=1,
        detached=1,
        time_ns=3600 * SECOND,
        arrival=[{"law": int(Law.CONSTANT), "rate_milli": 50_000}],
        stream=[stream(read_ppm=0)],
    )
    subprocess.run(["dmesg", "-n", "8"], check=True)
    OPTIONS.write_text("1")
    nl.ask(Cmd.RUN_START, id=run)
    # Not for a time: where the machine is busy, a guest may run for none of it.
    eventually(lambda: writes_to(node) >= WRITES, "the run does not write")
    os.sync()
    ctypes.CDLL(None).reboot(RB_AUTOBOOT)


if __name__ == "__main__":
    main()
