# SPDX-License-Identifier: GPL-2.0
"""spekctl report: which page into which file, and what is refused."""

from __future__ import annotations

import importlib.util
from functools import partial
from pathlib import Path

import pytest
from lib.ctl.command_line import Outcome, Spekctl, caller
from lib.ctl.plot_files import OPEN, write_curve

from spekctl import extras
from spekctl.errors import ExitCode
from spekctl.report import page


@pytest.fixture
def spekctl(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Spekctl:
    monkeypatch.chdir(tmp_path)
    return partial(caller(capfd), "report")


@pytest.fixture
def inputs(tmp_path: Path) -> Path:
    """A directory with good files and bad ones."""
    write_curve(tmp_path / "c.json", OPEN)
    write_curve(tmp_path / "d.json", OPEN)
    (tmp_path / "other.json").write_text('{"jobs": []}')
    (tmp_path / "text.txt").write_text("hello\n")
    (tmp_path / "broken.json").write_text('{"kind": "spek-result", ')
    (tmp_path / "later.json").write_text('{"kind": "spek-result", "version": 99}')
    (tmp_path / "dream.json").write_text('{"kind": "spek-dream", "version": 1}')
    (tmp_path / "state.json").write_text('{"kind": "spek-sweep-state", "version": 1}')
    (tmp_path / "half.json").write_text('{"kind": "spek-curve", "version": 1}')
    (tmp_path / "dir.html").mkdir()
    return tmp_path


def test_the_page_is_named_after_the_first_file(spekctl: Spekctl, inputs: Path) -> None:
    assert spekctl("c.json", "d.json") == Outcome(0, "c-report.html\n", "")
    text = (inputs / "c-report.html").read_text(encoding="utf-8")
    assert text.startswith("<!DOCTYPE html>") and text.endswith("</html>")


def test_a_page_replaces_an_older_one(spekctl: Spekctl, inputs: Path) -> None:
    (inputs / "x.html").write_text("old")
    outcome = spekctl("c.json", "-o", "x.html", "--title", "A title", "--label", "one")
    assert outcome == Outcome(0, "x.html\n", "")
    assert "<title>A title</title>" in (inputs / "x.html").read_text(encoding="utf-8")
    assert (inputs / "x.html~").read_text() == "old"


def test_a_page_that_cannot_be_made_leaves_no_older_one(spekctl: Spekctl, inputs: Path) -> None:
    (inputs / "half-report.html").write_text("old")
    outcome = spekctl("half.json")
    assert outcome.code == ExitCode.USAGE and "half.json is damaged" in outcome.sentence
    assert not (inputs / "half-report.html").exists()
    assert (inputs / "half-report.html~").read_text() == "old"


@pytest.mark.parametrize(
    "words", [("no.json",), ("c.json", "--label", "a", "--label", "b"), (".",), ("--label=a",)]
)
def test_a_wrong_command_line_renames_no_page(
    spekctl: Spekctl, inputs: Path, words: tuple[str, ...]
) -> None:
    (inputs / "x.html").write_text("old")
    assert spekctl(*words, "-o", "x.html").code == ExitCode.USAGE
    assert (inputs / "x.html").read_text() == "old" and not (inputs / "x.html~").exists()


def test_a_page_can_go_to_standard_output(spekctl: Spekctl, inputs: Path) -> None:
    outcome = spekctl("c.json", "-o", "/dev/stdout")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.startswith("<!DOCTYPE html>") and outcome.out.endswith("</html>")


def test_a_name_of_any_bytes_is_shown(spekctl: Spekctl, inputs: Path) -> None:
    (inputs / "c.json").rename(inputs / "\udcff<b>.json")
    assert spekctl("\udcff<b>.json", "d.json", "-o", "x.html").code == 0
    text = (inputs / "x.html").read_text(encoding="utf-8")
    assert "\\udcff&lt;b&gt;" in text and "<b>" not in text


WRONG = {
    "no file": ("", "missing argument"),
    "no such file": ("no.json", "there is no file no.json"),
    "not ours": ("other.json", "other.json is not a spek file; a page is made of results, load"),
    "not JSON": ("text.txt", "text.txt is not a spek file"),
    "broken JSON": ("broken.json", "broken.json is not valid JSON"),
    "later version": ("later.json", "later.json has version 99 of its format; this spekctl reads"),
    "unknown kind": ("dream.json", "is of kind 'spek-dream', which this spekctl does not know"),
    "state of a test": ("state.json", "state.json is the state of a sweep of `spekctl sweep`"),
    "half a curve": ("half.json", "half.json is damaged"),
    "directory": (".", ". is not a file"),
    "second one is wrong": ("c.json other.json", "other.json is not a spek file"),
    "labels": ("c.json d.json --label a", "--label is given once for 2 files"),
    "no directory": ("c.json -o no/x.html", "there is no directory no"),
    "output is a directory": ("c.json -o dir.html", "'dir.html' is a directory"),
    "output is an input": ("c.json d.json -o d.json", "would overwrite the input d.json"),
    "output of no name": ("c.json --output=", "the name is empty"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_said_in_one_sentence(spekctl: Spekctl, inputs: Path, case: str) -> None:
    arguments, sentence = WRONG[case]
    before = {path: path.stat().st_mtime_ns for path in inputs.iterdir()}
    outcome = spekctl(*(arguments.split() or ["--title", "x"]))
    assert outcome.code == 2
    assert outcome.out == ""
    assert sentence in outcome.sentence
    assert {path: path.stat().st_mtime_ns for path in inputs.iterdir()} == before


@pytest.mark.parametrize("name", ["jinja2", "youplot"])
def test_without_a_library_it_says_what_to_install(
    spekctl: Spekctl, inputs: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    real = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util,
        "find_spec",
        lambda asked, *rest: None if asked == name else real(asked, *rest),
    )
    outcome = spekctl("c.json", "-o", "x.html")
    assert outcome.code == 2
    assert outcome.sentence == f"a report needs {name}: {extras.install('report')}"
    assert not (inputs / "x.html").exists()


def test_another_library_is_not_put_into_a_page(
    spekctl: Spekctl, inputs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page, "_SCRIPT", (page._SCRIPT[0], "0" * 64))
    outcome = spekctl("c.json", "-o", "x.html")
    assert outcome.code == 2
    assert "is not the file of uPlot that reports are made with" in outcome.sentence
    assert not (inputs / "x.html").exists()


def test_a_page_has_figures_of_a_data_sheet(spekctl: Spekctl, inputs: Path) -> None:
    sheet = inputs / "s.toml"
    sheet.write_text('title = "a drive"\nsources = ["x"]\n[[claim]]\nname = "r"\niops = 100\n')
    assert spekctl("c.json", "--data-sheet", "s.toml").code == 0
    assert "against the data sheet of a drive" in (inputs / "c-report.html").read_text("utf-8")
    overwriting = spekctl("c.json", "--data-sheet", "s.toml", "-o", "s.toml")
    assert overwriting.code == ExitCode.USAGE
    assert "--output s.toml would overwrite the input s.toml" in overwriting.sentence
    sheet.write_text(sheet.read_text() + 'workloads = ["no-such-*"]\n')
    refusal = spekctl("c.json", "d.json", "--data-sheet", "s.toml")
    assert refusal.code == ExitCode.USAGE
    assert "s.toml has no figure that was measured in c.json, d.json" in refusal.sentence
