# SPDX-License-Identifier: GPL-2.0-or-later
"""DCsE in normal operation: what disks did and what they took, from samples of the prober.

A sample counts where the power of every rail is known for 95 % of its time. Power is the mean over
the known time, as the prober integrates it. Workload and throughput relate all I/Os and bytes of a
span to its mean power, times without I/O included; the idle power is that of the samples in which
none of the disks had any request, in flight or completed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from spekctl import units
from spekctl.documents.dcse import DECIMALS, Inputs
from spekctl.documents.energy import DcseSpan
from spekctl.documents.exact import decimal_text, figure, measured_number
from spekctl.documents.power import MOST_UNKNOWN
from spekctl.documents.prober import ProberReport
from spekctl.documents.result_parts import ProberTable
from spekctl.errors import UsageError
from spekctl.suggest import did_you_mean

SECOND = 10**9
MINUTE, HOUR = 60 * SECOND, 3600 * SECOND
# Lengths of a span; the shortest of them that gives at most SPANS, else days.
LENGTHS = (MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR, 6 * HOUR)
DAY = 24 * HOUR
SPANS = 48
SPANS_MAX = 10_000


@dataclass(frozen=True, slots=True)
class Sample:
    """The disks together, and each rail, between two rows of the prober."""

    start_ns: int
    end_ns: int
    ios: int
    bytes: int
    energy_nj: tuple[int, ...]
    known_ns: tuple[int, ...]
    is_idle: bool  # none of the disks had a request in it

    @property
    def is_known(self) -> bool:
        """Whether the power of every rail is, for all but a small share of the sample."""
        least_ns = (self.end_ns - self.start_ns) * (1 - MOST_UNKNOWN)
        return min(self.known_ns) >= max(1.0, least_ns)


@dataclass(frozen=True, slots=True)
class Operation:
    """What was chosen of a document, as samples."""

    disks: tuple[str, ...]
    rails: tuple[str, ...]
    samples: Sequence[Sample]


def operation_of(report: ProberReport, disks: Sequence[str], rails: Sequence[str]) -> Operation:
    """The samples of @disks and @rails; empty: the only disk that had I/O, and all rails.

    Raises UsageError for names that the document has not, and where the choice is the user's.
    """
    tables = {table.name: table for table in report.tables}
    known_disks = _entities(tables, "disk")
    known_rails = _entities(tables, "power")
    _check(disks, known_disks, "--disk", "disk")
    _check(rails, known_rails, "--rail", "rail")
    if not rails and not known_rails:
        raise UsageError(
            "the samples have no power: start spek-daq before the prober, whose table is 'power'"
        )
    mine = tuple(disks) or (_only_busy(tables, known_disks),)
    metered = tuple(rails) or tuple(known_rails)
    counts = [_columns(tables[f"disk {name}"], _IOS) for name in mine]
    amounts = [_columns(tables[f"disk {name}"], _BYTES) for name in mine]
    energies = [_columns(tables[f"power {name}"], ("energy_nj",)) for name in metered]
    times = [_columns(tables[f"power {name}"], ("known_ns",)) for name in metered]
    lengths = [end - start for start, end in zip(report.start_ns, report.end_ns, strict=True)]
    active = [_active(tables[f"disk {name}"], lengths) for name in mine]
    samples = [
        Sample(
            start_ns,
            end_ns,
            sum(column[place] for column in counts),
            sum(column[place] for column in amounts),
            tuple(column[place] for column in energies),
            tuple(column[place] for column in times),
            not any(column[place] for column in active),
        )
        for place, (start_ns, end_ns) in enumerate(zip(report.start_ns, report.end_ns, strict=True))
    ]
    return Operation(mine, metered, samples)


_IOS = ("reads", "writes")
_BYTES = ("read_bytes", "write_bytes")
_REQUESTS = (*_IOS, "discards", "flushes")
_BUSY = "busy_time_ns"
# The busy time advances in ticks of the kernel, of 10 ms at most.
_TICK_NS = 10**7


def _entities(tables: Mapping[str, ProberTable], kind: str) -> list[str]:
    return [name.partition(" ")[2] for name in tables if name.startswith(f"{kind} ")]


def _check(names: Iterable[str], known: Sequence[str], option: str, what: str) -> None:
    for name in names:
        if name not in known:
            listed = f"they are {', '.join(known)}" if known else "there is none"
            hint = did_you_mean(name, known) or f"; {listed}"
            raise UsageError(f"{option}: the samples have no {what} '{name}'{hint}")


def _only_busy(tables: Mapping[str, ProberTable], disks: Sequence[str]) -> str:
    """The disk that had I/O; with several, which are metered is not known, and disks of md or dm
    count again what their members do."""
    busy = [name for name in disks if any(_columns(tables[f"disk {name}"], _IOS))]
    if len(busy) == 1:
        return busy[0]
    if not busy:
        raise UsageError("the samples have no disk that had any I/O")
    raise UsageError(
        f"{len(busy)} disks had I/O, {', '.join(busy)}: name those whose power the rails measure,"
        " with --disk for each"
    )


def _columns(table: ProberTable, names: Sequence[str]) -> list[int]:
    """The sum of these columns in each sample; a disk that is absent does nothing."""
    for name in names:
        if name not in table.columns:
            raise UsageError(f"the samples of {table.name} have no column '{name}'")
    places = [table.columns.index(name) for name in names]
    return [sum(row[place] or 0 for place in places) for row in table.rows]


def _active(table: ProberTable, lengths: Sequence[int]) -> list[bool]:
    """Whether a disk had a request in each sample, whose @lengths are in ns.

    Kernels before 6.10 add the time of a request in flight to the busy time when it completes. So
    what exceeds the sample's length was spent in the samples before.
    """
    active = [count > 0 for count in _columns(table, [n for n in _REQUESTS if n in table.columns])]
    if _BUSY not in table.columns:
        return active
    for place, busy_ns in enumerate(_columns(table, (_BUSY,))):
        active[place] |= busy_ns > 0
        left_ns = busy_ns - lengths[place] - _TICK_NS
        before = place - 1
        while left_ns > 0 and before >= 0:
            active[before] = True
            left_ns -= lengths[before]
            before -= 1
    return active


# --- figures -------------------------------------------------------------------------------------


def inputs_of(operation: Operation, gigabytes: Fraction | None) -> tuple[Inputs, list[str]]:
    """All samples as the numbers of DCsE, and remarks on what they leave out."""
    known = [sample for sample in operation.samples if sample.is_known]
    if not known:
        raise UsageError("the power of the rails is not known in any sample")
    remarks = []
    if unknown := len(operation.samples) - len(known):
        remarks.append(
            f"{unknown:,} of {len(operation.samples):,} samples are left out: the power of a rail"
            f" is unknown for more than {MOST_UNKNOWN:.0%} of each"
        )
    idle = [sample for sample in known if sample.is_idle]
    if gigabytes is not None and not idle:
        remarks.append("no sample is without I/O, so that the idle power is not known")
    idle_watts, load_watts = _watts(idle), _watts(known)
    if idle_watts is not None and load_watts is not None and idle_watts > load_watts:
        remarks.append(
            f"idle power, {float(idle_watts):g} W, is above the mean power,"
            f" {float(load_watts):g} W: check that the rails measure these disks"
        )
    return (
        Inputs(
            gigabytes=gigabytes,
            idle_watts=_positive(idle_watts, "the idle power", remarks),
            load_watts=_positive(load_watts, "the mean power", remarks),
            iops=_rate(known, lambda sample: sample.ios),
            megabytes_per_s=_rate(known, lambda sample: sample.bytes, 10**6),
        ),
        remarks,
    )


def _positive(watts: Fraction | None, what: str, remarks: list[str]) -> Fraction | None:
    """Power that figures can be related to; else None, and a remark."""
    if watts is None or watts > 0:
        return watts
    remarks.append(
        f"{what} is {float(watts):g} W, and gives no figure: it must be more than 0; check the"
        " calibration of the rails"
    )
    return None


def _watts(samples: Sequence[Sample]) -> Fraction | None:
    """The mean power of all rails together."""
    if not samples:
        return None
    energies = map(sum, zip(*(sample.energy_nj for sample in samples), strict=True))
    times = map(sum, zip(*(sample.known_ns for sample in samples), strict=True))
    return _measured(sum(Fraction(*pair) for pair in zip(energies, times, strict=True)))


def _rate(
    samples: Sequence[Sample], amount: Callable[[Sample], int], scale: int = 1
) -> Fraction | None:
    length_ns = sum(sample.end_ns - sample.start_ns for sample in samples)
    total = sum(map(amount, samples))
    return _measured(Fraction(total * SECOND, length_ns * scale)) if length_ns else None


def _measured(value: Fraction | int) -> Fraction:
    """A measured number as reports write it."""
    return measured_number(float(value))


# --- over time -----------------------------------------------------------------------------------


def length_of_spans(operation: Operation, wanted_ns: int | None) -> int:
    """How long each span is; UsageError if that makes too many."""
    first, last = operation.samples[0].start_ns, operation.samples[-1].end_ns
    if wanted_ns is not None:
        if (last - first) // wanted_ns > SPANS_MAX:
            raise UsageError(
                f"--every {units.format_duration(wanted_ns)} makes more than {SPANS_MAX:,} spans"
            )
        return wanted_ns
    return next((length for length in LENGTHS if last - first <= SPANS * length), DAY)


def over_time(operation: Operation, length_ns: int, real_offset_ns: int) -> list[DcseSpan]:
    """Figures of each span from the first sample on; a sample is in the span where it starts.

    @real_offset_ns: CLOCK_REALTIME less CLOCK_MONOTONIC
    """
    first = operation.samples[0].start_ns
    parts: dict[int, list[Sample]] = {}
    for sample in operation.samples:
        parts.setdefault((sample.start_ns - first) // length_ns, []).append(sample)
    return [_span(samples, real_offset_ns) for _, samples in sorted(parts.items())]


def course_of(report: ProberReport) -> tuple[Operation, list[DcseSpan]] | None:
    """The only disk that had I/O, by all rails, over time; None if the samples have no power.
    UsageError where the choice is the user's."""
    if not report.start_ns or not any(table.name.startswith("power ") for table in report.tables):
        return None
    operation = operation_of(report, (), ())
    clocks = report.probe.started
    offset_ns = clocks.realtime_ns - clocks.monotonic_ns
    return operation, over_time(operation, length_of_spans(operation, None), offset_ns)


def _span(samples: Sequence[Sample], real_offset_ns: int) -> DcseSpan:
    known = [sample for sample in samples if sample.is_known]
    whole_ns = sum(sample.end_ns - sample.start_ns for sample in samples)
    known_ns = sum(min(sample.known_ns) for sample in known)
    watts = _watts(known)
    iops = _rate(known, lambda sample: sample.ios)
    megabytes = _rate(known, lambda sample: sample.bytes, 10**6)
    divisor = watts if watts is not None and watts > 0 else None
    return DcseSpan(
        start_real_ns=samples[0].start_ns + real_offset_ns,
        length_s=(samples[-1].end_ns - samples[0].start_ns) / 1e9,
        known_share=min(1.0, known_ns / whole_ns) if whole_ns else 0.0,
        watts=decimal_text(watts) if watts is not None else None,
        iops=decimal_text(iops) if iops is not None else None,
        megabytes_per_s=decimal_text(megabytes) if megabytes is not None else None,
        iops_per_watt=(figure(iops / divisor, DECIMALS) if divisor and iops is not None else None),
        mb_per_s_per_watt=(
            figure(megabytes / divisor, DECIMALS) if divisor and megabytes is not None else None
        ),
    )
