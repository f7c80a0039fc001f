# SPDX-License-Identifier: GPL-2.0
"""Fits of paper 003's traces: beside the defaults, and never in a verdict."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from lib.ctl.traces import spc_file
from msgspec.structs import replace

from spekctl.campaigns.paper003 import claims, fits, loads, study
from spekctl.documents.drive import Claim, DriveStudy
from spekctl.drive import file

LIKE = {load.name: load for load in loads.LOADS}


@pytest.mark.parametrize("load", fits.LOADS, ids=lambda load: load.name)
def test_a_fit_keeps_what_is_known_of_its_trace(load: loads.Load) -> None:
    default = LIKE[load.name]
    for name in ("member", "disks", "read_share", "sectors", "known"):
        assert getattr(load, name) == getattr(default, name)
    if load.name.startswith("TPC-H"):
        assert load.interarrival_ms == default.interarrival_ms  # the paper states it
    assert load.assumed != default.assumed
    for text in (f"{load.sequential:.0%} sequential", f"{load.near:.0%} within"):
        assert text.replace("%", " %") in load.assumed
    assert f"{load.near_sectors * 512 >> 20} MiB" in load.assumed
    assert f"{load.footprint:.0%}".replace("%", " %") + " of each disk" in load.assumed
    assert ("cache" in load.assumed) == load.cached


@pytest.mark.parametrize("load", fits.LOADS, ids=lambda load: load.name)
def test_a_fit_stays_on_its_part_of_each_disk(load: loads.Load) -> None:
    sectors = file.load(load.member).capacity
    requests, disk = loads.of_trace(load, sectors, 5000, 2)
    ends = requests["lba"] + requests["sectors"]
    assert ends.max() <= int(sectors * load.footprint)
    assert (np.bincount(disk, minlength=load.disks) > 0).all()


def test_no_fit_turns_a_verdict(drive_study: DriveStudy) -> None:
    large = file.load("barracuda-es")
    parts = (drive_study.loads, drive_study.arrays, drive_study.profiles, drive_study.costs)
    without = claims.of(large, *parts)
    added = [claim for claim in drive_study.claims if "fitted" in claim.what]
    assert [claim for claim in drive_study.claims if claim not in added] == without
    assert {claim.word for claim in added} == {"-"}
    assert {load.name for load in drive_study.fits} == {load.name for load in fits.LOADS}


def test_a_fit_is_beside_each_claim_that_the_default_refutes(drive_study: DriveStudy) -> None:
    rows = drive_study.claims
    names = tuple(load.name for load in drive_study.fits)
    for place in ("Figure 2", "Figure 4", "Figure 5", "Section 7.2"):
        for index, claim in enumerate(rows):
            on_time = claim.place == place and "watts" not in claim.what
            if claim.holds is False and on_time and claim.what.startswith(names):
                after = rows[index + 1]
                assert (after.place, after.what) == (claim.place, f"{claim.what}, fitted")
                assert after.paper == claim.paper
                assert after.remark.startswith("a fit, which would be '")


def test_more_claims_hold_together_under_a_fit(drive_study: DriveStudy) -> None:
    by_what = {claim.what: claim for claim in drive_study.claims}
    seeks = "mean response of HC-SD, and without seeks"
    for name in ("Financial-like", "TPC-C-like"):
        assert by_what[f"{name}: {seeks}"].word == "no"
        assert "would be 'yes'" in by_what[f"{name}: {seeks}, fitted"].remark
    tpc_h = "TPC-H-like: mean response of MD and HC-SD"
    assert by_what[tpc_h].word == "no"
    fit = drive_study.fits[-1]
    assert fit.array.mean_ms < fit.single[0].mean_ms


def claim(what: str, holds: bool | None, came_out: str = "1 ms", *, partly: bool = False) -> Claim:
    return Claim("Figure 2", what, "2 ms", came_out, holds, "", partly)


def test_the_count_names_what_does_not_hold(drive_study: DriveStudy) -> None:
    load = replace(drive_study.fits[0], name="A", assumed="little")
    default = [claim("A: x", False), claim("A: y", True), claim("B: x", False)]
    fitted = [claim("A: x", True, "2 ms"), claim("A: y", False, partly=True), claim("A: z", None)]
    rows = list(fits.beside(default, [(load, fitted)]))
    assert [row.what for row in rows] == [
        "A: x", "A: x, fitted", "A: y", "B: x",
        "A: claims on times and seeks that hold together, fitted",
    ]  # fmt: skip
    assert rows[1] == Claim(
        "Figure 2", "A: x, fitted", "2 ms", "2 ms", None, "a fit, which would be 'yes': little"
    )
    assert rows[-1].paper == "2 claims"
    assert rows[-1].found == "1 fitted, 1 by default; not: y"
    assert rows[-1].holds is None


def test_a_real_trace_has_no_fit(tmp_path: Path) -> None:
    rows = [(number % 4, 64 * number, 4096, "r", 0.01 * number) for number in range(200)]
    traces = {"tpc-c": [spc_file(tmp_path, rows)]}
    told: Counter[str] = Counter()
    report = study.study(1000, 1, lambda what: told.update([what]), traces)
    assert [load.name for load in report.fits] == ["Financial-like", "TPC-H-like"]
    fitted = [each.what for each in report.claims if "fitted" in each.what]
    assert fitted and not [what for what in fitted if what.startswith("TPC-C")]
    assert told["TPC-H-like, fitted to the paper"] == 1 and not told["TPC-C-like"]
