# SPDX-License-Identifier: GPL-2.0
"""Requests to the prober: limits, what is sent of them and what is not."""

from __future__ import annotations

import pytest

from spekctl.contract import prober_requests as requests
from spekctl.contract.prober_requests import (
    FeedMarkRequest,
    FeedOpenRequest,
    ProbeStartRequest,
    RailRequest,
    SampleGetRequest,
    TaskRequest,
)
from spekctl.kernel.gen import spek_prober as messages


def test_limits_are_those_of_the_messages() -> None:
    limits = [name for name in dir(requests) if name.startswith(("MAX_", "MIN_", "DEFAULT_"))]
    assert len(limits) > 15
    for name in limits:
        assert getattr(requests, name) == getattr(messages, name)


def test_a_start_has_only_what_is_given() -> None:
    assert ProbeStartRequest(5).attributes() == {"interval_ns": 5}
    whole = ProbeStartRequest(0, ring_rows=0, detached=1, tasks=[TaskRequest(0), TaskRequest(7)])
    assert whole.attributes() == {
        "interval_ns": 0,
        "ring_rows": 0,
        "detached": 1,
        "task": [{"pid": 0}, {"pid": 7}],
    }


def test_rows_are_asked_from_any_probe_or_one() -> None:
    assert SampleGetRequest().attributes() == {}
    assert SampleGetRequest(0, 9, 1).attributes() == {"probe": 0, "since": 9, "hold": 1}


def test_a_feed_without_rails_is_for_the_kernel_to_refuse() -> None:
    assert FeedOpenRequest("board", "test", []).attributes() == {
        "name": "board",
        "source": "test",
        "rail": [],
    }


def test_defaults_of_a_feed_are_not_sent_and_zeros_are() -> None:
    rails = [RailRequest("5V"), RailRequest("12V", 30)]
    usual = FeedOpenRequest(
        "board",
        "test",
        rails,
        history=messages.DEFAULT_HISTORY,
        max_step_ns=messages.DEFAULT_STEP_NS,
    )
    assert set(usual.attributes()) == {"name", "source", "rail"}
    assert usual.attributes()["rail"] == [{"name": "5V"}, {"name": "12V", "lsb_nw": 30}]
    zeros = FeedOpenRequest("board", "test", rails, history=0, max_step_ns=0, uncertainty_ns=0)
    assert not any(zeros.attributes()[key] for key in ("history", "max_step_ns", "uncertainty_ns"))


@pytest.mark.parametrize(
    "name", ["until_ns", "uncertainty_ns", "drift_ppb", "residual_ns", "overflows", "lost"]
)
def test_a_mark_changes_what_it_is_given_and_nothing_else(name: str) -> None:
    assert FeedMarkRequest(3, **{name: 0}).attributes() == {"id": 3, name: 0}
    assert FeedMarkRequest(3).attributes() == {"id": 3}
