# SPDX-License-Identifier: GPL-2.0-or-later
"""Records in the order of their times: of one file, and of several files together.

Files are read as streams, so a record is put in its place only if it is at most WINDOW records
late; one that is later takes the time of the record ahead, and is counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from spekctl import units
from spekctl.errors import UsageError
from spekctl.trace.columns import BATCH, Batch, concatenated, pieces
from spekctl.trace.faults import Faults

WINDOW = 1 << 18


def in_order(
    batches: Iterator[Batch], faults: Faults, window: int = WINDOW, more: int = BATCH
) -> Iterator[Batch]:
    """The records of a file by time; those of equal times stay as they were.

    @more: records that are gathered beside the window before the oldest are yielded
    """
    held: list[Batch] = []
    rows = 0
    newest: int | None = None  # time of the record read last
    last_at_ns: int | None = None  # time of the record yielded last

    def ready(keep: int) -> Iterator[Batch]:
        nonlocal held, rows, last_at_ns
        whole = concatenated(held)
        if np.any(whole.at_ns[1:] < whole.at_ns[:-1]):
            whole = whole.take(np.argsort(whole.at_ns, kind="stable"))
        out, rest = whole.take(slice(0, rows - keep)), whole.take(slice(rows - keep, rows))
        held, rows = ([rest] if keep else []), keep
        if last_at_ns is not None and int(out.at_ns[0]) < last_at_ns:
            faults.moved += int(np.searchsorted(out.at_ns, last_at_ns))
            out = out.replace(at_ns=np.maximum(out.at_ns, last_at_ns))
        last_at_ns = int(out.at_ns[-1])
        yield from pieces(out)

    for batch in batches:
        if not len(batch):
            continue
        at = batch.at_ns
        faults.unordered += int(np.count_nonzero(at[1:] < at[:-1]))
        faults.unordered += newest is not None and int(at[0]) < newest
        newest = int(at[-1])
        held.append(batch)
        rows += len(batch)
        if rows >= window + more:
            yield from ready(window)
    if rows:
        yield from ready(0)


def merged(streams: Sequence[Iterator[Batch]]) -> Iterator[Batch]:
    """Several streams, each in order, as one; of equal times the earlier stream's come first."""
    waiting: list[Batch | None] = [next(stream, None) for stream in streams]
    while True:
        live = [(index, batch) for index, batch in enumerate(waiting) if batch is not None]
        if not live:
            return
        if len(live) == 1:
            index, batch = live[0]
            yield batch
            yield from streams[index]
            return
        # Up to here no stream has anything that is not yet read.
        horizon = min(int(batch.at_ns[-1]) for _, batch in live)
        parts = []
        for index, batch in live:
            count = int(np.searchsorted(batch.at_ns, horizon, side="right"))
            if count:
                parts.append(batch.take(slice(0, count)))
            rest = batch.take(slice(count, len(batch)))
            waiting[index] = rest if len(rest) else next(streams[index], None)
        whole = concatenated(parts)
        yield from pieces(whole.take(np.argsort(whole.at_ns, kind="stable")))


def from_zero(batches: Iterator[Batch]) -> Iterator[Batch]:
    """The same with times that count from the first record, as uint64."""
    origin: int | None = None
    for batch in batches:
        if origin is None:
            origin = int(batch.at_ns[0])
        # Wraps around where an int64 would not hold the distance, and is right in a uint64.
        at = batch.at_ns.astype(np.uint64) - np.uint64(origin & (2**64 - 1))
        yield batch.replace(at_ns=at)


def signed(batches: Iterable[Batch]) -> Iterator[Batch]:
    """The same, whose times fit an int64; UsageError if they do not."""
    for batch in batches:
        if len(batch) and int(batch.at_ns[-1]) >= 1 << 63:
            raise UsageError(
                "the first and the last request are more than 292 years apart; one of their times"
                " must be wrong"
            )
        yield batch


# Records of one time that are spread together.
_SPREAD_MOST = 1 << 22


def spread(batches: Iterator[Batch], resolution_ns: int, faults: Faults) -> Iterator[Batch]:
    """Records in order whose times are multiples of @resolution_ns: those of one time evenly over
    the time up to the next."""
    held: list[Batch] = []
    rows = 0
    last_at_ns: int | None = None  # time of the record yielded last

    def evenly(batch: Batch) -> Batch:
        nonlocal last_at_ns
        at = batch.at_ns
        starts = np.flatnonzero(np.concatenate([[True], at[1:] != at[:-1]]))
        counts = np.diff(np.concatenate([starts, [len(at)]]))
        place = np.arange(len(at)) - np.repeat(starts, counts)
        at = at + place * resolution_ns // np.repeat(counts, counts)
        # More of one time than are spread together, or a time that is no multiple.
        at = np.maximum.accumulate(at if last_at_ns is None else np.maximum(at, last_at_ns))
        last_at_ns = int(at[-1])
        return batch.replace(at_ns=at)

    for batch in batches:
        held.append(batch)
        rows += len(batch)
        last = int(batch.at_ns[-1])
        # The next batch may have more records of the last timestamp.
        if int(held[0].at_ns[0]) == last and rows < _SPREAD_MOST:
            continue
        whole = concatenated(held)
        count = int(np.searchsorted(whole.at_ns, last)) or rows
        yield from pieces(evenly(whole.take(slice(0, count))))
        held, rows = ([whole.take(slice(count, rows))] if count < rows else []), rows - count
    if rows:
        yield from pieces(evenly(concatenated(held)))
    faults.note(
        f"times are multiples of {units.format_ns(resolution_ns)}; requests of one time are spread"
        " evenly over it"
    )
