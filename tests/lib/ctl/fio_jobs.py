# SPDX-License-Identifier: GPL-2.0
"""Job files of fio, fio itself, and what becomes of its jobs."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import msgspec
import pytest

from spekctl.fio import convert, job
from spekctl.fio.jobfile import Job
from spekctl.fio.plan import Plan
from spekctl.workload.imported import Imported

JOBS = Path(__file__).parents[2] / "unit/ctl/fio/jobs"
NAMES = sorted(path.stem for path in JOBS.glob("*.fio"))
HEAD = "[j]\ndirect=1\nioengine=libaio\nfilename=/dev/sdx\n"


def fio(*words: str | Path) -> subprocess.CompletedProcess[str]:
    program = shutil.which("fio")
    if program is None:
        pytest.skip("fio is not installed; .ci/packages test names it")
    return subprocess.run(
        [program, *map(str, words)], capture_output=True, text=True, check=False, timeout=60
    )


def imported(tmp_path: Path, text: str, **options: Any) -> Imported:
    path = tmp_path / "job.fio"
    path.write_text(text)
    return convert.load(path, **options)


def tables(imported: Imported) -> dict[str, Any]:
    data = msgspec.to_builtins(imported.workload)
    assert isinstance(data, dict)
    return data


def stream(imported: Imported) -> dict[str, Any]:
    (only,) = tables(imported)["stream"]
    return {key: value for key, value in only.items() if key not in ("name", "arrival", "share")}


def places(tmp_path: Path, text: str) -> list[list[tuple[str, int]]]:
    """(direction, first byte) of each I/O of fio itself, for each clone, in the order of the first
    ones; nothing is touched."""
    path, log = tmp_path / "job.fio", tmp_path / "log"
    options = {"filename=/dev/sdx": "thread=0", "ioengine=libaio": "ioengine=null"}
    options["direct=1"] = f"write_iolog={log}"
    path.write_text("\n".join(options.get(line, line) for line in text.splitlines()) + "\n")
    log.unlink(missing_ok=True)
    done = fio(path)
    assert done.returncode == 0, done.stderr
    clones: list[list[tuple[str, int]]] = []
    for line in log.read_text().splitlines():
        words = line.split()
        if words[-1] == "open":
            clones.append([])
        elif words[2:3] in (["read"], ["write"]):
            clones[-1].append((words[2], int(words[3])))
    return sorted(clones, key=lambda clone: clone[0][1])


def plan(**options: Any) -> Plan:
    """What becomes of a job with these options."""
    words = {name: None if value is None else str(value) for name, value in options.items()}
    return job.plan_of(Job("j", {"ioengine": "libaio", "direct": "1", **words}))
