"""Seek curves: tables, formulas, and which ones are refused."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lib.core.drivecore import Drive, Refused

from spekctl.drive.file import load
from spekctl.drive.model import Lee, Model, Zone

Core = tuple[Any, Any]
MS = 10**6


def curve(points: list[tuple[int, int]], cylinders: int = 1000) -> Model:
    return Model("seek", 1, (Zone(0, cylinders, 8, 0, 0),), tuple(points), 8_333_333_333)


# ---- the three-parameter formula ----


def test_formula_of_the_barracuda_es(core: Core) -> None:
    """Golden values: exact by formula, and within 0.1 % by table."""
    drive = Drive(core, load("barracuda-es"))
    assert (drive.lee.root, drive.lee.line) == (1_855_392_512, 1_866_783)
    golden = {
        **{0: 0, 1: 800_000, 2: 828_339, 10: 885_189, 100: 1_084_509, 1000: 1_723_281},
        **{10_000: 3_915_781, 55_000: 9_006_105, 82_500: 11_281_649, 164_999: 16_999_872},
    }
    for distance, ns in golden.items():
        assert drive.lib.shim_lee_ns(drive.lee, distance) == pytest.approx(ns, abs=1)
        assert drive.seek_ns(distance) == pytest.approx(ns, rel=1e-3)


def test_table_is_close_to_the_formula(core: Core) -> None:
    drive = Drive(core, load("barracuda-es"))
    for distance in [*range(1, 2000), *range(2000, 165_000, 37), 164_999]:
        exact = drive.lib.shim_lee_ns(drive.lee, distance)
        tolerance = 0 if distance <= 64 else 1e-3 * exact
        assert abs(drive.seek_ns(distance) - exact) <= tolerance


def test_mean_over_random_pairs_is_the_average_given(core: Core) -> None:
    """The integral of the curve over the density 2 (C - x) / C^2 of a random distance."""
    drive = Drive(core, load("barracuda-es"))
    cylinders = drive.cylinders
    x = np.arange(1, cylinders, 5)
    ns = np.array([drive.seek_ns(int(cylinder)) for cylinder in x])
    mean = np.sum(ns * 2.0 * (cylinders - x)) * 5 / cylinders**2
    assert mean == pytest.approx(8.5 * MS, rel=2e-3)


@given(
    low=st.integers(1, 20 * MS), avg=st.integers(1, 40 * MS), high=st.integers(1, 100 * MS),
    cylinders=st.integers(2, 2**22),
)  # fmt: skip
def test_formula_is_monotone_or_refused(
    core: Core, low: int, avg: int, high: int, cylinders: int
) -> None:
    model = replace(curve([], cylinders), seek=Lee(low, avg, high))
    valid = low <= avg <= high and 15 * avg - 7 * low <= 8 * high and high <= 3 * avg - 2 * low
    if not valid:
        with pytest.raises(Refused):
            Drive(core, model)
        return
    drive = Drive(core, model)
    distances = sorted({1, 2, cylinders // 7, cylinders // 2, cylinders - 1} - {0})
    times = [drive.seek_ns(distance) for distance in distances]
    assert times[0] == low
    assert all(ns <= following for ns, following in pairwise(times))
    assert times[-1] <= high + 1
    # sqrt(C - 1) instead of sqrt(C): the end is short of the longest seek by less than this
    root = (15 * avg - 10 * low - 5 * high) / 3
    line = (7 * low - 15 * avg + 8 * high) / 3
    short = root * (1 - math.sqrt((cylinders - 2) / cylinders)) + line * 2 / cylinders
    assert times[-1] >= high - short - 2 - 1e-4 * high


# ---- the six-parameter formula ----


def test_six_parameters(core: Core) -> None:
    ffi, lib = core
    hpl = ffi.new("struct shim_hpl *")
    hpl.border, hpl.single_ns, hpl.base_ns = 1500, 1_062_000, 2_697_000
    hpl.root, hpl.far_ns, hpl.line = 71_600 * 65536, 4_350_000, 747 * 65536
    for distance, ms in {0: 0, 1: 1.062, 175: 3.64, 600: 4.45, 4100: 7.41, 9000: 11.07}.items():
        assert lib.shim_hpl_ns(hpl, distance) == pytest.approx(ms * MS, abs=0.01 * MS)
    points = ffi.new("struct spek_drive_seek_point[]", 512)
    count = lib.shim_hpl_points(hpl, 11_474, points)
    table = [(points[i].distance, points[i].ns) for i in range(count)]
    assert {1499, 1500, 11_473} <= {distance for distance, _ in table}
    drive = Drive(core, curve(table, 11_474))
    for distance in range(11_474):
        exact = lib.shim_hpl_ns(hpl, distance)
        assert drive.seek_ns(distance) == pytest.approx(exact, rel=1e-3)


# ---- tables ----


@given(st.data())
def test_table_is_interpolated(core: Core, data: st.DataObject) -> None:
    distances = sorted(data.draw(st.sets(st.integers(1, 999), min_size=1, max_size=20)))
    times = [data.draw(st.integers(MS, 20 * MS)) for _ in distances]
    points = list(zip(distances, times, strict=True))
    # flat at the end: where it is extrapolated
    points.append((points[-1][0] + 1, points[-1][1]))
    drive = Drive(core, curve(points), max_fall_ppm=10**6)
    x, y = zip(*points, strict=True)
    for distance in range(1, 1000):
        assert drive.seek_ns(distance) == pytest.approx(np.interp(distance, x, y), abs=1.5)
    assert drive.seek_ns(0) == 0


def test_last_line_goes_on(core: Core) -> None:
    drive = Drive(core, curve([(1, MS), (100, 2 * MS), (200, 4 * MS)]))
    assert drive.seek_ns(300) == 6 * MS
    assert drive.seek_ns(999) == 4 * MS + 799 * 20_000


def test_deep_falls_are_refused_unless_forced(core: Core) -> None:
    shallow, deep = [(1, 10 * MS), (2, 6 * MS)], [(1, 10 * MS), (2, 6 * MS - 100)]
    flat = [(3, 6 * MS), (4, 6 * MS)]
    drive = Drive(core, curve(shallow + flat))
    seek = drive.ffi.addressof(drive.c_model.mechanics.seek)
    assert drive.lib.spek_drive_seek_fall_ppm(seek) == 400_000
    with pytest.raises(Refused, match="falls deeper"):
        Drive(core, curve(deep + flat))
    assert Drive(core, curve(deep + flat), max_fall_ppm=10**6).seek_ns(2) == 6 * MS - 100


@pytest.mark.parametrize(
    ("points", "sentence"),
    [
        ([], "1 to 4096 points"),
        ([(0, MS)], "must rise"),
        ([(2, MS), (2, MS)], "must rise"),
        ([(2, MS), (1, MS)], "must rise"),
        ([(1, 0)], "1 ns to 1 s"),
        ([(1, 10**9 + 1)], "1 ns to 1 s"),
        ([(2**22 + 1, MS)], "cylinders"),
        ([(1, 2 * MS), (2, 2 * MS - 3000)], "last line"),
        ([(1, MS), (2, 3 * MS)], "last line"),
        ([(1, 1), (2, 10**9)], "last line"),
    ],
)
def test_refuses_a_table(core: Core, points: list[tuple[int, int]], sentence: str) -> None:
    with pytest.raises(Refused, match=sentence):
        Drive(core, curve(points))


def test_refuses_more_points_than_fit(core: Core) -> None:
    with pytest.raises(Refused, match="1 to 4096 points"):
        Drive(core, curve([(1, MS)]), fields={"mechanics.seek.nr_points": 4097})


@given(st.integers(0, 2**64 - 1))
def test_square_root(core: Core, x: int) -> None:
    assert core[1].shim_sqrt64(x) == math.isqrt(x)


# ---- the index ----


@given(
    steps=st.lists(st.tuples(st.integers(1, 3000), st.integers(1, 10**7)), min_size=1, max_size=30),
    distances=st.lists(st.integers(0, 29_999), min_size=2, max_size=30),
)
def test_no_longer_move_is_faster_than_the_bound(
    core: Core, steps: list[tuple[int, int]], distances: list[int]
) -> None:
    points, distance = [], 0
    for step, ns in steps:
        distance += step
        points.append((distance, ns))
    # the last line must not fall below 0, nor rise above 1 s
    points.append((distance + 30_000, points[-1][1]))
    drive = Drive(core, curve(points, 30_000), max_fall_ppm=10**6)
    seek = drive.c_model.mechanics.seek
    for shortest in distances:
        bound = seek.least_ns[drive.lib.shim_seek_step(shortest)]
        assert bound > 0 or shortest == 0
        assert all(drive.seek_ns(longer) >= bound for longer in distances if longer >= shortest)


def test_steps_of_the_index(core: Core) -> None:
    """Each distance has a step, none is missed, and none is wider than an eighth of it."""
    step = core[1].shim_seek_step
    assert [step(distance) for distance in range(18)] == [*range(16), 16, 16]
    assert step(2**22) < 168
    for distance in [*range(1, 5000), *(2**n + d for n in range(12, 22) for d in (-1, 0, 1))]:
        assert 0 <= step(distance) - step(distance - 1) <= 1
        assert step(distance + distance // 8 + 1) > step(distance)
