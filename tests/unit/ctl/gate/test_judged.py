# SPDX-License-Identifier: GPL-2.0
"""Results as read for a verdict, and their names in it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lib.ctl.verdicts import measured, put

from spekctl.errors import UsageError
from spekctl.gate import judged
from spekctl.gate.judged import Run

RESULT = measured(1)


def names(*paths: str, prefix: str = "") -> list[str]:
    runs = judged.described([Run(Path(path), RESULT) for path in paths], prefix)
    return [run.name for run in runs]


@given(st.lists(st.text(st.characters(exclude_characters="/\0"), min_size=1), max_size=8))
def test_names_are_words_that_differ(files: list[str]) -> None:
    words = names(*files)
    assert len(set(words)) == len(files)
    assert all(re.fullmatch(r"[a-zA-Z0-9_-]+", word) for word in words)


def test_equal_names_are_numbered() -> None:
    assert names("x/a.json", "y/a.json", "a-2.json", "z/a.json") == ["a", "a-2", "a-2-2", "a-3"]


@pytest.mark.parametrize(("file", "word"), [("é#.json", "run"), ("..json", "run"), ("_", "run")])
def test_a_name_without_letters_is_a_run(file: str, word: str) -> None:
    assert names(file) == [word]
    assert names(file, prefix="b-") == [f"b-{word}"]


def test_a_run_counts_once(tmp_path: Path) -> None:
    put(tmp_path / "a.json", measured(1, 900))
    put(tmp_path / "b.json", measured(2, 900))
    put(tmp_path / "c.json", measured(1, 900))
    assert len(judged.load([tmp_path / "a.json", tmp_path / "b.json"])) == 2
    with pytest.raises(UsageError, match=r"a\.json and .*c\.json are results of the same run"):
        judged.load([tmp_path / name for name in ("a.json", "b.json", "c.json")])


def test_a_name_that_is_no_utf8_has_a_replacement() -> None:
    """The document is JSON, which cannot hold it."""
    (run,) = judged.described([Run(Path("\udcff.json"), RESULT)])
    assert run.file == "\ufffd.json"


def test_the_duration_is_that_of_the_measure_phase() -> None:
    (run,) = judged.described([Run(Path("a.json"), RESULT)])
    (measure,) = [phase for phase in RESULT.phases if phase.phase == "measure"]
    assert len(RESULT.phases) > 1
    assert (run.duration_ns, run.started) == (measure.duration_ns, "2023-11-14T22:13:21Z")
