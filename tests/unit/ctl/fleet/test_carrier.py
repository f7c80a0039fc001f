# SPDX-License-Identifier: GPL-2.0
"""What becomes of a question to a host."""

from __future__ import annotations

from concurrent.futures import Future

import pytest

from spekctl.errors import ExitCode, HostLostError, RefusedError, SpekError
from spekctl.fleet import carrier, wire


def answered(value: object) -> Future[bytes]:
    future: Future[bytes] = Future()
    if isinstance(value, BaseException):
        future.set_exception(value)
    else:
        future.set_result(wire.encode(value))
    return future


def test_an_answer_has_its_type() -> None:
    state = wire.State(wire.Phase.RUNNING, 5)
    assert carrier.answer(answered({"answer": state}), wire.State) == state


def test_a_missing_answer_is_called_off_and_not_waited_for() -> None:
    future: Future[bytes] = Future()
    with pytest.raises(HostLostError, match=r"^it has not answered in time; too late$"):
        carrier.answer(future, wire.State, "too late")
    assert future.cancelled()
    with pytest.raises(HostLostError, match="called off"):
        carrier.answer(future, wire.State)


def test_a_host_that_cannot_be_reached_is_lost() -> None:
    with pytest.raises(HostLostError, match=r"^it cannot be reached: reset$"):
        carrier.answer(answered(OSError("reset")), wire.State)


def test_errors_of_the_fleet_and_of_the_host_are_kept() -> None:
    with pytest.raises(RefusedError, match=r"^not now$"):
        carrier.answer(answered(RefusedError("not now")), wire.State)
    fault = wire.Fault(int(ExitCode.PERMISSION), "no rights")
    with pytest.raises(SpekError, match=r"^no rights$") as refusal:
        carrier.answer(answered(wire.Reply(fault=fault)), wire.State)
    assert refusal.value.exit_code is ExitCode.PERMISSION
