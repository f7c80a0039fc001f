# SPDX-License-Identifier: GPL-2.0-or-later
"""The text that blkparse prints in its usual form.

``8,0  3  1  0.000000000  697  Q  W 223490 + 8 [kjournald]``: device, CPU, sequence number, seconds,
pid, action, operation, sector, sectors, process. Other actions are left out, and so are commands
that are passed through to the device, and summaries: a file may hold several outputs, each with its
own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from spekctl.trace.columns import (
    SECTOR_BYTES,
    Array,
    Batch,
    Flag,
    Misfit,
    Op,
    Words,
    batch_of,
    in_bytes,
)
from spekctl.trace.formats.format import EVENTS, Format, Reading
from spekctl.trace.formats.rwbs import operations
from spekctl.trace.source import Chunk, Head
from spekctl.trace.text import Converted, Layout, Rows, likeness, parse, whole_lines

_EVENT = re.compile(r"\s*\d+,\d+\s+\d+\s+\d+\s+\d+\.\d+\s+\d+\s+[A-Z]+\s", re.ASCII)
# A command that is passed through to the device: it has a number of bytes and no place.
_COMMAND = re.compile(rb"\s*(?:\S+\s+){6}[A-Z]+\s+\d+\s+[(\[]")
_COMMAND_BLANKS = 7
# Where a summary begins, and the first event behind it.
_SUMMARY = re.compile(rb"^(?:CPU|Total \()", re.MULTILINE)
_RESUMED = re.compile(rb"^[ \t]*\d+,\d+[ \t]", re.MULTILINE)
# An event with a place, and one without: a flush.
_LAYOUT = Layout(
    (
        ("device", "word"),
        ("cpu", "skip"),
        ("sequence", "skip"),
        ("time", "s"),
        ("pid", "skip"),
        ("action", "skip"),
        ("operation", "word"),
        ("sector", "number"),
        ("plus", "word"),
        ("sectors", "number"),
    ),
    delimiter=" ",
    more=True,
)
_SPACE, _NEWLINE, _TAB, _BRACKET, _PAREN = (ord(char) for char in " \n\t[(")


def _likeness(head: Head) -> float:
    data, _ = _without_summaries(head.data, False)
    return likeness(replace(head, data=data), _EVENT)


def _read(reading: Reading) -> Iterator[Batch]:
    action = EVENTS[reading.options.event].encode()
    source, devices, faults = reading.source, reading.devices, reading.faults
    in_summary = False
    for chunk in whole_lines(source, faults):
        data, in_summary = _without_summaries(chunk.data, in_summary)
        for piece, letters in _events(Chunk(data, chunk.line), action):
            faults.ignored += sum(letters.values())
            for letter, count in letters.items():
                # A small letter is a message.
                if letter.isupper():
                    faults.add_events(letter, count)
            yield from parse(piece, _LAYOUT, _convert, devices, faults, source)


def _without_summaries(data: bytes, in_summary: bool) -> tuple[bytes, bool]:
    """The lines with those of summaries blank, and whether the last one is still of a summary.
    @in_summary: so is the first."""
    parts: list[bytes] = []
    place = 0
    while place < len(data):
        mark = (_RESUMED if in_summary else _SUMMARY).search(data, place)
        end = mark.start() if mark is not None else len(data)
        lines = data[place:end]
        parts.append(b"\n" * lines.count(b"\n") if in_summary else lines)
        if mark is None:
            break
        place, in_summary = end, not in_summary
    return b"".join(parts), in_summary


def _events(chunk: Chunk, action: bytes) -> Iterator[tuple[Chunk, dict[str, int]]]:
    """The lines in a form that parse() takes: single spaces, no process, of the wanted action
    only, and how many of each other action were left out. Lines keep their numbers: unwanted ones
    become blank."""
    data = _squeezed(chunk.data)
    if not data:
        return
    if not data.endswith(b"\n"):
        data += b"\n"
    raw = np.frombuffer(data, np.uint8)
    ends = np.flatnonzero(raw == _NEWLINE)
    starts = np.concatenate([[0], ends[:-1] + 1])
    spaces = np.concatenate([np.flatnonzero(raw == _SPACE), [len(raw)] * 8])
    first = np.searchsorted(spaces[:-8], starts)
    blanks = np.searchsorted(spaces[:-8], ends) - first
    # The sixth field begins behind the fifth space of its line, and ends at the sixth.
    begin = spaces[np.minimum(first + 4, len(spaces) - 1)] + 1
    end = np.minimum(spaces[np.minimum(first + 5, len(spaces) - 1)], ends)
    is_event = (begin < ends) & (raw[starts] != _NEWLINE)
    at = np.minimum(begin, len(raw) - 1)
    wanted = is_event & (raw[at] == action[0]) & (end - begin == 1)
    like = np.flatnonzero(wanted & (blanks == _COMMAND_BLANKS)).tolist()
    lines = chunk.data.split(b"\n") if like else []
    wanted[[place for place in like if _COMMAND.match(lines[place])]] = False
    # An action is a letter or two; a line with another thing in this place is no event.
    letter = raw[at] & ~np.uint8(0x20)
    unwanted = is_event & ~wanted & (letter >= ord("A")) & (letter <= ord("Z")) & (end - begin <= 2)
    keep = ~unwanted
    kept = np.repeat(keep, ends - starts + 1)
    kept[ends] = True
    letters, counts = np.unique(raw[at[unwanted]], return_counts=True)
    left = {chr(code): count for code, count in zip(letters.tolist(), counts.tolist(), strict=True)}
    yield Chunk(raw[kept].tobytes(), chunk.line), left


def _squeezed(data: bytes) -> bytes:
    """Collapse runs of blanks, strip leading blanks and the process name in brackets, and give
    flushes an extent, so that all events have the same number of fields."""
    raw = np.frombuffer(data, np.uint8)
    if (raw == _TAB).any() or (raw == ord("\r")).any():
        data = data.replace(b"\t", b" ").replace(b"\r\n", b"\n")
        raw = np.frombuffer(data, np.uint8)
    blank = raw == _SPACE
    keep = ~blank
    keep[1:] |= ~(blank[:-1] | (raw[:-1] == _NEWLINE))
    raw = raw[keep]
    return _PLACELESS.sub(rb"\1 0 + 0\n", _without_process(raw))


_PLACELESS = re.compile(rb"( [FN][A-Z]*) ?\n")


def _without_process(raw: Array) -> bytes:
    """Lines cut at " [" or " ("."""
    brackets = np.flatnonzero((raw == _BRACKET) | (raw == _PAREN))
    if not len(brackets):
        return raw.tobytes()
    ends = np.flatnonzero(raw == _NEWLINE)
    line = np.searchsorted(ends, brackets)
    _, first = np.unique(line, return_index=True)
    start = brackets[first]
    # With the space before it.
    start = np.where((start > 0) & (raw[start - 1] == _SPACE), start - 1, start)
    end = np.concatenate([ends, [len(raw)]])[line[first]]
    change = np.zeros(len(raw) + 1, np.int8)
    change[start] += 1
    change[end] -= 1
    kept: bytes = raw[np.cumsum(change[:-1], dtype=np.int8) == 0].tobytes()
    return kept


def _convert(rows: Rows) -> Converted:
    plus: Words = rows["plus"]
    if any(plus.values[code] != "+" for code in np.unique(plus.codes)):
        raise Misfit("no '+' between sector and number of sectors")
    op, flags = operations(rows["operation"])
    size = in_bytes(rows["sectors"], SECTOR_BYTES, "size")
    # A flush with data is one before a write.
    op = np.where((flags & int(Flag.PREFLUSH) != 0) & (size == 0), np.uint8(Op.FLUSH), op)
    addressed = op != Op.FLUSH
    return batch_of(
        rows["time"],
        0,
        np.where(addressed, in_bytes(rows["sector"], SECTOR_BYTES, "sector"), np.uint64(0)),
        np.where(addressed, size, np.uint64(0)),
        op,
        np.where(addressed, flags, np.uint8(0)),
    ), rows["device"]


FORMAT = Format("blkparse", "text of blkparse", _likeness, _read)
