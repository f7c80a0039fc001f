# SPDX-License-Identifier: GPL-2.0
"""Bytecode is made before a guest needs it, and what cannot be made stops nothing."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from spekctl.vm import bytecode


def test_package_and_folders_are_compiled(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    package, more = tmp_path / "package", tmp_path / "more" / "inner"
    for folder in (package, more):
        folder.mkdir(parents=True)
        (folder / "good.py").write_text("x = 1\n")
    (more / "broken.py").write_text("x = (\n")
    monkeypatch.setattr(bytecode, "PACKAGE", package)
    bytecode.compile_ahead(tmp_path / "more", tmp_path / "missing")
    for folder in (package, more):
        assert Path(importlib.util.cache_from_source(str(folder / "good.py"))).exists()
    assert not Path(importlib.util.cache_from_source(str(more / "broken.py"))).exists()


def test_the_package_is_the_one_that_runs() -> None:
    assert (bytecode.PACKAGE / "vm" / "bytecode.py").samefile(bytecode.__file__)
