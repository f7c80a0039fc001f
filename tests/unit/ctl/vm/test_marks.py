# SPDX-License-Identifier: GPL-2.0
"""Marks of a profile: they do nothing without the plugin."""

from __future__ import annotations

from pathlib import Path

from spekctl.vm import marks


def test_a_mark_is_executed_and_changes_nothing() -> None:
    mark = marks.Marks()
    mark.set()
    mark.set()
    assert marks.MARK[-1] == 0xC3 and len(marks.MARK) == 9


def test_names_are_copied_with_their_modules(tmp_path: Path) -> None:
    proc, folder = tmp_path / "proc", tmp_path / "shared"
    proc.mkdir()
    folder.mkdir()
    (proc / marks.KALLSYMS).write_text("ffffffff81000000 T _text\n")
    (proc / marks.MODULES).write_text("spek 16384 0 - Live 0xffffffffc0000000 (OE)\n")
    marks.copy_names(folder, proc)
    for name in (marks.KALLSYMS, marks.MODULES):
        assert (folder / name).read_text() == (proc / name).read_text()
