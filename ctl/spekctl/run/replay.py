# SPDX-License-Identifier: GPL-2.0-or-later
"""A trace that is replayed: the records for each worker, and the thread that feeds the run.

The thread has a netlink socket of its own. The kernel has room for RING_RECORDS per worker, so
memory does not grow with the trace.
"""

from __future__ import annotations

import errno as errno_names
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from spekctl import recorded
from spekctl.documents.result_parts import ReplayResult
from spekctl.errors import SpekError
from spekctl.kernel import traces
from spekctl.kernel.records import RunInfo
from spekctl.kernel.traces import BATCH, TraceFeed
from spekctl.trace.columns import Array, Batch, Op
from spekctl.trace.schedule import Block, Pace, Schedule
from spekctl.trace.sharing import Sharing
from spekctl.trace.trace import Trace
from spekctl.workload.values import Share

RING_RECORDS = 1 << 16
# While all rings are full. One holds 65 ms of a million records per second.
PAUSE_S = 0.02
RECORD = np.dtype(list(traces.RECORD))
Records = np.ndarray[tuple[int], np.dtype[np.void]]
# Records that are made ready together: enough that the calls of numpy cost little, and few enough
# that a column stays in the cache, and in memory that malloc() has at hand.
BLOCK = 8 * BATCH
LONGEST = np.uint64(2**32 - 1)  # bytes of a record in the kernel


@dataclass(slots=True)
class LeftOut:
    """Records that the kernel cannot replay, counted by why."""

    # Operations without a stream, and why.
    without: dict[Op, str]
    counts: dict[str, int] = field(default_factory=dict)

    def __call__(self, batch: Batch) -> Array:
        """Which of the records these are; counts them."""
        has_stream = np.ones(256, bool)
        has_stream[[int(op) for op in self.without]] = False
        wrong: Array = ~has_stream[batch.op]
        if wrong.any():
            for op, why in self.without.items():
                self._count(why, int(np.count_nonzero(batch.op == int(op))))
        huge = batch.bytes > LONGEST
        if huge.any():
            huge &= ~wrong
            self._count("discard of 4 GiB or more", int(huge.sum()))
            wrong |= huge
        return wrong

    def _count(self, why: str, count: int) -> None:
        if count:
            self.counts[why] = self.counts.get(why, 0) + count


@dataclass(slots=True)
class Replay:
    """A trace on devices, ready to be fed."""

    trace: Trace
    schedule: Schedule
    map: str
    records: int
    workers: int
    sharing: Sharing
    share: Share
    left_out: LeftOut
    # Asu of the first device; those of the others follow it.
    first_asu: int = 0
    split: bool = False  # it is a part of the trace, whose other parts other machines replay

    def parts(self) -> Iterator[list[Records]]:
        """The records of each worker, in their order."""
        for block in self.schedule.blocks(BLOCK):
            kept = _records(block, self.first_asu)
            if self.workers == 1:
                yield [kept]
                continue
            worker = self.sharing.workers(block)
            yield [kept[worker == index] for index in range(self.workers)]


def _records(block: Block, first_asu: int) -> Records:
    """Records as the kernel has them."""
    records: Records = np.empty(len(block), RECORD)
    records["at_ns"], records["addr"], records["bytes"] = (
        block.at_ns,
        block.offset_bytes,
        block.bytes,
    )
    records["asu"], records["op"], records["flags"] = block.target + first_asu, block.op, 0
    if block.flags.any():
        records["flags"] = np.where(block.op == int(Op.WRITE), block.flags, 0)
    flushes = block.op == int(Op.FLUSH)
    if flushes.any():
        records["addr"][flushes] = records["bytes"][flushes] = 0
    return records


# --- feeding -------------------------------------------------------------------------------------


class Feeder:
    """Feeds a run in a thread, from READY until its trace or the run has ended."""

    def __init__(self, replay: Replay, run: int) -> None:
        self.fed = 0
        self._replay = replay
        self._run = run
        self._trouble = ""
        self._ready = threading.Event()
        self._stop = threading.Event()
        # Here, so that its failure is the caller's.
        self._link: TraceFeed = traces.connect()
        self._thread = threading.Thread(target=self._work, name="spekctl-feeder", daemon=True)
        self._thread.start()

    def wait_ready(self, timeout_s: float) -> bool:
        """Whether there is enough to start with: a ring is full, or the trace is fed."""
        return self._ready.wait(timeout_s)

    def trouble(self) -> str:
        """Why feeding ended before the trace did; empty if it did not."""
        return self._trouble

    def close(self) -> None:
        """End feeding. A run whose trace has not ended ends."""
        self._stop.set()
        self._thread.join()
        self._link.close()

    def _work(self) -> None:
        try:
            self._feed()
        except SpekError as error:
            # The run has ended, by time or by a request, or is gone.
            if error.errno not in (errno_names.EBUSY, errno_names.ENOENT):
                self._trouble = f"feeding the trace ended: {error.message}"
        except Exception as error:
            self._trouble = f"feeding the trace ended: {error}"
        finally:
            if not self._stop.is_set():
                # Tell the kernel now that nothing more comes, unless it knows that.
                self._link.close()
            self._ready.set()

    def _feed(self) -> None:
        for parts in self._replay.parts():
            left = {index: part for index, part in enumerate(parts) if len(part)}
            while left:
                if self._stop.is_set():
                    return
                has_room = False
                for worker, part in list(left.items()):
                    message = part[:BATCH]
                    taken = self._link.feed(self._run, worker, message.view(np.uint8).data)
                    self.fed += taken
                    has_room |= taken == len(message)
                    if taken == len(part):
                        del left[worker]
                    else:
                        left[worker] = part[taken:]
                if left and not has_room:
                    self._ready.set()
                    self._stop.wait(PAUSE_S)
        self._link.end(self._run, self.fed)


def result_of(replay: Replay, info: RunInfo, trouble: str) -> ReplayResult:
    """What a result says about the replay."""
    counts, adjusted, timing = info.replay, replay.schedule.adjusted, replay.schedule.timing
    assert counts is not None
    # A trace that is still written, or another file in its place: it is read again for feeding.
    reread = adjusted.given if counts.ended or adjusted.given > replay.records else None
    changed = reread is not None and reread != replay.records
    return ReplayResult(
        files=[recorded.text(str(part.source.path)) for part in replay.trace.parts],
        format=replay.trace.parts[0].format.name,
        pace=timing.pace.value,
        speed=float(timing.speed) if timing.pace is Pace.ORIGINAL else None,
        rate=float(timing.rate) if timing.pace is Pace.RATE else None,
        depth=timing.depth if timing.pace is Pace.CLOSED else None,
        map=replay.map,
        records=replay.records,
        fed=counts.fed,
        issued=counts.issued,
        complete=bool(counts.ended) and counts.issued == counts.fed and not changed,
        skipped={
            **replay.left_out.counts,
            **({"of no bytes": adjusted.empty} if adjusted.empty else {}),
            **({"beyond the device": adjusted.beyond} if adjusted.beyond else {}),
        },
        shifted=adjusted.shifted,
        grown=adjusted.grown,
        bad=replay.trace.faults.bad,
        unordered=replay.trace.faults.unordered,
        underruns=counts.underruns,
        underrun_ns=counts.underrun_ns,
        underrun_first_ns=counts.underrun_first_ns,
        underrun_last_ns=counts.underrun_last_ns,
        dry_ns=counts.dry_ns,
        text=trouble,
        think=timing.think,
        share=replay.share,
        max_idle_ns=timing.max_idle_ns,
        idles=adjusted.idles,
        idle_ns=adjusted.idle_ns,
        split=replay.split,
        lost=replay.trace.faults.lost,
        reread=reread if changed else None,
    )
