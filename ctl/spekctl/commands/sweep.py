# SPDX-License-Identifier: GPL-2.0
"""spekctl sweep: a workload at one load after the other, as a table and a curve."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from spekctl.commands import options
from spekctl.errors import SpekError, UsageError

if TYPE_CHECKING:
    from spekctl.documents.curve import Curve, Load
    from spekctl.workload.model import WorkloadFile
    from spekctl.workload.options import Options

EPILOG = """\b
Examples:
  spekctl sweep spc1 --bsu 1,2,5,10-100:10 --device /dev/sdb --write --time 30s -o curve.json
  spekctl sweep random-read-4k --rate 1000-20000:1000 --device /dev/nvme0n1 --ramp 2s --csv
  spekctl sweep random-read-4k --depth 1,2,4,8,16,32 --device /dev/nvme0n1 --keep results
"""


@click.command(epilog=EPILOG, no_args_is_help=True)
@options.workload
@options.devices
@click.option(
    "--bsu",
    type=options.WHOLE_NUMBERS,
    help="Loads of a workload that scales by BSU (spc1): 1,2,5 or 1-10 or 10-100:10.",
)
@click.option(
    "--rate",
    type=options.NUMBERS,
    help="Loads of an open loop, I/Os per second in all, written likewise.",
)
@click.option(
    "--depth",
    type=options.WHOLE_NUMBERS,
    help="Loads of a closed loop, I/Os outstanding in all, written likewise.",
)
@options.load_options("time_ns", "ramp_ns", "workers", "cpus", "seed", "write")
@options.destroy
@options.load_options("backend", "polled", "interval_ns", "max_outstanding", "batch", "spin_ns")
@options.load_options("max_errors", "data", "verify", "hrrw", "iops_per_bsu", "stripe_bytes")
@options.prober_interval
@options.no_prober
@options.power_feed
@options.power_baseline
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write the curve as JSON to FILE.",
)
@click.option(
    "--keep",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Keep the whole result of every point in DIR; it is made if it is not there.",
)
@click.option("--json", "as_json", is_flag=True, help="Curve as JSON on standard output.")
@click.option("--csv", "as_csv", is_flag=True, help="Curve as CSV on standard output.")
@options.progress
def command(**given: Any) -> int:
    """Measure WORKLOAD at a list of loads: --bsu, --rate or --depth.

    Each load is a run of its own, with all that `spekctl run` checks before it. Loads beyond
    what the device can do are welcome: arrivals keep their rate, the backlog grows, and the
    stretch says how many times longer than the run it would take to work off what arrived in it.

    The result is a table, or CSV, or JSON, with a line for each load. Ctrl-C keeps the points
    that were measured. The exit code is that of a failed run if any run failed, and 6 if --verify
    found wrong data at any load.
    """
    workload = options.take_workload(given)
    loads = _loads({key: given.pop(key) for key in ("bsu", "rate", "depth")})
    return _sweep(workload, SweepOptions(load=options.take_load(given), **given), loads)


@dataclass(frozen=True, slots=True)
class SweepOptions:
    """The options of `spekctl sweep` but its list of loads."""

    load: Options
    devices: tuple[str, ...]
    destroy: tuple[str, ...]
    prober_ns: int
    no_prober: bool
    power_feeds: tuple[str, ...]
    power_baseline: str | None
    output: Path | None
    keep: Path | None
    as_json: bool
    as_csv: bool
    progress: str


def _loads(given: dict[str, list[int | float] | None]) -> list[Load]:
    from spekctl.documents.curve import Load

    kinds = [kind for kind, values in given.items() if values]
    if not kinds:
        raise UsageError("say which loads: --bsu, --rate or --depth, for example --depth 1,2,4,8")
    if len(kinds) > 1:
        names = " and ".join(f"--{kind}" for kind in kinds)
        raise UsageError(f"{names} exclude each other: each sets the load")
    kind = kinds[0]
    return [Load(kind, value) for value in given[kind] or []]  # type: ignore[arg-type]


def _sweep(workload: WorkloadFile, asked: SweepOptions, loads: list[Load]) -> int:
    from spekctl import files
    from spekctl.campaigns import sweep
    from spekctl.kernel import client
    from spekctl.render import series
    from spekctl.run import job, request

    if asked.as_json and asked.as_csv:
        raise UsageError("--json and --csv exclude each other: both go to standard output")
    subject = request.on(workload, asked.devices)
    power = options.power_of(asked.power_feeds, asked.power_baseline)
    planned = []
    for load in loads:
        chosen: dict[str, Any] = {load.kind: load.value}
        wanted = request.build(subject, replace(asked.load, **chosen), asked.destroy)
        planned.append(sweep.Planned(load, wanted))
    request.check_destroy(planned[0].request)
    files.check_writable(asked.output)
    request.check_write(planned[0].request)
    beside = asked.output.parent if asked.output is not None else Path()
    work = sweep.Sweep(planned, asked.keep, beside)
    kernel = client.connect()
    try:
        files.make_folder(asked.keep)
        with job.Interrupts() as interrupts:
            view = series.SeriesProgress(asked.progress, subject.title)
            prober_ns = None if asked.no_prober else asked.prober_ns
            try:
                work.measure(kernel, view, interrupts, prober_ns, power)
            except SpekError:
                if not interrupts.count:
                    raise
            finally:
                view.close()
                if work.done or interrupts.count:
                    _deliver(work.curve(), asked)
            return int(work.exit_code(interrupts))
    finally:
        kernel.close()


def _deliver(curve: Curve, asked: SweepOptions) -> None:
    """The curve to where it was wanted."""
    from spekctl import files
    from spekctl.render import curve as render_curve

    data = files.encode(curve)
    if asked.output is not None:
        files.deliver(data, asked.output)
    if asked.as_json:
        click.echo(data.decode(), nl=False)
    elif asked.as_csv:
        click.echo(render_curve.csv_of(curve), nl=False)
    else:
        render_curve.print_curve(curve)
        if asked.output is not None:
            click.echo(f"spekctl: curve written to {asked.output}", err=True)
