# SPDX-License-Identifier: GPL-2.0
"""A machine that is a directory, for spekctl doctor."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from lib.ctl.command_line import Spekctl

from spekctl import __version__

RELEASE = "6.12.1-test"
CPU = "sys/devices/system/cpu"
CLOCK = "sys/devices/system/clocksource/clocksource0"
QUEUE = "sys/devices/nvme0n1/queue"
UPDATES = f"lib/modules/{RELEASE}/updates"


class Rig:
    """A machine on which everything is as it should be."""

    def __init__(self, root: Path) -> None:
        self.root = root
        for path, text in {
            "etc/os-release": "ID=debian",
            "usr/bin/cpupower": "",
            "usr/bin/mokutil": "",
            "usr/sbin/dkms": "",
            "proc/sys/kernel/osrelease": RELEASE,
            "proc/self/status": "Name:\tx\nCapEff:\t000001ffffffffff\n",
            "proc/self/mounts": "none /sys/kernel/debug debugfs rw 0 0\n",
            "proc/self/mountinfo": "",
            "proc/swaps": "Filename\n",
            f"lib/modules/{RELEASE}/build/Makefile": "",
            "sys/module/spek/version": __version__,
            "sys/module/spek/srcversion": "AAAA",
            "sys/module/spek_prober/version": __version__,
            "sys/module/spek_prober/srcversion": "BBBB",
            f"{CPU}/cpu0/cpufreq/scaling_governor": "performance",
            f"{CPU}/cpu1/cpufreq/scaling_governor": "performance",
            f"{CPU}/intel_pstate/no_turbo": "1",
            f"{CLOCK}/current_clocksource": "tsc",
            f"{CLOCK}/available_clocksource": "tsc hpet acpi_pm",
            "sys/devices/nvme0n1/dev": "259:0",
            "sys/devices/nvme0n1/size": "2097152",
            f"{QUEUE}/scheduler": "[none] mq-deadline",
            f"{QUEUE}/iostats": "0",
            f"{QUEUE}/io_poll": "1",
            f"{QUEUE}/wbt_lat_usec": "0",
        }.items():
            self.put(path, text)
        for folder, name in (("sys/class/block", "nvme0n1"), ("sys/dev/block", "259:0")):
            (root / folder).mkdir(parents=True, exist_ok=True)
            (root / folder / name).symlink_to(root / "sys/devices/nvme0n1")

    def put(self, path: str, text: str | bytes) -> None:
        """Write a file; a text gets its newline."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode() + b"\n")

    def remove(self, path: str) -> None:
        """Delete a directory."""
        shutil.rmtree(self.root / path)


def doctor(spekctl: Spekctl, rig: Rig, *more: str) -> tuple[int, dict[str, tuple[str, str, str]]]:
    """Exit code, and level, text and remedy by check, of everything that is not ok."""
    outcome = spekctl("doctor", "--root", rig.root, "--json", "--device", "/dev/nvme0n1", *more)
    report = json.loads(outcome.out)
    assert report["would_start"] == (outcome.code == 0)
    return outcome.code, {
        finding["check"]: (finding["level"], finding["text"], finding["remedy"])
        for finding in report["findings"]
        if finding["level"] != "ok"
    }
