# SPDX-License-Identifier: GPL-2.0
"""The per-I/O log on this side of the kernel: nothing lost unseen, nothing half looks whole."""

from __future__ import annotations

import errno
import json
import math
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jsonschema
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lib.fake_kernel import SECOND, START_NS, FakeKernel
from lib.spekcore import Arrival, Asu, Stream, Workload, library

from spekctl import cli, client, device, iolog, logfile, logstats, observe, result, safety
from spekctl.config import Extent, ResolvedAsu
from spekctl.device import Device
from spekctl.errors import ExitCode, SpekError, UsageError
from spekctl.gen import spek
from spekctl.iolog import IoLog
from spekctl.logfile import LogFullError, LogHeader, LogTarget, LogWriter, open_log
from spekctl.records import RunInfo, RunState, WorkerInfo

SCHEMA = json.loads(result.SCHEMA_FILE.read_text())
TYPE = logfile.record_type()
MIB, GIB = 1 << 20, 1 << 30


# --- material ------------------------------------------------------------------------------------


def records(count: int, seed: int = 1, worker: int = 0, streams: int = 2) -> Any:
    """I/Os of an open loop over 1 GiB, in order of completion."""
    rng = np.random.default_rng(seed)
    found = np.zeros(count, TYPE)
    found["at_ns"] = START_NS + np.cumsum(rng.exponential(10_000, count)).astype("u8")
    found["issue_ns"] = found["at_ns"] + rng.integers(200, 5_000, count).astype("u8")
    found["done_ns"] = found["issue_ns"] + rng.gamma(3, 30_000, count).astype("u8")
    found["bytes"] = rng.choice([4096, 8192, 65536], count, p=[0.7, 0.2, 0.1])
    found["addr"] = rng.integers(0, (GIB - 65536) // 4096, count) * 4096
    found["replica"] = rng.integers(0, 5, count)
    found["stream"] = rng.integers(0, streams, count)
    found["asu"] = found["stream"]
    found["write"] = rng.random(count) < 0.4
    found["phase"] = 1
    found["worker"] = worker
    return found[np.argsort(found["done_ns"], kind="stable")]


def header(**changes: Any) -> LogHeader:
    values: dict[str, Any] = {
        "workload": "mine",
        "streams": ["first", "second"],
        "asus": [
            ResolvedAsu("a", GIB, 0, [Extent(0, 0)]),
            ResolvedAsu("b", GIB, 0, [Extent(1, 0)]),
        ],
        "targets": [LogTarget("/dev/x", GIB), LogTarget("/dev/y", GIB)],
        "seed": 1,
        "workers": 1,
        "started_ns": START_NS,
        "measure_ns": START_NS,
        "drain_ns": START_NS + SECOND,
        "ended_ns": START_NS + SECOND,
        "start_real_ns": 1_700_000_000 * SECOND,
        "module_version": "0.1.0",
        "reason": "completed",
        "records": 0,
        "lost": 0,
        "complete": True,
    }
    return LogHeader(**{**values, **changes})


def written(path: Path, rows: Any, **changes: Any) -> Path:
    """A log file of these records."""
    writer = LogWriter(path)
    writer.add(rows)
    writer.finish(header(records=len(rows), **changes))
    return path


def column(path: Path, name: str) -> Any:
    parts = [values for (values,) in open_log(path).columns(name)]
    return np.concatenate(parts) if parts else np.zeros(0)


# --- the file ------------------------------------------------------------------------------------


def test_the_record_is_that_of_the_contract() -> None:
    assert [(name, kind.lstrip("=")) for name, kind in logfile.RECORD] == list(spek.LOG_RECORD)
    assert TYPE.itemsize == logfile.RECORD_BYTES == spek.LOG_RECORD_BYTES
    assert len(logfile.COLUMNS) == len(logfile.RECORD)


def test_every_value_of_every_column_comes_back(tmp_path: Path) -> None:
    rows = records(5000)
    for name, kind in logfile.RECORD:
        top = np.iinfo(kind.lstrip("=")).max
        rows[name][:2] = [0, top]
    path = written(tmp_path / "log", rows)
    for name, (member, _) in zip(logfile.COLUMNS, logfile.RECORD, strict=True):
        found = column(path, name)
        assert found.dtype == rows[member].dtype
        assert np.array_equal(found, rows[member]), name


def test_a_header_comes_back(tmp_path: Path) -> None:
    path = written(tmp_path / "log", records(10), lost=3, complete=False, reason="stopped")
    found = open_log(path).header
    assert found == header(records=10, lost=3, complete=False, reason="stopped")
    plain = json.loads(pq.read_metadata(path).metadata[b"spek"])
    assert (plain["kind"], plain["version"], plain["streams"]) == (
        "spek-log",
        1,
        ["first", "second"],
    )


def test_long_logs_are_written_and_read_in_pieces(tmp_path: Path) -> None:
    path = tmp_path / "log"
    writer = LogWriter(path)
    block = records(1 << 16)
    for _ in range(33):
        writer.add(block)
    assert writer.records == 2 << 20  # two full row groups are out, the rest is held back
    writer.finish(header())
    metadata = pq.read_metadata(path)
    assert metadata.num_row_groups == 3
    assert metadata.row_group(0).num_rows == logfile.ROW_GROUP
    sizes = [batch.num_rows for batch in open_log(path).batches(["op"], rows=100_000)]
    assert sum(sizes) == 33 << 16
    assert max(sizes) <= 100_000


def test_a_log_without_records_is_a_log(tmp_path: Path) -> None:
    path = tmp_path / "log"
    LogWriter(path).finish(header())
    log = open_log(path)
    assert log.header.records == 0
    assert list(log.batches()) == []


def test_the_old_file_stays_until_the_new_one_is_whole(tmp_path: Path) -> None:
    path = written(tmp_path / "log", records(10))
    writer = LogWriter(path)
    writer.add(records(20))
    writer.flush()
    assert len(column(path, "op")) == 10
    writer.finish(header())
    assert len(column(path, "op")) == 20
    assert [one.name for one in tmp_path.iterdir()] == ["log"]


def test_what_a_dead_controller_leaves_does_not_look_whole(tmp_path: Path) -> None:
    path = tmp_path / "log"
    program = (
        "import os, sys, pathlib, numpy as np\n"
        "from spekctl import logfile\n"
        "writer = logfile.LogWriter(pathlib.Path(sys.argv[1]))\n"
        "for _ in range(3):\n"
        "    writer.add(np.zeros(logfile.ROW_GROUP, logfile.record_type()))\n"
        "os._exit(9)\n"
    )
    assert subprocess.run([sys.executable, "-c", program, str(path)]).returncode == 9
    assert not path.exists()
    part = tmp_path / "log.part"
    assert part.stat().st_size > 0
    with pytest.raises(UsageError, match="whose controller died; it cannot be read"):
        open_log(part)
    # The same name can be used again.
    assert len(column(written(path, records(7)), "op")) == 7
    assert not part.exists()


def test_other_files_are_refused_with_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no file"):
        open_log(tmp_path / "nothing")
    text = tmp_path / "text"
    text.write_text("not Parquet at all")
    with pytest.raises(UsageError, match="is not a log of spek: it is not a Parquet file"):
        open_log(text)
    other = tmp_path / "other"
    pq.write_table(pa.table({"x": [1]}), other)
    with pytest.raises(UsageError, match="it is another Parquet file"):
        open_log(other)
    newer = tmp_path / "newer"
    writer = LogWriter(newer)
    writer.finish(header(version=2))
    with pytest.raises(UsageError, match="has format 2; this spekctl knows 1"):
        open_log(newer)


def test_a_nearly_full_disk_is_refused_at_the_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    free_bytes(monkeypatch, lambda: 63 * MIB)
    with pytest.raises(UsageError, match=r"has 63 MiB left, and a log needs 64 MiB in reserve"):
        LogWriter(tmp_path / "log")
    assert list(tmp_path.iterdir()) == []


def test_a_disk_that_fills_up_ends_a_log_that_is_whole_up_to_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = iter([100 * MIB, 90 * MIB, 10 * MIB])
    free_bytes(monkeypatch, lambda: next(left))
    path = tmp_path / "log"
    writer = LogWriter(path)
    block = records(logfile.ROW_GROUP)
    writer.add(block)
    with pytest.raises(LogFullError, match="has only 10 MiB left"):
        writer.add(block)
    writer.finish(header())
    assert np.array_equal(column(path, "address"), np.tile(block["addr"], 2))


def free_bytes(monkeypatch: pytest.MonkeyPatch, free: Callable[[], int]) -> None:
    monkeypatch.setattr(LogWriter, "_free_bytes", lambda self: free())


def test_no_row_group_needs_more_than_the_reserve(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    worst = rng.integers(0, 256, logfile.ROW_GROUP * 48, np.uint8).view(TYPE)
    path = written(tmp_path / "log", worst)
    assert path.stat().st_size < logfile.RESERVE_BYTES


@given(st.data())
def test_places_on_devices_are_those_of_the_core(data: st.DataObject) -> None:
    asus = []
    for _ in range(data.draw(st.integers(1, 3))):
        nr = data.draw(st.integers(1, 16))
        stripe = 2 ** data.draw(st.integers(9, 24)) if nr > 1 else 0
        size = nr * stripe * data.draw(st.integers(1, 1000)) or 1 << 40
        extents = [
            Extent((7 * i) % nr if nr % 7 else i, 512 * data.draw(st.integers(0, 2**40)))
            for i in range(nr)
        ]
        asus.append(ResolvedAsu("a", size, stripe, extents))
    rows = [
        (asu, data.draw(st.integers(0, asus[asu].bytes - 1)))
        for asu in data.draw(st.lists(st.integers(0, len(asus) - 1), min_size=1, max_size=20))
    ]
    log = logfile.LogFile(Path("x"), None, header(asus=asus))
    target, byte = log.device_address(
        np.array([asu for asu, _ in rows], np.uint8), np.array([at for _, at in rows], np.uint64)
    )
    expected = [core_place(asus[asu], at) for asu, at in rows]
    assert list(zip(target.tolist(), byte.tolist(), strict=True)) == expected


def core_place(asu: ResolvedAsu, address: int) -> tuple[int, int]:
    """Where the core that the module ships puts a byte."""
    ffi, lib = library()
    extents = [(one.target, one.start) for one in asu.extents]
    one = Asu(asu.bytes, asu.stripe_bytes, extents)
    wl = Workload([one], [Arrival(depth=1)], [Stream()])
    c_map = ffi.new("struct spek_asu_map *")
    lib.spek_asu_map_init(c_map, ffi.addressof(wl.c.asu, 0))
    target, offset = ffi.new("u32 *"), ffi.new("u64 *")
    lib.spek_asu_map(c_map, address, 1, target, offset)
    return int(target[0]), int(offset[0])


# --- reading while a run goes on -----------------------------------------------------------------


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

    def run_new(self, config: Any) -> int:
        run = super().run_new(config)
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


@dataclass
class Outcome:
    code: int
    out: str
    err: str

    @property
    def sentence(self) -> str:
        """The one sentence that a failure consists of."""
        (line,) = self.err.splitlines()
        assert line.startswith("spekctl: ")
        return line.removeprefix("spekctl: ")


@pytest.fixture
def kernel(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> LoggingKernel:
    mount = tmp_path / "debug fs"
    mount.mkdir()
    mounts = tmp_path / "mounts"
    mounts.write_text(f"x /x ext4 rw 0 0\ndebugfs {tmp_path}/debug\\040fs debugfs rw 0 0\n")
    fake = LoggingKernel(mount=mount)
    monkeypatch.setattr(iolog, "MOUNTS", mounts)
    monkeypatch.setattr(client, "connect", lambda: fake)
    monkeypatch.setattr(device, "find", disk)
    monkeypatch.setattr(safety, "signatures_on", lambda device, diskseq: [])
    monkeypatch.setattr(observe, "connect", lambda interval_ns: (None, ""))
    monkeypatch.setenv("COLUMNS", "100")
    return fake


def disk(path: str) -> Device:
    return Device(
        path=path,
        node=path,
        name=path.removeprefix("/dev/"),
        major=250,
        minor=0,
        bytes=1 << 30,
        logical_block=512,
        physical_block=4096,
        read_only=False,
        diskseq=0,
        disk="fake0",
        partition=0,
        model="FAKE",
        serial="S123",
        wwn="",
        driver="fake",
        rotational=False,
        zoned="none",
        scheduler="none",
        iostats="1",
        nomerges="0",
        poll_queues=False,
        sysfs=Path("/nonexistent"),
    )


Spekctl = Callable[..., Outcome]


@pytest.fixture
def spekctl(capfd: pytest.CaptureFixture[str]) -> Iterator[Spekctl]:
    def call(*arguments: str) -> Outcome:
        capfd.readouterr()
        code = cli.run(list(arguments))
        captured = capfd.readouterr()
        return Outcome(code, captured.out, captured.err)

    yield call
    left = [thread.name for thread in threading.enumerate() if thread.name.startswith("log-")]
    assert left == [], "a thread of the log outlived its run"


def logged(spekctl: Spekctl, path: Path, *more: str) -> tuple[Outcome, dict[str, Any]]:
    """A run of three seconds with a log; its result."""
    out = path.with_suffix(".json")
    line = ("run", "random-read-4k", "--device", "/dev/fake0", "--time", "3s")
    outcome = spekctl(*line, "--log", str(path), "-o", str(out), *more)
    found = json.loads(out.read_text())
    jsonschema.validate(found, SCHEMA)
    return outcome, found


def test_a_run_with_a_log(spekctl: Spekctl, kernel: LoggingKernel, tmp_path: Path) -> None:
    path = tmp_path / "out.parquet"
    outcome, found = logged(spekctl, path)
    assert outcome.code == ExitCode.OK
    assert f"log: 300 records, 0 lost, {path}\n" in outcome.out
    assert found["log"] == {
        "file": str(path),
        "bytes": path.stat().st_size,
        "records": 300,
        "lost": 0,
        "written": 300,
        "overrun": 0,
        "buffer_records": 1 << 18,
        "complete": True,
        "text": "",
    }
    assert kernel.config is not None and kernel.config.log_records == 1 << 18
    assert found["config"]["log_records"] == 1 << 18
    expected = np.frombuffer(kernel.worker0.read_bytes(), TYPE)
    assert np.array_equal(column(path, "address"), expected["addr"])
    assert np.array_equal(column(path, "arrival_ns"), expected["at_ns"])
    log = open_log(path)
    assert log.header == LogHeader(
        workload="random-read-4k",
        streams=["main"],
        asus=[ResolvedAsu("all", GIB, 0, [Extent(0, 0)])],
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
    outcome, found = logged(spekctl, path)
    assert outcome.code == ExitCode.INTERRUPTED
    assert (found["log"]["complete"], found["log"]["records"]) == (True, 200)
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
    outcome, found = logged(spekctl, path)
    assert outcome.code == ExitCode.INTERRUPTED
    assert found["log"]["text"] == "the log was closed before the run had ended"
    assert not open_log(path).header.complete
    assert open_log(path).header.records == 200


@pytest.mark.parametrize(
    ("fault", "lost", "text"),
    [
        ("overrun", 30, "30 records found no room because they were not read in time"),
        ("hidden", 30, "the kernel side wrote 300 records, and 270 were read"),
        ("uncounted", 30, "the statistics have 300 I/Os, the log knows of 270 (0 lost)"),
    ],
)
def test_whatever_is_missing_is_counted_and_said(
    fault: str, lost: int, text: str, spekctl: Spekctl, kernel: LoggingKernel, tmp_path: Path
) -> None:
    setattr(kernel, fault, 30)
    path = tmp_path / "log"
    outcome, found = logged(spekctl, path)
    assert outcome.code == ExitCode.OK
    assert (found["log"]["records"], found["log"]["lost"]) == (270, lost)
    assert found["log"]["text"].startswith(text)
    assert not found["log"]["complete"]
    assert f"log: 270 records, 30 lost, {path}: {text}" in outcome.out
    assert (open_log(path).header.lost, open_log(path).header.complete) == (30, False)


def test_a_writer_that_fails_ends_the_log_and_not_the_run(
    spekctl: Spekctl, kernel: LoggingKernel, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def broken(self: LogWriter, block: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(LogWriter, "add", broken)
    monkeypatch.setattr(iolog, "BLOCK_RECORDS", 50)
    kernel.on_wait = lambda second: time.sleep(0.3)  # time for the threads to notice
    path = tmp_path / "log"
    outcome, found = logged(spekctl, path)
    assert outcome.code == ExitCode.OK
    reason = f"{path} could not be written and was deleted (No space left on device)"
    assert f"the log has ended, the run goes on: {reason}" in outcome.err
    assert found["outcome"]["ok"] and found["totals"]["all"]["ios"] == 300
    assert found["log"]["text"] == f"the log ended before the run: {reason}"
    assert (found["log"]["file"], found["log"]["records"], found["log"]["lost"]) == ("", 0, 300)
    assert "log: 0 records, 300 lost, no file: the log ended before the run" in outcome.out
    assert not path.exists() and not path.with_name("log.part").exists()


def test_a_disk_that_fails_at_the_end_is_said(
    spekctl: Spekctl, kernel: LoggingKernel, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def broken(self: LogWriter) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(LogWriter, "flush", broken)
    outcome, found = logged(spekctl, tmp_path / "log")
    assert outcome.code == ExitCode.OK
    assert "(Input/output error)" in found["log"]["text"]
    assert found["log"]["lost"] == 300
    assert not (tmp_path / "log.part").exists()


def test_a_disk_that_fills_up_leaves_a_log_up_to_there(
    spekctl: Spekctl, kernel: LoggingKernel, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    left = iter([100 * MIB, 90 * MIB, 10 * MIB])
    free_bytes(monkeypatch, lambda: next(left))
    monkeypatch.setattr(iolog, "BLOCK_RECORDS", 50)
    monkeypatch.setattr(logfile, "ROW_GROUP", 50)
    kernel.on_wait = lambda second: time.sleep(0.3)
    path = tmp_path / "log"
    outcome, found = logged(spekctl, path)
    assert "the log has ended, the run goes on: its file system has only 10 MiB" in outcome.err
    assert (found["log"]["file"], found["log"]["records"], found["log"]["lost"]) == (
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
    outcome, found = logged(spekctl, tmp_path / "log")
    assert outcome.code == ExitCode.OK
    assert "bytes are no whole number of records" in found["log"]["text"]
    assert found["outcome"]["ok"]


# --- what is refused -----------------------------------------------------------------------------

WRONG: dict[str, tuple[str, str]] = {
    "detached": ("--log {0}/log --detach", "it cannot go with --detach"),
    "buffer without log": ("--log-buffer 9000", "--log-buffer needs --log as well"),
    "buffer too small": ("--log {0}/log --log-buffer 10", "between 1024 and 16777216"),
    "buffer too large": ("--log {0}/log --log-buffer 99999999", "between 1024 and 16777216"),
    "no directory": ("--log {0}/none/log", "there is no directory {0}/none"),
    "same file": ("--log {0}/log -o {0}/log", "--log and --output name the same file"),
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


def test_without_debugfs_the_sentence_says_how_to_mount_it(
    spekctl: Spekctl, kernel: LoggingKernel, tmp_path: Path
) -> None:
    iolog.MOUNTS.write_text("proc /proc proc rw 0 0\n")
    outcome = spekctl(*run_line(tmp_path))
    assert outcome.code == ExitCode.USAGE
    assert "mount -t debugfs none /sys/kernel/debug" in outcome.sentence
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
        "from spekctl import run, iolog, logfile, logstats\n"
        "from spekctl.commands import log, run\n"
        "sys.exit(' '.join({'numpy', 'pyarrow'} & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stderr.strip() == ""


@pytest.mark.parametrize(
    ("prepare", "code", "sentence"),
    [
        (lambda kernel: setattr(kernel, "log_dir", ""), ExitCode.RUN_FAILED, "keeps no log"),
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

    def prepared(self: LoggingKernel, config: Any) -> int:
        run = run_new(self, config)
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
    monkeypatch.setattr(iolog, "os", system)
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
    monkeypatch.setattr(iolog, "debugfs", lambda: tmp_path)
    monkeypatch.setattr(iolog, "BLOCK_RECORDS", 1000)
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
    found = log.finish(plan(), info_of(workers, counts), sum(counts))
    for pipe in pipes:
        os.close(pipe)
    assert found.complete, found.text
    log.close()
    by_worker, address = column(tmp_path / "log", "worker"), column(tmp_path / "log", "address")
    for worker in range(workers):
        assert np.array_equal(address[by_worker == worker], expected[worker]["addr"])


def test_a_slow_writer_makes_the_reader_wait_and_not_forget(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "spek/1").mkdir(parents=True)
    monkeypatch.setattr(iolog, "debugfs", lambda: tmp_path)
    monkeypatch.setattr(iolog, "BLOCK_RECORDS", 100)
    monkeypatch.setattr(iolog, "QUEUE_BYTES", 3 * 100 * 48)
    waiting: list[int] = []
    add = LogWriter.add

    def slow(self: LogWriter, block: Any) -> None:
        time.sleep(0.002)
        waiting.append(log._blocks.qsize())
        add(self, block)

    monkeypatch.setattr(LogWriter, "add", slow)
    expected = records(20_050)
    (tmp_path / "spek/1/worker0").write_bytes(expected.tobytes())
    log = IoLog(tmp_path / "log", 1024)
    log.start(info_of(1, [0]))
    found = log.finish(plan(), info_of(1, [len(expected)]), len(expected))
    assert found.complete, found.text
    assert max(waiting) == 3
    assert np.array_equal(column(tmp_path / "log", "address"), expected["addr"])


def test_closing_twice_and_without_an_end_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "spek/1").mkdir(parents=True)
    (tmp_path / "spek/1/worker0").write_bytes(records(10).tobytes())
    monkeypatch.setattr(iolog, "debugfs", lambda: tmp_path)
    log = IoLog(tmp_path / "log", 1024)
    log.start(info_of(1, [0]))
    assert (tmp_path / "log.part").exists()
    log.close()
    log.close()
    assert not list(tmp_path.glob("log*"))
    assert threading.active_count() == 1


def test_the_default_buffer_shrinks_with_the_number_of_workers() -> None:
    sizes = [iolog.default_buffer(workers) for workers in (1, 8, 16, 32, 1000)]
    assert sizes == [1 << 18, 1 << 18, 1 << 17, 1 << 16, 1 << 16]
    assert all(iolog.check_buffer(size) == size for size in sizes)


def test_one_core_keeps_up_with_half_a_million_records_a_second(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    count = 2 << 20
    (tmp_path / "spek/1").mkdir(parents=True)
    records(count, streams=8).tofile(tmp_path / "spek/1/worker0")
    monkeypatch.setattr(iolog, "debugfs", lambda: tmp_path)
    log = IoLog(tmp_path / "log", 1 << 18)
    before = time.process_time()
    log.start(info_of(1, [0]))
    found = log.finish(plan(), info_of(1, [count]), count)
    seconds = time.process_time() - before
    assert found.complete
    assert count / seconds > 500_000, f"{count / seconds:,.0f} records per second of CPU time"
    assert found.bytes / count < 24, "half of a record at most"


# --- spekctl log ---------------------------------------------------------------------------------


def test_csv_has_every_row_in_words(spekctl: Spekctl, tmp_path: Path) -> None:
    rows = records(3000)
    rows["phase"][:1000] = 0
    rows["phase"][-10:] = 2
    rows["error"][5] = errno.EIO
    outcome = spekctl("log", str(written(tmp_path / "log", rows)), "--csv")
    assert (outcome.code, outcome.err) == (ExitCode.OK, "")
    lines = outcome.out.splitlines()
    assert lines[0] == ",".join(logfile.COLUMNS)
    expected = [
        ",".join(
            map(
                str,
                (
                    *(row[name] for name in ("at_ns", "issue_ns", "done_ns", "addr", "bytes")),
                    row["replica"],
                    ("first", "second")[row["stream"]],
                    row["worker"],
                    "ab"[row["asu"]],
                    ("read", "write")[row["write"]],
                    ("ramp", "measure", "drain")[row["phase"]],
                    row["error"],
                ),
            )
        )
        for row in rows
    ]
    assert lines[1:] == expected


def test_rows_can_be_chosen(spekctl: Spekctl, tmp_path: Path) -> None:
    rows = records(3000)
    rows["phase"][:1000] = 0
    path = str(written(tmp_path / "log", rows))
    mine = rows[(rows["stream"] == 1) & (rows["phase"] == 1)]

    def arrivals(*options: str) -> list[int]:
        lines = spekctl("log", path, "--csv", *options).out.splitlines()[1:]
        return [int(line.split(",")[0]) for line in lines]

    assert arrivals("--limit", "7") == rows["at_ns"][:7].tolist()
    assert arrivals("--stream", "second", "--phase", "measure") == mine["at_ns"].tolist()
    some = arrivals("--stream", "second", "--phase", "measure", "--limit", "9")
    assert some == mine["at_ns"][:9].tolist()


def test_a_limit_ends_inside_a_later_piece(tmp_path: Path) -> None:
    path = tmp_path / "log"
    writer = LogWriter(path)
    for seed in range(3):
        writer.add(records(1 << 19, seed=seed))
    writer.finish(header())
    selection = logstats.Selection(limit=(1 << 20) + 5)
    sizes = [len(rows["stream"]) for rows in selection.rows(open_log(path), ["op"])]
    assert (sum(sizes), sizes[-1]) == ((1 << 20) + 5, 5)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--stream", "secnd"), "no stream 'secnd'; did you mean 'second'?"),
        (("--stream", "zzz"), "no stream 'zzz'; it has first, second"),
        (("--limit", "0"), "--limit must be at least 1, not 0"),
        (("--phase", "drain"), "'drain' is not one of"),
    ],
)
def test_wrong_choices_get_one_sentence(
    options: tuple[str, ...], sentence: str, spekctl: Spekctl, tmp_path: Path
) -> None:
    outcome = spekctl("log", str(written(tmp_path / "log", records(10))), *options)
    assert outcome.code == ExitCode.USAGE
    assert sentence in outcome.sentence
    assert outcome.out == ""


def test_a_reader_that_leaves_is_no_reason_to_complain(tmp_path: Path) -> None:
    path = written(tmp_path / "log", records(200_000))
    program = f"{sys.executable} -m spekctl log {path} --csv | head -n 2"
    done = subprocess.run(["bash", "-c", program], capture_output=True, text=True)
    assert done.stderr == ""
    assert len(done.stdout.splitlines()) == 2


def test_the_summary_is_exact(tmp_path: Path) -> None:
    rows = records(20_000)
    rows["phase"][:5000] = 0
    rows["error"][7000] = errno.EIO
    log = open_log(written(tmp_path / "log", rows))
    summary = logstats.summarize(log, logstats.Selection(measure_only=True))
    measured = rows[rows["phase"] == 1]
    assert summary.records == len(measured) == 15_000
    assert summary.errors == {errno.EIO: 1}
    for stream in (0, 1, None):
        for op in (0, 1, None):
            if (stream, op) not in summary.cells:
                continue
            mine = measured[
                (np.ones(len(measured), bool) if stream is None else measured["stream"] == stream)
                & (np.ones(len(measured), bool) if op is None else measured["write"] == op)
            ]
            check_cell(summary.cells[stream, op], mine)
    assert set(summary.cells) == {
        (0, 0),
        (0, 1),
        (1, 0),
        (1, 1),
        (None, 0),
        (None, 1),
        (None, None),
    }
    fine = measured[measured["error"] == 0]
    span = int(measured["done_ns"].max() - measured["at_ns"].min())
    assert summary.span_ns == span
    busy = int((fine["done_ns"] - fine["issue_ns"]).sum())
    assert summary.outstanding == pytest.approx(busy / span)


def check_cell(cell: logstats.Cell, rows: Any) -> None:
    """Against arithmetic on plain integers."""
    fine = [row for row in rows if not row["error"]]
    assert (cell.ios, cell.errors) == (len(fine), len(rows) - len(fine))
    assert cell.bytes == sum(int(row["bytes"]) for row in fine)
    for found, start in ((cell.response, "at_ns"), (cell.service, "issue_ns")):
        values = sorted(int(row["done_ns"]) - int(row[start]) for row in fine)
        assert found is not None
        assert found.mean_ns == pytest.approx(sum(values) / len(values), rel=1e-12)
        assert found.max_ns == values[-1]
        for share, value in ((0.5, found.p50_ns), (0.99, found.p99_ns), (0.999, found.p999_ns)):
            assert value == values[math.ceil(len(values) * share - 1e-9) - 1]
    arrivals = sorted(int(row["at_ns"]) for row in rows)
    gaps = [after - before for before, after in pairwise(arrivals)]
    assert cell.gaps is not None
    assert cell.gaps.mean_ns == pytest.approx(sum(gaps) / len(gaps))
    assert cell.gaps.cv == pytest.approx(np.std(gaps) / np.mean(gaps))


def test_poisson_arrivals_have_a_variation_of_one(tmp_path: Path) -> None:
    log = open_log(written(tmp_path / "log", records(100_000)))
    gaps = logstats.summarize(log, logstats.Selection()).cells[None, None].gaps
    assert gaps is not None
    assert gaps.mean_ns == pytest.approx(10_000, rel=0.02)
    assert gaps.cv == pytest.approx(1, abs=0.02)


@given(st.lists(st.lists(st.tuples(st.integers(0, 60), st.integers(1, 9)), max_size=8), max_size=6))
def test_a_footprint_is_a_set_of_blocks(batches: list[list[tuple[int, int]]]) -> None:
    found, expected = logstats.Footprint(), set()
    for batch in batches:
        first = np.array([at for at, _ in batch], np.uint64)
        end = np.array([at + length for at, length in batch], np.uint64)
        found.add(first, end)
        expected |= {block for at, length in batch for block in range(at, at + length)}
        assert found.blocks == len(expected)


def test_a_footprint_that_is_settled_now_and_then_is_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(logstats.Footprint, "_COMPACT", 10)
    rng = np.random.default_rng(1)
    found, expected = logstats.Footprint(), set()
    for _ in range(50):
        first = rng.integers(0, 500, 7).astype(np.uint64)
        found.add(first, first + np.uint64(3))
        expected |= {int(one) + i for one in first for i in range(3)}
    assert len(found._parts) < 50
    assert found.blocks == len(expected)


def test_places_tell_sequential_and_rewritten_from_random(tmp_path: Path) -> None:
    rows = np.zeros(3000, TYPE)
    rows["at_ns"] = START_NS + 1000 * np.arange(3000, dtype="u8")
    rows["issue_ns"] = rows["at_ns"]
    # Completed in another order than they arrived.
    rows["done_ns"] = rows["at_ns"] + 5000 + np.tile([9000, 0, 3000], 1000).astype("u8")
    rows["bytes"] = 8192
    rows["phase"] = 1
    rows["addr"][:1000] = 8192 * np.arange(1000)  # one after the other
    rows["stream"][1000:] = 1
    rows["asu"][1000:] = 1
    rows["write"][1000:] = 1
    rows["addr"][1000:] = np.tile(16384 * np.arange(500), 4)  # with holes, four times over
    log = open_log(written(tmp_path / "log", rows[np.argsort(rows["done_ns"], kind="stable")]))
    summary = logstats.summarize(log, logstats.Selection())
    runs, holes = summary.cells[0, 0], summary.cells[1, 1]
    assert (runs.sequential, runs.footprint.blocks, runs.rewritten) == (999, 2000, 0.0)
    assert (holes.sequential, holes.footprint.blocks, holes.rewritten) == (0, 1000, 0.75)
    assert {asu: one.blocks for asu, one in summary.asus.items()} == {0: 2000, 1: 1000}


def test_the_summary_is_printed_whole(spekctl: Spekctl, tmp_path: Path) -> None:
    rows = records(20_000)
    rows["phase"][:5000] = 0
    rows["error"][7000] = errno.EIO
    path = written(tmp_path / "log", rows, lost=12, complete=False, reason="stopped")
    outcome = spekctl("log", str(path))
    assert (outcome.code, outcome.err) == (ExitCode.OK, "")
    assert "…" not in outcome.out
    assert f"{path}: 20,000 records of mine on /dev/x (1 GiB), /dev/y (1 GiB), 12 lost; not" in (
        outcome.out
    )
    assert "below: 15,000 I/Os of the measure phase" in outcome.out
    lines = [line.split() for line in outcome.out.splitlines()]
    (loads,) = [line for line in lines if line[:2] == ["all", "both"] and "." in line[3]][:1]
    assert loads[2] == "14,999"
    assert [line[:2] for line in lines if line[:1] in (["first"], ["second"], ["all"])] == 3 * [
        ["first", "read"],
        ["first", "write"],
        ["second", "read"],
        ["second", "write"],
        ["all", "read"],
        ["all", "write"],
        ["all", "both"],
    ]
    assert "errors by cause: EIO 1" in outcome.out
    assert "asu a: touched" in outcome.out


def test_a_summary_of_nothing_says_so(spekctl: Spekctl, tmp_path: Path) -> None:
    rows = records(10)
    rows["phase"] = 0
    outcome = spekctl("log", str(written(tmp_path / "log", rows)))
    assert outcome.code == ExitCode.OK
    assert "no I/O of the measure phase matches" in outcome.out
    assert (
        "below: 10 I/Os of all phases"
        in spekctl("log", str(tmp_path / "log"), "--phase", "all").out
    )
