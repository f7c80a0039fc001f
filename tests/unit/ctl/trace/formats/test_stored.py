# SPDX-License-Identifier: GPL-2.0
"""Stored traces among the formats: told by their header, and several are one trace."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from lib.ctl.command_line import Spekctl
from lib.ctl.log_files import records as log_records
from lib.ctl.log_files import written
from lib.ctl.traces import records

from spekctl.errors import ExitCode, UsageError
from spekctl.trace.convert import convert
from spekctl.trace.formats.format import ReadOptions
from spekctl.trace.formats.stored import FORMAT
from spekctl.trace.source import Source
from spekctl.trace.trace import open_trace


def stored(folder: Path, name: str, *rows: str) -> Path:
    """Of rows TIME,DEVICE."""
    text = folder / "in.csv"
    lines = "".join(f"{row},4096,512,read\n" for row in rows)
    text.write_text("at_ns,device,offset_bytes,bytes,op\n" + lines)
    trace = open_trace([text])
    convert(trace, trace.batches(), folder / name, "spek-trace")
    return folder / name


def test_devices_of_several_files_are_told_apart_by_name(tmp_path: Path) -> None:
    """Each file numbers its own from 0."""
    first = stored(tmp_path, "1", "0,sdb", "20,sda")
    second = stored(tmp_path, "2", "5,sda", "10,sdc", "15,sdb")
    seen = [(at, device) for at, device, *_ in records(open_trace([first, second]))]
    assert seen == [(0, "sdb"), (0, "sda"), (5, "sdc"), (10, "sdb"), (20, "sda")]


def test_defects_of_the_origin_remain(spekctl: Spekctl, tmp_path: Path) -> None:
    good, bad = [f"{at},sda" for at in (0, 20, 10)], ["garbage,sda"] * 5
    path = stored(tmp_path, "t", *good, *bad)
    for _ in range(2):
        trace = open_trace([path])
        assert len(records(trace)) == 3
        assert (trace.faults.bad, trace.faults.unordered) == (5, 1)
        # A trace that is stored from it has them as well.
        convert(trace, trace.batches(), tmp_path / "u", "spek-trace")
        path = tmp_path / "u"
    told = spekctl("trace", "info", str(tmp_path / "t"))
    assert told.code == ExitCode.RUN_FAILED
    assert "5 records could not be read when it was stored" in told.out + told.err
    with pytest.raises(UsageError, match=r"could not be read when it was stored \(--strict\)"):
        records(open_trace([path], ReadOptions(strict=True)))
    single = stored(tmp_path, "s", "0,sda", "x,sda")
    trace = open_trace([single, path])
    assert len(records(trace)) == 4 and trace.faults.bad == 6


def test_other_parquet_is_no_stored_trace(tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    pq.write_table(pa.table({"at_ns": [1]}), plain)
    log = written(tmp_path / "log", log_records(10))
    for path in (plain, log):
        assert FORMAT.likeness(Source(path).head()) == 0
    assert FORMAT.likeness(Source(stored(tmp_path, "t", "0,sda")).head()) == 1


@pytest.mark.parametrize("data", [b"PAR1", b"PAR1 and no footer", b"PAR"])
def test_the_beginning_of_parquet_is_not_enough(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "t"
    path.write_bytes(data)
    assert FORMAT.likeness(Source(path).head()) == 0
