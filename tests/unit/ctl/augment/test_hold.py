# SPDX-License-Identifier: GPL-2.0
"""Devices are held exclusively while they are looked at, and let go after it."""

from __future__ import annotations

import os

import pytest
from lib.ctl.augment import Machine

from spekctl.augment import hold
from spekctl.block import opening, replaced, safety
from spekctl.errors import NotPermittedError, RefusedError, SpekError


def test_devices_are_held_and_let_go(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    closed: list[int] = []
    real = os.close

    def close(fd: int) -> None:
        closed.append(fd)
        real(fd)

    monkeypatch.setattr(os, "close", close)
    with hold.held(list(machine.devices.values())):
        assert [name for name, _ in machine.opened] == ["md0", "sdz", "sda2", "sdb2"]
        assert all(flags & os.O_EXCL for _, flags in machine.opened)
        assert closed == []
    assert len(closed) == 4


def test_who_has_a_device_is_named(machine: Machine) -> None:
    machine.users["sdz"] = "sdz is mounted on /srv"
    with (
        pytest.raises(RefusedError, match="sdz is in use: sdz is mounted on /srv"),
        hold.held(list(machine.devices.values())),
    ):
        pytest.fail("it is held")


def test_users_without_a_claim_are_refused(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*asked: object) -> None:
        raise RefusedError("it is in use: loop0 is a loop device on it")

    monkeypatch.setattr(safety, "refuse_users", refuse)
    with pytest.raises(RefusedError, match="loop0"), hold.held([machine.find(machine.path("md0"))]):
        pytest.fail("it is held")


def test_a_read_only_device_is_refused(machine: Machine) -> None:
    machine.change("sdz", read_only=True)
    device = machine.find(machine.path("sdz"))
    with pytest.raises(RefusedError, match="sdz is read-only"), hold.held([device]):
        pytest.fail("it is held")


def test_a_device_that_was_replaced_is_refused(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = machine.find(machine.path("sdz"))
    machine.change("sdz", serial="ANOTHER")
    assert replaced.now_at(before) is not None
    with pytest.raises(RefusedError, match="has just been replaced"), hold.held([before]):
        pytest.fail("it is held")


def test_pinned_devices_stay_open_without_a_claim(machine: Machine) -> None:
    before = machine.find(machine.path("sdz"))
    with hold.pinned([before]) as look_again:
        assert machine.opened == [("sdz", os.O_RDONLY)]
        links = (f"/proc/self/fd/{fd}" for fd in os.listdir("/proc/self/fd"))
        assert machine.path("sdz") in {os.path.realpath(link) for link in links}
        look_again()
        machine.change("sdz", serial="ANOTHER")
        with pytest.raises(RefusedError, match="sdz has just been replaced"):
            look_again()


@pytest.mark.parametrize(
    ("error", "kind", "sentence"),
    [
        (PermissionError(13, "Permission denied"), NotPermittedError, "not permitted to open"),
        (OSError(6, "No such device or address"), SpekError, "cannot open .*: No such device"),
    ],
)
def test_failures_are_sentences(
    machine: Machine,
    monkeypatch: pytest.MonkeyPatch,
    error: OSError,
    kind: type[SpekError],
    sentence: str,
) -> None:
    def fail(*given: object) -> int:
        raise error

    monkeypatch.setattr(opening, "open_block_device", fail)
    with pytest.raises(kind, match=sentence), hold.held([machine.find(machine.path("sdz"))]):
        pytest.fail("it is held")
