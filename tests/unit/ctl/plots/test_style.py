# SPDX-License-Identifier: GPL-2.0
"""Units, colours and files of pictures."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lib.ctl.plot_seen import foot, our_style

from spekctl.errors import SpekError, UsageError
from spekctl.plots import style
from spekctl.plots.style import Origin

drawing = pytest.fixture(autouse=True)(our_style)


@given(st.floats(1, 1e15))
def test_a_time_is_at_least_one_of_its_unit(ns: float) -> None:
    name, size = style.ns_unit(ns)
    assert ns / size >= 1
    assert ns / size < 1000 or name == "s"


@pytest.mark.parametrize("ns", [0.0, 0.5])
def test_less_than_a_nanosecond_is_still_one(ns: float) -> None:
    assert style.ns_unit(ns) == ("ns", 1.0)


@pytest.mark.parametrize(
    ("span_s", "name"), [(600, "s"), (601, "min"), (3 * 3600, "min"), (3 * 3600 + 1, "h")]
)
def test_a_clock_changes_its_unit(span_s: float, name: str) -> None:
    assert style.clock_unit(span_s)[0] == name


@pytest.mark.parametrize(
    ("count", "unit"),
    [(0, ("B", 1)), (1023, ("B", 1)), (1024, ("KiB", 1024)), (2**63, ("PiB", 2**50))],
)
def test_bytes_end_at_the_largest_unit(count: float, unit: tuple[str, float]) -> None:
    assert style.byte_unit(count) == unit


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (0.1, "0.1"), (1000, "1,000"), (-2500.0, "-2,500"), (1234.5, "1234.5"),
     (999.9999999, "1000"), (1e15, "1,000,000,000,000,000")],
)  # fmt: skip
def test_ticks_have_no_powers_of_ten(value: float, text: str) -> None:
    assert style.number(value) == text


def test_lines_are_told_apart() -> None:
    assert len({style.look(index) for index in range(64)}) == 64
    for count in (1, len(style.COLOURS), len(style.COLOURS) + 1, 64):
        assert len(set(style.colours(count))) == count


def test_the_foot_counts_the_files_that_it_leaves_out() -> None:
    origins = [Origin(f"{n}.json", "spc1" if n == 8 else "oltp", ()) for n in range(9)]
    figure, _ = style.new_figure([1.0], "$t_1", origins)
    lines = foot(figure).splitlines()
    assert lines[0] == "0.json: oltp on no device"
    assert lines[-2:] == ["and 3 more files", style.UNAUDITED]
    long = Origin("x" * 500, "oltp", ("/dev/x",))
    (line,) = foot(style.new_figure([1.0], "", [long])[0]).splitlines()
    assert len(line) == 200 and line.endswith("…")


@pytest.mark.parametrize(
    ("wanted", "names"),
    [
        ([], ["stem.png", "stem.svg"]),
        (["a"], ["a.png", "a.svg"]),
        (["a.SVG", "b.png"], ["a.SVG", "b.png"]),
        (["a.svg", "a"], ["a.svg", "a.png"]),
        # What follows a dot may be a number of a name.
        (["run.12"], ["run.12.png", "run.12.svg"]),
    ],
)
def test_a_name_without_suffix_is_two_files(
    wanted: list[str], names: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    paths = style.outputs([Path(name) for name in wanted], "stem")
    assert [str(path) for path in paths] == names


def test_a_default_stem_keeps_its_dots(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert [path.name for path in style.outputs([], "a.result")] == ["a.result.png", "a.result.svg"]


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("a.pdf", "'a.pdf' ends in neither .png nor .svg"),
        ("/dev/null", "cannot write /dev/null: it is a character device, not a file"),
        ("..", "'..' is a directory; --output takes the name of a file"),
        ("/tmp", "'/tmp' is a directory; --output takes the name of a file"),
        ("no/a.png", "there is no directory"),
        ("a" * 300, "File name too long"),
    ],
)
def test_what_is_no_picture_is_refused(
    name: str, sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SpekError) as refusal:
        style.outputs([Path(name)], "stem")
    assert sentence in refusal.value.message


def test_the_settings_of_the_user_do_not_matter() -> None:
    import matplotlib

    with matplotlib.rc_context({"axes.grid": False, "font.size": 30}):
        with style.ready():
            assert matplotlib.rcParams["axes.grid"] is True
            assert matplotlib.rcParams["font.size"] == 9
        assert matplotlib.rcParams["font.size"] == 30


def test_a_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.style", None)
    with pytest.raises(UsageError, match="-m pip install 'spekctl\\[plot\\]'"):
        style.require()


@pytest.mark.filterwarnings("error")
def test_characters_that_the_font_lacks_are_one_note(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    from matplotlib.figure import Figure

    for title, notes in (("\U000f0000\U000f0001", 1), ("plain", 0)):
        figure = Figure()
        figure.suptitle(title)
        style.save(figure, [tmp_path / "a.png", tmp_path / "a.svg"])
        error = capfd.readouterr().err
        assert len(error.splitlines()) == notes
        assert ("font of plots lacks some characters" in error) == bool(notes)
