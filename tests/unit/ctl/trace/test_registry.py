# SPDX-License-Identifier: GPL-2.0
"""Which format a file is of: by its contents, or by the name that is given."""

from __future__ import annotations

import gzip
import re
from dataclasses import replace
from pathlib import Path

import pytest
from fuzz.python_targets.traces import BINARY, TEXT
from hypothesis import assume, given
from hypothesis import strategies as st
from lib.build.sources import ROOT
from lib.ctl.traces import SAMPLES, sample

from spekctl.commands import trace
from spekctl.errors import UsageError
from spekctl.trace import registry
from spekctl.trace.formats import speklog
from spekctl.trace.formats.format import Format
from spekctl.trace.registry import FORMATS, LEAST_LIKENESS, by_name, recognized
from spekctl.trace.source import Head, Source


def test_a_name_is_that_of_one_format() -> None:
    names = [format_.name for format_ in FORMATS]
    assert len(set(names)) == len(names)
    assert [by_name(name).name for name in names] == names


@pytest.mark.parametrize("format_", FORMATS, ids=lambda format_: format_.name)
def test_a_format_is_known_wherever_formats_are_listed_by_hand(format_: Format) -> None:
    """In the help of spekctl trace, in the README, and among what is fuzzed."""
    assert re.search(rf"^  .*\b{format_.name}\b", trace.EPILOG, re.MULTILINE)
    readme = (ROOT / "ctl/spekctl/trace/README.md").read_text()
    assert re.search(rf"^\|[^|]*\|[^|]*`{format_.name}`", readme, re.MULTILINE)
    assert format_.name in (*TEXT, *BINARY) or format_ is speklog.FORMAT


@pytest.mark.parametrize(("folder", "names"), [("text", TEXT), ("binary", BINARY)])
def test_seeds_of_the_fuzzer_name_their_formats_by_place(
    folder: str, names: tuple[str, ...]
) -> None:
    seeds = ROOT / f"tests/fuzz/seeds/py-trace_{folder}"
    assert (seeds / "by-contents").read_bytes()[0] == len(names)
    for place, name in SAMPLES.items():
        if place.startswith(f"py-trace_{folder}/"):
            assert names[(ROOT / "tests/fuzz/seeds" / place).read_bytes()[0]] == name


def test_a_wrong_name_gets_the_right_ones() -> None:
    with pytest.raises(UsageError, match="no format 'blktrase'; did you mean 'blktrace'"):
        by_name("blktrase")
    with pytest.raises(UsageError, match="the formats are spek-trace, spek-log, blktrace, srt"):
        by_name("zip")


@given(st.binary(max_size=300), st.booleans())
def test_whatever_the_bytes_are_a_likeness_is_a_share(data: bytes, is_text: bool) -> None:
    data = data.hex(",").encode() if is_text else data
    # Readers of Parquet open the file, which is not there.
    assume(not data.startswith(b"PAR1"))
    head = Head(Path("of-no-file"), data, len(data) < 300)
    for format_ in FORMATS:
        assert 0 <= format_.likeness(head) <= 1, format_.name


@pytest.mark.parametrize(("seed", "name"), SAMPLES.items())
def test_contents_tell_the_format(seed: str, name: str, tmp_path: Path) -> None:
    assert recognized(Source(sample(tmp_path, seed)).head()).name == name


@pytest.mark.parametrize("known", [0.0, LEAST_LIKENESS - 0.01])
def test_a_weak_likeness_is_none(
    known: float, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"0,1,512,r,0.5\n")
    weak = [replace(format_, likeness=lambda head: known) for format_ in FORMATS]
    monkeypatch.setattr(registry, "FORMATS", weak)
    with pytest.raises(UsageError, match="is not a trace of a known format; --format of `spekctl"):
        recognized(Head(path, b"0,1,512,r,0.5\n", True))


def test_of_equal_likeness_the_first_format_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    alike = [replace(format_, likeness=lambda head: 1.0) for format_ in FORMATS]
    monkeypatch.setattr(registry, "FORMATS", alike)
    assert recognized(Head(Path("x"), b"x", True)).name == "spek-trace"


def test_a_format_is_told_by_more_than_its_first_lines(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_text("garbage\n" * 60 + "0,1,512,r,0.5\n" * 200)
    assert recognized(Source(path).head()).name == "spc"


def test_parquet_in_a_compressed_file_is_named(tmp_path: Path) -> None:
    stored = sample(tmp_path, "py-trace_binary/stored")
    path = tmp_path / "t.parquet.gz"
    path.write_bytes(gzip.compress(stored.read_bytes()))
    with pytest.raises(UsageError, match=r"t\.parquet\.gz is Parquet in a compressed file; decom"):
        recognized(Source(path).head())
