# SPDX-License-Identifier: GPL-2.0-or-later
"""Cache of the rig for expensive build products. It can be deleted at any time."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from spekctl.errors import GuestError


def cache_dir(*parts: str) -> Path:
    """A directory below $XDG_CACHE_HOME/spek (by default ~/.cache/spek), created if needed."""
    path = _place(*parts)
    path.mkdir(parents=True, exist_ok=True)
    return path


def require() -> None:
    """GuestError: the cache cannot be created, or not written to."""
    try:
        path = cache_dir()
        if not os.access(path, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    except OSError as error:
        raise GuestError(unwritable(error)) from error


def unwritable(error: OSError) -> str:
    """A sentence for @error, which kept a file from being written to the cache."""
    return (
        f"cannot write to the cache {_place()}: {error.strerror}; XDG_CACHE_HOME can name another"
        " directory"
    )


def _place(*parts: str) -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(base, "spek", *parts)


@contextmanager
def locked(name: str) -> Iterator[None]:
    """Hold the lock @name of the cache: one process fills an entry while others wait for it."""
    with open(cache_dir() / f".{name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def claimed(name: str) -> int | None:
    """The lock @name of the cache, as a descriptor that holds it until it is closed; None if
    another process holds it."""
    lock = os.open(cache_dir() / f".{name}.lock", os.O_RDWR | os.O_CREAT, 0o666)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        return None
    return lock


def digest_of(root: Path, files: Iterable[Path], *words: str) -> str:
    """A name for what is made of @files, by their places below @root and their contents, and of
    @words."""
    digest = hashlib.sha256("\0".join(words).encode())
    for path in files:
        place = os.path.relpath(path, root).encode()
        digest.update(b"\0" + place + b"\0" + (path.read_bytes() if path.exists() else b""))
    return digest.hexdigest()[:16]


@contextmanager
def in_use(path: Path, how: int = fcntl.LOCK_SH) -> Iterator[None]:
    """Hold an entry of the cache, which is not removed meanwhile. BlockingIOError: @how does not
    wait, and another process holds it."""
    entry = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(entry, how)
        yield
    finally:
        os.close(entry)


def cached(path: Path, make: Callable[[Path], object], keep: int | None = None) -> Path:
    """The file or folder @path; if it is missing, @make makes it at the place that it is given.

    One process makes it while others wait; a half-made one is never visible. With @keep, only
    as many entries of its folder stay, those that were used last or are in_use().
    """
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(path.parent / ".lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not path.exists():
                with tempfile.TemporaryDirectory(prefix=".making-", dir=path.parent) as scratch:
                    fresh = Path(scratch, path.name)
                    make(fresh)
                    fresh.rename(path)
    if keep is not None:
        # On a read-only file system, or if another user has made it, it stays as old as it is.
        with suppress(OSError):
            os.utime(path)
        entries = [entry for entry in path.parent.iterdir() if not entry.name.startswith(".")]
        entries.sort(key=lambda entry: entry.stat().st_mtime, reverse=True)
        for old in entries[keep:]:
            with suppress(BlockingIOError), in_use(old, fcntl.LOCK_EX | fcntl.LOCK_NB):
                shutil.rmtree(old, ignore_errors=True)
    return path
