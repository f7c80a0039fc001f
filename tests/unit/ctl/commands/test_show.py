# SPDX-License-Identifier: GPL-2.0
"""spekctl show: what a workload is."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from lib.ctl import results
from lib.ctl.command_line import Spekctl
from lib.ctl.fleets import three
from lib.ctl.plot_files import OPEN, write_curve
from lib.fakes.kernel import FakeKernel
from msgspec.structs import replace

from spekctl import files
from spekctl.commands.show import stream_words
from spekctl.documents import document
from spekctl.documents.document import Kind
from spekctl.errors import ExitCode
from spekctl.fleet.merge import merge
from spekctl.workload.model import KEYS, Stream, Zone

MIXED = """
[workload]
name = "mixed"
summary = "a closed loop beside arrivals"
[[arrival]]
name = "loop"
depth = 4
[[arrival]]
name = "rate"
law = "poisson"
rate = 1500000
[[stream]]
name = "a"
size = "4k"
arrival = "loop"
[[stream]]
name = "b"
size = "4k"
arrival = "rate"
"""


def test_show_tells_a_mixed_load_from_a_closed_loop(spekctl: Spekctl, tmp_path: Path) -> None:
    (tmp_path / "mixed.toml").write_text(MIXED)
    text = spekctl("show", "./mixed.toml", "--capacity", "1GiB").out
    assert "closed loop of depth 4 beside 1,500,000 I/Os per second offered" in text


def test_show_says_what_streams_do(spekctl: Spekctl, tmp_path: Path) -> None:
    streams = """
[[stream]]
name = "c"
size = "4k"
operation = "discard"
"""
    (tmp_path / "mixed.toml").write_text(MIXED + streams)
    text = spekctl("show", "./mixed.toml").out
    assert "b: share 1, 100% reads, 4k, uniform" in text
    assert "c: share 1, discard, 4k, uniform" in text


def test_show_rounds_no_share_to_nothing_or_to_all(spekctl: Spekctl, tmp_path: Path) -> None:
    (tmp_path / "few.toml").write_text("""
[workload]
name = "few"
summary = "Few writes, few large ones."
[[stream]]
name = "a"
read = "99.7%"
share = 9999
sizes = [{ size = "4k", share = "99.75%" }, { size = "1MiB", share = "0.25%" }]
[[stream]]
name = "b"
size = "4k"
""")
    text = spekctl("show", "./few.toml", "--capacity", "1GiB").out
    first, second = (line.split() for line in text.splitlines() if line[:2] in ("a ", "b "))
    assert first[1:3] == ["99.99%", "99.7%"] and second[1:3] == ["0.01%", "100%"]
    assert " ".join(first[3:]).startswith("99.75% 4 KiB, 0.25% 1 MiB")


@pytest.mark.parametrize("key", sorted(KEYS.keys() - {"trace", "zones", "fua"}))
def test_show_says_every_key_of_a_stream(key: str) -> None:
    setting: dict[str, Any] = {key: "7777"}
    words = stream_words(Stream(name="a", size="4k", **setting))
    assert re.search(r", [\w/ ]+ 7777$", words)


def test_show_says_what_is_not_the_default_of_a_stream() -> None:
    stream = Stream(name="a", size="4k", fua=True, spread=False, start="0%", range="100%")
    zones = [Zone("60%", "10%"), Zone("40%", "90%")]
    assert stream_words(stream).endswith(", uniform, FUA true, spread false")
    assert stream_words(replace(stream, fua=False, spread=None, zones=zones)).endswith(
        ", uniform, zones 60% in 10%, 40% in 90%"
    )


MAIL = """
[workload]
name = "w"
summary = "a trace"
[[stream]]
name = "mail"
pattern = "trace"
trace = { files = ["mail.csv.gz"], %smap = "wrap" }
"""
SCRUB = """
[[stream]]
name = "scrub"
size = "1MiB"
pattern = "sequential"
"""


@pytest.mark.parametrize(
    ("pace", "words"),
    [
        ("", "at its recorded times"),
        ("speed = 2.5, ", "at 2.5 times its speed"),
        ("rate = 200, ", "at 200 per second"),
        ("rate = 200, bursts = true, ", "at 200 per second on average, with its bursts"),
        ("closed = 4, ", "in a closed loop of depth 4"),
        ("closed = 4, think = true, ", "in a closed loop of depth 4 with think times"),
        ('max_idle = "1s", ', "at its recorded times, idle times of at most 1s"),
    ],
)
def test_show_says_how_a_trace_is_replayed(
    spekctl: Spekctl, tmp_path: Path, pace: str, words: str
) -> None:
    (tmp_path / "w.toml").write_text(MAIL % pace)
    text = spekctl("show", "./w.toml").out
    assert f"mail: trace of mail.csv.gz, {words}, addresses wrap" in text
    assert "arrivals" not in text and "address ranges" not in text
    (tmp_path / "w.toml").write_text(MAIL % pace + SCRUB)
    text = spekctl("show", "./w.toml").out
    assert f"{words}, addresses wrap" in text
    assert "default: closed, depth 1" in text
    assert "scrub: share 1, 100% reads, 1MiB, sequential" in text


def test_show_says_how_arrivals_pause(spekctl: Spekctl, tmp_path: Path) -> None:
    text = """
[workload]
name = "w"
summary = "pauses"
[[arrival]]
name = "a"
law = "poisson"
rate = 5000
on = "100ms"
off = "900ms"
tail = 1.5
[[stream]]
name = "s"
size = "4k"
"""
    (tmp_path / "w.toml").write_text(text)
    text = spekctl("show", "./w.toml", "--capacity", "1GiB").out
    assert "a: poisson, rate 5000, on 100ms, off 900ms, tail 1.5" in text
    assert "500 I/Os per second offered" in text


def test_show_explains(spekctl: Spekctl) -> None:
    text = spekctl("show", "spc1", "--capacity", "10GiB").out
    assert "3-1: share 28.1%, 0% reads" in text
    assert "4831838208" in text
    shown = json.loads(spekctl("show", "spc1", "--capacity", "10GiB", "--json").out)
    assert shown["workload"]["workload"]["name"] == "spc1"
    assert shown["config"]["asus"][0]["bytes"] == 4831838208
    assert (
        "exclude each other" in spekctl("show", "spc1", "--capacity", "1G", "-d", "/dev/x").sentence
    )


VERSION_1 = Path(__file__).parents[1] / "documents" / "version1"


@pytest.mark.parametrize("path", sorted(VERSION_1.iterdir()), ids=lambda path: path.name)
def test_show_says_what_any_file_is(spekctl: Spekctl, path: Path) -> None:
    kind = document.identify(path, list(Kind))
    outcome = spekctl("show", path)
    assert outcome.code == 0 and outcome.err == ""
    assert outcome.out.startswith(f"{path}: {kind.text}, version ")
    assert json.loads(spekctl("show", path, "--json").out)["kind"] == kind


def test_show_of_a_result_has_its_figures(spekctl: Spekctl) -> None:
    lines = spekctl("show", VERSION_1 / "result.json").out.splitlines()
    assert lines[1] == "  written 2026-11-24T11:02:51Z"
    assert any(line.startswith("random-read-4k: closed loop of depth 32") for line in lines)


def test_a_workload_wins_over_a_file_of_its_name(spekctl: Spekctl, tmp_path: Path) -> None:
    (tmp_path / "oltp").write_text("{}")
    assert spekctl("show", "oltp").out.startswith("oltp: ")


REFUSED = {
    "{result} --bsu 3": "and --bsu exclude each other: it is a result of a run, not a workload",
    "other.json": "other.json is not a spek file; expected a workload or a file that spekctl has",
    "half.json": "half.json is not valid JSON",
    "job.fio": "to use the file, write fio:job.fio",
    "fio:": "'fio:' names no file; write fio:FILE",
}


@pytest.mark.parametrize("line", REFUSED)
def test_show_refuses_in_one_sentence(
    spekctl: Spekctl, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("other.json").write_text('{"jobs": []}')
    Path("half.json").write_text('{"kind": ')
    Path("job.fio").write_text("[a]\nrw=read\n")
    outcome = spekctl("show", *line.format(result=VERSION_1 / "result.json").split())
    assert (outcome.code, outcome.out) == (2, "")
    assert REFUSED[line] in outcome.sentence


def test_show_explains_imported_workloads(spekctl: Spekctl, tmp_path: Path) -> None:
    (tmp_path / "job.fio").write_text("[a]\nrw=randread\nbs=8k\nfilename=/dev/x\n")
    outcome = spekctl("show", f"fio:{tmp_path / 'job.fio'}")
    assert outcome.code == 0
    assert "  a: share 100, 100% reads, 8192, once" in outcome.out.splitlines()


def stored(path: Path, host: str) -> None:
    """A file with the result of a run on this host."""
    result = results.build()
    result = replace(result, environment=replace(result.environment, hostname=host))
    path.write_bytes(files.encode(result))


def test_results_of_hosts_are_clients_of_fio(spekctl: Spekctl, tmp_path: Path) -> None:
    for host in ("alpha", "beta"):
        stored(tmp_path / f"{host}.json", host)
    done = spekctl("show", "alpha.json", "beta.json", "--fio-json", "all.json")
    assert (done.code, done.out) == (ExitCode.OK, "")
    exported = json.loads((tmp_path / "all.json").read_text())
    hosts = [client["hostname"] for client in exported["client_stats"]]
    assert hosts == ["alpha", "beta", "All clients"] and "jobs" not in exported
    assert spekctl("show", "alpha.json", "--fio-json", "one.json").code == ExitCode.OK
    (job,) = json.loads((tmp_path / "one.json").read_text())["jobs"]
    assert job["read"]["total_ios"] == 70


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["r.json", "r.json"], "show takes one workload or file, not 2; several results need"),
        (["r.json", "--fio-json", "r.json"], "--fio-json r.json would overwrite the input r.json"),
        (["r.json", "--fio-json", "none/x"], "there is no directory none"),
        (["spc1", "--fio-json", "x"], "there is no file spc1"),
        (["r.json", "--json", "--fio-json", "x"], "--fio-json and --json exclude each other"),
        (["r.json", "--json", "--csv", "x"], "--csv and --json exclude each other"),
        (["r.json", "--csv", "r.json"], "--csv r.json would overwrite the input r.json"),
        (["r.json", "--csv", "x", "--hdr-log", "x"], "--hdr-log and --csv are the same file"),
        (["r.json", "-o", "x"], "--output needs --csv without a FILE as well"),
        (["r.json", "--csv", "x", "-o", "y"], "--output needs --csv without a FILE as well"),
        (["r.json", "r.json", "--csv", "x"], "--csv takes one result, not 2"),
        (["r.json", "r.json", "--fio-json", "x", "--hdr-log", "y"], "--hdr-log takes one result"),
        (["r.json", "--csv", "x"], "--csv has nothing to write: the result has no report"),
    ],
)
def test_results_that_cannot_be_written_are_refused(
    spekctl: Spekctl, tmp_path: Path, words: list[str], sentence: str
) -> None:
    stored(tmp_path / "r.json", "alpha")
    before = (tmp_path / "r.json").read_bytes()
    done = spekctl("show", *words)
    assert done.code == ExitCode.USAGE and sentence in done.sentence
    assert (tmp_path / "r.json").read_bytes() == before and not (tmp_path / "x").exists()


def test_a_saved_result_is_exported_as_the_run_that_it_is_of(
    spekctl: Spekctl, kernel: FakeKernel, tmp_path: Path
) -> None:
    words = ("run", "random-read-4k", "--device", "/dev/fake0", "--progress", "none")

    def exports(name: str) -> tuple[str, ...]:
        folder = tmp_path / name
        folder.mkdir()
        files = ("--csv", "a.csv", "--hdr-log", "a.hlog", "--fio-logs", "L", "--fio-json", "a.json")
        return tuple(str(folder / word) if word[0] != "-" else word for word in files)

    assert spekctl(*words, "-o", "r.json", *exports("run")).code == ExitCode.OK
    done = spekctl("show", "r.json", *exports("saved"))
    assert (done.code, done.out, done.err) == (ExitCode.OK, "", "")
    written = {path.name: path.read_bytes() for path in (tmp_path / "run").iterdir()}
    assert len(written) == 9 and all(written.values())
    assert {path.name: path.read_bytes() for path in (tmp_path / "saved").iterdir()} == written


def test_intervals_of_a_saved_result_go_to_standard_output(
    spekctl: Spekctl, kernel: FakeKernel, tmp_path: Path
) -> None:
    words = ("run", "random-read-4k", "--device", "/dev/fake0", "--progress", "none")
    assert spekctl(*words, "-o", "r.json", "--csv", "r.csv").code == ExitCode.OK
    text = (tmp_path / "r.csv").read_text()
    assert spekctl("show", "r.json", "--csv", "-o", "again.csv").code == ExitCode.OK
    assert (tmp_path / "again.csv").read_text() == text
    program = [sys.executable, "-m", "spekctl", "show", "r.json", "--csv"]
    done = subprocess.run(program, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == text


def test_a_fleet_is_shown_and_exported(spekctl: Spekctl, tmp_path: Path) -> None:
    path = tmp_path / "fleet.json"
    path.write_bytes(files.encode(merge(three())))
    shown = spekctl("show", path)
    assert shown.code == ExitCode.OK and "common window: 180 IOPS, 1.4 MiB/s" in shown.out
    fields = json.loads(spekctl("show", path, "--json").out)
    assert fields["common"]["all"]["ios"] == 720 and len(fields["hosts"]) == 3
    fio = tmp_path / "fio.json"
    assert spekctl("show", path, "--fio-json", fio).code == ExitCode.OK
    assert len(json.loads(fio.read_text())["client_stats"]) == 4
    assert spekctl("show", path, "--csv").out.startswith("interval,phase,")
    assert spekctl("gate", limits(tmp_path), path).code == ExitCode.OK


def limits(folder: Path) -> Path:
    path = folder / "limits.toml"
    path.write_text('[[limit]]\nmetric = "iops"\nmin = 179\nmax = 181\n')
    return path


SHEET = """
title = "a drive"
sources = ["its data sheet"]
[[claim]]
name = "reads"
iops = 100
"""


def test_a_result_is_shown_beside_a_data_sheet(spekctl: Spekctl, tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(SHEET)
    path = write_curve(tmp_path / "c.json", OPEN)
    sheet = ("--data-sheet", str(tmp_path / "s.toml"))
    outcome = spekctl("show", str(path), *sheet)
    assert outcome.code == 0, outcome.err
    lines = outcome.out.splitlines()
    assert any(line.startswith("against the data sheet of a drive") for line in lines)
    assert any(line.startswith("reads, IOPS") and line.endswith(" %") for line in lines)
    for words, sentence in (
        (("random-read-4k",), "random-read-4k is a workload, which has no measured figures"),
        ((str(path), "--json"), "--data-sheet and --json exclude each other"),
    ):
        refusal = spekctl("show", *words, *sheet)
        assert refusal.code == ExitCode.USAGE and sentence in refusal.sentence
    refusal = spekctl("show", str(path), "--data-sheet", "missing")
    assert refusal.code == ExitCode.USAGE and "there is no model 'missing'" in refusal.sentence
