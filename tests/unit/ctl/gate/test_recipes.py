# SPDX-License-Identifier: GPL-2.0
"""Recipes: their YAML is that of their consumers, their commands exist, their scripts do it."""

from __future__ import annotations

import importlib.resources
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from lib.build.sources import ROOT
from lib.ctl.command_line import options_are_known
from lib.ctl.verdicts import changed, measured, put
from lib.waiting import LONG_S

from spekctl import cli
from spekctl.documents.result import Result
from spekctl.errors import ExitCode
from spekctl.gate import limits

RECIPES = ROOT / "ctl/recipes"
# spekctl, however it is called, and its arguments up to the end of the command.
CALL = re.compile(r'(?:^|[\s/])"?\$?\{?spekctl\}?"? ((?:vm|run|gate|compare) [^\n|]*)')


def texts() -> list[str]:
    scripts = ["kernel-gate", "lkp/run", "gitlab-ci.yml", "github-actions.yml", "lava.yml"]
    return [(RECIPES / name).read_text().replace("\\\n", " ") for name in scripts]


def calls() -> list[list[str]]:
    commands = []
    for text in texts():
        lines = (line for line in text.splitlines() if not line.lstrip().startswith("#"))
        for line in lines:
            for call in CALL.findall(line):
                words = shlex.split(call.partition(" >")[0])
                commands.append([word for word in words if word not in ("$run", "$@")])
    return commands


def test_commands_have_the_options_that_they_are_given() -> None:
    commands = calls()
    assert [command[0] for command in commands].count("gate") == 3
    assert {command[0] for command in commands} == {"vm", "run", "gate", "compare"}
    for words in commands:
        if words[0] == "vm":
            # What it runs is in a variable: checked as it is by default.
            inner = words.index("--")
            words[inner + 1 : inner + 1] = ["run", "random-read-4k", "--count", "200000"]
        options_are_known(cli.cli, words)
    assert "RUN:-run random-read-4k --count 200000}" in texts()[0]


@pytest.mark.parametrize(
    ("name", "schema"),
    [("gitlab-ci.yml", "gitlab-ci.json"), ("github-actions.yml", "github-workflows.json")],
)
def test_jobs_are_valid_for_their_service(name: str, schema: str) -> None:
    folder = importlib.resources.files("check_jsonschema") / "builtin_schemas/vendor"
    rules = json.loads((folder / schema).read_text())
    jobs = yaml.safe_load((RECIPES / name).read_text())
    # YAML 1.1 reads the key `on` as true.
    jobs = {"on" if key is True else key: value for key, value in jobs.items()}
    jsonschema.validators.validator_for(rules)(rules).validate(jobs)


def test_the_lava_definition_has_what_lava_demands() -> None:
    definition = yaml.safe_load((RECIPES / "lava.yml").read_text())
    assert definition["metadata"]["format"] == "Lava-Test Test Definition 1.0"
    assert not set(definition["metadata"]["name"]) & set("$& \"'`()<>/\\|;")
    steps = definition["run"]["steps"]
    assert steps and all(isinstance(step, str) for step in steps)
    used = set(re.findall(r"\$(\w+)", " ".join(steps)))
    assert used == set(definition["params"])


def test_the_lkp_program_says_what_it_takes_and_reports() -> None:
    program = yaml.safe_load((RECIPES / "lkp/meta.yaml").read_text())
    script = (RECIPES / "lkp/run").read_text()
    assert set(program["parameters"]) == {"device", "workload", "runtime"}
    assert all(re.search(rf"\$\{{{name}:", script) for name in program["parameters"])
    reported = limits.load(RECIPES / "lkp/report.toml").limits
    told = {f"spek.{figure.metric.name}" for figure in reported} | {"spek.completed.pass"}
    assert set(program["results"]) == told


def test_the_example_of_limits_is_valid() -> None:
    example = limits.load(RECIPES / "limits.toml")
    assert (example.workload, len(example.limits)) == ("random-read-4k", 6)


# --- scripts -------------------------------------------------------------------------------------

# Stands for spekctl: vm and run put a prepared result in place, all else is the real one.
STUB = """#!/bin/sh
echo "$*" >>"$CALLS"
case "$1" in
vm)
    [ "$FAIL" != vm ] || exit 125
    while [ "$1" != --folder ]; do shift; done
    cp -r "$PREPARED" "$2"
    exit "$STATUS" ;;
run)
    [ "$FAIL" != run ] || exit 125
    while [ "$1" != -o ]; do shift; done
    cp "$PREPARED/$(basename "$2")" "$2" ;;
*)
    exec "$PYTHON" -m spekctl "$@" ;;
esac
"""


def script(
    folder: Path,
    *words: str,
    results: dict[str, Result],
    fail: str = "",
    status: int = 0,
    **variables: str,
) -> tuple[subprocess.CompletedProcess[str], list[str]]:
    (folder / "spekctl").write_text(STUB)
    (folder / "spekctl").chmod(0o755)
    (folder / "calls").write_text("")
    (folder / "prepared").mkdir(exist_ok=True)
    for name, result in results.items():
        put(folder / "prepared" / name, result)
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry),
        "PYTHON": sys.executable,
        "SPEKCTL": str(folder / "spekctl"),
        "CALLS": str(folder / "calls"),
        "PREPARED": str(folder / "prepared"),
        "FAIL": fail,
        "STATUS": str(status),
        **variables,
    }
    done = subprocess.run(
        list(words),
        env=environment,
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=LONG_S,
    )
    called = (folder / "calls").read_text().replace(str(folder), "HERE")
    return done, called.splitlines()


def of_kernels(a: float, b: float) -> dict[str, Result]:
    """Two boots of each kernel, with these instructions per I/O, which repeat within 0.02 %."""
    by_file: dict[str, Result] = {}
    for number, (name, cost) in enumerate((("a1", a), ("b1", b), ("b2", b * 1.0002), ("a2", a))):
        result: Any = measured(number, 1e9 / cost, counts=True)
        by_file[f"{name}.json"] = changed(result, environment={"kernel": name[0]})
    return by_file


GATE = str(RECIPES / "kernel-gate")


@pytest.mark.parametrize(
    ("b", "code", "said"),
    [
        (1500.5, ExitCode.OK, "same: cpu_per_io"),
        (1515, ExitCode.LIMIT_MISSED, "worse: cpu_per_io +1.01 %"),
        (1507.5, ExitCode.UNDECIDED, "undecided: cpu_per_io"),
    ],
)
def test_the_kernel_gate_boots_both_in_turn_and_compares(
    tmp_path: Path, b: float, code: ExitCode, said: str
) -> None:
    words = (GATE, "6.12", "../tree", "out")
    done, called = script(tmp_path, *words, results=of_kernels(1500, b), status=code)
    assert (done.returncode, done.stderr) == (code, "")
    assert said in done.stdout
    run = "run random-read-4k --count 200000 --device {disk1}"
    assert called[0] == f"vm --ab 6.12 ../tree --folder out --disk null_blk,size=1G -- {run}"
    files = [f"out/{name}.json" for name in ("a1", "a2", "b1", "b2")]
    expected = ["compare", "--vary", "kernel", *files[:2], "--", *files[2:]]
    assert called[1:] == [" ".join(expected)]


def test_the_kernel_gate_names_functions_if_it_is_told_to(tmp_path: Path) -> None:
    _, called = script(
        tmp_path, GATE, "6.1", "6.12", "out", results=of_kernels(1500, 1515), FUNCTIONS="1"
    )
    assert "--folder out --functions --disk null_blk,size=1G --" in called[0]
    profiles = "compare --vary kernel --profiles out/a-profile.json out/b-profile.json out/a1.json"
    assert called[1].startswith(profiles)


def test_options_of_the_kernel_gate_are_those_of_compare(tmp_path: Path) -> None:
    words = ("6.1", "6.12", "out", "--tolerance", "5%", "--format", "junit", "-o", "out/x.xml")
    done, _ = script(tmp_path, GATE, *words, results=of_kernels(1500, 1515), RUN="run oltp")
    assert done.returncode == ExitCode.OK
    assert "<testsuites" in (tmp_path / "out/x.xml").read_text()


def test_the_kernel_gate_ends_with_a_guest_that_fails(tmp_path: Path) -> None:
    done, called = script(tmp_path, GATE, "6.1", "6.12", "out", results={}, fail="vm")
    assert (done.returncode, len(called)) == (125, 1)


def test_the_kernel_gate_explains_itself(tmp_path: Path) -> None:
    done, called = script(tmp_path, GATE, "6.1", results={})
    assert (done.returncode, called) == (2, [])
    assert "kernel-gate BASE PATCHED DIR" in done.stderr


def test_the_lkp_program_runs_and_its_figures_are_found(tmp_path: Path) -> None:
    done, called = script(
        tmp_path,
        str(RECIPES / "lkp/run"),
        results={"spek.json": measured(1, 1234.5)},
        device="/dev/x",
        workload="oltp",
        TMP_RESULT_ROOT=str(tmp_path),
    )
    assert done.returncode == 0, done.stderr
    assert called[0].startswith("run oltp --device /dev/x --ramp 10s --time 60s")
    parsed = subprocess.run(
        [str(RECIPES / "lkp/parse")],
        input=f"noise: of others\n{done.stdout}spek: ok 3\n",
        capture_output=True,
        text=True,
        check=True,
    )
    figures = dict(line.split(": ") for line in parsed.stdout.splitlines())
    assert figures["iops"] == "1234.5" and figures["completed.pass"] == "1"
    assert set(figures) == {
        *("completed.pass", "iops", "response.mean", "response.p99"),
        *("cpu_per_io", "switches_per_io"),
    }


def test_the_lkp_program_fails_with_its_run(tmp_path: Path) -> None:
    lkp = str(RECIPES / "lkp/run")
    (tmp_path / "spek.json").write_text("the result of an earlier job")
    done, called = script(tmp_path, lkp, results={}, fail="run", device="/dev/x")
    assert (done.returncode, len(called)) == (125, 2)
    assert done.stdout == "completed.pass: 0\n"
    done, _ = script(tmp_path, lkp, results={"spek.json": measured(1, ok=False)}, device="/dev/x")
    assert done.returncode == ExitCode.RUN_FAILED and "completed.pass: 0\n" in done.stdout
    done, called = script(tmp_path, lkp, results={})
    assert done.returncode != 0 and not called


# --- jobs whose run leaves no result -------------------------------------------------------------


def job(folder: Path, lines: list[str], **variables: str) -> subprocess.CompletedProcess[str]:
    """The commands of a job, whose run fails, as its runner executes them: in one shell, up to the
    first that fails."""
    (folder / "bin").mkdir(exist_ok=True)
    (folder / "bin/spekctl").symlink_to(folder / "spekctl")
    (folder / "bin/modprobe").write_text("#!/bin/sh\necho 'no such module' >&2\nexit 1\n")
    (folder / "bin/modprobe").chmod(0o755)
    path = f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
    text = "set -e\n" + "\n".join(lines)
    exported = [f"{name}={value}" for name, value in {**variables, "PATH": path}.items()]
    words = ("env", *exported, "bash", "-c", text)
    return script(folder, *words, results={}, fail="run")[0]


def test_the_lava_test_fails_without_a_module(tmp_path: Path) -> None:
    definition = yaml.safe_load((RECIPES / "lava.yml").read_text())
    params = {**definition["params"], "LIMITS": str(RECIPES / "limits.toml")}
    put(tmp_path / "spek.json", measured(1, 100_000.0))
    done = job(tmp_path, definition["run"]["steps"], **params)
    assert "TEST_CASE_ID=completed RESULT=fail" in done.stdout
    assert "RESULT=pass" not in done.stdout
    assert done.returncode == ExitCode.USAGE


def test_the_gitlab_job_of_a_device_fails_without_a_result(tmp_path: Path) -> None:
    of_device = yaml.safe_load((RECIPES / "gitlab-ci.yml").read_text())["spek-device"]
    lines = [line.replace("$SPEK/.venv/bin/spekctl", "spekctl") for line in of_device["script"]]
    put(tmp_path / "device.json", measured(1, 100_000.0))
    variables = {"SPEK": str(ROOT), "TEST_DEVICE": "/dev/x"}
    done = job(tmp_path, lines, **variables)
    assert done.returncode == ExitCode.USAGE
    assert "<failure" in (tmp_path / "device.xml").read_text()
    # Code 8 of gate: there is no figure for a limit.
    assert "allow_failure" not in of_device
