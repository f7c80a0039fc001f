# SPDX-License-Identifier: GPL-2.0
"""JSON files of ours: read with a sentence for what is wrong, written whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TypeVar

import click
import msgspec

from spekctl.errors import SpekError, UsageError

T = TypeVar("T")


class _Head(msgspec.Struct):
    """What tells one kind of file from another."""

    kind: str = ""
    version: int = 0


def decode(data: bytes, model: type[T]) -> T:
    """JSON as a struct. msgspec.DecodeError for whatever is wrong with it."""
    try:
        return msgspec.json.decode(data, type=model)
    except UnicodeDecodeError as error:
        raise msgspec.DecodeError("it is not UTF-8 text") from error
    except RecursionError as error:
        raise msgspec.DecodeError("it is nested too deeply") from error


def read(path: Path, model: type[T], kind: str, version: int, what: str) -> T:
    """Read a file of @kind; @what says in words what that is."""
    try:
        data = path.read_bytes()
    except FileNotFoundError as error:
        raise UsageError(f"there is no file {path}") from error
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from error
    try:
        head = decode(data, _Head)
    except msgspec.DecodeError as error:
        raise UsageError(f"{path} is not {what}: it is not JSON of ours ({error})") from error
    if head.kind != kind:
        raise UsageError(f"{path} is not {what}: its kind is '{head.kind or 'missing'}'")
    if head.version != version:
        raise UsageError(
            f"{path} has version {head.version} of its format; this spekctl knows version {version}"
        )
    try:
        return decode(data, model)
    except msgspec.DecodeError as error:
        raise UsageError(f"{path} is damaged: {error}") from error


def kind_of(path: Path) -> str:
    """What kind of file of ours it says to be; empty if it is none."""
    try:
        return decode(path.read_bytes(), _Head).kind
    except FileNotFoundError as error:
        raise UsageError(f"there is no file {path}") from error
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from error
    except msgspec.DecodeError:
        return ""


def encode(value: object) -> bytes:
    """A struct as the JSON of its file."""
    return msgspec.json.format(msgspec.json.encode(value), indent=1) + b"\n"


def write(path: Path, data: bytes) -> None:
    """Put @data in place at once: a crash leaves the old file or the new one."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with open(temporary, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise SpekError(f"cannot write {path}: {error.strerror}") from error


def check_writable(output: Path | None) -> None:
    """Before the run, not after it: can the result be written?"""
    if output is None:
        return
    directory = output.parent
    if not directory.is_dir():
        raise UsageError(f"cannot write {output}: there is no directory {directory}")
    if not os.access(output if output.exists() else directory, os.W_OK):
        raise UsageError(f"cannot write {output}: permission denied")


def deliver(data: bytes, output: Path) -> None:
    """Write a result to the file that it was ordered into."""
    try:
        output.write_bytes(data)
    except OSError as error:
        # Hours of measuring must not be lost to a full disk: standard output is left.
        click.echo(data.decode(), nl=False)
        raise SpekError(f"cannot write {output}: {error.strerror}") from error


def make_folder(path: Path | None) -> None:
    """A folder to keep results in."""
    if path is None:
        return
    try:
        path.mkdir(exist_ok=True)
    except FileNotFoundError as error:
        raise UsageError(f"cannot make {path}: there is no directory {path.parent}") from error
    except OSError as error:
        raise SpekError(f"cannot make {path}: {error.strerror}") from error
    if not os.access(path, os.W_OK):
        raise UsageError(f"cannot write into {path}: permission denied")
