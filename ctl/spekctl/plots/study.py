# SPDX-License-Identifier: GPL-2.0-or-later
"""The figures of paper 003 from a study of modelled drives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from spekctl.documents.drive import DriveStudy, StudySystem
from spekctl.plots import style
from spekctl.plots.style import Origin

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MODES = ("idle", "seek", "rotation", "transfer")
TITLES = {
    2: "response time of the array (MD) and of one large drive (HC-SD)",
    3: "watts of MD and HC-SD",
    4: "HC-SD with shorter seeks and shorter waits for rotation",
    5: "drives with several arms",
    6: "watts of drives with several arms, by speed",
    7: "several arms at lower speeds",
    8: "arrays: 90th percentile and watts",
}
FIGURES = tuple(TITLES)


def draw(study: DriveStudy, figure: int, file: str, title: str = "") -> Figure:
    """One of FIGURES."""
    details = f"{study.requests:,} requests of each load, seed {study.seed}"
    origin = Origin(file, "study of paper 003", (study.model,), details)
    heading = title or f"Paper 003, figure {figure}: {TITLES[figure]}"
    rows = {2: 4, 3: 1, 4: 8, 5: 8, 6: 4, 7: 4, 8: 5}[figure]
    made, axes = style.new_figure([2.4] * rows, heading, [origin], share_x=False)
    profile = study.profiles[0]
    if figure == 8:
        _arrays(study, axes, profile)
        return made
    if figure == 3:
        bars = [one for load in study.loads for one in (load.array, load.single[0])]
        names = [f"{load.name}\n{what}" for load in study.loads for what in ("MD", "HC-SD")]
        _watts(axes[0], bars, names, profile)
        return made
    for index, load in enumerate(study.loads):
        if figure == 2:
            _cdf(study, axes[index], load.name, [load.array, load.single[0]])
        elif figure == 4:
            base = [load.array, load.single[0]]
            _cdf(study, axes[2 * index], f"{load.name}: seek", [*base, *load.scaled[:3]])
            _cdf(study, axes[2 * index + 1], f"{load.name}: rotation", [*base, *load.scaled[3:]])
        elif figure == 5:
            _cdf(study, axes[2 * index], load.name, [load.array, *load.single])
            _rotation(study, axes[2 * index + 1], load.name, load.single)
        elif figure == 6:
            systems = [load.single[0], load.single[1], load.single[3], *load.slower]
            _watts(axes[index], systems, [one.name for one in systems], profile)
            axes[index].set_title(load.name)
        else:
            _cdf(study, axes[index], load.name, [load.array, load.single[0], *load.slower])
    return made


def _cdf(study: DriveStudy, axes: Axes, name: str, systems: Sequence[StudySystem]) -> None:
    for colour, one in zip(style.colours(len(systems)), systems, strict=True):
        label = f"{one.name} (saturated)" if one.saturated else one.name
        axes.plot(study.edges_ms, one.cdf, color=colour, label=label)
    axes.set_xscale("log")
    axes.set_ylim(0, 1)
    axes.set_xlim(study.edges_ms[0], study.edges_ms[-1])
    style.log_ticks(axes, "x")
    axes.set_title(name)
    axes.set_xlabel("response time (ms)")
    axes.set_ylabel("share of requests")
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))


def _rotation(study: DriveStudy, axes: Axes, name: str, systems: Sequence[StudySystem]) -> None:
    middle = [
        (low + high) / 2
        for low, high in zip(study.rotation_edges_ms, study.rotation_edges_ms[1:], strict=False)
    ]
    for colour, one in zip(style.colours(len(systems)), systems, strict=True):
        axes.plot(middle, one.rotation_pdf, color=colour, label=one.name)
    axes.set_title(f"{name}: wait for rotation")
    axes.set_xlabel("wait (ms), in steps of 0.5 ms")
    axes.set_ylabel("share of accesses")
    axes.set_xlim(0, 10)
    axes.set_ylim(bottom=0)
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))


def _watts(axes: Axes, systems: Sequence[StudySystem], names: Sequence[str], profile: str) -> None:
    places = list(range(len(systems)))
    bottom = [0.0] * len(systems)
    for colour, mode in zip(style.colours(len(MODES)), MODES, strict=True):
        heights = [one.watts[profile][mode] for one in systems]
        axes.bar(places, heights, bottom=bottom, color=colour, width=0.6, label=mode)
        bottom = [low + high for low, high in zip(bottom, heights, strict=True)]
    axes.set_xticks(places, names, fontsize=7)
    axes.set_ylabel(f"mean power (W)\n{profile}")
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))


def _arrays(study: DriveStudy, axes: Sequence[Axes], profile: str) -> None:
    small = min(one.footprint for one in study.arrays)
    some = [one for one in study.arrays if one.footprint == small]
    arms = sorted({one.arms for one in some[0].systems})
    for axis, arrays in zip(axes, some, strict=False):
        for colour, number in zip(style.colours(len(arms)), arms, strict=True):
            points = [one for one in arrays.systems if one.arms == number and not one.saturated]
            axis.plot(
                [one.drives for one in points], [one.p90_ms for one in points],
                color=colour, marker="o", label="HC-SD" if number == 1 else f"SA({number})",
            )  # fmt: skip
        axis.set_xscale("log", base=2)
        drives = sorted({one.drives for one in arrays.systems})
        axis.set_xticks(drives, [str(one) for one in drives])
        axis.set_ylim(bottom=0)
        axis.set_title(f"{arrays.interarrival_ms:g} ms between arrivals, {small:.0%} of each drive")
        axis.set_xlabel("drives; saturated arrays are left out")
        axis.set_ylabel("90th percentile of\nresponse time (ms)")
        axis.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    for axis, name in zip(axes[3:], study.profiles, strict=False):
        bars, names = [], []
        for arrays in some:
            most = {8.0: 4, 4.0: 8, 1.0: 16}.get(arrays.interarrival_ms)
            for number in arms:
                found = [
                    one
                    for one in arrays.systems
                    if (one.drives * number, one.arms) == (most, number)
                ]
                bars += found
                names += [f"{arrays.interarrival_ms:g} ms\n{one.name}" for one in found]
        _watts(axis, bars, names, name)
