# SPDX-License-Identifier: GPL-2.0
"""spekctl trace: figures, parts and other forms of traces, and one sentence for each error."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from lib.ctl.command_line import Spekctl
from lib.ctl.schemas import validator
from lib.ctl.traces import read

from spekctl.documents import trace as document
from spekctl.errors import ExitCode

TEXT = """\
at_ns,device,offset_bytes,bytes,op,fua,preflush
5,sda,0,4096,read,0,0
1005,sda,4096,4096,write,1,0
2005,sdb,8192,512,write,0,1
3005,sdb,0,0,flush,0,0
1000003005,sda,65536,4096,discard,0,0
2000003005,sda,131072,4096,zone-append,0,0
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    made = tmp_path / "in.csv"
    made.write_text(TEXT)
    return made


def test_info_is_text_or_json(spekctl: Spekctl, path: Path, tmp_path: Path) -> None:
    outcome = spekctl("trace", "info", str(path))
    assert (outcome.code, outcome.err) == (ExitCode.OK, "")
    assert f"{path}: csv, 6 requests of 16.5 KiB on 2 devices in 2.00 s" in outcome.out
    assert "…" not in outcome.out
    out = tmp_path / "info.json"
    outcome = spekctl("trace", "info", str(path), "--json", "-o", str(out))
    assert outcome.out == out.read_text()
    found = json.loads(outcome.out)
    validator(document.SCHEMA_FILE).validate(found)
    assert (found["kind"], found["version"], found["requests"]) == ("spek-trace-info", 1, 6)


def test_timing_goes_to_standard_error(spekctl: Spekctl, path: Path) -> None:
    outcome = spekctl("trace", "info", str(path), "--timing", "--json")
    assert json.loads(outcome.out)["requests"] == 6
    assert "spekctl: read 6 records in " in outcome.err


def test_a_reader_that_leaves_ends_the_listing(path: Path) -> None:
    path.write_text(TEXT + "".join(f"{n},sda,0,512,read,0,0\n" for n in range(300_000)))
    program = f"{sys.executable} -m spekctl trace head {path} -n 300000 | head -n 2"
    done = subprocess.run(["bash", "-c", program], capture_output=True, text=True, check=False)
    assert (done.stderr, len(done.stdout.splitlines())) == ("", 2)


def test_head_prints_csv_that_can_be_read(spekctl: Spekctl, path: Path, tmp_path: Path) -> None:
    outcome = spekctl("trace", "head", str(path), "-n", "3")
    assert outcome.out.splitlines()[0] == TEXT.splitlines()[0]
    copy = tmp_path / "copy.csv"
    copy.write_text(outcome.out)
    assert read(copy)[0] == read(path)[0][:3]


@pytest.mark.parametrize("name", ["t.parquet", "t.csv", "t"])
def test_everything_survives_a_conversion(
    name: str, spekctl: Spekctl, path: Path, tmp_path: Path
) -> None:
    out = tmp_path / name
    outcome = spekctl("trace", "convert", str(path), "-o", str(out))
    assert (outcome.code, outcome.out) == (ExitCode.OK, "")
    assert f"6 requests written to {out}" in outcome.err
    assert read(out)[0] == read(path)[0]


def test_fio_gets_what_it_knows(spekctl: Spekctl, path: Path, tmp_path: Path) -> None:
    out = tmp_path / "t.iolog"
    outcome = spekctl("trace", "convert", str(path), "-o", str(out))
    assert "left out, not supported by the form: 1 zone-append" in outcome.err
    assert out.read_text().splitlines() == [
        "fio version 3 iolog",
        "0 sda add",
        "0 sda open",
        "0 sdb add",
        "0 sdb open",
        "0 sda read 0 4096",
        "1 sda write 4096 4096",
        "2 sdb write 8192 512",
        "3 sdb sync 0 0",
        "1000003 sda trim 65536 4096",
        "1000003 sda close",
        "1000003 sdb close",
    ]
    found, trace = read(out)
    assert (len(found), trace.parts[0].format.name) == (5, "fio")


def test_the_text_of_blkparse_holds_all_but_the_names(
    spekctl: Spekctl, path: Path, tmp_path: Path
) -> None:
    out = tmp_path / "t.blkparse"
    spekctl("trace", "convert", str(path), "-o", str(out))
    found, trace = read(out)
    assert (trace.parts[0].format.name, trace.faults.bad) == ("blkparse", 0)
    names = {"sda": "259,0", "sdb": "259,1"}
    assert found == [(at, names[device], *rest) for at, device, *rest in read(path)[0]]


def test_odd_sizes_grow_to_sectors(spekctl: Spekctl, tmp_path: Path) -> None:
    path = tmp_path / "in.csv"
    path.write_text("at_ns,offset_bytes,bytes,op\n1,100,512,read\n2,512,512,read\n")
    out = tmp_path / "t.blkparse"
    outcome = spekctl("trace", "convert", str(path), "-o", str(out))
    assert "requests rounded to whole sectors: 1" in outcome.err
    assert [one[2:4] for one in read(out)[0]] == [(0, 1024), (512, 512)]


@pytest.mark.parametrize(
    ("options", "kept"),
    [
        ("--start 1us", [1, 2, 3, 4, 5]),
        ("--end 2us", [0, 1]),
        ("--start 1us --end 2us", [1]),
        ("--volume sdb", [2, 3]),
        ("--volume sdb --volume sda", [0, 1, 2, 3, 4, 5]),
        ("--range 4096-64KiB", [1, 2]),
        ("--range 64KiB-", [4, 5]),
        ("--range 0-4KiB", [0]),
        ("--op write --op flush", [1, 2, 3]),
        ("--first 2", [0, 1]),
        ("--volume sda --op write --first 9", [1]),
    ],
)
def test_a_part_is_what_all_options_select(
    options: str, kept: list[int], spekctl: Spekctl, path: Path, tmp_path: Path
) -> None:
    out = tmp_path / "t.parquet"
    outcome = spekctl("trace", "cut", str(path), *options.split(), "-o", str(out))
    assert outcome.code == ExitCode.OK
    rows = [read(path)[0][index] for index in kept]
    assert read(out)[0] == [(at - rows[0][0], *rest) for at, *rest in rows]


def test_bad_lines_are_told_or_refused(spekctl: Spekctl, path: Path, tmp_path: Path) -> None:
    path.write_text(TEXT + "1,sda,x,512,read,0,0\n")
    out = tmp_path / "t.parquet"
    outcome = spekctl("trace", "convert", str(path), "-o", str(out))
    assert outcome.code == ExitCode.OK
    place = f"{path}: line 8: offset_bytes 'x' is not a whole number"
    assert f"1 unreadable record; the first: {place}" in outcome.err
    out.unlink()
    outcome = spekctl("trace", "convert", str(path), "--strict", "-o", str(out))
    assert (outcome.code, outcome.sentence) == (ExitCode.USAGE, f"{place} (--strict)")
    assert [one.name for one in tmp_path.iterdir()] == ["in.csv"]


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("info none.csv", "there is no file none.csv"),
        ("info in.csv --format spk", "there is no format 'spk'; did you mean 'spc'?"),
        ("info in.csv --block-size 0", "--block-size must be 1 byte to 1 MiB, not 0"),
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
    assert sorted(one.name for one in path.parent.iterdir()) == ["in.csv", "other.spc"]


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
    found = json.loads(outcome.out)
    validator(document.SCHEMA_FILE).validate(found)
    assert (found["kind"], found["workload"]) == ("spek-trace-fit", "my-twin")


def test_a_twin_is_called_toml(spekctl: Spekctl, path: Path, tmp_path: Path) -> None:
    outcome = spekctl("trace", "fit", str(path), "-o", str(tmp_path / "twin"))
    assert outcome.code == ExitCode.USAGE
    assert "a workload is a file called NAME.toml" in outcome.sentence
