# SPDX-License-Identifier: GPL-2.0
"""spekctl doctor on machines that are directories."""

from __future__ import annotations

import json
import lzma
import os
from pathlib import Path

import pytest
from lib.ctl.command_line import Spekctl

from spekctl import __version__
from spekctl.block import safety
from spekctl.errors import ExitCode
from spekctl.run.conditions import SECURE_BOOT

RELEASE = "6.12.1-test"
CPU = "sys/devices/system/cpu"
CLOCK = "sys/devices/system/clocksource/clocksource0"
QUEUE = "sys/devices/nvme0n1/queue"
UPDATES = f"lib/modules/{RELEASE}/updates"


class Box:
    """A machine on which everything is as it should be."""

    def __init__(self, root: Path) -> None:
        self.root = root
        for path, text in {
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
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode() + b"\n")

    def remove(self, path: str) -> None:
        import shutil

        shutil.rmtree(self.root / path)


@pytest.fixture
def box(tmp_path: Path) -> Box:
    return Box(tmp_path / "machine")


def doctor(spekctl: Spekctl, box: Box, *more: str) -> tuple[int, dict[str, tuple[str, str, str]]]:
    """Exit code, and level, text and remedy by check, of everything that is not ok."""
    outcome = spekctl("doctor", "--root", box.root, "--json", "--device", "/dev/nvme0n1", *more)
    found = json.loads(outcome.out)
    assert found["would_start"] == (outcome.code == 0)
    return outcome.code, {
        one["check"]: (one["level"], one["text"], one["remedy"])
        for one in found["findings"]
        if one["level"] != "ok"
    }


def test_a_machine_in_order_has_no_findings(spekctl: Spekctl, box: Box) -> None:
    assert doctor(spekctl, box) == (0, {})
    text = spekctl("doctor", "--root", box.root, "--device", "nvme0n1").out
    assert "not in use" in text and text.endswith("a run would start\n")


CASES: dict[str, tuple[dict[str, str], str, str, str, str]] = {
    "governor": (
        {f"{CPU}/cpu1/cpufreq/scaling_governor": "powersave"},
        "governor", "spoils", "CPU 1: governor powersave", "cpupower frequency-set -g performance",
    ),
    "intel turbo": (
        {f"{CPU}/intel_pstate/no_turbo": "0"},
        "turbo", "spoils", "turbo is on", f"echo 1 > /{CPU}/intel_pstate/no_turbo",
    ),
    "amd boost": (
        {f"{CPU}/cpufreq/boost": "1"}, "turbo", "spoils", "turbo is on", "echo 0 > ",
    ),
    "slow clock": (
        {f"{CLOCK}/current_clocksource": "hpet"},
        "clock source", "spoils", "clock source hpet", f"echo tsc > /{CLOCK}/current_clocksource",
    ),
    "slow clock without another": (
        {f"{CLOCK}/current_clocksource": "hpet", f"{CLOCK}/available_clocksource": "hpet acpi_pm"},
        "clock source", "spoils", "clock source hpet", "boot with tsc=reliable",
    ),
    "debugfs": (
        {"proc/self/mounts": "none /tmp tmpfs rw 0 0"},
        "debugfs", "note", "--log is not available", "mount -t debugfs none /sys/kernel/debug",
    ),
    "another version loaded": (
        {f"{UPDATES}/spek.ko": "\0version=0.1.0\0srcversion=CCCC\0"},
        "version", "spoils", "(source AAAA) is not the installed one (source CCCC",
        "rmmod spek; modprobe spek",
    ),
    "too old for spekctl": (
        {"sys/module/spek/version": "0.0.9"},
        "version", "spoils", f"version 0.0.9, spekctl is {__version__}", "make install",
    ),
    "scheduler": (
        {f"{QUEUE}/scheduler": "none [mq-deadline]"},
        "scheduler", "spoils", "scheduler mq-deadline",
        "echo none > /sys/block/nvme0n1/queue/scheduler",
    ),
    "iostats": (
        {f"{QUEUE}/iostats": "1"},
        "iostats", "note", "10 %", "echo 0 > /sys/block/nvme0n1/queue/iostats",
    ),
    "wbt": (
        {f"{QUEUE}/wbt_lat_usec": "2000"},
        "wbt", "spoils", "writeback throttling is on (2000 us)",
        "echo 0 > /sys/block/nvme0n1/queue/wbt_lat_usec",
    ),
    "amd boost and no intel": (
        {f"{CPU}/intel_pstate/no_turbo": "1", f"{CPU}/cpufreq/boost": "1"},
        "turbo", "spoils", "turbo is on", f"echo 0 > /{CPU}/cpufreq/boost",
    ),
    "prober of another version": (
        {"sys/module/spek_prober/version": "0.0.9"},
        "version", "spoils", "the loaded spek_prober is version 0.0.9", "rmmod spek_prober",
    ),
    "several governors": (
        {f"{CPU}/cpu{cpu}/cpufreq/scaling_governor": "schedutil" for cpu in (0, 1, 2, 5)},
        "governor", "spoils", "CPU 0-2,5: governor schedutil", "cpupower",
    ),
    "polling": ({f"{QUEUE}/io_poll": "0"}, "polling", "note", "--polled is refused", ""),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_what_spoils_a_measurement_is_found_with_its_remedy(
    case: str, spekctl: Spekctl, box: Box
) -> None:
    files, check, level, text, remedy = CASES[case]
    for path, content in files.items():
        box.put(path, content)
    code, found = doctor(spekctl, box)
    assert code == 0
    assert list(found) == [check]
    assert found[check][0] == level
    assert text in found[check][1] and remedy in found[check][2]


def test_the_same_source_is_found_in_a_packed_module(spekctl: Spekctl, box: Box) -> None:
    box.put(f"{UPDATES}/spek.ko.xz", lzma.compress(b"\0srcversion=AAAA\0"))
    assert doctor(spekctl, box) == (0, {})
    box.put(f"{UPDATES}/spek.ko.xz", lzma.compress(b"\0srcversion=DDDD\0"))
    assert "version" in doctor(spekctl, box)[1]
    box.put(f"{UPDATES}/spek.ko.xz", b"\xfd7zXZ broken")
    assert doctor(spekctl, box) == (0, {})


def test_a_module_packed_by_zstd_is_read_by_modinfo(
    spekctl: Spekctl, box: Box, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    box.put(f"{UPDATES}/spek.ko.zst", b"\x28\xb5\x2f\xfd")
    path = box.root / f"{UPDATES}/spek.ko.zst"
    program = tmp_path / "bin/modinfo"
    program.parent.mkdir()
    monkeypatch.setenv("PATH", str(program.parent), prepend=os.pathsep)
    for source, found in (("AAAA", set()), ("DDDD", {"version"})):
        lines = f"filename:       x\nversion:        1\nsrcversion:     {source}\n"
        program.write_text(f'#!/bin/sh\n[ "$2" = {path} ] && cat <<END\n{lines}END\n')
        program.chmod(0o755)
        assert set(doctor(spekctl, box)[1]) == found
    # One that was built without zstd says nothing.
    program.write_text("#!/bin/sh\nexit 1\n")
    assert doctor(spekctl, box) == (0, {})


def test_without_rights_a_run_would_end_with_3(spekctl: Spekctl, box: Box) -> None:
    box.put("proc/self/status", "CapEff:\t0000000000000000\n")
    code, found = doctor(spekctl, box)
    assert code == ExitCode.PERMISSION and found["rights"][0] == "stops"


def test_without_the_module_a_run_would_end_with_5_and_the_way_to_it_is_said(
    spekctl: Spekctl, box: Box
) -> None:
    box.remove("sys/module/spek")
    code, found = doctor(spekctl, box)
    assert code == ExitCode.NO_KERNEL_SIDE
    assert found["module"][2].startswith("make && insmod spek.ko")
    box.remove(f"lib/modules/{RELEASE}")
    code, found = doctor(spekctl, box)
    assert found["module"][2].startswith(f"apt-get install linux-headers-{RELEASE}; make")
    assert found["headers"][0] == "note"
    box.put(f"{UPDATES}/spek.ko", "")
    assert doctor(spekctl, box)[1]["module"][2] == "modprobe spek"


def test_without_the_prober_a_run_would_start(spekctl: Spekctl, box: Box) -> None:
    box.remove("sys/module/spek_prober")
    code, found = doctor(spekctl, box)
    assert code == 0 and found["module"][0] == "spoils"


def test_secure_boot_is_no_matter_once_the_module_is_loaded(spekctl: Spekctl, box: Box) -> None:
    box.put(f"sys/{SECURE_BOOT}", b"\6\0\0\0\1")
    assert doctor(spekctl, box) == (0, {})
    box.remove("sys/module/spek")
    assert "makes a key" in doctor(spekctl, box)[1]["secure boot"][2]
    box.put("var/lib/dkms/mok.pub", "key")
    assert "mokutil --import /var/lib/dkms/mok.pub" in doctor(spekctl, box)[1]["secure boot"][2]
    box.put(f"sys/{SECURE_BOOT}", b"\6\0\0\0\0")
    assert "secure boot" not in doctor(spekctl, box)[1]


def test_a_device_in_use_would_end_a_run_with_4(spekctl: Spekctl, box: Box) -> None:
    line = "36 35 259:0 / /srv rw,relatime shared:1 - ext4 /dev/nvme0n1 rw\n"
    box.put("proc/self/mountinfo", line)
    code, found = doctor(spekctl, box)
    assert code == ExitCode.REFUSED
    assert "mounted on /srv" in found["holder"][1]


def test_a_program_that_writes_to_the_device_is_named(
    spekctl: Spekctl, box: Box, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It stops no run, unless it holds the device exclusively."""
    box.put("proc/77/comm", "dd")
    opened = [
        safety.Opened("259:0", "77", os.O_WRONLY),
        safety.Opened("259:0", "78", os.O_RDONLY),
        safety.Opened("8:0", "79", os.O_RDWR),
    ]
    monkeypatch.setattr(safety, "opened_devices", lambda roots: iter(opened))
    monkeypatch.setattr(safety, "_openers", lambda device, roots, modes: [])
    code, found = doctor(spekctl, box)
    assert code == 0 and list(found) == ["writer"]
    level, text, remedy = found["writer"]
    assert (level, text) == ("spoils", "process 77 (dd) has it open for writing")
    assert remedy == "stop the program that has it open for writing"


def test_the_way_to_poll_queues_is_that_of_the_driver(spekctl: Spekctl, box: Box) -> None:
    box.put(f"{QUEUE}/io_poll", "0")
    driver = box.root / "sys/bus/pci/drivers/nvme"
    driver.mkdir(parents=True)
    box.put("sys/devices/nvme0n1/device/x", "")
    (box.root / "sys/devices/nvme0n1/device/driver").symlink_to(driver)
    assert doctor(spekctl, box)[1]["polling"][2] == "boot with nvme.poll_queues=N"


def test_a_device_that_is_not_there_gets_a_hint(spekctl: Spekctl, box: Box) -> None:
    outcome = spekctl("doctor", "--root", box.root, "--device", "/dev/nvme0n2")
    assert outcome.code == ExitCode.USAGE
    assert "did you mean 'nvme0n1'?" in outcome.sentence


def test_this_machine_can_be_examined(spekctl: Spekctl) -> None:
    outcome = spekctl("doctor")
    assert outcome.code in (0, ExitCode.PERMISSION, ExitCode.NO_KERNEL_SIDE)
    assert "name a device with --device" in outcome.out
