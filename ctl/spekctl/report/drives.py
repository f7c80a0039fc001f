# SPDX-License-Identifier: GPL-2.0-or-later
"""Sheets of modelled drives."""

from __future__ import annotations

from spekctl import units
from spekctl.documents.drive import DriveSimulation, DriveStudy, StudySystem
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


def simulation_sheet(file: str, found: DriveSimulation) -> Sheet:
    """A modelled drive over a list of requests: its states, their time and their energy."""
    made = Sheet(file, "simulation of a drive", f"{found.model}: {found.title}")
    made.figures = [
        ("IOPS", units.format_rate(found.iops)),
        ("mean response", units.format_ns(found.response.mean)),
        ("p99", units.format_ns(found.response.p99)),
        ("max", units.format_ns(found.response.max)),
    ]
    if found.profile:
        made.figures.append(("power", units.format_watts(found.watts)))
    loop = f"{found.closed} outstanding" if found.closed else "open loop"
    made.conditions = [
        ("requests", f"{found.requests:,}, {loop}"),
        ("arms", str(found.arms)),
        ("speed", f"{found.rpm:,.0f} rpm"),
        ("scheduling", f"{found.policy}, window {found.window}"),
    ]
    if found.flash is not None:
        made.conditions[1:] = [("channels", str(found.flash.channels))]
    add_printed(made, render.simulation_parts(found))
    if found.modes:
        modes = list(found.modes)
        total = found.elapsed_ns / 1e9
        joules = sum(one.joules for one in found.modes.values())
        rows = [("time", [100 * one.seconds / total for one in found.modes.values()])]
        if joules:
            rows.append(("energy", [100 * one.joules / joules for one in found.modes.values()]))
        made.bars.append(Bars("States of the drive", "%", modes, rows))
    if found.flash is not None and found.flash.steps:
        steps = found.flash.steps
        xs = [one.until_ns / 1e9 for one in steps]
        time = Axis("simulated time", quantity=Quantity.CLOCK)
        rate = [one.write_rate / 1e6 for one in steps]
        factor = [one.amplification for one in steps]
        made.plots += [
            Plot("flash-rate", "Write rate over time", time, Axis("written", "MB/s"),
                 [Strand(xs, [Line("written", rate, main=True)])], "time"),
            Plot("flash-amplification", "Write amplification over time", time,
                 Axis("write amplification", "factor"),
                 [Strand(xs, [Line("amplification", factor, main=True)])], "time"),
        ]  # fmt: skip
    return made


def study_sheet(file: str, study: DriveStudy) -> Sheet:
    """Paper 003 again."""
    judged = [one for one in study.claims if one.holds is not None]
    held = sum(bool(one.holds) for one in judged)
    made = Sheet(
        file,
        "study of drives",
        f"paper 003 on {study.model}: {study.requests:,} requests per load",
        verdict=f"{held} of {len(judged)} claims hold",
        good=held == len(judged),
    )
    made.figures = [("claims that hold", f"{held} of {len(judged)}")]
    made.conditions = [
        ("model", study.model),
        ("power profiles", ", ".join(study.profiles)),
        ("seed", str(study.seed)),
    ]
    made.judged = Judged("Claims of the paper", "confirmed", "not confirmed")
    made.verdicts = [
        Verdict(f"{one.place}: {one.what}", f"paper {one.paper}, here {one.found}", one.holds)
        for one in study.claims
    ]
    add_printed(made, render.study_parts(study))
    for load in study.loads:
        systems = [load.array, *load.single]
        lines = [Line(one.name, [100 * share for share in one.cdf]) for one in systems]
        made.plots.append(
            Plot(
                f"study-cdf-{load.name}",
                f"Response times, {load.name}",
                Axis("response time", "ms", log=True),
                Axis("requests up to this time", "%"),
                [Strand(study.edges_ms, lines)],
            )
        )
        made.bars.append(_watts(f"Power by state, {load.name}", study.profiles[0], systems))
    for number, profile in enumerate(study.arrays):
        made.bars.append(
            _watts(
                f"Power by state, arrays at {profile.interarrival_ms:g} ms between requests"
                f" (case {number + 1})",
                study.profiles[0],
                profile.systems,
            )
        )
    return made


def _watts(title: str, profile: str, systems: list[StudySystem]) -> Bars:
    """A bar for each system, of the mean power in each state."""
    modes = list(dict.fromkeys(mode for one in systems for mode in one.watts.get(profile, {})))
    rows = [
        (
            f"{one.name}, saturated" if one.saturated else one.name,
            [one.watts.get(profile, {}).get(mode, 0.0) for mode in modes],
        )
        for one in systems
    ]
    return Bars(title, "W", modes, rows)
