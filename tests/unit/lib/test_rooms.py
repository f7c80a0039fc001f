# SPDX-License-Identifier: GPL-2.0
"""The test library holds what several files use; a helper of one file stands beside it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).parents[2]
LIB = TESTS / "lib"


def name_of(path: Path) -> str:
    return ".".join(path.relative_to(TESTS).with_suffix("").parts)


def named_in(path: Path) -> Iterator[str]:
    """Modules that a file imports, and its strings: conftest.py names plug-ins in them."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield str(node.module)
            yield from (f"{node.module}.{name.name}" for name in node.names)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def reach_of(start: Path, library: dict[str, Path], used: dict[Path, set[str]]) -> set[str]:
    reached_files: set[str] = set()
    left = [start]
    while left:
        for library_file in used[left.pop()] - reached_files:
            reached_files.add(library_file)
            left.append(library[library_file])
    return reached_files


def test_every_module_of_the_library_serves_several_files() -> None:
    library = {name_of(path): path for path in LIB.rglob("*.py")}
    used = {path: set(named_in(path)) & set(library) for path in TESTS.rglob("*.py")}
    outside = [path for path in used if not path.is_relative_to(LIB)]
    reached = [reach_of(path, library, used) for path in outside]
    served = {name: sum(name in files for files in reached) for name in library}
    assert len(library) > 40 and max(served.values()) > 20
    assert not [f"{name} serves {count}" for name, count in served.items() if count < 2]


def test_every_source_of_the_library_serves_the_library_or_several_files() -> None:
    texts = {
        path: path.read_text() for path in TESTS.rglob("*") if path.suffix in (".py", ".c", ".h")
    }
    sources = [path for path in texts if path.is_relative_to(LIB) and path.suffix != ".py"]
    assert sources
    for source in sources:
        users = [path for path, text in texts.items() if source.name in text and path != source]
        within = any(path.is_relative_to(LIB) for path in users)
        assert within or len(users) > 1, f"{source} serves {users}"
