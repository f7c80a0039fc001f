# SPDX-License-Identifier: GPL-2.0-or-later
"""Entries of directories that others may write to: what they put there is neither followed nor
opened.

A path is resolved once. From then on its directory is a descriptor, so that exchanging a part of
the path leads nowhere else; files are created exclusively, never opened by a name that somebody
else could have led to another file.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Self

# As the kernel has it.
_MAX_LINKS = 40
_LOOK = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_CREATE = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class EntryError(OSError):
    """An OSError with a text of its own instead of the system's."""


class ForeignLinkError(EntryError, PermissionError):
    """A symbolic link belongs to a user who is not trusted."""


@dataclass(frozen=True, slots=True)
class Entry:
    """@name in the directory that is open as @directory. It need not exist. A context manager,
    which closes @directory."""

    directory: int
    name: str

    @classmethod
    def of(cls, path: Path) -> Self:
        """The entry that @path means. Symbolic links are followed if they belong to somebody who
        is trusted with what this process may write; OSError if they do not."""
        folder, name = os.path.split(path)
        directory = _open_directory(folder or ".", None)
        try:
            for _ in range(_MAX_LINKS):
                if name in ("", ".", ".."):
                    raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
                status = _look(directory, name)
                if status is None or not stat.S_ISLNK(status.st_mode):
                    return cls(directory, name)
                if status.st_uid not in trusted_users():
                    raise ForeignLinkError(
                        errno.EPERM, f"{name} is a symbolic link that belongs to another user"
                    )
                folder, name = os.path.split(os.readlink(name, dir_fd=directory))
                above = directory
                directory = _open_directory(folder or ".", above)
                os.close(above)
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
        except BaseException:
            os.close(directory)
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self.directory)

    def status(self) -> os.stat_result | None:
        """Status of the entry itself, no link followed; None if there is none."""
        return _look(self.directory, self.name)

    def is_file(self, file: os.stat_result) -> bool:
        """Whether the entry is the file that has this status."""
        status = self.status()
        return status is not None and os.path.samestat(status, file)

    def is_locked(self) -> bool:
        """Whether a process holds an exclusive lock (flock) on the entry. False if there is none,
        if it is not a regular file, if we may not read it, and where files cannot be locked."""
        status = self.status()
        if status is None or not stat.S_ISREG(status.st_mode):
            return False
        try:
            fd = os.open(self.name, _LOOK, dir_fd=self.directory)
        except OSError:
            return False
        try:
            # Shared: two that look at once do not take each other for the holder.
            fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError as error:
            return isinstance(error, BlockingIOError)
        finally:
            os.close(fd)
        return False

    def beside(self, name: str) -> Entry:
        """Another entry of the same directory; this one closes it."""
        return Entry(self.directory, name)

    def temporary(self) -> Entry:
        """An entry beside this one with a name that nobody can foresee."""
        # Short, so that it is valid beside a name of any length.
        import secrets

        return self.beside(f".spekctl.{secrets.token_hex(8)}")

    def create(self, mode: int = 0o666) -> int:
        """A descriptor of a new file. FileExistsError if there is an entry, a link included."""
        return os.open(self.name, _CREATE, mode, dir_fd=self.directory)

    def create_anew(self, mode: int = 0o666) -> int:
        """As create(), after removing what is there."""
        self.remove()
        return self.create(mode)

    def remove(self) -> None:
        """Remove the entry, if there is one: a link, not what it leads to."""
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.name, dir_fd=self.directory)

    def take_place_of(self, replaced: Entry, fd: int) -> None:
        """Rename the entry, which is the file open as @fd, to @replaced of the same directory.
        OSError if somebody has put another file in its place."""
        if not self.is_file(os.fstat(fd)):
            raise EntryError(errno.ESTALE, "somebody has replaced the file while it was written")
        self.rename(replaced)

    def rename(self, target: Entry) -> None:
        """Rename the entry to @target of the same directory, in place of what is there."""
        os.replace(self.name, target.name, src_dir_fd=self.directory, dst_dir_fd=target.directory)


def trusted_users() -> set[int]:
    """Users whose links are followed: root, our own, and the one who gave us root's rights."""
    users = {0, os.geteuid()}
    if os.geteuid() == 0 and os.environ.get("SUDO_UID", "").isdecimal():
        users.add(int(os.environ["SUDO_UID"]))
    return users


def _open_directory(path: str, above: int | None) -> int:
    return os.open(path, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=above)


def _look(directory: int, name: str) -> os.stat_result | None:
    try:
        return os.stat(name, dir_fd=directory, follow_symlinks=False)
    except FileNotFoundError:
        return None
