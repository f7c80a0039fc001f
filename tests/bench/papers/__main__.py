# SPDX-License-Identifier: GPL-2.0
"""python -m bench.papers [--arrays] FOLDER: a page for each paper, papers.html and papers.json.

FOLDER is what `make figures` fills. The pages are made of its files, which the commands printed
their figures from: paper-000.html to paper-003.html here, paper-004.html where that is simulated.
The summary counts the verdicts of all five. --arrays: only Figures 3 to 5 of paper 000, which need
no files: paper-000-arrays.html, and each verdict on standard output.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec
from bench import parts, table3, table4
from bench.paper004.study import Study
from bench.papers import (
    arrays,
    hot_band,
    noticed,
    page,
    paper000,
    paper001,
    paper002,
    predictions,
    same_system,
    two_disks,
)
from bench.papers.claims import OPEN, Claim, counts

from spekctl import files
from spekctl.campaigns.paper003.judgement import RULE
from spekctl.documents import document
from spekctl.documents.curve import load_curve
from spekctl.documents.drive import Claim as StudyClaim
from spekctl.documents.drive import DriveStudy
from spekctl.documents.energy import DcseReport, EmeraldReport, Spc1eReport
from spekctl.documents.result import load_result
from spekctl.errors import SpekError
from spekctl.report import read
from spekctl.report.page import html
from spekctl.report.sheet import Sheet

TITLE_003 = "One drive with several arms in place of an array"


def claim_of(claim: StudyClaim) -> Claim:
    """A claim of the study of drives, in the words of the others."""
    word = {"-": OPEN}.get(claim.word, claim.word)
    reason = f"{claim.remark[0].upper()}{claim.remark[1:]}." if claim.remark else ""
    rule = "order, then sizes"
    return Claim(claim.place, claim.what, claim.paper, claim.found, rule, word, reason)


class Folder:
    """What `make figures` has left."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def sheets(self, *names: str) -> list[Sheet]:
        """Files as `spekctl report` shows them."""
        return read.sheets([self.path / name for name in names])

    def paper000(self) -> tuple[list[Claim], list[Sheet]]:
        fig1 = load_result(self.path / "fig1.json")
        measured, random = arrays.curves(), arrays.full_random()
        claims = paper000.claims(
            fig1, measured, random[arrays.HDD, arrays.QUEUE], arrays.uncached(), noticed.seen()
        )
        sheets = self.sheets("fig1.json", "sweep.json", "spc1/report.json")
        return claims, [arrays.sheet_of(measured, random), *sheets]

    def paper001(self) -> tuple[list[Claim], list[Sheet]]:
        spc1e = document.read(self.path / "p6400.json", Spc1eReport)
        after = document.read(self.path / "dcse-after.json", DcseReport)
        before = document.read(self.path / "dcse-before.json", DcseReport)
        predicted = predictions.predictions()
        hot = hot_band.rows()
        same_system.write(self.path)
        methods = same_system.compared(self.path)
        p6500 = document.read(self.path / "p6500.json", EmeraldReport)
        sheets = [
            *self.sheets("p6400.json", "p6500.json", "dcse-after.json"),
            predictions.sheet_of(predicted),
            same_system.sheet_of(methods),
            hot_band.sheet_of(hot),
        ]
        return paper001.claims(spc1e, after, before, predicted, methods, hot, p6500), sheets

    def paper002(self) -> tuple[list[Claim], list[Sheet]]:
        names = {
            (device, name): f"fig7-{device}-{name}.json"
            for device in paper002.DEVICES
            for name in (table3.SPEK, *paper002.RIVALS)
        }
        curves = {key: load_curve(self.path / name) for key, name in names.items()}
        counted = table3.load_table(self.path / table3.FILE)
        disks = two_disks.disks()
        table = table4.load(self.path / table4.FILE)
        sheets = [] if counted is None else [table3.sheet_of(counted)]
        if table is not None:
            sheets.append(table4.sheet_of(table))
        sheets.append(two_disks.sheet_of(disks))
        claims = paper002.claims(curves, table, counted, disks)
        return claims, [*sheets, *self.sheets(*names.values())]

    def paper003(self) -> tuple[list[Claim], list[Sheet]]:
        study = document.read(self.path / "paper003.json", DriveStudy)
        return [claim_of(claim) for claim in study.claims], self.sheets("paper003.json")

    def paper004(self) -> list[Claim]:
        path = self.path / "paper-004.json"
        if not files.exists(path):
            raise files.missing(path)
        study = msgspec.json.decode(path.read_bytes(), type=Study)
        return msgspec.convert(study.claims, list[Claim])


TITLES = {
    "000": paper000.TITLE,
    "001": paper001.TITLE,
    "002": paper002.TITLE,
    "003": TITLE_003,
}


def pages(path: Path) -> dict[str, list[Claim]]:
    """Write all pages; the claims of each paper."""
    folder = Folder(path)
    made = {
        "000": folder.paper000(),
        "001": folder.paper001(),
        "002": folder.paper002(),
        "003": folder.paper003(),
    }
    papers = {number: claims for number, (claims, _) in made.items()}
    papers["004"] = folder.paper004()
    for number, (claims, sheets) in made.items():
        remark = RULE if number == "003" else ""
        listed = page.sheet_of(number, TITLES[number], claims, remark)
        data = page.page_of(number, TITLES[number], [listed, *sheets])
        files.write(path / f"paper-{number}.html", data)
    drawn = parts.load(path)
    summary = page.summary_of(papers, parts.grid_of(drawn) if drawn else None)
    files.write(path / "papers.html", html([summary]))
    files.write(path / "papers.json", _json(papers))
    return papers


def arrays_page(path: Path) -> list[Claim]:
    """Write the page of paper 000's arrays; their claims."""
    measured, random = arrays.curves(), arrays.full_random()
    claims = list(
        paper000.of_arrays(
            measured, random[arrays.HDD, arrays.QUEUE], arrays.uncached(), noticed.seen()
        )
    )
    sheets = [page.sheet_of("000", paper000.TITLE, claims), arrays.sheet_of(measured, random)]
    files.write(path / "paper-000-arrays.html", page.page_of("000", paper000.TITLE, sheets))
    return claims


def _json(papers: dict[str, list[Claim]]) -> bytes:
    data = {
        number: {"verdicts": counts(claims), "claims": msgspec.to_builtins(claims)}
        for number, claims in papers.items()
    }
    return (json.dumps(data, indent=1) + "\n").encode()


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="papers", description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="what make figures has filled")
    parser.add_argument("--arrays", action="store_true", help="Figures 3 to 5 of paper 000 only")
    given = parser.parse_args(words)
    if given.arrays:
        for claim in arrays_page(given.folder):
            print(f"{claim.verdict}: {claim.place}: {claim.what}: {claim.here}; {claim.paper}")
        print(f"\n{given.folder}/paper-000-arrays.html")
        return 0
    try:
        papers = pages(given.folder)
    except SpekError as error:
        print(f"papers: {error}", file=sys.stderr)
        return 2
    print(page.text_of(page.counted(papers)))
    print(f"\n{given.folder}/papers.html")
    return 0


if __name__ == "__main__":
    sys.exit(main())
