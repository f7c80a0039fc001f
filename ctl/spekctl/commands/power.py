# SPDX-License-Identifier: GPL-2.0-or-later
"""spekctl power: rails and their calibration, and power states of disks."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import click

from spekctl.cli import Group
from spekctl.commands import options, power_states
from spekctl.commands.options import DURATION, FilePath
from spekctl.errors import UsageError

if TYPE_CHECKING:
    from rich.table import Table

    from spekctl.power.calibrate import Change
    from spekctl.power.monitor import RailView
    from spekctl.power.rails import Rail

SECOND = 10**9
RAILS_FILE = FilePath(dir_okay=False, path_type=Path)


@click.group(cls=Group)
def command() -> None:
    """Show power rails and power states of disks, calibrate transducers.

    spek-daq measures power and feeds the samples to the prober (see spek-daq --help). They appear
    here and in the result of every run.
    """


command.add_command(power_states.states)
command.add_command(power_states.change)


# ---- rails ----


@command.command()
@click.argument("file", type=RAILS_FILE, required=False)
@options.as_json()
def rails(file: Path | None, as_json: bool) -> int:
    """List the rails that the prober knows, or those of a rails FILE."""
    if file:
        return _rails_of_file(file, as_json)
    from spekctl.kernel.feeds import PowerLink

    with PowerLink() as link:
        feeds = link.feeds()
    if as_json:
        click.echo(json.dumps([dataclasses.asdict(feed) for feed in feeds], indent=1))
        return 0
    if not feeds:
        click.echo("spekctl: no power feeds; spek-daq opens one", err=True)
        return 0
    from spekctl.render import tables

    numbers = ("W", "J", "samples", "gaps", "unknown", "within")
    table = tables.table("feed", "source", "state", "rail", *numbers, right=numbers)
    for feed in feeds:
        for rail in feed.rails:
            table.add_row(
                feed.name,
                feed.source,
                str(feed.state),
                rail.name,
                f"{rail.power_uw / 1e6:.3f}" if rail.samples else "-",
                f"{rail.energy_uj / 1e6:.3f}",
                str(rail.samples),
                str(rail.gaps),
                f"{rail.gap_ns / SECOND:.1f} s",
                f"{feed.uncertainty_ns / 1e6:.3f} ms",
            )
    tables.show(table)
    return 0


def _rails_of_file(path: Path, as_json: bool) -> int:
    from spekctl.power.rails import RailsFile

    file = RailsFile(path)
    if not file.rails:
        raise UsageError(f"{path} has no [[rail]]; it is not a rails file of spek-daq")
    if as_json:
        click.echo(json.dumps([dataclasses.asdict(rail) for rail in file.rails], indent=1))
        return 0
    from spekctl.render import tables

    numbers = ("voltage", "zero", "gain", "turns")
    table = tables.table("rail", "channel", *numbers, right=numbers)
    for rail in file.rails:
        table.add_row(*_rail_row(rail))
    tables.show(table)
    return 0


def _rail_row(rail: Rail) -> list[str]:
    voltage = f"{rail.voltage_mv / 1000:g} V" if rail.voltage_mv else rail.voltage_channel or "-"
    # Only the source knows which channels have transducers: those that deliver a voltage.
    if voltage == "-":
        return [rail.name, rail.channel, "-", "-", "-", "-"]
    return [
        rail.name,
        rail.channel,
        voltage,
        f"{rail.zero_uv / 1e6:.6f} V",
        f"{rail.sens_uv_per_a / 1000:.3f} mV/A",
        str(rail.turns),
    ]


# ---- monitor ----


@command.command()
@click.option(
    "--interval",
    type=DURATION,
    default="1s",
    show_default=True,
    help="Interval between updates; each shows the power since the previous one.",
)
@click.option("--count", type=click.IntRange(min=1), metavar="N", help="Exit after N updates.")
@click.option("--feed", metavar="NAME", help="Only the rails of this feed.")
@click.option("--json", "as_json", is_flag=True, help="One line of JSON per update.")
def monitor(interval: int, count: int | None, feed: str | None, as_json: bool) -> int:
    """Monitor the rails: mean, minimum and maximum power, and energy since the start.

    Ctrl-C exits.
    """
    from spekctl.kernel.feeds import PowerLink
    from spekctl.power.monitor import Monitor
    from spekctl.suggest import did_you_mean

    if interval < SECOND // 20:
        raise UsageError("--interval must be at least 50ms")
    with PowerLink() as link:
        names = [feed.name for feed in link.feeds() if feed.is_open]
        if feed and feed not in names:
            raise UsageError(f"no open feed is called '{feed}'{did_you_mean(feed, names)}")
        if not names:
            raise UsageError("there is no open power feed; start spek-daq")
        watch = Monitor(link, feed)
        watch.step()
        _follow(watch.step, interval / SECOND, count, as_json)
    return 0


def _follow(
    step: Callable[[], list[RailView]], pause_s: float, count: int | None, as_json: bool
) -> None:
    import sys
    import time

    from rich.live import Live

    from spekctl.render import tables
    from spekctl.render.console import fitted
    from spekctl.render.output import reader_left

    is_live = sys.stdout.isatty() and not as_json
    shown = 0
    with Live(console=fitted(160), auto_refresh=False) if is_live else nullcontext() as live:
        while (count is None or shown < count) and not reader_left():
            time.sleep(pause_s)
            views = step()
            shown += 1
            if as_json:
                click.echo(json.dumps([dataclasses.asdict(view) for view in views]))
                sys.stdout.flush()
            elif live:
                live.update(_view_table(views), refresh=True)
            else:
                tables.show(_view_table(views))


def _view_table(views: list[RailView]) -> Table:
    from spekctl.power.monitor import total_w

    def watts(value: float | None) -> str:
        return "-" if value is None else f"{value:.3f}"

    from spekctl.render import tables

    numbers = ("W", "min", "max", "J", "within")
    table = tables.table("feed", "rail", *numbers, "", right=numbers)
    for view in views:
        table.add_row(
            view.feed,
            view.rail,
            watts(view.mean_w),
            watts(view.min_w),
            watts(view.max_w),
            f"{view.joules:.3f}",
            f"{view.uncertainty_ns / 1e6:.3f} ms",
            view.remark,
        )
    if len(views) > 1:
        joules = sum(view.joules for view in views)
        table.add_row("", "total", watts(total_w(views)), "", "", f"{joules:.3f}", "", "")
    return table


# ---- calibrate ----


@command.command()
@click.argument("file", type=RAILS_FILE)
@click.option(
    *("--rail", "names"),
    multiple=True,
    metavar="NAME",
    help="Rail to calibrate; repeatable.  [default: with --zero: all]",
)
@click.option(
    "--zero", is_flag=True, help="Measure the zero offset; no current may flow in the rail."
)
@click.option(
    "--current", metavar="AMPERE", help="Measure the gain at this known current, e.g. 2.5."
)
@click.option(
    "--time",
    "time_ns",
    type=DURATION,
    default="5s",
    show_default=True,
    help="Length of the measurement.",
)
@click.option("--dry-run", is_flag=True, help="Measure without changing the file.")
@options.as_json()
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="KEY=VALUE",
    help="Setting of the source, as for spek-daq; repeatable.",
)
def calibrate(
    file: Path,
    names: tuple[str, ...],
    zero: bool,
    current: str | None,
    time_ns: int,
    dry_run: bool,
    as_json: bool,
    settings: tuple[str, ...],
) -> int:
    """Measure zero offset or gain of transducers, and write it into the rails FILE.

    Start with --zero, with nothing connected or all drives off: the zero offset drifts most, by up
    to 0.24 A. Then use --rail NAME --current AMPERE with a known load to measure the gain. Stop
    any spek-daq that reads the device first.
    """
    from spekctl.power import calibrate as power_calibrate
    from spekctl.power.rails import RailsFile

    if zero == (current is not None):
        raise UsageError("give either --zero or --current AMPERE")
    if current is not None and len(names) != 1:
        raise UsageError("the gain is measured one rail at a time: give one --rail NAME")
    load_ua = parse_ampere_ua(current) if current is not None else 0
    rails = RailsFile(file)
    wanted = [rails.rail(name) for name in names]
    more = [word for setting in settings for word in ("--set", setting)]
    readings = power_calibrate.measure(file, time_ns, more)
    if current is not None:
        changes = [power_calibrate.gain(wanted[0], readings, load_ua)]
    else:
        # All: those whose channel puts out a voltage.
        chosen = wanted or [rail for rail in rails.rails if rail.channel in readings]
        changes = [power_calibrate.zero(rail, readings) for rail in chosen]
    if not changes:
        raise UsageError(f"{file} has no rail with a transducer, so there is nothing to calibrate")
    if not dry_run:
        power_calibrate.apply(rails, changes)
    _show_changes(changes, as_json)
    return 0


def parse_ampere_ua(text: str) -> int:
    """``2.5`` or ``2.5A`` or ``500mA`` as microampere."""
    from spekctl.campaigns.inputs import fraction_of

    cleaned = text.strip()
    scale = 10**6
    if cleaned.lower().endswith("ma"):
        cleaned, scale = cleaned[:-2], 10**3
    elif cleaned.lower().endswith("a"):
        cleaned = cleaned[:-1]
    try:
        value = fraction_of(cleaned.strip(), "--current") * scale
    except UsageError as error:
        raise UsageError(f"'{text}' is not a current; write for example 2.5A or 500mA") from error
    if not 1000 <= value <= 100 * 10**6:
        raise UsageError(f"a current of '{text}' is out of range; it must be 1mA to 100A")
    return round(value)


def _show_changes(changes: list[Change], as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps([dataclasses.asdict(change) for change in changes], indent=1))
        return
    from spekctl.render import tables

    numbers = ("before", "now", "scatter", "readings")
    table = tables.table("rail", "channel", "constant", *numbers, right=numbers)
    for change in changes:
        table.add_row(
            change.rail,
            change.channel,
            change.constant,
            str(change.before),
            str(change.after),
            f"{change.deviation_uv} uV",
            str(change.readings),
        )
    tables.show(table)
