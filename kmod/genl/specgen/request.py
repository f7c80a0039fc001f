# SPDX-License-Identifier: GPL-2.0
"""Structures that the kernel parses requests into, and the tables that say how."""

from __future__ import annotations

from pathlib import Path

from specgen.spec import (
    WIDTH,
    Attr,
    AttrSet,
    Outputs,
    Record,
    Spec,
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
    out += ["/* u32 and u64 are the including file's. */"]
    out += [f"#ifndef {guard}", f"#define {guard}"]
    for attr_set, record in record_sets(spec):
        if not record.include:
            out += ["", *structure(spec, attr_set, record)]
    return "\n".join([*out, "", f"#endif /* {guard} */"]) + "\n"


def structure(spec: Spec, attr_set: AttrSet, record: Record) -> list[str]:
    """One structure: long numbers first, so that none is padded, and arrays last."""
    numbers: list[tuple[str, str, str]] = []
    arrays: list[tuple[str, str, str]] = []
    for attr in (attr for attr in record.attrs if not attr.field.ignored):
        name, doc = member(attr), attr.doc or f"{attr.name.replace('-', ' ').capitalize()}."
        if attr.enum:
            doc = f"{attr.doc} " if attr.doc else ""
            doc += f"enum {attr.enum.c_name}"
        if attr.nested:
            inner = spec.by_set[attr.nested].record
            assert inner is not None
            limit = most(spec, attr)
            numbers.append(("u32", count(attr_set, attr), f"number of @{name}, 1 to {limit}"))
            arrays.append((f"struct {inner.name}", f"{name}[{limit}]", doc))
        elif attr.field.pool:
            array = attr.field.pool.rpartition(".")[2]
            numbers.append(("u32", f"first_{name}", f"index of the first @{array} of the workload"))
            numbers.append(("u32", count(attr_set, attr), doc))
        elif attr.type == "binary":
            numbers.append(("u32", f"{name}_bytes", f"length of @{name}"))
            arrays.append(("u8", f"{name}[{attr.checks['max-len']}]", doc))
        elif attr.type == "string":
            arrays.append(("char", f"{name}[{attr.checks['max-len'] + 1}]", doc))
        else:
            numbers.append((attr.type, name, doc))
    numbers.sort(key=lambda one: one[0] != "u64")
    members = [*numbers, *arrays]
    docs = [(name.partition("[")[0], doc) for _, name, doc in members]
    title = attr_set.doc or f"attributes of the set {attr_set.name}"
    lines = kernel_doc(f"struct {record.name}", title, docs)
    lines += [f"struct {record.name} {{", *[f"\t{kind} {name};" for kind, name, _ in members]]
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


def table(attr_set: AttrSet) -> str:
    return f"{snake(attr_set.name)}_fields"


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
        out += ["", f"static const struct spek_genl_field {table(attr_set)}[] = {{"]
        for attr in record.attrs:
            out += field(spec, attr_set, record, attr)
        out += ["};", ""]
        static = "static " if attr_set.name in nested else ""
        out += [
            f"{static}const struct spek_genl_record {record_name(spec, attr_set)} = {{",
            f"\t.field = {table(attr_set)},",
            f"\t.nr = ARRAY_SIZE({table(attr_set)}),",
            "};",
        ]
    return "\n".join(out) + "\n"


def request_header(spec: Spec, outputs: Outputs) -> str:
    """What request_source() defines."""
    guard = f"_{upper(spec.name)}_{upper(Path(outputs.requests).name)}_H"
    sets = record_sets(spec)
    nested = {attr.nested for _, record in sets for attr in record.attrs}
    out = c_head(spec, "GPL-2.0", header=True)
    out += [f"#ifndef {guard}", f"#define {guard}", "", '#include "../../genl/request.h"', ""]
    out += [
        f"extern const struct spek_genl_record {record_name(spec, attr_set)};"
        for attr_set, _ in sets
        if attr_set.name not in nested
    ]
    return "\n".join([*out, "", f"#endif /* {guard} */"]) + "\n"


def record_name(spec: Spec, attr_set: AttrSet) -> str:
    return f"{spec.c}_{snake(attr_set.name)}_request"


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
        inner = spec.by_set[attr.nested]
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
    elif attr.type == "binary":
        head = [macro("ARRAY", "BYTES", attr_id, whole, name, f"{name}_bytes")]
        more += [f"\t.at_most = sizeof_field({whole}, {name}),"]
    else:
        kind = "TEXT" if attr.type == "string" else attr.type.upper()
        head = [macro("MEMBER", kind, attr_id, whole, name)]
    if attr.nested or entry.pool:
        more += [f"\t.at_most = {most(spec, attr)},", *text("too_many", entry.too_many)]
    if entry.default:
        more += [f"\t.usual = {entry.default},"]
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
    return f"{first}\n{indent}{', '.join(args[1:])}),"
