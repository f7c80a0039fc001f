# SPDX-License-Identifier: GPL-2.0
"""Constants, enums and pyroute2 classes for Python."""

from __future__ import annotations

import re
import textwrap

from specgen.spec import MEMBER_BYTES, WIDTH, AttrSet, Member, Spec, one_line, snake, upper

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
LINE_LENGTH = 100


def camel(name: str) -> str:
    return "".join(part.capitalize() for part in re.split("[-_]", name))


def python_module(spec: Spec) -> str:
    """Constants, enums and pyroute2 classes."""
    fam = upper(spec.name)
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
    for struct in spec.structs:
        doc_lines = textwrap.wrap(struct.doc, WIDTH - 10, break_on_hyphens=False)
        out += ["", "", *[f"# {line}" for line in doc_lines]]
        out += [f"{upper(struct.name)}_BYTES = {struct.bytes}"]
        out += [f"{upper(struct.name)} = ("]
        out += [f'    ("{snake(member.name)}", "{kind(member)}"),' for member in struct.members]
        out += [")"]
    for attr_set in python_order(spec):
        out += python_set(spec, fam, attr_set, "nla")
    messages = [s for s in spec.sets if any(op.attrs is s for op in spec.ops)]
    for attr_set in messages:
        out += python_set(spec, fam, attr_set, "genlmsg")
    out += ["", "", "MESSAGES: dict[int, Any] = {"]
    out += [f"    Cmd.{upper(op.name)}: {camel(op.attrs.name)}Msg," for op in spec.ops]
    out += ["}", "", ""]
    out += [
        "def message(data: Any, offset: int = 0) -> Any:",
        '    """Make the message object for the bytes at offset; pyroute2 takes it for a class.',
        "",
        "    pyroute2 knows one class for each family, but the attributes depend on the command,",
        "    which is the first byte after the 16 bytes of struct nlmsghdr.",
        '    """',
        "    cls = MESSAGES.get(data[offset + 16], genlmsg)",
        "    return cls(data, offset=offset)",
    ]
    return "\n".join(out) + "\n"


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


def python_set(spec: Spec, fam: str, attr_set: AttrSet, base: str) -> list[str]:
    """One class; `keys` maps the names of the spec to pyroute2's, `multi` lists repeated ones."""
    prefix = f"{fam}_A_{upper(attr_set.name)}_"
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
    multi = [snake(attr.name) for attr in attr_set.attrs if attr.multi]
    inside = ", ".join(f'"{name}"' for name in multi)
    members = "{" + inside + "}" if multi else ""
    line = f"    multi: ClassVar[frozenset[str]] = frozenset({members})"
    # As the formatter breaks a line that is too long.
    broken = [line.removesuffix(members + ")"), f"        {members}", "    )"]
    out += [line] if len(line) <= LINE_LENGTH else broken
    enums = [attr for attr in attr_set.attrs if attr.enum]
    if enums:
        out.append("    enums: ClassVar[dict[str, type[IntEnum]]] = {")
        for attr in enums:
            assert attr.enum is not None
            out.append(f'        "{snake(attr.name)}": {camel(attr.enum.name)},')
        out.append("    }")
    else:
        out.append("    enums: ClassVar[dict[str, type[IntEnum]]] = {}")
    return out
