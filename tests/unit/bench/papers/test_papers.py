# SPDX-License-Identifier: GPL-2.0
"""Verdicts on the papers from measurements whose numbers are known, their pages, and the count."""

from __future__ import annotations

import html
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest
from bench import papers, parts, table3, table4
from bench.paper004 import study
from bench.papers import arrays, noticed, page, paper000, paper001, paper002, two_disks
from bench.papers.__main__ import Folder, claim_of, main
from bench.papers.arrays import Point
from bench.papers.claims import NO, OPEN, PARTLY, YES, Claim, counts, near
from bench.papers.noticed import Seen
from bench.table3 import Table3
from bench.table4 import Row, Table4
from lib.ctl.command_line import Spekctl
from lib.ctl.plot_files import a_curve, point, write_report
from lib.ctl.results import build
from lib.ctl.study import short_study
from lib.fakes.kernel import histogram

from spekctl import files
from spekctl.documents.curve import Curve, Load
from spekctl.documents.result import Result
from spekctl.drive import file
from spekctl.kernel.records import Direction, Metric, Phase, StatsCell

NUMBERS = Path(papers.__file__).parent / "numbers"


@pytest.fixture(autouse=True)
def simulated(monkeypatch: pytest.MonkeyPatch) -> None:
    """All of them take minutes."""
    monkeypatch.setattr(arrays, "curves", lambda: ARRAYS)
    random = {(name, depth): 200.0 for name in (arrays.HDD, arrays.SSD) for depth in arrays.DEPTHS}
    monkeypatch.setattr(arrays, "full_random", lambda: random)
    monkeypatch.setattr(arrays, "uncached", lambda: UNCACHED)
    monkeypatch.setattr(noticed, "seen", lambda: NOTICED)


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


def at(bsu: int, iops: float, mean_ms: float, took_s: float, watts: float, drives: int) -> Point:
    rails = (watts / 4, watts * 3 / 4)
    return Point(bsu, iops, iops / 2600 * 30, mean_ms, 30.0, took_s, rails, drives)


def disks(drives: int, peak: int, took: tuple[float, float], watts: float = 8.8) -> list[Point]:
    """One that keeps up to its peak, of @took seconds at 100 and 200 BSU."""
    most = 50.0 * peak * paper000.SHARES[arrays.DRIVES.index(drives)]
    return [
        at(5, 250, 100 / drives, 30, watts - 0.8, drives),
        at(peak, most, 300, 40, watts + 1.9, drives),
        at(100, most * 0.9, 4000 / drives, took[0], watts + 1, drives),
        at(200, most * 0.8, 9000 / drives, took[1], watts + 1, drives),
    ]


def flash(drives: int, most: float) -> list[Point]:
    return [
        at(10, 500, 80, 30, 0.7, drives),
        at(1200, most, 90, 40, 1.0, drives),
        at(2000, most, 900, 90, 1.5, drives),
    ]


PEAKS = {1: (30, (130.0, 330.0)), 3: (50, (70.0, 185.0)), 6: (80, (37.0, 130.0))}
ARRAYS: arrays.Curves = {
    **{(arrays.HDD, drives): disks(drives, *numbers) for drives, numbers in PEAKS.items()},
    **{
        (arrays.SSD, drives): flash(drives, most)
        for drives, most in zip(arrays.DRIVES, paper000.PEAKS_SSD, strict=True)
    },
}


NOTICED = [
    Seen(drive, bsu, 8.0, (20.0, 85.0)) for drive in (arrays.HDD, arrays.SSD) for bsu in (1, 2)
]
UNCACHED = [ARRAYS[arrays.HDD, drives][1] for drives in arrays.DRIVES]


def arrays_alike() -> arrays.Curves:
    """ARRAYS whose disks respond alike, however many they are."""
    return ARRAYS | {
        (arrays.HDD, drives): [
            replace(point, mean_ms=first.mean_ms)
            for point, first in zip(ARRAYS[arrays.HDD, drives], ARRAYS[arrays.HDD, 1], strict=True)
        ]
        for drives in arrays.DRIVES
    }


def changed(name: str, index: int, **changes: object) -> arrays.Curves:
    """ARRAYS with one point of each array of @name changed."""
    return ARRAYS | {
        (name, drives): [
            replace(point, **changes) if number == index % len(points) else point  # type: ignore[arg-type]
            for number, point in enumerate(points)
        ]
        for drives in arrays.DRIVES
        for points in (ARRAYS[name, drives],)
    }


SWEEP = [
    msgspec.structs.replace(point(iops, 2e6, 50 * bsu), load=Load("bsu", bsu))
    for bsu, iops in ((10, 500), (40, 2000))
]


def verdicts(claims: list[Claim]) -> dict[str, str]:
    return {claim.what: claim.verdict for claim in claims}


def test_numbers_of_the_paper_hold_for_paper_000() -> None:
    judged = verdicts(paper000.claims(mix(), ARRAYS, 200.0, UNCACHED, NOTICED))
    # At the least power of a disk of the paper there is no best mW per IOPS of 0.1.
    judged.pop("best mW per IOPS of HDDs and SSDs x6")
    judged.pop("response of a disk below 10 BSU")
    for unjudged in (
        "the same disks with their caches off",
        "curves of the hardware RAID and its write-back cache",
        "response of software RAID against the controller's",
        "length of the disks' queues, by iostat",
        "current sensor board: 14 rails, 6 A each",
        "responses of a disk and of an SSD at low loads as fio of 2010 sees them",
        *("watts of each HDD of x6", "watts of each SSD of x6"),
    ):
        assert judged.pop(unjudged) == OPEN
    assert {what: word for what, word in judged.items() if word != YES} == {}
    assert len(judged) == 19


@pytest.mark.parametrize(
    ("result", "measured", "random", "what", "verdict"),
    [
        (mix(asu3=400), ARRAYS, 1, "I/Os to ASU-1, ASU-2 and ASU-3", NO),
        (mix(read_kib=8.0), ARRAYS, 1, "mean size of reads and of writes", PARTLY),
        (
            *(mix(asu3_reads=1), ARRAYS, 1),
            *("20 BSU send to all ASUs, and ASU-3 is only written", PARTLY),
        ),
        (
            *(mix(), changed(arrays.HDD, 0, iops=200.0), 1),
            *("below the peak each BSU adds 50 I/Os per second", PARTLY),
        ),
        (mix(), changed(arrays.HDD, 0, iops=9e6), 1, "peaks of HDDs x1, x3, x6", NO),
        (
            *(mix(), changed(arrays.SSD, -1, iops=500.0), 1),
            *("beyond their peak SSDs stay on a plateau", NO),
        ),
        (mix(), ARRAYS | {(arrays.SSD, 1): flash(1, 9000)}, 1, "peaks of SSDs x1, x3, x6", PARTLY),
        (
            *(mix(), changed(arrays.HDD, -1, iops=9e6), 1),
            *("beyond their peak the IOPS of HDDs fall", NO),
        ),
        (
            *(mix(), changed(arrays.HDD, -1, mean_ms=400.0), 1),
            *("response times climb once a device cannot keep pace", PARTLY),
        ),
        (mix(), changed(arrays.HDD, -1, mib_per_s=90.0), 1, "highest throughput, x6", NO),
        (
            *(mix(), changed(arrays.SSD, 0, mean_ms=900.0), 1),
            *("response of SSDs at loads with which they keep pace", NO),
        ),
        (mix(), changed(arrays.HDD, 0, mean_ms=50.0), 1, "more disks shorten responses", PARTLY),
        (*(mix(), arrays_alike(), 1, "more disks shorten responses", NO),),
        (
            *(mix(), changed(arrays.HDD, 2, took_s=75.0), 1),
            *("time that 30 s of requests take, at 100 BSU on x1, x3, x6", PARTLY),
        ),
        (
            *(mix(), changed(arrays.HDD, -1, watts=(0.0, 12.0)), 1),
            *("watts are lowest at low loads, highest around the peak, and drop after it", PARTLY),
        ),
        (
            *(mix(), ARRAYS, 9e6),
            *("a disk serves SPC-1's load faster than random I/Os, half reads", NO),
        ),
    ],
)
def test_other_numbers_do_not(
    result: Result, measured: arrays.Curves, random: float, what: str, verdict: str
) -> None:
    assert verdicts(paper000.claims(result, measured, random, UNCACHED, NOTICED))[what] == verdict


def energies(spekctl: Spekctl, folder: Path) -> None:
    """What .ci/figures computes for paper 001."""
    words = ("--from", str(NUMBERS / "p6500.toml"), "--taxonomy", "Online 3")
    disclosed = ("--disclose", "parity RAID=yes", "-o", str(folder / "p6500.json"))
    assert spekctl("energy", "emerald", *words, *disclosed).code == 0
    levels = str(NUMBERS / "p6400.toml")
    assert spekctl("energy", "spc1e", "--from", levels, "-o", str(folder / "p6400.json")).code == 0
    for name in ("before", "after"):
        case = ("--from", str(NUMBERS / f"dcse-{name}.toml"))
        against = ("--against", str(NUMBERS / "dcse-before.toml")) if name == "after" else ()
        kept = ("-o", str(folder / f"dcse-{name}.json"))
        assert spekctl("energy", "dcse", *case, *against, *kept).code == 0


def test_the_figures_of_paper_001_are_equal(spekctl: Spekctl, tmp_path: Path) -> None:
    energies(spekctl, tmp_path)
    claims, sheets = Folder(tmp_path).paper001()
    assert [claim.verdict for claim in claims] == [
        *([YES] * 6), *([OPEN] * 2), YES, *([PARTLY] * 2), *([YES] * 2), PARTLY, NO, PARTLY, YES,
        *([OPEN] * 7),
    ]  # fmt: skip
    assert claims[4].here == "2029.93 kWh, $ 243.59" and len(sheets) == 6
    assert [claim.here for claim in of_place("Emerald", claims)][:3] == [
        "12.317 GB/W", "not drawn again", "Online 3; parity RAID: yes"
    ]  # fmt: skip
    assert [claim.here for claim in of_place("Case study", claims)] == [
        "+74 %, -4.4 %, +82 %", "16 fewer"
    ]  # fmt: skip
    off = paper001._equal("x", "y", "1 W, 2 W", "1 W, 3 W")
    assert off.verdict == PARTLY
    assert paper001._equal("x", "y", "1 W", "3 W").verdict == NO


def depths(*iops: float) -> Curve:
    places = zip((1, 2, 4, 8, 16, 32), iops, strict=False)
    return a_curve(
        [
            msgspec.structs.replace(point(rate, 1e6, None, 1), load=Load("depth", depth))
            for depth, rate in places
        ]
    )


AHEAD = depths(10, 20, 40, 80, 97, 100)
BEHIND = depths(5, 10, 20, 40, 80, 96)
LEVEL = depths(5, 10, 20, 81, 97, 98)


def figure_7(**changes: Curve) -> dict[tuple[str, str], Curve]:
    of = {"spek": AHEAD, "libaio": BEHIND, "io_uring": BEHIND, **changes}
    return {(device, name): curve for device in paper002.DEVICES for name, curve in of.items()}


def clients(*rows: tuple[list[float], float], sender: str = table4.SENDER) -> Table4:
    """@rows: MB/s of each client, and how busy the target's CPU is."""
    threads = {sender: 0.6, "iscsi_trx": 0.3, "all else": 0.1}
    return Table4(
        "6.12", 40_000_000, 32768 / 0.04,
        [Row([value * 1e6 for value in each], busy, 0.9, threads) for each, busy in rows],
    )  # fmt: skip


AS_PRINTED = clients(([18.0], 0.6), ([15.5, 13.5], 0.92), ([9.0, 7.6, 6.5], 0.99))
STEADY = [([0.5], 0.1), ([0.4, 0.4], 0.2), ([0.27, 0.27, 0.26], 0.3)]


def one_outstanding(*, syscalls: float = 0.01, rival: float = 0.0, **changes: float) -> Table3:
    """Table 3 as the paper has it, with other switches per I/O of some loads by spek, @syscalls
    of its own, and of @rival more switches by fio."""
    rows = []
    for load, (ours, theirs) in paper002.TABLE_3.items():
        count = changes.get(load.replace(" ", "_"), ours)
        rows.append(table3.Row(load, table3.SPEK, count, syscalls))
        for name in table3.GENERATORS[1:]:
            rows.append(table3.Row(load, name, theirs + rival, 2.0))
    return Table3("6.12", rows)


COUNTED = one_outstanding()


def of_002(
    table: Table4 = AS_PRINTED,
    curves: dict[tuple[str, str], Curve] | None = None,
    counted: Table3 | None = COUNTED,
) -> list[Claim]:
    """The claims of paper 002 on these, and on its figures as they are simulated."""
    return paper002.claims(curves or figure_7(), table, counted, two_disks.disks())


def of_place(place: str, claims: list[Claim]) -> list[Claim]:
    return [claim for claim in claims if claim.place == place]


def of_table_4(table: Table4) -> list[Claim]:
    return of_place("Table 4", of_002(table))


def test_table_4_holds_as_the_paper_has_it() -> None:
    judged = of_table_4(AS_PRINTED)
    assert [claim.verdict for claim in judged] == [YES] * 4
    assert judged[0].here == "18.00; 15.50 + 13.50 = 29.00; 9.00 + 7.60 + 6.50 = 23.10"
    assert judged[1].here == "29.00 to 23.10, -20 %"


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        (clients(*STEADY), [YES, NO, NO, YES]),
        (clients(*STEADY, sender="kworker"), [YES, NO, NO, NO]),
        # Two get no more than one; three lose a little, at a full CPU.
        (
            clients(([0.5], 0.3), ([0.25, 0.25], 0.8), ([0.17, 0.16, 0.15], 0.97)),
            [PARTLY, PARTLY, PARTLY, YES],
        ),
        (clients(([0.5], 0.3), ([0.2, 0.6], 0.8), ([0.3] * 3, 0.9)), [PARTLY, NO, NO, YES]),
        (clients(([0.5], 0.3), ([0.0, 0.5], 0.8), ([0.2] * 3, 0.9)), [NO, NO, NO, YES]),
    ],
)
def test_other_tables_do_not(table: Table4, expected: list[str]) -> None:
    assert [claim.verdict for claim in of_table_4(table)] == expected


def test_a_table_that_was_not_measured_is_not_judged(spekctl: Spekctl, tmp_path: Path) -> None:
    fill(tmp_path, spekctl)
    (tmp_path / table4.FILE).unlink()
    claims, sheets = Folder(tmp_path).paper002()
    (claim,) = (each for each in claims if each.place == "Table 4")
    assert claim.verdict == OPEN and len(sheets) == 8


def test_where_the_cpu_went_is_told_by_its_largest_parts() -> None:
    parts = table4.parts_of({f"thread{number}": number for number in range(9)})
    assert list(parts)[:2] == ["thread8", "thread7"] and len(parts) == table4.SHOWN + 1
    assert parts["all else"] == pytest.approx((0 + 1 + 2) / 36)
    assert table4.parts_of({}) == {"all else": 1.0}


def of_figure_7(**changes: Curve) -> list[Claim]:
    """Those on the first device."""
    claims = of_002(curves=figure_7(**changes))
    return [claim for claim in claims if claim.what.startswith("100us")]


def test_figure_7_of_paper_002_is_judged() -> None:
    whole = of_002()
    workers = [claim for claim in whole if "workers of the rival" in claim.what]
    assert [claim.verdict for claim in workers] == [PARTLY] * 2
    others = [claim.verdict for claim in whole if claim not in workers]
    assert others == [YES] * 23 + [OPEN] * 7
    claims = of_figure_7()
    assert claims[1].here == "spek 16, libaio 32, io_uring 32"
    assert [claim.verdict for claim in of_figure_7(io_uring=LEVEL)] == [PARTLY] * 3
    behind = of_figure_7(spek=BEHIND, libaio=AHEAD, io_uring=AHEAD)
    assert [claim.verdict for claim in behind] == [NO] * 3
    never = of_figure_7(libaio=depths(1, 2, 3, 4, 5, 6))[1]
    assert never.here == "spek 16, libaio never, io_uring 32" and never.verdict == YES


@pytest.mark.parametrize(
    ("libaio", "io_uring", "needed", "verdict"),
    [
        (38, 40, "libaio 5.3, io_uring 5.0", YES),
        (53.4, 32, "libaio 3.7, io_uring 6.2", PARTLY),
        (40, 31, "libaio 5.0, io_uring 6.5", PARTLY),
        (99, 40, "libaio 2.0, io_uring 5.0", PARTLY),
        (100, 40, "libaio 2.0, io_uring 5.0", NO),
    ],
)
def test_workers_of_the_rival_are_counted_in_spek_s(
    libaio: float, io_uring: float, needed: str, verdict: str
) -> None:
    claim = of_figure_7(libaio=depths(libaio), io_uring=depths(io_uring), spek=depths(100))[2]
    assert claim.here == (
        f"{needed}; a worker alone spek 100 per second, libaio {libaio:,.0f} per second, io_uring"
        f" {io_uring:,.0f} per second"
    )
    assert claim.verdict == verdict


@pytest.mark.parametrize(("switches", "verdict"), [(2.0, YES), (2.4, PARTLY), (3.0, NO)])
def test_context_switches_of_paper_002_are_judged(switches: float, verdict: str) -> None:
    counted = one_outstanding(random_write=switches)
    claims = of_place("Table 3", of_002(counted=counted))
    assert [claim.verdict for claim in claims] == [YES, YES, YES, verdict, YES]


@pytest.mark.parametrize(
    ("counted", "expected"),
    [
        (one_outstanding(), [YES, YES]),
        (one_outstanding(rival=-2.0), [PARTLY, YES]),
        (one_outstanding(rival=-9.0), [NO, YES]),
        (one_outstanding(syscalls=0.5), [YES, PARTLY]),
    ],
)
def test_the_rival_of_paper_002_is_judged(counted: Table3, expected: list[str]) -> None:
    wanted = ("context switches per I/O of the rival, by load", "system calls per I/O")
    judged = verdicts(of_002(counted=counted))
    assert [judged[what] for what in wanted] == expected


def test_table_3_that_was_not_measured_is_not_judged() -> None:
    (claim,) = of_place("Table 3", of_002(counted=None))
    assert claim.verdict == OPEN and ".ci/figures table3" in claim.reason


def test_numbers_are_judged_by_their_tolerances() -> None:
    assert near([1.0, 2.0], [1.1, 2.0], [0.2, 0.2]) == YES
    assert near([1.0, 2.0], [1.3, 2.0], [0.2, 0.2]) == PARTLY
    assert near([1.0, 2.0], [1.3, 3.0], [0.2, 0.2]) == NO


def fill(folder: Path, spekctl: Spekctl) -> None:
    """Everything that the pages are made of."""
    energies(spekctl, folder)
    (folder / "fig1.json").write_bytes(files.encode(mix()))
    (folder / "sweep.json").write_bytes(files.encode(a_curve(SWEEP)))
    (folder / "spc1").mkdir()
    write_report(folder / "spc1/report.json", SWEEP, SWEEP)
    for (device, name), curve in figure_7().items():
        (folder / f"fig7-{device}-{name}.json").write_bytes(files.encode(curve))
    (folder / table3.FILE).write_bytes(msgspec.json.encode(one_outstanding()))
    (folder / table4.FILE).write_bytes(msgspec.json.encode(AS_PRINTED))
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
    parts.save(tmp_path, [parts.Part("paper003", 61.4, 70.0, "abc", 0)])
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
            assert f"<title>Paper {number}: " in text
            assert all(
                f"<td>{claim['verdict']}</td><td>{claim['rule']}</td>" in html.unescape(text)
                for claim in paper["claims"]
            )
            failed = sum(claim["verdict"] == NO for claim in paper["claims"])
            assert text.count("Does not hold: ") == failed
    study_words = [claim.word.replace("-", OPEN) for claim in short_study().claims]
    assert [claim["verdict"] for claim in data["003"]["claims"]] == study_words
    assert data["004"]["verdicts"] == {YES: 0, PARTLY: 0, NO: 1, OPEN: 0}
    summary = (tmp_path / "papers.html").read_text()
    assert "a reason" in summary and "Time of each part" in summary


# Numbers of the figures and tables of each paper; 001 is a talk, which has none.
WHOLE = {
    "000": (range(1, 6), ()),
    "002": (range(1, 8), range(1, 6)),
    "003": (range(1, 10), (1, 2, 9)),
}


@pytest.mark.parametrize("number", WHOLE)
def test_every_figure_and_table_has_a_row(number: str, spekctl: Spekctl, tmp_path: Path) -> None:
    fill(tmp_path, spekctl)
    folder = Folder(tmp_path)
    claims, _ = {"000": folder.paper000, "002": folder.paper002, "003": folder.paper003}[number]()
    places = {claim.place for claim in claims}
    listed = {
        (kind, int(figure))
        for place in places
        for kind, figures in re.findall(r"(Figure|Table)s? ((?:\d+(?:\(\w\))?(?: and )?)+)", place)
        for figure in re.findall(r"\d+", figures)
    }
    figures, tables = WHOLE[number]
    assert listed == {("Figure", n) for n in figures} | {("Table", n) for n in tables}


def test_disks_of_paper_002_are_judged_by_each_parameter(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert [claim.verdict for claim in paper002._table_2()] == [YES, YES]
    slow = file.load(two_disks.SEAGATE).at_rpm(2000)
    monkeypatch.setattr(file, "load", lambda name: slow)
    assert [claim.verdict for claim in paper002._table_2()] == [NO, PARTLY]


def test_the_arrays_alone_need_no_files(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["--arrays", str(tmp_path)]) == 0
    claims = list(paper000.of_arrays(ARRAYS, 200.0, UNCACHED, NOTICED))
    printed, text = capfd.readouterr().out, (tmp_path / "paper-000-arrays.html").read_text()
    assert len(claims) == 23
    for claim in claims:
        assert f"{claim.verdict}: {claim.place}: {claim.what}: {claim.here}" in printed
        assert html.escape(claim.here) in text


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
    assert (claim.rule, claim.reason[:8]) == ("order, then sizes", "Figures ")


def test_the_sentence_counts() -> None:
    claims = [Claim("f", "w", "p", "h", "r", word) for word in (YES, YES, PARTLY, NO, OPEN)]
    assert counts(claims) == {YES: 2, PARTLY: 1, NO: 1, OPEN: 1}
    assert page.words_of(claims) == "2 of 4 judged claims hold, 1 in part; 1 are not judged"
