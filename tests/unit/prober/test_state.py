# SPDX-License-Identifier: GPL-2.0
"""States of the probe and of feeds: the whole tables, and properties that agree with them."""

from __future__ import annotations

import errno
from typing import Any

import pytest
from lib.core.railcore import library

from spekctl.kernel.gen.spek_prober import FeedState, ProbeState

BUSY = -errno.EBUSY
IDLE, RUNNING, STOPPING, DONE = ProbeState
START, STOP, ENDED, RELEASE = range(4)
OPEN, CLOSED, BROKEN = FeedState
CLOSE, OWNER_GONE = range(2)

PROBE = {
    (IDLE, START): RUNNING,
    (IDLE, STOP): BUSY,
    (IDLE, ENDED): BUSY,
    (IDLE, RELEASE): BUSY,
    (RUNNING, START): BUSY,
    (RUNNING, STOP): STOPPING,
    (RUNNING, ENDED): BUSY,
    (RUNNING, RELEASE): BUSY,
    (STOPPING, START): BUSY,
    (STOPPING, STOP): STOPPING,
    (STOPPING, ENDED): DONE,
    (STOPPING, RELEASE): BUSY,
    (DONE, START): BUSY,
    (DONE, STOP): DONE,
    (DONE, ENDED): BUSY,
    (DONE, RELEASE): IDLE,
}
FEED = {
    (OPEN, CLOSE): CLOSED,
    (OPEN, OWNER_GONE): BROKEN,
    (CLOSED, CLOSE): CLOSED,
    (CLOSED, OWNER_GONE): CLOSED,
    (BROKEN, CLOSE): BROKEN,
    (BROKEN, OWNER_GONE): BROKEN,
}


@pytest.fixture(scope="module")
def core() -> tuple[Any, Any]:
    return library()


def test_tables_cover_every_state_and_event(core: tuple[Any, Any]) -> None:
    _, lib = core
    assert len(PROBE) == len(ProbeState) * lib.SPEK_PROBE_NR_EVENTS
    assert len(FEED) == len(FeedState) * lib.SPEK_FEED_NR_EVENTS


@pytest.mark.parametrize(("state", "event"), PROBE)
def test_transition_of_a_probe(core: tuple[Any, Any], state: int, event: int) -> None:
    assert core[1].spek_probe_next_state(state, event) == PROBE[ProbeState(state), event]


@pytest.mark.parametrize(("state", "event"), FEED)
def test_transition_of_a_feed(core: tuple[Any, Any], state: int, event: int) -> None:
    assert core[1].spek_feed_next_state(state, event) == FEED[FeedState(state), event]


@pytest.mark.parametrize(("state", "event"), [(4, 0), (0, 4), (2**31, 0), (0, 2**31)])
def test_nonsense_is_refused(core: tuple[Any, Any], state: int, event: int) -> None:
    assert core[1].spek_probe_next_state(state, event) == -errno.EINVAL
    assert core[1].spek_feed_next_state(state, event) == -errno.EINVAL


@pytest.mark.parametrize("state", ProbeState)
def test_properties_of_a_probe_agree_with_its_transitions(
    core: tuple[Any, Any], state: ProbeState
) -> None:
    info = core[1].spek_probe_states[state]
    # Rows are taken exactly as long as there is a thread that can still end.
    leads_to_the_end = {RUNNING, STOPPING}
    assert info.takes_rows == (state in leads_to_the_end)
    # Room is made by what is not there, or can be released.
    assert info.makes_room == (state == IDLE or PROBE[state, RELEASE] == IDLE)
    assert info.has_ended == (PROBE[state, RELEASE] == IDLE)


@pytest.mark.parametrize("state", FeedState)
def test_properties_of_a_feed_agree_with_its_transitions(
    core: tuple[Any, Any], state: FeedState
) -> None:
    ended = all(FEED[state, event] == state for event in (CLOSE, OWNER_GONE))
    assert core[1].spek_feed_states[state].takes_samples == (not ended)


def test_names_are_the_contracts(core: tuple[Any, Any]) -> None:
    ffi, lib = core
    for state in ProbeState:
        assert ffi.string(lib.spek_probe_states[state].name).decode() == state.name
    for feed_state in FeedState:
        assert ffi.string(lib.spek_feed_states[feed_state].name).decode() == feed_state.name
