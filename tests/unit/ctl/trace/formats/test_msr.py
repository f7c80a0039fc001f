# SPDX-License-Identifier: GPL-2.0
"""MSR Cambridge: FILETIME, times that go back, offsets of any number, a volume per disk."""

from __future__ import annotations

from pathlib import Path

import pytest
from lib.ctl.traces import read_text

LINES = """\
128166372003061629,hm,0,Read,8192,4096,153
128166372011600556,mds,1,Write,3201662976,20480,45361
128166372011600550,hm,0,Read,4097,513,10
"""


@pytest.mark.parametrize(
    "header", ["", "Timestamp,Hostname,DiskNumber,Type,Offset,Size,Response\n"]
)
def test_fields_and_units(header: str, tmp_path: Path) -> None:
    rows, trace = read_text(tmp_path, header + LINES)
    assert trace.parts[0].format.name == "msr"
    assert rows == [
        (0, "hm_0", 8192, 4096, "read"),
        (853_892_100, "hm_0", 4097, 513, "read"),
        (853_892_700, "mds_1", 3201662976, 20480, "write"),
    ]
    assert (trace.faults.bad, trace.faults.unordered, trace.faults.moved) == (0, 1, 0)


def test_bad_lines_are_counted(tmp_path: Path) -> None:
    bad = "128166372003061629,hm,0,Trim,0,0,1\n999999999999999999999,hm,0,Read,0,0,1\n"
    _, trace = read_text(tmp_path, LINES + bad)
    assert trace.faults.bad == 2
    assert trace.faults.first is not None
    assert (trace.faults.first.number, trace.faults.first.reason) == (4, "unknown type 'Trim'")


def test_a_time_long_before_the_others_is_kept(tmp_path: Path) -> None:
    rows, trace = read_text(tmp_path, LINES + "7,hm,0,Read,0,512,1\n")
    assert rows[0] == (0, "hm_0", 0, 512, "read")
    assert rows[1][0] == (128166372003061629 - 7) * 100
    assert (trace.faults.bad, trace.faults.unordered) == (0, 2)
