# SPDX-License-Identifier: GPL-2.0
"""fio's JSON and logs of a result, beside those that fio itself writes."""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from lib.ctl import results
from lib.ctl.command_line import Spekctl
from lib.fakes.kernel import SECOND, START_NS, FakeKernel

from spekctl.documents.result import Result
from spekctl.errors import ExitCode
from spekctl.exports import fio_json, fio_logs
from spekctl.kernel.records import IntervalCell, IntervalRow, Phase

JOB = """[global]
ioengine=libaio
iodepth=4
size=1m
[j]
filename={folder}/file
rw=randrw
bs=4k
runtime=1
time_based
lat_percentiles=1
clat_percentiles=1
slat_percentiles=1
write_lat_log={folder}/L
write_bw_log={folder}/L
write_iops_log={folder}/L
write_hist_log={folder}/L
log_avg_msec=200
log_hist_msec=200
"""


def row(second: int, reads: int, writes: int) -> IntervalRow:
    def cell(ios: int) -> IntervalCell:
        return IntervalCell(ios, 8192 * ios, 0, 5000 * ios, 9, 9, 9, 9, 9, 4000 * ios, 9, 9, 9)

    start = START_NS + second * SECOND
    counts = [(reads, 8192 * reads, writes, 8192 * writes)]
    times = (start, start + SECOND, 16, 0, 5, 6)
    return IntervalRow(second, Phase.MEASURE, *times, cell(reads), cell(writes), counts)


ROWS = (row(1, 10, 5), row(2, 20, 5), row(3, 30, 10), row(4, 10, 10))


@pytest.fixture
def ours() -> Result:
    return results.build(rows=ROWS)


@pytest.fixture(scope="module")
def theirs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which fio has run, out.json and logs L_*."""
    program = shutil.which("fio")
    if program is None:
        pytest.skip("fio is not installed; .ci/packages test names it")
    folder = tmp_path_factory.mktemp("fio")
    (folder / "job.fio").write_text(JOB.format(folder=folder))
    words = ["--output-format=json+", f"--output={folder}/out.json", f"{folder}/job.fio"]
    subprocess.run([program, *words], check=True, timeout=60, capture_output=True)
    return folder


def differences(one: Any, other: Any, place: str = "") -> list[str]:
    """Where two JSON values differ in keys, types or nesting."""
    if type(one) is not type(other):
        return [f"{place}: {type(one).__name__} and {type(other).__name__}"]
    if isinstance(one, list):
        return differences(one[0], other[0], f"{place}[]") if one and other else []
    if not isinstance(one, dict):
        return []
    if place.endswith("options"):  # options of another job
        kinds = {type(value) for value in (*one.values(), *other.values())}
        return [] if kinds == {str} else [f"{place}: {kinds}"]
    if place.endswith(".bins"):
        numbers = [(*map(int, some), *some.values()) for some in (one, other)]
        return [] if all(isinstance(value, int) for some in numbers for value in some) else [place]
    found = [f"{place}.{key}: only in one" for key in one.keys() ^ other.keys()]
    for key in one.keys() & other.keys():
        found += differences(one[key], other[key], f"{place}.{key}")
    return found


def test_it_has_the_keys_types_and_nesting_of_fio(ours: Result, theirs: Path) -> None:
    made = json.loads(fio_json.encode(ours))
    real = json.loads((theirs / "out.json").read_text())
    assert differences(made, real) == []
    # In the order of fio, which readers of text rely on.
    assert list(made["jobs"][0]) == list(real["jobs"][0])
    assert list(made["jobs"][0]["read"]) == list(real["jobs"][0]["read"])


def test_the_comparison_finds_what_differs() -> None:
    assert differences({"a": 1}, {"a": 1.0}, "x") == ["x.a: int and float"]
    assert differences({"a": [{"b": 1}]}, {"a": [{}]}, "x") == ["x.a[].b: only in one"]


def test_the_figures_are_those_of_the_result(ours: Result) -> None:
    (job,) = json.loads(fio_json.encode(ours))["jobs"]
    reads, writes = job["read"], job["write"]
    assert (reads["total_ios"], writes["total_ios"]) == (70, 30)
    assert reads["io_bytes"] == 70 * 8192 and reads["runtime"] == 4000
    assert reads["iops"] == 17.5 and reads["bw"] == 140 and reads["bw_bytes"] == 143360
    assert (reads["iops_min"], reads["iops_max"], reads["iops_mean"]) == (10, 30, 17.5)
    assert reads["iops_stddev"] == pytest.approx(9.574, abs=1e-3) and reads["iops_samples"] == 4
    lat = reads["lat_ns"]
    assert (lat["min"], lat["max"], lat["N"]) == (results.READS[0], results.READS[-1], 70)
    assert lat["mean"] == sum(results.READS) / 70
    assert lat["percentile"]["50.000000"] == pytest.approx(results.READS[34], rel=1 / 128)
    assert sum(lat["bins"].values()) == 70
    assert lat["stddev"] == pytest.approx(977 * 20.35, rel=0.01)
    assert job["trim"]["total_ios"] == 0 and job["sync"]["total_ios"] == 0
    assert sum(job["latency_us"].values()) + sum(job["latency_ms"].values()) == pytest.approx(100)
    assert job["iodepth_level"]["16"] == 100
    options = job["job options"]
    assert (options["rw"], options["bs"], options["iodepth"]) == ("randrw", "8k", "16")
    assert (options["numjobs"], options["rwmixread"]) == ("1", "70")


def test_an_empty_result_has_zeros() -> None:
    (job,) = json.loads(fio_json.encode(results.build(cells=())))["jobs"]
    assert job["read"]["iops"] == 0 and job["read"]["lat_ns"]["N"] == 0
    assert sum(job["latency_us"].values()) == 0


def test_logs_have_the_columns_of_fio(ours: Result, theirs: Path) -> None:
    made = fio_logs.encode(ours)
    for kind, data in made.items():
        real = (theirs / f"L_{kind}.1.log").read_text().splitlines()
        lines = data.decode().splitlines()
        assert {line.count(", ") for line in lines} == {real[0].count(", ")}, kind
        assert all(int(word) >= 0 for line in lines for word in line.split(", "))
    assert made["iops"].decode().splitlines()[:3] == [
        *("1000, 10, 0, 0, 0", "1000, 5, 1, 0, 0", "2000, 20, 0, 0, 0"),
    ]
    assert made["bw"].decode().splitlines()[0] == "1000, 80, 0, 0, 0"
    assert made["lat"].decode().splitlines()[0] == "1000, 5000, 0, 0, 0"
    assert made["slat"].decode().splitlines()[0] == "1000, 1000, 0, 0, 0"
    reads, writes = made["clat_hist"].decode().splitlines()
    counts = [int(word) for word in reads.split(", ")[3:]]
    assert reads.startswith("4000, 0, 8192, ") and sum(counts) == 70
    assert sum(map(int, writes.split(", ")[3:])) == 30
    # fio's buckets of 2^16 to 2^17 ns are 64 of 1024 ns each, from the 704th on.
    first = next(place for place, count in enumerate(counts) if count)
    assert first == 704 + (100_000 - 65536) // 1024


def test_run_writes_the_files(spekctl: Spekctl, kernel: FakeKernel, tmp_path: Path) -> None:
    words = ("run", "random-read-4k", "--device", "/dev/fake0", "--progress", "none")
    exports = ("--fio-json", "out.json", "--fio-logs", "L", "--hdr-log", "out.hlog")
    found = spekctl(*words, *exports)
    assert found.code == ExitCode.OK, found.err
    names = {path.name for path in tmp_path.iterdir()}
    assert names >= {"out.json", "out.hlog", "L_bw.1.log", "L_clat_hist.1.log"}
    (job,) = json.loads((tmp_path / "out.json").read_text())["jobs"]
    assert job["jobname"] == "random-read-4k" and job["job options"]["rw"] == "randread"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--fio-json", "none/x.json"), "there is no directory none"),
        (("--fio-logs", "none/x"), "there is no directory none"),
        (("--hdr-log", "x", "--fio-json", "x"), "--fio-json and --hdr-log are the same file"),
        (("-o", "x", "--hdr-log", "x"), "--output and --hdr-log are the same file"),
        (("--detach", "--fio-json", "x"), "--fio-json cannot be combined with --detach"),
    ],
)
def test_files_that_cannot_be_written_are_refused(
    spekctl: Spekctl, kernel: FakeKernel, words: tuple[str, ...], sentence: str
) -> None:
    found = spekctl("run", "random-read-4k", "--device", "/dev/fake0", *words)
    assert found.code == ExitCode.USAGE and sentence in found.sentence


def test_fio_plot_draws_it(ours: Result, tmp_path: Path) -> None:
    if importlib.util.find_spec("fio_plot") is None:
        pytest.skip("fio-plot is not installed (pip install 'spekctl[test]')")
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "out.json").write_bytes(fio_json.encode(ours))
    words = ["-i", str(folder), "-T", "spek", "-r", "randrw", "-d", "16", "-n", "1"]
    for form in (["-l", "-f", "read"], ["-H", "-f", "write"]):
        output = tmp_path / f"plot{form[0]}.png"
        call = [sys.executable, "-m", "fio_plot", *words, *form, "-o", str(output)]
        done = subprocess.run(call, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        assert output.stat().st_size > 10_000
