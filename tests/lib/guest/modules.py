# SPDX-License-Identifier: GPL-2.0
"""Load and unload modules by system call, and look for what they leave behind.

insmod and rmmod would do, but for two hundred times a fork and an exec under emulation.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import mmap
import os
import re
from pathlib import Path

from lib.guest import udev
from lib.guest.syscalls import SYS
from lib.waiting import LONG_S, eventually

NETLINK_KOBJECT_UEVENT = 15
_LIBC = ctypes.CDLL(None, use_errno=True)


def load(path: Path, parameters: str = "") -> None:
    """finit_module()."""
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        code = finit_module(fd, parameters)
        if code:
            raise OSError(code, os.strerror(code), str(path))
    finally:
        os.close(fd)


def finit_module(fd: int, parameters: str = "") -> int:
    """finit_module() and nothing else. Return: errno or 0."""
    failed = _LIBC.syscall(SYS.finit_module, fd, parameters.encode(), 0)
    return ctypes.get_errno() if failed else 0


def unload(name: str) -> bool:
    """delete_module(). Return: False if something holds it."""
    if _LIBC.syscall(SYS.delete_module, name.encode(), os.O_NONBLOCK) == 0:
        return True
    code = ctypes.get_errno()
    if code in (errno.EWOULDBLOCK, errno.EBUSY):
        return False
    raise OSError(code, os.strerror(code), name)


def unload_soon(name: str, timeout_s: float = LONG_S) -> None:
    """The module goes. Work that has just said its last word may hold it for a moment, and so may
    udev, which looks at what somebody has let go."""
    eventually(lambda: unload(name), f"{name} does not unload", timeout_s)


def is_loaded(name: str) -> bool:
    """True if the module is there."""
    return Path("/sys/module", name).exists()


def threads(prefix: str) -> list[str]:
    """Names of the kernel's threads that begin with @prefix."""
    # Who has a name of its own keeps it, and need not be read again.
    known = {pid: name for pid, name in _names.items() if name != "kthreadd"}
    _names.clear()
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            _names[pid] = known.get(pid) or Path("/proc", pid, "comm").read_text().strip()
    return [name for name in _names.values() if name.startswith(prefix)]


_names: dict[str, str] = {}  # of all that runs, by number


def threads_end(prefix: str) -> None:
    """There are no such threads, or none for long: one that was stopped has said its last word
    before it is gone from the list."""
    eventually(lambda: not threads(prefix), f"threads were left behind: {prefix}")


def references(module: str) -> int:
    """How often a module is held."""
    return int(Path("/sys/module", module, "refcnt").read_text())


def vmalloc_bytes(module: str) -> int:
    """What a loaded module holds of vmalloc memory, its own image not counted."""
    return _vmalloc(rf"\[{module}\]")


def orphaned_vmalloc_bytes() -> int:
    """vmalloc memory of unloaded callers, which have an address but no name."""
    return _vmalloc(r"^\S+ +\d+ 0x[0-9a-f]+ ")


def _vmalloc(pattern: str) -> int:
    total = 0
    for line in Path("/proc/vmallocinfo").read_text().splitlines():
        if re.search(pattern, line):
            total += int(line.split()[1])
    return total


def meminfo() -> dict[str, int]:
    """What the guest's memory is used for, KiB; "Own" is what this process has written to."""
    figures = {
        line.split(":")[0]: int(line.split()[1])
        for line in Path("/proc/meminfo").read_text().splitlines()
    }
    (own,) = re.findall(r"RssAnon:\s*(\d+)", Path("/proc/self/status").read_text())
    return figures | {"PerCpuLists": page_lists_bytes() >> 10, "Own": int(own)}


def idle_meminfo() -> dict[str, int]:
    """The same without reclaimable caches, whose size varies."""
    for what in "43":  # no messages from now on; what can be read and what can be made anew
        Path("/proc/sys/vm/drop_caches").write_text(what)
    return meminfo()


def page_lists_bytes() -> int:
    """Free pages in per-CPU lists, which MemAvailable and MemFree do not count.

    With khugepaged at work a CPU may have tens of MiB of them, and keeps them for as long as
    it likes.
    """
    pagesets = re.findall(r"^ +count: (\d+)$", Path("/proc/zoneinfo").read_text(), re.MULTILINE)
    return sum(int(count) for count in pagesets) * mmap.PAGESIZE


def unread_uevents() -> int:
    """Bytes of memory that the kernel's events hold in sockets of programs which have not read
    them yet, as udev's. A module that comes and one that goes are an event each."""
    total = 0
    for line in Path("/proc/net/netlink").read_text().splitlines()[1:]:
        _sk, protocol, _port, _groups, memory, *_others = line.split()
        total += int(memory) if int(protocol) == NETLINK_KOBJECT_UEVENT else 0
    return total


def slab_objects() -> dict[str, int]:
    """Objects in use in each cache that kmalloc() serves from, after giving back what is free.

    Waits until events are read and handled. On a busy host udev may lag behind a test that loads
    and unloads a module for minutes, and two events for each of 20 cycles are 40 objects of
    kmalloc-512.
    """
    eventually(lambda: unread_uevents() == 0, "udev does not read the kernel's events")
    eventually(udev.has_handled_all, "udev does not handle the kernel's events")
    objects = {}
    for path in Path("/sys/kernel/slab").glob("kmalloc-*"):
        (path / "shrink").write_text("1")
    for line in Path("/proc/slabinfo").read_text().splitlines():
        name, *words = line.split()
        if name.startswith("kmalloc-"):
            objects[name] = int(words[0])
    return objects
