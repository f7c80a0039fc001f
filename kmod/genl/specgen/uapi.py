# SPDX-License-Identifier: GPL-2.0
"""The header that kernel and userspace share."""

from __future__ import annotations

import textwrap
from pathlib import PurePath

from specgen.spec import (
    UAPI_LICENSE,
    WIDTH,
    Attr,
    AttrSet,
    Outputs,
    Spec,
    Struct,
    limits_text,
    one_line,
    snake,
    upper,
)


def c_head(spec: Spec, license_id: str, *, header: bool) -> list[str]:
    spdx = f"SPDX-License-Identifier: {license_id}"
    return [
        f"/* {spdx} */" if header else f"// {spdx}",
        f"/* generated from {spec.source}, run `make gen` */",
        "",
    ]


def comment_lines(text: str, first: str, rest: str) -> list[str]:
    return textwrap.wrap(
        one_line(text), WIDTH - 10, initial_indent=first, subsequent_indent=rest,
        break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip


def kernel_doc(kind: str, doc: str, members: list[tuple[str, str]]) -> list[str]:
    lines = ["/**", *comment_lines(f"{kind} - {doc}", " * ", " *   ")]
    for member, text in members:
        lines += comment_lines(f"@{member}: {text}", " * ", " *   ")
    return [*lines, " */"]


def enum_header(spec: Spec) -> str:
    """Constants and enums alone: a header that includes nothing."""
    guard = f"_UAPI_{upper(spec.name)}_ENUMS_H"
    out = [*c_head(spec, UAPI_LICENSE, header=True), f"#ifndef {guard}", f"#define {guard}"]
    out += ["", *constants(spec)] if spec.consts else []
    out += [*enums(spec), "", f"#endif /* {guard} */"]
    return "\n".join(out) + "\n"


def constants(spec: Spec) -> list[str]:
    out: list[str] = []
    for name, value, doc in spec.consts:
        if doc:
            out += [f"/* {doc} */"]
        suffix = "ULL" if value >> 32 else "U" if value >> 31 else ""
        out.append(f"#define {upper(spec.name)}_{upper(name)} {value}{suffix}")
    return out


def enums(spec: Spec) -> list[str]:
    out: list[str] = []
    for enum in spec.enums:
        members = [(enum.c_prefix + upper(entry.name), entry.doc) for entry in enum.entries]
        doc = enum.doc or f"{enum.name.replace('-', ' ').capitalize()}."
        members_doc = [
            (c_id, entry.doc or f"{entry.name.replace('-', ' ').capitalize()}.")
            for (c_id, _), entry in zip(members, enum.entries, strict=True)
        ]
        out += ["", *kernel_doc(f"enum {enum.c_name}", doc, members_doc)]
        out += [f"enum {enum.c_name} {{", *[f"\t{c_id}," for c_id, _ in members], "};"]
    return out


def uapi_header(spec: Spec, outputs: Outputs) -> str:
    """The header that kernel and userspace share."""
    fam = upper(spec.name)
    guard = f"_UAPI_{fam}_H"
    out = c_head(spec, UAPI_LICENSE, header=True)
    out += [f"#ifndef {guard}", f"#define {guard}", ""]
    if spec.structs:
        out += ["#include <linux/types.h>", ""]
    if outputs.enums:
        out += [f'#include "{PurePath(outputs.enums).name}"', ""]
    out += [f'#define {fam}_FAMILY_NAME "{spec.name}"']
    out += [f"#define {fam}_FAMILY_VERSION {spec.version}"]
    out += [f'#define {fam}_MCGRP_{upper(group.name)} "{group.name}"' for group in spec.groups]
    if not outputs.enums:
        out += ["", *constants(spec), *enums(spec)]
    for struct in spec.structs:
        out += ["", *c_struct(spec, struct)]
    for attr_set in spec.sets:
        out += ["", *attr_enum(spec, attr_set)]
    out += ["", *command_enum(fam, spec)]
    out += ["", f"#endif /* {guard} */"]
    return "\n".join(out) + "\n"


def c_struct(spec: Spec, struct: Struct) -> list[str]:
    name = f"struct {spec.c}_{snake(struct.name)}"
    members = [(snake(member.name), member.doc) for member in struct.members]
    lines = kernel_doc(name, f"{struct.doc} {struct.bytes} bytes, no padding.", members)
    lines.append(f"{name} {{")
    lines += [f"\t__{member.type} {snake(member.name)};" for member in struct.members]
    return [*lines, "};"]


def attr_doc(spec: Spec, attr: Attr) -> str:
    """Meaning, type and limits in one line."""
    kind = f"nest of {attr.nested}, repeated" if attr.multi else attr.type
    if attr.type == "nest" and not attr.multi:
        kind = f"nest of {attr.nested}"
    if attr.struct:
        kind = f"array of struct {spec.c}_{snake(attr.struct.name)}"
    if attr.sub_type:
        kind = f"array of {attr.sub_type}"
    limits = limits_text(attr)
    parts = [f"({kind}{', ' + limits if limits else ''})"]
    if attr.type == "pad":
        return "alignment of 64-bit attributes"
    if attr.doc:
        parts.append(attr.doc)
    return " ".join(parts)


def attr_enum(spec: Spec, attr_set: AttrSet) -> list[str]:
    prefix = f"{upper(spec.name)}_A_{upper(attr_set.name)}_"
    name = prefix.lower().rstrip("_")
    members = [(prefix + upper(attr.name), attr_doc(spec, attr)) for attr in attr_set.attrs]
    doc = attr_set.doc or f"attributes of the set {attr_set.name}"
    lines = kernel_doc(f"enum {name}", doc, members)
    lines[-1:-1] = [f" * @__{prefix}MAX: private", f" * @{prefix}MAX: highest id"]
    lines.append(f"enum {name} {{")
    for index, (member, _) in enumerate(members):
        lines.append(f"\t{member}{' = 1' if index == 0 else ''},")
    lines += ["", f"\t__{prefix}MAX,", f"\t{prefix}MAX = (__{prefix}MAX - 1)", "};"]
    return lines


def command_enum(fam: str, spec: Spec) -> list[str]:
    prefix = f"{fam}_CMD_"
    members = [(prefix + upper(op.name), op.doc) for op in spec.ops]
    lines = kernel_doc(f"enum {prefix.lower().rstrip('_')}", "commands", members)
    lines[-1:-1] = [f" * @__{prefix}MAX: private", f" * @{prefix}MAX: highest id"]
    lines.append(f"enum {prefix.lower().rstrip('_')} {{")
    for index, (member, _) in enumerate(members):
        lines.append(f"\t{member}{' = 1' if index == 0 else ''},")
    lines += ["", f"\t__{prefix}MAX,", f"\t{prefix}MAX = (__{prefix}MAX - 1)", "};"]
    return lines
