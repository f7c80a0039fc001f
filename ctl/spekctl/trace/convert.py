# SPDX-License-Identifier: GPL-2.0-or-later
"""Traces in other forms: stored, CSV with named columns, fio's iolog, text like blkparse's."""

from __future__ import annotations

import contextlib
import itertools
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv

from spekctl import files, units
from spekctl.cells import is_formula
from spekctl.errors import UsageError
from spekctl.trace.columns import SECTOR_BYTES, Batch, Flag, Op
from spekctl.trace.figures import origins
from spekctl.trace.idle import Idle
from spekctl.trace.order import signed
from spekctl.trace.store import TraceHeader, writing
from spekctl.trace.trace import Trace

CSV_COLUMNS = ("at_ns", "device", "offset_bytes", "bytes", "op", "fua", "preflush")
# By suffix, where no form is named.
SUFFIXES = {
    ".parquet": "spek-trace",
    ".csv": "csv",
    ".iolog": "fio",
    ".blkparse": "blkparse",
}
FORMS = tuple(SUFFIXES.values())


@dataclass(slots=True)
class Written:
    """Counts of a conversion."""

    records: int = 0
    dropped: dict[str, int] = field(default_factory=dict)
    grown: int = 0  # rounded to whole sectors
    idle: Idle = field(default_factory=lambda: Idle(0))

    def drop(self, ops: Any) -> None:
        """Records whose operations the form does not have."""
        for op, count in zip(*np.unique(ops, return_counts=True), strict=True):
            name = Op(int(op)).text
            self.dropped[name] = self.dropped.get(name, 0) + int(count)

    def sentences(self) -> list[str]:
        """Losses and changes, as sentences."""
        sentences = []
        if self.dropped:
            parts = ", ".join(f"{count:,} {op}" for op, count in sorted(self.dropped.items()))
            sentences.append(f"left out, not supported by the form: {parts}")
        if self.grown:
            sentences.append(f"requests rounded to whole sectors: {self.grown:,}")
        if self.idle.limit_ns:
            limit, total = (
                units.format_duration(ns) for ns in (self.idle.limit_ns, self.idle.cut_ns)
            )
            sentences.append(f"idle times cut to {limit}: {self.idle.count:,}, by {total} in all")
        return sentences


class _Text(Protocol):
    def start(self, out: IO[bytes]) -> None: ...
    def add(self, batch: Batch, out: IO[bytes]) -> None: ...
    def end(self, out: IO[bytes]) -> None: ...


def form_of(output: Path, name: str | None) -> str:
    """The form that is named, or that the suffix means; otherwise the stored one."""
    return name or SUFFIXES.get(output.suffix.lower(), "spek-trace")


def check_output(output: Path, trace: Trace) -> None:
    """A trace is not written over itself while it is read."""
    for part in trace.parts:
        with contextlib.suppress(OSError):
            if os.path.samefile(output, part.source.path):
                raise UsageError(f"{output} is the trace that is read; choose another output")


def convert(
    trace: Trace, batches: Iterable[Batch], output: Path, form: str, max_idle_ns: int = 0
) -> Written:
    """Write @batches, which are of @trace, into a file. It gets its name only when it is whole.

    @max_idle_ns: limit to which longer idle times are cut; 0: none
    """
    written = Written(idle=Idle(max_idle_ns))
    batches = signed(written.idle.of(batches))
    if form == "spek-trace":
        written.records = _store(trace, batches, output)
        return written
    with files.replacing(output) as out:
        write_text(trace, batches, out, form, written)
    return written


def write_text(
    trace: Trace, batches: Iterable[Batch], out: IO[bytes], form: str, written: Written
) -> None:
    """The records as text."""
    writer = _writer(form, trace, written)
    writer.start(out)
    for batch in batches:
        if len(batch):
            writer.add(batch, out)
    writer.end(out)


def _writer(form: str, trace: Trace, written: Written) -> _Text:
    if form == "csv":
        return _Csv(trace, written)
    return _Fio(trace, written) if form == "fio" else _Blkparse(trace, written)


def _store(trace: Trace, batches: Iterable[Batch], output: Path) -> int:
    with writing(output) as writer:
        for batch in batches:
            writer.add(batch)
        faults = trace.faults
        writer.finish(
            TraceHeader(
                origins=origins(trace),
                devices=list(trace.devices.names),
                records=writer.records,
                span_ns=writer.span_ns,
                bad=faults.bad,
                unordered=faults.unordered,
                lost=faults.lost,
            )
        )
    return writer.records


_PLAIN = csv.WriteOptions(include_header=False, quoting_style="none")
_BLANKS = csv.WriteOptions(include_header=False, quoting_style="none", delimiter=" ")


def _words(names: list[str], codes: Any) -> Any:
    return pa.array(names, pa.string()).take(pa.array(np.ascontiguousarray(codes).astype(np.int64)))


def _device_names(trace: Trace, delimiter: str, *, formulas: bool = True) -> list[str]:
    """Device names without quotes, blanks and delimiters of the form; different devices keep
    different names. Without @formulas, `_` is in place of a sign that makes a name a formula."""
    names: dict[str, None] = {}
    for name in trace.devices.names:
        plain = re.sub(rf'["\s{delimiter}]', "_", name) or "_"
        plain = allowed = f"_{plain[1:]}" if not formulas and is_formula(plain) else plain
        numbers = itertools.count(2)
        while allowed in names:
            allowed = f"{plain}_{next(numbers)}"
        names[allowed] = None
    return list(names)


class _Csv:
    """CSV with named columns."""

    def __init__(self, trace: Trace, written: Written) -> None:
        self._trace, self._written = trace, written

    def start(self, out: IO[bytes]) -> None:
        out.write(",".join(CSV_COLUMNS).encode() + b"\n")

    def add(self, batch: Batch, out: IO[bytes]) -> None:
        columns = [
            pa.array(np.ascontiguousarray(batch.at_ns)),
            _words(_device_names(self._trace, ",", formulas=False), batch.device),
            pa.array(np.ascontiguousarray(batch.offset_bytes)),
            pa.array(np.ascontiguousarray(batch.bytes)),
            _words([op.text for op in Op], batch.op),
            pa.array((batch.flags & int(Flag.FUA) != 0).astype(np.uint8)),
            pa.array((batch.flags & int(Flag.PREFLUSH) != 0).astype(np.uint8)),
        ]
        csv.write_csv(pa.table(columns, names=list(CSV_COLUMNS)), out, _PLAIN)
        self._written.records += len(batch)

    def end(self, out: IO[bytes]) -> None:
        pass


class _Fio:
    """fio's iolog, version 3: times in us."""

    ACTIONS = (
        (Op.READ, "read"),
        (Op.WRITE, "write"),
        (Op.DISCARD, "trim"),
        (Op.FLUSH, "sync"),
    )

    def __init__(self, trace: Trace, written: Written) -> None:
        self._trace, self._written = trace, written
        self._opened = 0
        self._last_us = 0

    def start(self, out: IO[bytes]) -> None:
        out.write(b"fio version 3 iolog\n")

    def add(self, batch: Batch, out: IO[bytes]) -> None:
        known = np.isin(batch.op, [int(op) for op, _ in self.ACTIONS])
        if not known.all():
            self._written.drop(batch.op[~known])
            batch = batch.take(known)
        if not len(batch):
            return
        names = _device_names(self._trace, "")
        # A file is added before it is used.
        for name in names[self._opened :]:
            at = int(batch.at_ns[0]) // 1000
            out.write(f"{at} {name} add\n{at} {name} open\n".encode())
        self._opened = len(names)
        texts = [""] * len(Op)
        for op, action in self.ACTIONS:
            texts[op] = action
        columns = [
            pa.array(np.ascontiguousarray(batch.at_ns) // np.uint64(1000)),
            _words(names, batch.device),
            _words(texts, batch.op),
            pa.array(np.ascontiguousarray(batch.offset_bytes)),
            pa.array(np.ascontiguousarray(batch.bytes)),
        ]
        csv.write_csv(pa.table(columns, names=list("abcde")), out, _BLANKS)
        self._last_us = int(batch.at_ns[-1]) // 1000
        self._written.records += len(batch)

    def end(self, out: IO[bytes]) -> None:
        for name in _device_names(self._trace, "")[: self._opened]:
            out.write(f"{self._last_us} {name} close\n".encode())


class _Blkparse:
    """Text as blkparse prints it, with one event per request: its queueing."""

    LETTERS = (
        (Op.READ, "R"),
        (Op.WRITE, "W"),
        (Op.FLUSH, "FN"),
        (Op.DISCARD, "D"),
        (Op.WRITE_ZEROES, "WZ"),
        (Op.SECURE_ERASE, "DE"),
        (Op.ZONE_APPEND, "ZA"),
        (Op.ZONE_RESET, "ZR"),
        (Op.ZONE_OPEN, "ZO"),
        (Op.ZONE_CLOSE, "ZC"),
        (Op.ZONE_FINISH, "ZF"),
    )

    def __init__(self, trace: Trace, written: Written) -> None:
        self._trace, self._written = trace, written

    def start(self, out: IO[bytes]) -> None:
        pass

    def _numbers(self) -> list[str]:
        """Each device's numbers, or made-up ones that no device before it has."""
        numbers: dict[str, None] = {}
        for place, name in enumerate(self._trace.devices.names):
            own = name if re.fullmatch(r"\d{1,4},\d{1,7}", name) else f"259,{place}"
            minors = itertools.count(place)
            while own in numbers:
                own = f"259,{next(minors)}"
            numbers[own] = None
        return list(numbers)

    def add(self, batch: Batch, out: IO[bytes]) -> None:
        sector = np.uint64(SECTOR_BYTES)
        first = batch.offset_bytes // sector
        end = (batch.end_bytes + (sector - np.uint64(1))) // sector
        whole = (batch.offset_bytes % sector == 0) & (batch.bytes % sector == 0)
        self._written.grown += int(len(batch) - whole.sum())
        letters = dict(self.LETTERS)
        table: dict[tuple[int, int], str] = {}
        for op in Op:
            for flags in range(4):
                marks = letters[op]
                if op is Op.WRITE:
                    marks = "F" * bool(flags & Flag.PREFLUSH) + "W" + "F" * bool(flags & Flag.FUA)
                table[op, flags] = marks
        numbers = self._numbers()
        rows = zip(
            *(column.tolist() for column in (batch.at_ns, batch.device, batch.op, batch.flags)),
            *(column.tolist() for column in (first, end - first)),
            strict=True,
        )
        lines = []
        for sequence, (at, device, op, flags, start, count) in enumerate(
            rows, start=self._written.records + 1
        ):
            head = f"{numbers[device]:>7} {0:2d} {sequence:8d} {at // 10**9:5d}.{at % 10**9:09d}"
            place = "" if op == Op.FLUSH else f"{start} + {count} "
            lines.append(f"{head} {0:5d}  Q {table[op, flags]:>3} {place}[spek]\n")
        out.write("".join(lines).encode())
        self._written.records += len(batch)

    def end(self, out: IO[bytes]) -> None:
        pass
