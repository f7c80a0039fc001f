# SPDX-License-Identifier: GPL-2.0-or-later
"""What a result consists of: counts and times, power, the prober, targets, workers, and the end.

Integers are exact and in the units of their names. Derived values (rates, percentiles, means) are
added for convenience and can be recomputed.
"""

from collections.abc import Iterable, Sequence
from typing import Annotated

import msgspec
from msgspec import Meta

from spekctl.documents.device import DiskCounters, TargetFacts
from spekctl.documents.document import Part
from spekctl.documents.steady import Criteria, Window
from spekctl.documents.times import Buckets, Distribution, Times
from spekctl.kernel.records import (
    Backend,
    Direction,
    FeedState,
    IntervalRow,
    Phase,
    Reason,
    RunState,
)
from spekctl.workload.config import RunConfig


class InFlight(Part, frozen=True):
    """I/Os that arrived in the measure phase, left the backlog, and were outstanding at its end.

    They are counted in the drain, so the percentiles of the measure phase lack them: if they are
    many or old, the true percentiles are higher. Arrivals still in the backlog are not included.
    """

    count: int
    response_age: Annotated[
        Distribution | None,
        Meta(description="End of the measure phase minus intended arrival; null: none in flight."),
    ] = None
    service_age: Annotated[
        Distribution | None,
        Meta(
            description="End of the measure phase minus issue; 0 for I/Os that were due before the"
            " end and issued later."
        ),
    ] = None


class Cell(Part, frozen=True):
    """One stream and direction in one phase. The ramp-up has no histograms."""

    phase: Phase
    stream: Annotated[int, Meta(description="Index in config.streams.")]
    name: str
    direction: Direction
    ios: int
    bytes: int
    requests: Annotated[int, Meta(description="Sent to devices for these I/Os.")]
    errors: int
    errors_by_cause: Annotated[dict[str, int], Meta(description="By errno name.")]
    times: Times
    in_flight: Annotated[
        InFlight | None, Meta(description="null: in ramp-up and drain, and in older results.")
    ] = None


class Total(Part, frozen=True):
    """Sum over streams in the measure phase."""

    ios: int
    bytes: int
    requests: int
    errors: int
    iops: float
    bytes_per_s: float
    mean_bytes: float
    times: Times
    in_flight: Annotated[
        InFlight | None, Meta(description="null: in results of versions that did not count them.")
    ] = None


class Totals(Part, frozen=True):
    """Sums over streams in the measure phase, by direction and in all."""

    read: Total
    write: Total
    all: Total


class PhaseResult(Part, frozen=True):
    """A phase: its time (CLOCK_MONOTONIC) and the I/Os that completed in it."""

    phase: Phase
    start_ns: int
    end_ns: int
    duration_ns: int
    ios: int
    bytes: int
    errors: int
    times: Annotated[
        Times | None,
        Meta(description="Of measure and drain; the ramp-up keeps none. Buckets: in the cells."),
    ] = None


class RailPower(Part, frozen=True):
    """A power rail, or all of them together, over a time; null: nothing is known."""

    name: Annotated[str, Meta(description="feed/rail where there are several feeds.")]
    joules: Annotated[float, Meta(description="Energy in the time in which power is known.")]
    mean_w: float | None
    min_w: Annotated[
        float | None, Meta(description="Of several rails: the sum, which is a lower bound.")
    ]
    max_w: Annotated[
        float | None, Meta(description="Of several rails: the sum, which is an upper bound.")
    ]
    known_s: Annotated[float, Meta(description="Of several rails: of the one with the least.")]
    gap_s: Annotated[
        float,
        Meta(description="Time in which power is unknown. Of several rails: the longest."),
    ]
    samples: int
    feed: str = ""
    lsb_w: Annotated[float, Meta(description="Resolution of the measurement; 0: unknown.")] = 0.0
    energy_fj: Annotated[
        int | None,
        Meta(
            description="joules as a whole number of fJ, of which sums are exact; null: only joules"
            " are known."
        ),
    ] = None


class Efficiency(Part, frozen=True):
    """Work per watt, and power per work."""

    watts: Annotated[float, Meta(description="Mean of all rails, less the baseline.")]
    iops_per_w: float
    mw_per_iops: float
    mib_s_per_w: float
    j_per_gib: float


class IntervalPower(Part, frozen=True):
    """Power over an interval or a phase."""

    rails: list[RailPower]
    total: RailPower
    efficiency: Annotated[
        Efficiency | None, Meta(description="null: no load, or no power above the baseline.")
    ] = None


class Interval(IntervalRow, frozen=True):
    """One report interval."""

    power: Annotated[IntervalPower | None, Meta(description="null: not measured.")] = None


class ServiceTimes(Part, frozen=True):
    """Service times of an operation and direction in a slice."""

    operation: Annotated[str, Meta(description="Operation, as in config.streams.")]
    direction: Direction
    service: Buckets


class Slice(Part, frozen=True):
    """I/Os of one or more intervals of the measure phase. Workers that were ahead of others at its
    end may have counted some of the next one into it; none is lost or counted twice."""

    start_ns: int
    end_ns: int
    response: Annotated[
        Buckets, Meta(description="Response times of both directions, 4 buckets per power of two.")
    ]
    service: Annotated[
        list[ServiceTimes] | None,
        Meta(
            description="Service times by operation and direction, 64 buckets per power of two;"
            " null: --fio-logs was not given."
        ),
    ] = None


class Clocks(Part, frozen=True):
    """The clocks, read together."""

    monotonic_ns: int
    monotonic_raw_ns: int
    realtime_ns: int


class TargetResult(Part, frozen=True):
    """A target, its submission path, and the I/O sent to it in all phases."""

    facts: TargetFacts
    backend: Backend
    backend_reason: str
    polled: bool
    max_io_bytes: Annotated[int, Meta(description="Larger I/Os went out in parts.")]
    reads: int
    read_bytes: int
    writes: int
    write_bytes: int
    refused: Annotated[
        int, Meta(description="scsi: requests sent again, as the driver had no room for them.")
    ]
    disk: Annotated[
        DiskCounters | None,
        Meta(
            description="What the disk counted during the run; null if it does not count,"
            " as with back end scsi, or was not asked when the run ended."
        ),
    ]
    disk_agrees: Annotated[
        bool | None,
        Meta(
            description="The disk counted what spek sent, and in all the time that it can have"
            " taken; null if not known."
        ),
    ]
    tag_waits: Annotated[
        int,
        Meta(
            description="Requests that waited because all those of the device were in use: with mq"
            " and scsi, and with bio where it polls or the run has several targets; else bio does"
            " not tell."
        ),
    ] = 0
    discards: int = 0
    discard_bytes: int = 0
    flushes: int = 0
    zone_appends: Annotated[
        int, Meta(description="Zone appends, which are among the writes as well.")
    ] = 0
    zone_resets: Annotated[
        int,
        Meta(
            description="Resets of zones, also before a zone is written again; like the other"
            " commands on zones they are among the writes, with no bytes."
        ),
    ] = 0
    zone_finishes: int = 0
    zone_opens: int = 0
    zone_closes: int = 0
    zone_misplaced: Annotated[
        int, Meta(description="Zone appends that the device placed elsewhere than expected.")
    ] = 0
    host: Annotated[str, Meta(description="In sums over hosts: whose it is; else empty.")] = ""

    @property
    def place(self) -> str:
        """The device, with its host if there are several."""
        return f"{self.host}:{self.facts.path}" if self.host else self.facts.path


class WorkerResult(Part, frozen=True):
    """A worker thread over the whole run."""

    cpu: int
    pid: int
    cpu_ns: int
    voluntary_switches: int
    involuntary_switches: int
    host: Annotated[str, Meta(description="In sums over hosts: whose it is; else empty.")] = ""


class Environment(Part, frozen=True):
    """The machine and the instrument."""

    hostname: str
    kernel: str
    kernel_version: str
    machine: str
    kernel_command_line: str
    boot_id: str
    taint: int
    module_version: str
    spekctl_version: str
    clocksource: str
    cpu_model: str
    cpus_online: str
    governors: Annotated[
        dict[str, str], Meta(description="CPU frequency governor -> CPUs that have it.")
    ]
    counts_instructions: Annotated[
        bool,
        Meta(
            description="A guest of `spekctl vm --icount`: all times are numbers of instructions."
        ),
    ] = False


class ProberTable(Part, frozen=True):
    """Differences of counters from sample to sample."""

    name: Annotated[
        str,
        Meta(
            description="machine: all CPUs; workers: the worker threads together; memory: levels"
            " are those at the end of each entry; net NAME and disk NAME: those with traffic."
        ),
    ]
    columns: Annotated[
        list[str], Meta(description="Times end in _ns, bytes in _bytes, all else are counts.")
    ]
    rows: Annotated[
        list[list[int | None]],
        Meta(description="One list for each entry of start_ns and end_ns; null: not available."),
    ]

    def __post_init__(self) -> None:
        if any(len(row) != len(self.columns) for row in self.rows):
            raise ValueError(f"a row of table {self.name} has not {len(self.columns)} cells")


def check_samples(
    start_ns: Sequence[int], end_ns: Sequence[int], tables: Iterable[ProberTable]
) -> None:
    """ValueError if samples have not one start, one end and one row of each table."""
    count = len(start_ns)
    if len(end_ns) != count:
        raise ValueError(f"start_ns has {count} entries and end_ns {len(end_ns)}")
    for table in tables:
        if len(table.rows) != count:
            raise ValueError(f"table {table.name} has {len(table.rows)} rows for {count} samples")


class ProberResult(Part, frozen=True):
    """The samples of spek_prober during the run."""

    module_version: str
    interval_ns: int
    samples: int
    dropped: Annotated[int, Meta(description="Samples overwritten before they were read.")]
    missed: Annotated[int, Meta(description="Ticks of the schedule without a sample.")]
    late_max_ns: Annotated[int, Meta(description="Largest delay of a sample after its tick.")]
    cost_mean_ns: Annotated[float, Meta(description="Mean time to take one sample.")]
    cost_max_ns: int
    start_ns: Annotated[list[int], Meta(description="CLOCK_MONOTONIC, start of each difference.")]
    end_ns: Annotated[list[int], Meta(description="CLOCK_MONOTONIC, end of each difference.")]
    tables: list[ProberTable]
    measure_ns: Annotated[
        int, Meta(description="Part of the measure phase that the sums below cover.")
    ]
    measure: Annotated[
        dict[str, dict[str, int]],
        Meta(description="Sums over samples inside the measure phase: table -> column -> sum."),
    ]
    measure_cpus: Annotated[
        dict[str, dict[str, int]],
        Meta(description="The same for each CPU: number -> column -> sum."),
    ]
    cpu_time_step_ns: Annotated[
        int,
        Meta(
            description="The kernel counts CPU time, except idle and iowait, in steps of its tick:"
            " a difference may be off by this much either way. 0: exact."
        ),
    ] = 0
    swap_bytes: Annotated[int | None, Meta(description="Size of all swap; null: not recorded.")] = (
        None
    )

    def __post_init__(self) -> None:
        check_samples(self.start_ns, self.end_ns, self.tables)


class FeedResult(Part, frozen=True):
    """A source of power samples, as it was at the end of the run."""

    id: int
    name: str
    source: str
    state: Annotated[FeedState, Meta(description="broken: its program went away.")]
    uncertainty_ns: Annotated[int, Meta(description="Largest error of its timestamps.")]
    drift_ppb: Annotated[int, Meta(description="Rate of its clock against CLOCK_MONOTONIC.")]
    residual_ns: Annotated[int, Meta(description="Largest deviation from that rate.")]
    overflows: int
    lost: Annotated[int, Meta(description="Samples that it knows to have lost.")]
    late: Annotated[int, Meta(description="Samples that came too late.")]


class PowerResult(Part, frozen=True):
    """Power during the measure phase."""

    feeds: list[FeedResult]
    baseline_w: Annotated[
        float,
        Meta(
            description="Subtracted before efficiency is computed; rails and total are as measured."
        ),
    ]
    measure: IntervalPower
    uncertainty_ns: Annotated[int, Meta(description="Largest of the feeds.")]
    shift_j: Annotated[
        float, Meta(description="Change of the energy if all timestamps are shifted by that.")
    ]
    uncertainty_j: Annotated[
        float,
        Meta(
            description="That, plus the resolution of every rail of which it is known, over its"
            " known time."
        ),
    ]


class LogResult(Part, frozen=True):
    """The per-I/O log."""

    file: Annotated[str, Meta(description="Empty if it could not be written.")]
    bytes: Annotated[int, Meta(description="Size of the file.")]
    records: Annotated[int, Meta(description="Records in the file.")]
    lost: Annotated[int, Meta(description="I/Os of the run that have no record in the file.")]
    written: Annotated[int, Meta(description="Records that the kernel side wrote.")]
    overrun: Annotated[
        int, Meta(description="I/Os whose records were lost because the buffer was full.")
    ]
    buffer_records: Annotated[int, Meta(description="Size of the buffer, per worker.")]
    complete: Annotated[
        bool, Meta(description="Every I/O of the run has its record, by all counts.")
    ]
    text: Annotated[str, Meta(description="Why it is not complete, as a sentence; else empty.")]
    failed_ns: Annotated[
        int,
        Meta(
            description="When nothing more could be written, CLOCK_MONOTONIC; 0: it always could."
        ),
    ] = 0


class ReplayResult(Part, frozen=True):
    """The replay of a trace."""

    files: list[str]
    format: Annotated[str, Meta(description="Format of the files.")]
    pace: Annotated[
        str, Meta(description="original, rate (equal gaps) or closed (depth I/Os outstanding).")
    ]
    speed: Annotated[float | None, Meta(description="original: times as fast as recorded.")]
    rate: Annotated[float | None, Meta(description="rate: requests per second.")]
    depth: Annotated[int | None, Meta(description="closed: I/Os outstanding.")]
    map: Annotated[str, Meta(description="How addresses were mapped onto the devices.")]
    records: Annotated[int, Meta(description="Records of the trace.")]
    fed: Annotated[int, Meta(description="Records that the kernel accepted.")]
    issued: Annotated[int, Meta(description="Records that were issued.")]
    complete: Annotated[bool, Meta(description="All records that were not skipped were issued.")]
    skipped: Annotated[dict[str, int], Meta(description="Records left out, by reason.")]
    shifted: Annotated[int, Meta(description="Records moved back from the end of a device to fit.")]
    grown: Annotated[int, Meta(description="Records grown to whole blocks of the device.")]
    bad: Annotated[int, Meta(description="Lines of the trace that could not be read.")]
    unordered: Annotated[int, Meta(description="Records that were out of order in the trace.")]
    underruns: Annotated[int, Meta(description="Times that a record was due and had not been fed.")]
    underrun_ns: Annotated[int, Meta(description="By how much those came too late, summed.")]
    underrun_first_ns: Annotated[
        int, Meta(description="Start of the first one, CLOCK_MONOTONIC; 0: none.")
    ]
    underrun_last_ns: Annotated[int, Meta(description="End of the last one, CLOCK_MONOTONIC.")]
    dry_ns: Annotated[
        int, Meta(description="How long the kernel had waited for records when the run ended.")
    ]
    text: Annotated[str, Meta(description="Why feeding ended early; empty: it did not.")]
    think: Annotated[
        bool,
        Meta(
            description="closed: each request waited, after the completion that made room for it,"
            " for the time since the request before it in the trace."
        ),
    ] = False
    share: Annotated[
        str,
        Meta(
            description="How several workers shared the trace: address (equal parts of it) or time"
            " (in turn)."
        ),
    ] = "address"
    max_idle_ns: Annotated[
        int,
        Meta(
            description="Limit of the time between successive records, as recorded, to which longer"
            " ones were cut; 0: none."
        ),
    ] = 0
    idles: Annotated[
        int,
        Meta(description="Idle times that were cut, before records that were read for feeding."),
    ] = 0
    idle_ns: Annotated[int, Meta(description="Time that was cut of these, as recorded.")] = 0
    split: Annotated[
        bool,
        Meta(
            description="Each host of a fleet replayed a part of the trace: it fed and issued"
            " records of its part, and all other counts are of the whole trace."
        ),
    ] = False
    lost: Annotated[
        int, Meta(description="I/Os that the trace, a per-I/O log or stored from one, lacks.")
    ] = 0
    reread: Annotated[
        int | None,
        Meta(
            description="Records of the trace when it was fed, if it had changed since `records`"
            " were counted; else null."
        ),
    ] = None

    @property
    def lacking(self) -> str:
        """Why it is not a replay of all that was recorded; empty if it is."""
        parts = []
        if self.bad:
            parts.append(f"{self.bad:,} records of the trace could not be read")
        if self.lost:
            parts.append(f"{self.lost:,} I/Os were lost while the trace was recorded")
        if self.reread is not None:
            parts.append(
                f"the trace has changed since it was checked: it had {self.records:,} records then,"
                f" and {self.reread:,} when it was fed"
            )
        return " and ".join(parts)


class Sense(Part, frozen=True):
    """Sense data of a failed SCSI command."""

    key: Annotated[int, Meta(description="Sense key.")]
    asc: Annotated[int, Meta(description="Additional sense code, 0 without one.")]
    ascq: Annotated[int, Meta(description="Its qualifier.")]
    deferred: Annotated[
        bool,
        Meta(description="The error belongs to an earlier command; this one was not executed."),
    ]
    text: Annotated[str, Meta(description="The same in words.")]


class SenseCount(Part, frozen=True):
    """Number of requests that failed with this sense data."""

    sense: Sense
    count: int


class EndingResult(Part, frozen=True):
    """What was to end the run before its time, and whether it did."""

    until: Annotated[str | None, Meta(description="--until; null: not given.")]
    criteria: Annotated[Criteria | None, Meta(description="Its limits.")]
    round_ns: Annotated[int, Meta(description="Length of a round: the report interval.")]
    steady: Annotated[bool | None, Meta(description="Reached; null: not asked for.")]
    rounds: Annotated[int, Meta(description="Rounds that were judged.")]
    windows: Annotated[
        list[Window],
        Meta(description="The last rounds of each metric: if reached, those that are steady."),
    ]
    stop_when: Annotated[list[str], Meta(description="Thresholds, each of which ends the run.")]
    stopped_by: Annotated[str, Meta(description="The threshold that did; empty: none.")]
    text: Annotated[str, Meta(description="What ended the run or was not reached; else empty.")]

    @property
    def ended(self) -> bool:
        """It ended the run."""
        return bool(self.steady or self.stopped_by)

    @property
    def missed(self) -> bool:
        """A threshold ended the run, or steady state was not reached."""
        return bool(self.stopped_by) or self.steady is False


# Of a run, in the documents that are made of results.
RunOk = Annotated[bool, Meta(description="The run completed without errors.")]
RunEnd = Annotated[str, Meta(description="How it ended, as a sentence.")]


class Outcome(Part, frozen=True):
    """How the run ended."""

    state: Annotated[
        RunState, Meta(description="done, unless the result was taken before the end.")
    ]
    reason: Reason
    text: Annotated[str, Meta(description="The reason as a sentence.")]
    ok: Annotated[bool, Meta(description="It completed, or reached steady state, without errors.")]
    errors: int
    first_error: str
    errors_by_cause: dict[str, int]
    outstanding: Annotated[int, Meta(description="I/Os that the devices still held.")]
    oldest_ns: Annotated[int, Meta(description="Age of the oldest of them.")]
    backlog: Annotated[int, Meta(description="Arrivals due and not issued at the end.")]
    backlog_max: Annotated[int, Meta(description="Largest backlog at the end of any interval.")]
    offered_iops: Annotated[
        float | None,
        Meta(
            description="Open loop: mean rate of arrivals while it was measured; null: closed loop."
        ),
    ]
    first_sense: Annotated[
        Sense | None, Meta(description="Back end scsi: sense data of the first failure.")
    ] = None
    senses: Annotated[
        list[SenseCount], Meta(description="Back end scsi: failed requests by sense data.")
    ] = msgspec.field(default_factory=list)
    sense_others: Annotated[
        int, Meta(description="Failed requests whose cause the kernel had no room for.")
    ] = 0
    arrival_ends_ns: Annotated[
        dict[str, int | None],
        Meta(
            description="Arrival processes with ends of their own: time from the start of the"
            " measure phase to the completion of the last of their I/Os; null: they had not ended."
            " Of several hosts: from the start of the first to the end of the last; null: one of"
            " them had not ended."
        ),
    ] = msgspec.field(default_factory=dict)


def check_streams(config: RunConfig, cells: Sequence[Cell]) -> None:
    """check_indices(), and cells refer to streams that are there."""
    check_indices(config)
    streams = len(config.streams)
    for number, cell in enumerate(cells):
        if not 0 <= cell.stream < streams:
            raise ValueError(
                f"cells[{number}].stream is {cell.stream}; config has {streams} streams"
            )


def check_indices(config: RunConfig) -> None:
    """Streams refer to address ranges and arrival processes that are there; else ValueError."""
    for number, stream in enumerate(config.streams):
        for name, index, there in (
            ("asu", stream.asu, len(config.asus)),
            ("arrival", stream.arrival, len(config.arrivals)),
        ):
            if not 0 <= index < there:
                raise ValueError(
                    f"config.streams[{number}].{name} is {index}; config has {there} {name}s"
                )
