# SPDX-License-Identifier: GPL-2.0
"""A storage system of modelled drives under a list of requests."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from lib.ctl.study import arrays_of

from spekctl.campaigns.paper003 import loads, study
from spekctl.campaigns.paper003.claims import system_of
from spekctl.campaigns.paper003.system import EDGES_MS, PILOT, Choice, run
from spekctl.documents.drive import DriveStudy, StudySystem
from spekctl.drive import file
from spekctl.drive.model import Model

CALM_MS = 40.0
MODEL = file.load("barracuda-es")


def test_what_cannot_keep_up_is_saturated(drive_study: DriveStudy) -> None:
    heavy = arrays_of(drive_study, 1, 1.0)
    assert system_of(heavy, 1, 1).saturated
    assert not system_of(heavy, 16, 1).saturated


def served(
    count: int,
    interarrival_ms: float = CALM_MS,
    drives: int = 1,
    model: Model = MODEL,
    **choice: Any,
) -> StudySystem:
    requests = loads.synthetic(interarrival_ms, model.capacity // 2, count, 3)
    return run("x", model, loads.striped(requests, drives), count, Choice(**choice))


@pytest.mark.parametrize("drives", [1, 3])
def test_a_calm_drive_takes_what_it_seeks_waits_and_transfers(drives: int) -> None:
    system = served(2000, drives=drives)
    assert system.drives == drives and not system.saturated
    assert system.p50_ms <= system.p90_ms <= system.p99_ms
    assert system.mean_ms > system.seek_ms + system.rotation_ms
    # Half a turn of 8.33 ms, less what the order of the queue saves.
    assert 2.5 < system.rotation_ms < 4.4
    assert system.cdf == sorted(system.cdf) and len(system.cdf) == len(EDGES_MS)
    assert sum(system.rotation_pdf) == pytest.approx(1)


def test_power_is_at_least_that_of_drives_at_rest() -> None:
    for drives in (1, 2):
        system = served(1000, drives=drives)
        for profile, idle_w in (("datasheet-arms", 9.3), ("isca08-watts", 14.9)):
            assert system.watts_of(profile) > drives * idle_w
            assert system.watts[profile]["idle"] < system.watts_of(profile)


def test_an_idle_member_draws_power_and_serves_nothing() -> None:
    requests = loads.synthetic(CALM_MS, 10**6, 500, 3)
    nothing = (requests[:0], np.arange(0))
    alone = run("x", MODEL, [(requests, np.arange(500))], 500, Choice())
    beside = run("x", MODEL, [(requests, np.arange(500)), nothing], 500, Choice())
    assert (beside.mean_ms, beside.moved) == (alone.mean_ms, alone.moved)
    more = beside.watts_of("datasheet-arms") - alone.watts_of("datasheet-arms")
    assert more == pytest.approx(9.3, rel=1e-3)


def test_a_request_ends_with_the_last_of_its_parts() -> None:
    first, second = (loads.synthetic(CALM_MS, 10**6, 300, seed) for seed in (1, 2))
    second["arrival_ns"] = first["arrival_ns"]
    index = np.arange(300)
    single = [run("x", MODEL, [(half, index)], 300, Choice()) for half in (first, second)]
    both = run("x", MODEL, [(first, index), (second, index)], 300, Choice())
    assert both.mean_ms > max(system.mean_ms for system in single)


def test_scales_take_seeks_and_waits_away() -> None:
    whole = served(1000)
    assert served(1000, seek_scale=0.0).seek_ms == 0 == served(1000, seek_scale=0.0).moved
    assert served(1000, rotation_scale=0.0).rotation_ms == 0
    assert served(1000, seek_scale=0.5).seek_ms == pytest.approx(whole.seek_ms / 2, rel=0.05)


def test_the_same_seed_gives_the_same_system() -> None:
    assert served(500, seed=4) == served(500, seed=4) != served(500, seed=5)


def test_an_overload_is_told_by_its_first_requests() -> None:
    """More of them would only queue for longer."""
    system = served(PILOT + 2000, interarrival_ms=1.0)
    assert system.saturated
    requests = loads.synthetic(1.0, MODEL.capacity // 2, PILOT + 2000, 3)[:PILOT]
    assert system == run("x", MODEL, [(requests, np.arange(PILOT))], PILOT, Choice())
    assert not served(PILOT + 2000).saturated


def test_an_arm_that_fails_halfway_serves_nothing_after_that() -> None:
    """The times are of the second half, and those of a drive that never had the arm."""
    two, whole = MODEL.with_arms(2), served(3000, model=MODEL.with_arms(2))
    lost = served(3000, model=two, lost=1)
    assert lost.errors == 0 and lost.mean_ms > whole.mean_ms
    assert lost.mean_ms == pytest.approx(served(3000).mean_ms, rel=0.05)
    assert lost.rotation_ms > whole.rotation_ms
    assert served(3000, model=two, lost=0).mean_ms == pytest.approx(lost.mean_ms, rel=0.05)


def test_a_drive_without_any_arm_fails_its_requests() -> None:
    lost = served(1000, lost=0)
    assert lost.errors == 500


def test_hits_of_the_cache_are_counted() -> None:
    requests = loads.synthetic(CALM_MS, 10**6, 1000, 3)
    model = study.with_cache(MODEL, 8, 16)
    index = np.arange(1000)
    cached = run("x", model, [(requests, index)], 1000, Choice())
    plain = run("x", MODEL, [(requests, index)], 1000, Choice())
    assert plain.hits == 0 < cached.hits < 0.5 and cached.mean_ms < plain.mean_ms
