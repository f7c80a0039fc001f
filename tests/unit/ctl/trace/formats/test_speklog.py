# SPDX-License-Identifier: GPL-2.0
"""spek's own logs as traces: every arrival in its order, on the devices."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from lib.ctl.command_line import Spekctl
from lib.ctl.log_files import GIB, records, written
from lib.ctl.traces import read, whole

from spekctl.errors import UsageError
from spekctl.trace.columns import OP_BY_TEXT, Op
from spekctl.trace.trace import open_trace
from spekctl.workload.config import Extent, ResolvedAsu
from spekctl.workload.values import Operation


def test_a_log_is_the_sequence_of_its_arrivals(tmp_path: Path) -> None:
    rows = records(20_000)
    trace = open_trace([written(tmp_path / "log", rows)])
    batch = whole(trace)
    by_arrival = rows[np.argsort(rows["at_ns"], kind="stable")]
    assert trace.parts[0].format.name == "spek-log"
    assert np.array_equal(batch.at_ns, by_arrival["at_ns"] - by_arrival["at_ns"][0])
    assert np.array_equal(batch.offset_bytes, by_arrival["addr"])
    assert np.array_equal(batch.bytes, by_arrival["bytes"])
    assert np.array_equal(batch.op, by_arrival["write"])
    names = np.array(trace.devices.names)[batch.device]
    assert np.array_equal(names, np.array(["/dev/x", "/dev/y"])[by_arrival["asu"]])
    # Completions come in another order than arrivals.
    assert trace.faults.unordered > 1000 and trace.faults.moved == 0


def test_addresses_are_those_on_the_devices(tmp_path: Path) -> None:
    rows = records(100, streams=1)
    rows["addr"] = np.arange(100) * 4096
    asu = ResolvedAsu("a", GIB, [Extent(0, 1 << 20), Extent(1, 0)], 8192)
    placed, _ = read(written(tmp_path / "log", rows, asus=[asu, asu]))
    places = {(device, offset) for _, device, offset, _, _ in placed}
    assert {("/dev/x", 1 << 20), ("/dev/x", (1 << 20) + 4096), ("/dev/y", 0)} <= places


def test_lost_records_are_mentioned(tmp_path: Path) -> None:
    _, trace = read(written(tmp_path / "log", records(10), lost=12))
    assert trace.faults.notes == ["the log lacks 12 I/Os, lost while it was recorded"]


def test_its_csv_is_one_too(spekctl: Spekctl, tmp_path: Path) -> None:
    rows = records(3000)
    path = tmp_path / "log.csv"
    log = written(tmp_path / "log", rows, fua=[False, True])
    path.write_text(spekctl("log", str(log), "--csv").out)
    csv_rows, trace = read(path)
    assert trace.parts[0].format.name == "csv"
    by_arrival = rows[np.argsort(rows["at_ns"], kind="stable")]
    assert [row[0] for row in csv_rows] == (by_arrival["at_ns"] - by_arrival["at_ns"][0]).tolist()
    assert [row[1] for row in csv_rows] == ["ab"[asu] for asu in by_arrival["asu"]]
    forced = by_arrival["write"] & (by_arrival["stream"] == 1)
    assert whole(trace).flags.tolist() == forced.tolist()


def test_operations_are_those_of_the_streams(tmp_path: Path) -> None:
    rows = records(600, streams=6)
    rows["asu"] = 0
    kinds: list[Operation] = ["transfer", "transfer", "flush", "discard", "write-zeroes"]
    kinds.append("zone-append")
    rows["write"][rows["stream"] > 1] = 1
    names = [f"s{number}" for number in range(6)]
    path = tmp_path / "log"
    batch = whole(
        open_trace(
            [written(path, rows, streams=names, operations=kinds, fua=[False, True, *[False] * 4])]
        )
    )
    by_arrival = rows[np.argsort(rows["at_ns"], kind="stable")]
    stream, write = by_arrival["stream"], by_arrival["write"] == 1
    codes = np.array([OP_BY_TEXT.get(kind, Op.WRITE) for kind in kinds])
    assert np.array_equal(batch.op, np.where(write, codes[stream], Op.READ))
    assert np.array_equal(batch.flags, (stream == 1) & write)
    is_flush = stream == 2
    assert not batch.bytes[is_flush].any() and not batch.offset_bytes[is_flush].any()
    assert np.array_equal(batch.bytes[~is_flush], by_arrival["bytes"][~is_flush])


def test_a_log_with_too_few_operations_is_damaged(tmp_path: Path) -> None:
    path = written(tmp_path / "log", records(3), operations=["discard"])
    with pytest.raises(UsageError, match="log is damaged: not all streams have an operation"):
        read(path)


def test_a_log_of_an_unknown_stream_is_damaged(tmp_path: Path) -> None:
    path = written(tmp_path / "log", records(30), streams=["first"])
    with pytest.raises(UsageError, match="log is damaged: a wrong name in column stream"):
        read(path)
