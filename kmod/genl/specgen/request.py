# SPDX-License-Identifier: GPL-2.0
"""Structures that the kernel parses requests into, and the tables that say how."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from specgen.spec import (
    MEMBER_BYTES,
    WIDTH,
    Attr,
    AttrSet,
    Outputs,
    Record,
    Spec,
    Struct,
    plural,
    record_sets,
    snake,
    upper,
)
from specgen.uapi import c_head, kernel_doc


def struct_header(spec: Spec, outputs: Outputs) -> str:
    """The structures, for a core that includes nothing of the kernel."""
    guard = f"_{upper(spec.name)}_{upper(Path(outputs.structs).stem)}_H"
    out = c_head(spec, "GPL-2.0", header=True)
    out += ["/* The types of numbers are the including file's. */"]
    out += [f"#ifndef {guard}", f"#define {guard}"]
    entries: list[Struct] = []
    for attr in (attr for _, record in record_sets(spec) for attr in record.attrs):
        if attr.is_array and attr.struct and attr.struct not in entries:
            entries.append(attr.struct)
            out += ["", *entry(spec, attr.struct)]
    for attr_set, record in record_sets(spec):
        if record.fields:
            out += ["", *numbers_of(spec, attr_set, record)]
        if not record.include:
            out += ["", *structure(spec, attr_set, record)]
    return "\n".join([*out, "", f"#endif /* {guard} */"]) + "\n"


@dataclass(frozen=True)
class CMember:
    """A member of a structure.

    @kind: type in C
    @room: entries of an array; 0: a number
    @bytes: size of an entry
    @align: of an entry
    @attr: attribute that it takes
    @is_count: the number of entries or bytes of that attribute
    """

    kind: str
    name: str
    room: int | str
    bytes: int
    align: int
    doc: str
    attr: Attr
    is_count: bool = False


def members(spec: Spec, attr_set: AttrSet, record: Record) -> list[CMember]:
    """Long numbers first, so that none is padded, and arrays last."""
    numbers: list[CMember] = []
    arrays: list[CMember] = []

    def number(kind: str, name: str, doc: str, attr: Attr, is_count: bool = False) -> None:
        size = MEMBER_BYTES[kind]
        numbers.append(CMember(kind, name, 0, size, size, doc, attr, is_count))

    for attr in (attr for attr in record.attrs if not attr.field.ignored):
        name, doc = member(attr), attr.doc or f"{attr.name.replace('-', ' ').capitalize()}."
        if attr.enum:
            doc = f"{attr.doc} " if attr.doc else ""
            doc += f"enum {attr.enum.c_name}"
        room: int | str
        if attr.nested:
            inner_set = spec.by_set[attr.nested]
            inner = inner_set.record
            assert inner is not None
            limit = most(spec, attr)
            number("u32", count(attr_set, attr), f"number of @{name}, 1 to {limit}", attr, True)
            size, align = extent(spec, inner_set, inner) if not inner.include else (0, 0)
            kind = f"struct {inner.name}"
            room = int(limit) if limit.isdecimal() else limit
            arrays.append(CMember(kind, name, room, size, align, doc, attr))
        elif attr.field.pool:
            array = attr.field.pool.rpartition(".")[2]
            doc_first = f"index of the first @{array} of the workload"
            number("u32", f"first_{name}", doc_first, attr, True)
            number("u32", count(attr_set, attr), doc, attr, True)
        elif attr.is_array:
            room = attr.checks["max-len"] // attr.entry_bytes
            number("u32", count(attr_set, attr), f"number of @{name}, up to {room}", attr, True)
            kind = f"struct {spec.c}_{entry_name(attr.struct)}" if attr.struct else attr.sub_type
            align = (
                max(MEMBER_BYTES[entry.type] for entry in attr.struct.members)
                if attr.struct
                else attr.entry_bytes
            )
            arrays.append(CMember(kind, name, room, attr.entry_bytes, align, doc, attr))
        elif attr.type == "binary":
            number("u32", f"{name}_bytes", f"length of @{name}", attr, True)
            arrays.append(CMember("u8", name, attr.checks["max-len"], 1, 1, doc, attr))
        elif attr.type == "string":
            arrays.append(CMember("char", name, attr.checks["max-len"] + 1, 1, 1, doc, attr))
        else:
            number(attr.type, name, doc, attr)
    numbers.sort(key=lambda each: each.bytes != 8)
    return [*numbers, *arrays]


def extent(spec: Spec, attr_set: AttrSet, record: Record) -> tuple[int, int]:
    """Bytes of a structure without arrays, and its alignment."""
    numbers = members(spec, attr_set, record)
    align = max((each.align for each in numbers), default=1)
    size = sum(each.bytes for each in numbers)
    return size + -size % align, align


def structure(spec: Spec, attr_set: AttrSet, record: Record) -> list[str]:
    """One structure."""
    found = members(spec, attr_set, record)
    title = attr_set.doc or f"attributes of the set {attr_set.name}"
    lines = kernel_doc(f"struct {record.name}", title, [(each.name, each.doc) for each in found])
    lines.append(f"struct {record.name} {{")
    for each in found:
        room = f"[{each.room}]" if each.room else ""
        lines.append(f"\t{each.kind} {each.name}{room};")
    return [*lines, "};"]


def entry_name(struct: Struct) -> str:
    """Entries have a structure of their own in a core, which includes no uapi header."""
    return snake(struct.name.removesuffix("-record") + "-entry")


def entry(spec: Spec, struct: Struct) -> list[str]:
    """The structure of an array's entries, member for member as in the uapi header."""
    name = f"struct {spec.c}_{entry_name(struct)}"
    docs = [(snake(each.name), each.doc) for each in struct.members]
    lines = kernel_doc(name, struct.doc, docs)
    lines += [f"{name} {{", *[f"\t{each.type} {snake(each.name)};" for each in struct.members]]
    return [*lines, "};"]


def numbers_of(spec: Spec, attr_set: AttrSet, record: Record) -> list[str]:
    """Numbers of the attributes, for a core that refuses their values."""
    prefix = f"{upper(spec.name)}_FIELD_"
    name = f"enum {snake(record.fields)}"
    doc = "attributes that a refusal may be about, by their numbers"
    docs = [(f"{prefix}WHOLE", "not about a single attribute")]
    docs += [(prefix + upper(attr.name), f"{attr.name}") for attr in record.attrs]
    lines = [*kernel_doc(name, doc, docs), f"{name} {{", f"\t{prefix}WHOLE,"]
    lines += [f"\t{prefix}{upper(attr.name)} = {attr.id}," for attr in record.attrs]
    return [*lines, "};"]


def member(attr: Attr) -> str:
    """The member that takes an attribute; with the structures around it, where it is nested."""
    return attr.field.member or snake(attr.name)


def count(attr_set: AttrSet, attr: Attr) -> str:
    """The member with the number of entries of an array."""
    path, _, _ = member(attr).rpartition(".")
    return f"{path}.nr_{plural(attr_set, attr)}" if path else f"nr_{plural(attr_set, attr)}"


def most(spec: Spec, attr: Attr) -> str:
    """Entries that there is room for, in C."""
    limit = attr.field.at_most
    return f"{upper(spec.name)}_{upper(limit)}" if isinstance(limit, str) else str(limit)


def table(record: Record) -> str:
    return f"{snake(record.short)}_fields"


def request_source(spec: Spec, outputs: Outputs) -> str:
    """Tables from attributes to members."""
    sets = record_sets(spec)
    nested = {attr.nested for _, record in sets for attr in record.attrs}
    included = sorted({record.include for _, record in sets if record.include})
    out = c_head(spec, "GPL-2.0", header=False)
    out += ["#include <linux/build_bug.h>", "#include <linux/kernel.h>", ""]
    out += [f'#include "{name}"' for name in (*included, outputs.include_structs) if name]
    out += [f'#include "{outputs.include_uapi}"']
    out += [f'#include "{Path(outputs.requests).name}.h"']
    for attr_set, record in sets:
        for attr in record.attrs:
            if attr.field.pool:
                out += ["", *pool(spec, sets, attr_set, attr)]
            if attr.is_array and attr.struct:
                ours = f"struct {spec.c}_{entry_name(attr.struct)}"
                theirs = f"struct {spec.c}_{snake(attr.struct.name)}"
                out += ["", f"static_assert(sizeof({ours}) == sizeof({theirs}));"]
        out += ["", f"static const struct spek_genl_field {table(record)}[] = {{"]
        for attr in record.attrs:
            out += field(spec, attr_set, record, attr)
        out += ["};", ""]
        static = "static " if attr_set.name in nested else ""
        out += [
            f"{static}const struct spek_genl_record {record_name(spec, record)} = {{",
            f"\t.field = {table(record)},",
            f"\t.nr = ARRAY_SIZE({table(record)}),",
            *padding(spec, attr_set),
            "};",
        ]
    return "\n".join(out) + "\n"


def padding(spec: Spec, attr_set: AttrSet) -> list[str]:
    """The attribute that aligns numbers of 64 bits in answers."""
    pads = [attr for attr in attr_set.attrs if attr.type == "pad"]
    prefix = f"{upper(spec.name)}_A_{upper(attr_set.name)}_"
    return [f"\t.pad = {prefix}{upper(attr.name)}," for attr in pads]


def groups_of(spec: Spec) -> list[str]:
    """Names of the groups of all attributes of requests, in order."""
    attrs = [attr for _, record in record_sets(spec) for attr in record.attrs]
    return list(dict.fromkeys(group for attr in attrs for group in attr.field.groups))


def group_name(spec: Spec, group: str) -> str:
    return f"{upper(spec.name)}_GROUP_{upper(group)}"


def request_header(spec: Spec, outputs: Outputs) -> str:
    """What request_source() defines."""
    guard = f"_{upper(spec.name)}_{upper(Path(outputs.requests).name)}_H"
    sets = record_sets(spec)
    nested = {attr.nested for _, record in sets for attr in record.attrs}
    out = c_head(spec, "GPL-2.0", header=True)
    out += [f"#ifndef {guard}", f"#define {guard}", ""]
    out += [f'#include "{outputs.include_request}"', ""]
    groups = groups_of(spec)
    if groups:
        out += ["/* Groups of attributes. */", "enum {"]
        out += [f"\t{group_name(spec, name)} = 1U << {bit}," for bit, name in enumerate(groups)]
        out += ["};", ""]
    out += [
        f"extern const struct spek_genl_record {record_name(spec, record)};"
        for attr_set, record in sets
        if attr_set.name not in nested
    ]
    return "\n".join([*out, "", f"#endif /* {guard} */"]) + "\n"


def record_name(spec: Spec, record: Record) -> str:
    return f"{spec.c}_{snake(record.short)}_request"


def owner(sets: list[tuple[AttrSet, Record]], attr_set: AttrSet) -> Record:
    """The structure of the whole request that @attr_set is nested in, which has the pools."""
    around = next(
        (outer for outer, record in sets if attr_set.name in {one.nested for one in record.attrs}),
        None,
    )
    if around is not None:
        return owner(sets, around)
    assert attr_set.record is not None
    return attr_set.record


def pool(
    spec: Spec, sets: list[tuple[AttrSet, Record]], attr_set: AttrSet, attr: Attr
) -> list[str]:
    struct, entry, array = attr.struct, attr.field, attr.field.pool
    assert struct is not None
    whole = f"struct {owner(sets, attr_set).name}"
    path, _, _ = array.rpartition(".")
    number = f"{path}.nr_{plural(attr_set, attr)}" if path else f"nr_{plural(attr_set, attr)}"
    return [
        f"static_assert(sizeof_field({whole}, {array}[0]) ==",
        f"\t      sizeof(struct {spec.c}_{snake(struct.name)}));",
        "",
        f"static const struct spek_genl_pool {snake(attr_set.name)}_{snake(attr.name)}_pool = {{",
        f"\t.offset = offsetof({whole}, {array}),",
        f"\t.count = offsetof({whole}, {number}),",
        *text("torn", entry.torn),
        "};",
    ]


def text(name: str, sentence: str) -> list[str]:
    """A member that is a sentence; strings are not broken."""
    line = f'\t.{name} = "{sentence}",'
    return [line] if len(line) + 7 <= WIDTH else [f"\t.{name} =", f'\t\t"{sentence}",']


def field(spec: Spec, attr_set: AttrSet, record: Record, attr: Attr) -> list[str]:
    """An entry of a table."""
    attr_id = f"{upper(spec.name)}_A_{upper(attr_set.name)}_{upper(attr.name)}"
    entry, name, whole = attr.field, member(attr), f"struct {record.name}"
    more: list[str] = []
    if entry.ignored:
        head = [f".attr = {attr_id},"]
    elif attr.nested:
        head = [macro("ARRAY", "RECORD", attr_id, whole, name, count(attr_set, attr))]
        inner = spec.by_set[attr.nested].record
        assert inner is not None
        more += [f"\t.record = &{record_name(spec, inner)},"]
    elif entry.pool:
        array = f"{whole}, first_{name}"
        head = [
            f".attr = {attr_id},",
            ".kind = SPEK_GENL_POOL,",
            f".offset = offsetof({array}),",
            f".bytes = sizeof(struct {spec.c}_{snake(attr.struct.name if attr.struct else '')}),",
            f".count = offsetof({whole}, {count(attr_set, attr)}),",
        ]
        more += [f"\t.pool = &{snake(attr_set.name)}_{snake(attr.name)}_pool,"]
    elif attr.is_array:
        head = [macro("ARRAY", "VECTOR", attr_id, whole, name, count(attr_set, attr))]
        more += [f"\t.at_most = ARRAY_SIZE((({whole} *)NULL)->{name}),"]
    elif attr.type == "binary":
        head = [macro("ARRAY", "BYTES", attr_id, whole, name, f"{name}_bytes")]
        more += [f"\t.at_most = sizeof_field({whole}, {name}),"]
    else:
        kind = {"string": "TEXT", "s64": "U64"}.get(attr.type, attr.type.upper())
        head = [macro("MEMBER", kind, attr_id, whole, name)]
    if attr.nested or entry.pool:
        more += [f"\t.at_most = {most(spec, attr)},", *text("too_many", entry.too_many)]
    if entry.default:
        usual = f"{upper(spec.name)}_{upper(entry.default_name)}"
        more += [f"\t.usual = {usual if entry.default_name else entry.default},"]
    if entry.groups:
        names = [group_name(spec, group) for group in entry.groups]
        more += [f"\t.groups = {' | '.join(names)},"]
    if entry.needed:
        more += text("missing", entry.needed)
    return ["\t{", *[f"\t\t{line}" for line in head], *[f"\t{line}" for line in more], "\t},"]


def macro(what: str, kind: str, *args: str) -> str:
    line = f"SPEK_GENL_{what}({kind}, {', '.join(args)}),"
    if len(line) + 16 <= WIDTH:
        return line
    column = 16 + len(f"SPEK_GENL_{what}(")
    indent = "\t" * (column // 8) + " " * (column % 8)
    first = f"SPEK_GENL_{what}({kind}, {args[0]},"
    remainder = f"{', '.join(args[1:])}),"
    if column + len(remainder) > WIDTH:
        remainder = f"{', '.join(args[1:-1])},\n{indent}{args[-1]}),"
    return f"{first}\n{indent}{remainder}"
