# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs inside the guest: sets it up by the plan, runs the command, reports how it ended.

Started by virtme-ng's init as root, with nothing but the standard library, because every import
costs twenty times as much under TCG. The plan (plan.json) comes through the shared directory;
the exit status goes back the same way (status.json). The command's output goes through
virtio-serial ports, or through a terminal (hvc0) where the user has one.
"""

from __future__ import annotations

import contextlib
import fcntl
import functools
import glob
import json
import os
import signal
import struct
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

PORTS = Path("/sys/class/virtio-ports")
TTY = "/dev/hvc0"
CONFIGFS = Path("/sys/kernel/config/nullb")
WAIT_S = 300.0  # for what udev makes: it gives an event up after 180 s, and is silent until then
CPUS = Path("/sys/devices/system/cpu")
PRINTK = Path("/proc/sys/kernel/printk")
TRACEFS = Path("/sys/kernel/tracing")
RARE_EVENT = "events/module/module_request"
PERF_EVENT_OPEN, PERF_FLAG_FD_CLOEXEC = 298, 8  # x86-64
PERF_TYPE_SOFTWARE, PERF_ATTR_SIZE, PERF_COUNT_SW_CONTEXT_SWITCHES = 1, 72, 3


class GuestFailure(Exception):
    """A failure of the guest's set-up: one sentence for the host."""


def main() -> int:
    """Follow the plan in the directory given as the only argument."""
    folder = Path(sys.argv[1])
    plan = json.loads((folder / "plan.json").read_text())
    status: dict[str, Any] = {"booted_s": time.clock_gettime(time.CLOCK_BOOTTIME)}
    modules = plan["environment"].get("SPEK_MODULES")
    if modules:
        os.environ["SPEK_MODULES"] = modules
    try:
        prepare(plan)
        if plan["net"]:
            join(plan["net"])
        disks = [make_disk(disk) for disk in plan["disks"]]
        status["disks"] = disks
        write_status(folder, {**status, "phase": "running"})
        status["exit_status"] = run_command(plan, disks)
    except GuestFailure as failure:
        status["failure"] = str(failure)
    except Exception as error:
        status["failure"] = f"{type(error).__name__}: {error}"
    write_status(folder, {**status, "phase": "done"})
    with contextlib.suppress(OSError, GuestFailure):
        port("spek.ctl").write_text("done\n")
    return 0


def write_status(folder: Path, status: dict[str, Any]) -> None:
    """Publish @status whole or not at all."""
    scratch = folder / "status.tmp"
    with open(scratch, "w") as file:
        json.dump(status, file)
        file.flush()
        os.fsync(file.fileno())
    scratch.rename(folder / "status.json")


def prepare(plan: dict[str, Any]) -> None:
    """Set up /tmp, cached programs, the modules, and kernel messages."""
    keep(plan["host_tag"], [Path(folder) for folder in plan["kept"]])
    if plan["own_tmp"]:
        make_tmp(Path("/tmp"))
    if plan["patches_text"]:
        hold_scheduler()
    for module in plan["modules"]:
        call("insmod", module)
    PRINTK.write_text("7 4 1 7\n")


def keep(tag: str, folders: list[Path]) -> None:
    """Let the page cache keep what is read in @folders of the host.

    The root file system asks the host at each access, which takes half of the time that a Python
    program needs to start.
    """
    host = Path("/run/spek/host")
    host.mkdir(parents=True)
    options = "ro,trans=virtio,version=9p2000.L,msize=524288,cache=loose"
    call("mount", "-t", "9p", "-o", options, tag, str(host))
    for folder in folders:
        call("mount", "--bind", f"{host}{folder}", str(folder))


def hold_scheduler() -> None:
    """Keep the scheduler's code as it is for as long as this process lives.

    The first and the last perf counter of context switches, the first two and the last two users of
    the tracepoint sched_switch (each probe is one), and the first and the last event of any kind
    that is traced (names of tasks are recorded with it) patch __schedule().
    QEMU's emulated CPUs are not up to that: once in some thousand times one of them runs into the
    breakpoint that stood there a moment ago, when the kernel no longer knows of it. Then it dies
    (Oops: int3 in __schedule, whose code is whole again) or stands still. With as many of each
    there all the time there is no first and no last; while these come no other CPU runs.
    """
    import ctypes

    event = (PERF_TYPE_SOFTWARE, PERF_ATTR_SIZE, PERF_COUNT_SW_CONTEXT_SWITCHES)
    attributes = struct.pack("=IIQ7Q", *event, *[0] * 7)
    if not (TRACEFS / "instances").is_dir():
        call("mount", "-t", "tracefs", "nodev", str(TRACEFS), check=False)
    held = [TRACEFS / "instances" / name for name in ("spek-held", "spek-held-too")]
    with one_cpu(), contextlib.suppress(OSError):
        # Of this thread, on any CPU, in no group; where the kernel has none there is nothing to
        # hold.
        ctypes.CDLL(None).syscall(PERF_EVENT_OPEN, attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC)
        for instance in held:
            instance.mkdir()
            # Nothing is recorded.
            (instance / "tracing_on").write_text("0")
            (instance / RARE_EVENT / "enable").write_text("1")
            (instance / "events/sched/sched_switch/enable").write_text("1")


@contextlib.contextmanager
def one_cpu() -> Iterator[None]:
    """Take all CPUs but the first offline; one that refuses stays online."""
    others = sorted(CPUS.glob("cpu[1-9]*/online"))
    try:
        for cpu in others:
            with contextlib.suppress(OSError):
                cpu.write_text("0")
        yield
    finally:
        for cpu in others:
            cpu.write_text("1")


def make_tmp(tmp: Path) -> None:
    """A /tmp of the guest's own. Directories of the host that are mounted below it, as a clone that
    lies there, keep their places."""
    below = mounts_below(tmp)
    aside = [Path("/run/spek") / str(number) for number, _ in enumerate(below)]
    for path, place in zip(below, aside, strict=True):
        place.mkdir(parents=True)
        call("mount", "--move", str(path), str(place))
    call("mount", "-t", "tmpfs", "-o", "mode=1777", "tmpfs", str(tmp))
    for path, place in zip(below, aside, strict=True):
        path.mkdir(parents=True)
        call("mount", "--move", str(place), str(path))


def join(net: dict[str, Any]) -> None:
    """Take the guest's name and addresses, and files of its own where the host has such files."""
    Path("/proc/sys/kernel/hostname").write_text(net["name"])
    load("virtio_net")
    # It gives cards their names.
    call("udevadm", "settle", check=False)
    call("ip", "link", "set", "lo", "up")
    for card in net["cards"]:
        look = functools.partial(card_of, card["mac"])
        device: str = wait_for(look, f"there is no network card {card['mac']}")
        call("ip", "address", "add", card["address"], "dev", device)
        call("ip", "link", "set", device, "up")
    place = Path("/run/spek/net")
    place.mkdir(parents=True)
    own = place / "hosts"
    own.write_text(net["hosts"])
    call("mount", "--bind", str(own), "/etc/hosts")
    for folder, files in net["folders"].items():
        if Path(folder).is_dir():
            own_folder(Path(folder), files, place)


def card_of(mac: str, cards: Path = Path("/sys/class/net")) -> str:
    """Name of the network card with this MAC; empty if there is none."""
    for path in cards.glob("*/address"):
        if path.read_text().strip() == mac:
            return path.parent.name
    return ""


def own_folder(folder: Path, files: dict[str, str], place: Path) -> None:
    """Mount a copy of @folder, writable and with @files, over it. Programs keep state there."""
    own = place / folder.name
    call("cp", "-a", str(folder), str(own))
    for name, text in files.items():
        # A link would lead back to the host's.
        (own / name).unlink(missing_ok=True)
        (own / name).write_text(f"{text}\n")
    call("mount", "--bind", str(own), str(folder))


def mounts_below(folder: Path, table: Path = Path("/proc/self/mounts")) -> list[Path]:
    """Mount points in @folder; one inside another comes after it and moves with it, so it is
    left out."""
    mounts: list[Path] = []
    for line in table.read_text().splitlines():
        # Blanks and the like are written as \040.
        name = line.split(" ")[1].encode().decode("unicode_escape").encode("latin-1").decode()
        path = Path(name)
        if folder in path.parents and not any(mount in path.parents for mount in mounts):
            mounts.append(path)
    return mounts


def call(*command: str, check: bool = True) -> str:
    """Run a tool; its error message is the failure."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if check and done.returncode:
        complaint = (done.stderr or done.stdout).strip().splitlines()
        raise GuestFailure(f"{' '.join(command)}: {complaint[0] if complaint else 'failed'}")
    return done.stdout


# ---- disks ----


def make_disk(disk: dict[str, Any]) -> str:
    """Create or find a disk of the plan, and wait for udev. Return its device node."""
    node = find_disk(disk)
    call("udevadm", "settle", check=False)
    return node


def find_disk(disk: dict[str, Any]) -> str:
    """Create or find a disk of the plan. Return its existing device node."""
    makers = {"null_blk": make_null_blk, "scsi_debug": make_scsi_debug, "drive": make_drive}
    maker = makers.get(disk["kind"])
    name = maker(disk) if maker else find_by_serial(disk)
    node = f"/dev/{name}"
    wait_for(lambda: os.path.exists(node), f"{node} did not appear")
    return node


def load(module: str) -> None:
    """Load a module of the kernel, if it is neither loaded nor built in."""
    if not Path("/sys/module", module).is_dir():
        call("modprobe", module, check=False)


def wait_for(condition: Callable[[], Any], failure: str) -> Any:
    """Poll until @condition is true; GuestFailure after WAIT_S."""
    end = time.monotonic() + WAIT_S
    while time.monotonic() < end:
        result = condition()
        if result:
            return result
        time.sleep(0.05)
    raise GuestFailure(failure)


def make_null_blk(disk: dict[str, Any]) -> str:
    """A null_blk device through configfs. Its name is not foretold: some kernels number, some
    take the item's name, so the new one is the one just created."""
    if not CONFIGFS.is_dir():
        call("modprobe", "configfs", check=False)
        if not os.path.ismount(CONFIGFS.parent):
            call("mount", "-t", "configfs", "configfs", str(CONFIGFS.parent))
        call("modprobe", "null_blk", "nr_devices=0")
    before = set(os.listdir("/sys/block"))
    item = CONFIGFS / f"nullb{len(list(CONFIGFS.glob('nullb*')))}"
    item.mkdir()
    attributes = {
        "size": str(disk["bytes"] >> 20),
        "blocksize": str(disk["block_size"]),
        **disk["options"],
    }
    for name, value in attributes.items():
        write_attribute(item / name, value)
    write_attribute(item / "power", "1")
    return str(wait_for(lambda: set(os.listdir("/sys/block")) - before, "no new disk").pop())


def write_attribute(path: Path, value: str) -> None:
    """Write to sysfs or configfs."""
    if not path.exists():
        raise GuestFailure(f"null_blk of this kernel has no attribute {path.name}")
    try:
        path.write_text(value)
    except OSError as error:
        raise GuestFailure(f"null_blk refuses {path.name}={value}: {error.strerror}") from error


def make_scsi_debug(disk: dict[str, Any]) -> str:
    """Create the scsi_debug disk; a guest has at most one."""
    options = {
        "dev_size_mb": str(disk["bytes"] >> 20),
        "sector_size": str(disk["block_size"]),
        **disk["options"],
    }
    load("sd_mod")
    call("modprobe", "scsi_debug", *(f"{name}={value}" for name, value in options.items()))
    pattern = "/sys/bus/pseudo/drivers/scsi_debug/adapter*/host*/target*/*/block/*"
    names: list[str] = wait_for(lambda: glob.glob(pattern), "no scsi_debug disk")
    return os.path.basename(names[0])


def make_drive(disk: dict[str, Any]) -> str:
    """Create a modelled drive, with our own module."""
    load("sd_mod")
    if not Path("/sys/module/spek_drive").is_dir():
        call("insmod", str(Path(os.environ["SPEK_MODULES"], "spek_drive.ko")))
    node = call(sys.executable, "-m", "spekctl", "drive", "new", *disk["words"])
    return os.path.basename(node.strip())


def find_by_serial(disk: dict[str, Any]) -> str:
    """An emulated disk, by the serial number that QEMU gave it."""
    load({"nvme": "nvme", "virtio": "virtio_blk"}[disk["kind"]])

    def look() -> str:
        for path in glob.glob("/sys/block/*/serial") + glob.glob("/sys/block/*/device/serial"):
            with contextlib.suppress(OSError):
                if Path(path).read_text().strip() == disk["serial"]:
                    return path.split("/")[3]
        return ""

    return str(wait_for(look, f"the {disk['kind']} disk did not appear"))


# ---- the command ----


def run_command(plan: dict[str, Any], disks: list[str]) -> int:
    """Run the command of the plan with its output connected; return its exit status."""
    environment = {**os.environ, **plan["environment"]}
    argv = list(plan["command"])
    for number, node in enumerate(disks, start=1):
        environment[f"SPEK_DISK{number}"] = node
        argv = [word.replace(f"{{disk{number}}}", node) for word in argv]
    tty = open_terminal(plan["window"]) if plan["tty"] else -1
    relays: list[threading.Thread] = []
    out = connect("spek.out", tty if "out" in plan["tty"] else -1, relays)
    err = connect("spek.err", tty if "err" in plan["tty"] else -1, relays)

    def own_group() -> None:
        os.setpgid(0, 0)
        if tty >= 0:
            os.tcsetpgrp(tty, os.getpgrp())
            signal.signal(signal.SIGTTOU, signal.SIG_DFL)

    try:
        child = subprocess.Popen(
            argv,
            stdin=tty if tty >= 0 else subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            cwd=plan["cwd"],
            env=environment,
            preexec_fn=own_group,
        )
    except OSError as error:
        raise GuestFailure(f"{argv[0]}: {error.strerror}") from error
    for fd in {out, err} - {tty}:
        os.close(fd)
    threading.Thread(target=follow_host, args=(child.pid, tty), daemon=True).start()
    code = child.wait()
    for relay in relays:
        # A daemon that the command left behind may keep a pipe open: do not wait for it.
        relay.join(timeout=2)
    if tty >= 0:
        termios.tcdrain(tty)
    return code if code >= 0 else 128 - code


def open_terminal(window: list[int]) -> int:
    """The guest's end of the user's terminal, in the user's size.

    It belongs to our session, not to one of the command's own: the end of a session hangs its
    terminal up and throws away what has not been sent yet.
    """
    try:
        os.setsid()
    except PermissionError:
        leave_terminal()
    fd = os.open(TTY, os.O_RDWR | os.O_NOCTTY)
    fcntl.ioctl(fd, termios.TIOCSCTTY, 0)
    # The command is in the foreground, we are not: without this the kernel refuses us tcdrain().
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    set_window(fd, window)
    return fd


def leave_terminal() -> None:
    """Give up the terminal of the session we lead: the console, if init was in time to set it."""
    try:
        fd = os.open("/dev/tty", os.O_RDWR)
    except OSError:
        return
    # It hangs up on the processes in its foreground, which are we.
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    fcntl.ioctl(fd, termios.TIOCNOTTY)
    signal.signal(signal.SIGHUP, before)
    os.close(fd)


def set_window(fd: int, window: list[int]) -> None:
    """Tell the terminal its size."""
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", window[0], window[1], 0, 0))


def port(name: str) -> Path:
    """A way to the host, by the name that the kernel gives it: udev's link may be slow to come."""

    def find() -> Path | None:
        for path in PORTS.glob("*/name"):
            if path.read_text().strip() == name:
                return Path("/dev", path.parent.name)
        return None

    path: Path = wait_for(find, f"the kernel has no virtio port {name}")
    wait_for(path.exists, f"{path} did not appear")
    return path


def connect(name: str, tty: int, relays: list[threading.Thread]) -> int:
    """A file descriptor for the command's output: the terminal, or a pipe into a port.

    Not the port itself: it can be opened only once, and programs open /dev/stdout again.
    """
    if tty >= 0:
        return tty
    read_end, write_end = os.pipe()
    destination = os.open(port(name), os.O_WRONLY)

    def relay() -> None:
        while data := os.read(read_end, 65536):
            while data:
                data = data[os.write(destination, data) :]

    thread = threading.Thread(target=relay, daemon=True)
    thread.start()
    relays.append(thread)
    return write_end


def follow_host(pid: int, tty: int) -> None:
    """Carry out what the host asks for: signals, window sizes."""
    with open(port("spek.ctl.in")) as orders:
        for line in orders:
            word, *arguments = line.split()
            if word == "window" and tty >= 0:
                set_window(tty, [int(value) for value in arguments])
            elif word == "signal":
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(pid, signal.Signals[arguments[0]])


if __name__ == "__main__":
    sys.exit(main())
