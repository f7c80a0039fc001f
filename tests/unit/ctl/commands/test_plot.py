# SPDX-License-Identifier: GPL-2.0
"""spekctl plot: which picture, into which files, and what is refused."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
from lib.ctl.command_line import Outcome, Spekctl, caller
from lib.ctl.plot_files import (
    DRAIN_NS,
    OPEN,
    intervals,
    point,
    records,
    write_curve,
    write_log,
    write_report,
    write_result,
    write_rounds,
    write_streams,
)
from lib.ctl.plot_seen import our_style
from lib.ctl.report_files import energy_dcse

from spekctl import extras
from spekctl.commands import plot
from spekctl.plots import style

drawing = pytest.fixture(autouse=True)(our_style)


@pytest.fixture
def spekctl(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Spekctl:
    monkeypatch.chdir(tmp_path)
    return partial(caller(capfd), "plot")


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with a file of each kind, good and bad."""
    folder = tmp_path_factory.mktemp("written")
    write_log(folder / "good.parquet", records(500))
    write_log(folder / "empty.parquet", records(500)[:0])
    write_log(folder / "ramp.parquet", records(500), measure_ns=0, drain_ns=0)
    write_log(folder / "late.parquet", records(500, at_ns=DRAIN_NS, done_ns=DRAIN_NS + 9))
    write_result(folder / "r.json", intervals())
    write_result(folder / "quiet.json", [])
    write_curve(folder / "c.json", OPEN)
    write_report(folder / "spc1.json", OPEN[:2], OPEN)
    write_streams(folder / "spc2.json")
    write_rounds(folder / "pts.json")
    energy_dcse(folder / "dcse.json")
    write_curve(folder / "dead.json", [point(1, 1, 50, response=None)])
    (folder / "other.json").write_text('{"jobs": []}')
    (folder / "text.txt").write_text("hello\n")
    (folder / "broken.json").write_text('{"schema": "spek-result", ')
    (folder / "old.json").write_text('{"schema": "spek-result", "schema_version": 1}')
    (folder / "cut.parquet").write_bytes((folder / "good.parquet").read_bytes()[:2000])
    return folder


@pytest.fixture
def inputs(written: Path, tmp_path: Path) -> Path:
    """A copy of these files, which a test may change and add to."""
    shutil.copytree(written, tmp_path, dirs_exist_ok=True)
    return tmp_path


def test_the_kind_of_the_file_says_what_is_drawn(spekctl: Spekctl, inputs: Path) -> None:
    for name, picture in (
        ("good.parquet", "addresses"),
        ("r.json", "timeline"),
        ("c.json", "curve"),
        ("spc2.json", "streams"),
        ("pts.json", "rounds"),
    ):
        outcome = spekctl(name, "--dpi", "50")
        stem = f"{Path(name).stem}-{picture}"
        assert outcome == Outcome(0, f"{stem}.png\n{stem}.svg\n", "")
        assert (inputs / f"{stem}.png").read_bytes().startswith(b"\x89PNG")
        assert b"</svg>" in (inputs / f"{stem}.svg").read_bytes()


@pytest.mark.parametrize(
    ("options", "names"),
    [
        (["-o", "x.png"], ["x.png"]),
        (["-o", "x.SVG"], ["x.SVG"]),
        (["-o", "x.png", "-o", "y.svg"], ["x.png", "y.svg"]),
        (["-o", "x"], ["x.png", "x.svg"]),
        (["-o", "run.2", "--dpi", "60"], ["run.2.png", "run.2.svg"]),
    ],
)
def test_names_of_the_output(
    spekctl: Spekctl, inputs: Path, options: list[str], names: list[str]
) -> None:
    before = set(inputs.iterdir())
    assert spekctl("cdf", "r.json", *options).out.split() == names
    assert {path.name for path in set(inputs.iterdir()) - before} == set(names)


@pytest.mark.parametrize("text", ["cost $5 and $6", "$\\\\frac{$", "_$x$"])
def test_words_of_the_user_are_no_formulas(spekctl: Spekctl, inputs: Path, text: str) -> None:
    (inputs / "r.json").rename(inputs / "$r$^{.json")
    write_result(inputs / "b.json", intervals())
    line = ("cdf", "$r$^{.json", "b.json", "--label", text, "--label", "b", "--title", text)
    outcome = spekctl(*line, "-o", "x.svg")
    assert outcome == Outcome(0, "x.svg\n", "")
    drawn = (inputs / "x.svg").read_text()
    assert f"<!-- {text} -->" in drawn and "<!-- $r$^{.json: " in drawn


def test_names_of_any_bytes_are_drawn(spekctl: Spekctl, inputs: Path) -> None:
    (inputs / "r.json").rename(inputs / "\udcff.json")
    line = ("cdf", "\udcff.json", "\udcff.json", "--label", "\udcfe", "--label", "b")
    outcome = spekctl(*line, "--title", "\udcfd", "-o", "x.svg", "-o", "x.png")
    assert outcome == Outcome(0, "x.svg\nx.png\n", "")
    assert "<!-- \ufffd.json: " in (inputs / "x.svg").read_text(encoding="utf-8")
    timeline = spekctl("timeline", "\udcff.json", "-o", "\udcff.png")
    assert (timeline.code, timeline.err) == (0, "") and (inputs / "\udcff.png").exists()


def test_no_name_is_no_output(spekctl: Spekctl, inputs: Path) -> None:
    outcome = spekctl("cdf", "r.json", "-o", "")
    assert outcome.code == 2
    assert outcome.err == (
        "spekctl: invalid value for '-o' / '--output': the name is empty"
        " (see spekctl plot cdf --help)\n"
    )


def test_resolution_is_as_asked(spekctl: Spekctl, inputs: Path) -> None:
    assert spekctl("cdf", "r.json", "-o", "x.png", "--dpi", "60").code == 0
    width = int.from_bytes((inputs / "x.png").read_bytes()[16:20], "big")
    assert width == 60 * style.WIDTH_IN


WRONG = {
    "no such file": ("addresses no.parquet", "there is no file no.parquet"),
    "picture misspelt": ("adresses good.parquet", "did you mean 'addresses'?"),
    "not ours": ("timeline other.json", "other.json is not a spek file"),
    "not JSON": ("text.txt", "text.txt is not a spek file"),
    "broken JSON": ("timeline broken.json", "broken.json is not valid JSON"),
    "no whole result": ("timeline old.json", "old.json is damaged"),
    "cut log": (
        "addresses cut.parquet",
        "cut.parquet is damaged: it is not a complete Parquet file",
    ),
    "directory": ("timeline .", ". is not a file"),
    "result for addresses": (
        "addresses r.json",
        "r.json is a result of a run; addresses are",
    ),
    "log for a curve": ("curve c.json good.parquet", "good.parquet is a per-I/O log; a curve is"),
    "result for DCsE": ("dcse r.json", "r.json is a result of a run; DCsE is drawn from samples"),
    "one of two for DCsE": ("dcse dcse.json c.json", "c.json is a load curve; DCsE is drawn from"),
    "DCsE of typed numbers": ("dcse dcse.json", "dcse.json has no DCsE over time"),
    "curve for a timeline": ("timeline c.json", "c.json is a load curve; a timeline is drawn from"),
    "empty log": ("addresses empty.parquet", "empty.parquet holds no I/Os"),
    "empty log over time": ("timeline empty.parquet", "empty.parquet holds no I/Os"),
    "empty log for a CDF": ("cdf empty.parquet", "empty.parquet holds no I/Os"),
    "no measure phase": ("addresses ramp.parquet", "ramp.parquet has no measure phase"),
    "none in the phase": ("addresses late.parquet", "late.parquet has no such I/Os"),
    "none completed in it": ("cdf late.parquet", "late.parquet has no response times"),
    "no intervals": ("timeline quiet.json", "quiet.json has no intervals"),
    "no point": ("curve dead.json", "dead.json has no point at which I/Os completed"),
    "empty window": ("addresses good.parquet --start 5s --end 5s", "--end must be after --start"),
    "beyond the end": ("addresses good.parquet --start 1h", "has no such I/Os"),
    "interval of a result": ("timeline r.json --interval 1s", "--interval is for logs"),
    "interval too short": ("timeline good.parquet --interval 1us", "more than 4096 intervals"),
    "labels": ("cdf r.json c.json --label a", "--label is given once for 2 files"),
    "other format": ("cdf r.json -o x.pdf", "ends in neither .png nor .svg"),
    "no directory": ("cdf r.json -o no/x.png", "there is no directory no"),
    "one of two is wrong": ("cdf r.json -o x.png -o no/x.svg", "there is no directory no"),
    "output is a directory": ("cdf r.json -o dir.png", "'dir.png' is a directory; --output"),
    "output is this directory": ("cdf r.json -o .", "'.' is a directory; --output takes the name"),
    "output is the one above": ("cdf r.json -o ..", "'..' is a directory; --output takes the"),
    "several without a picture": ("r.json quiet.json", "several results or logs are compared by"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_said_in_one_sentence(spekctl: Spekctl, inputs: Path, case: str) -> None:
    arguments, sentence = WRONG[case]
    (inputs / "dir.png").mkdir()
    before = sorted(inputs.iterdir())
    outcome = spekctl(*arguments.split())
    assert outcome.code == 2
    assert outcome.out == ""
    (line,) = outcome.err.splitlines()
    assert line.startswith("spekctl: ")
    assert sentence in line
    assert sorted(inputs.iterdir()) == before


def test_a_failing_write_leaves_nothing_behind(
    spekctl: Spekctl, inputs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(fd: int) -> None:
        raise OSError(28, "No space left on device")

    (inputs / "x.png").write_bytes(b"before")
    before = sorted(inputs.iterdir())
    monkeypatch.setattr(os, "fsync", fail)
    outcome = spekctl("cdf", "r.json", "-o", "x.png")
    assert outcome.code == 1
    assert outcome.err == "spekctl: cannot write x.png: No space left on device\n"
    assert sorted(inputs.iterdir()) == before
    assert (inputs / "x.png").read_bytes() == b"before"


def test_without_matplotlib_it_says_what_to_install(
    spekctl: Spekctl, inputs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.style", None)
    outcome = spekctl("cdf", "r.json")
    assert outcome.code == 2
    assert outcome.err == f"spekctl: drawing needs matplotlib: {extras.install('plot')}\n"


def test_matplotlib_is_imported_only_to_draw() -> None:
    code = (
        "import sys, spekctl.cli as cli\n"
        "assert cli.run(['plot', 'cdf', '--help']) == 0\n"
        "assert cli.run(['plot', 'addresses', 'missing']) == 2\n"
        "print([name for name in ('matplotlib', 'numpy', 'pyarrow') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_settings_of_the_user_do_not_change_the_picture(
    spekctl: Spekctl, inputs: Path, tmp_path: Path
) -> None:
    settings = "font.size: 20\nsavefig.dpi: 30\nsvg.hashsalt: x\nbackend: TkAgg\n"
    (tmp_path / "matplotlibrc").write_text(settings)
    command = [sys.executable, "-m", "spekctl", "plot", "cdf", "r.json", "-o", "theirs.svg"]
    environment = {"MATPLOTLIBRC": str(tmp_path), "PATH": "/usr/bin", "HOME": str(tmp_path)}
    subprocess.run(command, check=True, cwd=inputs, env=environment, capture_output=True)
    # Here nobody has set anything.
    assert spekctl("cdf", "r.json", "-o", "ours.svg").code == 0
    assert (inputs / "theirs.svg").read_bytes() == (inputs / "ours.svg").read_bytes()


def test_the_pictures_are_listed_and_the_guess_is_not(spekctl: Spekctl) -> None:
    outcome = spekctl("--help")
    assert outcome.code == 0
    listed = outcome.out[outcome.out.index("Commands:") :].split()[1:]
    assert {"addresses", "timeline", "curve", "cdf"} <= set(listed)
    assert plot.GUESS not in listed
