# SPDX-License-Identifier: GPL-2.0
"""SPC traces: blocks stated outside the file, sizes of any number, each ASU by itself."""

from __future__ import annotations

from pathlib import Path

from lib.ctl.traces import read_text

LINES = """\
0,303567,3584,w,0.000000
1, 55590, 3072, W, 0.000000
0,303574,0,r,0.026214
4,21741712,24577,R,1.000774
"""


def test_fields_and_units(tmp_path: Path) -> None:
    rows, trace = read_text(tmp_path, LINES)
    assert trace.parts[0].format.name == "spc"
    assert rows == [
        (0, "0", 303567 * 512, 3584, "write"),
        (0, "1", 55590 * 512, 3072, "write"),
        (26_214_000, "0", 303574 * 512, 0, "read"),
        (1_000_774_000, "4", 21741712 * 512, 24577, "read"),
    ]
    assert trace.faults.bad == 0


def test_the_block_is_stated_outside_the_file(tmp_path: Path) -> None:
    rows, _ = read_text(tmp_path, LINES, block_bytes=4096)
    assert rows[0][2] == 303567 * 4096


def test_further_fields_are_ignored_and_missing_ones_are_not(tmp_path: Path) -> None:
    text = LINES.replace("\n", ",7,note\n") + "0,1,512,r\n0,1,512,x,3\n0,-1,512,r,3\n"
    rows, trace = read_text(tmp_path, text)
    assert len(rows) == 4
    assert trace.faults.bad == 3
    assert trace.faults.first is not None
    assert trace.faults.first.text == f"{tmp_path / 'trace'}: line 5: expected 5 fields, found 4"


def test_an_address_beyond_all_devices_is_a_bad_line(tmp_path: Path) -> None:
    text = LINES + "0,18014398509481984,512,r,3\n0,18014398509481983,512,r,3\n"
    rows, trace = read_text(tmp_path, text)
    assert (len(rows), trace.faults.bad) == (4, 2)
    assert trace.faults.first is not None
    assert (trace.faults.first.number, trace.faults.first.reason) == (5, "LBA beyond 8 EiB")
