# SPDX-License-Identifier: GPL-2.0
"""Litmus tests name code that is there, and what herd7 says of them is read as it is meant."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from lib.core.build import ROOT
from litmus import check

from spekctl.errors import SpekError

TESTS = sorted(check.FOLDER.glob("*.litmus"))
KEPT = [path for path in TESTS if "-no-" not in path.stem]
# Of the kernel, not of spek.
KERNEL = {
    *("set_current_state", "__set_current_state", "llist_empty", "llist_del_all", "try_cmpxchg"),
    *("smp_store_release", "smp_load_acquire", "smp_mb", "xchg"),
}


@pytest.mark.parametrize("test", KEPT, ids=lambda path: path.stem)
def test_a_hand_over_names_functions_of_the_files_that_it_names(test: Path) -> None:
    comment = test.read_text().split("*)")[0]
    files = re.findall(r"kmod/[\w/]+\.c", comment)
    named = set(re.findall(r"\b(\w+)\(\)", comment)) - KERNEL
    sources = [ROOT / file for file in files] + [ROOT / "kmod/compat/compat.h"]
    there = set(re.findall(r"\b(\w+)\(", "".join(path.read_text() for path in sources)))
    assert files and named
    assert not named - there
    assert check.expected(test.read_text()) == "Never"


def test_each_hand_over_is_found_broken_without_a_barrier() -> None:
    broken = [path for path in TESTS if path not in KEPT]
    assert {path.stem.split("-no-")[0] for path in broken} == {path.stem for path in KEPT}
    for path in broken:
        kept = path.with_name(path.stem.split("-no-")[0] + ".litmus").read_text()
        assert check.expected(path.read_text()) == "Sometimes"
        assert path.read_text().split("*)")[1] != kept.split("*)")[1]


TEST = "C name\n\n(*\n * Result: Never\n *)\n"
SEEN = "Test name Allowed\n{flag}Observation name {what} 0 3\nTime name 0.01\n"


@pytest.mark.parametrize(
    ("text", "output", "trouble"),
    [
        (TEST, SEEN.format(flag="", what="Never"), ""),
        (TEST, SEEN.format(flag="", what="Sometimes"), "it is Sometimes, not Never"),
        (TEST, SEEN.format(flag="Flag data-race\n", what="Never"), "plain accesses race"),
        (TEST.replace("Never", "Sometimes"), SEEN.format(flag="", what="Sometimes"), ""),
        (TEST, "Fatal error: no such file", "herd7 says nothing of it: Fatal error: no such file"),
    ],
)
def test_verdicts(text: str, output: str, trouble: str) -> None:
    assert check.verdict(text, output) == trouble


def test_a_test_without_a_result_is_an_error() -> None:
    with pytest.raises(SpekError, match="no line 'Result: Never'"):
        check.verdict("C name\n", SEEN.format(flag="", what="Never"))


def test_without_herd7_it_says_where_to_get_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert check.main(["--herd7", "/nonexistent/herd7"]) == 2
    assert "opam install herdtools7" in capsys.readouterr().err


def test_all_tests_are_run_and_one_that_fails_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    herd = tmp_path / "herd7"
    herd.write_text('#!/bin/sh\necho "Observation $(basename "$3" .litmus) Never 0 1"\n')
    herd.chmod(0o755)
    assert check.main(["--herd7", str(herd), "--model", str(tmp_path)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert "sealed-sets: Never" in lines
    assert "sealed-sets-no-release-seal: it is Never, not Sometimes" in lines
    assert lines[-1] == f"{len(KEPT)} passed, {len(TESTS) - len(KEPT)} failed"
