# SPDX-License-Identifier: GPL-2.0
"""Policies, ops table, multicast groups and family for the kernel."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from specgen.spec import INTEGERS, WIDTH, Attr, AttrSet, Op, Outputs, Spec, SpecError, snake, upper
from specgen.uapi import c_head

S16_MAX = (1 << 15) - 1


def handlers(spec: Spec, op: Op) -> Iterator[tuple[str, str, str]]:
    """Yield (member of genl_ops, function, prototype) of an operation."""
    base = f"{spec.c}_nl_{snake(op.name)}"
    if op.do:
        yield (
            "doit", f"{base}_doit",
            f"int {base}_doit(struct sk_buff *skb, struct genl_info *info);",
        )  # fmt: skip
    if op.dump:
        pre = op.dump.get("pre")
        if pre:
            yield "start", snake(pre), f"int {snake(pre)}(struct netlink_callback *cb);"
        yield (
            "dumpit", f"{base}_dumpit",
            f"int {base}_dumpit(struct sk_buff *skb, struct netlink_callback *cb);",
        )  # fmt: skip
        post = op.dump.get("post")
        if post:
            yield "done", snake(post), f"int {snake(post)}(struct netlink_callback *cb);"


def kernel_header(spec: Spec, outputs: Outputs) -> str:
    fam = upper(spec.name)
    guard = f"_{fam}_NETLINK_GEN_H"
    out = c_head(spec, "GPL-2.0", header=True)
    out += [f"#ifndef {guard}", f"#define {guard}", "", "#include <net/genetlink.h>", ""]
    out += [f'#include "{outputs.include_uapi}"', ""]
    seen: list[str] = []
    for op in spec.ops:
        for _, _, prototype in handlers(spec, op):
            if prototype not in seen:
                seen.append(prototype)
    out += seen
    sizes = [line for attr_set in spec.sets for line in set_bytes(spec, attr_set)]
    if sizes:
        out += [
            "",
            "/* Room for one of each attribute of a set, without nests. */",
        ]
        out += sizes
    if spec.groups:
        out += ["", f"/* index of a multicast group of {spec.c}_nl_family */", "enum {"]
        out += [f"\t{fam}_NLGRP_{upper(group.name)}," for group in spec.groups]
        out.append("};")
    out += ["", f"extern struct genl_family {spec.c}_nl_family;", "", f"#endif /* {guard} */"]
    return "\n".join(out) + "\n"


def set_bytes(spec: Spec, attr_set: AttrSet) -> list[str]:
    """A macro with the room that a set's attributes need; none if a length has no limit."""
    terms: dict[str, int] = {}
    for attr in attr_set.attrs:
        if attr.type in ("pad", "nest"):
            continue
        if attr.type in INTEGERS:
            bits, _ = INTEGERS[attr.type]
            total = "nla_total_size_64bit(8)" if bits == 64 else "nla_total_size(4)"
        elif attr.type == "flag":
            total = "nla_total_size(0)"
        elif attr.type == "string" and "max-len" in attr.checks:
            total = f"nla_total_size({attr.checks['max-len'] + 1})"
        else:
            return []
        terms[total] = terms.get(total, 0) + 1
    if not terms:
        return []
    name = f"{upper(spec.name)}_NL_{upper(attr_set.name)}_BYTES"
    lines = [f"#define {name} ("]
    for index, (term, count) in enumerate(terms.items()):
        part = f"{count} * {term}" if count > 1 else term
        lines.append(f"\t{part}" + (" +" if index + 1 < len(terms) else ")"))
    return [f"{line} \\" for line in lines[:-1]] + lines[-1:]


class PolicyWriter:
    """Policies of one family; ranges that s16 can't hold become structs of their own."""

    def __init__(self, spec: Spec) -> None:
        self.spec = spec
        self.fam = upper(spec.name)
        self.ranges: dict[str, tuple[str, str, bool]] = {}

    def entry(self, attr_set: AttrSet, attr: Attr) -> str:
        index = f"\t[{self.fam}_A_{upper(attr_set.name)}_{upper(attr.name)}] ="
        value = self.value(attr_set, attr)
        fits = len(index.expandtabs(8)) + len(value) + 2 <= WIDTH
        return f"{index} {value}," if fits else f"{index}\n\t\t{value},"

    def value(self, attr_set: AttrSet, attr: Attr) -> str:
        checks = attr.checks
        if attr.type == "nest":
            return f"NLA_POLICY_NESTED({self.spec.c}_{snake(attr.nested or '')}_nl_policy)"
        if attr.type == "string":
            limit = f", .len = {checks['max-len']}" if "max-len" in checks else ""
            return f"{{ .type = NLA_NUL_STRING{limit} }}"
        if attr.type == "flag":
            return "{ .type = NLA_FLAG }"
        if attr.type == "binary":
            if "exact-len" in checks:
                return f"NLA_POLICY_EXACT_LEN({checks['exact-len']})"
            if "min-len" in checks and "max-len" in checks:
                if checks["max-len"] > S16_MAX:
                    raise SpecError(
                        f"{attr_set.name}/{attr.name}: with min-len, max-len is at most {S16_MAX}"
                    )
                return f"NLA_POLICY_RANGE(NLA_BINARY, {checks['min-len']}, {checks['max-len']})"
            if "min-len" in checks:
                return f"NLA_POLICY_MIN_LEN({checks['min-len']})"
            if "max-len" in checks:
                return f"{{ .type = NLA_BINARY, .len = {checks['max-len']} }}"
            return "{ .type = NLA_BINARY }"
        return self.integer(attr_set, attr)

    def integer(self, attr_set: AttrSet, attr: Attr) -> str:
        bits, signed = INTEGERS[attr.type]
        kind = f"NLA_{attr.type.upper()}"
        low, high = attr.checks.get("min"), attr.checks.get("max")
        if low is None and high is None:
            return f"{{ .type = {kind} }}"
        if all(-S16_MAX - 1 <= limit <= S16_MAX for limit in (low, high) if limit is not None):
            if low is None:
                return f"NLA_POLICY_MAX({kind}, {high})"
            if high is None:
                return f"NLA_POLICY_MIN({kind}, {low})"
            return f"NLA_POLICY_RANGE({kind}, {low}, {high})"
        name = f"{self.spec.c}_{snake(attr_set.name)}_{snake(attr.name)}_range"
        edge = (f"S{bits}_MIN", f"S{bits}_MAX") if signed else ("0", f"U{bits}_MAX")
        suffix = "LL" if signed else "ULL"
        self.ranges[name] = (
            edge[0] if low is None else f"{low}{suffix}",
            edge[1] if high is None else f"{high}{suffix}",
            signed,
        )
        macro = "NLA_POLICY_FULL_RANGE_SIGNED" if signed else "NLA_POLICY_FULL_RANGE"
        return f"{macro}({kind}, &{name})"

    def array(self, name: str, attr_set: AttrSet, attrs: list[Attr]) -> list[str]:
        last = f"{self.fam}_A_{upper(attr_set.name)}_{upper(attrs[-1].name)}"
        body = [self.entry(attr_set, attr) for attr in attrs if attr.type != "pad"]
        head = [f"static const struct nla_policy {name}[{last} + 1] = {{"]
        if len(head[0]) > WIDTH:
            head = ["static const struct nla_policy", f"{name}[{last} + 1] = {{"]
        return [*head, *body, "};", ""]

    def range_structs(self) -> list[str]:
        out: list[str] = []
        for name, (low, high, signed) in self.ranges.items():
            # not const: struct nla_policy had a pointer to non-const before Linux 6.8
            kind = "netlink_range_validation" + ("_signed" if signed else "")
            out += [f"static struct {kind} {name} = {{", f"\t.min\t= {low},", f"\t.max\t= {high},"]
            out += ["};", ""]
        return out


def kernel_source(spec: Spec, outputs: Outputs) -> str:
    """Policies, ops, multicast groups and family."""
    fam = upper(spec.name)
    writer = PolicyWriter(spec)
    policies: list[str] = []
    for attr_set in spec.nested_in_requests():
        policies += writer.array(
            f"{spec.c}_{snake(attr_set.name)}_nl_policy", attr_set, attr_set.attrs
        )
    ops: list[str] = []
    for op in spec.ops:
        if op.notify:
            continue
        attrs = op.request_attrs()
        lines = ["\t{", f"\t\t.cmd\t\t= {fam}_CMD_{upper(op.name)},"]
        for member, function, _ in handlers(spec, op):
            tabs = "\t" if len(member) >= 7 else "\t\t"
            lines.append(f"\t\t.{member}{tabs}= {function},")
        if attrs:
            name = f"{spec.c}_{snake(op.name)}_nl_policy"
            if any(name == f"{spec.c}_{snake(other.name)}_nl_policy" for other in spec.sets):
                raise SpecError(f"operation {op.name} has the name of an attribute set")
            policies += [f"/* {fam}_CMD_{upper(op.name)} */", *writer.array(name, op.attrs, attrs)]
            lines.append(f"\t\t.policy\t\t= {name},")
            last = f"{fam}_A_{upper(op.attrs.name)}_{upper(attrs[-1].name)}"
            lines.append(f"\t\t.maxattr\t= {last},")
        if op.admin:
            lines.append("\t\t.flags\t\t= GENL_ADMIN_PERM,")
        ops += [*lines, "\t},"]
    out = c_head(spec, "GPL-2.0", header=False)
    out += ["#include <net/genetlink.h>", ""]
    out += [f'#include "{outputs.include_compat}"', f'#include "{outputs.include_uapi}"']
    out += [f'#include "{Path(outputs.kernel).name}.h"', ""]
    out += writer.range_structs()
    out += policies
    out += [f"static const struct genl_ops {spec.c}_nl_ops[] = {{", *ops, "};", ""]
    if spec.groups:
        out.append(f"static const struct genl_multicast_group {spec.c}_nl_mcgrps[] = {{")
        for group in spec.groups:
            index = f"{fam}_NLGRP_{upper(group.name)}"
            name = f"{fam}_MCGRP_{upper(group.name)}"
            out.append(f"\t[{index}] = SPEK_COMPAT_GENL_MCGRP_SYS_ADMIN({name}),")
        out += ["};", ""]
    out += [
        f"struct genl_family {spec.c}_nl_family __ro_after_init = {{",
        f"\t.name\t\t= {fam}_FAMILY_NAME,",
        f"\t.version\t= {fam}_FAMILY_VERSION,",
        "\t.netnsok\t= false,",
        *(["\t.parallel_ops\t= true,"] if outputs.parallel else []),
        "\t.module\t\t= THIS_MODULE,",
        f"\t.ops\t\t= {spec.c}_nl_ops,",
        f"\t.n_ops\t\t= ARRAY_SIZE({spec.c}_nl_ops),",
    ]
    if spec.groups:
        out += [
            f"\t.mcgrps\t\t= {spec.c}_nl_mcgrps,",
            f"\t.n_mcgrps\t= ARRAY_SIZE({spec.c}_nl_mcgrps),",
        ]
    out.append("};")
    return "\n".join(out) + "\n"
