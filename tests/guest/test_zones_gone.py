# SPDX-License-Identifier: GPL-2.0
"""Zones of a disk that goes while a run has it."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest
from lib.guest.disks import settle
from lib.guest.drive import sysfs
from lib.guest.netlink import asu, new, remove, state, stream
from lib.guest.netlink_raw import Refusal, Socket
from lib.guest.scsi import command_log
from lib.guest.zoned import BLKFINISHZONE, SIZE, command, zbc_disk, zones_of
from lib.waiting import comes_true

from spekctl.kernel.gen.spek import Cmd, Pattern, Reason, RunState

# Kernels before 6.5 tell nobody that the disk is gone.
pytestmark = pytest.mark.any_kernel


def test_no_zone_is_reset_once_its_disk_is_gone(nl: Socket, spek_module: Path) -> None:
    """sd lets go of a disk that stays on its bus, and whose zones are all full. Kernels tell
    holders of that since 6.5, and the start is refused."""
    with zbc_disk() as node:
        for zone in zones_of(node)[2:]:
            command(node, BLKFINISHZONE, zone)
        settle()
        extent = [{"target": 0, "start": 2 * SIZE}]
        range_bytes = 14 * SIZE
        run = new(
            nl,
            node,
            write=1,
            time_ns=None,
            count=100,
            asu=[asu(bytes=range_bytes, zone_bytes=SIZE, open_zones=3, extent=extent)],
            stream=[
                stream(
                    pattern=int(Pattern.WRITE_POINTER),
                    read_ppm=0,
                    range_bytes=range_bytes,
                    size=[{"bytes": 65536, "weight": 1}],
                )
            ],
        )
        with command_log(node) as log:
            address = (sysfs(node) / "device").resolve().name
            Path("/sys/bus/scsi/drivers/sd/unbind").write_text(address)
            before = log.read()
            try:
                nl.ask(Cmd.RUN_START, id=run)
            except Refusal as refusal:
                assert refusal.errno == errno.ENODEV
            else:
                assert comes_true(lambda: state(nl, run) is RunState.DONE)
                info = nl.ask(Cmd.RUN_GET, id=run).values[0]
                assert info["reason"] == Reason.DEVICE_GONE
                (target,) = info["target"]
                assert (target["writes"], target["zone_resets"]) == (0, 0)
            assert log.read() == before
        remove(nl, run)
