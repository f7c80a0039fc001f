# SPDX-License-Identifier: GPL-2.0
"""In the guest: one run of one row, timed by the guest's clock, which counts instructions."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np
from bench.caches import Cache
from bench.cases import SLOW, DiskKind, Point, Runner
from lib.guest.drive import Controller, assert_completed, one_stream, shipped
from lib.guest.drive import Outcome as Finished

from spekctl.documents.histogram import mean
from spekctl.kernel.records import Metric, RunInfo
from spekctl.kernel.traces import BATCH, TraceLink
from spekctl.run.replay import RECORD
from spekctl.workload.config import RunConfig

PARAMETERS = Path("/sys/module/spek_floor/parameters")
CALM_S = 1.0
RAMP = 1_000  # I/Os of spek before those that are timed
ROW_NS = 10_000_000
SPIN_NS = 100_000  # longer than any disk here takes
SECOND_NS = 1_000_000_000
# Twenty thousand BSUs offer a million I/Os per second: more than any guest can serve.
SPC1_BSUS = 20_000


class Times(NamedTuple):
    """Times of a run in ns: what counts, what passed, and the mean response time that the load
    generator reports; 0 for what is not known."""

    ns: int
    elapsed_ns: int
    response_ns: float


class Run(NamedTuple):
    """What a runner reports of a run: the time that passed and the mean response time, in ns; 0
    for what it does not know."""

    elapsed_ns: int
    response_ns: float = 0.0


class BrokenRunError(Exception):
    """A run did not do what it was to do: its time means nothing."""


def run_program(command: list[str]) -> str:
    """Run a program; its standard output."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise BrokenRunError(f"{' '.join(command)}: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout


def run_floor(
    module: Path, node: str, path: str, depth: int, batch: int, count: int, *options: str
) -> int:
    """ns of a run of the floor module."""
    words = [f"device={node}", f"path={path}", f"depth={depth}", f"batch={batch}"]
    run_program(["insmod", str(module), *words, f"count={count}", *options])
    elapsed_ns = int((PARAMETERS / "elapsed_ns").read_text())
    run_program(["rmmod", "spek_floor"])
    return elapsed_ns


def copy_program(program: str, folder: Path) -> list[str]:
    """Copy a program and its libraries; the beginning of a command that runs the copy.

    The guest's root is the host's, over 9p. While a program waits for that the guest is idle and
    its clock runs ahead as fast as timers can fire, which is work nobody asked for.
    """
    source = shutil.which(program)
    if source is None:
        raise BrokenRunError(f"{program} is not installed")
    folder.mkdir()
    libraries = libraries_of(run_program(["ldd", source]))
    for path in (source, *libraries):
        shutil.copy2(path, folder)
    (loader,) = [path for path in libraries if Path(path).name.startswith("ld-linux")]
    return [
        str(folder / Path(loader).name),
        *("--library-path", str(folder)),
        str(folder / Path(source).name),
    ]


def libraries_of(ldd: str) -> list[str]:
    """Paths in the output of ldd, the loader's included."""
    libraries = []
    for line in ldd.splitlines():
        words = line.split("=>")[-1].split()
        if words and words[0].startswith("/"):
            libraries.append(words[0])
    return libraries


def idle_ns() -> int:
    """Time that the only CPU was idle, to the nanosecond: /proc/stat counts in 10 ms."""
    for line in Path("/proc/timer_list").read_text().splitlines():
        name, _, value = line.partition(":")
        if name.strip() == "idle_sleeptime" or name.strip() == ".idle_sleeptime":
            return int(value.split()[0])
    raise BrokenRunError("/proc/timer_list has no idle_sleeptime")


class Drivers:
    """Runs the rows; owns the connection to spek."""

    def __init__(
        self,
        tools: Path,
        nodes: dict[str, str],
        fio: list[str],
        caches: Mapping[DiskKind, Cache] | None = None,
    ) -> None:
        """@tools: directory with spek_floor.ko and uring; @nodes: device node of each disk;
        @fio: the beginning of a command that runs it; @caches: those among the disks."""
        self.caches = caches or {}
        self.tools = tools
        self.fio = fio
        self.nodes = nodes
        self.controller: Controller | None = None
        self._run: dict[Runner, Callable[[Point, int], Run]] = {
            "floor": self._floor,
            "spek": self._spek,
            "uring": self._uring,
            "fio": self._fio,
        }

    def connect(self) -> Controller:
        """The connection to spek, which must be loaded."""
        if self.controller is None:
            self.controller = Controller()
        return self.controller

    def time(self, point: Point, count: int) -> Times:
        """Times of a run of @count I/Os."""
        set_iostats(self.nodes[point.row.disk], point.conditions.iostats)
        cache = self.caches.get(point.row.disk)
        if cache:
            cache.prepare()
        # What the last run has left to be done later is done now.
        time.sleep(CALM_S)
        if not point.row.counts_busy_time:
            run = self._run[point.row.runner](point, count)
            return Times(run.elapsed_ns, run.elapsed_ns, run.response_ns)
        start_ns, start_idle_ns = time.monotonic_ns(), idle_ns()
        run = self._run[point.row.runner](point, count)
        end_idle_ns, end_ns = idle_ns(), time.monotonic_ns()
        busy_ns = end_ns - start_ns - (end_idle_ns - start_idle_ns)
        return Times(busy_ns, run.elapsed_ns, run.response_ns)

    def _floor(self, point: Point, count: int) -> Run:
        path, *rest = point.row.arguments
        conditions = point.conditions
        elapsed_ns = run_floor(
            self.tools / "spek_floor.ko",
            self.nodes[point.row.disk],
            path,
            conditions.depth,
            conditions.batch,
            count,
            *rest,
        )
        return Run(elapsed_ns)

    def _uring(self, point: Point, count: int) -> Run:
        conditions = point.conditions
        words = [str(number) for number in (count, conditions.depth, conditions.batch)]
        command = [str(self.tools / "uring"), self.nodes[point.row.disk], *words]
        return Run(int(run_program([*command, *point.row.arguments])))

    def _fio(self, point: Point, count: int) -> Run:
        conditions = point.conditions
        command = [*self.fio, "--name=bench"]
        command += [f"--filename={self.nodes[point.row.disk]}"]
        command += ["--rw=randread", "--bs=4k", "--direct=1", "--readonly"]
        command += [f"--iodepth={conditions.depth}", f"--number_ios={count}"]
        command += [
            word.format(batch=conditions.batch, depth=conditions.depth)
            for word in point.row.arguments
        ]
        (job,) = msgspec.json.decode(run_program([*command, "--output-format=json"]))["jobs"]
        # Without its elapsed time, of which its start is a part.
        return Run(0, job["read"]["lat_ns"]["mean"])

    def _spek(self, point: Point, count: int) -> Run:
        config = spek_config(point, self.nodes[point.row.disk], count)
        cache = self.caches.get(point.row.disk)
        with cache.hitting() if cache else contextlib.nullcontext():
            return self._spek_run(point, config, count)

    def _spek_run(self, point: Point, config: RunConfig, count: int) -> Run:
        response_ns = 0.0
        if "replay" in point.row.arguments:
            info = self.replay(config, count)
        else:
            outcome = self.finish_with_times(config, times=point.row.disk in SLOW)
            info = outcome.info
            if outcome.cells:
                response_ns = mean(outcome.times(Metric.RESPONSE))
        if "log" in point.row.arguments:
            check_log(info, RAMP + count)
        return Run(info.drain_ns - info.measure_ns, response_ns)

    def finish(self, config: RunConfig) -> RunInfo:
        """Carry out a run that must complete by itself."""
        return self.finish_with_times(config, times=False).info

    def replay(self, config: RunConfig, count: int) -> RunInfo:
        """Carry out a run that replays @count reads, all of which are fed before it starts."""
        draw = np.random.default_rng(1)
        (stream,), (size,) = config.streams, config.streams[0].sizes
        records = np.zeros(count, RECORD)
        records["addr"] = draw.integers(0, stream.range_bytes // size.bytes, count) * size.bytes
        records["bytes"] = size.bytes
        controller = self.connect()
        with controller.ready(config) as run, TraceLink() as feed:
            for first in range(0, count, BATCH):
                part = records[first : first + BATCH]
                accepted = feed.feed(run, 0, part.view(np.uint8).data)
                if accepted != len(part):
                    raise BrokenRunError(f"{accepted} of {len(part)} records were accepted")
            feed.end(run, count)
            outcome = controller.finish(run)
        assert_completed(outcome)
        return outcome.info

    def finish_with_times(self, config: RunConfig, times: bool = True) -> Finished:
        """The same, with its histograms."""
        controller = self.connect()
        with controller.ready(config) as run:
            controller.run_start(run)
            info = controller.wait_done(run)
            outcome = Finished(info, controller.stats(run) if times else [])
        assert_completed(outcome)
        return outcome


def spek_config(point: Point, node: str, count: int) -> RunConfig:
    """The run of a row of spek."""
    backend, *rest = point.row.arguments
    conditions = point.conditions
    if "spc1" in rest:
        return shipped(
            "spc1",
            node,
            bsu=SPC1_BSUS,
            count=count,
            ramp_count=RAMP,
            workers=1,
            backend=backend,
            batch=conditions.batch,
            max_outstanding=conditions.depth,
            interval_ns=SECOND_NS,
        )
    replays = "replay" in rest
    config = one_stream(
        node,
        pattern="trace" if replays else "uniform",
        backend=backend,
        depth=conditions.depth,
        batch=conditions.batch,
        count=0 if replays else count,
        read_ppm=0 if "writes" in rest else 1_000_000,
        polled="polled" in rest,
        interval_ns=ROW_NS if "rows" in rest else SECOND_NS,
    )
    log_records = RAMP + count if "log" in rest else 0
    spin_ns = SPIN_NS if "spin" in rest else 0
    return msgspec.structs.replace(
        config,
        ramp_count=0 if replays else RAMP,
        log_records=log_records,
        spin_ns=spin_ns,
        trace_records=count if replays else 0,
    )


def check_log(info: RunInfo, count: int) -> None:
    """Every I/O must be in the log, else it was not paid for."""
    (worker,) = info.workers
    if worker.log_written != count or worker.log_lost:
        raise BrokenRunError(
            f"the log has {worker.log_written} records of {count}, {worker.log_lost} were lost"
        )


def set_iostats(node: str, on: bool) -> None:
    """Whether the disk keeps its statistics."""
    Path("/sys/block", os.path.basename(node), "queue/iostats").write_text(str(int(on)))
