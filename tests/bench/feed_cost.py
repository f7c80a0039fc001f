# SPDX-License-Identifier: GPL-2.0
"""How many records of a trace per second the feeder has ready: read, mapped, scheduled, packed and
encoded as messages, but not sent.

`PYTHONPATH=tests python -m bench.feed_cost` prints it, for a stored trace and for CSV. A time, of
this machine and of what else runs there: the CPU time of the process, the best of several passes.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import numpy as np
from lib.fakes.machine import disk

from spekctl.block import device
from spekctl.block.device import ROOTS, Device, Roots
from spekctl.kernel import traces
from spekctl.kernel.gen import spek
from spekctl.kernel.link import _encode
from spekctl.run import replay, replay_request
from spekctl.trace.columns import Batch
from spekctl.trace.schedule import Timing
from spekctl.trace.store import StoredWriter, TraceHeader
from spekctl.trace.trace import open_trace
from spekctl.workload.options import Options

RECORDS = 2_000_000
CSV_RECORDS = 500_000
PASSES = 3


def mixture(count: int) -> Batch:
    """Reads and writes of 4 to 64 KiB."""
    draw = np.random.default_rng(1)
    return Batch(
        np.cumsum(draw.integers(0, 10_000, count)).astype(np.uint64),
        np.zeros(count, np.uint32),
        (draw.integers(0, 1 << 17, count) * 4096).astype(np.uint64),
        (draw.integers(1, 17, count) * 4096).astype(np.uint64),
        draw.integers(0, 2, count).astype(np.uint8),
        np.zeros(count, np.uint8),
    )


def write_csv(path: Path, batch: Batch) -> None:
    """The batch as CSV."""
    table = np.column_stack([batch.at_ns, batch.offset_bytes, batch.bytes])
    words = np.where(batch.op == 0, "read", "write")
    with path.open("w") as out:
        out.write("at_ns,offset_bytes,bytes,op\n")
        out.writelines(
            f"{at},{offset},{size},{op}\n"
            for (at, offset, size), op in zip(table.tolist(), words.tolist(), strict=True)
        )


def write_stored(path: Path, batch: Batch) -> None:
    """The batch in the stored form."""
    writer = StoredWriter(path)
    writer.add(batch)
    header = TraceHeader(
        origins=[],
        devices=["disk"],
        records=writer.records,
        span_ns=writer.span_ns,
        bad=0,
        unordered=0,
    )
    writer.finish(header)


class Encoder:
    """Makes the messages, and accepts all records."""

    def feed(self, run: int, worker: int, records: bytes) -> int:
        """Encode a message."""
        message = spek.MESSAGES[spek.Cmd.TRACE_FEED]()
        message["cmd"], message["version"] = int(spek.Cmd.TRACE_FEED), spek.VERSION
        values = {"run": run, "worker": worker, "records": records}
        message["attrs"] = _encode(type(message), values)
        message.encode()
        return len(records) // replay.RECORD.itemsize


def per_second(path: Path) -> float:
    """Records per second of CPU time."""
    wishes = replay_request.Wishes(Timing.at_speed("2.5"), "as-is")
    options = Options(write=True)
    request = replay_request.build(open_trace([path]), wishes, ["/dev/fake0"], options)
    assert request.replay is not None
    encoder, count = Encoder(), 0
    start = time.process_time()
    for (part,) in request.replay.parts():
        assert len(part) <= traces.BATCH
        count += encoder.feed(1, 0, part.tobytes())
    return count / (time.process_time() - start)


def fake_disk(path: str, roots: Roots = ROOTS) -> Device:
    """A disk of 1 GiB."""
    return disk(path)


def main() -> None:
    """Print the figures."""
    device.find = fake_disk
    with tempfile.TemporaryDirectory() as scratch:
        stored, csv = Path(scratch, "stored.parquet"), Path(scratch, "io.csv")
        write_stored(stored, mixture(RECORDS))
        write_csv(csv, mixture(CSV_RECORDS))
        for name, path in (("stored trace", stored), ("CSV", csv)):
            best = max(per_second(path) for _ in range(PASSES))
            print(f"{name}: {best:,.0f} records/s")


if __name__ == "__main__":
    main()
