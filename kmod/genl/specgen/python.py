# SPDX-License-Identifier: GPL-2.0
"""Constants, enums and pyroute2 classes for Python."""

from __future__ import annotations

import re
import textwrap
from pathlib import PurePath

from specgen.spec import (
    MEMBER_BYTES,
    WIDTH,
    Attr,
    AttrSet,
    Member,
    Outputs,
    Spec,
    Struct,
    one_line,
    plural,
    snake,
    upper,
)

PYROUTE2_ATOM = {
    "pad": "none",
    "u32": "uint32",
    "u64": "uint64",
    "s32": "int32",
    "s64": "int64",
    "string": "asciiz",
    "binary": "cdata",
    "flag": "flag",
}


def camel(name: str) -> str:
    return "".join(part.capitalize() for part in re.split("[-_]", name))


def python_module(spec: Spec, outputs: Outputs) -> str:
    """Constants, enums and pyroute2 classes."""
    out = [
        "# SPDX-License-Identifier: GPL-2.0-or-later",
        f"# generated from {spec.source}, run `make gen`",
        '# mypy: disable-error-code="import-untyped, import-not-found, misc"',
        f'"""Netlink family {spec.name}: constants, enums and message classes for pyroute2."""',
        "",
        "from enum import IntEnum",
        "from typing import Any, ClassVar",
        "",
        "from pyroute2.netlink import NLA_F_NESTED, genlmsg, nla",
        "",
        *import_of_records(outputs),
        f'FAMILY = "{spec.name}"',
        f"VERSION = {spec.version}",
    ]
    out += [f'GROUP_{upper(group.name)} = "{group.name}"' for group in spec.groups]
    out += [f"{upper(name)} = {value}" for name, value, _ in spec.consts]
    out += ["", "", "class Cmd(IntEnum):", '    """Commands."""', ""]
    out += [f"    {upper(op.name)} = {op.id}" for op in spec.ops]
    for enum in spec.enums:
        doc = enum.doc or f"{enum.name.replace('-', ' ').capitalize()}."
        out += ["", "", f"class {camel(enum.name)}(IntEnum):", *py_doc(doc), ""]
        for value, entry in enumerate(enum.entries):
            out.append(f"    {upper(entry.name)} = {value}")
    for struct in spec.structs if not outputs.records else []:
        out += ["", *layout(struct)]
    for attr_set in python_order(spec):
        out += python_set(spec, outputs, attr_set, "nla")
    messages = [s for s in spec.sets if any(op.attrs is s for op in spec.ops)]
    for attr_set in messages:
        out += python_set(spec, outputs, attr_set, "genlmsg")
    out += ["", "", "MESSAGES: dict[int, Any] = {"]
    out += [f"    Cmd.{upper(op.name)}: {camel(op.attrs.name)}Msg," for op in spec.ops]
    out += ["}"]
    return "\n".join(out) + "\n"


def import_of_records(outputs: Outputs) -> list[str]:
    """The module of records; its path below ctl/ is its name."""
    if not outputs.records:
        return []
    parts = PurePath(outputs.records.removeprefix("ctl/")).with_suffix("").parts
    package = ".".join(parts[:-1])
    module = f"{parts[-1]} as records"
    return [f"from {package} import {module}" if package else f"import {module}", ""]


def called(outputs: Outputs, attr_set: AttrSet, attr: Attr) -> str:
    """The name of a repeated attribute in answers."""
    return plural(attr_set, attr) if outputs.records else snake(attr.name)


def layout(struct: Struct) -> list[str]:
    """What Python has to know of a record in bytes: for numpy its members, for struct a format."""
    doc_lines = textwrap.wrap(struct.doc, WIDTH - 10, break_on_hyphens=False)
    out = ["", *[f"# {line}" for line in doc_lines]]
    out += [f"{upper(struct.name)}_BYTES = {struct.bytes}"]
    out += [f'{upper(struct.name)}_FORMAT = "{pack_format(struct)}"']
    out += [f"{upper(struct.name)} = ("]
    out += [f'    ("{snake(member.name)}", "{kind(member)}"),' for member in struct.members]
    return [*out, ")"]


def pack_format(struct: Struct) -> str:
    """A record as Python's struct module names it, in the machine's byte order."""
    letters = {1: "b", 2: "h", 4: "i", 8: "q"}
    codes = [
        letters[MEMBER_BYTES[one.type]].swapcase()
        if one.type.startswith("u")
        else letters[MEMBER_BYTES[one.type]]
        for one in struct.members
    ]
    return "=" + "".join(codes)


def kind(member: Member) -> str:
    """A member's type as numpy names it, by its bytes: u8 is the u64 of C."""
    return f"{'i' if member.type.startswith('s') else 'u'}{MEMBER_BYTES[member.type]}"


def py_doc(text: str) -> list[str]:
    lines = textwrap.wrap(one_line(text), WIDTH - 10, break_on_hyphens=False)
    if len(lines) == 1:
        return [f'    """{lines[0]}"""']
    return [f'    """{lines[0]}', *[f"    {line}" for line in lines[1:]], '    """']


def python_order(spec: Spec) -> list[AttrSet]:
    """Sets that are nested somewhere, innermost first: a class must exist before its use."""
    order: list[AttrSet] = []

    def visit(attr_set: AttrSet) -> None:
        for attr in attr_set.attrs:
            if attr.nested:
                inner = spec.by_set[attr.nested]
                visit(inner)
                if inner not in order:
                    order.append(inner)

    for attr_set in spec.sets:
        visit(attr_set)
    return order


def python_set(spec: Spec, outputs: Outputs, attr_set: AttrSet, base: str) -> list[str]:
    """One class.

    `keys` maps the names of the spec to pyroute2's, `multi` those of repeated attributes to what
    records call them, `enums` those of numbers to the words that they stand for.
    """
    prefix = f"{upper(spec.name)}_A_{upper(attr_set.name)}_"
    suffix = "Msg" if base == "genlmsg" else "Nla"
    doc = f"Attributes of the set {attr_set.name}, as a {'message' if suffix == 'Msg' else 'nest'}."
    out = ["", "", f"class {camel(attr_set.name)}{suffix}({base}):", f'    """{doc}"""', ""]
    nested = sorted({attr.nested for attr in attr_set.attrs if attr.nested})
    out += [f"    nest_{snake(name)} = {camel(name)}Nla" for name in nested]
    rows = []
    for attr in attr_set.attrs:
        kind, flags = PYROUTE2_ATOM.get(attr.type, f"nest_{snake(attr.nested or '')}"), "0"
        if attr.nested:
            flags = "NLA_F_NESTED"
        rows.append(f'({attr.id}, "{prefix}{upper(attr.name)}", "{kind}", {flags})')
    out.append(f'    prefix = "{prefix}"')
    if len(rows) == 1:
        out.append(f"    nla_map = ({rows[0]},)")
    else:
        out += ["    nla_map = (", *[f"        {row}," for row in rows], "    )"]
    out.append("    keys: ClassVar[dict[str, str]] = {")
    out += [
        f'        "{snake(attr.name)}": "{prefix}{upper(attr.name)}",'
        for attr in attr_set.attrs
        if attr.type != "pad"
    ]
    out += ["    }"]
    multi = [attr for attr in attr_set.attrs if attr.multi]
    out += mapping("multi", "str", [(one, f'"{called(outputs, attr_set, one)}"') for one in multi])
    enums = [
        (one, f"records.{camel(one.enum.name)}")
        for one in attr_set.attrs
        if one.enum and outputs.records
    ]
    return out + mapping("enums", "Any", enums)


def mapping(name: str, kind: str, values: list[tuple[Attr, str]]) -> list[str]:
    """A dict of a class, by names of attributes."""
    line = f"    {name}: ClassVar[dict[str, {kind}]] = {{"
    if not values:
        return [line + "}"]
    return [line, *[f'        "{snake(attr.name)}": {value},' for attr, value in values], "    }"]
