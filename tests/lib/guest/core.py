# SPDX-License-Identifier: GPL-2.0
"""The module's core in userspace, inside the guest: what a run must generate.

The library is built where both sides see it, and on the host, when these tests are collected: a
compiler takes a minute in an emulated guest.
"""

from __future__ import annotations

import os
from collections.abc import Callable

from lib.core import spekcore
from lib.core.build import ROOT

from spekctl.workload.config import RunConfig

_CACHE = "XDG_CACHE_HOME"


def _in_shared_cache(act: Callable[[], object]) -> None:
    """@act, with a cache that host and guest have in common."""
    usual = os.environ.get(_CACHE)
    os.environ[_CACHE] = str(ROOT / "out" / "cache")
    try:
        act()
    finally:
        os.environ.pop(_CACHE)
        if usual is not None:
            os.environ[_CACHE] = usual


def core_workload(config: RunConfig) -> spekcore.Workload:
    """The workload of a configuration, as the core takes it."""
    _in_shared_cache(spekcore.library)
    return spekcore.Workload(
        [
            spekcore.Asu(asu.bytes, asu.stripe_bytes, [(e.target, e.start) for e in asu.extents])
            for asu in config.asus
        ],
        [
            spekcore.Arrival(
                arrival.law,
                arrival.depth,
                arrival.think_ns,
                arrival.rate_milli / 1000,
                arrival.burst_length,
                arrival.burst_interval_ns,
                curve=[(at / 1e9, milli / 1000) for at, milli in arrival.points],
                repeats=arrival.repeats,
                on_ns=arrival.on_ns,
                off_ns=arrival.off_ns,
                tail_milli=arrival.tail_milli,
                pause_ns=arrival.pause_ns,
                pause_every=arrival.pause_every,
                pause_counts_completed=arrival.pause_counts_completed,
                pause_after_ns=arrival.pause_after_ns,
                count=arrival.count,
            )
            for arrival in config.arrivals
        ],
        [spekcore.Stream.of(stream) for stream in config.streams],
    )


def generators(config: RunConfig, start_ns: int = 0) -> list[spekcore.Generator]:
    """The generator of each worker of a run that started at @start_ns."""
    workers = len(config.cpus)
    wl = core_workload(config)
    return [
        spekcore.Generator(wl, config.seed, worker, workers, start_ns) for worker in range(workers)
    ]


def arrivals_before(config: RunConfig, start_ns: int, end_ns: int) -> int:
    """How many I/Os the seed lets arrive in [start, end), over all workers."""
    return sum(generator.backlog(end_ns - 1) for generator in generators(config, start_ns))


if "SPEK_GUEST" not in os.environ:
    # Not library(): other tests here have loaded theirs, from elsewhere, and it is kept.
    _in_shared_cache(spekcore.compiled)
