# SPDX-License-Identifier: GPL-2.0-or-later
"""spekctl sweep: a workload at a series of loads, as a table and a load curve."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import click

from spekctl.commands import campaign, on_hosts, options
from spekctl.commands.campaign import CampaignOptions
from spekctl.errors import ExitCode, UsageError
from spekctl.workload.values import DEPTH_MAX

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from spekctl.campaigns.search import Search
    from spekctl.campaigns.sweep import Sweep
    from spekctl.documents.curve import Curve, Load, Over
    from spekctl.fleet.steps import FleetSteps
    from spekctl.workload.endings import Threshold
    from spekctl.workload.model import WorkloadFile
    from spekctl.workload.options import Options

EPILOG = """\b
Examples:
  spekctl sweep spc1 --bsu 1,2,5,10-100:10 --device /dev/sdb --write \\
      --time 30s -o curve.json
  spekctl sweep spc1 --bsu 5,10,20,40 --max-outstanding-per-bsu 2 \\
      --device /dev/sdb --write
  spekctl sweep random-read-4k --rate 1000-20000:1000 --device /dev/nvme0n1 \\
      --ramp 2s --csv
  spekctl sweep random-read-4k --depth 1,2,4,8,16,32 --device /dev/nvme0n1 \\
      --folder results
  spekctl sweep random-read-4k --over size=512,4KiB,64KiB \\
      --device /dev/nvme0n1
  spekctl sweep random-read-4k --depth 1,8,32 --over size=4KiB,64KiB \\
      --device /dev/nvme0n1
  spekctl sweep random-read-4k --rate 1000,500000 --within 'p99 < 1ms' \\
      --device /dev/nvme0n1
  spekctl sweep random-read-4k --rate 1000-20000:1000 --fleet plan.toml \\
      --keys keys/controller
"""


@click.command(epilog=EPILOG, no_args_is_help=True)
@options.workload
@on_hosts.fleet_options
@click.option(
    "--bsu",
    type=options.WHOLE_NUMBERS,
    help="Loads in BSUs, for a workload that scales by BSU (spc1): 1,2,5 or 1-10 or 10-100:10.",
)
@click.option(
    "--rate",
    type=options.NUMBERS,
    help="Open-loop loads in I/Os per second in total, in the same notation.",
)
@click.option(
    "--depth",
    type=options.WHOLE_NUMBERS,
    help="Closed-loop loads in I/Os outstanding in total, in the same notation.",
)
@click.option(
    "--over",
    multiple=True,
    metavar="FIELD=VALUE,...",
    help="Measure each load with each of these values; given twice, with each pair of values."
    " FIELD is size, read, sequential or pattern (of all streams), workers, max-outstanding, batch,"
    " spin or stripe, or a field of the workload as of --set: stream.NAME.size. Without --bsu,"
    " --rate or --depth the load is the workload's own.",
)
@click.option(
    "--within",
    type=options.CONDITION,
    help="Search for the highest load of which this is true, over its measure phase: 'p99 < 10ms'."
    " --bsu, --rate or --depth then has two loads: where the search starts, and the highest.",
)
@click.option(
    "--max-outstanding-per-bsu",
    type=click.IntRange(1, DEPTH_MAX),
    metavar="N",
    help="With --bsu: at most N I/Os outstanding for each BSU of the load, as the host of a BSU has"
    " them; 2 is common.",
)
@campaign.resolution("1 BSU, I/O per second or I/O outstanding", default="5")
@options.load_options("time_ns", "passes", "ramp_ns", "workers", "cpus", "seed", "write")
@options.destroy
@options.load_range("backend")
@options.metering
@options.result("Write the load curve as JSON to FILE.")
@options.folder(
    "Keep the curve, the result of each point and the state of the sweep in DIR, so that the sweep"
    " can be resumed; DIR is created if missing.  [default: none]",
)
@click.option("--resume", is_flag=True, help="Continue the sweep in --folder.")
@options.as_json("Load curve")
@click.option("--csv", "as_csv", is_flag=True, help="Load curve as CSV on standard output.")
@options.progress
def command(**given: Any) -> int:
    """Measure WORKLOAD at a series of loads, given by --bsu, --rate or --depth, or over the values
    of fields, given by --over.

    Each load is a separate run, with the same checks as `spekctl run`. Loads may exceed what the
    device can sustain: arrivals keep their rate, the backlog grows, and "stretch" states how many
    times the length of the run the device would need to complete everything that arrived in it.

    --within searches for the highest load within a limit: it doubles the load until one is beyond
    it, then bisects. A load that the device does not keep up with, or that fails, is beyond it.

    With --fleet, each load is one run of all clients of the plan, with one start and one
    summed result, and is divided equally among them. All hosts hold their devices from the first
    load to the last. A lost host ends the sweep, with exit code 9.

    The result is a table, CSV or JSON, with one line per load. Ctrl-C keeps the points measured so
    far; with --folder, --resume continues after them. The exit code is that of the failed run if
    any run failed, 6 if --verify found wrong data at any load, and 7 if --stop-when ended a run or
    a run did not reach the steady state of --until; the sweep continues with the next load. A
    search ends with 0, or with 7 if no load is within the limit.
    """
    fields = _fields(given.pop("over"))
    workload = options.take_workload(given, _most_workers(fields))
    sinks = _Sinks(*(given.pop(key) for key in _Sinks.__dataclass_fields__))
    loads = _loads({key: given.pop(key) for key in ("bsu", "rate", "depth")}, fields)
    if fields and given["within"] is not None:
        raise UsageError("--over and --within exclude each other: a search varies the load alone")
    limit = _limit(given.pop("within"), given.pop("resolution_percent"), loads)
    per_bsu = given.pop("max_outstanding_per_bsu")
    load = options.take_load(given)
    if per_bsu is not None:
        _check_per_bsu(per_bsu, loads, load, fields)

    def work(hosts: FleetSteps | None) -> int:
        asked, _ = CampaignOptions.split({**given, "as_json": sinks.as_json})
        return _sweep(workload, asked, sinks, loads, load, limit, fields, per_bsu, hosts)

    return on_hosts.perform(given, workload, work)


@dataclass(frozen=True, slots=True)
class _Sinks:
    """Destinations of the curve besides the folder."""

    output: Path | None
    as_json: bool
    as_csv: bool


def _most_workers(fields: Sequence[Over]) -> int | None:
    """Most workers of a sweep over workers; None for other sweeps."""
    listed = [value for over in fields if over.field == "workers" for value in over.values]
    return max((int(value) for value in listed if value.isdecimal()), default=None)


def _fields(given: tuple[str, ...]) -> list[Over]:
    from spekctl.campaigns import over

    return over.parse(given) if given else []


def _loads(given: dict[str, list[int | float] | None], fields: list[Over]) -> list[Load]:
    """The loads that are given; none: with @fields, the workload's own."""
    from spekctl.documents.curve import Load

    kinds = [kind for kind, values in given.items() if values]
    if not kinds and fields:
        return []
    if not kinds:
        raise UsageError(
            "say which loads: --bsu, --rate or --depth, for example --depth 1,2,4,8; or which"
            " fields: --over size=4KiB,64KiB"
        )
    if len(kinds) > 1:
        names = " and ".join(f"--{kind}" for kind in kinds)
        raise UsageError(f"{names} exclude each other: each sets the load")
    kind = kinds[0]
    return [Load(kind, value) for value in given[kind] or []]  # type: ignore[arg-type]


def _check_per_bsu(per_bsu: int, loads: list[Load], shape: Options, fields: list[Over]) -> None:
    """Refuse a depth that cannot follow the load, or that the module does not allow."""
    flag = "--max-outstanding-per-bsu"
    if not loads or loads[0].kind != "bsu":
        raise UsageError(f"{flag} needs loads in BSUs: give --bsu")
    if shape.max_outstanding is not None:
        raise UsageError(f"{flag} and --max-outstanding exclude each other")
    if any(over.field == "max-outstanding" for over in fields):
        raise UsageError(f"{flag} and --over max-outstanding exclude each other")
    most = max(int(load.value) for load in loads)
    if most * per_bsu > DEPTH_MAX:
        raise UsageError(
            f"{flag} {per_bsu}: at {most} BSU that is {most * per_bsu:,} I/Os outstanding; at most"
            f" {DEPTH_MAX:,} are allowed"
        )


def _limit(
    condition: Threshold | None, resolution_percent: float | None, loads: list[Load]
) -> tuple[Threshold, Search] | None:
    """The condition of --within and the search for it, if it is given."""
    from spekctl.campaigns import sweep
    from spekctl.campaigns.search import Search

    if condition is None:
        if resolution_percent is not None:
            raise UsageError("--resolution needs --within as well")
        return None
    sweep.check_condition(condition, loads[0].kind)
    flag = f"--{loads[0].kind}"
    values = [load.value for load in loads]
    if len(values) != 2 or any(value != int(value) for value in values) or values[0] > values[1]:
        raise UsageError(
            f"{flag} with --within has two whole numbers, the lower first: where the search starts"
            f" and the highest load, for example {flag} 1000,200000"
        )
    if values[0] < 1:
        raise UsageError(f"{flag}: a search cannot start at {values[0]:g}; it doubles the load")
    first, most = (int(value) for value in values)
    percent = 5.0 if resolution_percent is None else resolution_percent
    return condition, Search(first, most, percent)


def _sweep(
    workload: WorkloadFile,
    asked: CampaignOptions,
    sinks: _Sinks,
    loads: list[Load],
    shape: Options,
    limit: tuple[Threshold, Search] | None,
    fields: list[Over],
    per_bsu: int | None,
    hosts: FleetSteps | None,
) -> int:
    from spekctl import files
    from spekctl.campaigns import over, sweep
    from spekctl.documents.curve import Load
    from spekctl.run import request
    from spekctl.workload.options import OPTIONS, flag_of

    if sinks.as_json and sinks.as_csv:
        raise UsageError("--json and --csv exclude each other: both go to standard output")
    if asked.resume and asked.out is None:
        raise UsageError("--resume continues the sweep of a folder: name it with --folder")
    if hosts is not None:
        subject = request.Subject(workload, hosts.devices)
        name = f"{workload.workload.name} on {hosts.title}"
    else:
        subject = request.on(workload, asked.devices)
        name = subject.title

    def plan(load: Load | None, place: Mapping[str, str] = MappingProxyType({})) -> sweep.Planned:
        chosen: dict[str, Any] = {load.kind: load.value} if load is not None else {}
        if per_bsu is not None and load is not None:
            chosen["max_outstanding"] = int(load.value) * per_bsu
        options = over.options_at(replace(shape, **chosen), place)
        there = replace(subject, workload=over.workload_at(subject.workload, place))
        if hosts is not None:
            built = hosts.request(there.workload, options)
        else:
            built = request.build(there, options, asked.destroy)
        own = load or over.own_load(built.config)
        if load is None and hosts is not None:
            # Each client has the load of the workload.
            own = Load(own.kind, own.value * len(hosts.names))
        return sweep.Planned(own, built, place)

    over.check_count(len(loads), fields)
    wanted: list[Load | None] = [*loads] or [None]
    planned = [plan(load, place) for place in over.places(fields) for load in wanted]
    limited = None
    given = {name: value for name in OPTIONS if (value := getattr(shape, name)) is not None}
    recorded = {flag_of(name): _text(value) for name, value in given.items()}
    if hosts is not None:
        recorded["plan of the fleet"] = hosts.told
    if per_bsu is not None:
        recorded["--max-outstanding-per-bsu"] = str(per_bsu)
    if limit is not None:
        kind = loads[0].kind
        condition, search = limit
        if hosts is not None and kind != "rate":
            # Each client has a BSU, or an I/O outstanding, at least.
            search = replace(search, least=len(hosts.names))
        limited = sweep.Limited(condition, search, lambda load: plan(Load(kind, load)))
        recorded["--within"] = str(limit[0])
        recorded["--resolution"] = f"{limit[1].resolution_percent:g}"
    request.check_destroy(planned[0].request)
    files.check_writable(sinks.output)
    for point in planned:
        request.check_write(point.request)
    work = sweep.Sweep(
        name=name,
        hosts=hosts,
        devices=subject.devices,
        parameters=sweep.Parameters(
            subject.workload,
            loads,
            recorded,
            fields,
        ),
        planned=planned,
        limited=limited,
        folder=asked.out,
        **asked.tools(),
    )
    return campaign.carry_out(work, asked, lambda: _deliver(work, sinks))


def _text(value: object) -> str:
    """The value of an option, as a resumption compares it."""
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _deliver(work: Sweep, sinks: _Sinks) -> ExitCode:
    """Deliver the curve to its destinations."""
    from spekctl import files
    from spekctl.campaigns.sweep import CURVE
    from spekctl.commands.deliver import deliver, measured
    from spekctl.documents.result import NOTHING
    from spekctl.render.curve import csv_of, print_curve

    if not (work.done or work.broken or work.missing):
        return ExitCode.RUN_FAILED
    code = work.exit_code()

    def show(curve: Curve) -> None:
        if sinks.as_csv:
            click.echo(csv_of(curve), nl=False)
        else:
            print_curve(curve)

    curve = work.curve(sinks.output.parent if sinks.output is not None else Path())
    with measured(code):
        try:
            if work.folder is not None:
                files.deliver(files.encode(work.curve(work.folder)), work.folder / CURVE)
        finally:
            deliver(curve, show, sinks.as_json, sinks.output, "curve")
    for point in curve.points:
        if point.empty:
            click.echo(f"spekctl: {point.name}: {NOTHING}", err=True)
    return code
