# SPDX-License-Identifier: GPL-2.0-or-later
"""Fields of the form for a run, from the declarations of options and the schema of workloads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from spekctl.workload import file
from spekctl.workload.model import json_schema
from spekctl.workload.options import MEASURING, OPTIONS, Kind, Option

Control = Literal["check", "choice", "text", "lines"]


class Field(msgspec.Struct, frozen=True):
    """A control of the form. @name: as the job of the host wants it."""

    name: str
    control: Control
    help: str
    hint: str = ""  # notation or default, shown in an empty field
    choices: list[str] = []


class Form(msgspec.Struct, frozen=True):
    """Everything that the page needs to build its form, devices apart."""

    workloads: list[tuple[str, str]]  # name and summary
    stream: list[Field]
    options: list[Field]
    measuring: list[Field]


# Given by the form's own parts: there is one stream, one asu and one arrival process.
_NOT_OF_ONE_STREAM = ("name", "asu", "arrival", "share")


def form() -> Form:
    """The form as of this version and its workloads."""
    shipped = [
        (workload_file.workload.name, workload_file.workload.summary)
        for workload_file in file.iter_shipped()
    ]
    return Form(shipped, stream_fields(), option_fields(OPTIONS), option_fields(MEASURING))


_CONTROLS: dict[Kind, Control] = {
    Kind.FLAG: "check",
    Kind.CHOICE: "choice",
    Kind.THRESHOLDS: "lines",
    Kind.NAMES: "lines",
}


def option_fields(declared: Mapping[str, Option]) -> list[Field]:
    """All options that are declared there, in their order in the help."""
    return [
        Field(
            option.flag_text[2:],
            _CONTROLS.get(option.kind, "text"),
            " ".join(filter(None, (option.help, option.more))),
            option.default_text or option.metavar or "",
            list(option.choices),
        )
        for option in declared.values()
    ]


def stream_fields() -> list[Field]:
    """Fields of a stream that have a single value; a workload file has all of them."""
    fields = []
    for name, node in json_schema()["$defs"]["Stream"]["properties"].items():
        single = not {"$ref", "items"} & set(node) and node.get("type") not in ("array", "object")
        if name in _NOT_OF_ONE_STREAM or not single:
            continue
        default = node.get("default")
        hint = "" if default is None else str(default)
        choices: list[str] = list(node.get("enum", []))
        if node.get("type") == "boolean":
            hint, choices = str(default).lower() if default is not None else "", ["true", "false"]
        control: Control = "choice" if choices else "text"
        fields.append(Field(name, control, str(node.get("description", "")), hint, choices))
    return fields


def workload_text(name: str) -> str:
    """The file of a workload that comes with spek, to start one's own from."""
    from spekctl.errors import UsageError

    if name not in file.shipped_names():
        raise UsageError(f"there is no workload '{name}'")
    return file.find(name).read_text(encoding="utf-8")


def as_json(value: Any) -> bytes:
    """For the page."""
    return msgspec.json.encode(value)
