# SPDX-License-Identifier: GPL-2.0
"""The structs of a workload file, and the schema that is made of them."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from lib.ctl.resolved import HEAD
from lib.ctl.schemas import validator

from spekctl.errors import UsageError
from spekctl.workload import file, model

ROOT = Path(__file__).resolve().parents[4]
SCHEMA_FILE = ROOT / "workloads" / "schema.json"
SCHEMA = json.loads(SCHEMA_FILE.read_text())


def test_every_key_is_in_the_readme() -> None:
    readme = (ROOT / "workloads" / "README.md").read_text()
    for table in SCHEMA["$defs"].values():
        for key in table["properties"]:
            written = any(f"`{text}`" in readme for text in (key, f"[{key}]", f"[[{key}]]"))
            assert written, f"workloads/README.md does not say what {key} is"


def nodes(node: object) -> Iterator[dict[str, Any]]:
    if isinstance(node, dict):
        yield node
    for inner in (
        node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
    ):
        yield from nodes(inner)


def test_the_schema_says_what_toml_can_hold() -> None:
    """TOML has no null, so neither a type nor a default is one."""
    schemas = list(nodes(model.json_schema()))
    assert all(
        schema.get("type") != "null" and schema.get("default", ...) is not None
        for schema in schemas
    )
    assert not any(key.startswith("x-") for schema in schemas for key in schema)


def test_each_key_is_described() -> None:
    tables = model.json_schema()["$defs"]
    bare = [
        f"{name}.{key}"
        for name, table in tables.items()
        for key, node in table.get("properties", {}).items()
        if not node.keys() & {"description", "$ref"}
    ]
    assert bare == []


@pytest.mark.parametrize(
    ("size", "valid"),
    [("4096", True), ('"4KiB"', True), ('"4 furlongs"', False), ("-1", False), ("1.5", False),
     ("true", False)],
)  # fmt: skip
def test_notations_of_a_field_are_those_that_are_read(size: str, valid: bool) -> None:
    text = HEAD + '[[stream]]\nname = "s"\nsize = ' + size + "\n"
    assert validator(SCHEMA_FILE).is_valid(tomllib.loads(text)) == valid
    if valid:
        assert file.parse(text).stream[0].size is not None
        return
    with pytest.raises(UsageError):
        file.parse(text)


@pytest.mark.parametrize(("to", "valid"), [("9", True), ("0", True), ("0.0", True), ("-1", False)])
def test_ends_of_a_ramp_are_those_that_are_read(to: str, valid: bool) -> None:
    ramp = f'[[arrival]]\nname = "a"\nlaw = "poisson"\nshape = "ramp"\nrate = 5\nto = {to}\n'
    text = HEAD + ramp + 'period = "1m"\n[[stream]]\nname = "s"\nsize = 512\n'
    assert validator(SCHEMA_FILE).is_valid(tomllib.loads(text)) == valid
    if valid:
        assert file.parse(text).arrival[0].to == float(to)
        return
    with pytest.raises(UsageError):
        file.parse(text)


@pytest.mark.parametrize(
    ("name", "valid"),
    [("a", True), ("a" * 31, True), ("a" * 32, False), ("", False), ("-a", False), ("a b", False),
     ("é", False)],
)  # fmt: skip
def test_names_are_those_that_are_read(name: str, valid: bool) -> None:
    text = HEAD + f'[[stream]]\nname = "{name}"\nsize = 512\n'
    assert validator(SCHEMA_FILE).is_valid(tomllib.loads(text)) == valid
    if valid:
        assert file.parse(text).stream[0].name == name
        return
    with pytest.raises(UsageError):
        file.parse(text)
