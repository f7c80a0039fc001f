# SPDX-License-Identifier: GPL-2.0
"""Traces of Systor '17."""

from __future__ import annotations

from pathlib import Path

import pytest
from lib.ctl.traces import read_text

HEADER = "Timestamp,Response,IOType,LUN,Offset,Size\n"


SYSTOR = """\
1456095145.133076000,0.000806000,R,0,899056122368,131072
1456095145.133076123,,,3,8192,512
1456095146.233076000,0.000806000,W,6,8193,512
"""


@pytest.mark.parametrize("header", ["", HEADER])
def test_systor(header: str, tmp_path: Path) -> None:
    rows, trace = read_text(tmp_path, header + SYSTOR)
    assert trace.parts[0].format.name == "systor"
    assert rows == [
        (0, "0", 899056122368, 131072, "read"),
        (1_100_000_000, "6", 8193, 512, "write"),
    ]
    assert (trace.faults.bad, trace.faults.ignored) == (0, 1)
    assert trace.devices.names == ["0", "6"]
    assert trace.faults.notes == [
        "records without a response are left out: their type is not recorded"
    ]
