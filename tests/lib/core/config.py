# SPDX-License-Identifier: GPL-2.0
"""A run's configuration as the core takes it."""

from __future__ import annotations

from lib.core import spekcore

from spekctl.kernel.gen.spek import Operation
from spekctl.workload.config import RunConfig


def core_of(config: RunConfig) -> spekcore.Workload:
    """The same numbers as the module's core takes them."""
    return spekcore.Workload(
        [
            spekcore.Asu(
                asu.bytes,
                asu.stripe_bytes,
                [(one.target, one.start) for one in asu.extents],
                asu.zone_bytes,
                asu.open_zones,
            )
            for asu in config.asus
        ],
        [
            spekcore.Arrival(
                law=one.law,
                depth=one.depth,
                think_ns=one.think_ns,
                rate=one.rate_milli / 1000,
                burst_length=one.burst_length,
                burst_interval_ns=one.burst_interval_ns,
                curve=[(at / 1e9, milli / 1000) for at, milli in one.points],
                repeats=one.repeats,
                on_ns=one.on_ns,
                off_ns=one.off_ns,
                tail_milli=one.tail_milli,
            )
            for one in config.arrivals
        ],
        [
            spekcore.Stream(
                pattern=one.pattern,
                sizes=[(size.bytes, size.weight) for size in one.sizes],
                asu=one.asu,
                arrival=one.arrival,
                weight=one.weight,
                replicas=one.replicas,
                read_ppm=one.read_ppm,
                range_start=one.range_start,
                range_bytes=one.range_bytes,
                align_bytes=one.align_bytes,
                seq_ppm=one.seq_ppm,
                stride_bytes=one.stride_bytes,
                jitter_bytes=one.jitter_bytes,
                run_bytes=one.run_bytes,
                restart_bytes=one.restart_bytes,
                run_align_bytes=one.run_align_bytes,
                walk_style=one.walk_style,
                parts=one.parts,
                spread=one.spread,
                operation=Operation[one.operation.upper().replace("-", "_")],
                fua=one.fua,
                own_data=one.own_data,
                compressible_ppm=one.compressible_ppm,
                duplicate_ppm=one.duplicate_ppm,
                fill=bytes.fromhex(one.fill),
            )
            for one in config.streams
        ],
    )
