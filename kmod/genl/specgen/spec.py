# SPDX-License-Identifier: GPL-2.0
"""The model of a spec, its loader and its checks."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import yaml

WIDTH = 100
UAPI_LICENSE = "((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause)"
INTEGERS = {"u32": (32, False), "u64": (64, False), "s32": (32, True), "s64": (64, True)}
MEMBER_BYTES = {"u8": 1, "u16": 2, "u32": 4, "u64": 8, "s32": 4, "s64": 8}
# Attributes of a record: SPEK_GENL_MAX_FIELDS.
MAX_FIELDS = 128
TYPES = ("pad", *INTEGERS, "string", "binary", "flag", "nest")


class SpecError(Exception):
    """The spec says something that can't be generated."""


@dataclass(frozen=True)
class Outputs:
    """Where the files of one family go, relative to the root of the tree."""

    spec: str
    uapi: str
    kernel: str  # without .c/.h
    python: str
    table: str
    # how kernel sources include the uapi header and the compatibility header
    include_uapi: str
    include_compat: str
    # handlers may run beside each other: genetlink's lock is not theirs
    parallel: bool = False
    # header of the enums alone, for code that includes nothing of the kernel; in the uapi header's
    # folder, which includes it; "": the enums are in the uapi header itself
    enums: str = ""
    # records of answers for Python; "": answers stay dicts and numbers
    records: str = ""
    # structures that requests are parsed into, for code that includes nothing of the kernel, and
    # how kernel sources include this header; "": requests are parsed by hand
    structs: str = ""
    include_structs: str = ""
    # without .c: tables that map the attributes of requests to these structures, and how they
    # include the header of tables
    requests: str = ""
    include_request: str = "../../genl/request.h"
    # records of requests for Python; "": requests are dicts
    python_requests: str = ""


@dataclass
class Entry:
    name: str
    doc: str


@dataclass
class Enum:
    name: str
    doc: str
    entries: list[Entry]
    c_name: str
    c_prefix: str


@dataclass
class Member:
    name: str
    type: str
    doc: str


@dataclass
class Struct:
    """A record that travels as bytes; its members fill it without padding."""

    name: str
    doc: str
    members: list[Member]

    @property
    def bytes(self) -> int:
        return sum(MEMBER_BYTES[member.type] for member in self.members)


@dataclass
class Field:
    """What a request does with an attribute.

    @needed: sentence that refuses a request without it; "": it may be left out
    @default: its value then; "" of a string: readers of requests do without it, too
    @default_name: of the constant that the spec gave for it
    @optional: leaving it out is not the same as any value, and None in Python
    @member: where it goes, if not into the member of its name
    @ignored: it goes nowhere: it is for readers of requests
    @at_most: of a repeated attribute or of a pool: entries that there is room for, a number or the
        name of a constant
    @too_many: sentence that refuses more
    @pool: array, shared by all records, that takes the entries of a binary attribute
    @torn: sentence that refuses a part of an entry
    @apart: left out of Python's records; the sender of the request adds it
    @groups: objects and messages that have it are of all these groups
    """

    needed: str = ""
    default: int | str = 0
    default_name: str = ""
    optional: bool = False
    member: str = ""
    ignored: bool = False
    at_most: int | str = 0
    too_many: str = ""
    pool: str = ""
    torn: str = ""
    apart: bool = False
    groups: tuple[str, ...] = ()


@dataclass
class Attr:
    name: str
    type: str
    id: int
    doc: str
    checks: dict[str, int]
    enum: Enum | None = None
    nested: str | None = None
    multi: bool = False
    # of a binary attribute: the records that it is an array of
    struct: Struct | None = None
    # of a binary attribute: the integers that it is an array of
    sub_type: str = ""
    field: Field = field(default_factory=Field)

    @property
    def is_array(self) -> bool:
        """A request has its entries beside their number, and not in a pool."""
        return bool(self.sub_type or self.struct) and not self.field.pool

    @property
    def entry_bytes(self) -> int:
        return self.struct.bytes if self.struct else MEMBER_BYTES[self.sub_type]


@dataclass
class Record:
    """The structure that a set of a request is parsed into.

    @short: name of its table and of Python's record
    @name: of the structure
    @attrs: attributes that a request may have
    @include: header with the structure, if it is written by hand
    @packed: Python makes the structure, too
    @fields: enum of the attributes' numbers, for a core that refuses them; "": none

    With tolerant, a request may have the other attributes of its set, too, which are ignored.
    """

    short: str
    name: str
    attrs: list[Attr]
    include: str = ""
    packed: bool = False
    fields: str = ""


@dataclass
class AttrSet:
    name: str
    doc: str
    attrs: list[Attr]
    records: list[Record] = field(default_factory=list)

    @property
    def record(self) -> Record | None:
        """The only one of a set that is nested."""
        return self.records[0] if self.records else None

    def find(self, name: str) -> Attr:
        for attr in self.attrs:
            if attr.name == name:
                return attr
        raise SpecError(f"attribute set {self.name} has no attribute {name}")


@dataclass
class Op:
    name: str
    doc: str
    id: int
    attrs: AttrSet
    admin: bool
    do: dict[str, Any] | None
    dump: dict[str, Any] | None
    notify: str | None

    def request_attrs(self) -> list[Attr]:
        """Attributes that the operation accepts, in order of their ids."""
        names: set[str] = set()
        for mode in (self.do, self.dump):
            if mode:
                names.update(mode.get("request", {}).get("attributes", []))
        return sorted((self.attrs.find(name) for name in names), key=lambda attr: attr.id)


@dataclass
class Spec:
    name: str
    doc: str
    version: int
    consts: list[tuple[str, int, str]]
    enums: list[Enum]
    structs: list[Struct]
    sets: list[AttrSet]
    ops: list[Op]
    groups: list[Entry]
    source: str = ""
    by_set: dict[str, AttrSet] = field(default_factory=dict)

    @property
    def c(self) -> str:
        return snake(self.name)

    def nested_in_requests(self) -> list[AttrSet]:
        """Sets that need a policy of their own, innermost first."""
        found: list[AttrSet] = []

        def visit(attrs: list[Attr]) -> None:
            for attr in attrs:
                if attr.nested:
                    inner = self.by_set[attr.nested]
                    visit(inner.attrs)
                    if inner not in found:
                        found.append(inner)

        for op in self.ops:
            visit(op.request_attrs())
        return found


def record_sets(spec: Spec) -> list[tuple[AttrSet, Record]]:
    """Sets that requests are parsed from, nested ones before their users."""
    found: list[tuple[AttrSet, Record]] = []

    def visit(attr_set: AttrSet) -> None:
        if any(attr_set is visited for visited, _ in found):
            return
        for record in attr_set.records:
            for attr in record.attrs:
                if attr.nested:
                    visit(spec.by_set[attr.nested])
            found.append((attr_set, record))

    for attr_set in spec.sets:
        visit(attr_set)
    return found


def snake(name: str) -> str:
    return name.replace("-", "_")


def upper(name: str) -> str:
    return snake(name).upper()


def one_line(doc: str) -> str:
    return " ".join(doc.split())


def known_keys(what: str, node: dict[str, Any], *keys: str) -> None:
    """A key that is silently ignored is a limit that is silently not checked."""
    for key in node:
        if key not in keys:
            raise SpecError(f"{what}: unknown key {key!r} (an unquoted comma in a text?)")


def load(path: Path, source: str) -> Spec:
    """Read a spec and check that it can be generated."""
    tree = yaml.safe_load(path.read_text(encoding="utf-8"))
    known_keys(
        source, tree, "name", "protocol", "uapi-header", "doc", "definitions",
        "attribute-sets", "operations", "mcast-groups",
    )  # fmt: skip
    if tree.get("protocol") != "genetlink":
        raise SpecError(f"{source}: protocol must be genetlink")
    consts: list[tuple[str, int, str]] = []
    enums: list[Enum] = []
    structs: list[Struct] = []
    for node in tree.get("definitions", []):
        if node["type"] == "const":
            known_keys(node["name"], node, "name", "type", "value", "doc")
            consts.append((node["name"], int(node["value"]), one_line(node.get("doc", ""))))
        elif node["type"] == "enum":
            enums.append(load_enum(tree["name"], node))
        elif node["type"] == "struct":
            structs.append(load_struct(node))
        else:
            raise SpecError(f"{node['name']}: definitions are const, enum or struct")
    values = {name: value for name, value, _ in consts}
    spec = Spec(
        name=tree["name"],
        doc=tree.get("doc", "").strip(),
        version=values.get("version", 1),
        consts=[const for const in consts if const[0] != "version"],
        enums=enums,
        structs=structs,
        sets=[],
        ops=[],
        groups=[],
        source=source,
    )
    for node in tree.get("attribute-sets", []):
        known_keys(node["name"], node, "name", "doc", "attributes", "request")
        attrs = [
            load_attr(node["name"], number, attr, enums, structs, values)
            for number, attr in enumerate(node["attributes"], 1)
        ]
        unique(f"attribute set {node['name']}", [attr.name for attr in attrs])
        spec.sets.append(AttrSet(node["name"], one_line(node.get("doc", "")), attrs))
    spec.by_set = {attr_set.name: attr_set for attr_set in spec.sets}
    for attr_set in spec.sets:
        check_set(spec, attr_set)
    for number, node in enumerate(tree["operations"]["list"], 1):
        spec.ops.append(load_op(spec, number, node))
    for node in tree.get("attribute-sets", []):
        if "request" in node:
            attr_set, requests = spec.by_set[node["name"]], node["request"]
            for request in requests if isinstance(requests, list) else [requests]:
                attr_set.records.append(load_record(spec, attr_set, request))
    check_records(spec)
    for node in tree.get("mcast-groups", {}).get("list", []):
        known_keys(node["name"], node, "name", "doc")
        spec.groups.append(Entry(node["name"], one_line(node.get("doc", ""))))
    groups = {group.name for group in spec.groups}
    for node in tree["operations"]["list"]:
        if "mcgrp" in node and node["mcgrp"] not in groups:
            raise SpecError(f"{node['name']}: no multicast group {node['mcgrp']}")
    return spec


def unique(what: str, names: list[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise SpecError(f"{what}: {name} is there twice")


def load_enum(family: str, node: dict[str, Any]) -> Enum:
    known_keys(node["name"], node, "name", "type", "doc", "entries", "enum-name", "name-prefix")
    entries = []
    for entry in node["entries"]:
        if isinstance(entry, str):
            entry = {"name": entry}
        known_keys(node["name"], entry, "name", "doc")
        entries.append(Entry(entry["name"], one_line(entry.get("doc", ""))))
    unique(f"enum {node['name']}", [entry.name for entry in entries])
    return Enum(
        name=node["name"],
        doc=one_line(node.get("doc", "")),
        entries=entries,
        c_name=snake(node.get("enum-name", f"{family}-{node['name']}")),
        c_prefix=upper(node.get("name-prefix", f"{family}-{node['name']}-")),
    )


def load_struct(node: dict[str, Any]) -> Struct:
    """Padding would be bytes that nobody has set, and different ones on different machines."""
    known_keys(node["name"], node, "name", "type", "doc", "members")
    members, offset = [], 0
    for member in node["members"]:
        known_keys(node["name"], member, "name", "type", "doc")
        if member["type"] not in MEMBER_BYTES:
            types = " ".join(MEMBER_BYTES)
            raise SpecError(f"{node['name']}.{member['name']}: type isn't one of {types}")
        if offset % MEMBER_BYTES[member["type"]]:
            raise SpecError(f"{node['name']}.{member['name']}: there would be padding before it")
        offset += MEMBER_BYTES[member["type"]]
        members.append(Member(member["name"], member["type"], one_line(member.get("doc", ""))))
    if offset % max(MEMBER_BYTES[member.type] for member in members):
        raise SpecError(f"{node['name']}: there would be padding at its end")
    unique(f"struct {node['name']}", [member.name for member in members])
    return Struct(node["name"], one_line(node.get("doc", "")), members)


def load_attr(
    where: str,
    number: int,
    node: dict[str, Any],
    enums: list[Enum],
    structs: list[Struct],
    consts: dict[str, int],
) -> Attr:
    name = f"{where}.{node['name']}"
    known_keys(
        name, node, "name", "type", "doc", "enum", "struct", "sub-type", "checks",
        "nested-attributes", "multi-attr", "request",
    )  # fmt: skip
    if node["type"] not in TYPES:
        raise SpecError(f"{name}: type {node['type']} isn't supported")
    checks = {}
    for key, value in node.get("checks", {}).items():
        value = consts.get(value, value) if isinstance(value, str) else value
        if not isinstance(value, int):
            raise SpecError(f"{name}: check {key} isn't a number or a constant")
        checks[key] = value
    attr = Attr(
        name=node["name"],
        type=node["type"],
        id=number,
        doc=one_line(node.get("doc", "")),
        checks=checks,
        nested=node.get("nested-attributes"),
        multi=bool(node.get("multi-attr", False)),
        field=load_field(name, node.get("request", {}), consts),
    )
    if "struct" in node:
        attr.struct = next((one for one in structs if one.name == node["struct"]), None)
        if attr.struct is None or attr.type != "binary":
            raise SpecError(f"{name}: no struct {node['struct']}, or it isn't binary")
    if "sub-type" in node:
        attr.sub_type = node["sub-type"]
        if attr.sub_type not in MEMBER_BYTES or attr.type != "binary":
            raise SpecError(f"{name}: no integer {attr.sub_type}, or it isn't binary")
    allowed = {"string": ("max-len",), "binary": ("max-len", "min-len", "exact-len")}.get(
        attr.type, ("min", "max") if attr.type in INTEGERS else ()
    )
    known_keys(f"{name}: checks", checks, *allowed)
    if "enum" in node:
        by_name = {enum.name: enum for enum in enums}
        if node["enum"] not in by_name or attr.type != "u32":
            raise SpecError(f"{name}: no enum {node['enum']}, or it isn't a u32")
        attr.enum = by_name[node["enum"]]
        last = len(attr.enum.entries) - 1
        if attr.checks.setdefault("max", last) > last:
            raise SpecError(f"{name}: {attr.enum.name} has no value above {last}")
    return attr


def load_field(name: str, node: dict[str, Any], consts: dict[str, int]) -> Field:
    known_keys(
        f"{name}: request", node, "needed", "default", "optional", "member", "ignored", "at-most",
        "too-many", "pool", "torn", "apart", "groups",
    )  # fmt: skip
    values = {snake(key): value for key, value in node.items()}
    values["groups"] = tuple(values.get("groups", ()))
    if values.get("default", "") != "" and isinstance(values["default"], str):
        if values["default"] not in consts:
            raise SpecError(f"{name}: there is no constant {values['default']}")
        values["default_name"] = values["default"]
        values["default"] = consts[values["default"]]
    if isinstance(values.get("at_most"), str) and values["at_most"] not in consts:
        raise SpecError(f"{name}: there is no constant {values['at_most']}")
    return Field(**values)


def load_record(spec: Spec, attr_set: AttrSet, node: dict[str, Any]) -> Record:
    """@node: what a set says of requests. Attributes are listed, or those of an operation; without
    either all of them are a request's."""
    what = f"{attr_set.name}: request"
    known_keys(
        what, node, "name", "record", "attributes", "operation", "include", "packed", "fields",
        "tolerant",
    )  # fmt: skip
    attrs = [attr for attr in attr_set.attrs if attr.type != "pad"]
    if "attributes" in node:
        attrs = [attr_set.find(name) for name in node["attributes"]]
    elif "operation" in node:
        op = next((one for one in spec.ops if one.name == node["operation"]), None)
        if op is None or op.attrs is not attr_set:
            raise SpecError(f"{what}: no operation {node['operation']}")
        attrs = op.request_attrs()
    if node.get("tolerant"):
        beside = [attr for attr in attr_set.attrs if attr.type != "pad" and attr not in attrs]
        attrs = attrs + [replace(attr, field=Field(ignored=True, apart=True)) for attr in beside]
    short = node.get("name", attr_set.name)
    return Record(
        short,
        f"{spec.c}_{snake(node.get('record', short))}",
        attrs,
        node.get("include", ""),
        node.get("packed", False),
        node.get("fields", ""),
    )


def check_records(spec: Spec) -> None:
    """What the tables of requests cannot hold is refused here."""
    for attr_set, record in record_sets(spec):
        if len(record.attrs) > MAX_FIELDS:
            raise SpecError(f"{attr_set.name}: a request has at most {MAX_FIELDS} attributes")
        for attr in record.attrs:
            name, entry = f"{attr_set.name}.{attr.name}", attr.field
            if attr.nested and not (attr.multi and spec.by_set[attr.nested].record):
                raise SpecError(f"{name}: a nest of a request is repeated, and its set a record")
            if (attr.nested or entry.pool) and not (entry.at_most and entry.too_many):
                raise SpecError(f"{name}: at-most and too-many are missing")
            if bool(entry.pool) != bool(entry.torn) or (entry.pool and not attr.struct):
                raise SpecError(f"{name}: a pool has a struct and the sentence torn")
            if attr.type == "binary" and not entry.pool and "max-len" not in attr.checks:
                raise SpecError(f"{name}: its length has no limit")
            if attr.is_array and attr.checks["max-len"] % attr.entry_bytes:
                raise SpecError(f"{name}: max-len is not that of whole entries")
            if attr.type in ("flag", "s32"):
                raise SpecError(f"{name}: a request has no {attr.type}")
            if entry.optional and (attr.type not in INTEGERS or attr.enum):
                raise SpecError(f"{name}: only a number is optional")
            if entry.optional and (entry.needed or entry.default):
                raise SpecError(f"{name}: it is optional, and needed or with a default")
            if entry.optional and record.packed:
                raise SpecError(f"{name}: a structure in bytes cannot lack it")


def check_set(spec: Spec, attr_set: AttrSet) -> None:
    has_pad = any(attr.type == "pad" for attr in attr_set.attrs)
    for attr in attr_set.attrs:
        name = f"{attr_set.name}.{attr.name}"
        if attr.type in ("u64", "s64") and not has_pad:
            raise SpecError(f"{name}: a set with 64-bit attributes needs one of type pad")
        if (attr.type == "nest") != (attr.nested is not None):
            raise SpecError(f"{name}: nest and nested-attributes go together")
        if attr.nested is not None and attr.nested not in spec.by_set:
            raise SpecError(f"{name}: no attribute set {attr.nested}")


def load_op(spec: Spec, number: int, node: dict[str, Any]) -> Op:
    known_keys(
        node["name"], node, "name", "doc", "attribute-set", "flags", "do", "dump", "notify", "mcgrp"
    )
    for mode, keys in (("do", ("request", "reply")), ("dump", ("pre", "request", "reply", "post"))):
        if node.get(mode):
            known_keys(f"{node['name']}.{mode}", node[mode], *keys)
    known_keys(node["name"], dict.fromkeys(node.get("flags", [])), "admin-perm")
    for mode in ("do", "dump"):
        for part in (node.get(mode) or {}).values():
            if isinstance(part, dict) and "attributes" in part:
                part["attributes"] = flat(part["attributes"])
    notify = node.get("notify")
    attr_set = node.get("attribute-set")
    if notify is not None:
        attr_set = next((op.attrs.name for op in spec.ops if op.name == notify), None)
    if attr_set not in spec.by_set:
        raise SpecError(f"{node['name']}: no attribute set {attr_set}, or no operation {notify}")
    op = Op(
        name=node["name"],
        doc=node.get("doc", "").strip(),
        id=number,
        attrs=spec.by_set[attr_set],
        admin="admin-perm" in node.get("flags", []),
        do=node.get("do"),
        dump=node.get("dump"),
        notify=notify,
    )
    for body in (op.do, op.dump):
        for part in ("request", "reply"):
            for name in (body or {}).get(part, {}).get("attributes", []):
                op.attrs.find(name)
    return op


def flat(names: list[Any]) -> list[str]:
    """Names of a list, and of the lists in it, which are anchors elsewhere in the spec."""
    found: list[str] = []
    for name in names:
        found += flat(name) if isinstance(name, list) else [name]
    return found


def plural(attr_set: AttrSet, attr: Attr) -> str:
    """What a record calls all values of a repeated attribute."""
    single = snake(attr.name)
    if attr.is_array and single.endswith("s"):
        return single
    name = f"{single[:-1]}ies" if single.endswith("y") else f"{single}s"
    return snake(attr.name) if any(snake(one.name) == name for one in attr_set.attrs) else name


def limits_text(attr: Attr) -> str:
    if attr.enum:
        return f"enum {attr.enum.name}"
    low, high = attr.checks.get("min"), attr.checks.get("max")
    if low is not None and high is not None:
        return f"{low}..{high}"
    if low is not None:
        return f"at least {low}"
    if high is not None:
        return f"at most {high}"
    named = {"max-len": "at most {} bytes", "min-len": "at least {} bytes", "exact-len": "{} bytes"}
    return ", ".join(named[key].format(value) for key, value in attr.checks.items())
