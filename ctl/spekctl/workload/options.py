# SPDX-License-Identifier: GPL-2.0-or-later
"""The options of a run that shape its load or say what is measured beside it, each declared once.

A declaration is a field of Options or of Measuring: its type, its default and its Option.
Everything else follows from it: the command line's option (commands/options.py), the field in the
form of the web page (web/form.py), and of Options also bounds and description of the key in a
workload's [run] table (model.py), which value counts (resolve.py), and the attribute of run-new
(kernel/client.py). A new option is a new field here, of Options among those beside which the help
pages of `run` and `sweep` shall list it. If the kernel gets it, resolve.py and, for traces,
run/replay_request.py put it into a field of that name of config.RunConfig; if a file may set it, it
is a key of model.RunDefaults.
"""

# ruff: noqa: RUF009 - _declare() makes a dataclasses.field

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import partial
from pathlib import Path
from typing import Any, Literal, get_args

from spekctl import units
from spekctl.errors import UsageError, at
from spekctl.workload.endings import METRICS, Steady, Threshold, parse_threshold, parse_until
from spekctl.workload.values import (
    BATCH_MAX,
    DEPTH_MAX,
    U32_MAX,
    WORKERS_MAX,
    Backend,
    Data,
    WalkStyle,
)


class Kind(Enum):
    """Notation of a value."""

    FLAG = "flag"
    WHOLE = "whole number"
    NUMBER = "number"
    DURATION = "duration"
    DURATION_WITH_UNIT = "duration with its unit"
    SIZE = "size"
    CPUS = "list of CPUs, or auto"
    CHOICE = "one of several words"
    UNTIL = "end of a run"
    THRESHOLDS = "thresholds, the option is repeatable"
    NAMES = "names, the option is repeatable"
    TEXT = "text"
    FILE = "name of a file to write"


# CPUs near the devices, chosen once the devices are known.
AUTO: Literal["auto"] = "auto"


def _cpu_list(text: str) -> list[int] | Literal["auto"]:
    return AUTO if text == AUTO else units.parse_cpu_list(text)


def _whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise UsageError(f"'{text}' is not a whole number") from None


def _number(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise UsageError(f"'{text}' is not a number")
    return number


# Reads the notation of a kind; of Kind.THRESHOLDS, one of them.
PARSERS: dict[Kind, Callable[[str], Any]] = {
    Kind.WHOLE: _whole,
    Kind.NUMBER: _number,
    Kind.DURATION: units.parse_duration_ns,
    Kind.DURATION_WITH_UNIT: partial(units.parse_duration_ns, bare_seconds=False),
    Kind.SIZE: units.parse_size,
    Kind.CPUS: _cpu_list,
    Kind.UNTIL: parse_until,
    Kind.THRESHOLDS: parse_threshold,
    Kind.TEXT: str,
    Kind.FILE: Path,
}


@dataclass(frozen=True, slots=True)
class Option:
    """Properties of an option besides its name, type and default."""

    kind: Kind
    help: str  # for the option and the key in a file
    more: str = ""  # of the option alone
    flag: str = ""  # without its dashes, where that is not the field's name
    metavar: str | None = None
    limits: tuple[int, int] | None = None
    choices: tuple[str, ...] = ()
    # Used if neither the command line nor the file sets a value; None: no value.
    fallback: Any = None
    shown: str = ""  # the fallback in words, where it has no single value
    key: str = ""  # in the [run] table of a workload
    attribute: str = ""  # of run-new
    # Those of the field, filled in by declared().
    name: str = ""
    default: Any = None

    @property
    def flag_text(self) -> str:
        """The command-line flag."""
        return "--" + (self.flag or self.name).replace("_", "-")

    @property
    def default_text(self) -> str:
        """The default in the user's notation; empty if there is none."""
        value = self.default if self.default is not None else self.fallback
        if self.shown or value is None or self.kind is Kind.FLAG:
            return self.shown
        if self.kind in (Kind.DURATION, Kind.DURATION_WITH_UNIT):
            return units.format_duration(value) if value != 60 * 10**9 else "60s"
        return units.format_bytes(value).replace(" ", "") if self.kind is Kind.SIZE else str(value)


def _declare(kind: Kind, help: str, *, default: Any = None, **more: Any) -> Any:
    return field(default=default, metadata={"option": Option(kind, help, **more)})


@dataclass(frozen=True, slots=True)
class Options:
    """The options that shape the load; None means not given."""

    bsu: int | None = _declare(
        Kind.WHOLE,
        "Load in BSUs, for a workload that scales by BSU (spc1).",
        metavar="N",
        limits=(1, U32_MAX),
    )
    rate: float | None = _declare(
        Kind.NUMBER,
        "Open loop: R I/Os per second in total, independent of completions. Arrivals are Poisson"
        " unless the workload says otherwise (constant, burst).",
        metavar="R",
    )
    depth: int | None = _declare(
        Kind.WHOLE,
        "Closed loop: N I/Os outstanding in total.",
        metavar="N",
        limits=(1, DEPTH_MAX),
    )
    time_ns: int | None = _declare(
        Kind.DURATION,
        "Length of the measure phase; with --count or --passes it ends at whichever comes first.",
        more="Units: 500ms, 60s, 5m, 2h; a bare number is seconds.",
        flag="time",
        fallback=60 * 10**9,
        key="time",
        attribute="time_ns",
    )
    count: int | None = _declare(
        Kind.WHOLE,
        "Measure exactly N I/Os, or fewer if --time ends the measure phase first.",
        metavar="N",
        limits=(1, units.U64_MAX),
        key="count",
        attribute="count",
    )
    passes: float | None = _declare(
        Kind.NUMBER,
        "Measure until the ranges of the streams have been passed N times, or until --time ends the"
        " measure phase: as many I/Os as have that many bytes. 0.5 is half a pass.",
        more="Sequential and strided streams and pattern once then have done every block of a pass"
        " once. With several streams or block sizes it is the I/Os of all together, on average."
        " At write pointers a pass writes the capacity of all zones, as if they were empty; the run"
        " reads it from the device after the claim, while --dry-run and show count whole zones."
        " With several block sizes, the I/Os fill a zone on average, so that the last zones may end"
        " a few writes short or begin again.",
        metavar="N",
        key="passes",
    )
    ramp_ns: int | None = _declare(
        Kind.DURATION,
        "Length of the ramp-up before the measure phase.",
        flag="ramp",
        key="ramp",
        attribute="ramp_ns",
    )
    ramp_count: int | None = _declare(
        Kind.WHOLE,
        "Ramp-up of N I/Os instead of a time.",
        metavar="N",
        limits=(0, units.U64_MAX),
        key="ramp_count",
        attribute="ramp_count",
    )
    workers: int | None = _declare(
        Kind.WHOLE,
        "Worker threads, one CPU each.",
        metavar="N",
        limits=(1, WORKERS_MAX),
        shown="1",
    )
    cpus: Sequence[int] | Literal["auto"] | None = _declare(
        Kind.CPUS,
        "CPUs for the workers, e.g. 0-3,8; one worker per listed CPU unless --workers is given."
        " auto chooses --workers CPUs near the devices: on their NUMA nodes, spread over their"
        " hardware queues and over cores; a remark in the result lists them with the reason.",
    )
    seed: int = _declare(
        Kind.WHOLE,
        "Random seed; the same seed, workload and number of workers give the same I/Os.",
        default=1,
        metavar="S",
        limits=(0, units.U64_MAX),
        attribute="seed",
    )
    write: bool = _declare(
        Kind.FLAG,
        "Allow writing; required by workloads that write.",
        default=False,
        attribute="write",
    )
    backend: Backend = _declare(
        Kind.CHOICE,
        "Submission path; auto chooses bio or mq, and the result states which and why. scsi sends"
        " READ(16) and WRITE(16) to a SCSI disk without retries, and decodes sense data.",
        default="auto",
        choices=get_args(Backend),
        attribute="backend",
    )
    polled: bool = _declare(
        Kind.FLAG,
        "Poll for completions; the device needs poll queues.",
        default=False,
        attribute="polled",
    )
    interval_ns: int | None = _declare(
        Kind.DURATION,
        "Report interval; 0 reports only at the end.",
        flag="interval",
        fallback=10**9,
        key="interval",
        attribute="interval_ns",
    )
    max_outstanding: int | None = _declare(
        Kind.WHOLE,
        "Maximum of outstanding I/Os; further arrivals wait and are counted as backlog.",
        metavar="N",
        limits=(1, DEPTH_MAX),
        shown="the depths of all closed loops, plus up to 1024 for open loops",
        key="max_outstanding",
        attribute="max_outstanding",
    )
    batch: int | None = _declare(
        Kind.WHOLE,
        "I/Os submitted per batch.",
        metavar="N",
        limits=(1, BATCH_MAX),
        shown="chosen by the module",
        key="batch",
        attribute="batch",
    )
    spin_ns: int = _declare(
        Kind.DURATION_WITH_UNIT,
        "Busy-wait during this time before an arrival, and for up to this time for a completion,"
        " instead of sleeping. More precise, at the cost of CPU time.",
        default=0,
        flag="spin",
        attribute="spin_ns",
    )
    max_errors: int = _declare(
        Kind.WHOLE,
        "End the run after N failed I/Os; 0: never.",
        default=0,
        metavar="N",
        limits=(0, units.U64_MAX),
        attribute="max_errors",
    )
    until: Steady | None = _declare(
        Kind.UNTIL,
        "End the run as soon as it is in steady state, as the SNIA PTS defines it: over the last 5"
        " report intervals, the range of the IOPS is within 20 % of their average, and their slope"
        " within 10 %; for loads that fix their IOPS (open loops, think times, limits, traces),"
        " those of the mean response time. steady:iops,latency,window=10,range=15%,slope=5% sets"
        " metrics and limits; --interval is the length of a round. Without steady state the run"
        " ends as it would otherwise, with exit code 7.",
        metavar="steady[:PART,...]",
    )
    stop_when: Sequence[Threshold] | None = _declare(
        Kind.THRESHOLDS,
        "End the run, with exit code 7, after a report interval of which this is true: 'p99 >"
        " 10ms', 'write.iops < 1000 and errors > 0'. Metrics: "
        + ", ".join(METRICS)
        + ". Repeatable: any of them ends the run.",
        metavar="CONDITION",
    )
    data: Data | None = _declare(
        Kind.CHOICE,
        "Data to write: zeros or incompressible random bytes.",
        choices=get_args(Data),
        fallback="zero",
        key="data",
        attribute="data",
    )
    verify: bool = _declare(
        Kind.FLAG,
        "Stamp every written block, check every read block, and read everything back at the end."
        " Uses 8 bytes of kernel memory per block. Overlapping I/Os wait for each other, so"
        " response times are not comparable.",
        default=False,
    )
    hrrw: WalkStyle | None = _declare(
        Kind.CHOICE,
        "Variant of the hierarchical random walk (HRRW).",
        choices=get_args(WalkStyle),
        shown="classic",
    )
    iops_per_bsu: int | None = _declare(
        Kind.WHOLE,
        "I/Os per second of one BSU.",
        metavar="N",
        limits=(1, U32_MAX),
        shown="50",
    )
    stripe_bytes: int = _declare(
        Kind.SIZE,
        "Stripe unit over several devices, a power of two.",
        default=64 << 10,
        flag="stripe",
    )
    # Not options: set by the program.
    detached: bool = False
    available_cpus: Sequence[int] = ()


@dataclass(frozen=True, slots=True)
class Measuring:
    """The options of what is measured beside the counters of a run; None means not given."""

    prober_ns: int = _declare(
        Kind.DURATION,
        "Sampling interval of spek_prober, if it is loaded.",
        default=10**9,
        flag="prober-interval",
    )
    no_prober: bool = _declare(
        Kind.FLAG,
        "Run without spek_prober (also disables power measurement).",
        default=False,
    )
    power_feeds: tuple[str, ...] = _declare(
        Kind.NAMES,
        "Measure power from this feed only; repeatable.",
        default=(),
        flag="power-feed",
        metavar="NAME",
        shown="all open feeds",
    )
    power_baseline: str | None = _declare(
        Kind.TEXT,
        "Subtract this baseline before computing efficiency: watts (12.5 or 800mW), or the mean"
        " power of a result file, e.g. of an idle run.",
        metavar="W",
    )
    power_states: str | None = _declare(
        Kind.TEXT,
        "Ask a disk for its power state when it has had no I/O for TIME, 100ms at least; of RAID"
        " and volumes, the disks below. By default NVMe and USB disks, which a command may wake,"
        " are asked before and after the run only. off asks none.",
        metavar="TIME",
        shown="5s",
    )
    heat_map: bool = _declare(
        Kind.FLAG,
        "Keep the distribution of response times over time in the result, for a heat map in its"
        " report. The controller reads the kernel's histograms after every report interval, at most"
        " four times a second; with many streams that costs CPU time.",
        default=False,
    )
    log: Path | None = _declare(
        Kind.FILE,
        "Log every I/O to FILE, in Parquet format; see `spekctl log`.",
        metavar="FILE",
    )
    log_buffer: int | None = _declare(
        Kind.WHOLE,
        "Size of the kernel's log buffer, in records of 48 bytes per worker.",
        metavar="N",
        shown="262144, fewer with many workers",
    )

    @property
    def sampling_ns(self) -> int | None:
        """Interval of the prober's samples; None to do without."""
        return None if self.no_prober else self.prober_ns


def declared(model: type[Any]) -> dict[str, Option]:
    """The options that are declared in @model, by the names of their fields."""
    return {
        field.name: dataclasses.replace(
            field.metadata["option"], name=field.name, default=field.default
        )
        for field in dataclasses.fields(model)
        if "option" in field.metadata
    }


OPTIONS = declared(Options)
MEASURING = declared(Measuring)


def flag_of(name: str) -> str:
    """The command-line flag of a field of Options."""
    return OPTIONS[name].flag_text


def setting(name: str, options: Options, run: object) -> Any:
    """The effective value: the option's, else that of the file's [run] table, else the fallback;
    None if there is none of them."""
    option = OPTIONS[name]
    given = getattr(options, name)
    if given is not None:
        return given
    written = getattr(run, option.key) if option.key else None
    if written is None:
        return option.fallback
    return units.parse_duration_ns(written) if option.kind is Kind.DURATION else written


def read(given: Mapping[str, object]) -> tuple[Options, Measuring]:
    """Options from texts by the names of their flags without dashes, as programs send them: true
    or false for a flag, a list of texts for one that is repeatable."""
    by_flag = {option.flag_text[2:]: option for option in (*OPTIONS.values(), *MEASURING.values())}
    values: dict[str, Any] = {}
    for flag, value in given.items():
        if flag not in by_flag:
            raise UsageError(f"there is no option --{flag}")
        option = by_flag[flag]
        with at(f"--{flag}"):
            values[option.name] = _value(option, value)
    load = {name: value for name, value in values.items() if name in OPTIONS}
    others = {name: value for name, value in values.items() if name in MEASURING}
    return Options(**load), Measuring(**others)


def written(
    given: Options, names: Collection[str] | None = None
) -> dict[str, str | bool | list[str]]:
    """What read() makes @given of again; only @names of them, or, without that, those that differ
    from their defaults."""
    if names is None:
        names = [name for name, option in OPTIONS.items() if getattr(given, name) != option.default]
    return {
        option.flag_text[2:]: _text(option, getattr(given, name))
        for name, option in OPTIONS.items()
        if name in names
    }


def _text(option: Option, value: Any) -> str | bool | list[str]:
    match option.kind:
        case Kind.FLAG:
            return bool(value)
        case Kind.THRESHOLDS | Kind.NAMES:
            return [str(element) for element in value]
        case Kind.DURATION | Kind.DURATION_WITH_UNIT:
            return f"{value}ns"
        case Kind.CPUS:
            return value if value == AUTO else ",".join(map(str, value))
    return str(value)


def _value(option: Option, value: object) -> Any:
    if option.kind is Kind.FLAG:
        if not isinstance(value, bool):
            raise UsageError("it is true or false")
        return value
    if option.kind in (Kind.THRESHOLDS, Kind.NAMES):
        if not isinstance(value, list) or not all(isinstance(element, str) for element in value):
            raise UsageError("it is a list of texts")
        if option.kind is Kind.NAMES:
            return tuple(value)
        return [parse_threshold(text) for text in value] or None
    if not isinstance(value, str):
        raise UsageError("it is a text")
    if option.kind is Kind.CHOICE:
        if value not in option.choices:
            raise UsageError(f"'{value}' is none of {', '.join(option.choices)}")
        return value
    if option.kind is Kind.FILE and not value:
        raise UsageError("the name is empty")
    return PARSERS[option.kind](value)
