# SPDX-License-Identifier: GPL-2.0
"""Disks of a guest: what --disk takes and what becomes of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from spekctl.commands import drive_kernel
from spekctl.errors import UsageError
from spekctl.vm import disks
from spekctl.vm.disks import parse_disk, parse_disks

MIB = 1 << 20


@pytest.mark.parametrize(
    ("text", "bytes_", "block_size", "options"),
    [
        ("null_blk", 16 << 30, 512, {}),
        ("null_blk,size=1024,bs=4096", 1 << 30, 4096, {}),
        ("null_blk,completion_nsec=1000000,irqmode=2", 16 << 30, 512,
         {"completion_nsec": "1000000", "irqmode": "2"}),
        ("scsi_debug,dev_size_mb=64,sector_size=4096,delay=0", 64 * MIB, 4096, {"delay": "0"}),
        ("nvme,size=4G,queues=2", 4 << 30, 512, {"queues": "2"}),
        ("virtio,size=65536K", 64 * MIB, 512, {}),
        ("virtio,size=2GiB", 2 << 30, 512, {}),
        ("drive,model=./a.toml,arms=4", 0, 512, {"model": "./a.toml", "arms": "4"}),
    ],
)  # fmt: skip
def test_disk_is_understood(
    text: str, bytes_: int, block_size: int, options: dict[str, str]
) -> None:
    disk = parse_disk(text)

    assert (disk.bytes, disk.block_size, disk.options) == (bytes_, block_size, options)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("nul_blk", "there is no disk type 'nul_blk'; did you mean 'null_blk'?"),
        ("", "there is no disk type ''"),
        ("null_blk,siz=1", "null_blk has no option 'siz'; did you mean 'size'?"),
        ("nvme,completion_nsec=1", "nvme has no option 'completion_nsec'"),
        ("null_blk,size", "disk option 'size' must have the form name=value"),
        ("null_blk,size=", "disk option 'size=' must have the form name=value"),
        ("null_blk,size=big", "disk size 'big' is not a size"),
        ("null_blk,size=-1", "disk size '-1' is not a size"),
        ("null_blk,size=0", "disk size '0' of null_blk is not a positive number of MiB"),
        ("nvme,size=1K", "disk size '1K' of nvme is not a positive number of MiB"),
        ("nvme,bs=513", "logical block size '513' is not one of 512, 1024, 2048, 4096"),
        ("nvme,queues=many", "queues=many is not a number of queues"),
        ("drive", "a drive needs a model: drive,model=barracuda-es"),
        ("drive,model=x,size=1G", "drive has no option 'size'"),
        ("drive,model=$(id)", "'$(id)' is not a valid value of the disk option model"),
        ("null_blk,irqmode=$(id)", "'$(id)' is not a valid value of the disk option irqmode"),
    ],
)
def test_wrong_disk_is_refused(text: str, sentence: str) -> None:
    with pytest.raises(UsageError) as refusal:
        parse_disk(text)

    assert refusal.value.message.startswith(sentence)


def test_a_modelled_drive_is_made_with_the_options_of_drive_new() -> None:
    text = "drive,model=mach2,queue_depth=8,max_wait=500ms,spin=50us,set.settle_ms=0.2,set.heads=8"
    (plan,) = (disk.plan(1) for disk in parse_disks([text]))
    assert plan["words"] == [
        *("mach2", "--queue-depth", "8", "--max-wait", "500ms", "--spin", "50us"),
        *("--set", "settle_ms=0.2", "--set", "heads=8"),
    ]
    options = {option for parameter in drive_kernel.new.params for option in parameter.opts}
    assert {f"--{name.replace('_', '-')}" for name in disks.OPTIONS["drive"]} <= {
        *options, "--model"
    }  # fmt: skip


def test_second_scsi_debug_is_refused() -> None:
    with pytest.raises(UsageError, match="only one scsi_debug disk"):
        parse_disks(["scsi_debug", "null_blk", "scsi_debug"])


def test_emulated_disk_is_a_sparse_file(tmp_path: Path) -> None:
    arguments = parse_disk("nvme,size=1G,bs=4096,queues=3").qemu_arguments(2, tmp_path)

    image = tmp_path / "disk2.img"
    assert image.stat().st_size == 1 << 30
    assert image.stat().st_blocks == 0
    assert f"file={image}," in arguments[1]
    assert arguments[3] == (
        "nvme,drive=spekdrive2,serial=spekdisk2,logical_block_size=4096,"
        "physical_block_size=4096,max_ioqpairs=3"
    )


def test_the_help_says_the_size_of_each_kind_of_disk() -> None:
    text = " ".join(disks.HELP.split())
    assert all(kind in text for kind in disks.OPTIONS)
    for kind, size in disks.DEFAULT_BYTES.items():
        if not size:  # the model's
            continue
        gib, mib = size >> 30, size >> 20
        assert f"{gib}G" if gib else f"{mib}M" in text
        clause = next(part for part in text.split("default: ")[1].split(", ") if kind in part)
        assert clause.split(")")[0].endswith(f"{gib}G" if gib else f"{mib}M")


def test_the_help_names_every_type_and_block_size() -> None:
    assert all(kind in disks.HELP for kind in disks.OPTIONS)
    assert f"bs={'|'.join(str(size) for size in disks.BLOCK_SIZES)} " in disks.HELP
