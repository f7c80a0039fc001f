# SPDX-License-Identifier: GPL-2.0
"""Enums, records of answers and columns of tables for Python, which need nothing but Python."""

from __future__ import annotations

from specgen.python import camel, layout, pack_format, py_doc
from specgen.spec import Attr, AttrSet, Enum, Spec, Struct, plural, snake, upper

# Enums that are called so number the columns of a table.
COLUMN = "-column"

# Type and default of an attribute that an answer need not carry.
PLAIN = {
    "u32": ("int", "0"),
    "u64": ("int", "0"),
    "s32": ("int", "0"),
    "s64": ("int", "0"),
    "string": ("str", '""'),
    "binary": ("Binary", 'b""'),
    "flag": ("bool", "False"),
}


def records_module(spec: Spec) -> str:
    """Enums and records of answers."""
    sets = answer_sets(spec)
    read = {attr.struct.name for _, attrs in sets for attr in attrs if attr.struct}
    written = requested(spec)
    imports = [*["iter_unpack"] * bool(read), *["pack"] * bool(written)]
    typing = [f"from struct import {', '.join(imports)}", "from typing import NamedTuple"]
    out = [
        "# SPDX-License-Identifier: GPL-2.0-or-later",
        f"# generated from {spec.source}, run `make gen`",
        f'"""Netlink family {spec.name}: enums as words, answers as records."""',
        "",
        *(["from collections.abc import Iterable"] if written else []),
        "from dataclasses import dataclass",
        *(typing if imports else []),
        "",
        "from spekctl.kernel.coded import Coded",
        "",
        "# Some records have a field called bytes.",
        "Binary = bytes",
    ]
    used = {attr.enum.name for one in spec.sets for attr in one.attrs if attr.enum}
    for enum in (one for one in spec.enums if one.name in used):
        doc = enum.doc or f"{enum.name.replace('-', ' ').capitalize()}."
        out += ["", "", f"class {camel(enum.name)}(Coded):", *py_doc(doc), ""]
        out += [f'    {upper(entry.name)} = "{entry.name}"' for entry in enum.entries]
    for struct in spec.structs:
        if struct.name in read | written:
            out += packed(struct, read, written)
        else:
            out += ["", *layout(struct)]
    for enum in (one for one in spec.enums if one.name.endswith(COLUMN)):
        out += counters(enum)
    for attr_set, attrs in sets:
        out += record(attr_set, attrs)
    return "\n".join(out) + "\n"


def answer_sets(spec: Spec) -> list[tuple[AttrSet, list[Attr]]]:
    """Sets with those of their attributes that answers carry; nested ones before their users.

    A set's record is its longest answer; what other operations answer is a value or two of it, or
    of their own (how many samples of a batch were taken).
    """
    names: dict[str, set[str]] = {}
    for op in spec.ops:
        for mode in (op.do, op.dump):
            reply = (mode or {}).get("reply", {}).get("attributes", [])
            if len(reply) > len(names.get(op.attrs.name, ())):
                names[op.attrs.name] = set(reply)
    found: list[tuple[AttrSet, list[Attr]]] = []

    def visit(attr_set: AttrSet, attrs: list[Attr]) -> None:
        for attr in attrs:
            if attr.nested and all(attr.nested != one.name for one, _ in found):
                inner = spec.by_set[attr.nested]
                visit(inner, [one for one in inner.attrs if one.type != "pad"])
        found.append((attr_set, attrs))

    for attr_set in spec.sets:
        if names.get(attr_set.name):
            carried = names[attr_set.name]
            visit(attr_set, [attr for attr in attr_set.attrs if attr.name in carried])
    return found


def requested(spec: Spec) -> set[str]:
    """Names of the structs that attributes of requests carry."""
    found: set[str] = set()
    for op in spec.ops:
        for mode in (op.do, op.dump):
            names = (mode or {}).get("request", {}).get("attributes", [])
            found |= {one.struct.name for one in op.attrs.attrs if one.struct and one.name in names}
    return found


def packed(struct: Struct, read: set[str], written: set[str]) -> list[str]:
    """A class for the records in a binary attribute; @read and @written: structs of answers and of
    requests."""
    name = camel(struct.name)
    out = [
        "",
        "",
        f"class {name}(NamedTuple):",
        *py_doc(struct.doc),
        "",
        *[f"    {snake(member.name)}: int" for member in struct.members],
    ]
    if struct.name in read:
        out += [
            "",
            "    @staticmethod",
            f'    def unpack(data: Binary) -> "list[{name}]":',
            '        """The records of an attribute."""',
            f'        return [{name}(*row) for row in iter_unpack("{pack_format(struct)}", data)]',
        ]
    if struct.name in written:
        out += [
            "",
            "    @staticmethod",
            f'    def pack(records: "Iterable[{name}]") -> Binary:',
            '        """The value of an attribute."""',
            f'        return b"".join(pack("{pack_format(struct)}", *row) for row in records)',
        ]
    return out


def counters(enum: Enum) -> list[str]:
    """A class for the cells of one entity in the table whose columns @enum numbers."""
    table = enum.name.removesuffix(COLUMN)
    return [
        "",
        "",
        "@dataclass(frozen=True, slots=True)",
        f"class {camel(table)}Counters:",
        *py_doc(enum.doc or f"Columns of table {table}, in order."),
        "",
        *[f"    {snake(entry.name)}: int | None" for entry in enum.entries],
    ]


def record(attr_set: AttrSet, attrs: list[Attr]) -> list[str]:
    """One class; an attribute that an answer repeats is a tuple."""
    doc = attr_set.doc or f"Attributes of the set {attr_set.name} in an answer."
    out = [
        "",
        "",
        "@dataclass(frozen=True, slots=True)",
        f"class {camel(attr_set.name)}Info:",
        *py_doc(doc),
        "",
    ]
    for attr in attrs:
        if attr.nested:
            kind, default = f"{camel(attr.nested)}Info | None", "None"
        elif attr.enum:
            enum = camel(attr.enum.name)
            kind, default = enum, f"{enum}.{upper(attr.enum.entries[0].name)}"
        else:
            kind, default = PLAIN[attr.type]
        if attr.multi:
            kind, default = f"tuple[{kind.removesuffix(' | None')}, ...]", "()"
        name = plural(attr_set, attr) if attr.multi else snake(attr.name)
        out.append(f"    {name}: {kind} = {default}")
    return out
