# SPDX-License-Identifier: GPL-2.0-or-later
"""spekctl energy spc1e: the SPC-1-like test with power, or its figures from existing numbers."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from spekctl.commands import campaign, energy_use, spc1
from spekctl.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from spekctl.campaigns.spc1.test import Spc1Test
    from spekctl.campaigns.usage import Hours
    from spekctl.documents import spc1 as spc1_documents
    from spekctl.documents.energy import Spc1eReport

NAME = "spc1e"

EPILOG = """\b
Examples:
  spekctl energy spc1e --device /dev/sdb --write --quick
  spekctl energy spc1e --from levels.toml --price 0.31
  spekctl energy spc1e --from spc1-sdb/report.json --idle-watts 225.53

\b
Example of a --from file:
  [heavy]              # at 80 % of the highest load
  watts = 236.965
  iops = 15999.51
  [moderate]           # at 50 %
  watts = 232.48
  iops = 9999.42
  [idle]
  watts = 225.53
Optional: price = 0.12 above the sections, and a section [site] with volts, power_factor,
first_celsius and last_celsius.

\b
Defaults: --idle-time 10m, 10s with --quick; for all others see `spekctl spc1 --help`.
"""


@click.command(epilog=EPILOG, no_args_is_help=True)
@energy_use.use_options(
    "Do not measure: take the levels from a TOML file, or from a report of `spekctl spc1` or of"
    " this command."
)
@spc1.method_options
def command(
    source: Path | None,
    price: str | None,
    hours: tuple[str, ...],
    idle_watts: str | None,
    idle_ns: int | None,
    output: Path | None,
    **given: Any,
) -> int:
    """Measure power at the loads of the SPC-1-like method and compute SPC-1/E-like figures.

    An idle test is followed by all of `spekctl spc1`, whose runs at 80 % and 50 % are the heavy and
    the moderate load. These and the hours of use give the nominal power, traffic and heat of three
    usage profiles, their mean, and the energy and cost of a year.

    The report goes to standard output and into DIR (energy.json), the report of the test under load
    into DIR (report.json). Ctrl-C keeps the completed runs, and --resume continues. Without power
    measurement the report has performance only. Results are SPC-1/E-like and unaudited.

    The exit code is that of `spekctl spc1`; with --from it is 0.
    """
    wanted_price = energy_use.price_of(price)
    days = energy_use.hours_of(hours)
    watts = energy_use.check_sources(source, given["devices"], output, idle_watts)
    if source is not None:
        return _compute(source, watts, wanted_price, days, output, given["as_json"])
    return _measure(given, idle_ns, wanted_price, days)


def _compute(
    source: Path,
    idle_watts: Fraction | None,
    price: Fraction | None,
    days: dict[str, Hours],
    output: Path | None,
    as_json: bool,
) -> int:
    from spekctl import files
    from spekctl.commands.deliver import deliver
    from spekctl.render.energy import print_report

    files.check_writable(output)
    report = _computed(source, idle_watts, price, days)
    deliver(report, print_report, as_json, output)
    return int(ExitCode.OK)


def _computed(
    source: Path, idle_watts: Fraction | None, price: Fraction | None, days: dict[str, Hours]
) -> Spc1eReport:
    from spekctl.campaigns import inputs
    from spekctl.campaigns.energy import Facts
    from spekctl.campaigns.spc1e import levels as spc1e_levels
    from spekctl.campaigns.spc1e.report import build, typed_in
    from spekctl.documents import energy
    from spekctl.documents.document import Kind, identify, is_document

    if is_document(source):
        found = identify(source, [Kind.SPC1, Kind.SPC1E], "energy is computed from")
        if found is Kind.SPC1:
            return spc1e_levels.from_spc1(source, idle_watts, *energy_use.terms([price], days))
        previous = energy.load_spc1e(source)
        return spc1e_levels.from_energy(previous, source, idle_watts, price, days)
    if idle_watts is not None:
        raise UsageError(f"--idle-watts belongs to a report; {source} has a section [idle]")
    levels, file_price, site = inputs.spc1e_levels(source)
    terms = energy_use.terms([price, file_price], days)
    return build(typed_in(levels), Facts(source=str(source)), *terms, site=site)


def _measure(
    given: dict[str, Any],
    idle_ns: int | None,
    price: Fraction | None,
    days: dict[str, Hours],
) -> int:
    asked, shape = campaign.CampaignOptions.split(given)
    length_ns = energy_use.idle_length_ns(idle_ns, asked.quick)
    work = spc1.test_of(asked, shape, NAME, length_ns)
    return campaign.carry_out(
        work, asked, lambda: _deliver(work, asked.as_json, price, days), rests=True
    )


def _deliver(
    work: Spc1Test, as_json: bool, price: Fraction | None, days: dict[str, Hours]
) -> ExitCode:
    """Deliver both reports on the steps so far."""
    from spekctl.campaigns.spc1e import levels
    from spekctl.render.energy import print_report

    terms = energy_use.terms([price], days)

    def report_of(load: spc1_documents.Report | None) -> Spc1eReport:
        return levels.build_report(work.folder, load, work.rest, *terms, work.remarks)

    return energy_use.deliver_both(work, work.report(), report_of, print_report, as_json)
