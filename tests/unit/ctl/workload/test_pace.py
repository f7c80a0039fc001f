# SPDX-License-Identifier: GPL-2.0
"""What sets the pace of a load."""

from __future__ import annotations

import pytest
from lib.ctl import results
from msgspec.structs import replace

from spekctl.workload import pace
from spekctl.workload.config import RunConfig


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
