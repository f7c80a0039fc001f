# SPDX-License-Identifier: GPL-2.0
"""The methods of paper 001 on a modelled drive."""

from __future__ import annotations

from pathlib import Path

import pytest
from bench.papers import paper001, same_system
from bench.papers.claims import OPEN

from spekctl.campaigns.efficiency import Comparison
from spekctl.documents import document
from spekctl.documents.energy import Spc1eReport
from spekctl.drive import file
from spekctl.drive.model import SECTOR, Model


@pytest.fixture(scope="module")
def model() -> Model:
    return file.load(same_system.DRIVE)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("same")
    same_system.write(path)
    return path


@pytest.fixture
def methods(folder: Path) -> Comparison:
    return same_system.compared(folder)


def test_every_method_has_its_metrics(methods: Comparison, model: Model) -> None:
    by_method: dict[str, list[str]] = {}
    for row in methods.rows:
        by_method.setdefault(row.method, []).append(row.metric)
        assert float(row.value.text) > 0
    assert list(by_method) == ["SPC-1/E", "SPC-2/E", "Emerald", "DCsE"]
    assert len(by_method["Emerald"]) == 8 and len(by_method["DCsE"]) == 3
    idle = {row.metric: row for row in methods.rows}["capacity"]
    assert float(idle.watts) == pytest.approx(8.2)
    assert float(idle.work) == pytest.approx(model.capacity * SECTOR / 1e9)


def test_the_loads_of_spc1e_are_shares_of_the_most_that_keeps_the_limit(
    folder: Path, model: Model
) -> None:
    most = same_system.most_bsu(model)
    limit = same_system.LIMIT_MS
    assert same_system.spc1(model, most).mean_ms <= limit
    assert same_system.spc1(model, most + 1).mean_ms > limit
    levels = document.read(folder / "same-spc1e.json", Spc1eReport).levels
    heavy, moderate, idle = (float(level.iops) for level in levels)
    assert heavy == pytest.approx(most * 80 // 100 * same_system.IOPS_PER_BSU, rel=0.1)
    assert moderate == pytest.approx(most * 50 // 100 * same_system.IOPS_PER_BSU, rel=0.1)
    assert idle == 0


def test_video_on_demand_is_the_most_that_is_never_late(model: Model) -> None:
    most = same_system.most_vod(model)
    assert same_system.vod(model, most).worst_ms <= 1000 / 3
    assert same_system.vod(model, most + 1).worst_ms > 1000 / 3


def test_random_phases_keep_their_limit(model: Model) -> None:
    for name in ("random-read", "hot-band"):
        assert same_system.phase(model, name).mean_ms <= same_system.RANDOM_MS
    mixed = same_system.phase(model, "mixed")
    assert same_system.quarter(model, mixed.iops).iops == pytest.approx(mixed.iops / 4, rel=0.05)


def test_the_table_is_shown_and_not_judged(methods: Comparison) -> None:
    claim = paper001._methods(methods)
    assert claim.verdict == OPEN
    assert all(method in claim.here for method in ("SPC-1/E", "SPC-2/E", "EP_RI", "DCsE"))
    (grid,) = same_system.sheet_of(methods).grids
    assert len(grid.rows) == len(methods.rows) == 13
    assert [row[5] for row in grid.rows] == [row.value.text for row in methods.rows]
