# SPDX-License-Identifier: GPL-2.0
"""What the guest reports, a line of JSON each; nothing is computed there."""

from __future__ import annotations

from pathlib import Path

import msgspec


class Line(msgspec.Struct, frozen=True, tag_field="what", forbid_unknown_fields=True):
    """Base of all lines."""


class Environment(Line, frozen=True, tag="environment"):
    """Where it was measured.

    @inline_completions: null_blk completed within the submission: no softirq ran for a read
    """

    release: str
    clocksource: str
    scheduler: str
    nomerges: str
    wbt_lat_usec: str
    cpus: int
    inline_completions: bool
    fio: str


class Time(Line, frozen=True, tag="time"):
    """One run: @ns of guest time, that is instructions, for @count I/Os.

    @elapsed_ns: the time that passed, idle or not; 0 if not known
    @response_ns: mean response time by the load generator's own account; 0 if not known
    """

    point: str
    number: int
    count: int
    ns: int
    elapsed_ns: int
    response_ns: float = 0.0


class Counts(Line, frozen=True, tag="counts"):
    """One run: context switches and system calls of the whole guest."""

    point: str
    count: int
    switches: int
    syscalls: int


class Idle(Line, frozen=True, tag="idle"):
    """The floor's requests before spek was loaded, like Time."""

    number: int
    count: int
    ns: int


class Sampling(Line, frozen=True, tag="sampling"):
    """The floor's requests with and without the prober beside them.

    @interval_ns: between two samples
    @alone_ns: time of the run alone
    @sampled_ns: time of the same run with the prober
    @inside_ns: mean cost of a sample as the prober measures it itself
    """

    number: int
    interval_ns: int
    alone_ns: int
    sampled_ns: int
    inside_ns: float


class OpenLoop(Line, frozen=True, tag="open-loop"):
    """An open loop: how late I/Os were issued, and what that took.

    @worker_ns: CPU time of the worker's thread
    @busy_ns: time in which the CPU was not idle
    """

    law: str
    iops: int
    spin_ns: int
    ios: int
    elapsed_ns: int
    worker_ns: int
    busy_ns: int
    switches: int
    slip_p50_ns: int
    slip_p99_ns: int
    slip_max_ns: int


class Scaling(Line, frozen=True, tag="scaling"):
    """Throughput of one worker, then of two, by a real clock, not the instruction count."""

    number: int
    one_iops: float
    two_iops: float


class Kicks(Line, frozen=True, tag="kicks"):
    """Notifications of a device in a run of @count I/Os."""

    disk: str
    row: str
    count: int
    kicks: int


class Restart(Line, frozen=True, tag="restart"):
    """A cache after a power cut, all of whose blocks were to be written back.

    @ns: time that the CPU was not idle, until the first read was served
    @elapsed_ns: the time that passed
    """

    disk: str
    blocks: int
    ns: int
    elapsed_ns: int


class Done(Line, frozen=True, tag="done"):
    """The last line of a measurement that is complete."""


AnyLine = (
    Environment | Time | Counts | Idle | Sampling | OpenLoop | Scaling | Kicks | Restart | Done
)


def read(path: Path) -> list[AnyLine]:
    """All lines of a file; one that is cut off, by the end of the guest, is left out."""
    data = path.read_bytes()
    whole = data[: data.rfind(b"\n") + 1]
    return [msgspec.json.decode(line, type=AnyLine) for line in whole.splitlines()]
