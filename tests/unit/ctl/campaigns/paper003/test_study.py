# SPDX-License-Identifier: GPL-2.0
"""The study of paper 003: its claims, watts and figures."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from lib.ctl.command_line import caller
from lib.ctl.study import arrays_of

from spekctl import files
from spekctl.campaigns.paper003 import study
from spekctl.campaigns.paper003.claims import system_of
from spekctl.documents import document, drive
from spekctl.documents.drive import DriveStudy
from spekctl.drive import file


def test_arrays_break_even_on_a_small_footprint_and_not_on_a_large_one(
    drive_study: DriveStudy,
) -> None:
    for interarrival_ms, most in ((8, 4), (4, 8), (1, 16)):
        small = arrays_of(drive_study, interarrival_ms, 0.1)
        single, double, quadruple = (system_of(small, most // arms, arms) for arms in (1, 2, 4))
        assert double.p90_ms < single.p90_ms and quadruple.p90_ms < 1.15 * single.p90_ms
        assert double.rotation_ms < 0.65 * single.rotation_ms
        assert quadruple.rotation_ms < 0.8 * double.rotation_ms
    large = arrays_of(drive_study, 1, 1.0)
    assert system_of(large, 4, 4).p90_ms > 2 * system_of(large, 16, 1).p90_ms


def test_watts_are_those_that_the_profiles_were_made_for(drive_study: DriveStudy) -> None:
    light, heavy = arrays_of(drive_study, 8, 0.1), arrays_of(drive_study, 1, 0.1)
    for profile, watts, savings in (
        ("datasheet-arms", (38.5, 23.9, 16.5), (0.365, 0.557)),
        ("isca08-watts", (60.3, 36.9, 25.1), (0.384, 0.578)),
    ):
        drawn = [system_of(light, 4 // arms, arms).watts_of(profile) for arms in (1, 2, 4)]
        assert drawn == pytest.approx(watts, rel=0.01)
        drawn = [system_of(heavy, 16 // arms, arms).watts_of(profile) for arms in (1, 2, 4)]
        assert [1 - watts / drawn[0] for watts in drawn[1:]] == pytest.approx(savings, abs=0.01)


def test_the_document_follows_its_schema_and_is_drawn(
    drive_study: DriveStudy, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "study.json"
    path.write_bytes(files.encode(drive_study))
    jsonschema.validate(json.loads(path.read_text()), drive.json_schema())
    assert document.read(path, DriveStudy) == drive_study
    done = caller(capfd)("plot", "study", path, "--figure", 8, "-o", tmp_path / "fig8.svg")
    assert (done.code, done.out) == (0, f"{tmp_path}/fig8.svg\n")


def test_each_load_meets_caches_relaxed_drives_and_one_that_loses_an_arm(
    drive_study: DriveStudy,
) -> None:
    for load in drive_study.loads:
        assert [system.name for system in load.cached] == ["HC-SD, 8 MB", "HC-SD, 64 MB"]
        assert [system.name for system in load.relaxed] == [
            *("SA(2), all move", "SA(2), all transfer"),
            *("SA(4), all move", "SA(4), all transfer"),
        ]
        assert [system.name for system in load.failed] == ["SA(2), arm lost", "SA(4), arm lost"]
        assert load.relaxed[2].mean_ms < load.single[3].mean_ms
        for system in load.systems():
            assert system.errors == 0
            assert (system.hits > 0) == (system in load.cached)


def test_the_larger_cache_is_of_its_size() -> None:
    model = file.load("barracuda-es")
    for megabytes, segments in study.CACHES:
        cache = study.with_cache(model, megabytes, segments).cache
        assert cache.segments * cache.segment_sectors * 512 == megabytes << 20
    relaxed = study.moving(model, 4, transfer=True)
    assert (relaxed.moving, relaxed.channels) == (4, 4)
    assert (study.moving(model, 4).moving, study.moving(model, 4).channels) == (4, 1)
