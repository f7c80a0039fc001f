# SPDX-License-Identifier: GPL-2.0-or-later
"""Sheets of modelled drives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from spekctl import units
from spekctl.documents.drive import DriveSimulation, DriveStudy, StudyArrays, StudySystem
from spekctl.errors import UsageError
from spekctl.render import drive as render
from spekctl.report.sheet import (
    Axis,
    Bars,
    Judged,
    Line,
    Plot,
    Quantity,
    Sheet,
    Strand,
    Verdict,
    add_printed,
)

# Figures of paper 003 that a study draws again.
FIGURES = {
    2: "response time of the array (MD) and of one large drive (HC-SD)",
    3: "watts of MD and HC-SD",
    4: "HC-SD with shorter seeks and shorter waits for rotation",
    5: "drives with several arms",
    6: "watts of drives with several arms, by speed",
    7: "several arms at lower speeds",
    8: "arrays: 90th percentile and watts",
    9: "cost of arrays that perform alike",
}
_LONGEST_WAIT_MS = 10.0
# Arms of all drives of an array, by the time between arrivals in ms, whose power figure 8 compares.
_MOST_ARMS = {8.0: 4, 4.0: 8, 1.0: 16}


def simulation_sheet(file: str, simulation: DriveSimulation) -> Sheet:
    """A modelled drive over a list of requests: its states, their time and their energy."""
    sheet = Sheet(file, "simulation of a drive", f"{simulation.model}: {simulation.title}")
    sheet.figures = [
        ("IOPS", units.format_rate(simulation.iops)),
        ("mean response", units.format_ns(simulation.response.mean)),
        ("p99", units.format_ns(simulation.response.p99)),
        ("max", units.format_ns(simulation.response.max)),
    ]
    if simulation.profile:
        sheet.figures.append(("power", units.format_watts(simulation.watts)))
    loop = f"{simulation.closed} outstanding" if simulation.closed else "open loop"
    sheet.conditions = [
        ("requests", f"{simulation.requests:,}, {loop}"),
        ("arms", str(simulation.arms)),
        ("speed", f"{simulation.rpm:,.0f} rpm"),
        ("scheduling", f"{simulation.policy}, window {simulation.window}"),
    ]
    if simulation.flash is not None:
        sheet.conditions[1:] = [("channels", str(simulation.flash.channels))]
    add_printed(sheet, render.simulation_parts(simulation))
    if simulation.modes:
        modes = list(simulation.modes)
        total = simulation.elapsed_ns / 1e9
        joules = sum(mode.joules for mode in simulation.modes.values())
        rows = [("time", [100 * mode.seconds / total for mode in simulation.modes.values()])]
        if joules:
            rows.append(
                ("energy", [100 * mode.joules / joules for mode in simulation.modes.values()])
            )
        sheet.bars.append(Bars("States of the drive", "%", modes, rows))
    if simulation.flash is not None and simulation.flash.steps:
        steps = simulation.flash.steps
        xs = [step.until_ns / 1e9 for step in steps]
        time = Axis("simulated time", quantity=Quantity.CLOCK)
        rate = [step.write_rate / 1e6 for step in steps]
        factor = [step.amplification for step in steps]
        sheet.plots += [
            Plot("flash-rate", "Write rate over time", time, Axis("written", "MB/s"),
                 [Strand(xs, [Line("written", rate, main=True)])], "time"),
            Plot("flash-amplification", "Write amplification over time", time,
                 Axis("write amplification", "factor"),
                 [Strand(xs, [Line("amplification", factor, main=True)])], "time"),
        ]  # fmt: skip
    return sheet


def study_sheet(file: str, study: DriveStudy) -> Sheet:
    """Paper 003 again."""
    judged = [claim for claim in study.claims if claim.holds is not None]
    held = sum(bool(claim.holds) for claim in judged)
    partly = sum(claim.partly for claim in judged)
    count = f"{held} of {len(judged)}"
    also = f", {partly} more in part" if partly else ""
    sheet = Sheet(
        file,
        "study of drives",
        f"paper 003 on {study.model}: {study.requests:,} requests per load",
        verdict=f"{count} claims hold{also}",
        good=held == len(judged),
    )
    sheet.figures = [("claims that hold", f"{count}{also}")]
    sheet.conditions = [
        ("model", study.model),
        ("power profiles", ", ".join(study.profiles)),
        ("seed", str(study.seed)),
    ]
    sheet.judged = Judged("Claims of the paper", "confirmed", "not confirmed")
    sheet.verdicts = [
        Verdict(
            f"{claim.place}: {claim.what}",
            f"paper {claim.paper}, here {claim.found}{': in part' if claim.partly else ''}",
            claim.holds,
        )
        for claim in study.claims
    ]
    add_printed(sheet, render.study_parts(study))
    absent = {8: not study.arrays, 9: not study.costs}
    for figure in (each for each in FIGURES if not absent.get(each)):
        for part in figure_parts(study, figure):
            title = f"Figure {figure}: {part.title}"
            if isinstance(part, Plot):
                sheet.plots.append(replace(part, key=f"{part.key}-{figure}", title=title))
            else:
                sheet.bars.append(replace(part, title=title))
    for arrays in study.arrays:
        sheet.bars.append(
            _watts(
                f"Power by state, arrays at {arrays.interarrival_ms:g} ms between requests,"
                f" {arrays.footprint:.0%} of each drive",
                study.profiles[0],
                _named(arrays.systems),
            )
        )
    return sheet


# --- figures of the paper ------------------------------------------------------------------------


def figure_parts(study: DriveStudy, figure: int) -> Sequence[Plot | Bars]:
    """The plots and bars of one of FIGURES."""
    profile = study.profiles[0]
    if figure == 3:
        systems = [
            (f"{load.name}, {what}", system)
            for load in study.loads
            for what, system in (("MD", load.array), ("HC-SD", load.single[0]))
        ]
        return [_watts("Power by state", profile, systems)]
    if figure == 6:
        return [
            _watts(
                f"Power by state, {load.name}",
                profile,
                _named([load.single[0], load.single[1], load.single[3], *load.slower]),
            )
            for load in study.loads
        ]
    if figure == 8:
        return [*(_percentiles(arrays) for arrays in _small(study)), *_array_bars(study)]
    if figure == 9:
        return [_costs(study)]
    plots = []
    for load in study.loads:
        base = [load.array, load.single[0]]
        if figure == 2:
            plots.append(_cdf(study, load.name, "", base))
        elif figure == 4:
            plots.append(_cdf(study, load.name, ", seek", [*base, *load.scaled[:3]]))
            plots.append(_cdf(study, load.name, ", rotation", [*base, *load.scaled[3:]]))
        elif figure == 5:
            plots.append(_cdf(study, load.name, "", [load.array, *load.single]))
            plots.append(_rotation(study, load.name, load.single))
        else:
            plots.append(_cdf(study, load.name, "", [*base, *load.slower]))
    return plots


def _array_bars(study: DriveStudy) -> list[Bars]:
    """The power in figure 8: of arrays with as many arms in all, by power profile."""
    systems = [
        (f"{arrays.interarrival_ms:g} ms, {system.name}", system)
        for arrays in _small(study)
        for system in arrays.systems
        if system.drives * system.arms == _MOST_ARMS.get(arrays.interarrival_ms)
    ]
    return [_watts(f"Power by state, {profile}", profile, systems) for profile in study.profiles]


def _costs(study: DriveStudy) -> Bars:
    """What arrays cost at the lowest prices, and how much more at the highest."""
    if not study.costs:
        raise UsageError(
            "figure 9 needs the costs of arrays, which studies of older versions do not have; make"
            " the study again"
        )
    rows = [
        (cost.name, [cost.drives * cost.low, cost.drives * (cost.high - cost.low)])
        for cost in study.costs
    ]
    return Bars("Material of arrays that perform alike", "$", ["lowest", "up to highest"], rows)


def _small(study: DriveStudy) -> list[StudyArrays]:
    """The arrays whose requests go to the smallest part of each drive."""
    least = min(arrays.footprint for arrays in study.arrays)
    return [arrays for arrays in study.arrays if arrays.footprint == least]


def _cdf(study: DriveStudy, load: str, what: str, systems: Sequence[StudySystem]) -> Plot:
    lines = [Line(name, [100 * share for share in system.cdf]) for name, system in _named(systems)]
    return Plot(
        f"study-cdf-{load}{what}",
        f"Response times, {load}{what}",
        Axis("response time", "ms", log=True),
        Axis("requests up to this time", "%"),
        [Strand(study.edges_ms, lines)],
    )


def _rotation(study: DriveStudy, load: str, systems: Sequence[StudySystem]) -> Plot:
    edges = study.rotation_edges_ms
    xs = [(low + high) / 2 for low, high in pairwise(edges) if high <= _LONGEST_WAIT_MS]
    lines = [
        Line(system.name, [100 * share for share in system.rotation_pdf[: len(xs)]])
        for system in systems
    ]
    return Plot(
        f"study-rotation-{load}",
        f"Waits for rotation, {load}",
        Axis("wait, in steps of 0.5 ms", "ms"),
        Axis("accesses", "%"),
        [Strand(xs, lines)],
    )


def _percentiles(arrays: StudyArrays) -> Plot:
    """The 90th percentile over the drives, a line for each number of arms."""
    strands = []
    for arms in sorted({system.arms for system in arrays.systems}):
        kept = [system for system in arrays.systems if system.arms == arms and not system.saturated]
        name = "HC-SD" if arms == 1 else f"SA({arms})"
        xs = [float(system.drives) for system in kept]
        strands.append(Strand(xs, [Line(name, [system.p90_ms for system in kept])]))
    return Plot(
        f"study-arrays-{arrays.interarrival_ms:g}",
        f"Response time of arrays, {arrays.interarrival_ms:g} ms between arrivals,"
        f" {arrays.footprint:.0%} of each drive; saturated arrays are left out",
        Axis("drives", quantity=Quantity.WHOLE, log=True),
        Axis("90th percentile", "ms"),
        strands,
    )


def _named(systems: Sequence[StudySystem]) -> list[tuple[str, StudySystem]]:
    return [
        (f"{system.name}, saturated" if system.saturated else system.name, system)
        for system in systems
    ]


def _watts(title: str, profile: str, systems: Sequence[tuple[str, StudySystem]]) -> Bars:
    """A bar for each system, of the mean power in each state."""
    watts = [(name, system.watts.get(profile, {})) for name, system in systems]
    modes = list(dict.fromkeys(mode for _, of_modes in watts for mode in of_modes))
    rows = [(name, [of_modes.get(mode, 0.0) for mode in modes]) for name, of_modes in watts]
    return Bars(title, "W", modes, rows)
