# SPDX-License-Identifier: GPL-2.0
"""spekctl trace: figures, parts and other forms of traces, and one sentence for each error."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from lib.ctl.command_line import Spekctl
from lib.ctl.log_files import records as log_records
from lib.ctl.log_files import written
from lib.ctl.schemas import validator
from lib.ctl.traces import MIXED, SAMPLES, mixed, read, sample

from spekctl.documents import trace as document
from spekctl.errors import ExitCode
from spekctl.workload.file import load


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return mixed(tmp_path)


def test_info_is_text_or_json(spekctl: Spekctl, path: Path, tmp_path: Path) -> None:
    outcome = spekctl("trace", "info", str(path))
    assert (outcome.code, outcome.err) == (ExitCode.OK, "")
    assert f"{path}: csv, 6 requests of 16.5 KiB on 2 devices in 2.00 s" in outcome.out
    assert "…" not in outcome.out
    out = tmp_path / "info.json"
    outcome = spekctl("trace", "info", str(path), "--json", "-o", str(out))
    assert outcome.out == out.read_text()
    info = json.loads(outcome.out)
    validator(document.SCHEMA_FILE).validate(info)
    assert (info["kind"], info["version"], info["requests"]) == ("spek-trace-info", 1, 6)


def test_timing_goes_to_standard_error(spekctl: Spekctl, path: Path) -> None:
    outcome = spekctl("trace", "info", str(path), "--timing", "--json")
    assert json.loads(outcome.out)["requests"] == 6
    assert "spekctl: read 6 records in " in outcome.err


def test_a_reader_that_leaves_ends_the_listing(path: Path) -> None:
    path.write_text(MIXED + "".join(f"{n},sda,0,512,read,0,0\n" for n in range(300_000)))
    program = f"{sys.executable} -m spekctl trace head {path} -n 300000 | head -n 2"
    done = subprocess.run(["bash", "-c", program], capture_output=True, text=True, check=False)
    assert (done.stderr, len(done.stdout.splitlines())) == ("", 2)


def test_head_prints_csv_that_can_be_read(spekctl: Spekctl, path: Path, tmp_path: Path) -> None:
    outcome = spekctl("trace", "head", str(path), "-n", "3")
    assert outcome.out.splitlines()[0] == MIXED.splitlines()[0]
    copy = tmp_path / "copy.csv"
    copy.write_text(outcome.out)
    assert read(copy)[0] == read(path)[0][:3]


def test_head_counts_what_cannot_be_read(spekctl: Spekctl, path: Path) -> None:
    lines = MIXED.splitlines()
    path.write_text("\n".join([lines[0], "nonsense", *lines[1:]]) + "\n")
    outcome = spekctl("trace", "head", str(path))
    assert (outcome.code, len(outcome.out.splitlines())) == (ExitCode.RUN_FAILED, 7)
    assert f"spekctl: 1 unreadable record; the first: {path}: line 2" in outcome.err


@pytest.mark.parametrize("words", [["info"], ["head"], ["cut", "-o", "x"], ["convert", "-o", "x"]])
def test_without_pyarrow_the_sentence_says_what_to_install(
    spekctl: Spekctl, path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    outcome = spekctl("trace", words[0], str(path), *words[1:])
    assert outcome.code == ExitCode.USAGE
    assert outcome.sentence.startswith("a trace needs pyarrow: ")


def test_issued_requests_alone_are_not_an_empty_trace(spekctl: Spekctl, tmp_path: Path) -> None:
    text = "  8,0    3        5     0.000009118   697  D   W 223490 + 8 [kjournald]\n"
    (tmp_path / "t.txt").write_text(text)
    for words in (["info"], ["convert", "-o", "x.csv"]):
        outcome = spekctl("trace", words[0], "t.txt", *words[1:])
        assert outcome.code == ExitCode.USAGE
        assert outcome.sentence == (
            "t.txt has no queue events (Q), but 1 D; read it with --event issue"
        )
    assert not (tmp_path / "x.csv").exists()
    assert "1 request" in spekctl("trace", "info", "t.txt", "--event", "issue").out


def test_bad_lines_are_told_or_refused(spekctl: Spekctl, path: Path, tmp_path: Path) -> None:
    path.write_text(MIXED + "1,sda,x,512,read,0,0\n")
    out = tmp_path / "t.parquet"
    outcome = spekctl("trace", "convert", str(path), "-o", str(out))
    assert outcome.code == ExitCode.RUN_FAILED and out.exists()
    place = f"{path}: line 8: offset_bytes 'x' is not a whole number"
    assert f"1 unreadable record; the first: {place}" in outcome.err
    out.unlink()
    outcome = spekctl("trace", "convert", str(path), "--strict", "-o", str(out))
    assert (outcome.code, outcome.sentence) == (ExitCode.USAGE, f"{place} (--strict)")
    assert [entry.name for entry in tmp_path.iterdir()] == ["in.csv"]


@pytest.mark.parametrize(
    "line",
    [
        "info in.csv --json",
        "info in.csv --timing",
        "head in.csv -n 9",
        "cut in.csv -o t.csv",
        "convert in.csv -o t.iolog",
        "fit in.csv -o t.toml",
    ],
)
def test_a_trace_that_is_not_read_whole_has_an_exit_code(
    line: str, spekctl: Spekctl, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(path.parent)
    for text, code in ((MIXED, ExitCode.OK), (MIXED + "1,sda,x,512,read,0,0\n", 1)):
        path.write_text(text)
        outcome = spekctl("trace", *line.split())
        assert outcome.code == code
        assert outcome.out or (path.parent / line.split()[-1]).stat().st_size


@pytest.mark.parametrize("words", ["info", "head", "convert -o t.csv", "convert -o t.parquet"])
def test_a_log_that_lost_ios_has_the_exit_code_of_one_with_unreadable_records(
    words: str, spekctl: Spekctl, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    command, *output = words.split()
    whole = written(tmp_path / "whole", log_records(9))
    assert spekctl("trace", command, whole, *output).code == ExitCode.OK
    log = written(tmp_path / "log", log_records(9), lost=4)
    said = "the log lacks 4 I/Os, lost while it was recorded"
    outcome = spekctl("trace", command, log, *output)
    assert outcome.code == ExitCode.RUN_FAILED
    assert said in outcome.out + outcome.err
    strict = spekctl("trace", command, log, *output, "--strict")
    assert (strict.code, strict.sentence) == (ExitCode.USAGE, f"{log}: {said} (--strict)")


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("info none.csv", "there is no file none.csv"),
        ("info in.csv --format spk", "there is no format 'spk'; did you mean 'spc'?"),
        ("info in.csv --block-size 0", "--block-size must be 1 byte to 1 MiB, not 0"),
        ("info in.csv -o in.csv", "--output in.csv would overwrite the input in.csv"),
        ("convert in.csv -o in.csv", "in.csv is the trace that is read; choose another output"),
        ("convert in.csv -o nowhere/t", "there is no directory nowhere"),
        ("cut in.csv -o t --volume sdc", "the trace has no device 'sdc'; it has sda, sdb"),
        ("cut in.csv -o t --op raed", "there is no operation 'raed'; did you mean 'read'?"),
        ("cut in.csv -o t --start 2s --end 1s", "--end must be after --start"),
        ("cut in.csv -o t --range 5", "--range 5: write START-END, for example 0-10GiB"),
        ("cut in.csv -o t --range 8k-4k", "the end of --range must be after its start"),
        ("cut in.csv -o t --first 0", "--first must be at least 1, not 0"),
        ("info in.csv other.spc", "files of one trace have one format; these are csv and spc"),
    ],
)
def test_errors_are_one_sentence(
    line: str, sentence: str, spekctl: Spekctl, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(path.parent)
    Path("other.spc").write_text("0,1,512,r,0.5\n")
    outcome = spekctl("trace", *line.split())
    assert (outcome.code, outcome.out) == (ExitCode.USAGE, "")
    assert sentence in outcome.sentence
    assert sorted(entry.name for entry in path.parent.iterdir()) == ["in.csv", "other.spc"]


def test_a_twin_is_a_workload_file(spekctl: Spekctl, tmp_path: Path) -> None:
    path, out = tmp_path / "in.csv", tmp_path / "my twin.toml"
    rows = [f"{n * 777_777},{n * 37 % 1000 * 4096},4096,{'rw'[n % 3 == 0]}" for n in range(3000)]
    path.write_text("at_ns,offset_bytes,bytes,op\n" + "\n".join(rows) + "\n")
    outcome = spekctl("trace", "fit", str(path), "-o", str(out))
    assert (outcome.code, outcome.err) == (ExitCode.OK, "")
    assert "3,000 reads and writes; my-twin makes" in outcome.out
    assert "size distribution" in outcome.out
    shown = spekctl("show", str(out), "--capacity", "1GiB", "--json")
    assert (shown.code, shown.err) == (ExitCode.OK, "")
    outcome = spekctl("trace", "fit", str(path), "-o", str(out), "--json")
    fit = json.loads(outcome.out)
    validator(document.SCHEMA_FILE).validate(fit)
    assert (fit["kind"], fit["workload"]) == ("spek-trace-fit", "my-twin")


def test_a_trace_of_any_name_has_a_twin(
    spekctl: Spekctl, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(path.parent)
    path.rename("\udcff.csv")
    outcome = spekctl("trace", "fit", "\udcff.csv", "-o", "twin.toml")
    assert outcome.code == ExitCode.OK, outcome.err
    assert load("./twin.toml").workload.doc.startswith("Made from \ufffd.csv; devices: ")
    refused = spekctl("trace", "convert", "\udcff.csv", "-o", "\udcff.parquet")
    assert refused.code == ExitCode.USAGE
    assert refused.sentence.endswith(".parquet: the name of a stored trace must be UTF-8")


def test_a_twin_is_called_toml(spekctl: Spekctl, path: Path, tmp_path: Path) -> None:
    outcome = spekctl("trace", "fit", str(path), "-o", str(tmp_path / "twin"))
    assert outcome.code == ExitCode.USAGE
    assert "a workload is a file called NAME.toml" in outcome.sentence


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("info", ""),
        ("head", ""),
        ("convert -o t.csv", ""),
        ("cut -o t.csv --op read", ""),
        ("info --timing", "is a pipe, and the trace is read more than once"),
        ("fit -o t.toml", "is a pipe, and the trace is read more than once"),
        ("info --format spek-trace", "is a pipe, and Parquet cannot be read from one"),
    ],
)
def test_traces_may_come_through_pipes(
    line: str, sentence: str, spekctl: Spekctl, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    reader, writer = os.pipe()
    os.write(writer, MIXED.encode())
    os.close(writer)
    outcome = spekctl("trace", *line.split(), f"/dev/fd/{reader}")
    os.close(reader)
    assert outcome.code == (ExitCode.USAGE if sentence else ExitCode.OK)
    assert sentence in (outcome.sentence if sentence else outcome.err)


def test_a_pipe_of_something_else_is_no_trace(spekctl: Spekctl) -> None:
    for data, sentence in ((b"PAR1...", "Parquet cannot be read"), (b"{}\n", "not a trace of a")):
        reader, writer = os.pipe()
        os.write(writer, data)
        os.close(writer)
        outcome = spekctl("trace", "info", f"/dev/fd/{reader}")
        os.close(reader)
        assert outcome.code == ExitCode.USAGE
        assert sentence in outcome.sentence


def damaged(path: Path) -> None:
    """Records that cannot be read, in the middle and cut off at the end."""
    data = path.read_bytes()
    if b"\0" in data:
        path.write_bytes(data[:-3])
        return
    lines = data.splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:2], b"nonsense\n", *lines[2:], b"1,2"]))


@pytest.mark.parametrize("seed", [seed for seed, name in SAMPLES.items() if name != "spek-trace"])
def test_every_command_counts_the_same_unreadable_records(
    spekctl: Spekctl, tmp_path: Path, seed: str
) -> None:
    path = sample(tmp_path, seed)
    damaged(path)
    given = [str(path), "--format", SAMPLES[seed]]
    info = spekctl("trace", "info", *given, "--json")
    count = json.loads(info.out)["defects"]["bad"]
    assert count and info.code == ExitCode.RUN_FAILED
    first = json.loads(info.out)["defects"]["first"]
    said = f"{count} unreadable record{'s' * (count != 1)}; the first: {first}"
    for words in (["head", *given, "-n", "1000"], ["convert", *given, "-o", "out.csv"]):
        outcome = spekctl("trace", *words)
        assert outcome.code == ExitCode.RUN_FAILED, words
        assert said in outcome.err, words
    assert said in " ".join(spekctl("trace", "info", *given).out.split())
