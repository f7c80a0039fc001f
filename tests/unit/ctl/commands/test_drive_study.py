# SPDX-License-Identifier: GPL-2.0
"""spekctl drive study with traces."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from lib.ctl.command_line import caller
from lib.ctl.traces import spc_file


def test_the_study_takes_traces(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    rows = [(n % 3, 5000 * n % 90_001, 4096, "RW"[n % 2], n * 0.01) for n in range(300)]
    # Of whatever name.
    path = spc_file(tmp_path, rows).rename(tmp_path / "\udcff.spc")
    out = tmp_path / "study.json"
    spekctl = caller(capfd)
    words = ("drive", "study", "--count", 1000, "-o", out)
    done = spekctl(*words, "--trace", f"financial={path}")
    assert done.code == 0
    text = json.loads(out.read_text())
    assert [load["name"] for load in text["loads"]] == [
        "Financial trace", "Websearch-like", "TPC-C-like", "TPC-H-like",
    ]  # fmt: skip
    assert text["loads"][0]["known"].startswith("the first 300 reads and writes of")


def test_what_is_wrong_with_files_is_said_before_anything_is_simulated(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = spc_file(tmp_path, [(0, 8, 4096, "R", 0.0)])
    before, spekctl = path.read_bytes(), caller(capfd)
    done = spekctl("drive", "study", "--trace", f"tpc-h={path}", "--trace", "tpc-h=/nowhere.spc")
    assert (done.code, done.sentence) == (2, "there is no file /nowhere.spc")
    done = spekctl("drive", "study", "--trace", f"tpc-h={path}", "-o", path)
    assert (done.code, done.sentence) == (2, f"--output {path} would overwrite the input {path}")
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ("financial", "--trace financial: write NAME=FILE"),
        ("mail=x.spc", "there is no trace 'mail'; those of the paper are financial, websearch"),
        ("tpc-c=/nowhere.spc", "there is no file /nowhere.spc"),
    ],
)
def test_wrong_traces_get_one_sentence(
    given: str, sentence: str, capfd: pytest.CaptureFixture[str]
) -> None:
    done = caller(capfd)("drive", "study", "--count", 1000, "--trace", given)
    assert (done.code, done.out) == (2, "")
    assert sentence in done.err.splitlines()[-1]
