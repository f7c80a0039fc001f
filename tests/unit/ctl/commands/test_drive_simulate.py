# SPDX-License-Identifier: GPL-2.0
"""spekctl drive simulate: from a list of requests to times and energies."""

from __future__ import annotations

import csv
import io
import json
import random
from pathlib import Path

import jsonschema
import pytest
from lib.ctl.command_line import Spekctl, caller_in_tmp_path

from spekctl.documents import drive
from spekctl.drive import file


@pytest.fixture
def spekctl(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Spekctl:
    return caller_in_tmp_path(capfd, tmp_path, monkeypatch)


def write_requests(count: int = 20_000, gap_ns: float = 15e6) -> None:
    generator, now = random.Random(3), 0.0
    with open("in.csv", "w") as out:
        out.write("arrival_ns,lba,sectors,op\n")
        for _ in range(count):
            now += generator.expovariate(1 / gap_ns)
            op = "RW"[generator.random() < 0.4]
            out.write(f"{int(now)},{generator.randrange(10**8) * 8},8,{op}\n")


def test_every_request_comes_back_once(spekctl: Spekctl) -> None:
    write_requests()
    done = spekctl("drive", "simulate", "barracuda-es", "--requests", "in.csv", "--csv")
    rows = list(csv.DictReader(done.out.splitlines()))
    with open("in.csv") as given:
        wanted = list(csv.DictReader(given))
    assert sorted(int(row["request"]) for row in rows) == list(range(20_000))
    for row in rows:
        asked = wanted[int(row["request"])]
        assert {key: row[key] for key in asked} == asked
    ends = [int(row["end_ns"]) for row in rows]
    assert ends == sorted(ends)


def test_the_summary_is_that_of_the_rows(spekctl: Spekctl) -> None:
    write_requests()
    words = ("drive", "simulate", "barracuda-es", "--arms", 2, "--requests", "in.csv")
    done = spekctl(*words, "--json", "-o", "out.csv")
    summary = json.loads(done.out)
    jsonschema.validate(summary, drive.json_schema())
    with open("out.csv") as table:
        rows = [{key: row[key] for key in row} for row in csv.DictReader(table)]
    response = sorted(int(row["end_ns"]) - int(row["arrival_ns"]) for row in rows)
    assert summary["response"]["mean"] == pytest.approx(sum(response) / len(response))
    assert summary["response"]["max"] == response[-1]
    for share, name in ((0.5, "p50"), (0.9, "p90"), (0.99, "p99")):
        assert summary["response"][name] == pytest.approx(response[int(share * 20_000)], rel=1 / 64)
    by_arm = [sum(row["arm"] == arm for row in rows) for arm in "01"]
    assert summary["served_by_arm"] == by_arm
    assert summary["watts"] == pytest.approx(
        sum(mode["joules"] for mode in summary["modes"].values()) / summary["elapsed_ns"] * 1e9
    )
    text = spekctl(*words).out
    assert "20,000 requests in" in text and "profile datasheet-arms" in text


def test_scales_of_bottleneck_studies(spekctl: Spekctl) -> None:
    write_requests(2000)
    words = ("drive", "simulate", "barracuda-es", "--requests", "in.csv", "--json")
    still = json.loads(spekctl(*words, "--seek-scale", 0, "--rotation-scale", 0).out)
    assert (still["seek"]["max"], still["rotation"]["max"]) == (0, 0)
    half = json.loads(spekctl(*words, "--rotation-scale", 0.5).out)
    assert 4_100_000 < half["rotation"]["max"] <= 8_333_333 // 2


def test_what_excludes_each_other_is_refused(spekctl: Spekctl) -> None:
    words = ("drive", "simulate", "barracuda-es", "--requests", "in.csv", "--csv")
    assert spekctl(*words, "--json").sentence == "--csv and --json exclude each other"
    assert spekctl(*words, "-o", "x").sentence == "--csv and -o exclude each other"
    assert "there is no file in.csv" in spekctl(*words).sentence


def test_requests_that_cannot_be_read_to_the_end_get_a_sentence(spekctl: Spekctl) -> None:
    Path("out.csv").write_text("old")
    words = ("drive", "simulate", "barracuda-es", "-o", "out.csv", "--requests")
    done = spekctl(*words, "/proc/self/mem")  # its first bytes are no memory of the process
    assert done.sentence == "cannot read /proc/self/mem: Input/output error"
    assert done.code == 2
    Path("in.csv").write_bytes(b"0,0,8,R\n\xff\n")
    assert spekctl(*words, "in.csv").sentence == "cannot read in.csv: it is not text"
    assert spekctl(*words, "im.csv").sentence == "there is no file im.csv; did you mean 'in.csv'?"
    assert Path("out.csv").read_text() == "old"


def test_standard_input_that_is_not_text_gets_a_sentence(
    spekctl: Spekctl, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = io.TextIOWrapper(io.BytesIO(b"0,0,8,R\n\xff\n"), encoding="utf-8")
    monkeypatch.setattr("sys.stdin", given)
    done = spekctl("drive", "simulate", "barracuda-es", "--requests", "-")
    assert (done.code, done.sentence) == (2, "cannot read -: it is not text")


def test_a_model_of_any_name_has_a_summary(spekctl: Spekctl) -> None:
    write_requests(10)
    Path("\udcff.toml").write_text(file.find("barracuda-es").read_text())
    done = spekctl("drive", "simulate", "./\udcff.toml", "--requests", "in.csv", "--json")
    assert (done.code, json.loads(done.out)["model"]) == (0, "\ufffd")


def test_of_an_empty_list_nothing_is_written(spekctl: Spekctl) -> None:
    Path("out.csv").write_text("old")
    Path("in.csv").write_text("arrival_ns,lba,sectors,op\n")
    done = spekctl("drive", "simulate", "barracuda-es", "--requests", "in.csv", "-o", "out.csv")
    assert (done.code, done.sentence) == (2, "the list of requests is empty")
    assert Path("out.csv").read_text() == "old"
    done = spekctl("drive", "simulate", "barracuda-es", "--requests", "in.csv", "--csv")
    assert (done.code, done.sentence) == (2, "the list of requests is empty")


def test_the_requests_are_not_overwritten(spekctl: Spekctl) -> None:
    write_requests(10)
    before = Path("in.csv").read_text()
    words = ("drive", "simulate", "barracuda-es", "--requests", "in.csv")
    done = spekctl(*words, "-o", "in.csv")
    assert done.sentence == "--output in.csv would overwrite the input in.csv"
    assert (done.code, done.out, Path("in.csv").read_text()) == (2, "", before)


def test_a_drive_serves_without_an_arm_that_has_failed(spekctl: Spekctl) -> None:
    write_requests(2000)
    words = ("drive", "simulate", "barracuda-es", "--arms", 3, "--requests", "in.csv", "--json")
    whole, lost = (
        json.loads(spekctl(*words, *more).out) for more in ((), ("--fail-arm", 0, "--fail-arm", 2))
    )
    assert lost["served_by_arm"] == [0, 2000, 0] and 0 not in whole["served_by_arm"]
    assert lost["response"]["mean"] > whole["response"]["mean"]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("barracuda-es", "--fail-arm", 0), "no arm is left; at least one must remain"),
        (("barracuda-es", "--arms", 2, "--fail-arm", 2), "arm 2: "),
        (("mach2", "--fail-arm", 0), "each arm of this drive has sectors that no other reaches"),
        (("vertex2", "--fail-arm", 0), "a flash drive has no arms"),
    ],
)
def test_arms_that_cannot_fail_are_refused(
    spekctl: Spekctl, words: tuple[object, ...], sentence: str
) -> None:
    write_requests(10)
    refused = spekctl("drive", "simulate", *words, "--requests", "in.csv")
    assert (refused.code, refused.out) == (2, "")
    assert sentence in refused.sentence
