# SPDX-License-Identifier: GPL-2.0
"""What would stop a run or skew its results, on machines that are directories."""

from __future__ import annotations

import lzma
import os
from pathlib import Path

import pytest
from lib.ctl.command_line import Spekctl
from lib.fakes.kernel import other_claim
from lib.fakes.machine import disk
from lib.fakes.rig import CLOCK, CPU, QUEUE, RELEASE, UPDATES, Rig, doctor

from spekctl import __version__
from spekctl.block import safety
from spekctl.errors import ExitCode
from spekctl.kernel.gen.series import MQ_SERIES
from spekctl.run import candidates, conditions

SERIES = ", ".join(f"{major}.{minor}" for major, minor in MQ_SERIES)


@pytest.fixture
def rig(tmp_path: Path) -> Rig:
    return Rig(tmp_path / "machine")


def test_a_machine_in_order_has_no_findings(spekctl: Spekctl, rig: Rig) -> None:
    assert doctor(spekctl, rig) == (0, {})


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
    "kernel of a vendor": (
        {f"{UPDATES}/spek.ko": "\0srcversion=AAAA\0mq_caveat=Not on vendor kernels.\0"},
        "back end", "note",
        f"auto chooses back end bio: back end mq was tested on Linux {SERIES}; this is {RELEASE}."
        " Not on vendor kernels.",
        "--backend mq",
    ),
    "thin volume": (
        {"sys/devices/nvme0n1/device/scsi_disk/0:0:0:0/thin_provisioning": "1"},
        "unwritten blocks", "spoils", "it is a thin volume", "write the whole range",
    ),
    "discards": (
        {f"{QUEUE}/discard_granularity": "4096", f"{QUEUE}/discard_max_bytes": "1048576"},
        "unwritten blocks", "note", "it takes discards (in units of 4096 bytes)", "write the whole",
    ),
    "atomic writes": (
        {
            f"{QUEUE}/atomic_write_unit_min_bytes": "4096",
            f"{QUEUE}/atomic_write_unit_max_bytes": "65536",
        },
        "atomic writes", "note", "writes of 4 KiB to 64 KiB can be atomic", "",
    ),
    "polling": ({f"{QUEUE}/io_poll": "0"}, "polling", "note", "--polled is refused", ""),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_what_spoils_a_measurement_is_found_with_its_remedy(
    case: str, spekctl: Spekctl, rig: Rig
) -> None:
    files, check, level, text, remedy = CASES[case]
    for path, content in files.items():
        rig.put(path, content)
    code, findings = doctor(spekctl, rig)
    assert code == 0
    assert list(findings) == [check]
    assert findings[check][0] == level
    assert text in findings[check][1] and remedy in findings[check][2]


def test_the_series_on_which_auto_may_choose_mq_are_printed(spekctl: Spekctl, rig: Rig) -> None:
    said = spekctl("doctor", "--root", rig.root).out
    assert f"back end mq was tested on Linux {SERIES}; this is {RELEASE}" in said
    rig.put(f"{UPDATES}/spek.ko", "\0srcversion=AAAA\0mq_caveat=\0")
    assert doctor(spekctl, rig) == (0, {})


@pytest.mark.parametrize("release", ["6.6.30", "6.120.1-test", "16.12.1", "unknown"])
def test_without_an_installed_module_the_series_decides(
    release: str, spekctl: Spekctl, rig: Rig
) -> None:
    rig.put("proc/sys/kernel/osrelease", release)
    assert doctor(spekctl, rig)[1]["back end"][0] == "note"


def test_the_same_source_is_found_in_a_packed_module(spekctl: Spekctl, rig: Rig) -> None:
    rig.put(f"{UPDATES}/spek.ko.xz", lzma.compress(b"\0srcversion=AAAA\0"))
    assert doctor(spekctl, rig) == (0, {})
    rig.put(f"{UPDATES}/spek.ko.xz", lzma.compress(b"\0srcversion=DDDD\0"))
    assert "version" in doctor(spekctl, rig)[1]
    rig.put(f"{UPDATES}/spek.ko.xz", b"\xfd7zXZ broken")
    assert doctor(spekctl, rig) == (0, {})


def test_a_module_packed_by_zstd_is_read_by_modinfo(
    spekctl: Spekctl, rig: Rig, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    rig.put(f"{UPDATES}/spek.ko.zst", b"\x28\xb5\x2f\xfd")
    path = rig.root / f"{UPDATES}/spek.ko.zst"
    program = tmp_path / "bin/modinfo"
    program.parent.mkdir()
    monkeypatch.setenv("PATH", str(program.parent), prepend=os.pathsep)
    for source, checks in (("AAAA", set()), ("DDDD", {"version"})):
        lines = f"filename:       x\nversion:        1\nsrcversion:     {source}\n"
        program.write_text(f'#!/bin/sh\n[ "$2" = {path} ] && cat <<END\n{lines}END\n')
        program.chmod(0o755)
        assert set(doctor(spekctl, rig)[1]) == checks
    # One that was built without zstd says nothing.
    program.write_text("#!/bin/sh\nexit 1\n")
    assert doctor(spekctl, rig) == (0, {})


def test_without_rights_a_run_would_end_with_3(spekctl: Spekctl, rig: Rig) -> None:
    rig.put("proc/self/status", "CapEff:\t0000000000000000\n")
    code, findings = doctor(spekctl, rig)
    assert code == ExitCode.PERMISSION and findings["rights"][0] == "stops"


def test_without_the_module_a_run_would_end_with_5_and_the_way_to_it_is_said(
    spekctl: Spekctl, rig: Rig
) -> None:
    rig.remove("sys/module/spek")
    code, findings = doctor(spekctl, rig)
    assert code == ExitCode.NO_KERNEL_SIDE
    assert findings["module"][2].startswith("make && insmod spek.ko")
    rig.remove(f"lib/modules/{RELEASE}")
    code, findings = doctor(spekctl, rig)
    assert findings["module"][2].startswith(f"apt-get install linux-headers-{RELEASE}; make")
    assert findings["headers"][0] == "note"
    rig.put(f"{UPDATES}/spek.ko", "")
    assert doctor(spekctl, rig)[1]["module"][2] == "modprobe spek"


@pytest.mark.parametrize(
    ("os_release", "headers", "cpupower"),
    [
        ("ID=fedora", f"dnf install kernel-devel-{RELEASE}", "dnf install kernel-tools"),
        ("ID=arch", "linux-test-headers", "pacman -S cpupower"),
        (
            'ID="opensuse-leap"',
            "zypper install kernel-test-devel=6.12.1",
            "zypper install cpupower",
        ),
        ("ID=unknown", f"install the headers of kernel {RELEASE}", "install cpupower"),
    ],
)
def test_remedies_are_commands_of_the_distribution(
    os_release: str, headers: str, cpupower: str, spekctl: Spekctl, rig: Rig
) -> None:
    rig.put("etc/os-release", os_release)
    rig.remove("sys/module/spek")
    rig.remove(f"lib/modules/{RELEASE}")
    rig.remove("usr/bin")
    rig.put(f"{CPU}/cpu1/cpufreq/scaling_governor", "powersave")
    findings = doctor(spekctl, rig)[1]
    assert headers in findings["headers"][2]
    assert headers in findings["module"][2]
    assert findings["governor"][2] == f"{cpupower}; cpupower frequency-set -g performance"


def test_in_a_container_the_namespaces_and_their_options_are_named(
    spekctl: Spekctl, rig: Rig
) -> None:
    rig.put("proc/sys/net/core/somaxconn", "4096")
    rig.put("proc/self/mounts", "none /tmp tmpfs rw 0 0")
    (rig.root / "proc/self/ns").mkdir()
    (rig.root / "proc/self/ns/pid").symlink_to("pid:[4026532246]")
    code, findings = doctor(spekctl, rig)
    assert code == ExitCode.NO_KERNEL_SIDE
    assert findings["network namespace"][0] == "stops"
    assert "--network host (docker, podman)" in findings["network namespace"][2]
    assert findings["PID namespace"][0] == "note"
    assert "--pid host (docker, podman)" in findings["PID namespace"][2]
    assert "-v /sys/kernel/debug:/sys/kernel/debug" in findings["debugfs"][2]
    # Root of a rootless container has all capabilities, in its own user namespace.
    (rig.root / "proc/self/ns/user").symlink_to("user:[4026532178]")
    code, findings = doctor(spekctl, rig)
    assert code == ExitCode.PERMISSION
    assert "start the container as root" in findings["rights"][2]


def test_in_a_container_modules_and_settings_are_those_of_the_machine(
    spekctl: Spekctl, rig: Rig
) -> None:
    """Its image has neither the headers nor the modules of the kernel, and its sysfs is read-only
    without --privileged."""
    rig.put("proc/self/mounts", "sysfs /sys sysfs ro,nosuid 0 0\nnone /x debugfs rw 0 0")
    rig.remove("sys/module/spek")
    rig.remove("lib/modules")
    findings = doctor(spekctl, rig)[1]
    assert findings["sysfs"][2] == "mount -o remount,rw /sys"
    assert "insmod" in findings["module"][2] and "headers" in findings
    (rig.root / "proc/self/ns").mkdir()
    (rig.root / "proc/self/ns/ipc").symlink_to("ipc:[4026532246]")
    findings = doctor(spekctl, rig)[1]
    assert findings["sysfs"][0] == "note"
    assert "with --privileged (docker, podman)" in findings["sysfs"][2]
    assert (
        findings["module"][2] == "outside of the container: modprobe spek, after make install there"
    )
    assert "headers" not in findings
    rig.put("proc/self/mounts", "sysfs /sys sysfs rw,nosuid 0 0\nnone /x debugfs rw 0 0")
    assert "sysfs" not in doctor(spekctl, rig)[1]


def test_without_the_prober_a_run_would_start(spekctl: Spekctl, rig: Rig) -> None:
    rig.remove("sys/module/spek_prober")
    code, findings = doctor(spekctl, rig)
    assert code == 0 and findings["module"][0] == "spoils"


def test_a_device_in_use_would_end_a_run_with_4(spekctl: Spekctl, rig: Rig) -> None:
    line = "36 35 259:0 / /srv rw,relatime shared:1 - ext4 /dev/nvme0n1 rw\n"
    rig.put("proc/self/mountinfo", line)
    code, findings = doctor(spekctl, rig)
    assert code == ExitCode.REFUSED
    assert "mounted on /srv" in findings["holder"][1]


def test_a_device_that_spek_holds_is_not_free(monkeypatch: pytest.MonkeyPatch) -> None:
    claims = [other_claim(2, 250, 0)]
    monkeypatch.setattr(candidates, "runs_and_claims", lambda: ([], claims))
    (finding,) = conditions._held(conditions.Machine(), disk())
    assert (finding.level, finding.code) == ("stops", ExitCode.REFUSED)
    assert finding.text == "in use: spek holds it between the runs of a command (claim 2)"


def test_a_program_that_writes_to_the_device_is_named(
    spekctl: Spekctl, rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It stops no run, unless it holds the device exclusively."""
    rig.put("proc/77/comm", "dd")
    opened = [
        safety.Opened("259:0", "77", os.O_WRONLY),
        safety.Opened("259:0", "78", os.O_RDONLY),
        safety.Opened("8:0", "79", os.O_RDWR),
    ]
    monkeypatch.setattr(safety, "opened_devices", lambda roots: iter(opened))
    monkeypatch.setattr(safety, "_openers", lambda device, roots, modes: [])
    code, findings = doctor(spekctl, rig)
    assert code == 0 and list(findings) == ["writer"]
    level, text, remedy = findings["writer"]
    assert (level, text) == ("spoils", "process 77 (dd) has it open for writing")
    assert remedy == "stop the program that has it open for writing"


def test_the_way_to_poll_queues_is_that_of_the_driver(spekctl: Spekctl, rig: Rig) -> None:
    rig.put(f"{QUEUE}/io_poll", "0")
    driver = rig.root / "sys/bus/pci/drivers/nvme"
    driver.mkdir(parents=True)
    rig.put("sys/devices/nvme0n1/device/x", "")
    (rig.root / "sys/devices/nvme0n1/device/driver").symlink_to(driver)
    assert doctor(spekctl, rig)[1]["polling"][2] == "boot with nvme.poll_queues=N"
