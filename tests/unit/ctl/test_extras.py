# SPDX-License-Identifier: GPL-2.0
"""The suggested install command: for this Python, and for an extra that exists."""

from __future__ import annotations

import shlex
import sys
import tomllib

import pytest
from lib.build.sources import ROOT

from spekctl import extras


@pytest.mark.parametrize("extra", ["log", "plot", "report", "vm"])
def test_it_is_for_this_python_and_names_a_known_extra(extra: str) -> None:
    words = shlex.split(extras.install(extra))
    assert words == [sys.executable, "-m", "pip", "install", f"spekctl[{extra}]"]
    known = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert extra in known["optional-dependencies"]


def test_a_path_with_a_space_is_one_word(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/my clone/.venv/bin/python")
    assert shlex.split(extras.install("plot"))[0] == "/my clone/.venv/bin/python"
