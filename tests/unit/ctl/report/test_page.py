# SPDX-License-Identifier: GPL-2.0
"""Reports of every kind of document: what is in the page, and what must not be."""

from __future__ import annotations

import base64
import hashlib
import re
from pathlib import Path

import msgspec
import pytest
from lib.ctl import report_files
from lib.ctl.plot_files import CLOSED, OPEN, write_curve
from lib.ctl.report_page import Page, data_of, report

from spekctl.documents import document, drive, result, result_parts
from spekctl.report import read

# Bytes of a page beside its data: scripts, styles and the skeleton.
GOAL = 300 << 10

# Titles of the plots and pictures that a kind must have, and words that must be in its text.
EXPECTED: dict[str, tuple[set[str], list[str]]] = {
    "run": (
        {"Response time by percentile", "I/Os per second", "Power", "Response time", "Data rate",
         "I/Os waiting or in the device", "Response times over time"},
        ["the run completed", "p99.999", "Fast disk", "mixed-70-30-8k"],
    ),
    "curve": ({"Response time over load", "Achieved over offered load"}, ["all loads were"]),
    "spc1": (
        {"Response time over load", "Power over load", "Efficiency over load"},
        ["SPC-1-like, unaudited", "Limits: 1 missed, 1 kept", "3 errors, none is allowed"],
    ),
    "spc2": ({"Data rate over streams", "Response time over streams", "Power over streams"},
             ["lfp-write-1024k", "too many late"]),
    "pts": (
        {"iops: rounds, 0 % reads (steady state)", "iops: mean of the last rounds by block size",
         "Write saturation: I/Os per second", "Write saturation: response time"},
        ["PTS-like, unaudited", "latency, not complete", "steady-state verification"],
    ),
    "profile": ({"Most expensive functions"}, ["Linux 6.1.0", "8 more functions have 2.0"]),
    "gate": (set(), ["iops is 800 IOPS, less than 900", "Limits: 1 missed, 3 kept, 2 not judged"]),
    "comparison": ({"iops of each run: better"}, ["better: iops +20.00 %", "of response.p99"]),
    "spc1e": ({"Power over load", "Nominal power of the usage profiles"}, ["a remark on energy"]),
    "spc2e": ({"Power over load", "Nominal power of the usage profiles"}, ["a limit was missed"]),
    "emerald": ({"Mean power of the phases"}, ["80 ms is too slow", "EP_1"]),
    "dcse": (set(), ["IOPS/W", "125.00"]),
    "capacity": (
        {"Bytes stored after each step"},
        ["Methods: 1 not shown, 1 shown, 1 not judged", "75.0 % saved", "a remark on capacity"],
    ),
    "simulation": ({"States of the drive"}, ["rotation", "sptf"]),
    "study": (
        {
            *("Figure 2: Response times, Financial-like", "Figure 3: Power by state"),
            *("Figure 4: Response times, Financial-like, seek",),
            *("Figure 6: Power by state, Financial-like",),
        },
        ["1 of 2 claims hold", "1 not confirmed, 1 confirmed, 1 not judged", "it needs less power"],
    ),
    "info": ({"Most frequent request sizes", "Burstiness by length of the window"}, ["footprint"]),
    "fit": (set(), ["a note on the fit", "line 3: no number"]),
    "verify": (set(), ["2 of 100 blocks are wrong", "torn"]),
    "machine": (
        {"CPU time of all CPUs", "Memory", "Swap", "Power of rail psu/5V"},
        ["target, without a load of spek's", "1022 MiB", "12.0 W"],
    ),
    "states": (
        {"Power states of the disks", "Time in each power state"},
        ["1 disk of nas", "spin-ups", "4 standby, stopped, suspended"],
    ),
    "log": ({"Response time by percentile", "I/Os per second", "Response times over time"},
            ["every I/O has its record"]),
    "stored": ({"Most frequent request sizes"}, ["footprint"]),
}  # fmt: skip


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Page]:
    folder = tmp_path_factory.mktemp("reports")
    return {name: report(report_files.make(folder, name)) for name in report_files.MAKERS}


every_kind = pytest.mark.parametrize("name", report_files.MAKERS)


def test_every_kind_that_a_report_is_made_of_is_tested() -> None:
    assert set(EXPECTED) == set(report_files.MAKERS)
    assert len(report_files.MAKERS) == len(read.KINDS)


@every_kind
def test_plots_and_words_of_every_kind(name: str, pages: dict[str, Page]) -> None:
    page = pages[name]
    titles = set(page.inside.get("figcaption", []))
    pictures, words = EXPECTED[name]
    assert pictures <= titles
    for word in words:
        assert word in page.words, word
    assert len(page.all("h1")) == 1


@every_kind
def test_every_picture_is_drawn_and_has_a_table(name: str, pages: dict[str, Page]) -> None:
    page = pages[name]
    figures = page.all("figure")
    assert len(page.all("svg", role="img")) == len(figures)
    text = page.data.decode()
    for figure in figures:
        part = text.partition(f'<figure id="{figure["id"]}">')[2].partition("</figure>")[0]
        assert "<table>" in part and "<td" in part
        assert re.search(r"<(path|rect|image)\b", part.partition('<div class="picture"')[2])
        assert f'aria-labelledby="{figure["id"]}-title"' in part
    live = [div for div in page.all("div") if "data-plot" in div]
    assert len(data_of(page)) == len(live)


@every_kind
def test_nothing_leads_out_of_the_page(name: str, pages: dict[str, Page]) -> None:
    page = pages[name]
    text = page.data.decode()
    assert not re.search(r"[a-z]+://", text)
    for tag, attributes in page.elements:
        assert tag not in {"link", "iframe", "img", "object", "embed", "base", "form"}
        assert "src" not in attributes and "style" not in attributes
        assert not any(attribute.startswith("on") for attribute in attributes)
        href = attributes.get("href")
        assert href is None or href.startswith(("#", "data:image/png;base64,"))
    ids = [str(attributes["id"]) for _, attributes in page.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    assert {str(link["href"])[1:] for link in page.all("a")} <= set(ids)


@every_kind
def test_a_page_is_small(name: str, pages: dict[str, Page]) -> None:
    page = pages[name]
    beside = page.data.partition(b"<main")[0] + page.data.partition(b"</main>")[2]
    data = "".join(page.inside["script"][:1]).encode()
    assert len(beside) - len(data) < GOAL
    assert len(page.data) < GOAL


def test_the_policy_lets_in_only_what_is_in_the_page(pages: dict[str, Page]) -> None:
    page = pages["run"]
    (meta,) = page.all("meta", **{"http-equiv": "Content-Security-Policy"})
    policy = dict(directive.split(" ", 1) for directive in str(meta["content"]).split("; "))
    text = page.data.decode()

    def hash_of(tag: str) -> str:
        inner = text.partition(f"<{tag}>")[2].partition(f"</{tag}>")[0]
        return f"'sha256-{base64.b64encode(hashlib.sha256(inner.encode()).digest()).decode()}'"

    assert policy == {
        "default-src": "'none'",
        "script-src": hash_of("script"),
        "style-src": hash_of("style"),
        "img-src": "data:",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    # uPlot's licence goes with it.
    assert "Copyright (c) 2022 Leon Sorokin" in text and "The above copyright notice" in text


HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    "</script><script>alert(2)</script>",
    "</script /><b>",
    "<!-- <script ",
    "a\u2028b\u2029c\u202egpj\x00\x1b[31m",
    "{{ 7 * 7 }} {% raw %} &amp; ]]>",
)


@pytest.mark.parametrize("text", HOSTILE)
def test_names_of_devices_and_workloads_are_text(tmp_path: Path, text: str) -> None:
    loaded = result.load_result(report_files.powered_result(tmp_path / "r.json"))
    (target,) = loaded.targets
    facts = msgspec.structs.replace(
        target.facts, path=text, name=text, model=text, serial=text, scheduler=text
    )
    head = msgspec.structs.replace(loaded.workload.workload, name=text, summary=text)
    streams = [msgspec.structs.replace(stream, name=text) for stream in loaded.config.streams]
    rows = [
        msgspec.structs.replace(row, power=_renamed(row.power, text)) for row in loaded.intervals
    ]
    hostile = msgspec.structs.replace(
        loaded,
        command=["run", text],
        targets=[msgspec.structs.replace(target, facts=facts)],
        workload=msgspec.structs.replace(loaded.workload, workload=head),
        config=msgspec.structs.replace(loaded.config, streams=streams * 2),
        environment=msgspec.structs.replace(loaded.environment, hostname=text),
        remarks=[text],
        intervals=rows,
    )
    path = report_files.written(tmp_path / "hostile.json", hostile)
    plain = report(report_files.powered_result(tmp_path / "plain.json"))
    shown = report(path, labels=(text,), title=text)
    both = report(path, path, labels=(text, f"{text}2"))
    assert len(shown.all("script")) == len(both.all("script")) == 2
    # Nothing of it has become an element or an attribute.
    assert {tag for tag, _ in shown.elements} <= {tag for tag, _ in plain.elements} | {"code"}
    for tag, attributes in (*shown.elements, *both.elements):
        assert not any(attribute.startswith("on") for attribute in attributes), tag
    names = [series["name"] for plot in data_of(both) for series in plot["series"]]
    raw = both.data.decode().partition('id="data">')[2].partition("\n")[0]
    assert raw.endswith("</script>") and "<" not in raw.removesuffix("</script>")
    visible = "".join(char if char.isprintable() else f"\\u{ord(char):04x}" for char in text)
    assert visible in names
    assert " ".join(visible.split()) in shown.words
    for char in "\u2028\u2029\u202e\x00\x1b":
        assert char not in shown.data.decode() and char not in both.data.decode()


@pytest.mark.parametrize("text", HOSTILE)
def test_names_in_pictures_are_text(tmp_path: Path, text: str) -> None:
    whole = document.read(report_files.make(tmp_path, "study"), drive.DriveStudy)
    (load,) = whole.loads
    system = msgspec.structs.replace(
        load.array, name=text, saturated=False, watts={"base": {text: 4.0}}
    )
    load = msgspec.structs.replace(load, name=text, array=system, single=[system] * 4)
    hostile = msgspec.structs.replace(whole, loads=[load])
    page = report(report_files.written(tmp_path / "hostile.json", hostile))
    plain = report(tmp_path / "study.json")
    assert {tag for tag, _ in page.elements} <= {tag for tag, _ in plain.elements}
    assert len(page.all("script")) == 2
    visible = "".join(char if char.isprintable() else f"\\u{ord(char):04x}" for char in text)
    assert visible in "".join(page.inside["text"]) or f"{visible[:29]}…" in page.inside["text"]
    assert f"{visible}, {visible}: 4 W" in "".join(page.inside["title"])


def _renamed(
    power: result_parts.IntervalPower | None, text: str
) -> result_parts.IntervalPower | None:
    if power is None:
        return None
    rails = [msgspec.structs.replace(rail, name=f"{text}{rail.name}") for rail in power.rails]
    return msgspec.structs.replace(power, rails=rails)


def test_several_results_are_laid_over_each_other(tmp_path: Path) -> None:
    first = write_curve(tmp_path / "first.json", OPEN)
    second = write_curve(tmp_path / "second.json", CLOSED)
    page = report(first, second)
    response, _, _ = data_of(page)
    assert [series["name"] for series in response["series"]] == ["first", "second"]
    assert [table["x"] for table in response["tables"]] == [
        [500, 1000, 1400, 1500], [900, 1700, 2600]
    ]  # fmt: skip
    assert "figures side by side" in page.inside["caption"]
    titles = page.inside["figcaption"]
    assert titles.count("Response time over load") == 1
    again = report(first, second, labels=("a", "b"))
    assert [series["name"] for series in data_of(again)[0]["series"]] == ["a", "b"]
