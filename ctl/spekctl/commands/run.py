# SPDX-License-Identifier: GPL-2.0
"""spekctl run: a workload on devices, from the command line to the result."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from spekctl.errors import SpekError, UsageError
from spekctl.options import CPU_LIST, DURATION, DURATION_WITH_UNIT, SIZE

if TYPE_CHECKING:
    from spekctl.result import Result
    from spekctl.run import Request

EPILOG = """\b
Examples:
  spekctl run random-read-4k --device /dev/nvme0n1 --time 30s
  spekctl run spc1 --bsu 50 --device /dev/sdb --ramp 10s --time 60s --write -o out.json
  spekctl run mixed-70-30-8k --rate 5000 --device /dev/sdb --device /dev/sdc --write
"""


@click.command(epilog=EPILOG, no_args_is_help=True)
@click.argument("workload")
@click.option(
    "--device",
    "-d",
    "devices",
    multiple=True,
    required=True,
    metavar="DEV",
    help="Block device to test; give it again to stripe the workload over several.",
)
@click.option("--bsu", type=int, metavar="N", help="Load of a workload that scales by BSU (spc1).")
@click.option(
    "--rate",
    type=float,
    metavar="R",
    help="Open loop: R I/Os per second in all, whatever the device does. Arrivals are Poisson, or"
    " keep the law of the file (constant, burst).",
)
@click.option("--depth", type=int, metavar="N", help="Closed loop: N I/Os outstanding in all.")
@click.option(
    "--time",
    "time_ns",
    type=DURATION,
    help="Measure for so long: 500ms, 60s, 5m, 2h; a bare number is seconds. Default: what the"
    " workload says, else 60s.",
)
@click.option("--count", type=int, metavar="N", help="Measure exactly N I/Os instead.")
@click.option("--ramp", "ramp_ns", type=DURATION, help="Run for so long before measuring.")
@click.option("--ramp-count", type=int, metavar="N", help="Run N I/Os before measuring instead.")
@click.option("--workers", type=int, metavar="N", help="Worker threads, one CPU each.  [1]")
@click.option("--cpus", type=CPU_LIST, help="Their CPUs: 0-3,8. Without --workers one for each.")
@click.option(
    "--seed",
    type=int,
    default=1,
    show_default=True,
    metavar="S",
    help="Same seed, workload and number of workers: same sequence of I/Os.",
)
@click.option("--write", is_flag=True, help="Allow writing. Needed by workloads that write.")
@click.option(
    "--destroy",
    multiple=True,
    metavar="SERIAL",
    help="Overwrite this device although it holds data: its serial number or WWN, as `spekctl"
    " devices` shows it (for devices without one: MAJ:MIN/DISKSEQ). Together with --write.",
)
@click.option(
    "--backend",
    type=click.Choice(["auto", "bio", "mq"]),
    default="auto",
    show_default=True,
    help="How I/O reaches the device; auto chooses, and the result says what and why.",
)
@click.option("--polled", is_flag=True, help="Poll for completions; needs poll queues.")
@click.option(
    "--interval",
    "interval_ns",
    type=DURATION,
    help="Report interval; 0 reports only at the end.  [1s]",
)
@click.option(
    "--max-outstanding",
    type=int,
    metavar="N",
    help="I/Os that may be outstanding at once; arrivals beyond that wait and are counted as"
    " backlog.  [the depths of closed loops; up to 1024 more for open ones]",
)
@click.option("--batch", type=int, metavar="N", help="I/Os handed over in one go.")
@click.option(
    "--spin",
    "spin_ns",
    type=DURATION_WITH_UNIT,
    default="0ns",
    show_default=True,
    help="Spin for the last so long before an arrival instead of sleeping: exacter, costs CPU.",
)
@click.option(
    "--max-errors", type=int, default=0, metavar="N", help="End after N failed I/Os; 0: never."
)
@click.option("--data", type=click.Choice(["zero", "random"]), help="What writes write.  [zero]")
@click.option(
    "--hrrw", type=click.Choice(["classic", "fixed"]), help="Variant of random walks.  [classic]"
)
@click.option("--iops-per-bsu", type=int, metavar="N", help="I/Os per second of one BSU.  [50]")
@click.option(
    "--stripe",
    "stripe_bytes",
    type=SIZE,
    default="64KiB",
    show_default=True,
    help="Stripe unit over several devices, a power of two.",
)
@click.option("--detach", is_flag=True, help="Start, print the number of the run, and leave.")
@click.option(
    "--prober-interval",
    "prober_ns",
    type=DURATION,
    default="1s",
    show_default=True,
    help="How often spek_prober samples the machine, if it is loaded.",
)
@click.option("--no-prober", is_flag=True, help="Do not use spek_prober.")
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write the result as JSON to FILE.",
)
@click.option("--json", "as_json", is_flag=True, help="Result as JSON on standard output.")
@click.option(
    "--progress",
    type=click.Choice(["auto", "live", "lines", "none"]),
    default="auto",
    show_default=True,
    help="View while it runs, on standard error: live on a terminal, else a line now and then.",
)
@click.option("--dry-run", is_flag=True, help="Check everything but send nothing: show numbers.")
def command(workload: str, **given: Any) -> int:
    """Run WORKLOAD, a name from `spekctl workloads` or the path of a .toml file.

    The devices are claimed exclusively: what is mounted or otherwise in use is refused. Runs that
    only read open them read-only. Runs that write need --write, and devices that hold nothing
    (or --destroy).

    The result goes to standard output: a table, or JSON with --json. Ctrl-C ends the run in
    order and still gives the result.
    """
    asked = _Asked(**{key: given.pop(key) for key in _Asked.__dataclass_fields__ if key in given})
    return _run(workload, asked, given)


@dataclass(frozen=True, slots=True)
class _Asked:
    """Options that do not shape the load."""

    devices: tuple[str, ...]
    destroy: tuple[str, ...]
    detach: bool
    prober_ns: int
    no_prober: bool
    output: Path | None
    as_json: bool
    progress: str
    dry_run: bool


def _run(name: str, asked: _Asked, shape: dict[str, Any]) -> int:
    request = make_request(name, asked.devices, asked.destroy, asked.detach, shape)
    if asked.destroy:
        from spekctl.safety import check_named

        check_named(request.devices, asked.destroy)
        if not shape["write"]:
            raise UsageError("--destroy needs --write as well")
    _check_writable(asked.output)
    if asked.dry_run:
        from spekctl.commands.show import print_numbers

        print_numbers(request.config, asked.as_json)
        return 0
    if request.config.writes and not shape["write"]:
        from spekctl.safety import refuse_without_write

        refuse_without_write(request.devices)

    from spekctl import client, progress, run

    kernel = client.connect()
    try:
        if asked.detach:
            return _detach(kernel, request, asked)
        with run.Interrupts() as interrupts:
            observer, remark = _observer(asked)
            view = progress.choose(asked.progress, _title(request))
            try:
                if remark:
                    view.note(remark)
                result = run.execute(kernel, request, view, interrupts, observer)
            finally:
                view.close()
                if observer is not None:
                    observer.close()
            deliver(result, asked.output, asked.as_json)
            return int(run.exit_code_of(result, interrupts))
    finally:
        kernel.close()


def make_request(
    name: str,
    paths: tuple[str, ...],
    destroy: tuple[str, ...],
    detach: bool,
    shape: dict[str, Any],
) -> Request:
    """Everything that can be checked without the kernel module."""
    from spekctl import device, workload
    from spekctl.layout import Target
    from spekctl.resolve import Options, resolve
    from spekctl.run import Request

    found = workload.load(name)
    devices = [device.find(path) for path in paths]
    options = Options(**shape, detached=detach, available_cpus=sorted(os.sched_getaffinity(0)))
    targets = [
        Target(one.path, one.major, one.minor, one.bytes, one.logical_block, one.diskseq)
        for one in devices
    ]
    for one in devices:
        if not one.bytes:
            raise UsageError(f"{one.path} has no capacity (no medium, or nothing behind it)")
    config = resolve(found, options, targets)
    remarks = []
    if detach:
        remarks.append("a detached run has no prober beside it")
    if shape["write"] and not config.writes:
        remarks.append(f"{found.workload.name} only reads, so the devices are opened read-only")
    return Request(
        workload=found,
        config=config,
        devices=devices,
        write_allowed=bool(shape["write"]),
        destroy=destroy,
        command=sys.argv[1:],
        remarks=remarks,
    )


def _check_writable(output: Path | None) -> None:
    """Before the run, not after it: can the result be written?"""
    if output is None:
        return
    directory = output.parent
    if not directory.is_dir():
        raise UsageError(f"cannot write {output}: there is no directory {directory}")
    if not os.access(output if output.exists() else directory, os.W_OK):
        raise UsageError(f"cannot write {output}: permission denied")


def _title(request: Request) -> str:
    names = " ".join(device.path for device in request.devices)
    return f"{request.workload.workload.name} on {names}"


def _observer(asked: _Asked) -> tuple[Any, str]:
    """The prober if it is there and wanted, else a remark."""
    if asked.no_prober:
        return None, ""
    from spekctl import observe

    return observe.connect(asked.prober_ns)


def _detach(kernel: Any, request: Request, asked: _Asked) -> int:
    import json

    from spekctl import progress, run

    plan = run.launch(kernel, request, progress.LineProgress())
    if asked.as_json:
        click.echo(json.dumps({"run": plan.run}))
    else:
        click.echo(plan.run)
        click.echo(
            f"spekctl: run {plan.run} goes on by itself; result: spekctl watch {plan.run},"
            f" end: spekctl stop {plan.run}",
            err=True,
        )
    return 0


def deliver(result: Result, output: Path | None, as_json: bool) -> None:
    """The result to where it was wanted."""
    from spekctl.result import encode

    data = encode(result)
    if output is not None:
        try:
            output.write_bytes(data)
        except OSError as error:
            # Hours of measuring must not be lost to a full disk: standard output is left.
            click.echo(data.decode(), nl=False)
            raise SpekError(f"cannot write {output}: {error.strerror}") from error
    if as_json:
        click.echo(data.decode(), nl=False)
    else:
        from spekctl.summary import print_result

        print_result(result)
        if output is not None:
            click.echo(f"spekctl: result written to {output}", err=True)
