# SPDX-License-Identifier: GPL-2.0
"""The study of paper 003: its loads, its figures of merit, its document and its pictures."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import numpy as np
import pytest
from lib.ctl.command_line import caller

from spekctl import files
from spekctl.campaigns.paper003 import loads, study
from spekctl.campaigns.paper003.claims import system_of
from spekctl.campaigns.paper003.loads import LOADS, STRIPE_SECTORS
from spekctl.documents import document, drive
from spekctl.documents.drive import DriveStudy, StudyArrays
from spekctl.drive import file
from spekctl.plots import study as picture
from spekctl.plots import style


@pytest.fixture(scope="module")
def made() -> DriveStudy:
    return study.study(4000, 1, lambda what: None)


def arrays_of(made: DriveStudy, interarrival_ms: float, footprint: float) -> StudyArrays:
    wanted = (interarrival_ms, footprint)
    return next(one for one in made.arrays if (one.interarrival_ms, one.footprint) == wanted)


def test_the_synthetic_load_is_the_papers() -> None:
    requests = loads.synthetic(4.0, 10**7, 50_000, 3)
    gaps = np.diff(requests["arrival_ns"].astype(np.int64)) / 1e6
    assert gaps.mean() == pytest.approx(4, rel=0.02)
    assert gaps.std() == pytest.approx(4, rel=0.03)
    assert requests["write"].mean() == pytest.approx(0.4, abs=0.01)
    # Rounded up to 8: the mean of a geometric distribution.
    assert requests["sectors"].mean() == pytest.approx(8 / (1 - np.exp(-1)), rel=0.02)
    ends = requests["lba"] + requests["sectors"]
    assert (requests["lba"][1:] == ends[:-1]).mean() == pytest.approx(0.2, abs=0.01)
    assert ends.max() <= 10**7


@pytest.mark.parametrize("drives", [1, 3, 16])
def test_striping_loses_and_invents_nothing(drives: int) -> None:
    requests = loads.synthetic(1.0, 10**6, 3000, 5)
    streams = loads.striped(requests, drives)
    total = np.zeros(len(requests), np.int64)
    for number, (parts, of) in enumerate(streams):
        np.add.at(total, of, parts["sectors"])
        assert (np.diff(parts["arrival_ns"].astype(np.int64)) >= 0).all()
        assert (parts["arrival_ns"] == requests["arrival_ns"][of]).all()
        # Where the first sector of a part is in the array.
        unit = parts["lba"] // STRIPE_SECTORS * drives + number
        place = unit * STRIPE_SECTORS + parts["lba"] % STRIPE_SECTORS
        begins = requests["lba"][of]
        assert ((begins <= place) & (place < begins + requests["sectors"][of])).all()
    assert (total == requests["sectors"]).all()


@pytest.mark.parametrize("load", LOADS, ids=lambda load: load.name)
def test_stand_ins_have_what_is_known(load: loads.Load) -> None:
    sectors = file.load(load.member).capacity
    requests, disk = loads.of_trace(load, sectors, 20_000, 2)
    assert disk.max() == load.disks - 1
    assert requests["write"].mean() == pytest.approx(1 - load.read_share, abs=0.02)
    assert (requests["lba"] + requests["sectors"]).max() <= sectors
    assert str(load.disks) in load.known


def test_arrays_break_even_on_a_small_footprint_and_not_on_a_large_one(made: DriveStudy) -> None:
    for interarrival_ms, most in ((8, 4), (4, 8), (1, 16)):
        found = arrays_of(made, interarrival_ms, 0.1)
        one, two, four = (system_of(found, most // arms, arms) for arms in (1, 2, 4))
        assert two.p90_ms < one.p90_ms and four.p90_ms < 1.15 * one.p90_ms
        assert two.rotation_ms < 0.65 * one.rotation_ms
        assert four.rotation_ms < 0.8 * two.rotation_ms
    large = arrays_of(made, 1, 1.0)
    assert system_of(large, 4, 4).p90_ms > 2 * system_of(large, 16, 1).p90_ms


def test_watts_are_those_that_the_profiles_were_made_for(made: DriveStudy) -> None:
    light, heavy = arrays_of(made, 8, 0.1), arrays_of(made, 1, 0.1)
    for profile, watts, savings in (
        ("datasheet-arms", (38.5, 23.9, 16.5), (0.365, 0.557)),
        ("isca08-watts", (60.3, 36.9, 25.1), (0.384, 0.578)),
    ):
        drawn = [system_of(light, 4 // arms, arms).watts_of(profile) for arms in (1, 2, 4)]
        assert drawn == pytest.approx(watts, rel=0.01)
        drawn = [system_of(heavy, 16 // arms, arms).watts_of(profile) for arms in (1, 2, 4)]
        assert [1 - one / drawn[0] for one in drawn[1:]] == pytest.approx(savings, abs=0.01)


def test_what_cannot_keep_up_is_saturated(made: DriveStudy) -> None:
    heavy = arrays_of(made, 1, 1.0)
    assert system_of(heavy, 1, 1).saturated
    assert not system_of(heavy, 16, 1).saturated


def test_claims_are_judged_by_what_came_out(made: DriveStudy) -> None:
    found = {one.what: one for one in made.claims}
    assert found["four arms, all moving (datasheet-arms)"].found == "34.0 W"
    assert found["1 ms, 10% of each drive: p90 of 16 : 8 : 4 drives"].holds is True
    assert found["1 ms, 100% of each drive: p90 of 16 : 8 : 4 drives"].holds is False
    assert {one.place for one in made.claims} >= {"Table 1", *(f"Figure {n}" for n in range(2, 7))}


def test_the_document_follows_its_schema_and_is_drawn(
    made: DriveStudy, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "study.json"
    path.write_bytes(files.encode(made))
    jsonschema.validate(json.loads(path.read_text()), drive.json_schema())
    assert document.read(path, DriveStudy) == made
    done = caller(capfd)("plot", "study", path, "--figure", 8, "-o", tmp_path / "fig8.svg")
    assert (done.code, done.out) == (0, f"{tmp_path}/fig8.svg\n")


@pytest.mark.parametrize("figure", picture.FIGURES)
def test_every_figure_has_its_panels(made: DriveStudy, figure: int) -> None:
    with style.ready():
        drawn = picture.draw(made, figure, "study.json")
    panels = {2: 4, 3: 1, 4: 8, 5: 8, 6: 4, 7: 4, 8: 5}[figure]
    assert len(drawn.axes) == panels
    assert all(axes.lines or axes.patches for axes in drawn.axes)


FINANCIAL = LOADS[0]


def spc_file(folder: Path, rows: list[tuple[int, int, int, str, float]]) -> Path:
    path = folder / "financial.spc"
    path.write_text(
        "".join(f"{asu},{lba},{size},{op},{at:.6f}\n" for asu, lba, size, op, at in rows)
    )
    return path


def test_a_real_trace_takes_the_place_of_its_stand_in(tmp_path: Path) -> None:
    sectors = 1_000_000
    rows = [
        (0, 16, 4096, "R", 10.0),
        (1, 999_999, 1024, "w", 10.001),
        (25, 2_000_003, 512, "R", 10.0025),
        (2, 5, 0, "r", 10.003),
        (2, 7, 100, "W", 10.004),
    ]
    load, made, disk = loads.from_files(FINANCIAL, sectors, 100, [spc_file(tmp_path, rows)])
    assert load.name == "Financial trace"
    assert list(made["arrival_ns"]) == [0, 1_000_000, 2_500_000, 4_000_000]
    assert list(made["sectors"]) == [8, 2, 1, 1]
    assert list(made["write"]) == [0, 1, 0, 1]
    # Two reach beyond their disk.
    assert list(made["lba"]) == [16, 999_999 % 999_999, 2_000_003 % sectors, 7]
    # The fourth address space is that of the third row.
    assert list(disk) == [0, 1, 2, 3]
    assert load.known == f"the first 4 reads and writes of {tmp_path / 'financial.spc'}"
    assert "4 address spaces; 50.0% of the addresses are beyond a disk" in load.assumed
    _, some, _ = loads.from_files(FINANCIAL, sectors, 2, [tmp_path / "financial.spc"])
    assert len(some) == 2


def test_the_study_takes_traces(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    rows = [(n % 3, 5000 * n % 90_001, 4096, "RW"[n % 2], n * 0.01) for n in range(300)]
    path, out = spc_file(tmp_path, rows), tmp_path / "study.json"
    spekctl = caller(capfd)
    words = ("drive", "study", "--count", 1000, "-o", out)
    done = spekctl(*words, "--trace", f"financial={path}")
    assert done.code == 0
    text = json.loads(out.read_text())
    assert [one["name"] for one in text["loads"]] == [
        "Financial trace", "Websearch-like", "TPC-C-like", "TPC-H-like",
    ]  # fmt: skip
    assert text["loads"][0]["known"].startswith("the first 300 reads and writes of")


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ("financial", "--trace financial: write NAME=FILE"),
        ("mail=x.spc", "there is no trace 'mail'; those of the paper are financial, websearch"),
        ("tpc-c=/nowhere.spc", "there is no file /nowhere.spc"),
    ],
)
def test_wrong_traces_get_one_sentence(
    given: str, sentence: str, capfd: pytest.CaptureFixture[str]
) -> None:
    done = caller(capfd)("drive", "study", "--count", 1000, "--trace", given)
    assert (done.code, done.out) == (2, "")
    assert sentence in done.err.splitlines()[-1]
