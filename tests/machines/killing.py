# SPDX-License-Identifier: GPL-2.0
"""Kills a guest as if its power failed; its disks are files of the host, by which its emulator is
known: the harness may have guests of its own beside it."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

from lib.waiting import comes_true

from spekctl.vm.runner import Outcome

BOOTS = 3


def _kill(folder: Path) -> None:
    """SIGKILL for the emulator that has disk_words(@folder) among its arguments."""
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            is_emulator = (process / "comm").read_text().startswith("qemu-system")
            if is_emulator and f"file={folder}/".encode() in (process / "cmdline").read_bytes():
                os.kill(int(process.name), signal.SIGKILL)


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


@contextlib.contextmanager
def killed_when(folder: Path, is_far: Callable[[], bool], limit_s: float) -> Iterator[None]:
    """SIGKILL for the emulator with disks in @folder, which runs meanwhile, once its guest has come
    so far."""

    is_over = threading.Event()

    def watch() -> None:
        if comes_true(lambda: is_over.is_set() or is_far(), limit_s) and not is_over.is_set():
            _kill(folder)

    killer = threading.Thread(target=watch)
    killer.start()
    try:
        yield
    finally:
        is_over.set()
        killer.join()


def once_booted(start: Callable[[], Outcome]) -> Outcome:
    """The outcome of a guest that has booted. One whose kernel crashes before that, as happens
    where it is emulated on a busy machine, is started again: nobody has killed it."""
    for _ in range(BOOTS - 1):
        outcome = start()
        has_crashed = "before it had booted" in outcome.failure
        if outcome.interrupted or outcome.timed_out or not has_crashed:
            return outcome
    return start()
