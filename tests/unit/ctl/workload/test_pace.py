# SPDX-License-Identifier: GPL-2.0
"""What sets the pace of a load."""

from __future__ import annotations

import pytest
from lib.ctl import results
from msgspec.structs import replace

from spekctl.run import until
from spekctl.workload import pace
from spekctl.workload.config import RunConfig
from spekctl.workload.endings import Metric, Steady


def config_of(*laws: str, **changes: object) -> RunConfig:
    """A load with these arrivals, each with a stream of its own."""
    config = results.build().config
    arrivals = [replace(config.arrivals[0], law=law, **changes) for law in laws]
    streams = [replace(config.streams[0], arrival=number) for number in range(len(laws))]
    return replace(config, arrivals=arrivals, streams=streams)


@pytest.mark.parametrize(
    ("config", "reason"),
    [
        (config_of("closed"), ""),
        (config_of("closed", think_ns=5), "the think time"),
        (config_of("closed", pause_ns=5), "the pauses"),
        (config_of("closed", rate_milli=5000), "the limit of 5.0"),
        (config_of("poisson"), "the offered rate of"),
        (config_of("constant", "poisson"), "the offered rate of"),
        (config_of("poisson", "closed"), ""),
        (config_of("trace"), "the times of the trace"),
        (config_of(), ""),
    ],
)
def test_a_closed_loop_without_pauses_has_no_pace(config: RunConfig, reason: str) -> None:
    said = pace.pace_of_all(config)
    assert said.startswith(reason) and bool(said) == bool(reason)


def test_a_trace_in_a_closed_loop_waits_for_completions() -> None:
    assert pace.pace_of_all(config_of("trace"), trace_waits=True) == ""


def test_arrivals_without_streams_set_nothing() -> None:
    config = config_of("closed", "poisson")
    first, second = config.streams
    unused = replace(config, streams=[first, replace(second, weight=0)])
    assert pace.used(unused) == [config.arrivals[0]]


def test_a_direction_has_the_pace_of_the_arrivals_that_have_it() -> None:
    config = config_of("poisson", "closed")
    reads, writes = config.streams
    apart = [replace(reads, read_ppm=1_000_000), replace(writes, read_ppm=0)]
    config = replace(config, streams=apart)
    assert pace.pace_of_all(config, side="read").startswith("the offered rate of")
    assert pace.pace_of_all(config, side="write") == ""
    mixed = replace(config, streams=[replace(reads, read_ppm=500_000), apart[1]])
    assert pace.pace_of_all(mixed, side="write") == ""


@pytest.mark.parametrize(
    ("law", "changes"),
    [
        ("poisson", {}),
        ("constant", {}),
        ("closed", {"rate_milli": 5000}),
        ("closed", {"think_ns": 5}),
        ("closed", {"pause_ns": 5}),
        ("trace", {}),
    ],
)
def test_steady_state_is_of_a_figure_that_the_law_leaves_to_the_device(
    law: str, changes: dict[str, int]
) -> None:
    paced = config_of(law, **changes)
    chosen = until.chosen(Steady(), paced)
    assert chosen is not None and chosen.metrics == (Metric("latency"),)
    assert until.remarks(chosen, paced) == []
    (remark,) = until.remarks(Steady((Metric("iops"),)), paced)
    assert remark.endswith("; steady:latency tells")
    assert until.chosen(Steady(), config_of("closed")) == Steady((Metric("iops"),))
    assert until.remarks(Steady((Metric("iops"),)), config_of("closed")) == []


def test_steady_reads_at_a_rate_beside_writes_in_a_closed_loop_get_a_remark() -> None:
    config = config_of("poisson", "closed")
    reads, writes = config.streams
    apart = [replace(reads, read_ppm=1_000_000), replace(writes, read_ppm=0)]
    config = replace(config, streams=apart)
    assert until.remarks(Steady((Metric("iops", "read"),)), config)
    for metric in (Metric("iops"), Metric("iops", "write"), Metric("latency", "read")):
        assert until.remarks(Steady((metric,)), config) == []
    # Of two figures one is enough to tell.
    both = (Metric("iops", "read"), Metric("iops", "write"))
    assert until.remarks(Steady(both), config) == []
