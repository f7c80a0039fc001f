# SPDX-License-Identifier: GPL-2.0
"""Device-mapper volumes by libdevmapper: dmsetup would do, but for a second of each call under
emulation, most of which its start takes.

Tables are as dmsetup has them: lines of "start length kind parameters", in sectors. Nobody waits
for udev.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import subprocess
from collections.abc import Iterator

# enum and struct dm_info of libdevmapper.h
CREATE, RELOAD, REMOVE, SUSPEND, RESUME, STATUS, TARGET_MSG = 0, 1, 2, 4, 5, 10, 17


class Refused(AssertionError):
    """What was wanted of a volume was not done.

    @errno: why, as far as libdevmapper tells
    """

    def __init__(self, what: str, errno: int) -> None:
        super().__init__(f"{what}: refused (the reason is on standard error)")
        self.errno = errno


class _Info(ctypes.Structure):
    _fields_ = [
        ("exists", ctypes.c_int),
        ("suspended", ctypes.c_int),
        ("live_table", ctypes.c_int),
        ("inactive_table", ctypes.c_int),
        ("open_count", ctypes.c_int32),
        ("event_nr", ctypes.c_uint32),
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("read_only", ctypes.c_int),
        ("target_count", ctypes.c_int32),
        ("deferred_remove", ctypes.c_int),
        ("internal_suspend", ctypes.c_int),
    ]


@functools.cache
def _library() -> ctypes.CDLL:
    subprocess.run(["modprobe", "dm_mod"], check=True)
    library = ctypes.CDLL("libdevmapper.so.1.02.1")
    library.dm_task_create.restype = ctypes.c_void_p
    library.dm_udev_set_sync_support(0)
    return library


@contextlib.contextmanager
def _task(kind: int, name: str) -> Iterator[ctypes.c_void_p]:
    """A task that is still to be filled and run."""
    library = _library()
    task = ctypes.c_void_p(library.dm_task_create(kind))
    try:
        assert task.value and library.dm_task_set_name(task, name.encode())
        yield task
    finally:
        library.dm_task_destroy(task)


def _run(task: ctypes.c_void_p, what: str) -> None:
    if not _library().dm_task_run(task):
        raise Refused(what, int(_library().dm_task_get_errno(task)))


def _fill(task: ctypes.c_void_p, table: str) -> None:
    for line in table.splitlines():
        start, length, kind, *parameters = line.split(maxsplit=3)
        where = ctypes.c_uint64(int(start)), ctypes.c_uint64(int(length))
        words = kind.encode(), "".join(parameters).encode()
        assert _library().dm_task_add_target(task, *where, *words)


def create(name: str, table: str, uuid: str = "") -> str:
    """A volume. Return: its kernel name."""
    with _task(CREATE, name) as task:
        if uuid:
            assert _library().dm_task_set_uuid(task, uuid.encode())
        _fill(task, table)
        _run(task, f"volume {name} of {table}")
        info = _Info()
        assert _library().dm_task_get_info(task, ctypes.byref(info)) and info.exists
    return f"dm-{info.minor}"


def replace(name: str, table: str) -> None:
    """Another table for a volume, at once and under load; a suspended one resumes."""
    with _task(RELOAD, name) as task:
        _fill(task, table)
        _run(task, f"for volume {name} {table}")
    resume(name)


def suspend(name: str) -> None:
    """Keep what comes from now on; what was sent before is not waited for."""
    with _task(SUSPEND, name) as task:
        assert _library().dm_task_no_flush(task) and _library().dm_task_skip_lockfs(task)
        _run(task, f"suspend {name}")


def resume(name: str) -> None:
    """Let go what was kept."""
    with _task(RESUME, name) as task:
        _run(task, f"resume {name}")


def message(name: str, text: str) -> None:
    """Tell the volume's first target something."""
    with _task(TARGET_MSG, name) as task:
        assert _library().dm_task_set_sector(task, ctypes.c_uint64(0))
        assert _library().dm_task_set_message(task, text.encode())
        _run(task, f"message to {name}: {text}")


def status(name: str) -> str:
    """What the volume's only target tells."""
    start, length = ctypes.c_uint64(), ctypes.c_uint64()
    kind, text = ctypes.c_char_p(), ctypes.c_char_p()
    with _task(STATUS, name) as task:
        _run(task, f"status of {name}")
        where = (ctypes.byref(start), ctypes.byref(length), ctypes.byref(kind), ctypes.byref(text))
        _library().dm_get_next_target(task, None, *where)
        return (text.value or b"").decode()


def remove(name: str) -> None:
    """Take it away, with some patience for others who look at it."""
    with _task(REMOVE, name) as task:
        assert _library().dm_task_retry_remove(task)
        _run(task, f"remove {name}")
