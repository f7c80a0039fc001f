# SPDX-License-Identifier: GPL-2.0
"""Documents name what is in the tree, also after a move."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from lib.build.sources import ROOT

DOCUMENTS = ("README.md", "tests/README.md", "workloads/README.md")
LINK = re.compile(r"\]\((?!https?:)([^)#]+)")
NOT_TESTS = {"__pycache__"}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_links_lead_somewhere(name: str) -> None:
    document = ROOT / name
    missing = [
        target
        for target in LINK.findall(document.read_text())
        if not (document.parent / target).exists()
    ]
    assert not missing


def test_every_folder_of_tests_is_explained() -> None:
    text = (ROOT / "tests/README.md").read_text()
    folders = {path.name for path in (ROOT / "tests").iterdir() if path.is_dir()} - NOT_TESTS

    assert set(re.findall(r"(?m)^\| `(\w+)/` \|", text)) == folders


def test_test_files_that_are_named_exist() -> None:
    text = (ROOT / "tests/README.md").read_text()
    named = {word for word in re.findall(r"[\w/]+\.py\b", text)}

    def exists(word: str) -> bool:
        word = word.removeprefix("tests/")
        return any(Path(ROOT, "tests", folder, word).exists() for folder in ("", "lib"))

    assert named
    assert [word for word in sorted(named) if not exists(word)] == []
