# SPDX-License-Identifier: GPL-2.0-or-later
"""Per-I/O logs of several hosts beside each other, as tables or by time as CSV."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from spekctl import units
from spekctl.documents import histogram

if TYPE_CHECKING:
    from rich.table import Table

    from spekctl.kernel.records import Histogram
    from spekctl.log.tally import Cell, Tally

_PPMS = (500_000, 990_000, 999_000)
_TIMES = ("mean", "p50", "p99", "p99.9", "max")
CSV_COLUMNS = (
    "second",
    "host",
    "op",
    "ios",
    "bytes",
    "errors",
    "mean_response_ns",
    "max_response_ns",
)


def show(workload: str, phase: str, whole: Tally, hosts: Mapping[str, Tally]) -> None:
    """Print the sum, the hosts, and the streams of all together."""
    from spekctl.render.console import wide

    out = wide(120)
    for line in _head(workload, phase, whole, hosts):
        out.print(line, soft_wrap=True)
    if not whole.records:
        return
    for table in (_hosts(whole, hosts), _hosts_times(whole, hosts), _streams(whole)):
        out.print()
        out.print(table)


def csv_lines(whole: Tally, hosts: Mapping[str, Tally]) -> Iterator[str]:
    """The intervals of all hosts by time, from the first of any of them; seconds are of
    CLOCK_REALTIME. Failed I/Os have no times: without others these are empty."""
    yield ",".join(CSV_COLUMNS)
    first = min((interval.number for interval in whole.intervals), default=0)
    rows = sorted(
        (interval.number, name, interval.op, interval)
        for name, tally in hosts.items()
        for interval in tally.intervals
    )
    for number, name, op, interval in rows:
        times = ","
        if interval.ios:
            mean = interval.response_sum_ns / interval.ios
            times = f"{mean:.0f},{interval.response_max_ns}"
        yield (
            f"{_seconds((number - first) * whole.interval_ns)},{name},{op},{interval.ios},"
            f"{interval.bytes},{interval.errors},{times}"
        )


def _seconds(ns: int) -> str:
    """All digits: a double would not have them in a long log of short intervals."""
    whole, rest = divmod(ns, 10**9)
    return f"{whole}.{rest:09d}".rstrip("0").rstrip(".")


def _head(workload: str, phase: str, whole: Tally, hosts: Mapping[str, Tally]) -> Iterator[str]:
    which = "of the measure phase" if phase == "measure" else "of all phases"
    logs = f"{len(hosts)} log{'s' if len(hosts) > 1 else ''} of {workload}"
    if not whole.records:
        yield f"{logs}: no I/O {which} matches"
    else:
        yield (
            f"{logs}: {whole.records:,} I/Os {which}, first arrival to last completion"
            f" {units.format_ns(whole.span_ns)}"
        )
    if whole.lost:
        yield f"  {whole.lost:,} I/Os have no row"
    if whole.incomplete:
        yield f"  {whole.incomplete} of the logs are not complete"


def _of_each(whole: Tally, hosts: Mapping[str, Tally]) -> Iterator[tuple[str, Tally]]:
    yield "all", whole
    yield from sorted(hosts.items())


def _hosts(whole: Tally, hosts: Mapping[str, Tally]) -> Table:
    from spekctl.render.tables import figures_table

    names = ("I/Os", "share", "bytes", "errors", "IOPS", "MiB/s", "begins", "ends")
    table = figures_table("host", *names)
    everything = whole.total().ios
    for name, tally in _of_each(whole, hosts):
        total, seconds = tally.total(), tally.span_ns / 1e9
        table.add_row(
            name,
            f"{total.ios:,}",
            f"{total.ios / everything:.2%}" if everything else "-",
            units.format_bytes(total.bytes),
            f"{total.errors:,}",
            units.format_rate(total.ios / seconds) if seconds else "-",
            f"{total.bytes / seconds / (1 << 20):,.1f}" if seconds else "-",
            units.format_ns(tally.first_ns - whole.first_ns) if tally.records else "-",
            units.format_ns(tally.last_ns - whole.first_ns) if tally.records else "-",
        )
    return table


def _hosts_times(whole: Tally, hosts: Mapping[str, Tally]) -> Table:
    from spekctl.render.tables import figures_table

    table = figures_table("response | service", *_TIMES, "p99 to all", *_of_service())
    of_all = whole.total().response
    for name, tally in _of_each(whole, hosts):
        total = tally.total()
        table.add_row(
            name,
            *_figures(total.response),
            _ratio(total.response, of_all),
            *_figures(total.service),
        )
    return table


def _streams(whole: Tally) -> Table:
    from spekctl.render.tables import figures_table

    table = figures_table("stream", "", "I/Os", "errors", *_TIMES, *_of_service())
    for cell in whole.cells:
        table.add_row(cell.stream, cell.op, *_counts(cell))
    return table


def _counts(cell: Cell) -> list[str]:
    return [f"{cell.ios:,}", f"{cell.errors:,}", *_figures(cell.response), *_figures(cell.service)]


def _of_service() -> list[str]:
    return [f"| {name}" for name in _TIMES]


def _figures(times: Histogram | None) -> list[str]:
    if times is None:
        return ["-"] * len(_TIMES)
    values = [histogram.mean(times), *histogram.percentiles(times, _PPMS), times.max_ns]
    return [units.format_ns(value) for value in values]


def _ratio(times: Histogram | None, of_all: Histogram | None) -> str:
    if times is None or of_all is None:
        return "-"
    whole = histogram.percentile(of_all, 990_000)
    return f"{histogram.percentile(times, 990_000) / whole:.2f}" if whole else "-"
