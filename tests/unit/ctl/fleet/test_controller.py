# SPDX-License-Identifier: GPL-2.0
"""The controller of a run: it listens as long as its block lasts."""

from __future__ import annotations

import importlib.util
import socket
from pathlib import Path

import pytest
from lib.fakes.fleet import FakeView
from lib.fakes.fleet_rig import plan_of

from spekctl.errors import SpekError, UsageError
from spekctl.fleet import controller, keys, plan
from spekctl.run.job import Interrupts


def test_without_its_package_there_is_no_fleet(monkeypatch: pytest.MonkeyPatch) -> None:
    controller.need_engine()
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(UsageError, match=r"a fleet needs the Python package distributed; install"):
        controller.need_engine()


def test_it_listens_for_its_hosts_and_for_no_longer(tmp_path: Path) -> None:
    keys.make(tmp_path / "keys", ["a"], 30)
    bundle = keys.load(tmp_path / "keys/controller")
    view = FakeView()
    given = (plan.parse(plan_of(["a"])), bundle, 0, Interrupts(), view, None, ["web"])
    with (
        pytest.raises(SpekError, match=r"^a has not joined within 0 s"),
        controller.started(*given) as coordinator,
    ):
        (note,) = view.notes
        assert note.startswith("waiting for 1 host at tls://127.0.0.1:")
        place = ("127.0.0.1", int(note.rpartition(":")[2]))
        socket.create_connection(place, 20).close()
        assert coordinator.command == ["web"]
        coordinator.join()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(place, 20)


@pytest.mark.parametrize(("wait_s", "expected"), [(5, (5, 60, 120)), (600, (600, 600, 600))])
def test_hosts_that_are_waited_for_longer_may_answer_later(
    tmp_path: Path, wait_s: int, expected: tuple[int, int, int]
) -> None:
    """On a machine that is slow enough to need it."""
    keys.make(tmp_path / "keys", ["a"], 30)
    bundle = keys.load(tmp_path / "keys/controller")
    planned = plan.parse(plan_of(["a"]))
    with controller.started(
        planned, bundle, wait_s * 10**9, Interrupts(), FakeView(), None, []
    ) as coordinator:
        patience = coordinator.patience
        assert (patience.join_s, patience.check_s, patience.claim_s) == expected
