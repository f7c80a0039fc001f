# SPDX-License-Identifier: GPL-2.0
"""File systems on spek_augment.ko whose power is cut: files that were synced are there, and the
file system is consistent once its journal has been replayed."""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
import random
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from guest.augment_cuts import Campaign, Worker

# The length of the devices is no length for a file system of XFS but in its own tests.
SMALL_XFS = {"TEST_DIR": "/", "TEST_DEV": "/", "QA_CHECK_FS": "1"}
MAKE = {"ext4": ["mkfs.ext4", "-q", "-F"], "xfs": ["mkfs.xfs", "-q", "-f"]}
CHECK = {"ext4": ["fsck.ext4", "-f", "-n"], "xfs": ["xfs_repair", "-n"]}
FILES, WRITERS = 24, 2
GONE = 0


def contents(version: int) -> bytes:
    rng = random.Random(version)
    return rng.randbytes(rng.choice([100, 4096, 20_000, 70_000]))


def blocks_of(data: bytes) -> list[bytes]:
    """@data in pieces of 4 KiB; the last one may be shorter."""
    return [data[at : at + 4096] for at in range(0, len(data), 4096)]


def call(*words: str) -> None:
    """A program; OSError if it fails, with what it says."""
    done = subprocess.run(
        words, env={**os.environ, **SMALL_XFS}, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise OSError(errno.EIO, f"{' '.join(words)}: {done.stdout}{done.stderr}")


@dataclass
class Files(Campaign):
    """Life after life of a file system.

    @after_mount: share of lives whose power does not fail before the load begins
    @may: by file, versions that it may hold, the last sure one first; GONE: there is none
    @late: syncs that ended well, but not before the power was out
    """

    kind: str = "ext4"
    after_mount: float = 0.8
    may: dict[str, list[int]] = field(default_factory=dict)
    versions: Iterator[int] = field(default_factory=lambda: itertools.count(1))
    point: Path = field(default_factory=lambda: Path(tempfile.mkdtemp()))
    checked: int = 0
    late: int = 0

    def prepare(self, node: str) -> None:
        call(*MAKE[self.kind], node)

    def compare(self, node: str) -> None:
        """Mounting replays the journal."""
        with self.mounted(node):
            self.compare_files()
        call(*CHECK[self.kind], node)
        self.checked += 1

    def compare_files(self) -> None:
        there = {path.name: path for path in self.point.iterdir() if path.is_file()}
        for name, may in self.may.items():
            data = there[name].read_bytes() if name in there else None
            seen = [one for one in may if (contents(one) if one else None) == data]
            assert seen, f"{name} is none of versions {may}: {self.told(data)}"
            self.may[name] = seen[-1:]

    def told(self, data: bytes | None) -> str:
        """What a file holds that is not as it should be, block by block."""
        if data is None:
            return "it is not there"
        known = {
            block: version
            for version in range(1, next(self.versions))
            for block in blocks_of(contents(version))
        }
        held = [
            str(known.get(block, "zeroes" if not any(block) else "none"))
            for block in blocks_of(data)
        ]
        return f"{len(data)} bytes, whose blocks are of {', '.join(held)}"

    def load(self, node: str, endanger: Callable[[], None]) -> None:
        """A mount alone takes as many I/Os as some lives last."""
        in_mount = self.setting.rng.random() >= self.after_mount
        if in_mount:
            endanger()
        names = [f"file{number}" for number in range(FILES)]
        for name in names:
            self.may.setdefault(name, [GONE])
        try:
            call("mount", "-t", self.kind, node, str(self.point))
        except OSError:
            if not self.power.is_on:
                return
            raise
        try:
            if not in_mount:
                endanger()
            writers = [
                Writer(self, names[number::WRITERS], self.setting.rng.randrange(1 << 32))
                for number in range(WRITERS)
            ]
            self.perform(writers)
        finally:
            call("umount", str(self.point))

    @contextlib.contextmanager
    def mounted(self, node: str) -> Iterator[None]:
        call("mount", "-t", self.kind, node, str(self.point))
        try:
            yield
        finally:
            call("umount", str(self.point))

    def __str__(self) -> str:
        return (
            f"{self.kind}: {super().__str__()}; {self.checked:,} times clean when checked; "
            f"{self.late:,} syncs that ended well when the power was out"
        )


class Writer(Worker):
    """Replaces and removes files of its own, and syncs, until the power fails."""

    def __init__(self, files: Files, names: list[str], seed: int) -> None:
        super().__init__(str(files.point), os.O_RDONLY | os.O_DIRECTORY, seed)
        self.files, self.names = files, names

    def act(self, folder: int) -> None:
        chosen = self.rng.sample(self.names, self.rng.randrange(1, 4))
        for name in chosen:
            may, path = self.files.may[name], self.files.point / name
            if may[-1] and self.rng.random() < 0.2:
                may.append(GONE)
                path.unlink()
                continue
            version = next(self.files.versions)
            may.append(version)
            scratch = path.with_suffix(".new")
            with open(scratch, "wb") as file:
                file.write(contents(version))
                file.flush()
                os.fsync(file.fileno())
            scratch.rename(path)
        os.fsync(folder)
        self.take_for_done_if_in_time()
        for name in chosen:
            self.files.may[name] = self.files.may[name][-1:]

    def take_for_done_if_in_time(self) -> None:
        """What ends well when the power is out may have ended before, or for no good reason: a log
        that has just failed with what was to be synced leaves nothing to wait for, and XFS does not
        ask whether it has shut down when it syncs a directory."""
        if not self.files.power.is_on:
            self.files.late += 1
            raise OSError(errno.EIO, "the power is out")
