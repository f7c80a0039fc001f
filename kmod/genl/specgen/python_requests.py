# SPDX-License-Identifier: GPL-2.0
"""Limits, words and records of requests for Python, which need no pyroute2."""

from __future__ import annotations

import textwrap
from itertools import groupby

from specgen.python import camel, pack_format, py_doc
from specgen.request import CMember, members
from specgen.spec import (
    WIDTH,
    Attr,
    AttrSet,
    Member,
    Record,
    Spec,
    Struct,
    plural,
    record_sets,
    snake,
    upper,
)


def requests_module(spec: Spec) -> str:
    """Limits, words and records of requests."""
    sets = record_sets(spec)
    used = {attr.enum.name for _, record in sets for attr in record.attrs if attr.enum}
    enums = [enum for enum in spec.enums if enum.name in used]
    packs = any(
        record.packed or attr.struct or attr.sub_type for _, record in sets for attr in record.attrs
    )
    fills = any(record.packed for _, record in sets)
    helpers = [*(["code"] if enums else []), *(["filled"] if fills else []), "given"]
    out = [
        "# SPDX-License-Identifier: GPL-2.0-or-later",
        f"# generated from {spec.source}, run `make gen`",
        f'"""Netlink family {spec.name}: limits, words and records of requests."""',
        "",
        *(["from struct import pack"] if packs else []),
        f"from typing import Annotated, Any{', Literal' if enums else ''}",
        "",
        "import msgspec",
        "from msgspec import Meta",
        "",
        f"from spekctl.contract.wire import {', '.join(helpers)}",
        "",
    ]
    out += [f"{upper(name)} = {value}" for name, value, _ in spec.consts]
    for enum in enums:
        words = ", ".join(f'"{entry.name}"' for entry in enum.entries)
        out += ["", f"# {enum.doc}"] if enum.doc else [""]
        line = f"{camel(enum.name)} = Literal[{words}]"
        if len(line) > WIDTH:
            line = "\n".join(
                [
                    f"{camel(enum.name)} = Literal[",
                    *[f'    "{entry.name}",' for entry in enum.entries],
                    "]",
                ]
            )
        out.append(line)
    for attr_set, record in sets:
        out += function(attr_set, record) if record.include else structure(spec, attr_set, record)
    return "\n".join(out) + "\n"


def structure(spec: Spec, attr_set: AttrSet, record: Record) -> list[str]:
    """One class: what a request must have, then the rest."""
    doc = attr_set.doc or f"Attributes of the set {attr_set.name} in a request."
    base = "msgspec.Struct, frozen=True, forbid_unknown_fields=True"
    out = ["", "", f"class {camel(record.short)}Request({base}):", *py_doc(doc), ""]
    for attr in sorted((one for one in record.attrs if not one.field.apart), key=place):
        name, kind, default = called(attr_set, attr), kind_of(attr), usual(attr)
        equals = f" = {default}" if default is not None else ""
        out += annotated(name, kind, attr.doc, equals)
    head = "def attributes(self) -> dict[str, Any]:"
    out += ["", *method(attr_set, record, head, "self", 4)]
    return out + (["", *packed(spec, attr_set, record)] if record.packed else [])


def packed(spec: Spec, attr_set: AttrSet, record: Record) -> list[str]:
    """A method that makes the structure in C, with its padding."""
    codes: list[str] = []
    values, offset, widest = [], 0, 1
    for each in members(spec, attr_set, record):
        assert isinstance(each.room, int)
        gap = -offset % each.align
        code, value = packed_member(attr_set, each)
        codes += [*(["x"] * gap), code]
        values.append(value)
        offset += gap + each.bytes * (each.room or 1)
        widest = max(widest, each.align)
    codes += ["x"] * (-offset % widest)
    runs = [(code, len(list(run))) for code, run in groupby(codes)]
    text = "".join(code if len(code) > 1 else f"{number}{code}" for code, number in runs)
    lines = ["def packed(self) -> bytes:", f'    """struct {record.name}."""', "    return pack("]
    lines += [f'        "={text}",', *[f"        {value}," for value in values]]
    return [f"    {line}" for line in [*lines, "    )"]]


def packed_member(attr_set: AttrSet, each: CMember) -> tuple[str, str]:
    """Format and value of a member."""
    attr = each.attr
    value = f"self.{called(attr_set, attr)}"
    if each.is_count:
        return "I", f"len({value})"
    if not each.room:
        return ("Q" if each.kind == "u64" else "I"), wire(attr, value)
    assert isinstance(each.room, int)
    room = each.room * each.bytes
    if attr.nested:
        data = f'b"".join(each.packed() for each in {value})'
    elif attr.type == "string":
        # the terminating zero has its place
        return f"{room}s", f"filled({value}.encode(), {room - 1})"
    else:
        data = wire(attr, value)
    return f"{room}s", f"filled({data}, {room})"


def place(attr: Attr) -> int:
    """Names come first, and what may be left out last."""
    return 0 if attr.type == "string" else 1 if usual(attr) is None else 2


def function(attr_set: AttrSet, record: Record) -> list[str]:
    """What a record that is written by hand, too, has of numbers and words."""
    name = f"{snake(attr_set.name)}_attributes"
    lines = method(attr_set, record, f"def {name}(config: Any) -> dict[str, Any]:", "config", 0)
    return ["", "", *lines]


def method(attr_set: AttrSet, record: Record, head: str, source: str, indent: int) -> list[str]:
    lines = [head, '    """The attributes, without those that have their default."""']
    lines += ["    return given("]
    for attr in record.attrs:
        if attr.field.apart or (attr.nested and record.include):
            continue
        value, unsent = wire(attr, f"{source}.{called(attr_set, attr)}"), not_sent(attr)
        lines.append(f'        ("{snake(attr.name)}", {value}, {unsent}),')
    return [f"{' ' * indent}{line}" for line in [*lines, "    )"]]


def annotated(name: str, kind: str, doc: str, equals: str) -> list[str]:
    if not doc:
        return [f"    {name}: {kind}{equals}"]
    quoted = doc.replace("\\", "\\\\").replace('"', '\\"')
    line = f'    {name}: Annotated[{kind}, Meta(description="{quoted}")]{equals}'
    if len(line) <= WIDTH:
        return [line]
    meta = f'        Meta(description="{quoted}"),'
    alone = f'            description="{quoted}"'
    if len(meta) <= WIDTH:
        lines = [meta]
    elif len(alone) <= WIDTH:
        lines = ["        Meta(", alone, "        ),"]
    else:
        parts = textwrap.wrap(quoted, WIDTH - 18, break_on_hyphens=False, drop_whitespace=False)
        lines = ["        Meta(", "            description=("]
        lines += [*[f'                "{part}"' for part in parts], "            )", "        ),"]
    return [f"    {name}: Annotated[", f"        {kind},", *lines, f"    ]{equals}"]


def called(attr_set: AttrSet, attr: Attr) -> str:
    many = attr.multi or attr.struct or attr.sub_type
    return plural(attr_set, attr) if many else snake(attr.name)


def kind_of(attr: Attr) -> str:
    """Type of a field: bytes are text in hexadecimal, so that JSON can hold them."""
    if attr.nested:
        return f"list[{camel(attr.nested)}Request]"
    if attr.enum:
        return camel(attr.enum.name)
    if attr.struct:
        return f"list[tuple[{', '.join('int' for _ in attr.struct.members)}]]"
    if attr.sub_type:
        return "list[int]"
    if attr.field.optional:
        return "int | None"
    return "str" if attr.type in ("string", "binary") else "int"


def usual(attr: Attr) -> str | None:
    """Default of a field; None: it has none. A name is for readers: all records have one."""
    if attr.type == "string" and attr.field.default == "":
        return '""'
    if attr.field.needed or attr.type == "string":
        return None
    if attr.field.optional:
        return "None"
    if attr.nested or attr.struct or attr.sub_type:
        return "[]"
    if attr.enum:
        return f'"{attr.enum.entries[int(attr.field.default)].name}"'
    return '""' if attr.type == "binary" else str(attr.field.default)


def wire(attr: Attr, value: str) -> str:
    """A field as it is sent."""
    if attr.nested:
        return f"[each.attributes() for each in {value}]"
    if attr.enum:
        return f"code({camel(attr.enum.name)}, {value})"
    if attr.struct:
        return f'b"".join(pack("{pack_format(attr.struct)}", *each) for each in {value})'
    if attr.sub_type:
        letter = pack_format(Struct("", "", [Member("", attr.sub_type, "")]))[1:]
        return f'pack(f"={{len({value})}}{letter}", *{value})'
    if attr.type == "binary":
        return f"bytes.fromhex({value})"
    return value if attr.type == "string" or attr.field.optional else f"int({value})"


def not_sent(attr: Attr) -> str:
    """Values that mean the same as no attribute, as a tuple."""
    if attr.field.needed:
        return "()"
    if attr.field.optional:
        return "(None,)"
    if attr.nested or attr.type in ("string", "binary"):
        return {"string": '("",)', "binary": '(b"",)'}.get(attr.type, "([],)")
    values = {int(attr.field.default)}
    if attr.checks.get("min", 0) > 0:
        values.add(0)
    return f"({', '.join(map(str, sorted(values)))}{',' if len(values) == 1 else ''})"
