# SPDX-License-Identifier: GPL-2.0
"""Hosts are polled while the controller does other work."""

from __future__ import annotations

import threading

from lib.waiting import LONG_S, eventually

from spekctl.fleet.leash import Leash


def leashes() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "leash"]


def test_it_polls_from_a_thread_of_its_own_until_it_ends() -> None:
    polled: list[int] = []
    leash = Leash(lambda: polled.append(threading.get_ident()), 0.001)
    leash.slip()
    assert not polled
    for _ in range(2):
        polled.clear()
        leash.hold()
        eventually(lambda: len(polled) > 3, "it does not poll")
        assert set(polled) == {thread.ident for thread in leashes()}
        leash.slip()
        assert not leashes()
    leash.slip()


def test_a_second_hold_has_one_thread() -> None:
    leash = Leash(lambda: None, 0.001)
    leash.hold()
    leash.hold()
    assert len(leashes()) == 1
    leash.slip()


def test_it_waits_for_the_poll_that_is_under_way() -> None:
    entered, leave = threading.Event(), threading.Event()
    left: list[bool] = []

    def poll() -> None:
        entered.set()
        left.append(leave.wait(LONG_S))

    leash = Leash(poll, 0.001)
    leash.hold()
    assert entered.wait(LONG_S)
    threading.Timer(0.05, leave.set).start()
    leash.slip()
    # It may have polled again before the leash is slipped.
    assert left and not leashes()
