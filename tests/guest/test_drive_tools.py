# SPDX-License-Identifier: GPL-2.0
"""spek_drive.ko: what tools for disks, and sensors, say of a modelled drive and do to it."""

from __future__ import annotations

import re
import struct
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from lib.guest.modelled import SMALL, modelled, send
from lib.waiting import eventually

from spekctl.kernel.drives import Drives

pytestmark = pytest.mark.usefixtures("drive_module")


def output(*command: str) -> str:
    """What a tool prints; it must succeed."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    return done.stdout


def test_tools_for_disks_say_what_the_drive_is(drives: Drives) -> None:
    split = replace(SMALL.with_arms(2), channels=2, split=True)
    with modelled(drives, split, serial="TOOL0001") as disk:
        (line,) = [row for row in output("lsscsi").splitlines() if f"[{disk.address}]" in row]
        assert line.split()[1:] == ["disk", "SPEK", "MODELLED", "DRIVE", "0001", disk.node]

        pages = output("sg_vpd", "--page=0x00", disk.node)
        for page in ("[sn]", "[di]", "[bl]", "[bdc]", "[cpr]"):
            assert page in pages, pages
        assert "TOOL0001" in output("sg_vpd", "--page=0x80", disk.node)
        names = output("sg_vpd", "--page=0x83", disk.node)
        assert "NAA" in names and "MODELLED DRIVE  TOOL0001" in names, names
        assert "Maximum transfer length" in output("sg_vpd", "--page=0xb0", disk.node)
        turns = output("sg_vpd", "--page=0xb1", disk.node)
        assert "rotation rate: 7200 rpm" in turns, turns
        command = ("sg_vpd", "--page=0xb9", "--raw", disk.node)
        ranges = subprocess.run(command, check=True, capture_output=True).stdout
        pairs = [struct.unpack_from(">QQ", ranges, at + 8) for at in range(64, len(ranges), 32)]
        half = drives.drive(disk.drive).sectors // 2
        assert pairs == [(0, half), (half, half)]


def test_tools_see_the_power_condition_and_do_not_change_it(drives: Drives) -> None:
    with modelled(drives) as disk:
        # Not the disk's own node: when that is closed, udev reads the disk, and sd starts it first.
        (node_of_scsi,) = Path("/sys/block", disk.name, "device/scsi_generic").iterdir()
        node = f"/dev/{node_of_scsi.name}"
        assert "active/idle" in output("hdparm", "-C", node)
        assert "Ready" in output("sdparm", "--command=ready", node)
        # It ends with 5, as the drive has no saved values (PC 3), and prints what there is.
        timer = subprocess.run(
            ("sdparm", "--get=STANDBY_Z", node), capture_output=True, text=True, check=False
        )
        assert re.search(r"^STANDBY_Z\s+0 +\[cha: y, def: +0\]", timer.stdout, re.M), timer

        output("sdparm", "--command=stop", node)
        assert "standby" in output("hdparm", "-C", node)
        assert drives.drive(disk.drive).condition.value == "stopped"
        stopped = subprocess.run(
            ("sdparm", "--command=ready", node), capture_output=True, text=True, check=False
        )
        assert stopped.returncode == 2, stopped  # SG_LIB_CAT_NOT_READY

        output("sdparm", "--command=start", node)
        assert "active/idle" in output("hdparm", "-C", node)


@pytest.mark.parametrize("form", [(), ("--prefer-ata12",)], ids=["16", "12"])
def test_hdparm_sets_the_timer_and_the_condition(drives: Drives, form: tuple[str, ...]) -> None:
    """By ATA PASS-THROUGH of either length."""

    def timer() -> int:
        """Of STANDBY_Z, in units of 100 ms."""
        sense = bytes([0x1A, 8, 0x1A, 0, 44, 0])
        page = send(node, sense, length=44).data[4:]
        return int.from_bytes(page[8:12]) if page[3] & 1 else 0

    with modelled(drives) as disk:
        (node_of_scsi,) = Path("/sys/block", disk.name, "device/scsi_generic").iterdir()
        node = f"/dev/{node_of_scsi.name}"
        output("hdparm", *form, "-S", "242", node)
        assert timer() == 2 * 30 * 600
        # Before it stands still 5 s after its last use, however long a program takes.
        assert "state is:  idle" in output("hdparm", *form, "-C", node)
        output("hdparm", *form, "-S", "1", node)
        assert timer() == 50
        eventually(lambda: drives.drive(disk.drive).condition.value == "standby", "no standby")
        assert "standby" in output("hdparm", *form, "-C", node)
        output("hdparm", *form, "-S", "0", node)
        assert timer() == 0
        output("hdparm", *form, "-y", node)
        assert "standby" in output("hdparm", *form, "-C", node)
        output("hdparm", *form, "-Y", node)


def test_sensors_show_the_watts_of_the_model(drives: Drives) -> None:
    with modelled(drives) as disk:
        # Not as JSON: the sensors of a rail have one label, which would be a key there.
        text = output("sensors", "-u", "spek_drive-*")
        shown = {key: float(value) for key, value in re.findall(r"^ +(\w+): (\S+)$", text, re.M)}
        hwmon = Path("/sys/class/hwmon", drives.drive(disk.drive).hwmon)
        for key in ("power1", "power2"):
            microwatts = int((hwmon / f"{key}_input").read_text())
            assert shown[f"{key}_input"] == pytest.approx(microwatts / 1e6, abs=1e-3), shown
        assert (shown["in0_input"], shown["in1_input"]) == (5, 12)
