# SPDX-License-Identifier: GPL-2.0-or-later
"""Sheets of results of runs, and the conditions that other documents share with them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import log10

import msgspec

from spekctl import units
from spekctl.documents import histogram
from spekctl.documents.device import TargetFacts
from spekctl.documents.hosts import CommonWindow
from spekctl.documents.per_host import clients, unpacked
from spekctl.documents.result import Result
from spekctl.documents.result_parts import Environment, Interval, Slice
from spekctl.documents.times import histogram_of
from spekctl.kernel.records import Histogram, IntervalCell, row_tells_rate, whole_ns
from spekctl.render import result as render
from spekctl.report import disk_states, machines, nvme, taint
from spekctl.report.sheet import (
    COLOUR_OF,
    COLOURS,
    Axis,
    Grid,
    HeatMap,
    Line,
    Plot,
    Quantity,
    Sheet,
    Strand,
    add_printed,
    plain_grid,
)
from spekctl.report.words import few
from spekctl.workload import own_devices

MIB = 1 << 20
TIME_AXIS = Axis("time since the start", quantity=Quantity.CLOCK)
PERCENTILES = {
    "p50": 500_000,
    "p90": 900_000,
    "p95": 950_000,
    "p99": 990_000,
    "p99.9": 999_000,
    "p99.99": 999_900,
    "p99.999": 999_990,
}
# Points of a percentile curve.
_STEPS = 400


def sheet_of(file: str, result: Result) -> Sheet:
    """Everything about a run."""
    name = result.workload.workload.name
    label = f"{name} (SPC-1-like, unaudited)" if name == "spc1" else name
    devices = few([target.place for target in result.targets])
    sheet = Sheet(
        file,
        "result of a run",
        f"{label} on {devices}",
        verdict=result.failure or result.outcome.text,
        good=not result.failure,
        remarks=[*result.remarks, *([result.power_text] if result.power_text else [])],
    )
    sheet.figures = _figures(result)
    sheet.conditions = [
        *machine(result.environment),
        *targets(
            msgspec.structs.replace(target.facts, path=target.place) for target in result.targets
        ),
        *_placed(result),
        *_instrument(result),
    ]
    add_printed(sheet, render.parts(result))
    rows = result.intervals
    times = response_times(result)
    if times:
        sheet.grids.append(percentile_grid("response time, percentiles", times))
        sheet.plots.append(distribution(times))
    if rows and result.phases:
        sheet.plots += _course(result, rows)
    if result.prober is not None and result.prober.start_ns and result.phases:
        zero = result.phases[0].start_ns
        sheet.plots += machines.plots(result.prober, zero, TIME_AXIS, _marks(result))
    if result.power_states and result.phases:
        disk_states.add(sheet, result.power_states, result.phases[0].start_ns)
    if result.nvme and result.phases:
        nvme.add(sheet, result.nvme, result.phases[0].start_ns)
    if result.slices and result.phases:
        sheet.heat_maps.append(_heat_map(result.slices, result.phases[0].start_ns))
    return sheet


def machine(environment: Environment | None) -> list[tuple[str, str]]:
    """The machine and the instrument, as conditions of a measurement."""
    if environment is None:
        return []
    governors = ", ".join(
        f"{governor} (CPU {cpus})" for governor, cpus in environment.governors.items()
    )
    facts = [
        # What Linux calls a machine that was given no name, as guests are.
        ("host", environment.hostname.replace("(none)", "")),
        ("kernel", f"{environment.kernel} {environment.machine}"),
        ("CPU", f"{environment.cpu_model}, online: {environment.cpus_online}"),
        ("governor", governors),
        ("clock", environment.clocksource),
        ("kernel taint", taint.words(environment.taint)),
        ("spek", f"module {environment.module_version}, spekctl {environment.spekctl_version}"),
    ]
    return [(what, text) for what, text in facts if text.strip(" ,")]


def targets(facts: Iterable[TargetFacts]) -> list[tuple[str, str]]:
    """Each device with the settings that change its speed."""
    rows = []
    for device in facts:
        words = [
            " ".join(filter(None, [device.model.strip(), device.serial.strip()])) or device.driver,
            units.format_bytes(device.bytes),
            f"blocks of {device.logical_block}/{device.physical_block} B",
            "rotational" if device.rotational else "not rotational",
            f"scheduler {device.scheduler}" if device.scheduler else "",
            f"iostats {device.iostats}" if device.iostats else "",
            f"nomerges {device.nomerges}" if device.nomerges else "",
        ]
        rows.append((device.path, ", ".join(filter(None, words))))
    return rows


def _placed(result: Result) -> list[tuple[str, str]]:
    """What asus are on, if they have devices of their own."""
    placed = own_devices.place_text(result.workload)
    return [("address ranges", placed)] if placed else []


def _figures(result: Result) -> list[tuple[str, str]]:
    everything = result.totals.all
    figures = [
        ("IOPS", units.format_rate(everything.iops)),
        ("MiB/s", f"{everything.bytes_per_s / MIB:,.1f}"),
    ]
    window = result.common
    if window is not None:
        figures = _of_window(window, figures)
    response = everything.times.response
    merged = response_times(result).get("all")
    if response is not None:
        figures.append(("mean response", units.format_ns(response.mean_ns)))
    if merged is not None:
        for name in ("p50", "p99", "p99.9", "p99.999"):
            value = histogram.percentile(merged, PERCENTILES[name])
            figures.append((name, units.format_ns(value)))
        figures.append(("max", units.format_ns(merged.max_ns)))
    figures.append(("errors", f"{result.outcome.errors:,}"))
    if result.power is not None:
        total, cost = result.power.measure.total, result.power.measure.efficiency
        if total.mean_w is not None:
            figures.append(("power", units.format_watts(total.mean_w)))
        if cost is not None:
            figures.append(("IOPS/W", units.format_rate(cost.iops_per_w)))
            figures.append(("mW/IOPS", f"{cost.mw_per_iops:.3g}"))
    return figures


def _of_window(
    window: CommonWindow, everything: Sequence[tuple[str, str]]
) -> list[tuple[str, str]]:
    """Rates of the time in which all hosts were at work before those of all time."""
    figures = []
    if window.intervals:
        figures = [
            ("IOPS", units.format_rate(window.all.iops)),
            ("MiB/s", f"{window.all.bytes_per_s / MIB:,.1f}"),
        ]
    figures += [(f"{name} of everything", text) for name, text in everything]
    figures += [("hosts", str(len(window.hosts)))]
    if window.jain is not None:
        figures.append(("Jain's index", f"{window.jain:.4f}"))
    if window.skew_ns is not None:
        figures.append(("worst start skew", units.format_ns(window.skew_ns)))
    return figures


def _instrument(result: Result) -> list[tuple[str, str]]:
    config = result.config
    ends = [f"{config.time_ns / 1e9:g} s"] if config.time_ns else []
    ends += [f"{config.count:,} I/Os"] if config.count else []
    counts = [arrival.count for arrival in config.arrivals]
    if all(counts):
        ends += [" + ".join(f"{count:,}" for count in counts) + " I/Os"]
    length = " or ".join(ends)
    if config.ramp_ns:
        length += f" after a ramp-up of {config.ramp_ns / 1e9:g} s"
    elif config.ramp_count:
        length += f" after a ramp-up of {config.ramp_count:,} I/Os"
    backends = dict.fromkeys(
        f"{target.backend} ({target.backend_reason})" for target in result.targets
    )
    return [
        ("workers", _workers(result)),
        ("length", length),
        ("back end", ", ".join(backends)),
        ("seed", str(config.seed)),
    ]


def _workers(result: Result) -> str:
    if result.hosts is None:
        return f"CPU {units.format_cpu_list(result.config.cpus)}"
    runs = [host.run for host in result.hosts if host.run is not None]
    workers = sum(len(run.config.cpus) for run in runs)
    return f"{workers} on {units.format_count(len(runs), 'host')}"


# --- distribution --------------------------------------------------------------------------------


def response_times(result: Result, metric: str = "response") -> dict[str, Histogram]:
    """The exact buckets of the measure phase, merged over streams: read, write, and all."""
    parts: dict[str, list[Histogram]] = {"read": [], "write": []}
    for cell in result.cells:
        hist = histogram_of(getattr(cell.times, metric))
        if cell.phase == "measure" and hist is not None:
            parts[cell.direction].append(hist)
    return merged_times(parts)


def merged_times(parts: dict[str, list[Histogram]]) -> dict[str, Histogram]:
    """Read, write and all, as far as they occurred."""
    by_direction = {}
    everything = [part for group in parts.values() for part in group]
    for name, group in (*parts.items(), ("all", everything)):
        merged = histogram.merge(group)
        if merged is not None:
            by_direction[name] = merged
    return by_direction


def percentile_grid(title: str, times: dict[str, Histogram]) -> Grid:
    """Percentiles to 99.999 and the maximum, by direction."""
    columns = {
        name: [*histogram.percentiles(hist, PERCENTILES.values()), hist.max_ns]
        for name, hist in times.items()
    }
    rows = [
        (label, *(units.format_ns(values[index]) for values in columns.values()))
        for index, label in enumerate((*PERCENTILES, "max"))
    ]
    rows.append(("I/Os", *(f"{histogram.count_of(hist):,}" for hist in times.values())))
    return plain_grid(title, ["percentile", *columns], rows)


def distribution(times: dict[str, Histogram]) -> Plot:
    """Response time against the share of I/Os that took at most that long."""
    totals = {name: histogram.count_of(hist) for name, hist in times.items()}
    ends = {name: max(log10(total), 0.5) for name, total in totals.items()}
    most = max(ends.values())
    nines = sorted({*(most * step / _STEPS for step in range(_STEPS)), *ends.values()})
    lines = []
    for name, hist in times.items():
        total = totals[name]
        # Nearest rank; a line ends at its largest value.
        ranks = [
            total - int(total * 10.0**-nine) if nine < ends[name] else total
            for nine in nines
            if nine <= ends[name]
        ]
        values = [float(value) for value in histogram.at_ranks(hist, ranks)]
        rest = [None] * (len(nines) - len(values))
        lines.append(Line(name, [*values, *rest], name == "all", colour=COLOUR_OF[name]))
    if len(times) == 2:  # one direction, and the same again as all
        lines = lines[1:]
    return Plot(
        "distribution",
        "Response time by percentile",
        Axis("share of I/Os that took at most this long", quantity=Quantity.NINES),
        Axis("response time", quantity=Quantity.TIME, log=True),
        [Strand(nines, lines)],
        note="From the exact buckets of the measure phase; a value is off by at most"
        f" 1/{2 << min((hist.bits for hist in times.values()), default=6)}.",
        numbers=percentile_grid("percentiles", times),
    )


# --- course over time ----------------------------------------------------------------------------


def _marks(result: Result) -> list[tuple[float, str]]:
    """Where a phase begins, in seconds since the start of the run."""
    zero = result.phases[0].start_ns
    return [
        ((phase.start_ns - zero) / 1e9, str(phase.phase))
        for phase in result.phases
        if phase.end_ns > phase.start_ns and phase.start_ns > zero
    ]


def _course(result: Result, rows: Sequence[Interval]) -> list[Plot]:
    """Rates, power, times and queues, interval by interval."""
    zero = result.phases[0].start_ns
    marks = _marks(result)
    xs = [((row.start_ns + row.end_ns) / 2 - zero) / 1e9 for row in rows]
    lengths = [max(1, row.end_ns - row.start_ns) for row in rows]
    whole = whole_ns(rows, result.config.interval_ns)
    # None: a quotient that says nothing about the device.
    seconds = [
        length / 1e9 if row_tells_rate(row, whole) else None
        for row, length in zip(rows, lengths, strict=True)
    ]
    directions: dict[str, Callable[[Interval], IntervalCell]] = {
        "read": lambda row: row.read,
        "write": lambda row: row.write,
    }
    used = {name: of for name, of in directions.items() if any(of(row).ios for row in rows)}

    def plot(key: str, title: str, y: Axis, lines: list[Line]) -> Plot:
        return Plot(key, title, TIME_AXIS, y, [Strand(xs, lines)], "time", marks)

    def rates(amount: Callable[[IntervalCell], int], scale: float) -> list[Line]:
        both = [
            (amount(row.read) + amount(row.write)) / scale / length if length else None
            for row, length in zip(rows, seconds, strict=True)
        ]
        lines = [Line("all", both, main=True, colour=COLOUR_OF["all"])]
        if len(used) > 1:
            for name, of in used.items():
                each = [
                    amount(of(row)) / scale / length if length else None
                    for row, length in zip(rows, seconds, strict=True)
                ]
                lines.append(Line(name, each, colour=COLOUR_OF[name]))
        return lines

    iops = rates(lambda cell: cell.ios, 1)
    if result.outcome.offered_iops is not None:
        iops.append(Line("offered", [result.outcome.offered_iops] * len(rows), look="limit"))
    plots = [plot("course-iops", "I/Os per second", Axis("I/Os per second", "1/s"), iops)]
    if result.hosts is not None:
        plots.append(_by_host(result, zero, marks))
    power = _power(rows)
    if power:
        plots.append(plot("course-power", "Power", Axis("power", "W"), power))
    times = _times(rows, used)
    response = Axis("response time", quantity=Quantity.TIME, log=None)
    plots.append(plot("course-response", "Response time", response, times))
    rate = Axis("data rate", "MiB/s")
    plots.append(plot("course-rate", "Data rate", rate, rates(lambda cell: cell.bytes, MIB)))
    queue = [Line("outstanding", [float(row.outstanding) for row in rows], main=True)]
    if any(row.backlog for row in rows):
        queue.append(Line("backlog", [float(row.backlog) for row in rows]))
    plots.append(
        plot(
            "course-queue",
            "I/Os waiting or in the device",
            Axis("I/Os", quantity=Quantity.WHOLE),
            queue,
        )
    )
    workers = max(1, len(result.workers) or len(result.config.cpus))
    busy = [
        100 * row.worker_cpu_ns / length / workers if row.worker_cpu_ns is not None else None
        for row, length in zip(rows, lengths, strict=True)
    ]
    if any(busy):
        plots.append(
            plot(
                "course-cpu",
                "CPU time of the workers",
                Axis("busy share of a CPU", "%"),
                [Line("workers", busy, main=True)],
            )
        )
    return plots


def _by_host(result: Result, zero: int, marks: Sequence[tuple[float, str]]) -> Plot:
    """I/Os per second of each host on the time of all."""
    strands = []
    for host in clients(result.hosts or ()):
        rows = unpacked(host.rows)
        whole = whole_ns(rows, result.config.interval_ns)
        zero_ns = zero - host.start.offset_ns
        xs = [((row.start_ns + row.end_ns) / 2 - zero_ns) / 1e9 for row in rows]
        rates = [
            (row.read.ios + row.write.ios) * 1e9 / (row.end_ns - row.start_ns)
            if row_tells_rate(row, whole)
            else None
            for row in rows
        ]
        if rows:
            strands.append(Strand(xs, [Line(host.name, rates)]))
    return Plot(
        "course-hosts",
        "I/Os per second of each host",
        TIME_AXIS,
        Axis("I/Os per second", "1/s"),
        strands,
        "time",
        marks,
    )


def _heat_map(slices: Sequence[Slice], zero: int) -> HeatMap:
    """I/Os by slice and response time."""
    responses = [slice_.response for slice_ in slices]
    filled = [response for response in responses if response.counts]
    low = min((response.first for response in filled), default=0)
    high = max((response.first + len(response.counts) for response in filled), default=1)
    bits = responses[0].bits
    counts = [
        [0] * (response.first - low)
        + response.counts
        + [0] * (high - response.first - len(response.counts))
        if response.counts
        else [0] * (high - low)
        for response in responses
    ]
    return HeatMap(
        "Response times over time",
        [(at - zero) / 1e9 for at in (slices[0].start_ns, *(slice_.end_ns for slice_ in slices))],
        # 0 has no place on a logarithmic axis.
        [float(histogram.bucket_low(index, bits)) or 0.5 for index in range(low, high + 1)],
        counts,
    )


def _times(
    rows: Sequence[Interval], used: dict[str, Callable[[Interval], IntervalCell]]
) -> list[Line]:
    """Mean and maximum of all I/Os, which add up exactly, and percentiles of each direction."""
    means: list[float | None] = []
    longest: list[float | None] = []
    for row in rows:
        ios = row.read.ios + row.write.ios
        total = row.read.response_sum_ns + row.write.response_sum_ns
        means.append(total / ios if ios else None)
        most = max(row.read.response_max_ns, row.write.response_max_ns)
        longest.append(float(most) if ios else None)
    lines = [Line("mean", means, main=True, colour=COLOUR_OF["all"])]
    for name, of in used.items():
        cells = [of(row) for row in rows]
        for label, turn, values in (
            ("p99", 0, [cell.response_p99_ns for cell in cells]),
            ("p99.9", 1, [cell.response_p999_ns for cell in cells]),
        ):
            if any(values):
                ys = [
                    float(value) if cell.ios and value is not None else None
                    for value, cell in zip(values, cells, strict=True)
                ]
                title = f"{name} {label}" if len(used) > 1 else label
                lines.append(Line(title, ys, colour=COLOUR_OF[name] + turn * COLOURS))
    lines.append(Line("max", longest, colour=COLOUR_OF["all"] + COLOURS))
    return lines


def _power(rows: Sequence[Interval]) -> list[Line]:
    """All rails together, and each one."""
    by_rail: dict[str, list[float | None]] = {}
    for number, row in enumerate(rows):
        if row.power is None:
            continue
        for rail in (row.power.total, *row.power.rails):
            values = by_rail.setdefault(rail.name, [None] * len(rows))
            values[number] = rail.mean_w
    if len(by_rail) == 2:
        by_rail = {"total": by_rail["total"]}
    return [Line(name, values, main=name == "total") for name, values in by_rail.items()]
