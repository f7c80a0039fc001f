# SPDX-License-Identifier: GPL-2.0
"""Every kind of document with every export: the right file, or what the kind has instead."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from lib.ctl import report_files, sweep_command
from lib.ctl.command_line import Spekctl, run_ok
from lib.ctl.fleets import Spec, result_of, three
from lib.ctl.plot_files import OPEN, write_curve
from lib.ctl.results import build
from lib.ctl.verdicts import measured, put
from lib.fakes.kernel import FakeKernel
from msgspec.structs import replace

from spekctl.documents.document import Kind
from spekctl.documents.not_results import instead
from spekctl.documents.result import Result, load_result
from spekctl.documents.result_parts import ReplayResult
from spekctl.errors import ExitCode
from spekctl.exports.fio_logs import paths
from spekctl.fleet.merge import merge

STORED = Path(__file__).parents[1] / "documents/version1"
# Options with the name that each is given here, and the files that it writes.
EXPORTS = {
    "--csv": ("out.csv", ["out.csv"]),
    "--fio-json": ("out.fio", ["out.fio"]),
    "--hdr-log": ("out.hlog", ["out.hlog"]),
    "--fio-logs": ("out", sorted(str(path) for path in paths(Path("out")).values())),
}
FIGURES = "the file has its figures as JSON"
NOT_KEPT = "the results of its runs were not kept; --folder DIR keeps them"
# What the documents of report_files.MAKERS have instead of a result.
INSTEAD = {
    **dict.fromkeys(("curve", "spc1", "spc2", "pts", "emerald"), NOT_KEPT),
    "gate": "it judged run-0.json and run-2.json",
    "comparison": "it judged run-0.json, run-2.json, run-4.json and 9 more",
    **dict.fromkeys(("spc1e", "spc2e", "dcse", "capacity", "simulation", "study"), FIGURES),
    **dict.fromkeys(("info", "fit", "verify", "profile", "states"), FIGURES),
    "machine": "`spekctl show --csv` alone writes its samples, `spekctl report` draws them",
    "log": "`spekctl log` has its figures, and with --csv its I/Os",
    "stored": "`spekctl trace convert` writes it as CSV, and for fio and blkparse",
}
HAVE_CSV = ("curve", "machine")


def show(spekctl: Spekctl, path: Path, option: str) -> Any:
    return spekctl("show", path.name, option, EXPORTS[option][0])


def written(folder: Path) -> dict[str, bytes]:
    """The files of exports."""
    return {path.name: path.read_bytes() for path in sorted(folder.glob("out*"))}


def test_the_table_has_every_kind_that_reports_are_made_of() -> None:
    assert set(INSTEAD) == set(report_files.MAKERS) - {"run"}


@pytest.mark.parametrize("option", EXPORTS)
@pytest.mark.parametrize("name", INSTEAD)
def test_a_kind_without_this_export_says_what_it_has(
    spekctl: Spekctl, tmp_path: Path, name: str, option: str
) -> None:
    path = report_files.make(tmp_path, name)
    shown = show(spekctl, path, option)
    if name in HAVE_CSV and option == "--csv":
        assert shown.code == ExitCode.OK and list(written(tmp_path)) == ["out.csv"]
        return
    assert (shown.code, shown.out) == (ExitCode.USAGE, "")
    assert shown.sentence.startswith(f"{path.name} is ")
    assert shown.sentence.endswith(f"; expected a result of a run; {INSTEAD[name]}")
    assert not written(tmp_path)


NONE_COMPLETED = "none of its runs has completed"
# Of a file of each kind that names no other file.
ALONE = {
    Kind.LOG: INSTEAD["log"],
    Kind.TRACE: INSTEAD["stored"],
    Kind.PROBER: INSTEAD["machine"],
    Kind.PLAN: "`spekctl watch` makes the result of a detached run",
    Kind.VERIFY_STATE: "the result is the file that -o of that run named",
    Kind.IDLE: "no I/O was sent in it",
    Kind.AB_STATE: "the results of its runs are a1.json, b1.json and so on, beside it",
    **dict.fromkeys((Kind.CURVE, Kind.SPC1, Kind.SPC2, Kind.PTS, Kind.EMERALD), NOT_KEPT),
    **dict.fromkeys((Kind.SWEEP_STATE, Kind.SPC1_STATE, Kind.SPC2_STATE), NONE_COMPLETED),
    **dict.fromkeys((Kind.PTS_STATE, Kind.EMERALD_STATE), NONE_COMPLETED),
    **dict.fromkeys((Kind.GATE, Kind.COMPARISON), "it judged no result"),
    **dict.fromkeys((Kind.SPC1E, Kind.SPC2E, Kind.DCSE, Kind.CAPACITY), FIGURES),
    **dict.fromkeys((Kind.TRACE_INFO, Kind.TRACE_FIT, Kind.VERIFY, Kind.PROFILE), FIGURES),
    **dict.fromkeys((Kind.DRIVE_SIMULATION, Kind.DRIVE_STUDY, Kind.POWER_STATES), FIGURES),
    **dict.fromkeys((Kind.AUGMENT_STATUS, Kind.AUGMENT_CHECK), FIGURES),
}


@pytest.mark.parametrize("kind", [kind for kind in Kind if kind is not Kind.RESULT])
def test_every_kind_says_what_it_has(kind: Kind) -> None:
    assert instead(kind, b"{}") == ALONE[kind]


@pytest.mark.parametrize(
    ("state", "names"),
    [
        ("spc1-state", "the result of its run is 01-search-1.json, beside it"),
        (
            "emerald-state",
            "the results of its runs are 001-conditioning.json and 002-random-read.json, beside it",
        ),
    ],
)
def test_the_kept_results_of_a_campaign_are_named(spekctl: Spekctl, state: str, names: str) -> None:
    shown = spekctl("show", STORED / f"{state}.json", "--hdr-log", "out.hlog")
    assert shown.sentence.endswith(names)


def test_a_verdict_on_a_campaign_names_its_results_as_well(
    spekctl: Spekctl, tmp_path: Path
) -> None:
    points = [
        replace(point, result_file=f"{number}.json") for number, point in enumerate(OPEN, start=1)
    ]
    write_curve(tmp_path / "curve.json", points)
    put(tmp_path / "good.json", measured(1))
    (tmp_path / "limits.toml").write_text("[[limit]]\nmetric = 'errors'\nmax = 0\n")
    said = (
        "curve.json is a load curve; expected a result of a run; the results of its runs are"
        " 1.json, 2.json, 3.json and 1 more, beside it"
    )
    for words in (
        ["gate", "limits.toml", "curve.json"],
        ["compare", "good.json", "--", "curve.json"],
        ["fleet", "merge", "good.json", "curve.json"],
        ["show", "curve.json", "--fio-json", "out.fio"],
    ):
        outcome = spekctl(*words)
        assert (outcome.code, outcome.sentence) == (ExitCode.USAGE, said), words


def test_a_curve_is_the_same_table_as_the_sweep_prints(
    spekctl: Spekctl, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sweep_command.queue_kernel(monkeypatch, tmp_path)
    words = ("sweep", *sweep_command.READ, "--depth", "1,2", "-o", "curve.json", "--csv")
    swept = spekctl(*words)
    assert swept.code == ExitCode.OK, swept.err
    assert show(spekctl, Path("curve.json"), "--csv").code == ExitCode.OK
    assert Path("out.csv").read_text() == swept.out
    rows = list(csv.DictReader(swept.out.splitlines()))
    assert [row["load"] for row in rows] == ["1", "2"]
    assert all(int(row["response_p999_ns"]) >= int(row["response_p50_ns"]) > 0 for row in rows)


def test_the_samples_of_a_prober_are_a_row_each(spekctl: Spekctl, tmp_path: Path) -> None:
    path = report_files.make(tmp_path, "machine")
    assert show(spekctl, path, "--csv").code == ExitCode.OK
    table = list(csv.DictReader(written(tmp_path)["out.csv"].decode().splitlines()))
    report = json.loads(path.read_bytes())
    assert len(table) == len(report["start_ns"]) == 3
    assert [row["start_ns"] for row in table] == ["0", "1000000000", "2000000000"]
    assert {row["machine-cpu.busy (%)"] for row in table} == {"25.0"}


@pytest.mark.parametrize("name", HAVE_CSV)
def test_a_table_without_rows_is_refused(spekctl: Spekctl, tmp_path: Path, name: str) -> None:
    path = report_files.make(tmp_path, name)
    fields = json.loads(path.read_bytes())
    fields |= {"points": []} if name == "curve" else {"start_ns": [], "end_ns": [], "tables": []}
    path.write_text(json.dumps(fields))
    shown = show(spekctl, path, "--csv")
    assert shown.code == ExitCode.USAGE
    assert shown.sentence.endswith("in which nothing was measured")
    assert not written(tmp_path)


# --- results -------------------------------------------------------------------------------------


def replayed() -> Result:
    names = ("records", "fed", "issued", "shifted", "grown", "unordered", "underruns", "bad")
    times = ("underrun_ns", "underrun_first_ns", "underrun_last_ns", "dry_ns", "max_idle_ns")
    fields = {field.name: field for field in msgspec.structs.fields(ReplayResult)}
    given: dict[str, Any] = dict.fromkeys((*names, *times, "idles", "idle_ns"), 0)
    given |= {"files": ["t"], "format": "msr", "pace": "original", "speed": 1.0, "map": "wrap"}
    given |= {"complete": True, "skipped": {}, "text": "", "think": False, "share": "address"}
    given |= {"rate": None, "depth": None}
    replay = ReplayResult(**{name: value for name, value in given.items() if name in fields})
    return replace(of_intervals(), replay=replay)


def of_intervals() -> Result:
    return result_of(Spec("alpha"))


RESULTS: dict[str, Callable[[], Result]] = {
    "run": of_intervals,
    "replay": replayed,
    "fleet": lambda: merge(three()),
    "stored": lambda: load_result(STORED / "result.json"),
}


@pytest.mark.parametrize("name", RESULTS)
def test_every_result_has_every_export(spekctl: Spekctl, tmp_path: Path, name: str) -> None:
    result = RESULTS[name]()
    path = put(tmp_path / "result.json", result)
    for option, (_, names) in EXPORTS.items():
        assert show(spekctl, path, option).code == ExitCode.OK, option
        assert set(names) <= set(written(tmp_path))
    files = written(tmp_path)
    whole = result.totals.all.ios
    table = list(csv.DictReader(files["out.csv"].decode().splitlines()))
    measure = [row for row in table if row["phase"] == "measure" and not row["stream"]]
    if measure:
        assert sum(int(row["ios"]) for row in measure) == whole
    fio = json.loads(files["out.fio"])
    job = fio["jobs"][0] if result.hosts is None else fio["client_stats"][-1]
    assert job["read"]["total_ios"] + job["write"]["total_ios"] == whole
    assert job["read"]["clat_ns"]["percentile"]["99.000000"] > 0
    lines = files["out.hlog"].decode().splitlines()
    assert any(line.startswith("Tag=response.read,") for line in lines)
    logged = [line.split(", ") for line in files["out_clat_hist.1.log"].decode().splitlines()]
    assert sum(sum(map(int, line[3:])) for line in logged) == whole


def test_a_run_writes_what_show_makes_of_its_result(
    spekctl: Spekctl, kernel: FakeKernel, tmp_path: Path
) -> None:
    given = [word for option, (name, _) in EXPORTS.items() for word in (option, name)]
    done = run_ok(spekctl, *given, "-o", "result.json", "--progress", "none")
    assert done.code == ExitCode.OK, done.err
    first = written(tmp_path)
    assert sorted(first) == sorted(name for _, names in EXPORTS.values() for name in names)
    for name in first:
        (tmp_path / name).unlink()
    assert spekctl("show", "result.json", *given).code == ExitCode.OK
    assert written(tmp_path) == first


def test_a_merged_fleet_writes_what_show_makes_of_its_result(
    spekctl: Spekctl, tmp_path: Path
) -> None:
    for name in ("alpha", "beta"):
        put(tmp_path / f"{name}.json", result_of(Spec(name)))
    given = [word for option, (name, _) in EXPORTS.items() for word in (option, name)]
    words = ["fleet", "merge", "alpha.json", "beta.json", "-o", "whole.json"]
    assert spekctl(*words, *given).code == ExitCode.OK
    first = written(tmp_path)
    assert len(first) == 9
    for name in first:
        (tmp_path / name).unlink()
    assert spekctl("show", "whole.json", *given).code == ExitCode.OK
    assert written(tmp_path) == first


@pytest.mark.parametrize("option", ["--hdr-log", "--fio-logs"])
def test_times_of_no_io_are_refused(spekctl: Spekctl, tmp_path: Path, option: str) -> None:
    base = of_intervals()
    whole = replace(base.totals, all=replace(base.totals.all, ios=0))
    path = put(tmp_path / "zero.json", replace(base, totals=whole))
    shown = show(spekctl, path, option)
    assert shown.code == ExitCode.USAGE
    said = f"{option} has nothing to write: no I/O completed in the measure phase"
    assert shown.sentence == said
    assert not written(tmp_path)


def test_intervals_of_none_are_refused(spekctl: Spekctl, tmp_path: Path) -> None:
    path = put(tmp_path / "none.json", replace(build(), intervals=[]))
    shown = show(spekctl, path, "--csv")
    assert shown.code == ExitCode.USAGE
    assert "--csv has nothing to write: the result has no report intervals" in shown.sentence
    assert not written(tmp_path)
