# SPDX-License-Identifier: GPL-2.0-or-later
"""Find and read workload files. Every error is one sentence that names the place."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from spekctl import fields, files, toml, units
from spekctl.errors import UsageError, at
from spekctl.suggest import did_you_mean
from spekctl.workload import rules
from spekctl.workload.fields import LIMITS
from spekctl.workload.meaning import replays
from spekctl.workload.model import Stream, WorkloadFile

# For those who write a number with its unit.
EXAMPLES = {"rate": 2000, "limit": 2000} | {key: low for key, (low, _high) in LIMITS.items()}


def shipped_directory() -> Path:
    """Where the workloads are: inside the installed package, or beside the checkout's ctl/.

    It may exist and still be closed to the caller: shipped_names() and load() report that.
    """
    package = Path(__file__).resolve().parent.parent
    installed = package / "shipped"
    return installed if os.path.isdir(installed) else package.parent.parent / "workloads"


def shipped_names() -> list[str]:
    """Names of the workloads that come with spek, sorted."""
    folder = shipped_directory()
    try:
        # Not Path.glob(): it finds nothing where it may not look.
        names = os.listdir(folder)
    except OSError as error:
        raise UsageError(f"cannot read the workloads in {folder}: {error.strerror}") from error
    return sorted(Path(name).stem for name in names if name.endswith(".toml"))


def find(name: str) -> Path:
    """The file that a user means by @name: a shipped workload's name, or a path to a .toml."""
    if "/" in name or name.endswith((".toml", ".json")):
        path = Path(name)
        if not files.exists(path):
            known = path.stem == name.removesuffix(".toml") and path.stem in shipped_names()
            hint = f"; the workload of that name is {path.stem}" if known else ""
            raise UsageError(f"there is no workload file {name}{hint}")
        if path.is_dir():
            raise UsageError(f"{name} is a directory, not a workload file")
        return path
    names = shipped_names()
    if name not in names:
        if os.path.isdir(name):
            raise UsageError(f"{name} is a directory, not a workload file")
        if os.path.exists(name):
            use = f"fio:{name}" if name.endswith(".fio") else f"./{name}"
            raise UsageError(f"there is no workload '{name}'; to use the file, write {use}")
        hint = did_you_mean(name, names)
        if not hint and "." in name:
            raise files.missing(Path(name))
        if not hint:
            hint = "; the names are " + ", ".join(names) + ", or give the path of a .toml file"
        raise UsageError(f"there is no workload '{name}'{hint}")
    return shipped_directory() / f"{name}.toml"


def load(name: str, settings: Sequence[str] = ()) -> WorkloadFile:
    """Read and check the workload that @name means, with fields set as override.py does."""
    path = find(name)
    text = files.read_text(path)
    with at(str(path)):
        if not settings:
            return _located(parse(text), path.parent)
        data = _toml(text)
    try:
        workload = with_settings(data, settings)
    except UsageError:
        # An error without the settings is the file's, not theirs.
        with at(str(path)):
            parse(text)
        raise
    return _located(workload, path.parent)


def _located(workload: WorkloadFile, folder: Path) -> WorkloadFile:
    """The workload with paths of traces that do not depend on where its file is."""
    if not replays(workload):
        return workload
    streams = [_located_stream(stream, folder) for stream in workload.stream]
    return msgspec.structs.replace(workload, stream=streams)


def _located_stream(stream: Stream, folder: Path) -> Stream:
    if stream.trace is None:
        return stream
    paths = [str(folder / file) for file in stream.trace.files]
    trace = msgspec.structs.replace(stream.trace, files=paths)
    return msgspec.structs.replace(stream, trace=trace)


def parse(text: str) -> WorkloadFile:
    """A workload from the text of its file."""
    return check(_toml(text))


def one_stream(given: Mapping[str, object], settings: Sequence[str] = ()) -> WorkloadFile:
    """A workload of one stream, 'main', without a file; None: not given."""
    for key, parse in (("read", units.parse_percent), ("size", units.parse_size)):
        if (value := given.get(key)) is not None:
            with at(f"--{key}"):
                parse(str(value))
    stream: dict[str, object] = {"name": "main", "size": "4KiB"}
    stream |= {key: value for key, value in given.items() if value is not None}
    data = {
        "workload": {"name": "options", "summary": "One stream, as the options describe it."},
        "stream": [stream],
    }
    return with_settings(data, settings)


def with_settings(
    data: dict[str, Any], settings: Sequence[str], flag: str = "--set"
) -> WorkloadFile:
    """A workload with fields set as override.py does; complaints name all of them, with the option
    that gave them."""
    from spekctl.workload import override

    override.apply(data, settings, flag)
    if not settings:
        return check(data)
    with at("with " + " ".join(f"{flag} {setting}" for setting in settings)):
        return check(data)


def _toml(text: str) -> dict[str, Any]:
    try:
        return toml.parse(text)
    except UsageError as error:
        if text.lstrip().startswith("{"):
            raise UsageError(
                "a workload is a TOML file, and this is JSON; results and reports are shown by"
                " `spekctl show FILE`"
            ) from error
        raise


def check(data: dict[str, Any]) -> WorkloadFile:
    """A workload from parsed TOML."""
    fields.check(data, WorkloadFile, EXAMPLES)
    workload = msgspec.convert(data, WorkloadFile)
    rules.check(workload)
    return workload


def iter_shipped() -> Iterator[WorkloadFile]:
    """All shipped workloads."""
    for name in shipped_names():
        yield load(name)
