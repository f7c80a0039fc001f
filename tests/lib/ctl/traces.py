# SPDX-License-Identifier: GPL-2.0
"""Traces for tests: small files made up here, and what a reader makes of them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from string import ascii_lowercase
from typing import Any

import numpy as np
import pytest
from lib.build.sources import ROOT

from spekctl.trace.columns import Batch, Flag, Op, concatenated
from spekctl.trace.formats.format import ReadOptions
from spekctl.trace.trace import Trace, open_trace

# at_ns, device, offset, bytes, operation; + for FUA, ^ for a preflush
Record = tuple[int, str, int, int, str]

# Operations, devices and marks of every kind, and gaps of 1 us and of a second.
MIXED = """\
at_ns,device,offset_bytes,bytes,op,fua,preflush
5,sda,0,4096,read,0,0
1005,sda,4096,4096,write,1,0
2005,sdb,8192,512,write,0,1
3005,sdb,0,0,flush,0,0
1000003005,sda,65536,4096,discard,0,0
2000003005,sda,131072,4096,zone-append,0,0
"""


def mixed(folder: Path) -> Path:
    """A file with these."""
    path = folder / "in.csv"
    path.write_text(MIXED)
    return path


def records(trace: Trace) -> list[Record]:
    """Everything that the trace yields."""
    decoded: list[Record] = []
    for batch in trace.batches():
        rows = zip(
            *(getattr(batch, name).tolist() for name in ("at_ns", "device", "offset_bytes")),
            *(getattr(batch, name).tolist() for name in ("bytes", "op", "flags")),
            strict=True,
        )
        for at, device, offset, size, op, flags in rows:
            marks = ("+" if flags & Flag.FUA else "") + ("^" if flags & Flag.PREFLUSH else "")
            decoded.append((at, trace.devices.names[device], offset, size, Op(op).text + marks))
    return decoded


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
        (list(column) for column in zip(*rows, strict=True)) if rows else ([[]] * 5)
    )
    return Batch(
        np.array(at, np.uint64),
        np.array(device, np.uint32),
        np.array(offset, np.uint64),
        np.array(size, np.uint64),
        np.array(op, np.uint8),
        np.full(len(at), flags, np.uint8),
    )


def _samples() -> dict[str, str]:
    """Short traces, which are seeds of the fuzzer, and their formats."""
    text = {name: name for name in ("spc", "msr", "alibaba", "tencent", "systor", "fiu", "csv")}
    text |= {"blkparse": "blkparse", "blkreplay": "blkreplay", "fio": "fio", "fio2": "fio"}
    binary = {f"blktrace-{kind}": "blktrace" for kind in ("7-le", "7-be", "8-le", "8-be")}
    binary |= {"vscsi-1": "vscsi", "vscsi-2": "vscsi", "srt": "srt", "stored": "spek-trace"}
    return {
        f"py-trace_{folder}/{seed}": name
        for folder, seeds in (("text", text), ("binary", binary))
        for seed, name in seeds.items()
    }


SAMPLES = _samples()


def sample(folder: Path, seed: str) -> Path:
    """A file with one of them. The first byte of a seed is the fuzzer's."""
    path = folder / "sample"
    path.write_bytes((ROOT / "tests/fuzz/seeds" / seed).read_bytes()[1:])
    return path


class Made(Trace):
    """A trace of records in memory, on devices with the names a, b ..."""

    def __init__(self, batches: Sequence[Batch]) -> None:
        super().__init__([], ReadOptions())
        self._batches = batches

    @property
    def name(self) -> str:
        return "made"

    def batches(self) -> Iterator[Batch]:
        last = max((int(batch.device.max()) for batch in self._batches if len(batch)), default=0)
        for letter in ascii_lowercase[: last + 1]:
            self.devices.number(letter)
        yield from self._batches


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
