# SPDX-License-Identifier: GPL-2.0
"""In the guest: what is not a cost per I/O. The prober, the open loop, spek doing nothing."""

from __future__ import annotations

import time
from collections.abc import Iterator

import msgspec
from bench import raw
from bench.counts import context_switches
from bench.drivers import CALM_S, SECOND_NS, Drivers, idle_ns, run_floor, set_iostats
from lib.guest.drive import one_stream

from spekctl.documents.histogram import percentile
from spekctl.kernel.prober import Prober
from spekctl.kernel.records import Metric, Phase
from spekctl.workload.config import ResolvedArrival, RunConfig
from spekctl.workload.values import Law

FLOOR_SHORT, FLOOR_LONG = 4_000, 44_000
SAMPLED_IOS = 80_000
SAMPLE_NS = 1_000_000
SCALING_PAIRS, SCALING_NS = 7, SECOND_NS
LOOP_SHORT_NS, LOOP_LONG_NS = SECOND_NS // 2, 5 * SECOND_NS // 2
# law, I/Os per second, ns of spinning before an arrival
LOOPS: tuple[tuple[Law, int, int], ...] = (
    ("poisson", 1_000, 0),
    ("poisson", 1_000, 20_000),
    ("poisson", 1_000, 100_000),
    ("constant", 1_000, 0),
    ("poisson", 10_000, 0),
    ("poisson", 10_000, 20_000),
)


def _floor(drivers: Drivers, count: int) -> int:
    module, node = drivers.tools / "spek_floor.ko", drivers.nodes["plain"]
    set_iostats(node, False)
    time.sleep(CALM_S)
    return run_floor(module, node, "mq", 32, 16, count)


def floor_before_spek(drivers: Drivers, passes: int) -> Iterator[raw.Idle]:
    """What the floor costs where spek is not loaded: idle, it must not make a difference."""
    for number in range(1, passes + 1):
        for count in (FLOOR_SHORT, FLOOR_LONG):
            yield raw.Idle(number, count, _floor(drivers, count))


# ---- the prober ----


def sampling(drivers: Drivers, passes: int) -> Iterator[raw.Sampling]:
    """What a busy CPU loses to the prober."""
    with Prober() as prober:
        for number in range(1, passes + 1):
            alone_ns = _floor(drivers, SAMPLED_IOS)
            probe = prober.start(SAMPLE_NS)
            sampled_ns = _floor(drivers, SAMPLED_IOS)
            info = prober.stop(probe)
            prober.delete(probe)
            yield raw.Sampling(
                number=number,
                interval_ns=SAMPLE_NS,
                alone_ns=alone_ns,
                sampled_ns=sampled_ns,
                inside_ns=info.cost_sum_ns / info.rows,
            )


# ---- the open loop ----


def _loop_config(node: str, law: Law, iops: int, spin_ns: int, time_ns: int) -> RunConfig:
    config = one_stream(
        node,
        arrival=ResolvedArrival("main", law, rate_milli=iops * 1000),
        max_outstanding=256,
        backend="mq",
        time_ns=time_ns,
        interval_ns=SECOND_NS,
    )
    return msgspec.structs.replace(config, spin_ns=spin_ns)


def open_loops(drivers: Drivers) -> Iterator[raw.OpenLoop]:
    """How late the worker issues I/Os, and what waiting for their time costs it.

    Each at two lengths: what setting up and reading a run costs is in both.
    """
    for law, iops, spin_ns in LOOPS:
        for time_ns in (LOOP_SHORT_NS, LOOP_LONG_NS):
            config = _loop_config(drivers.nodes["plain"], law, iops, spin_ns, time_ns)
            yield _open_loop(drivers, config)


def _open_loop(drivers: Drivers, config: RunConfig) -> raw.OpenLoop:
    switches, idle, start_ns = context_switches(), idle_ns(), time.monotonic_ns()
    outcome = drivers.finish_with_times(config)
    spent_ns = time.monotonic_ns() - start_ns
    idle, switches = idle_ns() - idle, context_switches() - switches
    (worker,), (arrival,) = outcome.info.workers, config.arrivals
    slip = outcome.times(Metric.SLIP)
    return raw.OpenLoop(
        law=arrival.law,
        iops=arrival.rate_milli // 1000,
        spin_ns=config.spin_ns,
        ios=outcome.ios(),
        elapsed_ns=outcome.info.ended_ns - outcome.info.started_ns,
        worker_ns=worker.cpu_ns,
        busy_ns=spent_ns - idle,
        switches=switches,
        slip_p50_ns=percentile(slip, 500_000),
        slip_p99_ns=percentile(slip, 990_000),
        slip_max_ns=slip.max_ns,
    )


# ---- two workers ----


def scaling(drivers: Drivers, node: str) -> Iterator[raw.Scaling]:
    """Throughput of one worker and of two, each on a CPU of its own, by turns."""
    for number in range(1, SCALING_PAIRS + 1):
        iops = []
        for workers in (1, 2):
            config = one_stream(
                node,
                backend="mq",
                depth=32 * workers,
                workers=workers,
                time_ns=SCALING_NS,
                batch=16,
            )
            outcome = drivers.finish_with_times(config)
            measured_ns = outcome.info.drain_ns - outcome.info.measure_ns
            iops.append(outcome.ios(phase=Phase.MEASURE) * SECOND_NS / measured_ns)
        yield raw.Scaling(number=number, one_iops=iops[0], two_iops=iops[1])
