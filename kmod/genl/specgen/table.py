# SPDX-License-Identifier: GPL-2.0
"""The reference for people."""

from __future__ import annotations

from specgen.spec import UAPI_LICENSE, Spec, limits_text


def markdown(spec: Spec) -> str:
    """Operations, attributes, enums: for people."""
    out = [f"<!-- SPDX-License-Identifier: {UAPI_LICENSE} -->"]
    out += [f"<!-- generated from {spec.source}, run `make gen` -->", ""]
    out += [f"# Netlink family `{spec.name}`, version {spec.version}", "", spec.doc, ""]
    out += ["## Commands", ""]
    for op in spec.ops:
        out += [f"### {op.id} `{op.name}`", "", op.doc, ""]
        if op.notify:
            out += [f"Notification with the attributes of `{op.notify}`.", ""]
        for mode_name, mode in (("do", op.do), ("dump", op.dump)):
            for part in ("request", "reply"):
                names = (mode or {}).get(part, {}).get("attributes", [])
                if names:
                    listed = ", ".join(f"`{name}`" for name in names)
                    out.append(f"- {mode_name} {part} (`{op.attrs.name}`): {listed}")
        if out[-1]:
            out.append("")
    if spec.groups:
        out += ["## Multicast groups", ""]
        out += [f"- `{group.name}`: {group.doc}" for group in spec.groups] + [""]
    out += ["## Attributes", ""]
    for attr_set in spec.sets:
        out += [f"### Set `{attr_set.name}`", "", *([attr_set.doc, ""] if attr_set.doc else [])]
        out += ["| id | name | type | allowed | meaning |", "|---:|---|---|---|---|"]
        for attr in attr_set.attrs:
            kind = f"nest `{attr.nested}`" if attr.nested else attr.type
            kind += ", repeated" if attr.multi else ""
            kind = f"array of struct `{attr.struct.name}`" if attr.struct else kind
            kind = f"array of {attr.sub_type}" if attr.sub_type else kind
            cells = [str(attr.id), f"`{attr.name}`", kind, limits_text(attr), attr.doc]
            out.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
        out.append("")
    for struct in spec.structs:
        out += [f"## Struct `{struct.name}`", "", f"{struct.doc} {struct.bytes} bytes.", ""]
        out += ["| name | type | meaning |", "|---|---|---|"]
        out += [f"| `{member.name}` | {member.type} | {member.doc} |" for member in struct.members]
        out.append("")
    out += ["## Enums and constants", ""]
    for enum in spec.enums:
        out += [f"### `{enum.name}`", "", *([enum.doc, ""] if enum.doc else [])]
        out += ["| value | name | meaning |", "|---:|---|---|"]
        for value, entry in enumerate(enum.entries):
            out.append(f"| {value} | `{entry.name}` | {entry.doc} |")
        out.append("")
    if spec.consts:
        out += ["### Constants", "", "| name | value |", "|---|---:|"]
        out += [f"| `{name}` | {value} |" for name, value, _ in spec.consts] + [""]
    return "\n".join(out).rstrip() + "\n"
