# SPDX-License-Identifier: GPL-2.0
"""Verdicts on the papers from measurements whose numbers are known, their pages, and the count."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from bench import papers
from bench.paper004 import study
from bench.papers import page, paper000, paper001, paper002
from bench.papers.__main__ import Folder, claim_of, main
from bench.papers.claims import NO, OPEN, PARTLY, YES, Claim, counts, near
from lib.ctl.command_line import Spekctl
from lib.ctl.plot_files import a_curve, point, write_report
from lib.ctl.results import build
from lib.ctl.study import short_study
from lib.fakes.kernel import histogram

from spekctl import files
from spekctl.documents.curve import Curve, Load, Point
from spekctl.documents.result import Result
from spekctl.kernel.records import Direction, Metric, Phase, StatsCell

NUMBERS = Path(papers.__file__).parent / "numbers"


def mix(asu3: int = 281, read_kib: float = 6.75, asu3_reads: int = 0) -> Result:
    """1000 I/Os as the paper divides them, 100 times."""
    shares = {  # by stream: reads, writes
        0: (300, 296),
        4: (94, 29),
        7: (asu3_reads, asu3 - asu3_reads),
    }
    cells = []
    times = dict.fromkeys(Metric, histogram([1]))
    for stream, ios in shares.items():
        sides = zip((Direction.READ, Direction.WRITE), ios, (read_kib, 8.82), strict=True)
        for direction, number, kib in sides:
            count, size = 100 * number, round(100 * number * kib * 1024)
            if count:
                cells.append(
                    StatsCell(Phase.MEASURE, stream, direction, count, size, count, 0, {}, times)
                )
    return build(name="spc1", bsu=20, cells=cells)


def at(bsu: float, iops: float, mean_ns: float, stretch: float) -> Point:
    return msgspec.structs.replace(
        point(iops, mean_ns, 50 * bsu), load=Load("bsu", bsu), stretch=stretch
    )


PLATEAU = [at(10, 500, 2e6, 1.0), at(40, 2000, 4e6, 1.01), at(120, 1990, 900e6, 3.0)]
FALLING = [at(10, 460, 2e6, 1.0), at(40, 2000, 4e6, 1.01), at(120, 900, 6e6, 6.7)]


def verdicts(claims: list[Claim]) -> dict[str, str]:
    return {claim.what: claim.verdict for claim in claims}


def test_numbers_of_the_paper_hold_for_paper_000() -> None:
    judged = verdicts(paper000.claims(mix(), a_curve(PLATEAU)))
    assert judged.pop("time that 30 s of requests take, at 100 BSU on x1, x3, x6") == OPEN
    assert list(judged.values()) == [YES] * 8 + [OPEN] * 3


@pytest.mark.parametrize(
    ("result", "points", "what", "verdict"),
    [
        (mix(asu3=400), PLATEAU, "I/Os to ASU-1, ASU-2 and ASU-3", NO),
        (mix(read_kib=8.0), PLATEAU, "mean size of reads and of writes", PARTLY),
        (mix(asu3_reads=1), PLATEAU, "20 BSU send to all ASUs, and ASU-3 is only written", PARTLY),
        (mix(), FALLING, "below the peak each BSU adds 50 I/Os per second", PARTLY),
        (mix(), FALLING, "beyond their peak SSDs stay on a plateau", NO),
        (mix(), FALLING, "response times climb once a device cannot keep pace", PARTLY),
        (
            *(mix(), [at(40, 900, 4e6, 2.2)]),
            *("below the peak each BSU adds 50 I/Os per second", NO),
        ),
    ],
)
def test_other_numbers_do_not(result: Result, points: list[Point], what: str, verdict: str) -> None:
    assert verdicts(paper000.claims(result, a_curve(points)))[what] == verdict


def energies(spekctl: Spekctl, folder: Path) -> None:
    """What .ci/figures computes for paper 001."""
    levels = str(NUMBERS / "p6400.toml")
    assert spekctl("energy", "spc1e", "--from", levels, "-o", str(folder / "p6400.json")).code == 0
    for name in ("before", "after"):
        words = [
            "--from",
            str(NUMBERS / f"dcse-{name}.toml"),
            "-o",
            str(folder / f"dcse-{name}.json"),
        ]
        assert spekctl("energy", "dcse", *words).code == 0


def test_the_figures_of_paper_001_are_equal(spekctl: Spekctl, tmp_path: Path) -> None:
    energies(spekctl, tmp_path)
    claims, sheets = Folder(tmp_path).paper001()
    assert [claim.verdict for claim in claims] == [YES] * 7 + [OPEN] * 3
    assert claims[4].here == "2029.93 kWh, $ 243.59" and len(sheets) == 2
    off = paper001._equal("x", "y", "1 W, 2 W", "1 W, 3 W")
    assert off.verdict == PARTLY
    assert paper001._equal("x", "y", "1 W", "3 W").verdict == NO


def depths(*iops: float, switches: float | None = 2.0) -> Curve:
    places = zip((1, 2, 4, 8, 16, 32), iops, strict=True)
    return a_curve(
        [
            msgspec.structs.replace(
                point(rate, 1e6, None, 1), load=Load("depth", depth), switches_per_io=switches
            )
            for depth, rate in places
        ]
    )


AHEAD = depths(10, 20, 40, 80, 97, 100)
BEHIND = depths(5, 10, 20, 40, 80, 96)
LEVEL = depths(5, 10, 20, 81, 97, 98)


def figure_7(**changes: Curve) -> dict[tuple[str, str], Curve]:
    of = {"spek": AHEAD, "libaio": BEHIND, "io_uring": BEHIND, **changes}
    return {(device, name): curve for device in paper002.DEVICES for name, curve in of.items()}


def test_figure_7_of_paper_002_is_judged() -> None:
    claims = paper002.claims(figure_7())
    assert [claim.verdict for claim in claims] == [YES] * 5 + [OPEN] * 7
    assert claims[1].here == "spek 16, libaio 32, io_uring 32"
    claims = paper002.claims(figure_7(io_uring=LEVEL))
    assert [claim.verdict for claim in claims[:2]] == [PARTLY, PARTLY]
    claims = paper002.claims(figure_7(spek=BEHIND, libaio=AHEAD, io_uring=AHEAD))
    assert [claim.verdict for claim in claims[:2]] == [NO, NO]
    never = paper002.claims(figure_7(libaio=depths(1, 2, 3, 4, 5, 6)))
    assert never[1].here == "spek 16, libaio never, io_uring 32" and never[1].verdict == YES


@pytest.mark.parametrize(
    ("switches", "verdict"), [(2.0, YES), (2.4, PARTLY), (3.0, NO), (None, OPEN)]
)
def test_context_switches_of_paper_002_are_judged(switches: float | None, verdict: str) -> None:
    curve = depths(10, 20, 40, 80, 97, 100, switches=switches)
    judged = verdicts(paper002.claims(figure_7(spek=curve)))
    assert judged["context switches per random read, one outstanding"] == verdict


def test_numbers_are_judged_by_their_tolerances() -> None:
    assert near([1.0, 2.0], [1.1, 2.0], [0.2, 0.2]) == YES
    assert near([1.0, 2.0], [1.3, 2.0], [0.2, 0.2]) == PARTLY
    assert near([1.0, 2.0], [1.3, 3.0], [0.2, 0.2]) == NO


def fill(folder: Path, spekctl: Spekctl) -> None:
    """Everything that the pages are made of."""
    energies(spekctl, folder)
    (folder / "fig1.json").write_bytes(files.encode(mix()))
    (folder / "sweep.json").write_bytes(files.encode(a_curve(PLATEAU)))
    (folder / "spc1").mkdir()
    write_report(folder / "spc1/report.json", PLATEAU, PLATEAU)
    for (device, name), curve in figure_7().items():
        (folder / f"fig7-{device}-{name}.json").write_bytes(files.encode(curve))
    (folder / "paper003.json").write_bytes(files.encode(short_study()))
    claim = Claim("Figure 2", "energy", "14 %", "3 %", "a rule", NO, "a reason")
    empty = study.Study(
        count=1000, seed=1, standby_w=0.8, idle_w=7.96, rest_w=0.0, loads=[], systems=[],
        footprint=study.Footprint("x", False, 1.0, []), runs=[], week=[], prefetch=[],
        week_requests=0,
        claims=[claim],
    )  # fmt: skip
    (folder / "paper-004.json").write_bytes(msgspec.json.encode(empty))


def test_pages_and_summary_agree(
    spekctl: Spekctl, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    fill(tmp_path, spekctl)
    capfd.readouterr()
    assert main([str(tmp_path)]) == 0
    printed = capfd.readouterr().out
    data = json.loads((tmp_path / "papers.json").read_text())
    assert list(data) == ["000", "001", "002", "003", "004"]
    for number, paper in data.items():
        assert sum(paper["verdicts"].values()) == len(paper["claims"])
        row = next(line.split() for line in printed.splitlines() if line.split()[:1] == [number])
        assert list(map(int, row[1:])) == [*paper["verdicts"].values(), len(paper["claims"])]
        if number != "004":
            text = (tmp_path / f"paper-{number}.html").read_text()
            assert all(claim["verdict"] in text for claim in paper["claims"])
    study_words = [claim.word.replace("-", OPEN) for claim in short_study().claims]
    assert [claim["verdict"] for claim in data["003"]["claims"]] == study_words
    assert data["004"]["verdicts"] == {YES: 0, PARTLY: 0, NO: 1, OPEN: 0}
    assert "a reason" in (tmp_path / "papers.html").read_text()


@pytest.mark.parametrize("name", ["fig1.json", "fig7-10us-libaio.json", "paper-004.json"])
def test_a_file_that_is_missing_is_named(
    name: str, spekctl: Spekctl, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    fill(tmp_path, spekctl)
    (tmp_path / name).unlink()
    assert main([str(tmp_path)]) == 2
    last = capfd.readouterr().err.splitlines()[-1]
    assert last.startswith("papers: ") and name in last
    assert not (tmp_path / "papers.html").exists()


def test_a_claim_of_the_study_keeps_its_words() -> None:
    first: Any = short_study().claims[0]
    claim = claim_of(first)
    assert (claim.place, claim.paper, claim.here) == (first.place, first.paper, first.found)


def test_the_sentence_counts() -> None:
    claims = [Claim("f", "w", "p", "h", "r", word) for word in (YES, YES, PARTLY, NO, OPEN)]
    assert counts(claims) == {YES: 2, PARTLY: 1, NO: 1, OPEN: 1}
    assert page.words_of(claims) == "2 of 4 judged claims hold, 1 in part; 1 are not judged"
