# SPDX-License-Identifier: GPL-2.0-or-later
"""The result as text on standard output."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from spekctl import units
from spekctl.documents.device import DiskCounters
from spekctl.documents.result import Result
from spekctl.documents.result_parts import (
    Cell,
    LogResult,
    RailPower,
    ReplayResult,
    TargetResult,
    Total,
)
from spekctl.documents.steady import Criteria, Window
from spekctl.documents.times import Distribution, histogram_of
from spekctl.kernel.records import is_covered
from spekctl.render import hosts, nvme
from spekctl.render import power_states as states
from spekctl.render import prober as probers
from spekctl.render.console import print_parts
from spekctl.workload import own_devices
from spekctl.workload.endings import parse_metric

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table

    from spekctl.workload.config import ResolvedArrival, RunConfig

WIDTH = 100


def print_result(result: Result, console: Console | None = None) -> None:
    """Print the summary."""
    print_parts(parts(result), WIDTH, console)


def parts(result: Result) -> list[RenderableType]:
    """The summary as texts and tables."""
    shown: list[RenderableType] = [_headline(result)]
    shown += [_target_line(target) for target in result.targets]
    if placed := own_devices.place_text(result.workload):
        shown.append(f"  address ranges: {placed}")
    if result.hosts is not None:
        shown += _hosts(result)
    shown.append(_totals_table(result))
    if len(result.config.streams) > 1:
        shown.append(_streams_table(result))
    shown += [f"  {line}" for line in _footer(result)]
    if result.power_states:
        shown += ["power states of the disks", states.residencies(result.power_states)]
        shown += [f"  {line}" for line in states.remarks(result.power_states)]
    if result.nvme:
        shown += ["the NVMe drives, by themselves", *nvme.parts(result.nvme)]
    if result.prober is not None and result.prober.start_ns:
        shown += ["the machine, from start to end of the sampling", probers.figures(result.prober)]
    return shown


def _hosts(result: Result) -> list[RenderableType]:
    """The common window, and the hosts beside each other."""
    figures, starts = _table(*hosts.FIGURES), _table(*hosts.STARTS)
    for cells in hosts.figures(result):
        figures.add_row(*cells)
    for cells in hosts.starts(result):
        starts.add_row(*cells)
    shown: list[RenderableType] = ["the hosts in the common window", figures]
    shown += ["the starts of the hosts", starts]
    shown += [f"  {line}" for line in hosts.lines(result)]
    return [*shown, "sums over all hosts"]


def _table(*names: str) -> Table:
    """A table without lines, its first column a name and all others numbers."""
    from rich.table import Table as RichTable

    table = RichTable(box=None, padding=(0, 0, 0, 2), collapse_padding=True)
    for index, name in enumerate(names):
        table.add_column(name, justify="right" if index else "left", no_wrap=True)
    return table


def _headline(result: Result) -> RenderableType:
    from rich.text import Text

    name = result.workload.workload.name
    label = f"{name} (SPC-1-like)" if name == "spc1" else name
    seconds = (
        next((phase.duration_ns for phase in result.phases if phase.phase == "measure"), 0) / 1e9
    )
    length = f"measured for {_seconds(seconds)}" if seconds else "not measured"
    text = Text(f"{label}: {_loads(result)}, {length}", style="bold")
    if result.hosts is not None:
        text.append(f"\n  {hosts.headline(result)}", style="bold")
    style = "bold red" if result.failure else "green"
    text.append(f"\n  {result.failure or result.outcome.text}", style=style)
    return text


def _seconds(seconds: float) -> str:
    """A duration that does not round to zero."""
    return f"{seconds:.3f} s" if seconds >= 0.1 else units.format_ns(seconds * 1e9)


def _loads(result: Result) -> str:
    """The load of the machine, or of each host of a fleet."""
    if result.hosts is None:
        return _load(result, result.config, result.replay)
    runs = [host.run for host in result.hosts if host.run is not None]
    loads = {_load(result, run.config, run.replay) for run in runs}
    each = next(iter(loads)) if len(loads) == 1 else "a load of its own"
    return f"{units.format_count(len(result.hosts), 'host')}, on each {each}"


def _load(result: Result, config: RunConfig, replay: ReplayResult | None) -> str:
    if result.workload.workload.scale == "bsu" and config.arrivals[0].law != "closed":
        rate = config.arrivals[0].rate_milli / 1000
        return (
            f"{config.streams[0].replicas} BSU ({units.format_rate(rate)} I/Os per second offered)"
        )
    laws = []
    for arrival in config.arrivals:
        end = _end_of(arrival)
        if arrival.law == "closed":
            think = f", think {units.format_duration(arrival.think_ns)}" if arrival.think_ns else ""
            most = units.format_rate(arrival.rate_milli / 1000)
            limit = f", at most {most} per second" if arrival.rate_milli else ""
            laws.append(
                f"closed loop of depth {arrival.depth}{think}{limit}{_pauses_between(arrival)}{end}"
            )
        elif arrival.law == "burst":
            laws.append(
                f"bursts of {arrival.burst_length} every"
                f" {units.format_duration(arrival.burst_interval_ns)}{end}"
            )
        elif arrival.law == "trace":
            laws.append("as recorded" + (f", {_pace(replay)}" if replay else ""))
        elif arrival.points:
            rates = [rate / 1000 for _, rate in arrival.points]
            laws.append(
                f"{arrival.law} arrivals on a curve from {units.format_rate(min(rates))} to"
                f" {units.format_rate(max(rates))} per second{end}"
            )
        else:
            laws.append(
                f"{arrival.law} arrivals, {units.format_rate(arrival.rate_milli / 1000)} per second"
                + _pauses(arrival)
                + end
            )
    return " + ".join(laws)


def _end_of(arrival: ResolvedArrival) -> str:
    """The end of a process, if it has one of its own."""
    return f", {arrival.count:,} I/Os" if arrival.count else ""


def _pauses_between(arrival: ResolvedArrival) -> str:
    """Pauses between the bursts of a closed loop, if there are any."""
    if not arrival.pause_ns:
        return ""
    counted = "completed I/Os" if arrival.pause_counts_completed else "I/Os"
    ends = [f"{arrival.pause_every} {counted}"] if arrival.pause_every else []
    if arrival.pause_after_ns:
        ends.append(units.format_duration(arrival.pause_after_ns))
    return f", a pause of {units.format_duration(arrival.pause_ns)} after {' or '.join(ends)}"


def _pauses(arrival: ResolvedArrival) -> str:
    """On and off periods, if there are any."""
    if not arrival.on_ns:
        return ""
    on, off = (units.format_duration(ns) for ns in (arrival.on_ns, arrival.off_ns))
    tail = f", tail {arrival.tail_milli / 1000:g}" if arrival.tail_milli else ""
    return f" for {on}, then none for {off} (on average{tail})"


def _pace(replay: ReplayResult) -> str:
    """The times of a replay."""
    if replay.rate is not None:
        return f"at {units.format_rate(replay.rate)} requests per second"
    return f"at {replay.speed:g} times the speed"


def window_line(window: Window, criteria: Criteria | None) -> str:
    """A variable over its last rounds, against the limits of steady state."""
    limits = criteria or Criteria()
    return (
        f"{window.variable} of rounds {window.first} to {window.last}: average"
        f" {parse_metric(window.variable).text(window.average)}, range {100 * window.range:.1f} %"
        f" (limit {100 * limits.range:.4g} %), slope {100 * window.excursion:.1f} %"
        f" (limit {100 * limits.slope:.4g} %), {'steady' if window.steady else 'not steady'}"
    )


def _replay_line(replay: ReplayResult) -> str:
    """What became of the records of a trace."""
    left_out = sum(replay.skipped.values())
    words = [f"trace: {replay.issued:,} of {replay.records:,} records issued"]
    if left_out:
        reasons = ", ".join(f"{count:,} {why}" for why, count in replay.skipped.items())
        words.append(f"{left_out:,} left out ({reasons})")
    if replay.bad:
        words.append(f"{replay.bad:,} could not be read")
    if replay.lost:
        words.append(f"{replay.lost:,} lost while it was recorded")
    if replay.reread is not None:
        words.append(f"changed since it was checked: {replay.reread:,} records when it was fed")
    if replay.max_idle_ns:
        words.append(
            f"{replay.idles:,} idle times cut to {units.format_duration(replay.max_idle_ns)}, by"
            f" {_seconds(replay.idle_ns / 1e9)} in all"
        )
    words.append(f"{replay.underruns:,} underruns")
    return ", ".join(words)


def _target_line(target: TargetResult) -> str:
    facts = target.facts
    what = " ".join(part for part in (facts.model, facts.serial) if part) or facts.driver
    path = target.place
    if not facts.path.endswith("/" + facts.name):
        path = f"{path} ({facts.name})"
    how = f"{target.backend}{', polled' if target.polled else ''}: {target.backend_reason}"
    return f"  {path}  {what}  {units.format_bytes(facts.bytes)}  {how}"


def _totals_table(result: Result) -> RenderableType:
    table = _table(
        "response", "I/Os", "IOPS", "MiB/s", "size", "mean", "p50", "p99", "p99.9", "max"
    )
    for name, total in (
        ("read", result.totals.read),
        ("write", result.totals.write),
        ("all", result.totals.all),
    ):
        both = result.totals.read.ios and result.totals.write.ios
        if total.ios if name != "all" else both or not result.totals.all.ios:
            table.add_row(name, *_total_cells(total))
    return table


def _total_cells(total: Total) -> list[str]:
    return [
        f"{total.ios:,}",
        units.format_rate(total.iops),
        f"{total.bytes_per_s / (1 << 20):,.1f}",
        units.format_bytes(round(total.mean_bytes)) if total.ios else "-",
        *_times(total.times.response, ("mean", "p50", "p99", "p99.9", "max")),
    ]


def _times(times: Distribution | None, names: tuple[str, ...]) -> list[str]:
    if times is None:
        return ["-"] * len(names)
    values = {"mean": times.mean_ns, "max": times.max_ns, **times.percentiles_ns}
    return [units.format_ns(values[name]) for name in names]


def _streams_table(result: Result) -> RenderableType:
    table = _table("stream", "I/Os", "share", "reads", "MiB/s", "size", "p50", "p99")
    seconds = (
        next((phase.duration_ns for phase in result.phases if phase.phase == "measure"), 0) / 1e9
    )
    everything = result.totals.all.ios
    for index, stream in enumerate(result.config.streams):
        cells = [cell for cell in result.cells if cell.stream == index and cell.phase == "measure"]
        ios = sum(cell.ios for cell in cells)
        amount = sum(cell.bytes for cell in cells)
        reads = sum(cell.ios for cell in cells if cell.direction == "read")
        p50, p99 = _both(cells)
        table.add_row(
            stream.name,
            f"{ios:,}",
            f"{ios / everything:.1%}" if everything else "-",
            f"{reads / ios:.1%}" if ios else "-",
            f"{amount / seconds / (1 << 20):,.1f}" if seconds else "-",
            units.format_bytes(round(amount / ios)) if ios else "-",
            p50,
            p99,
        )
    return table


def _both(cells: list[Cell]) -> tuple[str, str]:
    """p50 and p99 of reads and writes of a stream together, from their buckets."""
    from spekctl.documents import histogram

    parts = [histogram_of(cell.times.response) for cell in cells]
    merged = histogram.merge(part for part in parts if part is not None)
    if merged is None:
        return "-", "-"
    return (
        units.format_ns(histogram.percentile(merged, 500_000)),
        units.format_ns(histogram.percentile(merged, 990_000)),
    )


def _closed_lines(config: RunConfig) -> list[str]:
    streams = config.streams
    closed = [stream.name for stream in streams if config.arrivals[stream.arrival].law == "closed"]
    if not closed:
        return []
    of = "" if len(closed) == len(streams) else f" of {', '.join(closed)}"
    return [
        f"closed loop{of}: each I/O arrives when a previous one completes, so response time"
        " contains no queueing, and the device sets the rate"
    ]


def _footer(result: Result) -> list[str]:
    lines = []
    outcome = result.outcome
    if result.ending is not None:
        lines += [window_line(window, result.ending.criteria) for window in result.ending.windows]
    if result.replay is not None:
        lines.append(_replay_line(result.replay))
    if outcome.offered_iops is not None:
        lines.append(
            f"offered {units.format_rate(outcome.offered_iops)} I/Os per second;"
            f" backlog at the end {outcome.backlog:,}, at most {outcome.backlog_max:,}"
        )
    for name, end_ns in outcome.arrival_ends_ns.items():
        if end_ns is None:
            lines.append(f"{name} had not done all of its I/Os")
        else:
            lines.append(f"{name} had done all of its I/Os after {units.format_ns(end_ns)}")
    lines += _closed_lines(result.config)
    lines.append(_workers_line(result))
    if result.prober is not None:
        lines.append(_machine_line(result))
    lines += _power_lines(result)
    service = result.totals.all.times.service
    if service is not None:
        mean, p50, p99, longest = _times(service, ("mean", "p50", "p99", "max"))
        lines.append(f"service time: mean {mean}, p50 {p50}, p99 {p99}, max {longest}")
    lines += _in_flight_lines(result)
    slip = result.totals.all.times.slip
    if slip is not None:
        lines.append(
            f"slip (intended arrival to issue): p50 {units.format_ns(slip.percentiles_ns['p50'])},"
            f" p99 {units.format_ns(slip.percentiles_ns['p99'])};"
            f" clock {result.environment.clocksource}"
        )
    for target in result.targets:
        if target.disk_agrees is False and target.disk is not None:
            lines.append(
                f"{target.place} itself counted {target.disk.reads:,} reads and"
                f" {target.disk.writes:,} writes{_disk_times(target.disk)}, spek sent"
                f" {target.reads:,} and {target.writes:,}"
            )
        if target.tag_waits:
            lines.append(
                f"{target.place} had no free request for {target.tag_waits:,} of them at once"
            )
        if target.backend == "scsi":
            lines.append(f"{target.place} does not count SCSI commands sent directly")
        elif target.facts.disk_before is None:
            lines.append(f"{target.place} keeps no I/O statistics")
        elif target.disk is None:
            lines.append(f"what {target.place} counted itself was not read when the run ended")
    if outcome.errors_by_cause:
        causes = ", ".join(f"{name} {count:,}" for name, count in outcome.errors_by_cause.items())
        lines.append(f"errors by cause: {causes}")
    for said in outcome.senses:
        lines.append(f"{said.count:,} requests: {said.sense.text}")
    if outcome.sense_others:
        lines.append(f"{outcome.sense_others:,} requests: other causes")
    if result.verify is not None:
        from spekctl.render.verify import result_lines

        lines += result_lines(result.verify)
    if result.log is not None:
        lines.append(_log_line(result.log))
    if result.intervals_dropped:
        lines.append(f"{result.intervals_dropped:,} intervals were overwritten before being read")
    partial = sum(not is_covered(row) for row in result.intervals)
    if partial:
        lines.append(
            f"{partial:,} intervals lack the I/Os of workers that were blocked, or have those alone"
        )
    lines += result.remarks
    return lines


def _disk_times(disk: DiskCounters) -> str:
    """Its own service times, if it counts them."""
    if disk.read_ms is None or disk.write_ms is None:
        return ""
    return f" that took {disk.read_ms:,} ms and {disk.write_ms:,} ms in all"


def _in_flight_lines(result: Result) -> list[str]:
    """I/Os missing from the percentiles: those that completed after the measure phase."""
    held = result.totals.all.in_flight
    if held is None or not held.count:
        return []
    mean, longest = _times(held.response_age, ("mean", "max"))
    line = (
        f"in flight at the end of the measure phase and not in the percentiles:"
        f" {held.count:,} I/Os, {mean} old on average, at most {longest}"
    )
    drained = next((phase.times for phase in result.phases if phase.phase == "drain"), None)
    if drained is not None and drained.response is not None:
        p50, most = _times(drained.response, ("p50", "max"))
        line += f"; {drained.response.count:,} completed in the drain: p50 {p50}, max {most}"
    return [line]


def _log_line(log: LogResult) -> str:
    line = f"log: {log.records:,} records, {log.lost:,} lost, {log.file or 'no file'}"
    return line if log.complete else f"{line}: {log.text}"


def _workers_line(result: Result) -> str:
    total_ns = sum(worker.cpu_ns for worker in result.workers)
    switches = sum(
        worker.voluntary_switches + worker.involuntary_switches for worker in result.workers
    )
    ios = sum(phase.ios for phase in result.phases)
    span_ns = sum(phase.duration_ns for phase in result.phases) * max(1, len(result.workers))
    if result.hosts is not None:
        of_hosts = len({worker.host for worker in result.workers})
        workers = units.format_count(len(result.workers), "worker")
        where = f"{workers} on {units.format_count(of_hosts, 'host')}"
    else:
        cpus = units.format_cpu_list(worker.cpu for worker in result.workers)
        where = f"workers on CPU {cpus}"
    line = f"{where}: busy {total_ns / span_ns:.0%}" if span_ns else where
    if ios:
        line += (
            f", {units.format_ns(total_ns / ios)} of CPU and {_ratio(switches / ios)} context"
            " switches per I/O"
        )
    return line


def _machine_line(result: Result) -> str:
    """Shares of all CPUs, and events per I/O: rates over what the samples cover."""
    prober = result.prober
    machine = prober.measure.get("machine", {}) if prober is not None else {}
    if prober is None or not prober.measure_ns or not machine:
        return "prober: no sample lies inside the measure phase; try a shorter --prober-interval"
    names = ("user", "nice", "system", "irq", "softirq", "steal", "iowait", "idle")
    total = sum(machine.get(f"{name}_ns", 0) for name in names)
    parts = []
    if total:
        shares = [
            f"{name} {machine[f'{name}_ns'] / total:.1%}"
            for name in names
            if machine.get(f"{name}_ns")
        ]
        parts.append(f"machine: {', '.join(shares)}")
    seconds = prober.measure_ns / 1e9
    iops = result.totals.all.iops
    if iops:
        for column, text in (("switches", "context switches"), ("interrupts", "interrupts")):
            if column in machine:
                parts.append(f"{_ratio(machine[column] / seconds / iops)} {text} per I/O")
    return "; ".join(parts)


def _power_lines(result: Result) -> list[str]:
    """Watts and joules by rail, efficiency, and uncertainty."""
    power = result.power
    if power is None:
        return [result.power_text] if result.power_text else []
    total, cost = power.measure.total, power.measure.efficiency
    known = f"{_watts(total)}, {units.format_joules(total.joules)}"
    lines = [f"power: {known if total.mean_w is not None else 'unknown'}"]
    if len(power.measure.rails) > 1:
        lines += [f"  {rail.name}: {_watts(rail)}, {units.format_joules(rail.joules)}"
                  for rail in power.measure.rails]  # fmt: skip
    if cost is not None:
        less = f" less {units.format_watts(power.baseline_w)}" if power.baseline_w else ""
        lines.append(
            f"power per load{less}: {units.format_rate(cost.iops_per_w)} IOPS/W,"
            f" {cost.mw_per_iops:.3g} mW/IOPS, {cost.mib_s_per_w:.3g} MiB/s/W,"
            f" {units.format_joules(cost.j_per_gib)}/GiB"
        )
    if power.uncertainty_j and total.joules:
        lines.append(
            f"energy uncertainty +-{_percent(power.uncertainty_j / abs(total.joules))}"
            f" (time stamps +-{units.format_ns(power.uncertainty_ns)},"
            f" {_resolution_text(power.measure.rails)})"
        )
    return lines + ([result.power_text] if result.power_text else [])


def _resolution_text(rails: Sequence[RailPower]) -> str:
    """Which rails' resolutions are part of the uncertainty: those that are known."""
    unknown = [rail.name for rail in rails if rail.known_s and not rail.lsb_w]
    if not unknown:
        return "sensor resolution"
    if len(unknown) == len(rails):
        return "sensor resolution not known"
    return f"sensor resolution, which is not known of {', '.join(unknown)}"


def _watts(rail: RailPower) -> str:
    if rail.mean_w is None or rail.min_w is None or rail.max_w is None:
        return "unknown"
    low, high = units.format_watts(rail.min_w), units.format_watts(rail.max_w)
    return f"{units.format_watts(rail.mean_w)} ({low} to {high})"


def _percent(share: float) -> str:
    """A small share with two significant digits."""
    return "<0.0001%" if 0 < share < 1e-6 else f"{share * 100:.2g}%"


def _ratio(value: float) -> str:
    """A count per I/O, with few digits: near zero is good."""
    return "<0.001" if 0 < value < 0.001 else f"{value:.3f}"
