# SPDX-License-Identifier: GPL-2.0
"""Traces of FIU."""

from __future__ import annotations

from pathlib import Path

from lib.ctl.traces import read_text


def test_fiu(tmp_path: Path) -> None:
    md5 = "56f11b5f1d1c1e1a1b1c1d1e1f101112"
    text = f"89968195792462 20782 gzip 283193184 8 R 6 0 {md5}\n"
    text += f"89968195799999 20782 kworker/0:1 8 16 W 8 16 {md5}\n"
    rows, trace = read_text(tmp_path, text + "1 2 x y 8 W 8 16 0\n")
    assert trace.parts[0].format.name == "fiu"
    assert rows == [
        (0, "6,0", 283193184 * 512, 4096, "read"),
        (7537, "8,16", 4096, 8192, "write"),
    ]
    assert trace.faults.first is not None
    assert trace.faults.first.reason == "lba 'y' is not a whole number"


def test_names_of_processes_have_blanks(tmp_path: Path) -> None:
    md5 = "56f11b5f1d1c1e1a1b1c1d1e1f101112"
    lines = [
        f"100 20782 Web Content 80 8 R 6 0 {md5}",
        f"200 20782 gzip 88 8 W 6 0 {md5}",
        f"300 20782 a 1 2 R 3 4 96 8 W 6 0 {md5}",
        f"400 20782 x 1 104 16 R 6 0 {md5}",
        "500 20782 two words 112 8 W 8 16",
        f"600 20782 (sd-pam) x y 120 8 r 6 0 {md5}\r",
        f"700 20782 a b 128 z W 6 0 {md5}",
        f"800 20782 last 136 8 W 6 0 {md5}",
    ]
    rows, trace = read_text(tmp_path, "\n".join(lines) + "\n")
    assert trace.parts[0].format.name == "fiu"
    assert [
        (at, device, offset // 512, size // 512, op) for at, device, offset, size, op in rows
    ] == [
        (0, "6,0", 80, 8, "read"),
        (100, "6,0", 88, 8, "write"),
        (200, "6,0", 96, 8, "write"),
        (300, "6,0", 104, 16, "read"),
        (400, "8,16", 112, 8, "write"),
        (500, "6,0", 120, 8, "read"),
        (700, "6,0", 136, 8, "write"),
    ]
    assert trace.faults.bad == 1 and trace.faults.first is not None
    assert trace.faults.first.number == 7
