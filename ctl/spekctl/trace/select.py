# SPDX-License-Identifier: GPL-2.0-or-later
"""A part of a trace: by time, device, range of addresses, operation and number."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from spekctl.errors import UsageError
from spekctl.suggest import did_you_mean
from spekctl.trace.columns import OP_BY_TEXT, Array, Batch, Op
from spekctl.trace.order import from_zero
from spekctl.trace.trace import Trace


@dataclass(frozen=True, slots=True)
class Cut:
    """Selection of requests. A request that overlaps the range of addresses is kept whole."""

    start_ns: int = 0
    end_ns: int | None = None
    devices: tuple[str, ...] = ()
    start_bytes: int = 0
    end_bytes: int | None = None
    ops: tuple[str, ...] = ()
    count: int | None = None

    def check(self) -> None:
        """UsageError for an empty selection or an unknown operation."""
        if self.end_ns is not None and self.end_ns <= self.start_ns:
            raise UsageError("--end must be after --start")
        if self.end_bytes is not None and self.end_bytes <= self.start_bytes:
            raise UsageError("the end of --range must be after its start")
        if self.count is not None and self.count < 1:
            raise UsageError(f"--first must be at least 1, not {self.count}")
        for op in self.ops:
            if op not in OP_BY_TEXT:
                hint = did_you_mean(op, OP_BY_TEXT) or f"; there are {', '.join(OP_BY_TEXT)}"
                raise UsageError(f"there is no operation '{op}'{hint}")

    def of(self, trace: Trace) -> Iterator[Batch]:
        """The part of a trace, with times from its first record. UsageError at the end if a device
        was named that the trace does not have."""
        self.check()
        batches = trace.batches()
        yield from from_zero(self._kept(batches, trace))
        # A device may also be met first behind the part.
        while missing := [name for name in self.devices if name not in trace.devices.names]:
            if next(batches, None) is None:
                names = trace.devices.names
                shown = ", ".join(names[:20]) + (" ..." if len(names) > 20 else "") or "none"
                raise UsageError(f"the trace has no device '{missing[0]}'; it has {shown}")

    def _kept(self, batches: Iterator[Batch], trace: Trace) -> Iterator[Batch]:
        left = self.count
        for batch in batches:
            kept = batch.take(self._mask(batch, trace))
            if left is not None:
                kept = kept.take(slice(0, left))
                left -= len(kept)
            if len(kept):
                yield kept
            is_over = self.end_ns is not None and int(batch.at_ns[-1]) >= self.end_ns
            if left == 0 or is_over:
                return

    def _mask(self, batch: Batch, trace: Trace) -> Array:
        keep = batch.at_ns >= np.uint64(self.start_ns)
        if self.end_ns is not None:
            keep &= batch.at_ns < np.uint64(self.end_ns)
        if self.devices:
            names = trace.devices.names
            wanted = np.array([name in self.devices for name in names], bool)
            keep &= wanted[batch.device]
        if self.start_bytes or self.end_bytes is not None:
            # A request without an address is in no range.
            keep &= (batch.op != Op.FLUSH) & (batch.end_bytes > np.uint64(self.start_bytes))
        if self.end_bytes is not None:
            keep &= batch.offset_bytes < np.uint64(self.end_bytes)
        if self.ops:
            keep &= np.isin(batch.op, [int(OP_BY_TEXT[op]) for op in self.ops])
        return keep
