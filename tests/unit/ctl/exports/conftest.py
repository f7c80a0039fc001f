# SPDX-License-Identifier: GPL-2.0
"""The same load in a result of ours and in files of fio."""

from __future__ import annotations

import contextlib
import gzip
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from lib.ctl import results
from lib.fakes.kernel import SECOND, START_NS
from lib.waiting import LONG_S, eventually

from spekctl.documents.result import Result
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
    """70 reads and 30 writes of 8 KiB in four intervals of a second."""
    return results.build(rows=ROWS)


def fio() -> str:
    program = shutil.which("fio")
    if program is None:
        pytest.skip("fio is not installed; .ci/packages test names it")
    return program


@pytest.fixture(scope="session")
def theirs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which fio has run, out.json and logs L_*."""
    program = fio()
    folder = tmp_path_factory.mktemp("fio")
    (folder / "job.fio").write_text(JOB.format(folder=folder))
    words = ["--output-format=json+", f"--output={folder}/out.json", f"{folder}/job.fio"]
    subprocess.run([program, *words], check=True, timeout=LONG_S, capture_output=True)
    return folder


@pytest.fixture(scope="session")
def their_clients(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """What fio writes of two servers."""
    program = fio()
    folder = tmp_path_factory.mktemp("clients")
    without_logs = [line for line in JOB.splitlines() if "log" not in line]
    (folder / "job.fio").write_text("\n".join(without_logs).format(folder=folder))
    words = ["--output-format=json+", "--output=out.json"]
    with contextlib.ExitStack() as servers:
        for name in ("a", "b"):
            # The path of a socket is short, so it is relative.
            server = subprocess.Popen(
                [program, f"--server=sock:{name}"], cwd=folder, stdout=subprocess.DEVNULL
            )
            servers.enter_context(server)
            servers.callback(server.terminate)
            eventually((folder / name).exists, "fio does not listen")
            words += [f"--client=sock:{name}", "job.fio"]
        run = [program, *words]
        subprocess.run(run, cwd=folder, check=True, timeout=LONG_S, capture_output=True)
    text = (folder / "out.json").read_text()
    # Lines of both servers stand before it.
    return json.loads(text[text.index("\n{") :])


@pytest.fixture(scope="session")
def pctiles(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """fio's reader of logs of histograms. Debian has it among the documents of the package."""
    program = shutil.which("fio-histo-log-pctiles.py")
    if program is not None:
        return Path(program)
    packed = Path("/usr/share/doc/fio/fio-histo-log-pctiles.py.gz")
    if not packed.exists():
        pytest.skip("fio-histo-log-pctiles.py of fio is not installed; .ci/packages test names fio")
    path = tmp_path_factory.mktemp("pctiles") / packed.stem
    path.write_bytes(gzip.decompress(packed.read_bytes()))
    return path
