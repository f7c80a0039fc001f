# SPDX-License-Identifier: GPL-2.0-or-later
"""spekctl energy spc2e: the SPC-2-like test with power, or its figures from a report."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from spekctl.commands import campaign, energy_use, spc2
from spekctl.errors import ExitCode

if TYPE_CHECKING:
    from spekctl.campaigns.spc2.test import Spc2Test
    from spekctl.campaigns.usage import Hours
    from spekctl.documents.spc2 import Report, Spc2eReport

NAME = "spc2e"

EPILOG = """\b
Examples:
  spekctl energy spc2e --device /dev/sdb --write --quick
  spekctl energy spc2e --device /dev/sdb --write --streams 64 --price 0.31
  spekctl energy spc2e --from spc2e-sdb/energy.json --price 0.25

\b
Times if not given: --idle-time 10m, 10s with --quick. All else is as in `spekctl spc2 --help`.
"""


@click.command(epilog=EPILOG, no_args_is_help=True)
@energy_use.use_options(
    "Do not measure: take the levels from a report of the test under load (report.json), or from"
    " one of this command (energy.json)."
)
@spc2.test_options
def command(
    source: Path | None,
    price: str | None,
    hours: tuple[str, ...],
    idle_watts: str | None,
    idle_ns: int | None,
    output: Path | None,
    **given: Any,
) -> int:
    """Measure power at the loads of the SPC-2-like test and compute SPC-2/E-like figures.

    An idle test is followed by all of `spekctl spc2`, with video on demand also at half of its
    streams. The report has MB/s, watts and MB/s per watt of each part. The mean of the parts at
    the highest stream counts is the heavy load, that at half of them the moderate load. These and
    the hours of use give the nominal power, traffic and heat of three usage profiles, their mean,
    and the energy and cost of a year. The profiles are those of SPC-1/E.

    The report goes to standard output and into DIR (energy.json), the report of the test under
    load into DIR (report.json). Ctrl-C keeps the completed runs, and --resume continues. Without
    power measurement the report has performance only. Results are SPC-2/E-like and unaudited.

    The exit code is that of `spekctl spc2`; with --from it is 0.
    """
    wanted_price = energy_use.price_of(price)
    days = energy_use.hours_of(hours)
    watts = energy_use.check_sources(source, given["devices"], output, idle_watts)
    if source is not None:
        return _compute(source, watts, wanted_price, days, output, given["as_json"])
    asked, shape = campaign.CampaignOptions.split(given)
    length_ns = energy_use.idle_length_ns(idle_ns, asked.quick)
    work = spc2.test_of(asked, shape, NAME, length_ns, half=True)
    return campaign.carry_out(
        work, asked, lambda: _deliver(work, asked.as_json, wanted_price, days), rests=True
    )


def _compute(
    source: Path,
    idle_watts: Fraction | None,
    price: Fraction | None,
    days: dict[str, Hours],
    output: Path | None,
    as_json: bool,
) -> int:
    from spekctl import files
    from spekctl.campaigns.spc2e.report import from_energy, from_spc2
    from spekctl.commands.deliver import deliver
    from spekctl.documents.document import Kind, identify
    from spekctl.documents.spc2 import load_energy
    from spekctl.render.spc2 import print_energy

    files.check_writable(output)
    found = identify(source, [Kind.SPC2, Kind.SPC2E], "energy is computed from")
    if found is Kind.SPC2:
        report = from_spc2(source, idle_watts, *energy_use.terms([price], days))
    else:
        previous = load_energy(source)
        report = from_energy(previous, source, idle_watts, price, days)
    deliver(report, print_energy, as_json, output)
    return int(ExitCode.OK)


def _deliver(
    work: Spc2Test, as_json: bool, price: Fraction | None, days: dict[str, Hours]
) -> ExitCode:
    """Deliver both reports on the steps so far."""
    from spekctl.campaigns.spc2e.report import of_test
    from spekctl.render.spc2 import print_energy

    terms = energy_use.terms([price], days)

    def report_of(load: Report | None) -> Spc2eReport:
        # The report under load has the remarks of the test.
        return of_test(load, work.rest, *terms, [] if load is not None else work.remarks)

    return energy_use.deliver_both(work, work.report(), report_of, print_energy, as_json)
