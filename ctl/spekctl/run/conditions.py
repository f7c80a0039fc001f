# SPDX-License-Identifier: GPL-2.0-or-later
"""What stops a run or skews its results, each with its remedy, from sysfs and procfs alone.

A check is a function that yields findings; CHECKS are those of the machine, DEVICE_CHECKS those of
a device. Nothing is opened, loaded or changed.
"""

from __future__ import annotations

import gzip
import lzma
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from spekctl import __version__, distribution, namespaces, units
from spekctl.block import device as block_device
from spekctl.block import provisioning, safety
from spekctl.block.device import Device, Roots, atomic_units
from spekctl.distribution import Missing
from spekctl.errors import ExitCode, UsageError
from spekctl.kernel.gen.series import MQ_SERIES
from spekctl.namespaces import Namespaces
from spekctl.run import candidates, secure_boot
from spekctl.suggest import did_you_mean

Level = Literal["ok", "note", "spoils", "stops"]
MODULES = ("spek", "spek_prober")
CAP_SYS_ADMIN = 21
# Reading one of these takes a microsecond or more, and every I/O is dated three times.
SLOW_CLOCKS = ("hpet", "acpi_pm", "jiffies", "refined-jiffies", "pit")


@dataclass(frozen=True, slots=True)
class Finding:
    """The outcome of one check.

    @level: stops: no run starts; spoils: it measures something else as well; note: worth knowing
    @code: what a run would end with, if it is stopped
    """

    subject: str
    check: str
    level: Level
    text: str
    remedy: str = ""
    code: ExitCode = ExitCode.OK


@dataclass(frozen=True, slots=True)
class Machine:
    """A machine, or a directory laid out like its root."""

    root: Path = Path("/")

    @property
    def roots(self) -> Roots:
        """Mount points of the kernel's file systems in it."""
        root = self.root
        return Roots(root / "sys", root / "proc", root / "dev", root / "run/udev/data")

    @property
    def release(self) -> str:
        """The running kernel."""
        return self.read("proc/sys/kernel/osrelease")

    @property
    def modules(self) -> Path:
        """Its modules."""
        return self.root / "lib/modules" / self.release

    def read(self, path: str | Path) -> str:
        """The text of a file; empty if it cannot be read."""
        try:
            return (self.root / path).read_text(encoding="utf-8", errors="replace").strip()
        except OSError:
            return ""

    def installed(self, module: str) -> Path | None:
        """The file that modprobe would load."""
        for folder in ("updates", "updates/dkms", "extra", "kernel"):
            for path in sorted((self.modules / folder).glob(f"{module}.ko*")):
                return path
        return None

    @property
    def where(self) -> Namespaces:
        """Where this process is."""
        return namespaces.around(self.root)

    def install(self, *missing: Missing) -> str:
        """How to install what is missing."""
        return distribution.install(missing, self.root, self.release)

    def with_program(self, program: Missing, command: str) -> str:
        """@command, after the program that it needs if that is not installed."""
        folders = ("usr/sbin", "usr/bin", "sbin", "bin", "usr/local/sbin", "usr/local/bin")
        if any((self.root / folder / program.value).exists() for folder in folders):
            return command
        return f"{self.install(program)}; {command}"

    def held_by_spek(self, device: Device) -> list[str]:
        """What of spek has the device; a directory has no modules to ask."""
        if self.root != Path("/"):
            return []
        runs, claims = candidates.runs_and_claims()
        return safety.held_by_spek(device, runs, claims)

    def find(self, name: str) -> Device:
        """The block device that the user means; in a directory by its name alone."""
        if self.root == Path("/"):
            return block_device.find(name)
        kernel_name = Path(name).name
        number = self.read(f"sys/class/block/{kernel_name}/dev")
        if not number:
            folder = self.root / "sys/class/block"
            names = [entry.name for entry in folder.iterdir()] if folder.is_dir() else []
            raise UsageError(f"there is no device {name}{did_you_mean(kernel_name, names)}")
        major, minor = number.split(":")
        device = block_device.by_number(int(major), int(minor), name, self.roots)
        if device is None:
            raise UsageError(f"{name} is a device node without a device")
        return device


def examine(machine: Machine, devices: Sequence[str] = ()) -> list[Finding]:
    """All findings about runs on these devices."""
    findings = [finding for check in CHECKS for finding in check(machine)]
    for name in devices:
        device = machine.find(name)
        findings += [finding for check in DEVICE_CHECKS for finding in check(machine, device)]
    return findings


def exit_code(findings: Sequence[Finding]) -> ExitCode:
    """OK if a run would start, else the code that it would end with."""
    return next((finding.code for finding in findings if finding.level == "stops"), ExitCode.OK)


# --- the machine ---------------------------------------------------------------------------------


def _rights(machine: Machine) -> Iterator[Finding]:
    match = re.search(r"^CapEff:\s*([0-9a-f]+)$", machine.read("proc/self/status"), re.MULTILINE)
    where = machine.where
    text = "spek needs root: CAP_SYS_ADMIN in the initial user namespace"
    if where.user:
        text += ", and this process is in another"
        remedy = namespaces.USER_REMEDY
    elif match and int(match[1], 16) >> CAP_SYS_ADMIN & 1:
        yield Finding("machine", "rights", "ok", "root, with CAP_SYS_ADMIN")
        return
    else:
        remedy = namespaces.RIGHTS_REMEDY if where.container else "sudo spekctl ..."
    yield Finding("machine", "rights", "stops", text, remedy, ExitCode.PERMISSION)


def _elsewhere(machine: Machine) -> Iterator[Finding]:
    """Namespaces that hide something of the machine."""
    where = machine.where
    if where.network:
        yield Finding(
            "machine", "network namespace", "stops",
            "the modules answer in the initial network namespace only, and this process is in"
            " another",
            namespaces.NETWORK_REMEDY, ExitCode.NO_KERNEL_SIDE,
        )  # fmt: skip
    if where.pid:
        yield Finding(
            "machine", "PID namespace", "note",
            "this process is in another PID namespace than the initial one: programs outside of it"
            " that have a disk open or mounted are not seen here",
            namespaces.PID_REMEDY,
        )  # fmt: skip


def _settings(machine: Machine) -> Iterator[Finding]:
    """A container without --privileged sees sysfs read-only."""
    for line in machine.read("proc/self/mounts").splitlines():
        fields = line.split(" ")
        if fields[1:3] == ["/sys", "sysfs"] and "ro" in fields[3].split(","):
            yield Finding(
                "machine", "sysfs", "note",
                "sysfs is read-only: settings of disks and CPUs cannot be changed here",
                namespaces.SYSFS_REMEDY
                if machine.where.container
                else "mount -o remount,rw /sys",
            )  # fmt: skip
            return


def _loaded(machine: Machine) -> Iterator[Finding]:
    for module in MODULES:
        if (machine.root / "sys/module" / module).is_dir():
            yield from _versions(machine, module)
            continue
        if module == "spek":
            level: Level = "stops"
            text = "the load generator spek is not loaded"
        else:
            level = "spoils"
            text = "spek_prober is not loaded: results have no system statistics and no power"
        yield Finding(
            "machine", "module", level, text, _how_to_load(machine, module),
            ExitCode.NO_KERNEL_SIDE if level == "stops" else ExitCode.OK,
        )  # fmt: skip


def _how_to_load(machine: Machine, module: str) -> str:
    if machine.installed(module) is not None:
        return f"modprobe {module}"
    if machine.where.container:
        return namespaces.MODULE_REMEDY.format(module=module)
    build = f"make && insmod {module}.ko, or make install && modprobe {module}"
    if _headers(machine):
        return build
    return f"{machine.install(Missing.HEADERS)}; {build}"


def _headers(machine: Machine) -> bool:
    return (machine.modules / "build/Makefile").exists()


def _versions(machine: Machine, module: str) -> Iterator[Finding]:
    """Loaded, installed and spekctl must be of the same source."""
    folder = Path("sys/module") / module
    version, source = machine.read(folder / "version"), machine.read(folder / "srcversion")
    path = machine.installed(module)
    installed = _modinfo(path) if path is not None else {}
    reload = f"rmmod {module}; modprobe {module}"
    if installed.get("srcversion", source) != source:
        text = (
            f"the loaded {module} (source {source or 'unknown'}) is not the installed one"
            f" (source {installed['srcversion']}, {path})"
        )
        yield Finding("machine", "version", "spoils", text, reload)
    elif version and version != __version__:
        text = f"the loaded {module} is version {version}, spekctl is {__version__}"
        yield Finding("machine", "version", "spoils", text, f"make install; {reload}")
    else:
        yield Finding("machine", "module", "ok", f"{module} {version} is loaded")


def _modinfo(path: Path) -> dict[str, str]:
    """srcversion, version and mq_caveat of a module's file; empty if it cannot be unpacked."""
    if path.suffix == ".zst":
        return _told_by_modinfo(path)
    openers = {".ko": open, ".xz": lzma.open, ".gz": gzip.open}
    opener = openers.get(path.suffix)
    if opener is None:
        return {}
    try:
        with opener(path, "rb") as file:  # type: ignore[operator]
            data = file.read()
    except (OSError, EOFError, lzma.LZMAError):
        return {}
    matches = re.findall(rb"(?:^|\0)(srcversion|version|mq_caveat)=([^\0]*)(?=\0)", data)
    return {key.decode(): value.decode(errors="replace") for key, value in matches}


def _told_by_modinfo(path: Path) -> dict[str, str]:
    """The same and the signature from the program: Python has no zstd before 3.14, and what loads
    modules has."""
    program = shutil.which("modinfo", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")
    if program is None:
        return {}
    try:
        done = subprocess.run(
            [program, "--", str(path)], capture_output=True, check=True, timeout=10
        )
    except (OSError, subprocess.SubprocessError):
        return {}
    lines = (line.partition(":") for line in done.stdout.decode(errors="replace").splitlines())
    wanted = ("srcversion", "version", "mq_caveat", "sig_id", "signer", "sig_key")
    return {key: value.strip() for key, _, value in lines if key in wanted}


def _headers_missing(machine: Machine) -> Iterator[Finding]:
    if not _headers(machine) and not machine.where.container:
        yield Finding(
            "machine", "headers", "note",
            f"the headers of kernel {machine.release} are missing: modules can't be built for it",
            machine.install(Missing.HEADERS),
        )  # fmt: skip


def _secure_boot(machine: Machine) -> Iterator[Finding]:
    root = machine.root
    if not secure_boot.is_on(root):
        return
    subject, check = "machine", "secure boot"
    if (root / "sys/module/spek").is_dir():
        yield Finding(subject, check, "ok", "Secure Boot is on, and the module is loaded")
        return
    if not secure_boot.is_enforced(root):
        text = "Secure Boot is on, but this kernel loads modules without a signature"
        yield Finding(subject, check, "ok", text)
        return
    sign = f"dkms add . && dkms install spek/{__version__}"
    sign = machine.with_program(Missing.DKMS, sign)
    enrol = f"mokutil --import /{secure_boot.CERTIFICATES[0]}"
    enrol = machine.with_program(Missing.MOKUTIL, enrol)
    path = machine.installed("spek")
    told = _told_by_modinfo(path) if path is not None else {}
    if path is None or not told:
        text = "Secure Boot is on: only modules signed with an enrolled key can be loaded"
        yield Finding(subject, check, "note", text, f"{sign} signs them; then {enrol}")
    elif "sig_id" not in told:
        yield Finding(
            subject, check, "stops",
            f"Secure Boot is on and {path} is not signed: the kernel refuses it",
            f"{sign} signs it; then {enrol}", ExitCode.NO_KERNEL_SIDE,
        )  # fmt: skip
    else:
        yield _signed(machine, path, told)


def _signed(machine: Machine, path: Path, told: dict[str, str]) -> Finding:
    """Whether the firmware knows the key that signed the module @path."""
    root = machine.root
    signer, key = told.get("signer") or "unknown", told.get("sig_key", "")
    by = f"{path} is signed with a key ({signer}, {key or 'without a number'})"
    try:
        serial = bytes.fromhex(key.replace(":", ""))
    except ValueError:
        serial = b""
    if serial and secure_boot.lists(root, serial, secure_boot.TRUSTED):
        text = f"Secure Boot is on, {by} that the firmware knows"
        return Finding("machine", "secure boot", "ok", text)
    if serial and secure_boot.lists(root, serial, secure_boot.REQUESTED):
        remedy = "its enrolment is requested: restart and choose 'Enroll MOK' on the blue screen"
    else:
        certificate = secure_boot.certificate_of(root, serial) if serial else ""
        enrol = f"mokutil --import {certificate or 'the certificate of that key'}"
        enrol = machine.with_program(Missing.MOKUTIL, enrol)
        remedy = f"{enrol}, restart and choose 'Enroll MOK' on the blue screen"
    text = f"Secure Boot is on, {by} that the firmware does not know: the kernel refuses it"
    # A kernel that was built here may have the key inside, so this alone stops no run.
    return Finding("machine", "secure boot", "note", text, remedy)


def _governor(machine: Machine) -> Iterator[Finding]:
    others: dict[str, list[int]] = {}
    folder = machine.root / "sys/devices/system/cpu"
    for path in folder.glob("cpu[0-9]*/cpufreq/scaling_governor"):
        name = machine.read(path)
        if name and name != "performance":
            others.setdefault(name, []).append(int(path.parent.parent.name[3:]))
    for name, cpus in sorted(others.items()):
        yield Finding(
            "machine", "governor", "spoils",
            f"CPU {units.format_cpu_list(cpus)}: governor {name}; their frequency follows the load",
            machine.with_program(Missing.CPUPOWER, "cpupower frequency-set -g performance"),
        )  # fmt: skip


def _turbo(machine: Machine) -> Iterator[Finding]:
    cpu = "sys/devices/system/cpu"
    for path, on, off in (("intel_pstate/no_turbo", "0", "1"), ("cpufreq/boost", "1", "0")):
        if machine.read(f"{cpu}/{path}") == on:
            text = "turbo is on: CPU clock rates depend on load and temperature"
            yield Finding("machine", "turbo", "spoils", text, f"echo {off} > /{cpu}/{path}")
            return


def _clock(machine: Machine) -> Iterator[Finding]:
    folder = "sys/devices/system/clocksource/clocksource0"
    current = machine.read(f"{folder}/current_clocksource")
    if current not in SLOW_CLOCKS:
        return
    others = machine.read(f"{folder}/available_clocksource").split()
    fast = [clock for clock in others if clock not in SLOW_CLOCKS]
    remedy = (
        f"echo {fast[0]} > /{folder}/current_clocksource"
        if fast
        else "boot with tsc=reliable if the CPU has a constant TSC (see the kernel's log)"
    )
    text = f"clock source {current}: reading it takes about a microsecond, three times for each I/O"
    yield Finding("machine", "clock source", "spoils", text, remedy)


def _debugfs(machine: Machine) -> Iterator[Finding]:
    mounts = machine.read("proc/self/mounts").splitlines()
    if not any(line.split(" ")[2:3] == ["debugfs"] for line in mounts):
        yield Finding(
            "machine", "debugfs", "note", "debugfs is not mounted: --log is not available",
            namespaces.DEBUGFS_REMEDY
            if machine.where.container
            else "mount -t debugfs none /sys/kernel/debug",
        )  # fmt: skip


def _back_end(machine: Machine) -> Iterator[Finding]:
    """What auto chooses: the module says it of the kernel that it was built for."""
    tested = ", ".join(f"{major}.{minor}" for major, minor in MQ_SERIES)
    about = f"back end mq was tested on Linux {tested}; this is {machine.release}"
    path = machine.installed("spek")
    caveat = _modinfo(path).get("mq_caveat") if path is not None else None
    if caveat is None:
        match = re.match(r"(\d+)\.(\d+)", machine.release)
        series = (int(match[1]), int(match[2])) if match else None
        caveat = "" if series in MQ_SERIES else "It is untested here."
    if caveat:
        text = f"auto chooses back end bio: {about}. {caveat}"
        remedy = "--backend mq, where it is not refused; the result repeats the remark"
        yield Finding("machine", "back end", "note", text, remedy)
    else:
        text = f"auto chooses back end mq where the device allows it: {about}"
        yield Finding("machine", "back end", "ok", text)


CHECKS: tuple[Callable[[Machine], Iterator[Finding]], ...] = (
    _rights, _elsewhere, _settings, _loaded, _headers_missing, _secure_boot, _governor, _turbo,
    _clock, _debugfs, _back_end,
)  # fmt: skip


# --- a device ------------------------------------------------------------------------------------


def _held(machine: Machine, device: Device) -> Iterator[Finding]:
    if held := machine.held_by_spek(device):
        yield Finding(
            device.path, "holder", "stops", f"in use: {'; '.join(held)}",
            "wait for it, or end it: spekctl status", ExitCode.REFUSED,
        )  # fmt: skip
        return
    in_use = safety.verdict(device, machine.roots)
    if in_use:
        yield Finding(
            device.path, "holder", "stops", f"in use: {in_use}",
            "unmount it, or remove it from its user", ExitCode.REFUSED,
        )  # fmt: skip
        return
    yield Finding(device.path, "holder", "ok", "not in use")
    for text in safety.writers(device, safety.opened_devices(machine.roots), machine.roots):
        yield Finding(
            device.path, "writer", "spoils", text, "stop the program that has it open for writing"
        )


def _scheduler(machine: Machine, device: Device) -> Iterator[Finding]:
    if device.scheduler not in ("none", ""):
        yield Finding(
            device.path, "scheduler", "spoils",
            f"scheduler {device.scheduler} may reorder and delay what --backend bio sends",
            f"echo none > /sys/block/{device.disk}/queue/scheduler",
        )  # fmt: skip


def _iostats(machine: Machine, device: Device) -> Iterator[Finding]:
    if device.iostats == "1":
        yield Finding(
            device.path, "iostats", "note",
            "the kernel's own statistics cost about 10 % of a fast I/O; without them the result"
            " cannot be compared with what the disk counted",
            f"echo 0 > /sys/block/{device.disk}/queue/iostats",
        )  # fmt: skip


def _throttling(machine: Machine, device: Device) -> Iterator[Finding]:
    limit = machine.read(f"sys/block/{device.disk}/queue/wbt_lat_usec") or machine.read(
        f"sys/class/block/{device.disk}/queue/wbt_lat_usec"
    )
    if limit not in ("", "0", "-1"):
        yield Finding(
            device.path, "wbt", "spoils",
            f"writeback throttling is on ({limit} us): it may hold writes of --backend bio back",
            f"echo 0 > /sys/block/{device.disk}/queue/wbt_lat_usec",
        )  # fmt: skip


def _polling(machine: Machine, device: Device) -> Iterator[Finding]:
    if not device.poll_queues:
        option = {"nvme": "nvme.poll_queues=N", "virtio_blk": "virtio_blk.poll_queues=N"}
        remedy = next((text for name, text in option.items() if name in device.driver), "")
        yield Finding(
            device.path, "polling", "note", "no poll queues: --polled is refused",
            f"boot with {remedy}" if remedy else "",
        )  # fmt: skip


def _atomic(machine: Machine, device: Device) -> Iterator[Finding]:
    least, most = atomic_units(device)
    if most:
        yield Finding(
            device.path, "atomic writes", "note",
            f"writes of {units.format_bytes(least)} to {units.format_bytes(most)} can be atomic:"
            " atomic = true of a stream", "",
        )  # fmt: skip


def _unwritten(machine: Machine, device: Device) -> Iterator[Finding]:
    unwritten = provisioning.of(device, machine.root)
    if unwritten is not None:
        yield Finding(
            device.path, "unwritten blocks", "spoils" if unwritten.likely else "note",
            f"{unwritten.text}: reads of blocks that hold nothing do not reach the medium",
            "write the whole range before it is read",
        )  # fmt: skip


DEVICE_CHECKS: tuple[Callable[[Machine, Device], Iterator[Finding]], ...] = (
    _held, _scheduler, _iostats, _throttling, _polling, _atomic, _unwritten,
)  # fmt: skip
