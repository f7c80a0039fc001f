# SPDX-License-Identifier: GPL-2.0
"""Destage, and removal after which nothing is missing on the RAID."""

from __future__ import annotations

import pytest
from lib.core.augment_images import LOG_START
from lib.ctl.augment import Machine, make_unreadable
from lib.fakes.dmsetup import CLEAN, DIRTY, FAILED

from spekctl.augment import detach
from spekctl.augment.mapper import Mapper
from spekctl.errors import NotFoundError, RefusedError, SpekError

DESTAGE = ["message", "nas", "0", "destage"]


def test_destage_is_a_message(machine: Machine) -> None:
    machine.attached(DIRTY)
    assert detach.destage(Mapper(), "nas").dirty_blocks == 12
    assert machine.dm.sent("message") == [DESTAGE]


def test_the_wait_ends_with_an_empty_log(machine: Machine) -> None:
    machine.attached([DIRTY, DIRTY, CLEAN.replace("0/256", "3/256"), CLEAN])
    pauses: list[float] = []
    assert detach.wait_clean(Mapper(), "nas", pause=pauses.append).is_clean
    assert len(pauses) == 3


def test_the_wait_has_an_end(machine: Machine) -> None:
    machine.attached(DIRTY)
    times = iter(range(0, 10**12, 4 * 10**9))
    with pytest.raises(
        SpekError, match=r"nas still has 12 blocks .* after 10s; destaging continues"
    ):
        detach.wait_clean(Mapper(), "nas", 10**10, lambda pause: None, lambda: next(times))


def test_a_failed_cache_ends_the_wait(machine: Machine) -> None:
    machine.attached([DIRTY, FAILED])
    with pytest.raises(SpekError, match="12 blocks have no readable copy left"):
        detach.wait_clean(Mapper(), "nas", pause=lambda pause: None)
    with pytest.raises(SpekError, match="nas has failed"):
        detach.destage(Mapper(), "nas")


def test_detach_destages_and_removes(machine: Machine) -> None:
    machine.set()
    machine.attached([DIRTY, DIRTY, CLEAN])
    detach.detach(Mapper(), "nas", pause=lambda pause: None)
    assert DESTAGE in machine.dm.sent("message")
    assert machine.dm.state["mappings"] == {}
    assert machine.dm.sent("remove") == [["remove", "nas"]]


@pytest.mark.parametrize(
    ("users", "sentence"),
    [
        ("dm-0 is mounted on /srv", "nas is in use: dm-0 is mounted on /srv$"),
        ("", "the kernel counts an open that no process or mount accounts for"),
    ],
)
def test_a_cache_in_use_stays(machine: Machine, users: str, sentence: str) -> None:
    machine.attached(opens=1)
    if users:
        machine.users["dm-0"] = users
    with pytest.raises(RefusedError, match=sentence):
        detach.detach(Mapper(), "nas")
    assert machine.dm.sent("remove") == machine.dm.sent("message") == []


def test_a_cache_that_is_opened_meanwhile_stays(machine: Machine) -> None:
    machine.attached([DIRTY, DIRTY, CLEAN])

    def mount(pause: float) -> None:
        mapping = {**machine.dm.state["mappings"]["nas"], "open": 1}
        machine.dm.change(mappings={"nas": mapping})

    with pytest.raises(RefusedError, match="in use"):
        detach.detach(Mapper(), "nas", pause=mount)
    assert machine.dm.sent("remove") == []


def test_after_the_timeout_it_stays(machine: Machine) -> None:
    machine.attached(DIRTY)
    with pytest.raises(SpekError, match="destaging continues"):
        detach.detach(Mapper(), "nas", 0)
    assert machine.dm.sent("remove") == []


def test_a_cache_without_devices_that_has_destaged_everything_has_lost_nothing(
    machine: Machine,
) -> None:
    machine.attached("failed 1 0 6 0 0 0/256 0 90 10 5 4 3 20 20 3 4 1 1 0 0 0 0")
    with pytest.raises(SpekError, match="the RAID is whole") as caught:
        detach.detach(Mapper(), "nas")
    assert "readable copy" not in caught.value.message
    assert machine.dm.sent("remove") == []


def test_a_failed_cache_stays(machine: Machine) -> None:
    machine.attached(FAILED)
    with pytest.raises(SpekError, match="dmsetup remove nas"):
        detach.detach(Mapper(), "nas")
    assert machine.dm.sent("remove") == []


def test_what_was_written_at_the_last_moment_is_told(machine: Machine) -> None:
    machine.set().record(5, 3)
    machine.attached()
    with pytest.raises(SpekError, match=r"its log has 3 blocks .*: do not use the RAID"):
        detach.detach(Mapper(), "nas")


def test_a_log_that_cannot_be_read_after_removal_is_told(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    images = machine.set()
    first = LOG_START + images.head
    machine.attached()
    make_unreadable(monkeypatch, (images.path(0), first), (images.path(2), first))
    with pytest.raises(SpekError, match="its log cannot be read on the SSD and member 1: whether"):
        detach.detach(Mapper(), "nas")


def test_lost_devices_are_not_looked_at(machine: Machine) -> None:
    machine.set()
    machine.attached(CLEAN.replace(" 7 6 1 ", " 0 0 0 ").replace("normal", "passing"))
    detach.detach(Mapper(), "nas")
    assert machine.opened == []


def test_a_cache_that_is_not_there_is_told(machine: Machine) -> None:
    with pytest.raises(NotFoundError):
        detach.detach(Mapper(), "nas")
