# SPDX-License-Identifier: GPL-2.0
"""Kills the guest of this process, as if its power failed; its disks are files of the host."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from lib.waiting import comes_true


def _descendants(pid: int) -> list[int]:
    pids = []
    for path in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in map(int, path.read_text().split()):
            pids += [child, *_descendants(child)]
    return pids


def _kill() -> None:
    for pid in _descendants(os.getpid()):
        if Path(f"/proc/{pid}/comm").read_text().startswith("qemu-system"):
            os.kill(pid, signal.SIGKILL)


def disk_words(folder: Path, sizes: dict[str, int]) -> list[str]:
    """Images in @folder, as arguments of the emulator: disks, by serial number, that answer once
    the host's page cache has the data."""
    words = []
    for name, size in sizes.items():
        image = folder / f"{name}.img"
        with open(image, "ab") as file:
            file.truncate(size)
        words += ["-drive", f"file={image},if=none,id={name},format=raw,cache=writeback"]
        words += ["-device", f"virtio-blk-pci,drive={name},serial={name}"]
    return words


@contextmanager
def killed_when(is_far: Callable[[], bool], limit_s: float) -> Iterator[None]:
    """SIGKILL for the emulator once the guest that runs meanwhile has come so far."""

    is_over = threading.Event()

    def watch() -> None:
        if comes_true(lambda: is_over.is_set() or is_far(), limit_s) and not is_over.is_set():
            _kill()

    killer = threading.Thread(target=watch)
    killer.start()
    try:
        yield
    finally:
        is_over.set()
        killer.join()
