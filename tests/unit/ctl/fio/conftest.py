# SPDX-License-Identifier: GPL-2.0
"""The corpus, as files."""

from __future__ import annotations

from pathlib import Path

import pytest
from unit.ctl.fio import corpus as fio_corpus


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    for name, value in fio_corpus.VARIABLES.items():
        monkeypatch.setenv(name, value)
    return fio_corpus.write(tmp_path / "corpus")
