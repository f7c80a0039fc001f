# SPDX-License-Identifier: GPL-2.0
"""The texts for Prometheus, read back by prometheus_client's own parsers."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from lib.fakes.kernel import histogram
from prometheus_client import parser as prometheus_parser
from prometheus_client.openmetrics import parser as openmetrics_parser

from spekctl.kernel.records import (
    Backend,
    Direction,
    Metric,
    Phase,
    RunInfo,
    RunState,
    StatsCell,
    TargetInfo,
)
from spekctl.render import prometheus

VALUES = [1, 900, 1023, 1024, 1025, 5_000_000, 5_000_001, 70_000_000_000, 1 << 41]
TARGET = TargetInfo(name='a"b\\c\nd', backend=Backend.BIO)
INFO = RunInfo(
    id=7, name="mixed", state=RunState.RUNNING, targets=(TARGET,), outstanding=3, backlog=5
)
CELL = StatsCell(
    Phase.MEASURE,
    1,
    Direction.READ,
    ios=len(VALUES),
    bytes=4096 * len(VALUES),
    requests=len(VALUES),
    errors=2,
    histograms={Metric.RESPONSE: histogram(VALUES), Metric.RESPONSE_AGE: histogram([5])},
)
READERS = {
    False: prometheus_parser.text_string_to_metric_families,
    True: openmetrics_parser.text_string_to_metric_families,
}
LABELS = {"run": "7", "phase": "measure", "stream": "1", "direction": "read"}


def read(text: str, openmetrics: bool) -> dict[str, Any]:
    reader: Callable[[str], Iterable[Any]] = READERS[openmetrics]
    return {family.name: family for family in reader(text)}


@pytest.mark.parametrize("openmetrics", READERS)
def test_the_parsers_read_it(openmetrics: bool) -> None:
    finished = dataclasses.replace(INFO, id=8, state=RunState.DONE)
    families = read(
        prometheus.text([(INFO, [CELL]), (finished, [])], openmetrics=openmetrics), openmetrics
    )
    assert {name: family.type for name, family in families.items()} == {
        ("spek_run" if openmetrics else "spek_run_info"): "info" if openmetrics else "gauge",
        "spek_run_active": "gauge",
        "spek_outstanding_ios": "gauge",
        "spek_backlog_ios": "gauge",
        "spek_ios": "counter",
        "spek_transferred_bytes": "counter",
        "spek_errors": "counter",
        "spek_response_seconds": "histogram",
    }
    assert [sample.value for sample in families["spek_run_active"].samples] == [1, 0]
    assert families["spek_backlog_ios"].samples[0].value == 5
    (ios,) = families["spek_ios"].samples
    assert (ios.name, ios.labels, ios.value) == ("spek_ios_total", LABELS, len(VALUES))
    info = families["spek_run" if openmetrics else "spek_run_info"].samples[0]
    assert info.labels["device"] == TARGET.name and info.labels["workload"] == "mixed"


@pytest.mark.parametrize("openmetrics", READERS)
def test_cumulative_counts_are_exact(openmetrics: bool) -> None:
    families = read(prometheus.text([(INFO, [CELL])], openmetrics=openmetrics), openmetrics)
    samples = families["spek_response_seconds"].samples
    buckets = {
        sample.labels["le"]: sample.value for sample in samples if sample.name.endswith("_bucket")
    }
    assert len(buckets) == 31
    for bound, count in buckets.items():
        ns = float("inf") if bound == "+Inf" else round(float(bound) * 1e9)
        assert count == sum(value <= ns for value in VALUES), bound
    rest = {sample.name: sample.value for sample in samples if not sample.name.endswith("_bucket")}
    assert rest["spek_response_seconds_count"] == len(VALUES)
    assert rest["spek_response_seconds_sum"] == pytest.approx(sum(VALUES) / 1e9, rel=1e-12)


@pytest.mark.parametrize("openmetrics", READERS)
def test_nothing_is_a_text_as_well(openmetrics: bool) -> None:
    text = prometheus.text([], openmetrics=openmetrics)
    assert text == ("# EOF\n" if openmetrics else "")
    assert read(text, openmetrics) == {}
