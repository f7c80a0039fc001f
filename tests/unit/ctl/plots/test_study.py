# SPDX-License-Identifier: GPL-2.0
"""The figures of paper 003 again."""

from __future__ import annotations

import pytest
from lib.ctl.plot_seen import lines, our_style, xs
from lib.ctl.study import short_study
from msgspec.structs import replace

from spekctl.documents.drive import DriveStudy
from spekctl.plots import study as picture
from spekctl.plots import style

drawing = pytest.fixture(autouse=True)(our_style)


@pytest.fixture
def made() -> DriveStudy:
    return short_study()


@pytest.mark.parametrize("figure", picture.FIGURES)
def test_every_figure_has_its_panels(made: DriveStudy, figure: int) -> None:
    drawn = picture.draw(made, figure, "study.json")
    panels = {2: 4, 3: 1, 4: 8, 5: 8, 6: 4, 7: 4, 8: 5}[figure]
    assert len(drawn.axes) == panels
    assert all(axes.lines or axes.patches for axes in drawn.axes)


def test_bars_of_watts_are_stacked_to_the_mean_power(made: DriveStudy) -> None:
    (axes,) = picture.draw(made, 3, "study.json").axes
    load, profile = made.loads[0], made.profiles[0]
    count = 2 * len(made.loads)
    tops = axes.patches[-count:]
    for place, system in enumerate((load.array, load.single[0])):
        height = float(tops[place].get_extents().transformed(axes.transData.inverted()).y1)
        assert height == pytest.approx(sum(system.watts[profile].values()))


def test_saturated_systems_are_named_so_or_left_out(made: DriveStudy) -> None:
    load = made.loads[0]
    full = replace(made, loads=[replace(load, array=replace(load.array, saturated=True))])
    names = lines(picture.draw(full, 2, "study.json").axes[0])
    assert f"{load.array.name} (saturated)" in names
    arrays = [
        replace(one, systems=[replace(system, saturated=True) for system in one.systems])
        for one in made.arrays
    ]
    (axes, *_) = picture.draw(replace(made, arrays=arrays), 8, "study.json").axes
    assert all(xs(line) == [] for line in axes.get_lines())


def test_the_title_can_be_another(made: DriveStudy) -> None:
    assert "figure 3: watts of MD" in picture.draw(made, 3, "s").get_suptitle()
    assert picture.draw(made, 3, "s", "mine").get_suptitle() == "mine"
    assert picture.draw(made, 3, "s").get_figwidth() == style.WIDTH_IN
