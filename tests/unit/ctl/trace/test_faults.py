# SPDX-License-Identifier: GPL-2.0
"""Defects of a trace: the first is kept, all are counted, and --strict ends at one."""

from __future__ import annotations

from pathlib import Path

import pytest
from lib.ctl.traces import read_text

from spekctl.errors import UsageError
from spekctl.trace.faults import Faults


def test_the_first_is_kept_and_all_are_counted() -> None:
    faults = Faults()
    faults.add(Path("t.bin"), 12345, "the file ends within it", "record")
    faults.add(Path("t.csv"), 1, "unknown operation 'q'")
    assert faults.bad == 2
    assert faults.first is not None
    assert faults.first.text == "t.bin: record 12,345: the file ends within it"


def test_strict_counts_nothing_that_it_refuses() -> None:
    faults = Faults(strict=True)
    with pytest.raises(UsageError, match=r"^t\.csv: line 7: unknown opcode 'q' \(--strict\)$"):
        faults.add(Path("t.csv"), 7, "unknown opcode 'q'")
    assert (faults.bad, faults.first) == (0, None)


def test_strict_ends_at_the_first_bad_line(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"line 2: unknown opcode 'q' \(--strict\)"):
        read_text(tmp_path, "0,1,512,r,0.5\n0,1,512,q,0.6\n0,1,512,r,0.7\n", strict=True)


def test_ios_that_a_log_lost_are_missing_as_unreadable_records_are() -> None:
    faults = Faults()
    faults.add_lost(Path("a.log"), 0)
    assert (faults.missing, faults.notes) == (0, [])
    faults.add_lost(Path("a.log"), 7)
    faults.add_stored(Path("b.trace"), bad=2, unordered=0, lost=5)
    assert (faults.missing, faults.bad, faults.lost) == (14, 2, 12)
    strict = Faults(strict=True)
    strict.add_lost(Path("a.log"), 0)
    text = r"^a\.log: the log lacks 7 I/Os, lost while it was recorded \(--strict\)$"
    with pytest.raises(UsageError, match=text):
        strict.add_lost(Path("a.log"), 7)


def test_a_note_is_made_once() -> None:
    faults = Faults()
    for text in ("times are spread", "a file was cut", "times are spread"):
        faults.note(text)
    assert faults.notes == ["times are spread", "a file was cut"]
