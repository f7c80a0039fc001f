# SPDX-License-Identifier: GPL-2.0
"""spekctl spc1: the whole SPC-1-like method, from the search for the level to the report."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from spekctl.commands import options
from spekctl.errors import ExitCode, SpekError, UsageError

if TYPE_CHECKING:
    from spekctl.campaigns.spc1.test import Spc1Test
    from spekctl.documents.spc1 import Parameters, Report

EPILOG = """\b
Examples:
  spekctl spc1 --device /dev/sdb --write --quick
  spekctl spc1 --device /dev/sdb --device /dev/sdc --write --start-bsu 20 --out array
  spekctl spc1 --device /dev/sdb --device /dev/sdc --write --start-bsu 20 --out array --resume

\b
Times if not given:   standard   --quick
  --sustain                 8h       45s
  --iops-time              10m       30s
  --ramp-time              10m       20s
  --ramp                    3m        2s
  --search-time             3m        6s
  --resolution               0         2   per cent
In all about ten hours and the search, or about five minutes and the search: a dozen points or so.

\b
Limits (--limit) if not given; shares, not per cent:
  left_over            0.01  of a phase's I/Os by which the queue may grow, if more than
  left_over_responses  5     times --max-response of work
  intensity            0.05  relative difference of a stream's share from the workload's
  intensity_cov        0.2   coefficient of variation of that share within a phase
  repeat_iops          0.05  relative difference of repeated IOPS
  repeat_lrt           0.05  relative difference of repeated LRT, or
  repeat_lrt_ns        1e6   difference in ns, whichever allows more
  unused_capacity      0.45  of the devices
  chance_sigmas        5     by how many standard deviations chance widens limits on counts
  lower_percent        5     by which the level is lowered after a missed sustained run
  lowered_at_most      10    times
"""


F = TypeVar("F", bound=Callable[..., Any])

# What shapes a test, but for the devices.
_OPTIONS = (
    options.write,
    options.destroy,
    click.option(
        "--out",
        type=click.Path(file_okay=False, path_type=Path),
        metavar="DIR",
        help="Folder for the report, the result of each phase and the state of the test.  [name"
        " of the command and names of the devices]",
    ),
    click.option("--resume", is_flag=True, help="Go on with the test in --out."),
    click.option("--quick", is_flag=True, help="Minutes instead of hours: for a first look."),
    click.option(
        "--max-response",
        "response_ns",
        type=options.DURATION_WITH_UNIT,
        default="30ms",
        show_default=True,
        help="Mean response time that every phase has to keep.",
    ),
    click.option(
        "--limit",
        "limits",
        multiple=True,
        metavar="NAME=VALUE",
        help="Another limit than ours; names and values are below. May be given several times.",
    ),
    click.option(
        "--start-bsu",
        type=click.IntRange(1),
        default=1,
        show_default=True,
        metavar="N",
        help="Where the search begins; it doubles from there.",
    ),
    click.option(
        "--max-bsu",
        type=click.IntRange(1),
        default=60000,
        show_default=True,
        metavar="N",
        help="Where it ends if the device is faster than that.",
    ),
    click.option(
        "--resolution",
        "resolution_percent",
        type=options.FiniteRange(0, 50),
        metavar="P",
        help="End the search when it is that exact, in per cent; 0: to 1 BSU.",
    ),
    click.option(
        "--sustain", "sustain_ns", type=options.DURATION, help="Length of the sustained run."
    ),
    click.option("--iops-time", "iops_ns", type=options.DURATION, help="Length of runs at 100 %."),
    click.option(
        "--ramp-time", "phase_ns", type=options.DURATION, help="Length of runs at 95 to 10 %."
    ),
    click.option(
        "--ramp", "ramp_ns", type=options.DURATION, help="Ramp-up before each measurement."
    ),
    click.option(
        "--search-time",
        "search_ns",
        type=options.DURATION,
        help="Length of each point of the search.",
    ),
    click.option(
        "--keep-going",
        is_flag=True,
        help="Do the other phases even if one misses the response limit or had I/O errors.",
    ),
    options.workers,
    options.cpus,
    options.seed,
    options.hrrw,
    options.iops_per_bsu,
    options.stripe,
    options.backend,
    options.polled,
    options.max_outstanding,
    options.batch,
    options.spin,
    options.data,
    options.prober_interval,
    options.no_prober,
    options.power_feed,
    options.power_baseline,
    click.option("--json", "as_json", is_flag=True, help="Report as JSON on standard output."),
    options.progress,
)


def method_options(function: F) -> F:
    """Give a command all options of a test but the devices."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


@click.command(epilog=EPILOG, no_args_is_help=True)
@options.devices
@method_options
@click.option(
    "--persistence",
    is_flag=True,
    help="Afterwards, write stamped blocks at 25 % of the load, and check that they are still there"
    " after the devices were detached and attached again: by --reattach, or by hand and then"
    " --resume.",
)
@click.option(
    "--persistence-time",
    "persistence_ns",
    type=options.DURATION,
    help="How long it writes.  [10m, --quick 20s]",
)
@click.option(
    "--reattach",
    metavar="COMMAND",
    help="Shell command that detaches and attaches the devices; they must be back in a minute.",
)
def command(**given: Any) -> int:
    """Do the whole SPC-1-like method on one device, or on several that are striped.

    Searches the highest load (BSU, 50 I/Os per second each) whose mean response time keeps the
    limit: doubling, then bisection, each point measured. A load also counts as too much if the
    queue grows under it. At that level follow a sustained run, the IOPS phase, runs at 95, 90,
    80, 50 and 10 %, and twice a repetition at 10 and 100 %.

    If the sustained run or the IOPS phase misses the limit, the level is lowered by 5 %, at
    least 1 BSU, both are done again, and the report says so.

    The report goes to standard output and into DIR: IOPS, LRT, response times against load,
    figures of each address range and stream, and whether each limit is met. Results are
    SPC-1-like and unaudited.

    Ctrl-C keeps the phases that are done; --resume goes on after the last of them. The exit code
    is 0 if all limits are met and 1 if one is missed or a phase failed, or if persistence was asked
    for and is not shown.
    """
    return _spc1(*Asked.split(given))


@dataclass(frozen=True, slots=True)
class Asked:
    """Options that do not decide what is measured."""

    devices: tuple[str, ...]
    write: bool
    destroy: tuple[str, ...]
    out: Path | None
    resume: bool
    quick: bool
    keep_going: bool
    prober_ns: int
    no_prober: bool
    power_feeds: tuple[str, ...]
    power_baseline: str | None
    as_json: bool
    progress: str
    persistence: bool = False
    persistence_ns: int | None = None
    reattach: str | None = None

    @classmethod
    def split(cls, given: dict[str, Any]) -> tuple[Asked, dict[str, Any]]:
        """These options, and all others."""
        mine = {key: given[key] for key in cls.__dataclass_fields__ if key in given}
        return cls(**mine), {key: value for key, value in given.items() if key not in mine}


def _spc1(asked: Asked, given: dict[str, Any]) -> int:
    from spekctl import files
    from spekctl.campaigns import folder
    from spekctl.kernel import client
    from spekctl.render import series
    from spekctl.run import job

    _check_persistence(asked)
    work = method_of(asked, given)
    if asked.resume:
        work.resume()
    elif folder.exists(work.folder):
        raise UsageError(
            f"there is a test in {work.folder} already: --resume goes on with it, and another"
            " --out begins a new one"
        )
    kernel = client.connect()
    try:
        files.make_folder(work.folder)
        with job.Interrupts() as interrupts:
            view = series.SeriesProgress(asked.progress, work.subject.title)
            ended = False
            try:
                ended = work.carry_out(kernel, view, interrupts)
                if ended and asked.persistence:
                    ended = _persist(work, asked, view, interrupts)
            except SpekError as error:
                if not interrupts.count:
                    raise with_advice(work, error) from error
            finally:
                view.close()
                report = _deliver(work, asked.as_json)
            if not ended:
                click.echo(f"spekctl: interrupted; {kept(work)}", err=True)
                return int(interrupts.exit_code)
            return int(ExitCode.OK if report is not None and report.passed else ExitCode.RUN_FAILED)
    finally:
        kernel.close()


def _check_persistence(asked: Asked) -> None:
    if not asked.persistence and (asked.persistence_ns is not None or asked.reattach is not None):
        raise UsageError("--persistence-time and --reattach need --persistence as well")
    if asked.persistence_ns == 0:
        raise UsageError("--persistence-time must be more than 0")


def _persist(work: Spc1Test, asked: Asked, view: Any, interrupts: Any) -> bool:
    from spekctl.campaigns.spc1 import persistence as spc1_persistence
    from spekctl.kernel import client

    default_ns = spc1_persistence.QUICK_NS if asked.quick else spc1_persistence.STANDARD_NS
    time_ns = asked.persistence_ns or default_ns
    return spc1_persistence.carry_out(
        work, client.connect, view, interrupts, time_ns, asked.reattach
    )


def method_of(asked: Asked, given: dict[str, Any], name: str = "spc1") -> Spc1Test:
    """The test that is asked for; everything about it that can be checked beforehand is.

    @name is what its folder is called after if the user gives no other.
    """
    from spekctl import files
    from spekctl.campaigns.spc1.test import Spc1Test
    from spekctl.documents.spc1 import WORKLOAD, Shape
    from spekctl.run import request
    from spekctl.workload.options import Options

    subject = request.find(WORKLOAD, asked.devices)
    shape = {name: given.pop(name) for name in ("workers", *Shape.__struct_fields__)}
    shape["hrrw"] = shape["hrrw"] or "classic"
    largest = Options(**shape, bsu=given["max_bsu"], write=asked.write)
    probe = request.build(subject, largest, asked.destroy)
    request.check_destroy(probe)
    request.check_write(probe)
    del shape["workers"]
    shape["cpus"] = probe.config.cpus
    return Spc1Test(
        subject=subject,
        parameters=_parameters(given, shape, asked.quick),
        folder=asked.out or Path(files.folder_name(name, (one.path for one in subject.devices))),
        destroy=asked.destroy,
        keep_going=asked.keep_going,
        prober_ns=None if asked.no_prober else asked.prober_ns,
        power=options.power_of(asked.power_feeds, asked.power_baseline),
    )


def _parameters(given: dict[str, Any], shape: dict[str, Any], quick: bool) -> Parameters:
    """Presets and options as the parameters of the test."""
    from msgspec import structs

    from spekctl.documents.spc1 import QUICK, STANDARD, Durations, Limits, Parameters, Shape

    changed = {name: given[name] for name in Durations.__struct_fields__ if given[name] is not None}
    for name, option in (
        ("sustain_ns", "--sustain"),
        ("iops_ns", "--iops-time"),
        ("phase_ns", "--ramp-time"),
        ("search_ns", "--search-time"),
    ):
        if changed.get(name) == 0:
            raise UsageError(f"{option} must be more than 0")
    if not given["response_ns"]:
        raise UsageError("--max-response must be more than 0")
    if given["start_bsu"] > given["max_bsu"]:
        raise UsageError(
            f"--start-bsu {given['start_bsu']} is more than --max-bsu {given['max_bsu']}"
        )
    return Parameters(
        durations=structs.replace(QUICK if quick else STANDARD, **changed),
        limits=structs.replace(
            Limits(response_ns=given["response_ns"]), **_limits(given.pop("limits"))
        ),
        shape=Shape(**shape),
        start_bsu=given["start_bsu"],
        max_bsu=given["max_bsu"],
    )


def _limits(texts: tuple[str, ...]) -> dict[str, float]:
    """NAME=VALUE pairs as fields of Limits."""
    from msgspec import structs

    from spekctl.documents.spc1 import Limits
    from spekctl.suggest import did_you_mean

    # --max-response has an option of its own.
    names = {one.name: one.default for one in structs.fields(Limits) if one.name != "response_ns"}
    found: dict[str, float] = {}
    for text in texts:
        name, _, number = text.partition("=")
        if name not in names:
            raise UsageError(
                f"--limit {text}: no limit is called '{name}'{did_you_mean(name, names)}"
                f" (they are {', '.join(names)})"
            )
        try:
            value = float(number)
        except ValueError:
            value = math.nan
        if not 0 <= value < math.inf:
            raise UsageError(f"--limit {text}: '{number}' is not a number of 0 or more")
        whole = isinstance(names[name], int)
        if whole and value != int(value):
            raise UsageError(f"--limit {text}: {name} is a whole number")
        found[name] = int(value) if whole else value
    return found


def _deliver(work: Spc1Test, as_json: bool) -> Report | None:
    """The report, as far as it goes, to standard output and into the folder."""
    from spekctl import files
    from spekctl.campaigns import folder
    from spekctl.render import spc1 as render_spc1

    report = work.report()
    if report is None:
        return None
    data = files.encode(report)
    path = work.folder / folder.REPORT
    files.deliver(data, path)
    if as_json:
        click.echo(data.decode(), nl=False)
    else:
        render_spc1.print_report(report)
        click.echo(f"spekctl: report written to {path}", err=True)
    return report


def kept(work: Spc1Test) -> str:
    if not work.done:
        return "no phase was finished"
    count = len(work.done)
    phases = "1 phase is" if count == 1 else f"{count} phases are"
    return f"{phases} kept in {work.folder}, --resume goes on after {work.done[-1].step.name}"


def with_advice(work: Spc1Test, error: SpekError) -> SpekError:
    """The same failure, and what is left of the test."""
    if not work.done:
        return error
    text = f"{error.message}; {kept(work)}"
    return type(error)(text, errno=error.errno, operation=error.operation)
