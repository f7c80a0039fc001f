# SPDX-License-Identifier: GPL-2.0
"""The kernel side has no circles: no header includes itself through others, and calls go down.

A file calls those that define the functions and variables that it names. The generated tables of
handlers are left out: through them the kernel calls a module from above.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SHARED = ("kmod/core", "kmod/compat", "kmod/genl")
MODULES = {
    "spek": (*SHARED, "kmod/load"),
    "spek_prober": (*SHARED, "prober"),
    "spek_drive": (*SHARED, "kmod/drive"),
    "spek_augment": ("kmod/core", "kmod/compat", "kmod/augment"),
}

INCLUDE = re.compile(r'^#include "([^"]+)"', re.M)
NOT_CODE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\b(?:struct|enum|union) \w+', re.S)
WORD = re.compile(r"\w+")
# At the start of a line, where nothing but file scope is.
START = r"^(?!static\b|typedef\b|extern\b|return\b|#)\w[\w \t*]*?\b(\w+)"
FUNCTION = re.compile(START + r"\([^;{}]*?\)\n\{", re.M)
VARIABLE = re.compile(START + r"(?:\[\w*\])* =", re.M)
INLINE = re.compile(
    r"^static (?:__always_)?inline\b[^;{]*?\b(\w+)\([^;{}]*?\)\n\{.*?^\}", re.M | re.S
)

Graph = dict[str, set[str]]


def sources(folders: tuple[str, ...]) -> dict[Path, str]:
    """C files of a module; without probes, and the list of sources that a module compiles again."""
    paths = (path for folder in folders for path in sorted((ROOT / folder).rglob("*.[ch]")))
    return {
        path: path.read_text()
        for path in paths
        if "probes" not in path.parts and path.name not in ("shared.c", "spek_have.h")
    }


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def includes(folders: tuple[str, ...]) -> Graph:
    """Headers that each header includes."""
    texts = sources(folders)
    return {
        name_of(path): {
            name_of(header)
            for name in INCLUDE.findall(text)
            if (header := (path.parent / name).resolve()) in texts
        }
        for path, text in texts.items()
        if path.suffix == ".h"
    }


def calls(folders: tuple[str, ...]) -> Graph:
    """Files whose functions and variables each file names; a header counts by its functions."""
    codes: dict[str, str] = {}
    owner: dict[str, str] = {}
    for path, text in sources(folders).items():
        file = name_of(path)
        code = NOT_CODE.sub(" ", text)
        if path.suffix == ".h":
            inlines = list(INLINE.finditer(code))
            defined = [inline[1] for inline in inlines]
            code = "\n".join(inline[0] for inline in inlines)
        else:
            defined = FUNCTION.findall(code) + VARIABLE.findall(text)
        codes[file] = "" if path.parent.name == "gen" else code
        owner |= dict.fromkeys(defined, file)
    return {
        file: {owner[word] for word in set(WORD.findall(code)) & owner.keys()} - {file}
        for file, code in codes.items()
    }


def circle_in(graph: Graph) -> list[str]:
    """Files of a circle in their order, or none."""
    done: set[str] = set()
    way: list[str] = []

    def visit(node: str) -> list[str]:
        if node in way:
            return way[way.index(node) :]
        if node in done:
            return []
        way.append(node)
        for callee in sorted(graph.get(node, ())):
            if circle := visit(callee):
                return circle
        way.pop()
        done.add(node)
        return []

    for node in sorted(graph):
        if circle := visit(node):
            return circle
    return []


def test_a_circle_is_found() -> None:
    graph = {"a": {"b"}, "b": {"c", "d"}, "c": set(), "d": {"e", "c"}, "e": {"b"}}
    assert circle_in(graph) == ["b", "d", "e"]
    assert circle_in(graph | {"e": {"c"}}) == []


def test_calls_are_seen() -> None:
    graph = calls(MODULES["spek"])
    # a function, a variable, an inline function that calls into a source file
    assert "kmod/load/worker_issue.c" in graph["kmod/load/worker.c"]
    assert "kmod/load/submit_mq.c" in graph["kmod/load/submit.c"]
    assert "kmod/load/iolog.c" in graph["kmod/load/iolog.h"]


@pytest.mark.parametrize("module", MODULES)
def test_no_header_includes_itself(module: str) -> None:
    assert circle_in(includes(MODULES[module])) == []


@pytest.mark.parametrize("module", MODULES)
def test_calls_go_down(module: str) -> None:
    assert circle_in(calls(MODULES[module])) == []
