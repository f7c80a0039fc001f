# SPDX-License-Identifier: GPL-2.0-or-later
"""Simulations and studies of modelled drives as text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from spekctl import units
from spekctl.documents.drive import DriveSimulation, DriveStudy, FlashUse
from spekctl.render import tables
from spekctl.render.console import print_parts

if TYPE_CHECKING:
    from rich.console import RenderableType

WIDTH = 100
STUDY_WIDTH = 190


def print_simulation(simulation: DriveSimulation) -> None:
    """Print the summary of a simulation."""
    print_parts(simulation_parts(simulation), WIDTH)


def simulation_parts(simulation: DriveSimulation) -> Iterator[RenderableType]:
    """The summary of a simulation as texts and tables."""
    from rich.text import Text

    loop = f"{simulation.closed} outstanding" if simulation.closed else "open loop"
    arms = f"{simulation.arms} arm{'s' if simulation.arms > 1 else ''}"
    kind = f"{arms}, {simulation.rpm:,.0f} rpm, {simulation.policy}"
    moved = f", {simulation.moved:.1%} with a seek"
    if simulation.flash is not None:
        kind, moved = f"flash, {simulation.flash.channels} channels", ""
    yield Text(f"{simulation.model}: {simulation.title}, {kind}, {loop}", style="bold")
    yield (
        f"  {simulation.requests:,} requests in {units.format_ns(simulation.elapsed_ns)},"
        f" {units.format_rate(simulation.iops)} per second{moved}"
    )
    if simulation.arms > 1:
        shares = ", ".join(
            f"{served / simulation.requests:.1%}" for served in simulation.served_by_arm
        )
        yield f"  by arm: {shares}"
    if simulation.hits:
        yield f"  from the cache: {simulation.hits / simulation.requests:.1%}"
    yield ""
    names = ("mean", "p50", "p90", "p99", "max")
    table = tables.table("time", *names, right=names)
    if simulation.flash is not None:
        yield from _flash_parts(simulation.flash)
    for metric in ("response", "seek", "rotation", "transfer")[: 1 if simulation.flash else 4]:
        times = getattr(simulation, metric)
        table.add_row(metric, *(units.format_ns(getattr(times, name)) for name in names))
    yield table
    if not simulation.profile:
        yield "\n  the model has no power profile"
        return
    yield ""
    columns = ("time", "share", "energy", "mean power over the whole time")
    table = tables.table("mode", *columns, right=columns)
    seconds = simulation.elapsed_ns / 1e9
    for mode, spent in simulation.modes.items():
        table.add_row(
            mode,
            units.format_ns(spent.seconds * 1e9),
            f"{spent.seconds / seconds:.1%}",
            units.format_joules(spent.joules),
            units.format_watts(spent.joules / seconds),
        )
    both = simulation.joules_5v + simulation.joules_12v
    table.add_row(
        "all", units.format_ns(simulation.elapsed_ns), "100.0%", units.format_joules(both),
        units.format_watts(simulation.watts),
    )  # fmt: skip
    yield table
    yield (
        f"  5 V: {units.format_joules(simulation.joules_5v)}, 12 V:"
        f" {units.format_joules(simulation.joules_12v)}; profile {simulation.profile}"
    )


def _flash_parts(flash: FlashUse) -> Iterator[RenderableType]:
    host = flash.pages_programmed
    yield (
        f"  {host:,} pages programmed, {flash.pages_moved:,} moved, {flash.blocks_erased:,} blocks"
        f" erased: write amplification {(host + flash.pages_moved) / host if host else 1:.2f}"
    )
    columns = ("until", "requests", "written per second", "amplification")
    table = tables.table(*columns, right=columns)
    for step in flash.steps:
        table.add_row(
            units.format_ns(step.until_ns),
            f"{step.requests:,}",
            f"{step.write_rate / 1e6:.2f} MB/s",
            f"{step.amplification:.2f}",
        )
    if host:
        yield table
        yield ""


def print_study(study: DriveStudy) -> None:
    """Print the claims of the paper beside the results of the simulation."""
    print_parts(study_parts(study), STUDY_WIDTH)


def study_parts(study: DriveStudy) -> Iterator[RenderableType]:
    """The claims of the paper beside the results of the simulation, as texts and a table."""
    from rich.text import Text

    yield Text(
        f"paper 003 on {study.model}: {study.requests:,} requests per load, power by profile"
        f" {study.profiles[0]} unless another is named",
        style="bold",
    )
    yield "  the four loads of figures 2 to 7 are synthetic stand-ins for the traces:"
    for load in study.loads:
        yield f"  {load.name}: {load.known}; assumed: {load.assumed}"
    yield ""
    table = tables.table("place", "what", "paper", "here", "holds")
    for claim in study.claims:
        table.add_row(claim.place, claim.what, claim.paper, claim.found, claim.word)
    yield table
    yield ""
    if study.rule:
        yield f"  {study.rule}"
    for remark in dict.fromkeys(claim.remark for claim in study.claims if claim.remark):
        places = dict.fromkeys(claim.place for claim in study.claims if claim.remark == remark)
        yield f"  {', '.join(places)}: {remark}"
