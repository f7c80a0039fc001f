# SPDX-License-Identifier: GPL-2.0
"""A new cache: everything is checked before anything is written."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from lib.ctl.augment import MIB, Machine
from lib.guest import disk_images

from spekctl.augment import create, hold
from spekctl.augment.create import Wish
from spekctl.augment.mapper import Mapper
from spekctl.augment.table import Policy
from spekctl.block.device import Device
from spekctl.errors import NoKernelSideError, RefusedError, SpekError, UsageError
from spekctl.power import disk


def wish(machine: Machine, **changes: object) -> Wish:
    raid, ssd, *spares = (
        machine.devices[machine.path(name)] for name in ("md0", "sdz", "sda2", "sdb2")
    )
    fields: dict[str, object] = {"name": "nas", "raid": raid, "ssd": ssd, "spares": tuple(spares)}
    return Wish(**{**fields, **changes})  # type: ignore[arg-type]


def line_of(machine: Machine) -> str:
    (words,) = machine.dm.sent("create")
    return str(words[5])


def refused(machine: Machine, sentence: str, kind: type[SpekError], **changes: object) -> None:
    with pytest.raises(kind, match=sentence):
        create.create(Mapper(), wish(machine, **changes))
    assert machine.dm.sent("create") == []


def test_the_table_has_what_was_asked_for(machine: Machine) -> None:
    policy = Policy(copy="first", age_ms=5000)
    created = create.create(Mapper(), wish(machine, log_bytes=MIB, policy=policy))
    assert line_of(machine) == (
        f"0 131072 spek-augment 9:0 8:0 2 8:1 8:2 256 8 format {created.uuid} raid"
        " serial=SERIAL-md0 copy first age_ms 5000"
    )
    assert (created.log_blocks, created.remarks) == (256, ())
    assert created.node.endswith("mapper/nas")


def test_a_raid_without_a_name_is_told(machine: Machine) -> None:
    machine.change("md0", serial="")
    created = create.create(Mapper(), wish(machine))
    assert line_of(machine).endswith(f" 2 format {created.uuid}")
    assert created.remarks == (
        f"{machine.path('md0')} has no WWN, serial number or UUID: attach cannot tell it from"
        " another RAID",
    )


def test_each_set_has_an_identity_of_its_own(machine: Machine) -> None:
    names = {create.create(Mapper(), wish(machine, name=name)).uuid for name in ("a", "b")}
    assert len(names) == 2


def test_the_raid_is_rounded_down_to_blocks(machine: Machine) -> None:
    machine.change("md0", bytes=10 * MIB + 4095)
    create.create(Mapper(), wish(machine))
    assert line_of(machine).startswith("0 20480 ")


def test_the_log_is_as_long_as_the_devices_allow(machine: Machine) -> None:
    assert create.log_blocks_of(wish(machine)) == 3 * 256 - 2
    machine.change("sda2", bytes=2 * MIB)
    assert create.log_blocks_of(wish(machine)) == 2 * 256 - 2
    machine.change("sdz", bytes=3 * MIB)
    assert create.log_blocks_of(wish(machine)) == (3 * 256 - 2) // 2


@pytest.mark.parametrize(
    ("name", "size", "log_bytes", "sentence"),
    [
        ("sda2", MIB, None, r"sda2 has 1 MiB; the log has at least 1 MiB"),
        ("sdz", 2 * MIB, None, r"sdz has 2 MiB; the log has at least 1 MiB"),
        ("sda2", MIB + 4096, MIB, r"sda2 has 1\.00 MiB, too little for a log of 1 MiB: a spare"),
        ("sdz", MIB + 8192, MIB, r"sdz has 1\.01 MiB, too little for a log of 1 MiB: the SSD"),
        (
            "sdz",
            8 * MIB,
            MIB - 4096,
            "--log-size is 1020 KiB; allowed are multiples of 4 KiB from 1 MiB",
        ),
        ("sdz", 8 * MIB, MIB + 512, "--log-size is .*; allowed are multiples of 4 KiB"),
        ("sdz", 8 * MIB, 8 << 40, "--log-size is 8 TiB; allowed .* to 4 TiB"),
        ("md0", 4095, None, "md0 is shorter than a block"),
    ],
)
def test_sizes_that_do_not_fit_are_refused(
    machine: Machine, name: str, size: int, log_bytes: int | None, sentence: str
) -> None:
    machine.change(name, bytes=size)
    refused(machine, sentence, UsageError, log_bytes=log_bytes)


def test_a_log_that_just_fits_is_taken(machine: Machine) -> None:
    machine.change("sda2", bytes=MIB + 8192)
    machine.change("sdz", bytes=MIB + 3 * 4096)
    assert create.log_blocks_of(wish(machine, log_bytes=MIB)) == 256


@pytest.mark.parametrize("count", [0, 9])
def test_another_number_of_members_is_refused(machine: Machine, count: int) -> None:
    spares = tuple(machine.add(f"sp{index}", 3 * MIB, 7, index) for index in range(count))
    refused(machine, "a RAID has 1 to 8 members", UsageError, spares=spares)


def test_numbers_are_kept_until_the_table_is_loaded(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A table names numbers, and a disk that takes one over would be formatted."""
    real = Mapper.create
    still_open: set[str] = set()

    def load(*given: object) -> str:
        links = (f"/proc/self/fd/{fd}" for fd in os.listdir("/proc/self/fd"))
        still_open.update(os.path.realpath(link) for link in links)
        return real(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(Mapper, "create", load)
    create.create(Mapper(), wish(machine))
    assert still_open.issuperset(machine.devices)


def test_a_disk_that_is_replaced_after_the_look_is_not_formatted(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = hold.held

    @contextlib.contextmanager
    def held(*given: Any) -> Iterator[None]:
        with real(*given):
            yield
        machine.change("sdz", serial="ANOTHER")

    monkeypatch.setattr(hold, "held", held)
    refused(machine, "sdz has just been replaced", RefusedError)


def test_a_device_is_used_once(machine: Machine) -> None:
    ssd = machine.devices[machine.path("sdz")]
    refused(machine, "are the same device", UsageError, spares=(ssd,))


def test_a_disk_and_its_partition_are_told_apart(machine: Machine) -> None:
    machine.change("sda2", disk="sdz", partition=2)
    refused(machine, "lie on the same bytes", UsageError)


def test_two_paths_to_a_disk_are_told_apart(machine: Machine) -> None:
    """The RAID is kept, and formatting the SSD would overwrite it."""
    machine.change("sdz", other_paths=("md0",))
    refused(machine, "md0 and .*sdz lie on the same bytes", UsageError)


def test_two_copies_on_a_disk_by_two_paths_are_refused(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = {
        f"{name}2": disk.of_device(
            msgspec.structs.replace(
                machine.add(name, 8 * MIB, 8, minor), other_paths=tuple({"sda", "sdb"} - {name})
            )
        )
        for name, minor in (("sda", 9), ("sdb", 10))
    }
    real = disk.below
    monkeypatch.setattr(
        disk,
        "below",
        lambda device, roots: [paths[device.name]] if device.name in paths else real(device, roots),
    )
    refused(machine, r"sda2 and .*sdb2 are both on .*sdb: with this disk", UsageError)


def test_two_copies_on_a_disk_are_refused(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared = disk.of_device(machine.add("sda", 8 * MIB, 8, 9))
    real = disk.below

    def below(device: Device, roots: object) -> list[disk.Disk]:
        return [shared] if device.name in ("sda2", "sdb2") else real(device)

    monkeypatch.setattr(disk, "below", below)
    refused(machine, r"sda2 and .*sdb2 are both on .*sda: with this disk", UsageError)


@pytest.mark.parametrize(
    ("name", "change", "sentence"),
    [
        ("sdz", {"zoned": "host-managed"}, "sdz is zoned"),
        ("md0", {"logical_block": 8192}, "blocks of 8192 bytes"),
    ],
)
def test_disks_that_the_cache_cannot_use_are_refused(
    machine: Machine, name: str, change: dict[str, object], sentence: str
) -> None:
    machine.change(name, **change)
    refused(machine, sentence, UsageError)


@pytest.mark.parametrize("name", ["md0", "sdz", "sdb2"])
def test_a_device_in_use_is_refused(machine: Machine, name: str) -> None:
    machine.users[name] = f"{name} is mounted on /srv"
    refused(machine, f"{name} is in use: {name} is mounted on /srv", RefusedError)


def with_table(path: str) -> None:
    disk_images.mbr(path)


@pytest.mark.parametrize("name", ["sdz", "sda2"])
def test_data_is_overwritten_by_its_name_only(machine: Machine, name: str) -> None:
    with_table(machine.path(name))
    sentence = rf"{name} holds data: partition table dos .*; to overwrite it, give --destroy"
    refused(machine, sentence, RefusedError)
    created = create.create(Mapper(), wish(machine, destroy=[f"SERIAL-{name}"]))
    assert re.search(rf"{name} holds data and will be overwritten", created.remarks[0])


def test_a_wrong_name_to_destroy_is_refused(machine: Machine) -> None:
    with pytest.raises(SpekError, match="NOBODY"):
        create.create(Mapper(), wish(machine, destroy=["NOBODY"]))
    assert machine.dm.sent("create") == []


def test_the_raid_cannot_be_named_to_be_destroyed(machine: Machine) -> None:
    with pytest.raises(SpekError, match="SERIAL-md0"):
        create.create(Mapper(), wish(machine, destroy=["SERIAL-md0"]))


def test_data_on_the_raid_is_kept(machine: Machine) -> None:
    with_table(machine.path("md0"))
    before = Path(machine.path("md0")).read_bytes()
    created = create.create(Mapper(), wish(machine))
    assert len(created.remarks) == 1
    assert re.search(r"md0 holds partition table dos .*: it is kept$", created.remarks[0])
    assert Path(machine.path("md0")).read_bytes() == before


def test_a_device_of_another_set_is_refused(machine: Machine) -> None:
    machine.set()
    refused(machine, "sdz holds data: spek augment cache of set", RefusedError)
    raid = msgspec.structs.replace(machine.devices[machine.path("sda2")])
    refused(
        machine,
        "sda2 holds spek augment cache .*: it is the SSD or a spare area of a cache, not a RAID",
        RefusedError,
        raid=raid,
        spares=(machine.devices[machine.path("sdb2")],),
        ssd=machine.devices[machine.path("md0")],
    )


def test_an_older_module_is_not_given_a_name(machine: Machine) -> None:
    machine.dm.change(version="1.0.0")
    created = create.create(Mapper(), wish(machine))
    ((*_, table),) = machine.dm.sent("create")
    assert " raid " not in table
    (remark,) = created.remarks
    assert re.search(r"attach cannot tell .*md0 from another RAID: the module .* newer", remark)


def test_without_the_module_nothing_is_opened(machine: Machine) -> None:
    machine.dm.change(targets=[])
    refused(machine, "load it by", NoKernelSideError)
    assert machine.opened == []


@pytest.mark.parametrize(
    ("text", "blocks"), [("131072", 32), ("0", None), ("4096", None), ("5000", None), ("", None)]
)
def test_the_stripe_is_the_kernels(machine: Machine, text: str, blocks: int | None) -> None:
    raid = machine.devices[machine.path("md0")]
    (raid.sysfs / "queue/optimal_io_size").write_text(text)
    assert create.with_stripe(Policy(copy="never"), raid) == Policy("never", stripe_blocks=blocks)
    assert create.with_stripe(Policy(stripe_blocks=5), raid).stripe_blocks == 5


@pytest.mark.parametrize(
    ("policy", "sentence"),
    [
        (Policy(prefetch_blocks=17), "--prefetch is up to 64 KiB"),
        (Policy(stripe_blocks=0), "a stripe has 4 KiB to 4 MiB"),
        (Policy(stripe_blocks=1025), "a stripe has"),
        (Policy(high_blocks=193), r"--high is 772 KiB; of this log at most 768 KiB are allowed"),
        (Policy(high_blocks=100, low_blocks=100), "--low has to be less than --high"),
        (Policy(low_blocks=192), "--low has to be less"),
        (Policy(retry_ms=0), "--retry is the pause"),
    ],
)
def test_a_policy_that_the_core_refuses_is_refused(policy: Policy, sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        create.check_policy(policy, 256)


def test_limits_of_the_policy_are_taken() -> None:
    create.check_policy(Policy("first", "last", 16, 1024, 0, 192, 191, 0, 0, 1), 256)
