# SPDX-License-Identifier: GPL-2.0
"""What a page shows on a screen in both colour schemes and on paper, as an outline that is kept in
the tree: its parts, not its pixels.

After an intended change, `make test ARGS="tests/browser --write-structure"` writes all outlines
again; read what git diff says of them.
"""

from __future__ import annotations

import difflib
from pathlib import Path

import pytest
from lib.browser.chromium import DARK, LIGHT, Browser

OPTION = "--write-structure"
KEPT = Path(__file__).parents[2] / "browser/structure"
SCRIPT = Path(__file__).with_name("structure.js").read_text(encoding="utf-8")
# Of text and its background (WCAG 2, level AA).
CONTRAST = 4.5


def outline(browser: Browser, folder: Path) -> str:
    """The page that is open: a line for each part, with the media that show it if not both do.
    @folder: where its documents are, of which texts may tell."""
    seen = {}
    ends = []
    for name, scheme, media in (
        ("light", LIGHT, "screen"),
        ("dark", DARK, "screen"),
        ("print", DARK, "print"),
    ):
        browser.look(scheme, media)
        seen[name], (ratio, words) = browser.ask(SCRIPT)
        assert ratio >= CONTRAST, f"{name}: “{words}” has a contrast of {ratio:.2f}"
        ends.append(f"{name} {ratio:.1f}")
    browser.look(LIGHT, "screen")
    assert seen["light"] == seen["dark"]
    lines = []
    for (depth, words, screen), (_, _, paper) in zip(seen["light"], seen["print"], strict=True):
        where = {(True, False): " [screen]", (False, True): " [print]", (False, False): " [hidden]"}
        lines.append("\t" * depth + words + where.get((screen, paper), ""))
    lines.append(f"least contrast of a text: {', '.join(ends)}")
    return "\n".join(lines).replace(str(folder), "FOLDER") + "\n"


def compare(config: pytest.Config, name: str, drawn: str) -> None:
    """Assert that @drawn is the kept outline of this name; with OPTION, keep it."""
    path = KEPT / f"{name}.txt"
    if config.getoption(OPTION, default=False):
        KEPT.mkdir(exist_ok=True)
        path.write_text(drawn, encoding="utf-8")
    assert path.exists(), f"{path} is missing; {OPTION} writes it"
    kept = path.read_text(encoding="utf-8")
    changes = difflib.unified_diff(kept.splitlines(), drawn.splitlines(), "kept", "found", n=1)
    assert drawn == kept, "\n".join([f"{name} has changed ({OPTION} keeps it):", *changes])
