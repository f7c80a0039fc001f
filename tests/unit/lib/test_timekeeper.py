# SPDX-License-Identifier: GPL-2.0
"""Guests that meet: one that does not come is a sentence for all others."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from fleet import timekeeper

# Of this test alone: the port is fixed.
ADDRESS = "127.37.44.22"
GUESTS = 3


def test_who_does_not_come_is_told_to_all(monkeypatch: pytest.MonkeyPatch) -> None:
    raised: list[object] = []
    monkeypatch.setattr(threading, "excepthook", raised.append)
    keeper = timekeeper.Keeper(ADDRESS, GUESTS)
    told: list[str] = []

    def come() -> None:
        try:
            timekeeper.meet(ADDRESS, 60)
        except OSError as error:
            told.append(str(error))

    peer = threading.Thread(target=come)
    peer.start()
    with pytest.raises(TimeoutError, match=r"^not all guests have come within 0 s$"):
        keeper.meet(0.1)
    peer.join(60)
    assert told == ["a guest has not come"] and not raised


def test_those_that_come_meet() -> None:
    keeper = timekeeper.Keeper("127.37.44.23", GUESTS)
    others = [threading.Thread(target=timekeeper.meet, args=("127.37.44.23", 60)) for _ in range(2)]
    for peer in others:
        peer.start()
    keeper.meet(60)
    for peer in others:
        peer.join(60)
        assert not peer.is_alive()


def test_a_source_that_is_not_watched_is_kept(tmp_path: Path) -> None:
    (tmp_path / "available_clocksource").write_text("tsc hpet acpi_pm \n")
    timekeeper.keep_source(tmp_path)
    assert (tmp_path / "current_clocksource").read_text() == "hpet"


def test_where_there_is_no_other_source_nothing_is_changed(tmp_path: Path) -> None:
    (tmp_path / "available_clocksource").write_text("tsc acpi_pm \n")
    timekeeper.keep_source(tmp_path)
    assert not (tmp_path / "current_clocksource").exists()
