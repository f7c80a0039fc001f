# SPDX-License-Identifier: GPL-2.0
"""spek_prober.ko as the client of `spekctl prober` sees it: each look at it is a row later."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from itertools import pairwise

from spekctl.errors import error_from_errno
from spekctl.kernel.gen import spek_prober as uapi
from spekctl.kernel.gen.spek_prober_records import (
    ColumnInfo,
    PowerCounters,
    ProbeState,
    Reason,
    TableInfo,
    TaskCounters,
)
from spekctl.kernel.prober import Batch, CpuAndSwitches, Probe, Row, difference

SECOND = 10**9
START_NS = 5000 * SECOND
GIB = 1 << 30
MIB = 1 << 20
FIRST_NJ = 1 << 62  # as in prober/power.c
RAILS = ("psu/12V", "psu/5V")
LEVELS = {"memory": frozenset({"available_bytes", "swap_free_bytes"})}


def cpu(seq: int, busy: int = 250) -> CpuAndSwitches:
    """Counters of a CPU that is busy for so many per mille of each second."""
    values: dict[str, int | None] = dict.fromkeys(CpuAndSwitches.__dataclass_fields__, 0)
    values |= {
        "user_ns": seq * busy * SECOND // 1000,
        "idle_ns": seq * (1000 - busy) * SECOND // 1000,
        "interrupts": 700 * seq,
        "device_interrupts": 300 * seq,
        "softirqs": 400 * seq,
        "switches": 500 * seq,
    }
    return CpuAndSwitches(**values)


def row_of(seq: int, final: bool = False) -> Row:
    """Row @seq, one second after the one before it."""
    start = START_NS + seq * SECOND
    return Row(
        probe=4,
        seq=seq,
        tick=seq,
        due_ns=start,
        start_ns=start,
        end_ns=start + 1000,
        final=final,
        total=cpu(seq),
        cpus={0: cpu(seq)},
        tasks={77: TaskCounters(seq * SECOND // 2, seq * SECOND // 2, 0, seq, 0, 0)},
        power={
            uapi.TOTAL - 1: PowerCounters(FIRST_NJ + (seq * 12 - 5) * SECOND, seq * SECOND, 0),
            uapi.TOTAL - 2: PowerCounters(FIRST_NJ - seq * SECOND, seq * SECOND, 0),
        },
        others={
            "memory": {
                "total": {
                    "available_bytes": GIB - seq * MIB,
                    "swap_free_bytes": 3 * GIB,
                    "swapped_in_bytes": 0,
                    "swapped_out_bytes": seq * MIB,
                }
            },
            "net": {"eth0": {"rx_bytes": seq * 2 * MIB, "tx_bytes": seq * MIB}},
            "disk": {
                "sda": {
                    "reads": 10 * seq,
                    "read_bytes": seq * 4 * MIB,
                    "writes": 0,
                    "write_bytes": 0,
                    "busy_time_ns": seq * SECOND // 4,
                }
            },
        },
    )  # fmt: skip


@dataclass
class FakeProber:
    """One probe at most; a row is taken whenever somebody asks for samples."""

    probe: int = 0
    seq: int = -1
    state: ProbeState = ProbeState.IDLE
    detached: bool = False
    interval_ns: int = 0
    ring_rows: int = 0
    oldest: int = 0
    most: int = 1000
    busy: bool = False
    gone: bool = False
    power_is_late: bool = False
    left_out: dict[str, int] = field(default_factory=dict)
    calls: list[str] = field(default_factory=list)
    asked: list[int] = field(default_factory=list)  # first rows that were asked for

    def __enter__(self) -> FakeProber:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self.calls.append("close")

    def start(
        self, interval_ns: int, *, ring_rows: int | None = None, detached: bool = False
    ) -> int:
        self.calls.append(f"start {interval_ns} {ring_rows} {detached}")
        if self.busy:
            raise error_from_errno(16, "The prober is already sampling.", "probe-start")
        self.probe, self.state, self.detached = 4, ProbeState.RUNNING, detached
        self.interval_ns, self.ring_rows, self.seq = interval_ns, ring_rows or 4096, 0
        return 4

    def info(self) -> Probe:
        if self.state is ProbeState.IDLE:
            return Probe()
        done = self.state is ProbeState.DONE
        power = TableInfo(
            uapi.Table.POWER,
            "power",
            tuple(ColumnInfo(name) for name in ("energy-nj", "known-ns", "gap-ns")),
            struct.pack("=2I", uapi.TOTAL - 1, uapi.TOTAL - 2),
            RAILS,
        )
        memory = TableInfo(
            uapi.Table.MEMORY,
            "memory",
            tuple(ColumnInfo(name.replace("_", "-"), 1) for name in sorted(LEVELS["memory"])),
        )
        others = (TableInfo(9, name, left_out=nr) for name, nr in self.left_out.items())
        return Probe(
            id=self.probe,
            state=self.state,
            reason=Reason.STOPPED if done else Reason.NONE,
            interval_ns=self.interval_ns,
            ring_rows=self.ring_rows,
            detached=int(self.detached),
            owner_pid=77,
            owner_name="spekctl",
            started_ns=START_NS,
            ended_ns=START_NS + self.seq * SECOND if done else 0,
            rows=self.seq + 1,
            cost_sum_ns=1000 * (self.seq + 1),
            module_version="0.1.0",
            tables=(power, memory, *others),
        )

    def rows(self, probe: int, since: int = 0, *, hold: bool = False) -> tuple[list[Row], int]:
        assert probe == self.probe
        if self.gone:
            raise error_from_errno(2, "There is no such probe.", "sample-get")
        self.asked.append(since)
        if hold and self.power_is_late:
            return [], 0
        return [row_of(seq) for seq in range(max(since, self.oldest), self.seq + 1)], 0

    def samples(self, probe: int, after: Row | None = None, *, hold: bool = False) -> Batch:
        assert hold and probe == self.probe
        if self.state is ProbeState.RUNNING:
            self.seq += 1
            if self.seq >= self.most:
                self.state = ProbeState.DONE
        done = self.state is ProbeState.DONE
        wanted = 0 if after is None else after.seq + 1
        first = max(wanted, self.oldest)
        rows = [row_of(seq, done and seq == self.seq) for seq in range(first, self.seq + 1)]
        known = rows if after is None else [after, *rows]
        return Batch(
            tuple(difference(*pair, LEVELS) for pair in pairwise(known)),
            first - wanted,
            known[-1] if known else None,
        )

    def stop(self, probe: int) -> Probe:
        """Takes the last row, unless the probe has ended."""
        self.calls.append("stop")
        if self.state is ProbeState.RUNNING:
            self.seq += 1
        self.state = ProbeState.DONE
        return self.info()

    def delete(self, probe: int) -> None:
        self.calls.append("delete")
        self.state = ProbeState.IDLE
