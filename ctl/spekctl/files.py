# SPDX-License-Identifier: GPL-2.0-or-later
"""Files: texts of users, JSON decoded and encoded, results written whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import itertools
import os
import signal
import stat
import sys
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, TypeVar

import msgspec

from spekctl import recorded
from spekctl.entry import Entry
from spekctl.errors import OverwriteError, SpekError, UsageError

# Names that are compared with one that is not there: that many take up to 0.1 s.
_SUGGESTED_OF = 1000

T = TypeVar("T")

# Bytes of a file's name.
NAME_MAX = 255

_ENDING = (signal.SIGTERM, signal.SIGHUP)

# What a result may be written to instead of a file.
STREAMS = ("pipe", "character device")


def decode(data: bytes, model: type[T]) -> T:
    """JSON as a struct. msgspec.DecodeError for any fault."""
    try:
        return msgspec.json.decode(data, type=model)
    except (UnicodeDecodeError, msgspec.DecodeError) as error:
        # Which of the two is raised for bytes that are not UTF-8 depends on msgspec's version.
        if not _is_utf_8(data):
            raise msgspec.DecodeError("it is not UTF-8 text") from error
        raise
    except RecursionError as error:
        raise msgspec.DecodeError("it is nested too deeply") from error


def _is_utf_8(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def encode(value: object) -> bytes:
    """A struct as the JSON of its file."""
    return pretty(msgspec.json.encode(value))


def pretty(data: bytes) -> bytes:
    """JSON as files have it."""
    return msgspec.json.format(data, indent=1) + b"\n"


def read_text(path: Path) -> str:
    """The text of a user's file; UsageError if it cannot be read."""
    name = recorded.text(str(path))
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise missing(path) from error
    except UnicodeDecodeError as error:
        raise UsageError(f"cannot read {name}: it is not UTF-8 text") from error
    except OSError as error:
        raise UsageError(f"cannot read {name}: {error.strerror}") from error


def missing(path: Path) -> UsageError:
    """The error that there is no such file, with the nearest name in its folder."""
    from spekctl.suggest import nearest

    try:
        names = os.listdir(path.parent)
    except OSError:
        names = []
    # The suffix alone makes names alike.
    others = [name for name in names[:_SUGGESTED_OF] if name != path.name]
    near = nearest(path.name, others, likeness=0.8)
    hint = f"; did you mean '{path.parent / near}'?" if near is not None else ""
    return UsageError(recorded.text(f"there is no file {path}{hint}"))


def exists(path: Path) -> bool:
    """Whether @path exists; UsageError if that cannot be determined."""
    return _look(path) is not None


def write(path: Path, data: bytes) -> None:
    """Replace the file atomically, as replacing() does."""
    with replacing(path) as file:
        file.write(data)


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """A file that takes the place of @path at the end of the block, if that does not raise: a
    crash leaves the old file or the new one, and so does a signal that ends the process, which
    raises SystemExit. Owner and permissions stay. Others may write to its directory: see entry.py.
    """
    try:
        # Replace the target of a link, not the link.
        with Entry.of(path) as place, _raising_signals():
            temporary = place.temporary()
            try:
                old = _file_at(place)
                with os.fdopen(temporary.create(0o666 if old is None else 0o600), "wb") as file:
                    if old is not None:
                        _adopt(file.fileno(), old)
                    yield file
                    file.flush()
                    os.fsync(file.fileno())
                    temporary.take_place_of(place, file.fileno())
            finally:
                with contextlib.suppress(OSError):
                    temporary.remove()
    except OSError as error:
        raise SpekError(f"cannot write {path}: {error.strerror}") from error


@contextlib.contextmanager
def _raising_signals() -> Iterator[None]:
    """Signals that would end the process at once raise SystemExit, so that it can clean up."""

    def end(signum: int, _frame: object) -> None:
        raise SystemExit(128 + signum)

    ours = []
    # Only the main thread can handle signals.
    if threading.current_thread() is threading.main_thread():
        ours = [number for number in _ENDING if signal.getsignal(number) is signal.SIG_DFL]
    for signum in ours:
        signal.signal(signum, end)
    try:
        yield
    finally:
        for signum in ours:
            signal.signal(signum, signal.SIG_DFL)


def put(output: Path, data: bytes) -> None:
    """As write(), but a pipe, a terminal and the like are written to as they are."""
    with putting(output) as file:
        file.write(data)


@contextlib.contextmanager
def putting(output: Path) -> Iterator[IO[bytes]]:
    """As replacing(), but a pipe, a terminal and the like are written to as they are."""
    ours = _open_already(output)
    if ours is None and (not os.path.exists(output) or os.path.isfile(output)):
        with replacing(output) as file:
            yield file
        return
    try:
        sys.stdout.flush()
        with os.fdopen(_open_stream(output) if ours is None else os.dup(ours), "wb") as file:
            yield file
    except OSError as error:
        raise SpekError(f"cannot write {output}: {error.strerror}") from error


def check_writable(output: Path | None, streams: bool = True) -> None:
    """Before the run, not after it: can the result be written? @streams: with put(), which may
    write into a pipe as well; else with what puts a new file into the old one's place."""
    if output is None:
        return
    status = _look(output)
    if status is not None:
        kind = _kind_of_node(status.st_mode)
        if streams and kind != "block device" and _open_already(output) is not None:
            return
        if kind != "file" and not (streams and kind in STREAMS):
            allowed = "a file, a pipe or a character device" if streams else "a file"
            raise UsageError(f"cannot write {output}: it is a {kind}, not {allowed}")
        if not os.access(output, os.W_OK):
            raise UsageError(f"cannot write {output}: permission denied")
        if kind != "file":
            return
    try:
        with Entry.of(output) as place:
            writable = os.access(".", os.W_OK | os.X_OK, dir_fd=place.directory)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise UsageError(f"cannot write {output}: there is no directory {output.parent}") from error
    except OSError as error:
        raise UsageError(f"cannot write {output}: {error.strerror}") from error
    if not writable:
        raise UsageError(f"cannot write {output}: no permission to create a file in its directory")


def status_of_older(path: Path) -> os.stat_result | None:
    """Status of a file that a result is about to replace; None if there is none, or @path is
    something that results are written into: a pipe, a terminal, what the shell opened."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    if not stat.S_ISREG(status.st_mode) or _open_already(path) is not None:
        return None
    return status


def set_aside(path: Path) -> None:
    """Rename an older file FILE, if there is one, to FILE~, in place of one that is called so."""
    if status_of_older(path) is None:
        return
    try:
        with Entry.of(path) as place:
            place.rename(place.beside(f"{place.name}~"))
    except FileNotFoundError:
        return
    except OSError as error:
        raise UsageError(
            f"cannot write {path}: the file of that name that exists cannot be renamed to {path}~:"
            f" {error.strerror}"
        ) from error


def check_apart(output: Path | None, inputs: Iterable[Path], option: str = "--output") -> None:
    """Refuse to write over a file that is read; @option names @output."""
    if output is None or not os.path.isfile(output):
        return
    for path in inputs:
        with contextlib.suppress(OSError):
            if output.samefile(path):
                raise OverwriteError(f"{option} {output} would overwrite the input {path}")


def check_distinct(outputs: Iterable[tuple[str, Path | None]]) -> None:
    """Refuse to write a file twice; @outputs: options with their files."""
    real = [(option, os.path.realpath(path)) for option, path in outputs if path is not None]
    for (option, path), (later, another) in itertools.combinations(real, 2):
        if path == another:
            raise UsageError(f"{option} and {later} are the same file")


def deliver(data: bytes | Iterable[bytes], output: Path) -> None:
    """Write a result to its output file; @data: all of it, or its parts, read again for each try.

    Hours of measuring must not be lost to a full disk: then it is kept among the temporary files,
    and only if there is no room either, it goes to standard output.
    """
    parts = (data,) if isinstance(data, bytes) else data
    try:
        with putting(output) as file:
            file.writelines(parts)
    except SpekError as error:
        import click

        try:
            kept = keep(parts, output.suffix or ".json")
        except OSError:
            click.echo(f"spekctl: {error.message}; the result follows on standard output", err=True)
            for part in parts:
                click.echo(part.decode(), nl=False)
            raise error from None
        raise SpekError(f"{error.message}; the result is in {kept}") from error


def keep(parts: Iterable[bytes], suffix: str) -> str:
    """Write what cannot be written to its place into a temporary file that stays. Return: its name.
    OSError if there is no room for it either; no part of it is left then."""
    import tempfile

    with tempfile.NamedTemporaryFile(prefix="spekctl-", suffix=suffix, delete=False) as file:
        try:
            file.writelines(parts)
            file.flush()
        except OSError:
            os.unlink(file.name)
            raise
    return file.name


def folder_name(method: str, devices: Iterable[str]) -> str:
    """Default folder of a test, the same for a resumption."""
    name = "-".join([method, *(Path(device).name for device in devices)])
    data = os.fsencode(name)
    if len(data) <= NAME_MAX:
        return name
    return f"{os.fsdecode(data[: NAME_MAX // 2])}-{hashlib.sha256(data).hexdigest()[:16]}"


def make_folder(path: Path | None) -> None:
    """Create the folder of results."""
    if path is None:
        return
    try:
        path.mkdir(exist_ok=True)
    except FileNotFoundError as error:
        raise UsageError(f"cannot create {path}: there is no directory {path.parent}") from error
    except OSError as error:
        raise SpekError(f"cannot create {path}: {error.strerror}") from error
    if not os.access(path, os.W_OK):
        raise UsageError(f"cannot write into {path}: permission denied")


def _look(path: Path) -> os.stat_result | None:
    """Status of @path; None if it does not exist."""
    try:
        return os.stat(path)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise UsageError(f"cannot access {path}: {error.strerror}") from error


def _kind_of_node(mode: int) -> str:
    for is_kind, text in (
        (stat.S_ISREG, "file"),
        (stat.S_ISDIR, "directory"),
        (stat.S_ISBLK, "block device"),
        (stat.S_ISCHR, "character device"),
        (stat.S_ISFIFO, "pipe"),
    ):
        if is_kind(mode):
            return text
    return "socket"


def _open_already(path: Path) -> int | None:
    """Standard output or error if @path means that, as /dev/stdout does. A shell may have led it
    into a file: a new one in its place would not get what is written later."""
    for fd in (1, 2):
        with contextlib.suppress(OSError):
            if os.path.samestat(os.stat(path), os.fstat(fd)):
                return fd
    return None


def _file_at(place: Entry) -> os.stat_result | None:
    """Status of the file that is about to be replaced; None if there is none."""
    status = place.status()
    if status is not None and not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, f"it is a {_kind_of_node(status.st_mode)}, not a file")
    return status


def _adopt(fd: int, old: os.stat_result) -> None:
    """Give the new file the owner and permissions of the old one."""
    # Only root can change owners, and some file systems have neither owner nor mode.
    with contextlib.suppress(OSError):
        os.fchown(fd, old.st_uid, old.st_gid)
    with contextlib.suppress(OSError):
        # Data runs as nobody: without set-user-ID and the like.
        os.fchmod(fd, old.st_mode & 0o777)


def _open_stream(output: Path) -> int:
    """A descriptor of a pipe or character device: not of a file that was put in its place since
    the look, which is neither created nor emptied."""
    fd = os.open(output, os.O_WRONLY | os.O_CLOEXEC | os.O_NOCTTY)
    kind = _kind_of_node(os.fstat(fd).st_mode)
    if kind not in STREAMS:
        os.close(fd)
        raise SpekError(f"cannot write {output}: it is a {kind}")
    return fd
