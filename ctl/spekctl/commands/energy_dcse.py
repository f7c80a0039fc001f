# SPDX-License-Identifier: GPL-2.0-or-later
"""spekctl energy dcse: GB, IOPS and MB/s per watt of a system in operation."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from spekctl.commands import options
from spekctl.commands.options import FilePath, result
from spekctl.errors import UsageError

if TYPE_CHECKING:
    from spekctl.documents.dcse import Inputs
    from spekctl.documents.energy import DcseReport

EPILOG = """\b
Examples:
  spekctl energy dcse --gigabytes 18688 --idle-watts 1960 --iops 35000 \\
      --load-watts 2453
  spekctl energy dcse --from after.toml --against before.toml
  spekctl energy dcse --samples machine.json --disk sda --gigabytes 4000 \\
      --every 1h

\b
A file has the same numbers, all optional:
  gigabytes = 18688        # 10^9 bytes
  idle_watts = 1960
  load_watts = 2453
  iops = 35000
  megabytes_per_s = 410    # 10^6 bytes per second
"""


@click.command(epilog=EPILOG, no_args_is_help=True)
@click.option(
    *("--from", "source"),
    type=FilePath(path_type=Path),
    metavar="FILE",
    help="Read the numbers from a TOML file.",
)
@click.option(
    "--samples",
    type=FilePath(path_type=Path),
    metavar="FILE",
    help="Normal operation: compute the numbers from samples of `spekctl prober`.",
)
@click.option(
    *("--disk", "disks"),
    multiple=True,
    metavar="NAME",
    help="With --samples: a disk that counts, repeatable.  [default: the only one that had I/O]",
)
@click.option(
    *("--rail", "rails"),
    multiple=True,
    metavar="FEED/RAIL",
    help="With --samples: a rail that counts, repeatable.  [default: all]",
)
@click.option(
    *("--every", "every_ns"),
    type=options.DURATION,
    help="With --samples: length of the spans whose figures are shown one after the other."
    "  [default: at most 48 of 1m, 5m, 15m, 1h or 6h, else 24h]",
)
@click.option("--gigabytes", metavar="GB", help="Capacity, 10^9 bytes.")
@click.option("--idle-watts", metavar="W", help="Power when idle.")
@click.option("--load-watts", metavar="W", help="Power under load.")
@click.option("--iops", metavar="N", help="I/Os per second under load.")
@click.option("--megabytes-per-s", metavar="N", help="Throughput, 10^6 bytes per second.")
@click.option(
    "--against",
    type=FilePath(path_type=Path),
    metavar="FILE",
    help="Compare with the system that this TOML file describes.",
)
@options.as_json("Report")
@result("Write the report as JSON to FILE.")
def command(
    source: Path | None,
    samples: Path | None,
    disks: tuple[str, ...],
    rails: tuple[str, ...],
    every_ns: int | None,
    against: Path | None,
    as_json: bool,
    output: Path | None,
    **numbers: str | None,
) -> int:
    """Compute DCsE figures of a system from measurements of its operation.

    Figures are computed exactly and printed with two decimals. Those whose inputs are missing are
    left out.

    With --samples the numbers are those of disks in normal operation: workload and throughput are
    I/Os and bytes over all of the time, by the mean power; the idle power is that of the samples
    without any I/O. The capacity has to be given.
    """
    from spekctl import files
    from spekctl.campaigns import inputs
    from spekctl.commands.deliver import deliver
    from spekctl.render.document import print_contents

    files.check_writable(output)
    files.check_apart(output, [path for path in (source, samples, against) if path is not None])
    given = {name: text for name, text in numbers.items() if text is not None}
    if source is not None and given:
        name = next(iter(given)).replace("_", "-")
        raise UsageError(f"--from and --{name} exclude each other: both give numbers")
    compared = inputs.dcse_inputs(against) if against is not None else None
    if samples is not None:
        _check_of_samples(source, given, every_ns)
        report = _of_samples(samples, disks, rails, every_ns, given.get("gigabytes"), compared)
    else:
        _check_without_samples(disks, rails, every_ns)
        known = inputs.dcse_inputs(source) if source is not None else _typed_in(given)
        report = _report(known, compared, str(source or "command line"))
    deliver(report, print_contents, as_json, output)
    return 0


def _typed_in(given: dict[str, str]) -> Inputs:
    from spekctl.campaigns.inputs import fraction_of
    from spekctl.documents import dcse

    known = dcse.Inputs(
        **{name: fraction_of(text, f"--{name.replace('_', '-')}") for name, text in given.items()}
    )
    text = dcse.fault(known)
    if text:
        raise UsageError(text)
    return known


def _report(known: Inputs, compared: Inputs | None, source: str) -> DcseReport:
    from spekctl.campaigns.dcse.report import build

    return build(known, compared, source)


def _check_of_samples(source: Path | None, given: dict[str, str], every_ns: int | None) -> None:
    if source is not None:
        raise UsageError("--samples and --from exclude each other: both give numbers")
    for name in given:
        if name != "gigabytes":
            raise UsageError(
                f"--samples and --{name.replace('_', '-')} exclude each other: both give numbers"
            )
    if every_ns == 0:
        raise UsageError("--every must be more than 0")


def _check_without_samples(
    disks: tuple[str, ...], rails: tuple[str, ...], every_ns: int | None
) -> None:
    for option, value in (("--disk", disks), ("--rail", rails), ("--every", every_ns)):
        if value:
            raise UsageError(f"{option} needs --samples as well")


def _of_samples(
    path: Path,
    disks: tuple[str, ...],
    rails: tuple[str, ...],
    every_ns: int | None,
    gigabytes: str | None,
    compared: Inputs | None,
) -> DcseReport:
    """The figures of normal operation."""
    from spekctl.campaigns.dcse.report import build
    from spekctl.campaigns.inputs import fraction_of
    from spekctl.documents import document, operation
    from spekctl.documents.prober import ProberReport

    capacity = fraction_of(gigabytes, "--gigabytes") if gigabytes is not None else None
    if capacity is not None and capacity <= 0:
        raise UsageError(f"--gigabytes is {gigabytes}; it must be more than 0")
    report = document.read(path, ProberReport)
    if not report.start_ns:
        raise UsageError(f"{path} has no sample")
    chosen = operation.operation_of(report, disks, rails)
    known, remarks = operation.inputs_of(chosen, capacity)
    length_ns = operation.length_of_spans(chosen, every_ns)
    clocks = report.probe.started
    spans = operation.over_time(chosen, length_ns, clocks.realtime_ns - clocks.monotonic_ns)
    return build(known, compared, str(path), chosen, spans, remarks)
