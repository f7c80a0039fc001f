# SPDX-License-Identifier: GPL-2.0-or-later
"""The per-I/O log of a run: empties the kernel's buffers during the run and writes the file.

The kernel side has room for some tenths of a second only, so two threads share the work: the
reader does nothing but take records out of the kernel, and what the writer has not yet encoded
waits in memory, up to QUEUE_BYTES. Only when that is full does the reader wait, and then the
kernel side counts what finds no room as lost. Neither of them can hold up the run.
"""

from __future__ import annotations

import contextlib
import queue
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from spekctl.documents.result import Plan
from spekctl.documents.result_parts import LogResult
from spekctl.errors import SpekError, UsageError
from spekctl.kernel.gen.spek_records import LOG_RECORD_BYTES
from spekctl.kernel.records import RunInfo, RunState
from spekctl.log import buffer as log_buffer
from spekctl.log import file as log_file
from spekctl.log.buffer import Buffer
from spekctl.log.file import LogFullError, LogHeader, LogTarget, LogWriter, Names
from spekctl.log.place import FilePlace, Place

if TYPE_CHECKING:
    from spekctl.log.file import Block

MIN_BUFFER = 1024
MAX_BUFFER = 1 << 24
BLOCK_RECORDS = 1 << 16
QUEUE_BYTES = 256 << 20
# The reader looks so often that at so many I/Os per second and worker it finds the buffer half
# full; and no less often than every PAUSE_MAX_S.
PACE_IOPS = 2_000_000
PAUSE_MAX_S = 0.2


def default_buffer(workers: int) -> int:
    """Records of buffer per worker: a quarter of a million (12 MiB), less if they are many."""
    return max(1 << 16, min(1 << 18, (1 << 21) // workers))


def check_buffer(records: int) -> int:
    """Check the value of --log-buffer."""
    if not MIN_BUFFER <= records <= MAX_BUFFER:
        raise UsageError(
            f"--log-buffer must be between {MIN_BUFFER} and {MAX_BUFFER} records, not {records}"
        )
    return records


class IoLog:
    """A log, from a READY run to its end."""

    def __init__(
        self,
        place: Path | Place,
        buffer_records: int,
        names: Names | None = None,
        open_buffer: Callable[[RunInfo, int], Buffer] = log_buffer.open_buffer,
    ) -> None:
        """@open_buffer: opens the records of a worker of a run."""
        log_file.require()
        self._place = FilePlace(place) if isinstance(place, Path) else place
        self._names = names
        self._buffer_records = buffer_records
        # There can be no log without it.
        log_buffer.debugfs()
        self._open_buffer = open_buffer
        self._files: list[Buffer] = []
        self._writer: LogWriter | None = None
        self._blocks: queue.Queue[Block | None] = queue.Queue(
            QUEUE_BYTES // (BLOCK_RECORDS * LOG_RECORD_BYTES)
        )
        self._threads: list[threading.Thread] = []
        self._ending = threading.Event()
        # Why the log ended early, and when; set by the thread that failed, looked at by the others.
        self._trouble = ""
        self._failed_ns = 0
        self._useless = False
        self._told = False

    def start(self, info: RunInfo) -> None:
        """Open everything; a SpekError says why there can be no log."""
        if not info.log_dir:
            raise SpekError(
                "the kernel module has no log of this run; is spek.ko older than spekctl?"
            )
        with self._noting_failure():
            log_file.warm_up()
        for index in range(len(info.workers)):
            self._files.append(self._open_buffer(info, index))
        self._writer = LogWriter(self._place, self._names)
        self._threads = [
            threading.Thread(target=self._read, name="log-reader", daemon=True),
            threading.Thread(target=self._write, name="log-writer", daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    def trouble(self) -> str:
        """A sentence, once, if the log ended before the run; else empty."""
        if not self._trouble or self._told:
            return ""
        self._told = True
        return f"the log has ended, the run continues: {self._trouble}"

    def finish(self, plan: Plan, info: RunInfo, ios: int) -> LogResult:
        """Read what is left, finish the file, and compare it with the kernel's counters.

        @ios: I/Os of the run as its statistics have them."""
        writer = self._stop()
        if not self._useless:
            with self._noting_failure():
                writer.flush()
                writer.finish(self._header(plan, info, writer.records, ios))
        if self._useless:
            writer.discard()
        self._writer = None
        records = 0 if self._useless else writer.records
        text = self._text(info, records, ios)
        return LogResult(
            file="" if self._useless else self._place.name,
            bytes=0 if self._useless else writer.bytes,
            records=records,
            lost=max(0, ios - records),
            written=sum(worker.log_written for worker in info.workers),
            overrun=sum(worker.log_lost for worker in info.workers),
            buffer_records=self._buffer_records,
            complete=not text,
            text=text,
            failed_ns=self._failed_ns,
        )

    def close(self) -> None:
        """Release everything; a second call does nothing. Without finish() the log is discarded."""
        if self._writer is not None:
            self._stop().discard()
            self._writer = None
        self._close_files()

    def _stop(self) -> LogWriter:
        """End the threads after they have drained the buffers."""
        assert self._writer is not None
        self._ending.set()
        for thread in self._threads:
            thread.join()
        self._threads = []
        self._close_files()
        return self._writer

    def _close_files(self) -> None:
        for file in self._files:
            file.close()
        self._files = []

    @contextlib.contextmanager
    def _noting_failure(self) -> Iterator[None]:
        """A log that is full ends. One that cannot be written is of no use any more; whatever it
        is (disk, memory, pyarrow), it ends the log and not the run."""
        try:
            yield
        except LogFullError as error:
            self._fail(error.message)
        except Exception as error:
            self._useless = True
            reason = _reason_of(error)
            self._fail(f"{self._place.name} could not be written and was deleted ({reason})")

    def _fail(self, trouble: str) -> None:
        # The time of the first failure; the last thread to look at @_trouble tells the reason.
        self._failed_ns = self._failed_ns or time.monotonic_ns()
        self._trouble = trouble

    def _header(self, plan: Plan, info: RunInfo, records: int, ios: int) -> LogHeader:
        return LogHeader(
            workload=plan.workload.workload.name,
            streams=[stream.name for stream in plan.config.streams],
            operations=[stream.operation for stream in plan.config.streams],
            fua=[bool(stream.fua) for stream in plan.config.streams],
            asus=plan.config.asus,
            targets=[LogTarget(target.path, target.bytes) for target in plan.targets],
            seed=plan.config.seed,
            workers=len(info.workers),
            started_ns=info.started_ns,
            measure_ns=info.measure_ns,
            drain_ns=info.drain_ns,
            ended_ns=info.ended_ns,
            start_real_ns=info.start_real_ns,
            module_version=info.module_version,
            reason=info.reason,
            records=records,
            lost=max(0, ios - records),
            complete=not self._text(info, records, ios),
        )

    def _text(self, info: RunInfo, records: int, ios: int) -> str:
        """What is missing from the log; empty if it is complete."""
        written = sum(worker.log_written for worker in info.workers)
        overrun = sum(worker.log_lost for worker in info.workers)
        if self._trouble:
            return f"the log ended before the run: {self._trouble}"
        if info.state is not RunState.DONE:
            return "the log was closed before the run had ended"
        if records != written:
            return f"the kernel module wrote {written:,} records, and {records:,} were read"
        if ios != written + overrun:
            return (
                f"the statistics have {ios:,} I/Os, the log of {written + overrun:,}"
                f" ({overrun:,} lost)"
            )
        if overrun:
            return (
                f"{overrun:,} records were lost because the log buffer was full; a larger"
                " --log-buffer may help"
            )
        return ""

    # --- the reader's thread ---------------------------------------------------------------------

    def _read(self) -> None:
        pause_s = min(PAUSE_MAX_S, self._buffer_records / 2 / PACE_IOPS)
        filler = _Filler()
        try:
            ending = False
            while not (ending or self._trouble):
                # What is there when the run is over is all there will be: one more look.
                ending = self._ending.wait(pause_s)
                for block in filler.fill(self._files):
                    self._blocks.put(block)
            for block in filler.rest():
                self._blocks.put(block)
        except Exception as error:
            self._fail(f"reading the kernel's log buffer failed ({_reason_of(error)})")
        finally:
            self._blocks.put(None)

    # --- the writer's thread ---------------------------------------------------------------------

    def _write(self) -> None:
        assert self._writer is not None
        # To the end also after a failure: the reader must never wait for room in vain.
        while (block := self._blocks.get()) is not None:
            if self._trouble:
                continue
            with self._noting_failure():
                self._writer.add(block)


def _reason_of(error: Exception) -> str:
    """The cause of a failure in one sentence."""
    if isinstance(error, OSError):
        return log_file.reason_of(error)
    return str(error) if isinstance(error, SpekError) else f"{type(error).__name__}: {error}"


class _Filler:
    """Collects the records of many files into full blocks."""

    def __init__(self) -> None:
        self._type = log_file.record_type()
        self._new()

    def _new(self) -> None:
        import numpy as np

        raw = np.empty(BLOCK_RECORDS * LOG_RECORD_BYTES, np.uint8)
        self._block: Block = raw.view(self._type)
        self._bytes = raw.data
        self._used = 0

    def fill(self, files: Sequence[Buffer]) -> Iterator[Block]:
        """Yield full blocks until the files are empty."""
        for file in files:
            while got := file.readinto(self._bytes[self._used :]):
                if got % LOG_RECORD_BYTES:
                    raise SpekError(f"{got} bytes are not a whole number of records")
                self._used += got
                # A read that was not cut short by the end of the block has emptied the buffer.
                # To ask again would fetch the few records that came meanwhile, again and again.
                if self._used < len(self._bytes):
                    break
                yield from self.rest()

    def rest(self) -> Iterator[Block]:
        """The filled part of the block."""
        if self._used:
            block = self._block[: self._used // LOG_RECORD_BYTES]
            self._new()
            yield block
