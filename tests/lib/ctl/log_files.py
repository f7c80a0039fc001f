# SPDX-License-Identifier: GPL-2.0
"""Per-I/O logs made up for tests."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from lib.fakes.kernel import SECOND, START_NS

from spekctl.log import file
from spekctl.log.file import LogHeader, LogTarget, LogWriter, open_log
from spekctl.log.place import FilePlace
from spekctl.workload.config import Extent, ResolvedAsu

TYPE = file.record_type()
GIB = 1 << 30


def records(count: int, seed: int = 1, worker: int = 0, streams: int = 2) -> Any:
    """I/Os of an open loop over 1 GiB, in order of completion."""
    rng = np.random.default_rng(seed)
    logged = np.zeros(count, TYPE)
    logged["at_ns"] = START_NS + np.cumsum(rng.exponential(10_000, count)).astype("u8")
    logged["issue_ns"] = logged["at_ns"] + rng.integers(200, 5_000, count).astype("u8")
    logged["done_ns"] = logged["issue_ns"] + rng.gamma(3, 30_000, count).astype("u8")
    logged["bytes"] = rng.choice([4096, 8192, 65536], count, p=[0.7, 0.2, 0.1])
    logged["addr"] = rng.integers(0, (GIB - 65536) // 4096, count) * 4096
    logged["replica"] = rng.integers(0, 5, count)
    logged["stream"] = rng.integers(0, streams, count)
    logged["asu"] = logged["stream"]
    logged["write"] = rng.random(count) < 0.4
    logged["phase"] = 1
    logged["worker"] = worker
    return logged[np.argsort(logged["done_ns"], kind="stable")]


def header(**changes: Any) -> LogHeader:
    """A header of two streams on an asu each."""
    values: dict[str, Any] = {
        "created": "2026-01-01T00:00:00Z",
        "command": ["run", "mine"],
        "workload": "mine",
        "streams": ["first", "second"],
        "asus": [
            ResolvedAsu("a", GIB, [Extent(0, 0)]),
            ResolvedAsu("b", GIB, [Extent(1, 0)]),
        ],
        "targets": [LogTarget("/dev/x", GIB), LogTarget("/dev/y", GIB)],
        "seed": 1,
        "workers": 1,
        "started_ns": START_NS,
        "measure_ns": START_NS,
        "drain_ns": START_NS + SECOND,
        "ended_ns": START_NS + SECOND,
        "start_real_ns": 1_700_000_000 * SECOND,
        "module_version": "0.1.0",
        "reason": "completed",
        "records": 0,
        "lost": 0,
        "complete": True,
    }
    return LogHeader(**{**values, **changes})


def written(path: Path, rows: Any, **changes: Any) -> Path:
    """A log file of these records."""
    writer = LogWriter(path)
    writer.add(rows)
    writer.finish(header(records=len(rows), **changes))
    return path


def column(path: Path, name: str) -> Any:
    """All values of a column."""
    parts = [values for (values,) in open_log(path).columns(name)]
    return np.concatenate(parts) if parts else np.zeros(0)


def free_bytes(monkeypatch: pytest.MonkeyPatch, free: Callable[[], int]) -> None:
    """The file systems of logs have @free() bytes left."""
    monkeypatch.setattr(FilePlace, "free_bytes", lambda self: free())
