# SPDX-License-Identifier: GPL-2.0
"""dmsetup: what it is called with, and what becomes of its failures."""

from __future__ import annotations

import os
from pathlib import Path
from uuid import UUID

import pytest
from lib.ctl.augment import Machine
from lib.fakes.dmsetup import DIRTY

from spekctl import distribution, namespaces
from spekctl.augment import mapper
from spekctl.augment.mapper import Mapper
from spekctl.augment.table import Table
from spekctl.block.device import Roots
from spekctl.errors import (
    NoKernelSideError,
    NotFoundError,
    NotPermittedError,
    RefusedError,
    SpekError,
    UsageError,
)

SET = UUID("6b1f0c52-84b1-4f6b-9d57-0a3c5f6e7d80")
TABLE = Table(2048, "9:0", "8:0", ("8:1",), 256)


def test_a_mapping_comes_and_goes(machine: Machine) -> None:
    program = Mapper()
    program.check_target()
    node = program.create("nas", SET, TABLE)
    assert os.path.exists(node)
    assert machine.dm.sent("create") == [
        ["create", "nas", "--uuid", f"SPEK_AUGMENT-{SET}", "--table", TABLE.line()]
    ]
    assert program.table("nas") == TABLE
    assert program.uuid("nas") == str(SET)
    assert (program.opens("nas"), program.number("nas")) == (0, (253, 0))
    program.message("nas", "awake", "1", "0")
    assert machine.dm.sent("message") == [["message", "nas", "0", "awake", "1", "0"]]
    program.remove("nas")
    assert program.states() == {}


def test_states_are_told_by_name(machine: Machine) -> None:
    machine.attached(DIRTY)
    assert Mapper().state("nas").dirty_blocks == 12
    with pytest.raises(NotFoundError, match="there is no augment cache box; attached are: nas"):
        Mapper().state("box")


def test_without_caches_none_is_attached(machine: Machine) -> None:
    with pytest.raises(NotFoundError, match="attached are: none"):
        Mapper().state("nas")


def test_without_the_program_its_package_is_named(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shutil.which", lambda name, path: None)
    monkeypatch.setattr(distribution, "family", lambda root: "fedora")
    with pytest.raises(SpekError, match="dmsetup is missing: dnf install device-mapper"):
        Mapper()


def test_without_the_module_its_command_is_named(machine: Machine) -> None:
    machine.dm.change(targets=["linear"])
    with pytest.raises(NoKernelSideError, match="load it by `modprobe spek_augment`"):
        Mapper().check_target()


def test_a_kernel_without_device_mapper_is_told(machine: Machine) -> None:
    said = (
        "/dev/mapper/control: open failed: No such device\n"
        "Failure to communicate with kernel device-mapper driver.\n"
        "Check that device-mapper is available in the kernel.\n"
        "Incompatible libdevmapper 1.02.185 (2022-05-18) and kernel driver (unknown version)."
    )
    machine.dm.change(refuse={"status": said, "targets": said})
    for ask in (Mapper().states, Mapper().check_target):
        with pytest.raises(NoKernelSideError) as refusal:
            ask()
        sentence = "the kernel has no device mapper; as root: modprobe dm_mod"
        assert refusal.value.message == sentence


@pytest.mark.parametrize(
    ("version", "keeps_names"),
    [("1.0.0", False), ("1.0.9", False), ("1.1.0", True), ("1.10.0", True), ("2.0.0", True)],
)
def test_the_version_of_the_module_tells_whether_it_keeps_names(
    machine: Machine, version: str, keeps_names: bool
) -> None:
    machine.dm.change(version=version)
    assert Mapper().check_target() is keeps_names


def test_a_name_that_is_taken_is_refused(machine: Machine) -> None:
    machine.attached()
    with pytest.raises(RefusedError, match="there is a mapping nas already"):
        Mapper().create("nas", SET, TABLE)


@pytest.mark.parametrize(
    "line",
    [
        "device-mapper: table: 253:0: spek-augment: The log is too long. (-EINVAL)",
        "device-mapper: table: 253:0: spek-augment: The log is too long.",
        "device-mapper: spek-augment: The log is too long.",
    ],
)
def test_the_sentence_of_the_module_is_told(
    machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    sentence = "device-mapper: reload ioctl on nas  failed: Invalid argument"
    machine.dm.refuse("create", sentence)
    messages = tmp_path / "kmsg"
    messages.write_text("")
    monkeypatch.setattr(mapper, "_KMSG", messages)
    with pytest.raises(SpekError, match=f"dmsetup create failed: {sentence}$"):
        Mapper().create("nas", SET, TABLE)

    lines = f"3,1,2,-;{line}\n3,2,3,-;device-mapper: ioctl: error adding target to table\n"
    real = os.lseek

    def then_written(fd: int, at: int, whence: int) -> int:
        place = real(fd, at, whence)
        messages.write_text(lines)
        return place

    monkeypatch.setattr(os, "lseek", then_written)
    with pytest.raises(SpekError, match=r"refuses to attach nas: The log is too long\.$"):
        Mapper().create("nas", SET, TABLE)


def test_a_mapping_without_a_node_is_told(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mapper, "_NODE_S", 0)
    monkeypatch.setattr(Mapper, "node", lambda _, name: "/nowhere/nas")
    with pytest.raises(SpekError, match="is attached but has no node /nowhere/nas"):
        Mapper().create("nas", SET, TABLE)


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "a b", "ä", "a" * 128, "a\n", "-a"])
def test_names_that_would_be_changed_are_refused(name: str) -> None:
    with pytest.raises(UsageError, match="is not a name for a mapping"):
        mapper.check_name(name)


def test_usual_names_are_taken() -> None:
    for name in ("nas", "vg-data_0.1", "a:b@c"):
        mapper.check_name(name)


@pytest.mark.parametrize("container", [False, True])
def test_who_lacks_the_capability_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, container: bool
) -> None:
    around = namespaces.Namespaces(False, False, False, container)
    monkeypatch.setattr(namespaces, "around", lambda: around)
    (tmp_path / "self").mkdir()
    status = tmp_path / "self/status"
    status.write_text("CapEff:\t000001ffffdfffff\n")
    with pytest.raises(NotPermittedError, match="CAP_SYS_ADMIN") as refusal:
        mapper.check_rights(Roots(proc=tmp_path))
    assert ("start the container" in refusal.value.message) is container
    status.write_text("CapEff:\t0000000000200000\n")
    mapper.check_rights(Roots(proc=tmp_path))
