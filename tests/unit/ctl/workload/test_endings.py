# SPDX-License-Identifier: GPL-2.0
"""The texts of --until and --stop-when: what they mean, and which of them are refused."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spekctl.errors import UsageError
from spekctl.workload.endings import (
    METRICS,
    Metric,
    Steady,
    parse_metric,
    parse_threshold,
    parse_until,
)


@pytest.mark.parametrize(
    ("text", "metric", "operator", "bound"),
    [
        ("p99 > 10ms", Metric("p99"), ">", 10 * 10**6),
        ("p99.9>=1.5s", Metric("p99.9"), ">=", 1_500_000_000),
        (" iops < 1000 ", Metric("iops"), "<", 1000),
        ("iops<0.5", Metric("iops"), "<", Fraction(1, 2)),
        ("errors > 0", Metric("errors"), ">", 0),
        ("write.latency <= 3us", Metric("latency", "write"), "<=", 3000),
        ("bandwidth < 100MiB/s", Metric("bandwidth"), "<", 100 << 20),
        ("read.bandwidth < 512", Metric("bandwidth", "read"), "<", 512),
        ("backlog > 12", Metric("backlog"), ">", 12),
    ],
)
def test_a_threshold_compares_a_metric(
    text: str, metric: Metric, operator: str, bound: Fraction | int
) -> None:
    (part,) = parse_threshold(text).parts
    assert (part.metric, part.operator, part.bound.value) == (metric, operator, bound)
    assert parse_threshold(str(part)).parts == (part,)


def test_comparisons_are_joined() -> None:
    both = parse_threshold("p99 > 10ms and write.iops < 1000")
    assert str(both) == "p99 > 10ms and write.iops < 1000" and len(both.parts) == 2


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "'' is not a threshold; write METRIC > VALUE, for example 'p99 > 10ms'"),
        ("p98 > 10ms", "; did you mean 'p99'?"),
        ("p99", "'p99' is not a threshold"),
        ("p99 > 10ms or errors > 0", "is not a duration"),
        ("p99 10ms", "is not a threshold"),
        ("p99 > 10ms and", "is not a duration"),
        ("p98 > 10ms", "'p98' is not a metric (they are"),
        ("speed > 1", "'speed' is not a metric (they are iops, bandwidth, latency"),
        ("iops == 5", "'==' is not a comparison; they are >=, <=, >, <"),
        ("iops => 5", "'=>' is not a comparison"),
        ("> 5", "nothing is on the left of >"),
        ("iops >", "nothing is on the right of >"),
        ("iops > 5ms", "iops: '5ms' is not a number without a unit, such as 1000"),
        ("iops > -5", "is not a number"),
        ("iops > nan", "is not a number"),
        ("errors > 1e3", "is not a number"),
        ("p99 > 10", "p99: '10' has no unit"),
        ("bandwidth > 10MB", "bandwidth: '10MB' could mean 1000 or 1024"),
        ("read.backlog > 1", "backlog is that of both directions; write backlog"),
        ("trim.iops > 1", "'trim.iops' is not a metric"),
        ("x" * 500 + " > 1", "is not a metric"),
        ("iops > " + "9" * 500, "is not a number"),
    ],
)
def test_other_thresholds_are_refused(text: str, sentence: str) -> None:
    with pytest.raises(UsageError) as error:
        parse_threshold(text)
    assert sentence in error.value.message and len(error.value.message) < 400


@pytest.mark.parametrize(
    ("text", "steady"),
    [
        ("steady", Steady()),
        ("steady:iops", Steady((Metric("iops"),))),
        ("steady:latency,iops", Steady((Metric("latency"), Metric("iops")))),
        ("steady:window=10", Steady(window=10)),
        (
            "steady:range=12.3456789012345%,slope=100%",
            Steady(range=Fraction("0.123456789012345"), slope=Fraction(1)),
        ),
        (
            "steady:write.p99,range=15%,slope=2.5%,window=3",
            Steady((Metric("p99", "write"),), 3, Fraction(15, 100), Fraction(25, 1000)),
        ),
    ],
)
def test_steady_state_has_the_defaults_of_the_standard(text: str, steady: Steady) -> None:
    assert parse_until(text) == steady
    assert parse_until(str(steady)) == steady
    assert (Steady().window, Steady().range, Steady().slope) == (
        *(5, Fraction(1, 5)),
        Fraction(1, 10),
    )


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "'' is not an end of a run; write steady"),
        ("stable", "'stable' is not an end of a run"),
        ("steady:", "'' is not a metric"),
        ("steady:iops,", "'' is not a metric"),
        ("steady:iops,iops", "iops is listed twice"),
        ("steady:errors", "steady state cannot be that of errors; it can be of iops, bandwidth"),
        ("steady:max", "cannot be that of max"),
        (
            "steady:windows=5",
            "'windows' is not a parameter of steady state (they are window",
        ),
        ("steady:window=5,window=6", "window is given twice"),
        ("steady:window=1", "window=1 is not a number of rounds from 2 to 1000"),
        ("steady:window=1001", "from 2 to 1000"),
        ("steady:window=", "from 2 to 1000"),
        ("steady:window=five", "from 2 to 1000"),
        ("steady:range=20", "'20' is not a percentage"),
        ("steady:slope=200%", "'200%' is more than 100%"),
    ],
)
def test_other_ends_are_refused(text: str, sentence: str) -> None:
    with pytest.raises(UsageError) as error:
        parse_until(text)
    assert sentence in error.value.message


@given(st.text(max_size=30))
def test_any_text_is_understood_or_refused(text: str) -> None:
    for parse in (parse_threshold, parse_until):
        try:
            parse(text)
        except UsageError as error:
            assert error.message


@pytest.mark.parametrize("name", METRICS)
def test_a_metric_has_a_value_for_people(name: str) -> None:
    assert parse_metric(name).text(1500.0)[0] == "1"
