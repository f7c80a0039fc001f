# SPDX-License-Identifier: GPL-2.0-or-later
"""Figures of a trace as text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import click

from spekctl import units
from spekctl.documents.trace import TraceDefects, TraceFit, TraceInfo, TraceProperty, TraceQuantiles
from spekctl.render import tables

if TYPE_CHECKING:
    from rich.table import Table

_DEVICES_SHOWN = 24
_SIZES_SHOWN = 8
# Distances beyond say only that there is no likeness.
_MOST = 99.99


def show(info: TraceInfo) -> None:
    """Print it on standard output."""
    _print(parts(info))


def parts(info: TraceInfo) -> Iterator[str | Table]:
    """The figures as lines and tables."""
    yield from _head(info)
    if info.requests:
        for table in _tables(info):
            yield ""
            yield table
    yield from defects(info.defects)


def show_fit(fit: TraceFit) -> None:
    """Print the distances on standard output."""
    _print(fit_parts(fit))


def fit_parts(fit: TraceFit) -> Iterator[str | Table]:
    """The distances as lines and a table."""
    yield (
        f"{fit.origins[0].file}: {fit.requests:,} reads and writes; {fit.workload} makes"
        f" {fit.twin_requests:,} in the same time"
    )
    yield ""
    right = ("trace", "workload", "off by")
    table = tables.table("property", *right, right=right)
    for property_ in fit.properties:
        table.add_row(
            property_.name,
            _value(property_, property_.trace),
            _value(property_, property_.twin),
            _distance(property_),
        )
    yield table
    yield from [*fit.notes, *defects(fit.defects)]


def _print(parts: Iterable[str | Table]) -> None:
    for part in parts:
        if isinstance(part, str):
            click.echo(part)
        else:
            tables.show(part)


def _value(property_: TraceProperty, value: float | None) -> str:
    if value is None:
        return ""
    if property_.measure == "difference":
        return f"{value:.1%}"
    return units.format_bytes(round(value)) if "bytes" in property_.name else f"{value:,.2f}"


def _distance(property_: TraceProperty) -> str:
    if property_.measure == "ks":
        return f"{property_.distance:.3f} (KS)"
    if property_.measure == "difference":
        return f"{100 * property_.distance:.1f} points"
    return f"{property_.distance:.1%}" if property_.distance <= _MOST else f"> {_MOST:,.0%}"


def defects(damage: TraceDefects) -> list[str]:
    """Defects of the files, as sentences."""
    lines = []
    if damage.bad:
        noun = "record" if damage.bad == 1 else "records"
        lines.append(f"{damage.bad:,} unreadable {noun}; the first: {damage.first}")
    if damage.unordered:
        moved = f"; the time of {damage.moved:,} was changed" if damage.moved else ""
        noun = "record was" if damage.unordered == 1 else "records were"
        lines.append(f"{damage.unordered:,} {noun} out of order{moved}")
    if damage.ignored:
        noun = (
            "record is not I/O and was" if damage.ignored == 1 else "records are not I/O and were"
        )
        lines.append(f"{damage.ignored:,} {noun} left out")
    return lines + damage.notes


def _head(info: TraceInfo) -> list[str]:
    first = info.origins[0]
    more = f" and {len(info.origins) - 1} more" if len(info.origins) > 1 else ""
    count = len(info.devices)
    lines = [
        f"{first.file}{more}: {first.format}, {info.requests:,} requests of"
        f" {units.format_bytes(info.bytes)} on {count} device{'s' * (count != 1)} in"
        f" {units.format_ns(info.span_ns)}"
    ]
    if not info.requests:
        return lines
    places = info.places
    exact = "" if places.granularity_bytes == 1 else " (estimated from a sample)"
    lines += [
        f"  rate: {units.format_rate(info.iops)} requests/s,"
        f" {units.format_bytes(round(info.bytes_per_s))}/s",
        f"  reads: {info.read_share:.1%} of reads and writes, {info.read_share_bytes:.1%} of their"
        " bytes",
        f"  footprint: {units.format_bytes(places.footprint_bytes)}{exact}, read"
        f" {units.format_bytes(places.read_footprint_bytes)}, written"
        f" {units.format_bytes(places.written_footprint_bytes)}",
        f"  sequential: {places.sequential:.1%} continue the request before,"
        f" {places.sequential_of_32:.1%} one of the 32 before; aligned to 4 KiB:"
        f" {places.aligned_4k:.1%}",
    ]
    if info.gap_cv is not None:
        lines.append(f"  arrivals: gaps with a coefficient of variation of {info.gap_cv:.2f}")
    return lines


def _tables(info: TraceInfo) -> list[Table]:
    tables = [_ops(info), _distributions(info), _sizes(info)]
    if info.dispersion:
        tables.append(_dispersion(info))
    if len(info.devices) > 1:
        tables.append(_devices(info))
    return tables


def _ops(info: TraceInfo) -> Table:
    table = tables.table(
        "operation", "requests", "share", "bytes", "FUA",
        right=("requests", "share", "bytes", "FUA"),
    )  # fmt: skip
    for operation in info.ops:
        share = f"{operation.requests / info.requests:.2%}"
        table.add_row(
            operation.op,
            f"{operation.requests:,}",
            share,
            units.format_bytes(operation.bytes),
            f"{operation.fua:,}",
        )
    return table


def _distributions(info: TraceInfo) -> Table:
    names = ("mean", "p50", "p90", "p99", "p99.9", "max")
    table = tables.table("distribution", *names, right=names)
    if info.size_bytes is not None:
        table.add_row(
            "size", *(units.format_bytes(round(size)) for size in _values(info.size_bytes))
        )
    if info.gap_ns is not None:
        table.add_row("gap", *(units.format_ns(gap) for gap in _values(info.gap_ns)))
    return table


def _values(quantiles: TraceQuantiles) -> tuple[float, ...]:
    return (
        quantiles.mean,
        quantiles.p50,
        quantiles.p90,
        quantiles.p99,
        quantiles.p999,
        quantiles.max,
    )


def _sizes(info: TraceInfo) -> Table:
    title = f"size (of {info.sizes_distinct:,})"
    table = tables.table(title, "requests", "share", right=("requests", "share"))
    total = info.requests
    for size in info.sizes[:_SIZES_SHOWN]:
        share = f"{size.requests / total:.2%}"
        table.add_row(units.format_bytes(size.bytes), f"{size.requests:,}", share)
    return table


def _dispersion(info: TraceInfo) -> Table:
    names = ("windows", "dispersion", "peak")
    table = tables.table("window", *names, right=names)
    for window in info.dispersion:
        table.add_row(
            units.format_duration(window.window_ns),
            f"{window.windows:,}",
            f"{window.index:,.2f}",
            f"{window.peak:,}",
        )
    return table


def _devices(info: TraceInfo) -> Table:
    names = ("requests", "reads", "bytes", "end", "footprint")
    table = tables.table("device", *names, right=names)
    busiest = sorted(info.devices, key=lambda device: -device.requests)
    for device in busiest[:_DEVICES_SHOWN]:
        table.add_row(
            device.name,
            f"{device.requests:,}",
            f"{device.reads / device.requests:.1%}",
            *(
                units.format_bytes(n)
                for n in (device.bytes, device.end_bytes, device.footprint_bytes)
            ),
        )
    if len(busiest) > _DEVICES_SHOWN:
        table.add_row(f"and {len(busiest) - _DEVICES_SHOWN} more")
    return table
