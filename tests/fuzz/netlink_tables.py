# SPDX-License-Identifier: GPL-2.0
"""The specs and what makes their requests plausible, as C tables for netlink/*.c."""

from __future__ import annotations

import errno
import importlib
import re
import sys
from pathlib import Path
from typing import Any

from fuzz.netlink_plausible import DYNAMIC, VARIANTS, WEIGHTS, Field, Variant

ROOT = Path(__file__).resolve().parents[2]
SPECS = (
    "kmod/load/uapi/spek.yaml",
    "prober/uapi/spek_prober.yaml",
    "kmod/drive/uapi/spek_drive.yaml",
)
U64 = (1 << 64) - 1


def load_specs() -> list[Any]:
    """The models of the specs, read by the generator's own loader."""
    folder = str(ROOT / "kmod" / "genl")
    if folder not in sys.path:
        sys.path.insert(0, folder)
    loader = importlib.import_module("specgen.spec").load
    return [loader(ROOT / spec, spec) for spec in SPECS]


class Writer:
    """Collects tables; those that others point to come first."""

    def __init__(self) -> None:
        self.lines = ["/* made by tests/fuzz/netlink_tables.py */"]
        self.count = 0

    def table(self, kind: str, rows: list[str]) -> str:
        """Return: "pointer, length" of a new table."""
        if not rows:
            return "NULL, 0"
        name = f"table_{self.count}"
        self.count += 1
        self.lines.append(f"static const {kind} {name}[] = {{")
        self.lines += [f"\t{row}," for row in rows]
        self.lines.append("};")
        return f"{name}, {len(rows)}"


def _attr(spec: Any, sets: list[Any], attr: Any) -> str:
    kind = attr.type.upper()
    nested = sets.index(spec.by_set[attr.nested]) if attr.nested else -1
    low, high = attr.checks.get("min", 0), attr.checks.get("max", U64)
    length = attr.checks.get("max-len", 0)
    return (
        f'{{ "{attr.name}", {attr.id}, FUZZ_{kind}, {int(attr.multi)}, {nested},'
        f" {low & U64}ull, {high & U64}ull, {length} }}"
    )


def _field(writer: Writer, spec: Any, attrs: Any, field: Field) -> str:
    attr = attrs.find(field.name)
    inner = spec.by_set[attr.nested] if attr.nested else None
    variants = _variants(writer, spec, inner, list(field.variants)) if inner else "NULL, 0"
    values = []
    for value in field.values:
        if isinstance(value, int):
            values.append(f"{{ SOURCE_NUMBER, {value & U64}ull, NULL }}")
        elif value.startswith("@"):
            source = DYNAMIC[DYNAMIC.index(value[1:])].upper().replace("-", "_")
            values.append(f"{{ SOURCE_{source}, 0, NULL }}")
        else:
            values.append(f'{{ SOURCE_TEXT, 0, "{value}" }}')
    table = writer.table("struct fuzz_value", values)
    return f"{{ {attr.id}, {field.often}, {field.at_most}, {table}, {variants} }}"


def _variants(writer: Writer, spec: Any, attrs: Any, variants: list[Variant]) -> str:
    rows = []
    for variant in variants:
        fields = writer.table(
            "struct fuzz_field", [_field(writer, spec, attrs, member) for member in variant]
        )
        rows.append(f"{{ {fields} }}")
    return writer.table("struct fuzz_variant", rows)


def _op(writer: Writer, spec: Any, sets: list[Any], op: Any) -> str:
    replies: set[int] = set()
    source = (
        next(operation for operation in spec.ops if operation.name == op.notify)
        if op.notify
        else op
    )
    for body in (source.do, source.dump):
        names = (body or {}).get("reply", {}).get("attributes", [])
        replies |= {source.attrs.find(name).id for name in names}
    reply = writer.table("unsigned short", [str(ident) for ident in sorted(replies)])
    variants = _variants(writer, spec, op.attrs, VARIANTS[spec.name].get(op.name, [()]))
    return (
        f'{{ "{op.name}", {op.id}, {sets.index(op.attrs)}, {int(bool(op.do))},'
        f" {int(bool(op.dump))}, {WEIGHTS.get(op.name, 4)}, {reply}, {variants} }}"
    )


def _family(writer: Writer, spec: Any) -> str:
    sets = spec.sets
    known = {op.name for op in spec.ops} | {attr_set.name for attr_set in sets}
    if foreign := VARIANTS[spec.name].keys() - known:
        raise ValueError(f"the spec of {spec.name} has no {', '.join(sorted(foreign))}")
    if silent := [
        op.name for op in spec.ops if not op.notify and op.name not in VARIANTS[spec.name]
    ]:
        raise ValueError(f"no plausible request for {', '.join(silent)} of {spec.name}")
    set_rows = []
    for attr_set in sets:
        attrs = writer.table(
            "struct fuzz_attr", [_attr(spec, sets, attr) for attr in attr_set.attrs]
        )
        variants = _variants(writer, spec, attr_set, VARIANTS[spec.name].get(attr_set.name, [()]))
        set_rows.append(f'{{ "{attr_set.name}", {attrs}, {variants} }}')
    set_table = writer.table("struct fuzz_set", set_rows)
    op_table = writer.table("struct fuzz_op", [_op(writer, spec, sets, op) for op in spec.ops])
    words = set(re.findall(r"\bE[A-Z0-9]+\b", spec.doc))
    # not errno.errorcode: it has one name for each number, and EOPNOTSUPP is also ENOTSUP
    numbers = sorted(getattr(errno, word) for word in words if hasattr(errno, word))
    errnos = writer.table("int", [str(code) for code in numbers])
    return f'{{ "{spec.name}", "{spec.groups[0].name}", {set_table}, {op_table}, {errnos} }}'


def tables() -> str:
    """The text of the header."""
    writer = Writer()
    families = [_family(writer, spec) for spec in load_specs()]
    writer.lines.append("const struct fuzz_family fuzz_families[] = {")
    writer.lines += [f"\t{row}," for row in families]
    writer.lines.append("};")
    return "\n".join(writer.lines) + "\n"
