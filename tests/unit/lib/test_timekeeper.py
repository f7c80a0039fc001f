# SPDX-License-Identifier: GPL-2.0
"""Guests that meet: one that does not come is a sentence for all others."""

from __future__ import annotations

import contextlib
import socket
import threading
from pathlib import Path

import pytest
from fleet import timekeeper
from lib.waiting import LONG_S

ADDRESS = "127.0.0.1"
GUESTS = 3


@pytest.fixture(autouse=True)
def free_port(monkeypatch: pytest.MonkeyPatch) -> None:
    """Guests have a fixed port, which other tests on this machine may have."""
    with socket.create_server((ADDRESS, 0)) as probe:
        monkeypatch.setattr(timekeeper, "PORT", probe.getsockname()[1])


def test_who_does_not_come_is_told_to_all(monkeypatch: pytest.MonkeyPatch) -> None:
    raised: list[object] = []
    monkeypatch.setattr(threading, "excepthook", raised.append)
    told: list[str] = []

    def come() -> None:
        try:
            timekeeper.meet(ADDRESS, LONG_S)
        except OSError as error:
            told.append(str(error))

    peer = threading.Thread(target=come)
    with contextlib.closing(timekeeper.Keeper(ADDRESS, GUESTS)) as keeper:
        peer.start()
        with pytest.raises(TimeoutError, match=r"^not all guests have come within 0 s$"):
            keeper.meet(0.1)
        peer.join(LONG_S)
    assert told == ["a guest has not come"] and not raised


def test_those_that_come_meet() -> None:
    others = [threading.Thread(target=timekeeper.meet, args=(ADDRESS, LONG_S)) for _ in range(2)]
    with contextlib.closing(timekeeper.Keeper(ADDRESS, GUESTS)) as keeper:
        for peer in others:
            peer.start()
        keeper.meet(LONG_S)
        for peer in others:
            peer.join(LONG_S)
            assert not peer.is_alive()


def test_a_source_that_is_not_watched_is_kept(tmp_path: Path) -> None:
    (tmp_path / "available_clocksource").write_text("tsc hpet acpi_pm \n")
    timekeeper.keep_source(tmp_path)
    assert (tmp_path / "current_clocksource").read_text() == "hpet"


def test_where_there_is_no_other_source_nothing_is_changed(tmp_path: Path) -> None:
    (tmp_path / "available_clocksource").write_text("tsc acpi_pm \n")
    timekeeper.keep_source(tmp_path)
    assert not (tmp_path / "current_clocksource").exists()
