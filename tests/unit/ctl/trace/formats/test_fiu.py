# SPDX-License-Identifier: GPL-2.0
"""Traces of FIU."""

from __future__ import annotations

from pathlib import Path

from lib.ctl.traces import read_text


def test_fiu(tmp_path: Path) -> None:
    md5 = "56f11b5f1d1c1e1a1b1c1d1e1f101112"
    text = f"89968195792462 20782 gzip 283193184 8 R 6 0 {md5}\n"
    text += f"89968195799999 20782 kworker/0:1 8 16 W 8 16 {md5}\n"
    found, trace = read_text(tmp_path, text + "1 2 x y 8 W 8 16 0\n")
    assert trace.parts[0].format.name == "fiu"
    assert found == [
        (0, "6,0", 283193184 * 512, 4096, "read"),
        (7537, "8,16", 4096, 8192, "write"),
    ]
    assert trace.faults.first is not None
    assert trace.faults.first.reason == "lba 'y' is not a whole number"
