# SPDX-License-Identifier: GPL-2.0-or-later
"""Starts a guest, relays its output and signals, and returns its exit status.

virtme-ng composes the guest (the host's root file system read-only, or one with programs of the
guest's architecture, the directories named in Guest.share writable) and starts QEMU. Beside it this
module adds its own channels, so that nothing has to be read from a console:

    status.json     in a shared directory: disks, exit status, or why there is none
    spek.out, .err  virtio-serial ports with the command's output, byte for byte
    hvc0            instead of those, a terminal, where our own output is one
    spek.ctl        "done" from the guest; spek.ctl.in: signals and window sizes to it
    spek.mon        QEMU's monitor, to see where a guest stands that does not end
    console.log     the kernel's messages, for when things go wrong
    qemu.log        resets of its CPUs, of which the kernel cannot say anything

QEMU runs in a session of its own, together with a watcher that kills it when we die.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import selectors
import shutil
import signal
import socket
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from spekctl import distribution
from spekctl.distribution import Missing
from spekctl.errors import GuestError
from spekctl.vm import clock
from spekctl.vm.architecture import AMD64, ARM64, Architecture, native
from spekctl.vm.bytecode import PACKAGE
from spekctl.vm.cache import cache_dir, in_use
from spekctl.vm.disks import Disk
from spekctl.vm.kernels import Kernel
from spekctl.vm.network import Net
from spekctl.vm.processor import Processor
from spekctl.vm.root import BUSYBOX, PYTHON, mount_points, put_modules

GRACE_S = 15.0  # from a signal to the guest until it is killed
DRAIN_S = 5.0  # from the end of the command until QEMU is killed
LOOK_S = 10.0  # for the answers of a guest that does not end
CONSOLE_TAIL = 25
MODULES = Path("/lib/modules")
GUESTS_OWN = Path("/tmp")  # a guest does not see the host's
HOST_TAG = "spek.host"
QEMU_LOG = "qemu.log"
# Of the root file system: the last one is ours.
ROOT_OPTIONS = "version=9p2000.L,trans=virtio,access=any,msize=524288,cache=loose"
X86_FEATURE_CX16 = 4 * 32 + 13  # arch/x86/include/asm/cpufeatures.h
# What virtme-ng takes where there is no KVM, without fast string instructions.
X86_MODEL = "max,-erms,-fsrm"

# Timers, blocked tasks, what each CPU executes: printed by the guest's kernel if it still can. Then
# QEMU's own view, which needs no kernel.
_LOOK = ("sendkey alt-sysrq-q", "sendkey alt-sysrq-w", "sendkey alt-sysrq-l")
_LOOK_INSIDE = ("info lapic 0", "info lapic 1", "info registers -a")
_REGISTERS = re.compile(r"^(CPU#|R[A-Z0-9]+ *=|ES =|dumping|LVT|Timer|SPIV|ESR|ISR|IRR)")

# The watcher's half of the session: when our end of the pipe, its standard input, closes,
# it kills the session. dash supports no descriptor above 9, so the pipe cannot keep its number.
WATCHED = (
    "exec 3<&0 </dev/null; { read -r _ <&3; kill -KILL -$$; } >/dev/null 2>&1 & "
    'exec 3<&-; exec "$@"'
)


@dataclass(slots=True)
class Guest:
    """A guest and its command.

    @command: argv in the guest; {disk1} stands for the first disk's device node
    @modules: kernel modules loaded first, in order
    @share: directories that are writable in the guest; all else is read-only
    @keep: directories that are not, where a shared directory is around them
    @net: its place in a network of guests
    @icount: deterministic: one CPU, guest time is the number of instructions
    @qemu: further arguments of QEMU
    @limit_s: the guest is killed after this time; 0 - never
    @root: its root file system, of another architecture than the host's; None: the host's
    """

    kernel: Kernel
    command: list[str]
    accel: str = "tcg"
    disks: list[Disk] = field(default_factory=list)
    modules: list[Path] = field(default_factory=list)
    share: list[Path] = field(default_factory=list)
    keep: list[Path] = field(default_factory=list)
    environment: dict[str, str] = field(default_factory=dict)
    cwd: Path = Path("/")
    cpus: int = 2
    memory: str = "1G"
    net: Net | None = None
    icount: bool = False
    qemu: list[str] = field(default_factory=list)
    limit_s: float = 0.0
    root: Path | None = None


@dataclass(slots=True)
class Outcome:
    """Outcome of a guest.

    @exit_status: of the command, or None if it did not get that far
    @failure: then why, as a sentence
    @console: the kernel's messages
    """

    exit_status: int | None
    failure: str = ""
    timed_out: bool = False
    interrupted: bool = False
    console: str = ""
    disks: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def console_tail(self) -> str:
        """The last lines of the console, indented, for an error message."""
        lines = self.console.splitlines()[-CONSOLE_TAIL:]
        return "\n".join(f"  {line}" for line in lines)


class _Channel:
    """One chardev of QEMU: a socket it connects to. Data goes to @sink, if any."""

    def __init__(self, folder: Path, name: str, sink: int | None) -> None:
        self.name = name
        self.path = folder / name
        self.sink = sink
        self.seen = bytearray()
        self.connection: socket.socket | None = None
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.listener.bind(str(self.path))
        self.listener.listen(1)

    def chardev(self) -> list[str]:
        path = str(self.path).replace(",", ",,")
        return ["-chardev", f"socket,id={self.name.replace('.', '_')},path={path},server=off"]

    def accept(self) -> socket.socket:
        self.connection, _ = self.listener.accept()
        self.connection.setblocking(False)
        return self.connection

    def pump(self) -> bool:
        """Forward received data. Return False at the end of the stream."""
        assert self.connection
        while True:
            try:
                data = self.connection.recv(65536)
            except (BlockingIOError, InterruptedError):
                return True
            except OSError:
                return False
            if not data:
                return False
            if self.sink is None:
                self.seen += data
            else:
                while data:
                    data = data[os.write(self.sink, data) :]

    def send(self, text: str) -> None:
        if self.connection:
            with contextlib.suppress(OSError):
                self.connection.send(text.encode())

    def close(self) -> None:
        for end in (self.connection, self.listener):
            if end:
                end.close()


def _window() -> list[int]:
    size = shutil.get_terminal_size()
    return [size.lines, size.columns]


def _own_folder(parent: Path) -> Path:
    """A directory of this process in @parent; those of processes that were killed go."""
    prefix = "spek-vm-"
    for old in parent.glob(f"{prefix}*"):
        pid = old.name.removeprefix(prefix).partition("-")[0]
        if pid.isdigit() and not Path("/proc", pid).exists():
            shutil.rmtree(old, ignore_errors=True)
    return Path(tempfile.mkdtemp(prefix=f"{prefix}{os.getpid()}-", dir=parent))


def kept_folders(share: list[Path], keep: Sequence[Path] = ()) -> list[Path]:
    """Programs, libraries, Python, spekctl and @keep: what a guest keeps in memory once it has read
    it, also where a directory around them is mounted writable.

    Of other files in such a directory it asks the host at each access. A directory that has to be
    writable is in none of these.
    """
    paths = sysconfig.get_paths()
    multiarch = sysconfig.get_config_var("MULTIARCH")
    names = ["/usr/bin", "/usr/sbin", paths["stdlib"], paths["purelib"], paths["platlib"]]
    names += [*map(str, keep), str(PACKAGE), *([f"/usr/lib/{multiarch}"] if multiarch else [])]
    cache = cache_dir().resolve()
    if GUESTS_OWN in cache.parents:
        # What stays of /tmp is what is mounted there; the guest's own folder is, and lies in vm.
        names += [str(entry) for entry in cache.iterdir() if entry.is_dir() and entry.name != "vm"]
    kept: list[Path] = []
    for folder in sorted({Path(name).resolve() for name in names}):
        inside = any(outer in folder.parents for outer in kept)
        if folder.is_dir() and not inside and not any(folder in shared.parents for shared in share):
            kept.append(folder)
    return kept


def python_of(root: Path | None) -> str:
    """The interpreter of a guest with this @root; None: the host's."""
    return sys.executable if root is None else str(PYTHON)


def foreign_folders(guest: Guest) -> list[Path]:
    """Directories of the host that a guest with a root of its own reads, beside what it may write:
    spekctl, modules and Guest.keep."""
    folders = {PACKAGE, *guest.keep, *(path.parent for path in guest.modules)}
    if "SPEK_MODULES" in guest.environment:
        folders.add(Path(guest.environment["SPEK_MODULES"]))
    return sorted(folder.resolve() for folder in folders)


def mounted_folders(own: Path, share: list[Path]) -> list[Path]:
    """The directories that the guest mounts writable: one inside another comes with it."""
    folders = list(dict.fromkeys([own, *share]))
    return [folder for folder in folders if not any(outer in folder.parents for outer in folders)]


def has_own_tmp(mounted: list[Path]) -> bool:
    """Whether the guest has a /tmp of its own; not if it may write to the host's."""
    return not any(mount == GUESTS_OWN or mount in GUESTS_OWN.parents for mount in mounted)


def in_own_tmp(path: Path, share: list[Path]) -> bool:
    """Whether a guest that may write to @share has another file at @path than the host, or none:
    it would be in the guest's /tmp."""
    place = Path(os.path.realpath(path))
    folders = {place, *place.parents}
    return GUESTS_OWN in folders and folders.isdisjoint(share)


def kernel_options(guest: Guest) -> list[str]:
    """Parameters on the command line of the guest's kernel, in addition to those of virtme-ng.

    The guest keeps in memory what it has read of the root file system. Without that udev, which
    reads its rules and the hardware database page by page, sends 50,000 requests to the host at a
    boot in place of 4,400, and a debug kernel has booted after 4 minutes in place of 2.

    A kernel with BSD's pseudoterminals (CONFIG_LEGACY_PTYS, on by default) makes 256 pairs of them
    unless it is told how many. Programs open /dev/ptmx, and udev handles an event for each.

    QEMU 7 computes the flags after cmpxchg16b from stale ones: an interrupt right behind it saves
    them, and the return from it is a double fault. So an emulated kernel does without, which
    taints it (CPU out of specification); its programs keep it, x86-64-v2 has it. A guest that
    counts instructions executes what it would on a real processor, and its results say that they
    are counts.

    QEMU keeps the translation of code by its virtual address as well. An emulated kernel places
    programs and libraries at the same addresses each time: otherwise each start of Python is
    translated again, 24 MB of code, and after a gigabyte all that has been translated is lost. It
    makes indirect calls as such: there is no speculation to guard against, and a retpoline is three
    jumps, of which each looks for its translation.
    """
    options = ["loglevel=6", "oops=panic", "sysrq_always_enabled", "pty.legacy_count=0"]
    options.append(f"rootflags={ROOT_OPTIONS}")
    if guest.icount:
        options.append(clock.OPTION)
    elif guest.accel != "kvm":
        options += ["norandmaps", "mitigations=off"]
        if guest.kernel.architecture == AMD64:
            options.append(f"clearcpuid={X86_FEATURE_CX16}")
    return options


def emulation(guest: Guest) -> list[str]:
    """How QEMU emulates the guest, as arguments; none where it does not.

    Of virtio devices, KVM signals an eventfd for each queue that the guest kicks. QEMU itself would
    do so too, and poll all of these, two for each of the 31 ports of a serial device, whenever a
    timer of the guest changes.

    CPUs of more than one thread are for as many processors: one that waits for a lock spins while
    the thread of its holder waits for a processor. With less of them, CPUs take turns in one.

    A CPU that claims fast string instructions (ERMS, FSRM) has the kernel and the C library copy
    and clear memory with rep movsb and rep stosb, which QEMU emulates byte by byte. Without them
    both use loops of larger moves. A guest that counts instructions keeps them, as a real processor
    has them.
    """
    if guest.accel == "kvm":
        return []
    arguments = []
    for device in ("virtio-serial-pci", "virtio-9p-pci"):
        arguments += ["-global", f"{device}.ioeventfd=off"]
    if guest.icount:
        return [*arguments, "-icount", "shift=0,sleep=off"]
    if guest.kernel.architecture == AMD64:
        arguments += ["-cpu", X86_MODEL]
    if guest.cpus > len(os.sched_getaffinity(0)):
        arguments += ["-accel", "tcg,thread=single"]
    return arguments


class _Run:
    """One boot of one guest."""

    def __init__(self, guest: Guest, quiet: bool, out_fd: int | None, err_fd: int | None) -> None:
        self.guest = guest
        # Socket names must be short; the shared directory's may be anything.
        self.folder = _own_folder(cache_dir("vm"))
        self.sockets = _own_folder(Path(tempfile.gettempdir()))
        out = None if quiet else 1 if out_fd is None else out_fd
        err = None if quiet else 2 if err_fd is None else err_fd
        self.tty = [] if quiet else self._terminals({"out": out, "err": err})
        self.out = _Channel(self.sockets, "spek.out", out)
        self.err = _Channel(self.sockets, "spek.err", err)
        self.term = _Channel(self.sockets, "spek.tty", (out if "out" in self.tty else err))
        self.done = _Channel(self.sockets, "spek.ctl", None)
        self.orders = _Channel(self.sockets, "spek.ctl.in", None)
        self.monitor = _Channel(self.sockets, "spek.mon", None)
        self.ports = [self.out, self.err, self.term, self.done, self.orders]
        self.channels = [*self.ports, self.monitor]
        self.processor = Processor() if guest.icount else None
        self.process: subprocess.Popen[bytes] | None = None
        self.pending_signals: list[int] = []
        self.interrupts = 0
        self.kill_at = float("inf")
        self.look = False
        self.qemu_status: int | None = None  # of virtme_run.py; None: it had not ended by itself

    @staticmethod
    def _terminals(fds: dict[str, int | None]) -> list[str]:
        return [name for name, fd in fds.items() if fd is not None and os.isatty(fd)]

    def close(self) -> None:
        for channel in self.channels:
            channel.close()
        if self.processor:
            self.processor.close()
        shutil.rmtree(self.sockets, ignore_errors=True)
        shutil.rmtree(self.folder, ignore_errors=True)

    # ---- start ----

    def _plan(self) -> dict[str, Any]:
        guest = self.guest
        return {
            "command": guest.command,
            "modules": [str(path) for path in guest.modules],
            "host_tag": HOST_TAG,
            "kept": [str(path) for path in self._kept()],
            "disks": [disk.plan(number) for number, disk in enumerate(guest.disks, start=1)],
            "net": guest.net.plan() if guest.net else None,
            "own_tmp": has_own_tmp(mounted_folders(self.folder, guest.share)),
            "cwd": str(guest.cwd),
            "environment": {**guest.environment, **(guest.net.environment() if guest.net else {})},
            "patches_text": guest.accel != "kvm" and guest.kernel.architecture == AMD64,
            "tty": self.tty,
            "window": _window(),
        }

    def _kept(self) -> list[Path]:
        guest = self.guest
        if guest.root is None:
            return kept_folders(guest.share, guest.keep)
        return foreign_folders(guest)

    def _root(self) -> list[str]:
        """Arguments of virtme-ng for a root that is not the host's."""
        root = self.guest.root
        if root is None:
            return []
        words = ["--arch", self.guest.kernel.architecture.machine, "--root", str(root)]
        words += ["--busybox", str(root / BUSYBOX)]
        # From there the guest's own script starts.
        return [*words, f"--rodir={PACKAGE}={PACKAGE}"]

    def _command(self) -> list[str]:
        guest = self.guest
        script = Path(__file__).with_name("guest_side.py")
        # -P: modules of this directory do not stand in for others of their names.
        command = [sys.executable, "-P", str(Path(__file__).with_name("virtme_run.py"))]
        if guest.kernel.build_tree:
            command += ["--kdir", str(guest.kernel.headers), "--mods", "auto"]
        else:
            command += ["--kimg", str(guest.kernel.image), "--mods", "auto"]
        command += ["--disable-microvm", "--disable-monitor", "--force-9p"]
        if guest.accel != "kvm":
            command.append("--disable-kvm")
        cpus = 1 if guest.icount else guest.cpus
        command += ["--cpus", str(cpus), "--memory", guest.memory]
        command += self._root()
        for folder in mounted_folders(self.folder, guest.share):
            command.append(f"--rwdir={folder}={folder}")
        command.append("--show-boot-console")  # on its standard error, that is our console.log
        for option in kernel_options(guest):
            command += ["--kopt", option]
        command += ["--script-sh", f"exec {python_of(guest.root)} -I -S {script} {self.folder}"]
        command += ["--qemu-opts", *emulation(guest)]
        command += ["-d", "cpu_reset", "-D", str(self.folder / QEMU_LOG)]
        command += ["-device", f"virtio-serial-pci,id=spek,max_ports={len(self.ports) + 1}"]
        host = f"local,id={HOST_TAG},path=/,security_model=none,readonly=on,multidevs=remap"
        command += ["-fsdev", host]
        command += ["-device", f"virtio-9p-pci,fsdev={HOST_TAG},mount_tag={HOST_TAG}"]
        for number, channel in enumerate(self.ports, start=1):
            identity = channel.name.replace(".", "_")
            command += channel.chardev()
            kind = "virtconsole" if channel is self.term else "virtserialport"
            device = f"{kind},bus=spek.0,nr={number},chardev={identity},name={channel.name}"
            command += ["-device", device]
        command += [*self.monitor.chardev(), "-mon", "chardev=spek_mon,mode=readline"]
        for number, disk in enumerate(guest.disks, start=1):
            command += disk.qemu_arguments(number, self.sockets)
        if guest.net:
            command += guest.net.qemu_arguments()
        return command + guest.qemu

    def start(self) -> None:
        (self.folder / "plan.json").write_text(json.dumps(self._plan()))
        command = ["sh", "-c", WATCHED, "sh", *self._command()]
        if self.processor:
            command = self.processor.command() + command
        watch_read, self.watch_write = os.pipe()
        # virtme-ng wants to reopen its output for reading and writing: regular files.
        with (
            open(self.folder / "virtme.log", "ab") as log,
            open(self.folder / "console.log", "ab") as console,
        ):
            self.process = subprocess.Popen(
                command,
                stdin=watch_read,
                stdout=log,
                stderr=console,
                start_new_session=True,
            )
        os.close(watch_read)

    @contextlib.contextmanager
    def on_its_root(self) -> Iterator[None]:
        """A root that is not the host's has what this boot mounts and loads."""
        guest = self.guest
        if guest.root is None:
            yield
            return
        folders = [*guest.share, *foreign_folders(guest), guest.cwd]
        with in_use(guest.root):
            put_modules(guest.root, guest.kernel)
            with mount_points(guest.root, folders, self.folder):
                yield

    # ---- run ----

    def _signal(self, number: int, _frame: object) -> None:
        self.pending_signals.append(number)

    def run(self) -> Outcome:
        started = time.monotonic()
        end = started + self.guest.limit_s if self.guest.limit_s else float("inf")
        self.start()
        assert self.process
        handlers = {
            number: signal.signal(number, self._signal)
            for number in (
                signal.SIGINT,
                signal.SIGTERM,
                signal.SIGHUP,
                signal.SIGQUIT,
                signal.SIGWINCH,
            )
        }
        timed_out = False
        try:
            with selectors.DefaultSelector() as selector:
                for channel in self.channels:
                    selector.register(channel.listener, selectors.EVENT_READ, channel)
                while self.process.poll() is None:
                    self._serve(selector)
                    self._handle_signals()
                    now = time.monotonic()
                    if b"done" in self.done.seen and self.kill_at == float("inf"):
                        self.kill_at = now + DRAIN_S
                        self._drain()
                        break
                    if now > end:
                        timed_out = True
                        break
                    if now > self.kill_at:
                        break
                self.qemu_status = self.process.returncode
                if self.look or timed_out:
                    self._look(selector)
        finally:
            self._kill()
            for number, handler in handlers.items():
                signal.signal(number, handler)
        self._drain()
        return self._outcome(timed_out, time.monotonic() - started)

    def _look(self, selector: selectors.BaseSelector) -> None:
        """Append the state of a guest that is about to be killed to its console."""
        for order in _LOOK:
            self.monitor.send(f"{order}\n")
        self._serve_for(selector, LOOK_S / 2)
        before = len(self.monitor.seen)
        for order in _LOOK_INSIDE if self.guest.kernel.architecture == AMD64 else _LOOK_INSIDE[-1:]:
            self.monitor.send(f"{order}\n")
        self._serve_for(selector, LOOK_S / 2)
        answer = self.monitor.seen[before:].decode(errors="replace")
        lines = [line for line in answer.splitlines() if _REGISTERS.match(line)]
        with open(self.folder / "console.log", "a") as console:
            console.write("\n".join(["", "QEMU's view of its CPUs:", *lines, ""]))

    def _serve_for(self, selector: selectors.BaseSelector, seconds: float) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self._serve(selector)

    def _serve(self, selector: selectors.BaseSelector) -> None:
        for key, _ in selector.select(timeout=0.2):
            channel: _Channel = key.data
            if key.fileobj is channel.listener:
                selector.unregister(channel.listener)
                selector.register(channel.accept(), selectors.EVENT_READ, channel)
            elif not channel.pump():
                selector.unregister(key.fileobj)

    def _drain(self) -> None:
        for channel in self.channels:
            if channel.connection:
                channel.pump()

    def _handle_signals(self) -> None:
        """The first signal goes to the command in the guest, the second ends the guest. SIGQUIT
        ends it at once, and the console says where it stood."""
        while self.pending_signals:
            number = self.pending_signals.pop(0)
            if number == signal.SIGWINCH:
                self.orders.send("window {} {}\n".format(*_window()))
                continue
            self.interrupts += 1
            self.look |= number == signal.SIGQUIT
            running = (self.folder / "status.json").exists()
            if self.interrupts > 1 or self.look or not running:
                self.kill_at = 0.0
            else:
                self.orders.send(f"signal {signal.Signals(number).name}\n")
                self.kill_at = time.monotonic() + GRACE_S

    def _kill(self) -> None:
        """End the whole session: virtme-ng, QEMU, the watcher."""
        assert self.process
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        os.close(self.watch_write)

    # ---- end ----

    def _read(self, name: str) -> str:
        try:
            return (self.folder / name).read_text(errors="replace")
        except OSError:
            return ""

    def _outcome(self, timed_out: bool, seconds: float) -> Outcome:
        try:
            status = json.loads(self._read("status.json") or "{}")
        except ValueError:
            status = {}
        console = self._read("console.log").replace("\r", "").replace("\0", "")
        outcome = Outcome(
            exit_status=status.get("exit_status"),
            failure=status.get("failure", ""),
            timed_out=timed_out,
            interrupted=self.interrupts > 0,
            console=console,
            disks=status.get("disks", []),
            seconds=seconds,
        )
        if outcome.exit_status is None and not outcome.failure:
            outcome.failure = self._why(status, timed_out, console)
        return outcome

    def _why(self, status: dict[str, Any], timed_out: bool, console: str) -> str:
        where = "while the command ran" if status else "before it had booted"
        if timed_out:
            return f"the guest was killed at its time limit of {self.guest.limit_s:g} s, {where}"
        if self.interrupts:
            return f"the guest was interrupted {where}"
        for sign in ("Kernel panic", "Oops", "BUG:"):
            for line in console.splitlines():
                if sign in line:
                    return f"the guest's kernel crashed {where}: {line.split('] ')[-1].strip()}"
        printed = self._read("virtme.log") + console
        complaint = [line for line in printed.splitlines() if line.strip()]
        if not status and complaint:
            return f"the guest could not be started: {complaint[-1].strip()}"
        return f"the guest ended {where}{self._why_qemu_ended()}"

    def _why_qemu_ended(self) -> str:
        if self.qemu_status is None:
            return ""
        if self.qemu_status > 128:
            return f": QEMU was killed by {signal.Signals(self.qemu_status - 128).name}"
        if self.qemu_status:
            return f": QEMU exited with status {self.qemu_status}"
        if "Triple fault" in self._read(QEMU_LOG):
            return ": a triple fault reset its CPU"
        return ": it was reset or switched off from inside"


def check_tools(architecture: Architecture | None = None) -> None:
    """Refuse early, naming the package, if a program that a guest of @architecture needs is
    missing; by default of this machine's."""
    path = os.environ.get("PATH", "") + ":/sbin:/usr/sbin"
    needed = {
        "busybox": Missing.BUSYBOX,
        "chrt": Missing.UTIL_LINUX,
        "depmod": Missing.KMOD,
        "file": Missing.FILE,
        "make": Missing.MAKE,
        "modprobe": Missing.KMOD,
        "qemu-system-x86_64": Missing.QEMU,
        "taskset": Missing.UTIL_LINUX,
        "udevadm": Missing.UDEV,
    }
    if architecture == ARM64 and architecture != native():
        del needed["qemu-system-x86_64"]
        needed |= {
            ARM64.emulator: Missing.QEMU_ARM64,
            f"{ARM64.prefix}gcc": Missing.COMPILER_ARM64,
        }
    missing = [tool for tool in needed if not shutil.which(tool, path=path)]
    if missing:
        remedy = distribution.install(needed[tool] for tool in missing)
        raise GuestError(f"a guest needs {', '.join(missing)}: {remedy}")
    try:
        import virtme.commands.run  # noqa: F401
    except ImportError:
        raise GuestError("a guest needs virtme-ng; install it with make deps") from None


def make_mount_point(path: Path = MODULES) -> None:
    """Ensure that @path exists: the guest sees our root read-only and mounts its modules on
    it. Machines that never had a kernel installed, as containers, don't have it."""
    if path.is_dir():
        return
    try:
        path.mkdir(parents=True)
    except OSError as error:
        raise GuestError(
            f"a guest needs the directory {path} as a mount point, and it can't be made here"
            f" ({error.strerror}); create it with sudo mkdir {path}"
        ) from error
    print(f"spekctl: made the empty directory {path}, a mount point for guests", file=sys.stderr)


def run_guest(
    guest: Guest, *, quiet: bool = False, out_fd: int | None = None, err_fd: int | None = None
) -> Outcome:
    """Boot @guest, run its command, and return how that ended.

    Output goes to @out_fd and @err_fd (by default our own), nowhere with @quiet.
    """
    check_tools(guest.kernel.architecture)
    make_mount_point()
    with guest.net.joined() if guest.net else contextlib.nullcontext():
        run = _Run(guest, quiet, out_fd, err_fd)
        try:
            with run.on_its_root():
                return run.run()
        finally:
            run.close()
