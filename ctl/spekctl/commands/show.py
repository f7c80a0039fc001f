# SPDX-License-Identifier: GPL-2.0-or-later
"""spekctl show: a workload in words, and in numbers for a device; any file that spek writes."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from spekctl.commands import options

if TYPE_CHECKING:
    from rich.console import RenderableType

    from spekctl.commands.deliver import Exports
    from spekctl.workload.config import ResolvedStream, RunConfig
    from spekctl.workload.layout import Target
    from spekctl.workload.model import Stream, TraceSource, WorkloadFile


@click.command()
@click.argument(
    *("names",),
    metavar="WORKLOAD|FILE...",
    nargs=-1,
    required=True,
    shell_complete=options.complete_workload,
)
@click.option(
    *("--device", "-d", "devices"),
    multiple=True,
    metavar="[ASU=]DEV",
    help="Compute for this device, or for that of an [[asu]].",
)
@click.option(
    "--capacity", type=options.SIZE, help="Compute for a device of this capacity instead."
)
@options.settings
@options.load_options("bsu", "rate", "depth", "hrrw")
@options.output(f"With --csv: write to FILE instead of standard output. {options.OLDER_EXPORT}")
@options.exports_of_saved
@options.data_sheet
@options.as_json()
def command(
    names: tuple[str, ...],
    devices: tuple[str, ...],
    capacity: int | None,
    settings: tuple[str, ...],
    bsu: int | None,
    rate: float | None,
    depth: int | None,
    hrrw: str | None,
    output: Path | None,
    data_sheet: str | None,
    as_json: bool,
    **given: Any,
) -> int:
    """Explain WORKLOAD; with --device or --capacity also in addresses, bytes and rates.

    Of a FILE that spekctl has written, show what it is, which command wrote it, and its contents.

    --csv, --hdr-log, --fio-logs and --fio-json write what they write with `spekctl run`. Of a load
    curve --csv writes the points, as with `spekctl sweep`, and of a prober the samples. Other files
    are refused, with what they have instead. An older file of these names becomes FILE~ as soon as
    all options are checked and every FILE can be read.

    --data-sheet compares a result, a load curve or a report of `spekctl energy spc1e` with the
    figures that the drives' maker states: FILE has a title, sources, the number of drives behind
    each device, [watts] idle and active, and for each [[claim]] a name and any of direction,
    workloads, iops, mb_s, latency and latency_p99.
    """
    from spekctl.errors import UsageError

    if output is not None and given["csv"] != options.STANDARD_OUTPUT:
        raise UsageError("--output needs --csv without a FILE as well")
    if any(given[name] is not None for name in options.EXPORTS):
        exports = options.take_exports(given)
        if output is not None:
            exports = dataclasses.replace(exports, csv=output)
        first, _ = exports.files()[0]
        allowed = ("names", "output", *options.EXPORTS)
        options.refuse_others(first, allowed, f"{first} only converts results")
        _write_exports([Path(name) for name in names], exports)
        return 0
    if len(names) > 1:
        raise UsageError(
            f"show takes one workload or file, not {len(names)}; several results need --fio-json"
        )
    (workload,) = names
    if _is_document(workload):
        _show_document(Path(workload), as_json, data_sheet)
        return 0
    if data_sheet is not None:
        raise UsageError(f"--data-sheet: {workload} is a workload, which has no measured figures")
    loaded = options.load_workload(workload, settings, {"rate": rate, "depth": depth})
    if devices and capacity is not None:
        raise UsageError("--device and --capacity exclude each other")
    load = {"bsu": bsu, "rate": rate, "depth": depth, "hrrw": hrrw}
    config = None
    if not devices and capacity is None:
        for name, value in load.items():
            if value is not None:
                raise UsageError(f"--{name} needs --device or --capacity as well")
    else:
        from spekctl.workload.options import Options
        from spekctl.workload.resolve import resolve

        loaded, targets = _targets(loaded, devices, capacity)
        if loaded.workload.scale == "bsu" and bsu is None and depth is None and rate is None:
            load["bsu"] = 1
        chosen = Options(
            **load,  # type: ignore[arg-type]
            available_cpus=sorted(os.sched_getaffinity(0)),
        )
        config = resolve(loaded, chosen, targets)
    if as_json:
        import msgspec

        data: dict[str, object] = {"workload": msgspec.to_builtins(loaded)}
        if config is not None:
            data["config"] = msgspec.to_builtins(config)
        click.echo(json.dumps(data, indent=1))
        return 0
    _print_words(loaded)
    if config is not None:
        print_numbers(config, as_json=False)
    return 0


def _targets(
    loaded: WorkloadFile, devices: Sequence[str], capacity: int | None
) -> tuple[WorkloadFile, list[Target]]:
    """The devices to compute for, and the workload on them. @capacity: of each, instead."""
    from spekctl.run import request, targets
    from spekctl.workload import own_devices
    from spekctl.workload.layout import Target

    if capacity is None:
        subject = request.on(loaded, devices)
        return subject.workload, targets.targets_of(subject.devices)
    shared = [] if own_devices.are_all(loaded) else ["a device of that capacity"]
    _, paths = own_devices.taken(loaded, shared)
    return loaded, [Target(path, 0, number, capacity, 512) for number, path in enumerate(paths)]


def _write_exports(paths: Sequence[Path], exports: Exports) -> None:
    """Write exports of saved results, once all are known to be possible. Older ones are renamed as
    those of a run are, but not by a command line that names no file to read."""
    from spekctl.commands import aside
    from spekctl.documents import document
    from spekctl.errors import UsageError

    outputs = exports.files()
    exports.check_with(None, paths)
    if len(paths) > 1:
        for option, _ in outputs:
            if option != "--fio-json":
                raise UsageError(f"{option} takes one result, not {len(paths)}")
    for path in paths:
        # Its failure is that of a path; what the file holds comes later.
        document.is_document(path)
    written = [path for _, path in outputs]
    aside.carry_out(written, paths, lambda: _write(paths, exports), any_kind=True)


def _write(paths: Sequence[Path], exports: Exports) -> int:
    """Write the exports of what @paths hold; the exit code."""
    from spekctl import files
    from spekctl.documents.result import load_result
    from spekctl.exports import fio_json
    from spekctl.render import csv_tables

    outputs = exports.files()
    if len(paths) == 1 and [option for option, _ in outputs] == ["--csv"]:
        table = csv_tables.read(paths[0])
        if table is not None:
            files.deliver(table, outputs[0][1])
            return 0
    results = [load_result(path) for path in paths]
    if len(results) > 1:
        assert exports.fio_json is not None
        files.deliver(fio_json.encode_clients(results), exports.fio_json)
        return 0
    exports.check_contents(results[0])
    exports.deliver(results)
    return 0


def _is_document(name: str) -> bool:
    """Whether @name is a file that holds no text such as TOML; workloads are found first."""
    from spekctl.documents import document
    from spekctl.workload.file import shipped_names

    return os.path.isfile(name) and name not in shipped_names() and document.is_document(Path(name))


def _show_document(path: Path, as_json: bool, data_sheet: str | None) -> None:
    import msgspec

    from spekctl.documents import document
    from spekctl.documents.document import Kind
    from spekctl.render import document as render

    kind = document.identify(
        path, list(Kind), words="a workload or a file that spekctl has written"
    )
    allowed = ("names", "as_json", "data_sheet")
    options.refuse_others(str(path), allowed, f"it is {kind.text}, not a workload")
    header = None
    if kind is Kind.LOG:
        from spekctl.log.file import open_log

        header = msgspec.json.encode(open_log(path).header)
    elif kind is Kind.TRACE:
        from spekctl.log.file import require

        require()
        from spekctl.trace.store import open_stored

        header = msgspec.json.encode(open_stored(path).header)
    read = document.read(path, render.MODELS[kind]) if kind in render.MODELS else None
    beside = _beside(read, data_sheet) if data_sheet is not None else []
    if as_json and data_sheet is not None:
        from spekctl.errors import UsageError

        raise UsageError(
            "--data-sheet and --json exclude each other: --json prints the document alone"
        )
    if as_json:
        data = path.read_bytes() if header is None else header
        click.echo(json.dumps(msgspec.to_builtins(read or json.loads(data)), indent=1))
        return
    render.print_origin(path, document.origin(path, header))
    if read is not None:
        click.echo()
        render.print_contents(read)
    if beside:
        from spekctl.render import console, tables

        console.print_parts(beside, tables.WIDTH)


def _beside(read: Any, name: str) -> list[RenderableType]:
    """Measured figures beside those of the data sheet @name."""
    from spekctl.documents import data_sheet
    from spekctl.render import data_sheet as render

    return render.parts(data_sheet.load(name), read)


def _print_words(loaded: WorkloadFile) -> None:
    from spekctl.workload import rates
    from spekctl.workload.meaning import arrivals_of, asus_of, beside_trace

    loaded = rates.expanded(loaded)
    header = loaded.workload
    click.echo(f"{header.name}: {header.summary}")
    if header.doc:
        click.echo("\n" + header.doc.strip())
    generates = bool(beside_trace(loaded))
    click.echo()
    if generates:
        click.echo("address ranges")
        for asu in asus_of(loaded):
            start = f" from {asu.start}" if asu.start is not None else ""
            low = f", at least {asu.min}" if asu.min is not None else ""
            there = f", on {asu.device}" if asu.device is not None else ""
            click.echo(f"  {asu.name}: {asu.size}{start}{low}{there}")
        click.echo("arrivals")
    if header.scale == "bsu":
        click.echo(f"  poisson, {header.iops_per_bsu} per second for each BSU (--bsu)")
    elif generates:
        for arrival in arrivals_of(loaded):
            values = {
                "depth": arrival.depth,
                "think": arrival.think,
                "pause": arrival.pause,
                "pause_every": arrival.pause_every,
                "pause_counts": arrival.pause_counts,
                "pause_after": arrival.pause_after,
                "count": arrival.count,
                "passes": arrival.passes,
                "limit": arrival.limit,
                "burst": arrival.burst,
                "rate": arrival.rate,
                "curve": ", ".join(f"{point.rate:g} at {point.at}" for point in arrival.curve),
                "shape": arrival.shape,
                "to": arrival.to,
                "period": arrival.period,
                "swing": arrival.swing,
                "repeat": None if arrival.repeat is None else str(arrival.repeat).lower(),
                "on": arrival.on,
                "off": arrival.off,
                "tail": arrival.tail,
                "length": arrival.length,
                "interval": arrival.interval,
            }
            words = ", ".join(f"{key} {value}" for key, value in values.items() if value)
            click.echo(f"  {arrival.name}: {arrival.law}, {words}")
    click.echo("streams")
    for stream in loaded.stream:
        click.echo("  " + stream_words(stream))


# Keys of a stream that are said before the others, or belong to --hrrw.
_SHOWN_FIRST = {
    *("name", "asu", "arrival", "share", "rate", "read_rate", "write_rate", "read", "operation"),
    *("size", "sizes", "pattern", "trace", "fixed"),
}
# Keys that words say better than their names.
_KEY_WORDS = {
    "fua": "FUA",
    "priority": "I/O priority",
    "start": "from",
    "range": "over",
    "sequential": "sequential share",
    "run_length": "runs of",
    "restart": "starting in the first",
}
# Their default in another notation.
_WHOLE_ASU = {"start": "0%", "range": "100%"}


def _keys_of(stream: Stream) -> Iterator[tuple[str, Any, Any]]:
    """The other keys of a stream: name, value, default."""
    from msgspec.structs import fields

    usual = type(stream)(name=stream.name)
    for field in fields(stream):
        if field.name not in _SHOWN_FIRST:
            yield field.name, getattr(stream, field.name), getattr(usual, field.name)


def _value_words(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return ", ".join(f"{zone.share} in {zone.size}" for zone in value)
    return str(value)


def stream_words(stream: Stream) -> str:
    """A stream in a line: what it does, then its keys that differ from their defaults."""
    from spekctl.workload.values import ZONE_COMMANDS

    if stream.trace is not None:
        return f"{stream.name}: {_trace_words(stream.trace)}"
    if stream.operation == "flush" or stream.operation in ZONE_COMMANDS:
        size = "none"
    elif stream.size is not None:
        size = str(stream.size)
    else:
        size = " / ".join(f"{size.share} {size.size}" for size in stream.sizes)
    reads = f"{stream.read or '100%'} reads"
    what = reads if stream.operation == "transfer" else stream.operation
    where = f" in {stream.asu}" if stream.asu else ""
    words = "".join(
        f", {_KEY_WORDS.get(key, key.replace('_', ' '))} {_value_words(value)}"
        for key, value, usual in _keys_of(stream)
        if value not in (usual, _WHOLE_ASU.get(key))
    )
    return f"{stream.name}: share {stream.share}, {what}, {size}, {stream.pattern}{where}{words}"


def _trace_words(trace: TraceSource) -> str:
    if trace.closed is not None:
        pace = f"in a closed loop of depth {trace.closed}"
        pace += " with think times" if trace.think else ""
    elif trace.rate is not None:
        pace = f"at {trace.rate} per second"
        pace += " on average, with its bursts" if trace.bursts else ""
    elif trace.speed is not None:
        pace = f"at {trace.speed} times its speed"
    else:
        pace = "at its recorded times"
    if trace.max_idle is not None:
        pace += f", idle times of at most {trace.max_idle}"
    return f"trace of {', '.join(trace.files)}, {pace}, addresses {trace.map}"


def print_toml(workload: WorkloadFile) -> None:
    """A workload as the text of a file, for `run --dry-run`."""
    from spekctl.workload import override

    click.echo(override.to_toml(workload))


def print_numbers(config: RunConfig, as_json: bool) -> None:
    """A resolved configuration, for `show --device` and `run --dry-run`."""
    if as_json:
        import msgspec

        click.echo(json.dumps(msgspec.to_builtins(config), indent=1))
        return
    from spekctl.render import tables
    from spekctl.render.console import fitted
    from spekctl.units import format_bytes

    console = fitted(140)
    names = ("asu", "size", "bytes", "on target: first byte")
    asus = tables.table(*names, right=("size", "bytes"))
    for asu in config.asus:
        places = ", ".join(f"{extent.target}: {extent.start}" for extent in asu.extents)
        asus.add_row(asu.name, format_bytes(asu.bytes), str(asu.bytes), places)
    streams = tables.table("stream", "share", "read", "sizes", "pattern", "from", "range", "align")
    for stream in config.streams:
        whole = sum(
            resolved.weight for resolved in config.streams if resolved.arrival == stream.arrival
        )
        streams.add_row(
            stream.name,
            _percent(stream.weight / whole),
            _percent(stream.read_ppm / 1e6),
            _sizes(stream),
            f"table of {len(stream.parts)}" if stream.parts else stream.pattern,
            format_bytes(stream.range_start),
            format_bytes(stream.range_bytes),
            format_bytes(stream.align_bytes),
        )
    console.print()
    console.print(asus)
    console.print(streams)
    console.print(
        f"{_load_words(config)}; at most {config.max_outstanding} outstanding,"
        f" {len(config.cpus)} worker(s), seed {config.seed}"
    )


def _load_words(config: RunConfig) -> str:
    """The load in words: closed loops, arrivals with a rate, a trace, or several of them."""
    from spekctl.units import format_rate

    closed = sum(arrival.depth for arrival in config.arrivals if arrival.law == "closed")
    rate = config.arrival_rate
    words = [f"closed loop of depth {closed}"] if closed else []
    words += [f"{format_rate(rate)} I/Os per second offered"] if rate else []
    words += ["a trace"] if any(arrival.law == "trace" for arrival in config.arrivals) else []
    return " beside ".join(words)


def _sizes(stream: ResolvedStream) -> str:
    from spekctl.units import format_bytes

    total = sum(size.weight for size in stream.sizes)
    if len(stream.sizes) == 1:
        return format_bytes(stream.sizes[0].bytes)
    return ", ".join(
        f"{_percent(size.weight / total)} {format_bytes(size.bytes)}" for size in stream.sizes
    )


def _percent(share: float) -> str:
    """A share with four decimals, which a workload may have; 0% and 100% are nothing and all."""
    return f"{round(100 * share, 4):g}%"
