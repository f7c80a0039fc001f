# SPDX-License-Identifier: GPL-2.0
"""Hosts of a test's fleet end with the test, whatever happens in it."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest
from lib.fakes.fleet_rig import SOON_S, Fleet
from lib.waiting import eventually


def test_hosts_end_where_the_controller_cannot_be_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> None:
        close()
        raise RuntimeError("the loop is over")

    fleet = Fleet(tmp_path, ["a"])
    close = fleet.engine.close
    monkeypatch.setattr(fleet.engine, "close", fail)
    with pytest.raises(RuntimeError, match="the loop is over"), fleet:
        fleet.join(fleet.engine.address, "a")
        eventually(fleet.engine.hosts, "a does not join", SOON_S)
        fleet.hosts["a"].send_signal(signal.SIGSTOP)
    assert fleet.hosts["a"].poll() == -signal.SIGKILL
