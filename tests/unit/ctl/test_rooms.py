# SPDX-License-Identifier: GPL-2.0
"""Which module may import which: calls go down, and nothing imports itself in a circle.

Imports inside functions and those for type checkers count like all others.
"""

from __future__ import annotations

import ast
import functools
import graphlib
import tomllib
from pathlib import Path

import pytest
from lib.build.sources import ROOT as REPOSITORY

import spekctl

ROOT = Path(spekctl.__file__).parent

# Rooms from the bottom to the top: each may use those of the lines before its own, and those of a
# line do not know each other. A module beside the rooms is a room of its own.
ORDER = (
    (
        "__init__",
        "cells",
        "closing",
        "contract",
        "distribution",
        "entry",
        "errors",
        "extras",
        "namespaces",
        "ranges",
        "recorded",
        "suggest",
    ),
    ("fields", "toml", "units"),
    ("condition", "settings"),
    ("files",),
    ("workload", "vm"),
    ("drive", "fio", "vdbench"),
    ("kernel",),
    ("documents",),
    ("block", "log"),
    ("power", "trace"),
    ("augment", "exports", "gate", "run"),
    ("render",),
    ("report",),
    ("campaigns", "cli", "plots"),
    ("host",),
    ("fleet",),
    ("web",),
    ("commands", "__main__"),
)

# What a module may not reach, neither itself nor through what it imports.
MESSAGES = ("kernel.gen.spek", "kernel.gen.spek_drive", "kernel.gen.spek_prober")
KERNEL_SIDE = ("kernel.link", "kernel.client", "kernel.prober", "kernel.feeds", "kernel.drives")
OUT_OF_REACH = {
    "documents": (*KERNEL_SIDE, *MESSAGES, "run", "campaigns", "commands", "log", "power"),
    "exports": (*KERNEL_SIDE, *MESSAGES, "run", "campaigns", "commands"),
    "gate": (*KERNEL_SIDE, *MESSAGES, "run", "campaigns", "commands"),
    "plots": (*KERNEL_SIDE, "run", "campaigns", "commands"),
    "render": (*KERNEL_SIDE, "run.session", "run.verify", "campaigns", "commands"),
    "report": (*KERNEL_SIDE, "run", "campaigns", "commands"),
    "trace": (*KERNEL_SIDE, *MESSAGES),
    "fio": ("kernel",),
    "vdbench": ("kernel",),
    "web": (*KERNEL_SIDE, *MESSAGES, "run.session", "host.serve", "campaigns", "commands"),
    "workload": ("kernel",),
}


@functools.cache
def graph() -> dict[str, frozenset[str]]:
    """Every module with all modules of spekctl that it imports; names without `spekctl.`."""
    files = {name_of(path): path for path in ROOT.rglob("*.py")}
    assert len(files) > 100
    return {name: frozenset(imports_of(path, set(files)) - {name}) for name, path in files.items()}


def name_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if len(parts) > 1 and parts[-1] == "__init__" else parts)


def imports_of(path: Path, known: set[str]) -> set[str]:
    imported = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            imported |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports relative to itself"
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                is_module = whole.removeprefix("spekctl.") in known
                imported.add(whole if is_module else str(node.module))
    ours = {name for name in imported if name == "spekctl" or name.startswith("spekctl.")}
    names = {name.removeprefix("spekctl.") if name != "spekctl" else "__init__" for name in ours}
    assert names <= known, names - known
    return names


def room_of(module: str) -> str:
    return module.split(".")[0]


def level_of(room: str) -> int:
    return next(index for index, line in enumerate(ORDER) if room in line)


def reach_of(module: str) -> set[str]:
    reached: set[str] = set()
    left = [module]
    while left:
        for imported in graph()[left.pop()] - reached:
            reached.add(imported)
            left.append(imported)
    return reached


def test_no_module_imports_itself_in_a_circle() -> None:
    graphlib.TopologicalSorter(graph()).prepare()


def test_every_room_has_its_place() -> None:
    rooms = [room for line in ORDER for room in line]
    assert sorted(rooms) == sorted({room_of(module) for module in graph()})


def test_every_folder_of_modules_is_installed() -> None:
    setup = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["tool"]["setuptools"]
    folders = {path.parent.relative_to(ROOT.parent) for path in ROOT.rglob("__init__.py")}
    listed = {package for package in setup["packages"] if package not in setup["package-dir"]}
    assert listed == {".".join(folder.parts) for folder in folders}


def test_calls_go_down() -> None:
    wrong = [
        f"{module} imports {imported}"
        for module, used in graph().items()
        for imported in used
        if room_of(module) != room_of(imported)
        and level_of(room_of(imported)) >= level_of(room_of(module))
    ]
    assert not wrong


@pytest.mark.parametrize("room", OUT_OF_REACH)
def test_readers_reach_nothing_that_runs(room: str) -> None:
    wrong = [
        f"{module} reaches {reached}"
        for module in graph()
        if room_of(module) == room
        for reached in reach_of(module)
        for bad in OUT_OF_REACH[room]
        if reached == bad or reached.startswith(f"{bad}.")
    ]
    assert not wrong


def test_of_the_kernel_documents_know_records_only() -> None:
    used = {
        imported
        for module, used in graph().items()
        if room_of(module) == "documents"
        for imported in used
        if room_of(imported) == "kernel"
    }
    assert used == {"kernel.records"}
