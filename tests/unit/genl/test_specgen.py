# SPDX-License-Identifier: GPL-2.0
"""The netlink generator: what follows from a spec, and that the committed files do."""

from __future__ import annotations

import importlib.util
import re
import struct
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[3]
GENERATOR = ROOT / "kmod" / "genl"


sys.path.insert(0, str(GENERATOR))

import specgen.__main__ as gen  # noqa: E402
from specgen import series  # noqa: E402
from specgen.spec import Outputs, SpecError  # noqa: E402

SPEC: dict[str, Any] = {
    "name": "toy-box",
    "protocol": "genetlink",
    "doc": "A toy.",
    "definitions": [
        {"name": "version", "type": "const", "value": 3},
        {"name": "max-toys", "type": "const", "value": 7},
        {"name": "huge", "type": "const", "value": 1 << 40},
        {
            "name": "colour",
            "type": "enum",
            "entries": ["red", {"name": "dark-blue", "doc": "Blue."}],
        },
    ],
    "attribute-sets": [
        {
            "name": "toy",
            "attributes": [
                {"name": "pad", "type": "pad"},
                {"name": "weight", "type": "u64", "checks": {"min": 1, "max": 1 << 20}},
                {"name": "name", "type": "string", "checks": {"max-len": 5}},
            ],
        },
        {
            "name": "box",
            "attributes": [
                {"name": "id", "type": "u32", "doc": "Number."},
                {"name": "colour", "type": "u32", "enum": "colour"},
                {"name": "toys", "type": "u32", "checks": {"max": "max-toys"}},
                {"name": "size", "type": "u32", "checks": {"min": 2, "max": 9}},
                {"name": "depth", "type": "s32", "checks": {"min": -70000}},
                {"name": "toy", "type": "nest", "nested-attributes": "toy", "multi-attr": True},
                {"name": "blob", "type": "binary", "checks": {"max-len": 64}},
                {"name": "answer-only", "type": "u32"},
            ],
        },
    ],
    "operations": {
        "list": [
            {
                "name": "box-new",
                "doc": "Make one.",
                "attribute-set": "box",
                "flags": ["admin-perm"],
                "do": {
                    "request": {
                        "attributes": ["colour", "toys", "size", "depth", "toy", "blob"],
                    },
                    "reply": {"attributes": ["id"]},
                },
            },
            {
                "name": "box-get",
                "attribute-set": "box",
                "do": {"request": {"attributes": ["id"]}, "reply": {"attributes": ["id"]}},
                "dump": {
                    "pre": "toy-begin",
                    "post": "toy-end",
                    "reply": {"attributes": ["id", "answer-only"]},
                },
            },
            {"name": "box-ntf", "notify": "box-get", "mcgrp": "boxes"},
        ]
    },
    "mcast-groups": {"list": [{"name": "boxes"}]},
}


def outputs() -> Outputs:
    return Outputs(
        spec="toy.yaml",
        uapi="toy.h",
        kernel="netlink_gen",
        python="toy.py",
        table="toy.md",
        records="toy_records.py",
        include_uapi="toy.h",
        include_compat="compat.h",
        parallel=True,
    )


def generate(
    tmp_path: Path,
    change: Callable[[dict[str, Any]], None] | None = None,
    where: Outputs | None = None,
) -> dict[str, str]:
    tree = yaml.safe_load(yaml.safe_dump(SPEC))
    if change is not None:
        change(tree)
    (tmp_path / "toy.yaml").write_text(yaml.safe_dump(tree, sort_keys=False), encoding="utf-8")
    files: dict[str, str] = gen.generate(tmp_path, where or outputs())
    return files


def load_python(text: str, name: str = "generated_toy") -> ModuleType:
    module = ModuleType(name)
    # Dataclasses look their module up.
    sys.modules[name] = module
    exec(compile(text, name, "exec"), module.__dict__)
    return module


def squeeze(text: str) -> str:
    return re.sub(r"\s+", " ", text)


def test_committed_files_follow_from_the_specs() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "specgen", "--check"],
        cwd=GENERATOR,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def copy_sources(root: Path) -> None:
    """Everything that files are generated from."""
    for name in (*(family.spec for family in gen.FAMILIES), series.SOURCE):
        target = root / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes((ROOT / name).read_bytes())


def test_check_reports_drift_and_writes_nothing(tmp_path: Path) -> None:
    copy_sources(tmp_path)
    assert gen.main(["--root", str(tmp_path)]) == 0
    assert gen.main(["--root", str(tmp_path), "--check"]) == 0
    header = tmp_path / gen.FAMILIES[0].uapi
    stale = header.read_text(encoding="utf-8").replace("SPEK_CMD_RUN_NEW", "SPEK_CMD_RUN_OLD")
    header.write_text(stale, encoding="utf-8")
    assert gen.main(["--root", str(tmp_path), "--check"]) == 1
    assert header.read_text(encoding="utf-8") == stale


def test_a_file_that_did_not_change_is_not_touched(tmp_path: Path) -> None:
    copy_sources(tmp_path)
    gen.main(["--root", str(tmp_path)])
    header = tmp_path / gen.FAMILIES[0].uapi
    before = header.stat().st_mtime_ns
    gen.main(["--root", str(tmp_path)])
    assert header.stat().st_mtime_ns == before


def test_every_generated_file_says_where_it_comes_from(tmp_path: Path) -> None:
    for text in generate(tmp_path).values():
        first, second = text.splitlines()[:2]
        assert "SPDX-License-Identifier" in first
        assert "generated from toy.yaml, run `make gen`" in second


def test_ids_start_at_one_and_follow_the_order_of_the_spec(tmp_path: Path) -> None:
    header = squeeze(generate(tmp_path)["toy.h"])
    assert "TOY_BOX_CMD_BOX_NEW = 1, TOY_BOX_CMD_BOX_GET, TOY_BOX_CMD_BOX_NTF," in header
    assert "TOY_BOX_A_BOX_ID = 1, TOY_BOX_A_BOX_COLOUR, TOY_BOX_A_BOX_TOYS," in header
    assert "TOY_BOX_A_TOY_PAD = 1, TOY_BOX_A_TOY_WEIGHT," in header


def test_header_compiles_as_c_and_agrees_with_python(tmp_path: Path) -> None:
    files = generate(tmp_path)
    (tmp_path / "toy.h").write_text(files["toy.h"], encoding="utf-8")
    load_python(files["toy_records.py"], "toy_records")
    python = load_python(files["toy.py"])
    checks = [
        f'_Static_assert(TOY_BOX_CMD_{cmd.name} == {int(cmd)}, "{cmd.name}");' for cmd in python.Cmd
    ]
    for ident, name, _kind, _flags in python.BoxMsg.nla_map + python.ToyNla.nla_map:
        checks.append(f'_Static_assert({name} == {ident}, "{name}");')
    checks += [
        f'_Static_assert(TOY_BOX_COLOUR_{value.name} == {int(value)}, "colour");'
        for value in python.Colour
    ]
    checks += [
        f'_Static_assert(TOY_BOX_FAMILY_VERSION == {python.VERSION}, "version");',
        f'_Static_assert(TOY_BOX_HUGE == {python.HUGE}, "huge");',
        '_Static_assert(TOY_BOX_A_BOX_MAX == TOY_BOX_A_BOX_ANSWER_ONLY, "max");',
    ]
    source = tmp_path / "toy.c"
    source.write_text('#include "toy.h"\n' + "\n".join(checks) + "\n", encoding="utf-8")
    command = ["gcc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-pedantic", "-fsyntax-only"]
    done = subprocess.run([*command, str(source)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def add_records(tree: dict[str, Any]) -> None:
    members = [("at", "u64"), ("weight", "s32"), ("hue", "u16"), ("hard", "u8"), ("soft", "u8")]
    chip = [{"name": name, "type": kind} for name, kind in members]
    tree["definitions"].append(
        {"name": "chip", "type": "struct", "doc": "A chip.", "members": chip}
    )
    attrs = tree["attribute-sets"][1]["attributes"]
    attrs.append({"name": "chips", "type": "binary", "struct": "chip"})
    tree["operations"]["list"][1]["dump"]["reply"]["attributes"].append("chips")


def test_records_in_an_attribute_are_the_same_in_c_and_python(tmp_path: Path) -> None:
    files = generate(tmp_path, add_records)
    assert "(array of struct toy_box_chip)" in files["toy.h"]
    assert "| 9 | `chips` | array of struct `chip` |  |  |" in files["toy.md"]
    (tmp_path / "toy.h").write_text(files["toy.h"], encoding="utf-8")
    (tmp_path / "toy.c").write_text(
        '#include <unistd.h>\n#include "toy.h"\nint main(void)\n{\n'
        "\tstruct toy_box_chip chips[] = {\n"
        "\t\t{ 1ull << 40, -5, 60000, 200, 3 }, { .soft = 255 },\n\t};\n"
        "\treturn write(1, chips, sizeof(chips)) != sizeof(chips);\n}\n"
    )
    program = tmp_path / "toy"
    subprocess.run(["gcc", "-Werror", "-o", program, tmp_path / "toy.c"], check=True)
    raw = subprocess.run([program], capture_output=True, check=True).stdout
    chips = load_python(files["toy_records.py"], "toy_records").Chip.unpack(raw)
    assert [tuple(chip) for chip in chips] == [(1 << 40, -5, 60000, 200, 3), (0, 0, 0, 0, 255)]
    assert chips[0].hard == 200
    assert not hasattr(type(chips[0]), "pack")  # no request carries them


def test_records_of_a_request_are_packed(tmp_path: Path) -> None:
    def add_to_request(tree: dict[str, Any]) -> None:
        add_records(tree)
        operation = tree["operations"]["list"][1]["dump"]
        operation["reply"]["attributes"].remove("chips")
        operation.setdefault("request", {}).setdefault("attributes", []).append("chips")

    chip = load_python(generate(tmp_path, add_to_request)["toy_records.py"], "toy_records").Chip
    raw = chip.pack([chip(1, -2, 3, 4, 5), chip(0, 0, 0, 0, 255)])
    assert raw == struct.pack("=QiHBBQiHBB", 1, -2, 3, 4, 5, 0, 0, 0, 0, 255)
    assert not hasattr(chip, "unpack")


def test_columns_of_a_table_are_a_record(tmp_path: Path) -> None:
    def add_columns(tree: dict[str, Any]) -> None:
        names = ["warm-up-ns", "reads"]
        tree["definitions"].append({"name": "lane-column", "type": "enum", "entries": names})

    records = load_python(generate(tmp_path, add_columns)["toy_records.py"], "toy_records")
    lane = records.LaneCounters(5, None)
    assert (lane.warm_up_ns, lane.reads) == (5, None)


def test_without_records_the_layout_is_with_the_messages(tmp_path: Path) -> None:
    python = load_python(generate(tmp_path, add_records, replace(outputs(), records=""))["toy.py"])
    assert (python.CHIP_FORMAT, python.CHIP_BYTES) == ("=QiHBB", 16)
    assert python.CHIP[1] == ("weight", "i4")


def test_enums_can_have_a_header_that_includes_nothing(tmp_path: Path) -> None:
    together = generate(tmp_path)["toy.h"]
    files = generate(tmp_path, where=replace(outputs(), enums="toy_enums.h"))
    enums = files["toy_enums.h"]
    assert "enum toy_box_colour {" in enums and "#include" not in enums
    assert "enum toy_box_colour {" not in files["toy.h"]
    assert '#include "toy_enums.h"' in files["toy.h"]
    # the same words, in two files
    body = enums[enums.index("/**") : enums.index("#endif")]
    assert body in together
    (tmp_path / "toy.c").write_text('#include "toy.h"\n#include "toy_enums.h"\n')
    for name in ("toy.h", "toy_enums.h"):
        (tmp_path / name).write_text(files[name])
    subprocess.run(["gcc", "-fsyntax-only", "-Werror", tmp_path / "toy.c"], check=True)


@pytest.mark.parametrize(
    "expected",
    [
        # the enum's last value, a named constant, a small range
        "[TOY_BOX_A_BOX_COLOUR] = NLA_POLICY_MAX(NLA_U32, 1),",
        "[TOY_BOX_A_BOX_TOYS] = NLA_POLICY_MAX(NLA_U32, 7),",
        "[TOY_BOX_A_BOX_SIZE] = NLA_POLICY_RANGE(NLA_U32, 2, 9),",
        # beyond s16: a struct of its own
        "[TOY_BOX_A_TOY_WEIGHT] = NLA_POLICY_FULL_RANGE(NLA_U64, &toy_box_toy_weight_range),",
        "toy_box_toy_weight_range = { .min = 1ULL, .max = 1048576ULL, };",
        "NLA_POLICY_FULL_RANGE_SIGNED(NLA_S32, &toy_box_box_depth_range),",
        "toy_box_box_depth_range = { .min = -70000LL, .max = S32_MAX, };",
        "[TOY_BOX_A_TOY_NAME] = { .type = NLA_NUL_STRING, .len = 5 },",
        "[TOY_BOX_A_BOX_TOY] = NLA_POLICY_NESTED(toy_box_toy_nl_policy),",
        "[TOY_BOX_A_BOX_BLOB] = { .type = NLA_BINARY, .len = 64 },",
        # the highest attribute of the request, not of the set
        "static const struct nla_policy toy_box_box_new_nl_policy[TOY_BOX_A_BOX_BLOB + 1] = {",
        ".doit = toy_box_nl_box_new_doit, .policy = toy_box_box_new_nl_policy, "
        ".maxattr = TOY_BOX_A_BOX_BLOB, .flags = GENL_ADMIN_PERM, },",
        ".start = toy_begin, .dumpit = toy_box_nl_box_get_dumpit, .done = toy_end, "
        ".policy = toy_box_box_get_nl_policy, .maxattr = TOY_BOX_A_BOX_ID, },",
        "[TOY_BOX_NLGRP_BOXES] = SPEK_COMPAT_GENL_MCGRP_SYS_ADMIN(TOY_BOX_MCGRP_BOXES),",
        ".netnsok = false, .parallel_ops = true,",
    ],
)
def test_kernel_source_has(tmp_path: Path, expected: str) -> None:
    assert expected in squeeze(generate(tmp_path)["netlink_gen.c"])


def test_kernel_source_accepts_only_what_a_request_may_carry(tmp_path: Path) -> None:
    source = generate(tmp_path)["netlink_gen.c"]
    assert "TOY_BOX_A_BOX_ANSWER_ONLY" not in source
    assert "TOY_BOX_CMD_BOX_NTF" not in source
    assert "DONT_VALIDATE" not in source


def test_kernel_header_has_the_room_that_a_set_needs(tmp_path: Path) -> None:
    header = generate(tmp_path)["netlink_gen.h"].replace("\\\n", "")
    sizes = dict(re.findall(r"^#define (\w+)_BYTES (.*)$", header, re.M))
    assert squeeze(sizes["TOY_BOX_NL_TOY"]) == "( nla_total_size_64bit(8) + nla_total_size(6))"
    # a blob may have any length up to its limit: nothing is promised for its set
    assert set(sizes) == {"TOY_BOX_NL_TOY"}


def test_kernel_header_has_one_prototype_for_each_handler(tmp_path: Path) -> None:
    header = generate(tmp_path)["netlink_gen.h"]
    assert re.findall(r"^int (\w+)\(", header, re.M) == [
        "toy_box_nl_box_new_doit",
        "toy_box_nl_box_get_doit",
        "toy_begin",
        "toy_box_nl_box_get_dumpit",
        "toy_end",
    ]


def test_lines_fit(tmp_path: Path) -> None:
    for family in gen.FAMILIES:
        for name, text in gen.generate(ROOT, family).items():
            if not name.endswith(".md"):
                long = [line for line in text.splitlines() if len(line.expandtabs(8)) > 100]
                assert not long, name


def test_table_names_every_attribute_with_its_limits(tmp_path: Path) -> None:
    table = generate(tmp_path)["toy.md"]
    assert "| 1 | `id` | u32 |  | Number. |" in table
    assert "| 4 | `size` | u32 | 2..9 |  |" in table
    assert "| 6 | `toy` | nest `toy`, repeated |  |  |" in table
    assert "| 2 | `colour` | u32 | enum colour |  |" in table


def change_attr(name: str, /, **keys: Any) -> Callable[[dict[str, Any]], None]:
    def change(tree: dict[str, Any]) -> None:
        attrs = tree["attribute-sets"][1]["attributes"]
        next(attr for attr in attrs if attr["name"] == name).update(keys)

    return change


def remove_pad(tree: dict[str, Any]) -> None:
    del tree["attribute-sets"][0]["attributes"][0]


def notify_nothing(tree: dict[str, Any]) -> None:
    tree["operations"]["list"][2]["notify"] = "box-set"


def unknown_group(tree: dict[str, Any]) -> None:
    tree["operations"]["list"][2]["mcgrp"] = "crates"


def request_unknown(tree: dict[str, Any]) -> None:
    tree["operations"]["list"][1]["do"]["request"]["attributes"] = ["number"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (change_attr("id", typo="u32"), "unknown key 'typo'"),
        (change_attr("id", type="uint"), "type uint isn't supported"),
        (change_attr("id", type="u64"), "needs one of type pad"),
        (change_attr("id", checks={"max-len": 3}), "unknown key 'max-len'"),
        (change_attr("toys", checks={"max": "max-balls"}), "isn't a number or a constant"),
        (change_attr("colour", enum="shade"), "no enum shade"),
        (change_attr("colour", checks={"max": 2}), "no value above 1"),
        (change_attr("blob", struct="chip"), "no struct chip, or it isn't binary"),
        (change_attr("toy", **{"nested-attributes": "ball"}), "no attribute set ball"),
        (change_attr("size", name="id"), "id is there twice"),
        (remove_pad, "needs one of type pad"),
        (notify_nothing, "no operation box-set"),
        (unknown_group, "no multicast group crates"),
        (request_unknown, "has no attribute number"),
    ],
)
def test_a_spec_that_would_lose_something_is_refused(
    tmp_path: Path, change: Callable[[dict[str, Any]], None], message: str
) -> None:
    with pytest.raises(SpecError, match=re.escape(message)):
        generate(tmp_path, change)


def test_an_unquoted_comma_in_a_flow_mapping_is_found(tmp_path: Path) -> None:
    """In a flow mapping the comma ends the text, and the rest becomes a key."""
    text = yaml.safe_dump(SPEC, sort_keys=False).replace("Number.", "X")
    text = text.replace("doc: X", "{}").replace("- name: id\n    type: u32\n    {}", "{}")
    text = text.replace("{}", "- {name: id, type: u32, doc: Number, of the box.}")
    (tmp_path / "toy.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(SpecError, match="unquoted comma"):
        gen.generate(tmp_path, outputs())


# requests ----


def parse_requests(tree: dict[str, Any]) -> None:
    """Make box-new a request that is parsed into structures."""
    members = [{"name": "at", "type": "u64"}]
    tree["definitions"].append(
        {"name": "chip", "type": "struct", "doc": "A chip.", "members": members}
    )
    toy, box = tree["attribute-sets"]
    toy["request"] = {}
    toy["attributes"][1]["request"] = {"needed": "A toy needs a weight."}
    toy["attributes"][2]["request"] = {"ignored": True}
    box["request"] = {"record": "box-config", "operation": "box-new"}
    attrs = {attr["name"]: attr for attr in box["attributes"]}
    attrs["size"]["request"] = {"default": 4}
    attrs["depth"]["type"] = "u64"
    attrs["depth"]["checks"] = {"min": 1}
    attrs["toy"]["request"] = {"at-most": "max-toys", "too-many": "At most 7 toys."}
    box["attributes"] += [
        {"name": "pad", "type": "pad"},
        {
            "name": "chip",
            "type": "binary",
            "struct": "chip",
            "request": {"pool": "chips", "at-most": 9, "too-many": "Many.", "torn": "Torn."},
        },
    ]
    tree["operations"]["list"][0]["do"]["request"]["attributes"].append("chip")


def with_requests(tmp_path: Path, change: Any = None) -> dict[str, str]:
    def changed(tree: dict[str, Any]) -> None:
        parse_requests(tree)
        if change is not None:
            change(tree)

    where = replace(
        outputs(), structs="toy_gen.h", requests="request_gen", include_structs="../toy_gen.h"
    )
    return generate(tmp_path, changed, where)


def test_structures_of_requests_have_no_padding_between_numbers(tmp_path: Path) -> None:
    header = with_requests(tmp_path)["toy_gen.h"]
    (tmp_path / "toy_gen.h").write_text(header)
    (tmp_path / "toy.c").write_text(
        "#include <stddef.h>\n#include <stdint.h>\ntypedef uint8_t u8;\ntypedef uint32_t u32;\n"
        "typedef uint64_t u64;\n#define TOY_BOX_MAX_TOYS 7\n"
        '#include "toy_gen.h"\n'
        '_Static_assert(sizeof(struct toy_box_toy) == 8, "the name is ignored");\n'
        '_Static_assert(offsetof(struct toy_box_box_config, depth) == 0, "first");\n'
        '_Static_assert(offsetof(struct toy_box_box_config, colour) == 8, "then");\n'
        "int nr(struct toy_box_box_config *box) { return box->nr_toies + box->blob_bytes; }\n"
        "u64 last(struct toy_box_box_config *box) { return box->toy[6].weight + box->blob[63]; }\n"
        "u32 chip(struct toy_box_box_config *box) { return box->first_chip + box->nr_chips; }\n"
    )
    subprocess.run(["gcc", "-Werror", "-fsyntax-only", tmp_path / "toy.c"], check=True)


@pytest.mark.parametrize(
    "expected",
    [
        "SPEK_GENL_MEMBER(U64, TOY_BOX_A_TOY_WEIGHT, struct toy_box_toy, weight), "
        '.missing = "A toy needs a weight.", },',
        "{ .attr = TOY_BOX_A_TOY_NAME, },",
        "SPEK_GENL_MEMBER(U32, TOY_BOX_A_BOX_SIZE, struct toy_box_box_config, size), .usual = 4,",
        "struct toy_box_box_config, toy, nr_toies), .record = &toy_box_toy_request, "
        '.at_most = TOY_BOX_MAX_TOYS, .too_many = "At most 7 toys.", },',
        ".kind = SPEK_GENL_POOL, .offset = offsetof(struct toy_box_box_config, first_chip), "
        ".bytes = sizeof(struct toy_box_chip), "
        ".count = offsetof(struct toy_box_box_config, nr_chips), .pool = &box_chip_pool, "
        '.at_most = 9, .too_many = "Many.", },',
        "static_assert(sizeof_field(struct toy_box_box_config, chips[0]) == "
        "sizeof(struct toy_box_chip));",
        # only the whole request is known outside
        "static const struct spek_genl_record toy_box_toy_request = {",
        "}; const struct spek_genl_record toy_box_box_request = {",
    ],
)
def test_table_of_a_request_has(tmp_path: Path, expected: str) -> None:
    assert expected in squeeze(with_requests(tmp_path)["request_gen.c"])


def test_table_of_a_request_has_nothing_that_only_answers_carry(tmp_path: Path) -> None:
    source = with_requests(tmp_path)["request_gen.c"]
    assert "ANSWER_ONLY" not in source and "TOY_BOX_A_BOX_ID" not in source


def add_arrays(tree: dict[str, Any]) -> None:
    """A second request of the set, with arrays beside their numbers, groups and a text."""
    box, new = tree["attribute-sets"][1], tree["operations"]["list"][0]
    box["request"] = [
        box["request"],
        {"name": "case", "operation": "case-new", "packed": True, "fields": "case-field"},
    ]
    box["attributes"] += [
        {"name": "label", "type": "string", "checks": {"max-len": 6}, "request": {"default": ""}},
        {"name": "angles", "type": "binary", "sub-type": "u64", "checks": {"max-len": 32}},
        {
            "name": "corners",
            "type": "binary",
            "struct": "chip",
            "checks": {"max-len": 24},
            "request": {"groups": ["wooden", "large"]},
        },
    ]
    parts = ["label", ["angles", "corners"]]
    tree["operations"]["list"].append(
        {**new, "name": "case-new", "do": {"request": {"attributes": ["colour", *parts]}}}
    )


@pytest.mark.parametrize(
    "expected",
    [
        "SPEK_GENL_ARRAY(VECTOR, TOY_BOX_A_BOX_ANGLES, struct toy_box_case, angles, nr_angles), "
        ".at_most = ARRAY_SIZE(((struct toy_box_case *)NULL)->angles), },",
        ".groups = TOY_BOX_GROUP_WOODEN | TOY_BOX_GROUP_LARGE,",
        "static_assert(sizeof(struct toy_box_chip_entry) == sizeof(struct toy_box_chip));",
        ".nr = ARRAY_SIZE(case_fields), .pad = TOY_BOX_A_BOX_PAD, };",
    ],
)
def test_table_of_arrays_has(tmp_path: Path, expected: str) -> None:
    assert expected in squeeze(with_requests(tmp_path, add_arrays)["request_gen.c"])


def test_a_packed_record_is_the_structure_of_c(tmp_path: Path) -> None:
    where = replace(
        outputs(), structs="toy_gen.h", requests="request_gen", python_requests="toy_requests.py"
    )

    def change(tree: dict[str, Any]) -> None:
        parse_requests(tree)
        add_arrays(tree)

    files = generate(tmp_path, change, where)
    assert "TOY_BOX_GROUP_LARGE = 1U << 1," in files["request_gen.h"]
    (tmp_path / "toy_gen.h").write_text(files["toy_gen.h"])
    (tmp_path / "toy_requests.py").write_text(files["toy_requests.py"])
    program = tmp_path / "toy.c"
    program.write_text(
        "#include <stdint.h>\n#include <stdio.h>\ntypedef uint8_t u8;\ntypedef uint32_t u32;\n"
        "typedef uint64_t u64;\n#define TOY_BOX_MAX_TOYS 7\n"
        '#include "toy_gen.h"\n'
        "int main(void)\n{\n"
        '\tstatic struct toy_box_case box = { .colour = 1, .label = "case", .nr_angles = 2,\n'
        "\t\t.angles = { 3, 1ULL << 63 }, .nr_corners = 1, .corners = { { .at = 5 } } };\n\n"
        "\tfwrite(&box, sizeof(box), 1, stdout);\n"
        "\treturn TOY_BOX_FIELD_COLOUR != 2 || TOY_BOX_FIELD_WHOLE;\n}\n"
    )
    binary = tmp_path / "toy"
    subprocess.run(["gcc", "-Werror", "-o", binary, program], check=True)
    spec = importlib.util.spec_from_file_location("toy_requests", tmp_path / "toy_requests.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    case = module.CaseRequest(label="case", colour="dark-blue", angles=[3, 1 << 63], corners=[(5,)])
    assert case.packed() == subprocess.run([binary], check=True, stdout=subprocess.PIPE).stdout
    assert module.CaseRequest().attributes() == {}


def add_a_change(tree: dict[str, Any]) -> None:
    """A request with numbers that are not given, and nests that carry more than it takes."""
    toy, box = tree["attribute-sets"]
    toy["request"] = {"attributes": ["weight"], "tolerant": True}
    toy["attributes"][2].pop("request")
    box["request"] = [
        {"name": "box", "operation": "box-new"},
        {"name": "change", "operation": "box-set"},
    ]
    attrs = {attr["name"]: attr for attr in box["attributes"]}
    attrs["id"]["request"] = {"needed": "Which?"}
    attrs["size"]["request"] = {"default": "huge"}
    box["attributes"] += [
        {"name": "moved", "type": "s64", "request": {"optional": True}},
        {"name": "turned", "type": "u32", "request": {"optional": True}},
    ]
    request = {"attributes": ["id", "turned", "moved"]}
    tree["operations"]["list"].append(
        {"name": "box-set", "attribute-set": "box", "do": {"request": request}}
    )


def test_requests_with_what_is_not_given_or_not_taken(tmp_path: Path) -> None:
    where = replace(
        outputs(), structs="toy_gen.h", requests="request_gen", python_requests="toy_requests.py"
    )

    def change(tree: dict[str, Any]) -> None:
        parse_requests(tree)
        add_a_change(tree)

    files = generate(tmp_path, change, where)
    header, source = squeeze(files["toy_gen.h"]), squeeze(files["request_gen.c"])
    assert "struct toy_box_change { s64 moved; u32 id; u32 turned; };" in header
    assert "SPEK_GENL_MEMBER(U64, TOY_BOX_A_BOX_MOVED, struct toy_box_change, moved), }," in source
    assert ".usual = TOY_BOX_HUGE," in source
    assert "{ .attr = TOY_BOX_A_TOY_NAME, }," in source
    module = load_python(files["toy_requests.py"], "toy_changes")
    assert module.ChangeRequest(3).attributes() == {"id": 3}
    assert module.ChangeRequest(0, moved=0, turned=None).attributes() == {"id": 0, "moved": 0}
    assert module.BoxRequest(size=1 << 40).attributes() == {}
    assert "name" not in module.ToyRequest.__struct_fields__


def change_request(name: str, /, **keys: Any) -> Callable[[dict[str, Any]], None]:
    return change_attr(name, request=keys)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (change_request("size", usual=4), "box.size: request: unknown key 'usual'"),
        (change_request("toy", **{"at-most": "max-balls"}), "there is no constant max-balls"),
        (change_request("toy", **{"at-most": 3}), "at-most and too-many are missing"),
        (change_request("chip", **{"pool": "c", "at-most": 3, "too-many": "x"}), "sentence torn"),
        (change_attr("blob", checks={}), "its length has no limit"),
        (change_attr("toy", **{"multi-attr": False}), "a nest of a request is repeated"),
        (change_attr("depth", type="s32"), "a request has no s32"),
        (change_request("size", default="no-size"), "there is no constant no-size"),
        (change_request("colour", optional=True), "box.colour: only a number is optional"),
        (
            change_request("size", optional=True, default=4),
            "box.size: it is optional, and needed or with a default",
        ),
    ],
)
def test_a_request_that_no_table_holds_is_refused(
    tmp_path: Path, change: Callable[[dict[str, Any]], None], message: str
) -> None:
    with pytest.raises(SpecError, match=re.escape(message)):
        with_requests(tmp_path, change)


# pyroute2 ---------------------------------------------------------------------


def encode(cls: Any, **values: Any) -> bytes:
    message = cls()
    message["cmd"] = 1
    message["version"] = 1
    message["attrs"] = attributes(cls, values)
    message.encode()
    return bytes(message.data)


def attributes(cls: Any, values: dict[str, Any]) -> list[Any]:
    kinds = {name: kind for _ident, name, kind, _flags in cls.nla_map}
    encoded: list[Any] = []
    for key, value in values.items():
        name = cls.keys[key]
        for entry in value if key in cls.multi else [value]:
            if isinstance(entry, dict):
                entry = {"attrs": attributes(getattr(cls, kinds[name]), entry)}
            encoded.append([name, entry])
    return encoded


def to_dict(message: Any) -> dict[str, Any]:
    names = {attr: key for key, attr in message.keys.items()}
    values: dict[str, Any] = {}
    for attr, value in message["attrs"]:
        if hasattr(value, "nla_map"):
            value = to_dict(value)
        elif isinstance(value, bytes):
            value = bytes(value)
        if names[attr] in message.multi:
            values.setdefault(names[attr], []).append(value)
        else:
            values[names[attr]] = value
    return values


def test_round_trip_of_a_whole_run() -> None:
    from spekctl.kernel.gen import spek

    run = {
        "name": "mixed",
        "seed": (1 << 64) - 1,
        "write": 1,
        "backend": int(spek.Backend.MQ),
        "time_ns": 60 * 10**9,
        "worker": [{"cpu": 0}, {"cpu": 3}],
        "target": [{"major": 8, "minor": 16, "diskseq": 1 << 40}],
        "asu": [
            {
                "name": "asu1",
                "bytes": 1 << 44,
                "stripe_bytes": 65536,
                "extent": [{"target": 0, "start": 0}, {"target": 1, "start": 1 << 43}],
            }
        ],
        "arrival": [{"law": int(spek.Law.POISSON), "rate_milli": 2_500_000}],
        "stream": [
            {
                "name": "walk",
                "asu": 0,
                "arrival": 0,
                "read_ppm": 500_000,
                "pattern": int(spek.Pattern.WALK),
                "range_bytes": 1 << 30,
                "size": [{"bytes": 4096, "weight": 3}, {"bytes": 8192, "weight": 1}],
            }
        ],
    }
    data = encode(spek.RunMsg, **run)
    message = spek.RunMsg(bytearray(data))
    message.decode()
    assert to_dict(message) == run


def test_every_message_class_carries_every_attribute() -> None:
    from spekctl.kernel.gen import spek, spek_drive, spek_prober

    samples: dict[str, int | str | bytes] = {
        "uint32": 7,
        "uint64": 1 << 40,
        "int32": -7,
        "int64": -(1 << 40),
        "asciiz": "text",
        "cdata": b"\x01\x00\x02",
    }

    def sample(cls: Any) -> dict[str, Any]:
        kinds = {name: kind for _ident, name, kind, _flags in cls.nla_map}
        values: dict[str, Any] = {}
        for key, name in cls.keys.items():
            kind = kinds[name]
            example = sample(getattr(cls, kind)) if kind.startswith("nest_") else samples[kind]
            values[key] = [example, example] if key in cls.multi else example
        return values

    for family in (spek, spek_drive, spek_prober):
        for cls in {id(cls): cls for cls in family.MESSAGES.values()}.values():
            values = sample(cls)
            message = cls(bytearray(encode(cls, **values)))
            message.decode()
            assert to_dict(message) == values, cls.__name__


def test_nests_carry_the_nested_flag() -> None:
    """The kernel's strict validation refuses a nest without it."""
    from spekctl.kernel.gen import spek

    data = encode(spek.RunMsg, worker=[{"cpu": 1}])
    header = 16 + 4
    kind = int.from_bytes(data[header + 2 : header + 4], sys.byteorder)
    worker = next(row[0] for row in spek.RunMsg.nla_map if row[1] == "SPEK_A_RUN_WORKER")
    assert kind == worker | 0x8000


def test_padding_of_64_bit_attributes_is_skipped() -> None:
    """nla_put_u64_64bit() may put an empty attribute before an unaligned one."""
    from spekctl.kernel.gen import spek

    values = {"run": 5, "ios": 10}
    attrs = attributes(spek.StatsMsg, values)
    message = spek.StatsMsg()
    message["cmd"] = int(spek.Cmd.STATS_GET)
    message["attrs"] = attrs
    message.encode()
    head, first, second = message.data[:20], message.data[20:28], message.data[28:]
    padded = bytearray(bytes(head) + bytes(first) + b"\x04\x00\x01\x00" + bytes(second))
    padded[0:4] = len(padded).to_bytes(4, sys.byteorder)
    decoded = spek.StatsMsg(padded)
    decoded.decode()
    assert decoded.get_attr("SPEK_A_STATS_IOS") == 10
    assert decoded.get_attr("SPEK_A_STATS_RUN") == 5
