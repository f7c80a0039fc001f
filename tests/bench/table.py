# SPDX-License-Identifier: GPL-2.0
"""The tables in the terminal."""

from __future__ import annotations

from collections.abc import Mapping

from bench.cases import APART, CACHES, DEEP, DEEP_STATS, EMULATED, ROWS, SINGLE, SLOW, Row
from bench.result import Bench, Figure, figure
from bench.sharing import of_spek
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

WIDTH = 132
NOTHING = "-"
LEAST_MISSES = 0.01
# Header of a column, and the row that it compares with.
COMPARED = (
    ("requests", "floor-mq"),
    ("bios", "floor-bio"),
    ("io_uring", "uring"),
    ("i_u polled", "uring-polled"),
    ("fio", "fio-uring"),
)


def show(bench: Bench, console: Console | None = None) -> None:
    """Print everything."""
    # Where nobody looks the width would be 80 columns, and figures would be cut.
    console = console or Console(highlight=False)
    if console.width < WIDTH:
        console = Console(file=console.file, width=WIDTH, highlight=False, soft_wrap=True)
    console.print(render(bench))


def render(bench: Bench) -> RenderableType:
    """All tables, one below the other."""
    environment = bench.environment
    parts: list[RenderableType] = [
        Text(
            f"\n{environment.release}: 4 KiB random reads on null_blk, one CPU, "
            "guest time = instructions",
            style="bold",
        )
    ]
    rows = [row for row in ROWS if row.disk not in APART]
    slow = [row for row in ROWS if row.disk in SLOW]
    scsi = [row for row in ROWS if row.disk == "scsi"]
    emulated = [row for row in ROWS if row.disk in EMULATED]
    caches = [row for row in ROWS if row.disk in CACHES]
    if _measured(bench, rows):
        parts.append(_main(bench, rows))
    if _measured(bench, slow):
        parts.append(_slow(bench, slow))
    if _measured(bench, scsi):
        parts.append(_scsi(bench, scsi))
    if _measured(bench, emulated):
        parts.append(_emulated(bench, emulated))
    if _measured(bench, caches):
        parts.append(_caches(bench, caches))
    if bench.restarts:
        parts.append(_restarts(bench))
    if bench.open_loops:
        parts.append(_open_loops(bench))
    if bench.core:
        parts.append(core_table(bench.core, bench.core_misses))
    if bench.generation:
        parts.append(_generation(bench))
    if bench.notifications:
        parts.append(_notifications(bench))
    if bench.sharing:
        parts.append(_sharing(bench))
    if bench.prober:
        parts.append(Text(f"\n{_prober_sentence(bench)}"))
    if bench.demands:
        parts.append(_demands(bench))
    parts.append(Text(f"\n{agreement(bench)}"))
    return Group(*parts)


def _measured(bench: Bench, rows: list[Row]) -> bool:
    keys = {row.key for row in rows}
    return any(measured.row in keys for measured in bench.figures)


def _table(title: str, first: str, *columns: str) -> Table:
    title = f"\n{title}"
    table = Table(title=title, title_justify="left", title_style="italic", box=None, pad_edge=False)
    table.add_column(first, no_wrap=True)
    for column in columns:
        table.add_column(column, justify="right")
    return table


def instructions(measured: Figure | None) -> str:
    """A figure; one that two passes did not agree on carries a mark."""
    if measured is None:
        return NOTHING
    return f"{measured.instructions:,.0f}{'' if measured.agrees else '!'}"


def _number(value: float | None, form: str) -> str:
    return NOTHING if value is None else _zero(format(value, form))


def _zero(text: str) -> str:
    """Without the sign of a zero."""
    return text.removeprefix("-") if not float(text.replace(",", "")) else text


def _first_of(bench: Bench, row: Row) -> Figure | None:
    """The figure that the counts and ratios of a row are shown of: its first conditions."""
    return figure(bench, row.key, row.conditions[0])


def _main(bench: Bench, rows: list[Row]) -> Table:
    table = _table(
        "Instructions per I/O. Counts and ratios: the first figure of the row, ratios to the "
        "floors and to fio io_uring in the same conditions",
        "",
        *("depth 32", "iostats on", "depth 1", "switches", "syscalls"),
        *(header for header, _row in COMPARED),
    )
    for row in rows:
        row_figures = [
            figure(bench, row.key, conditions) for conditions in (DEEP, DEEP_STATS, SINGLE)
        ]
        if not any(row_figures):
            continue
        first = _first_of(bench, row)
        cells = [instructions(measured) for measured in row_figures]
        cells.append(_number(first.switches if first else None, ".3f"))
        cells.append(_number(first.syscalls if first else None, ".3f"))
        ratios = first.ratios if first else {}
        cells += [_number(ratios.get(reference), ".3f") for _header, reference in COMPARED]
        table.add_row(row.title, *cells)
    return table


def _slow(bench: Bench, rows: list[Row]) -> Table:
    table = _table(
        "A disk that takes 10 us and interrupts, depth 1 or as stated: instructions but for idle",
        *("", "instructions", "switches", "syscalls", "us per I/O", "response, us"),
    )
    for row in rows:
        first = _first_of(bench, row)
        if first is not None:
            counts = (_number(first.switches, ".2f"), _number(first.syscalls, ".2f"))
            table.add_row(
                row.title,
                instructions(first),
                *counts,
                *(
                    f"{ns / 1000:.2f}" if ns else NOTHING
                    for ns in (first.elapsed_ns, first.response_ns)
                ),
            )
    return table


def _scsi(bench: Bench, rows: list[Row]) -> Table:
    table = _table(
        "The ways to a SCSI disk, on scsi_debug: instructions per I/O, its own work included",
        *("", "depth 32", "depth 1", "switches"),
    )
    for row in rows:
        first = _first_of(bench, row)
        if first is not None:
            cells = [
                instructions(figure(bench, row.key, conditions)) for conditions in (DEEP, SINGLE)
            ]
            table.add_row(row.title, *cells, f"{first.switches:.2f}")
    return table


def _emulated(bench: Bench, rows: list[Row]) -> Table:
    table = _table(
        "QEMU's disks, depth 32: instructions per I/O outside of idle, its driver included",
        *("", "instructions", "switches"),
    )
    for row in rows:
        first = _first_of(bench, row)
        if first is not None:
            table.add_row(row.title, instructions(first), f"{first.switches:.2f}")
    return table


def _caches(bench: Bench, rows: list[Row]) -> Table:
    table = _table(
        "Caches that hold all blocks, on an SSD that keeps what is written, with spek bio: "
        "instructions per I/O, and how many more than on the linear volume",
        *("", "depth 32", "more", "depth 1", "more", "switches"),
    )
    for row in rows:
        first = _first_of(bench, row)
        if first is None:
            continue
        cells = []
        for conditions in (DEEP, SINGLE):
            measured = figure(bench, row.key, conditions)
            linear = figure(bench, f"linear-{row.arguments[-1]}", conditions)
            more = None
            if measured and linear and row.disk != "linear":
                more = measured.instructions - linear.instructions
            cells += [instructions(measured), _number(more, ",.0f")]
        table.add_row(row.title, *cells, f"{first.switches:.2f}")
    return table


def _restarts(bench: Bench) -> Table:
    blocks = {restart.blocks for restart in bench.restarts}
    table = _table(
        "Caches after a power cut, with all of their "
        f"{', '.join(f'{number:,}' for number in blocks)} blocks written and flushed: "
        "until a read is served",
        *("", "instructions", "per block", "time that passed"),
    )
    for restart in bench.restarts:
        table.add_row(
            restart.disk,
            f"{restart.instructions:,.0f}",
            f"{restart.instructions / restart.blocks:,.0f}",
            f"{restart.elapsed_ns / 1e6:,.1f} ms",
        )
    return table


def _open_loops(bench: Bench) -> Table:
    table = _table(
        "Open loop on mq: slip of the I/Os, share of a CPU (1e9 instructions per second)",
        *("law", "IOPS", "spin", "slip p50", "p99", "max", "worker", "CPU busy", "switches"),
    )
    for loop in bench.open_loops:
        table.add_row(
            loop.law,
            f"{loop.iops:,}",
            f"{loop.spin_ns / 1000:g} us",
            f"{loop.slip_p50_ns / 1000:.2f} us",
            f"{loop.slip_p99_ns / 1000:.2f} us",
            f"{loop.slip_max_ns / 1000:.2f} us",
            f"{loop.worker_share:.2%}",
            f"{loop.busy_share:.2%}",
            f"{loop.switches:.2f}",
        )
    return table


def core_table(core: Mapping[str, float], misses: Mapping[str, float]) -> Table:
    """Instructions of the core by name; those with @misses are compared with the first of them."""
    table = _table(
        "The core alone: instructions per operation generated and completed, their ratio to"
        f" {next(iter(misses), NOTHING)}, and accesses per operation that a cache of 32 KiB misses",
        *("", "instructions", "ratio", "misses"),
    )
    base = next((core[name] for name in misses), 0.0)
    for name, cost in core.items():
        ratio = f"{cost / base:.2f}" if name in misses else NOTHING
        table.add_row(name, f"{cost:,.1f}", ratio, _number(misses.get(name), ".3f"))
    return table


def _notifications(bench: Bench) -> Table:
    disks = list(dict.fromkeys(notification.disk for notification in bench.notifications))
    table = _table("Notifications per I/O of QEMU's disks, depth 32, batches of 16", "", *disks)
    per_io = {
        (notification.row, notification.disk): notification.per_io
        for notification in bench.notifications
    }
    for row in ROWS:
        if any(key == row.key for key, _disk in per_io):
            table.add_row(
                row.title, *(_number(per_io.get((row.key, disk)), ".4f") for disk in disks)
            )
    return table


def _sharing(bench: Bench) -> Table:
    table = _table(
        "Two workers: cache misses per I/O on lines that the other CPU has used", "", "misses"
    )
    for name, misses in bench.sharing.items():
        if misses >= LEAST_MISSES:
            table.add_row(name, f"{misses:.3f}")
    table.add_row("all functions of spek", f"{of_spek(bench.sharing):.3f}")
    return table


def _generation(bench: Bench) -> Table:
    table = _table(
        "SPC-1 operations generated per second and CPU of this machine", "BSUs", "million", "median"
    )
    for generation in bench.generation:
        table.add_row(
            f"{generation.bsus:,}",
            f"{generation.fastest_per_s / 1e6:.1f}",
            f"{generation.median_per_s / 1e6:.1f}",
        )
    return table


def _prober_sentence(bench: Bench) -> str:
    prober = bench.prober
    assert prober
    return (
        f"Prober: a sample takes {prober.instructions:,.0f} instructions from a busy CPU "
        f"({prober.inside:,.0f} of them in reading), {prober.share_at_10ms:.3%} of it at 10 ms"
    )


def _demands(bench: Bench) -> Table:
    table = _table("What is asked for", "", "measured", "limit", "")
    for demand in bench.demands:
        is_share = "share" in demand.text
        form = ".3%" if is_share else ",.0f" if demand.limit >= 10 else ".4g"
        table.add_row(
            demand.text,
            _zero(format(demand.value, form)) if not is_share else format(demand.value, form),
            ("at least " if demand.at_least else "")
            + format(demand.limit, ".2%" if is_share else "g"),
            "met" if demand.met else "NOT MET",
        )
    return table


def agreement(bench: Bench) -> str:
    """Whether the passes agree, as a sentence."""
    if not bench.figures:
        return "No figure was measured"
    passes = min(len(measured.passes) for measured in bench.figures)
    if passes < 2:
        return "One pass only: whether the figures can be repeated was not tried"
    worst = max(bench.figures, key=lambda measured: measured.spread)
    if not bench.disagreeing:
        return (
            f"{passes} passes agree on all {len(bench.figures)} figures within "
            f"{bench.tolerance:.1%}; the worst is {worst.key}, {worst.spread:.2%}"
        )
    names = ", ".join(f"{measured.key} ({measured.spread:.2%})" for measured in bench.disagreeing)
    return f"{passes} passes do NOT agree within {bench.tolerance:.1%} on those marked !: {names}"
