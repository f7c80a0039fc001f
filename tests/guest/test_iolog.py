# SPDX-License-Identifier: GPL-2.0
"""The per-I/O log of real runs: nothing missing, and the same as every other account of the run.

Other accounts are the statistics, the disk's own counters, the operations that the run announces
(op-get), the histograms, and for SPC-1 the law.
"""

from __future__ import annotations

import contextlib
import errno
import math
import mmap
import os
import select
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from lib.core.spekcore import OP_DTYPE
from lib.guest.absent import absent
from lib.guest.core import generators
from lib.guest.disks import mapped_disk, null_disk
from lib.guest.drive import Controller, Outcome, assert_completed, one_stream
from lib.guest.netlink_raw import Socket
from lib.guest.syscalls import SYS
from lib.waiting import LONG_S, eventually

from spekctl import cli
from spekctl.documents.device import DiskCounters
from spekctl.documents.result import Result
from spekctl.documents.result_parts import Cell
from spekctl.documents.times import Distribution
from spekctl.errors import ExitCode
from spekctl.kernel.gen import spek
from spekctl.kernel.gen.spek import Cmd
from spekctl.kernel.netlink import NLM_F_DUMP, NLM_F_REQUEST
from spekctl.kernel.records import Direction, Phase, Reason
from spekctl.log import buffer, recorder
from spekctl.log import file as log_file
from spekctl.workload.config import RunConfig

pytestmark = pytest.mark.any_kernel

TYPE = log_file.record_type()
MIB = 1 << 20
DIRECTIONS = {"read": 0, "write": 1}
PHASES = {"ramp": 0, "measure": 1, "drain": 2}
# Standard errors at which a share or mean is called wrong: by chance, once in 150,000 times.
SIGMAS = 4.5
Rows = dict[str, Any]


@dataclass(frozen=True)
class Logged:
    """A run of spekctl, its result and its log."""

    code: int
    result: Result
    header: log_file.LogHeader
    rows: Rows

    def where(self, **wanted: int) -> Any:
        """Which rows have these values."""
        mask = np.ones(len(self.rows["op"]), bool)
        for name, value in wanted.items():
            mask &= self.rows[name] == value
        return mask


def logged(folder: Path, node: str, *arguments: str) -> Logged:
    log, out = folder / "log.parquet", folder / "result.json"
    line = ["run", *arguments, "--device", node, "--no-prober", "--progress", "none"]
    code = cli.run([*line, "--log", str(log), "-o", str(out)])
    assert out.exists(), f"spekctl ended with code {code}"
    file = log_file.open_log(log)
    parts = list(file.columns(*log_file.COLUMNS))
    rows = {
        name: np.concatenate([part[index] for part in parts]) if parts else np.zeros(0)
        for index, name in enumerate(log_file.COLUMNS)
    }
    result = msgspec.json.decode(out.read_bytes(), type=Result)
    return Logged(code, result, file.header, rows)


# ---- full speed ----


@pytest.fixture(scope="module")
def full_speed(spek_module: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Logged]:
    """Ten seconds of all that this guest can do, into the default buffer."""
    with null_disk(irqmode=0, hw_queue_depth=256) as node:
        folder = tmp_path_factory.mktemp("full")
        yield logged(folder, node, "random-read-4k", "--time", "10s", "--depth", "64")


def test_nothing_is_lost_at_full_speed(full_speed: Logged) -> None:
    log = full_speed.result.log
    assert log is not None
    assert full_speed.code == ExitCode.OK
    ios = full_speed.result.totals.all.ios
    assert ios > 10_000, "this was not full speed"
    assert (log.lost, log.overrun, log.text, log.complete) == (0, 0, "", True)
    assert log.written == log.records == len(full_speed.rows["op"]) >= ios
    assert log.buffer_records == recorder.default_buffer(1)


def test_a_closed_loop_is_logged_as_it_was_announced(
    full_speed: Logged, controller: Controller
) -> None:
    """The I/Os of a loop finish in any order; which they are is the seed's business.

    A closed loop of one stream takes its operations one after the other, so those that were
    issued are the first ones."""
    count = min(100_000, len(full_speed.rows["op"]))
    order = np.argsort(full_speed.rows["issue_ns"], kind="stable")
    first = np.sort(full_speed.rows["address"][order][: count - 64])
    with controller.ready(config_of(full_speed)) as run:
        ops = np.frombuffer(controller.op_bytes(run, 0, count), OP_DTYPE)
    announced, times = np.unique(ops["addr"], return_counts=True)
    logged_there, logged_times = np.unique(first, return_counts=True)
    at = np.searchsorted(announced, logged_there)
    assert np.array_equal(announced[at], logged_there)
    assert (logged_times <= times[at]).all()


def config_of(run: Logged) -> RunConfig:
    """The same run without a log."""
    return msgspec.structs.replace(run.result.config, log_records=0)


def assert_the_log_counts_what_the_statistics_count(run: Logged) -> None:
    """I/Os, bytes and errors of every phase, stream and direction; nothing else is logged."""
    seen = 0
    for cell in run.result.cells:
        mine = run.where(**place_of(cell))
        fine = mine & (run.rows["error"] == 0)
        assert int(fine.sum()) == cell.ios, cell
        assert int(run.rows["bytes"][fine].sum(dtype="u8")) == cell.bytes
        assert int(mine.sum()) - cell.ios == cell.errors
        seen += int(mine.sum())
    assert seen == len(run.rows["op"])


def place_of(cell: Cell) -> dict[str, int]:
    return {
        "phase": PHASES[cell.phase],
        "stream": cell.stream,
        "op": DIRECTIONS[cell.direction],
    }


def assert_the_disk_counted_the_same(run: Logged) -> None:
    """/sys/block/*/stat as it was under the claim, against the rows."""
    sectors = run.rows["bytes"].astype("u8") // 512
    writes = run.rows["op"] == 1
    (target,) = run.result.targets
    assert target.disk is not None
    # The disk's times are held against ours in test_device_agrees.py.
    counted = msgspec.structs.replace(target.disk, read_ms=None, write_ms=None)
    assert counted == DiskCounters(
        reads=int((~writes).sum()),
        read_sectors=int(sectors[~writes].sum()),
        writes=int(writes.sum()),
        write_sectors=int(sectors[writes].sum()),
        discard_sectors=0,
    )


def assert_times_are_those_of_the_histograms(run: Logged) -> None:
    """Counts, sums and extremes exactly; percentiles within the width of a bucket, 1/128."""
    rows = run.rows
    for cell in run.result.cells:
        if cell.phase != "measure" or not cell.ios:
            continue
        mine = run.where(**place_of(cell), error=0)
        for distribution, end, start in (
            (cell.times.response, "completion_ns", "arrival_ns"),
            (cell.times.service, "completion_ns", "issue_ns"),
            (cell.times.slip, "issue_ns", "arrival_ns"),
        ):
            assert distribution is not None
            assert_same_distribution(distribution, rows[end][mine] - rows[start][mine])


def assert_same_distribution(distribution: Distribution, values: Any) -> None:
    values = np.sort(values)
    assert (distribution.count, distribution.sum_ns) == (len(values), int(values.sum(dtype="u8")))
    assert (distribution.min_ns, distribution.max_ns) == (int(values[0]), int(values[-1]))
    shares = {"p50": 500_000, "p90": 900_000, "p99": 990_000, "p99.9": 999_000}
    for name, ppm in shares.items():
        exact = int(values[-(-len(values) * ppm // 1_000_000) - 1])
        assert abs(distribution.percentiles_ns[name] - exact) <= exact / 128 + 1, name


def test_full_speed_agrees_with_all_other_accounts(full_speed: Logged) -> None:
    assert_the_log_counts_what_the_statistics_count(full_speed)
    assert_the_disk_counted_the_same(full_speed)
    assert_times_are_those_of_the_histograms(full_speed)
    rows, header = full_speed.rows, full_speed.header
    assert (rows["issue_ns"] >= rows["arrival_ns"]).all()
    assert (rows["completion_ns"] >= rows["issue_ns"]).all()
    assert int(rows["arrival_ns"].min()) >= header.started_ns
    assert int(rows["completion_ns"].max()) <= header.ended_ns


# ---- SPC-1-like ----


@pytest.fixture(scope="module")
def spc1(spek_module: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Logged]:
    """Some 10^5 I/Os of 160 BSU with a ramp-up, by two workers."""
    with null_disk(irqmode=0, hw_queue_depth=1024, max_sectors=1024) as node:
        (Path("/sys/block", os.path.basename(node), "queue/scheduler")).write_text("none")
        load = ("--bsu", "160", "--workers", "2", "--seed", "20261121", "--max-outstanding", "1024")
        length = ("--ramp-count", "5000", "--count", "60000", "--write")
        yield logged(tmp_path_factory.mktemp("spc1"), node, "spc1", *load, *length)


def test_spc1_agrees_with_all_other_accounts(spc1: Logged) -> None:
    assert spc1.code == ExitCode.OK
    assert spc1.header.complete and spc1.header.records == len(spc1.rows["phase"])
    phases = [int((spc1.rows["phase"] == code).sum()) for code in PHASES.values()]
    # The ramp-up ends for both workers at once, after its count; the count that follows is exact.
    assert phases[0] >= 5_000 and phases[1:] == [60_000, 0]
    assert_the_log_counts_what_the_statistics_count(spc1)
    assert_the_disk_counted_the_same(spc1)
    assert_times_are_those_of_the_histograms(spc1)


def test_the_header_says_what_the_numbers_mean(spc1: Logged) -> None:
    header, config = spc1.header, spc1.result.config
    assert header.streams == [stream.name for stream in config.streams]
    assert header.asus == config.asus
    assert (header.workload, header.seed, header.workers) == ("spc1", 20261121, 2)
    phases = {phase.phase: phase for phase in spc1.result.phases}
    assert header.measure_ns == phases[Phase.MEASURE].start_ns
    assert (header.started_ns, header.reason) == (phases[Phase.RAMP].start_ns, "completed")
    assert set(spc1.rows["worker"].tolist()) == {0, 1}


def test_every_row_is_an_operation_that_was_announced(spc1: Logged, controller: Controller) -> None:
    """Arrival, place, length, direction, stream and BSU, for each worker: the same, all of them."""
    rows = spc1.rows
    with controller.ready(config_of(spc1)) as run:
        for worker in (0, 1):
            mine = rows["worker"] == worker
            ops = np.frombuffer(controller.op_bytes(run, worker, int(mine.sum())), OP_DTYPE)
            order = np.lexsort((rows["address"][mine], rows["arrival_ns"][mine]))
            expected = np.lexsort((ops["addr"], ops["at_ns"]))
            for name, member in (
                ("address", "addr"),
                ("bytes", "bytes"),
                ("bsu", "replica"),
                ("stream", "stream"),
                ("asu", "asu"),
                ("op", "write"),
            ):
                assert np.array_equal(rows[name][mine][order], ops[member][expected]), name
            arrivals = rows["arrival_ns"][mine][order] - spc1.header.started_ns
            assert np.array_equal(arrivals, ops["at_ns"][expected])


def complete_rows(run: Logged) -> Rows:
    """The rows before the first worker came to its count, in order of arrival."""
    rows = run.rows
    last = min(int(rows["arrival_ns"][rows["worker"] == worker].max()) for worker in (0, 1))
    mine = np.flatnonzero(rows["arrival_ns"] <= last)
    mine = mine[np.argsort(rows["arrival_ns"][mine], kind="stable")]
    return {name: values[mine] for name, values in rows.items()}


def assert_share(count: int, of: int, share: float, what: str) -> None:
    """As a binomial draw, within SIGMAS standard errors."""
    error = math.sqrt(share * (1 - share) * of)
    assert abs(count - share * of) <= SIGMAS * error + 1e-9, f"{what}: {count} of {of}"


def test_the_mix_of_the_log_is_spc1s(spc1: Logged) -> None:
    """Shares of streams, reads and sizes, and the bounds of every stream."""
    rows, streams = complete_rows(spc1), spc1.result.config.streams
    total = len(rows["op"])
    assert total > 50_000
    weights = sum(stream.weight for stream in streams)
    for index, stream in enumerate(streams):
        mine = rows["stream"] == index
        count = int(mine.sum())
        assert_share(count, total, stream.weight / weights, f"stream {stream.name}")
        reads = int((rows["op"][mine] == 0).sum())
        assert_share(reads, count, stream.read_ppm / 1e6, f"reads of {stream.name}")
        sizes = sum(size.weight for size in stream.sizes)
        for size in stream.sizes:
            of_size = int((rows["bytes"][mine] == size.bytes).sum())
            assert_share(
                of_size, count, size.weight / sizes, f"{size.bytes} bytes in {stream.name}"
            )
        start = rows["address"][mine]
        end = start + rows["bytes"][mine]
        assert int(start.min()) >= stream.range_start
        assert int(end.max()) <= stream.range_start + stream.range_bytes
        assert set(rows["asu"][mine].tolist()) == {stream.asu}
        assert set(rows["bsu"][mine].tolist()) == set(range(160))


def kolmogorov_p(distance: float, n: int) -> float:
    """Probability of at least this distance: the asymptotic law, with Stephens's correction."""
    scaled = (math.sqrt(n) + 0.12 + 0.11 / math.sqrt(n)) * distance
    terms = ((-1) ** (k - 1) * math.exp(-2 * (k * scaled) ** 2) for k in range(1, 101))
    return float(min(1.0, 2 * sum(terms)))


def test_arrivals_in_the_log_are_independent_and_exponential(spc1: Logged) -> None:
    """Gaps of every stream and of all together: Kolmogorov-Smirnov, and the correlation of
    neighbours. The mean is the offered one, so a wrong rate fails as well."""
    rows, streams = complete_rows(spc1), spc1.result.config.streams
    weights = sum(stream.weight for stream in streams)
    shares = {index: stream.weight / weights for index, stream in enumerate(streams)}
    for index, share in [*shares.items(), (None, 1.0)]:
        mine = rows["stream"] == index if index is not None else slice(None)
        gaps = np.diff(rows["arrival_ns"][mine]).astype(float)
        n, mean = len(gaps), 1e9 / (160 * 50 * share)
        expected = -np.expm1(-np.sort(gaps) / mean)
        ranks = np.arange(n)
        distance = max((expected - ranks / n).max(), ((ranks + 1) / n - expected).max())
        assert kolmogorov_p(float(distance), n) > 1e-5, f"stream {index}: {distance}"
        neighbours = np.corrcoef(gaps[:-1], gaps[1:])[0, 1]
        assert abs(neighbours) <= SIGMAS / math.sqrt(n), f"stream {index}"


def repeated_writes(rows: Rows, walks: Sequence[int]) -> tuple[int, int]:
    """Writes of walks that follow one of the same stream and BSU; those on the same place."""
    mine = np.flatnonzero(np.isin(rows["stream"], walks) & (rows["op"] == 1))
    # Stable: in each stream and BSU they stay in order of arrival.
    order = mine[np.lexsort((rows["bsu"][mine], rows["stream"][mine]))]
    stream, bsu, address = (rows[name][order] for name in ("stream", "bsu", "address"))
    follows = (stream[1:] == stream[:-1]) & (bsu[1:] == bsu[:-1])
    return int(follows.sum()), int((follows & (address[1:] == address[:-1])).sum())


def test_walks_in_the_log_write_again_what_they_wrote(spc1: Logged) -> None:
    """.15 / 1.15 of a walk's writes repeat the one before, since a repeated one is not repeated
    again. Some more meet by chance: how many is taken from the core, with another seed."""
    config = config_of(spc1)
    walks = [index for index, stream in enumerate(config.streams) if stream.pattern == "walk"]
    reseeded = msgspec.structs.replace(config, seed=config.seed + 1)
    ops = [generator.ops(250_000) for generator in generators(reseeded)]
    expected = [repeated_writes(as_rows(ops_of), walks) for ops_of in ops]
    share = sum(repeated for _, repeated in expected) / sum(writes for writes, _ in expected)
    assert 0.15 / 1.15 < share < 0.15 / 1.15 + 0.015

    writes, repeated = repeated_writes(complete_rows(spc1), walks)

    assert writes > 10_000
    assert_share(repeated, writes, share, "writes of walks that repeat the one before")


def as_rows(ops: Any) -> Rows:
    """Operations of the core by the names of the log."""
    names = {"stream": "stream", "op": "write", "bsu": "replica", "address": "addr"}
    return {name: ops[member] for name, member in names.items()}


# ---- loss, errors, the end ----


def read_all(run: int, worker: int = 0) -> Any:
    data = b""
    with Path(buffer.debugfs(), f"spek/{run}/worker{worker}").open("rb", buffering=0) as file:
        while piece := file.read(1 << 20):
            data += piece
    return np.frombuffer(data, TYPE)


def with_log(node: str, records: int, **options: Any) -> RunConfig:
    return msgspec.structs.replace(one_stream(node, **options), log_records=records)


@pytest.mark.debug_kernel
def test_what_nobody_reads_is_lost_and_counted(controller: Controller) -> None:
    """1024 records are there, those of the first I/Os to come back; the others are counted."""
    count = 20_000
    with null_disk(irqmode=0) as node:
        config = with_log(node, 1000, count=count, depth=8)
        with controller.ready(config) as run:
            outcome = controller.finish(run)
            rows = read_all(run)
            again = read_all(run)
            ops = np.frombuffer(controller.op_bytes(run, 0, count), OP_DTYPE)
    assert_completed(outcome)
    (worker,) = outcome.info.workers
    assert (worker.log_written, worker.log_lost) == (1024, count - 1024)
    assert (len(rows), len(again)) == (1024, 0)
    # 8 were outstanding at a time: the first 1024 to finish are among the first to be issued.
    assert set(rows["addr"].tolist()) <= set(ops["addr"][: 1024 + 8].tolist())


@pytest.mark.debug_kernel
def test_loss_is_counted_exactly_with_a_reader_that_stops_and_goes(controller: Controller) -> None:
    """written + lost is every I/O, and written is what a reader gets, in all."""
    with null_disk(irqmode=0) as node:
        config = with_log(node, 1024, time_ns=3600 * 10**9, depth=8)
        taken = 0
        with controller.ready(config) as run:
            path = Path(buffer.debugfs(), f"spek/{run}/worker0")
            with path.open("rb", buffering=0) as file:
                controller.run_start(run)
                for _ in range(15):
                    taken += len(file.read(300 * 48) or b"") // 48
                    before = lost(controller, run)
                    eventually(lambda: lost(controller, run) > before, "nothing is lost")  # noqa: B023
                controller.run_stop(run)
                info = controller.wait_done(run)
                while piece := file.read(1 << 20):
                    taken += len(piece) // 48
            outcome = Outcome(info, controller.stats(run))
    assert (info.reason, info.errors) == (Reason.STOPPED, 0)
    (worker,) = info.workers
    assert worker.log_written == taken > 1024
    assert worker.log_lost > 0
    assert worker.log_written + worker.log_lost == outcome.ios()


def lost(controller: Controller, run: int) -> int:
    """Records of a run's only worker that found no room."""
    (worker,) = controller.run_get(run).workers
    return worker.log_lost


def test_spekctl_says_what_a_small_buffer_lost(spek_module: Path, tmp_path: Path) -> None:
    with null_disk(irqmode=0, hw_queue_depth=256) as node:
        run = logged(
            tmp_path,
            node,
            "random-read-4k",
            "--time",
            "2s",
            "--log-buffer",
            "1024",
            "--depth",
            "64",
        )
    log = run.result.log
    assert log is not None
    ios = sum(cell.ios for cell in run.result.cells)
    assert log.records == log.written == len(run.rows["op"])
    assert log.records + log.lost == ios
    assert log.lost == log.overrun == run.header.lost
    assert log.complete == run.header.complete == (log.lost == 0)
    assert run.code == ExitCode.OK


@contextlib.contextmanager
def partly_broken(node: str, start: int, length: int) -> Iterator[str]:
    """A disk on @node of 64 MiB where everything from @start on, for @length bytes, fails."""
    end = start + length
    pieces = [
        f"0 {start // 512} linear {node} 0",
        f"{start // 512} {length // 512} error",
        f"{end // 512} {(64 * MIB - end) // 512} linear {node} {end // 512}",
    ]
    with mapped_disk("spek-broken", "\n".join(pieces)) as top:
        yield top


@pytest.mark.debug_kernel
def test_failed_ios_are_logged_with_their_error(spek_module: Path, tmp_path: Path) -> None:
    """An eighth of the disk is bad. Every I/O there fails, no other, and the log says which."""
    start, length = 8 * MIB, 8 * MIB
    with null_disk(size_mb=64) as below, partly_broken(below, start, length) as node:
        run = logged(tmp_path, node, "random-read-4k", "--count", "6000", "--depth", "16")
    assert run.code == ExitCode.RUN_FAILED
    inside = (run.rows["address"] >= start) & (run.rows["address"] < start + length)
    assert int(inside.sum()) > 600
    assert set(run.rows["error"][inside].tolist()) == {errno.EIO}
    assert set(run.rows["error"][~inside].tolist()) == {0}
    assert_the_log_counts_what_the_statistics_count(run)
    assert run.result.outcome.errors == int(inside.sum())
    assert run.header.complete


@pytest.mark.debug_kernel
def test_the_log_of_an_interrupted_run_is_whole(spek_module: Path, tmp_path: Path) -> None:
    def press() -> None:
        while not running():
            time.sleep(0.05)
        time.sleep(1.5)
        os.kill(os.getpid(), signal.SIGINT)

    presser = threading.Thread(target=press, daemon=True)
    with null_disk(irqmode=2, completion_nsec=1_000_000) as node:
        presser.start()
        run = logged(tmp_path, node, "mixed-70-30-8k", "--time", "100s", "--write")
    presser.join()
    assert run.code == ExitCode.INTERRUPTED
    assert run.header.reason == "stopped"
    assert run.header.complete
    assert len(run.rows["op"]) == run.header.records > 0
    assert_the_log_counts_what_the_statistics_count(run)
    assert_the_disk_counted_the_same(run)


def running() -> bool:
    """Does a run with a log complete I/Os?"""
    with Controller() as own:
        return any(worker.log_written > 0 for info in own.runs() for worker in info.workers)


@pytest.mark.debug_kernel
def test_nothing_stays_behind(controller: Controller) -> None:
    with null_disk() as node:
        with controller.ready(with_log(node, 1024, count=10)) as run:
            directory = Path(buffer.debugfs(), f"spek/{run}")
            assert [path.name for path in directory.iterdir()] == ["worker0"]
            outcome = controller.finish(run)
            assert outcome.info.log_dir == f"spek/{run}"
            assert len(read_all(run)) == 10
        assert not directory.exists()
        with controller.ready(one_stream(node, count=10)) as run:
            outcome = controller.finish(run)
            assert (outcome.info.log_dir, outcome.info.log_records) == ("", 0)
            assert not Path(buffer.debugfs(), f"spek/{run}").exists()
            assert outcome.ios(Direction.READ, Phase.MEASURE) == 10


@pytest.mark.debug_kernel
def test_the_files_go_with_the_run_although_a_dump_still_reads_it(controller: Controller) -> None:
    """A deleted run has no files: its number can be given to another one."""
    with null_disk() as node, Socket(spek) as reader:
        with controller.ready(with_log(node, 1024, count=10)) as run:
            directory = Path(buffer.debugfs(), f"spek/{run}")
            controller.finish(run)
            asked = {"run": run, "worker": 0, "count": 1_000_000}
            # Begun and never read: the dump has its reference until the socket is closed.
            request = reader.request_bytes(Cmd.OP_GET, asked, NLM_F_REQUEST | NLM_F_DUMP)
            reader.sock.send(request)
            assert directory.exists()
        assert not directory.exists()


@pytest.mark.debug_kernel
def test_nobody_waits_for_a_reader(controller: Controller) -> None:
    """A read whose buffer does not come holds up neither the end of its run nor anybody else."""
    memory = mmap.mmap(-1, mmap.PAGESIZE)
    got: list[int] = []
    with null_disk() as node, absent(memory) as come:
        with controller.ready(with_log(node, 1024, count=10)) as run:
            controller.finish(run)
            file = os.open(Path(buffer.debugfs(), f"spek/{run}/worker0"), os.O_RDONLY)
            reader = threading.Thread(target=lambda: got.append(os.readv(file, [memory])))
            reader.start()
            call = Path(f"/proc/self/task/{reader.native_id}/syscall")
            eventually(lambda: call.read_text().startswith(f"{SYS.readv} "), "it does not wait")
        assert not Path(buffer.debugfs(), f"spek/{run}").exists()
        assert not [info for info in controller.runs() if info.id == run]
        assert not got
        waiting = select.poll()
        waiting.register(file, select.POLLIN)
        assert waiting.poll(LONG_S * 1000)[0][1] & select.POLLHUP
        come()
        reader.join()
    assert got == [10 * TYPE.itemsize]
    assert os.read(file, mmap.PAGESIZE) == b""
    os.close(file)


def test_without_debugfs_nothing_is_started(
    spek_module: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    null_blk: Callable[..., str],
    capfd: pytest.CaptureFixture[str],
) -> None:
    mounts = tmp_path / "mounts"
    mounts.write_text("proc /proc proc rw 0 0\n")
    monkeypatch.setattr(buffer, "MOUNTS", mounts)
    node = null_blk(size_mb=64)
    stat = Path("/sys/block", os.path.basename(node), "stat")
    before = stat.read_text().split()[:8]
    line = ["run", "random-read-4k", "--device", node, "--log", str(tmp_path / "log")]
    assert cli.run(line) == ExitCode.USAGE
    assert "mount -t debugfs" in capfd.readouterr().err
    assert stat.read_text().split()[:8] == before
