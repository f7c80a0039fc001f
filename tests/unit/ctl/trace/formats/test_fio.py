# SPDX-License-Identifier: GPL-2.0
"""fio's I/O logs: microseconds in version 3, waits in milliseconds since the start in version 2."""

from __future__ import annotations

from pathlib import Path

import pytest
from lib.ctl.traces import read_text

from spekctl.errors import UsageError

V3 = """\
fio version 3 iolog
0 /dev/sda add
0 /dev/sda open
878 /dev/sda write 0 16384
1000 /dev/sdb read 4096 512
1500 /dev/sda trim 8192 4096
1700 /dev/sda sync 77 77
1800 /dev/sda datasync 0 0
2000 /dev/sda close
"""
V2 = """\
fio version 2 iolog
/dev/sda add
/dev/sda open
/dev/sda write 0 16384
/dev/sda wait 20 0
/dev/sdb read 4096 512
/dev/sda sync 77 77
/dev/sda wait 1500
/dev/sda trim 8192 4096
/dev/sda close
"""


def test_version_3(tmp_path: Path) -> None:
    rows, trace = read_text(tmp_path, V3)
    assert trace.parts[0].format.name == "fio"
    assert rows == [
        (0, "/dev/sda", 0, 16384, "write"),
        (122_000, "/dev/sdb", 4096, 512, "read"),
        (622_000, "/dev/sda", 8192, 4096, "discard"),
        (822_000, "/dev/sda", 0, 0, "flush"),
        (922_000, "/dev/sda", 0, 0, "flush"),
    ]
    assert (trace.faults.bad, trace.faults.ignored) == (0, 3)


def test_version_2(tmp_path: Path) -> None:
    rows, trace = read_text(tmp_path, V2)
    assert rows == [
        (0, "/dev/sda", 0, 16384, "write"),
        (20_000_000, "/dev/sdb", 4096, 512, "read"),
        (20_000_000, "/dev/sda", 0, 0, "flush"),
        (1_500_000_000, "/dev/sda", 8192, 4096, "discard"),
    ]
    assert (trace.faults.bad, trace.faults.ignored, trace.faults.notes) == (0, 5, [])


def test_a_log_without_times_says_so(tmp_path: Path) -> None:
    text = "fio version 2 iolog\nf write 0 512\nf write 512 512\n"
    rows, trace = read_text(tmp_path, text)
    assert [row[0] for row in rows] == [0, 0]
    assert trace.faults.notes == ["an iolog of version 2 without waits has no times: all are 0"]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("/dev/sda seek 0 512", "unknown action 'seek'"),
        ("/dev/sda", "unknown action ''"),
        ("/dev/sda write 0", "expected 4 fields, found 3"),
        ("/dev/sda open 1", "expected 2 fields, found 3"),
        ("/dev/sda write -1 512", "'-1' is not a whole number of bytes or milliseconds"),
        ("/dev/sda write 9223372036854775807 512", "end beyond 8 EiB"),
        ("/dev/sda wait 9999999999999999", "a time beyond 292 years"),
    ],
)
def test_bad_lines_of_version_2(line: str, reason: str, tmp_path: Path) -> None:
    rows, trace = read_text(tmp_path, V2 + line + "\n")
    assert (len(rows), trace.faults.bad) == (4, 1)
    assert trace.faults.first is not None
    assert (trace.faults.first.number, trace.faults.first.reason) == (11, reason)


def test_bad_lines_of_version_3(tmp_path: Path) -> None:
    rows, trace = read_text(tmp_path, V3 + "2000 /dev/sda wait 10\n2000 /dev/sda seek 0 5\n")
    assert (len(rows), trace.faults.bad) == (5, 2)
    assert trace.faults.first is not None
    assert (trace.faults.first.number, trace.faults.first.reason) == (
        10,
        "expected 5 fields, found 4",
    )


def test_other_versions_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is an iolog of version 4; versions 2 and 3 can be read"):
        read_text(tmp_path, "fio version 4 iolog\n")
