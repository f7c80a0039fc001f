# SPDX-License-Identifier: GPL-2.0
"""Data validation and journals of vdbench."""

from __future__ import annotations

from pathlib import Path

import pytest

from spekctl.errors import UsageError
from spekctl.vdbench import convert, validation
from spekctl.workload.imported import Imported

SD = "sd=sd1,lun=/dev/sdb\n"
WD = "wd=wd1,sd=sd1,rdpct={}\n"
RD = "rd=run1,wd=wd1,iorate=max,elapsed=5\n"


def step(folder: Path, head: str, reads: int = 0, sd: str = SD) -> Imported:
    path = folder / "file.parm"
    path.write_text(head + "\n" + sd + WD.format(reads) + RD)
    (only,) = convert.load_steps(path)
    return only


@pytest.mark.parametrize(
    ("head", "told"),
    [
        ("validate=yes", {validation.PRE_READ}),
        ("validate=y", {validation.PRE_READ}),
        ("validate=(yes,time)", {validation.PRE_READ}),
        ("validate=no_preread", {validation.READ_BACK}),
        ("validate=(time,no_p)", {validation.READ_BACK}),
        ("journal=yes", {validation.PRE_READ, validation.NOT_KEPT}),
        # parseJournalOptions() of vdbench takes "no" alone for no, and then noflush for n.
        ("journal=n", {validation.PRE_READ, validation.NOT_KEPT}),
        ("journal=N", {validation.PRE_READ, validation.NOT_KEPT}),
        # A no after another value ends the journal, but not the validation.
        ("journal=(yes,no)", {validation.PRE_READ}),
        ("journal=noflush\nvalidate=no_preread", {validation.READ_BACK, validation.NOT_KEPT}),
    ],
)
def test_written_blocks_are_verified(head: str, told: set[str], tmp_path: Path) -> None:
    imported = step(tmp_path, head)
    assert imported.command_line == ["--device /dev/sdb", "--write", "--verify"]
    keys = {line.partition("=")[0] for line in head.splitlines()}
    assert {imported.mapped[key] for key in keys} == {"--verify"}
    asked = head.partition("=")[0] if len(keys) == 1 else "validate"
    every = {validation.READ_BACK, validation.PRE_READ, validation.NOT_KEPT}
    expected = {text.format(asked) for text in told}
    assert expected == {text.format(asked) for text in every} & set(imported.differences)


@pytest.mark.parametrize(
    "head", ["validate=no", "validate=(time,no)", "validate=n", "journal=no", "journal=(no,yes)"]
)
def test_validation_that_is_off_checks_nothing(head: str, tmp_path: Path) -> None:
    imported = step(tmp_path, head)
    assert "--verify" not in imported.command_line
    assert imported.not_needed[head.partition("=")[0]] == "it is off"
    assert not any("blocks are checked" in text for text in imported.differences)


def test_a_run_that_only_reads_has_nothing_to_check(tmp_path: Path) -> None:
    imported = step(tmp_path, "validate=yes\njournal=yes", reads=100)
    assert imported.command_line == ["--device /dev/sdb"]
    assert {imported.not_needed[key] for key in validation.KEYS} == {validation.NOTHING}
    assert not any("blocks are checked" in text for text in imported.differences)
    assert validation.NOT_KEPT not in imported.differences


@pytest.mark.parametrize(
    ("head", "why"),
    [
        ("validate=read_after_write", "validate: read_after_write: all blocks are read back at"),
        ("validate=(yes,r)", "validate: read_after_write: all blocks are read back at the end"),
        ("validate=ignore_zero_reads", "validate: ignore_zero_reads: a block of zeroes"),
        ("validate=tim", "validate: 'tim' is not no, continue_old_map, yes, read_after_write"),
        ("journal=recover", "journal: recover: check what an earlier run wrote"),
        ("journal=(yes,only)", "journal: only: check what an earlier run wrote"),
        ("journal=skip_read_all", "journal: skip_read_all: it is for the recovery"),
        ("journal=max=1g", "journal: 'max=1g' is not no, yes, recover"),
    ],
)
def test_other_kinds_are_refused_by_name(head: str, why: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as refused:
        step(tmp_path, head)
    assert why in refused.value.message


def test_a_complaint_names_the_parameter_of_the_file(tmp_path: Path) -> None:
    for head, named in (
        ("journal=yes", "journal"),
        ("validate=yes", "validate"),
        ("validate=yes\njournal=yes", "validate"),
        ("validate=no\njournal=yes", "journal"),
    ):
        with pytest.raises(UsageError) as refused:
            step(tmp_path, f"{head}\ncompratio=2")
        assert f"{named}: data to be verified neither compress" in refused.value.message


def test_the_folder_of_a_journal_is_not_needed(tmp_path: Path) -> None:
    imported = step(tmp_path, "", sd=SD.replace("\n", ",journal=/var/tmp\n"))
    assert "folder of a journal" in imported.not_needed["journal"]
    assert "--verify" not in imported.command_line
