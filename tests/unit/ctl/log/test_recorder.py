# SPDX-License-Identifier: GPL-2.0
"""The log of a run in progress: every loss is counted, and the run is never delayed."""

from __future__ import annotations

import base64
import errno
import itertools
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from lib.ctl.command_line import Outcome, Spekctl, caller
from lib.ctl.host_peer import Peer
from lib.ctl.log_files import GIB, TYPE, column, free_bytes, records
from lib.ctl.schemas import validator
from lib.fakes.kernel import SECOND, START_NS, FakeKernel
from lib.fakes.machine import use_fakes
from lib.waiting import LONG_S, eventually

from spekctl import namespaces
from spekctl.documents import result
from spekctl.errors import ExitCode, SpekError
from spekctl.host import protocol
from spekctl.kernel.records import RunInfo, RunState, WorkerInfo
from spekctl.log import buffer as log_buffer
from spekctl.log import file as log_file
from spekctl.log import recorder
from spekctl.log.file import LogHeader, LogTarget, LogWriter, open_log
from spekctl.log.recorder import IoLog
from spekctl.namespaces import Namespaces
from spekctl.workload.config import Extent, ResolvedAsu

MIB = 1 << 20


@dataclass
class LoggingKernel(FakeKernel):
    """A kernel side whose runs leave 100 records a second, as its statistics say."""

    mount: Path = Path("/nonexistent")
    log_dir: str = "spek/7"
    overrun: int = 0  # for how many of them there is no room
    hidden: int = 0  # records that are counted as written, and cannot be read
    uncounted: int = 0  # I/Os that the statistics have and the log does not know

    @property
    def worker0(self) -> Path:
        return self.mount / self.log_dir / "worker0"

    def run_new(self, config: Any, patience: Any = None, claim: int | None = None) -> int:
        run = super().run_new(config, claim=claim)
        if config.log_records:
            self.worker0.parent.mkdir(parents=True, exist_ok=True)
            self.worker0.write_bytes(b"")
        return run

    def wait(self, timeout_s: float) -> None:
        second = self.seconds
        super().wait(timeout_s)
        if self.seconds > second and self.worker0.exists():
            rows = records(100, seed=self.seconds, streams=1)
            keep = 100 - (self.overrun + self.hidden + self.uncounted if second == 0 else 0)
            with self.worker0.open("ab") as file:
                file.write(rows[:keep].tobytes())

    def run_get(self, run: int) -> RunInfo:
        info = super().run_get(run)
        if self.config is None or not self.config.log_records:
            return info
        counted = 100 * self.seconds - (self.overrun + self.uncounted if self.seconds else 0)
        lost = self.overrun if self.seconds else 0
        worker = replace(info.workers[0], log_written=counted, log_lost=lost)
        return replace(info, log_dir=self.log_dir, workers=(worker,))


@pytest.fixture
def kernel(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> LoggingKernel:
    mount = tmp_path / "debug fs"
    mount.mkdir()
    mounts = tmp_path / "mounts"
    mounts.write_text(f"x /x ext4 rw 0 0\ndebugfs {tmp_path}/debug\\040fs debugfs rw 0 0\n")
    monkeypatch.setattr(log_buffer, "MOUNTS", mounts)
    fake = LoggingKernel(mount=mount)
    use_fakes(monkeypatch, fake, tmp_path)
    return fake


def log_threads() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("log-")]


def until_the_log_has_ended(second: int) -> None:
    """In the last second of a run, whose 200 records until then are more than the log can take."""
    if second == 3:
        eventually(lambda: not log_threads(), "the log does not end")


@pytest.fixture
def spekctl(capfd: pytest.CaptureFixture[str]) -> Iterator[Spekctl]:
    yield caller(capfd)
    assert log_threads() == [], "a thread of the log outlived its run"


def logged(spekctl: Spekctl, path: Path, *more: str) -> tuple[Outcome, dict[str, Any]]:
    """A run of three seconds with a log; its result."""
    out = path.with_suffix(".json")
    line = ("run", "random-read-4k", "--device", "/dev/fake0", "--time", "3s")
    outcome = spekctl(*line, "--log", str(path), "-o", str(out), *more)
    data = json.loads(out.read_text())
    validator(result.SCHEMA_FILE).validate(data)
    return outcome, data


@pytest.mark.parametrize("overrun", [0, 1])
def test_the_log_gives_fio_its_histograms_if_it_has_all_ios(
    spekctl: Spekctl, kernel: LoggingKernel, tmp_path: Path, overrun: int
) -> None:
    """The records complete in the first second of three, unlike what the statistics say."""
    kernel.overrun = overrun
    outcome, _ = logged(spekctl, tmp_path / "log", "--fio-logs", str(tmp_path / "L"))
    assert outcome.code == ExitCode.OK, outcome.err
    text = (tmp_path / "L_clat_hist.1.log").read_text()
    lines = [[int(word) for word in line.split(", ")] for line in text.splitlines()]
    sums = [(ms, way, sum(counts)) for ms, way, _, *counts in lines]
    if overrun:
        assert sums == [(1000 * second, 0, 100) for second in (1, 2, 3)]
    else:
        writes = int(np.frombuffer(kernel.worker0.read_bytes(), TYPE)["write"].sum())
        assert sums == [(1000, 0, 300 - writes), (1000, 1, writes)]


def test_a_run_with_a_log(spekctl: Spekctl, kernel: LoggingKernel, tmp_path: Path) -> None:
    path = tmp_path / "out.parquet"
    outcome, data = logged(spekctl, path)
    assert outcome.code == ExitCode.OK
    assert f"log: 300 records, 0 lost, {path}\n" in outcome.out
    assert data["log"] == {
        "file": str(path),
        "bytes": path.stat().st_size,
        "records": 300,
        "lost": 0,
        "written": 300,
        "overrun": 0,
        "buffer_records": 1 << 18,
        "complete": True,
        "text": "",
        "failed_ns": 0,
    }
    assert kernel.config is not None and kernel.config.log_records == 1 << 18
    assert data["config"]["log_records"] == 1 << 18
    expected = np.frombuffer(kernel.worker0.read_bytes(), TYPE)
    assert np.array_equal(column(path, "address"), expected["addr"])
    assert np.array_equal(column(path, "arrival_ns"), expected["at_ns"])
    log = open_log(path)
    assert log.header == LogHeader(
        created=log.header.created,
        workload="random-read-4k",
        streams=["main"],
        operations=["transfer"],
        fua=[False],
        asus=[ResolvedAsu("all", GIB, [Extent(0, 0)])],
        targets=[LogTarget("/dev/fake0", GIB)],
        seed=1,
        workers=1,
        started_ns=START_NS,
        measure_ns=START_NS,
        drain_ns=START_NS + 3 * SECOND,
        ended_ns=START_NS + 3 * SECOND,
        start_real_ns=0,
        module_version="0.1.0-test",
        reason="completed",
        records=300,
        lost=0,
        complete=True,
    )


def test_a_log_of_the_host_arrives_in_messages(
    kernel: LoggingKernel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(protocol, "LOG_PART", 100)
    peer = Peer(lambda: kernel)
    options = {"time": "3s", "log": "out.parquet", "log-buffer": "131072"}
    job = {"workload": "random-read-4k", "devices": ["/dev/fake0"], "options": options}
    assert "--log-buffer" in peer.ask("start", job=job)["answer"]["command"]
    ended = peer.until("ended")
    peer.hang_up()
    parts = [event["data"] for event in peer.events if event["event"] == "log"]
    path = tmp_path / "received"
    path.write_bytes(b"".join(map(base64.b64decode, parts)))
    summary = ended["result"]["log"]
    assert (summary["file"], summary["records"], summary["complete"]) == ("out.parquet", 300, True)
    assert len(parts) > 10 and summary["bytes"] == path.stat().st_size
    assert summary["buffer_records"] == 131072
    expected = np.frombuffer(kernel.worker0.read_bytes(), TYPE)
    assert np.array_equal(column(path, "address"), expected["addr"])
    assert {entry.name for entry in tmp_path.glob("*parquet*")} == set()
    peer.thread.join(LONG_S)
    peer.lines.close()


def test_a_run_without_a_log_has_none(spekctl: Spekctl, kernel: LoggingKernel) -> None:
    line = "run random-read-4k --device /dev/fake0 --time 1s --json"
    outcome = spekctl(*line.split())
    assert json.loads(outcome.out)["log"] is None
    assert kernel.config is not None and kernel.config.log_records == 0


def test_the_log_of_an_interrupted_run_is_complete(
    spekctl: Spekctl, kernel: LoggingKernel, tmp_path: Path
) -> None:
    def press(second: int) -> None:
        if second == 2:
            os.kill(os.getpid(), 2)

    kernel.on_wait = press
    path = tmp_path / "log"
    outcome, data = logged(spekctl, path)
    assert outcome.code == ExitCode.INTERRUPTED
    assert (data["log"]["complete"], data["log"]["records"]) == (True, 200)
    assert (open_log(path).header.reason, open_log(path).header.complete) == ("stopped", True)


def test_a_run_that_is_left_to_the_kernel_has_a_log_that_says_so(
    spekctl: Spekctl, kernel: LoggingKernel, tmp_path: Path
) -> None:
    kernel.hangs = True

    def press(second: int) -> None:
        if second >= 2:
            os.kill(os.getpid(), 2)

    kernel.on_wait = press
    path = tmp_path / "log"
    outcome, data = logged(spekctl, path)
    assert outcome.code == ExitCode.INTERRUPTED
    assert data["log"]["text"] == "the log was closed before the run had ended"
    assert not open_log(path).header.complete
    assert open_log(path).header.records == 200


@pytest.mark.parametrize(
    ("fault", "lost", "text"),
    [
        ("overrun", 30, "30 records were lost because the log buffer was full"),
        ("hidden", 30, "the kernel module wrote 300 records, and 270 were read"),
        ("uncounted", 30, "the statistics have 300 I/Os, the log of 270 (0 lost)"),
    ],
)
def test_whatever_is_missing_is_counted_and_said(
    fault: str, lost: int, text: str, spekctl: Spekctl, kernel: LoggingKernel, tmp_path: Path
) -> None:
    setattr(kernel, fault, 30)
    path = tmp_path / "log"
    outcome, data = logged(spekctl, path)
    assert outcome.code == ExitCode.OK
    assert (data["log"]["records"], data["log"]["lost"]) == (270, lost)
    assert data["log"]["text"].startswith(text)
    assert not data["log"]["complete"] and data["log"]["failed_ns"] == 0
    assert f"log: 270 records, 30 lost, {path}: {text}" in outcome.out
    assert (open_log(path).header.lost, open_log(path).header.complete) == (30, False)


def warm(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the first write be one of the run's."""
    monkeypatch.setattr(log_file, "warm_up", lambda: None)


@pytest.mark.parametrize("is_warm", [True, False])
def test_a_writer_that_fails_ends_the_log_and_not_the_run(
    spekctl: Spekctl,
    kernel: LoggingKernel,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    is_warm: bool,
) -> None:
    if is_warm:
        warm(monkeypatch)

    def broken(self: LogWriter, block: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(LogWriter, "add", broken)
    monkeypatch.setattr(recorder, "BLOCK_RECORDS", 50)
    kernel.on_wait = until_the_log_has_ended
    path = tmp_path / "log"
    before_ns = time.monotonic_ns()
    outcome, data = logged(spekctl, path)
    assert before_ns < data["log"]["failed_ns"] < time.monotonic_ns()
    assert outcome.code == ExitCode.OK
    reason = f"{path} could not be written and was deleted (No space left on device)"
    assert f"the log has ended, the run continues: {reason}" in outcome.err
    assert data["outcome"]["ok"] and data["totals"]["all"]["ios"] == 300
    assert data["log"]["text"] == f"the log ended before the run: {reason}"
    assert (data["log"]["file"], data["log"]["records"], data["log"]["lost"]) == ("", 0, 300)
    assert "log: 0 records, 300 lost, no file: the log ended before the run" in outcome.out
    assert not path.exists() and not path.with_name("log.part").exists()


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (OSError(errno.EIO, "Input/output error"), "(Input/output error)"),
        (MemoryError("malloc of 48 bytes"), "(MemoryError: malloc of 48 bytes)"),
    ],
)
def test_a_log_that_fails_at_the_end_is_said(
    error: Exception,
    text: str,
    spekctl: Spekctl,
    kernel: LoggingKernel,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    def broken(self: LogWriter) -> None:
        raise error

    warm(monkeypatch)
    monkeypatch.setattr(LogWriter, "flush", broken)
    outcome, data = logged(spekctl, tmp_path / "log")
    assert outcome.code == ExitCode.OK
    assert text in data["log"]["text"]
    assert data["log"]["lost"] == 300
    assert not (tmp_path / "log.part").exists()


def test_a_disk_that_fills_up_leaves_a_log_up_to_there(
    spekctl: Spekctl, kernel: LoggingKernel, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    left = iter([100 * MIB, 90 * MIB, 10 * MIB])
    free_bytes(monkeypatch, lambda: next(left))
    monkeypatch.setattr(recorder, "BLOCK_RECORDS", 50)
    monkeypatch.setattr(log_file, "ROW_GROUP", 50)
    kernel.on_wait = until_the_log_has_ended
    path = tmp_path / "log"
    outcome, data = logged(spekctl, path)
    assert "the log has ended, the run continues: its file system has only 10 MiB" in outcome.err
    assert (data["log"]["file"], data["log"]["records"], data["log"]["lost"]) == (
        str(path),
        100,
        200,
    )
    expected = np.frombuffer(kernel.worker0.read_bytes(), TYPE)
    assert np.array_equal(column(path, "completion_ns"), expected["done_ns"][:100])
    assert not open_log(path).header.complete


def test_a_file_of_the_kernel_that_fails_ends_the_log_and_not_the_run(
    spekctl: Spekctl, kernel: LoggingKernel, tmp_path: Path
) -> None:
    def shorten(second: int) -> None:
        with kernel.worker0.open("ab") as file:
            file.write(b"half a record")

    kernel.on_wait = shorten
    outcome, data = logged(spekctl, tmp_path / "log")
    assert outcome.code == ExitCode.OK
    assert "bytes are not a whole number of records" in data["log"]["text"]
    assert data["outcome"]["ok"]


# --- what is refused -----------------------------------------------------------------------------

WRONG: dict[str, tuple[str, str]] = {
    "detached": ("--log {0}/log --detach", "--log cannot be combined with --detach"),
    "buffer without log": ("--log-buffer 9000", "--log-buffer needs --log as well"),
    "buffer too small": ("--log {0}/log --log-buffer 10", "between 1024 and 16777216"),
    "buffer too large": ("--log {0}/log --log-buffer 99999999", "between 1024 and 16777216"),
    "no directory": ("--log {0}/none/log", "there is no directory {0}/none"),
    "same file": ("--log {0}/log -o {0}/./log", "--log and --output are the same file"),
    "a directory": ("--log {0}", "is a directory"),
}


@pytest.mark.parametrize("case", sorted(WRONG))
def test_what_cannot_be_logged_is_refused_before_anything_is_claimed(
    case: str, spekctl: Spekctl, kernel: LoggingKernel, tmp_path: Path
) -> None:
    line, sentence = (part.format(tmp_path) for part in WRONG[case])
    outcome = spekctl("run", "random-read-4k", "--device", "/dev/fake0", *line.split())
    assert outcome.code == ExitCode.USAGE
    assert sentence in outcome.sentence
    assert kernel.calls == []


def test_a_name_that_is_not_utf_8_is_refused_before_the_start(
    spekctl: Spekctl, kernel: LoggingKernel, tmp_path: Path
) -> None:
    path = tmp_path / os.fsdecode(b"l\xff.parquet")
    outcome = spekctl("run", "random-read-4k", "--device", "/dev/fake0", "--log", path)
    assert outcome.code == ExitCode.USAGE
    assert "the name of a log must be UTF-8" in outcome.sentence
    assert "run-start" not in kernel.calls and kernel.deleted


@pytest.mark.parametrize(
    ("is_inside", "remedy"),
    [
        (False, "mount -t debugfs none /sys/kernel/debug"),
        (True, "-v /sys/kernel/debug:/sys/kernel/debug (docker, podman)"),
    ],
)
def test_without_debugfs_the_sentence_says_how_to_get_it(
    is_inside: bool,
    remedy: str,
    spekctl: Spekctl,
    kernel: LoggingKernel,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    where = Namespaces(False, is_inside, False, is_inside)
    monkeypatch.setattr(namespaces, "around", lambda: where)
    log_buffer.MOUNTS.write_text("proc /proc proc rw 0 0\n")
    outcome = spekctl(*run_line(tmp_path))
    assert outcome.code == ExitCode.USAGE
    assert remedy in outcome.sentence
    assert kernel.calls == []


def run_line(tmp_path: Path) -> list[str]:
    line = "run random-read-4k --device /dev/fake0 --time 3s --progress none --log"
    return [*line.split(), str(tmp_path / "log")]


def test_without_pyarrow_the_sentence_says_what_to_install(
    spekctl: Spekctl, kernel: LoggingKernel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    for line in (run_line(tmp_path), ["log", str(tmp_path / "log")]):
        outcome = spekctl(*line)
        assert outcome.code == ExitCode.USAGE
        assert "pip install 'spekctl[log]'" in outcome.sentence
    assert kernel.calls == []


def test_libraries_are_loaded_for_logs_only() -> None:
    program = (
        "import sys\n"
        "from spekctl.run import measure\nfrom spekctl.log import file, recorder, stats\n"
        "from spekctl.commands import log, run\n"
        "sys.exit(' '.join({'numpy', 'pyarrow'} & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stderr.strip() == ""


@pytest.mark.parametrize(
    ("prepare", "code", "sentence"),
    [
        (
            lambda kernel: setattr(kernel, "log_dir", ""),
            ExitCode.RUN_FAILED,
            "has no log of this run",
        ),
        (lambda kernel: kernel.worker0.unlink(), ExitCode.RUN_FAILED, "No such file or directory"),
    ],
)
def test_a_log_that_cannot_be_opened_ends_the_run_before_its_start(
    prepare: Callable[[LoggingKernel], None],
    code: ExitCode,
    sentence: str,
    spekctl: Spekctl,
    kernel: LoggingKernel,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run_new = LoggingKernel.run_new

    def prepared(self: LoggingKernel, *request: Any) -> int:
        run = run_new(self, *request)
        prepare(self)
        return run

    monkeypatch.setattr(LoggingKernel, "run_new", prepared)
    outcome = spekctl(*run_line(tmp_path))
    assert outcome.code == code
    assert sentence in outcome.sentence
    assert "run-start" not in kernel.calls
    assert kernel.deleted
    assert not list(tmp_path.glob("log*"))


def test_no_permission_to_read_is_code_3(
    spekctl: Spekctl, kernel: LoggingKernel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def forbidden(path: Path, flags: int) -> int:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    system = SimpleNamespace(**{**vars(os), "open": forbidden})
    monkeypatch.setattr(log_buffer, "os", system)
    outcome = spekctl(*run_line(tmp_path))
    assert outcome.code == ExitCode.PERMISSION
    assert "Operation not permitted (a locked-down kernel may forbid it)" in outcome.sentence
    assert "run-start" not in kernel.calls


def test_a_run_that_fails_to_start_leaves_no_log(
    spekctl: Spekctl, kernel: LoggingKernel, tmp_path: Path
) -> None:
    kernel.refuse["run-start"] = SpekError("no memory")
    outcome = spekctl(*run_line(tmp_path))
    assert outcome.sentence == "no memory"
    assert not list(tmp_path.glob("log*"))


# --- the threads ---------------------------------------------------------------------------------


def info_of(workers: int, counts: list[int], done: bool = True) -> RunInfo:
    return RunInfo(
        id=1,
        state=RunState.DONE if done else RunState.RUNNING,
        log_dir="spek/1",
        workers=tuple(WorkerInfo(cpu=i, log_written=counts[i]) for i in range(workers)),
    )


def plan() -> Any:
    """As much of a plan as a header needs."""

    class Anything:
        def __getattr__(self, name: str) -> Any:
            return {"streams": [], "asus": [], "targets": [], "seed": 1, "name": "x"}.get(
                name, self
            )

    return Anything()


def test_the_records_of_many_workers_are_all_there_while_they_are_being_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workers, rounds, at_once = 5, 400, 80  # what fits a pipe's page is written at once
    directory = tmp_path / "spek/1"
    directory.mkdir(parents=True)
    monkeypatch.setattr(log_buffer, "debugfs", lambda: tmp_path)
    monkeypatch.setattr(recorder, "BLOCK_RECORDS", 1000)
    for worker in range(workers):
        os.mkfifo(directory / f"worker{worker}")
    log = IoLog(tmp_path / "log", 1024)
    log.start(info_of(workers, [0] * workers))
    expected = [records(rounds * at_once, seed=worker, worker=worker) for worker in range(workers)]
    pipes = [os.open(directory / f"worker{worker}", os.O_WRONLY) for worker in range(workers)]
    for start in range(0, rounds * at_once, at_once):
        for worker, pipe in enumerate(pipes):
            os.write(pipe, expected[worker][start : start + at_once].tobytes())
    counts = [rounds * at_once] * workers
    summary = log.finish(plan(), info_of(workers, counts), sum(counts))
    for pipe in pipes:
        os.close(pipe)
    assert summary.complete, summary.text
    log.close()
    by_worker, address = column(tmp_path / "log", "worker"), column(tmp_path / "log", "address")
    for worker in range(workers):
        assert np.array_equal(address[by_worker == worker], expected[worker]["addr"])


def test_a_slow_writer_makes_the_reader_wait_and_not_forget(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "spek/1").mkdir(parents=True)
    monkeypatch.setattr(log_buffer, "debugfs", lambda: tmp_path)
    monkeypatch.setattr(recorder, "BLOCK_RECORDS", 100)
    monkeypatch.setattr(recorder, "QUEUE_BYTES", 3 * 100 * 48)
    waiting: list[int] = []
    add = LogWriter.add

    def slow(self: LogWriter, block: Any) -> None:
        eventually(
            lambda: log._blocks.full() or "log-reader" not in log_threads(), "the reader stands"
        )
        waiting.append(log._blocks.qsize())
        add(self, block)

    warm(monkeypatch)
    monkeypatch.setattr(LogWriter, "add", slow)
    expected = records(5_050)
    (tmp_path / "spek/1/worker0").write_bytes(expected.tobytes())
    log = IoLog(tmp_path / "log", 1024)
    log.start(info_of(1, [0]))
    summary = log.finish(plan(), info_of(1, [len(expected)]), len(expected))
    assert summary.complete, summary.text
    # It was ahead all the time, but for the last ones.
    assert waiting[:40] == [3] * 40
    assert np.array_equal(column(tmp_path / "log", "address"), expected["addr"])


def test_the_first_write_is_none_of_the_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It loads a library, while the buffer of a run would fill up."""
    (tmp_path / "spek/1").mkdir(parents=True)
    expected = records(10)
    (tmp_path / "spek/1/worker0").write_bytes(expected.tobytes())
    monkeypatch.setattr(log_buffer, "debugfs", lambda: tmp_path)
    written: list[tuple[int, bool]] = []
    add = LogWriter.add

    def watched(self: LogWriter, block: Any) -> None:
        written.append((len(block), "log-reader" in log_threads()))
        add(self, block)

    monkeypatch.setattr(LogWriter, "add", watched)
    log = IoLog(tmp_path / "log", 1024)
    log.start(info_of(1, [0]))
    assert written[0] == (1, False)
    summary = log.finish(plan(), info_of(1, [10]), 10)
    assert (summary.complete, summary.records) == (True, 10), summary.text
    assert np.array_equal(column(tmp_path / "log", "address"), expected["addr"])


def test_closing_twice_and_without_an_end_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "spek/1").mkdir(parents=True)
    (tmp_path / "spek/1/worker0").write_bytes(records(10).tobytes())
    monkeypatch.setattr(log_buffer, "debugfs", lambda: tmp_path)
    log = IoLog(tmp_path / "log", 1024)
    log.start(info_of(1, [0]))
    assert (tmp_path / "log.part").exists()
    log.close()
    log.close()
    assert not list(tmp_path.glob("log*"))
    assert log_threads() == []


def test_the_default_buffer_shrinks_with_the_number_of_workers() -> None:
    sizes = [recorder.default_buffer(workers) for workers in (1, 8, 16, 32, 1000)]
    assert sizes == [1 << 18, 1 << 18, 1 << 17, 1 << 16, 1 << 16]
    assert all(recorder.check_buffer(size) == size for size in sizes)


def test_the_log_costs_no_call_for_each_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At half a million records a second there is no time for a call of Python for each: numpy and
    pyarrow work on blocks of them. Calls are counted in the log's own thread."""
    count = 2 << 20
    calls = itertools.count()
    (tmp_path / "spek/1").mkdir(parents=True)
    records(count, streams=8).tofile(tmp_path / "spek/1/worker0")
    monkeypatch.setattr(log_buffer, "debugfs", lambda: tmp_path)
    log = IoLog(tmp_path / "log", 1 << 18)
    threading.setprofile(lambda frame, event, arg: next(calls) and None)
    try:
        log.start(info_of(1, [0]))
    finally:
        threading.setprofile(None)
    summary = log.finish(plan(), info_of(1, [count]), count)
    assert summary.complete
    assert 0 < next(calls) < count / 100
    assert summary.bytes / count < 24, "half of a record at most"
