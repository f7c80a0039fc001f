# SPDX-License-Identifier: GPL-2.0
"""spekctl gate: results against a file of limits."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest
from lib.ctl.command_line import Spekctl
from lib.ctl.verdicts import IOPS_900, changed, measured, put, results_to_judge
from lib.waiting import LONG_S
from msgspec.structs import replace

from spekctl.errors import ExitCode
from spekctl.gate import formats

results = pytest.fixture(results_to_judge)


def gate(spekctl: Spekctl, tmp_path: Path, text: str, *words: str) -> tuple[int, str, str]:
    (tmp_path / "limits.toml").write_text(text)
    outcome = spekctl("gate", "limits.toml", *words)
    return outcome.code, outcome.out, outcome.err


@pytest.mark.usefixtures("results")
@pytest.mark.parametrize(
    ("text", "files", "code", "said"),
    [
        (IOPS_900, ["good.json"], ExitCode.OK, "passed: 1 limit kept"),
        (IOPS_900, ["good.json", "slow.json"], ExitCode.LIMIT_MISSED, "failed: 1 of 2 limits"),
        (IOPS_900, ["slow.json"], ExitCode.LIMIT_MISSED, "iops is 800 IOPS, less than 900 IOPS"),
        (IOPS_900, ["broken.json"], ExitCode.RUN_FAILED, "failed: 1 of 1 run failed"),
        (
            '[[limit]]\nmetric = "power"\nmax = "5W"',
            ["good.json"],
            ExitCode.UNDECIDED,
            "undecided: 1 limit without a figure",
        ),
        (
            '[[limit]]\nmetric = "power"\nmax = "5W"\n' + IOPS_900,
            ["slow.json"],
            ExitCode.LIMIT_MISSED,
            "failed: 1 of 2 limits missed, 1 limit without a figure",
        ),
        ('[gate]\nreport = ["power"]', ["good.json"], ExitCode.OK, "passed: every run completed"),
        (
            '[[limit]]\nmetric = "response.p99"\nmax = "1ms"',
            ["good.json"],
            ExitCode.OK,
            "passed",
        ),
        (
            '[[limit]]\nmetric = "response.p99"\nmax = "2999999ns"',
            ["slow.json"],
            ExitCode.LIMIT_MISSED,
            "response.p99 is 3000000 ns, more than 2999999 ns",
        ),
        (
            '[[limit]]\nmetric = "read.bandwidth"\nmin = "3MiB/s"\nmax = "4MiB/s"',
            ["good.json"],
            ExitCode.OK,
            "passed",
        ),
        (
            '[[limit]]\nmetric = "time_per_io"\nmax = "1900 instructions"',
            ["counts.json"],
            ExitCode.LIMIT_MISSED,
            "time_per_io is 2,000 instructions, more than 1,900 instructions",
        ),
    ],
)
def test_the_verdict_is_the_exit_code(
    spekctl: Spekctl, tmp_path: Path, text: str, files: list[str], code: ExitCode, said: str
) -> None:
    status, out, err = gate(spekctl, tmp_path, text, *files)
    assert (status, err) == (code, "")
    assert said in out


@pytest.mark.usefixtures("results")
def test_files_that_are_no_limits_or_results_are_refused(spekctl: Spekctl, tmp_path: Path) -> None:
    (tmp_path / "limits.toml").write_text(IOPS_900)
    (tmp_path / "latin1.toml").write_bytes(b"# \xe9\n")
    for words, sentence in (
        (["none.toml", "good.json"], "there is no file none.toml"),
        (["good.json", "good.json"], "good.json is a result of a run; limits are read from TOML"),
        (["latin1.toml", "good.json"], "cannot read latin1.toml: it is not UTF-8 text"),
        (["limits.toml", "none.json"], "there is no file none.json"),
        (["limits.toml", "limits.toml"], "limits.toml is not a spek file; expected a result of a"),
        (["limits.toml", "good.json", "good.json"], "are results of the same run"),
        (["limits.toml"], "missing argument 'RESULT...'"),
    ):
        outcome = spekctl("gate", *words)
        assert outcome.code == ExitCode.USAGE, words
        assert sentence in outcome.sentence


@pytest.mark.usefixtures("results")
def test_limits_may_be_those_of_one_workload(spekctl: Spekctl, tmp_path: Path) -> None:
    head = '[gate]\nworkload = "{}"\n' + IOPS_900
    assert gate(spekctl, tmp_path, head.format("random-read-4k"), "good.json")[0] == ExitCode.OK
    code, _, err = gate(spekctl, tmp_path, head.format("oltp"), "good.json")
    assert code == ExitCode.USAGE
    assert "good.json is a result of the workload random-read-4k; the limits of" in err


@pytest.mark.usefixtures("results")
@pytest.mark.parametrize(
    ("metric", "bound", "file"),
    [
        ("time_per_io", "max = '1us'", "counts.json"),
        ("iops", "min = 5", "counts.json"),
        ("time_per_io", "max = '900 instructions'", "good.json"),
    ],
)
def test_time_is_no_limit_of_instructions(
    spekctl: Spekctl, tmp_path: Path, metric: str, bound: str, file: str
) -> None:
    code, out, err = gate(spekctl, tmp_path, f"[[limit]]\nmetric = '{metric}'\n{bound}", file)
    assert code == ExitCode.USAGE and "failed: 1 of 1 file without a result" in out
    assert f"the limit of {metric} is in" in err and f"{file} has it in" in err


# --- nothing was measured ------------------------------------------------------------------------


def junit_is_red(text: str) -> bool:
    root = ElementTree.fromstring(text)
    return int(root.attrib["failures"]) > 0


def kcidb_is_red(text: str) -> bool:
    return any(test["status"] == "FAIL" for test in json.loads(text)["tests"])


# Whether a consumer of the format that looks at nothing else reports a failure.
RED: dict[str, Callable[[str], bool]] = {
    "text": lambda text: "failed: " in text,
    "json": lambda text: json.loads(text)["verdict"] == "failed",
    "ktap": lambda text: re.search("^not ok [0-9]+ completed$", text, re.MULTILINE) is not None,
    "junit": junit_is_red,
    "lava": lambda text: "TEST_CASE_ID=completed RESULT=fail" in text,
    "kcidb": kcidb_is_red,
    "keyval": lambda text: "completed.pass: 0\n" in text,
}


def nothing(folder: Path, kind: str) -> None:
    """The file result.json, in which nothing was measured."""
    path = folder / "result.json"
    if kind == "empty":
        path.write_text("")
    elif kind == "cut short":
        path.write_text('{"kind": "spek-result", "version"')
    elif kind == "of another kind":
        path.write_text(json.dumps({"kind": "spek-gate", "version": 1}))
    elif kind == "a directory":
        path.mkdir()
    elif kind == "a link to nothing":
        path.symlink_to("gone.json")
    elif kind == "no JSON":
        path.write_text("spekctl: the module is not loaded\n")
    elif kind == "without I/O":
        base = measured(1, 1000.0)
        whole = replace(base.totals.all, ios=0, iops=0.0)
        put(path, changed(base, totals={"all": whole}))
    else:
        assert kind == "absent"


KINDS = ["absent", "empty", "cut short", "of another kind", "no JSON", "without I/O"]
KINDS += ["a directory", "a link to nothing"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("form", formats.NAMES)
def test_every_format_is_red_when_nothing_was_measured(
    spekctl: Spekctl, tmp_path: Path, form: str, kind: str
) -> None:
    nothing(tmp_path, kind)
    (tmp_path / "limits.toml").write_text("[[limit]]\nmetric = 'errors'\nmax = 0\n")
    build = ["--kcidb-build", "me:1"] if form == "kcidb" else []
    words = ["gate", "limits.toml", "result.json", "--format", form, *build]
    outcome = spekctl(*words)
    assert outcome.code == (ExitCode.RUN_FAILED if kind == "without I/O" else ExitCode.USAGE)
    assert RED[form](outcome.out), outcome.out
    if form != "text":
        (tmp_path / "out").write_text("the verdict of an earlier run")
        assert spekctl(*words, "-o", "out").code == outcome.code
        assert RED[form]((tmp_path / "out").read_text())
    if form == "keyval" and kind != "without I/O":
        assert "errors.pass: 0\n" in outcome.out


def test_a_missing_file_does_not_hide_the_results_beside_it(
    spekctl: Spekctl, tmp_path: Path
) -> None:
    put(tmp_path / "result.json", measured(1, 1000.0))
    put(tmp_path / "x y.json", measured(2, 800.0))
    words = ("result.json", "x y.json", "x_y.json", "none/result.json")
    code, out, err = gate(spekctl, tmp_path, IOPS_900, *words, "--format", "lava")
    assert code == ExitCode.USAGE and "there is no file x_y.json" in err
    results = dict(re.findall("TEST_CASE_ID=(\\S+) RESULT=(\\S+?)[ >]", out))
    assert results == {
        **{"result.completed": "pass", "result.iops": "pass"},
        **{"x_y.completed": "pass", "x_y.iops": "fail"},
        **{"x_y-2.completed": "fail", "x_y-2.iops": "fail"},
        **{"result-2.completed": "fail", "result-2.iops": "fail"},
    }


# --- pipes ---------------------------------------------------------------------------------------


def from_stdin(folder: Path, data: bytes, *words: str) -> subprocess.CompletedProcess[bytes]:
    (folder / "limits.toml").write_text(IOPS_900)
    return subprocess.run(
        [sys.executable, "-m", "spekctl", "gate", "limits.toml", *words],
        input=data,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry)},
        capture_output=True,
        timeout=LONG_S,
        check=False,
    )


@pytest.mark.parametrize("name", ["-", "/dev/stdin", "/dev/fd/0"])
def test_a_result_may_come_from_standard_input(tmp_path: Path, name: str) -> None:
    data = put(tmp_path / "slow.json", measured(1, 800.0)).read_bytes()
    done = from_stdin(tmp_path, data, name)
    assert (done.returncode, done.stderr) == (ExitCode.LIMIT_MISSED, b"")
    assert b"iops is 800 IOPS, less than 900 IOPS" in done.stdout


@pytest.mark.parametrize("name", ["-", "/dev/stdin"])
def test_a_run_that_failed_before_the_pipe_is_red(tmp_path: Path, name: str) -> None:
    done = from_stdin(tmp_path, b"", name, "--format", "junit")
    assert done.returncode == ExitCode.USAGE
    assert b"is empty; expected a result of a run" in done.stderr
    assert junit_is_red(done.stdout.decode())


def test_a_closed_standard_input_is_red(tmp_path: Path) -> None:
    (tmp_path / "limits.toml").write_text(IOPS_900)
    done = subprocess.run(
        ["sh", "-c", '"$0" -m spekctl gate limits.toml - --format junit <&-', sys.executable],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry)},
        capture_output=True,
        timeout=LONG_S,
        check=False,
    )
    assert done.returncode == ExitCode.USAGE
    assert done.stderr == b"spekctl: standard input is empty; expected a result of a run\n"
    assert junit_is_red(done.stdout.decode())


def test_a_named_pipe_is_read_once(spekctl: Spekctl, tmp_path: Path) -> None:
    data = put(tmp_path / "good.json", measured(1, 1000.0)).read_bytes()
    os.mkfifo(tmp_path / "pipe.json")
    writer = threading.Thread(target=(tmp_path / "pipe.json").write_bytes, args=(data,))
    writer.start()
    assert gate(spekctl, tmp_path, IOPS_900, "pipe.json")[0] == ExitCode.OK
    writer.join()


def test_p99_999_has_a_limit(spekctl: Spekctl, tmp_path: Path) -> None:
    put(tmp_path / "good.json", measured(1, 1000.0))
    text = "[[limit]]\nmetric = 'response.p99.999'\nmax = '1ns'\n"
    code, out, _ = gate(spekctl, tmp_path, text, "good.json", "--format", "keyval")
    assert code == ExitCode.LIMIT_MISSED
    assert "response.p99_999.pass: 0\n" in out
