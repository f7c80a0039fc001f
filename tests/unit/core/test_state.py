"""States of a run: the whole table, and properties that agree with it."""

import errno
import itertools

import pytest
from lib.core.spekcore import library

FFI, LIB = library()
READY, RUNNING, DRAINING, DONE, OPENING, ARMED, FAILED, CLOSING, GONE = STATES = range(9)
START, END, DRAINED, OPENED, FAIL, ARM, DELETE, LEAVE = EVENTS = range(8)
BUSY = -errno.EBUSY

# What is not here is refused.
TABLE = {
    (OPENING, OPENED): READY,
    (OPENING, FAIL): FAILED,
    (OPENING, DELETE): CLOSING,
    (READY, START): RUNNING,
    (READY, ARM): ARMED,
    (READY, END): DONE,
    (READY, DELETE): CLOSING,
    (ARMED, START): RUNNING,
    (ARMED, END): DONE,
    (RUNNING, END): DRAINING,
    (DRAINING, END): DRAINING,
    (DRAINING, DRAINED): DONE,
    (DONE, END): DONE,
    (DONE, DELETE): CLOSING,
    (FAILED, DELETE): CLOSING,
    (CLOSING, OPENED): CLOSING,
    (CLOSING, FAIL): CLOSING,
    (CLOSING, END): CLOSING,
    (CLOSING, LEAVE): GONE,
}
HOLDS_IO = (ARMED, RUNNING, DRAINING)


def test_table_covers_every_state_and_event() -> None:
    assert len(STATES) == FFI.typeof(LIB.spek_states).length
    assert len(EVENTS) == LIB.SPEK_EVENT_NR
    assert (LIB.SPEK_STATE_READY, LIB.SPEK_STATE_GONE) == (READY, GONE)
    assert (LIB.SPEK_EVENT_START, LIB.SPEK_EVENT_GONE) == (START, LEAVE)


@pytest.mark.parametrize(("state", "event"), list(itertools.product(STATES, EVENTS)))
def test_transition(state: int, event: int) -> None:
    assert LIB.spek_state_next(state, event) == TABLE.get((state, event), BUSY)


@pytest.mark.parametrize(("state", "event"), [(9, 0), (0, 8), (2**31, 0)])
def test_nonsense_is_refused(state: int, event: int) -> None:
    assert LIB.spek_state_next(state, event) == -errno.EINVAL


@pytest.mark.parametrize("state", STATES)
def test_properties_agree_with_the_transitions(state: int) -> None:
    info = LIB.spek_states[state]
    assert info.accepts_start == ((state, ARM) in TABLE)
    assert info.accepts_delete == ((state, DELETE) in TABLE)
    # Devices may hold I/O of a run that must not be deleted, and of no other one.
    assert info.accepts_delete == (state not in (*HOLDS_IO, CLOSING, GONE))
    # A stop is harmless wherever there is a run.
    assert info.accepts_stop == (state != GONE)
    # From what has ended nothing leads back to a run that issues I/O.
    assert info.has_ended == (state in (DONE, FAILED, CLOSING, GONE))
    ends = {to for (begin, _), to in TABLE.items() if begin == state}
    assert not info.has_ended or ends <= {DONE, CLOSING, GONE}


def test_names() -> None:
    names = [FFI.string(LIB.spek_states[i].name).decode() for i in STATES]
    assert names == [
        *("READY", "RUNNING", "DRAINING", "DONE"),
        *("OPENING", "ARMED", "FAILED", "CLOSING", "GONE"),
    ]
