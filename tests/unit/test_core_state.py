"""States of a run: the whole table, and properties that agree with it."""

import errno

import pytest
from lib.spekcore import library

FFI, LIB = library()
READY, RUNNING, DRAINING, DONE = range(4)
START, END, DRAINED = range(3)
BUSY = -errno.EBUSY

TABLE = {
    (READY, START): RUNNING,
    (READY, END): DONE,
    (READY, DRAINED): BUSY,
    (RUNNING, START): BUSY,
    (RUNNING, END): DRAINING,
    (RUNNING, DRAINED): BUSY,
    (DRAINING, START): BUSY,
    (DRAINING, END): DRAINING,
    (DRAINING, DRAINED): DONE,
    (DONE, START): BUSY,
    (DONE, END): DONE,
    (DONE, DRAINED): BUSY,
}


def test_table_covers_every_state_and_event() -> None:
    assert len(TABLE) == LIB.SPEK_STATE_NR * LIB.SPEK_EVENT_NR
    assert LIB.SPEK_STATE_READY == READY
    assert LIB.SPEK_STATE_DONE == DONE


@pytest.mark.parametrize(("state", "event"), TABLE)
def test_transition(state: int, event: int) -> None:
    assert LIB.spek_state_next(state, event) == TABLE[state, event]


@pytest.mark.parametrize(("state", "event"), [(4, 0), (0, 3), (2**31, 0)])
def test_nonsense_is_refused(state: int, event: int) -> None:
    assert LIB.spek_state_next(state, event) == -errno.EINVAL


@pytest.mark.parametrize("state", range(4))
def test_properties_agree_with_the_transitions(state: int) -> None:
    info = LIB.spek_states[state]
    assert info.accepts_start == (TABLE[state, START] >= 0)
    assert info.accepts_stop == (TABLE[state, END] >= 0)
    assert info.io_in_flight == (state in (RUNNING, DRAINING))
    # what may hold I/O must not be deleted, and only what has no way out has ended
    assert info.accepts_delete == (not info.io_in_flight)
    assert info.has_ended == all(TABLE[state, e] in (state, BUSY) for e in range(3))


def test_names() -> None:
    names = [FFI.string(LIB.spek_states[i].name).decode() for i in range(4)]
    assert names == ["READY", "RUNNING", "DRAINING", "DONE"]
