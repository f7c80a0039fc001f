# SPDX-License-Identifier: GPL-2.0-or-later
"""The envelope of every file that spekctl writes, and the reader that identifies files.

A new kind of file is a member of Kind and a subclass of Document; schemas.py publishes the schema
of each module here that has SCHEMA_FILE and json_schema(). A field that changes its meaning or is
removed raises the version of its kind; UPGRADES then converts older files.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, ClassVar, Self, TypeVar, cast

import msgspec
from msgspec import Meta

from spekctl import files, recorded
from spekctl.errors import UsageError
from spekctl.workload.config import Resolved


class Kind(StrEnum):
    """What a file is: its field `kind`, and the same in words."""

    LOG = "spek-log", "a per-I/O log"
    TRACE = "spek-trace", "a stored trace"
    TRACE_INFO = "spek-trace-info", "figures of `spekctl trace info`"
    TRACE_FIT = "spek-trace-fit", "a report of `spekctl trace fit`"
    RESULT = "spek-result", "a result of a run"
    CURVE = "spek-curve", "a load curve"
    SPC1 = "spek-spc1", "a report of `spekctl spc1`"
    SPC1_STATE = "spek-spc1-state", "the state of a test of `spekctl spc1`"
    SPC1E = "spek-energy-spc1e", "a report of `spekctl energy spc1e`"
    EMERALD = "spek-energy-emerald", "a report of `spekctl energy emerald`"
    EMERALD_STATE = "spek-energy-emerald-state", "the state of a test of `spekctl energy emerald`"
    SPC2 = "spek-spc2", "a report of `spekctl spc2`"
    SPC2_STATE = "spek-spc2-state", "the state of a test of `spekctl spc2`"
    SPC2E = "spek-energy-spc2e", "a report of `spekctl energy spc2e`"
    PTS = "spek-pts", "a report of `spekctl pts`"
    PTS_STATE = "spek-pts-state", "the state of a test of `spekctl pts`"
    DCSE = "spek-energy-dcse", "a report of `spekctl energy dcse`"
    CAPACITY = "spek-energy-capacity", "a report of `spekctl energy capacity`"
    IDLE = "spek-energy-idle", "an idle test of `spekctl energy`"
    VERIFY = "spek-verify", "a report of `spekctl verify`"
    VERIFY_STATE = "spek-verify-state", "a state file of `spekctl run --verify-state`"
    SWEEP_STATE = "spek-sweep-state", "the state of a sweep of `spekctl sweep`"
    AB_STATE = "spek-ab-state", "the state of a test of `spekctl vm --ab`"
    PLAN = "spek-plan", "the plan of a detached run"
    DRIVE_SIMULATION = "spek-drive-simulation", "a summary of `spekctl drive simulate`"
    DRIVE_STUDY = "spek-drive-study", "a study of `spekctl drive study`"
    GATE = "spek-gate", "a verdict of `spekctl gate`"
    COMPARISON = "spek-comparison", "a verdict of `spekctl compare`"
    PROBER = "spek-prober", "samples of `spekctl prober`"
    POWER_STATES = "spek-power-states", "power states of `spekctl power states`"
    AUGMENT_STATUS = "spek-augment-status", "the state of augment caches"
    AUGMENT_CHECK = "spek-augment-check", "a report of `spekctl augment check`"
    PROFILE = "spek-profile", "a profile of `spekctl vm --function-profile`"

    text: str

    def __new__(cls, value: str, text: str = "") -> Self:
        kind = str.__new__(cls, value)
        kind._value_ = value
        kind.text = text
        return kind


class Part(Resolved, frozen=True):
    """Base of the parts of documents."""


def timestamp(real_ns: int | None = None) -> str:
    """A time of CLOCK_REALTIME, by default now, as ISO 8601 in UTC."""
    seconds = None if real_ns is None else real_ns // 10**9
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


V = TypeVar("V")
# The field `version` of a kind that has had earlier versions.
Version = Annotated[V, Meta(description="Changes when a field changes its meaning or is removed.")]


class Document(Part, frozen=True, kw_only=True, tag_field="kind"):
    """Base of files: the kind, which is the tag of the subclass, and these fields come first."""

    # Each converts the fields of one version to the next; the last one to the current version.
    UPGRADES: ClassVar[tuple[Callable[[dict[str, Any]], None], ...]] = ()

    version: Version[int] = 1
    created: Annotated[str, Meta(description="When this was written, ISO 8601, UTC.")] = (
        msgspec.field(default_factory=timestamp)
    )
    command: Annotated[list[str], Meta(description="Arguments of spekctl.")] = msgspec.field(
        default_factory=recorded.command
    )


D = TypeVar("D", bound=Document)
ENVELOPE = ("kind", *Document.__struct_fields__)


def kind_of(model: type[Document]) -> Kind:
    """The kind of file that @model describes."""
    return Kind(cast(str, model.__struct_config__.tag))


def version_of(model: type[Document]) -> int:
    """The version that this spekctl writes."""
    fields = {field.name: field for field in msgspec.structs.fields(model)}
    return cast(int, fields["version"].default)


def without_origin(fields: dict[str, Any]) -> None:
    """Upgrade of files without time and command of their creation."""
    fields["created"] = fields.get("created", "")
    fields["command"] = []


class _Head(msgspec.Struct):
    """The fields that tell one file from another; results of version 1 used the last two."""

    kind: str = ""
    version: int = 0
    schema: str = ""
    schema_version: int = 0

    @property
    def kind_written(self) -> str:
        return self.kind or self.schema

    @property
    def version_written(self) -> int:
        return self.version or self.schema_version


# Every file of the current version has all of these; the defaults of Document are for writing.
_Envelope = msgspec.defstruct(
    "_Envelope",
    [("kind", str), *((field.name, field.type) for field in msgspec.structs.fields(Document))],
)


class _Written(msgspec.Struct, kw_only=True):
    """The remainder of the envelope, which files of version 1 may lack."""

    created: str = ""
    command: list[str] = []


class Origin(_Written, kw_only=True):
    """What the envelope of a file says; empty where a version 1 says nothing."""

    kind: Kind
    version: int


# What a file of an unwanted kind has, from its contents; of a Parquet file from their beginning.
Instead = Callable[[Kind, bytes], str]


def identify(
    path: Path,
    wanted: Sequence[Kind],
    purpose: str = "",
    words: str = "",
    instead: Instead | None = None,
) -> Kind:
    """Which of the @wanted kinds a file is; UsageError if it is none of them.

    @purpose: what the file is for, for the error message; @words: the wanted kinds in it, where
    they are too many to be listed; @instead: what a file of another kind has, added to it.
    """
    expected = f"{purpose or 'expected'} {words or _either(wanted)}"
    if files.exists(path) and not path.is_file():
        raise UsageError(f"{path} is not a file; {expected}")
    data = _contents(path)
    if data.startswith(_PARQUET):
        known = parquet_kind(path)
        # What reads logs names the damage itself.
        if known is None and Kind.LOG not in wanted:
            raise UsageError(f"{path} is {_CUT}; {expected}")
        kind = known or Kind.LOG
    else:
        kind = _kind(path, _head(path, data, expected), expected)
    if kind not in wanted:
        raise _unwanted(path, kind, data, expected, instead)
    return kind


def is_document(path: Path) -> bool:
    """Whether a file holds a document, of whatever kind and name, or else text such as TOML."""
    return _contents(path).lstrip().startswith((b"{", _PARQUET))


def description(path: Path) -> str:
    """What kind of document a file holds, in words; other JSON is called JSON."""
    data = _contents(path)
    if data.startswith(_PARQUET):
        kind = parquet_kind(path)
        return kind.text if kind else _CUT
    try:
        head = files.decode(data, _Head)
        return Kind(head.kind_written).text
    except (msgspec.DecodeError, ValueError):
        return "JSON that spekctl has not written"


def origin(path: Path, data: bytes | None = None) -> Origin:
    """What the envelope of a JSON file says, or of @data, the header of a Parquet file."""
    data = _contents(path) if data is None else data
    expected = "expected a file that spekctl has written"
    head = _head(path, data, expected)
    kind = _kind(path, head, expected)
    try:
        written = files.decode(data, _Written)
    except msgspec.DecodeError as error:
        raise UsageError(f"{path} is damaged: {error}") from error
    told = msgspec.structs.asdict(written)
    return Origin(kind=kind, version=head.version_written, **told)


# The first bytes of a Parquet file; log.file tells logs from others.
_PARQUET = b"PAR1"


_CUT = "a damaged Parquet file, which lacks its end"

# A footer is read whole only up to this size; the header is in its last part.
_FOOTER_MOST = 64 << 20


def parquet_kind(path: Path) -> Kind | None:
    """Which document a Parquet file is; a log unless its footer says that it is a trace; None: it
    has no footer. Looks at the header in the footer only: log.file and trace.store check the
    remainder."""
    try:
        with open(path, "rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - 8))
            tail = file.read(8)
            length = int.from_bytes(tail[:4], "little")
            if tail[4:] != _PARQUET or length + 8 > size:
                return None
            if length > _FOOTER_MOST:
                return Kind.LOG
            file.seek(size - 8 - length)
            footer = file.read(length)
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from error
    # With its closing quote: other kinds begin like it.
    is_trace = f'"kind":"{Kind.TRACE}"'.encode() in footer
    return Kind.TRACE if is_trace else Kind.LOG


def damaged(path: Path, error: Exception) -> UsageError:
    """The error that a library cannot decode @path, in its words, which may have several lines."""
    words = "".join(filter(str.isprintable, " ".join(str(error).split())))
    return UsageError(f"{path} is damaged: {words.rstrip(': ')}")


def read(path: Path, model: type[D], instead: Instead | None = None) -> D:
    """Read a file of this kind; UsageError says what any other file is, and what it has
    @instead."""
    identify(path, [kind_of(model)], instead=instead)
    return decode(path, _contents(path), model)


def decode(path: Path, data: bytes, model: type[D], instead: Instead | None = None) -> D:
    """JSON of a file or of a part of it, of this version or an older one."""
    wanted = kind_of(model)
    expected = f"expected {wanted.text}"
    head = _head(path, data, expected)
    kind = _kind(path, head, expected)
    if kind is not wanted:
        raise _unwanted(path, kind, data, expected, instead)
    version, known = head.version_written, version_of(model)
    if not known - len(model.UPGRADES) <= version <= known:
        raise UsageError(f"{path} has version {version} of its format; {_readable(model)}")
    try:
        if version == known:
            contents = files.decode(data, model)
            files.decode(data, _Envelope)
            return contents
        fields = files.decode(data, dict[str, Any])
        for upgrade in model.UPGRADES[version - known :]:
            upgrade(fields)
        return msgspec.convert({**fields, "version": known}, type=model)
    except (msgspec.DecodeError, LookupError, TypeError, ValueError, OverflowError) as error:
        raise UsageError(f"{path} is damaged: {error}") from error


def schema(title: str, *models: type[Document]) -> dict[str, Any]:
    """JSON Schema of a file that is any of @models."""
    branches, parts = msgspec.json.schema_components(models, ref_template="#/$defs/{name}")
    for part in parts.values():
        fields = part.get("properties", {})
        if all(name in fields for name in ENVELOPE):
            # Their defaults are for writing.
            fields["version"].pop("default", None)
            part["required"] = list(dict.fromkeys([*ENVELOPE, *part["required"]]))
    root = branches[0] if len(branches) == 1 else {"oneOf": list(branches)}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "+".join(f"{kind_of(model)}-{version_of(model)}" for model in models),
        "title": title,
        **root,
        "$defs": parts,
    }


def _contents(path: Path) -> bytes:
    """The whole file; of a Parquet file, which may be huge, the first bytes."""
    try:
        with open(path, "rb") as file:
            start = file.read(len(_PARQUET))
            return start if start == _PARQUET else start + file.read()
    except FileNotFoundError as error:
        raise files.missing(path) from error
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from error


def _head(path: Path, data: bytes, expected: str) -> _Head:
    try:
        return files.decode(data, _Head)
    except msgspec.ValidationError as error:
        raise _foreign(path, expected) from error
    except msgspec.DecodeError as error:
        if not data.lstrip().startswith(b"{"):
            raise _foreign(path, expected) from error
        raise UsageError(f"{path} is not valid JSON ({error}); {expected}") from error


def _kind(path: Path, head: _Head, expected: str) -> Kind:
    name = head.kind_written
    try:
        return Kind(name)
    except ValueError as error:
        if not name.startswith("spek-"):
            raise _foreign(path, expected) from error
        raise UsageError(
            f"{path} is of kind '{name}', which this spekctl does not know; {expected}"
        ) from error


def _unwanted(
    path: Path, kind: Kind, data: bytes, expected: str, instead: Instead | None
) -> UsageError:
    hint = f"; {instead(kind, data)}" if instead is not None else ""
    return UsageError(f"{path} is {kind.text}; {expected}{hint}")


def _foreign(path: Path, expected: str) -> UsageError:
    return UsageError(f"{path} is not a spek file; {expected}")


def _either(kinds: Sequence[Kind]) -> str:
    texts = [kind.text for kind in kinds]
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} or {texts[-1]}"


def _readable(model: type[Document]) -> str:
    known = version_of(model)
    first = known - len(model.UPGRADES)
    versions = f"version {known}" if first == known else f"versions {first} to {known}"
    return f"this spekctl reads {versions}"
