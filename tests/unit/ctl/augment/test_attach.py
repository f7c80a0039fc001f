# SPDX-License-Identifier: GPL-2.0
"""A set is attached again: in its order, whole or without what the user names."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from lib.core.augment_images import BLOCK, FOREIGN, LOG_START, SET, Images
from lib.ctl.augment import MIB, Machine, make_unreadable

from spekctl.augment import attach, hold, sets
from spekctl.augment.attach import Wish
from spekctl.augment.mapper import Mapper
from spekctl.augment.table import Policy
from spekctl.errors import NoKernelSideError, RefusedError, SpekError, UsageError


def wish(machine: Machine, *names: str, **changes: object) -> Wish:
    raid, *candidates = (machine.devices[machine.path(name)] for name in ("md0", *names))
    fields: dict[str, object] = {"name": "nas", "raid": raid, "candidates": tuple(candidates)}
    return Wish(**{**fields, **changes})  # type: ignore[arg-type]


def line_of(machine: Machine) -> str:
    (words,) = machine.dm.sent("create")
    return str(words[5])


def refused(
    machine: Machine, sentence: str, kind: type[SpekError], *names: str, **changes: object
) -> None:
    with pytest.raises(kind, match=sentence):
        attach.attach(Mapper(), wish(machine, *names, **changes))
    assert machine.dm.sent("create") == []


def test_a_disk_that_is_replaced_after_the_look_is_not_attached(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.set()
    real = hold.held

    @contextlib.contextmanager
    def held(*given: Any) -> Iterator[None]:
        with real(*given):
            yield
        machine.change("sdz", serial="ANOTHER")

    monkeypatch.setattr(hold, "held", held)
    refused(machine, "sdz has just been replaced", RefusedError, "sdz", "sda2", "sdb2")


def test_devices_are_put_into_their_order(machine: Machine) -> None:
    machine.set()
    policy = Policy(quiet_ms=9)
    attached = attach.attach(Mapper(), wish(machine, "sdb2", "sdz", "sda2", policy=policy))
    assert line_of(machine) == "0 131072 spek-augment 9:0 8:0 2 8:1 8:2 256 2 quiet_ms 9"
    assert (attached.uuid, attached.remarks) == (SET, ())


def test_a_missing_device_is_left_out_by_name(machine: Machine) -> None:
    machine.set()
    refused(machine, "give --without member:1", RefusedError, "sdz", "sda2")
    attached = attach.attach(Mapper(), wish(machine, "sdz", "sda2", without=[2]))
    assert line_of(machine) == "0 131072 spek-augment 9:0 8:0 2 8:1 - 256 0"
    assert attached.remarks == ("member 1 is missing",)


def test_a_cache_without_its_ssd_is_attached(machine: Machine) -> None:
    machine.set()
    attach.attach(Mapper(), wish(machine, "sdb2", "sda2", without=[0]))
    assert line_of(machine) == "0 131072 spek-augment 9:0 - 2 8:1 8:2 256 0"


def test_without_ssd_and_a_member_it_is_refused(machine: Machine) -> None:
    machine.set()
    refused(machine, "what they held is not known", RefusedError, "sdb2", without=[0, 1])


def test_a_stale_device_is_told(machine: Machine) -> None:
    machine.set().lose(2)
    attached = attach.attach(Mapper(), wish(machine, "sdz", "sda2", "sdb2"))
    assert attached.remarks == (
        f"{machine.path('sdb2')} (member 1) is of an earlier generation: its log does not count",
    )


def test_newer_devices_are_not_left_out(machine: Machine) -> None:
    machine.set().lose(2)
    refused(
        machine, "what was written since would be lost", RefusedError,
        "sdz", "sda2", "sdb2", without=[0, 1],
    )  # fmt: skip


def test_devices_of_two_sets_are_refused(machine: Machine, tmp_path: Path) -> None:
    machine.set()
    foreign = Images(tmp_path / "foreign", uuid=FOREIGN)
    Path(machine.path("sdb2")).write_bytes(Path(foreign.path(2)).read_bytes())
    refused(machine, "belong to different sets", UsageError, "sdz", "sda2", "sdb2")


def test_a_device_without_a_superblock_is_refused(machine: Machine) -> None:
    machine.set()
    Path(machine.path("sda2")).write_bytes(bytes(3 * MIB))
    refused(machine, "sda2 has no intact superblock of a cache", UsageError, "sdz", "sda2", "sdb2")


@pytest.mark.parametrize("name", ["md0", "sdz", "sdb2"])
def test_a_device_in_use_is_refused(machine: Machine, name: str) -> None:
    machine.set()
    machine.users[name] = f"{name} is mounted on /srv"
    refused(machine, f"{name} is in use", RefusedError, "sdz", "sda2", "sdb2")


def test_a_raid_that_is_too_short_for_the_log_is_refused(machine: Machine) -> None:
    images = machine.set()
    images.record(64 * 256 - 1, 1)
    attach.attach(Mapper(), wish(machine, "sdz", "sda2", "sdb2"))
    machine.dm.change(mappings={}, calls=[])
    images.record(64 * 256 - 1, 2, on=(0, 2))
    refused(
        machine, "md0 has 64 MiB, and the log has a write that ends at 64.0 MiB", RefusedError,
        "sdz", "sda2", "sdb2",
    )  # fmt: skip


def test_a_device_of_a_cache_is_not_its_raid(machine: Machine) -> None:
    machine.set()
    raid = machine.devices[machine.path("sdb2")]
    refused(
        machine, "it is not the RAID of a cache", RefusedError,
        "sdz", "sda2", without=[2], raid=raid, new_raid="SERIAL-sdb2",
    )  # fmt: skip


# --- the name of the RAID ------------------------------------------------------------------------

DEVICES = ("sdz", "sda2", "sdb2")


def replaced_raid(machine: Machine, **fields: object) -> str:
    """Another disk of the same length is at the path of the RAID; the path."""
    machine.change("md0", **{"serial": "ANOTHER"} | fields)
    return machine.path("md0")


def test_another_disk_at_the_path_of_the_raid_is_refused(machine: Machine) -> None:
    """Not only with a log that holds something: what is written next would be in danger."""
    images = machine.set()
    path = replaced_raid(machine)
    sentence = (
        f"{path} is the disk serial=ANOTHER, and the log of set {SET} is for the RAID"
        " serial=SERIAL-md0; if they are the same, as behind another controller, give --new-raid"
        " ANOTHER$"
    )
    refused(machine, sentence, RefusedError, *DEVICES)
    images.record(10, 2)
    refused(machine, sentence, RefusedError, *DEVICES)


def test_a_raid_behind_another_controller_is_taken_by_name(machine: Machine) -> None:
    machine.set()
    replaced_raid(machine)
    attached = attach.attach(Mapper(), wish(machine, *DEVICES, new_raid="ANOTHER"))
    assert line_of(machine).endswith(" 256 2 raid serial=ANOTHER")
    assert attached.remarks == (
        f"set {SET} was for the RAID serial=SERIAL-md0, and is for serial=ANOTHER now",
    )


def test_the_new_raid_is_the_one_that_is_named(machine: Machine) -> None:
    machine.set()
    path = replaced_raid(machine)
    refused(
        machine, f"--new-raid SERIAL-md0 does not name {path}, which is ANOTHER", RefusedError,
        *DEVICES, new_raid="SERIAL-md0",
    )  # fmt: skip


def test_the_name_of_the_new_raid_is_waited_for(machine: Machine) -> None:
    """At boot, udev may not have looked at the disk yet."""
    machine.set()
    replaced_raid(machine, serial="", diskseq=7)

    def attempt() -> attach.Attached:
        return attach.attach(Mapper(), wish(machine, *DEVICES, new_raid="ANOTHER"))

    with pytest.raises(attach.NamelessError, match=r"--new-raid ANOTHER does not name .*9:0/7$"):
        attempt()
    times = iter(range(0, 1000, 10))
    attach.patiently(
        attempt, 100, lambda _: machine.change("md0", serial="ANOTHER"), times.__next__
    )
    assert line_of(machine).endswith(" 256 2 raid serial=ANOTHER")


def test_a_disk_without_a_name_is_not_taken_for_a_raid_with_one(machine: Machine) -> None:
    machine.set()
    replaced_raid(machine, serial="", diskseq=7)
    with pytest.raises(attach.NamelessError, match="has no WWN, serial number or UUID that tells"):
        attach.attach(Mapper(), wish(machine, *DEVICES))
    attach.attach(Mapper(), wish(machine, *DEVICES, new_raid="9:0/7"))
    assert line_of(machine).endswith(" 256 2 raid -")


def test_a_serial_number_that_another_disk_has_too_is_no_name(machine: Machine) -> None:
    machine.set()
    machine.change("md0", shared=frozenset({"SERIAL-md0"}))
    refused(machine, "that tells whether it is serial=SERIAL-md0", RefusedError, *DEVICES)


def test_superblocks_of_an_earlier_version_name_no_raid(machine: Machine) -> None:
    machine.set(raid="")
    attached = attach.attach(Mapper(), wish(machine, *DEVICES))
    assert line_of(machine).endswith(" 256 2 raid serial=SERIAL-md0")
    assert attached.remarks == (
        f"no superblock of set {SET} names the RAID: {machine.path('md0')} is taken for it, and is"
        " recorded as serial=SERIAL-md0",
    )


def test_a_raid_that_never_had_a_name_is_taken_and_told(machine: Machine) -> None:
    machine.set(raid="")
    machine.change("md0", serial="")
    attached = attach.attach(Mapper(), wish(machine, *DEVICES))
    assert line_of(machine).endswith(" 256 0")
    (remark,) = attached.remarks
    assert remark.endswith("is taken for it, and has no WWN, serial number or UUID to be recorded")


@pytest.mark.parametrize(
    ("raid", "sentence"),
    [
        ("", "md0 is taken for it, and is not recorded: the module spek_augment that is"),
        ("serial=SERIAL-md0", f"set {SET} loses the name of its RAID: the module spek_augment"),
    ],
)
def test_an_older_module_is_not_given_a_name(machine: Machine, raid: str, sentence: str) -> None:
    """It refuses features that it does not know, and writes superblocks without a name."""
    machine.dm.change(version="1.0.0")
    machine.set(raid=raid)
    attached = attach.attach(Mapper(), wish(machine, *DEVICES))
    assert line_of(machine).endswith(" 256 0")
    (remark,) = attached.remarks
    assert sentence in remark


def test_with_an_older_module_the_name_still_counts(machine: Machine) -> None:
    machine.dm.change(version="1.0.0")
    machine.set()
    refused(
        machine, "--new-raid is not possible: .* load the newer one", RefusedError,
        *DEVICES, new_raid="SERIAL-md0",
    )  # fmt: skip
    replaced_raid(machine)
    refused(machine, "md0 is the disk serial=ANOTHER", RefusedError, *DEVICES)


def test_the_newest_superblock_names_the_raid(machine: Machine) -> None:
    """A cut may have left the name from before --new-raid on a device."""
    images = machine.set()
    images.superblock(1, 1, version=2, raid=b"serial=ANOTHER")
    refused(machine, "is for the RAID serial=ANOTHER", RefusedError, *DEVICES)


def test_the_name_of_a_device_that_is_left_out_does_not_count(machine: Machine) -> None:
    """A cut after --new-raid may have left the new name on this device alone: nothing was written
    to that RAID yet, and the other devices are for the former one."""
    images = machine.set()
    images.superblock(1, 1, version=2, raid=b"serial=ANOTHER")
    assert attach.attach(Mapper(), wish(machine, *DEVICES, without=[1])).remarks == (
        "member 0 is missing",
    )
    assert line_of(machine) == "0 131072 spek-augment 9:0 8:0 2 - 8:2 256 0"
    machine.dm.change(mappings={}, calls=[])
    replaced_raid(machine)
    refused(
        machine, "md0 is the disk serial=ANOTHER, .* for the RAID serial=SERIAL-md0", RefusedError,
        *DEVICES, without=[1],
    )  # fmt: skip


def test_the_raid_is_no_candidate(machine: Machine) -> None:
    machine.set()
    raid = machine.devices[machine.path("sdz")]
    refused(machine, "are the same device", UsageError, "sdz", "sda2", "sdb2", raid=raid)


def test_without_the_module_nothing_is_held(machine: Machine) -> None:
    machine.set()
    machine.dm.change(targets=[])
    refused(machine, "load it by", NoKernelSideError, "sdz", "sda2", "sdb2")


def test_a_block_that_cannot_be_read_is_left_to_the_module(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It takes it from another device, or refuses, or gives it up."""
    images = machine.set()
    first = LOG_START + images.record(10, 2)
    make_unreadable(monkeypatch, (images.path(0), 1), (images.path(0), first))
    attach.attach(Mapper(), wish(machine, *(device.name for device in attach.scan())))
    machine.dm.change(mappings={}, calls=[])
    make_unreadable(monkeypatch, *((images.path(number), first) for number in images.numbers))
    attach.attach(Mapper(), wish(machine, "sdz", "sda2", "sdb2", gives_up=True))
    assert line_of(machine).endswith(" 2 unread end")


def test_what_cannot_be_read_is_given_up_on_request(machine: Machine) -> None:
    machine.set()
    attach.attach(Mapper(), wish(machine, "sdz", "sda2", "sdb2", gives_up=True))
    assert line_of(machine).endswith(" 2 unread end")


def test_a_policy_is_checked_against_the_log(machine: Machine) -> None:
    machine.set()
    policy = Policy(high_blocks=250)
    refused(machine, "--high is", UsageError, "sdz", "sda2", "sdb2", policy=policy)


# --- wait ----------------------------------------------------------------------------------------


def test_a_device_that_comes_late_is_waited_for() -> None:
    errors: list[Exception] = [attach.NothingError("none"), sets.MissingError("one")]
    times = iter(range(0, 1000, 10))

    def attempt() -> str:
        if errors:
            raise errors.pop(0)
        return "attached"

    assert attach.patiently(attempt, 100, lambda pause: None, lambda: next(times)) == "attached"


@pytest.mark.parametrize(
    "error",
    [attach.NothingError("none"), sets.MissingError("one"), attach.NamelessError("two")],
)
def test_the_wait_has_an_end(error: SpekError) -> None:
    times = iter(range(0, 1000, 10))
    pauses: list[float] = []

    def attempt() -> str:
        raise error

    with pytest.raises(type(error)):
        attach.patiently(attempt, 30, pauses.append, lambda: next(times))
    assert len(pauses) == 2


def test_another_refusal_ends_the_wait() -> None:
    def attempt() -> str:
        raise RefusedError("in use")

    with pytest.raises(RefusedError, match="in use"):
        attach.patiently(attempt, 10**12, lambda pause: pytest.fail("it waits"))


def test_a_raid_may_still_come(machine: Machine) -> None:
    assert attach.raid_at(machine.path("md0")).name == "md0"
    with pytest.raises(attach.NothingError, match="there is no device /dev/none"):
        attach.raid_at("/dev/none")
    machine.change("md0", bytes=0)
    with pytest.raises(UsageError, match="has no capacity"):
        attach.raid_at(machine.path("md0"))


# --- scan ----------------------------------------------------------------------------------------


def names(machine: Machine, uuid: UUID | None = None) -> list[str]:
    return [device.name for device in attach.scan(uuid)]


def test_a_scan_has_the_devices_of_the_set(machine: Machine) -> None:
    machine.set()
    assert names(machine) == ["sdz", "sda2", "sdb2"]


def test_a_scan_does_not_read_what_is_in_use(machine: Machine) -> None:
    machine.set()
    machine.users["sdz"] = "sdz is used by nas"
    assert names(machine) == ["sda2", "sdb2"]
    assert "sdz" not in [name for name, _ in machine.opened]


def test_a_scan_of_several_sets_wants_a_name(machine: Machine, tmp_path: Path) -> None:
    machine.set()
    foreign = Images(tmp_path / "foreign", uuid=FOREIGN)
    machine.add("sdy", 3 * MIB, 8, 7)
    Path(machine.path("sdy")).write_bytes(Path(foreign.path(0)).read_bytes())
    with pytest.raises(UsageError, match=r"there are several sets: .*; name one by --uuid"):
        attach.scan()
    assert names(machine, FOREIGN) == ["sdy"]
    assert names(machine, SET) == ["sdz", "sda2", "sdb2"]


def test_a_scan_without_a_set_is_told(machine: Machine) -> None:
    with pytest.raises(UsageError, match="no free device has a superblock of any set"):
        attach.scan()
    machine.set()
    with pytest.raises(UsageError, match=f"superblock of set {FOREIGN}"):
        attach.scan(FOREIGN)


def test_a_scan_names_devices_of_another_version_of_the_format(machine: Machine) -> None:
    """A user who reads of no devices may create the cache again, over a log with dirty blocks."""
    images = machine.set()
    for number in (0, 2):
        for place in (0, 1):
            images.damage(number, place, at=8)
    assert names(machine) == ["sda2"]
    for place in (0, 1):
        images.put(1, place, bytes(BLOCK))
    with pytest.raises(attach.NothingError) as refusal:
        attach.scan()
    sentence, *foreign = refusal.value.message.split("; the superblock of ")
    assert sentence == "no free device has a superblock of any set"
    assert [text.split()[0] for text in foreign] == [machine.path("sdz"), machine.path("sdb2")]
    assert all("is of another version of the format" in text for text in foreign)
