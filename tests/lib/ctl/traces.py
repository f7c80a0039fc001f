# SPDX-License-Identifier: GPL-2.0
"""Traces for tests: small files made up here, and what a reader makes of them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from lib.build.sources import ROOT

from spekctl.trace.columns import Batch, Flag, Op, concatenated
from spekctl.trace.options import ReadOptions
from spekctl.trace.trace import Trace, open_trace

# at_ns, device, offset, bytes, operation; + for FUA, ^ for a preflush
Record = tuple[int, str, int, int, str]


def records(trace: Trace) -> list[Record]:
    """Everything that the trace yields."""
    found: list[Record] = []
    for batch in trace.batches():
        rows = zip(
            *(getattr(batch, name).tolist() for name in ("at_ns", "device", "offset_bytes")),
            *(getattr(batch, name).tolist() for name in ("bytes", "op", "flags")),
            strict=True,
        )
        for at, device, offset, size, op, flags in rows:
            marks = ("+" if flags & Flag.FUA else "") + ("^" if flags & Flag.PREFLUSH else "")
            found.append((at, trace.devices.names[device], offset, size, Op(op).text + marks))
    return found


def read(path: Path, **options: Any) -> tuple[list[Record], Trace]:
    """The records of a file, and the trace with its faults."""
    trace = open_trace([path], ReadOptions(**options))
    return records(trace), trace


def real(name: str) -> Path:
    """A trace of a real system, in $SPEK_TRACES or beside the clone; skips where it is missing:
    such traces are no part of the repository."""
    beside = ROOT.parent / "shared" / "traces"
    path = Path(os.environ.get("SPEK_TRACES", str(beside)), name)
    if not path.exists():
        pytest.skip(f"there is no {path}; SPEK_TRACES names a folder of real traces")
    return path


def read_text(tmp_path: Path, text: str, **options: Any) -> tuple[list[Record], Trace]:
    """The same of a file with this text."""
    path = tmp_path / "trace"
    path.write_text(text)
    return read(path, **options)


def batch(rows: Sequence[tuple[int, int, int, int, int]], flags: int = 0) -> Batch:
    """Records (at_ns, device, offset, bytes, op) as Trace.batches() yields them."""
    at, device, offset, size, op = (
        (list(one) for one in zip(*rows, strict=True)) if rows else ([[]] * 5)
    )
    return Batch(
        np.array(at, np.uint64),
        np.array(device, np.uint32),
        np.array(offset, np.uint64),
        np.array(size, np.uint64),
        np.array(op, np.uint8),
        np.full(len(at), flags, np.uint8),
    )


def whole(trace: Trace) -> Batch:
    """All records of a short trace in one batch."""
    return concatenated(list(trace.batches()))


def spc_file(folder: Path, rows: list[tuple[int, int, int, str, float]]) -> Path:
    """A trace in the SPC format: ASU, LBA, bytes, r or w, seconds."""
    path = folder / "financial.spc"
    path.write_text(
        "".join(f"{asu},{lba},{size},{op},{at:.6f}\n" for asu, lba, size, op, at in rows)
    )
    return path
