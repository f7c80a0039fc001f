# SPDX-License-Identifier: GPL-2.0
"""spekctl is GPL-2.0-or-later, everything else GPL-2.0, and each file says which."""

from __future__ import annotations

import tomllib
from pathlib import Path

import spekctl

ROOT = Path(__file__).resolve().parents[3]
LATER = "GPL-2.0-or-later"


def licence_of(path: Path) -> str:
    """What the SPDX line of a file says; empty if it has none."""
    for line in path.read_text(encoding="utf-8").splitlines()[:2]:
        _, marker, name = line.partition("SPDX-License-Identifier: ")
        if marker:
            return name.removesuffix("*/").removesuffix("-->").strip()
    return ""


def test_every_file_of_spekctl_may_be_used_under_later_versions() -> None:
    files = sorted(Path(spekctl.__file__).parent.rglob("*.py"))
    assert len(files) > 100
    assert {licence_of(path) for path in files} == {LATER}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["license"]["text"] == LATER


def test_the_kernel_side_stays_with_version_2() -> None:
    files = [path for room in ("kmod", "prober") for path in (ROOT / room).rglob("*.[ch]")]
    assert len(files) > 50
    assert not [path for path in files if LATER in licence_of(path)]
    assert "ctl/` is GPL-2.0-or-later" in (ROOT / "README.md").read_text()
