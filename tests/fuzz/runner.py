# SPDX-License-Identifier: GPL-2.0
"""Runs fuzz targets, in C and in Python, side by side: short and the same each time, or long."""

from __future__ import annotations

import functools
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from fuzz import c_build
from fuzz.python_targets import TARGETS as PYTHON

ROOT = Path(__file__).resolve().parents[2]
SEEDS = c_build.SEEDS
# What long runs have found out about the inputs, and inputs that broke something.
KEPT = ROOT / "out" / "fuzz"

# Targets in C with the runs of the short version.
C: dict[str, int] = {
    "core_workload": 4000,
    "core_numbers": 2000,
    "core_sense": 5000,
    "drive_scsi": 10000,
    "rail": 10000,
    "u6": 10000,
    "modbus": 20000,
    "powersensor3": 10000,
    "quarch": 10000,
    "daq_text": 10000,
    "daq_csv": 10000,
    "daq_lines": 10000,
    "daq_rails": 6000,
    "daq_sysfs": 800,
    "daq_clock": 6000,
    "daq_push": 3000,
}
# So many that most of the time is theirs, not of the start, which takes two seconds.
PYTHON_RUNS = {
    **{"workload": 800, "resolve": 800, "rails": 300, "logs": 300, "documents": 800},
    **{"trace_text": 600, "trace_binary": 600, "fio": 1200, "helper": 1200, "helper_said": 1200},
    **{"host": 400, "host_said": 1200},
}
PYTHON_DEFAULT = 3000
# A single input; a machine under load must not look like an endless loop.
HANG_S = 180
# All inputs of a short run, which take seconds.
HANG_ALL_S = 1800
TIMED_OUT = 124  # timeout's exit code
MEMORY_MB = {"c": 2048, "python": 1024}


@dataclass(frozen=True)
class Outcome:
    """How a target has fared."""

    name: str
    code: int
    output: str
    # the inputs that were kept, each by its content
    learnt: frozenset[str] = frozenset()

    @property
    def summary(self) -> str:
        """libFuzzer's own last line, and where an input that broke something is."""
        words = ("DONE", "ERROR:", "SUMMARY:", "written to", "broken:", "Error:", "No such", "took")
        lines = [line for line in self.output.splitlines() if any(word in line for word in words)]
        return "\n".join(lines[-6:]) or self.output[-2000:]


def names() -> list[str]:
    """All targets: in C by their names, in Python with py- before them."""
    return [*C, *(f"py-{name}" for name in PYTHON)]


def runs_of(name: str) -> int:
    """Of the short version."""
    return C[name] if name in C else PYTHON_RUNS.get(name.removeprefix("py-"), PYTHON_DEFAULT)


@functools.cache
def fixed_addresses() -> list[str]:
    """How a command is started that gets the same addresses each time, on which libFuzzer's tables
    of compared values depend; nothing where that can't be had."""
    command = ["setarch", platform.machine(), "-R"]
    if not shutil.which(command[0]):
        return []
    allowed = subprocess.run([*command, "true"], capture_output=True, check=False)
    return [] if allowed.returncode else command


def memory_folder() -> str | None:
    """Where files that last for one input cost least."""
    folder = "/dev/shm"
    return folder if os.access(folder, os.W_OK) else None


def start(
    name: str,
    words: Sequence[str],
    *,
    limit_s: int = 0,
    environment: Mapping[str, str] = os.environ,
) -> Outcome:
    """One target with these words for libFuzzer: options, and then files to run or folders.

    @limit_s: after which it is ended, whatever it does; 0 for never"""
    KEPT.mkdir(parents=True, exist_ok=True)
    mine = {"FUZZ_TARGET": name, "PYTHONPATH": str(ROOT / "tests"), "PYTHONHASHSEED": "0"}
    kind = "c" if name in C else "python"
    if name in C:
        command = [str(c_build.program())]
    else:
        command = [sys.executable, "-m", "fuzz.python_fuzz", name.removeprefix("py-")]
    command += [f"-timeout={HANG_S}", f"-rss_limit_mb={MEMORY_MB[kind]}"]
    command += [f"-artifact_prefix={KEPT}/{name}-", *words]
    # A program that we start inherits the highest memory use of this one, which libFuzzer would
    # take for its own; a child of timeout's begins at nothing.
    limited = ["timeout", "--foreground", "--kill-after=10", str(limit_s)]
    with tempfile.TemporaryDirectory(prefix="spek-fuzz-", dir=memory_folder()) as folder:
        done = subprocess.run(
            [*limited, *fixed_addresses(), *command],
            env={**environment, **mine, "FUZZ_FOLDER": folder},
            cwd=KEPT,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
    output = done.stdout + done.stderr
    if done.returncode == TIMED_OUT:
        output += f"\n{name} took more than {limit_s} s\n"
    return Outcome(name, done.returncode, output)


def replay(name: str, inputs: Sequence[str]) -> Outcome:
    """These inputs and no others."""
    return start(name, inputs)


def explore(name: str, options: Sequence[str]) -> Outcome:
    """From the seeds and from what was learnt before; what is learnt now is kept."""
    corpus = KEPT / name
    corpus.mkdir(parents=True, exist_ok=True)
    return start(name, [*options, str(corpus), *seeds(name)])


def seeds(name: str) -> list[str]:
    """Folders with the seeds of a target: its own, and files of the project that are seeds as they
    are."""
    more = {
        "py-workload": ROOT / "workloads",
        "py-resolve": ROOT / "workloads",
        "py-rails": SEEDS / "daq_rails",
        "py-fio": ROOT / "tests/unit/ctl/fio/jobs",
    }
    folders = [SEEDS / name, *([more[name]] if name in more else [])]
    return [str(folder) for folder in folders if folder.is_dir()]


def run_short(wanted: Sequence[str]) -> dict[str, Outcome]:
    """Each of @wanted with its few runs, the same ones each time; as many at once as CPUs."""
    if any(name in C for name in wanted):
        c_build.program()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return {outcome.name: outcome for outcome in pool.map(run_once, wanted)}


def run_once(name: str, runs: int = 0) -> Outcome:
    """One target from its seeds, with @runs inputs or as many as the short version has. What they
    are follows from the seeds and the program: not from time, place, caller, or earlier runs."""
    # Sorted: the order of a folder depends on its file system.
    files = sorted(path for folder in seeds(name) for path in Path(folder).rglob("*"))
    listed = ",".join(str(path) for path in files if path.is_file())
    options = [f"-runs={runs or runs_of(name)}", "-seed=1", "-max_len=16384", "-reload=0"]
    options += [f"-seed_inputs={listed}"] if listed else []
    # libFuzzer writes what is new into the first folder: never among the seeds.
    with tempfile.TemporaryDirectory(prefix="spek-fuzz-") as scratch:
        outcome = start(
            name,
            [*options, scratch],
            limit_s=HANG_ALL_S,
            environment={"PATH": os.environ.get("PATH", os.defpath)},
        )
        return replace(outcome, learnt=frozenset(os.listdir(scratch)))
