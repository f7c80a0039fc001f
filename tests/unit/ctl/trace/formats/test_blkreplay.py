# SPDX-License-Identifier: GPL-2.0
"""Load files of blkreplay."""

from __future__ import annotations

from pathlib import Path

import pytest
from lib.ctl.traces import read, read_text, real

BLKREPLAY = """\
Copyright of some company; do as you like.

start ; sector; length ; op ;  replay_delay=0 ; replay_duration=0
and the head once more
start ; sector; length ; op ;  replay_delay=0 ; replay_duration=0
      0.000000000 ;     37766853 ;   64 ; W ; 0.0 ; 0.0
      0.449518165 ;     37766917 ;   14 ;RA ; 0.0 ; 0.0
      0.400000000 ;            0 ;    1 ; R ; 0.0 ; 0.0
"""


def test_blkreplay(tmp_path: Path) -> None:
    rows, trace = read_text(tmp_path, BLKREPLAY + "0.5 ; 1 ; 1 ; Q ; 0 ; 0\n0.5 ; 1\n")
    assert trace.parts[0].format.name == "blkreplay"
    assert rows == [
        (0, "0", 37766853 * 512, 32768, "write"),
        (400_000_000, "0", 0, 512, "read"),
        (449_518_165, "0", 37766917 * 512, 7168, "read"),
    ]
    assert (trace.faults.bad, trace.faults.unordered) == (2, 1)
    assert trace.faults.first is not None
    assert (trace.faults.first.number, trace.faults.first.reason) == (9, "unknown operation 'Q'")


@pytest.mark.parametrize(
    ("name", "requests", "reads", "span_s"),
    [
        ("linux-mysql", 80_794, 7_187, 3599),
        ("windows-mssql", 42_976, 2_528, 3062),
        ("windows-shared-server", 1_371, 0, 3597),
    ],
)
def test_real_traces(name: str, requests: int, reads: int, span_s: int) -> None:
    rows, trace = read(real(f"{name}.load.gz"))
    assert (len(rows), trace.faults.bad) == (requests, 0)
    assert sum(row[4] == "read" for row in rows) == reads
    assert rows[-1][0] // 10**9 == span_s


def test_files_that_were_joined_keep_the_records_of_the_first(tmp_path: Path) -> None:
    later = "# another file\n" + BLKREPLAY.partition("\n\n")[2]
    rows, trace = read_text(tmp_path, BLKREPLAY + later)
    assert len(rows) == 6
    # The prose in front of the second header is no comment of a known form.
    assert (trace.faults.bad, trace.faults.ignored) == (1, 3)
    assert trace.faults.first is not None
    assert trace.faults.first.number == 11
