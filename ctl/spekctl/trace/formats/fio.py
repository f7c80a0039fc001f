# SPDX-License-Identifier: GPL-2.0-or-later
"""fio's I/O logs (--write_iolog), versions 2 and 3.

Version 3: ``878 /dev/sdb write 0 16384``: us since the start, file, action, byte offset, bytes.

Version 2 has no times but for lines ``/dev/sdb wait 1000 0``, whose number is the time in
milliseconds since the start (fio's manual says otherwise, and its code this). All I/O between two
of these has one time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from spekctl.errors import UsageError
from spekctl.trace.columns import BATCH, END_MAX, IGNORED, Array, Batch, Op, Words, batch_of
from spekctl.trace.formats.format import Format, Reading
from spekctl.trace.source import Head
from spekctl.trace.text import Converted, Layout, Rows, read_lines, whole_lines

_FIRST = re.compile(rb"fio version (\d+) iolog\r?\n?")
_ACTIONS = {
    "read": int(Op.READ),
    "write": int(Op.WRITE),
    "trim": int(Op.DISCARD),
    "sync": int(Op.FLUSH),
    "datasync": int(Op.FLUSH),
    "wait": IGNORED,
}
_LAYOUT = Layout(
    (
        ("time", "us"),
        ("file", "word"),
        ("action", "word"),
        ("offset", "number"),
        ("length", "number"),
    ),
    delimiter=" ",
    ignored=re.compile(r"\d+ \S+ (add|open|close)\s*$", re.ASCII),
)
_OPENED = ("add", "open", "close")
_MS_MAX = (2**63 - 1) // 10**6


def _version(head: Head) -> int:
    match = _FIRST.match(head.text)
    return int(match.group(1)[:9]) if match is not None else 0


def _likeness(head: Head) -> float:
    return float(_version(head) > 0)


def _read(reading: Reading) -> Iterator[Batch]:
    version = _version(reading.source.head())
    if version == 2:
        return _read_2(reading)
    if version in (0, 3):
        return _read_3(reading, bool(version))
    raise UsageError(
        f"{reading.source.path} is an iolog of version {version}; versions 2 and 3 can be read"
    )


def _read_3(reading: Reading, header: bool) -> Iterator[Batch]:
    def convert(rows: Rows) -> Converted:
        op = rows["action"].mapped(_ACTIONS, "action")
        # fio writes meaningless offsets for sync.
        addressed = op != Op.FLUSH
        return batch_of(
            rows["time"],
            0,
            np.where(addressed, rows["offset"], np.uint64(0)),
            np.where(addressed, rows["length"], np.uint64(0)),
            op,
        ), rows["file"]

    yield from read_lines(
        reading.source, _LAYOUT, convert, reading.devices, reading.faults, skip_lines=header
    )


def _read_2(reading: Reading) -> Iterator[Batch]:
    """Line by line: times come from lines of their own."""
    files: dict[str, int] = {}
    rows: list[tuple[int, int, int, int, int]] = []
    at_ns, timed = 0, False
    for chunk in whole_lines(reading.source, reading.faults, 1):
        for number, line in enumerate(chunk.data.split(b"\n"), start=chunk.line):
            fields = line.decode("utf-8", "replace").split()
            # The common case.
            if len(fields) == 4 and fields[1] in ("read", "write"):
                first, length = fields[2:]
                if len(first) < 19 and len(length) < 18 and _is_number(first + length):
                    op = _ACTIONS[fields[1]]
                    file = files.setdefault(fields[0], len(files))
                    rows.append((at_ns, file, int(first), int(length), op))
                    continue
            reason = _unlike_2(fields)
            if reason:
                reading.faults.add(reading.source.path, number, reason)
            elif not fields:
                continue
            elif fields[1] in _OPENED:
                reading.faults.ignored += 1
            elif fields[1] == "wait":
                at_ns, timed = int(fields[2]) * 10**6, True
                reading.faults.ignored += 1
            else:
                op = _ACTIONS[fields[1]]
                place = (0, 0) if op == Op.FLUSH else (int(fields[2]), int(fields[3]))
                rows.append((at_ns, files.setdefault(fields[0], len(files)), *place, op))
        if len(rows) >= BATCH:
            yield _batch(rows, files, reading)
            rows = []
    if rows:
        yield _batch(rows, files, reading)
    if not timed:
        reading.faults.note("an iolog of version 2 without waits has no times: all are 0")


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit()


def _unlike_2(fields: list[str]) -> str:
    """Defect of a line of version 2; empty if there is none."""
    if not fields:
        return ""
    action = fields[1] if len(fields) > 1 else ""
    if action in _OPENED:
        return "" if len(fields) == 2 else f"expected 2 fields, found {len(fields)}"
    if action not in _ACTIONS:
        return f"unknown action '{action[:40]}'"
    wanted = (3, 4) if action == "wait" else (4,)
    if len(fields) not in wanted:
        return f"expected {wanted[-1]} fields, found {len(fields)}"
    numbers = fields[2:]
    for text in numbers:
        if not (_is_number(text) and len(text) <= 19):
            return f"'{text[:40]}' is not a whole number of bytes or milliseconds"
    if action == "wait":
        return "a time beyond 292 years" if int(numbers[0]) > _MS_MAX else ""
    return "end beyond 8 EiB" if sum(map(int, numbers)) > END_MAX else ""


def _batch(
    rows: list[tuple[int, int, int, int, int]], files: dict[str, int], reading: Reading
) -> Batch:
    at, file, offset, length, op = (np.array(column) for column in zip(*rows, strict=True))
    numbers: Array = reading.devices.of_words(Words(file, list(files)))
    return batch_of(at, numbers, offset, length, op)


FORMAT = Format("fio", "I/O log of fio, versions 2 and 3", _likeness, _read)
