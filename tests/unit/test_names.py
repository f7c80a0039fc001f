# SPDX-License-Identifier: GPL-2.0
"""Variables say what they hold: names that say nothing are counted in every folder.

Loop variables, assigned names, parameters and whatever else binds a name count. The `other` of a
dunder method is Python's own convention and does not.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TREES = ("ctl/spekctl", "tests")
EMPTY_NAMES = frozenset({"one", "found", "made", "some", "other"})

# Such names per 1,000 lines of a folder.
LIMIT = 1.0

Place = tuple[int, str]


def _targets(node: ast.AST) -> Iterator[Place]:
    """Names that a node itself binds, with their lines; not those that its children bind."""
    match node:
        case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
            yield node.lineno, name
        case ast.ExceptHandler(name=str(name)):
            yield node.lineno, name
        case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            yield node.lineno, name


def _of_dunders(tree: ast.AST) -> set[Place]:
    """Parameters called other of methods such as __eq__."""
    return {
        (parameter.lineno, parameter.arg)
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
        and node.name.startswith("__")
        and node.name.endswith("__")
        for parameter in node.args.args
        if parameter.arg == "other"
    }


def empty_names(source: str) -> list[Place]:
    """Lines and names of a module's bindings that say nothing about what they hold."""
    tree = ast.parse(source)
    allowed = _of_dunders(tree)
    return sorted(
        place
        for node in ast.walk(tree)
        for place in _targets(node)
        if place[1] in EMPTY_NAMES and place not in allowed
    )


def _folders() -> list[str]:
    """Folders with modules, by their paths from the root."""
    paths = (path for tree in TREES for path in (ROOT / tree).rglob("*.py"))
    return sorted({path.parent.relative_to(ROOT).as_posix() for path in paths})


def _counted(folder: str) -> tuple[float, list[str]]:
    """Empty names per 1,000 lines of a folder's own modules, and their places."""
    lines, places = 0, []
    for path in sorted((ROOT / folder).glob("*.py")):
        source = path.read_text()
        lines += source.count("\n")
        name = path.relative_to(ROOT).as_posix()
        places += [f"{name}:{line}: {empty}" for line, empty in empty_names(source)]
    return 1000 * len(places) / max(lines, 1), places


@pytest.mark.parametrize("folder", _folders())
def test_variables_say_what_they_hold(folder: str) -> None:
    density, places = _counted(folder)
    listing = "\n".join(places)
    assert density < LIMIT, f"{folder}: {density:.1f} per 1,000 lines:\n{listing}"


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("for one in phases:\n    pass\n", [(1, "one")]),
        ("[one for one in phases]\n", [(1, "one")]),
        ("found = 1\nfound += 1\n", [(1, "found"), (2, "found")]),
        ("made: int\n", [(1, "made")]),
        ("if (found := look()):\n    pass\n", [(1, "found")]),
        ("with look() as (some, few):\n    pass\n", [(1, "some")]),
        ("def same(a, other):\n    return lambda one: one\n", [(1, "other"), (2, "one")]),
        ("try:\n    pass\nexcept OSError as found:\n    pass\n", [(3, "found")]),
        ("match pair:\n    case [one, *some]:\n        pass\n", [(2, "one"), (2, "some")]),
        ("class A:\n    def __eq__(self, other):\n        return True\n", []),
        ("class A:\n    def update(self, other):\n        pass\n", [(2, "other")]),
        ("phase = one.found(some=other)\n", []),
    ],
)
def test_what_counts_as_an_empty_name(source: str, names: list[tuple[int, str]]) -> None:
    assert empty_names(source) == names
