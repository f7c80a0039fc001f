# SPDX-License-Identifier: GPL-2.0
"""What a process with root's rights does itself."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from lib.fakes.machine import disk

from spekctl.block import openers, safety
from spekctl.run import candidates, rights
from spekctl.run.rights import OWN


def run_with(*disk_numbers: int, opens: int = 1, only_read: int = 0) -> Any:
    """A run on /dev/fake0 and the next ones. @only_read: disk number of the one it can't write"""
    return SimpleNamespace(
        write=1,
        targets=[
            SimpleNamespace(diskseq=number, opens=opens, read_only=int(number == only_read))
            for number in disk_numbers
        ],
    )


WISH: Any = SimpleNamespace(
    devices=[disk("/dev/fake0"), disk("/dev/fake1", minor=1)], write_allowed=True, destroy=("S1",)
)


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """Devices whose opens were counted, with the kernel's number."""
    counted: list[tuple[str, int]] = []

    def count(device: Any, opens: Any, destroy: Any) -> str | None:
        counted.append((device.path, opens()))
        return f"{device.path} is also open for reading" if opens() > 1 else None

    monkeypatch.setattr(openers, "check", count)
    return counted


def test_each_device_is_checked_under_its_number(
    monkeypatch: pytest.MonkeyPatch, counted: list[tuple[str, int]]
) -> None:
    checked: list[tuple[Any, ...]] = []

    def check(device: Any, *rest: Any, known: Any) -> str | None:
        assert known is candidates.runs_and_claims
        checked.append((device.path, *rest))
        return "it holds data" if device.path == "/dev/fake1" else None

    monkeypatch.setattr(safety, "check_write", check)

    assert OWN.check_write(lambda: run_with(4, 9), WISH, None) == ["it holds data"]

    assert checked == [("/dev/fake0", 4, ("S1",), True), ("/dev/fake1", 9, ("S1",), True)]
    assert counted == [("/dev/fake0", 1), ("/dev/fake1", 1)]
    checked.clear()
    # The kernel refuses to write the other one.
    OWN.check_write(lambda: run_with(4, 9, only_read=4), WISH, None)
    assert checked == [("/dev/fake1", 9, ("S1",), True)]


def test_under_a_claim_devices_are_checked_for_more_than_was_there(
    monkeypatch: pytest.MonkeyPatch, counted: list[tuple[str, int]]
) -> None:
    data = {"/dev/fake0": ["xfs"], "/dev/fake1": []}
    again: list[tuple[Any, ...]] = []
    monkeypatch.setattr(
        safety,
        "look",
        lambda device, *rest, known: (
            data[device.path],
            "it holds xfs" if data[device.path] else None,
        ),
    )
    monkeypatch.setattr(
        safety, "check_again", lambda device, *rest, known: again.append((device.path, *rest))
    )

    looked = OWN.look(run_with(4, 9), WISH)
    remarks = OWN.check_write(lambda: run_with(4, 9, opens=2), WISH, looked)

    assert looked.remarks == ["it holds xfs"]
    assert again == [("/dev/fake0", 4, ["xfs"]), ("/dev/fake1", 9, [])]
    assert remarks == [f"{device.path} is also open for reading" for device in WISH.devices]


def test_devices_are_listed_and_logs_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(candidates, "every", lambda: ["listed"])
    monkeypatch.setattr(rights, "open_buffer", lambda info, worker: (info, worker))
    own: Any = OWN
    assert own.candidates() == ["listed"]
    assert own.open_log("info", 3) == ("info", 3)
